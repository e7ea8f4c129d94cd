// expect: wrong - a table is launched when it is full, and the last one never is
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256, CHUNK = 4096, ENTRIES = 112 };

struct Table {
    Tensor tensor[ENTRIES];
    int first_block[ENTRIES];
    int count, blocks;
};

static_assert(sizeof(Table) <= 4096, "the arguments of a launch before CUDA 12.1");

template <int TASK> static __device__ float stepped(float weight, float gradient, float rate)
{
    if (TASK == CLIPPED_STEP)
        gradient = fminf(fmaxf(UNSCALE * gradient, -LIMIT), LIMIT);
    return weight - rate * gradient;
}

// The last tensor whose chunks begin at this block or before.
static __device__ int tensor_of(const Table &table, int block)
{
    int from = 0, to = table.count;

    while (to - from > 1) {
        int middle = (from + to) / 2;
        if (table.first_block[middle] <= block)
            from = middle;
        else
            to = middle;
    }
    return from;
}

template <int TASK> __global__ void update_kernel(const __grid_constant__ Table table)
{
    const int which = tensor_of(table, blockIdx.x);
    const Tensor &t = table.tensor[which];
    const long first = (blockIdx.x - table.first_block[which]) * (long) CHUNK;
    const long end = first + CHUNK < t.size ? first + CHUNK : t.size;

    for (long i = first + threadIdx.x; i < end; i += BLOCK)
        t.updated[i] = stepped<TASK>(t.weights[i], t.gradient[i], t.rate);
}

static void launch(Table *table, int task)
{
    auto kernel = task == STEP ? update_kernel<STEP> : update_kernel<CLIPPED_STEP>;

    if (table->blocks > 0)
        kernel<<<table->blocks, BLOCK>>>(*table);
    CUDA_CHECK(cudaGetLastError());
    table->count = table->blocks = 0;
}

LAB_API void update(const Tensor *tensors, int count, int task)
{
    Table table;

    table.count = table.blocks = 0;
    for (int i = 0; i < count; i++) {
        table.tensor[table.count] = tensors[i];
        table.first_block[table.count++] = table.blocks;
        table.blocks += ceil_div(tensors[i].size, CHUNK);
        if (table.count == ENTRIES)
            launch(&table, task);
    }
}
