// lattices.cuh - physics on lattices: flow with 19 speeds, quarks, spins that turn, Potts.
#ifndef BLIND_LATTICES_CUH
#define BLIND_LATTICES_CUH

#include "blind.cuh"

// ---- Lattice Boltzmann with 19 speeds: neighbours are read, or written ----

enum { FLOW19_X = 96, FLOW19_Y = 64, FLOW19_Z = 56, FLOW19_CELLS = FLOW19_X * FLOW19_Y * FLOW19_Z };

// Speed k: along x, y and z. Weights: 1/3, six times 1/18, twelve times 1/36.
__host__ __device__ constexpr int fluid_speed(int k, int axis)
{
    constexpr signed char v[19][3] = { { 0, 0, 0 },   { 1, 0, 0 },  { -1, 0, 0 }, { 0, 1, 0 },
                                       { 0, -1, 0 },  { 0, 0, 1 },  { 0, 0, -1 }, { 1, 1, 0 },
                                       { -1, -1, 0 }, { 1, -1, 0 }, { -1, 1, 0 }, { 1, 0, 1 },
                                       { -1, 0, -1 }, { 1, 0, -1 }, { -1, 0, 1 }, { 0, 1, 1 },
                                       { 0, -1, -1 }, { 0, 1, -1 }, { 0, -1, 1 } };
    return v[k][axis];
}

// The cell that lies k's speed away, `sign` 1 or -1. Edges wrap around.
__host__ __device__ inline int fluid_cell(int x, int y, int z, int k, int sign)
{
    const int cx = x + sign * fluid_speed(k, 0), cy = y + sign * fluid_speed(k, 1);
    const int cz = z + sign * fluid_speed(k, 2);
    const int wx = cx < 0 ? FLOW19_X - 1 : cx == FLOW19_X ? 0 : cx;
    const int wy = cy < 0 ? FLOW19_Y - 1 : cy == FLOW19_Y ? 0 : cy;
    const int wz = cz < 0 ? FLOW19_Z - 1 : cz == FLOW19_Z ? 0 : cz;
    return (wz * FLOW19_Y + wy) * FLOW19_X + wx;
}

// Relaxes towards equilibrium.
__host__ __device__ inline void fluid_collide(float *f)
{
    float mass = 0, ux = 0, uy = 0, uz = 0;
#pragma unroll
    for (int k = 0; k < 19; k++) {
        mass += f[k];
        ux += f[k] * fluid_speed(k, 0);
        uy += f[k] * fluid_speed(k, 1);
        uz += f[k] * fluid_speed(k, 2);
    }
    const float by = 1 / mass;
    ux *= by;
    uy *= by;
    uz *= by;
    const float energy = 1.5f * (ux * ux + uy * uy + uz * uz);
#pragma unroll
    for (int k = 0; k < 19; k++) {
        const float w = k == 0 ? 1.0f / 3 : k < 7 ? 1.0f / 18 : 1.0f / 36;
        const float c = fluid_speed(k, 0) * ux + fluid_speed(k, 1) * uy + fluid_speed(k, 2) * uz;
        f[k] += 0.6f * (w * mass * (1 + 3 * c + 4.5f * c * c - energy) - f[k]);
    }
}

template <bool PUSH> __global__ void fluid_kernel(const float *in, float *out)
{
    const int x = threadIdx.x, y = blockIdx.x, z = blockIdx.y;
    const int here = (z * FLOW19_Y + y) * FLOW19_X + x;
    float f[19];
#pragma unroll
    for (int k = 0; k < 19; k++)
        f[k] = in[k * FLOW19_CELLS + (PUSH ? here : fluid_cell(x, y, z, k, -1))];
    fluid_collide(f);
#pragma unroll
    for (int k = 0; k < 19; k++)
        out[k * FLOW19_CELLS + (PUSH ? fluid_cell(x, y, z, k, 1) : here)] = f[k];
}

template <bool PUSH> static void fluid(Run &run)
{
    const std::vector<float> in = floats(19 * FLOW19_CELLS, 9401, 0.04f, 0.06f);
    const float *from = run.upload(in);
    float *to = run.zeros<float>(19 * FLOW19_CELLS);
    run.measure([=] { fluid_kernel<PUSH><<<dim3(FLOW19_Y, FLOW19_Z), FLOW19_X>>>(from, to); });
    const std::vector<float> got = run.output(to, 19 * FLOW19_CELLS);
    for (int i = 0; i < FLOW19_CELLS; i += 601) {
        const int x = i % FLOW19_X, y = i / FLOW19_X % FLOW19_Y, z = i / FLOW19_X / FLOW19_Y;
        float f[19];
        for (int k = 0; k < 19; k++)
            f[k] = in[k * FLOW19_CELLS + (PUSH ? i : fluid_cell(x, y, z, k, -1))];
        fluid_collide(f);
        for (int k = 0; k < 19; k++)
            run.expect(got[k * FLOW19_CELLS + (PUSH ? fluid_cell(x, y, z, k, 1) : i)], f[k], 1e-5);
    }
}

static void fluid_pull(Run &run)
{
    fluid<false>(run);
}

static void fluid_push(Run &run)
{
    fluid<true>(run);
}

// ---- Quarks hop along SU(3) links: all three rows stored, or the third one computed ----

enum { QUARK_SIDE = 16, QUARK_SITES = 2 * QUARK_SIDE * QUARK_SIDE * QUARK_SIDE * QUARK_SIDE };

__host__ __device__ inline float2 quark_add(float2 sum, float2 a, float2 b)
{
    return make_float2(sum.x + a.x * b.x - a.y * b.y, sum.y + a.x * b.y + a.y * b.x);
}

__host__ __device__ inline float2 quark_conj(float2 a)
{
    return make_float2(a.x, -a.y);
}

// The conjugate of a b - c d.
__host__ __device__ inline float2 quark_minor(float2 a, float2 b, float2 c, float2 d)
{
    const float2 sum = quark_add(make_float2(0, 0), a, b);
    return quark_conj(quark_add(sum, make_float2(-c.x, -c.y), d));
}

// The neighbour along `axis`: sides of 16, 16, 16 and 32 sites that wrap around.
__host__ __device__ inline int quark_site(int site, int axis, int by)
{
    const int shift = 4 * axis, mask = axis == 3 ? 31 : 15;
    const int at = site >> shift & mask;
    return site + (((at + by & mask) - at) << shift);
}

template <int ROWS>
__host__ __device__ inline void quark_link(const float2 *links, int site, int axis, float2 *u)
{
#pragma unroll
    for (int k = 0; k < 3 * ROWS; k++)
        u[k] = links[(axis * 3 * ROWS + k) * QUARK_SITES + site];
    if (ROWS == 2)
#pragma unroll
        for (int k = 0; k < 3; k++)
            u[6 + k] =
                quark_minor(u[(k + 1) % 3], u[3 + (k + 2) % 3], u[(k + 2) % 3], u[3 + (k + 1) % 3]);
}

// The sum over axes of U(site) v(after) - U(before)^+ v(before).
template <int ROWS>
__host__ __device__ inline void quark_hop(const float2 *links, const float2 *v, int site,
                                          float2 *sum)
{
    for (int axis = 0; axis < 4; axis++) {
        const int after = quark_site(site, axis, 1), before = quark_site(site, axis, -1);
        float2 u[9];
        quark_link<ROWS>(links, site, axis, u);
#pragma unroll
        for (int k = 0; k < 9; k++)
            sum[k / 3] = quark_add(sum[k / 3], u[k], v[k % 3 * QUARK_SITES + after]);
        quark_link<ROWS>(links, before, axis, u);
#pragma unroll
        for (int k = 0; k < 9; k++) {
            const float2 c = quark_conj(u[k]);
            sum[k % 3] =
                quark_add(sum[k % 3], make_float2(-c.x, -c.y), v[k / 3 * QUARK_SITES + before]);
        }
    }
}

template <int ROWS> __global__ void quark_kernel(const float2 *links, const float2 *v, float2 *out)
{
    const int site = blockIdx.x * blockDim.x + threadIdx.x;
    float2 sum[3] = {};
    quark_hop<ROWS>(links, v, site, sum);
#pragma unroll
    for (int k = 0; k < 3; k++)
        out[k * QUARK_SITES + site] = sum[k];
}

template <int ROWS> static void quarks(Run &run)
{
    const std::vector<float> l = floats((size_t) 2 * 12 * ROWS * QUARK_SITES, 9402);
    const std::vector<float> w = floats(6 * QUARK_SITES, 9403);
    const float2 *links = (const float2 *) run.upload(l), *v = (const float2 *) run.upload(w);
    float2 *to = run.zeros<float2>(3 * QUARK_SITES);
    run.measure([=] { quark_kernel<ROWS><<<QUARK_SITES / 128, 128>>>(links, v, to); });
    const std::vector<float2> got = run.output(to, 3 * QUARK_SITES);
    for (int site = 0; site < QUARK_SITES; site += 1009) {
        float2 sum[3] = {};
        quark_hop<ROWS>((const float2 *) l.data(), (const float2 *) w.data(), site, sum);
        for (int k = 0; k < 3; k++) {
            run.expect(got[k * QUARK_SITES + site].x, sum[k].x, 1e-4);
            run.expect(got[k * QUARK_SITES + site].y, sum[k].y, 1e-4);
        }
    }
}

static void quarks_rows3(Run &run)
{
    quarks<3>(run);
}

static void quarks_rows2(Run &run)
{
    quarks<2>(run);
}

// ---- Spins in a plane, one sweep by Metropolis: stored as angles, or as vectors ----

enum { XY_W = 1024, XY_H = 768 };

__host__ __device__ inline float xy_random(uint32_t i, uint32_t step)
{
    uint32_t x = i * 2654435769u + step;
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    x ^= x >> 16;
    return (x >> 8) * 0x1p-24f;
}

// Energies of an angle against the four neighbours.
__host__ __device__ inline float xy_energy(float angle, const float *near)
{
    float sum = 0;
    for (int k = 0; k < 4; k++)
        sum -= cosf(angle - near[k]);
    return sum;
}

__host__ __device__ inline float xy_turn_angle(const float *spins, int i, const int *near, int step)
{
    const float angle = spins[i], turn = 6.2831853f * xy_random(i, step);
    float others[4];
    for (int k = 0; k < 4; k++)
        others[k] = spins[near[k]];
    const float change = xy_energy(turn, others) - xy_energy(angle, others);
    return change <= 0 || xy_random(i, step + 1) < expf(-change) ? turn : angle;
}

__host__ __device__ inline float2 xy_turn_vector(const float2 *spins, int i, const int *near,
                                                 int step)
{
    const float2 spin = spins[i];
    const float angle = 6.2831853f * xy_random(i, step);
    float2 turn, field = make_float2(0, 0);
    sincosf(angle, &turn.y, &turn.x);
    for (int k = 0; k < 4; k++) {
        field.x += spins[near[k]].x;
        field.y += spins[near[k]].y;
    }
    const float change = (spin.x - turn.x) * field.x + (spin.y - turn.y) * field.y;
    return change <= 0 || xy_random(i, step + 1) < expf(-change) ? turn : spin;
}

// The site that has number i of one colour, and its neighbours.
__host__ __device__ inline int xy_site(int i, int colour, int *near)
{
    const int y = i / (XY_W / 2), x = i % (XY_W / 2) * 2 + (y + colour & 1);
    near[0] = y * XY_W + (x + 1 & XY_W - 1);
    near[1] = y * XY_W + (x - 1 & XY_W - 1);
    near[2] = (y + 1 == XY_H ? 0 : y + 1) * XY_W + x;
    near[3] = (y == 0 ? XY_H - 1 : y - 1) * XY_W + x;
    return y * XY_W + x;
}

__global__ void xy_angles_kernel(float *spins, int colour)
{
    int near[4];
    const int site = xy_site(blockIdx.x * blockDim.x + threadIdx.x, colour, near);
    spins[site] = xy_turn_angle(spins, site, near, 2 * colour);
}

__global__ void xy_vectors_kernel(float2 *spins, int colour)
{
    int near[4];
    const int site = xy_site(blockIdx.x * blockDim.x + threadIdx.x, colour, near);
    spins[site] = xy_turn_vector(spins, site, near, 2 * colour);
}

// A spin for which rounding decides may differ; its neighbours may follow.
template <class Spin, class Turn>
static void xy(Run &run, std::vector<Spin> spins, void (*kernel)(Spin *, int), Turn turn)
{
    const Spin *from = run.upload(spins);
    Spin *to = run.zeros<Spin>(XY_W * XY_H);
    run.measure(
        [=] {
            for (int colour = 0; colour < 2; colour++)
                kernel<<<XY_W * XY_H / 2 / 128, 128>>>(to, colour);
        },
        [=] { CHECK(cudaMemcpy(to, from, XY_W * XY_H * sizeof(Spin), cudaMemcpyDeviceToDevice)); });
    for (int colour = 0, near[4]; colour < 2; colour++)
        for (int i = 0; i < XY_W * XY_H / 2; i++) {
            const int site = xy_site(i, colour, near);
            spins[site] = turn(spins.data(), site, near, 2 * colour);
        }
    const std::vector<Spin> got = run.output(to, XY_W * XY_H);
    int differ = 0;
    for (int i = 0; i < XY_W * XY_H; i++)
        differ += fabs(*(const float *) &got[i] - *(const float *) &spins[i]) > 1e-4;
    run.expect(differ < XY_W * XY_H / 1000, 1, 0);
}

static void xy_angles(Run &run)
{
    xy(run, floats(XY_W * XY_H, 9404, 0, 6.2831853f), xy_angles_kernel, xy_turn_angle);
}

static void xy_vectors(Run &run)
{
    const std::vector<float> angles = floats(XY_W * XY_H, 9404, 0, 6.2831853f);
    std::vector<float2> spins(XY_W * XY_H);
    for (int i = 0; i < XY_W * XY_H; i++)
        spins[i] = make_float2(cosf(angles[i]), sinf(angles[i]));
    xy(run, spins, xy_vectors_kernel, xy_turn_vector);
}

// ---- A Potts model of eight colours, half a sweep: colours in ints, or in bytes ----

enum { POTTS_W = 4096, POTTS_H = 1024 };

// `odds`: how likely a site loses 0 to 4 equal neighbours.
template <class Colour>
__host__ __device__ inline Colour potts_next(const Colour *in, int x, int y, const float *odds)
{
    const Colour up = in[(y - 1 & POTTS_H - 1) * POTTS_W + x];
    const Colour down = in[(y + 1 & POTTS_H - 1) * POTTS_W + x];
    const Colour left = in[y * POTTS_W + (x - 1 & POTTS_W - 1)];
    const Colour right = in[y * POTTS_W + (x + 1 & POTTS_W - 1)], now = in[y * POTTS_W + x];
    const int i = y * POTTS_W + x;
    const Colour wish = (Colour) (8 * xy_random(i, 77));
    const int before = (up == now) + (down == now) + (left == now) + (right == now);
    const int after = (up == wish) + (down == wish) + (left == wish) + (right == wish);
    const int loss = before - after;
    return loss <= 0 || xy_random(i, 78) < odds[loss] ? wish : now;
}

template <class Colour> __global__ void potts_kernel(Colour *sites, const float *odds)
{
    __shared__ float o[5];
    if (threadIdx.x < 5)
        o[threadIdx.x] = odds[threadIdx.x];
    __syncthreads();
    const int y = blockIdx.y, x = (blockIdx.x * blockDim.x + threadIdx.x) * 2 + (y & 1);
    sites[y * POTTS_W + x] = potts_next(sites, x, y, o);
}

template <class Colour> static void potts(Run &run)
{
    const std::vector<int> v = integers(POTTS_W * POTTS_H, 8, 9405);
    const std::vector<Colour> in(v.begin(), v.end());
    const std::vector<float> odds = { 1, 0.4f, 0.16f, 0.064f, 0.0256f };
    const Colour *from = run.upload(in);
    const float *dodds = run.upload(odds);
    Colour *to = run.zeros<Colour>(in.size());
    run.measure([=] { potts_kernel<<<dim3(POTTS_W / 512, POTTS_H), 256>>>(to, dodds); },
                [=] {
                    const size_t size = sizeof(Colour) * POTTS_W * POTTS_H;
                    CHECK(cudaMemcpy(to, from, size, cudaMemcpyDeviceToDevice));
                });
    run.expect_all(
        run.output(to, in.size()),
        [&](size_t i) {
            const int x = i % POTTS_W, y = i / POTTS_W;
            return (x + y) % 2 ? in[i] : potts_next(in.data(), x, y, odds.data());
        },
        0, 499);
}

static void potts_ints(Run &run)
{
    potts<int>(run);
}

static void potts_bytes(Run &run)
{
    potts<unsigned char>(run);
}

#endif
