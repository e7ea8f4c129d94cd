/* beyond.cu - an instruction that is not simulated is reported when it is reached, not before;
 * textures of kinds that are not simulated are refused.
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

static void check_refused(float *y)
{
    cudaResourceDesc resource = {};
    cudaTextureDesc how = {};
    cudaResourceViewDesc view = {};
    cudaTextureObject_t texture;

    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = y;
    resource.res.linear.desc = cudaCreateChannelDesc<float>();
    resource.res.linear.sizeInBytes = 128;
    EXPECT(cudaErrorNotSupported, cudaCreateTextureObject(&texture, &resource, &how, &view));
    how.sRGB = 1;
    EXPECT(cudaErrorNotSupported, cudaCreateTextureObject(&texture, &resource, &how, NULL));
}

int main()
{
    float *y;

    OK(cudaMalloc(&y, 128));
    check_refused(y);
    reflect<<<1, 32>>>(y, 0, false);
    OK(cudaDeviceSynchronize());
    reflect<<<1, 32>>>(y, 0, true);
    EXPECT(cudaErrorIllegalInstruction, cudaDeviceSynchronize());
    puts("ok");
}
