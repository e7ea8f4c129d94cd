/* terms.h - the current course file, and the terms of gradings that follow from it. */
#ifndef GRADEBOOK_STORE_TERMS_H
#define GRADEBOOK_STORE_TERMS_H

#include "gradebook/store/store.h"

#define COURSE_COPY "course.ini" /* in the gradebook's folder: the current course file */

/* Fills store->course from a file, or, if `path` is NULL, from the stored course file, if any.
 * Stores nothing. On errors returns false, with all of them in *mistakes (the caller frees). */
bool terms_load(Store *store, const char *path, char **mistakes);

/* Stores the loaded course file, if new, as the current one. Kernels graded under other seeds or
 * devices are open again, unless they were also graded under these. */
void terms_keep(Store *store);

/* The current terms of a lab, as its attempts record them; "" if there are none. The caller
 * frees. */
char *terms_of(Store *store, const char *lab);

/* The text of the current course file, including secrets; "" without one. The caller frees. */
char *terms_text(Store *store);

#endif
