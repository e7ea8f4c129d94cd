// couplings.cuh - iterations on irregular graphs: sweeps, colours, chains, labels of neighbours.
#ifndef BLIND_COUPLINGS_CUH
#define BLIND_COUPLINGS_CUH

#include "blind.cuh"

struct Coupling {
    std::vector<int> starts, neighbours;
};

// Neighbours of nodes first to first + count - 1, within these nodes. `degree` is called per node.
template <class Degree>
static void couple(Coupling &g, int first, int count, uint32_t seed, Degree degree)
{
    for (int i = 0; i < count; i++) {
        const int edges = degree(i);
        g.starts.push_back((int) g.neighbours.size());
        for (int k = 0; k < edges; k++)
            g.neighbours.push_back(first + (int) (mix(seed + 613 * i + k) % count));
    }
}

// ---- Sweeps over small graphs, one per block: values in shared memory, or in global memory ----

enum { CLUSTERS = 24, CLUSTER_NODES = 2000, CLUSTER_SWEEPS = 34 };

__device__ inline float cluster_value(const int *starts, const int *neighbours, int node, int first,
                                      float source, const float *values)
{
    const int begin = starts[node], end = starts[node + 1];
    float sum = 0;
    for (int k = begin; k < end; k++)
        sum += values[neighbours[k] - first];
    return source + 0.8f * sum / (end - begin);
}

__global__ void cluster_shared_kernel(const int *starts, const int *neighbours,
                                      const float *sources, float *a, float *)
{
    __shared__ float values[2][CLUSTER_NODES];
    const int first = blockIdx.x * CLUSTER_NODES;
    for (int i = threadIdx.x; i < CLUSTER_NODES; i += blockDim.x)
        values[0][i] = a[first + i];
    __syncthreads();
    for (int sweep = 0; sweep < CLUSTER_SWEEPS; sweep++) {
        for (int i = threadIdx.x; i < CLUSTER_NODES; i += blockDim.x)
            values[1 - sweep % 2][i] = cluster_value(starts, neighbours, first + i, first,
                                                     sources[first + i], values[sweep % 2]);
        __syncthreads();
    }
    for (int i = threadIdx.x; i < CLUSTER_NODES; i += blockDim.x)
        a[first + i] = values[CLUSTER_SWEEPS % 2][i];
}

// The sweeps alternate between two arrays; their number is even.
__global__ void cluster_global_kernel(const int *starts, const int *neighbours,
                                      const float *sources, float *a, float *b)
{
    const int first = blockIdx.x * CLUSTER_NODES;
    float *from = a + first, *to = b + first;
    for (int sweep = 0; sweep < CLUSTER_SWEEPS; sweep++) {
        for (int i = threadIdx.x; i < CLUSTER_NODES; i += blockDim.x)
            to[i] = cluster_value(starts, neighbours, first + i, first, sources[first + i], from);
        __syncthreads();
        float *const swap = from;
        from = to;
        to = swap;
    }
}

static std::vector<float> cluster_host(const Coupling &g, const std::vector<float> &sources)
{
    std::vector<float> from(sources.size(), 1.0f), to(sources.size());
    for (int sweep = 0; sweep < CLUSTER_SWEEPS; sweep++) {
        for (size_t i = 0; i < from.size(); i++) {
            float sum = 0;
            for (int k = g.starts[i]; k < g.starts[i + 1]; k++)
                sum += from[g.neighbours[k]];
            to[i] = sources[i] + 0.8f * sum / (g.starts[i + 1] - g.starts[i]);
        }
        from.swap(to);
    }
    return from;
}

static void cluster(Run &run,
                    void (*kernel)(const int *, const int *, const float *, float *, float *))
{
    Coupling g;
    for (int c = 0; c < CLUSTERS; c++)
        couple(g, c * CLUSTER_NODES, CLUSTER_NODES, 15130 + 77777 * c,
               [=](int i) { return 2 + (int) (mix(15131 + c * CLUSTER_NODES + i) % (4 + c / 3)); });
    g.starts.push_back((int) g.neighbours.size());
    const int nodes = CLUSTERS * CLUSTER_NODES;
    const std::vector<float> sources = floats(nodes, 15132), ones(nodes, 1.0f);
    const int *starts = run.upload(g.starts), *neighbours = run.upload(g.neighbours);
    const float *ds = run.upload(sources), *initial = run.upload(ones);
    float *a = run.zeros<float>(nodes), *b = run.zeros<float>(nodes);
    run.measure(
        [=] { kernel<<<CLUSTERS, 512>>>(starts, neighbours, ds, a, b); },
        [=] { CHECK(cudaMemcpy(a, initial, nodes * sizeof(float), cudaMemcpyDeviceToDevice)); });
    const std::vector<float> wanted = cluster_host(g, sources);
    run.expect_all(
        run.output(a, nodes), [&](size_t i) { return wanted[i]; }, 1e-3, 7);
}

static void cluster_shared(Run &run)
{
    cluster(run, cluster_shared_kernel);
}

static void cluster_global(Run &run)
{
    cluster(run, cluster_global_kernel);
}

// ---- A sweep in place, colour by colour: lists of each colour's nodes, or all nodes look ----

enum { TINT_NODES = 270000, TINTS = 6, TINT_REACH = 3000 };

struct TintGraph {
    const int *starts, *neighbours, *tints, *lists;
    const float *sources;
};

__device__ inline void tint_update(const TintGraph &g, int i, float *values)
{
    const int begin = g.starts[i], end = g.starts[i + 1];
    float sum = 0;
    for (int k = begin; k < end; k++)
        sum += values[g.neighbours[k]];
    values[i] = 0.3f * values[i] + 0.7f * (g.sources[i] + sum) / (end - begin + 1);
}

__global__ void tint_lists_kernel(TintGraph g, int first, int count, float *values)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        tint_update(g, g.lists[first + i], values);
}

__global__ void tint_flags_kernel(TintGraph g, int tint, float *values)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < TINT_NODES && g.tints[i] == tint)
        tint_update(g, i, values);
}

// No node has a neighbour of its own colour. Nodes at the end have more neighbours.
static Coupling tint_graph(const std::vector<int> &tints)
{
    Coupling g;
    for (int i = 0; i < TINT_NODES; i++) {
        const int edges = 3 + (int) (mix(15133 + i) % (3 + i / 30000));
        g.starts.push_back((int) g.neighbours.size());
        for (int k = 0; k < edges; k++) {
            int n = i + (int) (mix(15134 + 613 * i + k) % TINT_REACH) - TINT_REACH / 2;
            n = (n + TINT_NODES) % TINT_NODES;
            while (tints[n] == tints[i])
                n = (n + 1) % TINT_NODES;
            g.neighbours.push_back(n);
        }
    }
    g.starts.push_back((int) g.neighbours.size());
    return g;
}

static std::vector<float> tint_host(const Coupling &g, const std::vector<int> &lists,
                                    const std::vector<float> &sources)
{
    std::vector<float> values(TINT_NODES, 0.5f);
    for (int i : lists) {
        const int begin = g.starts[i], end = g.starts[i + 1];
        float sum = 0;
        for (int k = begin; k < end; k++)
            sum += values[g.neighbours[k]];
        values[i] = 0.3f * values[i] + 0.7f * (sources[i] + sum) / (end - begin + 1);
    }
    return values;
}

static void tint(Run &run, bool flags)
{
    const std::vector<int> tints = integers(TINT_NODES, TINTS, 15135);
    const Coupling g = tint_graph(tints);
    std::vector<int> lists, firsts;
    for (int t = 0; t < TINTS; t++) {
        firsts.push_back((int) lists.size());
        for (int i = 0; i < TINT_NODES; i++)
            if (tints[i] == t)
                lists.push_back(i);
    }
    firsts.push_back(TINT_NODES);
    const std::vector<float> sources = floats(TINT_NODES, 15136), halves(TINT_NODES, 0.5f);
    const TintGraph d = { run.upload(g.starts), run.upload(g.neighbours), run.upload(tints),
                          run.upload(lists), run.upload(sources) };
    const float *initial = run.upload(halves);
    float *values = run.zeros<float>(TINT_NODES);
    const size_t bytes = TINT_NODES * sizeof(float);
    run.measure(
        [&] {
            for (int t = 0; t < TINTS; t++) {
                const int count = firsts[t + 1] - firsts[t];
                if (flags)
                    tint_flags_kernel<<<blocks_for(TINT_NODES, 256), 256>>>(d, t, values);
                else
                    tint_lists_kernel<<<blocks_for(count, 256), 256>>>(d, firsts[t], count, values);
            }
        },
        [=] { CHECK(cudaMemcpy(values, initial, bytes, cudaMemcpyDeviceToDevice)); });
    const std::vector<float> wanted = tint_host(g, lists, sources);
    run.expect_all(
        run.output(values, TINT_NODES), [&](size_t i) { return wanted[i]; }, 1e-3, 13);
}

static void tint_lists(Run &run)
{
    tint(run, false);
}

static void tint_flags(Run &run)
{
    tint(run, true);
}

// ---- Sums along chains whose nodes are scattered: a walk per chain, or jumps that double ----

enum { FEEDERS = 256, FEEDER_NODES = 900, FEEDER_ALL = FEEDERS * FEEDER_NODES };

// Node f is the head of chain f. Each node's sum is that of the drops from the head to it.
__global__ void feeder_walk_kernel(const int *next, const float *drops, float *sums)
{
    const int f = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int i = f; i >= 0; i = next[i]) {
        sum += drops[i];
        sums[i] = sum;
    }
}

__global__ void feeder_jump_kernel(const int *from, const float *sums, int *to, float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= FEEDER_ALL)
        return;
    const int before = from[i];
    out[i] = before < 0 ? sums[i] : sums[i] + sums[before];
    to[i] = before < 0 ? -1 : from[before];
}

struct Feeders {
    std::vector<int> next, before;
};

// Chain f's nodes are places f, FEEDERS + f, ... of a shuffled order that keeps the heads.
static Feeders feeder_chains()
{
    const std::vector<uint32_t> random = words(FEEDER_ALL, 15137);
    std::vector<int> order(FEEDER_ALL);
    for (int i = 0; i < FEEDER_ALL; i++)
        order[i] = i;
    for (int i = FEEDER_ALL - 1; i > FEEDERS; i--)
        std::swap(order[i], order[FEEDERS + random[i] % (i - FEEDERS + 1)]);
    Feeders chains = { std::vector<int>(FEEDER_ALL, -1), std::vector<int>(FEEDER_ALL, -1) };
    for (int i = FEEDERS; i < FEEDER_ALL; i++) {
        chains.before[order[i]] = order[i - FEEDERS];
        chains.next[order[i - FEEDERS]] = order[i];
    }
    return chains;
}

static void feeder(Run &run, bool jumps)
{
    const Feeders chains = feeder_chains();
    const std::vector<float> drops = floats(FEEDER_ALL, 15138, 0, 0.01f);
    const int *next = run.upload(chains.next), *before = run.upload(chains.before);
    const float *dd = run.upload(drops);
    float *sums = run.zeros<float>(FEEDER_ALL), *other = run.zeros<float>(FEEDER_ALL);
    int *links = run.zeros<int>(FEEDER_ALL), *others = run.zeros<int>(FEEDER_ALL);
    run.measure([=] {
        if (!jumps) {
            feeder_walk_kernel<<<FEEDERS / 32, 32>>>(next, dd, sums);
            return;
        }
        const int blocks = blocks_for(FEEDER_ALL, 256);
        feeder_jump_kernel<<<blocks, 256>>>(before, dd, links, sums);
        for (int step = 2; step < FEEDER_NODES; step *= 4) {
            feeder_jump_kernel<<<blocks, 256>>>(links, sums, others, other);
            feeder_jump_kernel<<<blocks, 256>>>(others, other, links, sums);
        }
    });
    const std::vector<float> got = run.output(sums, FEEDER_ALL);
    for (int f = 0; f < FEEDERS; f += 5) {
        double sum = 0;
        for (int i = f; i >= 0; i = chains.next[i]) {
            sum += drops[i];
            run.expect(got[i], sum, 1e-3);
        }
    }
}

static void feeder_walk(Run &run)
{
    feeder(run, false);
}

static void feeder_jump(Run &run)
{
    feeder(run, true);
}

// ---- The most frequent label among neighbours: counters in an array, or packed into two words
// ----

enum { PEER_NODES = 900000, PEER_LABELS = 16 };

// Of equally frequent labels the lowest wins.
__global__ void peer_array_kernel(const int *starts, const int *neighbours,
                                  const unsigned char *labels, unsigned char *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= PEER_NODES)
        return;
    int counts[PEER_LABELS] = {}, best = 0;
    for (int k = starts[i]; k < starts[i + 1]; k++)
        counts[labels[neighbours[k]]]++;
    for (int l = 1; l < PEER_LABELS; l++)
        if (counts[l] > counts[best])
            best = l;
    out[i] = (unsigned char) best;
}

// 8 bits per counter: no node has more than 255 neighbours.
__global__ void peer_packed_kernel(const int *starts, const int *neighbours,
                                   const unsigned char *labels, unsigned char *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= PEER_NODES)
        return;
    unsigned long long low = 0, high = 0;
    for (int k = starts[i]; k < starts[i + 1]; k++) {
        const int label = labels[neighbours[k]];
        const unsigned long long one = 1ull << label % 8 * 8;
        low += label < 8 ? one : 0;
        high += label < 8 ? 0 : one;
    }
    int best = 0, most = -1;
    for (int l = 0; l < PEER_LABELS; l++) {
        const int count = (int) ((l < 8 ? low : high) >> l % 8 * 8 & 255);
        if (count > most) {
            most = count;
            best = l;
        }
    }
    out[i] = (unsigned char) best;
}

static int peer_label(const Coupling &g, const std::vector<unsigned char> &labels, size_t i)
{
    int counts[PEER_LABELS] = {};
    for (int k = g.starts[i]; k < g.starts[i + 1]; k++)
        counts[labels[g.neighbours[k]]]++;
    return (int) (std::max_element(counts, counts + PEER_LABELS) - counts);
}

// The nodes are sorted: those with most neighbours come first.
static void peer(Run &run,
                 void (*kernel)(const int *, const int *, const unsigned char *, unsigned char *))
{
    Coupling g;
    couple(g, 0, PEER_NODES, 15139, [](int i) { return 4 + 30000 / (i / 8 + 200); });
    g.starts.push_back((int) g.neighbours.size());
    const std::vector<int> v = integers(PEER_NODES, PEER_LABELS, 15140);
    const std::vector<unsigned char> labels(v.begin(), v.end());
    const int *starts = run.upload(g.starts), *neighbours = run.upload(g.neighbours);
    const unsigned char *from = run.upload(labels);
    unsigned char *to = run.zeros<unsigned char>(PEER_NODES);
    run.measure(
        [=] { kernel<<<blocks_for(PEER_NODES, 128), 128>>>(starts, neighbours, from, to); });
    run.expect_all(
        run.output(to, PEER_NODES), [&](size_t i) { return peer_label(g, labels, i); }, 0, 31);
}

static void peer_array(Run &run)
{
    peer(run, peer_array_kernel);
}

static void peer_packed(Run &run)
{
    peer(run, peer_packed_kernel);
}

#endif
