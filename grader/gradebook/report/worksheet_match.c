/* worksheet_match.c - which row of a learning system's worksheet belongs to which student. */
#include "gradebook/report/worksheet_match.h"
#include "gradebook/import/names.h"
#include "base/util.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { TEXT = 400 };

#define SQL_OF_MOODLE                                                                              \
    "EXISTS (SELECT 1 FROM submissions s WHERE s.student = st.id AND s.layout = 'moodle')"

/* The person with an id of the roster, an e-mail address, an alias, or the number that a learning
 * system other than Moodle gave him. */
static const char sql_of_id[] =
    "SELECT id FROM temp.people WHERE email = ?1 COLLATE NOCASE"
    "  OR (member IS NOT NULL AND number = ?1 COLLATE NOCASE)"
    " UNION SELECT o.person FROM temp.person_of o JOIN students st ON st.id = o.student"
    "  WHERE st.number = ?1 COLLATE NOCASE AND NOT " SQL_OF_MOODLE
    " UNION SELECT o.person FROM temp.person_of o JOIN addresses a ON a.student = o.student"
    "  WHERE a.email = ?1 COLLATE NOCASE"
    " UNION SELECT p.id FROM temp.people p JOIN members m ON m.id = p.member WHERE m.aliases <> ''"
    "  AND instr('|' || lower(m.aliases) || '|', '|' || lower(?1) || '|') > 0";

/* The person with a participant's number of Moodle, which may be the id of somebody else. */
static const char sql_of_participant[] =
    "SELECT o.person FROM temp.person_of o JOIN students st ON st.id = o.student"
    " WHERE st.number = ?1 AND " SQL_OF_MOODLE;

static int index_of(const ResultsTable *results, int64_t person)
{
    for (int i = 0; i < results->count; i++)
        if (results->students[i].id == person)
            return i;
    return NO_STUDENT;
}

/* Adds the students with this id to what the row's other ids have found. */
static int with_id(Store *store, const ResultsTable *results, const char *sql, const char *id,
                   int found)
{
    sqlite3_stmt *rows;

    if (!*id || strchr(id, ' '))
        return found;
    rows = store_ask(store, sql, "t", id);
    while (store_row(store, rows)) {
        int student = index_of(results, sqlite3_column_int64(rows, 0));
        if (student >= 0)
            found = found == NO_STUDENT || found == student ? student : UNCLEAR_STUDENT;
    }
    return found;
}

static int by_ids(Store *store, const Worksheet *sheet, const IdColumns *columns, int row,
                  const ResultsTable *results)
{
    char text[TEXT];
    int found = NO_STUDENT;

    if (columns->participant >= 0) {
        const char *at;
        worksheet_text(sheet, row, columns->participant, text, sizeof text);
        at = text + strlen(text);
        while (at > text && at[-1] >= '0' && at[-1] <= '9')
            at--;
        found = with_id(store, results, sql_of_participant, at, found);
    }
    for (int column = columns->first; column <= columns->last; column++)
        found = with_id(store, results, sql_of_id,
                        worksheet_text(sheet, row, column, text, sizeof text), found);
    return found;
}

static bool is_unique_name(const Worksheet *sheet, const IdColumns *columns, int begin, int row,
                           const int *student_of_row)
{
    char name[TEXT], other[TEXT];

    worksheet_text(sheet, row, columns->name, name, sizeof name);
    for (int i = begin; i < sheet->rows; i++)
        if (i != row && student_of_row[i] < 0 &&
            same_name(name, worksheet_text(sheet, i, columns->name, other, sizeof other)))
            return false;
    return true;
}

static int by_name(const Worksheet *sheet, const IdColumns *columns, int row,
                   const ResultsTable *results, const bool *has_row)
{
    char name[TEXT];
    int found = NO_STUDENT;

    worksheet_text(sheet, row, columns->name, name, sizeof name);
    for (int i = 0; i < results->count && found != UNCLEAR_STUDENT; i++)
        if (!has_row[i] && same_name(name, results->students[i].name))
            found = found == NO_STUDENT ? i : UNCLEAR_STUDENT;
    return found;
}

/* A student whom several rows claim belongs to none of them. */
static void refuse_doubles(int begin, int rows, int students, int *student_of_row)
{
    int *claims = xcalloc((size_t) students + 1, sizeof *claims);

    for (int row = begin; row < rows; row++)
        if (student_of_row[row] >= 0)
            claims[student_of_row[row]]++;
    for (int row = begin; row < rows; row++)
        if (student_of_row[row] >= 0 && claims[student_of_row[row]] > 1)
            student_of_row[row] = UNCLEAR_STUDENT;
    free(claims);
}

void worksheet_match(Store *store, const Worksheet *sheet, const IdColumns *columns, int begin,
                     const ResultsTable *results, int *student_of_row)
{
    bool *has_row = xcalloc((size_t) results->count + 1, sizeof *has_row);

    for (int row = begin; row < sheet->rows; row++) {
        student_of_row[row] = by_ids(store, sheet, columns, row, results);
        if (student_of_row[row] >= 0)
            has_row[student_of_row[row]] = true;
    }
    for (int row = begin; row < sheet->rows; row++)
        if (student_of_row[row] == NO_STUDENT) {
            int found = by_name(sheet, columns, row, results, has_row);
            bool unique = is_unique_name(sheet, columns, begin, row, student_of_row);
            student_of_row[row] = found < 0 || unique ? found : UNCLEAR_STUDENT;
        }
    refuse_doubles(begin, sheet->rows, results->count, student_of_row);
    free(has_row);
}
