/* junit.c - results as JUnit's XML: one suite per lab, one test per case, and two more: that the
 * kernel builds, and the verdict. */
#include "learner/formats/formats.h"
#include "base/escape.h"
#include "judge/message.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_TESTS = 80 };

typedef enum TestOutcome { PASSED, FAILED, SKIPPED, BROKEN, OUTCOMES } TestOutcome;

typedef struct Test {
    const char *kind, *label; /* "speed: flat"; label "": "build" */
    TestOutcome outcome;
    char why[700];          /* unless it passed */
    const CaseSpeed *speed; /* NULL: not measured */
    bool is_described;      /* the lab's messages are in its body */
} Test;

typedef struct Suite {
    const Result *result;
    const Annotations *annotations;
    Test tests[MOST_TESTS];
    int count, described, outcomes[OUTCOMES];
} Suite;

/* ---- Outcomes ---- */

static Test *add(Suite *suite, const char *kind, const char *label)
{
    Test *test = &suite->tests[suite->count];

    suite->count += suite->count < MOST_TESTS - 1;
    *test = (Test){ .kind = kind, .label = label };
    return test;
}

static void set(Test *test, TestOutcome outcome, const char *why)
{
    test->outcome = outcome;
    PUT(test->why, "%s", why);
}

/* The test that the messages describe; only the first such test repeats all of them. */
static void describe(Suite *suite, Test *test, TestOutcome outcome)
{
    set(test, outcome,
        suite->annotations->count ? suite->annotations->list[0].text : suite->result->why);
    test->is_described = !suite->described++;
}

static Verdict as_it_ran(const Result *result)
{
    return result->verdict == UNCHANGED ? result->as_it_ran : result->verdict;
}

static bool is_described_case(const Suite *suite, const Case *row)
{
    const Verdict verdict = as_it_ran(suite->result);

    return suite->result->diagnosis.lab_case == row && !verdict_passed(verdict) &&
           verdict != CORRECT_ONLY;
}

static void add_build(Suite *suite)
{
    const Result *result = suite->result;
    Test *test = add(suite, "build", "");

    if (result->verdict == BUILD)
        describe(suite, test, FAILED);
    else if (result->verdict == UNSOUND && !result->right_cases && !result->wrong_cases)
        set(test, SKIPPED, "the grader or the machine failed");
}

static void add_correct(Suite *suite, int i)
{
    const Result *result = suite->result;
    const Case *row = &result->entry->lab->cases[i];
    Test *test = add(suite, "correct: ", row->label);

    if (is_described_case(suite, row))
        describe(suite, test, FAILED);
    else if (i < 64 && result->wrong_cases >> i & 1)
        set(test, FAILED, "this case fails, too");
    else if (i >= 64 || !(result->right_cases >> i & 1))
        set(test, SKIPPED,
            verdict_passed(as_it_ran(result)) ? "too large to simulate"
                                              : "not run, or too large to simulate");
}

static const CaseSpeed *speed_of(const Result *result, const Case *row)
{
    for (int i = 0; i < result->speeds; i++)
        if (result->speed[i].lab_case == row)
            return &result->speed[i];
    return NULL;
}

static void add_speed(Suite *suite, const Case *row)
{
    const CaseSpeed *speed = speed_of(suite->result, row);
    Test *test = add(suite, row->kind == TIMED ? "speed: " : "control: ", row->label);
    const bool slow = as_it_ran(suite->result) == SLOW;

    test->speed = speed && speed->measured ? speed : NULL;
    if (is_described_case(suite, row)) {
        describe(suite, test, FAILED);
    } else if (test->speed) {
        if (slow && row->kind == TIMED && speed->ratio.median < speed->bar) {
            test->outcome = FAILED;
            message_slow(speed, speed->simulated_blocks > 0, test->why, sizeof test->why);
        }
    } else {
        set(test, SKIPPED, "its speed was not measured");
        if (speed && speed->unjudged.saw)
            message_why_not(&speed->unjudged, test->why, sizeof test->why);
    }
}

static void add_verdict(Suite *suite)
{
    const Verdict verdict = suite->result->verdict;
    Test *test = add(suite, "verdict", "");

    if (verdict_passed(verdict))
        return;
    describe(suite, test,
             verdict == UNSOUND                                  ? BROKEN
             : verdict == CORRECT_ONLY || verdict == UNSUPPORTED ? SKIPPED
                                                                 : FAILED);
}

static void add_all(Suite *suite)
{
    const Case *rows = suite->result->entry->lab->cases;

    add_build(suite);
    for (int i = 0; rows && rows[i].label; i++)
        if (rows[i].kind == CORRECT)
            add_correct(suite, i);
    for (int i = 0; rows && rows[i].label; i++)
        if (rows[i].kind != CORRECT)
            add_speed(suite, &rows[i]);
    add_verdict(suite);
    for (int i = 0; i < suite->count; i++)
        suite->outcomes[suite->tests[i].outcome]++;
}

/* ---- XML ---- */

static void write_attribute(FILE *out, const char *name, const char *value)
{
    fprintf(out, " %s=\"", name);
    write_xml(out, value);
    putc('"', out);
}

static void write_property(FILE *out, const char *name, const char *value)
{
    fputs("<property", out);
    write_attribute(out, "name", name);
    write_attribute(out, "value", value);
    fputs("/>\n", out);
}

static void write_number(FILE *out, const char *name, const char *format, double value)
{
    char text[40];

    snprintf(text, sizeof text, format, value);
    write_property(out, name, text);
}

static void write_speed(FILE *out, const CaseSpeed *speed)
{
    fputs("<properties>\n", out);
    write_number(out, "ratio", "%.5f", speed->ratio.median);
    if (speed->lab_case->kind == TIMED)
        write_number(out, "bar", "%.4f", speed->bar);
    write_number(out, "student_ms", "%.6f", speed->student_ms);
    write_number(out, "reference_ms", "%.6f", speed->reference_ms);
    fputs("</properties>\n", out);
}

/* All messages, as lines that editors and logs show as links. */
static void write_details(FILE *out, const Annotations *annotations)
{
    char *text;
    size_t bytes;
    FILE *lines = text_open(&text, &bytes);

    for (int i = 0; i < annotations->count; i++)
        annotation_gcc(lines, &annotations->list[i]);
    text_close(lines);
    write_xml(out, text);
    free(text);
}

static void write_outcome(FILE *out, const Suite *suite, const Test *test)
{
    static const char *const elements[OUTCOMES] = {
        [FAILED] = "failure", [SKIPPED] = "skipped", [BROKEN] = "error"
    };
    const Annotations *annotations = suite->annotations;

    if (test->outcome == PASSED)
        return;
    fprintf(out, "<%s", elements[test->outcome]);
    write_attribute(out, "message", test->why);
    if (test->outcome == SKIPPED) {
        fputs("/>\n", out);
        return;
    }
    write_attribute(out, "type", annotations->count ? annotations->list[0].rule : "failed");
    putc('>', out);
    if (test->is_described)
        write_details(out, annotations);
    fprintf(out, "</%s>\n", elements[test->outcome]);
}

static void write_test(FILE *out, const Suite *suite, const Test *test)
{
    char name[200];

    fputs("<testcase", out);
    write_attribute(out, "classname", suite->result->entry->folder);
    write_attribute(out, "name", PUT(name, "%s%s", test->kind, test->label));
    if (test->speed)
        fprintf(out, " time=\"%.9f\"", test->speed->student_ms / 1e3);
    if (test->outcome == PASSED && !test->speed) {
        fputs("/>\n", out);
        return;
    }
    fputs(">\n", out);
    if (test->speed)
        write_speed(out, test->speed);
    write_outcome(out, suite, test);
    fputs("</testcase>\n", out);
}

static void write_result(FILE *out, const Document *document, const Result *result)
{
    fputs("<properties>\n", out);
    write_property(out, "device", document->session->gpu.name);
    write_property(out, "verdict", verdict_word(result->verdict));
    if (!result->entry->lab->unmarked)
        write_number(out, "marks", "%.1f", result->marks);
    if (result->ratio > 0)
        write_number(out, "ratio", "%.5f", result->ratio);
    if (result->flags[0])
        write_property(out, "flag", result->flags);
    fputs("</properties>\n", out);
}

void junit_begin(Document *document)
{
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"warpbook\">\n",
          document->out);
}

void junit_lab(Document *document, const Result *result, const Annotations *annotations)
{
    FILE *out = document->out;
    static Suite suite;

    suite = (Suite){ .result = result, .annotations = annotations };
    add_all(&suite);
    fputs("<testsuite", out);
    write_attribute(out, "name", result->entry->folder);
    fprintf(out, " tests=\"%d\" failures=\"%d\" errors=\"%d\" skipped=\"%d\" time=\"%.2f\">\n",
            suite.count, suite.outcomes[FAILED], suite.outcomes[BROKEN], suite.outcomes[SKIPPED],
            result->wall_s);
    write_result(out, document, result);
    for (int i = 0; i < suite.count; i++)
        write_test(out, &suite, &suite.tests[i]);
    fputs("</testsuite>\n", out);
}

void junit_end(Document *document, bool sound)
{
    (void) sound;
    fputs("</testsuites>\n", document->out);
}
