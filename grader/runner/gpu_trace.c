/* gpu_trace.c - records kernels, copies and fills with CUPTI's activity interface.
 *
 * CUPTI fills buffers that we hand out, and gives them back when they are full or flushed. At most
 * MOST_SPANS are kept, which bounds the file. The record types are those of CUDA 12 and 13.
 */
#include "runner/gpu_trace.h"

#include <cupti.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { BUFFER_BYTES = 1 << 20, MOST_SPANS = 200000 };

static struct {
    pthread_mutex_t lock; /* CUPTI calls back from a thread of its own */
    GpuSpan *spans;
    int count;
} trace = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void CUPTIAPI give_buffer(uint8_t **buffer, size_t *size, size_t *most_records)
{
    *buffer = aligned_alloc(8, BUFFER_BYTES);
    *size = *buffer ? BUFFER_BYTES : 0;
    *most_records = 0; /* as many as fit */
}

static void add(const char *name, uint32_t stream, uint64_t start_ns, uint64_t end_ns,
                uint64_t bytes)
{
    GpuSpan *span;

    if (!trace.spans || trace.count == MOST_SPANS)
        return;
    span = &trace.spans[trace.count++];
    *span = (GpuSpan){ .stream = stream, .start_ns = start_ns, .end_ns = end_ns, .bytes = bytes };
    snprintf(span->name, sizeof span->name, "%s", name ? name : "a kernel");
}

static const char *direction(uint8_t kind)
{
    return kind == CUPTI_ACTIVITY_MEMCPY_KIND_HTOD   ? "upload"
           : kind == CUPTI_ACTIVITY_MEMCPY_KIND_DTOH ? "download"
                                                     : "copy";
}

static void take(const CUpti_Activity *record)
{
    if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) {
        const CUpti_ActivityKernel9 *kernel = (const CUpti_ActivityKernel9 *) record;
        add(kernel->name, kernel->streamId, kernel->start, kernel->end, 0);
    } else if (record->kind == CUPTI_ACTIVITY_KIND_MEMCPY) {
        const CUpti_ActivityMemcpy5 *copy = (const CUpti_ActivityMemcpy5 *) record;
        add(direction(copy->copyKind), copy->streamId, copy->start, copy->end, copy->bytes);
    } else if (record->kind == CUPTI_ACTIVITY_KIND_MEMSET) {
        const CUpti_ActivityMemset4 *fill = (const CUpti_ActivityMemset4 *) record;
        add("fill", fill->streamId, fill->start, fill->end, fill->bytes);
    }
}

static void CUPTIAPI take_buffer(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size,
                                 size_t valid)
{
    CUpti_Activity *record = NULL;

    (void) context, (void) stream, (void) size;
    pthread_mutex_lock(&trace.lock);
    while (cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS)
        take(record);
    pthread_mutex_unlock(&trace.lock);
    free(buffer);
}

static const char *text_of(CUptiResult result)
{
    const char *text = NULL;

    if (result == CUPTI_SUCCESS)
        return NULL;
    cuptiGetResultString(result, &text);
    return text ? text : "CUPTI failed";
}

const char *gpu_trace_begin(void)
{
    static const CUpti_ActivityKind kinds[] = { CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                                                CUPTI_ACTIVITY_KIND_MEMCPY,
                                                CUPTI_ACTIVITY_KIND_MEMSET };
    const char *why = text_of(cuptiActivityRegisterCallbacks(give_buffer, take_buffer));

    trace.spans = calloc(MOST_SPANS, sizeof *trace.spans);
    if (!trace.spans)
        return "out of memory";
    for (size_t i = 0; !why && i < sizeof kinds / sizeof *kinds; i++)
        why = text_of(cuptiActivityEnable(kinds[i]));
    return why;
}

const char *gpu_trace_end(const char *path)
{
    const char *why = text_of(cuptiActivityFlushAll(0));
    FILE *out = why ? NULL : fopen(path, "we");

    if (why)
        return why;
    if (!out)
        return strerror(errno);
    pthread_mutex_lock(&trace.lock);
    gpu_trace_json(trace.spans, trace.count, out);
    if (!trace.count)
        why = "nothing was recorded";
    pthread_mutex_unlock(&trace.lock);
    return fclose(out) ? strerror(errno) : why;
}
