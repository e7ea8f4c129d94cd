/* report.h - what a grading says: a table for people, key:value lines for programs. */
#ifndef LEARNER_REPORT_H
#define LEARNER_REPORT_H

#include "judge/grade.h"

#include <stdio.h>

/* A line on the machine, before the first lab. */
void report_machine(const Session *session);

/* The rows of one lab, as soon as it is graded; `first` prints the head of the table too. */
void report_table(const Result *result, bool first);

/* After the table: the reason of each verdict that is not a pass, then what to do next (not for a
 * submission: its author is not the one who reads). */
void report_reasons(const Session *session, const Result *results, int count, bool submission);

/* A lab's verdict and why, in a line or two. */
void report_short(const Result *result);

/* `--format lines`, documented in docs/lines.md. */
void report_lines_machine(const Session *session);
void report_lines(const Result *result);

#endif
