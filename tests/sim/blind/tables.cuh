// tables.cuh - work on stored data: lines of CSV, filters, runs, small segments, packed numbers.
#ifndef BLIND_TABLES_CUH
#define BLIND_TABLES_CUH

#include "blind.cuh"

// ---- Fields per line of CSV: a thread per line, or a warp ----

__global__ void csv_thread_kernel(const char *text, const int *start, int *fields, int lines)
{
    int line = blockIdx.x * blockDim.x + threadIdx.x, count = 1;
    bool quoted = false;
    if (line >= lines)
        return;
    for (int i = start[line]; i < start[line + 1]; i++) {
        if (text[i] == '"')
            quoted = !quoted;
        else if (text[i] == ',' && !quoted)
            count++;
    }
    fields[line] = count;
}

// A comma counts after an even number of quotes.
__global__ void csv_warp_kernel(const char *text, const int *start, int *fields, int lines)
{
    int line = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32, count = 1;
    unsigned quotes_before = 0;
    if (line >= lines)
        return;
    int end = start[line + 1];
    for (int first = start[line]; first < end; first += 32) {
        char c = first + lane < end ? text[first + lane] : ' ';
        unsigned quotes = __ballot_sync(~0u, c == '"');
        unsigned before = quotes_before + __popc(quotes & ((1u << lane) - 1));
        count += __popc(__ballot_sync(~0u, c == ',' && before % 2 == 0));
        quotes_before += __popc(quotes);
    }
    if (lane == 0)
        fields[line] = count;
}

static int csv_on_host(const char *text, int size)
{
    int count = 1;
    bool quoted = false;
    for (int i = 0; i < size; i++) {
        if (text[i] == '"')
            quoted = !quoted;
        count += text[i] == ',' && !quoted;
    }
    return count;
}

template <class Launch> static void csv(Run &run, Launch launch)
{
    const int lines = 50000;
    std::vector<int> start(1, 0);
    for (int i = 0; i < lines; i++)
        start.push_back(start.back() + 40 + (int) (mix(i + 331) % 160));
    std::vector<char> text(start.back());
    for (size_t i = 0; i < text.size(); i++)
        text[i] = "abcdefgh,jklmnopq,rstuvw\"yz012345"[mix((uint32_t) i + 332) % 33];
    char *dt = run.upload(text);
    int *ds = run.upload(start), *fields = run.zeros<int>(lines);
    run.measure([=] { launch(dt, ds, fields, lines); });
    run.expect_all(
        run.output(fields, lines),
        [&](size_t i) { return csv_on_host(&text[start[i]], start[i + 1] - start[i]); }, 0, 3);
}

static void csv_thread(Run &run)
{
    csv(run, [](char *text, int *start, int *fields, int lines) {
        csv_thread_kernel<<<blocks_for(lines, 128), 128>>>(text, start, fields, lines);
    });
}

static void csv_warp(Run &run)
{
    csv(run, [](char *text, int *start, int *fields, int lines) {
        csv_warp_kernel<<<blocks_for((size_t) lines * 32, 256), 256>>>(text, start, fields, lines);
    });
}

// ---- Bloom filter of 32 MB, four bits per key: anywhere, or in one sector of 32 bytes ----

enum { BLOOM_WORDS = 1 << 23 };

__host__ __device__ inline unsigned bloom_hash(unsigned key, unsigned salt)
{
    key = (key ^ key >> 16) * 0x85ebca6bu + salt;
    key = (key ^ key >> 13) * 0xc2b2ae35u;
    return key ^ key >> 16;
}

// The number of bit `which` of a key.
template <bool BLOCKED> __host__ __device__ inline unsigned bloom_bit(unsigned key, unsigned which)
{
    if (!BLOCKED)
        return bloom_hash(key, which * 0x9e3779b9u) % (BLOOM_WORDS * 32u);
    unsigned block = bloom_hash(key, 1) % (BLOOM_WORDS / 8u);
    return block * 256 + (bloom_hash(key, 2) >> 8 * which & 255);
}

template <bool BLOCKED>
__host__ __device__ inline bool bloom_has(const unsigned *filter, unsigned key)
{
    for (unsigned k = 0; k < 4; k++) {
        unsigned bit = bloom_bit<BLOCKED>(key, k);
        if (!(filter[bit / 32] >> bit % 32 & 1))
            return false;
    }
    return true;
}

template <bool BLOCKED>
__global__ void bloom_kernel(const unsigned *filter, const unsigned *key, unsigned char *found,
                             int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        found[i] = bloom_has<BLOCKED>(filter, key[i]);
}

// Half of the keys are in the filter.
template <bool BLOCKED> static void bloom(Run &run)
{
    const int n = 1600000;
    const std::vector<uint32_t> key = words(n, 333);
    std::vector<unsigned> filter(BLOOM_WORDS);
    for (int i = 0; i < n; i += 2)
        for (unsigned k = 0; k < 4; k++) {
            const unsigned bit = bloom_bit<BLOCKED>(key[i], k);
            filter[bit / 32] |= 1u << bit % 32;
        }
    unsigned *df = run.upload(filter), *dk = run.upload(key);
    unsigned char *found = run.zeros<unsigned char>(n);
    run.measure([=] { bloom_kernel<BLOCKED><<<blocks_for(n, 256), 256>>>(df, dk, found, n); });
    run.expect_all(
        run.output(found, n), [&](size_t i) { return bloom_has<BLOCKED>(filter.data(), key[i]); },
        0, 7);
}

static void bloom_spread(Run &run)
{
    bloom<false>(run);
}

static void bloom_blocked(Run &run)
{
    bloom<true>(run);
}

// ---- Runs to values: a thread per run, or per value with a binary search ----

__global__ void runs_by_run_kernel(const int *start, const int *value, int *out, int runs)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= runs)
        return;
    for (int at = start[i]; at < start[i + 1]; at++)
        out[at] = value[i];
}

__global__ void runs_by_value_kernel(const int *start, const int *value, int *out, int runs,
                                     int size)
{
    int at = blockIdx.x * blockDim.x + threadIdx.x, low = 0, high = runs;
    if (at >= size)
        return;
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (start[middle] <= at)
            low = middle;
        else
            high = middle;
    }
    out[at] = value[low];
}

template <class Launch> static void runs_decode(Run &run, Launch launch)
{
    const int runs = 40000;
    const std::vector<int> value = integers(runs, 1000000, 334);
    std::vector<int> start(1, 0), wanted;
    for (int i = 0; i < runs; i++) {
        start.push_back(start.back() + 1 + (int) (mix(i + 335) % 63));
        wanted.resize(start.back(), value[i]);
    }
    const int size = start.back(), *ds = run.upload(start), *dv = run.upload(value);
    int *out = run.zeros<int>(size);
    run.measure([=] { launch(ds, dv, out, runs, size); });
    run.expect_all(
        run.output(out, size), [&](size_t i) { return wanted[i]; }, 0);
}

static void runs_by_run(Run &run)
{
    runs_decode(run, [](const int *start, const int *value, int *out, int runs, int) {
        runs_by_run_kernel<<<blocks_for(runs, 128), 128>>>(start, value, out, runs);
    });
}

static void runs_by_value(Run &run)
{
    runs_decode(run, [](const int *start, const int *value, int *out, int runs, int size) {
        runs_by_value_kernel<<<blocks_for(size, 256), 256>>>(start, value, out, runs, size);
    });
}

// ---- Segments of 64 in order, a block each: by odd and even exchanges, or by counting ----

__global__ void __launch_bounds__(64) segment_exchange_kernel(const int *in, int *out)
{
    __shared__ int v[64];
    int t = threadIdx.x;
    v[t] = in[blockIdx.x * 64 + t];
    for (int phase = 0; phase < 64; phase++) {
        int left = 2 * t + phase % 2;
        __syncthreads(); // the previous phase is complete
        if (left + 1 < 64 && v[left] > v[left + 1]) {
            int swap = v[left];
            v[left] = v[left + 1];
            v[left + 1] = swap;
        }
    }
    __syncthreads(); // the last phase is complete
    out[blockIdx.x * 64 + t] = v[t];
}

__global__ void __launch_bounds__(64) segment_count_kernel(const int *in, int *out)
{
    __shared__ int v[64];
    int t = threadIdx.x, mine = in[blockIdx.x * 64 + t], place = 0;
    v[t] = mine;
    __syncthreads(); // the segment is complete
    for (int k = 0; k < 64; k++)
        place += v[k] < mine || (v[k] == mine && k < t);
    out[blockIdx.x * 64 + place] = mine;
}

template <class Launch> static void segments(Run &run, Launch launch)
{
    const int n = 5000;
    const std::vector<int> in = integers(n * 64, 5000, 336);
    int *from = run.upload(in), *to = run.zeros<int>(n * 64);
    run.measure([=] { launch(from, to, n); });
    const std::vector<int> got = run.output(to, n * 64);
    for (int i = 0; i < n; i += 17) {
        std::vector<int> v(&in[i * 64], &in[i * 64] + 64);
        std::sort(v.begin(), v.end());
        for (int k = 0; k < 64; k++)
            run.expect(got[i * 64 + k], v[k], 0);
    }
}

static void segment_exchange(Run &run)
{
    segments(run, [](int *in, int *out, int n) { segment_exchange_kernel<<<n, 64>>>(in, out); });
}

static void segment_count(Run &run)
{
    segments(run, [](int *in, int *out, int n) { segment_count_kernel<<<n, 64>>>(in, out); });
}

// ---- Numbers of 1 to 5 bytes, seven bits each: a thread per 64 numbers ----

__global__ void varint_kernel(const unsigned char *bytes, const int *start, unsigned *out,
                              int chunks)
{
    int chunk = blockIdx.x * blockDim.x + threadIdx.x;
    if (chunk >= chunks)
        return;
    const unsigned char *at = bytes + start[chunk];
    for (int k = 0; k < 64; k++) {
        unsigned value = 0, shift = 0, byte;
        do {
            byte = *at++;
            value |= (byte & 127) << shift;
            shift += 7;
        } while (byte & 128);
        out[chunk * 64 + k] = value;
    }
}

static void varint_chunks(Run &run)
{
    const int chunks = 12000;
    std::vector<uint32_t> value = words(chunks * 64, 337);
    std::vector<unsigned char> bytes;
    std::vector<int> start;
    for (size_t i = 0; i < value.size(); i++) {
        uint32_t rest = value[i] >>= mix((uint32_t) i) % 32;
        if (i % 64 == 0)
            start.push_back((int) bytes.size());
        for (; rest > 127; rest >>= 7)
            bytes.push_back((unsigned char) (rest | 128));
        bytes.push_back((unsigned char) rest);
    }
    unsigned char *db = run.upload(bytes);
    int *ds = run.upload(start);
    unsigned *out = run.zeros<unsigned>(value.size());
    run.measure([=] { varint_kernel<<<blocks_for(chunks, 64), 64>>>(db, ds, out, chunks); });
    run.expect_all(
        run.output(out, value.size()), [&](size_t i) { return value[i]; }, 0);
}

#endif
