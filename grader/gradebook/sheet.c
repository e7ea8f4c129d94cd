/* sheet.c - the gradebook as people want it: one row a student and lab. */
#include "sheet.h"
#include "queue.h"

#include <string.h>
#include <time.h>

sqlite3_stmt *rows_ask(Store *store)
{
    return store_ask(
        store,
        "WITH latest AS (SELECT max(id) AS id FROM imports),"
        " present AS (SELECT DISTINCT s.student AS student FROM seen"
        "   JOIN submissions s ON s.id = seen.submission WHERE seen.import = (SELECT id FROM "
        "latest)),"
        " labs AS (SELECT DISTINCT lab FROM asked),"
        " twins AS (SELECT kernel, count(*) AS n FROM counted GROUP BY kernel)"
        " SELECT st.id, st.name, st.number, labs.lab,"
        "  CASE WHEN c.kernel IS NULL THEN 'missing' WHEN v.verdict IS NOT NULL THEN v.verdict"
        "   WHEN " SQL_GIVEN_UP " THEN 'not graded' ELSE 'queued' END,"
        "  v.marks, v.ratio,"
        "  coalesce(v.why, (SELECT f.why FROM attempts f WHERE f.kernel = c.kernel"
        "    ORDER BY f.id DESC LIMIT 1), ''),"
        "  v.note, v.flag, s.late, s.sent, s.source, c.path, c.kernel, t.n - 1,"
        "  p.attempts, v.device, v.uuid, v.simulated, v.driver, v.nvcc, v.version,"
        "  v.protocol, v.seed, v.lab_hash, a.began, a.log, a.id, c.predicted, v.verdict IS NOT NULL"
        " FROM present JOIN students st ON st.id = present.student CROSS JOIN labs"
        "  LEFT JOIN counted c ON c.student = st.id AND c.lab = labs.lab"
        "  LEFT JOIN submissions s ON s.id = c.submission"
        "  LEFT JOIN twins t ON t.kernel = c.kernel"
        "  LEFT JOIN progress p ON p.kernel = c.kernel"
        "  LEFT JOIN attempts a ON a.id = p.latest"
        "  LEFT JOIN verdicts v ON v.attempt = a.id"
        " ORDER BY st.name, st.number, labs.lab",
        "");
}

bool rows_next(Store *store, sqlite3_stmt *q, Row *row)
{
    if (!store_row(store, q))
        return false;
    *row = (Row){
        .student = sqlite3_column_int64(q, 0),
        .name = store_text(q, 1),
        .number = store_text(q, 2),
        .lab = store_text(q, 3),
        .state = store_text(q, 4),
        .has_marks = sqlite3_column_type(q, 5) != SQLITE_NULL,
        .marks = sqlite3_column_double(q, 5),
        .has_ratio = sqlite3_column_type(q, 6) != SQLITE_NULL,
        .ratio = sqlite3_column_double(q, 6),
        .why = store_text(q, 7),
        .note = store_text(q, 8),
        .flag = store_text(q, 9),
        .late = sqlite3_column_int(q, 10) != 0,
        .sent = sqlite3_column_int64(q, 11),
        .source = store_text(q, 12),
        .path = store_text(q, 13),
        .kernel = sqlite3_column_int64(q, 14),
        .same = sqlite3_column_int(q, 15),
        .attempts = sqlite3_column_int(q, 16),
        .device = store_text(q, 17),
        .uuid = store_text(q, 18),
        .simulated = store_text(q, 19),
        .driver = store_text(q, 20),
        .nvcc = store_text(q, 21),
        .version = store_text(q, 22),
        .protocol = store_text(q, 23),
        .seed = store_text(q, 24),
        .lab_hash = store_text(q, 25),
        .at = store_text(q, 26),
        .log = store_text(q, 27),
        .attempt = sqlite3_column_int64(q, 28),
        .predicted = sqlite3_column_int(q, 29) != 0,
        .graded = sqlite3_column_int(q, 30) != 0,
    };
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
        " WHERE seen.import = (SELECT max(id) FROM imports) AND s.student = ?"
        " ORDER BY seen.place, r.id",
        "i", student);
}
