/* limits.h - limits on the memory, processes and disk space that one grading uses in total. */
#ifndef GRADEBOOK_RUN_LIMITS_H
#define GRADEBOOK_RUN_LIMITS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

typedef struct Limits {
    size_t memory_bytes; /* of all its processes, and of its files in memory */
    int processes;
    size_t disk_bytes; /* in its only writable folder */
} Limits;

/* The limits of each grading when `gradings` of them run at the same time on this machine. */
Limits limits_for(int gradings);

/* Returns true, with a sentence in `why`, if a process and all its descendants exceed the limits.
 * `folder`: the writable folder, or NULL. */
bool limits_broken(const Limits *limits, pid_t pid, const char *folder, char *why, size_t size);

#endif
