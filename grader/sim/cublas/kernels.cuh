/* kernels.cuh - the kernels of the small cuBLAS. Matrices are column-major, as in BLAS. */
#ifndef SIM_CUBLAS_KERNELS_CUH
#define SIM_CUBLAS_KERNELS_CUH

#include <cuda_runtime.h>

namespace small_blas
{

enum { THREADS = 256, TILE = 16 };

/* alpha or beta: a value of the host, or a place on the device. */
template <typename T> struct Scalar {
    T value;
    const T *device;

    __device__ T get() const
    {
        return device ? *device : value;
    }
};

/* A vector whose increment may be negative: it then begins at its end. */
template <typename T> struct Vector {
    T *at;
    long long step, first;

    __host__ __device__ Vector(T *x, long long n, long long increment)
        : at(x), step(increment), first(increment < 0 ? (1 - n) * increment : 0)
    {
    }
    __device__ T &operator[](long long i) const
    {
        return at[first + i * step];
    }
};

__device__ inline long long thread_index()
{
    return (long long) blockIdx.x * blockDim.x + threadIdx.x;
}

template <typename T>
__global__ void axpy(long long n, Scalar<T> alpha, Vector<const T> x, Vector<T> y)
{
    const long long i = thread_index();

    if (i < n)
        y[i] += alpha.get() * x[i];
}

template <typename T> __global__ void scal(long long n, Scalar<T> alpha, Vector<T> x)
{
    const long long i = thread_index();

    if (i < n)
        x[i] *= alpha.get();
}

template <typename T> __global__ void copy(long long n, Vector<const T> x, Vector<T> y)
{
    const long long i = thread_index();

    if (i < n)
        y[i] = x[i];
}

/* ---- Sums, by one block in a fixed order, in double precision ---- */

/* The sum of all threads' values, in thread 0. */
__device__ inline double sum_of_block(double mine)
{
    __shared__ double sums[THREADS];

    sums[threadIdx.x] = mine;
    __syncthreads(); /* all values are stored before any is added */
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (threadIdx.x < half)
            sums[threadIdx.x] += sums[threadIdx.x + half];
        __syncthreads(); /* this round's sums, before the next round reads them */
    }
    return sums[0];
}

enum Sum { DOT, ABSOLUTE, NORM };

template <typename T, Sum WHICH>
__global__ void reduce(long long n, Vector<const T> x, Vector<const T> y, T *result)
{
    double mine = 0;

    for (long long i = threadIdx.x; i < n; i += THREADS) {
        const double a = x[i];
        mine += WHICH == ABSOLUTE ? fabs(a) : WHICH == NORM ? a * a : a * (double) y[i];
    }
    const double sum = sum_of_block(mine);
    if (threadIdx.x == 0)
        *result = (T) (WHICH == NORM ? sqrt(sum) : sum);
}

/* ---- Matrix times vector ---- */

/* A result that is multiplied by 0 is not read: it may hold anything. */
template <typename T> __device__ T blend(T alpha, T sum, T beta, const T &old)
{
    return beta == (T) 0 ? alpha * sum : alpha * sum + beta * old;
}

/* y = alpha A x + beta y: a thread per row, so that a warp reads neighbours of a column. */
template <typename T>
__global__ void gemv(int m, int n, Scalar<T> alpha, const T *a, long long lda, Vector<const T> x,
                     Scalar<T> beta, Vector<T> y)
{
    const long long row = thread_index();
    T sum = 0;

    if (row >= m)
        return;
    for (int column = 0; column < n; column++)
        sum += a[column * lda + row] * x[column];
    y[row] = blend(alpha.get(), sum, beta.get(), y[row]);
}

/* y = alpha A' x + beta y: a block per column. */
template <typename T>
__global__ void gemv_transposed(int m, Scalar<T> alpha, const T *a, long long lda,
                                Vector<const T> x, Scalar<T> beta, Vector<T> y)
{
    const T *column = a + blockIdx.x * lda;
    double mine = 0;

    for (int i = threadIdx.x; i < m; i += THREADS)
        mine += (double) column[i] * (double) x[i];
    const T sum = (T) sum_of_block(mine);
    if (threadIdx.x == 0)
        y[blockIdx.x] = blend(alpha.get(), sum, beta.get(), y[blockIdx.x]);
}

/* ---- Matrix times matrix ---- */

template <typename T> struct Matrix {
    T *at;
    long long ld, stride; /* stride: from one matrix of a batch to the next */
    bool transposed;
};

/* Element (row, column) of op(matrix), 0 outside of it. */
template <typename T>
__device__ T element(const Matrix<const T> &m, const T *at, int row, int column, int rows,
                     int columns)
{
    if (row >= rows || column >= columns)
        return 0;
    return m.transposed ? at[row * m.ld + column] : at[column * m.ld + row];
}

/* C = alpha op(A) op(B) + beta C, by tiles in shared memory; a block per tile of C. Threads of a
 * warp have neighbouring rows of C, which lie side by side. */
template <typename T>
__global__ void gemm(int m, int n, int k, Scalar<T> alpha, Matrix<const T> a, Matrix<const T> b,
                     Scalar<T> beta, Matrix<T> c)
{
    __shared__ T tile_a[TILE][TILE + 1], tile_b[TILE][TILE + 1];
    const int row = blockIdx.x * TILE + threadIdx.x, column = blockIdx.y * TILE + threadIdx.y;
    const T *from_a = a.at + blockIdx.z * a.stride, *from_b = b.at + blockIdx.z * b.stride;
    T sum = 0;

    for (int first = 0; first < k; first += TILE) {
        tile_a[threadIdx.y][threadIdx.x] = element(a, from_a, row, first + (int) threadIdx.y, m, k);
        tile_b[threadIdx.y][threadIdx.x] =
            element(b, from_b, first + (int) threadIdx.x, column, k, n);
        __syncthreads(); /* the tiles are complete before they are read */
        for (int i = 0; i < TILE; i++)
            sum += tile_a[i][threadIdx.x] * tile_b[threadIdx.y][i];
        __syncthreads(); /* they have been read before the next ones replace them */
    }
    if (row < m && column < n) {
        T &to = c.at[blockIdx.z * c.stride + column * c.ld + row];
        to = blend(alpha.get(), sum, beta.get(), to);
    }
}

} // namespace small_blas

#endif
