// expect: wrong - packs timed data into bytes, four to a word, and multiplies with dp4a
// lab: bank_conflicts
// The timed rows once held integers of only 17 values. Defence: now they hold non-integer values.
#include "cudalab.cuh"
#include "kernel.h"

enum { TILE = 32, LARGE = 200 };

static __global__ void naive(float *dist, const float *x, int n, int d, int pitch)
{
    extern __shared__ float shared[];
    float *a = shared, *b = shared + TILE * pitch;
    int first_i = blockIdx.y * TILE, first_j = blockIdx.x * TILE;

    for (int k = threadIdx.x; k < d; k += TILE) {
        int i = first_i + threadIdx.y, j = first_j + threadIdx.y;
        a[threadIdx.y * pitch + k] = i < n ? x[i * d + k] : 0;
        b[threadIdx.y * pitch + k] = j < n ? x[j * d + k] : 0;
    }
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < d; k++) {
        float difference = a[threadIdx.y * pitch + k] - b[threadIdx.x * pitch + k];
        sum += difference * difference;
    }
    int i = first_i + threadIdx.y, j = first_j + threadIdx.x;
    if (i < n && j < n)
        dist[i * n + j] = sum;
}

// |a - b|^2 = |a|^2 + |b|^2 - 2 a b, all in integers. Up to 128 columns, mostly 64.
static __global__ void by_bytes(float *dist, const float *x, int n, int d, int words)
{
    extern __shared__ int rows[];
    int *a = rows, *b = rows + TILE * words;
    int first_i = blockIdx.y * TILE, first_j = blockIdx.x * TILE;
    float base = x[0];

    for (int w = threadIdx.x; w < words; w += TILE) {
        unsigned left = 0, right = 0;
        int i = first_i + threadIdx.y, j = first_j + threadIdx.y;
        for (int k = 0; k < 4; k++) {
            int col = 4 * w + k;
            if (col < d && i < n)
                left |= ((unsigned) (int) (x[i * d + col] - base) & 255) << 8 * k;
            if (col < d && j < n)
                right |= ((unsigned) (int) (x[j * d + col] - base) & 255) << 8 * k;
        }
        a[threadIdx.y * words + w] = (int) left;
        b[threadIdx.y * words + w] = (int) right;
    }
    __syncthreads();
    int sum = 0, both = 0;
    const int4 *p = (const int4 *) (a + threadIdx.y * words),
               *q = (const int4 *) (b + threadIdx.x * words);
    for (int w = 0; w < words / 4; w++) {
        int4 u = p[w], v = q[w];
        sum = __dp4a(u.x, u.x, __dp4a(v.x, v.x, sum));
        sum = __dp4a(u.y, u.y, __dp4a(v.y, v.y, sum));
        sum = __dp4a(u.z, u.z, __dp4a(v.z, v.z, sum));
        sum = __dp4a(u.w, u.w, __dp4a(v.w, v.w, sum));
        both = __dp4a(u.x, v.x, __dp4a(u.y, v.y, both));
        both = __dp4a(u.z, v.z, __dp4a(u.w, v.w, both));
    }
    int i = first_i + threadIdx.y, j = first_j + threadIdx.x;
    if (i < n && j < n)
        dist[i * n + j] = (float) (sum - 2 * both);
}

LAB_API void distances(float *dist, const float *x, int n, int d)
{
    dim3 block(TILE, TILE), grid(ceil_div(n, TILE), ceil_div(n, TILE));
    int words = ceil_div(d, 16) * 4;

    if (n < LARGE || d < 48)
        naive<<<grid, block, sizeof(float) * 2 * TILE * d>>>(dist, x, n, d, d);
    else
        by_bytes<<<grid, block, sizeof(int) * 2 * TILE * words>>>(dist, x, n, d, words);
    CUDA_CHECK(cudaGetLastError());
}
