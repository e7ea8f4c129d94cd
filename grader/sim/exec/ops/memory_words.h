/* memory_words.h - for the handlers of ld and st of words that repeat their step's last pattern:
 * the pattern, the words, and what makes an access usual. */
#ifndef SIM_EXEC_OPS_MEMORY_WORDS_H
#define SIM_EXEC_OPS_MEMORY_WORDS_H

#include "sim/exec/ops/memory.h"

#if defined __x86_64__
#include <immintrin.h>
#endif

/* ---- Patterns and words ---- */

/* Whether addresses of 8 or 4 bytes have the pattern of the shape, in any place. */
INLINE bool is_wide(const Shape *s, const Lane64 *address)
{
    uint64_t differ = 0;

    for (int i = 0; i < LANES; i++)
        differ |= (address[i] - address[0]) ^ s->delta[i];
    return !differ;
}

INLINE bool is_narrow(const Shape *s, const Lane32 *address)
{
    uint32_t differ = 0;

    for (int i = 0; i < LANES; i++)
        differ |= (address[i] - address[0]) ^ s->narrow[i];
    return !differ;
}

/* The same for parts of warps. `chosen`: 0 or -1 per lane. */
INLINE bool is_wide_part(const Shape *s, const Lane64 *address, uint64_t first,
                         const int32_t *chosen)
{
    uint64_t differ = 0;

    for (int i = 0; i < LANES; i++)
        differ |= ((address[i] - first) & (uint64_t) (int64_t) chosen[i]) ^ s->delta[i];
    return !differ;
}

INLINE bool is_narrow_part(const Shape *s, const Lane32 *address, uint32_t first,
                           const int32_t *chosen)
{
    uint32_t differ = 0;

    for (int i = 0; i < LANES; i++)
        differ |= ((address[i] - first) & (uint32_t) chosen[i]) ^ s->narrow[i];
    return !differ;
}

/* Loads words of groups of lanes, as threads of a tile of 8 or 16 columns do. */
INLINE void load_eights(const Shape *s, const char *host, Lane32 *data)
{
    typedef uint32_t __attribute__((may_alias, aligned(1))) Word;

    for (int i = 0; i < LANES; i += EIGHT) {
        const Word *at = (const Word *) (host + (ptrdiff_t) s->delta[i]);
        if (s->eights_linear >> i / EIGHT & 1) {
            for (int k = 0; k < EIGHT; k++)
                data[i + k] = at[k];
        } else {
            const uint32_t value = *at;
            for (int k = 0; k < EIGHT; k++)
                data[i + k] = value;
        }
    }
}

/* Moves data of four bytes per lane. */
INLINE void move_words(const Shape *s, AccessKind kind, char *host, Lane32 *data)
{
    typedef uint32_t __attribute__((may_alias, aligned(1))) Word;
    const uint64_t *delta = s->delta;
    Word *at = (Word *) host;

    if (kind == ACCESS_STORE && !s->linear) {
        _Pragma("GCC unroll 8") for (int i = 0; i < LANES; i++) *
            (Word *) (host + (ptrdiff_t) delta[i]) = data[i];
    } else if (kind == ACCESS_STORE) {
        _Pragma("GCC ivdep") for (int i = 0; i < LANES; i++) at[i] = data[i];
    } else if (s->linear) {
        _Pragma("GCC ivdep") for (int i = 0; i < LANES; i++) data[i] = at[i];
    } else if (s->uniform) {
        const uint32_t value = *at;
        for (int i = 0; i < LANES; i++)
            data[i] = value;
    } else if (s->in_eights) {
        load_eights(s, host, data);
    } else {
        _Pragma("GCC unroll 8") for (int i = 0; i < LANES; i++) data[i] =
            *(const Word *) (host + (ptrdiff_t) delta[i]);
    }
}

/* Moves data of four bytes per active lane. */
INLINE void move_part(const Shape *s, AccessKind kind, char *host, Lane32 *data)
{
    typedef uint32_t __attribute__((may_alias, aligned(1))) Word;
    Lane32 *own = data + first_lane(s->mask);

    if (s->line) {
        memcpy(kind == ACCESS_STORE ? host : (char *) own,
               kind == ACCESS_STORE ? (char *) own : host, (size_t) s->asked);
        return;
    }
    for (uint32_t left = s->mask; left; left &= left - 1) {
        const int lane = first_lane(left);
        Word *at = (Word *) (host + (ptrdiff_t) s->delta[lane]);
        if (kind == ACCESS_STORE)
            *at = data[lane];
        else
            data[lane] = *at;
    }
}

#if defined __x86_64__

AVX2 INLINE bool is_wide_avx2(const Shape *s, const Lane64 *address)
{
    const __m256i first = _mm256_set1_epi64x((int64_t) address[0]);
    __m256i differ = _mm256_setzero_si256();

    for (int i = 0; i < LANES; i += 4)
        differ = _mm256_or_si256(
            differ,
            _mm256_xor_si256(
                _mm256_sub_epi64(_mm256_loadu_si256((const __m256i *) (address + i)), first),
                _mm256_load_si256((const __m256i *) (s->delta + i))));
    return _mm256_testz_si256(differ, differ);
}

AVX2 INLINE bool is_narrow_avx2(const Shape *s, const Lane32 *address)
{
    const __m256i first = _mm256_set1_epi32((int32_t) address[0]);
    __m256i differ = _mm256_setzero_si256();

    for (int i = 0; i < LANES; i += 8)
        differ = _mm256_or_si256(
            differ,
            _mm256_xor_si256(
                _mm256_sub_epi32(_mm256_loadu_si256((const __m256i *) (address + i)), first),
                _mm256_load_si256((const __m256i *) (s->narrow + i))));
    return _mm256_testz_si256(differ, differ);
}

AVX512 INLINE bool is_wide_avx512(const Shape *s, const Lane64 *address)
{
    const __m512i first = _mm512_set1_epi64((int64_t) address[0]);
    unsigned differ = 0;

    for (int i = 0; i < LANES; i += 8)
        differ |= _mm512_cmpneq_epi64_mask(_mm512_sub_epi64(_mm512_loadu_si512(address + i), first),
                                           _mm512_load_si512(s->delta + i));
    return !differ;
}

AVX512 INLINE bool is_narrow_avx512(const Shape *s, const Lane32 *address)
{
    const __m512i first = _mm512_set1_epi32((int32_t) address[0]);
    unsigned differ = 0;

    for (int i = 0; i < LANES; i += 16)
        differ |= _mm512_cmpneq_epi32_mask(_mm512_sub_epi32(_mm512_loadu_si512(address + i), first),
                                           _mm512_load_si512(s->narrow + i));
    return !differ;
}

/* Loads words that lie close together: all 32 that they span, which are then put in order. */
AVX512 INLINE void load_window(const Shape *s, const char *host, Lane32 *data)
{
    enum { HALF = LANES / 2 };
    const uint64_t words = (uint64_t) (s->high - s->low) / sizeof(Lane32) + 1;
    const uint64_t there = (1ull << words) - 1; /* words <= 32 */
    const char *from = host + s->low;
    const __m512i low = _mm512_maskz_loadu_epi32((__mmask16) there, from);
    const __m512i high =
        _mm512_maskz_loadu_epi32((__mmask16) (there >> HALF), from + HALF * sizeof(Lane32));
    const __m512i least = _mm512_set1_epi32((int32_t) s->low);

    for (int i = 0; i < LANES; i += HALF) {
        const __m512i bytes = _mm512_sub_epi32(_mm512_load_si512(s->narrow + i), least);
        const __m512i value = _mm512_permutex2var_epi32(low, _mm512_srli_epi32(bytes, 2), high);
        _mm512_storeu_si512(data + i, value);
    }
}

AVX512 INLINE void move_words_avx512(const Shape *s, AccessKind kind, char *host, Lane32 *data)
{
    const bool is_near = s->high - s->low < LANES * (int64_t) sizeof(Lane32);

    if (kind == ACCESS_LOAD && is_near && !s->linear && !s->uniform)
        load_window(s, host, data);
    else
        move_words(s, kind, host, data);
}
#else
#define is_wide_avx2      is_wide
#define is_wide_avx512    is_wide
#define is_narrow_avx2    is_narrow
#define is_narrow_avx512  is_narrow
#define move_words_avx512 move_words
#endif

#define move_words_avx2 move_words

/* ---- Prefetching ---- */

enum { HOST_LINE = 64 };

/* Prefetches what the step will access after the next time, if the distance stays. Where time is
 * modelled, the model's own data displace the program's from the host's caches. */
INLINE void ask_ahead(Shape *s, uint64_t first)
{
    enum { TIMES = 2 };
    const uint64_t then = first + TIMES * (first - s->before) + s->to_host;

    s->before = first;
    for (uint64_t at = 0; at < LANES * sizeof(Lane32); at += HOST_LINE)
        __builtin_prefetch((const void *) (uintptr_t) (then + at));
}

/* Prefetches what follows some words after those of an access of consecutive words. If blocks lie
 * in rows, warps of the next blocks access it. */
INLINE void ask_beside(const Shape *s, uint64_t first)
{
    const char *beside =
        (const char *) (uintptr_t) (first + s->to_host) + 2 * LANES * sizeof(Lane32);

    if (!s->linear)
        return;
    for (uint64_t at = 0; at < LANES * sizeof(Lane32); at += HOST_LINE)
        __builtin_prefetch(beside + at);
}

/* ---- Usual accesses ---- */

INLINE bool is_usual(const Shape *s, const Step *step, uint32_t mask, uint64_t first)
{
    return s->step == step->number && mask == ALL_LANES && first - s->from < s->room;
}

/* Whether the sectors are as many as the shape has. A word lies in one, wherever it is. */
INLINE bool has_sectors(const Shape *s, uint64_t first)
{
    const uint64_t matters = s->uniform ? sizeof(Lane32) - 1 : SECTOR_BYTES - 1;

    return !((first ^ s->start) & matters);
}

INLINE bool is_usual_global(const Shape *s, const Step *step, uint32_t mask, uint64_t first)
{
    return is_usual(s, step, mask, first) && s->memory_changes == memory_changes &&
           has_sectors(s, first);
}

INLINE bool is_usual_shared(const Shape *s, const Step *step, uint32_t mask, uint64_t first)
{
    return is_usual(s, step, mask, first) && s->start == first % sizeof(Lane32);
}

/* The same for parts of warps. */
INLINE bool is_usual_part(const Shape *s, const Step *step, uint32_t mask, uint64_t first)
{
    const bool fits = step->space == SPACE_SHARED
                          ? s->start == first % sizeof(Lane32)
                          : s->memory_changes == memory_changes && has_sectors(s, first);

    return s->step == step->number && s->mask == mask && first - s->from < s->room && fits;
}

/* Returns false for others. `by`: is added to the addresses. */
INLINE bool move_usual_part(Warp *warp, const Step *step, uint32_t mask, AccessKind kind,
                            const void *address, uint64_t by, int data)
{
    const bool is_shared = step->space == SPACE_SHARED;
    Shape *s = shape_last_of(step, (Space) step->space, mask);
    const int lane = first_lane(mask);
    const uint64_t own =
        is_shared ? ((const Lane32 *) address)[lane] : ((const Lane64 *) address)[lane];
    const uint64_t first = is_shared ? (uint32_t) (own + by) : own + by;
    const int32_t *chosen = lanes_of(warp, mask);

    if (!is_usual_part(s, step, mask, first) ||
        !(is_shared ? is_narrow_part(s, address, (uint32_t) own, chosen)
                    : is_wide_part(s, address, own, chosen)))
        return false;
    s->repeats++;
    move_part(s, kind,
              is_shared ? (char *) warp->block->shared + first
                        : (char *) (uintptr_t) (first + s->to_host),
              plane(warp, data));
    return true;
}

/* ---- Observers ---- */

/* Whether the checks of an access are done without an Access. `at`: its offset in the allocation or
 * the shared memory. */
INLINE bool is_checked(Warp *warp, const Step *step, const Shape *s, const Allocation *a, size_t at)
{
    const Launch *launch = warp->block->launch;
    AccessAgain *check = s->kind == ACCESS_STORE ? launch->store_again : launch->load_again;

    return check && check(warp, step, s, a, at);
}

/* Whether the access has been recorded in its warp's trace, and no observer wants it. */
INLINE bool is_traced(Warp *warp, const Shape *s, uint64_t first)
{
    return !warp->block->launch->watched && trace_again(warp, s, first);
}

INLINE bool is_traced_global(Warp *warp, Shape *s, uint64_t first)
{
    ask_ahead(s, first);
    return is_traced(warp, s, first);
}

#endif
