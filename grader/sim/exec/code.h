/* code.h - what the parts of code_make() share: code.c, layout.c, operands.c. */
#ifndef SIM_EXEC_CODE_H
#define SIM_EXEC_CODE_H

#include "sim/exec/exec.h"
#include "sim/ptx/roles.h"

/* Predicates 0 and 1 of a frame are the constants, 2 takes what nobody wants (_). */
enum { PREDICATE_FALSE, PREDICATE_TRUE, PREDICATE_UNWANTED, FIRST_PREDICATE };

enum {
    MOST_PLANES = 1 << 16,    /* of a frame: 8 MiB a warp */
    MOST_CONSTANTS = 1 << 20, /* planes */
    SPARE_PLANES = 4,     /* behind the last register: a handler that reads wider stays inside */
    MOST_PARAM = 1 << 16, /* bytes of variables of each kind */
    MOST_SHARED = 1 << 20,
    MOST_LOCAL = 1 << 19 /* CUDA's own limit */
};

typedef struct Constant {
    uint64_t bits;
    int size, plane; /* size 0: a free place of the table */
} Constant;

typedef struct Maker {
    Code *code;
    const Module *module;
    const Function *function;
    int *slot;           /* by register: plane, or predicate */
    int unwanted;        /* plane that takes what nobody wants */
    Constant *constants; /* hash table */
    int constants_room, constants_used, constant_planes;
    char *why;
    size_t why_size;
    bool refused;
} Maker;

/* False, with `why` filled in. */
bool refuse(Maker *maker, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* layout.c: places of param, shared and local variables, of registers and special registers. */
bool lay_out(Maker *maker, const Code *kernel);
bool is_kernel_param(const Maker *maker, int variable);

/* operands.c: false: this instruction can't be done as it stands (it is told when it is reached),
 * or `why` is filled in. */
bool fill_operands(Maker *maker, Step *step);
bool fill_constants(Maker *maker); /* the planes, once all are known */

/* sim/exec/ops/control.c: the step behind the last instruction. */
void run_end(Warp *warp, const Step *step, uint32_t mask);

/* For a callee: shared variables lie where those of `kernel` do. */
Code *code_make_for(const Code *kernel, const Module *module, int function,
                    const uint64_t *variable_address, char *why, size_t size);

/* special.c: bytes a lane, 4 or 8; 0: not known here. A clock is read anew each time. */
int special_bytes(Special special);
bool special_is_clock(Special special);
void special_fill(Warp *warp, const Code *code, uint8_t *registers); /* the planes of a frame */
void special_fill_block(Warp *warp); /* those of the kernel that differ from block to block */
void run_clock(Warp *warp, const Step *step, uint32_t mask);

#endif
