/* decisions.c - what people decided about a person's lab: marks, an extension, an excuse. */
#include "gradebook/store/decisions.h"
#include "base/course_syntax.h"
#include "base/number.h"

#include <string.h>

static void insert(Store *store, const Decision *d, const char *kind, int64_t undoes)
{
    store_do(store,
             "INSERT INTO decisions (at, author, person, student, lab, kind, value, note, kernel,"
             "  undoes) SELECT strftime('%Y-%m-%dT%H:%M:%SZ', 'now'), ?1,"
             "  (SELECT key FROM temp.people WHERE id = ?2),"
             "  (SELECT min(student) FROM temp.person_of WHERE person = ?2), ?3, ?4, ?5, ?6,"
             "  (SELECT kernel FROM temp.handed_in WHERE person = ?2 AND lab = ?3), nullif(?7, 0)",
             "titttti", d->author, d->person, d->lab, kind, d->value, d->note, undoes);
}

void decisions_add(Store *store, const Decision *decision)
{
    insert(store, decision, decision->kind, 0);
}

bool decisions_undo(Store *store, const Decision *decision)
{
    int64_t latest;

    decisions_find(store);
    latest = store_number(store, 0,
                          "SELECT decision FROM temp.decided"
                          " WHERE person = ? AND lab = ? AND kind = ?",
                          "itt", decision->person, decision->lab, decision->kind);
    if (latest)
        insert(store, decision, "undo", latest);
    return latest;
}

void decisions_find(Store *store)
{
    store_scratch(store);
    store_do(store,
             "CREATE TEMP TABLE IF NOT EXISTS decided (person INTEGER, lab TEXT, kind TEXT,"
             " decision INTEGER, PRIMARY KEY (person, lab, kind)) WITHOUT ROWID",
             "");
    store_do(store, "DELETE FROM temp.decided", "");
    store_do(store,
             "INSERT INTO temp.decided SELECT person, lab, kind, max(id) FROM (SELECT coalesce("
             "   (SELECT k.person FROM temp.person_keys k WHERE k.key = d.person),"
             "   (SELECT o.person FROM temp.person_of o WHERE o.student = d.student)) AS person,"
             "  d.lab AS lab, d.kind AS kind, d.id AS id FROM decisions d WHERE d.kind <> 'undo'"
             "  AND d.id NOT IN (SELECT undoes FROM decisions WHERE undoes IS NOT NULL))"
             " WHERE person IS NOT NULL GROUP BY person, lab, kind",
             "");
    store_scratch_end(store);
}

bool decision_marks(const char *value, Decided *decided, double *marks)
{
    *marks = 0;
    *decided = !strcmp(value, "pass") ? DECIDED_PASS : DECIDED_MARKS;
    return *decided == DECIDED_PASS || !strcmp(value, "zero") ||
           (take_number(value, marks) && *marks <= 100);
}

bool decision_extension(const char *value, double *by_s, int64_t *until)
{
    *until = 0;
    if (take_span(value, by_s))
        return *by_s > 0;
    *by_s = 0;
    return take_time(value, until);
}
