// expect: pass - as many blocks as can be resident loop over the tiles; two buffers, one barrier
// lab: transpose
#include "cudalab.cuh"
#include "kernel.h"

enum { T = 32, WARPS = 8 };

__global__ void transpose_persistent(float *out, const float *in, int rows, int cols)
{
    __shared__ float buffers[2][T][T + 1];
    const int tiles_across = ceil_div(cols, T);
    const long tiles = (long) ceil_div(rows, T) * tiles_across;
    int turn = 0;

    for (long t = blockIdx.x; t < tiles; t += gridDim.x, turn ^= 1) {
        float(*tile)[T + 1] = buffers[turn];
        const int row = (int) (t / tiles_across) * T, col = (int) (t % tiles_across) * T;

#pragma unroll
        for (int k = 0; k < T; k += WARPS) {
            int r = row + k + threadIdx.y, c = col + threadIdx.x;
            if (r < rows && c < cols)
                tile[k + threadIdx.y][threadIdx.x] = in[(size_t) r * cols + c];
        }

        // Separates filling this buffer from reading it. It also separates reading the other
        // buffer, which all threads have done by now, from filling that one again.
        __syncthreads();

#pragma unroll
        for (int k = 0; k < T; k += WARPS) {
            int r = row + threadIdx.x, c = col + k + threadIdx.y;
            if (r < rows && c < cols)
                out[(size_t) c * rows + r] = tile[threadIdx.x][k + threadIdx.y];
        }
    }
}

LAB_API void transpose(float *out, const float *in, int rows, int cols)
{
    int device, sms, per_sm;

    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device));
    CUDA_CHECK(
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, transpose_persistent, T * WARPS, 0));

    transpose_persistent<<<sms * per_sm, dim3(T, WARPS)>>>(out, in, rows, cols);
    CUDA_CHECK(cudaGetLastError());
}
