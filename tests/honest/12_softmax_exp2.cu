// expect: device - exp2f with log2(e); a warp per narrow row, other rows are read twice
// lab: softmax
#include "cudalab.cuh"
#include "kernel.h"
#include <cfloat>

namespace
{

constexpr float log2_e = 1.44269504f;
constexpr int warp = 32;

__device__ float4 exponentials(float4 v, float m)
{
    // Scaled after the subtraction: near the lowest float, x * log2(e) would overflow.
    return make_float4(exp2f((v.x - m) * log2_e), exp2f((v.y - m) * log2_e),
                       exp2f((v.z - m) * log2_e), exp2f((v.w - m) * log2_e));
}

__device__ float largest(float4 v)
{
    return fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w));
}

__device__ float warp_max(float m)
{
    for (int d = warp / 2; d; d /= 2)
        m = fmaxf(m, __shfl_xor_sync(~0u, m, d));
    return m;
}

__device__ float warp_sum(float s)
{
    for (int d = warp / 2; d; d /= 2)
        s += __shfl_xor_sync(~0u, s, d);
    return s;
}

// A row of at most 128 columns, a multiple of 4: one float4 per lane.
__global__ void narrow_rows(float4 *out, const float4 *in, int rows, int fours)
{
    int row = blockIdx.x * blockDim.y + threadIdx.y, lane = threadIdx.x;

    if (row >= rows) // a whole warp
        return;
    bool has = lane < fours;
    float4 v = has ? in[(size_t) row * fours + lane]
                   : make_float4(-INFINITY, -INFINITY, -INFINITY, -INFINITY);
    float4 e = exponentials(v, warp_max(fmaxf(largest(v), -FLT_MAX)));
    float scale = 1 / warp_sum((e.x + e.y) + (e.z + e.w));
    if (has)
        out[(size_t) row * fours + lane] =
            make_float4(e.x * scale, e.y * scale, e.z * scale, e.w * scale);
}

template <int threads> __device__ float2 across(float2 mine)
{
    __shared__ float2 slots[threads / warp];
    static_assert(threads / warp <= warp, "one warp merges all");
    float m = warp_max(mine.x), s = warp_sum(mine.y * exp2f((mine.x - m) * log2_e));

    __syncthreads(); // the slots of the row before have been read
    if (threadIdx.x % warp == 0)
        slots[threadIdx.x / warp] = make_float2(m, s);
    __syncthreads(); // all warps' pairs are stored
    float2 other =
        threadIdx.x % warp < threads / warp ? slots[threadIdx.x % warp] : make_float2(-FLT_MAX, 0);
    m = warp_max(other.x);
    return make_float2(m, warp_sum(other.y * exp2f((other.x - m) * log2_e)));
}

// Any row: an online maximum and sum per thread, then a second read.
template <int threads> __global__ void any_rows(float *out, const float *in, int rows, int cols)
{
    for (int row = blockIdx.x; row < rows; row += gridDim.x) {
        const float *from = in + (size_t) row * cols;
        float *to = out + (size_t) row * cols;
        float2 mine = make_float2(-FLT_MAX, 0);

        for (int j = threadIdx.x; j < cols; j += threads) {
            float x = from[j], m = fmaxf(mine.x, x);
            mine.y = mine.y * exp2f((mine.x - m) * log2_e) + exp2f((x - m) * log2_e);
            mine.x = m;
        }
        float2 all = across<threads>(mine);
        for (int j = threadIdx.x; j < cols; j += threads)
            to[j] = exp2f((from[j] - all.x) * log2_e) / all.y;
    }
}

} // namespace

LAB_API void softmax(float *out, const float *in, int rows, int cols, float *)
{
    if (cols % 4 == 0 && cols <= 4 * warp)
        narrow_rows<<<ceil_div(rows, 8), dim3(warp, 8)>>>((float4 *) out, (const float4 *) in, rows,
                                                          cols / 4);
    else if (cols <= 1024)
        any_rows<128><<<rows, 128>>>(out, in, rows, cols);
    else
        any_rows<1024><<<rows, 1024>>>(out, in, rows, cols);
    CUDA_CHECK(cudaGetLastError());
}
