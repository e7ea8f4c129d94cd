// crystals.cuh - atoms in crystals: structure factors, pair forces, potentials, distances.
#ifndef BLIND_CRYSTALS_CUH
#define BLIND_CRYSTALS_CUH

#include "blind.cuh"

// ---- Structure factors of 4096 atoms: a sine and cosine per term, or products of powers ----

enum { FACTOR_ATOMS = 4096, FACTOR_SIDE = 10, FACTORS = FACTOR_SIDE * FACTOR_SIDE * FACTOR_SIDE };

// Sums the two values over a block of 256 threads; thread 0 writes them.
__device__ inline void factor_sum(float2 v, float2 *out)
{
    __shared__ float2 sums[8];
    for (int by = 16; by; by /= 2) {
        v.x += __shfl_down_sync(~0u, v.x, by);
        v.y += __shfl_down_sync(~0u, v.y, by);
    }
    if (threadIdx.x % 32 == 0)
        sums[threadIdx.x / 32] = v;
    __syncthreads();
    if (threadIdx.x)
        return;
    for (int k = 1; k < 8; k++) {
        v.x += sums[k].x;
        v.y += sums[k].y;
    }
    *out = v;
}

// A block per wave vector. Atoms: three coordinates and a charge.
__global__ void factors_sines_kernel(const float4 *atoms, float2 *out)
{
    const int h = blockIdx.x % FACTOR_SIDE, k = blockIdx.x / FACTOR_SIDE % FACTOR_SIDE;
    const int l = blockIdx.x / (FACTOR_SIDE * FACTOR_SIDE);
    float2 sum = make_float2(0, 0);
    for (int j = threadIdx.x; j < FACTOR_ATOMS; j += blockDim.x) {
        const float4 a = atoms[j];
        float s, c;
        sincosf(6.2831853f * (h * a.x + k * a.y + l * a.z), &s, &c);
        sum.x += a.w * c;
        sum.y += a.w * s;
    }
    factor_sum(sum, &out[blockIdx.x]);
}

__host__ __device__ inline float2 factor_times(float2 a, float2 b)
{
    return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

// Powers 0 to 9 of exp(2 pi i x), for each axis; power n of axis a of atom j is at
// (a * 10 + n) * FACTOR_ATOMS + j.
__global__ void factor_powers_kernel(const float4 *atoms, float2 *powers)
{
    const int j = blockIdx.x * blockDim.x + threadIdx.x, axis = blockIdx.y;
    const float4 a = atoms[j];
    const float x = axis == 0 ? a.x : axis == 1 ? a.y : a.z;
    float2 base, power = make_float2(1, 0);
    sincosf(6.2831853f * x, &base.y, &base.x);
    for (int n = 0; n < FACTOR_SIDE; n++) {
        powers[(axis * FACTOR_SIDE + n) * FACTOR_ATOMS + j] = power;
        power = factor_times(power, base);
    }
}

__global__ void factors_products_kernel(const float4 *atoms, const float2 *powers, float2 *out)
{
    const int h = blockIdx.x % FACTOR_SIDE, k = blockIdx.x / FACTOR_SIDE % FACTOR_SIDE;
    const int l = blockIdx.x / (FACTOR_SIDE * FACTOR_SIDE);
    const float2 *x = powers + h * FACTOR_ATOMS, *y = powers + (FACTOR_SIDE + k) * FACTOR_ATOMS;
    const float2 *z = powers + (2 * FACTOR_SIDE + l) * FACTOR_ATOMS;
    float2 sum = make_float2(0, 0);
    for (int j = threadIdx.x; j < FACTOR_ATOMS; j += blockDim.x) {
        const float2 v = factor_times(factor_times(x[j], y[j]), z[j]);
        const float charge = atoms[j].w;
        sum.x += charge * v.x;
        sum.y += charge * v.y;
    }
    factor_sum(sum, &out[blockIdx.x]);
}

static void factors_check(Run &run, const float2 *to, const std::vector<float> &atoms)
{
    const std::vector<float2> got = run.output(to, FACTORS);
    for (int i = 0; i < FACTORS; i += 37) {
        double c = 0, s = 0;
        for (size_t j = 0; j < FACTOR_ATOMS; j++) {
            const float *a = &atoms[4 * j];
            const double turns = (double) (i % FACTOR_SIDE) * a[0] +
                                 (double) (i / FACTOR_SIDE % FACTOR_SIDE) * a[1] +
                                 (double) (i / (FACTOR_SIDE * FACTOR_SIDE)) * a[2];
            c += a[3] * cos(6.283185307 * turns);
            s += a[3] * sin(6.283185307 * turns);
        }
        run.expect(got[i].x, c, 1e-2);
        run.expect(got[i].y, s, 1e-2);
    }
}

static void factors_sines(Run &run)
{
    const std::vector<float> atoms = floats(4 * FACTOR_ATOMS, 12030, 0, 1);
    const float4 *from = (const float4 *) run.upload(atoms);
    float2 *to = run.zeros<float2>(FACTORS);
    run.measure([=] { factors_sines_kernel<<<FACTORS, 256>>>(from, to); });
    factors_check(run, to, atoms);
}

static void factors_powers(Run &run)
{
    const std::vector<float> atoms = floats(4 * FACTOR_ATOMS, 12030, 0, 1);
    const float4 *from = (const float4 *) run.upload(atoms);
    float2 *powers = run.zeros<float2>(3 * FACTOR_SIDE * FACTOR_ATOMS);
    float2 *to = run.zeros<float2>(FACTORS);
    run.measure([=] {
        factor_powers_kernel<<<dim3(FACTOR_ATOMS / 128, 3), 128>>>(from, powers);
        factors_products_kernel<<<FACTORS, 256>>>(from, powers, to);
    });
    factors_check(run, to, atoms);
}

// ---- Forces by lists of neighbours: each pair twice, or once with atomic additions ----

enum { PAIR_ATOMS = 192 * 1024, PAIR_HALF = 12 };

// Repulsion and attraction; `d` points to the other atom.
__host__ __device__ inline float pair_force(float dx, float dy, float dz)
{
    const float r2 = dx * dx + dy * dy + dz * dz + 0.5f, r = 1 / r2, r6 = r * r * r;
    return r * r6 * (1 - 2 * r6);
}

// Neighbour k of atom i: at k * PAIR_ATOMS + i of `list`. The lists of the full form hold the
// reverse pairs as well.
__global__ void pairs_full_kernel(const float4 *atoms, const int *list, float *forces)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float4 me = atoms[i];
    float fx = 0, fy = 0, fz = 0;
    for (int k = 0; k < 2 * PAIR_HALF; k++) {
        const float4 other = atoms[list[k * PAIR_ATOMS + i]];
        const float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
        const float f = pair_force(dx, dy, dz);
        fx += f * dx;
        fy += f * dy;
        fz += f * dz;
    }
    forces[3 * i] = fx;
    forces[3 * i + 1] = fy;
    forces[3 * i + 2] = fz;
}

__global__ void pairs_half_kernel(const float4 *atoms, const int *list, float *forces)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float4 me = atoms[i];
    float fx = 0, fy = 0, fz = 0;
    for (int k = 0; k < PAIR_HALF; k++) {
        const int j = list[k * PAIR_ATOMS + i];
        const float4 other = atoms[j];
        const float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
        const float f = pair_force(dx, dy, dz);
        fx += f * dx;
        fy += f * dy;
        fz += f * dz;
        atomicAdd(&forces[3 * j], -f * dx);
        atomicAdd(&forces[3 * j + 1], -f * dy);
        atomicAdd(&forces[3 * j + 2], -f * dz);
    }
    atomicAdd(&forces[3 * i], fx);
    atomicAdd(&forces[3 * i + 1], fy);
    atomicAdd(&forces[3 * i + 2], fz);
}

// Partner k lies a random distance after an atom, the same for all atoms except for the order
// within 32 of them.
static std::vector<int> pair_lists()
{
    std::vector<int> list((size_t) 2 * PAIR_HALF * PAIR_ATOMS);
    const std::vector<int> gaps = integers(PAIR_HALF, 3000, 12031);
    for (size_t k = 0; k < PAIR_HALF; k++)
        for (size_t i = 0; i < PAIR_ATOMS; i++) {
            const size_t turned = (i & ~(size_t) 31) | ((i * 13 + k) & 31);
            const size_t j = (turned + gaps[k] + 1 + 37 * k) % PAIR_ATOMS;
            list[k * PAIR_ATOMS + i] = (int) j;
            list[(PAIR_HALF + k) * PAIR_ATOMS + j] = (int) i;
        }
    return list;
}

static void pairs(Run &run, bool full)
{
    const std::vector<float> atoms = floats(4 * PAIR_ATOMS, 12032, 0, 3);
    const std::vector<int> list = pair_lists();
    const float4 *from = (const float4 *) run.upload(atoms);
    const int *dl = run.upload(list);
    float *to = run.zeros<float>(3 * PAIR_ATOMS);
    run.measure(
        [=] {
            if (full)
                pairs_full_kernel<<<PAIR_ATOMS / 128, 128>>>(from, dl, to);
            else
                pairs_half_kernel<<<PAIR_ATOMS / 128, 128>>>(from, dl, to);
        },
        [=] { CHECK(cudaMemset(to, 0, 3 * PAIR_ATOMS * sizeof(float))); });
    const std::vector<float> got = run.output(to, 3 * PAIR_ATOMS);
    for (size_t i = 0; i < PAIR_ATOMS; i += 307)
        for (int axis = 0; axis < 3; axis++) {
            double force = 0;
            for (size_t k = 0; k < 2 * PAIR_HALF; k++) {
                const float *a = &atoms[4 * i], *b = &atoms[4 * list[k * PAIR_ATOMS + i]];
                const float d[3] = { b[0] - a[0], b[1] - a[1], b[2] - a[2] };
                force += pair_force(d[0], d[1], d[2]) * d[axis];
            }
            run.expect(got[3 * i + axis], force, 1e-3);
        }
}

static void pairforces_full(Run &run)
{
    pairs(run, true);
}

static void pairforces_half(Run &run)
{
    pairs(run, false);
}

// ---- Morse potential and its slope in double: by the formula, or cubic pieces of a table ----

enum { MORSE_PAIRS = 2 << 20, MORSE_PIECES = 1024 };

// a + b t + c t^2 + d t^3, t from 0 to 1.
struct MorsePiece {
    double2 ab, cd;
};

__host__ __device__ inline double2 morse_formula_at(double r)
{
    const double e = exp(-1.7 * (r - 1.2));
    return make_double2(0.9 * (e * e - 2 * e), 0.9 * 1.7 * 2 * (e - e * e));
}

__global__ void morse_formula_kernel(const double *squares, const MorsePiece *, double2 *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = morse_formula_at(sqrt(squares[i]));
}

// Piece k covers r from k / 256.
__global__ void morse_table_kernel(const double *squares, const MorsePiece *table, double2 *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const double at = sqrt(squares[i]) * 256;
    const int piece = min((int) at, MORSE_PIECES - 1);
    const double2 ab = table[piece].ab, cd = table[piece].cd;
    const double t = at - piece;
    const double value = ab.x + t * (ab.y + t * (cd.x + t * cd.y));
    out[i] = make_double2(value, 256 * (ab.y + t * (2 * cd.x + t * 3 * cd.y)));
}

// Cubic pieces that agree with value and slope at both ends.
static std::vector<MorsePiece> morse_pieces()
{
    std::vector<MorsePiece> table(MORSE_PIECES);
    for (int k = 0; k < MORSE_PIECES; k++) {
        const double2 a = morse_formula_at(k / 256.0), b = morse_formula_at((k + 1) / 256.0);
        const double m = a.y / 256, n = b.y / 256, rise = b.x - a.x;
        table[k].ab = make_double2(a.x, m);
        table[k].cd = make_double2(3 * rise - 2 * m - n, m + n - 2 * rise);
    }
    return table;
}

static void morse(Run &run, void (*kernel)(const double *, const MorsePiece *, double2 *))
{
    const std::vector<float> r = floats(MORSE_PAIRS, 12033, 0.5f, 3.9f);
    std::vector<double> squares(MORSE_PAIRS);
    for (size_t i = 0; i < MORSE_PAIRS; i++)
        squares[i] = (double) r[i] * r[i];
    const double *from = run.upload(squares);
    const MorsePiece *dt = run.upload(morse_pieces());
    double2 *to = run.zeros<double2>(MORSE_PAIRS);
    run.measure([=] { kernel<<<MORSE_PAIRS / 256, 256>>>(from, dt, to); });
    const std::vector<double2> got = run.output(to, MORSE_PAIRS);
    for (size_t i = 0; i < MORSE_PAIRS; i += 1009) {
        run.expect(got[i].x, morse_formula_at(r[i]).x, 1e-6);
        run.expect(got[i].y, morse_formula_at(r[i]).y, 1e-4);
    }
}

static void morse_formula(Run &run)
{
    morse(run, morse_formula_kernel);
}

static void morse_table(Run &run)
{
    morse(run, morse_table_kernel);
}

// ---- Distances of all pairs of 3072 atoms in a periodic box: bins in global or shared ----

enum { RADIAL_ATOMS = 3072, RADIAL_BINS = 400 };

__host__ __device__ inline float radial_wrap(float d)
{
    return d - rintf(d);
}

__host__ __device__ inline int radial_bin(float4 a, float4 b)
{
    const float x = radial_wrap(a.x - b.x), y = radial_wrap(a.y - b.y), z = radial_wrap(a.z - b.z);
    const int bin = (int) (sqrtf(x * x + y * y + z * z) * (RADIAL_BINS / 0.9f));
    return bin < RADIAL_BINS ? bin : RADIAL_BINS - 1;
}

// A block compares 128 atoms with 128 others; the blocks above the diagonal have nothing to do.
__device__ inline void radial_pairs(const float4 *atoms, int *bins)
{
    __shared__ float4 others[128];
    const int i = blockIdx.x * 128 + threadIdx.x, first = blockIdx.y * 128;
    const float4 me = atoms[i];
    others[threadIdx.x] = atoms[first + threadIdx.x];
    __syncthreads();
    for (int k = 0; k < 128; k++)
        if (first + k < i)
            atomicAdd(&bins[radial_bin(me, others[k])], 1);
}

__global__ void radial_global_kernel(const float4 *atoms, int *bins)
{
    if (blockIdx.y <= blockIdx.x)
        radial_pairs(atoms, bins);
}

__global__ void radial_shared_kernel(const float4 *atoms, int *bins)
{
    __shared__ int mine[RADIAL_BINS];
    if (blockIdx.y > blockIdx.x)
        return;
    for (int b = threadIdx.x; b < RADIAL_BINS; b += 128)
        mine[b] = 0;
    __syncthreads();
    radial_pairs(atoms, mine);
    __syncthreads();
    for (int b = threadIdx.x; b < RADIAL_BINS; b += 128)
        if (mine[b])
            atomicAdd(&bins[b], mine[b]);
}

// Rounding may move a pair to the next bin: sums of bins from the first are compared.
static void radial(Run &run, void (*kernel)(const float4 *, int *))
{
    const std::vector<float> v = floats(4 * RADIAL_ATOMS, 12034, 0, 1);
    const float4 *atoms = (const float4 *) v.data(), *from = (const float4 *) run.upload(v);
    int *to = run.zeros<int>(RADIAL_BINS);
    const dim3 grid(RADIAL_ATOMS / 128, RADIAL_ATOMS / 128);
    run.measure([=] { kernel<<<grid, 128>>>(from, to); },
                [=] { CHECK(cudaMemset(to, 0, RADIAL_BINS * sizeof(int))); });
    const std::vector<int> got = run.output(to, RADIAL_BINS);
    std::vector<int> wanted(RADIAL_BINS);
    for (int i = 0; i < RADIAL_ATOMS; i++)
        for (int k = 0; k < i; k++)
            wanted[radial_bin(atoms[i], atoms[k])]++;
    double sum = 0, wanted_sum = 0;
    for (int b = 0; b < RADIAL_BINS; b++) {
        sum += got[b];
        wanted_sum += wanted[b];
        run.expect(sum, wanted_sum, b < 40 ? 0.02 : 1e-3);
    }
}

static void radial_global(Run &run)
{
    radial(run, radial_global_kernel);
}

static void radial_shared(Run &run)
{
    radial(run, radial_shared_kernel);
}

#endif
