// irregular.cuh - kernels that read where data says: gathers, pointer chases, sparse matrices,
// searches, graphs.
#ifndef BLIND_IRREGULAR_CUH
#define BLIND_IRREGULAR_CUH

#include "blind.cuh"

#include <cstring>

// ---- Gathers and scatters at random indices ----

__global__ void gather_kernel(const float *table, const int *index, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = table[index[i]];
}

__global__ void scatter_kernel(const float *in, const int *index, float *table, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        table[index[i]] = in[i];
}

static void gather(Run &run, size_t bytes)
{
    const int n = 1 << 20, size = (int) (bytes / 4);
    const std::vector<float> table = floats(size, 31);
    const std::vector<int> index = integers(n, size, 32);
    float *t = run.upload(table), *out = run.zeros<float>(n);
    int *at = run.upload(index);
    run.measure([=] { gather_kernel<<<blocks_for(n, 256), 256>>>(t, at, out, n); });
    run.expect_all(
        run.output(out, n), [&](size_t i) { return table[index[i]]; }, 0);
}

static void gather_64mb(Run &run)
{
    gather(run, 64 << 20);
}

static void gather_8mb(Run &run)
{
    gather(run, 8 << 20);
}

static void gather_32kb(Run &run)
{
    gather(run, 32 << 10);
}

// A permutation: i * odd, modulo a power of two.
static void scatter_16mb(Run &run)
{
    const int n = 1 << 20, size = 4 << 20;
    const std::vector<float> in = floats(n, 33);
    std::vector<int> index(n);
    for (int i = 0; i < n; i++)
        index[i] = (int) ((uint32_t) i * 2654435769u % size);
    float *from = run.upload(in), *table = run.zeros<float>(size);
    int *at = run.upload(index);
    run.measure([=] { scatter_kernel<<<blocks_for(n, 256), 256>>>(from, at, table, n); });
    const std::vector<float> got = run.output(table, size);
    for (int i = 0; i < n; i++)
        run.expect(got[index[i]], in[i], 0);
}

// ---- Pointer chases: one thread per block follows a random cycle ----

__global__ void chase_kernel(const unsigned *next, unsigned *out, int steps)
{
    unsigned at = blockIdx.x * 977;
    for (int i = 0; i < steps; i++)
        at = next[at];
    out[blockIdx.x] = at;
}

static void chase(Run &run, int size, int steps)
{
    const int blocks = 32;
    std::vector<unsigned> order(size), next(size);
    for (int i = 0; i < size; i++)
        order[i] = i;
    for (int i = size - 1; i > 0; i--)
        std::swap(order[i], order[mix(i) % (i + 1)]);
    for (int i = 0; i < size; i++)
        next[order[i]] = order[(i + 1) % size];
    unsigned *links = run.upload(next), *out = run.zeros<unsigned>(blocks);
    run.measure([=] { chase_kernel<<<blocks, 1>>>(links, out, steps); });
    run.expect_all(
        run.output(out, blocks),
        [&](size_t b) {
            unsigned at = (unsigned) b * 977;
            for (int i = 0; i < steps; i++)
                at = next[at];
            return at;
        },
        0);
}

static void chase_32mb(Run &run)
{
    chase(run, 8 << 20, 400);
}

static void chase_128kb(Run &run)
{
    chase(run, 32 << 10, 2000);
}

// ---- A sparse matrix (CSR) times a vector; rows of 4 to 60 entries ----

__global__ void spmv_scalar_kernel(const int *begin, const int *column, const float *value,
                                   const float *x, float *y, int rows)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    float sum = 0;
    for (int k = begin[row]; k < begin[row + 1]; k++)
        sum += value[k] * x[column[k]];
    y[row] = sum;
}

__global__ void spmv_vector_kernel(const int *begin, const int *column, const float *value,
                                   const float *x, float *y, int rows)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows)
        return;
    float sum = 0;
    for (int k = begin[row] + lane; k < begin[row + 1]; k += 32)
        sum += value[k] * x[column[k]];
    for (int d = 16; d > 0; d >>= 1)
        sum += __shfl_xor_sync(0xffffffff, sum, d);
    if (lane == 0)
        y[row] = sum;
}

template <class Launch> static void spmv(Run &run, Launch launch)
{
    const int rows = 65536;
    const std::vector<int> extra = integers(rows, 57, 34);
    std::vector<int> begin(rows + 1);
    for (int r = 0; r < rows; r++)
        begin[r + 1] = begin[r] + 4 + extra[r];
    const std::vector<int> column = integers(begin[rows], rows, 35);
    const std::vector<float> value = floats(begin[rows], 36), x = floats(rows, 37);
    int *db = run.upload(begin), *dc = run.upload(column);
    float *dv = run.upload(value), *dx = run.upload(x), *dy = run.zeros<float>(rows);
    run.measure([=] { launch(db, dc, dv, dx, dy, rows); });
    run.expect_all(
        run.output(dy, rows),
        [&](size_t r) {
            double sum = 0;
            for (int k = begin[r]; k < begin[r + 1]; k++)
                sum += (double) value[k] * x[column[k]];
            return sum;
        },
        1e-5);
}

static void spmv_scalar(Run &run)
{
    spmv(run, [](int *b, int *c, float *v, float *x, float *y, int rows) {
        spmv_scalar_kernel<<<blocks_for(rows, 128), 128>>>(b, c, v, x, y, rows);
    });
}

static void spmv_vector(Run &run)
{
    spmv(run, [](int *b, int *c, float *v, float *x, float *y, int rows) {
        spmv_vector_kernel<<<blocks_for((size_t) rows * 32, 256), 256>>>(b, c, v, x, y, rows);
    });
}

// ---- Searches ----

__global__ void lower_bound_kernel(const int *sorted, int size, const int *keys, int *place, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int key = keys[i], low = 0, high = size;
    while (low < high) {
        int mid = (low + high) / 2;
        if (sorted[mid] < key)
            low = mid + 1;
        else
            high = mid;
    }
    place[i] = low;
}

static void binary_search(Run &run)
{
    const int size = 1 << 20, n = 1 << 18;
    std::vector<int> sorted = integers(size, 1 << 30, 38);
    const std::vector<int> keys = integers(n, 1 << 30, 39);
    std::sort(sorted.begin(), sorted.end());
    int *ds = run.upload(sorted), *dk = run.upload(keys), *place = run.zeros<int>(n);
    run.measure([=] { lower_bound_kernel<<<blocks_for(n, 256), 256>>>(ds, size, dk, place, n); });
    run.expect_all(
        run.output(place, n),
        [&](size_t i) {
            return std::lower_bound(sorted.begin(), sorted.end(), keys[i]) - sorted.begin();
        },
        0);
}

__global__ void find_text_kernel(const char *text, int n, const char *pattern, int length,
                                 int *starts)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > n - length)
        return;
    int j = 0;
    while (j < length && text[i + j] == pattern[j])
        j++;
    starts[i] = j == length;
}

static void string_search(Run &run)
{
    const int n = 1 << 20;
    const char *pattern = "abac";
    std::vector<char> text(n), key(pattern, pattern + 4);
    const std::vector<int> random = integers(n, 3, 40);
    for (int i = 0; i < n; i++)
        text[i] = (char) ('a' + random[i]);
    char *dt = run.upload(text), *dp = run.upload(key);
    int *starts = run.zeros<int>(n);
    run.measure([=] { find_text_kernel<<<blocks_for(n, 256), 256>>>(dt, n, dp, 4, starts); });
    run.expect_all(
        run.output(starts, n),
        [&](size_t i) { return (int) (i + 4 <= (size_t) n && !memcmp(&text[i], pattern, 4)); }, 0);
}

// ---- One level of a breadth-first search ----

__global__ void bfs_level_kernel(const int *begin, const int *edge, const int *frontier, int size,
                                 int *level, int now, int *next, int *count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= size)
        return;
    int node = frontier[i];
    for (int k = begin[node]; k < begin[node + 1]; k++)
        if (atomicCAS(&level[edge[k]], -1, now + 1) == -1)
            next[atomicAdd(count, 1)] = edge[k];
}

// The frontier: every fourth node; 2 to 15 edges per node.
static void bfs_level(Run &run)
{
    const int nodes = 1 << 18, size = nodes / 4;
    const std::vector<int> degree = integers(nodes, 14, 41);
    std::vector<int> begin(nodes + 1), frontier(size), start(nodes, -1);
    for (int i = 0; i < nodes; i++)
        begin[i + 1] = begin[i] + 2 + degree[i];
    const std::vector<int> edge = integers(begin[nodes], nodes, 42);
    for (int i = 0; i < size; i++)
        start[frontier[i] = 4 * i] = 0;
    std::vector<int> wanted = start;
    for (int node : frontier)
        for (int k = begin[node]; k < begin[node + 1]; k++)
            if (wanted[edge[k]] == -1)
                wanted[edge[k]] = 1;
    int *db = run.upload(begin), *de = run.upload(edge), *df = run.upload(frontier),
        *ds = run.upload(start), *level = run.zeros<int>(nodes), *next = run.zeros<int>(nodes),
        *count = run.zeros<int>(1);
    run.measure(
        [=] {
            bfs_level_kernel<<<blocks_for(size, 128), 128>>>(db, de, df, size, level, 0, next,
                                                             count);
        },
        [=] {
            CHECK(cudaMemcpy(level, ds, nodes * sizeof(int), cudaMemcpyDeviceToDevice));
            CHECK(cudaMemset(count, 0, sizeof(int)));
        });
    run.expect_all(
        run.output(level, nodes), [&](size_t i) { return wanted[i]; }, 0);
}

#endif
