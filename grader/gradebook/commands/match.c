/* match.c - the command that lists whom the gradebook cannot identify, and takes the answer. */
#include "gradebook/commands/command.h"
#include "gradebook/import/names.h"
#include "gradebook/store/people.h"
#include "base/util.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How `match` names a row of `students`. */
#define SQL_LABEL "st.name || CASE st.number WHEN '' THEN '' ELSE '_' || st.number END"

/* ---- Listing ---- */

enum { CANDIDATES = 5 };

typedef struct Candidate {
    char what[300], name[200]; /* what: a number, or how match names him */
    bool same;
} Candidate;

/* True if two names have a word of at least 3 letters in common. */
static bool share_a_word(const PlainName *a, const PlainName *b)
{
    for (int i = 0; i < a->words; i++)
        for (int k = 0; k < b->words; k++) {
            size_t x = (i + 1 < a->words ? a->begins[i + 1] : a->length) - a->begins[i];
            size_t y = (k + 1 < b->words ? b->begins[k + 1] : b->length) - b->begins[k];
            if (x == y && x >= 3 && !memcmp(a->text + a->begins[i], b->text + b->begins[k], x))
                return true;
        }
    return false;
}

/* Other people of this name, then people with a word of it. */
static int find_candidates(Store *store, int64_t person, const char *name,
                           Candidate found[CANDIDATES])
{
    PlainName own, other;
    int count = 0;

    plain_name(name, &own);
    for (int same = 1; same >= 0; same--) {
        sqlite3_stmt *rows = store_ask(
            store,
            "SELECT CASE WHEN p.number <> '' THEN p.number WHEN p.email <> '' THEN p.email ELSE"
            "  coalesce((SELECT " SQL_LABEL " FROM students st WHERE st.id = p.id), p.name) END,"
            " p.name FROM temp.people p WHERE p.id <> ? ORDER BY p.member IS NULL, p.name, "
            "p.number, p.id",
            "i", person);
        while (store_row(store, rows)) {
            plain_name(store_text(rows, 1), &other);
            if (count == CANDIDATES || same_plain(&own, &other) != same ||
                (!same && !share_a_word(&own, &other)))
                continue;
            PUT(found[count].what, "%s", store_text(rows, 0));
            PUT(found[count].name, "%s", store_text(rows, 1));
            found[count++].same = same;
        }
    }
    return count;
}

static void print_open(Store *store, sqlite3_stmt *row)
{
    Candidate found[CANDIDATES];
    int count = find_candidates(store, sqlite3_column_int64(row, 0), store_text(row, 2), found);
    bool unclear = !strcmp(store_text(row, 3), "unclear");

    printf("%s: %s\n", store_text(row, 1),
           unclear ? "somebody else has the same name" : "not on the roster");
    for (int i = 0; i < count; i++)
        printf("    %s%s%s\n", found[i].what, strcmp(found[i].what, found[i].name) ? "  " : "",
               strcmp(found[i].what, found[i].name) ? found[i].name : "");
}

static int print_all_open(Store *store)
{
    sqlite3_stmt *rows =
        store_ask(store,
                  "SELECT p.id, " SQL_LABEL ", st.name, p.state FROM temp.people p"
                  " JOIN students st ON st.id = p.id WHERE p.state IN ('unclear', 'unknown')"
                  " ORDER BY p.state, st.name, st.number",
                  "");
    int count = 0;

    while (store_row(store, rows)) {
        print_open(store, rows);
        count++;
    }
    return count;
}

static void print_answers(Store *store)
{
    sqlite3_stmt *rows = store_ask(
        store,
        "SELECT " SQL_LABEL ", a.person, coalesce(p.name, ''), a.author, a.at FROM answers a"
        " JOIN students st ON st.id = a.student"
        " LEFT JOIN temp.person_keys k ON k.key = a.person LEFT JOIN temp.people p ON p.id ="
        " k.person WHERE a.person <> '' AND a.id = (SELECT max(o.id) FROM answers o"
        "  WHERE o.student = a.student) ORDER BY st.name, st.number",
        "");
    bool any = false;

    while (store_row(store, rows)) {
        printf("%s  %s: %s%s%s (%s, %s)\n", any ? "" : "\nAnswers so far:\n", store_text(rows, 0),
               store_text(rows, 1), *store_text(rows, 2) ? ", " : "", store_text(rows, 2),
               store_text(rows, 3), store_text(rows, 4));
        any = true;
    }
}

static int list(Store *store, const char *out)
{
    int count;

    people_match(store);
    count = print_all_open(store);
    if (count)
        printf("\n%d to answer, each with candidates. For example: gradebook match NAME_NUMBER "
               "20260001 --out %s\nA person of his own: --apart. To undo an answer: --undo.\n",
               count, out);
    else
        printf("Every student is identified.\n");
    print_answers(store);
    return DONE;
}

/* ---- Answering ---- */

enum { MOST_ROWS = 64 };

/* How a text may name rows of `students`, strongest first. */
static const char *const row_ways[] = {
    SQL_LABEL " = ?1",
    "st.number = ?1 AND ?1 <> ''",
    "st.name = ?1",
};

/* The rows that a text names, all of one person. Returns their number; 0 after printing an error.
 */
static int find_rows(Store *store, const char *text, int64_t ids[MOST_ROWS])
{
    char sql[400], labels[1000] = "";
    int count = 0, people = 0;

    for (size_t i = 0; i < sizeof row_ways / sizeof *row_ways && !count; i++) {
        sqlite3_stmt *rows = store_ask(
            store,
            PUT(sql,
                "SELECT st.id, " SQL_LABEL ", o.person FROM temp.person_of o JOIN students st"
                " ON st.id = o.student WHERE %s ORDER BY o.person, st.id",
                row_ways[i]),
            "t", text);
        int64_t last = 0;
        while (store_row(store, rows)) {
            people += sqlite3_column_int64(rows, 2) != last;
            last = sqlite3_column_int64(rows, 2);
            APPEND(labels, "%s'%s'", *labels ? ", " : "", store_text(rows, 1));
            if (count < MOST_ROWS)
                ids[count++] = sqlite3_column_int64(rows, 0);
        }
    }
    if (!count)
        say(0, "no student '%s' (NAME_NUMBER, number or name, as gradebook match lists them)",
            text);
    else if (people > 1)
        say(0, "'%s' names several students: %s", text, labels);
    return people == 1 ? count : 0;
}

/* The key that an answer stores. Returns false after printing an error. */
static bool find_key(Store *store, const Options *options, int64_t row, char *key, size_t size)
{
    char problem[1000];
    int64_t person;
    sqlite3_stmt *rows;

    put(key, size, "%s", options->apart ? "apart" : "");
    if (options->apart || options->undo)
        return true;
    if (!people_find(store, options->words[1], &person, problem, sizeof problem)) {
        say(0, "%s", problem);
        return false;
    }
    rows = store_ask(store,
                     "SELECT key FROM temp.people WHERE id = ?1 AND NOT (member IS NULL AND id ="
                     " (SELECT person FROM temp.person_of WHERE student = ?2))",
                     "ii", person, row);
    while (store_row(store, rows))
        put(key, size, "%s", store_text(rows, 0));
    if (!*key)
        say(0, "'%s' is the same student as '%s' already", options->words[1], options->words[0]);
    return *key;
}

static void print_person(Store *store, const char *who, int64_t row)
{
    sqlite3_stmt *rows;

    people_match(store);
    rows = store_ask(store,
                     "SELECT p.name, p.number, p.state FROM temp.people p JOIN temp.person_of o"
                     " ON o.person = p.id WHERE o.student = ?",
                     "i", row);
    while (store_row(store, rows))
        fprintf(stderr, "'%s' is now %s%s%s%s%s.\n", who, store_text(rows, 0),
                *store_text(rows, 1) ? " (" : "", store_text(rows, 1),
                *store_text(rows, 1) ? ")" : "",
                !strcmp(store_text(rows, 2), "unclear")   ? ", and unclear"
                : !strcmp(store_text(rows, 2), "unknown") ? ", not on the roster"
                                                          : "");
}

static int answer(Store *store, const Options *options)
{
    int64_t ids[MOST_ROWS];
    char key[400];
    int count;

    people_match(store);
    count = find_rows(store, options->words[0], ids);
    if (!count || !find_key(store, options, ids[0], key, sizeof key))
        return COULD_NOT;
    store_do(store, "BEGIN IMMEDIATE", "");
    for (int i = 0; i < count; i++)
        people_answer(store, ids[i], key, author_of(options));
    store_do(store, "COMMIT", "");
    print_person(store, options->words[0], ids[0]);
    return DONE;
}

int command_match(Options *options)
{
    const bool listing = !options->words[0];
    const int answers = (options->words[1] != NULL) + options->apart + options->undo;
    Store store;
    int status;

    if (listing ? answers : answers != 1)
        return say(USAGE,
                   "give a student and one answer: gradebook match STUDENT PERSON, or --apart, or "
                   "--undo");
    if (!store_open(&store, options->out, false)) /* it must already exist */
        status = say(COULD_NOT, "%s", store.problem);
    else if (listing)
        status = list(&store, options->out);
    else if (store_close(&store), !store_open(&store, options->out, true))
        status = say(COULD_NOT, "%s", store.problem);
    else
        status = answer(&store, options);
    store_close(&store);
    return status;
}
