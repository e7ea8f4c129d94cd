/* table.c - the report as a table of 80 columns: each kernel's counters, and its three most
 * expensive source lines. */
#include "sim/report/totals.h"

#include <stdarg.h>
#include <string.h>

enum { WIDTH = 80, MOST_KERNELS = 40, COSTLIEST = 3, LABEL = 18 };

typedef unsigned long long ull;

/* ---- Lines of text ---- */

/* Prints at most WIDTH columns: truncates longer text, and replaces control characters by ?. */
void put_row(FILE *out, const char *format, ...)
{
    char text[512];
    va_list arguments;
    int length;

    va_start(arguments, format);
    length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (length > WIDTH) {
        int cut = WIDTH - 3;
        while (cut > 0 && ((unsigned char) text[cut] & 0xc0) == 0x80) /* inside a character */
            cut--;
        strcpy(text + cut, "...");
    }
    for (char *at = text; *at; at++)
        if ((unsigned char) *at < ' ' || *at == 127)
            *at = '?';
    fprintf(out, "%s\n", text);
}

static const char *plural(uint64_t count)
{
    return count == 1 ? "" : "es";
}

/* "16 x 8": without trailing dimensions of 1 */
static Decimal extent(const int *three)
{
    Decimal text;

    if (three[2] > 1)
        snprintf(text.text, sizeof text.text, "%d x %d x %d", three[0], three[1], three[2]);
    else if (three[1] > 1)
        snprintf(text.text, sizeof text.text, "%d x %d", three[0], three[1]);
    else
        snprintf(text.text, sizeof text.text, "%d", three[0]);
    return text;
}

/* ---- One kernel ---- */

static void put_shape(FILE *out, const Kernel *kernel)
{
    char more[160] = "";
    size_t shared = kernel->dynamic_shared_bytes;

    if (kernel->has_resources) {
        shared += (size_t) kernel->resources.static_shared_bytes;
        snprintf(more, sizeof more, ", %d registers", kernel->resources.registers);
    }
    if (shared)
        snprintf(more + strlen(more), sizeof more - strlen(more), ", %zu B shared", shared);
    put_row(out, "  %llu launch%s%s, grid %s, block %s%s", (ull) kernel->launches,
            plural(kernel->launches), kernel->failed ? " (failed)" : "", extent(kernel->grid).text,
            extent(kernel->block).text, more);
}

static void put_occupancy(FILE *out, const Kernel *kernel)
{
    const Occupancy *o = &kernel->occupancy;

    if (kernel->has_occupancy)
        put_row(out, "  %-*s %7s %%  %d warps in %d block%s per SM; limit: %s", LABEL, "occupancy",
                quotient((uint64_t) (o->share * 10000 + 0.5), 100, 1).text, o->warps_per_sm,
                o->blocks_per_sm, o->blocks_per_sm == 1 ? "" : "s", limiter_word(o->limiter));
}

static void put_time(FILE *out, const Kernel *kernel)
{
    const TimingResult *time = &kernel->time;
    char sample[80] = "";

    if (!kernel->timed)
        return;
    if (time->timed < time->blocks)
        snprintf(sample, sizeof sample, ", timed %ld of %ld blocks", time->timed, time->blocks);
    put_row(out, "  %-*s %7s us per launch, simulated%s", LABEL, "time",
            quotient((uint64_t) (time->ms * 1e6 + 0.5), 1000 * kernel->timed, 2).text, sample);
}

/* Instructions of the machine if they were counted from its code, otherwise those of the PTX. */
static void put_instructions(FILE *out, const Kernel *kernel)
{
    const Totals *totals = &kernel->totals;
    const bool is_counted = kernel->counted && kernel->counted == kernel->launches;

    put_row(out, "  %-*s %7s    of 32, in %llu %s instructions", LABEL, "threads per warp",
            quotient(totals->issued_lanes, totals->issued, 2).text,
            (ull) (is_counted ? totals->issued : totals->executed),
            is_counted ? "machine" : "warp");
}

static void put_textures(FILE *out, const Totals *totals)
{
    static const char *const labels[KINDS] = {
        [KIND_LOAD] = "texture loads", [KIND_STORE] = "surface stores"
    };

    for (int k = 0; k < KINDS; k++)
        if (labels[k] && totals->texture[k].requests)
            put_row(out, "  %-*s %7s    sectors per request, estimated", LABEL, labels[k],
                    quotient(totals->texture[k].passes, totals->texture[k].requests, 2).text);
}

/* Lanes that read the same words ask for more bytes than are moved. */
static void describe_use(const Traffic *traffic, char *text, size_t size)
{
    const uint64_t moved = traffic->passes * 32;

    if (traffic->asked <= moved)
        snprintf(text, size, "%s %% of their bytes used",
                 quotient(traffic->asked * 100, moved, 1).text);
    else
        snprintf(text, size, "their bytes used %s times", quotient(traffic->asked, moved, 1).text);
}

static void put_global(FILE *out, const Totals *totals)
{
    static const char *const labels[KINDS] = { "global loads", "global stores", "global atomics",
                                               "global to shared" };

    for (int k = 0; k < KINDS; k++) {
        const Traffic *t = &totals->global[k];
        char use[96];
        if (!t->requests)
            continue;
        describe_use(t, use, sizeof use);
        put_row(out, "  %-*s %7s    sectors per request, %s", LABEL, labels[k],
                quotient(t->passes, t->requests, 2).text, use);
    }
}

static void put_shared(FILE *out, const Totals *totals)
{
    static const char *const labels[KINDS] = { "shared loads", "shared stores", "shared atomics",
                                               "shared from global" };

    for (int k = 0; k < KINDS; k++) {
        const Traffic *t = &totals->shared[k];
        if (!t->requests)
            continue;
        put_row(out, "  %-*s %7s    wavefronts per request, %s without conflicts", LABEL, labels[k],
                quotient(t->passes, t->requests, 2).text, quotient(t->asked, t->requests, 2).text);
    }
}

/* ---- The most expensive lines ---- */

/* In modelled time if available, else from counters. */
static uint64_t cost_of(const Kernel *kernel, const LineTotals *line)
{
    return kernel->timed ? (uint64_t) (spent_sum(&line->spent) + 0.5) : totals_cost(&line->totals);
}

static uint64_t cost_of_all(const Kernel *kernel)
{
    return kernel->timed ? (uint64_t) (spent_sum(&kernel->time.spent) + 0.5)
                         : totals_cost(&kernel->totals);
}

/* Finds the most expensive lines, in descending order; equal ones in source order. */
static int find_costliest(const Kernel *kernel, const LineTotals *costliest[COSTLIEST])
{
    int count = 0;

    for (int i = 0; i < kernel->line_count; i++) {
        const LineTotals *line = &kernel->lines[i];
        int place = count;
        while (place > 0 && cost_of(kernel, line) > cost_of(kernel, costliest[place - 1]))
            place--;
        if (place == COSTLIEST)
            continue;
        count += count < COSTLIEST;
        memmove(&costliest[place + 1], &costliest[place],
                (size_t) (count - place - 1) * sizeof *costliest);
        costliest[place] = line;
    }
    return count;
}

/* The largest part of the line's cost. */
static void main_cost(const Totals *totals, char *text, size_t size)
{
    uint64_t most = totals->executed, requests = 0;
    const char *what = "";

    for (int k = 0; k < KINDS; k++) {
        if (totals->global[k].passes > most) {
            most = totals->global[k].passes;
            requests = totals->global[k].requests;
            what = "sectors";
        }
        if (totals->shared[k].passes > most) {
            most = totals->shared[k].passes;
            requests = totals->shared[k].requests;
            what = "wavefronts";
        }
    }
    *text = 0;
    if (*what)
        snprintf(text, size, "  %s %s per request", quotient(most, requests, 1).text, what);
}

static const char *short_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static void put_dearest(FILE *out, const Report *report, const Kernel *kernel)
{
    const LineTotals *costliest[COSTLIEST + 1];
    int count = find_costliest(kernel, costliest);

    for (int i = 0; i < count; i++) {
        const LineTotals *line = costliest[i];
        char most[96];
        main_cost(&line->totals, most, sizeof most);
        put_row(out, "  %-*s %7s %%  %.40s:%d%s%s%s", LABEL, i ? "" : "costs most",
                quotient(cost_of(kernel, line) * 100, cost_of_all(kernel), 1).text,
                line->file ? short_name(report->files[line->file]) : "PTX", line->line, most,
                kernel->timed ? "  " : "",
                kernel->timed ? limit_words[spent_most(&line->spent)] : "");
    }
}

/* Whether the table names lines of the PTX. */
static bool has_unknown_lines(const Report *report)
{
    const LineTotals *costliest[COSTLIEST + 1];

    for (int i = 0; i < report->kernel_count && i < MOST_KERNELS; i++) {
        const int count = find_costliest(report->kernels[i], costliest);
        for (int k = 0; k < count; k++)
            if (!costliest[k]->file)
                return true;
    }
    return false;
}

/* ---- The table ---- */

static void put_kernel(FILE *out, const Report *report, const Kernel *kernel)
{
    Limits limits;

    put_row(out, "%s", "");
    put_row(out, "%s", *kernel->name ? kernel->name : "?");
    put_shape(out, kernel);
    put_occupancy(out, kernel);
    put_time(out, kernel);
    put_instructions(out, kernel);
    put_global(out, &kernel->totals);
    put_textures(out, &kernel->totals);
    put_shared(out, &kernel->totals);
    if (kernel_limits(kernel, &report->device, &limits))
        limits_write_rows(&limits, &report->device, out);
    put_dearest(out, report, kernel);
}

void report_write_table(const Report *report, FILE *out)
{
    const Device *d = &report->device;

    put_row(out, "%s", "");
    if (report->has_device && d->slice > 1)
        put_row(out, "simulated %s, 1/%d: %d SMs", d->name, d->slice, d->sms);
    else if (report->has_device)
        put_row(out, "simulated %s: %d SMs", d->name, d->sms);
    for (int i = 0; i < report->kernel_count && i < MOST_KERNELS; i++)
        put_kernel(out, report, report->kernels[i]);
    timeline_write_chart(report->timeline, out);
    put_row(out, "%s", "");
    if (report->kernel_count > MOST_KERNELS)
        put_row(out, "and %d more kernels (see the JSON report)",
                report->kernel_count - MOST_KERNELS);
    if (has_unknown_lines(report))
        put_row(out, "%s",
                "PTX: a line of it. To see lines of your source, compile with -lineinfo");
    if (finding_count())
        put_row(out, "%d finding%s, reported above", finding_count(),
                finding_count() == 1 ? "" : "s");
    if (report->incomplete)
        put_row(out, "The counts are incomplete: there was not enough memory.");
}
