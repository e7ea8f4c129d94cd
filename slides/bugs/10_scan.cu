// Shown in slides/10_scan.md, "Find the bug". The scan of a block in one array: a thread reads a
// sum that its neighbour replaces in the same round. And the sums of the blocks are not scanned,
// but added by one loop per thread, which is right.
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256 };

__global__ void scan_blocks(int *out, const int *in, long n, int *sums)
{
    __shared__ int part[BLOCK];
    int tid = threadIdx.x;
    long i = blockIdx.x * (long) BLOCK + tid;

    part[tid] = i < n ? in[i] : 0;
    __syncthreads(); // separates filling from the first round
    for (int s = 1; s < BLOCK; s *= 2) {
        if (tid >= s)
            part[tid] += part[tid - s];
        __syncthreads(); // separates two rounds
    }
    if (i < n)
        out[i] = part[tid];
    if (tid == BLOCK - 1)
        sums[blockIdx.x] = part[tid];
}

__global__ void add_before(int *out, long n, const int *sums)
{
    long i = blockIdx.x * (long) BLOCK + threadIdx.x;

    for (int b = 0; b < blockIdx.x && i < n; b++)
        out[i] += sums[b];
}

__global__ void flag_kernel(int *flags, const int *in, long n)
{
    long i = blockIdx.x * (long) BLOCK + threadIdx.x;

    if (i < n)
        flags[i] = in[i] > 0;
}

__global__ void move_kept(int *out, int *kept, const int *in, long n, const int *places)
{
    long i = blockIdx.x * (long) BLOCK + threadIdx.x;

    if (i < n && in[i] > 0)
        out[places[i] - 1] = in[i];
    if (i == n - 1)
        *kept = places[i];
}

LAB_API void scan(int *out, int *kept, const int *in, long n, int task, int *scratch,
                  long scratch_count)
{
    int blocks = (int) ((n + BLOCK - 1) / BLOCK);
    int *sums = task == SCAN ? scratch : scratch + n;

    if (task == COMPACT)
        flag_kernel<<<blocks, BLOCK>>>(scratch, in, n);
    scan_blocks<<<blocks, BLOCK>>>(task == SCAN ? out : scratch, task == SCAN ? in : scratch, n,
                                   sums);
    add_before<<<blocks, BLOCK>>>(task == SCAN ? out : scratch, n, sums);
    if (task == COMPACT)
        move_kept<<<blocks, BLOCK>>>(out, kept, in, n, scratch);
    CUDA_CHECK(cudaGetLastError());
}
