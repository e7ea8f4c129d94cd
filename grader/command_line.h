/* command_line.h - the labs and options of a command. */
#ifndef COMMAND_LINE_H
#define COMMAND_LINE_H

#include "base/options.h"
#include "base/registry.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct Options {
    const LabEntry *labs[64]; /* those named; all if none were */
    int count;
    const char *submission; /* NULL: labs/ itself */
    const char *device;     /* NULL: not given */
    const char *course;     /* grade: a course file; NULL: course.ini, if it is there */
    const char *figures;    /* check: a file for the measurements */
    const char *sealed;     /* grade: the folder for stand-ins of solutions/ (build/stub.h) */
    int cc;                 /* build: 90 for compute capability 9.0 */
    int level;
    bool quick, strict, lines, seeded, builds_only, timed_only;
    uint64_t seed;
} Options;

extern const char usage[]; /* what --help prints */
extern const OptionRow option_rows[];

/* Takes a lab by name, or the path of its folder as a shell completes it: labs/06_transpose/.
 * False if there is no such lab, after printing those that exist. */
bool take_lab(void *options, const char *given);

#endif
