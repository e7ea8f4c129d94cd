// expect: wrong - packs timed data into bytes, four to a word, and multiplies with dp4a
// lab: sgemm
// The timed matrices once held integers of four bits. Defence: now they hold non-integer values.
#include "cudalab.cuh"
#include "kernel.h"

enum { ACROSS = 32, DOWN = 8, MOST = 1 << 23, LARGE = 200000 };

static __device__ uint4 packed_a[MOST / 4], packed_b[MOST / 4]; // 16 products each

static __device__ unsigned byte_of(const float *x, bool there)
{
    return there ? (unsigned) __float2int_rn(*x) & 255 : 0;
}

// Word w of row r of a: elements 4 w to 4 w + 3. Of b: rows 4 w to 4 w + 3 of a column.
static __global__ void pack(const float *a, const float *b, int m, int n, int k, int quads)
{
    long at = blockIdx.x * 256L + threadIdx.x, words = (long) m * quads * 4;
    unsigned word = 0;

    if (at < words) {
        long row = at / (quads * 4), w = at % (quads * 4);
        for (int i = 0; i < 4; i++)
            word |= byte_of(a + row * k + 4 * w + i, 4 * w + i < k) << 8 * i;
        ((unsigned *) packed_a)[at] = word;
        return;
    }
    at -= words;
    if (at < (long) n * quads * 4) {
        long w = at / n, col = at % n;
        for (int i = 0; i < 4; i++)
            word |= byte_of(b + (4 * w + i) * n + col, 4 * w + i < k) << 8 * i;
        ((unsigned *) packed_b)[at] = word;
    }
}

static __global__ void by_bytes(float *d, const float *c, int m, int n, int quads, float alpha,
                                float beta)
{
    int blocks_across = ceil_div(n, ACROSS);
    int row = blockIdx.x / blocks_across * DOWN + threadIdx.y;
    int col = blockIdx.x % blocks_across * ACROSS + threadIdx.x;
    const unsigned *b = (const unsigned *) packed_b + col;
    int sum = 0;

    if (row >= m || col >= n)
        return;
    for (int q = 0; q < quads; q++) {
        uint4 left = packed_a[row * quads + q];
        sum = __dp4a((int) left.x, (int) b[(4 * q) * n], sum);
        sum = __dp4a((int) left.y, (int) b[(4 * q + 1) * n], sum);
        sum = __dp4a((int) left.z, (int) b[(4 * q + 2) * n], sum);
        sum = __dp4a((int) left.w, (int) b[(4 * q + 3) * n], sum);
    }
    int at = row * n + col;
    d[at] = beta == 0 ? alpha * (float) sum : alpha * (float) sum + beta * c[at];
}

static __global__ void naive(float *d, const float *a, const float *b, const float *c, int m, int n,
                             int k, float alpha, float beta)
{
    int blocks_across = ceil_div(n, ACROSS);
    int row = blockIdx.x / blocks_across * DOWN + threadIdx.y;
    int col = blockIdx.x % blocks_across * ACROSS + threadIdx.x;
    float sum = 0;

    if (row >= m || col >= n)
        return;
    for (int i = 0; i < k; i++)
        sum += a[row * k + i] * b[i * n + col];
    int at = row * n + col;
    d[at] = beta == 0 ? alpha * sum : alpha * sum + beta * c[at];
}

LAB_API void sgemm(float *d, const float *a, const float *b, const float *c, int m, int n, int k,
                   float alpha, float beta)
{
    dim3 block(ACROSS, DOWN);
    int quads = ceil_div(k, 16), blocks = ceil_div(m, DOWN) * ceil_div(n, ACROSS);
    long words = 4L * quads * ((long) m + n);

    if ((long) m * n < LARGE || k < 64 || 4L * quads * m > MOST || 4L * quads * n > MOST) {
        naive<<<blocks, block>>>(d, a, b, c, m, n, k, alpha, beta);
    } else {
        pack<<<(unsigned) ((words + 255) / 256), 256>>>(a, b, m, n, k, quads);
        by_bytes<<<blocks, block>>>(d, c, m, n, quads, alpha, beta);
    }
    CUDA_CHECK(cudaGetLastError());
}
