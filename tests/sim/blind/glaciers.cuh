// glaciers.cuh - ice: melt over a season, flow down a valley, boulders it carries, years in cores.
#ifndef BLIND_GLACIERS_CUH
#define BLIND_GLACIERS_CUH

#include "blind.cuh"

#include <cuda_fp16.h>

// ---- The melt of a season, of snow first and then of the darker ice below: in floats, or for two
// places at once in half2 ----

enum { GLACIER_PLACES = 1 << 19, GLACIER_DAYS = 150 };

__constant__ float glacier_warmth[GLACIER_DAYS];
__constant__ half2 glacier_warmth2[GLACIER_DAYS];

// A place: how much colder it is than the valley, and its snow.
template <class T> __host__ __device__ inline T glacier_melt(const float *warmth, T colder, T snow)
{
    T melt = 0;
    for (int day = 0; day < GLACIER_DAYS; day++) {
        const T warm = T(warmth[day]) - colder;
        if (warm > 0)
            melt += warm * (melt < snow ? T(0.4) : T(0.75));
    }
    return melt;
}

__global__ void glacier_melt_float_kernel(const half2 *colder, const half2 *snow, half2 *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float2 c = __half22float2(colder[i]), s = __half22float2(snow[i]);
    out[i] = __floats2half2_rn(glacier_melt<float>(glacier_warmth, c.x, s.x),
                               glacier_melt<float>(glacier_warmth, c.y, s.y));
}

__global__ void glacier_melt_half2_kernel(const half2 *colder, const half2 *snow, half2 *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const half2 zero = __float2half2_rn(0), of_snow = __float2half2_rn(0.4f),
                darker = __float2half2_rn(0.35f), c = colder[i], s = snow[i];
    half2 melt = zero;
    for (int day = 0; day < GLACIER_DAYS; day++) {
        const half2 warm = __hmax2(__hsub2(glacier_warmth2[day], c), zero);
        melt = __hfma2(warm, __hfma2(__hge2(melt, s), darker, of_snow), melt);
    }
    out[i] = melt;
}

static std::vector<half> glacier_halves(uint32_t seed, float low, float high)
{
    std::vector<half> halves;
    for (float draw : floats(GLACIER_PLACES, seed, low, high))
        halves.push_back(__float2half(draw));
    return halves;
}

static void glacier_melts(Run &run, void (*kernel)(const half2 *, const half2 *, half2 *))
{
    const std::vector<half> colder = glacier_halves(24510, 0, 10);
    const std::vector<half> snow = glacier_halves(24511, 20, 120);
    std::vector<float> warmth = floats(GLACIER_DAYS, 24512, -3, 3);
    std::vector<half2> pairs;
    for (int day = 0; day < GLACIER_DAYS; day++) {
        warmth[day] += 8 * sinf(day * 3.1416f / GLACIER_DAYS);
        pairs.push_back(__float2half2_rn(warmth[day]));
    }
    CHECK(cudaMemcpyToSymbol(glacier_warmth, warmth.data(), sizeof glacier_warmth));
    CHECK(cudaMemcpyToSymbol(glacier_warmth2, pairs.data(), sizeof glacier_warmth2));
    const half2 *dc = (const half2 *) run.upload(colder), *ds = (const half2 *) run.upload(snow);
    half *to = run.zeros<half>(GLACIER_PLACES);
    run.measure([=] { kernel<<<GLACIER_PLACES / 2 / 256, 256>>>(dc, ds, (half2 *) to); });
    const std::vector<half> got = run.output(to, GLACIER_PLACES);
    for (int i = 0; i < GLACIER_PLACES; i += 7)
        run.expect(
            __half2float(got[i]),
            glacier_melt<double>(warmth.data(), __half2float(colder[i]), __half2float(snow[i])),
            3e-2);
}

static void glacier_melt_float(Run &run)
{
    glacier_melts(run, glacier_melt_float_kernel);
}

static void glacier_melt_half2(Run &run)
{
    glacier_melts(run, glacier_melt_half2_kernel);
}

// ---- A step of the flow of ice over its bed: neighbours in global memory, or a tile of them in
// shared memory ----

enum { GLACIER_WIDTH = 2048, GLACIER_HEIGHT = 768, GLACIER_ROWS = 8 };

// What flows from one cell to the next. x: the thickness of the ice, y: the height of the bed.
__host__ __device__ inline float glacier_flux(float2 from, float2 to)
{
    const float thick = (from.x + to.x) / 2, steep = from.x + from.y - to.x - to.y;
    const float square = thick * thick;
    return 0.2f * square * square * thick * steep * steep * steep;
}

// The new thickness of the cell, of which `row` is the distance from one row to the next.
__host__ __device__ inline float glacier_flow(const float2 *cell, int row)
{
    return cell[0].x + glacier_flux(cell[-1], cell[0]) - glacier_flux(cell[0], cell[1]) +
           glacier_flux(cell[-row], cell[0]) - glacier_flux(cell[0], cell[row]);
}

__host__ __device__ inline bool glacier_inside(int x, int y)
{
    return x > 0 && x < GLACIER_WIDTH - 1 && y > 0 && y < GLACIER_HEIGHT - 1;
}

__global__ void glacier_flow_global_kernel(const float2 *cells, float *out)
{
    const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * GLACIER_ROWS + threadIdx.y;
    const int at = y * GLACIER_WIDTH + x;
    out[at] = glacier_inside(x, y) ? glacier_flow(cells + at, GLACIER_WIDTH) : cells[at].x;
}

__global__ void glacier_flow_shared_kernel(const float2 *cells, float *out)
{
    __shared__ float2 tile[GLACIER_ROWS + 2][34];
    const int left = blockIdx.x * 32 - 1, top = blockIdx.y * GLACIER_ROWS - 1;
    for (int k = threadIdx.y * 32 + threadIdx.x; k < 34 * (GLACIER_ROWS + 2);
         k += 32 * GLACIER_ROWS) {
        const int x = min(max(left + k % 34, 0), GLACIER_WIDTH - 1);
        const int y = min(max(top + k / 34, 0), GLACIER_HEIGHT - 1);
        tile[k / 34][k % 34] = cells[y * GLACIER_WIDTH + x];
    }
    __syncthreads();
    const int x = left + 1 + threadIdx.x, y = top + 1 + threadIdx.y;
    const float2 *cell = &tile[threadIdx.y + 1][threadIdx.x + 1];
    out[y * GLACIER_WIDTH + x] = glacier_inside(x, y) ? glacier_flow(cell, 34) : cell->x;
}

static void glacier_flows(Run &run, void (*kernel)(const float2 *, float *))
{
    const size_t count = (size_t) GLACIER_WIDTH * GLACIER_HEIGHT;
    const std::vector<float> draws = floats(count * 2, 24513, 0, 1);
    std::vector<float2> cells(count);
    for (size_t i = 0; i < count; i++)
        cells[i] = { draws[i * 2], 0.5f * draws[i * 2 + 1] };
    const float2 *from = run.upload(cells);
    float *to = run.zeros<float>(count);
    run.measure([=] {
        const dim3 grid(GLACIER_WIDTH / 32, GLACIER_HEIGHT / GLACIER_ROWS);
        kernel<<<grid, dim3(32, GLACIER_ROWS)>>>(from, to);
    });
    run.expect_all(
        run.output(to, count),
        [&](size_t i) {
            const bool inside = glacier_inside(i % GLACIER_WIDTH, i / GLACIER_WIDTH);
            return inside ? glacier_flow(&cells[i], GLACIER_WIDTH) : cells[i].x;
        },
        1e-4, 5);
}

static void glacier_flow_global(Run &run)
{
    glacier_flows(run, glacier_flow_global_kernel);
}

static void glacier_flow_shared(Run &run)
{
    glacier_flows(run, glacier_flow_shared_kernel);
}

// ---- Where boulders end that the ice carries down, those from the top first: each block has an
// equal share of them, or draws tickets for the next 128 ----

enum { GLACIER_SLOPE = 512, GLACIER_BOULDERS = 50688, GLACIER_BOULDER_BLOCKS = 99 };

// The way of the ice at a place: 0 to 2, down and to the left, the middle or the right; 3: a
// boulder stays there. The slope is round, so that its left side meets its right one.
__host__ __device__ inline int2 glacier_carry(const unsigned char *ways, int2 at)
{
    while (at.y < GLACIER_SLOPE) {
        const int way = ways[at.y * GLACIER_SLOPE + at.x];
        if (way == 3)
            break;
        at = { (at.x + way - 1) & (GLACIER_SLOPE - 1), at.y + 1 };
    }
    return at;
}

__global__ void glacier_boulder_shares_kernel(const unsigned char *ways, const int2 *boulders,
                                              int2 *out, int *)
{
    const int share = GLACIER_BOULDERS / GLACIER_BOULDER_BLOCKS;
    for (int k = threadIdx.x; k < share; k += blockDim.x) {
        const int i = blockIdx.x * share + k;
        out[i] = glacier_carry(ways, boulders[i]);
    }
}

__global__ void glacier_boulder_tickets_kernel(const unsigned char *ways, const int2 *boulders,
                                               int2 *out, int *next)
{
    __shared__ int ticket;
    for (;;) {
        if (threadIdx.x == 0)
            ticket = atomicAdd(next, 128);
        __syncthreads();
        const int i = ticket + threadIdx.x;
        __syncthreads();
        if (i >= GLACIER_BOULDERS) // a multiple of 128: true for all threads or for none
            return;
        out[i] = glacier_carry(ways, boulders[i]);
    }
}

static void glacier_boulders(Run &run,
                             void (*kernel)(const unsigned char *, const int2 *, int2 *, int *))
{
    const std::vector<uint32_t> v = words((size_t) GLACIER_SLOPE * GLACIER_SLOPE, 24514);
    std::vector<unsigned char> ways(v.size());
    for (size_t i = 0; i < v.size(); i++)
        ways[i] = (unsigned char) (v[i] % 900 ? v[i] / 1024 % 3 : 3);
    const std::vector<int> xs = integers(GLACIER_BOULDERS, GLACIER_SLOPE, 24515);
    std::vector<int> ys = integers(GLACIER_BOULDERS, GLACIER_SLOPE, 24516);
    std::sort(ys.begin(), ys.end());
    std::vector<int2> boulders(GLACIER_BOULDERS);
    for (int i = 0; i < GLACIER_BOULDERS; i++)
        boulders[i] = { xs[i], ys[i] };
    const unsigned char *dw = run.upload(ways);
    const int2 *db = run.upload(boulders);
    int2 *to = run.zeros<int2>(GLACIER_BOULDERS);
    int *next = run.zeros<int>(1);
    run.measure([=] { kernel<<<GLACIER_BOULDER_BLOCKS, 128>>>(dw, db, to, next); },
                [=] { CHECK(cudaMemset(next, 0, sizeof(int))); });
    const std::vector<int2> got = run.output(to, GLACIER_BOULDERS);
    for (int i = 0; i < GLACIER_BOULDERS; i += 3) {
        const int2 wanted = glacier_carry(ways.data(), boulders[i]);
        run.expect(got[i].x, wanted.x, 0);
        run.expect(got[i].y, wanted.y, 0);
    }
}

static void glacier_boulder_shares(Run &run)
{
    glacier_boulders(run, glacier_boulder_shares_kernel);
}

static void glacier_boulder_tickets(Run &run)
{
    glacier_boulders(run, glacier_boulder_tickets_kernel);
}

// ---- Years in cores of ice, by peaks of dust: a thread per core, or a warp, whose lanes find the
// last peak in a vote ----

enum { GLACIER_CORES = 6016 };

__host__ __device__ inline bool glacier_peak(const short *dust, int i)
{
    return dust[i] > 600 && dust[i] > dust[i - 1] && dust[i] >= dust[i + 1];
}

// The number of peaks, and the sum of squares of their distances.
__host__ __device__ inline int2 glacier_years(const short *dust, int begin, int end)
{
    int before = begin, peaks = 0, squares = 0;
    for (int i = begin + 1; i < end - 1; i++)
        if (glacier_peak(dust, i)) {
            peaks++;
            squares += (i - before) * (i - before);
            before = i;
        }
    return { peaks, squares };
}

__global__ void glacier_years_thread_kernel(const short *dust, const int *first, int2 *out)
{
    const int core = blockIdx.x * blockDim.x + threadIdx.x;
    out[core] = glacier_years(dust, first[core], first[core + 1]);
}

__global__ void glacier_years_warp_kernel(const short *dust, const int *first, int2 *out)
{
    const int core = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    const int end = first[core + 1] - 1;
    int before = first[core], peaks = 0, squares = 0;
    for (int at = before + 1; at < end; at += 32) {
        const int i = at + lane;
        const bool peak = i < end && glacier_peak(dust, i);
        const unsigned all = __ballot_sync(~0u, peak), lower = all & ((1u << lane) - 1);
        const int apart = i - (lower ? at + 31 - __clz(lower) : before);
        squares += peak ? apart * apart : 0;
        peaks += __popc(all);
        before = all ? at + 31 - __clz(all) : before;
    }
    squares = __reduce_add_sync(~0u, squares);
    if (lane == 0)
        out[core] = { peaks, squares };
}

static void glacier_year(Run &run, bool warp)
{
    const std::vector<int> lengths = integers(GLACIER_CORES, 900, 24517);
    std::vector<int> first(1, 0);
    for (int length : lengths)
        first.push_back(first.back() + 100 + length);
    std::vector<short> dust;
    for (int draw : integers(first.back(), 1000, 24518))
        dust.push_back((short) draw);
    const short *dd = run.upload(dust);
    const int *df = run.upload(first);
    int2 *to = run.zeros<int2>(GLACIER_CORES);
    run.measure([=] {
        if (warp)
            glacier_years_warp_kernel<<<GLACIER_CORES / 4, 128>>>(dd, df, to);
        else
            glacier_years_thread_kernel<<<GLACIER_CORES / 64, 64>>>(dd, df, to);
    });
    const std::vector<int2> got = run.output(to, GLACIER_CORES);
    for (int core = 0; core < GLACIER_CORES; core++) {
        const int2 wanted = glacier_years(dust.data(), first[core], first[core + 1]);
        run.expect(got[core].x, wanted.x, 0);
        run.expect(got[core].y, wanted.y, 0);
    }
}

static void glacier_years_thread(Run &run)
{
    glacier_year(run, false);
}

static void glacier_years_warp(Run &run)
{
    glacier_year(run, true);
}

#endif
