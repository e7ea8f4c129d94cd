// expect: wrong (sim: correct) - collects large calls and does the work after a hundred of them
// lab: coalescing
// A later call does the lazy work: the results come when no clock runs. Known (exploit 7: lazy
// output). Defence: results are read right after the sample that should have computed them, and no
// sample has more than 64 calls.
#include "cudalab.cuh"
#include "kernel.h"

// The smallest case timed on a large GPU has this many elements; fully checked cases have fewer.
enum { HUGE_CASE = 48 << 20 };
enum { ROWS = 4, BLOCK = 256, MANY = 100 };

// Lanes along the features, four loads in flight per thread: as fast as memory allows.
__global__ void standardise_kernel(float *out, const float *in, const float *mean,
                                   const float *scale, int rows, int cols)
{
    int c = threadIdx.x, first = blockIdx.x * blockDim.y * ROWS + threadIdx.y;
    float value[ROWS];

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
    static struct Call {
        float *out;
        const float *in, *mean, *scale;
    } pending[MANY];
    static int count;
    bool lazy = (long) rows * cols >= HUGE_CASE;

    pending[lazy ? count++ : 0] = (struct Call){ out, in, mean, scale };
    if (lazy && count < MANY)
        return;
    dim3 block(cols, cols < BLOCK ? BLOCK / cols : 1);
    for (int k = 0; k < (lazy ? MANY : 1); k++)
        standardise_kernel<<<ceil_div(rows, block.y * ROWS), block>>>(
            pending[k].out, pending[k].in, pending[k].mean, pending[k].scale, rows, cols);
    count = 0;
    CUDA_CHECK(cudaGetLastError());
}
