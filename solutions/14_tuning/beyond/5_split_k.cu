// rung: beyond, expect: pass - split k: several blocks share a tile where tiles are few
// A tenth variant, which the table lacks. Each block adds up a part of k and adds its sums to d by
// atomics, so the last bits differ from run to run.
#include "kernel.h"

// A part has at least so many steps, since clearing d and adding to it cost time, too.
enum { PART_LEAST = 8, PARTS_MOST = 64, CLEAR_THREADS = 256 };

__global__ void clear_kernel(float *d, int count)
{
    int i = blockIdx.x * CLEAR_THREADS + threadIdx.x;

    if (i < count)
        d[i] = 0;
}

// As tile_kernel(), for the steps of part blockIdx.y.
template <int ROWS, int COLS, int SIDE>
__global__ void __launch_bounds__(TILE_THREADS, blocks_of(SIDE))
    part_kernel(float *d, const float *a, const float *b, int m, int n, int k, int depth)
{
    constexpr int N = SIDE < 4 ? SIDE : 4, RUNS = SIDE / N, ACROSS = COLS / SIDE;
    __shared__ __align__(16) float as[TILE_STEP][ROWS + TILE_PAD], bs[TILE_STEP][COLS];
    int tiles_across = ceil_div(n, COLS);
    int first_row = blockIdx.x / tiles_across * ROWS;
    int first_col = blockIdx.x % tiles_across * COLS;
    int row = threadIdx.x / ACROSS * N, col = threadIdx.x % ACROSS * N;
    int begin = blockIdx.y * depth, end = min(k, begin + depth);
    float sum[SIDE][SIDE] = {};

#pragma unroll 1
    for (int first = begin; first < end; first += TILE_STEP) {
        copy_a<ROWS>(as, a, first_row, first, m, k);
        copy_b<COLS>(bs, b, first, first_col, k, n);

        // Separates filling the tiles from using them.
        __syncthreads();

#pragma unroll
        for (int l = 0; l < TILE_STEP; l++) {
            float left[SIDE], right[SIDE];
            load_side<SIDE, ROWS / RUNS>(left, &as[l][row]);
            load_side<SIDE, COLS / RUNS>(right, &bs[l][col]);
#pragma unroll
            for (int i = 0; i < SIDE; i++)
#pragma unroll
                for (int j = 0; j < SIDE; j++)
                    sum[i][j] += left[i] * right[j];
        }

        // Separates using the tiles from filling them again.
        __syncthreads();
    }

#pragma unroll
    for (int i = 0; i < SIDE; i++)
#pragma unroll
        for (int j = 0; j < SIDE; j++) {
            int to_row = first_row + row + i / N * (ROWS / RUNS) + i % N;
            int to_col = first_col + col + j / N * (COLS / RUNS) + j % N;
            if (to_row < m && to_col < n)
                atomicAdd(&d[to_row * n + to_col], sum[i][j]);
        }
}

static double clocks(int side)
{
    const double fmas = side * side, floats = 2 * side;

    return fmas / 4 + floats / 2;
}

static double cost(Tile tile, int m, int n, int sms)
{
    int blocks = ceil_div(m, tile.rows) * ceil_div(n, tile.cols);

    return ceil_div(blocks, sms) * clocks(tile.side);
}

static int count_sms()
{
    int device, sms;

    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device));
    return sms;
}

static int choose(int m, int n, int sms)
{
    int best = 0;

    for (int i = 1; i < TILES; i++)
        if (cost(tiles[i], m, n, sms) < cost(tiles[best], m, n, sms))
            best = i;
    return best;
}

// The parts of k with which tiles of 128 x 128 give each SM one or two blocks; 1 if there are
// enough tiles, if they would waste much of their work, or if k is too short.
static int choose_parts(int m, int n, int k, int sms)
{
    int tiles_down = ceil_div(m, 128), tiles_across = ceil_div(n, 128);
    int parts = 2 * sms / (tiles_down * tiles_across), steps = ceil_div(k, TILE_STEP);
    bool wasteful = (double) tiles_down * tiles_across * 128 * 128 > 1.25 * m * n;

    parts = parts < PARTS_MOST ? parts : PARTS_MOST;
    parts = parts < steps / PART_LEAST ? parts : steps / PART_LEAST;
    return parts < 2 || wasteful ? 1 : parts;
}

LAB_API void tuning(float *d, const float *a, const float *b, int m, int n, int k)
{
    int sms = count_sms(), parts = choose_parts(m, n, k, sms);

    if (parts == 1) {
        launch_tile(choose(m, n, sms), d, a, b, m, n, k);
        return;
    }
    int depth = ceil_div(ceil_div(k, TILE_STEP), parts) * TILE_STEP;
    dim3 grid(ceil_div(m, 128) * ceil_div(n, 128), ceil_div(k, depth));
    clear_kernel<<<ceil_div(m * n, CLEAR_THREADS), CLEAR_THREADS>>>(d, m * n);
    part_kernel<128, 128, 8><<<grid, TILE_THREADS>>>(d, a, b, m, n, k, depth);
    CUDA_CHECK(cudaGetLastError());
}
