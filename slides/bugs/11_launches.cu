// Shown in slides/11_launches.md, "Find the bug". A block searches for the last tensor whose first
// block is before its own. A tensor's first block belongs to it, so < must be <=.
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256, CHUNK = 4096, ENTRIES = 112 };

struct Table {
    Tensor tensor[ENTRIES];
    int first_block[ENTRIES];
    int count, blocks;
};

static __device__ int tensor_of(const Table &table, int block)
{
    int from = 0, to = table.count;

    while (to - from > 1) {
        int middle = (from + to) / 2;
        if (table.first_block[middle] < block)
            from = middle;
        else
            to = middle;
    }
    return from;
}

__global__ void update_kernel(const __grid_constant__ Table table, int task)
{
    const int which = tensor_of(table, blockIdx.x);
    const Tensor &t = table.tensor[which];
    const long first = (blockIdx.x - table.first_block[which]) * (long) CHUNK;

    for (long i = first + threadIdx.x; i < first + CHUNK && i < t.size; i += BLOCK) {
        float g = t.gradient[i];
        if (task == CLIPPED_STEP)
            g = fminf(fmaxf(UNSCALE * g, -LIMIT), LIMIT);
        t.updated[i] = t.weights[i] - t.rate * g;
    }
}

static void launch(Table *table, int task)
{
    if (table->blocks > 0)
        update_kernel<<<table->blocks, BLOCK>>>(*table, task);
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
    launch(&table, task);
}
