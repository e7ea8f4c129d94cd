/* sample.c - which blocks of a launch are left out, and how long they take. */
#include "sim/time/sample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A launch of at least LEAST_STRETCHES waves is divided into at most MOST_STRETCHES. */
enum { LEAST_STRETCHES = 6, MOST_STRETCHES = 16 };

static const double same = 0.01, same_l2 = 0.05;

/* ---- Stretches ---- */

static Stretch counters(const Memory *memory)
{
    return (Stretch){ .loaded = (double) (memory->l2_hits + memory->l2_misses),
                      .missed = (double) memory->l2_misses,
                      .written = memory->write_busy };
}

static void begin_stretch(Sample *sample)
{
    sample->until = sample->length;
    sample->is_whole = true;
    sample->now = (Stretch){ 0 };
    sample->began = counters(sample->memory);
}

void sample_begin(Sample *sample, Memory *memory, long blocks, long wave)
{
    const long waves = blocks / wave;
    const long length = wave * ((waves + MOST_STRETCHES - 1) / MOST_STRETCHES);

    if (waves < LEAST_STRETCHES)
        return;
    *sample = (Sample){ .length = length, .until = blocks % length };
    memset(sample->recent, 0xff, sizeof sample->recent);
    sample->before = malloc(sizeof *sample->before);
    if (!sample->before)
        return;
    sample->memory = memory;
    if (!sample->until)
        begin_stretch(sample);
}

/* Adds what the L2 did for the blocks of the current stretch. */
static void end_stretch(Sample *sample)
{
    const Stretch now = counters(sample->memory);

    sample->now.loaded = now.loaded - sample->began.loaded;
    sample->now.missed = now.missed - sample->began.missed;
    sample->now.written = now.written - sample->began.written;
}

/* ---- Stretches that are alike ---- */

static bool is_within(double a, double b, double most)
{
    return fabs(a - b) <= most;
}

/* `cycles`: of a stretch. */
static bool are_alike(const Stretch *a, const Stretch *b, double cycles)
{
    return is_within(a->instructions, b->instructions, same * b->instructions) &&
           is_within(a->missed, b->missed, same_l2 * b->loaded) &&
           is_within(a->written, b->written, same_l2 * cycles);
}

static double cycles_of(const Sample *sample, int i)
{
    return sample->played[i].start - sample->played[i + 1].start;
}

static bool are_all_alike(const Sample *sample)
{
    const Stretch *played = sample->played;
    const double cycles = cycles_of(sample, 0);

    if (sample->count < STRETCHES_ALIKE + 1 || cycles <= 0)
        return false;
    for (int i = 1; i < STRETCHES_ALIKE; i++)
        if (!are_alike(&played[i], &played[0], cycles) ||
            !is_within(cycles_of(sample, i), cycles, same * cycles))
            return false;
    return true;
}

/* ---- Leaving out ---- */

static void begin_leaving_out(Sample *sample, uint64_t now)
{
    const double cycles = sample->played[0].start - sample->played[STRETCHES_ALIKE].start;
    double instructions = 0;

    for (int i = 0; i < STRETCHES_ALIKE; i++)
        instructions += sample->played[i].instructions;
    sample->rate = cycles / instructions;
    sample->leaves_out = true;
    sample->at = now;
    *sample->before = *sample->memory;
}

static void end_leaving_out(Sample *sample)
{
    if (!sample->leaves_out)
        return;
    memory_rewind(sample->memory, sample->before, sample->at);
    sample->leaves_out = false;
    sample->count = 0;
}

/* A stretch that was not like the others takes as long as the one after it, for its instructions.
 */
static void charge_unlike(Sample *sample, double rate)
{
    sample->cycles += rate * sample->unlike;
    sample->unlike = 0;
}

void sample_stop(Sample *sample)
{
    end_leaving_out(sample);
    charge_unlike(sample, sample->rate);
    sample->memory = NULL;
}

void sample_close(Sample *sample)
{
    free(sample->before);
}

/* Whether a warp has recently loaded these sectors: the L2 has them, and the L1 may have them. */
static bool is_recent(Sample *sample, uint64_t word)
{
    uint64_t *at =
        &sample->recent[trace_number(word) * 0x9e3779b97f4a7c15ull >> (64 - RECENT_BITS)];

    if (trace_number(*at) == trace_number(word) && !(trace_sectors(word) & ~trace_sectors(*at)))
        return true;
    *at = word;
    return false;
}

static void access_line(Sample *sample, TraceKind kind, uint64_t word, int half)
{
    Memory *memory = sample->memory;
    const uint64_t line = trace_number(word), at = sample->at;

    if (kind == TRACE_ATOMIC || kind == TRACE_INTEGER_ATOMIC)
        memory_atomic(memory, kind, word, at);
    else if (kind != TRACE_LOAD)
        memory_store(memory, half, line, trace_sectors(word), trace_amount(word), at);
    else if (!is_recent(sample, word))
        memory_load(memory, half, line, trace_sectors(word), at);
}

/* The L2 gets the accesses of a warp. */
static void access_lines(Sample *sample, const Trace *trace, int half)
{
    const uint64_t *end = trace->words + trace->word_count, *at = trace->words;

    while (at < end) {
        const TraceKind kind = trace_kind(*at);
        const int lines = kind == TRACE_SHARED ? 0 : trace_following(*at);
        for (int i = 1; i <= lines; i++)
            access_line(sample, kind, at[i], half);
        at += 1 + trace_following(*at);
    }
}

/* The next one is left out, too, if this one was like those that were played. */
static void end_left_out(Sample *sample)
{
    const Stretch *played = &sample->played[0];

    end_stretch(sample);
    if (!are_alike(&sample->now, played, sample->rate * played->instructions)) {
        sample->cycles -= sample->rate * sample->now.instructions;
        sample->unlike = sample->now.instructions;
        end_leaving_out(sample);
    }
    begin_stretch(sample);
}

bool sample_leaves_out(Sample *sample, const BlockTrace *trace, int half)
{
    double instructions;

    if (!sample->memory)
        return false;
    if (!sample->until && sample->leaves_out)
        end_left_out(sample);
    instructions = trace->work.of[WORK_INSTRUCTIONS];
    sample->now.instructions += instructions;
    sample->until--;
    if (!sample->leaves_out)
        return false;
    sample->cycles += sample->rate * instructions;
    for (int i = 0; i < trace->warp_count; i++)
        access_lines(sample, &trace->warps[i], half);
    return true;
}

/* ---- Played blocks ---- */

static void keep_stretch(Sample *sample)
{
    if (!sample->is_whole)
        return;
    memmove(sample->played + 1, sample->played, STRETCHES_ALIKE * sizeof *sample->played);
    sample->played[0] = sample->now;
    if (sample->count <= STRETCHES_ALIKE)
        sample->count++;
}

void sample_began(Sample *sample, uint64_t start)
{
    if (sample->memory)
        sample->now.start += (double) start / (double) sample->length;
}

void sample_played(Sample *sample, uint64_t now)
{
    if (!sample_is_full(sample))
        return;
    end_stretch(sample);
    keep_stretch(sample);
    if (sample->count > 1)
        charge_unlike(sample, cycles_of(sample, 0) / sample->played[0].instructions);
    if (are_all_alike(sample))
        begin_leaving_out(sample, now);
    begin_stretch(sample);
}
