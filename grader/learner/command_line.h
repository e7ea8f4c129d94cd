/* command_line.h - the labs and options of a command. */
#ifndef LEARNER_COMMAND_LINE_H
#define LEARNER_COMMAND_LINE_H

#include "base/options.h"
#include "base/registry.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct Options {
    const LabEntry *labs[64]; /* the labs named, or all labs if none is */
    int count;
    const char *submission; /* NULL: labs/ itself */
    const char *device;     /* NULL: not given */
    const char *course;     /* grade: a course file; NULL: course.ini, if it exists */
    const char *label;      /* explain: the beginning of a case's label; NULL: the slowest case */
    const char *trace;      /* explain, profile: a file for the kernel's trace */
    const char *figures;    /* check: a file for the measurements */
    const char *sealed;     /* grade: the folder for stand-ins of solutions/ (build/stub.h) */
    const char *answers;    /* quiz: "4,14,2"; NULL: standard input */
    int cc;                 /* build: 90 for compute capability 9.0 */
    int level;
    int sample;          /* check: every sample-th of the wrong kernels; 0: all */
    bool lab_is_guessed; /* the learner named none */
    int rung;            /* compare: a rung of the ladder, counted from 1; 0: the reference */
    int events; /* grade, explain, see: a descriptor for lines about its progress; 0: none */
    const struct Format *format; /* grade: for other programs (formats/formats.h); NULL: none */
    bool quick, strict, lines, seeded, builds_only, timed_only, yes;
    bool verbose; /* grade: also sizes, rates, notes, the protocol and the seed */
    bool again;   /* grade: labs that have not changed, too */
    bool core;    /* no lab named: all but further labs */
    uint64_t seed;
} Options;

/* Exit status of a command. */
enum { DONE = 0, NOT_PASSED = 1, USAGE = 2, COULD_NOT = 3 };

extern const char warpbook_usage[]; /* what --help prints */
extern const OptionRow option_rows[];

/* Accepts a lab's name, or the path of its folder as a shell completes it (labs/06_transpose/).
 * Returns false, after listing the labs, if there is no such lab. */
bool take_lab(void *options, const char *given);

#endif
