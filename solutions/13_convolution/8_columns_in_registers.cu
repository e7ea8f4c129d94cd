// rung: 8, expect: pass - radius 2 in registers only: a thread slides down four columns
// The results that are not complete fit into registers, and no thread waits for another. A larger
// radius goes through shared memory, as in rung 7.
#include "cudalab.cuh"
#include "kernel.h"

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

// As load_four, for pixels x and x + 1, with an even x.
template <bool FOURS> static __device__ float2 load_two(const float *row, int x, int cols)
{
    float2 two;

    if (!FOURS)
        return make_float2(row[clamp(x, cols)], row[clamp(x + 1, cols)]);
    two = *(const float2 *) (row + min(max(x, 0), cols - 2));
    if (x < 0 || x >= cols)
        two.x = two.y = x < 0 ? two.x : two.y;
    return two;
}

// The pixels that four sums across need, from x - R on, rounded to what a load takes.
template <int R> struct Row {
    enum { APRON = (R + 1) / 2 * 2 };
    float pixel[APRON + 4 + APRON];
};

template <int R, bool FOURS>
static __device__ void load_row(Row<R> &row, const float *from, int x, int cols)
{
#pragma unroll
    for (int k = 0; k < Row<R>::APRON; k += 2) {
        float2 left = load_two<FOURS>(from, x - Row<R>::APRON + k, cols);
        float2 right = load_two<FOURS>(from, x + 4 + k, cols);
        row.pixel[k] = left.x, row.pixel[k + 1] = left.y;
        row.pixel[Row<R>::APRON + 4 + k] = right.x, row.pixel[Row<R>::APRON + 5 + k] = right.y;
    }
    float4 four = load_four<FOURS>(from, x, cols);
    row.pixel[Row<R>::APRON] = four.x, row.pixel[Row<R>::APRON + 1] = four.y;
    row.pixel[Row<R>::APRON + 2] = four.z, row.pixel[Row<R>::APRON + 3] = four.w;
}

// The sums across for four neighbours.
template <int R>
static __device__ void sum_four(float (&sum)[4], const Row<R> &row, const Filter &filter)
{
#pragma unroll
    for (int i = 0; i < 4; i++)
        sum[i] = 0;
#pragma unroll
    for (int j = -R; j <= R; j++)
#pragma unroll
        for (int i = 0; i < 4; i++)
            sum[i] += filter.across[REACH + j] * row.pixel[Row<R>::APRON + i + j];
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

// The height of a band of rows. As many blocks as the GPU runs at the same time share the image:
// each begins 2R rows early, so bands should be tall. They take whole steps of `step` rows.
template <typename Kernel>
static int height_of_band(Kernel *kernel, int threads, int strips, int rows, int radius, int step)
{
    int device, sms, per_sm, bands, height;

    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device));
    CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, kernel, threads, 0));
    bands = sms * per_sm > strips ? sms * per_sm / strips : 1;
    height = ceil_div(rows, bands) > step ? ceil_div(rows, bands) : step;
    return ceil_div(height + 2 * radius, step) * step - 2 * radius;
}

// ---- Both passes in registers: a thread has four columns of a few rows ----

enum { BLOCK = 128, BAND = 16 };

// Short-lived blocks in the order of the image's rows, as a plain copy has: the rows that two bands
// share are still in L2. All loads of a thread are in flight together. Neighbouring threads load
// the same pixels, which come from L1.
template <int R, bool FOURS>
__global__ void __launch_bounds__(BLOCK)
    convolve_columns(float *__restrict__ out, const float *__restrict__ in, int rows, int cols,
                     Filter filter)
{
    int x = 4 * (blockIdx.x * BLOCK + threadIdx.x), first = blockIdx.y * BAND;
    float pending[4][2 * R] = {}, sum[4];
    Row<R> row[BAND + 2 * R];

    if (x >= cols)
        return;
#pragma unroll
    for (int k = 0; k < BAND + 2 * R; k++)
        load_row<R, FOURS>(row[k], in + clamp(first - R + k, rows) * cols, x, cols);
#pragma unroll
    for (int k = 0; k < BAND + 2 * R; k++) {
        int done = first + k - 2 * R;
        sum_four<R>(sum, row[k], filter);
#pragma unroll
        for (int i = 0; i < 4; i++)
            sum[i] = push<R>(pending[i], sum[i], filter);
        if (k >= 2 * R && done < rows)
            store_four<FOURS>(out + done * cols, x, cols, sum);
    }
}

template <int R, bool FOURS>
static void launch_columns(float *out, const float *in, int rows, int cols, const Filter &filter)
{
    dim3 grid(ceil_div(cols, 4 * BLOCK), ceil_div(rows, BAND));

    convolve_columns<R, FOURS><<<grid, BLOCK>>>(out, in, rows, cols, filter);
    CUDA_CHECK(cudaGetLastError());
}

// ---- Both passes through shared memory: a block slides down a strip of the image ----
//
// In each step it loads STEP rows, sums them across into the ring, and sums the ring down for STEP
// rows of the output. The ring holds the last four quarters of GROUP rows: two of this step, two of
// the step before.

enum { WARP = 32, STRIP = 96, STEP = 32, GROUP = 16, THREADS = 2 * STRIP, WARPS = THREADS / WARP };
enum { LOADS = (STEP + WARPS - 1) / WARPS };

// Lanes that access neighbouring rows by float4 have no bank conflicts, because a row's pitch is 4
// modulo 32.
struct Strip {
    float pixel[STEP][STRIP + 2 * REACH + 4];
    float ring[4][GROUP][STRIP + 4];
};

// A warp loads every sixth row from y on, with the apron of the strip that begins at `left`.
template <int R, bool FOURS>
static __device__ void load_rows(float4 (&share)[LOADS], const float *in, int y, int left, int rows,
                                 int cols)
{
    constexpr int APRON = (R + 3) / 4 * 4;
    int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;

#pragma unroll
    for (int k = 0; k < LOADS; k++)
        if (warp + k * WARPS < STEP && 4 * lane < STRIP + 2 * APRON)
            share[k] = load_four<FOURS>(in + clamp(y + warp + k * WARPS, rows) * (size_t) cols,
                                        left - APRON + 4 * lane, cols);
}

template <int R> static __device__ void store_rows(Strip &strip, const float4 (&share)[LOADS])
{
    constexpr int APRON = (R + 3) / 4 * 4;
    int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;

#pragma unroll
    for (int k = 0; k < LOADS; k++)
        if (warp + k * WARPS < STEP && 4 * lane < STRIP + 2 * APRON)
            *(float4 *) &strip.pixel[warp + k * WARPS][4 * lane] = share[k];
}

// Lanes take different rows, and a thread 16 neighbouring columns: 16 + 2R pixels in registers
// serve 16 (2R + 1) taps.
template <int R> static __device__ void sum_across(Strip &strip, int quarter, const Filter &filter)
{
    constexpr int APRON = (R + 3) / 4 * 4;
    int row = threadIdx.x % STEP, x = threadIdx.x / STEP * GROUP;
    float sum[GROUP] = {}, pixel[APRON + GROUP + APRON];

#pragma unroll
    for (int k = 0; k < APRON + GROUP + APRON; k += 4) {
        float4 four = *(const float4 *) &strip.pixel[row][x + k];
        pixel[k] = four.x, pixel[k + 1] = four.y, pixel[k + 2] = four.z, pixel[k + 3] = four.w;
    }
#pragma unroll
    for (int j = -R; j <= R; j++)
#pragma unroll
        for (int i = 0; i < GROUP; i++)
            sum[i] += filter.across[REACH + j] * pixel[APRON + i + j];
#pragma unroll
    for (int i = 0; i < GROUP; i += 4)
        *(float4 *) &strip.ring[quarter + row / GROUP][row % GROUP][x + i] =
            make_float4(sum[i], sum[i + 1], sum[i + 2], sum[i + 3]);
}

// A thread has 16 results of column x: those whose last row of sums is the last of the quarter.
template <int R>
static __device__ void sum_down(float (&sum)[GROUP], const Strip &strip, int quarter, int x,
                                const Filter &filter)
{
    constexpr int QUARTERS = 1 + (2 * R + GROUP - 1) / GROUP;
    constexpr int SKIPPED = (QUARTERS - 1) * GROUP - 2 * R;

#pragma unroll
    for (int i = 0; i < GROUP; i++)
        sum[i] = 0;
#pragma unroll
    for (int k = SKIPPED; k < QUARTERS * GROUP; k++) {
        float value = strip.ring[(quarter + 5 - QUARTERS + k / GROUP) % 4][k % GROUP][x];
#pragma unroll
        for (int i = 0; i < GROUP; i++) {
            int tap = k - SKIPPED - i;
            if (tap >= 0 && tap <= 2 * R)
                sum[i] += filter.down[REACH - R + tap] * value;
        }
    }
}

// Stores the results `begin` to end - 1 of a column's 16.
static __device__ void store_column(float *column, const float (&sum)[GROUP], int cols, int begin,
                                    int end)
{
    const bool all = begin <= 0 && end >= GROUP; // nearly always, and then without a test for each

#pragma unroll
    for (int i = 0; i < GROUP && all; i++, column += cols)
        *column = sum[i];
#pragma unroll
    for (int i = 0; i < GROUP && !all; i++, column += cols)
        if (i >= begin && i < end)
            *column = sum[i];
}

// The results above a band's first row use the half of the ring that no step has filled yet.
static __device__ void clear_half(Strip &strip)
{
    for (int row = 0; row < 2 * GROUP; row++)
        if (threadIdx.x < STRIP)
            strip.ring[2 + row / GROUP][row % GROUP][threadIdx.x] = 0;
}

// A block has the strip blockIdx.x, and of it `height` rows.
template <int R, bool FOURS>
__global__ void __launch_bounds__(THREADS, 4)
    convolve_strips(float *__restrict__ out, const float *__restrict__ in, int rows, int cols,
                    int height, Filter filter)
{
    __shared__ Strip strip;
    int left = blockIdx.x * STRIP, x = threadIdx.x % STRIP, half = threadIdx.x / STRIP;
    int first = blockIdx.y * height, last = min(first + height, rows), quarter = 0;
    float4 share[LOADS];

    load_rows<R, FOURS>(share, in, first - R, left, rows, cols);
    clear_half(strip);
    for (int y = first - R; y < last + R; y += STEP) {
        int to = y + half * GROUP - R, begin = first - to, end = left + x < cols ? last - to : 0;
        float *column = out + to * (ptrdiff_t) cols + left + x, sum[GROUP];

        store_rows<R>(strip, share);

        // Separates storing the pixels from summing them across; and the step before, which sums
        // the ring down, from storing sums over its older half.
        __syncthreads();

        if (y + STEP < last + R) // in flight until the next step
            load_rows<R, FOURS>(share, in, y + STEP, left, rows, cols);
        sum_across<R>(strip, quarter, filter);

        // Separates storing the sums across from summing them down; and the use of the pixels from
        // storing the next ones.
        __syncthreads();

        sum_down<R>(sum, strip, quarter + half, x, filter);
        store_column(column, sum, cols, begin, end);
        quarter = 2 - quarter;
    }
}

template <int R, bool FOURS>
static void launch_strips(float *out, const float *in, int rows, int cols, const Filter &filter)
{
    int strips = ceil_div(cols, STRIP);
    int height = height_of_band(convolve_strips<R, FOURS>, THREADS, strips, rows, R, STEP);

    convolve_strips<R, FOURS>
        <<<dim3(strips, ceil_div(rows, height)), THREADS>>>(out, in, rows, cols, height, filter);
    CUDA_CHECK(cudaGetLastError());
}

template <bool FOURS>
static void launch(float *out, const float *in, int rows, int cols, const Filter &filter)
{
    if (filter.radius <= 2)
        launch_columns<2, FOURS>(out, in, rows, cols, filter);
    else if (filter.radius <= 8)
        launch_strips<8, FOURS>(out, in, rows, cols, filter);
    else
        launch_strips<REACH, FOURS>(out, in, rows, cols, filter);
}

LAB_API void convolve(float *out, const float *in, int rows, int cols, Filter filter,
                      float *scratch)
{
    if (cols % 4 == 0)
        launch<true>(out, in, rows, cols, filter);
    else
        launch<false>(out, in, rows, cols, filter);
}
