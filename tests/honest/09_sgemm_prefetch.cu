// expect: pass - double buffering without cp.async: the next tiles wait in registers
// lab: sgemm
#include "cudalab.cuh"
#include "kernel.h"

template <int TM, int TN, int TK> struct Gemm {
    static constexpr int threads = 256, across = TN / 8;
    float a[TK][TM + 4], b[TK][TN];

    __device__ void put(const float *ra, const float *rb)
    {
        for (int i = 0; i < TM * TK / threads; i++) {
            int at = threadIdx.x + i * threads;
            a[at % TK][at / TK] = ra[i];
        }
        for (int i = 0; i < TN * TK / threads; i++) {
            int at = threadIdx.x + i * threads;
            b[at / TN][at % TN] = rb[i];
        }
    }
};

template <int TM, int TN, int TK>
__global__ void __launch_bounds__(256, 2)
    gemm(float *d, const float *__restrict__ a, const float *__restrict__ b,
         const float *__restrict__ c, int m, int n, int k, float alpha, float beta)
{
    using Tile = Gemm<TM, TN, TK>;
    __shared__ __align__(16) Tile tile;
    const int columns = (n + TN - 1) / TN;
    const int top = blockIdx.x / columns * TM, left = blockIdx.x % columns * TN;
    const int y = threadIdx.x / Tile::across * 4, x = threadIdx.x % Tile::across * 4;
    float ra[TM * TK / Tile::threads], rb[TN * TK / Tile::threads], sum[8][8] = {};

    auto fetch = [&](int first) {
#pragma unroll
        for (int i = 0; i < TM * TK / Tile::threads; i++) {
            int at = threadIdx.x + i * Tile::threads, row = top + at / TK, col = first + at % TK;
            ra[i] = row < m && col < k ? a[row * k + col] : 0;
        }
#pragma unroll
        for (int i = 0; i < TN * TK / Tile::threads; i++) {
            int at = threadIdx.x + i * Tile::threads, row = first + at / TN, col = left + at % TN;
            rb[i] = row < k && col < n ? b[row * n + col] : 0;
        }
    };

    fetch(0);
    for (int first = 0; first < k; first += TK) {
        tile.put(ra, rb);
        __syncthreads(); // all threads have written before any thread reads
        if (first + TK < k)
            fetch(first + TK);
#pragma unroll
        for (int l = 0; l < TK; l++) {
            float4 p = *(float4 *) &tile.a[l][y], q = *(float4 *) &tile.a[l][y + TM / 2];
            float4 r = *(float4 *) &tile.b[l][x], s = *(float4 *) &tile.b[l][x + TN / 2];
            float u[8] = { p.x, p.y, p.z, p.w, q.x, q.y, q.z, q.w };
            float v[8] = { r.x, r.y, r.z, r.w, s.x, s.y, s.z, s.w };
#pragma unroll
            for (int i = 0; i < 8; i++)
#pragma unroll
                for (int j = 0; j < 8; j++)
                    sum[i][j] = fmaf(u[i], v[j], sum[i][j]);
        }
        __syncthreads(); // all threads have read before the next tiles are written
    }
#pragma unroll
    for (int i = 0; i < 8; i++)
#pragma unroll
        for (int j = 0; j < 8; j++) {
            int row = top + y + i % 4 + i / 4 * (TM / 2), col = left + x + j % 4 + j / 4 * (TN / 2);
            if (row < m && col < n)
                d[row * n + col] =
                    beta == 0 ? alpha * sum[i][j] : fmaf(beta, c[row * n + col], alpha * sum[i][j]);
        }
}

LAB_API void sgemm(float *d, const float *a, const float *b, const float *c, int m, int n, int k,
                   float alpha, float beta)
{
    constexpr int TM = 128, TN = 128, TK = 8;

    gemm<TM, TN, TK><<<ceil_div(m, TM) * ceil_div(n, TN), 256>>>(d, a, b, c, m, n, k, alpha, beta);
    CUDA_CHECK(cudaGetLastError());
}
