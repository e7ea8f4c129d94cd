/* bounds.c - the calculators of bounds: waves, little, ilp, roofline, amdahl. */
#include "calc/calc.h"
#include "calc/text.h"
#include "calc/calculators.h"

#include <math.h>
#include <stdio.h>

/* ---- waves ---- */

static double device_sms(const Device *d)
{
    return d->sms;
}

static const Input waves_inputs[] = {
    { "blocks", "number of blocks in the grid", WHOLE, 1, 1e15, false, 0 },
    { "sms", "number of SMs of the GPU", WHOLE, 1, 1e6, false, 0, device_sms },
    { "resident", "blocks that an SM holds at once: warpbook calc occupancy", WHOLE, 1, 1024, false,
      0 },
    { 0 },
};

static bool show_waves(const Asked *asked)
{
    double blocks = asked_value(asked, "blocks"), sms = asked_value(asked, "sms"),
           resident = asked_value(asked, "resident");
    Waves w = calc_waves((long) blocks, (long) sms, (long) resident);
    double wave = (double) w.wave, waves = (double) w.waves, most = (double) w.sm_most;

    printf("a wave      = %s SM%s x %s = %s block%s\n", text_of(sms), plural(sms),
           text_of(resident), text_of(wave), plural(wave));
    printf("waves       = %s / %s = %s: %s full, then %s block%s\n", text_of(blocks), text_of(wave),
           text_of(blocks / wave), text_of((double) w.full), text_of((double) w.tail),
           plural((double) w.tail));
    printf("by waves    = %s / (%s x %s) = %s efficiency,\n"
           "              if a block takes as long next to others as alone\n",
           text_of(blocks), text_of(waves), text_of(wave), percent_of(w.efficiency));
    printf("by SMs      = %s / (%s x %s) = %s efficiency,\n"
           "              if blocks on an SM share its speed; the fullest SM gets %s\n",
           text_of(blocks), text_of(sms), text_of(most), percent_of(w.sm_efficiency),
           text_of(most));
    if (w.full && w.tail)
        printf("A profiler may estimate a gain of 1 / %s waves = %s, which assumes that\n"
               "a whole wave disappears. The idle part of the waves is %s.\n",
               text_of(waves), percent_of(1 / waves), percent_of(1 - w.efficiency));
    return true;
}

const Calculator waves_calculator = {
    .name = "waves",
    .what = "how a grid fills the GPU, and what its tail costs",
    .about = "Blocks of equal work, spread over the SMs: the last wave may leave some idle.\n",
    .example = "--blocks 363 --sms 16 --resident 12",
    .inputs = waves_inputs,
    .has_device = true,
    .show = show_waves,
};

/* ---- little ---- */

static double device_gbps(const Device *d)
{
    return d->memory_gbps;
}

static const Input little_inputs[] = {
    { "latency", "memory latency, ns; it grows with the load", REAL, 1e-3, 1e12, false, 0 },
    { "gbps", "the bandwidth to reach, GB/s", REAL, 1e-3, 1e9, false, 0, device_gbps },
    { "sms", "number of SMs of the GPU", WHOLE, 1, 1e6, true, 0, device_sms },
    { "bytes", "bytes in flight per thread: its loads before the first use", BYTES, 1, 1 << 20,
      true, 4 },
    { 0 },
};

static bool show_little(const Asked *asked)
{
    double latency = asked_value(asked, "latency"), gbps = asked_value(asked, "gbps"),
           sms = asked_value(asked, "sms");
    double bytes = asked_value(asked, "bytes"), flight = calc_little(latency, gbps);
    double threads = ceil(flight / (sms ? sms : 1) / bytes);

    printf("in flight   = latency x throughput = %s ns x %s GB/s\n", text_of(latency),
           text_of(gbps));
    printf("            = %s bytes = %s\n", text_of(flight), bytes_of(flight));
    if (sms)
        printf("per SM      = %s / %s SMs = %s bytes\n", text_of(flight), text_of(sms),
               text_of(flight / sms));
    printf("threads     = %s / %s bytes per thread = %s%s\n", text_of(flight / (sms ? sms : 1)),
           text_of(bytes), text_of(threads), sms ? " per SM" : "");
    if (asked->has_device) {
        double most = asked->device.threads_per_sm;
        printf("occupancy   = %s / %s threads that an SM can hold = %s\n", text_of(threads),
               text_of(most), percent_of(threads / most));
        if (threads > most)
            printf(
                "More than an SM can hold: each thread must keep more bytes in flight, at least\n"
                "%s / %s = %s.\n",
                text_of(flight / sms), text_of(most), text_of(ceil(flight / sms / most)));
    }
    return true;
}

const Calculator little_calculator = {
    .name = "little",
    .what = "bytes in flight that a bandwidth needs (Little's law)",
    .about = "Bytes in flight = threads x bytes per thread. With too few, memory is slow.\n",
    .example = "--device sim:h200 --latency 600 --bytes 16",
    .inputs = little_inputs,
    .has_device = true,
    .show = show_little,
};

/* ---- ilp ---- */

/* FP32 lanes: two FLOP per multiply-add. */
static double device_lanes(const Device *d)
{
    return round(d->fp32_tflops * 1e12 / 2 / (d->sm_mhz * 1e6) / d->sms);
}

static const Input ilp_inputs[] = {
    { "latency", "latency of an operation, cycles: 4 for FP32 since Volta", REAL, 1e-3, 1e9, false,
      0 },
    { "rate", "operations that an SM can begin per cycle: its FP32 lanes", REAL, 1e-3, 1e6, false,
      0, device_lanes },
    { "chains", "independent operations per thread (ILP)", WHOLE, 1, 1024, true, 1 },
    { 0 },
};

static bool show_ilp(const Asked *asked)
{
    double latency = asked_value(asked, "latency"), rate = asked_value(asked, "rate");
    double chains = asked_value(asked, "chains"), flight = calc_little(latency, rate);
    double threads = ceil(flight / chains), warps = ceil(threads / CALC_LANES);

    printf("in flight   = latency x throughput = %s cycles x %s per cycle = %s\n", text_of(latency),
           text_of(rate), text_of(flight));
    printf("threads     = %s / %s chain%s per thread = %s per SM\n", text_of(flight),
           text_of(chains), plural(chains), text_of(threads));
    printf("warps       = %s / 32 = %s per SM\n", text_of(threads), text_of(warps));
    if (asked->has_device)
        printf("            = %s / %d = %s on each scheduler\n", text_of(warps),
               asked->device.schedulers_per_sm, text_of(warps / asked->device.schedulers_per_sm));
    printf("This is the minimum; a measured kernel needs slightly more.\n");
    return true;
}

const Calculator ilp_calculator = {
    .name = "ilp",
    .what = "operations in flight that full arithmetic speed needs",
    .about = "Little's law for arithmetic: independent operations come from warps, or from\n"
             "chains in a thread.\n",
    .example = "--device sim:h200 --latency 4 --chains 4",
    .inputs = ilp_inputs,
    .has_device = true,
    .show = show_ilp,
};

/* ---- roofline ---- */

static double device_tflops(const Device *d)
{
    return d->fp32_tflops;
}

static const Input roofline_inputs[] = {
    { "tflops", "peak, TFLOP/s (an FMA counts as two)", REAL, 1e-6, 1e6, false, 0, device_tflops },
    { "gbps", "bandwidth, GB/s", REAL, 1e-3, 1e9, false, 0, device_gbps },
    { "intensity", "FLOP per byte read or written", REAL, 0, 1e9, true, 0 },
    { "flop", "FLOP of the whole kernel, instead of --intensity", REAL, 1, 1e24, true, 0 },
    { "bytes", "bytes of the whole kernel: 268e6, 256MiB", BYTES, 1, 1e15, true, 0 },
    { 0 },
};

static void print_times(double flop, double bytes, double tflops, double gbps)
{
    printf("arithmetic  = %s FLOP / %s TFLOP/s = %s ms\n", text_of(flop), text_of(tflops),
           text_of(flop / tflops / 1e9));
    printf("memory      = %s bytes / %s GB/s = %s ms\n", text_of(bytes), text_of(gbps),
           text_of(bytes / gbps / 1e6));
    printf("The longer of the two is the minimum time of any such kernel.\n");
}

static bool show_roofline(const Asked *asked)
{
    double tflops = asked_value(asked, "tflops"), gbps = asked_value(asked, "gbps");
    double intensity = asked_value(asked, "intensity"), flop = asked_value(asked, "flop");
    double bytes = asked_value(asked, "bytes"), ridge = calc_ridge(tflops * 1000, gbps), reached;
    bool whole = asked_given(asked, "flop");

    if (whole != asked_given(asked, "bytes"))
        return calc_refuse(asked->calculator,
                           "--%s is missing: --flop and --bytes must be given together",
                           whole ? "bytes" : "flop");
    if (whole && asked_given(asked, "intensity"))
        return calc_refuse(asked->calculator,
                           "give either --intensity, or --flop and --bytes, not both");
    printf("ridge       = peak / bandwidth = %s GFLOP/s / %s GB/s = %s FLOP per byte\n",
           text_of(tflops * 1000), text_of(gbps), text_of(ridge));
    if (!whole && !asked_given(asked, "intensity")) {
        printf("Below it, memory limits a kernel; above it, arithmetic. For your kernel, give\n"
               "--intensity, or --flop and --bytes.\n");
        return true;
    }
    if (whole) {
        intensity = flop / bytes;
        printf("intensity   = %s FLOP / %s bytes = %s FLOP per byte\n", text_of(flop),
               text_of(bytes), text_of(intensity));
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

const Calculator roofline_calculator = {
    .name = "roofline",
    .what = "whether memory or arithmetic limits a kernel: the ridge",
    .about = "The figures of a described GPU are theoretical peaks. For a realistic limit,\n"
             "give the rate of a measured copy as --gbps.\n",
    .example = "--device sim:t4 --flop 2e9 --bytes 24e6",
    .inputs = roofline_inputs,
    .has_device = true,
    .show = show_roofline,
};

/* ---- amdahl ---- */

static const Input amdahl_inputs[] = {
    { "share", "share of the time that is sped up: 0.75, 75%", SHARE, 0, 1, false, 0 },
    { "times", "speed-up of that share, or number of processors", REAL, 1e-3, 1e12, false, 0 },
    { 0 },
};

static bool show_amdahl(const Asked *asked)
{
    double p = asked_value(asked, "share"), n = asked_value(asked, "times");

    printf("S           = 1 / ((1 - P) + P / N), P = %s, N = %s\n", text_of(p), text_of(n));
    printf("            = 1 / (%s + %s) = %s\n", text_of(1 - p), text_of(p / n),
           text_of(calc_amdahl(p, n)));
    printf("at most     = 1 / (1 - P) = %s, however large N\n", text_of(calc_amdahl(p, INFINITY)));
    if (n >= 1)
        printf("If the work grows with N processors and the time stays the same (Gustafson):\n"
               "S           = N + (1 - P) (1 - N) = %s\n",
               text_of(calc_gustafson(p, n)));
    return true;
}

const Calculator amdahl_calculator = {
    .name = "amdahl",
    .what = "how much faster the whole gets if one part gets faster",
    .about = "",
    .example = "--share 93% --times 1.7",
    .inputs = amdahl_inputs,
    .show = show_amdahl,
};
