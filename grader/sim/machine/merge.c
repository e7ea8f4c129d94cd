/* merge.c - merges loads of neighbouring words of shared memory into one wide load.
 *
 * If ptxas can prove that words are consecutive from an address that is a multiple of 8 or 16
 * bytes, and no store to shared memory comes in between, it loads two or four of them at once, for
 * example along a row of a tile of known width. The words of one lane are in consecutive banks, and
 * those of other lanes at a multiple of that distance. So the load takes as many wavefronts as its
 * first word alone, but a 16-byte load takes at least two (shape.c: its four phases of 8 lanes
 * become two where lanes share an address).
 *
 * Where the machine code is known, it says which loads have no instruction.
 */
#include "sim/exec/access.h"
#include "sim/machine/maker.h"

#include <stdlib.h>

enum { WORD = 4, WORDS = 4, MOST_DEPTH = 6 };

static const int most_alignment = WORD * WORDS;

/* The loads of one quad of words, at an address + WORD * WORDS * quad. The address is that of a
 * register, or of variable -1 - base. */
typedef struct LoadGroup {
    int block; /* the block in which it was made; 0: none */
    int base, next;
    int64_t quad;
    int step[WORDS]; /* + 1; 0: none */
} LoadGroup;

typedef struct Merger {
    OperationMaker *maker;
    LoadGroup *groups; /* a hash table; entries of other blocks are free */
    size_t room;
    bool *target; /* by step: a branch leads there */
    int block;
    int first;  /* of the block's groups; `next` is the table's index + 1 */
    int *loads; /* the block's steps that load what machine code knows */
    int *leads; /* by these: the step, + 1, whose instruction loads it */
    int load_count;
} Merger;

/* ---- The alignment of an address ---- */

static int alignment_of_number(uint64_t number)
{
    for (int n = 1; n < most_alignment; n *= 2)
        if (number & (uint64_t) n)
            return n;
    return most_alignment;
}

static int lesser(int a, int b)
{
    return a < b ? a : b;
}

static int alignment_of(const OperationMaker *maker, const Operand *o, int depth);

static int alignment_of_result(const OperationMaker *maker, const Instruction *in, int depth)
{
    const Operand *a = operand_of(maker, in, 1), *b = operand_of(maker, in, 2);
    const Operand *c = operand_of(maker, in, 3);
    const int of_a = alignment_of(maker, a, depth), of_b = alignment_of(maker, b, depth);

    switch (in->op) {
    case OP_mov:
    case OP_cvt:
    case OP_cvta:
        return of_a;
    case OP_add:
    case OP_sub:
    case OP_or:
    case OP_xor:
        return lesser(of_a, of_b);
    case OP_and:
        return of_a > of_b ? of_a : of_b;
    case OP_mul:
        return has_mod(in, MOD_hi) ? 1 : lesser(of_a * of_b, most_alignment);
    case OP_mad:
        return has_mod(in, MOD_hi)
                   ? 1
                   : lesser(lesser(of_a * of_b, most_alignment), alignment_of(maker, c, depth));
    case OP_shl:
        return !b || b->kind != OPERAND_INTEGER ? of_a
               : b->bits > 4                    ? most_alignment
                                                : lesser(of_a << b->bits, most_alignment);
    default:
        return 1;
    }
}

/* ptxas places static variables itself; of external ones it knows only the declared alignment. */
static int alignment_of_variable(const OperationMaker *maker, const Operand *o)
{
    const Variable *v = &maker->code->module->variables[o->index];
    const uint64_t offset =
        v->is_extern ? (uint64_t) v->align : (uint64_t) maker->code->variable_offset[o->index];

    return alignment_of_number(offset | (uint64_t) o->offset);
}

/* A power of two, at most most_alignment. */
static int alignment_of(const OperationMaker *maker, const Operand *o, int depth)
{
    if (!o || depth == MOST_DEPTH)
        return 1;
    if (o->kind == OPERAND_INTEGER)
        return alignment_of_number(o->bits);
    if (o->kind == OPERAND_VARIABLE && o->index >= 0 &&
        maker->code->module->variables[o->index].space == SPACE_SHARED)
        return alignment_of_variable(maker, o);
    if (o->kind != OPERAND_REGISTER || !maker->writer[o->index] ||
        maker->writer[o->index]->guard >= 0)
        return 1;
    return alignment_of_result(maker, maker->writer[o->index], depth + 1);
}

/* ---- Which loads ---- */

static const Operand *address_of(const OperationMaker *maker, const Step *step)
{
    return operand_of(maker, step->in, 1);
}

static bool is_word(const OperationMaker *maker, const Step *step)
{
    const Instruction *in = step->in;
    const Operand *to = in ? operand_of(maker, in, 0) : NULL;
    const Operand *at = in ? operand_of(maker, in, 1) : NULL;

    return in && in->op == OP_ld && step->space == SPACE_SHARED && in->guard < 0 &&
           in->vector <= 1 && in->type_count && type_size(in->types[0]) == WORD && !is_strong(in) &&
           to->kind == OPERAND_REGISTER && maker->writer[to->index] == in &&
           at->kind == OPERAND_ADDRESS && at->offset % WORD == 0 &&
           (at->is_register ? maker->writer[at->index] != NULL : at->index >= 0);
}

/* Whether step i may change shared memory or make lanes diverge. */
static bool ends_block(const Merger *merger, int i)
{
    const Step *step = &merger->maker->code->steps[i];
    const bool writes = step->class_ == CLASS_STORE || step->class_ == CLASS_ATOMIC ||
                        merger->maker->made->operations[i].memory == MEMORY_ORDERED ||
                        merger->maker->made->operations[i].action == DO_COPY;

    return step->class_ == CLASS_CONTROL || merger->target[i + 1] ||
           (writes && step->space != SPACE_GLOBAL);
}

/* ---- Merging ---- */

static LoadGroup *group_at(Merger *merger, int base, int64_t quad)
{
    size_t at = ((uint64_t) base * 0x9e3779b97f4a7c15ull ^ (uint64_t) quad * 0xbf58476d1ce4e5b9ull);

    for (at = (at ^ at >> 29) % merger->room;; at = (at + 1) % merger->room) {
        LoadGroup *group = &merger->groups[at];
        if (group->block == merger->block && group->base == base && group->quad == quad)
            return group;
        if (group->block != merger->block) {
            *group = (LoadGroup){
                .block = merger->block, .base = base, .quad = quad, .next = merger->first
            };
            merger->first = (int) at + 1;
            return group;
        }
    }
}

static void add_word(Merger *merger, int i)
{
    const Operand *at = address_of(merger->maker, &merger->maker->code->steps[i]);
    const int64_t within = ((at->offset % most_alignment) + most_alignment) % most_alignment;
    const int base = at->is_register ? at->index : -1 - at->index;
    LoadGroup *group = group_at(merger, base, (at->offset - within) / most_alignment);

    if (!group->step[within / WORD])
        group->step[within / WORD] = i + 1;
}

/* The first load in the code loads all words; the other loads need no instruction. */
static bool merge(Merger *merger, const int *steps, int count)
{
    const OperationMaker *maker = merger->maker;
    Operation *operations = maker->made->operations;
    int first = steps[0];

    for (int i = 1; i < count; i++)
        first = lesser(first, steps[i]);
    const Instruction *leader = maker->code->steps[first - 1].in;
    Operation *to = &operations[first - 1];
    if (!add_registers(merger->maker, to, leader))
        return false;
    for (int i = 0; i < count; i++) {
        if (steps[i] == first)
            continue;
        Operation *other = &operations[steps[i] - 1];
        if (!add_result(merger->maker, to, maker->code->steps[steps[i] - 1].in))
            return false;
        to->wavefronts = count == WORDS ? 2 : 1;
        if (to->place < 0) {
            to->place = other->place;
            to->first_place = other->first_place;
            to->place_count = other->place_count;
        }
        *other = (Operation){ .action = NO_INSTRUCTION,
                              .pipe = PIPE_LSU,
                              .spent = other->spent,
                              .spent_step = other->spent_step,
                              .block = other->block,
                              .place = -1 };
    }
    return true;
}

static bool merge_group(Merger *merger, const LoadGroup *group)
{
    const OperationMaker *maker = merger->maker;
    const bool is_register = group->base >= 0;
    const Operand base = { .kind = is_register ? OPERAND_REGISTER : OPERAND_VARIABLE,
                           .index = is_register ? group->base : -1 - group->base };
    const int *step = group->step, alignment = alignment_of(maker, &base, 0);
    bool well = true;

    if (alignment >= most_alignment && step[0] && step[1] && step[2] && step[3])
        return merge(merger, step, WORDS);
    for (int i = 0; i < WORDS && alignment >= 2 * WORD && well; i += 2)
        if (step[i] && step[i + 1])
            well = merge(merger, step + i, 2);
    return well;
}

/* ---- By the machine code ---- */

static bool is_known(const Merger *merger, int i)
{
    const OperationMaker *maker = merger->maker;

    return maker->lowered.steps && maker->lowered.steps[i].block >= 0;
}

static bool is_plain_load(const Merger *merger, int i)
{
    const Step *step = &merger->maker->code->steps[i];
    const Instruction *in = step->in;

    return in && in->op == OP_ld && in->guard < 0 && !is_strong(in) && in->count > 1 &&
           merger->maker->made->operations[i].action == DO_ACCESS &&
           address_of(merger->maker, step)->kind == OPERAND_ADDRESS;
}

/* Whether one load of at most 16 bytes could read what both do. */
static bool may_share(const Merger *merger, int i, int k)
{
    const Step *a = &merger->maker->code->steps[i], *b = &merger->maker->code->steps[k];
    const Operand *at = address_of(merger->maker, a), *bt = address_of(merger->maker, b);
    const int64_t apart =
        bt->offset > at->offset ? bt->offset - at->offset : at->offset - bt->offset;

    return a->space == b->space && at->is_register == bt->is_register && at->index == bt->index &&
           apart < most_alignment;
}

static int64_t offset_at(const Merger *merger, int i)
{
    return address_of(merger->maker, &merger->maker->code->steps[i])->offset;
}

static int64_t quad_of(int64_t offset)
{
    return (offset < 0 ? offset - most_alignment + 1 : offset) / most_alignment;
}

/* How likely it is that one load reads both: less if 16 bytes from the base on do not hold both. */
static int64_t distance(int64_t a, int64_t b)
{
    const int64_t apart = a < b ? b - a : a - b;

    return quad_of(a) == quad_of(b) ? apart : apart + most_alignment;
}

/* The load with an instruction that is nearest to load `n` of the block, which has none. */
static int lead_of(const Merger *merger, int n)
{
    const LoweredStep *lowered = merger->maker->lowered.steps;
    const int i = merger->loads[n];
    int64_t nearest = INT64_MAX;
    int best = -1;

    for (int k = 0; k < merger->load_count; k++) {
        const int other = merger->loads[k];
        const int64_t far = distance(offset_at(merger, i), offset_at(merger, other));
        if (lowered[other].is_absent || !may_share(merger, i, other) || far >= nearest)
            continue;
        nearest = far;
        best = other;
    }
    return best;
}

static bool merge_with(Merger *merger, int lead)
{
    int steps[WORDS] = { lead + 1 }, count = 1;

    for (int k = 0; k < merger->load_count && count < WORDS; k++)
        if (merger->leads[k] == lead + 1)
            steps[count++] = merger->loads[k] + 1;
    return count == 1 || merge(merger, steps, count);
}

static bool merge_known(Merger *merger)
{
    const LoweredStep *lowered = merger->maker->lowered.steps;
    bool well = true;

    for (int k = 0; k < merger->load_count; k++)
        merger->leads[k] = lowered[merger->loads[k]].is_absent ? lead_of(merger, k) + 1 : 0;
    for (int k = 0; k < merger->load_count && well; k++)
        if (!merger->leads[k])
            well = merge_with(merger, merger->loads[k]);
    merger->load_count = 0;
    return well;
}

static bool end_block(Merger *merger)
{
    bool well = true;

    for (int at = merger->first; at && well; at = merger->groups[at - 1].next)
        well = merge_group(merger, &merger->groups[at - 1]);
    merger->first = 0;
    merger->block++;
    return well && merge_known(merger);
}

static bool merge_all(Merger *merger)
{
    const Code *code = merger->maker->code;

    for (int i = 0; i < code->step_count; i++)
        if (code->steps[i].in && code->steps[i].in->op == OP_bra && code->steps[i].jump.target >= 0)
            merger->target[code->steps[i].jump.target] = true;
    for (int i = 0; i < code->step_count; i++) {
        if (is_known(merger, i) && is_plain_load(merger, i))
            merger->loads[merger->load_count++] = i;
        else if (!is_known(merger, i) && is_word(merger->maker, &code->steps[i]))
            add_word(merger, i);
        if (ends_block(merger, i) && !end_block(merger))
            return false;
    }
    return end_block(merger);
}

bool merge_loads(OperationMaker *maker)
{
    const size_t steps = (size_t) maker->code->step_count + 1;
    Merger merger = { .maker = maker, .block = 1, .room = 2 * steps };
    bool well;

    merger.groups = calloc(merger.room, sizeof *merger.groups);
    merger.target = calloc(steps + 1, sizeof *merger.target);
    merger.loads = calloc(steps, sizeof *merger.loads);
    merger.leads = calloc(steps, sizeof *merger.leads);
    well = merger.groups && merger.target && merger.loads && merger.leads && merge_all(&merger);
    free(merger.groups);
    free(merger.loads);
    free(merger.leads);
    free(merger.target);
    return well;
}
