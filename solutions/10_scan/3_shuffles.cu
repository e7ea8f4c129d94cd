// rung: 3, expect: slow - shuffles scan a warp; only the warps' totals go through shared memory
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256, WARP = 32, WARPS = BLOCK / WARP };

// The sum of the values of a warp's lanes up to this one. All 32 lanes must call it.
static __device__ int warp_scan(int value)
{
    int lane = threadIdx.x % WARP;

    for (int s = 1; s < WARP; s *= 2) {
        int other = __shfl_up_sync(0xffffffff, value, s);
        if (lane >= s)
            value += other;
    }
    return value;
}

// The sum of the totals of all warps before this one; *all becomes the sum of all totals. All
// threads of the block must call it.
static __device__ int before_warp(int total, int *all)
{
    __shared__ int totals[WARPS];
    int warp = threadIdx.x / WARP, before = 0;

    if (threadIdx.x % WARP == 0)
        totals[warp] = total;

    // Separates storing each warp's total from the loads of all totals.
    __syncthreads();

    *all = 0;
    for (int w = 0; w < WARPS; w++) {
        before += w < warp ? totals[w] : 0;
        *all += totals[w];
    }
    return before;
}

// out[i] becomes the sum of the elements of i's block up to i, sums[b] the sum of block b.
__global__ void scan_blocks(int *out, const int *in, long n, int *sums)
{
    long i = blockIdx.x * (long) BLOCK + threadIdx.x;
    int up_to = warp_scan(i < n ? in[i] : 0), all;

    up_to += before_warp(__shfl_sync(0xffffffff, up_to, WARP - 1), &all);
    if (i < n)
        out[i] = up_to;
    if (threadIdx.x == 0)
        sums[blockIdx.x] = all;
}

// Adds to each element the sum of all blocks before its own; sums[b] is that of blocks 0 .. b.
__global__ void add_before(int *out, long n, const int *sums)
{
    long i = blockIdx.x * (long) BLOCK + threadIdx.x;

    if (i < n && blockIdx.x > 0)
        out[i] += sums[blockIdx.x - 1];
}

__global__ void flag_kernel(int *flags, const int *in, long n)
{
    long i = blockIdx.x * (long) BLOCK + threadIdx.x;

    if (i < n)
        flags[i] = in[i] > 0;
}

// places[i] elements among in[0 .. i] are kept.
__global__ void move_kept(int *out, int *kept, const int *in, long n, const int *places)
{
    long i = blockIdx.x * (long) BLOCK + threadIdx.x;

    if (i < n && in[i] > 0)
        out[places[i] - 1] = in[i];
    if (i == n - 1)
        *kept = places[i];
}

static int pieces(long n, int piece)
{
    return (int) ((n + piece - 1) / piece);
}

// `out` and `in` may be the same array; sums has room for the sums of all blocks of all levels.
static void scan_array(int *out, const int *in, long n, int *sums)
{
    int blocks = pieces(n, BLOCK);

    scan_blocks<<<blocks, BLOCK>>>(out, in, n, sums);
    CUDA_CHECK(cudaGetLastError());
    if (blocks == 1)
        return;
    scan_array(sums, sums, blocks, sums + blocks);
    add_before<<<blocks, BLOCK>>>(out, n, sums);
    CUDA_CHECK(cudaGetLastError());
}

LAB_API void scan(int *out, int *kept, const int *in, long n, int task, int *scratch,
                  long scratch_count)
{
    int blocks = pieces(n, BLOCK);

    if (task == SCAN) {
        scan_array(out, in, n, scratch);
        return;
    }
    flag_kernel<<<blocks, BLOCK>>>(scratch, in, n);
    CUDA_CHECK(cudaGetLastError());
    scan_array(scratch, scratch, n, scratch + n);
    move_kept<<<blocks, BLOCK>>>(out, kept, in, n, scratch);
    CUDA_CHECK(cudaGetLastError());
}
