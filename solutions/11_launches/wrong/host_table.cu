// expect: any (sim: crash) - passes the pointer to the table, which is in host memory. Some
// systems let a GPU read any host memory; most stop the kernel
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256 };

template <int TASK> static __device__ float stepped(float weight, float gradient, float rate)
{
    if (TASK == CLIPPED_STEP)
        gradient = fminf(fmaxf(UNSCALE * gradient, -LIMIT), LIMIT);
    return weight - rate * gradient;
}

template <int TASK> __global__ void update_kernel(const Tensor *tensors)
{
    const Tensor &t = tensors[blockIdx.x];

    for (int i = threadIdx.x; i < t.size; i += BLOCK)
        t.updated[i] = stepped<TASK>(t.weights[i], t.gradient[i], t.rate);
}

LAB_API void update(const Tensor *tensors, int count, int task)
{
    auto kernel = task == STEP ? update_kernel<STEP> : update_kernel<CLIPPED_STEP>;

    kernel<<<count, BLOCK>>>(tensors);
    CUDA_CHECK(cudaGetLastError());
}
