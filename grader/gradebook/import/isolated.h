/* isolated.h - reads submissions in an isolated process. */
#ifndef GRADEBOOK_IMPORT_ISOLATED_H
#define GRADEBOOK_IMPORT_ISOLATED_H

#include <stdbool.h>
#include <stddef.h>
#include "gradebook/import/submission.h"

/* Like reader_read, but in a separate process. An exploit of libarchive or of the reader can use no
 * network, start no programs and write no files. */
bool isolated_read(const char *path, Class *class, char *problem, size_t size);

#endif
