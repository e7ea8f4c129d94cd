/* import_roster.c - the course's roster, and its match with the students who submitted.
 *
 * The match is computed on demand, since the roster may come before or after the submissions, and
 * both may change.
 */
#include "gradebook/store/import_roster.h"
#include "gradebook/import/roster.h"
#include "base/util.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void keep(Store *store, const Roster *roster, const char *source)
{
    int64_t id;

    store_do(store, "BEGIN IMMEDIATE", "");
    store_do(store, "INSERT INTO rosters (at, source) VALUES (datetime('now'), ?)", "t", source);
    id = store_last(store);
    for (int i = 0; i < roster->count; i++)
        store_do(store,
                 "INSERT INTO members (roster, number, name, email, section)"
                 " VALUES (?, ?, ?, ?, ?)",
                 "itttt", id, roster->list[i].number, roster->list[i].name, roster->list[i].email,
                 roster->list[i].section);
    store_do(store, "COMMIT", "");
}

bool import_roster(Store *store, const char *path, int *count, char **mistakes)
{
    Roster roster;
    char why[600];
    size_t size;
    char *text = read_file(path, ROSTER_BYTES, &size);
    bool ok;

    if (!text) {
        PUT(why, "%s: %s\n", path,
            errno == EFBIG ? "larger than 4 MiB: not a roster" : strerror(errno));
        *mistakes = xstrdup(why);
        return false;
    }
    ok = roster_read(text, size, path, &roster, mistakes);
    free(text);
    if (!ok)
        return false;
    *count = roster.count;
    keep(store, &roster, path);
    roster_free(&roster);
    return true;
}

/* ---- Matching ---- */

/* Reads the current roster, and the row ids of its members into *ids. */
static void read_members(Store *store, Roster *roster, int64_t **ids)
{
    static const char of_latest[] = " FROM members WHERE roster = (SELECT max(id) FROM rosters)";
    char sql[200];
    int capacity = (int) store_number(store, 0, PUT(sql, "SELECT count(*)%s", of_latest), "");
    sqlite3_stmt *rows =
        store_ask(store, PUT(sql, "SELECT id, number, name%s ORDER BY id", of_latest), "");

    *roster = (Roster){ .list = xcalloc((size_t) capacity + 1, sizeof(Member)) };
    *ids = xcalloc((size_t) capacity + 1, sizeof **ids);
    while (store_row(store, rows)) {
        if (roster->count == capacity)
            continue;
        (*ids)[roster->count] = sqlite3_column_int64(rows, 0);
        PUT(roster->list[roster->count].number, "%s", store_text(rows, 1));
        PUT(roster->list[roster->count].name, "%s", store_text(rows, 2));
        roster->count++;
    }
}

static int read_students(Store *store, Submitter **submitters, int64_t **ids)
{
    static const char present[] =
        " FROM students WHERE id IN (SELECT s.student FROM seen JOIN submissions s"
        " ON s.id = seen.submission WHERE seen.import IN (SELECT import FROM counting))";
    char sql[400];
    int capacity = (int) store_number(store, 0, PUT(sql, "SELECT count(*)%s", present), ""),
        count = 0;
    sqlite3_stmt *rows =
        store_ask(store, PUT(sql, "SELECT id, name, number%s ORDER BY id", present), "");

    *submitters = xcalloc((size_t) capacity + 1, sizeof **submitters);
    *ids = xcalloc((size_t) capacity + 1, sizeof **ids);
    while (store_row(store, rows)) {
        char *name, *number;
        if (count == capacity)
            continue;
        (*ids)[count] = sqlite3_column_int64(rows, 0);
        name = xstrdup(store_text(rows, 1));
        number = xstrdup(store_text(rows, 2));
        (*submitters)[count++] = (Submitter){ .name = name, .number = number };
    }
    return count;
}

static void write_pairs(Store *store, const Submitter *submitters, const int64_t *students,
                        int count, const int64_t *members, const Roster *roster)
{
    bool *found = xcalloc((size_t) roster->count + 1, 1);

    for (int i = 0; i < count; i++) {
        const Submitter *a = &submitters[i];
        if (a->member >= 0) {
            found[a->member] = true;
            store_do(store, "INSERT INTO temp.enlisted VALUES (?, ?, 0)", "ii", students[i],
                     members[a->member]);
        } else {
            store_do(store, "INSERT INTO temp.enlisted VALUES (?, NULL, ?)", "ii", students[i],
                     (int64_t) a->unclear);
        }
    }
    for (int m = 0; m < roster->count; m++)
        if (!found[m])
            store_do(store, "INSERT INTO temp.enlisted VALUES (NULL, ?, ?)", "ii", members[m],
                     (int64_t) roster->list[m].unclear);
    free(found);
}

void import_roster_match(Store *store)
{
    int64_t *students, *members;
    Submitter *submitters;
    Roster roster;
    int count, only_reads = (int) store_number(store, 0, "PRAGMA query_only", "");

    read_members(store, &roster, &members);
    count = read_students(store, &submitters, &students);
    roster_match(&roster, submitters, count);
    if (only_reads) /* it forbids temporary tables, too */
        store_do(store, "PRAGMA query_only = OFF", "");
    store_do(store,
             "CREATE TEMP TABLE IF NOT EXISTS enlisted (student INTEGER, member INTEGER,"
             " unclear INTEGER NOT NULL)",
             "");
    store_do(store, "SAVEPOINT enlisting", "");
    store_do(store, "DELETE FROM temp.enlisted", "");
    if (roster.count)
        write_pairs(store, submitters, students, count, members, &roster);
    store_do(store, "RELEASE enlisting", "");
    if (only_reads)
        store_do(store, "PRAGMA query_only = ON", "");
    for (int i = 0; i < count; i++) {
        free((char *) submitters[i].name);
        free((char *) submitters[i].number);
    }
    free(submitters);
    free(students);
    free(members);
    roster_free(&roster);
}
