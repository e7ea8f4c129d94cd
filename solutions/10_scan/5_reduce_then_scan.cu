// rung: 5, expect: device (sim: slow) - sums first, then the scan: two reads, but only one write
#include "cudalab.cuh"
#include "kernel.h"

// A warp's share of a tile is ROUNDS runs of 128 elements, four per lane; or STEPS runs of 32.
enum { BLOCK = 256, WARP = 32, WARPS = BLOCK / WARP, QUAD = 4, ROUNDS = 4 };
enum { RUN = WARP * QUAD, SHARE = ROUNDS * RUN, STEPS = SHARE / WARP, TILE = WARPS * SHARE };

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

// Elements i .. i + 3 of an array of n; 0 for those past its end. i is a multiple of 4.
static __device__ int4 load_quad(const int *in, long i, long n)
{
    if (i + QUAD <= n)
        return *(const int4 *) (in + i);
    return make_int4(i < n ? in[i] : 0, i + 1 < n ? in[i + 1] : 0, i + 2 < n ? in[i + 2] : 0, 0);
}

static __device__ void store_quad(int *out, long i, long n, int4 quad)
{
    if (i + QUAD <= n) {
        __stwb((int4 *) (out + i), quad); // as one store; the compiler may split an assignment
        return;
    }
    if (i < n)
        out[i] = quad.x;
    if (i + 1 < n)
        out[i + 1] = quad.y;
    if (i + 2 < n)
        out[i + 2] = quad.z;
}

static __device__ int4 add(int4 quad, int value)
{
    return make_int4(quad.x + value, quad.y + value, quad.z + value, quad.w + value);
}

// Turns each element of a warp's share into the sum of the share up to it. Returns the sum of all.
// All 32 lanes must call it.
static __device__ int scan_share(int4 share[ROUNDS])
{
    int total = 0;

#pragma unroll // so that the share stays in registers
    for (int k = 0; k < ROUNDS; k++) {
        int4 q = share[k];
        int sum = q.x + q.y + q.z + q.w, up_to = warp_scan(sum);

        q = make_int4(q.x, q.x + q.y, q.x + q.y + q.z, sum);
        share[k] = add(q, total + up_to - sum);
        total += __shfl_sync(0xffffffff, up_to, WARP - 1);
    }
    return total;
}

// The 16 elements of a lane, 32 apart, so that a warp's loads and votes follow the array's order.
// Elements past the end become 0, which is not kept.
static __device__ void load_steps(int share[STEPS], const int *in, long first, long n)
{
    int left = n - first < SHARE ? (int) (n - first) : SHARE;

#pragma unroll
    for (int k = 0; k < STEPS; k++)
        share[k] = k * WARP < left ? in[first + k * WARP] : 0;
}

// Returns how many elements of the warp's share are kept. votes[k] has a bit for each lane that
// keeps its element of step k. All 32 lanes must call it.
static __device__ int vote(const int share[STEPS], unsigned votes[STEPS])
{
    int count = 0;

#pragma unroll
    for (int k = 0; k < STEPS; k++) {
        votes[k] = __ballot_sync(0xffffffff, share[k] > 0);
        count += __popc(votes[k]);
    }
    return count;
}

// Collects the warp's kept elements in shared memory, from collected[place] on.
static __device__ void collect(int collected[TILE], int place, const int share[STEPS],
                               const unsigned votes[STEPS])
{
    unsigned lanes_before = (1u << threadIdx.x % WARP) - 1;

#pragma unroll
    for (int k = 0; k < STEPS; k++) {
        if (share[k] > 0)
            collected[place + __popc(votes[k] & lanes_before)] = share[k];
        place += __popc(votes[k]);
    }
}

// The first element of this warp's share of a tile.
static __device__ long first_of_warp(long tile)
{
    return tile * TILE + threadIdx.x / WARP * SHARE;
}

// sums[b] becomes the sum of tile b, or the number of its elements that are kept.
template <int TASK> __global__ void sum_tiles(int *sums, const int *in, long n)
{
    long first = first_of_warp(blockIdx.x) + threadIdx.x % WARP;
    int share[STEPS], sum = 0, all;

    load_steps(share, in, first, n);
#pragma unroll
    for (int k = 0; k < STEPS; k++)
        sum += TASK == SCAN ? share[k] : share[k] > 0;
    before_warp(__shfl_sync(0xffffffff, warp_scan(sum), WARP - 1), &all);
    if (threadIdx.x == 0)
        sums[blockIdx.x] = all;
}

// out[i] becomes in[0] + ... + in[i]; sums[b] is the sum of tiles 0 .. b. `out` may be `in`.
__global__ void scan_tiles(int *out, const int *in, long n, const int *sums)
{
    long first = first_of_warp(blockIdx.x) + threadIdx.x % WARP * QUAD;
    int4 share[ROUNDS];
    int before = blockIdx.x > 0 ? sums[blockIdx.x - 1] : 0, all;

#pragma unroll // all loads before the first addition
    for (int k = 0; k < ROUNDS; k++)
        share[k] = load_quad(in, first + k * RUN, n);
    before += before_warp(scan_share(share), &all);
#pragma unroll
    for (int k = 0; k < ROUNDS; k++)
        store_quad(out, first + k * RUN, n, add(share[k], before));
}

// Stores the kept elements of a tile after those of the tiles before it.
__global__ void compact_tiles(int *out, int *kept, const int *in, long n, const int *sums)
{
    __shared__ int collected[TILE];
    long first = first_of_warp(blockIdx.x) + threadIdx.x % WARP;
    int before = blockIdx.x > 0 ? sums[blockIdx.x - 1] : 0, share[STEPS], all;
    unsigned votes[STEPS];

    load_steps(share, in, first, n);
    int place = before_warp(vote(share, votes), &all);
    collect(collected, place, share, votes);

    // Separates collecting from the loads of elements that other threads have collected.
    __syncthreads();
    for (int i = threadIdx.x; i < all; i += BLOCK)
        out[before + i] = collected[i];
    if (blockIdx.x == gridDim.x - 1 && threadIdx.x == 0)
        *kept = before + all;
}

static int tiles_for(long n)
{
    return (int) ((n + TILE - 1) / TILE);
}

// Sums begin at multiples of 16 bytes, where int4 may begin.
static int round_up(int count)
{
    return (count + QUAD - 1) / QUAD * QUAD;
}

// `out` and `in` may be the same array; sums has room for the sums of all tiles of all levels.
static void scan_array(int *out, const int *in, long n, int *sums)
{
    int tiles = tiles_for(n);

    if (tiles > 1) {
        sum_tiles<SCAN><<<tiles, BLOCK>>>(sums, in, n);
        CUDA_CHECK(cudaGetLastError());
        scan_array(sums, sums, tiles, sums + round_up(tiles));
    }
    scan_tiles<<<tiles, BLOCK>>>(out, in, n, sums);
    CUDA_CHECK(cudaGetLastError());
}

static void compact_array(int *out, int *kept, const int *in, long n, int *sums)
{
    int tiles = tiles_for(n);

    if (tiles > 1) {
        sum_tiles<COMPACT><<<tiles, BLOCK>>>(sums, in, n);
        CUDA_CHECK(cudaGetLastError());
        scan_array(sums, sums, tiles, sums + round_up(tiles));
    }
    compact_tiles<<<tiles, BLOCK>>>(out, kept, in, n, sums);
    CUDA_CHECK(cudaGetLastError());
}

LAB_API void scan(int *out, int *kept, const int *in, long n, int task, int *scratch,
                  long scratch_count)
{
    if (task == SCAN)
        scan_array(out, in, n, scratch);
    else
        compact_array(out, kept, in, n, scratch);
}
