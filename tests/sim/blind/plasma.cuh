// plasma.cuh - waves and charges: Schroedinger's equation, assembly of elements, a multigrid step,
// particles in a magnetic field, absorption lines.
#ifndef BLIND_PLASMA_CUH
#define BLIND_PLASMA_CUH

#include "blind.cuh"

// ---- A step of Schroedinger's equation: complex numbers together, or their parts apart ----

enum { PSI_SIZE = 1024 };

__global__ void psi_together_kernel(const float2 *psi, const float *potential, float2 *out)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    const int n = PSI_SIZE, i = y * n + x;
    const float2 c = psi[i], w = psi[y * n + (x + n - 1) % n], e = psi[y * n + (x + 1) % n];
    const float2 s = psi[(y + n - 1) % n * n + x], t = psi[(y + 1) % n * n + x];
    const float v = potential[i];
    const float re = 0.5f * (w.x + e.x + s.x + t.x - 4 * c.x) - v * c.x;
    const float im = 0.5f * (w.y + e.y + s.y + t.y - 4 * c.y) - v * c.y;
    out[i] = make_float2(c.x - 0.1f * im, c.y + 0.1f * re);
}

__device__ inline float psi_change(const float *part, int x, int y, float v)
{
    const int n = PSI_SIZE;
    const float c = part[y * n + x];
    const float around = part[y * n + (x + n - 1) % n] + part[y * n + (x + 1) % n] +
                         part[(y + n - 1) % n * n + x] + part[(y + 1) % n * n + x];
    return 0.5f * (around - 4 * c) - v * c;
}

__global__ void psi_apart_kernel(const float *re, const float *im, const float *potential,
                                 float *out_re, float *out_im)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    const int i = y * PSI_SIZE + x;
    out_re[i] = re[i] - 0.1f * psi_change(im, x, y, potential[i]);
    out_im[i] = im[i] + 0.1f * psi_change(re, x, y, potential[i]);
}

static void psi_expect(Run &run, const std::vector<float> &re, const std::vector<float> &im,
                       const std::vector<float> &v, int i, float got_re, float got_im)
{
    const int n = PSI_SIZE, x = i % n, y = i / n;
    const int around[4] = { y * n + (x + 1) % n, y * n + (x + n - 1) % n, (y + 1) % n * n + x,
                            (y + n - 1) % n * n + x };
    double sr = -4 * re[i], si = -4 * im[i];
    for (int k : around) {
        sr += re[k];
        si += im[k];
    }
    run.expect(got_re, re[i] - 0.1 * (0.5 * si - v[i] * im[i]), 1e-5);
    run.expect(got_im, im[i] + 0.1 * (0.5 * sr - v[i] * re[i]), 1e-5);
}

static void psi_together(Run &run)
{
    const int n = PSI_SIZE * PSI_SIZE;
    const std::vector<float> re = floats(n, 4021), im = floats(n, 4022), v = floats(n, 4023, 0, 1);
    std::vector<float2> psi(n);
    for (int i = 0; i < n; i++)
        psi[i] = make_float2(re[i], im[i]);
    float2 *from = run.upload(psi), *to = run.zeros<float2>(n);
    float *dv = run.upload(v);
    run.measure([=] {
        psi_together_kernel<<<dim3(PSI_SIZE / 32, PSI_SIZE / 8), dim3(32, 8)>>>(from, dv, to);
    });
    const std::vector<float2> got = run.output(to, n);
    for (int i = 0; i < n; i += 97)
        psi_expect(run, re, im, v, i, got[i].x, got[i].y);
}

static void psi_apart(Run &run)
{
    const int n = PSI_SIZE * PSI_SIZE;
    const std::vector<float> re = floats(n, 4021), im = floats(n, 4022), v = floats(n, 4023, 0, 1);
    float *dr = run.upload(re), *di = run.upload(im), *dv = run.upload(v);
    float *tr = run.zeros<float>(n), *ti = run.zeros<float>(n);
    run.measure([=] {
        psi_apart_kernel<<<dim3(PSI_SIZE / 32, PSI_SIZE / 8), dim3(32, 8)>>>(dr, di, dv, tr, ti);
    });
    const std::vector<float> got_re = run.output(tr, n), got_im = run.output(ti, n);
    for (int i = 0; i < n; i += 97)
        psi_expect(run, re, im, v, i, got_re[i], got_im[i]);
}

// ---- Assembly of square elements at their nodes: with atomics, or in four colours without ----

enum { MESH_SIDE = 1024, MESH_NODES = MESH_SIDE + 1 };

// What an element adds to its corner `k` (0 to 3: x in bit 0, y in bit 1).
__host__ __device__ inline float mesh_force(const float *u, int x, int y, int k)
{
    const float *at = u + y * MESH_NODES + x;
    const float a = at[0], b = at[1], c = at[MESH_NODES], d = at[MESH_NODES + 1];
    const float mine = k == 0 ? a : k == 1 ? b : k == 2 ? c : d;
    const float across = k == 0 ? d : k == 1 ? c : k == 2 ? b : a;
    return (mine * 5 - (a + b + c + d) - across) * (1.0f / 6);
}

__global__ void assemble_atomic_kernel(const float *u, float *force)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x >= MESH_SIDE)
        return;
    for (int k = 0; k < 4; k++)
        atomicAdd(&force[(y + k / 2) * MESH_NODES + x + k % 2], mesh_force(u, x, y, k));
}

__global__ void assemble_colour_kernel(const float *u, float *force, int colour)
{
    const int x = 2 * (blockIdx.x * blockDim.x + threadIdx.x) + colour % 2;
    const int y = 2 * blockIdx.y + colour / 2;
    if (x >= MESH_SIDE)
        return;
    for (int k = 0; k < 4; k++)
        force[(y + k / 2) * MESH_NODES + x + k % 2] += mesh_force(u, x, y, k);
}

static void assemble(Run &run, bool atomic)
{
    const int n = MESH_NODES * MESH_NODES;
    const std::vector<float> u = floats(n, 4024);
    float *from = run.upload(u), *to = run.zeros<float>(n);
    run.measure(
        [=] {
            if (atomic)
                assemble_atomic_kernel<<<dim3(MESH_SIDE / 128, MESH_SIDE), 128>>>(from, to);
            for (int colour = 0; colour < 4 && !atomic; colour++)
                assemble_colour_kernel<<<dim3(blocks_for(MESH_SIDE / 2, 128), MESH_SIDE / 2),
                                         128>>>(from, to, colour);
        },
        [=] { CHECK(cudaMemset(to, 0, n * sizeof(float))); });
    run.expect_all(
        run.output(to, n),
        [&](size_t i) {
            double sum = 0;
            for (int k = 0; k < 4; k++) {
                const int x = (int) i % MESH_NODES - k % 2, y = (int) i / MESH_NODES - k / 2;
                if (x >= 0 && y >= 0 && x < MESH_SIDE && y < MESH_SIDE)
                    sum += mesh_force(u.data(), x, y, k);
            }
            return sum;
        },
        1e-5, 31);
}

static void assemble_atomic(Run &run)
{
    assemble(run, true);
}

static void assemble_coloured(Run &run)
{
    assemble(run, false);
}

// ---- Multigrid: residual and its restriction to the coarse grid, in two kernels or in one ----

enum { GRID_FINE = 2048, GRID_COARSE = GRID_FINE / 2 };

__host__ __device__ inline float grid_residual(const float *u, const float *f, int x, int y)
{
    const int i = y * GRID_FINE + x;
    if (x < 1 || y < 1 || x >= GRID_FINE - 1 || y >= GRID_FINE - 1)
        return 0;
    return f[i] - (4 * u[i] - u[i - 1] - u[i + 1] - u[i - GRID_FINE] - u[i + GRID_FINE]);
}

__global__ void grid_residual_kernel(const float *u, const float *f, float *r)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    r[y * GRID_FINE + x] = grid_residual(u, f, x, y);
}

__global__ void grid_restrict_kernel(const float *r, float *coarse)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0;
    if (x > 0 && y > 0)
        for (int dy = -1; dy <= 1; dy++)
            for (int dx = -1; dx <= 1; dx++)
                sum += (2 - abs(dx)) * (2 - abs(dy)) * r[(2 * y + dy) * GRID_FINE + 2 * x + dx];
    coarse[y * GRID_COARSE + x] = sum * 0.0625f;
}

__host__ __device__ inline float grid_restricted(const float *u, const float *f, int x, int y)
{
    float sum = 0;
    if (x > 0 && y > 0)
        for (int dy = -1; dy <= 1; dy++)
            for (int dx = -1; dx <= 1; dx++)
                sum += (2 - abs(dx)) * (2 - abs(dy)) * grid_residual(u, f, 2 * x + dx, 2 * y + dy);
    return sum * 0.0625f;
}

__global__ void grid_fused_kernel(const float *u, const float *f, float *coarse)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    coarse[y * GRID_COARSE + x] = grid_restricted(u, f, x, y);
}

static void grid_step(Run &run, bool fused)
{
    const int n = GRID_FINE * GRID_FINE;
    const std::vector<float> u = floats(n, 4025), f = floats(n, 4026);
    float *du = run.upload(u), *df = run.upload(f), *r = run.zeros<float>(n);
    float *to = run.zeros<float>(n / 4);
    const dim3 block(32, 8), fine(GRID_FINE / 32, GRID_FINE / 8);
    const dim3 coarse(GRID_COARSE / 32, GRID_COARSE / 8);
    run.measure([=] {
        if (fused) {
            grid_fused_kernel<<<coarse, block>>>(du, df, to);
        } else {
            grid_residual_kernel<<<fine, block>>>(du, df, r);
            grid_restrict_kernel<<<coarse, block>>>(r, to);
        }
    });
    run.expect_all(
        run.output(to, n / 4),
        [&](int i) {
            return grid_restricted(u.data(), f.data(), i % GRID_COARSE, i / GRID_COARSE);
        },
        1e-4, 37);
}

static void restrict_apart(Run &run)
{
    grid_step(run, false);
}

static void restrict_fused(Run &run)
{
    grid_step(run, true);
}

// ---- Boris's push of charged particles: structures of 28 bytes, or padded to two float4 ----

struct BorisPacked {
    float x, y, z, vx, vy, vz, charge;
};

struct alignas(16) BorisPadded {
    float x, y, z, vx, vy, vz, charge, spare;
};

template <class Particle> __host__ __device__ inline Particle boris_pushed(Particle p)
{
    const float h = 0.01f * p.charge, bx = 0.3f, by = 0.1f * p.x, bz = 1;
    const float ex = -0.5f * p.x, ey = -0.5f * p.y;
    const float tx = h * bx, ty = h * by, tz = h * bz;
    const float s = 2 / (1 + tx * tx + ty * ty + tz * tz);
    const float vx = p.vx + h * ex, vy = p.vy + h * ey, vz = p.vz;
    const float ux = vx + vy * tz - vz * ty, uy = vy + vz * tx - vx * tz;
    const float uz = vz + vx * ty - vy * tx;
    p.vx = vx + s * (uy * tz - uz * ty) + h * ex;
    p.vy = vy + s * (uz * tx - ux * tz) + h * ey;
    p.vz = vz + s * (ux * ty - uy * tx);
    p.x += 0.02f * p.vx;
    p.y += 0.02f * p.vy;
    p.z += 0.02f * p.vz;
    return p;
}

template <class Particle> __global__ void boris_kernel(const Particle *in, Particle *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = boris_pushed(in[i]);
}

template <class Particle> static void boris(Run &run)
{
    const int n = 1400000;
    const std::vector<float> v = floats(7 * n, 4027);
    std::vector<Particle> in(n);
    for (int i = 0; i < n; i++) {
        const float *at = &v[7 * i];
        in[i].x = at[0], in[i].y = at[1], in[i].z = at[2];
        in[i].vx = at[3], in[i].vy = at[4], in[i].vz = at[5], in[i].charge = at[6];
    }
    Particle *from = run.upload(in), *to = run.zeros<Particle>(n);
    run.measure([=] { boris_kernel<<<blocks_for(n, 256), 256>>>(from, to, n); });
    const std::vector<Particle> got = run.output(to, n);
    for (int i = 0; i < n; i += 101) {
        const Particle wanted = boris_pushed(in[i]);
        run.expect(got[i].x, wanted.x, 1e-5);
        run.expect(got[i].vy, wanted.vy, 1e-5);
        run.expect(got[i].vz, wanted.vz, 1e-5);
    }
}

static void boris_packed(Run &run)
{
    boris<BorisPacked>(run);
}

static void boris_padded(Run &run)
{
    boris<BorisPadded>(run);
}

// ---- Absorption of a gas: each frequency adds the profiles of all lines near it ----

enum { ABSORB_LINES = 600, ABSORB_POINTS = 12000 };

__host__ __device__ inline float absorb_at(const float4 *lines, float frequency)
{
    float sum = 0;
    for (int k = 0; k < ABSORB_LINES; k++) {
        const float4 line = lines[k]; // centre, strength, width of pressure, width of heat
        const float d = frequency - line.x;
        if (fabsf(d) > 60)
            continue;
        const float heat = expf(-d * d / (line.w * line.w));
        sum += line.y * (0.4f * heat + 0.6f * line.z / (d * d + line.z * line.z));
    }
    return sum;
}

__global__ void absorb_kernel(const float4 *lines, float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < ABSORB_POINTS)
        out[i] = absorb_at(lines, i * 0.05f);
}

static void absorption_lines(Run &run)
{
    const int n = ABSORB_POINTS;
    const std::vector<float> v = floats(4 * ABSORB_LINES, 4028, 0.1f, 1);
    std::vector<float4> lines(ABSORB_LINES);
    for (int k = 0; k < ABSORB_LINES; k++)
        lines[k] = make_float4(600 * v[4 * k], v[4 * k + 1], v[4 * k + 2], v[4 * k + 3]);
    float4 *from = run.upload(lines);
    float *to = run.zeros<float>(n);
    run.measure([=] { absorb_kernel<<<blocks_for(n, 96), 96>>>(from, to); });
    run.expect_all(
        run.output(to, n), [&](size_t i) { return absorb_at(lines.data(), i * 0.05f); }, 1e-3, 17);
}

#endif
