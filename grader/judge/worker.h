/* worker.h - a typed interface to a runner with one kernel (runner/protocol.h).
 *
 * Every call returns PASS, or the verdict that a student's kernel gets for the failure (CRASH,
 * TIMEOUT, STRAY, WRONG, SUSPECT, UNSOUND), with the reason in worker->why. The caller knows
 * whose kernel is loaded: any failure of a kernel of the workbook is UNSOUND. worker->diagnosis
 * holds the same reason as codes and numbers.
 */
#ifndef JUDGE_WORKER_H
#define JUDGE_WORKER_H

#include "base/child.h"
#include "base/diagnosis.h"
#include "base/registry.h"
#include "sim/base/cause.h"
#include "sim/base/limiter.h"
#include "sim/base/records.h"
#include "base/verdict.h"

typedef struct GpuInfo {
    char name[96], uuid[64], driver[32], runtime[32];
    int cc; /* 90 for compute capability 9.0 */
    Gpu gpu;
    double free_bytes, total_bytes;
    double peak_gbps; /* of device memory; 0: unknown */
    bool simulated;
} GpuInfo;

/* The counts of a simulated GPU: see lab.h's Counter. */
typedef struct Counted {
    double done, least, requests;    /* `least` is 0 if no minimum is known */
    int line;                        /* the line of kernel.cu that contributes most; 0: unknown */
    double line_done, line_requests; /* of that line, if the counter belongs to an array */
} Counted;

typedef struct Worker {
    Child child;
    GpuInfo gpu; /* as it was at the last worker_hello() */
    const LabEntry *entry;
    Case lab_case;   /* with the dims in use */
    const Case *row; /* the lab's row that lab_case was derived from; NULL: no case yet */
    Arrays arrays;   /* shapes only; data is NULL */
    int sets;        /* buffer sets allocated */
    uint64_t seed;   /* of the last worker_prepare() */
    unsigned char poison;
    double prepare_ms;   /* duration of the last worker_prepare() */
    double go_s;         /* when the last "go" was sent */
    double seen_ms;      /* from go_s until the first part of an output arrived; 0: none has yet */
    char sandbox[24];    /* how the process is confined: see lockdown_state() */
    char isolation[8];   /* "split": the kernel has a process of its own; or "shared" */
    bool limited;        /* UNSOUND because the kernel cannot be simulated */
    Diagnosis diagnosis; /* of the last call that did not return PASS */
    char why[900];
} Worker;

/* Two clocks for the same calls: CUDA events in the child, and the parent's clock from command
 * to answer. */
typedef struct Timing {
    double event_ms, parent_ms;
} Timing;

enum { WORKER_WINDOW_BYTES = 16 << 20 };

/* Starts a runner. `device`: a number, or the name of a simulated GPU. `streams`: its kernels
 * run in several streams at once. */
Verdict worker_start(Worker *worker, const char *runner, const char *device, bool streams);

/* Initialises CUDA in the runner, if necessary, and stores what it says about the GPU in
 * worker->gpu. UNSOUND if there is no usable GPU; `why` then says so in a sentence. */
Verdict worker_hello(Worker *worker);

Verdict worker_load(Worker *worker, const LabEntry *entry, const char *object);

/* Allocates `sets` buffer sets for a case of the lab. Its dims may differ from the table's. */
Verdict worker_case(Worker *worker, const Case *lab_case, int sets);

/* Fills the inputs from the seed and poisons the outputs. */
Verdict worker_prepare(Worker *worker, uint64_t seed);

/* Calls the kernel once on each of the first `calls` sets. */
Verdict worker_go(Worker *worker, int calls, double limit_s, Timing *timing);

/* The two halves of worker_go(): several workers may run their calls at the same time. */
Verdict worker_go_on(Worker *worker, int calls, double limit_s);
Verdict worker_went(Worker *worker, Timing *timing);

/* worker_run: worker_prepare(), then worker_go(). worker_once: also worker_case() first, with one
 * set that is called once. */
Verdict worker_run(Worker *worker, uint64_t seed, int calls, double limit_s, Timing *timing);
Verdict worker_once(Worker *worker, const Case *lab_case, uint64_t seed, double limit_s,
                    Timing *timing);

/* Puts `count` elements of an output at the beginning of worker->child.shared. */
Verdict worker_fetch(Worker *worker, int set, int out, size_t first, size_t count);

/* STRAY if a guard zone or an input has changed. */
Verdict worker_check_guards(Worker *worker);

/* Simulated GPU only. worker_checks: turns the checks for races and uninitialised reads on or
 * off, and sets the order of warps and blocks (0: forward, odd: backward, else random with this
 * seed) and how many million warp instructions each launch may execute before it counts as endless.
 * worker_count: reads a counter of the last worker_go(). */
Verdict worker_checks(Worker *worker, bool on, int order, int millions);
Verdict worker_count(Worker *worker, const Mechanism *mechanism, Counted *counted);

/* Simulated GPU only. worker_model_time: from now on worker_go() reports modelled times, which
 * leave out these causes of slowness. worker_timed: how the time of the last worker_go() was
 * obtained. */
typedef struct Timed {
    double launches, untimed;    /* kernel launches; those without a modelled time */
    double blocks, timed_blocks; /* of all launches; those that were timed */
    double instructions;         /* warp instructions executed */
    double kernels_ms;           /* sum over all kernels, as if run one after the other */
} Timed;
Verdict worker_model_time(Worker *worker, CauseSet without);
Verdict worker_timed(Worker *worker, Timed *timed);

/* worker_limits: what limited the last worker_go(): where its time went, and the device's roofs.
 * worker_cost: its i-th costliest line; false if it does not exist, or if the reply is invalid. */
typedef struct Limited {
    Limits limits;
    double fp32_tflops, memory_gbps;
} Limited;
Verdict worker_limits(Worker *worker, Limited *limited);

/* The text of limits_sentence() for the last worker_go(); "" if unknown. */
void worker_limiter(Worker *worker, char *text, size_t size);

typedef struct LineTraffic {
    double requests, passes, asked; /* as in query.h */
} LineTraffic;
typedef struct LineCost {
    int line;
    Spent spent;                          /* ns */
    double instructions, lanes, barriers; /* of warps; barriers: how often one waited */
    LineTraffic load, store, atomic, shared;
} LineCost;
bool worker_cost(Worker *worker, int i, LineCost *cost);

/* Simulated GPU only. worker_record: from the next worker_go() on, samples are kept (-1: any block
 * or warp). worker_records: fetches and checks them. */
Verdict worker_record(Worker *worker, const RecordFilter *filter);
Verdict worker_records(Worker *worker, Records *records);

/* The same for a trace (sim/report/trace.h). worker_traced: `*text` is in the memory that the
 * worker shares, up to the next command. */
Verdict worker_trace(Worker *worker);
Verdict worker_traced(Worker *worker, const char **text, size_t *bytes);

Verdict worker_clock(Worker *worker, double *mhz);
void worker_drop(Worker *worker); /* frees the arrays */

/* worker->why, with the case that failed in front of it: "case flat: ...". */
void worker_reason(const Worker *worker, char *text, size_t size);

void worker_end(Worker *worker);

#endif
