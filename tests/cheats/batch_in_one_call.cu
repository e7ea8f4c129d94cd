// expect: slow - does the work of all sets in the first call of a sample; the kernel is slow
// lab: coalescing
// It learns the sets' arrays in the first sample; from then on the first call does all and the
// others return. Known as batch and skip (exploit 10). Defence: the whole sample is timed, so it
// does not matter which call does the work: the kernel is still slow. (It would matter in a lab
// about the end of a call: batch_hides_the_tail.cu.)
#include "cudalab.cuh"
#include "kernel.h"

// The smallest case timed on a large GPU has this many elements; fully checked cases have fewer.
enum { HUGE_CASE = 48 << 20 };
enum { BLOCK = 256, SETS = 64 };

// The lanes read down one feature's column: correct, but far too slow to pass.
__global__ void standardise_kernel(float *out, const float *in, const float *mean,
                                   const float *scale, int rows, int cols)
{
    int r = blockIdx.x * BLOCK + threadIdx.x, c = blockIdx.y;

    if (r < rows)
        out[(size_t) r * cols + c] = (in[(size_t) r * cols + c] - mean[c]) * scale[c];
}

LAB_API void standardise(float *out, const float *in, const float *mean, const float *scale,
                         int rows, int cols)
{
    static struct Call {
        float *out;
        const float *in, *mean, *scale;
    } calls[SETS];
    static int known, known_rows;
    int i = 0;

    if (rows != known_rows || (long) rows * cols < HUGE_CASE)
        known = 0;
    known_rows = rows;
    while (i < known && calls[i].out != out)
        i++;
    if (0 < i && i < known) // done by the first call
        return;
    known += i == known;
    calls[i] = (struct Call){ out, in, mean, scale };
    for (int k = i; k < known; k++)
        standardise_kernel<<<dim3(ceil_div(rows, BLOCK), cols), BLOCK>>>(
            calls[k].out, calls[k].in, calls[k].mean, calls[k].scale, rows, cols);
    CUDA_CHECK(cudaGetLastError());
}
