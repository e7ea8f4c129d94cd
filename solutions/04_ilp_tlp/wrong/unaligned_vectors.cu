// expect: crash - each block's float4s begin at its share, which is not a multiple of 4
#include "cudalab.cuh"
#include "kernel.h"

enum { WIDTH = 4 };

__global__ void advance_kernel(float *x1, float *v1, const float *x0, const float *v0, float dt,
                               int n, int steps)
{
    int share = ceil_div(n, gridDim.x), begin = blockIdx.x * share;
    int end = begin + share < n ? begin + share : n;

    for (int i = begin + WIDTH * threadIdx.x; i < end; i += WIDTH * BLOCK) {
        if (i + WIDTH > end) {
            for (; i < end; i++) {
                float x = x0[i], v = v0[i];
                for (int s = 0; s < steps; s++) {
                    v -= dt * (x + 0.3f * (x * x) * x);
                    x += dt * v;
                }
                x1[i] = x;
                v1[i] = v;
            }
            break;
        }
        float4 x4 = *(const float4 *) (x0 + i), v4 = *(const float4 *) (v0 + i);
        float x[WIDTH] = { x4.x, x4.y, x4.z, x4.w }, v[WIDTH] = { v4.x, v4.y, v4.z, v4.w };
        for (int s = 0; s < steps; s++)
#pragma unroll
            for (int j = 0; j < WIDTH; j++) {
                v[j] -= dt * (x[j] + 0.3f * (x[j] * x[j]) * x[j]);
                x[j] += dt * v[j];
            }
        *(float4 *) (x1 + i) = make_float4(x[0], x[1], x[2], x[3]);
        *(float4 *) (v1 + i) = make_float4(v[0], v[1], v[2], v[3]);
    }
}
