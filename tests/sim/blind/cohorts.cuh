// cohorts.cuh - insurance: values of policies, loss triangles, claims per cohort, annuities.
#ifndef BLIND_COHORTS_CUH
#define BLIND_COHORTS_CUH

#include "blind.cuh"

// ---- Value of a policy: a loop over its years with a table in constant or in shared memory ----

enum { COHORT_POLICIES = 450000, COHORT_AGES = 121 };

struct CohortPolicy {
    int age, term;
    float sum, premium;
};

__constant__ float cohort_table[2 * COHORT_AGES];

// Premiums at the start of each year while the person lives, less the sum that is paid at death.
__host__ __device__ inline float cohort_policy(const CohortPolicy &p, const float *table,
                                               float discount)
{
    float alive = 1, value = 0;
    const float *deaths = table + (p.premium > 500 ? COHORT_AGES : 0);
    const int years = p.term < COHORT_AGES - p.age ? p.term : COHORT_AGES - p.age;
    for (int k = 0; k < years; k++) {
        const float q = deaths[p.age + k];
        value += alive * (p.premium - q * discount * p.sum);
        alive *= (1 - q) * discount;
    }
    return value;
}

__global__ void cohort_constant_kernel(const CohortPolicy *policies, const float *, float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < COHORT_POLICIES)
        out[i] = cohort_policy(policies[i], cohort_table, 0.97f);
}

__global__ void cohort_shared_kernel(const CohortPolicy *policies, const float *table, float *out)
{
    __shared__ float t[2 * COHORT_AGES];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = threadIdx.x; k < 2 * COHORT_AGES; k += blockDim.x)
        t[k] = table[k];
    __syncthreads();
    if (i < COHORT_POLICIES)
        out[i] = cohort_policy(policies[i], t, 0.97f);
}

static std::vector<CohortPolicy> cohort_policies()
{
    const std::vector<int> ages = integers(COHORT_POLICIES, 50, 16800);
    const std::vector<int> terms = integers(COHORT_POLICIES, 36, 16801);
    const std::vector<float> sums = floats(COHORT_POLICIES, 16802, 10000, 60000);
    std::vector<CohortPolicy> policies(COHORT_POLICIES);
    for (int i = 0; i < COHORT_POLICIES; i++)
        policies[i] = { 20 + ages[i], 5 + terms[i], sums[i], sums[i] * 0.008f + ages[i] * 5 };
    return policies;
}

static std::vector<float> cohort_deaths()
{
    std::vector<float> table(2 * COHORT_AGES);
    for (int i = 0; i < 2 * COHORT_AGES; i++)
        table[i] = std::min(1.0, (i < COHORT_AGES ? 3e-5 : 5e-5) * exp(0.09 * (i % COHORT_AGES)));
    return table;
}

static void cohort_value(Run &run, void (*kernel)(const CohortPolicy *, const float *, float *))
{
    const std::vector<CohortPolicy> policies = cohort_policies();
    const std::vector<float> table = cohort_deaths();
    CHECK(cudaMemcpyToSymbol(cohort_table, table.data(), sizeof(cohort_table)));
    const CohortPolicy *from = run.upload(policies);
    const float *dt = run.upload(table);
    float *to = run.zeros<float>(COHORT_POLICIES);
    run.measure([=] { kernel<<<blocks_for(COHORT_POLICIES, 128), 128>>>(from, dt, to); });
    const std::vector<float> got = run.output(to, COHORT_POLICIES);
    for (int i = 0; i < COHORT_POLICIES; i += 97)
        run.expect(got[i] / policies[i].sum,
                   cohort_policy(policies[i], table.data(), 0.97f) / policies[i].sum, 1e-4);
}

static void cohort_value_constant(Run &run)
{
    cohort_value(run, cohort_constant_kernel);
}

static void cohort_value_shared(Run &run)
{
    cohort_value(run, cohort_shared_kernel);
}

// ---- Claims are added to a triangle of years and delays: in global memory, or per block first
// ----

enum { COHORT_CLAIMS = 5 << 19, COHORT_YEARS = 20, COHORT_CELLS = COHORT_YEARS * COHORT_YEARS };

struct CohortCell {
    unsigned count, amount;
};

// Most claims are reported soon: the cells near delay 0 are hot.
__host__ __device__ inline int cohort_cell(int occurred, int reported)
{
    const int year = occurred / 365, delay = (reported - occurred) / 365;
    return year * COHORT_YEARS + (delay < COHORT_YEARS ? delay : COHORT_YEARS - 1);
}

__global__ void cohort_global_kernel(const int *occurred, const int *reported,
                                     const unsigned *amounts, CohortCell *cells)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    CohortCell *cell = &cells[cohort_cell(occurred[i], reported[i])];
    atomicAdd(&cell->count, 1u);
    atomicAdd(&cell->amount, amounts[i]);
}

__global__ void cohort_block_kernel(const int *occurred, const int *reported,
                                    const unsigned *amounts, CohortCell *cells)
{
    __shared__ CohortCell mine[COHORT_CELLS];
    for (int k = threadIdx.x; k < COHORT_CELLS; k += blockDim.x)
        mine[k] = { 0, 0 };
    __syncthreads();
    const int step = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < COHORT_CLAIMS; i += step) {
        CohortCell *cell = &mine[cohort_cell(occurred[i], reported[i])];
        atomicAdd(&cell->count, 1u);
        atomicAdd(&cell->amount, amounts[i]);
    }
    __syncthreads();
    for (int k = threadIdx.x; k < COHORT_CELLS; k += blockDim.x)
        if (mine[k].count) {
            atomicAdd(&cells[k].count, mine[k].count);
            atomicAdd(&cells[k].amount, mine[k].amount);
        }
}

static void cohort_triangle(Run &run, bool global)
{
    const std::vector<int> occurred = integers(COHORT_CLAIMS, 365 * COHORT_YEARS, 16803);
    const std::vector<int> delay = integers(COHORT_CLAIMS, 85, 16804);
    std::vector<int> reported(occurred);
    const std::vector<int> v = integers(COHORT_CLAIMS, 1000, 16805);
    const std::vector<unsigned> amounts(v.begin(), v.end());
    std::vector<CohortCell> wanted(COHORT_CELLS, CohortCell{ 0, 0 });
    for (int i = 0; i < COHORT_CLAIMS; i++) {
        reported[i] += delay[i] * delay[i];
        CohortCell &cell = wanted[cohort_cell(occurred[i], reported[i])];
        cell = { cell.count + 1, cell.amount + amounts[i] };
    }
    const int *from = run.upload(occurred), *until = run.upload(reported);
    const unsigned *da = run.upload(amounts);
    CohortCell *to = run.zeros<CohortCell>(COHORT_CELLS);
    run.measure(
        [=] {
            if (global)
                cohort_global_kernel<<<COHORT_CLAIMS / 256, 256>>>(from, until, da, to);
            else
                cohort_block_kernel<<<264, 512>>>(from, until, da, to);
        },
        [=] { CHECK(cudaMemset(to, 0, COHORT_CELLS * sizeof(CohortCell))); });
    const std::vector<CohortCell> got = run.output(to, COHORT_CELLS);
    for (int k = 0; k < COHORT_CELLS; k++) {
        run.expect(got[k].count, wanted[k].count, 0);
        run.expect(got[k].amount, wanted[k].amount, 0);
    }
}

static void cohort_triangle_global(Run &run)
{
    cohort_triangle(run, true);
}

static void cohort_triangle_block(Run &run)
{
    cohort_triangle(run, false);
}

// ---- Claims above a deductible, per cohort (the largest first): a thread or a warp per cohort
// ----

enum { COHORT_COUNT = 60000 };

struct CohortClaims {
    const int *starts;
    const float *amounts, *deductibles;
    float *out;
};

__global__ void cohort_thread_kernel(CohortClaims c)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= COHORT_COUNT)
        return;
    float sum = 0;
    for (int k = c.starts[i]; k < c.starts[i + 1]; k++)
        if (c.amounts[k] > c.deductibles[i])
            sum += c.amounts[k] - c.deductibles[i];
    c.out[i] = sum;
}

__global__ void cohort_warp_kernel(CohortClaims c)
{
    const int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (i >= COHORT_COUNT)
        return;
    const float deductible = c.deductibles[i];
    float sum = 0;
    for (int k = c.starts[i] + lane; k < c.starts[i + 1]; k += 32)
        sum += fmaxf(c.amounts[k] - deductible, 0.0f);
    for (int d = 16; d; d /= 2)
        sum += __shfl_down_sync(~0u, sum, d);
    if (lane == 0)
        c.out[i] = sum;
}

static void cohort_claims(Run &run, bool warps)
{
    std::vector<int> starts(COHORT_COUNT + 1);
    for (int i = 0; i < COHORT_COUNT; i++)
        starts[i + 1] = starts[i] + 90 + (int) (4000 / (1 + 0.02 * i));
    const std::vector<float> amounts = floats(starts[COHORT_COUNT], 16806, 0, 1000);
    const std::vector<float> deductibles = floats(COHORT_COUNT, 16807, 100, 500);
    float *to = run.zeros<float>(COHORT_COUNT);
    const CohortClaims c = { run.upload(starts), run.upload(amounts), run.upload(deductibles), to };
    run.measure([=] {
        if (warps)
            cohort_warp_kernel<<<blocks_for(COHORT_COUNT * 32, 256), 256>>>(c);
        else
            cohort_thread_kernel<<<blocks_for(COHORT_COUNT, 128), 128>>>(c);
    });
    run.expect_all(
        run.output(to, COHORT_COUNT),
        [&](size_t i) {
            double sum = 0;
            for (int k = starts[i]; k < starts[i + 1]; k++)
                sum += std::max(0.0, (double) amounts[k] - deductibles[i]);
            return sum;
        },
        1e-4, 23);
}

static void cohort_claims_thread(Run &run)
{
    cohort_claims(run, false);
}

static void cohort_claims_warp(Run &run)
{
    cohort_claims(run, true);
}

// ---- Life annuities by a formula of mortality, in doubles: a thread or a warp per person ----

enum { COHORT_LIVES = 36000 };

// The probability to live t years more, times the discount.
__host__ __device__ inline double cohort_living(double age, double rate, double t)
{
    const double a = 2e-4, b = 2.5e-5, c = 0.095;
    return exp(-(a + rate) * t - b / c * exp(c * age) * (exp(c * t) - 1));
}

__global__ void cohort_life_thread_kernel(const float *ages, const float *rates, double *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= COHORT_LIVES)
        return;
    double sum = 0;
    for (int t = 0; t < 120 - (int) ages[i]; t++)
        sum += cohort_living(ages[i], rates[i], t);
    out[i] = sum;
}

__global__ void cohort_life_warp_kernel(const float *ages, const float *rates, double *out)
{
    const int i = blockIdx.x * blockDim.y + threadIdx.y;
    double sum = 0;
    for (int t = threadIdx.x; t < 120 - (int) ages[i]; t += 32)
        sum += cohort_living(ages[i], rates[i], t);
    for (int d = 16; d; d /= 2)
        sum += __shfl_xor_sync(~0u, sum, d);
    if (threadIdx.x == 0)
        out[i] = sum;
}

static void cohort_annuity(Run &run, bool warps)
{
    const std::vector<float> ages = floats(COHORT_LIVES, 16808, 30, 90);
    const std::vector<float> rates = floats(COHORT_LIVES, 16809, 0.005f, 0.05f);
    const float *da = run.upload(ages), *dr = run.upload(rates);
    double *to = run.zeros<double>(COHORT_LIVES);
    run.measure([=] {
        if (warps)
            cohort_life_warp_kernel<<<COHORT_LIVES / 4, dim3(32, 4)>>>(da, dr, to);
        else
            cohort_life_thread_kernel<<<blocks_for(COHORT_LIVES, 64), 64>>>(da, dr, to);
    });
    run.expect_all(
        run.output(to, COHORT_LIVES),
        [&](size_t i) {
            double sum = 0;
            for (int t = 0; t < 120 - (int) ages[i]; t++)
                sum += cohort_living(ages[i], rates[i], t);
            return sum;
        },
        1e-9, 19);
}

static void cohort_annuity_thread(Run &run)
{
    cohort_annuity(run, false);
}

static void cohort_annuity_warp(Run &run)
{
    cohort_annuity(run, true);
}

#endif
