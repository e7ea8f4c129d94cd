/* sim_lane.h - for tests: interprets a single lane of a kernel.
 *
 * It works on the parser's instructions and shares no other code with the simulated GPU: it has no
 * masks, planes or reconvergence stack, and calls are recursive. It supports only the constructs of
 * the random control flow tests: 32-bit and 64-bit integers, predicates, branches, calls, 4-byte
 * parameters, and stores to one array.
 */
#ifndef SIM_SIM_LANE_H
#define SIM_SIM_LANE_H

#include "sim/exec/exec.h"

#include <stdlib.h>
#include <string.h>

enum { LANE_DEPTH = 64, LANE_STEPS = 1 << 20 };

typedef struct Lane {
    const Module *module;
    uint64_t kernel_params[2]; /* in their order */
    uint32_t thread;
    uint64_t array; /* its address on the GPU */
    uint32_t *words;
    int word_count;
    long steps;
    int depth;
    bool exited;
    const Instruction *unknown; /* an unsupported instruction */
} Lane;

typedef struct LaneFrame {
    const Function *function;
    uint64_t *registers, *params; /* by register; by variable of the module */
} LaneFrame;

static void lane_call(Lane *lane, int function, const uint64_t *arguments, uint64_t *results);

/* ---- Operands ---- */

static uint64_t lane_special(const Lane *lane, const Operand *operand)
{
    switch (operand->special) {
    case SPECIAL_TID:
        return operand->component ? 0 : lane->thread;
    case SPECIAL_LANEID:
        return lane->thread;
    case SPECIAL_NTID:
        return operand->component ? 1 : 32;
    default:
        return 0; /* the first block */
    }
}

static uint64_t lane_value(const Lane *lane, const LaneFrame *frame, const Operand *operand)
{
    switch (operand->kind) {
    case OPERAND_REGISTER:
        return frame->registers[operand->index];
    case OPERAND_INTEGER:
        return operand->bits;
    case OPERAND_SPECIAL:
        return lane_special(lane, operand);
    case OPERAND_FUNCTION:
        return (uint64_t) operand->index;
    case OPERAND_ADDRESS: /* the address, which must be in a register */
        return frame->registers[operand->index] + (uint64_t) operand->offset;
    default:
        return 0;
    }
}

/* ---- Instructions ---- */

static uint64_t lane_compare(const Instruction *in, uint64_t a, uint64_t b)
{
    int64_t x = in->types[0] == TYPE_S32 ? (int64_t) (int32_t) a : (uint32_t) a;
    int64_t y = in->types[0] == TYPE_S32 ? (int64_t) (int32_t) b : (uint32_t) b;

    switch (in->mods[0]) {
    case MOD_eq:
        return x == y;
    case MOD_ne:
        return x != y;
    case MOD_lt:
        return x < y;
    case MOD_le:
        return x <= y;
    case MOD_gt:
        return x > y;
    default:
        return x >= y;
    }
}

/* Computes *d from a, b and c. Returns false for another kind of instruction. */
static bool lane_compute(const Instruction *in, uint64_t a, uint64_t b, uint64_t c, uint64_t *d)
{
    bool wide = in->types[0] == TYPE_S64 || in->types[0] == TYPE_U64 || in->types[0] == TYPE_B64;

    switch (in->op) {
    case OP_mov:
        *d = a;
        break;
    case OP_add:
        *d = a + b;
        break;
    case OP_sub:
        *d = a - b;
        break;
    case OP_mul:
        *d = (uint64_t) (uint32_t) a * (uint32_t) b;
        wide |= has_mod(in, MOD_wide);
        break;
    case OP_mad:
        *d = a * b + c;
        break;
    case OP_min:
        *d = (uint32_t) a < (uint32_t) b ? a : b;
        break;
    case OP_and:
        *d = a & b;
        break;
    case OP_xor:
        *d = a ^ b;
        break;
    case OP_shr:
        *d = (uint32_t) a >> (b & 31);
        break;
    case OP_rem:
        *d = (uint32_t) a % (uint32_t) b;
        break;
    case OP_selp:
        *d = c ? a : b;
        break;
    case OP_setp:
        *d = lane_compare(in, a, b);
        return true;
    default:
        return false;
    }
    if (!wide)
        *d = (uint32_t) *d;
    return true;
}

static void lane_store(Lane *lane, uint64_t address, uint64_t value)
{
    uint64_t word = (address - lane->array) / 4;

    if (word < (uint64_t) lane->word_count)
        lane->words[word] = (uint32_t) value;
}

/* Executes ld.param and st.param of a named variable, and st.global. */
static bool lane_memory(Lane *lane, LaneFrame *frame, const Instruction *in,
                        const Operand *operands)
{
    const Operand *address = &operands[in->op == OP_ld];

    if (in->op == OP_st && in->space == SPACE_GLOBAL) {
        lane_store(lane, lane_value(lane, frame, address), lane_value(lane, frame, &operands[1]));
        return true;
    }
    if (in->space != SPACE_PARAM || address->is_register || address->index < 0)
        return false;
    if (in->op == OP_ld)
        frame->registers[operands[0].index] = frame->params[address->index];
    else
        frame->params[address->index] = lane_value(lane, frame, &operands[1]);
    return true;
}

static bool lane_call_step(Lane *lane, LaneFrame *frame, const Instruction *in,
                           const Operand *operands)
{
    const Operand *target = &operands[in->call_returns];
    int function = (int) (target->kind == OPERAND_FUNCTION ? (uint64_t) target->index
                                                           : lane_value(lane, frame, target));
    uint64_t arguments[8] = { 0 }, results[8] = { 0 };

    if (function < 0 || function >= lane->module->function_count || lane->depth >= LANE_DEPTH)
        return false;
    const Function *callee = &lane->module->functions[function];
    if (callee->param_count > 8 || callee->return_count > 8 ||
        in->count < in->call_returns + 1 + callee->param_count)
        return false;
    for (int i = 0; i < callee->param_count; i++)
        arguments[i] = frame->params[operands[in->call_returns + 1 + i].index];
    lane_call(lane, function, arguments, results);
    for (int i = 0; i < in->call_returns && i < 8; i++)
        frame->params[operands[i].index] = results[i];
    return true;
}

/* Executes one instruction. Returns the next one; -1: return to the caller. */
static int lane_step(Lane *lane, LaneFrame *frame, int pc)
{
    const Function *f = frame->function;
    const Instruction *in = &f->instructions[pc];
    const Operand *o = f->operands + in->first;
    uint64_t value[3] = { 0 };

    if (in->guard >= 0 && (frame->registers[in->guard] != 0) == in->guard_negated)
        return pc + 1;
    switch (in->op) {
    case OP_bra:
        return o[0].index;
    case OP_brx:
        return f->tables[o[1].index].entries[lane_value(lane, frame, &o[0])];
    case OP_exit:
        lane->exited = true;
        return -1;
    case OP_ret:
        return -1;
    case OP_call:
        if (!lane_call_step(lane, frame, in, o))
            lane->unknown = in;
        return lane->exited ? -1 : pc + 1;
    case OP_ld:
    case OP_st:
        if (!lane_memory(lane, frame, in, o))
            lane->unknown = in;
        return pc + 1;
    default:
        break;
    }
    for (int i = 1; i < in->count && i < 4; i++)
        value[i - 1] = lane_value(lane, frame, &o[i]);
    if (!in->count || o[0].kind != OPERAND_REGISTER ||
        !lane_compute(in, value[0], value[1], value[2], &frame->registers[o[0].index]))
        lane->unknown = in;
    return pc + 1;
}

/* ---- Functions ---- */

static void lane_call(Lane *lane, int function, const uint64_t *arguments, uint64_t *results)
{
    const Function *f = &lane->module->functions[function];
    LaneFrame frame = { f, calloc((size_t) f->register_count + 1, 8),
                        calloc((size_t) lane->module->variable_count + 1, 8) };

    for (int i = 0; i < f->param_count; i++)
        frame.params[f->params[i]] = arguments[i];
    lane->depth++;
    for (int pc = 0; pc >= 0 && pc < f->instruction_count && !lane->unknown;) {
        if (lane->steps++ >= LANE_STEPS)
            lane->unknown = &f->instructions[pc];
        pc = lane_step(lane, &frame, pc);
    }
    lane->depth--;
    for (int i = 0; i < f->return_count; i++)
        results[i] = frame.params[f->returns[i]];
    free(frame.registers);
    free(frame.params);
}

/* Returns false after an unsupported instruction or too many steps. */
static bool lane_run(Lane *lane, int kernel)
{
    uint64_t none[8];

    lane->steps = lane->depth = 0;
    lane->exited = false;
    lane->unknown = NULL;
    lane_call(lane, kernel, lane->kernel_params, none);
    return !lane->unknown;
}

#endif
