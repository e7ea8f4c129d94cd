/* seen.c - runs kernels for a page. */
#include "learner/see/seen.h"
#include "base/random.h"
#include "base/util.h"

#include <stdlib.h>
#include <string.h>

static const double case_limit_s = 10;
enum { SMALL_ELEMENTS = 1 << 16, CASE_MILLIONS = 10 };

/* ---- The timed case ---- */

/* A race is reported, but does not stop a kernel: its counters are complete. */
static bool stopped(const SeenKernel *kernel)
{
    const Records *r = kernel->records;

    for (int i = 0; i < r->finding_count; i++)
        if (r->findings[i].is_fatal)
            return true;
    return *kernel->failed && !r->finding_count;
}

void see_kernel(const CollectJob *job, SeenKernel *kernel)
{
    Worker worker;

    kernel->records = xcalloc(1, sizeof *kernel->records);
    kernel->has_run = collect_run(job, &(RecordFilter){ .block = -1, .warp = -1 }, &worker,
                                  kernel->records, kernel->failed);
    if (kernel->has_run && !stopped(kernel))
        kernel->has_limits = worker_limits(&worker, &kernel->limited) == PASS;
    while (kernel->has_run && kernel->line_count < SEE_LINES &&
           worker_cost(&worker, kernel->line_count, &kernel->lines[kernel->line_count]))
        kernel->line_count++;
    worker_end(&worker);
}

double see_call_ns(const SeenKernel *kernel)
{
    return kernel->has_limits ? spent_sum(&kernel->limited.limits.spent) : 0;
}

const char *see_count(double count, char *text, size_t size)
{
    static const struct {
        double least;
        const char *unit;
    } units[] = { { 1e9, " G" }, { 1e6, " M" }, { 1e4, " k" }, { 0, "" } };
    int at = 0;

    while (count < units[at].least && units[at].least > 0)
        at++;
    if (units[at].least > 0)
        return put(text, size, "%.3g%s", count / (units[at].least < 1e5 ? 1e3 : units[at].least),
                   units[at].unit);
    return put(text, size, "%.0f", count);
}

double see_sectors(const LineCost *cost)
{
    return cost->load.passes + cost->store.passes + cost->atomic.passes;
}

double see_idle(const LineCost *cost)
{
    const double idle = cost->instructions > 0 ? 32 - cost->lanes / cost->instructions : 0;

    return idle > 0.05 ? idle : 0; /* less is rounding */
}

/* ---- Small cases, with all checks ---- */

static size_t elements_of(const Lab *lab, const Case *lab_case)
{
    Arrays arrays = { 0 };
    size_t sum = 0;

    lab->shape(lab_case, &arrays);
    for (int i = 0; i < LAB_IN; i++)
        sum += arrays.in[i].rows * arrays.in[i].cols;
    for (int i = 0; i < LAB_OUT; i++)
        sum += arrays.out[i].rows * arrays.out[i].cols;
    return sum;
}

/* Returns false once the runner cannot continue. */
static bool check_case(Worker *worker, const Case *lab_case, uint64_t seed, SeenFindings *found)
{
    Timing timing;

    if (worker_record(worker, &(RecordFilter){ .block = -1, .warp = -1 }) != PASS)
        return false;
    *found->failed = 0;
    if (worker_once(worker, lab_case, seed, case_limit_s, &timing) != PASS)
        PUT(found->failed, "%s", worker->why);
    if (worker_records(worker, found->records) != PASS)
        return false;
    found->lab_case = *lab_case;
    found->any = found->records->finding_count > 0;
    return !found->any && !*found->failed;
}

void see_findings(const CollectJob *job, const char *object, SeenFindings *found)
{
    const Lab *lab = job->entry->lab;
    Draws random = draws_begin(job->session->seed, job->entry->folder, NULL);
    Worker worker;
    bool goes_on = session_load(job->session, job->entry, object, &(Setup){ 0 }, &worker) == PASS &&
                   worker_checks(&worker, true, 0, CASE_MILLIONS) == PASS;

    found->records = xcalloc(1, sizeof *found->records);
    for (const Case *c = lab->cases; c->label && goes_on; c++) {
        Case sized = *c;
        if (c->kind != CORRECT || c->only_begun)
            continue;
        if (c->size)
            c->size(sized.dim, &worker.gpu.gpu, 1);
        if (elements_of(lab, &sized) <= SMALL_ELEMENTS)
            goes_on = check_case(&worker, &sized, draw(&random, DRAW_CONTENTS), found);
    }
    worker_end(&worker);
}

/* ---- Accesses by line ---- */

static bool is_same_list(const WarpAccess *a, const WarpAccess *b)
{
    return a->line == b->line && a->space == b->space && a->kind == b->kind && a->array == b->array;
}

static void add_sums(const Records *r, AccessList *list)
{
    const bool is_global = list->turns[0]->space == RECORD_GLOBAL;

    for (int i = 0; i < r->access_count; i++) {
        const WarpAccess *a = &r->accesses[i];
        if (!is_same_list(a, list->turns[0]))
            continue;
        list->requests += (double) a->requests;
        list->passes += (double) a->all_passes;
        list->least += (double) a->all_least / (is_global ? RECORD_SECTOR_BYTES : 1);
    }
}

static int by_passes(const void *a, const void *b)
{
    const AccessList *x = a, *y = b;

    return (x->passes < y->passes) - (x->passes > y->passes);
}

static int by_line(const void *a, const void *b)
{
    const WarpAccess *x = ((const AccessList *) a)->turns[0];
    const WarpAccess *y = ((const AccessList *) b)->turns[0];

    return x->line != y->line     ? x->line - y->line
           : x->space != y->space ? x->space - y->space
           : x->kind != y->kind   ? x->kind - y->kind
                                  : x->array - y->array;
}

/* Turns of later launches are left out: the first one with the line stands for all. */
static int find_lists(const Records *r, AccessList *lists)
{
    int count = 0, at;

    for (int i = 0; i < r->turn_count; i++) {
        const WarpAccess *turn = &r->turns[i];
        for (at = 0; at < count && !is_same_list(lists[at].turns[0], turn); at++)
            ;
        if (at == count)
            lists[count++] = (AccessList){ .count = 0 };
        else if (lists[at].turns[0]->launch != turn->launch || lists[at].count == TURNS_PER_LINE)
            continue;
        lists[at].turns[lists[at].count++] = turn;
    }
    return count;
}

int see_lists(const Records *r, AccessList lists[SEE_LISTS])
{
    AccessList *all = xcalloc(MOST_TURNS, sizeof *all);
    int count = find_lists(r, all);

    for (int i = 0; i < count; i++)
        add_sums(r, &all[i]);
    qsort(all, (size_t) count, sizeof *all, by_passes);
    count = count < SEE_LISTS ? count : SEE_LISTS;
    qsort(all, (size_t) count, sizeof *all, by_line);
    memcpy(lists, all, (size_t) count * sizeof *all);
    free(all);
    return count;
}

/* ---- Arrays ---- */

double see_moved(const RecordedArray *array)
{
    double sum = 0;

    for (int i = 0; i < MAP_CELLS; i++)
        sum += (double) array->cells[0][i].moved;
    return sum;
}

double see_used(const RecordedArray *array)
{
    double sum = 0;

    for (int i = 0; i < MAP_CELLS; i++)
        sum += (double) array->cells[0][i].used;
    return sum;
}

static bool is_taken(const int *maps, int count, int array)
{
    for (int i = 0; i < count; i++)
        if (maps[i] == array)
            return true;
    return false;
}

int see_maps(const Records *r, int maps[SEE_MAPS])
{
    int count = 0, most;

    do {
        most = -1;
        for (int i = 0; i < r->array_count; i++)
            if (!is_taken(maps, count, i) && see_moved(&r->arrays[i]) > 0 &&
                (most < 0 || see_moved(&r->arrays[i]) > see_moved(&r->arrays[most])))
                most = i;
        if (most >= 0)
            maps[count++] = most;
    } while (most >= 0 && count < SEE_MAPS);
    return count;
}
