/* figures.h - writes the numbers that lessons quote: `KERNEL/CASE/UNIT value` lines, for
 * docs/measured. */
#ifndef JUDGE_FIGURES_H
#define JUDGE_FIGURES_H

#include "judge/grade.h"

#include <stdio.h>

/* Writes the head: machine, date, and the command that measured. An empty line ends it, which the
 * caller writes. */
void figures_head(FILE *file, const Session *session, const char *command);
/* Writes the figures of each case that was measured. */
void figures_print(FILE *file, const char *name, const Result *result);

#endif
