/* mbarrier.h - shared by mbarrier.c, bulk.c and async.c: arrivals at barriers in shared memory. */
#ifndef SIM_EXEC_OPS_MBARRIER_H
#define SIM_EXEC_OPS_MBARRIER_H

#include "sim/exec/access.h"

/* An access to the mbarriers at these addresses, found but not yet passed to the observers. Returns
 * false if a finding was reported. */
bool mbarrier_find(Access *x, Warp *warp, const Step *step, uint32_t mask,
                   const uint64_t address[LANES], AccessKind kind);
/* The lane's mbarrier. */
char *mbarrier_at(const Access *x, int lane);

/* Changes of a phase: arrivals that are done (pending) or no longer expected (dropped), and bytes
 * that are expected (or, negative, have arrived). Returns false if a finding was reported. */
typedef struct Arrival {
    int64_t pending, dropped, bytes;
} Arrival;
bool mbarrier_change(const Access *x, int lane, Arrival arrival);

/* For cp.async.mbarrier.arrive: one more or one less pending arrival. */
bool mbarrier_count(Warp *warp, const Step *step, int lane, uint64_t address, int arrivals);

/* Completes what this mbarrier waits for: copies of the block's cp.async, and bulk copies. */
void async_deliver(Block *block, const char *barrier);
void bulk_deliver(Block *block, const char *barrier);

bool bind_bulk(Step *step, const Instruction *in);

#endif
