// tissue.cuh - living tissue: reactions and diffusion in three dimensions, oxygen, signals in
// fibres.
#ifndef BLIND_TISSUE_CUH
#define BLIND_TISSUE_CUH

#include "blind.cuh"

// ---- Two substances that react and spread: one thread per cell, or threads that walk along z ----

enum { REACT_NX = 128, REACT_NY = 120, REACT_NZ = 144, REACT_SLAB = 18 };
enum { REACT_CELLS = REACT_NX * REACT_NY * REACT_NZ, REACT_LAYER = REACT_NX * REACT_NY };

// The second substance turns the first one into more of itself.
template <class Real>
__host__ __device__ inline void tissue_react(Real *u, Real *v, Real around_u, Real around_v)
{
    const Real meet = *u * *v * *v;
    const Real next_u = *u + Real(0.16) * (around_u - 6 * *u) - meet + Real(0.035) * (1 - *u);
    *v += Real(0.08) * (around_v - 6 * *v) + meet - Real(0.1) * *v;
    *u = next_u;
}

// The edges repeat their cells. Sums the four neighbours of the same layer.
template <class Real>
__host__ __device__ inline Real tissue_beside(const float *layer, int x, int y)
{
    const int left = x ? x - 1 : x, right = x < REACT_NX - 1 ? x + 1 : x;
    const int up = y ? y - 1 : y, down = y < REACT_NY - 1 ? y + 1 : y;
    return (Real) layer[y * REACT_NX + left] + layer[y * REACT_NX + right] +
           layer[up * REACT_NX + x] + layer[down * REACT_NX + x];
}

template <class Real>
__host__ __device__ inline Real tissue_around(const float *field, int x, int y, int z)
{
    const int below = z ? z - 1 : z, above = z < REACT_NZ - 1 ? z + 1 : z;
    return tissue_beside<Real>(field + z * REACT_LAYER, x, y) +
           field[below * REACT_LAYER + y * REACT_NX + x] +
           field[above * REACT_LAYER + y * REACT_NX + x];
}

__global__ void tissue_react_cells_kernel(const float *u, const float *v, float *new_u,
                                          float *new_v)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    const int z = blockIdx.z * blockDim.z + threadIdx.z;
    const int i = z * REACT_LAYER + y * REACT_NX + x;
    float mine_u = u[i], mine_v = v[i];
    tissue_react(&mine_u, &mine_v, tissue_around<float>(u, x, y, z),
                 tissue_around<float>(v, x, y, z));
    new_u[i] = mine_u;
    new_v[i] = mine_v;
}

// A thread keeps the layers below, here and above in registers.
__global__ void tissue_react_columns_kernel(const float *u, const float *v, float *new_u,
                                            float *new_v)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    const int first = blockIdx.z * REACT_SLAB;
    int i = first * REACT_LAYER + y * REACT_NX + x;
    float u1 = u[i], v1 = v[i];
    float u0 = first ? u[i - REACT_LAYER] : u1, v0 = first ? v[i - REACT_LAYER] : v1;
    for (int z = first; z < first + REACT_SLAB; z++, i += REACT_LAYER) {
        const int above = z < REACT_NZ - 1 ? i + REACT_LAYER : i;
        const float u2 = u[above], v2 = v[above];
        float mine_u = u1, mine_v = v1;
        tissue_react(&mine_u, &mine_v, tissue_beside<float>(u + z * REACT_LAYER, x, y) + u0 + u2,
                     tissue_beside<float>(v + z * REACT_LAYER, x, y) + v0 + v2);
        new_u[i] = mine_u;
        new_v[i] = mine_v;
        u0 = u1, v0 = v1;
        u1 = u2, v1 = v2;
    }
}

static void tissue_reaction(Run &run, bool columns)
{
    const std::vector<float> u = floats(REACT_CELLS, 16200, 0.5f, 1);
    const std::vector<float> v = floats(REACT_CELLS, 16201, 0, 0.4f);
    const float *du = run.upload(u), *dv = run.upload(v);
    float *to_u = run.zeros<float>(REACT_CELLS), *to_v = run.zeros<float>(REACT_CELLS);
    run.measure([=] {
        if (columns) {
            const dim3 grid(REACT_NX / 32, REACT_NY / 8, REACT_NZ / REACT_SLAB);
            tissue_react_columns_kernel<<<grid, dim3(32, 8)>>>(du, dv, to_u, to_v);
        } else {
            const dim3 grid(REACT_NX / 32, REACT_NY / 4, REACT_NZ / 2);
            tissue_react_cells_kernel<<<grid, dim3(32, 4, 2)>>>(du, dv, to_u, to_v);
        }
    });
    const std::vector<float> got_u = run.output(to_u, REACT_CELLS);
    const std::vector<float> got_v = run.output(to_v, REACT_CELLS);
    for (int i = 0; i < REACT_CELLS; i += 397) {
        const int x = i % REACT_NX, y = i / REACT_NX % REACT_NY, z = i / REACT_LAYER;
        double mine_u = u[i], mine_v = v[i];
        tissue_react(&mine_u, &mine_v, tissue_around<double>(u.data(), x, y, z),
                     tissue_around<double>(v.data(), x, y, z));
        run.expect(got_u[i], mine_u, 1e-5);
        run.expect(got_v[i], mine_v, 1e-5);
    }
}

static void tissue_react_cells(Run &run)
{
    tissue_reaction(run, false);
}

static void tissue_react_columns(Run &run)
{
    tissue_reaction(run, true);
}

// ---- Oxygen that spreads and is consumed, in FP64: by Newton's method, or by a square root ----

enum { OXYGEN_NX = 128, OXYGEN_NY = 96, OXYGEN_NZ = 96 };
enum { OXYGEN_CELLS = OXYGEN_NX * OXYGEN_NY * OXYGEN_NZ };

// The grid is periodic.
__host__ __device__ inline double tissue_spread(const double *in, int x, int y, int z)
{
    const int row = OXYGEN_NX, layer = OXYGEN_NX * OXYGEN_NY, at = z * layer + y * row;
    const int left = (x + OXYGEN_NX - 1) % OXYGEN_NX, right = (x + 1) % OXYGEN_NX;
    const int up = (y + OXYGEN_NY - 1) % OXYGEN_NY, down = (y + 1) % OXYGEN_NY;
    const int below = (z + OXYGEN_NZ - 1) % OXYGEN_NZ, above = (z + 1) % OXYGEN_NZ;
    const double sum = in[at + left] + in[at + right] + in[z * layer + up * row + x] +
                       in[z * layer + down * row + x] + in[below * layer + y * row + x] +
                       in[above * layer + y * row + x];
    return in[at + x] + 0.12 * (sum - 6 * in[at + x]);
}

// Solves c + demand * c / (c + half) = had.
struct OxygenNewton {
    static __host__ __device__ double solve(double had, double demand, double half)
    {
        double c = had, step = 1;
        for (int k = 0; k < 20 && fabs(step) > 1e-10; k++) {
            const double share = 1 / (c + half);
            step = (c + demand * c * share - had) / (1 + demand * half * share * share);
            c = fmax(c - step, 0.0);
        }
        return c;
    }
};

struct OxygenRoot {
    static __host__ __device__ double solve(double had, double demand, double half)
    {
        const double b = half + demand - had;
        return 0.5 * (sqrt(b * b + 4 * had * half) - b);
    }
};

template <class Solver>
__global__ void tissue_oxygen_kernel(const double *in, const float *demand, double *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, row = OXYGEN_NX;
    const int x = i % row, y = i / row % OXYGEN_NY, z = i / (row * OXYGEN_NY);
    out[i] = Solver::solve(tissue_spread(in, x, y, z), demand[i], 1.5);
}

// Few regions of the tissue consume; elsewhere the demand is 0.
static std::vector<float> tissue_demand()
{
    std::vector<float> demand = floats(OXYGEN_CELLS, 16202, 0, 30);
    for (int i = 0; i < OXYGEN_CELLS; i++)
        if (mix(i / 512 + 16203) % 3)
            demand[i] = 0;
    return demand;
}

template <class Solver> static void tissue_oxygen(Run &run)
{
    const std::vector<float> start = floats(OXYGEN_CELLS, 16204, 5, 100);
    const std::vector<float> demand = tissue_demand();
    const std::vector<double> in(start.begin(), start.end());
    const double *from = run.upload(in);
    const float *dd = run.upload(demand);
    double *to = run.zeros<double>(OXYGEN_CELLS);
    run.measure([=] { tissue_oxygen_kernel<Solver><<<OXYGEN_CELLS / 128, 128>>>(from, dd, to); });
    run.expect_all(
        run.output(to, OXYGEN_CELLS),
        [&](int i) {
            const int x = i % OXYGEN_NX, y = i / OXYGEN_NX % OXYGEN_NY;
            const double had = tissue_spread(in.data(), x, y, i / (OXYGEN_NX * OXYGEN_NY));
            return OxygenRoot::solve(had, demand[i], 1.5);
        },
        1e-8, 173);
}

static void tissue_oxygen_newton(Run &run)
{
    tissue_oxygen<OxygenNewton>(run);
}

static void tissue_oxygen_root(Run &run)
{
    tissue_oxygen<OxygenRoot>(run);
}

// ---- A list of reactions of 12 species: a local array per cell, or columns of shared memory ----

enum { SPECIES = 12, SPECIES_RULES = 20, SPECIES_CELLS = 7 << 16, SPECIES_BLOCK = 128 };

// Species a and b become c.
struct SpeciesRules {
    int a[SPECIES_RULES], b[SPECIES_RULES], c[SPECIES_RULES];
    float rate[SPECIES_RULES];
};

__constant__ SpeciesRules species_rules;

// Species k of all cells is stored together. `next` is the distance between species of `amount`.
__host__ __device__ inline void tissue_apply(const SpeciesRules &rules, float *amount, int next)
{
    for (int r = 0; r < SPECIES_RULES; r++) {
        float *a = &amount[rules.a[r] * next], *b = &amount[rules.b[r] * next];
        const float flow = rules.rate[r] * *a * *b;
        *a -= flow;
        *b -= flow;
        amount[rules.c[r] * next] += flow;
    }
}

__global__ void tissue_species_local_kernel(const float *in, float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float amount[SPECIES];
    for (int k = 0; k < SPECIES; k++)
        amount[k] = in[k * SPECIES_CELLS + i];
    tissue_apply(species_rules, amount, 1);
    for (int k = 0; k < SPECIES; k++)
        out[k * SPECIES_CELLS + i] = amount[k];
}

__global__ void tissue_species_shared_kernel(const float *in, float *out)
{
    __shared__ float amounts[SPECIES * SPECIES_BLOCK];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float *amount = amounts + threadIdx.x;
    for (int k = 0; k < SPECIES; k++)
        amount[k * SPECIES_BLOCK] = in[k * SPECIES_CELLS + i];
    tissue_apply(species_rules, amount, SPECIES_BLOCK);
    for (int k = 0; k < SPECIES; k++)
        out[k * SPECIES_CELLS + i] = amount[k * SPECIES_BLOCK];
}

static SpeciesRules tissue_rules()
{
    const std::vector<int> species = integers(3 * SPECIES_RULES, SPECIES, 16205);
    const std::vector<float> rates = floats(SPECIES_RULES, 16206, 0.01f, 0.2f);
    SpeciesRules rules;
    for (int r = 0; r < SPECIES_RULES; r++) {
        rules.a[r] = species[3 * r];
        rules.b[r] = (species[3 * r] + 1 + species[3 * r + 1] % (SPECIES - 1)) % SPECIES;
        rules.c[r] = species[3 * r + 2];
        rules.rate[r] = rates[r];
    }
    return rules;
}

static void tissue_species(Run &run, void (*kernel)(const float *, float *))
{
    const SpeciesRules rules = tissue_rules();
    const std::vector<float> in = floats(SPECIES * SPECIES_CELLS, 16207, 0, 2);
    const float *from = run.upload(in);
    float *to = run.zeros<float>(in.size());
    CHECK(cudaMemcpyToSymbol(species_rules, &rules, sizeof rules));
    run.measure([=] { kernel<<<SPECIES_CELLS / SPECIES_BLOCK, SPECIES_BLOCK>>>(from, to); });
    const std::vector<float> got = run.output(to, in.size());
    for (int i = 0; i < SPECIES_CELLS; i += 491) {
        float amount[SPECIES];
        for (int k = 0; k < SPECIES; k++)
            amount[k] = in[k * SPECIES_CELLS + i];
        tissue_apply(rules, amount, 1);
        for (int k = 0; k < SPECIES; k++)
            run.expect(got[k * SPECIES_CELLS + i], amount[k], 1e-4);
    }
}

static void tissue_species_local(Run &run)
{
    tissue_species(run, tissue_species_local_kernel);
}

static void tissue_species_shared(Run &run)
{
    tissue_species(run, tissue_species_shared_kernel);
}

// ---- Signals along fibres of 128 cells, in FP64: a block per fibre, or a warp with 4 cells each
// ----

enum { FIBRES = 36, FIBRE_CELLS = 128, FIBRE_STEPS = 1600 };

// The voltage rises by itself once it is above a threshold; the recovery `w` pulls it down.
__host__ __device__ inline double tissue_fire(double v, double left, double right, double *w)
{
    const double next = v + 0.05 * (v - v * v * v / 3 - *w + 0.5 + 2 * (left + right - 2 * v));
    *w += 0.004 * (v + 0.7 - 0.8 * *w);
    return next;
}

__global__ void tissue_fibre_block_kernel(const double *start, double *out)
{
    __shared__ double volts[2][FIBRE_CELLS];
    const int cell = threadIdx.x;
    const int left = max(cell - 1, 0), right = min(cell + 1, FIBRE_CELLS - 1);
    double v = start[blockIdx.x * FIBRE_CELLS + cell], w = 0;
    for (int step = 0; step < FIBRE_STEPS; step++) {
        volts[step & 1][cell] = v;
        __syncthreads();
        v = tissue_fire(v, volts[step & 1][left], volts[step & 1][right], &w);
    }
    out[blockIdx.x * FIBRE_CELLS + cell] = v;
}

// A lane has four cells in a row; their neighbours come from adjacent lanes.
__global__ void tissue_fibre_warp_kernel(const double *start, double *out)
{
    const int lane = threadIdx.x, at = blockIdx.x * FIBRE_CELLS + 4 * lane;
    double v[4], w[4] = {};
    for (int k = 0; k < 4; k++)
        v[k] = start[at + k];
    for (int step = 0; step < FIBRE_STEPS; step++) {
        double left = __shfl_up_sync(~0u, v[3], 1), right = __shfl_down_sync(~0u, v[0], 1);
        if (lane == 0)
            left = v[0];
        if (lane == 31)
            right = v[3];
#pragma unroll
        for (int k = 0; k < 4; k++) {
            const double old = v[k];
            v[k] = tissue_fire(old, left, k < 3 ? v[k + 1] : right, &w[k]);
            left = old;
        }
    }
    for (int k = 0; k < 4; k++)
        out[at + k] = v[k];
}

static void tissue_fibre(Run &run, void (*kernel)(const double *, double *), int threads)
{
    const std::vector<float> volts = floats(FIBRES * FIBRE_CELLS, 16208, -1.5f, 1.5f);
    const std::vector<double> start(volts.begin(), volts.end());
    const double *from = run.upload(start);
    double *to = run.zeros<double>(start.size());
    run.measure([=] { kernel<<<FIBRES, threads>>>(from, to); });
    const std::vector<double> got = run.output(to, start.size());
    for (int f = 0; f < FIBRES; f += 5) {
        std::vector<double> v(&start[f * FIBRE_CELLS], &start[f * FIBRE_CELLS] + FIBRE_CELLS);
        std::vector<double> w(FIBRE_CELLS, 0);
        for (int step = 0; step < FIBRE_STEPS; step++) {
            const std::vector<double> old = v;
            for (int c = 0; c < FIBRE_CELLS; c++)
                v[c] = tissue_fire(old[c], old[std::max(c - 1, 0)],
                                   old[std::min(c + 1, FIBRE_CELLS - 1)], &w[c]);
        }
        for (int c = 0; c < FIBRE_CELLS; c++)
            run.expect(got[f * FIBRE_CELLS + c], v[c], 1e-6);
    }
}

static void tissue_fibre_block(Run &run)
{
    tissue_fibre(run, tissue_fibre_block_kernel, FIBRE_CELLS);
}

static void tissue_fibre_warp(Run &run)
{
    tissue_fibre(run, tissue_fibre_warp_kernel, 32);
}

#endif
