// lab: scan
// mistake: blocks store what they keep in the order in which they arrive
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 1024 };

// Returns the sum of the values of this thread and all before it. All threads of the block must
// call it.
static __device__ int block_scan(int value)
{
    __shared__ int sums[BLOCK];
    int tid = threadIdx.x;

    __syncthreads();
    sums[tid] = value;
    for (int s = 1; s < BLOCK; s *= 2) {
        __syncthreads();
        int other = tid >= s ? sums[tid - s] : 0;
        __syncthreads();
        sums[tid] += other;
    }
    __syncthreads();
    return sums[tid];
}

__global__ void scan_kernel(int *out, const int *in, long n)
{
    __shared__ int all;
    int before = 0;

    for (long first = 0; first < n; first += BLOCK) {
        long i = first + threadIdx.x;
        int sum = block_scan(i < n ? in[i] : 0);
        if (i < n)
            out[i] = before + sum;
        if (threadIdx.x == BLOCK - 1)
            all = sum;
        __syncthreads();
        before += all;
    }
}

__global__ void clear_kernel(int *kept)
{
    *kept = 0;
}

__global__ void compact_kernel(int *out, int *kept, const int *in, long n)
{
    __shared__ int first;
    long i = blockIdx.x * (long) BLOCK + threadIdx.x;
    int value = i < n ? in[i] : 0, keep = value > 0, place = block_scan(keep);

    if (threadIdx.x == BLOCK - 1)
        first = atomicAdd(kept, place);
    __syncthreads();
    if (keep)
        out[first + place - 1] = value;
}

LAB_API void scan(int *out, int *kept, const int *in, long n, int task, int *scratch,
                  long scratch_count)
{
    if (task == SCAN) {
        scan_kernel<<<1, BLOCK>>>(out, in, n);
    } else {
        clear_kernel<<<1, 1>>>(kept);
        compact_kernel<<<(unsigned) ((n + BLOCK - 1) / BLOCK), BLOCK>>>(out, kept, in, n);
    }
    CUDA_CHECK(cudaGetLastError());
}
