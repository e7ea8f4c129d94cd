/* store_again.c - checks of plain stores of a full warp to consecutive bytes that repeat the
 * pattern of the step's last access. As in load_again.c, a function that returns false has done
 * nothing that the checks of any access would not repeat with the same effect. */
#include "sim/base/bits.h"
#include "sim/check/race_lines.h"
#include "sim/check/race_quick.h"

/* A whole line, in order, from this lane on. */
static bool store_line(const Visit *v, RaceLine *line, int lane, uint32_t shift)
{
    RaceWord word = { line->side[WRITES], line->side[READS] };

    if (!line_fits(v, word.write, shift) || !line_fits(v, word.read, shift) ||
        !race_store_quickly(v, &word, (uint32_t) (v->warp * LANES + lane) | shift, 0))
        return false;
    line->side[WRITES] = word.write;
    return true;
}

/* Words of a line with a Side. */
static bool store_part(const Visit *v, RaceLine *line, int i, int count, int skip, int shift)
{
    Side room;

    if (!line_is_spread(line->side[WRITES]))
        return false;
    const Words words = { .write = line_side(line->side[WRITES]),
                          .read = line_words_at(line->side[READS], i, count, &room),
                          .from = i,
                          .count = count,
                          .skip = skip,
                          .shift = shift };
    return !race_store_words(v, &words);
}

static bool store_row(const Visit *v, GlobalWords *words, size_t first, int bytes)
{
    const int a_lane = bytes >> words->log2_grain, all = a_lane * LANES;
    const int shift = __builtin_ctz((unsigned) a_lane);
    const bool whole = first % LINE == 0 && a_lane <= 4;

    for (int skip = 0, count; skip < all; skip += count) {
        const int i = (int) ((first + (size_t) skip) % LINE);
        RaceLine *line = &words->line[(first + (size_t) skip) / LINE];
        count = LINE - i < all - skip ? LINE - i : all - skip;
        if (!(whole && store_line(v, line, skip >> shift, (uint32_t) shift << 14)) &&
            !store_part(v, line, i, count, skip, shift))
            return false;
    }
    return true;
}

static bool store_global(Warp *warp, const Step *step, const Shape *s, const Allocation *a,
                         size_t at)
{
    GlobalWords *words = a->races;
    Visit v;

    if (!words || s->bytes < 1 << words->log2_grain || !race_begin_again(&v, warp, step) ||
        !race_global_begin_again(&v))
        return false;
    return store_row(&v, words, at >> words->log2_grain, s->bytes);
}

bool check_store_again(Warp *warp, const Step *step, const Shape *s, const Allocation *a, size_t at)
{
    Block *block = warp->block;
    uint8_t *written = a ? a->written : block->shared_written;
    const bool races = a ? block->launch->check_races : block->check_races;
    Visit v;

    if (step->memory.strong || warp->unwritten_count || warp->followed || !s->linear)
        return false;
    if (written)
        bits_fill(written, at, (size_t) s->bytes * LANES, true);
    if (!races)
        return true;
    return a ? store_global(warp, step, s, a, at)
             : race_begin_again(&v, warp, step) && race_shared_store(&v, s, at);
}
