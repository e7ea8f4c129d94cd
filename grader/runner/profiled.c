/* profiled.c - calls a lab's kernel once, without the grader around it, so that a GPU's profiler
 * can count it (make profile).
 *
 *     profiled LAB OBJECT DIM...
 *
 * With $WARPBOOK_TRACE=FILE it records the call itself: when kernels and copies ran (gpu_trace.h).
 *
 * OBJECT is a kernel.so that was built as for grading. Inputs are filled from a fixed seed; nothing
 * is checked. It prints "done", or why it failed, with status 1.
 */
#include "base/registry.h"
#include "runner/contents.h"
#include "runner/gpu_trace.h"

#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ARRAYS = LAB_IN + LAB_OUT + 1 };

static const uint64_t seed = 20261124;

static void stop(const char *what, const char *why)
{
    fprintf(stderr, "profiled: %s: %s\n", what, why);
    exit(1);
}

static void check(cudaError_t error, const char *what)
{
    if (error != cudaSuccess)
        stop(what, cudaGetErrorString(error));
}

static Array *array_at(Arrays *arrays, int i)
{
    if (i < LAB_IN)
        return &arrays->in[i];
    return i < LAB_IN + LAB_OUT ? &arrays->out[i - LAB_IN] : &arrays->scratch;
}

static void fill(const Array *array, int number, char *to)
{
    const Element type = (Element) array->type;
    const size_t bytes = element_bytes(type);
    const FillKey key = fill_key(seed, number);

    for (size_t i = 0; i < array->rows * array->cols; i++) {
        const uint64_t bits = element_bits(type, array->fill, key, i);
        memcpy(to + i * bytes, &bits, bytes);
    }
}

static void make_array(Array *array, int number)
{
    const size_t bytes = array->rows * array->cols * element_bytes((Element) array->type);
    char *host = calloc(1, bytes + 1);

    if (!host)
        stop("an array", "out of memory");
    if (number < LAB_IN)
        fill(array, number, host);
    check(array->host ? cudaMallocHost(&array->data, bytes) : cudaMalloc(&array->data, bytes),
          "an array");
    check(cudaMemcpy(array->data, host, bytes, cudaMemcpyDefault), "to fill an array");
    free(host);
}

static void (*function_of(const char *path, const char *name))(void)
{
    void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *found = object ? dlsym(object, name) : NULL;
    void (*function)(void);

    if (!found)
        stop(path, dlerror());
    memcpy(&function, &found, sizeof function);
    return function;
}

/* ---- A trace ---- */

/* The library lies next to this program. */
static void *trace_function(const char *name)
{
    static void *library;
    void *found;

    if (!library)
        library = dlopen(GPU_TRACE_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    found = library ? dlsym(library, name) : NULL;
    if (!found)
        stop("--trace", dlerror());
    return found;
}

static void begin_trace(void)
{
    void *found = trace_function("gpu_trace_begin");
    GpuTraceBegin *begin;
    const char *why;

    memcpy(&begin, &found, sizeof begin);
    if ((why = begin()))
        stop("--trace", why);
}

static void end_trace(const char *path)
{
    void *found = trace_function("gpu_trace_end");
    GpuTraceEnd *end;
    const char *why;

    memcpy(&end, &found, sizeof end);
    if ((why = end(path)))
        stop(path, why);
}

int main(int count, char **words)
{
    const char *trace = getenv("WARPBOOK_TRACE");
    const LabEntry *entry = count > 3 ? lab_find(words[1]) : NULL;
    Case lab_case = { .label = "profiled" };
    Arrays arrays = { 0 };
    void (*kernel)(void);

    if (!entry)
        stop("usage", "profiled LAB OBJECT DIM...");
    for (int d = 0; d < LAB_DIMS && 3 + d < count; d++)
        lab_case.dim[d] = atol(words[3 + d]);
    kernel = function_of(words[2], entry->lab->function);
    entry->lab->shape(&lab_case, &arrays);
    for (int i = 0; i < ARRAYS; i++)
        if (array_at(&arrays, i)->rows && array_at(&arrays, i)->cols)
            make_array(array_at(&arrays, i), i);
    check(cudaDeviceSynchronize(), "before the call");
    if (trace)
        begin_trace();
    entry->lab->call(kernel, &lab_case, &arrays);
    check(cudaGetLastError(), "the launch");
    check(cudaDeviceSynchronize(), "the kernel");
    if (trace)
        end_trace(trace);
    puts("done");
    return 0;
}
