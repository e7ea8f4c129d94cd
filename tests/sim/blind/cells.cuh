// cells.cuh - simulation on grids and cells: heat of a chip, boxes of particles, fluid particles,
// reaction and diffusion, electromagnetic waves, tracking.
#ifndef BLIND_CELLS_CUH
#define BLIND_CELLS_CUH

#include "blind.cuh"

// ---- Four steps of a chip's heat: a launch per step, or one launch with a halo in shared memory
// ----

enum { CHIP_WIDTH = 1000, CHIP_HEIGHT = 700, CHIP_STEPS = 4, CHIP_TILE = 32 };

template <class T> __host__ __device__ inline T chip_next(T c, T n, T s, T w, T e, float power)
{
    return c + T(0.1) * (n + s - 2 * c) + T(0.15) * (w + e - 2 * c) + T(0.05) * (80 - c) +
           T(0.3) * power;
}

__global__ void hotspot_step_kernel(const float *in, const float *power, float *out)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    const int at = y * CHIP_WIDTH + x;
    if (x >= CHIP_WIDTH || y >= CHIP_HEIGHT)
        return;
    float c = in[at];
    float n = y > 0 ? in[at - CHIP_WIDTH] : c, s = y < CHIP_HEIGHT - 1 ? in[at + CHIP_WIDTH] : c;
    float w = x > 0 ? in[at - 1] : c, e = x < CHIP_WIDTH - 1 ? in[at + 1] : c;
    out[at] = chip_next(c, n, s, w, e, power[at]);
}

// Each step loses one ring of the tile.
__global__ void __launch_bounds__(1024)
    hotspot_pyramid_kernel(const float *in, const float *power, float *out)
{
    __shared__ float now[CHIP_TILE][CHIP_TILE], next[CHIP_TILE][CHIP_TILE];
    const int tx = threadIdx.x, ty = threadIdx.y, inner = CHIP_TILE - 2 * CHIP_STEPS;
    const int x = (int) blockIdx.x * inner + tx - CHIP_STEPS;
    const int y = (int) blockIdx.y * inner + ty - CHIP_STEPS, at = y * CHIP_WIDTH + x;
    const bool inside = x >= 0 && x < CHIP_WIDTH && y >= 0 && y < CHIP_HEIGHT;
    const float heat = inside ? power[at] : 0;
    now[ty][tx] = inside ? in[at] : 0;
    __syncthreads(); // the tile is complete
    const int north = y > 0 ? ty - 1 : ty, south = y < CHIP_HEIGHT - 1 ? ty + 1 : ty;
    const int west = x > 0 ? tx - 1 : tx, east = x < CHIP_WIDTH - 1 ? tx + 1 : tx;
    for (int step = 1; step <= CHIP_STEPS; step++) {
        const bool valid =
            inside && tx >= step && tx < CHIP_TILE - step && ty >= step && ty < CHIP_TILE - step;
        if (valid)
            next[ty][tx] = chip_next(now[ty][tx], now[north][tx], now[south][tx], now[ty][west],
                                     now[ty][east], heat);
        if (valid && step == CHIP_STEPS)
            out[at] = next[ty][tx];
        __syncthreads(); // the step is complete
        if (valid)
            now[ty][tx] = next[ty][tx];
        __syncthreads(); // the tile holds the step's result
    }
}

static std::vector<double> chip_after(const std::vector<float> &start,
                                      const std::vector<float> &power)
{
    std::vector<double> now(start.begin(), start.end()), next(now.size());
    for (int step = 0; step < CHIP_STEPS; step++, now.swap(next))
        for (int at = 0; at < CHIP_WIDTH * CHIP_HEIGHT; at++) {
            const int x = at % CHIP_WIDTH, y = at / CHIP_WIDTH;
            next[at] =
                chip_next(now[at], now[y > 0 ? at - CHIP_WIDTH : at],
                          now[y < CHIP_HEIGHT - 1 ? at + CHIP_WIDTH : at], now[x > 0 ? at - 1 : at],
                          now[x < CHIP_WIDTH - 1 ? at + 1 : at], power[at]);
        }
    return now;
}

static void hotspot(Run &run, bool pyramid)
{
    const int n = CHIP_WIDTH * CHIP_HEIGHT, inner = CHIP_TILE - 2 * CHIP_STEPS;
    const std::vector<float> start = floats(n, 641, 60, 90), power = floats(n, 642, 0, 3);
    float *from = run.upload(start), *dp = run.upload(power);
    float *odd = run.zeros<float>(n), *even = run.zeros<float>(n);
    run.measure([=] {
        const dim3 block(32, 8), grid(blocks_for(CHIP_WIDTH, 32), blocks_for(CHIP_HEIGHT, 8));
        if (pyramid)
            hotspot_pyramid_kernel<<<dim3(blocks_for(CHIP_WIDTH, inner),
                                          blocks_for(CHIP_HEIGHT, inner)),
                                     dim3(CHIP_TILE, CHIP_TILE)>>>(from, dp, even);
        else
            for (int step = 0; step < CHIP_STEPS; step++)
                hotspot_step_kernel<<<grid, block>>>(step == 0  ? from
                                                     : step % 2 ? odd
                                                                : even,
                                                     dp, step % 2 ? even : odd);
    });
    const std::vector<double> wanted = chip_after(start, power);
    run.expect_all(
        run.output(even, n), [&](size_t i) { return wanted[i]; }, 1e-5, 17);
}

static void hotspot_steps(Run &run)
{
    hotspot(run, false);
}

static void hotspot_pyramid(Run &run)
{
    hotspot(run, true);
}

// ---- Forces between particles of neighbouring boxes: a block per box, partners in shared memory
// ----

enum { LAVA_SIDE = 5, LAVA_EACH = 60 };

template <class T>
__host__ __device__ inline void lava_pair(const float4 a, const float4 b, T (&force)[4])
{
    const T x = a.x - b.x, y = a.y - b.y, z = a.z - b.z;
    const T u = exp(T(-0.5) * (x * x + y * y + z * z)), scale = 2 * u * b.w;
    force[0] += scale * x;
    force[1] += scale * y;
    force[2] += scale * z;
    force[3] += u * b.w;
}

// The neighbours of a box, itself included: first and last box along an axis.
__host__ __device__ inline int box_low(int at)
{
    return at > 0 ? at - 1 : 0;
}

__host__ __device__ inline int box_high(int at)
{
    return at < LAVA_SIDE - 1 ? at + 1 : LAVA_SIDE - 1;
}

__global__ void boxes_kernel(const float4 *particle, float4 *out)
{
    __shared__ float4 partner[LAVA_EACH];
    const int t = threadIdx.x, bx = blockIdx.x, by = blockIdx.y, bz = blockIdx.z;
    const int mine = ((bz * LAVA_SIDE + by) * LAVA_SIDE + bx) * LAVA_EACH + t;
    const float4 a = particle[mine];
    float force[4] = {};
    for (int z = box_low(bz); z <= box_high(bz); z++)
        for (int y = box_low(by); y <= box_high(by); y++)
            for (int x = box_low(bx); x <= box_high(bx); x++) {
                partner[t] = particle[((z * LAVA_SIDE + y) * LAVA_SIDE + x) * LAVA_EACH + t];
                __syncthreads(); // the box's particles are complete
                for (int k = 0; k < LAVA_EACH; k++)
                    lava_pair(a, partner[k], force);
                __syncthreads(); // the work area is free again
            }
    out[mine] = make_float4(force[0], force[1], force[2], force[3]);
}

static void boxes_lava(Run &run)
{
    const int side = LAVA_SIDE, n = side * side * side * LAVA_EACH;
    const std::vector<float> drawn = floats(n * 4, 643, 0, 1);
    std::vector<float4> particle(n);
    for (int i = 0; i < n; i++) {
        const int box = i / LAVA_EACH;
        particle[i] = make_float4(drawn[4 * i] + box % side, drawn[4 * i + 1] + box / side % side,
                                  drawn[4 * i + 2] + box / side / side, drawn[4 * i + 3]);
    }
    float4 *from = run.upload(particle), *to = run.zeros<float4>(n);
    run.measure([=] { boxes_kernel<<<dim3(side, side, side), LAVA_EACH>>>(from, to); });
    const std::vector<float4> got = run.output(to, n);
    for (int i = 0; i < n; i += 101) {
        const int box = i / LAVA_EACH, bx = box % side, by = box / side % side,
                  bz = box / side / side;
        double force[4] = {};
        for (int k = 0; k < n; k++) {
            const int other = k / LAVA_EACH;
            if (abs(other % side - bx) <= 1 && abs(other / side % side - by) <= 1 &&
                abs(other / side / side - bz) <= 1)
                lava_pair(particle[i], particle[k], force);
        }
        run.expect(got[i].x, force[0], 1e-4);
        run.expect(got[i].z, force[2], 1e-4);
        run.expect(got[i].w, force[3], 1e-4);
    }
}

// ---- Density of fluid particles from 27 cells: sorted by cell, or through lists of a cell ----

enum { FLUID_SIDE = 14, FLUID_CELLS = FLUID_SIDE * FLUID_SIDE * FLUID_SIDE };

__host__ __device__ inline int fluid_cell(float4 p)
{
    return ((int) p.z * FLUID_SIDE + (int) p.y) * FLUID_SIDE + (int) p.x;
}

template <class T> __host__ __device__ inline T fluid_kernel_of(float4 a, float4 b)
{
    const T x = a.x - b.x, y = a.y - b.y, z = a.z - b.z, rest = 1 - (x * x + y * y + z * z);
    return rest > 0 ? b.w * rest * rest * rest : 0;
}

// `list`: the particles of all cells in order, or null if `particle` itself is in that order.
template <bool LISTED>
__global__ void sph_kernel(const float4 *particle, const int *begin, const int *list,
                           float *density, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const float4 a = particle[i];
    float sum = 0;
    for (int z = max((int) a.z - 1, 0); z <= min((int) a.z + 1, FLUID_SIDE - 1); z++)
        for (int y = max((int) a.y - 1, 0); y <= min((int) a.y + 1, FLUID_SIDE - 1); y++)
            for (int x = max((int) a.x - 1, 0); x <= min((int) a.x + 1, FLUID_SIDE - 1); x++) {
                int cell = (z * FLUID_SIDE + y) * FLUID_SIDE + x;
                for (int k = begin[cell]; k < begin[cell + 1]; k++)
                    sum += fluid_kernel_of<float>(a, particle[LISTED ? list[k] : k]);
            }
    density[i] = sum;
}

struct Fluid {
    std::vector<float4> particle;
    std::vector<int> begin, list; // per cell; the particles of all cells in order
};

static Fluid random_fluid(int n)
{
    const std::vector<float> drawn = floats(n * 4, 644, 0, 1);
    Fluid f = { std::vector<float4>(n), std::vector<int>(FLUID_CELLS + 1), std::vector<int>(n) };
    for (int i = 0; i < n; i++) {
        const float *d = &drawn[4 * i];
        f.particle[i] = make_float4(d[0] * FLUID_SIDE, d[1] * FLUID_SIDE, d[2] * FLUID_SIDE, d[3]);
        f.list[i] = i;
        f.begin[fluid_cell(f.particle[i]) + 1]++;
    }
    for (int cell = 0; cell < FLUID_CELLS; cell++)
        f.begin[cell + 1] += f.begin[cell];
    std::stable_sort(f.list.begin(), f.list.end(), [&](int a, int b) {
        return fluid_cell(f.particle[a]) < fluid_cell(f.particle[b]);
    });
    return f;
}

template <bool LISTED> static void sph(Run &run)
{
    const int n = 24000;
    const Fluid fluid = random_fluid(n);
    std::vector<float4> particle = fluid.particle;
    for (int i = 0; i < n && !LISTED; i++)
        particle[i] = fluid.particle[fluid.list[i]];
    float4 *from = run.upload(particle);
    int *begin = run.upload(fluid.begin), *list = LISTED ? run.upload(fluid.list) : nullptr;
    float *to = run.zeros<float>(n);
    run.measure([=] { sph_kernel<LISTED><<<blocks_for(n, 128), 128>>>(from, begin, list, to, n); });
    run.expect_all(
        run.output(to, n),
        [&](size_t i) {
            double sum = 0;
            for (const float4 &p : particle)
                sum += fluid_kernel_of<double>(particle[i], p);
            return sum;
        },
        1e-4, 151);
}

static void sph_sorted(Run &run)
{
    sph<false>(run);
}

static void sph_listed(Run &run)
{
    sph<true>(run);
}

// ---- Reaction and diffusion of two substances: an array of pairs, or an array each ----

enum { POND_WIDTH = 1344, POND_HEIGHT = 1000 };

// Pairs, or planes one after the other.
template <bool PAIRS> __host__ __device__ inline float2 pond_at(const float *v, int i)
{
    return PAIRS ? ((const float2 *) v)[i] : make_float2(v[i], v[i + POND_WIDTH * POND_HEIGHT]);
}

template <bool PAIRS> __host__ __device__ inline float2 pond_next(const float *v, int x, int y)
{
    const int w = (x + POND_WIDTH - 1) % POND_WIDTH, e = (x + 1) % POND_WIDTH;
    const int n = (y + POND_HEIGHT - 1) % POND_HEIGHT, s = (y + 1) % POND_HEIGHT;
    const float2 c = pond_at<PAIRS>(v, y * POND_WIDTH + x);
    const float2 cn = pond_at<PAIRS>(v, n * POND_WIDTH + x);
    const float2 cs = pond_at<PAIRS>(v, s * POND_WIDTH + x);
    const float2 cw = pond_at<PAIRS>(v, y * POND_WIDTH + w);
    const float2 ce = pond_at<PAIRS>(v, y * POND_WIDTH + e);
    const float near_a = cn.x + cs.x + cw.x + ce.x, near_b = cn.y + cs.y + cw.y + ce.y;
    const float reaction = c.x * c.y * c.y;
    return make_float2(c.x + 0.16f * (near_a - 4 * c.x) - reaction + 0.035f * (1 - c.x),
                       c.y + 0.08f * (near_b - 4 * c.y) + reaction - 0.1f * c.y);
}

template <bool PAIRS> __global__ void pond_kernel(const float *in, float *out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int at = y * POND_WIDTH + x;
    float2 next = pond_next<PAIRS>(in, x, y);
    if (PAIRS) {
        ((float2 *) out)[at] = next;
    } else {
        out[at] = next.x;
        out[at + POND_WIDTH * POND_HEIGHT] = next.y;
    }
}

template <bool PAIRS> static void pond(Run &run)
{
    const int n = POND_WIDTH * POND_HEIGHT;
    const std::vector<float> start = floats(n * 2, 645, 0, 1);
    float *from = run.upload(start), *to = run.zeros<float>(n * 2);
    run.measure([=] {
        pond_kernel<PAIRS><<<dim3(POND_WIDTH / 64, POND_HEIGHT / 4), dim3(64, 4)>>>(from, to);
    });
    const std::vector<float> got = run.output(to, n * 2);
    for (int i = 0; i < n; i += 13) {
        const float2 wanted = pond_next<PAIRS>(start.data(), i % POND_WIDTH, i / POND_WIDTH);
        run.expect(pond_at<PAIRS>(got.data(), i).x, wanted.x, 1e-5);
        run.expect(pond_at<PAIRS>(got.data(), i).y, wanted.y, 1e-5);
    }
}

static void pond_pairs(Run &run)
{
    pond<true>(run);
}

static void pond_planes(Run &run)
{
    pond<false>(run);
}

// ---- One time step of electromagnetic waves in two dimensions, in place, by three launches ----

enum { WAVE_COLUMNS = 1280, WAVE_ROWS = 600 };

__global__ void fdtd_y_kernel(float *ey, const float *hz)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int at = y * WAVE_COLUMNS + x;
    if (x < WAVE_COLUMNS && y > 0 && y < WAVE_ROWS)
        ey[at] -= 0.5f * (hz[at] - hz[at - WAVE_COLUMNS]);
}

__global__ void fdtd_x_kernel(float *ex, const float *hz)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int at = y * WAVE_COLUMNS + x;
    if (x > 0 && x < WAVE_COLUMNS && y < WAVE_ROWS)
        ex[at] -= 0.5f * (hz[at] - hz[at - 1]);
}

__global__ void fdtd_z_kernel(const float *ex, const float *ey, float *hz)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int at = y * WAVE_COLUMNS + x;
    if (x < WAVE_COLUMNS - 1 && y < WAVE_ROWS - 1)
        hz[at] -= 0.7f * (ex[at + 1] - ex[at] + ey[at + WAVE_COLUMNS] - ey[at]);
}

static void fdtd_step(Run &run)
{
    const int n = WAVE_COLUMNS * WAVE_ROWS, w = WAVE_COLUMNS;
    const std::vector<float> start = floats(n * 3, 646); // ex, ey, hz
    float *from = run.upload(start), *ex = run.zeros<float>(n * 3), *ey = ex + n, *hz = ey + n;
    run.measure(
        [=] {
            const dim3 block(32, 8), grid(blocks_for(w, 32), blocks_for(WAVE_ROWS, 8));
            fdtd_y_kernel<<<grid, block>>>(ey, hz);
            fdtd_x_kernel<<<grid, block>>>(ex, hz);
            fdtd_z_kernel<<<grid, block>>>(ex, ey, hz);
        },
        [=] { CHECK(cudaMemcpy(ex, from, n * 3 * sizeof(float), cudaMemcpyDeviceToDevice)); });
    const std::vector<float> got = run.output(ex, n * 3);
    const float *sx = &start[0], *sy = &start[n], *sz = &start[2 * n];
    for (int i = w + 1; i < n - w; i += 29) {
        if (i % w == 0 || i % w == w - 1)
            continue;
        run.expect(got[i], sx[i] - 0.5 * (sz[i] - sz[i - 1]), 1e-5);
        run.expect(got[i + n], sy[i] - 0.5 * (sz[i] - sz[i - w]), 1e-5);
        run.expect(got[i + 2 * n],
                   sz[i] - 0.7 * (got[i + 1] - got[i] + got[i + w + n] - got[i + n]), 1e-5);
    }
}

// ---- Tracking: how well the image fits a disc of 69 pixels around each guess ----

enum { TRACK_SIDE = 512, TRACK_RADIUS = 5 };

__constant__ int2 track_offset[128];

__global__ void track_kernel(const unsigned char *image, const float2 *guess, float *fit,
                             int offsets, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
    if (i >= n)
        return;
    const int x = __float2int_rn(guess[i].x), y = __float2int_rn(guess[i].y);
    for (int k = 0; k < offsets; k++) {
        int column = min(max(x + track_offset[k].x, 0), TRACK_SIDE - 1);
        int row = min(max(y + track_offset[k].y, 0), TRACK_SIDE - 1);
        int v = image[row * TRACK_SIDE + column];
        sum += (v - 100) * (v - 100) - (v - 228) * (v - 228);
    }
    fit[i] = sum / (50.0f * offsets);
}

static void track_discs(Run &run)
{
    const int n = 150000;
    const std::vector<uint32_t> image = words(TRACK_SIDE * TRACK_SIDE / 4, 647);
    const unsigned char *pixel = (const unsigned char *) image.data();
    const std::vector<float> drawn = floats(n * 2, 648, 0, TRACK_SIDE - 1);
    std::vector<int2> offset;
    std::vector<float2> guess(n);
    for (int y = -TRACK_RADIUS; y <= TRACK_RADIUS; y++)
        for (int x = -TRACK_RADIUS; x <= TRACK_RADIUS; x++)
            if (x * x + y * y < TRACK_RADIUS * TRACK_RADIUS)
                offset.push_back(make_int2(x, y));
    for (int i = 0; i < n; i++)
        guess[i] = make_float2(drawn[2 * i], drawn[2 * i + 1]);
    const int offsets = (int) offset.size();
    unsigned char *di = (unsigned char *) run.upload(image);
    float2 *dg = run.upload(guess);
    float *to = run.zeros<float>(n);
    CHECK(cudaMemcpyToSymbol(track_offset, offset.data(), offsets * sizeof(int2)));
    run.measure([=] { track_kernel<<<blocks_for(n, 512), 512>>>(di, dg, to, offsets, n); });
    run.expect_all(
        run.output(to, n),
        [&](size_t i) {
            double sum = 0;
            for (const int2 &o : offset) {
                const int x = (int) rintf(guess[i].x) + o.x, y = (int) rintf(guess[i].y) + o.y;
                const int last = TRACK_SIDE - 1;
                const double v = pixel[std::min(std::max(y, 0), last) * TRACK_SIDE +
                                       std::min(std::max(x, 0), last)];
                sum += (v - 100) * (v - 100) - (v - 228) * (v - 228);
            }
            return sum / (50.0 * offsets);
        },
        1e-4, 89);
}

#endif
