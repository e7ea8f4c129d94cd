/* marks.h - what a grading is worth by a lab's policy. Numbers in, marks and a sentence out. */
#ifndef BASE_MARKS_H
#define BASE_MARKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum Growth { GROWTH_LINEAR, GROWTH_LOG } Growth;

/* What `close` is worth: all, what the curve says of its ratio, or nothing until a human decides.
 */
typedef enum Closeness { CLOSE_PASSES, CLOSE_BY_CURVE, CLOSE_BY_HUMAN } Closeness;

/* Each unit of lateness takes a share of what is left, or of the whole. */
typedef enum Lateness { LATE_POWER, LATE_LINEAR } Lateness;

/* How a lab is marked: a section of a course file (course.h). Marks are out of 100. */
typedef struct Policy {
    double weight;       /* of the lab in the course's total */
    double base;         /* earned by what is right and clearly faster than rung 1, */
    double gain;         /* which is this much of the reference's speed; less of it in between */
    Growth growth;       /* of the rest, from rung 1's ratio to the bar */
    double correct;      /* right, speed not judged; negative: the base */
    Closeness close;     /* within what this machine can tell apart of the bar */
    bool has_deadline;   /* else nothing is late */
    int64_t deadline;    /* seconds since 1970: the last one that is on time */
    double late_grace_s; /* up to so much later is on time, too */
    double late_unit_s;  /* each begun hour or day after the deadline... */
    double late_factor;  /* ...leaves this much of the marks */
    Lateness late_curve;
    double late_cutoff_s; /* after so much nothing is worth anything; 0: never */
} Policy;

/* Base 50, gain 0.10, growth linear, close passes, no deadline, weight 1. */
extern const Policy policy_default;

enum { MARKED_CASES = 8 };

/* A timed case that was measured. Ratios are speeds as shares of the reference's. */
typedef struct MarkedCase {
    double ratio, rung1, bar; /* rung1: 0 if it was not measured */
    bool spares_rung1;        /* lab.h */
} MarkedCase;

/* A grading, and when its kernel was handed in. */
typedef struct Graded {
    const char *state; /* a verdict's word; or missing, queued, not graded */
    bool unmarked;     /* the lab is a warm-up */
    MarkedCase cases[MARKED_CASES];
    int count;
    int64_t sent;     /* seconds since 1970; 0: unknown */
    bool marked_late; /* by the learning system, which may not say by how much */
} Graded;

typedef struct Marks {
    bool known;     /* false: still open (queued, not graded, a human decides), or no marks here */
    bool open;      /* of those, the ones that marks will come for */
    double marks;   /* 0 to 100, lateness deducted */
    double whole;   /* before that */
    int64_t late_s; /* after the deadline; 0: on time, or nobody knows */
    char why[400];  /* a sentence; never empty */
} Marks;

void marks_of(const Policy *policy, const Graded *graded, Marks *marks);

/* The whole alone: without lateness. */
double marks_for_cases(const Policy *policy, const MarkedCase *cases, int count);

/* A speed as it is shown beside its bar: to so many decimals, and what is below the bar never looks
 * like it. */
double ratio_shown(double ratio, double bar, int decimals);

/* One timed case, by its ratio, rung 1's and the bar. */
double marks_for_speed(const Policy *policy, double ratio, double rung1, double bar);

/* A student's labs added up by their weights. */
typedef struct Total {
    double sum, weight;
    int open; /* labs whose marks are still to come */
} Total;
void marks_add(Total *total, double weight, const Marks *marks);
double marks_total(const Total *total); /* 0 to 100; 0 where nothing has a weight */

#endif
