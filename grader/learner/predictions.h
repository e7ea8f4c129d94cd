/* predictions.h - the numbers that a lab asks for before its speed is shown:
 * labs/NN/predictions.txt, lines `key: number`. */
#ifndef LEARNER_PREDICTIONS_H
#define LEARNER_PREDICTIONS_H

#include "lab.h"

/* Compares them with the lab's answers, and prints what can be learnt from the difference: of the
 * numbers that were explained before, a line. *explained tells numbers apart: in, those explained
 * last (0: none), out, those now. Returns how many are filled in. */
int print_predictions(const char *path, const Lab *lab, uint64_t *explained);

/* Whether the lab asks for numbers and none of them is filled in yet. */
bool predictions_open(const char *path, const Lab *lab);
void print_waiting(int labs); /* says that so many are open */

#endif
