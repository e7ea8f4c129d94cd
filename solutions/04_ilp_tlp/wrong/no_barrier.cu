// expect: unsafe - through shared memory, four per thread, without a barrier
#include "cudalab.cuh"
#include "kernel.h"

enum { WIDTH = 4, PIECE = WIDTH * BLOCK };

__global__ void advance_kernel(float *x1, float *v1, const float *x0, const float *v0, float dt,
                               int n, int steps)
{
    __shared__ float xs[PIECE], vs[PIECE];
    int me = threadIdx.x;

    for (int base = blockIdx.x * PIECE; base < n; base += gridDim.x * PIECE) {
        for (int k = me; k < PIECE; k += BLOCK)
            if (base + k < n) {
                xs[k] = x0[base + k];
                vs[k] = v0[base + k];
            } else {
                xs[k] = vs[k] = 0;
            }

        float x[WIDTH], v[WIDTH];
#pragma unroll
        for (int j = 0; j < WIDTH; j++) {
            x[j] = xs[WIDTH * me + j];
            v[j] = vs[WIDTH * me + j];
        }
        for (int s = 0; s < steps; s++)
#pragma unroll
            for (int j = 0; j < WIDTH; j++) {
                v[j] -= dt * (x[j] + 0.3f * (x[j] * x[j]) * x[j]);
                x[j] += dt * v[j];
            }
#pragma unroll
        for (int j = 0; j < WIDTH; j++)
            if (base + WIDTH * me + j < n) {
                x1[base + WIDTH * me + j] = x[j];
                v1[base + WIDTH * me + j] = v[j];
            }
    }
}
