/* test_sim_exec.c - how warps run: branches, calls, barriers, printf, and what is told of kernels
 * that do not end. */
#include "sim_launch.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- What each thread stores, against a closed form ---- */

static uint32_t fib(uint32_t n)
{
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

static uint32_t collatz(uint32_t n)
{
    uint32_t steps = 0;

    for (; n > 1; steps++)
        n = n & 1 ? 3 * n + 1 : n / 2;
    return steps;
}

static uint32_t want_if(uint32_t t)
{
    return t & 1 ? 100 + t : 200 + t;
}

static uint32_t want_nested(uint32_t t)
{
    return (t & 1 ? (t & 2 ? 3u : 1u) : (t & 4 ? 4u : 0u)) + 10;
}

static uint32_t want_loop(uint32_t t)
{
    return t * (t + 1) / 2 + 1000;
}

static uint32_t want_break(uint32_t t)
{
    uint32_t sum = 0;

    for (uint32_t i = 0; i < 40; i++) {
        if (i == t)
            break;
        if (i % 3 == t % 3)
            continue;
        sum += i;
    }
    return sum * 2;
}

static uint32_t want_early(uint32_t t)
{
    return t < 5 ? 7 : t & 1 ? 0 : t;
}

static uint32_t want_switch(uint32_t t)
{
    static const uint32_t values[] = { 11, 22, 33, 44 };

    return values[t % 4] + 1;
}

static uint32_t want_fib(uint32_t t)
{
    return fib(t % 9);
}

static uint32_t want_pointer(uint32_t t)
{
    return t & 2 ? t * 3 : t + 50;
}

static uint32_t want_early_callee(uint32_t t)
{
    return (t < 8 ? 1 : t < 16 ? 2 : 3 * t) + 1;
}

static uint32_t want_special(uint32_t t)
{
    return t + 32 * 100 + (1u << t % 32) + 4;
}

static uint32_t want_local(uint32_t t)
{
    return fib(t % 5 + 1) * 10 + t % 5;
}

static uint32_t want_thread(uint32_t t)
{
    return t;
}

static uint32_t want_collatz(uint32_t t)
{
    return collatz(t + 1);
}

#define FIB                                                                                        \
    ".func (.param .b32 r) fib(.param .b32 a)\n{\n.reg .pred %p<2>;\n.reg .b32 %r<9>;\n"           \
    "ld.param.u32 %r8, [a];\nsetp.lt.s32 %p1, %r8, 2;\n@%p1 bra L2;\nadd.s32 %r4, %r8, -1;\n"      \
    "{\n.param .b32 p0;\nst.param.b32 [p0+0], %r4;\n.param .b32 q;\n"                              \
    "call.uni (q), fib, (p0);\nld.param.b32 %r5, [q+0];\n}\nadd.s32 %r6, %r8, -2;\n"               \
    "{\n.param .b32 p0;\nst.param.b32 [p0+0], %r6;\n.param .b32 q;\n"                              \
    "call.uni (q), fib, (p0);\nld.param.b32 %r7, [q+0];\n}\nadd.s32 %r8, %r7, %r5;\n"              \
    "L2:\nst.param.b32 [r+0], %r8;\nret;\n}\n"
#define CALL(function, argument, result)                                                           \
    "{\n.param .b32 p0;\nst.param.b32 [p0+0], " argument                                           \
    ";\n.param .b32 q;\ncall.uni (q), " function ", (p0);\nld.param.b32 " result ", [q+0];\n}\n"

static const struct Form {
    const char *name, *ptx;
    uint32_t (*want)(uint32_t thread);
} forms[] = {
    { "if and else",
      KERNEL("and.b32 %r10, %r1, 1;\nsetp.eq.s32 %p1, %r10, 1;\n@%p1 bra ODD;\nadd.s32 %r0, %r1, "
             "200;\n"
             "bra.uni DONE;\nODD: add.s32 %r0, %r1, 100;\nDONE:\n"),
      want_if },
    { "nested",
      KERNEL("and.b32 %r10, %r1, 1;\nsetp.ne.s32 %p1, %r10, 0;\nand.b32 %r11, %r1, 2;\n"
             "setp.ne.s32 %p2, %r11, 0;\nand.b32 %r12, %r1, 4;\nsetp.ne.s32 %p3, %r12, 0;\n"
             "@!%p1 bra EVEN;\nmov.u32 %r0, 1;\n@!%p2 bra JOIN;\nmov.u32 %r0, 3;\nbra JOIN;\n"
             "EVEN: @!%p3 bra JOIN;\nmov.u32 %r0, 4;\nJOIN: add.s32 %r0, %r0, 10;\n"),
      want_nested },
    { "a loop of different lengths",
      KERNEL("mov.u32 %r10, 0;\nLOOP: setp.ge.u32 %p1, %r10, %r1;\n@%p1 bra OUT;\n"
             "add.s32 %r10, %r10, 1;\nadd.s32 %r0, %r0, %r10;\nbra LOOP;\nOUT: add.s32 %r0, %r0, "
             "1000;\n"),
      want_loop },
    { "break and continue",
      KERNEL("mov.u32 %r10, 0;\nrem.u32 %r12, %r1, 3;\nLOOP: setp.eq.u32 %p1, %r10, %r1;\n@%p1 bra "
             "OUT;\n"
             "rem.u32 %r11, %r10, 3;\nsetp.eq.u32 %p2, %r11, %r12;\n@%p2 bra NEXT;\n"
             "add.s32 %r0, %r0, %r10;\nNEXT: add.s32 %r10, %r10, 1;\nsetp.lt.u32 %p3, %r10, 40;\n"
             "@%p3 bra LOOP;\nOUT: shl.b32 %r0, %r0, 1;\n"),
      want_break },
    { "early returns",
      KERNEL(
          "setp.lt.u32 %p1, %r1, 5;\n@!%p1 bra LATE;\nmov.u32 %r0, 7;\nst.global.u32 [%rd2], %r0;\n"
          "ret;\nLATE: and.b32 %r10, %r1, 1;\nsetp.eq.u32 %p2, %r10, 1;\n@%p2 exit;\nmov.u32 %r0, "
          "%r1;\n"),
      want_early },
    { "brx.idx",
      KERNEL(
          "and.b32 %r10, %r1, 3;\nTABLE: .branchtargets A, B, C, D;\nbrx.idx %r10, TABLE;\n"
          "A: mov.u32 %r0, 11;\nbra J;\nB: mov.u32 %r0, 22;\nbra J;\nC: mov.u32 %r0, 33;\nbra J;\n"
          "D: mov.u32 %r0, 44;\nJ: add.s32 %r0, %r0, 1;\n"),
      want_switch },
    { "recursion, each lane as deep as it must",
      HEAD FIB BEGIN "rem.u32 %r10, %r1, 9;\n" CALL("fib", "%r10", "%r0") END, want_fib },
    { "calls through a table",
      HEAD ".func (.param .b32 r) f(.param .b32 a)\n{\n.reg .b32 %r<4>;\nld.param.u32 %r1, [a];\n"
           "add.s32 %r1, %r1, 50;\nst.param.b32 [r+0], %r1;\nret;\n}\n"
           ".func (.param .b32 r) g(.param .b32 a)\n{\n.reg .b32 %r<4>;\nld.param.u32 %r1, [a];\n"
           "mul.lo.s32 %r1, %r1, 3;\nst.param.b32 [r+0], %r1;\nret;\n}\n"
           ".global .align 8 .u64 table[2] = {f, g};\n" BEGIN
           "shr.u32 %r10, %r1, 1;\nand.b32 %r10, %r10, 1;\nmul.wide.u32 %rd10, %r10, 8;\n"
           "mov.u64 %rd11, table;\nadd.s64 %rd11, %rd11, %rd10;\nld.global.u64 %rd12, [%rd11];\n"
           "{\n.param .b32 p0;\nst.param.b32 [p0+0], %r1;\n.param .b32 q;\n"
           "proto: .callprototype (.param .b32 _) _ (.param .b32 _);\n"
           "call (q), %rd12, (p0), proto;\nld.param.b32 %r0, [q+0];\n}\n" END,
      want_pointer },
    { "a function that lanes leave at different times",
      HEAD ".func (.param .b32 r) f(.param .b32 a)\n{\n.reg .pred %p<4>;\n.reg .b32 %r<4>;\n"
           "ld.param.u32 %r1, [a];\nmov.u32 %r2, 1;\nst.param.b32 [r+0], %r2;\n"
           "setp.lt.u32 %p1, %r1, 8;\n@%p1 ret;\nsetp.ge.u32 %p2, %r1, 16;\n@%p2 bra L;\n"
           "mov.u32 %r2, 2;\nst.param.b32 [r+0], %r2;\nret;\n"
           "L: mul.lo.s32 %r2, %r1, 3;\nst.param.b32 [r+0], %r2;\nret;\n}\n" BEGIN CALL(
               "f", "%r1", "%r0") "add.s32 %r0, %r0, 1;\n" END,
      want_early_callee },
    { "local memory of frames",
      HEAD ".func (.param .b32 r) f(.param .b32 a)\n{\n.local .align 8 .b8 depot[16];\n.reg .pred "
           "%p<3>;\n"
           ".reg .b32 %r<9>;\n.reg .b64 %rd<4>;\nmov.u64 %rd1, depot;\nld.param.u32 %r1, [a];\n"
           "st.local.u32 [%rd1+4], %r1;\nst.local.u32 [depot+8], 1;\nsetp.lt.u32 %p1, %r1, 2;\n"
           "@%p1 bra L;\nadd.s32 %r2, %r1, -1;\n" CALL(
               "f", "%r2", "%r3") "ld.local.u32 %r4, "
                                  "[depot+4];\nadd.s32 %r4, "
                                  "%r4, -2;\n" CALL("f", "%r4", "%r5") "add.s32 %r6, %r3, "
                                                                       "%r5;\nst.local."
                                                                       "u32 [%rd1+8], "
                                                                       "%r6;\nL: "
                                                                       "ld.local.u32 %r7, "
                                                                       "[%rd1+8];\n"
                                                                       "setp.eq.u32 %p2, "
                                                                       "%r1, 0;\n@%p2 "
                                                                       "mov.u32 %r7, "
                                                                       "0;\nst.param.b32 "
                                                                       "[r+0], "
                                                                       "%r7;\nret;\n}"
                                                                       "\n" BEGIN "rem.u32 %r10, "
                                                                       "%r1, 5;\nadd.s32 "
                                                                       "%r11, %r10, "
                                                                       "1;\n" CALL("f", "%r11",
                                                                                   "%r12") "mad."
                                                                                           "lo."
                                                                                           "s32 "
                                                                                           "%r0, "
                                                                                           "%r12, "
                                                                                           "10, "
                                                                                           "%r10;"
                                                                                           "\n" END,
      want_local },
    { "special registers",
      KERNEL("mul.lo.s32 %r10, %r5, 100;\nmov.u32 %r11, %lanemask_eq;\nadd.s32 %r0, %r1, %r10;\n"
             "add.s32 %r0, %r0, %r11;\nmov.u32 %r12, %nsmid;\nadd.s32 %r0, %r0, %r12;\n"),
      want_special },
    { "the same shared word by turns",
      KERNEL(".shared .align 4 .b8 s[256];\nmov.u32 %r10, s;\nshl.b32 %r11, %r1, 2;\nadd.s32 %r10, "
             "%r10, %r11;\n"
             "st.shared.u32 [%r10], %r1;\nbar.sync 0;\nld.shared.u32 %r0, [%r10];\n"),
      want_thread },
    { "a loop in a loop",
      KERNEL(
          "add.s32 %r10, %r1, 1;\nLOOP: setp.le.u32 %p1, %r10, 1;\n@%p1 bra OUT;\nadd.s32 %r0, "
          "%r0, 1;\n"
          "and.b32 %r11, %r10, 1;\nsetp.eq.u32 %p2, %r11, 1;\n@%p2 mad.lo.u32 %r10, %r10, 3, 1;\n"
          "@%p2 bra LOOP;\nshr.u32 %r10, %r10, 1;\nbra LOOP;\nOUT:\n"),
      want_collatz },
    { "a function without a last ret",
      HEAD BEGIN "mov.u32 %r0, %r1;\nst.global.u32 [%rd2], %r0;\n}\n", want_thread },
};

static void forms_of_control(void)
{
    for (size_t i = 0; i < COUNT(forms); i++) {
        Trial trial = { .ptx = forms[i].ptx };
        bool same = trial_run(&trial) && trial.well && !finding_count();
        for (uint32_t t = 0; same && t < 32; t++)
            same = trial.out[t] == forms[i].want(t);
        CU_ASSERT_TRUE(same);
        if (!same) {
            show_findings(forms[i].name);
            printf("\n    %s:", forms[i].name);
            for (uint32_t t = 0; trial.out && t < 32; t++)
                printf(" %u/%u", trial.out[t], forms[i].want(t));
        }
        trial_close(&trial);
    }
}

/* Loops and reconvergence do not grow the stack, whatever the lengths. */
static void counts_of_lanes(void)
{
    Trial trial = { .ptx = forms[2].ptx };

    CU_ASSERT_TRUE_FATAL(trial_run(&trial));
    const Count *counts = trial.launch.counts;
    int branch = -1, last = -1;
    for (int i = 0; i < trial.code->step_count; i++) {
        if (trial.code->steps[i].in->op == OP_bra && trial.code->steps[i].guard >= 0)
            branch = i;
        if (trial.code->steps[i].in->op == OP_ret)
            last = i;
    }
    CU_ASSERT_EQUAL(counts[branch].executed, 32);
    CU_ASSERT_EQUAL(counts[branch].lanes, 32); /* each lane leaves once */
    CU_ASSERT_EQUAL(counts[branch].divergent, 31);
    CU_ASSERT_EQUAL(counts[last].executed, 1);
    CU_ASSERT_EQUAL(counts[last].lanes, 32);
    trial_close(&trial);
}

/* ---- Blocks, warps, schedules ---- */

#define SUM_OF_BLOCK                                                                               \
    ".shared .align 4 .b8 s[4096];\nmov.u32 %r10, s;\nshl.b32 %r11, %r1, 2;\n"                     \
    "add.s32 %r10, %r10, %r11;\nst.shared.u32 [%r10], %r6;\nbar.sync 0;\n"                         \
    "shr.u32 %r12, %r5, 1;\nLOOP: setp.ge.u32 %p1, %r1, %r12;\n@%p1 bra SKIP;\n"                   \
    "shl.b32 %r13, %r12, 2;\nadd.s32 %r14, %r10, %r13;\nld.shared.u32 %r15, [%r14];\n"             \
    "ld.shared.u32 %r16, [%r10];\nadd.s32 %r16, %r16, %r15;\nst.shared.u32 [%r10], %r16;\n"        \
    "SKIP: bar.sync 0;\nshr.u32 %r12, %r12, 1;\nsetp.ne.u32 %p2, %r12, 0;\n@%p2 bra LOOP;\n"       \
    "ld.shared.u32 %r0, [s];\n"

static void barriers_in_any_order(void)
{
    static const Schedule schedules[] = { SCHEDULE_FORWARD, SCHEDULE_REVERSE, SCHEDULE_RANDOM };

    for (int i = 0; i < 12; i++) {
        Trial trial = { .ptx = KERNEL(SUM_OF_BLOCK),
                        .threads = 256,
                        .blocks = 7,
                        .schedule = schedules[i % 3],
                        .seed = (uint64_t) i,
                        .cooperative = i >= 6 };
        CU_ASSERT_TRUE_FATAL(trial_run(&trial));
        CU_ASSERT_TRUE(trial.well);
        CU_ASSERT_EQUAL(finding_count(), 0);
        for (uint32_t t = 0; t < 7 * 256; t++) {
            uint32_t first = t / 256 * 256;
            CU_ASSERT_EQUAL(trial.out[t], 256 * first + 255 * 256 / 2);
        }
        trial_close(&trial);
    }
}

/* Blocks write their turn: an atomic counter. */
#define TURN                                                                                       \
    "setp.ne.u32 %p1, %r1, 0;\n@%p1 bra SKIP;\nadd.s64 %rd4, %rd1, 40000;\n"                       \
    "atom.global.add.u32 %r0, [%rd4], 1;\nSKIP:\n"

static void blocks_in_their_order(void)
{
    enum { BLOCKS = 100 };

    for (int s = SCHEDULE_FORWARD; s <= SCHEDULE_RANDOM; s++) {
        Trial trial = {
            .ptx = KERNEL(TURN), .blocks = BLOCKS, .schedule = (Schedule) s, .seed = 5
        };
        bool seen[BLOCKS] = { false };
        int in_place = 0;
        CU_ASSERT_TRUE_FATAL(trial_run(&trial));
        for (uint32_t b = 0; b < BLOCKS; b++) {
            uint32_t turn = trial.out[b * 32];
            CU_ASSERT_FATAL(turn < BLOCKS && !seen[turn]);
            seen[turn] = true;
            in_place += turn == b;
            if (s == SCHEDULE_REVERSE)
                CU_ASSERT_EQUAL(turn, BLOCKS - 1 - b);
        }
        CU_ASSERT(s == SCHEDULE_FORWARD ? in_place == BLOCKS : in_place < BLOCKS / 4);
        trial_close(&trial);
    }
}

/* All blocks count up, and wait until all have: only a cooperative launch gets through. */
#define GRID_SYNC                                                                                  \
    "bar.sync 0;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra SKIP;\nadd.s64 %rd4, %rd1, 40000;\n"          \
    "atom.global.add.u32 %r10, [%rd4], 1;\nmov.u32 %r12, %nctaid.x;\n"                             \
    "SPIN: ld.volatile.global.u32 %r11, [%rd4];\nsetp.lt.u32 %p2, %r11, %r12;\n@%p2 bra SPIN;\n"   \
    "SKIP: bar.sync 0;\nmov.u32 %r0, 9;\n"

static void grids_that_wait(void)
{
    Trial together = { .ptx = KERNEL(GRID_SYNC), .blocks = 20, .threads = 64, .cooperative = true };
    Trial apart = { .ptx = KERNEL(GRID_SYNC), .blocks = 20, .threads = 64 };

    CU_ASSERT_TRUE_FATAL(trial_run(&together));
    CU_ASSERT_TRUE(together.well);
    for (int t = 0; t < 20 * 64; t++)
        CU_ASSERT_EQUAL(together.out[t], 9);
    trial_close(&together);
    CU_ASSERT_TRUE_FATAL(trial_run(&apart));
    CU_ASSERT_FALSE(apart.well);
    CU_ASSERT_PTR_NOT_NULL_FATAL(found(FINDING_STUCK));
    CU_ASSERT_PTR_NOT_NULL(strstr(found(FINDING_STUCK)->text, "cudaLaunchCooperativeKernel"));
    CU_ASSERT(apart.launch.executed < 10000000);
    trial_close(&apart);
}

/* ---- Named barriers, votes of blocks ---- */

static void barriers_of_kinds(void)
{
    static const struct {
        const char *name, *body;
        int threads;
        uint32_t want;
    } rows[] = {
        { "popc",
          "and.b32 %r10, %r1, 1;\nsetp.ne.u32 %p1, %r10, 0;\nbar.red.popc.u32 %r0, 0, %p1;\n", 100,
          50 },
        { "popc, not", "setp.lt.u32 %p1, %r1, 10;\nbar.red.popc.u32 %r0, 0, !%p1;\n", 100, 90 },
        { "or",
          "setp.eq.u32 %p1, %r1, 77;\nbar.red.or.pred %p2, 0, %p1;\nselp.u32 %r0, 5, 6, %p2;\n",
          100, 5 },
        { "or of none",
          "setp.eq.u32 %p1, %r1, 177;\nbar.red.or.pred %p2, 0, %p1;\nselp.u32 %r0, 5, 6, %p2;\n",
          100, 6 },
        { "and",
          "setp.lt.u32 %p1, %r1, 100;\nbar.red.and.pred %p2, 0, %p1;\nselp.u32 %r0, 5, 6, %p2;\n",
          100, 5 },
        { "and but one",
          "setp.ne.u32 %p1, %r1, 99;\nbar.red.and.pred %p2, 0, %p1;\nselp.u32 %r0, 5, 6, %p2;\n",
          100, 6 },
        { "half of the warps at another barrier",
          "setp.lt.u32 %p1, %r1, 64;\n@%p1 bra A;\nbar.sync 2, 64;\nbra J;\nA: bar.sync 1, 64;\n"
          "J: mov.u32 %r0, 3;\nbarrier.sync 0;\n",
          128, 3 },
        { "arrive and sync",
          "setp.lt.u32 %p1, %r1, 32;\n@%p1 bra A;\nbar.arrive 1, 64;\nbra J;\nA: bar.sync 1, 64;\n"
          "J: mov.u32 %r0, 4;\n",
          64, 4 },
        { "threads that have ended are not waited for",
          "mov.u32 %r0, 8;\nst.global.u32 [%rd2], %r0;\nsetp.ge.u32 %p1, %r1, 40;\n@%p1 "
          "exit;\nbar.sync 0;\n",
          96, 8 },
        { "those on their way to the end neither",
          "mov.u32 %r0, 8;\nst.global.u32 [%rd2], %r0;\nsetp.ge.u32 %p1, %r1, 40;\n@%p1 bra OVER;\n"
          "bar.sync 0;\nbar.sync 0;\nst.global.u32 [%rd2], %r0;\nOVER: ret;\n",
          96, 8 },
        { "barrier.sync in both branches, without .aligned",
          "setp.lt.u32 %p1, %r2, 16;\n@%p1 bra A;\nbarrier.sync 0;\nbra J;\nA: barrier.sync 0;\n"
          "J: mov.u32 %r0, 3;\n",
          64, 3 },
        { "lanes of a warp that hand over by turns",
          "mov.u32 %r0, 6;\nsetp.lt.u32 %p1, %r2, 16;\n@%p1 bra A;\nbar.warp.sync "
          "-1;\nbar.warp.sync -1;\n"
          "bra J;\nA: bar.warp.sync -1;\nbar.warp.sync -1;\nJ:\n",
          64, 6 },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        char ptx[4000];
        Trial trial = { .ptx = ptx, .threads = rows[i].threads };
        snprintf(ptx, sizeof ptx, "%s%s%s", HEAD BEGIN, rows[i].body, END);
        bool well = trial_run(&trial) && trial.well && !finding_count();
        for (int t = 0; well && t < rows[i].threads; t++)
            well = trial.out[t] == rows[i].want;
        CU_ASSERT_TRUE(well);
        if (!well) {
            printf("\n    %s: %u\n", rows[i].name, trial.out ? trial.out[0] : 0);
            show_findings(rows[i].name);
        }
        trial_close(&trial);
    }
}

/* ---- What is told ---- */

#define LOCK                                                                                       \
    "add.s64 %rd4, %rd1, 40000;\nSPIN: atom.global.cas.b32 %r10, [%rd4], 0, 1;\n"                  \
    "setp.ne.u32 %p1, %r10, 0;\n@%p1 bra SPIN;\n"                                                  \
    "add.s32 %r0, %r0, 1;\natom.global.exch.b32 %r11, [%rd4], 0;\n"
/* The same, so that the lock is released inside the loop. */
#define GOOD_LOCK                                                                                  \
    "add.s64 %rd4, %rd1, 40000;\nSPIN: atom.global.cas.b32 %r10, [%rd4], 0, 1;\n"                  \
    "setp.ne.u32 %p1, %r10, 0;\n@%p1 bra AGAIN;\nadd.s32 %r0, %r0, 1;\n"                           \
    "atom.global.exch.b32 %r11, [%rd4], 0;\nAGAIN: @%p1 bra SPIN;\n"

static const struct Fault {
    const char *name, *body;
    int threads;
    FindingKind kind;
    bool fatal;
    const char *text; /* a part of it */
} faults[] = {
    { "trap", "setp.eq.u32 %p1, %r1, 3;\n@%p1 trap;\n", 32, FINDING_TRAP, true, "trap" },
    { "endless", "L: add.s32 %r0, %r0, 1;\nbra L;\n", 32, FINDING_ENDLESS, true,
      "loop without end" },
    { "nothing changes", "L: bra L;\n", 64, FINDING_ENDLESS, true, "this loop has no end" },
    { "a lock between lanes", LOCK, 32, FINDING_STUCK, true,
      "lanes 1-31 loop here for ever. Of the same warp lane 0 waits" },
    { "a barrier in one branch",
      "setp.lt.u32 %p1, %r1, 16;\n@%p1 bra S;\nbar.sync 0;\nS: add.s32 %r0, %r1, 1;\n", 64,
      FINDING_BARRIER, true, "lanes 16-31 of warp 0 wait here, but its lanes 0-15" },
    { "by guard", "setp.lt.u32 %p1, %r1, 16;\n@%p1 bar.sync 0;\nadd.s32 %r0, %r1, 1;\n", 64,
      FINDING_BARRIER, true, "lanes 0-15 of warp 0 wait here, but its lanes 16-31" },
    { "in both branches",
      "setp.lt.u32 %p1, %r1, 16;\n@%p1 bra S;\nbar.sync 0;\nbra J;\nS: bar.sync 0;\nJ:\n", 32,
      FINDING_BARRIER, false, "different branches" },
    { "two barriers that wait for each other",
      "setp.lt.u32 %p1, %r1, 32;\n@%p1 bra S;\nbar.sync 1;\nbra J;\nS: bar.sync 2;\nJ:\n", 64,
      FINDING_BARRIER, true, "32 threads of warp 1 (at barrier 1" },
    { "one that has ended", "setp.lt.u32 %p1, %r1, 32;\n@%p1 exit;\nbar.sync 1, 64;\n", 64,
      FINDING_BARRIER, true,
      "barrier 1 is never full: 32 of 64 threads wait here; missing: 32 threads of warp 0 "
      "(ended)" },
    { "more than there are", "bar.sync 1, 128;\n", 64, FINDING_BARRIER, true,
      "more threads than the block has" },
    { "not by 32", "bar.sync 1, 40; // wrong\n", 64, FINDING_BARRIER, true, "multiple of 32" },
    { "barrier 16", "mov.u32 %r10, 16;\nbar.sync %r10;\n", 64, FINDING_BARRIER, true, "0 to 15" },
    { "warp barrier", "setp.lt.u32 %p1, %r1, 16;\n@%p1 bar.warp.sync -1;\n", 32, FINDING_SHUFFLE,
      false, "names lanes 16-31" },
    { "unknown instruction", "wmma.frobnicate.f32 %r0, %r1; // wrong\n", 32, FINDING_UNKNOWN_INSTRUCTION,
      true, "wmma.frobnicate.f32" },
    { "a plane where a predicate must be", "add.s32 %r0, %r1, %p1; // wrong\n", 32,
      FINDING_UNKNOWN_INSTRUCTION, true, "add.s32 with these operands" },
    { "a narrow register", "add.s64 %rd4, %r1, %rd5; // wrong\n", 32, FINDING_UNKNOWN_INSTRUCTION, true,
      "add.s64" },
    { "malloc", "{\n.param .b64 p0;\n.param .b64 q;\ncall.uni (q), malloc, (p0);\n}\n", 32,
      FINDING_UNKNOWN_CALL, true, "malloc() inside a kernel is not simulated" },
    { "a bad pointer",
      "{\n.param .b32 p0;\nproto: .callprototype _ (.param .b32 _);\nmov.u64 %rd9, 1234;\n"
      "call %rd9, (p0), proto;\n}\n",
      32, FINDING_UNKNOWN_CALL, true, "no function" },
    { "beyond the table", "T: .branchtargets A, B;\nbrx.idx %r1, T;\nA:\nB:\n", 32,
      FINDING_OUT_OF_BOUNDS, true, "entry 2 of a table of 2" },
    { "recursion without end", "{\n.param .b32 p0;\n.param .b32 q;\ncall.uni (q), deep, (p0);\n}\n",
      32, FINDING_LIMIT, true, "recursion" },
    { "not the function's arguments",
      "{\n.param .b64 p0;\n.param .b32 q;\ncall.uni (q), deep, (p0); // wrong\n}\n", 32,
      FINDING_UNKNOWN_CALL, true, "deep cannot be called" },
};

#define DEEP                                                                                       \
    ".extern .func (.param .b64 r) malloc(.param .b64 a);\n"                                       \
    ".func (.param .b32 r) deep(.param .b32 a)\n{\n{\n.param .b32 p0;\n.param .b32 q;\n"           \
    "call.uni (q), deep, (p0);\n}\nret;\n}\n"

static void faults_are_told(void)
{
    for (size_t i = 0; i < COUNT(faults); i++) {
        const struct Fault *fault = &faults[i];
        char ptx[4000];
        Trial trial = { .ptx = ptx, .threads = fault->threads, .budget = 20000000 };
        snprintf(ptx, sizeof ptx, "%s%s%s", HEAD DEEP BEGIN, fault->body, END);
        trial_run(&trial);
        const Finding *finding = found(fault->kind);
        bool right = finding && finding->fatal == fault->fatal &&
                     strstr(finding->text, fault->text) && trial.well == !fault->fatal &&
                     (!fault->fatal || trial.launch.failure == fault->kind);
        CU_ASSERT_TRUE(right);
        if (!right) {
            printf("\n    %s\n", fault->name);
            show_findings(fault->name);
        }
        trial_close(&trial);
    }
}

static void locks_that_work(void)
{
    Trial trial = { .ptx = KERNEL(GOOD_LOCK), .threads = 256, .blocks = 2 };

    CU_ASSERT_TRUE_FATAL(trial_run(&trial));
    CU_ASSERT_TRUE(trial.well);
    for (int t = 0; t < 512; t++)
        CU_ASSERT_EQUAL(trial.out[t], 1);
    trial_close(&trial);
}

/* A lock between warps: each takes it as a whole. The others must get their turn. */
static void warps_that_wait(void)
{
    Trial trial = { .ptx = KERNEL("add.s64 %rd4, %rd1, 40000;\nshr.u32 %r10, %r1, 5;\n"
                                  "xor.b32 %r10, %r10, 7;\n"
                                  "SPIN: ld.volatile.global.u32 %r11, [%rd4];\n"
                                  "setp.ne.u32 %p1, %r11, %r10;\n@%p1 bra SPIN;\n"
                                  "setp.ne.u32 %p2, %r2, 0;\n@%p2 bra J;\n"
                                  "atom.global.add.u32 %r12, [%rd4], 1;\nJ: mov.u32 %r0, %r10;\n"),
                    .threads = 256 };

    CU_ASSERT_TRUE_FATAL(trial_run(&trial));
    CU_ASSERT_TRUE(trial.well);
    for (uint32_t t = 0; t < 256; t++)
        CU_ASSERT_EQUAL(trial.out[t], 7 - t / 32);
    CU_ASSERT(trial.launch.executed < 2000000);
    trial_close(&trial);
}

/* ---- printf, assert, clocks ---- */

#define TEXTS                                                                                      \
    ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n"                       \
    ".extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, "      \
    ".param .b64 e);\n"                                                                            \
    ".global .align 1 .b8 abc[4] = {97, 98, 99, 0};\n"
#define PRINT                                                                                      \
    "mov.u64 %rd10, depot;\ncvta.local.u64 %rd11, %rd10;\nmov.u64 %rd12, format;\n"                \
    "cvta.global.u64 %rd12, %rd12;\n{\n.param .b64 p0;\n.param .b64 p1;\n.param .b32 q;\n"         \
    "st.param.b64 [p0+0], %rd12;\nst.param.b64 [p1+0], %rd11;\n"                                   \
    "call.uni (q), vprintf, (p0, p1);\nld.param.b32 %r0, [q+0];\n}\n"

static const struct Print {
    const char *format, *stores, *want; /* of lane 0 */
    uint32_t values;
} prints[] = {
    { "plain", "", "plain", 0 },
    { "%d|%5d|%-5d|%05d",
      "st.local.u32 [%rd10], -7;\nst.local.u32 [%rd10+4], 42;\n"
      "st.local.u32 [%rd10+8], 43;\nst.local.u32 [%rd10+12], 44;\n",
      "-7|   42|43   |00044", 4 },
    { "%u %x %X %o %#x %c%c%%",
      "st.local.u32 [%rd10], -1;\nst.local.u32 [%rd10+4], 48879;\n"
      "st.local.u32 [%rd10+8], 48879;\nst.local.u32 [%rd10+12], 8;\n"
      "st.local.u32 [%rd10+16], 16;\nst.local.u32 [%rd10+20], 65;\n"
      "st.local.u32 [%rd10+24], 66;\n",
      "4294967295 beef BEEF 10 0x10 AB%", 7 },
    { "%s,%5s,%.2s|%p",
      "mov.u64 %rd13, abc;\nst.local.u64 [%rd10], %rd13;\nst.local.u64 [%rd10+8], %rd13;\n"
      "st.local.u64 [%rd10+16], %rd13;\nst.local.u64 [%rd10+24], 4096;\n",
      "abc,  abc,ab|0x1000", 4 },
    { "%f %.2f %e %g %a",
      "st.local.f64 [%rd10], 0d3FF8000000000000;\nst.local.f64 [%rd10+8], 0d4000000000000000;\n"
      "st.local.f64 [%rd10+16], 0d4059000000000000;\nst.local.f64 [%rd10+24], "
      "0d3FB999999999999A;\nst.local.f64 [%rd10+32], 0d3FF0000000000000;\n",
      "1.500000 2.00 1.000000e+02 0.1 0x1p+0", 5 },
    { "%d %lld %d %llu %ld",
      "st.local.u32 [%rd10], 1;\nst.local.u64 [%rd10+8], -2;\nst.local.u32 [%rd10+16], 3;\n"
      "st.local.u64 [%rd10+24], -1;\nst.local.u64 [%rd10+32], 5;\n",
      "1 -2 3 18446744073709551615 5", 5 },
    { "%*d|%-*d|%.*f|%hhd",
      "st.local.u32 [%rd10], 4;\nst.local.u32 [%rd10+4], 7;\nst.local.u32 [%rd10+8], -3;\n"
      "st.local.u32 [%rd10+12], 7;\nst.local.u32 [%rd10+16], 1;\n"
      "st.local.f64 [%rd10+24], 0d3FF8000000000000;\nst.local.u32 [%rd10+32], 511;\n",
      "   7|7  |1.5|-1", 7 },
    { "%s", "st.local.u64 [%rd10], 5;\n", "(null)", 1 },
    { "%q %", "", "%q %", 0 },
    { "%999999999d|%.999999999f",
      "st.local.u32 [%rd10], 4;\nst.local.f64 [%rd10+8], 0d3FF8000000000000;\n", NULL, 2 },
};

static void bytes_of(const char *text, char *list, size_t size)
{
    size_t used = 0;

    for (; *text; text++)
        used += (size_t) snprintf(list + used, size - used, "%d, ", *text);
    snprintf(list + used, size - used, "0");
}

static void prints_what_it_should(void)
{
    for (size_t i = 0; i < COUNT(prints); i++) {
        char ptx[6000], list[400];
        Trial trial = { .ptx = ptx, .threads = 1 };
        bytes_of(prints[i].format, list, sizeof list);
        snprintf(ptx, sizeof ptx,
                 "%s.global .align 1 .b8 format[%zu] = {%s};\n%s.local .align 8 .b8 depot[64];\n"
                 "mov.u64 %%rd10, depot;\n%s%s%s",
                 HEAD TEXTS, strlen(prints[i].format) + 1, list, BEGIN, prints[i].stores, PRINT,
                 END);
        CU_ASSERT_TRUE_FATAL(trial_run(&trial));
        CU_ASSERT_TRUE(trial.well);
        CU_ASSERT_EQUAL(trial.out[0], prints[i].values);
        if (prints[i].want)
            CU_ASSERT_STRING_EQUAL(trial.printed, prints[i].want);
        if (!trial.well || (prints[i].want && strcmp(trial.printed, prints[i].want))) {
            printf("\n    %s\n", trial.printed);
            show_findings(prints[i].format);
        }
        trial_close(&trial);
    }
}

static void prints_lane_by_lane(void)
{
    Trial trial = { .ptx = HEAD TEXTS
                    ".global .align 1 .b8 format[4] = {37, 100, 32, 0};\n" BEGIN
                    ".local .align 8 .b8 depot[64];\nsetp.lt.u32 %p1, %r1, 28;\n@%p1 bra L;\n"
                    "mov.u64 %rd10, depot;\nst.local.u32 [%rd10], %r1;\n" PRINT "L:\n" END };

    CU_ASSERT_TRUE_FATAL(trial_run(&trial));
    CU_ASSERT_STRING_EQUAL(trial.printed, "28 29 30 31 ");
    trial_close(&trial);
}

static void asserts(void)
{
    Trial trial = {
        .ptx = HEAD TEXTS BEGIN
        "setp.ne.u32 %p1, %r1, 9;\n@%p1 bra L;\n{\n.param .b64 p0;\n.param .b64 p1;\n.param .b32 "
        "p2;\n"
        ".param .b64 p3;\n.param .b64 p4;\nmov.u64 %rd10, abc;\nst.param.b64 [p0+0], %rd10;\n"
        "st.param.b64 [p1+0], %rd10;\nst.param.b32 [p2+0], 16;\ncall.uni __assertfail, (p0, p1, "
        "p2, p3, "
        "p4);\n}\nL:\n" END
    };

    CU_ASSERT_TRUE_FATAL(trial_run(&trial));
    CU_ASSERT_FALSE(trial.well);
    CU_ASSERT_PTR_NOT_NULL_FATAL(found(FINDING_ASSERT));
    CU_ASSERT_PTR_NOT_NULL(strstr(found(FINDING_ASSERT)->text, "`abc' failed at abc:16"));
    CU_ASSERT_EQUAL(found(FINDING_ASSERT)->place.thread[0], 9);
    trial_close(&trial);
}

static void clocks_run(void)
{
    Trial trial = { .ptx = KERNEL(
                        "mov.u64 %rd10, %clock64;\nadd.s32 %r10, %r1, 1;\nadd.s32 %r10, %r1, 1;\n"
                        "mov.u64 %rd11, %clock64;\nsub.s64 %rd12, %rd11, %rd10;\ncvt.u32.u64 %r0, "
                        "%rd12;\nmov.u32 %r11, %clock;\n") };

    CU_ASSERT_TRUE_FATAL(trial_run(&trial));
    CU_ASSERT_EQUAL(trial.out[5], 3);
    trial_close(&trial);
}

/* ---- Where variables lie ---- */

static void shared_memory_of_kernels(void)
{
    static const char ptx[] = HEAD
        ".shared .align 4 .b8 huge[40000];\n.shared .align 4 .b8 both[8];\n"
        ".extern .shared .align 16 .b8 dynamic[];\n"
        ".visible .entry other()\n{\n.reg .b32 %r<4>;\nld.shared.u32 %r1, [huge];\nret;\n}\n"
        ".func (.param .b32 r) f(.param .b32 a)\n{\n.reg .b32 %r<4>;\n.shared .align 8 .b8 "
        "own[24];\n"
        "mov.u32 %r1, 17;\nst.shared.u32 [own+20], %r1;\nld.shared.u32 %r2, [both+4];\n"
        "st.param.b32 [r+0], %r2;\nret;\n}\n" BEGIN
        ".shared .align 4 .b8 mine[12];\nst.shared.u32 [mine+8], 5;\nst.shared.u32 [both+4], 6;\n"
        "st.shared.u32 [dynamic+96], 7;\n" CALL(
            "f", "%r1",
            "%r10") "ld.shared.u32 %r11, [mine+8];\nld.shared.u32 %r12, [dynamic+96];\n"
                    "mad.lo.s32 %r0, %r10, 10, %r11;\nmad.lo.s32 %r0, %r0, 10, %r12;\n" END;
    Trial trial = { .ptx = ptx, .shared_bytes = 100 };

    CU_ASSERT_TRUE_FATAL(trial_run(&trial));
    CU_ASSERT_TRUE(trial.well);
    show_findings("shared");
    CU_ASSERT_EQUAL(trial.out[0], 657);
    CU_ASSERT_EQUAL(trial.code->static_shared_bytes, 8 + 24 + 12);
    CU_ASSERT_EQUAL(trial.code->dynamic_shared_at, 48);
    CU_ASSERT_EQUAL(trial.launch.shared_bytes, 148);
    trial_close(&trial);
}

static CU_TestInfo tests[] = {
    { "forms of control against closed forms", forms_of_control },
    { "counts of a loop", counts_of_lanes },
    { "barriers in any order of warps", barriers_in_any_order },
    { "blocks in their order", blocks_in_their_order },
    { "blocks that wait for each other", grids_that_wait },
    { "kinds of barriers", barriers_of_kinds },
    { "faults are told", faults_are_told },
    { "locks that work", locks_that_work },
    { "warps that wait for warps", warps_that_wait },
    { "printf", prints_what_it_should },
    { "printf by lanes", prints_lane_by_lane },
    { "assert", asserts },
    { "clocks", clocks_run },
    { "shared memory of kernels and functions", shared_memory_of_kernels },
    CU_TEST_INFO_NULL,
};

CU_SuiteInfo test_sim_exec = { "test_sim_exec", NULL, NULL, NULL, NULL, tests };
