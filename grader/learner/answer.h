/* answer.h - reads numbers as people write them: in predictions and in the quiz. */
#ifndef LEARNER_ANSWER_H
#define LEARNER_ANSWER_H

#include <stdbool.h>

/* Reads a number that may have digits in groups of three, be hexadecimal, and be followed by a unit
 * or a remark: "4,224", "0x20", "32 sectors", "50 %". Arithmetic such as "3/4" is refused.
 * *percent: a % follows. */
bool answer_number(const char *text, double *value, bool *percent);

/* Reads "50 %" as 50 or 0.5, whichever is nearer to the expected number. */
double answer_of_percent(double value, double expected);

#endif
