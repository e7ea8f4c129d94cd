/* baselines.c - workbook kernels other than the reference: rung 1, and the fastest known kernel. */
#include "judge/baselines.h"
#include "base/number.h"
#include "judge/modelled.h"
#include "build/stub.h"
#include "base/util.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A kernel faster than the fastest known one by this factor is flagged for a human. */
static const double beyond_known = 1.1;

/* The ratio of a workbook kernel to the reference, from a short comparison; 0 if it cannot be
 * measured. */
static double ratio_of_ours(TimingContext *context, const char *source, int i)
{
    Build built;
    Sampler ours = { 0 };
    Outcome outcome = { .verdict = UNSOUND };

    session_build(context->session, context->entry, source, NULL, &built);
    if (built.fault != BUILD_OK)
        return 0;
    if (*context->session->simulated)
        return modelled_ratio(context, built.object, i);
    context->doing = context->plan[i].sized.label;
    if (timing_start(context, &ours, built.object) == PASS &&
        sampler_take_up(&context->reference, &context->plan[i]) == PASS &&
        sampler_take_up(&ours, &context->plan[i]) == PASS)
        timing_compare(context, &ours, 0, 3, &outcome);
    sampler_end(&ours);
    return outcome.verdict == PASS && outcome.blocks ? outcome.ratio.median : 0;
}

/* The file that stores the floor of case i, named after everything that the floor depends on. "" if
 * the simulator's files cannot be read, because its versions could then not be distinguished. */
static char *floor_path(const TimingContext *context, const char *source, int i, char *path,
                        size_t size)
{
    const Session *session = context->session;
    const uint64_t rung = solution_hash(source);
    uint64_t key =
        hash_bytes(context->result->hash, context->info.driver, strlen(context->info.driver));
    char device[PATH];

    if (*session->simulated && !session->simulator)
        return put(path, size, "%s", "");
    key = hash_bytes(key, &rung, sizeof rung);
    key = hash_bytes(key, session->toolchain.version, strlen(session->toolchain.version));
    key = hash_bytes(key, context->plan[i].sized.dim, sizeof context->plan[i].sized.dim);
    key = hash_bytes(key, &session->simulator, sizeof session->simulator);
    return put(path, size, "%s/%s-%s-%d-%016llx", session->book.floors, context->entry->folder,
               session_device_word(session, device, sizeof device), i, (unsigned long long) key);
}

/* Reads the number in a stored line. */
static double floor_in(const char *text)
{
    double floor;

    parse_prefix(text, &floor);
    return floor;
}

static double read_floor(const char *path)
{
    char *kept = *path ? read_file(path, 63, NULL) : NULL;
    double floor = kept ? floor_in(kept) : 0;

    free(kept);
    return floor;
}

double baseline_floor(TimingContext *context, int i)
{
    char path[PATH * 3], text[64];
    double floor;
    FileList rungs;

    list_rungs(&context->session->book, context->entry, &rungs);
    if (!rungs.count)
        return 0;
    floor = read_floor(floor_path(context, rungs.path[0], i, path, sizeof path));
    if (floor > 0)
        return floor;
    PUT(text, "%.4f\n", ratio_of_ours(context, rungs.path[0], i));
    floor = floor_in(text); /* rounded as it is in the file */
    if (floor > 0 && *path && make_folders(context->session->book.floors))
        write_file(path, text, strlen(text));
    return floor;
}

/* Which kernel is the fastest depends on the device: usually the last one, which is tried first. */
void baseline_check(TimingContext *context, int i)
{
    const double known = context->result->speed[i].ratio.median / beyond_known;
    FileList beyond;
    double fastest = 1;

    list_solutions(&context->session->book, context->entry, "/beyond", &beyond);
    for (int k = beyond.count - 1; k >= 0 && known > fastest; k--)
        fastest = fmax(fastest, ratio_of_ours(context, beyond.path[k], i));
    if (known > fastest)
        timing_flag(context, "faster-than-known");
}
