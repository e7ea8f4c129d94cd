// expect: stray (sim: unsafe) - the last int4 is read and written past the end
#include "cudalab.cuh"
#include "kernel.h"

// A warp's share of a tile is ROUNDS runs of 128 elements: four per lane.
enum { BLOCK = 256, WARP = 32, WARPS = BLOCK / WARP, QUAD = 4, ROUNDS = 4 };
enum { RUN = WARP * QUAD, SHARE = ROUNDS * RUN, TILE = WARPS * SHARE };

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
    if (i < n)
        return *(const int4 *) (in + i);
    return make_int4(i < n ? in[i] : 0, i + 1 < n ? in[i + 1] : 0, i + 2 < n ? in[i + 2] : 0, 0);
}

static __device__ void store_quad(int *out, long i, long n, int4 quad)
{
    if (i < n) {
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

// The first element that this lane takes in a share's first run.
static __device__ long first_of_lane(long tile)
{
    int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;

    return tile * TILE + warp * SHARE + lane * QUAD;
}

// out[i] becomes the sum of the elements of i's tile up to i, sums[b] the sum of tile b.
__global__ void scan_blocks(int *out, const int *in, long n, int *sums)
{
    long first = first_of_lane(blockIdx.x);
    int4 share[ROUNDS];
    int before, all;

#pragma unroll // all loads before the first addition
    for (int k = 0; k < ROUNDS; k++)
        share[k] = load_quad(in, first + k * RUN, n);
    before = before_warp(scan_share(share), &all);
#pragma unroll
    for (int k = 0; k < ROUNDS; k++)
        store_quad(out, first + k * RUN, n, add(share[k], before));
    if (threadIdx.x == 0)
        sums[blockIdx.x] = all;
}

// Adds to each element the sum of all tiles before its own; sums[b] is that of tiles 0 .. b.
__global__ void add_before(int *out, long n, const int *sums)
{
    long first = first_of_lane(blockIdx.x);
    int before = blockIdx.x > 0 ? sums[blockIdx.x - 1] : 0;

#pragma unroll
    for (int k = 0; k < ROUNDS; k++)
        store_quad(out, first + k * RUN, n, add(load_quad(out, first + k * RUN, n), before));
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

// Sums begin at multiples of 16 bytes, where int4 may begin.
static long round_up(long count)
{
    return (count + QUAD - 1) / QUAD * QUAD;
}

// `out` and `in` may be the same array; sums has room for the sums of all blocks of all levels.
static void scan_array(int *out, const int *in, long n, int *sums)
{
    int blocks = pieces(n, TILE);

    scan_blocks<<<blocks, BLOCK>>>(out, in, n, sums);
    CUDA_CHECK(cudaGetLastError());
    if (blocks == 1)
        return;
    scan_array(sums, sums, blocks, sums + round_up(blocks));
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
    scan_array(scratch, scratch, n, scratch + round_up(n));
    move_kept<<<blocks, BLOCK>>>(out, kept, in, n, scratch);
    CUDA_CHECK(cudaGetLastError());
}
