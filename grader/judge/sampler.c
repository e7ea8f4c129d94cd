/* sampler.c - one side of a comparison of speeds: a worker on a case, and how it takes a sample. */
#include "judge/sampler.h"
#include "judge/compare.h"
#include "judge/outputs.h"

#include <math.h>

static const double sample_ms = 5, least_call_ms = 0.2;

/* For calls that are timed one by one. The parent's clock detects hidden work from 0.05 ms per
 * pass (judge/compare_speed.c), which must be small compared with such a call. */
static const double least_single_call_ms = 2;
static const int most_passes = 16;
static const double warm_up_s = 0.2, warm_up_limit_s = 3;

/* A sample never needs to take longer than this; a kernel this slow is far from any bar. */
static const double long_sample_ms = 250;

/* No timed call of a lab takes nearly this long. */
static const double call_limit_s = 20;

/* ---- A sample ---- */

/* Sets the full number of calls: one per set, or fewer if long calls already fill a sample. */
static void take_all_calls(Sampler *sampler, const Plan *plan)
{
    sampler->calls = (int) fmin(ceil(sample_ms / plan->reference_ms), plan->sets);
    sampler->passes = plan->passes;
}

Verdict sampler_sample(void *self, Sample *sample)
{
    Sampler *sampler = self;
    Verdict verdict;

    *sample = (Sample){ .calls = sampler->calls * sampler->passes, .passes = sampler->passes };
    for (int pass = 0; pass < sampler->passes; pass++) {
        Timing timing;
        if ((verdict = worker_run(&sampler->worker, draw(sampler->random, DRAW_CONTENTS),
                                  sampler->calls, call_limit_s, &timing)) != PASS ||
            (verdict = outputs_check_some(&sampler->worker, sampler->calls, sampler->random)) !=
                PASS)
            return verdict;
        sample->event_ms += timing.event_ms;
        sample->between_ms += sampler->worker.prepare_ms;
        sample->parent_ms += sampler->worker.seen_ms; /* a late result means unfinished work */
    }
    if (sampler->plan && sample->parent_ms < sample_ms)
        take_all_calls(sampler,
                       sampler->plan); /* its first call was slow, but the others are not */
    return PASS;
}

/* ---- Starting ---- */

Verdict sampler_start(Sampler *sampler, Session *session, const LabEntry *entry, const char *object,
                      const Setup *setup, Draws *random)
{
    *sampler = (Sampler){ .random = random, .passes = 1 };
    return session_load(session, entry, object, setup, &sampler->worker);
}

void sampler_end(Sampler *sampler)
{
    worker_end(&sampler->worker);
}

/* Times one call on one set: the faster of two. */
static Verdict time_one(Sampler *sampler, double *ms)
{
    *ms = 1e9;
    for (int i = 0; i < 2; i++) {
        Timing timing;
        Verdict verdict = worker_run(&sampler->worker, draw(sampler->random, DRAW_CONTENTS), 1,
                                     call_limit_s, &timing);
        if (verdict != PASS)
            return verdict;
        *ms = fmin(*ms, fmax(timing.event_ms, 1e-4));
        if (timing.parent_ms > long_sample_ms)
            break; /* once is enough to know that it is slow */
    }
    return PASS;
}

static double set_bytes(const Arrays *arrays)
{
    const Array *all[] = { arrays->in, arrays->out, &arrays->scratch };
    const int count[] = { LAB_IN, LAB_OUT, 1 };
    double bytes = 0;

    for (int kind = 0; kind < 3; kind++)
        for (int i = 0; i < count[kind]; i++)
            bytes += (double) all[kind][i].rows * (double) all[kind][i].cols *
                     (double) type_bytes(all[kind][i].type);
    return bytes;
}

/* Bytes of all arrays in one set of a case. */
static double case_bytes(const Lab *lab, const Case *lab_case)
{
    Arrays arrays = { 0 };

    lab->shape(lab_case, &arrays);
    return set_bytes(&arrays);
}

/* True if a case's data is in host memory, and so bypasses L2. */
static bool is_in_host_memory(const Lab *lab, const Case *lab_case)
{
    Arrays arrays = { 0 };

    lab->shape(lab_case, &arrays);
    return arrays.in[0].host || arrays.out[0].host;
}

/* The number of sets: enough for 5 ms and for three times L2, at least 3, within a quarter of
 * the free memory (there are two sides). Data that bypasses L2 needs only one set and several
 * passes: pinning 128 MB takes 57 ms and unpinning it another 40, while a call takes 1.6 ms
 * (H200, driver 580.159, 2026-11-22). */
static int choose_sets(const Lab *lab, double one_set, bool in_host_memory, double call_ms,
                       const GpuInfo *info)
{
    double wanted = fmax(sample_ms / call_ms, 3.0 * (double) info->gpu.l2_bytes / one_set);
    double room = info->free_bytes / 4 / one_set;

    return in_host_memory || lab->single_calls ? 1
                                               : (int) fmin(fmax(ceil(wanted), 3), fmin(room, 64));
}

static Verdict time_case(Sampler *reference, const Case *sized, double *call_ms)
{
    Verdict verdict = worker_case(&reference->worker, sized, 1);

    return verdict == PASS ? time_one(reference, call_ms) : verdict;
}

enum { BALANCE_FIRST = 16, BALANCE_MOST = 1 << 16 };

/* Doubles the balanced dim until a call takes four times as long as without it. Most of the time
 * is then that dim's own work, and the rest is small or overlaps with it. The dim becomes 0 if
 * no call takes that long. */
static Verdict balance(Sampler *reference, Case *sized, double *call_ms)
{
    long *dim = &sized->dim[sized->balanced];
    double without_ms = *call_ms;
    Verdict verdict;

    for (*dim = BALANCE_FIRST; *dim <= BALANCE_MOST; *dim *= 2) {
        if ((verdict = time_case(reference, sized, call_ms)) != PASS)
            return verdict;
        if (*call_ms < 4 * without_ms)
            continue;
        *dim = (long) fmax(round((double) *dim * sized->balance * without_ms / *call_ms), 1);
        return time_case(reference, sized, call_ms);
    }
    *dim = 0;
    return PASS;
}

Verdict sampler_plan(Sampler *reference, const Case *lab_case, const GpuInfo *info, Plan *plan,
                     Diagnosis *unjudged)
{
    const Lab *lab = reference->worker.entry->lab;
    const double least_ms = lab->single_calls ? least_single_call_ms : least_call_ms;
    double bytes = 0, scale;

    for (scale = 1; scale <= 1024; scale *= 2) {
        Case sized = *lab_case;
        Verdict verdict;
        if (sized.size)
            sized.size(sized.dim, &info->gpu, scale);
        bytes = case_bytes(lab, &sized);
        if (3 * bytes > info->free_bytes / 4)
            break;
        if ((verdict = time_case(reference, &sized, &plan->reference_ms)) != PASS)
            return verdict;
        if (plan->reference_ms < least_ms && sized.size && !sized.stays_short)
            continue;
        if (sized.balance > 0 &&
            (verdict = balance(reference, &sized, &plan->reference_ms)) != PASS)
            return verdict;
        if (sized.balance > 0 && !sized.dim[sized.balanced]) {
            plan->sets = 0;
            *unjudged = (Diagnosis){ .saw = SAW(SAW_NO_SIZE), .lab_case = lab_case };
            return PASS;
        }
        plan->sized = sized;
        plan->sets =
            choose_sets(lab, bytes, is_in_host_memory(lab, &sized), plan->reference_ms, info);
        plan->passes = (int) fmin(ceil(sample_ms / (plan->sets * plan->reference_ms)), most_passes);
        return PASS;
    }
    plan->sets = 0;
    if (scale > 1024)
        *unjudged = (Diagnosis){ .saw = SAW(SAW_NO_SIZE), .lab_case = lab_case, .limit = least_ms };
    else
        *unjudged = (Diagnosis){ .saw = SAW(SAW_DEVICE_MEMORY),
                                 .lab_case = lab_case,
                                 .value = 3 * bytes / 1e9,
                                 .limit = info->free_bytes / 1e9 };
    return PASS;
}

Verdict sampler_take_up(Sampler *sampler, const Plan *plan)
{
    double ms;
    Verdict verdict = worker_case(&sampler->worker, &plan->sized, plan->sets);

    sampler->plan = plan;
    take_all_calls(sampler, plan);
    if (verdict != PASS || (verdict = time_one(sampler, &ms)) != PASS)
        return verdict;
    if (ms * plan->sets * plan->passes > long_sample_ms) {
        sampler->passes = 1;
        sampler->calls = (int) fmin(fmax(long_sample_ms / ms, 1), plan->sets);
    }
    return PASS;
}

/* ---- The machine ---- */

bool sampler_clock(void *self, double *mhz)
{
    Sampler *reference = self;

    return worker_clock(&reference->worker, mhz) == PASS;
}

Verdict sampler_warm_up(Sampler *reference)
{
    double start = now_s(), last = 0, mhz;
    int steady = 0;

    while (now_s() - start < warm_up_limit_s && (steady < 5 || now_s() - start < warm_up_s)) {
        Sample sample;
        Verdict verdict = sampler_sample(reference, &sample);
        if (verdict == PASS)
            verdict = worker_clock(&reference->worker, &mhz);
        if (verdict != PASS)
            return verdict;
        steady = fabs(mhz - last) <= 0.01 * mhz ? steady + 1 : 0;
        last = mhz;
    }
    return PASS;
}

Verdict sampler_time_alone(Sampler *reference, int samples, double *ms)
{
    double times[16];

    for (int i = 0; i < samples; i++) {
        Sample sample;
        Verdict verdict = sampler_sample(reference, &sample);
        if (verdict != PASS)
            return verdict;
        times[i] = sample.event_ms / sample.calls;
    }
    *ms = median(times, (size_t) samples);
    return PASS;
}
