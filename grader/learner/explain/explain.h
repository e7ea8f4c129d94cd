/* explain.h - make explain: where a correct kernel spends its time, compared with the reference. */
#ifndef LEARNER_EXPLAIN_EXPLAIN_H
#define LEARNER_EXPLAIN_EXPLAIN_H

#include "judge/grade.h"

/* Grades the file on the session's simulated GPU. If it is correct, prints where time goes, by
 * limit and by source line, in the case `asked`, or, if that is NULL, in the timed case in which it
 * does worst. Otherwise prints the result of the grading. Returns true if it was explained.
 * `sound`: false if the grader or the machine failed. */
bool explain(Session *session, const LabEntry *entry, const char *source, const char *shown,
             const Case *asked, bool *sound);

/* The case with a speed whose label begins with this text. Prints their labels and returns NULL if
 * there is none. */
const Case *explain_case(const LabEntry *entry, const char *label);

/* The same next to rung `rung` (counted from 1; 0: the reference), and only what the two have in
 * common: where their time goes. */
bool explain_beside(Session *session, const LabEntry *entry, const char *source, const char *shown,
                    int rung, bool *sound);

/* For tests: one sentence for two kernels with the same limit, and where their times differ. False
 * if one sentence for each says more. */
bool explain_both(const Limits *yours, double your_ms, const Limits *other, double other_ms,
                  const char *whose, char *text, size_t size);

/* For tests: describes the costs of a line; "" if none is worth mentioning. */
void explain_line(const LineCost *cost, char *text, size_t size);

#endif
