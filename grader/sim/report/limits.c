/* limits.c - computes what limits a kernel or a whole program from the report's sums, for the table
 * and the JSON report. */
#include "sim/report/totals.h"

#include <math.h>
#include <string.h>

enum { LABEL = 18, SHOWN = 3 };

/* ---- Sums ---- */

static void add_traffic(const Totals *totals, Limits *limits)
{
    for (int k = 0; k < KINDS; k++) {
        if (k != KIND_ATOMIC) {
            limits->sectors += (double) totals->global[k].passes;
            limits->least_sectors += (double) totals->global[k].asked / 32;
        }
        limits->wavefronts += (double) totals->shared[k].passes;
        limits->least_shared += (double) totals->shared[k].asked;
    }
}

/* Warps resident per SM: those that fit, or fewer if the grid is smaller. */
static double warps_at_once(const Kernel *kernel, const Device *device)
{
    const double fit = kernel->occupancy.warps_per_sm;
    const int *grid = kernel->grid, *block = kernel->block;
    const double blocks = (double) grid[0] * grid[1] * grid[2];
    const double warps = ceil((double) block[0] * block[1] * block[2] / 32);

    return device->sms > 0 && blocks * warps > 0 ? fmin(fit, ceil(blocks / device->sms) * warps)
                                                 : fit;
}

/* Adds a kernel without the overhead of its launches, which may overlap with other work. */
static void add_kernel(const Kernel *kernel, const Device *device, Limits *limits)
{
    const TimingResult *time = &kernel->time;
    const double scale = time->timed > 0 ? (double) time->blocks / (double) time->timed : 1;

    spent_add(&limits->spent, &time->spent, 1);
    for (int i = 0; i < WAITS; i++)
        limits->waits[i] += time->waits[i];
    for (int i = 0; i < LIMITS; i++)
        limits->busy[i] += time->busy[i];
    limits->flops += (double) kernel->totals.flops;
    limits->bytes += scale * (time->memory_read_bytes + time->memory_write_bytes);
    if (kernel->has_occupancy)
        limits->warps = fmax(limits->warps, warps_at_once(kernel, device));
    add_traffic(&kernel->totals, limits);
}

bool kernel_limits(const Kernel *kernel, const Device *device, Limits *limits)
{
    *limits = (Limits){ .lanes = 0 };
    if (!kernel->timed)
        return false;
    add_kernel(kernel, device, limits);
    if (kernel->totals.executed)
        limits->lanes = (double) kernel->totals.lanes / (double) kernel->totals.executed;
    return true;
}

/* Splits the kernels' share of the time in proportion to their own times; other shares stay. */
static void lay_on(const int64_t ps[ROWS], Limits *limits)
{
    const double kernels = spent_sum(&limits->spent) - limits->spent.at[AT_LAUNCH];
    Spent of_kernels = limits->spent;

    of_kernels.at[AT_LAUNCH] = 0;
    limits->spent = (Spent){ .at[AT_LAUNCH] = (double) ps[ROW_MARK] / 1e3,
                             .at[AT_TRANSFER] = (double) (ps[ROW_UP] + ps[ROW_DOWN]) / 1e3,
                             .at[AT_DRAM] = (double) ps[ROW_FILL] / 1e3 };
    if (kernels > 0)
        spent_add(&limits->spent, &of_kernels, (double) ps[ROW_KERNEL] / 1e3 / kernels);
}

bool report_limits(const Report *report, Limits *limits)
{
    double executed = 0, lanes = 0;
    int64_t ps[ROWS];

    *limits = (Limits){ .lanes = 0 };
    for (int i = 0; i < report->kernel_count; i++) {
        const Kernel *kernel = report->kernels[i];
        add_kernel(kernel, &report->device, limits);
        executed += (double) kernel->totals.executed;
        lanes += (double) kernel->totals.lanes;
    }
    limits->lanes = executed > 0 ? lanes / executed : 0;
    timeline_shares(report->timeline, ps);
    limits->busy[AT_TRANSFER] += (double) timeline_transfer_ps(report->timeline) / 1e3;
    if (report->timeline)
        lay_on(ps, limits);
    return spent_sum(&limits->spent) > 0;
}

/* ---- The table ---- */

static Decimal percent(double part, double all)
{
    return quotient((uint64_t) (fmax(part, 0) + 0.5) * 100, (uint64_t) (all + 0.5), 1);
}

/* Finds the largest limits, in descending order; equal ones in the order of their numbers. */
static int find_largest(const Spent *spent, Limit largest[SHOWN])
{
    Spent left = *spent;
    int count = 0;

    while (count < SHOWN) {
        const Limit most = spent_most(&left);
        if (left.at[most] <= 0)
            break;
        largest[count++] = most;
        left.at[most] = 0;
    }
    return count;
}

static void put_busy(const Limits *limits, double all, Limit limit, char *text, size_t size)
{
    *text = 0;
    if (limits->busy[limit] > 0)
        snprintf(text, size, "; busy %s %%", percent(limits->busy[limit], all).text);
}

static void put_roofline(const Limits *limits, const Device *device, FILE *out)
{
    const Roofline roof = roofline_of(limits, device->fp32_tflops, device->memory_gbps);
    const Decimal reached = quotient((uint64_t) (roof.reached * 1000 + 0.5), 10, 1);

    if (roof.is_cached)
        put_row(out, "  %-*s %7s    all data stays in the L2", LABEL, "roofline", "-");
    else if (limits->flops > 0)
        put_row(out, "  %-*s %7s    flop per byte; ridge at %s; %s %% of the roof", LABEL,
                "roofline", decimal(roof.intensity).text, decimal(roof.ridge).text, reached.text);
    else
        put_row(out, "  %-*s %7s    flop per byte; %s %% of the memory roof", LABEL, "roofline",
                "0", reached.text);
}

/* Wraps the sentence at the width of the table. */
static void put_sentence(const char *sentence, FILE *out)
{
    enum { ROOM = 80 - 5 - LABEL };

    for (bool first = true; *sentence; first = false) {
        size_t length = strlen(sentence);
        if (length > ROOM)
            for (length = ROOM; length > 1 && sentence[length] != ' '; length--)
                ;
        put_row(out, "  %-*s %.*s", LABEL, first ? "summary" : "", (int) length, sentence);
        sentence += length;
        sentence += *sentence == ' ';
    }
}

void limits_write_rows(const Limits *limits, const Device *device, FILE *out)
{
    const double all = spent_sum(&limits->spent);
    Limit largest[SHOWN];
    const int count = find_largest(&limits->spent, largest);
    char text[400];

    for (int i = 0; i < count; i++) {
        put_busy(limits, all, largest[i], text, sizeof text);
        put_row(out, "  %-*s %7s %%  %s%s", LABEL, i ? "" : "limits",
                percent(limits->spent.at[largest[i]], all).text, limit_words[largest[i]], text);
    }
    put_roofline(limits, device, out);
    limits_sentence(limits, text, sizeof text);
    put_sentence(text, out);
}

/* ---- JSON ---- */

static void put_values(FILE *out, const char *name, const double *values, const char *const *keys,
                       int count)
{
    const char *comma = "";

    fprintf(out, ",\"%s\":{", name);
    for (int i = 0; i < count; i++) {
        if (values[i] < 0.5)
            continue;
        fprintf(out, "%s\"%s\":%llu", comma, keys[i], (unsigned long long) (values[i] + 0.5));
        comma = ",";
    }
    putc('}', out);
}

void limits_write_json(const Limits *limits, const Device *device, FILE *out)
{
    const Roofline roof = roofline_of(limits, device->fp32_tflops, device->memory_gbps);
    char sentence[400];

    limits_sentence(limits, sentence, sizeof sentence);
    fprintf(out, ",\"limits\":{\"limit\":\"%s\"", limit_keys[limits_most(limits)]);
    put_values(out, "ns", limits->spent.at, limit_keys, LIMITS);
    put_values(out, "waits_ns", limits->waits, wait_keys, WAITS);
    put_values(out, "busy_ns", limits->busy, limit_keys, LIMITS);
    fprintf(out, ",\"flops\":%llu,\"memory_bytes\":%llu", (unsigned long long) limits->flops,
            (unsigned long long) (limits->bytes + 0.5));
    fprintf(out, ",\"intensity\":%s", decimal(roof.intensity).text);
    fprintf(out, ",\"ridge\":%s", decimal(roof.ridge).text);
    fprintf(out, ",\"roof_share\":%s", decimal(roof.reached).text);
    fprintf(out, ",\"sentence\":\"%s\"}", sentence); /* needs no escaping */
}
