/* scans.cu - reductions, scans, histograms and one pass of a radix sort.
 *
 * schedules: forward reverse random:7
 * expect: ok
 */
#include "digest.h"

enum { N = 10007, THREADS = 256, BLOCKS = (N + THREADS - 1) / THREADS };

/* ---- Reductions ---- */

static __global__ void sum_tree(const int *x, long long *sums, int n)
{
    __shared__ long long part[THREADS];
    int i = blockIdx.x * THREADS + threadIdx.x;

    part[threadIdx.x] = i < n ? x[i] : 0;
    for (int half = THREADS / 2; half; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half)
            part[threadIdx.x] += part[threadIdx.x + half];
    }
    if (!threadIdx.x)
        sums[blockIdx.x] = part[0];
}

static __global__ void sum_shuffle(const int *x, unsigned long long *sum, int n)
{
    long long mine = 0;

    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        mine += x[i];
    for (int offset = 16; offset; offset /= 2)
        mine += __shfl_down_sync(0xffffffff, mine, offset);
    if (threadIdx.x % 32 == 0)
        atomicAdd(sum, (unsigned long long) mine);
}

/* The last block to arrive adds the partial sums of all blocks. */
static __global__ void sum_last_block(const int *x, volatile long long *parts, unsigned *arrived,
                                      long long *sum, int n)
{
    __shared__ bool is_last;
    __shared__ long long lanes[THREADS / 32];
    long long mine = 0;

    for (int i = blockIdx.x * THREADS + threadIdx.x; i < n; i += gridDim.x * THREADS)
        mine += x[i];
    for (int offset = 16; offset; offset /= 2)
        mine += __shfl_xor_sync(0xffffffff, mine, offset);
    if (threadIdx.x % 32 == 0)
        lanes[threadIdx.x / 32] = mine;
    __syncthreads();
    if (!threadIdx.x) {
        mine = 0;
        for (int w = 0; w < THREADS / 32; w++)
            mine += lanes[w];
        parts[blockIdx.x] = mine;
        __threadfence();
        is_last = atomicInc(arrived, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (is_last && !threadIdx.x) {
        mine = 0;
        for (int b = 0; b < gridDim.x; b++)
            mine += parts[b];
        *sum = mine;
    }
}

static void reductions(Array<int> &x)
{
    Array<long long> sums(BLOCKS), last(1);
    Array<unsigned long long> sum(1);
    Array<unsigned> arrived(1);
    long long want = 0, tree = 0;

    for (int i = 0; i < N; i++)
        want += x[i];
    sum_tree<<<BLOCKS, THREADS>>>(x.device, sums.device, N);
    sums.down();
    for (int b = 0; b < BLOCKS; b++)
        tree += sums[b];
    digest("sum_tree", sums);
    sum.clear();
    sum_shuffle<<<7, THREADS>>>(x.device, sum.device, N);
    sum.down();
    arrived.clear();
    sum_last_block<<<BLOCKS / 2, THREADS>>>(x.device, sums.device, arrived.device, last.device, N);
    last.down();
    CHECK(tree == want && (long long) sum[0] == want && last[0] == want);
}

/* ---- Scans ---- */

/* Hillis and Steele: two buffers. */
static __global__ void scan_steps(const int *x, int *y, int *totals, int n)
{
    __shared__ int buffers[2][THREADS];
    int i = blockIdx.x * THREADS + threadIdx.x, from = 0;

    buffers[0][threadIdx.x] = i < n ? x[i] : 0;
    for (int distance = 1; distance < THREADS; distance *= 2, from ^= 1) {
        __syncthreads();
        int value = buffers[from][threadIdx.x];
        if (threadIdx.x >= distance)
            value += buffers[from][threadIdx.x - distance];
        buffers[from ^ 1][threadIdx.x] = value;
    }
    __syncthreads();
    if (i < n)
        y[i] = buffers[from][threadIdx.x];
    if (threadIdx.x == THREADS - 1)
        totals[blockIdx.x] = buffers[from][threadIdx.x];
}

/* Blelloch: up and down a tree, exclusive; one block. */
static __global__ void scan_tree(int *x, int n)
{
    extern __shared__ int tree[];
    int offset = 1, size = 2 * blockDim.x;

    for (int i = threadIdx.x; i < size; i += blockDim.x)
        tree[i] = i < n ? x[i] : 0;
    for (int d = size / 2; d; d /= 2, offset *= 2) {
        __syncthreads();
        if (threadIdx.x < d)
            tree[offset * (2 * threadIdx.x + 2) - 1] += tree[offset * (2 * threadIdx.x + 1) - 1];
    }
    if (!threadIdx.x)
        tree[size - 1] = 0;
    for (int d = 1; d < size; d *= 2) {
        offset /= 2;
        __syncthreads();
        if (threadIdx.x < d) {
            int a = offset * (2 * threadIdx.x + 1) - 1, b = offset * (2 * threadIdx.x + 2) - 1;
            int low = tree[a];
            tree[a] = tree[b];
            tree[b] += low;
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        x[i] = tree[i];
}

static __global__ void add_totals(int *y, const int *totals, int n)
{
    int i = blockIdx.x * THREADS + threadIdx.x;

    if (i < n)
        y[i] += totals[blockIdx.x];
}

static void scans(Array<int> &x)
{
    Array<int> y(N), totals(BLOCKS);
    int want = 0;

    scan_steps<<<BLOCKS, THREADS>>>(x.device, y.device, totals.device, N);
    scan_tree<<<1, 32, 64 * sizeof(int)>>>(totals.device, BLOCKS);
    add_totals<<<BLOCKS, THREADS>>>(y.device, totals.device, N);
    y.down();
    for (int i = 0; i < N; i++) {
        want += x[i];
        CHECK(y[i] == want);
    }
    digest("scan", y);
}

/* ---- Histograms ---- */

static __global__ void histogram_shared(const int *x, unsigned *bins, int n)
{
    __shared__ unsigned own[64];

    for (int b = threadIdx.x; b < 64; b += blockDim.x)
        own[b] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&own[x[i] & 63], 1);
    __syncthreads();
    for (int b = threadIdx.x; b < 64; b += blockDim.x)
        atomicAdd(&bins[b], own[b]);
}

static __global__ void histogram_global(const int *x, unsigned *bins, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        atomicAdd(&bins[x[i] & 63], 1u);
}

static void histograms(Array<int> &x)
{
    Array<unsigned> a(64), b(64);
    unsigned want[64] = {};

    a.clear();
    b.clear();
    histogram_shared<<<5, 128>>>(x.device, a.device, N);
    histogram_global<<<BLOCKS, THREADS>>>(x.device, b.device, N);
    a.down();
    b.down();
    for (int i = 0; i < N; i++)
        want[x[i] & 63]++;
    CHECK(!memcmp(want, a.host, sizeof want) && !memcmp(want, b.host, sizeof want));
    digest("histogram", a);
}

/* ---- One pass of a stable radix sort, by four bits ---- */

static __global__ void radix_count(const int *x, int *counts, int shift, int n)
{
    __shared__ int own[16];
    int i = blockIdx.x * THREADS + threadIdx.x;

    if (threadIdx.x < 16)
        own[threadIdx.x] = 0;
    __syncthreads();
    if (i < n)
        atomicAdd(&own[x[i] >> shift & 15], 1);
    __syncthreads();
    if (threadIdx.x < 16) /* ordered by digit, then by block: ready to be scanned */
        counts[threadIdx.x * gridDim.x + blockIdx.x] = own[threadIdx.x];
}

static __global__ void radix_place(const int *x, int *y, const int *starts, int shift, int n)
{
    __shared__ int of_warp[THREADS / 32][16];
    int i = blockIdx.x * THREADS + threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int digit = i < n ? x[i] >> shift & 15 : 16;

    if (lane < 16)
        of_warp[warp][lane] = 0;
    __syncwarp();
    unsigned peers = __match_any_sync(0xffffffff, digit);
    int before = __popc(peers & ((1u << lane) - 1));
    if (digit < 16 && !before)
        of_warp[warp][digit] = __popc(peers);
    __syncthreads();
    if (i >= n)
        return;
    for (int w = 0; w < warp; w++)
        before += of_warp[w][digit];
    y[starts[digit * gridDim.x + blockIdx.x] + before] = x[i];
}

static void radix(Array<int> &x)
{
    enum { M = 1000, B = (M + THREADS - 1) / THREADS };
    Array<int> y(M), counts(16 * B);

    radix_count<<<B, THREADS>>>(x.device, counts.device, 4, M);
    scan_tree<<<1, 32, 64 * sizeof(int)>>>(counts.device, 16 * B);
    radix_place<<<B, THREADS>>>(x.device, y.device, counts.device, 4, M);
    y.down();
    int at = 0;
    for (int digit = 0; digit < 16; digit++)
        for (int i = 0; i < M; i++)
            if ((x[i] >> 4 & 15) == digit)
                CHECK(y[at++] == x[i]);
    digest("radix", y);
}

int main()
{
    Array<int> x(N);
    Random random(1);

    for (int i = 0; i < N; i++)
        x[i] = (int) random.below(100000) - 50000;
    x.up();
    reductions(x);
    scans(x);
    histograms(x);
    radix(x);
    puts("ok");
}
