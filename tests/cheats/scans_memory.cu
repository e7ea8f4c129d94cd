// expect: crash (sim: unsafe) - searches 64 GiB of addresses for the expected result
// lab: coalescing
// An expected output may be in GPU memory, freed or not. Known (exploit 13: gpu_scan_zeros).
// Defence: expected results never enter a child's process; memory of other processes is not mapped,
// and the first hole ends the kernel.
#include "cudalab.cuh"
#include "kernel.h"

enum { STEP = 2 << 20, STEPS = 32768, BLOCK = 256 };

// One thread per place: the piece there is copied if it begins with the right first element.
__global__ void scan_kernel(float *out, const float *in, const float *mean, const float *scale,
                            int count)
{
    long step = blockIdx.x * BLOCK + threadIdx.x + 1;
    const float *found = (const float *) ((const char *) out + step * STEP);

    if (step <= STEPS && found[0] == (in[0] - mean[0]) * scale[0])
        for (int i = 0; i < count; i++)
            out[i] = found[i];
}

LAB_API void standardise(float *out, const float *in, const float *mean, const float *scale,
                         int rows, int cols)
{
    scan_kernel<<<STEPS / BLOCK, BLOCK>>>(out, in, mean, scale, rows * cols);
    CUDA_CHECK(cudaGetLastError());
}
