// kinds.cu - small kernels of the kinds that users write, each timed as one launch: `kinds.NAME
// us`.
//
// Nothing of the model is fitted to these rows; they show whether what was fitted elsewhere holds
// here.
#include "measure.cuh"

#include <cuda_fp16.h>

// ---- Streams ----

__global__ void saxpy(float *y, const float *x, float a, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        y[i] = a * x[i] + y[i];
}

struct Particle {
    float x, y, z, vx, vy, vz, mass, charge;
};

__global__ void move_aos(Particle *p, float dt, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i >= n)
        return;
    p[i].x += dt * p[i].vx;
    p[i].y += dt * p[i].vy;
    p[i].z += dt * p[i].vz;
}

__global__ void move_soa(float *x, float *y, float *z, const float *vx, const float *vy,
                         const float *vz, float dt, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i >= n)
        return;
    x[i] += dt * vx[i];
    y[i] += dt * vy[i];
    z[i] += dt * vz[i];
}

__global__ void half_stream(__half2 *out, const __half2 *in, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    __half2 x = in[i % n];

#pragma unroll
    for (int k = 0; k < 32; k++)
        x = __hfma2(x, in[0], x);
    out[i] = x;
}

// Two chains of a hundred steps in registers.
__global__ void half_chain(__half2 *out, __half2 a, __half2 b, int steps)
{
    __half2 x = __float2half2_rn(threadIdx.x * 0.001f), y = __float2half2_rn(0.5f);

    for (int k = 0; k < steps; k++) {
        x = __hfma2(x, a, b);
        y = __hfma2(y, a, b);
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = __hadd2(x, y);
}

// ---- Histograms ----

__global__ void hist_global(unsigned *bins, const unsigned char *in, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&bins[in[i]], 1u);
}

__global__ void hist_shared(unsigned *bins, const unsigned char *in, int n)
{
    __shared__ unsigned own[256];

    for (int i = threadIdx.x; i < 256; i += blockDim.x)
        own[i] = 0;
    __syncthreads(); // separates clearing the bins from counting
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&own[in[i]], 1u);
    __syncthreads(); // separates counting from adding up
    for (int i = threadIdx.x; i < 256; i += blockDim.x)
        atomicAdd(&bins[i], own[i]);
}

// Each thread counts 64 values into an array of its own.
__global__ void hist_local(unsigned *out, const unsigned char *in)
{
    const int thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
    unsigned char own[64];
    unsigned most = 0;

    for (int i = 0; i < 64; i++)
        own[i] = 0;
    for (int i = 0; i < 64; i++)
        own[in[thread + i * threads] & 63]++;
    for (int i = 0; i < 64; i++)
        most = own[i] > most ? own[i] : most;
    out[thread] = most;
}

// ---- Gathers ----

__global__ void gather(float *out, const float *in, const unsigned *index, unsigned mask, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        out[i] = in[index[i] & mask];
}

// ---- Arithmetic ----

__global__ void dgemm(double *c, const double *a, const double *b, int n)
{
    __shared__ double as[16][16], bs[16][17];
    const int col = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
    double sum = 0;

    for (int t = 0; t < n; t += 16) {
        as[threadIdx.y][threadIdx.x] = a[row * n + t + threadIdx.x];
        bs[threadIdx.y][threadIdx.x] = b[(t + threadIdx.y) * n + col];
        __syncthreads(); // the tiles are complete before they are read
        for (int k = 0; k < 16; k++)
            sum += as[threadIdx.y][k] * bs[k][threadIdx.x];
        __syncthreads(); // they have been read before they are replaced
    }
    c[row * n + col] = sum;
}

__global__ void nbody(float4 *force, const float4 *body, int n)
{
    __shared__ float4 tile[128];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float4 me = body[i];
    float x = 0, y = 0, z = 0;

    for (int t = 0; t < n; t += 128) {
        tile[threadIdx.x] = body[t + threadIdx.x];
        __syncthreads(); // the tile is complete before it is read
#pragma unroll 8
        for (int k = 0; k < 128; k++) {
            const float dx = tile[k].x - me.x, dy = tile[k].y - me.y, dz = tile[k].z - me.z;
            const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + 1e-4f);
            const float s = tile[k].w * inverse * inverse * inverse;
            x += dx * s;
            y += dy * s;
            z += dz * s;
        }
        __syncthreads(); // it has been read before it is replaced
    }
    force[i] = make_float4(x, y, z, 0);
}

__device__ static float normal(float d)
{
    const float k = 1 / (1 + 0.2316419f * fabsf(d));
    const float tail =
        0.39894228f * expf(-0.5f * d * d) *
        (k * (0.31938153f +
              k * (-0.35656378f + k * (1.7814779f + k * (-1.8212559f + k * 1.3302744f)))));

    return d > 0 ? 1 - tail : tail;
}

__global__ void black_scholes(float *call, float *put, const float *price, const float *strike,
                              const float *years, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i >= n)
        return;
    const float rate = 0.02f, volatility = 0.3f, s = price[i], x = strike[i], t = years[i];
    const float root = sqrtf(t), d1 = (logf(s / x) + (rate + 0.5f * volatility * volatility) * t) /
                                      (volatility * root);
    const float d2 = d1 - volatility * root, discount = expf(-rate * t);
    call[i] = s * normal(d1) - x * discount * normal(d2);
    put[i] = x * discount * (1 - normal(d2)) - s * (1 - normal(d1));
}

__global__ void matvec_thread(float *y, const float *a, const float *x, int n)
{
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;

    for (int k = 0; k < n; k++)
        sum += a[(size_t) row * n + k] * x[k];
    y[row] = sum;
}

__global__ void matvec_warp(float *y, const float *a, const float *x, int n)
{
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    float sum = 0;

    for (int k = lane; k < n; k += 32)
        sum += a[(size_t) row * n + k] * x[k];
    for (int d = 16; d; d /= 2)
        sum += __shfl_down_sync(~0u, sum, d);
    if (lane == 0)
        y[row] = sum;
}

__global__ void sines(float *out, int n)
{
    float x = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;

    for (int k = 0; k < n; k++) {
        sum += __sinf(x);
        x += 0.01f;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// ---- Data ----

__global__ void fill_random(unsigned *words, size_t count)
{
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count;
         i += (size_t) gridDim.x * blockDim.x)
        words[i] = mixed((unsigned) i);
}

__global__ void fill_floats(float *words, size_t count)
{
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count;
         i += (size_t) gridDim.x * blockDim.x)
        words[i] = 1 + (float) (mixed((unsigned) i) % 1000) / 100;
}

template <class Launch> static void kernel(const char *name, Launch launch)
{
    char full[64];

    snprintf(full, sizeof full, "kinds.%s", name);
    if (is_wanted(name))
        row(full, timed(launch) / 1e3, "us");
}

int main(int argc, char **argv)
{
    const size_t words = (size_t) 1 << 24;
    const int n = 1 << 22;
    float *a, *b, *c;
    unsigned *index;

    open(argc, argv);
    a = array<float>(words), b = array<float>(words), c = array<float>(words);
    index = array<unsigned>(n);
    fill_floats<<<1024, 256>>>(a, words);
    fill_floats<<<1024, 256>>>(b, words);
    fill_floats<<<1024, 256>>>(c, words);
    fill_random<<<1024, 256>>>(index, n);
    check(cudaDeviceSynchronize());

    kernel("saxpy", [=] { saxpy<<<2 * n / 256, 256>>>(b, a, 2.5f, 2 * n); });
    kernel("aos", [=] { move_aos<<<n / 2 / 256, 256>>>((Particle *) a, 0.01f, n / 2); });
    kernel("soa", [=] {
        move_soa<<<n / 2 / 256, 256>>>(b, b + n, b + 2 * n, c, c + n, c + 2 * n, 0.01f, n / 2);
    });
    kernel("half_stream",
           [=] { half_stream<<<n / 256, 256>>>((__half2 *) b, (const __half2 *) a, n); });
    kernel("half_chain", [=] {
        half_chain<<<8 * 132, 256>>>((__half2 *) b, __float2half2_rn(0.9f), __float2half2_rn(0.1f),
                                     512);
    });
    kernel("hist_global", [=] {
        hist_global<<<512, 256>>>((unsigned *) c, (const unsigned char *) index, 1 << 19);
    });
    kernel("hist_shared", [=] {
        hist_shared<<<512, 256>>>((unsigned *) c, (const unsigned char *) index, 1 << 23);
    });
    kernel("hist_local",
           [=] { hist_local<<<512, 256>>>((unsigned *) c, (const unsigned char *) index); });
    kernel("gather_64MB", [=] { gather<<<n / 256, 256>>>(b, a, index, (1 << 24) - 1, n); });
    kernel("gather_8MB", [=] { gather<<<n / 256, 256>>>(b, a, index, (1 << 21) - 1, n); });
    kernel("gather_32KB", [=] { gather<<<n / 256, 256>>>(b, a, index, (1 << 13) - 1, n); });
    kernel("dgemm", [=] {
        dgemm<<<dim3(32, 32), dim3(16, 16)>>>((double *) c, (double *) a, (double *) b, 512);
    });
    kernel("nbody", [=] { nbody<<<32, 128>>>((float4 *) c, (const float4 *) a, 4096); });
    kernel("black_scholes",
           [=] { black_scholes<<<n / 4 / 256, 256>>>(b, b + n, a, a + n, a + 2 * n, n / 4); });
    kernel("matvec_thread", [=] { matvec_thread<<<16, 256>>>(b, a, c, 1024); });
    kernel("matvec_warp", [=] { matvec_warp<<<512, 256>>>(b, a, c, 1024); });
    kernel("sines", [=] { sines<<<1056, 256>>>(b, 64); });
    return 0;
}
