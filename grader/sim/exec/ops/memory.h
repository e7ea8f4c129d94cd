/* memory.h - shared by the handlers of ld and st: memory.c, memory_again.c, memory_indexed.c. */
#ifndef SIM_EXEC_OPS_MEMORY_H
#define SIM_EXEC_OPS_MEMORY_H

#include "sim/exec/access_count.h"
#include "sim/exec/ahead.h"
#include "sim/exec/ops/handlers.h"

/* ---- memory.c ---- */

enum { MOVER_UNSIGNED, MOVER_STORE, MOVER_SIGNED }; /* Step.memory.mover */

/* Any access. */
void memory_run(Warp *warp, const Step *step, uint32_t mask, AccessKind kind);
/* Moves the data of an access that was opened. */
void memory_move(const Access *access);
/* The bytes that a lane stores. */
void memory_lane_value(const Access *access, int lane, uint8_t *bytes);

/* Sets everything but the addresses. */
INLINE void memory_begin(Access *x, Warp *warp, const Step *step, uint32_t mask, AccessKind kind)
{
    x->warp = warp;
    x->step = step;
    x->mask = mask;
    x->space = (Space) step->space;
    x->kind = kind;
    x->bytes = step->size * step->vector;
    x->strong = step->memory.strong;
    x->release = step->memory.release;
    x->value = kind == ACCESS_STORE ? memory_lane_value : NULL;
}

/* ---- memory_again.c ---- */

/* The handler for global or shared memory. */
Run *memory_again(const Step *step, AccessKind kind);
/* The handler for accesses that an observer's load_again or store_again has refused. */
Run *memory_refused(AccessKind kind);

/* ---- memory_indexed.c ---- */

/* The handler for a mul.wide that begins an address, whose add and access follow; NULL: none. */
Run *memory_indexed(const Step *access);

#endif
