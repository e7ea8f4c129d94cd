/* terms.h - the course file that counts, and what gradings depend on by it. */
#ifndef GRADEBOOK_STORE_TERMS_H
#define GRADEBOOK_STORE_TERMS_H

#include "gradebook/store/store.h"

/* Fills store->course from a file; `path` NULL: from the one that the gradebook holds, if any.
 * Keeps nothing. False, with all mistakes (the caller frees) if there are any. */
bool terms_load(Store *store, const char *path, char **mistakes);

/* Keeps what was loaded, if it is new: from now on it counts. What was graded under other bars,
 * seeds or on another device is open again; what was graded under these before is not. */
void terms_keep(Store *store);

/* The text of the course file that counts, secrets and all; "": there is none. The caller frees. */
char *terms_text(Store *store);

/* What a lab is graded under now, for `warpbook grade --course -`; "": as the workbook has it. The
 * caller frees. */
char *terms_of(Store *store, const char *lab);

#endif
