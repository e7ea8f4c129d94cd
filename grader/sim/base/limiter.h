/* limiter.h - what limits a kernel: where its time went, and a sentence that describes it.
 *
 * The model of time (sim/time/limits.c) attributes each cycle of each scheduler; the rules are in
 * docs/simulator-time.md, section Limits. This file has the names, the sums and the sentence, for
 * the report and for the runner (query.h). It does not depend on the model.
 */
#ifndef SIM_BASE_LIMITER_H
#define SIM_BASE_LIMITER_H

#include <stdbool.h>
#include <stddef.h>

/* One row per limit: enumerator, key, description of how the time was spent. */
#define LIMIT_ROWS(X)                                                                              \
    X(AT_ISSUE, "issue", "issuing other than FP32")                                                \
    X(AT_FP32, "fp32", "FP32 arithmetic")                                                          \
    X(AT_UNITS, "units", "other arithmetic units")                                                 \
    X(AT_SHARED, "shared", "shared memory")                                                        \
    X(AT_L1, "l1", "L1, paths to and from L2")                                                     \
    X(AT_L2, "l2", "L2")                                                                           \
    X(AT_DRAM, "dram", "DRAM")                                                                     \
    X(AT_ATOMICS, "atomics", "updates of one address")                                             \
    X(AT_LATENCY, "latency", "latency")                                                            \
    X(AT_TAIL, "tail", "tail: SMs without blocks")                                                 \
    X(AT_LAUNCH, "launch", "launches, idle GPU")                                                   \
    X(AT_TRANSFER, "transfer", "transfers")

#define LIMIT_ENUM(name, key, words) name,
typedef enum Limit { LIMIT_ROWS(LIMIT_ENUM) LIMITS } Limit;
#undef LIMIT_ENUM

/* Why the warp that was to issue next could not. */
#define WAIT_ROWS(X)                                                                               \
    X(WAIT_UNIT, "unit", "a busy unit")                                                            \
    X(WAIT_RESULT, "result", "results of arithmetic")                                              \
    X(WAIT_NEAR, "near", "shared memory and shuffles")                                             \
    X(WAIT_FAR, "far", "global memory")                                                            \
    X(WAIT_BARRIER, "barrier", "other warps at a barrier")                                         \
    X(WAIT_BRANCH, "branch", "branches")                                                           \
    X(WAIT_BLOCK, "block", "a block to start or to end")

#define WAIT_ENUM(name, key, words) name,
typedef enum WaitKind { WAIT_ROWS(WAIT_ENUM) WAITS } WaitKind;
#undef WAIT_ENUM

extern const char *const limit_keys[LIMITS], *const limit_words[LIMITS];
extern const char *const limit_nouns[LIMITS]; /* for "limited by ..." */
extern const char *const wait_keys[WAITS], *const wait_words[WAITS];

/* Time by limit: in cycles for a launch, in scheduler cycles for a step. */
typedef struct Spent {
    double at[LIMITS];
} Spent;

double spent_sum(const Spent *spent);
void spent_add(Spent *sum, const Spent *more, double factor);
Limit spent_most(const Spent *spent); /* in a tie, the first */

/* For a kernel's launches, or for a call with all its kernels and copies. Times are in nanoseconds.
 */
typedef struct Limits {
    Spent spent;         /* adds up to the time taken */
    double waits[WAITS]; /* part of that: what schedulers with warps waited for */
    double busy[LIMITS]; /* busy time of FP32, SHARED, L1, L2, DRAM, ATOMICS, TRANSFER */
    double flops, bytes; /* single-precision operations; bytes moved by the device's memory */
    double warps;        /* resident per SM, in the kernel with the most */
    double sectors, least_sectors;   /* of global memory: moved; minimum for the data */
    double wavefronts, least_shared; /* shared memory: actual; without bank conflicts */
    double lanes;                    /* active lanes per instruction on average, out of 32 */
} Limits;

/* The counts by key, for the runner's protocol. */
typedef struct LimitCount {
    const char *key;
    size_t offset;
} LimitCount;
enum { LIMIT_COUNTS = 8 };
extern const LimitCount limit_counts[LIMIT_COUNTS];
double *limit_count(Limits *limits, int i);

/* A point on the roofline: operations per byte of memory, and the ridge point, above which
 * arithmetic is the roof. 0 operations: the kernel only moves data. `reached`: the share of the
 * roof that the kernel achieves. */
typedef struct Roofline {
    double intensity, ridge, roof_gflops, gflops, gbps, reached;
    bool is_cached; /* no byte came from memory, so the point is undefined */
} Roofline;

Roofline roofline_of(const Limits *limits, double fp32_tflops, double memory_gbps);

/* The limit: the unit (or instruction issue) that is busy nearly all of the time, or else the
 * largest share. */
Limit limits_most(const Limits *limits);

/* Describes the limit in one sentence without a full stop, of at most 300 characters. */
void limits_sentence(const Limits *limits, char *text, size_t size);

#endif
