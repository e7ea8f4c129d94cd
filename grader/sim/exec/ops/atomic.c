/* atomic.c - atom and red: read, change, write, lane by lane in order. */
#include "sim/exec/ahead.h"
#include "sim/exec/ops/rounding.h"

#include <math.h>

/* The new bits, from the old bits and the operands' bits. */
typedef uint64_t Change(uint64_t old, uint64_t b, uint64_t c);

#define CHANGE(name, T, expression)                                                                \
    static uint64_t name(uint64_t old_bits, uint64_t b_bits, uint64_t c_bits)                      \
    {                                                                                              \
        T old = (T) old_bits, b = (T) b_bits, c = (T) c_bits;                                      \
        (void) old, (void) b, (void) c;                                                            \
        return (uint64_t) (expression);                                                            \
    }

#define INTEGER_CHANGES(bits)                                                                      \
    CHANGE(add_##bits, uint##bits##_t, old + b)                                                    \
    CHANGE(and_##bits, uint##bits##_t, old &b)                                                     \
    CHANGE(or_##bits, uint##bits##_t, old | b)                                                     \
    CHANGE(xor_##bits, uint##bits##_t, old ^ b)                                                    \
    CHANGE(exch_##bits, uint##bits##_t, b)                                                         \
    CHANGE(cas_##bits, uint##bits##_t, old == b ? c : old)                                         \
    CHANGE(umin_##bits, uint##bits##_t, old < b ? old : b)                                         \
    CHANGE(umax_##bits, uint##bits##_t, old > b ? old : b)                                         \
    CHANGE(smin_##bits, int##bits##_t, old < b ? old : b)                                          \
    CHANGE(smax_##bits, int##bits##_t, old > b ? old : b)

INTEGER_CHANGES(32)
INTEGER_CHANGES(64)
CHANGE(inc_32, uint32_t, old >= b ? 0 : old + 1)
CHANGE(dec_32, uint32_t, !old || old > b ? b : old - 1)
CHANGE(cas_16, uint16_t, old == b ? c : old)
CHANGE(exch_16, uint16_t, b)

static float f32_of(uint64_t bits)
{
    uint32_t low = (uint32_t) bits;
    float value;

    memcpy(&value, &low, sizeof value);
    return value;
}

static uint32_t bits_of(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    return isnan(value) ? 0x7fffffffu : bits;
}

static uint64_t add_f32(uint64_t old, uint64_t b, uint64_t c)
{
    (void) c;
    return bits_of(f32_of(old) + f32_of(b));
}

static uint64_t no_subnormal(uint64_t bits)
{
    return bits & 0x7f800000u ? bits : bits & 0x80000000u;
}

/* PTX: in global memory, subnormal operands and sums are flushed to zero. */
static uint64_t add_f32_global(uint64_t old, uint64_t b, uint64_t c)
{
    return no_subnormal(add_f32(no_subnormal(old), no_subnormal(b), c));
}

static uint64_t add_f64(uint64_t old, uint64_t b, uint64_t c)
{
    double x, y;

    (void) c;
    memcpy(&x, &old, sizeof x);
    memcpy(&y, &b, sizeof y);
    x += y;
    memcpy(&old, &x, sizeof old);
    return isnan(x) ? 0x7fffffffffffffffull & (old | 0x7ff8000000000000ull) : old;
}

#define HALF_CHANGES(format)                                                                       \
    static uint64_t add_##format(uint64_t old, uint64_t b, uint64_t c)                             \
    {                                                                                              \
        (void) c;                                                                                  \
        return format##_nearest(format##_value(old & 0xffff) + format##_value(b & 0xffff));        \
    }                                                                                              \
    static uint64_t add_##format##x2(uint64_t old, uint64_t b, uint64_t c)                         \
    {                                                                                              \
        return add_##format(old >> 16, b >> 16, c) << 16 | add_##format(old, b, c);                \
    }
HALF_CHANGES(f16)
HALF_CHANGES(bf16)

/* ---- The change that an instruction makes ---- */

#define BITS32 (T(B32) | T(U32) | T(S32))
#define BITS64 (T(B64) | T(U64) | T(S64))

static const struct {
    Mod mod;
    uint32_t types;
    Change *change, *change_global;
} changes[] = {
    { MOD_add, T(U32) | T(S32) | T(B32), add_32, NULL },
    { MOD_add, T(U64) | T(S64) | T(B64), add_64, NULL },
    { MOD_add, T(F32), add_f32, add_f32_global },
    { MOD_add, T(F64), add_f64, NULL },
    { MOD_add, T(F16), add_f16, NULL },
    { MOD_add, T(F16X2), add_f16x2, NULL },
    { MOD_add, T(BF16), add_bf16, NULL },
    { MOD_add, T(BF16X2), add_bf16x2, NULL },
    { MOD_and, BITS32, and_32, NULL },
    { MOD_and, BITS64, and_64, NULL },
    { MOD_or, BITS32, or_32, NULL },
    { MOD_or, BITS64, or_64, NULL },
    { MOD_xor, BITS32, xor_32, NULL },
    { MOD_xor, BITS64, xor_64, NULL },
    { MOD_exch, BITS32 | T(F32), exch_32, NULL },
    { MOD_exch, BITS64 | T(F64), exch_64, NULL },
    { MOD_exch, T(B16), exch_16, NULL },
    { MOD_cas, BITS32 | T(F32), cas_32, NULL },
    { MOD_cas, BITS64 | T(F64), cas_64, NULL },
    { MOD_cas, T(B16) | T(U16), cas_16, NULL },
    { MOD_inc, T(U32), inc_32, NULL },
    { MOD_dec, T(U32), dec_32, NULL },
    { MOD_min, T(U32), umin_32, NULL },
    { MOD_min, T(U64), umin_64, NULL },
    { MOD_min, T(S32), smin_32, NULL },
    { MOD_min, T(S64), smin_64, NULL },
    { MOD_max, T(U32), umax_32, NULL },
    { MOD_max, T(U64), umax_64, NULL },
    { MOD_max, T(S32), smax_32, NULL },
    { MOD_max, T(S64), smax_64, NULL },
};
enum { CHANGES = sizeof changes / sizeof *changes };

/* ---- Running ---- */

static uint64_t lane_bits(Warp *warp, int slot, int size, int lane)
{
    if (size == 8)
        return ((const Lane64 *) plane(warp, slot))[lane];
    return ((const Lane32 *) plane(warp, slot))[lane];
}

static void set_lane_bits(Warp *warp, int slot, int size, int lane, uint64_t bits)
{
    if (size == 8)
        ((Lane64 *) plane(warp, slot))[lane] = bits;
    else
        ((Lane32 *) plane(warp, slot))[lane] = (uint32_t) bits;
}

/* Inlined for each size, since memcpy() of a variable size is a call. */
INLINE void change_lanes(const Access *x, Change *change, size_t size, int vector)
{
    const Step *step = x->step;
    const int wide = step->data_size;

    for (uint32_t left = x->mask; left; left &= left - 1) {
        int lane = first_lane(left);
        char *at = x->host + (ptrdiff_t) x->delta[lane];
        uint64_t old = 0, c = step->mod == MOD_cas ? lane_bits(x->warp, step->c, wide, lane) : 0;
        for (int e = 0; e < vector; e++, at += size) {
            int from = vector > 1 ? step->vector_at[e] : step->b;
            memcpy(&old, at, size);
            uint64_t now = change(old, lane_bits(x->warp, from, wide, lane), c);
            memcpy(at, &now, size);
        }
        if (step->in->op == OP_atom && step->d >= 0)
            set_lane_bits(x->warp, step->d, wide, lane, old);
    }
}

/* The frequent case: 32-bit additions. */
static void add_words(const Access *x)
{
    const Step *step = x->step;
    const Lane32 *b = plane(x->warp, step->b);
    Lane32 *d = step->in->op == OP_atom && step->d >= 0 ? plane(x->warp, step->d) : NULL;
    const uint64_t *delta = x->delta;
    char *host = x->host;

    for (uint32_t left = x->mask; left; left &= left - 1) {
        const int lane = first_lane(left);
        Lane32 *at = (Lane32 *) (host + (ptrdiff_t) delta[lane]);
        const uint32_t old = *at;
        *at = old + b[lane];
        if (d)
            d[lane] = old;
    }
}

static bool change_all(Access *x)
{
    const Step *step = x->step;
    Change *change = changes[step->atomic.change].change;

    if (!access_open(x))
        return false;
    if (x->space == SPACE_GLOBAL && changes[step->atomic.change].change_global)
        change = changes[step->atomic.change].change_global;
    if (ahead_updates(x, change, step->b))
        return true;
    if (step->vector > 1 || step->size < 4)
        change_lanes(x, change, step->size, step->vector);
    else if (step->size == 8)
        change_lanes(x, change, 8, 1);
    else if (change == add_32 && step->data_size == 4)
        add_words(x);
    else
        change_lanes(x, change, 4, 1);
    return true;
}

/* The result may be a ticket for the next piece of work, so other warps get a turn before this warp
 * draws again. */
static void let_others_draw(Warp *warp, const Step *step)
{
    if (warp->block->launch->warps_draw && atomic_draws(step) && warp->state == WARP_READY)
        warp->state = WARP_WAITING;
}

static void run_atomic(Warp *warp, const Step *step, uint32_t mask)
{
    Access x;

    x.warp = warp;
    x.step = step;
    x.mask = mask;
    x.space = (Space) step->space;
    x.kind = ACCESS_ATOMIC;
    x.bytes = step->size * step->vector;
    x.strong = true;
    x.release = step->atomic.release;
    x.value = NULL;
    access_addresses(x.address, warp, step->a, step->address_size, step->offset);
    if (step->space != SPACE_GENERIC) {
        change_all(&x);
        let_others_draw(warp, step);
        return;
    }
    while (mask) {
        mask &= ~access_split(&x, mask);
        if (!change_all(&x))
            return;
    }
    let_others_draw(warp, step);
}

/* ---- Binding ---- */

static int row_of(const Instruction *in)
{
    for (int i = 0; i < CHANGES; i++)
        if (has_mod(in, changes[i].mod) && changes[i].types >> in->types[0] & 1)
            return i;
    return -1;
}

bool bind_atomic(Step *step, const Instruction *in)
{
    if (!in->type_count || (in->vector > 1 && in->op != OP_red))
        return false;
    int row = row_of(in);
    bool known_space =
        in->space == SPACE_GENERIC || in->space == SPACE_GLOBAL || in->space == SPACE_SHARED;
    if (row < 0 || !known_space)
        return false;
    step->type = (uint8_t) in->types[0];
    step->size = (uint8_t) type_size(in->types[0]);
    step->vector = (uint8_t) in->vector;
    if (step->size * step->vector > 16)
        return false;
    if (!step->data_size)
        step->data_size = step->size == 8 ? 8 : 4;
    if ((step->data_size != 4 && step->data_size != 8) || step->data_size < step->size)
        return false;
    step->space = (uint8_t) in->space;
    step->mod = (uint8_t) changes[row].mod;
    step->atomic.release = is_release(in);
    step->atomic.change = (uint8_t) row;
    step->run = run_atomic;
    return true;
}
