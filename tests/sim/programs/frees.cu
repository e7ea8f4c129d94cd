/* A free that is refused frees nothing: pinned memory, a variable, a pointer into an array, memory
 * during a capture. A second cudaFreeAsync() of the same memory is refused, too. Allocating and
 * freeing in a stream, without ever waiting, does not run out of memory.
 *
 * expect: ok
 * stderr-any: yes
 */
#include "check.h"

__device__ int variable = 7;

__global__ void add_one(int *a)
{
    a[threadIdx.x]++;
}

__global__ void read_variable(int *out)
{
    *out = variable;
}

static void pinned()
{
    int *a;

    OK(cudaMallocHost(&a, 32 * sizeof *a));
    for (int i = 0; i < 32; i++)
        a[i] = i;
    EXPECT(cudaErrorInvalidValue, cudaFree(a));
    add_one<<<1, 32>>>(a);
    OK(cudaDeviceSynchronize());
    CHECK(a[31] == 32);
    OK(cudaFreeHost(a));
}

static void symbol()
{
    int *out, copied = 0;
    void *address;

    OK(cudaMalloc(&out, 2 * sizeof *out));
    OK(cudaGetSymbolAddress(&address, variable));
    EXPECT(cudaErrorInvalidValue, cudaFree(address));
    EXPECT(cudaErrorInvalidValue, cudaFreeAsync(address, 0));
    EXPECT(cudaErrorInvalidValue, cudaFree(out + 1));
    read_variable<<<1, 1>>>(out);
    OK(cudaMemcpy(&copied, out, sizeof copied, cudaMemcpyDeviceToHost));
    CHECK(copied == 7);
    OK(cudaFree(out));
}

static void captured()
{
    int *out, copied = 0;
    cudaStream_t stream;
    cudaGraph_t graph;

    OK(cudaStreamCreate(&stream));
    OK(cudaMalloc(&out, sizeof *out));
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    EXPECT(cudaErrorStreamCaptureUnsupported, cudaFree(out));
    EXPECT(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(stream, &graph));
    read_variable<<<1, 1>>>(out);
    OK(cudaMemcpy(&copied, out, sizeof copied, cudaMemcpyDeviceToHost));
    CHECK(copied == 7);
    OK(cudaFree(out));
    OK(cudaStreamDestroy(stream));
}

static void twice()
{
    cudaStream_t stream;
    int *a;

    OK(cudaStreamCreate(&stream));
    OK(cudaMallocAsync(&a, 64, stream));
    OK(cudaFreeAsync(a, stream));
    EXPECT(cudaErrorInvalidValue, cudaFreeAsync(a, stream));
    OK(cudaStreamSynchronize(stream));
    EXPECT(cudaErrorInvalidValue, cudaFreeAsync(a, stream));
    OK(cudaStreamDestroy(stream));
}

static void loop()
{
    size_t available, total;

    OK(cudaMemGetInfo(&available, &total));
    for (int i = 0; i < 10; i++) {
        char *a;
        OK(cudaMallocAsync(&a, total / 3, 0));
        OK(cudaMemsetAsync(a, i, 100, 0));
        OK(cudaFreeAsync(a, 0));
    }
    OK(cudaDeviceSynchronize());
}

int main()
{
    pinned();
    symbol();
    captured();
    twice();
    loop();
    printf("ok\n");
}
