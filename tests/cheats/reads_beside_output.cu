// expect: wrong (sim: unsafe) - takes the memory after its output for the expected result
// lab: reduction
// A grader may keep the right answer in the next array. Known (exploit 13: result reuse). Defence:
// the child has no right answer; a guard zone surrounds the output, and its bytes are a wrong
// answer.
#include "cudalab.cuh"
#include "kernel.h"

__global__ void copy_kernel(float *out)
{
    out[0] = out[1];
}

LAB_API void sum(float *out, const float *in, long n, float *scratch, long scratch_count)
{
    copy_kernel<<<1, 1>>>(out);
    CUDA_CHECK(cudaGetLastError());
}
