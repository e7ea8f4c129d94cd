// expect: pass - each block has a share of its own, each thread four chains in a functor
// lab: ilp_tlp
#include "cudalab.cuh"
#include "kernel.h"

template <int COUNT> struct Together {
    float *x1, *v1;
    const float *x0, *v0;
    float dt;
    int steps;

    __device__ void operator()(long i) const
    {
        float x[COUNT], v[COUNT];
        for (int j = 0; j < COUNT; j++)
            x[j] = x0[i + j * BLOCK], v[j] = v0[i + j * BLOCK];
        for (int s = 0; s < steps; s++)
            for (int j = 0; j < COUNT; j++) {
                v[j] -= dt * (x[j] + 0.3f * x[j] * x[j] * x[j]);
                x[j] += dt * v[j];
            }
        for (int j = 0; j < COUNT; j++)
            x1[i + j * BLOCK] = x[j], v1[i + j * BLOCK] = v[j];
    }
};

__global__ void __launch_bounds__(BLOCK) advance_kernel(float *x1, float *v1, const float *x0,
                                                        const float *v0, float dt, int n, int steps)
{
    long begin = (long) n * blockIdx.x / gridDim.x, end = (long) n * (blockIdx.x + 1) / gridDim.x;
    Together<4> four = { x1, v1, x0, v0, dt, steps };
    Together<1> one = { x1, v1, x0, v0, dt, steps };
    long i = begin + threadIdx.x;

    for (; i + 3 * BLOCK < end; i += 4 * BLOCK)
        four(i);
    for (; i < end; i += BLOCK)
        one(i);
}
