/* json.c - the report as JSON lines: a header, then one line per kernel, then one per finding. */
#include "sim/report/totals.h"
#include "base/escape.h"
#include "base/util.h" /* only for WARPBOOK_VERSION */

#include <string.h>

enum { FORMAT = 1 };

typedef unsigned long long ull;

void json_string(FILE *out, const char *text)
{
    if (text)
        write_json(out, text);
    else
        fputs("null", out);
}

static const char *truth(bool value)
{
    return value ? "true" : "false";
}

static void put_three(FILE *out, const char *key, const int *three)
{
    fprintf(out, ",\"%s\":[%d,%d,%d]", key, three[0], three[1], three[2]);
}

static void put_number(FILE *out, const char *key, uint64_t value)
{
    fprintf(out, ",\"%s\":%llu", key, (ull) value);
}

/* ---- The header ---- */

static void put_device(FILE *out, const Device *d)
{
    const struct {
        const char *key;
        double value;
    } figures[] = {
        { "cc", d->cc },
        { "sms", d->sms },
        { "slice", d->slice },
        { "threads_per_sm", d->threads_per_sm },
        { "shared_per_sm_bytes", d->shared_per_sm_bytes },
        { "sm_mhz", d->sm_mhz },
        { "memory_gbps", d->memory_gbps },
        { "pcie_gbps", d->pcie_gbps },
        { "fp32_tflops", d->fp32_tflops },
        { "l2_bytes", d->l2_bytes },
        { "memory_bytes", d->memory_bytes },
    };

    fputs("{\"key\":", out);
    json_string(out, d->key);
    fputs(",\"name\":", out);
    json_string(out, d->name);
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        fprintf(out, ",\"%s\":%s", figures[i].key, decimal(figures[i].value).text);
    putc('}', out);
}

static void put_header(FILE *out, const Report *report)
{
    fprintf(out, "{\"record\":\"header\",\"format\":%d,\"version\":", FORMAT);
    json_string(out, WARPBOOK_VERSION);
    fputs(",\"simulated\":true,\"device\":", out);
    if (report->has_device)
        put_device(out, &report->device);
    else
        fputs("null", out);
    fprintf(out, ",\"kernels\":%d,\"findings\":%d,\"complete\":%s,\"signal\":%d}\n",
            report->kernel_count, finding_count(), truth(!report->incomplete), report->signal);
}

/* ---- Kernels ---- */

/* Omits kinds that do not occur. */
static void put_traffic(FILE *out, const char *key, const Traffic *traffic, const char *passes,
                        const char *asked)
{
    const char *comma = "";

    fprintf(out, ",\"%s\":{", key);
    for (int k = 0; k < KINDS; k++) {
        if (!traffic[k].requests && !traffic[k].passes)
            continue;
        fprintf(out, "%s\"%s\":{\"requests\":%llu,\"%s\":%llu,\"%s\":%llu}", comma, kind_words[k],
                (ull) traffic[k].requests, passes, (ull) traffic[k].passes, asked,
                (ull) traffic[k].asked);
        comma = ",";
    }
    putc('}', out);
}

static void put_classes(FILE *out, const Totals *totals)
{
    const char *comma = "";

    fputs(",\"classes\":{", out);
    for (int c = 0; c < CLASSES; c++) {
        if (!totals->classes[c])
            continue;
        fprintf(out, "%s\"%s\":%llu", comma, class_words[c], (ull) totals->classes[c]);
        comma = ",";
    }
    putc('}', out);
}

static void put_totals(FILE *out, const Totals *totals)
{
    put_number(out, "warp_instructions", totals->executed);
    put_number(out, "thread_instructions", totals->lanes);
    fprintf(out, ",\"threads_per_instruction\":%s",
            quotient(totals->issued_lanes, totals->issued, 4).text);
    put_number(out, "machine_instructions", totals->issued);
    put_number(out, "machine_threads", totals->issued_lanes);
    put_number(out, "ffma_threads", totals->ffma_lanes);
    put_number(out, "divergent_branches", totals->divergent);
    put_number(out, "cost", totals_cost(totals));
    put_classes(out, totals);
    put_traffic(out, "global", totals->global, "sectors", "bytes");
    put_traffic(out, "shared", totals->shared, "wavefronts", "ideal");
    if (totals->texture[KIND_LOAD].requests || totals->texture[KIND_STORE].requests)
        put_traffic(out, "texture_estimate", totals->texture, "sectors", "bytes");
    put_number(out, "shared_loop_wavefronts", totals->loop_loads);
    put_number(out, "shared_loop_ideal", totals->loop_ideal);
}

static void put_resources(FILE *out, const Kernel *kernel)
{
    const KernelResources *r = &kernel->resources;

    if (kernel->has_resources)
        fprintf(out,
                ",\"resources\":{\"registers\":%d,\"static_shared_bytes\":%d,\"local_bytes\":%d,"
                "\"most_threads\":%d}",
                r->registers, r->static_shared_bytes, r->local_bytes, r->most_threads);
    else
        fputs(",\"resources\":null", out);
    if (!kernel->has_occupancy) {
        fputs(",\"occupancy\":null", out);
        return;
    }
    fprintf(out,
            ",\"occupancy\":{\"blocks_per_sm\":%d,\"warps_per_sm\":%d,\"share\":%s,\"limiter\":",
            kernel->occupancy.blocks_per_sm, kernel->occupancy.warps_per_sm,
            decimal(kernel->occupancy.share).text);
    json_string(out, limiter_word(kernel->occupancy.limiter));
    putc('}', out);
}

static void put_array(FILE *out, const ArrayCount *a)
{
    const struct {
        const char *key;
        uint64_t requests, sectors, bytes;
    } rows[] = {
        { "load", a->load_requests, a->load_sectors, a->load_bytes },
        { "store", a->store_requests, a->store_sectors, a->store_bytes },
        { "atomic", a->atomic_requests, a->atomic_sectors, a->atomic_bytes },
    };

    fprintf(out, "{\"allocation\":%d,\"address\":\"0x%llx\",\"bytes\":%zu", a->allocation,
            (ull) a->base, a->size);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].requests)
            fprintf(out, ",\"%s\":{\"requests\":%llu,\"sectors\":%llu,\"bytes\":%llu}", rows[i].key,
                    (ull) rows[i].requests, (ull) rows[i].sectors, (ull) rows[i].bytes);
    putc('}', out);
}

static void put_line(FILE *out, const Report *report, const LineTotals *line)
{
    fputs("{\"file\":", out);
    json_string(out, line->file ? report->files[line->file] : NULL);
    fprintf(out, ",\"line\":%d", line->line);
    if (spent_sum(&line->spent) > 0) {
        put_number(out, "ns", (uint64_t) (spent_sum(&line->spent) + 0.5));
        fprintf(out, ",\"limit\":\"%s\"", limit_keys[spent_most(&line->spent)]);
    }
    put_totals(out, &line->totals);
    putc('}', out);
}

/* Nanoseconds and cycles are rounded to integers, so that the text is the same on every machine. */
static void put_time(FILE *out, const Kernel *kernel)
{
    const TimingResult *time = &kernel->time;

    if (!kernel->timed)
        return;
    fputs(",\"time\":{\"simulated\":true", out);
    put_number(out, "launches", kernel->timed);
    put_number(out, "ns", (uint64_t) (time->ms * 1e6 + 0.5));
    put_number(out, "cycles", (uint64_t) (time->cycles + 0.5));
    put_number(out, "blocks", (uint64_t) time->blocks);
    put_number(out, "timed_blocks", (uint64_t) time->timed);
    put_number(out, "instructions", time->instructions);
    put_number(out, "l1_hits", time->l1_hits);
    put_number(out, "l1_misses", time->l1_misses);
    put_number(out, "l2_hits", time->l2_hits);
    put_number(out, "l2_misses", time->l2_misses);
    put_number(out, "memory_read_bytes", (uint64_t) (time->memory_read_bytes + 0.5));
    put_number(out, "memory_write_bytes", (uint64_t) (time->memory_write_bytes + 0.5));
    putc('}', out);
}

/* Where the number of machine instructions comes from. */
static const char *machine_counts(const Kernel *kernel)
{
    if (!kernel->counted)
        return "estimated";
    return kernel->counted == kernel->launches ? "counted" : "partly counted";
}

static void put_kernel(FILE *out, const Report *report, const Kernel *kernel)
{
    Limits limits;

    fputs("{\"record\":\"kernel\",\"name\":", out);
    json_string(out, kernel->name);
    put_three(out, "grid", kernel->grid);
    put_three(out, "block", kernel->block);
    put_number(out, "dynamic_shared_bytes", kernel->dynamic_shared_bytes);
    fprintf(out, ",\"cooperative\":%s", truth(kernel->cooperative));
    put_number(out, "launches", kernel->launches);
    put_number(out, "failed", kernel->failed);
    put_resources(out, kernel);
    put_time(out, kernel);
    if (kernel_limits(kernel, &report->device, &limits))
        limits_write_json(&limits, &report->device, out);
    fprintf(out, ",\"machine_counts\":\"%s\"", machine_counts(kernel));
    put_totals(out, &kernel->totals);
    fputs(",\"arrays\":[", out);
    for (int i = 0; i < kernel->array_count; i++) {
        fputs(i ? "," : "", out);
        put_array(out, &kernel->arrays[i]);
    }
    fputs("],\"lines\":[", out);
    for (int i = 0; i < kernel->line_count; i++) {
        fputs(i ? "," : "", out);
        put_line(out, report, &kernel->lines[i]);
    }
    fputs("]}\n", out);
}

/* ---- When it ran ---- */

static uint64_t ns_of(int64_t ps)
{
    return (uint64_t) (ps + 500) / 1000;
}

static void put_work(FILE *out, const TimelineSpan *span)
{
    fprintf(out, "{\"record\":\"work\",\"row\":\"%s\",\"stream\":%d", row_words[span->row],
            span->stream);
    put_number(out, "start_ns", ns_of(span->start_ps));
    put_number(out, "end_ns", ns_of(span->end_ps));
    if (span->row == ROW_KERNEL) {
        fputs(",\"kernel\":", out);
        json_string(out, span->name);
    } else {
        put_number(out, "bytes", (uint64_t) span->bytes);
    }
    fputs("}\n", out);
}

static void put_works(FILE *out, const Timeline *timeline)
{
    long count, total;
    const TimelineSpan *spans = timeline_spans(timeline, &count, &total);

    for (long i = 0; i < count; i++)
        put_work(out, &spans[i]);
}

/* ---- Findings ---- */

static void put_finding(FILE *out, const Finding *f)
{
    const Place *place = &f->place;

    fputs("{\"record\":\"finding\",\"kind\":", out);
    json_string(out, finding_word(f->kind));
    fprintf(out, ",\"fatal\":%s,\"kernel\":", truth(f->fatal));
    json_string(out, place->kernel);
    fputs(",\"file\":", out);
    json_string(out, place->file);
    fprintf(out, ",\"line\":%d", place->line);
    if (place->has_thread) {
        put_three(out, "block", place->block);
        put_three(out, "thread", place->thread);
    }
    fputs(",\"instruction\":", out);
    if (place->instruction && place->instruction_length > 0)
        write_json(out, place->instruction);
    else
        fputs("null", out);
    fputs(",\"text\":", out);
    write_json(out, f->text);
    put_number(out, "count", f->count);
    fputs("}\n", out);
}

void report_write_json(const Report *report, FILE *out)
{
    put_header(out, report);
    for (int i = 0; i < report->kernel_count; i++)
        put_kernel(out, report, report->kernels[i]);
    put_works(out, report->timeline);
    for (int i = 0; i < finding_count(); i++)
        put_finding(out, finding_at(i));
}
