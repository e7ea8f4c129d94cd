/* worker.h - a runner with one kernel in it: the conversation (runner/protocol.h), typed.
 *
 * Every call returns PASS when all is well, else the verdict that a student's kernel has earned by
 * it (CRASH, TIMEOUT, STRAY, WRONG, SUSPECT, UNSOUND), with the reason in worker->why. The caller
 * decides whether the kernel in it is a student's: trouble with ours is UNSOUND whatever it was.
 * worker->diagnosis holds the same as codes and numbers.
 */
#ifndef JUDGE_WORKER_H
#define JUDGE_WORKER_H

#include "base/child.h"
#include "base/diagnosis.h"
#include "base/registry.h"
#include "sim/base/limiter.h"
#include "base/verdict.h"

typedef struct GpuInfo {
    char name[96], uuid[64], driver[32], runtime[32];
    int cc; /* 90 for compute capability 9.0 */
    Gpu gpu;
    double free_bytes, total_bytes;
    double peak_gbps; /* of device memory; 0: unknown */
    bool simulated;
} GpuInfo;

/* What a simulated GPU counted: see lab.h's Counter. */
typedef struct Counted {
    double done, least, requests; /* least 0: not known to it */
    int line;                     /* of kernel.cu, the most to blame; 0: unknown */
} Counted;

typedef struct Worker {
    Child child;
    const LabEntry *entry;
    Case lab_case;   /* with the dims in use */
    const Case *row; /* the lab's, which that follows from; NULL: none yet */
    Arrays arrays;   /* their shape; data is NULL */
    int sets;        /* buffer sets allocated */
    uint64_t seed;   /* of the last prepare */
    unsigned char poison;
    double prepare_ms;   /* how long the last prepare took */
    double go_s;         /* when the last go was sent */
    double seen_ms;      /* from then until the first piece of an output was here; 0: none is yet */
    char sandbox[24];    /* how its process is confined: see lockdown_state() */
    char isolation[8];   /* "split": that is a process of its own; or "shared" */
    bool limited;        /* UNSOUND came of what cannot be simulated */
    Diagnosis diagnosis; /* of the last call that did not return PASS */
    char why[900];
} Worker;

/* Two clocks on the same calls: CUDA events in the child, and ours from command to answer. */
typedef struct Timing {
    double event_ms, parent_ms;
} Timing;

enum { WORKER_WINDOW_BYTES = 16 << 20 };

/* Starts a runner. `device`: a number, or the name of a simulated GPU. `streams`: its kernels will
 * be at work in several streams at once. */
Verdict worker_start(Worker *worker, const char *runner, const char *device, bool streams);

/* Brings CUDA up in it, unless that was done, and asks for the GPU. UNSOUND if there is no usable
 * GPU: `why` is the sentence. */
Verdict worker_hello(Worker *worker, GpuInfo *info);

Verdict worker_load(Worker *worker, const LabEntry *entry, const char *object);

/* Allocates `sets` buffer sets for a case of the lab, whose dims may differ from the table's. */
Verdict worker_case(Worker *worker, const Case *lab_case, int sets);

/* New contents from the seed, outputs poisoned. */
Verdict worker_prepare(Worker *worker, uint64_t seed);

/* Calls the kernel once on each of the first `calls` sets. */
Verdict worker_go(Worker *worker, int calls, double limit_s, Timing *timing);

/* Puts `count` elements of an output at the beginning of worker->child.shared. */
Verdict worker_fetch(Worker *worker, int set, int out, size_t first, size_t count);

/* STRAY if a guard zone or an input changed. */
Verdict worker_check_guards(Worker *worker);

/* Of a simulated GPU: whether races and uninitialised reads are looked for, and how many million
 * warp instructions a launch may execute before it counts as endless; what the last go did. */
Verdict worker_checks(Worker *worker, bool on, int millions);
Verdict worker_count(Worker *worker, const Mechanism *mechanism, Counted *counted);

/* Of a simulated GPU: from here on the times of worker_go are modelled; how those of the last one
 * came about. */
typedef struct Timed {
    double launches, untimed;    /* of kernels; of these, without a modelled time */
    double blocks, timed_blocks; /* of all launches; of these, played */
    double instructions;         /* of warps, executed */
    double kernels_ms;           /* all kernels, one after the other */
} Timed;
Verdict worker_model_time(Worker *worker);
Verdict worker_timed(Worker *worker, Timed *timed);

/* What limited the last go: where its time went, and the device's roofs. Its i-th costliest line,
 * false: there is none, or what is told is no cost. */
typedef struct Limited {
    Limits limits;
    double fp32_tflops, memory_gbps;
} Limited;
Verdict worker_limits(Worker *worker, Limited *limited);

/* Of the last go what limits_sentence() says; "" where that is not known. */
void worker_limiter(Worker *worker, char *text, size_t size);

typedef struct LineTraffic {
    double requests, passes, asked; /* as query.h has them */
} LineTraffic;
typedef struct LineCost {
    int line;
    Spent spent; /* ns */
    double instructions, lanes;
    LineTraffic load, store, atomic, shared;
} LineCost;
bool worker_cost(Worker *worker, int i, LineCost *cost);

Verdict worker_clock(Worker *worker, double *mhz);
void worker_drop(Worker *worker); /* frees the arrays */
void worker_end(Worker *worker);

#endif
