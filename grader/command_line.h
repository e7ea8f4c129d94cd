/* command_line.h - what a command of warpbook was told. */
#ifndef COMMAND_LINE_H
#define COMMAND_LINE_H

#include "base/options.h"
#include "base/registry.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct Options {
    const LabEntry *labs[64]; /* those asked for; all if none were */
    int count;
    const char *submission; /* NULL: labs/ itself */
    const char *device;     /* NULL: none was asked for */
    const char *course;     /* grade: a course file; NULL: course.ini, if it is there */
    const char *figures;    /* check: the file that what was measured goes to, too */
    const char *sealed;     /* grade: the folder for stand-ins of solutions/ (build/stub.h) */
    int cc;                 /* build: 90 for compute capability 9.0 */
    int level;
    bool quick, strict, lines, seeded, builds_only, timed_only;
    uint64_t seed;
} Options;

extern const char usage[]; /* what --help prints */
extern const OptionRow option_rows[];

/* Takes a lab by name, or the path of its folder as a shell completes it: labs/06_transpose/.
 * False: there is none, and it has said which there are. */
bool take_lab(void *options, const char *given);

#endif
