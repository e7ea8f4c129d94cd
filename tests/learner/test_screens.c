/* test_screens.c - what a learner sees after a grading: bars, the ladder, one lab's page, the table
 * of labs, `make` alone. Their texts are in tests/warpbook.golden; here are their rules. */
#include "capture.h"
#include "golden.h"
#include "learner/bar.h"
#include "learner/labs_table.h"
#include "learner/left_to_do.h"
#include "learner/ladder_place.h"
#include "learner/next.h"
#include "learner/page.h"
#include "learner/record.h"
#include "rows.h"

#include <CUnit/CUnit.h>
#include <math.h>
#include <string.h>

/* ---- Bars ---- */

static void bars_reach_the_mark_only_if_passed(void)
{
    static const struct {
        double ratio, bar;
        const char *drawn, *percent;
    } rows[] = {
        { 0, 0.55, "[...........|.........]", "0 %" },
        { 0.004, 0.55, "[#..........|.........]", "0 %" },
        { 0.5499, 0.55, "[##########.|.........]", "54 %" }, /* never looks like a pass */
        { 0.55, 0.55, "[###########|.........]", "55 %" },
        { 1, 0.55, "[###########|#########]", "100 %" },
        { 1.4, 0.55, "[###########|#########]", "140 %" },
        { 0.6, 0, "[#############........]", "60 %" },
        { 1, 1, "[####################|]", "100 %" },
        { 0.5, 0.01, "[|##########..........]", "50 %" },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        char drawn[BAR_COLUMNS + 1], percent[16];
        bar_draw(rows[i].ratio, rows[i].bar, drawn, sizeof drawn);
        bar_percent(rows[i].ratio, rows[i].bar, percent, sizeof percent);
        if (strcmp(drawn, rows[i].drawn) || strcmp(percent, rows[i].percent))
            FAIL_SAYING("row %zu: %s %s", i, drawn, percent);
    }
}

/* ---- The ladder ---- */

static void a_speed_has_its_place(void)
{
    static const double ratios[] = { 0.05, 0.14, 0.43, 0.42, 1.0 }, gap[] = { 0.05, 0, 1.0 };
    static const struct {
        const double *ratios;
        int count;
        double mine;
        const char *said;
    } rows[] = {
        { ratios, 5, 0.30, "between rung 2 (14 %) and 4 (42 %)" },
        { ratios, 5, 0.43, "like rung 3 (43 %)" },
        { ratios, 5, 0.95, "close to rung 5 (100 %)" },
        { ratios, 5, 0.047, "close to rung 1 (5 %)" },
        { ratios, 5, 0.02, "below rung 1 (5 %)" },
        { ratios, 5, 0.99, "like rung 5 (100 %)" },
        { ratios, 5, 1.2, "above all rungs, also 5 (100 %)" },
        { gap, 3, 0.5, "between rung 1 (5 %) and 3 (100 %)" },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[300];
        ladder_place_say(rows[i].ratios, rows[i].count, rows[i].mine, text, sizeof text);
        if (strcmp(text, rows[i].said))
            FAIL_SAYING("row %zu: %s", i, text);
    }
}

/* ---- The rungs of docs/measured ---- */

static char folder[64];
static Session session = { .simulated = "as asked for", .seed = 255 };

/* Writes a file below the folder. */
static void write_below(const char *name, const char *text)
{
    char path[PATH], *slash;

    PUT(path, "%s/%s", folder, name);
    slash = strrchr(path, '/');
    *slash = 0;
    CU_ASSERT_TRUE_FATAL(make_folders(path));
    *slash = '/';
    CU_ASSERT_TRUE_FATAL(write_file(path, text, strlen(text)));
}

/* ---- What a grading adds to progress ---- */

static const Case cases[] = {
    { "1 x 1", .kind = CORRECT },
    { "3 x 5", .kind = CORRECT },
    { "33 x 33", .kind = CORRECT },
    { "flat", .kind = TIMED },
    { "square", .kind = TIMED },
    { "one row", .kind = CONTROL },
    { "a single block: 1 x 4", .kind = CONTROL },
    { 0 },
};
static const Lab lab = { .title = "matrix transpose",
                         .cases = cases,
                         .hints = { "Look at one warp." },
                         .predictions = { { "sectors", "How many?", 4, 0, "" } } };
static const LabEntry entry = { "06_transpose", &lab };

static const Lab waiting_lab = { .title = "a lab whose blocks wait",
                                 .cases = cases,
                                 .not_modelled =
                                     "Not modelled here: waiting. A chain would pass." };
static const LabEntry waiting = { "10_scan", &waiting_lab };

static CaseSpeed speed(int i, double ratio, double bar, double gbps)
{
    return (CaseSpeed){ .lab_case = &cases[i],
                        .bar = bar,
                        .measured = true,
                        .ratio = { ratio, ratio, ratio },
                        .student_ms = 1 / ratio,
                        .reference_ms = 1,
                        .gbps = gbps,
                        .reference_gbps = gbps / ratio };
}

static Result timed(Verdict verdict, double flat, double square)
{
    Result result = { .entry = &entry,
                      .verdict = verdict,
                      .right_cases = 7,
                      .ratio = fmin(flat, square),
                      .speeds = 3,
                      .seed = 255 };

    result.speed[0] = speed(3, flat, 0.75, 131 * flat);
    result.speed[1] = speed(4, square, 0.50, 131 * square);
    result.speed[2] = speed(5, 1, 0, 87);
    return result;
}

static void the_way_to_a_pass_is_counted(void)
{
    Progress p = { 0 };
    Result starter = timed(UNCHANGED, 0.06, 0.11), wrong = { .entry = &entry, .verdict = WRONG },
           build = { .entry = &entry, .verdict = BUILD }, slow = timed(SLOW, 0.42, 0.40),
           pass = timed(PASS, 0.99, 0.98);

    record_add(&starter, 1, &p);
    CU_ASSERT_EQUAL(p.attempts, 0);
    CU_ASSERT_DOUBLE_EQUAL(p.first_ratio, 0.06, 1e-9);
    record_add(&wrong, 2, &p);
    record_add(&wrong, 2, &p); /* the same kernel again is no new attempt */
    p.hints = 1;
    CU_ASSERT_EQUAL(p.attempts, 1);
    record_add(&build, 6, &p); /* the compiler's errors are no attempt */
    CU_ASSERT_EQUAL(p.attempts, 1);
    record_add(&slow, 3, &p);
    CU_ASSERT_DOUBLE_EQUAL(p.reached, 0.42,
                           1e-9); /* 0.42 of 0.75 is farther off than 0.40 of 0.50 */
    CU_ASSERT_DOUBLE_EQUAL(p.bar, 0.75, 1e-9);
    record_add(&pass, 4, &p);
    p.hints = 3;
    record_add(&slow, 5,
               &p); /* a later grading does not count as an attempt, nor do its hints count */
    CU_ASSERT_EQUAL(p.hints_used, 1);
    CU_ASSERT_EQUAL(p.attempts, 3);
    CU_ASSERT_EQUAL(p.best, PASS);
    CU_ASSERT_EQUAL(p.latest, SLOW);
    CU_ASSERT_DOUBLE_EQUAL(p.first_ratio, 0.06, 1e-9);
    CU_ASSERT_PTR_EQUAL(p.first_case, &cases[3]);
    CU_ASSERT_EQUAL(p.key, 5);
}

/* A modelled speed has no place among speeds that an H200 reached. */
static void only_a_measured_speed_has_a_place(void)
{
    Result pass = timed(PASS, 0.80, 0.99);
    char text[300];

    write_below("solutions/06_transpose/0_starter.cu", "");
    write_below("solutions/06_transpose/1_tile.cu", "");
    write_below("docs/measured/06_transpose.check.txt",
                "device: Unknown GPU, 4 SMs\ndate: 2026-11-25\n"
                "1_tile/flat/GB/s 4000\n1_tile/flat/ratio 1.000\n");
    CU_ASSERT_FALSE(ladder_place(&session.book, &pass, text, sizeof text));
    pass.speed[0].pairs = pass.speed[1].pairs = 1;
    CU_ASSERT_TRUE(ladder_place(&session.book, &pass, text, sizeof text));
}

/* ---- Screens ---- */

enum { MOST_LINES = 14 }; /* the device takes one more */

static int make_folder(void)
{
    PUT(folder, "/tmp/warpbook-screens-XXXXXX");
    if (!mkdtemp(folder))
        return 1;
    PUT(session.book.root, "%s", folder);
    PUT(session.book.progress, "%s/.warpbook/progress", folder);
    return 0;
}

static int remove_folder(void)
{
    remove_tree(folder);
    return 0;
}

static int lines_of(const char *text)
{
    int lines = 0;

    for (; *text; text++)
        lines += *text == '\n';
    return lines;
}

/* Compares a screen with its golden text, and checks that it is small. */
static void screen(const char *name, const char *text, int most)
{
    char section[80];

    golden(PUT(section, "screen: %s", name), text);
    if (!fits(80, text) || lines_of(text) > most)
        FAIL_SAYING("%s: %d lines:\n%s", name, lines_of(text), text);
}

static void page(const char *name, const Result *result, const Progress *progress)
{
    static Capture capture;

    capture_begin(&capture, stdout);
    print_page(&session, result, progress);
    screen(name, capture_end(&capture), MOST_LINES);
}

static void a_page_has_one_next_step(void)
{
    Progress p = { .graded = true,
                   .attempts = 3,
                   .hints = 3,
                   .hints_used = 1,
                   .first_ratio = 0.06,
                   .first_case = &cases[4] };
    Result pass = timed(PASS, 0.998, 0.97), slow = timed(SLOW, 0.42, 0.49),
           starter = timed(UNCHANGED, 0.06, 0.11),
           wrong = { .entry = &entry,
                     .verdict = WRONG,
                     .right_cases = 1,
                     .wrong_cases = 6,
                     .seed = 255,
                     .why =
                         "case 3 x 5: in out, row 0, column 1 is 1, expected 5; 10 of 15 elements "
                         "checked are wrong: rows and columns swapped" },
           build = { .entry = &entry,
                     .verdict = BUILD,
                     .why = "labs/06_transpose/kernel.cu does not compile:\nlabs/06_transpose/"
                            "kernel.cu:3: error: expected a thing\n  int x;\n      ^\n" },
           crash = { .entry = &entry,
                     .verdict = CRASH,
                     .right_cases = 1,
                     .seed = 255,
                     .printed = "1\n2\n3\n4\n5\n",
                     .why = "case 3 x 5: its process was killed by signal 8 (Floating point "
                            "exception)" };

    PUT(slow.cause, "kernel.cu:45: bank conflicts: shared memory needs 16.5x the conflict-free "
                    "number of wavefronts (16.5 per access on average); aim for at most 6.00x");
    starter.as_it_ran = SLOW;
    p.best = p.latest = PASS;
    page("pass", &pass, &p);
    PUT(pass.above,
        "Fast enough, but above a limit: kernel.cu:16: writes to "
        "`out` touch 4.0x the minimum number of 32-byte sectors (16.0 per request); aim "
        "for at most 1.15x");
    page("pass above a limit", &pass, &p);
    *pass.above = 0;
    pass.entry = &waiting;
    pass.speed[2].lab_case = &cases[6];
    pass.speed[2].gbps = 0.1; /* of a control case this tells nothing */
    page("pass without what is not modelled", &pass, &p);
    p.best = p.latest = SLOW;
    page("slow", &slow, &p);
    PUT(slow.source, "work/labs/06_transpose/kernel.cu");
    page("submission of a kernel.cu", &slow, NULL);
    PUT(slow.source, "work/bug.cu");
    slow.speed[0].gbps = 0.61;
    page("submission", &slow, NULL);
    p.best = p.latest = WRONG;
    page("wrong", &wrong, &p);
    p.latest = BUILD;
    page("build", &build, &p);
    p.latest = CRASH;
    page("crash", &crash, &p);
    p.best = p.latest = UNCHANGED;
    page("unchanged", &starter, &p);
}

static void todos_that_are_open(void)
{
    static const struct {
        const char *kernel, *named;
        int count;
    } rows[] = {
        { "a\n// TODO 1\nb\n// TODO 2", "kernel.cu:2, 4", 2 },
        { "// TODO 2\n", "kernel.cu:1", 1 },
        { "a\n// TODO 1: done\nb\n", "", 0 }, /* changed */
        { "// TODO of my own\n", "", 0 },
        { "a\nb\n", "", 0 },
        { "", "", 0 },
    };
    char text[80];

    for (size_t i = 0; i < COUNT(rows); i++) {
        CU_ASSERT_EQUAL(
            open_todos("x\n// TODO 1\ny\n// TODO 2\na\n", rows[i].kernel, text, sizeof text),
            rows[i].count);
        CU_ASSERT_STRING_EQUAL(text, rows[i].named);
    }
}

/* The verdict comes first, and predictions take one line. */
static void predictions_take_one_line(void)
{
    static const char guess[] = "sectors: 4\n";
    Progress p = { .graded = true, .best = SLOW, .latest = SLOW };
    Result slow = timed(SLOW, 0.42, 0.49);
    char path[PATH];

    PUT(slow.cause, "kernel.cu:45: bank conflicts");
    CU_ASSERT_TRUE_FATAL(make_folders(PUT(path, "%s/labs/06_transpose", folder)));
    lab_file(&session.book, &entry, "predictions.txt", path);
    CU_ASSERT_TRUE(write_file(path, guess, strlen(guess)));
    page("predictions", &slow, &p);
    setenv(NEXT_IN_WATCH, "1", true);
    page("predictions, in watch", &slow, &p);
    unsetenv(NEXT_IN_WATCH);
    remove(path);
}

/* The widest figures end in column 80, and what was not checked is said to be too large. */
static void wide_figures_fit(void)
{
    static const double gflops[] = { 157, 28.3, 999, 38210 };
    Progress p = { .graded = true, .best = PASS, .latest = PASS, .attempts = 4, .remedy_shown = 1 };
    Result pass = timed(PASS, 0.98, 0.98);

    pass.right_cases = 3;
    for (size_t i = 0; i < COUNT(gflops); i++) {
        char name[80];
        pass.speed[0].gflops = gflops[i];
        pass.speed[0].gbps = 1;
        page(PUT(name, "%.0f GFLOP/s", gflops[i]), &pass, &p);
    }
    pass.speed[0].gsteps = 1522;
    page("steps", &pass, &p);
}

/* Next to make watch, no next step is to start make watch. */
static void in_watch_keys_and_saves_are_next(void)
{
    static const Verdict verdicts[] = { UNCHANGED, BUILD, WRONG, SLOW, PASS };

    setenv(NEXT_IN_WATCH, "1", true);
    for (size_t i = 0; i < COUNT(verdicts); i++) {
        Progress p = { .graded = true, .best = verdicts[i], .latest = verdicts[i] };
        Result result = timed(verdicts[i], 0.42, 0.49);
        char name[80];
        page(PUT(name, "in watch, %s", verdict_word(verdicts[i])), &result, &p);
    }
    unsetenv(NEXT_IN_WATCH);
}

static void a_row_fits(void)
{
    static Capture capture;
    Progress p = { .latest = UNCHANGED, .best = UNCHANGED, .graded = true };
    static const Verdict failures[] = { WRONG, UNSAFE, CRASH, BUILD, CORRECT_ONLY, UNSUPPORTED };

    capture_begin(&capture, stdout);
    labs_table_head();
    labs_table_row(&entry, &p, "");
    for (int i = 0; i < 3; i++) {
        p.reached = (double[]){ 0.06, 0.42, 0.998 }[i];
        p.bar = 0.75;
        p.latest = (Verdict[]){ UNCHANGED, SLOW, PASS }[i];
        labs_table_row(&entry, &p, i == 1 ? "22:51" : "");
    }
    p.diagnosis.lab_case = &cases[1];
    for (size_t i = 0; i < COUNT(failures); i++) {
        p.latest = failures[i];
        p.diagnosis.saw = diagnosis_possible(failures[i]); /* more than a row has room for */
        labs_table_row(&entry, &p, "11-23");
    }
    screen("table", capture_end(&capture), 12);
}

static void the_first_lab_that_is_not_done_is_next(void)
{
    const LabEntry *third = &all_labs[2];
    Progress p = { .graded = true, .latest = SLOW, .best = PASS };
    int labs;

    remove_tree(folder);
    CU_ASSERT_PTR_EQUAL(next_lab(session.book.progress), &all_labs[0]);
    CU_ASSERT_TRUE(progress_save(session.book.progress, &all_labs[0], &p));
    p.best = CORRECT_ONLY;
    CU_ASSERT_TRUE(progress_save(session.book.progress, &all_labs[1], &p));
    CU_ASSERT_PTR_EQUAL(next_lab(session.book.progress), third);
    CU_ASSERT_EQUAL(next_count_done(session.book.progress, &labs), 2);
    for (const LabEntry *e = third; e->folder; e++)
        CU_ASSERT_TRUE(progress_save(session.book.progress, e, &p));
    CU_ASSERT_PTR_NULL(next_lab(session.book.progress));
    CU_ASSERT_EQUAL(next_count_done(session.book.progress, &labs), labs);
}

CU_SuiteInfo test_screens = {
    "screens",
    .pInitFunc = make_folder,
    .pCleanupFunc = remove_folder,
    .pTests =
        (CU_TestInfo[]){
            { "bars reach the mark only if passed", bars_reach_the_mark_only_if_passed },
            { "a speed has its place", a_speed_has_its_place },
            { "the way to a pass is counted", the_way_to_a_pass_is_counted },
            { "only a measured speed has a place", only_a_measured_speed_has_a_place },
            { "a page has one next step", a_page_has_one_next_step },
            { "TODO lines that are open", todos_that_are_open },
            { "predictions take one line", predictions_take_one_line },
            { "in watch, keys and saves are next", in_watch_keys_and_saves_are_next },
            { "wide figures fit", wide_figures_fit },
            { "a row fits", a_row_fits },
            { "the first lab that is not done is next", the_first_lab_that_is_not_done_is_next },
            CU_TEST_INFO_NULL,
        },
};
