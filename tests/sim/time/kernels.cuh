// kernels.cuh - kernels with a known time on an H200, with which the timing model is compared.
#ifndef TIME_KERNELS_CUH
#define TIME_KERNELS_CUH

enum { TILE = 32, BLOCK_ROWS = 8 };

// ILP chains of multiply-adds per thread, 256 of them per loop; x is uniform.
template <int ILP> __global__ void fma_chain(float *out, float x, int loops)
{
    float a[ILP];

    for (int i = 0; i < ILP; i++)
        a[i] = threadIdx.x + i;
    for (int l = 0; l < loops; l++) {
#pragma unroll
        for (int k = 0; k < 256 / ILP; k++)
#pragma unroll
            for (int i = 0; i < ILP; i++)
                a[i] = a[i] * x + 0.5f;
    }
    float sum = 0;
    for (int i = 0; i < ILP; i++)
        sum += a[i];
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// The same with both factors in registers: each reads three.
template <int ILP> __global__ void fma_chain_registers(float *out, const float *in, int loops)
{
    const float x = in[threadIdx.x], y = in[threadIdx.x + 1];
    float a[ILP];

    for (int i = 0; i < ILP; i++)
        a[i] = threadIdx.x + i;
    for (int l = 0; l < loops; l++) {
#pragma unroll
        for (int k = 0; k < 256 / ILP; k++)
#pragma unroll
            for (int i = 0; i < ILP; i++)
                a[i] = a[i] * x + y;
    }
    float sum = 0;
    for (int i = 0; i < ILP; i++)
        sum += a[i];
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

__global__ void copy_float(float *out, const float *in, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < count)
        out[i] = in[i];
}

__global__ void copy_float4(float4 *out, const float4 *in, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < count)
        out[i] = in[i];
}

__global__ void copy_strided(float *out, const float *in, int count, int stride)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < count)
        out[(size_t) i * stride] = in[(size_t) i * stride];
}

// Begins at an offset that is not a multiple of 32 words.
__global__ void copy_from(float *out, const float *in, int count, int offset)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < count - offset)
        out[i] = in[i + offset];
}

// n x n, blocks of TILE x BLOCK_ROWS threads.
__global__ void transpose_naive(float *out, const float *in, int n)
{
    int col = blockIdx.x * TILE + threadIdx.x, row = blockIdx.y * TILE + threadIdx.y;

    for (int j = 0; j < TILE; j += BLOCK_ROWS)
        out[(size_t) col * n + row + j] = in[(size_t) (row + j) * n + col];
}

template <int PITCH> __global__ void transpose_tile(float *out, const float *in, int n)
{
    __shared__ float tile[TILE][PITCH];
    int col = blockIdx.x * TILE + threadIdx.x, row = blockIdx.y * TILE + threadIdx.y;

    for (int j = 0; j < TILE; j += BLOCK_ROWS)
        tile[threadIdx.y + j][threadIdx.x] = in[(size_t) (row + j) * n + col];
    __syncthreads(); // the tile is complete before its columns are read
    col = blockIdx.y * TILE + threadIdx.x, row = blockIdx.x * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += BLOCK_ROWS)
        out[(size_t) (row + j) * n + col] = tile[threadIdx.x][threadIdx.y + j];
}

#endif
