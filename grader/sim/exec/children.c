/* children.c - the order in which the children of kernels run. */
#include "sim/exec/children.h"

static void append(ChildList *list, Child *child)
{
    child->next = NULL;
    if (list->last)
        list->last->next = child;
    else
        list->first = child;
    list->last = child;
}

/* Moves all of `from` to the front of `to`. */
static void put_before(ChildList *to, ChildList *from)
{
    if (!from->first)
        return;
    from->last->next = to->first;
    if (!to->first)
        to->last = from->last;
    to->first = from->first;
    *from = (ChildList){ NULL, NULL };
}

void children_add(ChildQueue *queue, Child *child)
{
    append(child->stream == STREAM_TAIL ? &queue->tails : &queue->launched, child);
    queue->count++;
}

void children_settle(ChildQueue *queue)
{
    put_before(&queue->ready, &queue->tails);
    put_before(&queue->ready, &queue->launched);
}

Child *children_take(ChildQueue *queue)
{
    Child *child = queue->ready.first;

    if (!child)
        return NULL;
    queue->ready.first = child->next;
    if (!child->next)
        queue->ready.last = NULL;
    child->next = NULL;
    queue->count--;
    return child;
}
