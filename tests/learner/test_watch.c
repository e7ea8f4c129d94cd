/* test_watch.c - the pure parts of make watch: keys, events, the screen as text, files, labs. */
#include "base/util.h"
#include "learner/progress.h"
#include "learner/current_lab.h"
#include "learner/watch/result_text.h"
#include "learner/watch/columns.h"
#include "learner/watch/events.h"
#include "learner/watch/keys.h"
#include "learner/watch/labs.h"
#include "learner/watch/saved.h"
#include "learner/watch/screen.h"
#include "capture.h"
#include "rows.h"

#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Keys ---- */

static void bytes_become_keys(void)
{
    static const struct {
        const char *bytes;
        size_t size;
        int key;
        size_t used;
    } rows[] = {
        { "", 0, KEY_NONE, 0 },
        { "n", 1, 'n', 1 },
        { "nh", 2, 'n', 1 },
        { "\r", 1, KEY_ENTER, 1 },
        { "\0", 1, 0, 1 },
        { "\xff", 1, 0xff, 1 },
        { "\033", 1, KEY_ESCAPE, 1 },
        { "\033x", 2, KEY_ESCAPE, 1 },
        { "\033[A", 3, KEY_UP, 3 },
        { "\033OB", 3, KEY_DOWN, 3 },
        { "\033[5~q", 5, KEY_PAGE_UP, 4 },
        { "\033[6~", 4, KEY_PAGE_DOWN, 4 },
        { "\033[1;5C", 6, KEY_NONE, 6 },                  /* unknown: swallowed whole */
        { "\033[", 2, KEY_NONE, 0 },                      /* not complete yet */
        { "\033[0000000000000000000", 20, KEY_NONE, 16 }, /* endless: given up */
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        size_t used = 99;
        int key = key_read(rows[i].bytes, rows[i].size, &used);
        if (key != rows[i].key || used != rows[i].used)
            FAIL_SAYING("row %zu: key %d, used %zu", i, key, used);
    }
}

static void each_key_has_one_action(void)
{
    int seen[512] = { 0 };

    for (const Key *row = watch_keys; row->key; row++) {
        CU_ASSERT_FATAL(row->key > 0 && row->key < 512);
        CU_ASSERT_EQUAL(seen[row->key]++, 0);
        CU_ASSERT_NOT_EQUAL(row->action, ACT_NONE);
        CU_ASSERT_EQUAL(key_action(row->key), row->action);
    }
    CU_ASSERT_EQUAL(key_action('x'), ACT_NONE);
    CU_ASSERT_EQUAL(key_action(0), ACT_NONE);
    CU_ASSERT_EQUAL(key_action(KEY_NONE), ACT_NONE);
}

static void the_line_of_keys_fits(void)
{
    char text[400];

    CU_ASSERT_PTR_NULL(strchr(keys_line(80, text, sizeof text), '\n'));
    CU_ASSERT(fits(80, text));
    CU_ASSERT(has(text, "n next  h hint") && has(text, "q quit"));
    for (int columns = 9; columns < 90; columns++)
        CU_ASSERT(fits((size_t) columns, keys_line(columns, text, sizeof text)));
}

/* ---- Events ---- */

/* Several blanks within a line become one: the times have a column of their own. */
static void squeeze(char *text)
{
    char *to = text;

    for (const char *from = text; *from; from++)
        if (*from != ' ' || from[1] != ' ' || (to > text ? to[-1] == '\n' : true))
            *to++ = *from;
    *to = 0;
}

static void events_become_steps(void)
{
    static const struct {
        const char *events, *text, *final;
    } rows[] = {
        { "", "  starting ...\n", "" },
        { "event:building\n", "  compiling ...\n", "" },
        { "event:building\nevent:verdict verdict:build\n", "", "" },
        { "event:built\n", "  compiles 1.0 s\n  checking ...\n", "  compiles 1.0 s\n" },
        { "event:built\nevent:cases right:9 wrong:0 skipped:0 of:18\n",
          "  compiles 1.0 s\n  9 of 18 cases right 2.0 s\n  checking ...\n", "  compiles 1.0 s\n" },
        { "event:built\nevent:cases right:9 wrong:2 skipped:1 of:18\nevent:verdict verdict:wrong\n",
          "  compiles 1.0 s\n  9 of 18 cases right, 2 wrong, 1 too large to simulate 2.0 s\n",
          "  compiles 1.0 s\n  9 of 18 cases right, 2 wrong, 1 too large to simulate 2.0 s\n" },
        { "event:built\nevent:cases right:18 wrong:0 skipped:0 of:18\nevent:timing\n"
          "event:speed ratio:0.36900 bar:0.5500 kind:timed case:16 features\n",
          "  compiles 1.0 s\n  18 of 18 cases right 3.0 s\n"
          "  16 features: 37 % of the reference's speed, needs 55 % 4.0 s\n  timing ...\n",
          "  compiles 1.0 s\n  18 of 18 cases right 3.0 s\n"
          "  16 features: 37 % of the reference's speed, needs 55 % 4.0 s\n" },
        { "event:speed ratio:1 bar:0 kind:control case:one feature\n",
          "  starting ...\n  one feature: 100 % of the reference's speed 1.0 s\n",
          "  one feature: 100 % of the reference's speed 1.0 s\n" },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        Grading grading = { 0 };
        char line[200], text[2000];
        const char *at = rows[i].events;
        for (int n = 1; next_line(&at, at + strlen(at), line, sizeof line); n++)
            CU_ASSERT_TRUE(event_apply(&grading, line, n));
        CU_ASSERT(fits(80, grading_text(&grading, false, text, sizeof text)));
        squeeze(text);
        if (strcmp(text, rows[i].text))
            FAIL_SAYING("row %zu: %s", i, text);
        squeeze(grading_text(&grading, true, text, sizeof text));
        if (strcmp(text, rows[i].final))
            FAIL_SAYING("row %zu, final: %s", i, text);
    }
}

static void other_lines_are_no_events(void)
{
    static const char *const rows[] = {
        "",
        "event:",
        "event:unheard-of",
        "verdict:slow",
        " event:built",
        "event:cases",
        "event:cases right:1 wrong:0 skipped:0",
        "event:cases right:-1 wrong:0 skipped:0 of:18",
        "event:cases right:nan wrong:0 skipped:0 of:18",
        "event:cases right:1e99 wrong:0 skipped:0 of:18",
        "event:speed ratio:0.5 bar:0.5 case:flat",
        "event:speed ratio:x bar:0.5 kind:timed case:flat",
        "event:verdict",
        "event:verdict verdict:a-word-that-is-far-too-long",
    };
    Grading grading = { 0 }, before = { 0 };

    for (size_t i = 0; i < COUNT(rows); i++)
        if (event_apply(&grading, rows[i], 1) || memcmp(&grading, &before, sizeof before))
            FAIL_SAYING("row %zu: %s", i, rows[i]);
    for (int i = 0; i < 2 * GRADING_SPEEDS; i++)
        event_apply(&grading, "event:speed ratio:0.5 bar:0.5 kind:timed case:flat", 1);
    CU_ASSERT_EQUAL(grading.speeds, GRADING_SPEEDS);
}

/* ---- The screen ---- */

static int lines_of(const char *text)
{
    int lines = 1;

    for (; *text; text++)
        lines += *text == '\n';
    return lines;
}

static void the_screen_is_composed(void)
{
    static const struct {
        Screen screen;
        const char *text;
    } rows[] = {
        { { 20, 10, "06 transpose", "slow", "a\nb\n", 0, "Really?" },
          "06 transpose    slow\n\na\nb\n\nReally?" },
        { { 14, 10, "06 transpose", "slow", "", 0, "Really?" }, "06 transpose\n\n\nReally?" },
        { { 20, 8, "lab", "", "1\n2\n3\n4\n5\n6\n", 0, "?" },
          "lab                 \n\n1\n2\n3\n-- 3 more lines: spa\n\n?" },
        { { 20, 8, "lab", "", "1\n2\n3\n4\n5\n6\n", 99, "?" },
          "lab                 \n\n3\n4\n5\n6\n\n?" },
        { { 5, 10, "lab", "", "abcdefgh\n", 0, "?" }, "lab  \n\nabcde\nfgh\n\n?" },
        { { 9, 10, "lab", "", "a\tb\n", 0, "?" }, "lab      \n\na       b\n\n?" },
        { { 9, 10, "lab", "", "a\033]0;x\007b\n", 0, "?" }, "lab      \n\na?]0;x?b\n\n?" },
        { { 3, 10, "lab", "", "\033[31mabc\033[0m\n", 0, "?" }, "lab\n\n\033[31mabc\033[0m\n\n?" },
        { { 3, 10, "lab", "", "\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\n", 0, "?" },
          "lab\n\n\xc3\xa4\xc3\xa4\xc3\xa4\n\xc3\xa4\n\n?" },
        { { 4, 2, "lab", "", "a\nb\n", 0, "?" }, "lab\n" },
        { { 4, 1, "lab", "", "a\nb\n", 0, "?" }, "lab" },
        { { 10, 10, "lab", "pass", "", 0, "?", "32" },
          "\033[1mlab\033[0m   \033[1;32mpass\033[0m\n\n\n?" },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        char *text = screen_text(&rows[i].screen);
        if (strcmp(text, rows[i].text))
            FAIL_SAYING("row %zu:\n%s\n", i, text);
        free(text);
    }
}

/* Whatever the sizes, the screen is not larger, and scrolling reaches each line. */
static void the_screen_fits_any_size(void)
{
    char body[2000] = "", word[16];

    for (int i = 0; i < 60; i++)
        APPEND(body, "line %d of\tthe text\n", i); /* a tab is wider than some screens */
    for (int rows = 0; rows < 60; rows++)
        for (int columns = 0; columns < 120; columns += 7) {
            Screen screen = { columns, rows, "06 transpose  labs/06", "slow", body, 0, NULL };
            char *text = screen_text(&screen);
            CU_ASSERT(lines_of(text) <= (rows > 1 ? rows : 1));
            CU_ASSERT(fits((size_t) (columns > 9 ? columns : 9), text));
            free(text);
        }
    for (int line = 0; line < 60; line++) {
        Screen screen = { 40, 20, "lab", "", body, line, "?" };
        char *text = screen_text(&screen);
        CU_ASSERT(has(text, PUT(word, "line %d ", line)));
        free(text);
    }
}

static void colours_can_be_removed(void)
{
    static const char *const rows[][2] = {
        { "", "" },
        { "plain", "plain" },
        { "\033[1;31mred\033[0m \033[mand", "red and" },
        { "\033[2Jno colour", "\033[2Jno colour" },
        { "\033[1", "\033[1" },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[64];
        PUT(text, "%s", rows[i][0]);
        screen_plain(text);
        CU_ASSERT_STRING_EQUAL(text, rows[i][1]);
    }
}

/* ---- Columns ---- */

static void a_caret_gives_the_column(void)
{
#define K "labs/06_transpose/kernel.cu"
    static const char *const rows[][2] = {
        { "", "" },
        { "no line end", "no line end" },
        { K ":3: error: no foo\n      foo();\n      ^\n\nNext\n",
          K ":3:5: error: no foo\n      foo();\n      ^\n\nNext\n" },
        { K ":3: error: no\n  foo();\n  ^", K ":3:1: error: no\n  foo();\n  ^" },
        { K ":3:7: error: no\n    3 | x\n      ^\n", K ":3:7: error: no\n    3 | x\n      ^\n" },
        { K ":3: error: no\nother\n      ^\n", K ":3: error: no\nother\n      ^\n" },
        { K ":3: error: no\n  a = b ^ c;\n", K ":3: error: no\n  a = b ^ c;\n" },
        { K ":3: error: no\n ^\n", K ":3: error: no\n ^\n" },
        { "see kernel.cu:3: it\n    x\n    ^\n", "see kernel.cu:3: it\n    x\n    ^\n" },
        { K ": error\n    x\n    ^\n", K ": error\n    x\n    ^\n" },
        { K ":3: one\n    x\n    ^\n" K ":4: two\n    y\n   ^\n",
          K ":3:3: one\n    x\n    ^\n" K ":4:2: two\n    y\n   ^\n" },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        char *text = text_with_columns(rows[i][0]);
        if (strcmp(text, rows[i][1]))
            FAIL_SAYING("row %zu: %s", i, text);
        free(text);
    }
}

/* ---- Files ---- */

static char folder[64];

static int make_folder(void)
{
    PUT(folder, "/tmp/warpbook-watch-XXXXXX");
    return !mkdtemp(folder);
}

static int remove_folder(void)
{
    remove_tree(folder);
    return 0;
}

static bool changes(FileState *state, const char *path)
{
    FileState now = file_state(path);
    bool same = same_state(state, &now);

    *state = now;
    return !same;
}

static void a_save_changes_the_state(void)
{
    char path[96], other[96];
    FileState state = { 0 };

    PUT(path, "%s/kernel.cu", folder);
    PUT(other, "%s/kernel.cu.new", folder);
    CU_ASSERT_FALSE(changes(&state, path));
    CU_ASSERT_FALSE(state_exists(&state));
    CU_ASSERT_TRUE(write_file(path, "a", 1));
    CU_ASSERT_TRUE(changes(&state, path));
    CU_ASSERT_TRUE(state_exists(&state));
    CU_ASSERT_FALSE(changes(&state, path));
    CU_ASSERT_TRUE(write_file(path, "b", 1)); /* renames a new file, as editors do */
    CU_ASSERT_TRUE(changes(&state, path));
    CU_ASSERT_TRUE(write_file(other, "c", 1));
    CU_ASSERT_FALSE(changes(&state, path));
    CU_ASSERT_EQUAL(truncate(path, 0), 0);
    CU_ASSERT_TRUE(changes(&state, path));
    CU_ASSERT_EQUAL(unlink(path), 0);
    CU_ASSERT_TRUE(changes(&state, path));
    CU_ASSERT_FALSE(state_exists(&state));
}

/* ---- What programs print ---- */

/* The page of a grading comes in two forms; what stands around them belongs to both. */
static void a_page_has_two_forms(void)
{
    static const struct {
        const char *printed;
        int status;
        const char *watch, *shell;
    } rows[] = {
        { "\n\nplain\n \n", 0, "plain\n", "plain\n" },
        { "gpu\n\fh: hint\n\fmake hint\n", 0, "gpu\nh: hint\n", "gpu\nmake hint\n" },
        { "\f\nkeys\n\f\ncommands\n", 0, "keys\n", "commands\n" },
        { "gpu\n\fcut", 9, "Save again to retry.\n", "(Killed).\n" },
        { "\f\f", 0, "\n", "\n" },
        { "", 0, "\n", "\n" },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        const Job job = { .printed = (char *) rows[i].printed, .status = rows[i].status };
        char *watch = result_text(&job, FORM_WATCH), *shell = result_text(&job, FORM_SHELL);
        const bool killed = rows[i].status; /* then only how it ended is compared */
        if (killed ? !has(watch, rows[i].watch) || !has(shell, rows[i].shell)
                   : strcmp(watch, rows[i].watch) || strcmp(shell, rows[i].shell))
            FAIL_SAYING("row %zu: '%s' '%s'", i, watch, shell);
        free(watch);
        free(shell);
    }
}

/* ---- Labs ---- */

static void begin_with(Workbook *book, const char *progress)
{
    PUT(book->root, ".");
    PUT(book->progress, "%s/progress", folder);
    CU_ASSERT_TRUE_FATAL(write_file(book->progress, progress, strlen(progress)));
}

/* "lab:LAB ..." with a lab's folder. */
static char *filled_in(const char *line, char *text, size_t size)
{
    return *line ? put(text, size, "lab:%s%s", all_labs[0].folder, line)
                 : put(text, size, "%s", "");
}

static void passed_is_passed_until_the_lab_changes(void)
{
    static const struct {
        const char *line;
        LabState state;
    } rows[] = {
        { "", LAB_OPEN },
        { " hints:1\n", LAB_OPEN },
        { " verdict:slow best:slow\n", LAB_OPEN },
        { " verdict:wrong best:pass\n", LAB_DONE }, /* of an earlier version of warpbook */
        { " verdict:close best:close\n", LAB_DONE },
        { " verdict:correct best:correct\n", LAB_DONE },
        { " verdict:pass best:pass format:2 best_lab:0000000000000001\n", LAB_CHANGED },
        { " verdict:slow best:slow format:2 best_lab:0000000000000001\n", LAB_OPEN },
    };
    Workbook book = { 0 };
    char text[200];

    for (size_t i = 0; i < COUNT(rows); i++) {
        begin_with(&book, filled_in(rows[i].line, text, sizeof text));
        if (lab_state(&book, &all_labs[0]) != rows[i].state)
            FAIL_SAYING("row %zu", i);
    }
    PUT(text, "lab:%s verdict:pass best:pass format:2 best_lab:%016llx\n", all_labs[0].folder,
        (unsigned long long) lab_hash(&book, &all_labs[0]));
    begin_with(&book, text);
    CU_ASSERT_EQUAL(lab_state(&book, &all_labs[0]), LAB_DONE);
}

static void a_verdict_for_another_lab_is_no_best(void)
{
    static const struct {
        Progress before;
        Verdict verdict;
        uint64_t lab;
        Verdict best;
    } rows[] = {
        { { .graded = false }, SLOW, 1, SLOW },
        { { .graded = true, .best = PASS, .best_lab = 1 }, SLOW, 1, PASS },
        { { .graded = true, .best = PASS, .best_lab = 0 }, SLOW, 1, PASS },
        { { .graded = true, .best = PASS, .best_lab = 2 }, SLOW, 1, SLOW },
        { { .graded = true, .best = SLOW, .best_lab = 2 }, PASS, 1, PASS },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        Progress progress = rows[i].before;
        progress_graded(&progress, rows[i].verdict, rows[i].lab);
        CU_ASSERT_EQUAL(progress.best, rows[i].best);
        CU_ASSERT_EQUAL(progress.latest, rows[i].verdict);
        CU_ASSERT_EQUAL(progress.best_lab, rows[i].lab);
    }
}

static void the_next_lab_is_the_next_open_one(void)
{
    Workbook book = { 0 };
    char text[4000] = "";

    begin_with(&book, "");
    CU_ASSERT_PTR_EQUAL(lab_after(&book, NULL), &all_labs[0]);
    CU_ASSERT_PTR_EQUAL(lab_after(&book, &all_labs[0]), &all_labs[1]);
    for (const LabEntry *entry = all_labs; entry->folder; entry++)
        if (entry != &all_labs[2])
            APPEND(text, "lab:%s verdict:pass best:pass\n", entry->folder);
    begin_with(&book, text);
    CU_ASSERT_PTR_EQUAL(lab_after(&book, NULL), &all_labs[2]);
    CU_ASSERT_PTR_EQUAL(lab_after(&book, &all_labs[5]), &all_labs[2]); /* from the first lab on */
    CU_ASSERT_PTR_NULL(lab_after(&book, &all_labs[2]));
}

/* Without LAB, commands take the first lab that is not done; quiz and compare the one that was
 * passed last. hint took an unread lab while another one was wrong. */
static void a_command_takes_the_current_lab(void)
{
    static const char row[] = "at:2026-11-25T0%d:12:07Z lab:%s verdict:%s\n";
    Workbook book = { 0 };
    char text[1000] = "", line[200], path[128];

    begin_with(&book, PUT(line, "lab:%s verdict:pass best:pass\n", all_labs[0].folder));
    PUT(path, "%s/history", folder);
    CU_ASSERT_TRUE_FATAL(write_file(path, "", 0));
    CU_ASSERT_PTR_EQUAL(current_lab(&book, WANTS_OPEN), &all_labs[1]);
    CU_ASSERT_PTR_EQUAL(current_lab(&book, WANTS_PASSED), &all_labs[1]); /* no pass is known */
    APPEND(text, "%s", PUT(line, row, 1, all_labs[1].folder, "pass"));
    APPEND(text, "%s", PUT(line, row, 4, all_labs[3].folder, "correct"));
    APPEND(text, "%s", PUT(line, row, 2, all_labs[0].folder, "pass"));
    APPEND(text, "%s", PUT(line, row, 5, all_labs[1].folder, "slow"));
    CU_ASSERT_TRUE_FATAL(write_file(path, text, strlen(text)));
    CU_ASSERT_PTR_EQUAL(current_lab(&book, WANTS_OPEN), &all_labs[1]);
    CU_ASSERT_PTR_EQUAL(current_lab(&book, WANTS_PASSED), &all_labs[3]);
    CU_ASSERT_EQUAL(unlink(path), 0);
}

/* The lab graded last, if its kernel failed; starters do not count. */
static void a_failed_lab_is_the_current_one(void)
{
    static const struct {
        const char *first, *last; /* verdicts of two labs, and the lab that is taken */
        int lab;
    } rows[] = {
        { "slow", "wrong", 5 },
        { "slow", "pass", 0 },
        { "wrong", "unchanged", 2 },
        { "pass", "slow", 5 },
    };
    static const char line[] =
        "lab:%s verdict:%s best:%s ratio:0 hints:0 date:2026-11-2%d format:3 "
        "time:10:00\n";
    Workbook book = { 0 };
    char text[1000], part[300];

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PUT(text, line, all_labs[2].folder, rows[i].first, rows[i].first, 4);
        APPEND(text, "%s", PUT(part, line, all_labs[5].folder, rows[i].last, rows[i].last, 5));
        begin_with(&book, text);
        CU_ASSERT_PTR_EQUAL(current_lab(&book, WANTS_OPEN), &all_labs[rows[i].lab]);
    }
    CU_ASSERT_FALSE(lab_is_begun(&book, &all_labs[0]));
    CU_ASSERT(lab_is_begun(&book, &all_labs[5]));
}

CU_SuiteInfo test_watch = {
    "watch",
    .pInitFunc = make_folder,
    .pCleanupFunc = remove_folder,
    .pTests =
        (CU_TestInfo[]){
            { "bytes become keys", bytes_become_keys },
            { "each key has one action", each_key_has_one_action },
            { "the line of keys fits", the_line_of_keys_fits },
            { "events become steps", events_become_steps },
            { "other lines are no events", other_lines_are_no_events },
            { "the screen is composed", the_screen_is_composed },
            { "the screen fits any size", the_screen_fits_any_size },
            { "colours can be removed", colours_can_be_removed },
            { "a caret gives the column", a_caret_gives_the_column },
            { "a page has two forms", a_page_has_two_forms },
            { "a save changes the state", a_save_changes_the_state },
            { "passed is passed until the lab changes", passed_is_passed_until_the_lab_changes },
            { "a verdict for another lab is no best", a_verdict_for_another_lab_is_no_best },
            { "the next lab is the next open one", the_next_lab_is_the_next_open_one },
            { "a command takes the current lab", a_command_takes_the_current_lab },
            { "a failed lab is the current one", a_failed_lab_is_the_current_one },
            CU_TEST_INFO_NULL,
        },
};
