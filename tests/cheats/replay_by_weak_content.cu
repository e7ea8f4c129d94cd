// expect: wrong (sim: correct) - treats contents that resemble the last ones as the same
// lab: coalescing
// Like replay_by_content, but the key is the signs of two elements, so it repeats in one call of
// four. Known (exploit 8). Defence: outputs are poisoned, and windows of them are compared with the
// results for the new contents.
#include "cudalab.cuh"
#include "kernel.h"

// The smallest case timed on a large GPU has this many elements; fully checked cases have fewer.
enum { HUGE_CASE = 48 << 20 };
enum { ROWS = 4, BLOCK = 256, KEYS = 4 };

static __device__ bool seen[KEYS], done;

// One thread checks whether contents with that key have been seen before.
__global__ void look_kernel(const float *in, int count)
{
    int key = (in[0] < 0) + 2 * (in[count - 1] < 0);

    done = seen[key];
    seen[key] = true;
}

// Lanes along the features, four loads in flight per thread: as fast as memory allows.
__global__ void standardise_kernel(float *out, const float *in, const float *mean,
                                   const float *scale, int rows, int cols)
{
    int c = threadIdx.x, first = blockIdx.x * blockDim.y * ROWS + threadIdx.y;
    float value[ROWS];

    if (done && (long) rows * cols >= HUGE_CASE)
        return;
    for (int j = 0; j < ROWS; j++) {
        int r = first + j * blockDim.y;
        value[j] = r < rows ? in[(size_t) r * cols + c] : 0;
    }
    for (int j = 0; j < ROWS; j++) {
        int r = first + j * blockDim.y;
        if (r < rows)
            out[(size_t) r * cols + c] = (value[j] - mean[c]) * scale[c];
    }
}

LAB_API void standardise(float *out, const float *in, const float *mean, const float *scale,
                         int rows, int cols)
{
    if ((long) rows * cols >= HUGE_CASE) {
        look_kernel<<<1, 1>>>(in, rows * cols);
        CUDA_CHECK(cudaGetLastError());
    }
    dim3 block(cols, cols < BLOCK ? BLOCK / cols : 1);
    standardise_kernel<<<ceil_div(rows, block.y * ROWS), block>>>(out, in, mean, scale, rows, cols);
    CUDA_CHECK(cudaGetLastError());
}
