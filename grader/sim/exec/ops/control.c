/* control.c - branches, calls, ends, and instructions without an effect here.
 *
 * Lanes that diverge become parts of the warp (stack.c). An indexed branch or an indirect call
 * takes the lanes with the same target as the first lane; the other lanes execute the same step
 * again.
 */
#include "sim/exec/warp.h"
#include "sim/base/common.h"

/* The lanes of `mask` with the same value as the first lane. */
static uint32_t agreeing(const uint64_t values[LANES], uint32_t mask)
{
    uint64_t value = values[__builtin_ctz(mask)];
    uint32_t lanes = 0;

    for (uint32_t left = mask; left; left &= left - 1)
        if (values[__builtin_ctz(left)] == value)
            lanes |= left & -left;
    return lanes;
}

static int index_of(const Warp *warp, const Step *step)
{
    return (int) (step - warp->code->steps);
}

/* ---- Branches ---- */

static void run_jump(Warp *warp, const Step *step, uint32_t mask)
{
    (void) mask;
    warp->pc = step->jump.target;
}

static int meeting_point(const Warp *warp, const Step *step)
{
    return step->rpc >= 0 ? step->rpc : warp->code->step_count;
}

/* Whether lanes leave a loop in which the running part's lanes meet. Then they leave the part, too.
 */
static bool breaks(Warp *warp, const Step *step, uint32_t mask, uint32_t others, int next)
{
    const bool taken = mask && !warp_passes(warp, step, step->jump.target),
               left = others && !warp_passes(warp, step, next);

    if (taken)
        warp_break(warp, step, mask, step->jump.target, others, next);
    if (left)
        warp_break(warp, step, others, next, taken ? 0 : mask, step->jump.target);
    return taken || left;
}

static void run_branch(Warp *warp, const Step *step, uint32_t mask)
{
    uint32_t others = warp->active & ~mask;

    if (!others && warp_is_whole(warp)) {
        warp->pc = step->jump.target;
        return;
    }
    if (breaks(warp, step, mask, others, warp->pc)) {
        count_of(warp, step)->divergent += others != 0;
        return;
    }
    if (!others && step->leaves_loop && step->taken_leaves) {
        warp_leave_together(warp, step->jump.target);
        return;
    }
    if (!others) {
        warp->pc = step->jump.target;
        return;
    }
    count_of(warp, step)->divergent++;
    const int rpc = meeting_point(warp, step), next = warp->pc, target = step->jump.target;
    if (step->leaves_loop && step->taken_leaves)
        warp_leave_loop(warp, step, rpc, others, next, mask, target);
    else if (step->leaves_loop)
        warp_leave_loop(warp, step, rpc, mask, target, others, next);
    else
        warp_split(warp, step, rpc, others, next, mask, target);
}

static const Table *table_of(const Warp *warp, const Step *step)
{
    const Function *function = warp->code->function;
    const Operand *last = &function->operands[step->in->first + step->in->count - 1];

    return last->kind == OPERAND_TABLE ? &function->tables[last->index] : NULL;
}

/* Lanes with one target go there; the others of these lanes execute the step again. */
static void go_apart(Warp *warp, const Step *step, uint32_t lanes, int target, uint32_t of)
{
    const uint32_t others = of & ~lanes;

    count_of(warp, step)->divergent += others != 0;
    if (!warp_passes(warp, step, target))
        warp_break(warp, step, lanes, target, others, index_of(warp, step));
    else if (!others)
        warp->pc = target;
    else
        warp_split(warp, step, meeting_point(warp, step), lanes, target, others,
                   index_of(warp, step));
}

static void run_indexed(Warp *warp, const Step *step, uint32_t mask)
{
    const Table *table = table_of(warp, step);
    const uint32_t *a = plane(warp, step->a);
    uint64_t targets[LANES] = { 0 };

    for (uint32_t left = mask; left; left &= left - 1) {
        int lane = __builtin_ctz(left);
        if (!table || a[lane] >= (uint32_t) table->count) {
            fail(warp, step, lane, FINDING_OUT_OF_BOUNDS, "branches to entry %u of a table of %d",
                 a[lane], table ? table->count : 0);
            return;
        }
        targets[lane] = (uint64_t) table->entries[a[lane]];
    }
    const uint32_t skip = warp->active & ~mask;
    /* The guarded form: lanes that skip it diverge first; the others execute it again. */
    if (skip)
        go_apart(warp, step, skip, warp->pc, mask);
    else
        go_apart(warp, step, agreeing(targets, mask), (int) targets[__builtin_ctz(mask)], mask);
}

static bool bind_branch(Step *step, const Instruction *in)
{
    step->run = in->guard >= 0 ? run_branch : run_jump;
    return step->jump.target >= 0;
}

/* ---- Calls ---- */

static Name shortened(Name name)
{
    if (name.length > 200)
        name.length = 200;
    return name;
}

static void call_function(Warp *warp, const Step *step, uint32_t mask, int function)
{
    const Function *callee = &warp->code->module->functions[function];

    if (callee->is_extern || !callee->instruction_count)
        system_call(warp, step, mask, shortened(callee->name));
    else
        warp_call(warp, step, mask, function);
}

static void run_call(Warp *warp, const Step *step, uint32_t mask)
{
    const Operand *operands = warp->code->function->operands + step->in->first;

    if (step->jump.target >= 0)
        call_function(warp, step, mask, step->jump.target);
    else
        system_call(warp, step, mask, shortened(operands[step->in->call_returns].name));
}

static void run_call_register(Warp *warp, const Step *step, uint32_t mask)
{
    const uint64_t *a = plane(warp, step->a);
    uint32_t lanes = agreeing(a, mask);
    int lane = __builtin_ctz(mask), next = warp->pc;
    uint64_t index = (a[lane] - FUNCTION_WINDOW) / 16;

    if (a[lane] % 16 || index >= (uint64_t) warp->code->module->function_count) {
        fail(warp, step, lane, FINDING_UNKNOWN_CALL, "calls 0x%llx, which is not a function",
             (unsigned long long) a[lane]);
        return;
    }
    if (lanes != mask) {
        count_of(warp, step)->lanes -= lanes_in(mask & ~lanes);
        warp_split(warp, step, next, lanes, next - 1, mask & ~lanes, next - 1);
        if (warp->state != WARP_READY)
            return;
        warp->pc = next;
    }
    call_function(warp, step, lanes, (int) index);
}

static bool bind_call(Step *step, const Instruction *in)
{
    /* Without a target index, a plane holds the address, or it is a system call by name. */
    step->run = step->jump.target < 0 && step->a != -1 ? run_call_register : run_call;
    return in->call_returns < in->count;
}

/* ---- Ends ---- */

static void run_ret(Warp *warp, const Step *step, uint32_t mask)
{
    (void) step;
    warp_return(warp, mask);
}

void run_end(Warp *warp, const Step *step, uint32_t mask)
{
    run_ret(warp, step, mask);
}

static void run_exit(Warp *warp, const Step *step, uint32_t mask)
{
    (void) step;
    warp_exit(warp, mask);
}

static void run_trap(Warp *warp, const Step *step, uint32_t mask)
{
    fail(warp, step, __builtin_ctz(mask), FINDING_TRAP,
         step->in->op == OP_brkpt ? "a breakpoint ended the kernel" : "a trap ended the kernel");
}

/* ---- Instructions without an effect ---- */

static void run_nothing(Warp *warp, const Step *step, uint32_t mask)
{
    (void) warp;
    (void) step;
    (void) mask;
}

/* True for gpu or sys scope: other blocks may see earlier writes. */
static bool is_wide_fence(const Instruction *in)
{
    return has_mod(in, MOD_gl) || has_mod(in, MOD_gpu) || has_mod(in, MOD_sys);
}

static void run_fence(Warp *warp, const Step *step, uint32_t mask)
{
    (void) mask;
    OBSERVE(warp->block->launch, fence, warp, !is_wide_fence(step->in));
}

static void run_nanosleep(Warp *warp, const Step *step, uint32_t mask)
{
    const uint32_t *a = plane(warp, step->a);

    const uint32_t ns = a[__builtin_ctz(mask)] & 0xfffff; /* at most 1 ms */

    warp->block->launch->clock += ns;
    warp->block->launch->slept += ns;
    warp->sleeps++;
}

bool bind_control(Step *step, const Instruction *in)
{
    switch (in->op) {
    case OP_bra:
        return bind_branch(step, in);
    case OP_brx:
        step->run = run_indexed;
        return true;
    case OP_call:
        return bind_call(step, in);
    case OP_ret:
        step->run = run_ret;
        return true;
    case OP_exit:
        step->run = run_exit;
        return true;
    case OP_trap:
    case OP_brkpt:
        step->run = run_trap;
        return true;
    case OP_fence:
    case OP_membar:
        step->run = run_fence;
        return true;
    case OP_nanosleep:
        step->run = run_nanosleep;
        return true;
    case OP_applypriority:
    case OP_setmaxnreg:
    case OP_griddepcontrol:
    case OP_pmevent:
    case OP_prefetch:
    case OP_prefetchu:
    case OP_discard:
        step->run = run_nothing;
        return true;
    case OP_bar:
    case OP_barrier:
        return bind_barrier(step, in);
    default:
        return false;
    }
}
