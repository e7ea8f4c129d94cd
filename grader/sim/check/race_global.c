/* race_global.c - races on global memory, within a block and between blocks. race_order.c describes
 * the method.
 *
 * Blocks of one launch are not ordered unless one releases and another acquires afterwards. All
 * accesses of a block up to a release form a segment. Each segment has a range of consecutive
 * epochs, so an epoch's number identifies the block. (Blocks that wait for each other take turns;
 * each turn begins a segment.)
 *
 * To release its writes, a block must execute a fence before it sets the flag. Reads need no fence:
 * after a barrier their values have arrived, and other blocks may overwrite the data.
 */
#include "sim/check/race_lines.h"
#include "sim/check/race_quick.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Segment {
    uint32_t first; /* its first epoch */
    uint32_t block;
    uint32_t released; /* number of the release that covers it; 0: none yet */
    uint32_t before;   /* the previous segment of the same block, as 1 + index */
    /* The releases that cover only its reads: up to an epoch, and after that epoch. */
    uint32_t reads_until, reads_released, rest_released;
} Segment;

static struct {
    Segment *segments; /* sorted by epoch */
    size_t count, room;
    uint32_t releases;
    bool handed_over;          /* some release covered writes */
    const BlockRaces *current; /* the block of the last segment */
    bool reported_full;
} state;

/* ---- Segments ---- */

void race_global_begin(void)
{
    race_global_end();
    race_lines.ordered_until = race_last_epoch();
    race_lines.spread = race_next_epoch();
    state.reported_full = false;
}

void race_global_end(void)
{
    free(state.segments);
    state.segments = NULL;
    state.current = NULL;
    state.count = state.room = 0;
    state.releases = 0;
    state.handed_over = false;
}

bool race_handed_over(bool wrote)
{
    return wrote ? state.handed_over : state.releases;
}

/* Returns false if out of memory. */
static bool new_segment(BlockRaces *r, const Block *block)
{
    if (state.count == state.room) {
        size_t room = state.room ? 2 * state.room : 1024;
        Segment *segments = pool_spend((room - state.room) * sizeof *segments)
                                ? realloc(state.segments, room * sizeof *segments)
                                : NULL;
        if (!segments)
            return false;
        state.segments = segments;
        state.room = room;
    }
    r->first = race_next_epoch();
    state.segments[state.count++] =
        (Segment){ .first = r->first, .block = (uint32_t) block->number, .before = r->segment };
    r->segment = (uint32_t) state.count;
    state.current = r;
    for (int w = 0; w < WARPS_A_BLOCK; w++)
        r->now[w] = r->first;
    return true;
}

static Segment *segment_of(uint32_t epoch)
{
    size_t low = 0, high = state.count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (state.segments[middle].first <= epoch)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? &state.segments[low - 1] : NULL;
}

static bool is_known(const BlockRaces *r, uint32_t released)
{
    return released && released <= r->acquired;
}

int64_t race_foreign(const Visit *v, uint32_t epoch, bool wrote, bool *ordered)
{
    if (epoch > v->before_block)
        return -1;
    const Segment *segment = segment_of(epoch);
    if (!segment || segment->block == (uint32_t) v->x->warp->block->number)
        return -1;
    *ordered = is_known(v->r, segment->released) ||
               (!wrote && is_known(v->r, epoch <= segment->reads_until ? segment->reads_released
                                                                       : segment->rest_released));
    return segment->block;
}

static void release_all(BlockRaces *r)
{
    state.releases++;
    state.handed_over = true;
    for (uint32_t n = r->segment; n && !state.segments[n - 1].released;
         n = state.segments[n - 1].before)
        state.segments[n - 1].released = state.releases;
    r->fenced_for_all = false;
}

void race_cluster(Block *block, bool leaves)
{
    BlockRaces *r = block->launch->check_races ? race_of(block) : NULL;

    if (r && leaves) {
        r->acquired = state.releases;
    } else if (r && r->segment) {
        release_all(r);
        new_segment(r, block);
    }
}

/* Releases the reads before the block's last barrier. */
static void release_reads(BlockRaces *r)
{
    Segment *segment = &state.segments[r->segment - 1];

    state.releases++;
    segment->reads_until = r->last_barrier;
    segment->reads_released = state.releases;
    for (uint32_t n = segment->before; n && !state.segments[n - 1].rest_released;
         n = state.segments[n - 1].before)
        state.segments[n - 1].rest_released = state.releases;
}

/* A strong write after a fence or barrier releases; a strong read acquires. */
static bool hand_over_to_blocks(const Access *x, BlockRaces *r)
{
    const bool writes = x->kind != ACCESS_LOAD, fenced = r->fenced_for_all || x->release;

    if (writes && (fenced || r->last_barrier >= r->first)) {
        if (fenced)
            release_all(r);
        else
            release_reads(r);
        if (!new_segment(r, x->warp->block))
            return false;
    }
    if (x->kind != ACCESS_STORE)
        r->acquired = state.releases;
    return true;
}

/* ---- Visits ---- */

static void report_full(const Visit *v)
{
    const Launch *launch = v->x->warp->block->launch;
    char text[300];

    if (!state.reported_full) {
        snprintf(
            text, sizeof text,
            "%.100s accesses too much memory irregularly: from block %lld on, race checking is "
            "incomplete",
            launch->name ? launch->name : "a kernel", (long long) v->x->warp->block->number);
        finding_note(text);
    }
    state.reported_full = true;
}

static void visit_word(Visit *v, RaceLine *line, int i, int lane, uint64_t at)
{
    RaceWord word = { line_word(line->side[WRITES], i), line_word(line->side[READS], i) };
    const int s = v->x->kind == ACCESS_LOAD ? READS : WRITES;
    const Slot before = s == READS ? word.read : word.write;

    race_touch(v, &word, lane, at);
    const Slot after = s == READS ? word.read : word.write;
    if (after.when == before.when && after.tag == before.tag)
        return;
    Side *words = line_spread(&line->side[s]);
    if (words)
        side_put(words, i, after);
    else
        report_full(v);
}

static void visit_lane(Visit *v, Allocation *a, int lane)
{
    GlobalWords *words = line_words(a, v->x->bytes);
    uint64_t first = v->x->address[lane] - a->base;

    if (!words) {
        report_full(v);
        return;
    }
    v->log2_grain = words->log2_grain;
    for (size_t n = first >> words->log2_grain;
         n <= (first + (uint64_t) v->x->bytes - 1) >> words->log2_grain; n++)
        visit_word(v, &words->line[n / LINE], (int) (n % LINE), lane,
                   a->base + ((uint64_t) n << words->log2_grain));
}

/* Consecutive words `first` .. first + count - 1 of a line. Word k belongs to lane (skip + k) >>
 * shift.
 */
typedef struct Part {
    size_t first;
    int count, skip, shift;
} Part;

/* Stores the words if they have changed. */
static void put_side(const Visit *v, Slot *side, int i, int count, const Side *before,
                     const Side *after)
{
    const size_t bytes = (size_t) count * sizeof(uint32_t);

    if (!memcmp(before->when + i, after->when + i, bytes) &&
        !memcmp(before->tag + i, after->tag + i, bytes))
        return;
    Side *words = line_spread(side);
    if (words) {
        memcpy(words->when + i, after->when + i, bytes);
        memcpy(words->tag + i, after->tag + i, bytes);
    } else {
        report_full(v);
    }
}

/* Visits the words of a plain load or store together, then those one by one that need it. */
static void visit_part(Visit *v, const Allocation *a, GlobalWords *words, Part part)
{
    const int changes = v->x->kind == ACCESS_LOAD ? READS : WRITES;
    const int i = (int) (part.first % LINE);
    RaceLine *line = &words->line[part.first / LINE];
    const bool in_place = line_is_spread(line->side[changes]);
    Side room[2], before;
    const Words all = { .write = line_words_at(line->side[WRITES], i, part.count, &room[WRITES]),
                        .read = line_words_at(line->side[READS], i, part.count, &room[READS]),
                        .from = i,
                        .count = part.count,
                        .skip = part.skip,
                        .shift = part.shift,
                        .followed = shape_followed(v->x->shape) };

    if (!in_place)
        before = room[changes];
    uint32_t left = changes == READS ? race_load_words(v, &all) : race_store_words(v, &all);
    if (!in_place)
        put_side(v, &line->side[changes], i, part.count, &before, &room[changes]);
    for (; left; left &= left - 1) {
        const int k = first_lane(left);
        const size_t n = part.first + (size_t) k;
        visit_word(v, line, i + k, (part.skip + k) >> part.shift,
                   a->base + ((uint64_t) n << words->log2_grain));
    }
}

/* Visits a whole line that a warp accesses in order, as if it were one word. Returns false if the
 * histories of its words differ: each word must then be visited. */
static bool visit_line(Visit *v, RaceLine *line, int lane, uint32_t shift)
{
    const uint32_t who = (uint32_t) (v->warp * LANES + lane) | shift;
    RaceWord word = { line->side[WRITES], line->side[READS] };

    if (!line_fits(v, word.write, shift) || !line_fits(v, word.read, shift))
        return false;
    if (v->x->kind == ACCESS_STORE) {
        if (!race_store_quickly(v, &word, who, 0))
            return false;
        line->side[WRITES] = word.write;
        return true;
    }
    if (!race_load_quickly(v, &word, who, 0)) {
        race_visit_copy(v, &word, lane, v->x->address[lane]);
        word.read.tag = (word.read.tag & ~(uint32_t) WHO_SHIFT) | shift;
    }
    line->side[READS] = word.read;
    return true;
}

/* A full warp accesses consecutive words. */
static void visit_linear(Visit *v, const Allocation *a, GlobalWords *words)
{
    const Access *x = v->x;
    const size_t first = (x->address[0] - a->base) >> words->log2_grain;
    const int a_lane = x->bytes >> words->log2_grain, all = a_lane * LANES;
    const int shift = __builtin_ctz((unsigned) a_lane), lanes = LANES >> shift;
    const bool whole = first % LINE == 0 && a_lane <= 4;

    for (int skip = 0, count; skip < all; skip += count) {
        const size_t at = first + (size_t) skip;
        const int room = LINE - (int) (at % LINE);
        count = room < all - skip ? room : all - skip;
        if (whole &&
            visit_line(v, &words->line[at / LINE], skip / LINE * lanes, (uint32_t) shift << 14))
            continue;
        visit_part(v, a, words, (Part){ at, count, skip, shift });
    }
}

/* Each lane accesses one word: lanes with consecutive words are visited together. */
static void visit_scattered(Visit *v, Allocation *a, GlobalWords *words)
{
    const Access *x = v->x;
    uint32_t left = shape_leaders(x->shape) & x->mask;

    while (left) {
        const int lane = first_lane(left);
        const size_t first = (x->address[lane] - a->base) >> words->log2_grain;
        int count = 1;
        while (lane + count < LANES && left >> (lane + count) & 1 &&
               first % LINE + (size_t) count < LINE &&
               x->address[lane + count] == x->address[lane] + (uint64_t) (count * x->bytes))
            count++;
        if (count < 4)
            visit_lane(v, a, lane), count = 1;
        else
            visit_part(v, a, words, (Part){ first, count, lane, 0 });
        left &= count == LANES ? 0 : ~(((1u << count) - 1) << lane);
    }
}

/* Plain accesses of all lanes to one allocation. Returns false if they have to be visited lane by
 * lane. */
static bool visit_together(Visit *v)
{
    const Access *x = v->x;
    Allocation *a = x->allocation;
    GlobalWords *words =
        v->strong || !a || x->kind == ACCESS_ATOMIC ? NULL : line_words(a, x->bytes);

    if (!words)
        return false;
    v->log2_grain = words->log2_grain;
    if (x->linear)
        visit_linear(v, a, words);
    else if (x->bytes == 1 << words->log2_grain)
        visit_scattered(v, a, words);
    else
        return false;
    return true;
}

static void enter_segment(Visit *v)
{
    v->is_global = true;
    v->now = v->r->now[v->warp];
    v->ordered_until = race_lines.ordered_until;
    v->before_block = v->r->first - 1;
    v->all_foreign = !state.releases && !state.segments[v->r->segment - 1].before;
}

bool race_global_begin_again(Visit *v)
{
    if (state.current != v->r || !v->r->first)
        return false;
    enter_segment(v);
    return true;
}

void race_global(Access *x)
{
    Visit v;

    if (!race_begin_visit(&v, x))
        return;
    if (((state.current != v.r || !v.r->first) && !new_segment(v.r, x->warp->block)) ||
        (x->strong && !hand_over_to_blocks(x, v.r))) {
        report_full(&v);
        return;
    }
    if (x->strong)
        race_hand_over(&v);
    enter_segment(&v);
    if (x->kind == ACCESS_STORE && shape_followed(x->shape))
        race_in_instruction(&v);
    if (!visit_together(&v))
        for (uint32_t left = shape_leaders(x->shape) & x->mask; left; left &= left - 1) {
            int lane = first_lane(left);
            visit_lane(&v, x->allocation ? x->allocation : x->of[lane], lane);
        }
    if (v.raced)
        race_report(x, &v.conflict);
}
