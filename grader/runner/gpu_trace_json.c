/* gpu_trace_json.c - writes spans as Chrome's JSON events, which Perfetto reads. */
#include "runner/gpu_trace.h"
#include "base/escape.h"

#include <stdlib.h>

static int by_stream_and_start(const void *a, const void *b)
{
    const GpuSpan *x = a, *y = b;

    if (x->stream != y->stream)
        return x->stream < y->stream ? -1 : 1;
    return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

static void write_row_name(uint32_t stream, FILE *out)
{
    fprintf(out,
            "{\"ph\":\"M\",\"pid\":1,\"tid\":%u,\"name\":\"thread_name\","
            "\"args\":{\"name\":\"stream %u\"}},\n",
            stream, stream);
}

static void write_span(const GpuSpan *span, uint64_t first_ns, FILE *out)
{
    fprintf(
        out, "{\"ph\":\"X\",\"pid\":1,\"tid\":%u,\"ts\":%.3f,\"dur\":%.3f,\"name\":", span->stream,
        (double) (span->start_ns - first_ns) / 1e3, (double) (span->end_ns - span->start_ns) / 1e3);
    write_json(out, span->name);
    if (span->bytes)
        fprintf(out, ",\"args\":{\"bytes\":%llu,\"GB/s\":%.1f}", (unsigned long long) span->bytes,
                (double) span->bytes / (double) (span->end_ns - span->start_ns));
    fputs("},\n", out);
}

void gpu_trace_json(GpuSpan *spans, int count, FILE *out)
{
    uint64_t first_ns = UINT64_MAX;

    if (count)
        qsort(spans, (size_t) count, sizeof *spans, by_stream_and_start);
    for (int i = 0; i < count; i++)
        first_ns = spans[i].start_ns < first_ns ? spans[i].start_ns : first_ns;
    fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n", out);
    for (int i = 0; i < count; i++) {
        if (!i || spans[i].stream != spans[i - 1].stream)
            write_row_name(spans[i].stream, out);
        if (spans[i].end_ns > spans[i].start_ns)
            write_span(&spans[i], first_ns, out);
    }
    fputs("{\"ph\":\"M\",\"pid\":1,\"name\":\"process_name\",\"args\":{\"name\":\"GPU\"}}\n]}\n",
          out);
}
