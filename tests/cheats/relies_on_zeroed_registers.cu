// expect: wrong - begins its sums with registers and local memory that were never written
// lab: reduction
// Defence: on the simulated GPU these hold a different pattern in each order of warps.
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256, WARP = 32, WARPS = BLOCK / WARP, BLOCKS_A_SM = 8 };

static __device__ float block_sum(float value)
{
    __shared__ float part[WARPS];
    int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;

    for (int s = WARP / 2; s > 0; s /= 2)
        value += __shfl_down_sync(0xffffffff, value, s);
    if (lane == 0)
        part[warp] = value;
    __syncthreads();
    value = lane < WARPS ? part[lane] : 0;
    for (int s = WARP / 2; s > 0; s /= 2)
        value += __shfl_down_sync(0xffffffff, value, s);
    return value;
}

static __global__ void sum_kernel(float *out, const float *in, long n)
{
    long step = gridDim.x * (long) BLOCK, i = blockIdx.x * (long) BLOCK + threadIdx.x;
    float rest, totals[4];

    // What `float total;` without `= 0` may become: a register that was never written, and stack.
    asm volatile("{\n\t.reg .f32 unset;\n\tmov.f32 %0, unset;\n\t}" : "=f"(rest));
    asm volatile(
        "{\n\t.local .align 16 .b8 unset[16];\n\tld.local.v4.f32 {%0, %1, %2, %3}, [unset];\n\t}"
        : "=f"(totals[0]), "=f"(totals[1]), "=f"(totals[2]), "=f"(totals[3]));
    for (; i + 3 * step < n; i += 4 * step) {
        float a = in[i], b = in[i + step], c = in[i + 2 * step], d = in[i + 3 * step];
        totals[0] += a;
        totals[1] += b;
        totals[2] += c;
        totals[3] += d;
    }
#pragma unroll 1
    for (; i < n; i += step)
        rest += in[i];
    rest = block_sum(rest + (totals[0] + totals[1]) + (totals[2] + totals[3]));
    if (threadIdx.x == 0)
        out[blockIdx.x] = rest;
}

LAB_API void sum(float *out, const float *in, long n, float *scratch, long scratch_count)
{
    int device, sms;

    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device));
    long enough = (n + BLOCK - 1) / BLOCK;
    int blocks = enough < BLOCKS_A_SM * sms ? (int) enough : BLOCKS_A_SM * sms;

    sum_kernel<<<blocks, BLOCK>>>(blocks > 1 ? scratch : out, in, n);
    if (blocks > 1)
        sum_kernel<<<1, BLOCK>>>(out, scratch, blocks);
    CUDA_CHECK(cudaGetLastError());
}
