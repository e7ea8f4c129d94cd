/* temporaries.c - registers that are written before they are read; those that are used within one
 * basic block only share their planes.
 *
 * PTX has a new register for nearly every result. If each of them had its own plane, a block's
 * registers would not fit into the processor's first cache, and all would have to be cleared when a
 * block begins. A temporary is written, by all active lanes, before it is read, so it needs no
 * clearing; and after its last use another one can take its plane. Registers that the kernel's
 * first basic block writes keep their planes, but need no clearing either.
 *
 * Registers that other lanes may read (shfl, mma ...) are no temporaries: such a read finds the old
 * value even if the lane is elsewhere. Neither are the sources of an f32 or f64 product, because a
 * FUSED addition reads them later. */
#include "sim/exec/code.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

typedef struct Scan {
    const Function *function;
    Life *lives;
    int at, block; /* the current instruction, and the first one of its block */
    bool shares;   /* its operands may be temporaries */
} Scan;

static void see_register(Scan *scan, int reg, bool writes)
{
    Life *life = &scan->lives[reg];

    if (!life->seen) {
        life->seen = true;
        life->first = scan->at;
        life->shares = writes;
        life->is_set = writes && !scan->block;
    }
    life->shares &= scan->shares && life->first >= scan->block;
    life->is_set &= scan->shares;
    life->last = scan->at;
}

static void see_operand(Scan *scan, const Operand *operand, bool writes)
{
    if (operand->kind == OPERAND_REGISTER)
        see_register(scan, operand->index, writes);
    else if (operand->kind == OPERAND_ADDRESS && operand->is_register)
        see_register(scan, operand->index, false);
    else if (operand->kind == OPERAND_VECTOR)
        for (int i = 0; i < operand->count; i++)
            see_operand(scan, &scan->function->operands[operand->first + i], writes);
}

/* Whether each lane only reads and writes its own registers, now. */
static bool is_own(const Instruction *in)
{
    switch (class_of(in)) {
    case CLASS_MOVE:
    case CLASS_INT:
    case CLASS_FP32:
    case CLASS_FP64:
    case CLASS_SFU:
    case CLASS_CONVERT:
        return in->op != OP_elect && !(in->op == OP_mul && class_of(in) != CLASS_INT);
    case CLASS_LOAD:
        return in->op == OP_ld;
    case CLASS_STORE:
        return in->op == OP_st && !has_mod(in, MOD_async);
    default:
        return false;
    }
}

/* Of a shuffle's operands, other lanes only read the value. */
static bool may_share(const Instruction *in, int operand)
{
    const bool is_kept = in->op == OP_shfl && operand == in->roles.destinations;

    return in->roles.known && in->guard < 0 && !is_kept && (is_own(in) || in->op == OP_shfl);
}

/* Sources first: an instruction reads them before it writes. */
static void see_instruction(Scan *scan, const Instruction *in)
{
    const Operand *operands = scan->function->operands + in->first;
    const int written = in->roles.known ? in->roles.destinations : 0;

    for (int i = written; i < in->count + written; i++) {
        const int operand = i < in->count ? i : i - in->count;
        scan->shares = may_share(in, operand);
        see_operand(scan, &operands[operand], operand < written);
    }
}

static void mark(const Function *function, bool *begins, int at)
{
    if (at >= 0 && at < function->instruction_count)
        begins[at] = true;
}

/* Marks where basic blocks begin. */
static void mark_blocks(const Function *f, bool *begins)
{
    for (int i = 0; i < f->instruction_count; i++)
        if (class_of(&f->instructions[i]) == CLASS_CONTROL)
            mark(f, begins, i + 1);
    for (int i = 0; i < f->operand_count; i++)
        if (f->operands[i].kind == OPERAND_LABEL)
            mark(f, begins, f->operands[i].index);
    for (int i = 0; i < f->table_count; i++)
        for (int k = 0; k < f->tables[i].count; k++)
            mark(f, begins, f->tables[i].entries[k]);
}

Life *find_lives(const Function *f)
{
    Life *lives = calloc((size_t) f->register_count + 1, sizeof *lives);
    bool *begins = calloc((size_t) f->instruction_count + 1, sizeof *begins);
    Scan scan = { .function = f, .lives = lives };

    if (lives && begins) {
        mark_blocks(f, begins);
        for (; scan.at < f->instruction_count; scan.at++) {
            if (begins[scan.at])
                scan.block = scan.at;
            see_instruction(&scan, &f->instructions[scan.at]);
        }
    }
    for (int i = 0; i < f->register_count && lives; i++)
        lives[i].shares &=
            f->registers[i].type != TYPE_PRED && type_size(f->registers[i].type) <= 8;
    free(begins);
    return lives;
}

int *last_uses(const Function *f, const Life *lives)
{
    int *last = malloc(((size_t) f->register_count + 1) * sizeof *last);

    for (int i = 0; i < f->register_count && last; i++)
        last[i] = lives[i].shares ? lives[i].last : INT_MAX;
    return last;
}

/* ---- Planes ---- */

static int compare_lives(const void *a, const void *b)
{
    const Life *const *x = a, *const *y = b;

    return ((*x)->first > (*y)->first) - ((*x)->first < (*y)->first);
}

/* Gives planes to `count` temporaries of one width, in the order in which their lives begin. */
static void share(CodeMaker *maker, Life *const *sorted, int count, const Life *lives, int width,
                  int *until)
{
    int used = 0;

    for (int i = 0; i < count; i++) {
        int place = 0;
        while (place < used && until[place] >= sorted[i]->first)
            place++;
        used += place == used;
        until[place] = sorted[i]->last;
        maker->slot[sorted[i] - lives] = maker->code->planes + place * width;
    }
    maker->code->planes += used * width;
}

bool place_temporaries(CodeMaker *maker, Life *lives)
{
    const Function *f = maker->function;
    Life **sorted = calloc((size_t) f->register_count + 1, sizeof *sorted);
    int *until = calloc((size_t) f->register_count + 1, sizeof *until);

    for (int width = 1; width <= 2 && sorted && until; width++) {
        int count = 0;
        for (int i = 0; i < f->register_count; i++)
            if (lives[i].shares && (type_size(f->registers[i].type) > 4) == (width == 2))
                sorted[count++] = &lives[i];
        qsort(sorted, (size_t) count, sizeof *sorted, compare_lives);
        share(maker, sorted, count, lives, width, until);
    }
    const bool well = sorted && until;
    free(sorted);
    free(until);
    return well || refuse(maker, "out of memory");
}
