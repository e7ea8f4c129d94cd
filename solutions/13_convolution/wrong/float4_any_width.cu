// expect: crash - float4 in rows of any length: the second row of 33 floats is not aligned
#include "cudalab.cuh"
#include "kernel.h"

enum { BLOCK = 128, BAND = 64 };

// The nearest index that exists, of n.
static __device__ int clamp(int i, int n)
{
    return min(max(i, 0), n - 1);
}

// Pixels x .. x + 3 of a row; x is a multiple of 4, and may lie outside the image. If the number of
// columns is a multiple of 4 (FOURS), all four are inside, or none is: then they equal the nearest.
template <bool FOURS> static __device__ float4 load_four(const float *row, int x, int cols)
{
    float4 four;

    if (!FOURS)
        return make_float4(row[clamp(x, cols)], row[clamp(x + 1, cols)], row[clamp(x + 2, cols)],
                           row[clamp(x + 3, cols)]);
    four = *(const float4 *) (row + min(max(x, 0), cols - 4));
    if (x < 0 || x >= cols) {
        float nearest = x < 0 ? four.x : four.w;
        four = make_float4(nearest, nearest, nearest, nearest);
    }
    return four;
}

template <bool FOURS>
static __device__ void store_four(float *row, int x, int cols, const float (&value)[4])
{
    if (FOURS)
        *(float4 *) (row + x) = make_float4(value[0], value[1], value[2], value[3]);
    else
        for (int i = 0; i < 4; i++)
            if (x + i < cols)
                row[x + i] = value[i];
}

// The sums across the row for pixels x .. x + 3: 4 + 2R pixels serve 4 (2R + 1) taps.
template <int R, bool FOURS>
static __device__ void sum_four(float (&sum)[4], const float *row, int x, int cols,
                                const Filter &filter)
{
    constexpr int APRON = (R + 3) / 4 * 4; // in whole loads
    float pixel[APRON + 4 + APRON];

#pragma unroll
    for (int k = 0; k < APRON + 4 + APRON; k += 4) {
        float4 four = load_four<FOURS>(row, x - APRON + k, cols);
        pixel[k] = four.x, pixel[k + 1] = four.y, pixel[k + 2] = four.z, pixel[k + 3] = four.w;
    }
#pragma unroll
    for (int i = 0; i < 4; i++)
        sum[i] = 0;
#pragma unroll
    for (int j = -R; j <= R; j++)
#pragma unroll
        for (int i = 0; i < 4; i++)
            sum[i] += filter.across[REACH + j] * pixel[APRON + i + j];
}

// The next value down a column. It belongs to 2R + 1 results: the one that it completes is
// returned; the others wait in `pending`, each with what it has so far. Every result moves up one
// place by being the third operand of its multiply-add.
template <int R>
static __device__ float push(float (&pending)[2 * R], float value, const Filter &filter)
{
    float done = pending[0] + filter.down[REACH + R] * value;

#pragma unroll
    for (int k = 0; k < 2 * R - 1; k++)
        pending[k] = pending[k + 1] + filter.down[REACH + R - 1 - k] * value;
    pending[2 * R - 1] = filter.down[REACH - R] * value;
    return done;
}

template <int R, bool FOURS>
__global__ void sum_across(float *sums, const float *in, int cols, Filter filter)
{
    int x = 4 * (blockIdx.y * BLOCK + threadIdx.x);
    int row = blockIdx.x * cols;
    float sum[4];

    if (x >= cols)
        return;
    sum_four<R, FOURS>(sum, in + row, x, cols, filter);
    store_four<FOURS>(sums + row, x, cols, sum);
}

// A thread has one column of a band of rows, and begins R rows above it.
template <int R>
__global__ void sum_down(float *out, const float *__restrict__ sums, int rows, int cols,
                         Filter filter)
{
    int x = blockIdx.x * BLOCK + threadIdx.x, first = blockIdx.y * BAND;
    int last = min(first + BAND, rows);
    float pending[2 * R] = {};

    if (x >= cols)
        return;
#pragma unroll 4
    for (int y = first - R; y < last + R; y++) {
        float done = push<R>(pending, sums[clamp(y, rows) * cols + x], filter);
        if (y - R >= first)
            out[(y - R) * cols + x] = done;
    }
}

template <int R>
static void launch(float *out, const float *in, int rows, int cols, const Filter &filter,
                   float *scratch)
{
    dim3 across(rows, ceil_div(cols, 4 * BLOCK)), down(ceil_div(cols, BLOCK), ceil_div(rows, BAND));

    if (cols >= 4)
        sum_across<R, true><<<across, BLOCK>>>(scratch, in, cols, filter);
    else
        sum_across<R, false><<<across, BLOCK>>>(scratch, in, cols, filter);
    CUDA_CHECK(cudaGetLastError());
    sum_down<R><<<down, BLOCK>>>(out, scratch, rows, cols, filter);
    CUDA_CHECK(cudaGetLastError());
}

LAB_API void convolve(float *out, const float *in, int rows, int cols, Filter filter,
                      float *scratch)
{
    if (filter.radius <= 2)
        launch<2>(out, in, rows, cols, filter, scratch);
    else if (filter.radius <= 8)
        launch<8>(out, in, rows, cols, filter, scratch);
    else
        launch<REACH>(out, in, rows, cols, filter, scratch);
}
