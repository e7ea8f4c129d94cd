/* memory.c - ld and st of all spaces, types and widths; prefetch and discard, which do nothing.
 *
 * A handler builds an Access from its operands, access_open() finds and checks the memory, and a
 * mover for the type and the register's width copies the bytes to or from the planes. Cache hints
 * and .nc have no effect here.
 */
#include "sim/exec/access_count.h"
#include "sim/exec/ops/handlers.h"

/* ---- Movers: one element of each lane ---- */

typedef void Mover(const Access *access, size_t at, void *plane);

/* Inactive lanes hold the first lane's address, so reading all lanes is safe. */
#define LOADER(name, M, R)                                                                         \
    static void name(const Access *x, size_t at, void *to)                                         \
    {                                                                                              \
        R *d = to;                                                                                 \
        const char *from = x->host + at;                                                           \
        const uint64_t *delta = x->delta;                                                          \
        const uint32_t mask = x->mask;                                                             \
        M value;                                                                                   \
                                                                                                   \
        if (x->linear && x->bytes == sizeof(M)) {                                                  \
            for (size_t i = 0; i < LANES; i++) {                                                   \
                memcpy(&value, from + i * sizeof(M), sizeof value);                                \
                d[i] = (R) value;                                                                  \
            }                                                                                      \
            return;                                                                                \
        }                                                                                          \
        if (mask == ALL_LANES && x->uniform) {                                                     \
            memcpy(&value, from, sizeof value);                                                    \
            for (int i = 0; i < LANES; i++)                                                        \
                d[i] = (R) value;                                                                  \
            return;                                                                                \
        }                                                                                          \
        if (x->mask == ALL_LANES) {                                                                \
            for (int i = 0; i < LANES; i++) {                                                      \
                memcpy(&value, from + (ptrdiff_t) delta[i], sizeof value);                         \
                d[i] = (R) value;                                                                  \
            }                                                                                      \
            return;                                                                                \
        }                                                                                          \
        for (int i = 0; i < LANES; i++) {                                                          \
            memcpy(&value, from + (ptrdiff_t) delta[i], sizeof value);                             \
            d[i] = mask >> i & 1 ? (R) value : d[i];                                               \
        }                                                                                          \
    }

/* If several lanes write to one address, the last lane wins. */
#define STORER(name, M, R)                                                                         \
    static void name(const Access *x, size_t at, void *from)                                       \
    {                                                                                              \
        const R *s = from;                                                                         \
        char *to = x->host + at;                                                                   \
        const uint64_t *delta = x->delta;                                                          \
                                                                                                   \
        if (x->linear && sizeof(M) == sizeof(R) && x->bytes == sizeof(M)) {                        \
            memcpy(to, s, LANES * sizeof(R));                                                      \
            return;                                                                                \
        }                                                                                          \
        if (x->mask == ALL_LANES) {                                                                \
            for (int i = 0; i < LANES; i++) {                                                      \
                M value = (M) s[i];                                                                \
                memcpy(to + (ptrdiff_t) delta[i], &value, sizeof value);                           \
            }                                                                                      \
            return;                                                                                \
        }                                                                                          \
        for (uint32_t left = x->mask; left; left &= left - 1) {                                    \
            int i = first_lane(left);                                                              \
            M value = (M) s[i];                                                                    \
            memcpy(to + (ptrdiff_t) delta[i], &value, sizeof value);                               \
        }                                                                                          \
    }

LOADER(load_u8_32, uint8_t, Lane32)
LOADER(load_s8_32, int8_t, Lane32)
LOADER(load_u16_32, uint16_t, Lane32)
LOADER(load_s16_32, int16_t, Lane32)
LOADER(load_u32_32, uint32_t, Lane32)
LOADER(load_u8_64, uint8_t, Lane64)
LOADER(load_s8_64, int8_t, Lane64)
LOADER(load_u16_64, uint16_t, Lane64)
LOADER(load_s16_64, int16_t, Lane64)
LOADER(load_u32_64, uint32_t, Lane64)
LOADER(load_s32_64, int32_t, Lane64)
LOADER(load_u64_64, uint64_t, Lane64)
STORER(store_8_32, uint8_t, Lane32)
STORER(store_16_32, uint16_t, Lane32)
STORER(store_32_32, uint32_t, Lane32)
STORER(store_8_64, uint8_t, Lane64)
STORER(store_16_64, uint16_t, Lane64)
STORER(store_32_64, uint32_t, Lane64)
STORER(store_64_64, uint64_t, Lane64)

enum { MOVER_UNSIGNED, MOVER_STORE, MOVER_SIGNED };

/* Indexed by log2 of the bytes in memory, whether the register has 8 bytes, and the kind of mover.
 */
static Mover *const movers[4][2][3] = {
    { { load_u8_32, store_8_32, load_s8_32 }, { load_u8_64, store_8_64, load_s8_64 } },
    { { load_u16_32, store_16_32, load_s16_32 }, { load_u16_64, store_16_64, load_s16_64 } },
    { { load_u32_32, store_32_32, load_u32_32 }, { load_u32_64, store_32_64, load_s32_64 } },
    { { NULL, NULL, NULL }, { load_u64_64, store_64_64, load_u64_64 } },
};

static Mover *mover_of(const Step *step)
{
    return movers[__builtin_ctz(step->size)][step->data_size == 8][step->memory.mover];
}

/* ---- ld, st ---- */

static int data_slot(const Step *step, AccessKind kind, int element)
{
    if (step->vector > 1)
        return step->vector_at[element];
    return kind == ACCESS_STORE ? step->b : step->d;
}

static void lane_value(const Access *x, int lane, uint8_t *bytes)
{
    const Step *step = x->step;

    for (int e = 0; e < step->vector; e++) {
        const uint8_t *from = plane(x->warp, data_slot(step, ACCESS_STORE, e));
        memcpy(bytes + e * step->size, from + lane * step->data_size, step->size);
    }
}

/* Sets everything but the addresses. */
INLINE void begin(Access *x, Warp *warp, const Step *step, uint32_t mask, AccessKind kind)
{
    x->warp = warp;
    x->step = step;
    x->mask = mask;
    x->space = (Space) step->space;
    x->kind = kind;
    x->bytes = step->size * step->vector;
    x->strong = step->memory.strong;
    x->release = step->memory.release;
    x->value = kind == ACCESS_STORE ? lane_value : NULL;
}

/* The frequent case of ld.v4.f32 in a full warp: loads all elements of a lane together. */
static bool load_four(const Access *x)
{
    const Step *step = x->step;
    const uint64_t *delta = x->delta;
    const char *from = x->host;
    Lane32 *d[4];

    if (x->kind != ACCESS_LOAD || x->mask != ALL_LANES || x->uniform || step->vector != 4 ||
        step->size != 4 || step->data_size != 4)
        return false;
    for (int e = 0; e < 4; e++) {
        if (step->vector_at[e] < 0)
            return false;
        d[e] = plane(x->warp, step->vector_at[e]);
    }
    for (int i = 0; i < LANES; i++) {
        uint32_t value[4];
        memcpy(value, from + (ptrdiff_t) delta[i], sizeof value);
        for (int e = 0; e < 4; e++)
            d[e][i] = value[e];
    }
    return true;
}

static void move_data(const Access *x)
{
    const Step *step = x->step;
    Mover *mover = mover_of(step);

    if (load_four(x))
        return;
    for (int e = 0; e < step->vector; e++) {
        int slot = data_slot(step, x->kind, e);
        if (slot >= 0 || x->kind == ACCESS_STORE)
            mover(x, (size_t) (e * step->size), plane(x->warp, slot));
    }
}

static bool move(Access *x)
{
    if (!access_open(x))
        return false;
    move_data(x);
    return true;
}

static void run(Warp *warp, const Step *step, uint32_t mask, AccessKind kind)
{
    Access x;

    begin(&x, warp, step, mask, kind);
    access_addresses(x.address, warp, step->a, step->address_size, step->offset);
    if (step->space != SPACE_GENERIC) {
        move(&x);
        return;
    }
    while (mask) {
        mask &= ~access_split(&x, mask);
        if (!move(&x))
            return;
    }
}

/* ---- The frequent case: a full warp repeats the pattern of the step's last access ---- */

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
    } else {
        _Pragma("GCC unroll 8") for (int i = 0; i < LANES; i++) data[i] =
            *(const Word *) (host + (ptrdiff_t) delta[i]);
    }
}

#if defined __x86_64__
#include <immintrin.h>

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
#define is_wide_avx512    is_wide
#define is_narrow_avx512  is_narrow
#define move_words_avx512 move_words
#endif

#define is_wide_avx2    is_wide
#define is_narrow_avx2  is_narrow
#define move_words_avx2 move_words

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
    return true;
}

INLINE bool find_shared_again(Access *x, const Shape *s, uint64_t first)
{
    const Block *block = x->warp->block;
    const int unit = x->bytes < 4 ? 4 : x->bytes; /* as in shape_of() */

    if (!s->aligned || (first & (uint64_t) (unit - 1)) != s->start || first > INT32_MAX ||
        (int64_t) first + s->low < 0 ||
        s->high > (int64_t) block->shared_bytes - x->bytes - (int64_t) first)
        return false;
    x->allocation = NULL;
    x->host = (char *) block->shared + first;
    return true;
}

/* The access as run() would have opened it. */
INLINE void complete(Access *x, Warp *warp, const Step *step, AccessKind kind, char *host,
                     Allocation *allocation)
{
    const Shape *s = shape_last(step, (Space) step->space);

    begin(x, warp, step, ALL_LANES, kind);
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

    complete(&x, warp, step, kind, host, allocation);
    access_addresses(x.address, warp, step->a, step->address_size, step->offset);
    if (warp->trace)
        trace_access(&x);
    if (warp->block->launch->watched)
        access_observe(&x);
}

static __attribute__((noinline)) void move_again(Warp *warp, const Step *step, AccessKind kind,
                                                 char *host, Allocation *allocation)
{
    Access x;

    complete(&x, warp, step, kind, host, allocation);
    move_data(&x);
}

#define AGAIN(TARGET, suffix)                                                                      \
    TARGET INLINE bool find_again##suffix(Access *x, Shape *s)                                     \
    {                                                                                              \
        const Step *step = x->step;                                                                \
        const void *address = plane(x->warp, step->a);                                             \
        const bool narrow = step->address_size == 4 && step->a >= 0;                               \
        const uint64_t first = narrow ? *(const Lane32 *) address + (uint32_t) step->offset        \
                                      : *(const Lane64 *) address + (uint64_t) step->offset;       \
                                                                                                   \
        if (x->mask != ALL_LANES || s->step != step->number || s->mask != ALL_LANES)               \
            return false;                                                                          \
        if (!(narrow ? is_narrow##suffix(s, address) : is_wide##suffix(s, address)))               \
            return false;                                                                          \
        if (x->space == SPACE_SHARED)                                                              \
            return find_shared_again(x, s, first);                                                 \
        return !narrow && find_global_again(x, s, first);                                          \
    }                                                                                              \
                                                                                                   \
    TARGET INLINE void run_again##suffix(Warp *warp, const Step *step, uint32_t mask,              \
                                         AccessKind kind)                                          \
    {                                                                                              \
        Shape *s = shape_last(step, (Space) step->space);                                          \
        const int data = kind == ACCESS_STORE ? step->b : step->d;                                 \
        Access x;                                                                                  \
                                                                                                   \
        begin(&x, warp, step, mask, kind);                                                         \
        if (!find_again##suffix(&x, s)) {                                                          \
            run(warp, step, mask, kind);                                                           \
            return;                                                                                \
        }                                                                                          \
        x.shape = s;                                                                               \
        access_count_untraced(&x);                                                                 \
        if (warp->trace || warp->block->launch->watched)                                           \
            observe_again(warp, step, kind, x.host, x.allocation);                                 \
        if (!step->memory.words)                                                                   \
            move_again(warp, step, kind, x.host, x.allocation);                                    \
        else if (kind == ACCESS_STORE || data >= 0)                                                \
            move_words##suffix(s, kind, x.host, plane(warp, data));                                \
    }                                                                                              \
                                                                                                   \
    TARGET static void load_again##suffix(Warp *warp, const Step *step, uint32_t mask)             \
    {                                                                                              \
        run_again##suffix(warp, step, mask, ACCESS_LOAD);                                          \
    }                                                                                              \
                                                                                                   \
    TARGET static void store_again##suffix(Warp *warp, const Step *step, uint32_t mask)            \
    {                                                                                              \
        run_again##suffix(warp, step, mask, ACCESS_STORE);                                         \
    }
AGAIN(, )
AGAIN(AVX2, _avx2)
AGAIN(AVX512, _avx512)

static void run_load(Warp *warp, const Step *step, uint32_t mask)
{
    run(warp, step, mask, ACCESS_LOAD);
}

static void run_store(Warp *warp, const Step *step, uint32_t mask)
{
    run(warp, step, mask, ACCESS_STORE);
}

/* A kernel parameter addressed by name: the same for all lanes. */
static void run_load_param(Warp *warp, const Step *step, uint32_t mask)
{
    const Launch *launch = warp->block->launch;
    static const uint64_t same_for_all[LANES];
    uint64_t at = (uint64_t) step->offset;
    Access x;

    x.mask = mask;
    x.bytes = step->size * step->vector;
    if (at >= launch->param_bytes || (size_t) x.bytes > launch->param_bytes - at) {
        run_load(warp, step, mask); /* which reports the fault */
        return;
    }
    x.host = (char *) launch->params + at;
    x.delta = same_for_all;
    x.linear = false;
    x.uniform = true;
    for (int e = 0; e < step->vector; e++)
        if (data_slot(step, ACCESS_LOAD, e) >= 0)
            mover_of(step)(&x, (size_t) (e * step->size),
                           plane(warp, data_slot(step, ACCESS_LOAD, e)));
}

/* The frequent case: one word, or two, for all lanes. */
INLINE void load_param_lanes(Warp *warp, const Step *step, uint32_t mask)
{
    const Launch *launch = warp->block->launch;
    const uint64_t at = (uint64_t) step->offset;
    const uint8_t *from = launch->params + at;

    if (mask != ALL_LANES || step->vector > 1 || step->d < 0 || step->size < 4 ||
        step->size != step->data_size || at >= launch->param_bytes ||
        step->size > launch->param_bytes - at) {
        run_load_param(warp, step, mask);
    } else if (step->size == 4) {
        Lane32 *d = plane(warp, step->d), value;
        memcpy(&value, from, sizeof value);
        for (int i = 0; i < LANES; i++)
            d[i] = value;
    } else {
        Lane64 *d = plane(warp, step->d), value;
        memcpy(&value, from, sizeof value);
        for (int i = 0; i < LANES; i++)
            d[i] = value;
    }
}
COMPILE(load_param)

/* ---- Binding ---- */

static bool bind_move_memory(Step *step, const Instruction *in, AccessKind kind)
{
    if (!in->type_count)
        return false;
    step->type = (uint8_t) in->types[0];
    step->size = (uint8_t) type_size(in->types[0]);
    step->vector = (uint8_t) (in->vector > 1 ? in->vector : 1);
    step->space = (uint8_t) in->space;
    step->memory.mover = kind == ACCESS_STORE           ? MOVER_STORE
                         : type_is_signed(in->types[0]) ? MOVER_SIGNED
                                                        : MOVER_UNSIGNED;
    step->memory.strong = is_strong(in);
    step->memory.release = is_release(in);
    if (!step->data_size)
        step->data_size = step->size == 8 ? 8 : 4;
    if (!step->size || step->size > 8 || step->size * step->vector > 32 || step->vector > 8)
        return false;
    if (step->data_size != 4 && step->data_size != 8)
        return false;
    if (!mover_of(step) || (kind == ACCESS_STORE && in->space == SPACE_CONST))
        return false;
    step->memory.words = step->size == 4 && step->data_size == 4 && step->vector == 1;
    static Run *const again[2][SIMD_LEVELS] = { RUN(load_again), RUN(store_again) };
    static Run *const param[SIMD_LEVELS] = RUN(load_param);
    step->run = kind == ACCESS_STORE ? run_store : run_load;
    if (step->space == SPACE_GLOBAL || step->space == SPACE_SHARED)
        step->run = again[kind == ACCESS_STORE][simd_now()];
    if (kind == ACCESS_LOAD && in->space == SPACE_PARAM && step->kernel_param && step->a == -1)
        step->run = param[simd_now()];
    return true;
}

bool bind_memory(Step *step, const Instruction *in)
{
    switch (in->op) {
    case OP_ld:
    case OP_ldu:
        return bind_move_memory(step, in, ACCESS_LOAD);
    case OP_st:
        return !has_mod(in, MOD_async) && bind_move_memory(step, in, ACCESS_STORE);
    case OP_atom:
    case OP_red:
        return !has_mod(in, MOD_async) && bind_atomic(step, in);
    case OP_cp_async:
        return bind_async(step, in);
    default:
        return false;
    }
}
