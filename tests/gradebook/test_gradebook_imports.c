/* test_gradebook_imports.c - several imports: what counts, who is one person, what would be lost.
 */
#include "gradebook/store/import_roster.h"
#include "gradebook/store/import_submissions.h"
#include "gradebook/store/import_undo.h"
#include "gradebook/store/people.h"
#include "rows.h"
#include "base/util.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[64];
static Store store;

static void open_store(void)
{
    PUT(folder, "/tmp/warpbook-imports-XXXXXX");
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
    CU_ASSERT_TRUE_FATAL(store_open(&store, folder, true));
}

static void close_store(void)
{
    store_close(&store);
    remove_tree(folder);
}

/* ---- A small language for imports ---- */

static const char *layout_of(char letter)
{
    return letter == 'm'   ? "moodle"
           : letter == 'c' ? "canvas"
           : letter == 'g' ? "gradescope"
                           : "plain";
}

/* Adds the submission "EXPORT|NAME|NUMBER|EMAIL|LAYOUT|FILE|TIME|TEXT"; FILE "rar" is a refused
 * archive. */
static void add(Class *class, const char *text)
{
    char part[8][80] = { "" }, source[40];
    Submission *submission;

    for (int i = 0; i < 8; i++) {
        size_t length = strcspn(text, "|");
        PUT(part[i], "%.*s", (int) length, text);
        text += length + (text[length] != 0);
    }
    submission = class_submission(class, PUT(source, "%d", class->count));
    PUT(submission->export, "%s", part[0]);
    PUT(submission->student, "%s", part[1]);
    PUT(submission->number, "%s", part[2]);
    PUT(submission->email, "%s", part[3]);
    submission->layout = layout_of(part[4][0]);
    submission->sent = atoi(part[6]);
    if (!strcmp(part[5], "rar"))
        submission_refuse(submission, "", "RAR archives cannot be read");
    else
        submission_file(submission, part[5], part[7], strlen(part[7]),
                        hash_bytes(HASH_START, part[7], strlen(part[7])), atoi(part[6]));
}

/* Imports submissions, separated by ';'. `labs`: "1 6", or "" for all. */
static bool import_text(const char *assignment, const char *labs, const char *text, bool replace,
                        char **losses)
{
    bool requested[LABS];
    Class class = { 0 };
    ImportRequest request = { "class", assignment, requested, *labs != 0, replace, NULL };
    ImportCounts counts;
    char one[300];
    bool imported;

    for (int lab = 0; lab < LABS; lab++)
        requested[lab] = !*labs;
    for (const char *at = labs; *at; at++)
        if (*at != ' ')
            requested[lab_find((char[]){ *at, 0 }) - all_labs] = true;
    while (*text) {
        size_t length = strcspn(text, ";");
        add(&class, PUT(one, "%.*s", (int) length, text));
        text += length + (text[length] != 0);
    }
    imported = import_submissions(&store, &class, &request, &counts);
    class_free(&class);
    free(counts.notes);
    *losses = counts.losses;
    return imported;
}

/* What counts: "NAME LAB TEXT;" by name and lab, and "NAME LAB ?;" for what could not be read. */
static char *what_counts(char text[600])
{
    sqlite3_stmt *rows;

    people_match(&store);
    rows = store_ask(&store,
                     "SELECT p.name, substr(h.lab, 1, 2), k.source FROM temp.handed_in h"
                     " JOIN temp.people p ON p.id = h.person JOIN kernels k ON k.id = h.kernel"
                     " UNION ALL SELECT p.name, substr(u.lab, 1, 2), '?' FROM temp.unreadable u"
                     " JOIN temp.people p ON p.id = u.person ORDER BY 1, 2",
                     "");
    put(text, 600, "%s", "");
    while (store_row(&store, rows))
        append(text, 600, "%s %s %s;", store_text(rows, 0), store_text(rows, 1),
               store_text(rows, 2));
    return text;
}

typedef struct Step {
    const char *assignment, *labs, *submissions;
    int lost; /* lines of losses; the import is then refused */
    bool replace;
} Step;

static int lines_of(const char *text)
{
    int count = 0;

    for (; text && *text; text++)
        count += *text == '\n';
    return count;
}

/* Imports one after the other, and what counts in the end. */
static void imports_add_up(void)
{
    static const struct {
        const char *about;
        Step steps[3];
        const char *counts;
    } rows[] = {
        { "two assignments of Moodle",
          { { "", "1", "|Jo|51||m|kernel.cu|5|a" }, { "", "6", "|Jo|61||m|kernel.cu|5|b" } },
          "Jo 01 a;Jo 06 b;" },
        { "the same lab again: the latest import counts",
          { { "", "6", "|Jo|||p|transpose.cu|5|a" }, { "", "6", "|Jo|||p|transpose.cu|4|b" } },
          "Jo 06 b;" },
        { "more students are no loss",
          { { "", "6", "|Jo|||p|transpose.cu|5|a" },
            { "", "6", "|Al|||p|transpose.cu|5|b;|Jo|||p|transpose.cu|5|a" } },
          "Al 06 b;Jo 06 a;" },
        { "a student less is refused",
          { { "", "6", "|Al|||p|transpose.cu|5|b;|Jo|||p|transpose.cu|5|a" },
            { "", "6", "|Jo|||p|transpose.cu|5|c", .lost = 1 } },
          "Al 06 b;Jo 06 a;" },
        { "unless it is meant",
          { { "", "6", "|Al|||p|transpose.cu|5|b;|Jo|||p|transpose.cu|5|a" },
            { "", "6", "|Jo|||p|transpose.cu|5|c", .lost = 1, .replace = true } },
          "Jo 06 c;" },
        { "latecomers in an assignment of their own",
          { { "", "6", "|Jo|||p|transpose.cu|5|a" }, { "late", "6", "|Al|||p|transpose.cu|5|b" } },
          "Al 06 b;Jo 06 a;" },
        { "an assignment of the same lab: the later import counts",
          { { "one", "6", "|Jo|||p|transpose.cu|5|a;|Al|||p|transpose.cu|5|b" },
            { "two", "6", "|Jo|||p|transpose.cu|5|c" } },
          "Al 06 b;Jo 06 c;" },
        { "another lab that was not requested does not count",
          { { "", "1", "|Jo|||p|coalescing.cu|5|a;|Al|||p|coalescing.cu|5|b" },
            { "", "6", "|Jo|||p|coalescing.cu|5|x;|Jo|||p|transpose.cu|5|c" } },
          "Al 01 b;Jo 01 a;Jo 06 c;" },
        { "an assignment that its name gives to a lab",
          { { "", "1", "|Jo|||p|coalescing.cu|5|a" },
            { "Lab 6", "", "|Jo|||p|coalescing.cu|5|x;|Jo|||p|kernel.cu|5|c" } },
          "Jo 01 a;Jo 06 c;" },
        { "an archive named after a lab, which holds two, of which one would be lost",
          { { "", "", "|Jo|||p|coalescing.cu|5|a;|Al|||p|coalescing.cu|5|b" },
            { "", "", "|Jo|||p|coalescing.cu|5|x;|Jo|||p|transpose.cu|5|c", .lost = 1 } },
          "Al 01 b;Jo 01 a;" },
        { "several exports",
          { { "", "", "Lab 1|Jo|51||m|kernel.cu|5|a;Lab 6|Jo|61||m|kernel.cu|5|b" } },
          "Jo 01 a;Jo 06 b;" },
        { "several exports, again",
          { { "", "", "Lab 1|Jo|51||m|kernel.cu|5|a;Lab 6|Jo|61||m|kernel.cu|5|b" },
            { "", "", "Lab 6|Jo|61||m|kernel.cu|5|c;Lab 6|Al|62||m|kernel.cu|5|d" } },
          "Al 06 d;Jo 01 a;Jo 06 c;" },
        { "the time of the file that counts",
          { { "", "6", "|Jo|||p|transpose.cu|9|a;|Jo|||p|transpose.cu|7|b" } },
          "Jo 06 a;" },
        { "one person with two rows in one import",
          { { "", "6", "|Jo|1||g|transpose.cu|9|a;|JO|1||g|transpose.cu|7|b" } },
          "JO 06 a;" },
        { "twins by e-mail address",
          { { "", "1", "|Jo||a@x|g|coalescing.cu|9|a" },
            { "", "6", "|Jo||b@x|g|transpose.cu|7|b" } },
          "Jo 01 a;Jo 06 b;" },
        { "nothing readable",
          { { "", "1 6", "|Jo|||p|rar;|Al|||p|transpose.cu|5|b" } },
          "Al 06 b;Jo 06 ?;" },
        { "a file that is no kernel",
          { { "", "6", "|Jo|||p|notes.pdf|5|x;|Al|||p|transpose.cu|5|b" } },
          "Al 06 b;Jo 06 ?;" },
        { "one archive of two is unreadable",
          { { "", "6", "|Jo|||p|rar;|Jo|||p|transpose.cu|5|b" } },
          "Jo 06 b;" },
        { "text typed into Moodle next to a file",
          { { "", "1 6",
              "|Jo|5||m|a.html|5|x;|Jo|5||m|transpose.cu|5|b;|Al|6||m|coalescing.cu|5|c" } },
          "Al 01 c;Jo 06 b;" },
        { "readable before, unreadable now",
          { { "", "6", "|Jo|||p|transpose.cu|5|b;|Al|||p|transpose.cu|5|c" },
            { "", "6", "|Jo|||p|rar;|Al|||p|transpose.cu|5|c", .lost = 1 } },
          "Al 06 c;Jo 06 b;" },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[600], *losses;
        open_store();
        for (int k = 0; k < 3 && rows[i].steps[k].submissions; k++) {
            const Step *step = &rows[i].steps[k];
            bool imported = import_text(step->assignment, step->labs, step->submissions,
                                        step->replace, &losses);
            CU_ASSERT_EQUAL(imported, !step->lost || step->replace);
            if (lines_of(losses) != step->lost)
                FAIL_SAYING("%s: step %d, losses: %s", rows[i].about, k, losses ? losses : "none");
            free(losses);
        }
        if (strcmp(what_counts(text), rows[i].counts))
            FAIL_SAYING("%s: %s", rows[i].about, text);
        close_store();
    }
}

/* ---- People in the database ---- */

static void import_members(const char *csv)
{
    char path[100], *errors;
    int count;

    CU_ASSERT_TRUE_FATAL(write_file(PUT(path, "%s/roster.csv", folder), csv, strlen(csv)));
    CU_ASSERT_TRUE_FATAL(import_roster(&store, path, &count, &errors));
}

static int64_t student_id(const char *name, const char *number)
{
    return store_number(&store, 0, "SELECT id FROM students WHERE name = ? AND number = ?", "tt",
                        name, number);
}

/* "NAME NUMBER STATE STATUS;" of everybody. */
static char *everybody(char text[600])
{
    sqlite3_stmt *rows;

    people_match(&store);
    rows = store_ask(
        &store, "SELECT name, number, state, status FROM temp.people ORDER BY name, number", "");
    put(text, 600, "%s", "");
    while (store_row(&store, rows))
        append(text, 600, "%s %s%s%s%s%s;", store_text(rows, 0), store_text(rows, 1),
               *store_text(rows, 2) ? " " : "", store_text(rows, 2),
               strcmp(store_text(rows, 3), "active") ? " " : "",
               strcmp(store_text(rows, 3), "active") ? store_text(rows, 3) : "");
    return text;
}

#define CLASS                                                                                      \
    "|Ann Lee|51||m|kernel.cu|5|a;|Ann Lee|52||m|kernel.cu|5|b;|J\xc3\xb6rg M\xc3\xbcller|53||m|"  \
    "kernel.cu|5|c;|Doe Jane|54||m|kernel.cu|5|d"

static void answers_are_kept(void)
{
    char text[600], *losses;
    int64_t twin, person;

    open_store();
    CU_ASSERT_TRUE(import_text("", "6", CLASS, false, &losses));
    CU_ASSERT_STRING_EQUAL(everybody(text),
                           "Ann Lee 51;Ann Lee 52;Doe Jane 54;J\xc3\xb6rg M\xc3\xbcller 53;");
    import_members("id,name,status,alias\n1,Ann Lee,,\n2,Ann Lee,,\n3,J\xc3\xb6rg M\xc3\xbcller,,\n"
                   "4,Jane Roe,,\n5,Gone One,withdrawn,\n");
    CU_ASSERT_STRING_EQUAL(
        everybody(text),
        "Ann Lee 1 unclear;Ann Lee 2 unclear;Ann Lee 51 unclear;Ann Lee 52 unclear;"
        "Doe Jane 54 unknown;Gone One 5 absent withdrawn;Jane Roe 4 absent;"
        "J\xc3\xb6rg M\xc3\xbcller 3;");
    twin = student_id("Ann Lee", "52");
    people_answer(&store, twin, "id:2", "ta");
    people_answer(&store, student_id("Doe Jane", "54"), "id:4", "ta");
    CU_ASSERT_STRING_EQUAL(everybody(text), "Ann Lee 1;Ann Lee 2;Gone One 5 absent withdrawn;"
                                            "Jane Roe 4;J\xc3\xb6rg M\xc3\xbcller 3;");
    /* A new roster and another import keep the answers. */
    import_members("id,name\n2,Ann Lee\n4,Jane Roe\n1,Ann Lee\n3,J\xc3\xb6rg M\xc3\xbcller\n");
    CU_ASSERT_TRUE(import_text("", "6", CLASS, false, &losses));
    CU_ASSERT_STRING_EQUAL(everybody(text),
                           "Ann Lee 1;Ann Lee 2;Jane Roe 4;J\xc3\xb6rg M\xc3\xbcller 3;");
    CU_ASSERT_EQUAL(
        store_number(&store, 0, "SELECT person FROM temp.person_keys WHERE key = 'id:2'", ""),
        twin);
    people_answer(&store, twin, "", "ta");
    people_match(&store);
    CU_ASSERT_EQUAL(store_number(&store, 0, "SELECT count(*) FROM answers", ""), 3);
    CU_ASSERT_EQUAL(
        store_number(&store, 0, "SELECT count(*) FROM temp.people WHERE state = 'unclear'", ""), 4);
    CU_ASSERT_TRUE(people_find(&store, "4", &person, text, sizeof text));
    CU_ASSERT_EQUAL(person, student_id("Doe Jane", "54"));
    close_store();
}

static void finding(void)
{
    static const struct {
        const char *text, *found; /* the roster's id; "": none, "?": several */
    } rows[] = {
        { "3", "3" },         { "53", "3" },
        { "j@x.org", "3" },   { "J@X.ORG", "3" },
        { "jo_m", "3" },      { "Doe Jane_54", "4" },
        { "Doe Jane", "4" },  { "jane roe", "4" },
        { "Roe, Jane", "4" }, { "M\xc3\xbcller, J\xc3\xb6rg", "3" },
        { "Ann Lee", "?" },   { "no such person", "" },
        { "", "" },           { "5", "5" },
        { "' OR 1 = 1", "" },
    };
    char text[600], *losses;

    open_store();
    CU_ASSERT_TRUE(import_text("", "6", CLASS, false, &losses));
    import_members("id,name,email,alias\n1,Ann Lee,,\n2,Ann Lee,,\n3,J\xc3\xb6rg M\xc3\xbcller,"
                   "j@x.org,x|jo_m\n4,Jane Roe,,Doe Jane_54\n5,Gone One,,\n");
    for (size_t i = 0; i < COUNT(rows); i++) {
        int64_t person = 0;
        bool found = people_find(&store, rows[i].text, &person, text, sizeof text);
        sqlite3_stmt *number =
            store_ask(&store, "SELECT number FROM temp.people WHERE id = ?", "i", person);
        char id[20] = "";
        while (store_row(&store, number))
            PUT(id, "%s", store_text(number, 0));
        if (found ? strcmp(id, rows[i].found) != 0
                  : strcmp(rows[i].found, strstr(text, "several") ? "?" : "") != 0)
            FAIL_SAYING("%s: %s, %s", rows[i].text, id, text);
    }
    close_store();
}

/* One latecomer's folder, imported without --labs, once put all ten labs into a course of three:
 * the others' total fell from 100 to 10. */
static void a_latecomer_adds_no_labs(void)
{
    char *losses;

    open_store();
    CU_ASSERT_TRUE(import_text("", "1", "|Jo|||p|coalescing.cu|5|a", false, &losses));
    CU_ASSERT_TRUE(import_text("late", "", "|Al|||p|coalescing.cu|5|b", false, &losses));
    free(losses);
    CU_ASSERT_EQUAL(store_number(&store, -1, "SELECT count(DISTINCT lab) FROM asked", ""), 1);
    CU_ASSERT_TRUE(import_text("empty", "", "|Bo|||p|rar", false, &losses));
    CU_ASSERT_TRUE(store_number(&store, -1, "SELECT count(DISTINCT lab) FROM asked", "") > 5);
    free(losses);
    close_store();
}

/* --labs 1 with the export of lab 6: each kernel would be graded in the wrong lab. */
static void the_wrong_export_is_refused(void)
{
    static const char export[] = "Lab 6|Jo|61||m|kernel.cu|5|b";
    char *losses;

    open_store();
    CU_ASSERT_FALSE(import_text("", "1", export, false, &losses));
    CU_ASSERT_EQUAL(store_number(&store, -1, "SELECT count(*) FROM imports", ""), 0);
    free(losses);
    CU_ASSERT_TRUE(import_text("", "6", export, false, &losses));
    CU_ASSERT_TRUE(import_text("", "1", export, true, &losses));
    free(losses);
    close_store();
}

static bool take_back(int64_t import, bool undone, bool replace, int lost, int changed)
{
    const ImportUndo request = { import, undone, "the wrong file", "kim", replace };
    char *losses;
    int others;
    bool done = import_undo(&store, &request, &losses, &others);

    CU_ASSERT_EQUAL(lines_of(losses), lost);
    CU_ASSERT_EQUAL(others, changed);
    free(losses);
    return done;
}

#define COUNTS(text) CU_ASSERT_STRING_EQUAL(what_counts(counts), text)

/* An import is taken back: those before it count again, and no row is removed. */
static void an_import_is_taken_back(void)
{
    char counts[600], *losses;

    open_store();
    CU_ASSERT_TRUE(
        import_text("", "6", "|Jo|||p|transpose.cu|5|a;|Al|||p|transpose.cu|5|b", false, &losses));
    CU_ASSERT_TRUE(import_text("", "6", "|Jo|||p|transpose.cu|5|c", true, &losses));
    free(losses);
    CU_ASSERT_TRUE(import_text("", "1", "|Jo|||p|coalescing.cu|5|d", false, &losses));
    COUNTS("Jo 01 d;Jo 06 c;");
    CU_ASSERT_TRUE(take_back(2, true, false, 0, 1));
    COUNTS("Al 06 b;Jo 01 d;Jo 06 a;");
    CU_ASSERT_EQUAL(import_state(&store, 2), IMPORT_UNDONE);
    CU_ASSERT_EQUAL(import_state(&store, 3), IMPORT_THERE);
    CU_ASSERT_EQUAL(import_state(&store, 4), IMPORT_UNKNOWN);
    CU_ASSERT_FALSE(take_back(2, false, false, 1, 1)); /* Al would become missing */
    COUNTS("Al 06 b;Jo 01 d;Jo 06 a;");
    CU_ASSERT_FALSE(take_back(3, true, false, 1, 0));
    CU_ASSERT_TRUE(take_back(3, true, true, 1, 0));
    COUNTS("Al 06 b;Jo 06 a;");
    CU_ASSERT_EQUAL(store_number(&store, 0, "SELECT count(*) FROM course_labs", ""), 1);
    CU_ASSERT_TRUE(take_back(3, false, false, 0, 0));
    CU_ASSERT_TRUE(take_back(2, false, true, 1, 1));
    COUNTS("Jo 01 d;Jo 06 c;");
    /* The same submissions again, after their import was taken back. */
    CU_ASSERT_TRUE(take_back(2, true, false, 0, 1));
    CU_ASSERT_TRUE(import_text("", "6", "|Jo|||p|transpose.cu|5|c", true, &losses));
    free(losses);
    COUNTS("Jo 01 d;Jo 06 c;");
    CU_ASSERT_EQUAL(store_number(&store, 0, "SELECT count(*) FROM imports", ""), 4);
    CU_ASSERT_EQUAL(store_number(&store, 0, "SELECT count(*) FROM import_undos", ""), 5);
    close_store();
}

CU_SuiteInfo test_gradebook_imports = {
    "gradebook imports",
    .pTests =
        (CU_TestInfo[]){
            { "imports add up", imports_add_up },
            { "answers are kept", answers_are_kept },
            { "finding a person", finding },
            { "an import is taken back", an_import_is_taken_back },
            { "a latecomer adds no labs", a_latecomer_adds_no_labs },
            { "the wrong export is refused", the_wrong_export_is_refused },
            CU_TEST_INFO_NULL,
        },
};
