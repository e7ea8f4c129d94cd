/* finding.h - findings: faults of a program, each printed once per place and kept for the report.
 *
 * A finding is fatal (the kernel ends there and the next call returns its error, as on a GPU) or a
 * warning (races, uninitialised reads: a GPU would continue). Many threads with the same fault are
 * one finding with a count.
 */
#ifndef SIM_BASE_FINDING_H
#define SIM_BASE_FINDING_H

#include "base/annotation.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum FindingKind {
#define FINDING(kind, ...) FINDING_##kind,
#include "sim/base/findings.def"
#undef FINDING
    FINDINGS
} FindingKind;

/* Where a finding occurred. All members are optional. */
typedef struct Place {
    const char *kernel; /* demangled if that is simple */
    const char *file;   /* source file, or NULL */
    int line;           /* in `file`; in the PTX if that is NULL */
    int block[3], thread[3];
    bool has_thread;
    const char *instruction; /* the opcode; not NUL-terminated, see instruction_length */
    int instruction_length;
    uint64_t executed,
        barriers;         /* instructions of the warp, and barriers of the block, until then */
    int other_line;       /* line of the other access in a race; 0: unknown */
    bool other_elsewhere; /* and it is in another file */
    bool has_other;       /* and its thread: */
    int other_block[3], other_thread[3];
    bool provisional; /* replaced by a later finding of this kind at this line that is not */
} Place;

typedef struct Finding {
    FindingKind kind;
    bool fatal;
    Place place;
    char text[400];     /* one or two sentences: what happened, and what to do */
    uint64_t count;     /* number of threads or of occurrences */
    const char *format; /* printf format of `text`; identifies the sentence */
} Finding;

/* Prints the first finding of a kind at a line of a kernel to stderr (unless quiet), and counts
 * later ones. Texts are printf formats. */
void finding(FindingKind kind, bool fatal, const Place *place, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Adds to the count of the finding of this kind at this place, which has a line. False: there is
 * none yet. */
bool finding_more(FindingKind kind, const Place *place, uint64_t more);

/* Prints a note that is not a fault of the program, unless quiet. It is not kept. */
void finding_note(const char *text);

const char *finding_word(FindingKind kind); /* "out of bounds", for the table and the JSON */
int finding_count(void);
const Finding *finding_at(int i);
void finding_print(const char *text); /* to stderr, wrapped at 80 columns */
void finding_quiet(bool quiet);
void finding_reset(void); /* forgets all findings */

/* The finding for other programs. finding_write_as: from now on findings are written to stderr by
 * this function; NULL: as text. */
void finding_annotation(const Finding *found, Annotation *annotation);
void finding_write_as(void (*write)(FILE *out, const Annotation *annotation));

#endif
