/* results_query.h - the results: one row per student and lab. */
#ifndef GRADEBOOK_REPORT_RESULTS_QUERY_H
#define GRADEBOOK_REPORT_RESULTS_QUERY_H

#include "gradebook/store/store.h"
#include "base/marks.h"

typedef struct Row {
    int64_t student; /* rows of one student follow each other */
    const char *name, *number, *lab;
    const char *state; /* a verdict; or missing, queued, not graded (a machine error) */
    bool graded;
    bool has_marks, has_ratio;
    double marks, ratio; /* marks: by the current course file, lateness deducted */
    Marks earned;        /* the same, with the marks before lateness, the reason, and the delay */
    double weight;       /* of the lab in the total: marks_add(&total, row.weight, &row.earned) */
    const char *roster_id, *email, *section; /* of the roster; "" */
    const char *roster; /* "" (no roster, or found there), unknown, unclear, absent (nothing
                           submitted; `student` is then negative) */
    const char *why, *note, *flag;
    bool late, predicted;
    int64_t sent;       /* seconds since 1970; 0: unknown */
    const char *source; /* of the submission that counts */
    const char *path;   /* of the kernel in it */
    int64_t kernel;     /* equal for identical kernels; 0: none */
    int same;           /* number of other students with it */
    int attempts;
    const char *device, *uuid, *simulated, *driver, *nvcc, *version, *protocol, *seed, *lab_hash;
    const char *at, *log;
    int64_t attempt; /* its figures; 0: none */
} Row;

/* gradebook/report/results_table.c copies a Row's texts and also lists them. */

/* Students by name, labs in order, including people on the roster who submitted nothing. Texts are
 * valid until the next row. */
sqlite3_stmt *rows_ask(Store *store);
bool rows_next(Store *store, sqlite3_stmt *rows, Row *row);

const char *row_date(int64_t seconds, char text[32]); /* UTC; "" for an unknown time */

/* Remarks about a student's latest submissions: source, kind, entry, sentence. */
sqlite3_stmt *remarks_ask(Store *store, int64_t student);

#endif
