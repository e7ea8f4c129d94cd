/* import_roster.h - the course's roster in the gradebook, beside those who handed something in. */
#ifndef GRADEBOOK_STORE_IMPORT_ROSTER_H
#define GRADEBOOK_STORE_IMPORT_ROSTER_H

#include "gradebook/store/store.h"

/* Keeps a CSV as the roster that counts from now on. False, with all that is wrong with it (the
 * caller frees). *count: people on it. */
bool enlist(Store *store, const char *path, int *count, char **mistakes);

/* Makes a table of its own for this connection, `enlisted`: for each student of the latest import
 * and each member of the roster that counts, who is whom: student (NULL: handed nothing in), member
 * (NULL: none), unclear. Without a roster it is empty. */
void enlist_match(Store *store);

#endif
