/* launch_errors.cu - invalid launches, and the error of each.
 *
 * expect: ok
 * stderr: launch: a grid of (0,1,1) has no blocks
 */
#include "check.h"

static __global__ void plain(int *x)
{
    if (x)
        *x = 1;
}

static __global__ void __launch_bounds__(128) bounded(int *x)
{
    if (x)
        *x = 1;
}

static __global__ void with_shared(int *x)
{
    __shared__ int fixed[1024];
    extern __shared__ int more[];

    fixed[threadIdx.x] = more[threadIdx.x] = threadIdx.x;
    __syncthreads();
    if (x)
        *x = fixed[0] + more[blockDim.x - 1 - threadIdx.x];
}

static cudaError_t last(void)
{
    cudaError_t launched = cudaGetLastError();

    OK(cudaGetLastError()); /* it was returned once and reset */
    OK(cudaDeviceSynchronize());
    return launched;
}

int main()
{
    int *none = NULL, not_a_kernel;
    void *arguments[] = { &none };

    plain<<<0, 32>>>(none);
    EXPECT(cudaErrorInvalidValue, last());
    plain<<<1, 0>>>(none);
    EXPECT(cudaErrorInvalidValue, last());
    plain<<<dim3(1, 65536), 32>>>(none);
    EXPECT(cudaErrorInvalidValue, last());
    plain<<<1, 1025>>>(none);
    EXPECT(cudaErrorInvalidValue, last());
    plain<<<1, dim3(1, 1, 65)>>>(none);
    EXPECT(cudaErrorInvalidValue, last());
    plain<<<1, 1024>>>(none);
    OK(last());

    bounded<<<1, 128>>>(none);
    OK(last());
    bounded<<<1, 129>>>(none);
    EXPECT(cudaErrorInvalidValue, last());

    with_shared<<<1, 32, 44 * 1024>>>(none);
    OK(last());
    with_shared<<<1, 32, 44 * 1024 + 1>>>(none);
    EXPECT(cudaErrorInvalidValue, last());
    OK(cudaFuncSetAttribute(with_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 60 * 1024));
    with_shared<<<1, 32, 60 * 1024>>>(none);
    OK(last());
    EXPECT(cudaErrorInvalidValue,
           cudaFuncSetAttribute(with_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 20));
    EXPECT(cudaErrorInvalidValue, cudaGetLastError());

    EXPECT(cudaErrorInvalidResourceHandle,
           cudaLaunchKernel(&not_a_kernel, dim3(1), dim3(1), arguments, 0, 0));
    EXPECT(cudaErrorInvalidResourceHandle, last());
    OK(cudaLaunchKernel((const void *) plain, dim3(1), dim3(1), arguments, 0, 0));
    OK(last());
    puts("ok");
}
