/* facts.h - what the simulated GPU counted when it ran a kernel once: the answers of the quiz.
 *
 * The run is that of `warpbook draw`: the same case, size and inputs. So the numbers of a question
 * are those of the picture that explains it.
 */
#ifndef LEARNER_QUIZ_FACTS_H
#define LEARNER_QUIZ_FACTS_H

#include "draw/collect.h"

enum { FACT_LINES = 40, FACT_SOURCE = 60 };

/* A line of the kernel, with its counters over all warps. */
typedef struct FactLine {
    LineCost cost;
    double barriers_doubled;      /* as cost.barriers, in a call of twice the size; 0: not run */
    char source[FACT_SOURCE + 4]; /* trimmed, cut off with "..." */
} FactLine;

/* Copies and kernels in streams. */
typedef struct FactSpans {
    double call_ns, sum_ns;  /* from the first to the last; each after the other */
    double busy_ns[ENGINES]; /* at least one copy or kernel of this kind runs */
    double count[ENGINES];
    int streams;
} FactSpans;

typedef struct KernelFacts {
    const LabEntry *entry;
    Case sized;   /* the case, with its dims */
    Case doubled; /* twice the size; label NULL: not run */
    char device[96];
    int sms;
    char array[24];     /* the largest array, as kernel.h calls it */
    double elements;    /* that it holds */
    double array_bytes; /* of all inputs and outputs */
    double l2_bytes;
    Limits limits;              /* of the call */
    FactLine lines[FACT_LINES]; /* costliest first */
    int line_count;
    int launches;           /* 0: more than were recorded */
    double blocks, threads; /* of the longest launch: blocks; threads per block */
    double resident;        /* blocks that the GPU holds at once; 0: unknown */
    double warps;           /* of all launches; 0: unknown */
    double warps_doubled;
    FactSpans spans;
} KernelFacts;

/* Runs the kernel of the job: once, or twice if it has barriers. Returns false, with the reason in
 * `why` (COLLECT_WHY bytes), if it could not be run. */
bool facts_collect(const CollectJob *job, KernelFacts *facts, char *why);

/* For tests: what spans amount to. */
void facts_of_spans(const Span *spans, int count, FactSpans *facts);

#endif
