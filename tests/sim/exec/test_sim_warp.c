/* test_sim_warp.c - lanes that exchange values: shuffles compared with the CUDA documentation,
 * votes, matches, reductions, and absent lanes in a mask. */
#define MOST_SNIPPETS 120
#include "rows.h"
#include "sim/sim_launch.h"

/* ---- Shuffles ---- */

typedef enum Kind { UP, DOWN, BFLY, IDX, KINDS } Kind;

static const char *const kind_names[KINDS] = { "up", "down", "bfly", "idx" };

/* The source lane in segments of `width` lanes; *inside: it is in the lane's segment. */
static int source_of(Kind kind, int lane, int by, int width, bool *inside)
{
    int start = lane / width * width, from = lane;

    switch (kind) {
    case UP:
        from = lane - by;
        *inside = from >= start;
        break;
    case DOWN:
        from = lane + by;
        *inside = from < start + width;
        break;
    case BFLY:
        from = lane ^ by;
        *inside = from < start + width;
        break;
    default:
        from = start + by % width;
        *inside = true;
    }
    return *inside ? from : lane;
}

static int by_of(int by, bool varies, int lane)
{
    return varies ? (by + lane * 5) & 31 : by;
}

static void one_shuffle(Kind kind, int by, bool varies, int width)
{
    char ptx[4000];
    Trial trial = { .ptx = ptx };
    int c = (32 - width) << 8 | (kind == UP ? 0 : 31);
    bool same = true;

    snprintf(ptx, sizeof ptx,
             "%smul.lo.s32 %%r10, %%r1, %d;\nadd.s32 %%r10, %%r10, %d;\nand.b32 %%r10, %%r10, 31;\n"
             "mul.lo.s32 %%r11, %%r1, 1000;\nshfl.sync.%s.b32 %%r12|%%p1, %%r11, %%r10, %d, -1;\n"
             "selp.u32 %%r13, 1, 0, %%p1;\nadd.s32 %%r0, %%r12, %%r13;\n%s",
             HEAD BEGIN, varies ? 5 : 0, by, kind_names[kind], c, END);
    CU_ASSERT_TRUE_FATAL(trial_run(&trial));
    for (int lane = 0; lane < 32; lane++) {
        bool inside;
        int from = source_of(kind, lane, by_of(by, varies, lane), width, &inside);
        same &= trial.out[lane] == (uint32_t) (from * 1000 + inside);
    }
    CU_ASSERT_TRUE(same && trial.well && !finding_count());
    if (!same)
        printf("\n    %s by %d%s, width %d\n", kind_names[kind], by, varies ? "+" : "", width);
    trial_close(&trial);
}

static void shuffles_of_all_kinds(void)
{
    for (Kind kind = UP; kind < KINDS; kind++)
        for (int width = 1; width <= 32; width *= 2)
            for (int by = 0; by < 32; by += 1 + (by > 2) * 6)
                for (int varies = 0; varies < 2; varies++)
                    one_shuffle(kind, by, varies, width);
}

/* ---- Values by lane ---- */

static uint32_t want_sum(uint32_t lane)
{
    return lane == 0 ? 31 * 32 / 2 : UINT32_MAX; /* only lane 0 has the sum */
}

static uint32_t want_total(uint32_t lane)
{
    (void) lane;
    return 31 * 32 / 2;
}

static uint32_t want_ballot(uint32_t lane)
{
    (void) lane;
    return 0x55555555u << 1;
}

static uint32_t want_odd_ballot(uint32_t lane)
{
    return lane & 1 ? 0xaaaa0000u & 0xfff00000u : 0;
}

static uint32_t want_votes(uint32_t lane)
{
    (void) lane;
    return 0 * 1 + 1 * 10 + 0 * 100 + 1 * 1000 + 1 * 10000;
}

static uint32_t want_match(uint32_t lane)
{
    return 0x11111111u << lane % 4;
}

static uint32_t want_all(uint32_t lane)
{
    (void) lane;
    return UINT32_MAX - 1;
}

static uint32_t want_redux(uint32_t lane)
{
    uint32_t first = lane < 16 ? 0 : 16;

    return (first + first + 15) * 8;
}

static uint32_t want_signed(uint32_t lane)
{
    (void) lane;
    return (uint32_t) -16 + 15 + 4 * UINT32_MAX;
}

static uint32_t want_elect(uint32_t lane)
{
    return 8 + (lane == 8) * 100;
}

static uint32_t want_active(uint32_t lane)
{
    return lane < 7 ? 0x7f : 0xffffff80u;
}

static const struct Form {
    const char *name, *body;
    uint32_t (*want)(uint32_t lane);
} forms[] = {
    { "sum, down",
      "mov.u32 %r10, %r1;\nshfl.sync.down.b32 %r11, %r10, 16, 31, -1;\nadd.s32 %r10, %r10, %r11;\n"
      "shfl.sync.down.b32 %r11, %r10, 8, 31, -1;\nadd.s32 %r10, %r10, %r11;\n"
      "shfl.sync.down.b32 %r11, %r10, 4, 31, -1;\nadd.s32 %r10, %r10, %r11;\n"
      "shfl.sync.down.b32 %r11, %r10, 2, 31, -1;\nadd.s32 %r10, %r10, %r11;\n"
      "shfl.sync.down.b32 %r11, %r10, 1, 31, -1;\nadd.s32 %r10, %r10, %r11;\n"
      "setp.eq.u32 %p1, %r1, 0;\nselp.b32 %r0, %r10, -1, %p1;\n",
      want_sum },
    { "sum, bfly, into its own register",
      "mov.u32 %r10, %r1;\nmov.u32 %r12, 16;\nL: mov.u32 %r11, %r10;\n"
      "shfl.sync.bfly.b32 %r11, %r11, %r12, 31, -1;\nadd.s32 %r10, %r10, %r11;\nshr.u32 %r12, "
      "%r12, 1;\n"
      "setp.ne.u32 %p1, %r12, 0;\n@%p1 bra L;\nmov.u32 %r0, %r10;\n",
      want_total },
    { "ballot",
      "and.b32 %r10, %r1, 1;\nsetp.eq.u32 %p1, %r10, 1;\nvote.sync.ballot.b32 %r0, %p1, -1;\n",
      want_ballot },
    { "ballot of the odd lanes",
      "and.b32 %r10, %r1, 1;\nsetp.eq.u32 %p1, %r10, 0;\n@%p1 bra S;\nsetp.lt.u32 %p2, %r1, 20;\n"
      "vote.sync.ballot.b32 %r0, !%p2, 0xaaaaaaaa;\nS:\n",
      want_odd_ballot },
    { "votes",
      "setp.ne.u32 %p1, %r1, 5;\nsetp.lt.u32 %p2, %r1, 99;\n"
      "vote.sync.all.pred %p3, %p1, -1;\nselp.u32 %r0, 1, 0, %p3;\n"
      "vote.sync.any.pred %p3, %p1, -1;\nselp.u32 %r10, 10, 0, %p3;\nadd.s32 %r0, %r0, %r10;\n"
      "vote.sync.uni.pred %p3, %p1, -1;\nselp.u32 %r10, 100, 0, %p3;\nadd.s32 %r0, %r0, %r10;\n"
      "vote.sync.uni.pred %p3, !%p2, -1;\nselp.u32 %r10, 1000, 0, %p3;\nadd.s32 %r0, %r0, %r10;\n"
      "vote.sync.all.pred %p3, 1, -1;\nselp.u32 %r10, 10000, 0, %p3;\nadd.s32 %r0, %r0, %r10;\n",
      want_votes },
    { "match.any", "and.b32 %r10, %r1, 3;\nmatch.any.sync.b32 %r0, %r10, -1;\n", want_match },
    { "match.any of 64 bits",
      "and.b32 %r10, %r1, 3;\ncvt.u64.u32 %rd10, %r10;\nshl.b64 %rd10, %rd10, "
      "40;\nmatch.any.sync.b64 %r0, %rd10, -1;\n",
      want_match },
    { "match.all",
      "match.all.sync.b32 %r10|%p1, 7, -1;\nmatch.all.sync.b32 %r11|%p2, %r1, -1;\nadd.s32 %r0, "
      "%r10, %r11;\n"
      "@%p1 add.s32 %r0, %r0, -1;\n@%p2 add.s32 %r0, %r0, -1;\n",
      want_all },
    { "redux of halves, by masks",
      "setp.lt.u32 %p1, %r1, 16;\nselp.b32 %r10, 65535, 0xffff0000, %p1;\nredux.sync.add.s32 %r0, "
      "%r1, %r10;\n",
      want_redux },
    { "redux of signed numbers and bits",
      "add.s32 %r10, %r1, -16;\nredux.sync.min.s32 %r11, %r10, -1;\nredux.sync.max.s32 %r12, %r10, "
      "-1;\n"
      "redux.sync.max.u32 %r13, %r10, -1;\nredux.sync.or.b32 %r14, %r10, -1;\nredux.sync.and.b32 "
      "%r15, %r10, -1;\n"
      "not.b32 %r15, %r15;\nredux.sync.xor.b32 %r16, %r10, -1;\nnot.b32 %r16, %r16;\n"
      "add.s32 %r0, %r11, %r12;\nadd.s32 %r0, %r0, %r13;\nadd.s32 %r0, %r0, %r14;\nadd.s32 %r0, "
      "%r0, %r15;\n"
      "add.s32 %r0, %r0, %r16;\n",
      want_signed },
    { "elect",
      "setp.lt.u32 %p1, %r1, 8;\nmov.u32 %r0, 8;\n@%p1 bra S;\nelect.sync %r0|%p2, 0xffffff00;\n"
      "@%p2 add.s32 %r0, %r0, 100;\nS:\n",
      want_elect },
    { "activemask",
      "setp.lt.u32 %p1, %r1, 7;\n@%p1 bra S;\nactivemask.b32 %r0;\nbra J;\nS: activemask.b32 "
      "%r0;\nJ:\n",
      want_active },
};

static void values_by_lane(void)
{
    for (size_t i = 0; i < COUNT(forms); i++) {
        char ptx[4000];
        Trial trial = { .ptx = ptx };
        snprintf(ptx, sizeof ptx, "%s%s%s", HEAD BEGIN, forms[i].body, END);
        bool same = trial_run(&trial) && trial.well && !finding_count();
        for (uint32_t lane = 0; same && lane < 32; lane++)
            same = trial.out[lane] == forms[i].want(lane);
        CU_ASSERT_TRUE(same);
        if (!same) {
            show_findings(forms[i].name);
            printf("\n    %s:", forms[i].name);
            for (uint32_t lane = 0; lane < 32; lane++)
                printf(" %x/%x", trial.out[lane], forms[i].want(lane));
        }
        trial_close(&trial);
    }
}

/* ---- Absent lanes ---- */

#define LOW "setp.ge.u32 %p1, %r1, 16;\n@%p1 bra S;\n"

static const struct Absence {
    const char *name, *body;
    int threads;
    const char *text; /* NULL: no finding */
    int lane;
    uint32_t value;
} absences[] = {
    { "mask names lanes elsewhere", LOW "shfl.sync.idx.b32 %r0, %r1, 3, 31, -1;\nS:\n", 32,
      "the mask 0xffffffff names lanes 16-31, which are in another branch", 5, 3 },
    { "source elsewhere", LOW "shfl.sync.down.b32 %r0, %r1, 4, 31, 0xffff;\nS:\n", 32,
      "lanes 12-15 read from lanes 16-19", 13, 13 },
    { "source that is present", LOW "shfl.sync.down.b32 %r0, %r1, 4, 31, 0xffff;\nS:\n", 32,
      "lanes 12-15", 3, 7 },
    { "not in its own mask", "shfl.sync.idx.b32 %r0, %r1, 2, 31, 0x7fffffff;\n", 32,
      "lane 31 executes this, but the mask 0x7fffffff does not name them", 31, 2 },
    { "threads that never existed, only in the mask",
      "shfl.sync.down.b32 %r0, %r1, 8, 0x181f, -1;\n", 40, NULL, 33, 33 },
    { "threads that never existed, as a source", "shfl.sync.down.b32 %r0, %r1, 8, 31, -1;\n", 40,
      "lanes 0-7 read from lanes 8-15", 33, 33 },
    { "threads that have ended",
      "setp.ge.u32 %p1, %r1, 24;\n@%p1 exit;\nvote.sync.ballot.b32 %r0, 1, -1;\n", 32, NULL, 7,
      0xffffff },
    { "vote", LOW "vote.sync.all.pred %p2, 1, -1;\nselp.u32 %r0, 5, 6, %p2;\nS:\n", 32,
      "names lanes 16-31", 2, 5 },
    { "match", LOW "match.any.sync.b32 %r0, 4, -1;\nS:\n", 32, "names lanes 16-31", 2, 0xffff },
    { "redux", LOW "redux.sync.add.u32 %r0, 2, -1;\nS:\n", 32, "names lanes 16-31", 2, 32 },
};

static void absent_lanes_are_told(void)
{
    for (size_t i = 0; i < COUNT(absences); i++) {
        const struct Absence *row = &absences[i];
        char ptx[4000];
        Trial trial = { .ptx = ptx, .threads = row->threads };
        snprintf(ptx, sizeof ptx, "%s%s%s", HEAD BEGIN, row->body, END);
        CU_ASSERT_TRUE_FATAL(trial_run(&trial));
        bool told = false;
        for (int j = 0; j < finding_count(); j++)
            told |= finding_at(j)->kind == FINDING_SHUFFLE && !finding_at(j)->fatal && row->text &&
                    strstr(finding_at(j)->text, row->text);
        bool right = trial.well && (row->text ? told : !finding_count()) &&
                     trial.out[row->lane] == row->value;
        CU_ASSERT_TRUE(right);
        if (!right) {
            printf("\n    %s: %u\n", row->name, trial.out[row->lane]);
            show_findings(row->name);
        }
        trial_close(&trial);
    }
}

static CU_TestInfo tests[] = {
    { "values by lane", values_by_lane },
    { "absent lanes are reported", absent_lanes_are_told },
    { "shuffles of all kinds and widths", shuffles_of_all_kinds },
    CU_TEST_INFO_NULL,
};

CU_SuiteInfo test_sim_warp = { "test_sim_warp", NULL, NULL, NULL, NULL, tests };
