/* import_submissions.h - stores students, submissions and kernels as database rows. */
#ifndef GRADEBOOK_STORE_IMPORT_SUBMISSIONS_H
#define GRADEBOOK_STORE_IMPORT_SUBMISSIONS_H

#include "gradebook/import/submission.h"
#include "gradebook/import/extract.h"
#include "gradebook/store/store.h"

/* What is imported. An import belongs to an assignment; importing an assignment again replaces its
 * earlier import, and no other. */
typedef struct ImportRequest {
    const char *source;     /* the command-line argument */
    const char *assignment; /* "": none was named; several exports then have their own names */
    const bool *requested;  /* by lab: only these count */
    bool labs_named;        /* by --labs; else an assignment named after a lab counts for it only */
    bool replace;           /* students and labs may become missing */
    const Manifest *manifest;
} ImportRequest;

typedef struct ImportCounts {
    int students, submissions, parts; /* parts: submitted kernels of all labs */
    int kernels;                      /* distinct kernels in this gradebook */
    int refused;
    char *notes;               /* lines to print, or NULL; the caller frees, as `losses` */
    char *losses;              /* import_losses.h; NULL: none */
    const char *contradiction; /* the lab that the export's name says, if --labs names another */
} ImportCounts;

/* Stores a class in one transaction, one import per export. Sorts the class. If students or labs
 * would become missing, or --labs contradicts the export's name, and `replace` is false, returns
 * false and stores nothing. */
bool import_submissions(Store *store, Class *class, const ImportRequest *request,
                        ImportCounts *counts);

#endif
