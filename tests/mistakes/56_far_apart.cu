// lab: scan
// mistake: neighbouring lanes are 16 elements apart; most of the time goes into scratch, not `in`
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256, EACH = 16, TILE = BLOCK * EACH };

// `in` is the input, or flags in scratch.
__global__ void scan_blocks(int *out, const int *in, long n, int *sums)
{
    __shared__ int part[2][BLOCK];
    long first = blockIdx.x * (long) TILE + threadIdx.x * EACH;
    int x[EACH], sum = 0, tid = threadIdx.x, from = 0;

    for (int k = 0; k < EACH; k++)
        x[k] = sum += first + k < n ? in[first + k] : 0;
    part[0][tid] = sum;
    __syncthreads();
    for (int s = 1; s < BLOCK; s *= 2) {
        part[1 - from][tid] = part[from][tid] + (tid >= s ? part[from][tid - s] : 0);
        from = 1 - from;
        __syncthreads();
    }
    for (int k = 0; k < EACH; k++)
        if (first + k < n)
            out[first + k] = x[k] + part[from][tid] - sum;
    if (tid == BLOCK - 1)
        sums[blockIdx.x] = part[from][tid];
}

__global__ void add_before(int *out, long n, const int *sums)
{
    long first = blockIdx.x * (long) TILE + threadIdx.x;

    for (int k = 0; k < EACH; k++)
        if (first + k * BLOCK < n && blockIdx.x > 0)
            out[first + k * BLOCK] += sums[blockIdx.x - 1];
}

__global__ void flag_kernel(int *flags, const int *source, long n)
{
    long i = blockIdx.x * (long) BLOCK + threadIdx.x;

    if (i < n)
        flags[i] = source[i] > 0;
}

__global__ void move_kept(int *out, int *kept, const int *source, long n, const int *places)
{
    long i = blockIdx.x * (long) BLOCK + threadIdx.x;

    if (i < n && source[i] > 0)
        out[places[i] - 1] = source[i];
    if (i == n - 1)
        *kept = places[i];
}

static int blocks_for(long n, int piece)
{
    return (int) ((n + piece - 1) / piece);
}

static void scan_array(int *out, const int *in, long n, int *sums)
{
    int blocks = blocks_for(n, TILE);

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
    if (task == SCAN) {
        scan_array(out, in, n, scratch);
        return;
    }
    flag_kernel<<<blocks_for(n, BLOCK), BLOCK>>>(scratch, in, n);
    CUDA_CHECK(cudaGetLastError());
    scan_array(scratch, scratch, n, scratch + n);
    move_kept<<<blocks_for(n, BLOCK), BLOCK>>>(out, kept, in, n, scratch);
    CUDA_CHECK(cudaGetLastError());
}
