/* add.c - adds the counters and times of a launch to its kernel's row, by source line and by array.
 */
#include "sim/machine/flow.h"
#include "sim/report/totals.h"

#include <stdlib.h>
#include <string.h>

/* ---- Lines ---- */

/* The index of a line in the kernel's list, or the index at which to insert it. */
static int place_of_line(const Kernel *kernel, int file, int line)
{
    int low = 0, high = kernel->line_count;

    while (low < high) {
        int middle = (low + high) / 2;
        const LineTotals *at = &kernel->lines[middle];
        if (at->file < file || (at->file == file && at->line < line))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static LineTotals *line_of(Kernel *kernel, int file, int line)
{
    int place = place_of_line(kernel, file, line);
    LineTotals *at;

    if (place < kernel->line_count && kernel->lines[place].file == file &&
        kernel->lines[place].line == line)
        return &kernel->lines[place];
    if (!report_grow(&kernel->lines, kernel->line_count, &kernel->line_room, sizeof *kernel->lines))
        return NULL;
    at = &kernel->lines[place];
    memmove(at + 1, at, (size_t) (kernel->line_count - place) * sizeof *at);
    *at = (LineTotals){ .file = file, .line = line };
    kernel->line_count++;
    return at;
}

/* ---- Adding ---- */

uint64_t totals_cost(const Totals *totals)
{
    uint64_t cost = totals->executed + totals->loop_loads;

    for (int k = 0; k < KINDS; k++)
        cost += totals->global[k].passes + totals->shared[k].passes + totals->texture[k].passes;
    return cost;
}

static MemoryKind kind_of(const Step *step)
{
    if (step->in && step->in->op == OP_cp_async)
        return KIND_COPY;
    return step->class_ == CLASS_STORE    ? KIND_STORE
           : step->class_ == CLASS_ATOMIC ? KIND_ATOMIC
                                          : KIND_LOAD;
}

/* Single-precision multiply-adds per lane. Divisions and roots consist of several, unless an
 * operand is close to the limits of its range (ptxas 13.0, sm_80 and sm_90; an H200 counts the
 * same). */
static uint64_t ffma_of(const Step *step)
{
    static const struct {
        Op op;
        PtxType type;
        uint64_t count;
    } made_of[] = { { OP_fma, TYPE_F32, 1 }, { OP_mad, TYPE_F32, 1 },  { OP_div, TYPE_F32, 5 },
                    { OP_rcp, TYPE_F32, 2 }, { OP_sqrt, TYPE_F32, 2 }, { OP_div, TYPE_F64, 1 } };
    const Instruction *in = step->in;

    if (step->treatment == FUSED)
        return in->types[0] == TYPE_F32;
    if (!in || !in->type_count || has_mod(in, MOD_approx) || has_mod(in, MOD_full))
        return 0;
    for (size_t i = 0; i < sizeof made_of / sizeof *made_of; i++)
        if (in->op == made_of[i].op && in->types[0] == made_of[i].type)
            return made_of[i].count;
    return 0;
}

/* Single-precision operations per lane, as a roofline counts them. */
static uint64_t flops_of(const Step *step)
{
    const Instruction *in = step->in;

    if (!in || !in->type_count || in->types[0] != TYPE_F32)
        return 0;
    return op_is(in->op, TWO_FLOPS) ? 2 : op_is(in->op, ONE_FLOP);
}

/* Requests to shared memory. A request by generic address counts as global or as shared. */
static uint64_t shared_requests(const Step *step, const Count *count)
{
    if (!count->wavefronts)
        return 0;
    if (kind_of(step) == KIND_COPY || count->requests >= count->executed)
        return count->executed;
    return count->executed - count->requests;
}

static void add_traffic(Traffic *traffic, uint64_t requests, uint64_t passes, uint64_t asked)
{
    traffic->requests += requests;
    traffic->passes += passes;
    traffic->asked += asked;
}

/* The hardware counts these apart from global memory. */
static bool is_texture(const Step *step)
{
    const Op op = step->in ? step->in->op : OP_unknown;

    return op == OP_tex || op == OP_tld4 || op == OP_suld || op == OP_sust;
}

static void add_count(Totals *totals, const Step *step, const Count *count, const Issue *issue)
{
    MemoryKind kind = kind_of(step);

    totals->executed += count->executed;
    totals->lanes += count->lanes;
    totals->divergent += count->divergent;
    totals->loop_loads += count->loop_loads;
    totals->loop_ideal += count->loop_ideal;
    totals->issued += issue->instructions;
    totals->issued_lanes += issue->threads;
    totals->ffma_lanes += ffma_of(step) * count->lanes;
    totals->flops += flops_of(step) * count->lanes;
    if (step->class_ < CLASSES)
        totals->classes[step->class_] += count->executed;
    add_traffic(is_texture(step) ? &totals->texture[kind] : &totals->global[kind], count->requests,
                count->sectors, count->bytes);
    add_traffic(&totals->shared[kind], shared_requests(step, count), count->wavefronts,
                count->ideal);
}

static bool is_nothing(const Count *count, const Issue *issue)
{
    return !count->executed && !count->skipped && !count->requests && !count->wavefronts &&
           !count->loop_loads && !issue->instructions;
}

/* ---- Machine instructions ---- */

typedef struct LaunchIssues {
    Issue **of; /* [0]: of the kernel's steps; [f + 1]: of function f */
    int count;
    bool is_counted; /* from machine code */
} LaunchIssues;

/* The code and counters of the kernel (0) or of function `f` - 1. NULL: it did not run. */
static const Count *counts_of(const Launch *launch, int f, const Code **code)
{
    const Count *counts = f ? launch->call_counts[f - 1] : launch->counts;

    *code = f ? launch->codes[f - 1] : launch->kernel;
    return *code && !(f && counts == launch->counts) ? counts : NULL;
}

static void issues_free(LaunchIssues *issues)
{
    for (int f = 0; issues->of && f < issues->count; f++)
        free(issues->of[f]);
    free(issues->of);
    *issues = (LaunchIssues){ 0 };
}

static bool issues_allocate(LaunchIssues *issues, const Launch *launch)
{
    const bool calls = launch->module && launch->codes && launch->call_counts;
    const Code *code;

    issues->count = calls ? launch->module->function_count + 1 : 1;
    issues->of = calloc((size_t) issues->count, sizeof *issues->of);
    for (int f = 0; issues->of && f < issues->count; f++) {
        if (!counts_of(launch, f, &code))
            continue;
        issues->of[f] = calloc((size_t) code->step_count + 1, sizeof **issues->of);
        if (!issues->of[f])
            return false;
    }
    return issues->of != NULL;
}

/* Returns false if memory ran out. */
static bool issues_make(LaunchIssues *issues, const Launch *launch)
{
    const Code *code;

    *issues = (LaunchIssues){ 0 };
    if (!issues_allocate(issues, launch)) {
        issues_free(issues);
        return false;
    }
    issues->is_counted = launch->lowering && count_machine(launch->lowering, launch, issues->of);
    for (int f = 0; !issues->is_counted && f < issues->count; f++) {
        const Count *counts = counts_of(launch, f, &code);
        if (counts)
            estimate_issues(code, counts, issues->of[f]);
    }
    return true;
}

/* ---- The counts of all functions ---- */

/* Adds the counts and times of one function's steps. `function`: an index of TimingResult.steps.
 * `numbers`: the report's numbers of the module's files. */
static void add_code(Kernel *kernel, const Launch *launch, int function, const Issue *issues,
                     const int *numbers, int file_count)
{
    const Code *code;
    const Count *counts = counts_of(launch, function, &code);
    const TimingResult *time = launch->timed;
    const Spent *spent = time && time->steps ? time->steps[function] : NULL;
    const double step_ns = time ? time->step_ns : 0;

    for (int i = 0; counts && i < code->step_count; i++) {
        const Step *step = &code->steps[i];
        const Instruction *in = step->in;
        int file = in && in->charged_file > 0 && in->charged_file < file_count
                       ? numbers[in->charged_file]
                       : 0;
        int line = !in ? 0 : file ? in->charged_line : in->ptx_line;
        LineTotals *at;
        if (is_nothing(&counts[i], &issues[i]))
            continue;
        at = line_of(kernel, file, line);
        if (at)
            add_count(&at->totals, step, &counts[i], &issues[i]);
        if (at && spent)
            spent_add(&at->spent, &spent[i], step_ns);
        add_count(&kernel->totals, step, &counts[i], &issues[i]);
    }
}

static void add_codes(Kernel *kernel, const Launch *launch)
{
    const Module *module = launch->module;
    int count = module ? module->file_count : 0;
    int *numbers = calloc(count > 0 ? (size_t) count : 1, sizeof *numbers);
    LaunchIssues issues = { 0 };

    if (!numbers || !issues_make(&issues, launch)) {
        free(numbers);
        report_lacks_memory();
        return;
    }
    for (int i = 1; i < count; i++)
        numbers[i] = report_file(module->files[i]);
    for (int f = 0; f < issues.count; f++)
        add_code(kernel, launch, f, issues.of[f], numbers, count);
    kernel->counted += issues.is_counted;
    issues_free(&issues);
    free(numbers);
}

static ArrayCount *array_of(Kernel *kernel, const ArrayCount *like)
{
    int place = 0;
    ArrayCount *at;

    while (place < kernel->array_count && kernel->arrays[place].allocation < like->allocation)
        place++;
    if (place < kernel->array_count && kernel->arrays[place].allocation == like->allocation)
        return &kernel->arrays[place];
    if (!report_grow(&kernel->arrays, kernel->array_count, &kernel->array_room,
                     sizeof *kernel->arrays))
        return NULL;
    at = &kernel->arrays[place];
    memmove(at + 1, at, (size_t) (kernel->array_count - place) * sizeof *at);
    kernel->array_count++;
    *at = (ArrayCount){ .allocation = like->allocation, .base = like->base, .size = like->size };
    return at;
}

static void add_traffics(ArrayCount *sum, const ArrayCount *more)
{
    sum->load_requests += more->load_requests;
    sum->load_sectors += more->load_sectors;
    sum->load_bytes += more->load_bytes;
    sum->store_requests += more->store_requests;
    sum->store_sectors += more->store_sectors;
    sum->store_bytes += more->store_bytes;
    sum->atomic_requests += more->atomic_requests;
    sum->atomic_sectors += more->atomic_sectors;
    sum->atomic_bytes += more->atomic_bytes;
}

/* A few lines access a few arrays each, so there is nothing to sort. */
static LineArray *line_array_of(Kernel *kernel, int file, const ArrayCount *like)
{
    LineArray *at = kernel->line_arrays;

    for (int i = 0; i < kernel->line_array_count; i++, at++)
        if (at->file == file && at->line == like->line && at->count.allocation == like->allocation)
            return at;
    if (!report_grow(&kernel->line_arrays, kernel->line_array_count, &kernel->line_array_room,
                     sizeof *kernel->line_arrays))
        return NULL;
    at = &kernel->line_arrays[kernel->line_array_count++];
    *at = (LineArray){ .file = file, .line = like->line };
    at->count = (ArrayCount){ .allocation = like->allocation, .base = like->base };
    return at;
}

static void add_array(Kernel *kernel, const Module *module, const ArrayCount *more)
{
    const bool named = module && more->file > 0 && more->file < module->file_count;
    const int file = named ? report_file(module->files[more->file]) : 0;
    ArrayCount *sum = array_of(kernel, more);
    LineArray *at = line_array_of(kernel, file, more);

    if (sum)
        add_traffics(sum, more);
    if (at)
        add_traffics(&at->count, more);
}

/* ---- A launch ---- */

static void add_time(Kernel *kernel, const TimingResult *time)
{
    TimingResult *sum = &kernel->time;

    kernel->timed++;
    sum->ms += time->ms;
    sum->cycles += time->cycles;
    sum->blocks += time->blocks;
    sum->timed += time->timed;
    sum->instructions += time->instructions;
    sum->l1_hits += time->l1_hits;
    sum->l1_misses += time->l1_misses;
    sum->l2_hits += time->l2_hits;
    sum->l2_misses += time->l2_misses;
    sum->memory_read_bytes += time->memory_read_bytes;
    sum->memory_write_bytes += time->memory_write_bytes;
    spent_add(&sum->spent, &time->spent, 1);
    for (int i = 0; i < WAITS; i++)
        sum->waits[i] += time->waits[i];
    for (int i = 0; i < LIMITS; i++)
        sum->busy[i] += time->busy[i];
}

void kernel_add(Kernel *kernel, const Launch *launch, const KernelResources *resources,
                const Occupancy *occupancy)
{
    kernel->launches++;
    kernel->failed += launch->failed;
    if (resources) {
        kernel->resources = *resources;
        kernel->has_resources = true;
    }
    if (occupancy) {
        kernel->occupancy = *occupancy;
        kernel->has_occupancy = true;
    }
    if (launch->timed)
        add_time(kernel, launch->timed);
    add_codes(kernel, launch);
    for (int i = 0; i < launch->array_count; i++)
        add_array(kernel, launch->module, &launch->arrays[i]);
}
