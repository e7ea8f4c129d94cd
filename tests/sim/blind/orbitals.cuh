// orbitals.cuh - electrons of molecules: densities on a grid, overlaps of shells, Boys functions,
// weights of atoms.
#ifndef BLIND_ORBITALS_CUH
#define BLIND_ORBITALS_CUH

#include "blind.cuh"

// ---- Density at the points of a grid: the sum over all atoms, or without those that are far ----

enum { RHO_ATOMS = 56, RHO_X = 64, RHO_Y = 32, RHO_Z = 32, RHO_POINTS = RHO_X * RHO_Y * RHO_Z };

struct RhoAtom {
    double x, y, z, exponent, weight;
};

template <bool NEAR>
__host__ __device__ inline double rho_at(const RhoAtom *atoms, double x, double y, double z)
{
    double sum = 0;
    for (int a = 0; a < RHO_ATOMS; a++) {
        const RhoAtom &atom = atoms[a];
        const double dx = x - atom.x, dy = y - atom.y, dz = z - atom.z;
        const double power = atom.exponent * (dx * dx + dy * dy + dz * dz);
        if (NEAR && power > 36)
            continue;
        sum += atom.weight * exp(-power);
    }
    return sum;
}

template <bool NEAR> __global__ void rho_kernel(const RhoAtom *atoms, double step, double *rho)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int x = i % RHO_X, y = i / RHO_X % RHO_Y, z = i / (RHO_X * RHO_Y);
    rho[i] = rho_at<NEAR>(atoms, x * step, y * step, z * step);
}

template <bool NEAR> static void rho(Run &run)
{
    const double step = 0.25;
    const std::vector<float> r = floats(RHO_ATOMS * 5, 13010, 0, 1);
    std::vector<RhoAtom> atoms(RHO_ATOMS);
    for (int a = 0; a < RHO_ATOMS; a++) {
        const float *v = &r[a * 5];
        atoms[a] = { v[0] * RHO_X * step, v[1] * RHO_Y * step, v[2] * RHO_Z * step, 0.6 + 2 * v[3],
                     1 + v[4] };
    }
    const RhoAtom *from = run.upload(atoms);
    double *to = run.zeros<double>(RHO_POINTS);
    run.measure([=] { rho_kernel<NEAR><<<RHO_POINTS / 128, 128>>>(from, step, to); });
    run.expect_all(
        run.output(to, RHO_POINTS),
        [&](int i) {
            const int x = i % RHO_X, y = i / RHO_X % RHO_Y, z = i / (RHO_X * RHO_Y);
            return rho_at<false>(atoms.data(), x * step, y * step, z * step);
        },
        1e-9, 61);
}

static void rho_all(Run &run)
{
    rho<false>(run);
}

static void rho_near(Run &run)
{
    rho<true>(run);
}

// ---- Overlaps of shells of three Gaussians: all pairs, or half of them ----

enum { OVERLAP_SHELLS = 832 };

struct OverlapShell {
    float x, y, z, exponents[3], weights[3];
};

__host__ __device__ inline float overlap_of(const OverlapShell &a, const OverlapShell &b)
{
    const float dx = a.x - b.x, dy = a.y - b.y, dz = a.z - b.z, r2 = dx * dx + dy * dy + dz * dz;
    float sum = 0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            const float p = a.exponents[i] + b.exponents[j], inverse = 1 / p;
            const float size = 3.14159265f * inverse;
            sum += a.weights[i] * b.weights[j] * size * sqrtf(size) *
                   expf(-a.exponents[i] * b.exponents[j] * inverse * r2);
        }
    return sum;
}

__global__ void overlap_square_kernel(const OverlapShell *shells, float *out)
{
    const int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
    out[(size_t) i * OVERLAP_SHELLS + j] = overlap_of(shells[i], shells[j]);
}

// The pair's row is the largest i with i (i + 1) / 2 <= k.
__global__ void overlap_half_kernel(const OverlapShell *shells, float *out)
{
    const int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= OVERLAP_SHELLS * (OVERLAP_SHELLS + 1) / 2)
        return;
    int i = (int) ((sqrtf(8.0f * k + 1) - 1) / 2);
    while (i * (i + 1) / 2 > k)
        i--;
    while ((i + 1) * (i + 2) / 2 <= k)
        i++;
    const int j = k - i * (i + 1) / 2;
    const float overlap = overlap_of(shells[i], shells[j]);
    out[(size_t) i * OVERLAP_SHELLS + j] = overlap;
    out[(size_t) j * OVERLAP_SHELLS + i] = overlap;
}

static void overlap(Run &run, bool half)
{
    const int n = OVERLAP_SHELLS;
    const std::vector<float> r = floats(n * 9, 13011, 0, 1);
    std::vector<OverlapShell> shells(n);
    for (int s = 0; s < n; s++) {
        const float *v = &r[s * 9];
        shells[s] = { 6 * v[0],
                      6 * v[1],
                      6 * v[2],
                      { v[3] + 0.2f, v[4] + 1, 3 * v[5] + 2 },
                      { v[6], v[7], v[8] } };
    }
    const OverlapShell *from = run.upload(shells);
    float *to = run.zeros<float>((size_t) n * n);
    run.measure([=] {
        if (half)
            overlap_half_kernel<<<blocks_for(n * (n + 1) / 2, 256), 256>>>(from, to);
        else
            overlap_square_kernel<<<dim3(n / 16, n / 16), dim3(16, 16)>>>(from, to);
    });
    run.expect_all(
        run.output(to, (size_t) n * n),
        [&](size_t k) { return overlap_of(shells[k / n], shells[k % n]); }, 1e-4, 487);
}

static void overlap_square(Run &run)
{
    overlap(run, false);
}

static void overlap_half(Run &run)
{
    overlap(run, true);
}

// ---- Boys functions of orders 0 to 4: a series until it converges, or a table ----

enum { BOYS_COUNT = 440000, BOYS_ORDER = 4, BOYS_TERMS = 6, BOYS_CELLS = 163 };

// exp(-x) sum of (2x)^k / ((2m + 1) (2m + 3) ... (2m + 2k + 1))
__host__ __device__ inline double boys_highest(double x, double power, int order)
{
    double term = 1.0 / (2 * order + 1), sum = term;
    for (int k = 1; term > 1e-15 * sum; k++) {
        term *= 2 * x / (2 * order + 2 * k + 1);
        sum += term;
    }
    return power * sum;
}

// From the highest order down to 0.
__host__ __device__ inline void boys_down(double x, double power, double highest, double *out)
{
    out[BOYS_ORDER] = highest;
    for (int m = BOYS_ORDER - 1; m >= 0; m--)
        out[m] = (2 * x * out[m + 1] + power) * (1.0 / (2 * m + 1));
}

__global__ void boys_series_kernel(const double *x, double *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= BOYS_COUNT)
        return;
    double values[BOYS_ORDER + 1];
    const double power = exp(-x[i]);
    boys_down(x[i], power, boys_highest(x[i], power, BOYS_ORDER), values);
    for (int m = 0; m <= BOYS_ORDER; m++)
        out[m * BOYS_COUNT + i] = values[m];
}

// A Taylor series from the nearest of the table's points, which are 1/10 apart.
__global__ void boys_table_kernel(const double *x, const double *table, double *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= BOYS_COUNT)
        return;
    double values[BOYS_ORDER + 1], factor = 1, highest = 0;
    const int cell = (int) (x[i] * 10 + 0.5);
    const double d = cell * 0.1 - x[i];
    for (int k = 0; k < BOYS_TERMS; k++) {
        highest += table[cell * BOYS_TERMS + k] * factor;
        factor *= d / (k + 1);
    }
    boys_down(x[i], exp(-x[i]), highest, values);
    for (int m = 0; m <= BOYS_ORDER; m++)
        out[m * BOYS_COUNT + i] = values[m];
}

static void boys(Run &run, bool by_table)
{
    const std::vector<float> r = floats(BOYS_COUNT, 13012, 0, 1);
    std::vector<double> x(BOYS_COUNT), table(BOYS_CELLS * BOYS_TERMS);
    for (int i = 0; i < BOYS_COUNT; i++) // similar for the pairs of two shells
        x[i] = 14.0 * r[i / 480] * r[i / 480] + 2 * r[i];
    for (int i = 0; i < BOYS_CELLS * BOYS_TERMS; i++) {
        const double at = i / BOYS_TERMS * 0.1;
        table[i] = boys_highest(at, exp(-at), BOYS_ORDER + i % BOYS_TERMS);
    }
    const double *dx = run.upload(x), *dt = run.upload(table);
    double *to = run.zeros<double>((size_t) BOYS_COUNT * (BOYS_ORDER + 1));
    run.measure([=] {
        const int grid = blocks_for(BOYS_COUNT, 192);
        if (by_table)
            boys_table_kernel<<<grid, 192>>>(dx, dt, to);
        else
            boys_series_kernel<<<grid, 192>>>(dx, to);
    });
    const std::vector<double> got = run.output(to, (size_t) BOYS_COUNT * (BOYS_ORDER + 1));
    for (int i = 0; i < BOYS_COUNT; i += 37) {
        double wanted[BOYS_ORDER + 1];
        boys_down(x[i], exp(-x[i]), boys_highest(x[i], exp(-x[i]), BOYS_ORDER), wanted);
        for (int m = 0; m <= BOYS_ORDER; m++)
            run.expect(got[m * BOYS_COUNT + i], wanted[m], 1e-8);
    }
}

static void boys_series(Run &run)
{
    boys(run, false);
}

static void boys_table(Run &run)
{
    boys(run, true);
}

// ---- The weight of the nearest cell's atom at a point: a thread per point, or a lane per atom
// ----

enum { BECKE_ATOMS = 32 /* a warp */, BECKE_POINTS = 6144 };

// A step from 1 to 0 as mu increases from -1 to 1.
__host__ __device__ inline double becke_step(double mu)
{
    for (int k = 0; k < 3; k++)
        mu = 0.5 * mu * (3 - mu * mu);
    return 0.5 * (1 - mu);
}

__host__ __device__ inline double becke_distance(double3 a, double3 b)
{
    const double dx = a.x - b.x, dy = a.y - b.y, dz = a.z - b.z;
    return sqrt(dx * dx + dy * dy + dz * dz);
}

// `inverses`: 1 / the distance of two atoms. `owner`: the atom to which the point belongs.
__host__ __device__ inline double becke_weight(double3 point, const double3 *atoms,
                                               const double *inverses, int owner)
{
    double distances[BECKE_ATOMS], sum = 0, own = 0;
    for (int a = 0; a < BECKE_ATOMS; a++)
        distances[a] = becke_distance(point, atoms[a]);
    for (int a = 0; a < BECKE_ATOMS; a++) {
        double product = 1;
        for (int b = 0; b < BECKE_ATOMS; b++)
            if (a != b)
                product *=
                    becke_step((distances[a] - distances[b]) * inverses[a * BECKE_ATOMS + b]);
        sum += product;
        if (a == owner)
            own = product;
    }
    return own / sum;
}

__global__ void becke_thread_kernel(const double3 *points, const double3 *atoms,
                                    const double *inverses, double *weights)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < BECKE_POINTS)
        weights[i] = becke_weight(points[i], atoms, inverses, i % BECKE_ATOMS);
}

__global__ void becke_warp_kernel(const double3 *points, const double3 *atoms,
                                  const double *inverses, double *weights)
{
    const int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    const double distance = becke_distance(points[i], atoms[lane]);
    double product = 1;
    for (int b = 0; b < BECKE_ATOMS; b++) {
        const double other = __shfl_sync(~0u, distance, b);
        if (b != lane)
            product *= becke_step((distance - other) * inverses[b * BECKE_ATOMS + lane]);
    }
    double sum = product;
    for (int d = 16; d; d /= 2)
        sum += __shfl_xor_sync(~0u, sum, d);
    if (lane == i % 32)
        weights[i] = product / sum;
}

static std::vector<double3> becke_places(int count, uint32_t seed)
{
    const std::vector<float> r = floats(3 * count, seed, 0, 9);
    std::vector<double3> places(count);
    for (int i = 0; i < count; i++)
        places[i] = make_double3(r[3 * i], r[3 * i + 1], r[3 * i + 2]);
    return places;
}

static void becke(Run &run, bool warp)
{
    const std::vector<double3> points = becke_places(BECKE_POINTS, 13013);
    const std::vector<double3> atoms = becke_places(BECKE_ATOMS, 13014);
    std::vector<double> inverses(BECKE_ATOMS * BECKE_ATOMS);
    for (int i = 0; i < BECKE_ATOMS * BECKE_ATOMS; i++)
        if (i / BECKE_ATOMS != i % BECKE_ATOMS)
            inverses[i] = 1 / becke_distance(atoms[i / BECKE_ATOMS], atoms[i % BECKE_ATOMS]);
    const double3 *dp = run.upload(points), *da = run.upload(atoms);
    const double *di = run.upload(inverses);
    double *to = run.zeros<double>(BECKE_POINTS);
    run.measure([=] {
        if (warp)
            becke_warp_kernel<<<BECKE_POINTS / 4, 128>>>(dp, da, di, to);
        else
            becke_thread_kernel<<<blocks_for(BECKE_POINTS, 64), 64>>>(dp, da, di, to);
    });
    run.expect_all(
        run.output(to, BECKE_POINTS),
        [&](int i) {
            return becke_weight(points[i], atoms.data(), inverses.data(), i % BECKE_ATOMS);
        },
        1e-7, 7);
}

static void becke_thread(Run &run)
{
    becke(run, false);
}

static void becke_warp(Run &run)
{
    becke(run, true);
}

#endif
