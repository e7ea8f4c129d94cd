// expect: pass - macros for everything; the tile is transposed as it is filled, not as it is read
// lab: transpose
#include "cudalab.cuh"
#include "kernel.h"

#define DIM           32
#define PAD           1
#define NWARPS        4
#define IDX(i, j, n)  ((i) * (n) + (j))
#define CEIL(a, b)    (1 + ((a) -1) / (b))
#define LANE          (threadIdx.x % DIM)
#define WARP          (threadIdx.x / DIM)
#define FOR_PASSES(p) _Pragma("unroll") for (unsigned p = 0; p < DIM; p += NWARPS)

__global__ void kernel_transpose(float *B, const float *A, unsigned m, unsigned n)
{
    __shared__ float turned[DIM][DIM + PAD];
    const unsigned nt = CEIL(n, DIM);
    const unsigned i0 = (blockIdx.x / nt) * DIM;
    const unsigned j0 = (blockIdx.x % nt) * DIM;

    FOR_PASSES(p)
    {
        const unsigned k = p + WARP;
        if (i0 + k < m && j0 + LANE < n)
            turned[LANE][k] = A[IDX(i0 + k, j0 + LANE, n)];
    }
    __syncthreads(); // every row of `turned` has parts from every warp
    FOR_PASSES(p)
    {
        const unsigned k = p + WARP;
        if (j0 + k < n && i0 + LANE < m)
            B[IDX(j0 + k, i0 + LANE, m)] = turned[k][LANE];
    }
}

LAB_API void transpose(float *out, const float *in, int rows, int cols)
{
    unsigned m = rows, n = cols;

    kernel_transpose<<<CEIL(m, DIM) * CEIL(n, DIM), DIM * NWARPS>>>(out, in, m, n);
    CUDA_CHECK(cudaGetLastError());
}
