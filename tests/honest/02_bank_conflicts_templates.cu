// expect: pass - C++: a class for the staged rows, four rows of results per thread
// lab: bank_conflicts
#include "cudalab.cuh"
#include "kernel.h"

namespace
{

constexpr int tile = 32, per_thread = 4;

class StagedRows
{
  public:
    __device__ StagedRows(float *memory, int d) : words(memory), step(d | 1)
    {
    }

    __device__ void fill(const float *x, int first, int n, int d)
    {
        for (int r = threadIdx.y; r < tile; r += blockDim.y)
            for (int k = threadIdx.x; k < d; k += tile)
                words[r * step + k] = first + r < n ? x[(first + r) * d + k] : 0.0f;
    }

    __device__ float operator()(int row, int k) const
    {
        return words[row * step + k];
    }

  private:
    float *words;
    int step;
};

template <int PerThread> __global__ void all_pairs(float *dist, const float *x, int n, int d)
{
    extern __shared__ float memory[];
    StagedRows a(memory, d), b(memory + tile * (d | 1), d);
    const int i0 = blockIdx.y * tile, j0 = blockIdx.x * tile;
    float sums[PerThread] = {};

    a.fill(x, i0, n, d);
    b.fill(x, j0, n, d);
    // Separates filling from reading: a thread reads rows that all warps have filled.
    __syncthreads();
    for (int k = 0; k < d; ++k) {
        const float mine = b(threadIdx.x, k);
#pragma unroll
        for (int r = 0; r < PerThread; ++r) {
            const float delta = a(threadIdx.y + r * blockDim.y, k) - mine;
            sums[r] += delta * delta;
        }
    }
#pragma unroll
    for (int r = 0; r < PerThread; ++r) {
        const int i = i0 + threadIdx.y + r * blockDim.y, j = j0 + threadIdx.x;
        if (i < n && j < n)
            dist[i * n + j] = sums[r];
    }
}

} // namespace

LAB_API void distances(float *dist, const float *x, int n, int d)
{
    const int tiles = (n + tile - 1) / tile;
    const size_t bytes = sizeof(float) * 2 * tile * (d | 1);

    all_pairs<per_thread>
        <<<dim3(tiles, tiles), dim3(tile, tile / per_thread), bytes>>>(dist, x, n, d);
    CUDA_CHECK(cudaGetLastError());
}
