// atomics.cuh - histograms, counters, hash tables: kernels whose threads update common words.
#ifndef BLIND_ATOMICS_CUH
#define BLIND_ATOMICS_CUH

#include "blind.cuh"

// ---- Histograms of bytes ----

__global__ void histogram_global_kernel(const unsigned char *data, int n, unsigned *bins)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        atomicAdd(&bins[data[i]], 1u);
}

__global__ void histogram_shared_kernel(const unsigned char *data, int n, unsigned *bins)
{
    __shared__ unsigned local[256];
    local[threadIdx.x] = 0;
    __syncthreads(); // bins are cleared
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        atomicAdd(&local[data[i]], 1u);
    __syncthreads(); // bins are complete
    atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}

template <class Launch> static void histogram(Run &run, int n, Launch launch)
{
    const std::vector<uint32_t> random = words(n, 21);
    std::vector<unsigned char> data(n);
    std::vector<unsigned> wanted(256);
    for (int i = 0; i < n; i++)
        wanted[data[i] = (unsigned char) (random[i] & random[i] >> 8)]++;
    unsigned char *bytes = run.upload(data);
    unsigned *bins = run.zeros<unsigned>(256);
    run.measure([=] { launch(bytes, n, bins); }, [=] { CHECK(cudaMemset(bins, 0, 1024)); });
    run.expect_all(
        run.output(bins, 256), [&](size_t i) { return wanted[i]; }, 0);
}

static void histogram_global(Run &run)
{
    histogram(run, 1 << 20, [](unsigned char *d, int n, unsigned *b) {
        histogram_global_kernel<<<528, 256>>>(d, n, b);
    });
}

static void histogram_shared(Run &run)
{
    histogram(run, 4 << 20, [](unsigned char *d, int n, unsigned *b) {
        histogram_shared_kernel<<<528, 256>>>(d, n, b);
    });
}

// ---- Counters ----

__global__ void count_one_address_kernel(const int *x, int n, int *count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && x[i] % 3 == 0)
        atomicAdd(count, 1);
}

__global__ void count_per_warp_kernel(const int *x, int n, int *counts)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && x[i] % 3 == 0)
        atomicAdd(&counts[i / 32 % 4096], 1);
}

__global__ void count_shared_kernel(const int *x, int n, int *count)
{
    __shared__ int inside;
    if (threadIdx.x == 0)
        inside = 0;
    __syncthreads(); // the counter is cleared
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && x[i] % 3 == 0)
        atomicAdd(&inside, 1);
    __syncthreads(); // the counter is complete
    if (threadIdx.x == 0)
        atomicAdd(count, inside);
}

template <class Launch> static void count(Run &run, int counters, Launch launch)
{
    const int n = 2 << 20;
    const std::vector<int> x = integers(n, 1000, 22);
    int *in = run.upload(x), *counts = run.zeros<int>(counters), wanted = 0, got = 0;
    run.measure([=] { launch(in, n, counts); },
                [=] { CHECK(cudaMemset(counts, 0, counters * sizeof(int))); });
    for (int c : run.output(counts, counters))
        got += c;
    for (int v : x)
        wanted += v % 3 == 0;
    run.expect(got, wanted, 0);
}

static void count_one_address(Run &run)
{
    count(run, 1, [](int *x, int n, int *c) {
        count_one_address_kernel<<<blocks_for(n, 256), 256>>>(x, n, c);
    });
}

static void count_per_warp(Run &run)
{
    count(run, 4096, [](int *x, int n, int *c) {
        count_per_warp_kernel<<<blocks_for(n, 256), 256>>>(x, n, c);
    });
}

static void count_shared(Run &run)
{
    count(run, 1,
          [](int *x, int n, int *c) { count_shared_kernel<<<blocks_for(n, 256), 256>>>(x, n, c); });
}

// ---- Sums and maxima by atomics ----

__global__ void scatter_add_kernel(const int *where, const float *what, int n, float *sums)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&sums[where[i]], what[i]);
}

// Sums of small integers are exact in any order.
static void float_scatter_add(Run &run)
{
    const int n = 1 << 20, places = 1 << 15;
    const std::vector<int> where = integers(n, places, 23), raw = integers(n, 16, 24);
    const std::vector<float> what(raw.begin(), raw.end());
    std::vector<float> wanted(places);
    for (int i = 0; i < n; i++)
        wanted[where[i]] += what[i];
    int *at = run.upload(where);
    float *value = run.upload(what), *sums = run.zeros<float>(places);
    run.measure([=] { scatter_add_kernel<<<blocks_for(n, 256), 256>>>(at, value, n, sums); },
                [=] { CHECK(cudaMemset(sums, 0, places * sizeof(float))); });
    run.expect_all(
        run.output(sums, places), [&](size_t i) { return wanted[i]; }, 0);
}

__device__ void atomic_max_float(float *address, float value)
{
    int *word = (int *) address;
    int old = atomicAdd(word, 0), assumed;
    while (__int_as_float(old) < value) {
        assumed = old;
        old = atomicCAS(word, assumed, __float_as_int(value));
        if (old == assumed)
            break;
    }
}

__global__ void max_cas_kernel(const int *group, const float *x, int n, float *most)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomic_max_float(&most[group[i]], x[i]);
}

static void max_by_cas(Run &run)
{
    const int n = 1 << 19, groups = 4096;
    const std::vector<int> group = integers(n, groups, 25);
    const std::vector<float> x = floats(n, 26, 0, 100);
    std::vector<float> wanted(groups);
    for (int i = 0; i < n; i++)
        wanted[group[i]] = std::max(wanted[group[i]], x[i]);
    int *g = run.upload(group);
    float *dx = run.upload(x), *most = run.zeros<float>(groups);
    run.measure([=] { max_cas_kernel<<<blocks_for(n, 256), 256>>>(g, dx, n, most); },
                [=] { CHECK(cudaMemset(most, 0, groups * sizeof(float))); });
    run.expect_all(
        run.output(most, groups), [&](size_t i) { return wanted[i]; }, 0);
}

// ---- Compaction: keeps the multiples of seven ----

__global__ void compact_atomic_kernel(const int *x, int n, int *kept, int *count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && x[i] % 7 == 0)
        kept[atomicAdd(count, 1)] = x[i];
}

__global__ void compact_warp_kernel(const int *x, int n, int *kept, int *count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32, first = 0;
    int value = i < n ? x[i] : 1;
    unsigned keep = __ballot_sync(~0u, value % 7 == 0);
    if (lane == 0 && keep)
        first = atomicAdd(count, __popc(keep));
    first = __shfl_sync(~0u, first, 0);
    if (value % 7 == 0)
        kept[first + __popc(keep & ((1u << lane) - 1))] = value;
}

// The order of the kept values varies; their sum does not.
template <class Launch> static void compact(Run &run, Launch launch)
{
    const int n = 2 << 20;
    const std::vector<int> x = integers(n, 100000, 27);
    int *in = run.upload(x), *kept = run.zeros<int>(n), *count = run.zeros<int>(1), wanted = 0;
    double sum = 0, wanted_sum = 0;
    run.measure([=] { launch(in, n, kept, count); },
                [=] { CHECK(cudaMemset(count, 0, sizeof(int))); });
    for (int v : x) {
        wanted += v % 7 == 0;
        wanted_sum += v % 7 == 0 ? v : 0;
    }
    const int got = run.output(count, 1)[0];
    run.expect(got, wanted, 0);
    std::vector<int> values(got);
    CHECK(cudaMemcpy(values.data(), kept, got * sizeof(int), cudaMemcpyDeviceToHost));
    for (int v : values)
        sum += v;
    run.expect(sum, wanted_sum, 0);
}

static void compact_atomic(Run &run)
{
    compact(run, [](int *x, int n, int *k, int *c) {
        compact_atomic_kernel<<<blocks_for(n, 256), 256>>>(x, n, k, c);
    });
}

static void compact_by_warp(Run &run)
{
    compact(run, [](int *x, int n, int *k, int *c) {
        compact_warp_kernel<<<blocks_for(n, 256), 256>>>(x, n, k, c);
    });
}

// ---- A hash table with linear probing ----

enum : uint32_t { SLOTS = 1u << 20, EMPTY = 0xffffffffu };

__device__ uint32_t slot_of(uint32_t key)
{
    key ^= key >> 16;
    key *= 0x85ebca6bu;
    key ^= key >> 13;
    key *= 0xc2b2ae35u;
    return (key ^ key >> 16) & (SLOTS - 1);
}

__global__ void hash_insert_kernel(const uint32_t *keys, int n, uint32_t *table, uint32_t *values)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    uint32_t key = keys[i], slot = slot_of(key);
    while (true) {
        uint32_t before = atomicCAS(&table[slot], EMPTY, key);
        if (before == EMPTY || before == key) {
            atomicExch(&values[slot], key * 3);
            return;
        }
        slot = (slot + 1) & (SLOTS - 1);
    }
}

__global__ void hash_lookup_kernel(const uint32_t *keys, int n, const uint32_t *table,
                                   const uint32_t *values, uint32_t *found)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    uint32_t key = keys[i], slot = slot_of(key), value = 0;
    while (table[slot] != EMPTY) {
        if (table[slot] == key) {
            value = values[slot];
            break;
        }
        slot = (slot + 1) & (SLOTS - 1);
    }
    found[i] = value;
}

static void hash_insert(Run &run)
{
    const int n = SLOTS / 2;
    const std::vector<uint32_t> keys = words(n, 28);
    uint32_t *dk = run.upload(keys), *table = run.zeros<uint32_t>(SLOTS),
             *values = run.zeros<uint32_t>(SLOTS);
    run.measure([=] { hash_insert_kernel<<<blocks_for(n, 256), 256>>>(dk, n, table, values); },
                [=] {
                    CHECK(cudaMemset(table, 0xff, SLOTS * 4));
                    CHECK(cudaMemset(values, 0, SLOTS * 4));
                });
    std::vector<uint32_t> sorted = keys, stored;
    std::vector<uint32_t> host(SLOTS);
    CHECK(cudaMemcpy(host.data(), table, SLOTS * 4, cudaMemcpyDeviceToHost));
    std::copy_if(host.begin(), host.end(), std::back_inserter(stored),
                 [](uint32_t k) { return k != EMPTY; });
    std::sort(sorted.begin(), sorted.end());
    sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
    std::sort(stored.begin(), stored.end());
    run.expect(stored == sorted, 1, 0); // the slots depend on the order of the threads
}

static void hash_lookup(Run &run)
{
    const int n = SLOTS / 2;
    const std::vector<uint32_t> keys = words(n, 28);
    std::vector<uint32_t> asked = keys;
    const std::vector<uint32_t> others = words(n, 29);
    for (int i = 0; i < n; i += 4)
        asked[i] = others[i];
    uint32_t *da = run.upload(asked), *table = run.zeros<uint32_t>(SLOTS),
             *values = run.zeros<uint32_t>(SLOTS), *found = run.zeros<uint32_t>(n);
    std::vector<uint32_t> slots(SLOTS, EMPTY), tripled(SLOTS);
    for (uint32_t key : keys) { // as in hash_insert, in order
        uint32_t k = key ^ key >> 16;
        k *= 0x85ebca6bu;
        k ^= k >> 13;
        k *= 0xc2b2ae35u;
        uint32_t slot = (k ^ k >> 16) & (SLOTS - 1);
        while (slots[slot] != EMPTY && slots[slot] != key)
            slot = (slot + 1) & (SLOTS - 1);
        slots[slot] = key;
        tripled[slot] = key * 3;
    }
    CHECK(cudaMemcpy(table, slots.data(), SLOTS * 4, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(values, tripled.data(), SLOTS * 4, cudaMemcpyHostToDevice));
    run.measure(
        [=] { hash_lookup_kernel<<<blocks_for(n, 256), 256>>>(da, n, table, values, found); });
    const std::vector<uint32_t> got = run.output(found, n);
    for (int i = 0; i < n; i++)
        if (i % 4)
            run.expect(got[i], asked[i] * 3, 0);
}

#endif
