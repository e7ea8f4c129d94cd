/* repeats.c - adds the costs of repeated accesses to the counters of their launch. */
#include "sim/exec/repeats.h"
#include "sim/exec/access_count.h"

void repeats_begin(Shape *s, Launch *launch, Count *count)
{
    s->launch = launch;
    s->count = count;
    if (!s->is_listed)
        thread_shapes->repeated[thread_shapes->repeated_count++] = s;
    s->is_listed = true;
}

static void add(const Shape *s)
{
    const uint64_t times = s->repeats;

    if (s->space == SPACE_SHARED) {
        count_wavefronts(s->count, s, times);
        return;
    }
    count_request(s->count, s->sectors, s->asked, times);
    count_in_array(&s->launch->arrays[s->count->array], (AccessKind) s->kind, s->sectors, s->asked,
                   times);
}

void repeats_end(Shape *s)
{
    if (s->repeats)
        add(s);
    s->repeats = s->room = 0;
}

void repeats_end_all(void)
{
    for (int i = 0; i < thread_shapes->repeated_count; i++) {
        repeats_end(thread_shapes->repeated[i]);
        thread_shapes->repeated[i]->is_listed = false;
    }
    thread_shapes->repeated_count = 0;
}
