/* uniform.c - atomics for which ptxas lets one lane of a warp do the work of all.
 *
 * Where it sees that all lanes update one address, and their updates can be combined beforehand, it
 * combines them (REDUX, or a count of lanes) and one lane sends the sum: the hardware then counts
 * an access of one lane. PTX does not show it, so we look for it as ptxas does. Found by what ptxas
 * 13.0 makes, for sm_80 and sm_90 alike, of each operation, its address uniform or not, its result
 * used or not, its operand a constant or not.
 *
 * A register is uniform if it is written once, for all lanes alike, from parameters, constants and
 * what the lanes of a block share. That is less than could be known, on the safe side for most.
 */
#include "exec.h"
#include "roles.h"

#include <stdlib.h>

/* Of a register. */
typedef struct Known {
    bool varies;
    bool used;
    int writers;
} Known;

typedef struct Combined {
    Mod mod;
    int bytes;
    bool result_may_be_used, operand_must_be_constant;
} Combined;

static const Combined combined[] = {
    { MOD_add, 4, true, false },  { MOD_add, 8, true, true },   { MOD_min, 4, false, false },
    { MOD_max, 4, false, false }, { MOD_and, 4, false, false }, { MOD_or, 4, false, false },
    { MOD_xor, 4, false, false },
};

/* ---- What varies ---- */

static bool special_varies(Special special)
{
    return special != SPECIAL_NTID && special != SPECIAL_CTAID && special != SPECIAL_NCTAID &&
           special != SPECIAL_NWARPID && special != SPECIAL_DYNAMIC_SMEM_SIZE &&
           special != SPECIAL_TOTAL_SMEM_SIZE;
}

static bool operand_varies(const Function *f, const Operand *o, const Known *known)
{
    switch (o->kind) {
    case OPERAND_REGISTER:
        return known[o->index].varies;
    case OPERAND_ADDRESS:
        return o->is_register && known[o->index].varies;
    case OPERAND_SPECIAL:
        return special_varies(o->special);
    case OPERAND_VECTOR:
        for (int i = 0; i < o->count; i++)
            if (operand_varies(f, &f->operands[o->first + i], known))
                return true;
        return false;
    default:
        return false;
    }
}

/* A kernel's parameter is the same for all; a function's, or what a call returns, need not be. */
static bool is_kernel_param(const Function *f, const Instruction *in)
{
    const Operand *address = in->count > 1 ? &f->operands[in->first + in->count - 1] : NULL;

    for (int i = 0; address && f->is_entry && !address->is_register && i < f->param_count; i++)
        if (f->params[i] == address->index)
            return true;
    return false;
}

/* Whether it gives all lanes the same, if its sources are the same for all. */
static bool keeps_uniform(const Function *f, const Instruction *in)
{
    if (in->op == OP_ld)
        return in->space == SPACE_CONST || (in->space == SPACE_PARAM && is_kernel_param(f, in));
    return class_of(in) == CLASS_MOVE || class_of(in) == CLASS_INT ||
           class_of(in) == CLASS_CONVERT || class_of(in) == CLASS_FP32;
}

static bool result_varies(const Function *f, const Instruction *in, int destinations,
                          const Known *known)
{
    if (!keeps_uniform(f, in) || (in->guard >= 0 && known[in->guard].varies))
        return true;
    for (int i = destinations; i < in->count; i++)
        if (operand_varies(f, &f->operands[in->first + i], known))
            return true;
    return false;
}

static int destinations_of(const Instruction *in)
{
    Roles roles;

    return roles_of(in, &roles) ? roles.destinations : 0;
}

/* ---- Each register that an operand names ---- */

typedef void See(Known *known);

static void see_read(Known *known)
{
    known->used = true;
}

static void see_written(Known *known)
{
    known->writers++;
}

static void see_varies(Known *known)
{
    known->varies = true;
}

static void see(const Function *f, const Operand *o, Known *known, See *one)
{
    if (o->kind == OPERAND_REGISTER || (o->kind == OPERAND_ADDRESS && o->is_register))
        one(&known[o->index]);
    for (int i = 0; o->kind == OPERAND_VECTOR && i < o->count; i++)
        see(f, &f->operands[o->first + i], known, one);
}

/* What is read and written; of a call, whatever it names is both. */
static void look_at_uses(const Function *f, Known *known)
{
    for (int i = 0; i < f->instruction_count; i++) {
        const Instruction *in = &f->instructions[i];
        int destinations = destinations_of(in);
        if (in->guard >= 0)
            known[in->guard].used = true;
        for (int o = 0; o < in->count; o++) {
            const Operand *operand = &f->operands[in->first + o];
            see(f, operand, known, o < destinations ? see_written : see_read);
            if (in->op == OP_call)
                see(f, operand, known, see_varies);
        }
    }
    for (int r = 0; r < f->register_count; r++)
        known[r].varies |= known[r].writers != 1;
}

/* Until nothing new is found: what varies only becomes more. */
static void look_for_variation(const Function *f, Known *known)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (int i = 0; i < f->instruction_count; i++) {
            const Instruction *in = &f->instructions[i];
            int destinations = destinations_of(in);
            if (!destinations || !result_varies(f, in, destinations, known))
                continue;
            for (int o = 0; o < destinations; o++) {
                const Operand *operand = &f->operands[in->first + o];
                changed |= !operand_varies(f, operand, known) && operand->kind != OPERAND_DISCARD;
                see(f, operand, known, see_varies);
            }
        }
    }
}

/* ---- Atomics ---- */

static bool is_whole_number(PtxType type)
{
    return !type_is_float(type) && type != TYPE_PRED;
}

static const Combined *row_of(const Instruction *in)
{
    for (size_t i = 0; i < sizeof combined / sizeof *combined; i++)
        if (has_mod(in, combined[i].mod) && (int) type_size(in->types[0]) == combined[i].bytes &&
            is_whole_number(in->types[0]))
            return &combined[i];
    return NULL;
}

static bool one_does_it(const Function *f, const Instruction *in, const Known *known)
{
    const Combined *row = in->type_count ? row_of(in) : NULL;
    int destinations = destinations_of(in);
    const Operand *operand = &f->operands[in->first];

    if (!row || in->count < destinations + 2 || in->space == SPACE_GENERIC)
        return false;
    if (destinations && operand->kind == OPERAND_REGISTER && known[operand->index].used &&
        !row->result_may_be_used)
        return false;
    if (row->operand_must_be_constant && operand[destinations + 1].kind != OPERAND_INTEGER)
        return false;
    return !operand_varies(f, &operand[destinations], known);
}

static bool has_atomics(const Function *f)
{
    for (int i = 0; i < f->instruction_count; i++)
        if (f->instructions[i].op == OP_atom || f->instructions[i].op == OP_red)
            return true;
    return false;
}

void find_one_for_all(const Function *function, bool *one_for_all)
{
    Known *known = NULL;

    if (has_atomics(function))
        known = calloc((size_t) function->register_count + 1, sizeof *known);
    if (!known) /* without memory nothing is found, and more is counted */
        return;
    look_at_uses(function, known);
    look_for_variation(function, known);
    for (int i = 0; i < function->instruction_count; i++) {
        const Instruction *in = &function->instructions[i];
        if (in->op == OP_atom || in->op == OP_red)
            one_for_all[i] = one_does_it(function, in, known);
    }
    free(known);
}
