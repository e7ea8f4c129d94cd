/* judged.h - stored gradings under the current bars.
 *
 * A grading records the speed of each timed case with its interval, and the bars at which it
 * stopped. When a course changes its bars, the stored intervals are compared with the new ones by
 * the rule of base/speed.h. Only a kernel whose intervals cannot decide is graded again.
 */
#ifndef GRADEBOOK_STORE_JUDGED_H
#define GRADEBOOK_STORE_JUDGED_H

#include "gradebook/store/store.h"
#include "base/marks.h"

/* Creates a temporary table `judged` of the kernels whose result is not that of their latest
 * grading: kernel, attempt (the grading that counts; NULL: none can decide), verdict, why. */
void judged_find(Store *store);

/* Requests gradings of the kernels of a lab that no stored grading can decide about, and returns
 * their number. Call judged_find first. */
int judged_request(Store *store, const char *lab);

/* Adds the measured timed cases of an attempt to a grading with this verdict (state), with the
 * current bars. */
void judged_cases(Store *store, int64_t attempt, const LabEntry *entry, Graded *graded);

#endif
