/* writes.c - lists stores and updates. */
#include "sim/exec/writes.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_ROOM = 1 << 12 };

/* Its bytes follow, or b of an update; up to a multiple of 8. */
typedef struct Write {
    char *at;
    Update *update; /* NULL: a store */
    size_t bytes;
} Write;

static size_t room_for(size_t bytes)
{
    return sizeof(Write) + (bytes + 7) / 8 * 8;
}

/* Returns where the bytes belong; NULL if out of memory. */
static uint8_t *add(Writes *writes, char *at, size_t bytes, Update *update)
{
    const size_t needed = writes->used + room_for(bytes > 8 ? bytes : 8);
    const Write write = { at, update, bytes };

    if (needed > writes->room) {
        const size_t room = needed + (writes->room ? writes->room : FIRST_ROOM);
        uint8_t *more = realloc(writes->list, room);
        if (!more) {
            writes->incomplete = true;
            return NULL;
        }
        writes->list = more;
        writes->room = room;
    }
    uint8_t *to = writes->list + writes->used;
    memcpy(to, &write, sizeof write);
    writes->used = needed;
    return to + sizeof write;
}

/* A full warp's consecutive words are one store. */
static bool store_words(Writes *writes, const Access *x)
{
    uint8_t *to;

    if (!x->linear || !x->step->memory.words)
        return false;
    to = add(writes, x->host, (size_t) (LANES * x->bytes), NULL);
    if (to)
        memcpy(to, plane(x->warp, x->step->b), (size_t) (LANES * x->bytes));
    return true;
}

void writes_store(Writes *writes, const Access *x)
{
    if (store_words(writes, x))
        return;
    for (uint32_t left = x->mask; left; left &= left - 1) {
        const int lane = first_lane(left);
        uint8_t *to = add(writes, x->host + (ptrdiff_t) x->delta[lane], (size_t) x->bytes, NULL);
        if (!to)
            return;
        x->value(x, lane, to);
    }
}

void writes_update(Writes *writes, char *at, size_t bytes, Update *update, uint64_t b)
{
    uint8_t *to = add(writes, at, bytes, update);

    if (to)
        memcpy(to, &b, sizeof b);
}

static void do_update(const Write *write, const uint8_t *operand)
{
    uint64_t old = 0, b;

    memcpy(&b, operand, sizeof b);
    memcpy(&old, write->at, write->bytes);
    old = write->update(old, b, 0);
    memcpy(write->at, &old, write->bytes);
}

void writes_do(Writes *writes)
{
    Write write;

    for (size_t at = 0; at < writes->used; at += room_for(write.bytes > 8 ? write.bytes : 8)) {
        const uint8_t *data = writes->list + at + sizeof write;
        memcpy(&write, writes->list + at, sizeof write);
        if (write.update)
            do_update(&write, data);
        else
            memcpy(write.at, data, write.bytes);
    }
    writes->used = 0;
}

void writes_free(Writes *writes)
{
    free(writes->list);
    *writes = (Writes){ .list = NULL };
}
