/* test_sim_mbarrier.c - mbarriers, copies that report to them, and clusters of blocks. */
#include "rows.h"
#include "sim/sim_launch.h"

/* Shared: the mbarrier `bar`; `tile`, 1024 bytes; %r8 is the thread's word in the tile. */
#define SHARED                                                                                     \
    ".shared .align 8 .b64 bar;\n.shared .align 16 .b8 tile[1024];\nshl.b32 %r8, %r1, 2;\n"        \
    "mov.u32 %r9, tile;\nadd.u32 %r8, %r8, %r9;\nsetp.eq.u32 %p1, %r1, 0;\n"
#define INIT(count) "@%p1 mbarrier.init.shared.b64 [bar], " count ";\nbar.sync 0;\n"
#define WAIT_STATE  "W: mbarrier.try_wait.shared.b64 %p2, [bar], %rd9;\n@%p2 bra D;\nbra W;\nD:\n"
#define WAIT_PARITY(parity)                                                                        \
    "W" parity ": mbarrier.test_wait.parity.shared::cta.b64 %p2, [bar], " parity ";\n"             \
    "@!%p2 bra W" parity ";\n"
#define ARRIVE "mbarrier.arrive.shared.b64 %rd9, [bar];\n"
/* Fills the array's words from 4096 bytes on with the thread's number + 5, and waits for that. */
#define SOURCE                                                                                     \
    "add.u32 %r10, %r1, 5;\nmul.wide.u32 %rd4, %r1, 4;\nadd.u64 %rd4, %rd4, %rd1;\n"               \
    "st.global.u32 [%rd4+4096], %r10;\nadd.u64 %rd5, %rd1, 4096;\nbar.sync 0;\n"
#define BULK(bytes)                                                                                \
    "@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], "              \
    "[%rd5], " bytes ", [bar];\n"
#define EXPECT(bytes) "@%p1 mbarrier.arrive.expect_tx.shared.b64 %rd9, [bar], " bytes ";\n"

static uint32_t other_warp(int thread)
{
    return (uint32_t) thread ^ 32;
}

static uint32_t plus_five(int thread)
{
    return (uint32_t) thread + 5;
}

static uint32_t two(int thread)
{
    (void) thread;
    return 2;
}

static const struct Right {
    const char *name, *body;
    uint32_t (*want)(int thread);
} right[] = {
    { "words pass between warps",
      SHARED INIT("64") "st.shared.u32 [%r8], %r1;\n" ARRIVE WAIT_STATE
                        "xor.b32 %r11, %r1, 32;\nshl.b32 %r11, %r11, 2;\nadd.u32 %r11, %r11, %r9;\n"
                        "ld.shared.u32 %r0, [%r11];\n",
      other_warp },
    { "two phases by parity",
      SHARED INIT("64") ARRIVE WAIT_PARITY("0") "st.shared.u32 [%r8], %r1;\n" ARRIVE WAIT_PARITY(
          "1") "xor.b32 %r11, %r1, 32;\nshl.b32 %r11, %r11, 2;\nadd.u32 %r11, %r11, %r9;\n"
               "ld.shared.u32 %r0, [%r11];\n",
      other_warp },
    { "a count of arrivals at once, and pending ones",
      SHARED INIT("66") "mov.u32 %r0, 2;\n@!%p1 bra R;\n"
                        "mbarrier.arrive.noComplete.shared.b64 %rd9, [bar], 2;\n"
                        "mbarrier.pending_count.b64 %r12, %rd9;\n"
                        "setp.gt.u32 %p3, %r12, 66;\n@%p3 mov.u32 %r0, 7;\nR: " ARRIVE WAIT_STATE,
      two },
    { "threads that no longer arrive",
      SHARED INIT("64") "mov.u32 %r0, 2;\nsetp.lt.u32 %p4, %r1, 32;\n@%p4 bra L;\n"
                        "mbarrier.arrive_drop.shared.b64 _, [bar];\nbra J;\n"
                        "L: " ARRIVE WAIT_STATE ARRIVE WAIT_PARITY("1") "J:\n",
      two },
    { "a bulk copy to shared memory",
      SHARED INIT("1") SOURCE EXPECT("256") BULK("256")
          WAIT_PARITY("0") "ld.shared.u32 %r0, [%r8];\n",
      plus_five },
    { "bytes that are expected apart from arrivals",
      SHARED INIT("1") SOURCE "@%p1 mbarrier.expect_tx.relaxed.cta.shared.b64 [bar], 256;\n" BULK(
          "256") "@%p1 mbarrier.arrive.shared.b64 _, [bar];\n" WAIT_PARITY("0") "ld.shared.u32 "
                                                                                "%r0, [%r8];\n",
      plus_five },
    { "copies that arrive at an mbarrier",
      SHARED INIT("64") SOURCE
      "add.u64 %rd6, %rd4, 4096;\ncp.async.ca.shared.global [%r8], [%rd6], 4;\n"
      "cp.async.mbarrier.arrive.noinc.shared.b64 [bar];\n" WAIT_PARITY(
          "0") "ld.shared.u32 %r0, [%r8];\n",
      plus_five },
    { "copies that arrive in addition",
      SHARED INIT("64") SOURCE
      "add.u64 %rd6, %rd4, 4096;\ncp.async.ca.shared.global [%r8], [%rd6], 4;\n"
      "cp.async.mbarrier.arrive.shared.b64 [bar];\n" ARRIVE WAIT_STATE
      "ld.shared.u32 %r0, [%r8];\n",
      plus_five },
    { "a bulk copy to global memory",
      SHARED "add.u32 %r10, %r1, 5;\nst.shared.u32 [%r8], %r10;\nadd.u64 %rd5, %rd1, 4096;\n"
             "fence.proxy.async;\nbar.sync 0;\n"
             "@%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd5], [tile], 256;\n"
             "@%p1 cp.async.bulk.commit_group;\n@%p1 cp.async.bulk.wait_group 0;\nbar.sync 0;\n"
             "mul.wide.u32 %rd4, %r1, 4;\nadd.u64 %rd4, %rd4, %rd5;\nld.global.u32 %r0, [%rd4];\n",
      plus_five },
};

static void right_kernels(void)
{
    for (size_t i = 0; i < COUNT(right); i++)
        for (Schedule order = SCHEDULE_FORWARD; order <= SCHEDULE_REVERSE; order++) {
            char ptx[6000];
            Trial trial = { .ptx = ptx, .threads = 64, .check_races = true, .schedule = order };
            snprintf(ptx, sizeof ptx, "%s%s%s", HEAD BEGIN, right[i].body, END);
            CU_ASSERT_TRUE_FATAL(trial_run(&trial));
            bool same = trial.well && !finding_count();
            for (int t = 0; t < 64; t++)
                same &= trial.out[t] == right[i].want(t);
            if (!same) {
                show_findings(right[i].name);
                FAIL_SAYING("%s: thread 40 has %u", right[i].name, trial.out[40]);
            }
            trial_close(&trial);
        }
}

static const struct Fault {
    const char *name, *body;
    FindingKind kind;
} faults[] = {
    { "a missing arrival", SHARED INIT("65") ARRIVE WAIT_STATE, FINDING_ENDLESS },
    { "a missing byte", SHARED INIT("1") SOURCE EXPECT("272") BULK("256") WAIT_PARITY("0"),
      FINDING_ENDLESS },
    { "an arrival too many",
      SHARED INIT("1") "@%p1 mbarrier.arrive.noComplete.shared.b64 %rd9, "
                       "[bar], 2;\n",
      FINDING_BARRIER },
    { "no mbarrier", SHARED ARRIVE, FINDING_BARRIER },
    { "one that has ended",
      SHARED INIT("64") "@%p1 mbarrier.inval.shared.b64 [bar];\nbar.sync 0;\n" ARRIVE,
      FINDING_BARRIER },
    { "one for 0 arrivals", SHARED INIT("0"), FINDING_BARRIER },
    { "a use before all know of it", SHARED "@%p1 mbarrier.init.shared.b64 [bar], 64;\n" ARRIVE,
      FINDING_RACE },
    { "bytes of a bulk copy without a wait",
      SHARED INIT("1") SOURCE EXPECT("256")
          BULK("256") "ld.shared.u32 %r0, [%r8];\n" WAIT_PARITY("0"),
      FINDING_RACE },
    { "words that only a barrier of other threads orders",
      SHARED INIT(
          "32") "st.shared.u32 [%r8], %r1;\nsetp.lt.u32 %p4, %r1, 32;\n@!%p4 bra J;\n" ARRIVE
          WAIT_STATE "J: ld.shared.u32 %r0, [tile+200];\n",
      FINDING_RACE },
    { "a length that is not a multiple of 16",
      SHARED INIT("1") SOURCE "mov.u32 %r13, 24;\n" EXPECT("%r13") BULK("%r13") WAIT_PARITY("0"),
      FINDING_MISALIGNED },
    { "a target outside", SHARED INIT("1") SOURCE EXPECT("2048") BULK("2048") WAIT_PARITY("0"),
      FINDING_OUT_OF_BOUNDS },
};

static void faults_are_reported(void)
{
    for (size_t i = 0; i < COUNT(faults); i++) {
        char ptx[6000];
        Trial trial = { .ptx = ptx, .threads = 64, .check_races = true };
        snprintf(ptx, sizeof ptx, "%s%s%s", HEAD BEGIN, faults[i].body, END);
        CU_ASSERT_TRUE_FATAL(trial_run(&trial));
        if (!found(faults[i].kind)) {
            show_findings(faults[i].name);
            FAIL_SAYING("%s", faults[i].name);
        }
        trial_close(&trial);
    }
}

/* ---- Clusters ---- */

#define SYNC "barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;\n"
/* %r20 is the address of the other block's tile (of two blocks). */
#define PEER                                                                                       \
    "mov.u32 %r15, %cluster_ctarank;\nxor.b32 %r16, %r15, 1;\n"                                    \
    "mapa.shared::cluster.u32 %r20, %r8, %r16;\n"

static const struct InCluster {
    const char *name, *body;

    FindingKind kind; /* FINDINGS: none */
} clusters[] = {
    { "reads another block's word",
      SHARED PEER
      "mad.lo.u32 %r17, %r15, 100, %r1;\nst.shared.u32 [%r8], %r17;\n" SYNC
      "ld.shared::cluster.u32 %r0, [%r20];\n"
      "getctarank.shared::cluster.u32 %r21, %r20;\ngetctarank.shared::cluster.u32 %r22, %r8;\n"
      "add.u32 %r21, %r21, %r22;\nsub.u32 %r21, %r21, 1;\nadd.u32 %r0, %r0, %r21;\n" SYNC,
      FINDINGS },
    { "writes another block's word",
      SHARED PEER "mad.lo.u32 %r17, %r16, 100, %r1;\n" SYNC
                  "mad.lo.u32 %r17, %r15, 100, %r1;\nst.shared::cluster.u32 [%r20], %r17;\n" SYNC
                  "ld.shared.u32 %r0, [%r8];\n",
      FINDINGS },
    { "reads by a generic address",
      SHARED PEER "mad.lo.u32 %r17, %r15, 100, %r1;\nst.shared.u32 [%r8], %r17;\n" SYNC
                  "cvt.u64.u32 %rd6, %r8;\ncvta.shared.u64 %rd6, %rd6;\n"
                  "mapa.u64 %rd7, %rd6, %r16;\nld.u32 %r0, [%rd7];\n" SYNC,
      FINDINGS },
    { "adds to another block's word",
      SHARED PEER "mad.lo.u32 %r17, %r16, 100, %r1;\nst.shared.u32 [%r8], 0;\n" SYNC
                  "mad.lo.u32 %r17, %r15, 100, %r1;\n"
                  "red.shared::cluster.add.u32 [%r20], %r17;\n" SYNC "ld.shared.u32 %r0, [%r8];\n",
      FINDINGS },
    { "global words pass at the barrier",
      SHARED PEER "mad.lo.u32 %r17, %r15, 100, %r1;\nst.global.u32 [%rd2+4096], %r17;\n" SYNC
                  "mad.lo.u32 %r18, %r16, 64, %r1;\nand.b32 %r19, %r4, -2;\n"
                  "mad.lo.u32 %r18, %r19, 64, %r18;\nmul.wide.u32 %rd6, %r18, 4;\n"
                  "add.u64 %rd6, %rd6, %rd1;\nld.global.u32 %r0, [%rd6+4096];\n",
      FINDINGS },
    { "a block that ends before its memory is read",
      SHARED PEER "st.shared.u32 [%r8], 1;\n" SYNC "setp.eq.u32 %p3, %r15, 0;\n@%p3 exit;\n"
                  "mov.u32 %r17, 0;\nL: add.u32 %r17, %r17, 1;\nsetp.lt.u32 %p4, %r17, 100000;\n"
                  "@%p4 bra L;\nld.shared::cluster.u32 %r0, [%r20];\n",
      FINDING_OUT_OF_BOUNDS },
    { "a rank that does not exist",
      SHARED "mapa.shared::cluster.u32 %r20, %r8, 3;\n"
             "ld.shared::cluster.u32 %r0, [%r20];\n",
      FINDING_OUT_OF_BOUNDS },
    { "a thread that does not arrive",
      SHARED PEER
      "setp.eq.u32 %p3, %r15, 0;\n@%p3 bra W;\n"
      "barrier.cluster.arrive.release;\nbarrier.cluster.wait.acquire;\nbra D;\n"
      "W: bar.sync 0;\nL: ld.volatile.shared.u32 %r17, [tile];\nsetp.ne.u32 %p4, %r17, 3;\n"
      "@%p4 bra L;\nD:\n",
      FINDING_ENDLESS },
};

static bool has_others_words(const Trial *trial)
{
    for (int block = 0; block < 4; block++)
        for (int t = 0; t < 64; t++)
            if (trial->out[block * 64 + t] != (uint32_t) ((block & 1) ^ 1) * 100 + (uint32_t) t)
                return false;
    return true;
}

static void blocks_of_a_cluster(void)
{
    for (size_t i = 0; i < COUNT(clusters); i++) {
        char ptx[6000];
        Trial trial = { .ptx = ptx, .threads = 64, .blocks = 4, .cluster = 2, .check_races = true };
        const bool right = clusters[i].kind == FINDINGS;
        snprintf(ptx, sizeof ptx, "%s%s%s", HEAD BEGIN, clusters[i].body, END);
        CU_ASSERT_TRUE_FATAL(trial_run(&trial));
        if (right ? !trial.well || finding_count() || !has_others_words(&trial)
                  : !found(clusters[i].kind)) {
            show_findings(clusters[i].name);
            FAIL_SAYING("%s: %u", clusters[i].name, trial.out[70]);
        }
        trial_close(&trial);
    }
}

static CU_TestInfo tests[] = {
    { "right kernels", right_kernels },
    { "faults are reported", faults_are_reported },
    { "blocks of a cluster", blocks_of_a_cluster },
    CU_TEST_INFO_NULL,
};

CU_SuiteInfo test_sim_mbarrier = { "test_sim_mbarrier", NULL, NULL, NULL, NULL, tests };
