/* barriers.cu - threads that wait for each other, and in vain; shuffles; loops without end.
 *
 * case half_a_warp
 *   told: barrier: @half: bar.sync: lanes 0-15 of warp 0 wait here, but its lanes 16-31 did not
 *         take this branch and wait for them at line @@half_before: all threads must reach the
 *         same __syncthreads() in half_kernel, block (0,0,0), thread (0,0,0)
 *   says: cudaErrorLaunchFailure
 * case some_warps
 *   told: barrier: @some: bar.sync: barrier 0 is never full: 32 of 64 threads wait here; missing:
 *         32 threads of warp 1 (at barrier 1, line @@some_other) in some_warps_kernel, block
 *         (0,0,0), thread (0,0,0)
 *   says: cudaErrorLaunchFailure
 * case two_branches
 *   told: barrier: @even: bar.sync: the lanes of a warp reach a barrier in different branches:
 *         all threads of a block must reach the same __syncthreads() in two_branches_kernel,
 *         block (0,0,0), thread (0,0,0)
 * case two_barriers
 *   told: barrier: @first: barrier.sync: lanes of one warp wait at different barriers: here and
 *         at line @@second in two_barriers_kernel, block (0,0,0), thread (0,0,0)
 *   says: cudaErrorLaunchFailure
 * case loop_counts_differ
 *   told: race: @loop_read: ld.shared.u32 reads 4 bytes of shared memory at 124, which thread
 *         (31,0,0) wrote at line @@loop_write, with no __syncthreads() between in loop_kernel,
 *         block (0,0,0), thread (32,0,0)
 *   told: barrier: @loop: bar.sync: barrier 0 is never full: 32 of 64 threads wait here; missing:
 *         32 threads of warp 1 (ended) in loop_kernel, block (0,0,0), thread (0,0,0)
 *   says: cudaErrorLaunchFailure
 * case warp_barrier_lanes
 *   told: shuffle: @warp_barrier: bar.warp.sync: the mask of this warp barrier names lanes 16-31,
 *         not here but waiting at line @@warp_barrier_after in warp_barrier_kernel, block
 *         (0,0,0), thread (0,0,0)
 * case named_too_many
 *   told: barrier: @named: bar.sync: barrier 1 is never full: 64 of 128 threads wait here;
 *         missing: nobody, it asks for more threads than the block has in named_kernel, block
 *         (0,0,0), thread (0,0,0)
 *   says: cudaErrorLaunchFailure
 * case named_odd
 *   told: barrier: @named: bar.sync: a barrier for 40 threads: it must be a multiple of 32, and
 *         at most 1024 in named_kernel, block (0,0,0), thread (0,0,0)
 *   says: cudaErrorLaunchFailure
 * case shuffle_in_branch
 *   told: shuffle: @shuffle: shfl.sync.down.b32: the mask 0xffffffff names lanes 20-31, not here
 *         but in another branch in shuffle_branch_kernel, block (0,0,0), thread (0,0,0)
 * case shuffle_from_ended
 *   told: shuffle: @ended: shfl.sync.down.b32: lanes 4-15 read from lanes 20-31, not active here:
 *         what comes is undefined in shuffle_ended_kernel, block (0,0,0), thread (4,0,0)
 * case shuffle_mask_without_me
 *   told: shuffle: @mask: shfl.sync.idx.b32: lanes 16-31 execute this, but the mask 0x0000ffff
 *         does not name them in shuffle_mask_kernel, block (0,0,0), thread (16,0,0)
 * case vote_in_branch
 * case endless
 *   told: endless: @endless_loop: add.s32: this loop has no end: it waits for what no other
 *         thread that can still run will do in endless_kernel, block (0,0,0), thread (0,0,0)
 *   says: cudaErrorLaunchTimeout
 * case endless_budget SIM_BUDGET=100000
 *   told: endless: @long: and.b32: the kernel has run 100240 warp instructions and was stopped
 *         here: is this loop without end? Waiting for it: lanes 2, 6, 10, 14, 18, 22, 26, 30 in
 *         long_kernel, block (0,0,0), thread (0,0,0)
 *   says: cudaErrorLaunchTimeout
 * case too_many_blocks SIM_BUDGET=100000
 *   told: endless: the kernel was stopped after 100000 warp instructions, in block 25000 of
 *         1073741824. Is so large a grid meant? SIM_BUDGET (warpbook sim --budget) allows more in
 *         wide_kernel
 *   says: cudaErrorLaunchTimeout
 * case wait_for_nobody
 *   told: endless: @wait: ld.volatile.global.u32: this loop has no end: it waits for what no
 *         other thread that can still run will do in wait_kernel, block (0,0,0), thread (0,0,0)
 *   says: cudaErrorLaunchTimeout
 * case wait_for_block
 *   told: endless: @wait_block: ld.volatile.global.u32: this loop has no end: it waits for what
 *         no other thread that can still run will do. 256 blocks wait, as many as the GPU holds
 *         at once; 144 have not begun, and will not before one of those has ended in
 *         wait_block_kernel, block (0,0,0), thread (0,0,0)
 *   says: cudaErrorLaunchTimeout
 * case lanes_wait
 *   told: stuck: @lanes_other: ld.volatile.shared.u32: lanes 16-31 loop here for ever. Of the
 *         same warp lanes 0-15 wait for that at line @@lanes: if one of those holds the lock,
 *         release it inside the branch that took it, or let one thread of a warp take it in
 *         lanes_kernel, block (0,0,0), thread (16,0,0)
 *   says: cudaErrorLaunchTimeout
 * case lock_in_a_warp
 *   told: stuck: @lock: atom.global.cas.b32: lanes 1-31 loop here for ever. Of the same warp lane 0
 * waits for that at line @@lock_inside: if one of those holds the lock, release it inside the
 *         branch that took it, or let one thread of a warp take it in lock_kernel, block (0,0,0),
 *         thread (1,0,0)
 *   says: cudaErrorLaunchTimeout
 * case trap
 *   told: trap: @trap: trap: a trap ended the kernel in trap_kernel, block (0,0,0), thread
 *         (40,0,0)
 *   says: cudaErrorLaunchFailure
 * case assertion
 *   told: assertion: @assert: call.uni: assertion `threadIdx.x < n' failed at @assert (31 threads
 *         of this warp) in assert_kernel, block (0,0,0), thread (33,0,0)
 *   says: cudaErrorAssert
 * case recursion
 *   told: limit: @deep: call.uni: calls are 257 deep here and the stack (16384 bytes a thread) is
 *         full: recursion without end, or a larger cudaLimitStackSize is needed in
 *         recursion_kernel, block (0,0,0), thread (0,0,0)
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

/* A loop whose number of rounds differs from warp to warp, with a barrier inside. */
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

/* No end for odd numbers. */
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

/* The lane that has the lock is not the one that runs. */
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
