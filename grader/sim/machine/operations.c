/* operations.c - the machine instructions of each step of PTX: how many, on which pipe, and which
 * registers they wait for.
 *
 * ptxas does not translate PTX one to one. Known differences are rows of `corrections`, each with
 * its reason; every other step is one instruction on the pipe of its class.
 */
#include "sim/exec/access.h"
#include "sim/machine/corrections.h"
#include "sim/machine/issue.h"

#include <stdlib.h>
#include <string.h>

/* ---- Figures of the device ---- */

static int figure(const Device *device, size_t offset)
{
    return *(const int *) ((const char *) device + offset);
}

/* The multiply-add unit also multiplies integers. Where its FP32 width is doubled, it has two
 * halves: one multiplies integers while the other continues with FP32. */
static Pipe pipe_on(const Device *device, Pipe pipe)
{
    return pipe == PIPE_IMAD && device->int_lanes >= device->fp32_lanes ? PIPE_FMA : pipe;
}

/* ---- The operations of a whole code ---- */

static int least(int value, int most)
{
    return value < most ? value : most;
}

/* The cycles that the 32 lanes of a warp take, from the pipe's width per scheduler. The load/store
 * unit belongs to the SM. */
static int cycles_of(const OperationMaker *maker, const PipeRow *row)
{
    const int schedulers = row->pipe == PIPE_LSU ? 1 : maker->device->schedulers_per_sm;
    const int lanes = row->lanes ? figure(maker->device, row->lanes) : LANES * schedulers;
    const int cycles = (LANES * schedulers + lanes - 1) / lanes;

    return least(cycles, UINT8_MAX);
}

static int groups_kept(const OperationMaker *maker, const Instruction *in)
{
    const Operand *o = operand_of(maker, in, 0);

    return o && o->kind == OPERAND_INTEGER && has_mod(in, MOD_wait_group) ? (int) (o->bits & 0xff)
                                                                          : 0;
}

static MemoryUse memory_use(const Step *step, Action action)
{
    const bool far =
        step->space == SPACE_GLOBAL || step->space == SPACE_GENERIC || step->space == SPACE_LOCAL;

    if (action == DO_LOCAL || action == DO_COPY)
        return MEMORY_NEAR;
    if (action == DO_FENCE || action == DO_COMMIT || action == DO_WAIT || action == DO_BARRIER ||
        (action == DO_ACCESS && is_strong(step->in)))
        return MEMORY_ORDERED;
    if (action != DO_ACCESS)
        return MEMORY_NONE;
    if (!far)
        return MEMORY_NEAR;
    return step->class_ == CLASS_LOAD ? MEMORY_FAR_LOAD : MEMORY_FAR_STORE;
}

static bool lies_near(const Step *step)
{
    return step->space == SPACE_CONST || step->space == SPACE_PARAM;
}

/* Volatile loads, those of a wider scope than the block, and what __ldcg() compiles to. */
static bool is_past_l1(const Step *step)
{
    const Instruction *in = step->in;

    return step->class_ == CLASS_LOAD && in &&
           (has_mod(in, MOD_cg) || has_mod(in, MOD_cv) || (is_strong(in) && !has_mod(in, MOD_cta)));
}

/* Per execution, rounded. */
static int per_copy(const LoweredStep *lowered, int count)
{
    const int copies = lowered->copies > 0 ? lowered->copies : 1;

    return (count + copies / 2) / copies;
}

/* An instruction (LDC) loads up to 64 bits for each lane. */
static int constant_loads(const Step *step, const LoweredStep *lowered)
{
    const int bytes = step->size * step->vector;

    if (lowered->constants)
        return per_copy(lowered, lowered->constants);
    return bytes > 8 ? bytes / 8 : 1;
}

enum { MOST_ISSUES = 8 }; /* of one step that is no algorithm, such as a division */

static LoweredStep lowered_step(const OperationMaker *maker, const Step *step)
{
    return maker->lowered.steps ? maker->lowered.steps[step - maker->code->steps]
                                : (LoweredStep){ .block = -1, .place = -1 };
}

/* Per execution, rounded, but at least one. */
static int issues_of(const LoweredStep *lowered, int most)
{
    const int issues = per_copy(lowered, lowered->issues);

    return issues < 1 ? 1 : least(issues, most);
}

/* Of these, those on the pipe of the first one: a step may have a move on another pipe. */
static int issues_on_pipe(const LoweredStep *lowered, int issues)
{
    const int own = per_copy(lowered, lowered->on_pipe);

    return own < 1 || lowered->in_registers ? issues : least(own, issues);
}

/* Where ptxas unrolled a loop, not every copy has a counter and a branch. */
static void set_part(Operation *to, const LoweredStep *lowered)
{
    const bool may_be_part = to->action == DO_COMPUTE || to->action == DO_BRANCH;

    to->part = to->whole = 1;
    if (may_be_part && lowered->place >= 0 && lowered->issues < lowered->copies &&
        lowered->copies <= UINT8_MAX) {
        to->part = (uint8_t) lowered->issues;
        to->whole = (uint8_t) lowered->copies;
    }
}

/* The pipe of a computation that the machine code has, if it is one of those between which ptxas
 * chooses. NULL: unknown, or another one. */
static const PipeRow *machine_row(const Step *step, const LoweredStep *lowered)
{
    const bool is_float = step->class_ == CLASS_FP32;

    if (lowered->place >= 0 && lowered->constants && lies_near(step))
        return &pipe_of_class[CLASS_LOAD];
    if (lowered->in_registers) /* comparisons with each index select an element */
        return &pipe_of_class[CLASS_INT];
    if (lowered->place < 0 || (!is_float && step->class_ != CLASS_INT &&
                               step->class_ != CLASS_MOVE && step->class_ != CLASS_CONVERT))
        return NULL;
    switch (lowered->pipe) {
    case MACHINE_ALU:
        return &pipe_of_class[CLASS_INT];
    case MACHINE_FMA:
        return is_float ? &pipe_of_class[CLASS_FP32] : &pipe_of_product;
    case MACHINE_FP16: /* HADD2.F32 makes a half a float */
        return &pipe_of_class[CLASS_FP16];
    case MACHINE_UNIFORM:
        return &uniform_datapath;
    default:
        return NULL;
    }
}

/* ex2.approx, rsqrt.approx and their like without .ftz: two products around the special function,
 * under a predicate that tells small operands (ptxas 13.0). sin.approx: a product before it. */
static void add_scaling(const OperationMaker *maker, const LoweredStep *lowered, Operation *to)
{
    const Device *device = maker->device;
    const int issues = lowered->place < 0 ? 1 : issues_of(lowered, MOST_ISSUES);

    if (issues > 2)
        to->latency = (uint16_t) (to->latency + 2 * device->alu_latency + device->guard_latency);
    else if (issues > 1)
        to->latency = (uint16_t) (to->latency + device->alu_latency);
    to->issues = (uint8_t) issues;
}

/* Products of two words of 32 bits (IMAD.WIDE) and their upper halves (IMAD.HI) occupy their pipe
 * twice as long as lower halves, and hold up the other pipes of their scheduler as well. */
static void add_long_products(const OperationMaker *maker, const LoweredStep *lowered,
                              Operation *to)
{
    const Device *device = maker->device;
    const int count = least(per_copy(lowered, lowered->wide + lowered->high), to->issues);

    if (!count)
        return;
    to->busy = (uint16_t) (to->busy + count * to->cycles);
    to->holds = (uint8_t) (to->issues + count * (device->wide_hold_cycles - 1));
    if (count == to->issues)
        to->cycles = (uint8_t) (2 * to->cycles);
    to->latency =
        (uint16_t) (lowered->high ? device->high_product_latency : device->wide_product_latency);
}

/* Returns and calls through pointers, whose target is a value of the warp, take longer than other
 * branches. */
static void add_call(const OperationMaker *maker, const Step *step, Operation *to)
{
    const Device *device = maker->device;
    const bool returns = step->in && step->in->op == OP_ret && !maker->function->is_entry;
    const bool is_indirect = step->in && step->in->op == OP_call && step->jump.target < 0;
    int cycles;

    if (!returns && !is_indirect)
        return;
    cycles = returns ? device->return_cycles : device->indirect_cycles;
    to->latency =
        (uint16_t) (to->latency + (returns ? device->return_latency : device->indirect_latency));
    to->cycles = (uint8_t) (cycles > to->cycles ? cycles : to->cycles);
    to->busy = (uint16_t) (to->issues * to->cycles);
}

/* Adds the instructions that load the step's operands from constant memory (LDC, ULDC). */
static void add_constants(const LoweredStep *lowered, Operation *to)
{
    const int all = per_copy(lowered, lowered->constants + lowered->uniform_constants);

    to->constants = (uint8_t) least(per_copy(lowered, lowered->constants), MOST_ISSUES);
    if (to->issues)
        to->issues = (uint8_t) (to->issues + least(all, MOST_ISSUES));
}

static bool is_guard(const OperationMaker *maker, const Instruction *in)
{
    const Operand *to = in ? operand_of(maker, in, 0) : NULL;

    return to && to->kind == OPERAND_REGISTER && to->index >= 0 && maker->guards[to->index];
}

/* Beyond these numbers, loads are repeated in each round. */
static void add_hoisted(OperationMaker *maker, int copies, Operation *to)
{
    Operations *made = maker->made;

    if (copies > UINT8_MAX || made->hoisted + copies > UINT16_MAX)
        return;
    to->hoisted = (uint8_t) copies;
    to->hoisted_first = (uint16_t) made->hoisted;
    made->hoisted += copies;
}

/* A computation that the machine code lacks has no instruction, nor has a constant: it is an
 * operand of another instruction. Other accesses, barriers and branches stay as the PTX has them:
 * the trace records them. */
static bool make_operation(OperationMaker *maker, const Step *step, Operation *to)
{
    const Correction *correction = correction_of(maker, step);
    const LoweredStep lowered = lowered_step(maker, step);
    const bool is_product = correction && correction->row == &pipe_of_product && lowered.place >= 0;
    const bool is_sequence = correction && correction->sequence.on_pipe && !is_product;
    const bool is_long = correction && correction->issues > MOST_ISSUES;
    const PipeRow *known = is_sequence || is_long ? NULL : machine_row(step, &lowered);
    const PipeRow *row = known                           ? known
                         : correction && correction->row ? correction->row
                                                         : pipe_row(step);
    /* Divisions by the same number share instructions. */
    const bool is_counted = is_long && step->size <= 4 && lowered.place >= 0 && !lowered.has_branch;
    /* Exact fractions. */
    const bool is_branching = correction && correction->issues >= MOST_ISSUES && !is_counted &&
                              step->class_ != CLASS_INT && lowered.place >= 0;
    const int issues = lowered.in_registers
                           ? least(per_copy(&lowered, lowered.issues), 4 * MOST_ISSUES)
                       : known        ? issues_of(&lowered, MOST_ISSUES)
                       : is_counted   ? issues_of(&lowered, correction->issues)
                       : is_branching ? least(lowered.sequence.issues, 4 * MOST_ISSUES)
                       : correction   ? correction->issues
                                      : 1;

    *to = (Operation){ .action = (uint8_t) (issues ? row->action : NO_INSTRUCTION),
                       .pipe = (uint8_t) pipe_on(maker->device, row->pipe),
                       .issues = (uint8_t) issues,
                       .cycles = (uint8_t) cycles_of(maker, row),
                       .latency = (uint16_t) figure(maker->device, row->latency),
                       .wavefronts = 1,
                       .past_l1 = is_past_l1(step),
                       .votes =
                           step->class_ == CLASS_BARRIER && step->in && has_mod(step->in, MOD_red),
                       .keep = groups_kept(maker, step->in) };
    to->busy = (uint16_t) ((known ? issues_on_pipe(&lowered, issues) : issues) * to->cycles);
    if (is_sequence || is_long)
        set_sequence(maker, correction, &lowered, to);
    else if (step->class_ == CLASS_SFU && issues == 1)
        add_scaling(maker, &lowered, to);
    if (known && !is_sequence && to->pipe == pipe_on(maker->device, PIPE_IMAD))
        add_long_products(maker, &lowered, to);
    if (!lies_near(step) && lowered.place >= 0)
        add_constants(&lowered, to);
    if (to->action == DO_BRANCH && (lowered.place < 0 || lowered.issues))
        add_call(maker, step, to);
    const bool is_constant = to->action == DO_ACCESS && lies_near(step);
    if (lowered.is_absent && (to->action == DO_COMPUTE || to->action == DO_SEQUENCE ||
                              to->action == DO_SHUFFLE || is_constant))
        *to = (Operation){ .action = NO_INSTRUCTION, .wavefronts = 1 };
    if (to->action == DO_COMPUTE && is_guard(maker, step->in))
        to->latency = (uint16_t) (to->latency + maker->device->guard_latency);
    to->block = lowered.block;
    to->place = lowered.place;
    to->first_place = lowered.first_place;
    to->place_count = lowered.place < 0 ? 0 : lowered.issues;
    to->is_known = known || lowered.pipe == MACHINE_FP64;
    to->operand_words = step->class_ == CLASS_FP64 ? 2 : 1;
    to->machine_operands = lowered.operands;
    to->machine_operands_after = lowered.operands_after;
    to->is_single = lowered.copies == 1 && (is_sequence || to->place_count <= MOST_ISSUES);
    set_part(to, &lowered);
    maker->either[step - maker->code->steps] = to->issues && row == &either_pipe;
    to->issue_limit = step->class_ == CLASS_FP32 && row->pipe == PIPE_FMA ? AT_FP32 : AT_ISSUE;
    to->unit_limit = to->issue_limit == AT_FP32 ? AT_FP32 : AT_UNITS;
    if (to->action == DO_ACCESS && lies_near(step)) {
        to->action = DO_LOCAL;
        to->pipe = PIPE_UNIFORM;
        to->cycles = (uint8_t) least(
            constant_loads(step, &lowered) * maker->device->constant_cycles, UINT8_MAX);
    }
    to->memory = (uint8_t) memory_use(step, (Action) to->action);
    if (to->action == DO_ACCESS)
        add_hoisted(maker, lowered.hoisted, to);
    find_operands(maker, step, to);
    return add_registers(maker, to, step->in);
}

Operation load_from_stack(const OperationMaker *maker)
{
    const PipeRow *row = &pipe_of_class[CLASS_LOAD];

    return (Operation){ .action = DO_STACK,
                        .pipe = PIPE_LSU,
                        .memory = MEMORY_NEAR,
                        .issues = 1,
                        .cycles = (uint8_t) cycles_of(maker, row),
                        .busy = (uint16_t) cycles_of(maker, row),
                        .latency = (uint16_t) figure(maker->device, row->latency),
                        .wavefronts = 1,
                        .issue_limit = AT_ISSUE,
                        .unit_limit = AT_UNITS,
                        .part = 1,
                        .whole = 1,
                        .is_single = true };
}

/* Assigns each addition of a stretch to the pipe that is less busy so far; instructions without a
 * choice come first. */
static void share_additions(const OperationMaker *maker)
{
    Operation *operations = maker->made->operations;
    const Pipe product = pipe_on(maker->device, PIPE_IMAD);

    for (int from = 0, to; from < maker->code->step_count; from = to) {
        int busy[PIPES] = { 0 };
        for (to = from;
             to < maker->code->step_count && (to == from || operations[to - 1].straight > 1); to++)
            if (!maker->either[to])
                busy[operations[to].pipe] += operations[to].busy;
        for (int i = from; i < to; i++) {
            if (!maker->either[i])
                continue;
            operations[i].pipe = (uint8_t) (busy[product] < busy[PIPE_ALU] ? product : PIPE_ALU);
            busy[operations[i].pipe] += operations[i].cycles;
        }
    }
}

/* Logic of predicates that the machine code lacks is part of the comparisons. */
static void pass_guard(OperationMaker *maker, const Instruction *in)
{
    for (int k = 1; k < in->count; k++) {
        const Operand *from = operand_of(maker, in, k);
        if (from && from->kind == OPERAND_REGISTER && from->index >= 0)
            maker->guards[from->index] = true;
    }
}

static void find_guards(OperationMaker *maker)
{
    const Code *code = maker->code;

    for (int i = 0; i < maker->function->instruction_count; i++)
        if (maker->function->instructions[i].guard >= 0)
            maker->guards[maker->function->instructions[i].guard] = true;
    for (int i = code->step_count - 1; i >= 0 && maker->lowered.steps; i--) {
        const Step *step = &code->steps[i];
        if (step->in && is_predicate_logic(maker, step) && maker->lowered.steps[i].is_absent &&
            is_guard(maker, step->in))
            pass_guard(maker, step->in);
    }
}

static bool make_all(OperationMaker *maker)
{
    const Code *code = maker->code;

    find_writers(maker);
    find_guards(maker);
    find_addends(maker);
    find_read(maker);
    find_predicated(code, maker->none);
    find_replaced(maker);
    if (!find_varying(maker))
        return false;
    for (int i = 0; i < code->step_count; i++)
        if (!make_operation(maker, &code->steps[i], &maker->made->operations[i]))
            return false;
    maker->made->operations[code->step_count] =
        (Operation){ .action = NO_INSTRUCTION, .block = -1, .place = -1 };
    for (int i = 0; i <= code->step_count; i++) {
        maker->made->operations[i].spent = &maker->made->spent[i];
        maker->made->operations[i].spent_step = (uint32_t) code->step_count + 1;
    }
    if (!merge_loads(maker) || !add_stacks(maker))
        return false;
    wait_for_meetings(maker);
    wait_for_hidden(maker);
    wait_for_predicates(maker);
    issue_under_predicates(maker);
    find_stretches(maker);
    share_additions(maker);
    if (!issue_hidden(maker))
        return false;
    find_rounds(maker);
    maker->made->places = maker->lowered.places;
    maker->made->stalls = maker->lowered.stalls;
    maker->lowered.places = NULL;
    maker->lowered.stalls = NULL;
    return true;
}

bool operations_make(Operations *made, const Code *code, const Device *device, int first_register,
                     const Lowering *lowering)
{
    const Function *function = code->function;
    OperationMaker maker = { .made = made, .code = code, .function = function, .device = device };
    bool well;

    *made = (Operations){ .code = code,
                          .first_register = first_register,
                          .registers_used = function->register_count + 1 };
    made->operations = calloc((size_t) code->step_count + 1, sizeof *made->operations);
    made->spent =
        calloc(((size_t) code->step_count + 1) * (size_t) device->sms, sizeof *made->spent);
    maker.writer = calloc((size_t) function->register_count + 1, sizeof *maker.writer);
    maker.only_added = calloc((size_t) function->register_count + 1, sizeof *maker.only_added);
    maker.is_read = calloc((size_t) function->register_count + 1, sizeof *maker.is_read);
    maker.none = calloc((size_t) code->step_count + 1, sizeof *maker.none);
    maker.either = calloc((size_t) code->step_count + 1, sizeof *maker.either);
    maker.varies = calloc((size_t) function->register_count + 1, sizeof *maker.varies);
    maker.guards = calloc((size_t) function->register_count + 1, sizeof *maker.guards);
    well = made->operations && made->spent && maker.writer && maker.only_added && maker.is_read &&
           maker.none && maker.either && maker.varies && maker.guards &&
           lowered_make(&maker.lowered, lowering, code) && make_all(&maker);
    lowered_free(&maker.lowered);
    free(maker.writer);
    free(maker.only_added);
    free(maker.is_read);
    free(maker.none);
    free(maker.either);
    free(maker.varies);
    free(maker.guards);
    if (!well)
        operations_free(made);
    return well;
}

void operations_free(Operations *made)
{
    free(made->operations);
    free(made->stack);
    free(made->spent);
    free(made->registers);
    free(made->places);
    free(made->stalls);
    *made = (Operations){ .code = NULL };
}
