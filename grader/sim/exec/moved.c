/* moved.c - runs kernels with moved registers (moved.h). */
#include "sim/exec/moved.h"
#include "sim/exec/code.h"
#include "sim/exec/ops/handlers.h"

#include <stdlib.h>
#include <string.h>

enum { LEAST_BLOCKS = 16 }; /* of a launch in which finding the values in block 0 is worth it */

/* ---- Values ---- */

/* Like a handler of arithmetic. */
#define SETTLE(width, L)                                                                           \
    INLINE void settle_##width(Warp *warp, const Step *step, uint32_t mask)                        \
    {                                                                                              \
        const MovedStep *moved = moved_of(warp, step);                                             \
        const L by = (L) moved_by(warp, step), *base = plane(warp, moved->base);                   \
        L *d = plane(warp, warp->code->steps[moved->step].d);                                      \
                                                                                                   \
        LANE_LOOP(, base[i] + by)                                                                  \
    }
SETTLE(32, Lane32)
SETTLE(64, Lane64)

INLINE void settle_lanes(Warp *warp, const Step *step, uint32_t mask)
{
    if (moved_of(warp, step)->is_wide)
        settle_64(warp, step, mask);
    else
        settle_32(warp, step, mask);
}

static void settle_plain(Warp *warp, const Step *step, uint32_t mask)
{
    settle_lanes(warp, step, mask);
}

AVX2 static void settle_avx2(Warp *warp, const Step *step, uint32_t mask)
{
    settle_lanes(warp, step, mask);
}

AVX512 static void settle_avx512(Warp *warp, const Step *step, uint32_t mask)
{
    settle_lanes(warp, step, mask);
}

void moved_settle(Warp *warp, const Step *step, uint32_t mask)
{
    static Run *const run[SIMD_LEVELS] = { settle_plain, settle_avx2, settle_avx512 };

    run[simd_now()](warp, step, mask);
}

/* ---- Steps ---- */

/* Nothing needs the value. */
static void run_skipped(Warp *warp, const Step *step, uint32_t mask)
{
    const Step *next = step->next;

    if (!warp->moves) {
        step->inner(warp, step, mask);
        return;
    }
    if (next > warp->last_in_row) {
        warp->at = next - 1;
        return;
    }
    warp->at = next;
    next->run(warp, next, ALL_LANES);
}

static void run_valued(Warp *warp, const Step *step, uint32_t mask)
{
    if (!warp->moves) {
        step->inner(warp, step, mask);
        return;
    }
    moved_settle(warp, step, mask);
    run_next(warp, step);
}

void moved_run_settled(Warp *warp, const Step *step, uint32_t mask)
{
    if (warp->moves)
        moved_settle(warp, step, mask);
    step->inner(warp, step, mask);
}

static int number_of(const CodeMaker *maker, const Operand *operand)
{
    return operand->kind == OPERAND_REGISTER ? maker->lives[operand->index].moved : 0;
}

static void bind_writer(CodeMaker *maker, int at)
{
    Step *step = &maker->code->steps[at];
    const Operand *operands = maker->function->operands + step->in->first;
    const Life *life = &maker->lives[operands->index];
    MovedStep *moved = maker->code->moved;

    step->moved = (uint16_t) life->moved;
    step->inner = step->run;
    step->run = is_skipped(maker, at) ? run_skipped : run_valued;
    moved[life->moved - 1].step = at;
    moved[life->moved - 1].base = life->base;
    moved[life->moved - 1].is_wide =
        type_size(maker->function->registers[operands->index].type) == 8;
    for (int i = 1; moved_widens(step->in) && i < step->in->count; i++)
        if (number_of(maker, &operands[i])) {
            MovedStep *source = &moved[number_of(maker, &operands[i]) - 1];
            source->must_stay = true;
            source->is_unsigned |= step->in->types[step->in->op == OP_cvt] == TYPE_U32;
        }
}

static void bind_reader(CodeMaker *maker, Step *step, int reg)
{
    Run *(*const handler)(Step *, int) = step->in->op == OP_setp ? compare_moved : memory_moved;
    Run *run = handler(step, maker->slot[reg]);

    step->moved = (uint16_t) maker->lives[reg].moved;
    step->e = maker->lives[reg].base;
    step->inner = step->run;
    step->run = run ? run : moved_run_settled;
}

bool set_moved(CodeMaker *maker)
{
    Code *code = maker->code;

    if (!code->moved_count)
        return true;
    code->moved = calloc((size_t) code->moved_count, sizeof *code->moved);
    if (!code->moved)
        return refuse(maker, "out of memory");
    for (int i = 0; i < code->step_count; i++) {
        const int reg = maker->moved[i] ? -1 : moved_source(maker, code->steps[i].in);
        if (maker->moved[i])
            bind_writer(maker, i);
        else if (reg >= 0)
            bind_reader(maker, &code->steps[i], reg);
    }
    return true;
}

/* ---- Launches ---- */

void moves_begin(Launch *launch, long blocks)
{
    const bool together = launch->cooperative || launch->blocks_draw || launch->cluster[0];

    launch->moves = launch->kernel->moved_count && !together && blocks >= LEAST_BLOCKS
                        ? calloc(1, sizeof *launch->moves)
                        : NULL;
}

void moves_end(Launch *launch)
{
    free(launch->moves);
    launch->moves = NULL;
}

static Extent extent_of(const Warp *warp, const MovedStep *moved, uint32_t lanes)
{
    const Lane32 *narrow = plane(warp, moved->base);
    const Lane64 *wide = plane(warp, moved->base);
    Extent extent = { .low = INT32_MAX, .high = INT32_MIN, .linear = moved->is_wide };

    for (int i = 0; i < LANES && moved->is_wide; i++)
        extent.linear &= wide[i] - wide[0] == (uint64_t) i * sizeof(Lane32);
    for (int i = 0; i < LANES && !moved->is_wide; i++) {
        const int32_t value = (int32_t) narrow[i];
        if (!(lanes >> i & 1))
            continue;
        extent.low = value < extent.low ? value : extent.low;
        extent.high = value > extent.high ? value : extent.high;
    }
    return extent;
}

/* Runs the steps, each of which follows those whose results it reads. */
bool moved_fill(Warp *warp, uint32_t lanes)
{
    const Code *code = warp->code;

    if (!warp->block->launch->moves)
        return true;
    warp->extents = calloc((size_t) code->moved_count, sizeof *warp->extents);
    if (!warp->extents)
        return false;
    for (int i = code->moved_count - 1; i >= 0; i--) {
        const MovedStep *moved = &code->moved[i];
        const Step *step = &code->steps[moved->step];
        step->inner(warp, step, lanes);
        memcpy(plane(warp, moved->base), plane(warp, step->d), PLANE * (moved->is_wide ? 2 : 1));
        warp->extents[i] = extent_of(warp, moved, lanes);
    }
    return true;
}

static int64_t value_of(const Warp *warp, const MovedStep *moved, int slot)
{
    const void *at = plane(warp, slot);

    return moved->is_wide ? (int64_t) ((const Lane64 *) at)[0] : (int32_t) ((const Lane32 *) at)[0];
}

/* By how much the first warp's values in the next block in this direction differ. Differences of 32
 * bits may wrap around. */
static void measure(Block *block, int direction)
{
    Warp *warp = block->warps;
    const Code *code = warp->code;

    block->id[direction] = 1;
    special_of_block(block);
    special_fill_block(warp);
    for (int i = code->moved_count - 1; i >= 0; i--) {
        const MovedStep *moved = &code->moved[i];
        const Step *step = &code->steps[moved->step];
        step->inner(warp, step, 1);
        const uint64_t by = (uint64_t) value_of(warp, moved, step->d) -
                            (uint64_t) value_of(warp, moved, moved->base);
        block->launch->moves->slope[i][direction] =
            moved->is_wide ? (int64_t) by : (int32_t) (uint32_t) by;
    }
    block->id[direction] = 0;
}

/* Whether the values of all warps stay in the range of their type in all blocks. */
static bool stay(const Block *block, int number)
{
    const Launch *launch = block->launch;
    const bool is_unsigned = launch->kernel->moved[number].is_unsigned;
    int64_t low = 0, high = 0;

    for (int i = 0; i < 3; i++) {
        const int64_t last = launch->moves->slope[number][i] * (launch->grid[i] - 1);
        *(last < 0 ? &low : &high) += last;
    }
    for (int i = 0; i < block->warp_count; i++) {
        const Extent *extent = &block->warps[i].extents[number];
        if (extent->low + low < (is_unsigned ? 0 : INT32_MIN) || extent->high + high > INT32_MAX)
            return false;
    }
    return true;
}

void moved_measure(Block *block)
{
    Launch *launch = block->launch;
    bool well = true;

    if (!launch->moves || launch->moves->known)
        return;
    for (int i = 0; i < 3; i++)
        if (launch->grid[i] > 1)
            measure(block, i);
    launch->moves->known = true;
    for (int i = 0; i < launch->kernel->moved_count; i++)
        well &= !launch->kernel->moved[i].must_stay || stay(block, i);
    if (!well)
        moves_end(launch);
}

void moved_of_block(Block *block)
{
    const Launch *launch = block->launch;

    for (int i = 0; launch->moves && i < launch->kernel->moved_count; i++) {
        const int64_t *slope = launch->moves->slope[i];
        block->moved[i] = (uint64_t) slope[0] * (uint64_t) block->id[0] +
                          (uint64_t) slope[1] * (uint64_t) block->id[1] +
                          (uint64_t) slope[2] * (uint64_t) block->id[2];
    }
}
