// expect: pass - 16 x 4 results per thread in a tile of 128 x 128, rows of A broadcast
// lab: sgemm
#include "cudalab.cuh"
#include "kernel.h"

#define BM    128
#define BN    128
#define BK    16
#define PITCH (BM + 4)

__global__ void __launch_bounds__(256)
    gemm(float *d, const float *a, const float *b, const float *c, int m, int n, int k, float alpha,
         float beta)
{
    __shared__ __align__(16) float as[BK * PITCH];
    __shared__ __align__(16) float bs[BK * BN];
    const int t = threadIdx.x, lane = t & 31, warp = t >> 5;
    const int nb = (n + BN - 1) / BN, r0 = blockIdx.x / nb * BM, c0 = blockIdx.x % nb * BN;
    float acc[16][4];

    for (int i = 0; i < 16; i++)
        for (int j = 0; j < 4; j++)
            acc[i][j] = 0.0f;
    for (int p = 0; p < k; p += BK) {
#pragma unroll
        for (int i = 0; i < BM * BK / 256; i++) {
            int y = t / BK + i * (256 / BK), x = t % BK, r = r0 + y, q = p + x;
            as[x * PITCH + y] = r < m && q < k ? a[r * k + q] : 0.0f;
        }
#pragma unroll
        for (int i = 0; i < BN * BK / 256; i++) {
            int at = t + i * 256, q = p + at / BN, s = c0 + at % BN;
            bs[at] = q < k && s < n ? b[q * n + s] : 0.0f;
        }
        __syncthreads(); // tiles are full
#pragma unroll
        for (int q = 0; q < BK; q++) {
            float4 y = *(const float4 *) &bs[q * BN + lane * 4];
            const float4 *x = (const float4 *) &as[q * PITCH + warp * 16];
#pragma unroll
            for (int i = 0; i < 4; i++) {
                float4 v = x[i];
                float e[4] = { v.x, v.y, v.z, v.w };
#pragma unroll
                for (int j = 0; j < 4; j++) {
                    acc[4 * i + j][0] += e[j] * y.x;
                    acc[4 * i + j][1] += e[j] * y.y;
                    acc[4 * i + j][2] += e[j] * y.z;
                    acc[4 * i + j][3] += e[j] * y.w;
                }
            }
        }
        __syncthreads(); // tiles are free
    }
#pragma unroll
    for (int i = 0; i < 16; i++)
#pragma unroll
        for (int j = 0; j < 4; j++) {
            int r = r0 + warp * 16 + i, s = c0 + lane * 4 + j;
            if (r < m && s < n) {
                float v = alpha * acc[i][j];
                if (beta != 0.0f)
                    v += beta * c[r * n + s];
                d[r * n + s] = v;
            }
        }
}

LAB_API void sgemm(float *d, const float *a, const float *b, const float *c, int m, int n, int k,
                   float alpha, float beta)
{
    gemm<<<(m + BM - 1) / BM *((n + BN - 1) / BN), 256>>>(d, a, b, c, m, n, k, alpha, beta);
    CUDA_CHECK(cudaGetLastError());
}
