/* test_quiz_questions.c - known counters give known answers; which three questions a kernel gets;
 * how answers are read. */
#include "learner/quiz/questions.h"
#include "rows.h"
#include "base/util.h"

#include <CUnit/CUnit.h>
#include <math.h>
#include <string.h>

static const Case a_case = { "square", { 1024, 512 } }, twice = { "square", { 2048, 512 } };
static const Lab plain = { .title = "some lab" },
                 streaming = { .title = "copies", .streams = true };
static const LabEntry entry = { "06_transpose", &plain }, copying = { "05_streams", &streaming };

/* 1024 blocks of 256 threads on 8 SMs: 8192 warps in one launch. */
static KernelFacts some_facts(void)
{
    KernelFacts f = { .entry = &entry, .sized = a_case, .doubled = twice, .sms = 8 };

    PUT(f.device, "Teaching GPU");
    PUT(f.array, "in");
    f.elements = 524288;
    f.array_bytes = 8 * 524288;
    f.l2_bytes = 524288;
    f.limits = (Limits){ .bytes = 4194304, .flops = 1048576, .lanes = 24.5, .warps = 48 };
    f.limits.spent.at[AT_DRAM] = 600;
    f.limits.spent.at[AT_LATENCY] = 300;
    f.limits.spent.at[AT_TAIL] = 100;
    f.lines[0] = (FactLine){
        .cost = { .line = 14,
                  .instructions = 8192,
                  .lanes = 8192 * 32,
                  .load = { .requests = 32768, .passes = 1048576, .asked = 4194304 } },
        .source = "x = in[row * cols + col];",
    };
    f.lines[0].cost.spent.at[AT_DRAM] = 500;
    f.lines[1] = (FactLine){
        .cost = { .line = 22,
                  .instructions = 1000,
                  .lanes = 8000,
                  .store = { .requests = 8192, .passes = 32768, .asked = 1048576 },
                  .shared = { .requests = 8192, .passes = 16384, .asked = 8192 } },
        .source = "out[i] = tile[threadIdx.x][j];",
    };
    f.lines[1].cost.spent.at[AT_DRAM] = 200;
    f.lines[2] = (FactLine){ .cost = { .line = 18, .barriers = 8192 * 9 },
                             .barriers_doubled = 16384 * 9,
                             .source = "__syncthreads();" };
    f.lines[2].cost.spent.at[AT_LATENCY] = 100;
    f.line_count = 3;
    f.launches = 1;
    f.blocks = 1024;
    f.threads = 256;
    f.resident = 48;
    f.warps = 8192;
    f.warps_doubled = 16384;
    return f;
}

static KernelFacts some_copies(void)
{
    static const Span spans[] = {
        { ENGINE_UP, 1, 0, 100, 64, "" },     { ENGINE_KERNEL, 1, 100, 200, 0, "k" },
        { ENGINE_UP, 2, 100, 200, 64, "" },   { ENGINE_KERNEL, 2, 200, 300, 0, "k" },
        { ENGINE_DOWN, 1, 200, 300, 64, "" }, { ENGINE_DOWN, 2, 300, 400, 64, "" }
    };
    KernelFacts f = { .entry = &copying, .sized = a_case, .sms = 8, .launches = 2 };

    PUT(f.device, "Teaching GPU");
    facts_of_spans(spans, COUNT(spans), &f.spans);
    return f;
}

/* ---- Answers ---- */

static const struct {
    const char *key;
    double answer;
    bool copies;
} answers[] = {
    { "load_sectors@14", 32, false },
    { "store_sectors@22", 4, false },
    { "wavefronts@22", 2, false },
    { "lanes_of_line@22", 8, false },
    { "lanes_of_all", 24.5, false },
    { "costliest_line@14", 14, false },
    { "resident_blocks", 6, false },
    { "resident_warps", 48, false },
    { "waves", 22, false },
    { "blocks", 1024, false },
    { "tail_share", 10, false },
    { "dram_bytes", 8, false },
    { "flops_per_byte", 0.25, false },
    { "loads_per_warp@14", 4, false },
    { "barriers@18", 9, false },
    { "barriers_doubled@18", 9, false },
    { "limit", 2, false }, /* DRAM, after issuing */

    { "copies", 2, true },
    { "streams", 2, true },
    { "upload_busy", 50, true },
    { "overlap", 1.5, true },
};

static void counters_give_answers(void)
{
    const KernelFacts kernel = some_facts(), copies = some_copies();
    Question q;

    for (size_t i = 0; i < COUNT(answers); i++) {
        if (!question_about(answers[i].copies ? &copies : &kernel, answers[i].key, &q))
            FAIL_SAYING("%s does not fit", answers[i].key);
        else if (fabs(q.answer - answers[i].answer) > 1e-9)
            FAIL_SAYING("%s: %g, expected %g", answers[i].key, q.answer, answers[i].answer);
    }
}

/* Texts have no placeholder left, are whole, and end by naming a command that shows it. */
static void texts_are_whole(void)
{
    const KernelFacts kernel = some_facts(), copies = some_copies();
    Question q;

    for (size_t i = 0; i < COUNT(answers); i++) {
        CU_ASSERT_TRUE_FATAL(
            question_about(answers[i].copies ? &copies : &kernel, answers[i].key, &q));
        CU_ASSERT_FALSE(strpbrk(q.text, "{}") || strpbrk(q.because, "{}"));
        CU_ASSERT(strlen(q.text) < sizeof q.text - 1 && strlen(q.because) < sizeof q.because - 1);
        CU_ASSERT(strstr(q.because, "make draw KIND=") || strstr(q.because, "make explain LAB=") ||
                  strstr(q.because, "make see LAB="));
    }
}

/* A new kind needs a row above. */
static void every_kind_is_tested(void)
{
    for (int k = 0; question_kind(k); k++) {
        const size_t length = strlen(question_kind(k));
        bool known = false;
        for (size_t i = 0; i < COUNT(answers); i++)
            known |= !strncmp(answers[i].key, question_kind(k), length) &&
                     (!answers[i].key[length] || answers[i].key[length] == '@');
        if (!known)
            FAIL_SAYING("kind %s has no row in this test", question_kind(k));
    }
}

/* Words, and the number of the lab whose lesson introduces them. */
static const struct {
    const char *word;
    int from;
} taught[] = {
    { "sector", 1 },        { "wavefront", 2 }, { "conflict", 2 }, { "barrier", 2 },
    { "are active", 3 },    { "register", 4 },  { "latency", 4 },  { "scheduler", 4 },
    { "shared memory", 2 }, { "stream", 5 },
};

static void check_words(const Question *q, int lab)
{
    for (size_t i = 0; i < COUNT(taught); i++) {
        bool found = strstr(q->text, taught[i].word) || strstr(q->because, taught[i].word);
        for (int k = 0; k < q->choice_count; k++)
            found |= strstr(q->choices[k], taught[i].word) != NULL;
        if (found && lab < taught[i].from)
            FAIL_SAYING("lab %d: %s: %s", lab, q->key, taught[i].word);
    }
}

/* Each lab still gets three questions. */
static void words_come_after_their_lesson(void)
{
    static const char *const folders[] = { "00_first", "01_coalescing", "02_bank_conflicts",
                                           "03_divergence", "04_ilp_tlp" };
    Question q, three[QUIZ_OWN];

    for (int lab = 0; lab < (int) COUNT(folders); lab++) {
        const LabEntry young = { folders[lab], &plain };
        KernelFacts f = some_facts();
        f.entry = &young;
        for (size_t i = 0; i < COUNT(answers); i++)
            if (!answers[i].copies && question_about(&f, answers[i].key, &q))
                check_words(&q, lab);
        CU_ASSERT_EQUAL(questions_choose(&f, 1, three), QUIZ_OWN);
    }
}

static void without_counters_no_question(void)
{
    static const char *const keys[] = { "load_sectors@22",  "store_sectors@14",  "wavefronts@14",
                                        "lanes_of_line@14", "costliest_line@22", "barriers@14",
                                        "copies",           "no_such_kind",      "load_sectors" };
    KernelFacts f = some_facts();
    Question q, three[QUIZ_OWN];

    for (size_t i = 0; i < COUNT(keys); i++)
        if (question_about(&f, keys[i], &q))
            FAIL_SAYING("%s fits", keys[i]);
    f.launches = 2; /* whose warps? */
    CU_ASSERT_FALSE(question_about(&f, "loads_per_warp@14", &q));
    f.lines[1].cost.spent.at[AT_DRAM] = 450; /* not clearly less than line 14 */
    CU_ASSERT_FALSE(question_about(&f, "costliest_line@14", &q));
    f.limits.spent.at[AT_LATENCY] = 500;
    CU_ASSERT_FALSE(question_about(&f, "limit", &q));
    f.l2_bytes = 524289; /* part of what was written stays in the L2 */
    CU_ASSERT_FALSE(question_about(&f, "dram_bytes", &q));
    CU_ASSERT_FALSE(question_about(&f, "flops_per_byte", &q));
    f = (KernelFacts){ .entry = &entry, .sized = a_case };
    CU_ASSERT_EQUAL(questions_choose(&f, 1, three), 0);
}

/* ---- Which three ---- */

static void same_kernel_same_questions(void)
{
    const KernelFacts f = some_facts();
    Question a[QUIZ_OWN], b[QUIZ_OWN];

    for (uint64_t kernel = 1; kernel < 50; kernel++) {
        CU_ASSERT_EQUAL(questions_choose(&f, kernel, a), QUIZ_OWN);
        CU_ASSERT_EQUAL(questions_choose(&f, kernel, b), QUIZ_OWN);
        for (int i = 0; i < QUIZ_OWN; i++)
            CU_ASSERT_STRING_EQUAL(a[i].key, b[i].key);
    }
}

static bool same_kind(const Question *a, const Question *b)
{
    return !strncmp(a->key, b->key, strcspn(a->key, "@") + 1);
}

/* Over many kernels every kind that fits is asked, and never two of a kind. */
static void kinds_are_mixed(void)
{
    const KernelFacts f = some_facts();
    bool asked[40] = { false };
    Question q[QUIZ_OWN], about;

    for (uint64_t kernel = 1; kernel < 400; kernel++) {
        questions_choose(&f, kernel * 0x9e3779b97f4a7c15u, q);
        CU_ASSERT_FALSE(same_kind(&q[0], &q[1]) || same_kind(&q[1], &q[2]) ||
                        same_kind(&q[0], &q[2]));
        for (size_t i = 0; i < COUNT(answers); i++)
            for (int k = 0; k < QUIZ_OWN; k++)
                asked[i] |= !strcmp(q[k].key, answers[i].key);
    }
    for (size_t i = 0; i < COUNT(answers); i++)
        if (!answers[i].copies && question_about(&f, answers[i].key, &about) && !asked[i])
            FAIL_SAYING("%s is never asked", answers[i].key);
}

/* ---- Reading answers ---- */

static const struct {
    double right, tolerance;
    int choices;
    const char *text;
    int outcome; /* 1: right, 0: wrong, -1: not understood */
} readings[] = {
    { 4, 0.25, 0, "4", 1 },
    { 4, 0.25, 0, "4.0", 1 },
    { 4, 0.25, 0, " 4.2 sectors \t", 1 },
    { 4, 0.25, 0, "4.3", 0 },
    { 4, 0.25, 0, "~4", 1 },
    { 4, 0.25, 0, "about 4", 1 },
    { 4, 0.25, 0, "-4", 0 },
    { 4, 0.25, 0, "0x4", 1 },
    { 4, 0.25, 0, "", -1 },
    { 4, 0.25, 0, "four", -1 },
    { 4, 0.25, 0, "b", -1 },
    { 4, 0.25, 0, "8/2", -1 },
    { 4, 0.25, 0, "nan", -1 },
    { 4, 0.25, 0, "inf", -1 },
    { 4, 0.25, 0, "4 k", -1 },
    { 4, 0.25, 0, "4 MB", 1 }, /* the question names no unit of bytes */
    { 22, 0, 0, "line 22", 1 },
    { 22, 0, 0, "Line 22", 1 },
    { 22, 0, 0, "kernel.cu:22", 1 },
    { 22, 0, 0, "22.5", 0 },
    { 1024, 0, 0, "1,024", 1 },
    { 1024, 0, 0, "1,025", 0 },
    { 10, 5, 0, "12 %", 1 },
    { 10, 5, 0, "15.1%", 0 },
    { 0.5, 0.05, 0, "50 %", 1 },
    { 1.5, 0.1, 0, "1.5x", 1 },
    { 1.5, 0.1, 0, "1.5 times", 1 },
    { 2, 0, 4, "b", 1 },
    { 2, 0, 4, "B)", 1 },
    { 2, 0, 4, " b. ", 1 },
    { 2, 0, 4, "2", 1 },
    { 2, 0, 4, "a", 0 },
    { 2, 0, 4, "d", 0 },
    { 2, 0, 4, "e", -1 },
    { 2, 0, 4, "0", -1 },
    { 2, 0, 4, "", -1 },
    { 2, 0, 4, "both", -1 },
    { 2, 0, 4, "\xff", -1 },
};

static void answers_are_read(void)
{
    for (size_t i = 0; i < COUNT(readings); i++) {
        const Question q = { .answer = readings[i].right,
                             .tolerance = readings[i].tolerance,
                             .choice_count = readings[i].choices };
        const char *why;
        double value;
        const int outcome =
            !question_read(&q, readings[i].text, &value, &why) ? -1 : question_is_right(&q, value);
        if (outcome != readings[i].outcome)
            FAIL_SAYING("'%s': %d, expected %d", readings[i].text, outcome, readings[i].outcome);
    }
}

static void long_answers_are_refused(void)
{
    const Question q = { .answer = 4 };
    char text[5000];
    const char *why;
    double value;

    memset(text, '4', sizeof text - 1);
    text[sizeof text - 1] = 0;
    CU_ASSERT_FALSE(question_read(&q, text, &value, &why));
}

/* ---- Transfer questions ---- */

/* Each lab has at least two; keys are distinct words; the right choice exists; the answer itself is
 * accepted. */
static void transfer_questions_of_labs(void)
{
    Question q[LAB_QUESTIONS];
    char text[200];
    const char *why;
    double value;

    for (const LabEntry *lab = all_labs; lab->folder; lab++) {
        const int count = questions_transfer(lab->lab, q);
        CU_ASSERT(count >= 2);
        for (int i = 0; i < count; i++) {
            CU_ASSERT(strlen(lab->lab->questions[i].text) < sizeof q->text);
            CU_ASSERT(strlen(lab->lab->questions[i].because) < sizeof q->because);
            CU_ASSERT(strlen(q[i].key) < QUIZ_KEY - 1 && !strpbrk(q[i].key, " :\n"));
            if (q[i].choice_count)
                PUT(text, "%c", 'a' + (int) q[i].answer - 1);
            else
                question_answer(&q[i], text, sizeof text);
            CU_ASSERT(question_read(&q[i], text, &value, &why) && question_is_right(&q[i], value));
            for (int k = 0; k < i; k++)
                CU_ASSERT_STRING_NOT_EQUAL(q[i].key, q[k].key);
        }
    }
}

/* ---- Spans ---- */

static void spans_amount_to(void)
{
    const KernelFacts f = some_copies();

    CU_ASSERT_DOUBLE_EQUAL(f.spans.call_ns, 400, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(f.spans.sum_ns, 600, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(f.spans.busy_ns[ENGINE_UP], 200, 1e-9);
    CU_ASSERT_EQUAL(f.spans.streams, 2);
    FactSpans none;
    facts_of_spans(NULL, 0, &none);
    CU_ASSERT_DOUBLE_EQUAL(none.call_ns, 0, 0);
}

CU_SuiteInfo test_quiz_questions = {
    "quiz_questions",
    .pTests =
        (CU_TestInfo[]){
            { "counters give answers", counters_give_answers },
            { "texts are whole", texts_are_whole },
            { "every kind is tested", every_kind_is_tested },
            { "words come after their lesson", words_come_after_their_lesson },
            { "without counters no question", without_counters_no_question },
            { "the same kernel gets the same questions", same_kernel_same_questions },
            { "kinds are mixed", kinds_are_mixed },
            { "answers are read", answers_are_read },
            { "long answers are refused", long_answers_are_refused },
            { "transfer questions of labs", transfer_questions_of_labs },
            { "what spans amount to", spans_amount_to },
            CU_TEST_INFO_NULL,
        },
};
