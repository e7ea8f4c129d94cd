/* collect.c - runs kernels on the simulated GPU for a picture. */
#include "draw/collect.h"
#include "base/random.h"
#include "base/util.h"
#include "draw/kept.h"

#include <errno.h>
#include <math.h>
#include <string.h>

static const double call_limit_s = 60;
enum { LAUNCH_MILLIONS = 1000 };

/* ---- The case ---- */

const Case *collect_choose_case(const Lab *lab, const char *label)
{
    const Case *control = NULL;

    for (const Case *c = lab->cases; c->label; c++) {
        if (label && !strncmp(c->label, label, strlen(label)))
            return c;
        if (!label && c->kind == TIMED)
            return c;
        if (!label && !control && c->kind == CONTROL)
            control = c;
    }
    return control;
}

/* A dim that grading balances keeps the table's value; in gradings, too, a balanced case starts at
 * a smaller scale. */
Case collect_case(const Case *lab_case, const GpuInfo *info)
{
    Case sized = *lab_case;

    if (sized.size)
        sized.size(sized.dim, &info->gpu, sized.balance > 0 ? 1.0 / 64 : 1);
    for (int d = 0; d < LAB_DIMS; d++)
        if (!sized.dim[d])
            sized.dim[d] = lab_case->dim[d];
    return sized;
}

/* ---- One kernel ---- */

static bool fine(Verdict verdict, const Worker *worker, char *why)
{
    if (verdict != PASS)
        put(why, COLLECT_WHY, "%s", worker->why);
    return verdict == PASS;
}

static bool built(const CollectJob *job, const char *source, const char *shown, Build *build,
                  char *why)
{
    session_build(job->session, job->entry, source, shown, build);
    if (build->fault != BUILD_OK)
        put(why, COLLECT_WHY, "%s does not build: %s", shown ? shown : source, build->message);
    return build->fault == BUILD_OK;
}

/* Prepares a runner with the kernel and one set of filled arrays, ready for the call. */
static bool ready(const CollectJob *job, const char *object, Worker *worker, char *why)
{
    Draws random = draws_begin(job->session->seed, job->entry->folder, NULL);
    const Setup setup = { .launch_millions = LAUNCH_MILLIONS, .model_time = true };
    Verdict verdict = session_load(job->session, job->entry, object, &setup, worker);

    if (verdict == PASS)
        verdict = worker_case(worker, job->lab_case, 1);
    if (verdict == PASS)
        verdict = worker_prepare(worker, draw(&random, DRAW_CONTENTS));
    return fine(verdict, worker, why);
}

/* ---- Records ---- */

static bool has_records(const Records *r)
{
    return r->launch_count || r->span_count;
}

bool collect_run(const CollectJob *job, const RecordFilter *filter, Worker *worker,
                 Records *records, char *failed)
{
    static Build build;
    Timing timing;
    char why[COLLECT_WHY] = "";
    bool well;

    *failed = 0;
    *worker = (Worker){ .sets = 0 };
    if (!built(job, job->source, job->shown, &build, failed) ||
        !ready(job, build.object, worker, failed) ||
        !fine(worker_record(worker, filter), worker, failed))
        return false;
    fine(worker_go(worker, 1, call_limit_s, &timing), worker, failed);
    well = fine(worker_records(worker, records), worker, *failed ? why : failed) &&
           has_records(records);
    if (!well && !*failed)
        put(failed, COLLECT_WHY, "nothing ran on the GPU");
    return well;
}

bool collect_records(const CollectJob *job, const RecordFilter *filter, Records *records,
                     char *failed)
{
    Worker worker;
    const bool well = collect_run(job, filter, &worker, records, failed);

    worker_end(&worker);
    return well;
}

bool collect_trace(const CollectJob *job, const char *path, char *failed)
{
    static Build build;
    Worker worker = { .sets = 0 };
    Timing timing;
    const char *text;
    size_t bytes;
    bool well = built(job, job->source, job->shown, &build, failed) &&
                ready(job, build.object, &worker, failed) &&
                fine(worker_trace(&worker), &worker, failed) &&
                fine(worker_go(&worker, 1, call_limit_s, &timing), &worker, failed) &&
                fine(worker_traced(&worker, &text, &bytes), &worker, failed);

    if (well && !write_file(path, text, bytes)) {
        put(failed, COLLECT_WHY, "%s: %s", path, strerror(errno));
        well = false;
    }
    worker_end(&worker);
    return well;
}

/* ---- Speeds ---- */

typedef struct Modelled {
    double ms;
    Limited limited;
} Modelled;

static bool model(const CollectJob *job, const char *source, const char *shown, double limit_s,
                  Modelled *result, char *why)
{
    static Build build;
    Worker worker = { .sets = 0 };
    Timing timing = { 0 };
    bool well = built(job, source, shown, &build, why) && ready(job, build.object, &worker, why) &&
                fine(worker_go(&worker, 1, limit_s, &timing), &worker, why) &&
                fine(worker_limits(&worker, &result->limited), &worker, why);

    result->ms = timing.event_ms;
    worker_end(&worker);
    return well && result->ms > 0;
}

/* The name of a rung: "solutions/06_transpose/4_tile.cu" is "4_tile". */
static void rung_name(const char *path, char *name, size_t size)
{
    const char *slash = strrchr(path, '/');

    put(name, size, "%s", slash ? slash + 1 : path);
    name[strcspn(name, ".")] = 0;
}

/* Calls `add` for the rungs of the ladder, then for the job's kernel; returns how many ran. */
static int model_all(const CollectJob *job, void *self,
                     void (*add)(void *self, const char *name, const Modelled *, bool is_yours,
                                 bool is_reference),
                     char *why)
{
    static FileList rungs;
    Modelled result;
    char name[48];
    int ran = 0;

    list_rungs(&job->session->book, job->entry, &rungs);
    for (int i = 0; i < rungs.count && ran < MOST_RUNGS - 1; i++) {
        rung_name(rungs.path[i], name, sizeof name);
        session_say(job->session, "%02d %s: %s", lab_number(job->entry), lab_name(job->entry),
                    name);
        if (!model(job, rungs.path[i], NULL, call_limit_s, &result, why))
            continue;
        add(self, name, &result, false, i == rungs.count - 1);
        ran++;
    }
    if (job->source && model(job, job->source, job->shown, call_limit_s, &result, why)) {
        add(self, "your kernel", &result, true, false);
        ran++;
    }
    session_clear_line();
    return ran;
}

static Roofline place_of(const Limited *l)
{
    return roofline_of(&l->limits, l->fp32_tflops, l->memory_gbps);
}

static void add_point(void *self, const char *name, const Modelled *m, bool is_yours,
                      bool is_reference)
{
    RooflinePoints *points = self;
    RooflinePoint *p = &points->points[points->count++];

    *p = (RooflinePoint){ .at = place_of(&m->limited),
                          .is_yours = is_yours,
                          .is_reference = is_reference };
    PUT(p->name, "%s", name);
    points->fp32_tflops = m->limited.fp32_tflops;
    points->memory_gbps = m->limited.memory_gbps;
}

/* Keeps the rungs' points, for collect_rungs(). */
static void keep_points(const CollectJob *job, const RooflinePoints *points)
{
    static FileList rungs;
    KeptPoints kept;
    RooflinePoint old;
    char name[48];

    list_rungs(&job->session->book, job->entry, &rungs);
    kept_open(job, &kept);
    for (int i = 0, at = 0; i < rungs.count && at < points->count; i++) {
        const uint64_t key = kept_key(job, rungs.path[i]);
        rung_name(rungs.path[i], name, sizeof name);
        if (strcmp(name, points->points[at].name) != 0)
            continue; /* it could not run */
        if (kept_find(&kept, key, &old) != KEPT)
            kept_add(&kept, key, &points->points[at]);
        at++;
    }
    kept_close(&kept);
}

bool collect_roofline(const CollectJob *job, RooflinePoints *points, char *why)
{
    *points = (RooflinePoints){ .count = 0 };
    PUT(points->device, "%s", job->session->gpu.name);
    if (!model_all(job, points, add_point, why))
        return false;
    keep_points(job, points);
    return true;
}

/* Runs the rung if it is expected to fit into the budget; `slowest_s` is the expectation. */
static bool fill_point(const CollectJob *job, const char *source, double end_s, double *slowest_s,
                       RooflinePoint *point)
{
    static const double rung_limit_s = 1;
    const double began_s = now_s();
    char why[COLLECT_WHY];
    Modelled m;
    bool well;

    if (began_s + *slowest_s > end_s)
        return false;
    session_say(job->session, "%02d %s: %s, for the roofline", lab_number(job->entry),
                lab_name(job->entry), point->name);
    well = model(job, source, NULL, rung_limit_s, &m, why);
    *slowest_s = fmax(*slowest_s, now_s() - began_s);
    if (well)
        point->at = place_of(&m.limited);
    return well;
}

int collect_rungs(const CollectJob *job, double budget_s, RooflinePoints *points)
{
    static FileList rungs;
    const double end_s = now_s() + budget_s;
    double slowest_s = budget_s / 4;
    int left_out = 0;
    KeptPoints kept;

    list_rungs(&job->session->book, job->entry, &rungs);
    kept_open(job, &kept);
    for (int i = 0; i < rungs.count - 1 && points->count < MOST_RUNGS; i++) {
        const uint64_t key = kept_key(job, rungs.path[i]);
        RooflinePoint *p = &points->points[points->count];
        Kept found;

        *p = (RooflinePoint){ .is_yours = false };
        rung_name(rungs.path[i], p->name, sizeof p->name);
        found = kept_find(&kept, key, p);
        if (found == NOT_KEPT) {
            found = fill_point(job, rungs.path[i], end_s, &slowest_s, p) ? KEPT : LEFT_OUT;
            kept_add(&kept, key, found == KEPT ? p : NULL);
        }
        points->count += found == KEPT;
        left_out += found != KEPT;
    }
    kept_close(&kept);
    return left_out;
}

typedef struct LadderInWork {
    Ladder *ladder;
    double ms[MOST_RUNGS];
    Limited limited; /* of any of the kernels, for the device's roofs */
} LadderInWork;

static void add_rung(void *self, const char *name, const Modelled *m, bool is_yours,
                     bool is_reference)
{
    LadderInWork *work = self;
    Rung *rung = &work->ladder->rungs[work->ladder->count];

    work->ms[work->ladder->count++] = m->ms;
    *rung = (Rung){ .is_yours = is_yours, .is_reference = is_reference };
    PUT(rung->name, "%s", name);
    work->limited = m->limited;
}

void ladder_choose_unit(Ladder *ladder, const Lab *lab, const Case *lab_case, double fp32_tflops,
                        double memory_gbps)
{
    const Work work = lab->work(lab_case);

    ladder->unit = "GB/s";
    if (lab->streams)
        return;
    ladder->limit = memory_gbps;
    if (work.flops / work.bytes <= fp32_tflops * 1e3 / memory_gbps)
        return;
    ladder->unit = "GFLOP/s";
    ladder->limit = fp32_tflops * 1e3;
}

static void set_rates(const CollectJob *job, const LadderInWork *work)
{
    const Work least = job->entry->lab->work(job->lab_case);
    Ladder *ladder = work->ladder;
    double amount, reference_ms = 0;

    ladder_choose_unit(ladder, job->entry->lab, job->lab_case, work->limited.fp32_tflops,
                       work->limited.memory_gbps);
    amount = strcmp(ladder->unit, "GB/s") ? least.flops : least.bytes;
    for (int i = 0; i < ladder->count; i++)
        if (ladder->rungs[i].is_reference)
            reference_ms = work->ms[i];
    for (int i = 0; i < ladder->count; i++) {
        ladder->rungs[i].ratio = reference_ms / work->ms[i];
        ladder->rungs[i].rate = amount / work->ms[i] * 1e-6;
    }
}

bool collect_ladder(const CollectJob *job, Ladder *ladder, char *why)
{
    LadderInWork work = { .ladder = ladder };

    *ladder = (Ladder){ .unit = "GB/s", .bar = job->lab_case->bar };
    if (!model_all(job, &work, add_rung, why))
        return false;
    set_rates(job, &work);
    PUT(ladder->where, "Modelled on the %s.", job->session->gpu.name);
    return true;
}
