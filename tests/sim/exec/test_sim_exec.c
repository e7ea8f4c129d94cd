/* test_sim_exec.c - how warps run: branches, calls, and where variables are stored. */
#include "rows.h"
#include "sim/sim_launch.h"

/* ---- The values that threads store, compared with a closed form ---- */

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

static uint32_t want_endless(uint32_t t)
{
    uint32_t sum = 0;

    for (uint32_t at = t; at < 40; at += 3) {
        sum++;
        if (at == 10)
            break;
    }
    return 3 * sum;
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

/* two(x, y) returns x + y, and x * y, plus 1 if x is at most 16. */
static uint32_t second(uint32_t x, uint32_t y)
{
    return x * y + (x <= 16);
}

static uint32_t want_registers(uint32_t t)
{
    const uint32_t sum = t >= 8 ? t + 3 : 1000, product = t >= 8 ? second(t, 3) : 500;

    return sum + product + second(product, t);
}

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
    /* Lanes once left the inner loop for the barrier without those that they had waited for
     * (glacier_boulder_tickets in tests/sim/blind). */
    { "an endless loop with a barrier and a loop of two ends",
      KERNEL("mov.u32 %r9, 0;\nAGAIN: bar.sync 0;\nsetp.ge.u32 %p3, %r9, 3;\n"
             "@%p3 st.global.u32 [%rd2], %r0;\n@%p3 ret;\nadd.s32 %r9, %r9, 1;\n"
             "mov.u32 %r10, %r1;\nsetp.ge.u32 %p1, %r10, 40;\n@%p1 bra AGAIN;\n"
             "NEXT: add.s32 %r0, %r0, 1;\nsetp.eq.u32 %p2, %r10, 10;\n@%p2 bra AGAIN;\n"
             "add.s32 %r10, %r10, 3;\nsetp.lt.u32 %p4, %r10, 40;\n@%p4 bra NEXT;\nbra AGAIN;\n"),
      want_endless },
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
    { "registers and constants as arguments, registers as results",
      HEAD ".func (.reg .u64 a, .reg .b32 b) two(.reg .b32 x, .reg .b32 y)\n{\n.reg .pred p;\n"
           ".reg .b32 c;\nadd.u32 c, x, y;\ncvt.u64.u32 a, c;\nmul.lo.u32 b, x, y;\n"
           "setp.gt.u32 p, x, 16;\n@p ret;\nadd.u32 b, b, 1;\nret;\n}\n"
           ".func (.param .b32 r) same(.param .b32 a)\n{\n.reg .b32 %r<2>;\n"
           "ld.param.b32 %r1, [a];\nst.param.b32 [r], %r1;\nret;\n}\n" BEGIN
           "setp.ge.u32 %p1, %r1, 8;\nmov.u64 %rd10, 1000;\nmov.u32 %r10, 500;\n"
           "@%p1 call (%rd10, %r10), two, (%r1, 3);\ncall (%r11), same, (%r10);\n"
           "call (_, %r12), two, (%r11, %r1);\ncvt.u32.u64 %r0, %rd10;\n"
           "add.u32 %r0, %r0, %r10;\nadd.u32 %r0, %r0, %r12;\n" END,
      want_registers },
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

/* Counts lanes and divergent branches of a loop that lanes leave one by one. */
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

/* ---- Where variables are stored ---- */

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
    { "shared memory of kernels and functions", shared_memory_of_kernels },
    CU_TEST_INFO_NULL,
};

CU_SuiteInfo test_sim_exec = { "test_sim_exec", NULL, NULL, NULL, NULL, tests };
