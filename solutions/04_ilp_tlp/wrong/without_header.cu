// expect: build - leaves kernel.h out to launch by itself: only launch.cpp may launch
#include "cudalab.cuh"
#include "lab.h"

__global__ void many_threads(float *x1, float *v1, const float *x0, const float *v0, float dt,
                             int n, int steps)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i >= n)
        return;

    float x = x0[i], v = v0[i];
    for (int s = 0; s < steps; s++) {
        v -= dt * (x + 0.3f * (x * x) * x);
        x += dt * v;
    }
    x1[i] = x;
    v1[i] = v;
}

LAB_API void advance(float *x1, float *v1, const float *x0, const float *v0, float dt, int n,
                     int steps)
{
    many_threads<<<ceil_div(n, 256), 256>>>(x1, v1, x0, v0, dt, n, steps);
    CUDA_CHECK(cudaGetLastError());
}
