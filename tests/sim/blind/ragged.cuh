// ragged.cuh - rows of unequal lengths in one array: softmax, maxima, offsets, polynomials.
#ifndef BLIND_RAGGED_CUH
#define BLIND_RAGGED_CUH

#include "blind.cuh"

// Begins of `rows` rows: lengths of 1 to `longest`, and the end of the last.
static std::vector<int> ragged_begins(int rows, int longest, uint32_t seed)
{
    const std::vector<int> lengths = integers(rows, longest, seed);
    std::vector<int> begin(rows + 1);
    for (int i = 0; i < rows; i++)
        begin[i + 1] = begin[i] + lengths[i] + 1;
    return begin;
}

// ---- Softmax of each row: a thread per row, or a warp ----

enum { RAGSOFT_ROWS = 57344, RAGSOFT_LONGEST = 48 };

__global__ void ragsoft_thread_kernel(const float *in, const int *begin, float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, from = begin[i], end = begin[i + 1];
    float most = -INFINITY, sum = 0;
    for (int k = from; k < end; k++)
        most = fmaxf(most, in[k]);
    for (int k = from; k < end; k++)
        sum += __expf(in[k] - most);
    for (int k = from; k < end; k++)
        out[k] = __expf(in[k] - most) / sum;
}

__global__ void ragsoft_warp_kernel(const float *in, const int *begin, float *out)
{
    const int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    const int from = begin[i] + lane, end = begin[i + 1];
    float most = -INFINITY, sum = 0;
    for (int k = from; k < end; k += 32)
        most = fmaxf(most, in[k]);
    for (int by = 16; by; by /= 2)
        most = fmaxf(most, __shfl_xor_sync(~0u, most, by));
    for (int k = from; k < end; k += 32)
        sum += __expf(in[k] - most);
    for (int by = 16; by; by /= 2)
        sum += __shfl_xor_sync(~0u, sum, by);
    for (int k = from; k < end; k += 32)
        out[k] = __expf(in[k] - most) / sum;
}

static void ragsoft(Run &run, bool warps)
{
    const std::vector<int> begin = ragged_begins(RAGSOFT_ROWS, RAGSOFT_LONGEST, 10601);
    const int count = begin[RAGSOFT_ROWS];
    const std::vector<float> in = floats(count, 10602, -3, 3);
    const float *from = run.upload(in);
    const int *db = run.upload(begin);
    float *to = run.zeros<float>(count);
    run.measure([=] {
        if (warps)
            ragsoft_warp_kernel<<<RAGSOFT_ROWS / 8, 256>>>(from, db, to);
        else
            ragsoft_thread_kernel<<<RAGSOFT_ROWS / 128, 128>>>(from, db, to);
    });
    const std::vector<float> got = run.output(to, count);
    for (int i = 0; i < RAGSOFT_ROWS; i += 61) {
        double sum = 0;
        for (int k = begin[i]; k < begin[i + 1]; k++)
            sum += exp((double) in[k]);
        for (int k = begin[i]; k < begin[i + 1]; k++)
            run.expect(got[k], exp((double) in[k]) / sum, 1e-5);
    }
}

static void ragsoft_thread(Run &run)
{
    ragsoft(run, false);
}

static void ragsoft_warp(Run &run)
{
    ragsoft(run, true);
}

// ---- The largest value of each row, a value per thread: atomics, or first within the warp ----

enum { SEGMAX_ROWS = 1 << 17, SEGMAX_LONGEST = 40 };

__global__ void segmax_atomic_kernel(const int *value, const int *row, int count, int *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        atomicMax(&out[row[i]], value[i]);
}

// Lanes take the maximum of those before them in the same row; the row's last lane writes it.
__global__ void segmax_warp_kernel(const int *value, const int *row, int count, int *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    const int mine = i < count ? row[i] : -1;
    int most = i < count ? value[i] : 0;
    for (int by = 1; by < 32; by *= 2) {
        const int other = __shfl_up_sync(~0u, most, by);
        const int from = __shfl_up_sync(~0u, mine, by);
        if (lane >= by && from == mine)
            most = max(most, other);
    }
    const int next = __shfl_down_sync(~0u, mine, 1);
    if (mine >= 0 && (lane == 31 || next != mine))
        atomicMax(&out[mine], most);
}

static void segmax(Run &run, void (*kernel)(const int *, const int *, int, int *))
{
    const std::vector<int> begin = ragged_begins(SEGMAX_ROWS, SEGMAX_LONGEST, 10603);
    const int count = begin[SEGMAX_ROWS];
    const std::vector<int> value = integers(count, 1 << 30, 10604);
    std::vector<int> row(count);
    for (int i = 0; i < SEGMAX_ROWS; i++)
        std::fill(&row[begin[i]], row.data() + begin[i + 1], i);
    const int *from = run.upload(value), *dr = run.upload(row);
    int *to = run.zeros<int>(SEGMAX_ROWS);
    run.measure([=] { kernel<<<blocks_for(count, 256), 256>>>(from, dr, count, to); },
                [=] { CHECK(cudaMemset(to, 0, SEGMAX_ROWS * sizeof(int))); });
    run.expect_all(
        run.output(to, SEGMAX_ROWS),
        [&](size_t i) { return *std::max_element(&value[begin[i]], value.data() + begin[i + 1]); },
        0, 97);
}

static void segmax_atomic(Run &run)
{
    segmax(run, segmax_atomic_kernel);
}

static void segmax_warp(Run &run)
{
    segmax(run, segmax_warp_kernel);
}

// ---- Begins of rows from sorted row numbers: where the number changes, or a search per row ----

enum { BEGINS_ROWS = 5 << 17, BEGINS_LONGEST = 17 };

// Empty rows begin where the next one does.
__global__ void begins_changes_kernel(const int *row, int count, int *begin)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > count)
        return;
    const int before = i ? row[i - 1] : -1, here = i < count ? row[i] : (int) BEGINS_ROWS;
    for (int r = before + 1; r <= here; r++)
        begin[r] = i;
}

__global__ void begins_search_kernel(const int *row, int count, int *begin)
{
    const int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r > BEGINS_ROWS)
        return;
    int low = 0, high = count; // the first whose row is not below r
    while (low < high) {
        const int middle = (low + high) / 2;
        if (row[middle] < r)
            low = middle + 1;
        else
            high = middle;
    }
    begin[r] = low;
}

static void begins(Run &run, bool search)
{
    const std::vector<int> lengths = integers(BEGINS_ROWS, BEGINS_LONGEST, 10605);
    std::vector<int> wanted(BEGINS_ROWS + 1), row;
    for (int i = 0; i < BEGINS_ROWS; i++) {
        wanted[i] = (int) row.size();
        row.insert(row.end(), lengths[i], i);
    }
    const int count = wanted[BEGINS_ROWS] = (int) row.size();
    const int *from = run.upload(row);
    int *to = run.zeros<int>(BEGINS_ROWS + 1);
    run.measure([=] {
        if (search)
            begins_search_kernel<<<blocks_for(BEGINS_ROWS + 1, 256), 256>>>(from, count, to);
        else
            begins_changes_kernel<<<blocks_for(count + 1, 256), 256>>>(from, count, to);
    });
    run.expect_all(
        run.output(to, BEGINS_ROWS + 1), [&](size_t i) { return wanted[i]; }, 0, 13);
}

static void begins_changes(Run &run)
{
    begins(run, false);
}

static void begins_search(Run &run)
{
    begins(run, true);
}

// ---- A polynomial per row and thread: rows in any order, or sorted by length ----

enum { DEGREE_ROWS = 3 << 17, DEGREE_LONGEST = 64 };

__global__ void degrees_kernel(const float *coefficient, const int *begin, const int *order,
                               const float *x, float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, row = order ? order[i] : i;
    const float at = x[row];
    float value = 0;
    for (int k = begin[row + 1] - 1; k >= begin[row]; k--)
        value = value * at + coefficient[k];
    out[row] = value;
}

static void degrees(Run &run, bool sorted)
{
    const std::vector<int> begin = ragged_begins(DEGREE_ROWS, DEGREE_LONGEST, 10606);
    const std::vector<float> coefficient = floats(begin[DEGREE_ROWS], 10607);
    const std::vector<float> x = floats(DEGREE_ROWS, 10608, -0.9f, 0.9f);
    std::vector<int> order(DEGREE_ROWS);
    for (int i = 0; i < DEGREE_ROWS; i++)
        order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
        return begin[a + 1] - begin[a] < begin[b + 1] - begin[b];
    });
    const float *from = run.upload(coefficient), *dx = run.upload(x);
    const int *db = run.upload(begin), *dorder = run.upload(order);
    float *to = run.zeros<float>(DEGREE_ROWS);
    run.measure([=] {
        const int *by = sorted ? dorder : nullptr;
        degrees_kernel<<<DEGREE_ROWS / 256, 256>>>(from, db, by, dx, to);
    });
    run.expect_all(
        run.output(to, DEGREE_ROWS),
        [&](size_t i) {
            double value = 0;
            for (int k = begin[i + 1] - 1; k >= begin[i]; k--)
                value = value * x[i] + coefficient[k];
            return value;
        },
        1e-4, 101);
}

static void degrees_mixed(Run &run)
{
    degrees(run, false);
}

static void degrees_sorted(Run &run)
{
    degrees(run, true);
}

#endif
