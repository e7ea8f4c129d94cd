/* memory_again.c - ld and st that repeat the address pattern of the step's last access by the same
 * lanes, the frequent case. Only the first lane's address and the pattern are checked; other
 * accesses are left to memory_run(). */
#include "sim/exec/moved.h"
#include "sim/exec/ops/memory.h"
#include "sim/exec/repeats.h"

#if defined __x86_64__
#include <immintrin.h>
#endif

enum { HOST_LINE = 64 };

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

/* The bytes or half words of 16 lanes. */
AVX512 INLINE __m512i widened(const char *host, int bytes, bool is_signed)
{
    if (bytes == 1) {
        const __m128i narrow = _mm_loadu_si128((const __m128i *) host);
        return is_signed ? _mm512_cvtepi8_epi32(narrow) : _mm512_cvtepu8_epi32(narrow);
    }
    const __m256i narrow = _mm256_loadu_si256((const __m256i *) host);
    return is_signed ? _mm512_cvtepi16_epi32(narrow) : _mm512_cvtepu16_epi32(narrow);
}

/* Loads consecutive bytes or half words, in vectors as wide as those in which the next step reads
 * them: from several stores the host could not forward them, but would wait until these and all
 * before them, such as those to the trace, have reached its cache. Returns false for others. */
AVX512 INLINE bool widen_avx512(const Shape *s, const Step *step, const char *host, Lane32 *data)
{
    const bool is_signed = step->memory.mover == MOVER_SIGNED;

    if (!s->linear || step->vector != 1 || step->data_size != sizeof *data)
        return false;
    for (int i = 0; i < LANES; i += 16)
        _mm512_storeu_si512(data + i, widened(host + i * step->size, step->size, is_signed));
    return true;
}
#else
#define is_wide_avx2      is_wide
#define is_wide_avx512    is_wide
#define is_narrow_avx2    is_narrow
#define is_narrow_avx512  is_narrow
#define move_words_avx512 move_words
#define widen_avx512      widen
#endif

/* Others than words. */
INLINE bool widen(const Shape *s, const Step *step, const char *host, Lane32 *data)
{
    (void) s, (void) step, (void) host, (void) data;
    return false;
}

#define move_words_avx2 move_words
#define widen_avx2      widen

/* The allocation that holds the address, if it needs no further checks than its bounds. */
INLINE Allocation *plain_allocation(Shape *s, uint64_t address, AccessKind kind)
{
    if (s->memory_changes == memory_changes && address - s->allocation->base < s->allocation->bytes)
        return s->allocation;
    Allocation *a = memory_find(address);
    if (!a || a->forbidden || (a->kind == VARIABLE_CONST && kind != ACCESS_LOAD))
        return NULL;
    s->allocation = a;
    s->memory_changes = memory_changes;
    return a;
}

INLINE bool find_global_again(Access *x, Shape *s, uint64_t first)
{
    Allocation *a = plain_allocation(s, first, x->kind);

    if (!a)
        return false;
    if (s->start != first % SECTOR_BYTES)
        shape_move(s, (uint8_t) (first % SECTOR_BYTES));
    const int64_t off = (int64_t) (first - a->base);
    if (!s->aligned || s->low < -off || s->high > (int64_t) a->bytes - x->bytes - off)
        return false;
    x->allocation = a;
    x->host = a->host + off;
    s->from = a->base - (uint64_t) s->low;
    s->room = (uint64_t) ((int64_t) a->bytes - x->bytes - s->high + s->low + 1);
    s->to_host = (uint64_t) (uintptr_t) a->host - a->base;
    return true;
}

INLINE bool find_shared_again(Access *x, Shape *s, uint64_t first)
{
    const Block *block = x->warp->block;
    const int unit = x->bytes < 4 ? 4 : x->bytes; /* as in shape_of() */

    if (!s->aligned || (first & (uint64_t) (unit - 1)) != s->start || first > INT32_MAX ||
        (int64_t) first + s->low < 0 ||
        s->high > (int64_t) block->shared_bytes - x->bytes - (int64_t) first)
        return false;
    x->allocation = NULL;
    x->host = (char *) block->shared + first;
    s->from = (uint64_t) -s->low;
    s->room = (uint64_t) ((int64_t) block->shared_bytes - x->bytes - s->high + s->low + 1);
    return true;
}

/* The access as run() would have opened it. */
INLINE void complete(Access *x, Warp *warp, const Step *step, uint32_t mask, AccessKind kind,
                     char *host, Allocation *allocation)
{
    const Shape *s = shape_last_of(step, (Space) step->space, mask);

    memory_begin(x, warp, step, mask, kind);
    x->shape = s;
    x->delta = s->delta;
    x->linear = s->linear;
    x->uniform = s->uniform;
    x->remote = false;
    x->host = host;
    x->allocation = allocation;
}

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

/* Prefetches what lies some words after those of an access of consecutive words: there the warp in
 * the same place of the next block goes on, if blocks lie in rows. */
INLINE void ask_beside(const Shape *s, uint64_t first)
{
    const char *beside =
        (const char *) (uintptr_t) (first + s->to_host) + 2 * LANES * sizeof(Lane32);

    if (!s->linear)
        return;
    for (uint64_t at = 0; at < LANES * sizeof(Lane32); at += HOST_LINE)
        __builtin_prefetch(beside + at);
}

static __attribute__((noinline)) void observe_again(Warp *warp, const Step *step, AccessKind kind,
                                                    char *host, Allocation *allocation)
{
    Access x;

    complete(&x, warp, step, ALL_LANES, kind, host, allocation);
    access_addresses(x.address, warp, step->a, step->address_size, step->offset);
    if (warp->trace && x.space == SPACE_GLOBAL)
        ask_ahead(shape_last(step, SPACE_GLOBAL), x.address[0]);
    if (warp->trace)
        trace_access(&x);
    if (warp->block->launch->watched)
        access_observe(&x);
}

/* Whether the checks of an access are done without an Access. `at`: its offset in the allocation or
 * the shared memory. */
INLINE bool is_checked(Warp *warp, const Step *step, const Shape *s, const Allocation *a, size_t at)
{
    const Launch *launch = warp->block->launch;
    AccessAgain *check = s->kind == ACCESS_STORE ? launch->store_again : launch->load_again;

    return check && check(warp, step, s, a, at);
}

/* The same for an access that find_again() has found. */
INLINE bool is_found_checked(const Access *x)
{
    const Allocation *a = x->allocation;
    const char *begin = a ? a->host : (const char *) x->warp->block->shared;

    return !x->warp->trace && is_checked(x->warp, x->step, x->shape, a, (size_t) (x->host - begin));
}

static __attribute__((noinline)) void move_any(Warp *warp, const Step *step, uint32_t mask,
                                                 AccessKind kind, char *host,
                                                 Allocation *allocation)
{
    Access x;

    complete(&x, warp, step, mask, kind, host, allocation);
    memory_move(&x);
}

/* The next accesses may repeat this one, which has been found and counted, unless the report lacks
 * its array. */
INLINE void begin_repeats(const Access *x, Shape *s)
{
    Count *count = count_of(x->warp, x->step);

    if (!s->has_eights)
        shape_find_eights(s);
    if (x->allocation && count->array_of != x->allocation->number)
        s->room = 0;
    else
        repeats_begin(s, x->warp->block->launch, count);
}

/* The address of the first active lane. */
INLINE uint64_t first_address(Warp *warp, const Step *step, uint32_t mask)
{
    const void *address = plane(warp, step->a);
    const int lane = first_lane(mask);

    return step->address_size == 4 && step->a >= 0
               ? ((const Lane32 *) address)[lane] + (uint32_t) step->offset
               : ((const Lane64 *) address)[lane] + (uint64_t) step->offset;
}

/* Whether the lanes have the pattern of the shape, which is one of a part of a warp. */
INLINE bool is_part(Warp *warp, const Step *step, const Shape *s, uint64_t first)
{
    const void *address = plane(warp, step->a);
    const int32_t *chosen = lanes_of(warp, s->mask);

    return step->address_size == 4 && step->a >= 0
               ? is_narrow_part(s, address, (uint32_t) (first - (uint64_t) step->offset), chosen)
               : is_wide_part(s, address, first - (uint64_t) step->offset, chosen);
}

#define AGAIN(TARGET, suffix)                                                                      \
    TARGET INLINE bool has_pattern##suffix(const Access *x, const Shape *s, uint64_t first)        \
    {                                                                                              \
        const Step *step = x->step;                                                                \
        const void *address = plane(x->warp, step->a);                                             \
                                                                                                   \
        if (s->step != step->number || s->mask != x->mask)                                         \
            return false;                                                                          \
        if (x->mask != ALL_LANES)                                                                  \
            return !x->warp->observed && is_part(x->warp, step, s, first);                         \
        return step->address_size == 4 && step->a >= 0 ? is_narrow##suffix(s, address)             \
                                                       : is_wide##suffix(s, address);              \
    }                                                                                              \
                                                                                                   \
    TARGET INLINE bool find_again##suffix(Access *x, Shape *s)                                     \
    {                                                                                              \
        const uint64_t first = first_address(x->warp, x->step, x->mask);                           \
                                                                                                   \
        if (!has_pattern##suffix(x, s, first))                                                     \
            return false;                                                                          \
        if (x->space == SPACE_SHARED)                                                              \
            return find_shared_again(x, s, first);                                                 \
        return (x->step->address_size != 4 || x->step->a < 0) && find_global_again(x, s, first);   \
    }                                                                                              \
                                                                                                   \
    TARGET INLINE void move_again##suffix(const Access *x, const Shape *s, int data)               \
    {                                                                                              \
        const Step *step = x->step;                                                                \
                                                                                                   \
        if (step->memory.words && x->mask == ALL_LANES)                                            \
            move_words##suffix(s, x->kind, x->host, plane(x->warp, data));                         \
        else if (step->memory.words)                                                               \
            move_part(s, x->kind, x->host, plane(x->warp, data));                                  \
        else if (x->mask != ALL_LANES || x->kind == ACCESS_STORE || data < 0 ||                    \
                 !widen##suffix(s, step, x->host, plane(x->warp, data)))                           \
            move_any(x->warp, step, x->mask, x->kind, x->host, x->allocation);                     \
    }                                                                                              \
                                                                                                   \
    TARGET INLINE void run_again##suffix(Warp *warp, const Step *step, uint32_t mask,              \
                                         AccessKind kind, bool refused)                            \
    {                                                                                              \
        Shape *s = shape_last_of(step, (Space) step->space, mask);                                 \
        const int data = kind == ACCESS_STORE ? step->b : step->d;                                 \
        Access x;                                                                                  \
                                                                                                   \
        repeats_end(s);                                                                            \
        memory_begin(&x, warp, step, mask, kind);                                                  \
        if (!find_again##suffix(&x, s)) {                                                          \
            memory_run(warp, step, mask, kind);                                                    \
            return;                                                                                \
        }                                                                                          \
        x.shape = s;                                                                               \
        access_count_untraced(&x);                                                                 \
        if (step->memory.words)                                                                    \
            begin_repeats(&x, s);                                                                  \
        if ((warp->trace || warp->block->launch->watched) && (refused || !is_found_checked(&x)))   \
            observe_again(warp, step, kind, x.host, x.allocation);                                 \
        if (!step->memory.words || kind == ACCESS_STORE || data >= 0)                              \
            move_again##suffix(&x, s, data);                                                       \
    }                                                                                              \
                                                                                                   \
    TARGET static void load_again##suffix(Warp *warp, const Step *step, uint32_t mask)             \
    {                                                                                              \
        run_again##suffix(warp, step, mask, ACCESS_LOAD, false);                                   \
    }                                                                                              \
                                                                                                   \
    TARGET static void store_again##suffix(Warp *warp, const Step *step, uint32_t mask)            \
    {                                                                                              \
        run_again##suffix(warp, step, mask, ACCESS_STORE, false);                                  \
    }                                                                                              \
                                                                                                   \
    /* Those that could not be checked without an Access. */                                       \
    TARGET static void load_refused##suffix(Warp *warp, const Step *step, uint32_t mask)           \
    {                                                                                              \
        run_again##suffix(warp, step, mask, ACCESS_LOAD, true);                                    \
    }                                                                                              \
                                                                                                   \
    TARGET static void store_refused##suffix(Warp *warp, const Step *step, uint32_t mask)          \
    {                                                                                              \
        run_again##suffix(warp, step, mask, ACCESS_STORE, true);                                   \
    }
AGAIN(, )
AGAIN(AVX2, _avx2)
AGAIN(AVX512, _avx512)

/* ---- Words without an Access ----
 *
 * The most frequent accesses have functions of their own, which call no others except at their
 * ends. Whatever is unusual is left to the functions above. */

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

#define FIRST(L, U)                                                                                \
    const L *address = plane(warp, step->a);                                                       \
    const uint64_t first = *address + (U) step->offset

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
    const uint64_t own = is_shared ? ((const Lane32 *) address)[lane]
                                   : ((const Lane64 *) address)[lane];
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

#define PART(TARGET, kind, name, data, suffix)                                                     \
    TARGET static __attribute__((noinline)) void name##_part##suffix(Warp *warp, const Step *step, \
                                                                     uint32_t mask)                \
    {                                                                                              \
        if (!move_usual_part(warp, step, mask, kind, plane(warp, step->a),                         \
                             (uint64_t) step->offset, data))                                       \
            name##_again##suffix(warp, step, mask);                                                \
    }                                                                                              \
                                                                                                   \
    /* At an address that moves with the block. */                                                 \
    TARGET static __attribute__((noinline)) void name##_moved_part##suffix(                        \
        Warp *warp, const Step *step, uint32_t mask)                                               \
    {                                                                                              \
        if (mask != ALL_LANES && !warp->observed &&                                                \
            move_usual_part(warp, step, mask, kind, plane(warp, moved_of(warp, step)->base),       \
                            (uint64_t) step->offset + moved_by(warp, step), data))                 \
            return;                                                                                \
        moved_settle(warp, step, mask);                                                            \
        step->inner(warp, step, mask);                                                             \
    }

PART(, ACCESS_LOAD, load, step->d, )
PART(AVX2, ACCESS_LOAD, load, step->d, _avx2)
PART(AVX512, ACCESS_LOAD, load, step->d, _avx512)
PART(, ACCESS_STORE, store, step->b, )
PART(AVX2, ACCESS_STORE, store, step->b, _avx2)
PART(AVX512, ACCESS_STORE, store, step->b, _avx512)

/* `other`: for accesses that do not repeat, or must be observed. */
#define WORDS(TARGET, kind, name, data, other, suffix)                                             \
    TARGET static void name##_global##suffix(Warp *warp, const Step *step, uint32_t mask)          \
    {                                                                                              \
        Shape *s = shape_last(step, SPACE_GLOBAL);                                                 \
        FIRST(Lane64, uint64_t);                                                                   \
                                                                                                   \
        if (warp->observed || !is_usual_global(s, step, mask, first) ||                            \
            !is_wide##suffix(s, address)) {                                                        \
            if (mask == ALL_LANES || warp->observed)                                               \
                other(_global, suffix)(warp, step, mask);                                          \
            else                                                                                   \
                name##_part##suffix(warp, step, mask);                                             \
            return;                                                                                \
        }                                                                                          \
        s->repeats++;                                                                              \
        ask_beside(s, first);                                                                      \
        move_words##suffix(s, kind, (char *) (uintptr_t) (first + s->to_host), plane(warp, data)); \
        run_next(warp, step);                                                                      \
    }                                                                                              \
                                                                                                   \
    TARGET static void name##_shared##suffix(Warp *warp, const Step *step, uint32_t mask)          \
    {                                                                                              \
        Shape *s = shape_last(step, SPACE_SHARED);                                                 \
        FIRST(Lane32, uint32_t);                                                                   \
                                                                                                   \
        if (warp->observed || !is_usual_shared(s, step, mask, first) ||                            \
            !is_narrow##suffix(s, address)) {                                                      \
            if (mask == ALL_LANES || warp->observed)                                               \
                other(_shared, suffix)(warp, step, mask);                                          \
            else                                                                                   \
                name##_part##suffix(warp, step, mask);                                             \
            return;                                                                                \
        }                                                                                          \
        s->repeats++;                                                                              \
        move_words##suffix(s, kind, (char *) warp->block->shared + first, plane(warp, data));      \
        run_next(warp, step);                                                                      \
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

/* Accesses that are traced, or in a launch that is watched. */
#define OBSERVED(TARGET, kind, name, data, suffix)                                                 \
    TARGET static __attribute__((noinline)) void name##_checked_global##suffix(                    \
        Warp *warp, const Step *step, uint32_t mask)                                               \
    {                                                                                              \
        Shape *s = shape_last(step, SPACE_GLOBAL);                                                 \
        FIRST(Lane64, uint64_t);                                                                   \
                                                                                                   \
        if (!is_usual_global(s, step, mask, first) || !is_wide##suffix(s, address) ||              \
            (warp->trace && !is_traced_global(warp, s, first))) {                                  \
            name##_again##suffix(warp, step, mask);                                                \
            return;                                                                                \
        }                                                                                          \
        if (!warp->trace &&                                                                        \
            !is_checked(warp, step, s, s->allocation, first - s->allocation->base)) {              \
            name##_refused##suffix(warp, step, mask);                                              \
            return;                                                                                \
        }                                                                                          \
        s->repeats++;                                                                              \
        move_words##suffix(s, kind, (char *) (uintptr_t) (first + s->to_host), plane(warp, data)); \
        run_next(warp, step);                                                                      \
    }                                                                                              \
                                                                                                   \
    TARGET static __attribute__((noinline)) void name##_checked_shared##suffix(                    \
        Warp *warp, const Step *step, uint32_t mask)                                               \
    {                                                                                              \
        Shape *s = shape_last(step, SPACE_SHARED);                                                 \
        FIRST(Lane32, uint32_t);                                                                   \
                                                                                                   \
        if (!is_usual_shared(s, step, mask, first) || !is_narrow##suffix(s, address) ||            \
            (warp->trace && !is_traced(warp, s, first))) {                                         \
            name##_again##suffix(warp, step, mask);                                                \
            return;                                                                                \
        }                                                                                          \
        if (!warp->trace && !is_checked(warp, step, s, NULL, first)) {                             \
            name##_refused##suffix(warp, step, mask);                                              \
            return;                                                                                \
        }                                                                                          \
        s->repeats++;                                                                              \
        move_words##suffix(s, kind, (char *) warp->block->shared + first, plane(warp, data));      \
        run_next(warp, step);                                                                      \
    }

#define OTHER_LOAD(space, suffix)  load_checked##space##suffix
#define OTHER_STORE(space, suffix) store_checked##space##suffix
OBSERVED(, ACCESS_LOAD, load, step->d, )
OBSERVED(AVX2, ACCESS_LOAD, load, step->d, _avx2)
OBSERVED(AVX512, ACCESS_LOAD, load, step->d, _avx512)
OBSERVED(, ACCESS_STORE, store, step->b, )
OBSERVED(AVX2, ACCESS_STORE, store, step->b, _avx2)
OBSERVED(AVX512, ACCESS_STORE, store, step->b, _avx512)
WORDS(, ACCESS_LOAD, load, step->d, OTHER_LOAD, )
WORDS(AVX2, ACCESS_LOAD, load, step->d, OTHER_LOAD, _avx2)
WORDS(AVX512, ACCESS_LOAD, load, step->d, OTHER_LOAD, _avx512)
WORDS(, ACCESS_STORE, store, step->b, OTHER_STORE, )
WORDS(AVX2, ACCESS_STORE, store, step->b, OTHER_STORE, _avx2)
WORDS(AVX512, ACCESS_STORE, store, step->b, OTHER_STORE, _avx512)

Run *memory_again(const Step *step, AccessKind kind)
{
    static Run *const any[2][SIMD_LEVELS] = { RUN(load_again), RUN(store_again) };
    static Run *const global[2][SIMD_LEVELS] = { RUN(load_global), RUN(store_global) };
    static Run *const shared[2][SIMD_LEVELS] = { RUN(load_shared), RUN(store_shared) };
    const bool stores = kind == ACCESS_STORE, narrow = step->address_size == 4 && step->a >= 0;

    if (!step->memory.words || (!stores && step->d < 0) || narrow != (step->space == SPACE_SHARED))
        return any[stores][simd_now()];
    return (narrow ? shared : global)[stores][simd_now()];
}

/* ---- Words at an index ----
 *
 * Three steps in a row, mul.wide by a power of two, add.s64 of a base that all lanes share, and the
 * access, where nothing else reads the first two results (indexed.c). If the access repeats its
 * step's last one, the addresses need not be computed. */

INLINE bool has_indices(const Shape *s, const Lane32 *index, int shift, bool is_signed)
{
    uint64_t differ = 0;

    if (is_signed)
        for (int i = 0; i < LANES; i++)
            differ |= (uint64_t) ((int64_t) (int32_t) index[i] - (int32_t) index[0]) << shift ^
                      s->delta[i];
    else
        for (int i = 0; i < LANES; i++)
            differ |= ((uint64_t) index[i] - index[0]) << shift ^ s->delta[i];
    return !differ;
}

/* The steps one by one, where the access could not be checked without an Access. */
INLINE void run_each(Warp *warp, const Step *step, Run *access)
{
    warp->last_in_row = NULL;
    step->inner(warp, step, ALL_LANES);
    step[1].run(warp, step + 1, ALL_LANES);
    warp->at = step + 2;
    warp->last_in_row = step + 2;
    access(warp, step + 2, ALL_LANES);
}

/* The same for the last of the three steps. If not, they run one by one. */
INLINE bool is_traced_in_row(Warp *warp, const Step *access, const Shape *s, uint64_t first)
{
    const Step *before = warp->at;

    warp->at = access;
    if (is_traced(warp, s, first))
        return true;
    warp->at = before;
    return false;
}

#define INDEXED(TARGET, kind, name, data, suffix)                                                  \
    TARGET static void name##_indexed##suffix(Warp *warp, const Step *step, uint32_t mask)         \
    {                                                                                              \
        const Step *access = step + 2;                                                             \
        const Lane32 *index = plane(warp, step->a);                                                \
        const bool is_signed = step->type == TYPE_S32;                                             \
        const int64_t lane = is_signed ? (int64_t) (int32_t) *index : (int64_t) *index;            \
        Shape *s = shape_last(access, SPACE_GLOBAL);                                               \
        const uint64_t first = *(const Lane64 *) plane(warp, step->e) +                            \
                               ((uint64_t) lane << step->indexed.shift) +                          \
                               (uint64_t) access->offset;                                          \
                                                                                                   \
        if (access > warp->last_in_row || !is_usual_global(s, access, mask, first) ||              \
            !has_indices(s, index, step->indexed.shift, is_signed) ||                              \
            (warp->trace && !is_traced_in_row(warp, access, s, first))) {                          \
            step->inner(warp, step, mask);                                                         \
            return;                                                                                \
        }                                                                                          \
        if (warp->observed && !warp->trace &&                                                      \
            !is_checked(warp, access, s, s->allocation, first - s->allocation->base)) {            \
            run_each(warp, step, name##_refused##suffix);                                          \
            return;                                                                                \
        }                                                                                          \
        s->repeats++;                                                                              \
        ask_ahead(s, first);                                                                       \
        ask_beside(s, first);                                                                      \
        move_words##suffix(s, kind, (char *) (uintptr_t) (first + s->to_host),                     \
                           plane(warp, access->data));                                             \
        warp->at = access;                                                                         \
        run_next(warp, access);                                                                    \
    }
INDEXED(, ACCESS_LOAD, load, d, )
INDEXED(AVX2, ACCESS_LOAD, load, d, _avx2)
INDEXED(AVX512, ACCESS_LOAD, load, d, _avx512)
INDEXED(, ACCESS_STORE, store, b, )
INDEXED(AVX2, ACCESS_STORE, store, b, _avx2)
INDEXED(AVX512, ACCESS_STORE, store, b, _avx512)

Run *memory_indexed(const Step *access)
{
    static Run *const run[2][SIMD_LEVELS] = { RUN(load_indexed), RUN(store_indexed) };
    const AccessKind kind = access->in->op == OP_st ? ACCESS_STORE : ACCESS_LOAD;

    if (!access->memory.words || access->space != SPACE_GLOBAL || access->a < 0 || access->inner ||
        (kind == ACCESS_LOAD && access->d < 0))
        return NULL;
    return run[kind == ACCESS_STORE][simd_now()];
}

/* ---- Words at an address that moves with the block ---- */

INLINE bool is_line(const Warp *warp, const Step *step, const Shape *s)
{
    return s->linear && warp->extents[step->moved - 1].linear;
}

#define MOVED(TARGET, kind, name, data, suffix)                                                    \
    TARGET static void name##_moved##suffix(Warp *warp, const Step *step, uint32_t mask)           \
    {                                                                                              \
        Shape *s = shape_last(step, SPACE_GLOBAL);                                                 \
        const Lane64 *base = plane(warp, moved_of(warp, step)->base);                              \
        const uint64_t first = *base + moved_by(warp, step) + (uint64_t) step->offset;             \
                                                                                                   \
        if (!warp->moves || !is_usual_global(s, step, mask, first) ||                              \
            !(is_line(warp, step, s) || is_wide##suffix(s, base)) ||                               \
            (warp->trace && !is_traced_global(warp, s, first))) {                                  \
            (warp->moves ? name##_moved_part##suffix : step->inner)(warp, step, mask);             \
            return;                                                                                \
        }                                                                                          \
        if (warp->observed && !warp->trace &&                                                      \
            !is_checked(warp, step, s, s->allocation, first - s->allocation->base)) {              \
            moved_settle(warp, step, mask);                                                        \
            name##_refused##suffix(warp, step, mask);                                              \
            return;                                                                                \
        }                                                                                          \
        s->repeats++;                                                                              \
        ask_beside(s, first);                                                                      \
        move_words##suffix(s, kind, (char *) (uintptr_t) (first + s->to_host), plane(warp, data)); \
        run_next(warp, step);                                                                      \
    }
MOVED(, ACCESS_LOAD, load, step->d, )
MOVED(AVX2, ACCESS_LOAD, load, step->d, _avx2)
MOVED(AVX512, ACCESS_LOAD, load, step->d, _avx512)
MOVED(, ACCESS_STORE, store, step->b, )
MOVED(AVX2, ACCESS_STORE, store, step->b, _avx2)
MOVED(AVX512, ACCESS_STORE, store, step->b, _avx512)

Run *memory_moved(Step *step, int value)
{
    static Run *const run[2][SIMD_LEVELS] = { RUN(load_moved), RUN(store_moved) };
    const bool stores = step->in->op == OP_st;

    if (!step->memory.words || step->a != value || (!stores && step->d < 0))
        return NULL;
    return run[stores][simd_now()];
}
