// rendering.cuh - pictures: rays through boxes, skinned vertices, cells of points, orbits.
#ifndef BLIND_RENDERING_CUH
#define BLIND_RENDERING_CUH

#include "blind.cuh"

#include <numeric>

// ---- The nearest sphere of each ray by a tree of boxes: with a stack, or by links past a subtree
// ----

enum { BVH_SPHERES = 1024, BVH_WIDTH = 256, BVH_HEIGHT = 160 };

struct BvhNode {
    float low[3], high[3];
    int sphere; // below 0: an inner node, whose left child follows it
    int right, past;
};

static void build_bvh(std::vector<BvhNode> &tree, const std::vector<float4> &sphere, int *item,
                      int count)
{
    const int here = tree.size();
    BvhNode node = { { 1e9f, 1e9f, 1e9f }, { -1e9f, -1e9f, -1e9f }, -1, -1, -1 };
    int axis = 0;
    for (int k = 0; k < count; k++) {
        const float at[3] = { sphere[item[k]].x, sphere[item[k]].y, sphere[item[k]].z };
        for (int d = 0; d < 3; d++) {
            node.low[d] = std::min(node.low[d], at[d] - sphere[item[k]].w);
            node.high[d] = std::max(node.high[d], at[d] + sphere[item[k]].w);
        }
    }
    for (int d = 1; d < 3; d++)
        if (node.high[d] - node.low[d] > node.high[axis] - node.low[axis])
            axis = d;
    tree.push_back(node);
    if (count == 1) {
        tree[here].sphere = item[0];
    } else {
        const float4 *s = sphere.data();
        std::nth_element(item, item + count / 2, item + count,
                         [=](int a, int b) { return (&s[a].x)[axis] < (&s[b].x)[axis]; });
        build_bvh(tree, sphere, item, count / 2);
        tree[here].right = tree.size();
        build_bvh(tree, sphere, item + count / 2, count - count / 2);
    }
    tree[here].past = tree.size();
}

struct Ray {
    float3 from, to;
};

__host__ __device__ inline Ray ray_of(int i)
{
    const float x = (i % BVH_WIDTH + 0.5f) / BVH_WIDTH - 0.5f,
                y = (i / BVH_WIDTH + 0.5f) / BVH_HEIGHT - 0.5f;
    const float scale = 1 / sqrtf(x * x + y * y + 1);
    return { { 0, 0, -12 }, { x * scale, y * scale, scale } };
}

// The distance of the sphere in front of the ray, or `most`.
__host__ __device__ inline float sphere_distance(const Ray &ray, float4 s, float most)
{
    const float x = s.x - ray.from.x, y = s.y - ray.from.y, z = s.z - ray.from.z;
    const float along = x * ray.to.x + y * ray.to.y + z * ray.to.z;
    const float inside = s.w * s.w - (x * x + y * y + z * z - along * along);
    if (inside < 0)
        return most;
    const float at = along - sqrtf(inside);
    return at > 0 && at < most ? at : most;
}

__device__ inline bool meets_box(const BvhNode &node, const Ray &ray, float3 inverse, float most)
{
    const float x1 = (node.low[0] - ray.from.x) * inverse.x,
                x2 = (node.high[0] - ray.from.x) * inverse.x,
                y1 = (node.low[1] - ray.from.y) * inverse.y,
                y2 = (node.high[1] - ray.from.y) * inverse.y,
                z1 = (node.low[2] - ray.from.z) * inverse.z,
                z2 = (node.high[2] - ray.from.z) * inverse.z;
    const float enter = fmaxf(fmaxf(fminf(x1, x2), fminf(y1, y2)), fmaxf(fminf(z1, z2), 0));
    const float leave = fminf(fminf(fmaxf(x1, x2), fmaxf(y1, y2)), fminf(fmaxf(z1, z2), most));
    return enter <= leave;
}

__global__ void bvh_stack_kernel(const BvhNode *tree, const float4 *sphere, float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const Ray ray = ray_of(i);
    const float3 inverse = { 1 / ray.to.x, 1 / ray.to.y, 1 / ray.to.z };
    int stack[24], depth = 0;
    float nearest = 100;
    stack[depth++] = 0;
    while (depth) {
        const int at = stack[--depth];
        if (!meets_box(tree[at], ray, inverse, nearest))
            continue;
        if (tree[at].sphere >= 0) {
            nearest = sphere_distance(ray, sphere[tree[at].sphere], nearest);
        } else {
            stack[depth++] = tree[at].right;
            stack[depth++] = at + 1;
        }
    }
    out[i] = nearest;
}

__global__ void bvh_links_kernel(const BvhNode *tree, const float4 *sphere, float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const Ray ray = ray_of(i);
    const float3 inverse = { 1 / ray.to.x, 1 / ray.to.y, 1 / ray.to.z };
    float nearest = 100;
    for (int at = 0; at < 2 * BVH_SPHERES - 1;) {
        const BvhNode node = tree[at];
        if (!meets_box(node, ray, inverse, nearest)) {
            at = node.past;
            continue;
        }
        if (node.sphere >= 0)
            nearest = sphere_distance(ray, sphere[node.sphere], nearest);
        at++;
    }
    out[i] = nearest;
}

static void bvh(Run &run, void (*kernel)(const BvhNode *, const float4 *, float *))
{
    const int n = BVH_WIDTH * BVH_HEIGHT;
    const std::vector<float> at = floats(4 * BVH_SPHERES, 771, -5, 5);
    std::vector<float4> sphere(BVH_SPHERES);
    std::vector<int> item(BVH_SPHERES);
    std::vector<BvhNode> tree;
    for (int i = 0; i < BVH_SPHERES; i++)
        sphere[i] = { at[4 * i], at[4 * i + 1], at[4 * i + 2],
                      0.1f + 0.03f * fabsf(at[4 * i + 3]) };
    std::iota(item.begin(), item.end(), 0);
    build_bvh(tree, sphere, item.data(), BVH_SPHERES);
    BvhNode *dt = run.upload(tree);
    float4 *ds = run.upload(sphere);
    float *to = run.zeros<float>(n);
    run.measure([=] { kernel<<<n / 128, 128>>>(dt, ds, to); });
    const std::vector<float> got = run.output(to, n);
    int wrong = 0;
    for (int i = 0; i < n; i += 17) {
        float nearest = 100;
        for (const float4 &s : sphere)
            nearest = sphere_distance(ray_of(i), s, nearest);
        wrong += fabsf(got[i] - nearest) > 1e-2f;
    }
    run.expect(wrong, 0, 3); // a ray may just touch a sphere
}

static void bvh_stack(Run &run)
{
    bvh(run, bvh_stack_kernel);
}

static void bvh_links(Run &run)
{
    bvh(run, bvh_links_kernel);
}

// ---- Vertices moved by four bones each: structures or arrays ----

enum { SKIN_BONES = 60, SKIN_VERTICES = 1000000 };

struct SkinVertex {
    float x, y, z;
    unsigned char bone[4];
    float weight[4];
};

__host__ __device__ inline float3 skinned(const float4 *bone, const SkinVertex &v)
{
    float3 sum = { 0, 0, 0 };
    for (int k = 0; k < 4; k++) {
        const float4 *m = bone + 3 * v.bone[k];
        const float w = v.weight[k];
        sum.x += w * (m[0].x * v.x + m[0].y * v.y + m[0].z * v.z + m[0].w);
        sum.y += w * (m[1].x * v.x + m[1].y * v.y + m[1].z * v.z + m[1].w);
        sum.z += w * (m[2].x * v.x + m[2].y * v.y + m[2].z * v.z + m[2].w);
    }
    return sum;
}

__global__ void skin_structures_kernel(const float4 *bone, const SkinVertex *vertex, float3 *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < SKIN_VERTICES)
        out[i] = skinned(bone, vertex[i]);
}

__global__ void skin_arrays_kernel(const float4 *bone, const float *x, const float *y,
                                   const float *z, const uchar4 *bones, const float4 *weight,
                                   float *out)
{
    const int n = SKIN_VERTICES, i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const uchar4 b = bones[i];
    const float4 w = weight[i];
    const SkinVertex v = { x[i], y[i], z[i], { b.x, b.y, b.z, b.w }, { w.x, w.y, w.z, w.w } };
    const float3 at = skinned(bone, v);
    out[i] = at.x;
    out[n + i] = at.y;
    out[2 * n + i] = at.z;
}

static std::vector<SkinVertex> skin_vertices()
{
    const std::vector<float> raw = floats(8 * SKIN_VERTICES, 772);
    std::vector<SkinVertex> vertex(SKIN_VERTICES);
    for (int i = 0; i < SKIN_VERTICES; i++) {
        const float *v = &raw[8 * i];
        const int near = i / (SKIN_VERTICES / SKIN_BONES);
        SkinVertex &to = vertex[i];
        to = { v[0], v[1], v[2], {}, {} };
        for (int k = 0; k < 4; k++) {
            to.bone[k] = (near + k * (1 + i % 3)) % SKIN_BONES;
            to.weight[k] = 0.25f + 0.1f * v[4 + k];
        }
    }
    return vertex;
}

static void skin(Run &run, bool arrays)
{
    const int n = SKIN_VERTICES;
    const std::vector<SkinVertex> vertex = skin_vertices();
    const std::vector<float> raw = floats(12 * SKIN_BONES, 773);
    std::vector<float> x(n), y(n), z(n);
    std::vector<uchar4> bones(n);
    std::vector<float4> weight(n);
    for (int i = 0; i < n; i++) {
        const SkinVertex &v = vertex[i];
        x[i] = v.x, y[i] = v.y, z[i] = v.z;
        bones[i] = { v.bone[0], v.bone[1], v.bone[2], v.bone[3] };
        weight[i] = { v.weight[0], v.weight[1], v.weight[2], v.weight[3] };
    }
    const float4 *bone = (const float4 *) run.upload(raw), *dw = run.upload(weight);
    SkinVertex *dv = run.upload(vertex);
    float *dx = run.upload(x), *dy = run.upload(y), *dz = run.upload(z),
          *to = run.zeros<float>(3 * n);
    uchar4 *db = run.upload(bones);
    run.measure([=] {
        if (arrays)
            skin_arrays_kernel<<<blocks_for(n, 256), 256>>>(bone, dx, dy, dz, db, dw, to);
        else
            skin_structures_kernel<<<blocks_for(n, 256), 256>>>(bone, dv, (float3 *) to);
    });
    const std::vector<float> got = run.output(to, 3 * n);
    for (int i = 0; i < n; i += 31) {
        const float3 wanted = skinned((const float4 *) raw.data(), vertex[i]);
        run.expect(got[arrays ? i : 3 * i], wanted.x, 1e-5);
        run.expect(got[arrays ? n + i : 3 * i + 1], wanted.y, 1e-5);
        run.expect(got[arrays ? 2 * n + i : 3 * i + 2], wanted.z, 1e-5);
    }
}

static void skin_structures(Run &run)
{
    skin(run, false);
}

static void skin_arrays(Run &run)
{
    skin(run, true);
}

// ---- The nearest of 256 points for each pixel: all points, or jumps of halved length ----

enum { CELLS_SIDE = 256, CELLS_POINTS = 256 };

__host__ __device__ inline int cell_distance(short2 p, int x, int y)
{
    return (p.x - x) * (p.x - x) + (p.y - y) * (p.y - y);
}

__global__ void voronoi_all_kernel(const short2 *point, short *out)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int best = 0, least = 1 << 30;
    for (int k = 0; k < CELLS_POINTS; k++) {
        const int d = cell_distance(point[k], x, y);
        if (d < least) {
            least = d;
            best = k;
        }
    }
    out[y * CELLS_SIDE + x] = best;
}

__global__ void voronoi_seed_kernel(const short2 *point, short *out)
{
    const int k = threadIdx.x;
    out[point[k].y * CELLS_SIDE + point[k].x] = k;
}

__global__ void voronoi_jump_kernel(const short2 *point, const short *in, short *out, int jump)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int best = -1, least = 1 << 30;
    for (int dy = -jump; dy <= jump; dy += jump)
        for (int dx = -jump; dx <= jump; dx += jump) {
            const int u = x + dx, v = y + dy;
            if (u < 0 || v < 0 || u >= CELLS_SIDE || v >= CELLS_SIDE)
                continue;
            const int k = in[v * CELLS_SIDE + u];
            if (k < 0)
                continue;
            const int d = cell_distance(point[k], x, y);
            if (d < least) {
                least = d;
                best = k;
            }
        }
    out[y * CELLS_SIDE + x] = best;
}

static void voronoi(Run &run, bool jumps)
{
    const int n = CELLS_SIDE * CELLS_SIDE;
    const std::vector<int> at = integers(2 * CELLS_POINTS, CELLS_SIDE, 774);
    std::vector<short2> point;
    for (int k = 0; k < CELLS_POINTS; k++)
        point.push_back({ (short) at[2 * k], (short) at[2 * k + 1] });
    short2 *dp = run.upload(point);
    short *one = run.zeros<short>(n), *two = run.zeros<short>(n);
    const dim3 grid(CELLS_SIDE / 32, CELLS_SIDE / 8), block(32, 8);
    run.measure(
        [=] {
            if (!jumps)
                return voronoi_all_kernel<<<grid, block>>>(dp, one);
            short *from = one, *to = two;
            voronoi_seed_kernel<<<1, CELLS_POINTS>>>(dp, one);
            for (int jump = CELLS_SIDE / 2; jump; jump /= 2) {
                voronoi_jump_kernel<<<grid, block>>>(dp, from, to, jump);
                std::swap(from, to);
            }
        },
        [=] { CHECK(cudaMemset(one, -1, n * sizeof(short))); });
    const std::vector<short> got = run.output(one, n); // after eight jumps too
    int wrong = 0;
    for (int i = 0; i < n; i += 5) {
        const int x = i % CELLS_SIDE, y = i / CELLS_SIDE;
        int least = 1 << 30;
        for (const short2 &p : point)
            least = std::min(least, cell_distance(p, x, y));
        wrong += got[i] < 0 || cell_distance(point[got[i]], x, y) != least;
    }
    run.expect(wrong, 0, jumps ? n / 5 / 100 : 0); // jumps miss a few
}

static void voronoi_all(Run &run)
{
    voronoi(run, false);
}

static void voronoi_jump(Run &run)
{
    voronoi(run, true);
}

// ---- Orbits that escape (Buddhabrot): each adds its places to a picture ----

enum { ORBIT_SIDE = 256, ORBIT_STEPS = 64 };

__host__ __device__ inline int escape_time(float a, float b)
{
    float x = 0, y = 0;
    int k = 0;
    for (; k < ORBIT_STEPS && x * x + y * y < 4; k++) {
        const float next = x * x - y * y + a;
        y = 2 * x * y + b;
        x = next;
    }
    return k;
}

__global__ void orbits_kernel(const float2 *start, int *picture, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const float2 c = start[i];
    const int steps = escape_time(c.x, c.y);
    if (steps == ORBIT_STEPS)
        return;
    float x = 0, y = 0;
    for (int k = 0; k < steps; k++) {
        const float next = x * x - y * y + c.x;
        y = 2 * x * y + c.y;
        x = next;
        const int u = (int) ((x + 2) * (ORBIT_SIDE / 4)), v = (int) ((y + 2) * (ORBIT_SIDE / 4));
        if (u >= 0 && v >= 0 && u < ORBIT_SIDE && v < ORBIT_SIDE)
            atomicAdd(&picture[v * ORBIT_SIDE + u], 1);
    }
}

// An orbit may escape a step later on the host: the sum of all pixels hardly changes.
static void orbits_escaping(Run &run)
{
    const int n = 120000;
    const std::vector<float> at = floats(2 * n, 775, -1.8f, 1.2f);
    float *start = run.upload(at);
    int *picture = run.zeros<int>(ORBIT_SIDE * ORBIT_SIDE);
    run.measure([=] { orbits_kernel<<<blocks_for(n, 128), 128>>>((float2 *) start, picture, n); },
                [=] { CHECK(cudaMemset(picture, 0, ORBIT_SIDE * ORBIT_SIDE * sizeof(int))); });
    double sum = 0, wanted = 0;
    for (int count : run.output(picture, ORBIT_SIDE * ORBIT_SIDE))
        sum += count;
    for (int i = 0; i < n; i++) {
        const int steps = escape_time(at[2 * i], at[2 * i + 1]);
        wanted += steps < ORBIT_STEPS ? steps - 1 : 0;
    }
    run.expect(sum, wanted, 0.1); // the last place of an orbit is mostly outside
}

#endif
