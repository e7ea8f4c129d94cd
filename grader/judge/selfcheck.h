/* selfcheck.h - `warpbook check`: is a lab itself sound on this GPU? And `warpbook check-cheats`:
 * do cheats get their verdicts, and do honest kernels in other styles go unsuspected? */
#ifndef JUDGE_SELFCHECK_H
#define JUDGE_SELFCHECK_H

#include "judge/grade.h"

#include <stdio.h>

/* Grades starter, rungs, beyond and wrong kernels of a lab and holds each to the expectation in its
 * first line and to the distances of docs; looks at the lab's files. Prints a row for each; returns
 * how many are not as they should be. `timed_only`: without the wrong kernels that
 * never come so far. What was measured goes to `figures`, too, unless it is NULL. */
int selfcheck(Session *session, const LabEntry *entry, bool timed_only, FILE *figures);

/* Grades tests/cheats and tests/honest, those of the labs asked for: two lines at the head of a
 * file say `// expect: VERDICT[, FLAG] - why` and `// lab: NAME`. A cheat may never pass, an honest
 * kernel never be flagged. `builds_only`: only those that the build refuses, for which no GPU is
 * needed. Prints a row for each; returns how many are not as they should be. */
int prove_strangers(Session *session, const LabEntry *const *labs, int count, bool builds_only);

/* The word that follows `key` in line `line` (from 0) of a text that begins there with `//`. False
 * if there is none. */
bool head_word(const char *source, int line, const char *key, char *word, size_t size);

/* The word after "expect:" in the first line of a kernel file; on a simulated GPU, if there is one,
 * that after "(sim:" in its place. False if there is none. */
bool expectation(const char *source, bool simulated, char *word, size_t size);

/* What "(from cc 8.0)" in the first line asks of the device, as 80; 0 where nothing does. On older
 * ones the file does not show what it is there for. */
int least_cc(const char *source);

/* The least distance of a kernel from the bars of the timed cases: above them; or, negative, under
 * them, where those that spare rung 1 do not count. */
double distance_from_bar(const Result *result, bool above);

/* True if, line for line, `starter` without its TODO lines is a subsequence of `rung`. */
bool is_subsequence(const char *starter, const char *rung);

#endif
