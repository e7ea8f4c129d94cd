/* left_to_do.h - what a kernel that passes still leaves open. */
#ifndef LEARNER_LEFT_TO_DO_H
#define LEARNER_LEFT_TO_DO_H

#include "judge/grade.h"

/* Prints the counter that exceeds a limit of the lab, and the TODO lines of the starter that are
 * still there; nothing if there are none. */
void print_left_to_do(const Workbook *book, const Result *result, int indent, int columns);

/* Writes "kernel.cu:20, 24": the lines of `kernel` that contain TODO and are also lines of
 * `starter`. Returns how many there are. */
int open_todos(const char *starter, const char *kernel, char *text, size_t size);

#endif
