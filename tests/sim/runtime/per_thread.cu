/* per_thread.cu - built with --default-stream per-thread: each thread has its own stream 0. It
 * waits for the legacy stream, as other streams do, but threads do not wait for each other.
 *
 * nvcc: --default-stream per-thread
 */
#include "../programs/check.h"

#include <thread>

static __global__ void add(int *x, int value)
{
    *x = *x * 10 + value;
}

static int read(const int *x)
{
    int value;

    OK(cudaMemcpy(&value, x, sizeof value, cudaMemcpyDeviceToHost));
    return value;
}

static void of_another_thread(int *mine, int *others)
{
    add<<<1, 1>>>(mine, 7);
    OK(cudaStreamSynchronize(0));
    CHECK(read(mine) == 7);
    /* on a GPU this work may or may not have run; here it has not, since no call has waited for it
     */
    CHECK(read(others) == 0);
}

int main()
{
    int *x, *y;
    unsigned long long legacy, own;

    OK(cudaMalloc(&x, sizeof *x));
    OK(cudaMalloc(&y, sizeof *y));
    OK(cudaMemset(x, 0, sizeof *x));
    OK(cudaMemset(y, 0, sizeof *y));
    OK(cudaDeviceSynchronize());
    OK(cudaStreamGetId(cudaStreamLegacy, &legacy));
    OK(cudaStreamGetId(0, &own));
    CHECK(legacy != own);

    add<<<1, 1>>>(x, 1);
    std::thread(of_another_thread, y, x).join();
    CHECK(read(x) == 1);

    /* the legacy stream and the per-thread stream wait for each other */
    add<<<1, 1>>>(x, 2);
    add<<<1, 1, 0, cudaStreamLegacy>>>(x, 3);
    add<<<1, 1, 0, cudaStreamPerThread>>>(x, 4);
    CHECK(read(x) == 1234);
    OK(cudaFree(x));
    OK(cudaFree(y));
    puts("ok");
}
