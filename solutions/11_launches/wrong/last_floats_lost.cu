// expect: wrong - floats after the last float4 of a tensor are never written
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256, QUADS = 4, CHUNK = BLOCK * QUADS * 4, ENTRIES = 112 };

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

template <int TASK> static __device__ float4 stepped4(float4 w, float4 g, float rate)
{
    return make_float4(stepped<TASK>(w.x, g.x, rate), stepped<TASK>(w.y, g.y, rate),
                       stepped<TASK>(w.z, g.z, rate), stepped<TASK>(w.w, g.w, rate));
}

// WHOLE: the tensor has all floats of the chunk, so no quad needs a check.
template <int TASK, bool WHOLE> static __device__ void update_quads(const Tensor &t, long first)
{
    const long quad = first / 4 + threadIdx.x;
    const float4 *weights = (const float4 *) t.weights + quad;
    const float4 *gradient = (const float4 *) t.gradient + quad;
    float4 *updated = (float4 *) t.updated + quad, w[QUADS], g[QUADS];
    const long left = t.size / 4 - quad;

#pragma unroll
    for (int k = 0; k < QUADS; k++)
        if (WHOLE || k * BLOCK < left) {
            w[k] = weights[k * BLOCK];
            g[k] = gradient[k * BLOCK];
        }
#pragma unroll
    for (int k = 0; k < QUADS; k++)
        if (WHOLE || k * BLOCK < left)
            updated[k * BLOCK] = stepped4<TASK>(w[k], g[k], t.rate);
}

template <int TASK> __global__ void update_kernel(const __grid_constant__ Table table)
{
    const int which = tensor_of(table, blockIdx.x);
    const Tensor &t = table.tensor[which];
    const long first = (blockIdx.x - table.first_block[which]) * (long) CHUNK;

    if (first + CHUNK <= t.size) {
        update_quads<TASK, true>(t, first);
        return;
    }
    update_quads<TASK, false>(t, first);
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
    launch(&table, task);
}
