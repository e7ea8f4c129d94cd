// columns.cuh - statistics of columns, and joins of small tables.
#ifndef BLIND_COLUMNS_CUH
#define BLIND_COLUMNS_CUH

#include "blind.cuh"

#include <cstring>

// ---- Mean and variance of each column of a table stored by rows: a thread per column, or pieces
// --

enum { VARIED_COLUMNS = 4000, VARIED_ROWS = 4000, VARIED_PIECE = 100 };

// Two passes: the mean, then the squares of the distances from it.
__global__ void spread_thread_kernel(const float *table, float *means, float *variances)
{
    const int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= VARIED_COLUMNS)
        return;
    float sum = 0, squares = 0;
    for (int r = 0; r < VARIED_ROWS; r++)
        sum += table[(size_t) r * VARIED_COLUMNS + c];
    const float mean = sum / VARIED_ROWS;
    for (int r = 0; r < VARIED_ROWS; r++) {
        const float d = table[(size_t) r * VARIED_COLUMNS + c] - mean;
        squares += d * d;
    }
    means[c] = mean;
    variances[c] = squares / VARIED_ROWS;
}

// One pass over some rows: sums of the distances from the first row's value, and of their squares.
__global__ void spread_piece_kernel(const float *table, float *sums, float *squares)
{
    const int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= VARIED_COLUMNS)
        return;
    const float origin = table[c];
    float sum = 0, square = 0;
    for (int r = blockIdx.y * VARIED_PIECE; r < (blockIdx.y + 1) * VARIED_PIECE; r++) {
        const float d = table[(size_t) r * VARIED_COLUMNS + c] - origin;
        sum += d;
        square += d * d;
    }
    atomicAdd(&sums[c], sum);
    atomicAdd(&squares[c], square);
}

// Turns sums into means, and sums of squares into variances.
__global__ void spread_finish_kernel(const float *table, float *sums, float *squares)
{
    const int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= VARIED_COLUMNS)
        return;
    const float mean = sums[c] / VARIED_ROWS;
    sums[c] = table[c] + mean;
    squares[c] = squares[c] / VARIED_ROWS - mean * mean;
}

template <class Launch> static void spread_run(Run &run, Launch launch)
{
    const std::vector<float> table = floats((size_t) VARIED_ROWS * VARIED_COLUMNS, 15100, -3, 3);
    const float *from = run.upload(table);
    float *means = run.zeros<float>(VARIED_COLUMNS), *vars = run.zeros<float>(VARIED_COLUMNS);
    run.measure([=] { launch(from, means, vars); },
                [=] {
                    CHECK(cudaMemset(means, 0, VARIED_COLUMNS * sizeof(float)));
                    CHECK(cudaMemset(vars, 0, VARIED_COLUMNS * sizeof(float)));
                });
    const std::vector<float> m = run.output(means, VARIED_COLUMNS);
    const std::vector<float> v = run.output(vars, VARIED_COLUMNS);
    for (int c = 0; c < VARIED_COLUMNS; c += 61) {
        double sum = 0, squares = 0;
        for (int r = 0; r < VARIED_ROWS; r++) {
            const double x = table[(size_t) r * VARIED_COLUMNS + c];
            sum += x;
            squares += x * x;
        }
        const double mean = sum / VARIED_ROWS;
        run.expect(m[c], mean, 1e-3);
        run.expect(v[c], squares / VARIED_ROWS - mean * mean, 2e-3);
    }
}

static void spread_thread(Run &run)
{
    spread_run(run, [](const float *from, float *means, float *vars) {
        spread_thread_kernel<<<blocks_for(VARIED_COLUMNS, 64), 64>>>(from, means, vars);
    });
}

static void spread_pieces(Run &run)
{
    spread_run(run, [](const float *from, float *means, float *vars) {
        const dim3 grid(blocks_for(VARIED_COLUMNS, 128), VARIED_ROWS / VARIED_PIECE);
        spread_piece_kernel<<<grid, 128>>>(from, means, vars);
        spread_finish_kernel<<<blocks_for(VARIED_COLUMNS, 128), 128>>>(from, means, vars);
    });
}

// ---- Invoices joined with payments by number: a merge per customer, or a search per payment ----

enum { INVOICE_CUSTOMERS = 6500 };

struct InvoiceTables {
    std::vector<int> invoice_starts, payment_starts, invoices, payments, customers;
    std::vector<float> amounts, paid;
};

static void invoice_numbers(std::vector<int> &numbers, int count, int step, uint32_t seed)
{
    int now = 0;
    for (int gap : integers(count, 2 * step - 1, seed))
        numbers.push_back(now += 1 + gap);
}

// Each customer has 200 to 699 invoices, and 40 to 199 payments; both are sorted.
static InvoiceTables invoice_tables()
{
    InvoiceTables t;
    for (int c = 0; c < INVOICE_CUSTOMERS; c++) {
        const int invoices = 200 + mix(c + 15101) % 500, payments = 40 + mix(c + 15102) % 160;
        t.invoice_starts.push_back((int) t.invoices.size());
        t.payment_starts.push_back((int) t.payments.size());
        invoice_numbers(t.invoices, invoices, 3, 15103 + 7919 * c);
        invoice_numbers(t.payments, payments, 3 * invoices / payments, 15104 + 7919 * c);
        t.customers.resize(t.payments.size(), c);
    }
    t.invoice_starts.push_back((int) t.invoices.size());
    t.payment_starts.push_back((int) t.payments.size());
    t.amounts = floats(t.invoices.size(), 15112, 10, 90);
    t.paid = floats(t.payments.size(), 15113, 10, 90);
    return t;
}

struct InvoiceColumns {
    const int *invoice_starts, *payment_starts, *invoices, *payments, *customers;
    const float *amounts, *paid;
    int count;
};

// What is left of the invoice with the number of each payment; of a payment without invoice: -1000.
__global__ void invoice_merge_kernel(InvoiceColumns t, float *out)
{
    const int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= INVOICE_CUSTOMERS)
        return;
    const int last = t.invoice_starts[c + 1], end = t.payment_starts[c + 1];
    int at = t.invoice_starts[c];
    for (int p = t.payment_starts[c]; p < end; p++) {
        const int number = t.payments[p];
        while (at < last && t.invoices[at] < number)
            at++;
        const bool found = at < last && t.invoices[at] == number;
        out[p] = found ? t.amounts[at] - t.paid[p] : -1000;
    }
}

__global__ void invoice_search_kernel(InvoiceColumns t, float *out)
{
    const int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= t.count)
        return;
    const int number = t.payments[p], end = t.invoice_starts[t.customers[p] + 1];
    int low = t.invoice_starts[t.customers[p]], high = end;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (t.invoices[middle] < number)
            low = middle + 1;
        else
            high = middle;
    }
    const bool found = low < end && t.invoices[low] == number;
    out[p] = found ? t.amounts[low] - t.paid[p] : -1000;
}

static float invoice_left(const InvoiceTables &t, size_t p)
{
    const int c = t.customers[p];
    for (int i = t.invoice_starts[c]; i < t.invoice_starts[c + 1]; i++)
        if (t.invoices[i] == t.payments[p])
            return t.amounts[i] - t.paid[p];
    return -1000;
}

static void invoice_run(Run &run, void (*kernel)(InvoiceColumns, float *), int block)
{
    const InvoiceTables t = invoice_tables();
    const int count = (int) t.payments.size(), threads = block < 256 ? INVOICE_CUSTOMERS : count;
    const InvoiceColumns columns = { run.upload(t.invoice_starts), run.upload(t.payment_starts),
                                     run.upload(t.invoices),       run.upload(t.payments),
                                     run.upload(t.customers),      run.upload(t.amounts),
                                     run.upload(t.paid),           count };
    float *to = run.zeros<float>(count);
    run.measure([=] { kernel<<<blocks_for(threads, block), block>>>(columns, to); });
    run.expect_all(
        run.output(to, count), [&](size_t p) { return invoice_left(t, p); }, 1e-4, 37);
}

static void invoice_merge(Run &run)
{
    invoice_run(run, invoice_merge_kernel, 64);
}

static void invoice_search(Run &run)
{
    invoice_run(run, invoice_search_kernel, 256);
}

// ---- Median of each column, 8 bits at a time: from the column, or from what is still possible
// ----

enum { MIDDLE_COLUMNS = 450, MIDDLE_ROWS = 6000 };

// The first bin at which the counts exceed `rank`; it leaves the rank within that bin.
__device__ inline int middle_bin(const int *counts, int &rank)
{
    int bin = 0;
    while (rank >= counts[bin])
        rank -= counts[bin++];
    return bin;
}

// Bits of positive floats are ordered as the floats are.
__global__ void middle_passes_kernel(const unsigned *columns, unsigned *out)
{
    __shared__ int counts[256], rank;
    __shared__ unsigned prefix;
    const unsigned *column = columns + (size_t) blockIdx.x * MIDDLE_ROWS;
    if (threadIdx.x == 0) {
        rank = MIDDLE_ROWS / 2;
        prefix = 0;
    }
    for (int shift = 24; shift >= 0; shift -= 8) {
        counts[threadIdx.x] = 0;
        __syncthreads();
        for (int i = threadIdx.x; i < MIDDLE_ROWS; i += blockDim.x)
            if (((unsigned long long) (column[i] ^ prefix) >> (shift + 8)) == 0)
                atomicAdd(&counts[column[i] >> shift & 255], 1);
        __syncthreads();
        if (threadIdx.x == 0) {
            int left = rank;
            prefix |= (unsigned) middle_bin(counts, left) << shift;
            rank = left;
        }
        __syncthreads();
    }
    if (threadIdx.x == 0)
        out[blockIdx.x] = prefix;
}

// Keeps the candidates in shared memory, and packs those that remain after each pass.
__global__ void middle_shrink_kernel(const unsigned *columns, unsigned *out)
{
    __shared__ unsigned kept[2][MIDDLE_ROWS];
    __shared__ int counts[256], sizes[5], rank, bin;
    for (int i = threadIdx.x; i < MIDDLE_ROWS; i += blockDim.x)
        kept[0][i] = columns[(size_t) blockIdx.x * MIDDLE_ROWS + i];
    if (threadIdx.x < 5)
        sizes[threadIdx.x] = threadIdx.x ? 0 : MIDDLE_ROWS;
    if (threadIdx.x == 0)
        rank = MIDDLE_ROWS / 2;
    for (int pass = 0; pass < 4; pass++) {
        const unsigned *from = kept[pass % 2];
        unsigned *to = kept[1 - pass % 2];
        const int shift = 24 - 8 * pass;
        counts[threadIdx.x] = 0;
        __syncthreads();
        for (int i = threadIdx.x; i < sizes[pass]; i += blockDim.x)
            atomicAdd(&counts[from[i] >> shift & 255], 1);
        __syncthreads();
        if (threadIdx.x == 0) {
            int left = rank;
            bin = middle_bin(counts, left);
            rank = left;
        }
        __syncthreads();
        for (int i = threadIdx.x; i < sizes[pass]; i += blockDim.x)
            if ((int) (from[i] >> shift & 255) == bin)
                to[atomicAdd(&sizes[pass + 1], 1)] = from[i];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        out[blockIdx.x] = kept[0][0];
}

// Incomes: most are alike, a few are large.
static void middle_run(Run &run, void (*kernel)(const unsigned *, unsigned *))
{
    std::vector<float> v = floats((size_t) MIDDLE_COLUMNS * MIDDLE_ROWS, 15105, 0, 1);
    std::vector<unsigned> bits(v.size());
    for (size_t i = 0; i < v.size(); i++) {
        v[i] = 20 / (1.002f - v[i]);
        memcpy(&bits[i], &v[i], sizeof(float));
    }
    const unsigned *from = run.upload(bits);
    unsigned *to = run.zeros<unsigned>(MIDDLE_COLUMNS);
    run.measure([=] { kernel<<<MIDDLE_COLUMNS, 256>>>(from, to); });
    run.expect_all(
        run.output(to, MIDDLE_COLUMNS),
        [&](size_t c) {
            const auto first = bits.begin() + c * MIDDLE_ROWS, middle = first + MIDDLE_ROWS / 2;
            std::nth_element(first, middle, first + MIDDLE_ROWS);
            return *middle;
        },
        0, 11);
}

static void middle_passes(Run &run)
{
    middle_run(run, middle_passes_kernel);
}

static void middle_shrink(Run &run)
{
    middle_run(run, middle_shrink_kernel);
}

// ---- Sales joined with three small tables: these are in global memory, or copied by each block
// ----

enum { SALES_COUNT = 4000000, SALES_SHOPS = 900, SALES_PRODUCTS = 4000, SALES_DAYS = 365 };

struct SalesTables {
    const float *rents, *prices, *seasons;
    const uint16_t *shops, *products, *days;
    const float *amounts;
};

__global__ void sales_global_kernel(SalesTables t, float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < SALES_COUNT)
        out[i] =
            t.amounts[i] * t.prices[t.products[i]] * t.seasons[t.days[i]] - t.rents[t.shops[i]];
}

__global__ void sales_shared_kernel(SalesTables t, float *out)
{
    __shared__ float rents[SALES_SHOPS], prices[SALES_PRODUCTS], seasons[SALES_DAYS];
    for (int i = threadIdx.x; i < SALES_PRODUCTS; i += blockDim.x) {
        prices[i] = t.prices[i];
        if (i < SALES_SHOPS)
            rents[i] = t.rents[i];
        if (i < SALES_DAYS)
            seasons[i] = t.seasons[i];
    }
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < SALES_COUNT;
         i += gridDim.x * blockDim.x)
        out[i] = t.amounts[i] * prices[t.products[i]] * seasons[t.days[i]] - rents[t.shops[i]];
}

static std::vector<uint16_t> sales_keys(uint32_t limit, uint32_t seed)
{
    const std::vector<int> v = integers(SALES_COUNT, limit, seed);
    return std::vector<uint16_t>(v.begin(), v.end());
}

static void sales_run(Run &run, void (*kernel)(SalesTables, float *), int blocks, int threads)
{
    const std::vector<float> rents = floats(SALES_SHOPS, 15106, 1, 2);
    const std::vector<float> prices = floats(SALES_PRODUCTS, 15107, 1, 9);
    const std::vector<float> seasons = floats(SALES_DAYS, 15108, 0.8f, 1.2f);
    const std::vector<float> amounts = floats(SALES_COUNT, 15109, 1, 20);
    const std::vector<uint16_t> shops = sales_keys(SALES_SHOPS, 15110);
    const std::vector<uint16_t> products = sales_keys(SALES_PRODUCTS, 15111);
    std::vector<uint16_t> days(SALES_COUNT);
    for (int i = 0; i < SALES_COUNT; i++) // sales are in the order of time
        days[i] = (uint16_t) ((int64_t) i * SALES_DAYS / SALES_COUNT);
    const SalesTables t = { run.upload(rents),  run.upload(prices),   run.upload(seasons),
                            run.upload(shops),  run.upload(products), run.upload(days),
                            run.upload(amounts) };
    float *to = run.zeros<float>(SALES_COUNT);
    run.measure([=] { kernel<<<blocks, threads>>>(t, to); });
    run.expect_all(
        run.output(to, SALES_COUNT),
        [&](size_t i) {
            return amounts[i] * prices[products[i]] * seasons[days[i]] - rents[shops[i]];
        },
        1e-5, 211);
}

static void sales_global(Run &run)
{
    sales_run(run, sales_global_kernel, blocks_for(SALES_COUNT, 256), 256);
}

static void sales_shared(Run &run)
{
    sales_run(run, sales_shared_kernel, 528, 512);
}

#endif
