/* print.h - a kernel's printf: formats values that a callback supplies. */
#ifndef SIM_EXEC_PRINT_H
#define SIM_EXEC_PRINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MOST_PRINTED = 4096 }; /* bytes per call, including the 0; longer output is truncated */

/* Reads the next value of 4 or 8 bytes. Returns false if there are no more. */
typedef bool NextValue(void *self, int bytes, uint64_t *value);
/* Reads the string at an address. Returns false if it is not readable. */
typedef bool ReadText(void *self, uint64_t address, char *text, size_t size);

/* Returns the number of values that it used. */
int print_format(char *line, size_t size, const char *format, NextValue *next, ReadText *read,
                 void *self);

#endif
