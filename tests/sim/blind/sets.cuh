// sets.cuh - sets and graphs: Pareto fronts, shortest paths, overlaps of sets, colours, item sets.
#ifndef BLIND_SETS_CUH
#define BLIND_SETS_CUH

#include "blind.cuh"

// ---- Which of 3000 points does no other dominate: all compared, or until one is found ----

__host__ __device__ inline bool dominates(float4 a, float4 b)
{
    return a.x <= b.x && a.y <= b.y && a.z <= b.z && (a.x < b.x || a.y < b.y || a.z < b.z);
}

__global__ void pareto_count_kernel(const float4 *points, int n, char *front)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, count = 0;
    if (i >= n)
        return;
    const float4 p = points[i];
    for (int k = 0; k < n; k++)
        count += dominates(points[k], p);
    front[i] = count == 0;
}

__global__ void pareto_early_kernel(const float4 *points, int n, char *front)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const float4 p = points[i];
    for (int k = 0; k < n; k++)
        if (dominates(points[k], p)) {
            front[i] = 0;
            return;
        }
    front[i] = 1;
}

static void pareto(Run &run, void (*kernel)(const float4 *, int, char *))
{
    const int n = 3000;
    const std::vector<float> drawn = floats(3 * n, 2071, 0, 1);
    std::vector<float4> points(n);
    for (int i = 0; i < n; i++)
        points[i] = make_float4(drawn[3 * i], drawn[3 * i + 1], drawn[3 * i + 2], 0);
    float4 *dp = run.upload(points);
    char *to = run.zeros<char>(n);
    run.measure([=] { kernel<<<blocks_for(n, 64), 64>>>(dp, n, to); });
    run.expect_all(
        run.output(to, n),
        [&](size_t i) {
            for (const float4 &p : points)
                if (dominates(p, points[i]))
                    return 0;
            return 1;
        },
        0, 3);
}

static void pareto_count(Run &run)
{
    pareto(run, pareto_count_kernel);
}

static void pareto_early(Run &run)
{
    pareto(run, pareto_early_kernel);
}

// ---- A round of Bellman and Ford: an atomic minimum per edge, or a loop per node ----

enum { FORD_NODES = 90000, FORD_EDGES = 1400000, FORD_FAR = 1 << 29 };

struct Roads {
    const int *first, *from, *to, *length; // sorted by `to`
    const int *before;
};

__global__ void relax_edges_kernel(Roads roads, int *after)
{
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= FORD_EDGES)
        return;
    int distance = roads.before[roads.from[e]];
    if (distance < FORD_FAR)
        atomicMin(&after[roads.to[e]], distance + roads.length[e]);
}

__global__ void relax_nodes_kernel(Roads roads, int *after)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= FORD_NODES)
        return;
    int least = roads.before[v];
    for (int e = roads.first[v]; e < roads.first[v + 1]; e++)
        least = min(least, roads.before[roads.from[e]] + roads.length[e]);
    after[v] = least;
}

static void relax(Run &run, void (*kernel)(Roads, int *), int threads)
{
    const std::vector<int> from = integers(FORD_EDGES, FORD_NODES, 2072);
    const std::vector<int> length = integers(FORD_EDGES, 1000, 2073);
    std::vector<int> to = integers(FORD_EDGES, FORD_NODES, 2074), first(FORD_NODES + 1);
    std::vector<int> before = integers(FORD_NODES, 30000, 2075);
    std::sort(to.begin(), to.end());
    for (int target : to)
        first[target + 1]++;
    for (int v = 0; v < FORD_NODES; v++)
        first[v + 1] += first[v];
    for (int &distance : before)
        distance = distance % 5 < 2 ? FORD_FAR : distance;
    std::vector<int> wanted = before;
    for (int e = 0; e < FORD_EDGES; e++)
        wanted[to[e]] = std::min(wanted[to[e]], before[from[e]] + length[e]);
    int *db = run.upload(before), *after = run.zeros<int>(FORD_NODES);
    const Roads roads = { run.upload(first), run.upload(from), run.upload(to), run.upload(length),
                          db };
    run.measure(
        [=] { kernel<<<blocks_for(threads, 256), 256>>>(roads, after); },
        [=] { CHECK(cudaMemcpy(after, db, FORD_NODES * sizeof(int), cudaMemcpyDeviceToDevice)); });
    run.expect_all(
        run.output(after, FORD_NODES), [&](size_t v) { return wanted[v]; }, 0);
}

static void relax_edges(Run &run)
{
    relax(run, relax_edges_kernel, FORD_EDGES);
}

static void relax_nodes(Run &run)
{
    relax(run, relax_nodes_kernel, FORD_NODES);
}

// ---- The overlap of pairs of sets of 0..2047: sorted lists merged, or masks ----

enum { SET_COUNT = 1500, SET_UNIVERSE = 2048, SET_WORDS = SET_UNIVERSE / 32 };

struct Sets {
    const int *first, *member;
    const uint32_t *mask;
};

__global__ void jaccard_lists_kernel(Sets sets, const int2 *pair, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, both = 0;
    if (i >= n)
        return;
    int a = sets.first[pair[i].x], a_end = sets.first[pair[i].x + 1];
    int b = sets.first[pair[i].y], b_end = sets.first[pair[i].y + 1];
    const int total = a_end - a + b_end - b;
    while (a < a_end && b < b_end) {
        int x = sets.member[a], y = sets.member[b];
        both += x == y;
        a += x <= y;
        b += y <= x;
    }
    out[i] = (float) both / (total - both);
}

__global__ void jaccard_masks_kernel(Sets sets, const int2 *pair, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, both = 0, either = 0;
    if (i >= n)
        return;
    const uint32_t *a = sets.mask + pair[i].x * SET_WORDS, *b = sets.mask + pair[i].y * SET_WORDS;
    for (int k = 0; k < SET_WORDS; k++) {
        both += __popc(a[k] & b[k]);
        either += __popc(a[k] | b[k]);
    }
    out[i] = (float) both / either;
}

static void jaccard(Run &run, void (*kernel)(Sets, const int2 *, float *, int))
{
    const int n = 36000;
    std::vector<int> first(SET_COUNT + 1), member;
    std::vector<uint32_t> mask(SET_COUNT * SET_WORDS);
    for (int s = 0; s < SET_COUNT; s++) {
        for (int k = 0; k < SET_UNIVERSE; k++)
            if (mix(s * SET_UNIVERSE + k + 2076) % (12 + s % 20) == 0) {
                member.push_back(k);
                mask[s * SET_WORDS + k / 32] |= 1u << k % 32;
            }
        first[s + 1] = (int) member.size();
    }
    const std::vector<int> drawn = integers(2 * n, SET_COUNT, 2077);
    std::vector<int2> pair(n);
    for (int i = 0; i < n; i++)
        pair[i] = make_int2(drawn[2 * i], drawn[2 * i + 1]);
    const Sets sets = { run.upload(first), run.upload(member), run.upload(mask) };
    int2 *dp = run.upload(pair);
    float *to = run.zeros<float>(n);
    run.measure([=] { kernel<<<blocks_for(n, 128), 128>>>(sets, dp, to, n); });
    run.expect_all(
        run.output(to, n),
        [&](size_t i) {
            int both = 0, either = 0;
            for (int k = 0; k < SET_WORDS; k++) {
                const uint32_t a = mask[pair[i].x * SET_WORDS + k];
                const uint32_t b = mask[pair[i].y * SET_WORDS + k];
                both += __builtin_popcount(a & b);
                either += __builtin_popcount(a | b);
            }
            return (float) both / either;
        },
        1e-6, 11);
}

static void jaccard_lists(Run &run)
{
    jaccard(run, jaccard_lists_kernel);
}

static void jaccard_masks(Run &run)
{
    jaccard(run, jaccard_masks_kernel);
}

// ---- A round of colouring: a node whose priority is the largest around it takes the least colour
// ----

enum { COLOUR_DEGREE = 10 };

__host__ __device__ inline int chosen_colour(const int *neighbour, const int *priority,
                                             const int *colour, int v)
{
    uint32_t used = 0;
    int free = 0;
    if (colour[v] >= 0)
        return colour[v];
    for (int k = 0; k < COLOUR_DEGREE; k++) {
        int u = neighbour[v * COLOUR_DEGREE + k];
        if (colour[u] >= 0)
            used |= 1u << colour[u];
        else if (priority[u] > priority[v])
            return -1;
    }
    for (; used >> free & 1; free++)
        ;
    return free;
}

__global__ void colour_kernel(const int *neighbour, const int *priority, const int *colour,
                              int *out, int n)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < n)
        out[v] = chosen_colour(neighbour, priority, colour, v);
}

static void colour_round(Run &run)
{
    const int n = 250000;
    const std::vector<int> neighbour = integers(n * COLOUR_DEGREE, n, 2078);
    const std::vector<int> priority = integers(n, 1 << 30, 2079);
    std::vector<int> colour = integers(n, 14, 2080);
    for (int &c : colour)
        c = c < 8 ? c : -1;
    int *dn = run.upload(neighbour), *dp = run.upload(priority), *dc = run.upload(colour);
    int *to = run.zeros<int>(n);
    run.measure([=] { colour_kernel<<<blocks_for(n, 256), 256>>>(dn, dp, dc, to, n); });
    run.expect_all(
        run.output(to, n),
        [&](size_t v) {
            return chosen_colour(neighbour.data(), priority.data(), colour.data(), (int) v);
        },
        0, 17);
}

// ---- In how many baskets is each of 80 item sets? Masks of 128 bits, counted by votes ----

enum { ITEM_SETS = 80 };

__host__ __device__ inline bool holds(uint4 basket, uint4 wanted)
{
    return (basket.x & wanted.x) == wanted.x && (basket.y & wanted.y) == wanted.y &&
           (basket.z & wanted.z) == wanted.z && (basket.w & wanted.w) == wanted.w;
}

__global__ void itemset_kernel(const uint4 *basket, const uint4 *wanted, int *support, int n)
{
    __shared__ int count[ITEM_SETS];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const uint4 mine = i < n ? basket[i] : make_uint4(0, 0, 0, 0);
    if (threadIdx.x < ITEM_SETS)
        count[threadIdx.x] = 0;
    __syncthreads(); // the counts are zero
    for (int k = 0; k < ITEM_SETS; k++) {
        unsigned votes = __ballot_sync(~0u, holds(mine, wanted[k]));
        if (threadIdx.x % 32 == 0)
            atomicAdd(&count[k], __popc(votes));
    }
    __syncthreads(); // the block's counts are complete
    if (threadIdx.x < ITEM_SETS)
        atomicAdd(&support[threadIdx.x], count[threadIdx.x]);
}

static void itemset_support(Run &run)
{
    const int n = 90000;
    const std::vector<uint32_t> bits = words(4 * n, 2081);
    std::vector<uint4> basket(n), wanted(ITEM_SETS);
    for (int i = 0; i < n; i++)
        basket[i] = make_uint4(bits[4 * i], bits[4 * i + 1], bits[4 * i + 2], bits[4 * i + 3]);
    for (int k = 0; k < ITEM_SETS; k++)
        wanted[k] = make_uint4(1u << k % 32, k % 2 ? 1u << k / 3 : 0, k % 5 ? 0 : 6, 0);
    uint4 *db = run.upload(basket), *dw = run.upload(wanted);
    int *support = run.zeros<int>(ITEM_SETS);
    run.measure([=] { itemset_kernel<<<blocks_for(n, 128), 128>>>(db, dw, support, n); },
                [=] { CHECK(cudaMemset(support, 0, ITEM_SETS * sizeof(int))); });
    run.expect_all(
        run.output(support, ITEM_SETS),
        [&](size_t k) {
            int count = 0;
            for (const uint4 &b : basket)
                count += holds(b, wanted[k]);
            return count;
        },
        0);
}

#endif
