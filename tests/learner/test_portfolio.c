/* test_portfolio.c - the page of make report: what it shows, what it does not, and that no text of
 * a file becomes markup. */
#include "learner/portfolio/page.h"
#include "capture.h"
#include "base/util.h"

#include <CUnit/CUnit.h>
#include <string.h>

static const Case cases[] = { { "small", { 1 } }, { "large", { 1 }, TIMED, 0.55 }, { 0 } };
static const Lab some_lab = {
    .title = "a <b>lab</b>",
    .cases = cases,
    .hints = { "one", "two" },
    .predictions = { { "first", "How many <sectors>?", 32, 0, "because" },
                     { "second", "And then?", 470011047, 0, "because" } },
    .questions = { { "there", "And \"there\"?", 7, 0, "because", { 0 } } },
};
static const LabEntry first = { "01_first", &some_lab }, second = { "02_second", &some_lab };
static PortfolioLab two_labs[2];

static PortfolioLab *begun(void)
{
    PortfolioLab *lab = &two_labs[0];

    memset(two_labs, 0, sizeof two_labs);
    lab->entry = &first;
    two_labs[1].entry = &second;
    lab->progress = (Progress){
        .latest = SLOW, .best = PASS, .ratio = 0.5, .hints = 1, .graded = true, .date = "2026-11-25"
    };
    lab->history[0] = (HistoryEntry){ "2026-11-24T10:00:00Z", SLOW, 0.25, "H200", 1 };
    lab->history[1] = (HistoryEntry){ "2026-11-24T11:00:00Z", PASS, 0.75, "Teaching_GPU", 2 };
    lab->history[2] = (HistoryEntry){ "2026-11-24T12:00:00Z", WRONG, 0, "Teaching_GPU", 3 };
    lab->history[3] = (HistoryEntry){ "2026-11-25T12:00:00Z", SLOW, 0.5, "Teaching_GPU", 4 };
    lab->gradings = 4;
    lab->prediction_count = 2;
    lab->predictions[0] = (PredictionRow){ &some_lab.predictions[0], true, 8, false };
    lab->predictions[1] = (PredictionRow){ &some_lab.predictions[1], false, 0, false };
    lab->quiz = (QuizRecords){ .kernel = 4, .date = "2026-11-25", .count = 2 };
    lab->quiz.list[0] = (QuizRecord){ "load_sectors@14", 4, true, 1 };
    lab->quiz.list[1] = (QuizRecord){ "transfer.there", 8, false, 2 };
    return lab;
}

/* The caller frees the text. */
static char *page_of(const char *no_roofline)
{
    Portfolio portfolio = { .labs = two_labs, .count = 2, .date = "2026-11-25 00:10" };
    char *text;
    size_t bytes;
    FILE *to = text_open(&text, &bytes);

    PUT(portfolio.no_roofline, "%s", no_roofline);
    portfolio_page(&portfolio, to);
    text_close(to);
    return text;
}

static int count_of(const char *text, const char *part)
{
    int count = 0;

    for (; (text = strstr(text, part)); text += strlen(part))
        count++;
    return count;
}

static void what_is_known_is_shown(void)
{
    char *text;

    begun();
    text = page_of("");
    CU_ASSERT(has(text, "1 of 2 labs are done"));
    CU_ASSERT(has(text, "href=\"#01_first\"") && has(text, "<section id=\"01_first\""));
    CU_ASSERT(has(text, "1 of 2</td>"));               /* hints */
    CU_ASSERT(has(text, "sectors per load, line 14")); /* quiz */
    CU_ASSERT(has(text, "And &quot;there&quot;?"));
    CU_ASSERT(has(text, "0 of 2</td>") && has(text, "1 of 4</td>")); /* predictions, quiz */
    CU_ASSERT(has(text, "1 of 4 right, 2 answered"));
    CU_ASSERT(has(text, "Teaching GPU"));
    free(text);
}

/* The page and `make` alone count the same labs, those without marks included. */
static void labs_are_counted_as_elsewhere(void)
{
    static const Lab warm_up = { .title = "warm-up", .cases = cases, .unmarked = true };
    static const LabEntry unmarked = { "00_warm_up", &warm_up };
    char *text;

    begun();
    two_labs[1].entry = &unmarked;
    two_labs[1].progress = (Progress){ .latest = PASS, .best = PASS, .graded = true };
    text = page_of("");
    CU_ASSERT(has(text, "2 of 2 labs are done"));
    free(text);
}

/* A lab that was not begun has a row, but no section. */
static void not_begun(void)
{
    char *text;

    begun();
    text = page_of("");
    CU_ASSERT(has(text, "02_second"));
    CU_ASSERT_FALSE(has(text, "<section id=\"02_second\""));
    free(text);
}

/* A speed below its bar is not rounded up to it, and a large number has no exponent. */
static void numbers_are_exact(void)
{
    char *text;

    begun()->progress.reached = 0.748;
    two_labs[0].progress.bar = 0.75;
    two_labs[0].predictions[0].guess = 8e6;
    text = page_of("");
    CU_ASSERT(has(text, ">0.74<"));
    CU_ASSERT(has(text, ">8000000<"));
    free(text);
}

/* The answer to a prediction that is still open must not be on the page. */
static void no_answer_is_given_away(void)
{
    char *text;

    begun();
    text = page_of("");
    CU_ASSERT_FALSE(has(text, "470011047") || has(text, "And then?"));
    CU_ASSERT(has(text, ">32<"));
    free(text);
}

/* Speeds of one device only; filled dots are passes. */
static void speeds_over_time(void)
{
    char *text;
    PortfolioLab *lab = begun();

    text = page_of("");
    CU_ASSERT_EQUAL(count_of(text, "<circle"), 2);
    CU_ASSERT_EQUAL(count_of(text, "<circle class=\"dot\""), 1);
    CU_ASSERT_EQUAL(count_of(text, "<line class=\"bar\""), 1);
    CU_ASSERT(has(text, "4 gradings"));
    free(text);
    lab->gradings = 1;
    lab->history[0].ratio = 0;
    text = page_of("");
    CU_ASSERT_EQUAL(count_of(text, "<circle"), 0);
    CU_ASSERT(has(text, "1 grading<"));
    free(text);
}

static void no_text_becomes_markup(void)
{
    static const char attack[] = "\"><script>alert(1)</script>'&";
    PortfolioLab *lab = begun();
    char *text;

    PUT(lab->history[3].device, "%s", attack);
    PUT(lab->history[3].at, "<i>");
    PUT(lab->progress.date, "<u>");
    PUT(lab->quiz.date, "<s>");
    PUT(lab->quiz.list[0].key, "<em>");
    text = page_of(attack);
    CU_ASSERT_FALSE(has(text, "<script") || has(text, "<b>") || has(text, "<i>") ||
                    has(text, "<u>") || has(text, "<s>") || has(text, "<em>") ||
                    has(text, "<sectors>"));
    CU_ASSERT(has(text, "&lt;script&gt;") && has(text, "a &lt;b&gt;lab"));
    free(text);
}

/* The page loads nothing, and elements that need an end have one. */
static void page_is_alone(void)
{
    static const char *const tags[] = { "table",   "tbody",  "thead", "tr",      "td", "th", "div",
                                        "section", "figure", "svg",   "details", "p",  "h2", "h3" };
    char *text, open[16], end[16];

    begun();
    text = page_of("there is no compiler");
    CU_ASSERT(has(text, "there is no compiler"));
    CU_ASSERT_FALSE(has(text, "http:") || has(text, "https:") || has(text, "src=") ||
                    has(text, "@import") || has(text, "url("));
    for (size_t i = 0; i < sizeof tags / sizeof *tags; i++) {
        const int ends = count_of(text, PUT(end, "</%s>", tags[i]));
        const int begins =
            count_of(text, PUT(open, "<%s>", tags[i])) + count_of(text, PUT(open, "<%s ", tags[i]));
        CU_ASSERT_EQUAL(begins, ends);
    }
    free(text);
}

CU_SuiteInfo test_portfolio = {
    "portfolio",
    .pTests =
        (CU_TestInfo[]){
            { "what is known is shown", what_is_known_is_shown },
            { "labs are counted as elsewhere", labs_are_counted_as_elsewhere },
            { "a lab that was not begun", not_begun },
            { "numbers are exact", numbers_are_exact },
            { "no answer is given away", no_answer_is_given_away },
            { "speeds over time", speeds_over_time },
            { "no text becomes markup", no_text_becomes_markup },
            { "the page is alone", page_is_alone },
            CU_TEST_INFO_NULL,
        },
};
