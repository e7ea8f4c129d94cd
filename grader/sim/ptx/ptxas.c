/* ptxas.c - finds PTX instructions that the assembler translates in a way that changes counters.
 *
 * WARP_REDUCED: if ptxas can tell that all lanes update one address and that their updates can be
 * combined, it combines them (REDUX, or a count of lanes) and one lane sends the sum. The hardware
 * then counts an access of one lane. WARP_REDUCED_WITH_RESULT: the same, but the result is used,
 * and each lane computes its own from that lane's result. If lanes add different numbers, that
 * takes shuffles, which ptxas guards by a vote: WARP_REDUCED_IF_FULL (sm_75 to sm_90).
 * ADDRESS_REDUCED: an instruction that adds 1 to shared memory counts the lanes of each address.
 * FUSED: an addition of a product becomes a multiply-add, unless the PTX specifies a rounding.
 * ABSORBED, JOINED: see ptxas_logic.c. COPIED: see below. PTX does not show any of this, so the
 * rules of ptxas are applied here. They come from the machine code of ptxas 13.0 for sm_80 and
 * sm_90, for each operation with and without a uniform address, a used result and a constant
 * operand; ADDRESS_REDUCED, FUSED, JOINED and COPIED were also confirmed with the counters of an
 * H200. JOINED and COPIED affect counters only: the time model was fitted with these instructions
 * as written.
 *
 * A register is uniform if it is written once, with the same value for all lanes, from parameters,
 * constants and values that the lanes of a block share. ptxas may recognise more cases; for most
 * rules, missing a case is the safe side.
 */
#include "sim/ptx/ptxas.h"
#include "sim/ptx/cfg.h"
#include "sim/ptx/roles.h"

#include <stdlib.h>

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

/* ---- Which registers vary between lanes ---- */

static bool special_varies(Special special)
{
    return special != SPECIAL_NTID && special != SPECIAL_CTAID && special != SPECIAL_NCTAID &&
           special != SPECIAL_NWARPID && special != SPECIAL_DYNAMIC_SMEM_SIZE &&
           special != SPECIAL_TOTAL_SMEM_SIZE && special != SPECIAL_RESERVED_SMEM;
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

/* A kernel's parameter is the same for all lanes. A function's parameter or result may differ. */
static bool is_kernel_param(const Function *f, const Instruction *in)
{
    const Operand *address = in->count > 1 ? &f->operands[in->first + in->count - 1] : NULL;

    for (int i = 0; address && f->is_entry && !address->is_register && i < f->param_count; i++)
        if (f->params[i] == address->index)
            return true;
    return false;
}

/* True if uniform sources give a uniform result. */
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
    return in->roles.destinations < in->count ? in->roles.destinations : in->count;
}

/* ---- The registers of an operand ---- */

/* Returns true if it learned something new. */
typedef bool See(Known *known);

static bool see_read(Known *known)
{
    known->readers++;
    return true;
}

static bool see_written(Known *known)
{
    known->writers++;
    return true;
}

static bool see_varies(Known *known)
{
    const bool news = !known->varies;

    known->varies = true;
    return news;
}

static bool has_register(const Function *f, const Operand *o, int32_t index)
{
    bool has = o->kind == OPERAND_REGISTER && o->index == index;

    for (int i = 0; o->kind == OPERAND_VECTOR && i < o->count; i++)
        has |= has_register(f, &f->operands[o->first + i], index);
    return has;
}

static bool see(const Function *f, const Operand *o, Known *known, See *one)
{
    bool news = false;

    if (o->kind == OPERAND_REGISTER || (o->kind == OPERAND_ADDRESS && o->is_register))
        news = one(&known[o->index]);
    for (int i = 0; o->kind == OPERAND_VECTOR && i < o->count; i++)
        news |= see(f, &f->operands[o->first + i], known, one);
    return news;
}

/* Records which registers are read and written. All registers of a call count as both. */
static void look_at_uses(const Function *f, Known *known)
{
    for (int i = 0; i < f->instruction_count; i++) {
        const Instruction *in = &f->instructions[i];
        int destinations = destinations_of(in);
        if (in->guard >= 0) {
            known[in->guard].readers++;
            known[in->guard].reader = in;
        }
        for (int o = 0; o < in->count; o++) {
            const Operand *operand = &f->operands[in->first + o];
            see(f, operand, known, o < destinations ? see_written : see_read);
            if (o < destinations && operand->kind == OPERAND_REGISTER)
                known[operand->index].writer = in;
            else if (operand->kind == OPERAND_REGISTER ||
                     (operand->kind == OPERAND_ADDRESS && operand->is_register))
                known[operand->index].reader = in;
            if (in->op == OP_call)
                see(f, operand, known, see_varies);
        }
    }
    for (int r = 0; r < f->register_count; r++)
        known[r].varies |= known[r].writers != 1;
}

/* Marks results that vary, in text order. True if any were new. */
static bool look_once(const Function *f, Known *known)
{
    bool news = false;

    for (int i = 0; i < f->instruction_count; i++) {
        const Instruction *in = &f->instructions[i];
        int destinations = destinations_of(in);
        if (!destinations || !result_varies(f, in, destinations, known))
            continue;
        for (int o = 0; o < destinations; o++)
            news |= see(f, &f->operands[in->first + o], known, see_varies);
    }
    return news;
}

/* Repeats until no new varying register is found. That could take as many rounds as the text has
 * lines, so after MOST_ROUNDS all registers count as varying.
 */
static void look_for_variation(const Function *f, Known *known)
{
    enum { MOST_ROUNDS = 40 };
    int rounds = 0;

    while (look_once(f, known) && rounds < MOST_ROUNDS)
        rounds++;
    for (int r = 0; rounds == MOST_ROUNDS && r < f->register_count; r++)
        known[r].varies = true;
}

/* ---- Atomics ---- */

static const Combined *row_of(const Instruction *in)
{
    for (size_t i = 0; i < sizeof combined / sizeof *combined; i++)
        if (has_mod(in, combined[i].mod) && (int) type_size(in->types[0]) == combined[i].bytes &&
            type_is_whole(in->types[0]))
            return &combined[i];
    return NULL;
}

/* The value operand of an atomic: it follows the destination (if any) and the address. */
static const Operand *operand_of(const Function *f, const Instruction *in)
{
    return &f->operands[in->first + destinations_of(in) + 1];
}

static bool result_is_used(const Function *f, const Instruction *in, const Known *known)
{
    const Operand *result = &f->operands[in->first];

    return destinations_of(in) && result->kind == OPERAND_REGISTER && known[result->index].readers;
}

static bool one_does_it(const Function *f, const Instruction *in, const Known *known)
{
    const Combined *row = row_of(in);

    if (!row || in->space == SPACE_GENERIC ||
        (!row->result_may_be_used && result_is_used(f, in, known)))
        return false;
    if (row->operand_must_be_constant && operand_of(f, in)->kind != OPERAND_INTEGER)
        return false;
    return !operand_varies(f, operand_of(f, in) - 1, known);
}

static bool counts_lanes(const Function *f, const Instruction *in, const Known *known)
{
    const Operand *operand = operand_of(f, in);

    return in->space == SPACE_SHARED && has_mod(in, MOD_add) && in->types[0] == TYPE_U32 &&
           operand->kind == OPERAND_INTEGER && operand->bits == 1 && !result_is_used(f, in, known);
}

static Treatment treatment_of_atomic(const Function *f, const Instruction *in, const Known *known)
{
    if (!in->type_count || in->count < destinations_of(in) + 2)
        return AS_WRITTEN;
    if (one_does_it(f, in, known))
        return !result_is_used(f, in, known)                 ? WARP_REDUCED
               : operand_varies(f, operand_of(f, in), known) ? WARP_REDUCED_IF_FULL
                                                             : WARP_REDUCED_WITH_RESULT;
    return counts_lanes(f, in, known) ? ADDRESS_REDUCED : AS_WRITTEN;
}

/* ---- Sums of products ---- */

/* True for add.f32, add.ftz.f32 and add.f64, which do not specify a rounding. */
static bool may_be_fused(const Instruction *in)
{
    return in->type_count && (in->types[0] == TYPE_F32 || in->types[0] == TYPE_F64) &&
           in->mod_count == (has_mod(in, MOD_ftz) ? 1 : 0) && in->guard < 0;
}

/* The multiplication whose product the sum adds, and which becomes part of it; NULL: none. */
static const Instruction *product_of(const Function *f, const Instruction *in, const Known *known)
{
    if (!may_be_fused(in) || in->count != 3)
        return NULL;
    for (int i = 1; i < 3; i++) {
        const Operand *o = &f->operands[in->first + i];
        const Known *k = o->kind == OPERAND_REGISTER ? &known[o->index] : NULL;
        if (k && k->writers == 1 && k->readers == 1 && k->writer && k->writer->op == OP_mul &&
            may_be_fused(k->writer) && k->writer->mod_count == in->mod_count &&
            k->writer->types[0] == in->types[0])
            return k->writer;
    }
    return NULL;
}

/* Another writer of the register after `after`; -1: none. */
static int next_writer(const Function *f, int32_t index, int after)
{
    for (int i = after + 1; i < f->instruction_count; i++) {
        const Instruction *in = &f->instructions[i];
        for (int o = 0; o < destinations_of(in); o++)
            if (has_register(f, &f->operands[in->first + o], index))
                return i;
    }
    return -1;
}

/* True if the source of the multiplication still has its value at the sum: every path from where it
 * is written to the sum passes the multiplication. If that is one place, a path around the
 * multiplication would also lead there from the beginning. */
static bool keeps_source(const Function *f, const Operand *o, int product, int sum,
                         const Known *known)
{
    enum { MOST_WRITERS = 8 }; /* each takes time */

    if (o->kind == OPERAND_INTEGER || o->kind == OPERAND_FLOAT)
        return true;
    if (o->kind != OPERAND_REGISTER || known[o->index].writers > MOST_WRITERS)
        return false;
    if (known[o->index].writers == 1)
        return true;
    for (int i = next_writer(f, o->index, -1); i >= 0; i = next_writer(f, o->index, i))
        if (!always_passes(f, i + 1, product, sum))
            return false;
    return true;
}

static bool keeps_sources(const Function *f, const Instruction *product, const Instruction *sum,
                          const Known *known)
{
    const int from = (int) (product - f->instructions), to = (int) (sum - f->instructions);

    for (int i = 1; i < product->count; i++)
        if (!keeps_source(f, &f->operands[product->first + i], from, to, known))
            return false;
    return product->count == 3 && always_passes(f, 0, from, to);
}

/* ---- Copies ---- */

/* Usually both registers of a copy become one. The machine code keeps both if the source is still
 * read after the copy gets a new value. */
static Treatment treatment_of_copy(const Function *f, const Instruction *in, const Known *known)
{
    const Operand *to = &f->operands[in->first], *from = to + 1;

    if (in->count != 2 || to->kind != OPERAND_REGISTER || !in->type_count ||
        in->types[0] == TYPE_PRED || known[to->index].writers < 2)
        return AS_WRITTEN;
    if (from->kind == OPERAND_INTEGER || from->kind == OPERAND_FLOAT)
        return COPIED;
    return from->kind == OPERAND_REGISTER && known[from->index].writers == 1 &&
                   known[from->index].reader > in
               ? COPIED
               : AS_WRITTEN;
}

static void find_products(const Function *f, const Known *known, uint8_t *treatment, int *product)
{
    enum { MOST_WORK = 50000000 }; /* instructions; a kernel has few such sums */
    long work = 0;

    for (int i = 0; i < f->instruction_count; i++) {
        const Instruction *in = &f->instructions[i];
        const Instruction *mul =
            in->op == OP_add || in->op == OP_sub ? product_of(f, in, known) : NULL;
        if (!mul)
            continue;
        treatment[i] = FUSED;
        work += f->instruction_count;
        if (product && work < MOST_WORK && keeps_sources(f, mul, in, known))
            product[i] = (int) (mul - f->instructions);
    }
}

void find_treatments(const Function *function, uint8_t *treatment, int *product)
{
    Known *known = calloc((size_t) function->register_count + 1, sizeof *known);

    for (int i = 0; product && i < function->instruction_count; i++)
        product[i] = -1;
    if (!known) /* out of memory: counts are then too high */
        return;
    look_at_uses(function, known);
    look_for_variation(function, known);
    for (int i = 0; i < function->instruction_count; i++) {
        const Instruction *in = &function->instructions[i];
        if (in->op == OP_atom || in->op == OP_red)
            treatment[i] = (uint8_t) treatment_of_atomic(function, in, known);
        else if (in->op == OP_mov)
            treatment[i] = (uint8_t) treatment_of_copy(function, in, known);
    }
    find_products(function, known, treatment, product);
    find_absorbed(function, known, treatment);
    free(known);
}
