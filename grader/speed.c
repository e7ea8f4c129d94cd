/* speed.c - how fast is one kernel beside another: blocks of four samples, and when to stop. */
#include "speed.h"

#include <math.h>

/* Sums over the two samples of a side in one block, a call. */
typedef struct Block {
    double reference_event, student_event, reference_parent, student_parent;
    double mhz_before, mhz_after;
    bool disturbed;
} Block;

/* A change of the SM clock by more than this between the blocks of a run spoils a block. */
static const double clock_tolerance = 0.03;

bool clocks_agree(const Sample *sample)
{
    double slack_ms = fmax(0.3 * sample->passes, 0.01 * sample->event_ms);

    return sample->parent_ms - sample->event_ms <= slack_ms &&
           sample->event_ms <= sample->parent_ms * 1.01; /* events longer than reality: a lie */
}

static bool take(Race *race, bool student, Block *block, Finish *finish)
{
    Side *side = student ? &race->student : &race->reference;
    Sample sample = { 0 };

    finish->trouble = side->sample(side->self, &sample);
    finish->student_guilty = student;
    if (finish->trouble != PASS)
        return false;
    *(student ? &block->student_event : &block->reference_event) += sample.event_ms / sample.calls;
    *(student ? &block->student_parent : &block->reference_parent) +=
        sample.parent_ms / sample.calls;
    block->disturbed |= !clocks_agree(&sample);
    return true;
}

static bool take_block(Race *race, Block *block, Finish *finish)
{
    bool mirrored = next_random(&race->random) & 1;

    *block = (Block){ 0 };
    if (race->clock_mhz && !race->clock_mhz(race->clock_self, &block->mhz_before)) {
        finish->trouble = UNSOUND;
        finish->student_guilty = false;
        return false;
    }
    for (int i = 0; i < 4; i++)
        if (!take(race, mirrored ^ (i == 1 || i == 2), block, finish))
            return false;
    if (race->clock_mhz && !race->clock_mhz(race->clock_self, &block->mhz_after)) {
        finish->trouble = UNSOUND;
        finish->student_guilty = false;
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

/* From all blocks so far: which count, and what they say. Decided anew each time, so that a rule
 * that only holds from some block on (the parent's clock counts) holds for all. */
static void sum_up(const Race *race, const Block *blocks, int count, Finish *finish)
{
    double ratio[SPEED_BLOCKS], reference[SPEED_BLOCKS], student[SPEED_BLOCKS];
    double mhz = race->clock_mhz ? usual_mhz(blocks, count) : 0;
    int used = 0, disturbed = 0, unsteady = 0;

    for (int i = 0; i < count; i++)
        disturbed += blocks[i].disturbed;
    finish->by_parent = disturbed >= 3 && disturbed * 4 > count;
    for (int i = 0; i < count; i++) {
        const Block *b = &blocks[i];
        if (b->disturbed && !finish->by_parent)
            continue;
        if (race->clock_mhz && !steady(b, mhz)) {
            unsteady++;
            continue;
        }
        reference[used] = (finish->by_parent ? b->reference_parent : b->reference_event) / 2;
        student[used] = (finish->by_parent ? b->student_parent : b->student_event) / 2;
        ratio[used] = reference[used] / fmax(student[used], 1e-9);
        used++;
    }
    finish->blocks = used;
    finish->disturbed = disturbed;
    finish->unsteady = unsteady;
    if (!used)
        return;
    finish->ratio = median_interval(ratio, (size_t) used);
    finish->reference_ms = median(reference, (size_t) used);
    finish->student_ms = median(student, (size_t) used);
}

/* Enough is known: hopeless after 3 blocks, clear of the bar after `least`. */
static bool decided(const Race *race, const Finish *finish)
{
    if (!race->bar)
        return finish->blocks >= race->least;
    if (finish->blocks >= 3 && finish->ratio.hi < race->bar / 2 && finish->blocks < 6)
        return true; /* below 6 blocks the interval is the whole range: every ratio is meant */
    return finish->blocks >= race->least &&
           (finish->ratio.lo > race->bar || finish->ratio.hi < race->bar);
}

void race(Race *race, Finish *finish)
{
    Block blocks[SPEED_BLOCKS];
    double start = now_s();
    int count = 0;

    *finish = (Finish){ .trouble = PASS };
    if (!take_block(race, &blocks[0],
                    finish)) /* both sides once, not counted: caches of addresses */
        return;
    while (count < SPEED_BLOCKS && finish->blocks < race->most) {
        bool straddles = finish->ratio.lo <= race->bar && race->bar <= finish->ratio.hi;
        if (finish->blocks >= race->least && now_s() - start > race->budget_s && !straddles)
            return;
        if (!take_block(race, &blocks[count], finish))
            return;
        sum_up(race, blocks, ++count, finish);
        if (race->progress)
            race->progress(race->progress_self, count);
        if (decided(race, finish))
            return;
    }
}
