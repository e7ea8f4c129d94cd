// expect: pass - only tiles on and above the diagonal; each is written twice, once transposed
// lab: bank_conflicts
#include "cudalab.cuh"
#include "kernel.h"

enum { T = 32 };

__global__ void upper(float *dist, const float *x, int n, int d, int pitch)
{
    extern __shared__ float rows[];
    __shared__ float turned[T][T + 1];
    float *a = rows, *b = rows + T * pitch;
    int tx = threadIdx.x, ty = threadIdx.y;
    int i0 = blockIdx.y * T, j0 = blockIdx.x * T;

    if (i0 > j0)
        return; // the whole block
    for (int k = tx; k < d; k += T) {
        a[ty * pitch + k] = i0 + ty < n ? x[(i0 + ty) * d + k] : 0;
        b[ty * pitch + k] = j0 + ty < n ? x[(j0 + ty) * d + k] : 0;
    }
    __syncthreads(); // all warps have filled a and b before any thread reads them

    float sum = 0;
    for (int k = 0; k < d; k++) {
        float t = a[ty * pitch + k] - b[tx * pitch + k];
        sum += t * t;
    }
    turned[ty][tx] = sum;
    if (i0 + ty < n && j0 + tx < n)
        dist[(i0 + ty) * n + j0 + tx] = sum;
    __syncthreads(); // the tile of results is written by rows and read by columns
    if (i0 < j0 && j0 + ty < n && i0 + tx < n)
        dist[(j0 + ty) * n + i0 + tx] = turned[tx][ty];
}

LAB_API void distances(float *dist, const float *x, int n, int d)
{
    int pitch = d % 2 ? d : d + 1, tiles = ceil_div(n, T);

    upper<<<dim3(tiles, tiles), dim3(T, T), 2 * T * pitch * sizeof(float)>>>(dist, x, n, d, pitch);
    CUDA_CHECK(cudaGetLastError());
}
