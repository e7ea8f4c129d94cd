/* timing_sim.h - how long one call takes on a simulated GPU: modelled, so the same each time.
 *
 * No warm-up, no repetition, no interval: a call on fresh contents with cold caches is all that
 * there is to know. The reference chooses the sizes and is timed once; both are kept (in the build
 * folder, by everything that they hang on), since nothing can change them.
 */
#ifndef JUDGE_TIMING_SIM_H
#define JUDGE_TIMING_SIM_H

#include "judge/timing.h"

typedef struct ModelledCall {
    double ms;
    Timed timed;
} ModelledCall;

/* One call of a kernel on a planned case, with contents from this seed, in a new process: nothing
 * that was called before can change its time. PASS, or what went wrong, with the reason in
 * side->worker.why. The side's process stays, for questions, until the next call or sampler_end().
 */
Verdict modelled_call(TimingContext *j, Sampler *side, const char *object, const Case *sized,
                      uint64_t seed, ModelledCall *call);

/* Nothing was launched, and nothing copied: all was the host's work, which the model has no time
 * for.
 */
bool modelled_idle(const ModelledCall *call);

/* Why a call's time cannot be trusted: false, and the reason. */
bool modelled_fine(const ModelledCall *call, char *why_not, size_t size);

/* Plans case i for this device: dims into j->plan[i] (sets 0: not to be timed, with the reason in
 * the case's why_not), and the reference's call. False: the reference failed; the verdict is in. */
bool modelled_plan(TimingContext *j, int i, ModelledCall *reference);

/* Speed of a kernel of ours on planned case i as a share of the reference's; 0 if it can't be had.
 */
double modelled_ratio(TimingContext *j, const char *object, int i);

#endif
