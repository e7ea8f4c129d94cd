/* test_quiz_sheet.c - answers that are handed in: nothing in the file is trusted. */
#include "base/quiz_sheet.h"
#include "base/marks.h"
#include "base/util.h"
#include "rows.h"

#include <CUnit/CUnit.h>
#include <stdlib.h>
#include <string.h>

static void sheets_are_read(void)
{
    static const struct {
        const char *text;
        uint64_t kernel;
        int count;
    } rows[] = {
        { "", 0, 0 },
        { "kernel: 00ff\ndevice: sim-teaching\nwaves: 4\nload_sectors@14: 4.5\n", 0xff, 2 },
        { "# kernel: 1\r\nkernel:ff\r\nwaves:4\r\n", 0xff, 1 },
        { "kernel: xyz\nwaves: four\nlimit: nan\nblocks: 1e999\n", 0, 0 },
        { "waves: 4\nwaves: 5\n", 0, 1 },
        { "no colon\n: 4\n", 0, 1 },
        { "kernel: ffffffffffffffffff\n", 0, 0 },
        { "a_key_that_is_much_longer_than_any_question_could_be: 4\n", 0, 0 },
        { "waves: 4 # remark\n", 0, 1 },
    };
    QuizSheet sheet;

    for (size_t i = 0; i < COUNT(rows); i++) {
        quiz_sheet_read(rows[i].text, strlen(rows[i].text), &sheet);
        if (sheet.kernel != rows[i].kernel || sheet.count != rows[i].count)
            FAIL_SAYING("row %zu: %d answers", i, sheet.count);
    }
}

static void first_answer_counts(void)
{
    static const char text[] = "waves: 4\nwaves: 5\n";
    QuizSheet sheet;
    double given = 0;

    quiz_sheet_read(text, sizeof text - 1, &sheet);
    CU_ASSERT_TRUE(quiz_sheet_answer(&sheet, "waves", &given));
    CU_ASSERT_DOUBLE_EQUAL(given, 4, 0);
    CU_ASSERT_FALSE(quiz_sheet_answer(&sheet, "blocks", &given));
}

static void what_is_written_is_read(void)
{
    QuizSheet sheet = { .kernel = 0xab, .device = "sim-teaching", .count = 1 }, again;
    char *text;
    size_t bytes;
    FILE *to = text_open(&text, &bytes);

    PUT(sheet.key[0], "load_sectors@14");
    sheet.given[0] = 4.25;
    quiz_sheet_write(&sheet, to);
    text_close(to);
    quiz_sheet_read(text, bytes, &again);
    CU_ASSERT(again.kernel == 0xab && again.count == 1 && again.given[0] == 4.25);
    CU_ASSERT_STRING_EQUAL(again.device, "sim-teaching");
    CU_ASSERT_STRING_EQUAL(again.key[0], "load_sectors@14");
    free(text);
}

/* Random bytes, and too many answers, stay within bounds. */
static void hostile_sheets(void)
{
    static char text[QUIZ_SHEET_BYTES + 1];
    uint64_t state = 3;
    QuizSheet sheet;
    size_t size = 0;

    for (int i = 0; i < 500; i++)
        size += (size_t) sprintf(text + size, "k%d: %d\n", i, i);
    quiz_sheet_read(text, size, &sheet);
    CU_ASSERT_EQUAL(sheet.count, QUIZ_SHEET_ANSWERS);
    for (int round = 0; round < 50; round++) {
        for (int i = 0; i < 200; i++)
            text[next_random(&state) % size] = (char) next_random(&state);
        quiz_sheet_read(text, size, &sheet);
        CU_ASSERT(sheet.count <= QUIZ_SHEET_ANSWERS);
    }
    memset(text, 'x', sizeof text);
    quiz_sheet_read(text, sizeof text, &sheet); /* too large */
    CU_ASSERT_EQUAL(sheet.count, 0);
}

static void quiz_counts_if_the_policy_says_so(void)
{
    static const struct {
        double quiz, whole, marks;
        bool known;
        int right, asked;
        double want_whole, want;
    } rows[] = {
        { -1, 80, 80, true, 0, 3, 80, 80 }, /* the default: never */
        { 0, 80, 80, true, 0, 3, 80, 80 },  /* shown only */
        { 0.3, 100, 100, true, 3, 3, 100, 100 },
        { 0.3, 100, 100, true, 2, 3, 90, 90 },
        { 0.3, 100, 50, true, 2, 3, 90, 45 }, /* half is left after lateness */
        { 0.3, 50, 50, true, 0, 0, 35, 35 },  /* does not pass: no questions, no share */
        { 0.3, 0, 0, true, 0, 0, 0, 0 },
        { 0.3, 0, 0, false, 3, 3, 0, 0 }, /* still open */
        { 1, 100, 100, true, 1, 3, 100 / 3.0, 100 / 3.0 },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        const Policy policy = { .quiz = rows[i].quiz };
        Marks marks = { .known = rows[i].known, .marks = rows[i].marks, .whole = rows[i].whole };
        marks_mix_quiz(&policy, rows[i].right, rows[i].asked, &marks);
        CU_ASSERT_DOUBLE_EQUAL(marks.whole, rows[i].want_whole, 1e-9);
        CU_ASSERT_DOUBLE_EQUAL(marks.marks, rows[i].want, 1e-9);
    }
    CU_ASSERT(policy_default.quiz < 0);
}

CU_SuiteInfo test_quiz_sheet = {
    "quiz_sheet",
    .pTests =
        (CU_TestInfo[]){
            { "sheets are read", sheets_are_read },
            { "the first answer counts", first_answer_counts },
            { "what is written is read", what_is_written_is_read },
            { "hostile sheets", hostile_sheets },
            { "the quiz counts if the policy says so", quiz_counts_if_the_policy_says_so },
            CU_TEST_INFO_NULL,
        },
};
