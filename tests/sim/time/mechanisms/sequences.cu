// sequences.cu - operations for which ptxas generates many instructions, and barriers of several
// blocks per SM.
//
// Rows, in cycles:
// quotient.OP.OPERANDS.WARPS: per operation of a warp, each depending on the last, WARPS per SM.
//     OPERANDS: word (below 2^32), dividend (only the divisor is), both (none is); double, float
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
    if (is_wanted("barrier"))
        barrier_rows();
    return 0;
}
