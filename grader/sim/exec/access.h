/* access.h - one access of a warp to memory: resolved, checked and counted here; callers move
 * the data. */
#ifndef SIM_EXEC_ACCESS_H
#define SIM_EXEC_ACCESS_H

#include "sim/exec/shape.h"

enum { MOST_LANE_BYTES = 64 };

typedef struct Access Access;
struct Access {
    /* Set by the caller. */
    Warp *warp;
    const Step *step;
    uint32_t mask;
    Space space; /* not generic: see access_split; shared and local addresses are offsets */
    AccessKind kind;
    int bytes;    /* per lane */
    bool strong;  /* volatile, relaxed, acquire, release, or atomic: meant to be visible to other
                     threads */
    bool release; /* also makes earlier writes visible to other threads */
    void (*value)(const Access *access, int lane, uint8_t *bytes); /* the bytes that a store writes;
                                                                    * may be NULL */
    _Alignas(64) uint64_t address[LANES];
    /* Set by access_open: lane i's bytes are at host + delta[i]; inactive lanes have 0. */
    char *host;
    const uint64_t *delta;
    const Shape *shape;     /* for global and shared memory */
    Allocation *allocation; /* for global memory: the allocation of all lanes, or NULL */
    Allocation *of[LANES];  /* each lane's allocation, if that is NULL */
    uint64_t own_delta[LANES];
    bool linear, uniform;
    bool remote; /* shared memory of other blocks of the cluster: shared addresses from PEER_SHARED
                    on */
};

/* The shared memory of the block with rank r of the cluster begins at this address times r + 1. */
#define PEER_SHARED (1u << 24)

/* Finds the memory, checks bounds and alignment, counts the access and passes it to the launch's
 * observers. Returns false if a finding was reported; the kernel then ends. */
bool access_open(Access *access);

/* Only finds the memory and checks bounds and alignment. */
bool access_find(Access *access);

/* Passes the access to the observers. They do not see shared memory of other blocks. */
void access_observe(Access *access);

/* Only counts: for copies that read at one time and write at another. */
void access_count(Access *access);

/* Counts a request for global memory that consists of several accesses, of which this is one. */
void access_count_request(Access *access, int sectors, int bytes);

/* For a generic access: returns the lanes of `mask` in the same memory space as the first lane,
 * and turns their addresses into offsets in that space. */
uint32_t access_split(Access *access, uint32_t mask);

/* The addresses in a plane plus the step's offset. */
void access_addresses(uint64_t address[LANES], Warp *warp, int slot, int size, int64_t offset);

/* "reads", "writes", "updates" */
const char *access_verb(const Access *access);

bool is_strong(const Instruction *in);
bool is_release(const Instruction *in);

/* ---- sim/exec/ops/async.c ----
 *
 * The step of a copy to these bytes of shared memory that is still in flight; NULL: none. */

const Step *async_pending(const Block *block, uint64_t offset, int bytes);

/* mbarrier.c: the same for a bulk copy. */
const Step *bulk_pending(const Block *block, uint64_t offset, int bytes);

bool bind_atomic(Step *step, const Instruction *in);
bool bind_async(Step *step, const Instruction *in);

#endif
