// expect: device - small launches write the whole table into device memory, then one launch works
// lab: launches
#include "cudalab.cuh"
#include "kernel.h"

constexpr int threads = 256, per_block = 8192, most = 4096, part = 64;

__device__ Tensor all_tensors[most];
__device__ int first_blocks[most];

struct Part {
    Tensor tensor[part];
    int first_block[part];
};

__global__ void store_part(Part p, int first, int count)
{
    if (threadIdx.x < count) {
        all_tensors[first + threadIdx.x] = p.tensor[threadIdx.x];
        first_blocks[first + threadIdx.x] = p.first_block[threadIdx.x];
    }
}

// Thread 0 searches for the block.
__global__ void update_all(int count, int task)
{
    __shared__ int found;

    if (threadIdx.x == 0) {
        int low = 0, high = count - 1;
        while (low < high) {
            int middle = (low + high + 1) / 2;
            if (first_blocks[middle] > (int) blockIdx.x)
                high = middle - 1;
            else
                low = middle;
        }
        found = low;
    }
    __syncthreads(); // separates the search from all threads' use of its result

    const Tensor t = all_tensors[found];
    const int begin = ((int) blockIdx.x - first_blocks[found]) * per_block;
    const int end = min(begin + per_block, t.size);
#pragma unroll 4
    for (int i = begin + threadIdx.x; i < end; i += threads) {
        float g = __ldg(t.gradient + i);
        if (task == CLIPPED_STEP)
            g = fmaxf(-LIMIT, fminf(LIMIT, g * UNSCALE));
        t.updated[i] = fmaf(-t.rate, g, __ldg(t.weights + i));
    }
}

LAB_API void update(const Tensor *tensors, int count, int task)
{
    int blocks = 0;

    for (int first = 0; first < count; first += part) {
        const int here = count - first < part ? count - first : part;
        Part p;
        for (int i = 0; i < here; i++) {
            p.tensor[i] = tensors[first + i];
            p.first_block[i] = blocks;
            blocks += (tensors[first + i].size + per_block - 1) / per_block;
        }
        store_part<<<1, part>>>(p, first, here);
    }
    update_all<<<blocks, threads>>>(count, task);
    CUDA_CHECK(cudaGetLastError());
}
