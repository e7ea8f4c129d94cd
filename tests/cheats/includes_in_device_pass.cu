// expect: build - includes the reference solution where only the GPU's code is compiled
// lab: coalescing
// nvcc preprocesses a source once for each architecture and once for the host, and -MD lists only
// the files of the last pass. Known (exploit 23). Defence: the grader checks the files of all
// passes.
#ifdef __CUDA_ARCH__
#include "../../../solutions/01_coalescing/2_lanes_along_features.cu"
#else
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256, ROWS = 4 };

// The host pass needs only a declaration: the device pass defines the kernel's code.
__global__ void standardise_kernel(float *out, const float *in, const float *mean,
                                   const float *scale, int rows, int cols)
{
}

LAB_API void standardise(float *out, const float *in, const float *mean, const float *scale,
                         int rows, int cols)
{
    dim3 block(cols, cols < BLOCK ? BLOCK / cols : 1);
    standardise_kernel<<<ceil_div(rows, block.y * ROWS), block>>>(out, in, mean, scale, rows, cols);
    CUDA_CHECK(cudaGetLastError());
}
#endif
