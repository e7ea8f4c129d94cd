// expect: slow - correct; it loads the next oscillator ahead, but there is only one chain
#include "cudalab.cuh"
#include "kernel.h"

__global__ void advance_kernel(float *x1, float *v1, const float *x0, const float *v0, float dt,
                               int n, int steps)
{
    int stride = gridDim.x * BLOCK;
    int i = blockIdx.x * BLOCK + threadIdx.x;

    float next_x = i < n ? x0[i] : 0, next_v = i < n ? v0[i] : 0;

    for (; i < n; i += stride) {
        float x = next_x, v = next_v;
        if (i + stride < n) {
            next_x = x0[i + stride];
            next_v = v0[i + stride];
        }
        for (int s = 0; s < steps; s++) {
            v -= dt * (x + 0.3f * (x * x) * x);
            x += dt * v;
        }
        x1[i] = x;
        v1[i] = v;
    }
}
