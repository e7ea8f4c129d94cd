/* record.c - samples for pictures, and traces: simRecord() to simTraced() of query.h. */
#include "sim/record/record.h"
#include "sim/report/totals.h"
#include "sim/report/trace.h"
#include "sim/runtime/query.h"
#include "sim/runtime/runtime.h"

#include <stdio.h>
#include <string.h>

API int simRecord(const RecordFilter *filter)
{
    bool well = false;

    if (!rt_enter(false)) {
        finish_all();
        well = record_start(filter);
    }
    rt_leave(cudaSuccess);
    return well;
}

static void put_device(RecordedDevice *to)
{
    const Device *d = &rt.device;

    *to = (RecordedDevice){ .sms = d->sms,
                            .sm_mhz = d->sm_mhz,
                            .fp32_tflops = d->fp32_tflops,
                            .memory_gbps = d->memory_gbps };
    if (d->slice > 1)
        snprintf(to->name, sizeof to->name, "%.16s (1/%d of it)", d->name, d->slice);
    else
        snprintf(to->name, sizeof to->name, "%.*s", RECORD_NAME - 1, d->name);
}

static void put_spans(Records *to)
{
    static const Engine engines[ROWS] = { [ROW_UP] = ENGINE_UP,
                                          [ROW_KERNEL] = ENGINE_KERNEL,
                                          [ROW_FILL] = ENGINE_FILL,
                                          [ROW_DOWN] = ENGINE_DOWN };
    const Timeline *timeline = report_so_far()->timeline;
    long count = 0, total = 0;
    const TimelineSpan *spans = timeline ? timeline_spans(timeline, &count, &total) : NULL;

    to->span_count = 0;
    to->lost_spans = 0;
    for (long i = 0; i < count; i++) {
        if (spans[i].row >= ROW_MARK)
            continue;
        if (to->span_count == MOST_SPANS) {
            to->lost_spans++;
            continue;
        }
        Span *span = &to->spans[to->span_count++];
        *span = (Span){ .engine = engines[spans[i].row],
                        .stream = spans[i].stream,
                        .begin_ns = (double) spans[i].start_ps / 1e3,
                        .end_ns = (double) spans[i].end_ps / 1e3,
                        .bytes = spans[i].bytes };
        snprintf(span->name, sizeof span->name, "%.*s", RECORD_NAME - 1, spans[i].name);
    }
}

/* Texts hold names from a student's code: only printable characters are kept. */
static void copy_text(char *to, size_t size, const char *from)
{
    snprintf(to, size, "%s", from ? from : "");
    for (; *to; to++)
        if (*to < ' ' || *to > '~')
            *to = '?';
}

static int own_line(const Place *at, int line)
{
    const char *end = at->file ? strrchr(at->file, '.') : NULL;

    return end && !strcmp(end, ".cu") ? line : 0;
}

static void put_finding(RecordedFinding *to, const Finding *found)
{
    const Place *at = &found->place;

    *to = (RecordedFinding){
        .count = found->count,
        .is_fatal = found->fatal,
        .barriers = at->barriers,
        .has_other = at->other_line || at->has_other,
        .access = { own_line(at, at->line), at->has_thread },
        .other = { own_line(at, at->other_line), at->has_other },
    };
    copy_text(to->word, sizeof to->word, finding_word(found->kind));
    copy_text(to->kernel, sizeof to->kernel, at->kernel);
    copy_text(to->text, sizeof to->text, found->text);
    to->kernel[strcspn(to->kernel, "(")] = 0;
    memcpy(to->access.block, at->block, sizeof at->block);
    memcpy(to->access.thread, at->thread, sizeof at->thread);
    memcpy(to->other.block, at->other_block, sizeof at->other_block);
    memcpy(to->other.thread, at->other_thread, sizeof at->other_thread);
}

/* Findings without a place in a kernel, such as memory that was not freed, are left out. */
static void put_findings(Records *to)
{
    const Finding *found;

    to->finding_count = 0;
    for (int i = 0; (found = finding_at(i)) && to->finding_count < MOST_RECORDED_FINDINGS; i++)
        if (found->place.has_thread)
            put_finding(&to->findings[to->finding_count++], found);
}

API int simRecords(Records *copy)
{
    Records *kept = NULL;

    if (!rt_enter(false)) {
        finish_all();
        clock_report();
        kept = record_so_far();
        if (kept) {
            put_device(&kept->device);
            put_spans(kept);
            put_findings(kept);
            *copy = *kept;
        }
    }
    rt_leave(cudaSuccess);
    return kept != NULL;
}

API int simTrace(void)
{
    bool well = false;

    if (!rt_enter(false)) {
        finish_all();
        well = trace_start();
    }
    rt_leave(cudaSuccess);
    return well;
}

/* Returns the text's length; 0: too long, or the trace is off. */
static size_t write_trace(char *to, size_t room)
{
    FILE *out = fmemopen(to, room, "w");
    long length;
    bool well;

    if (!out)
        return 0;
    well = trace_write(report_so_far()->timeline, &rt.device, out) && !fflush(out);
    length = ftell(out);
    well &= !ferror(out) && length > 0 && (size_t) length < room;
    fclose(out);
    return well ? (size_t) length : 0;
}

API size_t simTraced(char *to, size_t room)
{
    size_t length = 0;

    if (!rt_enter(false)) {
        finish_all();
        clock_report();
        length = write_trace(to, room);
    }
    rt_leave(cudaSuccess);
    return length;
}
