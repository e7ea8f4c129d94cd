// inns.cuh - inns: rooms for guests, opinions of guests, drinks by hour, prices of rooms.
#ifndef BLIND_INNS_CUH
#define BLIND_INNS_CUH

#include "blind.cuh"

// ---- Each guest gets the free room that was left last: a thread per inn, with the rooms in a
// local array or in shared memory ----

enum { INN_INNS = 16384, INN_ROOMS = 20, INN_GUESTS = 80, INN_THREADS = 128 };

// From which day a room is free, at `free[room * step]`. A guest: days after the one before in the
// high bits, nights in the low ones. The result: how many are turned away, and days without use.
__host__ __device__ inline int2 inn_rooms(const unsigned char *guests, int count, int *free,
                                          int step)
{
    int day = 0, away = 0, idle = 0;
    for (int room = 0; room < INN_ROOMS; room++)
        free[room * step] = 0;
    for (int k = 0; k < count; k++) {
        const int guest = guests[k * INN_INNS];
        int best = -1, latest = -1;
        day += guest >> 4;
        for (int room = 0; room < INN_ROOMS; room++) {
            const int since = free[room * step];
            if (since <= day && since > latest) {
                best = room;
                latest = since;
            }
        }
        if (best < 0) {
            away++;
            continue;
        }
        idle += day - latest;
        free[best * step] = day + 1 + (guest & 15);
    }
    return { away, idle };
}

__global__ void inn_rooms_local_kernel(const unsigned char *guests, const int *counts, int2 *out)
{
    int free[INN_ROOMS];
    const int inn = blockIdx.x * blockDim.x + threadIdx.x;
    out[inn] = inn_rooms(guests + inn, counts[inn], free, 1);
}

__global__ void inn_rooms_shared_kernel(const unsigned char *guests, const int *counts, int2 *out)
{
    __shared__ int free[INN_ROOMS * INN_THREADS];
    const int inn = blockIdx.x * blockDim.x + threadIdx.x;
    out[inn] = inn_rooms(guests + inn, counts[inn], free + threadIdx.x, INN_THREADS);
}

static void inn_room(Run &run, void (*kernel)(const unsigned char *, const int *, int2 *))
{
    std::vector<unsigned char> guests;
    for (uint32_t word : words((size_t) INN_GUESTS * INN_INNS, 24530))
        guests.push_back((unsigned char) ((word & 3 ? 0 : 16) + (word >> 8 & 15)));
    std::vector<int> counts = integers(INN_INNS, INN_GUESTS - 19, 24531);
    for (int &count : counts)
        count += 20;
    const unsigned char *dg = run.upload(guests);
    const int *dc = run.upload(counts);
    int2 *to = run.zeros<int2>(INN_INNS);
    run.measure([=] { kernel<<<INN_INNS / INN_THREADS, INN_THREADS>>>(dg, dc, to); });
    const std::vector<int2> got = run.output(to, INN_INNS);
    for (int inn = 0; inn < INN_INNS; inn += 3) {
        int free[INN_ROOMS];
        const int2 wanted = inn_rooms(&guests[inn], counts[inn], free, 1);
        run.expect(got[inn].x, wanted.x, 0);
        run.expect(got[inn].y, wanted.y, 0);
    }
}

static void inn_rooms_local(Run &run)
{
    inn_room(run, inn_rooms_local_kernel);
}

static void inn_rooms_shared(Run &run)
{
    inn_room(run, inn_rooms_shared_kernel);
}

// ---- The kindest passage of each review, of which every letter counts for or against; reviews are
// sorted by length: a thread per review, or a warp, whose lanes take parts that they join ----

enum { INN_REVIEWS = 8192 };

// A part of a review: its sum, and the best sums of a start, an end and a passage of it.
struct InnPart {
    int sum, start, end, best;
};

__host__ __device__ inline int inn_larger(int a, int b)
{
    return a > b ? a : b;
}

__host__ __device__ inline InnPart inn_part(const unsigned char *letters, int begin, int end,
                                            const int *worth)
{
    InnPart part = { 0, 0, 0, 0 };
    for (int i = begin; i < end; i++) {
        const int value = worth[letters[i]];
        part.sum += value;
        part.start = inn_larger(part.start, part.sum);
        part.end = inn_larger(part.end + value, 0);
        part.best = inn_larger(part.best, part.end);
    }
    return part;
}

__device__ inline InnPart inn_join(InnPart a, InnPart b)
{
    return { a.sum + b.sum, max(a.start, a.sum + b.start), max(b.end, b.sum + a.end),
             max(max(a.best, b.best), a.end + b.start) };
}

__global__ void inn_review_thread_kernel(const unsigned char *letters, const int *first,
                                         const int *worth, int *out)
{
    __shared__ int table[256];
    for (int k = threadIdx.x; k < 256; k += blockDim.x)
        table[k] = worth[k];
    __syncthreads();
    const int review = blockIdx.x * blockDim.x + threadIdx.x;
    out[review] = inn_part(letters, first[review], first[review + 1], table).best;
}

__global__ void inn_review_warp_kernel(const unsigned char *letters, const int *first,
                                       const int *worth, int *out)
{
    __shared__ int table[256];
    for (int k = threadIdx.x; k < 256; k += blockDim.x)
        table[k] = worth[k];
    __syncthreads();
    const int review = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    const int from = first[review], to = first[review + 1], share = (to - from + 31) / 32;
    InnPart part =
        inn_part(letters, min(from + lane * share, to), min(from + (lane + 1) * share, to), table);
    for (int step = 1; step < 32; step *= 2) // lanes of multiples of 2 * step hold joined parts
        part = inn_join(part, { __shfl_down_sync(~0u, part.sum, step),
                                __shfl_down_sync(~0u, part.start, step),
                                __shfl_down_sync(~0u, part.end, step),
                                __shfl_down_sync(~0u, part.best, step) });
    if (lane == 0)
        out[review] = part.best;
}

static void inn_review(Run &run, bool warp)
{
    std::vector<float> draws = floats(INN_REVIEWS, 24532, 0, 1);
    std::sort(draws.begin(), draws.end());
    std::vector<int> first(1, 0), worth = integers(256, 41, 24533);
    for (float draw : draws)
        first.push_back(first.back() + 30 + (int) (2500 * draw * draw * draw));
    for (int &value : worth)
        value -= 21;
    std::vector<unsigned char> letters;
    for (uint32_t word : words(first.back(), 24534))
        letters.push_back((unsigned char) (word >> 8));
    const unsigned char *dl = run.upload(letters);
    const int *df = run.upload(first), *dw = run.upload(worth);
    int *to = run.zeros<int>(INN_REVIEWS);
    run.measure([=] {
        if (warp)
            inn_review_warp_kernel<<<INN_REVIEWS / 4, 128>>>(dl, df, dw, to);
        else
            inn_review_thread_kernel<<<INN_REVIEWS / 128, 128>>>(dl, df, dw, to);
    });
    run.expect_all(
        run.output(to, INN_REVIEWS),
        [&](size_t i) {
            return inn_part(letters.data(), first[i], first[i + 1], worth.data()).best;
        },
        0);
}

static void inn_review_thread(Run &run)
{
    inn_review(run, false);
}

static void inn_review_warp(Run &run)
{
    inn_review(run, true);
}

// ---- What guests pay per hour and drink, of which a few are liked best: sums in global memory, or
// first in shared memory ----

enum { INN_SALES = 2000000, INN_SUMS = 24 * 16, INN_TAP_BLOCKS = 396 };

// A sale: the hour and drink in the low bits, and what it costs in the high ones.
__global__ void inn_taps_global_kernel(const unsigned *sales, unsigned *sums)
{
    const int step = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < INN_SALES; i += step)
        atomicAdd(&sums[sales[i] & 511], sales[i] >> 16);
}

__global__ void inn_taps_shared_kernel(const unsigned *sales, unsigned *sums)
{
    __shared__ unsigned own[INN_SUMS];
    for (int k = threadIdx.x; k < INN_SUMS; k += blockDim.x)
        own[k] = 0;
    __syncthreads();
    const int step = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < INN_SALES; i += step)
        atomicAdd(&own[sales[i] & 511], sales[i] >> 16);
    __syncthreads();
    for (int k = threadIdx.x; k < INN_SUMS; k += blockDim.x)
        if (own[k])
            atomicAdd(&sums[k], own[k]);
}

static void inn_taps(Run &run, void (*kernel)(const unsigned *, unsigned *))
{
    std::vector<uint32_t> sales = words(INN_SALES, 24535);
    std::vector<unsigned> wanted(INN_SUMS);
    for (uint32_t &sale : sales) {
        const unsigned drink = std::min(sale & 15, sale >> 4 & 15);
        const unsigned hour = (12 + (sale >> 8) % 7 + (sale >> 16) % 8) % 24;
        sale = hour * 16 + drink + ((200 + (sale >> 22)) << 16);
        wanted[sale & 511] += sale >> 16;
    }
    const unsigned *from = run.upload(sales);
    unsigned *to = run.zeros<unsigned>(INN_SUMS);
    run.measure([=] { kernel<<<INN_TAP_BLOCKS, 256>>>(from, to); },
                [=] { CHECK(cudaMemset(to, 0, INN_SUMS * sizeof(unsigned))); });
    run.expect_all(
        run.output(to, INN_SUMS), [&](size_t i) { return wanted[i]; }, 0);
}

static void inn_taps_global(Run &run)
{
    inn_taps(run, inn_taps_global_kernel);
}

static void inn_taps_shared(Run &run)
{
    inn_taps(run, inn_taps_shared_kernel);
}

// ---- What the rooms of an inn can earn until the season ends, if each day has the best of four
// prices: a block per inn. A few inns are large. Blocks take inns in turns, or draw tickets ----

enum { INN_SEASONS = 660, INN_LARGEST = 448, INN_LONGEST = 240, INN_RATE_BLOCKS = 264 };

// With `rooms` free: what the rest of the season is worth, from what it is worth a day later. The
// lower the price, the more likely a room is let that day.
__host__ __device__ inline int inn_worth(const int *later, int rooms, int demand)
{
    int best = 0;
    for (int k = 1; k <= 4; k++) {
        const int chance = demand * k / 4, price = 16 * (150 - 25 * k);
        const int worth =
            (chance * (price + later[rooms - 1]) + (256 - chance) * later[rooms]) >> 8;
        best = worth > best ? worth : best;
    }
    return best;
}

// x: rooms, y: days.
__device__ inline void inn_season(int2 season, const unsigned char *demands, int *out)
{
    __shared__ int worths[2][INN_LARGEST + 1];
    for (int rooms = threadIdx.x; rooms <= season.x; rooms += blockDim.x)
        worths[0][rooms] = worths[1][rooms] = 0;
    __syncthreads();
    for (int day = 0; day < season.y; day++) {
        for (int rooms = 1 + threadIdx.x; rooms <= season.x; rooms += blockDim.x)
            worths[~day & 1][rooms] = inn_worth(worths[day & 1], rooms, demands[day]);
        __syncthreads();
    }
    if (threadIdx.x == 0)
        *out = worths[season.y & 1][season.x];
    __syncthreads();
}

__global__ void inn_rates_turns_kernel(const int2 *seasons, const unsigned char *demands, int *out,
                                       int *)
{
    for (int i = blockIdx.x; i < INN_SEASONS; i += gridDim.x)
        inn_season(seasons[i], demands + i * INN_LONGEST, out + i);
}

__global__ void inn_rates_tickets_kernel(const int2 *seasons, const unsigned char *demands,
                                         int *out, int *next)
{
    __shared__ int ticket;
    for (;;) {
        if (threadIdx.x == 0)
            ticket = atomicAdd(next, 1);
        __syncthreads();
        const int i = ticket;
        if (i >= INN_SEASONS)
            return;
        inn_season(seasons[i], demands + i * INN_LONGEST, out + i);
    }
}

static int inn_season_host(int2 season, const unsigned char *demands)
{
    std::vector<int> worths(season.x + 1);
    for (int day = 0; day < season.y; day++)
        for (int rooms = season.x; rooms; rooms--)
            worths[rooms] = inn_worth(worths.data(), rooms, demands[day]);
    return worths[season.x];
}

static void inn_rates(Run &run, void (*kernel)(const int2 *, const unsigned char *, int *, int *))
{
    const std::vector<uint32_t> v = words(INN_SEASONS, 24536);
    std::vector<int2> seasons;
    for (uint32_t word : v) {
        const bool large = word % 29 == 0;
        seasons.push_back({ large ? 300 + (int) (word >> 8 & 127) : 20 + (int) (word >> 8 & 63),
                            large ? 220 : 40 + (int) (word >> 20 & 31) });
    }
    std::vector<unsigned char> demands;
    for (uint32_t word : words((size_t) INN_SEASONS * INN_LONGEST, 24537))
        demands.push_back((unsigned char) (40 + (word >> 8) % 200));
    const int2 *ds = run.upload(seasons);
    const unsigned char *dd = run.upload(demands);
    int *to = run.zeros<int>(INN_SEASONS), *next = run.zeros<int>(1);
    run.measure([=] { kernel<<<INN_RATE_BLOCKS, 128>>>(ds, dd, to, next); },
                [=] { CHECK(cudaMemset(next, 0, sizeof(int))); });
    run.expect_all(
        run.output(to, INN_SEASONS),
        [&](size_t i) { return inn_season_host(seasons[i], &demands[i * INN_LONGEST]); }, 0);
}

static void inn_rates_turns(Run &run)
{
    inn_rates(run, inn_rates_turns_kernel);
}

static void inn_rates_tickets(Run &run)
{
    inn_rates(run, inn_rates_tickets_kernel);
}

#endif
