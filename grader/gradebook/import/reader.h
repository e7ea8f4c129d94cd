/* reader.h - everything that was handed in, from a folder or an archive of a class. */
#ifndef GRADEBOOK_IMPORT_READER_H
#define GRADEBOOK_IMPORT_READER_H

#include <stdbool.h>
#include <stddef.h>
#include "gradebook/import/submission.h"

/* Reads `path`: a folder a student, archives named after students, or an export of a learning
 * system, unpacked or not (docs/instructors.md). What is wrong with one hand-in is a remark of it.
 * False, with `problem` set, if the whole cannot be read or is no class. */
bool reader_read(const char *path, Class *class, char *problem, size_t size);

#endif
