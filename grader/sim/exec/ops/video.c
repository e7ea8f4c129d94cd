/* video.c - SIMD video instructions: vadd2, vabsdiff4 and so on, on the halves or bytes of 32 bits.
 *
 * Without .add, the result of each part goes to the same part of d, saturated (.sat) or cut off.
 * With .add, d is c plus the results of all parts. Masks (.b3210) other than the default are not
 * known.
 */
#include "sim/exec/ops/handlers.h"

#include <stdlib.h>

typedef int64_t Part(int64_t a, int64_t b, Mod comparison);

static int64_t sum(int64_t a, int64_t b, Mod comparison)
{
    (void) comparison;
    return a + b;
}

static int64_t difference(int64_t a, int64_t b, Mod comparison)
{
    (void) comparison;
    return a - b;
}

/* Halves are rounded away from zero where the sum is positive, to zero otherwise. */
static int64_t average(int64_t a, int64_t b, Mod comparison)
{
    (void) comparison;
    return (a + b + (a + b >= 0)) >> 1;
}

static int64_t distance(int64_t a, int64_t b, Mod comparison)
{
    (void) comparison;
    return a > b ? a - b : b - a;
}

static int64_t least(int64_t a, int64_t b, Mod comparison)
{
    (void) comparison;
    return a < b ? a : b;
}

static int64_t most(int64_t a, int64_t b, Mod comparison)
{
    (void) comparison;
    return a > b ? a : b;
}

static int64_t compared(int64_t a, int64_t b, Mod comparison)
{
    switch (comparison) {
    case MOD_eq:
        return a == b;
    case MOD_ne:
        return a != b;
    case MOD_lt:
        return a < b;
    case MOD_le:
        return a <= b;
    case MOD_gt:
        return a > b;
    default:
        return a >= b;
    }
}

static const struct {
    Op halves, bytes;
    Part *part;
} parts[] = {
    { OP_vadd2, OP_vadd4, sum },       { OP_vsub2, OP_vsub4, difference },
    { OP_vavrg2, OP_vavrg4, average }, { OP_vabsdiff2, OP_vabsdiff4, distance },
    { OP_vmin2, OP_vmin4, least },     { OP_vmax2, OP_vmax4, most },
    { OP_vset2, OP_vset4, compared },
};
enum { PARTS = sizeof parts / sizeof *parts };

static int row_of(Op op)
{
    int row = 0;

    while (row < PARTS && parts[row].halves != op && parts[row].bytes != op)
        row++;
    return row;
}

/* The i-th part of a word, extended by its type. */
static int64_t part_of(uint32_t word, int i, int bits, PtxType type)
{
    const uint32_t part = word >> i * bits & ((1u << bits) - 1);

    return type_is_signed(type) && part >> (bits - 1) ? (int64_t) part - (1 << bits) : part;
}

static int64_t saturated(int64_t x, int bits, PtxType type)
{
    const int64_t above = type_is_signed(type) ? (1 << (bits - 1)) - 1 : (1 << bits) - 1;
    const int64_t below = type_is_signed(type) ? -(1 << (bits - 1)) : 0;

    return x < below ? below : x > above ? above : x;
}

static void run_parts(Warp *warp, const Step *step, uint32_t mask)
{
    const Instruction *in = step->in;
    const int row = row_of(in->op), bits = in->op == parts[row].halves ? 16 : 8;
    const PtxType *sources = in->types + (parts[row].part != compared); /* vset names only these */
    const Lane32 *a = plane(warp, step->a), *b = plane(warp, step->b), *c = plane(warp, step->c);
    const bool adds = has_mod(in, MOD_add);
    const Mod comparison = (Mod) step->mod;
    Lane32 *d = plane(warp, step->d);

    FOR_LANES (lane, mask) {
        uint32_t total = c[lane], word = 0;
        for (int i = 0; i < 32 / bits; i++) {
            int64_t result = parts[row].part(part_of(a[lane], i, bits, sources[0]),
                                             part_of(b[lane], i, bits, sources[1]), comparison);
            total += (uint32_t) result;
            if (step->sat)
                result = saturated(result, bits, in->types[0]);
            word |= ((uint32_t) result & ((1u << bits) - 1)) << i * bits;
        }
        d[lane] = adds ? total : word;
    }
}

static bool has_types(const Instruction *in, int count)
{
    for (int i = 0; i < in->type_count; i++)
        if (in->types[i] != TYPE_U32 && in->types[i] != TYPE_S32)
            return false;
    return in->type_count == count;
}

bool bind_video(Step *step, const Instruction *in)
{
    const ModSet comparisons = M(eq) | M(ne) | M(lt) | M(le) | M(gt) | M(ge);
    const int row = row_of(in->op);

    if (row == PARTS || !has_types(in, parts[row].part == compared ? 2 : 3) ||
        mods_of(in) & ~(M(sat) | M(add) | (parts[row].part == compared ? comparisons : 0)))
        return false;
    fill_step(step, in);
    step->run = run_parts;
    return parts[row].part != compared || mods_of(in) & comparisons;
}
