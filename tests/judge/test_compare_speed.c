/* test_compare_speed.c - the comparison of two speeds, with scripted samples instead of a clock. */
#include "judge/compare_speed.h"
#include "base/util.h"

#include <CUnit/CUnit.h>
#include <math.h>
#include <string.h>

/* A side whose samples depend only on their number: the n-th takes base times a factor. */
typedef struct Script {
    double base_ms;
    double (*factor)(int n, uint64_t *random);
    double parent_extra_ms; /* time that only the parent's clock sees */
    int passes;             /* 0: one */
    double lie;             /* the events report this share of the time; 0: all of it */
    int fail_at;            /* this sample fails; 0: none */
    Verdict failure;
    uint64_t random;
    int *n; /* samples of both sides so far: drift affects both */
} Script;

static Verdict sample(void *self, Sample *s)
{
    Script *script = self;
    int n = (*script->n)++;
    double ms = script->base_ms * (script->factor ? script->factor(n, &script->random) : 1);

    if (script->fail_at && n >= script->fail_at)
        return script->failure;
    *s = (Sample){ .calls = 10, .passes = script->passes ? script->passes : 1 };
    s->parent_ms = 10 * ms + 0.015 + script->parent_extra_ms;
    s->event_ms = 10 * ms * (script->lie > 0 ? script->lie : 1);
    return PASS;
}

static Outcome run(Script reference, Script student, double bar)
{
    int n = 0;
    Outcome outcome;
    Comparison it = { .reference = { &reference, sample },
                      .student = { &student, sample },
                      .bar = bar,
                      .least = 15,
                      .most = 120,
                      .budget_s = 3,
                      .random = 42 };

    reference.n = student.n = &n;
    compare_speed(&it, &outcome);
    return outcome;
}

static double uniform(uint64_t *random)
{
    return (double) (next_random(random) >> 11) * 0x1p-53;
}

/* ---- Noise of several kinds, the same for both sides ---- */

static double little_noise(int n, uint64_t *random)
{
    (void) n;
    return 1 + 0.004 * (uniform(random) - 0.5);
}

static double drift(int n, uint64_t *random) /* 1 % slower with every sample */
{
    return little_noise(n, random) * (1 + 0.01 * n);
}

static double step(int n, uint64_t *random) /* the clock drops by a third for a while */
{
    return little_noise(n, random) * (n > 20 && n < 30 ? 1.5 : 1);
}

static double outliers(int n, uint64_t *random) /* one sample in eight takes three times as long */
{
    return little_noise(n, random) * (uniform(random) < 0.125 ? 3 : 1);
}

static double bimodal(int n, uint64_t *random) /* two modes 2 % apart */
{
    return little_noise(n, random) * (uniform(random) < 0.5 ? 1 : 1.02);
}

static double second_is_slow(int n, uint64_t *random) /* the second of a pair takes 10 % longer */
{
    return little_noise(n, random) * (n % 2 ? 1.1 : 1);
}

static void noise_of_the_machine_cancels(void)
{
    static const struct {
        double (*factor)(int, uint64_t *);
        double tolerance;
    } rows[] = {
        { NULL, 1e-9 },     { little_noise, 0.003 }, { drift, 0.005 },          { step, 0.004 },
        { outliers, 0.01 }, { bimodal, 0.012 },      { second_is_slow, 0.005 },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Outcome f = run((Script){ .base_ms = 1, .factor = rows[i].factor, .random = 1 },
                        (Script){ .base_ms = 1.6, .factor = rows[i].factor, .random = 2 }, 0.75);
        CU_ASSERT_EQUAL(f.verdict, PASS);
        CU_ASSERT_DOUBLE_EQUAL(f.ratio.median, 1 / 1.6, rows[i].tolerance);
        CU_ASSERT(f.ratio.hi < 0.75);
    }
}

static void slow_and_fast_are_distinguished(void)
{
    static const struct {
        double speed;
        bool below, above;
    } rows[] = { { 0.97 * 0.75, true, false },
                 { 1.03 * 0.75, false, true },
                 { 0.1, true, false },
                 { 1.5, false, true } };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Outcome f = run(
            (Script){ .base_ms = 1, .factor = little_noise, .random = 1 },
            (Script){ .base_ms = 1 / rows[i].speed, .factor = little_noise, .random = 2 }, 0.75);
        CU_ASSERT_EQUAL(f.ratio.hi < 0.75, rows[i].below);
        CU_ASSERT_EQUAL(f.ratio.lo > 0.75, rows[i].above);
    }
}

static void hopeless_ends_early(void)
{
    Outcome f = run((Script){ .base_ms = 1 }, (Script){ .base_ms = 10 }, 0.75);

    CU_ASSERT_EQUAL(f.blocks, 3);
}

/* Really takes this long; see budget_s. */
static Verdict takes_its_time(void *self, Sample *s)
{
    sleep_s(0.05);
    return sample(self, s);
}

static void a_very_slow_one_is_not_run_for_long(void)
{
    int n = 0;
    Outcome f;
    Script reference = { .base_ms = 1, .n = &n }, student = { .base_ms = 100, .n = &n };
    Comparison it = { .reference = { &reference, sample },
                      .student = { &student, takes_its_time },
                      .bar = 0.75,
                      .least = 15,
                      .most = 120,
                      .budget_s = 0.15,
                      .random = 7 };

    compare_speed(&it, &f);
    CU_ASSERT_EQUAL(n, 8); /* two blocks, of which the first counts */
    CU_ASSERT_EQUAL(f.blocks, 2);
    CU_ASSERT(f.cut_short);
    CU_ASSERT_DOUBLE_EQUAL(f.ratio.median, 0.01, 1e-9);

    n = 0;
    it.bar = 0; /* a control */
    compare_speed(&it, &f);
    CU_ASSERT(n <= 20); /* of 60: it does not affect the verdict, but may take a little longer */
}

static void clear_ends_at_fifteen(void)
{
    Outcome f = run((Script){ .base_ms = 1 }, (Script){ .base_ms = 1 }, 0.75);

    CU_ASSERT_EQUAL(f.blocks, 15);
}

/* Comparisons of kernels whose ratios have the median `truth`, with one kind of noise. */
typedef struct Tally {
    int runs, misses, below; /* the interval misses the truth; lies below the bar */
} Tally;

static Tally compare_often(double (*factor)(int, uint64_t *), double truth, double bar, int runs)
{
    Tally tally = { .runs = runs };

    for (int i = 0; i < runs; i++) {
        Outcome f =
            run((Script){ .base_ms = 1, .factor = factor, .random = 2 * (uint64_t) i + 1 },
                (Script){
                    .base_ms = 1 / truth, .factor = factor, .random = 2 * (uint64_t) i + 2000001 },
                bar);
        tally.misses += f.ratio.lo > truth * 1.000001 || f.ratio.hi < truth / 1.000001;
        tally.below += f.ratio.hi < bar;
    }
    return tally;
}

static double heavy(int n, uint64_t *random) /* the tail of a Cauchy distribution, cut at ten */
{
    (void) n;
    return 1 + 0.002 * fmin(10, fabs(tan(3.14159265358979 * (uniform(random) - 0.5))));
}

/* With a look after every block, one comparison in five would miss the truth. */
static void the_interval_holds_the_truth_at_every_end(void)
{
    static const struct {
        double (*factor)(int, uint64_t *);
        double truth;
        int runs;
    } rows[] = {
        { little_noise, 0.75, 2500 }, { heavy, 0.75, 700 },         { bimodal, 0.75, 700 },
        { outliers, 0.75, 600 },      { little_noise, 0.76, 5500 },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Tally tally = compare_often(rows[i].factor, rows[i].truth, 0.75, rows[i].runs);
        CU_ASSERT(tally.misses <= tally.runs / 20);
        CU_ASSERT(tally.below <= tally.runs / 20);
    }
}

/* Every block is late, because another program is running. */
static Verdict always_later(void *self, Sample *s)
{
    Script *script = self;
    Verdict verdict = sample(self, s);

    sleep_s(0.001);
    s->parent_ms += *script->n % 2 ? 0 : 50;
    return verdict;
}

static void it_ends_if_all_blocks_are_dropped(void)
{
    int n = 0;
    Outcome f;
    Script reference = { .base_ms = 1, .n = &n }, student = { .base_ms = 1, .n = &n };
    Comparison it = { .reference = { &reference, always_later },
                      .student = { &student, always_later },
                      .bar = 0.75,
                      .least = 15,
                      .most = 120,
                      .budget_s = 0.005,
                      .random = 7 };
    double start = now_s();

    compare_speed(&it, &f);
    CU_ASSERT(now_s() - start < 10 * 20 * it.budget_s);
    CU_ASSERT(n < 4 * SPEED_BLOCKS);
}

/* A side whose samples are slightly late: each one, or every second one. */
typedef struct Late {
    Script script;
    double late_ms;
    int every, n;
} Late;

static Verdict late_sample(void *self, Sample *s)
{
    Late *late = self;
    Verdict verdict = sample(&late->script, s);

    s->parent_ms += ++late->n % late->every ? 0 : late->late_ms;
    return verdict;
}

/* Twice as slow as the reference, and late enough to look disturbed. */
static void lateness_is_no_way_out(void)
{
    static const double late_ms[] = { 0.35, 1.2, 1.5, 2.5, 5, 30 }; /* of passes of 100 ms */

    for (size_t i = 0; i < sizeof late_ms / sizeof *late_ms; i++)
        for (int every = 1; every <= 2; every++) {
            int n = 0;
            Outcome f;
            Script reference = { .base_ms = 10, .n = &n };
            Late student = { { .base_ms = 20, .n = &n }, late_ms[i], every, 0 };
            Comparison it = { .reference = { &reference, sample },
                              .student = { &student, late_sample },
                              .bar = 0.75,
                              .least = 15,
                              .most = 120,
                              .budget_s = 3,
                              .random = 7 };

            compare_speed(&it, &f);
            CU_ASSERT(f.blocks >= 15 && f.ratio.hi < 0.75);
        }
}

static void at_the_bar_it_runs_to_the_end(void)
{
    Outcome f = run((Script){ .base_ms = 1, .factor = bimodal, .random = 1 },
                    (Script){ .base_ms = 1 / 0.75, .factor = bimodal, .random = 2 }, 0.75);

    CU_ASSERT_EQUAL(f.blocks, 120);
    CU_ASSERT(f.ratio.lo <= 0.75 && 0.75 <= f.ratio.hi);
}

/* ---- Clocks ---- */

/* By the events, samples of the reference take 10 ms. */
static void hidden_time_is_seen_on_any_host(void)
{
    static const struct {
        double host_ms,
            hidden_ms; /* waiting time per sample: of both sides; of the student's only */
        int passes;
        bool by_parent;
        double ratio;
    } rows[] = {
        { 0, 0, 1, false, 1 },    { 0.5, 0, 1, false, 1 }, /* a slow host, not the kernel's fault */
        { 3, 0, 1, false, 1 },    { 0, 0.08, 1, false, 1 }, /* 0.8 %: may be the pipe */
        { 0, 2.5, 1, true, 0.8 }, { 3, 2.5, 1, true, 0.8 }, { 0, 0.5, 1, true, 10 / 10.5 },
        { 3, 2.5, 8, true, 0.8 }, /* short passes hide no more */
        { 8, 0, 16, false, 1 },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Script reference = { .base_ms = 1, .passes = rows[i].passes };
        Script student = reference;
        Outcome f;
        reference.parent_extra_ms = rows[i].host_ms;
        student.parent_extra_ms = rows[i].host_ms + rows[i].hidden_ms;
        f = run(reference, student, 0.75);
        CU_ASSERT_EQUAL(f.by_parent, rows[i].by_parent);
        CU_ASSERT_DOUBLE_EQUAL(f.ratio.median, rows[i].ratio, 1e-6);
        CU_ASSERT_EQUAL(f.disturbed, 0);
    }
}

/* A kernel that keeps running works on the next inputs while they are filled; that time is also
 * measured. */
static Verdict works_between(void *self, Sample *s)
{
    Script *script = self;
    Verdict verdict = sample(self, s);

    s->between_ms = 1 + 0.3 * uniform(&script->random) + script->parent_extra_ms;
    s->parent_ms -= script->parent_extra_ms;
    return verdict;
}

static void work_between_calls_is_seen(void)
{
    static const struct {
        double between_ms;
        bool seen;
        double ratio;
    } rows[] = { { 0, false, 1 }, { 0.3, false, 1 }, { 2, true, 10 / 12. }, { 40, true, 0.2 } };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int n = 0;
        Outcome f;
        Script reference = { .base_ms = 1, .random = 1, .n = &n };
        Script student = { .base_ms = 1, .random = 2, .n = &n };
        Comparison it = { .reference = { &reference, works_between },
                          .student = { &student, works_between },
                          .bar = 0.75,
                          .least = 15,
                          .most = 120,
                          .budget_s = 3,
                          .random = 7 };

        student.parent_extra_ms = rows[i].between_ms;
        compare_speed(&it, &f);
        CU_ASSERT_EQUAL(f.by_parent, rows[i].seen);
        CU_ASSERT_DOUBLE_EQUAL(f.ratio.median, rows[i].ratio, 0.02);
    }
}

static void a_lie_about_time_does_not_pay(void)
{
    /* Events report a tenth of the true time, so the parent's clock counts, and this is
     * reported. */
    Outcome f = run((Script){ .base_ms = 1 }, (Script){ .base_ms = 5, .lie = 0.1 }, 0.75);

    CU_ASSERT(f.by_parent);
    CU_ASSERT_DOUBLE_EQUAL(f.ratio.median, 0.2, 0.01);
}

static Verdict sometimes_late(void *self, Sample *s)
{
    Script *script = self;
    int n = *script->n;
    Verdict verdict = sample(self, s);

    if (n % 23 == 5)
        s->parent_ms += 2.4; /* another context had a time slice */
    return verdict;
}

static void a_disturbed_block_is_dropped_and_counted(void)
{
    int n = 0;
    Outcome f;
    Script reference = { .base_ms = 1, .n = &n }, student = { .base_ms = 2, .n = &n };
    Comparison it = { .reference = { &reference, sometimes_late },
                      .student = { &student, sometimes_late },
                      .bar = 0.75,
                      .least = 15,
                      .most = 120,
                      .budget_s = 3,
                      .random = 7 };

    compare_speed(&it, &f);
    CU_ASSERT(f.disturbed >= 3);
    CU_ASSERT(!f.by_parent);
    CU_ASSERT_EQUAL(f.blocks, 15);
    CU_ASSERT_DOUBLE_EQUAL(f.ratio.median, 0.5, 1e-9);
}

static bool falling_clock(void *self, double *mhz)
{
    int *n = self;

    *mhz = *n > 16 && *n < 28 ? 1400 : 1980;
    return true;
}

static void a_block_at_another_clock_is_dropped(void)
{
    int n = 0;
    Outcome f;
    Script reference = { .base_ms = 1, .n = &n }, student = { .base_ms = 2, .n = &n };
    Comparison it = { .reference = { &reference, sample },
                      .student = { &student, sample },
                      .bar = 0.75,
                      .least = 15,
                      .most = 120,
                      .budget_s = 3,
                      .random = 7,
                      .clock_mhz = falling_clock,
                      .clock_self = &n };

    compare_speed(&it, &f);
    CU_ASSERT(f.unsteady >= 2);
    CU_ASSERT_EQUAL(f.blocks, 15);
}

static bool restless_clock(void *self, double *mhz)
{
    static int n;

    (void) self;
    *mhz = 1000 + 500 * (n++ % 3);
    return true;
}

static void a_clock_that_never_rests_ends_all_the_same(void)
{
    int n = 0;
    Outcome f;
    Script reference = { .base_ms = 1, .n = &n }, student = { .base_ms = 2, .n = &n };
    Comparison it = { .reference = { &reference, sample },
                      .student = { &student, sample },
                      .bar = 0.75,
                      .least = 15,
                      .most = 120,
                      .budget_s = 3,
                      .random = 7,
                      .clock_mhz = restless_clock };

    compare_speed(&it, &f);
    CU_ASSERT(f.blocks + f.unsteady <= SPEED_BLOCKS);
    CU_ASSERT_EQUAL(f.verdict, PASS);
}

/* ---- Failures ---- */

static void a_failure_names_its_side(void)
{
    static const struct {
        int reference_at, student_at;
        Verdict verdict;
        bool student_failed;
    } rows[] = { { 0, 1, CRASH, true }, { 0, 9, WRONG, true }, { 9, 0, UNSOUND, false } };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Outcome f = run(
            (Script){ .base_ms = 1, .fail_at = rows[i].reference_at, .failure = rows[i].verdict },
            (Script){ .base_ms = 1, .fail_at = rows[i].student_at, .failure = rows[i].verdict },
            0.75);
        CU_ASSERT_EQUAL(f.verdict, rows[i].verdict);
        CU_ASSERT_EQUAL(f.student_failed, rows[i].student_failed);
    }
}

CU_SuiteInfo test_compare_speed = {
    "compare_speed",
    .pTests =
        (CU_TestInfo[]){
            { "noise of the machine cancels", noise_of_the_machine_cancels },
            { "slow and fast are distinguished", slow_and_fast_are_distinguished },
            { "hopeless ends early", hopeless_ends_early },
            { "a very slow one is not run for long", a_very_slow_one_is_not_run_for_long },
            { "clear of the bar ends at fifteen blocks", clear_ends_at_fifteen },
            { "at the bar it runs to the end", at_the_bar_it_runs_to_the_end },
            { "the interval holds the truth at every end",
              the_interval_holds_the_truth_at_every_end },
            { "it ends if all blocks are dropped", it_ends_if_all_blocks_are_dropped },
            { "lateness is no way out", lateness_is_no_way_out },
            { "hidden time is seen on any host", hidden_time_is_seen_on_any_host },
            { "work between calls is seen", work_between_calls_is_seen },
            { "a lie about time does not pay", a_lie_about_time_does_not_pay },
            { "a disturbed block is dropped and counted",
              a_disturbed_block_is_dropped_and_counted },
            { "a block at another clock is dropped", a_block_at_another_clock_is_dropped },
            { "a clock that never rests ends all the same",
              a_clock_that_never_rests_ends_all_the_same },
            { "a failure names its side", a_failure_names_its_side },
            CU_TEST_INFO_NULL,
        },
};
