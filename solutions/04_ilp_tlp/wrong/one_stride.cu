// expect: wrong - one oscillator per thread: right while there are no more oscillators than threads
#include "cudalab.cuh"
#include "kernel.h"

__global__ void advance_kernel(float *x1, float *v1, const float *x0, const float *v0, float dt,
                               int n, int steps)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;

    if (i < n) {
        float x = x0[i], v = v0[i];
        for (int s = 0; s < steps; s++) {
            v -= dt * (x + 0.3f * (x * x) * x);
            x += dt * v;
        }
        x1[i] = x;
        v1[i] = v;
    }
}
