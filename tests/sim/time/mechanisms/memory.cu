// memory.cu - local memory, lines per request of the L1, gathers and chases by footprint.
//
// Rows: local.MODE.WORDS.BLOCKS    ns per instruction of a warp and SM; BLOCKS of 256 threads per
// SM
//       tags.PLACE.LINES           ns per request of a warp and SM; PLACE: l1 (hits), l2 (misses
//       the L1) gather.KIB                 billions of words per second, of the whole device
//       chase.KIB                  ns per dependent load
#include "measure.cuh"

static float *out;

// ---- Local memory ----

// Each of `rounds` steps adds to one word of the thread's array: a load and a store. The lanes'
// words are the same (one line), or differ. The index is not known when this is compiled.
template <int WORDS> __global__ void local_update(float *out, int rounds, int step, int by_lane)
{
    float a[WORDS];
    int i = by_lane ? mixed(threadIdx.x) : threadIdx.x / 32;

    for (int k = 0; k < WORDS; k++)
        a[k] = threadIdx.x;
#pragma unroll 4
    for (int r = 0; r < rounds; r++) {
        i += step;
        a[i & (WORDS - 1)] += 1.5f;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = a[step & (WORDS - 1)];
}

// Reads only: neighbours are independent of each other.
template <int WORDS> __global__ void local_read(float *out, int rounds, int step, int by_lane)
{
    float a[WORDS], sum = 0;
    int i = by_lane ? mixed(threadIdx.x) : threadIdx.x / 32;

    for (int k = 0; k < WORDS; k++)
        a[k] = threadIdx.x + step;
#pragma unroll 8
    for (int r = 0; r < rounds; r++) {
        i += step;
        sum += a[i & (WORDS - 1)];
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// Rounds cost the difference of two launches, so that neither filling the array nor the launch
// counts.
template <class Kernel>
static void local_row(const char *mode, Kernel kernel, int words, int blocks, int by_lane,
                      int accesses)
{
    const int rounds = 256 / (share > 8 ? 8 : share) + (share > 1 ? 0 : words);
    float *const o = out;
    char name[64];

    const double few = timed([=] { kernel<<<blocks * sms, 256>>>(o, rounds, 5, by_lane); });
    const double many = timed([=] { kernel<<<blocks * sms, 256>>>(o, 2 * rounds, 5, by_lane); });
    snprintf(name, sizeof name, "local.%s.%d.%d", mode, words, blocks);
    row(name, (many - few) / rounds / accesses / (8 * blocks), "ns/instruction");
}

template <int WORDS> static void local_rows()
{
    for (int blocks = 1; blocks <= 8; blocks *= 2) {
        local_row("update_same", local_update<WORDS>, WORDS, blocks, 0, 2);
        local_row("update_lanes", local_update<WORDS>, WORDS, blocks, 1, 2);
        local_row("read_same", local_read<WORDS>, WORDS, blocks, 0, 1);
        local_row("read_lanes", local_read<WORDS>, WORDS, blocks, 1, 1);
    }
}

// ---- Lines per request ----

// Each request of a warp touches LINES lines; consecutive requests touch others, out of `lines`.
template <int LINES>
__global__ void requests(float *out, const float *in, unsigned lines, int rounds)
{
    const unsigned lane = threadIdx.x % 32, warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    unsigned at = warp * LINES * 7 + lane % LINES;
    float sum = 0;

    at %= lines;
    for (int r = 0; r < rounds; r += 8) {
#pragma unroll
        for (int k = 0; k < 8; k++) {
            sum += in[at * 32 + lane / LINES];
            at += LINES;
            at = at >= lines ? at - lines : at;
        }
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

template <int LINES> static void tags_row(const char *place, const float *in, unsigned lines)
{
    const int rounds = 64 / (share > 4 ? 4 : share) & ~7, blocks = 2, threads = 1024;
    float *const o = out;
    char name[64];

    const double few =
        timed([=] { requests<LINES><<<blocks * sms, threads>>>(o, in, lines, rounds); });
    const double many =
        timed([=] { requests<LINES><<<blocks * sms, threads>>>(o, in, lines, 3 * rounds); });
    snprintf(name, sizeof name, "tags.%s.%d", place, LINES);
    row(name, (many - few) / (2 * rounds) / (blocks * threads / 32), "ns/request");
}

static void tags(const float *in)
{
    const unsigned small = 16 * 8, large = 8 * 8192; // lines of 16 KiB and of 8 MiB

    tags_row<1>("l1", in, small), tags_row<1>("l2", in, large);
    tags_row<2>("l1", in, small), tags_row<2>("l2", in, large);
    tags_row<4>("l1", in, small), tags_row<4>("l2", in, large);
    tags_row<8>("l1", in, small), tags_row<8>("l2", in, large);
    tags_row<16>("l1", in, small), tags_row<16>("l2", in, large);
    tags_row<32>("l1", in, small), tags_row<32>("l2", in, large);
}

// ---- Gathers and chases ----

__global__ void touch(float *out, const float *in, unsigned words)
{
    float sum = 0;

    for (unsigned i = (blockIdx.x * blockDim.x + threadIdx.x) * 8; i < words;
         i += gridDim.x * blockDim.x * 8)
        sum += in[i];
    if (sum == 1.25f)
        *out = sum;
}

// Four independent words per thread.
__global__ void gather(float *out, const float *in, unsigned words)
{
    const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;

#pragma unroll
    for (unsigned k = 0; k < 4; k++)
        sum += in[__umulhi(mixed(thread * 4 + k), words)];
    out[thread] = sum;
}

static const int footprints_kib[] = { 16,    32,    64,    128,   192,   256,    512,
                                      1024,  4096,  8192,  16384, 20480, 24576,  28672,
                                      32768, 40960, 49152, 57344, 65536, 131072, 262144 };
enum { FOOTPRINTS = sizeof footprints_kib / sizeof *footprints_kib };

static void gathers(const float *in)
{
    const int threads = (1 << 21) / share;
    float *const o = out;
    char name[64];

    for (int i = 0; i < FOOTPRINTS; i++) {
        const unsigned words = footprints_kib[i] * 256u;
        touch<<<4 * sms, 256>>>(o, in, words);
        const double ns = timed([=] { gather<<<threads / 256, 256>>>(o, in, words); });
        snprintf(name, sizeof name, "gather.%d", footprints_kib[i]);
        row(name, 4.0 * threads / ns, "Gword/s");
    }
}

// A ring through all lines: a full period needs `factor` - 1 to be a multiple of 4 and of each
// prime factor of `lines`, which has none above 7.
__global__ void make_ring(unsigned *ring, unsigned lines, unsigned factor)
{
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < lines; i += gridDim.x * blockDim.x)
        ring[i * 32] = (unsigned) (((unsigned long long) factor * i + 10007) % lines) * 32;
}

// Walks `before` steps first, so that a small ring is in the L1. Begins where the last launch
// ended, so that a large ring is not in the L2.
__global__ void chase(unsigned *out, const unsigned *ring, int steps, int before)
{
    unsigned at = *out;

    for (int i = 0; i < before; i++)
        at = ring[at];
#pragma unroll 8
    for (int i = 0; i < steps; i++)
        at = ring[at];
    *out = at;
}

static void chases(unsigned *ring)
{
    const int steps = 4096 / (share > 2 ? 2 : share);
    unsigned *const o = (unsigned *) out;
    char name[64];

    for (int i = 0; i < FOOTPRINTS; i++) {
        const unsigned lines = footprints_kib[i] * 8u;
        const unsigned factor = 420 * (lines / 1000 + 7) + 1;
        const int before = lines <= 2048 ? lines : 0;
        check(cudaMemset(o, 0, sizeof *o));
        make_ring<<<4 * sms, 256>>>(ring, lines, factor);
        touch<<<4 * sms, 256>>>(out + 32, (const float *) ring, lines * 32);
        const double few = timed([=] { chase<<<1, 1>>>(o, ring, steps, before); });
        touch<<<4 * sms, 256>>>(out + 32, (const float *) ring, lines * 32);
        const double many = timed([=] { chase<<<1, 1>>>(o, ring, 3 * steps, before); });
        snprintf(name, sizeof name, "chase.%d", footprints_kib[i]);
        row(name, (many - few) / (2 * steps), "ns/load");
    }
}

int main(int argc, char **argv)
{
    open(argc, argv);
    out = array<float>((size_t) 1 << 22);
    float *in = array<float>((size_t) 1 << 26);
    if (is_wanted("local") || is_wanted("local.4"))
        local_rows<4>();
    if (is_wanted("local") || is_wanted("local.16"))
        local_rows<16>();
    if (is_wanted("local") || is_wanted("local.64"))
        local_rows<64>();
    if (is_wanted("local") || is_wanted("local.256"))
        local_rows<256>();
    if (is_wanted("tags"))
        tags(in);
    if (is_wanted("gather"))
        gathers(in);
    if (is_wanted("chase"))
        chases((unsigned *) in);
    return 0;
}
