/* check.c - passes the events of a launch to the checks: written.c, suspects.c, race_order.c. */
#include "sim/check/check.h"
#include "sim/check/race.h"
#include "sim/check/suspects.h"

static void order_shared(Access *x)
{
    if (x->warp->block->check_races)
        race_shared(x);
}

static void check_access(Access *x)
{
    access_check_written(x);
    if (x->space == SPACE_SHARED)
        order_shared(x);
    else if (x->space == SPACE_GLOBAL && x->warp->block->launch->check_races)
        race_global(x);
}

/* Where nothing is checked, written bytes are marked for later launches. */
static bool needs_accesses(const Launch *launch)
{
    return launch->check_races || launch->check_uninitialised || launch->sample || memory_tracks();
}

const Observer check_observer = {
    .launch_begin = race_launch_begin,
    .launch_end = race_launch_end,
    .block_end = race_block_end,
    .barrier = race_barrier,
    .warp_sync = race_warp_sync,
    .fence = race_fence,
    .cluster_sync = race_cluster,
    .access = check_access,
    .follow = suspects_follow,
    .load_again = check_load_again,
    .store_again = check_store_again,
    .needs_accesses = needs_accesses,
    .copy_reads = access_check_written,
    .copy_claims = order_shared,
};
