/* endless.cu - the budget stops endless kernels, with or without a barrier in the loop. */
#include "../programs/check.h"

#include <cstring>

static __global__ void with_barrier(volatile int *x)
{
    while (x[0] != 1) {
        x[1 + threadIdx.x] += 1;
        __syncthreads();
    }
}

static __global__ void without(volatile int *x)
{
    while (x[0] != 1)
        x[1 + threadIdx.x] += 1;
}

int main(int argc, char **argv)
{
    int *x;

    OK(cudaMalloc(&x, 1000));
    OK(cudaMemset(x, 0, 1000));
    if (argc > 1 && !strcmp(argv[1], "barrier"))
        with_barrier<<<2, 64>>>(x);
    else
        without<<<2, 64>>>(x);
    EXPECT(cudaErrorLaunchTimeout, cudaDeviceSynchronize());
    puts("ok");
}
