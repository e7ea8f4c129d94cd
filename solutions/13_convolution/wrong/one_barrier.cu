// expect: unsafe - one barrier per step: the sums across may not be stored yet
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

// The height of a band of rows. As many blocks as the GPU runs at the same time share the image:
// each begins 2R rows early, so bands should be tall. They take whole steps of `step` rows.
template <typename Kernel>
static int height_of_band(Kernel *kernel, int threads, int strips, int rows, int radius, int step)
{
    int device, sms, per_sm, bands;

    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device));
    CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, kernel, threads, 0));
    bands = max(sms * per_sm / strips, 1);
    return ceil_div(max(ceil_div(rows, bands), step) + 2 * radius, step) * step - 2 * radius;
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
            share[k] = load_four<FOURS>(in + clamp(y + warp + k * WARPS, rows) * cols,
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

template <int R>
static void launch(float *out, const float *in, int rows, int cols, const Filter &filter)
{
    if (cols % 4 == 0)
        launch_strips<R, true>(out, in, rows, cols, filter);
    else
        launch_strips<R, false>(out, in, rows, cols, filter);
}

LAB_API void convolve(float *out, const float *in, int rows, int cols, Filter filter,
                      float *scratch)
{
    if (filter.radius <= 2)
        launch<2>(out, in, rows, cols, filter);
    else if (filter.radius <= 8)
        launch<8>(out, in, rows, cols, filter);
    else
        launch<REACH>(out, in, rows, cols, filter);
}
