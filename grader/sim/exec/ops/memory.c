/* memory.c - ld and st of all spaces, types and widths; prefetch and discard, which do nothing.
 *
 * A handler builds an Access from its operands, access_open() finds and checks the memory, and a
 * mover for the type and the register's width copies the bytes to or from the planes. Cache hints
 * and .nc have no effect here.
 */
#include "sim/exec/ops/memory.h"

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

void memory_lane_value(const Access *x, int lane, uint8_t *bytes)
{
    const Step *step = x->step;

    for (int e = 0; e < step->vector; e++) {
        const uint8_t *from = plane(x->warp, data_slot(step, ACCESS_STORE, e));
        memcpy(bytes + e * step->size, from + lane * step->data_size, step->size);
    }
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

void memory_move(const Access *x)
{
    const Step *step = x->step;
    Mover *mover = mover_of(step);

    if (load_four(x) || ahead_stores(x))
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
    memory_move(x);
    return true;
}

void memory_run(Warp *warp, const Step *step, uint32_t mask, AccessKind kind)
{
    Access x;

    memory_begin(&x, warp, step, mask, kind);
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

static void run_load(Warp *warp, const Step *step, uint32_t mask)
{
    memory_run(warp, step, mask, ACCESS_LOAD);
}

static void run_store(Warp *warp, const Step *step, uint32_t mask)
{
    memory_run(warp, step, mask, ACCESS_STORE);
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
    static Run *const param[SIMD_LEVELS] = RUN(load_param);
    step->run = kind == ACCESS_STORE ? run_store : run_load;
    if (step->space == SPACE_GLOBAL || step->space == SPACE_SHARED)
        step->run = memory_again(step, kind);
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
