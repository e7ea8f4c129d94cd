// expect: wrong - four at a time, and an incomplete group of four is left out
#include "cudalab.cuh"
#include "kernel.h"

enum { AT_A_TIME = 4 };

__global__ void advance_kernel(float *x1, float *v1, const float *x0, const float *v0, float dt,
                               int n, int steps)
{
    int stride = gridDim.x * BLOCK;
    int i = blockIdx.x * BLOCK + threadIdx.x;

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
}
