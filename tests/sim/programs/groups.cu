/* groups.cu - cooperative groups, <cuda/atomic>, pipelines.
 *
 * expect: ok
 */
#include "digest.h"

#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda/atomic>

namespace cg = cooperative_groups;

enum { N = 256, COLUMNS = 10 };

/* ---- Tiles and coalesced groups ---- */

static __global__ void tiles(const int *x, int *y)
{
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
    cg::thread_block_tile<8> eight = cg::tiled_partition<8>(block);
    int i = (int) block.thread_rank(), value = x[i], *out = y + i * COLUMNS;

    out[0] = cg::reduce(eight, value, cg::plus<int>());
    out[1] = cg::reduce(warp, value, cg::greater<int>());
    out[2] = cg::inclusive_scan(warp, value);
    out[3] = cg::exclusive_scan(eight, value);
    out[4] = eight.shfl_xor(value, 3) + warp.shfl_down(value, 2);
    out[5] = (int) warp.match_any(value & 3);
    out[6] = (int) cg::labeled_partition(warp, value % 4).num_threads();
    out[7] = out[8] = 0;
    if (value % 3 == 1) {
        cg::coalesced_group some = cg::coalesced_threads();
        out[7] = (int) (some.num_threads() * 100 + some.thread_rank());
        out[8] = cg::reduce(some, value, cg::plus<int>()) + some.shfl(value, 0);
    }
    warp.sync();
    out[9] = (int) eight.ballot(value & 1);
}

static void tile_host(const int *x, int i, int *want)
{
    int warp = i / 32 * 32, eight = i / 8 * 8, leader = -1;

    memset(want, 0, COLUMNS * sizeof *want);
    want[1] = x[warp];
    for (int k = 0; k < 32; k++) {
        int value = x[warp + k];
        bool is_in_eight = k / 8 == i % 32 / 8, is_before = warp + k < i;
        want[0] += is_in_eight ? value : 0;
        want[1] = value > want[1] ? value : want[1];
        want[2] += is_before || warp + k == i ? value : 0;
        want[3] += is_in_eight && is_before ? value : 0;
        want[5] |= (int) ((unsigned) ((value & 3) == (x[i] & 3)) << k);
        want[6] += value % 4 == x[i] % 4;
        if (value % 3 == 1 && x[i] % 3 == 1) {
            leader = leader < 0 ? value : leader;
            want[7] += 100 + is_before;
            want[8] += value;
        }
        want[9] |= is_in_eight ? (value & 1) << k % 8 : 0;
    }
    want[4] = x[eight + (i % 8 ^ 3)] + (i % 32 < 30 ? x[i + 2] : x[i]);
    want[8] += leader < 0 ? 0 : leader;
}

static void all_tiles(Array<int> &x)
{
    Array<int> y(N * COLUMNS);

    tiles<<<1, N>>>(x.device, y.device);
    y.down();
    for (int i = 0; i < N; i++) {
        int want[COLUMNS];
        tile_host(x.host, i, want);
        CHECK(!memcmp(want, y.host + i * COLUMNS, sizeof want));
    }
    digest("tiles", y);
}

/* ---- A block copies together and waits for it ---- */

static __global__ void copied(const int *x, int *y)
{
    __shared__ int part[N];
    cg::thread_block block = cg::this_thread_block();

    cg::memcpy_async(block, part, x, sizeof part);
    cg::wait(block);
    y[threadIdx.x] = part[N - 1 - threadIdx.x];
}

static void copies(Array<int> &x)
{
    Array<int> y(N);

    copied<<<1, N>>>(x.device, y.device);
    y.down();
    for (int i = 0; i < N; i++)
        CHECK(y[i] == x[N - 1 - i]);
    digest("memcpy_async", y);
}

/* ---- Atomics of all kinds and types ---- */

struct Results {
    int sum, largest, product;
    unsigned wrapped, down, all, any, odd;
    unsigned long long wide, least;
    double real;
    float small;
    int ordered;
};

static __global__ void atomics(const int *x, Results *r)
{
    int value = x[threadIdx.x];
    cuda::atomic_ref<int, cuda::thread_scope_device> sum(r->sum), largest(r->largest);
    cuda::atomic_ref<int, cuda::thread_scope_block> product(r->product);
    cuda::atomic_ref<int, cuda::thread_scope_system> ordered(r->ordered);

    sum.fetch_add(value, cuda::memory_order_relaxed);
    largest.fetch_max(value);
    for (int seen = product.load(); !product.compare_exchange_weak(seen, seen * (value | 1));)
        ;
    ordered.fetch_sub(value, cuda::memory_order_acq_rel);
    cuda::atomic_thread_fence(cuda::memory_order_seq_cst, cuda::thread_scope_device);
    atomicInc(&r->wrapped, 99);
    atomicDec(&r->down, 99);
    atomicAnd(&r->all, ~(1u << value % 7));
    atomicOr(&r->any, 1u << value % 29);
    atomicXor(&r->odd, (unsigned) value * 2654435761u);
    atomicAdd(&r->wide, (unsigned long long) value << 30);
    atomicMin(&r->least, (unsigned long long) value * value + 5);
    atomicAdd(&r->real, value * 0.25);
    atomicAdd_block(&r->small, value * 0.5f);
}

static void all_atomics(Array<int> &x)
{
    Array<Results> r(1);
    Results want = {};

    want.product = 1, want.all = ~0u, want.least = ~0ull, want.largest = -1;
    memcpy(r.host, &want, sizeof want);
    r.up();
    atomics<<<1, N>>>(x.device, r.device);
    r.down();
    for (int i = 0; i < N; i++) {
        int value = x[i];
        unsigned long long squared = (unsigned long long) value * value + 5;
        want.sum += value;
        want.ordered -= value;
        want.largest = value > want.largest ? value : want.largest;
        want.product = (int) ((unsigned) want.product * (unsigned) (value | 1));
        want.wrapped = want.wrapped >= 99 ? 0 : want.wrapped + 1;
        want.down = want.down == 0 || want.down > 99 ? 99 : want.down - 1;
        want.all &= ~(1u << value % 7);
        want.any |= 1u << value % 29;
        want.odd ^= (unsigned) value * 2654435761u;
        want.wide += (unsigned long long) value << 30;
        want.least = squared < want.least ? squared : want.least;
        want.real += value * 0.25;
        want.small += value * 0.5f; /* exact: below 2^24 halves */
    }
    CHECK(!memcmp(&want, r.host, offsetof(Results, small)));
    CHECK(want.small == r[0].small && want.ordered == r[0].ordered);
    digest("atomics", r);
}

int main()
{
    Array<int> x(N);
    Random random(60);

    for (int i = 0; i < N; i++)
        x[i] = random.below(1000);
    x.up();
    all_tiles(x);
    copies(x);
    all_atomics(x);
    puts("ok");
}
