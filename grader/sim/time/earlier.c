/* earlier.c - keeps launches, within limits of their number and memory. */
#include "sim/time/earlier.h"

#include <stdlib.h>
#include <string.h>

/* MOST_TRIES: launches of a shape that are stored although none of them is ever repeated; then
 * MOST_PAUSE at most are left out before the next try. */
enum { SHAPES = 64, MOST_TRIES = 4, MOST_PAUSE = 64 };

/* What is known about launches of a shape. */
typedef struct Launched {
    Digest shape;
    uint64_t last;     /* when it was launched; 0: the place is free */
    int tries;         /* stored since one was repeated */
    int pause, pauses; /* launches that are not tried: those to come, and all of this pause */
} Launched;

struct Earlier {
    const Gpu *gpu;
    EarlierLaunch launches[MOST_EARLIER];
    Launched shapes[SHAPES];
    uint64_t now;
    size_t bytes;
};

/* ---- Shapes ---- */

/* The place of the shape, or else the one used longest ago. */
static Launched *place_for(Earlier *earlier, Digest shape)
{
    Launched *oldest = earlier->shapes;

    for (int i = 0; i < SHAPES; i++) {
        Launched *at = &earlier->shapes[i];
        if (at->last && digest_is(at->shape, shape))
            return at;
        oldest = at->last < oldest->last ? at : oldest;
    }
    return oldest;
}

static Launched *launched(Earlier *earlier, Digest shape, bool *is_new)
{
    Launched *at = place_for(earlier, shape);

    *is_new = !at->last || !digest_is(at->shape, shape);
    if (*is_new)
        *at = (Launched){ .shape = shape };
    at->last = ++earlier->now;
    return at;
}

bool earlier_is_worth(Earlier *earlier, Digest shape)
{
    bool is_new;
    Launched *at = launched(earlier, shape, &is_new);

    if (is_new)
        return false;
    if (at->pause > 0) {
        at->pause--;
        return false;
    }
    return true;
}

static void begin_pause(Launched *at)
{
    at->pauses = at->pauses ? 2 * at->pauses : 1;
    at->pauses = at->pauses < MOST_PAUSE ? at->pauses : MOST_PAUSE;
    at->pause = at->pauses;
}

static void note_try(Earlier *earlier, Digest shape)
{
    bool is_new;
    Launched *at = launched(earlier, shape, &is_new);

    if (++at->tries >= MOST_TRIES)
        begin_pause(at);
}

static void note_repeat(Earlier *earlier, Digest shape)
{
    bool is_new;
    Launched *at = launched(earlier, shape, &is_new);

    at->tries = at->pauses = 0;
}

void earlier_is_too_large(Earlier *earlier, Digest shape)
{
    bool is_new;
    Launched *at = launched(earlier, shape, &is_new);

    at->pause = at->pauses = MOST_PAUSE;
}

/* ---- Launches ---- */

static size_t bytes_of(const EarlierLaunch *launch)
{
    return (size_t) launch->block_count * sizeof *launch->blocks + backlog_bytes(&launch->kept) +
           (launch->after ? launch->after->words * sizeof *launch->after->packed : 0);
}

static void drop(EarlierLaunch *launch)
{
    free(launch->blocks);
    free(launch->spent);
    l2_release(launch->after);
    backlog_free(&launch->kept);
    *launch = (EarlierLaunch){ .is_used = false };
}

static void forget(Earlier *earlier, EarlierLaunch *launch)
{
    earlier->bytes -= bytes_of(launch);
    drop(launch);
}

/* A launch that was never repeated is forgotten before all that were. */
static bool is_before(const EarlierLaunch *a, const EarlierLaunch *b)
{
    return a->is_kept == b->is_kept ? a->last < b->last : b->is_kept;
}

/* NULL: there is no launch but `except`. */
static EarlierLaunch *least_useful(Earlier *earlier, const EarlierLaunch *except)
{
    EarlierLaunch *least = NULL;

    for (int i = 0; i < MOST_EARLIER; i++) {
        EarlierLaunch *at = &earlier->launches[i];
        if (at->is_used && at != except && (!least || is_before(at, least)))
            least = at;
    }
    return least;
}

static EarlierLaunch *free_place(Earlier *earlier)
{
    EarlierLaunch *least;

    for (int i = 0; i < MOST_EARLIER; i++)
        if (!earlier->launches[i].is_used)
            return &earlier->launches[i];
    least = least_useful(earlier, NULL);
    forget(earlier, least);
    return least;
}

/* Forgets others until all fit into their memory. */
static void make_room(Earlier *earlier, const EarlierLaunch *except)
{
    EarlierLaunch *least;

    while (earlier->bytes > earlier->gpu->most_stored && (least = least_useful(earlier, except)))
        forget(earlier, least);
}

uint64_t earlier_alike(const Earlier *earlier, Digest shape, Digest start)
{
    uint64_t alike = 0;

    for (int i = 0; i < MOST_EARLIER; i++) {
        const EarlierLaunch *at = &earlier->launches[i];
        if (at->is_used && digest_is(at->shape, shape) && digest_is(at->start, start))
            alike |= 1ull << i;
    }
    return alike;
}

EarlierLaunch *earlier_at(const Earlier *earlier, int number)
{
    return (EarlierLaunch *) &earlier->launches[number];
}

void earlier_store(Earlier *earlier, EarlierLaunch *launch)
{
    EarlierLaunch *to;

    note_try(earlier, launch->shape);
    if (bytes_of(launch) > earlier->gpu->most_stored) {
        drop(launch);
        return;
    }
    to = free_place(earlier);
    *to = *launch;
    to->is_used = true;
    to->last = ++earlier->now;
    earlier->bytes += bytes_of(to);
    make_room(earlier, to);
}

void earlier_repeated(Earlier *earlier, EarlierLaunch *launch, Backlog *kept)
{
    note_repeat(earlier, launch->shape);
    launch->last = ++earlier->now;
    if (launch->is_kept || !kept)
        return;
    earlier->bytes -= bytes_of(launch);
    backlog_trim(kept);
    launch->kept = *kept;
    launch->is_kept = true;
    *kept = (Backlog){ .events = NULL };
    earlier->bytes += bytes_of(launch);
    make_room(earlier, launch);
}

/* ---- Opening and closing ---- */

bool earlier_open(Gpu *gpu)
{
    gpu->earlier = calloc(1, sizeof *gpu->earlier);
    if (gpu->earlier)
        gpu->earlier->gpu = gpu;
    return gpu->earlier;
}

void earlier_close(Gpu *gpu)
{
    for (int i = 0; gpu->earlier && i < MOST_EARLIER; i++)
        drop(&gpu->earlier->launches[i]);
    free(gpu->earlier);
    gpu->earlier = NULL;
}
