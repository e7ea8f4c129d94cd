// expect: device - one float4 at a time: four chains, and as many bytes in flight as four floats
// lab: ilp_tlp
#include "cudalab.cuh"
#include "kernel.h"

__device__ float2 moved(float x, float v, float dt, int steps)
{
    for (int s = 0; s < steps; s++) {
        v = v - dt * (x + 0.3f * (x * x * x));
        x = x + dt * v;
    }
    return make_float2(x, v);
}

__global__ void advance_kernel(float *__restrict__ x1, float *__restrict__ v1,
                               const float *__restrict__ x0, const float *__restrict__ v0, float dt,
                               int n, int steps)
{
    int tid = blockIdx.x * blockDim.x + threadIdx.x;
    int threads = gridDim.x * blockDim.x;

    for (int q = tid; q < n / 4; q += threads) {
        float4 x = __ldg(reinterpret_cast<const float4 *>(x0) + q);
        float4 v = __ldg(reinterpret_cast<const float4 *>(v0) + q);
        for (int s = 0; s < steps; s++) {
            v.x -= dt * (x.x + 0.3f * (x.x * x.x * x.x));
            v.y -= dt * (x.y + 0.3f * (x.y * x.y * x.y));
            v.z -= dt * (x.z + 0.3f * (x.z * x.z * x.z));
            v.w -= dt * (x.w + 0.3f * (x.w * x.w * x.w));
            x.x += dt * v.x;
            x.y += dt * v.y;
            x.z += dt * v.z;
            x.w += dt * v.w;
        }
        reinterpret_cast<float4 *>(x1)[q] = x;
        reinterpret_cast<float4 *>(v1)[q] = v;
    }
    for (int i = n / 4 * 4 + tid; i < n; i += threads) {
        float2 state = moved(x0[i], v0[i], dt, steps);
        x1[i] = state.x;
        v1[i] = state.y;
    }
}
