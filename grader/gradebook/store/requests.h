/* requests.h - requests to grade a kernel again, each for a student, with its author. */
#ifndef GRADEBOOK_STORE_REQUESTS_H
#define GRADEBOOK_STORE_REQUESTS_H

#include "gradebook/store/store.h"

/* Forgets which kernels this run wants (temp.wanted, for queue_read). */
void requests_begin(Store *store);

/* Requests that the kernel be graded again, unless it will be graded anyway. */
void requests_add(Store *store, int64_t kernel);

/* Stores for whom (people.id, people.h) a kernel was requested, by whom and why; "": no reason. */
void requests_note(Store *store, int64_t person, const char *lab, int64_t kernel,
                   const char *author, const char *note);

/* A query for the requests for a person's lab, oldest first: at, author, note. Needs
 * people_match. */
sqlite3_stmt *requests_of(Store *store, int64_t person, const char *lab);

#endif
