/* symptom.h - what a grading saw, in words; and the sentence that a lab has for it.
 *
 * A lab's remedies are keyed by these words: "slow sectors_written" is a verdict and what was seen
 * with it. They are taken from the sentence that the student was told (Result's `why`), which is
 * made in many places, some of them in another process, and reaches us through all of them.
 * tests/test_hints.c holds the two together.
 */
#ifndef SYMPTOM_H
#define SYMPTOM_H

#include "verdict.h"

typedef struct Symptom {
    uint64_t saw;         /* a bit for each word */
    const Case *lab_case; /* where; NULL: no case was named */
} Symptom;

/* `printed` by the student's code: after a crash it holds what CUDA_CHECK said. */
Symptom symptom_in(const char *why, const char *printed, Verdict verdict, const Lab *lab);

/* "tail,unwritten"; "" if nothing was seen. And back: what never comes with this verdict, or is not
 * known to us, is left out. */
void symptom_words(const Symptom *symptom, char *text, size_t size);
uint64_t symptom_bits(const char *words, Verdict verdict);

/* The first of the lab's remedies that fits, by its place from 1 on; 0 if none does. `ratio` is the
 * lowest over the timed cases, 0 if speed was not judged. */
int symptom_remedy(const Symptom *symptom, Verdict verdict, double ratio, const Lab *lab);

/* "slow, case flat: `out` is written in too many sectors". */
void symptom_say(const Symptom *symptom, Verdict verdict, double ratio, char *text, size_t size);

/* For tests: what is wrong with a lab's row; NULL if nothing is. And the phrase by which word i is
 * known (the first, if there are more); NULL at the end. */
const char *symptom_fault(const Lab *lab, int row);
const char *symptom_phrase(int i);

#endif
