/* modelled.c - the modelled time of one call on a simulated GPU, which is the same each time. */
#include "judge/modelled.h"
#include "base/util.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A launch costs about 2 us, which hardly matters in a call that takes 50 times as long. If copies
 * and kernels are to be balanced, a call is a sequence of about thirty of each. */
static const double least_call_ms = 0.1, least_balanced_ms = 1;

/* By these factors a case is enlarged whose calls are too short. The kernel that a student begins
 * with may need a hundred times as long as the reference, so a case must not be twice as large as
 * it needs to be. */
static const double least_growth = 1.25, most_growth = 2;

/* Balanced cases start at this scale, and the first trial gives the balanced dim this value. The
 * case is balanced once the factor is this close to 1, or after this many trials. */
static const double balanced_scale = 1.0 / 64, balanced_within = 0.05;
enum { BALANCE_TRIAL = 16, BALANCE_TRIALS = 4 };

/* Limit of warp instructions in one call of the reference, so that simulation does not take too
 * long. */
static const double most_instructions = 300e6;

/* Limits for any launch before it counts as endless, in millions of warp instructions, and for a
 * call. */
static const int launch_millions = 1000;
static const double call_limit_s = 60;

/* Increase this when the meaning of the kept values changes. */
enum { KEPT_FORMAT = 5 };

/* ---- One call ---- */

/* Each modelled call gets a new process. Earlier calls change the addresses of the arrays, and
 * with them which cache lines share a set: after another case, lab 06's reference was modelled
 * 0.02 % slower. */
static Verdict start_anew(TimingContext *context, Sampler *sampler, const char *object)
{
    const Setup setup = { .launch_millions = launch_millions, .model_time = true };

    sampler_end(sampler);
    return sampler_start(sampler, context->session, context->entry, object, &setup,
                         context->random);
}

Verdict modelled_call(TimingContext *context, Sampler *sampler, const char *object,
                      const Case *sized, uint64_t seed, ModelledCall *call)
{
    Timing timing;
    Verdict verdict = start_anew(context, sampler, object);

    if (verdict == PASS)
        verdict = worker_once(&sampler->worker, sized, seed, call_limit_s, &timing);
    if (verdict != PASS)
        return verdict;
    call->ms = timing.event_ms;
    return worker_timed(&sampler->worker, &call->timed);
}

bool modelled_idle(const ModelledCall *call)
{
    return !(call->ms > 0) && call->timed.launches == 0;
}

bool modelled_fine(const ModelledCall *call, Diagnosis *unjudged)
{
    if (call->timed.untimed > 0)
        *unjudged = (Diagnosis){ .saw = SAW(SAW_UNTIMED),
                                 .value = call->timed.untimed,
                                 .limit = call->timed.launches };
    else if (!(call->ms > 0))
        *unjudged = (Diagnosis){ .saw = SAW(SAW_IDLE_GPU) };
    else
        return true;
    return false;
}

/* ---- Sizes ---- */

/* The kept result of the reference on a case: the chosen dims and the call, or why it is not
 * timed. */
typedef struct KeptCall {
    long dim[LAB_DIMS];
    ModelledCall call;
    Diagnosis unjudged; /* saw 0: the case is timed */
} KeptCall;

/* The seed for the reference's call. It is fixed per case, because the result is kept. */
static uint64_t reference_seed(const TimingContext *context, const Case *sized)
{
    uint64_t seed = hash_bytes(context->result->hash, "reference", strlen("reference"));

    return hash_bytes(seed, sized->label, strlen(sized->label));
}

static Verdict try_reference(TimingContext *context, const Case *sized, KeptCall *kept)
{
    memcpy(kept->dim, sized->dim, sizeof kept->dim);
    return modelled_call(context, &context->reference, context->reference_object, sized,
                         reference_seed(context, sized), &kept->call);
}

/* Launches take time, too, so a call may still be too short then, and grows again. */
static double growth(double ms, double least_ms)
{
    return ms > 0 ? fmin(most_growth, fmax(least_growth, least_ms / ms)) : most_growth;
}

/* Increases the scale from `scale` on until a call of the reference is long enough. */
static Verdict grow(TimingContext *context, Case *sized, double scale, double least_ms,
                    KeptCall *kept)
{
    Verdict verdict = PASS;

    for (; scale <= 1024 && verdict == PASS; scale *= growth(kept->call.ms, least_ms)) {
        if (sized->size)
            sized->size(sized->dim, &context->info.gpu, scale);
        verdict = try_reference(context, sized, kept);
        if (verdict != PASS || kept->call.ms >= least_ms || !sized->size || sized->stays_short)
            return verdict;
        if (kept->call.timed.instructions > most_instructions / 2)
            break;
    }
    kept->unjudged = (Diagnosis){ .saw = SAW(SAW_NO_SIZE), .limit = least_ms };
    return verdict;
}

/* The factor for the balanced dim that gives the kernels the wanted extra time. 0 if no factor can;
 * `unjudged` then has the reason. */
static double balance_factor(const ModelledCall *without, double wanted_ms, KeptCall *kept)
{
    const double added_ms = kept->call.timed.kernels_ms - without->timed.kernels_ms;
    const double base = without->timed.instructions, factor = wanted_ms / added_ms;
    const double all = base + factor * (kept->call.timed.instructions - base);

    if (!(added_ms > 0))
        kept->unjudged = (Diagnosis){ .saw = SAW(SAW_NO_SIZE) };
    else if (all > most_instructions)
        kept->unjudged = (Diagnosis){ .saw = SAW(SAW_TOO_LARGE), .value = all * 1e-6 };
    return kept->unjudged.saw ? 0 : factor;
}

/* The kernels' time grows in proportion to the balanced dim once arithmetic dominates, so a
 * trial shows how large the dim must be. With a small dim, memory accesses may hide half of the
 * arithmetic, so the prediction is corrected until it is accurate. */
static Verdict balance(TimingContext *context, Case *sized, KeptCall *kept)
{
    const ModelledCall without = kept->call;
    const double wanted_ms = sized->balance * without.ms;
    long *dim = &sized->dim[sized->balanced];
    double factor = 0;
    Verdict verdict;

    *dim = BALANCE_TRIAL;
    for (int trial = 0; trial < BALANCE_TRIALS; trial++) {
        if ((verdict = try_reference(context, sized, kept)) != PASS ||
            (factor = balance_factor(&without, wanted_ms, kept)) == 0 ||
            (trial && fabs(factor - 1) < balanced_within))
            return verdict;
        *dim = (long) fmax(round(factor * (double) *dim), 1);
    }
    return try_reference(context, sized, kept);
}

static Verdict choose(TimingContext *context, const Case *lab_case, KeptCall *kept)
{
    Case sized = *lab_case;
    bool balanced = sized.balance > 0;
    Verdict verdict = grow(context, &sized, balanced ? balanced_scale : 1,
                           balanced ? least_balanced_ms : least_call_ms, kept);

    if (verdict == PASS && balanced && !kept->unjudged.saw)
        verdict = balance(context, &sized, kept);
    if (verdict == PASS && !kept->unjudged.saw && sized.kind == TIMED)
        modelled_fine(&kept->call, &kept->unjudged);
    return verdict;
}

/* ---- Kept results ---- */

/* A hash of everything that the reference's call depends on. 0 if it cannot be computed. */
static uint64_t kept_key(const TimingContext *context, int i)
{
    uint64_t key = context->session->simulator;
    char *object;
    size_t size;

    if (!key || !(object = read_file(context->reference_object, 64 << 20, &size)))
        return 0;
    key = hash_bytes(key ^ context->result->hash, object, size);
    free(object);
    return hash_bytes(key, (int[]){ KEPT_FORMAT, i }, 2 * sizeof(int));
}

static const char *kept_path(const TimingContext *context, int i, uint64_t key, char *path,
                             size_t size)
{
    char device[PATH];

    return put(path, size, "%s/%s-%s-reference-%d-%016llx", context->session->book.floors,
               context->entry->folder, session_device_word(context->session, device, sizeof device),
               i, (unsigned long long) key);
}

/* Reads the reason: its word and two numbers. No text: the case is timed. */
static void read_unjudged(const char *text, Diagnosis *unjudged)
{
    char word[32];

    if (sscanf(text, "%31s %lf %lf", word, &unjudged->value, &unjudged->limit) == 3)
        unjudged->saw = diagnosis_bits(word, CORRECT_ONLY);
}

static bool read_kept(const TimingContext *context, int i, uint64_t key, KeptCall *kept)
{
    char path[PATH * 3], *text;
    long *d = kept->dim;
    Timed *t = &kept->call.timed;
    int used = 0;

    *kept = (KeptCall){ 0 };
    if (!key || !(text = read_file(kept_path(context, i, key, path, sizeof path), 1000, NULL)))
        return false;
    if (sscanf(text, "%ld %ld %ld %ld %lf %lf %lf %lf %lf %lf %lf;%n", &d[0], &d[1], &d[2], &d[3],
               &kept->call.ms, &t->launches, &t->untimed, &t->blocks, &t->timed_blocks,
               &t->instructions, &t->kernels_ms, &used) == 11 &&
        used)
        read_unjudged(text + used, &kept->unjudged);
    else
        used = 0;
    free(text);
    return used && (kept->unjudged.saw || kept->call.ms > 0);
}

static void write_kept(const TimingContext *context, int i, uint64_t key, const KeptCall *kept)
{
    const long *d = kept->dim;
    const Timed *t = &kept->call.timed;
    char path[PATH * 3], text[600], word[32];

    if (!key || !make_folders(context->session->book.floors))
        return;
    PUT(text, "%ld %ld %ld %ld %.17g %.17g %.17g %.17g %.17g %.17g %.17g;", d[0], d[1], d[2], d[3],
        kept->call.ms, t->launches, t->untimed, t->blocks, t->timed_blocks, t->instructions,
        t->kernels_ms);
    if (kept->unjudged.saw) {
        diagnosis_words(kept->unjudged.saw, word, sizeof word);
        APPEND(text, "%s %.17g %.17g", word, kept->unjudged.value, kept->unjudged.limit);
    }
    APPEND(text, "\n");
    write_file(kept_path(context, i, key, path, sizeof path), text, strlen(text));
}

static bool ask_reference(TimingContext *context, const Case *lab_case, KeptCall *kept)
{
    session_say(context->session, "%02d %s: the reference, %s", lab_number(context->entry),
                lab_name(context->entry), lab_case->label);
    return timing_reference_ok(context, choose(context, lab_case, kept));
}

bool modelled_plan(TimingContext *context, int i, ModelledCall *reference)
{
    CaseSpeed *s = &context->result->speed[i];
    uint64_t key = kept_key(context, i);
    KeptCall kept;

    if (!read_kept(context, i, key, &kept)) {
        if (!ask_reference(context, s->lab_case, &kept))
            return false;
        write_kept(context, i, key, &kept);
    }
    s->unjudged = kept.unjudged;
    s->unjudged.lab_case = s->lab_case;
    context->plan[i] = (Plan){
        .sized = *s->lab_case, .sets = !kept.unjudged.saw, .passes = 1, .reference_ms = kept.call.ms
    };
    memcpy(context->plan[i].sized.dim, kept.dim, sizeof kept.dim);
    *reference = kept.call;
    return true;
}

/* Builds the reference. Returns false if it is missing or does not build. */
static bool build_reference(Session *session, const LabEntry *entry, Build *reference)
{
    static FileList rungs;

    list_rungs(&session->book, entry, &rungs);
    if (!rungs.count)
        return false;
    session_build(session, entry, rungs.path[rungs.count - 1], NULL, reference);
    return reference->fault == BUILD_OK;
}

/* Plans the row as a grading does that times control cases, too. */
static bool plan_row(TimingContext *context, const Case *lab_case)
{
    ModelledCall call;
    bool planned = false;

    timing_list_cases(context);
    for (int i = 0; i < context->result->speeds; i++)
        if (context->result->speed[i].lab_case == lab_case && modelled_plan(context, i, &call)) {
            context->plan[0] = context->plan[i];
            planned = context->plan[i].sets > 0;
        }
    sampler_end(&context->reference);
    return planned;
}

bool modelled_size(Session *session, const LabEntry *entry, const Case *lab_case, Case *sized)
{
    static Build reference;
    static Result result;
    Draws random = draws_begin(session->seed, entry->folder, NULL);
    const bool quick = session->quick;
    bool planned;

    *sized = *lab_case;
    if (!build_reference(session, entry, &reference))
        return false;
    result = (Result){ .entry = entry, .hash = lab_hash(&session->book, entry) };
    TimingContext context = { .session = session,
                              .result = &result,
                              .entry = entry,
                              .reference_object = reference.object,
                              .random = &random,
                              .info = session->gpu };
    session->quick = false;
    planned = plan_row(&context, lab_case);
    session->quick = quick;
    if (planned)
        *sized = context.plan[0].sized;
    return planned;
}

double modelled_ratio(TimingContext *context, const char *object, int i)
{
    Sampler ours = { 0 };
    ModelledCall call;
    Diagnosis unjudged;
    const Case *sized = &context->plan[i].sized;
    Verdict verdict =
        modelled_call(context, &ours, object, sized, reference_seed(context, sized), &call);

    sampler_end(&ours);
    return verdict == PASS && modelled_fine(&call, &unjudged)
               ? context->plan[i].reference_ms / call.ms
               : 0;
}
