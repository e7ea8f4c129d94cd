// units.cu - latency and throughput of instructions, and what launches cost.
//
// Rows: latency.OP      cycles between dependent instructions of one warp, by clock64()
//       throughput.OP   instructions of warps per cycle and SM, by events and the attribute clock
//       rate warps.OP.N      cycles per instruction and SM, N warps per SM, each a dependent chain
//       clock.GAP       cycles between two reads of clock64() with nothing between them;
//       globaltimer: its step in ns barrier.WARPS   cycles per __syncthreads() of a block, by
//       clock64() launch.*        microseconds between two events
#include "measure.cuh"

#include <cuda_fp16.h>

static float *out;
static long long *clocks;

// ---- Operations: x depends on the last x ----

#define OPERATION(name, type, statement)                                                           \
    struct name {                                                                                  \
        typedef type T;                                                                            \
        __device__ static T of(T x, T y)                                                           \
        {                                                                                          \
            statement;                                                                             \
            return x;                                                                              \
        }                                                                                          \
    };
OPERATION(FADD, float, asm volatile("add.f32 %0, %0, %1;" : "+f"(x) : "f"(y)))
OPERATION(FMUL, float, asm volatile("mul.f32 %0, %0, %1;" : "+f"(x) : "f"(y)))
OPERATION(FFMA, float, asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(x) : "f"(y)))
OPERATION(FMNMX, float, asm volatile("max.f32 %0, %0, %1; add.f32 %0, %0, %1;" : "+f"(x) : "f"(y)))
OPERATION(HFMA2, unsigned, asm volatile("fma.rn.f16x2 %0, %0, %1, %1;" : "+r"(x) : "r"(y)))
OPERATION(HADD2, unsigned, asm volatile("add.f16x2 %0, %0, %1;" : "+r"(x) : "r"(y)))
OPERATION(HMUL2, unsigned, asm volatile("mul.f16x2 %0, %0, %1;" : "+r"(x) : "r"(y)))
OPERATION(BFMA2, unsigned, asm volatile("fma.rn.bf16x2 %0, %0, %1, %1;" : "+r"(x) : "r"(y)))
OPERATION(IADD, unsigned, asm volatile("add.u32 %0, %0, %1;" : "+r"(x) : "r"(y)))
OPERATION(IMAD, unsigned, asm volatile("mad.lo.u32 %0, %0, %1, %1;" : "+r"(x) : "r"(y)))
OPERATION(IMULHI, unsigned, asm volatile("mul.hi.u32 %0, %0, %1;" : "+r"(x) : "r"(y)))
OPERATION(LOP, unsigned, asm volatile("xor.b32 %0, %0, %1; add.u32 %0, %0, %1;" : "+r"(x) : "r"(y)))
OPERATION(SHF, unsigned, asm volatile("shf.l.wrap.b32 %0, %0, %1, %1;" : "+r"(x) : "r"(y)))
OPERATION(IMNMX, unsigned,
          asm volatile("max.u32 %0, %0, %1; add.u32 %0, %0, %1;"
                       : "+r"(x)
                       : "r"(y)))
OPERATION(PRMT, unsigned, asm volatile("prmt.b32 %0, %0, %1, 0x2103;" : "+r"(x) : "r"(y)))
OPERATION(POPC, unsigned, asm volatile("popc.b32 %0, %0;" : "+r"(x) : "r"(y)))
OPERATION(BREV, unsigned, asm volatile("brev.b32 %0, %0;" : "+r"(x) : "r"(y)))
OPERATION(FLO, unsigned, asm volatile("bfind.u32 %0, %0;" : "+r"(x) : "r"(y)))
OPERATION(DADD, double, asm volatile("add.f64 %0, %0, %1;" : "+d"(x) : "d"(y)))
OPERATION(DFMA, double, asm volatile("fma.rn.f64 %0, %0, %1, %1;" : "+d"(x) : "d"(y)))
OPERATION(EX2, float, asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(x) : "f"(y)))
OPERATION(LG2, float, asm volatile("lg2.approx.ftz.f32 %0, %0;" : "+f"(x) : "f"(y)))
OPERATION(RCP, float, asm volatile("rcp.approx.ftz.f32 %0, %0;" : "+f"(x) : "f"(y)))
OPERATION(RSQ, float, asm volatile("rsqrt.approx.ftz.f32 %0, %0;" : "+f"(x) : "f"(y)))
OPERATION(SQRT, float, asm volatile("sqrt.approx.ftz.f32 %0, %0;" : "+f"(x) : "f"(y)))
OPERATION(SIN, float, asm volatile("sin.approx.ftz.f32 %0, %0;" : "+f"(x) : "f"(y)))
OPERATION(TANH, float, asm volatile("tanh.approx.f32 %0, %0;" : "+f"(x) : "f"(y)))
OPERATION(EX2H2, unsigned, asm volatile("ex2.approx.f16x2 %0, %0;" : "+r"(x) : "r"(y)))
OPERATION(SQRT_RN, float, asm volatile("sqrt.rn.f32 %0, %0;" : "+f"(x) : "f"(y)))
OPERATION(RCP_RN, float, asm volatile("rcp.rn.f32 %0, %0;" : "+f"(x) : "f"(y)))
OPERATION(DIV_RN, float, asm volatile("div.rn.f32 %0, %0, %1;" : "+f"(x) : "f"(y)))
OPERATION(DIV_FAST, float, asm volatile("div.full.f32 %0, %0, %1;" : "+f"(x) : "f"(y)))
OPERATION(IDIV, unsigned, asm volatile("div.u32 %0, %1, %0;" : "+r"(x) : "r"(y)))
OPERATION(I2F_F2I, float,
          asm volatile("{.reg .s32 k; cvt.rzi.s32.f32 k, %0; cvt.rn.f32.s32 %0, k;}"
                       : "+f"(x)))
OPERATION(F2H_H2F, float,
          asm volatile("{.reg .b16 k; cvt.rn.f16.f32 k, %0; cvt.f32.f16 %0, k;}"
                       : "+f"(x)))
OPERATION(F2F64, float,
          asm volatile("{.reg .f64 k; cvt.f64.f32 k, %0; cvt.rn.f32.f64 %0, k;}"
                       : "+f"(x)))
OPERATION(SHFL, unsigned, asm volatile("shfl.sync.bfly.b32 %0, %0, 1, 31, -1;" : "+r"(x) : "r"(y)))
OPERATION(BALLOT, unsigned,
          asm volatile("{.reg .pred p; setp.ne.u32 p, %0, %1; vote.sync.ballot.b32 %0, p, -1;}"
                       : "+r"(x)
                       : "r"(y)))
OPERATION(REDUX, unsigned, asm volatile("redux.sync.add.u32 %0, %0, -1;" : "+r"(x) : "r"(y)))
OPERATION(SETP_SEL, unsigned,
          asm volatile("{.reg .pred p; setp.lt.u32 p, %0, %1; selp.u32 %0, %1, %0, p;}"
                       : "+r"(x)
                       : "r"(y)))

template <class Op, int ILP>
__global__ void chain(typename Op::T *out, long long *clocks, typename Op::T y, int loops)
{
    typename Op::T x[ILP];
    long long from;

    for (int i = 0; i < ILP; i++)
        x[i] = (typename Op::T)(threadIdx.x + i + 1);
    from = clock64();
    for (int l = 0; l < loops; l++) {
#pragma unroll
        for (int k = 0; k < 64 / ILP; k++)
#pragma unroll
            for (int i = 0; i < ILP; i++)
                x[i] = Op::of(x[i], y);
    }
    if (clocks)
        *clocks = clock64() - from;
    for (int i = 1; i < ILP; i++) // all chains are needed: ptxas drops others, volatile or not
        x[0] = x[0] + x[i];
    out[blockIdx.x * blockDim.x + threadIdx.x] = x[0];
}

static double clocks_of()
{
    long long cycles;

    check(cudaMemcpy(&cycles, clocks, sizeof cycles, cudaMemcpyDeviceToHost));
    return (double) cycles;
}

// The difference of two runs, without what their reads of the clock and first instructions cost.
template <class Op> static void latency_row(const char *name)
{
    typedef typename Op::T T;
    char full[64];
    double few = 0, many = 0;

    for (int i = 0; i < 2; i++) { // the first one loads the instructions
        chain<Op, 1><<<1, 32>>>((T *) out, clocks, (T) 1, 8);
        check(cudaDeviceSynchronize());
        few = clocks_of();
        chain<Op, 1><<<1, 32>>>((T *) out, clocks, (T) 1, 24);
        check(cudaDeviceSynchronize());
        many = clocks_of();
    }
    snprintf(full, sizeof full, "latency.%s", name);
    row(full, (many - few) / (16 * 64), "cycles");
}

template <class Op, int ILP> static double cycles_per_instruction(int warps, int loops)
{
    typedef typename Op::T T;
    const int threads = warps < 32 ? warps * 32 : 1024, blocks = warps < 32 ? 1 : warps / 32;
    T *const o = (T *) out;
    const double few =
        timed([=] { chain<Op, ILP><<<blocks * sms, threads>>>(o, NULL, (T) 1, loops); });
    const double many =
        timed([=] { chain<Op, ILP><<<blocks * sms, threads>>>(o, NULL, (T) 1, 3 * loops); });

    return (many - few) * 1e-6 * sm_khz / (2.0 * loops * 64 * warps);
}

template <class Op> static void throughput_row(const char *name)
{
    char full[64];

    snprintf(full, sizeof full, "throughput.%s", name);
    row(full, 1 / cycles_per_instruction<Op, 4>(64, 32 / (share > 8 ? 8 : share)), "/cycle");
}

template <class Op> static void warps_rows(const char *name)
{
    char full[64];

    for (int warps = 1; warps <= 32; warps *= 2) {
        snprintf(full, sizeof full, "warps.%s.%d", name, warps);
        row(full, cycles_per_instruction<Op, 1>(warps, 64 / (share > 8 ? 8 : share)),
            "cycles/instruction");
    }
}

template <class Op> static void both(const char *name)
{
    if (is_wanted("latency"))
        latency_row<Op>(name);
    if (is_wanted("throughput"))
        throughput_row<Op>(name);
}
#define BOTH(op) both<op>(#op)

static void operations()
{
    BOTH(FADD), BOTH(FMUL), BOTH(FFMA), BOTH(FMNMX), BOTH(HFMA2), BOTH(HADD2), BOTH(HMUL2),
        BOTH(BFMA2);
    BOTH(IADD), BOTH(IMAD), BOTH(IMULHI), BOTH(LOP), BOTH(SHF), BOTH(IMNMX), BOTH(PRMT), BOTH(POPC),
        BOTH(BREV), BOTH(FLO);
    BOTH(DADD), BOTH(DFMA), BOTH(EX2), BOTH(LG2), BOTH(RCP), BOTH(RSQ), BOTH(SQRT), BOTH(SIN),
        BOTH(TANH), BOTH(EX2H2);
    BOTH(SQRT_RN), BOTH(RCP_RN), BOTH(DIV_RN), BOTH(DIV_FAST), BOTH(IDIV);
    BOTH(I2F_F2I), BOTH(F2H_H2F), BOTH(F2F64), BOTH(SHFL), BOTH(BALLOT), BOTH(REDUX),
        BOTH(SETP_SEL);
}

// ---- Memory with one warp ----

enum { IN_SHARED, IN_LOCAL_WORDS, IN_L1, IN_CONSTANT };
__constant__ unsigned constant_ring[1024];

template <int PLACE>
__global__ void loads(unsigned *out, const unsigned *ring, long long *clocks, int steps)
{
    __shared__ unsigned shared_ring[1024];
    unsigned own[64];
    unsigned at = threadIdx.x & 1;
    long long from;

    for (int i = threadIdx.x; i < 1024; i += blockDim.x)
        shared_ring[i] = 0;
    if (PLACE == IN_LOCAL_WORDS)
        for (int i = 0; i < 64; i++)
            own[i] = (i + steps) & 63;
    __syncthreads(); // separates filling the ring from reading it
    for (int pass = 0; pass < 2; pass++) {
        from = clock64();
#pragma unroll 16
        for (int i = 0; i < steps; i++)
            switch (PLACE) {
            case IN_SHARED:
                at = shared_ring[at];
                break;
            case IN_LOCAL_WORDS:
                at = own[at];
                break;
            case IN_L1:
                at = ring[at];
                break;
            default:
                at = constant_ring[at];
            }
        from = clock64() - from;
    }
    *clocks = from;
    out[threadIdx.x] = at;
}

template <int PLACE> static void load_row(const char *name)
{
    unsigned *ring = (unsigned *) out + 4096;
    char full[64];

    check(cudaMemset(ring, 0, 4096));
    loads<PLACE><<<1, 32>>>((unsigned *) out, ring, clocks, 256);
    check(cudaDeviceSynchronize());
    const double few = clocks_of();
    loads<PLACE><<<1, 32>>>((unsigned *) out, ring, clocks, 1024);
    check(cudaDeviceSynchronize());
    snprintf(full, sizeof full, "latency.%s", name);
    row(full, (clocks_of() - few) / 768, "cycles");
}

__global__ void two_clocks(long long *clocks)
{
    const long long a = clock64(), b = clock64();

    *clocks = b - a;
}

__global__ void timer_step(long long *clocks)
{
    unsigned long long from, now;

    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(from));
    do
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    while (now == from);
    *clocks = now - from;
}

__global__ void barriers(long long *clocks, int times)
{
    __syncthreads(); // all warps begin together
    const long long from = clock64();
    for (int i = 0; i < times; i++)
        __syncthreads(); // only its cost matters
    if (threadIdx.x == 0)
        *clocks = clock64() - from;
}

static void waits()
{
    char name[64];

    two_clocks<<<1, 1>>>(clocks);
    two_clocks<<<1, 1>>>(clocks);
    row("clock.gap", clocks_of(), "cycles");
    timer_step<<<1, 1>>>(clocks);
    row("clock.globaltimer", clocks_of(), "ns");
    for (int warps = 1; warps <= 32; warps *= 2) {
        barriers<<<1, 32 * warps>>>(clocks, 64);
        barriers<<<1, 32 * warps>>>(clocks, 64);
        const double few = clocks_of();
        barriers<<<1, 32 * warps>>>(clocks, 192);
        snprintf(name, sizeof name, "barrier.%d", warps);
        row(name, (clocks_of() - few) / 128, "cycles");
    }
}

// ---- Launches ----

__global__ void empty()
{
}

__global__ void spin(float *out, int loops)
{
    float x = threadIdx.x;

    for (int i = 0; i < loops; i++)
        x = x * 0.999f + 1;
    out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

// Blocks that end at once: how many begin per nanosecond.
static void block_rates()
{
    for (int threads = 32; threads <= 1024; threads *= 2) {
        const int few = 16384, many = few + 131072 / share;
        char name[64];
        const double ns =
            timed([=] { empty<<<many, threads>>>(); }) - timed([=] { empty<<<few, threads>>>(); });

        snprintf(name, sizeof name, "launch.blocks.%d", threads);
        row(name, (many - few) / ns, "/ns");
    }
}

static void launches()
{
    static const int grids[] = { 1, 132, 1056, 8448 };
    float *const o = out;
    char name[64];

    row("launch.events_alone", timed([] {}) / 1e3, "us");
    for (int grid : grids) {
        snprintf(name, sizeof name, "launch.empty.%d", grid);
        row(name, timed([=] { empty<<<grid, 256>>>(); }) / 1e3, "us");
    }
    for (int many = 2; many <= 16; many *= 2) {
        snprintf(name, sizeof name, "launch.empties.%d", many);
        row(name, timed([=] {
                      for (int i = 0; i < many; i++)
                          empty<<<132, 256>>>();
                  }) / 1e3,
            "us");
    }
    for (int loops = 64; loops <= 16384; loops *= 4) {
        snprintf(name, sizeof name, "launch.spin.%d", loops);
        row(name, timed([=] { spin<<<132, 256>>>(o, loops); }) / 1e3, "us");
        snprintf(name, sizeof name, "launch.two_spins.%d", loops);
        row(name, timed([=] {
                      spin<<<132, 256>>>(o, loops);
                      spin<<<132, 256>>>(o, loops);
                  }) / 1e3,
            "us");
    }
    row("launch.memset_1MB", timed([=] { check(cudaMemsetAsync(o, 0, 1 << 20)); }) / 1e3, "us");
    row("launch.copy_1MB",
        timed([=] {
            check(cudaMemcpyAsync(o, o + (1 << 18), 1 << 20, cudaMemcpyDeviceToDevice));
        }) / 1e3,
        "us");
}

int main(int argc, char **argv)
{
    open(argc, argv);
    out = array<float>((size_t) 1 << 23);
    clocks = array<long long>(1);
    printf("%-32s %11d %s\n", "clock.rate", sm_khz / 1000, "MHz");
    operations();
    if (is_wanted("latency")) {
        load_row<IN_SHARED>("shared");
        load_row<IN_LOCAL_WORDS>("local");
        load_row<IN_L1>("l1");
        load_row<IN_CONSTANT>("constant");
        waits();
    }
    if (is_wanted("warps")) {
        warps_rows<FFMA>("FFMA");
        warps_rows<HFMA2>("HFMA2");
        warps_rows<RSQ>("RSQ");
        warps_rows<EX2>("EX2");
        warps_rows<DFMA>("DFMA");
        warps_rows<SHFL>("SHFL");
    }
    if (is_wanted("launch"))
        launches();
    if (is_wanted("launch") || is_wanted("blocks"))
        block_rates();
    return 0;
}
