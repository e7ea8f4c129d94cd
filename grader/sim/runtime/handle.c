/* handle.c - maps pointers from the program to objects: functions, variables, streams, events,
 * graphs. A pointer that is not in the hash table is an invalid handle and is never dereferenced.
 */
#include "sim/runtime/runtime.h"

#include <stdlib.h>

typedef struct Handle {
    HandleKind kind; /* NONE: free; its key, if any, was removed */
    const void *key; /* NULL: never used */
    void *value;
} Handle;

static struct {
    Handle *all;
    size_t room, used; /* room: a power of two; used: places whose key is not NULL */
} table;

static size_t hash(const void *key)
{
    return (size_t) (((uint64_t) (uintptr_t) key * 0x9e3779b97f4a7c15ull) >> 32);
}

/* The place of the key, or the free place for it. The table is never full. */
static Handle *place_of(const void *key)
{
    for (size_t i = hash(key);; i++) {
        Handle *handle = &table.all[i & (table.room - 1)];
        if (!handle->key || handle->key == key)
            return handle;
    }
}

/* Drops removed keys. */
static bool grow(void)
{
    Handle *old = table.all;
    size_t room = table.room;
    Handle *all = calloc(room ? 2 * room : 256, sizeof *all);

    if (!all)
        return false;
    table.all = all;
    table.room = room ? 2 * room : 256;
    table.used = 0;
    for (size_t i = 0; i < room; i++) {
        if (old[i].kind == HANDLE_NONE)
            continue;
        *place_of(old[i].key) = old[i];
        table.used++;
    }
    free(old);
    return true;
}

static void forget(const void *key)
{
    Handle *handle = table.room ? place_of(key) : NULL;

    if (handle && handle->key) {
        handle->kind = HANDLE_NONE;
        handle->value = NULL;
    }
}

bool handle_set(HandleKind kind, const void *key, void *value)
{
    Handle *handle;

    if (!key)
        return false;
    if (!value) {
        forget(key);
        return true;
    }
    if (table.used * 2 >= table.room && !grow())
        return false;
    handle = place_of(key);
    table.used += !handle->key;
    *handle = (Handle){ .kind = kind, .key = key, .value = value };
    return true;
}

void *handle_get(HandleKind kind, const void *key)
{
    const Handle *handle = key && table.room ? place_of(key) : NULL;

    return handle && handle->kind == kind ? handle->value : NULL;
}
