/* kinds.c - the kinds of questions: when each fits, its answer, its texts. */
#include "learner/quiz/kinds.h"
#include "base/util.h"

#include <math.h>

/* ---- Answers ---- */

static double per(double all, double count)
{
    return count > 0 ? all / count : 0;
}

static double load_sectors(const Subject *s)
{
    return per(s->line->cost.load.passes, s->line->cost.load.requests);
}

static double load_least(const Subject *s)
{
    return per(s->line->cost.load.asked / RECORD_SECTOR_BYTES, s->line->cost.load.requests);
}

static double store_sectors(const Subject *s)
{
    return per(s->line->cost.store.passes, s->line->cost.store.requests);
}

static double store_least(const Subject *s)
{
    return per(s->line->cost.store.asked / RECORD_SECTOR_BYTES, s->line->cost.store.requests);
}

static double wavefronts(const Subject *s)
{
    return per(s->line->cost.shared.passes, s->line->cost.shared.requests);
}

static double wavefronts_least(const Subject *s)
{
    return per(s->line->cost.shared.asked, s->line->cost.shared.requests);
}

static double lanes_of_line(const Subject *s)
{
    return per(s->line->cost.lanes, s->line->cost.instructions);
}

static double lanes_of_all(const Subject *s)
{
    return s->facts->limits.lanes;
}

static double instructions_of_line(const Subject *s)
{
    return s->line->cost.instructions;
}

static double per_warp(double count, double warps)
{
    const double value = per(count, warps);

    return fabs(value - round(value)) < 1e-4 * value ? round(value) : value;
}

static double loads_per_warp(const Subject *s)
{
    return per_warp(s->line->cost.load.requests, s->facts->warps);
}

static double barriers_per_warp(const Subject *s)
{
    return per_warp(s->line->cost.barriers, s->facts->warps);
}

static double barriers_doubled(const Subject *s)
{
    return per_warp(s->line->barriers_doubled, s->facts->warps_doubled);
}

static double number_of_line(const Subject *s)
{
    return s->line->cost.line;
}

static double share_of_line(const Subject *s)
{
    return 100 * per(spent_sum(&s->line->cost.spent), spent_sum(&s->facts->limits.spent));
}

static double resident_per_sm(const Subject *s)
{
    return per(s->facts->resident, s->facts->sms);
}

static double warps_per_sm(const Subject *s)
{
    return resident_per_sm(s) * ceil(s->facts->threads / 32);
}

static double threads_per_block(const Subject *s)
{
    return s->facts->threads;
}

static double blocks(const Subject *s)
{
    return s->facts->blocks;
}

static double resident(const Subject *s)
{
    return s->facts->resident;
}

static double waves(const Subject *s)
{
    return ceil(per(s->facts->blocks, s->facts->resident));
}

static double dram_bytes_per_element(const Subject *s)
{
    return per(s->facts->limits.bytes, s->facts->elements);
}

static double flops_per_byte(const Subject *s)
{
    return per(s->facts->limits.flops, s->facts->limits.bytes);
}

static double tail_share(const Subject *s)
{
    return 100 * per(s->facts->limits.spent.at[AT_TAIL], spent_sum(&s->facts->limits.spent));
}

static double copies_up(const Subject *s)
{
    return s->facts->spans.count[ENGINE_UP];
}

static double streams_used(const Subject *s)
{
    return s->facts->spans.streams;
}

static double upload_busy(const Subject *s)
{
    return 100 * per(s->facts->spans.busy_ns[ENGINE_UP], s->facts->spans.call_ns);
}

static double overlap(const Subject *s)
{
    return per(s->facts->spans.sum_ns, s->facts->spans.call_ns);
}

static double limit_share(const Subject *s)
{
    const Spent *spent = &s->facts->limits.spent;

    return 100 * per(spent->at[spent_most(spent)], spent_sum(spent));
}

/* ---- When a kind fits ---- */

static bool loads(const Subject *s)
{
    return s->line->cost.load.requests > 0;
}

static bool stores(const Subject *s)
{
    return s->line->cost.store.requests > 0;
}

static bool uses_shared(const Subject *s)
{
    return s->line->cost.shared.requests > 0;
}

/* A line whose few instructions do not matter would be a strange one to ask about. */
static bool has_idle_lanes(const Subject *s)
{
    return lanes_of_line(s) > 0 && lanes_of_line(s) < 28 && share_of_line(s) >= 2;
}

static bool has_lanes(const Subject *s)
{
    return lanes_of_all(s) > 0 && !s->facts->entry->lab->streams;
}

static bool one_launch(const Subject *s)
{
    return s->facts->launches == 1 && s->facts->warps > 0;
}

static bool loads_in_a_loop(const Subject *s)
{
    return one_launch(s) && loads_per_warp(s) >= 2;
}

static bool has_barrier(const Subject *s)
{
    return one_launch(s) && barriers_per_warp(s) > 0 && s->facts->warps_doubled > 0;
}

/* The first of the lines, by a clear margin. */
static bool is_dominant(const Subject *s)
{
    const KernelFacts *f = s->facts;

    return s->line == f->lines && f->line_count > 1 && share_of_line(s) >= 10 &&
           spent_sum(&f->lines[1].cost.spent) < 0.6 * spent_sum(&f->lines[0].cost.spent);
}

static bool has_residents(const Subject *s)
{
    return s->facts->resident > 0 && s->facts->blocks > 0 && !s->facts->entry->lab->streams;
}

static bool has_waves(const Subject *s)
{
    return has_residents(s) && s->facts->launches == 1 && waves(s) >= 2 && waves(s) <= 200;
}

static bool has_tail(const Subject *s)
{
    return has_residents(s) && tail_share(s) >= 3;
}

/* Where all arrays fit into the L2, DRAM never sees most of the bytes that a kernel writes: a count
 * of them would teach the wrong cost. */
static bool uses_dram(const Subject *s)
{
    return s->facts->array_bytes >= 8 * s->facts->l2_bytes &&
           s->facts->limits.bytes > 0.5 * s->facts->elements && s->facts->elements > 1000 &&
           !s->facts->entry->lab->streams;
}

static bool has_flops(const Subject *s)
{
    return uses_dram(s) && s->facts->limits.flops > s->facts->elements;
}

static bool copies(const Subject *s)
{
    return s->facts->entry->lab->streams && s->facts->spans.count[ENGINE_UP] > 0 &&
           s->facts->spans.call_ns > 0;
}

/* The largest part of the time is clearly the largest, and nothing else is busy all the time. */
static bool has_clear_limit(const Subject *s)
{
    const Limits *limits = &s->facts->limits;
    const Limit most = spent_most(&limits->spent);

    if (most != limits_most(limits))
        return false;
    for (int i = 0; i < LIMITS; i++)
        if (i != (int) most && (limits->spent.at[i] > 0.75 * limits->spent.at[most] ||
                                limits->busy[i] > 0.75 * spent_sum(&limits->spent)))
            return false;
    return spent_sum(&limits->spent) > 0;
}

/* The largest parts of the time as choices, in a fixed order; returns which one is the largest. */
static int limit_choices(const Subject *s, Question *question)
{
    Spent left = s->facts->limits.spent;
    bool offered[LIMITS] = { false };
    const Limit most = spent_most(&left);
    int right = 0;

    for (int i = 0; i < 4; i++) {
        const Limit next = spent_most(&left);
        offered[next] = true;
        left.at[next] = -1;
    }
    for (int i = 0; i < LIMITS; i++) {
        if (!offered[i])
            continue;
        PUT(question->choices[question->choice_count], "%s", limit_words[i]);
        question->choice_count++;
        if (i == (int) most)
            right = question->choice_count;
    }
    return right;
}

/* ---- The kinds ---- */

const QuestionKind question_kinds[] = {
    { "load_sectors", "sectors per load", "sectors", 1, true, loads, load_sectors, load_least, 0.25,
      0.05,
      "Line {line}: {source}\n"
      "How many 32-byte sectors does one warp touch per load from global memory, on average?",
      "At least {other} would be needed for the bytes that the lanes of a warp use in one load. "
      "make draw "
      "KIND=sectors LAB={lab} FLAGS=\"--line {line}\" shows which lane uses which "
      "sector." },
    { "store_sectors", "sectors per store", "sectors", 1, true, stores, store_sectors, store_least,
      0.25, 0.05,
      "Line {line}: {source}\n"
      "How many 32-byte sectors does one warp touch per store to global memory, on average?",
      "At least {other} would be needed for the bytes that the lanes of a warp write in one store. "
      "make draw "
      "KIND=sectors LAB={lab} FLAGS=\"--line {line}\" shows which lane uses which "
      "sector." },
    { "wavefronts", "wavefronts per request", "shared", 2, true, uses_shared, wavefronts,
      wavefronts_least, 0.2, 0.05,
      "Line {line}: {source}\n"
      "How many wavefronts of shared memory does one request of a warp need, on average?",
      "Without bank conflicts a request would need {other}. A load or store of more than 4 bytes "
      "per lane needs several in any case. make draw KIND=banks LAB={lab} FLAGS=\"--line {line}\" "
      "shows the banks." },
    { "lanes_of_line", "active lanes", "lanes", 3, true, has_idle_lanes, lanes_of_line,
      instructions_of_line, 1, 0.05,
      "Line {line}: {source}\n"
      "How many of a warp's 32 lanes are active in this line, on average over its instructions?",
      "That is the average over {other} warp instructions. make draw "
      "KIND=lanes LAB={lab} shows the lanes of one warp, instruction by instruction." },
    { "lanes_of_all", "active lanes on average", "lanes", 3, false, has_lanes, lanes_of_all, NULL,
      1, 0, "How many of a warp's 32 lanes are active in an average instruction of your kernel?",
      "Lanes are idle in a branch that they do not take, after an early "
      "return, and in an incomplete warp. make draw KIND=lanes LAB={lab} shows one warp." },
    { "costliest_line", "the line that takes most of the time", "time", 0, true, is_dominant,
      number_of_line, share_of_line, 0, 0,
      "Which line of kernel.cu takes most of the time in the case {case}? Answer with its "
      "number.",
      "That line, {source}, takes {other} % of the modelled time. At another size it may be "
      "another line. make explain LAB={lab} lists "
      "the lines that cost most." },
    { "resident_blocks", "blocks per SM", "occupancy", 4, false, has_residents, resident_per_sm,
      threads_per_block, 0, 0,
      "The {device} has {sms} SMs. How many blocks of your kernel fit on one SM at a time? "
      "(build/warpbook calc occupancy does such calculations.)",
      "A block has {other} threads; threads, registers, shared memory or the number of blocks "
      "per SM is used up then. make draw KIND=blocks LAB={lab} shows blocks on SMs over "
      "time." },
    { "resident_warps", "warps per SM", "occupancy", 4, false, has_residents, warps_per_sm,
      threads_per_block, 0, 0,
      "How many warps of your kernel fit on one SM of the {device} at a time?",
      "Blocks of {other} threads fit as long as threads, registers and shared memory last. The "
      "schedulers choose among them when one "
      "waits. make draw KIND=blocks LAB={lab} shows blocks on SMs over time." },
    { "waves", "waves of blocks", "occupancy", 0, false, has_waves, waves, resident, 0, 0,
      "Your kernel launches one grid (case {case}). The {device} has {sms} SMs, and {per_sm} of "
      "your blocks fit on one SM at a time. A wave is as many blocks as fit on all SMs at once. In "
      "how many waves do your blocks run, counting an incomplete last wave?",
      "The GPU holds {other} blocks at a time. make draw "
      "KIND=blocks LAB={lab} shows them." },
    { "blocks", "blocks launched", "waves", 0, false, has_residents, blocks, threads_per_block, 0,
      0,
      "How many blocks does your kernel launch in the case {case}? If there are several launches: "
      "in the longest one.",
      "Each has {other} threads. Your host code computes that number; make draw "
      "KIND=blocks LAB={lab} shows where they run." },
    { "tail_share", "share of the tail", "waves", 0, false, has_tail, tail_share, blocks, 5, 0,
      "What share of the time, in %, do SMs have no block because the grid is nearly done (the "
      "tail)?",
      "The grid has {other} blocks. make draw KIND=blocks LAB={lab} shows the SMs "
      "that run out of blocks." },
    { "dram_bytes", "bytes of DRAM per element", "traffic", 0, false, uses_dram,
      dram_bytes_per_element, NULL, 0.5, 0.1,
      "How many bytes does the GPU's memory (DRAM) move per element of `{array}`, reads and writes "
      "together (case "
      "{case})?",
      "Bytes that a cache delivers, or still holds at the end, do not count. Memory moves pieces "
      "of 32 bytes, "
      "even if only a few of their bytes are used. make see LAB={lab} shows which parts of each "
      "array were moved, and which of their bytes were used." },
    { "flops_per_byte", "FP32 operations per byte", "traffic", 1, false, has_flops, flops_per_byte,
      NULL, 0.05, 0.15,
      "How many FP32 operations, additions and multiplications of floats, does your kernel do per "
      "byte that "
      "DRAM moves? A multiply-add counts as two.",
      "This is the kernel's place on the roofline. make draw KIND=roofline "
      "LAB={lab} FLAGS=\"--svg roofline.svg\" draws it." },
    { "limit", "what takes most of the time", "limit", 4, false, has_clear_limit, limit_share, NULL,
      0, 0, "What takes the largest part of your kernel's modelled time on the {device}?",
      "It takes {answer} % of the time. make explain LAB={lab} shows all parts, next to the "
      "reference's.",
      limit_choices },
    { "loads_per_warp", "loads per warp", "loops", 1, true, loads_in_a_loop, loads_per_warp, NULL,
      0.25, 0.05,
      "Line {line}: {source}\n"
      "How often does one warp load from global memory in this line, on average (case {case})?",
      "A warp makes that many requests here, in a loop or because the line holds several loads. "
      "make explain LAB={lab} lists the lines that cost most." },
    { "barriers", "barriers per warp", "barriers", 2, true, has_barrier, barriers_per_warp,
      barriers_doubled, 0.25, 0.05,
      "How often does one warp wait at the barrier in line {line}, on average (case {case})?",
      "At twice the size ({doubled}) it waits {other} times. make explain LAB={lab} lists the "
      "lines that "
      "cost most, and what warps wait for." },
    { "barriers_doubled", "barriers per warp at twice the size", "barriers", 2, true, has_barrier,
      barriers_doubled, barriers_per_warp, 0.25, 0.05,
      "In the case {case}, one warp waits {other} times at the barrier in line {line}, on average. "
      "How often at twice the size: {doubled}?",
      "Twice the work means more blocks, or more rounds in each block: only the "
      "latter makes a warp wait more often. make draw KIND=blocks LAB={lab} shows the blocks." },
    { "copies", "copies to the GPU", "copies", 5, false, copies, copies_up, NULL, 0, 0,
      "How many copies from the host to the GPU does your function make in the case {case}?",
      "A chunk of its own copy can be worked on before the rest has arrived. make draw "
      "KIND=streams LAB={lab} FLAGS=\"--svg "
      "streams.svg\" draws them." },
    { "streams", "streams", "streams", 5, false, copies, streams_used, NULL, 0, 0,
      "In how many different streams does your function run its copies and kernels?",
      "Work in one stream runs in order; only work in different streams can overlap. "
      "make draw KIND=streams LAB={lab} FLAGS=\"--svg streams.svg\" draws them." },
    { "upload_busy", "share of the upload", "engines", 5, false, copies, upload_busy, NULL, 5, 0,
      "During what share of a call, in %, is a copy from the host to the GPU running (case "
      "{case})?",
      "An engine that is busy nearly all the time is the limit. "
      "make draw KIND=streams LAB={lab} FLAGS=\"--svg streams.svg\" draws the engines." },
    { "overlap", "gain by overlap", "engines", 5, false, copies, overlap, NULL, 0.1, 0.05,
      "If your copies and kernels ran one after the other, how many times as long would a call "
      "take "
      "(case {case})?",
      "That is the sum of their times over the time of the call. make draw KIND=streams "
      "LAB={lab} FLAGS=\"--svg streams.svg\" draws the overlap." },
    { 0 },
};
