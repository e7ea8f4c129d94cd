/* race_tell.c - a race in words: both sides, and what is missing between them. */
#include "races.h"

#include <stdio.h>
#include <string.h>

/* thread (4,0,0) */
static void put_thread(const Launch *launch, int thread, char *text, size_t size)
{
    int width = launch->block[0] > 0 ? launch->block[0] : 1;
    int height = launch->block[1] > 0 ? launch->block[1] : 1;

    snprintf(text, size, "thread (%d,%d,%d)", thread % width, thread / width % height,
             thread / width / height);
}

/* block (1,0,0), thread (4,0,0) */
static void put_block_and_thread(const Launch *launch, int64_t block, int thread, char *text,
                                 size_t size)
{
    int64_t width = launch->grid[0] > 0 ? launch->grid[0] : 1;
    int64_t height = launch->grid[1] > 0 ? launch->grid[1] : 1;
    int length =
        snprintf(text, size, "block (%lld,%lld,%lld), ", (long long) (block % width),
                 (long long) (block / width % height), (long long) (block / width / height));

    put_thread(launch, thread, text + length, size - (size_t) length);
}

/* " at line 12", "": not known. */
static void put_line(const Slot *slot, char *text, size_t size)
{
    const Step *step = race_step(slot->site);

    *text = '\0';
    if (step && step->in && step->in->line)
        snprintf(text, size, " at line %d", step->in->line);
    else if (step && step->in)
        snprintf(text, size, " at PTX line %d", step->in->ptx_line);
}

/* For two writes: would the second change anything? */
static const char *what_value(const Access *x, const Meeting *m)
{
    uint8_t mine[MOST_LANE_BYTES], other[MOST_LANE_BYTES];

    if (!m->other_wrote || x->kind != ACCESS_STORE)
        return "";
    if (!x->value)
        return m->at_once ? "" : " it";
    x->value(x, m->lane, mine);
    if (m->at_once)
        x->value(x, m->other_lane, other);
    else
        memcpy(other, x->host + (ptrdiff_t) x->delta[m->lane], (size_t) x->bytes);
    return memcmp(mine, other, (size_t) x->bytes) ? " another value" : " the same value";
}

/* ", which ... wrote at line 12" */
static void put_other(const Access *x, const Meeting *m, const char *who, char *text, size_t size)
{
    char line[48];

    put_line(&m->slot, line, sizeof line);
    const char *did = !m->other_wrote ? "read" : m->slot.who & WHO_ATOMIC ? "updated" : "wrote";
    const char *value = *did == 'w' ? what_value(x, m) : "";
    snprintf(text, size, "%s %s %s%s%s", *value ? "where" : "which", who, did,
             !strcmp(value, " it") ? "" : value, line);
}

/* Several lanes of one instruction. */
static void tell_at_once(const Access *x, const Meeting *m, FindingKind kind, const char *where)
{
    char other[64];
    const char *value = what_value(x, m);

    put_thread(x->warp->block->launch, x->warp->number * LANES + m->other_lane, other,
               sizeof other);
    warn(x->warp, x->step, m->lane, kind, "%s %d byte%s %s in the same instruction as %s%s%s",
         access_verb(x), x->bytes, x->bytes == 1 ? "" : "s", where, other,
         *value ? ", which writes" : "", value);
}

void race_tell_shared(const Access *x, const Meeting *m)
{
    char who[64], other[200], where[80];

    snprintf(where, sizeof where, "of shared memory at %llu",
             (unsigned long long) x->address[m->lane]);
    if (m->at_once) {
        tell_at_once(x, m, FINDING_RACE_SHARED, where);
        return;
    }
    if (m->somebody)
        snprintf(who, sizeof who, "other threads");
    else
        put_thread(x->warp->block->launch, m->slot.who & WHO_THREAD, who, sizeof who);
    put_other(x, m, who, other, sizeof other);
    warn(x->warp, x->step, m->lane, FINDING_RACE_SHARED, "%s %d byte%s %s, %s, with no %s between",
         access_verb(x), x->bytes, x->bytes == 1 ? "" : "s", where, other,
         m->one_warp ? "__syncwarp() or __syncthreads()" : "__syncthreads()");
}

void race_tell_global(const Access *x, const Meeting *m)
{
    const Launch *launch = x->warp->block->launch;
    char who[120], other[300], where[300], at[360];

    memory_describe(x->address[m->lane], (size_t) x->bytes, where, sizeof where);
    snprintf(at, sizeof at, "at 0x%llx (%s)", (unsigned long long) x->address[m->lane], where);
    if (m->at_once) {
        tell_at_once(x, m, FINDING_RACE_GLOBAL, at);
        return;
    }
    if (m->somebody)
        snprintf(who, sizeof who, "other blocks");
    else
        put_block_and_thread(launch, m->block, m->slot.who & WHO_THREAD, who, sizeof who);
    put_other(x, m, who, other, sizeof other);
    warn(x->warp, x->step, m->lane, FINDING_RACE_GLOBAL,
         "%s %d byte%s %s, %s: blocks of one launch run in any order", access_verb(x), x->bytes,
         x->bytes == 1 ? "" : "s", at, other);
}
