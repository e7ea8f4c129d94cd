// expect: device - pieces of eight per thread through shared memory, a barrier before and after
// lab: ilp_tlp
#include "cudalab.cuh"
#include "kernel.h"

enum { PIECE = 8 * BLOCK };

__global__ void advance_kernel(float *x1, float *v1, const float *x0, const float *v0, float dt,
                               int n, int steps)
{
    __shared__ float xs[PIECE], vs[PIECE];
    int me = threadIdx.x;

    for (int base = blockIdx.x * PIECE; base < n; base += gridDim.x * PIECE) {
        int count = n - base < PIECE ? n - base : PIECE;

        for (int k = me; k < PIECE; k += BLOCK) {
            xs[k] = k < count ? x0[base + k] : 0;
            vs[k] = k < count ? v0[base + k] : 0;
        }
        __syncthreads(); // threads advance what other threads have loaded

        float x[8], v[8];
        for (int j = 0; j < 8; j++) {
            x[j] = xs[(me ^ 1) + j * BLOCK];
            v[j] = vs[(me ^ 1) + j * BLOCK];
        }
        for (int s = 0; s < steps; s++)
            for (int j = 0; j < 8; j++) {
                v[j] -= dt * (x[j] + 0.3f * (x[j] * x[j]) * x[j]);
                x[j] += dt * v[j];
            }
        for (int j = 0; j < 8; j++) {
            int k = (me ^ 1) + j * BLOCK;
            if (k < count) {
                x1[base + k] = x[j];
                v1[base + k] = v[j];
            }
        }
        __syncthreads(); // all threads have read before the next piece overwrites it
    }
}
