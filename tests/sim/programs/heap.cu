/* heap.cu - malloc inside a kernel is not simulated, and is reported when it is reached.
 *
 * expect: ok
 * stderr: malloc() inside a kernel is not simulated in list, block (0,0,0), thread (5,0,0)
 */
#include "check.h"

static __global__ void list(int **heads, bool wanted)
{
    if (wanted && threadIdx.x == 5)
        heads[0] = (int *) malloc(16);
}

int main()
{
    int **heads;

    OK(cudaMalloc(&heads, 64));
    list<<<1, 32>>>(heads, false);
    OK(cudaDeviceSynchronize());
    list<<<1, 32>>>(heads, true);
    EXPECT(cudaErrorLaunchFailure, cudaDeviceSynchronize());
    puts("ok");
}
