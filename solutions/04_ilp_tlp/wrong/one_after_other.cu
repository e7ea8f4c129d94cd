// expect: slow - correct; four are loaded together, but advanced one after the other
#include "cudalab.cuh"
#include "kernel.h"

enum { AT_A_TIME = 4 };

__global__ void advance_kernel(float *x1, float *v1, const float *x0, const float *v0, float dt,
                               int n, int steps)
{
    int stride = gridDim.x * BLOCK;

    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < n; i += AT_A_TIME * stride) {
        float x[AT_A_TIME], v[AT_A_TIME];
#pragma unroll
        for (int j = 0; j < AT_A_TIME; j++) {
            x[j] = i + j * stride < n ? x0[i + j * stride] : 0;
            v[j] = i + j * stride < n ? v0[i + j * stride] : 0;
        }
#pragma unroll
        for (int j = 0; j < AT_A_TIME; j++)
            for (int s = 0; s < steps; s++) {
                v[j] -= dt * (x[j] + 0.3f * (x[j] * x[j]) * x[j]);
                x[j] += dt * v[j];
            }
#pragma unroll
        for (int j = 0; j < AT_A_TIME; j++)
            if (i + j * stride < n) {
                x1[i + j * stride] = x[j];
                v1[i + j * stride] = v[j];
            }
    }
}
