// ferries.cuh - ferries: journeys by timetable, cars on decks, the best harbour to change at,
// fares.
#ifndef BLIND_FERRIES_CUH
#define BLIND_FERRIES_CUH

#include "blind.cuh"

// ---- Earliest arrivals by a scan of the day's departures: all of them, or from the start of the
// journey until no later one can help ----

enum { FERRY_JOURNEYS = 36000, FERRY_DEPARTURES = 1000, FERRY_HARBOURS = 28 };
enum { FERRY_SCAN_BLOCK = 96, FERRY_NEVER = 60000 };

struct FerryLeg {
    int from, to, departs, arrives;
};

// x: the harbours, y: the minute. `when` has an entry per harbour, `stride` apart.
__host__ __device__ inline int ferry_scan(const FerryLeg *legs, int first, int2 journey, bool stops,
                                          unsigned short *when, int stride)
{
    const int target = journey.x / FERRY_HARBOURS;
    for (int k = 0; k < FERRY_HARBOURS; k++)
        when[k * stride] = FERRY_NEVER;
    when[journey.x % FERRY_HARBOURS * stride] = (unsigned short) journey.y;
    for (int k = first; k < FERRY_DEPARTURES; k++) {
        const FerryLeg leg = legs[k];
        if (stops && leg.departs >= when[target * stride])
            break;
        if (leg.departs >= when[leg.from * stride] && leg.arrives < when[leg.to * stride])
            when[leg.to * stride] = (unsigned short) leg.arrives;
    }
    return when[target * stride];
}

__global__ void ferry_journey_all_kernel(const FerryLeg *legs, const int2 *journeys, int *out)
{
    __shared__ unsigned short when[FERRY_HARBOURS * FERRY_SCAN_BLOCK];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < FERRY_JOURNEYS)
        out[i] = ferry_scan(legs, 0, journeys[i], false, when + threadIdx.x, FERRY_SCAN_BLOCK);
}

__device__ inline int ferry_first_leg(const FerryLeg *legs, int minute)
{
    int low = 0, high = FERRY_DEPARTURES;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (legs[middle].departs < minute)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

__global__ void ferry_journey_some_kernel(const FerryLeg *legs, const int2 *journeys, int *out)
{
    __shared__ unsigned short when[FERRY_HARBOURS * FERRY_SCAN_BLOCK];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= FERRY_JOURNEYS)
        return;
    const int2 journey = journeys[i];
    const int first = ferry_first_leg(legs, journey.y);
    out[i] = ferry_scan(legs, first, journey, true, when + threadIdx.x, FERRY_SCAN_BLOCK);
}

static std::vector<FerryLeg> ferry_timetable()
{
    const std::vector<uint32_t> v = words(FERRY_DEPARTURES, 20000);
    std::vector<FerryLeg> legs(FERRY_DEPARTURES);
    for (int k = 0; k < FERRY_DEPARTURES; k++) {
        const int from = (int) (v[k] % FERRY_HARBOURS);
        const int away = 1 + (int) (v[k] / 64 % (FERRY_HARBOURS - 1));
        const int departs = 300 + k * 1080 / FERRY_DEPARTURES;
        legs[k] = { from, (from + away) % FERRY_HARBOURS, departs,
                    departs + 15 + (int) (v[k] / 4096 % 90) };
    }
    return legs;
}

// Journeys are sorted by the minute at which they begin.
static std::vector<int2> ferry_wishes()
{
    const std::vector<int> pairs = integers(FERRY_JOURNEYS, FERRY_HARBOURS * FERRY_HARBOURS, 20001);
    std::vector<int> minutes = integers(FERRY_JOURNEYS, 1300, 20002);
    std::sort(minutes.begin(), minutes.end());
    std::vector<int2> journeys(FERRY_JOURNEYS);
    for (int i = 0; i < FERRY_JOURNEYS; i++)
        journeys[i] = { pairs[i], minutes[i] };
    return journeys;
}

static void ferry_journeys(Run &run, void (*kernel)(const FerryLeg *, const int2 *, int *))
{
    const std::vector<FerryLeg> legs = ferry_timetable();
    const std::vector<int2> journeys = ferry_wishes();
    const FerryLeg *dl = run.upload(legs);
    const int2 *dj = run.upload(journeys);
    int *to = run.zeros<int>(FERRY_JOURNEYS);
    const int blocks = blocks_for(FERRY_JOURNEYS, FERRY_SCAN_BLOCK);
    run.measure([=] { kernel<<<blocks, FERRY_SCAN_BLOCK>>>(dl, dj, to); });
    unsigned short when[FERRY_HARBOURS];
    run.expect_all(
        run.output(to, FERRY_JOURNEYS),
        [&](size_t i) { return ferry_scan(legs.data(), 0, journeys[i], false, when, 1); }, 0, 7);
}

static void ferry_journey_all(Run &run)
{
    ferry_journeys(run, ferry_journey_all_kernel);
}

static void ferry_journey_some(Run &run)
{
    ferry_journeys(run, ferry_journey_some_kernel);
}

// ---- Cars drive into the first lane of the deck that has room: a thread per sailing, or a warp
// whose threads are the lanes ----

enum { FERRY_SAILINGS = 5000, FERRY_LANES = 32, FERRY_LANE_ROOM = 400, FERRY_DECK_BLOCK = 64 };

// x: how many cars are aboard, y: a hash of their lanes.
__host__ __device__ inline int2 ferry_load(const int *cars, int begin, int end, int *room,
                                           int stride)
{
    int2 load = { 0, 0 };
    for (int lane = 0; lane < FERRY_LANES; lane++)
        room[lane * stride] = FERRY_LANE_ROOM;
    for (int k = begin; k < end; k++) {
        const int length = cars[k];
        int lane = 0;
        while (lane < FERRY_LANES && room[lane * stride] < length)
            lane++;
        if (lane == FERRY_LANES)
            continue;
        room[lane * stride] -= length;
        load.x++;
        load.y += (lane + 1) * length;
    }
    return load;
}

__global__ void ferry_deck_thread_kernel(const int *cars, const int *first, int2 *out)
{
    __shared__ int room[FERRY_LANES * FERRY_DECK_BLOCK];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < FERRY_SAILINGS)
        out[i] = ferry_load(cars, first[i], first[i + 1], room + threadIdx.x, FERRY_DECK_BLOCK);
}

__global__ void ferry_deck_warp_kernel(const int *cars, const int *first, int2 *out)
{
    const int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (i >= FERRY_SAILINGS)
        return;
    int room = FERRY_LANE_ROOM;
    int2 load = { 0, 0 };
    for (int k = first[i]; k < first[i + 1]; k++) {
        const int length = cars[k];
        const unsigned fits = __ballot_sync(~0u, room >= length);
        if (!fits)
            continue;
        const int chosen = __ffs((int) fits) - 1;
        room -= lane == chosen ? length : 0;
        load.x++;
        load.y += (chosen + 1) * length;
    }
    if (!lane)
        out[i] = load;
}

// Few cars on most sailings, many on holidays.
static std::vector<int> ferry_queues()
{
    const std::vector<uint32_t> v = words(FERRY_SAILINGS, 20003);
    std::vector<int> first(1, 0);
    for (int i = 0; i < FERRY_SAILINGS; i++)
        first.push_back(first[i] + 5 + v[i] % 50 + (v[i] / 64 % 29 ? 0 : 100 + v[i] / 65536 % 300));
    return first;
}

static void ferry_decks(Run &run, bool warps)
{
    const std::vector<int> first = ferry_queues();
    std::vector<int> cars = integers(first.back(), 36, 20004);
    for (int &length : cars)
        length = length ? 34 + length / 2 : 160; // a lorry
    const int *dc = run.upload(cars), *df = run.upload(first);
    int2 *to = run.zeros<int2>(FERRY_SAILINGS);
    run.measure([=] {
        if (warps)
            ferry_deck_warp_kernel<<<blocks_for(FERRY_SAILINGS * 32, 128), 128>>>(dc, df, to);
        else
            ferry_deck_thread_kernel<<<blocks_for(FERRY_SAILINGS, FERRY_DECK_BLOCK),
                                       FERRY_DECK_BLOCK>>>(dc, df, to);
    });
    const std::vector<int2> got = run.output(to, FERRY_SAILINGS);
    int room[FERRY_LANES];
    for (int i = 0; i < FERRY_SAILINGS; i++) {
        const int2 wanted = ferry_load(cars.data(), first[i], first[i + 1], room, 1);
        run.expect(got[i].x, wanted.x, 0);
        run.expect(got[i].y, wanted.y, 0);
    }
}

static void ferry_deck_thread(Run &run)
{
    ferry_decks(run, false);
}

static void ferry_deck_warp(Run &run)
{
    ferry_decks(run, true);
}

// ---- The best harbour to change at, in rows of a triangle: a block per row, or one for a short
// and a long row ----

enum { FERRY_ROWS = 6000, FERRY_MINUTES = 4096, FERRY_BITS = 13 };

__host__ __device__ inline size_t ferry_row(int row)
{
    return (size_t) row * (row + 1) / 2;
}

__host__ __device__ inline unsigned ferry_change(int hours, int wait, int harbour)
{
    return (unsigned) (hours + wait) << FERRY_BITS | (unsigned) harbour;
}

// The block's minimum goes to the row's entry of `out`, which begins as ~0.
__device__ inline void ferry_best_of_row(const unsigned short *times, const int *waits, int row,
                                         unsigned *out)
{
    const unsigned short *at = times + ferry_row(row);
    unsigned best = ~0u;
    for (int k = threadIdx.x; k <= row; k += blockDim.x)
        best = min(best, ferry_change(at[k], waits[k], k));
    best = __reduce_min_sync(~0u, best);
    if (threadIdx.x % 32 == 0)
        atomicMin(&out[row], best);
}

__global__ void ferry_change_rows_kernel(const unsigned short *times, const int *waits,
                                         unsigned *out)
{
    ferry_best_of_row(times, waits, blockIdx.x, out);
}

__global__ void ferry_change_folded_kernel(const unsigned short *times, const int *waits,
                                           unsigned *out)
{
    ferry_best_of_row(times, waits, blockIdx.x, out);
    ferry_best_of_row(times, waits, FERRY_ROWS - 1 - blockIdx.x, out);
}

static void ferry_changes(Run &run, bool folded)
{
    const std::vector<int> v = integers(ferry_row(FERRY_ROWS), FERRY_MINUTES, 20005);
    const std::vector<int> waits = integers(FERRY_ROWS, FERRY_MINUTES, 20006);
    const std::vector<unsigned short> times(v.begin(), v.end());
    const unsigned short *dt = run.upload(times);
    const int *dw = run.upload(waits);
    unsigned *to = run.zeros<unsigned>(FERRY_ROWS);
    run.measure(
        [=] {
            if (folded)
                ferry_change_folded_kernel<<<FERRY_ROWS / 2, 256>>>(dt, dw, to);
            else
                ferry_change_rows_kernel<<<FERRY_ROWS, 256>>>(dt, dw, to);
        },
        [=] { CHECK(cudaMemset(to, -1, FERRY_ROWS * sizeof(unsigned))); });
    run.expect_all(
        run.output(to, FERRY_ROWS),
        [&](size_t row) {
            unsigned best = ~0u;
            for (int k = 0; k <= (int) row; k++)
                best = std::min(best, ferry_change(times[ferry_row((int) row) + k], waits[k], k));
            return best;
        },
        0, 3);
}

static void ferry_change_rows(Run &run)
{
    ferry_changes(run, false);
}

static void ferry_change_folded(Run &run)
{
    ferry_changes(run, true);
}

// ---- Fares and their sum: many small blocks, or as many as run at a time ----

enum { FERRY_TICKETS = 2400000, FERRY_FARES = 64 };

// Bits of a ticket: the route, adults, children, a bicycle, return, the day of the week.
__host__ __device__ inline int ferry_fare(unsigned ticket, const int *fares)
{
    const int fare = fares[ticket % FERRY_FARES], adults = ticket >> 6 & 7;
    const int children = ticket >> 9 & 3, bicycle = ticket >> 11 & 1, day = (ticket >> 13) % 7;
    int price = adults * fare + children * (fare * 2 / 5) + bicycle * 350;
    if (adults >= 2 && children)
        price -= fare / 4;
    if (ticket >> 12 & 1)
        price = price * 9 / 5;
    return day >= 5 ? price + price / 8 : price;
}

__global__ void ferry_fare_kernel(const unsigned *tickets, const int *fares, int *out,
                                  unsigned long long *total)
{
    const int step = gridDim.x * blockDim.x;
    unsigned sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < FERRY_TICKETS; i += step) {
        const int price = ferry_fare(tickets[i], fares);
        out[i] = price;
        sum += (unsigned) price;
    }
    sum = __reduce_add_sync(~0u, sum);
    if (threadIdx.x % 32 == 0)
        atomicAdd(total, (unsigned long long) sum);
}

static void ferry_sell(Run &run, int blocks, int block)
{
    const std::vector<uint32_t> tickets = words(FERRY_TICKETS, 20007);
    const std::vector<int> fares = integers(FERRY_FARES, 4000, 20008);
    const uint32_t *dt = run.upload(tickets);
    const int *df = run.upload(fares);
    int *to = run.zeros<int>(FERRY_TICKETS);
    unsigned long long *total = run.zeros<unsigned long long>(1), sum = 0;
    run.measure([=] { ferry_fare_kernel<<<blocks, block>>>(dt, df, to, total); },
                [=] { CHECK(cudaMemset(total, 0, sizeof(*total))); });
    for (uint32_t ticket : tickets)
        sum += (unsigned) ferry_fare(ticket, fares.data());
    run.expect((double) run.output(total, 1)[0], (double) sum, 0);
    run.expect_all(
        run.output(to, FERRY_TICKETS),
        [&](size_t i) { return ferry_fare(tickets[i], fares.data()); }, 0, 11);
}

static void ferry_fare_small(Run &run)
{
    ferry_sell(run, FERRY_TICKETS / 64, 64);
}

static void ferry_fare_resident(Run &run)
{
    ferry_sell(run, 264, 1024);
}

#endif
