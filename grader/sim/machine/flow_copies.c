/* flow_copies.c - the machine instructions of each line of the PTX, by block. */
#include "sim/machine/flow_finder.h"

#include <stdlib.h>

/* ---- Instructions that PTX and machine code have one for one ---- */

static bool is_one_of(unsigned operation, const uint16_t *list)
{
    while (*list && *list != operation)
        list++;
    return *list != 0;
}

/* Products of 64-bit integers take several products of 32 bits. */
static bool is_long_product(const Instruction *in)
{
    return (in->op == OP_mul || in->op == OP_mad) && in->type_count &&
           type_is_whole(in->types[0]) && type_size(in->types[0]) == 8;
}

bool flow_is_counterpart(const Instruction *in, unsigned operation)
{
    static const struct {
        Op op;
        uint16_t operations[10];
    } pairs[] = {
        { OP_ld, { 0x180, 0x181, 0x183, 0x184 } },
        { OP_st, { 0x185, 0x186, 0x187, 0x188 } },
        { OP_atom, { 0x18a, 0x18b, 0x18c, 0x18d, 0x18e, 0x1a3, 0x1a6, 0x1a8, 0x1a9 } },
        { OP_red, { 0x18a, 0x18b, 0x18c, 0x18d, 0x18e, 0x1a3, 0x1a6, 0x1a8, 0x1a9 } },
        { OP_cp_async, { 0x1ae, 0x1af, 0x11a } },
        { OP_shfl, { 0x189 } },
        { OP_vote, { 0x006, 0x086 } },
        { OP_match, { 0x1a1 } },
        { OP_bar, { 0x11d } },
        { OP_call, { MACHINE_CALL_ABSOLUTE, MACHINE_CALL } },
        { OP_barrier, { 0x11d } },
        { OP_fma, { 0x023, 0x02b, 0x031, 0x035 } },
        { OP_mul, { 0x020, 0x028, 0x032, 0x024, 0x025, 0x027 } },
        { OP_mad, { 0x023, 0x02b, 0x024, 0x025, 0x027 } },
        { OP_add, { 0x021, 0x023, 0x029, 0x030 } },
        { OP_sub, { 0x021, 0x023, 0x029, 0x030 } },
        { OP_ex2, { 0x108 } },
        { OP_lg2, { 0x108 } },
        { OP_sin, { 0x108 } },
        { OP_cos, { 0x108 } },
        { OP_rcp, { 0x108 } },
        { OP_rsqrt, { 0x108 } },
        { OP_sqrt, { 0x108 } },
        { OP_tanh, { 0x108 } },
        { OP_div, { 0x108 } },
        { OP_rem, { 0x108 } },
        { OP_popc, { 0x109 } },
        { OP_max, { 0x009, 0x017, 0x048 } },
        { OP_min, { 0x009, 0x017, 0x048 } },
    };

    if (is_long_product(in))
        return false;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (pairs[i].op == in->op)
            return is_one_of(operation, pairs[i].operations);
    return false;
}

bool flow_is_elsewhere(int arch, unsigned operation)
{
    static const uint16_t moved[] = { 0x002, 0x005, 0x082, 0x0b9,       0x0ca,       0x119, 0x182,
                                      0x1ac, 0x1c2, 0x1c3, MACHINE_LDL, MACHINE_STL, 0 };

    return is_one_of(operation, moved) || machine_pipe(arch, operation) == MACHINE_CONTROL;
}

bool flow_is_move(const MachineInstruction *in)
{
    enum { IMAD = 0x024, HFMA2_MMA = 0x035 };

    return (flow_operation(in) == IMAD || flow_operation(in) == HFMA2_MMA) &&
           in->source[0] == MACHINE_NO_REGISTER;
}

/* ---- Copies ---- */

static int compare_copies(const void *a, const void *b)
{
    const Copies *x = a, *y = b;

    return x->line != y->line ? (x->line > y->line) - (x->line < y->line)
                              : (x->block > y->block) - (x->block < y->block);
}

void flow_copies(FlowFinder *finder)
{
    const Lowering *lowering = finder->lowering;
    Copies *all = finder->copies;
    int count = 0, used = 0;

    for (int b = 0; b < lowering->block_count; b++) {
        const MachineBlock *block = &lowering->blocks[b];
        for (int i = block->first; block->is_reached && i < block->first + block->count; i++) {
            const MachineInstruction *in = &lowering->code.instructions[i];
            const LineCount *line = line_count_at(&finder->counts, in->line);
            if (!line)
                continue;
            const bool is_pair =
                flow_is_counterpart(line->step->in, flow_operation(in)) && !flow_is_move(in);
            const bool guarded = flow_is_guarded(in);
            if (!is_pair && flow_is_elsewhere(lowering->code.arch, flow_operation(in)))
                continue;
            all[count++] = (Copies){ in->line, b, 1, is_pair, is_pair && guarded, guarded, -1 };
        }
    }
    qsort(all, (size_t) count, sizeof *all, compare_copies);
    for (int i = 0; i < count; i++) {
        Copies *last = used ? &all[used - 1] : NULL;
        if (last && last->line == all[i].line && last->block == all[i].block) {
            last->all++;
            last->counterparts += all[i].counterparts;
            last->guarded += all[i].guarded;
            last->guarded_all += all[i].guarded_all;
        } else {
            all[used++] = all[i];
        }
    }
    finder->copies_count = used;
}

/* The end of the copies of the line that starts at `first`. */
int flow_end_of_line(const FlowFinder *finder, int first)
{
    int last = first + 1;

    while (last < finder->copies_count && finder->copies[last].line == finder->copies[first].line)
        last++;
    return last;
}

/* The end of the copies of the basic block of the PTX that starts at `first`. */
int flow_end_of_block(const FlowFinder *finder, int first)
{
    const int block = line_count_at(&finder->counts, finder->copies[first].line)->block;
    int last = first + 1;

    while (last < finder->copies_count &&
           line_count_at(&finder->counts, finder->copies[last].line)->block == block)
        last++;
    return last;
}
