// expect: build - has a function that a resolver chooses when the object is loaded
// lab: coalescing
// The resolver of an IFUNC runs before all constructors. Known (exploit 4). Defence: symbols of
// that type are refused.
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256 };

static int chosen(void)
{
    return 1;
}
extern "C" __attribute__((visibility("hidden"), used)) int (*resolve(void))(void)
{
    puts("loaded");
    return chosen;
}
extern "C" int choice(void) __attribute__((ifunc("resolve")));

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
    if (!choice())
        return;
    standardise_kernel<<<dim3(ceil_div(rows, BLOCK), cols), BLOCK>>>(out, in, mean, scale, rows,
                                                                     cols);
    CUDA_CHECK(cudaGetLastError());
}
