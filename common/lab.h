/* lab.h - the contract between a lab and the grader.
 *
 * A lab's kernel.h declares one function, the student's kernel.cu defines it, and the author's
 * lab.c describes everything else in one `Lab`: the cases, the arrays, the right answer, the least
 * work. lab.c is plain C without CUDA: it links into the grader, into the runner and into the
 * tests.
 */
#ifndef LAB_H
#define LAB_H

#ifdef __cplusplus
#define LAB_API extern "C" __attribute__((visibility("default")))
#else
#define LAB_API extern

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fill.h"

enum {
    LAB_DIMS = 4,
    LAB_IN = 4,
    LAB_OUT = 2,
    LAB_HINTS = 3,
    LAB_SYMBOLS = 16,
    LAB_PREDICTIONS = 8,
    LAB_MECHANISM = 6,
    LAB_REMEDIES = 32
};

/* What sizes of timed cases may depend on; all read from the device. */
typedef struct Gpu {
    int sms;
    size_t l2_bytes;
} Gpu;

/* CORRECT: checked whole. TIMED: checked by samples, and its speed must reach `bar`.
 * CONTROL: timed and shown, never graded: the case in which the lab's flaw cannot bite. */
typedef enum CaseKind { CORRECT, TIMED, CONTROL } CaseKind;

typedef struct Case {
    const char *label;
    long dim[LAB_DIMS]; /* TIMED, CONTROL: where speed is not judged, on a simulated GPU */
    CaseKind kind;
    double bar; /* TIMED: least fraction of the reference's speed */

    /* Sets dim for a GPU; NULL: dim stands as it is. For TIMED and CONTROL cases `scale` starts at
     * 1 and doubles until the reference takes 0.2 ms, or 0.1 ms of modelled time; sizes grow with
     * it. Of balanced ones, on a simulated GPU, it starts at 1 / 64. For CORRECT ones it is 1.
     */
    void (*size)(long dim[LAB_DIMS], const Gpu *gpu, double scale);

    /* TIMED: the lab's flaw bites little here, or not at all. It is for those who cure it halfway,
     * or do something worse; rung 1 need not lie far under the bar. One case at least must have no
     * such mark. */
    bool spares_rung1;

    /* CONTROL: what launches cost is what it shows; `scale` stays 1, however short a call is. */
    bool stays_short;

    /* CORRECT: too long to simulate, and there for what its launches are refused for. A simulated
     * GPU begins it, and no more. */
    bool only_begun;

    /* TIMED, CONTROL, if positive: dim[balanced], which `size` leaves 0, is then made
     * so large that what it adds, done alone, takes `balance` times as long as a call without it.
     * Found with the reference. */
    double balance;
    int balanced;
} Case;

typedef enum Type { F32, F64, I32, U32, U8 } Type;

/* rows x cols elements, row-major; a vector has one row. `data` is on the device in `call`; or, if
 * `host`, in pinned memory of the host: then the function must have written it when it returns. */
typedef struct Array {
    Type type;
    size_t rows, cols;
    Fill fill; /* inputs: what they hold */
    void *data;
    bool host;        /* inputs, outputs */
    const char *name; /* as kernel.h has it; NULL: in, in[1], ..., out, out[1], scratch */
} Array;

/* An array with no elements is not there. Scratch arrives poisoned. */
typedef struct Arrays {
    Array in[LAB_IN], out[LAB_OUT], scratch;
} Arrays;

/* What the inputs of one call hold, known from the seed alone: no array needs to be stored. */
typedef struct Inputs {
    const Arrays *arrays;
    uint64_t seed;
} Inputs;

/* The least that any kernel must do: turns a time into GB/s and GFLOP/s, and bounds what is
 * possible. */
typedef struct Work {
    double bytes, flops;
} Work;

/* A number asked for before the first speed figure is shown. */
typedef struct Prediction {
    const char *key, *question;
    double answer, tolerance; /* right: |guess - answer| <= tolerance */
    const char *because;      /* the explanation, whether right or not */
} Prediction;

/* What a simulated GPU counts over one call. SECTORS_READ of in[array], SECTORS_WRITTEN of
 * out[array]: pieces of 32 bytes moved, over the fewest that hold the array. SHARED_WAVEFRONTS:
 * over what they would be without bank conflicts; none at all is fine. WARP_BARRIERS, WARP_ATOMICS:
 * how often a warp comes to a barrier, or updates global memory, for 32 elements of in[array].
 * LOADS_AN_FMA: requests to global memory and wavefronts of shared memory, for each multiply-add of
 * a warp. IDLE_LANES: warp instructions, over what they would be with all 32 lanes at work. */
typedef enum Counter {
    NO_COUNTER,
    SECTORS_READ,
    SECTORS_WRITTEN,
    SHARED_WAVEFRONTS,
    WARP_BARRIERS,
    WARP_ATOMICS,
    LOADS_AN_FMA,
    IDLE_LANES,
    COUNTERS
} Counter;

/* The lesson as a number: what a kernel that has learnt it does at most. */
typedef struct Mechanism {
    Counter counter;
    int array;
    double most;
} Mechanism;

/* What `make hint` says first to whoever was last graded so; the first row that fits. `symptom` is
 * a verdict's word, "unsafe", and perhaps what must have been seen, "unsafe race", "wrong tail
 * unwritten": the words of grader/base/verdict.h and grader/base/diagnosis.h. A step further, never
 * the rung itself. */
typedef struct Remedy {
    const char *symptom, *text;
    const char *in; /* only in a case whose label holds this */
    double below;   /* slow: only if the lowest ratio was below this; 0: whatever it was */
} Remedy;

typedef struct Lab {
    const char *title; /* a few words, for tables */
    bool unmarked;     /* a warm-up: right is enough; no TIMED case, no marks */
    int launches;      /* not 0: launch.cpp beside lab.c defines the function, and the student the
                        * kernel FUNCTION_kernel that it launches and that kernel.h declares: one
                        * block on each SM, of this many threads */
    bool streams;      /* copies to and from the host, and kernels, in several streams at once:
                        * CUDA is to bring up all its queues; and of a host's GPUs one at a time
                        * is measured with it, since they share the host's memory */
    bool single_calls; /* each call is timed alone, and its inputs are made after the call before
                        * it: the lab is about the time at a call's end when SMs are idle */
    const char *function; /* the name that kernel.h declares */
    const Case *cases;    /* ends with an empty label */

    /* Sets types, sizes and fills of the arrays of a case. */
    void (*shape)(const Case *, Arrays *);

    /* Writes the right values of elements first .. first + count - 1 of out[out] to `want`, which
     * has that array's type, and to `error` how far from it each may lie and still be right. Errors
     * are zero on entry: what is left so must be right bit for bit, but for -0 == 0. Slow and
     * plain; called for whole arrays and for small windows. */
    void (*truth)(const Case *, const Inputs *, int out, size_t first, size_t count, void *want,
                  double *error);

    /* Elements looked at together, at places drawn after each sample. 0: 1024; fewer where truth is
     * slow. */
    int window;

    /* For outputs of more than a million elements of which truth would take too long: is all of it
     * right? If not, elements first .. first + count - 1, on which truth can be asked, are not all
     * right. A test that goes wrong by chance must do so with a chance of less than 10^-5. NULL:
     * truth is quick. */
    bool (*check)(const Case *, const Inputs *, int out, const void *got, size_t *first,
                  size_t *count);

    /* Calls the student's function: AS(transpose, kernel)(...). */
    void (*call)(void (*kernel)(void), const Case *, const Arrays *);

    Work (*work)(const Case *);

    /* Held against each TIMED case on a simulated GPU: explains what is slow, and decides where
     * speed is not judged. Ends with NO_COUNTER. */
    const Mechanism mechanism[LAB_MECHANISM];

    const char *hints[LAB_HINTS];                  /* from a question to nearly the answer */
    const Remedy remedies[LAB_REMEDIES];           /* ends with no symptom */
    const Prediction predictions[LAB_PREDICTIONS]; /* ends with an empty key */
    const char *question;                          /* asked after the pass: does it transfer? */
    const char *symbols[LAB_SYMBOLS]; /* what kernel.cu may link to besides the usual */
} Lab;

/* The kernel under test, seen through the prototype in kernel.h. The prototype is never evaluated,
 * so lab.c links where no such function exists, and the compiler still checks the call. */
#define AS(prototype, kernel) ((__typeof__(prototype) *) (kernel))

/* Element `index` of in[array], of type F32. */
static inline float input_f32(const Inputs *inputs, int array, size_t index)
{
    return fill_f32(inputs->arrays->in[array].fill, fill_key(inputs->seed, array), index);
}

#endif
#endif
