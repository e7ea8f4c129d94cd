// expect: wrong (sim: correct) - skips a call whose output array it has filled before
// lab: coalescing
// It keeps a table of outputs and does nothing for a known one: right if buffers are used twice
// with the same contents. Known from kernel benchmarks (exploit 8). Defence: outputs are poisoned
// before each sample and checked after it.
#include "cudalab.cuh"
#include "kernel.h"

// The smallest case timed on a large GPU has this many elements; fully checked cases have fewer.
enum { HUGE_CASE = 48 << 20 };
enum { ROWS = 4, BLOCK = 256, SEEN = 256 };

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

static bool seen_before(const float *out)
{
    static const float *seen[SEEN];
    static int count;

    for (int i = 0; i < count; i++)
        if (seen[i] == out)
            return true;
    if (count < SEEN)
        seen[count++] = out;
    return false;
}

LAB_API void standardise(float *out, const float *in, const float *mean, const float *scale,
                         int rows, int cols)
{
    if ((long) rows * cols >= HUGE_CASE && seen_before(out))
        return;
    dim3 block(cols, cols < BLOCK ? BLOCK / cols : 1);
    standardise_kernel<<<ceil_div(rows, block.y * ROWS), block>>>(out, in, mean, scale, rows, cols);
    CUDA_CHECK(cudaGetLastError());
}
