// sequences.cuh - texts, codes and chains: automata, Huffman codes, matches, depths of trees.
#ifndef BLIND_SEQUENCES_CUH
#define BLIND_SEQUENCES_CUH

#include "blind.cuh"

#include <queue>

// ---- An automaton of 32 states over chunks of text: the table in global, or in shared memory ----

enum { STATES = 32, CHUNK = 192 };

__global__ void automaton_global_kernel(const unsigned char *text, const unsigned char *next,
                                        int *accepted, int chunks)
{
    int chunk = blockIdx.x * blockDim.x + threadIdx.x, state = 0, count = 0;
    if (chunk >= chunks)
        return;
    text += (size_t) chunk * CHUNK;
    for (int k = 0; k < CHUNK; k++) {
        state = next[state * 256 + text[k]];
        count += state % 8 == 7;
    }
    accepted[chunk] = count;
}

__global__ void automaton_shared_kernel(const unsigned char *text, const unsigned char *next,
                                        int *accepted, int chunks)
{
    __shared__ unsigned char table[STATES * 256];
    int chunk = blockIdx.x * blockDim.x + threadIdx.x, state = 0, count = 0;
    for (int k = threadIdx.x; k < STATES * 64; k += blockDim.x)
        ((unsigned *) table)[k] = ((const unsigned *) next)[k];
    __syncthreads(); // the table is complete
    if (chunk >= chunks)
        return;
    text += (size_t) chunk * CHUNK;
    for (int k = 0; k < CHUNK; k++) {
        state = table[state * 256 + text[k]];
        count += state % 8 == 7;
    }
    accepted[chunk] = count;
}

template <class Launch> static void automaton(Run &run, Launch launch)
{
    const int chunks = 30000;
    std::vector<unsigned char> text((size_t) chunks * CHUNK), next(STATES * 256);
    for (size_t i = 0; i < text.size(); i++)
        text[i] = (unsigned char) (' ' + mix((uint32_t) i + 361) % 90);
    for (size_t i = 0; i < next.size(); i++)
        next[i] = (unsigned char) (mix((uint32_t) i + 362) % STATES);
    unsigned char *dt = run.upload(text), *dn = run.upload(next);
    int *accepted = run.zeros<int>(chunks);
    run.measure([=] { launch(dt, dn, accepted, chunks); });
    run.expect_all(
        run.output(accepted, chunks),
        [&](size_t chunk) {
            int state = 0, count = 0;
            for (int k = 0; k < CHUNK; k++) {
                state = next[state * 256 + text[chunk * CHUNK + k]];
                count += state % 8 == 7;
            }
            return count;
        },
        0, 7);
}

static void automaton_global(Run &run)
{
    automaton(run, [](unsigned char *text, unsigned char *next, int *accepted, int chunks) {
        automaton_global_kernel<<<blocks_for(chunks, 128), 128>>>(text, next, accepted, chunks);
    });
}

static void automaton_shared(Run &run)
{
    automaton(run, [](unsigned char *text, unsigned char *next, int *accepted, int chunks) {
        automaton_shared_kernel<<<blocks_for(chunks, 128), 128>>>(text, next, accepted, chunks);
    });
}

// ---- Huffman codes, 96 symbols per thread: bit by bit along the tree, or by a table ----

enum { CODED = 96, SYMBOLS = 40, LONGEST = 10 };

// A node's children; a leaf is -1 - symbol.
struct HuffmanNode {
    int child[2];
};

struct HuffmanCode {
    std::vector<HuffmanNode> nodes; // the root is the last one
    unsigned code[SYMBOLS];         // the first bit is the lowest
    int length[SYMBOLS];
};

static void name_leaves(HuffmanCode &huffman, int node, unsigned code, int length)
{
    if (node < 0) {
        huffman.code[-1 - node] = code;
        huffman.length[-1 - node] = length;
        return;
    }
    name_leaves(huffman, huffman.nodes[node].child[0], code, length + 1);
    name_leaves(huffman, huffman.nodes[node].child[1], code | 1u << length, length + 1);
}

// Symbol s has the weight 1 / (s + 2).
static HuffmanCode huffman_code()
{
    HuffmanCode huffman;
    std::priority_queue<std::pair<double, int>> lightest; // negative weight, node
    for (int s = 0; s < SYMBOLS; s++)
        lightest.push({ -1.0 / (s + 2), -1 - s });
    while (lightest.size() > 1) {
        const auto a = lightest.top();
        lightest.pop();
        const auto b = lightest.top();
        lightest.pop();
        huffman.nodes.push_back({ { a.second, b.second } });
        lightest.push({ a.first + b.first, (int) huffman.nodes.size() - 1 });
    }
    name_leaves(huffman, (int) huffman.nodes.size() - 1, 0, 0);
    return huffman;
}

__global__ void huffman_bits_kernel(const unsigned *bits, const int *start, const HuffmanNode *node,
                                    int root, unsigned char *out, int chunks)
{
    int chunk = blockIdx.x * blockDim.x + threadIdx.x;
    if (chunk >= chunks)
        return;
    unsigned at = start[chunk] * 32u;
    for (int k = 0; k < CODED; k++) {
        int now = root;
        while (now >= 0) {
            now = node[now].child[bits[at / 32] >> at % 32 & 1];
            at++;
        }
        out[chunk * CODED + k] = (unsigned char) (-1 - now);
    }
}

// An entry of the table: symbol * 16 + length, by the next LONGEST bits.
__global__ void huffman_table_kernel(const unsigned *bits, const int *start,
                                     const unsigned short *table, unsigned char *out, int chunks)
{
    int chunk = blockIdx.x * blockDim.x + threadIdx.x;
    if (chunk >= chunks)
        return;
    const unsigned *word = bits + start[chunk];
    unsigned long long buffer = 0;
    int filled = 0;
    for (int k = 0; k < CODED; k++) {
        if (filled < LONGEST) {
            buffer |= (unsigned long long) *word++ << filled;
            filled += 32;
        }
        unsigned entry = table[buffer & ((1 << LONGEST) - 1)];
        buffer >>= entry % 16;
        filled -= (int) (entry % 16);
        out[chunk * CODED + k] = (unsigned char) (entry / 16);
    }
}

static std::vector<unsigned short> huffman_table_of(const HuffmanCode &huffman)
{
    std::vector<unsigned short> table(1 << LONGEST);
    for (int s = 0; s < SYMBOLS; s++)
        for (unsigned rest = 0; rest < 1u << (LONGEST - huffman.length[s]); rest++)
            table[huffman.code[s] | rest << huffman.length[s]] =
                (unsigned short) (s * 16 + huffman.length[s]);
    return table;
}

static void huffman(Run &run, bool by_table)
{
    const int chunks = 11000;
    const HuffmanCode code = huffman_code();
    std::vector<unsigned char> symbol(chunks * CODED);
    std::vector<unsigned> bits;
    std::vector<int> start;
    for (size_t i = 0, used = 0; i < symbol.size(); i++) {
        const uint32_t r = mix((uint32_t) i + 363); // small symbols are frequent
        symbol[i] = (unsigned char) (r % 40 * (r >> 8 & 255) / 256 * (r >> 16 & 255) / 256);
        if (i % CODED == 0) {
            start.push_back((int) bits.size());
            used = 0;
        }
        for (int k = 0; k < code.length[symbol[i]]; k++, used++) {
            if (used % 32 == 0)
                bits.push_back(0);
            bits.back() |= (code.code[symbol[i]] >> k & 1) << used % 32;
        }
    }
    bits.push_back(0); // the table's decoder may read one word further
    unsigned *db = run.upload(bits);
    int *ds = run.upload(start), root = (int) code.nodes.size() - 1;
    HuffmanNode *dn = run.upload(code.nodes);
    unsigned short *table = run.upload(huffman_table_of(code));
    unsigned char *out = run.zeros<unsigned char>(symbol.size());
    run.measure([=] {
        if (by_table)
            huffman_table_kernel<<<blocks_for(chunks, 64), 64>>>(db, ds, table, out, chunks);
        else
            huffman_bits_kernel<<<blocks_for(chunks, 64), 64>>>(db, ds, dn, root, out, chunks);
    });
    run.expect_all(
        run.output(out, symbol.size()), [&](size_t i) { return symbol[i]; }, 0);
}

static void huffman_bits(Run &run)
{
    huffman(run, false);
}

static void huffman_table(Run &run)
{
    huffman(run, true);
}

// ---- Lengths of matches between two places of a text: by bytes, or by words ----

enum { MATCH_MOST = 64 };

__global__ void match_bytes_kernel(const unsigned char *text, const int *a, const int *b,
                                   int *length, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, k = 0;
    if (i >= n)
        return;
    while (k < MATCH_MOST && text[a[i] + k] == text[b[i] + k])
        k++;
    length[i] = k;
}

// Four bytes at any address, from two aligned words.
__device__ inline unsigned four_bytes(const unsigned *words, int at)
{
    return __funnelshift_r(words[at / 4], words[at / 4 + 1], at % 4 * 8);
}

__global__ void match_words_kernel(const unsigned *text, const int *a, const int *b, int *length,
                                   int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, k = 0, left, right;
    if (i >= n)
        return;
    left = a[i];
    right = b[i];
    for (; k < MATCH_MOST; k += 4) {
        unsigned differ = four_bytes(text, left + k) ^ four_bytes(text, right + k);
        if (differ) {
            k += (__ffs((int) differ) - 1) / 8;
            break;
        }
    }
    length[i] = k;
}

// The text repeats after 4096 letters; one in thirty is replaced.
template <class Launch> static void matches(Run &run, Launch launch)
{
    const int n = 300000, size = 3 << 20;
    std::vector<unsigned char> text(size);
    std::vector<int> a = integers(n, 400 * 4096, 364), b(n);
    for (int i = 0; i < size; i++)
        text[i] = (unsigned char) ('a' + mix(mix(i) % 30 ? i % 4096 : i + 365) % 26);
    for (int i = 0; i < n; i++)
        b[i] = a[i] + 4096 * (1 + (int) (mix(i + 366) % 300));
    unsigned char *dt = run.upload(text);
    int *da = run.upload(a), *db = run.upload(b), *length = run.zeros<int>(n);
    run.measure([=] { launch(dt, da, db, length, n); });
    run.expect_all(
        run.output(length, n),
        [&](size_t i) {
            int k = 0;
            while (k < MATCH_MOST && text[a[i] + k] == text[b[i] + k])
                k++;
            return k;
        },
        0, 5);
}

static void match_bytes(Run &run)
{
    matches(run, [](unsigned char *text, int *a, int *b, int *length, int n) {
        match_bytes_kernel<<<blocks_for(n, 256), 256>>>(text, a, b, length, n);
    });
}

static void match_words(Run &run)
{
    matches(run, [](unsigned char *text, int *a, int *b, int *length, int n) {
        match_words_kernel<<<blocks_for(n, 256), 256>>>((unsigned *) text, a, b, length, n);
    });
}

// ---- Depths of a tree's nodes: each walks to the root, or pointers double in ten rounds ----

__global__ void depth_walk_kernel(const int *parent, int *depth, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, steps = 0;
    if (i >= n)
        return;
    for (int at = i; at; at = parent[at])
        steps++;
    depth[i] = steps;
}

// x: an ancestor (the root's is itself); y: the number of steps to it.
__global__ void depth_jump_kernel(const int2 *in, int2 *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int2 here = in[i], there = in[here.x];
    out[i] = make_int2(there.x, here.y + there.y);
}

// A parent lies up to 64 places in front: depths reach about 600, below 2^10.
static std::vector<int> tree_parents(int n)
{
    std::vector<int> parent(n);
    for (int i = 1; i < n; i++)
        parent[i] = std::max(0, i - 1 - (int) (mix(i + 367) % 64));
    return parent;
}

static std::vector<int> depths_on_host(const std::vector<int> &parent)
{
    std::vector<int> depth(parent.size());
    for (size_t i = 1; i < parent.size(); i++)
        depth[i] = depth[parent[i]] + 1;
    return depth;
}

enum { TREE_NODES = 20000 };

static void depth_walk(Run &run)
{
    const int n = TREE_NODES;
    const std::vector<int> parent = tree_parents(n), wanted = depths_on_host(parent);
    int *dp = run.upload(parent), *depth = run.zeros<int>(n);
    run.measure([=] { depth_walk_kernel<<<blocks_for(n, 128), 128>>>(dp, depth, n); });
    run.expect_all(
        run.output(depth, n), [&](size_t i) { return wanted[i]; }, 0);
}

static void depth_jump(Run &run)
{
    const int n = TREE_NODES;
    const std::vector<int> parent = tree_parents(n), wanted = depths_on_host(parent);
    std::vector<int2> start(n);
    for (int i = 0; i < n; i++)
        start[i] = make_int2(parent[i], i > 0);
    int2 *from = run.upload(start), *a = run.zeros<int2>(n), *b = run.zeros<int2>(n);
    run.measure([=] {
        for (int round = 0; round < 10; round++)
            depth_jump_kernel<<<blocks_for(n, 128), 128>>>(round == 0  ? from
                                                           : round % 2 ? a
                                                                       : b,
                                                           round % 2 ? b : a, n);
    });
    const std::vector<int2> got = run.output(b, n);
    for (int i = 0; i < n; i++)
        run.expect(got[i].y, wanted[i], 0);
}

#endif
