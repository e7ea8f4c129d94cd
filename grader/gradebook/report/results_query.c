/* results_query.c - the results: one row per student and lab. */
#include "gradebook/report/results_query.h"
#include "base/number.h"
#include "base/quiz_sheet.h"
#include "base/util.h"
#include "base/verdict.h"
#include "gradebook/store/decisions.h"
#include "gradebook/store/judged.h"
#include "gradebook/store/people.h"
#include "gradebook/store/queue.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SQL_STATE                                                                                  \
    "CASE WHEN c.kernel IS NULL THEN CASE WHEN (st.id, labs.lab) IN (SELECT person, lab FROM "     \
    "temp.unreadable) THEN 'unreadable' WHEN st.status = 'withdrawn' THEN 'withdrawn' ELSE "       \
    "'missing' END WHEN v.verdict IS NOT NULL"                                                     \
    "   THEN coalesce(j.verdict, v.verdict)"                                                       \
    "  WHEN " SQL_GIVEN_UP " THEN 'not graded' ELSE 'queued' END"
#define SQL_WHY                                                                                    \
    "coalesce(j.why, v.why, (SELECT f.why FROM attempts f WHERE f.kernel = c.kernel"               \
    "  ORDER BY f.id DESC LIMIT 1), '')"
/* A kernel that was fast enough may be slow under a changed bar (judge/message.c: message_above).
 */
#define SQL_NOTE                                                                                   \
    "CASE WHEN j.verdict = 'slow'"                                                                 \
    "  THEN replace(v.note, 'Fast enough, but above a limit', 'Above a limit') ELSE v.note END"
#define SQL_FLAG                                                                                   \
    "CASE v.protocol WHEN 'quick' THEN 'quick' || CASE v.flag WHEN '' THEN '' ELSE char(10) END"   \
    "  ELSE '' END || v.flag"
#define SQL_FIRST_SENT                                                                             \
    "(SELECT CASE WHEN min(op.at > 0 AND (o.timed OR ?1)) THEN min(op.at) ELSE 0 END"              \
    "  FROM handed op JOIN submissions o ON o.id = op.submission"                                  \
    "  JOIN temp.person_of oo ON oo.student = o.student"                                           \
    "  WHERE op.kernel = c.kernel AND oo.person = st.id)"
#define SQL_LATE_DAYS                                                                              \
    "(SELECT coalesce(sum(l.days), 0) FROM temp.late_days l WHERE l.person = st.id)"
#define DECISION(kind)                                                                             \
    "(SELECT r.decision FROM temp.decided r WHERE r.person = st.id AND r.lab = labs.lab"           \
    " AND r.kind = '" kind "')"
#define ROW_SQL(field, sql) sql ", "

static sqlite3_stmt *ask(Store *store)
{
    return store_ask(store,
                     "WITH labs AS (SELECT lab FROM course_labs),"
                     /* When a lab was submitted: the learning system's time of the whole
                        submission, else the time of the lab's own file. So a folder's other labs
                        and notes do not make it late. */
                     " handed AS (SELECT p.submission AS submission, p.lab AS lab, p.kernel AS "
                     "kernel,"
                     "   CASE WHEN s.timed OR NOT p.changed THEN s.sent ELSE p.changed END AS at"
                     "   FROM parts p JOIN submissions s ON s.id = p.submission),"
                     " twins AS (SELECT kernel, count(*) AS n FROM temp.handed_in GROUP BY kernel)"
                     " SELECT " ROW_COLUMNS(
                         ROW_SQL, ROW_SQL, ROW_SQL,
                         ROW_SQL) "NULL"
                                  " FROM temp.people st CROSS JOIN labs"
                                  "  LEFT JOIN temp.handed_in c ON c.person = st.id AND c.lab = "
                                  "labs.lab"
                                  "  LEFT JOIN submissions s ON s.id = c.submission"
                                  "  LEFT JOIN parts qp ON qp.submission = c.submission AND qp.lab "
                                  "= c.lab"
                                  "  LEFT JOIN twins t ON t.kernel = c.kernel"
                                  "  LEFT JOIN progress p ON p.kernel = c.kernel"
                                  "  LEFT JOIN temp.judged j ON j.kernel = c.kernel"
                                  "  LEFT JOIN attempts a ON a.id = CASE WHEN j.kernel IS NULL "
                                  "THEN p.latest"
                                  "   ELSE j.attempt END"
                                  "  LEFT JOIN verdicts v ON v.attempt = a.id"
                                  "  LEFT JOIN members m ON m.id = st.member"
                                  "  LEFT JOIN decisions dm ON dm.id = " DECISION(
                                      "marks") "  LEFT JOIN decisions dx ON dx.id = "
                                               "coalesce(" DECISION("extend") ","
                                                                              "   (SELECT "
                                                                              "r.decision FROM "
                                                                              "temp.decided r "
                                                                              "WHERE r.person = "
                                                                              "st.id"
                                                                              "    AND r.lab = '' "
                                                                              "AND r.kind = "
                                                                              "'extend'))"
                                                                              "  LEFT JOIN "
                                                                              "decisions de ON "
                                                                              "de.id = " DECISION(
                                                                                  "excuse") "  "
                                                                                            "LEFT "
                                                                                            "JOIN "
                                                                                            "temp."
                                                                                            "late_"
                                                                                            "days "
                                                                                            "ld ON "
                                                                                            "ld."
                                                                                            "person"
                                                                                            " = "
                                                                                            "st.id "
                                                                                            "AND "
                                                                                            "ld."
                                                                                            "lab = "
                                                                                            "labs."
                                                                                            "lab"
                                                                                            " WHERE"
                                                                                            " NOT "
                                                                                            "(st."
                                                                                            "state "
                                                                                            "= "
                                                                                            "'absen"
                                                                                            "t' "
                                                                                            "AND "
                                                                                            "st."
                                                                                            "status"
                                                                                            " = "
                                                                                            "'withd"
                                                                                            "rawn')"
                                                                                            " ORDER"
                                                                                            " BY "
                                                                                            "st."
                                                                                            "name, "
                                                                                            "st."
                                                                                            "number"
                                                                                            ", "
                                                                                            "st.id,"
                                                                                            " labs."
                                                                                            "lab",
                     "i", (int64_t) store->course.times);
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

/* ---- Marks ---- */

static Policy policy_of(const Store *store, const Row *row)
{
    const LabEntry *entry = lab_find(row->lab);
    const Policy *policy = entry && entry - all_labs < COURSE_LABS
                               ? &store->course.lab[entry - all_labs].policy
                               : &policy_default;
    double by_s;
    int64_t until;

    return decision_extension(row->extended, &by_s, &until) ? marks_extended(policy, by_s, until)
                                                            : *policy;
}

static bool is_pass(const Row *row, const Graded *graded)
{
    Verdict verdict;

    return graded->decided == DECIDED_PASS ||
           (verdict_from_word(row->state, &verdict) && verdict_passed(verdict));
}

static void mark_row(Store *store, Row *row)
{
    const LabEntry *entry = lab_find(row->lab);
    const Policy policy = policy_of(store, row);
    Graded graded = { .state = row->state,
                      .unmarked = entry && entry->lab->unmarked,
                      .sent = row->first_sent,
                      .marked_late = row->late,
                      .excused = row->excused,
                      .late_days = (int) row->late_days };

    if (*row->decided)
        decision_marks(row->decided, &graded.decided, &graded.decided_marks);
    if (row->attempt && entry)
        judged_cases(store, row->attempt, entry, &graded);
    marks_of(&policy, &graded, &row->earned);
    if (row->attempt && policy.quiz >= 0)
        check_quiz(store, row);
    /* A kernel that passes loses nothing if no question could be made for it. */
    if (graded.decided != DECIDED_MARKS && (row->quiz_asked || !is_pass(row, &graded)))
        marks_mix_quiz(&policy, row->quiz_right, row->quiz_asked, &row->earned);
    row->is_late =
        row->earned.late_s > 0 || (row->late && (!policy.has_deadline || !row->first_sent));
    row->weight = policy.weight;
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

/* ---- Late days ---- */

/* A late lab of a person. */
typedef struct LateLab {
    int64_t person;
    char lab[40];
    Policy policy;
    Marks marks; /* without late days */
} LateLab;

static int by_deadline(const void *a, const void *b)
{
    const LateLab *one = a, *other = b;

    if (one->person != other->person)
        return one->person < other->person ? -1 : 1;
    if (one->policy.deadline != other->policy.deadline)
        return one->policy.deadline < other->policy.deadline ? -1 : 1;
    return strcmp(one->lab, other->lab);
}

static LateLab *late_labs(Store *store, int *count)
{
    sqlite3_stmt *rows = ask(store);
    LateLab *labs = NULL;
    Row row;

    *count = 0;
    while (rows_next(store, rows, &row)) {
        if (row.earned.late_s <= 0)
            continue;
        labs = xrealloc(labs, (size_t) (*count + 1), sizeof *labs);
        labs[*count] = (LateLab){ .person = row.student,
                                  .policy = policy_of(store, &row),
                                  .marks = row.earned };
        PUT(labs[*count].lab, "%s", row.lab);
        ++*count;
    }
    return labs;
}

/* Takes late days from each person's budget, in the order of the labs' deadlines. */
static void spend_late_days(Store *store)
{
    LateLab *labs;
    int count, left = 0;

    store_scratch(store);
    store_do(store,
             "CREATE TEMP TABLE IF NOT EXISTS late_days (person INTEGER, lab TEXT, days INTEGER,"
             " PRIMARY KEY (person, lab)) WITHOUT ROWID",
             "");
    store_do(store, "DELETE FROM temp.late_days", "");
    labs = store->course.late_days ? late_labs(store, &count) : (count = 0, NULL);
    if (count)
        qsort(labs, (size_t) count, sizeof *labs, by_deadline);
    for (int i = 0; i < count; i++) {
        int days;
        if (!i || labs[i].person != labs[i - 1].person)
            left = store->course.late_days;
        days = marks_late_days(&labs[i].policy, &labs[i].marks, left);
        left -= days;
        if (days)
            store_do(store, "INSERT INTO temp.late_days VALUES (?, ?, ?)", "iti", labs[i].person,
                     labs[i].lab, (int64_t) days);
    }
    store_scratch_end(store);
    free(labs);
}

sqlite3_stmt *rows_ask(Store *store)
{
    people_match(store);
    judged_find(store);
    decisions_find(store);
    spend_late_days(store);
    return ask(store);
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

sqlite3_stmt *remarks_ask(Store *store, int64_t person)
{
    return store_ask(
        store,
        "SELECT s.source, r.kind, r.entry, r.sentence FROM seen"
        " JOIN submissions s ON s.id = seen.submission JOIN remarks r ON r.submission = s.id"
        " JOIN temp.person_of o ON o.student = s.student"
        " WHERE seen.import IN (SELECT import FROM counting) AND o.person = ?"
        " ORDER BY seen.import, seen.place, r.id",
        "i", person);
}
