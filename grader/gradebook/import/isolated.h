/* isolated.h - reads submissions in an isolated process. */
#ifndef GRADEBOOK_IMPORT_ISOLATED_H
#define GRADEBOOK_IMPORT_ISOLATED_H

#include <stdbool.h>
#include <stddef.h>
#include "gradebook/import/submission.h"

/* Like reader_read. An exploit of libarchive or of the reader gains only a process without network,
 * programs or writable files. */
bool isolated_read(const char *path, Class *class, char *problem, size_t size);

#endif
