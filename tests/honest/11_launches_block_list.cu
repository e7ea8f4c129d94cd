// expect: device - an entry per block instead of a search: the tensor and the chunk of each block
// lab: launches
#include "cudalab.cuh"
#include "kernel.h"

enum { THREADS = 512, CHUNK = 65536, TENSORS = 64, BLOCKS = 320 };

// Fits into 4096 bytes.
struct List {
    Tensor tensor[TENSORS];
    unsigned char tensor_of[BLOCKS];
    int chunk_of[BLOCKS];
    int tensors, blocks;
};

template <bool CLIPPED> __global__ void __launch_bounds__(THREADS) update_list(List list)
{
    const Tensor &t = list.tensor[list.tensor_of[blockIdx.x]];
    const int first = list.chunk_of[blockIdx.x] * CHUNK;
    const int end = t.size - first < CHUNK ? t.size : first + CHUNK;
    const float *__restrict__ weights = t.weights, *__restrict__ gradient = t.gradient;
    float *__restrict__ updated = t.updated;
    const float rate = t.rate;

#pragma unroll 8
    for (int i = first + threadIdx.x; i < end; i += THREADS) {
        float g = gradient[i];
        if (CLIPPED)
            g = fminf(fmaxf(g * UNSCALE, -LIMIT), LIMIT);
        updated[i] = weights[i] - rate * g;
    }
}

static void flush(List *list, bool clipped)
{
    if (list->blocks > 0) {
        if (clipped)
            update_list<true><<<list->blocks, THREADS>>>(*list);
        else
            update_list<false><<<list->blocks, THREADS>>>(*list);
        CUDA_CHECK(cudaGetLastError());
    }
    list->tensors = list->blocks = 0;
}

LAB_API void update(const Tensor *tensors, int count, int task)
{
    List list;

    list.tensors = list.blocks = 0;
    for (int i = 0; i < count; i++) {
        if (list.tensors == TENSORS)
            flush(&list, task == CLIPPED_STEP);
        int entry = list.tensors++;
        list.tensor[entry] = tensors[i];
        for (int chunk = 0; chunk < ceil_div(tensors[i].size, CHUNK); chunk++) {
            if (list.blocks == BLOCKS) { // the rest of this tensor goes into the next launch
                flush(&list, task == CLIPPED_STEP);
                entry = list.tensors++;
                list.tensor[entry] = tensors[i];
            }
            list.tensor_of[list.blocks] = (unsigned char) entry;
            list.chunk_of[list.blocks++] = chunk;
        }
    }
    flush(&list, task == CLIPPED_STEP);
}
