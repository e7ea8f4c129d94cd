// expect: build - crashes the assembler, so that the grader blames the machine
// lab: ilp_tlp
// The grader's test of the compiler once included kernel.h and failed, too. Defence: now it
// includes nothing.
#include "cudalab.cuh"
#include "kernel.h"

static __device__ __forceinline__ float now(float x)
{
    float y;

    asm volatile(
        "{\n\t.param .b32 passed;\n\tst.param.f32 [passed], %1;\n\tld.param.f32 %0, [passed];\n\t}"
        : "=f"(y)
        : "f"(x));
    return y;
}

__global__ void advance_kernel(float *x1, float *v1, const float *x0, const float *v0, float dt,
                               int n, int steps)
{
    int stride = gridDim.x * BLOCK;
    int i = blockIdx.x * BLOCK + threadIdx.x;

    for (; i < n; i += stride) {
        float x = x0[i], v = v0[i];
        for (int s = 0; s < steps; s++) {
            float square = now(x * x), force = now(fmaf(0.3f * x, square, x));
            v = now(fmaf(-dt, force, v));
            x = now(fmaf(dt, v, x));
        }
        x1[i] = x;
        v1[i] = v;
    }
}
