/* access_count.c - counts the cost of an access. */
#include "sim/exec/access.h"
#include "sim/exec/trace.h"

#include <stdlib.h>

/* ---- Requests, sectors, wavefronts ---- */

static int file_of(const Step *step)
{
    return step->in ? step->in->charged_file : 0;
}

static int line_of(const Step *step)
{
    if (!step->in)
        return 0;
    return step->in->charged_file ? step->in->charged_line : step->in->ptx_line;
}

static bool belongs(const ArrayCount *array, const Step *step, const Allocation *a)
{
    return array->allocation == a->number && array->line == line_of(step) &&
           array->file == file_of(step);
}

/* Returns NULL if out of memory. */
static ArrayCount *add_array(Launch *launch, const Step *step, const Allocation *a)
{
    if (launch->array_count == launch->array_room) {
        int room = launch->array_room ? 2 * launch->array_room : 16;
        ArrayCount *arrays = realloc(launch->arrays, (size_t) room * sizeof *arrays);
        if (!arrays)
            return NULL;
        launch->arrays = arrays;
        launch->array_room = room;
    }
    launch->arrays[launch->array_count] = (ArrayCount){ .allocation = a->number,
                                                        .file = file_of(step),
                                                        .line = line_of(step),
                                                        .base = a->base,
                                                        .size = a->bytes };
    return &launch->arrays[launch->array_count++];
}

/* Returns the counters of the array at the step's line; NULL if out of memory, in which case the
 * report lacks them. */
static __attribute__((noinline)) ArrayCount *find_array(Launch *launch, const Step *step,
                                                        const Allocation *a, Count *count)
{
    for (count->array = 0; count->array < launch->array_count; count->array++)
        if (belongs(&launch->arrays[count->array], step, a)) {
            count->array_of = a->number;
            return &launch->arrays[count->array];
        }
    return add_array(launch, step, a);
}

static inline void count_array(Access *x, Allocation *a, int sectors, int bytes)
{
    Launch *launch = x->warp->block->launch;
    Count *count = count_of(x->warp, x->step);
    ArrayCount *array = count->array_of == a->number ? &launch->arrays[count->array]
                                                     : find_array(launch, x->step, a, count);

    if (!array)
        return;
    if (x->kind == ACCESS_LOAD) {
        array->load_requests++;
        array->load_sectors += (uint64_t) sectors;
        array->load_bytes += (uint64_t) bytes;
    } else if (x->kind == ACCESS_STORE) {
        array->store_requests++;
        array->store_sectors += (uint64_t) sectors;
        array->store_bytes += (uint64_t) bytes;
    } else {
        array->atomic_requests++;
        array->atomic_sectors += (uint64_t) sectors;
        array->atomic_bytes += (uint64_t) bytes;
    }
}

/* A request that touches several arrays counts as one request for each of them. */
static void count_each_array(Access *x)
{
    for (uint32_t left = x->mask; left;) {
        Allocation *a = x->of[first_lane(left)];
        uint32_t lanes = 0;
        for (uint32_t other = left; other; other &= other - 1)
            lanes |= (uint32_t) (x->of[first_lane(other)] == a) << first_lane(other);
        count_array(x, a, shape_sectors(x->shape, lanes), __builtin_popcount(lanes) * x->bytes);
        left &= ~lanes;
    }
}

static inline void count_global(Access *x)
{
    Count *count = count_of(x->warp, x->step);
    int bytes = x->shape->asked;

    count->requests++;
    count->sectors += (uint64_t) x->shape->sectors;
    count->bytes += (uint64_t) bytes;
    if (x->allocation)
        count_array(x, x->allocation, x->shape->sectors, bytes);
    else
        count_each_array(x);
}

void access_count_request(Access *x, int sectors, int bytes)
{
    Count *count = count_of(x->warp, x->step);
    Allocation *a = x->allocation ? x->allocation : x->of[first_lane(x->mask)];

    count->requests++;
    count->sectors += (uint64_t) sectors;
    count->bytes += (uint64_t) bytes;
    count_array(x, a, sectors, bytes);
}

static void count_shared(Access *x)
{
    Count *count = count_of(x->warp, x->step);

    count->wavefronts += (uint64_t) x->shape->wavefronts;
    count->ideal += (uint64_t) x->shape->ideal;
    count->loop_loads += (uint64_t) x->shape->loop_loads;
    count->loop_ideal += (uint64_t) x->shape->loop_ideal;
    count->rounds += (uint64_t) x->shape->rounds;
    count->round_lanes += (uint64_t) x->shape->round_lanes;
}

/* Constant and local memory are not counted here: on hardware they have separate caches and
 * counters. */
void access_count(Access *x)
{
    if (x->space == SPACE_GLOBAL)
        count_global(x);
    else if (x->space == SPACE_SHARED)
        count_shared(x);
    if (x->warp->trace)
        trace_access(x);
}
