/* people.c - who is one person: students of several exports, matched with the roster. */
#include "gradebook/store/people.h"
#include "gradebook/store/people_rules.h"
#include "base/util.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Reading ---- */

typedef struct Read {
    People people;
    Roster roster;
    int64_t *members; /* members.id of each on the roster */
} Read;

static void read_roster(Store *store, Read *read)
{
    static const char of_latest[] = " FROM members WHERE roster = (SELECT max(id) FROM rosters)";
    char sql[200];
    int capacity = (int) store_number(store, 0, PUT(sql, "SELECT count(*)%s", of_latest), "");
    sqlite3_stmt *rows =
        store_ask(store,
                  PUT(sql, "SELECT id, number, name, email, aliases, status, section%s ORDER BY id",
                      of_latest),
                  "");

    read->roster.list = xcalloc((size_t) capacity + 1, sizeof(Member));
    read->members = xcalloc((size_t) capacity + 1, sizeof *read->members);
    while (store_row(store, rows)) {
        Member *member = &read->roster.list[read->roster.count];
        if (read->roster.count == capacity)
            continue;
        read->members[read->roster.count++] = sqlite3_column_int64(rows, 0);
        PUT(member->number, "%s", store_text(rows, 1));
        PUT(member->name, "%s", store_text(rows, 2));
        PUT(member->email, "%s", store_text(rows, 3));
        PUT(member->aliases, "%s", store_text(rows, 4));
        PUT(member->status, "%s", store_text(rows, 5));
        PUT(member->section, "%s", store_text(rows, 6));
    }
}

#define PRESENT                                                                                    \
    "(SELECT s.student FROM seen JOIN submissions s ON s.id = seen.submission"                     \
    " WHERE seen.import IN (SELECT import FROM temp.scope))"

static void read_students(Store *store, People *people)
{
    int capacity =
        (int) store_number(store, 0, "SELECT count(*) FROM students WHERE id IN " PRESENT, "");
    sqlite3_stmt *rows = store_ask(
        store,
        "SELECT st.id, st.name, st.number,"
        " (SELECT a.email FROM addresses a WHERE a.student = st.id ORDER BY a.id DESC LIMIT 1),"
        " (SELECT s.layout FROM submissions s WHERE s.student = st.id ORDER BY s.id DESC LIMIT 1),"
        " (SELECT n.person FROM answers n WHERE n.student = st.id ORDER BY n.id DESC LIMIT 1)"
        " FROM students st WHERE st.id IN " PRESENT " ORDER BY st.id",
        "");

    people->rows = xcalloc((size_t) capacity + 1, sizeof *people->rows);
    while (store_row(store, rows))
        if (people->count < capacity)
            people->rows[people->count++] = (StudentRow){
                .id = sqlite3_column_int64(rows, 0),
                .name = xstrdup(store_text(rows, 1)),
                .number = xstrdup(store_text(rows, 2)),
                .email = xstrdup(store_text(rows, 3)),
                .layout = xstrdup(store_text(rows, 4)),
                .answer = xstrdup(store_text(rows, 5)),
            };
}

/* Reads which rows each import holds. */
static void read_imports(Store *store, People *people)
{
    sqlite3_stmt *rows =
        store_ask(store,
                  "SELECT DISTINCT s.student, seen.import FROM seen JOIN submissions s"
                  " ON s.id = seen.submission WHERE seen.import IN (SELECT import FROM temp.scope)"
                  " ORDER BY s.student, seen.import",
                  "");
    int64_t *imports = NULL;
    int at = 0, import;

    while (store_row(store, rows)) {
        StudentRow *row;
        while (at < people->count && people->rows[at].id < sqlite3_column_int64(rows, 0))
            at++;
        for (import = 0; import < people->import_count; import++)
            if (imports[import] == sqlite3_column_int64(rows, 1))
                break;
        if (import == people->import_count) {
            imports = xrealloc(imports, (size_t) ++people->import_count, sizeof *imports);
            imports[import] = sqlite3_column_int64(rows, 1);
        }
        row = &people->rows[at];
        row->imports = xrealloc(row->imports, (size_t) row->import_count + 1, sizeof(int));
        row->imports[row->import_count++] = import;
    }
    free(imports);
}

static void read_all(Store *store, Read *read)
{
    *read = (Read){ 0 };
    read_roster(store, read);
    read->people.roster = &read->roster;
    read->people.member_unclear = xcalloc((size_t) read->roster.count + 1, sizeof(bool));
    read_students(store, &read->people);
    read_imports(store, &read->people);
}

static void free_all(Read *read)
{
    for (int r = 0; r < read->people.count; r++) {
        StudentRow *row = &read->people.rows[r];
        free((char *) row->name);
        free((char *) row->number);
        free((char *) row->email);
        free((char *) row->layout);
        free((char *) row->answer);
        free(row->imports);
    }
    free(read->people.rows);
    free(read->people.member_unclear);
    free(read->members);
    roster_free(&read->roster);
}

/* ---- Writing ---- */

static void add_key(Store *store, int64_t person, const char *kind, const char *text)
{
    if (*text)
        store_do(store, "INSERT OR IGNORE INTO temp.person_keys VALUES (? || ?, ?)", "tti", kind,
                 text, person);
}

static void add_member_keys(Store *store, int64_t person, const Member *member)
{
    add_key(store, person, "id:", member->number);
    add_key(store, person, "email:", member->email);
    if (!*member->number && !*member->email)
        add_key(store, person, "name:", member->name);
}

static const char *key_of_member(const Member *member, char *key, size_t size)
{
    if (*member->number)
        return put(key, size, "id:%s", member->number);
    return *member->email ? put(key, size, "email:%s", member->email)
                          : put(key, size, "name:%s", member->name);
}

static void add_person(Store *store, int64_t id, const char *key, const char *name,
                       const char *number, const char *email, const Member *member,
                       int64_t member_id, const char *state)
{
    store_do(store,
             "INSERT INTO temp.people (id, key, name, number, email, section, status, member,"
             " state) VALUES (?, ?, ?, ?, ?, ?, ?, nullif(?, 0), ?)",
             "ittttttit", id, key, name, number, email, member ? member->section : "",
             member ? member->status : "active", member_id, state);
}

/* The number of a person who is not on the roster: his own, or that of his only row. */
static const char *number_of(const People *people, int first)
{
    const char *number = people->rows[first].number;

    for (int r = first; r < people->count; r++)
        if (people->rows[r].group == first) {
            if (has_own_number(&people->rows[r]))
                return people->rows[r].number;
            if (strcmp(people->rows[r].number, number))
                number = "";
        }
    return number;
}

static const char *email_of(const People *people, int first)
{
    for (int r = first; r < people->count; r++)
        if (people->rows[r].group == first && *address_of(&people->rows[r]))
            return address_of(&people->rows[r]);
    return "";
}

static bool any_unclear(const People *people, int first)
{
    for (int r = first; r < people->count; r++)
        if (people->rows[r].group == first && people->rows[r].unclear)
            return true;
    return false;
}

static void write_person(Store *store, const Read *read, int first)
{
    const People *people = &read->people;
    const StudentRow *row = &people->rows[first];
    const Member *member = row->member >= 0 ? &read->roster.list[row->member] : NULL;
    const char *state = member                       ? ""
                        : any_unclear(people, first) ? "unclear"
                        : read->roster.count         ? "unknown"
                                                     : "";
    const char *email = member && *member->email ? member->email : email_of(people, first);
    char key[300];

    PUT(key, "student:%lld", (long long) row->id);
    if (member)
        key_of_member(member, key, sizeof key);
    add_person(store, row->id, key, member && *member->name ? member->name : row->name,
               member && *member->number ? member->number : number_of(people, first), email, member,
               member ? read->members[row->member] : 0, state);
    if (member)
        add_member_keys(store, row->id, member);
}

static void write_rows(Store *store, const Read *read, bool *found)
{
    const People *people = &read->people;
    char id[32];

    for (int r = 0; r < people->count; r++) {
        int first = people->rows[r].group;
        int64_t person = people->rows[first].id;
        if (first == r)
            write_person(store, read, r);
        if (people->rows[r].member >= 0)
            found[people->rows[r].member] = true;
        store_do(store, "INSERT INTO temp.person_of VALUES (?, ?)", "ii", people->rows[r].id,
                 person);
        add_key(store, person, "student:", PUT(id, "%lld", (long long) people->rows[r].id));
    }
}

static void write_people(Store *store, const Read *read)
{
    bool *found = xcalloc((size_t) read->roster.count + 1, sizeof *found);
    char key[300];

    write_rows(store, read, found);
    for (int m = 0; m < read->roster.count; m++) {
        const Member *member = &read->roster.list[m];
        if (found[m])
            continue;
        add_person(store, -read->members[m], key_of_member(member, key, sizeof key),
                   *member->name ? member->name : member->number, member->number, member->email,
                   member, read->members[m], read->people.member_unclear[m] ? "unclear" : "absent");
        add_member_keys(store, -read->members[m], member);
    }
    free(found);
}

/* For each person and lab, the latest submission of all his rows. */
static void write_handed_in(Store *store)
{
    store_do(store,
             "INSERT INTO temp.handed_in SELECT person, lab, kernel, submission, path, predicted,"
             "  at FROM (SELECT o.person AS person, c.*, row_number() OVER (PARTITION BY o.person,"
             "  c.lab ORDER BY c.import DESC, c.at DESC, c.place DESC) AS rank"
             "  FROM counted c JOIN temp.person_of o ON o.student = c.student) WHERE rank = 1",
             "");
}

/* For each person, the labs of which he may have submitted something, of which nothing could be
 * read: a refused archive, or no file that is a kernel. Only labs that others submitted in the same
 * import. */
static void write_unreadable(Store *store)
{
    store_do(store,
             "WITH read AS (SELECT DISTINCT seen.import AS import, o.person AS person FROM seen"
             "  JOIN submissions s ON s.id = seen.submission JOIN parts p ON p.submission = s.id"
             "  JOIN temp.person_of o ON o.student = s.student)"
             " INSERT INTO temp.unreadable SELECT DISTINCT o.person, k.lab FROM seen"
             "  JOIN submissions s ON s.id = seen.submission"
             "  JOIN temp.person_of o ON o.student = s.student"
             "  JOIN asked k ON k.import = seen.import"
             "  LEFT JOIN read r ON r.import = seen.import AND r.person = o.person"
             " WHERE seen.import IN (SELECT import FROM counting)"
             "  AND s.id NOT IN (SELECT submission FROM parts) AND (s.refused OR r.person IS NULL)"
             "  AND (k.lab IN (SELECT l.lab FROM latest l WHERE l.import = seen.import)"
             "   OR seen.import NOT IN (SELECT l.import FROM latest l))"
             " EXCEPT SELECT person, lab FROM temp.handed_in",
             "");
}

/* ---- When ---- */

static const char *const tables[] = {
    "people (id INTEGER PRIMARY KEY, key TEXT, name TEXT, number TEXT, email TEXT, section TEXT,"
    " status TEXT, member INTEGER, state TEXT)",
    "person_of (student INTEGER PRIMARY KEY, person INTEGER)",
    "person_keys (key TEXT PRIMARY KEY, person INTEGER) WITHOUT ROWID",
    "handed_in (person INTEGER, lab TEXT, kernel INTEGER, submission INTEGER, path TEXT,"
    " predicted INTEGER, at INTEGER, PRIMARY KEY (person, lab)) WITHOUT ROWID",
    "unreadable (person INTEGER, lab TEXT, PRIMARY KEY (person, lab)) WITHOUT ROWID",
    "scope (import INTEGER PRIMARY KEY)",
    "matched (import INTEGER, roster INTEGER, answer INTEGER, undo INTEGER, ever INTEGER)",
};
enum { TABLES = sizeof tables / sizeof *tables };

#define WHAT_IS_MATCHED                                                                            \
    "SELECT (SELECT coalesce(max(id), 0) FROM imports), (SELECT coalesce(max(id), 0) FROM "        \
    "rosters), (SELECT coalesce(max(id), 0) FROM answers),"                                        \
    " (SELECT coalesce(max(id), 0) FROM import_undos), ?"

static void match(Store *store, bool ever)
{
    Read read;

    for (int i = 0; i < TABLES; i++) {
        char sql[60];
        store_do(store, PUT(sql, "DELETE FROM temp.%.*s", (int) strcspn(tables[i], " "), tables[i]),
                 "");
    }
    store_do(store,
             ever ? "INSERT INTO temp.scope SELECT id FROM imports"
                  : "INSERT INTO temp.scope SELECT import FROM counting",
             "");
    read_all(store, &read);
    people_decide(&read.people);
    write_people(store, &read);
    write_handed_in(store);
    write_unreadable(store);
    store_do(store, "INSERT INTO temp.matched " WHAT_IS_MATCHED, "i", (int64_t) ever);
    free_all(&read);
}

static void match_if_changed(Store *store, bool ever)
{
    store_scratch(store);
    for (int i = 0; i < TABLES; i++) {
        char sql[400];
        store_do(store, PUT(sql, "CREATE TEMP TABLE IF NOT EXISTS %s", tables[i]), "");
    }
    if (!store_number(store, 0,
                      "SELECT count(*) FROM (SELECT * FROM temp.matched INTERSECT " WHAT_IS_MATCHED
                      ")",
                      "i", (int64_t) ever))
        match(store, ever);
    store_scratch_end(store);
}

void people_match(Store *store)
{
    match_if_changed(store, false);
}

void people_match_ever(Store *store)
{
    match_if_changed(store, true);
}

int people_open(Store *store)
{
    people_match(store);
    return (int) store_number(store, 0,
                              "SELECT count(*) FROM temp.people WHERE id > 0"
                              " AND state IN ('unclear', 'unknown')",
                              "");
}

void people_answer(Store *store, int64_t student, const char *key, const char *author)
{
    store_do(store,
             "INSERT INTO answers (student, person, author, at)"
             " VALUES (?, ?, ?, strftime('%Y-%m-%dT%H:%M:%SZ', 'now'))",
             "itt", student, key, author);
}

/* ---- Finding ---- */

/* How a text may name a person, strongest first. ?1: the text. */
static const char *const ways[] = {
    "SELECT id FROM temp.people WHERE number <> '' AND number = ?1 COLLATE NOCASE"
    " UNION SELECT o.person FROM temp.person_of o JOIN students st ON st.id = o.student"
    "  WHERE st.number <> '' AND st.number = ?1 COLLATE NOCASE",
    "SELECT id FROM temp.people WHERE email <> '' AND email = ?1 COLLATE NOCASE"
    " UNION SELECT o.person FROM temp.person_of o JOIN addresses a ON a.student = o.student"
    "  WHERE a.email = ?1 COLLATE NOCASE",
    "SELECT p.id FROM temp.people p JOIN members m ON m.id = p.member WHERE m.aliases <> ''"
    "  AND instr('|' || lower(m.aliases) || '|', '|' || lower(?1) || '|') > 0",
    "SELECT o.person FROM temp.person_of o JOIN students st ON st.id = o.student"
    "  WHERE st.name || '_' || st.number = ?1",
    "SELECT id FROM temp.people WHERE name = ?1 COLLATE NOCASE"
    " UNION SELECT o.person FROM temp.person_of o JOIN students st ON st.id = o.student"
    "  WHERE st.name = ?1 COLLATE NOCASE",
};

static void add_candidate(char *problem, size_t size, sqlite3_stmt *rows, int place)
{
    enum { SHOWN = 6 };

    if (place < SHOWN)
        append(problem, size, "%s%s%s%s%s", place ? ", " : "", store_text(rows, 1),
               *store_text(rows, 2) ? " (" : "", store_text(rows, 2),
               *store_text(rows, 2) ? ")" : "");
    else if (place == SHOWN)
        append(problem, size, ", ...");
}

/* The number of people that a query finds; the only one, or the candidates in `problem`. */
static int found_by(Store *store, const char *way, const char *text, int64_t *person, char *problem,
                    size_t size)
{
    char sql[1000];
    sqlite3_stmt *rows =
        store_ask(store,
                  PUT(sql,
                      "SELECT id, name, CASE number WHEN '' THEN email ELSE number END"
                      " FROM temp.people WHERE id IN (%s) ORDER BY name, number",
                      way),
                  "t", text);
    int count = 0;

    put(problem, size, "several people match '%s': ", text);
    while (store_row(store, rows)) {
        *person = sqlite3_column_int64(rows, 0);
        add_candidate(problem, size, rows, count++);
    }
    return count;
}

/* Compares names as the roster's names are compared: "Doe, Jane" is Jane Doe. */
static int found_by_name(Store *store, const char *text, int64_t *person, char *problem,
                         size_t size)
{
    sqlite3_stmt *rows =
        store_ask(store,
                  "SELECT id, name, CASE number WHEN '' THEN email ELSE number END FROM temp.people"
                  " ORDER BY name, number",
                  "");
    int count = 0;

    put(problem, size, "several people match '%s': ", text);
    while (store_row(store, rows))
        if (same_name(store_text(rows, 1), text)) {
            *person = sqlite3_column_int64(rows, 0);
            add_candidate(problem, size, rows, count++);
        }
    return count;
}

static bool find(Store *store, const char *text, int64_t *person, char *problem, size_t size)
{
    int count = 0;

    *person = 0;
    for (size_t i = 0; i < sizeof ways / sizeof *ways && !count; i++)
        count = found_by(store, ways[i], text, person, problem, size);
    if (!count)
        count = found_by_name(store, text, person, problem, size);
    if (!count)
        put(problem, size, "no person '%s' in this gradebook (number, e-mail, alias or name)",
            text);
    return count == 1;
}

bool people_find(Store *store, const char *text, int64_t *person, char *problem, size_t size)
{
    people_match(store);
    return find(store, text, person, problem, size);
}

bool people_find_ever(Store *store, const char *text, int64_t *person, char *problem, size_t size)
{
    people_match_ever(store);
    return find(store, text, person, problem, size);
}
