/* labs_table.h - all labs in one table, one line per lab. */
#ifndef LEARNER_LABS_TABLE_H
#define LEARNER_LABS_TABLE_H

#include "learner/progress.h"

void labs_table_head(void);

/* Prints a lab's row: its state, and a bar of its speed or what went wrong. `since`: when it was
 * graded, "22:51", if it has not changed since and was not graded again; else "". */
void labs_table_row(const LabEntry *entry, const Progress *progress, const char *since);

/* The line above the first further lab. */
void labs_table_further(void);

/* When the latest grading was, as a row shows it: "22:51" today, else "11-24". */
void labs_table_since(const Progress *progress, char *text, size_t size);

/* "3 of 10 done.", and what to do next. `kept`: rows that were not graded again. `file`: of the
 * progress. */
void labs_table_end(const char *file, int kept);

#endif
