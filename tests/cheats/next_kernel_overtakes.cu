// expect: slow - hides the work behind an empty kernel that may overtake it; the kernel is slow
// lab: coalescing
// Programmatic dependent launch (compute capability 9.0): the working kernel signals immediately
// that the next one may begin, the next one is empty and does not wait, and an event after it might
// not wait either. Not a known exploit. Defence: the parent's clock runs until the device is idle
// and counts if the events disagree with it.
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256 };

// The lanes read down one feature's column: correct, but far too slow to pass.
__global__ void standardise_kernel(float *out, const float *in, const float *mean,
                                   const float *scale, int rows, int cols)
{
    int r = blockIdx.x * BLOCK + threadIdx.x, c = blockIdx.y;

#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;");
#endif
    if (r < rows)
        out[(size_t) r * cols + c] = (in[(size_t) r * cols + c] - mean[c]) * scale[c];
}

__global__ void empty_kernel(void)
{
}

LAB_API void standardise(float *out, const float *in, const float *mean, const float *scale,
                         int rows, int cols)
{
    cudaLaunchAttribute early = { cudaLaunchAttributeProgrammaticStreamSerialization };
    cudaLaunchConfig_t config = { 1, 1 };

    standardise_kernel<<<dim3(ceil_div(rows, BLOCK), cols), BLOCK>>>(out, in, mean, scale, rows,
                                                                     cols);
    CUDA_CHECK(cudaGetLastError());
    early.val.programmaticStreamSerializationAllowed = 1;
    config.attrs = &early;
    config.numAttrs = 1;
    CUDA_CHECK(cudaLaunchKernelEx(&config, empty_kernel));
}
