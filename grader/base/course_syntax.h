/* course_syntax.h - parses the values in a course file. Each function returns false if `text` is
 * not a valid value.
 */
#ifndef BASE_COURSE_SYNTAX_H
#define BASE_COURSE_SYNTAX_H

#include <stdbool.h>
#include <stdint.h>

bool take_number(const char *text, double *value); /* 0.75: no sign, no exponent */
bool take_span(const char *text, double *seconds); /* 90s, 30m, 2h, 7d, or just 0 */
bool take_seed(const char *text, uint64_t *seed);  /* up to 16 hexadecimal digits, not all 0 */

/* 2026-11-30 23:59 +01:00. Seconds are optional, a T may separate date and time, and the blank
 * before the zone may be missing. Years before 1970 are invalid. */
bool take_time(const char *text, int64_t *seconds);

/* The index of a word in a list such as "pass, curve, human"; -1 if it is not in the list. */
int place_in(const char *words, const char *word);

#endif
