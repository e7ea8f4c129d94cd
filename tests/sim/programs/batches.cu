/* batches.cu - several copies, and several prefetches, by one call.
 *
 * expect: ok
 * stderr: 4096 bytes of the destination
 */
#include "check.h"

#include <string.h>

#if CUDART_VERSION < 13000
#error "the call of CUDA 12 is in runtime/abi12.c"
#endif

enum { N = 3, BYTES = 256 };

struct Side {
    void *to[N];
    const void *from[N];
    size_t bytes[N];
};

static cudaMemcpyAttributes attributes_of(cudaMemcpySrcAccessOrder order)
{
    cudaMemcpyAttributes attributes = {};

    attributes.srcAccessOrder = order;
    return attributes;
}

static cudaError_t copy(const Side *side, cudaMemcpyAttributes *attributes, size_t *first,
                        size_t groups, cudaStream_t stream)
{
    return cudaMemcpyBatchAsync(side->to, side->from, side->bytes, N, attributes, first, groups,
                                stream);
}

static bool holds(const char *device, char wanted)
{
    char host[BYTES];

    OK(cudaMemcpy(host, device, BYTES, cudaMemcpyDeviceToHost));
    for (int i = 0; i < BYTES; i++)
        if (host[i] != wanted)
            return false;
    return true;
}

// The first source may change after the call; the others are read in the order of the stream.
static void sources(char *device, char *pinned, cudaStream_t stream)
{
    char now[BYTES];
    static char later[BYTES];
    Side in = { { device, device + BYTES, device + 2 * BYTES },
                { now, later, pinned },
                { BYTES, BYTES, BYTES } };
    cudaMemcpyAttributes attributes[] = { attributes_of(cudaMemcpySrcAccessOrderDuringApiCall),
                                          attributes_of(cudaMemcpySrcAccessOrderStream) };
    size_t first[] = { 0, 1 };

    memset(now, 'a', BYTES);
    memset(later, 'b', BYTES);
    memset(pinned, 'c', BYTES);
    OK(copy(&in, attributes, first, 2, stream));
    memset(now, 'x', BYTES);
    OK(cudaStreamSynchronize(stream));
    CHECK(holds(device, 'a') && holds(device + BYTES, 'b') && holds(device + 2 * BYTES, 'c'));
}

// A capture takes no batches, and continues.
static void captured(char *device, char *pinned, cudaStream_t stream)
{
    Side in = { { device, device + BYTES, device + 2 * BYTES },
                { pinned, pinned, pinned },
                { BYTES, BYTES, 0 } };
    cudaMemcpyAttributes attributes = attributes_of(cudaMemcpySrcAccessOrderAny);
    cudaGraph_t graph;
    size_t first = 0, nodes = 1;

    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    EXPECT(cudaErrorStreamCaptureUnsupported, copy(&in, &attributes, &first, 1, stream));
    OK(cudaStreamEndCapture(stream, &graph));
    OK(cudaGraphGetNodes(graph, NULL, &nodes));
    CHECK(nodes == 0);
    OK(cudaGraphDestroy(graph));
}

// After an error, no part is copied.
static void wrong(char *device, char *pinned, cudaStream_t stream)
{
    Side in = { { device, device + BYTES, device + 2 * BYTES },
                { pinned, pinned, pinned },
                { BYTES, BYTES, BYTES } };
    cudaMemcpyAttributes attributes[] = { attributes_of(cudaMemcpySrcAccessOrderStream),
                                          attributes_of(cudaMemcpySrcAccessOrderStream) };
    cudaMemcpyAttributes none = {}, flags = attributes[0];
    size_t good[] = { 0, 1 }, late[] = { 1, 2 }, same[] = { 0, 0 }, far[] = { 0, N };

    memset(pinned, 'e', BYTES);
    flags.flags = 8;
    EXPECT(cudaErrorInvalidValue, copy(&in, attributes, late, 2, stream));
    EXPECT(cudaErrorInvalidValue, copy(&in, attributes, same, 2, stream));
    EXPECT(cudaErrorInvalidValue, copy(&in, attributes, far, 2, stream));
    EXPECT(cudaErrorInvalidValue, copy(&in, attributes, good, 0, stream));
    EXPECT(cudaErrorInvalidValue, copy(&in, attributes, good, N + 1, stream));
    EXPECT(cudaErrorInvalidValue, copy(&in, NULL, good, 1, stream));
    EXPECT(cudaErrorInvalidValue, copy(&in, attributes, NULL, 1, stream));
    EXPECT(cudaErrorInvalidValue, copy(&in, &none, good, 1, stream));
    EXPECT(cudaErrorInvalidValue, copy(&in, &flags, good, 1, stream));
    EXPECT(cudaErrorInvalidValue, copy(&in, attributes, good, 1, 0));
    EXPECT(cudaErrorInvalidValue,
           cudaMemcpyBatchAsync(in.to, in.from, in.bytes, 0, attributes, good, 1, stream));
    EXPECT(cudaErrorInvalidValue,
           cudaMemcpyBatchAsync(NULL, in.from, in.bytes, N, attributes, good, 1, stream));
    in.bytes[2] = 4096; // more than is allocated
    EXPECT(cudaErrorInvalidValue, copy(&in, attributes, good, 1, stream));
    OK(cudaStreamSynchronize(stream));
    CHECK(holds(device, 'a'));
    (void) cudaGetLastError();
}

static int last_place(const void *at)
{
    int place = -99;

    OK(cudaMemRangeGetAttribute(&place, sizeof place, cudaMemRangeAttributeLastPrefetchLocation, at,
                                1));
    return place;
}

static void prefetches(cudaStream_t stream)
{
    char *x;
    cudaMemLocation where[] = { { cudaMemLocationTypeDevice, 0 }, { cudaMemLocationTypeHost, 0 } };
    cudaMemLocation nowhere = { cudaMemLocationTypeDevice, 7 };
    size_t bytes[] = { 4096, 4096, 4096 }, first[] = { 0, 2 }, bad[] = { 1, 2 };

    OK(cudaMallocManaged(&x, 1 << 20));
    void *at[] = { x, x + 8192, x + 16384 };
    EXPECT(cudaErrorInvalidValue,
           cudaMemPrefetchBatchAsync(at, bytes, N, &nowhere, first, 1, 0, stream));
    EXPECT(cudaErrorInvalidValue,
           cudaMemPrefetchBatchAsync(at, bytes, N, where, bad, 2, 0, stream));
    EXPECT(cudaErrorInvalidValue,
           cudaMemPrefetchBatchAsync(at, bytes, N, where, first, 2, 1, stream));
    EXPECT(cudaErrorInvalidValue, cudaMemPrefetchBatchAsync(at, bytes, N, where, first, 2, 0, 0));
    CHECK(last_place(x) == cudaInvalidDeviceId);
    OK(cudaMemPrefetchBatchAsync(at, bytes, N, where, first, 2, 0, stream));
    CHECK(last_place(x) == 0 && last_place(x + 8192) == 0);
    CHECK(last_place(x + 16384) == cudaCpuDeviceId);
    OK(cudaStreamSynchronize(stream));
    (void) cudaGetLastError();
    OK(cudaFree(x));
}

int main()
{
    char *device, *pinned;
    cudaStream_t stream;

    OK(cudaStreamCreate(&stream));
    OK(cudaMalloc(&device, N * BYTES));
    OK(cudaMallocHost(&pinned, 4096));
    sources(device, pinned, stream);
    captured(device, pinned, stream);
    wrong(device, pinned, stream);
    prefetches(stream);
    OK(cudaStreamDestroy(stream));
    OK(cudaFree(device));
    OK(cudaFreeHost(pinned));
    puts("ok");
}
