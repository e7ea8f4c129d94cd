/* patterns.cuh - shared by the small kernels of patterns.cu.
 *
 * A kernel reads its addresses from `index`, one element number per lane, which the host has filled
 * by a pattern. So the compiler can neither merge nor predict the accesses. A lane with -1 does not
 * access memory.
 */
#ifndef PATTERNS_CUH
#define PATTERNS_CUH

#include <cuda_runtime.h>

enum { TILE_WORDS = 4096, STEPS = 24 };

/* The meaning of n depends on the kernel. */
typedef void Kernel(void *out, const void *in, const int *index, int n);

/* Arithmetic that the compiler cannot simplify, the same in PTX and in machine code. */
static __device__ __forceinline__ unsigned mix(unsigned x)
{
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    return x;
}

static __device__ __forceinline__ unsigned mix_other(unsigned x)
{
    return (x << 7 | x >> 25) + 0x9e3779b9u;
}

static __device__ __forceinline__ int thread_number(void)
{
    return (int) (blockIdx.x * blockDim.x + threadIdx.x);
}

/* Fills the whole tile before a pattern reads it: 1 wavefront per warp and 32 words. */
static __device__ __forceinline__ void fill_tile(int *tile, const void *in)
{
#pragma unroll 1
    for (int i = (int) threadIdx.x; i < TILE_WORDS; i += (int) blockDim.x)
        tile[i] = i + ((const int *) in)[0];
    __syncthreads();
}

#endif
