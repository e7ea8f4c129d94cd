// expect: slow - the CPU's two loops: a block for each row, its threads walk along the columns
// lab: transpose
#include "cudalab.cuh"
#include "kernel.h"

__global__ void transpose_rows(float *B, const float *A, int M, int N)
{
    int i = blockIdx.x;

    for (long j = threadIdx.x; j < N; j += blockDim.x)
        B[j * M + i] = A[(long) i * N + j];
}

LAB_API void transpose(float *out, const float *in, int rows, int cols)
{
    int threads = cols < 1024 ? (cols + 31) / 32 * 32 : 1024;

    transpose_rows<<<rows, threads>>>(out, in, rows, cols);
    CUDA_CHECK(cudaGetLastError());
}
