/* test_sim_wavefronts.c - the cost of accesses to shared memory. */
#include "sim/sim_world.h"

/* ---- The cost of shared accesses: patterns measured on an H200 ---- */

typedef struct SharedPattern {
    const char *name;
    int step, mod, div, xor_with; /* lane i: ((i ^ xor_with) / div % mod) * step units */
    uint32_t mask;
    int load[3][2], store[3][2]; /* wavefronts, conflicts for 4, 8, 16 bytes per lane */
} SharedPattern;

static const SharedPattern shared_patterns[] = {
    { "linear",
      1,
      32,
      1,
      0,
      ALL,
      { { 1, 0 }, { 2, 0 }, { 4, 0 } },
      { { 1, 0 }, { 2, 0 }, { 4, 0 } } },
    { "reversed",
      1,
      32,
      1,
      31,
      ALL,
      { { 1, 0 }, { 2, 0 }, { 4, 0 } },
      { { 1, 0 }, { 2, 0 }, { 4, 0 } } },
    { "stride 3",
      3,
      32,
      1,
      0,
      ALL,
      { { 1, 0 }, { 2, 0 }, { 4, 0 } },
      { { 1, 0 }, { 2, 0 }, { 4, 0 } } },
    { "stride 5",
      5,
      32,
      1,
      0,
      ALL,
      { { 1, 0 }, { 2, 0 }, { 4, 0 } },
      { { 1, 0 }, { 2, 0 }, { 4, 0 } } },
    { "stride 33",
      33,
      32,
      1,
      0,
      ALL,
      { { 1, 0 }, { 2, 0 }, { 4, 0 } },
      { { 1, 0 }, { 2, 0 }, { 4, 0 } } },
    { "stride 2",
      2,
      32,
      1,
      0,
      ALL,
      { { 2, 1 }, { 4, 2 }, { 8, 4 } },
      { { 2, 1 }, { 4, 2 }, { 8, 4 } } },
    { "stride 4",
      4,
      32,
      1,
      0,
      ALL,
      { { 4, 3 }, { 8, 6 }, { 16, 12 } },
      { { 4, 3 }, { 8, 6 }, { 16, 12 } } },
    { "stride 8",
      8,
      32,
      1,
      0,
      ALL,
      { { 8, 7 }, { 16, 14 }, { 32, 28 } },
      { { 8, 7 }, { 16, 14 }, { 32, 28 } } },
    { "stride 32",
      32,
      32,
      1,
      0,
      ALL,
      { { 32, 31 }, { 32, 30 }, { 32, 28 } },
      { { 32, 31 }, { 32, 30 }, { 32, 28 } } },
    { "n^1 equal",
      1,
      32,
      2,
      0,
      ALL,
      { { 1, 0 }, { 1, 0 }, { 2, 0 } },
      { { 1, 0 }, { 2, 0 }, { 4, 0 } } },
    { "i>>2",
      1,
      32,
      4,
      0,
      ALL,
      { { 1, 0 }, { 1, 0 }, { 2, 0 } },
      { { 1, 0 }, { 2, 0 }, { 4, 0 } } },
    { "i>>4",
      1,
      32,
      16,
      0,
      ALL,
      { { 1, 0 }, { 1, 0 }, { 2, 0 } },
      { { 1, 0 }, { 2, 0 }, { 4, 0 } } },
    { "i&1", 1, 2, 1, 0, ALL, { { 1, 0 }, { 1, 0 }, { 2, 0 } }, { { 1, 0 }, { 2, 0 }, { 4, 0 } } },
    { "all equal",
      1,
      1,
      1,
      0,
      ALL,
      { { 1, 0 }, { 1, 0 }, { 2, 0 } },
      { { 1, 0 }, { 2, 0 }, { 4, 0 } } },
    { "i&3", 1, 4, 1, 0, ALL, { { 1, 0 }, { 2, 0 }, { 4, 0 } }, { { 1, 0 }, { 2, 0 }, { 4, 0 } } },
    { "i&7", 1, 8, 1, 0, ALL, { { 1, 0 }, { 2, 0 }, { 4, 0 } }, { { 1, 0 }, { 2, 0 }, { 4, 0 } } },
    { "n^1, stride 2",
      2,
      32,
      2,
      0,
      ALL,
      { { 1, 0 }, { 2, 1 }, { 4, 2 } },
      { { 1, 0 }, { 2, 0 }, { 4, 0 } } },
    { "n^1, stride 4",
      4,
      32,
      2,
      0,
      ALL,
      { { 2, 1 }, { 4, 3 }, { 8, 6 } },
      { { 2, 1 }, { 4, 2 }, { 8, 4 } } },
    { "n^1, stride 8",
      8,
      32,
      2,
      0,
      ALL,
      { { 4, 3 }, { 8, 7 }, { 16, 14 } },
      { { 4, 3 }, { 8, 6 }, { 16, 12 } } },
    { "lanes 0-15",
      1,
      32,
      1,
      0,
      0xffff,
      { { 1, 0 }, { 1, 0 }, { 2, 0 } },
      { { 1, 0 }, { 1, 0 }, { 2, 0 } } },
    { "lanes 0-7",
      1,
      32,
      1,
      0,
      0xff,
      { { 1, 0 }, { 1, 0 }, { 1, 0 } },
      { { 1, 0 }, { 1, 0 }, { 1, 0 } } },
    { "lane 0",
      1,
      32,
      1,
      0,
      1,
      { { 1, 0 }, { 1, 0 }, { 1, 0 } },
      { { 1, 0 }, { 1, 0 }, { 1, 0 } } },
    { "even lanes",
      1,
      32,
      1,
      0,
      0x55555555,
      { { 1, 0 }, { 2, 1 }, { 4, 2 } },
      { { 1, 0 }, { 2, 0 }, { 4, 0 } } },
};

static void check_wavefronts(const char *name, int bytes, const Count *count, const int want[2])
{
    int wavefronts = (int) count->wavefronts, conflicts = (int) (count->wavefronts - count->ideal);

    CU_ASSERT_EQUAL(wavefronts, want[0]);
    CU_ASSERT_EQUAL(conflicts, want[1]);
    if (wavefronts != want[0] || conflicts != want[1])
        printf("%s, %d bytes: %d/%d, not %d/%d\n", name, bytes, wavefronts, conflicts, want[0],
               want[1]);
}

static void wavefronts_of_patterns(void)
{
    new_world(false, false);
    for (int size = 0; size < 3; size++)
        for (int how = 0; how < 2; how++) {
            w.step_count = 0;
            Step *step = how ? store(SPACE_SHARED, TYPE_B32, 1 << size)
                             : load(SPACE_SHARED, TYPE_B32, 1 << size);
            for (size_t r = 0; r < COUNT(shared_patterns); r++) {
                const SharedPattern *p = &shared_patterns[r];
                for (int i = 0; i < LANES; i++)
                    wide(0, ADDRESS)[i] =
                        (uint64_t) ((i ^ p->xor_with) / p->div % p->mod * p->step * (4 << size));
                memset(w.counts, 0, sizeof w.counts);
                run(0, step, p->mask);
                check_wavefronts(p->name, 4 << size, w.counts,
                                 how ? p->store[size] : p->load[size]);
            }
        }
    CU_ASSERT_EQUAL(finding_count(), 0);
    end_world();
}

static void odd_ones_out(void)
{
    static const int want_one_off[3][2] = { { 2, 1 }, { 3, 1 }, { 5, 1 } };
    static const int want_halves[3][2] = { { 1, 0 }, { 2, 0 }, { 4, 0 } };

    new_world(false, false);
    for (int size = 0; size < 3; size++) {
        w.step_count = 0;
        Step *step = load(SPACE_SHARED, TYPE_B32, 1 << size);
        /* All lanes at one address except lane 31, which is in the same bank. */
        for (int i = 0; i < LANES; i++)
            wide(0, ADDRESS)[i] = i == 31 ? 256 : 0;
        memset(w.counts, 0, sizeof w.counts);
        run(0, step, ALL);
        check_wavefronts("one off", 4 << size, w.counts, want_one_off[size]);
        /* One half agrees with n^1, the other with n^2. */
        for (int i = 0; i < LANES; i++)
            wide(0, ADDRESS)[i] = (uint64_t) ((i < 16 ? i / 2 : 8 + i % 2) * (4 << size));
        memset(w.counts, 0, sizeof w.counts);
        run(0, step, ALL);
        check_wavefronts("halves", 4 << size, w.counts, want_halves[size]);
    }
    end_world();
}

/* The column of a tile of 32 x 32, without and with padding. */
static void columns_of_a_tile(void)
{
    static const int want[2][2] = { { 32, 31 }, { 1, 0 } };

    new_world(false, false);
    Step *step = store(SPACE_SHARED, TYPE_F32, 1);
    step->address_size = 4;
    for (int padding = 0; padding < 2; padding++)
        for (int column = 0; column < 32; column++) {
            for (int i = 0; i < LANES; i++)
                narrow(0, ADDRESS)[i] = (uint32_t) (4 * (i * (32 + padding) + column));
            memset(w.counts, 0, sizeof w.counts);
            run(0, step, ALL);
            check_wavefronts("column", 4, w.counts, want[padding]);
        }
    end_world();
}

/* As counted by an H200. `want`: wavefronts and conflicts; `loads`: loads of atomics that are
 * loops; `rounds`: rounds of these loops after the first. */
static void wavefronts_of_atomics(void)
{
    static const struct {
        PtxType type;
        Mod mod;
        int size, step, of, div;
        int want[2], loop_loads, rounds;
    } rows[] = {
        { TYPE_U32, MOD_add, 4, 1, 1, 1, { 32, 31 }, 0, 0 },
        { TYPE_U32, MOD_add, 4, 1, 32, 1, { 1, 0 }, 0, 0 },
        { TYPE_U32, MOD_add, 4, 1, 32, 2, { 2, 1 }, 0, 0 },
        { TYPE_U32, MOD_add, 4, 8, 32, 1, { 8, 7 }, 0, 0 },
        { TYPE_B32, MOD_cas, 4, 1, 1, 1, { 64, 31 }, 0, 0 },
        { TYPE_B32, MOD_cas, 4, 1, 32, 1, { 2, 0 }, 0, 0 },
        { TYPE_B32, MOD_cas, 4, 8, 32, 1, { 16, 7 }, 0, 0 },
        { TYPE_F32, MOD_add, 4, 1, 32, 1, { 2, 0 }, 1, 0 },
        { TYPE_F32, MOD_add, 4, 1, 1, 1, { 64, 0 }, 32, 31 },
        { TYPE_F32, MOD_add, 4, 1, 4, 1, { 16, 0 }, 8, 7 },
        { TYPE_F32, MOD_add, 4, 2, 32, 1, { 4, 0 }, 3, 1 },
        { TYPE_F32, MOD_add, 4, 8, 32, 1, { 16, 0 }, 36, 7 },
        { TYPE_F32, MOD_add, 4, 32, 32, 1, { 64, 0 }, 528, 31 },
        { TYPE_F64, MOD_add, 8, 1, 32, 1, { 4, 0 }, 2, 0 },
        { TYPE_U64, MOD_add, 8, 1, 32, 1, { 4, 0 }, 2, 0 },
        { TYPE_U64, MOD_add, 8, 2, 32, 1, { 8, 0 }, 6, 1 },
        { TYPE_U64, MOD_add, 8, 4, 32, 1, { 16, 0 }, 20, 3 },
        { TYPE_U64, MOD_add, 8, 1, 1, 1, { 96, 0 }, 32, 31 },
        { TYPE_U64, MOD_add, 8, 1, 4, 1, { 24, 0 }, 12, 7 },
    };

    for (size_t r = 0; r < COUNT(rows); r++) {
        new_world(false, false);
        Step *step = atomic(SPACE_SHARED, rows[r].type, rows[r].mod);
        for (int i = 0; i < LANES; i++)
            wide(0, ADDRESS)[i] =
                (uint64_t) (rows[r].size * (i / rows[r].div % rows[r].of * rows[r].step));
        run(0, step, ALL);
        check_wavefronts("atomic", rows[r].size, w.counts, rows[r].want);
        CU_ASSERT_EQUAL(w.counts[0].loop_loads, (unsigned) rows[r].loop_loads);
        CU_ASSERT_EQUAL(w.counts[0].rounds, (unsigned) rows[r].rounds);
        end_world();
    }
}

static CU_TestInfo tests[] = {
    { "wavefronts of patterns", wavefronts_of_patterns },
    { "odd ones out", odd_ones_out },
    { "columns of a tile", columns_of_a_tile },
    { "wavefronts of atomics", wavefronts_of_atomics },
    CU_TEST_INFO_NULL,
};

CU_SuiteInfo test_sim_wavefronts = { "test_sim_wavefronts", NULL, NULL, NULL, NULL, tests };
