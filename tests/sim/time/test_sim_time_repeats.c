/* test_sim_time_repeats.c - a launch that repeats an earlier one is not played, and has the same
 * result to the last bit.
 *
 * Each test runs the same launches twice: once all are played, once repeated ones are not. */
#include "sim/sim_time.h"
#include "sim/time/digest.h"
#include "sim/time/l2.h"

#include <string.h>

/* %rd5: a word that depends on the thread; %r7: `n` in the last block, 0 in others. */
#define LAST_BLOCK                                                                                 \
    "mov.u32 %r8, %nctaid.x;\nsub.u32 %r8, %r8, 1;\nsetp.eq.u32 %p2, %r4, %r8;\n"                  \
    "selp.u32 %r7, %r3, 0, %p2;\n"
#define SOME_WORD                                                                                  \
    "mad.lo.u32 %r11, %r10, 997, %r6;\nadd.u32 %r11, %r11, %r7;\n"                                 \
    "and.b32 %r11, %r11, 8191;\nmul.wide.u32 %rd4, %r11, 4;\nadd.s64 %rd5, %rd1, %rd4;\n"
#define ROUNDS(body)                                                                               \
    KERNEL(LAST_BLOCK "mov.u32 %r10, 0;\nLOOP:\n" SOME_WORD body "add.u32 %r10, %r10, 1;\n"        \
                      "setp.lt.u32 %p1, %r10, 8;\n@%p1 bra LOOP;\n")

static const char loads[] = ROUNDS("ld.global.u32 %r12, [%rd5];\nadd.u32 %r0, %r0, %r12;\n");
static const char updates[] = ROUNDS("ld.global.u32 %r12, [%rd5+4];\nbar.sync 0;\n"
                                     "st.global.u32 [%rd5], %r12;\n"
                                     "red.global.add.u32 [%rd5+32768], 1;\n");
/* Only a warp of the last block reads a clock, if n is not 0. */
static const char clocks[] =
    ROUNDS("ld.global.u32 %r12, [%rd5];\nsetp.ne.u32 %p3, %r7, 0;\n"
           "@!%p3 bra NEXT;\nmov.u64 %rd10, %clock64;\ncvt.u32.u64 %r13, %rd10;\n"
           "add.u32 %r0, %r0, %r13;\nNEXT:\n");
/* Reads out of bounds if n is large. */
static const char faults[] = ROUNDS("mul.wide.u32 %rd6, %r7, 65536;\nadd.s64 %rd6, %rd6, %rd5;\n"
                                    "ld.global.u32 %r12, [%rd6];\nadd.u32 %r0, %r0, %r12;\n");

/* Calls a function in the last block, if n is not 0. */
static const char calls[] =
    HEAD ".visible .func (.param .b32 q) twice(.param .b32 p)\n{\n.reg .b32 %a<4>;\n"
         "ld.param.b32 %a1, [p];\nadd.u32 %a2, %a1, %a1;\nst.param.b32 [q], %a2;\nret;\n}\n" BEGIN
             LAST_BLOCK SOME_WORD
         "ld.global.u32 %r12, [%rd5];\nsetp.eq.u32 %p3, %r7, 0;\n@%p3 bra NEXT;\n"
         "{\n.param .b32 p0;\nst.param.b32 [p0+0], %r12;\n.param .b32 q;\n"
         "call.uni (q), twice, (p0);\nld.param.b32 %r12, [q+0];\n}\n"
         "NEXT:\nadd.u32 %r0, %r0, %r12;\n" END;

enum { MOST = 100, MOST_SPENT = 64 };

/* A launch: `n`, or the copy that comes before it. */
typedef struct Part {
    uint32_t n;
    int blocks;    /* 0: BLOCKS */
    size_t bytes;  /* that a copy writes elsewhere before the launch */
    int shared;    /* bytes of shared memory that a block has */
    uint64_t seed; /* of the order of blocks, if the series has a random one */
} Part;

enum { BLOCKS = 42, THREADS = 96 }; /* 7 waves */

typedef struct Series {
    const char *ptx;
    const Part *parts;
    int count;
    int threads; /* that play */
    uint64_t most_played;
    CauseSet without;
    size_t most_kept, most_stored; /* 0: as usual */
    Schedule schedule;
    bool side_by_side; /* blocks run */
} Series;

typedef struct Outcomes {
    TimingResult time[MOST];
    Spent spent[MOST][MOST_SPENT];
    uint32_t out[OUT_WORDS];
    double cycles;
    long repeated;
} Outcomes;

static Device small_device(void)
{
    Device device = plain;

    device.sms = 3;
    device.l2_bytes = 512 << 10;
    device.l2_halves = 2;
    device.memory_queue = 100;
    device.l1_bytes = 66 << 10;
    return device;
}

static void keep(Outcomes *outcomes, int i, const Trial *trial)
{
    const int steps = trial->code->step_count < MOST_SPENT ? trial->code->step_count : MOST_SPENT;

    outcomes->time[i] = trial->time;
    outcomes->time[i].steps = NULL;
    memset(outcomes->spent[i], 0, sizeof outcomes->spent[i]);
    if (trial->time.steps)
        memcpy(outcomes->spent[i], trial->time.steps[0], (size_t) steps * sizeof(Spent));
}

static void run_part(Trial *trial, const Part *part)
{
    if (part->bytes)
        gpu_written(trial->gpu, trial->array->base + (1 << 20), 0, part->bytes);
    if (trial->launch.module)
        launch_free(&trial->launch);
    trial->n = part->n;
    trial->seed = part->seed;
    trial->shared_bytes = (size_t) part->shared;
    trial->blocks = part->blocks ? part->blocks : BLOCKS;
    trial_launch(trial);
}

static void run(const Series *series, bool plays_all, Outcomes *outcomes)
{
    const Device device = small_device();
    Trial trial = { .ptx = series->ptx,
                    .threads = THREADS,
                    .blocks_an_sm = 2,
                    .most_played = series->most_played,
                    .schedule = series->schedule,
                    .cooperative = series->side_by_side };
    Gpu *gpu = trial.gpu = gpu_open_without(&device, series->without);

    CU_ASSERT_PTR_NOT_NULL_FATAL(gpu);
    gpu->plays_all = plays_all;
    gpu->most_kept = series->most_kept ? series->most_kept : gpu->most_kept;
    gpu->most_stored = series->most_stored ? series->most_stored : gpu->most_stored;
    gpu_use_threads(gpu, series->threads);
    CU_ASSERT_TRUE_FATAL(trial_open(&trial));
    for (int i = 0; i < series->count; i++) {
        run_part(&trial, &series->parts[i]);
        keep(outcomes, i, &trial);
    }
    memcpy(outcomes->out, trial.out, sizeof outcomes->out);
    outcomes->cycles = gpu->cycles;
    outcomes->repeated = gpu->repeated;
    trial_close(&trial);
    gpu_close(gpu);
}

/* Returns how many launches were not played. */
static long compare(Series series)
{
    static Outcomes played, other;

    CU_ASSERT_FATAL(series.count <= MOST);
    run(&series, true, &played);
    run(&series, false, &other);
    CU_ASSERT_EQUAL(played.repeated, 0);
    for (int i = 0; i < series.count; i++) {
        CU_ASSERT_EQUAL(memcmp(&played.time[i], &other.time[i], sizeof *played.time), 0);
        CU_ASSERT_EQUAL(memcmp(played.spent[i], other.spent[i], sizeof *played.spent), 0);
    }
    CU_ASSERT_EQUAL(memcmp(played.out, other.out, sizeof played.out), 0);
    CU_ASSERT_EQUAL(played.cycles, other.cycles);
    return other.repeated;
}

static const Part same[12];

#define SERIES(text, list) .ptx = text, .parts = list, .count = sizeof list / sizeof *list

static void results_are_the_same(void)
{
    CU_ASSERT(compare((Series){ SERIES(loads, same) }) >= 8);
    CU_ASSERT(compare((Series){ SERIES(updates, same) }) >= 1);
}

static void they_are_on_several_threads(void)
{
    CU_ASSERT(compare((Series){ SERIES(loads, same), .threads = 3 }) >= 8);
    CU_ASSERT(compare((Series){ SERIES(updates, same), .threads = 6 }) >= 1);
}

/* `count` launches, of which number `first` and some later ones have another `n`. */
static const Part *some_differ(int count, int first, uint32_t n)
{
    static Part parts[MOST];

    for (int i = 0; i < count; i++)
        parts[i] = (Part){ .n = i == first || (i > first && i * i % 13 == 3) ? n : 0 };
    return parts;
}

/* Number 3 would be the first to repeat another, so that it keeps its traces; number 5 would not.
 */
static void the_last_block_may_differ(void)
{
    for (int first = 3; first <= 5; first += 2) {
        const Part *parts = some_differ(50, first, 64);
        CU_ASSERT(compare((Series){ .ptx = loads, .parts = parts, .count = 50 }) >= 20);
        CU_ASSERT(compare((Series){ .ptx = loads, .parts = parts, .count = 50, .threads = 3 }) >=
                  20);
    }
}

/* The same traces, but a copy has displaced lines of the L2, or brought others to the front. */
static void what_the_l2_holds_may_differ(void)
{
    static Part parts[50];

    for (int i = 0; i < 50; i++)
        parts[i].bytes = i % 11 == 7 ? 400u << 10 : i % 11 == 4 ? 8u << 10 : 0;
    CU_ASSERT(compare((Series){ SERIES(loads, parts) }) >= 10);
    CU_ASSERT(compare((Series){ SERIES(updates, parts) }) >= 10);
}

/* Then the effect of a copy is known, too; and what the launch leaves differs from what it found.
 */
static void copies_may_come_before_each(void)
{
    static const size_t bytes[] = { 8 << 10, 470 << 10, 8 << 10, 300 << 10, 0, 1 << 10 };
    static Part parts[90];

    for (int i = 0; i < 90; i++)
        parts[i] = (Part){ .bytes = i < 30   ? bytes[i % 2]
                                    : i < 60 ? bytes[i % 6]
                                             : bytes[5],
                           .n = i % 9 == 8 ? 64 : 0 };
    compare((Series){ SERIES(loads, parts) });
    CU_ASSERT(compare((Series){ SERIES(updates, parts) }) >= 40);
}

/* The same traces, but less of the L1 is left. */
static void shared_memory_may_differ(void)
{
    static Part parts[40];

    for (int i = 0; i < 40; i++)
        parts[i].shared = i % 4 == 3 ? 32 << 10 : 0;
    CU_ASSERT(compare((Series){ SERIES(loads, parts) }) >= 10);
}

/* A series of `count` launches with several shapes in turn. */
static const Part *in_turn(int count, int shapes, uint32_t numbers)
{
    static Part parts[MOST];

    for (int i = 0; i < count; i++)
        parts[i] = (Part){ .blocks = 12 + i % shapes, .n = 64 * ((uint32_t) i / 2 % numbers) };
    return parts;
}

static void shapes_may_take_turns(void)
{
    CU_ASSERT(compare((Series){ .ptx = loads, .parts = in_turn(40, 3, 1), .count = 40 }) >= 20);
    CU_ASSERT(compare((Series){ .ptx = updates, .parts = in_turn(40, 2, 1), .count = 40 }) >= 5);
    CU_ASSERT(compare((Series){ .ptx = loads, .parts = in_turn(60, 2, 3), .count = 60 }) >= 10);
}

/* The same blocks, in another order or side by side: several have begun when one differs. */
static void the_order_of_blocks_may_differ(void)
{
    static Part parts[60];

    for (int i = 0; i < 60; i++)
        parts[i] = (Part){ .seed = i % 12 == 9 ? 7 : 1, .n = i % 15 == 13 ? 64 : 0 };
    for (int side_by_side = 0; side_by_side < 2; side_by_side++) {
        const Series series = { SERIES(loads, parts), .schedule = SCHEDULE_RANDOM,
                                .side_by_side = side_by_side };
        CU_ASSERT(compare(series) >= 20);
    }
}

/* It is known from the first block on, from the last, or never. */
static void a_function_may_be_called(void)
{
    CU_ASSERT(compare((Series){ .ptx = calls, .parts = some_differ(50, 3, 64), .count = 50 }) >=
              20);
}

static void traces_may_be_too_large(void)
{
    CU_ASSERT_EQUAL(compare((Series){ SERIES(loads, same), .most_kept = 10000 }), 0);
}

/* There is memory for some of them, or for none; or there are too many. */
static void launches_may_be_forgotten(void)
{
    const Part *parts = in_turn(60, 3, 1);
    const Series usual = { .ptx = loads, .parts = parts, .count = 60 };
    Series some = usual, none = usual;

    some.most_stored = 60000;
    none.most_stored = 100;
    CU_ASSERT(compare(some) < compare(usual));
    CU_ASSERT_EQUAL(compare(none), 0);
    compare((Series){ .ptx = loads, .parts = in_turn(100, 70, 1), .count = 100 });
}

/* In the last wave, of which a block may have more to do. */
static void blocks_may_be_left_out(void)
{
    const Part *parts = some_differ(50, 3, 64);

    CU_ASSERT(compare((Series){ .ptx = calls, .parts = parts, .count = 50, .most_played = 300 }) >=
              20);
    CU_ASSERT(compare((Series){ SERIES(loads, same), .most_played = 500 }) >= 6);
    compare((Series){ SERIES(updates, same), .most_played = 500 });
}

static void a_clock_may_be_read(void)
{
    static const Part always[] = {
        { .n = 64 }, { .n = 64 }, { .n = 64 }, { .n = 64 }, { .n = 64 }
    };

    for (int first = 3; first <= 5; first += 2)
        CU_ASSERT(compare((Series){
                      .ptx = clocks, .parts = some_differ(50, first, 64), .count = 50 }) >= 20);
    CU_ASSERT_EQUAL(compare((Series){ SERIES(clocks, always) }), 0);
}

static void a_launch_may_fail(void)
{
    static const Part parts[] = { { 0 }, { 0 }, { 0 }, { 0 }, { 0 }, { .n = 9999 }, { 0 }, { 0 } };

    CU_ASSERT(compare((Series){ SERIES(faults, parts) }) >= 1);
}

static void causes_may_be_left_out(void)
{
    for (int cause = 0; cause < CAUSES; cause++) {
        const long repeated = compare((Series){ SERIES(loads, same), .without = 1u << cause });
        CU_ASSERT(cause == CAUSE_SECTORS ? repeated == 0 : repeated >= 6);
    }
}

/* ---- Parts ---- */

static Digest digest(const char *bytes, size_t count, size_t first)
{
    Digester digester;

    digest_begin(&digester);
    digest_bytes(&digester, bytes, first);
    digest_bytes(&digester, bytes + first, count - first);
    return digest_of(&digester);
}

static void digests_differ(void)
{
    char bytes[101] = { 0 };

    for (size_t count = 1; count <= 100; count++)
        for (size_t i = 0; i < 8 * count; i++) {
            const Digest before = digest(bytes, count, 0);
            CU_ASSERT_TRUE(digest_is(before, digest(bytes, count, 0)));
            bytes[i / 8] ^= (char) (1 << i % 8);
            CU_ASSERT_FALSE(digest_is(before, digest(bytes, count, 0)));
            CU_ASSERT_TRUE(i % 64 ||
                           digest_is(digest(bytes, count, 0), digest(bytes, count, count)));
        }
}

/* A cache that has been packed has the same lines, in the same order. */
static void packed_caches_are_the_same(void)
{
    const size_t bytes = 7 * 1024;
    uint64_t words[1000];
    Cache a, b;

    CU_ASSERT_TRUE_FATAL(cache_open(&a, bytes, 4) && cache_open(&b, bytes, 4));
    CU_ASSERT_FATAL(cache_packed_words(&a) <= 1000);
    for (uint64_t i = 0; i < 1000; i++) {
        CacheLine displaced[2], *line[2];
        bool is_new[2];
        const uint64_t at = i * i % 83;
        if (i % 100 == 50)
            cache_displace(&a, 30);
        if (i % 50 == 0 || i % 100 == 50) {
            cache_pack(&a, words);
            cache_unpack(&b, words);
        }
        line[0] = cache_line(&a, at, &is_new[0], &displaced[0]);
        line[1] = cache_line(&b, at, &is_new[1], &displaced[1]);
        CU_ASSERT_EQUAL(is_new[0], is_new[1]);
        CU_ASSERT(!is_new[0] || displaced[0].line == displaced[1].line);
        CU_ASSERT(is_new[0] ||
                  (line[0]->dirty == line[1]->dirty && line[0]->valid == line[1]->valid &&
                   line[0]->written[3] == line[1]->written[3]));
        for (int k = 0; k < 2; k++) {
            line[k]->dirty |= (uint8_t) (1 << i % 4);
            line[k]->valid |= (uint8_t) (1 << i % 3);
            line[k]->written[3] = (uint8_t) (i % 32);
        }
    }
    cache_close(&a);
    cache_close(&b);
}

static CU_TestInfo tests[] = {
    { "results are the same", results_are_the_same },
    { "they are on several threads", they_are_on_several_threads },
    { "the last block may differ", the_last_block_may_differ },
    { "what the L2 holds may differ", what_the_l2_holds_may_differ },
    { "copies may come before each", copies_may_come_before_each },
    { "shared memory may differ", shared_memory_may_differ },
    { "shapes may take turns", shapes_may_take_turns },
    { "the order of blocks may differ", the_order_of_blocks_may_differ },
    { "a function may be called", a_function_may_be_called },
    { "traces may be too large", traces_may_be_too_large },
    { "launches may be forgotten", launches_may_be_forgotten },
    { "blocks may be left out", blocks_may_be_left_out },
    { "a clock may be read", a_clock_may_be_read },
    { "a launch may fail", a_launch_may_fail },
    { "causes may be left out", causes_may_be_left_out },
    { "digests differ", digests_differ },
    { "packed caches are the same", packed_caches_are_the_same },
    CU_TEST_INFO_NULL,
};

CU_SuiteInfo test_sim_time_repeats = { "test_sim_time_repeats", NULL, NULL, NULL, NULL, tests };
