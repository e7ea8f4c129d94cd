/* cubs.cu - cub's algorithms for the device, a block and a warp.
 *
 * schedules: forward reverse random:7
 * expect: ok
 */
#include "digest.h"

#include <algorithm>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <vector>

enum { N = 20011, THREADS = 128, ITEMS = 4 };

/* ---- Block algorithms ---- */

static __global__ void of_block(const int *x, int *y)
{
    typedef cub::BlockReduce<int, THREADS> Reduce;
    typedef cub::BlockScan<int, THREADS> Scan;
    typedef cub::BlockRadixSort<int, THREADS, ITEMS> Sort;
    typedef cub::WarpReduce<int> WarpReduce;
    __shared__ union {
        Reduce::TempStorage reduce;
        Scan::TempStorage scan;
        Sort::TempStorage sort;
        WarpReduce::TempStorage warp[THREADS / 32];
    } shared;
    int t = threadIdx.x, items[ITEMS], sum;

    for (int i = 0; i < ITEMS; i++)
        items[i] = x[t * ITEMS + i];
    sum = Reduce(shared.reduce).Sum(items[0]);
    if (!t)
        y[0] = sum;
    __syncthreads();
    Scan(shared.scan).ExclusiveSum(items[1], sum);
    y[1 + t] = sum;
    __syncthreads();
    sum = WarpReduce(shared.warp[t / 32]).Sum(items[2]);
    if (t % 32 == 0)
        y[1 + THREADS + t / 32] = sum;
    __syncthreads();
    Sort(shared.sort).Sort(items);
    for (int i = 0; i < ITEMS; i++)
        y[1 + THREADS + THREADS / 32 + t * ITEMS + i] = items[i];
}

static void block(Array<int> &x)
{
    Array<int> y(1 + THREADS + THREADS / 32 + THREADS * ITEMS);
    std::vector<int> sorted(x.host, x.host + THREADS * ITEMS);
    int sum = 0, warps[THREADS / 32] = {};

    of_block<<<1, THREADS>>>(x.device, y.device);
    y.down();
    for (int t = 0, before = 0; t < THREADS; before += x[t * ITEMS + 1], t++) {
        sum += x[t * ITEMS];
        CHECK(y[1 + t] == before);
        warps[t / 32] += x[t * ITEMS + 2];
    }
    std::sort(sorted.begin(), sorted.end());
    CHECK(y[0] == sum && !memcmp(&y[1 + THREADS], warps, sizeof warps));
    CHECK(!memcmp(&y[1 + THREADS + THREADS / 32], sorted.data(), sorted.size() * sizeof(int)));
    digest("cub_block", y);
}

/* ---- Device algorithms: the first call returns the size of the scratch memory ---- */

#define DEVICE(call)                                                                               \
    do {                                                                                           \
        void *storage = NULL;                                                                      \
        size_t bytes = 0;                                                                          \
        OK(cub::call);                                                                             \
        OK(cudaMalloc(&storage, bytes));                                                           \
        OK(cub::call);                                                                             \
        OK(cudaFree(storage));                                                                     \
    } while (0)

static void device(Array<int> &x)
{
    Array<int> y(N), sum(1);
    std::vector<int> sorted(x.host, x.host + N);
    int total = 0;

    DEVICE(DeviceReduce::Sum(storage, bytes, x.device, sum.device, (int) N));
    DEVICE(DeviceScan::ExclusiveSum(storage, bytes, x.device, y.device, (int) N));
    sum.down();
    y.down();
    for (int i = 0; i < N; i++) {
        CHECK(y[i] == total);
        total += x[i];
    }
    CHECK(sum[0] == total);
    digest("cub_scan", y);
    DEVICE(DeviceRadixSort::SortKeys(storage, bytes, x.device, y.device, (int) N));
    y.down();
    std::sort(sorted.begin(), sorted.end());
    CHECK(!memcmp(sorted.data(), y.host, N * sizeof(int)));
    digest("cub_sort", y);
}

int main()
{
    Array<int> x(N);
    Random random(80);

    for (int i = 0; i < N; i++)
        x[i] = (int) random.below(200001) - 100000;
    x.up();
    block(x);
    device(x);
    puts("ok");
}
