// expect: pass - C++: a view for a matrix and a class for the tile; kernel code without an index
// lab: transpose
#include "cudalab.cuh"
#include "kernel.h"

namespace
{

constexpr int kSide = 32;
constexpr int kThreadRows = 8;

template <typename T> class MatrixView
{
  public:
    __host__ __device__ MatrixView(T *data, int rows, int cols)
        : data_(data), rows_(rows), cols_(cols)
    {
    }
    __device__ bool contains(int row, int col) const
    {
        return row < rows_ && col < cols_;
    }
    __device__ T &operator()(int row, int col) const
    {
        return data_[static_cast<size_t>(row) * cols_ + col];
    }
    __host__ __device__ int tilesAcross() const
    {
        return ceil_div(cols_, kSide);
    }
    __host__ __device__ int tiles() const
    {
        return ceil_div(rows_, kSide) * tilesAcross();
    }

  private:
    T *data_;
    int rows_, cols_;
};

// A square in shared memory that belongs to a whole block.
class SharedTile
{
  public:
    __device__ void fetch(const MatrixView<const float> &from, int row0, int col0)
    {
#pragma unroll
        for (int r = 0; r < kSide; r += kThreadRows) {
            const int y = r + threadIdx.y, x = threadIdx.x;
            if (from.contains(row0 + y, col0 + x))
                cells_[y][x] = from(row0 + y, col0 + x);
        }
    }
    __device__ void storeTurned(const MatrixView<float> &to, int row0, int col0) const
    {
#pragma unroll
        for (int r = 0; r < kSide; r += kThreadRows) {
            const int y = r + threadIdx.y, x = threadIdx.x;
            if (to.contains(row0 + y, col0 + x))
                to(row0 + y, col0 + x) = cells_[x][y];
        }
    }

  private:
    float cells_[kSide][kSide + 1];
};

__global__ void transposeKernel(MatrixView<float> out, MatrixView<const float> in)
{
    __shared__ SharedTile tile;
    const int row0 = blockIdx.x / in.tilesAcross() * kSide;
    const int col0 = blockIdx.x % in.tilesAcross() * kSide;

    tile.fetch(in, row0, col0);
    __syncthreads(); // separates fetch() from storeTurned(), which reads other threads' cells
    tile.storeTurned(out, col0, row0);
}

} // namespace

LAB_API void transpose(float *out, const float *in, int rows, int cols)
{
    const MatrixView<const float> source(in, rows, cols);
    const MatrixView<float> target(out, cols, rows);

    transposeKernel<<<source.tiles(), dim3(kSide, kThreadRows)>>>(target, source);
    CUDA_CHECK(cudaGetLastError());
}
