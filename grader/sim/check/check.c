/* check.c - which check sees what of a launch: written.c, races.c. */
#include "sim/check/check.h"
#include "sim/check/races.h"

static void order_shared(Access *x)
{
    if (x->warp->block->check_races)
        races_shared(x);
}

static void check_access(Access *x)
{
    access_check_written(x);
    if (x->space == SPACE_SHARED)
        order_shared(x);
    else if (x->space == SPACE_GLOBAL && x->warp->block->launch->check_races)
        races_global(x);
}

const Observer check_observer = {
    .launch_begin = races_launch_begin,
    .launch_end = races_launch_end,
    .block_end = races_block_end,
    .barrier = races_barrier,
    .warp_sync = races_warp_sync,
    .fence = races_fence,
    .access = check_access,
    .copy_reads = access_check_written,
    .copy_claims = order_shared,
};
