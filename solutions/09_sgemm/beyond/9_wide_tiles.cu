// rung: beyond, expect: pass - tiles of 128 x 256 where they fit: 8 x 16 results a thread
// 24 floats for 128 FMAs in place of 16 for 64; of such a block one fits on a SM, so it must hide
// its own barriers, by deeper tiles and more of them on their way. Which tile is better depends on
// how it fills the last wave, too.
#include "cudalab.cuh"
#include "kernel.h"

#include <cuda_pipeline.h>

// A warp makes WARP_M x 8 * SIDE_N results, 2 warps side by side a block's tile.
enum { TILE_M = 128, THREADS = 256, WARP = 32, WARP_M = 32, SIDE_M = 8, QUAD = 4 };
enum { A_COLS = 8, A_ROWS = THREADS / A_COLS, A_EACH = TILE_M / A_ROWS, PITCH = TILE_M + QUAD };
enum { SMALL_N = 128, SMALL_K = 16, SMALL_STAGES = 2 };
enum { LARGE_N = 256, LARGE_K = 32, LARGE_STAGES = 3, UNROLL = 16 };

// One pair of tiles: A lies turned, 4 floats more a row against conflicts in filling it.
template <int TILE_N, int TILE_K> struct Tiles {
    float a[TILE_K][PITCH], b[TILE_K][TILE_N];
};

// What a thread copies next. Of B it takes `width` floats at a time, 4 or 1.
typedef struct Share {
    const float *a[A_EACH], *b;
    int a_row, a_col, b_row, b_col, b_down, n, width;
} Share;

// Rows and columns past the edge are copies of the last ones: their results are never written.
template <int TILE_N>
static __device__ __forceinline__ void open_share(Share *my, const float *a, const float *b,
                                                  int first_row, int first_col, int m, int k)
{
    int across = TILE_N / my->width;

    my->a_row = threadIdx.x / A_COLS;
    my->a_col = threadIdx.x % A_COLS;
    for (int i = 0; i < A_EACH; i++) {
        int row = min(first_row + my->a_row + i * A_ROWS, m - 1);
        my->a[i] = a + (size_t) row * k + my->a_col;
    }
    my->b_row = threadIdx.x / across;
    my->b_col = threadIdx.x % across * my->width;
    my->b_down = THREADS / across;
    my->b = b + (size_t) my->b_row * my->n + min(first_col + my->b_col, my->n - my->width);
}

// Starts to copy what is left of k after whole tiles, and zeros behind it.
template <int TILE_N, int TILE_K>
static __device__ __forceinline__ void copy_rest(Tiles<TILE_N, TILE_K> *to, Share *my, int rest)
{
    for (int j = 0; j < TILE_K; j += A_COLS)
        for (int i = 0; i < A_EACH; i++)
            if (my->a_col + j < rest)
                __pipeline_memcpy_async(&to->a[my->a_col + j][my->a_row + i * A_ROWS], my->a[i] + j,
                                        sizeof(float));
            else
                to->a[my->a_col + j][my->a_row + i * A_ROWS] = 0;
    for (int i = 0; i < TILE_K; i += my->b_down)
        if (my->b_row + i < rest)
            __pipeline_memcpy_async(&to->b[my->b_row + i][my->b_col], my->b + (size_t) i * my->n,
                                    my->width * sizeof(float));
        else
            for (int j = 0; j < my->width; j++)
                to->b[my->b_row + i][my->b_col + j] = 0;
    for (int i = 0; i < A_EACH; i++)
        my->a[i] += rest;
    my->b += (size_t) rest * my->n;
    __pipeline_commit();
}

// Starts to copy a whole pair of tiles.
template <int TILE_N, int TILE_K>
static __device__ __forceinline__ void copy_tiles(Tiles<TILE_N, TILE_K> *to, Share *my)
{
#pragma unroll
    for (int i = 0; i < A_EACH; i++)
#pragma unroll
        for (int j = 0; j < TILE_K; j += A_COLS)
            __pipeline_memcpy_async(&to->a[my->a_col + j][my->a_row + i * A_ROWS], my->a[i] + j,
                                    sizeof(float));
#pragma unroll
    for (int i = 0; i < TILE_K; i += my->b_down)
        __pipeline_memcpy_async(&to->b[my->b_row + i][my->b_col], my->b + (size_t) i * my->n,
                                my->width * sizeof(float));
#pragma unroll
    for (int i = 0; i < A_EACH; i++)
        my->a[i] += TILE_K;
    my->b += (size_t) TILE_K * my->n;
    __pipeline_commit();
}

static __device__ __forceinline__ void load_quad(float *to, const float *from)
{
    float4 quad = *(const float4 *) from;

    to[0] = quad.x;
    to[1] = quad.y;
    to[2] = quad.z;
    to[3] = quad.w;
}

// Adds to a thread's results what a pair of tiles brings.
template <int TILE_N, int TILE_K, int SIDE_N>
static __device__ __forceinline__ void
multiply(float sum[SIDE_M][SIDE_N], const Tiles<TILE_N, TILE_K> *tiles, int row, int col)
{
#pragma unroll UNROLL
    for (int k = 0; k < TILE_K; k++) {
        float left[SIDE_M], right[SIDE_N];
#pragma unroll
        for (int i = 0; i < SIDE_M; i += QUAD)
            load_quad(&left[i], &tiles->a[k][row + i / QUAD * (WARP_M / 2)]);
#pragma unroll
        for (int j = 0; j < SIDE_N; j += QUAD)
            load_quad(&right[j], &tiles->b[k][col + j / QUAD * WARP]);
#pragma unroll
        for (int i = 0; i < SIDE_M; i++)
#pragma unroll
            for (int step = 0; step < SIDE_N; step++) {
                int j = i % 2 ? SIDE_N - 1 - step : step;
                sum[i][j] += left[i] * right[j];
            }
    }
}

template <int TILE_N, int TILE_K, int STAGES>
static __device__ __forceinline__ void product(float *d, const float *a, const float *b,
                                               const float *c, int m, int n, int k, float alpha,
                                               float beta, int width)
{
    enum { SIDE_N = TILE_N / 16, WARP_N = TILE_N / 2 };
    extern __shared__ __align__(16) float shared[];
    Tiles<TILE_N, TILE_K> *tiles = (Tiles<TILE_N, TILE_K> *) shared;

    int tiles_across = ceil_div(n, TILE_N), steps = ceil_div(k, TILE_K);
    int first_row = blockIdx.x / tiles_across * TILE_M;
    int first_col = blockIdx.x % tiles_across * TILE_N;
    int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    int row = warp / 2 * WARP_M + (lane / 16 * 2 + lane % 2) * QUAD;
    int col = warp % 2 * WARP_N + lane / 2 % 8 * QUAD;

    float sum[SIDE_M][SIDE_N] = {};
    Share my;

    // The first pair of tiles is what k leaves over, so that all others are whole.
    my.n = n;
    my.width = width;
    open_share<TILE_N>(&my, a, b, first_row, first_col, m, k);
    copy_rest(&tiles[0], &my, k - (steps - 1) * TILE_K);
    for (int s = 1; s < STAGES - 1; s++)
        if (s < steps)
            copy_tiles(&tiles[s], &my);
        else
            __pipeline_commit();

    int now = 0, next = STAGES - 1;
#pragma unroll 1
    for (int step = 0; step < steps; step++) {
        // Between the copying of a pair by all threads and its use; and between the use of the pair
        // before it and the copying of another one to the same place.
        __pipeline_wait_prior(STAGES - 2);
        __syncthreads();

        if (step + STAGES - 1 < steps)
            copy_tiles(&tiles[next], &my);
        else
            __pipeline_commit(); // of nothing: what is waited for is counted
        multiply<TILE_N, TILE_K, SIDE_N>(sum, &tiles[now], row, col);
        now = now + 1 < STAGES ? now + 1 : 0;
        next = next + 1 < STAGES ? next + 1 : 0;
    }

#pragma unroll
    for (int i = 0; i < SIDE_M; i++)
#pragma unroll
        for (int j = 0; j < SIDE_N; j++) {
            int to_row = first_row + row + i / QUAD * (WARP_M / 2) + i % QUAD;
            int to_col = first_col + col + j / QUAD * WARP + j % QUAD;
            size_t at = (size_t) to_row * n + to_col;
            if (to_row < m && to_col < n)
                d[at] = beta == 0 ? alpha * sum[i][j] : alpha * sum[i][j] + beta * c[at];
        }
}

// WIDTH 4 needs rows of B that start at 16 bytes: n a multiple of 4.
template <int WIDTH>
__global__ void __launch_bounds__(THREADS, 2)
    small_kernel(float *d, const float *a, const float *b, const float *c, int m, int n, int k,
                 float alpha, float beta)
{
    product<SMALL_N, SMALL_K, SMALL_STAGES>(d, a, b, c, m, n, k, alpha, beta, WIDTH);
}

template <int WIDTH>
__global__ void __launch_bounds__(THREADS, 1)
    large_kernel(float *d, const float *a, const float *b, const float *c, int m, int n, int k,
                 float alpha, float beta)
{
    product<LARGE_N, LARGE_K, LARGE_STAGES>(d, a, b, c, m, n, k, alpha, beta, WIDTH);
}

LAB_API void sgemm(float *d, const float *a, const float *b, const float *c, int m, int n, int k,
                   float alpha, float beta)
{
    int small_bytes = SMALL_STAGES * sizeof(Tiles<SMALL_N, SMALL_K>), device, sms, most_bytes;
    int large_bytes = LARGE_STAGES * sizeof(Tiles<LARGE_N, LARGE_K>);
    int small_blocks = ceil_div(m, TILE_M) * ceil_div(n, SMALL_N);
    int large_blocks = ceil_div(m, TILE_M) * ceil_div(n, LARGE_N);
    void (*small)(float *, const float *, const float *, const float *, int, int, int, float,
                  float) = n % QUAD ? small_kernel<1> : small_kernel<QUAD>;
    void (*large)(float *, const float *, const float *, const float *, int, int, int, float,
                  float) = n % QUAD ? large_kernel<1> : large_kernel<QUAD>;

    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device));
    CUDA_CHECK(
        cudaDeviceGetAttribute(&most_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));

    // Two small tiles a SM at once, or one large: the same work. Which takes fewer waves?
    if (large_bytes <= most_bytes &&
        ceil_div(large_blocks, sms) <= ceil_div(small_blocks, 2 * sms)) {
        CUDA_CHECK(
            cudaFuncSetAttribute(large, cudaFuncAttributeMaxDynamicSharedMemorySize, large_bytes));
        large<<<large_blocks, THREADS, large_bytes>>>(d, a, b, c, m, n, k, alpha, beta);
    } else
        small<<<small_blocks, THREADS, small_bytes>>>(d, a, b, c, m, n, k, alpha, beta);
    CUDA_CHECK(cudaGetLastError());
}
