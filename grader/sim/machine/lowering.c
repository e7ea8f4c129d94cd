/* lowering.c - divides a kernel's machine code into basic blocks, and checks that its lines are
 * those of the PTX that is simulated. */
#include "sim/machine/lowering.h"
#include "sim/binary/line_table.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- Whose lines? ---- */

/* A cubin may have been made from other PTX: for another __CUDA_ARCH__, or by the programmer. */
static bool same_line(const PtxLines *lines, const Instruction *in)
{
    size_t length, room = (size_t) in->text.length;
    const char *text = ptx_line_at(lines, in->ptx_line, &length);

    for (size_t at = 0; text && at + room <= length; at++)
        if (!memcmp(text + at, in->text.at, room))
            return true;
    return false;
}

static bool same_lines(const Elf *elf, const Function *function)
{
    PtxLines lines;
    bool same = ptx_lines_read(elf, &lines);

    for (int i = 0; same && i < function->instruction_count; i++)
        same = same_line(&lines, &function->instructions[i]);
    ptx_lines_free(&lines);
    return same;
}

/* ---- Basic blocks ---- */

static unsigned operation_of(const MachineInstruction *in)
{
    return in->opcode & MACHINE_OPERATION_BITS;
}

static bool is_guarded(const MachineInstruction *in)
{
    return in->guard != MACHINE_ALWAYS || in->guard_negated || in->is_conditional;
}

static bool is_call(unsigned operation)
{
    return operation == MACHINE_CALL || operation == MACHINE_CALL_ABSOLUTE;
}

static bool ends_lanes(unsigned operation)
{
    return operation == MACHINE_EXIT || operation == MACHINE_RET || operation == MACHINE_KILL;
}

static bool is_indirect(unsigned operation)
{
    return operation == MACHINE_BRX || operation == MACHINE_JMP || operation == MACHINE_JMX;
}

static bool ends_block(const MachineInstruction *in)
{
    const unsigned operation = operation_of(in);

    return (operation == MACHINE_BRA && !in->if_diverged) || is_call(operation) ||
           ends_lanes(operation) || is_indirect(operation);
}

/* starts[i]: a block starts at instruction i. */
static int mark_starts(const MachineCode *code, bool *starts)
{
    int count = 0;

    starts[0] = true;
    for (int i = 0; i < code->count; i++) {
        const MachineInstruction *in = &code->instructions[i];
        if (!ends_block(in))
            continue;
        if (i + 1 < code->count)
            starts[i + 1] = true;
        if (in->target >= 0)
            starts[in->target] = true;
    }
    for (int i = 0; i < code->count; i++)
        count += starts[i];
    return count;
}

static void lead_on(Lowering *lowering, int b, const int *block_at)
{
    MachineBlock *block = &lowering->blocks[b];
    const int last = block->first + block->count - 1;
    const MachineInstruction *in = &lowering->code.instructions[last];
    const unsigned operation = operation_of(in);
    const int next = b + 1 < lowering->block_count ? b + 1 : -1;
    const bool stays = is_guarded(in);

    block->next = block->taken = block->callee = -1;
    if (!ends_block(in)) {
        block->next = next;
    } else if (operation == MACHINE_BRA) {
        block->taken = in->target >= 0 ? block_at[in->target] : -1;
        block->anywhere = in->target < 0;
        block->next = stays ? next : -1;
    } else if (is_call(operation)) {
        block->next = next;
        block->callee = in->target >= 0 ? block_at[in->target] : -1;
        block->calls_any = in->target < 0;
    } else {
        block->leaves = ends_lanes(operation);
        block->anywhere = is_indirect(operation);
        block->next = stays ? next : -1;
    }
}

static void reach(Lowering *lowering, int *stack, int from, bool in_callee)
{
    int depth = 0;

    if (from < 0 || lowering->blocks[from].is_reached)
        return;
    lowering->blocks[from].is_reached = true;
    lowering->blocks[from].in_callee = in_callee;
    stack[depth++] = from;
    while (depth) {
        const MachineBlock *block = &lowering->blocks[stack[--depth]];
        const int ways[] = { block->next, block->taken };
        for (int i = 0; i < 2; i++)
            if (ways[i] >= 0 && !lowering->blocks[ways[i]].is_reached) {
                lowering->blocks[ways[i]].is_reached = true;
                lowering->blocks[ways[i]].in_callee = in_callee;
                stack[depth++] = ways[i];
            }
    }
}

static void mark(bool *set, int block)
{
    if (block >= 0)
        set[block] = true;
}

/* An indirect branch leads to the blocks to which nothing else leads, except for padding, as an
 * indirect call does. */
static bool reach_anywhere(Lowering *lowering, int *stack)
{
    bool *follows = calloc((size_t) lowering->block_count + 1, sizeof *follows);
    bool scatters = false, calls = false;

    for (int b = 0; follows && b < lowering->block_count; b++) {
        const MachineBlock *block = &lowering->blocks[b];
        mark(follows, block->next);
        mark(follows, block->taken);
        mark(follows, block->callee);
        scatters |= block->anywhere && block->is_reached;
        calls |= block->calls_any && block->is_reached;
    }
    for (int b = 1; follows && (scatters || calls) && b < lowering->block_count; b++)
        if (lowering->code.instructions[lowering->blocks[b].first].line && !follows[b])
            reach(lowering, stack, b, !scatters);
    free(follows);
    return follows != NULL;
}

static bool find_reached(Lowering *lowering)
{
    int *stack = calloc((size_t) lowering->block_count + 1, sizeof *stack);
    bool grows = true;

    if (!stack)
        return false;
    reach(lowering, stack, 0, false);
    grows = reach_anywhere(lowering, stack);
    while (grows) {
        grows = false;
        for (int b = 0; b < lowering->block_count; b++) {
            const int callee = lowering->blocks[b].is_reached ? lowering->blocks[b].callee : -1;
            if (callee >= 0 && !lowering->blocks[callee].is_reached) {
                reach(lowering, stack, callee, true);
                grows = true;
            }
        }
    }
    free(stack);
    return true;
}

static bool make_blocks(Lowering *lowering)
{
    const MachineCode *code = &lowering->code;
    bool *starts = calloc((size_t) code->count + 1, sizeof *starts);
    int *block_at = calloc((size_t) code->count + 1, sizeof *block_at);
    const int count = starts ? mark_starts(code, starts) : 0;
    int b = -1;

    lowering->blocks = calloc((size_t) count + 1, sizeof *lowering->blocks);
    if (starts && block_at && lowering->blocks) {
        lowering->block_count = count;
        for (int i = 0; i < code->count; i++) {
            if (starts[i])
                lowering->blocks[++b].first = i;
            lowering->blocks[b].count++;
            block_at[i] = b;
        }
        for (int i = 0; i < count; i++)
            lead_on(lowering, i, block_at);
    }
    free(starts);
    free(block_at);
    return lowering->block_count && find_reached(lowering);
}

Lowering *lowering_of_cubin(const void *cubin, size_t size, int arch, const Module *module,
                            const char *kernel)
{
    const int function = module_find(module, kernel);
    Lowering *lowering;
    Elf elf;

    if (function < 0 || !elf_open(&elf, cubin, size) ||
        !same_lines(&elf, &module->functions[function]))
        return NULL;
    lowering = calloc(1, sizeof *lowering);
    if (lowering && machine_code_read(&elf, arch, kernel, &lowering->code) && make_blocks(lowering))
        return lowering;
    lowering_free(lowering);
    return NULL;
}

Lowering *lowering_make(const Fatbin *fatbin, int arch, const Module *module, const char *kernel)
{
    Lowering *lowering = NULL;

    for (int i = 0; !lowering && i < fatbin->count; i++) {
        const FatbinEntry *entry = &fatbin->entries[i];
        if (entry->kind == FATBIN_ELF && entry->arch == arch)
            lowering = lowering_of_cubin(entry->bytes, entry->size, arch, module, kernel);
    }
    return lowering;
}

/* The only block that leads to this one, but for itself; -1: there are several, or none. */
static int only_before(const Lowering *lowering, int block)
{
    int only = -1;

    for (int b = 0; b < lowering->block_count; b++) {
        const MachineBlock *from = &lowering->blocks[b];
        if (!from->is_reached || b == block || (from->next != block && from->taken != block))
            continue;
        if (only >= 0)
            return -1;
        only = b;
    }
    return only;
}

bool lowering_is_behind(const Lowering *lowering, int block, int ptx, BranchEnds *ends,
                        const void *self)
{
    enum { MOST = 4 }; /* branches on the way */

    for (int i = 0; i < MOST; i++) {
        block = only_before(lowering, block);
        if (block < 0)
            return false;
        const MachineBlock *from = &lowering->blocks[block];
        const MachineInstruction *last =
            &lowering->code.instructions[from->first + from->count - 1];
        if (is_guarded(last) && ends(self, last->line) == ptx)
            return true;
    }
    return false;
}

void lowering_free(Lowering *lowering)
{
    if (!lowering)
        return;
    machine_code_free(&lowering->code);
    free(lowering->blocks);
    free(lowering);
}
