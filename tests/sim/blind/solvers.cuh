// solvers.cuh - linear algebra: tridiagonal systems, transposed and sparse products, inverses,
// complex products.
#ifndef BLIND_SOLVERS_CUH
#define BLIND_SOLVERS_CUH

#include "blind.cuh"

// ---- Tridiagonal systems by Thomas's algorithm: a thread per system; rows, or interleaved ----

enum { UNKNOWNS = 64, SYSTEMS = 15000 };

template <bool INTERLEAVED> __host__ __device__ inline size_t unknown_at(int system, int k)
{
    return INTERLEAVED ? (size_t) k * SYSTEMS + system : (size_t) system * UNKNOWNS + k;
}

template <bool INTERLEAVED>
__global__ void thomas_kernel(const float *lower, const float *diagonal, const float *upper,
                              const float *right, float *factor, float *x)
{
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= SYSTEMS)
        return;
    float above = 0, before = 0;
    for (int k = 0; k < UNKNOWNS; k++) {
        size_t at = unknown_at<INTERLEAVED>(s, k);
        float pivot = diagonal[at] - lower[at] * above;
        above = upper[at] / pivot;
        before = (right[at] - lower[at] * before) / pivot;
        factor[at] = above;
        x[at] = before;
    }
    for (int k = UNKNOWNS - 2; k >= 0; k--) {
        size_t at = unknown_at<INTERLEAVED>(s, k);
        before = x[at] - factor[at] * before;
        x[at] = before;
    }
}

// Checked by the equations: lower x[k - 1] + diagonal x[k] + upper x[k + 1] = right.
template <bool INTERLEAVED> static void thomas(Run &run)
{
    const size_t size = (size_t) UNKNOWNS * SYSTEMS;
    const std::vector<float> l = floats(size, 311), d = floats(size, 312, 3, 5),
                             u = floats(size, 313), r = floats(size, 314);
    float *dl = run.upload(l), *dd = run.upload(d), *du = run.upload(u), *dr = run.upload(r);
    float *factor = run.zeros<float>(size), *x = run.zeros<float>(size);
    run.measure([=] {
        thomas_kernel<INTERLEAVED><<<blocks_for(SYSTEMS, 128), 128>>>(dl, dd, du, dr, factor, x);
    });
    const std::vector<float> got = run.output(x, size);
    for (int s = 0; s < SYSTEMS; s += 97)
        for (int k = 0; k < UNKNOWNS; k++) {
            const size_t at = unknown_at<INTERLEAVED>(s, k);
            double sum = (double) d[at] * got[at];
            if (k > 0)
                sum += (double) l[at] * got[unknown_at<INTERLEAVED>(s, k - 1)];
            if (k < UNKNOWNS - 1)
                sum += (double) u[at] * got[unknown_at<INTERLEAVED>(s, k + 1)];
            run.expect(sum, r[at], 1e-5);
        }
}

static void thomas_rows(Run &run)
{
    thomas<false>(run);
}

static void thomas_interleaved(Run &run)
{
    thomas<true>(run);
}

// ---- y = A' x: a thread per column, or 60 rows per thread and an atomic per sum ----

__global__ void gemvt_column_kernel(const float *a, const float *x, float *y, int rows, int cols)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    if (col >= cols)
        return;
    for (int row = 0; row < rows; row++)
        sum += a[(size_t) row * cols + col] * x[row];
    y[col] = sum;
}

__global__ void gemvt_split_kernel(const float *a, const float *x, float *y, int rows, int cols,
                                   int each)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x, first = blockIdx.y * each;
    float sum = 0;
    if (col >= cols)
        return;
    for (int row = first; row < min(first + each, rows); row++)
        sum += a[(size_t) row * cols + col] * x[row];
    atomicAdd(&y[col], sum);
}

// Small integers: sums are exact.
static std::vector<float> whole_floats(size_t count, uint32_t limit, uint32_t seed)
{
    const std::vector<int> v = integers(count, limit, seed);
    return std::vector<float>(v.begin(), v.end());
}

template <class Launch> static void gemvt(Run &run, Launch launch)
{
    const int rows = 2400, cols = 4000;
    const std::vector<float> a = whole_floats((size_t) rows * cols, 9, 315),
                             x = whole_floats(rows, 9, 316);
    float *da = run.upload(a), *dx = run.upload(x), *y = run.zeros<float>(cols);
    run.measure([=] { launch(da, dx, y, rows, cols); },
                [=] { CHECK(cudaMemset(y, 0, cols * sizeof(float))); });
    run.expect_all(
        run.output(y, cols),
        [&](size_t col) {
            double sum = 0;
            for (int row = 0; row < rows; row++)
                sum += a[(size_t) row * cols + col] * x[row];
            return sum;
        },
        0, 7);
}

static void gemvt_column(Run &run)
{
    gemvt(run, [](float *a, float *x, float *y, int rows, int cols) {
        gemvt_column_kernel<<<blocks_for(cols, 128), 128>>>(a, x, y, rows, cols);
    });
}

static void gemvt_split(Run &run)
{
    gemvt(run, [](float *a, float *x, float *y, int rows, int cols) {
        dim3 grid(blocks_for(cols, 128), blocks_for(rows, 60));
        gemvt_split_kernel<<<grid, 128>>>(a, x, y, rows, cols, 60);
    });
}

// ---- Sparse matrix times vector: padded columns (ELL), or a thread per value (COO) ----

__global__ void spmv_ell_kernel(const int *col, const float *value, const float *x, float *y,
                                int rows, int width)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    if (row >= rows)
        return;
    for (int k = 0; k < width; k++) {
        int c = col[k * rows + row];
        if (c >= 0)
            sum += value[k * rows + row] * x[c];
    }
    y[row] = sum;
}

__global__ void spmv_coo_kernel(const int *row, const int *col, const float *value, const float *x,
                                float *y, int values)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < values)
        atomicAdd(&y[row[i]], value[i] * x[col[i]]);
}

// The same matrix in both forms: 2 to 22 values per row.
struct SparseMatrix {
    int rows, width;
    std::vector<int> row, col, ell_col;
    std::vector<float> value, ell_value;
};

static SparseMatrix sparse_matrix(int rows, int width)
{
    SparseMatrix m = { rows, width, {}, {}, {}, {}, {} };
    m.ell_col.assign((size_t) rows * width, -1);
    m.ell_value.assign((size_t) rows * width, 0);
    for (int r = 0; r < rows; r++)
        for (int k = 0, count = 2 + (int) (mix(r) % (width - 1)); k < count; k++) {
            m.row.push_back(r);
            m.col.push_back((int) (mix(r * 64 + k) % rows));
            m.value.push_back((float) (mix(r * 64 + k + 7) % 8));
            m.ell_col[(size_t) k * rows + r] = m.col.back();
            m.ell_value[(size_t) k * rows + r] = m.value.back();
        }
    return m;
}

static void expect_product(Run &run, const SparseMatrix &m, const std::vector<float> &x,
                           const float *y)
{
    std::vector<double> wanted(m.rows);
    for (size_t i = 0; i < m.row.size(); i++)
        wanted[m.row[i]] += m.value[i] * x[m.col[i]];
    run.expect_all(
        run.output(y, m.rows), [&](size_t i) { return wanted[i]; }, 0, 11);
}

static void spmv_ell(Run &run)
{
    const SparseMatrix m = sparse_matrix(130000, 22);
    const std::vector<float> x = whole_floats(m.rows, 9, 317);
    const int rows = m.rows, width = m.width, *col = run.upload(m.ell_col);
    const float *value = run.upload(m.ell_value), *dx = run.upload(x);
    float *y = run.zeros<float>(rows);
    run.measure(
        [=] { spmv_ell_kernel<<<blocks_for(rows, 256), 256>>>(col, value, dx, y, rows, width); });
    expect_product(run, m, x, y);
}

static void spmv_coo(Run &run)
{
    const SparseMatrix m = sparse_matrix(130000, 22);
    const std::vector<float> x = whole_floats(m.rows, 9, 317);
    const int rows = m.rows, values = (int) m.row.size();
    const int *row = run.upload(m.row), *col = run.upload(m.col);
    const float *value = run.upload(m.value), *dx = run.upload(x);
    float *y = run.zeros<float>(rows);
    run.measure(
        [=] { spmv_coo_kernel<<<blocks_for(values, 256), 256>>>(row, col, value, dx, y, values); },
        [=] { CHECK(cudaMemset(y, 0, rows * sizeof(float))); });
    expect_product(run, m, x, y);
}

// ---- Inverses of 6 x 6, a thread each: with pivots in local memory, or unrolled without ----

__global__ void inverse6_pivot_kernel(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float m[6][12];
    if (i >= n)
        return;
    for (int r = 0; r < 6; r++)
        for (int c = 0; c < 6; c++) {
            m[r][c] = in[(r * 6 + c) * n + i];
            m[r][c + 6] = r == c;
        }
    for (int k = 0; k < 6; k++) {
        int pivot = k;
        for (int r = k + 1; r < 6; r++)
            if (fabsf(m[r][k]) > fabsf(m[pivot][k]))
                pivot = r;
        float by = 1 / m[pivot][k];
        for (int c = 0; c < 12; c++) {
            float v = m[pivot][c];
            m[pivot][c] = m[k][c];
            m[k][c] = v * by;
        }
        for (int r = 0; r < 6; r++) {
            float factor = m[r][k];
            if (r != k)
                for (int c = 0; c < 12; c++)
                    m[r][c] -= factor * m[k][c];
        }
    }
    for (int e = 0; e < 36; e++)
        out[e * n + i] = m[e / 6][e % 6 + 6];
}

__global__ void inverse6_plain_kernel(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float m[6][6];
    if (i >= n)
        return;
#pragma unroll
    for (int e = 0; e < 36; e++)
        m[e / 6][e % 6] = in[e * n + i];
#pragma unroll
    for (int k = 0; k < 6; k++) {
        float by = 1 / m[k][k];
        m[k][k] = 1;
#pragma unroll
        for (int c = 0; c < 6; c++)
            m[k][c] *= by;
#pragma unroll
        for (int r = 0; r < 6; r++) {
            if (r == k)
                continue;
            float factor = m[r][k];
            m[r][k] = 0;
#pragma unroll
            for (int c = 0; c < 6; c++)
                m[r][c] -= factor * m[k][c];
        }
    }
#pragma unroll
    for (int e = 0; e < 36; e++)
        out[e * n + i] = m[e / 6][e % 6];
}

// Checked by the product with the matrix. The diagonal dominates.
template <class Launch> static void inverse6(Run &run, Launch launch)
{
    const int n = 100000;
    std::vector<float> in = floats((size_t) n * 36, 318);
    for (int k = 0; k < 6; k++)
        for (int i = 0; i < n; i++)
            in[(size_t) (k * 7) * n + i] += 8;
    float *from = run.upload(in), *to = run.zeros<float>(in.size());
    run.measure([=] { launch(from, to, n); });
    const std::vector<float> got = run.output(to, in.size());
    for (int i = 0; i < n; i += 307)
        for (int e = 0; e < 36; e++) {
            double sum = 0;
            for (int k = 0; k < 6; k++)
                sum += (double) in[(size_t) (e / 6 * 6 + k) * n + i] *
                       got[(size_t) (k * 6 + e % 6) * n + i];
            run.expect(sum, e / 6 == e % 6, 1e-5);
        }
}

static void inverse6_pivot(Run &run)
{
    inverse6(run, [](float *in, float *out, int n) {
        inverse6_pivot_kernel<<<blocks_for(n, 64), 64>>>(in, out, n);
    });
}

static void inverse6_plain(Run &run)
{
    inverse6(run, [](float *in, float *out, int n) {
        inverse6_plain_kernel<<<blocks_for(n, 128), 128>>>(in, out, n);
    });
}

// ---- Complex product by tiles of 16 x 16 ----

__global__ void complex_gemm_kernel(const float2 *a, const float2 *b, float2 *c, int n, int depth)
{
    __shared__ float2 left[16][16], right[16][17];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16 + y, col = blockIdx.x * 16 + x;
    float2 sum = { 0, 0 };
    for (int first = 0; first < depth; first += 16) {
        left[y][x] = a[row * depth + first + x];
        right[y][x] = b[(first + y) * n + col];
        __syncthreads(); // the tiles are complete
        for (int k = 0; k < 16; k++) {
            float2 p = left[y][k], q = right[k][x];
            sum.x += p.x * q.x - p.y * q.y;
            sum.y += p.x * q.y + p.y * q.x;
        }
        __syncthreads(); // the tiles are free again
    }
    c[row * n + col] = sum;
}

static void complex_gemm(Run &run)
{
    const int m = 256, n = 304, depth = 320;
    const std::vector<float> a = floats(2 * m * depth, 319), b = floats(2 * depth * n, 320);
    float *da = run.upload(a), *db = run.upload(b), *dc = run.zeros<float>(2 * m * n);
    run.measure([=] {
        complex_gemm_kernel<<<dim3(n / 16, m / 16), dim3(16, 16)>>>((float2 *) da, (float2 *) db,
                                                                    (float2 *) dc, n, depth);
    });
    const std::vector<float> got = run.output(dc, 2 * m * n);
    for (int i = 0; i < m * n; i += 59) {
        double re = 0, im = 0;
        for (int k = 0; k < depth; k++) {
            const float *p = &a[2 * (i / n * depth + k)], *q = &b[2 * (k * n + i % n)];
            re += (double) p[0] * q[0] - (double) p[1] * q[1];
            im += (double) p[0] * q[1] + (double) p[1] * q[0];
        }
        run.expect(got[2 * i], re, 1e-4);
        run.expect(got[2 * i + 1], im, 1e-4);
    }
}

#endif
