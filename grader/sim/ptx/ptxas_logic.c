/* ptxas_logic.c - operations that ptxas merges.
 *
 * LOP3 computes any function of three words: a logical operation whose only reader is another one
 * is merged into it if both together have at most three different input words. LOP3 also tests the
 * result for 0. LEA adds two operands and shifts one of them.
 */
#include "sim/ptx/ptxas.h"

#include <stdlib.h>

enum { MOST_WORDS = 3 };

/* The registers and constants from which a result is computed. If there are too many, count exceeds
 * MOST_WORDS. */
typedef struct Words {
    const Operand *word[MOST_WORDS];
    int count;
} Words;

typedef struct Logic {
    const Function *function;
    const Known *known;
    Words *words; /* for each instruction */
} Logic;

static bool is_logic(const Instruction *in)
{
    const bool logic = in->op == OP_and || in->op == OP_or || in->op == OP_xor || in->op == OP_not;

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

/* The instruction before `in` that computes operand `o` and may be merged into `in`; -1: none. */
static int part_of(const Logic *logic, const Instruction *in, const Operand *o)
{
    const Known *known = o->kind == OPERAND_REGISTER ? &logic->known[o->index] : NULL;
    const Instruction *writer = known && known->writers == 1 ? known->writer : NULL;

    return writer && writer < in && is_logic(writer) && known->readers == 1
               ? (int) (writer - logic->function->instructions)
               : -1;
}

/* The input words of `in` if the operands whose bits are set in `which` are merged into it. */
static Words words_of(const Logic *logic, const Instruction *in, unsigned which)
{
    Words words = { .count = 0 };

    for (int i = 1; i < in->count; i++) {
        const Operand *o = &logic->function->operands[in->first + i];
        const int part = which & 1u << i ? part_of(logic, in, o) : -1;
        if (part < 0)
            add_word(&words, o);
        for (int k = 0; part >= 0 && k < logic->words[part].count; k++)
            add_word(&words, logic->words[part].word[k]);
    }
    return words;
}

/* Merges both operands if possible, else the first, else the second. */
static void take_in(const Logic *logic, int at, uint8_t *treatment)
{
    static const unsigned choices[] = { 6, 2, 4, 0 };
    const Instruction *in = &logic->function->instructions[at];
    size_t choice = 0;

    while (words_of(logic, in, choices[choice]).count > MOST_WORDS && choices[choice])
        choice++;
    logic->words[at] = words_of(logic, in, choices[choice]);
    for (int i = 1; i < in->count; i++) {
        const Operand *o = &logic->function->operands[in->first + i];
        const int part = choices[choice] & 1u << i ? part_of(logic, in, o) : -1;
        if (part >= 0)
            treatment[part] = ABSORBED;
    }
}

/* The addition that is the only reader of a shift and includes it (LEA); -1: none. */
static int sum_of(const Function *f, const Known *known, const Instruction *in)
{
    const Operand *o = &f->operands[in->first];
    const Known *shifted = in->op == OP_shl && in->guard < 0 && in->count == 3 &&
                                   o->kind == OPERAND_REGISTER && o[2].kind == OPERAND_INTEGER
                               ? &known[o->index]
                               : NULL;

    return shifted && type_size(in->types[0]) == 4 && shifted->writers == 1 &&
                   shifted->readers == 1 && shifted->reader > in && shifted->reader->op == OP_add
               ? (int) (shifted->reader - f->instructions)
               : -1;
}

/* LOP3 also tests whether its result is 0. */
static bool is_tested(const Function *f, const Known *known, const Instruction *in)
{
    const Operand *o = &f->operands[in->first];
    const bool asks = in->op == OP_setp && in->guard < 0 && in->count == 3 &&
                      (has_mod(in, MOD_eq) || has_mod(in, MOD_ne)) &&
                      o[1].kind == OPERAND_REGISTER && o[2].kind == OPERAND_INTEGER && !o[2].bits;
    const Known *asked = asks ? &known[o[1].index] : NULL;

    /* The elements of a vector load do not have a single writer each. */
    return asked && asked->writers == 1 && asked->writer && asked->writer < in &&
           is_logic(asked->writer);
}

/* Joins at most one shift per addition. */
static void find_joined(const Function *f, const Known *known, uint8_t *treatment)
{
    int last_sum = -1;

    for (int i = 0; i < f->instruction_count; i++) {
        const int sum = sum_of(f, known, &f->instructions[i]);
        if (is_tested(f, known, &f->instructions[i]) || (sum >= 0 && sum != last_sum))
            treatment[i] = JOINED;
        if (sum >= 0)
            last_sum = sum;
    }
}

void find_absorbed(const Function *function, const Known *known, uint8_t *treatment)
{
    const size_t count = (size_t) function->instruction_count;
    const Logic logic = { function, known, calloc(count + 1, sizeof *logic.words) };

    for (int i = 0; i < function->instruction_count && logic.words; i++)
        if (is_logic(&function->instructions[i]))
            take_in(&logic, i, treatment);
    find_joined(function, known, treatment);
    free(logic.words);
}
