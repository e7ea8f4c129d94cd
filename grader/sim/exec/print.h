/* print.h - a kernel's printf: a format whose values come from somewhere else. */
#ifndef SIM_EXEC_PRINT_H
#define SIM_EXEC_PRINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MOST_PRINTED = 4096 }; /* bytes per call, with the 0; longer output is cut */

/* The next value of 4 or 8 bytes; false: there are no more. */
typedef bool NextValue(void *self, int bytes, uint64_t *value);
/* The text at an address; false: nothing there. */
typedef bool ReadText(void *self, uint64_t address, char *text, size_t size);

/* Returns how many values it took. */
int print_format(char *line, size_t size, const char *format, NextValue *next, ReadText *read,
                 void *self);

#endif
