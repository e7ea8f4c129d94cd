// expect: slow - requests a persisting window as an attribute of its launch; the kernel is slow
// lab: coalescing
// This is persisting_l2 by a call that is allowed. Similar to exploit 20. Defence: nothing is set
// aside for it (the limit is 0), contents are new in each sample, and the sets of a sample exceed
// L2: no gain.
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256, WINDOW = 16 << 20 };

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
    cudaLaunchAttribute window = { cudaLaunchAttributeAccessPolicyWindow };
    cudaLaunchConfig_t config = { dim3(ceil_div(rows, BLOCK), cols), BLOCK };
    size_t bytes = (size_t) rows * cols * sizeof(float);

    window.val.accessPolicyWindow = { (void *) in, bytes < WINDOW ? bytes : WINDOW, 1,
                                      cudaAccessPropertyPersisting, cudaAccessPropertyStreaming };
    config.attrs = &window;
    config.numAttrs = 1;
    CUDA_CHECK(cudaLaunchKernelEx(&config, standardise_kernel, out, in, mean, scale, rows, cols));
}
