/* loops.c - counts the rounds of loops that are one basic block. */
#include "sim/exec/loops.h"
#include "sim/base/common.h"

#include <string.h>

static bool is_jump(const Step *step)
{
    return step->in->op == OP_bra || step->in->op == OP_brx || step->in->op == OP_ret ||
           step->in->op == OP_exit || step->in->op == OP_call;
}

/* Whether steps first .. last are one basic block that may jump back to its beginning. */
static bool is_loop(const Code *code, int first, int last)
{
    const Step *end = &code->steps[last];

    if (end->in->op != OP_bra || end->guard < 0 || first < 0 || first > last)
        return false;
    for (int i = first; i < last; i++)
        if (is_jump(&code->steps[i]))
            return false;
    return true;
}

void loops_find(Code *code)
{
    code->loop_count = 0;
    for (int i = 0; i < code->step_count; i++)
        if (code->loop_count < UINT16_MAX && is_loop(code, code->steps[i].jump.target, i))
            code->steps[i].loop = (uint16_t) ++code->loop_count;
}

static bool is_inside(int step, int first, int last)
{
    return step >= first && step <= last;
}

/* Whether lanes leave the loop of steps first .. last by one way of the branch `at`. */
static void note_exit(Code *code, int at, int first, int last)
{
    Step *step = &code->steps[at];
    const bool taken = is_inside(step->jump.target, first, last),
               next = is_inside(at + 1, first, last);

    if (step->in->op != OP_bra || step->guard < 0 || taken == next)
        return;
    if ((taken ? at + 1 : step->jump.target) == step->rpc)
        return;
    step->leaves_loop = true;
    step->taken_leaves = next;
}

void loops_find_exits(Code *code)
{
    for (int last = 0; last < code->step_count; last++) {
        const Step *end = &code->steps[last];
        if (end->in->op != OP_bra || end->jump.target < 0 || end->jump.target > last)
            continue;
        for (int at = end->jump.target; at <= last; at++)
            note_exit(code, at, end->jump.target, last);
    }
}

/* Lanes leave the loop after this round. */
static void note_leaving(LoopVisit *visit, LoopCount *count)
{
    for (int k = 0; k < LOOP_POWERS && visit->left_before; k++)
        count->splits[k] += visit->round >> k != visit->left_before >> k;
    visit->left_before = visit->round;
    visit->residues |= (uint64_t) 1 << visit->round % 64;
}

/* The residues modulo 2^k. */
static uint64_t folded(uint64_t residues, int k)
{
    for (int half = 32; half >= 1 << k; half /= 2)
        residues = (residues | residues >> half) & (((uint64_t) 1 << half) - 1);
    return residues;
}

static void end_visit(LoopVisit *visit, LoopCount *count)
{
    count->visits++;
    for (int k = 0; k < LOOP_POWERS; k++) {
        const uint64_t remainders = folded(visit->residues, k),
                       with_bit = folded(visit->residues, k + 1) >> (1 << k);
        count->remainder[k] += 63 - (unsigned) __builtin_clzll(remainders);
        count->remainder_splits[k] += (unsigned) __builtin_popcountll(remainders) - 1;
        count->with_bit[k] += with_bit != 0;
        count->bit_splits[k] += with_bit && folded(visit->residues, k + 1) != with_bit << (1 << k);
    }
    memset(visit, 0, sizeof *visit);
}

/* Counts the rounds since the last that was counted: the same lanes went all of them. */
static void count_rounds(LoopVisit *visit, LoopCount *count)
{
    const unsigned lanes = lanes_in(visit->lanes);

    if (visit->counted == visit->round)
        return;
    for (int k = 0; k < LOOP_POWERS; k++) {
        const uint32_t groups = (visit->round >> k) - (visit->counted >> k);
        count->groups[k] += groups;
        count->lanes[k] += (uint64_t) groups * lanes;
    }
    visit->counted = visit->round;
}

void loop_change(Warp *warp, const Step *step, uint32_t stay)
{
    LoopVisit *visit = &warp->visits[step->loop - 1];
    LoopCount *count = &warp->block->launch->loops[step->loop - 1];

    count_rounds(visit, count);
    visit->lanes = warp->active;
    visit->round++;
    if (stay == warp->active)
        return;
    count_rounds(visit, count);
    note_leaving(visit, count);
    if (!stay)
        end_visit(visit, count);
}

void loops_end(Warp *warp)
{
    const Launch *launch = warp->block->launch;

    for (int i = 0; i < launch->kernel->loop_count; i++)
        count_rounds(&warp->visits[i], &launch->loops[i]);
}
