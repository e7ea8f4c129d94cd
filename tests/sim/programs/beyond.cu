/* beyond.cu - an instruction that is not simulated is reported when it is reached, not before.
 *
 * expect: ok
 * stderr: this instruction with these operands in reflect, block (0,0,0)
 */
#include "check.h"

static __global__ void reflect(float *y, cudaTextureObject_t cubemap, bool wanted)
{
    if (wanted)
        y[threadIdx.x] = texCubemap<float>(cubemap, 1, 0, 0);
}

int main()
{
    float *y;

    OK(cudaMalloc(&y, 128));
    reflect<<<1, 32>>>(y, 0, false);
    OK(cudaDeviceSynchronize());
    reflect<<<1, 32>>>(y, 0, true);
    EXPECT(cudaErrorIllegalInstruction, cudaDeviceSynchronize());
    puts("ok");
}
