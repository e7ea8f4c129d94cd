/* selfcheck.h - `warpbook check`: checks that a lab is sound on this GPU. `warpbook check-cheats`:
 * checks that cheats get their verdicts and that honest kernels in other styles are not flagged. */
#ifndef JUDGE_SELFCHECK_H
#define JUDGE_SELFCHECK_H

#include "judge/grade.h"

#include <stdio.h>

/* Grades the starter, rungs, beyond and wrong kernels of a lab. Checks each against the
 * expectation in its first line and against the required distances from the bar, and checks the
 * lab's files. Prints a row for each and returns the number of failures. `timed_only`: skips the
 * wrong kernels whose speed is never measured. `sample`: of the wrong kernels, takes only every
 * sample-th; 1: all. `figures`, if not NULL, receives the measurements. */
int selfcheck(Session *session, const LabEntry *entry, bool timed_only, int sample, FILE *figures);

/* Grades the kernels in tests/cheats and tests/honest that belong to the given labs. Two lines
 * at the head of each file say `// expect: VERDICT[, FLAG] - why` and `// lab: NAME`. A cheat must
 * never pass, and an honest kernel must never be flagged. `builds_only`: only kernels that the
 * build refuses, which need no GPU. Prints a row for each and returns the number of failures. */
int selfcheck_kernels(Session *session, const LabEntry *const *labs, int count, bool builds_only);

/* Extracts the word after `key` in line `line` (counted from 0), which must begin with `//`.
 * Returns false if there is no such word. */
bool head_word(const char *source, int line, const char *key, char *word, size_t size);

/* Extracts the word after "expect:" in the first line of a kernel file. On a simulated GPU the
 * word after "(sim:" replaces it, if present. Returns false if there is no such word. */
bool expectation(const char *source, bool simulated, char *word, size_t size);

/* The compute capability that "(from cc 8.0)" in the first line requires, as 80; 0 if none. On
 * older devices the file does not show what it is meant to show. */
int least_cc(const char *source);

/* A kernel's smallest margin over all timed cases. `above`: how far it is above the bar. Otherwise
 * how far it is below the bar, as a negative number; cases where rung 1 need not be slow are left
 * out. */
double distance_from_bar(const Result *result, bool above);

/* False if rung 1 is slow in a control case, where its flaw must not matter: more than half of the
 * gap, as a factor, of the timed case in which it is fastest. A bar is no measure for a control
 * case: rung 1 may lack more of the reference's techniques than its flaw, and what these gain
 * depends on the device. */
bool control_is_fast(const Result *rung1);

/* True if the lines of `starter` without its TODO lines are a subsequence of the lines of
 * `rung`. */
bool is_subsequence(const char *starter, const char *rung);

#endif
