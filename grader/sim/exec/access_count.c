/* access_count.c - counts the cost of an access, by step and by array. */
#include "sim/exec/access_count.h"

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
static ArrayCount *add_array(Launch *launch, ArrayCount array)
{
    if (launch->array_count == launch->array_room) {
        int room = launch->array_room ? 2 * launch->array_room : 16;
        ArrayCount *arrays = realloc(launch->arrays, (size_t) room * sizeof *arrays);
        if (!arrays)
            return NULL;
        launch->arrays = arrays;
        launch->array_room = room;
    }
    launch->arrays[launch->array_count] = array;
    return &launch->arrays[launch->array_count++];
}

ArrayCount *access_find_array(Launch *launch, const Step *step, const Allocation *a, Count *count)
{
    for (count->array = 0; count->array < launch->array_count; count->array++)
        if (belongs(&launch->arrays[count->array], step, a)) {
            count->array_of = a->number;
            return &launch->arrays[count->array];
        }
    return add_array(launch, (ArrayCount){ .allocation = a->number,
                                           .file = file_of(step),
                                           .line = line_of(step),
                                           .base = a->base,
                                           .size = a->bytes });
}

ArrayCount *array_count_like(Launch *launch, const ArrayCount *like)
{
    for (int i = 0; i < launch->array_count; i++) {
        ArrayCount *array = &launch->arrays[i];
        if (array->allocation == like->allocation && array->line == like->line &&
            array->file == like->file)
            return array;
    }
    return add_array(launch, (ArrayCount){ .allocation = like->allocation,
                                           .file = like->file,
                                           .line = like->line,
                                           .base = like->base,
                                           .size = like->size });
}

/* A request that touches several arrays counts as one request for each of them. */
static void count_each_array(Access *x)
{
    for (uint32_t left = x->mask; left;) {
        Allocation *a = x->of[first_lane(left)];
        uint32_t lanes = 0;
        for (uint32_t other = left; other; other &= other - 1)
            lanes |= (uint32_t) (x->of[first_lane(other)] == a) << first_lane(other);
        access_count_array(x, a, shape_sectors(x->shape, lanes),
                           __builtin_popcount(lanes) * x->bytes);
        left &= ~lanes;
    }
}

void access_count_request(Access *x, int sectors, int bytes)
{
    access_count_sectors(x, sectors, bytes);
    access_count_array(x, x->allocation ? x->allocation : x->of[first_lane(x->mask)], sectors,
                       bytes);
}

void access_count(Access *x)
{
    if (x->space != SPACE_GLOBAL || x->allocation) {
        access_count_one(x);
        return;
    }
    access_count_sectors(x, x->shape->sectors, x->shape->asked);
    count_each_array(x);
    if (x->warp->trace)
        trace_access(x);
}
