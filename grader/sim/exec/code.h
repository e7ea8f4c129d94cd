/* code.h - shared by the parts of code_make(): code.c, layout.c, operands.c. */
#ifndef SIM_EXEC_CODE_H
#define SIM_EXEC_CODE_H

#include "sim/exec/exec.h"
#include "sim/ptx/roles.h"

enum { MOST_BARE = 256 }; /* steps whose handlers call each other */

/* Predicates 0 and 1 of a frame are the constants; predicate 2 receives unused results (_). */
enum { PREDICATE_FALSE, PREDICATE_TRUE, PREDICATE_UNWANTED, FIRST_PREDICATE };

enum {
    MOST_PLANES = 1 << 16,    /* per frame: 8 MiB per warp */
    MOST_CONSTANTS = 1 << 20, /* planes */
    SPARE_PLANES = 4,         /* after the last register, so that a handler that reads a wider value
                               * stays in bounds */
    MOST_PARAM = 1 << 16,     /* bytes of variables of each kind */
    MOST_SHARED = 1 << 20,
    MOST_LOCAL = 1 << 19 /* CUDA's own limit */
};

typedef struct PlaneConstant {
    uint64_t bits;
    int size, plane; /* size 0: a free slot of the table */
} PlaneConstant;

typedef struct CodeMaker {
    Code *code;
    const Module *module;
    const Function *function;
    int *slot;                /* by register: plane, or predicate */
    int unwanted;             /* plane that receives unused results */
    PlaneConstant *constants; /* hash table */
    int constants_room, constants_used, constant_planes;
    char *why;
    size_t why_size;
    bool refused;
    int fragments_room;
    bool *fixed, *moved; /* by instruction */
    struct Life *lives;  /* by register */
} CodeMaker;

/* Returns false, with `why` filled in. */
bool refuse(CodeMaker *maker, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* layout.c: assigns places to param, shared and local variables, registers and special registers.
 */
bool lay_out(CodeMaker *maker, const Code *kernel);
bool is_kernel_param(const CodeMaker *maker, int variable);

/* temporaries.c: the instructions between which a register is used. */
typedef struct Life {
    int first, last;
    bool seen, shares; /* shares: it is a temporary, which may share its plane */
    bool is_set;       /* by the function's first basic block, which all lanes execute first */
    bool is_fixed;     /* fixed.c: it keeps its value while a block runs, */
    bool differs;      /* but other blocks have other values */
    bool is_alike;     /* fixed, and all lanes have the same value */
    int special;       /* it has the plane of a special register; 0: not */
    bool moves;        /* moved.h: so does its value with the block; */
    bool is_wanted;    /* what reads it can do without its value */
    bool needs_value;  /* but something else cannot */
    int moved, base;   /* 1 + its number; its plane in block 0 */
} Life;
Life *find_lives(const Function *function); /* by register; the caller frees it */
bool place_temporaries(CodeMaker *maker, Life *lives);
int *last_uses(const Function *function, const Life *lives); /* Code.last_use */

/* fixed.c: finds fixed registers and instructions; takes the steps of these out of the sequences;
 * and runs them, for the lanes that the warp has. */
bool find_fixed(CodeMaker *maker, Life *lives);
bool set_fixed(CodeMaker *maker);
void fixed_fill(Warp *warp, uint32_t lanes);

void find_indexed(CodeMaker *maker); /* indexed.c */

/* moved.c: binds the steps of moved registers, and those that can do without their values. */
bool set_moved(CodeMaker *maker);
/* moved_find.c: the moved register that this instruction can read without its value; -1: none. */
int moved_source(const CodeMaker *maker, const Instruction *in);
bool is_skipped(const CodeMaker *maker, int at); /* nothing needs the value that it writes */
bool moved_widens(const Instruction *in);        /* from 32 to 64 bits */

/* operands.c: returns false if this instruction is not supported (that is reported when it is
 * executed), or with `why` filled in. */
bool fill_operands(CodeMaker *maker, Step *step);
bool fill_constants(CodeMaker *maker); /* the planes, once all constants are known */

/* turn.c: lets rows go through a shuffle or a branch that no lane takes, or to the first step of a
 * loop. */
void bind_in_row(Step *step);

/* sim/exec/ops/control.c: the step after the last instruction. */
void run_end(Warp *warp, const Step *step, uint32_t mask);

/* For a callee: shared variables have the same addresses as in `kernel`. */
Code *code_make_for(const Code *kernel, const Module *module, int function,
                    const uint64_t *variable_address, char *why, size_t size);

/* special.c: bytes per lane, 4 or 8; 0: unknown register. Clocks are read at each use. */
int special_bytes(Special special);
bool special_is_clock(Special special);
void special_fill(Warp *warp, const Code *code,
                  uint8_t *registers); /* the special planes of a frame */
void special_list(Code *code);         /* sets block_specials */
void special_of_block(Block *block);   /* sets block->specials */
void special_fill_block(Warp *warp);   /* the special planes of the kernel that differ between
                                        * blocks */
void run_clock(Warp *warp, const Step *step, uint32_t mask);

#endif
