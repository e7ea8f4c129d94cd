// expect: wrong - adds the threads' sums as they are, though each is relative to its own maximum
#include "cudalab.cuh"
#include "kernel.h"
#include <cfloat>

enum { BLOCK = 256 };

// The sum of exp(x - max) over some elements x, and their maximum. No elements: { -FLT_MAX, 0 }.
struct Part {
    float max, sum;
};

static __device__ Part add(Part a, float x)
{
    float max = fmaxf(a.max, x);

    return { max, a.sum * expf(a.max - max) + expf(x - max) };
}

static __device__ Part merge(Part a, Part b)
{
    float max = fmaxf(a.max, b.max);

    return { max, a.sum + b.sum };
}

// The whole block's part, in all its threads.
static __device__ Part block_part(Part mine)
{
    __shared__ Part part[BLOCK];

    part[threadIdx.x] = mine;
    for (int s = BLOCK / 2; s > 0; s /= 2) {
        // Separates storing the parts, in the round before, from merging them.
        __syncthreads();

        if (threadIdx.x < s)
            part[threadIdx.x] = merge(part[threadIdx.x], part[threadIdx.x + s]);
    }

    // Separates the last round from the loads of its result.
    __syncthreads();

    return part[0];
}

__global__ void softmax_kernel(float *out, const float *in, int cols)
{
    Part mine = { -FLT_MAX, 0 };

    in += blockIdx.x * (size_t) cols;
    out += blockIdx.x * (size_t) cols;
    for (int j = threadIdx.x; j < cols; j += BLOCK)
        mine = add(mine, in[j]);

    Part row = block_part(mine);
    for (int j = threadIdx.x; j < cols; j += BLOCK)
        out[j] = expf(in[j] - row.max) / row.sum;
}

LAB_API void softmax(float *out, const float *in, int rows, int cols, float *scratch)
{
    softmax_kernel<<<rows, BLOCK>>>(out, in, cols);
    CUDA_CHECK(cudaGetLastError());
}
