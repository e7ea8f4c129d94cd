/* marks.h - the marks that a lab's policy gives for a grading, with a sentence that explains
 * them. */
#ifndef BASE_MARKS_H
#define BASE_MARKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum Growth { GROWTH_LINEAR, GROWTH_LOG } Growth;

/* The marks for `close`: full marks, the curve's marks for its ratio, or none until a human
 * decides. */
typedef enum Closeness { CLOSE_PASSES, CLOSE_BY_CURVE, CLOSE_BY_HUMAN } Closeness;

/* Each unit of lateness takes a share of the remaining marks, or of the total. */
typedef enum Lateness { LATE_POWER, LATE_LINEAR } Lateness;

/* Whether a correct kernel is judged by its time, or by counters on the simulated GPU, compared
 * with the lab's bounds. */
typedef enum Judged { JUDGED_BY_TIME, JUDGED_BY_COUNTS } Judged;

/* How a lab is marked: a section of a course file (course.h). Marks are out of 100. */
typedef struct Policy {
    double weight;     /* of the lab in the course's total */
    double base;       /* marks for a correct kernel that is clearly faster than rung 1 */
    double gain;       /* the lead that earns all of `base`, as a share of the reference's speed */
    Growth growth;     /* how the other marks grow from rung 1's ratio to the bar */
    double correct;    /* for a correct kernel whose speed is not judged; negative: `base` */
    Closeness close;   /* too near the bar for this machine's resolution */
    bool has_deadline; /* otherwise nothing is late */
    int64_t deadline;  /* seconds since 1970: the last second that is on time */
    double late_grace_s; /* a kernel late by at most this still counts as on time */
    double late_unit_s;  /* an hour or a day; a started one counts in full */
    double late_factor;  /* lost share per unit: 1 - late_factor, as late_curve says */
    Lateness late_curve;
    double quiz; /* share of the marks for answers about the own kernel; negative: not asked */
    Judged judge;
    double late_cutoff_s; /* after this much lateness there are no marks; 0: never */
} Policy;

/* Base 50, gain 0.10, growth linear, close passes, no deadline, weight 1. */
extern const Policy policy_default;

enum { MARKED_CASES = 8 };

/* A timed case that was measured. Ratios are speeds as shares of the reference's. */
typedef struct MarkedCase {
    double ratio, rung1, bar; /* rung1: 0 if it was not measured */
    bool spares_rung1;        /* lab.h */
} MarkedCase;

/* What a person decided about the marks. A pass can still be late; marks that a person sets are
 * final. */
typedef enum Decided { NOT_DECIDED, DECIDED_PASS, DECIDED_MARKS } Decided;

/* A grading, when its kernel was submitted, and what people decided about it. */
typedef struct Graded {
    const char *state; /* a verdict's word; or missing, withdrawn, queued, not graded */
    bool unmarked;     /* the lab is a warm-up */
    MarkedCase cases[MARKED_CASES];
    int count;
    int64_t sent;     /* seconds since 1970; 0: unknown */
    bool marked_late; /* by the learning system, which may not report by how much */
    bool excused;     /* the lab leaves the student's total */
    Decided decided;
    double decided_marks; /* DECIDED_MARKS: 0 to 100, after lateness */
    int late_days;        /* of the student's budget, used for this lab */
} Graded;

typedef struct Marks {
    bool known; /* false: still open (queued, not graded, a human decides), or this lab has no marks
                 */
    bool open;  /* marks are still to come */
    double marks;   /* 0 to 100, lateness deducted */
    double whole;   /* marks before lateness */
    int64_t late_s; /* time after the deadline; 0: on time, within the grace period, or unknown */
    bool excused;   /* the lab leaves the total: neither known nor open */
    char why[400];  /* a sentence; never empty */
} Marks;

void marks_of(const Policy *policy, const Graded *graded, Marks *marks);

/* The policy with a later deadline, if the lab has one: by `by_s` seconds, or, if that is 0, at
 * `until`. */
Policy marks_extended(const Policy *policy, double by_s, int64_t until);

/* The number of late days, at most `left`, that this lab takes from the student's budget: the
 * fewest that save most. A lab takes none if they save no marks. `marks` are those without late
 * days. */
int marks_late_days(const Policy *policy, const Marks *marks, int left);

/* Mixes in the answers about the kernel: `right` of `asked`. Does nothing unless the policy gives
 * them a share. A kernel that does not pass is not asked about: asked is 0, and so is its share. */
void marks_mix_quiz(const Policy *policy, int right, int asked, Marks *marks);

/* The marks of each case, before lateness; their mean is marks_for_cases(). A case that spares
 * rung 1 may count less than its speed alone would earn. */
void marks_by_case(const Policy *policy, const MarkedCase *cases, int count, double *marks);

/* The marks before lateness. */
double marks_for_cases(const Policy *policy, const MarkedCase *cases, int count);

/* A speed as it is shown next to its bar: rounded to `decimals`, but a speed below the bar never
 * rounds up to the bar. */
double ratio_shown(double ratio, double bar, int decimals);

/* The marks for one timed case, from its ratio, rung 1's ratio and the bar. */
double marks_for_speed(const Policy *policy, double ratio, double rung1, double bar);

/* A student's marks, summed over labs by weight. */
typedef struct Total {
    double sum, weight;
    int open; /* labs whose marks are still to come */
} Total;
void marks_add(Total *total, double weight, const Marks *marks);
double marks_total(const Total *total); /* 0 to 100; 0 if no lab has a weight */

#endif
