/* compare_speed.c - compares the speed of two kernels: blocks of four samples, and when to stop. */
#include "judge/compare_speed.h"
#include "base/speed.h"

#include <math.h>

/* One side's two samples of a block. `extra`: by how much the parent's clock exceeds the events,
 * per pass; extra_ms is the mean of the two samples, most_extra_ms the greater. */
typedef struct Pair {
    double call_ms, pass_ms, extra_ms, most_extra_ms;
    double between_ms; /* time to fill the arrays of a pass */
} Pair;

typedef struct Block {
    Pair reference, student;
    double mhz_before, mhz_after;
} Block;

/* A comparison takes at most this many budgets, even if all its blocks are dropped. */
static const double most_budgets = 20;

/* A block is dropped if its SM clock differs from the run's median by more than this. */
static const double clock_tolerance = 0.03;

/* A sample is disturbed if it is later than usual by more than 0.3 ms or 2 % per pass, whichever is
 * greater. (A reply through the guest process takes 0.15 to 0.4 ms; a context that waits for
 * another one's kernel takes 2.4 ms. NVIDIA H200, 2026-11-23.) */
static const double late_ms = 0.3, late_share = 0.02;

/* Dishonest events are wrong in most samples: they shift the student's side by this much per
 * pass. The shift is at most half of what makes a sample late, and a block has two samples per
 * side. So if a kernel's samples are late in most blocks, its blocks are counted by the parent's
 * clock and never dropped. */
static const double shift_ms = 0.05, shift_share = 0.01;

/* A kernel that runs while arrays are filled takes a 2 ms time slice of the GPU. Without one,
 * the filling time varies by up to 0.4 ms (NVIDIA H200, 2026-11-23). */
static const double between_ms = 0.5;

static void add_sample(Pair *pair, const Sample *sample)
{
    double extra_ms = (sample->parent_ms - sample->event_ms) / sample->passes;

    pair->call_ms += sample->event_ms / sample->calls / 2;
    pair->pass_ms += sample->event_ms / sample->passes / 2;
    pair->extra_ms += extra_ms / 2;
    pair->most_extra_ms = fmax(pair->most_extra_ms, extra_ms);
    pair->between_ms += sample->between_ms / sample->passes / 2;
}

static bool take(Comparison *comparison, bool student, Block *block, Outcome *outcome)
{
    Candidate *candidate = student ? &comparison->student : &comparison->reference;
    Sample sample = { 0 };

    outcome->verdict = candidate->sample(candidate->self, &sample);
    outcome->student_failed = student;
    if (outcome->verdict != PASS)
        return false;
    add_sample(student ? &block->student : &block->reference, &sample);
    return true;
}

static bool take_block(Comparison *comparison, Block *block, Outcome *outcome)
{
    bool mirrored = next_random(&comparison->random) & 1;

    *block = (Block){ 0 };
    if (comparison->clock_mhz &&
        !comparison->clock_mhz(comparison->clock_self, &block->mhz_before)) {
        outcome->verdict = UNSOUND;
        outcome->student_failed = false;
        return false;
    }
    for (int i = 0; i < 4; i++)
        if (!take(comparison, mirrored ^ (i == 1 || i == 2), block, outcome))
            return false;
    if (comparison->clock_mhz &&
        !comparison->clock_mhz(comparison->clock_self, &block->mhz_after)) {
        outcome->verdict = UNSOUND;
        outcome->student_failed = false;
        return false;
    }
    return true;
}

static double usual_mhz(const Block *blocks, int count)
{
    double mhz[SPEED_BLOCKS];

    for (int i = 0; i < count; i++)
        mhz[i] = blocks[i].mhz_before;
    return median(mhz, (size_t) count);
}

static bool steady(const Block *block, double mhz)
{
    return fabs(block->mhz_before - mhz) <= clock_tolerance * mhz &&
           fabs(block->mhz_after - mhz) <= clock_tolerance * mhz;
}

static double extra_of(const Pair *pair)
{
    return pair->extra_ms;
}

static double between_of(const Pair *pair)
{
    return pair->between_ms;
}

static double pass_of(const Pair *pair)
{
    return pair->pass_ms;
}

/* The amount by which nearly all of the student's figures exceed nearly all of the reference's.
 * Sets *usual to the reference's median. */
static double shift_of(const Block *blocks, int count, double (*figure)(const Pair *pair),
                       double *usual)
{
    double reference[SPEED_BLOCKS], student[SPEED_BLOCKS];

    for (int i = 0; i < count; i++) {
        reference[i] = figure(&blocks[i].reference);
        student[i] = figure(&blocks[i].student);
    }
    *usual = median(reference, (size_t) count);
    return quantile(student, (size_t) count, 0.25) - quantile(reference, (size_t) count, 0.75);
}

/* Time of the student's kernel that its events did not measure. On any machine, both sides spend
 * the same time outside the events: for replies, for fetching part of the output, and for filling
 * the arrays of a pass. A student's kernel that still runs when the filling begins, or that starts
 * before it ends, shares the GPU and slows the filling down. */
typedef struct Hidden {
    bool in_calls, between;
    double usual_ms, usual_between_ms;
} Hidden;

static Hidden find_hidden(const Block *blocks, int count)
{
    Hidden hidden;
    double pass_ms[SPEED_BLOCKS], most_ms;

    for (int i = 0; i < count; i++)
        pass_ms[i] = pass_of(&blocks[i].student);
    most_ms = shift_share * median(pass_ms, (size_t) count);
    hidden.in_calls =
        count >= 2 && shift_of(blocks, count, extra_of, &hidden.usual_ms) > fmax(shift_ms, most_ms);
    hidden.between = count >= 2 && shift_of(blocks, count, between_of, &hidden.usual_between_ms) >
                                       fmax(between_ms, most_ms);
    if (count < 2)
        shift_of(blocks, count, extra_of, &hidden.usual_ms);
    return hidden;
}

static bool is_late(const Pair *pair, double usual_ms)
{
    return pair->most_extra_ms - usual_ms > fmax(late_ms, late_share * pair->pass_ms);
}

/* The time of the student's call, including hidden work. */
static double student_call_ms(const Pair *pair, const Hidden *hidden)
{
    double hidden_ms = hidden->in_calls ? fmax(pair->extra_ms - hidden->usual_ms, 0) : 0;
    double calls_a_pass = pair->call_ms > 0 ? pair->pass_ms / pair->call_ms : 1;

    if (hidden->between)
        hidden_ms += fmax(pair->between_ms - hidden->usual_between_ms, 0);
    return fmax(pair->call_ms + hidden_ms / calls_a_pass, 1e-9);
}

/* ---- Planned looks ----
 *
 * A comparison may stop at a look if its interval is clear of the bar. With a look after each
 * block, each at a 5 % error rate, one comparison in five would miss the true ratio. So there are
 * only a few planned looks: at `least` blocks and at each doubling of that. Each may miss by its
 * share of the 5 % (Bonferroni). A comparison without a bar has one look, at its end.
 */

static int planned_looks(const Comparison *comparison)
{
    int looks = 1;

    for (int blocks = comparison->least; comparison->bar && 2 * blocks <= comparison->most;
         blocks *= 2)
        looks++;
    return looks;
}

static bool is_look(const Comparison *comparison, int blocks)
{
    int at = comparison->least;

    while (at < blocks)
        at *= 2;
    return at == blocks;
}

static double miss_rate(const Comparison *comparison)
{
    return 0.05 / planned_looks(comparison);
}

/* ---- Evaluating blocks ---- */

/* Decides from all blocks so far which ones count, and computes the result. This starts afresh
 * each time, so that a rule that first applies at some block (the events are wrong) then applies
 * to all blocks. */
static void sum_up(const Comparison *comparison, const Block *blocks, int count, Outcome *outcome)
{
    double ratio[SPEED_BLOCKS], reference[SPEED_BLOCKS], student[SPEED_BLOCKS];
    const Hidden hidden = find_hidden(blocks, count);
    int used = 0, disturbed = 0, unsteady = 0;

    outcome->mhz = comparison->clock_mhz ? usual_mhz(blocks, count) : 0;
    outcome->by_parent = hidden.in_calls || hidden.between;
    for (int i = 0; i < count; i++) {
        const Block *b = &blocks[i];
        if (is_late(&b->reference, hidden.usual_ms) ||
            (!outcome->by_parent && is_late(&b->student, hidden.usual_ms))) {
            disturbed++;
            continue;
        }
        if (comparison->clock_mhz && !steady(b, outcome->mhz)) {
            unsteady++;
            continue;
        }
        reference[used] = b->reference.call_ms;
        student[used] = student_call_ms(&b->student, &hidden);
        ratio[used] = reference[used] / student[used];
        used++;
    }
    outcome->blocks = used;
    outcome->disturbed = disturbed;
    outcome->unsteady = unsteady;
    if (!used)
        return;
    outcome->ratio = median_interval(ratio, (size_t) used, miss_rate(comparison));
    outcome->reference_ms = median(reference, (size_t) used);
    outcome->student_ms = median(student, (size_t) used);
}

/* True if enough is known: the kernel is hopeless after 3 blocks, or clear of the bar at a
 * planned look. A kernel that is far from any bar is not run for minutes just to measure how
 * far; one block is enough. */
static bool decided(const Comparison *comparison, Outcome *outcome, double elapsed_s)
{
    bool late = elapsed_s > comparison->budget_s * (comparison->bar ? 1 : 3) && outcome->blocks;

    outcome->cut_short =
        late && (!comparison->bar || speed_hopeless(outcome->ratio, 1, comparison->bar));
    if (outcome->cut_short)
        return true;
    if (!comparison->bar)
        return outcome->blocks >= comparison->least;
    if (outcome->blocks >= 3 && outcome->blocks < 6 &&
        speed_hopeless(outcome->ratio, outcome->blocks, comparison->bar))
        return true; /* with so few blocks the interval is their whole range, so every ratio is
                        below */
    return is_look(comparison, outcome->blocks) &&
           (outcome->ratio.lo > comparison->bar || outcome->ratio.hi < comparison->bar);
}

/* Runs both sides once, because first touches of new buffers are slow. This block counts only if
 * samples take seconds, where the difference is negligible. */
static bool first_block(Comparison *comparison, Block *block, int *count, Outcome *outcome)
{
    double start = now_s();

    if (!take_block(comparison, block, outcome))
        return false;
    *count = now_s() - start > comparison->budget_s / 2;
    return true;
}

void compare_speed(Comparison *comparison, Outcome *outcome)
{
    Block blocks[SPEED_BLOCKS];
    double start = now_s();
    int count = 0;

    *outcome = (Outcome){ .verdict = PASS };
    if (!first_block(comparison, &blocks[0], &count, outcome))
        return;
    while (count < SPEED_BLOCKS && outcome->blocks < comparison->most &&
           now_s() - start < most_budgets * comparison->budget_s) {
        if (!take_block(comparison, &blocks[count], outcome))
            return;
        sum_up(comparison, blocks, ++count, outcome);
        if (comparison->progress)
            comparison->progress(comparison->progress_self, count);
        if (decided(comparison, outcome, now_s() - start))
            return;
    }
}
