/* figures.h - what lessons quote: `KERNEL/CASE/UNIT value` lines, for docs/measured. */
#ifndef JUDGE_FIGURES_H
#define JUDGE_FIGURES_H

#include "judge/grade.h"

#include <stdio.h>

/* A head on machine and day. */
void figures_head(FILE *file, const Session *session, const LabEntry *entry);
/* Of each case that was measured. */
void figures_print(FILE *file, const char *name, const Result *result);

#endif
