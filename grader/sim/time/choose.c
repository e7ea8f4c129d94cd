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

/* Of the warps that are ready, the one that issued last, or the next one after it. */
static inline void take_ready(Scheduler *s, uint64_t ready)
{
    const uint64_t behind = s->last >= 0 ? ready & ~(uint64_t) 0 << s->last : 0;

    s->best = __builtin_ctzll(behind ? behind : ready);
    s->best_at = s->free;
}

static inline void take_first(Scheduler *s, int oldest, uint64_t first)
{
    s->best = oldest;
    s->best_at = later(first, s->free);
}

static __attribute__((noinline)) void choose_plain(Scheduler *s)
{
    uint64_t first;
    int oldest;
    const uint64_t ready = look(s, &oldest, &first);

    if (ready)
        take_ready(s, ready);
    else
        take_first(s, oldest, first);
}

/* ---- With AVX-512: 16 warps, as many as a scheduler has on any GPU ---- */

#if defined __x86_64__ && !defined __clang__
#include <immintrin.h>

enum { MOST_AT_ONCE = COMPACT };

#define AVX512F __attribute__((target("avx512f")))

AVX512F static inline __m512i everywhere(const Scheduler *s, uint64_t at)
{
    return _mm512_set1_epi32((int) scheduler_soon(s, at));
}

/* When the pipes of these warps are free. The values of `pipe_free` that may just have been written
 * come from there: the host would have to wait for them if they were parts of the table. */
AVX512F static inline __m512i piped_avx512(const Scheduler *s, __m512i pipe)
{
    static const uint8_t recent[] = { PIPE_LSU, PIPE_LSU_LATER };
    __m512i at = _mm512_permutexvar_epi32(pipe, _mm512_loadu_si512(s->pipe_soon));

    for (int i = 0; i < 2; i++)
        at = _mm512_mask_mov_epi32(at, _mm512_cmpeq_epi32_mask(pipe, _mm512_set1_epi32(recent[i])),
                                   everywhere(s, s->pipe_free[recent[i]]));
    return _mm512_mask_mov_epi32(at, _mm512_cmpeq_epi32_mask(pipe, _mm512_set1_epi32(s->used)),
                                 everywhere(s, s->pipe_free[s->used]));
}

/* Warp `index` (-1: none) wakes at `wake` and waits for this pipe; it is not in the arrays yet. */
AVX512F static void choose_avx512(Scheduler *s, int index, uint64_t wake, int pipe)
{
    const __mmask16 there = (__mmask16) ((1u << s->count) - 1);
    const __mmask16 moved = (__mmask16) (index < 0 ? 0 : 1u << index);
    const __m512i pipes =
        _mm512_mask_mov_epi32(_mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *) s->pipe)),
                              moved, _mm512_set1_epi32(pipe));
    const __m512i wakes =
        _mm512_mask_mov_epi32(_mm512_maskz_loadu_epi32(there, s->soon), moved, everywhere(s, wake));
    const __m512i at = _mm512_max_epu32(wakes, piped_avx512(s, pipes));
    const unsigned ready = _mm512_mask_cmple_epu32_mask(there, at, everywhere(s, s->free));

    if (index >= 0)
        scheduler_set(s, index, wake, pipe);
    if (ready) {
        take_ready(s, ready);
        return;
    }
    const unsigned first = _mm512_mask_reduce_min_epu32(there, at);
    if (first == UINT32_MAX) {
        choose_plain(s); /* none is ready soon */
        return;
    }
    const __m512i least = _mm512_set1_epi32((int) first);
    take_first(s, __builtin_ctz(_mm512_mask_cmpeq_epi32_mask(there, at, least)), s->base + first);
}
#else
enum { MOST_AT_ONCE = 0 };

static void choose_avx512(Scheduler *s, int index, uint64_t wake, int pipe)
{
    (void) s, (void) index, (void) wake, (void) pipe;
}
#endif

bool scheduler_has_vectors(void)
{
    return MOST_AT_ONCE && simd_now() == SIMD_AVX512;
}

void scheduler_rebase(Scheduler *s, uint64_t base)
{
    s->base = base;
    for (int i = 0; i < s->count; i++)
        scheduler_set(s, i, s->wake[i], s->pipe[i]);
    for (int i = 0; i < PIPES; i++)
        s->pipe_soon[i] = scheduler_soon(s, s->pipe_free[i]);
}

static bool has_vectors(const Scheduler *s)
{
    return s->has_vectors && s->count <= MOST_AT_ONCE;
}

/* It issues soon: prefetches it into the host's caches. */
static void ask_for_best(const Scheduler *s)
{
    if (s->best_at != NEVER)
        __builtin_prefetch(s->warp[s->best], 1);
}

void scheduler_choose(Scheduler *s)
{
    if (has_vectors(s))
        choose_avx512(s, -1, 0, 0);
    else
        choose_plain(s);
    ask_for_best(s);
}

void scheduler_go_on(Scheduler *s, uint64_t wake, int pipe)
{
    if (later(wake, s->pipe_free[pipe]) <= s->free) {
        scheduler_set(s, s->last, wake, pipe);
        s->best = s->last;
        s->best_at = s->free;
        return;
    }
    if (has_vectors(s)) {
        choose_avx512(s, s->last, wake, pipe);
    } else {
        scheduler_set(s, s->last, wake, pipe);
        choose_plain(s);
    }
    ask_for_best(s);
}
