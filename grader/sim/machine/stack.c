/* stack.c - accesses to the stack: registers that are spilled, or saved for a call. */
#include "sim/machine/maker.h"

#include <stdlib.h>

static Operation stack_operation(const OperationMaker *maker, const StackAccess *access,
                                 const Operation *step)
{
    Operation operation = load_from_stack(maker);

    operation.block = access->block;
    operation.place = access->place;
    operation.access = *access;
    operation.spent = step->spent;
    operation.spent_step = step->spent_step;
    return operation;
}

static int loads_of(const OperationMaker *maker, const LoweredStep *step)
{
    int loads = 0;

    for (int i = step->first; i < step->first + step->count; i++)
        loads += !maker->lowered.accesses[i].is_store;
    return loads;
}

/* The return that follows a step in its basic block; -1: none. A kernel restores nothing: its end
 * waits for no load. */
static int return_after(const OperationMaker *maker, int at)
{
    for (; !maker->function->is_entry && at < maker->code->step_count; at++) {
        const Instruction *in = maker->code->steps[at].in;
        if (in && in->op == OP_ret)
            return at;
        if (in && (in->op == OP_bra || in->op == OP_brx || in->op == OP_call))
            return -1;
    }
    return -1;
}

static bool is_last_load(const OperationMaker *maker, const StackAccess *access)
{
    const StackAccess *other = maker->lowered.accesses;

    for (int i = 0; i < maker->lowered.access_count; i++, other++)
        if (other->block == access->block && !other->is_store && other->place > access->place)
            return false;
    return true;
}

/* Which register of its user a load writes, from the last one on, if so many loads of the step come
 * behind it. All loads in the block of a return have one scoreboard, so the return waits for the
 * last one, though its address is loaded first. */
static int register_loaded(const OperationMaker *maker, const StackAccess *access, int behind,
                           bool returns)
{
    enum { NONE = UINT8_MAX };

    if (!returns)
        return behind;
    return is_last_load(maker, access) ? 0 : NONE;
}

/* A step's loads come before it, its stores after it. */
static bool add_stack(OperationMaker *maker, int at)
{
    const LoweredStep *step = &maker->lowered.steps[at];
    const int loads = loads_of(maker, step);
    Operations *made = maker->made;
    Operation *o = &made->operations[at];
    const int returns = loads ? return_after(maker, at) : -1;

    if (returns >= 0 && !add_return(maker, &made->operations[returns]))
        return false;
    o->stack_first = (uint32_t) step->first;
    for (int stores = 0, put = step->first; stores < 2; stores++)
        for (int i = step->first; i < step->first + step->count; i++) {
            const StackAccess *access = &maker->lowered.accesses[i];
            uint8_t *count = stores ? &o->stores_after : &o->loads_before;
            if (access->is_store != stores || *count == UINT8_MAX)
                continue;
            made->stack[put] = stack_operation(maker, access, o);
            const Operation *user = stores || returns < 0 ? o : &made->operations[returns];
            const int behind = register_loaded(maker, access, loads - 1 - *count, returns >= 0);
            ++*count;
            if (!add_stack_registers(maker, &made->stack[put++], user, behind))
                return false;
        }
    return true;
}

bool add_stacks(OperationMaker *maker)
{
    Operations *made = maker->made;

    if (!maker->lowered.steps)
        return true;
    made->stack_words = maker->lowered.stack_words;
    made->stack = calloc((size_t) maker->lowered.access_count + 1, sizeof *made->stack);
    for (int i = 0; made->stack && i < maker->code->step_count; i++)
        if (maker->lowered.steps[i].count && !add_stack(maker, i))
            return false;
    return made->stack != NULL;
}
