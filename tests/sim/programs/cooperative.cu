/* cooperative.cu - all blocks of a grid wait for each other.
 *
 * expect: ok
 * stderr: 8 SMs with 32 blocks each hold only 256
 */
#include "check.h"

#include <cooperative_groups.h>

static __global__ void neighbours(int *x, int *y, int rounds)
{
    cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    const int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;

    for (int round = 0; round < rounds; round++) {
        y[i] = x[(i + 1) % n] + 1;
        grid.sync();
        x[i] = y[(i + n - 1) % n];
        grid.sync();
    }
}

int main()
{
    enum { BLOCKS = 6, THREADS = 64, COUNT = BLOCKS * THREADS };
    static int out[COUNT];
    int *x, *y, rounds = 5, fits, sms;
    void *arguments[] = { &x, &y, &rounds };

    OK(cudaMalloc(&x, sizeof out));
    OK(cudaMalloc(&y, sizeof out));
    OK(cudaMemset(x, 0, sizeof out));
    OK(cudaLaunchCooperativeKernel((void *) neighbours, dim3(BLOCKS), dim3(THREADS), arguments, 0,
                                   0));
    OK(cudaMemcpy(out, x, sizeof out, cudaMemcpyDeviceToHost));
    for (int i = 0; i < COUNT; i++)
        CHECK(out[i] == rounds);

    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fits, neighbours, THREADS, 0));
    OK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    EXPECT(cudaErrorCooperativeLaunchTooLarge,
           cudaLaunchCooperativeKernel((void *) neighbours, dim3(fits * sms + 1), dim3(THREADS),
                                       arguments, 0, 0));
    OK(cudaFree(x));
    OK(cudaFree(y));
    puts("ok");
}
