// dense.cuh - dense algebra: both products of BiCG, QR of small matrices, all shortest paths,
// triangular systems.
#ifndef BLIND_DENSE_CUH
#define BLIND_DENSE_CUH

#include "blind.cuh"

// Whole numbers from -range to range: sums are exact in any order.
inline std::vector<float> exact_floats(size_t count, int range, uint32_t seed)
{
    const std::vector<int> whole = integers(count, 2 * range + 1, seed);
    std::vector<float> v(whole.begin(), whole.end());
    for (float &x : v)
        x -= range;
    return v;
}

// ---- q = A p and s = A^T r: two kernels, or one that reads A once ----

enum { BICG_COLS = 2048, BICG_ROWS = 1500, BICG_BAND = 30 };

__global__ void bicg_q_kernel(const float *a, const float *p, float *q)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    float sum = 0;
    if (row >= BICG_ROWS)
        return;
    for (int c = lane; c < BICG_COLS; c += 32)
        sum += a[row * BICG_COLS + c] * p[c];
    for (int step = 16; step; step /= 2)
        sum += __shfl_down_sync(~0u, sum, step);
    if (lane == 0)
        q[row] = sum;
}

__global__ void bicg_s_kernel(const float *a, const float *r, float *s)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int row = 0; row < BICG_ROWS; row++)
        sum += a[row * BICG_COLS + col] * r[row];
    s[col] = sum;
}

__global__ void bicg_fused_kernel(const float *a, const float *p, const float *r, float *q,
                                  float *s)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x, first = blockIdx.y * BICG_BAND;
    float down = 0, mine = p[col];
    for (int row = first; row < first + BICG_BAND; row++) {
        float v = a[row * BICG_COLS + col], across = v * mine;
        down += v * r[row];
        for (int step = 16; step; step /= 2)
            across += __shfl_down_sync(~0u, across, step);
        if (threadIdx.x % 32 == 0)
            atomicAdd(&q[row], across);
    }
    atomicAdd(&s[col], down);
}

static void bicg(Run &run, bool fused)
{
    const std::vector<float> a = exact_floats((size_t) BICG_ROWS * BICG_COLS, 9, 521),
                             p = exact_floats(BICG_COLS, 9, 522),
                             r = exact_floats(BICG_ROWS, 9, 523);
    float *da = run.upload(a), *dp = run.upload(p), *dr = run.upload(r),
          *q = run.zeros<float>(BICG_ROWS + BICG_COLS), *s = q + BICG_ROWS;
    run.measure(
        [=] {
            if (fused) {
                dim3 grid(BICG_COLS / 256, BICG_ROWS / BICG_BAND);
                bicg_fused_kernel<<<grid, 256>>>(da, dp, dr, q, s);
                return;
            }
            bicg_q_kernel<<<blocks_for(BICG_ROWS * 32, 256), 256>>>(da, dp, q);
            bicg_s_kernel<<<BICG_COLS / 128, 128>>>(da, dr, s);
        },
        [=] { CHECK(cudaMemset(q, 0, (BICG_ROWS + BICG_COLS) * sizeof(float))); });
    const std::vector<float> got = run.output(q, BICG_ROWS + BICG_COLS);
    for (int i = 0; i < BICG_ROWS + BICG_COLS; i += 17) {
        double sum = 0;
        for (int k = 0; k < (i < BICG_ROWS ? BICG_COLS : BICG_ROWS); k++)
            sum += i < BICG_ROWS ? a[i * BICG_COLS + k] * p[k]
                                 : a[k * BICG_COLS + i - BICG_ROWS] * r[k];
        run.expect(got[i], sum, 0);
    }
}

static void bicg_apart(Run &run)
{
    bicg(run, false);
}

static void bicg_fused(Run &run)
{
    bicg(run, true);
}

// ---- R of QR by Householder, 8 x 8: a thread per matrix, or eight lanes with a column each ----

__global__ void qr8_thread_kernel(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float a[8][8];
    if (i >= n)
        return;
#pragma unroll
    for (int e = 0; e < 64; e++)
        a[e / 8][e % 8] = in[i * 64 + e];
#pragma unroll
    for (int k = 0; k < 8; k++) {
        float norm = 0, scale;
#pragma unroll
        for (int r = k; r < 8; r++)
            norm += a[r][k] * a[r][k];
        norm = copysignf(sqrtf(norm), -a[k][k]);
        scale = 1 / (norm * (a[k][k] - norm));
        a[k][k] -= norm;
#pragma unroll
        for (int c = k + 1; c < 8; c++) {
            float dot = 0;
#pragma unroll
            for (int r = k; r < 8; r++)
                dot += a[r][k] * a[r][c];
#pragma unroll
            for (int r = k; r < 8; r++)
                a[r][c] += dot * scale * a[r][k];
        }
        a[k][k] = norm;
    }
#pragma unroll
    for (int e = 0; e < 64; e++)
        out[i * 64 + e] = e / 8 <= e % 8 ? a[e / 8][e % 8] : 0;
}

__global__ void qr8_lanes_kernel(const float *in, float *out)
{
    const int c = threadIdx.x % 8, i = (blockIdx.x * blockDim.x + threadIdx.x) / 8;
    float a[8];
#pragma unroll
    for (int r = 0; r < 8; r++)
        a[r] = in[i * 64 + r * 8 + c];
#pragma unroll
    for (int k = 0; k < 8; k++) {
        float v[8], squares = 0, dot = 0;
#pragma unroll
        for (int r = k; r < 8; r++) {
            v[r] = __shfl_sync(~0u, a[r], k, 8);
            squares += v[r] * v[r];
        }
        const float norm = copysignf(sqrtf(squares), -v[k]);
        v[k] -= norm;
#pragma unroll
        for (int r = k; r < 8; r++)
            dot += v[r] * a[r];
        dot /= norm * v[k];
#pragma unroll
        for (int r = k; r < 8; r++)
            a[r] = c < k ? a[r] : c == k ? (r == k ? norm : 0) : a[r] + dot * v[r];
    }
#pragma unroll
    for (int r = 0; r < 8; r++)
        out[i * 64 + r * 8 + c] = a[r];
}

// R is right if its columns have the products of A's columns.
template <class Launch> static void qr8(Run &run, Launch launch)
{
    const int n = 36000;
    const std::vector<float> in = floats((size_t) n * 64, 524);
    float *from = run.upload(in), *to = run.zeros<float>(in.size());
    run.measure([=] { launch(from, to, n); });
    const std::vector<float> got = run.output(to, in.size());
    for (int i = 0; i < n; i += 101)
        for (int x = 0; x < 8; x++)
            for (int y = 0; y <= x; y++) {
                const float *a = &in[(size_t) i * 64], *r = &got[(size_t) i * 64];
                double wanted = 0, sum = 0;
                for (int k = 0; k < 8; k++) {
                    wanted += (double) a[k * 8 + x] * a[k * 8 + y];
                    sum += (double) r[k * 8 + x] * r[k * 8 + y];
                }
                run.expect(sum, wanted, 1e-4);
            }
}

static void qr8_thread(Run &run)
{
    qr8(run, [](float *in, float *out, int n) {
        qr8_thread_kernel<<<blocks_for(n, 64), 64>>>(in, out, n);
    });
}

static void qr8_lanes(Run &run)
{
    qr8(run, [](float *in, float *out, int n) { qr8_lanes_kernel<<<n / 16, 128>>>(in, out); });
}

// ---- All shortest paths of 160 nodes: a launch per node, or tiles of 32 x 32 in three phases ----

enum { NODES = 160, NODE_TILE = 32, NODE_TILES = NODES / NODE_TILE };

__global__ void floyd_step_kernel(int *way, int k)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int by_k = way[y * NODES + k] + way[k * NODES + x];
    if (by_k < way[y * NODES + x])
        way[y * NODES + x] = by_k;
}

__device__ inline int &in_tile(int *way, int row, int col)
{
    return way[(row * NODE_TILE + threadIdx.y) * NODES + col * NODE_TILE + threadIdx.x];
}

// Phase 1: the tile of the round itself. Step k changes neither row k nor column k.
__global__ void floyd_centre_kernel(int *way, int round)
{
    __shared__ int v[NODE_TILE][NODE_TILE];
    const int x = threadIdx.x, y = threadIdx.y;
    v[y][x] = in_tile(way, round, round);
    for (int k = 0; k < NODE_TILE; k++) {
        __syncthreads(); // the previous step is complete
        int by_k = v[y][k] + v[k][x];
        if (by_k < v[y][x])
            v[y][x] = by_k;
    }
    in_tile(way, round, round) = v[y][x];
}

// Phase 2: the tiles in its row (blockIdx.y 0) and in its column.
__global__ void floyd_cross_kernel(int *way, int round)
{
    __shared__ int centre[NODE_TILE][NODE_TILE], v[NODE_TILE][NODE_TILE];
    const int x = threadIdx.x, y = threadIdx.y, other = blockIdx.x;
    const int row = blockIdx.y ? other : round, col = blockIdx.y ? round : other;
    if (other == round)
        return;
    centre[y][x] = in_tile(way, round, round);
    v[y][x] = in_tile(way, row, col);
    for (int k = 0; k < NODE_TILE; k++) {
        __syncthreads(); // the previous step is complete
        int by_k = blockIdx.y ? v[y][k] + centre[k][x] : centre[y][k] + v[k][x];
        if (by_k < v[y][x])
            v[y][x] = by_k;
    }
    in_tile(way, row, col) = v[y][x];
}

// Phase 3: all other tiles.
__global__ void floyd_rest_kernel(int *way, int round)
{
    __shared__ int left[NODE_TILE][NODE_TILE], above[NODE_TILE][NODE_TILE];
    const int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y, col = blockIdx.x;
    if (row == round || col == round)
        return;
    left[y][x] = in_tile(way, row, round);
    above[y][x] = in_tile(way, round, col);
    __syncthreads(); // both tiles are complete
    int best = in_tile(way, row, col);
    for (int k = 0; k < NODE_TILE; k++)
        best = min(best, left[y][k] + above[k][x]);
    in_tile(way, row, col) = best;
}

static void floyd_on_host(std::vector<int> &way)
{
    for (int k = 0; k < NODES; k++)
        for (int y = 0; y < NODES; y++)
            for (int x = 0; x < NODES; x++)
                way[y * NODES + x] =
                    std::min(way[y * NODES + x], way[y * NODES + k] + way[k * NODES + x]);
}

template <class Launch> static void floyd(Run &run, Launch launch)
{
    std::vector<int> way(NODES * NODES);
    for (int i = 0; i < NODES * NODES; i++)
        way[i] = i / NODES == i % NODES ? 0 : mix(i) % 20 ? 1000000 : 1 + (int) (mix(i + 525) % 99);
    int *from = run.upload(way), *to = run.zeros<int>(way.size());
    run.measure(
        [=] { launch(to); },
        [=] { CHECK(cudaMemcpy(to, from, sizeof(int[NODES * NODES]), cudaMemcpyDeviceToDevice)); });
    floyd_on_host(way);
    run.expect_all(
        run.output(to, way.size()), [&](size_t i) { return way[i]; }, 0);
}

static void floyd_steps(Run &run)
{
    floyd(run, [](int *way) {
        for (int k = 0; k < NODES; k++)
            floyd_step_kernel<<<dim3(NODES / 16, NODES / 16), dim3(16, 16)>>>(way, k);
    });
}

static void floyd_tiles(Run &run)
{
    floyd(run, [](int *way) {
        const dim3 block(NODE_TILE, NODE_TILE);
        for (int round = 0; round < NODE_TILES; round++) {
            floyd_centre_kernel<<<1, block>>>(way, round);
            floyd_cross_kernel<<<dim3(NODE_TILES, 2), block>>>(way, round);
            floyd_rest_kernel<<<dim3(NODE_TILES, NODE_TILES), block>>>(way, round);
        }
    });
}

// ---- Lower triangular systems of 256, a block each: a sum per row, or an update per column ----

enum { SOLVED = 256 };

__global__ void __launch_bounds__(128)
    solve_rows_kernel(const float *matrix, const float *right, float *out)
{
    __shared__ float x[SOLVED], part[4];
    const float *lower = matrix + (size_t) blockIdx.x * SOLVED * SOLVED;
    for (int row = 0; row < SOLVED; row++) {
        float sum = 0;
        for (int c = threadIdx.x; c < row; c += 128)
            sum += lower[row * SOLVED + c] * x[c];
        for (int step = 16; step; step /= 2)
            sum += __shfl_xor_sync(~0u, sum, step);
        if (threadIdx.x % 32 == 0)
            part[threadIdx.x / 32] = sum;
        __syncthreads(); // the warps' sums are complete
        if (threadIdx.x == 0)
            x[row] = (right[blockIdx.x * SOLVED + row] - part[0] - part[1] - part[2] - part[3]) /
                     lower[row * SOLVED + row];
        __syncthreads(); // the unknown is known
    }
    for (int k = threadIdx.x; k < SOLVED; k += 128)
        out[blockIdx.x * SOLVED + k] = x[k];
}

__global__ void __launch_bounds__(SOLVED)
    solve_columns_kernel(const float *matrix, const float *right, float *out)
{
    __shared__ float x[2];
    const int row = threadIdx.x;
    const float *mine = matrix + ((size_t) blockIdx.x * SOLVED + row) * SOLVED;
    float rest = right[blockIdx.x * SOLVED + row];
    for (int c = 0; c < SOLVED; c++) {
        if (row == c)
            x[c % 2] = rest /= mine[c];
        __syncthreads(); // the unknown is known
        if (row > c)
            rest -= mine[c] * x[c % 2];
    }
    out[blockIdx.x * SOLVED + row] = rest;
}

template <class Launch> static void solve(Run &run, Launch launch)
{
    const int systems = 90, size = SOLVED * SOLVED;
    std::vector<float> matrix = floats((size_t) systems * size, 526, -0.02f, 0.02f);
    const std::vector<float> right = floats(systems * SOLVED, 527);
    for (int i = 0; i < systems * SOLVED; i++)
        matrix[(size_t) i * SOLVED + i % SOLVED] += 1.5f;
    float *dm = run.upload(matrix), *dr = run.upload(right), *to = run.zeros<float>(right.size());
    run.measure([=] { launch(dm, dr, to, systems); });
    const std::vector<float> got = run.output(to, right.size());
    for (int i = 0; i < systems * SOLVED; i += 7) {
        double sum = 0;
        for (int c = 0; c <= i % SOLVED; c++)
            sum += (double) matrix[(size_t) i * SOLVED + c] * got[i / SOLVED * SOLVED + c];
        run.expect(sum, right[i], 1e-4);
    }
}

static void solve_rows(Run &run)
{
    solve(run, [](float *matrix, float *right, float *out, int systems) {
        solve_rows_kernel<<<systems, 128>>>(matrix, right, out);
    });
}

static void solve_columns(Run &run)
{
    solve(run, [](float *matrix, float *right, float *out, int systems) {
        solve_columns_kernel<<<systems, SOLVED>>>(matrix, right, out);
    });
}

#endif
