// expect: device - four blocks per row: the time of 5/4 rows instead of 2
// lab: tail_effect
#include "cudalab.cuh"
#include "kernel.h"

__global__ void quarter_rows(unsigned *out, const unsigned *in, int cols, int rounds)
{
    int row = blockIdx.x / 4, quarter = blockIdx.x % 4;
    int from = (int) ((long) cols * quarter / 4), to = (int) ((long) cols * (quarter + 1) / 4);

    for (int col = from + threadIdx.x; col < to; col += blockDim.x) {
        unsigned seed = in[row * cols + col], s = seed;
        for (int n = rounds; n > 0; n--)
            s = (s ^ (s >> 15)) * 0x2c1b3c6du + seed;
        out[row * cols + col] = s;
    }
}

LAB_API void advance(unsigned *out, const unsigned *in, int rows, int cols, int rounds)
{
    quarter_rows<<<rows * 4, 1024>>>(out, in, cols, rounds);
    CUDA_CHECK(cudaGetLastError());
}
