/* grade.h - grades one submission against one lab. */
#ifndef JUDGE_GRADE_H
#define JUDGE_GRADE_H

#include "base/diagnosis.h"
#include "base/random.h"
#include "base/marks.h"
#include "judge/session.h"
#include "judge/compare_speed.h"

enum { GRADE_CASES = 8 };

/* The measurements of one timed or control case. */
typedef struct CaseSpeed {
    const Case *lab_case; /* the lab's row */
    long dim[LAB_DIMS];
    double bar;
    bool measured;
    Interval ratio;                  /* the student's speed as a share of the reference's */
    double student_ms, reference_ms; /* per call */
    double gbps, gflops, gsteps;     /* the student's, counting only the minimum work of the case */
    double reference_gbps;
    double resolution; /* half-width of the A/A interval, reference against itself; 0: not known */
    int blocks, dropped, pairs;
    bool by_parent;
    double timed_blocks, simulated_blocks; /* blocks with a modelled time, and all; 0: none */
    double floor;                          /* rung 1's ratio; 0: not needed */
    Diagnosis unjudged;                    /* the reason if not judged; saw 0: none */
} CaseSpeed;

typedef struct Result {
    const LabEntry *entry;
    Verdict verdict;
    Verdict as_it_ran;                 /* the verdict that an UNCHANGED starter would have got */
    Diagnosis diagnosis;               /* the observations that belong to this verdict */
    char why[4700];                    /* one or more sentences; "" for a plain pass */
    BuildErrors errors;                /* verdict BUILD: those that belong to a line */
    char cause[1200];                  /* slow: the part of `why` that explains it; "" if unknown */
    uint64_t right_cases, wrong_cases; /* bit i: row i of lab.cases was checked, and its result
                                          was right, or wrong */
    char note[1000];                   /* further remarks; "" if none */
    char above[400]; /* a pass: which of the lab's limits a counter exceeds; "" if none is known */
    Diagnosis exceeded; /* the same as data */
    char flags[160];    /* words for a human: "clock interference faster-than-known" */
    char isolation[8];  /* "split": the kernel had its own process; or "shared"; "": it never ran */
    char sandbox[24];   /* how the student's process was confined; "" if it never ran */
    char printed[600];  /* the beginning of what the student's code printed */
    char limiter[400];  /* what limits a slow kernel: a sentence, no full stop; "": unknown */
    CaseSpeed speed[GRADE_CASES];
    int speeds;
    double marks; /* 0 .. 100 */
    double ratio; /* lowest over the timed cases; 0 if not measured */
    uint64_t seed;
    uint64_t hash;     /* of the lab */
    char source[PATH]; /* the file that was graded */
    uint64_t source_hash;
    double wall_s;
} Result;

/* Grades the file `source`, called `shown` in messages. Never fails: every failure becomes a
 * verdict. The starter is run too, and its figures are shown; its verdict is UNCHANGED. */
void grade(Session *session, const LabEntry *entry, const char *source, const char *shown,
           Result *result);

/* Only builds the submission, without a GPU. The build stays in the cache for a later grading.
 * The caller sets result->entry. */
void grade_build(Session *session, const char *source, Result *result, Build *built);

/* True if the reason is that not even rung 1 is slow on this device; such a case is left out if
 * another one decides. */
static inline bool case_is_blind(const CaseSpeed *speed)
{
    return speed->unjudged.saw & SAW(SAW_BLIND);
}

/* The unit that says most about the case's task, without the prefix for 10^9: "step/s" if the lab
 * counts steps, "FLOP/s" if it computes much more than it moves, else "B/s". */
static inline const char *case_unit(const CaseSpeed *speed)
{
    return speed->gsteps > 0 ? "step/s" : speed->gflops > 4 * speed->gbps ? "FLOP/s" : "B/s";
}

/* The student's speed in that unit, times 10^9. */
static inline double case_rate(const CaseSpeed *speed)
{
    return speed->gsteps > 0                 ? speed->gsteps
           : speed->gflops > 4 * speed->gbps ? speed->gflops
                                             : speed->gbps;
}

/* Why a kernel failed; for the starter, without the words that say that it is the starter. */
const char *why_it_failed(const Result *result);

/* Extracts what the marks depend on: the verdict, and the timed cases that were measured. */
void graded_of(const Result *result, Graded *graded);

/* judge_correctness (judge/correctness.c): runs every CORRECT case in a child process. On a real
 * GPU it then runs the small cases on the simulated GPU, which sees errors that a real one may
 * hide. judge_mechanism (judge/counter_bounds.c): judges by counters on a simulated GPU, where the
 * speed cannot be judged for the reason in result->diagnosis.
 * judge_counts (the same file): by counters alone, on any device, as a course can ask.
 * judge_modelled (judge/timing_sim.c): judges the speed on a simulated GPU by modelled time.
 * judge_speed (judge/timing_gpu.c): judges the speed on a real GPU. */
void judge_correctness(Session *session, const char *object, Result *result, Draws *random);
void judge_mechanism(Session *session, const char *object, Result *result, Draws *random);
void judge_counts(Session *session, const char *object, Result *result, Draws *random);
void judge_modelled(Session *session, const char *reference, const char *object, Result *result,
                    Draws *random);
void judge_speed(Session *session, const char *reference, const char *object, Result *result,
                 Draws *random);

#endif
