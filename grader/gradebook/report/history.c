/* history.c - prints what happened to a person's marks, in the order of time. */
#include "gradebook/report/history.h"
#include "gradebook/report/results_query.h"
#include "gradebook/store/people.h"
#include "base/util.h"

#include <stdio.h>
#include <string.h>

/* temp.mine: the rows of `students` that are or were this person; temp.my_keys: his keys. */
#define MINE          " JOIN temp.mine o ON o.student = s.student"
#define MY_KEY(key)   " JOIN temp.my_keys y ON y.key = " key
#define THIS_LAB(lab) " AND (?1 = '' OR " lab " = ?1 OR " lab " = '')"
#define MY_KERNELS                                                                                 \
    " (SELECT p.kernel FROM parts p JOIN submissions s ON s.id = p.submission" MINE ")"
#define NAME_OF_STUDENT                                                                            \
    "CASE WHEN (SELECT count(*) FROM temp.mine) > 1"                                               \
    " THEN ', as ' || st.name || CASE st.number WHEN '' THEN '' ELSE ' ' || st.number END ELSE "   \
    "'' END"

/* Whether a submission (s), with a kernel for a lab (p), is in none of the imports that count. */
#define REPLACED                                                                                   \
    "CASE WHEN EXISTS (SELECT 1 FROM latest l JOIN seen x ON x.import = l.import"                  \
    "  WHERE x.submission = s.id AND l.lab = p.lab) THEN ''"                                       \
    " WHEN NOT EXISTS (SELECT 1 FROM seen x WHERE x.submission = s.id"                             \
    "  AND x.import NOT IN (SELECT import FROM undone)) THEN '; the import was taken back'"        \
    " ELSE '; replaced by a later import' END"

/* A request also makes a row in regrades, at most seconds apart. The request says more. */
#define REQUESTED                                                                                  \
    "EXISTS (SELECT 1 FROM requests q" MY_KEY(                                                     \
        "q.person") " WHERE q.kernel = r.kernel"                                                   \
                    "  AND abs(strftime('%s', q.at) - strftime('%s', r.at)) <= 2)"

/* One row per kind of event: at (UTC), what, lab, sentence. ?1: lab or "". */
static const char *const events[] = {
    /* The learning system's or the file's time, if it is known. */
    "SELECT strftime('%Y-%m-%dT%H:%M:%SZ', CASE WHEN s.timed OR NOT p.changed THEN s.sent"
    "  ELSE p.changed END, 'unixepoch'), 'submitted', p.lab, 'kernel ' || p.kernel ||"
    "  CASE s.timed WHEN 0 THEN ' (the file''s time)' ELSE '' END"
    " FROM submissions s" MINE " JOIN parts p ON p.submission = s.id"
    " WHERE p.kernel IS NOT NULL AND CASE WHEN s.timed OR NOT p.changed THEN s.sent"
    "  ELSE p.changed END > 0" THIS_LAB("p.lab"),

    "SELECT min(i.at), 'imported', p.lab, 'kernel ' || p.kernel || ' from ' || i.source || ', '"
    "  || s.source || ' (' || p.path || ')' || " NAME_OF_STUDENT " || " REPLACED
    " FROM submissions s" MINE " JOIN students st ON st.id = s.student"
    " JOIN parts p ON p.submission = s.id JOIN seen ON seen.submission = s.id"
    " JOIN imports i ON i.id = seen.import WHERE p.kernel IS NOT NULL" THIS_LAB(
        "p.lab") " GROUP BY s.id, p.lab",

    "SELECT u.at, CASE u.undone WHEN 1 THEN 'taken back' ELSE 'restored' END, p.lab, 'import ' ||"
    "  u.import || ' from ' || i.source || ', by ' || u.author || ': ' || u.note"
    " FROM import_undos u JOIN imports i ON i.id = u.import JOIN seen ON seen.import = u.import"
    " JOIN submissions s ON s.id = seen.submission" MINE
    " JOIN parts p ON p.submission = s.id WHERE p.kernel IS NOT NULL" THIS_LAB(
        "p.lab") " GROUP BY u.id, p.lab",

    "SELECT min(i.at), 'refused', '', s.source || ': ' || r.entry || ' ' || r.sentence"
    " FROM submissions s" MINE " JOIN remarks r ON r.submission = s.id"
    " JOIN seen ON seen.submission = s.id JOIN imports i ON i.id = seen.import"
    " WHERE r.kind IN ('refused', 'ambiguous') GROUP BY r.id",

    "SELECT r.at, 'regrade', k.lab, 'requested for kernel ' || k.id || CASE WHEN r.bars IS NULL"
    "  THEN '' ELSE ', because a bar changed' END"
    " FROM regrades r JOIN kernels k ON k.id = r.kernel WHERE NOT " REQUESTED
    " AND k.id IN" MY_KERNELS THIS_LAB("k.lab"),

    "SELECT c.at, 'course', '', 'a new course file' FROM courses c",

    "SELECT q.at, 'requested', q.lab, 'to grade kernel ' || q.kernel || ' again, by ' || q.author"
    "  || CASE q.note WHEN '' THEN '' ELSE ': ' || q.note END"
    " FROM requests q" MY_KEY("q.person") " WHERE 1" THIS_LAB("q.lab"),

    "SELECT a.began, 'graded', k.lab, 'kernel ' || k.id || ': ' || coalesce(v.verdict ||"
    "  CASE WHEN v.ratio IS NULL THEN '' ELSE printf(', %.3f of the reference', v.ratio) END,"
    "  'not graded, ' || a.outcome || ': ' || a.why) || printf(' (attempt %d, device %s)',"
    "  a.number, a.device)"
    " FROM attempts a JOIN kernels k ON k.id = a.kernel LEFT JOIN verdicts v ON v.attempt = a.id"
    " WHERE k.id IN" MY_KERNELS THIS_LAB("k.lab"),

    "SELECT d.at, 'decided', d.lab, CASE d.kind WHEN 'marks' THEN 'marks: ' || d.value"
    "  WHEN 'extend' THEN 'deadline extended: ' || d.value WHEN 'excuse' THEN 'excused'"
    "  ELSE 'undone: ' || (SELECT u.kind || ' ' || u.value FROM decisions u WHERE u.id = d.undoes)"
    "  END || CASE WHEN d.kernel IS NULL THEN '' ELSE ' (on kernel ' || d.kernel || ')' END ||"
    "  ', by ' || d.author || ': ' || d.note"
    " FROM decisions d WHERE (d.person IN (SELECT key FROM temp.my_keys)"
    "  OR (d.student IN (SELECT student FROM temp.mine)"
    "   AND d.person NOT IN (SELECT key FROM temp.person_keys)))" THIS_LAB("d.lab"),

    "SELECT a.at, 'matched', '', CASE a.person WHEN 'apart' THEN 'a person of his own' WHEN ''"
    "  THEN 'the answer was undone' ELSE a.person END || ', by ' || a.author"
    " FROM answers a JOIN temp.mine o ON o.student = a.student",

    "SELECT p.at, 'published', q.lab, CASE WHEN q.marks IS NULL THEN 'no marks' ELSE"
    "  printf('%.1f marks', q.marks) END || ', ' || q.state || ', by ' || p.author"
    "  || CASE p.note WHEN '' THEN '' ELSE ': ' || p.note END"
    " FROM publications p JOIN published q ON q.publication = p.id" MY_KEY(
        "q.person") " WHERE 1" THIS_LAB("q.lab"),
};

/* ---- Whose history ---- */

static void add_mine(Store *store, int64_t person)
{
    store_do(store,
             "INSERT OR IGNORE INTO temp.mine SELECT student FROM temp.person_of WHERE person = ?",
             "i", person);
    store_do(store,
             "INSERT OR IGNORE INTO temp.my_keys SELECT key FROM temp.person_keys WHERE person = ?"
             " UNION SELECT key FROM temp.people WHERE id = ?1",
             "i", person);
}

#define FORMER                                                                                     \
    " IN (SELECT o.person FROM temp.person_of o JOIN temp.mine m ON m.student = o.student"         \
    "  UNION SELECT k.person FROM temp.person_keys k JOIN temp.my_keys y ON y.key = k.key)"

/* Adds the rows that were this person in imports that count no more. */
static void add_former(Store *store)
{
    people_match_ever(store);
    store_do(store,
             "INSERT OR IGNORE INTO temp.mine"
             " SELECT student FROM temp.person_of WHERE person" FORMER,
             "");
    store_do(store,
             "INSERT OR IGNORE INTO temp.my_keys"
             " SELECT key FROM temp.person_keys WHERE person" FORMER,
             "");
}

/* Finds the person among those of whom submissions count, else among all. *person: people.id; 0 if
 * nothing of him counts. */
static bool find_person(Store *store, const char *who, int64_t *person, char *problem, size_t size)
{
    int64_t former = 0;
    bool found;

    store_do(store, "CREATE TEMP TABLE IF NOT EXISTS mine (student INTEGER PRIMARY KEY)", "");
    store_do(store, "CREATE TEMP TABLE IF NOT EXISTS my_keys (key TEXT PRIMARY KEY)", "");
    store_do(store, "DELETE FROM temp.mine", "");
    store_do(store, "DELETE FROM temp.my_keys", "");
    found = people_find(store, who, person, problem, size);
    if (found)
        add_mine(store, *person);
    else if (!*person && people_find_ever(store, who, &former, problem, size))
        add_mine(store, former);
    if (found || former)
        add_former(store);
    *person = found ? *person : 0;
    return found || former;
}

/* ---- Printing ---- */

static void collect(Store *store, const char *sql, const char *lab)
{
    char insert[3000];

    store_do(store,
             PUT(insert,
                 "INSERT INTO temp.history (at, what, lab, sentence)"
                 " SELECT * FROM (%s) WHERE ?1 IS NOT NULL",
                 sql),
             "t", lab);
}

static void collect_all(Store *store, const char *lab)
{
    store_do(store,
             "CREATE TEMP TABLE IF NOT EXISTS history (id INTEGER PRIMARY KEY, at TEXT, what TEXT,"
             " lab TEXT, sentence TEXT)",
             "");
    store_do(store, "DELETE FROM temp.history", "");
    for (size_t i = 0; i < sizeof events / sizeof *events; i++)
        collect(store, events[i], lab);
}

static void print_now(Store *store, int64_t person, const char *lab)
{
    sqlite3_stmt *rows = rows_ask(store);
    Row row;

    while (rows_next(store, rows, &row)) {
        if (row.student != person || (*lab && strcmp(row.lab, lab)))
            continue;
        printf("now                  %-10s %-18s", row.state, row.lab);
        if (row.has_marks)
            printf(" %.1f marks:", row.marks);
        printf(" %s\n", row.earned.why);
    }
    if (!person)
        printf("now                  in no import that counts, and not on the roster\n");
}

bool history_print(Store *store, const char *who, const char *lab, char *problem, size_t size)
{
    sqlite3_stmt *rows;
    int64_t person;
    bool found;

    store_scratch(store);
    found = find_person(store, who, &person, problem, size);
    if (found)
        collect_all(store, lab);
    store_scratch_end(store);
    if (!found)
        return false;
    rows = store_ask(store,
                     "SELECT replace(substr(at, 1, 19), 'T', ' ') || 'Z', what, lab, sentence"
                     " FROM temp.history ORDER BY 1, id",
                     "");
    while (store_row(store, rows))
        printf("%-20s %-10s %-18s %.*s\n", store_text(rows, 0), store_text(rows, 1),
               store_text(rows, 2), (int) strcspn(store_text(rows, 3), "\n"), store_text(rows, 3));
    print_now(store, person, lab);
    return true;
}
