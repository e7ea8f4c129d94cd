/* test_hints.c - the codes of a grading choose a lab's remedy; a learner gets the remedy first,
 * then the levels. Every remedy of every lab can be chosen. */
#include "capture.h"
#include "learner/progress.h"
#include "rows.h"
#include "base/util.h"

#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char folder[64], file[96];
static Capture capture;

static int make_folder(void)
{
    PUT(folder, "/tmp/warpbook-hints-XXXXXX");
    if (!mkdtemp(folder))
        return 1;
    PUT(file, "%s/progress", folder);
    return 0;
}

static int remove_folder(void)
{
    remove_tree(folder);
    return 0;
}

static const Case some_cases[] = {
    { "1 x 1", { 1 } },
    { "1 x 1, no rounds: the seed", { 1 } },
    { "flat", { 32 }, TIMED, 0.75 },
    { "square", { 32 }, TIMED, 0.75 },
    { 0 },
};

static const Lab some_lab = {
    .title = "some lab",
    .cases = some_cases,
    .hints = { "Look at one warp.", "Tiles.", "Pad them." },
    .remedies = { { "slow sectors_written", "the stores" },
                  { "slow", .in = "square", .text = "only square" },
                  { "slow", .below = 0.3, .text = "a lane a sector" },
                  { "slow", "nearly" },
                  { "wrong tail unwritten", "rounded down" },
                  { "wrong", .in = "no rounds", .text = "no rounds" },
                  { "wrong transposed", "rows for cols" },
                  { "unsafe race", "a barrier" } },
};
static const LabEntry entry = { "01_first", &some_lab };

/* ---- Words ---- */

static void words_and_codes(void)
{
    static const struct {
        Verdict verdict;
        uint64_t saw;
        const char *words;
    } rows[] = {
        { SLOW, SAW(SAW_SECTORS_READ), "sectors_read" },
        { SLOW, SAW(SAW_IDLE_GPU), "idle_gpu" },
        { WRONG, SAW(SAW_TAIL) | SAW(SAW_UNWRITTEN), "tail,unwritten" },
        { UNSAFE, SAW(SAW_OUT_OF_BOUNDS), "out_of_bounds" },
        { STRAY, SAW(SAW_OUT_OF_BOUNDS) | SAW(SAW_INPUT), "out_of_bounds,input" },
        { CRASH, SAW(SAW_HOST_POINTER), "host_pointer" },
        { PASS, 0, "" },
    };
    char words[512];

    for (size_t i = 0; i < COUNT(rows); i++) {
        diagnosis_words(rows[i].saw, words, sizeof words);
        CU_ASSERT_STRING_EQUAL(words, rows[i].words);
        CU_ASSERT_EQUAL(diagnosis_bits(rows[i].words, rows[i].verdict), rows[i].saw);
    }
    /* Unknown words, and words of other verdicts, are skipped. */
    CU_ASSERT_EQUAL(diagnosis_bits("tail,moon,race,,", WRONG), SAW(SAW_TAIL));
    CU_ASSERT_EQUAL(diagnosis_bits("tail", PASS), 0);
}

/* A student's kernel that stops through CUDA_CHECK: CUDA's error text tells the cause. */
static void what_cuda_check_printed(void)
{
    static const struct {
        const char *printed;
        uint64_t saw;
    } rows[] = {
        { "kernel.cu:46: cudaGetLastError(): invalid configuration argument\n", SAW(SAW_LAUNCH) },
        { "kernel.cu:46: cudaGetLastError(): too many resources requested for launch\n",
          SAW(SAW_LAUNCH) },
        { "kernel.cu:46: cudaGetLastError(): misaligned address\n", SAW(SAW_MISALIGNED) },
        { "an illegal memory access was encountered", SAW(SAW_ILLEGAL) },
        { "(the tail) are zero", 0 },
        { "", 0 },
    };

    for (size_t i = 0; i < COUNT(rows); i++)
        CU_ASSERT_EQUAL(diagnosis_printed(rows[i].printed), rows[i].saw);
}

/* ---- The choice ---- */

static void the_first_that_fits_is_chosen(void)
{
    static const struct {
        Verdict verdict;
        uint64_t saw;
        const char *label;
        double ratio;
        int remedy;
    } rows[] = {
        { SLOW, SAW(SAW_SECTORS_WRITTEN), "flat", 0, 1 },
        { SLOW, SAW(SAW_SECTORS_WRITTEN), "square", 0, 1 },
        { SLOW, 0, "square", 0.10, 2 },
        { SLOW, 0, "flat", 0.10, 3 },
        { SLOW, 0, "flat", 0.30, 4 },
        { SLOW, SAW(SAW_SECTORS_READ), "flat", 0, 4 }, /* no ratio, so not below the limit */
        { WRONG, SAW(SAW_TAIL) | SAW(SAW_UNWRITTEN), "1 x 1", 0, 5 },
        { WRONG, SAW(SAW_TAIL) | SAW(SAW_ZERO), "1 x 1", 0, 0 },
        { WRONG, 0, "1 x 1, no rounds: the seed", 0, 6 },
        { WRONG, 0, "1 x 1", 0, 0 },
        { UNSAFE, SAW(SAW_RACE), "1 x 1", 0, 8 },
        { UNSAFE, SAW(SAW_BARRIER), "1 x 1", 0, 0 },
        { PASS, 0, "", 0.1, 0 },
        { UNCHANGED, 0, "flat", 0.1, 0 },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        Diagnosis d = { .saw = rows[i].saw, .lab_case = case_labelled(&some_lab, rows[i].label) };
        int remedy = remedy_for(&d, rows[i].verdict, rows[i].ratio, &some_lab);
        if (remedy != rows[i].remedy)
            FAIL_SAYING("row %zu: %d", i, remedy);
    }
}

/* Lab 04 said "if `long` is below its bar as well", and the student had to look it up. */
static void other_slow_cases_choose(void)
{
    static const Lab lab = { .cases = some_cases,
                             .remedies = { { "slow", .in = "flat", .also = "square", .text = "b" },
                                           { "slow", .in = "flat", .text = "one" } } };
    static const struct {
        uint64_t slow_cases;
        int remedy;
    } rows[] = { { 0, 2 }, { 1 << 2, 2 }, { 1 << 2 | 1 << 3, 1 }, { ~0ull, 1 } };

    for (size_t i = 0; i < COUNT(rows); i++) {
        Diagnosis d = { .lab_case = &some_cases[2], .slow_cases = rows[i].slow_cases };
        CU_ASSERT_EQUAL(remedy_for(&d, SLOW, 0.5, &lab), rows[i].remedy);
    }
}

static void a_typo_is_a_fault(void)
{
    static const struct {
        Remedy row;
        const char *fault; /* NULL: no fault */
    } rows[] = {
        { { "slow sectors_read", "t" }, NULL },
        { { "slow", .in = "flat", .text = "t" }, NULL },
        { { "slwo", "t" }, "not a verdict" },
        { { "", "t" }, "not a verdict" },
        { { "slow sector_read", "t" }, "not a word" },
        { { "slow  sectors_read", "t" }, "not a word" },
        { { "wrong tail sector_read", "t" }, "not a word" },
        { { "wrong ", "t" }, "not a word" },
        { { "slow race", "t" }, "never comes" },
        { { "slow", .in = "flatter", .text = "t" }, "no case" },
        { { "wrong", .below = 0.5, .text = "t" }, "ratio" },
        { { "slow", .below = 50, .text = "t" }, "ratio" },
        { { "slow", .also = "square", .text = "t" }, NULL },
        { { "slow", .also = "squares", .text = "t" }, "also" },
        { { "wrong", .also = "square", .text = "t" }, "also" },
        { { "slow", "" }, "no text" },
        { { "slow", .text = NULL }, "no text" },
        { { "wrong tail zero", "t" }, "never reached" },
        { { "wrong tail", "t" }, "never reached" }, /* after a plain "wrong" */
        { { "wrong", "t" }, "never reached" },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        Lab lab = { .cases = some_cases, .remedies = { { "wrong", "first" } } };
        memcpy((Remedy *) &lab.remedies[1], &rows[i].row, sizeof(Remedy));
        const char *fault = remedy_fault(&lab, 1);
        if (rows[i].fault ? !fault || !has(fault, rows[i].fault) : fault != NULL)
            FAIL_SAYING("row %zu: %s", i, fault ? fault : "no fault");
    }
}

/* ---- The labs ---- */

/* Checks that there is a remedy for a kernel with this verdict in this case, whatever was seen. */
static void answers(const LabEntry *e, Verdict verdict, const Case *c)
{
    if (!remedy_for(&(Diagnosis){ .lab_case = c }, verdict, 0.9, e->lab))
        FAIL_SAYING("lab %s has no remedy for %s in case %s", e->folder, verdict_word(verdict),
                    c->label);
}

static void every_row_can_be_chosen(const LabEntry *e)
{
    for (int i = 0; i < LAB_REMEDIES && e->lab->remedies[i].symptom; i++) {
        const char *fault = remedy_fault(e->lab, i), *text = e->lab->remedies[i].text;
        if (fault)
            FAIL_SAYING("lab %s, remedy %d: %s", e->folder, i + 1, fault);
        else if (!strchr(".?)", text[strlen(text) - 1]) || strlen(text) > 600)
            FAIL_SAYING("lab %s, remedy %d: does not end with . or ?, or is too long", e->folder,
                        i + 1);
    }
}

static void rows_of_real_labs(void)
{
    for (const LabEntry *e = all_labs; e->folder; e++) {
        every_row_can_be_chosen(e);
        for (const Case *c = e->lab->cases; c->label; c++) {
            answers(e, WRONG, c);
            answers(e, STRAY, c);
            answers(e, CRASH, c);
            answers(e, TIMEOUT, c);
            if (c->kind == TIMED)
                answers(e, SLOW, c);
        }
    }
}

/* ---- What is remembered ---- */

static void begin_with(const char *text)
{
    CU_ASSERT_TRUE_FATAL(write_file(file, text, strlen(text)));
}

#define GRADED "lab:01_first verdict:wrong best:wrong ratio:0.0000 hints:0"

static void what_was_seen_is_remembered(void)
{
    static const struct {
        const char *text, *words, *label;
        int remedy;
    } rows[] = {
        { GRADED, "", NULL, 0 },
        { GRADED " format:1", "", NULL, 0 },
        { GRADED " format:2 saw:tail,zero case:1_x_1 told:5", "tail,zero", "1 x 1", 5 },
        { GRADED " format:2 saw:tail,moon,race case:2_x_2 told:x", "tail", NULL, 0 },
        { GRADED " format:2 saw:,,tail,, case: told:1e99", "tail", NULL, LAB_REMEDIES },
        { GRADED " format:2 saw: told:-1", "", NULL, 0 },
        { GRADED " format:2 saw:tail case:1_x_1,_no_rounds:_the_seed", "tail",
          "1 x 1, no rounds: the seed", 0 },
        { GRADED " format:2 slow:c told:2", "", NULL, 2 },
        { "lab:01_first hints:0 format:2 told:3", "", NULL, 3 },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        char words[512];
        Progress p, again;
        begin_with(rows[i].text);
        progress_load(file, &entry, &p);
        diagnosis_words(p.diagnosis.saw, words, sizeof words);
        if (strcmp(words, rows[i].words) || p.remedy_shown != rows[i].remedy ||
            (p.diagnosis.lab_case
                 ? !rows[i].label || strcmp(p.diagnosis.lab_case->label, rows[i].label)
                 : rows[i].label != NULL))
            FAIL_SAYING("row %zu: '%s', remedy %d", i, words, p.remedy_shown);
        CU_ASSERT_TRUE(progress_save(file, &entry, &p));
        progress_load(file, &entry, &again);
        CU_ASSERT_EQUAL(again.diagnosis.saw, p.diagnosis.saw);
        CU_ASSERT_EQUAL(p.diagnosis.slow_cases, strstr(rows[i].text, "slow:c") ? 0xc : 0);
        CU_ASSERT_EQUAL(again.diagnosis.slow_cases, p.diagnosis.slow_cases);
        CU_ASSERT_PTR_EQUAL(again.diagnosis.lab_case, p.diagnosis.lab_case);
        CU_ASSERT_EQUAL(again.remedy_shown, p.remedy_shown);
    }
}

static void later_formats_are_not_read(void)
{
    static const char *const rows[] = { "format:5", "format:", "format:x", "format:nan",
                                        "format:0" };
    char text[256], *after;

    for (size_t i = 0; i < COUNT(rows); i++) {
        Progress p;
        begin_with(PUT(text, GRADED " saw:tail %s\n", rows[i]));
        progress_load(file, &entry, &p);
        CU_ASSERT_FALSE(p.graded);
        CU_ASSERT_TRUE(progress_save(file, &entry, &(Progress){ .hints = 1 }));
        after = read_file(file, 1 << 16, NULL);
        CU_ASSERT(after && !strncmp(after, text, strlen(text))); /* unchanged */
        free(after);
    }
}

/* A line with all the words that a verdict can have, of a lab with long labels, is still
 * complete. */
static void the_longest_line_is_whole(void)
{
    char words[1024];
    diagnosis_words(~0ull, words, sizeof words);
    for (const LabEntry *e = all_labs; e->folder; e++)
        for (const Case *c = e->lab->cases; c->label; c++) {
            Progress p = { WRONG, WRONG, 0.123, 3, true, "2026-11-21" }, back;
            p.diagnosis.lab_case = c;
            p.diagnosis.saw = diagnosis_bits(words, WRONG);
            p.remedy_shown = LAB_REMEDIES;
            begin_with("# kept\n");
            CU_ASSERT_TRUE(progress_save(file, e, &p));
            progress_load(file, e, &back);
            CU_ASSERT_EQUAL(back.diagnosis.saw, p.diagnosis.saw);
            if (back.diagnosis.lab_case != c || back.remedy_shown != LAB_REMEDIES)
                FAIL_SAYING("lab %s: case %s", e->folder, c->label);
        }
}

/* ---- make hint ---- */

static const char *hint_text(int level)
{
    capture_begin(&capture, stdout);
    CU_ASSERT_EQUAL(print_hint(file, &entry, level), 0);
    return capture_end(&capture);
}

/* What a grading does to the progress file. */
static void graded(Verdict verdict, uint64_t saw, const char *label, double ratio)
{
    Progress p;

    progress_load(file, &entry, &p);
    p.latest = verdict;
    p.graded = true;
    p.ratio = ratio;
    p.diagnosis = (Diagnosis){ .saw = saw, .lab_case = case_labelled(&some_lab, label) };
    CU_ASSERT_TRUE(progress_save(file, &entry, &p));
}

static void said(const char *text, const char *remedy, int levels)
{
    CU_ASSERT_EQUAL(has(text, "Your last grading: "), remedy != NULL);
    if (remedy && !has(text, remedy))
        FAIL_SAYING("not '%s': %s", remedy, text);
    for (int i = 0; i < LAB_HINTS; i++)
        CU_ASSERT_EQUAL(has(text, some_lab.hints[i]), i < levels);
}

static void first_the_symptom_then_the_levels(void)
{
    begin_with("");
    graded(SLOW, SAW(SAW_SECTORS_WRITTEN), "flat", 0);
    said(hint_text(0), "the stores", 0);
    CU_ASSERT(
        has(capture.text, "Your last grading: slow, case flat: memory is written in too many"));
    CU_ASSERT(has(capture.text, "make hint LAB=first again for"));
    said(hint_text(0), "the stores", 1);
    said(hint_text(0), "the stores", 2);
    graded(SLOW, SAW(SAW_SECTORS_WRITTEN), "flat", 0); /* the same result again */
    said(hint_text(0), "the stores", 3);
    graded(UNSAFE, SAW(SAW_RACE), "1 x 1", 0); /* another result */
    said(hint_text(0), "a barrier", 0);
    said(hint_text(0), "a barrier", 3);
    CU_ASSERT(has(capture.text, "There are no more hints."));
    said(hint_text(1), NULL, 1); /* a level by its number: only that level */
    graded(SLOW, 0, "flat", 0.1);
    said(hint_text(0), "a lane a sector", 0);
    CU_ASSERT(has(capture.text, "slow, case flat, ratio 0.10."));
    graded(WRONG, 0, "1 x 1", 0); /* no remedy for this verdict, so the levels */
    said(hint_text(0), NULL, 3);
    graded(PASS, 0, "", 1);
    said(hint_text(0), NULL, 3);
    CU_ASSERT(has(capture.text, "You passed this lab"));
    said(hint_text(1), NULL, 1);
}

static int hints_seen(void)
{
    Progress p;

    progress_load(file, &entry, &p);
    return p.hints;
}

/* Neither a kernel that does not build nor one that passes takes a level. */
static void a_level_is_spent_only_where_a_hint_helps(void)
{
    begin_with("");
    graded(BUILD, SAW(SAW_COMPILER), "", 0);
    said(hint_text(0), NULL, 0);
    said(hint_text(0), NULL, 0);
    CU_ASSERT(has(capture.text, "did not build"));
    CU_ASSERT_EQUAL(hints_seen(), 0);
    said(hint_text(2), NULL, 2); /* by its number */
    graded(PASS, 0, "", 1);
    said(hint_text(0), NULL, 3);
    CU_ASSERT_EQUAL(hints_seen(), 2);
}

/* The screen shows 74 %, and so does the hint. */
static void below_the_bar_a_ratio_is_not_rounded_to_it(void)
{
    Progress p;

    begin_with("");
    graded(SLOW, 0, "flat", 0.748);
    progress_load(file, &entry, &p);
    p.reached = 0.748;
    p.bar = 0.75;
    CU_ASSERT_TRUE(progress_save(file, &entry, &p));
    hint_text(0);
    CU_ASSERT(has(capture.text, "ratio 0.74"));
}

static void before_any_grading_there_are_levels(void)
{
    begin_with("");
    said(hint_text(0), NULL, 1);
    begin_with("lab:01_first hints:1 saw:tail format:2\n");
    said(hint_text(0), NULL, 2);
    begin_with(GRADED " format:2 saw:tail,unwritten told:99\n"); /* a hostile number */
    said(hint_text(0), "rounded down", 0);
    begin_with(GRADED " saw:tail,tail,,,,,unwritten,,, case:%s%n format:2\n");
    said(hint_text(0), "rounded down", 0);
}

CU_SuiteInfo test_hints = {
    "hints",
    .pInitFunc = make_folder,
    .pCleanupFunc = remove_folder,
    .pTests =
        (CU_TestInfo[]){
            { "words and codes", words_and_codes },
            { "what CUDA_CHECK printed", what_cuda_check_printed },
            { "the first that fits is chosen", the_first_that_fits_is_chosen },
            { "other slow cases choose", other_slow_cases_choose },
            { "a typo is a fault", a_typo_is_a_fault },
            { "rows of real labs", rows_of_real_labs },
            { "what was seen is remembered", what_was_seen_is_remembered },
            { "later formats are not read", later_formats_are_not_read },
            { "the longest line is whole", the_longest_line_is_whole },
            { "first the symptom, then the levels", first_the_symptom_then_the_levels },
            { "a level is spent only where a hint helps",
              a_level_is_spent_only_where_a_hint_helps },
            { "below the bar a ratio is not rounded to it",
              below_the_bar_a_ratio_is_not_rounded_to_it },
            { "before any grading there are levels", before_any_grading_there_are_levels },
            CU_TEST_INFO_NULL,
        },
};
