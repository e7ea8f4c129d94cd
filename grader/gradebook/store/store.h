/* store.h - the gradebook's database: one SQLite file, written by one process.
 *
 * Rows are only added, in transactions, so the file is consistent whatever happens to the program.
 * Open work is computed from the rows (queue.c); no row is marked as running.
 */
#ifndef GRADEBOOK_STORE_STORE_H
#define GRADEBOOK_STORE_STORE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/course.h"
#include "gradebook/store/store_error.h"

enum { STORE_SCHEMA = 7 }; /* an older one is upgraded when opened */

typedef struct Store {
    sqlite3 *db;
    int lock_fd;        /* held by the writer; -1 for readers */
    char folder[512];   /* --out: gradebook.sqlite, logs/, cache/, floor/ */
    const char *logs;   /* the folder of logs; NULL: logs/ in `folder` */
    bool temporary;     /* a copy (backup.h) */
    bool unchanging;    /* opened read-only, without SQLite's write-ahead log */
    int changes_before; /* rows that had been changed when it was open */
    char made[512];     /* the topmost folder that opening it created; "": none */
    StoreCause cause;
    char problem[1800];
    Course course;       /* determines marks; course_default until terms_load */
    char *course_text;   /* a new course file to be stored; else NULL */
    const char *against; /* the folder of an earlier class's gradebook (similarity.h); or NULL */
    int scratches;       /* store_scratch without its end */
    bool only_reads;     /* before the first of them */
} Store;

/* Opens the gradebook in a folder for writing (created if missing; refused while another process
 * writes) or for reading. On failure, returns false and sets `cause` and `problem`. */
bool store_open(Store *store, const char *folder, bool to_write);

/* Removes a folder that store_open created if nothing was stored in it. */
void store_close(Store *store);

/* In the functions below, any failure is a machine error, such as a full disk: the program reports
 * it and exits, and the open transaction is rolled back. `types` has one letter per argument: i
 * int64_t, d double, t text (NULL: null), b bytes and size_t. */
void store_do(Store *store, const char *sql, const char *types, ...);
int64_t store_last(Store *store); /* the id of the last row added */

/* Starts a query. Loop with `while (store_row(store, q))`, which also finalizes it, and read
 * columns with sqlite3_column_*. */
sqlite3_stmt *store_ask(Store *store, const char *sql, const char *types, ...);
bool store_row(Store *store, sqlite3_stmt *question);

/* The number that a query returns, or `otherwise` if it returns no row. */
int64_t store_number(Store *store, int64_t otherwise, const char *sql, const char *types, ...);

/* Between these calls, a reader may also write temporary tables. */
void store_scratch(Store *store);
void store_scratch_end(Store *store);

const char *store_text(sqlite3_stmt *question, int column); /* never NULL */

#endif
