// windows.cuh - columns of values: sliding maxima, bins, random samples, queries, numbers in text.
#ifndef BLIND_WINDOWS_CUH
#define BLIND_WINDOWS_CUH

#include "blind.cuh"

// ---- The maximum of 31 values from each place on: directly, or by doubled spans in shared memory
// ----

enum { SPAN = 31, SPAN_BLOCK = 256 };

__global__ void highest_direct_kernel(const int *in, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int most = in[i];
    for (int k = 1; k < SPAN; k++)
        most = max(most, in[i + k]);
    out[i] = most;
}

// After the step of width w, v[k] is the maximum of 2 w values.
__global__ void __launch_bounds__(SPAN_BLOCK)
    highest_doubling_kernel(const int *in, int *out, int n)
{
    __shared__ int v[SPAN_BLOCK + 32];
    const int t = threadIdx.x, i = blockIdx.x * SPAN_BLOCK + t;
    v[t] = in[i];
    if (t < 32)
        v[SPAN_BLOCK + t] = in[i + SPAN_BLOCK];
    __syncthreads(); // the values are complete
    for (int width = 1; width < 16; width *= 2) {
        int most = max(v[t], v[t + width]), other = 0;
        if (t < 32 - width)
            other = max(v[SPAN_BLOCK + t], v[SPAN_BLOCK + t + width]);
        __syncthreads(); // all have read
        v[t] = most;
        if (t < 32 - width)
            v[SPAN_BLOCK + t] = other;
        __syncthreads(); // the step is complete
    }
    if (i < n)
        out[i] = max(v[t], v[t + SPAN - 16]);
}

static void highest(Run &run, void (*kernel)(const int *, int *, int))
{
    const int n = 2500000;
    const std::vector<int> in = integers(n + 2 * SPAN_BLOCK, 1 << 30, 681);
    int *from = run.upload(in), *to = run.zeros<int>(n);
    run.measure([=] { kernel<<<blocks_for(n, SPAN_BLOCK), SPAN_BLOCK>>>(from, to, n); });
    run.expect_all(
        run.output(to, n), [&](size_t i) { return *std::max_element(&in[i], &in[i] + SPAN); }, 0,
        17);
}

static void highest_direct(Run &run)
{
    highest(run, highest_direct_kernel);
}

static void highest_doubling(Run &run)
{
    highest(run, highest_doubling_kernel);
}

// ---- Which of 60 bins of unequal width has a value: one edge after another, or binary search ----

enum { BIN_EDGES = 60 };

__global__ void bins_linear_kernel(const float *value, const float *edge, unsigned char *bin, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, k = 0;
    if (i >= n)
        return;
    float v = value[i];
    while (k < BIN_EDGES && v >= edge[k])
        k++;
    bin[i] = (unsigned char) k;
}

__global__ void bins_search_kernel(const float *value, const float *edge, unsigned char *bin, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, low = 0, high = BIN_EDGES;
    if (i >= n)
        return;
    float v = value[i];
    while (low < high) {
        int middle = (low + high) / 2;
        if (v >= edge[middle])
            low = middle + 1;
        else
            high = middle;
    }
    bin[i] = (unsigned char) low;
}

static void bins(Run &run, void (*kernel)(const float *, const float *, unsigned char *, int))
{
    const int n = 650000;
    std::vector<float> edge = floats(BIN_EDGES, 682), value = floats(n, 683);
    std::sort(edge.begin(), edge.end());
    float *dv = run.upload(value), *de = run.upload(edge);
    unsigned char *to = run.zeros<unsigned char>(n);
    run.measure([=] { kernel<<<blocks_for(n, 256), 256>>>(dv, de, to, n); });
    run.expect_all(
        run.output(to, n),
        [&](size_t i) {
            return std::upper_bound(edge.begin(), edge.end(), value[i]) - edge.begin();
        },
        0, 3);
}

static void bins_linear(Run &run)
{
    bins(run, bins_linear_kernel);
}

static void bins_search(Run &run)
{
    bins(run, bins_search_kernel);
}

// ---- Samples from 6000 weighted values: an alias table, or binary search in the sums ----

enum { WEIGHTED = 6000 };

struct Alias {
    float keep;
    int other;
};

__host__ __device__ inline uint32_t sample_bits(uint32_t x)
{
    x ^= x << 13;
    x *= 0x9e3779b1u;
    x ^= x >> 15;
    x *= 0x85ebca77u;
    return x ^ x >> 13;
}

__host__ __device__ inline int alias_sample(const Alias *table, uint32_t i)
{
    const uint32_t bits = sample_bits(i), at = sample_bits(bits + 1) % WEIGHTED;
    const Alias a = table[at];
    return (bits >> 8) * 0x1p-24f < a.keep ? (int) at : a.other;
}

// The first value whose sum is above the drawn number.
__host__ __device__ inline int sum_sample(const float *sums, uint32_t i)
{
    const float drawn = (sample_bits(i) >> 8) * 0x1p-24f * sums[WEIGHTED - 1];
    int low = 0, high = WEIGHTED - 1;
    while (low < high) {
        int middle = (low + high) / 2;
        if (sums[middle] > drawn)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

__global__ void sample_alias_kernel(const Alias *table, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = alias_sample(table, i);
}

__global__ void sample_search_kernel(const float *sums, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = sum_sample(sums, i);
}

// Vose's method: each place keeps a part of its own value and gives the rest to another one.
static std::vector<Alias> alias_table(const std::vector<float> &weight, double total)
{
    std::vector<Alias> table(WEIGHTED);
    std::vector<double> share(WEIGHTED);
    std::vector<int> small, large;
    for (int k = 0; k < WEIGHTED; k++) {
        table[k] = { 1, k };
        share[k] = weight[k] * WEIGHTED / total;
        (share[k] < 1 ? small : large).push_back(k);
    }
    while (!small.empty() && !large.empty()) {
        const int little = small.back(), much = large.back();
        small.pop_back();
        table[little] = { (float) share[little], much };
        share[much] -= 1 - share[little];
        if (share[much] < 1) {
            large.pop_back();
            small.push_back(much);
        }
    }
    return table;
}

static void sample(Run &run, bool by_alias)
{
    const int n = 1600000;
    std::vector<float> weight = floats(WEIGHTED, 684, 0, 1), sums(WEIGHTED);
    double total = 0;
    for (int k = 0; k < WEIGHTED; k++) {
        weight[k] *= weight[k];
        total += weight[k];
        sums[k] = (float) total;
    }
    const std::vector<Alias> table = alias_table(weight, total);
    const Alias *dt = run.upload(table);
    const float *ds = run.upload(sums);
    int *to = run.zeros<int>(n);
    run.measure([=] {
        if (by_alias)
            sample_alias_kernel<<<blocks_for(n, 256), 256>>>(dt, to, n);
        else
            sample_search_kernel<<<blocks_for(n, 256), 256>>>(ds, to, n);
    });
    run.expect_all(
        run.output(to, n),
        [&](size_t i) {
            return by_alias ? alias_sample(table.data(), (uint32_t) i)
                            : sum_sample(sums.data(), (uint32_t) i);
        },
        0, 7);
}

static void sample_alias(Run &run)
{
    sample(run, true);
}

static void sample_search(Run &run)
{
    sample(run, false);
}

// ---- A query with three conditions and a sum: over rows of 32 bytes, or over columns ----

struct Sale {
    int day, shop, customer, quantity, discount, price, tax, status;
};

struct SaleColumns {
    const int *day, *quantity, *discount, *price;
};

__device__ inline bool sale_matches(int day, int quantity, int discount)
{
    return day >= 365 && day < 730 && quantity < 24 && discount >= 5 && discount <= 7;
}

__device__ inline void query_add(unsigned long long mine, unsigned long long *total)
{
    __shared__ unsigned long long part[8];
    for (int apart = 16; apart; apart /= 2)
        mine += __shfl_down_sync(~0u, mine, apart);
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = mine;
    __syncthreads(); // the warps' sums are complete
    if (threadIdx.x > 0)
        return;
    for (int k = 1; k < 8; k++)
        mine += part[k];
    atomicAdd(total, mine);
}

__global__ void __launch_bounds__(256)
    query_rows_kernel(const Sale *sale, unsigned long long *total, int n)
{
    unsigned long long sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        if (sale_matches(sale[i].day, sale[i].quantity, sale[i].discount))
            sum += (unsigned long long) sale[i].price * sale[i].discount;
    query_add(sum, total);
}

__global__ void __launch_bounds__(256)
    query_columns_kernel(SaleColumns sale, unsigned long long *total, int n)
{
    unsigned long long sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        if (sale_matches(sale.day[i], sale.quantity[i], sale.discount[i]))
            sum += (unsigned long long) sale.price[i] * sale.discount[i];
    query_add(sum, total);
}

static void query(Run &run, bool by_columns)
{
    const int n = 2400000, grid = 528;
    const std::vector<int> day = integers(n, 2500, 685), quantity = integers(n, 50, 686);
    const std::vector<int> discount = integers(n, 11, 687), price = integers(n, 100000, 688);
    unsigned long long wanted = 0, *total = run.zeros<unsigned long long>(1);
    std::vector<Sale> sale(n);
    for (int i = 0; i < n; i++) {
        sale[i] = { day[i], i, i, quantity[i], discount[i], price[i], 0, 1 };
        if (day[i] >= 365 && day[i] < 730 && quantity[i] < 24 && discount[i] >= 5 &&
            discount[i] <= 7)
            wanted += (unsigned long long) price[i] * discount[i];
    }
    const auto clear = [=] { CHECK(cudaMemset(total, 0, sizeof(*total))); };
    if (by_columns) {
        const SaleColumns columns = { run.upload(day), run.upload(quantity), run.upload(discount),
                                      run.upload(price) };
        run.measure([=] { query_columns_kernel<<<grid, 256>>>(columns, total, n); }, clear);
    } else {
        const Sale *rows = run.upload(sale);
        run.measure([=] { query_rows_kernel<<<grid, 256>>>(rows, total, n); }, clear);
    }
    run.expect((double) run.output(total, 1)[0], (double) wanted, 0);
}

static void query_rows(Run &run)
{
    query(run, false);
}

static void query_columns(Run &run)
{
    query(run, true);
}

// ---- Whole numbers in text, one per line: a thread per line reads its digits ----

__global__ void parse_kernel(const char *text, const int *begin, int *value, int lines)
{
    int line = blockIdx.x * blockDim.x + threadIdx.x, v = 0;
    if (line >= lines)
        return;
    const char *at = text + begin[line];
    bool negative = *at == '-';
    if (negative)
        at++;
    for (; *at >= '0' && *at <= '9'; at++)
        v = v * 10 + *at - '0';
    value[line] = negative ? -v : v;
}

static void parse_lines(Run &run)
{
    const int lines = 1000000;
    std::vector<int> wanted(lines), begin(lines);
    std::vector<char> text;
    for (int line = 0; line < lines; line++) {
        char word[16];
        const uint32_t bits = mix(line + 689);
        wanted[line] = (int) (bits >> 4 >> bits % 24) * (bits & 8 ? 1 : -1);
        begin[line] = (int) text.size();
        text.insert(text.end(), word, word + snprintf(word, sizeof(word), "%d\n", wanted[line]));
    }
    char *dt = run.upload(text);
    int *db = run.upload(begin), *to = run.zeros<int>(lines);
    run.measure([=] { parse_kernel<<<blocks_for(lines, 256), 256>>>(dt, db, to, lines); });
    run.expect_all(
        run.output(to, lines), [&](size_t i) { return wanted[i]; }, 0, 3);
}

// ---- Dates from day numbers: many divisions by constants ----

__host__ __device__ inline int date_of(int day)
{
    const int shifted = day + 719468, era = shifted / 146097, in_era = shifted % 146097;
    const int year = (in_era - in_era / 1460 + in_era / 36524 - in_era / 146096) / 365;
    const int in_year = in_era - (365 * year + year / 4 - year / 100);
    const int month = (5 * in_year + 2) / 153, first = (153 * month + 2) / 5;
    return (era * 400 + year + (month > 9)) * 10000 + (month < 10 ? month + 3 : month - 9) * 100 +
           in_year - first + 1;
}

__global__ void dates_kernel(const int *day, int *date, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        date[i] = date_of(day[i]);
}

static void dates_civil(Run &run)
{
    const int n = 2800000;
    const std::vector<int> day = integers(n, 40000, 690);
    int *from = run.upload(day), *to = run.zeros<int>(n);
    run.measure([=] { dates_kernel<<<792, 256>>>(from, to, n); });
    run.expect(date_of(20000), 20241004, 0);
    run.expect_all(
        run.output(to, n), [&](size_t i) { return date_of(day[i]); }, 0, 23);
}

#endif
