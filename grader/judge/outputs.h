/* outputs.h - are the outputs that a runner holds right?
 *
 * Every call returns PASS when all is well, else a verdict with the reason in worker->why: see
 * worker.h.
 */
#ifndef JUDGE_OUTPUTS_H
#define JUDGE_OUTPUTS_H

#include "base/random.h"
#include "judge/worker.h"

/* Compares all outputs of one set; WRONG says how they differ. Of a control case whose truth would
 * take seconds, a part, at places drawn from *random. */
Verdict outputs_check(Worker *worker, int set, Draws *random);

/* Of how many elements of a case's large outputs outputs_check() looks at one: 1, all of them, but
 * in a control case of very many operations. */
size_t outputs_one_in(const Lab *lab, const Case *c);

/* Of the outputs of the first `calls` sets: small ones whole, of others a few windows at places
 * chosen now. */
Verdict outputs_check_some(Worker *worker, int calls, Draws *random);

#endif
