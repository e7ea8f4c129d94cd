/* baselines.c - workbook kernels other than the reference: rung 1, and the fastest known kernel. */
#include "judge/baselines.h"
#include "base/number.h"
#include "judge/timing_sim.h"
#include "build/stub.h"
#include "base/util.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A kernel faster than the fastest known one by this factor is flagged for a human. */
static const double beyond_known = 1.1;

/* The ratio of a workbook kernel to the reference, from a short race; 0 if it cannot be
 * measured. */
static double ratio_of_ours(TimingContext *j, const char *source, int i)
{
    Build built;
    Sampler ours = { 0 };
    GpuInfo info;
    Outcome finish = { .trouble = UNSOUND };

    session_build(j->session, j->entry, source, NULL, &built);
    if (built.fault != BUILD_OK)
        return 0;
    if (*j->session->simulated)
        return modelled_ratio(j, built.object, i);
    j->doing = j->plan[i].sized.label;
    if (timing_start_ours(j, &ours, built.object, &info) == PASS &&
        sampler_take_up(&j->reference, &j->plan[i]) == PASS &&
        sampler_take_up(&ours, &j->plan[i]) == PASS)
        timing_race(j, &ours, 0, 3, &finish);
    sampler_end(&ours);
    return finish.trouble == PASS && finish.blocks ? finish.ratio.median : 0;
}

/* The file that keeps the floor of case i, named by everything that the floor depends on. "" if
 * the simulator's files cannot be read: its versions could then not be distinguished. */
static char *floor_path(const TimingContext *j, const char *source, int i, char *path, size_t size)
{
    const Session *session = j->session;
    const uint64_t rung = solution_hash(source);
    uint64_t key = hash_bytes(j->result->hash, j->info.driver, strlen(j->info.driver));
    char device[PATH];

    if (*session->simulated && !session->simulator)
        return put(path, size, "%s", "");
    key = hash_bytes(key, &rung, sizeof rung);
    key = hash_bytes(key, session->toolchain.version, strlen(session->toolchain.version));
    key = hash_bytes(key, j->plan[i].sized.dim, sizeof j->plan[i].sized.dim);
    key = hash_bytes(key, &session->simulator, sizeof session->simulator);
    return put(path, size, "%s/%s-%s-%d-%016llx", session->book.floors, j->entry->folder,
               session_device_word(session, device, sizeof device), i, (unsigned long long) key);
}

/* The number of a stored line. */
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

double baseline_floor(TimingContext *j, int i)
{
    char path[PATH * 3], text[64];
    double floor;
    FileList rungs;

    list_rungs(&j->session->book, j->entry, &rungs);
    if (!rungs.count)
        return 0;
    floor = read_floor(floor_path(j, rungs.path[0], i, path, sizeof path));
    if (floor > 0)
        return floor;
    PUT(text, "%.4f\n", ratio_of_ours(j, rungs.path[0], i));
    floor = floor_in(text); /* rounded as in the file */
    if (floor > 0 && *path && make_folders(j->session->book.floors))
        write_file(path, text, strlen(text));
    return floor;
}

void baseline_check(TimingContext *j, int i)
{
    CaseSpeed *s = &j->result->speed[i];
    FileList beyond;
    double fastest = 0;

    list_solutions(&j->session->book, j->entry, "/beyond", &beyond);
    if (beyond.count)
        fastest = ratio_of_ours(j, beyond.path[beyond.count - 1], i);
    if (s->ratio.median > beyond_known * fmax(fastest, 1))
        timing_flag(j, "faster-than-known");
}
