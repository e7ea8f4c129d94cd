// expect: wrong_or_unsafe - adds the sum of one block before, not of all: the sums are not scanned
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256 };

// out[i] becomes the sum of the elements of i's block up to i, sums[b] the sum of block b.
__global__ void scan_blocks(int *out, const int *in, long n, int *sums)
{
    __shared__ int part[2][BLOCK];
    int tid = threadIdx.x, from = 0;
    long i = blockIdx.x * (long) BLOCK + tid;

    part[0][tid] = i < n ? in[i] : 0;

    // Separates filling from the first round: a thread adds a value that another has loaded.
    __syncthreads();

    for (int s = 1; s < BLOCK; s *= 2) {
        part[1 - from][tid] = part[from][tid] + (tid >= s ? part[from][tid - s] : 0);
        from = 1 - from;

        // Separates two rounds: in the next, other threads add the sums written in this one.
        __syncthreads();
    }

    if (i < n)
        out[i] = part[from][tid];
    if (tid == BLOCK - 1)
        sums[blockIdx.x] = part[from][tid];
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

static int blocks_for(long n)
{
    return (int) ((n + BLOCK - 1) / BLOCK);
}

// `out` and `in` may be the same array; sums has room for the sums of all blocks of all levels.
static void scan_array(int *out, const int *in, long n, int *sums)
{
    int blocks = blocks_for(n);

    scan_blocks<<<blocks, BLOCK>>>(out, in, n, sums);
    CUDA_CHECK(cudaGetLastError());
    if (blocks == 1)
        return;
    add_before<<<blocks, BLOCK>>>(out, n, sums);
    CUDA_CHECK(cudaGetLastError());
}

LAB_API void scan(int *out, int *kept, const int *in, long n, int task, int *scratch,
                  long scratch_count)
{
    if (task == SCAN) {
        scan_array(out, in, n, scratch);
        return;
    }
    flag_kernel<<<blocks_for(n), BLOCK>>>(scratch, in, n);
    CUDA_CHECK(cudaGetLastError());
    scan_array(scratch, scratch, n, scratch + n);
    move_kept<<<blocks_for(n), BLOCK>>>(out, kept, in, n, scratch);
    CUDA_CHECK(cudaGetLastError());
}
