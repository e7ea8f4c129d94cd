/* race_shared.c - races on shared memory between the threads of a block. race_order.c describes the
 * method. */
#include "sim/check/race_quick.h"
#include "sim/base/common.h"

#include <stdlib.h>

/* ---- The words ---- */

/* Converts 4-byte words to single bytes. */
static void copy_words(SharedWords *to, const SharedWords *from)
{
    for (size_t at = 0; at < from->bytes && at < to->bytes; at += (size_t) 1 << to->log2_grain) {
        const Pair *pair = &from->pair[(at >> from->log2_grain) / LINE];
        const int i = (int) ((at >> from->log2_grain) % LINE);
        Pair *copy = &to->pair[(at >> to->log2_grain) / LINE];
        side_put(&copy->write, (int) ((at >> to->log2_grain) % LINE), side_get(&pair->write, i));
        side_put(&copy->read, (int) ((at >> to->log2_grain) % LINE), side_get(&pair->read, i));
    }
}

/* The history, with words small enough for accesses of `width` bytes; NULL if out of memory. */
static SharedWords *words_of(BlockRaces *r, size_t bytes, int width)
{
    SharedWords *old = r->words, *words;
    int log2_grain = width < 4 ? 0 : 2;

    if (old && old->bytes >= bytes && old->log2_grain <= log2_grain)
        return old;
    if (old && old->log2_grain < log2_grain)
        log2_grain = old->log2_grain;
    words = calloc(1, sizeof *words + ((bytes >> log2_grain) / LINE + 1) * sizeof(Pair));
    if (!words)
        return NULL;
    words->bytes = bytes;
    words->log2_grain = log2_grain;
    if (old)
        copy_words(words, old);
    free(old);
    return r->words = words;
}

/* ---- A full warp, vectorised ---- */

/* Words i .. i + count - 1 of a pair; word k's thread is `thread` + ((skip + k) >> shift). */
typedef struct Run32 {
    Pair *pair;
    int i, count, skip, shift;
    uint32_t thread;
    uint32_t followed; /* lanes whose words other lanes share */
} Run32;

/* 1 if the slot belongs to another thread. */
static inline uint32_t foreign_bits(const Visit *v, const Side *side, int i, uint32_t who)
{
    return (uint32_t) (side->when[i] > v->ordered_until) & (uint32_t) ((side->tag[i] & WHO) != who);
}

/* Records a load of all words of the run, or of none (false) if another thread has accessed one of
 * them. */
WITH_VECTORS static bool take_run(const Visit *v, const Run32 *run)
{
    const Side *write = &run->pair->write;
    Side *read = &run->pair->read;
    const uint32_t now = v->now, site = v->site, thread = run->thread;
    const int from = run->i, count = run->count, skip = run->skip, shift = run->shift;
    uint32_t foreign = 0;

    for (int k = 0; k < count; k++) {
        uint32_t who = thread + ((uint32_t) (skip + k) >> shift);
        foreign |= foreign_bits(v, write, from + k, who) | foreign_bits(v, read, from + k, who);
    }
    if (foreign)
        return false;
    for (int k = 0; k < count; k++) {
        read->when[from + k] = now;
        read->tag[from + k] = (thread + ((uint32_t) (skip + k) >> shift)) | site;
    }
    return true;
}

static void enter_shared(Visit *v, const SharedWords *words)
{
    v->is_global = v->all_foreign = false;
    v->ordered_until = v->before_block = v->r->last_barrier;
    v->log2_grain = words->log2_grain;
}

/* ---- One lane ---- */

static void visit_word(Visit *v, SharedWords *words, size_t index, int lane)
{
    Pair *pair = &words->pair[index / LINE];
    const int i = (int) (index % LINE);
    RaceWord word = { side_get(&pair->write, i), side_get(&pair->read, i) };

    race_touch(v, &word, lane, (uint64_t) index << words->log2_grain);
    if (v->x->kind == ACCESS_LOAD)
        side_put(&pair->read, i, word.read);
    else
        side_put(&pair->write, i, word.write);
}

static void visit_lane(Visit *v, SharedWords *words, int lane)
{
    size_t begin = v->x->address[lane] >> words->log2_grain;
    size_t end = (v->x->address[lane] + (uint64_t) v->x->bytes - 1) >> words->log2_grain;

    for (size_t at = begin; at <= end; at++)
        visit_word(v, words, at, lane);
}

/* The words of a run, where other threads have accessed some of them. */
static uint32_t take_words(const Visit *v, const Run32 *run)
{
    const Words words = { .write = &run->pair->write,
                          .read = &run->pair->read,
                          .from = run->i,
                          .count = run->count,
                          .skip = run->skip,
                          .shift = run->shift,
                          .followed = run->followed };

    return v->x->kind == ACCESS_LOAD ? race_load_words(v, &words) : race_store_words(v, &words);
}

/* Word by word, where necessary. */
static void visit_each(Visit *v, SharedWords *words, const Run32 *run, size_t first)
{
    for (uint32_t left = take_words(v, run); left; left &= left - 1) {
        const int k = first_lane(left);
        visit_word(v, words, first + (size_t) k, (run->skip + k) >> run->shift);
    }
}

static void visit_run(Visit *v, SharedWords *words, Run32 run, size_t first)
{
    if (v->x->kind == ACCESS_STORE || !take_run(v, &run))
        visit_each(v, words, &run, first);
}

/* Splits the access of a full warp at the boundaries of pairs. */
static void visit_linear(Visit *v, SharedWords *words)
{
    const int a_lane = v->x->bytes >> words->log2_grain, all = a_lane * LANES;
    const size_t first = v->x->address[0] >> words->log2_grain;

    for (int skip = 0, count; skip < all; skip += count) {
        const int i = (int) ((first + (size_t) skip) % LINE);
        count = LINE - i < all - skip ? LINE - i : all - skip;
        visit_run(v, words,
                  (Run32){ .pair = &words->pair[(first + (size_t) skip) / LINE],
                           .i = i,
                           .count = count,
                           .skip = skip,
                           .shift = __builtin_ctz((unsigned) a_lane),
                           .thread = (uint32_t) (v->warp * LANES) },
                  first + (size_t) skip);
    }
}

bool race_shared_store(Visit *v, const Shape *s, size_t at)
{
    if (!v->r->records_loads)
        race_record_deferred(v->r); /* which may replace the words */
    SharedWords *words = v->r->words;
    if (!words || s->bytes < 1 << words->log2_grain ||
        at + (size_t) s->bytes * LANES > words->bytes)
        return false;
    enter_shared(v, words);
    const int a_lane = s->bytes >> words->log2_grain, all = a_lane * LANES;
    for (int skip = 0, count; skip < all; skip += count) {
        const size_t first = (at >> words->log2_grain) + (size_t) skip;
        const int i = (int) (first % LINE);
        Pair *pair = &words->pair[first / LINE];
        count = LINE - i < all - skip ? LINE - i : all - skip;
        if (race_store_words(v, &(Words){ .write = &pair->write,
                                          .read = &pair->read,
                                          .from = i,
                                          .count = count,
                                          .skip = skip,
                                          .shift = __builtin_ctz((unsigned) a_lane) }))
            return false;
    }
    return true;
}

/* Whether plain accesses of consecutive lanes, one word each, to consecutive words of a pair were
 * visited together. */
static bool visit_row(Visit *v, SharedWords *words)
{
    const Access *x = v->x;
    const uint32_t lanes = shape_leaders(x->shape);
    const int count = (int) lanes_in(lanes), lane = first_lane(lanes);
    const size_t first = x->address[lane] >> words->log2_grain;

    if (!shape_in_row(x->shape) || first % LINE + (size_t) count > LINE ||
        x->bytes != 1 << words->log2_grain)
        return false;
    visit_each(v, words,
               &(Run32){ .pair = &words->pair[first / LINE],
                         .i = (int) (first % LINE),
                         .count = count,
                         .skip = lane,
                         .thread = (uint32_t) (v->warp * LANES),
                         .followed = shape_followed(x->shape) },
               first);
    return true;
}

/* One lane of an atomic whose result is not used, as race_update_quickly() does: if no other thread
 * has read the word or written it plainly since the barrier. Only what changes is stored. */
static inline bool update_word(const Visit *v, Pair *pair, int i, uint32_t who, uint32_t tag)
{
    const uint32_t when = pair->write.when[i], old = pair->write.tag[i];
    const uint32_t other = (old & WHO_THREAD) / LANES;

    if (pair->read.when[i] > v->ordered_until)
        return false;
    if (when <= v->ordered_until) {
        side_put(&pair->write, i, (Slot){ v->now, tag });
        return true;
    }
    if (!(old & WHO_STRONG) || (old & WHO_THREAD) == who || when <= v->r->seen[v->warp][other])
        return false;
    const uint32_t joined = old | (other == who / LANES ? WHO_SAME_WARP : WHO_OTHERS);
    if (joined != old)
        pair->write.tag[i] = joined;
    return true;
}

static void visit_updates(Visit *v, SharedWords *words)
{
    const uint32_t followed = shape_followed(v->x->shape);

    for (uint32_t left = shape_leaders(v->x->shape) & v->x->mask; left; left &= left - 1) {
        const int lane = first_lane(left);
        const size_t at = v->x->address[lane] >> words->log2_grain;
        const uint32_t who = (uint32_t) (v->warp * LANES + lane);
        const uint32_t shared = followed >> lane & 1 ? WHO_SAME_WARP : 0;
        if (!update_word(v, &words->pair[at / LINE], (int) (at % LINE), who,
                         who | shared | WHO_STRONG | v->site))
            visit_word(v, words, at, lane);
    }
}

/* An atomic on one word per lane, whose result is not used. */
static bool only_updates(const Visit *v, const SharedWords *words)
{
    return v->strong && v->x->kind == ACCESS_ATOMIC && !v->observes &&
           v->x->bytes == 1 << words->log2_grain;
}

void race_shared_words(Visit *v)
{
    Access *x = v->x;
    SharedWords *words = words_of(v->r, x->warp->block->shared_bytes, x->bytes);

    if (!words)
        return;
    if (x->strong)
        race_hand_over(v);
    enter_shared(v, words);
    if (x->kind == ACCESS_STORE && shape_followed(x->shape))
        race_in_instruction(v);
    if (x->linear && !v->strong) {
        visit_linear(v, words);
    } else if (only_updates(v, words)) {
        visit_updates(v, words);
    } else if (v->strong || x->kind == ACCESS_ATOMIC || !visit_row(v, words)) {
        for (uint32_t left = shape_leaders(x->shape) & x->mask; left; left &= left - 1)
            visit_lane(v, words, first_lane(left));
    }
    if (v->raced)
        race_report(x, &v->conflict);
}

void race_shared(Access *x)
{
    Visit v;

    if (!race_begin_visit(&v, x) ||
        race_defer(&v, x->warp, x->step, x->shape, (uint32_t) x->address[first_lane(x->mask)]))
        return;
    if (!v.r->records_loads)
        race_record_deferred(v.r);
    race_shared_words(&v);
}
