/* test_sim_atomics.c - atom and red, compared with a serial oracle. */
#include "sim/sim_world.h"

/* ---- Atomics against a serial oracle ---- */

static uint64_t oracle(Mod mod, PtxType type, uint64_t old, uint64_t b, uint64_t c)
{
    bool is_wide = type_size(type) == 8;
    uint64_t all = is_wide ? UINT64_MAX : UINT32_MAX;
    int64_t so = is_wide ? (int64_t) old : (int32_t) old, sb = is_wide ? (int64_t) b : (int32_t) b;

    switch (mod) {
    case MOD_add:
        return (old + b) & all;
    case MOD_min:
        return type_is_signed(type) ? (so < sb ? old : b) : old < b ? old : b;
    case MOD_max:
        return type_is_signed(type) ? (so > sb ? old : b) : old > b ? old : b;
    case MOD_and:
        return old & b;
    case MOD_or:
        return old | b;
    case MOD_xor:
        return old ^ b;
    case MOD_exch:
        return b;
    case MOD_cas:
        return old == b ? c : old;
    case MOD_inc:
        return old >= b ? 0 : old + 1;
    case MOD_dec:
        return !old || old > b ? b : old - 1;
    default:
        return 0;
    }
}

static void atomics_like_the_oracle(void)
{
    static const struct {
        Mod mod;
        PtxType type;
    } rows[] = {
        { MOD_add, TYPE_U32 },  { MOD_add, TYPE_S32 }, { MOD_add, TYPE_U64 },
        { MOD_min, TYPE_U32 },  { MOD_min, TYPE_S32 }, { MOD_min, TYPE_U64 },
        { MOD_min, TYPE_S64 },  { MOD_max, TYPE_U32 }, { MOD_max, TYPE_S32 },
        { MOD_max, TYPE_U64 },  { MOD_max, TYPE_S64 }, { MOD_and, TYPE_B32 },
        { MOD_and, TYPE_B64 },  { MOD_or, TYPE_B32 },  { MOD_or, TYPE_B64 },
        { MOD_xor, TYPE_B32 },  { MOD_xor, TYPE_B64 }, { MOD_exch, TYPE_B32 },
        { MOD_exch, TYPE_B64 }, { MOD_cas, TYPE_B32 }, { MOD_cas, TYPE_B64 },
        { MOD_inc, TYPE_U32 },  { MOD_dec, TYPE_U32 },
    };
    static const Space spaces[] = { SPACE_GLOBAL, SPACE_SHARED, SPACE_GENERIC };
    unsigned seed = 7;

    for (size_t r = 0; r < COUNT(rows); r++)
        for (size_t s = 0; s < COUNT(spaces); s++) {
            new_world(false, false);
            int size = type_size(rows[r].type);
            uint64_t base = spaces[s] == SPACE_SHARED ? 0 : w.array->base, want[8] = { 0 };
            Step *step = atomic(spaces[s], rows[r].type, rows[r].mod);
            for (int round = 0; round < 20; round++) {
                uint64_t before[LANES], mask = round % 3 ? ALL : 0xff00ff;
                for (int i = 0; i < LANES; i++) {
                    seed = seed * 1664525 + 1013904223;
                    uint64_t b = round & 1 ? (seed >> 12) % 5 : (uint64_t) seed << 24 | seed;
                    uint64_t c = seed >> 20;
                    b = size == 4 ? (uint32_t) b : b;
                    int at = (int) (seed >> 9) % 8;
                    if (rows[r].mod == MOD_cas && round & 1)
                        b = want[at];
                    wide(0, ADDRESS)[i] = base + (uint64_t) (at * size);
                    if (size == 8) {
                        wide(0, VALUE)[i] = b;
                        wide(0, OPERAND)[i] = c;
                    } else {
                        narrow(0, VALUE)[i] = (uint32_t) b;
                        narrow(0, OPERAND)[i] = (uint32_t) c;
                    }
                    before[i] = want[at];
                    if (mask >> i & 1)
                        want[at] = oracle(rows[r].mod, rows[r].type, want[at], b, c);
                }
                run(0, step, (uint32_t) mask);
                for (int i = 0; i < LANES; i++)
                    if (mask >> i & 1)
                        CU_ASSERT_EQUAL(size == 8 ? wide(0, RESULT)[i] : narrow(0, RESULT)[i],
                                        before[i]);
            }
            const char *memory = spaces[s] == SPACE_SHARED ? (char *) w.shared : w.array->host;
            for (int i = 0; i < 8; i++) {
                uint64_t got = 0;
                memcpy(&got, memory + i * size, (size_t) size);
                CU_ASSERT_EQUAL(got, want[i]);
            }
            end_world();
        }
}

static void floating_atomics(void)
{
    static const float addends[3] = { 1.5f, -0.25f, 1e-40f };

    new_world(false, false);
    Step *global = atomic(SPACE_GLOBAL, TYPE_F32, MOD_add),
         *shared = atomic(SPACE_SHARED, TYPE_F32, MOD_add);
    Step *wide_one = atomic(SPACE_GLOBAL, TYPE_F64, MOD_add);
    for (int i = 0; i < 3; i++) {
        memcpy(&narrow(0, VALUE)[0], &addends[i], 4);
        wide(0, ADDRESS)[0] = w.array->base + 4u * (unsigned) i;
        run(0, global, 1);
        wide(0, ADDRESS)[0] = 4u * (unsigned) i;
        run(0, shared, 1);
    }
    CU_ASSERT_EQUAL(((float *) w.array->host)[0], 1.5f);
    CU_ASSERT_EQUAL(((float *) w.array->host)[1], -0.25f);
    CU_ASSERT_EQUAL(((float *) w.array->host)[2], 0); /* global memory flushes subnormals */
    CU_ASSERT_EQUAL(((float *) w.shared)[2], 1e-40f);
    set_linear(0, ADDRESS, w.array->base + 64, 0);
    for (int i = 0; i < LANES; i++) {
        double one = 0.5;
        memcpy(&wide(0, VALUE)[i], &one, 8);
    }
    run(0, wide_one, ALL);
    CU_ASSERT_EQUAL(*(double *) (w.array->host + 64), 16);
    end_world();
}

static void what_is_not_an_atomic(void)
{
    static const struct {
        Mod mod;
        PtxType type;
        Space space;
    } rows[] = { { MOD_add, TYPE_U8, SPACE_GLOBAL },
                 { MOD_inc, TYPE_U64, SPACE_GLOBAL },
                 { MOD_min, TYPE_F32, SPACE_GLOBAL },
                 { MOD_add, TYPE_U32, SPACE_CONST },
                 { MOD_add, TYPE_U32, SPACE_LOCAL } };

    for (size_t r = 0; r < COUNT(rows); r++) {
        new_world(false, false);
        Step *step = new_step(OP_red, rows[r].space, rows[r].type, 1);
        add_mod(step, rows[r].mod);
        CU_ASSERT_FALSE(bind_memory(step, step->in));
        end_world();
    }
}

static CU_TestInfo tests[] = {
    { "atomics like the oracle", atomics_like_the_oracle },
    { "floating atomics", floating_atomics },
    { "instructions that are not atomics", what_is_not_an_atomic },
    CU_TEST_INFO_NULL,
};

CU_SuiteInfo test_sim_atomics = { "test_sim_atomics", NULL, NULL, NULL, NULL, tests };
