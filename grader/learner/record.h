/* record.h - what a grading adds to a learner's progress, and whether it is still current. */
#ifndef LEARNER_RECORD_H
#define LEARNER_RECORD_H

#include "judge/grade.h"
#include "learner/progress.h"

/* A hash of everything that a grading of this file depends on: the kernel, the lab, the device, the
 * course's terms, the options. 0 if the file cannot be read. A grading whose progress has this key
 * need not be repeated. */
uint64_t record_key(const Session *session, const LabEntry *entry, const char *source);

/* The timed case that is nearest to failing, or farthest below its bar; NULL if none was timed. */
const CaseSpeed *record_case(const Result *result);

/* The result's speed in this case; NULL if it was not measured. */
const CaseSpeed *record_now(const Result *result, const Case *lab_case);

/* Adds the result to the lab's progress. `key`: record_key(), 0: unknown. */
void record_add(const Result *result, uint64_t key, Progress *progress);

/* Loads the lab's progress, adds the result and saves it, unless the grader itself failed.
 * `progress` receives what was saved. */
void record_result(const Session *session, const Result *result, uint64_t key, Progress *progress);

#endif
