/* choose.c - which warp a scheduler issues next. This runs for each modelled instruction.
 *
 * Among the warps that are ready when the scheduler is free, it is the one that issued last, or
 * else the next one in round-robin order. If none is ready, it is the warp that will be ready
 * first; of several, the oldest.
 */
#include "sim/time/model.h"

#include "sim/exec/ops/handlers.h" /* simd_now() */

static uint64_t ready_at(const Scheduler *s, int i)
{
    return later(s->wake[i], s->pipe_free[s->pipe[i]]);
}

/* Sets the warp that will be ready first and the cycle. Returns the warps that are ready when the
 * scheduler is free, one bit each; if there are any, the rest is not set. The loop has no branch
 * that depends on what a warp waits for, since the host processor could not predict it. */
static uint64_t look(const Scheduler *s, int *oldest, uint64_t *first)
{
    uint64_t ready = 0;

    *first = NEVER;
    *oldest = s->last;
    for (int i = 0; i < s->count; i++) {
        const uint64_t at = ready_at(s, i);
        ready |= (uint64_t) (at <= s->free) << i;
        *oldest = at < *first ? i : *oldest;
        *first = at < *first ? at : *first;
    }
    return ready;
}

#if defined __x86_64__ && !defined __clang__
#include <immintrin.h>

enum { EIGHT = 8, MOST_AT_ONCE = 2 * EIGHT };

#define AVX512F __attribute__((target("avx512f")))

/* When warps i .. i + 7 are ready; NEVER where there is no such warp. */
AVX512F static inline __m512i eight_ready_at(const Scheduler *s, int i)
{
    const __m512i never = _mm512_set1_epi64((long long) NEVER);
    const __m512i pipes = _mm512_loadu_si512(s->pipe_free);
    const __m512i more =
        _mm512_maskz_loadu_epi64((1u << (PIPES - EIGHT)) - 1, s->pipe_free + EIGHT);
    const __mmask8 there = (__mmask8) (((1u << s->count) - 1) >> i);
    const __m512i wake = _mm512_maskz_loadu_epi64(there, s->wake + i);
    const __m512i pipe = _mm512_cvtepu8_epi64(_mm_loadl_epi64((const __m128i *) (s->pipe + i)));
    const __m512i piped = _mm512_permutex2var_epi64(pipes, pipe, more);

    return _mm512_mask_max_epu64(never, there, wake, piped);
}

/* The same for at most 16 warps, as many as a scheduler has on any GPU. */
AVX512F static inline uint64_t look_avx512(const Scheduler *s, int *oldest, uint64_t *first)
{
    const __m512i free = _mm512_set1_epi64((long long) s->free);
    const __m512i low = eight_ready_at(s, 0), high = eight_ready_at(s, EIGHT);
    const unsigned ready = _mm512_cmple_epu64_mask(low, free) |
                           (unsigned) _mm512_cmple_epu64_mask(high, free) << EIGHT;

    if (ready)
        return ready;
    *first = _mm512_reduce_min_epu64(_mm512_min_epu64(low, high));
    const __m512i least = _mm512_set1_epi64((long long) *first);
    const unsigned same = _mm512_cmpeq_epu64_mask(low, least) |
                          (unsigned) _mm512_cmpeq_epu64_mask(high, least) << EIGHT;
    *oldest = *first < NEVER ? __builtin_ctz(same) : s->last;
    return 0;
}
#else
enum { MOST_AT_ONCE = 0 };
#define AVX512F
#define look_avx512 look
#endif

bool scheduler_has_vectors(void)
{
    return MOST_AT_ONCE && simd_now() == SIMD_AVX512;
}

/* Compiled once for each way to look. */
static inline __attribute__((always_inline)) void
choose_by(Scheduler *s, uint64_t (*look)(const Scheduler *s, int *oldest, uint64_t *first))
{
    uint64_t first;
    int oldest;
    const uint64_t ready = look(s, &oldest, &first);

    if (ready) {
        const uint64_t behind = s->last >= 0 ? ready & ~(uint64_t) 0 << s->last : 0;
        s->best = __builtin_ctzll(behind ? behind : ready);
        s->best_at = s->free;
    } else {
        s->best = oldest;
        s->best_at = later(first, s->free);
    }
    if (s->best_at != NEVER) /* it issues soon: prefetch into the host's caches */
        __builtin_prefetch(s->warp[s->best], 1);
}

AVX512F static void choose_avx512(Scheduler *s)
{
    choose_by(s, look_avx512);
}

static __attribute__((noinline)) void choose_plain(Scheduler *s)
{
    choose_by(s, look);
}

void scheduler_choose(Scheduler *s)
{
    if (s->last >= 0 && ready_at(s, s->last) <= s->free) {
        s->best = s->last;
        s->best_at = s->free;
    } else if (s->has_vectors && s->count <= MOST_AT_ONCE) {
        choose_avx512(s);
    } else {
        choose_plain(s);
    }
}
