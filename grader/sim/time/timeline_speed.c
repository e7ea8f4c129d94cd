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
    item->end_ps = now_ps + (item->left_ps > 0 ? llround((double) item->left_ps / speed) : 0);
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

static void add_sharer(Sharers *all, TimelineItem *item, int64_t now_ps)
{
    const double left = item->runs ? (double) left_at(item, now_ps) : (double) item->job.ps;

    all->items[all->count] = item;
    all->kernels[all->count++] = (Sharer){
        .use = &item->job.use,
        .done = item->job.ps > 0 ? fmin(1, 1 - left / (double) item->job.ps) : 1,
    };
}

/* What runs on the SMs, in the order in which it began. */
static void find_sharers(const Timeline *timeline, Sharers *all)
{
    all->count = 0;
    for (TimelineItem *item = timeline->active; item; item = item->next) {
        int at = all->count;
        if (!item->runs || !on_sms(timeline, item))
            continue;
        add_sharer(all, item, timeline->now_ps);
        for (; at > 0 && all->items[at - 1]->turn > item->turn; at--) {
            const Sharer kernel = all->kernels[at];
            all->items[at] = all->items[at - 1];
            all->kernels[at] = all->kernels[at - 1];
            all->items[at - 1] = item;
            all->kernels[at - 1] = kernel;
        }
    }
}

bool items_have_place(const Timeline *timeline, TimelineItem *item)
{
    Sharers all;

    if (!timeline->busy[ENGINE_SMS])
        return true;
    if (timeline->busy[ENGINE_SMS] >= MOST_SHARERS)
        return false;
    find_sharers(timeline, &all);
    add_sharer(&all, item, timeline->now_ps);
    sharing_set_speeds(timeline->sharing, all.kernels, all.count, link_is_used(timeline));
    return all.kernels[all.count - 1].speed > 0;
}

/* When this kernel next releases places. */
static int64_t release_of(const TimelineItem *item, double done, int64_t now_ps)
{
    const double next = sharing_next_release(&item->job.use, done);
    const int64_t after_ps = llround((next - done) * (double) item->job.ps / item->speed);

    return next < 1 ? now_ps + (after_ps > 1 ? after_ps : 1) : INT64_MAX;
}

/* Returns the speed that copies then have. */
static double set_speeds_of_kernels(Timeline *timeline)
{
    const double least = 1.0 / 1024; /* of a kernel that loses its last places to rounding */
    double left;
    Sharers all;

    timeline->release_ps = INT64_MAX;
    if (!timeline->busy[ENGINE_SMS])
        return 1;
    find_sharers(timeline, &all);
    left = sharing_set_speeds(timeline->sharing, all.kernels, all.count, link_is_used(timeline));
    for (int i = 0; i < all.count; i++) {
        const double speed = fmax(least, all.kernels[i].speed);
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
