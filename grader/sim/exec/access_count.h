/* access_count.h - counts the cost of an access: the frequent part, which loads and stores inline.
 */
#ifndef SIM_EXEC_ACCESS_COUNT_H
#define SIM_EXEC_ACCESS_COUNT_H

#include "sim/exec/trace.h"

/* The counters of an allocation at the step's line, which it makes if necessary; NULL if out of
 * memory, in which case the report lacks them. */
ArrayCount *access_find_array(Launch *launch, const Step *step, const Allocation *a, Count *count);

/* The launch's counters of the same allocation and line, which it makes if necessary; NULL if out
 * of memory. */
ArrayCount *array_count_like(Launch *launch, const ArrayCount *array);

/* Of `times` accesses. */
static inline void count_in_array(ArrayCount *array, AccessKind kind, int sectors, int bytes,
                                  uint64_t times)
{
    if (kind == ACCESS_LOAD) {
        array->load_requests += times;
        array->load_sectors += times * (uint64_t) sectors;
        array->load_bytes += times * (uint64_t) bytes;
    } else if (kind == ACCESS_STORE) {
        array->store_requests += times;
        array->store_sectors += times * (uint64_t) sectors;
        array->store_bytes += times * (uint64_t) bytes;
    } else {
        array->atomic_requests += times;
        array->atomic_sectors += times * (uint64_t) sectors;
        array->atomic_bytes += times * (uint64_t) bytes;
    }
}

static inline void access_count_array(Access *x, const Allocation *a, int sectors, int bytes)
{
    Launch *launch = x->warp->block->launch;
    Count *count = count_of(x->warp, x->step);
    ArrayCount *array = count->array_of == a->number ? &launch->arrays[count->array]
                                                     : access_find_array(launch, x->step, a, count);

    if (array)
        count_in_array(array, x->kind, sectors, bytes, 1);
}

static inline void count_request(Count *count, int sectors, int bytes, uint64_t times)
{
    count->requests += times;
    count->sectors += times * (uint64_t) sectors;
    count->bytes += times * (uint64_t) bytes;
}

static inline void access_count_sectors(Access *x, int sectors, int bytes)
{
    count_request(count_of(x->warp, x->step), sectors, bytes, 1);
}

static inline void count_wavefronts(Count *count, const Shape *s, uint64_t times)
{
    count->wavefronts += times * (uint64_t) s->wavefronts;
    count->ideal += times * (uint64_t) s->ideal;
    count->loop_loads += times * (uint64_t) s->loop_loads;
    count->loop_ideal += times * (uint64_t) s->loop_ideal;
    count->rounds += times * (uint64_t) s->rounds;
    count->round_lanes += times * (uint64_t) s->round_lanes;
}

static inline void access_count_shared(Access *x)
{
    count_wavefronts(count_of(x->warp, x->step), x->shape, 1);
}

/* As access_count(), if all lanes access one allocation. Constant and local memory are not counted
 * here: on hardware they have separate caches and counters. */
static inline void access_count_untraced(Access *x)
{
    if (x->space == SPACE_GLOBAL) {
        access_count_sectors(x, x->shape->sectors, x->shape->asked);
        access_count_array(x, x->allocation, x->shape->sectors, x->shape->asked);
    } else if (x->space == SPACE_SHARED) {
        access_count_shared(x);
    }
}

static inline void access_count_one(Access *x)
{
    access_count_untraced(x);
    if (x->warp->trace)
        trace_access(x);
}

#endif
