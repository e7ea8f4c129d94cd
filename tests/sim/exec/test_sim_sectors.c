/* test_sim_sectors.c - the cost of accesses to global memory. */
#include "sim/sim_world.h"
#include "sim/exec/repeats.h"

/* ---- The cost of global accesses ---- */

typedef struct Pattern {
    const char *name;
    int first, step, mod, div; /* lane i: first + (i / div % mod) * step elements */
    uint32_t mask;
    int sectors[3];   /* for 4, 8, 16 bytes per lane */
    int reversed_xor; /* XORed into the lane number first */
} Pattern;

static const Pattern patterns[] = {
    { "linear", 0, 1, 32, 1, ALL, { 4, 8, 16 }, 0 },
    { "reversed", 0, 1, 32, 1, ALL, { 4, 8, 16 }, 31 },
    { "permuted", 0, 1, 32, 1, ALL, { 4, 8, 16 }, 21 },
    { "shifted by one", 1, 1, 32, 1, ALL, { 5, 9, 17 }, 0 },
    { "shifted by two", 2, 1, 32, 1, ALL, { 5, 9, 16 }, 0 },
    { "shifted by 4", 4, 1, 32, 1, ALL, { 5, 8, 16 }, 0 },
    { "shifted by 8", 8, 1, 32, 1, ALL, { 4, 8, 16 }, 0 },
    { "stride 2", 0, 2, 32, 1, ALL, { 8, 16, 32 }, 0 },
    { "stride 3", 0, 3, 32, 1, ALL, { 12, 24, 32 }, 0 },
    { "stride 4", 0, 4, 32, 1, ALL, { 16, 32, 32 }, 0 },
    { "stride 5", 0, 5, 32, 1, ALL, { 20, 32, 32 }, 0 },
    { "stride 6", 0, 6, 32, 1, ALL, { 24, 32, 32 }, 0 },
    { "stride 7", 0, 7, 32, 1, ALL, { 28, 32, 32 }, 0 },
    { "stride 8", 0, 8, 32, 1, ALL, { 32, 32, 32 }, 0 },
    { "stride 17", 0, 17, 32, 1, ALL, { 32, 32, 32 }, 0 },
    { "stride 32", 0, 32, 32, 1, ALL, { 32, 32, 32 }, 0 },
    { "stride 33 reversed", 0, 33, 32, 1, ALL, { 32, 32, 32 }, 31 },
    { "all equal", 0, 1, 1, 1, ALL, { 1, 1, 1 }, 0 },
    { "n^1 equal", 0, 1, 32, 2, ALL, { 2, 4, 8 }, 0 },
    { "n^2 equal", 0, 1, 2, 1, ALL, { 1, 1, 1 }, 0 },
    { "rows of 16", 0, 100, 2, 16, ALL, { 2, 2, 2 }, 0 },
    { "four addresses", 0, 8, 4, 1, ALL, { 4, 4, 4 }, 0 },
    { "lane 0", 0, 1, 32, 1, 1, { 1, 1, 1 }, 0 },
    { "lane 31", 0, 1, 32, 1, 1u << 31, { 1, 1, 1 }, 0 },
    { "lower half", 0, 1, 32, 1, 0xffff, { 2, 4, 8 }, 0 },
    { "upper half", 0, 1, 32, 1, 0xffff0000, { 2, 4, 8 }, 0 },
    { "odd lanes", 0, 1, 32, 1, 0xaaaaaaaa, { 4, 8, 16 }, 0 },
    { "odd lanes reversed", 0, 1, 32, 1, 0xaaaaaaaa, { 4, 8, 16 }, 31 },
    { "every eighth lane", 0, 1, 32, 1, 0x01010101, { 4, 4, 4 }, 0 },
};

static void set_pattern(const Pattern *p, uint64_t base, int bytes)
{
    for (int i = 0; i < LANES; i++)
        wide(0, ADDRESS)[i] =
            base + (uint64_t) bytes *
                       (uint64_t) (p->first + (i ^ p->reversed_xor) / p->div % p->mod * p->step);
}

/* Runs each pattern twice: the second time at another address, from the cached shape. */
static void sectors_of_patterns(void)
{
    new_world(false, false);
    Allocation *big = memory_allocate(1 << 20, ALLOCATED, NULL);
    for (int size = 0; size < 3; size++)
        for (int how = 0; how < 4; how++) {
            w.step_count = 0;
            Step *step = how & 1 ? store(SPACE_GLOBAL, TYPE_F32, 1 << size)
                                 : load(SPACE_GLOBAL, TYPE_F32, 1 << size);
            for (size_t i = 0; i < COUNT(patterns); i++) {
                const Pattern *p = &patterns[i];
                int lanes = __builtin_popcount(p->mask);
                memset(w.counts, 0, sizeof w.counts);
                for (int again = 0; again < 2; again++) {
                    set_pattern(p, big->base + (uint64_t) again * 4096, 4 << size);
                    run(0, step, p->mask);
                }
                repeats_end_all();
                CU_ASSERT_EQUAL(w.counts[0].requests, 2);
                CU_ASSERT_EQUAL(w.counts[0].bytes, 2u * (unsigned) (lanes * (4 << size)));
                CU_ASSERT_EQUAL(w.counts[0].sectors, 2u * (unsigned) p->sectors[size]);
                if (w.counts[0].sectors != 2u * (unsigned) p->sectors[size])
                    printf("%s, %d bytes: %g\n", p->name, 4 << size,
                           (double) w.counts[0].sectors / 2);
            }
        }
    CU_ASSERT_EQUAL(w.launch.array_count, 1);
    CU_ASSERT_EQUAL(w.launch.arrays[0].load_requests, COUNT(patterns) * 12);
    CU_ASSERT_EQUAL(w.launch.arrays[0].store_requests, COUNT(patterns) * 12);
    CU_ASSERT_EQUAL(finding_count(), 0);
    end_world();
}

/* Types of 1, 2 and 8 bytes, strides 1 to 32, compared with counting by sets. */
static void sectors_of_strides(void)
{
    static const PtxType types[] = { TYPE_U8, TYPE_U16, TYPE_F32, TYPE_F64 };

    new_world(false, false);
    Allocation *big = memory_allocate(1 << 20, ALLOCATED, NULL);
    for (size_t t = 0; t < COUNT(types); t++)
        for (int stride = 1; stride <= 32; stride++)
            for (int offset = 0; offset < 8; offset++) {
                bool touched[1024] = { 0 };
                unsigned want = 0;
                w.step_count = 0;
                memset(w.counts, 0, sizeof w.counts);
                Step *step = load(SPACE_GLOBAL, types[t], 1);
                for (int i = 0; i < LANES; i++) {
                    int at = (offset + i * stride) * type_size(types[t]);
                    wide(0, ADDRESS)[i] = big->base + (uint64_t) at;
                    want += !touched[at / 32];
                    touched[at / 32] = true;
                }
                run(0, step, ALL);
                CU_ASSERT_EQUAL(w.counts[0].sectors, want);
            }
    end_world();
}

static void sectors_of_atomics(void)
{
    static const struct {
        int step, mod, div;
        unsigned sectors;
    } rows[] = {
        { 1, 1, 1, 32 },  /* one address */
        { 1, 32, 1, 4 },  /* linear */
        { 1, 32, 2, 4 },  /* n^1 equal */
        { 8, 4, 1, 32 },  /* 4 addresses, each in a sector: 8 passes of 4 */
        { 1, 4, 1, 8 },   /* 4 addresses in one sector */
        { 8, 32, 1, 32 }, /* stride 8 */
    };

    for (size_t r = 0; r < COUNT(rows); r++) {
        new_world(false, false);
        Step *step = atomic(SPACE_GLOBAL, r & 1 ? TYPE_F32 : TYPE_U32, MOD_add);
        for (int i = 0; i < LANES; i++)
            wide(0, ADDRESS)[i] =
                w.array->base + 4u * (unsigned) (i / rows[r].div % rows[r].mod * rows[r].step);
        run(0, step, ALL);
        CU_ASSERT_EQUAL(w.counts[0].requests, 1);
        CU_ASSERT_EQUAL(w.counts[0].sectors, rows[r].sectors);
        CU_ASSERT_EQUAL(w.launch.arrays[0].atomic_sectors, rows[r].sectors);
        end_world();
    }
}

static void one_request_to_several_arrays(void)
{
    new_world(false, false);
    Step *step = load(SPACE_GENERIC, TYPE_U32, 1);
    for (int i = 0; i < LANES; i++) {
        ((uint32_t *) w.array->host)[i] = 100u + (unsigned) i;
        ((uint32_t *) w.other->host)[i] = 200u + (unsigned) i;
        wide(0, ADDRESS)[i] = (i % 2 ? w.array : w.other)->base + 4u * (unsigned) i;
    }
    run(0, step, ALL);
    for (int i = 0; i < LANES; i++)
        CU_ASSERT_EQUAL(narrow(0, RESULT)[i], (i % 2 ? 100u : 200u) + (unsigned) i);
    CU_ASSERT_EQUAL(w.counts[0].requests, 1);
    CU_ASSERT_EQUAL(w.counts[0].sectors, 8);
    CU_ASSERT_EQUAL_FATAL(w.launch.array_count, 2);
    for (int i = 0; i < 2; i++) {
        CU_ASSERT_EQUAL(w.launch.arrays[i].load_sectors, 4);
        CU_ASSERT_EQUAL(w.launch.arrays[i].load_bytes, 64);
    }
    end_world();
}

/* Two lines that access one array are counted apart; further steps of a line are not. */
static void arrays_are_counted_by_line(void)
{
    new_world(false, false);
    Step *steps[] = { load(SPACE_GLOBAL, TYPE_F32, 1), store(SPACE_GLOBAL, TYPE_F32, 1),
                      load(SPACE_GLOBAL, TYPE_F32, 1) };
    static const int lines[] = { 7, 9, 7 };

    for (size_t i = 0; i < COUNT(steps); i++) {
        Instruction *in = (Instruction *) steps[i]->in;
        in->charged_file = 1;
        in->charged_line = lines[i];
    }
    for (size_t i = 0; i < COUNT(steps); i++) {
        for (int lane = 0; lane < LANES; lane++)
            wide(0, ADDRESS)[lane] = w.array->base + 4u * (unsigned) lane;
        run(0, steps[i], ALL);
    }
    CU_ASSERT_EQUAL_FATAL(w.launch.array_count, 2);
    CU_ASSERT_EQUAL(w.launch.arrays[0].line, 7);
    CU_ASSERT_EQUAL(w.launch.arrays[0].load_sectors, 8);
    CU_ASSERT_EQUAL(w.launch.arrays[1].line, 9);
    CU_ASSERT_EQUAL(w.launch.arrays[1].store_sectors, 4);
    end_world();
}

static CU_TestInfo tests[] = {
    { "sectors of patterns", sectors_of_patterns },
    { "sectors of strides", sectors_of_strides },
    { "sectors of atomics", sectors_of_atomics },
    { "one request to several arrays", one_request_to_several_arrays },
    { "arrays are counted by line", arrays_are_counted_by_line },
    CU_TEST_INFO_NULL,
};

CU_SuiteInfo test_sim_sectors = { "test_sim_sectors", NULL, NULL, NULL, NULL, tests };
