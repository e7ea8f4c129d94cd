/* access.h - one access of a warp to memory: found, checked and counted; what moves is for others.
 */
#ifndef SIM_EXEC_ACCESS_H
#define SIM_EXEC_ACCESS_H

#include "sim/exec/shape.h"

enum { MOST_LANE_BYTES = 64 };

typedef struct Access Access;
struct Access {
    /* From the caller. */
    Warp *warp;
    const Step *step;
    uint32_t mask;
    Space space; /* not generic: see access_split; shared and local addresses are offsets */
    AccessKind kind;
    int bytes;    /* a lane */
    bool strong;  /* volatile, relaxed, acquire, release, or atomic: made for others to see */
    bool release; /* what was written before is then to be seen, too */
    void (*value)(const Access *access, int lane, uint8_t *bytes); /* of a store; may be NULL */
    _Alignas(64) uint64_t address[LANES];
    /* From access_open: lane i's bytes are at host + delta[i]; lanes that are off have 0. */
    char *host;
    const uint64_t *delta;
    const Shape *shape;     /* of global and shared memory */
    Allocation *allocation; /* of global memory: of all lanes, or NULL */
    Allocation *of[LANES];  /* if that is NULL */
    uint64_t own_delta[LANES];
    bool linear, uniform;
};

/* Finds the memory, checks bounds and alignment, counts, and shows it to the launch's observers.
 * False: a finding was reported, the kernel ends. */
bool access_open(Access *access);

/* Finds it and checks bounds and alignment, no more. */
bool access_find(Access *access);

/* Counts it, for copies that read at one time and write at another. */
void access_count(Access *access);

/* Of a generic access: those of `mask` in the same space as the first lane. Their addresses become
 * offsets in that space. */
uint32_t access_split(Access *access, uint32_t mask);

/* The addresses in a plane, plus the offset of the step. */
void access_addresses(uint64_t address[LANES], Warp *warp, int slot, int size, int64_t offset);

/* "reads", "writes", "updates" */
const char *access_verb(const Access *access);

bool is_strong(const Instruction *in);
bool is_release(const Instruction *in);

/* ---- sim/exec/ops/async.c: whether a copy to these bytes of shared memory is still under way; its
 * step
 * ---- */

const Step *async_pending(const Block *block, uint64_t offset, int bytes);

bool bind_atomic(Step *step, const Instruction *in);
bool bind_async(Step *step, const Instruction *in);

#endif
