/* race_words.c - the fast path of the race checker for many words at a time, as vector code. It
 * does for each word what race_quick.h does for one; words that it cannot handle are left to
 * race_visit(). */
#include "sim/check/race.h"

/* Conditions are masks, since the compiler vectorises no branches: all ones or 0. Epochs fit in
 * signed numbers, which SSE2 can compare. */
#define MASK(condition)    (-(uint32_t) (condition))
#define LATER(a, b)        MASK((int32_t) (a) > (int32_t) (b))
#define CHOOSE(mask, a, b) (((a) & (mask)) | ((b) & ~(mask)))

static inline __attribute__((always_inline)) uint32_t lane_of(const Words *words, int k)
{
    return (uint32_t) (words->skip + k - words->from) >> words->shift;
}

static inline __attribute__((always_inline)) uint32_t followed_at(uint32_t followed, uint32_t lane)
{
    return MASK(followed >> (lane & (LANES - 1)) & 1) & WHO_SAME_WARP;
}

/* All ones if the word is one of those to visit. */
static inline __attribute__((always_inline)) uint32_t inside(const Words *words, int k)
{
    return MASK((uint32_t) (k - words->from) < (uint32_t) words->count);
}

/* Many words are visited with all of their line: without a remainder, the loop is vector code only.
 */
static inline bool takes_line(const Words *words)
{
    return words->count >= LINE / 4;
}

static inline __attribute__((always_inline)) uint32_t load_words(const Visit *v, const Words *w,
                                                                 int first, int end)
{
    const uint32_t ordered = v->ordered_until, before = v->before_block, now = v->now;
    const uint32_t last_barrier = v->r->last_barrier, site = v->site;
    const uint32_t together = MASK(!v->r->partial_sync), alone = MASK(v->all_foreign);
    const uint32_t thread = (uint32_t) (v->warp * LANES), shared = w->followed;
    const uint32_t *write_when = w->write->when, *write_tag = w->write->tag;
    uint32_t *read_when = w->read->when, *read_tag = w->read->tag, left = 0;
    const Words words = *w;

    _Pragma("GCC ivdep") for (int i = first; i < end; i++)
    {
        const uint32_t is_in = inside(&words, i), lane = lane_of(&words, i), who = thread + lane;
        const uint32_t followed = followed_at(shared, lane);
        const uint32_t wrote = write_when[i], writer = write_tag[i] & WHO;
        const uint32_t when = read_when[i], tag = read_tag[i];
        const uint32_t own = LATER(wrote, before) & MASK(writer == who) & MASK(!followed);
        const uint32_t joins = LATER(when, ordered), here = LATER(when, before);
        const uint32_t same_warp = MASK(!((tag ^ who) & (WHO_THREAD & ~(LANES - 1))));
        const uint32_t same_thread = MASK(!((tag ^ who) & (WHO_THREAD | WHO_SHIFT)));
        const uint32_t may_join = CHOOSE(same_warp, MASK(when == now), together);
        const uint32_t well =
            MASK(!(tag & WHO_STRONG)) & CHOOSE(here, may_join & LATER(when, last_barrier), alone);
        const uint32_t own_flag = CHOOSE(same_thread, followed, (uint32_t) WHO_SAME_WARP);
        const uint32_t flag =
            CHOOSE(here, CHOOSE(same_warp, own_flag, (uint32_t) WHO_OTHERS), (uint32_t) WHO_BLOCKS);
        const uint32_t bad = (LATER(wrote, ordered) & ~own) | (joins & ~well);
        read_when[i] = CHOOSE(bad | joins | ~is_in, when, now);
        read_tag[i] = CHOOSE(bad | ~is_in, tag, CHOOSE(joins, tag | flag, who | followed | site));
        left |= (bad & is_in & 1) << i;
    }
    return left >> words.from;
}

WITH_VECTORS uint32_t race_load_words(const Visit *v, const Words *w)
{
    return takes_line(w) ? load_words(v, w, 0, LINE)
                         : load_words(v, w, w->from, w->from + w->count);
}

static inline __attribute__((always_inline)) uint32_t store_words(const Visit *v, const Words *w,
                                                                  int first, int end)
{
    const uint32_t ordered = v->ordered_until, before = v->before_block, now = v->now;
    const uint32_t site = v->site, thread = (uint32_t) (v->warp * LANES), shared = w->followed;
    const uint32_t *read_when = w->read->when, *read_tag = w->read->tag;
    uint32_t *write_when = w->write->when, *write_tag = w->write->tag;
    const Words words = *w;
    uint32_t left = 0;

    _Pragma("GCC ivdep") for (int i = first; i < end; i++)
    {
        const uint32_t is_in = inside(&words, i), lane = lane_of(&words, i), who = thread + lane;
        const uint32_t wrote = write_when[i], writer = write_tag[i];
        const uint32_t read = read_when[i], reader = read_tag[i];
        const uint32_t own_write = LATER(wrote, before) & MASK((writer & WHO) == who);
        const uint32_t own_read = LATER(read, before) & MASK((reader & WHO) == who);
        const uint32_t bad =
            (LATER(wrote, ordered) & ~own_write) | (LATER(read, ordered) & ~own_read);
        write_when[i] = CHOOSE(bad | ~is_in, wrote, now);
        write_tag[i] = CHOOSE(bad | ~is_in, writer, who | followed_at(shared, lane) | site);
        left |= (bad & is_in & 1) << i;
    }
    return left >> words.from;
}

WITH_VECTORS uint32_t race_store_words(const Visit *v, const Words *w)
{
    return takes_line(w) ? store_words(v, w, 0, LINE)
                         : store_words(v, w, w->from, w->from + w->count);
}
