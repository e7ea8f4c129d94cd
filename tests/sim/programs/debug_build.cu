/* debug_build.cu - as nvcc -G compiles it: atomics by compare-and-swap, whose parts are functions
 * of their own, once were races; and cuda::barrier asks whether an address is in the cluster's
 * shared memory, which once was an unknown instruction.
 *
 * expect: ok
 * compiler: -G
 * architecture: 90
 * device: h200
 * schedules: forward reverse
 */
#include "check.h"

#include <cuda/barrier>
#include <cuda_bf16.h>

enum { THREADS = 64, BLOCKS = 3 };

__device__ static double add_by_swaps(double *to, double value)
{
    unsigned long long *const word = (unsigned long long *) to;
    unsigned long long old = *word, assumed;

    do {
        assumed = old;
        old = atomicCAS(word, assumed, __double_as_longlong(value + __longlong_as_double(assumed)));
    } while (assumed != old);
    return __longlong_as_double(old);
}

__device__ static void greatest_by_swaps(float *to, float value)
{
    int old = *(int *) to, assumed;

    do {
        assumed = old;
        if (__int_as_float(assumed) >= value)
            return;
        old = atomicCAS((int *) to, assumed, __float_as_int(value));
    } while (assumed != old);
}

__global__ void atomics(double *sum, float *greatest, __nv_bfloat16 *small)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;

    add_by_swaps(sum, i);
    greatest_by_swaps(greatest, (float) (i * 7 % 191));
    atomicAdd(small, __float2bfloat16(1));
}

__global__ void meet(int *out)
{
    __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
    __shared__ int words[THREADS];

    if (threadIdx.x == 0)
        init(&barrier, THREADS);
    __syncthreads();
    words[threadIdx.x] = threadIdx.x * 3;
    barrier.arrive_and_wait();
    out[threadIdx.x] = words[THREADS - 1 - threadIdx.x];
}

int main()
{
    struct {
        double sum;
        float greatest;
        __nv_bfloat16 small;
    } * result;
    int *out;

    OK(cudaMallocManaged(&result, sizeof *result));
    OK(cudaMallocManaged(&out, THREADS * sizeof *out));
    OK(cudaMemset(result, 0, sizeof *result));
    atomics<<<BLOCKS, THREADS>>>(&result->sum, &result->greatest, &result->small);
    meet<<<1, THREADS>>>(out);
    OK(cudaDeviceSynchronize());
    CHECK(result->sum == 191 * 192 / 2);
    CHECK(result->greatest == 190);
    CHECK(__bfloat162float(result->small) == BLOCKS * THREADS);
    for (int i = 0; i < THREADS; i++)
        CHECK(out[i] == (THREADS - 1 - i) * 3);
    OK(cudaFree(result));
    OK(cudaFree(out));
    puts("ok");
}
