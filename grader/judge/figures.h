/* figures.h - writes the numbers that lessons quote: `KERNEL/CASE/UNIT value` lines, for
 * docs/measured. */
#ifndef JUDGE_FIGURES_H
#define JUDGE_FIGURES_H

#include "judge/grade.h"

#include <stdio.h>

/* Writes a header with the machine and the date. */
void figures_head(FILE *file, const Session *session, const LabEntry *entry);
/* Writes the figures of each case that was measured. */
void figures_print(FILE *file, const char *name, const Result *result);

#endif
