/* test_learn.c - the progress file survives editors, other versions and concurrent writers; hints
 * are shown one per call. */
#include "learner/progress.h"
#include "base/util.h"
#include "capture.h"
#include "rows.h"

#include <CUnit/CUnit.h>
#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

static char folder[64], file[96];
static Capture capture;

static int make_folder(void)
{
    PUT(folder, "/tmp/warpbook-learn-XXXXXX");
    if (!mkdtemp(folder))
        return 1;
    PUT(file, "%s/.warpbook/progress", folder);
    return 0;
}

static int remove_folder(void)
{
    remove_tree(folder);
    return 0;
}

static const Lab some_lab = {
    .title = "some lab",
    .hints = { "Look at one warp.", "Tiles.", "Pad them." },
};
static const LabEntry first = { "01_first", &some_lab };

static void write_text(const char *path, const char *text)
{
    CU_ASSERT_TRUE_FATAL(write_file(path, text, strlen(text)));
}

/* The progress file begins as `text`; NULL: neither the file nor its folder exists. */
static void begin_with(const char *text)
{
    char inside[128];

    remove_tree(PUT(inside, "%s/.warpbook", folder));
    if (text) {
        CU_ASSERT_TRUE_FATAL(make_folders(inside));
        write_text(file, text);
    }
}

static void file_is(const char *want)
{
    char *text = read_file(file, 1 << 20, NULL);

    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    CU_ASSERT_STRING_EQUAL(text, want);
    free(text);
}

/* ---- Progress ---- */

static void lines_are_read(void)
{
    static const struct {
        const char *text;
        Progress want;
    } rows[] = {
        { NULL, { 0 } },
        { "", { 0 } },
        { "lab:01_first verdict:slow best:pass ratio:0.5500 hints:1 date:2026-11-21\n",
          { SLOW, PASS, 0.55, 1, true, "2026-11-21" } },
        { "lab:01_first verdict:slow best:pass ratio:0.55 hints:1 date:2026-11-21", /* cut */
          { SLOW, PASS, 0.55, 1, true, "2026-11-21" } },
        { "lab:01_first verdict:slow best:pass ratio:0.55 hints:1 date:2026-11-21\r\n",
          { SLOW, PASS, 0.55, 1, true, "2026-11-21" } },
        { "lab:01_first hints:2\n", { .hints = 2 } }, /* not graded yet */
        { "lab:01_first verdict:wrong best:wrong\n", { WRONG, WRONG, 0, 0, true, "" } },
        { "lab:02_second verdict:pass best:pass\nlab:01_first verdict:crash best:slow\n",
          { CRASH, SLOW, 0, 0, true, "" } },
        { "lab:01_first_b verdict:pass best:pass\n", { 0 } }, /* another lab's */
        { "lab:01_firs verdict:pass best:pass\n", { 0 } },
        { "# lab:01_first verdict:pass best:pass\n", { 0 } },
        { "lab:01_first verdict:glorious best:pass\n", { 0 } }, /* of a later version, perhaps */
        { "lab:01_first verdict:pass\n", { 0 } },
        { "lab:01_first verdict:slow best:slow ratio:nan hints:99 date:2026-11-21-and-a-half\n",
          { SLOW, SLOW, 0, LAB_HINTS, true, "" } },
        { "lab:01_first verdict:slow best:slow ratio:-1 hints:-5\n",
          { SLOW, SLOW, 0, 0, true, "" } },
        { "lab:01_first verdict:slow best:slow ratio:inf hints:x\n",
          { SLOW, SLOW, 0, 0, true, "" } },
        { "lab:01_first verdict:slow best:slow format:3 attempts:-1 first:nan reached:x key:?\n",
          { SLOW, SLOW, 0, 0, true, "" } },
        { "lab:01_first color:blue verdict:slow best:slow\n", { SLOW, SLOW, 0, 0, true, "" } },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        Progress p = { PASS, PASS, 3, 3, true, "x" };
        begin_with(rows[i].text);
        progress_load(file, &first, &p);
        CU_ASSERT_EQUAL(p.graded, rows[i].want.graded);
        CU_ASSERT_EQUAL(p.latest, rows[i].want.latest);
        CU_ASSERT_EQUAL(p.best, rows[i].want.best);
        CU_ASSERT_DOUBLE_EQUAL(p.ratio, rows[i].want.ratio, 1e-12);
        CU_ASSERT_EQUAL(p.hints, rows[i].want.hints);
        CU_ASSERT_STRING_EQUAL(p.date, rows[i].want.date);
    }
}

#define OURS "lab:01_first verdict:slow best:close ratio:0.7400 hints:2 date:2026-11-21\n"

static void one_line_is_replaced(void)
{
    static const Progress ours = { SLOW, CLOSE, 0.74, 2, true, "2026-11-21", .hints_used = 2 };
    static const struct {
        const char *before, *after;
    } rows[] = {
        { NULL, OURS },
        { "", OURS },
        { "lab:01_first verdict:wrong best:wrong\n", OURS },
        { "lab:01_first hints:1", OURS },
        { "lab:02_second hints:1", "lab:02_second hints:1\n" OURS },
        { "# mine\n\nlab:01_first hints:1\nlab:02_second hints:1\n",
          "# mine\n\n" OURS "lab:02_second hints:1\n" },
        { "lab:01_first hints:1\n?\nlab:01_first hints:2\n", OURS "?\n" }, /* twice: one remains */
        { "lab:01_first verdict:glorious best:pass\n",
          "lab:01_first verdict:glorious best:pass\n" OURS },
        { "\r\n\xff\xfe\x01\r\nlab:02_second hints:1\r\n",
          "\r\n\xff\xfe\x01\r\nlab:02_second hints:1\r\n" OURS },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        Progress back;
        begin_with(rows[i].before);
        CU_ASSERT_TRUE(progress_save(file, &first, &ours));
        file_is(rows[i].after);
        CU_ASSERT_TRUE(progress_save(file, &first, &ours)); /* saving again changes nothing */
        file_is(rows[i].after);
        progress_load(file, &first, &back);
        CU_ASSERT_EQUAL(back.best, CLOSE);
        CU_ASSERT_EQUAL(back.hints, 2);
    }
}

/* The fields of format 3 come back; without them, the line is of format 1 as before. */
static void the_way_is_kept(void)
{
    static const Progress ours = { SLOW, SLOW, 0.55,    0, true, "2026-11-21", { 0 }, 0,
                                   0,    0,    "22:51", 4, 0.06, 0.55,         0.75,  0xabc };
    Progress back;

    begin_with(NULL);
    CU_ASSERT_TRUE(progress_save(file, &first, &ours));
    file_is("lab:01_first verdict:slow best:slow ratio:0.5500 hints:0 date:2026-11-21 format:3 "
            "time:22:51 attempts:4 first:0.0600 reached:0.5500 bar:0.7500 key:0000000000000abc\n");
    progress_load(file, &first, &back);
    CU_ASSERT_STRING_EQUAL(back.time, "22:51");
    CU_ASSERT_EQUAL(back.attempts, 4);
    CU_ASSERT_DOUBLE_EQUAL(back.first_ratio, 0.06, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(back.reached, 0.55, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(back.bar, 0.75, 1e-9);
    CU_ASSERT_EQUAL(back.key, 0xabc);
}

/* Hints that were read after the first pass do not count as used. */
static void used_hints_are_kept(void)
{
    Progress back;

    begin_with("lab:01_first verdict:pass best:pass ratio:0.5500 hints:1\n");
    progress_load(file, &first, &back);
    CU_ASSERT_EQUAL(back.hints_used, 1);
    back.hints = 3;
    CU_ASSERT_TRUE(progress_save(file, &first, &back));
    file_is("lab:01_first verdict:pass best:pass ratio:0.5500 hints:3 format:4 hints_used:1\n");
    progress_load(file, &first, &back);
    CU_ASSERT_EQUAL(back.hints, 3);
    CU_ASSERT_EQUAL(back.hints_used, 1);
}

static void strange_lines_are_kept(void)
{
    static char text[3000];
    static const char with_zero[] = "lab:01_first hints:2\0 and more";
    static const Progress ours = { .hints = 1 };
    char *after;
    size_t size;

    memset(text, 'x', sizeof text);
    memcpy(text, "lab:01_first hints:2 ", 21); /* longer than any valid line */
    text[2000] = '\n';
    memcpy(text + 2001, with_zero, sizeof with_zero - 1);
    text[2001 + sizeof with_zero - 1] = '\n';
    begin_with("");
    CU_ASSERT_TRUE(write_file(file, text, sizeof text));
    CU_ASSERT_TRUE(progress_save(file, &first, &ours));
    after = read_file(file, 1 << 20, &size);
    CU_ASSERT_PTR_NOT_NULL_FATAL(after);
    CU_ASSERT(size > sizeof text && !memcmp(after, text, sizeof text));
    CU_ASSERT_STRING_EQUAL(after + sizeof text, "\nlab:01_first hints:1\n");
    free(after);
}

/* A file of 2 MiB is not a progress file. */
static void what_cannot_be_read_is_not_overwritten(void)
{
    static char text[2 << 20];
    static const Progress ours = { .hints = 1 };
    struct stat about;

    memset(text, '\n', sizeof text);
    begin_with("");
    CU_ASSERT_TRUE(write_file(file, text, sizeof text));
    CU_ASSERT_FALSE(progress_save(file, &first, &ours));
    CU_ASSERT_EQUAL(errno, EFBIG);
    CU_ASSERT_EQUAL(stat(file, &about), 0);
    CU_ASSERT_EQUAL(about.st_size, sizeof text);
}

static void a_failed_save_is_reported(void)
{
    static const Progress ours = { .hints = 1 };
    char path[160];

    begin_with("");
    CU_ASSERT_FALSE(progress_save(PUT(path, "%s/inside", file), &first, &ours)); /* inside a file */
    CU_ASSERT_NOT_EQUAL(errno, 0);
    unlink(file);
    CU_ASSERT_EQUAL_FATAL(mkdir(file, 0755), 0);
    CU_ASSERT_FALSE(progress_save(file, &first, &ours)); /* a folder in its place is left alone */
    CU_ASSERT_TRUE(file_exists(file));
}

/* Eight processes write lines of their own, fifty times each: none may be lost. */
static void writers_do_not_lose_lines(void)
{
    enum { WRITERS = 8, TIMES = 50 };
    pid_t writer[WRITERS];
    char name[32];

    begin_with("# kept\n");
    for (int w = 0; w < WRITERS; w++) {
        writer[w] = fork();
        if (writer[w])
            continue;
        LabEntry entry = { PUT(name, "%02d_lab", w), &some_lab };
        bool fine = true;
        for (int i = 1; i <= TIMES; i++) {
            Progress p = { SLOW, SLOW, i / 100.0, 0, true, "2026-11-21" };
            fine &= progress_save(file, &entry, &p);
        }
        _exit(!fine);
    }
    for (int w = 0; w < WRITERS; w++) {
        int status = -1;
        CU_ASSERT(writer[w] > 0 && waitpid(writer[w], &status, 0) == writer[w] && status == 0);
    }
    for (int w = 0; w < WRITERS; w++) {
        LabEntry entry = { PUT(name, "%02d_lab", w), &some_lab };
        Progress p;
        progress_load(file, &entry, &p);
        CU_ASSERT_DOUBLE_EQUAL(p.ratio, TIMES / 100.0, 1e-9);
    }
    char *text = read_file(file, 1 << 20, NULL);
    int lines = 0;
    for (const char *at = text; at && *at; at++)
        lines += *at == '\n';
    CU_ASSERT_EQUAL(lines, 1 + WRITERS);
    CU_ASSERT(text && !strncmp(text, "# kept\n", 7));
    free(text);
}

static void better_is_an_order(void)
{
    static const struct {
        Verdict a, b;
    } rows[] = {
        { PASS, CLOSE },
        { CLOSE, CORRECT_ONLY },
        { CORRECT_ONLY, SLOW },
        { SLOW, UNSAFE },
        { SLOW, WRONG },
        { WRONG, CRASH },
        { CRASH, BUILD },
        { BUILD, UNCHANGED },
        { PASS, SUSPECT },
        { SUSPECT, UNCHANGED },
        { UNSUPPORTED, UNCHANGED },
        { UNCHANGED, UNSOUND },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        CU_ASSERT_TRUE(better(rows[i].a, rows[i].b));
        CU_ASSERT_FALSE(better(rows[i].b, rows[i].a));
    }
    for (int a = 0; a < VERDICT_COUNT; a++)
        for (int b = 0; b < VERDICT_COUNT; b++)
            CU_ASSERT_EQUAL(better((Verdict) a, (Verdict) b) + better((Verdict) b, (Verdict) a),
                            a != b);
}

/* ---- make progress ---- */

static const char *progress_text(void)
{
    capture_begin(&capture, stdout);
    CU_ASSERT_EQUAL(print_progress(file), 0);
    return capture_end(&capture);
}

static void progress_of_a_beginner(void)
{
    const char *text;
    char want[128];

    begin_with(NULL);
    text = progress_text();
    CU_ASSERT(fits(80, text));
    for (const LabEntry *entry = all_labs; entry->folder; entry++)
        CU_ASSERT(has(text, PUT(want, "%02d %s ", lab_number(entry), lab_name(entry))));
    CU_ASSERT(has(text, PUT(want, "LAB=%s\n", lab_name(&all_labs[0]))));
    CU_ASSERT(has(text, "\n0 of "));
    CU_ASSERT(!has(text, "unchanged"));
    CU_ASSERT_FALSE(file_exists(file)); /* reading changes nothing */
}

static void progress_moves_on(void)
{
    const LabEntry *next = &all_labs[0];
    const char *text;
    char want[128];

    begin_with(NULL);
    for (; next->folder; next++) {
        Progress p = { WRONG, CLOSE, 0.76, 0, true, "2026-11-21" };
        CU_ASSERT(has(progress_text(), PUT(want, "LAB=%s\n", lab_name(next))));
        CU_ASSERT_TRUE(progress_save(file, next, &p));
    }
    text = progress_text();
    CU_ASSERT(fits(80, text));
    CU_ASSERT(!has(text, "Next:"));
    CU_ASSERT(has(text, "close        wrong            76 %  2026-11-21\n"));
}

/* The table of make grade shows the same: the deciding case, never rounded up to its bar. */
static void progress_shows_the_deciding_case(void)
{
    const Progress p = { SLOW, SLOW, 0.52, 0, true, "2026-11-21", .reached = 0.748, .bar = 0.75 };

    begin_with(NULL);
    CU_ASSERT_TRUE(progress_save(file, &all_labs[0], &p));
    CU_ASSERT(has(progress_text(), "slow         slow             74 %  2026-11-21\n"));
}

/* Without a GPU, `correct` is the best verdict; students used to be sent back to the first lab
 * forever. */
static void progress_without_a_gpu(void)
{
    const LabEntry *next = &all_labs[0];
    const char *text;
    char want[128];

    begin_with(NULL);
    for (; next->folder; next++) {
        Progress p = { SLOW, CORRECT_ONLY, 0, 0, true, "2026-11-21" };
        CU_ASSERT(has(progress_text(), PUT(want, "LAB=%s\n", lab_name(next))));
        CU_ASSERT_TRUE(progress_save(file, next, &p));
    }
    text = progress_text();
    CU_ASSERT(has(text, " correct but not judged for speed.\nNext: make grade"));
    CU_ASSERT(has(text, PUT(want, "LAB=%s, on a GPU\n", lab_name(&all_labs[0]))));
    CU_ASSERT(fits(80, text));
}

/* ---- make hint ---- */

static const char *hint_text(const LabEntry *entry, int level)
{
    capture_begin(&capture, stdout);
    CU_ASSERT_EQUAL(print_hint(file, entry, level), 0);
    return capture_end(&capture);
}

static int hints_seen(void)
{
    Progress p;

    progress_load(file, &first, &p);
    return p.hints;
}

static void hints_come_one_by_one(void)
{
    static const struct {
        int level; /* as requested */
        int shown, remembered;
        bool more, exhausted;
    } rows[] = {
        { 0, 1, 1, true, false },  { 0, 2, 2, true, false }, { 1, 1, 2, true, false },
        { 0, 3, 3, false, false }, { 0, 3, 3, false, true }, { 2, 2, 3, true, false },
        { 3, 3, 3, false, false }, { 9, 3, 3, false, true },
    };

    begin_with(NULL);
    for (size_t i = 0; i < COUNT(rows); i++) {
        const char *text = hint_text(&first, rows[i].level);
        for (int h = 0; h < LAB_HINTS; h++)
            CU_ASSERT_EQUAL(has(text, some_lab.hints[h]), h < rows[i].shown);
        CU_ASSERT_EQUAL(has(text, "make hint LAB=first shows the next one."), rows[i].more);
        CU_ASSERT_EQUAL(has(text, "There are no more hints."), rows[i].exhausted);
        CU_ASSERT_EQUAL(hints_seen(), rows[i].remembered);
    }
}

static void hints_leave_the_verdict_alone(void)
{
    begin_with("lab:01_first verdict:slow best:pass ratio:0.5500 hints:0 date:2026-11-21\n");
    hint_text(&first, 0);
    file_is("lab:01_first verdict:slow best:pass ratio:0.5500 hints:1 date:2026-11-21 format:4 "
            "hints_used:0\n");
}

static void fewer_hints_than_there_may_be(void)
{
    static const Lab one = { .hints = { "Only this." } }, none = { 0 };
    static const LabEntry one_entry = { "01_first", &one }, none_entry = { "01_first", &none };

    begin_with(NULL);
    CU_ASSERT(has(hint_text(&one_entry, 0), "That was the last hint."));
    CU_ASSERT(has(hint_text(&one_entry, 0), "There are no more hints."));
    CU_ASSERT(has(hint_text(&none_entry, 0), "has no hints"));
}

static void a_hint_that_cannot_be_noted_is_shown(void)
{
    Capture errors;
    char kept[96];
    const char *text;

    begin_with("");
    PUT(kept, "%s", file);
    APPEND(file, "/inside");
    capture_begin(&errors, stderr);
    text = hint_text(&first, 0);
    CU_ASSERT(has(capture_end(&errors), "cannot record in"));
    CU_ASSERT(has(text, "Look at one warp."));
    PUT(file, "%s", kept);
}

CU_SuiteInfo test_learn = {
    "learn",
    .pInitFunc = make_folder,
    .pCleanupFunc = remove_folder,
    .pTests =
        (CU_TestInfo[]){
            { "lines are read", lines_are_read },
            { "one line is replaced", one_line_is_replaced },
            { "the way is kept", the_way_is_kept },
            { "used hints are kept", used_hints_are_kept },
            { "strange lines are kept", strange_lines_are_kept },
            { "what cannot be read is not overwritten", what_cannot_be_read_is_not_overwritten },
            { "a failed save is reported", a_failed_save_is_reported },
            { "writers do not lose lines", writers_do_not_lose_lines },
            { "better is an order", better_is_an_order },
            { "progress of a beginner", progress_of_a_beginner },
            { "progress moves on", progress_moves_on },
            { "progress shows the deciding case", progress_shows_the_deciding_case },
            { "progress without a GPU", progress_without_a_gpu },
            { "hints come one by one", hints_come_one_by_one },
            { "hints leave the verdict alone", hints_leave_the_verdict_alone },
            { "fewer hints than there may be", fewer_hints_than_there_may_be },
            { "a hint that cannot be noted is shown", a_hint_that_cannot_be_noted_is_shown },
            CU_TEST_INFO_NULL,
        },
};
