// rung: beyond, expect: pass - one launch: the block that finishes last adds up what all have found
// It learns that it is the last from a counter. Unlike one atomicAdd a block on the sum itself, the
// order of the additions is fixed: the same input gives the same bits in every run.
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 1024, WARP = 32, WARPS = BLOCK / WARP, WIDE = 4, LOADS = 4 };

// The sum of what the lanes of a warp hold, in lane 0. All 32 must call it.
static __device__ float warp_sum(float value)
{
    for (int s = WARP / 2; s > 0; s /= 2)
        value += __shfl_down_sync(0xffffffff, value, s);
    return value;
}

// The sum of what the threads of a block hold, in thread 0. All of them must call it.
static __device__ float block_sum(float value)
{
    __shared__ float part[WARPS];
    int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;

    value = warp_sum(value);
    if (lane == 0)
        part[warp] = value;

    // Between writing a sum a warp and the first warp's reading of them all.
    __syncthreads();

    if (warp == 0)
        value = warp_sum(lane < WARPS ? part[lane] : 0);
    return value;
}

static __device__ float4 add(float4 a, float4 b)
{
    return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}

// The sum of one thread's share of in[0 .. n - 1]; the threads of the grid share all of it.
static __device__ float thread_sum(const float *in, long n)
{
    // A float4 lies on a multiple of 16 bytes: up to three elements come before the first one.
    int head = (int) (-((size_t) in / sizeof(float)) % WIDE);
    int quads = n > head ? (int) ((n - head) / WIDE) : 0;
    const float4 *in4 = (const float4 *) (in + head);
    int first = blockIdx.x * BLOCK + threadIdx.x, step = gridDim.x * BLOCK;
    int tile = LOADS * BLOCK, tiles = quads / tile;
    float4 total = make_float4(0, 0, 0, 0);

    // A block reads 64 KiB that lie together, each warp four pieces of it, and moves on by a grid.
    for (int t = blockIdx.x; t < tiles; t += gridDim.x) {
        const float4 *mine = in4 + (long) t * tile + threadIdx.x;
        float4 four[LOADS];
        // All loads before the first addition.
        for (int k = 0; k < LOADS; k++)
            four[k] = __ldcs(&mine[k * BLOCK]);
        for (int k = 0; k < LOADS; k++)
            total = add(total, four[k]);
    }
    for (int i = tiles * tile + first; i < quads; i += step) // less than a tile is left
        total = add(total, __ldcs(&in4[i]));

    // What no float4 holds: up to three elements before them, and up to three behind.
    long behind = head + (long) WIDE * quads + first;
    if (first < head && first < n)
        total.x += in[first];
    if (behind < n)
        total.x += in[behind];
    return (total.x + total.y) + (total.z + total.w);
}

// How many blocks of the running call have finished; 0 between two calls.
static __device__ unsigned finished;

// True in all threads of the block that comes last; then the sums of all blocks are in memory.
static __device__ bool is_last_block(void)
{
    __shared__ bool last;

    if (threadIdx.x == 0) {
        // Between this block's sum and the news of it.
        __threadfence();
        // Counts up to gridDim.x - 1, then starts at 0 again: ready for the next call.
        last = atomicInc(&finished, gridDim.x - 1) == gridDim.x - 1;
        // Between the news of the other blocks' sums and their reading.
        __threadfence();
    }

    // Between thread 0's finding out and all threads' knowing; and between the two uses that are
    // made of block_sum()'s shared memory.
    __syncthreads();
    return last;
}

// *out becomes the sum of in[0 .. n - 1]; sums has a float for each block.
__global__ void sum_kernel(float *out, const float *in, long n, float *sums)
{
    float total = block_sum(thread_sum(in, n));

    if (threadIdx.x == 0)
        sums[blockIdx.x] = total;
    if (!is_last_block())
        return;

    // From L2, where the other SMs have written it, and not from this SM's L1.
    total = 0;
    for (int b = threadIdx.x; b < gridDim.x; b += BLOCK)
        total += __ldcg(&sums[b]);
    total = block_sum(total);
    if (threadIdx.x == 0)
        *out = total;
}

// As many blocks as stay resident, and no more than there is work for.
static int grid_blocks(long n)
{
    static int resident; // of this device, which stays the same
    long enough = (n + WIDE * BLOCK - 1) / (WIDE * BLOCK);

    if (!resident) {
        int device, sms, blocks_a_sm;
        CUDA_CHECK(cudaGetDevice(&device));
        CUDA_CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device));
        CUDA_CHECK(
            cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks_a_sm, sum_kernel, BLOCK, 0));
        resident = sms * blocks_a_sm;
    }
    return enough < resident ? (int) enough : resident;
}

LAB_API void sum(float *out, const float *in, long n, float *scratch, long scratch_count)
{
    sum_kernel<<<grid_blocks(n), BLOCK>>>(out, in, n, scratch);
    CUDA_CHECK(cudaGetLastError());
}
