/* lowered.c - finds the machine instructions of each step of PTX.
 *
 * ptxas unrolls loops, so a basic block of PTX may have several copies in the machine code. Their
 * number is that of the instructions that correspond to one step one for one, and an execution of
 * the block performs one copy's share of the accesses to the stack.
 */
#include "sim/machine/lowered.h"
#include "sim/machine/flow_finder.h"
#include "sim/machine/lowered_finder.h"

#include <stdlib.h>

/* ---- Lines ---- */

static int line_of(const Step *step)
{
    return step->in && step->in->ptx_line > 0 ? step->in->ptx_line : 0;
}

static bool open_finder(Finder *finder, const Lowering *lowering, const Code *code)
{
    const size_t steps = (size_t) code->step_count + 2;

    *finder = (Finder){ .lowering = lowering, .code = code };
    for (int i = 0; i < code->step_count; i++)
        if (line_of(&code->steps[i]) >= finder->lines)
            finder->lines = line_of(&code->steps[i]) + 1;
    finder->starts = calloc(steps, sizeof *finder->starts);
    finder->uses = calloc(steps, sizeof *finder->uses);
    finder->sorted = calloc(steps + (size_t) lowering->block_count, sizeof *finder->sorted);
    finder->step_at = malloc(((size_t) finder->lines + 1) * sizeof *finder->step_at);
    finder->next = calloc((size_t) lowering->code.count + 1, sizeof *finder->next);
    finder->block_of = calloc((size_t) lowering->code.count + 1, sizeof *finder->block_of);
    finder->counterpart = calloc((size_t) lowering->code.count + 1, sizeof *finder->counterpart);
    finder->tally = calloc((size_t) lowering->block_count + 1, sizeof *finder->tally);
    finder->tally_all = calloc((size_t) lowering->block_count + 1, sizeof *finder->tally_all);
    return finder->starts && finder->uses && finder->sorted && finder->step_at && finder->next &&
           finder->block_of && finder->counterpart && finder->tally && finder->tally_all;
}

static void close_finder(Finder *finder)
{
    free(finder->starts);
    free(finder->uses);
    free(finder->sorted);
    free(finder->step_at);
    free(finder->next);
    free(finder->block_of);
    free(finder->counterpart);
    free(finder->tally);
    free(finder->tally_all);
}

/* The last line of another function before `line`. */
static int end_before(const Module *module, const Function *function, int line)
{
    int last = 0;

    for (int f = 0; f < module->function_count; f++) {
        const Function *other = &module->functions[f];
        for (int i = 0; other != function && i < other->instruction_count; i++)
            if (other->instructions[i].ptx_line < line && other->instructions[i].ptx_line > last)
                last = other->instructions[i].ptx_line;
    }
    return last;
}

/* What a function does on entry, such as saving registers, has a line before its first
 * instruction. */
static void find_entry(Finder *finder)
{
    const Code *code = finder->code;
    const int first = code->step_count ? line_of(&code->steps[0]) : 0;
    const int before = first ? end_before(code->module, code->function, first) : 0;

    for (int line = before + 1; line < first; line++)
        finder->step_at[line] = 0;
}

static void find_lines(Finder *finder)
{
    const Code *code = finder->code;

    code_blocks(code, finder->starts);
    for (int line = 0; line <= finder->lines; line++)
        finder->step_at[line] = -1;
    for (int i = code->step_count - 1; i >= 0; i--) {
        finder->step_at[line_of(&code->steps[i])] = i;
        finder->uses[i].first = finder->uses[i].last = -1;
    }
    finder->step_at[0] = -1; /* steps without a line */
    find_entry(finder);
}

/* ---- Uses ---- */

static void add_use(Finder *finder, int b, int i)
{
    const int line = instruction_at(finder, i)->line;
    const int at = line > 0 && line < finder->lines ? finder->step_at[line] : -1;
    StepUse *use = at < 0 ? NULL : &finder->uses[at];

    finder->has_stack |= instruction_at(finder, i)->stack_words > 0;
    finder->block_of[i] = b;
    finder->next[i] = -1;
    if (!use)
        return;
    use->all++;
    finder->counterpart[i] = find_counterpart(finder, at, i);
    use->counterparts += finder->counterpart[i];
    if (use->last >= 0)
        finder->next[use->last] = i;
    else
        use->first = i;
    use->last = i;
}

static void find_uses(Finder *finder)
{
    for (int b = 0; b < finder->lowering->block_count; b++) {
        const MachineBlock *block = &finder->lowering->blocks[b];
        for (int i = block->first; block->is_reached && i < block->first + block->count; i++)
            add_use(finder, b, i);
    }
}

/* ---- Basic blocks of the PTX ---- */

static void take_accesses(Finder *finder, int at, int copies, double *due, Lowered *lowered)
{
    static const double rounding = 1e-6;
    LoweredStep *step = &lowered->steps[at];

    step->first = lowered->access_count;
    for (int i = finder->uses[at].first; i >= 0; i = finder->next[i]) {
        const MachineInstruction *in = instruction_at(finder, i);
        if (!is_of_stack(finder, at, i))
            continue;
        *due += 1.0 / copies;
        if (*due < 1 - rounding)
            continue;
        *due -= 1;
        lowered->accesses[lowered->access_count++] =
            (StackAccess){ in->stack_word, in->stack_words, flow_operation(in) == MACHINE_STL, i,
                           finder->block_of[i] };
        if (in->stack_word + in->stack_words > lowered->stack_words)
            lowered->stack_words = in->stack_word + in->stack_words;
    }
    step->count = lowered->access_count - step->first;
}

/* The last block of the loop that contains the block but not block `before`, which precedes it; -1:
 * none. */
static int end_of_loop(const Finder *finder, int before, int block)
{
    const MachineBlock *blocks = finder->lowering->blocks;
    int end = -1;

    for (int b = block; b < finder->lowering->block_count; b++)
        if (blocks[b].taken > before && blocks[b].taken <= block)
            end = b;
    return end;
}

/* The copies of the load, if ptxas has moved them in front of the loop to which `block` belongs; 0:
 * the loop has a copy, too. Copies behind the loop serve its last rounds. */
static int hoisted_copies(const Finder *finder, int at, int block)
{
    const Step *step = &finder->code->steps[at];
    const bool may_move =
        step->class_ == CLASS_LOAD && (step->space == SPACE_GLOBAL || step->space == SPACE_GENERIC);
    int copies = 0, end = block;

    for (int i = finder->uses[at].first; may_move && i >= 0; i = finder->next[i]) {
        const int b = finder->block_of[i];
        if (!finder->counterpart[i])
            continue;
        const int loop_end = end_of_loop(finder, b, block);
        copies += loop_end >= 0;
        end = loop_end > end ? loop_end : end;
        if (loop_end < 0 && b <= end)
            return 0;
    }
    return copies;
}

/* Whether the block has all counterparts of these steps: then what it lacks is done elsewhere, for
 * example before a loop. A division or an atomic may divide a block of the PTX into several. */
static bool is_complete(const Finder *finder, int first, int last, int block)
{
    for (int at = first; at < last; at++)
        if (finder->uses[at].counterparts && !uses_in(finder, at, block).counterparts &&
            !hoisted_copies(finder, at, block))
            return false;
    return true;
}

/* Whether block `to` follows `from` without a branch back between them. */
static bool is_ahead(const Finder *finder, int from, int to)
{
    const MachineBlock *blocks = finder->lowering->blocks;

    for (int b = from; b < to; b++)
        if (blocks[b].taken >= 0 && blocks[b].taken <= b)
            return false;
    return from <= to;
}

/* Whether the machine code has the step after its block: where loads of several blocks were moved
 * up together, the first one has most counterparts of all these blocks. */
static bool is_later(const Finder *finder, int at, int block)
{
    for (int i = finder->uses[at].first; i >= 0; i = finder->next[i])
        if (!is_of_stack(finder, at, i) && is_ahead(finder, block, finder->block_of[i]))
            return true;
    return false;
}

/* Steps of one line, of inline assembly for example, cannot be told apart. */
static bool is_absent(const Finder *finder, int at, int block)
{
    const int line = line_of(&finder->code->steps[at]);

    return line && !uses_in(finder, finder->step_at[line], block).all &&
           (block == ANYWHERE || !is_later(finder, finder->step_at[line], block));
}

static bool has_branch(const Finder *finder, int at)
{
    for (int i = finder->uses[at].first; i >= 0; i = finder->next[i]) {
        const unsigned operation = flow_operation(instruction_at(finder, i));
        if (operation == MACHINE_BRA || operation == MACHINE_CALL)
            return true;
    }
    return false;
}

static MachinePipe pipe_at(const Finder *finder, int i)
{
    return machine_pipe(finder->lowering->code.arch, instruction_at(finder, i)->opcode);
}

/* The last computation before it in its block: its operands may be reused, since memory accesses,
 * branches and uniform instructions in between leave them in place. NULL: there is none. */
static const MachineInstruction *reader_before(const Finder *finder, int block, int i)
{
    while (--i >= finder->lowering->blocks[block].first) {
        const MachinePipe pipe = pipe_at(finder, i);
        if (pipe != MACHINE_LSU && pipe != MACHINE_UNIFORM && pipe != MACHINE_CONTROL)
            return instruction_at(finder, i);
    }
    return NULL;
}

static void read_registers(const Finder *finder, LoweredStep *step)
{
    const MachineInstruction *in = instruction_at(finder, step->place);

    step->pipe = pipe_at(finder, step->place);
    step->operands = (uint8_t) machine_operands(in, NULL);
    step->operands_after =
        (uint8_t) machine_operands(in, reader_before(finder, step->block, step->place));
}

/* The step's instructions in the block, of this pipe. */
static int instructions_on(const Finder *finder, int at, int block, MachinePipe pipe)
{
    int count = 0;

    for (int i = finder->uses[at].first; i >= 0; i = finder->next[i])
        count +=
            lies_in(finder, i, block) && !is_aside(finder, at, i) && pipe_at(finder, i) == pipe;
    return count;
}

/* The instructions in the block that perform the operation, for any of the step's copies. */
static int operations_in(const Finder *finder, int at, int block, unsigned operation)
{
    int count = 0;

    for (int i = finder->uses[at].first; i >= 0; i = finder->next[i])
        count +=
            lies_in(finder, i, block) && flow_operation(instruction_at(finder, i)) == operation;
    return count;
}

static void take_places(const Finder *finder, int at, int block, Lowered *lowered)
{
    for (int i = finder->uses[at].first; i >= 0; i = finder->next[i])
        if (lies_in(finder, i, block) && !is_aside(finder, at, i))
            lowered->places[lowered->place_count++] = i;
}

/* The line table may give a store another line, so only code without any access to the stack is
 * sure to keep its arrays in registers. */
static bool is_in_registers(const Finder *finder, int at)
{
    const Step *step = &finder->code->steps[at];

    return step->space == SPACE_LOCAL &&
           (step->class_ == CLASS_LOAD || step->class_ == CLASS_STORE) && !finder->has_stack;
}

static LoweredStep lower_step(const Finder *finder, int at, int block, bool complete, int copies)
{
    const StepUse use = uses_in(finder, at, block);
    LoweredStep step = { .has_branch = has_branch(finder, at),
                         .is_absent = is_absent(finder, at, complete ? block : ANYWHERE),
                         .in_registers = is_in_registers(finder, at),
                         .hoisted = hoisted_copies(finder, at, block),
                         .block = block,
                         .place = use.first,
                         .issues = use.all,
                         .wide = operations_in(finder, at, block, MACHINE_IMAD_WIDE),
                         .high = operations_in(finder, at, block, MACHINE_IMAD_HIGH),
                         .constants = operations_in(finder, at, block, MACHINE_LDC),
                         .uniform_constants = operations_in(finder, at, block, MACHINE_ULDC),
                         .copies = copies };

    if (step.place >= 0) {
        read_registers(finder, &step);
        step.on_pipe = instructions_on(finder, at, block, step.pipe);
    }
    return step;
}

static void take_block(Finder *finder, int first, int last, Lowered *lowered)
{
    const int counterparts = counterparts_in(finder, first, last, ANYWHERE);
    const int block = main_block(finder, first, last, true);
    const int copies_there = copies_in(finder, first, last, block);
    const bool complete = is_complete(finder, first, last, block);
    double due = 0;

    for (int i = first; i < last; i++) {
        /* Of a block without any instruction ptxas has computed everything. */
        lowered->steps[i] = (LoweredStep){ .block = -1,
                                           .place = -1,
                                           .is_absent = is_absent(finder, i, ANYWHERE),
                                           .in_registers = is_in_registers(finder, i) };
        if (!copies_there)
            continue;
        lowered->steps[i] = lower_step(finder, i, block, complete, copies_there);
        lowered->steps[i].first_place = lowered->place_count;
        take_places(finder, i, block, lowered);
        lowered->steps[i].sequence =
            sequence_of(finder, i, lowered->places + lowered->steps[i].first_place,
                        lowered->place_count - lowered->steps[i].first_place, copies_there);
        take_accesses(finder, i, counterparts ? counterparts : 1, &due, lowered);
    }
}

/* The step after the basic block of the PTX that begins at `first`, or after a step that the
 * machine code does with branches, such as a division. */
static int end_of_block(const Finder *finder, int first)
{
    int last = first + 1;

    while (last < finder->code->step_count && !finder->starts[last] &&
           !has_branch(finder, last - 1))
        last++;
    return last;
}

static void unlink_use(Finder *finder, int at, int i)
{
    StepUse *use = &finder->uses[at];
    int before = -1;

    for (int k = use->first; k != i; k = finder->next[k])
        before = k;
    *(before < 0 ? &use->first : &finder->next[before]) = finder->next[i];
    use->last = use->last == i ? before : use->last;
}

static void link_first(Finder *finder, int at, int i)
{
    StepUse *use = &finder->uses[at];

    finder->next[i] = use->first;
    use->first = i;
    use->last = use->last < 0 ? i : use->last;
}

/* Moves the block's accesses to the stack that are in the main block of another one. */
static void move_accesses(Finder *finder, int first, int last, const int *first_step)
{
    const int own = main_block(finder, first, last, false);

    for (int at = first; at < last; at++)
        for (int i = finder->uses[at].first, next; i >= 0; i = next) {
            const int owner = first_step[finder->block_of[i]];
            next = finder->next[i];
            if (finder->block_of[i] == own || owner < 0 || !is_of_stack(finder, at, i))
                continue;
            unlink_use(finder, at, i);
            link_first(finder, owner, i);
        }
}

/* ptxas gives restored registers the line of the instruction before them, which may be in a branch
 * that not all lanes take: a recursive function restored 2 of 5 registers in half of its calls. */
static bool place_accesses(Finder *finder)
{
    const int count = finder->code->step_count, blocks = finder->lowering->block_count;
    int *first_step = malloc(((size_t) blocks + 1) * sizeof *first_step);

    if (!first_step)
        return false;
    for (int b = 0; b < blocks; b++)
        first_step[b] = -1;
    for (int first = 0; first < count; first = end_of_block(finder, first)) {
        const int b = main_block(finder, first, end_of_block(finder, first), false);
        if (b >= 0 && first_step[b] < 0)
            first_step[b] = first;
    }
    for (int first = 0; first < count; first = end_of_block(finder, first))
        move_accesses(finder, first, end_of_block(finder, first), first_step);
    free(first_step);
    return true;
}

static void take_blocks(Finder *finder, Lowered *lowered)
{
    const int count = finder->code->step_count;

    for (int first = 0; first < count; first = end_of_block(finder, first))
        take_block(finder, first, end_of_block(finder, first), lowered);
}

bool lowered_make(Lowered *lowered, const Lowering *lowering, const Code *code)
{
    Finder finder;
    bool well;

    *lowered = (Lowered){ 0 };
    if (!lowering)
        return true;
    well = open_finder(&finder, lowering, code);
    if (well) {
        find_lines(&finder);
        find_uses(&finder);
        lowered->steps = calloc((size_t) code->step_count + 1, sizeof *lowered->steps);
        lowered->accesses = calloc((size_t) lowering->code.count + 1, sizeof *lowered->accesses);
        lowered->places = calloc((size_t) lowering->code.count + 1, sizeof *lowered->places);
        lowered->meetings = calloc((size_t) lowering->block_count + 1, sizeof *lowered->meetings);
        lowered->waits = calloc((size_t) lowering->code.count + 1, sizeof *lowered->waits);
        lowered->stalls = calloc((size_t) lowering->code.count + 1, sizeof *lowered->stalls);
        lowered->instructions =
            calloc((size_t) lowering->block_count + 1, sizeof *lowered->instructions);
        well = lowered->steps && lowered->accesses && lowered->places && lowered->meetings &&
               lowered->waits && lowered->stalls && lowered->instructions &&
               place_accesses(&finder);
    }
    if (well) {
        take_blocks(&finder, lowered);
        take_meetings(&finder, lowered);
        take_waits(&finder, lowered);
        take_stalls(&finder, lowered);
        take_instructions(&finder, lowered);
    }
    close_finder(&finder);
    if (!well)
        lowered_free(lowered);
    return well;
}

void lowered_free(Lowered *lowered)
{
    free(lowered->steps);
    free(lowered->accesses);
    free(lowered->places);
    free(lowered->meetings);
    free(lowered->waits);
    free(lowered->stalls);
    free(lowered->instructions);
    *lowered = (Lowered){ 0 };
}
