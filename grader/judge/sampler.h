/* sampler.h - one side of a race: a worker on a case, and how it takes a sample.
 *
 * A sample is one call on each of K buffer sets with contents that were not there before: there is
 * nothing to replay. K sets take 5 ms or more where memory allows; else a sample has several
 * passes, each on new contents. So it has where arrays lie in the host's memory.
 *
 * Each call returns PASS, or what went wrong, with the reason in side->worker.why.
 */
#ifndef JUDGE_SAMPLER_H
#define JUDGE_SAMPLER_H

#include "base/random.h"
#include "judge/session.h"
#include "judge/race.h"

/* What a case needs: its dims on this GPU, and how many sets and passes make a sample. */
typedef struct Plan {
    Case sized;
    int sets, passes;    /* sets 0: the case cannot be timed here */
    double reference_ms; /* one call */
} Plan;

typedef struct Sampler {
    Worker worker;
    Draws *random;
    int calls, passes; /* a sample: so many calls, so many times */
    const Plan *plan;  /* of the case taken up */
} Sampler;

/* Takes a runner and loads a kernel into it; `info` is the GPU as it is now, free memory included.
 */
Verdict sampler_start(Sampler *side, Session *session, const LabEntry *entry, const char *object,
                      Draws *random, GpuInfo *info);
void sampler_end(Sampler *side);

/* Sizes a case for this GPU by the reference: it must take 0.2 ms, and three sets of both sides
 * must fit. If they do not: PASS, with plan->sets 0 and the reason in why_not. */
Verdict sampler_plan(Sampler *reference, const Case *lab_case, const GpuInfo *info, Plan *plan,
                     char *why_not, size_t size);

/* Puts a side on a planned case, which it keeps a pointer to. A kernel far slower than the
 * reference takes fewer calls a sample, as long as it is that slow. */
Verdict sampler_take_up(Sampler *side, const Plan *plan);

/* For judge/race.h: `self` is a Sampler. */
Verdict sampler_sample(void *self, Sample *sample);
bool sampler_clock(void *self, double *mhz);

/* Runs the reference until the SM clock has been steady (1 %) for five readings, at least 0.2 s. */
Verdict sampler_warm_up(Sampler *reference);

/* A side alone: median time of a call over at most 16 samples. */
Verdict sampler_time_alone(Sampler *side, int samples, double *ms);

#endif
