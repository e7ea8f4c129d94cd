/* written.c - whether what an access reads was ever written.
 *
 * Each byte that is allocated has a bit; stores, copies and fills set it. Told is a load of bytes
 * of which none was ever written, and one of some that were not if the kernel computes with them.
 * To copy them on is no use of them: a structure's padding goes with it, and so does the rest of a
 * float4 of which three are in use.
 */
#include "access.h"
#include "bits.h"
#include "roles.h"

#include <stdio.h>

static const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

/* ---- What becomes of a register ---- */

enum { NEVER = -1 };

static bool names(const Function *f, const Operand *operand, int reg)
{
    if (operand->kind == OPERAND_VECTOR) {
        for (int i = 0; i < operand->count && operand->first + i < f->operand_count; i++)
            if (names(f, &f->operands[operand->first + i], reg))
                return true;
        return false;
    }
    if (operand->kind == OPERAND_ADDRESS)
        return operand->is_register && operand->index == reg;
    return operand->kind == OPERAND_REGISTER && operand->index == reg;
}

/* Instructions that pass bits on, or take some of them out. */
static bool only_moves(Op op)
{
    static const Op ops[] = { OP_mov, OP_and, OP_shr, OP_bfe, OP_prmt, OP_cvt, OP_selp };

    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (op == ops[i])
            return true;
    return false;
}

/* Whether an instruction computes with the register. `part`: only some of its bytes are not
 * written, and to take out others is no use of those. */
static bool computes_with(const Function *f, const Instruction *in, int reg, bool part)
{
    Roles roles;
    const bool known = roles_of(in, &roles);

    if (in->guard == reg)
        return true;
    for (int i = known ? roles.destinations : 0; i < in->count; i++) {
        if (in->first + i >= f->operand_count || !names(f, &f->operands[in->first + i], reg))
            continue;
        if (in->op == OP_st && i == 1)
            continue;
        if (!part || !only_moves(in->op))
            return true;
    }
    return false;
}

static bool is_used(const Function *f, int reg, bool part)
{
    for (int i = 0; i < f->instruction_count; i++)
        if (computes_with(f, &f->instructions[i], reg, part))
            return true;
    return false;
}

/* The register of a load's element; NEVER: thrown away, or not to be known. */
static int register_of(const Function *f, const Instruction *in, int element)
{
    const Operand *d = in->first < f->operand_count ? &f->operands[in->first] : NULL;

    if (d && d->kind == OPERAND_VECTOR)
        d = element < d->count && d->first + element < f->operand_count
                ? &f->operands[d->first + element]
                : NULL;
    return d && d->kind == OPERAND_REGISTER ? d->index : NEVER;
}

/* Asked again and again of the same few steps. */
static bool element_is_used(const Access *x, int element, bool part)
{
    static _Thread_local struct {
        const Step *step;
        const Instruction *in;
        int element, part;
        bool used;
    } kept[16];
    const Function *f = x->warp->code->function;
    const int at = (int) (((uintptr_t) x->step / sizeof *x->step + (unsigned) element) % 16);

    if (kept[at].step != x->step || kept[at].in != x->step->in || kept[at].element != element ||
        kept[at].part != part) {
        int reg = register_of(f, x->step->in, element);
        kept[at].step = x->step;
        kept[at].in = x->step->in;
        kept[at].element = element;
        kept[at].part = part;
        kept[at].used = reg != NEVER && is_used(f, reg, part);
    }
    return kept[at].used;
}

/* ---- One lane ---- */

static bool none_written(const uint8_t *written, size_t at, size_t bytes)
{
    return bits_other(written, at, bytes, false) == at + bytes;
}

/* Of a lane of whose bytes some are not written. */
static bool is_told(const Access *x, const uint8_t *written, size_t at)
{
    const size_t size = x->step->size, bytes = (size_t) x->bytes;

    if (none_written(written, at, bytes))
        return true;
    if (x->step->in->op == OP_cp_async)
        return false;
    if (x->kind != ACCESS_LOAD || !size || bytes % size)
        return true;
    for (size_t e = 0; e < bytes / size; e++)
        if (!bits_all(written, at + e * size, size, true) &&
            element_is_used(x, (int) e, !none_written(written, at + e * size, size)))
            return true;
    return false;
}

/* "which nobody has written"; "of which nobody has written 8, from byte 8 on" */
static const char *put_which(const Access *x, const uint8_t *written, size_t at, const char *nobody,
                             char *text, size_t size)
{
    size_t count = 0;

    for (size_t i = 0; i < (size_t) x->bytes; i++)
        count += !bits_all(written, at + i, 1, true);
    if (count == (size_t) x->bytes)
        snprintf(text, size, "which %s has written", nobody);
    else
        snprintf(text, size, "of which %s has written %zu, from byte %zu on", nobody, count,
                 bits_other(written, at, (size_t) x->bytes, true) - at);
    return text;
}

static void tell_global(const Access *x, int lane, const uint8_t *written, size_t at)
{
    char where[300], which[100];

    memory_describe(x->address[lane], (size_t) x->bytes, where, sizeof where);
    warn(x->warp, x->step, lane, FINDING_UNINITIALISED, "%s %d byte%s at 0x%llx, %s, %s",
         access_verb(x), x->bytes, plural((uint64_t) x->bytes),
         (unsigned long long) x->address[lane], where,
         put_which(x, written, at, "nothing", which, sizeof which));
}

static void tell_shared(const Access *x, int lane, const uint8_t *written, size_t at)
{
    const Step *copy = async_pending(x->warp->block, x->address[lane], x->bytes);
    char which[200];

    if (copy && copy->in)
        snprintf(which, sizeof which,
                 "where the cp.async of line %d is still under way: wait for it first",
                 copy->in->line);
    else
        put_which(x, written, at, "no thread", which, sizeof which);
    warn(x->warp, x->step, lane, FINDING_UNINITIALISED, "%s %d byte%s of shared memory at %llu, %s",
         access_verb(x), x->bytes, plural((uint64_t) x->bytes),
         (unsigned long long) x->address[lane], which);
}

/* Only the first lane of those that read what is not there is told. */
static void check_lanes(Access *x, bool mark, bool ask)
{
    bool told = !ask;

    for (uint32_t left = x->shape->leaders & x->mask; left; left &= left - 1) {
        int lane = first_lane(left);
        const Allocation *a = x->space == SPACE_SHARED ? NULL
                              : x->allocation          ? x->allocation
                                                       : x->of[lane];
        uint8_t *written = a ? a->written : x->warp->block->shared_written;
        size_t at = x->address[lane] - (a ? a->base : 0);
        if (written && !told && !bits_all(written, at, (size_t) x->bytes, true) &&
            is_told(x, written, at)) {
            told = true;
            if (a)
                tell_global(x, lane, written, at);
            else
                tell_shared(x, lane, written, at);
        }
        if (written && mark)
            bits_fill(written, at, (size_t) x->bytes, true);
    }
}

void access_check_written(Access *x)
{
    const Launch *launch = x->warp->block->launch;
    bool shared = x->space == SPACE_SHARED;
    uint8_t *written = shared          ? x->warp->block->shared_written
                       : x->allocation ? x->allocation->written
                                       : NULL;
    bool ask = launch->check_uninitialised && x->kind != ACCESS_STORE;
    bool mark = x->kind != ACCESS_LOAD;

    if (!written && (shared || x->allocation))
        return;
    if (!ask && !mark)
        return;
    if (!x->linear)
        return check_lanes(x, mark, ask);
    size_t at = x->address[0] - (shared ? 0 : x->allocation->base);
    size_t bytes = (size_t) x->bytes * LANES;
    if (ask && !bits_all(written, at, bytes, true))
        check_lanes(x, mark, ask);
    else if (mark)
        bits_fill(written, at, bytes, true);
}

/* ---- Copies ---- */

/* The allocation, if it holds all of the bytes and is watched. */
static Allocation *watched(uint64_t address, size_t bytes)
{
    Allocation *a = memory_find(address);

    return a && a->written && bytes <= a->bytes - (address - a->base) ? a : NULL;
}

void memory_copy_written(uint64_t to, uint64_t from, size_t bytes)
{
    Allocation *target = watched(to, bytes);
    const Allocation *source = watched(from, bytes);

    if (!target || !source)
        return;
    const size_t to_at = to - target->base, from_at = from - source->base;
    for (size_t at = 0, same; at < bytes; at += same) {
        const bool written = bits_all(source->written, from_at + at, 1, true);
        same = bits_other(source->written, from_at + at, bytes - at, written) - from_at - at;
        bits_fill(target->written, to_at + at, same, written);
    }
}
