/* timing_logic.c - logical operations that ptxas puts together: LOP3 computes any function of three
 * words.
 *
 * An operation whose only use is to go into another one is part of that, if the two have no more
 * than three different words to be computed from.
 */
#include "timing_ops.h"

#include <stdlib.h>

enum { MOST_WORDS = 3 };

/* What a result is computed from: registers, and constants. Too many: count is more than
 * MOST_WORDS. */
typedef struct Words {
    const Operand *word[MOST_WORDS];
    int count;
} Words;

typedef struct Logic {
    Maker *maker;
    Words *words; /* by step */
    int *uses;    /* by register */
} Logic;

static bool is_logic(const Instruction *in)
{
    const bool logic =
        in && (in->op == OP_and || in->op == OP_or || in->op == OP_xor || in->op == OP_not);

    return logic && in->guard < 0 && in->count > 1 && in->count <= MOST_WORDS && in->type_count &&
           in->types[0] != TYPE_PRED && type_size(in->types[0]) == 4;
}

static bool is_same(const Operand *a, const Operand *b)
{
    if (a->kind != b->kind)
        return false;
    return a->kind == OPERAND_REGISTER ? a->index == b->index : a->bits == b->bits;
}

static void add_word(Words *words, const Operand *o)
{
    for (int i = 0; i < words->count && i < MOST_WORDS; i++)
        if (is_same(words->word[i], o))
            return;
    if (words->count < MOST_WORDS)
        words->word[words->count] = o;
    words->count++;
}

/* The step before `in` whose result it is, and which may become part of `in`; -1: none. */
static int part_of(const Logic *logic, const Instruction *in, const Operand *o)
{
    const Maker *maker = logic->maker;
    const Instruction *writer = o->kind == OPERAND_REGISTER ? maker->writer[o->index] : NULL;

    return writer && writer < in && is_logic(writer) && logic->uses[o->index] == 1
               ? (int) (writer - maker->function->instructions)
               : -1;
}

/* With those of its operands taken in that `which` has a bit of. */
static Words words_of(const Logic *logic, const Instruction *in, unsigned which)
{
    Words words = { .count = 0 };

    for (int i = 1; i < in->count; i++) {
        const Operand *o = operand_of(logic->maker, in, i);
        const int part = which & 1u << i ? part_of(logic, in, o) : -1;
        if (part < 0)
            add_word(&words, o);
        for (int k = 0; part >= 0 && k < logic->words[part].count; k++)
            add_word(&words, logic->words[part].word[k]);
    }
    return words;
}

/* Both operands if that can be, else the first, else the second. */
static void take_in(Logic *logic, int step)
{
    static const unsigned choices[] = { 6, 2, 4, 0 };
    const Instruction *in = logic->maker->code->steps[step].in;
    size_t choice = 0;

    while (words_of(logic, in, choices[choice]).count > MOST_WORDS && choices[choice])
        choice++;
    logic->words[step] = words_of(logic, in, choices[choice]);
    for (int i = 1; i < in->count; i++) {
        const int part =
            choices[choice] & 1u << i ? part_of(logic, in, operand_of(logic->maker, in, i)) : -1;
        if (part >= 0)
            logic->maker->absorbed[part] = true;
    }
}

static void count_uses(Logic *logic, const Operand *o)
{
    if (o->kind == OPERAND_REGISTER || (o->kind == OPERAND_ADDRESS && o->is_register))
        logic->uses[o->index]++;
}

bool find_absorbed(Maker *maker)
{
    const Function *f = maker->function;
    Logic logic = { .maker = maker,
                    .words = calloc((size_t) maker->code->step_count + 1, sizeof *logic.words),
                    .uses = calloc((size_t) f->register_count + 1, sizeof *logic.uses) };
    const bool well = logic.words && logic.uses;

    /* A result is among the operands of who writes it, too. */
    for (int i = 0; i < f->register_count && well; i++)
        logic.uses[i] = -1;
    for (int i = 0; i < f->operand_count && well; i++)
        count_uses(&logic, &f->operands[i]);
    for (int i = 0; i < f->instruction_count && well; i++)
        if (f->instructions[i].guard >= 0)
            logic.uses[f->instructions[i].guard]++;
    for (int i = 0; i < maker->code->step_count && well; i++)
        if (is_logic(maker->code->steps[i].in))
            take_in(&logic, i);
    free(logic.words);
    free(logic.uses);
    return well;
}
