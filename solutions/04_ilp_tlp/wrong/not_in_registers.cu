// expect: slow - correct; an index that is not a constant puts the four into local memory
#include "cudalab.cuh"
#include "kernel.h"

enum { AT_A_TIME = 4 };

__global__ void advance_kernel(float *x1, float *v1, const float *x0, const float *v0, float dt,
                               int n, int steps)
{
    int stride = gridDim.x * BLOCK;

    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < n; i += AT_A_TIME * stride) {
        float x[AT_A_TIME], v[AT_A_TIME];
        int count = 0;
        for (int k = i; k < n && count < AT_A_TIME; k += stride, count++) {
            x[count] = x0[k];
            v[count] = v0[k];
        }
        for (int s = 0; s < steps; s++) {
#pragma unroll 1
            for (int j = 0; j < count; j++) {
                v[j] -= dt * (x[j] + 0.3f * (x[j] * x[j]) * x[j]);
                x[j] += dt * v[j];
            }
        }
        for (int j = 0; j < count; j++) {
            x1[i + j * stride] = x[j];
            v1[i + j * stride] = v[j];
        }
    }
}
