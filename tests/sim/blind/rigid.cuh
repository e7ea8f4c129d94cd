// rigid.cuh - rigid bodies: turning boxes, tests of two boxes, contacts, neighbours along an axis.
#ifndef BLIND_RIGID_CUH
#define BLIND_RIGID_CUH

#include "blind.cuh"

// ---- Bodies move and turn: a structure of 13 numbers per body, or 13 arrays ----

enum { RIGID_COUNT = 1 << 19, RIGID_FIELDS = 13 };

// Fields: position, quaternion, velocity, rate of turning.
__host__ __device__ inline void rigid_move(float *b)
{
    const float dt = 0.01f;
    for (int k = 0; k < 3; k++)
        b[k] += dt * b[7 + k];
    const float w = b[3], x = b[4], y = b[5], z = b[6];
    const float rx = 0.5f * dt * b[10], ry = 0.5f * dt * b[11], rz = 0.5f * dt * b[12];
    b[3] = w - rx * x - ry * y - rz * z;
    b[4] = x + rx * w + ry * z - rz * y;
    b[5] = y + ry * w + rz * x - rx * z;
    b[6] = z + rz * w + rx * y - ry * x;
    const float scale = 1 / sqrtf(b[3] * b[3] + b[4] * b[4] + b[5] * b[5] + b[6] * b[6]);
    for (int k = 3; k < 7; k++)
        b[k] *= scale;
    b[8] -= 9.81f * dt;
}

template <bool ARRAYS> __global__ void bodies_kernel(const float *in, float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float b[RIGID_FIELDS];
#pragma unroll
    for (int k = 0; k < RIGID_FIELDS; k++)
        b[k] = in[ARRAYS ? k * RIGID_COUNT + i : i * RIGID_FIELDS + k];
    rigid_move(b);
#pragma unroll
    for (int k = 0; k < RIGID_FIELDS; k++)
        out[ARRAYS ? k * RIGID_COUNT + i : i * RIGID_FIELDS + k] = b[k];
}

template <bool ARRAYS> static void bodies(Run &run)
{
    const std::vector<float> in = floats(RIGID_COUNT * RIGID_FIELDS, 10301, 0.1f, 2);
    const float *from = run.upload(in);
    float *to = run.zeros<float>(in.size());
    run.measure([=] { bodies_kernel<ARRAYS><<<RIGID_COUNT / 256, 256>>>(from, to); });
    const std::vector<float> got = run.output(to, in.size());
    for (int i = 0; i < RIGID_COUNT; i += 997) {
        float b[RIGID_FIELDS];
        for (int k = 0; k < RIGID_FIELDS; k++)
            b[k] = in[ARRAYS ? k * RIGID_COUNT + i : i * RIGID_FIELDS + k];
        rigid_move(b);
        for (int k = 0; k < RIGID_FIELDS; k++)
            run.expect(got[ARRAYS ? k * RIGID_COUNT + i : i * RIGID_FIELDS + k], b[k], 1e-4);
    }
}

static void bodies_structs(Run &run)
{
    bodies<false>(run);
}

static void bodies_arrays(Run &run)
{
    bodies<true>(run);
}

// ---- Do two turned boxes overlap? 15 axes: until one separates them, or the least gap of all ----

enum { SAT_PAIRS = 3 << 16, SAT_BOXES = 65536 };

struct SatBox {
    float centre[3], half[3], axis[9];
};

__host__ __device__ inline float sat_radius(const SatBox &box, const float *n)
{
    float sum = 0;
    for (int k = 0; k < 3; k++) {
        const float *a = box.axis + 3 * k;
        sum += box.half[k] * fabsf(a[0] * n[0] + a[1] * n[1] + a[2] * n[2]);
    }
    return sum;
}

// The gap along axis k of 15: three of each box, and their nine products.
__host__ __device__ inline float sat_gap(const SatBox &p, const SatBox &q, int k)
{
    float n[3];
    const float *a = p.axis + 3 * (k < 3 ? k : k < 6 ? 0 : (k - 6) / 3);
    const float *b = q.axis + 3 * (k % 3);
    for (int j = 0; j < 3; j++) {
        const int s = (j + 1) % 3, t = (j + 2) % 3;
        n[j] = k < 3 ? a[j] : k < 6 ? b[j] : a[s] * b[t] - a[t] * b[s];
    }
    float distance = 0;
    for (int j = 0; j < 3; j++)
        distance += n[j] * (q.centre[j] - p.centre[j]);
    return fabsf(distance) - sat_radius(p, n) - sat_radius(q, n);
}

template <bool EARLY>
__global__ void sat_kernel(const SatBox *boxes, const int2 *pairs, unsigned char *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const SatBox p = boxes[pairs[i].x], q = boxes[pairs[i].y];
    float gap = -1e30f;
#pragma unroll
    for (int k = 0; k < 15; k++) {
        gap = fmaxf(gap, sat_gap(p, q, k));
        if (EARLY && gap > 0)
            break;
    }
    out[i] = gap <= 0;
}

template <bool EARLY> static void sat(Run &run)
{
    const std::vector<float> v = floats(SAT_BOXES * 9, 10302);
    std::vector<SatBox> boxes(SAT_BOXES);
    for (int i = 0; i < SAT_BOXES; i++) {
        const float *r = &v[9 * i];
        const double a = 3 * r[6], b = 3 * r[7], ca = cos(a), sa = sin(a), cb = cos(b), sb = sin(b);
        const double axes[9] = { ca, sa, 0, -sa * cb, ca * cb, sb, sa * sb, -ca * sb, cb };
        for (int k = 0; k < 9; k++)
            boxes[i].axis[k] = (float) axes[k];
        for (int k = 0; k < 3; k++) {
            boxes[i].centre[k] = r[k] * 3;
            boxes[i].half[k] = 0.55f + 0.2f * r[3 + k];
        }
    }
    const std::vector<int> pairs = integers(2 * SAT_PAIRS, SAT_BOXES, 10303);
    const SatBox *from = run.upload(boxes);
    const int2 *dp = (const int2 *) run.upload(pairs);
    unsigned char *to = run.zeros<unsigned char>(SAT_PAIRS);
    run.measure([=] { sat_kernel<EARLY><<<SAT_PAIRS / 128, 128>>>(from, dp, to); });
    const std::vector<unsigned char> got = run.output(to, SAT_PAIRS);
    for (int i = 0; i < SAT_PAIRS; i += 97) {
        float gap = -1e30f;
        for (int k = 0; k < 15; k++)
            gap = std::max(gap, sat_gap(boxes[pairs[2 * i]], boxes[pairs[2 * i + 1]], k));
        if (fabs(gap) > 1e-4)
            run.expect(got[i], gap <= 0, 0);
    }
}

static void sat_early(Run &run)
{
    sat<true>(run);
}

static void sat_all(Run &run)
{
    sat<false>(run);
}

// ---- Pushes of contacts change velocities: contacts add atomically, or bodies gather ----

enum { PUSH_BODIES = 65536, PUSH_CONTACTS = 3 << 18 };

// float4: direction and strength. The second body takes the opposite push.
__global__ void contacts_scatter_kernel(const float4 *push, const int2 *pair, float4 *velocity)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float4 p = push[i];
    const int2 b = pair[i];
    atomicAdd(&velocity[b.x].x, p.x * p.w);
    atomicAdd(&velocity[b.x].y, p.y * p.w);
    atomicAdd(&velocity[b.x].z, p.z * p.w);
    atomicAdd(&velocity[b.y].x, -p.x * p.w);
    atomicAdd(&velocity[b.y].y, -p.y * p.w);
    atomicAdd(&velocity[b.y].z, -p.z * p.w);
}

// `list`: for each body its contacts, twice the number plus 1 if it is the second body.
__global__ void contacts_gather_kernel(const float4 *push, const int *begin, const int *list,
                                       float4 *velocity)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, end = begin[i + 1];
    float4 v = velocity[i];
    for (int k = begin[i]; k < end; k++) {
        const float4 p = push[list[k] / 2];
        const float w = list[k] & 1 ? -p.w : p.w;
        v.x += p.x * w;
        v.y += p.y * w;
        v.z += p.z * w;
    }
    velocity[i] = v;
}

static void pushes(Run &run, bool gather)
{
    const std::vector<float> push = floats(4 * PUSH_CONTACTS, 10304);
    const std::vector<int> pair = integers(2 * PUSH_CONTACTS, PUSH_BODIES, 10305);
    std::vector<std::vector<int>> of(PUSH_BODIES);
    std::vector<int> begin(1), list;
    for (int i = 0; i < 2 * PUSH_CONTACTS; i++)
        of[pair[i]].push_back(i);
    for (const std::vector<int> &l : of) {
        list.insert(list.end(), l.begin(), l.end());
        begin.push_back((int) list.size());
    }
    const float4 *from = (const float4 *) run.upload(push);
    const int *dp = run.upload(pair), *db = run.upload(begin), *dl = run.upload(list);
    float *to = run.zeros<float>(4 * PUSH_BODIES);
    run.measure(
        [=] {
            float4 *v = (float4 *) to;
            if (gather)
                contacts_gather_kernel<<<PUSH_BODIES / 128, 128>>>(from, db, dl, v);
            else
                contacts_scatter_kernel<<<PUSH_CONTACTS / 256, 256>>>(from, (const int2 *) dp, v);
        },
        [=] { CHECK(cudaMemset(to, 0, 4 * PUSH_BODIES * sizeof(float))); });
    const std::vector<float> got = run.output(to, 4 * PUSH_BODIES);
    for (int i = 0; i < PUSH_BODIES; i += 41)
        for (int c = 0; c < 3; c++) {
            double sum = 0;
            for (int k : of[i])
                sum += (k & 1 ? -1.0 : 1.0) * push[k / 2 * 4 + c] * push[k / 2 * 4 + 3];
            run.expect(got[4 * i + c], sum, 1e-4);
        }
}

static void contacts_scatter(Run &run)
{
    pushes(run, false);
}

static void contacts_gather(Run &run)
{
    pushes(run, true);
}

// ---- Boxes sorted along x: each counts those that it overlaps: a thread per box, or a warp ----

enum { SWEEP_BOXES = 32768 };

// float4: x from, x to, y from, y to.
__device__ inline bool sweep_overlap(float4 a, float4 b)
{
    return a.z <= b.w && b.z <= a.w;
}

__global__ void sweep_thread_kernel(const float4 *boxes, int *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float4 mine = boxes[i];
    int count = 0;
    for (int k = i + 1; k < SWEEP_BOXES; k++) {
        const float4 other = boxes[k];
        if (other.x > mine.y)
            break;
        count += sweep_overlap(mine, other);
    }
    out[i] = count;
}

__global__ void sweep_warp_kernel(const float4 *boxes, int *out)
{
    const int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    const float4 mine = boxes[i];
    int count = 0;
    bool inside = true;
    for (int k = i + 1 + lane; __any_sync(~0u, inside); k += 32) {
        inside = k < SWEEP_BOXES && boxes[k].x <= mine.y;
        if (inside)
            count += sweep_overlap(mine, boxes[k]);
    }
    count = __reduce_add_sync(~0u, count);
    if (lane == 0)
        out[i] = count;
}

static void sweep(Run &run, bool warps)
{
    std::vector<float> x = floats(SWEEP_BOXES, 10306, 0, SWEEP_BOXES);
    const std::vector<float> v = floats(3 * SWEEP_BOXES, 10307, 0, 1);
    std::sort(x.begin(), x.end());
    std::vector<float4> boxes(SWEEP_BOXES);
    for (int i = 0; i < SWEEP_BOXES; i++) {
        const float y = 100 * v[3 * i + 1];
        boxes[i] = make_float4(x[i], x[i] + 400 * v[3 * i], y, y + 10 * v[3 * i + 2]);
    }
    const float4 *from = run.upload(boxes);
    int *to = run.zeros<int>(SWEEP_BOXES);
    run.measure([=] {
        if (warps)
            sweep_warp_kernel<<<SWEEP_BOXES / 8, 256>>>(from, to);
        else
            sweep_thread_kernel<<<SWEEP_BOXES / 64, 64>>>(from, to);
    });
    run.expect_all(
        run.output(to, SWEEP_BOXES),
        [&](size_t i) {
            const float4 a = boxes[i];
            int count = 0;
            for (size_t k = i + 1; k < SWEEP_BOXES && boxes[k].x <= a.y; k++)
                count += a.z <= boxes[k].w && boxes[k].z <= a.w;
            return count;
        },
        0, 23);
}

static void sweep_thread(Run &run)
{
    sweep(run, false);
}

static void sweep_warp(Run &run)
{
    sweep(run, true);
}

#endif
