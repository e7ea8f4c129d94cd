/* test_quiz.c - asking and explaining; .warpbook/quiz and .warpbook/history survive editors, other
 * versions and strangers. */
#include "learner/portfolio/history.h"
#include "learner/quiz/quiz.h"
#include "learner/state_file.h"
#include "capture.h"
#include "rows.h"
#include "base/util.h"

#include <CUnit/CUnit.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static char folder[64], file[96];

static int make_folder(void)
{
    PUT(folder, "/tmp/warpbook-quiz-XXXXXX");
    if (!mkdtemp(folder))
        return 1;
    PUT(file, "%s/.warpbook/quiz", folder);
    return 0;
}

static int remove_folder(void)
{
    remove_tree(folder);
    return 0;
}

static const Lab some_lab = { .title = "some lab" };
static const LabEntry first = { "01_first", &some_lab }, second = { "02_second", &some_lab };

static void begin_with(const char *text, size_t size)
{
    char inside[128];

    remove_tree(PUT(inside, "%s/.warpbook", folder));
    if (text) {
        CU_ASSERT_TRUE_FATAL(make_folders(inside));
        CU_ASSERT_TRUE_FATAL(write_file(file, text, size));
    }
}

static void file_is(const char *want)
{
    char *text = read_file(file, STATE_MOST, NULL);

    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    CU_ASSERT_STRING_EQUAL(text, want);
    free(text);
}

/* ---- The quiz file ---- */

#define ROW(kernel, key, given, right)                                                             \
    "lab:01_first kernel:" kernel " device:sim key:" key " given:" given " right:" right           \
    " tries:1 date:2026-11-25\n"

static const struct {
    const char *text;
    int count;
    uint64_t kernel;
} loads[] = {
    { NULL, 0, 0 },
    { "", 0, 0 },
    { ROW("00000000000000ff", "waves", "4", "1"), 1, 0xff },
    { "lab:01_first kernel:ff key:waves given:4 right:1 tries:2", 1, 0xff }, /* cut */
    { ROW("ff", "waves", "4", "1") ROW("ff", "limit", "2", "0"), 2, 0xff },
    { ROW("ff", "waves", "4", "1") ROW("ff", "waves", "5", "0"), 1, 0xff },
    { ROW("ff", "waves", "4", "1") ROW("aa", "limit", "2", "0"), 1, 0xaa }, /* the last kernel */
    { ROW("ff", "waves", "nan", "1"), 0, 0 },
    { ROW("ff", "waves", "1e999", "1"), 0, 0 },
    { ROW("ff", "waves", "4", "2"), 0, 0 },
    { ROW("ff", "waves", "4", "-1"), 0, 0 },
    { ROW("xyz", "waves", "4", "1"), 0, 0 },
    { ROW("fffffffffffffffff", "waves", "4", "1"), 0, 0 },
    { ROW("ff", "<b>", "4", "1"), 0, 0 },
    { ROW("ff", "a_key_that_is_much_longer_than_any_question_has", "4", "1"), 0, 0 },
    { "lab:02_second kernel:ff key:waves given:4 right:1 tries:1\n", 0, 0 },
    { "lab:01_first format:9 kernel:ff key:waves given:4 right:1 tries:1\n", 0, 0 },
    { "lab:01_first kernel:ff key:waves given:4 right:1 tries:99\n", 0, 0 },
};

static void quiz_lines_are_read(void)
{
    QuizRecords r;

    for (size_t i = 0; i < COUNT(loads); i++) {
        begin_with(loads[i].text, loads[i].text ? strlen(loads[i].text) : 0);
        quiz_load(file, &first, &r);
        if (r.count != loads[i].count || r.kernel != loads[i].kernel)
            FAIL_SAYING("row %zu: %d of kernel %llx", i, r.count, (unsigned long long) r.kernel);
    }
}

/* Whatever the file holds, it is read within its bounds. */
static void hostile_files(void)
{
    static char text[100000];
    uint64_t state = 7;
    QuizRecords r;
    HistoryEntry *entries = xcalloc(10, sizeof *entries);

    for (int round = 0; round < 20; round++) {
        size_t size = 0;
        for (int i = 0; i < 200; i++)
            size += (size_t) sprintf(text + size,
                                     "lab:01_first kernel:%x key:k%d given:%d right:%d tries:1\n",
                                     round + 1, i, i, i & 1);
        for (int i = 0; i < 30 * round; i++)
            text[next_random(&state) % size] = (char) next_random(&state);
        begin_with(text, size);
        quiz_load(file, &first, &r);
        CU_ASSERT(r.count <= QUIZ_RECORDS);
        CU_ASSERT(quiz_right(&r, false) <= r.count);
        CU_ASSERT(history_load(file, &first, entries, 10) <= 10);
    }
    free(entries);
}

static void quiz_is_saved(void)
{
    QuizRecords r = { .kernel = 0xff, .device = "sim", .date = "2026-11-25", .count = 1 }, again;

    r.list[0] = (QuizRecord){ "load_sectors@14", 4.5, true, 2 };
    begin_with(NULL, 0);
    CU_ASSERT_TRUE(quiz_save(file, &first, &r));
    file_is("lab:01_first kernel:00000000000000ff device:sim key:load_sectors@14 given:4.5 right:1 "
            "tries:2 date:2026-11-25\n");
    quiz_load(file, &first, &again);
    CU_ASSERT(again.count == 1 && again.list[0].right && again.list[0].tries == 2);
    CU_ASSERT_DOUBLE_EQUAL(again.list[0].given, 4.5, 1e-9);
}

/* The lab's own lines are replaced; others, and those that cannot be read, are kept. */
static void other_lines_are_kept(void)
{
    static const char before[] = "lab:02_second kernel:ff key:waves given:4 right:1 tries:1\n" ROW(
        "ff", "waves", "4", "1") "lab:01_first format:9 later:yes\n# mine";
    QuizRecords r = { .kernel = 0xaa, .count = 1 };

    r.list[0] = (QuizRecord){ "limit", 1, false, 1 };
    begin_with(before, sizeof before - 1);
    CU_ASSERT_TRUE(quiz_save(file, &first, &r));
    file_is("lab:02_second kernel:ff key:waves given:4 right:1 tries:1\n"
            "lab:01_first format:9 later:yes\n# mine\n"
            "lab:01_first kernel:00000000000000aa key:limit given:1 right:0 tries:1\n");
}

static void unreadable_is_not_overwritten(void)
{
    const QuizRecords r = { .kernel = 1 };
    const HistoryEntry h = { .verdict = PASS };
    char inside[128];

    begin_with(NULL, 0);
    CU_ASSERT_TRUE_FATAL(make_folders(PUT(inside, "%s/.warpbook/quiz", folder))); /* a folder */
    CU_ASSERT_FALSE(quiz_save(file, &first, &r));
    CU_ASSERT_FALSE(history_add(file, &first, &h));
    char *large = xcalloc(1, STATE_MOST + 1);
    memset(large, '#', STATE_MOST + 1);
    remove_tree(inside);
    CU_ASSERT_TRUE_FATAL(write_file(file, large, STATE_MOST + 1));
    CU_ASSERT_FALSE(quiz_save(file, &first, &r));
    CU_ASSERT_EQUAL(errno, EFBIG);
    free(large);
}

/* ---- History ---- */

static void history_is_added(void)
{
    HistoryEntry h = { "2026-11-25T00:12:07Z", SLOW, 0.406, "Teaching GPU", 0xab }, list[4];

    begin_with(NULL, 0);
    CU_ASSERT_TRUE(history_add(file, &first, &h));
    CU_ASSERT_TRUE(history_add(file, &second, &h));
    h.verdict = PASS;
    h.ratio = 0;
    h.kernel = 0xcd;
    CU_ASSERT_TRUE(history_add(file, &first, &h));
    file_is("at:2026-11-25T00:12:07Z lab:01_first verdict:slow ratio:0.4060 device:Teaching_GPU "
            "kernel:00000000000000ab\n"
            "at:2026-11-25T00:12:07Z lab:02_second verdict:slow ratio:0.4060 device:Teaching_GPU "
            "kernel:00000000000000ab\n"
            "at:2026-11-25T00:12:07Z lab:01_first verdict:pass device:Teaching_GPU "
            "kernel:00000000000000cd\n");
    CU_ASSERT_EQUAL(history_load(file, &first, list, 4), 2);
    CU_ASSERT(list[0].verdict == SLOW && list[1].verdict == PASS && list[1].kernel == 0xcd);
    CU_ASSERT_DOUBLE_EQUAL(list[0].ratio, 0.406, 1e-9);
    CU_ASSERT_EQUAL(history_load(file, &first, list, 1), 1);
    CU_ASSERT_EQUAL(list[0].verdict, PASS);
    CU_ASSERT_TRUE(history_passed(file, &first, 0xcd));
    CU_ASSERT_FALSE(history_passed(file, &first, 0xab));
    CU_ASSERT_FALSE(history_passed(file, &first, 0));
    CU_ASSERT_FALSE(history_passed(file, &second, 0xcd));
}

static void history_lines_are_read(void)
{
    static const struct {
        const char *text;
        int count;
    } rows[] = {
        { "at:2026-11-25T00:12:07Z lab:01_first verdict:slow\n", 1 },
        { "at:2026-11-25T00:12:07Z lab:01_first verdict:slow ratio:-1 kernel:zz\n", 1 },
        { "at:2026-11-25T00:12:07Z lab:01_first verdict:fine\n", 0 },
        { "at:2026-11-25 lab:01_first verdict:slow\n", 0 },
        { "at:<b>6-11-25T00:12:07Z lab:01_first verdict:slow\n", 0 },
        { "lab:01_first verdict:slow at:2026-11-25T00:12:07Z\n", 0 },
        { "at:2026-11-25T00:12:07Z lab:01_first verdict:slow\0x\n", 0 },
    };
    HistoryEntry list[2];

    for (size_t i = 0; i < COUNT(rows); i++) {
        begin_with(rows[i].text, i == 6 ? 52 : strlen(rows[i].text));
        if (history_load(file, &first, list, 2) != rows[i].count)
            FAIL_SAYING("row %zu", i);
    }
}

/* A full history loses its older half and no line of the newer one. */
static void history_is_bounded(void)
{
    static const char row[] = "at:2026-11-25T00:12:07Z lab:02_second verdict:slow ratio:0.5\n";
    const size_t rows = HISTORY_MOST / (sizeof row - 1);
    char *text = xcalloc(rows + 1, sizeof row);
    struct stat about;
    HistoryEntry now = { .verdict = PASS, .device = "H200" }, list[1];

    for (size_t i = 0; i < rows; i++)
        strcpy(text + i * (sizeof row - 1), row);
    begin_with(text, rows * (sizeof row - 1));
    CU_ASSERT_TRUE(history_add(file, &first, &now));
    CU_ASSERT_EQUAL_FATAL(stat(file, &about), 0);
    CU_ASSERT(about.st_size < HISTORY_MOST / 2 + 300);
    CU_ASSERT_EQUAL(history_load(file, &first, list, 1), 1);
    HistoryEntry *all = xcalloc(rows, sizeof *all);
    CU_ASSERT(history_load(file, &second, all, (int) rows) >= (int) rows / 2 - 1);
    free(all);
    free(text);
}

/* ---- Asking ---- */

static Quiz some_quiz(void)
{
    Quiz quiz = { .entry = &first, .own = 2, .count = 3, .records = { .kernel = 1 } };

    quiz.list[0] = (Question){
        .key = "waves", .text = "How many waves?", .answer = 4, .because = "Because of 4."
    };
    quiz.list[1] = (Question){ .key = "limit",
                               .text = "What limits it?",
                               .answer = 2,
                               .choices = { "DRAM", "L2" },
                               .choice_count = 2,
                               .because = "L2." };
    quiz.list[2] = (Question){ .key = "transfer.x",
                               .text = "And there?",
                               .answer = 7,
                               .tolerance = 0.5,
                               .because = "Seven." };
    return quiz;
}

static const struct {
    const char *given; /* lines of standard input; or with `list`, --answers */
    bool list, terminal;
    int own, transfer, answered;
} sessions[] = {
    { "4\nb\n7\n", false, false, 2, 1, 3 },
    { "4\r\nb\r\n7.4\r\n", false, false, 2, 1, 3 },
    { "4,b,7", true, false, 2, 1, 3 },
    { "4", true, false, 1, 0, 1 },
    { ",b", true, false, 1, 0, 1 }, /* the first is skipped */
    { "5\na\n8\n", false, false, 0, 0, 3 },
    { "", false, false, 0, 0, 0 },
    { "4\nq\n", false, false, 1, 0, 1 },
    { "4", false, false, 1, 0, 1 },               /* no line end */
    { "what?\nb\n7\n", false, false, 1, 1, 2 },   /* not understood: skipped */
    { "5\n4\nb\n7\n", false, true, 2, 1, 3 },     /* one more try */
    { "5\n6\nb\n7\n", false, true, 1, 1, 3 },     /* but no third */
    { "5\n\nb\n7\n", false, true, 1, 1, 3 },      /* the second try is skipped */
    { "what?\n4\nb\n7\n", false, true, 2, 1, 3 }, /* not understood: no try is used */
    { "what?\nhm\nno\nb\n7\n", false, true, 1, 1, 2 },
    { "5\nq\n7\n", false, true, 0, 0, 1 }, /* the end, on a second try, too */
    { " Q \nb\n7\n", false, true, 0, 0, 0 },
};

/* On a terminal, a prompt's line ends with what is typed. */
static char *without_prompts(char *text)
{
    for (char *at = text; (at = strstr(at, "> "));)
        memmove(at, at + 2, strlen(at + 2) + 1);
    return text;
}

static void quiz_is_asked(void)
{
    for (size_t i = 0; i < COUNT(sessions); i++) {
        Quiz quiz = some_quiz();
        char *text, *input = xstrdup(sessions[i].given);
        size_t bytes;
        Answers answers = { sessions[i].list ? sessions[i].given : NULL,
                            *input ? fmemopen(input, strlen(input), "r") : fopen("/dev/null", "r"),
                            text_open(&text, &bytes), sessions[i].terminal };
        Capture prompt;
        capture_begin(&prompt, stdout);
        quiz_ask(&quiz, &answers);
        capture_end(&prompt);
        text_close(answers.to);
        fclose(answers.from);
        if (quiz_right(&quiz.records, false) != sessions[i].own ||
            quiz_right(&quiz.records, true) != sessions[i].transfer ||
            quiz.records.count != sessions[i].answered)
            FAIL_SAYING("'%s': %d and %d right of %d", sessions[i].given,
                        quiz_right(&quiz.records, false), quiz_right(&quiz.records, true),
                        quiz.records.count);
        CU_ASSERT(fits(80, without_prompts(text)));
        CU_ASSERT(!*sessions[i].given || has(text, "How many waves?"));
        free(text);
        free(input);
    }
}

/* The answer is shown only after an answer was given. */
static void explained_after_an_answer(void)
{
    Quiz quiz = some_quiz();
    char *text;
    size_t bytes;
    Answers none = { "", NULL, text_open(&text, &bytes), false };

    quiz_ask(&quiz, &none);
    text_close(none.to);
    CU_ASSERT_FALSE(has(text, "Because"));
    free(text);
    Answers wrong = { "5,a", NULL, text_open(&text, &bytes), false };
    quiz_ask(&quiz, &wrong);
    text_close(wrong.to);
    CU_ASSERT(has(text, "Because of 4.") && has(text, "b) L2") && !has(text, "Seven."));
    free(text);
    /* What was answered is shown again, and not asked again. */
    Answers again = { "7", NULL, text_open(&text, &bytes), false };
    quiz_ask(&quiz, &again);
    text_close(again.to);
    CU_ASSERT_EQUAL(quiz_right(&quiz.records, false), 0);
    CU_ASSERT_EQUAL(quiz_right(&quiz.records, true), 1);
    CU_ASSERT(has(text, "Because of 4.") && has(text, "Seven."));
    free(text);
}

static char *printed_by(const char *input, bool terminal)
{
    Quiz quiz = some_quiz();
    Capture prompt;
    char *text, *copy = xstrdup(input);
    size_t bytes;
    Answers answers = { NULL, fmemopen(copy, strlen(copy), "r"), text_open(&text, &bytes),
                        terminal };

    capture_begin(&prompt, stdout);
    quiz_ask(&quiz, &answers);
    capture_end(&prompt);
    text_close(answers.to);
    fclose(answers.from);
    free(copy);
    return text;
}

/* After `q`, no answer and no further question is printed. */
static void q_ends_at_once(void)
{
    char *text = printed_by("5\nq\nb\n7\n", true);

    CU_ASSERT(has(text, "One more try") && !has(text, "Because") && !has(text, "What limits"));
    free(text);
}

/* All questions are numbered, the last ones as about another problem; what was skipped is said. */
static void questions_are_numbered(void)
{
    char *text = printed_by("\nno\nhm\nwell\n7\n", true);

    CU_ASSERT(has(text, "1 of 3. How many waves?") && has(text, "2 of 3. What limits it?"));
    CU_ASSERT(has(text, "3 of 3, another problem. And there?"));
    const char *skipped = strstr(text, "make quiz LAB=first asks this again");
    CU_ASSERT(skipped && has(skipped + 1, "make quiz LAB=first asks this again"));
    CU_ASSERT(!has(text, "Because of 4.") && has(text, "Seven."));
    free(text);
}

/* Within the tolerance, the answer that was given is shown next to the counted one. */
static void near_answers_are_named(void)
{
    static const struct {
        const char *given;
        bool near;
    } rows[] = { { "4,b,7", false }, { "4,b,7.4", true }, { "4,b,8", false } };

    for (size_t i = 0; i < COUNT(rows); i++) {
        Quiz quiz = some_quiz();
        char *text;
        size_t bytes;
        Answers answers = { rows[i].given, NULL, text_open(&text, &bytes), false };
        quiz_ask(&quiz, &answers);
        text_close(answers.to);
        CU_ASSERT_EQUAL(has(text, "Right: it is 7, you said 7.4."), rows[i].near);
        CU_ASSERT_EQUAL(has(text, "it is"), rows[i].near);
        free(text);
    }
}

CU_SuiteInfo test_quiz = {
    "quiz",
    .pInitFunc = make_folder,
    .pCleanupFunc = remove_folder,
    .pTests =
        (CU_TestInfo[]){
            { "lines of the quiz are read", quiz_lines_are_read },
            { "hostile files", hostile_files },
            { "a quiz is saved", quiz_is_saved },
            { "near answers are named", near_answers_are_named },
            { "other lines are kept", other_lines_are_kept },
            { "what is unreadable is not overwritten", unreadable_is_not_overwritten },
            { "a history is added to", history_is_added },
            { "lines of the history are read", history_lines_are_read },
            { "a history is bounded", history_is_bounded },
            { "a quiz is asked", quiz_is_asked },
            { "q ends at once", q_ends_at_once },
            { "questions are numbered", questions_are_numbered },
            { "explained after an answer", explained_after_an_answer },
            CU_TEST_INFO_NULL,
        },
};
