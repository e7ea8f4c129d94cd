/* linear.cu - matrices, vectors, softmax, in single and in double precision.
 *
 * expect: ok
 */
#include "digest.h"

#include <cmath>

/* ---- Matrix times vector: one warp per row ---- */

enum { ROWS = 37, COLUMNS = 203 };

static __global__ void matrix_vector(const float *a, const float *x, float *y)
{
    int row = blockIdx.x * blockDim.y + threadIdx.y;
    float sum = 0;

    if (row >= ROWS)
        return;
    for (int c = threadIdx.x; c < COLUMNS; c += 32)
        sum = fmaf(a[row * COLUMNS + c], x[c], sum);
    for (int offset = 16; offset; offset /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, offset);
    if (!threadIdx.x)
        y[row] = sum;
}

/* In the same order as the lanes. */
static float row_times(const float *row, const float *x)
{
    float lanes[32] = {}, next[32];

    for (int c = 0; c < COLUMNS; c++)
        lanes[c % 32] = fmaf(row[c], x[c], lanes[c % 32]);
    for (int offset = 16; offset; offset /= 2) {
        for (int i = 0; i < 32; i++)
            next[i] = lanes[i] + lanes[i ^ offset];
        memcpy(lanes, next, sizeof lanes);
    }
    return lanes[0];
}

static void matrix_vectors()
{
    Array<float> a(ROWS * COLUMNS), x(COLUMNS), y(ROWS);
    Random random(10);

    for (int i = 0; i < ROWS * COLUMNS; i++)
        a[i] = random.real() * 1.3f;
    for (int i = 0; i < COLUMNS; i++)
        x[i] = random.real() * 0.7f;
    a.up();
    x.up();
    matrix_vector<<<(ROWS + 3) / 4, dim3(32, 4)>>>(a.device, x.device, y.device);
    y.down();
    for (int r = 0; r < ROWS; r++)
        CHECK(y[r] == row_times(a.host + r * COLUMNS, x.host));
    digest("matrix_vector", y);
}

/* ---- Matrix times matrix, tiled, for any type ---- */

enum { M = 35, K = 29, N = 41, T = 8 };

template <typename Real> static __global__ void multiply(const Real *a, const Real *b, Real *c)
{
    __shared__ Real as[T][T], bs[T][T + 1];
    int row = blockIdx.y * T + threadIdx.y, column = blockIdx.x * T + threadIdx.x;
    Real sum = 0;

    for (int k = 0; k < K; k += T) {
        int ka = k + threadIdx.x, kb = k + threadIdx.y;
        as[threadIdx.y][threadIdx.x] = row < M && ka < K ? a[row * K + ka] : 0;
        bs[threadIdx.y][threadIdx.x] = kb < K && column < N ? b[kb * N + column] : 0;
        __syncthreads();
        for (int i = 0; i < T; i++)
            sum = fma(as[threadIdx.y][i], bs[i][threadIdx.x], sum);
        __syncthreads();
    }
    if (row < M && column < N)
        c[row * N + column] = sum;
}

template <typename Real> static void products(const char *name)
{
    Array<Real> a(M * K), b(K * N), c(M * N);
    Random random(11);

    for (int i = 0; i < M * K; i++)
        a[i] = random.real() / 3;
    for (int i = 0; i < K * N; i++)
        b[i] = random.real() / 7;
    a.up();
    b.up();
    multiply<<<dim3((N + T - 1) / T, (M + T - 1) / T), dim3(T, T)>>>(a.device, b.device, c.device);
    c.down();
    for (int row = 0; row < M; row++)
        for (int column = 0; column < N; column++) {
            Real sum = 0;
            for (int k = 0; k < K; k++)
                sum = fma(a[row * K + k], b[k * N + column], sum);
            CHECK(c[row * N + column] == sum);
        }
    digest(name, c);
}

/* ---- Online softmax of rows: maximum and sum in one pass ---- */

enum { WIDTH = 300, HEIGHT = 9 };

static __global__ void softmax(const float *x, float *y)
{
    __shared__ float most[128], sums[128];
    const float *row = x + blockIdx.x * WIDTH;
    float m = -INFINITY, s = 0;
    int t = threadIdx.x;

    for (int i = t; i < WIDTH; i += blockDim.x) {
        float next = fmaxf(m, row[i]);
        s = s * expf(m - next) + expf(row[i] - next);
        m = next;
    }
    most[t] = m, sums[t] = s;
    for (int half = blockDim.x / 2; half; half /= 2) {
        __syncthreads();
        if (t < half) {
            float next = fmaxf(most[t], most[t + half]);
            sums[t] = sums[t] * expf(most[t] - next) + sums[t + half] * expf(most[t + half] - next);
            most[t] = next;
        }
    }
    __syncthreads();
    for (int i = t; i < WIDTH; i += blockDim.x)
        y[blockIdx.x * WIDTH + i] = expf(row[i] - most[0]) / sums[0];
}

static void softmaxes()
{
    Array<float> x(WIDTH * HEIGHT), y(WIDTH * HEIGHT);
    Random random(12);

    for (int i = 0; i < WIDTH * HEIGHT; i++)
        x[i] = random.real() * 10;
    x.up();
    softmax<<<HEIGHT, 128>>>(x.device, y.device);
    y.down();
    for (int r = 0; r < HEIGHT; r++) {
        double most = -INFINITY, sum = 0;
        for (int i = 0; i < WIDTH; i++)
            most = fmax(most, x[r * WIDTH + i]);
        for (int i = 0; i < WIDTH; i++)
            sum += exp(x[r * WIDTH + i] - most);
        for (int i = 0; i < WIDTH; i++) {
            double want = exp(x[r * WIDTH + i] - most) / sum;
            CHECK(fabs(y[r * WIDTH + i] - want) <= 4e-6 * want);
        }
    }
    digest_close("softmax", y);
}

/* ---- Gauss-Jordan in double precision, one block; each operation is rounded separately ---- */

enum { UNKNOWNS = 24, STRIDE = UNKNOWNS + 1 };

static __global__ void solve(double *a)
{
    int column = threadIdx.x, row = threadIdx.y;

    for (int k = 0; k < UNKNOWNS; k++) {
        double pivot = a[k * STRIDE + k], factor = row < UNKNOWNS ? a[row * STRIDE + k] : 0;
        double top = a[k * STRIDE + column];
        __syncthreads();
        double scaled = __ddiv_rn(top, pivot);
        if (row == k)
            a[k * STRIDE + column] = scaled;
        else
            a[row * STRIDE + column] = fma(-factor, scaled, a[row * STRIDE + column]);
        __syncthreads();
    }
}

static void solve_host(double *a)
{
    for (int k = 0; k < UNKNOWNS; k++) {
        double scaled[STRIDE];
        for (int c = 0; c < STRIDE; c++)
            scaled[c] = a[k * STRIDE + c] / a[k * STRIDE + k];
        for (int r = 0; r < UNKNOWNS; r++) {
            double factor = a[r * STRIDE + k];
            for (int c = 0; c < STRIDE; c++)
                a[r * STRIDE + c] = r == k ? scaled[c] : fma(-factor, scaled[c], a[r * STRIDE + c]);
        }
    }
}

static void solutions()
{
    Array<double> a(UNKNOWNS * STRIDE);
    double want[UNKNOWNS * STRIDE];
    Random random(13);

    for (int i = 0; i < UNKNOWNS * STRIDE; i++)
        want[i] = a[i] = random.real() + (i % (STRIDE + 1) == 0 ? 9 : 0);
    a.up();
    solve<<<1, dim3(STRIDE, UNKNOWNS)>>>(a.device);
    a.down();
    solve_host(want);
    for (int i = 0; i < UNKNOWNS * STRIDE; i++)
        CHECK(a[i] == want[i]);
    digest("gauss_jordan", a);
}

/* ---- A sparse matrix with one thread per row: trip counts differ between lanes ---- */

static __global__ void sparse(const int *starts, const int *columns, const long long *values,
                              const long long *x, long long *y, int rows)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    long long sum = 0;

    if (row >= rows)
        return;
    for (int i = starts[row]; i < starts[row + 1]; i++)
        sum += values[i] * x[columns[i]];
    y[row] = sum;
}

static void sparses()
{
    enum { ROWS_ = 500, MOST = ROWS_ * 12 };
    Array<int> starts(ROWS_ + 1), columns(MOST);
    Array<long long> values(MOST), x(ROWS_), y(ROWS_);
    Random random(14);

    for (int r = 0; r < ROWS_; r++) {
        int count = random.below(12);
        x[r] = (long long) random.next64() >> 20;
        starts[r + 1] = starts[r] + count;
        for (int i = 0; i < count; i++) {
            columns[starts[r] + i] = random.below(ROWS_);
            values[starts[r] + i] = (int) random.next();
        }
    }
    starts.up();
    columns.up();
    values.up();
    x.up();
    sparse<<<(ROWS_ + 63) / 64, 64>>>(starts.device, columns.device, values.device, x.device,
                                      y.device, ROWS_);
    y.down();
    for (int r = 0; r < ROWS_; r++) {
        unsigned long long sum = 0;
        for (int i = starts[r]; i < starts[r + 1]; i++)
            sum += (unsigned long long) values[i] * (unsigned long long) x[columns[i]];
        CHECK((unsigned long long) y[r] == sum);
    }
    digest("sparse", y);
}

int main()
{
    matrix_vectors();
    products<float>("product_f32");
    products<double>("product_f64");
    softmaxes();
    solutions();
    sparses();
    puts("ok");
}
