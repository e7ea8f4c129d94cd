/* reader.h - reads all submissions of a class from a folder or archive. */
#ifndef GRADEBOOK_IMPORT_READER_H
#define GRADEBOOK_IMPORT_READER_H

#include <stdbool.h>
#include <stddef.h>
#include "gradebook/import/submission.h"

/* Reads `path`: one folder per student, archives named after students, or an export of a learning
 * system, unpacked or not (docs/gradebook.md). An error in one submission becomes a remark about
 * it. Returns false and sets `problem` if `path` cannot be read or holds no class. */
bool reader_read(const char *path, Class *class, char *problem, size_t size);

#endif
