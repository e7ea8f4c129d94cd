/* limiter.h - what limits a kernel: where its time went, and the sentence that follows from it.
 *
 * The model of time (sim/time/limits.c) says of each cycle of each scheduler what it was spent on;
 * docs/simulator-time.md, section Limits, has the rules. Here are the words, the sums and the
 * sentence, for the report and for who asks (query.h). Knows nothing of how time is modelled.
 */
#ifndef SIM_BASE_LIMITER_H
#define SIM_BASE_LIMITER_H

#include <stdbool.h>
#include <stddef.h>

/* A row a limit: enumerator, key, what the time was spent on. */
#define LIMIT_ROWS(X)                                                                              \
    X(AT_ISSUE, "issue", "issuing other than FP32")                                                \
    X(AT_FP32, "fp32", "FP32 arithmetic")                                                          \
    X(AT_UNITS, "units", "other arithmetic units")                                                 \
    X(AT_SHARED, "shared", "shared memory")                                                        \
    X(AT_L1, "l1", "L1, ways to and from L2")                                                      \
    X(AT_L2, "l2", "L2")                                                                           \
    X(AT_DRAM, "dram", "DRAM")                                                                     \
    X(AT_ATOMICS, "atomics", "updates of one address")                                             \
    X(AT_LATENCY, "latency", "latency")                                                            \
    X(AT_TAIL, "tail", "tail: SMs without blocks")                                                 \
    X(AT_LAUNCH, "launch", "launches, nothing under way")                                          \
    X(AT_TRANSFER, "transfer", "transfers")

#define LIMIT_ENUM(name, key, words) name,
typedef enum Limit { LIMIT_ROWS(LIMIT_ENUM) LIMITS } Limit;
#undef LIMIT_ENUM

/* Why the warp that was to issue next could not. */
#define WAIT_ROWS(X)                                                                               \
    X(WAIT_UNIT, "unit", "a unit that was taken")                                                  \
    X(WAIT_RESULT, "result", "results of arithmetic")                                              \
    X(WAIT_NEAR, "near", "shared memory and shuffles")                                             \
    X(WAIT_FAR, "far", "global memory")                                                            \
    X(WAIT_BARRIER, "barrier", "other warps at a barrier")                                         \
    X(WAIT_BRANCH, "branch", "branches")                                                           \
    X(WAIT_BLOCK, "block", "a block to come or to end")

#define WAIT_ENUM(name, key, words) name,
typedef enum WaitKind { WAIT_ROWS(WAIT_ENUM) WAITS } WaitKind;
#undef WAIT_ENUM

extern const char *const limit_keys[LIMITS], *const limit_words[LIMITS];
extern const char *const wait_keys[WAITS], *const wait_words[WAITS];

/* Time by limit: of a launch in cycles, of a step in cycles of schedulers. */
typedef struct Spent {
    double at[LIMITS];
} Spent;

double spent_sum(const Spent *spent);
void spent_add(Spent *sum, const Spent *more, double factor);
Limit spent_most(const Spent *spent); /* of equals the first */

/* Of a kernel's launches, or of a call with all of its kernels and copies: all in nanoseconds, but
 * for the counts. */
typedef struct Limits {
    Spent spent;         /* adds up to the time taken */
    double waits[WAITS]; /* of that, what schedulers with warps waited for */
    double busy[LIMITS]; /* how long FP32, SHARED, L1, L2, DRAM, ATOMICS, TRANSFER were at work */
    double flops, bytes; /* single precision; moved by the device's memory */
    double warps;        /* that an SM has at once, of the kernel with most of them */
    double sectors, least_sectors;   /* of global memory: moved; that hold what was asked for */
    double wavefronts, least_shared; /* of shared memory: needed; without bank conflicts */
    double lanes;                    /* that took part in an average instruction, of 32 */
} Limits;

/* The counts by key, so that who hands them on has a table. */
typedef struct LimitCount {
    const char *key;
    size_t offset;
} LimitCount;
enum { LIMIT_COUNTS = 8 };
extern const LimitCount limit_counts[LIMIT_COUNTS];
double *limit_count(Limits *limits, int i);

/* Where on the roofline: operations a byte of memory, and the point above which arithmetic is the
 * roof; 0 operations: a kernel that only moves. `reached`: of the roof there. */
typedef struct Roofline {
    double intensity, ridge, roof_gflops, gflops, gbps, reached;
    bool is_cached; /* no byte came from memory: there is no such point */
} Roofline;

Roofline roofline_of(const Limits *limits, double fp32_tflops, double memory_gbps);

/* What limits it: what is at work nearly all of the time (instructions being issued count, too), or
 * else the largest share. */
Limit limits_most(const Limits *limits);

/* That in one sentence without a full stop; 300 characters are enough. */
void limits_sentence(const Limits *limits, char *text, size_t size);

#endif
