// stencils.cuh - kernels on grids: heat in two and three dimensions, convolutions, the game of
// life.
#ifndef BLIND_STENCILS_CUH
#define BLIND_STENCILS_CUH

#include "blind.cuh"

// ---- Five points in two dimensions ----

__global__ void heat2d_kernel(const float *in, float *out, int nx, int ny)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x <= 0 || y <= 0 || x >= nx - 1 || y >= ny - 1)
        return;
    int i = y * nx + x;
    out[i] = in[i] + 0.2f * (in[i - 1] + in[i + 1] + in[i - nx] + in[i + nx] - 4.0f * in[i]);
}

__global__ void heat2d_tiled_kernel(const float *in, float *out, int nx, int ny)
{
    __shared__ float tile[18][34];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    int tx = threadIdx.x + 1, ty = threadIdx.y + 1;

    if (x < nx && y < ny) {
        tile[ty][tx] = in[y * nx + x];
        if (threadIdx.x == 0 && x > 0)
            tile[ty][0] = in[y * nx + x - 1];
        if (threadIdx.x == 31 && x < nx - 1)
            tile[ty][33] = in[y * nx + x + 1];
        if (threadIdx.y == 0 && y > 0)
            tile[0][tx] = in[(y - 1) * nx + x];
        if (threadIdx.y == 15 && y < ny - 1)
            tile[17][tx] = in[(y + 1) * nx + x];
    }
    __syncthreads(); // the tile and its edges are complete
    if (x > 0 && y > 0 && x < nx - 1 && y < ny - 1)
        out[y * nx + x] =
            tile[ty][tx] + 0.2f * (tile[ty][tx - 1] + tile[ty][tx + 1] + tile[ty - 1][tx] +
                                   tile[ty + 1][tx] - 4.0f * tile[ty][tx]);
}

template <class Launch> static void heat2d(Run &run, Launch launch)
{
    const int nx = 2000, ny = 1504;
    const std::vector<float> in = floats((size_t) nx * ny, 11);
    float *from = run.upload(in), *to = run.zeros<float>(in.size());
    run.measure([=] { launch(from, to, nx, ny); });
    run.expect_all(
        run.output(to, in.size()),
        [&](size_t i) {
            int x = (int) (i % nx), y = (int) (i / nx);
            if (x == 0 || y == 0 || x == nx - 1 || y == ny - 1)
                return 0.0f;
            return in[i] + 0.2f * (in[i - 1] + in[i + 1] + in[i - nx] + in[i + nx] - 4.0f * in[i]);
        },
        1e-5);
}

static void heat2d_naive(Run &run)
{
    heat2d(run, [](float *in, float *out, int nx, int ny) {
        heat2d_kernel<<<dim3((nx + 15) / 16, (ny + 15) / 16), dim3(16, 16)>>>(in, out, nx, ny);
    });
}

static void heat2d_tiled(Run &run)
{
    heat2d(run, [](float *in, float *out, int nx, int ny) {
        heat2d_tiled_kernel<<<dim3((nx + 31) / 32, (ny + 15) / 16), dim3(32, 16)>>>(in, out, nx,
                                                                                    ny);
    });
}

// ---- Seven points in three dimensions ----

__global__ void heat3d_kernel(const float *in, float *out, int nx, int ny, int nz)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y,
        z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x < 1 || y < 1 || z < 1 || x >= nx - 1 || y >= ny - 1 || z >= nz - 1)
        return;
    int i = (z * ny + y) * nx + x;
    out[i] = 0.4f * in[i] + 0.1f * (in[i - 1] + in[i + 1] + in[i - nx] + in[i + nx] +
                                    in[i - nx * ny] + in[i + nx * ny]);
}

// Each thread goes along z; planes are in shared memory, the neighbours along z in registers.
__global__ void heat3d_planes_kernel(const float *in, float *out, int nx, int ny, int nz)
{
    __shared__ float plane[10][34];
    int x = blockIdx.x * 32 + threadIdx.x + 1, y = blockIdx.y * 8 + threadIdx.y + 1;
    int tx = threadIdx.x + 1, ty = threadIdx.y + 1, area = nx * ny;
    bool inside = x < nx - 1 && y < ny - 1;
    int first = blockIdx.z * 16, last = min(first + 16, nz - 2);
    int i = first * area + min(y, ny - 1) * nx + min(x, nx - 1);
    float below = in[i], here = in[i + area];

    for (int z = first; z < last; z++) {
        i += area;
        float above = in[i + area];
        plane[ty][tx] = here;
        if (threadIdx.x == 0)
            plane[ty][0] = in[i - 1];
        if (threadIdx.x == 31 || x == nx - 2)
            plane[ty][tx + 1] = in[min(i + 1, nx * ny * nz - 1)];
        if (threadIdx.y == 0)
            plane[0][tx] = in[i - nx];
        if (threadIdx.y == 7 || y == ny - 2)
            plane[ty + 1][tx] = in[min(i + nx, nx * ny * nz - 1)];
        __syncthreads(); // the plane is complete
        if (inside)
            out[i] = 0.4f * here + 0.1f * (plane[ty][tx - 1] + plane[ty][tx + 1] +
                                           plane[ty - 1][tx] + plane[ty + 1][tx] + below + above);
        __syncthreads(); // the plane has been read
        below = here;
        here = above;
    }
}

// The inner region is a multiple of the planes' tiles.
template <class Launch> static void heat3d(Run &run, Launch launch)
{
    const int nx = 258, ny = 130, nz = 66, area = nx * ny;
    const std::vector<float> in = floats((size_t) area * nz, 12);
    float *from = run.upload(in), *to = run.zeros<float>(in.size());
    run.measure([=] { launch(from, to, nx, ny, nz); });
    run.expect_all(
        run.output(to, in.size()),
        [&](size_t i) {
            int x = (int) (i % nx), y = (int) (i / nx % ny), z = (int) (i / area);
            if (x < 1 || y < 1 || z < 1 || x >= nx - 1 || y >= ny - 1 || z >= nz - 1)
                return 0.0f;
            return 0.4f * in[i] + 0.1f * (in[i - 1] + in[i + 1] + in[i - nx] + in[i + nx] +
                                          in[i - area] + in[i + area]);
        },
        1e-5);
}

static void heat3d_naive(Run &run)
{
    heat3d(run, [](float *in, float *out, int nx, int ny, int nz) {
        heat3d_kernel<<<dim3((nx + 31) / 32, (ny + 3) / 4, (nz + 1) / 2), dim3(32, 4, 2)>>>(
            in, out, nx, ny, nz);
    });
}

static void heat3d_planes(Run &run)
{
    heat3d(run, [](float *in, float *out, int nx, int ny, int nz) {
        heat3d_planes_kernel<<<dim3((nx - 2) / 32, (ny - 2) / 8, (nz - 2) / 16), dim3(32, 8)>>>(
            in, out, nx, ny, nz);
    });
}

// ---- A filter of 7 x 7 ----

enum { RADIUS = 3, TAPS = 2 * RADIUS + 1 };
__constant__ float filter[TAPS * TAPS];

__global__ void filter_constant_kernel(const float *in, float *out, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    float sum = 0;
    for (int dy = -RADIUS; dy <= RADIUS; dy++)
        for (int dx = -RADIUS; dx <= RADIUS; dx++) {
            int sx = min(max(x + dx, 0), width - 1), sy = min(max(y + dy, 0), height - 1);
            sum += filter[(dy + RADIUS) * TAPS + dx + RADIUS] * in[sy * width + sx];
        }
    out[y * width + x] = sum;
}

__global__ void filter_shared_kernel(const float *in, const float *taps, float *out, int width,
                                     int height)
{
    __shared__ float tile[16 + 2 * RADIUS][16 + 2 * RADIUS], weight[TAPS * TAPS];
    int left = blockIdx.x * 16 - RADIUS, top = blockIdx.y * 16 - RADIUS,
        t = threadIdx.y * 16 + threadIdx.x;

    if (t < TAPS * TAPS)
        weight[t] = taps[t];
    for (int y = threadIdx.y; y < 16 + 2 * RADIUS; y += 16)
        for (int x = threadIdx.x; x < 16 + 2 * RADIUS; x += 16)
            tile[y][x] =
                in[min(max(top + y, 0), height - 1) * width + min(max(left + x, 0), width - 1)];
    __syncthreads(); // tile and weights are complete
    float sum = 0;
    for (int dy = 0; dy < TAPS; dy++)
        for (int dx = 0; dx < TAPS; dx++)
            sum += weight[dy * TAPS + dx] * tile[threadIdx.y + dy][threadIdx.x + dx];
    out[(blockIdx.y * 16 + threadIdx.y) * width + blockIdx.x * 16 + threadIdx.x] = sum;
}

template <class Launch> static void filtered(Run &run, Launch launch)
{
    const int width = 768, height = 512;
    const std::vector<float> in = floats((size_t) width * height, 13),
                             taps = floats(TAPS * TAPS, 14);
    float *from = run.upload(in), *weights = run.upload(taps), *to = run.zeros<float>(in.size());
    CHECK(cudaMemcpyToSymbol(filter, taps.data(), sizeof filter));
    run.measure([=] { launch(from, weights, to, width, height); });
    run.expect_all(
        run.output(to, in.size()),
        [&](size_t i) {
            int x = (int) (i % width), y = (int) (i / width);
            double sum = 0;
            for (int dy = -RADIUS; dy <= RADIUS; dy++)
                for (int dx = -RADIUS; dx <= RADIUS; dx++)
                    sum += (double) taps[(dy + RADIUS) * TAPS + dx + RADIUS] *
                           in[std::min(std::max(y + dy, 0), height - 1) * width +
                              std::min(std::max(x + dx, 0), width - 1)];
            return sum;
        },
        1e-5, 13);
}

static void filter_constant(Run &run)
{
    filtered(run, [](float *in, float *, float *out, int w, int h) {
        filter_constant_kernel<<<dim3(w / 32, h / 8), dim3(32, 8)>>>(in, out, w, h);
    });
}

static void filter_shared(Run &run)
{
    filtered(run, [](float *in, float *taps, float *out, int w, int h) {
        filter_shared_kernel<<<dim3(w / 16, h / 16), dim3(16, 16)>>>(in, taps, out, w, h);
    });
}

// ---- The game of life ----

__global__ void life_kernel(const unsigned char *now, unsigned char *next, int size)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int alive = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            if (dx != 0 || dy != 0)
                alive += now[(y + dy + size) % size * size + (x + dx + size) % size];
    next[y * size + x] = alive == 3 || (alive == 2 && now[y * size + x]);
}

static void life(Run &run)
{
    const int size = 1200;
    std::vector<unsigned char> now((size_t) size * size);
    const std::vector<int> random = integers(now.size(), 3, 15);
    for (size_t i = 0; i < now.size(); i++)
        now[i] = random[i] == 0;
    unsigned char *from = run.upload(now), *to = run.zeros<unsigned char>(now.size());
    run.measure(
        [=] { life_kernel<<<dim3((size + 15) / 16, size / 16), dim3(16, 16)>>>(from, to, size); });
    run.expect_all(
        run.output(to, now.size()),
        [&](size_t i) {
            int x = (int) (i % size), y = (int) (i / size), alive = -now[i];
            for (int dy = -1; dy <= 1; dy++)
                for (int dx = -1; dx <= 1; dx++)
                    alive += now[(y + dy + size) % size * size + (x + dx + size) % size];
            return (int) (alive == 3 || (alive == 2 && now[i]));
        },
        0);
}

#endif
