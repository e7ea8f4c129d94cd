/* options.h - the options of a gradebook command. */
#ifndef GRADEBOOK_OPTIONS_H
#define GRADEBOOK_OPTIONS_H

#include "gradebook/run/scheduler_options.h"
#include "gradebook/slurm/slurm.h"
#include "base/options.h"

typedef struct Options {
    const char *submissions, *out, *student, *lab, *format, *to, *course, *logs;
    bool trusting, labs_named, takes_submissions;
    GradingOptions grading;
    SlurmOptions slurm;
    char devices[400]; /* storage for grading.devices */
} Options;

extern const char usage[]; /* what --help prints */

/* Parses the arguments that follow the command. Returns false after printing an error. */
bool take_arguments(Options *options, int argc, char **argv, bool takes_submissions,
                    bool needs_no_out);

#endif
