/* stack.c - the parts into which a warp splits, where they meet, and where they end. */
#include "warp.h"

#include <stdlib.h>
#include <string.h>

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
    if (!warp->stack || !warp->frames || !warp->local || !frame_make(warp->frames, launch->kernel))
        return false;
    frame_use(warp);
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

void warp_take_top(Warp *warp)
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
    frame_use(warp);
    clear_registers(warp);
    warp->stack[0] = (Entry){ .pc = 0, .rpc = -1, .mask = lanes };
    warp->depth = 1;
    warp->alive = lanes;
    warp->parked = 0;
    warp->barrier_step = NULL;
    warp->spins = 0;
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

    /* The one below waits at the same place already: loops do not grow the stack. */
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
            warp_take_top(warp);
            if (warp->active & warp->parked)
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
            warp_take_top(warp);
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
