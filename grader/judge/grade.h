/* grade.h - one submission against one lab. */
#ifndef JUDGE_GRADE_H
#define JUDGE_GRADE_H

#include "base/diagnosis.h"
#include "base/random.h"
#include "base/marks.h"
#include "judge/session.h"
#include "judge/race.h"

enum { GRADE_CASES = 8 };

/* What was measured in one timed or control case. */
typedef struct CaseSpeed {
    const Case *lab_case; /* the lab's row */
    long dim[LAB_DIMS];
    double bar;
    bool measured;
    Interval ratio;                  /* the student's speed as a share of the reference's */
    double student_ms, reference_ms; /* a call */
    double gbps, gflops;             /* the student's, by the least work */
    double reference_gbps;
    double resolution; /* half-width of the A/A interval; 0: not taken */
    int blocks, dropped, pairs;
    bool by_parent;
    double timed_blocks, simulated_blocks; /* modelled: blocks played, of all; 0: none were */
    double floor;                          /* rung 1's ratio; 0: not needed */
    char why_not[200];                     /* measured is false: the reason */
    bool blind; /* ... which is that not even rung 1 would be slow: left out beside others */
} CaseSpeed;

typedef struct Result {
    const LabEntry *entry;
    Verdict verdict;
    Verdict as_it_ran;   /* what an UNCHANGED starter would have got */
    Diagnosis diagnosis; /* what was seen, that comes with this verdict */
    char why[4700];      /* a sentence or more; "" for a plain pass */
    char note[512];      /* what else there is to say; "" if nothing */
    char flags[160];     /* words for a human: "clock interference faster-than-known" */
    char isolation[8];   /* "split": it had a process of its own, or "shared"; as sandbox */
    char sandbox[24];    /* how the student's process was confined; "" if it never ran */
    char printed[600];   /* what the student's code printed, its beginning */
    char limiter[400];   /* what limits a slow one, in a sentence without its end; "": not known */
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

/* Grades the file `source`, called `shown` in messages. Never fails: what goes wrong is a verdict.
 * The starter is run too, and its figure shown; its verdict is UNCHANGED. */
void grade(Session *session, const LabEntry *entry, const char *source, const char *shown,
           Result *result);

/* Its build alone, kept in the cache for a later grading: without a GPU. result->entry is given. */
void grade_build(Session *session, const char *source, Result *result, Build *built);

/* What its marks follow from: its verdict, and the timed cases that were measured. */
void graded_of(const Result *result, Graded *graded);

/* judge/check.c: every CORRECT case in a process of its own; on a real GPU, then, the small ones on
 * the simulated GPU, which sees what a real one may hide. judge/decide_sim.c: how fast it is on a
 * simulated one, by the model of time. judge/counter_bounds.c: what it does there, which decides
 * where its speed cannot be judged, for the reason `unjudged`. judge/timing_gpu.c: how fast it is
 * on a real GPU. */
void judge_correctness(Session *session, const char *object, Result *result, Draws *random);
void judge_mechanism(Session *session, const char *object, const char *unjudged, Result *result,
                     Draws *random);
void judge_modelled(Session *session, const char *reference, const char *object, Result *result,
                    Draws *random);
void judge_speed(Session *session, const char *reference, const char *object, Result *result,
                 Draws *random);

#endif
