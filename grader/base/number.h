/* number.h - parses numbers in the decimal notation used by people and by the grader's own files.
 *
 * Options, course files, protocols and key:value lines all use one notation: digits, with an
 * optional sign, point and exponent. Leading blanks, hexadecimal fractions, "nan" and "inf" are
 * refused; strtod would accept them. */
#ifndef BASE_NUMBER_H
#define BASE_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

/* Parses all of `text` as a whole number without a sign, at most `most`; base 10, or 16 without
 * "0x". On failure, returns false and sets *value to 0. */
bool parse_whole(const char *text, int base, uint64_t most, uint64_t *value);

/* Parses all of `text` as a number from `least` to `most`. On failure, returns false and sets
 * *value to 0. */
bool parse_number(const char *text, double least, double most, double *value);

/* Parses the finite number at the beginning of `text`, such as the 1.5 of "1.5 MiB". Returns a
 * pointer to its unit; NULL, with *value 0, if `text` does not begin with a number. */
const char *parse_prefix(const char *text, double *value);

/* All of `text` as a finite number, or 0: for fields that may be empty. */
double number_or_zero(const char *text);

#endif
