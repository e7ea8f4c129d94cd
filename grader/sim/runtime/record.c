/* record.c - samples for pictures: simRecord() and simRecords() of query.h. */
#include "sim/record/record.h"
#include "sim/report/totals.h"
#include "sim/runtime/query.h"
#include "sim/runtime/runtime.h"

#include <stdio.h>

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
            *copy = *kept;
        }
    }
    rt_leave(cudaSuccess);
    return kept != NULL;
}
