/* trial.h - runs the cases of one submission in one worker. */
#ifndef JUDGE_TRIAL_H
#define JUDGE_TRIAL_H

#include "judge/grade.h"

/* Which cases run, and how, by the total number of elements in their arrays. */
typedef struct Scope {
    bool simulated;
    size_t most, large; /* cases above `most` are left out; cases above `large` are large */
    int small_millions, large_millions; /* limit of warp instructions per launch, at least this */
} Scope;

/* The cases of one submission in one worker. */
typedef struct Trial {
    Session *session;
    Worker *worker;
    const LabEntry *entry;
    const char *object;
    const Scope *scope;
    Draws *random;
    bool two_at_a_time;             /* the large cases run in two processes */
    bool forward;                   /* on a simulated GPU all warps and blocks run in order */
    char given_up[200];             /* labels of large cases that exceeded their limit */
    int right, wrong, skipped, all; /* cases; the repeated one counts once */
    uint64_t right_cases,
        wrong_cases; /* bit i: row i of lab.cases was checked, with this outcome */
} Trial;

/* A row of the lab's table, with the dims for this worker's GPU. */
Case trial_sized(const Trial *trial, const Case *row);

/* The number of elements in all arrays of the case. */
size_t trial_elements(const Trial *trial, const Case *sized);

/* True if the case runs without the checks for races and initialisation. */
bool trial_is_large(const Trial *trial, const Case *sized);

/* Notes the label of a case that is too large to simulate. */
void trial_note_skipped(Trial *trial, const Case *row);

/* Starts a worker and loads the submission. */
Verdict trial_start(Trial *trial);

/* Runs one case and checks its outputs. The contents of its inputs are drawn. */
Verdict trial_run(const Trial *trial, const Case *sized);

/* The same. A large case that exceeds its limit on a simulated GPU is no evidence against the
 * kernel: then sets *skipped, notes the case's label, and returns whether a new worker started. */
Verdict trial_run_or_give_up(Trial *trial, const Case *row, bool *skipped);

#endif
