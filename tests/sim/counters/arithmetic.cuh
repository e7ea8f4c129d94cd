/* arithmetic.cuh - single-precision multiply-adds: explicit, contracted, and inside divisions and
 * library functions. */
#ifndef ARITHMETIC_CUH
#define ARITHMETIC_CUH

#include "patterns.cuh"

#define ARITHMETIC(name, T, expression)                                                            \
    __global__ void name(void *out, const void *in, const int *index, int n)                       \
    {                                                                                              \
        int i = index[threadIdx.x];                                                                \
        T x = ((const T *) in)[threadIdx.x], y = ((const T *) in)[32 + threadIdx.x];               \
                                                                                                   \
        if (i < 0 || (n && y == x)) /* n is 0; makes both loads necessary for every expression */  \
            return;                                                                                \
        ((T *) out)[threadIdx.x] = expression;                                                     \
    }

ARITHMETIC(fma_one, float, fmaf(x, y, 1.0f))
ARITHMETIC(fma_contracted, float, x *y + 1.0f)
ARITHMETIC(fma_not_contracted, float, __fadd_rn(__fmul_rn(x, y), 1.0f))
ARITHMETIC(fma_double, double, fma(x, y, 1.0))
ARITHMETIC(divide, float, x / y)
ARITHMETIC(divide_fast, float, __fdividef(x, y))
ARITHMETIC(reciprocal, float, 1.0f / x)
ARITHMETIC(root, float, sqrtf(x))
ARITHMETIC(root_reciprocal, float, rsqrtf(x))
ARITHMETIC(exponential, float, expf(x))
ARITHMETIC(logarithm, float, logf(x))
ARITHMETIC(power, float, powf(x, y))
ARITHMETIC(sine, float, sinf(x))
ARITHMETIC(hyperbolic, float, tanhf(x))
ARITHMETIC(remainder_float, float, fmodf(x, y))
ARITHMETIC(divide_double, double, x / y)
ARITHMETIC(divide_int, int, x / (y | 1))
ARITHMETIC(remainder_unsigned, unsigned, x % (y | 1))
ARITHMETIC(divide_long, long long, x / (y | 1))

/* n multiply-adds, one after the other. */
__global__ void fma_chain(void *out, const void *in, const int *index, int n)
{
    int i = index[threadIdx.x];
    float a = ((const float *) in)[threadIdx.x];

    if (i < 0)
        return;
#pragma unroll 4
    for (int k = 0; k < n; k++)
        a = a * 0.999f + 0.5f;
    ((float *) out)[threadIdx.x] = a;
}

/* A polynomial of degree 7, and a dot product of n elements per thread. */
__global__ void polynomial(void *out, const void *in, const int *index, int n)
{
    float x = ((const float *) in)[thread_number()], y = 1;

    for (int k = 0; k < 7; k++)
        y = y * x + (float) (k + 1);
    ((float *) out)[thread_number()] = y;
}

__global__ void dot(void *out, const void *in, const int *index, int n)
{
    const float *a = (const float *) in, *b = a + 4096;
    float sum = 0;

    for (int i = thread_number(); i < n; i += (int) (gridDim.x * blockDim.x))
        sum += a[i] * b[i];
    ((float *) out)[thread_number()] = sum;
}

/* y = A x for n x n: one row per thread, and a column of threads per row, as inside a small SGEMM.
 */
__global__ void matrix_vector(void *out, const void *in, const int *index, int n)
{
    const float *matrix = (const float *) in;
    int row = thread_number();
    float sum = 0;

    if (row >= n)
        return;
    for (int k = 0; k < n; k++)
        sum += matrix[row * n + k] * matrix[k];
    ((float *) out)[row] = sum;
}

/* C = A B with 16 x 16 tiles in shared memory; n a multiple of 16. Block 16 x 16. The loads along a
 * row of `a` become vector loads in machine code but not in PTX. */
__global__ void matrix_tiles(void *out, const void *in, const int *index, int n)
{
    __shared__ float a[16][16], b[16][16];
    const float *matrix = (const float *) in;
    int x = (int) threadIdx.x, y = (int) threadIdx.y;
    int col = (int) blockIdx.x * 16 + x, row = (int) blockIdx.y * 16 + y;
    float sum = 0;

    for (int k = 0; k < n; k += 16) {
        a[y][x] = matrix[row * n + k + x];
        b[y][x] = matrix[(k + y) * n + col];
        __syncthreads();
        for (int j = 0; j < 16; j++)
            sum += a[y][j] * b[j][x];
        __syncthreads();
    }
    ((float *) out)[row * n + col] = sum;
}

/* The same with a pitch that is known only at run time, so that no loads can be merged. */
__global__ void matrix_pitched(void *out, const void *in, const int *index, int n)
{
    extern __shared__ float padded[];
    const float *matrix = (const float *) in;
    int pitch = index[0];
    float *a = padded, *b = padded + 16 * pitch;
    int x = (int) threadIdx.x, y = (int) threadIdx.y;
    int col = (int) blockIdx.x * 16 + x, row = (int) blockIdx.y * 16 + y;
    float sum = 0;

    for (int k = 0; k < n; k += 16) {
        a[y * pitch + x] = matrix[row * n + k + x];
        b[y * pitch + x] = matrix[(k + y) * n + col];
        __syncthreads();
        for (int j = 0; j < 16; j++)
            sum += a[y * pitch + j] * b[j * pitch + x];
        __syncthreads();
    }
    ((float *) out)[row * n + col] = sum;
}

#endif
