// matrices.cuh - sparse blocks, bands, eigenvalues, cyclic reduction, orthogonal columns, Kalman
// filters.
#ifndef BLIND_MATRICES_CUH
#define BLIND_MATRICES_CUH

#include "blind.cuh"

// ---- A sparse matrix of 4x4 blocks times a vector: a thread per row, or a warp per block row ----

struct BlockMatrix {
    std::vector<int> begin, column;
    std::vector<float> value; // 16 per block, by rows
};

static BlockMatrix random_blocks(int rows)
{
    BlockMatrix m;
    m.begin.push_back(0);
    for (int row = 0; row < rows; row++) {
        const int count = 4 + (int) (mix(row + 651) % 9);
        for (int k = 0; k < count; k++)
            m.column.push_back((int) ((row + mix(row * 16 + k) % 2000) % rows));
        m.begin.push_back((int) m.column.size());
    }
    m.value = floats(m.column.size() * 16, 652);
    return m;
}

__global__ void blocks_thread_kernel(const int *begin, const int *column, const float4 *value,
                                     const float4 *x, float *y, int rows)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, row = i / 4;
    float sum = 0;
    if (row >= rows)
        return;
    for (int k = begin[row]; k < begin[row + 1]; k++) {
        float4 a = value[4 * k + i % 4], b = x[column[k]];
        sum += a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
    }
    y[i] = sum;
}

// Two blocks at a time: a lane has one value of each.
__global__ void blocks_warp_kernel(const int *begin, const int *column, const float *value,
                                   const float *x, float *y, int rows)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    float sum = 0;
    if (row >= rows)
        return;
    for (int k = begin[row] + lane / 16; k < begin[row + 1]; k += 2)
        sum += value[16 * k + lane % 16] * x[4 * column[k] + lane % 4];
    sum += __shfl_xor_sync(~0u, sum, 16);
    sum += __shfl_xor_sync(~0u, sum, 2);
    sum += __shfl_xor_sync(~0u, sum, 1);
    if (lane < 16 && lane % 4 == 0)
        y[4 * row + lane / 4] = sum;
}

static void blocks_times_vector(Run &run, bool by_warp)
{
    const int rows = 50000;
    const BlockMatrix m = random_blocks(rows);
    const std::vector<float> x = floats(4 * rows, 653);
    int *db = run.upload(m.begin), *dc = run.upload(m.column);
    float *dv = run.upload(m.value), *dx = run.upload(x), *to = run.zeros<float>(4 * rows);
    run.measure([=] {
        if (by_warp)
            blocks_warp_kernel<<<blocks_for(rows * 32, 256), 256>>>(db, dc, dv, dx, to, rows);
        else
            blocks_thread_kernel<<<blocks_for(rows * 4, 128), 128>>>(db, dc, (float4 *) dv,
                                                                     (float4 *) dx, to, rows);
    });
    run.expect_all(
        run.output(to, 4 * rows),
        [&](size_t i) {
            double sum = 0;
            for (int k = m.begin[i / 4]; k < m.begin[i / 4 + 1]; k++)
                for (int c = 0; c < 4; c++)
                    sum += m.value[16 * k + i % 4 * 4 + c] * x[4 * m.column[k] + c];
            return sum;
        },
        1e-5, 13);
}

static void blocks_thread(Run &run)
{
    blocks_times_vector(run, false);
}

static void blocks_warp(Run &run)
{
    blocks_times_vector(run, true);
}

// ---- A band of 11 diagonals times a vector: stored by diagonals, or by rows ----

enum { BAND = 11, BAND_SIZE = 1000000 };

__global__ void band_diagonals_kernel(const float *band, const float *x, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    if (i >= BAND_SIZE)
        return;
    for (int d = 0; d < BAND; d++)
        sum += band[d * BAND_SIZE + i] * x[i + d];
    y[i] = sum;
}

__global__ void band_rows_kernel(const float *band, const float *x, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    if (i >= BAND_SIZE)
        return;
    for (int d = 0; d < BAND; d++)
        sum += band[i * BAND + d] * x[i + d];
    y[i] = sum;
}

static void band_times_vector(Run &run, bool by_rows)
{
    const std::vector<float> band = floats((size_t) BAND * BAND_SIZE, 654);
    const std::vector<float> x = floats(BAND_SIZE + BAND, 655);
    float *db = run.upload(band), *dx = run.upload(x), *to = run.zeros<float>(BAND_SIZE);
    run.measure([=] {
        const int grid = blocks_for(BAND_SIZE, 256);
        if (by_rows)
            band_rows_kernel<<<grid, 256>>>(db, dx, to);
        else
            band_diagonals_kernel<<<grid, 256>>>(db, dx, to);
    });
    run.expect_all(
        run.output(to, BAND_SIZE),
        [&](size_t i) {
            double sum = 0;
            for (int d = 0; d < BAND; d++)
                sum += band[by_rows ? i * BAND + d : (size_t) d * BAND_SIZE + i] * x[i + d];
            return sum;
        },
        1e-5, 29);
}

static void band_diagonals(Run &run)
{
    band_times_vector(run, false);
}

static void band_rows(Run &run)
{
    band_times_vector(run, true);
}

// ---- Eigenvalues of symmetric 3x3 matrices: Jacobi's rotations, or the closed form ----

// Rotates rows and columns p and q until a[p][q] is zero; r is the third one.
__device__ inline void jacobi_turn(float (&a)[3][3], int p, int q, int r)
{
    if (fabsf(a[p][q]) < 1e-12f)
        return;
    float theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
    float t = copysignf(1, theta) / (fabsf(theta) + sqrtf(theta * theta + 1));
    float c = 1 / sqrtf(t * t + 1), s = t * c, shift = t * a[p][q];
    a[p][p] -= shift;
    a[q][q] += shift;
    a[p][q] = a[q][p] = 0;
    float rp = a[r][p], rq = a[r][q];
    a[r][p] = a[p][r] = c * rp - s * rq;
    a[r][q] = a[q][r] = s * rp + c * rq;
}

__device__ inline float3 eigen_sorted(float a, float b, float c)
{
    float low = fminf(a, fminf(b, c)), high = fmaxf(a, fmaxf(b, c));
    return make_float3(high, a + b + c - low - high, low);
}

// `in`: xx, xy, xz, yy, yz, zz, each for all matrices.
__global__ void eigen_jacobi_kernel(const float *in, float3 *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float xx = in[i], xy = in[i + n], xz = in[i + 2 * n];
    float yy = in[i + 3 * n], yz = in[i + 4 * n], zz = in[i + 5 * n];
    float a[3][3] = { { xx, xy, xz }, { xy, yy, yz }, { xz, yz, zz } };
    for (int sweep = 0; sweep < 8; sweep++) {
        if (fabsf(a[0][1]) + fabsf(a[0][2]) + fabsf(a[1][2]) < 1e-6f)
            break;
        jacobi_turn(a, 0, 1, 2);
        jacobi_turn(a, 0, 2, 1);
        jacobi_turn(a, 1, 2, 0);
    }
    out[i] = eigen_sorted(a[0][0], a[1][1], a[2][2]);
}

// Smith's formula by angles. `v`: the six values.
template <class T> __host__ __device__ inline void eigen_by_angle(const T (&v)[6], T (&out)[3])
{
    const T mean = (v[0] + v[3] + v[5]) / 3, a = v[0] - mean, b = v[3] - mean, c = v[5] - mean;
    const T off = v[1] * v[1] + v[2] * v[2] + v[4] * v[4];
    const T p = sqrt((a * a + b * b + c * c + 2 * off) / 6);
    const T det = a * (b * c - v[4] * v[4]) - v[1] * (v[1] * c - v[4] * v[2]) +
                  v[2] * (v[1] * v[4] - b * v[2]);
    T r = det / (2 * p * p * p);
    r = r < -1 ? T(-1) : r > 1 ? T(1) : r;
    const T phi = acos(r) / 3;
    out[0] = mean + 2 * p * cos(phi);
    out[2] = mean + 2 * p * cos(phi + T(2.0943951023931953));
    out[1] = 3 * mean - out[0] - out[2];
}

__global__ void eigen_closed_kernel(const float *in, float3 *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v[6], e[3];
    if (i >= n)
        return;
    for (int k = 0; k < 6; k++)
        v[k] = in[i + k * n];
    eigen_by_angle(v, e);
    out[i] = make_float3(e[0], e[1], e[2]);
}

static void eigen3(Run &run, void (*kernel)(const float *, float3 *, int))
{
    const int n = 280000;
    const std::vector<float> in = floats(n * 6, 656);
    const float *from = run.upload(in);
    float3 *to = run.zeros<float3>(n);
    run.measure([=] { kernel<<<blocks_for(n, 128), 128>>>(from, to, n); });
    const std::vector<float3> got = run.output(to, n);
    for (int i = 0; i < n; i += 31) {
        double v[6], e[3];
        for (int k = 0; k < 6; k++)
            v[k] = in[i + k * n];
        eigen_by_angle(v, e);
        run.expect(got[i].x, e[0], 5e-3);
        run.expect(got[i].y, e[1], 5e-3);
        run.expect(got[i].z, e[2], 5e-3);
    }
}

static void eigen_jacobi(Run &run)
{
    eigen3(run, eigen_jacobi_kernel);
}

static void eigen_closed(Run &run)
{
    eigen3(run, eigen_closed_kernel);
}

// ---- Tridiagonal systems of 256 unknowns by parallel cyclic reduction: a block per system ----

enum { PCR_SIZE = 256, PCR_SYSTEMS = 1500 };

__global__ void __launch_bounds__(PCR_SIZE)
    cyclic_kernel(const float *low, const float *diagonal, const float *high, const float *right,
                  float *out)
{
    __shared__ float4 row[PCR_SIZE]; // low, diagonal, high, right
    const int t = threadIdx.x, at = blockIdx.x * PCR_SIZE + t;
    float4 mine = make_float4(low[at], diagonal[at], high[at], right[at]);
    for (int apart = 1; apart < PCR_SIZE; apart *= 2) {
        row[t] = mine;
        __syncthreads(); // the rows are complete
        float4 above = t >= apart ? row[t - apart] : make_float4(0, 1, 0, 0);
        float4 below = t + apart < PCR_SIZE ? row[t + apart] : make_float4(0, 1, 0, 0);
        float up = -mine.x / above.y, down = -mine.z / below.y;
        mine = make_float4(up * above.x, mine.y + up * above.z + down * below.x, down * below.z,
                           mine.w + up * above.w + down * below.w);
        __syncthreads(); // all have read the rows
    }
    out[at] = mine.w / mine.y;
}

static void cyclic_reduction(Run &run)
{
    const int n = PCR_SIZE * PCR_SYSTEMS;
    std::vector<float> low = floats(n, 657), high = floats(n, 658);
    const std::vector<float> diagonal = floats(n, 659, 2.5f, 4), right = floats(n, 660);
    for (int i = 0; i < n; i += PCR_SIZE)
        low[i] = high[i + PCR_SIZE - 1] = 0;
    float *dl = run.upload(low), *dd = run.upload(diagonal), *dh = run.upload(high);
    float *dr = run.upload(right), *to = run.zeros<float>(n);
    run.measure([=] { cyclic_kernel<<<PCR_SYSTEMS, PCR_SIZE>>>(dl, dd, dh, dr, to); });
    const std::vector<float> x = run.output(to, n);
    for (int i = 0; i < n; i += 7) {
        double sum = (double) diagonal[i] * x[i];
        sum += i > 0 ? (double) low[i] * x[i - 1] : 0;
        sum += i + 1 < n ? (double) high[i] * x[i + 1] : 0;
        run.expect(sum, right[i], 1e-4);
    }
}

// ---- A step of Gram and Schmidt: a thread per column makes it orthogonal to a given one ----

enum { SCHMIDT_ROWS = 1200, SCHMIDT_COLUMNS = 640 };

__global__ void schmidt_kernel(const float *q, float *a)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    if (column >= SCHMIDT_COLUMNS)
        return;
    for (int row = 0; row < SCHMIDT_ROWS; row++)
        sum += q[row] * a[row * SCHMIDT_COLUMNS + column];
    for (int row = 0; row < SCHMIDT_ROWS; row++)
        a[row * SCHMIDT_COLUMNS + column] -= q[row] * sum;
}

static void schmidt_step(Run &run)
{
    const int n = SCHMIDT_ROWS * SCHMIDT_COLUMNS;
    const std::vector<float> q = floats(SCHMIDT_ROWS, 661, -0.05f, 0.05f), a = floats(n, 662);
    float *dq = run.upload(q), *from = run.upload(a), *to = run.zeros<float>(n);
    run.measure([=] { schmidt_kernel<<<blocks_for(SCHMIDT_COLUMNS, 128), 128>>>(dq, to); },
                [=] { CHECK(cudaMemcpy(to, from, n * sizeof(float), cudaMemcpyDeviceToDevice)); });
    const std::vector<float> got = run.output(to, n);
    for (int column = 0; column < SCHMIDT_COLUMNS; column += 37) {
        double sum = 0;
        for (int row = 0; row < SCHMIDT_ROWS; row++)
            sum += (double) q[row] * a[row * SCHMIDT_COLUMNS + column];
        for (int row = 0; row < SCHMIDT_ROWS; row += 11)
            run.expect(got[row * SCHMIDT_COLUMNS + column],
                       a[row * SCHMIDT_COLUMNS + column] - q[row] * sum, 1e-5);
    }
}

// ---- Kalman filters: a track per thread, place and speed in two dimensions, ten measurements ----

enum { TRACK_STEPS = 10 };

template <class T> struct Track {
    T x[4], p[4][4]; // x, y, and their speeds; the covariance

    // The place moves by the speed: F is the identity and ones at [0][2] and [1][3].
    __host__ __device__ void predict()
    {
        for (int i = 0; i < 2; i++)
            x[i] += x[i + 2];
        for (int i = 0; i < 2; i++)
            for (int k = 0; k < 4; k++)
                p[i][k] += p[i + 2][k];
        for (int i = 0; i < 4; i++)
            for (int k = 0; k < 2; k++)
                p[i][k] += p[i][k + 2];
        for (int i = 0; i < 4; i++)
            p[i][i] += T(0.01);
    }

    __host__ __device__ void update(T mx, T my)
    {
        const T a = p[0][0] + T(0.5), b = p[0][1], c = p[1][0], d = p[1][1] + T(0.5);
        const T det = a * d - b * c, ex = mx - x[0], ey = my - x[1];
        T gain[4][2], before[2][4];
        for (int i = 0; i < 4; i++) {
            gain[i][0] = (p[i][0] * d - p[i][1] * c) / det;
            gain[i][1] = (p[i][1] * a - p[i][0] * b) / det;
            before[0][i] = p[0][i];
            before[1][i] = p[1][i];
        }
        for (int i = 0; i < 4; i++) {
            x[i] += gain[i][0] * ex + gain[i][1] * ey;
            for (int k = 0; k < 4; k++)
                p[i][k] -= gain[i][0] * before[0][k] + gain[i][1] * before[1][k];
        }
    }
};

template <class T>
__host__ __device__ inline void follow(Track<T> &track, const float *measured, int stride)
{
    track = {};
    for (int i = 0; i < 4; i++)
        track.p[i][i] = 1;
    for (int step = 0; step < TRACK_STEPS; step++) {
        track.predict();
        track.update(measured[2 * step * stride], measured[(2 * step + 1) * stride]);
    }
}

__global__ void kalman_kernel(const float *measured, float4 *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    Track<float> track;
    if (i >= n)
        return;
    follow(track, measured + i, n);
    out[i] = make_float4(track.x[0], track.x[1], track.x[2], track.x[3]);
}

static void kalman_tracks(Run &run)
{
    const int n = 60000;
    const std::vector<float> measured = floats((size_t) n * 2 * TRACK_STEPS, 663);
    float *from = run.upload(measured);
    float4 *to = run.zeros<float4>(n);
    run.measure([=] { kalman_kernel<<<blocks_for(n, 64), 64>>>(from, to, n); });
    const std::vector<float4> got = run.output(to, n);
    for (int i = 0; i < n; i += 19) {
        Track<double> track;
        follow(track, &measured[i], n);
        run.expect(got[i].x, track.x[0], 1e-4);
        run.expect(got[i].w, track.x[3], 1e-4);
    }
}

#endif
