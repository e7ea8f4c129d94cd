/* flow.cuh - kernels whose threads diverge and reconverge: threads per warp instruction. */
#ifndef FLOW_CUH
#define FLOW_CUH

#include "patterns.cuh"

#define LANE  ((int) (threadIdx.x & 31))
#define BEGIN unsigned x = ((const unsigned *) in)[thread_number()]
#define END   ((unsigned *) out)[thread_number()] = x

#define WORK(steps)       _Pragma("unroll 1") for (int k = 0; k < (steps); k++) x = mix(x);
#define OTHER_WORK(steps) _Pragma("unroll 1") for (int k = 0; k < (steps); k++) x = mix_other(x);

#define FLOW(name) __global__ void name(void *out, const void *in, const int *index, int n)

/* Only the first n lanes. */
FLOW(first_lanes)
{
    BEGIN;
    if (LANE < n)
        WORK(STEPS);
    END;
}

FLOW(odd_lanes)
{
    BEGIN;
    if (LANE & 1)
        WORK(n);
    END;
}

FLOW(either_way)
{
    BEGIN;
    if (LANE & 1) {
        WORK(n);
    } else {
        OTHER_WORK(n);
    }
    END;
}

FLOW(halves)
{
    BEGIN;
    if (LANE < 16) {
        WORK(n);
    } else {
        OTHER_WORK(2 * n);
    }
    END;
}

FLOW(nested)
{
    BEGIN;
    if (LANE & 1) {
        WORK(n);
        if (LANE & 2) {
            OTHER_WORK(n);
            if (LANE & 4)
                WORK(n);
        }
    } else if (LANE & 8) {
        WORK(2 * n);
    }
    END;
}

/* Lane l executes l iterations. */
FLOW(trips_by_lane)
{
    BEGIN;
    WORK(LANE);
    END;
}

/* Groups of n lanes execute the same number of iterations. */
FLOW(trips_by_group)
{
    BEGIN;
    WORK(4 + LANE / n * 6);
    END;
}

FLOW(trips_by_data)
{
    BEGIN;
#pragma unroll 1
    while (x & 15)
        x = mix(x);
    END;
}

FLOW(early_exit)
{
    BEGIN;
    if (LANE >= n)
        return;
    WORK(STEPS);
    END;
}

FLOW(exit_in_loop)
{
    BEGIN;
#pragma unroll 1
    for (int k = 0; k < STEPS; k++) {
        x = mix(x);
        if (k == LANE)
            return;
    }
    END;
}

FLOW(break_in_loop)
{
    BEGIN;
#pragma unroll 1
    for (int k = 0; k < 4 * STEPS; k++) {
        x = mix(x);
        if ((x & 31) == 0)
            break;
    }
    END;
}

FLOW(continue_in_loop)
{
    BEGIN;
#pragma unroll 1
    for (int k = 0; k < STEPS; k++) {
        x = mix(x);
        if (x & 1)
            continue;
        x = mix_other(x);
        x = mix(x);
        x = mix_other(x);
        x = mix(x);
        x = mix_other(x);
        x = mix(x);
    }
    END;
}

FLOW(four_ways)
{
    BEGIN;
    switch (LANE & 3) {
    case 0:
        WORK(n);
        break;
    case 1:
        OTHER_WORK(n);
        break;
    case 2:
        WORK(2 * n);
        break;
    default:
        OTHER_WORK(3 * n);
        break;
    }
    END;
}

/* So short that machine code has no branch. */
FLOW(short_if)
{
    BEGIN;
#pragma unroll 1
    for (int k = 0; k < STEPS; k++) {
        x = mix(x);
        if (x & 1)
            x += 12345;
    }
    END;
}

FLOW(choice)
{
    BEGIN;
#pragma unroll 1
    for (int k = 0; k < STEPS; k++)
        x = x & 1 ? mix(x) : x * 3;
    END;
}

/* The warps of a block take different branches, but no warp diverges. */
FLOW(by_warp)
{
    BEGIN;
    if (threadIdx.x / 32 & 1) {
        WORK(n);
    } else {
        OTHER_WORK(n);
    }
    END;
}

/* A grid whose last block is only partly used. */
FLOW(tail)
{
    int i = thread_number();

    if (i < n) {
        unsigned x = ((const unsigned *) in)[i];
        WORK(STEPS);
        ((unsigned *) out)[i] = x;
    }
}

static __device__ __noinline__ unsigned called(unsigned x, int steps)
{
    WORK(steps);
    return x;
}

FLOW(divergent_call)
{
    BEGIN;
    if (LANE & 1)
        x = called(x, n);
    END;
}

static __device__ __noinline__ unsigned again(unsigned x, int depth)
{
    return depth <= 0 ? x : mix(again(mix_other(x), depth - 1));
}

FLOW(recursion)
{
    BEGIN;
    x = again(x, LANE & 7);
    END;
}

/* ---- Threads that communicate ---- */

FLOW(shuffle_sum)
{
    BEGIN;
    for (int distance = 16; distance; distance /= 2)
        x += __shfl_down_sync(0xffffffffu, x, (unsigned) distance);
    if (LANE == 0)
        ((unsigned *) out)[thread_number() / 32] = x;
}

FLOW(vote_and_match)
{
    BEGIN;
#pragma unroll 1
    for (int k = 0; k < STEPS; k++) {
        x = mix(x);
        if (__ballot_sync(0xffffffffu, x & 1) & 1u << LANE)
            x += (unsigned) __popc(__activemask());
    }
    END;
}

/* The textbook tree reduction: fewer threads in each step, farther apart. */
FLOW(tree_interleaved)
{
    __shared__ float part[256];
    int t = (int) threadIdx.x;

    part[t] = ((const float *) in)[thread_number()];
    __syncthreads();
#pragma unroll 1
    for (int s = 1; s < (int) blockDim.x; s *= 2) {
        if (t % (2 * s) == 0)
            part[t] += part[t + s];
        __syncthreads();
    }
    if (t == 0)
        ((float *) out)[blockIdx.x] = part[0];
}

FLOW(tree_strided)
{
    __shared__ float part[256];
    int t = (int) threadIdx.x;

    part[t] = ((const float *) in)[thread_number()];
    __syncthreads();
#pragma unroll 1
    for (int s = 1; s < (int) blockDim.x; s *= 2) {
        int i = 2 * s * t;
        if (i < (int) blockDim.x)
            part[i] += part[i + s];
        __syncthreads();
    }
    if (t == 0)
        ((float *) out)[blockIdx.x] = part[0];
}

FLOW(tree_sequential)
{
    __shared__ float part[256];
    int t = (int) threadIdx.x;

    part[t] = ((const float *) in)[thread_number()];
    __syncthreads();
#pragma unroll 1
    for (int s = (int) blockDim.x / 2; s; s /= 2) {
        if (t < s)
            part[t] += part[t + s];
        __syncthreads();
    }
    if (t == 0)
        ((float *) out)[blockIdx.x] = part[0];
}

#endif
