// trees.cuh - trees: binary search, nearest points.
#ifndef BLIND_TREES_CUH
#define BLIND_TREES_CUH

#include "blind.cuh"

// ---- Search trees: keys in level order, or nodes with pointers in random places ----

enum { LEVELS = 19, KEYS = (1 << LEVELS) - 1 };

struct TreeNode {
    int key, left, right, value;
};

__global__ void tree_levels_kernel(const int *tree, const int *query, int *found, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int key = query[i], at = 0;
    for (int level = 0; level < LEVELS && tree[at] != key; level++)
        at = 2 * at + (key < tree[at] ? 1 : 2);
    found[i] = at;
}

__global__ void tree_pointers_kernel(const TreeNode *tree, int root, const int *query, int *found,
                                     int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int key = query[i], at = root;
    while (tree[at].key != key)
        at = key < tree[at].key ? tree[at].left : tree[at].right;
    found[i] = tree[at].value;
}

// The level-order place of each key: the k-th key is 3 * k.
static void level_order(std::vector<int> &tree, int at, int first, int last)
{
    if (first >= last)
        return;
    const int middle = (first + last) / 2;
    tree[at] = 3 * middle;
    level_order(tree, 2 * at + 1, first, middle);
    level_order(tree, 2 * at + 2, middle + 1, last);
}

static int scattered(int at)
{
    return (int) ((at * 40503LL + 977) & KEYS);
}

template <class Search> static void tree_search(Run &run, Search search)
{
    const int n = 400000;
    std::vector<int> tree(KEYS + 1, -1), query = integers(n, KEYS, 164);
    std::vector<TreeNode> node(KEYS + 1);
    level_order(tree, 0, 0, KEYS);
    for (int &key : query)
        key *= 3;
    for (int at = 0; at < KEYS; at++)
        node[scattered(at)] = { tree[at], scattered(2 * at + 1), scattered(2 * at + 2), at };
    int *dt = run.upload(tree), *dq = run.upload(query), *found = run.zeros<int>(n);
    TreeNode *dn = run.upload(node);
    run.measure([=] { search(dt, dn, dq, found, n); });
    const std::vector<int> got = run.output(found, n);
    for (int i = 0; i < n; i++)
        run.expect(tree[got[i]], query[i], 0);
}

static void tree_levels(Run &run)
{
    tree_search(run, [](int *tree, TreeNode *, int *query, int *found, int n) {
        tree_levels_kernel<<<blocks_for(n, 256), 256>>>(tree, query, found, n);
    });
}

static void tree_pointers(Run &run)
{
    tree_search(run, [](int *, TreeNode *node, int *query, int *found, int n) {
        tree_pointers_kernel<<<blocks_for(n, 256), 256>>>(node, scattered(0), query, found, n);
    });
}

// ---- Nearest points by a k-d tree in level order; the stack is a local or a shared array ----

enum { POINTS = (1 << 14) - 1, DEPTH = 32, KD_BLOCK = 64 };

// The stack holds nodes to visit and the squares of the distances of their planes.
template <class Stack>
__device__ inline float nearest(const float2 *point, float2 q, Stack at_depth)
{
    float best = 1e20f;
    int depth = 0;
    *at_depth(depth++) = make_int2(0, 0);
    while (depth > 0) {
        int2 top = *at_depth(--depth);
        int node = top.x;
        if (__int_as_float(top.y) >= best)
            continue;
        while (node < POINTS) {
            float2 p = point[node];
            float dx = q.x - p.x, dy = q.y - p.y;
            best = fminf(best, dx * dx + dy * dy);
            float side = (31 - __clz(node + 1)) % 2 ? dy : dx;
            int near = 2 * node + (side < 0 ? 1 : 2), far = 2 * node + (side < 0 ? 2 : 1);
            if (far < POINTS && side * side < best)
                *at_depth(depth++) = make_int2(far, __float_as_int(side * side));
            node = near;
        }
    }
    return best;
}

__global__ void kd_local_kernel(const float2 *point, const float2 *query, float *found, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int2 stack[DEPTH];
    if (i < n)
        found[i] = nearest(point, query[i], [&](int depth) { return &stack[depth]; });
}

__global__ void kd_shared_kernel(const float2 *point, const float2 *query, float *found, int n)
{
    __shared__ int2 stack[DEPTH][KD_BLOCK];
    int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
    if (i < n)
        found[i] = nearest(point, query[i], [&](int depth) { return &stack[depth][t]; });
}

static void build_kd(std::vector<float2> &tree, int at, float2 *first, float2 *last, bool by_y)
{
    if (first >= last)
        return;
    float2 *middle = first + (last - first) / 2;
    std::nth_element(first, middle, last, [=](const float2 &a, const float2 &b) {
        return by_y ? a.y < b.y : a.x < b.x;
    });
    tree[at] = *middle;
    build_kd(tree, 2 * at + 1, first, middle, !by_y);
    build_kd(tree, 2 * at + 2, middle + 1, last, !by_y);
}

template <class Search> static void kd_search(Run &run, Search search)
{
    const int n = 20000;
    const std::vector<float> p = floats(2 * POINTS, 165), q = floats(2 * n, 166);
    std::vector<float2> point(POINTS), query(n), tree(POINTS);
    for (int i = 0; i < POINTS; i++)
        point[i] = make_float2(p[2 * i], p[2 * i + 1]);
    for (int i = 0; i < n; i++)
        query[i] = make_float2(q[2 * i], q[2 * i + 1]);
    build_kd(tree, 0, point.data(), point.data() + POINTS, false);
    float2 *dt = run.upload(tree), *dq = run.upload(query);
    float *found = run.zeros<float>(n);
    run.measure([=] { search(dt, dq, found, n); });
    run.expect_all(
        run.output(found, n),
        [&](size_t i) {
            double best = 1e20;
            for (const float2 &at : tree) {
                const double dx = query[i].x - at.x, dy = query[i].y - at.y;
                best = std::min(best, dx * dx + dy * dy);
            }
            return best;
        },
        1e-7, 331);
}

static void kd_local(Run &run)
{
    kd_search(run, [](float2 *tree, float2 *query, float *found, int n) {
        kd_local_kernel<<<blocks_for(n, KD_BLOCK), KD_BLOCK>>>(tree, query, found, n);
    });
}

static void kd_shared(Run &run)
{
    kd_search(run, [](float2 *tree, float2 *query, float *found, int n) {
        kd_shared_kernel<<<blocks_for(n, KD_BLOCK), KD_BLOCK>>>(tree, query, found, n);
    });
}

#endif
