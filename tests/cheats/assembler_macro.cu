// expect: slow - an assembler macro called `call` reports 2112 SMs to the launch
// lab: ilp_tlp
// Defence: the launch is compiled separately, from launch.cpp, so nothing in kernel.cu affects it.
#include "cudalab.cuh"
#include "kernel.h"

#ifndef __CUDA_ARCH__
asm(".macro call target:vararg\n"
    ".ifc \\target,cudaDeviceGetAttribute@PLT\n"
    "  movl $2112, (%rdi)\n"
    "  xorl %eax, %eax\n"
    ".else\n"
    ".ifc \\target,cudaDeviceGetAttribute\n"
    "  movl $2112, (%rdi)\n"
    "  xorl %eax, %eax\n"
    ".else\n"
    "  bnd call \\target\n"
    ".endif\n"
    ".endif\n"
    ".endm\n");
#endif

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
