/* prove.h - `warpbook check`: is a lab itself sound on this GPU? */
#ifndef PROVE_H
#define PROVE_H

#include "session.h"

/* Grades starter, rungs, beyond and wrong kernels of a lab and holds each to the expectation in its
 * first line and to the distances of docs; looks at the lab's files. Prints a row for each; returns
 * how many are not as they should be. */
int prove(Session *session, const LabEntry *entry);

/* The word after "expect:" in the first line of a kernel file. False if there is none. */
bool expectation(const char *source, char *word, size_t size);

/* True if, line for line, `starter` without its TODO lines is a subsequence of `rung`. */
bool is_subsequence(const char *starter, const char *rung);

#endif
