/* test_formats.c - `grade --format ...`: the texts are in tests/warpbook.golden, the rules are
 * here. tests/formats/formats.sh validates whole documents. */
#include "golden.h"
#include "learner/formats/formats.h"
#include "rows.h"

#include <CUnit/CUnit.h>
#include <stdlib.h>
#include <unistd.h>

static const Case cases[] = {
    { "1 x 1", .kind = CORRECT },
    { "<33> x \"31\"", .kind = CORRECT },
    { "flat", .kind = TIMED, .bar = 0.75 },
    { "one row", .kind = CONTROL },
    { 0 },
};
static const Lab lab = { .title = "a lab", .cases = cases, .function = "transpose" };
static const LabEntry entry = { .folder = "06_transpose", .lab = &lab };
static Session session = { .gpu.name = "Scripted GPU" };

/* ---- One result of each kind ---- */

static Result race(void)
{
    Result r = { .entry = &entry, .verdict = UNSAFE, .right_cases = 1, .wrong_cases = 2 };

    r.diagnosis =
        (Diagnosis){ .saw = SAW(SAW_RACE), .lab_case = &cases[1], .line = 23, .other_line = 30 };
    PUT(r.diagnosis.text, "race: thread (0,1,0) writes `tile[1][0]`");
    PUT(r.why, "case <33> x \"31\": kernel.cu:23: race: thread (0,1,0) writes `tile[1][0]`");
    return r;
}

static Result no_build(void)
{
    Result r = { .entry = &entry, .verdict = BUILD, .diagnosis.saw = SAW(SAW_COMPILER) };

    r.errors.count = 2;
    r.errors.error[0] = (CompilerError){ 12, 5, "expected ';'\n::error::x" };
    r.errors.error[1] = (CompilerError){ 13, 0, "identifier \"\x1b[2J\xff\" is undefined" };
    PUT(r.why, "does not compile");
    return r;
}

static CaseSpeed speed(const Case *row, double ratio)
{
    return (CaseSpeed){ .lab_case = row,
                        .bar = row->bar,
                        .measured = true,
                        .ratio = { ratio, ratio, ratio },
                        .student_ms = 0.25,
                        .reference_ms = 0.25 * ratio,
                        .gbps = 40,
                        .reference_gbps = 80,
                        .simulated_blocks = 64 };
}

static const Diagnosis counter = { .saw = SAW(SAW_SECTORS_READ),
                                   .lab_case = &cases[2],
                                   .array = "in",
                                   .value = 8,
                                   .limit = 1.15,
                                   .per_request = 32,
                                   .line = 24 };

static Result slow(void)
{
    Result r = { .entry = &entry, .verdict = SLOW, .right_cases = 3, .marks = 40, .ratio = 0.5 };

    r.speeds = 2;
    r.speed[0] = speed(&cases[2], 0.5);
    r.speed[1] = speed(&cases[3], 0.9);
    r.diagnosis = counter;
    PUT(r.why, "case flat runs at 0.50; kernel.cu:24: reads");
    return r;
}

static Result passed(void)
{
    Result r = slow();

    r.verdict = PASS;
    r.marks = 100;
    r.ratio = 1;
    r.speed[0] = speed(&cases[2], 1);
    r.diagnosis = (Diagnosis){ 0 };
    r.exceeded = counter;
    r.why[0] = 0;
    return r;
}

static Result unsound(void)
{
    Result r = { .entry = &entry, .verdict = UNSOUND };

    PUT(r.why, "the disk is full");
    return r;
}

static Result (*const all[])(void) = { race, no_build, slow, passed, unsound };
static Result (*const two[])(void) = { race, slow };

/* ---- Documents ---- */

/* These results in one document; the caller frees it. */
static char *document_of(const char *word, Result (*const *results)(void), size_t count)
{
    const Format *format = format_find(word);
    static Annotations annotations;
    static Result result;
    char *text;
    size_t bytes;
    Document document = { .out = text_open(&text, &bytes), .session = &session };

    CU_ASSERT_PTR_NOT_NULL_FATAL(format);
    if (format->begin)
        format->begin(&document);
    for (size_t i = 0; i < count; i++) {
        result = results[i]();
        annotations_of(&result, "labs/a b/kernel.cu", &annotations);
        format->lab(&document, &result, &annotations);
    }
    if (format->end)
        format->end(&document, false);
    text_close(document.out);
    return text;
}

static void texts_are_as_stored(void)
{
    static const struct {
        const char *word;
        Result (*const *results)(void);
        size_t count;
    } rows[] = {
        { "gcc", all, COUNT(all) },
        { "github", all, COUNT(all) },
        { "junit", two, COUNT(two) },
        { "sarif", all, COUNT(all) },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        char section[40], *text = document_of(rows[i].word, rows[i].results, rows[i].count);
        golden(PUT(section, "format %s", rows[i].word), text);
        free(text);
    }
}

static void other_words_are_no_format(void)
{
    CU_ASSERT_PTR_NULL(format_find("text"));
    CU_ASSERT_PTR_NULL(format_find("lines"));
    CU_ASSERT_PTR_NULL(format_find(""));
}

/* ---- Annotations ---- */

static void each_verdict_has_its_level(void)
{
    static const struct {
        Verdict verdict;
        int count;
        Level level;
    } rows[] = {
        { PASS, 0, 0 },
        { CLOSE, 0, 0 },
        { UNCHANGED, 1, LEVEL_NOTE },
        { CORRECT_ONLY, 1, LEVEL_NOTE },
        { SLOW, 1, LEVEL_WARNING },
        { SUSPECT, 1, LEVEL_WARNING },
        { UNSUPPORTED, 1, LEVEL_WARNING },
        { WRONG, 1, LEVEL_ERROR },
        { STRAY, 1, LEVEL_ERROR },
        { CRASH, 1, LEVEL_ERROR },
        { TIMEOUT, 1, LEVEL_ERROR },
        { BUILD, 1, LEVEL_ERROR },
    };
    static Annotations annotations;

    for (size_t i = 0; i < COUNT(rows); i++) {
        Result result = { .entry = &entry, .verdict = rows[i].verdict };
        annotations_of(&result, "kernel.cu", &annotations);
        CU_ASSERT_EQUAL(annotations.count, rows[i].count);
        if (!rows[i].count)
            continue;
        CU_ASSERT_EQUAL(annotations.list[0].level, rows[i].level);
        CU_ASSERT_STRING_EQUAL(annotations.list[0].rule, verdict_word(rows[i].verdict));
        CU_ASSERT_STRING_EQUAL(annotations.list[0].file, "kernel.cu");
        CU_ASSERT_NOT_EQUAL(*annotations.list[0].text, 0);
    }
}

/* A wrong result belongs to no line: the message points to the function. */
static void a_message_without_a_line_points_to_the_function(void)
{
    static const char source[] = "// transpose\n#include \"kernel.h\"\n\nvoid transpose(void) {}\n";
    static Annotations annotations;
    Result result = { .entry = &entry, .verdict = WRONG };

    PUT(result.source, "/tmp/test_formats.%d.cu", (int) getpid());
    CU_ASSERT_TRUE_FATAL(write_file(result.source, source, sizeof source - 1));
    annotations_of(&result, "kernel.cu", &annotations);
    CU_ASSERT_EQUAL(annotations.list[0].line, 4);
    unlink(result.source);
}

static void paths_are_relative_below_the_working_directory(void)
{
    char here[4000], path[5000];

    CU_ASSERT_PTR_NOT_NULL_FATAL(getcwd(here, sizeof here));
    CU_ASSERT_STRING_EQUAL(path_from_here(PUT(path, "%s/a/b.cu", here)), "a/b.cu");
    CU_ASSERT_STRING_EQUAL(path_from_here(PUT(path, "%sx/b.cu", here)), path);
    CU_ASSERT_STRING_EQUAL(path_from_here("a/b.cu"), "a/b.cu");
}

CU_SuiteInfo test_formats = {
    "formats",
    .pTests =
        (CU_TestInfo[]){
            { "texts are as stored", texts_are_as_stored },
            { "other words are no format", other_words_are_no_format },
            { "each verdict has its level", each_verdict_has_its_level },
            { "a message without a line points to the function",
              a_message_without_a_line_points_to_the_function },
            { "paths are relative below the working directory",
              paths_are_relative_below_the_working_directory },
            CU_TEST_INFO_NULL,
        },
};
