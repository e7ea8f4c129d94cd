/* import_submissions.h - what was read becomes rows: students, their submissions, and which kernel
 * is whose. */
#ifndef GRADEBOOK_STORE_IMPORT_SUBMISSIONS_H
#define GRADEBOOK_STORE_IMPORT_SUBMISSIONS_H

#include "gradebook/import/submission.h"
#include "gradebook/import/extract.h"
#include "gradebook/store/store.h"

typedef struct Enrolled {
    int students, submissions, parts; /* parts: kernels that were handed in, of any lab */
    int kernels;                      /* different ones among them, in this gradebook */
    int refused;
} Enrolled;

/* One transaction: an import is there whole or not at all. Orders the class as it goes. */
void enrol(Store *store, Class *class, const char *source, const bool asked[LABS],
           const Manifest *manifest, Enrolled *enrolled);

#endif
