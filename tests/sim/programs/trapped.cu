/* trapped.cu - __trap() in one lane ends the kernel.
 *
 * expect: ok
 * stderr: in stop, block (1,0,0), thread (3,0,0)
 */
#include "check.h"

static __global__ void stop(int at)
{
    if (blockIdx.x == 1 && threadIdx.x == at)
        __trap();
}

int main()
{
    stop<<<4, 32>>>(100);
    OK(cudaDeviceSynchronize());
    stop<<<4, 32>>>(3);
    EXPECT(cudaErrorLaunchFailure, cudaDeviceSynchronize());
    puts("ok");
}
