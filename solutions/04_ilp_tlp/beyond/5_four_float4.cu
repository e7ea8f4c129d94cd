// rung: beyond, expect: pass - four float4 at a time: still more bytes in flight
// A float4 is four neighbouring oscillators; one load fetches 16 bytes per thread.
#include "cudalab.cuh"
#include "kernel.h"

enum { AT_A_TIME = 4, WIDTH = 4 };

static __device__ void step(float *x, float *v, float dt)
{
    *v -= dt * (*x + 0.3f * (*x * *x) * *x);
    *x += dt * *v;
}

__global__ void advance_kernel(float *x1, float *v1, const float *x0, const float *v0, float dt,
                               int n, int steps)
{
    int stride = gridDim.x * BLOCK, first = blockIdx.x * BLOCK + threadIdx.x;
    int round = AT_A_TIME * WIDTH * stride; // oscillators that the grid takes at a time
    int even = n / round * round;

    for (int i = first; i < even / WIDTH; i += AT_A_TIME * stride) {
        float4 x[AT_A_TIME], v[AT_A_TIME];
#pragma unroll
        for (int j = 0; j < AT_A_TIME; j++) {
            x[j] = ((const float4 *) x0)[i + j * stride];
            v[j] = ((const float4 *) v0)[i + j * stride];
        }
        for (int s = 0; s < steps; s++) {
#pragma unroll
            for (int j = 0; j < AT_A_TIME; j++) {
                step(&x[j].x, &v[j].x, dt);
                step(&x[j].y, &v[j].y, dt);
                step(&x[j].z, &v[j].z, dt);
                step(&x[j].w, &v[j].w, dt);
            }
        }
#pragma unroll
        for (int j = 0; j < AT_A_TIME; j++) {
            ((float4 *) x1)[i + j * stride] = x[j];
            ((float4 *) v1)[i + j * stride] = v[j];
        }
    }

    // The remaining oscillators: fewer than one round.
    for (int i = even + first; i < n; i += stride) {
        float x = x0[i], v = v0[i];
        for (int s = 0; s < steps; s++)
            step(&x, &v, dt);
        x1[i] = x;
        v1[i] = v;
    }
}
