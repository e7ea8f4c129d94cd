/* access_count.c - what an access costs, and whether what it reads was ever written. */
#include "access.h"
#include "bits.h"

#include <stdio.h>
#include <stdlib.h>

static const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

/* ---- Requests, sectors, wavefronts ---- */

/* NULL: no memory for it; then it is missing in the report. */
static ArrayCount *array_of(Launch *launch, Allocation *a)
{
    int *place = &a->array;

    if (*place < launch->array_count && launch->arrays[*place].allocation == a->number)
        return &launch->arrays[*place];
    for (*place = 0; *place < launch->array_count; ++*place)
        if (launch->arrays[*place].allocation == a->number)
            return &launch->arrays[*place];
    if (launch->array_count == launch->array_room) {
        int room = launch->array_room ? 2 * launch->array_room : 16;
        ArrayCount *arrays = realloc(launch->arrays, (size_t) room * sizeof *arrays);
        if (!arrays)
            return *place = 0, NULL;
        launch->arrays = arrays;
        launch->array_room = room;
    }
    launch->arrays[launch->array_count] =
        (ArrayCount){ .allocation = a->number, .base = a->base, .size = a->bytes };
    return &launch->arrays[launch->array_count++];
}

static void count_array(Access *x, Allocation *a, int sectors, int bytes)
{
    ArrayCount *array = array_of(x->warp->block->launch, a);

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

/* One request that goes to several arrays is one of each of them. */
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

static void count_global(Access *x)
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

static void count_shared(Access *x)
{
    Count *count = count_of(x->warp, x->step);

    count->wavefronts += (uint64_t) x->shape->wavefronts;
    count->ideal += (uint64_t) x->shape->ideal;
    count->loop_loads += (uint64_t) x->shape->loop_loads;
}

/* Constant memory has a cache and counters of its own on hardware; local memory, too. */
void access_count(Access *x)
{
    if (x->space == SPACE_GLOBAL)
        count_global(x);
    else if (x->space == SPACE_SHARED)
        count_shared(x);
}

/* ---- What is written ---- */

static void tell_unwritten_global(const Access *x, int lane)
{
    char where[300];

    memory_describe(x->address[lane], (size_t) x->bytes, where, sizeof where);
    warn(x->warp, x->step, lane, FINDING_UNINITIALISED,
         "%s %d byte%s at 0x%llx, %s, which nothing has written", access_verb(x), x->bytes,
         plural((uint64_t) x->bytes), (unsigned long long) x->address[lane], where);
}

static void tell_unwritten_shared(const Access *x, int lane)
{
    const Step *copy = async_pending(x->warp->block, x->address[lane], x->bytes);

    if (copy && copy->in)
        warn(x->warp, x->step, lane, FINDING_UNINITIALISED,
             "%s %d byte%s of shared memory at %llu, where the cp.async of line %d is still under "
             "way: wait for it first",
             access_verb(x), x->bytes, plural((uint64_t) x->bytes),
             (unsigned long long) x->address[lane], copy->in->line);
    else
        warn(x->warp, x->step, lane, FINDING_UNINITIALISED,
             "%s %d byte%s of shared memory at %llu, which no thread has written", access_verb(x),
             x->bytes, plural((uint64_t) x->bytes), (unsigned long long) x->address[lane]);
}

/* Only the first lane of those that read what is not there is told. */
static void check_lanes(Access *x, bool mark, bool ask)
{
    bool told = !ask;

    for (uint32_t left = x->shape->leaders & x->mask; left; left &= left - 1) {
        int lane = first_lane(left);
        const Allocation *a = x->space == SPACE_SHARED ? NULL
                              : x->allocation          ? x->allocation
                                                       : x->of[lane];
        uint8_t *written = a ? a->written : x->warp->block->shared_written;
        size_t at = x->address[lane] - (a ? a->base : 0);
        if (written && !told && !bits_all(written, at, (size_t) x->bytes, true)) {
            told = true;
            if (a)
                tell_unwritten_global(x, lane);
            else
                tell_unwritten_shared(x, lane);
        }
        if (written && mark)
            bits_fill(written, at, (size_t) x->bytes, true);
    }
}

void access_check_written(Access *x)
{
    const Launch *launch = x->warp->block->launch;
    bool shared = x->space == SPACE_SHARED;
    uint8_t *written = shared          ? x->warp->block->shared_written
                       : x->allocation ? x->allocation->written
                                       : NULL;
    bool ask = launch->check_uninitialised && x->kind != ACCESS_STORE;
    bool mark = x->kind != ACCESS_LOAD;

    if (!written && (shared || x->allocation))
        return;
    if (!ask && !mark)
        return;
    if (!x->linear)
        return check_lanes(x, mark, ask);
    size_t at = x->address[0] - (shared ? 0 : x->allocation->base);
    size_t bytes = (size_t) x->bytes * LANES;
    if (ask && !bits_all(written, at, bytes, true))
        check_lanes(x, mark, ask);
    else if (mark)
        bits_fill(written, at, bytes, true);
}
