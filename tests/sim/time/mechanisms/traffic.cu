// traffic.cu - how long a load waits while the memory is busy, and what is left in the L2 after an
// array was read, written or copied.
//
// Rows: flight.HOW.W   W warps per SM, one iteration of the loop in flight each, on 256 MiB: read
//                      (a load), copy (a load and a store), add (two loads and a store). In ns per
//                      iteration.
//       later.WHERE.LINES.SECTORS   one load in flight on each SM, of one warp, which touches LINES
//                      lines and SECTORS sectors of each. WHERE: in the L2, or beyond it. In ns.
//       repeat.BYTES.N each SM reads N KiB eight times, past its L1, with BYTES per lane. In GB/s.
//       few.SMS        the same by that many SMs, N 8192, 16 bytes per lane
//       rewrite.BYTES.N   the same as repeat, but it writes
//       fetch.LINES.SECTORS.SMS    ns per load of a warp and SM that reads SECTORS sectors of each
//       of
//                      LINES lines of 8 MiB in the L2, past the L1; store.LINES.SECTORS.SMS: the
//                      same of stores of 4 bytes per lane
//       ends.HOW.P     in the loops of flight.HOW.64: when P of 100 SMs have ended, in % of the
//       time once.HOW       the same with a thread per element instead of a loop, in GB/s
//       share.WHERE.P  the latency within which P of 100 single loads arrive, in ns
//       left.HOW.N     reads N MiB right after they were: read by a kernel, written by one, copied
//                      to (cudaMemcpyAsync), set (cudaMemsetAsync), or displaced by reading 256 MiB
//                      of other data (flushed). In GB/s.
//       again.HOW.N    ns per step of a warp in a kernel that was launched just before, too: each
//                      thread goes down a column of 96 rows, N MiB in all, and waits for each
//                      load: read, copy (to as many bytes), update (in place)
#include "measure.cuh"

enum { BLOCK = 256, LARGE = 1 << 26 };

static float *x, *y, *z, *out;

// ---- Loads in flight ----

__global__ void read(float *out, const float *x, const float *, int n)
{
    float sum = 0;

#pragma unroll 1
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        sum += x[i];
    if (sum == 1)
        *out = sum;
}

__global__ void copy(float *y, const float *x, const float *, int n)
{
#pragma unroll 1
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        y[i] = x[i];
}

__global__ void add(float *y, const float *x, const float *z, int n)
{
#pragma unroll 1
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        y[i] = 2 * x[i] + z[i];
}

static void sweep(const float *from, size_t bytes)
{
    read<<<sms * 8, BLOCK>>>(out, from, NULL, (int) (bytes / sizeof(float)));
}

typedef void Loop(float *to, const float *x, const float *z, int n);

static void flight(const char *how, Loop *loop, float *to)
{
    const int n = LARGE / share;

    for (int warps = 1; warps <= 64; warps *= 2) {
        const int threads = warps * 32 < BLOCK ? warps * 32 : BLOCK;
        const int blocks = sms * (warps * 32 / threads);
        char name[40];
        const double ns = timed([=] { loop<<<blocks, threads>>>(to, x, y, n); });

        snprintf(name, sizeof name, "flight.%s.%d", how, warps);
        row(name, ns / ((double) n / ((double) blocks * threads)), "ns/iteration");
    }
}

// ---- The latest of several lines and sectors ----

// Lines of which no two loads touch the same one before all were touched: an odd factor permutes
// the numbers below a power of two. `from`: the loads before this launch.
__device__ static uint32_t next_line(uint32_t from, uint32_t load, uint32_t mask)
{
    return (from + load) * 0x9e3779b1u & mask;
}

template <int LINES, int SECTORS>
__global__ void later(float *out, const float *x, uint32_t mask, uint32_t from, int rounds)
{
    const uint32_t part = threadIdx.x % LINES, sector = threadIdx.x / LINES % SECTORS;
    float sum = 0;

#pragma unroll 1
    for (int i = 0; i < rounds; i++) {
        const uint32_t load = (blockIdx.x * rounds + i) * LINES + part;
        sum += x[(size_t) next_line(from, load, mask) * 32 + sector * 8];
        sum = __shfl_sync(~0u, sum, 0) +
              __reduce_max_sync(~0u, __float_as_uint(sum)); // waits for all
    }
    if (sum == 1)
        *out = sum;
}

static uint32_t loads_before;

template <int LINES, int SECTORS> static void later_row(const char *where, uint32_t lines)
{
    const int rounds = 256 / share > 16 ? 256 / share : 16;
    const uint32_t each = (uint32_t) (sms * rounds * LINES);
    char name[40];
    const double many = timed([=] {
        later<LINES, SECTORS><<<sms, 32>>>(out, x, lines - 1, loads_before, 2 * rounds);
        loads_before += 2 * each;
    });
    const double few = timed([=] {
        later<LINES, SECTORS><<<sms, 32>>>(out, x, lines - 1, loads_before, rounds);
        loads_before += each;
    });

    snprintf(name, sizeof name, "later.%s.%d.%d", where, LINES, SECTORS);
    row(name, (many - few) / rounds, "ns");
}

static void later_rows(const char *where, uint32_t lines)
{
    sweep(x, (size_t) lines * 128);
    later_row<1, 1>(where, lines), later_row<1, 2>(where, lines), later_row<1, 4>(where, lines);
    later_row<2, 1>(where, lines), later_row<2, 4>(where, lines);
    later_row<4, 1>(where, lines), later_row<4, 4>(where, lines);
    later_row<8, 1>(where, lines), later_row<8, 4>(where, lines);
    later_row<16, 1>(where, lines), later_row<32, 1>(where, lines);
}

// One thread per SM notes how long each of its loads takes.
__global__ void clocked(uint32_t *cycles, const uint32_t *ring, uint32_t mask, uint32_t from,
                        int rounds)
{
    uint32_t value = 0;

#pragma unroll 1
    for (int i = 0; i < rounds; i++) {
        const uint32_t line = next_line(from, blockIdx.x * rounds + i, mask);
        const uint32_t begin = clock();
        value = ring[(size_t) line * 32 + value];
        if (value) // never; but the clock below waits for it
            return;
        cycles[blockIdx.x * rounds + i] = clock() - begin;
    }
}

static int by_cycles(const void *a, const void *b)
{
    const uint32_t m = *(const uint32_t *) a, n = *(const uint32_t *) b;

    return (m > n) - (m < n);
}

static void shares(const char *where, uint32_t lines)
{
    static const int parts[] = { 1, 5, 10, 25, 50, 75, 90, 95, 99 };
    const int rounds = 256, count = rounds * sms;
    uint32_t *cycles, *host = (uint32_t *) malloc(count * sizeof *host);
    char name[40];
    double all = 0;

    check(cudaMalloc(&cycles, count * sizeof *cycles));
    sweep(x, (size_t) lines * 128);
    clocked<<<sms, 1>>>(cycles, (const uint32_t *) x, lines - 1, loads_before, rounds);
    loads_before += count;
    check(cudaMemcpy(host, cycles, count * sizeof *host, cudaMemcpyDeviceToHost));
    qsort(host, count, sizeof *host, by_cycles);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        snprintf(name, sizeof name, "share.%s.%d", where, parts[i]);
        row(name, host[(size_t) count * parts[i] / 100] / (sm_khz / 1e6), "ns");
    }
    for (int i = 0; i < count; i++)
        all += host[i] / (sm_khz / 1e6) / count;
    snprintf(name, sizeof name, "share.%s.mean", where);
    row(name, all, "ns");
    check(cudaFree(cycles));
    free(host);
}

// ---- Reading the L2 ----

__device__ static float sum_of(float v)
{
    return v;
}

__device__ static float sum_of(float4 v)
{
    return v.x + v.y + v.z + v.w;
}

// The SMs begin at different places.
template <class T> __global__ void repeat(float *out, const T *x, int n, int rounds)
{
    const int threads = gridDim.x * blockDim.x;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;

    i %= n;
    for (int r = 0; r < rounds; r += 8) {
#pragma unroll
        for (int k = 0; k < 8; k++) {
            sum += sum_of(__ldcg(&x[i]));
            i += threads;
            i = i >= n ? i - n : i;
        }
    }
    if (sum == 1)
        *out = sum;
}

template <class T> static void repeat_rows()
{
    static const int kib[] = { 2048, 4096, 8192, 12288, 16384, 20480, 24576 };
    const int threads = 1024, blocks = 2 * sms;

    for (size_t i = 0; i < sizeof kib / sizeof *kib; i++) {
        const int n = kib[i] * 1024 / (int) sizeof(T);
        const int rounds = (8 * n / share / (threads * blocks) + 7) / 8 * 8;
        char name[40];
        const T *from = (const T *) x;
        const double ns = timed([=] { repeat<T><<<blocks, threads>>>(out, from, n, 3 * rounds); }) -
                          timed([=] { repeat<T><<<blocks, threads>>>(out, from, n, rounds); });

        snprintf(name, sizeof name, "repeat.%d.%d", (int) sizeof(T), kib[i]);
        row(name, 2.0 * rounds * threads * blocks * sizeof(T) / ns, "GB/s");
    }
}

static void few_sms()
{
    const int threads = 1024, n = (1 << 23) / (int) sizeof(float4);
    const float4 *from = (const float4 *) x;

    for (int count = 1; count<2 * sms; count = count * 4> sms && count < sms ? sms : count * 4) {
        const int rounds = 1024 / share;
        char name[40];
        const double ns =
            timed([=] { repeat<float4><<<count, threads>>>(out, from, n, 3 * rounds); }) -
            timed([=] { repeat<float4><<<count, threads>>>(out, from, n, rounds); });

        snprintf(name, sizeof name, "few.%d", count);
        row(name, 2.0 * rounds * threads * count * sizeof(float4) / ns, "GB/s");
    }
}

template <class T> __global__ void rewrite(T *x, int n, int rounds, T value)
{
    const int threads = gridDim.x * blockDim.x;
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    i %= n;
    for (int r = 0; r < rounds; r++) {
        x[i] = value;
        i += threads;
        i = i >= n ? i - n : i;
    }
}

template <class T> static void rewrite_rows()
{
    static const int kib[] = { 2048, 8192, 16384, 24576 };
    const int threads = 1024, blocks = 2 * sms;

    for (size_t i = 0; i < sizeof kib / sizeof *kib; i++) {
        const int n = kib[i] * 1024 / (int) sizeof(T), rounds = 8 * n / share / (threads * blocks);
        char name[40];
        T *to = (T *) x;
        const double ns = timed([=] { rewrite<T><<<blocks, threads>>>(to, n, 3 * rounds, T{}); }) -
                          timed([=] { rewrite<T><<<blocks, threads>>>(to, n, rounds, T{}); });

        snprintf(name, sizeof name, "rewrite.%d.%d", (int) sizeof(T), kib[i]);
        row(name, 2.0 * rounds * threads * blocks * sizeof(T) / ns, "GB/s");
    }
}

// ---- Scattered loads and stores ----

template <int LINES, int SECTORS, bool STORES>
__global__ void scattered(float *out, float *x, uint32_t mask, int rounds)
{
    const uint32_t part = threadIdx.x % LINES, sector = threadIdx.x % 32 / LINES % SECTORS;
    const uint32_t word = threadIdx.x % 32 / (LINES * SECTORS);
    const uint32_t from = mixed(blockIdx.x); // so that SMs are at different lines
    uint32_t load = threadIdx.x / 32 * rounds;
    float sum = 0;

#pragma unroll 8
    for (int r = 0; r < rounds; r++, load++) {
        float *at =
            &x[(size_t) next_line(from, load * LINES + part, mask) * 32 + sector * 8 + word];
        if (STORES)
            *at = 1;
        else
            sum += __ldcg(at);
    }
    if (sum == 1)
        *out = sum;
}

template <int LINES, int SECTORS, bool STORES> static void scattered_row(int count)
{
    const int rounds = 256 / (share > 8 ? 8 : share), threads = 1024;
    const uint32_t lines = 1 << 16;
    char name[48];
    float *o = out, *to = x;
    const auto launch = [=](int many) {
        return timed(
            [=] { scattered<LINES, SECTORS, STORES><<<count, threads>>>(o, to, lines - 1, many); });
    };
    const double ns = launch(3 * rounds) - launch(rounds);

    snprintf(name, sizeof name, "%s.%d.%d.%d", STORES ? "store" : "fetch", LINES, SECTORS, count);
    row(name, ns / (2 * rounds) / (threads / 32), "ns");
}

template <bool STORES> static void scattered_rows()
{
    for (int count : { 8, sms }) {
        scattered_row<1, 1, STORES>(count), scattered_row<1, 4, STORES>(count);
        scattered_row<4, 1, STORES>(count), scattered_row<4, 4, STORES>(count);
        scattered_row<8, 1, STORES>(count), scattered_row<8, 4, STORES>(count);
        scattered_row<16, 1, STORES>(count), scattered_row<16, 2, STORES>(count);
        scattered_row<32, 1, STORES>(count);
    }
}

// ---- When each SM ends ----

__device__ static unsigned long long nanoseconds()
{
    unsigned long long ns;

    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
    return ns;
}

__global__ void copy_clocked(float *y, const float *x, unsigned long long *end, int n)
{
    if (blockIdx.x == 0 && threadIdx.x == 0)
        end[gridDim.x] = nanoseconds();
#pragma unroll 1
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        y[i] = x[i];
    __syncthreads();
    if (threadIdx.x == 0)
        end[blockIdx.x] = nanoseconds();
}

static int by_end(const void *a, const void *b)
{
    const unsigned long long m = *(const unsigned long long *) a,
                             n = *(const unsigned long long *) b;

    return (m > n) - (m < n);
}

static void ends()
{
    static const int parts[] = { 0, 10, 25, 50, 75, 90, 100 };
    const int n = LARGE / share, blocks = sms * 8;
    unsigned long long *end, *host = (unsigned long long *) malloc((blocks + 1) * sizeof *host);
    char name[40];

    check(cudaMalloc(&end, (blocks + 1) * sizeof *end));
    for (int i = 0; i < 2; i++)
        copy_clocked<<<blocks, BLOCK>>>(y, x, end, n);
    check(cudaMemcpy(host, end, (blocks + 1) * sizeof *host, cudaMemcpyDeviceToHost));
    const unsigned long long begin = host[blocks];
    qsort(host, blocks, sizeof *host, by_end);
    for (int part : parts) {
        snprintf(name, sizeof name, "ends.copy.%d", part);
        row(name,
            100.0 * (double) (host[(blocks - 1) * part / 100] - begin) /
                (double) (host[blocks - 1] - begin),
            "%");
    }
    check(cudaFree(end));
    free(host);
}

__global__ void copy_once(float *y, const float *x)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;

    y[i] = x[i];
}

__global__ void add_once(float *y, const float *x, const float *z)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;

    y[i] = 2 * x[i] + z[i];
}

static void onces()
{
    const int n = LARGE / share;
    const double copied = timed([=] { copy_once<<<n / BLOCK, BLOCK>>>(y, x); });
    const double added = timed([=] { add_once<<<n / BLOCK, BLOCK>>>(y, x, z); });

    row("once.copy", 8.0 * n / copied, "GB/s");
    row("once.add", 12.0 * n / added, "GB/s");
}

// ---- What is left in the L2 ----

static void leave(const char *how, size_t bytes)
{
    const int n = (int) (bytes / sizeof(float));

    sweep(y + LARGE / 2, (size_t) LARGE * 2);
    if (!strcmp(how, "read"))
        sweep(x, bytes);
    else if (!strcmp(how, "written"))
        copy<<<sms * 8, BLOCK>>>(x, y, NULL, n);
    else if (!strcmp(how, "copied"))
        check(cudaMemcpyAsync(x, y, bytes, cudaMemcpyDeviceToDevice));
    else if (!strcmp(how, "set"))
        check(cudaMemsetAsync(x, 0, bytes));
}

static void left(const char *how)
{
    static const int mib[] = { 8, 16, 24, 32, 40, 48 };

    for (size_t i = 0; i < sizeof mib / sizeof *mib; i++) {
        const size_t bytes = (size_t) mib[i] << 20;
        double ns[9];
        char name[40];
        const int samples = repeats < 9 ? repeats : 9;

        for (int k = 0; k < samples; k++) {
            leave(how, bytes);
            ns[k] = once([=] { sweep(x, bytes); }) * 1e6;
        }
        for (int k = 1; k < samples; k++) // the fastest: the others were disturbed
            ns[0] = ns[k] < ns[0] ? ns[k] : ns[0];
        snprintf(name, sizeof name, "left.%s.%d", how, mib[i]);
        row(name, (double) bytes / ns[0], "GB/s");
    }
}

// ---- The same work again ----

// Row r of a thread's column is r * stride elements on. What is stored is what was loaded.
__global__ void down_columns(float *to, const float *from, int rows, int stride, bool stores)
{
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;

    for (int r = 0; r < rows && column < stride; r++) {
        sum += ((volatile const float *) from)[r * stride + column];
        if (stores)
            ((volatile float *) to)[r * stride + column] = sum;
    }
    if (sum == 123456)
        *to = sum;
}

static void again(const char *how)
{
    static const int mib[] = { 4, 8, 12, 16, 20, 22, 24, 28, 32, 40, 48 };
    enum { ROWS = 96 };
    char name[40];

    for (int n : mib) {
        const int stride = (int) (((size_t) n << 20) / sizeof(float) / ROWS / 32 * 32);
        float *const x0 = x, *const to = !strcmp(how, "update") ? x : y;
        const bool stores = strcmp(how, "read");
        const double ns = timed(
            [=] { down_columns<<<(stride + 127) / 128, 128>>>(to, x0, ROWS, stride, stores); });
        snprintf(name, sizeof name, "again.%s.%d", how, n);
        row(name, ns / ROWS, "ns");
    }
}

int main(int argc, char **argv)
{
    static const char *const ways[] = { "read", "written", "copied", "set", "flushed" };

    open(argc, argv);
    x = array<float>(LARGE);
    y = array<float>(LARGE);
    z = array<float>(LARGE);
    out = array<float>(1);
    if (is_wanted("flight")) {
        flight("read", read, out);
        flight("copy", copy, y);
        flight("add", add, y);
    }
    if (is_wanted("later")) {
        later_rows("l2", 1 << 16);
        later_rows("memory", 1 << 21);
    }
    if (is_wanted("repeat")) {
        repeat_rows<float>();
        repeat_rows<float4>();
    }
    if (is_wanted("few"))
        few_sms();
    if (is_wanted("rewrite")) {
        rewrite_rows<float>();
        rewrite_rows<float4>();
    }
    if (is_wanted("fetch"))
        scattered_rows<false>();
    if (is_wanted("store"))
        scattered_rows<true>();
    if (is_wanted("ends"))
        ends();
    if (is_wanted("once"))
        onces();
    if (is_wanted("share")) {
        shares("l2", 1 << 16);
        shares("memory", 1 << 21);
    }
    for (const char *how : { "read", "copy", "update" })
        if (is_wanted("again"))
            again(how);
    for (const char *how : ways)
        if (is_wanted("left"))
            left(how);
    return 0;
}
