/* collect.h - collects the data of a picture: from a kernel's run on the simulated GPU, or from
 * measurements in docs/measured. */
#ifndef DRAW_COLLECT_H
#define DRAW_COLLECT_H

#include "draw/picture.h"
#include "judge/session.h"

typedef struct CollectJob {
    Session *session;
    const LabEntry *entry;
    const Case *lab_case; /* with its dims set */
    const char *source,
        *shown; /* the kernel, and its name in messages; NULL: the workbook's kernels only */
} CollectJob;

enum { COLLECT_WHY = 2000 };

/* The case whose label begins with this text. Without a text, the first timed case or, failing
 * that, the first control case. Returns NULL if there is no such case. */
const Case *collect_choose_case(const Lab *lab, const char *label);
/* The smallest size at which grading times the case on this GPU. */
Case collect_case(const Case *lab_case, const GpuInfo *info);

/* Runs the kernel once. True if there is something to draw, even if the kernel failed; `failed`
 * then has the reason, else "". Returns false, with the reason in `failed`, if nothing was
 * recorded. Both texts have COLLECT_WHY bytes. */
bool collect_records(const CollectJob *job, const RecordFilter *filter, Records *records,
                     char *failed);

/* The same, but the runner stays alive, so that the caller can query it. The caller ends it. */
bool collect_run(const CollectJob *job, const RecordFilter *filter, Worker *worker,
                 Records *records, char *failed);

/* Runs the kernel once and writes the trace of its modelled time to the file. */
bool collect_trace(const CollectJob *job, const char *path, char *failed);

/* Models one call of the kernel (if there is one) and of each rung. Kernels that cannot run are
 * left out; returns false, with `why`, if none could run. */
bool collect_roofline(const CollectJob *job, RooflinePoints *points, char *why);
bool collect_ladder(const CollectJob *job, Ladder *ladder, char *why);

/* Adds the rungs below the reference: from build/rungs, where collect_roofline() keeps them, or
 * else modelled, as long as a rung takes about a second and all take at most `budget_s`. Others
 * stay left out until collect_roofline() runs them. Returns their number. */
int collect_rungs(const CollectJob *job, double budget_s, RooflinePoints *points);

/* Sets the ladder's unit and limit from the minimum work of the case: memory, or arithmetic if that
 * work is intensive enough. A lab about copies has no limit here. */
void ladder_choose_unit(Ladder *ladder, const Lab *lab, const Case *lab_case, double fp32_tflops,
                        double memory_gbps);

/* Reads a ladder from docs/measured. Returns false if this lab and case were not measured. */
bool measured_ladder(const Workbook *book, const LabEntry *entry, const Case *lab_case,
                     Ladder *ladder);

#endif
