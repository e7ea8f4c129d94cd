// expect: build - puts a pointer of its own into nvcc's .init_array, by .reloc
// lab: coalescing
// The section keeps its size of one pointer, and nvcc's pointer is overwritten when the object is
// loaded. Defence: relocations of that section are counted; besides, code that runs at load time
// runs in the guest.
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256 };

extern "C" __attribute__((used)) void at_load(void)
{
    puts("ran at load");
}
asm(".pushsection .init_array,\"aw\"\n.reloc 0, R_X86_64_64, at_load\n.popsection\n");

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
    standardise_kernel<<<dim3(ceil_div(rows, BLOCK), cols), BLOCK>>>(out, in, mean, scale, rows,
                                                                     cols);
    CUDA_CHECK(cudaGetLastError());
}
