/* predictions.h - the numbers that a lab asks for before it shows a speed, in
 * labs/NN/predictions.txt: lines `key: number`. */
#ifndef LEARNER_PREDICTIONS_H
#define LEARNER_PREDICTIONS_H

#include "build/workbook.h"
#include "lab.h"

/* Compares the predictions with the lab's answers and explains the differences; predictions that
 * were already explained get only one line. *explained identifies the predictions: on input, those
 * explained last (0: none); on output, the current ones. Returns how many are filled in. */
int print_predictions(const char *path, const Lab *lab, uint64_t *explained);

/* The numbers that the lab asks for: how many are filled in, how many are something else than a
 * number, and how many of those filled in are right; how many lines cannot be read, and what is
 * wrong with the first one: "labs/01_coalescing/predictions.txt:12: ...". */
typedef struct PredictionScore {
    int asked, filled, unread, right, faults;
    char fault[400];
} PredictionScore;
PredictionScore predictions_score(const char *path, const Lab *lab);

/* print_predictions() for labs/NN/predictions.txt; progress remembers which were explained.
 * `again`: explains them even if they were explained before. */
void explain_predictions(const Workbook *book, const LabEntry *entry, bool again);

/* True if the lab asks for numbers and none of them is filled in. */
bool predictions_open(const char *path, const Lab *lab);
void print_waiting(int labs); /* prints how many labs still lack predictions */

/* Reads the file without printing anything; returns how many numbers the lab asks for. */
typedef struct PredictionRow {
    const Prediction *about;
    bool is_filled;
    double guess;
    bool is_right;
} PredictionRow;
int predictions_load(const char *path, const Lab *lab, PredictionRow rows[LAB_PREDICTIONS]);

#endif
