/* seen.h - what a page shows: the figures and samples of one or two kernels. */
#ifndef LEARNER_SEE_SEEN_H
#define LEARNER_SEE_SEEN_H

#include "draw/collect.h"

enum { SEE_LINES = 400, SEE_LISTS = 16, SEE_MAPS = 3, SEE_SOURCE = 256 << 10 };

/* One kernel on one case. */
typedef struct SeenKernel {
    const char *name, *id; /* "Your kernel", "yours" */
    const char *file;      /* "kernel.cu" */
    char *source;          /* its text; NULL: unknown */
    bool has_run, has_limits;
    char failed[COLLECT_WHY]; /* why it stopped, or did not run; "": it did not */
    Limited limited;
    LineCost lines[SEE_LINES]; /* the costliest first, as in make explain */
    int line_count;
    Records *records;
} SeenKernel;

/* What the simulated GPU found in a small case, if anything. */
typedef struct SeenFindings {
    Case lab_case;
    char failed[COLLECT_WHY];
    Records *records; /* findings and launches of that case */
    bool any;
} SeenFindings;

typedef struct Seen {
    const LabEntry *entry;
    Case lab_case;       /* with the dims in use */
    bool is_graded_size; /* that of make grade on this device, before it was shrunk */
    bool is_shrunk;      /* below the sizes that are timed */
    const char *device;
    SeenKernel kernels[2]; /* the student's and, once passed, the reference */
    int count;
    SeenFindings findings;
    RooflinePoints roofline; /* no rungs before the lab is passed */
    int rungs_left_out;      /* they take too long */
    Ladder ladder;           /* as measured on a GPU; no rungs before the lab is passed */
} Seen;

/* The first accesses of one line by one warp, and the sums over all warps and launches. */
typedef struct AccessList {
    const WarpAccess *turns[TURNS_PER_LINE];
    int count;
    double requests, passes, least; /* least: sectors or wavefronts */
} AccessList;

/* The lists with the most passes, in order of lines; returns their number, at most SEE_LISTS. */
int see_lists(const Records *records, AccessList lists[SEE_LISTS]);

/* The indices of the arrays with the most bytes moved; returns their number. */
int see_maps(const Records *records, int maps[SEE_MAPS]);
double see_moved(const RecordedArray *array); /* bytes */
double see_used(const RecordedArray *array);

/* Runs the job's kernel, and fills everything but the names. */
void see_kernel(const CollectJob *job, SeenKernel *kernel);
/* Runs small cases with all checks until the first one with a finding. */
void see_findings(const CollectJob *job, const char *object, SeenFindings *findings);

/* "1023", "65.5 k", "1.05 M": the runner's counters have six digits. */
const char *see_count(double count, char *text, size_t size);
double see_call_ns(const SeenKernel *kernel); /* modelled time of the call; 0: unknown */
double see_sectors(const LineCost *cost);     /* of global memory */
double see_idle(const LineCost *cost);        /* lanes per instruction on average */

#endif
