// expect: unsafe_or_stray (sim: unsafe) - kind and sum are two words without a fence, and the kind
// comes first: right by luck; or a count that is not there yet gives a place before the array
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

// What is known about a tile: its own sum, or the sum of all elements up to its end.
typedef struct State {
    volatile unsigned kind;
    int sum;
} State;
enum { NOTHING, OWN, ALL };

// The number of the tile that this block takes. Blocks take tiles in the order in which they start,
// so the block of each earlier tile is running or has finished. All threads must call it.
static __device__ int next_tile(unsigned *tickets)
{
    __shared__ int tile;

    if (threadIdx.x == 0)
        tile = (int) atomicAdd(tickets, 1u);

    // Separates thread 0's store from all threads' loads.
    __syncthreads();
    return tile;
}

static __device__ void publish(State *state, unsigned kind, int sum)
{
    state->kind = kind;
    state->sum = sum;
}

// The sum of all tiles before this one, found by one thread.
static __device__ int look_back(const State *states, int tile)
{
    int sum = 0;

    for (int t = tile - 1; t >= 0; t--) {
        unsigned kind;
        do
            kind = states[t].kind;
        while (kind == NOTHING);
        sum += states[t].sum;
        if (kind == ALL)
            break;
    }
    return sum;
}

// The same for all threads, which must call it; `own` is the sum of this tile.
static __device__ int before_tile(State *states, int tile, int own)
{
    __shared__ int before;

    if (threadIdx.x == 0) {
        publish(&states[tile], tile ? OWN : ALL, own);
        before = look_back(states, tile);
        publish(&states[tile], ALL, before + own);
    }

    // Separates thread 0's store to `before` from all threads' loads.
    __syncthreads();
    return before;
}

// out[i] becomes in[0] + ... + in[i].
__global__ void scan_kernel(int *out, const int *in, long n, unsigned *tickets, State *states)
{
    int tile = next_tile(tickets), before, all;
    long first = first_of_warp(tile) + threadIdx.x % WARP * QUAD;
    int4 share[ROUNDS];

#pragma unroll // all loads before the first addition
    for (int k = 0; k < ROUNDS; k++)
        share[k] = load_quad(in, first + k * RUN, n);
    before = before_warp(scan_share(share), &all);
    before += before_tile(states, tile, all);
#pragma unroll
    for (int k = 0; k < ROUNDS; k++)
        store_quad(out, first + k * RUN, n, add(share[k], before));
}

// Stores the kept elements of a tile after those of the tiles before it.
__global__ void compact_kernel(int *out, int *kept, const int *in, long n, unsigned *tickets,
                               State *states)
{
    __shared__ int collected[TILE];
    int tile = next_tile(tickets), share[STEPS], all;
    long first = first_of_warp(tile) + threadIdx.x % WARP;
    unsigned votes[STEPS];

    load_steps(share, in, first, n);
    int place = before_warp(vote(share, votes), &all);
    collect(collected, place, share, votes);

    // Its barrier also separates collecting from the loads of what other threads have collected.
    int before = before_tile(states, tile, all);
    for (int i = threadIdx.x; i < all; i += BLOCK)
        out[before + i] = collected[i];
    if (tile == gridDim.x - 1 && threadIdx.x == 0)
        *kept = before + all;
}

__global__ void clear_kernel(unsigned *tickets, State *states, int tiles)
{
    int t = blockIdx.x * BLOCK + threadIdx.x;

    if (t < tiles)
        states[t].kind = NOTHING;
    if (t == 0)
        *tickets = 0;
}

LAB_API void scan(int *out, int *kept, const int *in, long n, int task, int *scratch,
                  long scratch_count)
{
    int tiles = (int) ((n + TILE - 1) / TILE);
    State *states = (State *) scratch;
    unsigned *tickets = (unsigned *) (states + tiles);

    clear_kernel<<<ceil_div(tiles, BLOCK), BLOCK>>>(tickets, states, tiles);
    CUDA_CHECK(cudaGetLastError());
    if (task == SCAN)
        scan_kernel<<<tiles, BLOCK>>>(out, in, n, tickets, states);
    else
        compact_kernel<<<tiles, BLOCK>>>(out, kept, in, n, tickets, states);
    CUDA_CHECK(cudaGetLastError());
}
