/* abi12.c - a handwritten program like those that nvcc 12 makes: it registers its fat binary,
 * launches through cudaLaunchKernel, and uses functions and structures that have another name or
 * layout in CUDA 12 than in 13. It is linked with libcudart.so.12 and needs no header of the
 * toolkit.
 */
#include "sim/sim_images.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct Dim3 {
    unsigned x, y, z;
} Dim3;

typedef struct Location {
    int type, id;
} Location;

extern void **__cudaRegisterFatBinary(void *wrapper);
extern void __cudaRegisterFatBinaryEnd(void **handle);
extern void __cudaUnregisterFatBinary(void **handle);
extern void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name,
                                   int threads, void *tid, void *bid, void *block, void *grid,
                                   int *warp);
extern unsigned __cudaPushCallConfiguration(Dim3 grid, Dim3 block, size_t shared, void *stream);
extern int __cudaPopCallConfiguration(Dim3 *grid, Dim3 *block, size_t *shared, void *stream);
extern int cudaLaunchKernel(const void *kernel, Dim3 grid, Dim3 block, void **arguments,
                            size_t shared, void *stream);
extern int cudaMallocManaged(void **pointer, size_t bytes, unsigned flags);
extern int cudaFree(void *pointer);
extern int cudaMemPrefetchAsync(const void *pointer, size_t bytes, int device, void *stream);
extern int cudaMemAdvise(const void *pointer, size_t bytes, int advice, int device);
extern int cudaMemPrefetchAsync_v2(const void *pointer, size_t bytes, Location where,
                                   unsigned flags, void *stream);
extern int cudaMemAdvise_v2(const void *pointer, size_t bytes, int advice, Location where);
extern int cudaMemRangeGetAttribute(void *data, size_t bytes, int attribute, const void *pointer,
                                    size_t range_bytes);
extern int cudaGraphCreate(void **graph, unsigned flags);
extern int cudaGraphDestroy(void *graph);
extern int cudaGraphAddEmptyNode(void **node, void *graph, void *const *before, size_t count);
extern int cudaGraphAddDependencies(void *graph, void *const *from, void *const *to, size_t count);
extern int cudaGraphAddDependencies_v2(void *graph, void *const *from, void *const *to,
                                       const void *data, size_t count);
extern int cudaGraphGetEdges(void *graph, void **from, void **to, size_t *count);
extern int cudaGraphNodeGetDependencies_v2(void *node, void **all, void *data, size_t *count);
extern int cudaStreamCreate(void **stream);
extern int cudaStreamDestroy(void *stream);
extern int cudaStreamBeginCapture(void *stream, int mode);
extern int cudaStreamGetCaptureInfo_v3(void *stream, int *status, unsigned long long *id,
                                       void **graph, void *const **nodes, const void **data,
                                       size_t *count);
extern int cudaStreamUpdateCaptureDependencies(void *stream, void **nodes, size_t count,
                                               unsigned flags);
extern int cudaStreamUpdateCaptureDependencies_v2(void *stream, void **nodes, const void *data,
                                                  size_t count, unsigned flags);
extern int cudaStreamEndCapture(void *stream, void **graph);
extern int cudaThreadSetLimit(int limit, size_t value);
extern int cudaThreadGetLimit(size_t *value, int limit);
extern int cudaThreadSetCacheConfig(int config);
extern int cudaThreadGetCacheConfig(int *config);
extern int cudaMallocHost(void **pointer, size_t bytes);
extern int cudaFreeHost(void *pointer);
extern int cudaStreamSynchronize(void *stream);
extern int cudaMemcpyBatchAsync(void **to, void **from, size_t *bytes, size_t count,
                                void *attributes, size_t *first, size_t groups, size_t *failed,
                                void *stream);
extern int cudaGetDeviceProperties_v2(void *properties, int device);
extern int cudaRuntimeGetVersion(int *version);
extern int cudaThreadSynchronize(void);

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            printf("%s:%d: %s\n", __FILE__, __LINE__, #condition);                                 \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

/* ---- Device code ---- */

static const char ptx[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry triple(.param .u64 x, .param .u32 n)\n{\n"
    ".reg .pred %p<2>;\n.reg .b32 %r<8>;\n.reg .b64 %rd<4>;\n"
    "ld.param.u64 %rd1, [x];\nld.param.u32 %r1, [n];\n"
    "mov.u32 %r2, %tid.x;\nmov.u32 %r3, %ctaid.x;\nmov.u32 %r4, %ntid.x;\n"
    "mad.lo.s32 %r5, %r3, %r4, %r2;\nsetp.ge.s32 %p1, %r5, %r1;\n@%p1 bra END;\n"
    "mul.wide.s32 %rd2, %r5, 4;\nadd.s64 %rd3, %rd1, %rd2;\nld.global.u32 %r6, [%rd3];\n"
    "mul.lo.s32 %r7, %r6, 3;\nst.global.u32 [%rd3], %r7;\nEND:\nret;\n}\n";

static struct {
    int magic, version;
    const void *data;
    void *more;
} wrapper = { 0x466243B1, 1, NULL, NULL };

static Image image;
static void **handle;

/* The stub that the host calls, as nvcc 12 writes it. */
static void triple(int *x, int n)
{
    void *arguments[] = { &x, &n }, *stream;
    Dim3 grid, block;
    size_t shared;

    CHECK(!__cudaPopCallConfiguration(&grid, &block, &shared, &stream));
    CHECK(!cudaLaunchKernel((const void *) triple, grid, block, arguments, shared, stream));
}

__attribute__((constructor)) static void enroll(void)
{
    fatbin_begin(&image);
    fatbin_add(&image, IMAGE_PTX, 80, 0, ptx, sizeof ptx - 1, 0);
    wrapper.data = image.bytes;
    handle = __cudaRegisterFatBinary(&wrapper);
    __cudaRegisterFunction(handle, (const char *) triple, "triple", "triple", -1, 0, 0, 0, 0, 0);
    __cudaRegisterFatBinaryEnd(handle);
}

__attribute__((destructor)) static void leave(void)
{
    __cudaUnregisterFatBinary(handle);
}

/* ---- Host code ---- */

static int number_at(const unsigned char *properties, size_t offset)
{
    int number;

    memcpy(&number, properties + offset, sizeof number);
    return number;
}

/* The older calls take a device, the newer ones a location. */
static void hints(const int *x, size_t bytes)
{
    enum { PREFERRED = 2, BY = 3, LAST = 4, SET_PREFERRED = 3, SET_BY = 5, HOST = 2, CPU = -1 };
    int where = -9;

    CHECK(!cudaMemAdvise(x, bytes, SET_PREFERRED, 0) && !cudaMemAdvise(x, bytes, SET_BY, CPU));
    CHECK(!cudaMemRangeGetAttribute(&where, sizeof where, PREFERRED, x, bytes) && where == 0);
    CHECK(!cudaMemRangeGetAttribute(&where, sizeof where, BY, x, bytes) && where == CPU);
    CHECK(!cudaMemAdvise_v2(x, bytes, SET_PREFERRED, (Location){ HOST, 0 }));
    CHECK(!cudaMemRangeGetAttribute(&where, sizeof where, PREFERRED, x, bytes) && where == CPU);
    CHECK(!cudaMemPrefetchAsync(x, bytes, 0, NULL));
    CHECK(!cudaMemRangeGetAttribute(&where, sizeof where, LAST, x, bytes) && where == 0);
    CHECK(!cudaMemPrefetchAsync_v2(x, bytes, (Location){ HOST, 0 }, 0, NULL));
    CHECK(!cudaMemRangeGetAttribute(&where, sizeof where, LAST, x, bytes) && where == CPU);
}

/* Edges without data, and with it by the names that end in _v2. */
static void edges(void)
{
    unsigned char plain[8] = { 0 }, found[8] = { 1 };
    void *graph, *nodes[3], *from[2], *to[2];
    size_t count = 2;

    CHECK(!cudaGraphCreate(&graph, 0));
    for (int i = 0; i < 3; i++)
        CHECK(!cudaGraphAddEmptyNode(&nodes[i], graph, NULL, 0));
    CHECK(!cudaGraphAddDependencies(graph, &nodes[0], &nodes[1], 1));
    CHECK(!cudaGraphAddDependencies_v2(graph, &nodes[1], &nodes[2], plain, 1));
    CHECK(!cudaGraphGetEdges(graph, from, to, &count) && count == 2);
    CHECK(from[0] == nodes[0] && to[1] == nodes[2]);
    count = 1;
    CHECK(!cudaGraphNodeGetDependencies_v2(nodes[2], from, found, &count) && count == 1);
    CHECK(from[0] == nodes[1] && !found[0]);
    CHECK(!cudaGraphDestroy(graph));
}

static size_t captured(void *stream, void **graph)
{
    void *const *nodes;
    const void *data;
    size_t count = 99;
    int status;

    CHECK(!cudaStreamGetCaptureInfo_v3(stream, &status, NULL, graph, &nodes, &data, &count));
    return count;
}

static void captures(void)
{
    enum { SET = 1, RELAXED = 2, ILLEGAL_STATE = 401 };
    void *stream, *graph, *node;

    CHECK(!cudaStreamCreate(&stream));
    CHECK(cudaStreamUpdateCaptureDependencies(stream, NULL, 0, SET) == ILLEGAL_STATE);
    CHECK(!cudaStreamBeginCapture(stream, RELAXED) && captured(stream, &graph) == 0);
    CHECK(!cudaGraphAddEmptyNode(&node, graph, NULL, 0));
    CHECK(!cudaStreamUpdateCaptureDependencies(stream, &node, 1, SET));
    CHECK(captured(stream, &graph) == 1);
    CHECK(!cudaStreamUpdateCaptureDependencies_v2(stream, NULL, NULL, 0, SET));
    CHECK(captured(stream, &graph) == 0);
    CHECK(!cudaStreamEndCapture(stream, &graph));
    CHECK(!cudaGraphDestroy(graph) && !cudaStreamDestroy(stream));
}

static void limits(void)
{
    enum { PRINTF_FIFO = 1 };
    size_t bytes = 0;
    int config = -9;

    CHECK(!cudaThreadSetLimit(PRINTF_FIFO, 1 << 20) && !cudaThreadGetLimit(&bytes, PRINTF_FIFO));
    CHECK(bytes == 1 << 20);
    CHECK(!cudaThreadSetCacheConfig(2) && !cudaThreadGetCacheConfig(&config) && config == 0);
    CHECK(cudaThreadGetLimit(&bytes, 99) && cudaThreadGetCacheConfig(NULL));
}

/* The index of an invalid copy, which CUDA 13 does not return, is in front of the stream. */
static void batches(int *x)
{
    struct {
        int order, locations[4];
        unsigned flags;
    } attributes = { .order = 1 };
    void *stream, *pinned, *to[] = { x, x + 1 }, *from[2];
    size_t bytes[] = { sizeof *x, sizeof *x }, first = 0, failed = 99;

    CHECK(!cudaStreamCreate(&stream) && !cudaMallocHost(&pinned, 2 * sizeof *x));
    from[0] = pinned;
    from[1] = (int *) pinned + 1;
    memcpy(pinned, (int[]){ 41, 42 }, 2 * sizeof *x);
    CHECK(!cudaMemcpyBatchAsync(to, from, bytes, 2, &attributes, &first, 1, &failed, stream));
    CHECK(failed == (size_t) -1);
    CHECK(!cudaStreamSynchronize(stream) && x[0] == 41 && x[1] == 42);
    attributes.order = 0;
    CHECK(cudaMemcpyBatchAsync(to, from, bytes, 2, &attributes, &first, 1, &failed, stream));
    CHECK(failed == 0);
    CHECK(!cudaFreeHost(pinned) && !cudaStreamDestroy(stream));
}

int main(void)
{
    enum { COUNT = 1000, NAME = 0, WARP_SIZE = 308, MAJOR = 360, SIZE = 1032 };
    static unsigned char properties[SIZE + 64];
    int *x, version;

    CHECK(!cudaRuntimeGetVersion(&version) && version / 1000 == 12);
    memset(properties, 0xee, sizeof properties);
    CHECK(!cudaGetDeviceProperties_v2(properties, 0));
    CHECK(!strcmp((char *) properties + NAME, "simulated Teaching GPU"));
    CHECK(number_at(properties, WARP_SIZE) == 32 && number_at(properties, MAJOR) == 8);
    CHECK(properties[SIZE] == 0xee && properties[SIZE - 1] != 0xee);

    CHECK(!cudaMallocManaged((void **) &x, COUNT * sizeof *x, 1));
    hints(x, COUNT * sizeof *x);
    limits();
    batches(x);
    edges();
    captures();
    for (int i = 0; i < COUNT; i++)
        x[i] = i;
    if (!__cudaPushCallConfiguration((Dim3){ 4, 1, 1 }, (Dim3){ 256, 1, 1 }, 0, NULL))
        triple(x, COUNT);
    CHECK(!cudaThreadSynchronize());
    for (int i = 0; i < COUNT; i++)
        CHECK(x[i] == 3 * i);
    CHECK(!cudaFree(x));
    puts("ok");
    return 0;
}
