// streaming.cuh - kernels that read and write arrays once: SAXPY, copies, strides, structures,
// matrices.
#ifndef BLIND_STREAMING_CUH
#define BLIND_STREAMING_CUH

#include "blind.cuh"

// ---- SAXPY and copies ----

__global__ void saxpy_kernel(int n, float a, const float *x, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = a * x[i] + y[i];
}

__global__ void saxpy_stride_kernel(int n, float a, const float *x, float *y)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        y[i] = a * x[i] + y[i];
}

// The output of one launch on fresh inputs.
template <class Launch> static void saxpy_on(Run &run, int n, Launch launch)
{
    const std::vector<float> x = floats(n, 1), y = floats(n, 2);
    float *dx = run.upload(x), *start = run.upload(y), *dy = run.zeros<float>(n);
    run.measure([=] { launch(dx, dy); },
                [=] { CHECK(cudaMemcpy(dy, start, n * sizeof(float), cudaMemcpyDeviceToDevice)); });
    run.expect_all(
        run.output(dy, n), [&](size_t i) { return 2.5f * x[i] + y[i]; }, 1e-6);
}

static void saxpy(Run &run)
{
    const int n = 6 << 20;
    saxpy_on(run, n,
             [=](float *x, float *y) { saxpy_kernel<<<blocks_for(n, 256), 256>>>(n, 2.5f, x, y); });
}

static void saxpy_grid_stride(Run &run)
{
    const int n = 6 << 20;
    saxpy_on(run, n, [=](float *x, float *y) { saxpy_stride_kernel<<<264, 512>>>(n, 2.5f, x, y); });
}

template <class T> __global__ void copy_kernel(const T *in, T *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i];
}

template <class T> static void copy_as(Run &run, size_t bytes)
{
    const std::vector<uint32_t> in = words(bytes / 4, 3);
    const int n = (int) (bytes / sizeof(T));
    uint32_t *from = run.upload(in), *to = run.zeros<uint32_t>(bytes / 4);
    run.measure(
        [=] { copy_kernel<T><<<blocks_for(n, 256), 256>>>((const T *) from, (T *) to, n); });
    run.expect_all(
        run.output(to, bytes / 4), [&](size_t i) { return in[i]; }, 0);
}

static void copy_int4(Run &run)
{
    copy_as<int4>(run, 48 << 20);
}

static void copy_bytes(Run &run)
{
    copy_as<unsigned char>(run, 6 << 20);
}

__global__ void strided_kernel(const float *in, float *out, int n, int stride)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[(size_t) i * stride] + 1.0f;
}

static void strided(Run &run, int stride)
{
    const int n = 2 << 20;
    const std::vector<float> in = floats((size_t) n * stride, 4);
    float *from = run.upload(in), *to = run.zeros<float>(n);
    run.measure([=] { strided_kernel<<<blocks_for(n, 256), 256>>>(from, to, n, stride); });
    run.expect_all(
        run.output(to, n), [&](size_t i) { return in[i * stride] + 1.0f; }, 0);
}

static void strided_2(Run &run)
{
    strided(run, 2);
}

static void strided_17(Run &run)
{
    strided(run, 17);
}

// ---- Arrays of structures ----

struct Particle {
    float x, y, z, vx, vy, vz, mass;
    int kind;
};

__global__ void push_aos_kernel(Particle *p, int n, float dt)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    p[i].x += p[i].vx * dt;
    p[i].y += p[i].vy * dt;
    p[i].z += p[i].vz * dt;
}

__global__ void push_soa_kernel(float *x, float *y, float *z, const float *vx, const float *vy,
                                const float *vz, int n, float dt)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    x[i] += vx[i] * dt;
    y[i] += vy[i] * dt;
    z[i] += vz[i] * dt;
}

enum { PARTICLES = 1 << 20 };

static void particles_aos(Run &run)
{
    const std::vector<float> raw = floats((size_t) PARTICLES * 8, 5);
    float *start = run.upload(raw), *p = run.zeros<float>(raw.size());
    run.measure(
        [=] {
            push_aos_kernel<<<blocks_for(PARTICLES, 256), 256>>>((Particle *) p, PARTICLES, 0.1f);
        },
        [=] { CHECK(cudaMemcpy(p, start, (size_t) PARTICLES * 32, cudaMemcpyDeviceToDevice)); });
    run.expect_all(
        run.output(p, raw.size()),
        [&](size_t i) { return i % 8 < 3 ? raw[i] + raw[i + 3] * 0.1f : raw[i]; }, 1e-6);
}

static void particles_soa(Run &run)
{
    const size_t n = PARTICLES;
    const std::vector<float> raw = floats(n * 6, 6);
    float *start = run.upload(raw), *p = run.zeros<float>(raw.size());
    run.measure(
        [=] {
            push_soa_kernel<<<blocks_for(n, 256), 256>>>(p, p + n, p + 2 * n, p + 3 * n, p + 4 * n,
                                                         p + 5 * n, (int) n, 0.1f);
        },
        [=] { CHECK(cudaMemcpy(p, start, n * 24, cudaMemcpyDeviceToDevice)); });
    run.expect_all(
        run.output(p, 3 * n), [&](size_t i) { return raw[i] + raw[i + 3 * n] * 0.1f; }, 1e-6);
}

// ---- Transposes ----

__global__ void transpose_naive_kernel(const float *in, float *out, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height)
        out[(size_t) x * height + y] = in[(size_t) y * width + x];
}

template <int PITCH>
__global__ void transpose_shared_kernel(const float *in, float *out, int width, int height)
{
    __shared__ float tile[32][PITCH];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;

    for (int j = 0; j < 32; j += 8)
        tile[threadIdx.y + j][threadIdx.x] = in[(size_t) (y + j) * width + x];
    __syncthreads(); // the tile is complete
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        out[(size_t) (y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}

template <class Launch> static void transpose(Run &run, Launch launch)
{
    const int width = 2048, height = 1536;
    const std::vector<float> in = floats((size_t) width * height, 7);
    float *from = run.upload(in), *to = run.zeros<float>(in.size());
    run.measure([=] { launch(from, to, width, height); });
    run.expect_all(
        run.output(to, in.size()), [&](size_t i) { return in[i % height * width + i / height]; },
        0);
}

static void transpose_naive(Run &run)
{
    transpose(run, [](float *in, float *out, int w, int h) {
        transpose_naive_kernel<<<dim3(w / 16, h / 16), dim3(16, 16)>>>(in, out, w, h);
    });
}

static void transpose_conflicts(Run &run)
{
    transpose(run, [](float *in, float *out, int w, int h) {
        transpose_shared_kernel<32><<<dim3(w / 32, h / 32), dim3(32, 8)>>>(in, out, w, h);
    });
}

static void transpose_padded(Run &run)
{
    transpose(run, [](float *in, float *out, int w, int h) {
        transpose_shared_kernel<33><<<dim3(w / 32, h / 32), dim3(32, 8)>>>(in, out, w, h);
    });
}

// ---- Matrix times vector ----

__global__ void matvec_thread_kernel(const float *a, const float *x, float *y, int rows, int cols)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    float sum = 0;
    for (int c = 0; c < cols; c++)
        sum += a[(size_t) row * cols + c] * x[c];
    y[row] = sum;
}

__global__ void matvec_warp_kernel(const float *a, const float *x, float *y, int rows, int cols)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows)
        return;
    float sum = 0;
    for (int c = lane; c < cols; c += 32)
        sum += a[(size_t) row * cols + c] * x[c];
    for (int d = 16; d; d /= 2)
        sum += __shfl_down_sync(~0u, sum, d);
    if (lane == 0)
        y[row] = sum;
}

template <class Launch> static void matvec(Run &run, Launch launch)
{
    const int rows = 8192, cols = 1024;
    const std::vector<float> a = floats((size_t) rows * cols, 8), x = floats(cols, 9);
    float *da = run.upload(a), *dx = run.upload(x), *dy = run.zeros<float>(rows);
    run.measure([=] { launch(da, dx, dy, rows, cols); });
    run.expect_all(
        run.output(dy, rows),
        [&](size_t r) {
            double sum = 0;
            for (int c = 0; c < cols; c++)
                sum += (double) a[r * cols + c] * x[c];
            return sum;
        },
        1e-4, 7);
}

static void matvec_thread(Run &run)
{
    matvec(run, [](float *a, float *x, float *y, int rows, int cols) {
        matvec_thread_kernel<<<blocks_for(rows, 128), 128>>>(a, x, y, rows, cols);
    });
}

static void matvec_warp(Run &run)
{
    matvec(run, [](float *a, float *x, float *y, int rows, int cols) {
        matvec_warp_kernel<<<blocks_for((size_t) rows * 32, 256), 256>>>(a, x, y, rows, cols);
    });
}

#endif
