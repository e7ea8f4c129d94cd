/* host_function.cu - host functions between kernels, in stream order; threads.
 *
 * expect: ok
 */
#include "check.h"

#include <thread>

static int seen[4], seen_count;

static __global__ void set(int *x, int value)
{
    *x = value;
}

static void note(void *data)
{
    seen[seen_count++] = *(volatile int *) data;
}

static void CUDART_CB callback(cudaStream_t stream, cudaError_t status, void *data)
{
    CHECK(status == cudaSuccess && stream);
    note(data);
}

static void work(int number)
{
    cudaStream_t stream;
    int *x, value = 0;

    OK(cudaStreamCreate(&stream));
    OK(cudaMalloc(&x, sizeof *x));
    for (int i = 0; i < 20; i++) {
        set<<<1, 1, 0, stream>>>(x, number + i);
        OK(cudaMemcpyAsync(&value, x, sizeof value, cudaMemcpyDeviceToHost, stream));
        OK(cudaStreamSynchronize(stream));
        CHECK(value == number + i);
    }
    OK(cudaFree(x));
    OK(cudaStreamDestroy(stream));
}

int main()
{
    cudaStream_t stream;
    int *x;

    OK(cudaStreamCreate(&stream));
    OK(cudaMallocHost(&x, sizeof *x));
    *x = 1;
    OK(cudaLaunchHostFunc(stream, note, x));
    set<<<1, 1, 0, stream>>>(x, 2);
    OK(cudaLaunchHostFunc(stream, note, x));
    set<<<1, 1, 0, stream>>>(x, 3);
    OK(cudaStreamAddCallback(stream, callback, x, 0));
    OK(cudaStreamSynchronize(stream));
    CHECK(seen_count == 3 && seen[0] == 1 && seen[1] == 2 && seen[2] == 3);
    OK(cudaFreeHost(x));

    std::thread a(work, 1000), b(work, 2000);
    work(3000);
    a.join();
    b.join();
    OK(cudaStreamDestroy(stream));
    puts("ok");
}
