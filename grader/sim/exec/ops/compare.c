/* compare.c - setp and set with all comparisons, selp, slct, testp.
 *
 * setp has a handler for each comparison of each type, which gathers the lanes' answers in a mask;
 * set and comparisons of halves, which are rare, use a table of the relations that each comparison
 * accepts.
 */
#include "sim/exec/moved.h"
#include "sim/exec/ops/rounding.h"
#include "sim/base/common.h"

#if defined __x86_64__
#include <immintrin.h>
#endif

/* ---- Storing an answer ---- */

/* Combines the answer with the predicate c by .and, .or or .xor (step->mod), or not at all if that
 * is 0. */
static uint32_t combine(const Warp *warp, const Step *step, uint32_t answer)
{
    uint32_t c = step->mod ? predicate_of(warp, step->c, step->negated_c) : 0;

    switch (step->mod) {
    case MOD_and:
        return answer & c;
    case MOD_or:
        return answer | c;
    case MOD_xor:
        return answer ^ c;
    default:
        return answer;
    }
}

/* p | q: the answer and its negation. */
static void answer_both(Warp *warp, const Step *step, uint32_t mask, uint32_t answer)
{
    uint32_t p = combine(warp, step, answer), q = combine(warp, step, ~answer);

    set_predicate(warp, step->d, mask, p);
    set_predicate(warp, step->d2, mask, q);
}

static __attribute__((noinline)) void answer_any(Warp *warp, const Step *step, uint32_t mask,
                                                 uint32_t answer)
{
    if (step->mod || step->d2 >= 0)
        answer_both(warp, step, mask, answer);
    else
        set_predicate(warp, step->d, mask, answer);
    run_next(warp, step);
}

/* The end of a handler. The frequent case calls no function. */
INLINE void answer_setp(Warp *warp, const Step *step, uint32_t mask, uint32_t answer)
{
    if (mask != ALL_LANES || step->mod || step->d2 >= 0 || step->d < 0) {
        answer_any(warp, step, mask, answer);
        return;
    }
    warp->predicates[step->d] = answer;
    run_next(warp, step);
}

/* ---- setp ---- */

/* A bit for each lane whose answer is not 0. */
INLINE uint32_t gather(const int32_t answers[LANES])
{
    uint32_t answer = 0;

    for (int i = 0; i < LANES; i++)
        answer |= answers[i] ? lane_bit[i] : 0;
    return answer;
}

#if defined __x86_64__
AVX512 INLINE uint32_t gather_avx512(const int32_t answers[LANES])
{
    const uint32_t low = _mm512_movepi32_mask(_mm512_loadu_si512(answers));

    return low | (uint32_t) _mm512_movepi32_mask(_mm512_loadu_si512(answers + LANES / 2)) << 16;
}
#else
#define gather_avx512 gather
#endif

#define COMPARE_AT(TARGET, name, suffix, gather)                                                   \
    TARGET static void name##suffix(Warp *warp, const Step *step, uint32_t mask)                   \
    {                                                                                              \
        int32_t answers[LANES];                                                                    \
                                                                                                   \
        name##_answers(warp, step, answers);                                                       \
        answer_setp(warp, step, mask, gather(answers));                                            \
    }

#define COMPARE(name, A, B, in, expression)                                                        \
    INLINE void name##_answers(Warp *warp, const Step *step, int32_t answers[LANES])               \
    {                                                                                              \
        const A *a_plane = plane(warp, step->a), *b_plane = plane(warp, step->b);                  \
                                                                                                   \
        for (int i = 0; i < LANES; i++) {                                                          \
            B a = (B) in(a_plane[i]), b = (B) in(b_plane[i]);                                      \
            answers[i] = (expression) ? -1 : 0;                                                    \
        }                                                                                          \
    }                                                                                              \
    COMPARE_AT(, name, , gather)                                                                   \
    COMPARE_AT(AVX2, name, _avx2, gather)                                                          \
    COMPARE_AT(AVX512, name, _avx512, gather_avx512)

#define COMPARE_ORDER(suffix, L, B)                                                                \
    COMPARE(lt_##suffix, L, B, , a < b)                                                            \
    COMPARE(le_##suffix, L, B, , a <= b)                                                           \
    COMPARE(gt_##suffix, L, B, , a > b)                                                            \
    COMPARE(ge_##suffix, L, B, , a >= b)
#define COMPARE_WIDTH(W, L, U, S)                                                                  \
    COMPARE(eq_##W, L, U, , a == b)                                                                \
    COMPARE(ne_##W, L, U, , a != b)                                                                \
    COMPARE_ORDER(u##W, L, U)                                                                      \
    COMPARE_ORDER(s##W, L, S)
WIDTHS(COMPARE_WIDTH)

#define COMPARE_FLOAT(suffix, L, B, in)                                                            \
    COMPARE(eq_##suffix, L, B, in, a == b)                                                         \
    COMPARE(ne_##suffix, L, B, in, (a < b) | (a > b))                                              \
    COMPARE(lt_##suffix, L, B, in, a < b)                                                          \
    COMPARE(le_##suffix, L, B, in, a <= b)                                                         \
    COMPARE(gt_##suffix, L, B, in, a > b)                                                          \
    COMPARE(ge_##suffix, L, B, in, a >= b)                                                         \
    COMPARE(equ_##suffix, L, B, in, !((a < b) | (a > b)))                                          \
    COMPARE(neu_##suffix, L, B, in, !(a == b))                                                     \
    COMPARE(ltu_##suffix, L, B, in, !(a >= b))                                                     \
    COMPARE(leu_##suffix, L, B, in, !(a > b))                                                      \
    COMPARE(gtu_##suffix, L, B, in, !(a <= b))                                                     \
    COMPARE(geu_##suffix, L, B, in, !(a < b))                                                      \
    COMPARE(num_##suffix, L, B, in, (a == a) & (b == b))                                           \
    COMPARE(nan_##suffix, L, B, in, (a != a) | (b != b))
COMPARE_FLOAT(f32, LaneF32, float, )
COMPARE_FLOAT(f32_ftz, LaneF32, float, flush)
COMPARE_FLOAT(f64, LaneF64, double, )

#define ROW(types, mods, name) { OP_setp, types, 0, mods, RUN(name) },
#define ORDER_ROWS(type, suffix)                                                                   \
    ROW(T(type), M(lt), lt_##suffix)                                                               \
    ROW(T(type), M(le), le_##suffix)                                                               \
    ROW(T(type), M(gt), gt_##suffix) ROW(T(type), M(ge), ge_##suffix)
#define INTEGER_ROWS(W, lane, uint, sint)                                                          \
    ROW(T(B##W) | T(U##W) | T(S##W), M(eq), eq_##W)                                                \
    ROW(T(B##W) | T(U##W) | T(S##W), M(ne), ne_##W)                                                \
    ORDER_ROWS(U##W, u##W)                                                                         \
    ORDER_ROWS(S##W, s##W)                                                                         \
    ROW(T(U##W), M(lo), lt_u##W)                                                                   \
    ROW(T(U##W), M(ls), le_u##W) ROW(T(U##W), M(hi), gt_u##W) ROW(T(U##W), M(hs), ge_u##W)
/* clang-format off */
#define FLOAT_ROWS(type, more, suffix) \
    ROW(T(type), M(eq) | (more), eq_##suffix) \
    ROW(T(type), M(ne) | (more), ne_##suffix) \
    ROW(T(type), M(lt) | (more), lt_##suffix) \
    ROW(T(type), M(le) | (more), le_##suffix) \
    ROW(T(type), M(gt) | (more), gt_##suffix) \
    ROW(T(type), M(ge) | (more), ge_##suffix) \
    ROW(T(type), M(equ) | (more), equ_##suffix) \
    ROW(T(type), M(neu) | (more), neu_##suffix) \
    ROW(T(type), M(ltu) | (more), ltu_##suffix) \
    ROW(T(type), M(leu) | (more), leu_##suffix) \
    ROW(T(type), M(gtu) | (more), gtu_##suffix) \
    ROW(T(type), M(geu) | (more), geu_##suffix) \
    ROW(T(type), M(num) | (more), num_##suffix) \
    ROW(T(type), M(nan) | (more), nan_##suffix)
/* clang-format on */

/* ---- The table: which relations a comparison accepts ---- */

enum { LESS = 1, EQUAL = 2, GREATER = 4, UNORDERED = 8 };

static const struct {
    Mod mod;
    int accepted;
} comparisons[] = {
    { MOD_eq, EQUAL },
    { MOD_ne, LESS | GREATER },
    { MOD_lt, LESS },
    { MOD_le, LESS | EQUAL },
    { MOD_gt, GREATER },
    { MOD_ge, GREATER | EQUAL },
    { MOD_lo, LESS },
    { MOD_ls, LESS | EQUAL },
    { MOD_hi, GREATER },
    { MOD_hs, GREATER | EQUAL },
    { MOD_equ, EQUAL | UNORDERED },
    { MOD_neu, LESS | GREATER | UNORDERED },
    { MOD_ltu, LESS | UNORDERED },
    { MOD_leu, LESS | EQUAL | UNORDERED },
    { MOD_gtu, GREATER | UNORDERED },
    { MOD_geu, GREATER | EQUAL | UNORDERED },
    { MOD_num, LESS | EQUAL | GREATER },
    { MOD_nan, UNORDERED },
};

static int accepted_by(const Instruction *in)
{
    ModSet mods = mods_of(in);

    for (size_t i = 0; i < sizeof comparisons / sizeof *comparisons; i++)
        if (mods >> comparisons[i].mod & 1)
            return comparisons[i].accepted;
    return 0;
}

static int relation_of(double a, double b)
{
    return a < b ? LESS : a > b ? GREATER : a == b ? EQUAL : UNORDERED;
}

static int relation_u(uint64_t a, uint64_t b)
{
    return a < b ? LESS : a > b ? GREATER : EQUAL;
}

static int relation_s(int64_t a, int64_t b)
{
    return a < b ? LESS : a > b ? GREATER : EQUAL;
}

static double half_value(uint32_t half, bool bf16, bool ftz)
{
    if (ftz && !(half & 0x7c00))
        half &= 0x8000;
    return bf16 ? bf16_value(half) : f16_value(half);
}

/* The relation of a and b in lane i as `type`; of their upper halves if `upper`. */
static int relation(Warp *warp, const Step *step, PtxType type, uint32_t i, bool upper)
{
    const void *a = plane(warp, step->a), *b = plane(warp, step->b);
    uint64_t x = type_size(type) == 8 ? ((const Lane64 *) a)[i] : ((const Lane32 *) a)[i];
    uint64_t y = type_size(type) == 8 ? ((const Lane64 *) b)[i] : ((const Lane32 *) b)[i];
    bool bf16 = type == TYPE_BF16 || type == TYPE_BF16X2;
    int shift = upper ? 16 : 0;

    switch (type) {
    case TYPE_F16:
    case TYPE_F16X2:
    case TYPE_BF16:
    case TYPE_BF16X2:
        return relation_of(half_value((uint32_t) x >> shift & 0xffff, bf16, step->ftz),
                           half_value((uint32_t) y >> shift & 0xffff, bf16, step->ftz));
    case TYPE_F32:
        return step->ftz ? relation_of(flush(f32_bits((uint32_t) x)), flush(f32_bits((uint32_t) y)))
                         : relation_of(f32_bits((uint32_t) x), f32_bits((uint32_t) y));
    case TYPE_F64:
        return relation_of(f64_bits(x), f64_bits(y));
    case TYPE_S16:
        return relation_s((int16_t) x, (int16_t) y);
    case TYPE_S32:
        return relation_s((int32_t) x, (int32_t) y);
    case TYPE_S64:
        return relation_s((int64_t) x, (int64_t) y);
    case TYPE_B16:
    case TYPE_U16:
        return relation_u((uint16_t) x, (uint16_t) y);
    default:
        return relation_u(x, y);
    }
}

static uint32_t answers(Warp *warp, const Step *step, PtxType type, uint32_t mask, bool upper)
{
    uint32_t answer = 0;
    int accepted = accepted_by(step->in);

    FOR_LANES (i, mask)
        answer |= (uint32_t) ((relation(warp, step, type, i, upper) & accepted) != 0) << i;
    return answer;
}

static void setp_half(Warp *warp, const Step *step, uint32_t mask)
{
    answer_setp(warp, step, mask, answers(warp, step, step->type, mask, false));
}

/* p for the lower halves, q for the upper ones. */
static void setp_halves(Warp *warp, const Step *step, uint32_t mask)
{
    uint32_t low = combine(warp, step, answers(warp, step, step->type, mask, false));
    uint32_t high = combine(warp, step, answers(warp, step, step->type, mask, true));

    set_predicate(warp, step->d, mask, low);
    set_predicate(warp, step->d2, mask, high);
}

/* ---- setp of a moved register ---- */

/* How the values low .. high compare with another one. */
INLINE int relations_of(int64_t low, int64_t high, int64_t other)
{
    if (high < other)
        return LESS;
    if (low > other)
        return GREATER;
    return EQUAL | (low < other ? LESS : 0) | (high > other ? GREATER : 0);
}

static void setp_moved(Warp *warp, const Step *step, uint32_t mask)
{
    const bool is_unsigned = step->moved_setp.is_unsigned;
    const int accepted = step->moved_setp.accepted;
    const int32_t word = *(const int32_t *) plane(warp, step->moved_setp.with);

    if (!warp->moves) {
        step->inner(warp, step, mask);
        return;
    }
    const Extent *extent = &warp->extents[step->moved - 1];
    const int64_t by = (int64_t) moved_by(warp, step);
    const int64_t low = extent->low + by, high = extent->high + by;
    const int relations =
        relations_of(low, high, is_unsigned ? (int64_t) (uint32_t) word : (int64_t) word);
    const int yes = relations & accepted;
    if (low < (is_unsigned ? 0 : INT32_MIN) || high > INT32_MAX || (yes && yes != relations)) {
        moved_run_settled(warp, step, mask);
        return;
    }
    answer_setp(warp, step, mask, yes ? ALL_LANES : 0);
}

static int swapped(int accepted)
{
    return (accepted & EQUAL) | (accepted & LESS ? GREATER : 0) | (accepted & GREATER ? LESS : 0);
}

Run *compare_moved(Step *step, int value)
{
    const int accepted = accepted_by(step->in);
    const bool is_first = step->a == value;

    if (step->mod || step->d2 >= 0 || !accepted)
        return NULL;
    step->moved_setp.accepted = (uint8_t) (is_first ? accepted : swapped(accepted));
    step->moved_setp.with = is_first ? step->b : step->a;
    step->moved_setp.is_unsigned = step->in->types[0] == TYPE_U32;
    return setp_moved;
}

/* The value that set writes for true. */
static uint32_t yes_of(PtxType type, bool two)
{
    switch (type) {
    case TYPE_F32:
        return 0x3f800000;
    case TYPE_F16:
    case TYPE_F16X2:
        return 0x3c00;
    case TYPE_BF16:
    case TYPE_BF16X2:
        return 0x3f80;
    case TYPE_U16:
    case TYPE_S16:
        return 0xffff;
    default:
        return two ? 0xffff : ALL_LANES;
    }
}

static bool is_pair(PtxType type)
{
    return type == TYPE_F16X2 || type == TYPE_BF16X2;
}

static void set(Warp *warp, const Step *step, uint32_t mask)
{
    Lane32 *d = plane(warp, step->d);
    bool two = is_pair(step->type2);
    uint32_t yes = yes_of(step->type, two);
    uint32_t low = combine(warp, step, answers(warp, step, step->type2, mask, false));
    uint32_t high = two ? combine(warp, step, answers(warp, step, step->type2, mask, true)) : 0;

    FOR_LANES (i, mask)
        d[i] = (low >> i & 1 ? yes : 0) | (two && (high >> i & 1) ? yes << 16 : 0);
}

/* ---- selp, slct, testp ---- */

/* The lanes that take the first value, which are counted. */
INLINE uint32_t selp_chooses(Warp *warp, const Step *step, uint32_t mask)
{
    const uint32_t chosen = predicate_of(warp, step->c, step->negated_c);

    count_of(warp, step)->chosen += lanes_in(chosen & mask);
    return chosen;
}

#define SELECT(W, L)                                                                               \
    HANDLER(selp_##W, L, SOURCE(L, a); SOURCE(L, b);                                               \
            const uint32_t chosen_a = selp_chooses(warp, step, mask), LOAD(L, a);                  \
            LOAD(L, b), chosen_a & lane_bit[i] ? a : b)                                            \
    HANDLER3(slct_s_##W, L, L, L, Lane32, (int32_t) c >= 0 ? a : b)                                \
    HANDLER3(slct_f_##W, L, L, L, LaneF32, c >= 0 ? a : b)                                         \
    HANDLER3(slct_ftz_##W, L, L, L, LaneF32, flush(c) >= 0 ? a : b)
SELECT(32, Lane32)
SELECT(64, Lane64)

static bool is_kind(uint64_t magnitude, uint64_t infinity, uint64_t normal, Mod kind)
{
    switch (kind) {
    case MOD_finite:
        return magnitude < infinity;
    case MOD_infinite:
        return magnitude == infinity;
    case MOD_number:
        return magnitude <= infinity;
    case MOD_notanumber:
        return magnitude > infinity;
    case MOD_normal:
        return magnitude >= normal && magnitude < infinity;
    default:
        return magnitude && magnitude < normal;
    }
}

static void testp(Warp *warp, const Step *step, uint32_t mask)
{
    const void *a = plane(warp, step->a);
    uint32_t answer = 0;

    FOR_LANES (i, mask) {
        bool yes = step->type == TYPE_F32
                       ? is_kind(((const Lane32 *) a)[i] & 0x7fffffffu, 0x7f800000u, 0x00800000u,
                                 step->mod)
                       : is_kind(((const Lane64 *) a)[i] & 0x7fffffffffffffffull,
                                 0x7ff0000000000000ull, 0x0010000000000000ull, step->mod);
        answer |= (uint32_t) yes << i;
    }
    set_predicate(warp, step->d, mask, answer);
}

/* ---- The table ---- */

enum {
    WORDS = T(B16) | T(U16) | T(S16) | T(B32) | T(U32) | T(S32) | T(F32),
    LONGS = T(B64) | T(U64) | T(S64) | T(F64),
    SOURCES = WORDS | LONGS | T(F16) | T(F16X2) | T(BF16) | T(BF16X2),
    RESULTS = T(U16) | T(S16) | T(U32) | T(S32) | T(F32) | T(F16) | T(F16X2) | T(BF16) | T(BF16X2),
};

static const Row setp_rows[] = {
    /* clang-format off */
    WIDTHS(INTEGER_ROWS)
    FLOAT_ROWS(F32, 0, f32)
    FLOAT_ROWS(F32, M(ftz), f32_ftz)
    FLOAT_ROWS(F64, 0, f64)
    /* clang-format on */
};

static const Row rows[] = {
    { OP_selp, WORDS, 0, 0, RUN(selp_32) },
    { OP_selp, LONGS, 0, 0, RUN(selp_64) },
    { OP_slct, WORDS, T(S32), 0, RUN(slct_s_32) },
    { OP_slct, LONGS, T(S32), 0, RUN(slct_s_64) },
    { OP_slct, WORDS, T(F32), 0, RUN(slct_f_32) },
    { OP_slct, LONGS, T(F32), 0, RUN(slct_f_64) },
    { OP_slct, WORDS, T(F32), M(ftz), RUN(slct_ftz_32) },
    { OP_slct, LONGS, T(F32), M(ftz), RUN(slct_ftz_64) },
    { OP_testp, T(F32) | T(F64), 0, M(finite), RUN1(testp) },
    { OP_testp, T(F32) | T(F64), 0, M(infinite), RUN1(testp) },
    { OP_testp, T(F32) | T(F64), 0, M(number), RUN1(testp) },
    { OP_testp, T(F32) | T(F64), 0, M(notanumber), RUN1(testp) },
    { OP_testp, T(F32) | T(F64), 0, M(normal), RUN1(testp) },
    { OP_testp, T(F32) | T(F64), 0, M(subnormal), RUN1(testp) },
};

static uint8_t combination_of(const Instruction *in)
{
    for (int i = 0; i < in->mod_count; i++)
        if (in->mods[i] == MOD_and || in->mods[i] == MOD_or || in->mods[i] == MOD_xor)
            return in->mods[i];
    return 0;
}

static bool bind_by_table(Step *step, const Instruction *in)
{
    PtxType source = in->op == OP_set ? in->types[1] : in->types[0];
    bool halves = (T(F16) | T(F16X2) | T(BF16) | T(BF16X2)) >> source & 1;

    if (!accepted_by(in) || (mods_of(in) & M(other)))
        return false;
    if (in->op == OP_set
            ? in->type_count != 2 || !(SOURCES >> source & 1) || !(RESULTS >> in->types[0] & 1)
            : in->type_count != 1 || !halves)
        return false;
    fill_step(step, in);
    step->run = in->op == OP_set ? set : is_pair(source) ? setp_halves : setp_half;
    return true;
}

bool bind_compare(Step *step, const Instruction *in)
{
    bool compares = in->op == OP_setp || in->op == OP_set;

    if (!compares) {
        if (!BIND(step, in, rows, 0))
            return false;
        if (in->op == OP_testp)
            step->mod = in->mods[0];
        return true;
    }
    if (!BIND(step, in, setp_rows, M(and) | M(or) | M(xor)) && !bind_by_table(step, in))
        return false;
    step->mod = combination_of(in);
    return true;
}
