/* serialize.h - a class as bytes, to be handed from one process to another. */
#ifndef GRADEBOOK_IMPORT_SERIALIZE_H
#define GRADEBOOK_IMPORT_SERIALIZE_H

#include <stdio.h>
#include "gradebook/import/submission.h"

bool parcel_write(const Class *class, FILE *to);

/* Trusts nothing of what it reads: false, with what came so far in `class`, if it is no parcel. */
bool parcel_read(FILE *from, Class *class);

#endif
