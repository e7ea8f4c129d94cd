// sequences.cu - operations for which ptxas generates many instructions, registers that
// instructions read, and barriers of several blocks per SM.
//
// Rows, in cycles:
// quotient.OP.OPERANDS.WARPS: per operation of a warp, each depending on the last, WARPS per SM.
//     OPERANDS: word (below 2^32), dividend (only the divisor is), both (none is); double, float
// reads.OP.NEW.WARPS: per scheduler, for a multiply-add, of whose three operands NEW were not read
// by
//     the instruction before it; WARPS per SM, 8 chains each. NEW 1: that it depends on; 2: and one
//     factor (8 instructions share the other); 3: all
// barrier.KIND.WARPS.BLOCKS: per barrier of a block of WARPS, BLOCKS per SM. KIND: sync;
//     or, count (votes of the block)
#include "measure.cuh"

static unsigned long long *out;

// ---- Quotients and roots ----

// `base` is added to each result, so operands stay in their range.
#define QUOTIENT(name, type, expression)                                                           \
    struct name {                                                                                  \
        typedef type T;                                                                            \
        __device__ static T of(T x, T y)                                                           \
        {                                                                                          \
            return expression;                                                                     \
        }                                                                                          \
    };
QUOTIENT(div_u32, unsigned, x / y)
QUOTIENT(rem_u32, unsigned, x % y)
QUOTIENT(div_s32, int, x / y)
QUOTIENT(rem_s32, int, x % y)
QUOTIENT(div_u64, unsigned long long, x / y)
QUOTIENT(rem_u64, unsigned long long, x % y)
QUOTIENT(div_s64, long long, x / y)
QUOTIENT(rem_s64, long long, x % y)
QUOTIENT(div_f32, float, x / y)
QUOTIENT(sqrt_f32, float, sqrtf(x + y))
QUOTIENT(div_f64, double, x / y)
QUOTIENT(rcp_f64, double, 1 / (x + y))
QUOTIENT(sqrt_f64, double, sqrt(x + y))

template <class Op>
__global__ void quotients(typename Op::T *out, typename Op::T base, typename Op::T divisor,
                          int loops)
{
    typename Op::T x = base + (typename Op::T) threadIdx.x;

#pragma unroll 1
    for (int i = 0; i < loops; i++)
        x = base + Op::of(x, divisor);
    out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

template <class Op> static double quotient_ns(double base, double divisor, int warps, int loops)
{
    typedef typename Op::T T;
    const int threads = warps < 32 ? warps * 32 : 1024, blocks = warps < 32 ? 1 : warps / 32;
    T *const o = (T *) out;

    return timed(
        [=] { quotients<Op><<<blocks * sms, threads>>>(o, (T) base, (T) divisor, loops); });
}

template <class Op>
static void quotient_rows(const char *op, const char *operands, double base, double divisor)
{
    const int few = 256 / share, many = 5 * few;

    for (int warps = 1; warps <= 64; warps *= 4) {
        char name[64];
        const double ns = quotient_ns<Op>(base, divisor, warps, many) -
                          quotient_ns<Op>(base, divisor, warps, few);

        snprintf(name, sizeof name, "quotient.%s.%s.%d", op, operands, warps);
        row(name, ns * 1e-6 * sm_khz / (many - few), "cycles");
    }
}
#define ROWS(op, operands, base, divisor) quotient_rows<op>(#op, #operands, base, divisor)

static void quotients_of_words()
{
    ROWS(div_u32, word, 2e9, 12345), ROWS(rem_u32, word, 2e9, 12345);
    ROWS(div_s32, word, 1e9, 12345), ROWS(rem_s32, word, 1e9, 12345);
}

static void long_quotients()
{
    ROWS(div_u64, word, 2e9, 12345), ROWS(rem_u64, word, 2e9, 12345);
    ROWS(div_s64, word, 1e9, 12345), ROWS(rem_s64, word, 1e9, 12345);
    ROWS(div_u64, dividend, 4e18, 1e9), ROWS(rem_u64, dividend, 4e18, 1e9);
    ROWS(div_s64, dividend, 4e18, 1e9), ROWS(rem_s64, dividend, 4e18, 1e9);
    ROWS(div_u64, both, 4e18, 3e13), ROWS(rem_u64, both, 4e18, 3e13);
}

static void fractions()
{
    ROWS(div_f32, float, 3, 7), ROWS(sqrt_f32, float, 3, 7);
    ROWS(div_f64, double, 3, 7), ROWS(rcp_f64, double, 3, 7), ROWS(sqrt_f64, double, 3, 7);
}

// ---- Operands ----

enum { CHAINS = 8 };

template <class T, int NEW> __global__ void reads(T *out, T a, T b, int loops)
{
    T x[CHAINS], p[CHAINS], q[CHAINS];
    T all = 0;

    for (int i = 0; i < CHAINS; i++) {
        x[i] = threadIdx.x + i;
        p[i] = a + i * threadIdx.x;
        q[i] = b - i * threadIdx.x;
    }
#pragma unroll 1
    for (int l = 0; l < loops; l++)
#pragma unroll
        for (int k = 0; k < CHAINS; k++)
#pragma unroll
            for (int i = 0; i < CHAINS; i++)
                x[i] = NEW == 1   ? fma(x[i], p[0], q[0])
                       : NEW == 2 ? fma(p[i], q[k], x[i])
                                  : fma(x[i], p[i], q[i]);
    for (int i = 0; i < CHAINS; i++)
        all += x[i];
    out[blockIdx.x * blockDim.x + threadIdx.x] = all;
}

template <class T, int NEW> static void read_row(const char *op)
{
    const int few = 64 / share > 1 ? 64 / share : 1, many = 5 * few;
    T *const o = (T *) out;

    for (int warps = 4; warps <= 32; warps *= 8) {
        char name[64];
        const double ns =
            timed([=] { reads<T, NEW><<<sms, 32 * warps>>>(o, (T) 1.5, (T) 0.3, many); }) -
            timed([=] { reads<T, NEW><<<sms, 32 * warps>>>(o, (T) 1.5, (T) 0.3, few); });
        const double each = (many - few) * CHAINS * CHAINS * (warps / 4.0);

        snprintf(name, sizeof name, "reads.%s.%d.%d", op, NEW, warps);
        row(name, ns * 1e-6 * sm_khz / each, "cycles");
    }
}

// ---- Barriers ----

enum { SYNC, OR, COUNT };

template <int KIND> __global__ void barriers(unsigned long long *out, int times)
{
    int x = threadIdx.x;

#pragma unroll 4
    for (int i = 0; i < times; i++) { // only the barriers' cost matters
        if (KIND == SYNC)
            __syncthreads();
        else if (KIND == OR)
            x += __syncthreads_or(x > i);
        else
            x += __syncthreads_count(x > i);
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

template <int KIND> static void barrier_row(const char *kind, int warps, int blocks)
{
    const int few = 512 / share, many = 5 * few, grid = blocks * sms;
    unsigned long long *const o = out;
    char name[64];
    const double ns = timed([=] { barriers<KIND><<<grid, 32 * warps>>>(o, many); }) -
                      timed([=] { barriers<KIND><<<grid, 32 * warps>>>(o, few); });

    snprintf(name, sizeof name, "barrier.%s.%d.%d", kind, warps, blocks);
    row(name, ns * 1e-6 * sm_khz / (many - few), "cycles");
}

static void barrier_rows()
{
    for (int warps = 1; warps <= 32; warps *= 2)
        for (int blocks = 1; warps * blocks <= 64 && blocks <= 32; blocks *= 2) {
            barrier_row<SYNC>("sync", warps, blocks);
            barrier_row<OR>("or", warps, blocks);
            barrier_row<COUNT>("count", warps, blocks);
        }
}

int main(int argc, char **argv)
{
    open(argc, argv);
    out = array<unsigned long long>((size_t) 1 << 21);
    if (is_wanted("quotient"))
        quotients_of_words(), long_quotients(), fractions();
    if (is_wanted("reads")) {
        read_row<double, 1>("DFMA"), read_row<double, 2>("DFMA"), read_row<double, 3>("DFMA");
        read_row<float, 1>("FFMA"), read_row<float, 2>("FFMA"), read_row<float, 3>("FFMA");
    }
    if (is_wanted("barrier"))
        barrier_rows();
    return 0;
}
