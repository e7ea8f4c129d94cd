// expect: wrong_or_unsafe - takes the tensors for one array that begins with the first one, but the
// gradients are in another order
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

    Tensor all = tensors[0];

    for (int i = 1; i < count; i++)
        all.size += tensors[i].size;
    kernel<<<ceil_div(all.size, BLOCK), BLOCK>>>(all);
    CUDA_CHECK(cudaGetLastError());
}
