/* progress.c - shows the progress of a long kernel: on a terminal, one line that is updated and
 * then erased; elsewhere, occasional lines. A short kernel shows no progress.
 */
#include "sim/runtime/runtime.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { QUIET_MS = 2000, TERMINAL_MS = 200, LINES_MS = 10000, CALLS_A_LOOK = 16 };

static struct {
    bool terminal, shown;
    int calls; /* before the clock is read again */
    double begun_ms, next_ms;
} progress;

static double now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double) now.tv_sec * 1e3 + (double) now.tv_nsec / 1e6;
}

static void show(const Launch *launch, long done, long blocks, double ms)
{
    /* On a terminal the cursor returns to the start of the line, so other output overwrites it. */
    fprintf(stderr, "%ssim: %.60s: %ld of %ld blocks, %.0f M warp instructions, %.0f s%s",
            progress.terminal ? "\033[K" : "", launch->name, done, blocks,
            (double) launch->executed / 1e6, ms / 1e3, progress.terminal ? "\r" : "\n");
    fflush(stderr);
    progress.shown = true;
}

/* Called after each block and after each round of a block's warps. */
static void step(void *self, long done, long blocks)
{
    const Launch *launch = self;
    double ms;

    if (--progress.calls > 0)
        return;
    progress.calls = CALLS_A_LOOK;
    ms = now_ms();
    if (ms < progress.next_ms)
        return;
    progress.next_ms = ms + (progress.terminal ? TERMINAL_MS : LINES_MS);
    show(launch, done, blocks, ms - progress.begun_ms);
}

void progress_begin(Launch *launch)
{
    if (!rt.settings.progress || rt.settings.quiet)
        return;
    progress.terminal = isatty(2);
    progress.shown = false;
    progress.calls = CALLS_A_LOOK;
    progress.begun_ms = now_ms();
    progress.next_ms = progress.begun_ms + QUIET_MS;
    launch->progress = step;
    launch->progress_self = launch;
}

void progress_end(void)
{
    if (progress.shown && progress.terminal)
        fputs("\033[K", stderr);
    progress.shown = false;
}
