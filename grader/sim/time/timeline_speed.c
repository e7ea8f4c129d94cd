/* timeline_speed.c - how fast pieces of work are that run at the same time: copies share the link,
 * kernels the SMs (sharing.h).
 */
#include "sim/time/timeline_items.h"

#include <math.h>

/* ---- Speeds ---- */

static int64_t left_at(const TimelineItem *item, int64_t now_ps)
{
    return item->left_ps - llround((double) (now_ps - item->since_ps) * item->speed);
}

static void set_speed(TimelineItem *item, int64_t now_ps, double speed)
{
    item->left_ps = left_at(item, now_ps);
    item->since_ps = now_ps;
    item->speed = speed;
    item->end_ps = now_ps;
    if (item->left_ps > 0)
        item->end_ps = speed > 0 ? now_ps + llround((double) item->left_ps / speed) : INT64_MAX;
}

static bool runs_in(const Timeline *timeline, TimelineRow row)
{
    for (const TimelineItem *item = timeline->active; item; item = item->next)
        if (item->runs && item->job.row == row)
            return true;
    return false;
}

/* Whether copies occupy the link, other than those that the SMs do. */
static bool link_is_used(const Timeline *timeline)
{
    return timeline->busy[ENGINE_UP] || timeline->busy[ENGINE_DOWN];
}

/* Copies are slower while the link is busy both ways. `speed`: what kernels leave of the link. */
static void set_speeds_of_copies(Timeline *timeline, double speed)
{
    const bool both = runs_in(timeline, ROW_UP) && runs_in(timeline, ROW_DOWN);

    for (TimelineItem *item = timeline->active; item; item = item->next) {
        const bool copies = item->job.row == ROW_UP || item->job.row == ROW_DOWN;
        const double own = speed * (both ? item->job.shared : 1);
        if (item->runs && copies && !on_sms(timeline, item) && item->speed != own)
            set_speed(item, timeline->now_ps, own);
    }
}

/* ---- Sharing the SMs ---- */

enum { MOST_SHARERS = 128 }; /* as many kernels as a GPU runs at the same time */

typedef struct Sharers {
    int count;
    TimelineItem *items[MOST_SHARERS];
    Sharer kernels[MOST_SHARERS];
} Sharers;

/* Swaps kernel `at` and the one before it; returns its new place. */
static int move_ahead(Sharers *all, int at)
{
    TimelineItem *item = all->items[at];
    const Sharer kernel = all->kernels[at];

    all->items[at] = all->items[at - 1];
    all->kernels[at] = all->kernels[at - 1];
    all->items[at - 1] = item;
    all->kernels[at - 1] = kernel;
    return at - 1;
}

/* Whether kernel `at` has a higher priority than the one before it, which has blocks that have not
 * begun. Those that run keep their places: a kernel that begins gets them when a wave ends. */
static bool may_overtake(const Sharers *all, int at)
{
    const Sharer *before = &all->kernels[at - 1];

    return all->items[at]->job.priority < all->items[at - 1]->job.priority &&
           sharing_has_blocks(before->use, before->done) &&
           (all->items[at]->runs || sharing_wave_ends(before->use, before->done));
}

static void add_sharer(Sharers *all, TimelineItem *item, int64_t now_ps)
{
    const double left = item->runs ? (double) left_at(item, now_ps) : (double) item->job.ps;

    all->items[all->count] = item;
    all->kernels[all->count++] = (Sharer){
        .use = &item->job.use,
        .done = item->job.ps > 0 ? fmin(1, 1 - left / (double) item->job.ps) : 1,
    };
}

/* What runs on the SMs, in the order in which it gets places. */
static void find_sharers(const Timeline *timeline, Sharers *all)
{
    all->count = 0;
    for (TimelineItem *item = timeline->active; item; item = item->next)
        if (item->runs && on_sms(timeline, item)) {
            int at = all->count;
            add_sharer(all, item, timeline->now_ps);
            while (at > 0 && all->items[at - 1]->turn > item->turn)
                at = move_ahead(all, at);
        }
    for (int i = 1; i < all->count; i++)
        for (int at = i; at > 0 && may_overtake(all, at);)
            at = move_ahead(all, at);
}

bool items_have_place(const Timeline *timeline, TimelineItem *item)
{
    Sharers all;
    int at;

    if (!timeline->busy[ENGINE_SMS])
        return true;
    if (timeline->busy[ENGINE_SMS] >= MOST_SHARERS)
        return false;
    find_sharers(timeline, &all);
    at = all.count;
    add_sharer(&all, item, timeline->now_ps);
    while (at > 0 && may_overtake(&all, at))
        at = move_ahead(&all, at);
    sharing_set_speeds(timeline->sharing, all.kernels, all.count, link_is_used(timeline));
    return all.kernels[at].speed > 0;
}

/* Whether work of a higher priority waits. */
static bool is_pressed(const Timeline *timeline, const TimelineItem *item)
{
    for (const TimelineItem *other = timeline->active; other; other = other->next)
        if (!other->runs && priority_of(timeline, other) < item->job.priority)
            return true;
    return false;
}

/* When this kernel next releases places. */
static int64_t release_of(const TimelineItem *item, double done, int64_t now_ps)
{
    const KernelUse *use = &item->job.use;
    const double wave = is_pressed(item->timeline, item) ? sharing_next_wave(use, done) : 1;
    const double next = fmin(wave, sharing_next_release(use, done));
    int64_t after_ps;

    if (next >= 1 || item->speed <= 0)
        return INT64_MAX;
    after_ps = llround((next - done) * (double) item->job.ps / item->speed);
    return now_ps + (after_ps > 1 ? after_ps : 1);
}

/* A kernel may lose its last places to rounding, but all of them only to a higher priority. */
static double least_speed(const Sharers *all, int at)
{
    for (int i = 0; i < at; i++)
        if (all->items[i]->turn > all->items[at]->turn)
            return 0;
    return 1.0 / 1024;
}

/* Returns the speed that copies then have. */
static double set_speeds_of_kernels(Timeline *timeline)
{
    double left;
    Sharers all;

    timeline->release_ps = INT64_MAX;
    if (!timeline->busy[ENGINE_SMS])
        return 1;
    find_sharers(timeline, &all);
    left = sharing_set_speeds(timeline->sharing, all.kernels, all.count, link_is_used(timeline));
    for (int i = 0; i < all.count; i++) {
        const double speed = fmax(least_speed(&all, i), all.kernels[i].speed);
        if (all.items[i]->speed != speed)
            set_speed(all.items[i], timeline->now_ps, speed);
        const int64_t ps = release_of(all.items[i], all.kernels[i].done, timeline->now_ps);
        if (ps < timeline->release_ps)
            timeline->release_ps = ps;
    }
    return left;
}

void items_set_speeds(Timeline *timeline)
{
    set_speeds_of_copies(timeline, set_speeds_of_kernels(timeline));
}
