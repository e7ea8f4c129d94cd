/* modelled.h - the modelled time of one call on a simulated GPU, which is the same each time.
 *
 * There is no warm-up, no repetition and no interval: a single call on fresh contents with cold
 * caches gives the time. The reference determines the sizes and is timed once. Both results are
 * kept in the build folder under a hash of everything that they depend on.
 */
#ifndef JUDGE_MODELLED_H
#define JUDGE_MODELLED_H

#include "judge/timing.h"

typedef struct ModelledCall {
    double ms;
    Timed timed;
} ModelledCall;

/* Calls a kernel once on a planned case, with contents from this seed. It uses a new process, so
 * earlier calls cannot change the time. Returns PASS or the verdict of the failure, with the
 * reason in sampler->worker.why. The process of `sampler` stays available for queries until the
 * next call or sampler_end(). */
Verdict modelled_call(TimingContext *context, Sampler *sampler, const char *object,
                      const Case *sized, uint64_t seed, ModelledCall *call);

/* True if the call launched and copied nothing: the host did all the work, and the model does not
 * time that. */
bool modelled_idle(const ModelledCall *call);

/* Returns false, with the reason in *unjudged, if the modelled time of a call cannot be used. */
bool modelled_fine(const ModelledCall *call, Diagnosis *unjudged);

/* Plans case i for this device: stores the dims in context->plan[i] (sets 0: not timed, with the
 * reason in the case's `unjudged`) and the reference's call in *reference. Returns false if the
 * reference failed; the verdict is then set. */
bool modelled_plan(TimingContext *context, int i, ModelledCall *reference);

/* The size at which make grade times this row of the lab on the session's simulated GPU, in *sized.
 * The reference's kept call knows it; without one, the reference is built and called. Returns false
 * if the row is not timed, or if the reference failed; *sized is then the row. */
bool modelled_size(Session *session, const LabEntry *entry, const Case *lab_case, Case *sized);

/* The speed of a kernel of the workbook on planned case i as a share of the reference's; 0 if it
 * cannot be measured. */
double modelled_ratio(TimingContext *context, const char *object, int i);

#endif
