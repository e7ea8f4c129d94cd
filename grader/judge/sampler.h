/* sampler.h - one side of a comparison of speeds: a worker on a case, and how it takes a sample.
 *
 * A sample is one call on each of K buffer sets with new contents, so results cannot be replayed. K
 * sets take 5 ms or more if memory allows. Otherwise a sample has several passes, each on new
 * contents; so do samples of arrays in host memory.
 *
 * Each call returns PASS or the verdict of the failure, with the reason in sampler->worker.why.
 */
#ifndef JUDGE_SAMPLER_H
#define JUDGE_SAMPLER_H

#include "base/diagnosis.h"
#include "base/random.h"
#include "judge/session.h"
#include "judge/compare_speed.h"

/* The size of a case on this GPU, and the number of buffer sets and passes in a sample. */
typedef struct Plan {
    Case sized;
    int sets, passes;    /* sets 0: the case cannot be timed here */
    double reference_ms; /* per call */
} Plan;

typedef struct Sampler {
    Worker worker;
    Draws *random;
    int calls, passes; /* per sample: `passes` times `calls` calls */
    const Plan *plan;  /* for the current case */
} Sampler;

/* Takes a runner and loads a kernel into it. sampler->worker.gpu then describes the GPU's current
 * state, including its free memory. */
Verdict sampler_start(Sampler *sampler, Session *session, const LabEntry *entry, const char *object,
                      const Setup *setup, Draws *random);
void sampler_end(Sampler *sampler);

/* Chooses the size of a case for this GPU: the reference must take 0.2 ms, and three sets for
 * each of the two sides must fit in memory. If that is impossible, returns PASS with plan->sets
 * 0 and the reason in *unjudged. */
Verdict sampler_plan(Sampler *reference, const Case *lab_case, const GpuInfo *info, Plan *plan,
                     Diagnosis *unjudged);

/* Switches one side to a planned case. It keeps a pointer to the plan. A kernel far slower than the
 * reference takes fewer calls per sample, as long as it is that slow. */
Verdict sampler_take_up(Sampler *sampler, const Plan *plan);

/* For judge/compare_speed.h: `self` is a Sampler. */
Verdict sampler_sample(void *self, Sample *sample);
bool sampler_clock(void *self, double *mhz);

/* Runs the reference until the SM clock has been steady (1 %) for five readings, at least 0.2 s. */
Verdict sampler_warm_up(Sampler *reference);

/* Measures one side alone: the median time per call over at most 16 samples. */
Verdict sampler_time_alone(Sampler *sampler, int samples, double *ms);

#endif
