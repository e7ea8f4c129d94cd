/* object.c - user objects (cudaUserObjectCreate).
 *
 * An object has references of the program and of graphs. Copies of a graph, executable graphs too,
 * have references of their own, and so has each launch until its work is done. When the last one is
 * gone, the call that dropped it runs the destructor at its end, in the program's thread and
 * without the lock. A GPU's driver does so in a thread of its own, some time later.
 */
#include "sim/runtime/object.h"
#include "sim/runtime/graph.h"

#include <limits.h>
#include <stdlib.h>

typedef struct UserObject {
    struct UserObject *next; /* once it is gone */
    cudaHostFn_t destroy;
    void *data;
    uint64_t owned;      /* references of the program */
    uint64_t references; /* all of them */
} UserObject;

struct Held {
    Held *next;
    UserObject *object;
    uint64_t count;
};

static UserObject *gone;

/* ---- References ---- */

static void drop(UserObject *object, uint64_t count)
{
    object->references -= count;
    if (object->references)
        return;
    handle_set(HANDLE_USER_OBJECT, object, NULL);
    object->next = gone;
    gone = object;
}

static Held **held_of(Held **held, const UserObject *object)
{
    while (*held && (*held)->object != object)
        held = &(*held)->next;
    return held;
}

static bool hold(Held **held, UserObject *object, uint64_t count)
{
    Held **at = held_of(held, object);

    if (!*at && !(*at = calloc(1, sizeof **at)))
        return false;
    (*at)->object = object;
    (*at)->count += count;
    object->references += count;
    return true;
}

bool held_join(Held **to, const Held *from)
{
    bool well = true;

    for (; from && well; from = from->next)
        well = hold(to, from->object, from->count);
    return well;
}

void held_drop(Held **held)
{
    while (*held) {
        Held *first = *held;
        *held = first->next;
        drop(first->object, first->count);
        free(first);
    }
}

UserObject *objects_take(void)
{
    UserObject *taken = gone;

    gone = NULL;
    return taken;
}

/* Destructors may not make calls, as host functions may not. */
void objects_destroy(UserObject *taken)
{
    const bool before = rt_in_host_function;

    while (taken) {
        UserObject *object = taken;
        taken = object->next;
        rt_in_host_function = true;
        object->destroy(object->data);
        rt_in_host_function = before;
        free(object);
    }
}

/* ---- The program's references ---- */

static bool is_count(unsigned count)
{
    return count && count <= INT_MAX;
}

static cudaError_t create(cudaUserObject_t *handle, void *data, cudaHostFn_t destroy,
                          unsigned count, unsigned flags)
{
    UserObject *object;

    if (!handle || !destroy || !is_count(count) || flags != cudaUserObjectNoDestructorSync)
        return cudaErrorInvalidValue;
    object = calloc(1, sizeof *object);
    if (!object || !handle_set(HANDLE_USER_OBJECT, object, object)) {
        free(object);
        return cudaErrorMemoryAllocation;
    }
    *object = (UserObject){ .destroy = destroy, .data = data, .owned = count, .references = count };
    *handle = (cudaUserObject_t) object;
    return cudaSuccess;
}

static UserObject *object_of(cudaUserObject_t handle)
{
    return handle_get(HANDLE_USER_OBJECT, handle);
}

static cudaError_t retain(UserObject *object, unsigned count)
{
    if (!object || !is_count(count))
        return cudaErrorInvalidValue;
    object->owned += count;
    object->references += count;
    return cudaSuccess;
}

static cudaError_t release(UserObject *object, unsigned count)
{
    if (!object || !is_count(count) || count > object->owned)
        return cudaErrorInvalidValue;
    object->owned -= count;
    drop(object, count);
    return cudaSuccess;
}

API cudaError_t cudaUserObjectCreate(cudaUserObject_t *object, void *data, cudaHostFn_t destroy,
                                     unsigned count, unsigned flags)
{
    return CALL(create(object, data, destroy, count, flags));
}

API cudaError_t cudaUserObjectRetain(cudaUserObject_t object, unsigned count)
{
    return CALL(retain(object_of(object), count));
}

API cudaError_t cudaUserObjectRelease(cudaUserObject_t object, unsigned count)
{
    return CALL(release(object_of(object), count));
}

/* ---- References of graphs ---- */

static cudaError_t graph_retain(Graph *graph, UserObject *object, unsigned count, unsigned flags)
{
    const bool moves = flags & cudaGraphUserObjectMove;

    if (!graph || !object || !is_count(count) || flags & ~(unsigned) cudaGraphUserObjectMove ||
        (moves && count > object->owned))
        return cudaErrorInvalidValue;
    if (!hold(&graph->held, object, count))
        return cudaErrorMemoryAllocation;
    return moves ? release(object, count) : cudaSuccess;
}

static cudaError_t graph_release(Graph *graph, UserObject *object, unsigned count)
{
    Held **at = graph && object ? held_of(&graph->held, object) : NULL;
    Held *held = at ? *at : NULL;

    if (!held || !is_count(count) || count > held->count)
        return cudaErrorInvalidValue;
    held->count -= count;
    if (!held->count) {
        *at = held->next;
        free(held);
    }
    drop(object, count);
    return cudaSuccess;
}

API cudaError_t cudaGraphRetainUserObject(cudaGraph_t graph, cudaUserObject_t object,
                                          unsigned count, unsigned flags)
{
    return CALL(graph_retain(graph_of(graph), object_of(object), count, flags));
}

API cudaError_t cudaGraphReleaseUserObject(cudaGraph_t graph, cudaUserObject_t object,
                                           unsigned count)
{
    return CALL(graph_release(graph_of(graph), object_of(object), count));
}
