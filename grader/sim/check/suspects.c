/* suspects.c - follows values that were loaded from unwritten memory, and reports them when they
 * matter.
 *
 * A correct program may load more than it uses: a merge loads the element after the last one, and
 * its comparison is then masked by a bounds check; a warp loads whole rows of which some lanes
 * store their part. So a load of unwritten bytes is reported, as of its own line, when something
 * visible depends on its value: a branch, an address, a computed value that is stored, another
 * lane. Until then the registers that depend on it are suspects, in some lanes. A register is no
 * suspect any more once it is overwritten. Whatever is not understood here counts as visible. */
#include "sim/check/suspects.h"
#include "sim/base/common.h"
#include "sim/exec/uses.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_SUSPECTS = 256, MOST_ORIGINS = 128 };

/* A load, and in each lane the first access on which a suspect depends. */
typedef struct Origin {
    const Step *step;
    Space space;
    uint64_t address[LANES], missing[LANES];
    bool told; /* reported */
} Origin;

/* In each lane a register has one origin, although a sum may depend on many loads: one is enough
 * for a report. */
typedef struct Suspect {
    const Code *code;
    int frame, reg, origin;
    uint32_t lanes;
    bool computed; /* from what was loaded, not only copied */
    bool partial;  /* some of its bytes are written */
} Suspect;

typedef struct Suspects {
    Origin origins[MOST_ORIGINS];
    int origin_count;
    Suspect list[MOST_SUSPECTS];
    int count;
} Suspects;

/* ---- The list ---- */

static bool is_here(const Warp *warp, const Suspect *s)
{
    return s->frame == warp->frame && s->code == warp->code;
}

static void drop_empty(Warp *warp)
{
    Suspects *all = warp->suspects;
    int kept = 0;

    for (int i = 0; i < all->count; i++)
        if (all->list[i].lanes)
            all->list[kept++] = all->list[i];
    all->count = kept;
    warp->followed = kept > 0;
}

/* Makes room: forgets suspects that the active lanes do not read after this step. PTX has a new
 * register for nearly every result, so most of them are never overwritten. */
static void drop_unused(Warp *warp, const Step *step)
{
    Suspects *all = warp->suspects;
    const int from = (int) (step - warp->code->steps) + 1;

    for (int i = 0; i < all->count; i++)
        if (is_here(warp, &all->list[i]) && !uses_later(warp->code, all->list[i].reg, from))
            all->list[i].lanes &= ~warp->active;
    drop_empty(warp);
}

/* Entries of this register: another origin's keeps its lanes, and is as computed and as partial as
 * the new one. Returns the entry with the same origin, or `count`. */
static int merge(Suspects *all, Suspect *new)
{
    int same = all->count;

    for (int i = 0; i < all->count; i++) {
        Suspect *s = &all->list[i];
        if (s->reg != new->reg || s->frame != new->frame || s->code != new->code)
            continue;
        if (s->origin == new->origin) {
            same = i;
        } else if (s->lanes & new->lanes) {
            s->computed |= new->computed;
            s->partial |= new->partial;
            new->lanes &= ~s->lanes;
        }
    }
    return same;
}

/* A result of the step. False: the list is full. */
static bool put(Warp *warp, const Step *step, Suspect new)
{
    Suspects *all = warp->suspects;
    int i;

    new.code = warp->code;
    new.frame = warp->frame;
    if (all->count == MOST_SUSPECTS)
        drop_unused(warp, step);
    i = merge(all, &new);
    if (!new.lanes)
        return true;
    if (i == MOST_SUSPECTS)
        return false;
    if (i < all->count && all->list[i].lanes) {
        new.lanes |= all->list[i].lanes;
        new.computed |= all->list[i].computed;
        new.partial |= all->list[i].partial;
    }
    all->list[i] = new;
    all->count += i == all->count;
    warp->followed = true;
    return true;
}

uint32_t suspects_copied(const Warp *warp, int reg)
{
    const Suspects *all = warp->suspects;
    uint32_t lanes = 0;

    for (int i = 0; warp->followed && i < all->count; i++)
        if (is_here(warp, &all->list[i]) && all->list[i].reg == reg && !all->list[i].computed &&
            !all->list[i].partial)
            lanes |= all->list[i].lanes;
    return lanes;
}

/* ---- Origins ---- */

static Suspects *suspects_of(Warp *warp)
{
    Suspects *all = warp->suspects;

    if (!all)
        all = warp->suspects = calloc(1, sizeof *all);
    if (all && !warp->followed)
        all->count = 0; /* those of the warp's last block */
    return all;
}

static uint32_t lanes_from(const Suspects *all, int origin)
{
    uint32_t lanes = 0;

    for (int i = 0; i < all->count; i++)
        if (all->list[i].origin == origin)
            lanes |= all->list[i].lanes;
    return lanes;
}

/* An origin of which no suspect is left; -1: there is none. */
static int spent_origin(const Suspects *all)
{
    for (int i = 0; i < MOST_ORIGINS; i++)
        if (!lanes_from(all, i))
            return i;
    return -1;
}

/* -1: none is free. */
static int free_origin(Warp *warp, const Step *step)
{
    const Suspects *all = warp->suspects;

    if (all->origin_count < MOST_ORIGINS)
        return all->origin_count;
    if (spent_origin(all) < 0)
        drop_unused(warp, step);
    return spent_origin(all);
}

/* -1: too many loads, or it has been reported. */
static int origin_of(Suspects *all, const Access *x)
{
    int i = 0;

    while (i < all->origin_count && all->origins[i].step != x->step)
        i++;
    if (i == all->origin_count) {
        i = free_origin(x->warp, x->step);
        if (i < 0)
            return -1;
        all->origins[i] = (Origin){ .step = x->step };
        all->origin_count += i == all->origin_count;
    }
    return all->origins[i].told ? -1 : i;
}

bool suspects_add(const Access *x, int lane, int element, uint64_t missing)
{
    Warp *warp = x->warp;
    const int reg = uses_register(warp->code->function, x->step->in, 0, element);
    Suspects *all = reg < 0 || !warp->code->uses ? NULL : suspects_of(warp);
    const int i = all ? origin_of(all, x) : -1;
    const bool is_first = i >= 0 && !(lanes_from(all, i) >> lane & 1);
    const uint64_t bytes = ((1ull << x->step->size) - 1) << element * x->step->size;

    if (i < 0 || !put(warp, x->step,
                      (Suspect){ .reg = reg,
                                 .origin = i,
                                 .lanes = 1u << lane,
                                 .partial = (missing & bytes) != bytes }))
        return false;
    if (is_first) {
        all->origins[i].space = x->space;
        all->origins[i].address[lane] = x->address[lane];
        all->origins[i].missing[lane] = missing;
    }
    warp->last_in_row = NULL; /* from the next step on, steps run one by one */
    return true;
}

static void report(Warp *warp, const Origin *origin, int lane)
{
    const Step *step = origin->step;
    Access x = { .warp = warp,
                 .step = step,
                 .space = origin->space,
                 .kind = ACCESS_LOAD,
                 .bytes = step->size * step->vector };

    memcpy(x.address, origin->address, sizeof x.address);
    if (x.space != SPACE_SHARED)
        x.allocation = memory_find(x.address[lane]);
    written_report(&x, lane, origin->missing[lane]);
}

/* Its suspects need not be followed any more. */
static void tell(Warp *warp, int i, int lane)
{
    Suspects *all = warp->suspects;

    if (!all->origins[i].told)
        report(warp, &all->origins[i], lane);
    all->origins[i].told = true;
    for (int k = 0; k < all->count; k++)
        if (all->list[k].origin == i)
            all->list[k].lanes = 0;
}

/* ---- Operands ---- */

static uint32_t predicate(const Warp *warp, int slot, bool negated)
{
    return slot < 0 ? UINT32_MAX : negated ? ~warp->predicates[slot] : warp->predicates[slot];
}

/* Lanes in which a source of `and` or `or` decides the result: it is false or 0; it is true or all
 * ones. */
static uint32_t deciding_lanes(const Warp *warp, const Step *step, int slot, bool negated)
{
    const bool is_or = step->in->op == OP_or;
    const int bytes = type_size(step->in->types[0]);
    const uint64_t ones = bytes ? UINT64_MAX >> (64 - 8 * bytes) : 0;
    uint32_t lanes = 0;

    if (!bytes)
        return is_or ? predicate(warp, slot, negated) : ~predicate(warp, slot, negated);
    for (int i = 0; i < LANES; i++) {
        const uint64_t value = bytes == 8 ? ((const uint64_t *) plane(warp, slot))[i]
                                          : ((const uint32_t *) plane(warp, slot))[i];
        lanes |= (uint32_t) ((value & ones) == (is_or ? ones : 0)) << i;
    }
    return lanes;
}

static uint32_t suspicious_lanes(const Warp *warp, const Instruction *in, int i)
{
    const Suspects *all = warp->suspects;
    uint32_t lanes = 0;

    for (int k = 0; k < all->count; k++)
        if (is_here(warp, &all->list[k]) && uses_as(warp->code->function, in, i, all->list[k].reg))
            lanes |= all->list[k].lanes;
    return lanes;
}

/* The lanes in which the result depends on operand i. */
static uint32_t dependent_lanes(const Warp *warp, const Step *step, int i)
{
    const Instruction *in = step->in;

    if (in->op == OP_selp && i < 3) {
        const uint32_t first = predicate(warp, step->c, step->negated_c);
        return (i == 1 ? first : ~first) | suspicious_lanes(warp, in, 3);
    }
    if (in->op == OP_and || in->op == OP_or)
        return ~(i == 1 ? deciding_lanes(warp, step, step->b, step->negated_b)
                        : deciding_lanes(warp, step, step->a, step->negated_a)) |
               suspicious_lanes(warp, in, 3 - i);
    return UINT32_MAX;
}

/* The lanes in which the step depends on the suspect. A guard counts where it prevents the step. */
static uint32_t used_lanes(const Warp *warp, const Step *step, const Suspect *s, uint32_t mask)
{
    const Instruction *in = step->in;
    uint32_t lanes = in->guard == s->reg ? warp->active : 0;

    for (int i = in->roles.destinations; i < in->count; i++)
        if (uses_as(warp->code->function, in, i, s->reg))
            lanes |= mask & dependent_lanes(warp, step, i);
    return lanes & s->lanes;
}

/* ---- Steps ---- */

/* It does nothing but compute its destinations from its sources, lane by lane. */
static bool only_computes(const Step *step)
{
    static const bool computes[CLASSES] = {
        [CLASS_MOVE] = true, [CLASS_INT] = true, [CLASS_FP32] = true,   [CLASS_FP64] = true,
        [CLASS_FP16] = true, [CLASS_SFU] = true, [CLASS_CONVERT] = true
    };

    return computes[step->class_] && step->in->roles.destinations && !step->cc;
}

/* The result is the suspect itself. */
static bool only_moves(const Function *f, const Step *step, int reg)
{
    const Instruction *in = step->in;

    return in->guard != reg && ((in->op == OP_mov && step->vector <= 1) ||
                                (in->op == OP_selp && !uses_as(f, in, 3, reg)));
}

/* A store of unwritten bytes to memory that is tracked. Out of shared memory, only bytes that were
 * copied to there may follow. */
static bool passes_on(const Warp *warp, const Step *step, const Suspect *s)
{
    const Suspects *all = warp->suspects;
    const Instruction *in = step->in;
    const bool from_shared = all->origins[s->origin].space == SPACE_SHARED;

    if (in->op != OP_st || s->computed || in->guard == s->reg ||
        uses_as(warp->code->function, in, 0, s->reg))
        return false;
    return in->space == SPACE_SHARED ||
           ((in->space == SPACE_GLOBAL || in->space == SPACE_GENERIC) &&
            (!from_shared || warp->block->copied_unwritten));
}

/* The suspects that the step makes, and reports of those that matter to it. */
static int find_results(Warp *warp, const Step *step, uint32_t mask, Suspect *results)
{
    Suspects *all = warp->suspects;
    int count = 0;

    for (int i = 0; i < all->count; i++) {
        const Suspect *s = &all->list[i];
        const uint32_t lanes = is_here(warp, s) ? used_lanes(warp, step, s, mask) : 0;
        if (!lanes)
            continue;
        if (only_computes(step))
            results[count++] =
                (Suspect){ .origin = s->origin,
                           .lanes = lanes,
                           .partial = s->partial,
                           .computed =
                               s->computed || !only_moves(warp->code->function, step, s->reg) };
        else if (!passes_on(warp, step, s))
            tell(warp, s->origin, first_lane(lanes));
    }
    return count;
}

static bool is_destination(const Warp *warp, const Instruction *in, int reg)
{
    for (int i = 0; i < in->roles.destinations; i++)
        if (uses_as(warp->code->function, in, i, reg))
            return true;
    return false;
}

static void put_result(Warp *warp, const Step *step, int i, Suspect result)
{
    const Instruction *in = step->in;
    const Function *f = warp->code->function;
    const Operand *operand = &f->operands[in->first + i];
    const int count = operand->kind == OPERAND_VECTOR ? operand->count : 1;

    for (int k = 0; k < count; k++) {
        result.reg = uses_register(f, in, i, k);
        if (result.reg >= 0 && !put(warp, step, result))
            tell(warp, result.origin, first_lane(result.lanes));
    }
}

/* Suspects that nothing reads after this step. A store's are needed until it has been checked, so
 * they go with the next step. */
static void drop_last_uses(Warp *warp, const Step *step, uint32_t mask)
{
    const Code *code = warp->code;
    const ptrdiff_t at = step->in - code->function->instructions;
    Suspects *all = warp->suspects;

    for (int i = 0; i < all->count && code->last_use && step->in->op != OP_st; i++)
        if (is_here(warp, &all->list[i]) && at >= code->last_use[all->list[i].reg])
            all->list[i].lanes &= ~mask;
}

void suspects_follow(Warp *warp, const Step *step, uint32_t mask)
{
    Suspects *all = warp->suspects;
    const Instruction *in = step->in;
    Suspect results[MOST_SUSPECTS];
    const int count = find_results(warp, step, mask, results);

    for (int i = 0; i < all->count; i++)
        if (is_here(warp, &all->list[i]) && is_destination(warp, in, all->list[i].reg))
            all->list[i].lanes &= ~mask;
    for (int k = 0; k < count; k++)
        for (int i = 0; i < in->roles.destinations && !all->origins[results[k].origin].told; i++)
            put_result(warp, step, i, results[k]);
    drop_last_uses(warp, step, mask);
    drop_empty(warp);
}
