/* handlers.h - shared by the files of arithmetic (sim/exec/ops/integer.c ...
 * sim/exec/ops/convert.c).
 *
 * A handler is one expression over the 32 lanes of its operand planes. The macros turn it into
 * three C functions, for any x86-64, for AVX2 with FMA, and for AVX-512, each with a loop for full
 * warps and one for parts of a warp; the compiler vectorises all of them (-O3). Tables of Rows map
 * instructions to handlers; the processor decides which of the functions is bound. All must give
 * the same bits, so no expression may depend on contraction or on the order of operands.
 *
 * Registers of 8 and 16 bits live in the low bits of 32-bit lanes. Writers leave the upper bits
 * zero, except cvt to .s8 and .s16, which extends the sign to the whole register as PTX requires;
 * readers use only the bits of their own type.
 */
#ifndef SIM_EXEC_OPS_HANDLERS_H
#define SIM_EXEC_OPS_HANDLERS_H

#include "sim/exec/exec.h"

#include <string.h>

#define ALL_LANES 0xffffffffu

/* An instruction reads a plane as its own type, whatever type wrote it. */
typedef uint32_t __attribute__((may_alias)) Lane32;
typedef uint64_t __attribute__((may_alias)) Lane64;
typedef float __attribute__((may_alias)) LaneF32;
typedef double __attribute__((may_alias)) LaneF64;

#if defined __x86_64__
#define AVX2 __attribute__((target("avx2,fma")))
#if defined __clang__
#define AVX512 __attribute__((target("avx512f,avx512vl,avx512bw,avx512dq,fma")))
#else
#define AVX512                                                                                     \
    __attribute__((target("avx512f,avx512vl,avx512bw,avx512dq,fma,prefer-vector-width=512")))
#endif
#else
#define AVX2
#define AVX512
#endif
#define INLINE static inline __attribute__((always_inline, unused))

/* The functions to bind: 0: plain; 1: AVX2 and FMA; 2: AVX-512; -1: what the processor supports.
 * Tests set it. */
enum { SIMD_PLAIN, SIMD_AVX2, SIMD_AVX512, SIMD_LEVELS };
extern int simd_level;
int simd_now(void); /* 0, 1 or 2 */
int cpu_simd_level(void);

/* ---- Tables ---- */

typedef unsigned __int128 ModSet;
_Static_assert(MOD_load <= 128, "a ModSet has room for 128 mods: all but PTX_LATE_MODS");

#define M(mod)  ((ModSet) 1 << MOD_##mod)
#define T(type) (1u << TYPE_##type)
_Static_assert(TYPES <= 32, "a set of types has room for 32 types");

/* A row matches an instruction whose first type is in `types`, whose second type is in `types2` (0:
 * no second type), and whose mods are exactly these, in any order. */
typedef struct Row {
    Op op;
    uint32_t types, types2;
    ModSet mods;
    Run *run[SIMD_LEVELS]; /* by simd_level */
} Row;

#define RUN(name)                                                                                  \
    {                                                                                              \
        name, name##_avx2, name##_avx512                                                           \
    }
#define RUN1(name)                                                                                 \
    {                                                                                              \
        name, name, name                                                                           \
    }

/* Fills the step from the instruction, then sets the handler of the matching row. Mods in `ignored`
 * are not compared. Returns false if no row matches. */
bool bind_row(Step *step, const Instruction *in, const Row *rows, size_t count, ModSet ignored);
#define BIND(step, in, rows, ignored)                                                              \
    bind_row(step, in, rows, sizeof(rows) / sizeof *(rows), ignored)

/* Copies type, mods and flags of the instruction to the step. */
void fill_step(Step *step, const Instruction *in);
ModSet mods_of(const Instruction *in);

/* Parts of bind_integer and bind_float, in separate files. */
bool bind_bits(Step *step, const Instruction *in);   /* sim/exec/ops/bits.c */
bool bind_carry(Step *step, const Instruction *in);  /* sim/exec/ops/carry.c */
bool bind_move(Step *step, const Instruction *in);   /* sim/exec/ops/move.c */
bool bind_half(Step *step, const Instruction *in);   /* sim/exec/ops/half.c */
bool bind_video(Step *step, const Instruction *in);  /* sim/exec/ops/video.c */
bool bind_approx(Step *step, const Instruction *in); /* sim/exec/ops/approx.c */

/* ---- Handlers ---- */

/* The end of a handler of plain steps. In a row of steps without guards that a full warp executes,
 * each handler calls the next one's, which the compiler turns into a jump: this is faster than to
 * return to a loop. Otherwise warp->last_in_row is NULL. */
INLINE void run_next(Warp *warp, const Step *step)
{
    if (step >= warp->last_in_row)
        return;
    warp->at = step + 1;
    step[1].run(warp, step + 1, ALL_LANES);
}

/* Compiles name_lanes as name, name_avx2 and name_avx512. */
#define COMPILE(name)                                                                              \
    static __attribute__((unused)) void name(Warp *warp, const Step *step, uint32_t mask)          \
    {                                                                                              \
        name##_lanes(warp, step, mask);                                                            \
        run_next(warp, step);                                                                      \
    }                                                                                              \
    AVX2 static                                                                                    \
        __attribute__((unused)) void name##_avx2(Warp *warp, const Step *step, uint32_t mask)      \
    {                                                                                              \
        name##_lanes(warp, step, mask);                                                            \
        run_next(warp, step);                                                                      \
    }                                                                                              \
    AVX512 static                                                                                  \
        __attribute__((unused)) void name##_avx512(Warp *warp, const Step *step, uint32_t mask)    \
    {                                                                                              \
        name##_lanes(warp, step, mask);                                                            \
        run_next(warp, step);                                                                      \
    }

/* d and a source may be the same plane but never overlap partially, so ivdep is safe. */
#define FULL_LOOP(loads, expression)                                                               \
    _Pragma("GCC ivdep") for (int i = 0; i < LANES; i++)                                           \
    {                                                                                              \
        loads;                                                                                     \
        d[i] = (expression);                                                                       \
    }
#define PART_LOOP(loads, expression)                                                               \
    const int32_t *chosen = lanes_of(warp, mask);                                                  \
    _Pragma("GCC ivdep") for (int i = 0; i < LANES; i++)                                           \
    {                                                                                              \
        loads;                                                                                     \
        __typeof__(*d) value = (expression), old = d[i];                                           \
        d[i] = chosen[i] ? value : old;                                                            \
    }
#define LANE_LOOP(loads, expression)                                                               \
    if (mask == ALL_LANES) {                                                                       \
        FULL_LOOP(loads, expression)                                                               \
    } else {                                                                                       \
        PART_LOOP(loads, expression)                                                               \
    }

/* One level of a handler. The part of a warp has its own function, because its call of lanes_of()
 * would make the full warp save registers. */
#define HANDLER_AT(TARGET, name, suffix)                                                           \
    TARGET static __attribute__((unused, noinline)) void name##_part##suffix(                      \
        Warp *warp, const Step *step, uint32_t mask)                                               \
    {                                                                                              \
        name##_some(warp, step, mask);                                                             \
    }                                                                                              \
    TARGET static                                                                                  \
        __attribute__((unused)) void name##suffix(Warp *warp, const Step *step, uint32_t mask)     \
    {                                                                                              \
        if (mask == ALL_LANES) {                                                                   \
            name##_all(warp, step, ALL_LANES);                                                     \
            run_next(warp, step);                                                                  \
        } else {                                                                                   \
            name##_part##suffix(warp, step, mask);                                                 \
        }                                                                                          \
    }

#define HANDLER(name, D, pointers, loads, expression)                                              \
    INLINE void name##_all(Warp *warp, const Step *step, uint32_t mask)                            \
    {                                                                                              \
        D *d = plane(warp, step->d);                                                               \
        (void) mask;                                                                               \
        pointers;                                                                                  \
        FULL_LOOP(loads, expression)                                                               \
    }                                                                                              \
    INLINE void name##_some(Warp *warp, const Step *step, uint32_t mask)                           \
    {                                                                                              \
        D *d = plane(warp, step->d);                                                               \
        pointers;                                                                                  \
        PART_LOOP(loads, expression)                                                               \
    }                                                                                              \
    HANDLER_AT(, name, )                                                                           \
    HANDLER_AT(AVX2, name, _avx2)                                                                  \
    HANDLER_AT(AVX512, name, _avx512)

#define SOURCE(A, name) const A *name##_plane = plane(warp, step->name)
#define LOAD(A, name)   A name = name##_plane[i]

/* HANDLERn(name, type of a destination lane, types of source lanes, value in terms of a, b, c, e).
 */
#define HANDLER1(name, D, A, expression) HANDLER(name, D, SOURCE(A, a), LOAD(A, a), expression)
#define HANDLER2(name, D, A, B, expression)                                                        \
    HANDLER(name, D, SOURCE(A, a); SOURCE(B, b), LOAD(A, a); LOAD(B, b), expression)
#define HANDLER3(name, D, A, B, C, expression)                                                     \
    HANDLER(name, D, SOURCE(A, a); SOURCE(B, b); SOURCE(C, c), LOAD(A, a); LOAD(B, b);             \
            LOAD(C, c), expression)
#define HANDLER4(name, D, A, B, C, E, expression)                                                  \
    HANDLER(name, D, SOURCE(A, a); SOURCE(B, b); SOURCE(C, c); SOURCE(E, e), LOAD(A, a);           \
            LOAD(B, b); LOAD(C, c); LOAD(E, e), expression)

/* The first lane of the mask at or after `lane`; LANES: none. */
INLINE uint32_t next_lane(uint32_t mask, uint32_t lane)
{
    const uint32_t left = lane < LANES ? mask >> lane << lane : 0;

    return left ? (uint32_t) __builtin_ctz(left) : LANES;
}

/* Loops over the lanes i of the mask one by one: for rare forms, and where vectorising is not
 * allowed. */
#define FOR_LANES(i, mask)                                                                         \
    for (uint32_t i = next_lane(mask, 0); i < LANES; i = next_lane(mask, i + 1))

/* Widths of integers: lane, unsigned, signed. */
#define WIDTHS(X)                                                                                  \
    X(16, Lane32, uint16_t, int16_t)                                                               \
    X(32, Lane32, uint32_t, int32_t)                                                               \
    X(64, Lane64, uint64_t, int64_t)

/* ---- Predicates ---- */

/* A predicate source; constants (mov.pred p, 1) are planes like all constants. */
INLINE uint32_t predicate_of(const Warp *warp, int slot, bool negated)
{
    uint32_t value =
        slot >= 0 ? warp->predicates[slot] : (*(const Lane32 *) plane(warp, slot) ? ALL_LANES : 0);

    return negated ? ~value : value;
}

/* `slot` < 0: the result is unused. */
INLINE void set_predicate(Warp *warp, int slot, uint32_t mask, uint32_t value)
{
    if (slot >= 0)
        warp->predicates[slot] = (warp->predicates[slot] & ~mask) | (value & mask);
}

/* 1 << i, for loops over the lanes that make or read masks. */
extern const uint32_t lane_bit[LANES];

/* ---- Bits of floats ---- */

#define NAN_F32 0x7fffffffu
#define NAN_F64 0xfff8000000000000ull /* the NaN of an invalid operation */
#define NAN_F16 0x7fffu               /* also for bf16 */

INLINE uint32_t bits_f32(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

INLINE float f32_bits(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

INLINE uint64_t bits_f64(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

INLINE double f64_bits(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Subnormals become zeros of the same sign (.ftz). */
INLINE float flush(float x)
{
    uint32_t bits = bits_f32(x);
    return f32_bits(bits & 0x7f800000u ? bits : bits & 0x80000000u);
}

INLINE float same(float x)
{
    return x;
}

/* The bits of a result. Every NaN becomes the canonical NaN of PTX. */
INLINE uint32_t result_f32(float x)
{
    return x != x ? NAN_F32 : bits_f32(x);
}

INLINE uint32_t saturate_f32(float x)
{
    return !(x > 0) ? 0 : x > 1 ? 0x3f800000u : bits_f32(x);
}

INLINE uint64_t quiet_f64(double x)
{
    return bits_f64(x) | 0x0008000000000000ull;
}

/* PTX does not define the NaNs of f64. Here, a NaN result is the first NaN among the operands, or
 * NAN_F64 for an invalid operation.
 */
INLINE uint64_t result_f64(double x, double a, double b, double c)
{
    uint64_t nan = a != a ? quiet_f64(a) : b != b ? quiet_f64(b) : c != c ? quiet_f64(c) : NAN_F64;

    return x != x ? nan : bits_f64(x);
}

#endif
