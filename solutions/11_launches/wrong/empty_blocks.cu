// expect: slow - every tensor gets as many blocks as the largest one, and most of them have nothing
// to do
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256, ENTRIES = 127 };

struct Table {
    Tensor tensor[ENTRIES];
    int count;
};

template <int TASK> static __device__ float stepped(float weight, float gradient, float rate)
{
    if (TASK == CLIPPED_STEP)
        gradient = fminf(fmaxf(UNSCALE * gradient, -LIMIT), LIMIT);
    return weight - rate * gradient;
}

template <int TASK> __global__ void update_kernel(const __grid_constant__ Table table)
{
    const Tensor &t = table.tensor[blockIdx.y];
    long i = blockIdx.x * (long) BLOCK + threadIdx.x;

    if (i < t.size)
        t.updated[i] = stepped<TASK>(t.weights[i], t.gradient[i], t.rate);
}

LAB_API void update(const Tensor *tensors, int count, int task)
{
    auto kernel = task == STEP ? update_kernel<STEP> : update_kernel<CLIPPED_STEP>;
    Table table;

    int largest = 0;

    for (int i = 0; i < count; i++)
        largest = tensors[i].size > largest ? tensors[i].size : largest;
    for (int first = 0; first < count; first += table.count) {
        table.count = count - first < ENTRIES ? count - first : ENTRIES;
        memcpy(table.tensor, tensors + first, table.count * sizeof *tensors);
        kernel<<<dim3(ceil_div(largest, BLOCK), table.count), BLOCK>>>(table);
        CUDA_CHECK(cudaGetLastError());
    }
}
