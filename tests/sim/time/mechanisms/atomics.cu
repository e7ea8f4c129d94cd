// atomics.cu - updates of global and shared memory, by the number of addresses and lines.
//
// Rows: KIND.MODE.ADDRESSES.LINES, ns per update, of the whole device (global) or of an SM (shared)
//
// KIND: red_u32, red_f32, red_or, red_max (no result), atom_u32 (with its result), cas_u32;
// shared_u32, shared_f32
//
// MODE: lanes: lane n updates address n modulo ADDRESSES; all warps of the device share these lines
//
// hash: a random one of them; own: as lanes, but each warp has lines of its own
//
// one: as lanes, one warp of one block; each update waits for the last one
//
// KIND.sm.ADDRESSES.LINES.WARPS, ns per instruction: as lanes, one block of so many warps, each
// with lines of its own, others each round
//
// red_or.sweep.APART.BLOCKS, ns per instruction: lanes of 8 warps per block set bits that are APART
// bits apart
//
// red_or.burst.BLOCKS.ROUNDS, cycles: until a warp per block has sent ROUNDS instructions, all to
// one word
#include "measure.cuh"

enum { RED_U32, ATOM_U32, RED_F32, CAS_U32, RED_OR, RED_MAX };
enum Mode { LANES_MODE, HASH_MODE, OWN_MODE };

static unsigned *data, *out;

// Address n, of those that are dealt to `lines` lines in turn. Both numbers are powers of two.
__device__ static unsigned place(unsigned n, unsigned lines)
{
    return (n & (lines - 1)) * 32 + (n >> (__ffs(lines) - 1));
}

template <int KIND> __device__ static unsigned update(unsigned *p, unsigned value)
{
    switch (KIND) {
    case RED_U32:
        atomicAdd(p, value);
        return 0;
    case ATOM_U32:
        return atomicAdd(p, value);
    case RED_F32:
        atomicAdd((float *) p, (float) value);
        return 0;
    case RED_OR:
        atomicOr(p, value);
        return 0;
    case RED_MAX:
        atomicMax(p, value);
        return 0;
    default:
        return atomicCAS(p, value, value + 1);
    }
}

template <int KIND, int MODE>
__global__ void global_updates(unsigned *out, unsigned *data, unsigned addresses, unsigned lines,
                               int rounds)
{
    const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    unsigned *mine = data + (MODE == OWN_MODE ? thread / 32 * lines * 32 : 0);
    unsigned sum = 0;

    for (int r = 0; r < rounds; r++) {
        const unsigned n =
            (MODE == HASH_MODE ? mixed(thread + r * 0x10001u) : lane) & (addresses - 1);
        sum += update<KIND>(mine + place(n, lines), r + lane);
    }
    if (sum == 0x12345)
        *out = sum;
}

// One warp; the next address depends on the last value, which is used.
__global__ void one_warp(unsigned *out, unsigned *data, unsigned addresses, unsigned lines,
                         int rounds)
{
    const unsigned lane = threadIdx.x;
    unsigned last = 0;

    for (int r = 0; r < rounds; r++)
        last = atomicAdd(data + place((lane + (last >> 31)) & (addresses - 1), lines), 1);
    out[lane] = last;
}

template <int KIND, int MODE>
static void global_row(const char *kind, unsigned addresses, unsigned lines)
{
    static const char *const modes[] = { "lanes", "hash", "own" };
    const int rounds = 8, threads = 256, blocks = 4 * sms / (share > 4 ? 4 : share);
    unsigned *const o = out, *const d = data;
    char name[64];

    check(cudaMemset(data, 0, (size_t) 1 << 25));
    const double few = timed(
        [=] { global_updates<KIND, MODE><<<blocks, threads>>>(o, d, addresses, lines, rounds); });
    const double many = timed([=] {
        global_updates<KIND, MODE><<<blocks, threads>>>(o, d, addresses, lines, 2 * rounds);
    });
    snprintf(name, sizeof name, "%s.%s.%u.%u", kind, modes[MODE], addresses, lines);
    row(name, (many - few) / ((double) rounds * blocks * threads), "ns/update");
}

template <int KIND> static void global_rows(const char *kind)
{
    static const unsigned lanes[][2] = { { 1, 1 },  { 2, 1 },  { 4, 1 },  { 8, 1 }, { 16, 1 },
                                         { 32, 1 }, { 2, 2 },  { 8, 2 },  { 8, 8 }, { 32, 2 },
                                         { 32, 4 }, { 32, 8 }, { 32, 32 } };
    static const unsigned hash[][2] = { { 8, 1 },          { 32, 1 },     { 32, 4 },
                                        { 32, 8 },         { 64, 2 },     { 128, 4 },
                                        { 256, 8 },        { 4096, 128 }, { 65536, 2048 },
                                        { 1048576, 32768 } };
    static const unsigned own[][2] = { { 1, 1 }, { 8, 1 },  { 32, 1 },
                                       { 8, 8 }, { 32, 8 }, { 32, 32 } };

    for (auto &of : lanes)
        global_row<KIND, LANES_MODE>(kind, of[0], of[1]);
    for (auto &of : hash)
        global_row<KIND, HASH_MODE>(kind, of[0], of[1]);
    for (auto &of : own)
        global_row<KIND, OWN_MODE>(kind, of[0], of[1]);
}

// Each warp of one block updates lines of its own, others each round: what one SM sends.
template <int KIND>
__global__ void updates_of_sm(unsigned *data, unsigned addresses, unsigned lines, int rounds)
{
    enum { WARP_WORDS = 1 << 16 };
    const unsigned lane = threadIdx.x % 32;
    unsigned *mine = data + threadIdx.x / 32 * WARP_WORDS;

    if (lane >= addresses && addresses > 1)
        return;
#pragma unroll 1
    for (int r = 0; r < rounds; r++)
        update<KIND>(mine + ((r * lines * 32) & (WARP_WORDS - 1)) +
                         place(lane & (addresses - 1), lines),
                     r + lane);
}

template <int KIND> static void sm_rows(const char *kind)
{
    static const unsigned of[][2] = { { 1, 1 }, { 8, 1 },  { 16, 1 },  { 32, 1 },
                                      { 8, 8 }, { 32, 8 }, { 16, 16 }, { 32, 32 } };
    unsigned *const d = data;
    char name[64];

    for (auto &p : of)
        for (int warps = 1; warps <= 16; warps *= 4) {
            const unsigned addresses = p[0], lines = p[1];
            auto run = [=](int rounds) {
                return timed(
                    [=] { updates_of_sm<KIND><<<1, warps * 32>>>(d, addresses, lines, rounds); });
            };
            const double few = run(256), many = run(768);
            snprintf(name, sizeof name, "%s.sm.%u.%u.%d", kind, addresses, lines, warps);
            row(name, (many - few) / (512.0 * warps), "ns/instruction");
        }
}

// Thread t of a block sets every 256th multiple of `apart` bits: lanes that are neighbours update
// the same words if `apart` is small.
__global__ void sweep(unsigned *data, unsigned bits, unsigned apart)
{
    unsigned *mine = data + (size_t) blockIdx.x * (bits / 32);

    for (unsigned n = threadIdx.x * apart; n < bits; n += blockDim.x * apart)
        atomicOr(&mine[n / 32], 1u << n % 32);
}

// Each warp sends `rounds` updates of one word by all its lanes. The cycles until it has sent them.
__global__ void burst(unsigned *data, unsigned *cycles, int rounds)
{
    unsigned *p = data + (threadIdx.x >> 31);
    const long long from = clock64();

#pragma unroll 1
    for (int r = 0; r < rounds; r++)
        atomicOr(p + (threadIdx.x * rounds >> 30), r + threadIdx.x);
    if (threadIdx.x == 0)
        cycles[blockIdx.x] = (unsigned) (clock64() - from);
}

static void burst_rows()
{
    unsigned host[128], sum;
    char name[64];

    for (int blocks = 1; blocks <= 64; blocks *= 4)
        for (int rounds = 8; rounds <= 512; rounds *= 2) {
            burst<<<blocks, 32>>>(data, out, rounds);
            burst<<<blocks, 32>>>(data, out, rounds);
            check(cudaMemcpy(host, out, blocks * sizeof *host, cudaMemcpyDeviceToHost));
            sum = 0;
            for (int i = 0; i < blocks; i++)
                sum += host[i];
            snprintf(name, sizeof name, "red_or.burst.%d.%d", blocks, rounds);
            row(name, (double) sum / blocks, "cycles");
        }
}

static void sweep_rows()
{
    unsigned *const d = data;
    char name[64];

    for (int blocks = 1; blocks <= 16; blocks *= 4)
        for (unsigned apart = 1; apart <= 256; apart *= 2) {
            auto run = [=](unsigned bits) {
                return timed([=] { sweep<<<blocks, 256>>>(d, bits, apart); });
            };
            const unsigned bits = apart << 16;
            const double few = run(bits), many = run(3 * bits);
            snprintf(name, sizeof name, "red_or.sweep.%u.%d", apart, blocks);
            row(name, (many - few) / (2.0 * bits / apart / 32), "ns/instruction");
        }
}

static void one_rows()
{
    static const unsigned of[][2] = { { 1, 1 }, { 2, 1 },  { 8, 1 },  { 32, 1 },
                                      { 8, 8 }, { 32, 8 }, { 32, 32 } };
    unsigned *const o = out, *const d = data;
    char name[64];

    for (auto &p : of) {
        const unsigned addresses = p[0], lines = p[1];
        const double few = timed([=] { one_warp<<<1, 32>>>(o, d, addresses, lines, 64); });
        const double many = timed([=] { one_warp<<<1, 32>>>(o, d, addresses, lines, 192); });
        snprintf(name, sizeof name, "atom_u32.one.%u.%u", addresses, lines);
        row(name, (many - few) / 128, "ns/instruction");
    }
}

template <class T>
__global__ void shared_updates(T *out, unsigned addresses, int hashed, int rounds)
{
    __shared__ T bins[1024];
    const unsigned lane = threadIdx.x % 32;

    for (int i = threadIdx.x; i < 1024; i += blockDim.x)
        bins[i] = 0;
    __syncthreads(); // separates clearing the bins from updating them
    for (int r = 0; r < rounds; r++) {
        const unsigned n = hashed ? mixed(threadIdx.x + r * 0x10001u) : lane;
        atomicAdd(&bins[n & (addresses - 1)], (T) 1);
    }
    __syncthreads(); // separates the updates from reading the bins
    out[blockIdx.x * blockDim.x + threadIdx.x] = bins[threadIdx.x];
}

template <class T> static void shared_rows(const char *kind)
{
    static const unsigned of[][2] = { { 1, 0 },  { 2, 0 },  { 4, 0 },   { 8, 0 },   { 16, 0 },
                                      { 32, 0 }, { 32, 1 }, { 256, 1 }, { 1024, 1 } };
    T *const o = (T *) out;
    char name[64];

    for (auto &p : of) {
        const unsigned addresses = p[0];
        const int hashed = p[1], rounds = 32;
        const double few =
            timed([=] { shared_updates<T><<<2 * sms, 512>>>(o, addresses, hashed, rounds); });
        const double many =
            timed([=] { shared_updates<T><<<2 * sms, 512>>>(o, addresses, hashed, 2 * rounds); });
        snprintf(name, sizeof name, "%s.%s.%u", kind, hashed ? "hash" : "lanes", addresses);
        row(name, (many - few) / (rounds * 1024.0), "ns/update");
    }
}

int main(int argc, char **argv)
{
    open(argc, argv);
    data = array<unsigned>((size_t) 1 << 23);
    out = array<unsigned>((size_t) 1 << 20);
    if (is_wanted("global")) {
        global_rows<RED_U32>("red_u32");
        global_rows<ATOM_U32>("atom_u32");
        global_rows<RED_F32>("red_f32");
        global_rows<CAS_U32>("cas_u32");
        one_rows();
    }
    if (is_wanted("logic")) {
        global_rows<RED_OR>("red_or");
        global_rows<RED_MAX>("red_max");
    }
    if (is_wanted("sm")) {
        sm_rows<RED_U32>("red_u32");
        sm_rows<RED_OR>("red_or");
        sm_rows<RED_MAX>("red_max");
        sm_rows<RED_F32>("red_f32");
    }
    if (is_wanted("sweep"))
        sweep_rows(), burst_rows();
    if (is_wanted("shared")) {
        shared_rows<unsigned>("shared_u32");
        shared_rows<float>("shared_f32");
    }
    return 0;
}
