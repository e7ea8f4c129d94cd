/* limits.h - what one grading may use in total: memory, processes, disk. */
#ifndef GRADEBOOK_RUN_LIMITS_H
#define GRADEBOOK_RUN_LIMITS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

typedef struct Limits {
    size_t memory_bytes; /* of all its processes, and of its files in memory */
    int processes;
    size_t disk_bytes; /* in its one writable folder */
} Limits;

/* What this machine can give each of `gradings` at the same time. */
Limits limits_for(int gradings);

/* True, with a sentence in `why`, if a process and all its descendants exceed the limits. `folder`:
 * NULL if none. */
bool limits_broken(const Limits *limits, pid_t pid, const char *folder, char *why, size_t size);

#endif
