// sorting.cuh - reductions, scans and sorts, written by hand and by CUB.
#ifndef BLIND_SORTING_CUH
#define BLIND_SORTING_CUH

#include "blind.cuh"

#include <cub/block/block_radix_sort.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>

#include <numeric>

// ---- Reductions: one sum per block ----

__global__ void sum_divergent_kernel(const int *in, int *out)
{
    __shared__ int data[256];
    unsigned t = threadIdx.x;
    data[t] = in[blockIdx.x * 256 + t];
    __syncthreads(); // all values are written
    for (unsigned s = 1; s < 256; s *= 2) {
        if (t % (2 * s) == 0)
            data[t] += data[t + s];
        __syncthreads(); // this round's sums are written
    }
    if (t == 0)
        out[blockIdx.x] = data[0];
}

__global__ void sum_sequential_kernel(const int *in, int *out)
{
    __shared__ int data[256];
    unsigned t = threadIdx.x;
    data[t] = in[blockIdx.x * 256 + t];
    __syncthreads(); // all values are written
    for (unsigned s = 128; s > 0; s >>= 1) {
        if (t < s)
            data[t] += data[t + s];
        __syncthreads(); // this round's sums are written
    }
    if (t == 0)
        out[blockIdx.x] = data[0];
}

__global__ void sum_shuffle_kernel(const int *in, int *out)
{
    __shared__ int warps[8];
    int v = in[blockIdx.x * 256 + threadIdx.x];
    for (int d = 16; d > 0; d /= 2)
        v += __shfl_down_sync(0xffffffff, v, d);
    if (threadIdx.x % 32 == 0)
        warps[threadIdx.x / 32] = v;
    __syncthreads(); // the sums of the warps are written
    if (threadIdx.x < 8) {
        v = warps[threadIdx.x];
        for (int d = 4; d > 0; d /= 2)
            v += __shfl_down_sync(0xff, v, d, 8);
        if (threadIdx.x == 0)
            out[blockIdx.x] = v;
    }
}

template <class Launch> static void block_sums(Run &run, Launch launch)
{
    const int n = 4 << 20, blocks = n / 256;
    const std::vector<int> in = integers(n, 100, 61);
    int *from = run.upload(in), *out = run.zeros<int>(blocks);
    run.measure([=] { launch(from, out, blocks); });
    run.expect_all(
        run.output(out, blocks),
        [&](size_t b) { return std::accumulate(&in[b * 256], &in[b * 256] + 256, 0); }, 0);
}

static void sum_divergent(Run &run)
{
    block_sums(
        run, [](int *in, int *out, int blocks) { sum_divergent_kernel<<<blocks, 256>>>(in, out); });
}

static void sum_sequential(Run &run)
{
    block_sums(run, [](int *in, int *out, int blocks) {
        sum_sequential_kernel<<<blocks, 256>>>(in, out);
    });
}

static void sum_shuffle(Run &run)
{
    block_sums(run,
               [](int *in, int *out, int blocks) { sum_shuffle_kernel<<<blocks, 256>>>(in, out); });
}

// ---- Inclusive scans of each block's values ----

__global__ void scan_shared_kernel(const int *in, int *out)
{
    __shared__ int a[2][512];
    int t = threadIdx.x, i = blockIdx.x * 512 + t, now = 0;
    a[0][t] = in[i];
    __syncthreads(); // all values are written
    for (int d = 1; d < 512; d *= 2) {
        a[1 - now][t] = t >= d ? a[now][t] + a[now][t - d] : a[now][t];
        now = 1 - now;
        __syncthreads(); // this round's sums are written
    }
    out[i] = a[now][t];
}

__global__ void scan_warp_kernel(const int *in, int *out)
{
    __shared__ int warps[16];
    int t = threadIdx.x, i = blockIdx.x * 512 + t, lane = t & 31, v = in[i];
    for (int d = 1; d < 32; d *= 2) {
        int other = __shfl_up_sync(0xffffffff, v, d);
        if (lane >= d)
            v += other;
    }
    if (lane == 31)
        warps[t / 32] = v;
    __syncthreads(); // the sums of the warps are written
    if (t < 16) {
        int w = warps[t];
        for (int d = 1; d < 16; d *= 2) {
            int other = __shfl_up_sync(0xffff, w, d);
            if (t >= d)
                w += other;
        }
        warps[t] = w;
    }
    __syncthreads(); // the sums are scanned
    out[i] = v + (t >= 32 ? warps[t / 32 - 1] : 0);
}

template <class Launch> static void block_scans(Run &run, Launch launch)
{
    const int n = 2 << 20;
    const std::vector<int> in = integers(n, 100, 62);
    int *from = run.upload(in), *out = run.zeros<int>(n), sum = 0;
    run.measure([=] { launch(from, out, n / 512); });
    const std::vector<int> got = run.output(out, n);
    for (int i = 0; i < n; i++) {
        sum = (i % 512 ? sum : 0) + in[i];
        run.expect(got[i], sum, 0);
    }
}

static void scan_shared(Run &run)
{
    block_scans(
        run, [](int *in, int *out, int blocks) { scan_shared_kernel<<<blocks, 512>>>(in, out); });
}

static void scan_warp(Run &run)
{
    block_scans(run,
                [](int *in, int *out, int blocks) { scan_warp_kernel<<<blocks, 512>>>(in, out); });
}

// ---- Bitonic sort: of a block in shared memory, and one step in global memory ----

__global__ void bitonic_shared_kernel(int *data)
{
    __shared__ int s[512];
    int t = threadIdx.x;
    s[t] = data[blockIdx.x * 512 + t];
    s[t + 256] = data[blockIdx.x * 512 + t + 256];
    for (int size = 2; size <= 512; size *= 2)
        for (int stride = size / 2; stride > 0; stride /= 2) {
            __syncthreads(); // the previous step is complete
            int low = 2 * t - (t & (stride - 1)), high = low + stride;
            bool up = (low & size) == 0;
            if ((s[low] > s[high]) == up) {
                int swap = s[low];
                s[low] = s[high];
                s[high] = swap;
            }
        }
    __syncthreads(); // the last step is complete
    data[blockIdx.x * 512 + t] = s[t];
    data[blockIdx.x * 512 + t + 256] = s[t + 256];
}

__global__ void bitonic_step_kernel(int *data, int stride, int size)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, other = i ^ stride;
    if (other <= i)
        return;
    int a = data[i], b = data[other];
    if ((i & size) == 0 ? a > b : a < b) {
        data[i] = b;
        data[other] = a;
    }
}

template <class Launch>
static std::vector<int> sort_in_place(Run &run, const std::vector<int> &in, Launch launch)
{
    int *start = run.upload(in), *data = run.zeros<int>(in.size());
    const size_t bytes = in.size() * sizeof(int);
    run.measure([=] { launch(data); },
                [=] { CHECK(cudaMemcpy(data, start, bytes, cudaMemcpyDeviceToDevice)); });
    return run.output(data, in.size());
}

static void bitonic_shared(Run &run)
{
    const int blocks = 512;
    std::vector<int> in = integers(blocks * 512, 1 << 30, 63);
    const std::vector<int> got =
        sort_in_place(run, in, [=](int *data) { bitonic_shared_kernel<<<blocks, 256>>>(data); });
    for (int b = 0; b < blocks; b++)
        std::sort(&in[b * 512], &in[b * 512] + 512);
    run.expect_all(
        got, [&](size_t i) { return in[i]; }, 0);
}

static void bitonic_step(Run &run)
{
    const int n = 4 << 20, stride = 4096, size = 1 << 16;
    const std::vector<int> in = integers(n, 1 << 30, 64);
    const std::vector<int> got = sort_in_place(
        run, in, [=](int *data) { bitonic_step_kernel<<<n / 256, 256>>>(data, stride, size); });
    run.expect_all(
        got,
        [&](size_t i) {
            const bool least = ((i & size) == 0) == ((i & stride) == 0);
            return least ? std::min(in[i], in[i ^ stride]) : std::max(in[i], in[i ^ stride]);
        },
        0);
}

// ---- One pass of a radix sort: digits of 4 bits, counted per block; then values go to their
// places ----

__global__ void radix_count_kernel(const unsigned *in, int *counts, int shift)
{
    __shared__ int bins[16];
    if (threadIdx.x < 16)
        bins[threadIdx.x] = 0;
    __syncthreads(); // the bins are cleared
    atomicAdd(&bins[in[blockIdx.x * 256 + threadIdx.x] >> shift & 15], 1);
    __syncthreads(); // the bins are complete
    if (threadIdx.x < 16)
        counts[threadIdx.x * gridDim.x + blockIdx.x] = bins[threadIdx.x];
}

__global__ void radix_scatter_kernel(const unsigned *in, const int *first, unsigned *out, int shift)
{
    __shared__ int ahead[8][16];
    unsigned value = in[blockIdx.x * 256 + threadIdx.x], digit = value >> shift & 15, same = 0;
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (threadIdx.x < 128)
        ahead[threadIdx.x / 16][threadIdx.x % 16] = 0;
    __syncthreads(); // the counts are cleared
    for (int d = 0; d < 16; d++) {
        unsigned vote = __ballot_sync(~0u, digit == d);
        if (digit == d)
            same = vote;
    }
    int rank = __popc(same & ((1u << lane) - 1));
    if (rank == 0)
        ahead[warp][digit] = __popc(same);
    __syncthreads(); // the counts of the warps are written
    for (int w = 0; w < warp; w++)
        rank += ahead[w][digit];
    out[first[digit * gridDim.x + blockIdx.x] + rank] = value;
}

enum { RADIX_N = 1 << 20, RADIX_BLOCKS = RADIX_N / 256, SHIFT = 8 };

static std::vector<int> radix_counts(const std::vector<uint32_t> &in)
{
    std::vector<int> counts(16 * RADIX_BLOCKS);
    for (int i = 0; i < RADIX_N; i++)
        counts[(in[i] >> SHIFT & 15) * RADIX_BLOCKS + i / 256]++;
    return counts;
}

static void radix_count(Run &run)
{
    const std::vector<uint32_t> in = words(RADIX_N, 65);
    const std::vector<int> wanted = radix_counts(in);
    uint32_t *from = run.upload(in);
    int *counts = run.zeros<int>(wanted.size());
    run.measure([=] { radix_count_kernel<<<RADIX_BLOCKS, 256>>>(from, counts, SHIFT); });
    run.expect_all(
        run.output(counts, wanted.size()), [&](size_t i) { return wanted[i]; }, 0);
}

static void radix_scatter(Run &run)
{
    std::vector<uint32_t> in = words(RADIX_N, 65);
    std::vector<int> counts = radix_counts(in), first(counts.size());
    std::partial_sum(counts.begin(), counts.end() - 1, first.begin() + 1);
    uint32_t *from = run.upload(in), *out = run.zeros<uint32_t>(RADIX_N);
    int *places = run.upload(first);
    run.measure([=] { radix_scatter_kernel<<<RADIX_BLOCKS, 256>>>(from, places, out, SHIFT); });
    std::stable_sort(in.begin(), in.end(),
                     [](uint32_t a, uint32_t b) { return (a >> SHIFT & 15) < (b >> SHIFT & 15); });
    run.expect_all(
        run.output(out, RADIX_N), [&](size_t i) { return in[i]; }, 0);
}

// ---- CUB ----

// Calls `call(room, bytes)` as CUB requires: first for the size of its scratch memory.
template <class Call> static void with_cub(Run &run, Call call)
{
    size_t bytes = 0;
    CHECK(call(nullptr, bytes));
    char *room = run.zeros<char>(bytes + 1);
    run.measure([=] {
        size_t size = bytes;
        CHECK(call(room, size));
    });
}

static void cub_reduce(Run &run)
{
    const int n = 4 << 20;
    const std::vector<int> in = integers(n, 100, 66);
    int *from = run.upload(in), *out = run.zeros<int>(1);
    with_cub(run, [=](void *room, size_t &bytes) {
        return cub::DeviceReduce::Sum(room, bytes, from, out, n);
    });
    run.expect(run.output(out, 1)[0], std::accumulate(in.begin(), in.end(), 0), 0);
}

static void cub_scan(Run &run)
{
    const int n = 2 << 20;
    const std::vector<int> in = integers(n, 100, 67);
    int *from = run.upload(in), *out = run.zeros<int>(n);
    with_cub(run, [=](void *room, size_t &bytes) {
        return cub::DeviceScan::InclusiveSum(room, bytes, from, out, n);
    });
    std::vector<int> wanted(n);
    std::partial_sum(in.begin(), in.end(), wanted.begin());
    run.expect_all(
        run.output(out, n), [&](size_t i) { return wanted[i]; }, 0);
}

static void cub_radix_sort(Run &run)
{
    const int n = 1 << 19;
    std::vector<uint32_t> in = words(n, 68);
    uint32_t *from = run.upload(in), *out = run.zeros<uint32_t>(n);
    with_cub(run, [=](void *room, size_t &bytes) {
        return cub::DeviceRadixSort::SortKeys(room, bytes, from, out, n);
    });
    std::sort(in.begin(), in.end());
    run.expect_all(
        run.output(out, n), [&](size_t i) { return in[i]; }, 0);
}

__global__ void block_sort_kernel(const int *in, int *out)
{
    typedef cub::BlockRadixSort<int, 128, 8> Sort;
    __shared__ typename Sort::TempStorage room;
    int items[8], first = blockIdx.x * 1024 + threadIdx.x * 8;
    for (int i = 0; i < 8; i++)
        items[i] = in[first + i];
    Sort(room).Sort(items);
    for (int i = 0; i < 8; i++)
        out[first + i] = items[i];
}

static void cub_block_sort(Run &run)
{
    const int blocks = 264;
    std::vector<int> in = integers(blocks * 1024, 1 << 30, 69);
    int *from = run.upload(in), *out = run.zeros<int>(in.size());
    run.measure([=] { block_sort_kernel<<<blocks, 128>>>(from, out); });
    for (int b = 0; b < blocks; b++)
        std::sort(&in[b * 1024], &in[b * 1024] + 1024);
    run.expect_all(
        run.output(out, in.size()), [&](size_t i) { return in[i]; }, 0);
}

#endif
