/* state_file.h - changes a file of .warpbook/ while others may change it too. */
#ifndef LEARNER_STATE_FILE_H
#define LEARNER_STATE_FILE_H

#include <stdbool.h>
#include <stddef.h>

enum { STATE_MOST = 1 << 20 }; /* bytes; a larger file counts as unreadable */

/* Returns the new text, which the caller frees, and its size. */
typedef char *StateEdit(const char *text, size_t size, const void *context, size_t *new_size);

/* Reads the whole file (an absent one is empty), edits it and writes it, under a lock file. Creates
 * its folder. Returns false with errno set on failure; an unreadable file is not overwritten. */
bool state_edit(const char *file, StateEdit *edit, const void *context);

/* ".../.warpbook/NAME", next to the progress file. */
char *state_path(const char *progress, const char *name, char *path, size_t size);

#endif
