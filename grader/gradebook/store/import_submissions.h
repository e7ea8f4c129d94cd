/* import_submissions.h - stores students, submissions and kernels as database rows. */
#ifndef GRADEBOOK_STORE_IMPORT_SUBMISSIONS_H
#define GRADEBOOK_STORE_IMPORT_SUBMISSIONS_H

#include "gradebook/import/submission.h"
#include "gradebook/import/extract.h"
#include "gradebook/store/store.h"

typedef struct ImportCounts {
    int students, submissions, parts; /* parts: submitted kernels of all labs */
    int kernels;                      /* distinct kernels in this gradebook */
    int refused;
} ImportCounts;

/* Stores an import in one transaction. Sorts the class. */
void import_submissions(Store *store, Class *class, const char *source, const bool requested[LABS],
                        const Manifest *manifest, ImportCounts *counts);

#endif
