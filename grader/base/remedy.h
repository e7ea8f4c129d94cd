/* remedy.h - the sentence that a lab has for what a grading saw. */
#ifndef BASE_REMEDY_H
#define BASE_REMEDY_H

#include "base/diagnosis.h"

/* The first of the lab's remedies that fits, by its place from 1 on; 0 if none does. `ratio` is the
 * lowest over the timed cases, 0 if speed was not judged. */
int remedy_for(const Diagnosis *diagnosis, Verdict verdict, double ratio, const Lab *lab);

/* "slow, case flat: `out` is written in too many sectors". */
void diagnosis_say(const Diagnosis *diagnosis, Verdict verdict, double ratio, char *text,
                   size_t size);

/* For tests: what is wrong with a lab's row; NULL if nothing is. */
const char *remedy_fault(const Lab *lab, int row);

#endif
