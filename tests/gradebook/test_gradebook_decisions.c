/* test_gradebook_decisions.c - what people decide: marks, extensions, excuses, late days, and what
 * waits for them. */
#include "gradebook/report/history.h"
#include "gradebook/report/results_table.h"
#include "gradebook/report/waiting.h"
#include "gradebook/store/attempt.h"
#include "gradebook/store/decisions.h"
#include "gradebook/store/import_roster.h"
#include "rig.h"
#include "gradebook/store/people.h"
#include "gradebook/store/terms.h"
#include "capture.h"
#include "rows.h"
#include "base/util.h"

#include <math.h>
#include <stdlib.h>

enum { DAY = 86400, DUE_06 = 1893456000, DUE_07 = DUE_06 + 7 * DAY }; /* 2030-01-01, 00:00 UTC */

static char folder[64], file[80];
static Store store;
static bool requested[LABS];

static int begin(void)
{
    memset(requested, 0, sizeof requested);
    requested[lab_find("transpose") - all_labs] = true;
    requested[lab_find("reduction") - all_labs] = true;
    return rig_open(&store, folder, file);
}

static int end(void)
{
    return rig_close(&store, folder);
}

/* ---- A class ---- */

typedef struct HandedIn {
    const char *who, *number, *lab, *text, *verdict;
    int64_t sent;
} HandedIn;

/* ann is late in both labs; bob's kernel is suspect. */
static const HandedIn first_week[] = {
    { "ann", "1", "06_transpose", "int a6;", "pass", DUE_06 + 3 * DAY },
    { "ann", "1", "07_reduction", "int a7;", "pass", DUE_07 + 3 * DAY },
    { "bob", "2", "06_transpose", "int b6;", "suspect", DUE_06 },
    { "bob", "2", "07_reduction", "int b7;", "wrong", DUE_07 + DAY },
    { "cid", "3", "06_transpose", "int c6;", "close", DUE_06 },
};
static const HandedIn bobs_second = { "bob", "2", "06_transpose", "int second;", "pass", DUE_06 };

static void hand_in(Class *class, const HandedIn *h)
{
    char path[80];
    Submission *submission =
        class_submission(class, PUT(path, "%s-%s-%s", h->who, h->lab, h->text));

    PUT(submission->student, "%s", h->who);
    PUT(submission->number, "%s", h->number);
    submission->layout = "plain";
    submission->sent = h->sent;
    submission->timed = true;
    submission_file(submission, PUT(path, "%s/kernel.cu", h->lab), h->text, strlen(h->text),
                    hash_bytes(HASH_START, h->text, strlen(h->text)), 0);
}

static void grade_all(const HandedIn *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char out[300];
        Program program = { .out = { .fd = -1, .text = out, .size = 9999 },
                            .errors = { .fd = -1, .text = "" },
                            .began_s = now_s() };
        Task task = { .lab = (int) (lab_find(list[i].lab) - all_labs), .number = 1 };
        Attempt attempt;
        PUT(out, "format:1\nlab:%s\nverdict:%s\nflag:%s\nwhy:as graded\nend:%s\n", list[i].lab,
            list[i].verdict, strcmp(list[i].verdict, "suspect") ? "" : "clock", list[i].lab);
        program.out.used = program.out.bytes = strlen(out);
        task.kernel = store_number(&store, 0,
                                   "SELECT id FROM kernels WHERE source = CAST(? AS BLOB)"
                                   " OR source = ?1",
                                   "t", list[i].text);
        attempt_of(&program, list[i].lab, "sim", &attempt);
        attempt_record(&store, &task, &attempt);
        attempt_free(&attempt);
    }
}

static void import(const HandedIn *list, size_t count)
{
    const ImportRequest request = { .source = "class",
                                    .assignment = "",
                                    .requested = requested,
                                    .labs_named = true,
                                    .replace = true };
    ImportCounts counts;
    Class class = { 0 };

    for (size_t i = 0; i < count; i++)
        hand_in(&class, &list[i]);
    CU_ASSERT_TRUE_FATAL(import_submissions(&store, &class, &request, &counts));
    free(counts.notes);
    free(counts.losses);
    class_free(&class);
}

static void start_again(const char *course)
{
    char text[400], *reported;

    end();
    CU_ASSERT_EQUAL_FATAL(begin(), 0);
    import(first_week, COUNT(first_week));
    grade_all(first_week, COUNT(first_week));
    PUT(text,
        "%s[all]\nclose = human\nlate_factor = 0.9\n[6]\ndeadline = 2030-01-01 00:00 Z\n[7]\n"
        "deadline = 2030-01-08 00:00 Z\n",
        course);
    CU_ASSERT_TRUE_FATAL(write_file(file, text, strlen(text)));
    CU_ASSERT_TRUE_FATAL(terms_load(&store, file, &reported));
    terms_keep(&store);
}

/* ---- Deciding ---- */

static Decision decision_of(const char *who, const char *kind, const char *lab, const char *value)
{
    static char problem[400];
    Decision d = { .lab = lab, .kind = kind, .value = value, .note = "a reason", .author = "kim" };

    if (!people_find(&store, who, &d.person, problem, sizeof problem))
        FAIL_SAYING("%s", problem);
    return d;
}

static void decide(const char *who, const char *kind, const char *lab, const char *value)
{
    const Decision d = decision_of(who, kind, lab, value);

    decisions_add(&store, &d);
}

static bool undo(const char *who, const char *kind, const char *lab)
{
    const Decision d = decision_of(who, kind, lab, "");

    return decisions_undo(&store, &d);
}

/* Marks as text: "90.0", or "-" if there are none; then words for what people should know. */
static const char *marks_of_row(const char *who, const char *lab)
{
    static char text[100];
    ResultsTable results;

    PUT(text, "no row");
    results_read(&store, NULL, &results);
    for (int i = 0; i < results.row_count; i++) {
        const Row *row = &results.rows[i];
        if (strcasecmp(row->name, who) || strcmp(row->lab, lab))
            continue;
        PUT(text, row->has_marks ? "%.1f" : "-", row->marks);
        APPEND(text, "%s%s%s", row->excused ? " excused" : "",
               row->decided_before ? " look again" : "", waiting_reason(row) ? " waits" : "");
        if (row->late_days)
            APPEND(text, " %d of %d", (int) row->late_days, (int) row->late_days_used);
    }
    results_free(&results);
    return text;
}

#define T                     "06_transpose"
#define R                     "07_reduction"
#define CHECK(who, lab, text) CU_ASSERT_STRING_EQUAL(marks_of_row(who, lab), text)

static void marks_are_decided_and_undone(void)
{
    start_again("");
    CHECK("bob", T, "- waits");
    CHECK("cid", T, "- waits");
    decide("bob", "marks", T, "pass");
    CHECK("bob", T, "100.0");
    decide("2", "marks", T, "62.5");
    CHECK("bob", T, "62.5");
    decide("bob", "marks", R, "pass"); /* one day late */
    CHECK("bob", R, "90.0");
    CU_ASSERT_TRUE(undo("bob", "marks", T)); /* the decision before counts again */
    CHECK("bob", T, "100.0");
    CU_ASSERT_TRUE(undo("bob", "marks", T));
    CHECK("bob", T, "- waits");
    CU_ASSERT_FALSE(undo("bob", "marks", T));
    CHECK("bob", R, "90.0");
    decide("cid", "marks", T, "zero");
    CHECK("cid", T, "0.0");
    CHECK("cid", R, "0.0");          /* missing */
    decide("cid", "marks", R, "55"); /* an oral exam */
    CHECK("cid", R, "55.0");
    CU_ASSERT_EQUAL(store_number(&store, 0, "SELECT count(*) FROM decisions", ""), 7);
}

static void extensions_and_excuses(void)
{
    ResultsTable results;

    start_again("");
    CHECK("ann", T, "72.9");
    CHECK("ann", R, "72.9");
    decide("ann", "extend", "", "1d");
    CHECK("ann", T, "81.0");
    CHECK("ann", R, "81.0");
    decide("ann", "extend", T, "2030-01-04 00:00 Z"); /* of one lab: it takes precedence */
    CHECK("ann", T, "100.0");
    CHECK("ann", R, "81.0");
    CU_ASSERT_TRUE(undo("ann", "extend", ""));
    CHECK("ann", T, "100.0");
    CHECK("ann", R, "72.9");
    decide("ann", "excuse", R, "");
    CHECK("ann", R, "- excused");
    results_read(&store, NULL, &results);
    for (int i = 0; i < results.count; i++) {
        const Total total = results_total(&results, &results.students[i]);
        if (strcmp(results.students[i].name, "ann"))
            continue;
        CU_ASSERT_EQUAL(marks_total(&total), 100); /* without the excused lab */
        CU_ASSERT_EQUAL(total.open, 0);
    }
    results_free(&results);
}

/* The budget pays in the order of the deadlines. */
static void late_days(void)
{
    start_again("[course]\nlate_days = 4\n");
    CHECK("ann", T, "100.0 3 of 4");
    CHECK("ann", R, "81.0 1 of 4");   /* 3 days late, and 1 day is left */
    CHECK("bob", R, "0.0");           /* wrong: no day is spent on no marks */
    decide("ann", "extend", T, "2d"); /* now the first lab needs only one day */
    CHECK("ann", T, "100.0 1 of 4");
    CHECK("ann", R, "100.0 3 of 4");
    decide("ann", "marks", T, "40"); /* final: needs none */
    CHECK("ann", T, "40.0");
    CHECK("ann", R, "100.0 3 of 3");
    decide("bob", "marks", R, "pass");
    CHECK("bob", R, "100.0 1 of 1");
}

static bool is_late(const char *who, const char *lab)
{
    ResultsTable results;
    bool late = false;

    results_read(&store, NULL, &results);
    for (int i = 0; i < results.row_count; i++)
        if (!strcmp(results.rows[i].name, who) && !strcmp(results.rows[i].lab, lab))
            late = results.rows[i].is_late;
    results_free(&results);
    return late;
}

/* Within the grace period or an extension, the learning system's mark does not make a kernel late.
 */
static void who_is_late(void)
{
    start_again("");
    store_do(&store, "UPDATE submissions SET late = 1", "");
    CU_ASSERT_TRUE(is_late("ann", T));
    CU_ASSERT_FALSE(is_late("bob", T)); /* at the deadline */
    decide("ann", "extend", T, "3d");
    CU_ASSERT_FALSE(is_late("ann", T));
    CU_ASSERT_TRUE(is_late("bob", R));
    store_do(&store, "UPDATE submissions SET timed = 0", ""); /* only the mark is left */
    CU_ASSERT_TRUE(is_late("bob", T));
}

static void grace(void)
{
    start_again("[all]\nlate_grace = 1d\n");
    CU_ASSERT_FALSE(is_late("bob", R)); /* one day */
    CU_ASSERT_TRUE(is_late("ann", R));  /* three days */
}

/* One open lab withholds no other: the total is that of the known labs, and says what is open. */
static void open_labs(void)
{
    ResultsTable results;

    start_again("");
    results_read(&store, NULL, &results);
    for (int i = 0; i < results.count; i++) {
        const Total total = results_total(&results, &results.students[i]);
        if (strcmp(results.students[i].name, "cid"))
            continue;
        CU_ASSERT_EQUAL(total.open, 1);
        CU_ASSERT_EQUAL(total.weight, 1);
    }
    results_free(&results);
}

/* ---- Later hand-ins, rosters ---- */

static void a_later_hand_in(void)
{
    HandedIn both[COUNT(first_week) + 1];

    start_again("");
    decide("bob", "marks", T, "30");
    CHECK("bob", T, "30.0");
    memcpy(both, first_week, sizeof first_week);
    both[COUNT(first_week)] = bobs_second;
    both[COUNT(first_week)].sent++;
    import(both, COUNT(both));
    grade_all(&bobs_second, 1);
    CHECK("bob", T, "30.0 look again waits"); /* the decision stays */
    decide("bob", "marks", T, "35");
    CHECK("bob", T, "35.0");
}

static void the_decision_follows_the_person(void)
{
    static const char roster[] = "id,name\n2,Robert Lee\n9,Absent One\n";
    char *reported;
    int people;

    start_again("");
    decide("bob", "marks", T, "30");
    CU_ASSERT_TRUE_FATAL(write_file(file, roster, sizeof roster - 1));
    CU_ASSERT_TRUE(import_roster(&store, file, &people, &reported));
    CHECK("Robert Lee", T, "30.0"); /* by his number */
    decide("Absent One", "excuse", R, "");
    CHECK("Absent One", R, "- excused");
    import((const HandedIn[]){ { "absent one", "9", R, "int late;", "pass", DUE_07 } }, 1);
    CHECK("Absent One", R, "- excused");
}

/* ---- What people read ---- */

/* True if the words stand in the text in this order. */
static bool in_order(const char *text, const char *const *words)
{
    for (; *words && text; words++) {
        text = strstr(text, *words);
        text = text ? text + 1 : NULL;
    }
    return text != NULL;
}

static void history(void)
{
    static const char *const all[] = {
        "submitted", "imported", "kernel",      "course",        "graded",
        "suspect",   "decided",  "marks: pass", "kim: a reason", "undone: marks pass",
        "now",       NULL
    };
    static const char *const other_lab[] = { "07_reduction", NULL };
    static Capture capture;
    const char *text;
    char problem[200];

    start_again("");
    decide("bob", "marks", T, "pass");
    undo("bob", "marks", T);
    store_do(&store, "UPDATE imports SET at = '2030-01-02T00:00:00Z'", "");
    store_do(&store, "UPDATE courses SET at = '2030-01-03 00:00:00'", "");
    store_do(&store, "UPDATE attempts SET began = '2030-01-04T00:00:00Z'", "");
    store_do(&store, "UPDATE decisions SET at = '2030-01-05T00:00:00Z'", "");
    capture_begin(&capture, stdout);
    CU_ASSERT_TRUE(history_print(&store, "bob", T, problem, sizeof problem));
    text = capture_end(&capture);
    if (!in_order(text, all))
        FAIL_SAYING("%s", text);
    CU_ASSERT_FALSE(in_order(text, other_lab));
}

/* The history of somebody of whom no submission counts any more: replaced, then not on the roster.
 */
static void history_of_former_students(void)
{
    static const char *const replaced[] = { "imported", "replaced by a later import",
                                            "graded",   "suspect",
                                            "decided",  "marks: 30",
                                            "now",      NULL };
    static const char roster[] = "id,name\n2,Robert Lee\n";
    static Capture capture;
    char problem[200], *reported;
    int people;

    start_again("");
    decide("bob", "marks", T, "30");
    import(first_week, 2); /* only ann */
    for (int on_roster = 0; on_roster < 2; on_roster++) {
        if (on_roster) {
            CU_ASSERT_TRUE_FATAL(write_file(file, roster, sizeof roster - 1));
            CU_ASSERT_TRUE(import_roster(&store, file, &people, &reported));
        }
        capture_begin(&capture, stdout);
        CU_ASSERT_TRUE(
            history_print(&store, on_roster ? "Robert Lee" : "bob", T, problem, sizeof problem));
        if (!in_order(capture_end(&capture), replaced))
            FAIL_SAYING("%d: %s", on_roster, capture.text);
    }
    CU_ASSERT_FALSE(history_print(&store, "no such student", T, problem, sizeof problem));
}

static void waiting(void)
{
    static const char *const evidence[] = { "bob (2), 06_transpose: suspect",
                                            "why: as graded",
                                            "flags: clock",
                                            "submitted: ",
                                            "source: ",
                                            "gradebook decide 2 06_transpose pass|zero|MARKS",
                                            "cid (3), 06_transpose: close",
                                            "2 wait",
                                            NULL };
    static Capture capture;
    char to[100], path[200], *source;

    start_again("");
    PUT(to, "%s/to", folder);
    capture_begin(&capture, stdout);
    CU_ASSERT_TRUE(waiting_print(&store, &(Filter){ 0 }, "o", to));
    if (!in_order(capture_end(&capture), evidence))
        FAIL_SAYING("%s", capture.text);
    PUT(path, "%s/06_transpose.%d.cu", to,
        (int) store_number(&store, 0,
                           "SELECT kernel FROM counted c JOIN students s ON s.id = c.student"
                           " WHERE s.name = 'bob' AND c.lab = '06_transpose'",
                           ""));
    source = read_file(path, 100, NULL);
    CU_ASSERT_STRING_EQUAL(source ? source : "none", "int b6;");
    free(source);
}

/* A student without a kernel has no similar kernel, although the ladder's files have kernel 0, too.
 */
static void waiting_without_a_kernel(void)
{
    static const ImportRequest request = {
        .source = "class", .assignment = "x", .requested = requested, .labs_named = true
    };
    static Capture capture;
    char *rung = read_file("solutions/06_transpose/4_tile.cu", 1 << 18, NULL);
    Submission *empty;
    Class class = { 0 };
    ImportCounts counts;

    CU_ASSERT_PTR_NOT_NULL_FATAL(rung);
    end();
    CU_ASSERT_EQUAL_FATAL(begin(), 0);
    hand_in(&class, &(HandedIn){ "ann", "1", T, rung, "pass", DUE_06 });
    empty = class_submission(&class, "rar");
    PUT(empty->student, "rae");
    empty->layout = "plain";
    empty->refused = true;
    CU_ASSERT_TRUE_FATAL(import_submissions(&store, &class, &request, &counts));
    free(counts.notes);
    class_free(&class);
    free(rung);
    capture_begin(&capture, stdout);
    CU_ASSERT_TRUE(waiting_print(&store, &(Filter){ 0 }, "o", NULL));
    capture_end(&capture);
    CU_ASSERT_PTR_NOT_NULL(strstr(capture.text, "rae, 06_transpose: unreadable"));
    if (strstr(capture.text, "similar"))
        FAIL_SAYING("%s", capture.text);
}

CU_SuiteInfo test_gradebook_decisions = {
    "gradebook decisions",
    .pInitFunc = begin,
    .pCleanupFunc = end,
    .pTests =
        (CU_TestInfo[]){
            { "marks are decided and undone", marks_are_decided_and_undone },
            { "extensions and excuses", extensions_and_excuses },
            { "late days", late_days },
            { "who is late", who_is_late },
            { "grace", grace },
            { "open labs", open_labs },
            { "a later hand-in", a_later_hand_in },
            { "the decision follows the person", the_decision_follows_the_person },
            { "history", history },
            { "history of former students", history_of_former_students },
            { "waiting", waiting },
            { "waiting without a kernel", waiting_without_a_kernel },
            CU_TEST_INFO_NULL,
        },
};
