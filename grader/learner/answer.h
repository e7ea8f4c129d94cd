/* answer.h - reads numbers as people write them: in predictions and in the quiz. */
#ifndef LEARNER_ANSWER_H
#define LEARNER_ANSWER_H

#include <stdbool.h>

/* What to do about an answer that was not understood. */
#define ANSWER_FORM "write one plain number in the question's unit, such as 12 or 0.75"

/* Reads a number that may have digits in groups of three, be hexadecimal, stand behind a word such
 * as "about", and be followed by a unit or a remark: "4,224", "0x20", "~4", "32 sectors", "50 %".
 * Arithmetic such as "3/4" is refused, and a unit that changes the number: "8 MB" if the question
 * asks for bytes, "8 k". *percent: a % follows. */
bool answer_number(const char *text, const char *question, double *value, bool *percent);

/* Reads "50 %" as 50 or 0.5, whichever is nearer to the expected number. */
double answer_of_percent(double value, double expected);

#endif
