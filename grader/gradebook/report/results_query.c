/* results_query.c - the results: one row per student and lab. */
#include "gradebook/report/results_query.h"
#include "base/number.h"
#include "base/quiz_sheet.h"
#include "base/util.h"
#include "base/verdict.h"
#include "gradebook/store/import_roster.h"
#include "gradebook/store/queue.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SQL_STATE                                                                                  \
    "CASE WHEN c.kernel IS NULL THEN 'missing' WHEN v.verdict IS NOT NULL THEN v.verdict"          \
    "  WHEN " SQL_GIVEN_UP " THEN 'not graded' ELSE 'queued' END"
#define SQL_WHY                                                                                    \
    "coalesce(v.why, (SELECT f.why FROM attempts f WHERE f.kernel = c.kernel"                      \
    "  ORDER BY f.id DESC LIMIT 1), '')"
#define SQL_FIRST_SENT                                                                             \
    "(SELECT CASE WHEN min(op.at > 0 AND (o.timed OR ?1)) THEN min(op.at) ELSE 0 END"              \
    "  FROM handed op JOIN submissions o ON o.id = op.submission"                                  \
    "  JOIN seen os ON os.submission = o.id AND os.import IN (SELECT import FROM counting)"        \
    "  WHERE op.kernel = c.kernel AND o.student = st.id)"
#define ROW_SQL(field, sql) sql ", "

sqlite3_stmt *rows_ask(Store *store)
{
    import_roster_match(store);
    return store_ask(
        store,
        "WITH present AS (SELECT DISTINCT s.student AS student FROM seen"
        "   JOIN submissions s ON s.id = seen.submission"
        "   WHERE seen.import IN (SELECT import FROM counting)),"
        " people AS (SELECT st.id AS id, st.name AS name, st.number AS number, e.member AS member,"
        "   CASE WHEN e.member IS NOT NULL OR e.student IS NULL THEN '' WHEN e.unclear"
        "    THEN 'unclear' ELSE 'unknown' END AS roster"
        "   FROM present JOIN students st ON st.id = present.student"
        "   LEFT JOIN temp.enlisted e ON e.student = st.id"
        "  UNION ALL SELECT -m.id, CASE m.name WHEN '' THEN m.number ELSE m.name END, m.number, "
        "m.id,"
        "   CASE WHEN e.unclear THEN 'unclear' ELSE 'absent' END FROM temp.enlisted e JOIN members "
        "m ON m.id = e.member"
        "   WHERE e.student IS NULL),"
        " labs AS (SELECT DISTINCT lab FROM asked),"
        /* When a lab was submitted: the learning system's time of the whole submission, else the
           time of the lab's own file. So a folder's other labs and notes do not make it late. */
        " handed AS (SELECT p.submission AS submission, p.lab AS lab, p.kernel AS kernel,"
        "   CASE WHEN s.timed OR NOT p.changed THEN s.sent ELSE p.changed END AS at"
        "   FROM parts p JOIN submissions s ON s.id = p.submission),"
        " twins AS (SELECT kernel, count(*) AS n FROM counted GROUP BY kernel)"
        " SELECT " ROW_COLUMNS(
            ROW_SQL, ROW_SQL, ROW_SQL,
            ROW_SQL) "NULL"
                     " FROM people st CROSS JOIN labs"
                     "  LEFT JOIN counted c ON c.student = st.id AND c.lab = labs.lab"
                     "  LEFT JOIN submissions s ON s.id = c.submission"
                     "  LEFT JOIN handed h ON h.submission = c.submission AND h.lab = c.lab"
                     "  LEFT JOIN parts qp ON qp.submission = c.submission AND qp.lab = c.lab"
                     "  LEFT JOIN twins t ON t.kernel = c.kernel"
                     "  LEFT JOIN progress p ON p.kernel = c.kernel"
                     "  LEFT JOIN attempts a ON a.id = p.latest"
                     "  LEFT JOIN verdicts v ON v.attempt = a.id"
                     "  LEFT JOIN members m ON m.id = st.member"
                     " ORDER BY st.name, st.number, st.id, labs.lab",
        "i", (int64_t) store->course.times);
}

/* ---- Marks ---- */

/* Takes a figure such as "case.2.floor". */
static void take_figure(MarkedCase *cases, bool *timed, const LabEntry *entry, const char *name,
                        const char *value)
{
    char what[20];
    int number;
    const Case *own = case_labelled(entry->lab, value);
    MarkedCase *c;

    if (sscanf(name, "case.%4d.%19[a-z_]", &number, what) != 2 || number < 1 ||
        number > MARKED_CASES)
        return;
    c = &cases[number - 1];
    if (!strcmp(what, "kind"))
        timed[number - 1] = !strcmp(value, "timed");
    else if (!strcmp(what, "bar"))
        c->bar = number_or_zero(value);
    else if (!strcmp(what, "ratio"))
        c->ratio = number_or_zero(value);
    else if (!strcmp(what, "floor"))
        c->rung1 = number_or_zero(value);
    else if (!strcmp(what, "label"))
        c->spares_rung1 = own && own->spares_rung1;
}

/* Reads the measured timed cases of an attempt. */
static void read_cases(Store *store, int64_t attempt, const LabEntry *entry, Graded *graded)
{
    sqlite3_stmt *rows = store_ask(store,
                                   "SELECT name, value FROM figures WHERE attempt = ?"
                                   " AND name >= 'case.' AND name < 'case/'",
                                   "i", attempt);
    MarkedCase cases[MARKED_CASES] = { 0 };
    bool timed[MARKED_CASES] = { 0 };

    while (store_row(store, rows))
        take_figure(cases, timed, entry, store_text(rows, 0), store_text(rows, 1));
    for (int i = 0; i < MARKED_CASES; i++)
        if (timed[i] && cases[i].ratio > 0)
            graded->cases[graded->count++] = cases[i];
}

/* ---- The quiz ---- */

typedef struct RightAnswer {
    char key[QUIZ_SHEET_KEY];
    double answer, tolerance;
    bool is_known;
} RightAnswer;

enum { QUIZ_QUESTIONS = 3 };

/* Takes a figure such as "quiz.2.answer". */
static void take_answer(RightAnswer *right, const char *name, const char *value)
{
    char what[20];
    int number;

    if (sscanf(name, "quiz.%4d.%19[a-z_]", &number, what) != 2 || number < 1 ||
        number > QUIZ_QUESTIONS)
        return;
    if (!strcmp(what, "key"))
        PUT(right[number - 1].key, "%s", value);
    else if (!strcmp(what, "tolerance"))
        right[number - 1].tolerance = number_or_zero(value);
    else if (!strcmp(what, "answer"))
        right[number - 1].is_known = parse_number(value, -1e18, 1e18, &right[number - 1].answer);
}

/* Answers about another kernel, or about another simulated GPU, do not count. */
static bool is_about(const QuizSheet *sheet, const Row *row, const char *device)
{
    uint64_t kernel;

    return parse_whole(row->source_hash, 16, UINT64_MAX, &kernel) && kernel == sheet->kernel &&
           !strcmp(sheet->device, device);
}

/* Compares the student's answers with those of the grading's own simulated run. */
static void check_quiz(Store *store, Row *row)
{
    sqlite3_stmt *rows = store_ask(store,
                                   "SELECT name, value FROM figures WHERE attempt = ?"
                                   " AND name >= 'quiz.' AND name < 'quiz/'",
                                   "i", row->attempt);
    RightAnswer right[QUIZ_QUESTIONS] = { 0 };
    char device[64] = "";
    QuizSheet sheet;
    double given;

    while (store_row(store, rows)) {
        if (!strcmp(store_text(rows, 0), "quiz.device"))
            PUT(device, "%s", store_text(rows, 1));
        else
            take_answer(right, store_text(rows, 0), store_text(rows, 1));
    }
    quiz_sheet_read(row->quiz, strlen(row->quiz), &sheet);
    for (int i = 0; i < QUIZ_QUESTIONS; i++) {
        row->quiz_asked += right[i].is_known;
        row->quiz_right += right[i].is_known && is_about(&sheet, row, device) &&
                           quiz_sheet_answer(&sheet, right[i].key, &given) &&
                           fabs(given - right[i].answer) <= right[i].tolerance + 1e-9;
    }
}

static void mark_row(Store *store, Row *row)
{
    const LabEntry *entry = lab_find(row->lab);
    const Policy *policy = entry && entry - all_labs < COURSE_LABS
                               ? &store->course.lab[entry - all_labs].policy
                               : &policy_default;
    Graded graded = { .state = row->state,
                      .unmarked = entry && entry->lab->unmarked,
                      .sent = row->first_sent,
                      .marked_late = row->late };
    Verdict verdict;

    if (row->attempt && entry)
        read_cases(store, row->attempt, entry, &graded);
    marks_of(policy, &graded, &row->earned);
    if (row->attempt && policy->quiz >= 0)
        check_quiz(store, row);
    /* A kernel that passes loses nothing if no question could be made for it. */
    if (row->quiz_asked || !verdict_from_word(row->state, &verdict) || !verdict_passed(verdict))
        marks_mix_quiz(policy, row->quiz_right, row->quiz_asked, &row->earned);
    row->weight = policy->weight;
    row->has_marks = row->earned.known;
    row->marks = row->earned.marks;
}

#define READ_WHOLE(field, sql) row->field = sqlite3_column_int64(q, at++);
#define READ_REAL(field, sql)  row->field = sqlite3_column_double(q, at++);
#define READ_FLAG(field, sql)  row->field = sqlite3_column_int(q, at++) != 0;
#define READ_TEXT(field, sql)  row->field = store_text(q, at++);

bool rows_next(Store *store, sqlite3_stmt *q, Row *row)
{
    int at = 0;

    if (!store_row(store, q))
        return false;
    *row = (Row){ 0 };
    ROW_COLUMNS(READ_WHOLE, READ_REAL, READ_FLAG, READ_TEXT)
    mark_row(store, row);
    return true;
}

const char *row_date(int64_t seconds, char text[32])
{
    time_t when = (time_t) seconds;
    struct tm parts;

    text[0] = 0;
    if (seconds && gmtime_r(&when, &parts))
        strftime(text, 32, "%Y-%m-%dT%H:%M:%SZ", &parts);
    return text;
}

sqlite3_stmt *remarks_ask(Store *store, int64_t student)
{
    return store_ask(
        store,
        "SELECT s.source, r.kind, r.entry, r.sentence FROM seen"
        " JOIN submissions s ON s.id = seen.submission JOIN remarks r ON r.submission = s.id"
        " WHERE seen.import IN (SELECT import FROM counting) AND s.student = ?"
        " ORDER BY seen.place, r.id",
        "i", student);
}
