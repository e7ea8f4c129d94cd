/* sweep.h - `make sweep LAB=x`: how a lab's kernel and its reference fare as one size changes. */
#ifndef LEARNER_SWEEP_H
#define LEARNER_SWEEP_H

#include "judge/session.h"
#include "learner/command_line.h"

enum { SWEEP_POINTS = LAB_SWEEP, SWEEP_NAME = 40 };

typedef struct SweepPoint {
    char name[SWEEP_NAME];
    double yours, reference; /* in the sweep's unit; 0: unknown */
} SweepPoint;

typedef struct Sweep {
    const LabEntry *entry;
    char what[80], unit[16], where[160]; /* where: device and date */
    char kernel[80];                     /* whose: "your kernel", "1_naive.cu" */
    SweepPoint points[SWEEP_POINTS];
    int count;
    bool is_machines; /* nothing could be timed, because of the machine or the grader */
    char why[200];    /* why the first missing speed is missing; "": none is */
} Sweep;

/* Times both kernels at each value, on the session's device. Returns false, with `why`, if no
 * kernel could be timed. */
bool sweep_measure(Session *session, const LabEntry *entry, const char *source, const char *shown,
                   Sweep *sweep);

/* The file of a sweep: docs/measured/LAB.sweep.txt has an H200's. sweep_read() returns false if it
 * has no points. */
void sweep_write(const Sweep *sweep, FILE *to);
bool sweep_read(const LabEntry *entry, const char *text, size_t bytes, Sweep *sweep);

/* Bars in a terminal. Then both sweeps as a picture; `stored` may be NULL: the picture says that
 * there is none. */
void sweep_print(const Sweep *sweep, FILE *to);
void sweep_draw(const Sweep *sweep, const Sweep *stored, FILE *to);

int run_sweep(Options *options);

#endif
