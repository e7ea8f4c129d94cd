// tabular.cuh - learning from tables: histograms of gradients, logistic regression, covariance,
// nearest neighbours, support vectors.
#ifndef BLIND_TABULAR_CUH
#define BLIND_TABULAR_CUH

#include "blind.cuh"

// ---- Gradients and counts per feature and bin, of rows with 16 features: global or shared ----

enum { BOOST_FEATURES = 16, BOOST_BINS = 32, BOOST_SLOTS = BOOST_FEATURES * BOOST_BINS };

struct Bin {
    int gradient, count;
};

__device__ inline void add_row(Bin *bins, const unsigned char *row, int gradient)
{
    for (int f = 0; f < BOOST_FEATURES; f++) {
        Bin *bin = &bins[f * BOOST_BINS + row[f]];
        atomicAdd(&bin->gradient, gradient);
        atomicAdd(&bin->count, 1);
    }
}

__global__ void boost_global_kernel(const unsigned char *table, const int *gradient, Bin *bins,
                                    int rows)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows)
        add_row(bins, table + row * BOOST_FEATURES, gradient[row]);
}

__global__ void boost_shared_kernel(const unsigned char *table, const int *gradient, Bin *bins,
                                    int rows)
{
    __shared__ Bin local[BOOST_SLOTS];
    for (int k = threadIdx.x; k < BOOST_SLOTS; k += blockDim.x)
        local[k] = { 0, 0 };
    __syncthreads(); // the bins are empty
    for (int row = blockIdx.x * blockDim.x + threadIdx.x; row < rows; row += gridDim.x * blockDim.x)
        add_row(local, table + row * BOOST_FEATURES, gradient[row]);
    __syncthreads(); // the block's bins are complete
    for (int k = threadIdx.x; k < BOOST_SLOTS; k += blockDim.x) {
        atomicAdd(&bins[k].gradient, local[k].gradient);
        atomicAdd(&bins[k].count, local[k].count);
    }
}

template <class Launch> static void boost(Run &run, Launch launch)
{
    const int rows = 160000;
    const std::vector<int> drawn = integers(rows * BOOST_FEATURES, BOOST_BINS, 611);
    const std::vector<int> gradient = integers(rows, 200, 612);
    std::vector<unsigned char> table(drawn.begin(), drawn.end());
    std::vector<Bin> wanted(BOOST_SLOTS);
    for (int i = 0; i < rows * BOOST_FEATURES; i++) {
        Bin &bin = wanted[i % BOOST_FEATURES * BOOST_BINS + table[i]];
        bin.gradient += gradient[i / BOOST_FEATURES];
        bin.count++;
    }
    unsigned char *dt = run.upload(table);
    int *dg = run.upload(gradient);
    Bin *bins = run.zeros<Bin>(BOOST_SLOTS);
    run.measure([=] { launch(dt, dg, bins, rows); },
                [=] { CHECK(cudaMemset(bins, 0, BOOST_SLOTS * sizeof(Bin))); });
    const std::vector<Bin> got = run.output(bins, BOOST_SLOTS);
    for (int k = 0; k < BOOST_SLOTS; k++) {
        run.expect(got[k].gradient, wanted[k].gradient, 0);
        run.expect(got[k].count, wanted[k].count, 0);
    }
}

static void boost_global(Run &run)
{
    boost(run, [](unsigned char *table, int *gradient, Bin *bins, int rows) {
        boost_global_kernel<<<blocks_for(rows, 256), 256>>>(table, gradient, bins, rows);
    });
}

static void boost_shared(Run &run)
{
    boost(run, [](unsigned char *table, int *gradient, Bin *bins, int rows) {
        boost_shared_kernel<<<blocks_for(rows, 1024), 256>>>(table, gradient, bins, rows);
    });
}

// ---- The gradient of logistic regression, 16 features: an atomic per value, or block sums ----

enum { LOGIT_FEATURES = 16 };

__constant__ float logit_weight[LOGIT_FEATURES];

__device__ inline float logit_error(const float *x, float label)
{
    float z = 0;
    for (int f = 0; f < LOGIT_FEATURES; f++)
        z += logit_weight[f] * x[f];
    return 1 / (1 + expf(-z)) - label;
}

__global__ void logistic_atomic_kernel(const float *x, const float *label, float *gradient, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float error = logit_error(x + i * LOGIT_FEATURES, label[i]);
    for (int f = 0; f < LOGIT_FEATURES; f++)
        atomicAdd(&gradient[f], error * x[i * LOGIT_FEATURES + f]);
}

__global__ void __launch_bounds__(256)
    logistic_block_kernel(const float *x, const float *label, float *gradient, int n)
{
    __shared__ float part[8][LOGIT_FEATURES];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v[LOGIT_FEATURES] = {}, error = 0;
    if (i < n) {
#pragma unroll
        for (int f = 0; f < LOGIT_FEATURES; f++)
            v[f] = x[i * LOGIT_FEATURES + f];
        error = logit_error(v, label[i]);
    }
#pragma unroll
    for (int f = 0; f < LOGIT_FEATURES; f++) {
        float sum = error * v[f];
        for (int apart = 16; apart; apart /= 2)
            sum += __shfl_down_sync(~0u, sum, apart);
        if (threadIdx.x % 32 == 0)
            part[threadIdx.x / 32][f] = sum;
    }
    __syncthreads(); // the warps' sums are complete
    if (threadIdx.x >= LOGIT_FEATURES)
        return;
    float sum = 0;
    for (int k = 0; k < 8; k++)
        sum += part[k][threadIdx.x];
    atomicAdd(&gradient[threadIdx.x], sum);
}

static void logistic(Run &run, void (*kernel)(const float *, const float *, float *, int))
{
    const int n = 160000;
    const std::vector<float> x = floats(n * LOGIT_FEATURES, 613, -0.5f, 1);
    const std::vector<float> weight = floats(LOGIT_FEATURES, 614);
    const std::vector<int> drawn = integers(n, 2, 615);
    std::vector<float> label(drawn.begin(), drawn.end());
    float *dx = run.upload(x), *dl = run.upload(label), *to = run.zeros<float>(LOGIT_FEATURES);
    CHECK(cudaMemcpyToSymbol(logit_weight, weight.data(), sizeof(logit_weight)));
    run.measure([=] { kernel<<<blocks_for(n, 256), 256>>>(dx, dl, to, n); },
                [=] { CHECK(cudaMemset(to, 0, LOGIT_FEATURES * sizeof(float))); });
    std::vector<double> wanted(LOGIT_FEATURES);
    for (int i = 0; i < n; i++) {
        double z = 0;
        for (int f = 0; f < LOGIT_FEATURES; f++)
            z += weight[f] * x[i * LOGIT_FEATURES + f];
        for (int f = 0; f < LOGIT_FEATURES; f++)
            wanted[f] += (1 / (1 + exp(-z)) - label[i]) * x[i * LOGIT_FEATURES + f];
    }
    run.expect_all(
        run.output(to, LOGIT_FEATURES), [&](size_t f) { return wanted[f]; }, 5e-3);
}

static void logistic_atomic(Run &run)
{
    logistic(run, logistic_atomic_kernel);
}

static void logistic_block(Run &run)
{
    logistic(run, logistic_block_kernel);
}

// ---- The covariance of 208 columns over 600 rows: a pair per thread, directly or by tiles ----

enum { COV_COLUMNS = 208, COV_ROWS = 600 };

__global__ void covariance_pairs_kernel(const float *data, const float *mean, float *out)
{
    int a = blockIdx.x * blockDim.x + threadIdx.x, b = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0;
    if (a >= COV_COLUMNS || b > a)
        return;
    for (int row = 0; row < COV_ROWS; row++)
        sum += (data[row * COV_COLUMNS + a] - mean[a]) * (data[row * COV_COLUMNS + b] - mean[b]);
    out[a * COV_COLUMNS + b] = out[b * COV_COLUMNS + a] = sum / (COV_ROWS - 1);
}

__global__ void covariance_tiles_kernel(const float *data, const float *mean, float *out)
{
    __shared__ float tile_a[16][17], tile_b[16][17];
    const int x = threadIdx.x, y = threadIdx.y, a = blockIdx.x * 16, b = blockIdx.y * 16;
    float sum = 0;
    if (b > a)
        return;
    for (int row = 0; row < COV_ROWS; row += 16) {
        bool inside = row + y < COV_ROWS;
        tile_a[y][x] = inside ? data[(row + y) * COV_COLUMNS + a + x] - mean[a + x] : 0;
        tile_b[y][x] = inside ? data[(row + y) * COV_COLUMNS + b + x] - mean[b + x] : 0;
        __syncthreads(); // the tiles are complete
#pragma unroll
        for (int k = 0; k < 16; k++)
            sum += tile_a[k][x] * tile_b[k][y];
        __syncthreads(); // the tiles are free again
    }
    out[(a + x) * COV_COLUMNS + b + y] = sum / (COV_ROWS - 1);
    out[(b + y) * COV_COLUMNS + a + x] = sum / (COV_ROWS - 1);
}

static void covariance(Run &run, void (*kernel)(const float *, const float *, float *), dim3 block)
{
    const int columns = COV_COLUMNS;
    const std::vector<float> data = floats(COV_ROWS * columns, 616);
    std::vector<float> mean(columns);
    for (size_t i = 0; i < data.size(); i++)
        mean[i % columns] += data[i] / COV_ROWS;
    float *dd = run.upload(data), *dm = run.upload(mean), *to = run.zeros<float>(columns * columns);
    const dim3 grid(blocks_for(columns, block.x), blocks_for(columns, block.y));
    run.measure([=] { kernel<<<grid, block>>>(dd, dm, to); });
    run.expect_all(
        run.output(to, columns * columns),
        [&](size_t i) {
            const size_t a = i / columns, b = i % columns;
            double sum = 0;
            for (int row = 0; row < COV_ROWS; row++)
                sum += ((double) data[row * columns + a] - mean[a]) *
                       ((double) data[row * columns + b] - mean[b]);
            return sum / (COV_ROWS - 1);
        },
        1e-5, 59);
}

static void covariance_pairs(Run &run)
{
    covariance(run, covariance_pairs_kernel, dim3(32, 8));
}

static void covariance_tiles(Run &run)
{
    covariance(run, covariance_tiles_kernel, dim3(16, 16));
}

// ---- The five nearest of 1600 points, per query: a sorted list in a local array ----

enum { NEAREST = 5 };

__host__ __device__ inline void nearest_list(const float *points, int n, const float *query,
                                             float *distance)
{
    for (int k = 0; k < NEAREST; k++)
        distance[k] = 1e30f;
    for (int i = 0; i < n; i++) {
        float x = points[3 * i] - query[0], y = points[3 * i + 1] - query[1];
        float z = points[3 * i + 2] - query[2], d = x * x + y * y + z * z;
        int k = NEAREST - 1;
        if (d >= distance[k])
            continue;
        for (; k > 0 && distance[k - 1] > d; k--)
            distance[k] = distance[k - 1];
        distance[k] = d;
    }
}

__global__ void neighbours_kernel(const float *points, int n, const float *query, float *mean,
                                  int queries)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float distance[NEAREST], sum = 0;
    if (i >= queries)
        return;
    nearest_list(points, n, query + 3 * i, distance);
    for (int k = 0; k < NEAREST; k++)
        sum += sqrtf(distance[k]);
    mean[i] = sum / NEAREST;
}

static void neighbours_local(Run &run)
{
    const int n = 1600, queries = 9000;
    const std::vector<float> points = floats(n * 3, 617), query = floats(queries * 3, 618);
    float *dp = run.upload(points), *dq = run.upload(query), *to = run.zeros<float>(queries);
    run.measure(
        [=] { neighbours_kernel<<<blocks_for(queries, 96), 96>>>(dp, n, dq, to, queries); });
    run.expect_all(
        run.output(to, queries),
        [&](size_t i) {
            float distance[NEAREST], sum = 0;
            nearest_list(points.data(), n, &query[3 * i], distance);
            for (int k = 0; k < NEAREST; k++)
                sum += sqrtf(distance[k]);
            return sum / NEAREST;
        },
        1e-5, 23);
}

// ---- A support vector machine with a radial kernel: a query per thread ----

enum { SVM_FEATURES = 12, SVM_VECTORS = 260 };

__global__ void svm_kernel(const float *query, const float *vectors, const float *weight,
                           float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x[SVM_FEATURES], sum = 0;
    if (i >= n)
        return;
    for (int f = 0; f < SVM_FEATURES; f++)
        x[f] = query[i * SVM_FEATURES + f];
    for (int v = 0; v < SVM_VECTORS; v++) {
        float square = 0;
        for (int f = 0; f < SVM_FEATURES; f++) {
            float d = x[f] - vectors[v * SVM_FEATURES + f];
            square += d * d;
        }
        sum += weight[v] * expf(-0.3f * square);
    }
    out[i] = sum;
}

static void svm_rows(Run &run)
{
    const int n = 14000;
    const std::vector<float> query = floats(n * SVM_FEATURES, 619);
    const std::vector<float> vectors = floats(SVM_VECTORS * SVM_FEATURES, 620);
    const std::vector<float> weight = floats(SVM_VECTORS, 621);
    float *dq = run.upload(query), *dv = run.upload(vectors), *dw = run.upload(weight);
    float *to = run.zeros<float>(n);
    run.measure([=] { svm_kernel<<<blocks_for(n, 128), 128>>>(dq, dv, dw, to, n); });
    run.expect_all(
        run.output(to, n),
        [&](size_t i) {
            double sum = 0;
            for (int v = 0; v < SVM_VECTORS; v++) {
                double square = 0;
                for (int f = 0; f < SVM_FEATURES; f++) {
                    const double d = query[i * SVM_FEATURES + f] - vectors[v * SVM_FEATURES + f];
                    square += d * d;
                }
                sum += weight[v] * exp(-0.3 * square);
            }
            return sum;
        },
        1e-4, 37);
}

#endif
