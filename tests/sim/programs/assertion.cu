/* assertion.cu - a failed assert ends the kernel: the message names the place and the thread.
 *
 * expect: ok
 * stderr: assertion `x[i] < 40' failed at
 */
#include "check.h"

#include <cassert>

static __global__ void bounded(const int *x, int *y)
{
    int i = threadIdx.x;

    assert(x[i] >= 0);
    assert(x[i] < 40);
    y[i] = x[i];
}

int main()
{
    int host[64], *x, *y;

    for (int i = 0; i < 64; i++)
        host[i] = i;
    OK(cudaMalloc(&x, sizeof host));
    OK(cudaMalloc(&y, sizeof host));
    OK(cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice));
    bounded<<<1, 32>>>(x, y);
    OK(cudaDeviceSynchronize());
    bounded<<<1, 64>>>(x, y);
    EXPECT(cudaErrorAssert, cudaDeviceSynchronize());
    puts("ok");
}
