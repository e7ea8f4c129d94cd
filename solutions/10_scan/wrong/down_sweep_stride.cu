// expect: unsafe_or_stray - the printed down-sweep, mistake 2: pairs begin s * s apart, not 2 * s
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256, TILE = 2 * BLOCK, BANKS = 32 };

// One gap after 32 words, so that words a power of two apart are in different banks.
static __device__ int padded(int i)
{
    return i + i / BANKS;
}

// out[i] becomes the sum of the elements of i's block up to i, sums[b] the sum of block b.
__global__ void scan_blocks(int *out, const int *in, long n, int *sums)
{
    __shared__ int part[TILE + TILE / BANKS];
    int tid = threadIdx.x;
    long i = blockIdx.x * (long) TILE + tid, j = i + BLOCK;
    int a = i < n ? in[i] : 0, b = j < n ? in[j] : 0;

    part[padded(tid)] = a;
    part[padded(tid + BLOCK)] = b;

    // Up: the last element of each piece of 2 * s becomes the sum of the piece.
    for (int s = 1; s < TILE; s *= 2) {
        int right = 2 * s * (tid + 1) - 1;

        // Separates filling, or the previous round, from this one.
        __syncthreads();
        if (right < TILE)
            part[padded(right)] += part[padded(right - s)];
    }
    if (tid == 0) { // which computed it in the last round
        sums[blockIdx.x] = part[padded(TILE - 1)];
        part[padded(TILE - 1)] = 0;
    }

    // Down: each piece passes what comes before it to its left half, and adds that half for the
    // right one.
    for (int s = TILE / 2; s > 0; s /= 2) {
        int right = s * s * tid + 2 * s - 1;

        // Separates the previous round from this one.
        __syncthreads();
        if (right < TILE) {
            int left_half = part[padded(right - s)];
            part[padded(right - s)] = part[padded(right)];
            part[padded(right)] += left_half;
        }
    }

    // Separates the last round from the loads of what other threads wrote in it.
    __syncthreads();
    if (i < n)
        out[i] = part[padded(tid)] + a;
    if (j < n)
        out[j] = part[padded(tid + BLOCK)] + b;
}

// Adds to each element the sum of all blocks before its own; sums[b] is that of blocks 0 .. b.
__global__ void add_before(int *out, long n, const int *sums)
{
    long i = blockIdx.x * (long) BLOCK + threadIdx.x;
    long before = i / TILE - 1; // the block of the scan before i's

    if (i < n && before >= 0)
        out[i] += sums[before];
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
    int blocks = pieces(n, TILE);

    scan_blocks<<<blocks, BLOCK>>>(out, in, n, sums);
    CUDA_CHECK(cudaGetLastError());
    if (blocks == 1)
        return;
    scan_array(sums, sums, blocks, sums + blocks);
    add_before<<<pieces(n, BLOCK), BLOCK>>>(out, n, sums);
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
