/* test_sim_what_if.c - modelled time without a cause of slowness: kernels with exactly one cause
 * take as long as the same kernels written without it.
 */
#include "sim/sim_machine.h"

#define WITHOUT(cause) (1u << (cause))

static double cycles_without(CauseSet causes, const Device *device, Trial trial)
{
    return play_without(causes, device, trial).cycles;
}

#define EQUAL_WITHIN(a, b, share) CU_ASSERT_DOUBLE_EQUAL((a) / (b), 1, share)

/* ---- One cause each ---- */

#define SHARED_AT(scale)                                                                           \
    ".shared .align 4 .b8 s[8192];\nmov.u32 %r10, s;\n"                                            \
    "mul.lo.u32 %r11, %r1, " scale ";\nand.b32 %r11, %r11, 4095;\nadd.u32 %r12, %r10, %r11;\n"

static void conflicts(void)
{
    static const char load[] = "ld.shared.u32 %r13, [%r12];\n";
    const Trial straight = { .ptx = repeat(SHARED_AT("4"), load, 40, ""), .threads = 32 };
    const Trial conflicts = { .ptx = repeat(SHARED_AT("64"), load, 40, ""), .threads = 32 };
    const double base = cycles_without(0, &plain, conflicts); /* 16-way */

    CU_ASSERT_EQUAL(cycles_without(WITHOUT(CAUSE_CONFLICTS), &plain, conflicts),
                    cycles_without(0, &plain, straight));
    CU_ASSERT(base > 1.3 * cycles_without(0, &plain, straight));
}

/* Eight loads of 256 threads, a sector or a word apart. */
#define LOADS_APART(bytes, next)                                                                   \
    KERNEL("mul.wide.u32 %rd9, %r1, " #bytes ";\nadd.s64 %rd9, %rd1, %rd9;\n"                      \
           "ld.global.u32 %r20, [%rd9];\nld.global.u32 %r21, [%rd9+1*" #next "];\n"                \
           "ld.global.u32 %r22, [%rd9+2*" #next "];\nld.global.u32 %r23, [%rd9+3*" #next "];\n"    \
           "add.u32 %r20, %r20, %r21;\nadd.u32 %r22, %r22, %r23;\nadd.u32 %r0, %r20, %r22;\n")

static void sectors(void)
{
    const Trial apart = { .ptx = LOADS_APART(32, 8192), .threads = 256 };
    const Trial dense = { .ptx = LOADS_APART(4, 1024), .threads = 256 };
    const double base = cycles_without(0, &plain, apart);
    const double packed = cycles_without(0, &plain, dense);

    EQUAL_WITHIN(cycles_without(WITHOUT(CAUSE_SECTORS), &plain, apart), packed, 0.05);
    CU_ASSERT(base > 1.3 * packed);
}

/* A store that leaves gaps: memory reads the partly written sectors, then writes them. */
static void sectors_of_stores(void)
{
    Device small = plain;
    static const char apart[] = "mul.wide.u32 %rd9, %r6, 32;\nand.b64 %rd9, %rd9, 65535;\n"
                                "add.s64 %rd9, %rd1, %rd9;\nst.global.u32 [%rd9], %r1;\n";
    static const char dense[] = "st.global.u32 [%rd2], %r1;\n";
    const Trial scattered = {
        .ptx = repeat(apart, "", 0, ""), .threads = 256, .blocks = 8, .blocks_an_sm = 8
    };
    const Trial packed = {
        .ptx = repeat(dense, "", 0, ""), .threads = 256, .blocks = 8, .blocks_an_sm = 8
    };

    small.l2_bytes = 8192; /* lines are displaced */
    const double base = cycles_without(0, &small, scattered);
    const double without = cycles_without(WITHOUT(CAUSE_SECTORS), &small, scattered);
    EQUAL_WITHIN(without, cycles_without(0, &small, packed), 0.15);
    CU_ASSERT(base > 2 * without);
}

/* The stores of a warp to 32 lines would be one request for one line: the L2 takes as long for them
 * as for dense ones. Once, each of them cost the L2 a request, so lab 06's bound was 1.9 instead
 * of 3.6.
 */
static void requests_of_stores(void)
{
    Device slow = plain;
    const Trial apart = { .ptx =
                              KERNEL("mul.wide.u32 %rd9, %r2, 128;\nadd.s64 %rd2, %rd1, %rd9;\n"),
                          .threads = 1024 };
    const Trial dense = { .ptx = KERNEL("mul.wide.u32 %rd9, %r2, 4;\nadd.s64 %rd2, %rd1, %rd9;\n"),
                          .threads = 1024 };

    slow.l2_store_sector_gbps = 10; /* a single sector takes 3.2 cycles, four take 4 */
    EQUAL_WITHIN(cycles_without(WITHOUT(CAUSE_SECTORS), &slow, apart),
                 cycles_without(WITHOUT(CAUSE_SECTORS), &slow, dense), 0.02);
    CU_ASSERT(cycles_without(0, &slow, apart) > 3 * cycles_without(0, &slow, dense));
}

#define UPPER_LANES_SKIP "setp.ge.u32 %p1, %r2, 16;\n@%p1 bra after;\n"
#define FOUR                                                                                       \
    "fma.rn.f32 %f1, %f2, %f3, %f4;\nfma.rn.f32 %f5, %f2, %f3, %f4;\n"                             \
    "fma.rn.f32 %f6, %f2, %f3, %f4;\nfma.rn.f32 %f7, %f2, %f3, %f4;\n"

/* Half of the lanes of 32 warps do what all lanes of 16 warps could do. */
static void idle_lanes(void)
{
    const char *half = repeat(UPPER_LANES_SKIP, FOUR, 200, "after:\n");
    const double base = cycles_without(0, &plain, (Trial){ .ptx = half, .threads = 1024 });
    const double packed =
        cycles_without(0, &plain, (Trial){ .ptx = repeat("", FOUR, 200, ""), .threads = 512 });
    const double without =
        cycles_without(WITHOUT(CAUSE_DIVERGENCE), &plain, (Trial){ .ptx = half, .threads = 1024 });

    EQUAL_WITHIN(without, packed, 0.05);
    CU_ASSERT(base > 1.7 * packed);
}

/* The data of packed lanes still has to come from memory. */
static void idle_lanes_load_their_data(void)
{
    static const char loads[] =
        "ld.global.u32 %r20, [%rd2];\nld.global.u32 %r21, [%rd2+4096];\n"
        "ld.global.u32 %r22, [%rd2+8192];\nld.global.u32 %r23, [%rd2+12288];\n";
    const Trial half = { .ptx = repeat(UPPER_LANES_SKIP, loads, 1, "after:\n"), .threads = 1024 };
    const double base = cycles_without(0, &plain, half);

    CU_ASSERT(cycles_without(WITHOUT(CAUSE_DIVERGENCE), &plain, half) > 0.8 * base);
}

/* One instruction per cycle. */
static void latency(void)
{
    const Trial few = { .ptx = repeat("", DEPENDENT, 10, ""), .threads = 32 };
    const Trial more = { .ptx = repeat("", DEPENDENT, 110, ""), .threads = 32 };
    const CauseSet without = WITHOUT(CAUSE_LATENCY);

    CU_ASSERT_EQUAL(cycles_without(without, &plain, more) - cycles_without(without, &plain, few),
                    100);
    CU_ASSERT_EQUAL(cycles_without(0, &plain, more) - cycles_without(0, &plain, few),
                    100 * plain.alu_latency);
}

/* The machine code stalls a warp until the result of its last instruction is there. These stalls
 * once remained, so lab 04's bound was 1.1 instead of 2.8. */
static void latency_in_the_code(void)
{
    const char *few = repeat("", DEPENDENT, 10, "mov.b32 %r0, %f1;\n");
    const char *more = repeat("", DEPENDENT, 110, "mov.b32 %r0, %f1;\n");
    TimingResult of_few, of_more;

    if (!machine_time(WITHOUT(CAUSE_LATENCY), 1, &plain, few, &of_few))
        return;
    CU_ASSERT_FATAL(machine_time(WITHOUT(CAUSE_LATENCY), 1, &plain, more, &of_more));
    CU_ASSERT_EQUAL(of_more.cycles - of_few.cycles, 100);
}

/* A load that nothing hides takes as long as its bytes. */
static void latency_of_memory(void)
{
    static const char chased[] = "ld.global.u64 %rd9, [%rd1];\nadd.s64 %rd1, %rd1, %rd9;\n";
    const Trial chase = { .ptx = repeat("", chased, 20, ""), .threads = 32 };

    CU_ASSERT(cycles_without(0, &plain, chase) > plain.memory_latency + 20 * plain.l1_latency);
    CU_ASSERT(cycles_without(WITHOUT(CAUSE_LATENCY), &plain, chase) < 250);
}

static void tail(void)
{
    Device four = plain;
    const char *chain = repeat("", DEPENDENT, 1500, "");
    const Trial fits = { .ptx = chain, .blocks = 4 }, one_more = { .ptx = chain, .blocks = 5 };

    four.sms = 4;
    const double wave = cycles_without(0, &four, fits);
    EQUAL_WITHIN(cycles_without(0, &four, one_more), 2 * wave, 0.02);
    EQUAL_WITHIN(cycles_without(WITHOUT(CAUSE_TAIL), &four, one_more), 1.25 * wave, 0.02);
    EQUAL_WITHIN(cycles_without(WITHOUT(CAUSE_TAIL), &four, fits), wave, 0.02);
    CU_ASSERT(play_without(0, &four, one_more).spent.at[AT_TAIL] > 0);
    CU_ASSERT_EQUAL(play_without(WITHOUT(CAUSE_TAIL), &four, one_more).spent.at[AT_TAIL], 0);
}

/* Blocks of 96 KB of shared memory: one per SM, where the warps would allow 16. */
static void occupancy(void)
{
    const char *chain = repeat("", DEPENDENT, 500, "");
    Trial alone = { .ptx = chain, .threads = 128, .blocks = 16, .blocks_an_sm = 1 };
    Trial together = alone;

    together.blocks_an_sm = 16;
    const double base = cycles_without(0, &plain, alone);
    const double without = cycles_without(WITHOUT(CAUSE_OCCUPANCY), &plain, alone);
    CU_ASSERT_EQUAL(without, cycles_without(0, &plain, together));
    CU_ASSERT(base > 3 * without);
}

/* ---- All of them ---- */

/* A kernel without causes takes equally long without them. Every kernel has some latency. */
static void nothing_to_remove(void)
{
    const Trial full = { .ptx = KERNEL("ld.global.u32 %r20, [%rd2];\nadd.u32 %r0, %r20, 1;\n"),
                         .threads = 1024,
                         .blocks = 2,
                         .blocks_an_sm = 2 };
    const double base = cycles_without(0, &plain, full);

    CU_ASSERT_EQUAL(base, play(&plain, full).cycles);
    for (int cause = 0; cause < CAUSES; cause++)
        if (cause != CAUSE_LATENCY && cause != CAUSE_TAIL)
            CU_ASSERT_EQUAL(cycles_without(WITHOUT(cause), &plain, full), base);
    /* One of the two blocks ends a little earlier. */
    EQUAL_WITHIN(cycles_without(WITHOUT(CAUSE_TAIL), &plain, full), base, 0.1);
}

/* Several at once are worth at least as much as each alone. */
static void several_at_once(void)
{
    const char *both = repeat(UPPER_LANES_SKIP, DEPENDENT, 200, "after:\n");
    const Trial trial = { .ptx = both, .threads = 128 };
    const CauseSet set = WITHOUT(CAUSE_DIVERGENCE) | WITHOUT(CAUSE_LATENCY);
    const double together = cycles_without(set, &plain, trial);

    CU_ASSERT(together < cycles_without(WITHOUT(CAUSE_DIVERGENCE), &plain, trial));
    CU_ASSERT(together < cycles_without(WITHOUT(CAUSE_LATENCY), &plain, trial));
}

static void names_of_causes(void)
{
    CauseSet set;

    CU_ASSERT_TRUE(causes_read("tail", &set));
    CU_ASSERT_EQUAL(set, WITHOUT(CAUSE_TAIL));
    CU_ASSERT_TRUE(causes_read("conflicts,occupancy", &set));
    CU_ASSERT_EQUAL(set, WITHOUT(CAUSE_CONFLICTS) | WITHOUT(CAUSE_OCCUPANCY));
    CU_ASSERT_FALSE(causes_read("", &set));
    CU_ASSERT_FALSE(causes_read("tail,", &set));
    CU_ASSERT_FALSE(causes_read("tails", &set));
}

static CU_TestInfo tests[] = {
    { "bank conflicts", conflicts },
    { "extra sectors of loads", sectors },
    { "extra sectors of stores", sectors_of_stores },
    { "requests of stores", requests_of_stores },
    { "idle lanes", idle_lanes },
    { "the data of idle lanes stays", idle_lanes_load_their_data },
    { "latency of arithmetic", latency },
    { "latency that the machine code waits for", latency_in_the_code },
    { "latency of memory", latency_of_memory },
    { "the tail", tail },
    { "occupancy", occupancy },
    { "nothing to remove", nothing_to_remove },
    { "several causes at once", several_at_once },
    { "names of causes", names_of_causes },
    CU_TEST_INFO_NULL,
};

CU_SuiteInfo test_sim_what_if = { "test_sim_what_if", NULL, NULL, NULL, NULL, tests };
