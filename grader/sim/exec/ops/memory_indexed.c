/* memory_indexed.c - ld and st of words whose addresses need not be computed: that of an element,
 * by its index (indexed.c), and that which moves with the block (moved.h). */
#include "sim/exec/moved.h"
#include "sim/exec/ops/memory_words.h"

/* The plane of a register. */
INLINE void *own_plane(const Warp *warp, int slot)
{
    return warp->registers + (size_t) slot * PLANE;
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
            run_each(warp, step, memory_refused(kind));                                            \
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

/* The address of the first lane. */
INLINE uint64_t moved_first(const Warp *warp, const Step *step)
{
    const Lane64 *base = own_plane(warp, step->e);

    return *base + moved_by(warp, step) + (uint64_t) step->offset;
}

#define MOVED(TARGET, kind, name, data, suffix)                                                    \
    TARGET INLINE bool name##_is_usual_moved##suffix(Warp *warp, const Step *step, uint32_t mask,  \
                                                     uint64_t first)                               \
    {                                                                                              \
        const Shape *s = shape_last(step, SPACE_GLOBAL);                                           \
                                                                                                   \
        return is_usual_global(s, step, mask, first) &&                                            \
               (is_line(warp, step, s) || is_wide##suffix(s, own_plane(warp, step->e)));           \
    }                                                                                              \
                                                                                                   \
    /* A part of a warp, or another pattern. */                                                    \
    TARGET static __attribute__((noinline)) void name##_moved_part##suffix(                        \
        Warp *warp, const Step *step, uint32_t mask)                                               \
    {                                                                                              \
        if (mask != ALL_LANES && !warp->observed &&                                                \
            move_usual_part(warp, step, mask, kind, own_plane(warp, step->e),                      \
                            (uint64_t) step->offset + moved_by(warp, step), data))                 \
            return;                                                                                \
        moved_run_settled(warp, step, mask);                                                       \
    }                                                                                              \
                                                                                                   \
    TARGET static __attribute__((noinline)) void name##_moved_checked##suffix(                     \
        Warp *warp, const Step *step, uint32_t mask)                                               \
    {                                                                                              \
        const uint64_t first = moved_first(warp, step);                                            \
        Shape *s = shape_last(step, SPACE_GLOBAL);                                                 \
                                                                                                   \
        if (!name##_is_usual_moved##suffix(warp, step, mask, first) ||                             \
            (warp->trace && !is_traced_global(warp, s, first))) {                                  \
            moved_run_settled(warp, step, mask);                                                   \
            return;                                                                                \
        }                                                                                          \
        if (!warp->trace &&                                                                        \
            !is_checked(warp, step, s, s->allocation, first - s->allocation->base)) {              \
            moved_settle(warp, step, mask);                                                        \
            memory_refused(kind)(warp, step, mask);                                                \
            return;                                                                                \
        }                                                                                          \
        s->repeats++;                                                                              \
        ask_beside(s, first);                                                                      \
        move_words##suffix(s, kind, (char *) (uintptr_t) (first + s->to_host), plane(warp, data)); \
        run_next(warp, step);                                                                      \
    }                                                                                              \
                                                                                                   \
    TARGET static void name##_moved##suffix(Warp *warp, const Step *step, uint32_t mask)           \
    {                                                                                              \
        const uint64_t first = moved_first(warp, step);                                            \
        Shape *s = shape_last(step, SPACE_GLOBAL);                                                 \
                                                                                                   \
        if (!warp->moves) {                                                                        \
            step->inner(warp, step, mask);                                                         \
            return;                                                                                \
        }                                                                                          \
        if (warp->observed || !name##_is_usual_moved##suffix(warp, step, mask, first)) {           \
            (warp->observed ? name##_moved_checked##suffix                                         \
                            : name##_moved_part##suffix)(warp, step, mask);                        \
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
