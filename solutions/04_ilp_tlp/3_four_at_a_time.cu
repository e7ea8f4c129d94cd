// rung: 3, expect: pass - four oscillators at a time, because a result takes four cycles
// Their operations do not depend on each other: while one waits for a result, the others continue.
#include "cudalab.cuh"
#include "kernel.h"

enum { AT_A_TIME = 4 };

__global__ void advance_kernel(float *x1, float *v1, const float *x0, const float *v0, float dt,
                               int n, int steps)
{
    int stride = gridDim.x * BLOCK;
    int i = blockIdx.x * BLOCK + threadIdx.x;

    // All loops over j are unrolled, so that each index is a constant and x and v stay in
    // registers.
    for (; i + (AT_A_TIME - 1) * stride < n; i += AT_A_TIME * stride) {
        float x[AT_A_TIME], v[AT_A_TIME];
#pragma unroll
        for (int j = 0; j < AT_A_TIME; j++) {
            x[j] = x0[i + j * stride];
            v[j] = v0[i + j * stride];
        }
        for (int s = 0; s < steps; s++) {
#pragma unroll
            for (int j = 0; j < AT_A_TIME; j++) {
                v[j] -= dt * (x[j] + 0.3f * (x[j] * x[j]) * x[j]);
                x[j] += dt * v[j];
            }
        }
#pragma unroll
        for (int j = 0; j < AT_A_TIME; j++) {
            x1[i + j * stride] = x[j];
            v1[i + j * stride] = v[j];
        }
    }

    // The remaining oscillators: fewer than AT_A_TIME per thread.
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
