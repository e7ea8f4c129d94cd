// expect: stray - also stores the new state in the input arrays, for the next call
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
        ((float *) x0)[i] = x1[i] = x;
        ((float *) v0)[i] = v1[i] = v;
    }
}
