/* grids.cu - grids and blocks of absurd sizes return errors or run until the budget is used up. */
#include "../programs/check.h"

static __device__ int blocks;

static __global__ void nothing(int stop)
{
    if (stop)
        atomicAdd(&blocks, 1);
}

static cudaError_t launch(dim3 grid, dim3 block, size_t shared)
{
    nothing<<<grid, block, shared>>>(0);
    return cudaGetLastError();
}

int main()
{
    const unsigned most = ~0u;

    EXPECT(cudaErrorInvalidValue, launch(most, 1, 0));
    EXPECT(cudaErrorInvalidValue, launch(1u << 31, 1, 0));
    EXPECT(cudaErrorInvalidValue, launch(dim3(1, most, 1), 1, 0));
    EXPECT(cudaErrorInvalidValue, launch(dim3(1, 1, 65536), 1, 0));
    EXPECT(cudaErrorInvalidValue, launch(dim3(most, most, most), dim3(most, most, most), 0));
    EXPECT(cudaErrorInvalidValue, launch(1, dim3(65536, 65536, 1), 0)); /* 2^32 overflows to 0 */
    EXPECT(cudaErrorInvalidValue, launch(1, dim3(1u << 31, 2, 1), 0));
    EXPECT(cudaErrorInvalidValue, launch(1, dim3(0, 1, 1), 0));
    EXPECT(cudaErrorInvalidValue, launch(1, 1, ~(size_t) 0));
    EXPECT(cudaErrorInvalidValue, launch(1, 1, (size_t) 1 << 32));
    OK(cudaDeviceSynchronize());

    /* 2^31 - 1 blocks of 65535 x 65535 rows: the budget ends it */
    OK(launch(dim3(2147483647, 65535, 65535), 32, 0));
    EXPECT(cudaErrorLaunchTimeout, cudaDeviceSynchronize());
    puts("ok");
}
