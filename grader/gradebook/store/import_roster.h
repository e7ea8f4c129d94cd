/* import_roster.h - the course's roster, and its match with the students who submitted. */
#ifndef GRADEBOOK_STORE_IMPORT_ROSTER_H
#define GRADEBOOK_STORE_IMPORT_ROSTER_H

#include "gradebook/store/store.h"

/* Stores a CSV as the current roster; *count is its number of people. If the CSV has errors,
 * returns false with all of them in *mistakes (the caller frees). */
bool import_roster(Store *store, const char *path, int *count, char **mistakes);

/* Creates a temporary table `enlisted` that matches each student of the latest import with each
 * member of the current roster: student (NULL: nothing submitted), member (NULL: not on the
 * roster), unclear. Without a roster it is empty. */
void import_roster_match(Store *store);

#endif
