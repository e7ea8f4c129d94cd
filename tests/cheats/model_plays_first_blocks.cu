// expect: slow - does light work in the blocks that a model of time plays
// lab: coalescing
//
// On a simulated GPU the first waves of a large launch are played, and blocks left out were charged
// in proportion to their instructions. The first waves here execute many instructions that do not
// become machine code, and touch no memory. (Our own.) Defence: blocks left out are charged by
// their own counts of sectors, requests and wavefronts.
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 256, LARGE = 50000, BLOCKS_A_SM = 8, WAVES = 6, STEPS = 4000 };

__global__ void standardise_kernel(float *out, const float *in, const float *mean,
                                   const float *scale, int rows, int cols, int decoys)
{
    int block = blockIdx.x;

    if (block < decoys) {
        unsigned x = threadIdx.x + block;
        for (int i = 0; i < STEPS; i++)
            asm volatile("{ .reg .b64 w; .reg .b32 h; mul.wide.u32 w, %0, 3; mov.b64 {%0, h}, w; }"
                         : "+r"(x));
        return;
    }
    int r = (block - decoys) * BLOCK + threadIdx.x;

    for (int c = 0; c < cols && r < rows; c++)
        out[(size_t) r * cols + c] = (in[(size_t) r * cols + c] - mean[c]) * scale[c];
}

LAB_API void standardise(float *out, const float *in, const float *mean, const float *scale,
                         int rows, int cols)
{
    int device, sms, decoys;

    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device));
    decoys = rows > LARGE ? BLOCKS_A_SM * (WAVES * sms + 1) : 0;
    standardise_kernel<<<ceil_div(rows, BLOCK) + decoys, BLOCK>>>(out, in, mean, scale, rows, cols,
                                                                  decoys);
    CUDA_CHECK(cudaGetLastError());
}
