// ranges.cuh - questions to arrays and trees: sorted keys, ancestors, degrees.
#ifndef BLIND_RANGES_CUH
#define BLIND_RANGES_CUH

#include "blind.cuh"

// ---- Sorted keys searched by halving, or in the order of a heap (Eytzinger) ----

enum { EYTZ_LEVELS = 20, EYTZ_KEYS = (1 << EYTZ_LEVELS) - 1, EYTZ_ASKED = 1 << 19 };

__global__ void order_sorted_kernel(const int *keys, const int *asked, int *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, key = asked[i];
    int low = 0, high = EYTZ_KEYS;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (keys[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    out[i] = low;
}

__global__ void order_heap_kernel(const int *heap, const int *asked, int *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, key = asked[i];
    int node = 1;
#pragma unroll
    for (int level = 0; level < EYTZ_LEVELS; level++)
        node = 2 * node + (heap[node] < key);
    out[i] = node - (1 << EYTZ_LEVELS);
}

static void order_fill(std::vector<int> &heap, int node, int *rank)
{
    if (node > EYTZ_KEYS)
        return;
    order_fill(heap, 2 * node, rank);
    heap[node] = 3 * (*rank)++;
    order_fill(heap, 2 * node + 1, rank);
}

static void order_run(Run &run, bool heap, void (*kernel)(const int *, const int *, int *))
{
    std::vector<int> keys(EYTZ_KEYS + 1);
    int rank = 0;
    if (heap)
        order_fill(keys, 1, &rank);
    else
        for (int i = 0; i <= EYTZ_KEYS; i++)
            keys[i] = 3 * i;
    const std::vector<int> asked = integers(EYTZ_ASKED, 3 * EYTZ_KEYS - 2, 6501);
    const int *dk = run.upload(keys), *da = run.upload(asked);
    int *to = run.zeros<int>(EYTZ_ASKED);
    run.measure([=] { kernel<<<EYTZ_ASKED / 256, 256>>>(dk, da, to); });
    run.expect_all(
        run.output(to, EYTZ_ASKED), [&](size_t i) { return (asked[i] + 2) / 3; }, 0, 101);
}

static void order_sorted(Run &run)
{
    order_run(run, false, order_sorted_kernel);
}

static void order_heap(Run &run)
{
    order_run(run, true, order_heap_kernel);
}

// ---- The nearest common ancestor in a random tree: step by step, or by leaps of powers of two
// ----

enum { KIN_NODES = 1 << 16, KIN_LEAPS = 8, KIN_PAIRS = 1 << 15 };

__global__ void kin_steps_kernel(const int *up, const int *depth, const int2 *pairs, int *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    int a = pairs[i].x, b = pairs[i].y;
    while (a != b) {
        if (depth[a] < depth[b])
            b = up[b];
        else
            a = up[a];
    }
    out[i] = a;
}

__global__ void kin_leaps_kernel(const int *up, const int *depth, const int2 *pairs, int *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    int a = pairs[i].x, b = pairs[i].y;
    if (depth[a] < depth[b]) {
        const int c = a;
        a = b;
        b = c;
    }
    for (int k = 0, by = depth[a] - depth[b]; by; k++, by >>= 1)
        if (by & 1)
            a = up[k * KIN_NODES + a];
    for (int k = KIN_LEAPS - 1; k >= 0 && a != b; k--) {
        const int ua = up[k * KIN_NODES + a], ub = up[k * KIN_NODES + b];
        if (ua != ub) {
            a = ua;
            b = ub;
        }
    }
    out[i] = a == b ? a : up[a];
}

static void kin(Run &run, void (*kernel)(const int *, const int *, const int2 *, int *))
{
    const std::vector<uint32_t> w = words(KIN_NODES, 6502);
    std::vector<int> up(KIN_LEAPS * KIN_NODES), depth(KIN_NODES);
    for (int n = 1; n < KIN_NODES; n++) {
        up[n] = n - 1 - (int) (w[n] % (n < 800 ? n : 800));
        depth[n] = depth[up[n]] + 1;
    }
    for (int k = 1; k < KIN_LEAPS; k++)
        for (int n = 0; n < KIN_NODES; n++)
            up[k * KIN_NODES + n] = up[(k - 1) * KIN_NODES + up[(k - 1) * KIN_NODES + n]];
    const std::vector<int> pairs = integers(2 * KIN_PAIRS, KIN_NODES, 6503);
    const int *du = run.upload(up), *dd = run.upload(depth);
    const int2 *dp = (const int2 *) run.upload(pairs);
    int *to = run.zeros<int>(KIN_PAIRS);
    run.measure([=] { kernel<<<KIN_PAIRS / 128, 128>>>(du, dd, dp, to); });
    run.expect_all(
        run.output(to, KIN_PAIRS),
        [&](size_t i) {
            int a = pairs[2 * i], b = pairs[2 * i + 1];
            while (a != b)
                a > b ? a = up[a] : b = up[b];
            return a;
        },
        0, 53);
}

static void kin_steps(Run &run)
{
    kin(run, kin_steps_kernel);
}

static void kin_leaps(Run &run)
{
    kin(run, kin_leaps_kernel);
}

// ---- Degrees of nodes from unsorted edges: one atomic per end, or counts in shared memory ----

enum { DEGREE_EDGES = 1 << 20, DEGREE_NODES = 4096 };

__global__ void degree_global_kernel(const int2 *edges, int *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int e = i; e < DEGREE_EDGES; e += gridDim.x * blockDim.x) {
        atomicAdd(&out[edges[e].x], 1);
        atomicAdd(&out[edges[e].y], 1);
    }
}

__global__ void degree_shared_kernel(const int2 *edges, int *out)
{
    __shared__ int count[DEGREE_NODES];
    for (int k = threadIdx.x; k < DEGREE_NODES; k += blockDim.x)
        count[k] = 0;
    __syncthreads();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int e = i; e < DEGREE_EDGES; e += gridDim.x * blockDim.x) {
        atomicAdd(&count[edges[e].x], 1);
        atomicAdd(&count[edges[e].y], 1);
    }
    __syncthreads();
    for (int k = threadIdx.x; k < DEGREE_NODES; k += blockDim.x)
        atomicAdd(&out[k], count[k]);
}

static void degree(Run &run, void (*kernel)(const int2 *, int *))
{
    const std::vector<int> edges = integers(2 * DEGREE_EDGES, DEGREE_NODES, 6507);
    const int2 *from = (const int2 *) run.upload(edges);
    int *to = run.zeros<int>(DEGREE_NODES);
    run.measure([=] { kernel<<<132, 512>>>(from, to); },
                [=] { CHECK(cudaMemset(to, 0, DEGREE_NODES * sizeof(int))); });
    std::vector<int> wanted(DEGREE_NODES);
    for (int n : edges)
        wanted[n]++;
    run.expect_all(
        run.output(to, DEGREE_NODES), [&](size_t i) { return wanted[i]; }, 0);
}

static void degree_global(Run &run)
{
    degree(run, degree_global_kernel);
}

static void degree_shared(Run &run)
{
    degree(run, degree_shared_kernel);
}

#endif
