/* test_sim_time_sequences.c - barriers, votes of a block, divisions, operands of 64 bits, and
 * atomics that are loops. */
#include "sim/sim_machine.h"
#include "sim/sim_time.h"

/* ---- Barriers ---- */

#define ONLY_FIRST_WARP "setp.gt.u32 %p1, %r1, 31;\n@%p1 bra after;\n"

static void a_barrier_waits_for_the_last(void)
{
    char body[TEXT];

    snprintf(body, sizeof body, "%s",
             repeat(ONLY_FIRST_WARP, DEPENDENT, 100, "after:\nbar.sync 0;\n"));
    const double with = cycles(body, 64);
    snprintf(body, sizeof body, "%s", repeat(ONLY_FIRST_WARP, DEPENDENT, 100, "after:\n"));
    const double without = cycles(body, 64);

    /* The first warp arrives last, so it pays for the barrier; then both warps store immediately.
     */
    CU_ASSERT(with - without >= plain.barrier_latency);
    CU_ASSERT(with - without <= plain.barrier_latency + 8);
}

static void what_comes_after_a_barrier_waits_for_it(void)
{
    const double both = cycles(repeat("", DEPENDENT, 100,
                                      "bar.sync 0;\n"
                                      "setp.lt.u32 %p1, %r1, 32;\n@%p1 bra done;\n"
                                      "fma.rn.f32 %f1, %f1, %f2, %f3;\ndone:\n"),
                               64);
    const double least = 100 * plain.alu_latency + plain.barrier_latency;

    CU_ASSERT(both > least);
}

static void barriers_of_some_warps_end(void)
{
    const TimingResult result =
        play(&plain, (Trial){ .ptx = KERNEL("setp.gt.u32 %p1, %r1, 63;\n@%p1 bra other;\n"
                                            "bar.sync 1, 64;\nbar.sync 1, 64;\nbra.uni done;\n"
                                            "other:\nbar.sync 2, 64;\ndone:\n"),
                              .threads = 128 });

    CU_ASSERT(result.cycles > 0);
}

enum { FEW = 4, MANY = 24 };

/* The cycles of one of these lines, executed again and again by so many blocks of so many warps,
 * together on one SM. */
static double cycles_of_one(const Device *device, const char *line, int warps, int blocks)
{
    double took[2];

    for (int i = 0; i < 2; i++)
        took[i] =
            play(device,
                 (Trial){ .ptx = repeat("setp.gt.u32 %p1, %r1, 15;\n", line, i ? MANY : FEW, ""),
                          .threads = LANES * warps,
                          .blocks = blocks,
                          .blocks_an_sm = blocks })
                .cycles;
    return (took[1] - took[0]) / (MANY - FEW);
}

/* A barrier took as long as if its block were alone on the SM: 40 cycles for 64 warps in blocks of
 * any size, for which an H100 needs 132. 32 blocks of one warp take 96 (barrier.sync.1.32 in
 * tests/sim/time/mechanisms). */
static void all_blocks_share_the_unit_for_barriers(void)
{
    static const struct {
        int warps, blocks, cycles;
    } rows[] = {
        { 1, 1, 11 + 3 }, { 8, 1, 11 + 2 * 8 },     { 32, 1, 11 + 2 * 32 },
        { 1, 4, 11 + 3 }, { 8, 2, 11 + 2 * 8 + 2 }, { 8, 8, 128 },
        { 16, 4, 128 },   { 32, 2, 128 },           { 1, 32, 96 },
    };
    Device device = plain;

    device.barrier_warp_cycles = 2;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CU_ASSERT_DOUBLE_EQUAL(
            cycles_of_one(&device, "bar.sync 0;\n", rows[i].warps, rows[i].blocks), rows[i].cycles,
            4);
}

/* Votes with a predicate as result were no barriers in the model, since it took them for logic of
 * predicates: tails_halved, in tests/sim/blind, was at 0.55. */
static void a_vote_takes_longer_than_a_barrier(void)
{
    static const char *const votes[] = { "bar.red.or.pred %p2, 0, %p1;\n",
                                         "bar.red.popc.u32 %r7, 0, %p1;\n" };
    Device device = plain;

    device.barrier_warp_cycles = 2;
    device.vote_latency = 70;
    for (size_t i = 0; i < sizeof votes / sizeof *votes; i++) {
        CU_ASSERT_DOUBLE_EQUAL(cycles_of_one(&device, votes[i], 1, 1), 11 + 2 + 2 + 70, 4);
        CU_ASSERT_DOUBLE_EQUAL(cycles_of_one(&device, votes[i], 8, 8), 2 * 128, 8);
    }
}

/* ---- Divisions ---- */

enum { N = 7 };

#define LONG_OPERANDS  "cvt.u64.u32 %rd10, %r1;\nnot.b64 %rd11, %rd10;\ncvt.u64.u32 %rd12, %r3;\n"
#define LONG_RESULT    "cvt.u32.u64 %r0, %rd11;\n"
#define LONG_REMAINDER "rem.u64 %rd11, %rd11, %rd12;\nnot.b64 %rd11, %rd11;\n"

/* A subroutine's instructions wait for each other, so an H100 needs 362 cycles for one in a loop,
 * not the 120 in which they occupy a pipe (tests/sim/time/mechanisms, quotient.rem_u64). Pollard's
 * rho was at 0.49. */
static void quotients_of_64_bits_wait_for_a_subroutine(void)
{
    double one, two;

    if (!machine_cycles(N, &plain, KERNEL(LONG_OPERANDS LONG_REMAINDER LONG_RESULT), &one))
        return;
    CU_ASSERT_FATAL(machine_cycles(
        N, &plain, KERNEL(LONG_OPERANDS LONG_REMAINDER LONG_REMAINDER LONG_RESULT), &two));
    CU_ASSERT(two - one > 200 && two - one < 350);
}

/* Instructions behind the call wait until it returns, also those that do not need the quotient. */
static void a_load_does_not_pass_a_call(void)
{
    double without, with;

    if (!machine_cycles(N, &plain, KERNEL(LONG_OPERANDS LONG_REMAINDER LONG_RESULT), &without))
        return;
    CU_ASSERT_FATAL(machine_cycles(N, &plain,
                                   KERNEL(LONG_OPERANDS LONG_REMAINDER LONG_RESULT
                                          "ld.global.u32 %r13, [%rd1+256];\n"
                                          "add.u32 %r0, %r0, %r13;\n"),
                                   &with));
    CU_ASSERT(with - without > plain.memory_latency);
}

/* Calls of functions took as long as two branches: 44 cycles of a warp in a loop, for which an H200
 * needs 97, and 61 for 156 through a pointer (tests/sim/time/mechanisms, call). */
static void returns_and_pointers_take_longer(void)
{
    static const char function[] =
        ".visible .func (.param .b32 q) twice(.param .b32 p)\n{\n.reg .b32 %a<4>;\n"
        "ld.param.b32 %a1, [p];\nadd.u32 %a2, %a1, %a1;\nst.param.b32 [q], %a2;\nret;\n}\n";
    static const char call[] = "{\n.param .b32 p0;\nst.param.b32 [p0+0], %%r1;\n.param .b32 q;\n"
                               "%scall.uni (q), %s, (p0)%s;\nld.param.b32 %%r1, [q+0];\n}\n";
    static const struct {
        const char *before, *target, *after;
        double more; /* for each of 10 calls */
    } rows[] = {
        { "", "twice", "", 40 },
        { "p: .callprototype (.param .b32 _) _ (.param .b32 _);\n", "%rd11", ", p", 40 + 30 },
    };
    Device longer = plain;

    longer.return_latency = 40;
    longer.indirect_latency = 30;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char one[400], ptx[8000] = HEAD;
        snprintf(one, sizeof one, call, rows[i].before, rows[i].target, rows[i].after);
        strcat(strcat(strcat(ptx, function), BEGIN), "mov.u64 %rd11, twice;\n");
        for (int k = 0; k < 10; k++)
            strcat(ptx, one);
        strcat(ptx, "mov.u32 %r0, %r1;\n" END);
        CU_ASSERT_DOUBLE_EQUAL(play(&longer, (Trial){ .ptx = ptx }).cycles -
                                   play(&plain, (Trial){ .ptx = ptx }).cycles,
                               10 * rows[i].more, 10);
    }
}

/* The reciprocal of a divisor that a loop does not change is in front of the loop. The model took
 * that place for the loop's body, of which it then knew nothing. */
static void a_loop_divides_by_a_number_from_before(void)
{
    Sample known;

    if (!know(KERNEL("mov.u32 %r7, %r1;\nmov.u32 %r8, 0;\nROUND:\nrem.u32 %r9, %r7, %r3;\n"
                     "xor.b32 %r7, %r9, 0x7654321;\nadd.u32 %r8, %r8, 1;\n"
                     "setp.lt.u32 %p1, %r8, %r5;\n@%p1 bra ROUND;\nmov.u32 %r0, %r7;\n"),
              90, &known))
        return;
    const int of_rem = step_of(&known, OP_rem, 0)->block;
    CU_ASSERT_TRUE(of_rem >= 0 && known.lowering->blocks[of_rem].taken == of_rem);
    forget(&known);
}

/* Of fractions one after the other, the second one's instructions are in the block after the first
 * one's call, which looked like a part of the long way: they had no cycles then (pi_double). */
static void fractions_follow_each_other(void)
{
    Sample known;

    if (!know(KERNEL("cvt.rn.f64.u32 %fd1, %r1;\ncvt.rn.f64.u32 %fd2, %r3;\n"
                     "div.rn.f64 %fd3, %fd1, %fd2;\ndiv.rn.f64 %fd4, %fd3, %fd1;\n"
                     "div.rn.f64 %fd5, %fd4, %fd3;\ncvt.rzi.u32.f64 %r0, %fd5;\n"),
              90, &known))
        return;
    for (int i = 0; i < 3; i++) {
        const MachineSequence *sequence = &step_of(&known, OP_div, i)->sequence;
        CU_ASSERT_TRUE(sequence->issues >= 12 && sequence->issues <= 20);
        CU_ASSERT_TRUE(sequence->fp64 >= 7 && sequence->fp64 <= 10);
        CU_ASSERT_TRUE(sequence->stalls > 70 && sequence->stalls < 140);
    }
    forget(&known);
}

/* ---- Operands of 64 bits ---- */

#define SUM(to, a, b) "fma.rn.f64 " to ", " a ", " b ", " to ";\n"
#define FOUR_SUMS                                                                                  \
    SUM("%fd0", "%fd4", "%fd5")                                                                    \
    SUM("%fd1", "%fd6", "%fd7")                                                                    \
    SUM("%fd2", "%fd5", "%fd6") SUM("%fd3", "%fd7", "%fd4")

static const char sums[] =
    KERNEL("cvt.rn.f64.u32 %fd4, %r1;\ncvt.rn.f64.u32 %fd5, %r2;\ncvt.rn.f64.u32 %fd6, %r3;\n"
           "cvt.rn.f64.u32 %fd7, %r5;\nmov.f64 %fd0, %fd4;\nmov.f64 %fd1, %fd5;\n"
           "mov.f64 %fd2, %fd6;\nmov.f64 %fd3, %fd7;\n" FOUR_SUMS FOUR_SUMS FOUR_SUMS FOUR_SUMS
               FOUR_SUMS FOUR_SUMS FOUR_SUMS FOUR_SUMS "add.f64 %fd0, %fd0, %fd1;\n"
           "add.f64 %fd2, %fd2, %fd3;\nadd.f64 %fd0, %fd0, %fd2;\ncvt.rzi.u32.f64 %r0, %fd0;\n");

/* An H100 takes 3 cycles for a DFMA that reads three new operands, not the 2 of its pipe
 * (tests/sim/time/mechanisms, reads.DFMA.3). Quotients of doubles were at 0.7. */
static void a_sum_of_doubles_reads_six_words(void)
{
    Device narrow = plain, wide = plain;
    double took, at_least;

    narrow.fp64_lanes = wide.fp64_lanes = 128;
    narrow.fp64_latency = wide.fp64_latency = 4;
    narrow.register_reads = 2;
    wide.register_reads = 6;
    if (!machine_cycles(N, &wide, sums, &at_least))
        return;
    CU_ASSERT_FATAL(machine_cycles(N, &narrow, sums, &took));
    CU_ASSERT(took - at_least > 8); /* not 32: ptxas stalls the warp, and has operands reused */
}

/* ---- Atomics on shared memory ---- */

/* The cycles of one atomic by so many warps, whose lane n updates word n modulo `words`. */
static double cycles_of_atomic(const char *operation, const char *from, int words, int warps)
{
    char before[300], update[100];
    double took[2];

    snprintf(before, sizeof before,
             ".shared .align 8 .b8 s[512];\nmov.u32 %%r10, s;\nand.b32 %%r11, %%r2, %d;\n"
             "shl.b32 %%r11, %%r11, 3;\nadd.u32 %%r12, %%r10, %%r11;\n",
             words - 1);
    snprintf(update, sizeof update, "atom.shared.%s, [%%r12], %s;\n", operation, from);
    for (int i = 0; i < 2; i++)
        took[i] = cycles(repeat(before, update, i ? MANY : FEW, ""), LANES * warps);
    return (took[1] - took[0]) / (MANY - FEW);
}

/* The loops that ptxas makes of these atomics were as fast as their accesses: for one word that 16
 * warps update, an H200 needs 8 times as long (tests/sim/time/mechanisms, shared_f32.lanes.1). */
static void loops_of_atomics_update_a_word_at_a_time(void)
{
    const double one = plain.shared_update_cycles;

    CU_ASSERT_DOUBLE_EQUAL(cycles_of_atomic("add.f32 %f1", "%f2", 1, 1), 32 * one, one);
    CU_ASSERT_DOUBLE_EQUAL(cycles_of_atomic("add.f32 %f1", "%f2", 1, 4), 4 * 32 * one, one);
    CU_ASSERT_DOUBLE_EQUAL(cycles_of_atomic("add.f32 %f1", "%f2", 8, 4), 4 * 4 * one, one);
    CU_ASSERT_DOUBLE_EQUAL(cycles_of_atomic("add.f32 %f1", "%f2", 8, 1), 4 * one, one);
    CU_ASSERT(cycles_of_atomic("add.u32 %r13", "%r2", 8, 1) < 2 * one); /* the hardware has it */
    /* All lanes but the one with the maximum leave the word as it is. */
    CU_ASSERT(cycles_of_atomic("max.u64 %rd10", "%rd2", 1, 4) < 4 * 32 * one / 2);
}

static CU_TestInfo tests[] = {
    { "a barrier waits for the last", a_barrier_waits_for_the_last },
    { "steps after a barrier wait for it", what_comes_after_a_barrier_waits_for_it },
    { "barriers of some warps end", barriers_of_some_warps_end },
    { "all blocks share the unit for barriers", all_blocks_share_the_unit_for_barriers },
    { "a vote takes longer than a barrier", a_vote_takes_longer_than_a_barrier },
    { "returns and pointers take longer", returns_and_pointers_take_longer },
    { "quotients of 64 bits wait for a subroutine", quotients_of_64_bits_wait_for_a_subroutine },
    { "a load does not pass a call", a_load_does_not_pass_a_call },
    { "a loop divides by a number from before", a_loop_divides_by_a_number_from_before },
    { "fractions follow each other", fractions_follow_each_other },
    { "a sum of doubles reads six words", a_sum_of_doubles_reads_six_words },
    { "loops of atomics update a word at a time", loops_of_atomics_update_a_word_at_a_time },
    CU_TEST_INFO_NULL,
};

CU_SuiteInfo test_sim_time_sequences = { "test_sim_time_sequences", NULL, NULL, NULL, NULL, tests };
