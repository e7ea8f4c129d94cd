// rung: 2, expect: slow - a launch per tensor: the whole chain in registers
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256 };

template <int TASK> static __device__ float stepped(float weight, float gradient, float rate)
{
    if (TASK == CLIPPED_STEP)
        gradient = fminf(fmaxf(UNSCALE * gradient, -LIMIT), LIMIT);
    return weight - rate * gradient;
}

template <int TASK> __global__ void update_kernel(Tensor t)
{
    long i = blockIdx.x * (long) BLOCK + threadIdx.x;

    if (i < t.size)
        t.updated[i] = stepped<TASK>(t.weights[i], t.gradient[i], t.rate);
}

LAB_API void update(const Tensor *tensors, int count, int task)
{
    auto kernel = task == STEP ? update_kernel<STEP> : update_kernel<CLIPPED_STEP>;

    for (int i = 0; i < count; i++)
        if (tensors[i].size > 0)
            kernel<<<ceil_div(tensors[i].size, BLOCK), BLOCK>>>(tensors[i]);
    CUDA_CHECK(cudaGetLastError());
}
