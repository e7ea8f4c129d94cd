/* grids.cu - stencils, convolution, Mandelbrot, the Game of Life, n-body.
 *
 * expect: ok
 */
#include "digest.h"

#include <cmath>

enum { W = 100, H = 70, TILE = 16 };
static const dim3 tiles((W + TILE - 1) / TILE, (H + TILE - 1) / TILE), tile(TILE, TILE);

/* ---- Five points, with a halo in shared memory ---- */

static __global__ void stencil(const float *x, float *y)
{
    __shared__ float part[TILE + 2][TILE + 2];
    int column = blockIdx.x * TILE + threadIdx.x, row = blockIdx.y * TILE + threadIdx.y;

    for (int r = threadIdx.y; r < TILE + 2; r += TILE)
        for (int c = threadIdx.x; c < TILE + 2; c += TILE) {
            int from_row = blockIdx.y * TILE + r - 1, from_column = blockIdx.x * TILE + c - 1;
            bool inside = from_row >= 0 && from_row < H && from_column >= 0 && from_column < W;
            part[r][c] = inside ? x[from_row * W + from_column] : 0;
        }
    __syncthreads();
    if (column >= W || row >= H)
        return;
    float(*at)[TILE + 2] = part;
    int r = threadIdx.y + 1, c = threadIdx.x + 1;
    y[row * W + column] =
        0.5f * at[r][c] + 0.125f * (at[r - 1][c] + at[r + 1][c] + at[r][c - 1] + at[r][c + 1]);
}

static float at_or_zero(const float *x, int row, int column)
{
    return row < 0 || row >= H || column < 0 || column >= W ? 0 : x[row * W + column];
}

/* The values are multiples of 2^-16 and of 2^-3: all sums are exact, with or without fused
 * multiply-adds. */
static void stencils()
{
    Array<float> x(W * H), y(W * H);
    Random random(3);

    for (int i = 0; i < W * H; i++)
        x[i] = random.real();
    x.up();
    stencil<<<tiles, tile>>>(x.device, y.device);
    y.down();
    for (int r = 0; r < H; r++)
        for (int c = 0; c < W; c++)
            CHECK(y[r * W + c] ==
                  0.5f * x[r * W + c] +
                      0.125f * (at_or_zero(x.host, r - 1, c) + at_or_zero(x.host, r + 1, c) +
                                at_or_zero(x.host, r, c - 1) + at_or_zero(x.host, r, c + 1)));
    digest("stencil", y);
}

/* ---- Convolution with weights in constant memory ---- */

enum { RADIUS = 2, TAPS = 2 * RADIUS + 1 };
static __constant__ float weights[TAPS * TAPS];

static __global__ void convolve(const float *x, float *y)
{
    int column = blockIdx.x * TILE + threadIdx.x, row = blockIdx.y * TILE + threadIdx.y;
    float sum = 0;

    if (column >= W || row >= H)
        return;
    for (int r = -RADIUS; r <= RADIUS; r++)
        for (int c = -RADIUS; c <= RADIUS; c++) {
            int from_row = min(max(row + r, 0), H - 1),
                from_column = min(max(column + c, 0), W - 1);
            sum =
                fmaf(weights[(r + RADIUS) * TAPS + c + RADIUS], x[from_row * W + from_column], sum);
        }
    y[row * W + column] = sum;
}

static int clamped(int i, int n)
{
    return i < 0 ? 0 : i >= n ? n - 1 : i;
}

static void convolutions()
{
    Array<float> x(W * H), y(W * H);
    float w[TAPS * TAPS];
    Random random(4);

    for (float &each : w)
        each = random.real() * 0.7f;
    for (int i = 0; i < W * H; i++)
        x[i] = random.real() * 1.1f;
    x.up();
    OK(cudaMemcpyToSymbol(weights, w, sizeof w));
    convolve<<<tiles, tile>>>(x.device, y.device);
    y.down();
    for (int row = 0; row < H; row++)
        for (int column = 0; column < W; column++) {
            float sum = 0;
            for (int r = -RADIUS; r <= RADIUS; r++)
                for (int c = -RADIUS; c <= RADIUS; c++)
                    sum = fmaf(w[(r + RADIUS) * TAPS + c + RADIUS],
                               x[clamped(row + r, H) * W + clamped(column + c, W)], sum);
            CHECK(y[row * W + column] == sum);
        }
    digest("convolution", y);
}

/* ---- Mandelbrot: each lane stops after a different number of iterations ---- */

static int escape(double re, double im)
{
    double x = 0, y = 0;
    int n = 0;

    for (; n < 100; n++) {
        double xx = x * x, yy = y * y;
        if (xx + yy > 4)
            break;
        y = fma(2 * x, y, im);
        x = xx - yy + re;
    }
    return n;
}

/* Inexact operations are rounded as on the host. */
static __global__ void mandelbrot(int *y)
{
    int column = blockIdx.x * TILE + threadIdx.x, row = blockIdx.y * TILE + threadIdx.y;
    double re = __dadd_rn(__dmul_rn(column, 0.03125), -2), im = __dadd_rn(row * 0.03125, -1);
    double u = 0, v = 0;
    int n = 0;

    if (column >= W || row >= H)
        return;
    for (; n < 100; n++) {
        double uu = __dmul_rn(u, u), vv = __dmul_rn(v, v);
        if (__dadd_rn(uu, vv) > 4)
            break;
        v = fma(2 * u, v, im);
        u = __dadd_rn(__dsub_rn(uu, vv), re);
    }
    y[row * W + column] = n;
}

static void mandelbrots()
{
    Array<int> y(W * H);

    mandelbrot<<<tiles, tile>>>(y.device);
    y.down();
    for (int r = 0; r < H; r++)
        for (int c = 0; c < W; c++)
            CHECK(y[r * W + c] == escape(c * 0.03125 - 2, r * 0.03125 - 1));
    digest("mandelbrot", y);
}

/* ---- Game of Life, on a torus ---- */

__host__ __device__ static uint8_t lives(const uint8_t *x, int row, int column)
{
    int around = 0;

    for (int r = H - 1; r <= H + 1; r++)
        for (int c = W - 1; c <= W + 1; c++)
            around += x[(row + r) % H * W + (column + c) % W];
    around -= x[row * W + column];
    return around == 3 || (around == 2 && x[row * W + column]);
}

static __global__ void life(const uint8_t *x, uint8_t *y)
{
    int column = blockIdx.x * TILE + threadIdx.x, row = blockIdx.y * TILE + threadIdx.y;

    if (column < W && row < H)
        y[row * W + column] = lives(x, row, column);
}

static void lifes()
{
    Array<uint8_t> x(W * H), y(W * H);
    static uint8_t want[2][W * H];
    Random random(5);

    for (int i = 0; i < W * H; i++)
        want[0][i] = x[i] = random.below(3) == 0;
    x.up();
    for (int generation = 0; generation < 10; generation++) {
        bool odd = generation & 1;
        life<<<tiles, tile>>>(odd ? y.device : x.device, odd ? x.device : y.device);
        for (int i = 0; i < W * H; i++)
            want[!odd][i] = lives(want[odd], i / W, i % W);
    }
    x.down();
    CHECK(!memcmp(x.host, want[0], W * H));
    digest("life", x);
}

/* ---- n-body: tiles of bodies in shared memory ---- */

enum { BODIES = 192, GROUP = 64 };

static __global__ void accelerate(const float4 *bodies, float3 *out)
{
    __shared__ float4 others[GROUP];
    float4 me = bodies[blockIdx.x * GROUP + threadIdx.x];
    float3 sum = make_float3(0, 0, 0);

    for (int first = 0; first < BODIES; first += GROUP) {
        others[threadIdx.x] = bodies[first + threadIdx.x];
        __syncthreads();
        for (int j = 0; j < GROUP; j++) {
            float x = others[j].x - me.x, y = others[j].y - me.y, z = others[j].z - me.z;
            float d = fmaf(x, x, fmaf(y, y, fmaf(z, z, 0.01f)));
            float root = __fsqrt_rn(d), f = __fdiv_rn(others[j].w, __fmul_rn(d, root));
            sum.x = fmaf(x, f, sum.x), sum.y = fmaf(y, f, sum.y), sum.z = fmaf(z, f, sum.z);
        }
        __syncthreads();
    }
    out[blockIdx.x * GROUP + threadIdx.x] = sum;
}

static float3 pulled(Array<float4> &bodies, int i)
{
    float3 sum = make_float3(0, 0, 0);
    float4 me = bodies[i];

    for (int j = 0; j < BODIES; j++) {
        float4 other = bodies[j];
        float x = other.x - me.x, y = other.y - me.y, z = other.z - me.z;
        float d = fmaf(x, x, fmaf(y, y, fmaf(z, z, 0.01f)));
        float root = sqrtf(d), cube = d * root, f = other.w / cube;
        sum.x = fmaf(x, f, sum.x), sum.y = fmaf(y, f, sum.y), sum.z = fmaf(z, f, sum.z);
    }
    return sum;
}

static void bodies()
{
    Array<float4> x(BODIES);
    Array<float3> y(BODIES);
    Random random(6);

    for (int i = 0; i < BODIES; i++)
        x[i] = make_float4(random.real(), random.real(), random.real(), 1 + random.real());
    x.up();
    accelerate<<<BODIES / GROUP, GROUP>>>(x.device, y.device);
    y.down();
    for (int i = 0; i < BODIES; i++) {
        float3 want = pulled(x, i);
        CHECK(!memcmp(&y[i], &want, sizeof want));
    }
    digest("nbody", y);
}

int main()
{
    stencils();
    convolutions();
    mandelbrots();
    lifes();
    bodies();
    puts("ok");
}
