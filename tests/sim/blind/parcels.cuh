// parcels.cuh - parcels on a belt: keys into bins, runs of codes, compaction, sums by truck.
#ifndef BLIND_PARCELS_CUH
#define BLIND_PARCELS_CUH

#include "blind.cuh"

// ---- Keys go to 64 bins: written where they belong at once, or sorted in shared memory first ----

enum { CHUTE_KEYS = 7 << 19, CHUTE_TILE = 2048, CHUTE_THREADS = 256, CHUTE_COUNT = 64 };

__host__ __device__ inline int parcel_bin(uint32_t key)
{
    return key >> 26;
}

// `offsets`: where each block's keys of each bin begin.
__global__ void parcel_bins_direct_kernel(const uint32_t *in, const int *offsets, uint32_t *out)
{
    __shared__ int next[CHUTE_COUNT];
    const int thread = threadIdx.x;
    if (thread < CHUTE_COUNT)
        next[thread] = offsets[blockIdx.x * CHUTE_COUNT + thread];
    __syncthreads();
    for (int k = thread; k < CHUTE_TILE; k += CHUTE_THREADS) {
        const uint32_t key = in[blockIdx.x * CHUTE_TILE + k];
        out[atomicAdd(&next[parcel_bin(key)], 1)] = key;
    }
}

// The first warp turns 64 counts into starts, two per lane.
__device__ inline void parcel_bin_starts(const int *counts, int *starts)
{
    const int lane = threadIdx.x;
    const int low = counts[2 * lane], both = low + counts[2 * lane + 1];
    int sum = both;
    for (int d = 1; d < 32; d *= 2) {
        const int before = __shfl_up_sync(~0u, sum, d);
        if (lane >= d)
            sum += before;
    }
    starts[2 * lane] = sum - both;
    starts[2 * lane + 1] = sum - both + low;
}

__global__ void parcel_bins_staged_kernel(const uint32_t *in, const int *offsets, uint32_t *out)
{
    __shared__ int counts[CHUTE_COUNT], starts[CHUTE_COUNT], shifts[CHUTE_COUNT];
    __shared__ uint32_t sorted[CHUTE_TILE];
    const int thread = threadIdx.x;
    uint32_t keys[CHUTE_TILE / CHUTE_THREADS];
    int ranks[CHUTE_TILE / CHUTE_THREADS];
    if (thread < CHUTE_COUNT)
        counts[thread] = 0;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < CHUTE_TILE / CHUTE_THREADS; k++) {
        keys[k] = in[blockIdx.x * CHUTE_TILE + k * CHUTE_THREADS + thread];
        ranks[k] = atomicAdd(&counts[parcel_bin(keys[k])], 1);
    }
    __syncthreads();
    if (thread < 32)
        parcel_bin_starts(counts, starts);
    __syncthreads();
    if (thread < CHUTE_COUNT)
        shifts[thread] = offsets[blockIdx.x * CHUTE_COUNT + thread] - starts[thread];
#pragma unroll
    for (int k = 0; k < CHUTE_TILE / CHUTE_THREADS; k++)
        sorted[starts[parcel_bin(keys[k])] + ranks[k]] = keys[k];
    __syncthreads();
    for (int k = thread; k < CHUTE_TILE; k += CHUTE_THREADS)
        out[shifts[parcel_bin(sorted[k])] + k] = sorted[k];
}

// Low bins are the fullest: a key is the smaller one of two.
static std::vector<uint32_t> parcel_keys()
{
    std::vector<uint32_t> keys = words(CHUTE_KEYS, 16100);
    const std::vector<uint32_t> others = words(CHUTE_KEYS, 16101);
    for (int i = 0; i < CHUTE_KEYS; i++)
        keys[i] = std::min(keys[i], others[i]);
    return keys;
}

static std::vector<int> parcel_offsets(const std::vector<uint32_t> &keys)
{
    const int blocks = CHUTE_KEYS / CHUTE_TILE;
    std::vector<int> counts(blocks * CHUTE_COUNT, 0), offsets(counts.size());
    for (int i = 0; i < CHUTE_KEYS; i++)
        counts[i / CHUTE_TILE * CHUTE_COUNT + parcel_bin(keys[i])]++;
    int sum = 0;
    for (int bin = 0; bin < CHUTE_COUNT; bin++)
        for (int b = 0; b < blocks; b++) {
            offsets[b * CHUTE_COUNT + bin] = sum;
            sum += counts[b * CHUTE_COUNT + bin];
        }
    return offsets;
}

// The order of a block's keys in a bin varies, but not their sum.
static void parcel_bins_check(Run &run, const std::vector<uint32_t> &keys,
                              const std::vector<int> &offsets, const uint32_t *to)
{
    const std::vector<uint32_t> got = run.output(to, CHUTE_KEYS);
    for (int b = 0; b < CHUTE_KEYS / CHUTE_TILE; b += 13) {
        double sums[CHUTE_COUNT] = {}, found[CHUTE_COUNT] = {};
        int ends[CHUTE_COUNT];
        for (int bin = 0; bin < CHUTE_COUNT; bin++)
            ends[bin] = offsets[b * CHUTE_COUNT + bin];
        for (int i = b * CHUTE_TILE; i < (b + 1) * CHUTE_TILE; i++) {
            sums[parcel_bin(keys[i])] += keys[i];
            found[parcel_bin(keys[i])] += got[ends[parcel_bin(keys[i])]++];
        }
        for (int bin = 0; bin < CHUTE_COUNT; bin++)
            run.expect(found[bin], sums[bin], 0);
    }
}

static void parcel_bins(Run &run, void (*kernel)(const uint32_t *, const int *, uint32_t *))
{
    const std::vector<uint32_t> keys = parcel_keys();
    const std::vector<int> offsets = parcel_offsets(keys);
    const uint32_t *from = run.upload(keys);
    const int *starts = run.upload(offsets);
    uint32_t *to = run.zeros<uint32_t>(CHUTE_KEYS);
    run.measure([=] { kernel<<<CHUTE_KEYS / CHUTE_TILE, CHUTE_THREADS>>>(from, starts, to); });
    parcel_bins_check(run, keys, offsets, to);
}

static void parcel_bins_direct(Run &run)
{
    parcel_bins(run, parcel_bins_direct_kernel);
}

static void parcel_bins_staged(Run &run)
{
    parcel_bins(run, parcel_bins_staged_kernel);
}

// ---- Runs of equal codes in a row of 128: found by one thread per row, or by ballots of a warp
// ----

enum { CODE_ROWS = 45000, CODE_LENGTH = 128 };

// Each run is written as its code and its first place.
__global__ void parcel_runs_thread_kernel(const unsigned char *in, uint16_t *out, int *counts)
{
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= CODE_ROWS)
        return;
    int last = -1, count = 0;
    for (int k = 0; k < CODE_LENGTH; k++) {
        const int code = in[row * CODE_LENGTH + k];
        if (code != last)
            out[row * CODE_LENGTH + count++] = (uint16_t) (code << 8 | k);
        last = code;
    }
    counts[row] = count;
}

__global__ void parcel_runs_warp_kernel(const unsigned char *in, uint16_t *out, int *counts)
{
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= CODE_ROWS)
        return;
    int last = -1, count = 0;
    for (int k = lane; k < CODE_LENGTH; k += 32) {
        const int code = in[row * CODE_LENGTH + k];
        const int before = __shfl_up_sync(~0u, code, 1);
        const bool begins = code != (lane ? before : last);
        const uint32_t all = __ballot_sync(~0u, begins);
        if (begins) {
            const int at = count + __popc(all & ((1u << lane) - 1));
            out[row * CODE_LENGTH + at] = (uint16_t) (code << 8 | k);
        }
        count += __popc(all);
        last = __shfl_sync(~0u, code, 31);
    }
    if (lane == 0)
        counts[row] = count;
}

// Some rows have long runs, others short ones.
static std::vector<unsigned char> parcel_codes()
{
    const std::vector<uint32_t> random = words(CODE_ROWS * CODE_LENGTH, 16102);
    std::vector<unsigned char> codes(random.size());
    for (size_t i = 0; i < codes.size(); i++) {
        const uint32_t often = 1 + i / CODE_LENGTH * 37 % 24;
        const bool fresh = i % CODE_LENGTH == 0 || random[i] % often == 0;
        codes[i] = fresh ? (unsigned char) (random[i] >> 20) : codes[i - 1];
    }
    return codes;
}

static void parcel_runs(Run &run, bool warps)
{
    const std::vector<unsigned char> codes = parcel_codes();
    const unsigned char *from = run.upload(codes);
    uint16_t *to = run.zeros<uint16_t>(codes.size());
    int *counts = run.zeros<int>(CODE_ROWS);
    run.measure([=] {
        if (warps)
            parcel_runs_warp_kernel<<<CODE_ROWS / 8, 256>>>(from, to, counts);
        else
            parcel_runs_thread_kernel<<<blocks_for(CODE_ROWS, 64), 64>>>(from, to, counts);
    });
    const std::vector<int> number = run.output(counts, CODE_ROWS);
    const std::vector<uint16_t> got = run.output(to, codes.size());
    for (int row = 0; row < CODE_ROWS; row += 61) {
        int count = 0;
        for (int k = 0; k < CODE_LENGTH; k++) {
            const int i = row * CODE_LENGTH + k;
            if (k == 0 || codes[i] != codes[i - 1])
                run.expect(got[row * CODE_LENGTH + count++], codes[i] << 8 | k, 0);
        }
        run.expect(number[row], count, 0);
    }
}

static void parcel_runs_thread(Run &run)
{
    parcel_runs(run, false);
}

static void parcel_runs_warp(Run &run)
{
    parcel_runs(run, true);
}

// ---- Heavy parcels are listed: each warp reserves its places, or each block ----

enum { SELECT_COUNT = 5 << 20 };

__global__ void parcel_heavy_warp_kernel(const float *weights, float limit, int *out, int *total)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    const bool heavy = weights[i] > limit;
    const uint32_t all = __ballot_sync(~0u, heavy);
    int first = 0;
    if (lane == 0 && all)
        first = atomicAdd(total, __popc(all));
    first = __shfl_sync(~0u, first, 0);
    if (heavy)
        out[first + __popc(all & ((1u << lane) - 1))] = i;
}

__global__ void parcel_heavy_block_kernel(const float *weights, float limit, int *out, int *total)
{
    __shared__ int starts[32];
    const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    const bool heavy = weights[i] > limit;
    const uint32_t all = __ballot_sync(~0u, heavy);
    if (lane == 0)
        starts[threadIdx.x / 32] = __popc(all);
    __syncthreads();
    if (threadIdx.x == 0) {
        int sum = 0;
        for (int w = 0; w < (int) blockDim.x / 32; w++)
            sum += starts[w];
        int first = atomicAdd(total, sum);
        for (int w = 0; w < (int) blockDim.x / 32; w++) {
            const int count = starts[w];
            starts[w] = first;
            first += count;
        }
    }
    __syncthreads();
    if (heavy)
        out[starts[threadIdx.x / 32] + __popc(all & ((1u << lane) - 1))] = i;
}

static void parcel_heavy(Run &run, void (*kernel)(const float *, float, int *, int *))
{
    const float limit = 21;
    const std::vector<float> weights = floats(SELECT_COUNT, 16103, 0.1f, 30);
    const float *from = run.upload(weights);
    int *to = run.zeros<int>(SELECT_COUNT), *total = run.zeros<int>(1);
    run.measure([=] { kernel<<<SELECT_COUNT / 512, 512>>>(from, limit, to, total); },
                [=] { CHECK(cudaMemset(total, 0, sizeof(int))); });
    double count = 0, sum = 0, found = 0;
    for (int i = 0; i < SELECT_COUNT; i++)
        if (weights[i] > limit) {
            count++;
            sum += i;
        }
    run.expect(run.output(total, 1)[0], count, 0);
    for (int i : run.output(to, (size_t) count))
        found += i;
    run.expect(found, sum, 0);
}

static void parcel_heavy_warp(Run &run)
{
    parcel_heavy(run, parcel_heavy_warp_kernel);
}

static void parcel_heavy_block(Run &run)
{
    parcel_heavy(run, parcel_heavy_block_kernel);
}

// ---- Weights by truck, sorted by truck: each parcel is added, or a warp's sums by shuffles ----

enum { LOAD_COUNT = 7 << 19 };

__global__ void parcel_loads_atomic_kernel(const int *trucks, const float *weights, float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&out[trucks[i]], weights[i]);
}

// The last lane of each truck adds the truck's sum.
__global__ void parcel_loads_scan_kernel(const int *trucks, const float *weights, float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    const int truck = trucks[i];
    float sum = weights[i];
#pragma unroll
    for (int d = 1; d < 32; d *= 2) {
        const int other = __shfl_up_sync(~0u, truck, d);
        const float before = __shfl_up_sync(~0u, sum, d);
        if (lane >= d && other == truck)
            sum += before;
    }
    const int next = __shfl_down_sync(~0u, truck, 1);
    if (lane == 31 || next != truck)
        atomicAdd(&out[truck], sum);
}

static void parcel_loads(Run &run, void (*kernel)(const int *, const float *, float *))
{
    const std::vector<float> weights = floats(LOAD_COUNT, 16104, 0.1f, 30);
    const std::vector<int> sizes = integers(LOAD_COUNT, 60, 16105);
    std::vector<int> trucks;
    std::vector<double> sums;
    while (trucks.size() < LOAD_COUNT) {
        double sum = 0;
        for (int k = 0; k <= sizes[sums.size()] && trucks.size() < LOAD_COUNT; k++) {
            sum += weights[trucks.size()];
            trucks.push_back((int) sums.size());
        }
        sums.push_back(sum);
    }
    const int *dt = run.upload(trucks);
    const float *dw = run.upload(weights);
    const size_t size = sums.size();
    float *to = run.zeros<float>(size);
    run.measure([=] { kernel<<<LOAD_COUNT / 256, 256>>>(dt, dw, to); },
                [=] { CHECK(cudaMemset(to, 0, size * sizeof(float))); });
    run.expect_all(
        run.output(to, size), [&](size_t i) { return sums[i]; }, 1e-4, 7);
}

static void parcel_loads_atomic(Run &run)
{
    parcel_loads(run, parcel_loads_atomic_kernel);
}

static void parcel_loads_scan(Run &run)
{
    parcel_loads(run, parcel_loads_scan_kernel);
}

#endif
