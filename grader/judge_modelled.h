/* judge_modelled.h - the verdict from modelled times. */
#ifndef JUDGE_MODELLED_H
#define JUDGE_MODELLED_H

#include "grade.h"

enum { EXPLAINED = 900 };

/* From result->speed: SLOW if a timed case lies under its bar, explained by its text if there is
 * one; PASS if all of them were measured, or one was and the others are blind; else CORRECT_ONLY
 * with the reason, and false: what the kernel does is to decide. */
bool judge_modelled_decide(Result *result, char explained[][EXPLAINED]);

#endif
