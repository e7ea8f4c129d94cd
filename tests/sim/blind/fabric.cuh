// fabric.cuh - cloth, threads and bodies: springs, constraints, strands of hair, rotation.
#ifndef BLIND_FABRIC_CUH
#define BLIND_FABRIC_CUH

#include "blind.cuh"

// ---- Cloth: forces of 12 springs per node, nodes in global memory or tiles in shared ----

enum { CLOTH_W = 1024, CLOTH_H = 384, CLOTH_TILE = 16 };

__host__ __device__ inline int cloth_inside(int x, int y)
{
    return x >= 0 && y >= 0 && x < CLOTH_W && y < CLOTH_H;
}

// Adds the force that the spring between p and q exerts on p.
__host__ __device__ inline void cloth_pull(float4 p, float4 q, float rest, float *force)
{
    const float x = q.x - p.x, y = q.y - p.y, z = q.z - p.z;
    const float length = sqrtf(x * x + y * y + z * z);
    const float by = 20 * (length - rest) / length;
    force[0] += by * x;
    force[1] += by * y;
    force[2] += by * z;
}

// The rest lengths of springs along the axes, diagonals and over two nodes; 0: no spring.
__host__ __device__ inline float cloth_rest(int dx, int dy)
{
    const int d = dx * dx + dy * dy;
    return d == 1 ? 1 : d == 2 ? 1.4142136f : d == 4 ? 2 : 0;
}

__host__ __device__ inline float4 cloth_move(float4 p, float4 before, const float *force)
{
    const float step = 1e-4f;
    return make_float4(p.x + 0.99f * (p.x - before.x) + step * force[0],
                       p.y + 0.99f * (p.y - before.y) + step * (force[1] - 9.81f),
                       p.z + 0.99f * (p.z - before.z) + step * force[2], 0);
}

__global__ void verlet_global_kernel(const float4 *now, const float4 *before, float4 *next)
{
    const int x = blockIdx.x * CLOTH_TILE + threadIdx.x, y = blockIdx.y * CLOTH_TILE + threadIdx.y;
    const int i = y * CLOTH_W + x;
    const float4 p = now[i];
    float force[3] = {};
#pragma unroll
    for (int dy = -2; dy <= 2; dy++)
#pragma unroll
        for (int dx = -2; dx <= 2; dx++)
            if (cloth_rest(dx, dy) > 0 && cloth_inside(x + dx, y + dy))
                cloth_pull(p, now[i + dy * CLOTH_W + dx], cloth_rest(dx, dy), force);
    next[i] = cloth_move(p, before[i], force);
}

__global__ void verlet_shared_kernel(const float4 *now, const float4 *before, float4 *next)
{
    __shared__ float4 tile[CLOTH_TILE + 4][CLOTH_TILE + 4];
    const int x0 = blockIdx.x * CLOTH_TILE - 2, y0 = blockIdx.y * CLOTH_TILE - 2;
    for (int ty = threadIdx.y; ty < CLOTH_TILE + 4; ty += CLOTH_TILE)
        for (int tx = threadIdx.x; tx < CLOTH_TILE + 4; tx += CLOTH_TILE)
            if (cloth_inside(x0 + tx, y0 + ty))
                tile[ty][tx] = now[(y0 + ty) * CLOTH_W + x0 + tx];
    __syncthreads();
    const int tx = threadIdx.x + 2, ty = threadIdx.y + 2, x = x0 + tx, y = y0 + ty;
    const float4 p = tile[ty][tx];
    float force[3] = {};
#pragma unroll
    for (int dy = -2; dy <= 2; dy++)
#pragma unroll
        for (int dx = -2; dx <= 2; dx++)
            if (cloth_rest(dx, dy) > 0 && cloth_inside(x + dx, y + dy))
                cloth_pull(p, tile[ty + dy][tx + dx], cloth_rest(dx, dy), force);
    next[y * CLOTH_W + x] = cloth_move(p, before[y * CLOTH_W + x], force);
}

// A flat cloth with noise of `size`.
static std::vector<float4> cloth_nodes(int width, int height, uint32_t seed, float size)
{
    const std::vector<float> v = floats((size_t) 3 * width * height, seed, -size, size);
    std::vector<float4> nodes(width * height);
    for (int i = 0; i < width * height; i++)
        nodes[i] = make_float4(i % width + v[3 * i], i / width + v[3 * i + 1], v[3 * i + 2], 0);
    return nodes;
}

static void verlet(Run &run, void (*kernel)(const float4 *, const float4 *, float4 *))
{
    const std::vector<float4> now = cloth_nodes(CLOTH_W, CLOTH_H, 9101, 0.2f);
    const std::vector<float4> before = cloth_nodes(CLOTH_W, CLOTH_H, 9102, 0.2f);
    const float4 *dn = run.upload(now), *db = run.upload(before);
    float4 *to = run.zeros<float4>(CLOTH_W * CLOTH_H);
    const dim3 grid(CLOTH_W / CLOTH_TILE, CLOTH_H / CLOTH_TILE), block(CLOTH_TILE, CLOTH_TILE);
    run.measure([=] { kernel<<<grid, block>>>(dn, db, to); });
    const std::vector<float4> got = run.output(to, CLOTH_W * CLOTH_H);
    for (int i = 0; i < CLOTH_W * CLOTH_H; i += 307) {
        float force[3] = {};
        for (int k = 0; k < 25; k++) {
            const int dx = k % 5 - 2, dy = k / 5 - 2;
            if (cloth_rest(dx, dy) > 0 && cloth_inside(i % CLOTH_W + dx, i / CLOTH_W + dy))
                cloth_pull(now[i], now[i + dy * CLOTH_W + dx], cloth_rest(dx, dy), force);
        }
        const float4 wanted = cloth_move(now[i], before[i], force);
        run.expect(got[i].x, wanted.x, 1e-5);
        run.expect(got[i].y, wanted.y, 1e-5);
        run.expect(got[i].z, wanted.z, 1e-5);
    }
}

static void verlet_global(Run &run)
{
    verlet(run, verlet_global_kernel);
}

static void verlet_shared(Run &run)
{
    verlet(run, verlet_shared_kernel);
}

// ---- Edges restored to length 1: four colours one after another, or all averaged per node ----

enum { LINK_W = 1024, LINK_H = 768 };

// Moves p half of the way that its edge to q needs.
__host__ __device__ inline float4 link_half(float4 p, float4 q)
{
    const float x = q.x - p.x, y = q.y - p.y, z = q.z - p.z;
    const float by = 0.5f - 0.5f / sqrtf(x * x + y * y + z * z);
    return make_float4(by * x, by * y, by * z, 0);
}

__host__ __device__ inline float4 link_sum(float4 p, float4 d, float by)
{
    return make_float4(p.x + by * d.x, p.y + by * d.y, p.z + by * d.z, 0);
}

// Edges along x (step 1) or y (step LINK_W) that begin at even or odd nodes.
__host__ __device__ inline void link_edge(float4 *nodes, int x, int y, int step)
{
    const int i = y * LINK_W + x;
    if (step == 1 ? x + 1 >= LINK_W : y + 1 >= LINK_H)
        return;
    const float4 p = nodes[i], q = nodes[i + step], d = link_half(p, q);
    nodes[i] = link_sum(p, d, 1);
    nodes[i + step] = link_sum(q, d, -1);
}

__global__ void links_colour_kernel(float4 *nodes, int step, int odd)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (step == 1)
        link_edge(nodes, 2 * x + odd, y, step);
    else
        link_edge(nodes, x, 2 * y + odd, step);
}

__host__ __device__ inline float4 link_average(const float4 *nodes, int x, int y)
{
    const int i = y * LINK_W + x;
    const float4 p = nodes[i];
    float4 to = p;
    if (x > 0)
        to = link_sum(to, link_half(p, nodes[i - 1]), 0.5f);
    if (x + 1 < LINK_W)
        to = link_sum(to, link_half(p, nodes[i + 1]), 0.5f);
    if (y > 0)
        to = link_sum(to, link_half(p, nodes[i - LINK_W]), 0.5f);
    if (y + 1 < LINK_H)
        to = link_sum(to, link_half(p, nodes[i + LINK_W]), 0.5f);
    return to;
}

__global__ void links_average_kernel(const float4 *nodes, float4 *next)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    next[y * LINK_W + x] = link_average(nodes, x, y);
}

static void links_host(std::vector<float4> &nodes, bool coloured)
{
    const std::vector<float4> old(nodes);
    for (int colour = 0; colour < 4 && coloured; colour++)
        for (int y = 0; y < LINK_H; y++)
            for (int x = 0; x < LINK_W; x++)
                if ((colour < 2 ? x : y) % 2 == colour % 2)
                    link_edge(nodes.data(), x, y, colour < 2 ? 1 : LINK_W);
    for (int i = 0; i < LINK_W * LINK_H && !coloured; i++)
        nodes[i] = link_average(old.data(), i % LINK_W, i / LINK_W);
}

static void links(Run &run, bool coloured)
{
    std::vector<float4> nodes = cloth_nodes(LINK_W, LINK_H, 9103, 0.2f);
    const float4 *from = run.upload(nodes);
    float4 *to = run.zeros<float4>(LINK_W * LINK_H);
    run.measure(
        [=] {
            for (int colour = 0; colour < 4 && coloured; colour++)
                links_colour_kernel<<<dim3(LINK_W / 256 / (colour < 2 ? 2 : 1),
                                           LINK_H / (colour < 2 ? 1 : 2)),
                                      256>>>(to, colour < 2 ? 1 : LINK_W, colour % 2);
            if (!coloured)
                links_average_kernel<<<dim3(LINK_W / 256, LINK_H), 256>>>(from, to);
        },
        [=] {
            CHECK(cudaMemcpy(to, from, LINK_W * LINK_H * sizeof(float4), cudaMemcpyDeviceToDevice));
        });
    links_host(nodes, coloured);
    const std::vector<float4> got = run.output(to, LINK_W * LINK_H);
    for (int i = 0; i < LINK_W * LINK_H; i += 509) {
        run.expect(got[i].x, nodes[i].x, 1e-5);
        run.expect(got[i].z, nodes[i].z, 1e-5);
    }
}

static void links_coloured(Run &run)
{
    links(run, true);
}

static void links_averaged(Run &run)
{
    links(run, false);
}

// ---- Bodies turn and move: 13 values per body in a record, or in 13 arrays ----

enum { BODIES = 400000, BODY_FIELDS = 13 };

// Position, velocity, quaternion, spin.
__host__ __device__ inline void body_move(float *b)
{
    const float dt = 0.01f, w = b[6], x = b[7], y = b[8], z = b[9];
    const float sx = b[10], sy = b[11], sz = b[12];
    b[4] -= dt * 9.81f;
    for (int k = 0; k < 3; k++)
        b[k] += dt * b[3 + k];
    const float h = 0.5f * dt;
    const float qw = w - h * (sx * x + sy * y + sz * z), qx = x + h * (sx * w + sy * z - sz * y);
    const float qy = y + h * (sy * w + sz * x - sx * z), qz = z + h * (sz * w + sx * y - sy * x);
    const float by = 1 / sqrtf(qw * qw + qx * qx + qy * qy + qz * qz);
    b[6] = qw * by;
    b[7] = qx * by;
    b[8] = qy * by;
    b[9] = qz * by;
    b[10] = sx + dt * 0.5f * sy * sz; // a body with three different moments
    b[11] = sy - dt * 0.8f * sz * sx;
    b[12] = sz + dt * 0.3f * sx * sy;
}

template <bool RECORDS> __global__ void turning_kernel(const float *in, float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= BODIES)
        return;
    float b[BODY_FIELDS];
#pragma unroll
    for (int k = 0; k < BODY_FIELDS; k++)
        b[k] = in[RECORDS ? i * BODY_FIELDS + k : k * BODIES + i];
    body_move(b);
#pragma unroll
    for (int k = 0; k < BODY_FIELDS; k++)
        out[RECORDS ? i * BODY_FIELDS + k : k * BODIES + i] = b[k];
}

template <bool RECORDS> static void turning(Run &run)
{
    const std::vector<float> in = floats(BODY_FIELDS * BODIES, 9104, 0.1f, 1);
    const float *from = run.upload(in);
    float *to = run.zeros<float>(BODY_FIELDS * BODIES);
    run.measure([=] { turning_kernel<RECORDS><<<blocks_for(BODIES, 128), 128>>>(from, to); });
    const std::vector<float> got = run.output(to, BODY_FIELDS * BODIES);
    for (int i = 0; i < BODIES; i += 401) {
        float b[BODY_FIELDS];
        auto at = [&](int k) { return RECORDS ? i * BODY_FIELDS + k : k * BODIES + i; };
        for (int k = 0; k < BODY_FIELDS; k++)
            b[k] = in[at(k)];
        body_move(b);
        for (int k = 0; k < BODY_FIELDS; k++)
            run.expect(got[at(k)], b[k], 1e-5);
    }
}

static void turning_records(Run &run)
{
    turning<true>(run);
}

static void turning_arrays(Run &run)
{
    turning<false>(run);
}

// ---- Strands of 32 hairs' nodes relax: a thread per strand with local arrays, or a warp ----

enum { STRANDS = 8192, STRAND_NODES = 32, STRAND_STEPS = 8 };

// Half of what the node's segment to `q` is too long or too short, along the segment.
__host__ __device__ inline float3 strand_half(float3 p, float3 q)
{
    const float x = q.x - p.x, y = q.y - p.y, z = q.z - p.z;
    const float by = 0.5f - 0.05f / sqrtf(x * x + y * y + z * z + 1e-6f);
    return make_float3(by * x, by * y, by * z);
}

// Even segments, then odd ones, a few times. The root does not move.
__host__ __device__ inline void strand_relax(float3 *p)
{
    for (int step = 0; step < 2 * STRAND_STEPS; step++)
        for (int k = step % 2; k + 1 < STRAND_NODES; k += 2) {
            const float3 d = strand_half(p[k], p[k + 1]);
            if (k)
                p[k] = make_float3(p[k].x + d.x, p[k].y + d.y, p[k].z + d.z);
            p[k + 1] = make_float3(p[k + 1].x - d.x, p[k + 1].y - d.y, p[k + 1].z - d.z);
        }
}

__global__ void strands_thread_kernel(const float3 *in, float3 *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float3 p[STRAND_NODES];
    for (int k = 0; k < STRAND_NODES; k++)
        p[k] = in[i * STRAND_NODES + k];
    strand_relax(p);
    for (int k = 0; k < STRAND_NODES; k++)
        out[i * STRAND_NODES + k] = p[k];
}

__global__ void strands_warp_kernel(const float3 *in, float3 *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, k = threadIdx.x % 32;
    float3 p = in[i], q;
    for (int step = 0; step < 2 * STRAND_STEPS; step++) {
        const int other = (k - step % 2 ^ 1) + step % 2; // the segment's other end
        const int lane = other & 31;
        q.x = __shfl_sync(~0u, p.x, lane);
        q.y = __shfl_sync(~0u, p.y, lane);
        q.z = __shfl_sync(~0u, p.z, lane);
        if (k == 0 || lane != other)
            continue;
        const float3 d = strand_half(p, q);
        p = make_float3(p.x + d.x, p.y + d.y, p.z + d.z);
    }
    out[i] = p;
}

static void strands(Run &run, bool warps)
{
    const int count = STRANDS * STRAND_NODES;
    std::vector<float> v = floats(3 * count, 9105, 0, 0.05f);
    for (int i = 0; i < count; i++)
        v[3 * i] += i % STRAND_NODES * 0.12f;
    const float3 *from = (const float3 *) run.upload(v);
    float *to = run.zeros<float>(3 * count);
    run.measure([=] {
        if (warps)
            strands_warp_kernel<<<count / 256, 256>>>(from, (float3 *) to);
        else
            strands_thread_kernel<<<STRANDS / 64, 64>>>(from, (float3 *) to);
    });
    const std::vector<float> got = run.output(to, 3 * count);
    for (int i = 0; i < STRANDS; i += 61) {
        float3 p[STRAND_NODES];
        std::copy_n((const float3 *) v.data() + i * STRAND_NODES, +STRAND_NODES, p);
        strand_relax(p);
        for (int k = 0; k < STRAND_NODES; k++) {
            run.expect(got[3 * (i * STRAND_NODES + k)], p[k].x, 1e-4);
            run.expect(got[3 * (i * STRAND_NODES + k) + 1], p[k].y, 1e-4);
        }
    }
}

static void strands_thread(Run &run)
{
    strands(run, false);
}

static void strands_warp(Run &run)
{
    strands(run, true);
}

#endif
