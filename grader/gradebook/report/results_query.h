/* results_query.h - the gradebook as people want it: one row a student and lab. */
#ifndef GRADEBOOK_REPORT_RESULTS_QUERY_H
#define GRADEBOOK_REPORT_RESULTS_QUERY_H

#include "gradebook/store/store.h"
#include "base/marks.h"

typedef struct Row {
    int64_t student; /* rows of one student follow each other */
    const char *name, *number, *lab;
    const char *state; /* a verdict; or missing, queued, not graded (the machine's fault) */
    bool graded;
    bool has_marks, has_ratio;
    double marks, ratio; /* marks: by the course file that counts, lateness deducted */
    Marks earned;        /* the same, with what they were before, why, and how late it was */
    double weight;       /* of the lab in the total: marks_add(&total, row.weight, &row.earned) */
    const char *roster_id, *email, *section; /* of the roster; "" */
    const char *roster; /* "" (no roster, or found there), unknown, unclear, absent (handed nothing
                         * in at all; student is then below 0) */
    const char *why, *note, *flag;
    bool late, predicted;
    int64_t sent;       /* seconds since 1970; 0: unknown */
    const char *source; /* of the hand-in that counts */
    const char *path;   /* of the kernel in it */
    int64_t kernel;     /* students with the same number handed in the same; 0: none */
    int same;           /* so many others did */
    int attempts;
    const char *device, *uuid, *simulated, *driver, *nvcc, *version, *protocol, *seed, *lab_hash;
    const char *at, *log;
    int64_t attempt; /* its figures; 0: none */
} Row;

/* The texts of a Row are listed in gradebook/report/results_table.c, too, which copies them. */

/* Students by name, labs in order; with those of the roster who handed nothing in. Texts live until
 * the next row. */
sqlite3_stmt *rows_ask(Store *store);
bool rows_next(Store *store, sqlite3_stmt *rows, Row *row);

const char *row_date(int64_t seconds, char text[32]); /* UTC; "" for an unknown time */

/* What was remarked about a student's latest submissions: source, kind, entry, sentence. */
sqlite3_stmt *remarks_ask(Store *store, int64_t student);

#endif
