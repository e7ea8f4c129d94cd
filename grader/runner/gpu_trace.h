/* gpu_trace.h - when a GPU ran kernels and copies, in which stream: recorded by CUPTI, the
 * profiling interface of the CUDA Toolkit, and written for Perfetto.
 *
 * The recorder is a library of its own (gpu_trace.c), so that nothing else needs CUPTI. `profiled`
 * loads it and calls the two functions below.
 */
#ifndef RUNNER_GPU_TRACE_H
#define RUNNER_GPU_TRACE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define GPU_TRACE_LIBRARY "libgpu-trace.so"

typedef struct GpuSpan {
    char name[100]; /* the kernel's, mangled; or "upload", "download", "copy", "fill" */
    uint32_t stream;
    uint64_t start_ns, end_ns;
    uint64_t bytes; /* of a copy; 0: a kernel */
} GpuSpan;

/* gpu_trace_json.c. Writes Chrome's JSON events: one row per stream, times from the first start on.
 * Sorts the spans. */
void gpu_trace_json(GpuSpan *spans, int count, FILE *out);

/* gpu_trace.c. Starts recording; returns NULL, or why that is not possible. */
typedef const char *GpuTraceBegin(void);
/* Ends recording and writes the file; returns NULL, or what failed. */
typedef const char *GpuTraceEnd(const char *path);

#endif
