/* import_roster.h - stores the course's roster. */
#ifndef GRADEBOOK_STORE_IMPORT_ROSTER_H
#define GRADEBOOK_STORE_IMPORT_ROSTER_H

#include "gradebook/store/store.h"

/* Stores a CSV as the current roster; *count is its number of people. If the CSV has errors,
 * returns false with all of them in *mistakes (the caller frees). */
bool import_roster(Store *store, const char *path, int *count, char **mistakes);

#endif
