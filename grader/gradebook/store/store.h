/* store.h - the gradebook's database: one SQLite file, written by one process.
 *
 * Rows are only ever added, in transactions, so that whatever happens to the program, what the file
 * holds is true. What is still to do follows from what is there (queue.c); nothing says "running".
 */
#ifndef GRADEBOOK_STORE_STORE_H
#define GRADEBOOK_STORE_STORE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/course.h"

enum { STORE_SCHEMA = 4 }; /* an older one is brought up to date when it is opened */

typedef struct Store {
    sqlite3 *db;
    int lock_fd;      /* who holds it writes; -1: only reads */
    char folder[512]; /* --out: gradebook.sqlite, logs/, cache/, floor/ */
    char problem[700];
    Course course;     /* what marks follow from: course_default, until terms_load */
    char *course_text; /* if it was given, and not kept before; else NULL */
} Store;

/* Opens the gradebook in a folder: to write (made if it is not there; refused while another writes)
 * or to read. False, with `problem`. */
bool store_open(Store *store, const char *folder, bool to_write);
void store_close(Store *store);

/* Any failure from here on is the machine's (a full disk, say): it is told and the program ends;
 * what was not committed will not have been. Types, a letter each: i int64_t, d double, t text
 * (NULL: null), b bytes and size_t. */
void store_do(Store *store, const char *sql, const char *types, ...);
int64_t store_last(Store *store); /* the row added last */

/* Rows of a question: while (store_row(store, q)) ...; then it is over. Columns by
 * sqlite3_column_*. */
sqlite3_stmt *store_ask(Store *store, const char *sql, const char *types, ...);
bool store_row(Store *store, sqlite3_stmt *question);

/* The number that a question has for answer; `otherwise` if it has none. */
int64_t store_number(Store *store, int64_t otherwise, const char *sql, const char *types, ...);

const char *store_text(sqlite3_stmt *question, int column); /* never NULL */

#endif
