/* number.h - numbers from text, in the decimal notation of people and of our own files.
 *
 * One notation for options, course files, protocols and key:value lines: digits, perhaps a sign, a
 * point and an exponent. Blanks in front, hexadecimal fractions, "nan" and "inf" are refused:
 * strtod would take them. */
#ifndef BASE_NUMBER_H
#define BASE_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

/* All of `text` as a whole number without a sign, of at most `most`; base 10, or 16 without "0x".
 * Otherwise false, and *value is 0. */
bool parse_whole(const char *text, int base, uint64_t most, uint64_t *value);

/* All of `text` as a number from `least` to `most`. Otherwise false, and *value is 0. */
bool parse_number(const char *text, double least, double most, double *value);

/* The finite number at the beginning of `text`, such as the 1.5 of "1.5 MiB". Returns where its
 * unit begins; NULL if `text` does not begin with a number, and *value is 0. */
const char *parse_prefix(const char *text, double *value);

/* All of `text` as a finite number, or 0: for fields that may be empty. */
double number_or_zero(const char *text);

#endif
