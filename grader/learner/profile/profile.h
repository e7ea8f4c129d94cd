/* profile.h - `make profile LAB=x`: a GPU's own counters of a lab's kernel, by Nsight Compute
 * (ncu).
 */
#ifndef LEARNER_PROFILE_H
#define LEARNER_PROFILE_H

#include "base/registry.h"
#include "learner/command_line.h"

#include <stddef.h>
#include <stdio.h>

/* ---- Metrics (metrics.c) ---- */

/* One row of the table. Its value is `metric`, or `metric` / `per`, times `factor`. */
typedef struct ProfileRow {
    const char *topic; /* a word of Lab.profile; "": every lab */
    const char *words; /* the lesson's */
    const char *metric, *per;
    double factor;
    int decimals;
    const char *unit; /* "", "%", "us" */
} ProfileRow;

extern const ProfileRow profile_rows[]; /* ends with no words */
bool profile_row_is_for(const ProfileRow *row, const LabEntry *entry);
/* The metrics of the lab's rows, separated by commas, for ncu --metrics. */
void profile_metrics(const LabEntry *entry, char *text, size_t size);

/* ---- What ncu writes (ncu.c) ---- */

/* The values of one kernel. */
enum { PROFILE_VALUES = 64, PROFILE_NAME = 96, PROFILE_KERNELS = 64 };
typedef struct ProfiledKernel {
    char name[PROFILE_NAME], grid[40], block[40];
    double value[PROFILE_VALUES]; /* by column of `Profiled` */
    bool known[PROFILE_VALUES];
} ProfiledKernel;

typedef struct Profiled {
    char metric[PROFILE_VALUES][PROFILE_NAME];
    int metric_count, kernel_count;
    ProfiledKernel kernels[PROFILE_KERNELS];
    long launches; /* more than kernel_count if there was no room */
} Profiled;

/* Reads `ncu --csv --page raw --print-units base`: a line of names, one of units, one line per
 * launch; lines of other programs in between. Keeps only metrics of profile_rows. Returns false,
 * with `why`, if that is not what the text is. */
bool profile_read(const char *text, size_t bytes, Profiled *profiled, char *why, size_t size);

/* The row's value; false: ncu did not report it. */
bool profile_value(const Profiled *profiled, const ProfiledKernel *kernel, const ProfileRow *row,
                   double *value);
/* The kernel that took longest; NULL: none. */
const ProfiledKernel *profile_longest(const Profiled *profiled);
void profile_print(const LabEntry *entry, const Profiled *profiled, FILE *to);

/* ---- Why there are no counters (reason.c) ---- */

typedef enum ProfileRefusal {
    PROFILE_FINE,
    PROFILE_NO_GPU,
    PROFILE_NO_NCU,
    PROFILE_NO_PERMISSION, /* ERR_NVGPUCTRPERM */
    PROFILE_IN_CONTAINER,  /* the same in a container */
    PROFILE_IN_WSL,        /* the same under Windows */
    PROFILE_TOO_OLD,       /* ncu does not know this GPU, or the driver does not know this ncu */
    PROFILE_BUSY,          /* another profiler has the counters */
    PROFILE_FAILED         /* anything else: the program failed, or a time limit */
} ProfileRefusal;

typedef struct ProfilePlace {
    bool container, wsl;
} ProfilePlace;

/* From ncu's output and exit status. */
ProfileRefusal profile_refusal(const char *said, int status, const ProfilePlace *place);
ProfilePlace profile_place(void); /* this machine */
/* The reason and the remedy, as lines of text. `said`: ncu's output, of which its errors are quoted
 * if the reason is unknown. */
void profile_explain(ProfileRefusal refusal, const char *said, FILE *to);

int run_profile(Options *options);

#endif
