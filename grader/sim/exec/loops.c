/* loops.c - counts the rounds of loops that are one basic block. */
#include "sim/exec/loops.h"

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

/* Lanes leave the loop after this round. */
static void note_leaving(LoopVisit *visit)
{
    visit->bits |= visit->round;
    for (int k = 0; k < LOOP_POWERS; k++) {
        const uint32_t remainder = visit->round & ((1u << k) - 1);
        if (remainder > visit->remainder[k])
            visit->remainder[k] = (uint8_t) remainder;
    }
}

static void end_visit(LoopVisit *visit, LoopCount *count)
{
    for (int k = 0; k < LOOP_POWERS; k++) {
        count->with_bit[k] += visit->bits >> k & 1;
        count->remainder[k] += visit->remainder[k];
    }
    memset(visit, 0, sizeof *visit);
}

void loop_round(Warp *warp, const Step *step, uint32_t stay)
{
    LoopVisit *visit = &warp->visits[step->loop - 1];
    LoopCount *count = &warp->block->launch->loops[step->loop - 1];
    const unsigned lanes = (unsigned) __builtin_popcount(warp->active);

    visit->round++;
    for (int k = 0; k < LOOP_POWERS && !(visit->round & ((1u << k) - 1)); k++) {
        count->groups[k]++;
        count->lanes[k] += lanes;
    }
    if (stay != warp->active)
        note_leaving(visit);
    if (!stay)
        end_visit(visit, count);
}
