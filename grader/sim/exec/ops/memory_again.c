/* memory_again.c - ld and st that repeat the address pattern of the step's last access by the same
 * lanes, the frequent case. Only the first lane's address and the pattern are checked; other
 * accesses are left to memory_run(). */
#include "sim/exec/ops/memory_words.h"
#include "sim/exec/repeats.h"

#if defined __x86_64__

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
#define widen_avx512 widen
#endif

/* Others than words. */
INLINE bool widen(const Shape *s, const Step *step, const char *host, Lane32 *data)
{
    (void) s, (void) step, (void) host, (void) data;
    return false;
}

#define widen_avx2 widen

/* The allocation that holds the address, if it needs no further checks than its bounds. */
INLINE Allocation *plain_allocation(const Access *x, Shape *s, uint64_t address)
{
    if (s->memory_changes == memory_changes && address - s->allocation->base < s->allocation->bytes)
        return s->allocation;
    Allocation *a = memory_find(address);
    if (!a || a->forbidden || (a->kind == VARIABLE_CONST && x->kind != ACCESS_LOAD))
        return NULL;
    ahead_note(x, a);
    s->allocation = a;
    s->memory_changes = memory_changes;
    return a;
}

INLINE bool find_global_again(Access *x, Shape *s, uint64_t first)
{
    Allocation *a = plain_allocation(x, s, first);

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

/* The same for an access that find_again() has found. */
INLINE bool is_found_checked(const Access *x)
{
    const Allocation *a = x->allocation;
    const char *begin = a ? a->host : (const char *) x->warp->block->shared;

    return !x->warp->trace && is_checked(x->warp, x->step, x->shape, a, (size_t) (x->host - begin));
}

static __attribute__((noinline)) void move_any(Warp *warp, const Step *step, uint32_t mask,
                                               AccessKind kind, char *host, Allocation *allocation)
{
    Access x;

    complete(&x, warp, step, mask, kind, host, allocation);
    memory_move(&x);
}

/* The next accesses may repeat this one, which has been found and counted, unless the report lacks
 * its array, or a block stores ahead. */
INLINE void begin_repeats(const Access *x, Shape *s)
{
    Count *count = count_of(x->warp, x->step);

    if (!s->has_eights)
        shape_find_eights(s);
    if ((x->allocation && count->array_of != x->allocation->number) || is_ahead_store(x))
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
        if (is_ahead_store(x))                                                                     \
            move_any(x->warp, step, x->mask, x->kind, x->host, x->allocation);                     \
        else if (step->memory.words && x->mask == ALL_LANES)                                       \
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

#define PART(TARGET, kind, name, data, suffix)                                                     \
    TARGET static __attribute__((noinline)) void name##_part##suffix(Warp *warp, const Step *step, \
                                                                     uint32_t mask)                \
    {                                                                                              \
        if (!move_usual_part(warp, step, mask, kind, plane(warp, step->a),                         \
                             (uint64_t) step->offset, data))                                       \
            name##_again##suffix(warp, step, mask);                                                \
    }
PART(, ACCESS_LOAD, load, step->d, )
PART(AVX2, ACCESS_LOAD, load, step->d, _avx2)
PART(AVX512, ACCESS_LOAD, load, step->d, _avx512)
PART(, ACCESS_STORE, store, step->b, )
PART(AVX2, ACCESS_STORE, store, step->b, _avx2)
PART(AVX512, ACCESS_STORE, store, step->b, _avx512)

#define FIRST(L, U)                                                                                \
    const L *address = plane(warp, step->a);                                                       \
    const uint64_t first = *address + (U) step->offset

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
        ask_beside(s, first);                                                                      \
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

Run *memory_refused(AccessKind kind)
{
    static Run *const run[2][SIMD_LEVELS] = { RUN(load_refused), RUN(store_refused) };

    return run[kind == ACCESS_STORE][simd_now()];
}
