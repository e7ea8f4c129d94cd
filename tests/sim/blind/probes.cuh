// probes.cuh - look-ups: layouts of sorted keys, hashes of names, tables with buckets, wide trees.
#ifndef BLIND_PROBES_CUH
#define BLIND_PROBES_CUH

#include "blind.cuh"

// ---- How many sorted keys are at most the query: halving, or keys in the order of a tree ----

enum { PROBE_LEVELS = 20, PROBE_KEYS = (1 << PROBE_LEVELS) - 1, PROBE_QUERIES = 1 << 20 };

static std::vector<uint32_t> probe_keys(size_t count, uint32_t seed)
{
    std::vector<uint32_t> keys = words(count, seed);
    std::sort(keys.begin(), keys.end());
    return keys;
}

__global__ void probe_halving_kernel(const uint32_t *keys, const uint32_t *queries, int *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const uint32_t query = queries[i];
    int at = 0;
#pragma unroll
    for (int step = 1 << (PROBE_LEVELS - 1); step; step /= 2)
        if (keys[at + step - 1] <= query)
            at += step;
    out[i] = at;
}

// The children of place k are at 2 k and 2 k + 1: the top of the tree is compact.
__global__ void probe_tree_kernel(const uint32_t *tree, const uint32_t *queries, int *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const uint32_t query = queries[i];
    int at = 1;
    for (int level = 0; level < PROBE_LEVELS; level++)
        at = 2 * at + (tree[at] <= query);
    out[i] = at - (PROBE_KEYS + 1);
}

static void probe_plant(const std::vector<uint32_t> &keys, std::vector<uint32_t> &tree, size_t at,
                        size_t &next)
{
    if (at >= tree.size())
        return;
    probe_plant(keys, tree, 2 * at, next);
    tree[at] = keys[next++];
    probe_plant(keys, tree, 2 * at + 1, next);
}

static void probe(Run &run, bool planted)
{
    const std::vector<uint32_t> keys = probe_keys(PROBE_KEYS, 10701);
    const std::vector<uint32_t> queries = words(PROBE_QUERIES, 10702);
    std::vector<uint32_t> tree(PROBE_KEYS + 1);
    size_t next = 0;
    probe_plant(keys, tree, 1, next);
    const uint32_t *dk = run.upload(keys), *dt = run.upload(tree), *dq = run.upload(queries);
    int *to = run.zeros<int>(PROBE_QUERIES);
    run.measure([=] {
        if (planted)
            probe_tree_kernel<<<PROBE_QUERIES / 256, 256>>>(dt, dq, to);
        else
            probe_halving_kernel<<<PROBE_QUERIES / 256, 256>>>(dk, dq, to);
    });
    run.expect_all(
        run.output(to, PROBE_QUERIES),
        [&](size_t i) {
            return std::upper_bound(keys.begin(), keys.end(), queries[i]) - keys.begin();
        },
        0, 503);
}

static void probe_halving(Run &run)
{
    probe(run, false);
}

static void probe_tree(Run &run)
{
    probe(run, true);
}

// ---- Names of 24 bytes are hashed to 16 bits and counted: byte by byte, or word by word ----

enum { NAME_COUNT = 5 << 18, NAME_BYTES = 24, NAME_SLOTS = 65536 };

__host__ __device__ inline uint32_t name_hash_bytes(const unsigned char *name)
{
    uint32_t hash = 2166136261u;
    for (int k = 0; k < NAME_BYTES; k++)
        hash = (hash ^ name[k]) * 16777619u;
    return hash >> 16;
}

__host__ __device__ inline uint32_t name_hash_words(const unsigned char *name)
{
    const uint32_t *w = (const uint32_t *) name;
    uint32_t hash = 10703;
    for (int k = 0; k < NAME_BYTES / 4; k++) {
        const uint32_t v = w[k] * 0xcc9e2d51u;
        hash ^= (v << 15 | v >> 17) * 0x1b873593u;
        hash = (hash << 13 | hash >> 19) * 5 + 0xe6546b64u;
    }
    return (hash ^ hash >> 16) * 0x85ebca6bu >> 16;
}

template <bool WORDS> __global__ void names_kernel(const unsigned char *names, int *counts)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned char *name = names + i * NAME_BYTES;
    atomicAdd(&counts[WORDS ? name_hash_words(name) : name_hash_bytes(name)], 1);
}

template <bool WORDS> static void names(Run &run)
{
    const std::vector<uint32_t> in = words(NAME_COUNT * (NAME_BYTES / 4), 10704);
    const unsigned char *from = (const unsigned char *) run.upload(in);
    int *to = run.zeros<int>(NAME_SLOTS);
    run.measure([=] { names_kernel<WORDS><<<NAME_COUNT / 256, 256>>>(from, to); },
                [=] { CHECK(cudaMemset(to, 0, NAME_SLOTS * sizeof(int))); });
    std::vector<int> wanted(NAME_SLOTS);
    for (int i = 0; i < NAME_COUNT; i++) {
        const unsigned char *name = (const unsigned char *) &in[i * (NAME_BYTES / 4)];
        wanted[WORDS ? name_hash_words(name) : name_hash_bytes(name)]++;
    }
    run.expect_all(
        run.output(to, NAME_SLOTS), [&](size_t i) { return wanted[i]; }, 0, 3);
}

static void names_bytes(Run &run)
{
    names<false>(run);
}

static void names_words(Run &run)
{
    names<true>(run);
}

// ---- Is a key in the table? Slots one after the other, or buckets of eight in two vectors ----

enum { SHELF_SLOTS = 1 << 21, SHELF_KEYS = 5 << 18, SHELF_QUERIES = 1 << 20, SHELF_BUCKET = 8 };

__host__ __device__ inline uint32_t shelf_hash(uint32_t key)
{
    key ^= key >> 15;
    key *= 0x2c1b3c6du;
    return key ^ key >> 12;
}

__global__ void shelf_slots_kernel(const uint32_t *table, const uint32_t *queries,
                                   unsigned char *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const uint32_t query = queries[i];
    uint32_t at = shelf_hash(query) % SHELF_SLOTS, key = table[at];
    while (key && key != query) {
        at = (at + 1) % SHELF_SLOTS;
        key = table[at];
    }
    out[i] = key == query;
}

__device__ inline bool shelf_any(uint4 v, uint32_t key)
{
    return v.x == key || v.y == key || v.z == key || v.w == key;
}

// A bucket with an empty slot ends the search.
__global__ void shelf_buckets_kernel(const uint32_t *table, const uint32_t *queries,
                                     unsigned char *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const uint32_t query = queries[i];
    uint32_t bucket = shelf_hash(query) % (SHELF_SLOTS / SHELF_BUCKET);
    for (;; bucket = (bucket + 1) % (SHELF_SLOTS / SHELF_BUCKET)) {
        const uint4 a = ((const uint4 *) table)[2 * bucket];
        const uint4 b = ((const uint4 *) table)[2 * bucket + 1];
        const bool found = shelf_any(a, query) || shelf_any(b, query);
        if (found || b.w == 0) {
            out[i] = found;
            return;
        }
    }
}

// `each`: slots per bucket. Buckets fill from their first slot.
static std::vector<uint32_t> shelf_table(const std::vector<uint32_t> &keys, int each)
{
    std::vector<uint32_t> table(SHELF_SLOTS);
    for (uint32_t key : keys) {
        uint32_t at = shelf_hash(key) % (SHELF_SLOTS / each) * each;
        while (table[at])
            at = (at + 1) % SHELF_SLOTS;
        table[at] = key;
    }
    return table;
}

static void shelf(Run &run, int each,
                  void (*kernel)(const uint32_t *, const uint32_t *, unsigned char *))
{
    std::vector<uint32_t> keys = words(SHELF_KEYS, 10705), queries = words(SHELF_QUERIES, 10706);
    for (uint32_t &key : keys) // odd keys; odd queries are in the table, even ones are not
        key |= 1;
    for (int i = 0; i < SHELF_QUERIES; i++)
        queries[i] = queries[i] & 64 ? keys[queries[i] % SHELF_KEYS] : (queries[i] & ~1u) | 128;
    const uint32_t *dt = run.upload(shelf_table(keys, each)), *dq = run.upload(queries);
    unsigned char *to = run.zeros<unsigned char>(SHELF_QUERIES);
    run.measure([=] { kernel<<<SHELF_QUERIES / 256, 256>>>(dt, dq, to); });
    run.expect_all(
        run.output(to, SHELF_QUERIES), [&](size_t i) { return queries[i] & 1; }, 0, 499);
}

static void shelf_slots(Run &run)
{
    shelf(run, 1, shelf_slots_kernel);
}

static void shelf_buckets(Run &run)
{
    shelf(run, SHELF_BUCKET, shelf_buckets_kernel);
}

// ---- A tree of nodes of 16 keys: a thread compares all keys of a node, or 16 lanes do ----

enum { WIDE_LEVELS = 5, WIDE_KEYS = 1 << 20, WIDE_QUERIES = 5 << 15 };

// Level l has 16^(l+1) keys: key k is the first sorted key of the k-th of as many equal parts.
__global__ void wide_thread_kernel(const uint32_t *levels, const uint32_t *queries, int *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const uint32_t query = queries[i];
    int node = 0, size = 16;
    for (int level = 0; level < WIDE_LEVELS; level++, levels += size, size *= 16) {
        const uint4 *keys = (const uint4 *) (levels + 16 * node);
        int below = 0;
        for (int k = 0; k < 4; k++) {
            const uint4 v = keys[k];
            below += (v.x <= query) + (v.y <= query) + (v.z <= query) + (v.w <= query);
        }
        node = 16 * node + max(below - 1, 0);
    }
    out[i] = node;
}

// A half warp per query.
__global__ void wide_lanes_kernel(const uint32_t *levels, const uint32_t *queries, int *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 16;
    const int shift = threadIdx.x & 16;
    const uint32_t query = queries[i / 16];
    int node = 0, size = 16;
    for (int level = 0; level < WIDE_LEVELS; level++, levels += size, size *= 16) {
        const uint32_t all = __ballot_sync(~0u, levels[16 * node + lane] <= query);
        node = 16 * node + max(__popc(all >> shift & 0xffff) - 1, 0);
    }
    if (lane == 0)
        out[i / 16] = node;
}

static void wide(Run &run, bool lanes)
{
    const std::vector<uint32_t> keys = probe_keys(WIDE_KEYS, 10707);
    const std::vector<uint32_t> queries = words(WIDE_QUERIES, 10708);
    std::vector<uint32_t> levels;
    for (int size = 16; size <= WIDE_KEYS; size *= 16)
        for (int k = 0; k < size; k++)
            levels.push_back(keys[(size_t) k * (WIDE_KEYS / size)]);
    const uint32_t *dl = run.upload(levels), *dq = run.upload(queries);
    int *to = run.zeros<int>(WIDE_QUERIES);
    run.measure([=] {
        if (lanes)
            wide_lanes_kernel<<<WIDE_QUERIES * 16 / 256, 256>>>(dl, dq, to);
        else
            wide_thread_kernel<<<WIDE_QUERIES / 128, 128>>>(dl, dq, to);
    });
    run.expect_all(
        run.output(to, WIDE_QUERIES),
        [&](size_t i) {
            const auto at = std::upper_bound(keys.begin(), keys.end(), queries[i]);
            return std::max<long>(at - keys.begin() - 1, 0);
        },
        0, 101);
}

static void wide_thread(Run &run)
{
    wide(run, false);
}

static void wide_lanes(Run &run)
{
    wide(run, true);
}

#endif
