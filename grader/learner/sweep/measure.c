/* measure.c - times a kernel and the reference at each value of a sweep.
 *
 * On a GPU a value's time is the median of several samples. A sweep shows how times change; the
 * verdict's protocol, which compares two kernels exactly, is that of judge/.
 */
#include "learner/sweep/sweep.h"
#include "base/random.h"
#include "base/stats.h"
#include "base/util.h"
#include "draw/collect.h"
#include "judge/worker.h"

#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 7, SETS = 8, LAUNCH_MILLIONS = 1000 };
static const double call_limit_s = 60;
static const double most_bytes = 4e9; /* of all sets of a case */

typedef struct Kernel {
    const char *object;
    Worker worker;
    char why[200];
    bool is_machines; /* `why` comes from the machine or the grader */
} Kernel;

/* ---- One kernel at one value ---- */

/* Short calls are timed several at a time, unless the lab is about what happens between them. */
static int sets_of(const Session *session, const Lab *lab, const Case *c)
{
    const double bytes = lab->work(c).bytes + 1;
    const int fit = (int) (most_bytes / bytes < SETS ? most_bytes / bytes : SETS);

    return session->gpu.simulated || lab->streams || lab->single_calls || fit < 1 ? 1 : fit;
}

static Verdict sample(Session *session, const Case *c, Worker *worker, double *ms)
{
    Draws random = draws_begin(session->seed, worker->entry->folder, NULL);
    const int sets = sets_of(session, worker->entry->lab, c);
    const int samples = session->gpu.simulated ? 1 : SAMPLES;
    double times[SAMPLES];
    Timing timing;
    Verdict verdict = worker_case(worker, c, sets);

    for (int i = 0; i < samples && verdict == PASS; i++) {
        verdict = worker_run(worker, draw(&random, DRAW_CONTENTS), sets, call_limit_s, &timing);
        times[i] = timing.event_ms / sets;
    }
    if (verdict == PASS)
        *ms = median(times, (size_t) samples);
    return verdict;
}

static double time_of(Session *session, const LabEntry *entry, Kernel *kernel, const Case *c)
{
    const Setup setup = session->gpu.simulated
                            ? (Setup){ .launch_millions = LAUNCH_MILLIONS, .model_time = true }
                            : (Setup){ .launch_millions = 0 };
    double ms = 0;
    Verdict verdict = PASS;

    kernel->worker = (Worker){ .sets = 0 };
    verdict = session_load(session, entry, kernel->object, &setup, &kernel->worker);
    if (verdict == PASS)
        verdict = sample(session, c, &kernel->worker, &ms);
    if (verdict != PASS && !*kernel->why) {
        PUT(kernel->why, "%.199s", kernel->worker.why);
        kernel->is_machines = verdict == UNSOUND;
    }
    worker_end(&kernel->worker);
    return verdict == PASS ? ms : 0;
}

/* ---- All values ---- */

static bool built(Session *session, const LabEntry *entry, const char *source, const char *shown,
                  Build *build, Sweep *sweep)
{
    session_build(session, entry, source, shown, build);
    sweep->is_machines = build->fault == BUILD_MACHINE;
    if (build->fault != BUILD_OK)
        PUT(sweep->why, "%s does not build (make grade LAB=%s shows why)", shown ? shown : source,
            lab_name(entry));
    return build->fault == BUILD_OK;
}

static void name_point(const SweepRange *range, int i, const Case *c, SweepPoint *point)
{
    if (range->names[i])
        PUT(point->name, "%.39s", range->names[i]);
    else
        PUT(point->name, "%ld", range->shows_dim ? c->dim[0] : range->values[i]);
}

static double rate(const Work *work, const Sweep *sweep, double ms)
{
    const double amount = strcmp(sweep->unit, "GB/s") ? work->flops : work->bytes;

    return ms > 0 ? amount / ms * 1e-6 : 0;
}

static void choose_unit(const Lab *lab, const Case *c, Sweep *sweep)
{
    const Work work = lab->work(c);

    PUT(sweep->unit, "%s", !lab->streams && work.flops > 8 * work.bytes ? "GFLOP/s" : "GB/s");
}

static void measure_points(Session *session, const Case *base, Kernel *yours, Kernel *reference,
                           Sweep *sweep)
{
    const Lab *lab = sweep->entry->lab;
    const SweepRange *range = &lab->sweep;

    for (int i = 0; range->values[i]; i++) {
        SweepPoint *point = &sweep->points[sweep->count];
        Case c = *base;
        if (!range->set(c.dim, &session->gpu.gpu, range->values[i]))
            continue;
        const Work work = lab->work(&c);
        name_point(range, i, &c, point);
        session_say(session, "%02d %s: %s %s", lab_number(sweep->entry), lab_name(sweep->entry),
                    range->what, point->name);
        point->yours = rate(&work, sweep, time_of(session, sweep->entry, yours, &c));
        point->reference = rate(&work, sweep, time_of(session, sweep->entry, reference, &c));
        sweep->count++;
    }
    session_clear_line();
}

static bool is_any_known(const Sweep *sweep)
{
    for (int i = 0; i < sweep->count; i++)
        if (sweep->points[i].yours > 0 || sweep->points[i].reference > 0)
            return true;
    return false;
}

bool sweep_measure(Session *session, const LabEntry *entry, const char *source, const char *shown,
                   Sweep *sweep)
{
    static Build builds[2];
    static FileList rungs;
    const SweepRange *range = &entry->lab->sweep;
    const Case *lab_case = collect_choose_case(entry->lab, range->label);
    Kernel yours = { .why = "" }, reference = { .why = "" };
    Case base;

    *sweep = (Sweep){ .entry = entry };
    PUT(sweep->what, "%s", range->what);
    list_rungs(&session->book, entry, &rungs);
    if (!lab_case || !rungs.count) {
        PUT(sweep->why, "the lab has no timed case, or no reference");
        return false;
    }
    if (!built(session, entry, source, shown, &builds[0], sweep) ||
        !built(session, entry, rungs.path[rungs.count - 1], NULL, &builds[1], sweep))
        return false;
    yours.object = builds[0].object;
    reference.object = builds[1].object;
    base = collect_case(lab_case, &session->gpu);
    choose_unit(entry->lab, &base, sweep);
    measure_points(session, &base, &yours, &reference, sweep);
    PUT(sweep->why, "%s", *yours.why ? yours.why : reference.why);
    sweep->is_machines = *yours.why ? yours.is_machines : *reference.why != 0;
    return is_any_known(sweep);
}
