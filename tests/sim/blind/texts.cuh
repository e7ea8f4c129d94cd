// texts.cuh - bytes and addresses: hexadecimal text, counting words, upper case, longest prefixes.
#ifndef BLIND_TEXTS_CUH
#define BLIND_TEXTS_CUH

#include "blind.cuh"

static std::vector<unsigned char> printed_text(int n, int seed)
{
    const std::vector<int> drawn = integers(n, 64, seed);
    std::vector<unsigned char> text(n);
    for (int i = 0; i < n; i++) {
        const int d = drawn[i];
        text[i] = d < 11 ? ' ' : d < 12 ? '\n' : d < 36 ? 'a' + (d - 12) : 'A' + (d - 36) % 26;
    }
    return text;
}

// ---- Bytes to hexadecimal text: a byte per thread by a table, or four by arithmetic ----

__constant__ char hex_digits[17] = "0123456789abcdef";

__global__ void hex_table_kernel(const unsigned char *in, char *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    out[2 * i] = hex_digits[in[i] >> 4];
    out[2 * i + 1] = hex_digits[in[i] & 15];
}

// Two bytes to four digits.
__device__ inline uint32_t hex_of_pair(uint32_t pair)
{
    uint32_t v = (pair & 0xff) | (pair & 0xff00) << 8;
    v = (v >> 4 & 0x000f000f) | (v & 0x000f000f) << 8;
    const uint32_t letters = (v + 0x06060606) >> 4 & 0x01010101;
    return v + 0x30303030 + letters * ('a' - '0' - 10);
}

__global__ void hex_words_kernel(const unsigned char *in, char *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n / 4)
        return;
    const uint32_t word = ((const uint32_t *) in)[i];
    ((uint2 *) out)[i] = make_uint2(hex_of_pair(word & 0xffff), hex_of_pair(word >> 16));
}

static void hex_text(Run &run, void (*kernel)(const unsigned char *, char *, int), int per_thread)
{
    const int n = 6000000;
    const std::vector<uint32_t> drawn = words(n / 4, 2051);
    const unsigned char *in = (const unsigned char *) drawn.data();
    const unsigned char *di = (const unsigned char *) run.upload(drawn);
    char *to = run.zeros<char>(2 * n);
    run.measure([=] { kernel<<<blocks_for(n / per_thread, 256), 256>>>(di, to, n); });
    run.expect_all(
        run.output(to, 2 * n),
        [&](size_t i) { return "0123456789abcdef"[i % 2 ? in[i / 2] & 15 : in[i / 2] >> 4]; }, 0,
        31);
}

static void hex_table(Run &run)
{
    hex_text(run, hex_table_kernel, 1);
}

static void hex_words(Run &run)
{
    hex_text(run, hex_words_kernel, 4);
}

// ---- Words of a text: a vote of 32 neighbouring bytes, or 16 bytes per thread ----

__device__ inline bool is_blank(unsigned char c)
{
    return c == ' ' || c == '\n' || c == '\t';
}

__global__ void wordcount_ballot_kernel(const unsigned char *text, int n, int *count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    bool starts = i < n && !is_blank(text[i]) && (i == 0 || is_blank(text[i - 1]));
    unsigned votes = __ballot_sync(~0u, starts);
    if (threadIdx.x % 32 == 0 && votes)
        atomicAdd(count, __popc(votes));
}

__global__ void wordcount_sixteen_kernel(const unsigned char *text, int n, int *count)
{
    __shared__ int sum;
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0)
        sum = 0;
    __syncthreads(); // the sum is zero
    if (i < n / 16) {
        const uint4 v = ((const uint4 *) text)[i];
        const uint32_t part[4] = { v.x, v.y, v.z, v.w };
        bool blank = i == 0 || is_blank(text[16 * i - 1]);
        int mine = 0;
#pragma unroll
        for (int k = 0; k < 16; k++) {
            const bool now = is_blank(part[k / 4] >> k % 4 * 8);
            mine += blank && !now;
            blank = now;
        }
        atomicAdd(&sum, mine);
    }
    __syncthreads(); // the block's sum is complete
    if (threadIdx.x == 0)
        atomicAdd(count, sum);
}

static void wordcount(Run &run, void (*kernel)(const unsigned char *, int, int *), int per_thread)
{
    const int n = 4800000;
    const std::vector<unsigned char> text = printed_text(n, 2052);
    unsigned char *dt = run.upload(text);
    int *count = run.zeros<int>(1), wanted = 0;
    run.measure([=] { kernel<<<blocks_for(n / per_thread, 256), 256>>>(dt, n, count); },
                [=] { CHECK(cudaMemset(count, 0, sizeof(int))); });
    for (int i = 0; i < n; i++)
        wanted += text[i] > ' ' && (i == 0 || text[i - 1] <= ' ');
    run.expect(run.output(count, 1)[0], wanted, 0);
}

static void wordcount_ballot(Run &run)
{
    wordcount(run, wordcount_ballot_kernel, 1);
}

static void wordcount_sixteen(Run &run)
{
    wordcount(run, wordcount_sixteen_kernel, 16);
}

// ---- Upper case in place of lower: byte by byte, or four bytes in a word ----

__global__ void upper_bytes_kernel(const unsigned char *in, unsigned char *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned char c = in[i];
    if (c >= 'a' && c <= 'z')
        c -= 32;
    out[i] = c;
}

__global__ void upper_simd_kernel(const unsigned char *in, unsigned char *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n / 4)
        return;
    const uint32_t v = ((const uint32_t *) in)[i];
    const uint32_t lower = __vcmpgeu4(v, 0x61616161) & __vcmpleu4(v, 0x7a7a7a7a);
    ((uint32_t *) out)[i] = v - (lower & 0x20202020);
}

static void upper_case(Run &run, void (*kernel)(const unsigned char *, unsigned char *, int),
                       int per_thread)
{
    const int n = 8000000;
    const std::vector<unsigned char> text = printed_text(n, 2053);
    unsigned char *dt = run.upload(text), *to = run.zeros<unsigned char>(n);
    run.measure([=] { kernel<<<blocks_for(n / per_thread, 512), 512>>>(dt, to, n); });
    run.expect_all(
        run.output(to, n),
        [&](size_t i) { return text[i] >= 'a' && text[i] <= 'z' ? text[i] - 32 : text[i]; }, 0, 61);
}

static void upper_bytes(Run &run)
{
    upper_case(run, upper_bytes_kernel, 1);
}

static void upper_simd(Run &run)
{
    upper_case(run, upper_simd_kernel, 4);
}

// ---- The longest prefix of an address: a trie by bytes, or a search among sorted ranges ----

struct PrefixRoutes {
    const int *trie;       // 256 entries a node: a child's number, or -1 - value
    const uint32_t *start; // of each range
    const int *value;
    int ranges;
};

__host__ __device__ inline int route_by_trie(const int *trie, uint32_t address)
{
    int entry = 0;
    for (int shift = 24; entry >= 0 && shift >= 8; shift -= 8)
        entry = trie[entry * 256 + (address >> shift & 255)];
    return -1 - entry;
}

__global__ void route_trie_kernel(PrefixRoutes routes, const uint32_t *address, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = route_by_trie(routes.trie, address[i]);
}

__global__ void route_ranges_kernel(PrefixRoutes routes, const uint32_t *address, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, low = 0, high = routes.ranges;
    if (i >= n)
        return;
    const uint32_t key = address[i];
    while (high - low > 1) {
        int mid = (low + high) / 2;
        if (routes.start[mid] <= key)
            low = mid;
        else
            high = mid;
    }
    out[i] = routes.value[low];
}

// Nodes of a level: about one entry in `fanout` has a child, none in the last level.
static std::vector<int> route_table()
{
    std::vector<int> trie(256);
    for (int node = 0, depth[3] = { 1, 0, 0 }, level = 0; level < 3; level++)
        for (int k = 0; k < depth[level]; k++, node++)
            for (int b = 0; b < 256; b++) {
                const uint32_t drawn = mix(node * 256 + b + 2054);
                trie[node * 256 + b] = -1 - (int) (drawn >> 16 & 4095);
                if (level == 2 || drawn % (level ? 8 : 4))
                    continue;
                trie[node * 256 + b] = (int) trie.size() / 256;
                trie.resize(trie.size() + 256);
                depth[level + 1]++;
            }
    return trie;
}

static void add_ranges(const std::vector<int> &trie, int node, int shift, uint32_t base,
                       std::vector<uint32_t> &start, std::vector<int> &value)
{
    for (uint32_t b = 0; b < 256; b++) {
        const int entry = trie[node * 256 + b];
        if (entry >= 0) {
            add_ranges(trie, entry, shift - 8, base | b << shift, start, value);
            continue;
        }
        start.push_back(base | b << shift);
        value.push_back(-1 - entry);
    }
}

static void route_addresses(Run &run, void (*kernel)(PrefixRoutes, const uint32_t *, int *, int))
{
    const int n = 400000;
    const std::vector<int> trie = route_table();
    const std::vector<uint32_t> address = words(n, 2055);
    std::vector<uint32_t> start;
    std::vector<int> value;
    add_ranges(trie, 0, 24, 0, start, value);
    const PrefixRoutes routes = { run.upload(trie), run.upload(start), run.upload(value),
                                  (int) start.size() };
    uint32_t *da = run.upload(address);
    int *to = run.zeros<int>(n);
    run.measure([=] { kernel<<<blocks_for(n, 128), 128>>>(routes, da, to, n); });
    run.expect_all(
        run.output(to, n), [&](size_t i) { return route_by_trie(trie.data(), address[i]); }, 0, 7);
}

static void route_trie(Run &run)
{
    route_addresses(run, route_trie_kernel);
}

static void route_ranges(Run &run)
{
    route_addresses(run, route_ranges_kernel);
}

#endif
