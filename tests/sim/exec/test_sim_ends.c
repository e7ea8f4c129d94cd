/* test_sim_ends.c - how kernels end: findings about kernels that do not end, and locks that work.
 */
#include "rows.h"
#include "sim/sim_launch.h"

/* ---- Findings ---- */

#define LOCK                                                                                       \
    "add.s64 %rd4, %rd1, 40000;\nSPIN: atom.global.cas.b32 %r10, [%rd4], 0, 1;\n"                  \
    "setp.ne.u32 %p1, %r10, 0;\n@%p1 bra SPIN;\n"                                                  \
    "add.s32 %r0, %r0, 1;\natom.global.exch.b32 %r11, [%rd4], 0;\n"
/* The same, but the lock is released inside the loop. */
#define GOOD_LOCK                                                                                  \
    "add.s64 %rd4, %rd1, 40000;\nSPIN: atom.global.cas.b32 %r10, [%rd4], 0, 1;\n"                  \
    "setp.ne.u32 %p1, %r10, 0;\n@%p1 bra AGAIN;\nadd.s32 %r0, %r0, 1;\n"                           \
    "atom.global.exch.b32 %r11, [%rd4], 0;\nAGAIN: @%p1 bra SPIN;\n"

static const struct Fault {
    const char *name, *body;
    int threads;
    FindingKind kind;
    bool fatal;
    const char *text, *opcode; /* substrings to find; NULL: any */
} faults[] = {
    { "trap", "setp.eq.u32 %p1, %r1, 3;\n@%p1 trap;\n", 32, FINDING_TRAP, true, "trap" },
    { "endless", "L: add.s32 %r0, %r0, 1;\nbra L;\n", 32, FINDING_ENDLESS, true,
      "an endless loop" },
    { "nothing changes", "L: bra L;\n", 64, FINDING_ENDLESS, true, "this loop never ends" },
    { "a lock between lanes", LOCK, 32, FINDING_STUCK, true,
      "lanes 1-31 loop here forever, while lane 0 of the same warp waits" },
    { "a barrier in one branch",
      "setp.lt.u32 %p1, %r1, 16;\n@%p1 bra S;\nbar.sync 0;\nS: add.s32 %r0, %r1, 1;\n", 64,
      FINDING_BARRIER, true, "lanes 16-31 of warp 0 wait here, but lanes 0-15" },
    { "by guard", "setp.lt.u32 %p1, %r1, 16;\n@%p1 bar.sync 0;\nadd.s32 %r0, %r1, 1;\n", 64,
      FINDING_BARRIER, true, "lanes 0-15 of warp 0 wait here, but lanes 16-31" },
    { "in both branches",
      "setp.lt.u32 %p1, %r1, 16;\n@%p1 bra S;\nbar.sync 0;\nbra J;\nS: bar.sync 0;\nJ:\n", 32,
      FINDING_BARRIER, false, "different branches" },
    { "two barriers that wait for each other",
      "setp.lt.u32 %p1, %r1, 32;\n@%p1 bra S;\nbar.sync 1;\nbra J;\nS: bar.sync 2;\nJ:\n", 64,
      FINDING_BARRIER, true, "32 threads of warp 1 (at barrier 1" },
    { "a warp that has ended", "setp.lt.u32 %p1, %r1, 32;\n@%p1 exit;\nbar.sync 1, 64;\n", 64,
      FINDING_BARRIER, true,
      "barrier 1 never completes: 32 of 64 threads wait here; missing: 32 threads of warp 0 "
      "(ended)" },
    { "more threads than exist", "bar.sync 1, 128;\n", 64, FINDING_BARRIER, true,
      "more threads than the block has" },
    { "not a multiple of 32", "bar.sync 1, 40; // wrong\n", 64, FINDING_BARRIER, true,
      "multiple of 32" },
    { "barrier 16", "mov.u32 %r10, 16;\nbar.sync %r10;\n", 64, FINDING_BARRIER, true, "0 to 15" },
    { "warp barrier", "setp.lt.u32 %p1, %r1, 16;\n@%p1 bar.warp.sync -1;\n", 32, FINDING_SHUFFLE,
      false, "names lanes 16-31" },
    { "unknown instruction", "wmma.frobnicate.f32 %r0, %r1; // wrong\n", 32,
      FINDING_UNKNOWN_INSTRUCTION, true, "not support this instruction", "wmma.frobnicate.f32" },
    { "no texture object", "tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f5, %f6}]; // wrong\n",
      32, FINDING_FORBIDDEN, true, "which is not a texture object", "tex.2d.v4.f32.f32" },
    { "no surface object", "sust.b.1d.b32.zero [%rd1], {%r1};\n", 32, FINDING_UNKNOWN_INSTRUCTION,
      true, "with these operands", "sust.b.1d.b32.zero" },
    { "a cubemap", "tex.cube.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f5, %f6, %f7, %f7}];\n", 32,
      FINDING_UNKNOWN_INSTRUCTION, true, "not support this instruction", "tex.cube.v4.f32.f32" },
    { "too few coordinates", "tex.3d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f5, %f6}];\n", 32,
      FINDING_UNKNOWN_INSTRUCTION, true, "not support this instruction", "tex.3d.v4.f32.f32" },
    { "a sampler of its own", "tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, %rd2, {%f5, %f6}];\n",
      32, FINDING_UNKNOWN_INSTRUCTION, true, "not support this instruction", "tex.2d.v4.f32.f32" },
    { "a wide texel", "suld.b.2d.v4.b64.trap {%rd5, %rd6, %rd7, %rd8}, [%rd1, {%r1, %r1}];\n", 32,
      FINDING_UNKNOWN_INSTRUCTION, true, "not support this instruction", "suld.b.2d.v4.b64.trap" },
    { "a narrow texture number", "txq.width.b32 %r1, [%r2];\n", 32, FINDING_UNKNOWN_INSTRUCTION,
      true, "not support this instruction", "txq.width.b32" },
    { "a plane where a predicate must be", "add.s32 %r0, %r1, %p1; // wrong\n", 32,
      FINDING_UNKNOWN_INSTRUCTION, true, "not support this instruction with these operands",
      "add.s32" },
    { "a narrow register", "add.s64 %rd4, %r1, %rd5; // wrong\n", 32, FINDING_UNKNOWN_INSTRUCTION,
      true, "not support this instruction with these operands", "add.s64" },
    { "a launch from a kernel",
      "{\n.param .b64 p0;\n.param .b64 q;\ncall.uni (q), launch_it, (p0);\n}\n", 32,
      FINDING_UNKNOWN_CALL, true, "launch_it() inside a kernel is not simulated" },
    { "malloc did not return it",
      "{\n.param .b64 p0;\nmov.u64 %rd9, 1234;\nst.param.b64 [p0], %rd9;\n"
      "call.uni free, (p0); // wrong\n}\n",
      32, FINDING_FORBIDDEN, true, "malloc() in a kernel did not return this address", "call.uni" },
    { "a bad pointer",
      "{\n.param .b32 p0;\nproto: .callprototype _ (.param .b32 _);\nmov.u64 %rd9, 1234;\n"
      "call %rd9, (p0), proto;\n}\n",
      32, FINDING_UNKNOWN_CALL, true, "which is not a function" },
    { "past the end of the table", "T: .branchtargets A, B;\nbrx.idx %r1, T;\nA:\nB:\n", 32,
      FINDING_OUT_OF_BOUNDS, true, "entry 2 of a table of 2" },
    { "recursion without end", "{\n.param .b32 p0;\n.param .b32 q;\ncall.uni (q), deep, (p0);\n}\n",
      32, FINDING_LIMIT, true, "recursion" },
    { "not the function's arguments",
      "{\n.param .b64 p0;\n.param .b32 q;\ncall.uni (q), deep, (p0); // wrong\n}\n", 32,
      FINDING_UNKNOWN_CALL, true, "deep cannot be called" },
};

#define DEEP                                                                                       \
    ".extern .func (.param .b64 r) launch_it(.param .b64 a);\n"                                    \
    ".extern .func free(.param .b64 a);\n"                                                         \
    ".func (.param .b32 r) deep(.param .b32 a)\n{\n{\n.param .b32 p0;\n.param .b32 q;\n"           \
    "call.uni (q), deep, (p0);\n}\nret;\n}\n"

static bool names(const Finding *finding, const char *opcode)
{
    return !opcode || (finding->place.instruction && !strcmp(finding->place.instruction, opcode));
}

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
                     strstr(finding->text, fault->text) && names(finding, fault->opcode) &&
                     trial.well == !fault->fatal &&
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

/* Warps wait for each other in order, so each must get its turn. */
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

static CU_TestInfo tests[] = {
    { "faults are reported", faults_are_told },
    { "locks that work", locks_that_work },
    { "warps that wait for warps", warps_that_wait },
    CU_TEST_INFO_NULL,
};

CU_SuiteInfo test_sim_ends = { "test_sim_ends", NULL, NULL, NULL, NULL, tests };
