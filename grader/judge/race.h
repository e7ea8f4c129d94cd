/* race.h - how fast is one kernel beside another: blocks of four samples, and when to stop.
 *
 * A block is R S S R or S R R S, drawn at random: whatever drifts (clocks, heat) hits both alike
 * and cancels. Its ratio is the reference's time over the student's, a call: the student's speed as
 * a share of the reference's. The verdict rests on the median ratio and its 95 % interval, whenever
 * the race ends (judge/race.c, planned looks). Knows
 * nothing of processes: the two sides are functions, so that tests can play them.
 */
#ifndef JUDGE_RACE_H
#define JUDGE_RACE_H

#include <stdbool.h>
#include "base/stats.h"
#include "base/verdict.h"

/* One sample: all its calls together, by both clocks, and how many answers were waited for. */
typedef struct Sample {
    double event_ms, parent_ms;
    double between_ms; /* making the arrays, before the calls */
    int calls, passes;
} Sample;

typedef struct Candidate {
    void *self;
    Verdict (*sample)(void *self, Sample *sample); /* PASS, or what went wrong */
} Candidate;

typedef struct Race {
    Candidate reference, student;
    double bar;      /* 0: none, measure `least` blocks */
    int least, most; /* blocks: looks at `least`, twice that, ... up to `most` */
    double
        budget_s; /* beyond this a kernel far below the bar is given up; 20 times this is the end */
    uint64_t random;                            /* state of the draws */
    bool (*clock_mhz)(void *self, double *mhz); /* NULL: clocks are not looked at */
    void *clock_self;
    void (*progress)(void *self, int blocks); /* NULL: nobody watches */
    void *progress_self;
} Race;

typedef struct Outcome {
    Verdict trouble;     /* PASS, or what a side returned; then the rest is not filled */
    bool student_guilty; /* whose trouble it was */
    Interval ratio;
    double reference_ms, student_ms; /* medians, a call */
    int blocks;                      /* counted */
    int disturbed;                   /* dropped: a sample came later than its events say */
    int unsteady;                    /* dropped: the SM clock moved */
    bool by_parent;                  /* the student's events lie: the parent's clock counts */
    bool cut_short;                  /* too slow to go on with: few blocks will do */
    double mhz;                      /* the SM clock, median; 0: not looked at */
} Outcome;

/* The most blocks, dropped ones included. One more comes before them and is thrown away: the first
 * touches of new buffers are slow. */
enum { SPEED_BLOCKS = 240 };

void race(Race *race, Outcome *finish);

#endif
