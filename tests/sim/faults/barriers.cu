/* barriers.cu - threads that wait for each other forever; shuffles; endless loops.
 *
 * case half_a_warp
 *   reported: barrier @half
 *   says: cudaErrorLaunchFailure
 * case some_warps
 *   reported: barrier @some
 *   says: cudaErrorLaunchFailure
 * case two_branches
 *   reported: barrier @even
 * case two_barriers
 *   reported: barrier @first
 *   says: cudaErrorLaunchFailure
 * case loop_counts_differ
 *   reported: race @loop_read
 *   reported: barrier @loop
 *   says: cudaErrorLaunchFailure
 * case warp_barrier_lanes
 *   reported: shuffle @warp_barrier
 * case warp_barrier_without_me
 *   reported: shuffle @outside
 * case named_too_many
 *   reported: barrier @named
 *   says: cudaErrorLaunchFailure
 * case named_odd
 *   reported: barrier @named
 *   says: cudaErrorLaunchFailure
 * case shuffle_in_branch
 *   reported: shuffle @shuffle
 * case shuffle_from_ended
 *   reported: shuffle @ended
 * case shuffle_mask_without_me
 *   reported: shuffle @mask
 * case vote_in_branch
 * case endless
 *   reported: endless @endless_loop
 *   says: cudaErrorLaunchTimeout
 * case endless_budget SIM_BUDGET=100000
 *   reported: endless @long
 *   says: cudaErrorLaunchTimeout
 * case too_many_blocks SIM_BUDGET=100000
 *   reported: endless
 *   says: cudaErrorLaunchTimeout
 * case wait_for_nobody
 *   reported: endless @wait
 *   says: cudaErrorLaunchTimeout
 * case wait_for_block
 *   reported: endless @wait_block
 *   says: cudaErrorLaunchTimeout
 * case lanes_wait
 *   reported: stuck @lanes_other
 *   says: cudaErrorLaunchTimeout
 * case lock_in_a_warp
 *   reported: stuck @lock
 *   says: cudaErrorLaunchTimeout
 * case trap
 *   reported: trap @trap
 *   says: cudaErrorLaunchFailure
 * case assertion
 *   reported: assertion @assert
 *   says: cudaErrorAssert
 * case recursion
 *   reported: limit @deep
 *   says: cudaErrorLaunchFailure
 */
#include "faults.h"

#include <cassert>

__global__ void half_kernel(int *out)
{
    __shared__ int s[64];

    s[threadIdx.x] = 1; // @half_before
    if (threadIdx.x % 32 < 16) {
        __syncthreads(); // @half
        s[threadIdx.x] += 1;
    }
    out[threadIdx.x] = s[threadIdx.x];
}

__global__ void some_warps_kernel(int *out)
{
    if (threadIdx.x < 32)
        __syncthreads(); // @some
    else
        asm volatile("bar.sync 1, 96;"); // @some_other
    out[threadIdx.x] = 1;
}

__global__ void two_branches_kernel(int *out)
{
    __shared__ int s[32];

    if (threadIdx.x & 1) {
        s[threadIdx.x] = 1;
        __syncthreads(); // @odd
        out[threadIdx.x] = s[threadIdx.x ^ 1];
    } else {
        s[threadIdx.x] = 2;
        __syncthreads(); // @even
        out[threadIdx.x] = 2 * s[threadIdx.x ^ 1];
    }
}

__global__ void two_barriers_kernel(int *out)
{
    if (threadIdx.x < 16)
        asm volatile("barrier.sync 1;"); // @first
    else
        asm volatile("barrier.sync 2;"); // @second
    out[threadIdx.x] = 1;
}

/* A loop with a barrier, whose number of iterations differs between warps. */
__global__ void loop_kernel(int *out, int n)
{
    __shared__ int s[64];

    for (int i = threadIdx.x; i < n; i += 64) {
        s[threadIdx.x] = i;              // @loop_write
        asm volatile("bar.sync 0, 64;"); // @loop
        out[i] = s[63 - threadIdx.x];    // @loop_read
    }
}

__global__ void warp_barrier_kernel(int *out)
{
    __shared__ int s[32];

    s[threadIdx.x] = 1;
    if (threadIdx.x < 16)
        __syncwarp(); // @warp_barrier
    else
        __syncwarp(0xffff0000);        // @warp_barrier_other
    out[threadIdx.x] = s[threadIdx.x]; // @warp_barrier_after
}

__global__ void outside_kernel(int *out)
{
    out[threadIdx.x] = threadIdx.x;
    __syncwarp(0x0000ffff); // @outside
}

__global__ void named_kernel(int threads)
{
    asm volatile("bar.sync 1, %0;" ::"r"(threads)); // @named
}

__global__ void shuffle_branch_kernel(int *out)
{
    int v = threadIdx.x;

    if (threadIdx.x < 20) {
        v = __shfl_down_sync(0xffffffff, v, 1); // @shuffle
        out[threadIdx.x] = v;
    } else {
        out[threadIdx.x] = -v; // @shuffle_else
    }
}

__global__ void shuffle_ended_kernel(int *out, int n)
{
    if (threadIdx.x >= n)
        return;
    int v = threadIdx.x;
    for (int d = 16; d; d /= 2)
        v += __shfl_down_sync(0xffffffff, v, d); // @ended
    out[threadIdx.x] = v;
}

__global__ void shuffle_mask_kernel(int *out)
{
    out[threadIdx.x] = __shfl_sync(0x0000ffff, threadIdx.x, 0); // @mask
}

__global__ void vote_kernel(int *out, const int *in)
{
    if (in[threadIdx.x] >= 0 && threadIdx.x > 7)
        out[threadIdx.x] = __ballot_sync(0xffffffff, in[threadIdx.x]); // @vote
}

__global__ void endless_kernel(int *out, int step)
{
    for (int i = 0; i < 10; i += step)           // @endless_loop
        ((volatile int *) out)[threadIdx.x] = i; // @endless
}

/* The loop does not end for odd numbers. */
__global__ void long_kernel(unsigned *out)
{
    unsigned x = threadIdx.x;

    while (x % 4 != 2) // @long
        x = x * 5 + 4; // @long_body
    out[threadIdx.x] = x;
}

__global__ void wide_kernel(unsigned *out)
{
    atomicAdd(out, 1);
}

__global__ void wait_kernel(volatile int *flag)
{
    while (!*flag) // @wait
        ;
}

__global__ void wait_block_kernel(volatile int *flag)
{
    if (blockIdx.x + 1 < gridDim.x)
        while (!*flag) // @wait_block
            ;
    else
        *flag = 1;
}

/* The second half of the warp waits for the first, which waits for the second. */
__global__ void lanes_kernel(int *out)
{
    __shared__ volatile int a, b;

    a = b = 0;
    __syncwarp();
    if (threadIdx.x < 16) {
        while (!a) // @lanes
            ;
        b = 1;
    } else {
        while (!b) // @lanes_other
            ;
        a = 1;
    }
    out[threadIdx.x] = 1;
}

/* The lane that holds the lock is not the one that runs. */
__global__ void lock_kernel(int *lock, int *sum)
{
    bool done = false;

    while (atomicCAS(lock, 0, 1) != 0) // @lock
        ;
    *sum += 1; // @lock_inside
    __threadfence();
    atomicExch(lock, 0);
    (void) done;
}

__global__ void trap_kernel(int n)
{
    if (threadIdx.x == n)
        __trap(); // @trap
}

__global__ void assert_kernel(int n)
{
    assert(threadIdx.x < n); // @assert
}

__device__ __noinline__ int deep(int n, int *out)
{
    int a[16];

    for (int i = 0; i < 16; i++)
        a[i] = out[i] + n;
    if (!n)
        return 0;
    out[n & 31] = deep(n + 1, out); // @deep
    return out[n & 7] * a[n & 15];
}

__global__ void recursion_kernel(int *out)
{
    out[threadIdx.x] = deep(1, out);
}

static void half_a_warp()
{
    half_kernel<<<1, 64>>>(array<int>(64));
}

static void some_warps()
{
    some_warps_kernel<<<1, 64>>>(array<int>(64));
}

static void two_branches()
{
    two_branches_kernel<<<1, 32>>>(array<int>(32));
}

static void two_barriers()
{
    two_barriers_kernel<<<1, 32>>>(array<int>(32));
}

static void loop_counts_differ()
{
    loop_kernel<<<1, 64>>>(array<int>(128), 96);
}

static void warp_barrier_lanes()
{
    warp_barrier_kernel<<<1, 32>>>(array<int>(32));
}

static void warp_barrier_without_me()
{
    outside_kernel<<<1, 32>>>(array<int>(32));
}

static void named_too_many()
{
    named_kernel<<<1, 64>>>(128);
}

static void named_odd()
{
    named_kernel<<<1, 64>>>(40);
}

static void shuffle_in_branch()
{
    shuffle_branch_kernel<<<1, 32>>>(array<int>(32));
}

static void shuffle_from_ended()
{
    shuffle_ended_kernel<<<1, 32>>>(array<int>(32), 20);
}

static void shuffle_mask_without_me()
{
    shuffle_mask_kernel<<<1, 32>>>(array<int>(32));
}

static void vote_in_branch()
{
    vote_kernel<<<1, 32>>>(array<int>(32), zeros<int>(32));
}

static void endless()
{
    endless_kernel<<<1, 32>>>(array<int>(32), 0);
}

static void endless_budget()
{
    long_kernel<<<1, 32>>>(array<unsigned>(32));
}

static void too_many_blocks()
{
    wide_kernel<<<1 << 30, 32>>>(zeros<unsigned>(32));
}

static void wait_for_nobody()
{
    wait_kernel<<<1, 32>>>(zeros<int>(1));
}

static void wait_for_block()
{
    wait_block_kernel<<<400, 1>>>(zeros<int>(1));
}

static void lanes_wait()
{
    lanes_kernel<<<1, 32>>>(array<int>(32));
}

static void lock_in_a_warp()
{
    lock_kernel<<<1, 32>>>(zeros<int>(1), zeros<int>(1));
}

static void trap()
{
    trap_kernel<<<1, 64>>>(40);
}

static void assertion()
{
    assert_kernel<<<1, 64>>>(33);
}

static void recursion()
{
    recursion_kernel<<<1, 32>>>(zeros<int>(32));
}

int main(int argc, char **argv)
{
    static const Case cases[] = {
        { "half_a_warp", half_a_warp },
        { "some_warps", some_warps },
        { "two_branches", two_branches },
        { "two_barriers", two_barriers },
        { "loop_counts_differ", loop_counts_differ },
        { "warp_barrier_lanes", warp_barrier_lanes },
        { "warp_barrier_without_me", warp_barrier_without_me },
        { "named_too_many", named_too_many },
        { "named_odd", named_odd },
        { "shuffle_in_branch", shuffle_in_branch },
        { "shuffle_from_ended", shuffle_from_ended },
        { "shuffle_mask_without_me", shuffle_mask_without_me },
        { "vote_in_branch", vote_in_branch },
        { "endless", endless },
        { "endless_budget", endless_budget },
        { "too_many_blocks", too_many_blocks },
        { "wait_for_nobody", wait_for_nobody },
        { "wait_for_block", wait_for_block },
        { "lanes_wait", lanes_wait },
        { "lock_in_a_warp", lock_in_a_warp },
        { "trap", trap },
        { "assertion", assertion },
        { "recursion", recursion },
    };

    return run_case(cases, argc, argv);
}
