/* quarantine.h - reads what was handed in, in a process of its own that can do nothing else. */
#ifndef QUARANTINE_H
#define QUARANTINE_H

#include <stdbool.h>
#include <stddef.h>
#include "handin.h"

/* As intake_read: whoever finds a fault of libarchive, or of ours, finds himself in a process
 * without network, programs, or anything to write to. */
bool quarantine_read(const char *path, Class *class, char *problem, size_t size);

#endif
