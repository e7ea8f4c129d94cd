/* test_sim_time_ptxas.c - what the timing model knows about ptxas: the order of independent chains,
 * additions on two pipes, values that all lanes share, logic of three inputs, loads of neighbouring
 * words. */
#include "sim/sim_time.h"

/* ---- Independent chains (sim/time/order.c) ---- */

#define CHAIN(f) "fma.rn.f32 " f ", " f ", %f2, %f3;\n"
#define FOUR(f)  CHAIN(f) CHAIN(f) CHAIN(f) CHAIN(f)

/* For one warp; the latency is 5 cycles. */
static const struct {
    const char *round;
    int cycles;
} chains[] = {
    { FOUR("%f1"), 20 },
    { FOUR("%f1") FOUR("%f4"), 20 },
    { FOUR("%f1") FOUR("%f4") FOUR("%f5") FOUR("%f6") FOUR("%f7"), 20 },
    { FOUR("%f1") FOUR("%f4") FOUR("%f5") FOUR("%f6") FOUR("%f7") FOUR("%f0"), 24 },
    /* Each instruction needs the previous one. */
    { CHAIN("%f1") "fma.rn.f32 %f4, %f1, %f2, %f3;\nfma.rn.f32 %f1, %f4, %f2, %f3;\n", 15 },
};

static void chains_take_turns(void)
{
    for (size_t i = 0; i < sizeof chains / sizeof *chains; i++) {
        const double few = cycles(repeat("", chains[i].round, 2, ""), 32);
        const double more = cycles(repeat("", chains[i].round, 12, ""), 32);

        CU_ASSERT_DOUBLE_EQUAL((more - few) / 10, chains[i].cycles, 0.2);
    }
}

#define SHARED_AT(scale)                                                                           \
    ".shared .align 4 .b8 s[40000];\nmov.u32 %r10, s;\n"                                           \
    "mul.lo.u32 %r11, %r1, " scale ";\nadd.u32 %r12, %r10, %r11;\n"
#define LOAD "ld.shared.u32 %r13, [%r12];\n"

/* Independent steps move up to fill the wait for a load; the load itself stays in its PTX position.
 */
static void loads_stay_behind_what_is_before_them(void)
{
    static const char use[] = "add.u32 %r14, %r13, %r13;\n";
    char before[TEXT], after[TEXT];

    snprintf(before, sizeof before, "%s", repeat(SHARED_AT("4") LOAD, CHAIN("%f1"), 20, use));
    snprintf(after, sizeof after, "%s",
             repeat(SHARED_AT("4"), CHAIN("%f1"), 20, LOAD "add.u32 %r14, %r13, %r13;\n"));
    CU_ASSERT(cycles(after, 32) - cycles(before, 32) >= plain.shared_latency - plain.alu_latency);
}

/* In PTX order, the chain would begin only after the load. */
static void what_need_not_wait_goes_before(void)
{
    char first[TEXT], last[TEXT];

    snprintf(first, sizeof first, "%s",
             repeat(SHARED_AT("4") LOAD "add.u32 %r14, %r13, %r13;\n", CHAIN("%f1"), 40, ""));
    snprintf(last, sizeof last, "%s",
             repeat(SHARED_AT("4") LOAD, CHAIN("%f1"), 40, "add.u32 %r14, %r13, %r13;\n"));
    CU_ASSERT_DOUBLE_EQUAL(cycles(first, 32), cycles(last, 32), plain.alu_latency);
}

/* ---- Pipes (sim/machine/operations.c, sim/machine/uniform.c) ---- */

enum { WARPS = 15, ROUNDS = 100 };

#define XOR "xor.b32 %r21, %r21, %r1;\n"
#define ADD "add.u32 %r22, %r22, %r1;\n"
/* The same with values that all lanes share. */
#define XOR_ALL "xor.b32 %r23, %r23, %r4;\n"
#define ADD_ALL "add.u32 %r24, %r24, %r3;\n"
#define FIRST   "mov.u32 %r23, 7;\nmov.u32 %r24, %r4;\n"
/* Local memory, and a function parameter that does not fit into registers. */
#define OWN   ".local .align 16 .b8 own[64];\nmov.u64 %rd9, own;\n"
#define LARGE ".param .align 8 .b8 large[64];\n"
#define FMA   "fma.rn.f32 %f1, %f1, %f2, %f2;\n"

/* Instructions of two pipes cannot be interleaved without gaps: at most a third more cycles. */
static const struct {
    const char *before, *round;
    int wide, narrow; /* cycles per warp: with FP32 twice as wide as integers, or equally wide */
} pipes[] = {
    { "", XOR XOR, 4, 4 },
    { "", ADD ADD, 2, 2 },
    { "", "sub.s32 %r22, %r22, %r1;\n" ADD, 2, 2 },
    { "", XOR ADD, 2, 2 },
    { "", XOR ADD ADD ADD, 4, 4 },
    { "", "mul.lo.u32 %r22, %r22, %r1;\n" ADD, 2, 2 },
    { "", "mul.lo.u32 %r22, %r22, %r1;\n" XOR FMA FMA, 4, 6 },
    { "", "mul.lo.u32 %r22, %r22, %r1;\n" FMA FMA, 3, 6 },
    { "", ADD ADD FMA FMA, 4, 4 },
    /* LEA. */
    { "", "shl.b32 %r20, %r1, 2;\nadd.u32 %r21, %r20, %r21;\n" XOR, 4, 4 },
    { "", "add.s64 %rd9, %rd9, %rd2;\n", 4, 4 },
    { FIRST, XOR_ALL XOR_ALL, 2, 2 },
    { FIRST, XOR_ALL ADD_ALL XOR, 3, 3 },
    { "mov.b64 %rd9, %rd1;\n", "add.s64 %rd9, %rd9, %rd1;\n", 2, 2 },
    /* An unwritten register: its value is unknown. */
    { FIRST, "xor.b32 %r25, %r26, %r4;\nxor.b32 %r27, %r26, %r3;\n", 4, 4 },
    /* A value that differs between lanes is an input, also through another register. */
    { FIRST "mov.u32 %r23, %r1;\n", XOR_ALL XOR_ALL, 4, 4 },
    { FIRST "add.u32 %r25, %r1, 1;\nxor.b32 %r23, %r23, %r25;\n", XOR_ALL XOR_ALL, 4, 4 },
    { FIRST "setp.eq.u32 %p1, %r1, 7;\n@%p1 mov.u32 %r23, 1;\n", XOR_ALL XOR_ALL, 4, 4 },
    { FIRST "setp.eq.u32 %p1, %r3, 7;\n@%p1 mov.u32 %r23, 1;\n", XOR_ALL XOR_ALL, 2, 2 },
    /* Lanes have diverged where the value is written; all lanes are converged, or the others ended.
     */
    { FIRST "setp.eq.u32 %p1, %r1, 7;\n@%p1 bra past;\nmov.u32 %r23, 1;\npast:\n", XOR_ALL XOR_ALL,
      4, 4 },
    { FIRST "setp.eq.u32 %p1, %r3, 7;\n@%p1 bra past;\nmov.u32 %r23, 1;\npast:\n", XOR_ALL XOR_ALL,
      2, 2 },
    /* The same after an inner if and its else, which is analysed first. */
    { FIRST "mov.u32 %r26, 3;\nsetp.eq.u32 %p1, %r26, 7;\n@%p1 bra past;\n"
            "setp.eq.u32 %p2, %r1, 7;\n@%p2 bra other;\nmov.u32 %r25, 1;\nbra.uni both;\n"
            "other:\nmov.u32 %r25, 2;\nboth:\nmov.u32 %r23, 1;\npast:\nmov.u32 %r26, %r1;\n",
      XOR_ALL XOR_ALL, 4, 4 },
    { "setp.gt.u32 %p1, %r1, 5000;\n@%p1 bra gone;\nbra.uni on;\ngone:\nret;\non:\n" FIRST,
      XOR_ALL XOR_ALL, 2, 2 },
    /* Local memory: one word per lane and cycle of the SM, which has four schedulers. The model
     * once counted 16 bytes as one word, and every parameter as a register. */
    { OWN, "ld.local.u32 %r20, [%rd9];\nld.local.u32 %r21, [%rd9 + 4];\n", 8, 8 },
    { OWN, "ld.local.v4.u32 {%r20, %r21, %r22, %r23}, [%rd9];\n", 16, 16 },
    /* Two lines per warp, written through to the L2. */
    { OWN, "st.local.v2.u32 [%rd9], {%r1, %r2};\n", 32, 32 },
    { "", XOR XOR "ld.param.u64 %rd9, [out];\n", 4, 4 },
    { LARGE, XOR XOR "st.param.u32 [large + 4], %r1;\n", 6, 6 },
    /* Comparisons are executed per lane. */
    { FIRST, "setp.eq.u32 %p1, %r24, 7;\n" XOR, 4, 4 },
};

static double cycles_of_round(const Device *device, const char *before, const char *round)
{
    Trial few = { .ptx = repeat(before, round, 20, ""),
                  .threads = WARPS * 2 * 32,
                  .blocks = 2,
                  .blocks_an_sm = 2 };
    Trial more = few;

    more.ptx = repeat(before, round, 20 + ROUNDS, "");
    return (play(device, more).cycles - play(device, few).cycles) / (WARPS * ROUNDS);
}

static bool is_about(double took, int cycles)
{
    return took > cycles - 0.1 && took < cycles * 4 / 3.0 + 0.1;
}

static void instructions_take_their_pipes(void)
{
    Device wide = plain, narrow = plain;

    wide.int_lanes = narrow.int_lanes = narrow.fp32_lanes = 64;
    for (size_t i = 0; i < sizeof pipes / sizeof *pipes; i++) {
        const double of_wide = cycles_of_round(&wide, pipes[i].before, pipes[i].round);
        const double of_narrow = cycles_of_round(&narrow, pipes[i].before, pipes[i].round);

        const bool well = is_about(of_wide, pipes[i].wide) && is_about(of_narrow, pipes[i].narrow);
        if (!well)
            printf("\n    %s%stake %g and %g cycles, not %d and %d\n", pipes[i].before,
                   pipes[i].round, of_wide, of_narrow, pipes[i].wide, pipes[i].narrow);
        CU_ASSERT_TRUE(well);
    }
}

/* ---- Logic (ptxas_logic.c) ---- */

static const struct {
    const char *text;
    int instructions;
} logic[] = {
    { "xor.b32 %r20, %r1, %r2;\nand.b32 %r21, %r20, %r6;\n", 1 },
    { "not.b32 %r20, %r1;\nand.b32 %r21, %r20, %r6;\n", 1 },
    { "xor.b32 %r20, %r1, %r2;\nxor.b32 %r21, %r6, %r1;\nor.b32 %r22, %r20, %r21;\n", 1 },
    { "and.b32 %r20, %r1, %r2;\nand.b32 %r21, %r1, %r6;\nand.b32 %r22, %r2, %r6;\n"
      "or.b32 %r23, %r20, %r21;\nor.b32 %r24, %r23, %r22;\n",
      1 },
    /* Four inputs; a constant counts as one. */
    { "xor.b32 %r20, %r1, %r2;\nxor.b32 %r21, %r20, %r6;\nand.b32 %r22, %r21, %r3;\n", 2 },
    { "xor.b32 %r20, %r1, %r2;\nand.b32 %r21, %r20, 255;\nor.b32 %r22, %r21, 7;\n", 2 },
    { "xor.b32 %r20, %r1, 255;\nand.b32 %r21, %r20, 255;\nor.b32 %r22, %r21, 7;\n", 1 },
    /* Only one of two pairs fits. */
    { "xor.b32 %r20, %r1, %r2;\nxor.b32 %r21, %r6, %r3;\nor.b32 %r22, %r20, %r21;\n", 2 },
    /* A result with two readers; under a predicate; with another reader; in two registers. */
    { "xor.b32 %r20, %r1, %r2;\nand.b32 %r21, %r20, %r6;\nor.b32 %r22, %r20, %r1;\n", 3 },
    { "setp.eq.u32 %p1, %r1, 7;\n@%p1 xor.b32 %r20, %r1, %r2;\nand.b32 %r21, %r20, %r6;\n", 3 },
    { "xor.b32 %r20, %r1, %r2;\nadd.u32 %r21, %r20, %r6;\n", 2 },
    /* This also counts the multiplication for %rd2, which is now used for more than an address. */
    { "xor.b64 %rd10, %rd2, %rd3;\nand.b64 %rd11, %rd10, %rd1;\n", 5 },
};

static void logic_of_three_words_is_one_instruction(void)
{
    const Trial none = { .ptx = repeat("", "", 0, "") };
    const uint64_t before = play(&plain, none).instructions;

    for (size_t i = 0; i < sizeof logic / sizeof *logic; i++) {
        const Trial trial = { .ptx = repeat("", logic[i].text, 1, "") };
        const uint64_t more = play(&plain, trial).instructions - before;

        if (more != (uint64_t) logic[i].instructions)
            printf("\n    %sare %d instructions, not %d\n", logic[i].text, (int) more,
                   logic[i].instructions);
        CU_ASSERT_EQUAL(more, (uint64_t) logic[i].instructions);
    }
}

/* An absorbed step still waits for its inputs. */
static void logic_waits_for_its_words(void)
{
    static const char chain[] = "xor.b32 %r20, %r1, %r13;\nand.b32 %r21, %r20, %r6;\n"
                                "add.u32 %r0, %r21, 1;\n";
    const double with = cycles(repeat(SHARED_AT("4") LOAD, "", 0, chain), 32);
    const double without = cycles(repeat(SHARED_AT("4") LOAD, "", 0, ""), 32);

    CU_ASSERT(with - without > plain.shared_latency);
}

/* ---- Merged loads (sim/machine/merge.c) ---- */

#define WORD(n, at) "ld.shared.u32 %r" #n ", [%r12+" #at "];\n"

static const struct {
    const char *before, *loads;
    int wavefronts; /* per warp */
} merged[] = {
    /* All lanes at one address. */
    { SHARED_AT("0"), WORD(20, 0), 1 },
    { SHARED_AT("0"), WORD(20, 0) WORD(21, 4), 1 },
    { SHARED_AT("0"), WORD(20, 0) WORD(21, 4) WORD(22, 8) WORD(23, 12), 2 },
    { SHARED_AT("0"), WORD(20, 12) WORD(21, 4) WORD(22, 0) WORD(23, 8), 2 },
    { SHARED_AT("0"), WORD(20, 4) WORD(21, 8) WORD(22, 12) WORD(23, 16), 3 },
    { SHARED_AT("0"), WORD(20, 4) WORD(21, 8), 2 },
    { SHARED_AT("0") "add.u32 %r13, %r12, 16;\n",
      "ld.shared.u32 %r20, [%r13+-8];\nld.shared.u32 %r21, [%r13+-4];\n", 1 },
    { SHARED_AT("0") "add.u32 %r13, %r12, 20;\n",
      "ld.shared.u32 %r20, [%r13+-8];\nld.shared.u32 %r21, [%r13+-4];\n", 2 },
    /* Lanes are 16 bytes apart, so that one word per lane uses every fourth bank. */
    { SHARED_AT("16"), WORD(20, 0), 4 },
    { SHARED_AT("16"), WORD(20, 0) WORD(21, 4) WORD(22, 8) WORD(23, 12), 4 },
    /* Alignment to 8 bytes: pairs. To 4 bytes, or unknown: no merging. */
    { SHARED_AT("8"), WORD(20, 0) WORD(21, 4) WORD(22, 8) WORD(23, 12), 4 },
    { SHARED_AT("4"), WORD(20, 0) WORD(21, 4) WORD(22, 8) WORD(23, 12), 4 },
    { SHARED_AT("0") "mul.lo.u32 %r12, %r0, %r3;\n", WORD(20, 0) WORD(21, 4), 2 },
    /* A step in between may change the memory, or be executed by only some lanes. */
    { SHARED_AT("0"), WORD(20, 0) "st.shared.u32 [%r10+32], %r2;\n" WORD(21, 4), 3 },
    { SHARED_AT("0"), WORD(20, 0) "bar.sync 0;\n" WORD(21, 4), 2 },
    { SHARED_AT("0"), WORD(20, 0) "setp.eq.u32 %p1, %r3, 7;\n@%p1 bra on;\n" WORD(21, 4) "on:\n",
      2 },
    { SHARED_AT("0"), WORD(20, 0) "on:\n" WORD(21, 4) "setp.eq.u32 %p1, %r3, 7;\n@%p1 bra on;\n",
      2 },
    { SHARED_AT("0"), WORD(20, 0) "st.global.u32 [%rd2], %r0;\n" WORD(21, 4), 1 },
    { SHARED_AT("0"), "ld.volatile.shared.u32 %r20, [%r12];\n" WORD(21, 4), 2 },
    { SHARED_AT("0") "setp.eq.u32 %p1, %r3, 0;\n", "@%p1 ld.shared.u32 %r20, [%r12];\n" WORD(21, 4),
      2 },
    /* A register that is written twice may hold either. */
    { SHARED_AT("0"), WORD(20, 0) WORD(20, 4), 2 },
};

static void neighbouring_words_are_one_load(void)
{
    for (size_t i = 0; i < sizeof merged / sizeof *merged; i++) {
        const char *text = repeat(merged[i].before, merged[i].loads, 1, "");
        const TimingResult time = play(&plain, (Trial){ .ptx = text, .threads = 64 });

        if (time.busy[AT_SHARED] != 2 * merged[i].wavefronts)
            printf("\n    %stake %g wavefronts of 2 warps, not %d\n", merged[i].loads,
                   time.busy[AT_SHARED], 2 * merged[i].wavefronts);
        CU_ASSERT_EQUAL(time.busy[AT_SHARED], 2 * merged[i].wavefronts);
    }
}

/* The wide load provides all of its words. */
static void each_word_is_there_after_the_load(void)
{
    static const char words[] = WORD(20, 0) WORD(21, 4) WORD(22, 8) WORD(23, 12);
    const double none = cycles(repeat(SHARED_AT("0"), words, 1, ""), 32);
    const double used = cycles(repeat(SHARED_AT("0"), words, 1, "add.u32 %r0, %r23, 1;\n"), 32);

    CU_ASSERT_DOUBLE_EQUAL(used - none, plain.shared_latency + plain.alu_latency, 3);
}

static CU_TestInfo tests[] = {
    { "chains are interleaved", chains_take_turns },
    { "loads stay after the steps before them", loads_stay_behind_what_is_before_them },
    { "steps that need not wait move up", what_need_not_wait_goes_before },
    { "instructions use their pipes", instructions_take_their_pipes },
    { "logic of three inputs is one instruction", logic_of_three_words_is_one_instruction },
    { "logic waits for its inputs", logic_waits_for_its_words },
    { "neighbouring words are one load", neighbouring_words_are_one_load },
    { "the merged load provides each word", each_word_is_there_after_the_load },
    CU_TEST_INFO_NULL,
};

CU_SuiteInfo test_sim_time_ptxas = { "sim_time_ptxas", NULL, NULL, NULL, NULL, tests };
