// records.cuh - data processing: grouping, merging, strings, check sums, packed integers.
#ifndef BLIND_RECORDS_CUH
#define BLIND_RECORDS_CUH

#include "blind.cuh"

#include <cstring>

// ---- Sum and count by group: atomics on global memory, or a table per block ----

enum { GROUPS = 1000 };

__global__ void group_global_kernel(const int *key, const int *value, int n, int *sum, int *count)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        atomicAdd(&sum[key[i]], value[i]);
        atomicAdd(&count[key[i]], 1);
    }
}

__global__ void group_shared_kernel(const int *key, const int *value, int n, int *sum, int *count)
{
    __shared__ int sums[GROUPS], counts[GROUPS];
    for (int g = threadIdx.x; g < GROUPS; g += blockDim.x)
        sums[g] = counts[g] = 0;
    __syncthreads(); // the table is cleared
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        int g = key[i];
        atomicAdd(&sums[g], value[i]);
        atomicAdd(&counts[g], 1);
    }
    __syncthreads(); // the table is complete
    for (int g = threadIdx.x; g < GROUPS; g += blockDim.x)
        if (counts[g]) {
            atomicAdd(&sum[g], sums[g]);
            atomicAdd(&count[g], counts[g]);
        }
}

template <class Launch> static void group_by(Run &run, Launch launch)
{
    const int n = 2000000;
    const std::vector<int> raw = integers(n, GROUPS * GROUPS, 131), value = integers(n, 1000, 132);
    std::vector<int> key(n), wanted(2 * GROUPS);
    for (int i = 0; i < n; i++) { // small keys are frequent
        key[i] = (int) ((int64_t) raw[i] * raw[i] / GROUPS / GROUPS / GROUPS);
        wanted[key[i]] += value[i];
        wanted[GROUPS + key[i]]++;
    }
    int *dk = run.upload(key), *dv = run.upload(value), *out = run.zeros<int>(2 * GROUPS);
    run.measure([=] { launch(dk, dv, n, out, out + GROUPS); },
                [=] { CHECK(cudaMemset(out, 0, 2 * GROUPS * sizeof(int))); });
    run.expect_all(
        run.output(out, 2 * GROUPS), [&](size_t i) { return wanted[i]; }, 0);
}

static void group_global(Run &run)
{
    group_by(run, [](int *key, int *value, int n, int *sum, int *count) {
        group_global_kernel<<<528, 256>>>(key, value, n, sum, count);
    });
}

static void group_shared(Run &run)
{
    group_by(run, [](int *key, int *value, int n, int *sum, int *count) {
        group_shared_kernel<<<264, 512>>>(key, value, n, sum, count);
    });
}

// ---- Merging two sorted arrays: eight results per thread by merge path, or each value's rank ----

__device__ inline int values_below(const int *v, int n, int limit, bool or_equal)
{
    int low = 0, high = n;
    while (low < high) {
        int middle = (low + high) / 2;
        if (v[middle] < limit || (or_equal && v[middle] == limit))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

__global__ void merge_rank_kernel(const int *a, const int *b, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i + values_below(b, n, a[i], false)] = a[i];
    else if (i < 2 * n)
        out[i - n + values_below(a, n, b[i - n], true)] = b[i - n];
}

// How many of the first `diagonal` results come from `a`.
__device__ inline int path_crosses(const int *a, const int *b, int n, int diagonal)
{
    int low = max(0, diagonal - n), high = min(diagonal, n);
    while (low < high) {
        int middle = (low + high) / 2;
        if (a[middle] <= b[diagonal - 1 - middle])
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

__global__ void merge_path_kernel(const int *a, const int *b, int *out, int n)
{
    int first = (blockIdx.x * blockDim.x + threadIdx.x) * 8;
    if (first >= 2 * n)
        return;
    int i = path_crosses(a, b, n, first), j = first - i;
    for (int k = first; k < first + 8; k++) {
        bool from_a = j >= n || (i < n && a[i] <= b[j]);
        out[k] = from_a ? a[i++] : b[j++];
    }
}

template <class Launch> static void merge_sorted(Run &run, Launch launch)
{
    const int n = 500000;
    std::vector<int> a = integers(n, 1 << 30, 133), b = integers(n, 1 << 30, 134), wanted(2 * n);
    std::sort(a.begin(), a.end());
    std::sort(b.begin(), b.end());
    std::merge(a.begin(), a.end(), b.begin(), b.end(), wanted.begin());
    int *da = run.upload(a), *db = run.upload(b), *out = run.zeros<int>(2 * n);
    run.measure([=] { launch(da, db, out, n); });
    run.expect_all(
        run.output(out, 2 * n), [&](size_t i) { return wanted[i]; }, 0);
}

static void merge_rank(Run &run)
{
    merge_sorted(run, [](int *a, int *b, int *out, int n) {
        merge_rank_kernel<<<blocks_for(2 * n, 256), 256>>>(a, b, out, n);
    });
}

static void merge_path(Run &run)
{
    merge_sorted(run, [](int *a, int *b, int *out, int n) {
        merge_path_kernel<<<blocks_for(2 * n / 8, 128), 128>>>(a, b, out, n);
    });
}

// ---- Strings of a dictionary, by code: a string per thread, or per warp ----

__global__ void strings_thread_kernel(const int *code, const int *begin, const char *text,
                                      const int *to, char *out, int rows)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows)
        return;
    const char *from = text + begin[code[i]];
    int length = begin[code[i] + 1] - begin[code[i]];
    for (int k = 0; k < length; k++)
        out[to[i] + k] = from[k];
}

__global__ void strings_warp_kernel(const int *code, const int *begin, const char *text,
                                    const int *to, char *out, int rows)
{
    int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (i >= rows)
        return;
    const char *from = text + begin[code[i]];
    int length = begin[code[i] + 1] - begin[code[i]];
    for (int k = threadIdx.x % 32; k < length; k += 32)
        out[to[i] + k] = from[k];
}

template <class Launch> static void strings(Run &run, Launch launch)
{
    const int entries = 5000, rows = 100000;
    const std::vector<int> code = integers(rows, entries, 135);
    std::vector<int> begin(entries + 1), to(rows + 1);
    for (int i = 0; i < entries; i++)
        begin[i + 1] = begin[i] + mix(i) % 60;
    for (int i = 0; i < rows; i++)
        to[i + 1] = to[i] + begin[code[i] + 1] - begin[code[i]];
    std::vector<char> text(begin[entries]), wanted(to[rows]);
    for (size_t i = 0; i < text.size(); i++)
        text[i] = (char) ('a' + mix((uint32_t) i) % 26);
    for (int i = 0; i < rows; i++)
        memcpy(&wanted[to[i]], &text[begin[code[i]]], to[i + 1] - to[i]);
    int *dc = run.upload(code), *db = run.upload(begin), *dt = run.upload(to);
    char *from = run.upload(text), *out = run.zeros<char>(wanted.size());
    run.measure([=] { launch(dc, db, from, dt, out, rows); });
    run.expect_all(
        run.output(out, wanted.size()), [&](size_t i) { return wanted[i]; }, 0, 3);
}

static void strings_thread(Run &run)
{
    strings(run, [](int *code, int *begin, char *text, int *to, char *out, int rows) {
        strings_thread_kernel<<<blocks_for(rows, 128), 128>>>(code, begin, text, to, out, rows);
    });
}

static void strings_warp(Run &run)
{
    strings(run, [](int *code, int *begin, char *text, int *to, char *out, int rows) {
        strings_warp_kernel<<<blocks_for((size_t) rows * 32, 256), 256>>>(code, begin, text, to,
                                                                          out, rows);
    });
}

// ---- CRC-32 of messages of 128 bytes: the table in constant or in shared memory ----

__constant__ unsigned crc_table_constant[256];

template <class Table> __host__ __device__ inline unsigned crc_of(const unsigned *word, Table table)
{
    unsigned crc = ~0u;
    for (int k = 0; k < 32; k++) {
        crc ^= word[k];
        for (int byte = 0; byte < 4; byte++)
            crc = table[crc & 255] ^ crc >> 8;
    }
    return ~crc;
}

__global__ void crc_constant_kernel(const unsigned *message, unsigned *crc, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        crc[i] = crc_of(message + 32 * i, crc_table_constant);
}

__global__ void crc_shared_kernel(const unsigned *message, const unsigned *table, unsigned *crc,
                                  int n)
{
    __shared__ unsigned local[256];
    local[threadIdx.x] = table[threadIdx.x];
    __syncthreads(); // the table is complete
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n)
        crc[i] = crc_of(message + 32 * i, local);
}

template <class Launch> static void crc(Run &run, Launch launch)
{
    const int n = 110000;
    const std::vector<uint32_t> message = words((size_t) n * 32, 136);
    std::vector<unsigned> table(256);
    for (unsigned i = 0; i < 256; i++) {
        table[i] = i;
        for (int bit = 0; bit < 8; bit++)
            table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0xedb88320u : 0);
    }
    CHECK(cudaMemcpyToSymbol(crc_table_constant, table.data(), 1024));
    unsigned *dm = run.upload(message), *dt = run.upload(table), *out = run.zeros<unsigned>(n);
    run.measure([=] { launch(dm, dt, out, n); });
    run.expect_all(
        run.output(out, n), [&](size_t i) { return crc_of(&message[32 * i], table.data()); }, 0,
        19);
}

static void crc_constant(Run &run)
{
    crc(run, [](unsigned *message, unsigned *, unsigned *out, int n) {
        crc_constant_kernel<<<blocks_for(n, 256), 256>>>(message, out, n);
    });
}

static void crc_shared(Run &run)
{
    crc(run, [](unsigned *message, unsigned *table, unsigned *out, int n) {
        crc_shared_kernel<<<blocks_for(n, 256), 256>>>(message, table, out, n);
    });
}

// ---- Integers of 11 bits ----

__global__ void unpack_kernel(const unsigned *packed, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int bit = i * 11, word = bit / 32;
    unsigned both = __funnelshift_r(packed[word], packed[word + 1], bit % 32);
    out[i] = both & 2047;
}

static void unpack_11_bits(Run &run)
{
    const int n = 8000000;
    const std::vector<uint32_t> packed = words((size_t) n * 11 / 32 + 2, 137);
    unsigned *from = run.upload(packed);
    int *out = run.zeros<int>(n);
    run.measure([=] { unpack_kernel<<<blocks_for(n, 512), 512>>>(from, out, n); });
    run.expect_all(
        run.output(out, n),
        [&](size_t i) {
            const size_t bit = i * 11, word = bit / 32;
            const uint64_t both = packed[word] | (uint64_t) packed[word + 1] << 32;
            return both >> bit % 32 & 2047;
        },
        0, 7);
}

#endif
