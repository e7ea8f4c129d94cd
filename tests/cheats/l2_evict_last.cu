// expect: slow - reads with a hint to stay in L2; the kernel is slow
// lab: coalescing
// The hint is an instruction, which no list of symbols shows. Similar to exploit 20. Defence:
// contents are new in each sample and its sets exceed L2, so data that stays is never read again.
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256 };

static __device__ long keep_policy(void)
{
    long policy = 0;

#if __CUDA_ARCH__ >= 800
    asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
#endif
    return policy;
}

// The lanes read down one feature's column: correct, but far too slow to pass.
__global__ void standardise_kernel(float *out, const float *in, const float *mean,
                                   const float *scale, int rows, int cols)
{
    int r = blockIdx.x * BLOCK + threadIdx.x, c = blockIdx.y;

    float value;

    if (r >= rows)
        return;
#if __CUDA_ARCH__ >= 800
    asm volatile("ld.global.L1::evict_last.L2::cache_hint.f32 %0, [%1], %2;"
                 : "=f"(value)
                 : "l"(in + (size_t) r * cols + c), "l"(keep_policy()));
#else
    value = in[(size_t) r * cols + c];
#endif
    out[(size_t) r * cols + c] = (value - mean[c]) * scale[c];
}

LAB_API void standardise(float *out, const float *in, const float *mean, const float *scale,
                         int rows, int cols)
{
    standardise_kernel<<<dim3(ceil_div(rows, BLOCK), cols), BLOCK>>>(out, in, mean, scale, rows,
                                                                     cols);
    CUDA_CHECK(cudaGetLastError());
}
