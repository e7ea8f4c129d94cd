/* report.h - prints the results of a grading: a table for people, key:value lines for programs. */
#ifndef LEARNER_REPORT_H
#define LEARNER_REPORT_H

#include "judge/grade.h"

#include <stdio.h>

/* Describes the machine before the first lab: in one line, or with all figures and versions. */
void report_gpu(const Session *session);
void report_machine(const Session *session);

/* Prints the rows of one lab as soon as it is graded; `first` also prints the head of the table. */
void report_table(const Result *result, bool first);

/* Prints, after the table, the reason for each verdict that is not a pass, then what to do next.
 * The latter is omitted for a submission, because its author is not the reader. */
void report_reasons(const Session *session, const Result *results, int count, bool submission);

/* Prints a lab's verdict and its reason in one or two lines. */
void report_short(const Result *result);

/* A page was written: says what it shows, on standard error, and prints its path. */
void report_page(const char *what, const char *path);

/* Prints why the session could not be opened; returns the exit status. */
int report_could_not(const Session *session);

/* `--format lines`, documented in docs/lines.md. */
void report_lines_machine(const Session *session);
void report_lines(const Result *result);
void report_lines_with(const Result *result,
                       const char *more); /* more lines, before the last one */

/* Prints `key:value` on one line, whatever the value holds. */
void report_line(const char *key, const char *value);

#endif
