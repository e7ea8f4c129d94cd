/* ladder_place.h - where a speed stands among the lab's rungs. */
#ifndef LEARNER_LADDER_PLACE_H
#define LEARNER_LADDER_PLACE_H

#include "judge/grade.h"

/* Writes "Ladder: between rung 3 (42 %) and 5 (100 %), as measured on an NVIDIA H200." Returns
 * false if the ladder was not measured (docs/measured), or the lab has no timed case. */
bool ladder_place(const Workbook *book, const Result *result, char *text, size_t size);

/* The same for a ladder that is given, in the order of its rungs: ratios, 0 if one is unknown. */
void ladder_place_say(const double *ratios, int count, double mine, char *text, size_t size);

#endif
