/* memories.cu - structs by value, constant and dynamic shared memory, local arrays, cp.async.
 *
 * expect: ok
 */
#include "digest.h"

#include <cuda_pipeline.h>

enum { THREADS = 96, N = THREADS * 5 };

/* ---- Structs as arguments: padded, indexed, modified, by reference ---- */

struct Inner {
    short a[3];
    char b;
};

struct Outer {
    double x[4];
    Inner inner[2];
    unsigned char flags[5];
    float3 f;
};

static __host__ __device__ double use(const Outer &o, int i)
{
    return o.x[i % 4] * o.inner[i & 1].a[i % 3] + o.inner[i / 2 & 1].b + o.flags[i % 5] + o.f.y;
}

static __global__ void by_value(char before, Outer o, short after, double *y)
{
    int i = threadIdx.x;

    o.x[i % 4] += i; /* changes only the thread's copy */
    y[i] = use(o, i) + before * 100 + after;
}

static __global__ void by_constant(const __grid_constant__ Outer o, double *y)
{
    const Outer *address = &o;

    y[threadIdx.x] = use(address[threadIdx.x / THREADS], threadIdx.x);
}

static void structs()
{
    Array<double> y(THREADS);
    Outer o = { { 1, 2, 3, 4 },
                { { { 5, 6, 7 }, 8 }, { { -9, 10, -11 }, -12 } },
                { 250, 2, 3, 4, 5 },
                { .5f, .25f, .125f } };

    by_value<<<1, THREADS>>>(-3, o, 1000, y.device);
    y.down();
    for (int i = 0; i < THREADS; i++) {
        Outer own = o;
        own.x[i % 4] += i;
        CHECK(y[i] == use(own, i) - 300 + 1000);
    }
    digest("by_value", y);
    by_constant<<<1, THREADS>>>(o, y.device);
    y.down();
    for (int i = 0; i < THREADS; i++)
        CHECK(y[i] == use(o, i));
}

/* ---- Several arrays in dynamic shared memory ---- */

static __global__ void three_arrays(const int *x, int *y, int doubles, int ints)
{
    extern __shared__ double memory[];
    double *a = memory;
    int *b = (int *) (a + doubles);
    unsigned char *c = (unsigned char *) (b + ints);
    int t = threadIdx.x;

    for (int i = t; i < doubles; i += THREADS)
        a[i] = x[i] / 2.0;
    for (int i = t; i < ints; i += THREADS)
        b[i] = x[i] * 3;
    c[t] = (unsigned char) x[t];
    __syncthreads();
    y[t] = (int) (a[doubles - 1 - t % doubles] * 4) + b[(t + 7) % ints] + c[THREADS - 1 - t];
}

static void dynamic(Array<int> &x)
{
    Array<int> y(THREADS);
    const int doubles = 33, ints = 71;

    three_arrays<<<1, THREADS, doubles * 8 + ints * 4 + THREADS>>>(x.device, y.device, doubles,
                                                                   ints);
    y.down();
    for (int t = 0; t < THREADS; t++)
        CHECK(y[t] == x[doubles - 1 - t % doubles] * 2 + x[(t + 7) % ints] * 3 +
                          (unsigned char) x[THREADS - 1 - t]);
    digest("three_arrays", y);
}

/* ---- Local arrays with a run-time index ---- */

static __host__ __device__ int jumble(const int *x, int i)
{
    int own[24], sum = 0;
    unsigned char seen[24] = {};

    for (int k = 0; k < 24; k++)
        own[k] = x[(i + k) % N];
    for (int k = 0; k < 24; k++) {
        int other = (unsigned) own[k] % 24, value = own[k];
        own[k] = own[other];
        own[other] = value;
        seen[other]++;
    }
    for (int k = 0; k < 24; k++)
        sum = sum * 31 + own[k] + seen[k];
    return sum;
}

static __global__ void local(const int *x, int *y)
{
    int i = blockIdx.x * THREADS + threadIdx.x;

    y[i] = jumble(x, i);
}

static void locals(Array<int> &x)
{
    Array<int> y(N);

    local<<<N / THREADS, THREADS>>>(x.device, y.device);
    y.down();
    for (int i = 0; i < N; i++)
        CHECK(y[i] == jumble(x.host, i));
    digest("local", y);
}

/* ---- Variables: constant, initialised or filled at run time; global; pointers to them ---- */

static __constant__ int table[8] = { 3, 1, 4, 1, 5, 9, 2, 6 };
static __constant__ struct {
    float scale;
    const int *from;
} settings;
static __device__ int counter = 40, grid_table[2][3] = { { 1, 2, 3 }, { 4, 5, 6 } };
static __device__ const int *const names[] = { grid_table[1], &counter };

static __global__ void variables(int *y)
{
    int t = threadIdx.x;

    y[t] =
        table[t % 8] * 1000 + (int) (settings.scale * settings.from[t]) + grid_table[t & 1][t % 3];
    if (t == 5)
        y[t] = *names[0] + *names[1];
    __syncthreads(); // after thread 5 has read the counter
    atomicAdd(&counter, 2);
}

static void symbols(Array<int> &x)
{
    Array<int> y(THREADS);
    struct {
        float scale;
        const int *from;
    } host = { 2.5f, x.device };
    int count = 0;

    OK(cudaMemcpyToSymbol(settings, &host, sizeof host));
    variables<<<1, THREADS>>>(y.device);
    y.down();
    OK(cudaMemcpyFromSymbol(&count, counter, sizeof count));
    CHECK(count == 40 + 2 * THREADS);
    static const int digits[8] = { 3, 1, 4, 1, 5, 9, 2, 6 };
    for (int t = 0; t < THREADS; t++) {
        int want = digits[t % 8] * 1000 + (int) (2.5f * x[t]) + 1 + t % 3 + 3 * (t & 1);
        CHECK(y[t] == (t == 5 ? 44 : want));
    }
    digest("symbols", y);
}

/* ---- cp.async: two stages ahead, with zero fill for the last lanes ---- */

static __global__ void pipelined(const int4 *x, int4 *y, int n)
{
    enum { STAGES = 3 };
    __shared__ int4 part[STAGES][THREADS];
    int t = threadIdx.x, rounds = (n + THREADS - 1) / THREADS;
    int4 sum = make_int4(0, 0, 0, 0);

    for (int r = 0; r < rounds + STAGES - 1; r++) {
        if (r < rounds) {
            int i = r * THREADS + t;
            __pipeline_memcpy_async(&part[r % STAGES][t], &x[i < n ? i : 0], 16, i < n ? 0 : 16);
        }
        __pipeline_commit();
        __pipeline_wait_prior(STAGES - 1);
        __syncthreads();
        int done = r - (STAGES - 1);
        if (done >= 0) {
            int4 a = part[done % STAGES][t], b = part[done % STAGES][THREADS - 1 - t];
            sum.x += a.x * 3 + b.w, sum.y ^= a.y, sum.z += b.z, sum.w -= a.w;
        }
        __syncthreads();
    }
    y[t] = sum;
}

static void pipelines(Array<int> &x)
{
    Array<int4> y(THREADS);
    const int n = N / 4, rounds = (n + THREADS - 1) / THREADS;

    pipelined<<<1, THREADS>>>((const int4 *) x.device, y.device, n);
    y.down();
    for (int t = 0; t < THREADS; t++) {
        int4 want = make_int4(0, 0, 0, 0);
        for (int r = 0; r < rounds; r++) {
            int i = r * THREADS + t, j = r * THREADS + THREADS - 1 - t;
            const int none[4] = {}, *a = i < n ? x.host + 4 * i : none,
                      *b = j < n ? x.host + 4 * j : none;
            want.x += a[0] * 3 + b[3], want.y ^= a[1], want.z += b[2], want.w -= a[3];
        }
        CHECK(!memcmp(&want, &y[t], sizeof want));
    }
    digest("cp_async", y);
}

/* ---- Accesses of all widths, with hints ---- */

static __global__ void hinted(const int *x, int *y)
{
    int t = threadIdx.x;
    int2 two = __ldg((const int2 *) x + t);
    int4 four = __ldcs((const int4 *) x + t);
    int sum = two.x + four.w + __ldcg(x + t) - __ldca(x + t) + __ldlu(x + t) - __ldcv(x + t);

    sum += ((const short *) x)[t] + ((const signed char *) x)[t] - ((const unsigned short *) x)[t];
    __stcg(y + t, sum);
    __stwb((unsigned char *) (y + THREADS) + t, (unsigned char) sum);
    __stcs((short2 *) (y + 2 * THREADS) + t, make_short2((short) sum, (short) two.y));
}

static void hints(Array<int> &x)
{
    Array<int> y(3 * THREADS);

    y.clear();
    hinted<<<1, THREADS>>>(x.device, y.device);
    y.down();
    for (int t = 0; t < THREADS; t++) {
        int sum = x[2 * t] + x[4 * t + 3] + ((short *) x.host)[t] + ((signed char *) x.host)[t] -
                  ((unsigned short *) x.host)[t];
        CHECK(y[t] == sum && ((unsigned char *) &y[THREADS])[t] == (unsigned char) sum);
        CHECK(((short *) &y[2 * THREADS])[2 * t + 1] == (short) x[2 * t + 1]);
    }
    digest("hints", y);
}

int main()
{
    Array<int> x(N);
    Random random(40);

    for (int i = 0; i < N; i++)
        x[i] = (int) random.below(2000001) - 1000000;
    x.up();
    structs();
    dynamic(x);
    locals(x);
    symbols(x);
    pipelines(x);
    hints(x);
    puts("ok");
}
