/* outputs.h - compares the outputs that a runner holds with the lab's expected values.
 *
 * Every call returns PASS, or a verdict with the reason in worker->why (see worker.h).
 */
#ifndef JUDGE_OUTPUTS_H
#define JUDGE_OUTPUTS_H

#include "base/random.h"
#include "judge/worker.h"

/* Checks the guard zones and the inputs, then compares all outputs of one set. For WRONG,
 * worker->why says how they differ. In a control case whose expected values would take seconds,
 * only a part is compared, at places drawn from *random. */
Verdict outputs_check(Worker *worker, int set, Draws *random);

/* outputs_check() compares one of this many elements of a case's outputs: 1 (all of them),
 * except in a control case with very many operations or elements. */
size_t outputs_one_in(const Lab *lab, const Case *c);

/* Checks the outputs of the first `calls` sets: small outputs completely, large ones in a few
 * windows at random places. */
Verdict outputs_check_some(Worker *worker, int calls, Draws *random);

#endif
