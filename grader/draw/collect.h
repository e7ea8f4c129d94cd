/* collect.h - where the figures of a picture come from: a kernel that runs on the simulated GPU,
 * or what was measured and stored in docs/measured. */
#ifndef DRAW_COLLECT_H
#define DRAW_COLLECT_H

#include "draw/picture.h"
#include "judge/session.h"

typedef struct CollectJob {
    Session *session;
    const LabEntry *entry;
    const Case *lab_case; /* with its dims */
    const char *source,
        *shown; /* the kernel, and its name in messages; NULL: no kernel of its own */
} CollectJob;

enum { COLLECT_WHY = 2000 };

/* The case whose label begins with this text; without a text the first timed case, else the first
 * control case. NULL: no such case. */
const Case *collect_choose_case(const Lab *lab, const char *label);
/* The smallest size at which grading times it on this GPU. */
Case collect_case(const Case *lab_case, const GpuInfo *info);

/* Runs the kernel once. True if there is something to draw, even if the kernel failed; `failed`
 * then has the reason, else "". False, with the reason in `failed`, if nothing was recorded. Both
 * texts have COLLECT_WHY bytes. */
bool collect_records(const CollectJob *job, const RecordFilter *filter, Records *records,
                     char *failed);

/* The same, but the runner stays, for the caller to ask more and to end it. */
bool collect_run(const CollectJob *job, const RecordFilter *filter, Worker *worker,
                 Records *records, char *failed);

/* The kernel (if there is one) and each rung, each called once. Kernels that cannot run are left
 * out; false, with `why`, if none is left. */
bool collect_roofline(const CollectJob *job, RooflinePoints *points, char *why);
bool collect_ladder(const CollectJob *job, Ladder *ladder, char *why);

/* Sets the unit and the limit of what limits the case by its least work: memory, or arithmetic
 * where that work is intensive enough. A lab about copies has no limit here. */
void ladder_choose_unit(Ladder *ladder, const Lab *lab, const Case *lab_case, double fp32_tflops,
                        double memory_gbps);

/* From docs/measured. False: this lab and case were not measured. */
bool measured_ladder(const Workbook *book, const LabEntry *entry, const Case *lab_case,
                     Ladder *ladder);

#endif
