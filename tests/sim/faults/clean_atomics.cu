/* clean_atomics.cu - correct kernels that look wrong, with atomics, flags and locks: no findings
 * may be reported.
 *
 * case last_block
 * case atomics
 * case atomic_flag
 * case spin_flag
 * case ticket_lock
 * case last_block_resets
 * case last_thread_resets
 * case greatest_by_swaps
 * case pairs_by_swaps
 * case lanes_in_turn
 * case exchanged_for_nothing
 */
#include "faults.h"

#include <cuda_bf16.h>

__global__ void last_block_kernel(volatile int *sums, unsigned *done, int *out)
{
    __shared__ bool last;

    if (threadIdx.x == 0) {
        sums[blockIdx.x] = blockIdx.x;
        __threadfence();
        last = atomicInc(done, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x < 32) {
        int sum = 0;
        for (int i = threadIdx.x; i < gridDim.x; i += 32)
            sum += sums[i];
        atomicAdd(out, sum);
    }
}

__global__ void atomics_kernel(int *bins, int *out)
{
    __shared__ int s[8];

    if (threadIdx.x < 8)
        s[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&s[threadIdx.x & 7], 1);
    __syncthreads();
    if (threadIdx.x < 8)
        atomicAdd(&bins[threadIdx.x], s[threadIdx.x]);
    atomicMax(out, (int) threadIdx.x);
}

/* The first block fills the data and sets a flag; the second waits for it. (This order works on any
 * GPU.) */
__global__ void atomic_flag_kernel(int *data, int *flag, int *out)
{
    if (blockIdx.x == 0) {
        data[threadIdx.x] = threadIdx.x;
        __threadfence();
        __syncthreads();
        if (threadIdx.x == 0)
            atomicExch(flag, 1);
    } else {
        if (threadIdx.x == 0)
            while (!atomicAdd(flag, 0))
                ;
        __syncthreads();
        __threadfence();
        out[threadIdx.x] = data[63 - threadIdx.x];
    }
}

/* A warp releases data to another warp of its block. */
__global__ void spin_flag_kernel(int *out)
{
    __shared__ int data[32];
    __shared__ volatile int flag;

    if (threadIdx.x == 0)
        flag = 0;
    __syncthreads();
    if (threadIdx.x < 32) {
        data[threadIdx.x] = threadIdx.x;
        __syncwarp();
        __threadfence_block();
        if (threadIdx.x == 0)
            flag = 1;
    } else {
        while (!flag)
            ;
        __threadfence_block();
        out[threadIdx.x - 32] = data[63 - threadIdx.x];
    }
}

__global__ void lock_kernel(int *lock, volatile int *shared_by_all)
{
    if (threadIdx.x == 0) {
        while (atomicCAS(lock, 0, 1))
            ;
        __threadfence();
        *shared_by_all += 1;
        __threadfence();
        atomicExch(lock, 0);
    }
}

/* As in the programming guide: only the block that drew the last number still uses the counter. */
__global__ void last_block_resets_kernel(volatile int *sums, unsigned *done, int *out)
{
    __shared__ bool last;

    if (threadIdx.x == 0) {
        sums[blockIdx.x] = blockIdx.x;
        __threadfence();
        last = atomicInc(done, gridDim.x) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        int sum = 0;
        for (int i = 0; i < gridDim.x; i++)
            sum += sums[i];
        *out = sum;
        *done = 0;
    }
}

__global__ void last_thread_resets_kernel(unsigned *out)
{
    __shared__ unsigned done;

    if (threadIdx.x == 0)
        done = 0;
    __syncthreads();
    if (atomicAdd(&done, 1) == blockDim.x - 1) {
        out[0] = threadIdx.x;
        done = 0;
    }
}

/* The swap checks the value of the first read. */
__global__ void greatest_by_swaps_kernel(unsigned *greatest, const float *in)
{
    float x = in[blockIdx.x * blockDim.x + threadIdx.x];
    unsigned old = *greatest, seen;

    do {
        seen = old;
        if (__uint_as_float(seen) >= x)
            break;
        old = atomicCAS(greatest, seen, __float_as_uint(x));
    } while (old != seen);
}

__global__ void pairs_by_swaps_kernel(__nv_bfloat162 *sum)
{
    atomicAdd(sum, __float2bfloat162_rn(1));
}

/* As in CUDA by Example: the lanes take the lock one after the other. */
__global__ void lanes_in_turn_kernel(int *mutex, int *list, int *next)
{
    int t = threadIdx.x;

    for (int i = 0; i < 32; i++)
        if (t % 32 == i) {
            while (atomicCAS(mutex, 0, 1) != 0)
                ;
            __threadfence();
            next[t] = *list;
            *list = t;
            __threadfence();
            atomicExch(mutex, 0);
        }
}

__global__ void exchanged_for_nothing_kernel(unsigned *out)
{
    __shared__ unsigned hits;

    atomicExch(&hits, 0);
    __syncthreads();
    atomicAdd(&hits, 1);
    __syncthreads();
    if (threadIdx.x == 0)
        *out = hits;
}

static void last_block_resets()
{
    unsigned *done = zeros<unsigned>(1);

    for (int i = 0; i < 2; i++)
        last_block_resets_kernel<<<6, 64>>>(zeros<int>(6), done, zeros<int>(1));
}

static void last_thread_resets()
{
    last_thread_resets_kernel<<<2, 96>>>(array<unsigned>(1));
}

static void greatest_by_swaps()
{
    greatest_by_swaps_kernel<<<4, 64>>>(zeros<unsigned>(1), zeros<float>(256));
}

static void pairs_by_swaps()
{
    pairs_by_swaps_kernel<<<4, 64>>>(zeros<__nv_bfloat162>(1));
}

static void lanes_in_turn()
{
    lanes_in_turn_kernel<<<1, 64>>>(zeros<int>(1), zeros<int>(1), array<int>(64));
}

static void exchanged_for_nothing()
{
    exchanged_for_nothing_kernel<<<1, 64>>>(array<unsigned>(1));
}

static void last_block()
{
    last_block_kernel<<<6, 64>>>(zeros<int>(6), zeros<unsigned>(1), zeros<int>(1));
    last_block_kernel<<<6, 64>>>(zeros<int>(6), zeros<unsigned>(1), zeros<int>(1));
}

static void atomics()
{
    atomics_kernel<<<4, 64>>>(zeros<int>(8), zeros<int>(1));
}

static void atomic_flag()
{
    atomic_flag_kernel<<<2, 64>>>(array<int>(64), zeros<int>(1), array<int>(64));
}

static void spin_flag()
{
    spin_flag_kernel<<<1, 64>>>(array<int>(32));
}

static void ticket_lock()
{
    lock_kernel<<<8, 32>>>(zeros<int>(1), zeros<int>(1));
}

int main(int argc, char **argv)
{
    static const Case cases[] = {
        { "last_block", last_block },
        { "atomics", atomics },
        { "atomic_flag", atomic_flag },
        { "spin_flag", spin_flag },
        { "ticket_lock", ticket_lock },
        { "last_block_resets", last_block_resets },
        { "last_thread_resets", last_thread_resets },
        { "greatest_by_swaps", greatest_by_swaps },
        { "pairs_by_swaps", pairs_by_swaps },
        { "lanes_in_turn", lanes_in_turn },
        { "exchanged_for_nothing", exchanged_for_nothing },
    };

    return run_case(cases, argc, argv);
}
