// managed.cu - managed memory that kernels and the host use in turn.
//
// Rows, in microseconds of a kernel or prefetch, for an array of KBYTES:
// resident.HOW.KBYTES: its pages are on the device
// fresh.HOW.KBYTES: neither host nor device has used its pages
// moved.HOW.KBYTES: the host has written all of its pages
// some.SHARE.KBYTES: the host has written the first page of each SHARE x 64 KB
// HOW: read, write (all words, the grid moves on), block (each block has a part of its own),
//     pages (a word of each 4 KB), random (a word of each 64 KB, in mixed order), single (one
//     block)
// prefetch.STATE.KBYTES: to the device; STATE: fresh, host (the host has written it), device
// back.KBYTES: prefetch to the host
// host.KBYTES: the host reads a word of each 4 KB after the device has used them (host's clock)
// mostly.N.KBYTES: cudaMemAdviseSetReadMostly; the Nth read by a kernel; the host reads in between
// advised.N.KBYTES: the same, but the host has written the array before the advice
// stays.HOW.KBYTES: cudaMemAdviseSetPreferredLocation of the host
// part.CHUNKS.KBYTES: the host has written the first CHUNKS x 64 KB of an array on the device; 0:
//     one byte. seen.KBYTES: the host has read all of it
// pair.STATES.KBYTES: a kernel copies one array to another; STATES: of both, as above
// walk.THREADS.KBYTES: each thread follows 16 links through an array that the host has written
// sparse.EVERY.KBYTES: a kernel reads a word of each EVERY x 64 KB, all written by the host;
//     rest.EVERY.KBYTES: then a kernel reads all
// pinned.HOW.KBYTES: memory of cudaMallocHost; copy: to other memory of this kind, update: in place
// again.HOW.TIMES: blocks read the same 512 KB of cudaMallocHost TIMES times; HOW: ca, cg
#include "measure.cuh"

#include <time.h>

static int *out;

// ---- Kernels ----

__global__ void read_all(const int4 *p, size_t count, int *out)
{
    int sum = 0;

    for (size_t i = (size_t) blockIdx.x * blockDim.x + threadIdx.x; i < count;
         i += (size_t) gridDim.x * blockDim.x)
        sum += p[i].x + p[i].w;
    if (sum == 123456)
        *out = sum;
}

__global__ void write_all(int4 *p, size_t count)
{
    for (size_t i = (size_t) blockIdx.x * blockDim.x + threadIdx.x; i < count;
         i += (size_t) gridDim.x * blockDim.x)
        p[i] = make_int4(1, 2, 3, 4);
}

__global__ void read_parts(const int4 *p, size_t count, int *out)
{
    const size_t part = (count + gridDim.x - 1) / gridDim.x, begin = part * blockIdx.x;
    int sum = 0;

    for (size_t i = begin + threadIdx.x; i < begin + part && i < count; i += blockDim.x)
        sum += p[i].x + p[i].w;
    if (sum == 123456)
        *out = sum;
}

// A word of each `step` int4s; in mixed order if there are a power of two.
__global__ void read_some(const int4 *p, size_t count, size_t step, bool mix, int *out)
{
    const size_t i = (size_t) blockIdx.x * blockDim.x + threadIdx.x, places = count / step;

    if (i < places && p[(mix ? mixed((uint32_t) i) % places : i) * step].x == 123456)
        *out = 1;
}

__global__ void copy_all(int4 *to, const int4 *from, size_t count)
{
    for (size_t i = (size_t) blockIdx.x * blockDim.x + threadIdx.x; i < count;
         i += (size_t) gridDim.x * blockDim.x) {
        const int4 v = from[i];
        to[i] = make_int4(v.x + 1, v.y, v.z, v.w);
    }
}

__global__ void walk(const int4 *p, size_t count, int *out)
{
    const uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x;
    uint32_t at = mixed(thread);

    for (int step = 0; step < 16; step++)
        at = mixed(at + step + p[at % count].x);
    if (at == 123456)
        *out = 1;
}

enum How { READ, WRITE, BLOCK, PAGES, RANDOM, SINGLE, HOWS };
static const char *const hows[] = { "read", "write", "block", "pages", "random", "single" };

static void use(How how, int4 *p, size_t bytes)
{
    const size_t count = bytes / sizeof(int4);

    switch (how) {
    case READ:
        read_all<<<sms * 4, 512>>>(p, count, out);
        break;
    case WRITE:
        write_all<<<sms * 4, 512>>>(p, count);
        break;
    case BLOCK:
        read_parts<<<sms * 4, 512>>>(p, count, out);
        break;
    case PAGES:
        read_some<<<(int) (count / 256 / 256 + 1), 256>>>(p, count, 256, false, out);
        break;
    case RANDOM:
        read_some<<<(int) (count / 4096 / 256 + 1), 256>>>(p, count, 4096, true, out);
        break;
    default:
        read_all<<<1, 512>>>(p, count, out);
    }
    check(cudaGetLastError());
}

// ---- Places ----

static void prefetch(void *p, size_t bytes, bool to_device)
{
#if CUDART_VERSION >= 13000
    const cudaMemLocation where = { to_device ? cudaMemLocationTypeDevice : cudaMemLocationTypeHost,
                                    0 };
    check(cudaMemPrefetchAsync(p, bytes, where, 0, 0));
#else
    check(cudaMemPrefetchAsync(p, bytes, to_device ? 0 : cudaCpuDeviceId, 0));
#endif
}

static void advise(void *p, size_t bytes, cudaMemoryAdvise advice, bool device)
{
#if CUDART_VERSION >= 13000
    const cudaMemLocation where = { device ? cudaMemLocationTypeDevice : cudaMemLocationTypeHost,
                                    0 };
    check(cudaMemAdvise(p, bytes, advice, where));
#else
    check(cudaMemAdvise(p, bytes, advice, device ? 0 : cudaCpuDeviceId));
#endif
}

static void host_writes(void *p, size_t bytes, size_t step)
{
    for (size_t at = 0; at < bytes; at += step)
        ((volatile char *) p)[at] = (char) at;
}

static int host_reads(const void *p, size_t bytes)
{
    int sum = 0;

    for (size_t at = 0; at < bytes; at += 4096)
        sum += ((const volatile char *) p)[at];
    return sum;
}

static double host_us()
{
    timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double) t.tv_sec * 1e6 + (double) t.tv_nsec / 1e3;
}

enum State { FRESH, HOST, DEVICE, SOME };

static void nothing(int4 *)
{
}

// A new array for each sample, so that no run profits from the last. `before`: what the host does.
template <class Work, class Before>
static float sample(State state, size_t bytes, size_t some, Work work, Before before)
{
    int4 *p;
    float ms;

    check(cudaMallocManaged(&p, bytes));
    if (state == HOST)
        host_writes(p, bytes, 4096);
    if (state == DEVICE || state == SOME)
        use(WRITE, p, bytes);
    check(cudaDeviceSynchronize());
    if (state == SOME)
        host_writes(p, bytes, some);
    before(p);
    ms = once([&] { work(p, bytes); });
    check(cudaDeviceSynchronize());
    check(cudaFree(p));
    return ms * 1e3f;
}

template <class Work, class Before = void (*)(int4 *)>
static void state_row(const char *what, const char *which, State state, size_t bytes, size_t some,
                      Work work, Before before = nothing)
{
    enum { MOST = 15 };
    const int samples = repeats < MOST ? repeats : MOST;
    float us[MOST];
    char name[64];

    if (!is_wanted(what))
        return;
    for (int i = 0; i < samples; i++)
        us[i] = sample(state, bytes, some, work, before);
    qsort(us, samples, sizeof *us, by_size);
    snprintf(name, sizeof name, "%s.%s.%d", what, which, (int) (bytes >> 10));
    row(name, us[samples / 2], "us");
}

// ---- Rows ----

static void kernel_rows(How how, size_t bytes)
{
    const auto work = [=](int4 *p, size_t n) { use(how, p, n); };

    state_row("resident", hows[how], DEVICE, bytes, 0, work);
    state_row("fresh", hows[how], FRESH, bytes, 0, work);
    state_row("moved", hows[how], HOST, bytes, 0, work);
}

static void prefetch_rows(size_t bytes)
{
    const auto there = [](int4 *p, size_t n) { prefetch(p, n, true); };

    state_row("prefetch", "fresh", FRESH, bytes, 0, there);
    state_row("prefetch", "host", HOST, bytes, 0, there);
    state_row("prefetch", "device", DEVICE, bytes, 0, there);
    state_row("back", "device", DEVICE, bytes, 0, [](int4 *p, size_t n) { prefetch(p, n, false); });
}

static void host_row(size_t bytes)
{
    int4 *p;
    char name[64];
    double us;

    if (!is_wanted("host"))
        return;
    check(cudaMallocManaged(&p, bytes));
    use(WRITE, p, bytes);
    check(cudaDeviceSynchronize());
    us = host_us();
    host_reads(p, bytes);
    us = host_us() - us;
    snprintf(name, sizeof name, "host.read.%d", (int) (bytes >> 10));
    row(name, us, "us");
    check(cudaFree(p));
}

static void mostly_rows(const char *group, bool advised_first, size_t bytes)
{
    int4 *p;
    char name[64];

    if (!is_wanted(group))
        return;
    check(cudaMallocManaged(&p, bytes));
    if (advised_first)
        advise(p, bytes, cudaMemAdviseSetReadMostly, true);
    host_writes(p, bytes, 4096);
    if (!advised_first)
        advise(p, bytes, cudaMemAdviseSetReadMostly, true);
    for (int i = 1; i <= 3; i++) {
        const float ms = once([=] { use(READ, p, bytes); });
        snprintf(name, sizeof name, "%s.%d.%d", group, i, (int) (bytes >> 10));
        row(name, ms * 1e3, "us");
        host_reads(p, bytes);
    }
    check(cudaFree(p));
}

// What the host does to an array on the device, before a kernel reads all of it.
static void part_rows(size_t bytes)
{
    const size_t chunk = 64 << 10;
    const size_t parts[] = { 1, chunk, 4 * chunk, 8 * chunk, 16 * chunk, 31 * chunk };
    const auto read = [](int4 *p, size_t n) { use(READ, p, n); };

    for (size_t part : parts) {
        char name[16];
        if (part > bytes)
            continue;
        snprintf(name, sizeof name, "%d", (int) (part / chunk));
        state_row("part", name, DEVICE, bytes, 0, read,
                  [=](int4 *p) { host_writes(p, part, 4096); });
    }
    state_row("seen", "all", DEVICE, bytes, 0, read, [=](int4 *p) { host_reads(p, bytes); });
}

// ---- Two arrays ----

static void put(State state, int4 *p, size_t bytes)
{
    if (state == HOST)
        host_writes(p, bytes, 4096);
    if (state == DEVICE)
        use(WRITE, p, bytes);
}

static void pair_row(const char *name, State from_state, State to_state, size_t bytes)
{
    enum { MOST = 15 };
    const int samples = repeats < MOST ? repeats : MOST;
    float us[MOST];
    char text[64];

    for (int i = 0; i < samples; i++) {
        int4 *from, *to;
        check(cudaMallocManaged(&from, bytes));
        check(cudaMallocManaged(&to, bytes));
        put(from_state, from, bytes);
        put(to_state, to, bytes);
        check(cudaDeviceSynchronize());
        us[i] = once([=] { copy_all<<<sms * 4, 512>>>(to, from, bytes / sizeof(int4)); }) * 1e3f;
        check(cudaFree(from));
        check(cudaFree(to));
    }
    qsort(us, samples, sizeof *us, by_size);
    snprintf(text, sizeof text, "pair.%s.%d", name, (int) (bytes >> 10));
    row(text, us[samples / 2], "us");
}

static void pair_rows(size_t bytes)
{
    if (!is_wanted("pair"))
        return;
    pair_row("fresh_fresh", FRESH, FRESH, bytes);
    pair_row("host_fresh", HOST, FRESH, bytes);
    pair_row("host_host", HOST, HOST, bytes);
    pair_row("device_host", DEVICE, HOST, bytes);
    pair_row("device_fresh", DEVICE, FRESH, bytes);
}

static void walk_rows(size_t bytes)
{
    const int threads[] = { 32, 1024, 16384 };

    for (int count : threads) {
        char name[16];
        snprintf(name, sizeof name, "%d", count);
        state_row("walk", name, HOST, bytes, 0,
                  [=](int4 *p, size_t n) { walk<<<count / 32, 32>>>(p, n / sizeof(int4), out); });
    }
}

static void stays_rows(size_t bytes)
{
    const How kinds[] = { READ, WRITE, PAGES };

    for (How how : kinds) {
        int4 *p;
        char name[64];
        if (!is_wanted("stays"))
            return;
        check(cudaMallocManaged(&p, bytes));
        advise(p, bytes, cudaMemAdviseSetPreferredLocation, false);
        advise(p, bytes, cudaMemAdviseSetAccessedBy, true);
        host_writes(p, bytes, 4096);
        for (int i = 1; i <= 2; i++) {
            const float ms = once([=] { use(how, p, bytes); });
            snprintf(name, sizeof name, "stays.%s%d.%d", hows[how], i, (int) (bytes >> 10));
            row(name, ms * 1e3, "us");
        }
        check(cudaFree(p));
    }
}

static void pinned_pair_rows(int4 *p, size_t bytes)
{
    const size_t half = bytes / 2 / sizeof(int4);
    const char *const name[] = { "copy", "update" };

    for (int in_place = 0; in_place < 2; in_place++) {
        char text[64];
        snprintf(text, sizeof text, "pinned.%s.%d", name[in_place], (int) (bytes >> 10));
        row(text,
            timed([=] { copy_all<<<sms * 4, 512>>>(in_place ? p : p + half, p, half); }) / 1e3,
            "us");
    }
}

static void pinned_rows(size_t bytes)
{
    const How kinds[] = { READ, WRITE, PAGES, SINGLE };
    int4 *p;

    if (!is_wanted("pinned"))
        return;
    check(cudaMallocHost(&p, bytes));
    pinned_pair_rows(p, bytes);
    for (How how : kinds) {
        char name[64];
        snprintf(name, sizeof name, "pinned.%s.%d", hows[how], (int) (bytes >> 10));
        row(name, timed([=] { use(how, p, bytes); }) / 1e3, "us");
    }
    check(cudaFreeHost(p));
}

// A word of each `step` bytes, then all: what the first kernel has left on the host.
static void sparse_rows(size_t bytes)
{
    for (int every = 1; every <= 64; every *= 4) {
        const size_t step = ((size_t) every << 16) / sizeof(int4), count = bytes / sizeof(int4);
        char name[64];
        int4 *p;
        if (!is_wanted("sparse") || bytes < (size_t) every << 17)
            continue;
        check(cudaMallocManaged(&p, bytes));
        host_writes(p, bytes, 4096);
        float ms = once(
            [=] { read_some<<<(int) (count / step / 64 + 1), 64>>>(p, count, step, false, out); });
        snprintf(name, sizeof name, "sparse.%d.%d", every, (int) (bytes >> 10));
        row(name, ms * 1e3, "us");
        ms = once([=] { use(READ, p, bytes); });
        snprintf(name, sizeof name, "rest.%d.%d", every, (int) (bytes >> 10));
        row(name, ms * 1e3, "us");
        check(cudaFree(p));
    }
}

template <bool CG> __global__ void read_again(const int4 *p, size_t count, int times, int *out)
{
    int sum = 0;

    for (int t = 0; t < times; t++)
        for (size_t i = threadIdx.x; i < count; i += blockDim.x) {
            const int4 v = CG ? __ldcg(&p[i]) : p[i];
            sum += v.x + v.w + t;
        }
    if (sum == 123456)
        *out = sum;
}

// Each of a few blocks reads the same words.
static void again_rows()
{
    const size_t bytes = 64 << 10;
    int4 *p;

    if (!is_wanted("again"))
        return;
    check(cudaMallocHost(&p, bytes));
    for (int times = 1; times <= 16; times *= 4) {
        char name[64];
        snprintf(name, sizeof name, "again.ca.%d", times);
        row(name,
            timed([=] { read_again<false><<<sms, 512>>>(p, bytes / sizeof *p, times, out); }) / 1e3,
            "us");
        snprintf(name, sizeof name, "again.cg.%d", times);
        row(name,
            timed([=] { read_again<true><<<sms, 512>>>(p, bytes / sizeof *p, times, out); }) / 1e3,
            "us");
    }
    check(cudaFreeHost(p));
}

int main(int argc, char **argv)
{
    const int kbytes[] = { 4, 64, 512, 2048, 8192, 32768, 131072 };

    open(argc, argv);
    out = array<int>(1);
    use(READ, (int4 *) out, 0);
    for (int k : kbytes) {
        const size_t bytes = (size_t) k << 10;
        if (k / share < 4)
            continue;
        for (int how = 0; how < HOWS; how++)
            if (how != SINGLE || k <= 8192)
                kernel_rows((How) how, bytes);
        for (int every = 1; every <= 16; every *= 4)
            if (k >= 2048) {
                char which[16];
                snprintf(which, sizeof which, "%d", every);
                state_row("some", which, SOME, bytes, (size_t) every << 16,
                          [](int4 *p, size_t n) { use(READ, p, n); });
            }
        prefetch_rows(bytes);
        host_row(bytes);
        mostly_rows("mostly", true, bytes);
        mostly_rows("advised", false, bytes);
        part_rows(bytes);
        pair_rows(bytes);
        walk_rows(bytes);
        stays_rows(bytes);
        pinned_rows(bytes);
        sparse_rows(bytes);
    }
    again_rows();
    return 0;
}
