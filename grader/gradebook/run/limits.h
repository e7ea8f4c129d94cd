/* limits.h - what one grading may hold as a whole: memory, processes, disk. Else it is ended. */
#ifndef GRADEBOOK_RUN_LIMITS_H
#define GRADEBOOK_RUN_LIMITS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

typedef struct Limits {
    size_t memory_bytes; /* of all its processes together, and of files in memory */
    int processes;
    size_t disk_bytes; /* in the one folder that it may write to */
} Limits;

/* What a machine can give each of so many gradings beside each other. */
Limits limits_for(int gradings);

/* True, with a sentence, if a process and all that it started exceed it. `folder`: NULL if none. */
bool limits_broken(const Limits *fence, pid_t pid, const char *folder, char *why, size_t size);

#endif
