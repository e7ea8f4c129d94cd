// rung: 1, expect: slow - a launch per tensor and operation
// The chain of a clipped step keeps its intermediate values in `updated`.
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256 };

__global__ void unscale_kernel(float *a, const float *gradient, int size)
{
    long i = blockIdx.x * (long) BLOCK + threadIdx.x;

    if (i < size)
        a[i] = UNSCALE * gradient[i];
}

__global__ void clip_kernel(float *b, int size)
{
    long i = blockIdx.x * (long) BLOCK + threadIdx.x;

    if (i < size)
        b[i] = fminf(fmaxf(b[i], -LIMIT), LIMIT);
}

__global__ void step_kernel(float *updated, const float *weights, const float *gradient, int size,
                            float rate)
{
    long i = blockIdx.x * (long) BLOCK + threadIdx.x;

    if (i < size)
        updated[i] = weights[i] - rate * gradient[i];
}

static void update_one(const Tensor *t, int task)
{
    const int blocks = ceil_div(t->size, BLOCK);
    const float *gradient = t->gradient;

    if (task == CLIPPED_STEP) {
        unscale_kernel<<<blocks, BLOCK>>>(t->updated, gradient, t->size);
        clip_kernel<<<blocks, BLOCK>>>(t->updated, t->size);
        gradient = t->updated;
    }
    step_kernel<<<blocks, BLOCK>>>(t->updated, t->weights, gradient, t->size, t->rate);
    CUDA_CHECK(cudaGetLastError());
}

LAB_API void update(const Tensor *tensors, int count, int task)
{
    for (int i = 0; i < count; i++)
        if (tensors[i].size > 0)
            update_one(&tensors[i], task);
}
