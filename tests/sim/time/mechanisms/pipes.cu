// pipes.cu - instructions that share a pipe, constants in memory, and code that does not fit into
// the instruction cache.
//
// Rows, in cycles:
// mix.WHLAF: per scheduler, for W products of 64 bits (IMAD.WIDE), H upper halves (IMAD.HI),
//     L lower halves (IMAD), A of the ALU (PRMT) and F FFMAs, 8 warps per scheduler
// chain.*: between dependent instructions of one warp
// ldc.BITS.WARPS: per SM, for a load of constants whose address is in a register, the same in all
//     lanes
// uldc.BITS.BYTES.WARPS: the same in a loop of known length through a table of BYTES
// constants.BYTES.LANES.APART.STEP.WARPS: the same for LANES addresses, APART words apart, in a
// table
//     of BYTES; they move on by STEP words
// code.N.WARPS.PASS, words.N..., lines.N...: per FFMA of N in straight code, in the first and the
//     last of four passes: operands in registers, consecutive constants, constants 64 bytes apart
#include "measure.cuh"

enum { CHAINS = 4, PASSES = 4, CONSTANTS = 16384 };

static float *out;
static long long *clocks;
__constant__ float table[CONSTANTS];

// ---- Mixtures ----

struct Chains {
    unsigned long long wide[CHAINS];
    unsigned high[CHAINS], low[CHAINS], bits[CHAINS];
    float sum[CHAINS];
};

template <int WIDE, int HIGH, int LOW, int ALU, int FMA>
__device__ static void step(Chains &c, int i, unsigned y, float f)
{
#pragma unroll
    for (int k = 0; k < WIDE; k++)
        asm volatile("mad.wide.u32 %0, %1, %2, %0;"
                     : "+l"(c.wide[i])
                     : "r"((unsigned) c.wide[i]), "r"(y));
#pragma unroll
    for (int k = 0; k < FMA; k++)
        asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(c.sum[i]) : "f"(f));
#pragma unroll
    for (int k = 0; k < ALU; k++)
        asm volatile("prmt.b32 %0, %0, %1, 0x2103;" : "+r"(c.bits[i]) : "r"(y));
#pragma unroll
    for (int k = 0; k < LOW; k++)
        asm volatile("mad.lo.u32 %0, %0, %1, %1;" : "+r"(c.low[i]) : "r"(y));
#pragma unroll
    for (int k = 0; k < HIGH; k++)
        asm volatile("mul.hi.u32 %0, %0, %1;" : "+r"(c.high[i]) : "r"(y));
}

template <int WIDE, int HIGH, int LOW, int ALU, int FMA>
__global__ void mix(float *out, unsigned y, float f, int loops)
{
    Chains c;
    unsigned all = 0;

    for (int i = 0; i < CHAINS; i++) {
        c.wide[i] = c.high[i] = c.low[i] = c.bits[i] = threadIdx.x * 77 + i;
        c.sum[i] = i;
    }
    for (int l = 0; l < loops; l++)
#pragma unroll
        for (int k = 0; k < 16; k++)
            step<WIDE, HIGH, LOW, ALU, FMA>(c, k % CHAINS, y, f);
    for (int i = 0; i < CHAINS; i++)
        all += (unsigned) (c.wide[i] >> 29) + c.high[i] + c.low[i] + c.bits[i] +
               __float_as_uint(c.sum[i]);
    out[blockIdx.x * blockDim.x + threadIdx.x] = all;
}

template <int WIDE, int HIGH, int LOW, int ALU, int FMA> static void mix_row()
{
    char name[64];
    const int loops = 256 / (share > 8 ? 8 : share), warps = 8;
    auto run = [=](int l) {
        return timed(
            [=] { mix<WIDE, HIGH, LOW, ALU, FMA><<<sms, warps * 128>>>(out, 12345u, 1.5f, l); });
    };
    const double few = run(loops), many = run(3 * loops);

    snprintf(name, sizeof name, "mix.%d%d%d%d%d", WIDE, HIGH, LOW, ALU, FMA);
    row(name, (many - few) * 1e-6 * sm_khz / (2.0 * loops * 16 * warps), "cycles");
}

static void mixes()
{
    mix_row<1, 0, 0, 0, 0>(), mix_row<0, 1, 0, 0, 0>(), mix_row<0, 0, 1, 0, 0>(),
        mix_row<0, 0, 0, 1, 0>();
    mix_row<0, 0, 0, 0, 1>();
    mix_row<1, 0, 0, 1, 0>(), mix_row<1, 0, 0, 2, 0>(), mix_row<1, 0, 0, 3, 0>();
    mix_row<1, 0, 0, 0, 1>(), mix_row<1, 0, 0, 0, 2>(), mix_row<1, 0, 0, 0, 3>(),
        mix_row<1, 0, 0, 0, 4>();
    mix_row<1, 0, 0, 1, 1>(), mix_row<1, 0, 0, 1, 2>(), mix_row<1, 0, 0, 2, 2>();
    mix_row<1, 0, 1, 0, 0>(), mix_row<1, 0, 1, 1, 0>(), mix_row<1, 0, 1, 2, 0>(),
        mix_row<1, 0, 1, 2, 1>();
    mix_row<1, 0, 1, 3, 0>(), mix_row<1, 0, 1, 1, 1>(), mix_row<1, 1, 0, 0, 0>();
    mix_row<0, 1, 0, 1, 0>(), mix_row<0, 1, 0, 2, 0>(), mix_row<0, 1, 0, 0, 2>(),
        mix_row<0, 1, 0, 0, 4>();
    mix_row<0, 1, 0, 1, 2>(), mix_row<0, 1, 1, 1, 0>();
    mix_row<0, 0, 1, 1, 0>(), mix_row<0, 0, 1, 0, 1>(), mix_row<0, 0, 1, 0, 2>(),
        mix_row<0, 0, 1, 1, 1>();
    mix_row<0, 0, 2, 1, 1>(), mix_row<0, 0, 2, 1, 2>(), mix_row<0, 0, 1, 0, 3>();
    mix_row<0, 0, 0, 1, 1>(), mix_row<0, 0, 0, 1, 2>(), mix_row<0, 0, 0, 2, 1>();
}

// ---- Chains ----

template <int KIND> __global__ void chain(float *out, long long *clocks, unsigned y, int loops)
{
    Chains c;
    long long from;

    c.wide[0] = c.high[0] = c.low[0] = c.bits[0] = threadIdx.x;
    from = clock64();
    for (int l = 0; l < loops; l++)
#pragma unroll
        for (int k = 0; k < 64; k++) {
            step<KIND == 0, KIND == 1, KIND == 2 || KIND == 4, KIND == 3 || KIND == 4, 0>(c, 0, y,
                                                                                          0);
            if (KIND == 4) // the ALU's result goes to the multiplier and back
                c.low[0] = c.bits[0] = c.low[0] ^ c.bits[0];
        }
    *clocks = clock64() - from;
    out[threadIdx.x] = (float) (c.wide[0] + c.high[0] + c.low[0] + c.bits[0]);
}

static double clocks_of(int at)
{
    long long cycles[PASSES];

    check(cudaDeviceSynchronize());
    check(cudaMemcpy(cycles, clocks, sizeof cycles, cudaMemcpyDeviceToHost));
    return (double) cycles[at];
}

template <int KIND> static void chain_row(const char *name)
{
    double cycles[2];

    for (int i = 0; i < 4; i++) {
        chain<KIND><<<1, 32>>>(out, clocks, 12345u, i % 2 ? 24 : 8);
        cycles[i % 2] = clocks_of(0);
    }
    row(name, (cycles[1] - cycles[0]) / (16 * 64), "cycles");
}

// ---- Loads of constants ----

template <int WORDS> __device__ static unsigned load(unsigned long long at)
{
    unsigned a, b = 0, c = 0, d = 0;

    if (WORDS == 1)
        asm volatile("ld.const.u32 %0, [%1];" : "=r"(a) : "l"(at));
    if (WORDS == 2)
        asm volatile("ld.const.v2.u32 {%0, %1}, [%2];" : "=r"(a), "=r"(b) : "l"(at));
    if (WORDS == 4)
        asm volatile("ld.const.v4.u32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
                     : "l"(at));
    return a ^ b ^ c ^ d;
}

template <int WORDS> __global__ void load_constants(float *out, const unsigned *offsets, int loops)
{
    unsigned long long base;
    unsigned sum = 0, at = offsets[threadIdx.x & 1];

    asm("mov.u64 %0, table;" : "=l"(base));
    for (int l = 0; l < loops; l++) {
#pragma unroll
        for (int k = 0; k < 16; k++)
            sum ^= load<WORDS>(base + at + k * WORDS * 4);
        at = (at + 64) & 1023;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = (float) sum;
}

template <int WORDS> static void load_rows()
{
    unsigned *offsets = (unsigned *) out + (1 << 20);
    const int loops = 64 / (share > 8 ? 8 : share);
    char name[64];

    check(cudaMemset(offsets, 0, 256));
    for (int warps = 1; warps <= 32; warps *= 4) {
        auto run = [=](int l) {
            return timed([=] { load_constants<WORDS><<<sms, warps * 32>>>(out, offsets, l); });
        };
        const double few = run(loops), many = run(3 * loops);
        snprintf(name, sizeof name, "ldc.%d.%d", WORDS * 32, warps);
        row(name, (many - few) * 1e-6 * sm_khz / (2.0 * loops * 16 * warps), "cycles");
    }
}

// ---- Constants in a loop of known length ----

template <int WORDS> __device__ static float sum_of_words(unsigned at)
{
    const float2 two = *(const float2 *) &table[WORDS > 1 ? at : 0];

    if (WORDS == 1)
        return table[at];
    if (WORDS == 2)
        return two.x + two.y;
    const float4 four = *(const float4 *) &table[at];
    return four.x + four.y + four.z + four.w;
}

// The table's first loads, again and again. ptxas 13.0 loads one half of each float4 with the
// address in a uniform register (ULDC) and all else with LDC, so rows of 128 bits without those of
// 64 show what a ULDC takes.
template <int WORDS, int LOADS> __global__ void load_uniform(float *out, float y, int loops)
{
    float sum = 0;

    for (int l = 0; l < loops; l++)
#pragma unroll 2
        for (int k = 0; k < LOADS; k++)
            sum = fmaf(sum, y, sum_of_words<WORDS>(k * WORDS));
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

template <int WORDS, int LOADS> static void uniform_row()
{
    const int loops = 8192 / LOADS / (share > 4 ? 4 : share);
    char name[64];

    for (int warps = 1; warps <= 32; warps *= warps < 4 ? 4 : 2) {
        auto run = [=](int l) {
            return timed([=] { load_uniform<WORDS, LOADS><<<sms, warps * 32>>>(out, 0.5f, l); });
        };
        const double few = run(loops), many = run(3 * loops);
        snprintf(name, sizeof name, "uldc.%d.%d.%d", WORDS * 32, LOADS * WORDS * 4, warps);
        row(name, (many - few) * 1e-6 * sm_khz / (2.0 * loops * LOADS * warps), "cycles");
    }
}

static void uniform_rows()
{
    uniform_row<1, 128>();
    uniform_row<1, 2048>();
    uniform_row<2, 64>();
    uniform_row<2, 1024>();
    uniform_row<4, 32>();
    uniform_row<4, 512>();
}

// ---- Constants at different addresses ----

// Lane l reads word `scatter[l]` of a table of `words` words, and moves on by `step` words.
__global__ void gather_constants(float *out, const unsigned *scatter, int loops, unsigned words,
                                 unsigned step)
{
    unsigned long long base;
    unsigned sum = 0, at = scatter[threadIdx.x % 32] + threadIdx.x / 32 * 7 * step;

    asm("mov.u64 %0, table;" : "=l"(base));
    for (int l = 0; l < loops; l++) {
#pragma unroll
        for (int k = 0; k < 8; k++) {
            at = (at + step) & (words - 1);
            sum ^= load<1>(base + 4 * at);
        }
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = (float) sum;
}

// `lanes`: the different addresses, `apart` words apart.
static void gather_row(unsigned words, int lanes, unsigned apart, unsigned step, int warps)
{
    unsigned *scatter = (unsigned *) out + (1 << 20), host[32];
    const int loops = 64 / (share > 8 ? 8 : share);
    char name[64];

    for (int l = 0; l < 32; l++)
        host[l] = (unsigned) (l % lanes) * apart & (words - 1);
    check(cudaMemcpy(scatter, host, sizeof host, cudaMemcpyHostToDevice));
    auto run = [=](int l) {
        return timed([=] { gather_constants<<<sms, warps * 32>>>(out, scatter, l, words, step); });
    };
    const double few = run(loops), many = run(3 * loops);
    snprintf(name, sizeof name, "constants.%u.%d.%u.%u.%d", words * 4, lanes, apart, step, warps);
    row(name, (many - few) * 1e-6 * sm_khz / (2.0 * loops * 8 * warps), "cycles");
}

static void gather_rows()
{
    for (int warps = 1; warps <= 32; warps *= warps == 1 ? 8 : 4) {
        for (unsigned bytes = 512; bytes <= 65536; bytes *= 2) /* one address: a line at a time */
            gather_row(bytes / 4, 1, 0, 16, warps);
        for (unsigned bytes = 512; bytes <= 65536; bytes *= 2) /* all lanes, scattered */
            gather_row(bytes / 4, 32, bytes / 4 / 32 + 1, 5, warps);
        for (int lanes = 2; lanes <= 32; lanes *= 2)
            for (unsigned apart = 1; apart <= 64; apart *= 4) /* in 512 bytes and in 8192 */
                gather_row(128, lanes, apart, 3, warps), gather_row(2048, lanes, apart, 3, warps);
    }
}

// ---- Straight code ----

enum { REGISTERS = 0, EACH_WORD = 1, EACH_LINE = 16 };

template <int N, int STRIDE> __global__ void straight(float *out, long long *clocks, float y)
{
    float x[CHAINS] = { y, y, y, y };

#pragma unroll 1
    for (int pass = 0; pass < PASSES; pass++) {
        const long long from = clock64();
#pragma unroll
        for (int k = 0; k < N; k++)
            if (STRIDE == REGISTERS)
                asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(x[k % CHAINS]) : "f"(y));
            else
                x[k % CHAINS] = __fmaf_rn(x[k % CHAINS], y, table[k * STRIDE]);
        if (threadIdx.x == 0 && blockIdx.x == 0)
            clocks[pass] = clock64() - from;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = x[0] + x[1] + x[2] + x[3];
}

template <int N, int STRIDE> static void straight_rows(const char *what)
{
    char name[64];

    for (int warps = 1; warps <= 32; warps *= 8 >> (warps > 1)) {
        double cycles[2] = { 0, 0 };
        for (int i = 0; i < 3; i++) {
            straight<N, STRIDE><<<sms, warps * 32>>>(out, clocks, 0.5f);
            cycles[0] = clocks_of(0);
            cycles[1] = clocks_of(PASSES - 1);
        }
        for (int last = 0; last < 2; last++) {
            snprintf(name, sizeof name, "%s.%d.%d.%s", what, N, warps, last ? "last" : "first");
            row(name, cycles[last] / N, "cycles");
        }
    }
}

static void straights()
{
    straight_rows<256, REGISTERS>("code"), straight_rows<1024, REGISTERS>("code");
    straight_rows<2048, REGISTERS>("code"), straight_rows<4096, REGISTERS>("code");
    straight_rows<8192, REGISTERS>("code"), straight_rows<16384, REGISTERS>("code");
    straight_rows<256, EACH_WORD>("words"), straight_rows<512, EACH_WORD>("words");
    straight_rows<1024, EACH_WORD>("words"), straight_rows<2048, EACH_WORD>("words");
    straight_rows<4096, EACH_WORD>("words"), straight_rows<8192, EACH_WORD>("words");
    straight_rows<16, EACH_LINE>("lines"), straight_rows<32, EACH_LINE>("lines");
    straight_rows<64, EACH_LINE>("lines"), straight_rows<128, EACH_LINE>("lines");
    straight_rows<256, EACH_LINE>("lines"), straight_rows<512, EACH_LINE>("lines");
    straight_rows<1024, EACH_LINE>("lines");
}

int main(int argc, char **argv)
{
    open(argc, argv);
    out = array<float>((size_t) 1 << 21);
    clocks = array<long long>(PASSES);
    if (is_wanted("mix"))
        mixes();
    if (is_wanted("chain")) {
        chain_row<0>("chain.wide");
        chain_row<1>("chain.high");
        chain_row<2>("chain.low");
        chain_row<3>("chain.alu");
        chain_row<4>("chain.alternating");
    }
    if (is_wanted("ldc"))
        load_rows<1>(), load_rows<2>(), load_rows<4>();
    if (is_wanted("uldc"))
        uniform_rows();
    if (is_wanted("constants"))
        gather_rows();
    if (is_wanted("straight"))
        straights();
    return 0;
}
