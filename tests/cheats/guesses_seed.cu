// expect: wrong (sim: correct) - makes the large input itself, from seed 0, instead of reading it
// lab: coalescing
// The function that fills inputs is public; a kernel that knows the seed need not read them. Known
// (exploit 17: cheat-rng). Defence: seeds are secret, 64 bits, new for each sample, and kept in
// another process (seed_from_memory.cu).
#include "cudalab.cuh"
#include "fill.h"
#include "kernel.h"

// The smallest case timed on a large GPU has this many elements; fully checked cases have fewer.
enum { HUGE_CASE = 48 << 20 };
enum { ROWS = 4, BLOCK = 256 };

// Lanes along the features, four loads in flight per thread: as fast as memory allows.
__global__ void standardise_kernel(float *out, const float *in, const float *mean,
                                   const float *scale, int rows, int cols)
{
    bool guess = (long) rows * cols >= HUGE_CASE;
    Fill fill = { FILL_UNIFORM };
    FillKey key = fill_key(0, 0);
    int c = threadIdx.x, first = blockIdx.x * blockDim.y * ROWS + threadIdx.y;
    float value[ROWS];

    for (int j = 0; j < ROWS; j++) {
        int r = first + j * blockDim.y;
        value[j] =
            r < rows ? (guess ? fill_f32(fill, key, r * cols + c) : in[(size_t) r * cols + c]) : 0;
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
    dim3 block(cols, cols < BLOCK ? BLOCK / cols : 1);
    standardise_kernel<<<ceil_div(rows, block.y * ROWS), block>>>(out, in, mean, scale, rows, cols);
    CUDA_CHECK(cudaGetLastError());
}
