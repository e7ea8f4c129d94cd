/* polling.cu - a block waits for what a later block writes, in loops of many kinds. Loops with a
 * barrier, and those that count their rounds, once never gave the later block a turn.
 *
 * expect: ok
 * schedules: forward reverse
 */
#include "check.h"

enum { THREADS = 64, RESULT = 7 };

enum Loop {
    COUNTS,
    SLEEPS,
    SLEEPS_LONGER,
    ADDS,
    COUNTS_IN_MEMORY,
    HAS_TIMEOUT,
    WARPS,
    VOTES_IN_SHARED_MEMORY,
    VOTES_AT_BARRIER,
    FENCES,
    COMPUTES,
    SYNCHRONISES,
    LOOPS
};

__device__ int rounds;

/* All threads go round together until one of them has seen the flag. */
__device__ static void vote(volatile int *flag)
{
    __shared__ int seen;

    for (bool ends = false; !ends;) {
        if (threadIdx.x == 0)
            seen = *flag;
        __syncthreads();
        ends = seen;
        __syncthreads();
    }
}

/* Random numbers while it waits. */
__device__ static void compute(volatile int *flag, int *out)
{
    unsigned state = threadIdx.x;

    while (*flag == 0)
        state = state * 1664525 + 1013904223;
    if (state == 7)
        *out = 1;
}

__device__ static void sleep_longer(volatile int *flag)
{
    for (int ns = 1; *flag == 0; ns = ns < 1024 ? 2 * ns : 1)
        __nanosleep(ns);
}

__device__ static void wait_with_timeout(volatile int *flag)
{
    const long long begin = clock64();

    while (*flag == 0 && clock64() - begin < 1000000000)
        ;
}

/* One thread waits. */
__device__ static void poll_alone(int loop, int *flag, int *out)
{
    volatile int *seen = flag;
    long long turns = 0;

    switch (loop) {
    case COUNTS:
        while (*seen == 0)
            turns++;
        out[1] = turns < 0;
        break;
    case SLEEPS:
        while (*seen == 0)
            __nanosleep(100);
        break;
    case SLEEPS_LONGER:
        sleep_longer(seen);
        break;
    case ADDS:
        while (atomicAdd(flag, 0) == 0)
            ;
        break;
    case COUNTS_IN_MEMORY:
        while (atomicCAS(flag, 1, 2) != 1)
            atomicAdd(&rounds, 1);
        break;
    case HAS_TIMEOUT:
        wait_with_timeout(seen);
        break;
    }
}

/* All threads wait. */
__device__ static void poll_together(int loop, volatile int *flag, int *out)
{
    switch (loop) {
    case WARPS:
        while (*flag == 0)
            __syncwarp();
        break;
    case VOTES_IN_SHARED_MEMORY:
        vote(flag);
        break;
    case VOTES_AT_BARRIER:
        while (!__syncthreads_or(*flag))
            ;
        break;
    case FENCES:
        while (*flag == 0)
            __threadfence();
        break;
    case COMPUTES:
        compute(flag, out);
        break;
    case SYNCHRONISES:
        for (bool ends = false; !ends; ends = *flag)
            __syncthreads();
        break;
    }
}

static __global__ void wait_for_later_block(int loop, int *flag, int *out)
{
    if (blockIdx.x == 1 && threadIdx.x == 0) {
        __threadfence();
        atomicExch(flag, 1);
    }
    if (blockIdx.x == 0 && threadIdx.x == 0)
        poll_alone(loop, flag, out);
    if (blockIdx.x == 0)
        poll_together(loop, flag, out);
    __syncthreads();
    if (blockIdx.x == 0 && threadIdx.x == 0)
        *out = RESULT;
}

int main()
{
    int *words, result;

    OK(cudaMalloc(&words, 4 * sizeof *words));
    for (int loop = 0; loop < LOOPS; loop++) {
        OK(cudaMemset(words, 0, 4 * sizeof *words));
        wait_for_later_block<<<2, THREADS>>>(loop, words, words + 1);
        OK(cudaMemcpy(&result, words + 1, sizeof result, cudaMemcpyDeviceToHost));
        CHECK(result == RESULT);
    }
    OK(cudaFree(words));
    puts("ok");
}
