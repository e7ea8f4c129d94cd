// fields.cuh - physics on grids and along paths: spins, Burgers' equation, pendulums, charges,
// rays.
#ifndef BLIND_FIELDS_CUH
#define BLIND_FIELDS_CUH

#include "blind.cuh"

// ---- Ising spins, one colour of the board: a thread per cell, or per cell of the colour ----

enum { SPINS = 2048 };

// The spin at (x, y) after its Metropolis step: 9 % at an energy of 2, 1 % at 4.
__host__ __device__ inline int spin_after(const signed char *spin, int x, int y, unsigned seed)
{
    const int wrap = SPINS - 1, here = spin[y * SPINS + x];
    int sum = spin[y * SPINS + ((x + 1) & wrap)] + spin[y * SPINS + ((x - 1) & wrap)] +
              spin[((y + 1) & wrap) * SPINS + x] + spin[((y - 1) & wrap) * SPINS + x];
    int energy = here * sum;
    unsigned r = (unsigned) (y * SPINS + x) * 2654435769u + seed;
    r = (r ^ r >> 16) * 0x7feb352du;
    r = (r ^ r >> 15) * 0x846ca68bu;
    unsigned limit = energy <= 0 ? ~0u : energy == 2 ? 386547056u : 42949673u;
    return r <= limit ? -here : here;
}

__global__ void ising_masked_kernel(signed char *spin, int colour, unsigned seed)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (((x + y) & 1) != colour)
        return;
    spin[y * SPINS + x] = (signed char) spin_after(spin, x, y, seed);
}

__global__ void ising_packed_kernel(signed char *spin, int colour, unsigned seed)
{
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int x = 2 * (blockIdx.x * blockDim.x + threadIdx.x) + ((y + colour) & 1);
    spin[y * SPINS + x] = (signed char) spin_after(spin, x, y, seed);
}

template <class Launch> static void ising(Run &run, Launch launch)
{
    const size_t size = (size_t) SPINS * SPINS;
    std::vector<signed char> start(size);
    for (size_t i = 0; i < size; i++)
        start[i] = mix((uint32_t) i + 321) % 4 ? 1 : -1;
    signed char *from = run.upload(start), *spin = run.zeros<signed char>(size);
    run.measure([=] { launch(spin, 1, 4711u); },
                [=] { CHECK(cudaMemcpy(spin, from, size, cudaMemcpyDeviceToDevice)); });
    run.expect_all(
        run.output(spin, size),
        [&](size_t i) {
            const int x = (int) i % SPINS, y = (int) i / SPINS;
            return ((x + y) & 1) == 1 ? spin_after(start.data(), x, y, 4711u) : start[i];
        },
        0, 19);
}

static void ising_masked(Run &run)
{
    ising(run, [](signed char *spin, int colour, unsigned seed) {
        ising_masked_kernel<<<dim3(SPINS / 64, SPINS / 4), dim3(64, 4)>>>(spin, colour, seed);
    });
}

static void ising_packed(Run &run)
{
    ising(run, [](signed char *spin, int colour, unsigned seed) {
        ising_packed_kernel<<<dim3(SPINS / 128, SPINS / 4), dim3(64, 4)>>>(spin, colour, seed);
    });
}

// ---- Burgers' equation, 12 steps: a launch per step, or all steps of a tile in shared memory ----

enum { BURGERS_STEPS = 12, BURGERS_TILE = 256 - 2 * BURGERS_STEPS, BURGERS = BURGERS_TILE * 2000 };

template <class T> __host__ __device__ inline T burgers(T left, T here, T right)
{
    return here - T(0.1) * (right * right - left * left) + T(0.2) * (left - 2 * here + right);
}

__global__ void burgers_step_kernel(const float *in, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= BURGERS)
        return;
    float left = in[i == 0 ? BURGERS - 1 : i - 1], right = in[i == BURGERS - 1 ? 0 : i + 1];
    out[i] = burgers(left, in[i], right);
}

// A step makes the tile's outermost cells invalid; after 12, BURGERS_TILE cells are valid.
__global__ void __launch_bounds__(256) burgers_fused_kernel(const float *in, float *out)
{
    __shared__ float u[2][256];
    int t = threadIdx.x, i = blockIdx.x * BURGERS_TILE + t - BURGERS_STEPS;
    u[0][t] = u[1][t] = in[(i + BURGERS) % BURGERS];
    for (int step = 0; step < BURGERS_STEPS; step++) {
        const float *now = u[step % 2];
        __syncthreads(); // the previous step is complete
        if (t > 0 && t < 255)
            u[1 - step % 2][t] = burgers(now[t - 1], now[t], now[t + 1]);
    }
    if (t >= BURGERS_STEPS && t < 256 - BURGERS_STEPS)
        out[i] = u[BURGERS_STEPS % 2][t];
}

static double burgers_on_host(const std::vector<float> &in, int i)
{
    double u[2 * BURGERS_STEPS + 1];
    for (int k = 0; k <= 2 * BURGERS_STEPS; k++)
        u[k] = in[(i + k - BURGERS_STEPS + BURGERS) % BURGERS];
    for (int last = 2 * BURGERS_STEPS; last > 0; last -= 2)
        for (int k = 0; k + 2 <= last; k++)
            u[k] = burgers(u[k], u[k + 1], u[k + 2]);
    return u[0];
}

static void burgers_run(Run &run, bool fused)
{
    const std::vector<float> in = floats(BURGERS, 322);
    float *from = run.upload(in), *a = run.zeros<float>(BURGERS), *b = run.zeros<float>(BURGERS);
    run.measure([=] {
        if (fused) {
            burgers_fused_kernel<<<BURGERS / BURGERS_TILE, 256>>>(from, a);
            return;
        }
        burgers_step_kernel<<<blocks_for(BURGERS, 256), 256>>>(from, b);
        for (int step = 1; step < BURGERS_STEPS; step++)
            burgers_step_kernel<<<blocks_for(BURGERS, 256), 256>>>(step % 2 ? b : a,
                                                                   step % 2 ? a : b);
    });
    run.expect_all(
        run.output(a, BURGERS), [&](size_t i) { return burgers_on_host(in, (int) i); }, 1e-5, 31);
}

static void burgers_steps(Run &run)
{
    burgers_run(run, false);
}

static void burgers_fused(Run &run)
{
    burgers_run(run, true);
}

// ---- Double pendulums by Runge and Kutta, in float or double ----

// The state: two angles, two angular velocities.
template <class T> struct Pendulum {
    T v[4];
};

template <class T> __host__ __device__ inline Pendulum<T> pendulum_slope(const Pendulum<T> &s)
{
    const T g = T(9.81), delta = s.v[0] - s.v[1];
    T sine = sin(delta), cosine = cos(delta), size = 2 - cosine * cosine;
    T first = sin(s.v[0]), second = sin(s.v[1]);
    T a = s.v[2] * s.v[2] * sine, b = s.v[3] * s.v[3] * sine;
    return { { s.v[2], s.v[3], (-a * cosine + g * second * cosine - b - 2 * g * first) / size,
               (b * cosine + 2 * (g * first * cosine + a - g * second)) / size } };
}

template <class T>
__host__ __device__ inline Pendulum<T> pendulum_at(const Pendulum<T> &s, const Pendulum<T> &slope,
                                                   T h)
{
    return { { s.v[0] + h * slope.v[0], s.v[1] + h * slope.v[1], s.v[2] + h * slope.v[2],
               s.v[3] + h * slope.v[3] } };
}

template <class T> __host__ __device__ inline Pendulum<T> pendulum_step(const Pendulum<T> &s, T h)
{
    const Pendulum<T> a = pendulum_slope(s), b = pendulum_slope(pendulum_at(s, a, h / 2)),
                      c = pendulum_slope(pendulum_at(s, b, h / 2)),
                      d = pendulum_slope(pendulum_at(s, c, h));
    Pendulum<T> out = s;
    for (int k = 0; k < 4; k++)
        out.v[k] += h / 6 * (a.v[k] + 2 * (b.v[k] + c.v[k]) + d.v[k]);
    return out;
}

template <class T>
__global__ void pendulum_kernel(const float *angles, T *out, int n, int steps, T h)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    Pendulum<T> s = { { angles[i], angles[n + i], 0, 0 } };
    for (int k = 0; k < steps; k++)
        s = pendulum_step(s, h);
    out[i] = s.v[0];
    out[n + i] = s.v[1];
}

template <class T> static void pendulums(Run &run, double tolerance)
{
    const int n = 8448, steps = 12;
    const std::vector<float> angles = floats(2 * n, 323, -2, 2);
    float *from = run.upload(angles);
    T *to = run.zeros<T>(2 * n);
    run.measure(
        [=] { pendulum_kernel<T><<<blocks_for(n, 64), 64>>>(from, to, n, steps, T(0.01)); });
    const std::vector<T> got = run.output(to, 2 * n);
    for (int i = 0; i < n; i += 23) {
        Pendulum<double> s = { { angles[i], angles[n + i], 0, 0 } };
        for (int k = 0; k < steps; k++)
            s = pendulum_step(s, 0.01);
        run.expect(got[i], s.v[0], tolerance);
        run.expect(got[n + i], s.v[1], tolerance);
    }
}

static void pendulum_float(Run &run)
{
    pendulums<float>(run, 1e-3);
}

static void pendulum_double(Run &run)
{
    pendulums<double>(run, 1e-9);
}

// ---- Charges of particles to two grid points each: global atomics, or a grid per block ----

enum { CELLS_1D = 1024 };

__global__ void deposit_global_kernel(const float *x, float *rho, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int cell = (int) x[i];
    float part = x[i] - cell;
    atomicAdd(&rho[cell], 1 - part);
    atomicAdd(&rho[(cell + 1) % CELLS_1D], part);
}

__global__ void deposit_shared_kernel(const float *x, float *rho, int n)
{
    __shared__ float mine[CELLS_1D];
    for (int k = threadIdx.x; k < CELLS_1D; k += blockDim.x)
        mine[k] = 0;
    __syncthreads(); // the grid is empty
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        int cell = (int) x[i];
        float part = x[i] - cell;
        atomicAdd(&mine[cell], 1 - part);
        atomicAdd(&mine[(cell + 1) % CELLS_1D], part);
    }
    __syncthreads(); // the block's particles are complete
    for (int k = threadIdx.x; k < CELLS_1D; k += blockDim.x)
        atomicAdd(&rho[k], mine[k]);
}

template <class Launch> static void deposit(Run &run, Launch launch)
{
    const int n = 500000;
    const std::vector<float> x = floats(n, 324, 0, CELLS_1D - 0.01f);
    std::vector<double> wanted(CELLS_1D);
    for (float at : x) {
        wanted[(int) at] += 1 - (at - (int) at);
        wanted[((int) at + 1) % CELLS_1D] += at - (int) at;
    }
    float *dx = run.upload(x), *rho = run.zeros<float>(CELLS_1D);
    run.measure([=] { launch(dx, rho, n); },
                [=] { CHECK(cudaMemset(rho, 0, CELLS_1D * sizeof(float))); });
    std::vector<float> got(CELLS_1D); // sums in any order: not a part of the checksum
    CHECK(cudaMemcpy(got.data(), rho, CELLS_1D * sizeof(float), cudaMemcpyDeviceToHost));
    run.expect_all(
        got, [&](size_t i) { return wanted[i]; }, 1e-4);
}

static void deposit_global(Run &run)
{
    deposit(run, [](float *x, float *rho, int n) {
        deposit_global_kernel<<<blocks_for(n, 256), 256>>>(x, rho, n);
    });
}

static void deposit_shared(Run &run)
{
    deposit(run,
            [](float *x, float *rho, int n) { deposit_shared_kernel<<<132, 512>>>(x, rho, n); });
}

// ---- Rays through a volume: front to back, until little light is left ----

enum { VOLUME = 128 };

// Positions are in 1/65536 of a cell, so that host and device agree on the cells.
__host__ __device__ inline float marched(const float *density, int px, int py, int dx, int dy)
{
    float light = 0, through = 1;
    for (int z = 0; z < VOLUME && through > 0.03f; z++, px += dx, py += dy) {
        int x = px >> 16, y = py >> 16;
        if (x < 0 || y < 0 || x >= VOLUME || y >= VOLUME)
            break;
        float d = density[(z * VOLUME + y) * VOLUME + x];
        if (d <= 0)
            continue;
        light += through * d * (1.0f - z * (0.5f / VOLUME));
        through *= 1 - d;
    }
    return light;
}

__global__ void march_kernel(const float *density, float *out, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    int px = x * (VOLUME << 16) / width, py = y * (VOLUME << 16) / height;
    out[y * width + x] = marched(density, px, py, (x - width / 2) * 150, (y - height / 2) * 150);
}

// Blobs of 8 x 8 x 8 cells, of which two in five are empty.
static void march_volume(Run &run)
{
    const int width = 250, height = 200;
    std::vector<float> density((size_t) VOLUME * VOLUME * VOLUME);
    for (size_t i = 0; i < density.size(); i++) {
        const size_t x = i % VOLUME / 8, y = i / VOLUME % VOLUME / 8, z = i / VOLUME / VOLUME / 8;
        const uint32_t blob = mix((uint32_t) (z * 256 + y * 16 + x) + 325);
        density[i] = blob % 5 < 2 ? 0 : (blob >> 8) % 100 * 0.0006f + 0.0001f * (i % 7);
    }
    float *from = run.upload(density), *to = run.zeros<float>(width * height);
    run.measure([=] {
        dim3 block(16, 8), grid(blocks_for(width, 16), blocks_for(height, 8));
        march_kernel<<<grid, block>>>(from, to, width, height);
    });
    run.expect_all(
        run.output(to, width * height),
        [&](size_t i) {
            const int x = (int) i % width, y = (int) i / width;
            return marched(density.data(), x * (VOLUME << 16) / width, y * (VOLUME << 16) / height,
                           (x - width / 2) * 150, (y - height / 2) * 150);
        },
        0.01, 17);
}

#endif
