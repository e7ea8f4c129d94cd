// expect: device (sim: pass) - tiles turned in shared memory; sum and flag in two words, fenced
// lab: scan
#include "cudalab.cuh"
#include "kernel.h"

enum { THREADS = 256, ITEMS = 15, TILE = THREADS * ITEMS, LANES = 32 };

struct Chain {
    unsigned *counter;
    volatile int *flag; // 0, 1: own is written, 2: total is written, too
    volatile int *own, *total;
};

template <bool Keep> static __device__ int weight(int x)
{
    return Keep ? x > 0 : x;
}

static __device__ int inclusive(int x)
{
    for (int d = 1; d < LANES; d <<= 1) {
        int y = __shfl_up_sync(~0u, x, d);
        x += threadIdx.x % LANES >= d ? y : 0;
    }
    return x;
}

static __device__ void tell(const Chain &c, volatile int *where, int tile, int sum, int flag)
{
    where[tile] = sum;
    __threadfence(); // the sum before the flag
    c.flag[tile] = flag;
}

// Called by the first warp: the sum of tiles 0 .. tile - 1.
static __device__ int before(const Chain &c, int tile)
{
    int sum = 0;

    for (int at = tile - 1 - (int) threadIdx.x;; at -= LANES) {
        int flag;
        do
            flag = at < 0 ? 2 : c.flag[at];
        while (__any_sync(~0u, flag == 0));
        __threadfence(); // the flag before the sum
        int x = at < 0 ? 0 : flag == 2 ? c.total[at] : c.own[at];
        unsigned done = __ballot_sync(~0u, flag == 2);
        if (!done || threadIdx.x <= __ffs(done) - 1)
            sum += x;
        if (done)
            break;
    }
    for (int d = LANES / 2; d; d >>= 1)
        sum += __shfl_xor_sync(~0u, sum, d);
    return sum;
}

template <bool Keep>
__global__ void __launch_bounds__(THREADS)
    pass(int *out, int *kept, const int *__restrict__ in, int n, Chain c)
{
    __shared__ int data[TILE], warps[THREADS / LANES], tile, start;
    int t = threadIdx.x, mine[ITEMS], sum = 0;

    if (t == 0)
        tile = atomicAdd(c.counter, 1);
    __syncthreads(); // separates drawing the tile from using it
    const long base = (long) tile * TILE;
    const int size = (int) min((long) TILE, n - base);

#pragma unroll
    for (int k = 0; k < ITEMS; k++)
        mine[k] = k * THREADS + t < size ? in[base + k * THREADS + t] : 0;
#pragma unroll
    for (int k = 0; k < ITEMS; k++)
        data[k * THREADS + t] = mine[k];
    __syncthreads(); // separates filling from reading in another order; 15 is odd: no conflicts
#pragma unroll
    for (int k = 0; k < ITEMS; k++) {
        mine[k] = data[t * ITEMS + k];
        sum += weight<Keep>(mine[k]);
    }

    int up_to = inclusive(sum);
    if (t % LANES == LANES - 1)
        warps[t / LANES] = up_to;
    __syncthreads(); // separates the warps' sums from the first warp's loads
    if (t < LANES) {
        int all = inclusive(t < THREADS / LANES ? warps[t] : 0);
        if (t < THREADS / LANES)
            warps[t] = all;
        all = __shfl_sync(~0u, all, THREADS / LANES - 1);
        if (t == 0)
            tell(c, c.own, tile, all, 1);
        int first = before(c, tile);
        if (t == 0) {
            tell(c, c.total, tile, first + all, 2);
            start = first;
            if (Keep && base + size == n)
                *kept = first + all;
        }
    }
    __syncthreads(); // separates the first warp's stores from all loads
    int place = up_to - sum + (t >= LANES ? warps[t / LANES - 1] : 0);

#pragma unroll
    for (int k = 0; k < ITEMS; k++) {
        if (Keep && mine[k] > 0)
            data[place] = mine[k];
        place += weight<Keep>(mine[k]);
        if (!Keep)
            data[t * ITEMS + k] = start + place;
    }
    __syncthreads(); // separates the results from the loads that store them
    const int count = Keep ? warps[THREADS / LANES - 1] : size;
    int *to = Keep ? out + start : out + base;
    for (int i = t; i < count; i += THREADS)
        to[i] = data[i];
}

__global__ void reset(Chain c, int tiles)
{
    int i = blockIdx.x * THREADS + threadIdx.x;

    if (i < tiles)
        c.flag[i] = 0;
    if (i == 0)
        *c.counter = 0;
}

LAB_API void scan(int *out, int *kept, const int *in, long n, int task, int *scratch,
                  long scratch_count)
{
    int tiles = (int) ((n + TILE - 1) / TILE);
    Chain c = { (unsigned *) scratch, scratch + 32, scratch + 32 + tiles,
                scratch + 32 + 2 * tiles };

    reset<<<(tiles + THREADS - 1) / THREADS, THREADS>>>(c, tiles);
    if (task == SCAN)
        pass<false><<<tiles, THREADS>>>(out, kept, in, (int) n, c);
    else
        pass<true><<<tiles, THREADS>>>(out, kept, in, (int) n, c);
    CUDA_CHECK(cudaGetLastError());
}
