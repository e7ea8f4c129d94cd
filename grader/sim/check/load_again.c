/* load_again.c - checks of plain loads of a full warp that repeat the pattern of the step's last
 * access. Most of them read what was written, and change no history, or one Slot.
 *
 * A function that returns false has done nothing that the checks of any access (check.c) would not
 * repeat with the same effect. */
#include "sim/check/race_lines.h"
#include "sim/check/race_quick.h"
#include "sim/base/bits.h"

/* ---- Reads of unwritten bytes ---- */

/* Whether all bytes between the lanes' lowest and highest address are written, if they are few. */
static bool is_around_written(const Shape *s, const uint8_t *written, size_t at)
{
    enum { FEW = 2048 };
    const int64_t span = s->high - s->low + s->bytes;

    return span <= FEW && bits_all(written, at - (size_t) -s->low, (size_t) span, true);
}

/* The same for each lane's bytes, whose bits are in one byte. */
static bool are_lanes_written(const Shape *s, const uint8_t *written, size_t at)
{
    const bool is_wide = s->bytes > 8;
    const unsigned bits = is_wide ? 0 : (1u << s->bytes) - 1;
    unsigned missing = is_wide;

    for (int i = 0; i < LANES && !missing; i++) {
        const size_t byte = at + s->delta[i];
        missing = bits & ~((unsigned) written[byte / 8] >> byte % 8);
    }
    return !missing;
}

static bool is_written(const Warp *warp, const Shape *s, const uint8_t *written, size_t at)
{
    return !warp->unwritten_count &&
           (is_around_written(s, written, at) || are_lanes_written(s, written, at));
}

/* ---- Races ---- */

/* A whole line, in order, from this lane on. */
static bool load_line(const Visit *v, RaceLine *line, int lane, uint32_t shift)
{
    RaceWord word = { line->side[WRITES], line->side[READS] };

    if (!line_fits(v, word.write, shift) || !line_fits(v, word.read, shift) ||
        !race_load_quickly(v, &word, (uint32_t) (v->warp * LANES + lane) | shift, 0))
        return false;
    line->side[READS] = word.read;
    return true;
}

/* Words of a line with a Side. Each word is checked; those that change may be visited again. */
static bool load_part(const Visit *v, RaceLine *line, int i, int count, int skip, int shift)
{
    static Side never;
    const Slot writes = line->side[WRITES];
    Side room;

    if (!line_is_spread(line->side[READS]))
        return false;
    const Words words = { .write = writes.when <= v->ordered_until
                                       ? &never
                                       : line_words_at(writes, i, count, &room),
                          .read = line_side(line->side[READS]),
                          .from = i,
                          .count = count,
                          .skip = skip,
                          .shift = shift };
    return !race_load_words(v, &words);
}

/* Consecutive words. */
static bool load_row(const Visit *v, GlobalWords *words, size_t first, int bytes)
{
    const int a_lane = bytes >> words->log2_grain, all = a_lane * LANES;
    const int shift = __builtin_ctz((unsigned) a_lane);
    const bool whole = first % LINE == 0 && a_lane <= 4;

    for (int skip = 0, count; skip < all; skip += count) {
        const int i = (int) ((first + (size_t) skip) % LINE);
        RaceLine *line = &words->line[(first + (size_t) skip) / LINE];
        count = LINE - i < all - skip ? LINE - i : all - skip;
        if (!(whole && load_line(v, line, skip >> shift, (uint32_t) shift << 14)) &&
            !load_part(v, line, i, count, skip, shift))
            return false;
    }
    return true;
}

/* A word that all lanes load. */
static bool load_word(const Visit *v, RaceLine *line, int i)
{
    const Slot reads = line->side[READS];
    RaceWord word = { line_word(line->side[WRITES], i), line_word(reads, i) };
    const Slot before = word.read;

    if (!race_load_quickly(v, &word, (uint32_t) (v->warp * LANES), WHO_SAME_WARP))
        return false;
    if (word.read.when == before.when && word.read.tag == before.tag)
        return true;
    if (line_is_spread(reads))
        side_put(line_side(reads), i, word.read);
    return line_is_spread(reads);
}

static bool load_global(const Warp *warp, const Step *step, const Shape *s, GlobalWords *words,
                        size_t at)
{
    const size_t first = at >> words->log2_grain;
    Visit v;

    if (!race_begin_again(&v, warp, step) || !race_global_begin_again(&v))
        return false;
    return s->linear ? load_row(&v, words, first, s->bytes)
                     : load_word(&v, &words->line[first / LINE], (int) (first % LINE));
}

/* ---- Both ---- */

static bool is_fit(const Shape *s, const GlobalWords *words)
{
    const int grain = words ? 1 << words->log2_grain : 0;

    return grain && ((s->linear && s->bytes >= grain) || (s->uniform && s->bytes == grain));
}

static bool global_again(const Warp *warp, const Step *step, const Shape *s, const Allocation *a,
                         size_t at)
{
    const Launch *launch = warp->block->launch;

    if (launch->check_races && !is_fit(s, a->races))
        return false;
    if (launch->check_uninitialised && a->written && !is_written(warp, s, a->written, at))
        return false;
    return !launch->check_races || load_global(warp, step, s, a->races, at);
}

bool check_load_again(Warp *warp, const Step *step, const Shape *s, const Allocation *a, size_t at)
{
    const Block *block = warp->block;
    Visit v;

    if (step->memory.strong)
        return false;
    if (a)
        return global_again(warp, step, s, a, at);
    if (block->shared_written && !is_written(warp, s, block->shared_written, at))
        return false;
    return !block->check_races ||
           (race_begin_again(&v, warp, step) && race_defer(&v, warp, step, s, (uint32_t) at));
}
