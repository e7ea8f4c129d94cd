// finance.cuh - prices and plans: binomial trees, Asian and Heston paths, bond yields, knapsacks.
#ifndef BLIND_FINANCE_CUH
#define BLIND_FINANCE_CUH

#include "blind.cuh"

// ---- American puts by a binomial tree: a block per option, or a thread and a local array ----

enum { TREE_STEPS = 250 };

template <class T> struct Put {
    T spot, strike, up, weight_up, weight_down;

    __host__ __device__ Put(float spot, float strike, float volatility) : spot(spot), strike(strike)
    {
        const T step = T(1) / TREE_STEPS, growth = T(exp(0.03 / TREE_STEPS));
        up = exp(T(volatility) * sqrt(step));
        weight_up = (growth - 1 / up) / (up - 1 / up) / growth;
        weight_down = 1 / growth - weight_up;
    }

    __host__ __device__ T payoff(T price) const
    {
        return price < strike ? strike - price : T(0);
    }

    __host__ __device__ T held(T after_up, T after_down, T price) const
    {
        const T value = weight_up * after_up + weight_down * after_down, now = payoff(price);
        return value > now ? value : now;
    }
};

__global__ void binomial_block_kernel(const float *spot, const float *strike, const float *sigma,
                                      float *out)
{
    __shared__ float value[TREE_STEPS + 1];
    const int t = threadIdx.x;
    const Put<float> put(spot[blockIdx.x], strike[blockIdx.x], sigma[blockIdx.x]);
    float price = put.spot * powf(put.up, (float) (2 * t - TREE_STEPS));
    if (t <= TREE_STEPS)
        value[t] = put.payoff(price);
    for (int step = TREE_STEPS; step > 0; step--) {
        float next = 0;
        price *= put.up;
        __syncthreads(); // the values of the later step are complete
        if (t < step)
            next = put.held(value[t + 1], value[t], price);
        __syncthreads(); // they have been read
        if (t < step)
            value[t] = next;
    }
    if (t == 0)
        out[blockIdx.x] = value[0];
}

template <class T> __host__ __device__ inline T binomial(const Put<T> &put)
{
    T value[TREE_STEPS + 1], lowest = put.spot * pow(put.up, T(-TREE_STEPS));
    T price = lowest;
    for (int k = 0; k <= TREE_STEPS; k++, price *= put.up * put.up)
        value[k] = put.payoff(price);
    for (int step = TREE_STEPS; step > 0; step--) {
        lowest *= put.up;
        price = lowest;
        for (int k = 0; k < step; k++, price *= put.up * put.up)
            value[k] = put.held(value[k + 1], value[k], price);
    }
    return value[0];
}

__global__ void binomial_thread_kernel(const float *spot, const float *strike, const float *sigma,
                                       float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = binomial(Put<float>(spot[i], strike[i], sigma[i]));
}

template <class Launch> static void binomial_run(Run &run, Launch launch)
{
    const int n = 120;
    const std::vector<float> spot = floats(n, 511, 50, 150), strike = floats(n, 512, 60, 140),
                             sigma = floats(n, 513, 0.1f, 0.5f);
    float *ds = run.upload(spot), *dk = run.upload(strike), *dv = run.upload(sigma),
          *to = run.zeros<float>(n);
    run.measure([=] { launch(ds, dk, dv, to, n); });
    run.expect_all(
        run.output(to, n),
        [&](size_t i) { return binomial(Put<double>(spot[i], strike[i], sigma[i])); }, 2e-3, 3);
}

static void binomial_block(Run &run)
{
    binomial_run(run, [](float *spot, float *strike, float *sigma, float *out, int n) {
        binomial_block_kernel<<<n, 256>>>(spot, strike, sigma, out);
    });
}

static void binomial_thread(Run &run)
{
    binomial_run(run, [](float *spot, float *strike, float *sigma, float *out, int n) {
        binomial_thread_kernel<<<blocks_for(n, 32), 32>>>(spot, strike, sigma, out, n);
    });
}

// ---- Asian options: normal numbers drawn on the way, or read from memory ----

enum { ASIAN_STEPS = 64 };

// Two normal numbers by Box and Muller from two numbers of a linear congruential generator.
template <class T> __host__ __device__ inline void draw_normals(unsigned &state, T &one, T &two)
{
    state = state * 1664525u + 1013904223u;
    const T u = T((state >> 8) + 0.5f) * T(0x1p-24f);
    state = state * 1664525u + 1013904223u;
    const T angle = T(6.2831853f) * T(state >> 8) * T(0x1p-24f), radius = sqrt(T(-2) * log(u));
    one = radius * cos(angle);
    two = radius * sin(angle);
}

template <class T> struct AsianPath {
    T price = 100, sum = 0;

    __host__ __device__ void step(T normal)
    {
        price *= exp(T(0.0002) + T(0.02) * normal);
        sum += price;
    }

    __host__ __device__ T payoff() const
    {
        return sum / ASIAN_STEPS > 100 ? sum / ASIAN_STEPS - 100 : T(0);
    }
};

template <class T> __host__ __device__ inline T asian_drawn(unsigned seed)
{
    AsianPath<T> path;
    for (int step = 0; step < ASIAN_STEPS; step += 2) {
        T one, two;
        draw_normals(seed, one, two);
        path.step(one);
        path.step(two);
    }
    return path.payoff();
}

__global__ void asian_paths_kernel(const unsigned *seed, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = asian_drawn<float>(seed[i]);
}

__global__ void asian_stored_kernel(const float *normal, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    AsianPath<float> path;
    if (i >= n)
        return;
    for (int step = 0; step < ASIAN_STEPS; step++)
        path.step(normal[step * n + i]);
    out[i] = path.payoff();
}

static void asian_run(Run &run, bool stored)
{
    const int n = 40000;
    const std::vector<uint32_t> seed = words(n, 514);
    std::vector<float> normal((size_t) n * ASIAN_STEPS);
    for (int i = 0; i < n; i++) {
        unsigned state = seed[i];
        for (int step = 0; step < ASIAN_STEPS; step += 2)
            draw_normals(state, normal[step * n + i], normal[(step + 1) * n + i]);
    }
    unsigned *ds = run.upload(seed);
    float *dn = run.upload(normal), *to = run.zeros<float>(n);
    run.measure([=] {
        if (stored)
            asian_stored_kernel<<<blocks_for(n, 128), 128>>>(dn, to, n);
        else
            asian_paths_kernel<<<blocks_for(n, 128), 128>>>(ds, to, n);
    });
    run.expect_all(
        run.output(to, n), [&](size_t i) { return asian_drawn<double>(seed[i]); }, 2e-3, 13);
}

static void asian_paths(Run &run)
{
    asian_run(run, false);
}

static void asian_stored(Run &run)
{
    asian_run(run, true);
}

// ---- Heston's model: prices whose variance follows its own path ----

template <class T> __host__ __device__ inline T heston(unsigned seed)
{
    const T dt = T(1) / 50, root = sqrt(dt);
    T log_price = 0, variance = T(0.09);
    for (int step = 0; step < 50; step++) {
        T one, two, deviation = sqrt(variance);
        draw_normals(seed, one, two);
        two = T(-0.6) * one + T(0.8) * two;
        log_price += (T(0.03) - variance / 2) * dt + deviation * root * one;
        variance += T(2) * (T(0.09) - variance) * dt + T(0.2) * deviation * root * two;
        variance = variance > 0 ? variance : T(0);
    }
    return T(100) * exp(log_price);
}

__global__ void heston_kernel(const unsigned *seed, float *out, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        out[i] = heston<float>(seed[i]);
}

static void heston_paths(Run &run)
{
    const int n = 30000;
    const std::vector<uint32_t> seed = words(n, 515);
    unsigned *ds = run.upload(seed);
    float *to = run.zeros<float>(n);
    run.measure([=] { heston_kernel<<<64, 256>>>(ds, to, n); });
    run.expect_all(
        run.output(to, n), [&](size_t i) { return heston<double>(seed[i]); }, 5e-3, 17);
}

// ---- Yields of bonds by Newton's method: in random order, or ordered by their years ----

struct Bond {
    float price, coupon;
    int years;
};

// The value of the payments of a bond at a yield, and its slope.
template <class T>
__host__ __device__ inline T bond_value(const Bond &bond, T yield, T *slope = nullptr)
{
    const T by = 1 / (1 + yield);
    T factor = 1, value = 0, change = 0;
    for (int year = 1; year <= bond.years; year++) {
        const T payment = bond.coupon + (year == bond.years ? T(100) : T(0));
        factor *= by;
        value += payment * factor;
        change -= year * payment * factor;
    }
    if (slope)
        *slope = change * by;
    return value;
}

__global__ void bond_kernel(const Bond *bonds, float *yields, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const Bond bond = bonds[i];
    float yield = 0.05f, change = 1;
    for (int round = 0; round < 12 && fabsf(change) > 1e-6f; round++) {
        float slope, value = bond_value(bond, yield, &slope);
        change = (value - bond.price) / slope;
        yield -= change;
    }
    yields[i] = yield;
}

static void bonds(Run &run, bool ordered)
{
    const int n = 50000;
    std::vector<Bond> in(n);
    for (int i = 0; i < n; i++)
        in[i] = { 70 + (float) (mix(3 * i) % 5000) / 100, (float) (mix(3 * i + 1) % 700) / 100,
                  1 + (int) (mix(3 * i + 2) % 40) };
    if (ordered)
        std::stable_sort(in.begin(), in.end(),
                         [](const Bond &a, const Bond &b) { return a.years < b.years; });
    Bond *from = run.upload(in);
    float *to = run.zeros<float>(n);
    run.measure([=] { bond_kernel<<<blocks_for(n, 96), 96>>>(from, to, n); });
    const std::vector<float> got = run.output(to, n);
    for (int i = 0; i < n; i += 31)
        run.expect(bond_value(in[i], (double) got[i]), in[i].price, 1e-3);
}

static void bonds_mixed(Run &run)
{
    bonds(run, false);
}

static void bonds_ordered(Run &run)
{
    bonds(run, true);
}

// ---- Knapsack of 96 items: a launch per item, or one block and shared memory ----

enum { SACK_ITEMS = 96, SACK = 5500 };

__global__ void knapsack_row_kernel(const int *before, int *after, int weight, int value)
{
    int room = blockIdx.x * blockDim.x + threadIdx.x;
    if (room > SACK)
        return;
    int best = before[room];
    if (room >= weight)
        best = max(best, before[room - weight] + value);
    after[room] = best;
}

__global__ void __launch_bounds__(1024)
    knapsack_block_kernel(const int *weight, const int *value, int *out)
{
    __shared__ int best[2][SACK + 1];
    for (int room = threadIdx.x; room <= SACK; room += blockDim.x)
        best[0][room] = 0;
    for (int item = 0; item < SACK_ITEMS; item++) {
        const int *before = best[item % 2], w = weight[item], v = value[item];
        __syncthreads(); // the row of the previous item is complete
        for (int room = threadIdx.x; room <= SACK; room += blockDim.x)
            best[1 - item % 2][room] =
                room < w ? before[room] : max(before[room], before[room - w] + v);
    }
    __syncthreads(); // the last row is complete
    for (int room = threadIdx.x; room <= SACK; room += blockDim.x)
        out[room] = best[SACK_ITEMS % 2][room];
}

static std::vector<int> knapsack_on_host(const std::vector<int> &weight,
                                         const std::vector<int> &value)
{
    std::vector<int> best(SACK + 1);
    for (int item = 0; item < SACK_ITEMS; item++)
        for (int room = SACK; room >= weight[item]; room--)
            best[room] = std::max(best[room], best[room - weight[item]] + value[item]);
    return best;
}

static void knapsack(Run &run, bool one_block)
{
    std::vector<int> weight = integers(SACK_ITEMS, 300, 516),
                     value = integers(SACK_ITEMS, 1000, 517);
    for (int &w : weight)
        w += 20;
    int *dw = run.upload(weight), *dv = run.upload(value), *a = run.zeros<int>(SACK + 1),
        *b = run.zeros<int>(SACK + 1), *none = run.zeros<int>(SACK + 1);
    run.measure([=] {
        if (one_block) {
            knapsack_block_kernel<<<1, 1024>>>(dw, dv, a);
            return;
        }
        for (int item = 0; item < SACK_ITEMS; item++)
            knapsack_row_kernel<<<blocks_for(SACK + 1, 256), 256>>>(item == 0  ? none
                                                                    : item % 2 ? b
                                                                               : a,
                                                                    item % 2 ? a : b, weight[item],
                                                                    value[item]);
    });
    const std::vector<int> wanted = knapsack_on_host(weight, value);
    run.expect_all(
        run.output(a, SACK + 1), [&](size_t room) { return wanted[room]; }, 0);
}

static void knapsack_rows(Run &run)
{
    knapsack(run, false);
}

static void knapsack_block(Run &run)
{
    knapsack(run, true);
}

#endif
