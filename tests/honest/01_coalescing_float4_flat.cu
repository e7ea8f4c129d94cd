// expect: pass - reinterpret_cast to float4 where rows are whole vectors, one division per vector
// lab: coalescing
#include "cudalab.cuh"
#include "kernel.h"

#include <cstdint>

static constexpr uint32_t kThreads = 128;

static __global__ void standardise4(float4 *__restrict__ out, const float4 *__restrict__ in,
                                    const float4 *__restrict__ mean,
                                    const float4 *__restrict__ scale, uint32_t n4, uint32_t cols4)
{
    const uint32_t i = blockIdx.x * kThreads + threadIdx.x;
    if (i < n4) {
        const uint32_t c = i % cols4;
        const float4 x = in[i], m = __ldg(&mean[c]), s = __ldg(&scale[c]);
        float4 y;
        y.x = (x.x - m.x) * s.x;
        y.y = (x.y - m.y) * s.y;
        y.z = (x.z - m.z) * s.z;
        y.w = (x.w - m.w) * s.w;
        out[i] = y;
    }
}

static __global__ void standardise1(float *__restrict__ out, const float *__restrict__ in,
                                    const float *__restrict__ mean, const float *__restrict__ scale,
                                    uint32_t n, uint32_t cols)
{
    for (uint32_t i = blockIdx.x * kThreads + threadIdx.x; i < n; i += gridDim.x * kThreads)
        out[i] = (in[i] - mean[i % cols]) * scale[i % cols];
}

LAB_API void standardise(float *out, const float *in, const float *mean, const float *scale,
                         int rows, int cols)
{
    const uint32_t n = static_cast<uint32_t>(rows) * static_cast<uint32_t>(cols);

    if (cols % 4 == 0) {
        const uint32_t n4 = n / 4;
        standardise4<<<(n4 + kThreads - 1) / kThreads, kThreads>>>(
            reinterpret_cast<float4 *>(out), reinterpret_cast<const float4 *>(in),
            reinterpret_cast<const float4 *>(mean), reinterpret_cast<const float4 *>(scale), n4,
            cols / 4);
    } else {
        standardise1<<<2048, kThreads>>>(out, in, mean, scale, n, cols);
    }
    CUDA_CHECK(cudaGetLastError());
}
