// Shown in slides/00_opening.md, "Find the bug". One block cannot have n threads, and no call
// checks the launch.
#include "cudalab.cuh"
#include "kernel.h"

__global__ void copy_kernel(float *out, const float *in)
{
    out[threadIdx.x] = in[threadIdx.x];
}

LAB_API void copy(float *out, const float *in, long n)
{
    copy_kernel<<<1, (unsigned) n>>>(out, in);
}
