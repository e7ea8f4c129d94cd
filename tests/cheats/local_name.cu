// expect: build - a local symbol with the name of a CUDA function changes the given launch
// lab: ilp_tlp
// Defence: CUDA's names are also refused for local symbols.
#include "cudalab.cuh"
#include "kernel.h"

__global__ void advance_kernel(float *x1, float *v1, const float *x0, const float *v0, float dt,
                               int n, int steps)
{
    int stride = gridDim.x * BLOCK;
    int i = blockIdx.x * BLOCK + threadIdx.x;

    for (; i < n; i += stride) {
        float x = x0[i], v = v0[i];
        for (int s = 0; s < steps; s++) {
            v -= dt * (x + 0.3f * (x * x) * x);
            x += dt * v;
        }
        x1[i] = x;
        v1[i] = v;
    }
}

#ifndef __CUDA_ARCH__
// As many blocks as fit at once (16 of 128 threads per SM), from a call that is not replaced.
static cudaError_t more_sms(int *value, int what, int device) asm("cudaDeviceGetAttribute");
static __attribute__((used, noinline)) cudaError_t more_sms(int *value, int what, int device)
{
    (void) what;
    (void) device;
    *value = 16 * 132;
    return cudaSuccess;
}
#endif
