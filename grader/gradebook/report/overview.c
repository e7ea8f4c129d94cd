/* overview.c - prints the gradebook on a terminal. */
#include "gradebook/report/overview.h"
#include "gradebook/store/queue.h"
#include "gradebook/report/results_query.h"
#include "base/util.h"

#include <stdio.h>
#include <string.h>

/* ---- Status ---- */

void overview_status(Store *store)
{
    QueueCounts counts;
    sqlite3_stmt *labs;

    queue_count(store, &counts);
    printf("%d students, %d kernels submitted (%d different), %d missing.\n", counts.students,
           counts.parts, counts.kernels, counts.missing);
    printf("%d graded, %d left, %d not graded because the machine failed.\n\n", counts.graded,
           counts.open, counts.given_up);
    labs = store_ask(
        store,
        "SELECT a.lab, (SELECT count(*) FROM counted c WHERE c.lab = a.lab),"
        " (SELECT count(*) FROM progress p WHERE p.kernel IN (SELECT kernel FROM counted c"
        "  WHERE c.lab = a.lab) AND p.graded > 0),"
        " (SELECT count(*) FROM progress p WHERE p.kernel IN (SELECT kernel FROM counted c"
        "  WHERE c.lab = a.lab) AND " SQL_OPEN ")"
        " FROM (SELECT DISTINCT lab FROM asked) a ORDER BY a.lab",
        "");
    printf("%-20s %9s %9s %9s\n", "lab", "submitted", "graded", "left");
    while (store_row(store, labs))
        printf("%-20s %9d %9d %9d\n", store_text(labs, 0), sqlite3_column_int(labs, 1),
               sqlite3_column_int(labs, 2), sqlite3_column_int(labs, 3));
}

/* ---- Report ---- */

static void print_table(Store *store)
{
    sqlite3_stmt *rows = rows_ask(store);
    int64_t student = 0;
    Row row;

    while (rows_next(store, rows, &row)) {
        if (row.student != student)
            printf("%s%s%s%s\n", row.name, *row.number ? " (" : "", row.number,
                   *row.number ? ")" : "");
        student = row.student;
        printf("  %-20s %-10s", row.lab, row.state);
        if (row.has_marks)
            printf(" %5.1f marks", row.marks);
        if (row.has_ratio)
            printf("  %.3f of the reference", row.ratio);
        if (row.quiz_asked)
            printf("  quiz %d of %d", row.quiz_right, row.quiz_asked);
        if (row.late)
            printf("  late");
        if (row.same > 0)
            printf("  same kernel as %d other%s", (int) row.same, row.same > 1 ? "s" : "");
        if (*row.flag)
            printf("  flag: %.*s", (int) strcspn(row.flag, "\n"), row.flag);
        printf("\n");
    }
}

#define LATEST_SEEN                                                                                \
    " FROM seen JOIN submissions s ON s.id = seen.submission"                                      \
    " JOIN students st ON st.id = s.student"
#define OF_LATEST " seen.import IN (SELECT import FROM counting)"

/* What a human should check, most important first. Columns: who, what, a sentence. */
static const struct {
    const char *head, *sql;
} lists[] = {
    { "Not graded, because the machine failed (gradebook regrade tries again):",
      "SELECT st.name, c.lab, (SELECT a.outcome || ': ' || a.why FROM attempts a"
      "  WHERE a.kernel = c.kernel ORDER BY a.id DESC LIMIT 1)"
      " FROM counted c JOIN students st ON st.id = c.student JOIN progress p ON p.kernel = c.kernel"
      " WHERE " SQL_GIVEN_UP " ORDER BY st.name, c.lab" },
    { "To be checked by a human:",
      "SELECT st.name, c.lab, v.verdict || CASE v.flag WHEN '' THEN '' ELSE ', flag: ' ||"
      " replace(v.flag, char(10), ' ') END || CASE v.why WHEN '' THEN '' ELSE ': ' || v.why END"
      " FROM counted c JOIN students st ON st.id = c.student JOIN progress p ON p.kernel = c.kernel"
      " JOIN verdicts v ON v.attempt = p.latest"
      " WHERE v.verdict = 'suspect' OR v.flag <> '' ORDER BY st.name, c.lab" },
    { "Words in kernels that no lab needs (whatever the verdict):",
      "SELECT st.name, r.entry, r.sentence" LATEST_SEEN " JOIN remarks r ON r.submission = s.id"
      " WHERE" OF_LATEST " AND r.kind = 'suspicious' ORDER BY seen.place, r.id" },
    { "Refused:", "SELECT st.name, s.source || CASE r.entry WHEN '' THEN '' ELSE ', ' || r.entry"
                  " END, r.sentence" LATEST_SEEN " JOIN remarks r ON r.submission = s.id"
                  " WHERE" OF_LATEST " AND r.kind IN ('refused', 'ambiguous')"
                  " ORDER BY seen.place, r.id" },
    { "On the roster, but nothing submitted:",
      "SELECT CASE m.name WHEN '' THEN m.number ELSE m.name END, m.section, 'all labs are missing'"
      " FROM temp.enlisted e JOIN members m ON m.id = e.member WHERE e.student IS NULL"
      " AND NOT e.unclear ORDER BY m.section, m.name, m.number" },
    { "Submitted, but not on the roster:",
      "SELECT st.name, st.number, 'no id or name on the roster matches'"
      " FROM temp.enlisted e JOIN students st ON st.id = e.student"
      " WHERE e.member IS NULL AND NOT e.unclear ORDER BY st.name, st.number" },
    { "Ambiguous match with the roster (use ids to resolve it):",
      "SELECT st.name, st.number, 'submitted; several people on the roster match, or several "
      "students match one' FROM temp.enlisted e JOIN students st ON st.id = e.student"
      " WHERE e.member IS NULL AND e.unclear"
      " UNION ALL SELECT m.name, m.number, 'on the roster; may be one of the students above'"
      " FROM temp.enlisted e JOIN members m ON m.id = e.member"
      " WHERE e.student IS NULL AND e.unclear" },
    { "Files without an owner:", "SELECT r.entry, '', r.sentence FROM remarks r"
                                 " WHERE r.import IN (SELECT import FROM counting) ORDER BY r.id" },
    { "Submitted again (for each lab the latest counts):",
      "SELECT st.name, s.source, 'an earlier submission'" LATEST_SEEN " WHERE" OF_LATEST
      " AND s.refused = 0 AND EXISTS (SELECT 1 FROM parts p WHERE p.submission = s.id)"
      " AND NOT EXISTS (SELECT 1 FROM counted c WHERE c.submission = s.id) ORDER BY seen.place" },
    { "Changed or added files other than kernels (the workbook's were used):",
      "SELECT st.name, r.entry, r.sentence" LATEST_SEEN " JOIN remarks r ON r.submission = s.id"
      " WHERE" OF_LATEST " AND r.kind IN ('changed', 'extra', 'note') ORDER BY seen.place, r.id" },
};

void overview_each(Store *store, const Listener *listener)
{
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        sqlite3_stmt *rows = store_ask(store, lists[i].sql, "");
        bool begun = false;
        while (store_row(store, rows)) {
            if (!begun)
                listener->head(listener->context, lists[i].head);
            begun = true;
            listener->entry(listener->context, store_text(rows, 0), store_text(rows, 1),
                            store_text(rows, 2));
        }
    }
}

static void print_head(void *context, const char *head)
{
    (void) context;
    printf("\n%s\n", head);
}

static void print_entry(void *context, const char *who, const char *what, const char *sentence)
{
    (void) context;
    printf("  %s%s%s: %.*s\n", who, *what ? ", " : "", what, (int) strcspn(sentence, "\n"),
           sentence);
}

void overview_report(Store *store)
{
    const Listener listener = { NULL, print_head, print_entry };

    print_table(store);
    overview_each(store, &listener);
}
