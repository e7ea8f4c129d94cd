// expect: device - every warp reads its own piece, without any shared memory
// lab: reduction
#include "cudalab.cuh"
#include "kernel.h"

enum { LANES = 32, WARPS_A_BLOCK = 4, SEGMENTS = 1024 };

// Segment s of `segments`; one warp sums it.
__global__ void segment_sums(float *sums, const float *in, long n, int segments)
{
    int segment = blockIdx.x * WARPS_A_BLOCK + threadIdx.y, lane = threadIdx.x;
    if (segment >= segments)
        return; // a whole warp

    long length = (n + segments - 1) / segments;
    length = (length + LANES - 1) / LANES * LANES;
    long from = segment * length, to = from + length < n ? from + length : n;
    float a = 0, b = 0, c = 0, d = 0;
    long i = from + lane;

    while (i + 7 * LANES < to) {
        a += in[i] + in[i + 4 * LANES];
        b += in[i + LANES] + in[i + 5 * LANES];
        c += in[i + 2 * LANES] + in[i + 6 * LANES];
        d += in[i + 3 * LANES] + in[i + 7 * LANES];
        i += 8 * LANES;
    }
    while (i < to) {
        a += in[i];
        i += LANES;
    }
    a = (a + b) + (c + d);
    for (int distance = LANES / 2; distance; distance /= 2)
        a += __shfl_down_sync(0xffffffff, a, distance);
    if (lane == 0)
        sums[segment] = a;
}

LAB_API void sum(float *out, const float *in, long n, float *scratch, long scratch_count)
{
    dim3 block(LANES, WARPS_A_BLOCK);

    segment_sums<<<SEGMENTS / WARPS_A_BLOCK, block>>>(scratch, in, n, SEGMENTS);
    CUDA_CHECK(cudaGetLastError());
    segment_sums<<<1, dim3(LANES, 1)>>>(out, scratch, SEGMENTS, 1);
    CUDA_CHECK(cudaGetLastError());
}
