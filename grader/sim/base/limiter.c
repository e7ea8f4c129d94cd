/* limiter.c - what limits a kernel: its words, sums and roofline, and the sentence that reports it.
 */
#include "sim/base/limiter.h"

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define KEY(name, key, words)   [name] = key,
#define WORDS(name, key, words) [name] = words,
const char *const limit_keys[LIMITS] = { LIMIT_ROWS(KEY) };
const char *const limit_words[LIMITS] = { LIMIT_ROWS(WORDS) };
const char *const wait_keys[WAITS] = { WAIT_ROWS(KEY) };
const char *const wait_words[WAITS] = { WAIT_ROWS(WORDS) };
#undef KEY
#undef WORDS
const char *const limit_nouns[LIMITS] = {
    [AT_ISSUE] = "instruction issue",
    [AT_FP32] = "FP32 arithmetic",
    [AT_UNITS] = "arithmetic units",
    [AT_SHARED] = "shared memory",
    [AT_L1] = "the L1",
    [AT_L2] = "the L2",
    [AT_DRAM] = "DRAM",
    [AT_ATOMICS] = "atomic updates",
    [AT_LATENCY] = "latency",
    [AT_TAIL] = "the tail",
    [AT_LAUNCH] = "launch overhead",
    [AT_TRANSFER] = "transfers",
};

/* ---- Sums ---- */

double spent_sum(const Spent *spent)
{
    double sum = 0;

    for (int i = 0; i < LIMITS; i++)
        sum += spent->at[i];
    return sum;
}

void spent_add(Spent *sum, const Spent *more, double factor)
{
    for (int i = 0; i < LIMITS; i++)
        sum->at[i] += factor * more->at[i];
}

Limit spent_most(const Spent *spent)
{
    int most = 0;

    for (int i = 1; i < LIMITS; i++)
        if (spent->at[i] > spent->at[most])
            most = i;
    return (Limit) most;
}

#define COUNT(name)                                                                                \
    {                                                                                              \
#name, offsetof(Limits, name)                                                              \
    }
const LimitCount limit_counts[LIMIT_COUNTS] = { COUNT(flops),         COUNT(bytes),
                                                COUNT(warps),         COUNT(sectors),
                                                COUNT(least_sectors), COUNT(wavefronts),
                                                COUNT(least_shared),  COUNT(lanes) };
#undef COUNT

double *limit_count(Limits *limits, int i)
{
    return (double *) ((char *) limits + limit_counts[i].offset);
}

/* ---- The roofline ---- */

Roofline roofline_of(const Limits *limits, double fp32_tflops, double memory_gbps)
{
    const double ns = spent_sum(&limits->spent), peak = fp32_tflops * 1e3;
    Roofline roof = { .ridge = peak / memory_gbps, .is_cached = limits->bytes <= 0 };

    if (ns <= 0)
        return roof;
    roof.gflops = limits->flops / ns;
    roof.gbps = limits->bytes / ns;
    roof.intensity = roof.is_cached ? 0 : limits->flops / limits->bytes;
    roof.roof_gflops = roof.is_cached ? peak : fmin(peak, roof.intensity * memory_gbps);
    roof.reached = limits->flops > 0 ? roof.gflops / roof.roof_gflops : roof.gbps / memory_gbps;
    return roof;
}

/* ---- The limiter ---- */

/* Issuing counts as busy time, like the busy time of units. Copies that overlap with longer kernels
 * do not limit anything. */
static double busy_ns(const Limits *limits, Limit limit)
{
    const double *at = limits->spent.at, issued = at[AT_ISSUE] + at[AT_FP32];
    const double kernels = spent_sum(&limits->spent) - at[AT_TRANSFER] - at[AT_LAUNCH];

    if (limit == AT_ISSUE || limit == AT_FP32)
        return at[limit] >= issued / 2 ? issued : 0;
    if (limit == AT_TRANSFER && limits->busy[limit] < 0.95 * kernels)
        return 0;
    return limits->busy[limit];
}

Limit limits_most(const Limits *limits)
{
    static const double nearly_all = 0.8;
    int most = 0;

    for (int i = 1; i < LIMITS; i++)
        if (busy_ns(limits, i) > busy_ns(limits, most))
            most = i;
    return busy_ns(limits, most) >= nearly_all * spent_sum(&limits->spent)
               ? (Limit) most
               : spent_most(&limits->spent);
}

/* ---- The sentence ---- */

typedef struct Sentence {
    const Limits *limits;
    double all;   /* ns */
    double share; /* share of the limit that the sentence describes, in % */
    char *text;
    size_t size;
} Sentence;

__attribute__((format(printf, 2, 3))) static void say(const Sentence *t, const char *format, ...)
{
    const size_t used = strlen(t->text);
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(t->text + used, t->size - used, format, arguments);
    va_end(arguments);
}

/* Busy time in %. */
static double busy(const Sentence *t, Limit limit)
{
    return t->all > 0 ? fmin(100, 100 * t->limits->busy[limit] / t->all) : 0;
}

/* The ratio to the minimum. */
static double times(double is, double least)
{
    return least > 0 && is > least ? is / least : 1;
}

enum { MUCH = 120 }; /* in % of the minimum: waste is reported above this */

static bool say_sectors(const Sentence *t)
{
    const double waste = times(t->limits->sectors, t->limits->least_sectors);

    if (waste * 100 > MUCH)
        say(t, "; over all arrays, its requests move %.1f times the sectors that their data fills",
            waste);
    return waste * 100 > MUCH;
}

/* For kernels in which no single limit takes half of the time. */
static void say_mixed(const Sentence *t, const char *what, Limit limit)
{
    Spent others = t->limits->spent;
    Limit next;

    others.at[limit] = 0;
    next = spent_most(&others);
    say(t, "no single limit takes half of the time: %s takes %.0f %%, %s %.0f %%", what, t->share,
        limit_words[next], 100 * others.at[next] / t->all);
}

static bool say_lanes(const Sentence *t)
{
    const bool few = t->limits->lanes > 0 && t->limits->lanes < 24;

    if (few)
        say(t, "; on average only %.1f of 32 lanes are active per instruction", t->limits->lanes);
    return few;
}

static void of_issue(const Sentence *t)
{
    if (t->share < 50)
        say_mixed(t, "issuing instructions other than FP32", AT_ISSUE);
    else
        say(t, "%.0f %% of the time goes into issuing instructions other than FP32 arithmetic",
            t->share);
    if (!say_lanes(t))
        say(t, "; fewer of them per result would help (addresses, loops, loads)");
}

static void of_fp32(const Sentence *t)
{
    if (t->share < 50)
        say_mixed(t, "FP32 arithmetic", AT_FP32);
    else
        say(t, "FP32 arithmetic takes %.0f %% of the time: the kernel is compute-bound", t->share);
    say_lanes(t);
}

static void of_units(const Sentence *t)
{
    say(t,
        "%.0f %% of the time warps wait for units that need several cycles per warp (integers, "
        "FP64, special functions)",
        t->share);
}

/* In %: a unit that is busy less of the time than FULL is not a limit; only one that is busy for at
 * least ALWAYS is the only one. */
enum { FULL = 67, ALWAYS = 90 };

/* If the unit is not busy enough to be the limit, reports that warps wait for it and returns true.
 */
static bool say_unfilled(const Sentence *t, Limit limit, const char *name)
{
    if (busy(t, limit) >= FULL)
        return false;
    say(t, "warps wait for %s, which is busy only %.0f %% of the time", name, busy(t, limit));
    if (t->limits->warps > 0)
        say(t, "; %.0f warps per SM cannot keep it busy", t->limits->warps);
    return true;
}

static void of_shared(const Sentence *t)
{
    const double conflicts = times(t->limits->wavefronts, t->limits->least_shared);

    say(t, "shared memory is busy %.0f %% of the time", busy(t, AT_SHARED));
    if (conflicts * 100 > MUCH)
        say(t, ", and bank conflicts cost %.1f times the wavefronts", conflicts);
    else
        say(t, " without bank conflicts: fewer loads and stores per result would help");
}

static void of_l1(const Sentence *t)
{
    say(t, "the SMs' load/store units are busy with global memory %.0f %% of the time",
        busy(t, AT_L1));
    if (!say_sectors(t))
        say(t, ": fewer or wider requests per result would help");
}

static void of_l2(const Sentence *t)
{
    if (say_unfilled(t, AT_L2, "the L2"))
        say(t, ": more loads in flight would help, per thread or, if they fit, from more warps");
    else
        say(t, "the L2 is busy %.0f %% of the time", busy(t, AT_L2));
    if (!say_sectors(t) && busy(t, AT_L2) >= FULL)
        say(t, ": a block should keep data that it reuses in registers or shared memory");
}

static void of_dram(const Sentence *t)
{
    if (say_unfilled(t, AT_DRAM, "the device's memory"))
        say(t, ": more loads in flight would help, per thread or, if they fit, from more warps");
    else
        say(t, "the device's memory is busy %.0f %% of the time", busy(t, AT_DRAM));
    if (say_sectors(t) || busy(t, AT_DRAM) < FULL)
        return;
    if (busy(t, AT_DRAM) >= ALWAYS)
        say(t, ", and nearly all of these bytes are needed: only moving fewer would help");
    else
        say(t, ": fewer bytes would help, and so would more loads in flight");
}

static void of_atomics(const Sentence *t)
{
    say(t, "%.0f %% of the time atomic updates of one address wait for each other",
        busy(t, AT_ATOMICS));
}

static WaitKind longest_wait(const Limits *limits)
{
    int most = 0;

    for (int i = 1; i < WAITS; i++)
        if (limits->waits[i] > limits->waits[most])
            most = i;
    return (WaitKind) most;
}

static void of_latency(const Sentence *t)
{
    static const char *const advice[WAITS] = {
        [WAIT_UNIT] = "",
        [WAIT_RESULT] =
            ": more independent work, in a thread or in more warps, would fill the gaps",
        [WAIT_NEAR] = ": more independent work, in a thread or in more warps, would fill the gaps",
        [WAIT_FAR] =
            ": more loads in flight would help, per thread or, if they fit, from more warps",
        [WAIT_BARRIER] = ": fewer barriers would help, or more blocks per SM to run meanwhile",
        [WAIT_BRANCH] = ": fewer branches or more warps would help",
        [WAIT_BLOCK] = ": each block does too little work, or some of its warps end early",
    };
    const WaitKind wait = longest_wait(t->limits);

    say(t, "no unit is at its limit %.0f %% of the time: warps wait, mostly for %s", t->share,
        wait_words[wait]);
    if (t->limits->warps > 0)
        say(t, "; %.0f warps per SM do not hide this latency", t->limits->warps);
    say(t, "%s", advice[wait]);
}

static void of_tail(const Sentence *t)
{
    say(t,
        "SMs have no block %.0f %% of the time: during the last wave, or because there are too few "
        "blocks",
        t->share);
}

static void of_launch(const Sentence *t)
{
    say(t,
        "the GPU is idle %.0f %% of the time: launches, or the host's waiting, take longer than "
        "the "
        "work",
        t->share);
}

static void of_transfer(const Sentence *t)
{
    if (busy(t, AT_TRANSFER) >= 90)
        say(t,
            "transfers in one direction run %.0f %% of the time and overlap with all other work: "
            "the "
            "link is the limit",
            busy(t, AT_TRANSFER));
    else
        say(t,
            "transfers between host and device take %.0f %% of the time, and other work overlaps "
            "with "
            "only a part of them",
            t->share);
}

void limits_sentence(const Limits *limits, char *text, size_t size)
{
    static void (*const describe[LIMITS])(const Sentence *) = {
        [AT_ISSUE] = of_issue,   [AT_FP32] = of_fp32,       [AT_UNITS] = of_units,
        [AT_SHARED] = of_shared, [AT_L1] = of_l1,           [AT_L2] = of_l2,
        [AT_DRAM] = of_dram,     [AT_ATOMICS] = of_atomics, [AT_LATENCY] = of_latency,
        [AT_TAIL] = of_tail,     [AT_LAUNCH] = of_launch,   [AT_TRANSFER] = of_transfer,
    };
    const Limit limit = limits_most(limits);
    Sentence sentence = { limits, spent_sum(&limits->spent), 0, text, size };

    *text = 0;
    if (sentence.all <= 0)
        return;
    sentence.share = 100 * limits->spent.at[limit] / sentence.all;
    describe[limit](&sentence);
}
