/* backup.h - copies of the database. */
#ifndef GRADEBOOK_STORE_BACKUP_H
#define GRADEBOOK_STORE_BACKUP_H

#include "gradebook/store/store.h"

/* Writes a consistent copy of the database to a new file, which only this user can read, and checks
 * it. A gradebook that grades meanwhile is not disturbed. On failure, leaves no file and returns
 * false with a sentence in `problem`. */
bool backup_write(Store *store, const char *file, char *problem, size_t size);

/* Opens a temporary copy, to find out what a change would do. Close it with store_close. */
void backup_open(Store *from, Store *copy);

#endif
