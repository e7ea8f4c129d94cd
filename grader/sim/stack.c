/* stack.c - the parts into which a warp splits, and the frames of its calls. */
#include "warp.h"

#include <stdlib.h>
#include <string.h>

/* ---- Frames ---- */

static size_t round_up(size_t bytes)
{
    return (bytes + PLANE - 1) / PLANE * PLANE;
}

/* All of a frame lies in one piece of memory, which is kept for the next call at this depth. */
static bool frame_room(Frame *frame, const Code *code)
{
    size_t planes = (size_t) code->planes * PLANE;
    size_t masks = round_up(((size_t) code->predicates + 1) * sizeof(uint32_t));
    size_t bytes = planes + masks + round_up((size_t) code->param_bytes * LANES);

    if (bytes > frame->memory_bytes) {
        free(frame->memory);
        frame->memory_bytes = 0;
        frame->memory = aligned_alloc(PLANE, bytes);
        if (!frame->memory)
            return false;
        frame->memory_bytes = bytes;
    }
    memset(frame->memory, 0, bytes);
    frame->code = code;
    frame->registers = frame->memory;
    frame->predicates = (uint32_t *) (frame->registers + planes);
    frame->predicates[PREDICATE_TRUE] = UINT32_MAX;
    frame->carry = frame->predicates + code->predicates;
    frame->params = frame->registers + planes + masks;
    return true;
}

static Count *counts_of(Launch *launch, const Code *code)
{
    int function = (int) (code->function - code->module->functions);

    if (code == launch->kernel)
        return launch->counts;
    if (!launch->call_counts[function])
        launch->call_counts[function] = calloc((size_t) code->step_count + 1, sizeof(Count));
    return launch->call_counts[function];
}

static void use_frame(Warp *warp)
{
    const Frame *frame = &warp->frames[warp->frame];

    warp->code = frame->code;
    warp->registers = frame->registers;
    warp->predicates = frame->predicates;
    warp->carry = frame->carry;
    warp->params = frame->params;
    warp->local_base = frame->local_base;
    warp->counts = counts_of(warp->block->launch, frame->code);
}

/* ---- A warp's memory ---- */

bool warp_open(Warp *warp, Block *block, int number)
{
    const Launch *launch = block->launch;

    warp->block = block;
    warp->number = number;
    warp->stack_room = 16;
    warp->stack = malloc((size_t) warp->stack_room * sizeof *warp->stack);
    warp->frame_room = 1;
    warp->frames = calloc(1, sizeof *warp->frames);
    warp->local = calloc(LANES, (size_t) launch->local_bytes + 1);
    if (!warp->stack || !warp->frames || !warp->local || !frame_room(warp->frames, launch->kernel))
        return false;
    use_frame(warp);
    special_fill(warp, warp->code, warp->registers, true);
    return true;
}

void warp_close(Warp *warp)
{
    for (int i = 0; warp->frames && i < warp->frame_room; i++)
        free(warp->frames[i].memory);
    free(warp->stack);
    free(warp->frames);
    free(warp->local);
}

/* The special registers stay from block to block, but for those that name the block. */
static void clear_registers(Warp *warp)
{
    const Code *code = warp->code;
    size_t kept = (size_t) code->specials * PLANE;

    memset(warp->registers + kept, 0, (size_t) code->planes * PLANE - kept);
    memset(warp->predicates + FIRST_PREDICATE, 0,
           (size_t) (code->predicates + 1 - FIRST_PREDICATE) * sizeof(uint32_t));
    memset(warp->params, 0, (size_t) code->param_bytes * LANES);
    special_fill(warp, code, warp->registers, false);
}

static void take_top(Warp *warp)
{
    const Entry *top = &warp->stack[warp->depth - 1];

    warp->pc = top->pc;
    warp->rpc = top->rpc;
    warp->active = top->mask;
}

void warp_begin(Warp *warp, uint32_t lanes)
{
    warp->frame = 0;
    warp->frames[0].depth = 0;
    use_frame(warp);
    clear_registers(warp);
    warp->stack[0] = (Entry){ .pc = 0, .rpc = -1, .mask = lanes };
    warp->depth = 1;
    warp->alive = lanes;
    warp->parked = 0;
    warp->barrier_step = NULL;
    warp->spins = 0;
    warp->state = lanes ? WARP_READY : WARP_DONE;
    take_top(warp);
}

/* ---- Parts ---- */

static bool push(Warp *warp, const Step *step, Entry entry)
{
    if (warp->depth == warp->stack_room) {
        int room = 2 * warp->stack_room;
        Entry *stack =
            room > MOST_ENTRIES ? NULL : realloc(warp->stack, (size_t) room * sizeof *warp->stack);
        if (!stack) {
            fail(warp, step, __builtin_ctz(entry.mask), FINDING_LIMIT,
                 "the warp is split into more parts than the simulated GPU can hold");
            return false;
        }
        warp->stack = stack;
        warp->stack_room = room;
    }
    warp->stack[warp->depth++] = entry;
    return true;
}

void warp_split(Warp *warp, const Step *step, int rpc, uint32_t first, int first_pc, uint32_t then,
                int then_pc)
{
    Entry *top = &warp->stack[warp->depth - 1];

    /* The one below waits at the same place already: loops do not grow the stack. */
    if (rpc == top->rpc)
        warp->depth--;
    else
        top->pc = rpc;
    if (then && then_pc != rpc && !push(warp, step, (Entry){ then_pc, rpc, then }))
        return;
    if (first && first_pc != rpc && !push(warp, step, (Entry){ first_pc, rpc, first }))
        return;
    take_top(warp);
}

static void copy_returns(Warp *warp, const Frame *callee);

/* Back into the caller; false: that was the kernel. */
static bool leave_frame(Warp *warp)
{
    const Frame *callee = &warp->frames[warp->frame];

    if (!warp->frame)
        return false;
    warp->frame--;
    use_frame(warp);
    copy_returns(warp, callee);
    return true;
}

static void end_warp(Warp *warp)
{
    warp->alive = warp->active = 0;
    if (warp->state == WARP_DONE) /* by a fatal finding */
        return;
    warp->state = WARP_DONE;
    async_end(warp);
    barrier_warp_done(warp);
}

void warp_settle(Warp *warp)
{
    do {
        int base = warp->frames[warp->frame].depth;
        while (warp->depth > base) {
            const Entry *top = &warp->stack[warp->depth - 1];
            if (top->mask && (top->pc != top->rpc || top->mask & warp->parked))
                break;
            warp->depth--;
        }
        if (warp->depth > base) {
            take_top(warp);
            if (warp->active & warp->parked)
                barrier_resolve(warp);
            return;
        }
    } while (leave_frame(warp));
    end_warp(warp);
}

void warp_arrive(Warp *warp)
{
    warp->stack[warp->depth - 1].pc = warp->pc;
    warp_settle(warp);
}

void warp_unpark(Warp *warp)
{
    warp->parked = 0;
    warp->barrier_step = NULL;
    warp_arrive(warp);
}

static void remove_lanes(Warp *warp, uint32_t lanes, int from)
{
    warp->stack[warp->depth - 1].pc = warp->pc;
    for (int i = from; i < warp->depth; i++)
        warp->stack[i].mask &= ~lanes;
    warp_settle(warp);
}

void warp_exit(Warp *warp, uint32_t lanes)
{
    warp->alive &= ~lanes;
    remove_lanes(warp, lanes, 0);
}

void warp_return(Warp *warp, uint32_t lanes)
{
    if (warp->frame == 0)
        warp_exit(warp, lanes);
    else
        remove_lanes(warp, lanes, warp->frames[warp->frame].depth);
}

bool warp_rotate(Warp *warp)
{
    int top = warp->depth - 1;
    uint32_t above = warp->active;

    warp->stack[top].pc = warp->pc;
    for (int i = top - 1; i >= warp->frames[warp->frame].depth; i--) {
        Entry entry = warp->stack[i];
        if (entry.mask && !(entry.mask & (above | warp->parked))) {
            memmove(&warp->stack[i], &warp->stack[i + 1], (size_t) (top - i) * sizeof entry);
            warp->stack[top] = entry;
            take_top(warp);
            return true;
        }
        above |= entry.mask;
    }
    return false;
}

/* ---- Where lanes are ---- */

/* The frame in which the entry is. */
static int frame_of(const Warp *warp, int entry)
{
    int frame = warp->frame;

    while (frame > 0 && entry < warp->frames[frame].depth)
        frame--;
    return frame;
}

static int entry_of(const Warp *warp, int lane)
{
    for (int i = warp->depth - 1; i >= 0; i--)
        if (warp->stack[i].mask >> lane & 1)
            return i;
    return -1;
}

const Step *warp_step_of(const Warp *warp, int lane)
{
    int entry = entry_of(warp, lane);

    if (entry < 0)
        return NULL;
    const Code *code = warp->frames[frame_of(warp, entry)].code;
    int pc = entry == warp->depth - 1 ? warp->pc : warp->stack[entry].pc;
    return pc < code->step_count ? &code->steps[pc] : NULL;
}

/* From here on: jumps, then the end? */
static bool ends_from(const Code *code, int pc)
{
    for (int hops = 0; hops < 64 && pc < code->step_count; hops++) {
        const Step *step = &code->steps[pc];
        if (step->guard >= 0)
            return false;
        if (step->in->op == OP_ret || step->in->op == OP_exit)
            return true;
        if (step->in->op != OP_bra)
            return false;
        pc = step->target;
    }
    return pc >= code->step_count;
}

bool warp_only_ends(const Warp *warp, uint32_t lanes)
{
    for (; lanes; lanes &= lanes - 1) {
        int entry = entry_of(warp, __builtin_ctz(lanes));
        if (entry < 0 || frame_of(warp, entry) > 0 ||
            !ends_from(warp->frames[0].code, warp->stack[entry].pc))
            return false;
    }
    return true;
}

/* Four sums at a time, so that none waits for the one before. `bytes` is a multiple of 4. */
static uint64_t mix(uint64_t hash, const void *from, size_t bytes)
{
    const unsigned char *at = from;
    uint64_t sums[4] = { hash, 1, 2, 3 };
    uint32_t word;

    for (; bytes >= 32; bytes -= 32, at += 32)
        for (int i = 0; i < 4; i++) {
            uint64_t words;
            memcpy(&words, at + 8 * i, sizeof words);
            sums[i] = (sums[i] ^ words) * 0x9e3779b97f4a7c15ull;
            sums[i] ^= sums[i] >> 32;
        }
    for (; bytes >= 4; bytes -= 4, at += 4) {
        memcpy(&word, at, sizeof word);
        sums[0] = (sums[0] ^ word) * 0x9e3779b97f4a7c15ull;
        sums[0] ^= sums[0] >> 32;
    }
    for (int i = 1; i < 4; i++)
        sums[0] = (sums[0] ^ sums[i]) * 0x9e3779b97f4a7c15ull + (sums[0] >> 31);
    return sums[0];
}

uint64_t warp_fingerprint(const Warp *warp)
{
    uint64_t hash = mix((uint64_t) warp->pc, &warp->active, sizeof warp->active);

    hash = mix(hash, warp->stack, (size_t) (warp->depth - 1) * sizeof *warp->stack);
    for (int i = 0; i <= warp->frame; i++) {
        const Frame *frame = &warp->frames[i];
        hash = mix(hash, frame->registers, (size_t) frame->code->planes * PLANE);
        hash = mix(hash, frame->predicates, (size_t) frame->code->predicates * sizeof(uint32_t));
    }
    return hash;
}

/* ---- Calls ---- */

/* The callee's code: made when it is first called. NULL: told. */
static const Code *callee_code(Warp *warp, const Step *step, int lane, int function)
{
    Launch *launch = warp->block->launch;
    const Code *kernel = launch->kernel;
    Code **code = &launch->codes[function];
    char why[200];

    if (*code && (*code)->layout != kernel) {
        code_free(*code);
        *code = NULL;
    }
    if (!*code)
        *code = code_make_for(kernel, launch->module, function, kernel->variable_address, why,
                              sizeof why);
    if (!*code)
        fail(warp, step, lane, FINDING_UNKNOWN_CALL, "cannot be called: %s", why);
    return *code;
}

static void copy_lanes(uint8_t *to, int to_stride, const uint8_t *from, int from_stride,
                       size_t bytes, uint32_t lanes)
{
    for (; lanes; lanes &= lanes - 1) {
        size_t lane = (size_t) __builtin_ctz(lanes);
        memcpy(to + lane * (size_t) to_stride, from + lane * (size_t) from_stride, bytes);
    }
}

/* A call's operand is a variable of the caller, as large as the callee's. */
static bool fits(const Warp *warp, const Operand *operand, int variable)
{
    const Module *module = warp->code->module;
    const Variable *v =
        operand->kind == OPERAND_VARIABLE ? &module->variables[operand->index] : NULL;
    int caller = (int) (warp->code->function - module->functions);

    if (!v || v->space != SPACE_PARAM || v->function != caller ||
        v->size != module->variables[variable].size)
        return false;
    return (size_t) warp->code->variable_offset[operand->index] + v->size <=
           (size_t) warp->code->param_bytes;
}

static bool call_fits(const Warp *warp, const Step *step, const Function *callee)
{
    const Instruction *in = step->in;
    const Operand *operands = warp->code->function->operands + in->first;
    int arguments = in->call_returns + 1;

    if (in->call_returns != callee->return_count || in->count - arguments < callee->param_count)
        return false;
    for (int i = 0; i < callee->return_count; i++)
        if (!fits(warp, &operands[i], callee->returns[i]))
            return false;
    for (int i = 0; i < callee->param_count; i++)
        if (!fits(warp, &operands[arguments + i], callee->params[i]))
            return false;
    return true;
}

static void copy_arguments(Warp *warp, const Step *step, const Frame *callee)
{
    const Operand *operands =
        warp->code->function->operands + step->in->first + step->in->call_returns + 1;
    const Function *function = callee->code->function;

    for (int i = 0; i < function->param_count; i++) {
        int variable = function->params[i];
        copy_lanes(
            callee->params + callee->code->variable_offset[variable], callee->code->param_bytes,
            warp->params + warp->code->variable_offset[operands[i].index], warp->code->param_bytes,
            warp->code->module->variables[variable].size, callee->mask);
    }
}

/* Lanes come back at different times; the values are taken when all have. */
static void copy_returns(Warp *warp, const Frame *callee)
{
    const Operand *operands = warp->code->function->operands + callee->call->in->first;
    const Function *function = callee->code->function;

    for (int i = 0; i < function->return_count; i++) {
        int variable = function->returns[i];
        copy_lanes(
            warp->params + warp->code->variable_offset[operands[i].index], warp->code->param_bytes,
            callee->params + callee->code->variable_offset[variable], callee->code->param_bytes,
            warp->code->module->variables[variable].size, callee->mask & warp->alive);
    }
}

/* Room for one more frame; NULL: told. */
static Frame *new_frame(Warp *warp, const Step *step, int lane, const Code *code)
{
    int base = warp->local_base + warp->code->local_bytes;
    int next = warp->frame + 1, room = warp->block->launch->local_bytes;

    if (next >= MOST_FRAMES || code->local_bytes > room - base) {
        fail(warp, step, lane, FINDING_LIMIT,
             "calls are %d deep here and the stack (%d bytes a thread) is full: recursion without "
             "end, or a larger cudaLimitStackSize is needed",
             next, room);
        return NULL;
    }
    if (next == warp->frame_room) {
        Frame *frames = realloc(warp->frames, (size_t) warp->frame_room * 2 * sizeof *frames);
        if (!frames) {
            fail(warp, step, lane, FINDING_LIMIT, "no memory for one more call");
            return NULL;
        }
        memset(frames + warp->frame_room, 0, (size_t) warp->frame_room * sizeof *frames);
        warp->frames = frames;
        warp->frame_room *= 2;
    }
    warp->frames[next].local_base = base;
    if (frame_room(&warp->frames[next], code) && counts_of(warp->block->launch, code))
        return &warp->frames[next];
    fail(warp, step, lane, FINDING_LIMIT, "no memory for one more call");
    return NULL;
}

void warp_call(Warp *warp, const Step *step, uint32_t lanes, int function)
{
    const Function *callee = &warp->code->module->functions[function];
    int lane = __builtin_ctz(lanes);

    if (callee->is_entry || !call_fits(warp, step, callee)) {
        fail(warp, step, lane, FINDING_UNKNOWN_CALL, "%.*s cannot be called with these arguments",
             callee->name.length < 200 ? callee->name.length : 200, callee->name.at);
        return;
    }
    const Code *code = callee_code(warp, step, lane, function);
    Frame *frame = code ? new_frame(warp, step, lane, code) : NULL;
    if (!frame)
        return;
    frame->call = step;
    frame->mask = lanes;
    frame->depth = warp->depth;
    copy_arguments(warp, step, frame);
    warp->stack[warp->depth - 1].pc = warp->pc;
    if (!push(warp, step, (Entry){ .pc = 0, .rpc = -1, .mask = lanes }))
        return;
    warp->frame++;
    use_frame(warp);
    special_fill(warp, code, warp->registers, true);
    take_top(warp);
}
