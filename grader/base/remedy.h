/* remedy.h - a lab's advice for what a grading found. */
#ifndef BASE_REMEDY_H
#define BASE_REMEDY_H

#include "base/diagnosis.h"

/* Returns the position, counted from 1, of the lab's first remedy that fits; 0 if none does.
 * `ratio` is the lowest of the timed cases, or 0 if speed was not judged. */
int remedy_for(const Diagnosis *diagnosis, Verdict verdict, double ratio, const Lab *lab);

/* "slow, case flat: `out` is written in too many sectors". */
void diagnosis_say(const Diagnosis *diagnosis, Verdict verdict, double ratio, char *text,
                   size_t size);

/* For tests: returns what is wrong with a lab's row, or NULL if the row is fine. */
const char *remedy_fault(const Lab *lab, int row);

#endif
