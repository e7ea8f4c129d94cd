/* compare_speed.h - compares the speed of two kernels: blocks of four samples, and when to stop.
 *
 * A block is R S S R or S R R S, drawn at random: drift (clocks, heat) affects both sides alike and
 * cancels. The ratio of a block is the reference's time per call over the student's, that is, the
 * student's speed as a share of the reference's. The verdict depends on the median ratio and its 95
 * % interval when it stops (see the planned looks in compare_speed.c).
 *
 * This module does not know about processes: the two sides are functions, so that tests can
 * simulate them.
 */
#ifndef JUDGE_COMPARE_SPEED_H
#define JUDGE_COMPARE_SPEED_H

#include <stdbool.h>
#include "base/stats.h"
#include "base/verdict.h"

/* One sample: the total time of its calls by both clocks, and how many replies it waited for. */
typedef struct Sample {
    double event_ms, parent_ms;
    double between_ms; /* time to fill the arrays, before the calls */
    int calls, passes;
} Sample;

typedef struct Candidate {
    void *self;
    Verdict (*sample)(void *self, Sample *sample); /* PASS or the verdict of the failure */
} Candidate;

typedef struct Comparison {
    Candidate reference, student;
    double bar;      /* 0: no bar, measure `least` blocks */
    int least, most; /* looks at `least` blocks, twice that, ... up to `most` */
    double budget_s; /* after this time, gives up a kernel far below the bar; stops after 20 times
                        this */
    uint64_t random; /* state of the random numbers */
    bool (*clock_mhz)(void *self, double *mhz); /* NULL: clocks are not checked */
    void *clock_self;
    void (*progress)(void *self, int blocks); /* NULL: no progress report */
    void *progress_self;
} Comparison;

typedef struct Outcome {
    Verdict verdict;     /* PASS, or the verdict of a failed side; then the rest is not set */
    bool student_failed; /* the failed side is the student's */
    Interval ratio;
    double reference_ms, student_ms; /* medians per call */
    int blocks;                      /* number of blocks counted */
    int disturbed;                   /* dropped because a sample was later than its events say */
    int unsteady;                    /* dropped because the SM clock changed */
    bool by_parent; /* the student's events are wrong, so the parent's clock counts */
    bool cut_short; /* too slow to continue, so there are few blocks */
    double mhz;     /* median SM clock; 0: not checked */
} Outcome;

/* The maximum number of blocks, including dropped ones. One more block comes first and is not
 * counted, because first touches of new buffers are slow. */
enum { SPEED_BLOCKS = 240 };

void compare_speed(Comparison *comparison, Outcome *outcome);

#endif
