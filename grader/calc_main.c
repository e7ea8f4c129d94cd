/* calc_main.c - `warpbook calc NAME --input VALUE...`: the formulas of calc.h with the numbers put
 * in.
 *
 * A calculator is a row of a table, with its inputs as rows of a table of its own. An input says
 * what it is, its range, and where a described device has it. So what is read here is checked
 * before anything is computed, and --help, the list and the complaints need no text of their own.
 */
#include "calc_main.h"
#include "calc.h"
#include "util.h"

#include "sim/device.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DONE = 0, USAGE = 2, MOST_INPUTS = 8, MOST_WORDS = 32, NUMBER_CHARACTERS = 40 };

/* WHOLE a number without fraction; BYTES one that may have a unit; SHARE 0 to 1, or a percentage;
 * FLAG takes no value. */
typedef enum Kind { WHOLE, REAL, BYTES, SHARE, FLAG } Kind;

typedef struct Input {
    const char *name, *what;
    Kind kind;
    double least, most;
    bool optional;
    double fallback;                     /* of an optional one */
    double (*of_device)(const Device *); /* what --device gives; NULL: nothing */
} Input;

typedef struct Asked Asked;

typedef struct Calculator {
    const char *name, *what; /* a line of the list */
    const char *about;       /* what it is good for; lines */
    const char *example;     /* words behind `warpbook calc NAME` */
    const Input *inputs;     /* ends with no name */
    bool has_device, needs_device;
    bool (*show)(const Asked *); /* false: it has complained */
} Calculator;

struct Asked {
    const Calculator *calculator;
    double value[MOST_INPUTS];
    bool given[MOST_INPUTS];
    bool help, has_device;
    Device device;
};

/* ---- Complaints, and inputs by name ---- */

__attribute__((format(printf, 2, 3))) static bool complain(const Calculator *calculator,
                                                           const char *format, ...)
{
    va_list arguments;

    fprintf(stderr, "warpbook calc %s: ", calculator->name);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fprintf(stderr, " (warpbook calc %s --help)\n", calculator->name);
    return false;
}

static int find_input(const Calculator *calculator, const char *name, size_t length)
{
    for (int i = 0; calculator->inputs[i].name; i++)
        if (strlen(calculator->inputs[i].name) == length &&
            !strncmp(calculator->inputs[i].name, name, length))
            return i;
    return -1;
}

static double get(const Asked *asked, const char *name)
{
    return asked->value[find_input(asked->calculator, name, strlen(name))];
}

static long get_long(const Asked *asked, const char *name)
{
    return (long) get(asked, name);
}

static bool given(const Asked *asked, const char *name)
{
    return asked->given[find_input(asked->calculator, name, strlen(name))];
}

/* ---- Numbers as text: whole ones whole, others with four digits ---- */

static const char *text_of(double x)
{
    static char texts[16][32];
    static int turn;
    char *text = texts[turn = (turn + 1) % 16];

    if (isinf(x))
        return "without limit";
    if (x == floor(x) && fabs(x) < 1e8)
        return put(text, sizeof texts[0], "%.0f", x);
    if (fabs(x) >= 1000 && fabs(x) < 1e8)
        return put(text, sizeof texts[0], "%.0f", x);
    return put(text, sizeof texts[0], "%.4g", x);
}

static const char *percent_of(double share)
{
    static char texts[8][32];
    static int turn;

    return put(texts[turn = (turn + 1) % 8], sizeof texts[0], "%.1f %%", 100 * share);
}

static const char *bytes_of(double bytes)
{
    static char texts[8][32];
    static int turn;
    char *text = texts[turn = (turn + 1) % 8];

    if (bytes >= 1 << 30)
        return put(text, sizeof texts[0], "%.4g GiB", bytes / (1 << 30));
    if (bytes >= 1 << 20)
        return put(text, sizeof texts[0], "%.4g MiB", bytes / (1 << 20));
    if (bytes >= 1 << 14)
        return put(text, sizeof texts[0], "%.4g KiB", bytes / (1 << 10));
    return put(text, sizeof texts[0], "%s bytes", text_of(bytes));
}

static const char *plural(double n)
{
    return n == 1 ? "" : "s";
}

/* ---- sectors, banks ---- */

#define ELEMENTS (double) CALC_ELEMENTS

static const Input access_inputs[] = {
    { "stride", "elements from a lane to the next", WHOLE, -ELEMENTS, ELEMENTS, true, 1 },
    { "offset", "lane 0's element", WHOLE, 0, ELEMENTS, true, 0 },
    { "bytes", "of an element: 1, 2, 4, 8 or 16", WHOLE, 1, 16, true, 4 },
    { "lanes", "the first so many are on", WHOLE, 1, CALC_LANES, true, CALC_LANES },
    { "width", "lanes of a row, where a warp spans rows of a block", WHOLE, 1, CALC_LANES, true,
      CALC_LANES },
    { "pitch", "elements from such a row to the next", WHOLE, -ELEMENTS, ELEMENTS, true, 0 },
    { "store", "not a load; matters in shared memory, for 8 and 16 bytes a lane", FLAG, 0, 0, true,
      0 },
    { 0 },
};

static bool get_access(const Asked *asked, WarpAccess *access)
{
    int bytes = (int) get(asked, "bytes");

    if (bytes & (bytes - 1))
        return complain(asked->calculator, "--bytes %d: is to be 1, 2, 4, 8 or 16", bytes);
    if (get(asked, "width") < CALC_LANES && !given(asked, "pitch"))
        return complain(asked->calculator, "--width is there, but --pitch is missing: how many "
                                           "elements is the next row on?");
    if (get(asked, "width") == CALC_LANES && given(asked, "pitch"))
        return complain(asked->calculator, "--pitch is there, but --width is missing: how many "
                                           "lanes are in a row?");
    *access = (WarpAccess){ .bytes = bytes,
                            .lanes = (int) get(asked, "lanes"),
                            .offset = get_long(asked, "offset"),
                            .stride = get_long(asked, "stride"),
                            .width = (int) get(asked, "width"),
                            .pitch = get_long(asked, "pitch"),
                            .store = given(asked, "store") };
    return true;
}

static void print_access(const WarpAccess *a)
{
    printf("Each of %d lane%s %s %d byte%s; lane i: element", a->lanes, plural(a->lanes),
           a->store ? "writes" : "reads", a->bytes, plural(a->bytes));
    if (a->offset)
        printf(" %ld +", a->offset);
    if (a->width == CALC_LANES)
        printf(" %ld i\n\n", a->stride);
    else
        printf("\n  %ld (i mod %d) + %ld floor(i / %d)\n\n", a->stride, a->width, a->pitch,
               a->width);
}

/* Which bank, or which sector, of each of these lanes. */
static long bank_of(const WarpAccess *a, int lane)
{
    long byte = calc_element(a, lane) * a->bytes, word = byte >> 2; /* may be negative: >> */

    return word & (CALC_BANKS - 1);
}

static long sector_of(const WarpAccess *a, int lane)
{
    return calc_element(a, lane) * a->bytes >> 5;
}

/* The first lanes, and the last one. */
static void print_lanes(const WarpAccess *a, const char *what,
                        long (*what_of)(const WarpAccess *, int))
{
    enum { FIRST = 5, FIELD = 10, SHORT = 10000000 };
    int shown = a->lanes <= FIRST ? a->lanes : FIRST + 1;

    for (int row = 0; row < 3; row++) {
        printf("  %-8s", row == 0 ? "lane" : row == 1 ? "element" : what);
        for (int i = 0; i < shown; i++) {
            int lane = i < FIRST ? i : a->lanes - 1;
            long n = row == 0 ? lane : row == 1 ? calc_element(a, lane) : what_of(a, lane);
            printf("%s", i == FIRST && a->lanes > FIRST + 1 ? " ..." : "");
            printf(labs(n) < SHORT ? "%*.0f" : "%*.3g", FIELD, (double) n);
        }
        printf("\n");
    }
    printf("\n");
}

static bool show_sectors(const Asked *asked)
{
    WarpAccess access;
    SectorCount count;

    if (!get_access(asked, &access))
        return false;
    count = calc_sectors(&access);
    print_access(&access);
    print_lanes(&access, "sector", sector_of);
    printf("sector      = byte address / 32, rounded down: each different one is moved\n");
    printf("sectors     = %d; the least for %d different bytes: %d / 32, rounded up = %d\n",
           count.sectors, count.wanted_bytes, count.wanted_bytes, count.least);
    printf("moved       = %d x 32 = %d bytes\n", count.sectors, count.moved_bytes);
    printf("efficiency  = wanted / moved = %d / %d = %s\n", count.wanted_bytes, count.moved_bytes,
           percent_of(count.efficiency));
    printf("by lines    = %d / (%d x 128) = %s, as old GPUs moved lines of 128 bytes\n",
           count.wanted_bytes, count.lines, percent_of(count.lines_efficiency));
    return true;
}

static bool show_banks(const Asked *asked)
{
    WarpAccess access;
    BankCount count;

    if (!get_access(asked, &access))
        return false;
    count = calc_banks(&access);
    print_access(&access);
    print_lanes(&access, "bank", bank_of);
    printf("bank        = (byte address / 4) mod 32; different words of one bank take turns,\n"
           "              lanes that read the same word share it\n");
    if (access.bytes > 4)
        printf("              %d bytes a lane: the first bank is shown, and the warp goes in\n"
               "              parts of %d lanes (loads: twice that, if neighbours agree)\n",
               access.bytes, 128 / access.bytes);
    printf("wavefronts  = %d; without conflicts %d\n", count.wavefronts, count.least);
    printf("degree      = %d / %d = %s: %s\n", count.wavefronts, count.least, text_of(count.degree),
           count.wavefronts > count.least ? "a conflict" : "no conflict");
    return true;
}

/* ---- occupancy ---- */

static const Input occupancy_inputs[] = {
    { "threads", "of a block", WHOLE, 1, 1024, false, 0 },
    { "registers", "of a thread: nvcc -Xptxas -v tells them", WHOLE, 0, 255, true, 32 },
    { "shared", "of a block, static and dynamic: 4224, 48KiB", BYTES, 0, 16777216, true, 0 },
    { 0 },
};

/* What limits stands on the first line of its working, how many blocks on the last. */
static void print_row(const char *what, const char *working, const char *blocks)
{
    printf(*blocks ? "  %-14s %-54s %7s\n" : "  %-14s %s\n", what, working, blocks);
}

static const char *blocks_of(const Occupancy *o, Limiter limiter)
{
    return o->limits[limiter] == LONG_MAX ? "any" : text_of((double) o->limits[limiter]);
}

static void print_register_limit(const Device *d, const Occupancy *o, long registers, int warps)
{
    const char *what = limiter_word(LIMIT_REGISTERS), *blocks = blocks_of(o, LIMIT_REGISTERS);
    char working[100];

    if (!o->warp_registers) {
        print_row(what, "none", blocks);
        return;
    }
    PUT(working, "%ld x 32 lanes, in units of %d: %ld a warp", registers, d->register_unit,
        o->warp_registers);
    print_row(what, working, "");
    if (!o->register_warps) {
        PUT(working, "a block, its warps in fours, has more than %d", d->registers_per_sm);
        print_row("", working, blocks);
        return;
    }
    PUT(working, "%d schedulers x floor(%d / %ld) = %ld warps", d->schedulers_per_sm,
        d->registers_per_sm / d->schedulers_per_sm, o->warp_registers, o->register_warps);
    print_row("", working, "");
    print_row("", PUT(working, "%ld warps / %d", o->register_warps, warps), blocks);
}

static void print_shared_limit(const Device *d, const Occupancy *o, long shared)
{
    const char *what = limiter_word(LIMIT_SHARED), *blocks = blocks_of(o, LIMIT_SHARED);
    char working[100];

    if (shared > d->shared_per_block_optin_bytes) {
        PUT(working, "more than the %d that a block may have", d->shared_per_block_optin_bytes);
        print_row(what, working, blocks);
        return;
    }
    if (!o->block_shared_bytes) {
        print_row(what, "none", blocks);
        return;
    }
    PUT(working, "%ld + %d of the system's, in units of %ld: %ld", shared, d->shared_reserved_bytes,
        o->shared_unit, o->block_shared_bytes);
    print_row(what, working, "");
    PUT(working, "%d bytes an SM / %ld", d->shared_per_sm_bytes, o->block_shared_bytes);
    print_row("", working, blocks);
}

static void print_limits(const Asked *asked, const Occupancy *o)
{
    const Device *d = &asked->device;
    int threads = (int) get(asked, "threads"), warps = (threads + 31) / 32;
    char working[100];

    print_row("limit by", "rounded down", "blocks");
    PUT(working, "%d warps an SM / %d", d->threads_per_sm / 32, warps);
    if (threads > d->threads_per_block)
        PUT(working, "more than the %d threads of a block", d->threads_per_block);
    print_row(limiter_word(LIMIT_WARPS), working, blocks_of(o, LIMIT_WARPS));
    print_row(limiter_word(LIMIT_BLOCKS), "the most that an SM holds, however small",
              blocks_of(o, LIMIT_BLOCKS));
    print_register_limit(d, o, get_long(asked, "registers"), warps);
    print_shared_limit(d, o, get_long(asked, "shared"));
}

static void print_limiters(const Occupancy *o)
{
    const char *between = "";

    printf("limit      = ");
    for (int i = 0; i < LIMIT_NONE; i++)
        if (o->limits[i] == o->limits[o->limiter]) {
            printf("%s%s", between, limiter_word((Limiter) i));
            between = ", ";
        }
    printf("\n");
}

static bool show_occupancy(const Asked *asked)
{
    const Device *d = &asked->device;
    int threads = (int) get(asked, "threads"), warps = (threads + 31) / 32;
    Occupancy o =
        device_occupancy(d, (int) get(asked, "registers"), threads, (size_t) get(asked, "shared"));

    printf("%s, compute capability %d.%d; a block of %d threads = %d warp%s\n\n", d->name,
           d->cc / 10, d->cc % 10, threads, warps, plural(warps));
    print_limits(asked, &o);
    printf("\n");
    print_limiters(&o);
    if (!o.blocks_per_sm) {
        printf("occupancy  = 0: not one block fits, and a launch is refused\n");
        return true;
    }
    printf("occupancy  = %d block%s x %d / %d warps = %s\n", o.blocks_per_sm,
           plural(o.blocks_per_sm), warps, d->threads_per_sm / 32, percent_of(o.share));
    printf("a wave     = %d SMs x %d = %d blocks at once\n", d->sms, o.blocks_per_sm,
           d->sms * o.blocks_per_sm);
    return true;
}

/* ---- waves ---- */

static double device_sms(const Device *d)
{
    return d->sms;
}

static const Input waves_inputs[] = {
    { "blocks", "of the grid", WHOLE, 1, 1e15, false, 0 },
    { "sms", "of the GPU", WHOLE, 1, 1e6, false, 0, device_sms },
    { "resident", "blocks that an SM holds at once: warpbook calc occupancy", WHOLE, 1, 1024, false,
      0 },
    { 0 },
};

static bool show_waves(const Asked *asked)
{
    double blocks = get(asked, "blocks"), sms = get(asked, "sms"),
           resident = get(asked, "resident");
    Waves w = calc_waves((long) blocks, (long) sms, (long) resident);
    double wave = (double) w.wave, waves = (double) w.waves, most = (double) w.sm_most;

    printf("a wave      = %s SM%s x %s = %s block%s\n", text_of(sms), plural(sms),
           text_of(resident), text_of(wave), plural(wave));
    printf("waves       = %s / %s = %s: %s full, then %s block%s\n", text_of(blocks), text_of(wave),
           text_of(blocks / wave), text_of((double) w.full), text_of((double) w.tail),
           plural((double) w.tail));
    printf("by waves    = %s / (%s x %s) = %s efficiency,\n"
           "              if a block takes as long beside others as alone\n",
           text_of(blocks), text_of(waves), text_of(wave), percent_of(w.efficiency));
    printf("by SMs      = %s / (%s x %s) = %s efficiency,\n"
           "              if blocks on an SM share its speed; the fullest SM gets %s\n",
           text_of(blocks), text_of(sms), text_of(most), percent_of(w.sm_efficiency),
           text_of(most));
    if (w.full && w.tail)
        printf("A profiler may estimate a gain of 1 / %s waves = %s: what were gained\n"
               "if a whole wave vanished. The idle part of the waves is %s.\n",
               text_of(waves), percent_of(1 / waves), percent_of(1 - w.efficiency));
    return true;
}

/* ---- little ---- */

static double device_gbps(const Device *d)
{
    return d->memory_gbps;
}

static const Input little_inputs[] = {
    { "latency", "of memory, ns; it grows with the load", REAL, 1e-3, 1e12, false, 0 },
    { "gbps", "the bandwidth to reach, GB/s", REAL, 1e-3, 1e9, false, 0, device_gbps },
    { "sms", "of the GPU", WHOLE, 1, 1e6, true, 0, device_sms },
    { "bytes", "that a thread has in flight: its loads before the first use", BYTES, 1, 1 << 20,
      true, 4 },
    { 0 },
};

static bool show_little(const Asked *asked)
{
    double latency = get(asked, "latency"), gbps = get(asked, "gbps"), sms = get(asked, "sms");
    double bytes = get(asked, "bytes"), flight = calc_little(latency, gbps);
    double threads = ceil(flight / (sms ? sms : 1) / bytes);

    printf("in flight   = latency x throughput = %s ns x %s GB/s\n", text_of(latency),
           text_of(gbps));
    printf("            = %s bytes = %s\n", text_of(flight), bytes_of(flight));
    if (sms)
        printf("an SM       = %s / %s SMs = %s bytes\n", text_of(flight), text_of(sms),
               text_of(flight / sms));
    printf("threads     = %s / %s bytes a thread = %s%s\n", text_of(flight / (sms ? sms : 1)),
           text_of(bytes), text_of(threads), sms ? " an SM" : "");
    if (asked->has_device) {
        double most = asked->device.threads_per_sm;
        printf("occupancy   = %s / %s threads that an SM holds = %s\n", text_of(threads),
               text_of(most), percent_of(threads / most));
        if (threads > most)
            printf("More than there can be: each thread must keep more bytes in flight, at least\n"
                   "%s / %s = %s.\n",
                   text_of(flight / sms), text_of(most), text_of(ceil(flight / sms / most)));
    }
    return true;
}

/* ---- ilp ---- */

/* FP32 lanes: two FLOP a multiply-add. */
static double device_lanes(const Device *d)
{
    return round(d->fp32_tflops * 1e12 / 2 / (d->sm_mhz * 1e6) / d->sms);
}

static const Input ilp_inputs[] = {
    { "latency", "of an operation, cycles: 4 for FP32 since Volta", REAL, 1e-3, 1e9, false, 0 },
    { "rate", "operations that an SM can begin a cycle: its FP32 lanes", REAL, 1e-3, 1e6, false, 0,
      device_lanes },
    { "chains", "independent operations of a thread (ILP)", WHOLE, 1, 1024, true, 1 },
    { 0 },
};

static bool show_ilp(const Asked *asked)
{
    double latency = get(asked, "latency"), rate = get(asked, "rate");
    double chains = get(asked, "chains"), flight = calc_little(latency, rate);
    double threads = ceil(flight / chains), warps = ceil(threads / CALC_LANES);

    printf("in flight   = latency x throughput = %s cycles x %s a cycle = %s\n", text_of(latency),
           text_of(rate), text_of(flight));
    printf("threads     = %s / %s chain%s a thread = %s an SM\n", text_of(flight), text_of(chains),
           plural(chains), text_of(threads));
    printf("warps       = %s / 32 = %s an SM\n", text_of(threads), text_of(warps));
    if (asked->has_device)
        printf("            = %s / %d = %s on each scheduler\n", text_of(warps),
               asked->device.schedulers_per_sm, text_of(warps / asked->device.schedulers_per_sm));
    printf("Measured needs lie a little above this: it is the least that can do.\n");
    return true;
}

/* ---- roofline ---- */

static double device_tflops(const Device *d)
{
    return d->fp32_tflops;
}

static const Input roofline_inputs[] = {
    { "tflops", "peak, TFLOP/s (an FMA is two FLOP)", REAL, 1e-6, 1e6, false, 0, device_tflops },
    { "gbps", "bandwidth, GB/s", REAL, 1e-3, 1e9, false, 0, device_gbps },
    { "intensity", "FLOP for a byte read or written", REAL, 0, 1e9, true, 0 },
    { "flop", "of the whole kernel, in place of --intensity", REAL, 1, 1e24, true, 0 },
    { "bytes", "of the whole kernel: 268e6, 256MiB", BYTES, 1, 1e15, true, 0 },
    { 0 },
};

static void print_times(double flop, double bytes, double tflops, double gbps)
{
    printf("arithmetic  = %s FLOP / %s TFLOP/s = %s ms\n", text_of(flop), text_of(tflops),
           text_of(flop / tflops / 1e9));
    printf("memory      = %s bytes / %s GB/s = %s ms\n", text_of(bytes), text_of(gbps),
           text_of(bytes / gbps / 1e6));
    printf("The longer one is the least time that any kernel takes.\n");
}

static bool show_roofline(const Asked *asked)
{
    double tflops = get(asked, "tflops"), gbps = get(asked, "gbps");
    double intensity = get(asked, "intensity"), flop = get(asked, "flop");
    double bytes = get(asked, "bytes"), ridge = calc_ridge(tflops * 1000, gbps), reached;
    bool whole = given(asked, "flop");

    if (whole != given(asked, "bytes"))
        return complain(asked->calculator, "--%s is missing: --flop and --bytes go together",
                        whole ? "bytes" : "flop");
    if (whole && given(asked, "intensity"))
        return complain(asked->calculator, "--intensity is there, and --flop and --bytes, too: "
                                           "they say the same, leave one out");
    printf("ridge       = peak / bandwidth = %s GFLOP/s / %s GB/s = %s FLOP a byte\n",
           text_of(tflops * 1000), text_of(gbps), text_of(ridge));
    if (!whole && !given(asked, "intensity")) {
        printf("Below it a kernel is bound by memory, above it by arithmetic. --intensity, or\n"
               "--flop and --bytes, tells where yours is.\n");
        return true;
    }
    if (whole) {
        intensity = flop / bytes;
        printf("intensity   = %s FLOP / %s bytes = %s FLOP a byte\n", text_of(flop), text_of(bytes),
               text_of(intensity));
    }
    reached = calc_roofline(tflops * 1000, gbps, intensity);
    printf("attainable  = min(%s, %s x %s) = %s GFLOP/s\n            = %s of the peak\n",
           text_of(tflops * 1000), text_of(intensity), text_of(gbps), text_of(reached),
           percent_of(reached / tflops / 1000));
    printf("bound by    = %s, as %s %s %s\n", intensity < ridge ? "memory" : "arithmetic",
           text_of(intensity), intensity < ridge ? "<" : ">=", text_of(ridge));
    if (whole)
        print_times(flop, bytes, tflops, gbps);
    return true;
}

/* ---- amdahl ---- */

static const Input amdahl_inputs[] = {
    { "share", "of the time that is made faster: 0.75, 75%", SHARE, 0, 1, false, 0 },
    { "times", "how many times as fast, or processors", REAL, 1e-3, 1e12, false, 0 },
    { 0 },
};

static bool show_amdahl(const Asked *asked)
{
    double p = get(asked, "share"), n = get(asked, "times");

    printf("S           = 1 / ((1 - P) + P / N), P = %s, N = %s\n", text_of(p), text_of(n));
    printf("            = 1 / (%s + %s) = %s\n", text_of(1 - p), text_of(p / n),
           text_of(calc_amdahl(p, n)));
    printf("at most     = 1 / (1 - P) = %s, however large N\n", text_of(calc_amdahl(p, INFINITY)));
    if (n >= 1)
        printf("Where the work grows with N processors, and the time stays (Gustafson):\n"
               "S           = N + (1 - P) (1 - N) = %s\n",
               text_of(calc_gustafson(p, n)));
    return true;
}

/* ---- overlap ---- */

static const Input overlap_inputs[] = {
    { "up", "time to copy all of it to the device, ms", REAL, 0, 1e9, true, 0 },
    { "kernel", "time of the kernel for all of it, ms", REAL, 0, 1e9, false, 0 },
    { "down", "time to copy all results back, ms", REAL, 0, 1e9, true, 0 },
    { "chunks", "of one size", WHOLE, 1, CALC_CHUNKS, false, 0 },
    { "buffers", "on the device: chunks under way at once; 0: one a chunk", WHOLE, 0, CALC_CHUNKS,
      true, 0 },
    { "each", "what every copy and launch costs on top, ms", REAL, 0, 1e6, true, 0 },
    { "measured", "the whole's time that you measured, ms: how much overlaps?", REAL, 1e-9, 1e9,
      true, 0 },
    { 0 },
};

/* Chunk 0 is 0, chunk 10 a: each at its time, 60 columns are the whole. */
static void draw_pipeline(const Pipeline *p, const Overlap *o)
{
    enum { COLUMNS = 60 };
    static const char *const names[CALC_STAGES] = { "up", "kernel", "down" };
    static const char signs[] = "0123456789abcdefghijklmnopqrstuvwxyz";

    if (p->chunks > 20)
        return;
    for (int s = 0; s < CALC_STAGES; s++) {
        char row[COLUMNS + 1];
        memset(row, ' ', COLUMNS);
        row[COLUMNS] = 0;
        for (int column = 0; column < COLUMNS; column++)
            for (int chunk = 0; chunk < p->chunks; chunk++) {
                double at = (column + 0.5) / COLUMNS * o->finish;
                if (at >= o->begin[s][chunk] && at < o->end[s][chunk])
                    row[column] = signs[chunk];
            }
        printf("  %-8s|%s|\n", names[s], row);
    }
    printf("\n");
}

/* The closed form is for chunks that never wait for a buffer. */
static void print_finish(const Pipeline *p, const Overlap *o)
{
    double closed = o->longest + (o->sum - o->longest) / p->chunks;

    if (p->each == 0 && fabs(closed - o->finish) <= 1e-9 * closed)
        printf("finish      = longest + (sum - longest) / chunks\n"
               "            = %s + (%s - %s) / %d = %s ms\n",
               text_of(o->longest), text_of(o->sum), text_of(o->longest), p->chunks,
               text_of(o->finish));
    else
        printf("finish      = %s ms, chunk after chunk as drawn (%s ms, did\n"
               "              nothing wait for a buffer, nor cost extra)\n",
               text_of(o->finish), text_of(closed));
}

static bool show_overlap(const Asked *asked)
{
    static Overlap o;
    double measured = get(asked, "measured");
    int chunks = (int) get(asked, "chunks"), buffers = (int) get(asked, "buffers");
    Pipeline p = { .stage = { get(asked, "up"), get(asked, "kernel"), get(asked, "down") },
                   .chunks = chunks,
                   .buffers = buffers ? buffers : chunks,
                   .each = get(asked, "each") };

    if (!calc_overlap(&p, &o))
        return complain(asked->calculator, "nothing takes any time: give --up, --kernel or --down");
    printf("%d chunk%s in %d buffer%s; copies up, kernels, copies down each go in order\n\n",
           p.chunks, plural(p.chunks), p.buffers, plural(p.buffers));
    draw_pipeline(&p, &o);
    printf("sum         = up + kernel + down = %s + %s + %s = %s\n", text_of(p.stage[0]),
           text_of(p.stage[1]), text_of(p.stage[2]), text_of(o.sum));
    printf("longest     = %s ms: the bound\n", text_of(o.longest));
    print_finish(&p, &o);
    printf("speed-up    = %s / %s = %s\n", text_of(o.sum), text_of(o.finish), text_of(o.speedup));
    if (isfinite(o.share))
        printf("overlap     = (sum - finish) / (sum - longest) = %s\n", percent_of(o.share));
    if (measured && isfinite(o.share))
        printf("measured    = (%s - %s) / (%s - %s) = %s\n", text_of(o.sum), text_of(measured),
               text_of(o.sum), text_of(o.longest),
               percent_of(calc_overlap_share(o.sum, o.longest, measured)));
    return true;
}

/* ---- The table ---- */

static const Calculator calculators[] = {
    { "sectors", "what an access to global memory moves",
      "The 32-byte sectors that one load or store of a warp touches: lane i takes\n"
      "element offset + stride x i of an array from cudaMalloc. A count, not a time.\n",
      "--stride 2", access_inputs, false, false, show_sectors },
    { "banks", "what an access to shared memory costs: bank conflicts",
      "The wavefronts of one load or store of a warp: lane i takes element\n"
      "offset + stride x i of a shared array. Down a column the stride is the length of\n"
      "a row, padding included. Where the compiler joins loads to wider ones, give\n"
      "their --bytes.\n",
      "--stride 34", access_inputs, false, false, show_banks },
    { "occupancy", "how many blocks fit on an SM, and what limits them",
      "As cudaOccupancyMaxActiveBlocksPerMultiprocessor, for any described GPU. A high\n"
      "occupancy is no aim in itself: calculators little and ilp tell what is needed.\n",
      "--device sim:t4 --threads 320 --registers 37", occupancy_inputs, true, true,
      show_occupancy },
    { "waves", "how a grid fills the GPU, and what its tail costs",
      "Blocks of equal work over the SMs: the last wave may leave some idle.\n",
      "--blocks 363 --sms 16 --resident 12", waves_inputs, true, false, show_waves },
    { "little", "bytes in flight that a bandwidth needs (Little's law)",
      "In flight are threads times bytes a thread: too few, and memory is slow.\n",
      "--device sim:h200 --latency 600 --bytes 16", little_inputs, true, false, show_little },
    { "ilp", "operations in flight that full arithmetic speed needs",
      "Little's law for arithmetic: independent operations come from warps, or from\n"
      "chains in a thread.\n",
      "--device sim:h200 --latency 4 --chains 4", ilp_inputs, true, false, show_ilp },
    { "roofline", "whether memory or arithmetic bounds a kernel: the ridge",
      "A described GPU's figures are theoretical peaks; the rate of a measured copy, as\n"
      "--gbps, is the better yardstick.\n",
      "--device sim:t4 --flop 2e9 --bytes 24e6", roofline_inputs, true, false, show_roofline },
    { "amdahl", "what making one part faster does for the whole", "", "--share 93% --times 1.7",
      amdahl_inputs, false, false, show_amdahl },
    { "overlap", "a pipeline of copies and a kernel over chunks",
      "Needs pinned memory, a stream for each chunk under way, and two copy engines\n"
      "(asyncEngineCount); with one engine give both copies together as --up.\n",
      "--up 3 --kernel 3 --down 3 --chunks 4 --buffers 2", overlap_inputs, false, false,
      show_overlap },
};
enum { CALCULATORS = sizeof calculators / sizeof *calculators };

/* ---- Numbers ---- */

static double unit_of(Kind kind, const char *text)
{
    static const struct {
        const char *name;
        double factor;
    } bytes[] = {
        { "B", 1 },    { "KiB", 1024 }, { "MiB", 1 << 20 }, { "GiB", 1 << 30 },
        { "KB", 1e3 }, { "MB", 1e6 },   { "GB", 1e9 },
    };

    if (!*text)
        return 1;
    if (kind == SHARE)
        return strcmp(text, "%") ? 0 : 0.01;
    for (size_t i = 0; kind == BYTES && i < sizeof bytes / sizeof *bytes; i++)
        if (!strcmp(text, bytes[i].name))
            return bytes[i].factor;
    return 0;
}

/* Digits, a point, an exponent, then perhaps a unit: neither nan nor inf, nor hexadecimal. */
static bool read_number(Kind kind, const char *text, double *value)
{
    static const char digits[] = "0123456789", all[] = "0123456789.eE+-";
    const char *first = text + (*text == '-');
    double unit;
    char *end;

    if (strlen(text) > NUMBER_CHARACTERS || !strspn(first + (*first == '.'), digits))
        return false;
    *value = strtod(text, &end);
    unit = end <= text + strspn(text, all) ? unit_of(kind, end) : 0;
    *value = *value * unit + 0; /* -0 is 0 */
    return unit > 0;
}

static bool set_input(Asked *asked, int at, const char *text)
{
    static const char *const kinds[] = { "a whole number", "a number",
                                         "bytes, or KiB, MiB, GiB, KB, MB, GB,",
                                         "a part, or a percentage," };
    const Input *input = &asked->calculator->inputs[at];
    double value;
    bool fine = read_number(input->kind, text, &value);

    if (fine && (input->kind == WHOLE || input->kind == BYTES))
        fine = value == floor(value);
    if (!fine || !(value >= input->least && value <= input->most))
        return complain(asked->calculator, "--%s %.*s: is to be %s from %.15g to %.15g",
                        input->name, NUMBER_CHARACTERS, text, kinds[input->kind], input->least,
                        input->most);
    asked->value[at] = value;
    return asked->given[at] = true;
}

/* ---- Devices ---- */

static bool set_device(Asked *asked, const char *given)
{
    const char *name = !strcmp(given, "sim") ? "teaching" : given;
    char build[3000], folder[4000], why[900];

    name += strncmp(name, "sim:", 4) ? 0 : 4;
    if (*name && strspn(name, "0123456789") == strlen(name))
        return complain(asked->calculator,
                        "--device %.20s: a described GPU is wanted, such as sim:t4, not a real "
                        "one's number; build/warpbook sim --list shows them",
                        name);
    if (!find_build_folder(build, sizeof build))
        return complain(asked->calculator,
                        "--device %.40s: the build folder cannot be found: %s; run make first",
                        name, strerror(errno));
    PUT(folder, "%s/devices", build);
    if (!device_read(folder, name, &asked->device, why, sizeof why))
        return complain(asked->calculator, "--device %.40s: %s", name, why);
    return asked->has_device = true;
}

/* ---- Words ---- */

/* Takes words[*at] with its value, from "--name=value" or the next word. */
static bool take_word(Asked *asked, int count, char **words, int *at)
{
    const Calculator *calculator = asked->calculator;
    const char *word = words[*at], *equals = strchr(word, '=');
    const char *value = equals ? equals + 1 : *at + 1 < count ? words[*at + 1] : NULL;
    size_t length = equals ? (size_t) (equals - word) : strlen(word);
    bool device = calculator->has_device && length == 8 && !strncmp(word, "--device", 8);
    int input = length > 2 ? find_input(calculator, word + 2, length - 2) : -1;

    if (strncmp(word, "--", 2))
        return complain(calculator, "%.60s: say which number it is, as in: %s", word,
                        calculator->example);
    if (!device && input < 0)
        return complain(calculator, "%.60s: there is no such option", word);
    if (!device && calculator->inputs[input].kind == FLAG) {
        asked->given[input] = true;
        return !equals || complain(calculator, "%.60s: takes no value", word);
    }
    if (!value || (!equals && !strncmp(value, "--", 2)))
        return complain(calculator, "%.60s: its value is missing", word);
    *at += !equals;
    return device ? set_device(asked, value) : set_input(asked, input, value);
}

/* What was not given: from the device, or what is usual. */
static bool fill_in(Asked *asked)
{
    const Calculator *calculator = asked->calculator;

    if (calculator->needs_device && !asked->has_device)
        return complain(calculator,
                        "--device is missing: sim:t4, sim:h200, ...; build/warpbook sim "
                        "--list shows them all");
    for (int i = 0; calculator->inputs[i].name; i++) {
        const Input *input = &calculator->inputs[i];
        if (asked->given[i])
            continue;
        if (input->of_device && asked->has_device)
            asked->value[i] = input->of_device(&asked->device);
        else if (input->optional)
            asked->value[i] = input->fallback;
        else
            return complain(calculator, "--%s is missing (%s)%s", input->name, input->what,
                            input->of_device ? ": give it, or --device" : "");
    }
    return true;
}

static bool ask(Asked *asked, int count, char **words)
{
    for (int i = 0; i < count; i++)
        if (!strcmp(words[i], "--help") || !strcmp(words[i], "-h"))
            return asked->help = true;
    for (int i = 0; i < count; i++)
        if (!take_word(asked, count, words, &i))
            return false;
    return fill_in(asked);
}

/* ---- What is printed beside results ---- */

static void print_list(FILE *out)
{
    fputs("usage: warpbook calc NAME --input VALUE...\n\n", out);
    for (int i = 0; i < CALCULATORS; i++)
        fprintf(out, "  %-10s %s\n", calculators[i].name, calculators[i].what);
    fputs("\nEach shows its working. warpbook calc NAME --help explains it, with an example.\n",
          out);
}

static bool show_example(const Calculator *calculator)
{
    Asked asked = { .calculator = calculator };
    char text[200], *words[MOST_WORDS];
    int count = 0;

    PUT(text, "%s", calculator->example);
    for (char *word = strtok(text, " "); word && count < MOST_WORDS; word = strtok(NULL, " "))
        words[count++] = word;
    return ask(&asked, count, words) && calculator->show(&asked);
}

static bool print_help(const Calculator *calculator)
{
    char word[40];

    printf("warpbook calc %s: %s.\n%s%s\n", calculator->name, calculator->what,
           *calculator->about ? "\n" : "", calculator->about);
    for (const Input *input = calculator->inputs; input->name; input++) {
        PUT(word, "--%s%s", input->name, input->kind == FLAG ? "" : " N");
        printf("  %-14s %s", word, input->what);
        if (input->optional && input->kind != FLAG && input->fallback)
            printf(" [%g]", input->fallback);
        printf("\n");
    }
    if (calculator->has_device)
        printf("  %-14s a described GPU, whole: sim:t4, or a description's path%s\n",
               "--device NAME", calculator->needs_device ? "" : " [none]");
    printf("\nExample:\n  warpbook calc %s %s\n\n", calculator->name, calculator->example);
    return show_example(calculator);
}

int calc_run(int argc, char **argv)
{
    static Asked asked;
    bool help = !argc || !strcmp(argv[0], "--help") || !strcmp(argv[0], "-h");

    asked = (Asked){ 0 };
    if (help) {
        print_list(stdout);
        return DONE;
    }
    for (int i = 0; i < CALCULATORS; i++)
        if (!strcmp(argv[0], calculators[i].name))
            asked.calculator = &calculators[i];
    if (!asked.calculator) {
        fprintf(stderr, "warpbook: there is no calculator %.60s; there are:\n\n", argv[0]);
        print_list(stderr);
        return USAGE;
    }
    if (!ask(&asked, argc - 1, argv + 1))
        return USAGE;
    return (asked.help ? print_help(asked.calculator) : asked.calculator->show(&asked)) ? DONE
                                                                                        : USAGE;
}
