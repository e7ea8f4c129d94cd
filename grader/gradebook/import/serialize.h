/* serialize.h - a class as bytes, to send it from one process to another. */
#ifndef GRADEBOOK_IMPORT_SERIALIZE_H
#define GRADEBOOK_IMPORT_SERIALIZE_H

#include <stdio.h>
#include "gradebook/import/submission.h"

bool serialize(const Class *class, FILE *to);

/* Does not trust the input. Returns false if it is malformed; `class` then holds what was read so
 * far. */
bool deserialize(FILE *from, Class *class);

#endif
