/* fixed.h - shared by fixed.c and moved_find.c. */
#ifndef SIM_EXEC_FIXED_H
#define SIM_EXEC_FIXED_H

#include "sim/exec/code.h"

enum { NO_WRITER = -1, MANY_WRITERS = -2, MOST_FIXED = 64 /* registers */, MOST_TRIES = 256 };

typedef struct Jump {
    int from, to;
} Jump;

typedef struct Finder {
    CodeMaker *maker;
    const Function *function;
    Life *lives;
    int *writer;                 /* by register: the instruction that writes it */
    int *first_read, *last_read; /* by register: the instructions that read it first and last */
    Jump *jumps;
    int jump_count, count, moved_count, tries;
} Finder;

/* fixed.c: whether the operand has the same value in every block; a copy of a special register that
 * differs between blocks has not. */
bool is_fixed_source(const Finder *finder, const Operand *operand);

/* moved_find.c: whether all sources are fixed or move, and the result moves with them. */
bool moves_with_block(const Finder *finder, const Instruction *in);
/* Keeps those of maker->moved that save work, and numbers their registers. */
void keep_useful_moves(Finder *finder);

#endif
