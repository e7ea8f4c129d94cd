/* import_losses.c - finds the students and labs that an import would make missing. */
#include "gradebook/store/import_losses.h"
#include "gradebook/store/people.h"
#include "base/util.h"

#include <stdio.h>
#include <string.h>

void losses_begin(Store *store)
{
    static const char *const steps[] = {
        "CREATE TEMP TABLE IF NOT EXISTS had (person INTEGER, lab TEXT, key TEXT, name TEXT,"
        " status TEXT, kernel INTEGER)",
        "CREATE TEMP TABLE IF NOT EXISTS had_row (person INTEGER, student INTEGER)",
        "DELETE FROM temp.had",
        "DELETE FROM temp.had_row",
        "INSERT INTO temp.had SELECT h.person, h.lab, p.key, p.name, p.status, h.kernel"
        " FROM temp.handed_in h JOIN temp.people p ON p.id = h.person",
        "INSERT INTO temp.had_row SELECT person, student FROM temp.person_of",
    };

    people_match(store);
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        store_do(store, steps[i], "");
}

/* Who still has a submission: found by a row of the same person, his key, or his name, since
 * another layout of the same class has other rows. */
#define STILL                                                                                      \
    "SELECT h.person, h.lab FROM temp.had h JOIN temp.had_row r ON r.person = h.person"            \
    "  JOIN temp.person_of o ON o.student = r.student"                                             \
    "  JOIN temp.handed_in n ON n.person = o.person AND n.lab = h.lab"                             \
    " UNION SELECT h.person, h.lab FROM temp.had h JOIN temp.people p ON p.key = h.key"            \
    "  JOIN temp.handed_in n ON n.person = p.id AND n.lab = h.lab"                                 \
    " UNION SELECT h.person, h.lab FROM temp.had h JOIN temp.people p ON p.name = h.name"          \
    "  JOIN temp.handed_in n ON n.person = p.id AND n.lab = h.lab"

static void print_lab(Store *store, const char *lab, int lost, FILE *to)
{
    enum { SHOWN = 6 };
    sqlite3_stmt *rows = store_ask(store,
                                   "SELECT name || CASE status WHEN 'active' THEN '' ELSE ', ' ||"
                                   " status END FROM temp.lost WHERE lab = ? ORDER BY name",
                                   "t", lab);
    int count = 0,
        of = (int) store_number(store, 0, "SELECT count(*) FROM temp.had WHERE lab = ?", "t", lab);

    fprintf(to, "lab %.*s: %d of %d student%s would become missing (", (int) strcspn(lab, "_"), lab,
            lost, of, of == 1 ? "" : "s");
    while (store_row(store, rows))
        if (count++ < SHOWN)
            fprintf(to, "%s%s", count > 1 ? "; " : "", store_text(rows, 0));
    fprintf(to, "%s)\n", count > SHOWN ? "; ..." : "");
}

char *losses_since(Store *store)
{
    sqlite3_stmt *labs;
    char *text;
    FILE *to;

    people_match(store);
    store_do(store,
             "CREATE TEMP TABLE IF NOT EXISTS lost (person INTEGER, lab TEXT, name TEXT,"
             " status TEXT)",
             "");
    store_do(store, "DELETE FROM temp.lost", "");
    store_do(store,
             "INSERT INTO temp.lost SELECT person, lab, name, status FROM temp.had"
             " WHERE (person, lab) NOT IN (" STILL ")",
             "");
    if (!store_number(store, 0, "SELECT count(*) FROM temp.lost", ""))
        return NULL;
    to = text_open(&text, &(size_t){ 0 });
    labs = store_ask(store, "SELECT lab, count(*) FROM temp.lost GROUP BY lab ORDER BY lab", "");
    while (store_row(store, labs))
        print_lab(store, store_text(labs, 0), sqlite3_column_int(labs, 1), to);
    text_close(to);
    return text;
}

int losses_changed(Store *store)
{
    people_match(store);
    return (int) store_number(store, 0,
                              "SELECT count(*) FROM temp.handed_in n JOIN temp.people p"
                              "  ON p.id = n.person JOIN temp.had h ON h.key = p.key"
                              "  AND h.lab = n.lab WHERE h.kernel <> n.kernel",
                              "");
}
