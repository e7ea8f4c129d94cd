// expect: pass - a struct with operators, a template over its size, explicit fused multiply-adds
// lab: ilp_tlp
#include "cudalab.cuh"
#include "kernel.h"

struct Oscillator {
    float x, v;

    __device__ void step(float dt)
    {
        float force = fmaf(0.3f * (x * x), x, x);
        v = fmaf(-dt, force, v);
        x = fmaf(dt, v, x);
    }
};

template <int COUNT>
__device__ int sweep(float *x1, float *v1, const float *x0, const float *v0, float dt, int begin,
                     int n, int steps)
{
    const int grid = gridDim.x * blockDim.x;
    const int rounds = (n - begin) / (COUNT * grid);
    int i = begin + blockIdx.x * blockDim.x + threadIdx.x;

    for (int r = 0; r < rounds; ++r, i += COUNT * grid) {
        Oscillator o[COUNT];
#pragma unroll
        for (int j = 0; j < COUNT; ++j)
            o[j] = Oscillator{ x0[i + j * grid], v0[i + j * grid] };
        for (int s = 0; s < steps; ++s)
#pragma unroll
            for (int j = 0; j < COUNT; ++j)
                o[j].step(dt);
#pragma unroll
        for (int j = 0; j < COUNT; ++j) {
            x1[i + j * grid] = o[j].x;
            v1[i + j * grid] = o[j].v;
        }
    }
    return begin + rounds * COUNT * grid;
}

__global__ void advance_kernel(float *x1, float *v1, const float *x0, const float *v0, float dt,
                               int n, int steps)
{
    int done = sweep<4>(x1, v1, x0, v0, dt, 0, n, steps);
    done = sweep<1>(x1, v1, x0, v0, dt, done, n, steps);
    int i = done + blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        Oscillator o = { x0[i], v0[i] };
        for (int s = 0; s < steps; ++s)
            o.step(dt);
        x1[i] = o.x;
        v1[i] = o.v;
    }
}
