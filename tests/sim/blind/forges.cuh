// forges.cuh - forges: cooling steel, forces in plates, bars that are cut, magnetic losses.
#ifndef BLIND_FORGES_CUH
#define BLIND_FORGES_CUH

#include "blind.cuh"

// ---- How much of the steel changes while parts cool: rates computed, or interpolated in a table
// in constant memory, where the threads of a warp need different entries ----

enum { FORGE_POINTS = 200000, FORGE_STEPS = 160, FORGE_RATES = 257 };

// At 800 to 1056 kelvin, in steps of one.
__constant__ float forge_rates[FORGE_RATES];

template <class T> __host__ __device__ inline T forge_rate(T kelvin)
{
    const T below = T(1000) - kelvin;
    return below > 0 ? T(2e-4) * below * below * exp(T(8) - T(10400) / kelvin) : T(0);
}

struct ForgeComputed {
    template <class T> __host__ __device__ T operator()(T kelvin) const
    {
        return forge_rate(kelvin);
    }
};

struct ForgeTable {
    __device__ float operator()(float kelvin) const
    {
        const float at = fminf(kelvin - 800, FORGE_RATES - 2);
        const int i = (int) at;
        return forge_rates[i] + (at - i) * (forge_rates[i + 1] - forge_rates[i]);
    }
};

// x: the first temperature, y: what remains of the difference to the bath after a step.
template <class T, class Rate> __host__ __device__ inline T forge_quench(float2 point, Rate rate)
{
    T kelvin = point.x, changed = 0;
    for (int k = 0; k < FORGE_STEPS && kelvin > 800; k++) {
        changed += rate(kelvin) * (1 - changed);
        kelvin = 300 + (kelvin - 300) * T(point.y);
    }
    return changed;
}

template <class Rate> __global__ void forge_quench_kernel(const float2 *points, float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < FORGE_POINTS)
        out[i] = forge_quench<float>(points[i], Rate());
}

static void forge_quench(Run &run, void (*kernel)(const float2 *, float *))
{
    const std::vector<float> hot = floats(FORGE_POINTS, 21200, 960, 1056);
    const std::vector<float> rests = floats(FORGE_POINTS, 21201, 0.985f, 0.9985f);
    std::vector<float2> points(FORGE_POINTS);
    std::vector<float> rates(FORGE_RATES);
    for (int i = 0; i < FORGE_POINTS; i++)
        points[i] = { hot[i], rests[i] };
    for (int i = 0; i < FORGE_RATES; i++)
        rates[i] = (float) forge_rate(800.0 + i);
    CHECK(cudaMemcpyToSymbol(forge_rates, rates.data(), sizeof forge_rates));
    const float2 *from = run.upload(points);
    float *to = run.zeros<float>(FORGE_POINTS);
    run.measure([=] { kernel<<<blocks_for(FORGE_POINTS, 128), 128>>>(from, to); });
    run.expect_all(
        run.output(to, FORGE_POINTS),
        [&](size_t i) { return forge_quench<double>(points[i], ForgeComputed()); }, 5e-3, 17);
}

static void forge_quench_computed(Run &run)
{
    forge_quench(run, forge_quench_kernel<ForgeComputed>);
}

static void forge_quench_table(Run &run)
{
    forge_quench(run, forge_quench_kernel<ForgeTable>);
}

// ---- Forces of the four-sided elements of a plate at their corners: stiffness computed from the
// corners, or read from global memory ----

enum { FORGE_WIDE = 768, FORGE_HIGH = 512, FORGE_ELEMENTS = FORGE_WIDE * FORGE_HIGH };
enum { FORGE_STIFF = 36 }; // values of a symmetric matrix of 8 rows

struct ForgeCorners {
    float2 at[4];

    __host__ __device__ ForgeCorners(const float2 *nodes, int element)
    {
        const int low = element / FORGE_WIDE * (FORGE_WIDE + 1) + element % FORGE_WIDE;
        at[0] = nodes[low];
        at[1] = nodes[low + 1];
        at[2] = nodes[low + FORGE_WIDE + 2];
        at[3] = nodes[low + FORGE_WIDE + 1];
    }
};

// Adds the forces at one of the four points of integration, at (s, t).
__host__ __device__ inline void forge_point(const ForgeCorners &nodes, const ForgeCorners &moved,
                                            float s, float t, float2 *force)
{
    const float ds[4] = { t - 1, 1 - t, 1 + t, -1 - t }, dt[4] = { s - 1, -1 - s, 1 + s, 1 - s };
    float xs = 0, xt = 0, ys = 0, yt = 0;
    for (int k = 0; k < 4; k++) {
        xs += ds[k] * nodes.at[k].x;
        xt += dt[k] * nodes.at[k].x;
        ys += ds[k] * nodes.at[k].y;
        yt += dt[k] * nodes.at[k].y;
    }
    const float size = xs * yt - xt * ys, inverse = 1 / size;
    float gx[4], gy[4], ex = 0, ey = 0, shear = 0;
    for (int k = 0; k < 4; k++) {
        gx[k] = inverse * (ds[k] * yt - dt[k] * ys);
        gy[k] = inverse * (dt[k] * xs - ds[k] * xt);
        ex += gx[k] * moved.at[k].x;
        ey += gy[k] * moved.at[k].y;
        shear += gy[k] * moved.at[k].x + gx[k] * moved.at[k].y;
    }
    const float px = size * (ex + 0.3f * ey), py = size * (ey + 0.3f * ex);
    const float pxy = size * 0.35f * shear;
    for (int k = 0; k < 4; k++) {
        force[k].x += gx[k] * px + gy[k] * pxy;
        force[k].y += gy[k] * py + gx[k] * pxy;
    }
}

__host__ __device__ inline void forge_forces(const ForgeCorners &nodes, const ForgeCorners &moved,
                                             float2 *force)
{
    const float g = 0.57735027f;
    for (int k = 0; k < 4; k++)
        force[k] = { 0, 0 };
    forge_point(nodes, moved, -g, -g, force);
    forge_point(nodes, moved, g, -g, force);
    forge_point(nodes, moved, g, g, force);
    forge_point(nodes, moved, -g, g, force);
}

__device__ inline void forge_store(float2 *out, int element, const float2 *force)
{
#pragma unroll
    for (int k = 0; k < 4; k++)
        out[k * FORGE_ELEMENTS + element] = force[k];
}

__global__ void forge_force_computed_kernel(const float2 *nodes, const float2 *moved, float2 *out)
{
    const int element = blockIdx.x * blockDim.x + threadIdx.x;
    float2 force[4];
    forge_forces(ForgeCorners(nodes, element), ForgeCorners(moved, element), force);
    forge_store(out, element, force);
}

__global__ void forge_force_stored_kernel(const float *stiffness, const float2 *moved, float2 *out)
{
    const int element = blockIdx.x * blockDim.x + threadIdx.x;
    const ForgeCorners corners(moved, element);
    float2 force[4] = {};
    const float *from = (const float *) corners.at;
    float *to = (float *) force;
    int at = 0;
#pragma unroll
    for (int row = 0; row < 8; row++)
#pragma unroll
        for (int k = row; k < 8; k++, at++) {
            const float value = stiffness[at * FORGE_ELEMENTS + element];
            to[row] += value * from[k];
            if (k > row)
                to[k] += value * from[row];
        }
    forge_store(out, element, force);
}

// The stiffness of each element, from the forces of unit displacements.
static std::vector<float> forge_stiffness(const std::vector<float2> &nodes)
{
    std::vector<float> stiffness((size_t) FORGE_STIFF * FORGE_ELEMENTS);
    for (int element = 0; element < FORGE_ELEMENTS; element++) {
        const ForgeCorners corners(nodes.data(), element);
        size_t at = element;
        for (int row = 0; row < 8; row++) {
            ForgeCorners unit = corners;
            float2 force[4];
            for (int k = 0; k < 4; k++)
                unit.at[k] = { row == 2 * k ? 1.0f : 0.0f, row == 2 * k + 1 ? 1.0f : 0.0f };
            forge_forces(corners, unit, force);
            for (int k = row; k < 8; k++, at += FORGE_ELEMENTS)
                stiffness[at] = k % 2 ? force[k / 2].y : force[k / 2].x;
        }
    }
    return stiffness;
}

static void forge_force(Run &run, bool stored)
{
    const int wide = FORGE_WIDE + 1, count = wide * (FORGE_HIGH + 1);
    const std::vector<float> shifts = floats(2 * count, 21210, -0.2f, 0.2f);
    const std::vector<float> moves = floats(2 * count, 21211, -0.5f, 0.5f);
    std::vector<float2> nodes(count), moved(count);
    for (int i = 0; i < count; i++) {
        nodes[i] = { i % wide + shifts[2 * i], i / wide + shifts[2 * i + 1] };
        moved[i] = { moves[2 * i], moves[2 * i + 1] };
    }
    const float2 *dn = run.upload(nodes), *dm = run.upload(moved);
    const float *ds = run.upload(forge_stiffness(nodes));
    float2 *to = run.zeros<float2>(4 * FORGE_ELEMENTS);
    run.measure([=] {
        if (stored)
            forge_force_stored_kernel<<<FORGE_ELEMENTS / 128, 128>>>(ds, dm, to);
        else
            forge_force_computed_kernel<<<FORGE_ELEMENTS / 128, 128>>>(dn, dm, to);
    });
    const std::vector<float2> got = run.output(to, 4 * FORGE_ELEMENTS);
    for (int element = 0; element < FORGE_ELEMENTS; element += 5) {
        float2 force[4];
        forge_forces(ForgeCorners(nodes.data(), element), ForgeCorners(moved.data(), element),
                     force);
        for (int k = 0; k < 4; k++) {
            run.expect(got[k * FORGE_ELEMENTS + element].x, force[k].x, 1e-3);
            run.expect(got[k * FORGE_ELEMENTS + element].y, force[k].y, 1e-3);
        }
    }
}

static void forge_force_computed(Run &run)
{
    forge_force(run, false);
}

static void forge_force_stored(Run &run)
{
    forge_force(run, true);
}

// ---- Pieces that are cut from up to 32 bars, each from the first bar that is long enough: a
// thread per job with its bars in local memory, or a warp with a bar per lane. Jobs are sorted by
// their number of pieces ----

enum { FORGE_JOBS = 12000, FORGE_BARS = 32, FORGE_BAR = 1000 };

// Bars in use, the pieces that no bar had room for, and what remains of the bars in use.
__host__ __device__ inline uint32_t forge_result(int used, int refused, int rest)
{
    return (uint32_t) (used * 1000 + refused) * 65536u + rest;
}

__host__ __device__ inline uint32_t forge_cut(const uint16_t *pieces, int count)
{
    uint16_t rests[FORGE_BARS];
    int used = 0, refused = 0, rest = 0;
    for (int k = 0; k < count; k++) {
        const int piece = pieces[k];
        int bar = 0;
        while (bar < used && rests[bar] < piece)
            bar++;
        if (bar == FORGE_BARS) {
            refused++;
            continue;
        }
        if (bar == used)
            rests[used++] = FORGE_BAR;
        rests[bar] -= piece;
    }
    for (int bar = 0; bar < used; bar++)
        rest += rests[bar];
    return forge_result(used, refused, rest);
}

__global__ void forge_bars_thread_kernel(const int *first, const uint16_t *pieces, uint32_t *out)
{
    const int job = blockIdx.x * blockDim.x + threadIdx.x;
    if (job < FORGE_JOBS)
        out[job] = forge_cut(pieces + first[job], first[job + 1] - first[job]);
}

__global__ void forge_bars_warp_kernel(const int *first, const uint16_t *pieces, uint32_t *out)
{
    const int job = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    const int end = first[job + 1];
    int rest = FORGE_BAR, refused = 0, pending = 0;
    for (int k = first[job], at = 0; k < end; k++, at++) {
        if (at % 32 == 0)
            pending = k + lane < end ? pieces[k + lane] : 0;
        const int piece = __shfl_sync(~0u, pending, at % 32);
        const uint32_t fits = __ballot_sync(~0u, rest >= piece);
        if (!fits)
            refused++;
        else if (lane == __ffs(fits) - 1)
            rest -= piece;
    }
    const int used = __popc(__ballot_sync(~0u, rest < FORGE_BAR));
    const int sum = __reduce_add_sync(~0u, rest < FORGE_BAR ? rest : 0);
    if (lane == 0)
        out[job] = forge_result(used, refused, sum);
}

static void forge_bars(Run &run, bool warp)
{
    std::vector<int> counts = integers(FORGE_JOBS, 180, 21220), first(1, 0);
    std::sort(counts.begin(), counts.end());
    for (const int count : counts)
        first.push_back(first.back() + 20 + count);
    const std::vector<int> lengths = integers(first.back(), 300, 21221);
    std::vector<uint16_t> pieces;
    for (const int length : lengths)
        pieces.push_back((uint16_t) (40 + length));
    const int *df = run.upload(first);
    const uint16_t *dp = run.upload(pieces);
    uint32_t *to = run.zeros<uint32_t>(FORGE_JOBS);
    run.measure([=] {
        if (warp)
            forge_bars_warp_kernel<<<FORGE_JOBS / 4, 128>>>(df, dp, to);
        else
            forge_bars_thread_kernel<<<blocks_for(FORGE_JOBS, 64), 64>>>(df, dp, to);
    });
    run.expect_all(
        run.output(to, FORGE_JOBS),
        [&](size_t i) { return forge_cut(&pieces[first[i]], first[i + 1] - first[i]); }, 0);
}

static void forge_bars_thread(Run &run)
{
    forge_bars(run, false);
}

static void forge_bars_warp(Run &run)
{
    forge_bars(run, true);
}

// ---- Losses of magnetised steel in changing fields, by 32 x 32 relays per specimen: a block with
// a thread per relay, or a warp with a row of relays as bits per lane ----

enum { FORGE_SPECIMENS = 300, FORGE_ROWS = 32 };

// Relay (row, column) turns on in fields above its row, and off in fields up to its column. Only
// those with column <= row exist.
__global__ void __launch_bounds__(1024)
    forge_magnet_relays_kernel(const int *first, const uint8_t *fields, int *out)
{
    const int row = threadIdx.x / FORGE_ROWS, column = threadIdx.x % FORGE_ROWS;
    const int end = first[blockIdx.x + 1];
    int before = 0, loss = 0;
    bool on = false;
    for (int k = first[blockIdx.x]; k < end; k++) {
        const int field = fields[k];
        if (column <= row && field > row)
            on = true;
        if (field <= column)
            on = false;
        loss += __syncthreads_count(on) * (field - before);
        before = field;
    }
    if (threadIdx.x == 0)
        out[blockIdx.x] = loss;
}

__global__ void forge_magnet_bits_kernel(const int *first, const uint8_t *fields, int *out)
{
    const int specimen = (blockIdx.x * blockDim.x + threadIdx.x) / 32, row = threadIdx.x % 32;
    const int end = first[specimen + 1];
    const uint32_t existing = 0xffffffffu >> (31 - row);
    uint32_t relays = 0;
    int before = 0, loss = 0;
    for (int k = first[specimen]; k < end; k++) {
        const int field = fields[k];
        if (field > row)
            relays = existing;
        else
            relays &= (1u << field) - 1;
        loss += __popc(relays) * (field - before);
        before = field;
    }
    loss = __reduce_add_sync(~0u, loss);
    if (row == 0)
        out[specimen] = loss;
}

static int forge_loss(const uint8_t *fields, int count)
{
    bool on[FORGE_ROWS][FORGE_ROWS] = {};
    int before = 0, loss = 0;
    for (int k = 0; k < count; k++) {
        int sum = 0;
        for (int row = 0; row < FORGE_ROWS; row++)
            for (int column = 0; column <= row; column++) {
                on[row][column] = (on[row][column] || fields[k] > row) && fields[k] > column;
                sum += on[row][column];
            }
        loss += sum * (fields[k] - before);
        before = fields[k];
    }
    return loss;
}

static void forge_magnet(Run &run, bool bits)
{
    const std::vector<int> counts = integers(FORGE_SPECIMENS, 240, 21230);
    std::vector<int> first(1, 0);
    for (const int count : counts)
        first.push_back(first.back() + 80 + count);
    const std::vector<int> draws = integers(first.back(), FORGE_ROWS + 1, 21231);
    const std::vector<uint8_t> fields(draws.begin(), draws.end());
    const int *df = run.upload(first);
    const uint8_t *from = run.upload(fields);
    int *to = run.zeros<int>(FORGE_SPECIMENS);
    run.measure([=] {
        if (bits)
            forge_magnet_bits_kernel<<<FORGE_SPECIMENS / 4, 128>>>(df, from, to);
        else
            forge_magnet_relays_kernel<<<FORGE_SPECIMENS, 1024>>>(df, from, to);
    });
    run.expect_all(
        run.output(to, FORGE_SPECIMENS),
        [&](size_t i) { return forge_loss(&fields[first[i]], first[i + 1] - first[i]); }, 0);
}

static void forge_magnet_relays(Run &run)
{
    forge_magnet(run, false);
}

static void forge_magnet_bits(Run &run)
{
    forge_magnet(run, true);
}

#endif
