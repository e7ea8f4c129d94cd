/* serialize.h - a class as bytes, to be handed from one process to another. */
#ifndef GRADEBOOK_IMPORT_SERIALIZE_H
#define GRADEBOOK_IMPORT_SERIALIZE_H

#include <stdio.h>
#include "gradebook/import/submission.h"

bool serialize(const Class *class, FILE *to);

/* Trusts nothing of what it reads: false, with what came so far in `class`, if it is no parcel. */
bool deserialize(FILE *from, Class *class);

#endif
