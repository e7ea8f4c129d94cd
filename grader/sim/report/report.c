/* report.c - keeps the counters of all launches, by kernel and launch shape, and writes the report
 * when the program exits.
 *
 * The library runs inside a user's program and never terminates it: if memory runs out, counts are
 * left out, and the report says so. Output is ordered by first launch, name and number, never by
 * address, so the same run gives the same bytes.
 */
#include "sim/report/totals.h"

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

/* ---- Allocation ---- */

void report_lacks_memory(void)
{
    report.incomplete = true;
}

bool report_grow(void *array, int count, int *room, size_t size)
{
    int wanted = *room ? *room * 2 : 16;
    void *bigger, *old;

    if (count < *room)
        return true;
    memcpy(&old, array, sizeof old);
    bigger = wanted < (1 << 24) ? realloc(old, (size_t) wanted * size) : NULL;
    if (!bigger) {
        report_lacks_memory();
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
        free(report.kernels[k]->line_arrays);
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
    timeline_forget(report.timeline);
    report.process = (int) getpid();
}

/* A child of fork() counts its own launches only. */
static void begin(void)
{
    if (report.process != (int) getpid())
        forget();
}

/* ---- Files ---- */

int report_file(const char *name)
{
    char *copy;

    if (!name || !*name)
        return 0;
    for (int i = 1; i < report.file_count; i++)
        if (!strcmp(report.files[i], name))
            return i;
    if (!report.file_count &&
        report_grow(&report.files, 0, &report.file_room, sizeof *report.files))
        report.files[report.file_count++] = NULL;
    if (!report_grow(&report.files, report.file_count, &report.file_room, sizeof *report.files))
        return 0;
    copy = strdup(name);
    if (!copy) {
        report.incomplete = true;
        return 0;
    }
    report.files[report.file_count] = copy;
    return report.file_count++;
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

    if (!report_grow(&report.kernels, report.kernel_count, &report.kernel_room,
                     sizeof *report.kernels))
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

/* Searches backwards, since the latest kernel is often launched again. */
static Kernel *kernel_of(const Launch *launch)
{
    for (int i = report.kernel_count - 1; i >= 0; i--)
        if (is_like(report.kernels[i], launch))
            return report.kernels[i];
    return new_kernel(launch);
}

void report_launch(const Launch *launch, const KernelResources *resources,
                   const Occupancy *occupancy)
{
    Kernel *kernel;

    pthread_mutex_lock(&lock);
    begin();
    kernel = kernel_of(launch);
    if (kernel)
        kernel_add(kernel, launch, resources, occupancy);
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

void report_timeline(Timeline *timeline)
{
    pthread_mutex_lock(&lock);
    begin();
    report.timeline = timeline;
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

static bool write_to(const char *path, void (*write)(FILE *out))
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0666);
    FILE *out = fd < 0 ? NULL : fdopen(fd, "w");
    bool fine;

    if (!out) {
        if (fd >= 0)
            close(fd);
        return false;
    }
    write(out);
    fine = !ferror(out);
    return !fclose(out) && fine;
}

static bool has_something(void)
{
    return report.kernel_count || finding_count();
}

static void write_json(FILE *out)
{
    report_write_json(&report, out);
}

static void write_sarif(FILE *out)
{
    Annotation annotation;
    static Sarif sarif;

    sarif_begin(&sarif, out);
    for (int i = 0; i < finding_count(); i++) {
        finding_annotation(finding_at(i), &annotation);
        sarif_result(&sarif, &annotation);
    }
    sarif_end(&sarif, true);
}

/* A process without launches or findings leaves what another one wrote. */
static bool is_mine(const char *path)
{
    struct stat about;

    return has_something() || stat(path, &about) || !about.st_size;
}

bool report_sarif(const char *path)
{
    bool fine;

    pthread_mutex_lock(&lock);
    fine = !is_mine(path) || write_to(path, write_sarif);
    pthread_mutex_unlock(&lock);
    return fine;
}

bool report_at_exit(const char *json_path, bool table)
{
    bool fine = true;

    pthread_mutex_lock(&lock);
    begin();
    if (json_path && *json_path && is_mine(json_path))
        fine = write_to(json_path, write_json);
    if (table && report.kernel_count)
        report_write_table(&report, stderr);
    pthread_mutex_unlock(&lock);
    return fine;
}

/* ---- Words and numbers in both forms of the report ---- */

const char *const class_words[CLASSES] = {
    [CLASS_NOTHING] = "nothing", [CLASS_MOVE] = "move",       [CLASS_INT] = "int",
    [CLASS_FP32] = "fp32",       [CLASS_FP64] = "fp64",       [CLASS_FP16] = "fp16",
    [CLASS_SFU] = "sfu",         [CLASS_CONVERT] = "convert", [CLASS_CONTROL] = "control",
    [CLASS_BARRIER] = "barrier", [CLASS_FENCE] = "fence",     [CLASS_SHUFFLE] = "shuffle",
    [CLASS_LOAD] = "load",       [CLASS_STORE] = "store",     [CLASS_ATOMIC] = "atomic",
    [CLASS_TENSOR] = "tensor",
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
    for (; d > UINT64_MAX / 2 / scale; d >>= 1) /* larger than the count of any real run */
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
