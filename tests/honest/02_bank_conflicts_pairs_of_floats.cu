// expect: pass - float2: half a warp at a time, rows an odd number of pairs long
// lab: bank_conflicts
#include "cudalab.cuh"
#include "kernel.h"

__global__ void distances_kernel(float *dist, const float *x, int n, int d, int pairs, int pitch)
{
    extern __shared__ float2 rows[];
    float2 *a = rows + threadIdx.y * pitch, *b = rows + (32 + threadIdx.x) * pitch;
    float *fill_a = (float *) a, *fill_b = (float *) (rows + (32 + threadIdx.y) * pitch);
    int i = blockIdx.y * 32 + threadIdx.y, j = blockIdx.x * 32 + threadIdx.y;

    for (int k = threadIdx.x; k < 2 * pairs; k += 32) {
        fill_a[k] = k < d && i < n ? x[i * d + k] : 0;
        fill_b[k] = k < d && j < n ? x[j * d + k] : 0;
    }
    __syncthreads(); // each row is filled by one warp and read by all

    float even = 0, odd = 0;
    for (int p = 0; p < pairs; p++) {
        float2 u = a[p], v = b[p];
        even += (u.x - v.x) * (u.x - v.x);
        odd += (u.y - v.y) * (u.y - v.y);
    }
    j = blockIdx.x * 32 + threadIdx.x;
    if (i < n && j < n)
        dist[(size_t) i * n + j] = even + odd;
}

LAB_API void distances(float *dist, const float *x, int n, int d)
{
    int pairs = (d + 1) / 2;
    int pitch = pairs + (pairs % 2 == 0);
    dim3 grid((n + 31) / 32, (n + 31) / 32);

    distances_kernel<<<grid, dim3(32, 32), 64 * pitch * sizeof(float2)>>>(dist, x, n, d, pairs,
                                                                          pitch);
    CUDA_CHECK(cudaGetLastError());
}
