/* corrections.c - the pipe of each class of steps, and what is known about how ptxas translates
 * PTX.
 *
 * ptxas does not translate PTX one to one. Known differences are rows of `corrections`, each with
 * its reason; every other step is one instruction on the pipe of its class.
 */
#include "sim/machine/corrections.h"

#include <string.h>

/* ---- Pipes ---- */

#define FIGURE(name) offsetof(Device, name)

const PipeRow pipe_of_class[CLASSES] = {
    [CLASS_NOTHING] = { DO_COMPUTE, PIPE_ALU, FIGURE(int_lanes), FIGURE(alu_latency) },
    [CLASS_MOVE] = { DO_COMPUTE, PIPE_ALU, FIGURE(int_lanes), FIGURE(alu_latency) },
    [CLASS_INT] = { DO_COMPUTE, PIPE_ALU, FIGURE(int_lanes), FIGURE(alu_latency) },
    [CLASS_FP32] = { DO_COMPUTE, PIPE_FMA, FIGURE(fp32_lanes), FIGURE(alu_latency) },
    [CLASS_FP64] = { DO_COMPUTE, PIPE_FP64, FIGURE(fp64_lanes), FIGURE(fp64_latency) },
    [CLASS_FP16] = { DO_COMPUTE, PIPE_FP16, FIGURE(fp16_lanes), FIGURE(fp16_latency) },
    [CLASS_SFU] = { DO_COMPUTE, PIPE_SFU, FIGURE(sfu_lanes), FIGURE(sfu_latency) },
    [CLASS_CONVERT] = { DO_COMPUTE, PIPE_SFU, FIGURE(convert_lanes), FIGURE(sfu_latency) },
    [CLASS_CONTROL] = { DO_BRANCH, PIPE_BRANCH, FIGURE(int_lanes), FIGURE(branch_latency) },
    [CLASS_BARRIER] = { DO_BARRIER, PIPE_BRANCH, FIGURE(int_lanes), FIGURE(barrier_latency) },
    [CLASS_FENCE] = { DO_FENCE, PIPE_LSU, FIGURE(lsu_lanes), FIGURE(alu_latency) },
    [CLASS_SHUFFLE] = { DO_SHUFFLE, PIPE_LSU, FIGURE(lsu_lanes), FIGURE(shuffle_latency) },
    [CLASS_LOAD] = { DO_ACCESS, PIPE_LSU, FIGURE(lsu_lanes), FIGURE(l1_latency) },
    [CLASS_STORE] = { DO_ACCESS, PIPE_LSU, FIGURE(lsu_lanes), FIGURE(l1_latency) },
    [CLASS_ATOMIC] = { DO_ACCESS, PIPE_LSU, FIGURE(lsu_lanes), FIGURE(l1_latency) },
    /* Assumed: 2048 multiply-adds of f16 (mma.m16n8k16) take a scheduler's tensor core 8 cycles
     * where it has 4 SFU lanes. Since Turing it also computes in fp16. */
    [CLASS_TENSOR] = { DO_COMPUTE, PIPE_FP16, FIGURE(sfu_lanes), FIGURE(sfu_latency) },
};

/* Opcodes whose pipe is not that of their class. */
static const struct {
    Op op;
    Mod mod; /* MODS: any */
    PipeRow row;
} pipe_of_op[] = {
    { OP_mul, MODS, { DO_COMPUTE, PIPE_IMAD, FIGURE(int_lanes), FIGURE(alu_latency) } },
    { OP_mad, MODS, { DO_COMPUTE, PIPE_IMAD, FIGURE(int_lanes), FIGURE(alu_latency) } },
    { OP_vote, MODS, { DO_COMPUTE, PIPE_ALU, FIGURE(int_lanes), FIGURE(alu_latency) } },
    { OP_activemask, MODS, { DO_COMPUTE, PIPE_ALU, FIGURE(int_lanes), FIGURE(alu_latency) } },
    /* POPC, FLO, BREV */
    { OP_popc, MODS, { DO_COMPUTE, PIPE_SFU, FIGURE(sfu_lanes), FIGURE(sfu_latency) } },
    { OP_clz, MODS, { DO_COMPUTE, PIPE_SFU, FIGURE(sfu_lanes), FIGURE(sfu_latency) } },
    { OP_bfind, MODS, { DO_COMPUTE, PIPE_SFU, FIGURE(sfu_lanes), FIGURE(sfu_latency) } },
    { OP_brev, MODS, { DO_COMPUTE, PIPE_SFU, FIGURE(sfu_lanes), FIGURE(sfu_latency) } },
    /* A warp barrier and an arrival do not wait for other warps. */
    { OP_bar, MOD_warp, { DO_COMPUTE, PIPE_BRANCH, FIGURE(int_lanes), FIGURE(alu_latency) } },
    { OP_bar, MOD_arrive, { DO_COMPUTE, PIPE_BRANCH, FIGURE(int_lanes), FIGURE(alu_latency) } },
    { OP_barrier, MOD_arrive, { DO_COMPUTE, PIPE_BRANCH, FIGURE(int_lanes), FIGURE(alu_latency) } },
    { OP_mbarrier, MODS, { DO_COMPUTE, PIPE_LSU, FIGURE(lsu_lanes), FIGURE(shuffle_latency) } },
    { OP_barrier,
      MOD_cluster,
      { DO_COMPUTE, PIPE_BRANCH, FIGURE(int_lanes), FIGURE(alu_latency) } },
    { OP_cp_async, MOD_mbarrier, { DO_COMPUTE, PIPE_LSU, FIGURE(lsu_lanes), FIGURE(alu_latency) } },
    { OP_cp_async, MOD_bulk, { DO_COMPUTE, PIPE_LSU, FIGURE(lsu_lanes), FIGURE(alu_latency) } },
    { OP_cp_async,
      MOD_commit_group,
      { DO_COMMIT, PIPE_LSU, FIGURE(lsu_lanes), FIGURE(alu_latency) } },
    { OP_cp_async, MOD_wait_group, { DO_WAIT, PIPE_LSU, FIGURE(lsu_lanes), FIGURE(alu_latency) } },
    { OP_cp_async, MOD_wait_all, { DO_WAIT, PIPE_LSU, FIGURE(lsu_lanes), FIGURE(alu_latency) } },
    { OP_cp_async, MOD_async, { DO_COPY, PIPE_LSU, FIGURE(lsu_lanes), FIGURE(l1_latency) } },
};

/* Used by corrections. */
const PipeRow pipe_of_product = { DO_COMPUTE, PIPE_IMAD, FIGURE(int_lanes), FIGURE(alu_latency) };
const PipeRow either_pipe = { DO_COMPUTE, PIPE_ALU, FIGURE(int_lanes), FIGURE(alu_latency) };
/* Its width is not published; we assume that it is as wide as issue. */
const PipeRow uniform_datapath = { DO_COMPUTE, PIPE_UNIFORM, 0, FIGURE(alu_latency) };

/* The warp waits until the subroutine returns. */
static const PipeRow called = { DO_SEQUENCE, PIPE_ALU, FIGURE(int_lanes), FIGURE(alu_latency) };
static const PipeRow exact_fraction = { DO_SEQUENCE, PIPE_SFU, FIGURE(sfu_lanes),
                                        FIGURE(sfu_latency) };
static const PipeRow double_fraction = { DO_SEQUENCE, PIPE_FP64, FIGURE(fp64_lanes),
                                         FIGURE(fp64_latency) };
static const PipeRow vote = { DO_COMPUTE, PIPE_ALU, FIGURE(int_lanes), FIGURE(alu_latency) };

const PipeRow *pipe_row(const Step *step)
{
    for (size_t i = 0; i < sizeof pipe_of_op / sizeof *pipe_of_op; i++)
        if (pipe_of_op[i].op == step->in->op && step->class_ != CLASS_FP32 &&
            step->class_ != CLASS_FP64 && step->class_ != CLASS_FP16 &&
            (pipe_of_op[i].mod == MODS || has_mod(step->in, pipe_of_op[i].mod)))
            return &pipe_of_op[i].row;
    return &pipe_of_class[step->class_];
}

/* ---- Corrections ---- */

static bool is_whole_number(const Instruction *in)
{
    return in->type_count && type_is_whole(in->types[0]);
}

/* The machine code, where it is known, tells which of these branches ptxas has kept. */
static bool is_branch_none(const OperationMaker *maker, const Step *step)
{
    const ptrdiff_t at = step - maker->code->steps;

    return maker->none[at] && !(maker->lowered.steps && maker->lowered.steps[at].has_branch);
}

/* A kernel parameter at a fixed offset, or a function parameter that registers can hold. Larger or
 * indexed parameters are in memory. */
static bool is_parameter(const OperationMaker *maker, const Step *step)
{
    const size_t in_registers = 16;
    const Module *module = maker->code->module;
    const Operand *at = operand_of(maker, step->in, step->in->op == OP_ld);

    if ((step->in->op != OP_ld && step->in->op != OP_st) || step->space != SPACE_PARAM || !at ||
        at->is_register)
        return false;
    return step->kernel_param || (at->index >= 0 && at->index < module->variable_count &&
                                  module->variables[at->index].size <= in_registers);
}

static bool is_constant(const OperationMaker *maker, const Step *step)
{
    const Operand *from = operand_of(maker, step->in, 1);

    return step->in->op == OP_ld && step->space == SPACE_CONST && from && !from->is_register;
}

static bool is_copy(const OperationMaker *maker, const Step *step)
{
    const Operand *from = operand_of(maker, step->in, 1);

    return step->in->op == OP_mov && from &&
           (from->kind != OPERAND_SPECIAL || is_known_special(from->special));
}

static bool is_special(const OperationMaker *maker, const Step *step)
{
    const Operand *from = operand_of(maker, step->in, 1);

    return step->in->op == OP_mov && from && from->kind == OPERAND_SPECIAL;
}

static bool is_space_change(const OperationMaker *maker, const Step *step)
{
    (void) maker;
    return step->in->op == OP_cvta;
}

static bool is_widening(const OperationMaker *maker, const Step *step)
{
    const Instruction *in = step->in;

    /* Extracting a byte or half-word takes an instruction; so does saturating. */
    (void) maker;
    return in->op == OP_cvt && in->type_count > 1 && !type_is_float(in->types[0]) &&
           !type_is_float(in->types[1]) && !has_mod(in, MOD_sat) && type_size(in->types[0]) >= 4 &&
           type_size(in->types[1]) >= 4;
}

/* The multiplication of an address computation, if only additions use its result. */
static bool is_wide_product(const OperationMaker *maker, const Step *step)
{
    const Operand *to = operand_of(maker, step->in, 0);

    return step->in->op == OP_mul && has_mod(step->in, MOD_wide) && to &&
           to->kind == OPERAND_REGISTER && maker->only_added[to->index];
}

static bool adds_wide_product(const OperationMaker *maker, const Step *step)
{
    if (step->in->op != OP_add || !is_whole_number(step->in) || type_size(step->in->types[0]) != 8)
        return false;
    for (int i = 1; i < step->in->count; i++) {
        const Operand *o = operand_of(maker, step->in, i);
        const Instruction *writer = o->kind == OPERAND_REGISTER ? maker->writer[o->index] : NULL;
        if (writer && writer->op == OP_mul && has_mod(writer, MOD_wide))
            return true;
    }
    return false;
}

static bool is_shift_added(const OperationMaker *maker, const Step *step)
{
    const Function *f = maker->function;
    const Instruction *in = step->in, *next = in + 1;

    if (in->op != OP_shl || type_size(in->types[0]) != 4 ||
        next >= f->instructions + f->instruction_count || next->op != OP_add)
        return false;
    for (int i = 1; i < next->count; i++) {
        const Operand *o = operand_of(maker, next, i), *d = operand_of(maker, in, 0);
        if (o->kind == OPERAND_REGISTER && d->kind == OPERAND_REGISTER && o->index == d->index)
            return true;
    }
    return false;
}

static bool is_long_arithmetic(const OperationMaker *maker, const Step *step)
{
    (void) maker;
    return step->class_ == CLASS_INT && is_whole_number(step->in) &&
           type_size(step->in->types[0]) == 8;
}

static bool is_long_uniform(const OperationMaker *maker, const Step *step)
{
    return is_long_arithmetic(maker, step) && is_uniform(maker, step);
}

/* Excludes an addition that absorbs a shift, which becomes LEA. */
static bool is_addition(const OperationMaker *maker, const Step *step)
{
    const Instruction *in = step->in;
    const bool adds = in->op == OP_add || in->op == OP_sub;

    return adds && is_whole_number(in) && type_size(in->types[0]) == 4 && !has_mod(in, MOD_sat) &&
           !(step > maker->code->steps && is_shift_added(maker, step - 1));
}

static bool is_absorbed(const OperationMaker *maker, const Step *step)
{
    (void) maker;
    return step->treatment == ABSORBED;
}

static bool is_fused(const OperationMaker *maker, const Step *step)
{
    (void) maker;
    return step->treatment == FUSED;
}

static bool is_quotient(const OperationMaker *maker, const Step *step)
{
    (void) maker;
    return sequence_is_quotient(step);
}

static bool is_remainder(const OperationMaker *maker, const Step *step)
{
    return is_quotient(maker, step) && step->in->op == OP_rem;
}

static bool is_long_quotient(const OperationMaker *maker, const Step *step)
{
    return is_quotient(maker, step) && type_size(step->in->types[0]) == 8;
}

static bool is_fraction(const OperationMaker *maker, const Step *step)
{
    (void) maker;
    return sequence_is_fraction(step);
}

static bool is_double_fraction(const OperationMaker *maker, const Step *step)
{
    return is_fraction(maker, step) && type_size(step->in->types[0]) == 8;
}

static bool is_exact_quotient(const OperationMaker *maker, const Step *step)
{
    return is_fraction(maker, step) && step->in->op == OP_div;
}

static bool is_exact_reciprocal(const OperationMaker *maker, const Step *step)
{
    return is_fraction(maker, step) && step->in->op == OP_rcp;
}

static bool is_high_product(const OperationMaker *maker, const Step *step)
{
    const Instruction *in = step->in;

    (void) maker;
    return (in->op == OP_mul || in->op == OP_mad) && has_mod(in, MOD_hi) &&
           type_size(in->types[0]) == 4;
}

/* I2FP is an instruction of the integer pipe since sm_86 (ptxas 13.0). */
static bool is_quick_conversion(const OperationMaker *maker, const Step *step)
{
    const Instruction *in = step->in;

    return in->op == OP_cvt && in->type_count > 1 && in->types[0] == TYPE_F32 &&
           type_is_whole(in->types[1]) && type_size(in->types[1]) == 4 && maker->device->cc >= 86;
}

static bool is_vote(const OperationMaker *maker, const Step *step)
{
    (void) maker;
    return step->in->op == OP_vote;
}

bool is_predicate_logic(const OperationMaker *maker, const Step *step)
{
    (void) maker;
    return step->in->type_count && step->in->types[0] == TYPE_PRED && step->in->op != OP_setp &&
           step->in->op != OP_vote && step->class_ != CLASS_BARRIER;
}

/* The first row that applies counts. */
static const Correction corrections[] = {
    { "short branches", is_branch_none, 0, NULL,
      "predicates replace a branch over at most 8 instructions (issue.c; checked against the "
      "counters of an H200)" },
    { "parameters", is_parameter, 0, NULL,
      "parameters are in constant memory, which arithmetic can read like a register" },
    { "constants", is_constant, 0, NULL, "like a parameter if the address is fixed" },
    { "copies", is_copy, 0, NULL, "ptxas uses one register for both, or an immediate operand" },
    { "special registers", is_special, 1, &pipe_of_class[CLASS_SFU], "S2R: one slow instruction" },
    { "spaces", is_space_change, 0, NULL, "global and generic addresses are the same" },
    { "widening", is_widening, 0, NULL,
      "between integers: part of the multiplication or address that uses the wide value" },
    { "wide products", is_wide_product, 0, NULL, "IMAD.WIDE also adds the base of the address" },
    { "addresses", adds_wide_product, 1, &pipe_of_product, "IMAD.WIDE computes both halves" },
    { "shifts", is_shift_added, 0, NULL, "LEA shifts and adds" },
    { "fused", is_fused, 0, NULL, "becomes one FFMA with the product before it (ptxas.c)" },
    { "logic", is_absorbed, 0, NULL,
      "one LOP3 computes two operations of at most three different inputs (ptxas_logic.c)" },
    { "long quotients",
      is_long_quotient,
      60,
      &called,
      "a function of about 60 instructions (ptxas 13.0); as many cycles as quotient.rem_u64 in "
      "tests/sim/time/mechanisms",
      { 0, 6, 0, 65 } },
    { "remainders",
      is_remainder,
      20,
      &pipe_of_class[CLASS_INT],
      "a quotient, as below, and four instructions for its product and the difference",
      { 18, 0, 0, 14 } },
    { "quotients",
      is_quotient,
      18,
      &pipe_of_class[CLASS_INT],
      "a reciprocal and a correction: about 18 instructions (ptxas 13.0), of which 14 fill a pipe. "
      "The chain is that from the dividend on: the divisor's reciprocal is often known earlier",
      { 14, 0, 0, 12 } },
    { "exact fractions, 64 bits",
      is_double_fraction,
      15,
      &double_fraction,
      "an estimate, eight dependent multiply-adds, and a branch to a subroutine for rare cases "
      "(ptxas 13.0)",
      { 8, 1, 8, 7 } },
    { "exact quotients",
      is_exact_quotient,
      8,
      &exact_fraction,
      "div.rn: as below, and FCHK, which uses the same pipe as the estimate",
      { 2, 1, 0, 10 } },
    { "exact reciprocals",
      is_exact_reciprocal,
      8,
      &exact_fraction,
      "rcp.rn: as below; it waits longer for its branches",
      { 1, 1, 0, 15 } },
    { "exact fractions",
      is_fraction,
      8,
      &exact_fraction,
      "an estimate, about 7 instructions to make it exact, and a branch to a subroutine for rare "
      "cases",
      { 1, 1, 0, 10 } },
    { "high products",
      is_high_product,
      1,
      &pipe_of_product,
      "IMAD.HI is half as fast as IMAD",
      { 2, 0, 0, 2 } },
    { "quick conversions", is_quick_conversion, 1, &pipe_of_class[CLASS_INT], "I2FP" },
    { "votes",
      is_vote,
      1,
      &vote,
      "VOTE is slower than other integer instructions",
      { 2, 0, 0, 3 } },
    { "predicates", is_predicate_logic, 1, &pipe_of_class[CLASS_INT], "PLOP3" },
    { "uniform, 64 bits", is_long_uniform, 2, &uniform_datapath, "as below, but two instructions" },
    { "uniform", is_uniform, 1, &uniform_datapath,
      "since sm_75 a separate datapath computes values that all lanes of a warp share, so they do "
      "not use the integer pipe (sim/machine/uniform.c)" },
    { "64 bits", is_long_arithmetic, 2, NULL, "registers have 32 bits: two instructions" },
    { "additions", is_addition, 1, &either_pipe,
      "IADD3 or IMAD: ptxas uses the integer pipe or the multiply-add pipe, whichever is less busy "
      "in the stretch" },
};

const Correction *correction_of(const OperationMaker *maker, const Step *step)
{
    for (size_t i = 0; i < sizeof corrections / sizeof *corrections; i++)
        if (corrections[i].applies(maker, step))
            return &corrections[i];
    return NULL;
}
