/* fixed.c - steps whose results are the same in every block of a launch: they depend on nothing but
 * parameters, constants and the thread's place in its block.
 *
 * They run once, when a warp is opened. Their registers keep their values from block to block, and
 * in a block the steps are only counted. A copy of a special register needs no plane at all: its
 * register is the special plane.
 *
 * Such a register is written by one instruction only, and no lane can read it without having passed
 * that instruction: either all uses follow it in its basic block, or no branch leads around it to
 * them. */
#include "sim/exec/fixed.h"
#include "sim/exec/ops/handlers.h"

#include <stdlib.h>

/* ---- Who writes and reads ---- */

static void see(Finder *finder, int reg, int at, bool writes)
{
    if (writes)
        finder->writer[reg] = finder->writer[reg] == NO_WRITER ? at : MANY_WRITERS;
    else if (at < finder->first_read[reg])
        finder->first_read[reg] = at;
    if (!writes && at > finder->last_read[reg])
        finder->last_read[reg] = at;
}

static void see_operand(Finder *finder, const Operand *operand, int at, bool writes)
{
    if (operand->kind == OPERAND_REGISTER)
        see(finder, operand->index, at, writes);
    else if (operand->kind == OPERAND_ADDRESS && operand->is_register)
        see(finder, operand->index, at, false);
    else if (operand->kind == OPERAND_VECTOR)
        for (int i = 0; i < operand->count; i++)
            see_operand(finder, &finder->function->operands[operand->first + i], at, writes);
}

/* Whether other lanes may read the operand: then a lane that has not come here yet counts, too. */
static bool crosses(const Instruction *in, int operand)
{
    switch (class_of(in)) {
    case CLASS_SHUFFLE:
        return operand == in->roles.destinations;
    case CLASS_TENSOR:
        return true;
    default:
        return in->op == OP_tex || in->op == OP_elect;
    }
}

/* An instruction whose operands are unknown may write all of them. */
static void see_instruction(Finder *finder, int at)
{
    const Instruction *in = &finder->function->instructions[at];
    const Operand *operands = finder->function->operands + in->first;

    if (in->guard >= 0)
        see(finder, in->guard, at, false);
    for (int i = 0; i < in->count; i++) {
        if (!in->roles.known || i >= in->roles.destinations)
            see_operand(finder, &operands[i], at, false);
        if (!in->roles.known || i < in->roles.destinations || crosses(in, i))
            see_operand(finder, &operands[i], at, true);
    }
}

/* ---- Which are fixed ---- */

/* Whether the instruction only computes from its sources. */
static bool is_pure(const Instruction *in)
{
    static const Op ops[] = { OP_mov, OP_cvta, OP_cvt, OP_add, OP_sub, OP_mul,
                              OP_mad, OP_shl,  OP_shr, OP_and, OP_or,  OP_xor,
                              OP_not, OP_neg,  OP_min, OP_max, OP_bfe, OP_setp };
    const OpClass class_ = class_of(in);

    if (has_mod(in, MOD_cc) ||
        (class_ != CLASS_INT && class_ != CLASS_MOVE && class_ != CLASS_CONVERT))
        return false;
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (in->op == ops[i])
            return true;
    return false;
}

static bool is_place_in_block(Special special)
{
    return special == SPECIAL_TID || special == SPECIAL_NTID || special == SPECIAL_NCTAID ||
           special == SPECIAL_LANEID;
}

bool is_fixed_source(const Finder *finder, const Operand *operand)
{
    switch (operand->kind) {
    case OPERAND_REGISTER:
        return finder->writer[operand->index] >= 0 && finder->lives[operand->index].is_fixed &&
               !finder->lives[operand->index].differs;
    case OPERAND_SPECIAL:
        return is_place_in_block(operand->special);
    case OPERAND_INTEGER:
    case OPERAND_FLOAT:
        return true;
    case OPERAND_VARIABLE:
        return finder->maker->module->variables[operand->index].space == SPACE_SHARED ||
               finder->maker->module->variables[operand->index].space == SPACE_GLOBAL;
    default:
        return false;
    }
}

static bool is_fixed_load(const Finder *finder, const Instruction *in)
{
    const Operand *from = finder->function->operands + in->first + 1;

    if (in->op != OP_ld || in->space != SPACE_PARAM || in->vector > 1 || in->count != 2 ||
        from->kind != OPERAND_ADDRESS || from->is_register || from->index < 0 ||
        !is_kernel_param(finder->maker, from->index))
        return false;
    return from->offset >= 0 && (uint64_t) from->offset + (uint64_t) type_size(in->types[0]) <=
                                    finder->maker->module->variables[from->index].size;
}

static bool has_fixed_result(const Finder *finder, const Instruction *in)
{
    const Operand *operands = finder->function->operands + in->first;

    if (is_fixed_load(finder, in))
        return true;
    for (int i = 1; i < in->count; i++)
        if (!is_fixed_source(finder, &operands[i]))
            return false;
    return is_pure(in);
}

/* 1 + the special plane that the instruction copies; 0: none. */
static int copied_plane(const Finder *finder, const Instruction *in)
{
    const Operand *operands = finder->function->operands + in->first;
    const Operand *from = operands + 1;

    if (in->op != OP_mov || in->count != 2 || from->kind != OPERAND_SPECIAL ||
        from->component < 0 || from->component > 2 || special_is_clock(from->special) ||
        special_bytes(from->special) != type_size(in->types[0]) ||
        type_size(finder->function->registers[operands->index].type) != type_size(in->types[0]))
        return 0;
    return 1 + finder->maker->code->special_plane[from->special * 3 + from->component];
}

static bool has_alike_result(const Finder *finder, const Instruction *in)
{
    const Operand *operands = finder->function->operands + in->first;

    for (int i = 1; i < in->count; i++)
        if ((operands[i].kind == OPERAND_REGISTER && !finder->lives[operands[i].index].is_alike) ||
            (operands[i].kind == OPERAND_SPECIAL && operands[i].special != SPECIAL_NTID &&
             operands[i].special != SPECIAL_NCTAID))
            return false;
    return true;
}

/* ---- Branches ---- */

static void add_jump(Finder *finder, int from, int to)
{
    if (finder->jumps)
        finder->jumps[finder->jump_count] = (Jump){ from, to };
    finder->jump_count++;
}

static void add_jumps(Finder *finder, int at)
{
    const Function *f = finder->function;
    const Instruction *in = &f->instructions[at];

    for (int i = 0; i < in->count; i++) {
        const Operand *operand = &f->operands[in->first + i];
        if (operand->kind == OPERAND_LABEL)
            add_jump(finder, at, operand->index);
        for (int k = 0; operand->kind == OPERAND_TABLE && k < f->tables[operand->index].count; k++)
            add_jump(finder, at, f->tables[operand->index].entries[k]);
    }
}

/* Counts the jumps, then lists them. Returns false if out of memory. */
static bool list_jumps(Finder *finder)
{
    for (int round = 0; round < 2; round++) {
        finder->jump_count = 0;
        for (int at = 0; at < finder->function->instruction_count; at++)
            add_jumps(finder, at);
        if (!finder->jumps)
            finder->jumps = calloc((size_t) finder->jump_count + 1, sizeof *finder->jumps);
        if (!finder->jumps)
            return false;
    }
    return true;
}

/* All paths to the instructions from `at` to the one that this returns, exclusive, pass `at`: jumps
 * over it go farther, and none comes back from there. */
static int passed_until(const Finder *finder, int at)
{
    const Jump *end = finder->jumps + finder->jump_count;
    int until = finder->function->instruction_count;

    for (const Jump *jump = finder->jumps; jump < end; jump++)
        if (jump->from < at && jump->to > at && jump->to < until)
            until = jump->to;
    for (const Jump *jump = finder->jumps; jump < end; jump++)
        if (jump->from >= until && jump->to > at && jump->to < until)
            return at;
    return until;
}

/* Whether the instruction may be the only writer of a fixed register. */
static bool is_writer(const Finder *finder, int at)
{
    const Instruction *in = &finder->function->instructions[at];
    const Operand *to = finder->function->operands + in->first;

    if (in->guard >= 0 || !in->roles.known || in->roles.destinations != 1 || in->count < 2 ||
        to->kind != OPERAND_REGISTER)
        return false;
    const PtxRegister *reg = &finder->function->registers[to->index];
    return finder->writer[to->index] == at && finder->first_read[to->index] > at &&
           (reg->type == TYPE_PRED || type_size(reg->type) <= 8);
}

static void visit(Finder *finder, int at)
{
    const Instruction *in = &finder->function->instructions[at];
    const Operand *to = finder->function->operands + in->first;

    if (!is_writer(finder, at))
        return;
    Life *life = &finder->lives[to->index];
    const int special = copied_plane(finder, in);
    const bool moves = !special && moves_with_block(finder, in);
    if (!special && !moves && !has_fixed_result(finder, in))
        return;
    finder->tries++;
    if (!life->shares && finder->last_read[to->index] >= passed_until(finder, at))
        return;
    if (moves) {
        life->moves = finder->maker->moved[at] = finder->moved_count++ < MOST_MOVED;
        return;
    }
    life->moves = special && to[1].special == SPECIAL_CTAID;
    life->special = special;
    life->differs = special > 0 && !is_fixed_source(finder, to + 1);
    life->is_fixed = true;
    life->is_alike = has_alike_result(finder, in);
    life->shares = false;
    finder->maker->fixed[at] = true;
    finder->count++;
}

static void visit_all(Finder *finder)
{
    const Function *f = finder->function;

    for (int i = 0; i < f->register_count; i++) {
        finder->writer[i] = NO_WRITER;
        finder->first_read[i] = f->instruction_count;
        finder->last_read[i] = -1;
    }
    for (int at = 0; at < f->instruction_count; at++)
        see_instruction(finder, at);
    for (int at = 0; at < f->instruction_count; at++)
        if (finder->count < MOST_FIXED && finder->tries < MOST_TRIES)
            visit(finder, at);
    keep_useful_moves(finder);
}

bool find_fixed(CodeMaker *maker, Life *lives)
{
    const Function *f = maker->function;
    const size_t registers = (size_t) f->register_count + 1;
    Finder finder = { .maker = maker, .function = f, .lives = lives };

    maker->fixed = calloc((size_t) f->instruction_count + 1, sizeof *maker->fixed);
    maker->moved = calloc((size_t) f->instruction_count + 1, sizeof *maker->moved);
    finder.writer = malloc(registers * sizeof *finder.writer);
    finder.first_read = malloc(registers * sizeof *finder.first_read);
    finder.last_read = malloc(registers * sizeof *finder.last_read);
    const bool well = maker->fixed && maker->moved && finder.writer && finder.first_read &&
                      finder.last_read && list_jumps(&finder);
    if (well && f->is_entry)
        visit_all(&finder);
    free(finder.writer);
    free(finder.first_read);
    free(finder.last_read);
    free(finder.jumps);
    return well || refuse(maker, "out of memory");
}

/* ---- Running them ---- */

static void run_fixed(Warp *warp, const Step *step, uint32_t mask)
{
    const Step *next = step->next;

    (void) mask;
    if (next > warp->last_in_row) {
        warp->at = next - 1;
        return;
    }
    warp->at = next;
    next->run(warp, next, ALL_LANES);
}

bool set_fixed(CodeMaker *maker)
{
    Code *code = maker->code;

    code->fixed = calloc(MOST_FIXED, sizeof *code->fixed);
    if (!code->fixed)
        return refuse(maker, "out of memory");
    for (int i = 0; i < code->step_count; i++) {
        if (!maker->fixed[i])
            continue;
        code->fixed[code->fixed_count++] = (FixedStep){ i, code->steps[i].run };
        code->steps[i].run = run_fixed;
    }
    return true;
}

void fixed_fill(Warp *warp, uint32_t lanes)
{
    const Code *code = warp->code;

    for (int i = 0; i < code->fixed_count; i++)
        code->fixed[i].run(warp, &code->steps[code->fixed[i].step], lanes);
}
