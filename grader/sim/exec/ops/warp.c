/* warp.c - lanes that exchange values: shfl, vote, match, redux, elect, activemask.
 *
 * All except activemask have a mask of members. If a member that has not exited is absent, hardware
 * waits for it, or the result is undefined. Here that is reported, and the step is executed without
 * it. Lanes with different masks form separate groups.
 */
#include "sim/exec/ops/handlers.h"
#include "sim/exec/shape.h"
#include "sim/exec/warp.h"

#include <string.h>

static int first_of(uint32_t mask)
{
    return __builtin_ctz(mask);
}

/* Whether an operand has one value in all lanes. Often it is a constant in a register. */
WITH_VECTORS static bool is_alike(const Lane32 *values)
{
    uint32_t differ = 0;

    for (int i = 0; i < LANES; i++)
        differ |= values[i] ^ values[0];
    return !differ;
}

/* ---- Members ---- */

static void check_members(Warp *warp, const Step *step, uint32_t lanes, uint32_t members)
{
    uint32_t missing = members & warp->alive & ~lanes, outside = lanes & ~members;
    char text[120];

    if (missing) {
        describe_lanes(missing, text, sizeof text);
        warn(warp, step, first_of(lanes), FINDING_SHUFFLE,
             "the mask 0x%08x names %s, which are in another branch", members, text);
    }
    if (outside) {
        describe_lanes(outside, text, sizeof text);
        warn(warp, step, first_of(outside), FINDING_SHUFFLE,
             "%s execute%s this, but the mask 0x%08x does not name them", text,
             lanes_end(outside, "s"), members);
    }
}

/* Lanes with the same mask operand. */
typedef struct Group {
    uint32_t lanes, members;
} Group;

/* Removes from *left, and returns, the lanes that have the same mask as its first lane. */
static Group next_group(Warp *warp, const Step *step, int slot, uint32_t *left)
{
    const Lane32 *masks = plane(warp, slot);
    Group group = { 0, masks[first_of(*left)] };

    if (slot < 0 || step->is_alike || is_alike(masks))
        group.lanes = UINT32_MAX;
    else
        for (int i = 0; i < LANES; i++)
            group.lanes |= (uint32_t) (masks[i] == group.members) << i;
    group.lanes &= *left;
    *left &= ~group.lanes;
    if (group.lanes != group.members)
        check_members(warp, step, group.lanes, group.members);
    OBSERVE(warp->block->launch, warp_sync, warp, group.lanes);
    return group;
}

/* Sets the given lanes of a 32-bit destination. */
static void set_lanes(Warp *warp, int slot, uint32_t lanes, uint32_t value)
{
    Lane32 *d = plane(warp, slot);

    for (; lanes; lanes &= lanes - 1)
        d[first_of(lanes)] = value;
}

static void set_bits(Warp *warp, int predicate, uint32_t lanes, uint32_t value)
{
    if (predicate >= 0)
        warp->predicates[predicate] = (warp->predicates[predicate] & ~lanes) | (value & lanes);
}

/* ---- shfl ---- */

/* c: the mask of the segments from bit 8 on, and the clamp in the low bits. */
static void find_source(Route *route, Mod mode, int lane, uint32_t b, uint32_t c)
{
    int segment = (int) (c >> 8) & 31, by = (int) b & 31, from;
    int limit = (lane & segment) | ((int) c & 31 & ~segment);
    bool inside;

    if (mode == MOD_up)
        from = lane - by;
    else if (mode == MOD_down)
        from = lane + by;
    else if (mode == MOD_bfly)
        from = lane ^ by;
    else
        from = (lane & segment) | (by & ~segment);
    inside = mode == MOD_up ? from >= limit : from <= limit;
    route->source[lane] = (uint8_t) (inside ? from : lane);
    route->inside |= (uint32_t) inside << lane;
}

static const Route *varying_route(Warp *warp, const Step *step)
{
    Route *route = &thread_shapes->route;
    const Lane32 *b = plane(warp, step->b), *c = plane(warp, step->c);

    route->inside = 0;
    for (int lane = 0; lane < LANES; lane++)
        find_source(route, (Mod) step->mod, lane, b[lane], c[lane]);
    return route;
}

/* Caches the routes, since most shuffles use one of a few constant distances. */
static const Route *constant_route(Warp *warp, const Step *step)
{
    uint32_t b = *(const Lane32 *) plane(warp, step->b), c = *(const Lane32 *) plane(warp, step->c);
    Route *route = &thread_shapes->routes[(b ^ c >> 3 ^ c << 5 ^ step->mod * 31u) % ROUTES_KEPT];

    if (route->mode == step->mod && route->b == b && route->c == c)
        return route;
    *route = (Route){ .mode = step->mod, .b = b, .c = c };
    for (int lane = 0; lane < LANES; lane++)
        find_source(route, (Mod) step->mod, lane, b, c);
    return route;
}

static void report_absent_sources(Warp *warp, const Step *step, uint32_t readers, uint32_t absent)
{
    char who[100], whom[100];

    describe_lanes(readers, who, sizeof who);
    describe_lanes(absent, whom, sizeof whom);
    warn(warp, step, first_of(readers), FINDING_SHUFFLE,
         "%s read%s from %s, not active here: the value is undefined", who, lanes_end(readers, "s"),
         whom);
}

/* The lanes except those that read from an absent lane, which keep their own value. */
static uint32_t with_source(Warp *warp, const Step *step, uint32_t lanes, const Route *route)
{
    uint32_t readers = 0, absent = 0;

    for (uint32_t left = lanes; left; left &= left - 1) {
        int i = first_of(left);
        if (lanes >> route->source[i] & 1)
            continue;
        readers |= 1u << i;
        absent |= 1u << route->source[i];
    }
    if (readers)
        report_absent_sources(warp, step, readers, absent);
    return lanes & ~readers;
}

#if defined __x86_64__
#include <immintrin.h>

__attribute__((target("avx512f"))) static void move_lanes_avx512(Lane32 *d, const Lane32 *a,
                                                                 const uint8_t source[LANES])
{
    enum { HALF = LANES / 2 };
    const __m512i low = _mm512_loadu_si512(a), high = _mm512_loadu_si512(a + HALF);

    for (int i = 0; i < LANES; i += HALF) {
        const __m512i from = _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *) (source + i)));
        _mm512_storeu_si512(d + i, _mm512_permutex2var_epi32(low, from, high));
    }
}
#else
#define move_lanes_avx512 move_lanes_singly
#endif

static void move_lanes_singly(Lane32 *d, const Lane32 *a, const uint8_t source[LANES])
{
    for (int i = 0; i < LANES; i++) {
        d[i] = a[source[i]];
        __asm__("" ::: "memory"); /* prevents vectorising, which takes three times as long here */
    }
}

static void move_lanes(Lane32 *d, const Lane32 *a, const uint8_t source[LANES])
{
    if (simd_now() == SIMD_AVX512)
        move_lanes_avx512(d, a, source);
    else
        move_lanes_singly(d, a, source);
}

static void run_shfl(Warp *warp, const Step *step, uint32_t mask)
{
    const bool fixed = step->is_alike || ((step->b < 0 || is_alike(plane(warp, step->b))) &&
                                          (step->c < 0 || is_alike(plane(warp, step->c))));
    const Route *route = fixed ? constant_route(warp, step) : varying_route(warp, step);
    Lane32 *d = plane(warp, step->d), a[LANES];
    uint32_t sourced = 0;

    memcpy(a, plane(warp, step->a), sizeof a);
    for (uint32_t left = mask; left;) {
        Group group = next_group(warp, step, step->e, &left);
        sourced |=
            group.lanes == UINT32_MAX ? UINT32_MAX : with_source(warp, step, group.lanes, route);
    }
    if (sourced == UINT32_MAX)
        move_lanes(d, a, route->source);
    else
        for (uint32_t left = mask; left; left &= left - 1) {
            int i = first_of(left);
            d[i] = a[sourced >> i & 1 ? route->source[i] : i];
        }
    set_bits(warp, step->d2, mask, route->inside);
}

static bool bind_shfl(Step *step, const Instruction *in)
{
    step->run = run_shfl;
    return mod_group((Mod) step->mod) == GROUP_SHUFFLE && has_mod(in, MOD_sync) &&
           type_size(in->types[0]) == 4;
}

/* ---- vote ---- */

static uint32_t votes_of(const Warp *warp, const Step *step, uint32_t lanes)
{
    uint32_t votes = warp->predicates[step->a];

    return (step->negated_a ? ~votes : votes) & lanes;
}

static void run_vote(Warp *warp, const Step *step, uint32_t mask)
{
    for (uint32_t left = mask; left;) {
        Group group = next_group(warp, step, step->b, &left);
        uint32_t votes = votes_of(warp, step, group.lanes);
        bool all = votes == group.lanes;
        bool result = step->mod == MOD_all   ? all
                      : step->mod == MOD_any ? votes != 0
                                             : all || !votes;
        set_bits(warp, step->d, group.lanes, result ? UINT32_MAX : 0);
    }
}

static void run_ballot(Warp *warp, const Step *step, uint32_t mask)
{
    uint32_t votes = votes_of(warp, step, mask);

    for (uint32_t left = mask; left;) {
        Group group = next_group(warp, step, step->b, &left);
        set_lanes(warp, step->d, group.lanes, votes & group.lanes);
    }
}

static bool bind_vote(Step *step, const Instruction *in)
{
    if (!has_mod(in, MOD_sync) || step->a < 0)
        return false;
    if (step->mod == MOD_ballot)
        step->run = run_ballot;
    else if (step->mod == MOD_all || step->mod == MOD_any || has_mod(in, MOD_uni))
        step->run = run_vote;
    return step->run;
}

/* ---- match ---- */

static uint64_t value_at(const void *values, int lane, int size)
{
    return size == 8 ? ((const Lane64 *) values)[lane] : ((const Lane32 *) values)[lane];
}

static uint32_t equal_lanes(const void *values, int size, uint64_t value, uint32_t lanes)
{
    uint32_t equal = 0;

    for (; lanes; lanes &= lanes - 1)
        equal |= (uint32_t) (value_at(values, first_of(lanes), size) == value) << first_of(lanes);
    return equal;
}

static void run_match_any(Warp *warp, const Step *step, uint32_t mask)
{
    const void *a = plane(warp, step->a);
    uint32_t found[LANES];

    for (uint32_t left = mask; left;) {
        Group group = next_group(warp, step, step->b, &left);
        for (uint32_t rest = group.lanes; rest;) {
            uint64_t value = value_at(a, first_of(rest), step->size);
            uint32_t equal = equal_lanes(a, step->size, value, rest);
            for (uint32_t each = equal; each; each &= each - 1)
                found[first_of(each)] = equal;
            rest &= ~equal;
        }
    }
    for (uint32_t left = mask; left; left &= left - 1) /* last, because d may be a */
        set_lanes(warp, step->d, left & -left, found[first_of(left)]);
}

static void run_match_all(Warp *warp, const Step *step, uint32_t mask)
{
    const void *a = plane(warp, step->a);
    uint32_t all = 0;

    for (uint32_t left = mask; left;) {
        Group group = next_group(warp, step, step->b, &left);
        uint64_t value = value_at(a, first_of(group.lanes), step->size);
        if (equal_lanes(a, step->size, value, group.lanes) == group.lanes)
            all |= group.lanes;
        set_lanes(warp, step->d, group.lanes, all & group.lanes);
    }
    set_bits(warp, step->d2, mask, all);
}

static bool bind_match(Step *step, const Instruction *in)
{
    if (!has_mod(in, MOD_sync) || (step->size != 4 && step->size != 8))
        return false;
    if (step->mod == MOD_any)
        step->run = run_match_any;
    else if (step->mod == MOD_all)
        step->run = run_match_all;
    return step->run;
}

/* ---- redux ---- */

static uint32_t combined(Mod mod, bool is_signed, uint32_t x, uint32_t y)
{
    bool less = is_signed ? (int32_t) x < (int32_t) y : x < y;

    switch (mod) {
    case MOD_add:
        return x + y;
    case MOD_min:
        return less ? x : y;
    case MOD_max:
        return less ? y : x;
    case MOD_and:
        return x & y;
    case MOD_or:
        return x | y;
    default:
        return x ^ y;
    }
}

static void run_redux(Warp *warp, const Step *step, uint32_t mask)
{
    const Lane32 *a = plane(warp, step->a);
    bool is_signed = step->type == TYPE_S32;

    for (uint32_t left = mask; left;) {
        Group group = next_group(warp, step, step->b, &left);
        uint32_t value = a[first_of(group.lanes)];
        for (uint32_t rest = group.lanes & (group.lanes - 1); rest; rest &= rest - 1)
            value = combined((Mod) step->mod, is_signed, value, a[first_of(rest)]);
        set_lanes(warp, step->d, group.lanes, value);
    }
}

static bool bind_redux(Step *step, const Instruction *in)
{
    bool of_bits = step->mod == MOD_and || step->mod == MOD_or || step->mod == MOD_xor;
    bool of_numbers = step->mod == MOD_add || step->mod == MOD_min || step->mod == MOD_max;
    bool number = step->type == TYPE_U32 || step->type == TYPE_S32;

    step->run = run_redux;
    return has_mod(in, MOD_sync) && ((of_bits && step->type == TYPE_B32) || (of_numbers && number));
}

/* ---- elect and activemask ---- */

static void run_elect(Warp *warp, const Step *step, uint32_t mask)
{
    uint32_t leaders = 0;

    for (uint32_t left = mask; left;) {
        Group group = next_group(warp, step, step->a, &left);
        leaders |= group.lanes & -group.lanes;
        set_lanes(warp, step->d, group.lanes, (uint32_t) first_of(group.lanes));
    }
    set_bits(warp, step->d2, mask, leaders);
}

static void run_activemask(Warp *warp, const Step *step, uint32_t mask)
{
    set_lanes(warp, step->d, mask, mask);
}

bool bind_warp(Step *step, const Instruction *in)
{
    switch (in->op) {
    case OP_shfl:
        return bind_shfl(step, in);
    case OP_vote:
        return bind_vote(step, in);
    case OP_match:
        return bind_match(step, in);
    case OP_redux:
        return bind_redux(step, in);
    case OP_elect:
        step->run = run_elect;
        return true;
    case OP_activemask:
        step->run = run_activemask;
        return true;
    default:
        return false;
    }
}
