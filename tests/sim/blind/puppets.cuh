// puppets.cuh - animated figures: poses of skeletons, key frames, blended shapes, reaching arms.
#ifndef BLIND_PUPPETS_CUH
#define BLIND_PUPPETS_CUH

#include "blind.cuh"

// ---- World matrices of the bones of skeletons: a thread per skeleton, or a lane per bone ----

enum { PUPPET_SKELETONS = 13600, PUPPET_BONES = 28, PUPPET_DEPTH = 8 };

struct PuppetMatrix {
    float m[12]; // three rows of a rotation and a shift
};

static const signed char puppet_parents_host[PUPPET_BONES] = {
    -1, 0, 1, 2, 3, 4, 3, 6, 7, 8, 8, 3, 11, 12, 13, 13, 0, 16, 17, 18, 0, 20, 21, 22, 5, 5, 1, 26
};

__constant__ signed char puppet_parents[PUPPET_BONES];
__constant__ signed char puppet_levels[PUPPET_BONES];

__host__ __device__ inline PuppetMatrix puppet_times(const PuppetMatrix &a, const PuppetMatrix &b)
{
    PuppetMatrix out;
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 4; c++) {
            float sum = c == 3 ? a.m[r * 4 + 3] : 0;
            for (int k = 0; k < 3; k++)
                sum += a.m[r * 4 + k] * b.m[k * 4 + c];
            out.m[r * 4 + c] = sum;
        }
    return out;
}

__global__ void bones_thread_kernel(const PuppetMatrix *local, PuppetMatrix *world)
{
    const int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= PUPPET_SKELETONS)
        return;
    local += (size_t) s * PUPPET_BONES;
    world += (size_t) s * PUPPET_BONES;
    world[0] = local[0];
    for (int b = 1; b < PUPPET_BONES; b++)
        world[b] = puppet_times(world[puppet_parents[b]], local[b]);
}

// Bones of one level at a time; their parents are in shared memory.
__global__ void bones_lanes_kernel(const PuppetMatrix *local, PuppetMatrix *world)
{
    __shared__ PuppetMatrix poses[4][PUPPET_BONES];
    const int warp = threadIdx.x / 32, bone = threadIdx.x % 32;
    const size_t at = (size_t) (blockIdx.x * 4 + warp) * PUPPET_BONES + bone;
    const bool active = bone < PUPPET_BONES;
    const int level = active ? puppet_levels[bone] : -1;
    PuppetMatrix mine = {};
    if (active)
        mine = local[at];
    for (int l = 0; l < PUPPET_DEPTH; l++) {
        if (level == l) {
            if (l)
                mine = puppet_times(poses[warp][puppet_parents[bone]], mine);
            poses[warp][bone] = mine;
        }
        __syncwarp();
    }
    if (active)
        world[at] = mine;
}

static std::vector<PuppetMatrix> puppet_poses()
{
    const std::vector<float> r = floats((size_t) PUPPET_SKELETONS * PUPPET_BONES, 13030, -3, 3);
    std::vector<PuppetMatrix> poses(r.size());
    for (size_t i = 0; i < r.size(); i++) {
        const float c = cosf(r[i]), s = sinf(r[i]);
        if (i % 2)
            poses[i] = { { c, -s, 0, 0.1f, s, c, 0, 0.3f, 0, 0, 1, r[i] / 30 } };
        else
            poses[i] = { { 1, 0, 0, 0.2f, 0, c, -s, r[i] / 20, 0, s, c, 0.1f } };
    }
    return poses;
}

static void bones(Run &run, bool lanes)
{
    const std::vector<PuppetMatrix> poses = puppet_poses();
    signed char levels[PUPPET_BONES] = {};
    for (int b = 1; b < PUPPET_BONES; b++)
        levels[b] = levels[puppet_parents_host[b]] + 1;
    CHECK(cudaMemcpyToSymbol(puppet_parents, puppet_parents_host, PUPPET_BONES));
    CHECK(cudaMemcpyToSymbol(puppet_levels, levels, PUPPET_BONES));
    const PuppetMatrix *from = run.upload(poses);
    PuppetMatrix *to = run.zeros<PuppetMatrix>(poses.size());
    run.measure([=] {
        if (lanes)
            bones_lanes_kernel<<<PUPPET_SKELETONS / 4, 128>>>(from, to);
        else
            bones_thread_kernel<<<blocks_for(PUPPET_SKELETONS, 64), 64>>>(from, to);
    });
    const std::vector<PuppetMatrix> got = run.output(to, poses.size());
    for (int s = 0; s < PUPPET_SKELETONS; s += 97) {
        std::vector<PuppetMatrix> wanted(&poses[s * PUPPET_BONES], &poses[(s + 1) * PUPPET_BONES]);
        for (int b = 1; b < PUPPET_BONES; b++)
            wanted[b] = puppet_times(wanted[puppet_parents_host[b]], wanted[b]);
        for (int k = 0; k < 12 * PUPPET_BONES; k++)
            run.expect(got[s * PUPPET_BONES + k / 12].m[k % 12], wanted[k / 12].m[k % 12], 1e-4);
    }
}

static void bones_thread(Run &run)
{
    bones(run, false);
}

static void bones_lanes(Run &run)
{
    bones(run, true);
}

// ---- Rotations between key frames: each frame searches its keys, or a thread walks through them
// ----

enum { KEY_TRACKS = 1792, KEY_COUNT = 96, KEY_FRAMES = 480 };

__host__ __device__ inline float4 key_slerp(float4 a, float4 b, float t)
{
    float dot = a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
    const float sign = dot < 0 ? -1.0f : 1.0f;
    dot *= sign;
    float from = 1 - t, to = t;
    if (dot < 0.9995f) {
        const float angle = acosf(dot), inverse = 1 / sinf(angle);
        from = sinf(from * angle) * inverse;
        to = sinf(to * angle) * inverse;
    }
    to *= sign;
    return make_float4(from * a.x + to * b.x, from * a.y + to * b.y, from * a.z + to * b.z,
                       from * a.w + to * b.w);
}

// `k`: the last key that is not after the time.
__host__ __device__ inline float4 key_between(const float *times, const float4 *keys, int k,
                                              float time)
{
    return key_slerp(keys[k], keys[k + 1], (time - times[k]) / (times[k + 1] - times[k]));
}

// The last key but one, or an earlier one: the last that is not after the frame.
__host__ __device__ inline int key_search(const float *times, int frame)
{
    int low = 0, high = KEY_COUNT - 1;
    while (high - low > 1) {
        const int middle = (low + high) / 2;
        if (times[middle] <= frame)
            low = middle;
        else
            high = middle;
    }
    return low;
}

__global__ void keyframes_search_kernel(const float *times, const float4 *keys, float4 *out)
{
    const int track = blockIdx.x, frame = threadIdx.x;
    times += track * KEY_COUNT;
    const int k = key_search(times, frame);
    out[track * KEY_FRAMES + frame] = key_between(times, keys + track * KEY_COUNT, k, frame);
}

__global__ void keyframes_walk_kernel(const float *times, const float4 *keys, float4 *out)
{
    const int track = blockIdx.x * blockDim.x + threadIdx.x;
    int k = 0;
    times += track * KEY_COUNT;
    keys += track * KEY_COUNT;
    for (int frame = 0; frame < KEY_FRAMES; frame++) {
        while (k < KEY_COUNT - 2 && times[k + 1] <= frame)
            k++;
        out[track * KEY_FRAMES + frame] = key_between(times, keys, k, frame);
    }
}

static void key_tracks(std::vector<float> &times, std::vector<float4> &keys)
{
    const std::vector<float> r = floats(KEY_TRACKS * KEY_COUNT * 5, 13031);
    for (int i = 0; i < KEY_TRACKS * KEY_COUNT; i++) {
        const float *v = &r[i * 5];
        const float x = v[0], y = v[1], z = v[2], w = v[3] + 1.5f;
        const float size = 1 / sqrtf(x * x + y * y + z * z + w * w);
        const int k = i % KEY_COUNT;
        const bool inner = k > 0 && k < KEY_COUNT - 1;
        keys.push_back(make_float4(x * size, y * size, z * size, w * size));
        times.push_back((float) k * KEY_FRAMES / (KEY_COUNT - 1) + (inner ? 2.4f * v[4] : 0));
    }
}

static void keyframes(Run &run, bool walk)
{
    std::vector<float> times;
    std::vector<float4> keys;
    key_tracks(times, keys);
    const float *dt = run.upload(times);
    const float4 *dk = run.upload(keys);
    float4 *to = run.zeros<float4>(KEY_TRACKS * KEY_FRAMES);
    run.measure([=] {
        if (walk)
            keyframes_walk_kernel<<<KEY_TRACKS / 64, 64>>>(dt, dk, to);
        else
            keyframes_search_kernel<<<KEY_TRACKS, KEY_FRAMES>>>(dt, dk, to);
    });
    const std::vector<float4> got = run.output(to, KEY_TRACKS * KEY_FRAMES);
    for (int i = 0; i < KEY_TRACKS * KEY_FRAMES; i += 331) {
        const int first = i / KEY_FRAMES * KEY_COUNT, frame = i % KEY_FRAMES;
        const int k = key_search(&times[first], frame);
        const float4 wanted = key_between(&times[first], &keys[first], k, frame);
        run.expect(got[i].x, wanted.x, 1e-3);
        run.expect(got[i].w, wanted.w, 1e-3);
    }
}

static void keyframes_search(Run &run)
{
    keyframes(run, false);
}

static void keyframes_walk(Run &run)
{
    keyframes(run, true);
}

// ---- A face of 36 blended shapes: all shifts of a vertex, or a list of those that are not 0 ----

enum { MORPH_VERTICES = 400000, MORPH_SHAPES = 36 };

__global__ void morphs_dense_kernel(const float3 *base, const float3 *shifts, const float *weights,
                                    float3 *out)
{
    const int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= MORPH_VERTICES)
        return;
    float3 at = base[v];
    for (int s = 0; s < MORPH_SHAPES; s++) {
        const float3 shift = shifts[(size_t) s * MORPH_VERTICES + v];
        at.x += weights[s] * shift.x;
        at.y += weights[s] * shift.y;
        at.z += weights[s] * shift.z;
    }
    out[v] = at;
}

// A list's entry: a shift, and the number of its shape in w.
__global__ void morphs_lists_kernel(const float3 *base, const int *begins, const float4 *entries,
                                    const float *weights, float3 *out)
{
    const int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= MORPH_VERTICES)
        return;
    float3 at = base[v];
    for (int i = begins[v]; i < begins[v + 1]; i++) {
        const float4 entry = entries[i];
        const float weight = weights[(int) entry.w];
        at.x += weight * entry.x;
        at.y += weight * entry.y;
        at.z += weight * entry.z;
    }
    out[v] = at;
}

struct Morphs {
    std::vector<float3> base, shifts;
    std::vector<int> begins;
    std::vector<float4> entries;
};

// Shapes move stretches of vertices around a place of their own; some places are common.
static Morphs morph_shapes()
{
    const int n = MORPH_VERTICES;
    const std::vector<int> centres = integers(MORPH_SHAPES, n, 13032);
    const std::vector<float> r = floats(3 * n, 13033);
    Morphs m;
    m.shifts.assign((size_t) n * MORPH_SHAPES, make_float3(0, 0, 0));
    m.begins.push_back(0);
    for (int v = 0; v < n; v++) {
        m.base.push_back(make_float3(r[3 * v], r[3 * v + 1], r[3 * v + 2]));
        for (int s = 0; s < MORPH_SHAPES; s++) {
            const int centre = s % 3 ? n / 3 + centres[s] / 12 : centres[s];
            const float near = 1 - abs(v - centre) / (14000.0f + 2100 * s);
            if (near <= 0)
                continue;
            const float3 d = make_float3(near * r[3 * v + 1], near * r[3 * v], near);
            m.shifts[(size_t) s * n + v] = d;
            m.entries.push_back(make_float4(d.x, d.y, d.z, (float) s));
        }
        m.begins.push_back((int) m.entries.size());
    }
    return m;
}

static void morphs(Run &run, bool lists)
{
    const Morphs m = morph_shapes();
    const std::vector<float> weights = floats(MORPH_SHAPES, 13034, 0, 1);
    const float3 *base = run.upload(m.base), *shifts = run.upload(m.shifts);
    const float4 *entries = run.upload(m.entries);
    const int *begins = run.upload(m.begins);
    const float *dw = run.upload(weights);
    float3 *to = run.zeros<float3>(MORPH_VERTICES);
    run.measure([=] {
        const int grid = blocks_for(MORPH_VERTICES, 256);
        if (lists)
            morphs_lists_kernel<<<grid, 256>>>(base, begins, entries, dw, to);
        else
            morphs_dense_kernel<<<grid, 256>>>(base, shifts, dw, to);
    });
    const std::vector<float3> got = run.output(to, MORPH_VERTICES);
    for (int v = 0; v < MORPH_VERTICES; v += 41) {
        double y = m.base[v].y;
        for (int s = 0; s < MORPH_SHAPES; s++)
            y += weights[s] * m.shifts[(size_t) s * MORPH_VERTICES + v].y;
        run.expect(got[v].y, y, 1e-4);
    }
}

static void morphs_dense(Run &run)
{
    morphs(run, false);
}

static void morphs_lists(Run &run)
{
    morphs(run, true);
}

// ---- Arms that reach for a target: joints turned one by one, or dragged along ----

enum { REACH_ARMS = 20480, REACH_JOINTS = 9, REACH_ROUNDS = 36 };

#define REACH_LINK 1.0f
#define REACH_NEAR 0.01f

__device__ inline float2 reach_towards(float2 from, float2 to, float length)
{
    const float dx = to.x - from.x, dy = to.y - from.y;
    const float scale = length * rsqrtf(dx * dx + dy * dy + 1e-12f);
    return make_float2(from.x + dx * scale, from.y + dy * scale);
}

__device__ inline bool reach_done(const float2 *joints, float2 target)
{
    const float dx = joints[REACH_JOINTS - 1].x - target.x;
    const float dy = joints[REACH_JOINTS - 1].y - target.y;
    return dx * dx + dy * dy < REACH_NEAR * REACH_NEAR;
}

// Turns the arm from joint j on so that its hand points at the target.
__device__ inline void reach_turn(float2 *joints, int j, float2 target)
{
    const float2 o = joints[j], hand = joints[REACH_JOINTS - 1];
    const float hx = hand.x - o.x, hy = hand.y - o.y, tx = target.x - o.x, ty = target.y - o.y;
    const float square = (hx * hx + hy * hy) * (tx * tx + ty * ty);
    if (square < 1e-6f)
        return;
    const float scale = rsqrtf(square);
    const float c = (hx * tx + hy * ty) * scale, s = (hx * ty - hy * tx) * scale;
    for (int k = j + 1; k < REACH_JOINTS; k++) {
        const float dx = joints[k].x - o.x, dy = joints[k].y - o.y;
        joints[k] = make_float2(o.x + c * dx - s * dy, o.y + s * dx + c * dy);
    }
}

template <bool DRAG> __global__ void reach_kernel(const float2 *targets, float2 *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float2 target = targets[i], root = make_float2(0, 0);
    float2 joints[REACH_JOINTS];
    for (int k = 0; k < REACH_JOINTS; k++)
        joints[k] = make_float2(k * REACH_LINK * 0.8f, (k % 2) * REACH_LINK * 0.6f);
    for (int round = 0; round < REACH_ROUNDS && !reach_done(joints, target); round++) {
        if (DRAG) {
            joints[REACH_JOINTS - 1] = target;
            for (int k = REACH_JOINTS - 2; k >= 0; k--)
                joints[k] = reach_towards(joints[k + 1], joints[k], REACH_LINK);
            joints[0] = root;
            for (int k = 1; k < REACH_JOINTS; k++)
                joints[k] = reach_towards(joints[k - 1], joints[k], REACH_LINK);
        } else
            for (int j = REACH_JOINTS - 2; j >= 0; j--)
                reach_turn(joints, j, target);
    }
    for (int k = 0; k < REACH_JOINTS; k++)
        out[k * REACH_ARMS + i] = joints[k];
}

// Links keep their lengths, and most hands are at their targets.
template <bool DRAG> static void reach(Run &run)
{
    const std::vector<float> r = floats(2 * REACH_ARMS, 13035, -1, 1);
    std::vector<float2> targets(REACH_ARMS);
    for (int i = 0; i < REACH_ARMS; i++) {
        const float radius = 2 + 2.9f * (r[2 * i] + 1), angle = 3.14f * r[2 * i + 1];
        targets[i] = make_float2(radius * cosf(angle), radius * sinf(angle));
    }
    const float2 *from = run.upload(targets);
    float2 *to = run.zeros<float2>(REACH_ARMS * REACH_JOINTS);
    run.measure([=] { reach_kernel<DRAG><<<REACH_ARMS / 128, 128>>>(from, to); });
    const std::vector<float2> got = run.output(to, REACH_ARMS * REACH_JOINTS);
    double sum = 0;
    int count = 0;
    for (int i = 0; i < REACH_ARMS; i += 23) {
        for (int k = 1; k < REACH_JOINTS; k++) {
            const float2 a = got[(k - 1) * REACH_ARMS + i], b = got[k * REACH_ARMS + i];
            run.expect(hypot(a.x - b.x, a.y - b.y), REACH_LINK, 2e-3);
        }
        const float2 hand = got[(REACH_JOINTS - 1) * REACH_ARMS + i];
        sum += hypot(hand.x - targets[i].x, hand.y - targets[i].y);
        count++;
    }
    run.expect(sum / count, 0, 0.4);
}

static void reach_turned(Run &run)
{
    reach<false>(run);
}

static void reach_dragged(Run &run)
{
    reach<true>(run);
}

#endif
