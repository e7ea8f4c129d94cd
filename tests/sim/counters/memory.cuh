/* memory.cuh - kernels with one access whose pattern matters: to global, shared, local or constant
 * memory, or a copy from global to shared memory. */
#ifndef MEMORY_CUH
#define MEMORY_CUH

#include "patterns.cuh"

/* ---- Global memory ---- */

template <typename T> __global__ void load(void *out, const void *in, const int *index, int n)
{
    int i = index[threadIdx.x];

    if (i >= 0)
        ((T *) out)[threadIdx.x] = ((const T *) in)[i];
}

template <typename T> __global__ void store(void *out, const void *in, const int *index, int n)
{
    int i = index[threadIdx.x];

    if (i >= 0)
        ((T *) out)[i] = ((const T *) in)[threadIdx.x];
}

/* Loads through the read-only cache, loads that bypass L1, and volatile loads. */
__global__ void load_read_only(void *out, const void *in, const int *index, int n)
{
    int i = index[threadIdx.x];

    if (i >= 0)
        ((float *) out)[threadIdx.x] = __ldg((const float *) in + i);
}

__global__ void load_streaming(void *out, const void *in, const int *index, int n)
{
    int i = index[threadIdx.x];

    if (i >= 0)
        __stcs((float *) out + threadIdx.x, __ldcs((const float *) in + i));
}

__global__ void load_volatile(void *out, const void *in, const int *index, int n)
{
    int i = index[threadIdx.x];

    if (i >= 0)
        ((volatile float *) out)[threadIdx.x] = ((const volatile float *) in)[i];
}

/* An array of structs: three loads and three stores, with a stride of 12 bytes between lanes. */
__global__ void load_float3(void *out, const void *in, const int *index, int n)
{
    int i = index[threadIdx.x];

    if (i >= 0)
        ((float3 *) out)[threadIdx.x] = ((const float3 *) in)[i];
}

/* ---- Shared memory ---- */

template <typename T>
__global__ void shared_load(void *out, const void *in, const int *index, int n)
{
    __shared__ int4 tile[TILE_WORDS / 4];
    int i = index[threadIdx.x];

    fill_tile((int *) tile, in);
    if (i >= 0)
        ((T *) out)[threadIdx.x] = ((const T *) tile)[i];
}

template <typename T>
__global__ void shared_store(void *out, const void *in, const int *index, int n)
{
    __shared__ int4 tile[TILE_WORDS / 4];
    int i = index[threadIdx.x];

    fill_tile((int *) tile, in);
    if (i >= 0)
        ((T *) tile)[i] = ((const T *) in)[threadIdx.x];
    __syncthreads();
    ((int *) out)[threadIdx.x] = ((const int *) tile)[threadIdx.x];
}

/* A tile of 32 x 32 written by rows and read by columns, with n floats per row: block 32 x 8. */
__global__ void shared_tile(void *out, const void *in, const int *index, int n)
{
    extern __shared__ float padded[];
    int x = (int) threadIdx.x;

    for (int y = (int) threadIdx.y; y < 32; y += (int) blockDim.y)
        padded[y * n + x] = ((const float *) in)[y * 32 + x];
    __syncthreads();
    for (int y = (int) threadIdx.y; y < 32; y += (int) blockDim.y)
        ((float *) out)[y * 32 + x] = padded[x * n + y];
}

/* A pointer whose address space is known only at run time; n: whether it points to shared memory.
 */
__global__ void load_generic(void *out, const void *in, const int *index, int n)
{
    __shared__ int4 tile[TILE_WORDS / 4];
    int i = index[threadIdx.x];

    fill_tile((int *) tile, in);
    const float *from = n ? (const float *) tile : (const float *) in;
    if (i >= 0)
        ((float *) out)[threadIdx.x] = ((const volatile float *) from)[i];
}

/* ---- Accesses that must count neither as global nor as shared ---- */

__constant__ float table[64] = { 1, 2, 3, 4, 5, 6, 7, 8 };

__global__ void load_constant(void *out, const void *in, const int *index, int n)
{
    int i = index[threadIdx.x];

    if (i >= 0)
        ((float *) out)[threadIdx.x] = table[i & 63];
}

__global__ void local_array(void *out, const void *in, const int *index, int n)
{
    float mine[32];
    int i = index[threadIdx.x];

    for (int k = 0; k < 32; k++)
        mine[k] = (float) (k * n);
    mine[i & 31] += 1;
    mine[i >> 1 & 31] += 2;
    ((float *) out)[threadIdx.x] = mine[(i + n) & 31];
}

/* ---- Asynchronous copies to shared memory: .ca with 4, 8 or 16 bytes; .cg with 16 ---- */

template <int BYTES> __device__ __forceinline__ void copy_begin(unsigned to, const void *from)
{
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(to), "l"(from), "n"(BYTES));
}

template <int BYTES> __global__ void copy_async(void *out, const void *in, const int *index, int n)
{
    __shared__ int4 tile[TILE_WORDS / 4];
    int i = index[threadIdx.x];

    fill_tile((int *) tile, in);
    if (i >= 0)
        copy_begin<BYTES>((unsigned) __cvta_generic_to_shared(tile) + threadIdx.x * BYTES,
                          (const char *) in + i * BYTES);
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncthreads();
    ((int *) out)[threadIdx.x] = ((const int *) tile)[threadIdx.x];
}

/* The pattern applies to the destination. */
template <int BYTES>
__global__ void copy_async_to(void *out, const void *in, const int *index, int n)
{
    __shared__ int4 tile[TILE_WORDS / 4];
    int i = index[threadIdx.x];

    fill_tile((int *) tile, in);
    if (i >= 0)
        copy_begin<BYTES>((unsigned) __cvta_generic_to_shared(tile) + (unsigned) (i * BYTES),
                          (const char *) in + threadIdx.x * BYTES);
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncthreads();
    ((int *) out)[threadIdx.x] = ((const int *) tile)[threadIdx.x];
}

__global__ void copy_async_cg(void *out, const void *in, const int *index, int n)
{
    __shared__ int4 tile[TILE_WORDS / 4];
    int i = index[threadIdx.x];

    fill_tile((int *) tile, in);
    if (i >= 0)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(
                         (unsigned) __cvta_generic_to_shared(tile) + threadIdx.x * 16),
                     "l"((const char *) in + i * 16));
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncthreads();
    ((int *) out)[threadIdx.x] = ((const int *) tile)[threadIdx.x];
}

#endif
