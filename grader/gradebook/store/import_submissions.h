/* import_submissions.h - stores students, submissions and kernels as database rows. */
#ifndef GRADEBOOK_STORE_IMPORT_SUBMISSIONS_H
#define GRADEBOOK_STORE_IMPORT_SUBMISSIONS_H

#include "gradebook/import/submission.h"
#include "gradebook/import/extract.h"
#include "gradebook/store/store.h"

typedef struct Enrolled {
    int students, submissions, parts; /* parts: submitted kernels of all labs */
    int kernels;                      /* different ones in this gradebook */
    int refused;
} Enrolled;

/* Stores an import in one transaction. Sorts the class. */
void enrol(Store *store, Class *class, const char *source, const bool asked[LABS],
           const Manifest *manifest, Enrolled *enrolled);

#endif
