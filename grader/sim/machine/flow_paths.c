/* flow_paths.c - what the lanes that were followed through the machine code (path.c) tell about its
 * blocks.
 *
 * Sums over all rounds of a loop do not show how often each of its copies ran; the paths do. They
 * are believed if they agree with the lines of which all copies are known.
 */
#include "sim/machine/flow_finder.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Paths that are off by a larger share are dropped. */
#define MOST_OFF      0.02
#define MOST_OFF_WEAK 0.5

/* The executions of a line, if all blocks with copies are known; otherwise -1. */
static double executions(const FlowFinder *finder, const Copies *copies, int count)
{
    int counterparts = 0, least = 1 << 30;
    double sum = 0;

    for (int i = 0; i < count; i++) {
        if (!finder->paths[copies[i].block].is_known || copies[i].guarded_all)
            return -1;
        counterparts += copies[i].counterparts;
        least = copies[i].all < least ? copies[i].all : least;
    }
    for (int i = 0; i < count; i++)
        sum += finder->paths[copies[i].block].threads *
               (counterparts ? copies[i].counterparts : (double) copies[i].all / least);
    return sum;
}

static bool are_right(const FlowFinder *finder, const double *firmness)
{
    double off[2] = { 0, 0 }, all[2] = { 0, 0 }; /* by whether an instruction exists one for one */

    for (int first = 0, last; first < finder->copies_count; first = last) {
        const int row = finder->copies[first].row;
        last = flow_end_of_line(finder, first);
        const double sum = executions(finder, &finder->copies[first], last - first);
        if (sum < 0 || row < 0)
            continue;
        off[fabs(firmness[row]) >= 1] += fabs(sum - finder->fit.rows[row].value);
        all[fabs(firmness[row]) >= 1] += finder->fit.rows[row].value;
    }
    return off[1] <= MOST_OFF * all[1] && off[0] <= MOST_OFF_WEAK * all[0];
}

void flow_path_rows(FlowFinder *finder, double *firmness)
{
    const int blocks = finder->lowering->block_count;

    if (!path_counts(finder->launch, finder->paths) || !are_right(finder, firmness)) {
        memset(finder->paths, 0, (size_t) blocks * sizeof *finder->paths);
        return;
    }
    for (int b = 0; b < blocks; b++) {
        const int row =
            finder->paths[b].is_known ? fit_row(&finder->fit, finder->paths[b].threads, 1, 0) : -1;
        if (row < 0)
            continue;
        firmness[row] = 5;
        for (int e = finder->first_edge[b]; e < finder->first_edge[b + 1]; e++)
            fit_term(&finder->fit, e, 1);
    }
}

bool flow_path_warps(FlowFinder *finder, int block)
{
    const PathCount *path = &finder->paths[block];
    BlockFlow *flow = &finder->flows[block];

    if (!path->is_known || path->threads <= 0 ||
        fabs(path->threads - flow->threads) > MOST_OFF * path->threads)
        return false;
    flow->warps = flow->threads * path->warps / path->threads;
    return true;
}
