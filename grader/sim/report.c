/* report.c - adds up what launches counted: by kernel and launch shape, by source line, by array.
 *
 * The library sits in a program that is not ours, so nothing here ends it: without memory, counts
 * are left out, and the report says so. Order of output is that of first launches, of names and of
 * numbers, never that of addresses: the same run gives the same bytes.
 */
#include "issue.h"
#include "report_totals.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static Report report;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

const char *const class_words[CLASSES] = {
    [CLASS_NOTHING] = "nothing", [CLASS_MOVE] = "move",       [CLASS_INT] = "int",
    [CLASS_FP32] = "fp32",       [CLASS_FP64] = "fp64",       [CLASS_FP16] = "fp16",
    [CLASS_SFU] = "sfu",         [CLASS_CONVERT] = "convert", [CLASS_CONTROL] = "control",
    [CLASS_BARRIER] = "barrier", [CLASS_FENCE] = "fence",     [CLASS_SHUFFLE] = "shuffle",
    [CLASS_LOAD] = "load",       [CLASS_STORE] = "store",     [CLASS_ATOMIC] = "atomic",
};

const char *const kind_words[KINDS] = {
    [KIND_LOAD] = "load",
    [KIND_STORE] = "store",
    [KIND_ATOMIC] = "atomic",
    [KIND_COPY] = "copy",
};

/* ---- Numbers as text ---- */

Decimal quotient(uint64_t n, uint64_t d, int decimals)
{
    uint64_t scale = 1, whole, part;
    Decimal text;

    for (int i = 0; i < decimals; i++)
        scale *= 10;
    if (!d)
        n = 0, d = 1;
    for (; d > UINT64_MAX / 2 / scale; d >>= 1) /* far beyond what any run counts */
        n >>= 1;
    whole = n / d;
    part = (n % d * scale + d / 2) / d;
    whole += part / scale;
    part %= scale;
    if (decimals)
        snprintf(text.text, sizeof text.text, "%llu.%0*llu", (unsigned long long) whole, decimals,
                 (unsigned long long) part);
    else
        snprintf(text.text, sizeof text.text, "%llu", (unsigned long long) whole);
    return text;
}

Decimal decimal(double value)
{
    Decimal text = quotient((uint64_t) (fmin(fmax(value, 0), 1e15) * 1000 + 0.5), 1000, 3);
    char *end = text.text + strlen(text.text);

    while (end[-1] == '0')
        *--end = 0;
    if (end[-1] == '.')
        *--end = 0;
    return text;
}

/* ---- Room ---- */

/* Makes room for one more of `size` bytes; false: there is none. */
static bool grow(void *array, int count, int *room, size_t size)
{
    int wanted = *room ? *room * 2 : 16;
    void *bigger, *old;

    if (count < *room)
        return true;
    memcpy(&old, array, sizeof old);
    bigger = wanted < (1 << 24) ? realloc(old, (size_t) wanted * size) : NULL;
    if (!bigger) {
        report.incomplete = true;
        return false;
    }
    memcpy(array, &bigger, sizeof bigger);
    *room = wanted;
    return true;
}

static void forget(void)
{
    for (int k = 0; k < report.kernel_count; k++) {
        free(report.kernels[k]->name);
        free(report.kernels[k]->lines);
        free(report.kernels[k]->arrays);
        free(report.kernels[k]);
    }
    for (int i = 1; i < report.file_count; i++)
        free(report.files[i]);
    free(report.kernels);
    free(report.files);
    report.kernels = NULL;
    report.files = NULL;
    report.kernel_count = report.kernel_room = report.file_count = report.file_room = 0;
    report.incomplete = false;
    report.process = (int) getpid();
}

/* A child of fork() counts its own launches only. */
static void begin(void)
{
    if (report.process != (int) getpid())
        forget();
}

/* ---- Files and lines ---- */

/* The number of a file name; 0: it has none, or there is no memory. */
static int number_of_file(const char *name)
{
    char *copy;

    if (!name || !*name)
        return 0;
    for (int i = 1; i < report.file_count; i++)
        if (!strcmp(report.files[i], name))
            return i;
    if (!report.file_count && grow(&report.files, 0, &report.file_room, sizeof *report.files))
        report.files[report.file_count++] = NULL;
    if (!grow(&report.files, report.file_count, &report.file_room, sizeof *report.files))
        return 0;
    copy = strdup(name);
    if (!copy) {
        report.incomplete = true;
        return 0;
    }
    report.files[report.file_count] = copy;
    return report.file_count++;
}

/* Where a line is in the kernel's list, or is to be put. */
static int place_of_line(const Kernel *kernel, int file, int line)
{
    int low = 0, high = kernel->line_count;

    while (low < high) {
        int middle = (low + high) / 2;
        const Line *at = &kernel->lines[middle];
        if (at->file < file || (at->file == file && at->line < line))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static Totals *totals_of_line(Kernel *kernel, int file, int line)
{
    int place = place_of_line(kernel, file, line);
    Line *at;

    if (place < kernel->line_count && kernel->lines[place].file == file &&
        kernel->lines[place].line == line)
        return &kernel->lines[place].totals;
    if (!grow(&kernel->lines, kernel->line_count, &kernel->line_room, sizeof *kernel->lines))
        return NULL;
    at = &kernel->lines[place];
    memmove(at + 1, at, (size_t) (kernel->line_count - place) * sizeof *at);
    *at = (Line){ .file = file, .line = line };
    kernel->line_count++;
    return &at->totals;
}

/* ---- Adding ---- */

uint64_t totals_cost(const Totals *totals)
{
    uint64_t cost = totals->executed + totals->loop_loads;

    for (int k = 0; k < KINDS; k++)
        cost += totals->global[k].passes + totals->shared[k].passes;
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

/* Single-precision multiply-adds of a lane. Division and roots are made of some, where no operand
 * is close to the ends of the range (ptxas 13.0, sm_80 and sm_90; an H200 counts as many). */
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
        return 1;
    if (!in || !in->type_count || has_mod(in, MOD_approx) || has_mod(in, MOD_full))
        return 0;
    for (size_t i = 0; i < sizeof made_of / sizeof *made_of; i++)
        if (in->op == made_of[i].op && in->types[0] == made_of[i].type)
            return made_of[i].count;
    return 0;
}

/* Of a generic address, a request went to global memory or else to shared. */
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
    if (step->class_ >= 0 && step->class_ < CLASSES)
        totals->classes[step->class_] += count->executed;
    add_traffic(&totals->global[kind], count->requests, count->sectors, count->bytes);
    add_traffic(&totals->shared[kind], shared_requests(step, count), count->wavefronts,
                count->ideal);
}

static bool is_nothing(const Count *count)
{
    return !count->executed && !count->skipped && !count->requests && !count->wavefronts &&
           !count->loop_loads;
}

/* The counts of one function's steps. `numbers`: those of the module's files. */
static void add_code(Kernel *kernel, const Code *code, const Count *counts, const int *numbers,
                     int file_count)
{
    Issue *issues;

    if (!code || !counts)
        return;
    issues = calloc((size_t) code->step_count + 1, sizeof *issues);
    if (!issues) {
        report.incomplete = true;
        return;
    }
    estimate_issues(code, counts, issues);
    for (int i = 0; i < code->step_count; i++) {
        const Step *step = &code->steps[i];
        int file = step->in && step->in->file > 0 && step->in->file < file_count
                       ? numbers[step->in->file]
                       : 0;
        int line = !step->in ? 0 : file ? step->in->line : step->in->ptx_line;
        Totals *totals;
        if (is_nothing(&counts[i]))
            continue;
        totals = totals_of_line(kernel, file, line);
        if (totals)
            add_count(totals, step, &counts[i], &issues[i]);
        add_count(&kernel->totals, step, &counts[i], &issues[i]);
    }
    free(issues);
}

static void add_codes(Kernel *kernel, const Launch *launch)
{
    const Module *module = launch->module;
    int count = module ? module->file_count : 0;
    int *numbers = calloc(count > 0 ? (size_t) count : 1, sizeof *numbers);

    if (!numbers) {
        report.incomplete = true;
        return;
    }
    for (int i = 1; i < count; i++)
        numbers[i] = number_of_file(module->files[i]);
    add_code(kernel, launch->kernel, launch->counts, numbers, count);
    for (int f = 0; module && launch->codes && launch->call_counts && f < module->function_count;
         f++)
        if (launch->call_counts[f] != launch->counts)
            add_code(kernel, launch->codes[f], launch->call_counts[f], numbers, count);
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
    if (!grow(&kernel->arrays, kernel->array_count, &kernel->array_room, sizeof *kernel->arrays))
        return NULL;
    at = &kernel->arrays[place];
    memmove(at + 1, at, (size_t) (kernel->array_count - place) * sizeof *at);
    kernel->array_count++;
    *at = (ArrayCount){ .allocation = like->allocation, .base = like->base, .size = like->size };
    return at;
}

static void add_array(Kernel *kernel, const ArrayCount *more)
{
    ArrayCount *sum = array_of(kernel, more);

    if (!sum)
        return;
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

/* ---- Kernels ---- */

static bool is_like(const Kernel *kernel, const Launch *launch)
{
    return !memcmp(kernel->grid, launch->grid, sizeof kernel->grid) &&
           !memcmp(kernel->block, launch->block, sizeof kernel->block) &&
           kernel->dynamic_shared_bytes == launch->dynamic_shared_bytes &&
           kernel->cooperative == launch->cooperative &&
           !strcmp(kernel->name, launch->name ? launch->name : "");
}

static Kernel *new_kernel(const Launch *launch)
{
    Kernel *kernel;

    if (!grow(&report.kernels, report.kernel_count, &report.kernel_room, sizeof *report.kernels))
        return NULL;
    kernel = calloc(1, sizeof *kernel);
    if (kernel)
        kernel->name = strdup(launch->name ? launch->name : "");
    if (!kernel || !kernel->name) {
        free(kernel);
        report.incomplete = true;
        return NULL;
    }
    memcpy(kernel->grid, launch->grid, sizeof kernel->grid);
    memcpy(kernel->block, launch->block, sizeof kernel->block);
    kernel->dynamic_shared_bytes = launch->dynamic_shared_bytes;
    kernel->cooperative = launch->cooperative;
    report.kernels[report.kernel_count++] = kernel;
    return kernel;
}

/* From the latest on: the same kernel is often launched again. */
static Kernel *kernel_of(const Launch *launch)
{
    for (int i = report.kernel_count - 1; i >= 0; i--)
        if (is_like(report.kernels[i], launch))
            return report.kernels[i];
    return new_kernel(launch);
}

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
}

static void add_launch(Kernel *kernel, const Launch *launch, const KernelResources *resources,
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
        add_array(kernel, &launch->arrays[i]);
}

void report_launch(const Launch *launch, const KernelResources *resources,
                   const Occupancy *occupancy)
{
    Kernel *kernel;

    pthread_mutex_lock(&lock);
    begin();
    kernel = kernel_of(launch);
    if (kernel)
        add_launch(kernel, launch, resources, occupancy);
    pthread_mutex_unlock(&lock);
}

void report_device(const Device *device)
{
    pthread_mutex_lock(&lock);
    begin();
    report.device = *device;
    report.has_device = true;
    pthread_mutex_unlock(&lock);
}

void report_died(int signal)
{
    pthread_mutex_lock(&lock);
    report.process = (int) getpid();
    report.signal = signal;
    pthread_mutex_unlock(&lock);
}

void report_clear(void)
{
    pthread_mutex_lock(&lock);
    forget();
    report.has_device = false;
    pthread_mutex_unlock(&lock);
}

const Report *report_so_far(void)
{
    return &report;
}

/* ---- The end ---- */

static bool write_json(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0666);
    FILE *out = fd < 0 ? NULL : fdopen(fd, "w");
    bool fine;

    if (!out) {
        if (fd >= 0)
            close(fd);
        return false;
    }
    report_write_json(&report, out);
    fine = !ferror(out);
    return !fclose(out) && fine;
}

static bool has_something(void)
{
    return report.kernel_count || finding_count();
}

bool report_at_exit(const char *json_path, bool table)
{
    struct stat about;
    bool fine = true;

    pthread_mutex_lock(&lock);
    begin();
    if (json_path && *json_path && (has_something() || stat(json_path, &about) || !about.st_size))
        fine = write_json(json_path);
    if (table && report.kernel_count)
        report_write_table(&report, stderr);
    pthread_mutex_unlock(&lock);
    return fine;
}
