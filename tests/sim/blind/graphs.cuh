// graphs.cuh - graphs: PageRank, triangles, random walks, connected components.
#ifndef BLIND_GRAPHS_CUH
#define BLIND_GRAPHS_CUH

#include "blind.cuh"

#include <iterator>

// ---- Graphs as lists of neighbours, one list after another ----

struct Graph {
    int nodes;
    std::vector<int> begin, edge;

    explicit Graph(int nodes) : nodes(nodes), begin(nodes + 1)
    {
    }
};

// Node i has between 4 and 4 + `spread` random neighbours.
static Graph random_graph(int nodes, int spread, uint32_t seed)
{
    Graph g(nodes);
    for (int i = 0; i < nodes; i++)
        g.begin[i + 1] = g.begin[i] + 4 + mix(i + seed) % (spread + 1);
    g.edge = integers(g.begin[nodes], nodes, seed + 1);
    return g;
}

static Graph reversed(const Graph &g)
{
    Graph r(g.nodes);
    r.edge.resize(g.edge.size());
    for (int to : g.edge)
        r.begin[to + 1]++;
    for (int i = 0; i < g.nodes; i++)
        r.begin[i + 1] += r.begin[i];
    std::vector<int> next = r.begin;
    for (int i = 0; i < g.nodes; i++)
        for (int k = g.begin[i]; k < g.begin[i + 1]; k++)
            r.edge[next[g.edge[k]]++] = i;
    return r;
}

// ---- A step of PageRank: nodes pull shares from their sources, or push them to their targets ----

__global__ void rank_pull_kernel(const int *begin, const int *source, const float *share,
                                 float *rank, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float sum = 0;
    for (int k = begin[i]; k < begin[i + 1]; k++)
        sum += share[source[k]];
    rank[i] = 0.15f + 0.85f * sum;
}

__global__ void rank_push_kernel(const int *begin, const int *target, const float *share,
                                 float *sum, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float mine = share[i];
    for (int k = begin[i]; k < begin[i + 1]; k++)
        atomicAdd(&sum[target[k]], mine);
}

__global__ void rank_finish_kernel(float *rank, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        rank[i] = 0.15f + 0.85f * rank[i];
}

// Shares are small integers, so that sums are exact in any order.
static void pagerank(Run &run, bool push)
{
    const int n = 100000;
    const Graph out = random_graph(n, 20, 161), in = reversed(out);
    const std::vector<int> raw = integers(n, 64, 163);
    const std::vector<float> share(raw.begin(), raw.end());
    const int *begin = run.upload(push ? out.begin : in.begin),
              *edge = run.upload(push ? out.edge : in.edge), grid = blocks_for(n, 256);
    float *ds = run.upload(share), *rank = run.zeros<float>(n);
    run.measure(
        [=] {
            if (!push) {
                rank_pull_kernel<<<grid, 256>>>(begin, edge, ds, rank, n);
                return;
            }
            rank_push_kernel<<<grid, 256>>>(begin, edge, ds, rank, n);
            rank_finish_kernel<<<grid, 256>>>(rank, n);
        },
        [=] { CHECK(cudaMemset(rank, 0, n * sizeof(float))); });
    run.expect_all(
        run.output(rank, n),
        [&](size_t i) {
            double sum = 0;
            for (int k = in.begin[i]; k < in.begin[i + 1]; k++)
                sum += share[in.edge[k]];
            return 0.15 + 0.85 * sum;
        },
        1e-6, 7);
}

static void pagerank_pull(Run &run)
{
    pagerank(run, false);
}

static void pagerank_push(Run &run)
{
    pagerank(run, true);
}

// ---- Triangles: common neighbours of each edge, by merging or by searching sorted lists ----

__global__ void triangles_merge_kernel(const int *begin, const int *edge, const int *from,
                                       int *count, int edges)
{
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= edges)
        return;
    int a = begin[from[e]], a_end = begin[from[e] + 1], b = begin[edge[e]],
        b_end = begin[edge[e] + 1], common = 0;
    while (a < a_end && b < b_end) {
        int left = edge[a], right = edge[b];
        common += left == right;
        a += left <= right;
        b += right <= left;
    }
    count[e] = common;
}

__global__ void triangles_search_kernel(const int *begin, const int *edge, const int *from,
                                        int *count, int edges)
{
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= edges)
        return;
    int b = begin[edge[e]], b_end = begin[edge[e] + 1], common = 0;
    for (int a = begin[from[e]]; a < begin[from[e] + 1]; a++) {
        int key = edge[a], low = b, high = b_end;
        while (low < high) {
            int middle = (low + high) / 2;
            if (edge[middle] < key)
                low = middle + 1;
            else
                high = middle;
        }
        common += low < b_end && edge[low] == key;
    }
    count[e] = common;
}

// Each node has sorted neighbours above it, most of them close.
static Graph clustered_graph(int nodes)
{
    Graph g(nodes);
    for (int i = 0; i < nodes; i++) {
        std::vector<int> list;
        for (uint32_t k = 0; k < 6 + mix(i) % 16; k++)
            list.push_back(i + 1 + mix(i * 32 + k) % 60);
        std::sort(list.begin(), list.end());
        list.erase(std::unique(list.begin(), list.end()), list.end());
        for (int to : list)
            if (to < nodes)
                g.edge.push_back(to);
        g.begin[i + 1] = (int) g.edge.size();
    }
    return g;
}

template <class Launch> static void triangles(Run &run, Launch launch)
{
    const Graph g = clustered_graph(24000);
    const int edges = (int) g.edge.size();
    std::vector<int> from(edges);
    for (int i = 0; i < g.nodes; i++)
        for (int k = g.begin[i]; k < g.begin[i + 1]; k++)
            from[k] = i;
    int *begin = run.upload(g.begin), *edge = run.upload(g.edge), *df = run.upload(from),
        *count = run.zeros<int>(edges);
    run.measure([=] { launch(begin, edge, df, count, edges); });
    run.expect_all(
        run.output(count, edges),
        [&](size_t e) {
            std::vector<int> both;
            const int *all = g.edge.data(), *b = g.begin.data(), u = from[e], w = g.edge[e];
            std::set_intersection(all + b[u], all + b[u + 1], all + b[w], all + b[w + 1],
                                  std::back_inserter(both));
            return both.size();
        },
        0, 17);
}

static void triangles_merge(Run &run)
{
    triangles(run, [](int *begin, int *edge, int *from, int *count, int edges) {
        triangles_merge_kernel<<<blocks_for(edges, 128), 128>>>(begin, edge, from, count, edges);
    });
}

static void triangles_search(Run &run)
{
    triangles(run, [](int *begin, int *edge, int *from, int *count, int edges) {
        triangles_search_kernel<<<blocks_for(edges, 128), 128>>>(begin, edge, from, count, edges);
    });
}

// ---- Random walks ----

__host__ __device__ inline int walk_from(int i, const int *begin, const int *edge, int steps)
{
    unsigned state = i * 2654435761u + 12345;
    int at = i;
    for (int s = 0; s < steps; s++) {
        state = state * 1664525u + 1013904223u;
        int first = begin[at], degree = begin[at + 1] - first;
        at = edge[first + (state >> 8) % degree];
    }
    return at;
}

__global__ void walk_kernel(const int *begin, const int *edge, int *last, int n, int steps)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        last[i] = walk_from(i, begin, edge, steps);
}

static void random_walks(Run &run)
{
    const int walkers = 50000, steps = 40;
    const Graph g = random_graph(500000, 8, 167);
    int *begin = run.upload(g.begin), *edge = run.upload(g.edge), *last = run.zeros<int>(walkers);
    run.measure(
        [=] { walk_kernel<<<blocks_for(walkers, 256), 256>>>(begin, edge, last, walkers, steps); });
    run.expect_all(
        run.output(last, walkers),
        [&](size_t i) { return walk_from((int) i, g.begin.data(), g.edge.data(), steps); }, 0, 11);
}

// ---- Connected components: each edge hooks the larger root to the smaller one ----

__device__ inline int root_of(volatile int *parent, int i)
{
    while (parent[i] != i)
        i = parent[i];
    return i;
}

__global__ void hook_kernel(const int2 *edge, int *parent, int edges)
{
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= edges)
        return;
    int a = root_of(parent, edge[e].x), b = root_of(parent, edge[e].y);
    while (a != b) {
        int low = min(a, b), high = max(a, b);
        int before = atomicCAS(&parent[high], high, low);
        if (before == high)
            return;
        a = root_of(parent, before);
        b = root_of(parent, low);
    }
}

__global__ void jump_kernel(int *parent, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        parent[i] = root_of(parent, i);
}

static int find_root(const std::vector<int> &parent, int i)
{
    while (parent[i] != i)
        i = parent[i];
    return i;
}

static void components(Run &run)
{
    const int n = 200000, edges = 240000;
    const std::vector<int> from = integers(edges, n, 168), far = integers(edges, 64, 169);
    std::vector<int> self(n), parent(n);
    std::vector<int2> edge(edges);
    for (int i = 0; i < n; i++)
        self[i] = parent[i] = i;
    for (int e = 0; e < edges; e++) {
        edge[e] = make_int2(from[e], std::min(n - 1, from[e] + 1 + far[e]));
        const int a = find_root(parent, edge[e].x), b = find_root(parent, edge[e].y);
        parent[std::max(a, b)] = std::min(a, b);
    }
    int2 *de = run.upload(edge);
    int *start = run.upload(self), *dp = run.zeros<int>(n);
    run.measure(
        [=] {
            hook_kernel<<<blocks_for(edges, 256), 256>>>(de, dp, edges);
            jump_kernel<<<blocks_for(n, 256), 256>>>(dp, n);
        },
        [=] { CHECK(cudaMemcpy(dp, start, n * sizeof(int), cudaMemcpyDeviceToDevice)); });
    run.expect_all(
        run.output(dp, n), [&](size_t i) { return find_root(parent, (int) i); }, 0, 3);
}

#endif
