/* lab.h - the interface between a lab and the grader.
 *
 * A lab's kernel.h declares one function, the student's kernel.cu defines it, and the author's
 * lab.c describes everything else in one `Lab`: the cases, the arrays, the right answer, the
 * minimum work. lab.c is plain C without CUDA: it links into the grader, into the runner and
 * into the tests.
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
    LAB_QUESTIONS = 4,
    LAB_CHOICES = 5,
    LAB_SWEEP = 12,
    LAB_MECHANISM = 6,
    LAB_REMEDIES = 32
};

/* The properties of the device that sizes of timed cases may depend on. */
typedef struct Gpu {
    int sms;
    size_t l2_bytes;
} Gpu;

/* CORRECT: checked completely. TIMED: checked by samples, and its speed must reach `bar`. CONTROL:
 * timed and shown, never graded: a case in which the lab's flaw has no effect. */
typedef enum CaseKind { CORRECT, TIMED, CONTROL } CaseKind;

typedef struct Case {
    const char *label;
    long dim[LAB_DIMS]; /* TIMED, CONTROL: the size on a simulated GPU where speed is not
                         * judged */
    CaseKind kind;
    double bar; /* TIMED: the required fraction of the reference's speed */

    /* Sets dim for a GPU; NULL: dim is unchanged. For TIMED and CONTROL cases `scale` starts at
     * 1 and doubles until the reference takes 0.2 ms, or 0.1 ms of modelled time; sizes grow
     * with it. For balanced cases on a simulated GPU it starts at 1 / 64. For CORRECT cases
     * it is 1. */
    void (*size)(long dim[LAB_DIMS], const Gpu *gpu, double scale);

    /* TIMED: the lab's flaw has little effect here, or none. The case catches kernels that fix
     * it only halfway or make it worse, so rung 1 need not be far below the bar. At least one
     * TIMED case must not be marked in this way. */
    bool spares_rung1;

    /* CONTROL: the case shows the cost of launches, so `scale` stays 1 even if a call is short. */
    bool stays_short;

    /* CORRECT: too large to simulate. The case checks that launches are valid, so a simulated
     * GPU only begins it. */
    bool only_begun;

    /* TIMED, CONTROL, if positive: dim[balanced], which `size` leaves 0, is chosen such that the
     * work it adds, done alone, takes `balance` times as long as a call without it. The
     * reference's calls determine it. */
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
    const char *name; /* as in kernel.h; NULL: in, in[1], ..., out, out[1], scratch */
} Array;

/* An array without elements is absent. Scratch is poisoned before each call. */
typedef struct Arrays {
    Array in[LAB_IN], out[LAB_OUT], scratch;
} Arrays;

/* The inputs of one call. The seed alone determines their contents, so no array is stored. */
typedef struct Inputs {
    const Arrays *arrays;
    uint64_t seed;
} Inputs;

/* The minimum work of any kernel: turns a time into GB/s, GFLOP/s or Gstep/s, and bounds the speed.
 * `steps`: the lab's own count, where neither bytes nor floating-point operations say how fast a
 * kernel is; 0: none. */
typedef struct Work {
    double bytes, flops, steps;
} Work;

/* A number that students predict before they see the first speed. */
typedef struct Prediction {
    const char *key, *question;
    double answer, tolerance; /* a guess is correct if |guess - answer| <= tolerance */
    const char *because;      /* the explanation, shown for any guess */
} Prediction;

/* A question that carries the lesson to another problem; make quiz asks it after a pass. The lesson
 * must not print its answer. */
typedef struct TransferQuestion {
    const char *key, *text;
    double answer, tolerance;         /* as in Prediction; with choices: the right one, from 1 */
    const char *because;              /* the explanation, shown for any answer */
    const char *choices[LAB_CHOICES]; /* none: the answer is a number */
} TransferQuestion;

/* What make sweep varies. It times the student's kernel and the reference at each value, and shows
 * their speeds: GFLOP/s if `work` has more than 8 operations per byte and the lab has no streams,
 * else GB/s. */
typedef struct SweepRange {
    const char *what;  /* what the values are: "d, floats per row"; NULL: no sweep */
    const char *label; /* the case's label begins with it; NULL: the first TIMED case */

    /* Sets the dims for a value. On entry they are those that the case has on this GPU. Returns
     * false if the value is too large for them, or makes the case empty: it is skipped. */
    bool (*set)(long dim[LAB_DIMS], const Gpu *gpu, long value);

    long values[LAB_SWEEP + 1];   /* ends with 0 */
    const char *names[LAB_SWEEP]; /* shown instead of the values; none: numbers */
    bool shows_dim;               /* dim[0] is shown instead of the value */
} SweepRange;

/* What a simulated GPU counts during one call. SECTORS_READ of in[array] and SECTORS_WRITTEN of
 * out[array]: the sectors of 32 bytes moved, divided by the minimum that holds the array.
 * SHARED_WAVEFRONTS: divided by their number without bank conflicts; a kernel may use none.
 * WARP_BARRIERS, WARP_ATOMICS: how often a warp waits at a barrier, or updates global memory,
 * per 32 elements of in[array]. LOADS_AN_FMA: requests to global memory and wavefronts of shared
 * memory, per multiply-add of a warp. IDLE_LANES: warp instructions, divided by their number if
 * all 32 lanes were active. */
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

/* The lesson as a number: the limit for a kernel that follows it. */
typedef struct Mechanism {
    Counter counter;
    int array;
    double most;
} Mechanism;

/* The text that `make hint` prints first after a certain result; the first row that matches is
 * used. `symptom` is a verdict, "unsafe", optionally followed by a diagnosis, "unsafe race", "wrong
 * tail unwritten", in the words of grader/base/verdict.h and grader/base/diagnosis.h. A remedy
 * leads one step further and never gives the rung itself. */
typedef struct Remedy {
    const char *symptom, *text;
    const char *in;   /* only in a case whose label contains this */
    double below;     /* slow: only if the lowest ratio was below this; 0: always */
    const char *also; /* slow: only if a case whose label contains this is below its bar, too */
} Remedy;

typedef struct Lab {
    const char *title;    /* a few words, for tables */
    bool further;         /* follows the nine labs of the course: grade --core leaves it out */
    bool unmarked;        /* a warm-up: a correct kernel passes; no TIMED case, no marks */
    int launches;         /* not 0: launch.cpp, next to lab.c, defines the function. It launches
                           * FUNCTION_kernel, which kernel.h declares and the student defines, with
                           * one block of this many threads on each SM */
    bool streams;         /* the lab copies to and from the host and uses several streams. CUDA is
                           * started with all its queues, and only one GPU of a host measures at a
                           * time, since they share the host's memory */
    bool single_calls;    /* each call is timed alone, and its inputs are created after the previous
                           * call, because the lab is about idle SMs at the end of a call */
    const char *function; /* the name that kernel.h declares */
    const Case *cases;    /* ends with an empty label */

    /* Sets types, sizes and fills of the arrays of a case. */
    void (*shape)(const Case *, Arrays *);

    /* Writes the right values of elements first .. first + count - 1 of out[out] to `want`,
     * which has that array's type, and to `error` the allowed distance from each. Errors are
     * zero on entry: elements whose error is left at zero must be right bit for bit, except that
     * -0 equals 0, and that any NaN is right where NaN is, if the kernel wrote it. Slow and plain;
     * called for whole arrays and for small windows. */
    void (*truth)(const Case *, const Inputs *, int out, size_t first, size_t count, void *want,
                  double *error);

    /* How many neighbouring elements are checked, at places drawn after each sample. 0 means
     * 1024; use fewer where truth is slow. */
    int window;

    /* For outputs of more than a million elements, where truth would take too long. Returns whether
     * the whole output is right; if not, at least one of the elements first .. first + count - 1,
     * which truth can compute, is wrong. A randomised test must miss an error with a probability
     * below 10^-5. NULL if truth is fast enough. */
    bool (*check)(const Case *, const Inputs *, int out, const void *got, size_t *first,
                  size_t *count);

    /* Calls the student's function: AS(transpose, kernel)(...). */
    void (*call)(void (*kernel)(void), const Case *, const Arrays *);

    Work (*work)(const Case *);

    /* Limits for each TIMED case on a simulated GPU. They explain what is slow, and decide where
     * speed is not judged. Ends with NO_COUNTER. */
    const Mechanism mechanism[LAB_MECHANISM];

    const char *hints[LAB_HINTS];                    /* from a question to nearly the answer */
    const Remedy remedies[LAB_REMEDIES];             /* ends with no symptom */
    const Prediction predictions[LAB_PREDICTIONS];   /* ends with an empty key */
    const char *question;                            /* a transfer question, asked after a pass */
    const TransferQuestion questions[LAB_QUESTIONS]; /* end with no key */
    /* What matters in this lab, but not in the modelled time of a simulated GPU: a sentence that
     * follows a pass there. Optional. */
    const char *not_modelled;
    /* What make profile shows besides time and throughput, as words from learner/profile/metrics.c:
     * "loads stores". Optional. */
    const char *profile;
    const SweepRange sweep;           /* optional */
    const char *symbols[LAB_SYMBOLS]; /* what kernel.cu may link to besides the usual symbols */
} Lab;

/* The kernel under test, with the type of the prototype in kernel.h. The prototype is never
 * evaluated, so lab.c links where no such function exists, and the compiler still checks the
 * call. */
#define AS(prototype, kernel) ((__typeof__(prototype) *) (kernel))

/* Element `index` of in[array], of type F32. */
static inline float input_f32(const Inputs *inputs, int array, size_t index)
{
    return fill_f32(inputs->arrays->in[array].fill, fill_key(inputs->seed, array), index);
}

#endif
#endif
