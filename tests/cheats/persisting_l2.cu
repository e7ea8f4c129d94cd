// expect: build - sets L2 aside and pins its arrays there
// lab: coalescing
// Data that stays in L2 from call to call is not read again. Known (exploit 20: llm.c). Defence:
// the calls are not on the list of symbols; besides, the carve-out is reset before each sample,
// whose sets exceed L2.
#include "cudalab.cuh"
#include "kernel.h"

enum { ROWS = 4, BLOCK = 256 };

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
    cudaStreamAttrValue value = { 0 };

    CUDA_CHECK(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 32 << 20));
    value.accessPolicyWindow = { (void *) in, 32 << 20, 1, cudaAccessPropertyPersisting,
                                 cudaAccessPropertyStreaming };
    CUDA_CHECK(cudaStreamSetAttribute(0, cudaStreamAttributeAccessPolicyWindow, &value));
    dim3 block(cols, cols < BLOCK ? BLOCK / cols : 1);
    standardise_kernel<<<ceil_div(rows, block.y * ROWS), block>>>(out, in, mean, scale, rows, cols);
    CUDA_CHECK(cudaGetLastError());
}
