// auctions.cuh - auctions: prices that clear books of orders, bidders who compete for objects, bids
// below the value, and bids by proxy.
#ifndef BLIND_AUCTIONS_CUH
#define BLIND_AUCTIONS_CUH

#include "blind.cuh"

// ---- The price that clears most, per book: each price sums all orders, or histograms and their
// running sums ----

enum { AUCTION_BOOKS = 1000, AUCTION_ORDERS = 250, AUCTION_TICKS = 128 };

// x: the limit, in ticks; y: how much, negative for a sale.
__host__ __device__ inline int auction_cleared(const int2 *orders, int tick)
{
    int demand = 0, supply = 0;
    for (int k = 0; k < AUCTION_ORDERS; k++) {
        const int2 order = orders[k];
        if (order.y > 0 && order.x >= tick)
            demand += order.y;
        if (order.y < 0 && order.x <= tick)
            supply -= order.y;
    }
    return demand < supply ? demand : supply;
}

// Of equal amounts, the lowest price is best.
__host__ __device__ inline unsigned auction_offer(int cleared, int tick)
{
    return (unsigned) cleared * AUCTION_TICKS + AUCTION_TICKS - 1 - tick;
}

__device__ inline void auction_choose(unsigned offer, unsigned *best)
{
    offer = __reduce_max_sync(~0u, offer);
    if (threadIdx.x % 32 == 0)
        atomicMax(best, offer);
}

__global__ void auction_clear_sums_kernel(const int2 *orders, unsigned *best)
{
    const int tick = threadIdx.x;
    const int cleared = auction_cleared(orders + blockIdx.x * AUCTION_ORDERS, tick);
    auction_choose(auction_offer(cleared, tick), &best[blockIdx.x]);
}

// The sum of the values at and before each thread's.
__device__ inline int auction_running(int value, int *sums)
{
    sums[threadIdx.x] = value;
    __syncthreads();
    for (int d = 1; d < AUCTION_TICKS; d *= 2) {
        const int before = (int) threadIdx.x >= d ? sums[threadIdx.x - d] : 0;
        __syncthreads();
        sums[threadIdx.x] += before;
        __syncthreads();
    }
    return sums[threadIdx.x];
}

// Demand is in order of falling prices.
__global__ void auction_clear_bins_kernel(const int2 *orders, unsigned *best)
{
    __shared__ int demand[AUCTION_TICKS], supply[AUCTION_TICKS];
    const int tick = threadIdx.x;
    demand[tick] = supply[tick] = 0;
    __syncthreads();
    for (int k = tick; k < AUCTION_ORDERS; k += AUCTION_TICKS) {
        const int2 order = orders[blockIdx.x * AUCTION_ORDERS + k];
        if (order.y > 0)
            atomicAdd(&demand[AUCTION_TICKS - 1 - order.x], order.y);
        else
            atomicAdd(&supply[order.x], -order.y);
    }
    __syncthreads();
    auction_running(demand[tick], demand);
    const int sold = auction_running(supply[tick], supply);
    const int cleared = min(sold, demand[AUCTION_TICKS - 1 - tick]);
    auction_choose(auction_offer(cleared, tick), &best[blockIdx.x]);
}

// Those who buy offer somewhat less than those who sell ask for.
static std::vector<int2> auction_orders()
{
    const size_t n = (size_t) AUCTION_BOOKS * AUCTION_ORDERS;
    const std::vector<int> ticks = integers(n, 88, 19030), amounts = integers(n, 500, 19031);
    std::vector<int2> orders;
    for (size_t i = 0; i < n; i++) {
        const bool sale = mix((uint32_t) i + 19032) % 2;
        orders.push_back(
            make_int2(ticks[i] + (sale ? 40 : 0), sale ? -1 - amounts[i] : 1 + amounts[i]));
    }
    return orders;
}

static void auction_clear(Run &run, bool bins)
{
    const std::vector<int2> orders = auction_orders();
    const int2 *from = run.upload(orders);
    unsigned *to = run.zeros<unsigned>(AUCTION_BOOKS);
    run.measure(
        [=] {
            if (bins)
                auction_clear_bins_kernel<<<AUCTION_BOOKS, AUCTION_TICKS>>>(from, to);
            else
                auction_clear_sums_kernel<<<AUCTION_BOOKS, AUCTION_TICKS>>>(from, to);
        },
        [=] { CHECK(cudaMemset(to, 0, AUCTION_BOOKS * sizeof(unsigned))); });
    run.expect_all(
        run.output(to, AUCTION_BOOKS),
        [&](size_t b) {
            unsigned best = 0;
            for (int tick = 0; tick < AUCTION_TICKS; tick++)
                best = std::max(
                    best, auction_offer(auction_cleared(&orders[b * AUCTION_ORDERS], tick), tick));
            return best;
        },
        0);
}

static void auction_clear_sums(Run &run)
{
    auction_clear(run, false);
}

static void auction_clear_bins(Run &run)
{
    auction_clear(run, true);
}

// ---- Bidders without an object bid for the one that they want most, in rounds: a thread per
// bidder, or a warp ----

enum { AUCTION_BIDDERS = 768, AUCTION_ROUNDS = 12, AUCTION_STEP = 20, AUCTION_LEAST = -1000000 };

struct AuctionState {
    const int *values;            // per bidder and object
    int *prices, *owners, *holds; // owners: per object, or -1; holds: per bidder, or -1
    unsigned long long *bids;     // per object: the highest bid of a round, and its bidder
};

struct AuctionWish {
    int object, gain, second;
};

__host__ __device__ inline void auction_want(AuctionWish *w, int object, int gain, int second)
{
    if (gain > w->gain || (gain == w->gain && object < w->object)) {
        w->second = w->gain > second ? w->gain : second;
        w->object = object;
        w->gain = gain;
    } else if (gain > w->second) {
        w->second = gain;
    }
}

// A bid, and the bidder: of equal bids that of the first bidder counts.
__host__ __device__ inline unsigned long long auction_bid(const AuctionWish &w, int price,
                                                          int bidder)
{
    const int bid = price + w.gain - w.second + AUCTION_STEP;
    return (unsigned long long) bid << 32 | (unsigned) (AUCTION_BIDDERS - 1 - bidder);
}

__host__ __device__ inline AuctionWish auction_wish(const AuctionState &s, int bidder, int first,
                                                    int step)
{
    AuctionWish w = { AUCTION_BIDDERS, AUCTION_LEAST, AUCTION_LEAST };
    for (int object = first; object < AUCTION_BIDDERS; object += step)
        auction_want(&w, object, s.values[bidder * AUCTION_BIDDERS + object] - s.prices[object],
                     AUCTION_LEAST);
    return w;
}

__global__ void auction_bid_thread_kernel(AuctionState s)
{
    const int bidder = blockIdx.x * blockDim.x + threadIdx.x;
    if (s.holds[bidder] >= 0)
        return;
    const AuctionWish w = auction_wish(s, bidder, 0, 1);
    atomicMax(&s.bids[w.object], auction_bid(w, s.prices[w.object], bidder));
}

__global__ void auction_bid_warp_kernel(AuctionState s)
{
    const int bidder = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (s.holds[bidder] >= 0)
        return;
    AuctionWish w = auction_wish(s, bidder, lane, 32);
    for (int d = 16; d; d /= 2) {
        const int object = __shfl_xor_sync(~0u, w.object, d);
        const int gain = __shfl_xor_sync(~0u, w.gain, d);
        const int second = __shfl_xor_sync(~0u, w.second, d);
        auction_want(&w, object, gain, second);
    }
    if (lane == 0)
        atomicMax(&s.bids[w.object], auction_bid(w, s.prices[w.object], bidder));
}

// The highest bidder takes the object from its owner.
__host__ __device__ inline void auction_settle(const AuctionState &s, int object)
{
    if (!s.bids[object])
        return;
    const int winner = AUCTION_BIDDERS - 1 - (int) (s.bids[object] & 0xffffffff);
    if (s.owners[object] >= 0)
        s.holds[s.owners[object]] = -1;
    s.owners[object] = winner;
    s.holds[winner] = object;
    s.prices[object] = (int) (s.bids[object] >> 32);
    s.bids[object] = 0;
}

__global__ void auction_settle_kernel(AuctionState s)
{
    auction_settle(s, blockIdx.x * blockDim.x + threadIdx.x);
}

static void auction_round(const AuctionState &s)
{
    for (int bidder = 0; bidder < AUCTION_BIDDERS; bidder++) {
        if (s.holds[bidder] >= 0)
            continue;
        const AuctionWish w = auction_wish(s, bidder, 0, 1);
        unsigned long long &bid = s.bids[w.object];
        bid = std::max(bid, auction_bid(w, s.prices[w.object], bidder));
    }
    for (int object = 0; object < AUCTION_BIDDERS; object++)
        auction_settle(s, object);
}

static void auction_bids(Run &run, bool warps)
{
    const int n = AUCTION_BIDDERS;
    std::vector<int> values = integers((size_t) n * n, 3000, 19033);
    for (int i = 0; i < n * n; i++)
        values[i] += 4 * (i % n); // the last objects are better
    const AuctionState s = { run.upload(values), run.zeros<int>(n), run.zeros<int>(n),
                             run.zeros<int>(n), run.zeros<unsigned long long>(n) };
    run.measure(
        [=] {
            for (int round = 0; round < AUCTION_ROUNDS; round++) {
                if (warps)
                    auction_bid_warp_kernel<<<n / 8, 256>>>(s);
                else
                    auction_bid_thread_kernel<<<n / 64, 64>>>(s);
                auction_settle_kernel<<<n / 128, 128>>>(s);
            }
        },
        [=] {
            CHECK(cudaMemset(s.prices, 0, n * sizeof(int)));
            CHECK(cudaMemset(s.owners, -1, n * sizeof(int)));
            CHECK(cudaMemset(s.holds, -1, n * sizeof(int)));
        });
    std::vector<int> prices(n), owners(n, -1), holds(n, -1);
    std::vector<unsigned long long> bids(n);
    const AuctionState host = { values.data(), prices.data(), owners.data(), holds.data(),
                                bids.data() };
    for (int round = 0; round < AUCTION_ROUNDS; round++)
        auction_round(host);
    run.expect_all(
        run.output(s.prices, n), [&](size_t i) { return prices[i]; }, 0);
    run.expect_all(
        run.output(s.holds, n), [&](size_t i) { return holds[i]; }, 0);
}

static void auction_bid_thread(Run &run)
{
    auction_bids(run, false);
}

static void auction_bid_warp(Run &run)
{
    auction_bids(run, true);
}

// ---- How far bids are below values of known distribution, by integrals in double precision: a
// power, or a product ----

enum { AUCTION_VALUES = 20000, AUCTION_PANELS = 32 };

// The probability that all other values are below.
template <bool POWER> __host__ __device__ inline double auction_chance(double ratio, int others)
{
    if (POWER)
        return pow(ratio, (double) others);
    double chance = ratio;
    for (int k = 1; k < others; k++)
        chance *= ratio;
    return chance;
}

// The bid by Simpson's rule. Values are distributed exponentially.
template <bool POWER> __host__ __device__ inline double auction_shaded(double value, int others)
{
    const double below = 1 / (1 - exp(-value)), step = value / AUCTION_PANELS;
    double sum = 1; // the chance is 0 at 0, and 1 at the value
    for (int k = 1; k < AUCTION_PANELS; k++) {
        const double ratio = (1 - exp(-k * step)) * below;
        sum += (k % 2 ? 4 : 2) * auction_chance<POWER>(ratio, others);
    }
    return value - sum * step / 3;
}

template <bool POWER>
__global__ void auction_shade_kernel(const float *values, const int *others, double *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < AUCTION_VALUES)
        out[i] = auction_shaded<POWER>(values[i], others[i]);
}

static void auction_shade(Run &run, void (*kernel)(const float *, const int *, double *))
{
    const std::vector<float> values = floats(AUCTION_VALUES, 19034, 0.05f, 4);
    std::vector<int> others = integers(AUCTION_VALUES, 12, 19035);
    for (int &n : others)
        n++;
    const float *dv = run.upload(values);
    const int *dn = run.upload(others);
    double *to = run.zeros<double>(AUCTION_VALUES);
    run.measure([=] { kernel<<<blocks_for(AUCTION_VALUES, 96), 96>>>(dv, dn, to); });
    run.expect_all(
        run.output(to, AUCTION_VALUES),
        [&](size_t i) { return auction_shaded<true>(values[i], others[i]); }, 1e-11, 3);
}

static void auction_shade_power(Run &run)
{
    auction_shade(run, auction_shade_kernel<true>);
}

static void auction_shade_product(Run &run)
{
    auction_shade(run, auction_shade_kernel<false>);
}

// ---- Bids by proxy, in order of time: auctions as they come, or those with many bids first ----

enum { AUCTION_SALES = 15000 };

struct AuctionSale {
    int price, leader, accepted, changes;
};

// `share`: an increment is this part of the price.
__host__ __device__ inline AuctionSale auction_sale(const int *bids, int begin, int end, int share)
{
    AuctionSale sale = { 100, -1, 0, 0 };
    int highest = 0;
    for (int k = begin; k < end; k++) {
        const int bid = bids[k];
        if (bid < sale.price + sale.price / share + 50)
            continue;
        sale.accepted++;
        const int less = bid < highest ? bid : highest, more = bid < highest ? highest : bid;
        const int raised = less + less / share + 50;
        if (less > 0)
            sale.price = raised < more ? raised : more;
        if (bid > highest) {
            highest = bid;
            sale.leader = k - begin;
            sale.changes++;
        }
    }
    return sale;
}

__global__ void auction_proxy_kernel(const int *bids, const int *first, const int *shares,
                                     const int *order, AuctionSale *out)
{
    const int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= AUCTION_SALES)
        return;
    const int i = order[at];
    out[i] = auction_sale(bids, first[i], first[i + 1], shares[i]);
}

// Many auctions have few bids, and some have many.
static std::vector<int> auction_lengths()
{
    std::vector<int> lengths = integers(AUCTION_SALES, 1 << 16, 19036);
    for (int &length : lengths)
        length = 3 + length % 48 + (length / 64 % 19 ? 0 : 100 + length / 1024 * 4);
    return lengths;
}

static void auction_proxy(Run &run, bool sorted)
{
    const std::vector<int> lengths = auction_lengths();
    std::vector<int> first(1, 0), order, shares = integers(AUCTION_SALES, 30, 19037), bids;
    for (int i = 0; i < AUCTION_SALES; i++) {
        first.push_back(first[i] + lengths[i]);
        order.push_back(i);
        shares[i] += 10;
        for (int k = 0; k < lengths[i]; k++)
            bids.push_back(100 + k * 40 + (int) (mix(first[i] + k + 19038) % 4000));
    }
    if (sorted)
        std::stable_sort(order.begin(), order.end(),
                         [&](int a, int b) { return lengths[a] > lengths[b]; });
    const int *db = run.upload(bids), *df = run.upload(first), *ds = run.upload(shares);
    const int *dorder = run.upload(order);
    AuctionSale *to = run.zeros<AuctionSale>(AUCTION_SALES);
    run.measure([=] {
        auction_proxy_kernel<<<blocks_for(AUCTION_SALES, 128), 128>>>(db, df, ds, dorder, to);
    });
    const std::vector<AuctionSale> got = run.output(to, AUCTION_SALES);
    for (int i = 0; i < AUCTION_SALES; i++) {
        const AuctionSale wanted = auction_sale(bids.data(), first[i], first[i + 1], shares[i]);
        run.expect(got[i].price, wanted.price, 0);
        run.expect(got[i].leader, wanted.leader, 0);
        run.expect(got[i].accepted, wanted.accepted, 0);
        run.expect(got[i].changes, wanted.changes, 0);
    }
}

static void auction_proxy_mixed(Run &run)
{
    auction_proxy(run, false);
}

static void auction_proxy_sorted(Run &run)
{
    auction_proxy(run, true);
}

#endif
