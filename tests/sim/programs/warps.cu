/* warps.cu - shuffles, votes, matches, and code that relies on converged lanes.
 *
 * expect: ok
 */
#include "digest.h"

enum { LANES = 32, WARPS = 4, THREADS = WARPS * LANES };

/* ---- Shuffles of all four kinds and of three widths ---- */

static __global__ void shuffles(const int *x, int *y)
{
    int t = threadIdx.x, value = x[t], *out = y + t * 12, n = 0;

    for (int width = 32; width >= 8; width /= 2) {
        out[n++] = __shfl_sync(0xffffffff, value, t * 5, width);
        out[n++] = __shfl_up_sync(0xffffffff, value, 3, width);
        out[n++] = __shfl_down_sync(0xffffffff, value, 6, width);
        out[n++] = __shfl_xor_sync(0xffffffff, value, 5, width);
    }
}

static int shuffled(const int *x, int t, int kind, int width)
{
    int lane = t % LANES, first = lane / width * width, from = lane;

    if (kind == 0)
        from = first + t * 5 % width;
    if (kind == 1 && lane - 3 >= first)
        from = lane - 3;
    if (kind == 2 && lane + 6 < first + width)
        from = lane + 6;
    if (kind == 3)
        from = lane ^ 5;
    return x[t - lane + from];
}

static void all_shuffles(Array<int> &x)
{
    Array<int> y(THREADS * 12);

    shuffles<<<1, THREADS>>>(x.device, y.device);
    y.down();
    for (int t = 0; t < THREADS; t++)
        for (int i = 0; i < 12; i++)
            CHECK(y[t * 12 + i] == shuffled(x.host, t, i % 4, 32 >> i / 4));
    digest("shuffles", y);
}

/* ---- Votes and matches, of all lanes and of some ---- */

static __global__ void votes(const int *x, unsigned *y)
{
    int t = threadIdx.x, value = x[t] % 5, all;
    unsigned *out = y + t * 10, n = 0;

    out[n++] = __ballot_sync(0xffffffff, value == 2);
    out[n++] = __any_sync(0xffffffff, x[t] > 900);
    out[n++] = __all_sync(0xffffffff, x[t] < 900);
    out[n++] = __match_any_sync(0xffffffff, value);
    out[n++] = __match_all_sync(0xffffffff, t / 64, &all);
    out[n++] = all;
    out[n++] = __reduce_add_sync(0xffffffff, x[t]);
    out[n++] = __reduce_max_sync(0xffffffff, x[t]);
    out[n++] = __reduce_xor_sync(0xffffffff, x[t]);
    if (value < 3) {
        unsigned mask = __activemask();
        out[n] = __ballot_sync(mask, value == 1) ^ __popc(mask);
    } else {
        out[n] = 7;
    }
}

static void all_votes(Array<int> &x)
{
    Array<unsigned> y(THREADS * 10);

    votes<<<1, THREADS>>>(x.device, y.device);
    y.down();
    for (int t = 0; t < THREADS; t++) {
        unsigned want[10] = { 0, 0, 1, 0, 0xffffffff, 1, 0, 0, 0, 7 }, some = 0, ones = 0;
        for (int lane = 0; lane < LANES; lane++) {
            int other = x[t / LANES * LANES + lane];
            want[0] |= (unsigned) (other % 5 == 2) << lane;
            want[1] |= other > 900;
            want[2] &= other < 900;
            want[3] |= (unsigned) (other % 5 == x[t] % 5) << lane;
            want[6] += other;
            want[7] = other > (int) want[7] ? other : want[7];
            want[8] ^= other;
            some += other % 5 < 3;
            ones |= (unsigned) (other % 5 == 1) << lane;
        }
        if (x[t] % 5 < 3)
            want[9] = ones ^ some;
        CHECK(!memcmp(want, y.host + t * 10, sizeof want));
    }
    digest("votes", y);
}

/* ---- Partition with even numbers first: positions by ballot, one atomic per warp ---- */

static __global__ void compact(const int *x, int *y, int *count, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % LANES, first = 0;
    bool wanted = i < n && x[i] % 2 == 0;
    unsigned all = __ballot_sync(0xffffffff, wanted);

    if (!lane && all)
        first = atomicAdd(count, __popc(all));
    first = __shfl_sync(0xffffffff, first, 0);
    if (wanted)
        y[first + __popc(all & ((1u << lane) - 1))] = x[i];
}

static void compacted(Array<int> &x)
{
    Array<int> y(THREADS), count(1);
    int evens = 0, sum = 0, want = 0;

    count.clear();
    y.clear();
    compact<<<1, THREADS>>>(x.device, y.device, count.device, 100);
    y.down();
    count.down();
    for (int i = 0; i < 100; i++)
        if (x[i] % 2 == 0)
            evens++, want += x[i];
    for (int i = 0; i < count[0]; i++) {
        CHECK(y[i] % 2 == 0);
        sum += y[i];
    }
    CHECK(count[0] == evens && sum == want);
    digest("compact_count", count);
}

/* ---- Shared memory within a warp, early exits, __syncwarp ---- */

static __global__ void warp_scan(const int *x, int *y, int n)
{
    __shared__ int part[WARPS][LANES];
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % LANES;
    int *mine = part[threadIdx.x / LANES];
    unsigned mask = __ballot_sync(0xffffffff, i < n);

    if (i >= n)
        return;
    mine[lane] = x[i];
    __syncwarp(mask);
    for (int distance = 1; distance < LANES; distance *= 2) {
        int add = lane >= distance ? mine[lane - distance] : 0;
        __syncwarp(mask);
        mine[lane] += add;
        __syncwarp(mask);
    }
    y[i] = mine[lane];
}

static void scanned(Array<int> &x)
{
    Array<int> y(THREADS);
    const int n = 101;

    y.clear();
    warp_scan<<<1, THREADS>>>(x.device, y.device, n);
    y.down();
    for (int i = 0, sum = 0; i < THREADS; i++) {
        sum = (i % LANES ? sum : 0) + x[i];
        CHECK(y[i] == (i < n ? sum : 0));
    }
    digest("warp_scan", y);
}

/* ---- Lanes leave a loop one by one; the remaining lanes still work together ---- */

static __global__ void leaving(const int *x, int *y)
{
    int t = threadIdx.x, left = x[t] % 7, sum = 0;

    for (unsigned mask = __ballot_sync(0xffffffff, left > 0); left > 0;
         mask = __ballot_sync(mask, left > 0)) {
        int leader = __ffs(mask) - 1;
        sum += __shfl_sync(mask, left * 10 + t % LANES, leader) + __popc(mask);
        left--;
    }
    y[t] = sum;
}

static void left(Array<int> &x)
{
    Array<int> y(THREADS);

    leaving<<<1, THREADS>>>(x.device, y.device);
    y.down();
    for (int w = 0; w < WARPS; w++) {
        int want[LANES] = {}, counts[LANES], most = 0;
        for (int i = 0; i < LANES; i++)
            counts[i] = x[w * LANES + i] % 7, most = counts[i] > most ? counts[i] : most;
        for (int round = 0; round < most; round++) {
            int leader = -1, there = 0;
            for (int i = 0; i < LANES; i++)
                if (counts[i] > round)
                    leader = leader < 0 ? i : leader, there++;
            for (int i = 0; i < LANES; i++)
                if (counts[i] > round)
                    want[i] += (counts[leader] - round) * 10 + leader + there;
        }
        CHECK(!memcmp(want, y.host + w * LANES, sizeof want));
    }
    digest("leaving", y);
}

int main()
{
    Array<int> x(THREADS);
    Random random(20);

    for (int i = 0; i < THREADS; i++)
        x[i] = random.below(1000);
    x.up();
    all_shuffles(x);
    all_votes(x);
    compacted(x);
    scanned(x);
    left(x);
    puts("ok");
}
