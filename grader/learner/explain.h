/* explain.h - make explain: where a correct kernel spends its time, compared with the reference. */
#ifndef LEARNER_EXPLAIN_H
#define LEARNER_EXPLAIN_H

#include "judge/grade.h"

/* Grades the file on the session's simulated GPU; if it is right, looks at the timed case in which
 * it does worst, and prints where time goes, by limit and by source line. True if it was explained;
 * else what a grading says is printed. `sound`: it was not our fault. */
bool explain(Session *session, const LabEntry *entry, const char *source, const char *shown,
             bool *sound);

/* For tests: what a line did, in words; "" if nothing is to be said. */
void explain_line(const LineCost *cost, char *text, size_t size);

#endif
