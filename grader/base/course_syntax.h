/* course_syntax.h - values of a course file, as people write them. Each is false if `text` is none.
 */
#ifndef BASE_COURSE_SYNTAX_H
#define BASE_COURSE_SYNTAX_H

#include <stdbool.h>
#include <stdint.h>

bool take_number(const char *text, double *value); /* 0.75: no sign, no exponent */
bool take_span(const char *text, double *seconds); /* 90s, 30m, 2h, 7d, or just 0 */
bool take_seed(const char *text, uint64_t *seed);  /* up to 16 hexadecimal digits, not 0 */

/* 2026-11-30 23:59 +01:00; also with seconds, or a T, or without the blank before the zone. From
 * 1970 on. */
bool take_time(const char *text, int64_t *seconds);

/* The place of a word in "pass, curve, human"; -1: it is none of them. */
int place_in(const char *words, const char *word);

#endif
