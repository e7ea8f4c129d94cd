// expect: any (sim: unsafe) - keeps the table of the first call, whose arrays may be gone
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
    const Tensor &t = table.tensor[blockIdx.x];

    for (int i = threadIdx.x; i < t.size; i += BLOCK)
        t.updated[i] = stepped<TASK>(t.weights[i], t.gradient[i], t.rate);
}

LAB_API void update(const Tensor *tensors, int count, int task)
{
    auto kernel = task == STEP ? update_kernel<STEP> : update_kernel<CLIPPED_STEP>;
    static Table tables[33];
    static int filled;

    for (int first = 0; first < count; first += ENTRIES) {
        Table &table = tables[first / ENTRIES];
        if (first >= filled) {
            table.count = count - first < ENTRIES ? count - first : ENTRIES;
            memcpy(table.tensor, tensors + first, table.count * sizeof *tensors);
            filled = first + table.count;
        }
        kernel<<<table.count, BLOCK>>>(table);
        CUDA_CHECK(cudaGetLastError());
    }
}
