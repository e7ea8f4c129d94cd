// stores.cuh - tables and text: routes by prefix, distinct counts, compressed pages, joins by time,
// wildcards.
#ifndef BLIND_STORES_CUH
#define BLIND_STORES_CUH

#include "blind.cuh"

// ---- The longest prefix of an address: tables of 16 and twice 8 bits, or a search in ranges ----

enum { ROUTES = 12000 };

struct Router {
    std::vector<int> table;      // at least 0: a hop; below: minus the next table's place
    std::vector<unsigned> start; // ranges in order, each with a hop
    std::vector<int> hop;
};

// Lets the addresses of a prefix lead to a hop. Longer prefixes must come later.
static void add_route(std::vector<int> &table, int at, unsigned address, int bits, int hop)
{
    const int width = at ? 8 : 16, shift = 32 - width;
    if (bits > width) {
        const int here = at + (address >> shift);
        if (table[here] >= 0) {
            const int next = table.size();
            table.resize(next + 256, table[here]);
            table[here] = -next;
        }
        add_route(table, -table[here], address << width, bits - width, hop);
        return;
    }
    const int first = at + (address >> shift), count = 1 << (width - bits);
    for (int k = 0; k < count; k++)
        table[first + k] = hop;
}

__host__ __device__ inline int hop_of(const int *table, unsigned address)
{
    int found = table[address >> 16];
    if (found < 0)
        found = table[-found + (address >> 8 & 255)];
    if (found < 0)
        found = table[-found + (address & 255)];
    return found;
}

static Router make_router()
{
    const std::vector<unsigned> address = words(ROUTES, 761);
    Router r;
    r.table.assign(1 << 16, 0);
    for (int bits = 8; bits <= 28; bits++) // short prefixes first
        for (int i = 0; i < ROUTES; i++)
            if (i % 21 + 8 == bits)
                add_route(r.table, 0, address[i] >> (32 - bits) << (32 - bits), bits, 1 + i % 200);
    for (unsigned high = 0; high < 1u << 28; high++) { // in steps of the longest prefix
        const int hop = hop_of(r.table.data(), high << 4);
        if (!high || hop != r.hop.back()) {
            r.start.push_back(high << 4);
            r.hop.push_back(hop);
        }
        if (r.table[high >> 12] >= 0)
            high |= 0xfff; // the whole of the first table's entry
        else if (r.table[-r.table[high >> 12] + (high >> 4 & 255)] >= 0)
            high |= 0xf;
    }
    return r;
}

__global__ void prefix_tables_kernel(const int *table, const unsigned *address, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = hop_of(table, address[i]);
}

__global__ void prefix_search_kernel(const unsigned *start, const int *hop, int ranges,
                                     const unsigned *address, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const unsigned wanted = address[i];
    int low = 0, high = ranges; // start[low] <= wanted < start[high]
    while (high - low > 1) {
        const int middle = (low + high) / 2;
        if (start[middle] <= wanted)
            low = middle;
        else
            high = middle;
    }
    out[i] = hop[low];
}

static void prefix(Run &run, bool search)
{
    const int n = 900000;
    const Router r = make_router();
    const std::vector<unsigned> address = words(n, 762);
    const int ranges = r.start.size(), *table = run.upload(r.table), *hop = run.upload(r.hop);
    unsigned *start = run.upload(r.start), *da = run.upload(address);
    int *to = run.zeros<int>(n);
    run.measure([=] {
        if (search)
            prefix_search_kernel<<<blocks_for(n, 256), 256>>>(start, hop, ranges, da, to, n);
        else
            prefix_tables_kernel<<<blocks_for(n, 256), 256>>>(table, da, to, n);
    });
    run.expect_all(
        run.output(to, n), [&](size_t i) { return hop_of(r.table.data(), address[i]); }, 0, 19);
}

static void prefix_tables(Run &run)
{
    prefix(run, false);
}

static void prefix_search(Run &run)
{
    prefix(run, true);
}

// ---- Number of distinct keys (HyperLogLog): registers in global or shared memory ----

enum { LOG_REGISTERS = 2048 };

__host__ __device__ inline unsigned scramble(unsigned x)
{
    x ^= x >> 16;
    x *= 0x85ebca6bu;
    x ^= x >> 13;
    x *= 0xc2b2ae35u;
    return x ^ x >> 16;
}

// The number of leading zeros of the rest of the hash, plus 1.
__host__ __device__ inline int rank_of(unsigned hash)
{
    const unsigned rest = hash / LOG_REGISTERS | 1u << 21;
#ifdef __CUDA_ARCH__
    return __ffs(rest);
#else
    return __builtin_ffs(rest);
#endif
}

__global__ void distinct_global_kernel(const unsigned *key, int *reg, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const unsigned hash = scramble(key[i]);
    atomicMax(&reg[hash % LOG_REGISTERS], rank_of(hash));
}

__global__ void distinct_shared_kernel(const unsigned *key, int *reg, int n)
{
    __shared__ int local[LOG_REGISTERS];
    for (int k = threadIdx.x; k < LOG_REGISTERS; k += blockDim.x)
        local[k] = 0;
    __syncthreads(); // the registers are zero
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        const unsigned hash = scramble(key[i]);
        atomicMax(&local[hash % LOG_REGISTERS], rank_of(hash));
    }
    __syncthreads(); // the block's registers are complete
    for (int k = threadIdx.x; k < LOG_REGISTERS; k += blockDim.x)
        if (local[k])
            atomicMax(&reg[k], local[k]);
}

static void distinct(Run &run, bool shared)
{
    const int n = 2500000;
    const std::vector<unsigned> key = words(n, 763);
    unsigned *dk = run.upload(key);
    int *reg = run.zeros<int>(LOG_REGISTERS);
    run.measure(
        [=] {
            if (shared)
                distinct_shared_kernel<<<264, 512>>>(dk, reg, n);
            else
                distinct_global_kernel<<<blocks_for(n, 256), 256>>>(dk, reg, n);
        },
        [=] { CHECK(cudaMemset(reg, 0, LOG_REGISTERS * sizeof(int))); });
    std::vector<int> wanted(LOG_REGISTERS);
    for (unsigned k : key) {
        const unsigned hash = scramble(k);
        wanted[hash % LOG_REGISTERS] = std::max(wanted[hash % LOG_REGISTERS], rank_of(hash));
    }
    run.expect_all(
        run.output(reg, LOG_REGISTERS), [&](size_t i) { return wanted[i]; }, 0);
}

static void distinct_global(Run &run)
{
    distinct(run, false);
}

static void distinct_shared(Run &run)
{
    distinct(run, true);
}

// ---- Pages of literals and matches (as LZ4): a thread or a warp per page ----

enum { LZ_PAGE = 1024, LZ_PAGES = 1024 };

// A token: literals (high half) and the match's length (low half); literals; the match's distance
// in two bytes.
__global__ void lz_thread_kernel(const unsigned char *packed, const int *begin, unsigned char *out)
{
    const int page = blockIdx.x * blockDim.x + threadIdx.x;
    if (page >= LZ_PAGES)
        return;
    const unsigned char *from = packed + begin[page];
    unsigned char *page_out = out + page * LZ_PAGE;
    for (int at = 0; at < LZ_PAGE;) {
        const int token = *from++;
        for (int k = 0; k < token >> 4; k++)
            page_out[at++] = *from++;
        const int apart = from[0] | from[1] << 8;
        from += 2;
        for (int k = 0; k < (token & 15); k++, at++)
            page_out[at] = page_out[at - apart];
    }
}

__global__ void lz_warp_kernel(const unsigned char *packed, const int *begin, unsigned char *out)
{
    const int page = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    const unsigned char *from = packed + begin[page];
    unsigned char *page_out = out + page * LZ_PAGE;
    for (int at = 0; at < LZ_PAGE;) {
        const int literals = *from >> 4, length = *from & 15;
        if (lane < literals)
            page_out[at + lane] = from[1 + lane];
        from += 1 + literals;
        at += literals;
        __syncwarp(); // the literals are written
        const int apart = from[0] | from[1] << 8;
        if (lane < length) // a match may overlap itself
            page_out[at + lane] = page_out[at - apart + lane % apart];
        from += 2;
        at += length;
        __syncwarp(); // the match is written
    }
}

static void add_page(std::vector<unsigned char> &packed, std::vector<unsigned char> &plain,
                     uint32_t seed)
{
    const std::vector<unsigned> random = words(2 * LZ_PAGE, seed);
    for (int at = 0, k = 0; at < LZ_PAGE; k += 20) {
        const int literals = std::min(LZ_PAGE - at, (int) (1 + random[k] % 12)),
                  length = std::min(LZ_PAGE - at - literals, (int) (random[k + 1] % 16)),
                  apart = 1 + random[k + 2] % (at + literals);
        packed.push_back(literals << 4 | length);
        for (int i = 0; i < literals; i++) {
            packed.push_back(random[(k + 3 + i) % (2 * LZ_PAGE)]);
            plain.push_back(packed.back());
        }
        packed.push_back(apart & 255);
        packed.push_back(apart >> 8);
        for (int i = 0; i < length; i++)
            plain.push_back(plain[plain.size() - apart]);
        at += literals + length;
        k %= LZ_PAGE;
    }
}

static void lz(Run &run, bool by_warp)
{
    std::vector<unsigned char> packed, plain;
    std::vector<int> begin;
    for (int page = 0; page < LZ_PAGES; page++) {
        begin.push_back(packed.size());
        add_page(packed, plain, 7640 + page);
    }
    unsigned char *from = run.upload(packed), *to = run.zeros<unsigned char>(plain.size());
    int *db = run.upload(begin);
    run.measure([=] {
        if (by_warp)
            lz_warp_kernel<<<LZ_PAGES * 32 / 128, 128>>>(from, db, to);
        else
            lz_thread_kernel<<<LZ_PAGES / 32, 32>>>(from, db, to);
    });
    run.expect_all(
        run.output(to, plain.size()), [&](size_t i) { return plain[i]; }, 0, 7);
}

static void lz_thread(Run &run)
{
    lz(run, false);
}

static void lz_warp(Run &run)
{
    lz(run, true);
}

// ---- The last quote before each trade: a search per trade, or within the quotes of a block ----

enum { QUOTES = 1200000, TRADES = 400000, ASOF_BLOCK = 256, ASOF_TILE = 1536 };

// The number of times at or before `wanted`.
__host__ __device__ inline int times_before(const int *time, int count, int wanted)
{
    int low = 0, high = count;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (time[middle] <= wanted)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

__global__ void asof_search_kernel(const int *quote, const int *trade, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < TRADES)
        out[i] = times_before(quote, QUOTES, trade[i]) - 1;
}

__global__ void __launch_bounds__(ASOF_BLOCK)
    asof_block_kernel(const int *quote, const int *trade, int *out)
{
    __shared__ int tile[ASOF_TILE], ends[2];
    const int first = blockIdx.x * ASOF_BLOCK, t = threadIdx.x;
    const int last = min(first + ASOF_BLOCK, (int) TRADES) - 1;
    if (t < 2)
        ends[t] = times_before(quote, QUOTES, trade[t ? last : first]);
    __syncthreads(); // the range is known
    const int base = ends[0], count = min(ends[1] - base, (int) ASOF_TILE);
    for (int k = t; k < count; k += ASOF_BLOCK)
        tile[k] = quote[base + k];
    __syncthreads(); // the tile is complete
    if (first + t <= last)
        out[first + t] = base + times_before(tile, count, trade[first + t]) - 1;
}

static void asof(Run &run, void (*kernel)(const int *, const int *, int *))
{
    std::vector<int> quote = integers(QUOTES, 1u << 30, 765),
                     trade = integers(TRADES, 1u << 30, 766);
    std::sort(quote.begin(), quote.end());
    std::sort(trade.begin(), trade.end());
    int *dq = run.upload(quote), *dt = run.upload(trade), *to = run.zeros<int>(TRADES);
    run.measure([=] { kernel<<<blocks_for(TRADES, ASOF_BLOCK), ASOF_BLOCK>>>(dq, dt, to); });
    run.expect_all(
        run.output(to, TRADES),
        [&](size_t i) { return times_before(quote.data(), QUOTES, trade[i]) - 1; }, 0, 11);
}

static void asof_search(Run &run)
{
    asof(run, asof_search_kernel);
}

static void asof_block(Run &run)
{
    asof(run, asof_block_kernel);
}

// ---- Strings that match a pattern with * and ?: a thread per string, with a step back ----

__constant__ char glob_pattern[16];

__host__ __device__ inline bool glob_matches(const char *pattern, const char *text)
{
    const char *star = nullptr, *resume = nullptr;
    while (*text) {
        if (*pattern == '*') {
            star = pattern++;
            resume = text;
        } else if (*pattern == '?' || *pattern == *text) {
            pattern++;
            text++;
        } else if (star) {
            pattern = star + 1;
            text = ++resume;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return !*pattern;
}

__global__ void glob_kernel(const char *text, const int *begin, unsigned char *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = glob_matches(glob_pattern, text + begin[i]);
}

static void glob_strings(Run &run)
{
    const int n = 12000;
    const char pattern[16] = "a*b?a*cb*";
    const std::vector<int> length = integers(n, 32, 767), letter = integers(n * 48, 3, 768);
    std::vector<char> text;
    std::vector<int> begin;
    for (int i = 0; i < n; i++) {
        begin.push_back(text.size());
        if (i % 4)
            text.push_back('a');
        for (int k = 0; k < length[i]; k++)
            text.push_back('a' + letter[i * 48 + k]);
        text.push_back(0);
    }
    CHECK(cudaMemcpyToSymbol(glob_pattern, pattern, sizeof pattern));
    char *from = run.upload(text);
    int *db = run.upload(begin);
    unsigned char *to = run.zeros<unsigned char>(n);
    run.measure([=] { glob_kernel<<<blocks_for(n, 128), 128>>>(from, db, to, n); });
    run.expect_all(
        run.output(to, n), [&](size_t i) { return glob_matches(pattern, &text[begin[i]]); }, 0, 3);
}

#endif
