/* lab_driver.c - calls kernels of the labs, each on one small case, so that a GPU's profiler or the
 * simulated GPU can count them.
 *
 *     lab_driver LABEL LAB OBJECT DIM...    one call
 *     lab_driver --batch FILE               one call per line of the file, with the same words
 *
 * OBJECT is a kernel.so built like the grader's. Its function is called as in runner/main.c: by the
 * lab's `call`, on arrays filled from a fixed seed, with garbage values in outputs and scratch, and
 * with room around each array, so that accesses out of bounds do no harm. Before each call the
 * driver launches a kernel "marker" whose grid has the line number, from 1, as its x, so that a
 * profiler's rows can be assigned to calls. Each successful call prints "launch LABEL OUTPUT",
 * where OUTPUT is a hash of the outputs; the last line is "done N".
 */
#include "counted_hash.h"

#include "base/registry.h"

#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ARRAYS = LAB_IN + LAB_OUT + 1, WORDS = 3 + LAB_DIMS, LINE = 4096, MARGIN = 1 << 16 };
enum { POISON = 0xa5 };

static const uint64_t seed = 20261121;

void marker_launch(unsigned number); /* marker.cu */

static void stop(const char *what, const char *why)
{
    fprintf(stderr, "lab_driver: %s: %s\n", what, why);
    fflush(stdout);
    exit(1);
}

static void check(cudaError_t error, const char *what)
{
    if (error != cudaSuccess)
        stop(what, cudaGetErrorString(error));
}

/* ---- Arrays ---- */

static Array *array_at(Arrays *arrays, int i)
{
    if (i < LAB_IN)
        return &arrays->in[i];
    return i < LAB_IN + LAB_OUT ? &arrays->out[i - LAB_IN] : &arrays->scratch;
}

static size_t bytes_of(const Array *array)
{
    static const size_t bytes[] = { [F32] = 4, [F64] = 8, [I32] = 4, [U32] = 4, [U8] = 1 };

    return array->rows * array->cols * bytes[array->type];
}

static void put_element(const Array *array, FillKey key, size_t i, void *data)
{
    if (array->type == F32)
        ((float *) data)[i] = fill_f32(array->fill, key, i);
    else if (array->type == F64)
        ((double *) data)[i] = (double) fill_f32(array->fill, key, i);
    else if (array->type == U8)
        ((uint8_t *) data)[i] = (uint8_t) fill_i32(array->fill, key, i);
    else
        ((int32_t *) data)[i] = fill_i32(array->fill, key, i);
}

/* Allocates an array and fills inputs; all other bytes are poisoned. */
static void make_array(Array *array, int number)
{
    size_t bytes = bytes_of(array), count = array->rows * array->cols;
    char *host = malloc(bytes + 2 * MARGIN), *there;

    if (!host)
        stop("malloc", "out of memory");
    memset(host, POISON, bytes + 2 * MARGIN);
    for (size_t i = 0; number < LAB_IN && i < count; i++)
        put_element(array, fill_key(seed, number), i, host + MARGIN);
    if (array->host)
        check(cudaMallocHost((void **) &there, bytes + 2 * MARGIN), "cudaMallocHost");
    else
        check(cudaMalloc((void **) &there, bytes + 2 * MARGIN), "cudaMalloc");
    check(cudaMemcpy(there, host, bytes + 2 * MARGIN, cudaMemcpyDefault), "cudaMemcpy");
    array->data = there + MARGIN;
    free(host);
}

static uint32_t hash_array(const Array *array, uint32_t value)
{
    size_t bytes = bytes_of(array);
    unsigned char *host = malloc(bytes + 1);

    if (!host)
        stop("malloc", "out of memory");
    check(cudaMemcpy(host, array->data, bytes, cudaMemcpyDefault), "cudaMemcpy");
    for (size_t i = 0; i < bytes; i++)
        value = (value ^ host[i]) * 16777619u;
    free(host);
    return value;
}

static void free_array(const Array *array)
{
    char *block = (char *) array->data - MARGIN;

    check(array->host ? cudaFreeHost(block) : cudaFree(block), "to free an array");
}

/* ---- One case ---- */

static void make_arrays(Arrays *arrays, const Lab *lab, const Case *lab_case)
{
    lab->shape(lab_case, arrays);
    for (int i = 0; i < ARRAYS; i++)
        if (bytes_of(array_at(arrays, i)))
            make_array(array_at(arrays, i), i);
}

static uint32_t finish(Arrays *arrays)
{
    uint32_t value = 2166136261u;

    for (int i = LAB_IN; i < LAB_IN + LAB_OUT; i++)
        if (array_at(arrays, i)->data)
            value = hash_array(array_at(arrays, i), value);
    for (int i = 0; i < ARRAYS; i++)
        if (array_at(arrays, i)->data)
            free_array(array_at(arrays, i));
    return value;
}

static void *function_of(const char *path, const char *function)
{
    void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *found = object ? dlsym(object, function) : NULL;

    if (!found)
        stop(path, dlerror());
    return found;
}

static void run(char **words, int count, unsigned number)
{
    const LabEntry *entry = count > 3 ? lab_find(words[1]) : NULL;
    Case lab_case = { .label = "counters" };
    Arrays arrays = { 0 };
    void (*kernel)(void);

    if (!entry)
        stop(count > 1 ? words[1] : "a line", "expected a label, a lab, an object and dimensions");
    for (int d = 0; d < LAB_DIMS && 3 + d < count; d++)
        lab_case.dim[d] = atol(words[3 + d]);
    *(void **) &kernel = function_of(words[2], entry->lab->function);
    make_arrays(&arrays, entry->lab, &lab_case);
    marker_launch(number);
    check(cudaDeviceSynchronize(), "marker");
    entry->lab->call(kernel, &lab_case, &arrays);
    check(cudaGetLastError(), words[0]);
    check(cudaDeviceSynchronize(), words[0]);
    printf("launch %s %08x\n", words[0], finish(&arrays));
    fflush(stdout);
}

static unsigned run_batch(const char *path)
{
    char line[LINE];
    unsigned number = 0;
    FILE *file = fopen(path, "r");

    if (!file)
        stop(path, "cannot be read");
    while (fgets(line, sizeof line, file)) {
        char *words[WORDS], *rest = line;
        int count = 0;
        for (char *word; count < WORDS && (word = strsep(&rest, " \n"));)
            if (*word)
                words[count++] = word;
        run(words, count, ++number);
    }
    fclose(file);
    return number;
}

int main(int count, char **words)
{
    unsigned done = 1;

    if (count == 3 && !strcmp(words[1], "--batch"))
        done = run_batch(words[2]);
    else
        run(words + 1, count - 1, 1);
    printf("done %u\n", done);
    return 0;
}
