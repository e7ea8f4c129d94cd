// Each thread takes oscillators that are a whole grid apart, and advances one after the other.
#include "cudalab.cuh"
#include "kernel.h"

__global__ void advance_kernel(float *x1, float *v1, const float *x0, const float *v0, float dt,
                               int n, int steps)
{
    int stride = gridDim.x * BLOCK;
    int i = blockIdx.x * BLOCK + threadIdx.x;

    // TODO: count the operations of a step that must wait for the previous one. What does a
    // TODO: scheduler with one warp do meanwhile? And how many bytes does a thread wait for at a
    // TODO: time? You cannot have more threads, so advance more oscillators at a time in each.
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
