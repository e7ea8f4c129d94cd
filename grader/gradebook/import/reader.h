/* reader.h - reads all submissions of a class from a folder or archive. */
#ifndef GRADEBOOK_IMPORT_READER_H
#define GRADEBOOK_IMPORT_READER_H

#include <stdbool.h>
#include <stddef.h>
#include "gradebook/import/submission.h"

/* Reads `path`: one folder per student, archives named after students, or an export of a learning
 * system, unpacked or not (docs/gradebook.md). An error in one submission becomes its remark.
 * False, with `problem` set, if `path` cannot be read or is not a class. */
bool reader_read(const char *path, Class *class, char *problem, size_t size);

#endif
