// queries.cuh - columns of databases: card numbers, overlapping intervals, missing values, rows
// that expand into several.
#ifndef BLIND_QUERIES_CUH
#define BLIND_QUERIES_CUH

#include "blind.cuh"

#include <cstring>

// ---- Luhn's check of card numbers of 16 digits: by bytes, or four digits per word ----

__host__ __device__ inline bool luhn_valid(const char *digits)
{
    int sum = 0;
    for (int k = 0; k < 16; k++) {
        int digit = digits[k] - '0';
        if (k % 2 == 0) {
            digit *= 2;
            if (digit > 9)
                digit -= 9;
        }
        sum += digit;
    }
    return sum % 10 == 0;
}

__global__ void luhn_bytes_kernel(const char *cards, uint8_t *valid, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        valid[i] = luhn_valid(cards + 16 * i);
}

// The even places are doubled; 9 is taken from those above 9.
__device__ inline uint32_t luhn_word(uint32_t text)
{
    const uint32_t digits = text - 0x30303030u, twice = (digits & 0x00ff00ffu) * 2;
    const uint32_t above = (twice + 0x00760076u) >> 7 & 0x00010001u;
    return twice - 9 * above + (digits >> 8 & 0x00ff00ffu);
}

__global__ void luhn_words_kernel(const char *cards, uint8_t *valid, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const uint4 text = ((const uint4 *) cards)[i];
    const uint32_t sums =
        luhn_word(text.x) + luhn_word(text.y) + luhn_word(text.z) + luhn_word(text.w);
    valid[i] = ((sums & 0xffff) + (sums >> 16)) % 10 == 0;
}

static void luhn(Run &run, void (*kernel)(const char *, uint8_t *, int))
{
    const int n = 1200000;
    std::vector<char> cards(16 * n);
    for (int i = 0; i < 16 * n; i++)
        cards[i] = (char) ('0' + mix(i + 3041) % 10);
    char *from = run.upload(cards);
    uint8_t *to = run.zeros<uint8_t>(n);
    run.measure([=] { kernel<<<blocks_for(n, 256), 256>>>(from, to, n); });
    run.expect_all(
        run.output(to, n), [&](size_t i) { return luhn_valid(&cards[16 * i]); }, 0, 5);
}

static void luhn_bytes(Run &run)
{
    luhn(run, luhn_bytes_kernel);
}

static void luhn_words(Run &run)
{
    luhn(run, luhn_words_kernel);
}

// ---- How many of 700 intervals overlap each query? All compared, or sorted ends searched ----

enum { INTERVALS = 700 };

__global__ void overlaps_all_kernel(const int *starts, const int *ends, const int2 *queries,
                                    int *counts, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    int count = 0;
    if (i >= n)
        return;
    const int2 query = queries[i];
    for (int k = 0; k < INTERVALS; k++)
        if (starts[k] <= query.y && ends[k] >= query.x)
            count++;
    counts[i] = count;
}

// The number of values below `limit`.
__device__ inline int values_below(const int *sorted, int limit)
{
    int low = 0, high = INTERVALS;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (sorted[middle] < limit)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

__global__ void overlaps_search_kernel(const int *starts, const int *ends, const int2 *queries,
                                       int *counts, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        counts[i] = values_below(starts, queries[i].y + 1) - values_below(ends, queries[i].x);
}

static void overlaps(Run &run, void (*kernel)(const int *, const int *, const int2 *, int *, int),
                     bool sorted)
{
    const int n = 60000;
    std::vector<int> starts = integers(INTERVALS, 1000000, 3042), ends(INTERVALS);
    const std::vector<int> at = integers(n, 1000000, 3043);
    std::vector<int2> queries(n);
    for (int i = 0; i < INTERVALS; i++)
        ends[i] = starts[i] + 100 + i * 10;
    for (int i = 0; i < n; i++)
        queries[i] = make_int2(at[i], at[i] + 5000 + i % 1000);
    const std::vector<int> begin = starts, end = ends;
    if (sorted) {
        std::sort(starts.begin(), starts.end());
        std::sort(ends.begin(), ends.end());
    }
    int *ds = run.upload(starts), *de = run.upload(ends), *to = run.zeros<int>(n);
    int2 *dq = run.upload(queries);
    run.measure([=] { kernel<<<blocks_for(n, 128), 128>>>(ds, de, dq, to, n); });
    run.expect_all(
        run.output(to, n),
        [&](size_t i) {
            int count = 0;
            for (int k = 0; k < INTERVALS; k++)
                count += begin[k] <= queries[i].y && end[k] >= queries[i].x;
            return count;
        },
        0, 17);
}

static void overlaps_all(Run &run)
{
    overlaps(run, overlaps_all_kernel, false);
}

static void overlaps_search(Run &run)
{
    overlaps(run, overlaps_search_kernel, true);
}

// ---- The mean of a column with missing values: marked by bytes or by bits ----

__device__ inline void add_to_mean(float sum, int count, float *total, int *present)
{
    __shared__ float sums[8];
    __shared__ int counts[8];
    for (int apart = 16; apart; apart /= 2)
        sum += __shfl_xor_sync(~0u, sum, apart);
    count = __reduce_add_sync(~0u, count);
    if (threadIdx.x % 32 == 0) {
        sums[threadIdx.x / 32] = sum;
        counts[threadIdx.x / 32] = count;
    }
    __syncthreads(); // the warps' sums are complete
    if (threadIdx.x)
        return;
    for (int w = 1; w < 8; w++) {
        sum += sums[w];
        count += counts[w];
    }
    atomicAdd(total, sum);
    atomicAdd(present, count);
}

__global__ void missing_bytes_kernel(const float *values, const void *marks, float *total,
                                     int *present, int n)
{
    const uint8_t *valid = (const uint8_t *) marks;
    float sum = 0;
    int count = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        if (valid[i]) {
            sum += values[i];
            count++;
        }
    add_to_mean(sum, count, total, present);
}

__global__ void missing_bits_kernel(const float *values, const void *marks, float *total,
                                    int *present, int n)
{
    const uint32_t *valid = (const uint32_t *) marks;
    float sum = 0;
    int count = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        if (valid[i / 32] >> i % 32 & 1) {
            sum += values[i];
            count++;
        }
    add_to_mean(sum, count, total, present);
}

static void missing(Run &run, bool bits,
                    void (*kernel)(const float *, const void *, float *, int *, int))
{
    const int n = 8000000;
    const std::vector<float> values = floats(n, 3044, 0, 1);
    std::vector<uint8_t> bytes(n), packed(n / 8);
    double sum = 0;
    int count = 0;
    for (int i = 0; i < n; i++) {
        bytes[i] = mix(i + 3045) % 5 != 0;
        packed[i / 8] |= (uint8_t) (bytes[i] << i % 8);
        sum += bytes[i] ? values[i] : 0;
        count += bytes[i];
    }
    float *from = run.upload(values), *total = run.zeros<float>(1);
    uint8_t *marks = run.upload(bits ? packed : bytes);
    int *present = run.zeros<int>(1);
    run.measure([=] { kernel<<<528, 256>>>(from, marks, total, present, n); },
                [=] {
                    CHECK(cudaMemset(total, 0, sizeof(float)));
                    CHECK(cudaMemset(present, 0, sizeof(int)));
                });
    float got;
    CHECK(cudaMemcpy(&got, total, sizeof(float), cudaMemcpyDeviceToHost));
    run.expect(got, sum, 1e-4);
    run.expect(run.output(present, 1)[0], count, 0);
}

static void missing_bytes(Run &run)
{
    missing(run, false, missing_bytes_kernel);
}

static void missing_bits(Run &run)
{
    missing(run, true, missing_bits_kernel);
}

// ---- Rows that expand into 0 to 6: places by one atomic addition per row or per warp ----

__device__ inline void write_copies(int2 *out, int at, int row, int copies)
{
    for (int k = 0; k < copies; k++)
        out[at + k] = make_int2(row, k);
}

__global__ void expand_rows_kernel(const int *copies, int2 *out, int *total, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && copies[i])
        write_copies(out, atomicAdd(total, copies[i]), i, copies[i]);
}

__global__ void expand_warps_kernel(const int *copies, int2 *out, int *total, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    const int mine = i < n ? copies[i] : 0;
    int upto = mine, base = 0;
    for (int apart = 1; apart < 32; apart *= 2) {
        const int before = __shfl_up_sync(~0u, upto, apart);
        if (lane >= apart)
            upto += before;
    }
    if (lane == 31)
        base = atomicAdd(total, upto);
    base = __shfl_sync(~0u, base, 31);
    write_copies(out, base + upto - mine, i, mine);
}

static void expand(Run &run, void (*kernel)(const int *, int2 *, int *, int))
{
    const int n = 1000000;
    const std::vector<int> copies = integers(n, 7, 3046);
    long wanted = 0, rows = 0, sum = 0;
    for (int i = 0; i < n; i++) {
        wanted += copies[i];
        sum += (long) i * copies[i];
    }
    int *from = run.upload(copies), *total = run.zeros<int>(1);
    int2 *to = run.zeros<int2>(wanted);
    run.measure([=] { kernel<<<blocks_for(n, 256), 256>>>(from, to, total, n); },
                [=] { CHECK(cudaMemset(total, 0, sizeof(int))); });
    run.expect(run.output(total, 1)[0], wanted, 0);
    std::vector<int2> got(wanted); // in any order, thus no part of the checksum
    CHECK(cudaMemcpy(got.data(), to, wanted * sizeof(int2), cudaMemcpyDeviceToHost));
    for (const int2 &row : got)
        rows += row.x;
    run.expect((double) rows, (double) sum, 0);
}

static void expand_rows(Run &run)
{
    expand(run, expand_rows_kernel);
}

static void expand_warps(Run &run)
{
    expand(run, expand_warps_kernel);
}

#endif
