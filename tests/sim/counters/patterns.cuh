/* patterns.cuh - what the small kernels of patterns.cu have in common.
 *
 * A kernel takes its addresses from `index`, an element number a lane, which the host has written
 * by a pattern: so no compiler can merge, hoist or foresee them. A lane with -1 stays out.
 */
#ifndef PATTERNS_CUH
#define PATTERNS_CUH

#include <cuda_runtime.h>

enum { TILE_WORDS = 4096, STEPS = 24 };

/* n: whatever number the kernel wants. */
typedef void Kernel(void *out, const void *in, const int *index, int n);

/* Arithmetic that no compiler shortens, alike in PTX and in machine code. */
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

/* The whole tile is written before a pattern reads it: 1 wavefront per warp and 32 words. */
static __device__ __forceinline__ void fill_tile(int *tile, const void *in)
{
#pragma unroll 1
    for (int i = (int) threadIdx.x; i < TILE_WORDS; i += (int) blockDim.x)
        tile[i] = i + ((const int *) in)[0];
    __syncthreads();
}

#endif
