/* stack.c - the parts into which a warp diverges, their reconvergence, and their ends. */
#include "sim/exec/warp.h"
#include "sim/exec/loops.h"
#include "sim/exec/moved.h"

#include <stdlib.h>
#include <string.h>

/* ---- A warp's memory ---- */

bool warp_open(Warp *warp, Block *block, int number)
{
    const Launch *launch = block->launch;
    const int lanes = block->thread_count - number * LANES;

    warp->block = block;
    warp->number = number;
    warp->stack_room = 16;
    warp->stack = malloc((size_t) warp->stack_room * sizeof *warp->stack);
    warp->frame_room = 1;
    warp->frames = calloc(1, sizeof *warp->frames);
    warp->local = malloc(LANES * ((size_t) launch->local_bytes + 1));
    warp->visits = calloc((size_t) launch->kernel->loop_count + 1, sizeof *warp->visits);
    if (!warp->stack || !warp->frames || !warp->local || !warp->visits ||
        !frame_make(warp->frames, launch->kernel, launch->unwritten))
        return false;
    memset(warp->local, launch->unwritten, LANES * ((size_t) launch->local_bytes + 1));
    frame_use(warp);
    special_fill(warp, warp->code, warp->registers);
    fixed_fill(warp, lanes >= LANES ? UINT32_MAX : (1u << lanes) - 1);
    return moved_fill(warp, lanes >= LANES ? UINT32_MAX : (1u << lanes) - 1);
}

void warp_close(Warp *warp)
{
    if (warp->visits)
        loops_end(warp);
    for (int i = 0; warp->frames && i < warp->frame_room; i++)
        free(warp->frames[i].memory);
    free(warp->stack);
    free(warp->frames);
    free(warp->local);
    free(warp->visits);
    free(warp->extents);
    free(warp->suspects);
}

/* Special and fixed registers keep their values for the next block, except those that identify the
 * block. */
static void clear_registers(Warp *warp)
{
    const Code *code = warp->code;
    const uint8_t unwritten = warp->block->launch->unwritten;
    const int predicates = code->lasting_predicates;
    size_t kept = (size_t) code->lasting * PLANE;

    if (code->temporaries > code->lasting)
        memset(warp->registers + kept, unwritten, (size_t) code->temporaries * PLANE - kept);
    memset(warp->predicates + predicates, unwritten,
           (size_t) (code->predicates + 1 - predicates) * sizeof(uint32_t));
    if (code->param_bytes)
        memset(warp->params, unwritten, (size_t) code->param_bytes * LANES);
    special_fill_block(warp);
}

void warp_take_top(Warp *warp)
{
    const Entry *top = &warp->stack[warp->depth - 1];

    warp->pc = top->pc;
    warp->rpc = top->rpc;
    warp->active = top->mask;
}

void warp_begin(Warp *warp, uint32_t lanes)
{
    if (warp->frame) {
        warp->frame = 0;
        frame_use(warp);
    }
    warp->frames[0].depth = 0;
    clear_registers(warp);
    for (int i = 0; i < warp->code->loop_count; i++)
        warp->visits[i] = (LoopVisit){ 0 };
    warp->observed = warp->block->launch->watched;
    warp->groups[0] = (struct WalkGroup){ lanes, 0 };
    warp->group_count = 1;
    warp->stack[0] = (Entry){ .pc = 0, .rpc = -1, .mask = lanes };
    warp->depth = 1;
    warp->alive = lanes;
    warp->waiting_lanes = 0;
    warp->diverged_lanes = 0;
    warp->barrier_step = warp->polled_step = NULL;
    warp->spins = warp->sleeps = warp->polls = warp->unwritten_count = 0;
    warp->followed = false;
    warp->moves = warp->block->launch->moves && warp->extents;
    warp->cluster_arrived = 0;
    if (warp->has_errors)
        memset(warp->errors, 0, sizeof warp->errors);
    warp->has_errors = false;
    warp->state = lanes ? WARP_READY : WARP_DONE;
    warp_take_top(warp);
}

/* ---- Parts ---- */

bool warp_push(Warp *warp, const Step *step, Entry entry)
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

    /* The entry below already waits at the same place, so loops do not grow the stack. */
    if (rpc == top->rpc)
        warp->depth--;
    else
        top->pc = rpc;
    if (then && then_pc != rpc && !warp_push(warp, step, (Entry){ then_pc, rpc, then }))
        return;
    if (first && first_pc != rpc && !warp_push(warp, step, (Entry){ first_pc, rpc, first }))
        return;
    warp_take_top(warp);
}

/* The part of the same lanes that waits below entry `at` to continue at pc; NULL: none. */
static Entry *part_below(Warp *warp, int at, int pc, int rpc)
{
    for (int i = at - 1; i >= warp->frames[warp->frame].depth; i--) {
        Entry *entry = &warp->stack[i];
        if (entry->rpc != rpc)
            return NULL;
        if (entry->pc == pc && !(entry->mask & warp->waiting_lanes))
            return entry;
    }
    return NULL;
}

void warp_leave_loop(Warp *warp, const Step *step, int rpc, uint32_t stay, int stay_pc,
                     uint32_t leave, int leave_pc)
{
    Entry *part = rpc == warp->stack[warp->depth - 1].rpc
                      ? part_below(warp, warp->depth - 1, leave_pc, rpc)
                      : NULL;

    if (part)
        part->mask |= leave;
    warp_split(warp, step, rpc, stay, stay_pc, part ? 0 : leave, leave_pc);
}

void warp_leave_together(Warp *warp, int pc)
{
    Entry *part = part_below(warp, warp->depth - 1, pc, warp->rpc);

    warp->pc = pc;
    if (!part)
        return;
    part->mask |= warp->active;
    warp->depth--;
    warp_take_top(warp);
}

/* ---- Breaks ---- */

static bool passes(const Code *code, int pc, int place)
{
    const int most = code->step_count;

    for (int hops = 0; pc >= 0 && pc < most && pc != place && hops < most; hops++)
        pc = code->steps[pc].after;
    return pc == place;
}

/* A place without a barrier that lanes leave is passed by all. Lanes that begin another round of a
 * loop pass its first step, but no other place of this round. */
static bool entry_passes(const Warp *warp, const Entry *entry, const Step *step, int pc)
{
    const Code *code = warp->code;

    if (entry->rpc < 0 || entry->rpc >= code->step_count || !code->steps[entry->rpc].in_loop ||
        entry->rpc == pc)
        return true;
    return passes(code, pc == step->round.begin ? step->round.end : pc, entry->rpc);
}

bool warp_passes(const Warp *warp, const Step *step, int pc)
{
    return entry_passes(warp, &warp->stack[warp->depth - 1], step, pc);
}

/* Inserts an entry below entry `at`. */
static bool insert(Warp *warp, const Step *step, int at, Entry entry)
{
    if (!warp_push(warp, step, entry))
        return false;
    memmove(&warp->stack[at + 1], &warp->stack[at],
            (size_t) (warp->depth - 1 - at) * sizeof *warp->stack);
    warp->stack[at] = entry;
    return true;
}

/* Entry `at` has lanes that leave: they and the others meet at rpc, below it. */
static bool put_below(Warp *warp, const Step *step, int at, uint32_t leave, int pc, int rpc)
{
    const Entry all = warp->stack[at];
    Entry *part = all.rpc == rpc ? part_below(warp, at, pc, rpc) : NULL;

    warp->stack[at].mask &= ~leave;
    warp->stack[at].rpc = rpc;
    if (all.rpc != rpc && !insert(warp, step, at++, (Entry){ rpc, all.rpc, all.mask }))
        return false;
    if (part)
        part->mask |= leave;
    return part || pc == rpc || insert(warp, step, at, (Entry){ pc, rpc, leave });
}

void warp_break(Warp *warp, const Step *step, uint32_t leave, int leave_pc, uint32_t stay,
                int stay_pc)
{
    const int rpc = step->rpc >= 0 ? step->rpc : warp->code->step_count;
    int at = warp->depth - 1;

    warp->stack[at].pc = stay ? stay_pc : leave_pc;
    while (at > warp->frames[warp->frame].depth &&
           !entry_passes(warp, &warp->stack[at], step, leave_pc))
        warp->stack[at--].mask &= ~leave;
    if (put_below(warp, step, at, leave, leave_pc, rpc))
        warp_settle(warp);
}

static void end_warp(Warp *warp)
{
    warp->alive = warp->active = 0;
    if (warp->state == WARP_DONE) /* ended by a fatal finding */
        return;
    warp->state = WARP_DONE;
    async_end_warp(warp);
    barrier_warp_done(warp);
}

void warp_settle(Warp *warp)
{
    do {
        int base = warp->frames[warp->frame].depth;
        while (warp->depth > base) {
            const Entry *top = &warp->stack[warp->depth - 1];
            if (top->mask && (top->pc != top->rpc || top->mask & warp->waiting_lanes))
                break;
            warp->depth--;
        }
        if (warp->depth > base) {
            warp_take_top(warp);
            if (warp->active & warp->waiting_lanes)
                barrier_resolve(warp);
            return;
        }
    } while (frame_leave(warp));
    end_warp(warp);
}

void warp_arrive(Warp *warp)
{
    warp->stack[warp->depth - 1].pc = warp->pc;
    warp_settle(warp);
}

static void remove_lanes(Warp *warp, uint32_t lanes, int from)
{
    warp->stack[warp->depth - 1].pc = warp->pc;
    for (int i = from; i < warp->depth; i++)
        warp->stack[i].mask &= ~lanes;
    warp_settle(warp);
}

bool warp_meet(Warp *warp)
{
    for (int i = warp->frames[warp->frame].depth; i < warp->depth - 1; i++)
        if (warp->stack[i].rpc == warp->pc && warp->stack[i].mask & warp->active) {
            remove_lanes(warp, warp->active, i);
            return true;
        }
    return false;
}

void warp_unpark(Warp *warp)
{
    warp->waiting_lanes = 0;
    warp->barrier_step = NULL;
    warp_arrive(warp);
}

void warp_exit(Warp *warp, uint32_t lanes)
{
    warp->alive &= ~lanes;
    if (!warp->alive && !warp->frame) {
        warp->depth = 0;
        end_warp(warp);
    } else {
        remove_lanes(warp, lanes, 0);
    }
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
        if (entry.mask && !(entry.mask & (above | warp->waiting_lanes))) {
            memmove(&warp->stack[i], &warp->stack[i + 1], (size_t) (top - i) * sizeof entry);
            warp->stack[top] = entry;
            warp_take_top(warp);
            return true;
        }
        above |= entry.mask;
    }
    return false;
}

/* ---- Where lanes are ---- */

/* The frame that contains the entry. */
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

/* True if only jumps lead from here to the end. */
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
        pc = step->jump.target;
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

/* ---- The state that decides what a warp does next, except memory; the running part's pc and lanes
 * are in the warp itself ---- */

typedef struct Piece {
    const void *at;
    size_t bytes;
} Piece;

/* The waiting parts, then the registers and predicates (including carries) of each frame. */
static Piece piece_of(const Warp *warp, int i)
{
    if (i == 0)
        return (Piece){ warp->stack, (size_t) (warp->depth - 1) * sizeof *warp->stack };
    const Frame *frame = &warp->frames[(i - 1) / 2];
    if (i % 2)
        return (Piece){ frame->registers, (size_t) frame->code->planes * PLANE };
    return (Piece){ frame->predicates, (size_t) (frame->code->predicates + 1) * sizeof(uint32_t) };
}

static int piece_count(const Warp *warp)
{
    return 1 + 2 * (warp->frame + 1);
}

static size_t state_bytes(const Warp *warp)
{
    size_t bytes = 0;

    for (int i = 0; i < piece_count(warp); i++)
        bytes += piece_of(warp, i).bytes;
    return bytes;
}

bool warp_save(const Warp *warp, WarpSave *save)
{
    save->bytes = state_bytes(warp);
    save->state = malloc(save->bytes + 1);
    uint8_t *to = save->state;
    for (int i = 0; to && i < piece_count(warp); i++) {
        Piece piece = piece_of(warp, i);
        memcpy(to, piece.at, piece.bytes);
        to += piece.bytes;
    }
    return save->state;
}

bool warp_is_as(const Warp *warp, const WarpSave *save)
{
    const uint8_t *saved = save->state;

    if (state_bytes(warp) != save->bytes)
        return false;
    for (int i = 0; i < piece_count(warp); i++) {
        Piece piece = piece_of(warp, i);
        if (memcmp(saved, piece.at, piece.bytes))
            return false;
        saved += piece.bytes;
    }
    return true;
}
