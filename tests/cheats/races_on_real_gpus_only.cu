// expect: slow - leaves out a barrier only where a newer GPU's machine code runs
// lab: reduction
//
// The small cases run on a simulated GPU too, which reads PTX. The PTX is compiled for compute
// capability 8.0 and the machine code for the GPU's own, so __CUDA_ARCH__ distinguishes them. (Our
// own.) Defence: one front end generates both, so the racing code is in neither, and the kernel is
// slow.
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256 };

// out[b] becomes the sum of the elements of block b; in has n elements.
__global__ void sum_kernel(float *out, const float *in, long n)
{
    __shared__ float part[BLOCK];
    int tid = threadIdx.x;
    long i = blockIdx.x * (long) BLOCK + tid;

    part[tid] = i < n ? in[i] : 0;

    // Separates filling from the first round: a thread adds values that others have loaded.
    __syncthreads();

    for (int s = 1; s < blockDim.x; s *= 2) {
        if (tid % (2 * s) == 0)
            part[tid] += part[tid + s];

            // Separates two rounds: in the next, other threads add up the sums written in this one.
#if __CUDA_ARCH__ < 900
        __syncthreads();
#endif
    }

    if (tid == 0)
        out[blockIdx.x] = part[0];
}

LAB_API void sum(float *out, const float *in, long n, float *scratch, long scratch_count)
{
    // Each pass stores its sums in scratch after those of the previous pass; they are the input of
    // the next pass.
    for (;;) {
        int blocks = (int) ((n + BLOCK - 1) / BLOCK);

        sum_kernel<<<blocks, BLOCK>>>(blocks > 1 ? scratch : out, in, n);
        CUDA_CHECK(cudaGetLastError());
        if (blocks == 1)
            return;
        in = scratch;
        n = blocks;
        scratch += blocks;
    }
}
