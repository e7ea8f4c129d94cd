/* frame.c - calls: the registers, parameters and local memory of a running function. */
#include "sim/exec/warp.h"
#include "sim/base/common.h"

#include <stdlib.h>
#include <string.h>

/* ---- Frames ---- */

/* A frame is one piece of memory, which is kept for the next call at this depth. */
bool frame_make(Frame *frame, const Code *code, uint8_t unwritten)
{
    size_t planes = (size_t) code->planes * PLANE;
    size_t masks = round_up(((size_t) code->predicates + 1) * sizeof(uint32_t), PLANE);
    size_t bytes = planes + masks + round_up((size_t) code->param_bytes * LANES, PLANE);

    if (bytes > frame->memory_bytes) {
        free(frame->memory);
        frame->memory_bytes = 0;
        frame->memory = aligned_alloc(PLANE, bytes);
        if (!frame->memory)
            return false;
        frame->memory_bytes = bytes;
    }
    memset(frame->memory, unwritten, bytes);
    frame->code = code;
    frame->registers = frame->memory;
    frame->predicates = (uint32_t *) (frame->registers + planes);
    frame->predicates[PREDICATE_FALSE] = 0;
    frame->predicates[PREDICATE_TRUE] = UINT32_MAX;
    frame->carry = frame->predicates + code->predicates;
    frame->params = frame->registers + planes + masks;
    return true;
}

static Count *counts_of(Launch *launch, const Code *code)
{
    if (code == launch->kernel)
        return launch->counts;
    Count **counts = &launch->call_counts[code->function - code->module->functions];
    if (!*counts)
        *counts = calloc((size_t) code->step_count + 1, sizeof **counts);
    return *counts;
}

void frame_use(Warp *warp)
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

/* ---- Calls ---- */

/* The callee's code, made at the first call. NULL if an error was reported. */
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

/* A call's operand is a variable of the caller, with the same size as the callee's. */
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

/* Lanes return at different times; the values are copied when all have returned. */
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

/* Room for one more frame; NULL if an error was reported. */
static Frame *new_frame(Warp *warp, const Step *step, int lane, const Code *code)
{
    int base = warp->local_base + warp->code->local_bytes;
    int next = warp->frame + 1, room = warp->block->launch->local_bytes;

    if (next >= MOST_FRAMES || code->local_bytes > room - base ||
        (size_t) next * (size_t) code->planes * PLANE > MOST_FRAME_BYTES) {
        fail(warp, step, lane, FINDING_LIMIT,
             "calls are nested %d deep here and the stack (%d bytes per thread) is full: the "
             "recursion is endless, or cudaLimitStackSize is too small",
             next, room);
        return NULL;
    }
    if (next == warp->frame_room) {
        Frame *frames = realloc(warp->frames, (size_t) warp->frame_room * 2 * sizeof *frames);
        if (!frames) {
            fail(warp, step, lane, FINDING_LIMIT, "not enough memory for another call");
            return NULL;
        }
        memset(frames + warp->frame_room, 0, (size_t) warp->frame_room * sizeof *frames);
        warp->frames = frames;
        warp->frame_room *= 2;
    }
    warp->frames[next].local_base = base;
    if (frame_make(&warp->frames[next], code, warp->block->launch->unwritten) &&
        counts_of(warp->block->launch, code))
        return &warp->frames[next];
    fail(warp, step, lane, FINDING_LIMIT, "not enough memory for another call");
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
    if (!warp_push(warp, step, (Entry){ .pc = 0, .rpc = -1, .mask = lanes }))
        return;
    warp->frame++;
    frame_use(warp);
    special_fill(warp, code, warp->registers);
    warp_take_top(warp);
}

bool frame_leave(Warp *warp)
{
    const Frame *callee = &warp->frames[warp->frame];

    if (!warp->frame)
        return false;
    warp->frame--;
    frame_use(warp);
    copy_returns(warp, callee);
    return true;
}
