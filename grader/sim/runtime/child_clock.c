/* child_clock.c - when the children of kernels run in modelled time.
 *
 * A child begins after the end of its parent, and when the child before it in its stream is
 * complete; a tail launch when all other children of its parent are. A kernel is complete at the
 * end of a mark that comes after it and after all of its children. Marks are done when all children
 * have run, since an item can only wait for more items until it is done.
 */
#include "sim/exec/children.h"
#include "sim/runtime/child_clock.h"
#include "sim/time/timeline.h"

#include <stdlib.h>

/* The newest child in a stream. */
typedef struct Newest {
    uint64_t stream;
    TimelineItem *complete;
} Newest;

struct Family {
    Family *next;
    TimelineItem *parent;
    TimelineItem *others_complete; /* all children but tail launches */
    TimelineItem *complete;        /* the parent and all children */
    bool of_host;                  /* the host launched the parent */
    Newest *newest;
    int count, room;
};

static Family *families; /* of one launch by the host */

static const TimelineJob mark = { .row = ROW_MARK };

Family *family_of(Work *parent, bool of_host)
{
    Family *family = parent->item ? calloc(1, sizeof *family) : NULL;

    if (!family)
        return NULL;
    if (!parent->complete)
        parent->complete = clock_add(parent->stream);
    *family = (Family){ .next = families,
                        .parent = parent->item,
                        .others_complete = clock_add(parent->stream),
                        .complete = parent->complete,
                        .of_host = of_host };
    timeline_after(family->others_complete, family->parent);
    timeline_after(family->complete, family->others_complete);
    families = family;
    return family;
}

/* NULL: out of memory; then the order in the stream is lost. */
static Newest *newest_in(Family *family, uint64_t stream)
{
    for (int i = 0; i < family->count; i++)
        if (family->newest[i].stream == stream)
            return &family->newest[i];
    if (family->count == family->room) {
        const int room = family->room ? 2 * family->room : 16;
        Newest *larger = realloc(family->newest, (size_t) room * sizeof *larger);
        if (!larger)
            return NULL;
        family->newest = larger;
        family->room = room;
    }
    family->newest[family->count] = (Newest){ .stream = stream };
    return &family->newest[family->count++];
}

void family_begin(Family *family, Work *child, uint64_t stream)
{
    Newest *newest;

    if (!family)
        return;
    newest = newest_in(family, stream);
    child->item = clock_add(child->stream);
    timeline_after(child->item, stream == STREAM_TAIL ? family->others_complete : family->parent);
    if (newest && stream != STREAM_FIRE_AND_FORGET)
        timeline_after(child->item, newest->complete);
}

void family_done(Family *family, Work *child, uint64_t stream)
{
    TimelineItem *complete = child->complete ? child->complete : child->item;
    Newest *newest;

    if (!family)
        return;
    newest = newest_in(family, stream);
    if (newest)
        newest->complete = complete;
    timeline_after(stream == STREAM_TAIL ? family->complete : family->others_complete, complete);
}

void families_end(void)
{
    for (Family *family = families, *next; family; family = next) {
        next = family->next;
        timeline_done(family->others_complete, &mark);
        if (!family->of_host)
            timeline_done(family->complete, &mark);
        free(family->newest);
        free(family);
    }
    families = NULL;
}
