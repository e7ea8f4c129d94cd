/* move.c - mov of every type, packing and unpacking, cvta and isspacep.
 *
 * For a mov with {a, b, ...}, step->vector is the number of elements and step->vector_at holds
 * their planes. It unpacks if step->d is vector_at[0]; otherwise it packs into d. An unused element
 * (_) is < 0.
 */
#include "sim/exec/access.h"
#include "sim/exec/ops/handlers.h"

HANDLER1(mov_16, Lane32, Lane32, (uint16_t) a)
HANDLER1(mov_32, Lane32, Lane32, a)
HANDLER1(mov_64, Lane64, Lane64, a)
HANDLER1(to_shared, Lane64, Lane64, a - SHARED_WINDOW)
HANDLER1(from_shared, Lane64, Lane64, a + SHARED_WINDOW)
HANDLER1(to_local, Lane64, Lane64, a - LOCAL_WINDOW)
HANDLER1(from_local, Lane64, Lane64, a + LOCAL_WINDOW)
HANDLER1(to_param, Lane64, Lane64, a - PARAM_WINDOW)
HANDLER1(from_param, Lane64, Lane64, a + PARAM_WINDOW)

static void mov_128(Warp *warp, const Step *step, uint32_t mask)
{
    char *d = plane(warp, step->d);
    const char *a = plane(warp, step->a);

    FOR_LANES (i, mask)
        memmove(d + 16 * i, a + 16 * i, 16);
}

static void mov_pred(Warp *warp, const Step *step, uint32_t mask)
{
    set_predicate(warp, step->d, mask, predicate_of(warp, step->a, step->negated_a));
}

/* ---- Packing ---- */

HANDLER(pack_2x32, Lane64, const Lane32 *low = plane(warp, step->vector_at[0]);
        const Lane32 *high = plane(warp, step->vector_at[1]), , (uint64_t) high[i] << 32 | low[i])

INLINE void unpack_2x32_lanes(Warp *warp, const Step *step, uint32_t mask)
{
    const Lane64 *a = plane(warp, step->a);
    const int32_t *chosen = lanes_of(warp, mask);

    for (int n = 0; n < 2; n++) {
        Lane32 *d = step->vector_at[n] < 0 ? NULL : plane(warp, step->vector_at[n]);
        if (!d)
            continue;
        _Pragma("GCC ivdep") for (int i = 0; i < LANES; i++)
        {
            uint32_t value = (uint32_t) (a[i] >> 32 * n), old = d[i];
            d[i] = chosen[i] ? value : old;
        }
    }
}
COMPILE(unpack_2x32)

/* Any other width: step->size bytes per element; elements of up to 4 bytes occupy lanes of 4 bytes.
 */
static int whole_bytes(const Step *step)
{
    int bytes = step->size * step->vector;

    return bytes < 4 ? 4 : bytes;
}

static int element_stride(const Step *step)
{
    return step->size < 4 ? 4 : step->size;
}

static void pack_any(Warp *warp, const Step *step, uint32_t mask)
{
    char *d = plane(warp, step->d);

    FOR_LANES (i, mask) {
        char whole[16] = { 0 };
        for (int n = 0; n < step->vector; n++) {
            const char *from = plane(warp, step->vector_at[n]);
            memcpy(whole + n * step->size, from + i * element_stride(step), step->size);
        }
        memcpy(d + i * whole_bytes(step), whole, whole_bytes(step));
    }
}

static void unpack_any(Warp *warp, const Step *step, uint32_t mask)
{
    const char *a = plane(warp, step->a);

    FOR_LANES (i, mask) {
        char whole[16];
        memcpy(whole, a + i * whole_bytes(step), whole_bytes(step));
        for (int n = 0; n < step->vector; n++) {
            char element[8] = { 0 };
            if (step->vector_at[n] < 0)
                continue;
            memcpy(element, whole + n * step->size, step->size);
            memcpy((char *) plane(warp, step->vector_at[n]) + i * element_stride(step), element,
                   element_stride(step));
        }
    }
}

static int bytes_of(PtxType type)
{
    switch (type) {
    case TYPE_B16:
    case TYPE_U16:
    case TYPE_S16:
        return 2;
    case TYPE_B32:
    case TYPE_U32:
    case TYPE_S32:
    case TYPE_F32:
        return 4;
    case TYPE_B64:
    case TYPE_U64:
    case TYPE_S64:
    case TYPE_F64:
        return 8;
    case TYPE_B128:
        return 16;
    default:
        return 0;
    }
}

static bool bind_vector(Step *step, const Instruction *in)
{
    static Run *const pairs[2][SIMD_LEVELS] = { RUN(pack_2x32), RUN(unpack_2x32) };
    int whole = bytes_of(in->types[0]), level = simd_now();
    bool unpacks = step->d == step->vector_at[0];

    if (in->mod_count || in->type_count != 1 || whole % step->vector || whole / step->vector > 8)
        return false;
    fill_step(step, in);
    step->size = (uint8_t) (whole / step->vector);
    if (whole == 8 && step->vector == 2)
        step->run = pairs[unpacks][level];
    else
        step->run = unpacks ? unpack_any : pack_any;
    return true;
}

/* ---- Addresses ---- */

static bool in_window(uint64_t address, uint64_t window)
{
    return address - window < WINDOW_BYTES;
}

static bool in_constants(uint64_t address)
{
    const Allocation *allocation = memory_find(address);

    return allocation && allocation->kind == VARIABLE_CONST;
}

/* `shared_bytes`: of the addresses of shared memory that count. */
static bool is_in(Space space, uint64_t address, uint64_t shared_bytes)
{
    switch (space) {
    case SPACE_SHARED:
        return address - SHARED_WINDOW < shared_bytes;
    case SPACE_LOCAL:
        return in_window(address, LOCAL_WINDOW);
    case SPACE_PARAM:
        return in_window(address, PARAM_WINDOW);
    case SPACE_CONST:
        return in_constants(address);
    case SPACE_GLOBAL:
        return !in_window(address, SHARED_WINDOW) && !in_window(address, LOCAL_WINDOW) &&
               !in_window(address, PARAM_WINDOW) && !in_constants(address);
    default:
        return false;
    }
}

static void find_in(Warp *warp, const Step *step, uint32_t mask, uint64_t shared_bytes)
{
    const Lane64 *a = plane(warp, step->a);
    uint32_t result = 0;

    FOR_LANES (i, mask)
        result |= (uint32_t) is_in((Space) step->space, a[i], shared_bytes) << i;
    set_predicate(warp, step->d, mask, result);
}

static void isspacep(Warp *warp, const Step *step, uint32_t mask)
{
    find_in(warp, step, mask, PEER_SHARED);
}

/* Shared memory of all blocks of the cluster. */
static void isspacep_cluster(Warp *warp, const Step *step, uint32_t mask)
{
    find_in(warp, step, mask, WINDOW_BYTES);
}

static bool bind_isspacep(Step *step, const Instruction *in)
{
    const bool of_cluster = in->space == SPACE_SHARED && has_mod(in, MOD_cluster);

    if (in->mod_count && in->mods[0] != MOD_cta && !of_cluster)
        return false;
    step->space = (uint8_t) in->space;
    step->run = of_cluster ? isspacep_cluster : isspacep;
    return true;
}

/* ---- The tables ---- */

static const Row moves[] = {
    { OP_mov, T(B16) | T(U16) | T(S16) | T(F16) | T(BF16), 0, 0, RUN(mov_16) },
    { OP_mov, T(B32) | T(U32) | T(S32) | T(F32) | T(F16X2) | T(BF16X2), 0, 0, RUN(mov_32) },
    { OP_mov, T(B64) | T(U64) | T(S64) | T(F64), 0, 0, RUN(mov_64) },
    { OP_mov, T(B128), 0, 0, RUN1(mov_128) },
    { OP_mov, T(PRED), 0, 0, RUN1(mov_pred) },
};

/* cvta by space and direction. In spaces not listed, addresses equal their generic addresses. */
static const struct {
    Space space;
    bool to;
    Row row;
} casts[] = {
    { SPACE_GLOBAL, false, { OP_cvta, T(U64), 0, 0, RUN(mov_64) } },
    { SPACE_GLOBAL, true, { OP_cvta, T(U64), 0, 0, RUN(mov_64) } },
    { SPACE_CONST, false, { OP_cvta, T(U64), 0, 0, RUN(mov_64) } },
    { SPACE_CONST, true, { OP_cvta, T(U64), 0, 0, RUN(mov_64) } },
    { SPACE_SHARED, false, { OP_cvta, T(U64), 0, 0, RUN(from_shared) } },
    { SPACE_SHARED, true, { OP_cvta, T(U64), 0, 0, RUN(to_shared) } },
    { SPACE_LOCAL, false, { OP_cvta, T(U64), 0, 0, RUN(from_local) } },
    { SPACE_LOCAL, true, { OP_cvta, T(U64), 0, 0, RUN(to_local) } },
    { SPACE_PARAM, false, { OP_cvta, T(U64), 0, 0, RUN(from_param) } },
    { SPACE_PARAM, true, { OP_cvta, T(U64), 0, 0, RUN(to_param) } },
};

/* createpolicy: makes a cache policy, which no instruction uses here. */
static bool bind_policy(Step *step)
{
    static Run *const runs[SIMD_LEVELS] = RUN(mov_64);

    step->a = -1;
    step->run = runs[simd_now()];
    return true;
}

bool bind_move(Step *step, const Instruction *in)
{
    if (in->op == OP_createpolicy)
        return bind_policy(step);
    if (in->op == OP_isspacep)
        return bind_isspacep(step, in);
    if (in->op == OP_mov && step->vector > 1)
        return bind_vector(step, in);
    for (size_t i = 0; in->op == OP_cvta && i < sizeof casts / sizeof *casts; i++)
        if (casts[i].space == in->space && casts[i].to == in->to)
            return bind_row(step, in, &casts[i].row, 1, M(to) | M(cta));
    return BIND(step, in, moves, 0);
}
