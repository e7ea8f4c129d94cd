/* overview.c - prints the gradebook on a terminal. */
#include "gradebook/report/overview.h"
#include "gradebook/store/queue.h"
#include "gradebook/report/results_table.h"
#include "gradebook/report/publish.h"
#include "gradebook/report/summary.h"
#include "gradebook/report/waiting.h"
#include "base/util.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Status ---- */

static void print_counts(Store *store)
{
    QueueCounts counts;

    queue_count(store, &counts);
    printf("%d student%s, %d kernel%s submitted (%d different), %d unreadable, %d missing.\n",
           counts.students, counts.students == 1 ? "" : "s", counts.parts,
           counts.parts == 1 ? "" : "s", counts.kernels, counts.unreadable, counts.missing);
    printf("%d graded, %d left, %d not graded because the machine failed.\n\n", counts.graded,
           counts.open, counts.given_up);
}

static bool is_everything(const Filter *filter)
{
    return filter_is_everyone(filter) && !filter->labs;
}

void overview_status(Store *store, const Filter *filter)
{
    ResultsTable results;

    if (is_everything(filter))
        print_counts(store);
    results_read(store, filter, &results);
    printf("%-20s %9s %9s %9s\n", "lab", "submitted", "graded", "left");
    for (int lab = 0; lab < results.lab_count; lab++) {
        int submitted = 0, graded = 0, left = 0;
        for (int i = 0; i < results.count; i++) {
            const Row *row = &results.students[i].labs[lab];
            submitted += row->kernel != 0;
            graded += row->graded;
            left += !strcmp(row->state, "queued");
        }
        printf("%-20s %9d %9d %9d\n", results.labs[lab], submitted, graded, left);
    }
    results_free(&results);
}

/* ---- Report ---- */

/* What people decided, and when they should look again. */
static void print_decisions(const Row *row)
{
    if (*row->extended)
        printf("  extended: %s (%s)", row->extended, row->extended_note);
    if (row->excused)
        printf("  excused (%s)", row->excused_note);
    if (row->late_days)
        printf("  late days: %d", (int) row->late_days);
    if (*row->decided)
        printf("  decided: %s, by %s (%s)%s", row->decided, row->decided_by, row->decided_note,
               row->decided_before ? ", before the latest hand-in: look again" : "");
}

static void print_student(const Row *row, int late_days)
{
    printf("%s%s%s%s", row->name, *row->number ? " (" : "", row->number, *row->number ? ")" : "");
    if (late_days)
        printf("  %d of %d late days used", (int) row->late_days_used, late_days);
    printf("\n");
}

static void print_details(const ResultsTable *results, int late_days)
{
    for (int i = 0; i < results->row_count; i++) {
        const Row *row = &results->rows[i];
        if (i % results->lab_count == 0)
            print_student(row, late_days);
        printf("  %-20s %-10s", row->lab, row->state);
        if (row->has_marks)
            printf(" %5.1f marks", row->marks);
        if (row->has_ratio)
            printf("  %.3f of the reference", row->ratio);
        if (row->quiz_asked)
            printf("  quiz %d of %d", row->quiz_right, row->quiz_asked);
        if (row->is_late)
            printf("  late");
        if (row->same > 0)
            printf("  same kernel as %d other%s", (int) row->same, row->same > 1 ? "s" : "");
        if (*row->flag)
            printf("  flag: %.*s", (int) strcspn(row->flag, "\n"), row->flag);
        print_decisions(row);
        printf("\n");
    }
}

#define LATEST_SEEN                                                                                \
    " FROM seen JOIN submissions s ON s.id = seen.submission"                                      \
    " JOIN temp.person_of o ON o.student = s.student JOIN temp.people st ON st.id = o.person"
#define OF_LATEST " seen.import IN (SELECT import FROM counting)"

/* What a human should check, most important first. Columns: who, what, a sentence. */
static const struct {
    const char *head, *sql;
} lists[] = {
    { "Not graded, because the machine failed (gradebook regrade tries again):",
      "SELECT st.name, c.lab, (SELECT a.outcome || ': ' || a.why FROM attempts a"
      "  WHERE a.kernel = c.kernel ORDER BY a.id DESC LIMIT 1)"
      " FROM temp.handed_in c JOIN temp.people st ON st.id = c.person JOIN progress p ON p.kernel "
      "= "
      "c.kernel"
      " WHERE " SQL_GIVEN_UP " ORDER BY st.name, c.lab" },
    { "To be checked by a human:",
      "SELECT st.name, c.lab, v.verdict || CASE v.flag WHEN '' THEN '' ELSE ', flag: ' ||"
      " replace(v.flag, char(10), ' ') END || CASE v.why WHEN '' THEN '' ELSE ': ' || v.why END"
      " FROM temp.handed_in c JOIN temp.people st ON st.id = c.person JOIN progress p ON p.kernel "
      "= "
      "c.kernel"
      " JOIN verdicts v ON v.attempt = p.latest"
      " WHERE (v.verdict = 'suspect' OR v.flag <> '') AND NOT EXISTS (SELECT 1 FROM temp.decided r"
      "  WHERE r.person = c.person AND r.lab = c.lab AND r.kind IN ('marks', 'excuse'))"
      " ORDER BY st.name, c.lab" },
    { "Graded with --quick, so the result is rough (gradebook grade without --quick grades again):",
      "SELECT st.name, c.lab, v.verdict FROM temp.handed_in c JOIN temp.people st"
      "  ON st.id = c.person JOIN progress p ON p.kernel = c.kernel"
      " JOIN verdicts v ON v.attempt = p.latest WHERE v.protocol = 'quick' ORDER BY st.name, "
      "c.lab" },
    { "Decided before the latest hand-in (look again):",
      "SELECT st.name, d.lab, d.value || ', by ' || d.author || ': ' || d.note"
      " FROM temp.decided r JOIN decisions d ON d.id = r.decision"
      " JOIN temp.people st ON st.id = r.person"
      " JOIN temp.handed_in c ON c.person = r.person AND c.lab = r.lab"
      " WHERE r.kind = 'marks' AND d.kernel IS NOT c.kernel ORDER BY st.name, d.lab" },
    { "Words in kernels that no lab needs (whatever the verdict):",
      "SELECT st.name, r.entry, r.sentence" LATEST_SEEN " JOIN remarks r ON r.submission = s.id"
      " WHERE" OF_LATEST " AND r.kind = 'suspicious' GROUP BY r.id ORDER BY seen.place, r.id" },
    { "Refused:", "SELECT st.name, s.source || CASE r.entry WHEN '' THEN '' ELSE ', ' || r.entry"
                  " END, r.sentence" LATEST_SEEN " JOIN remarks r ON r.submission = s.id"
                  " WHERE" OF_LATEST " AND r.kind IN ('refused', 'ambiguous')"
                  " GROUP BY r.id ORDER BY seen.place, r.id" },
    { "Something submitted, but no kernel could be read (ask the student):",
      "SELECT p.name, u.lab, coalesce((SELECT r.sentence FROM seen JOIN submissions s ON s.id ="
      "  seen.submission JOIN remarks r ON r.submission = s.id JOIN temp.person_of o"
      "  ON o.student = s.student WHERE o.person = u.person AND seen.import IN (SELECT import FROM"
      "  counting) AND r.kind IN ('refused', 'ambiguous') LIMIT 1),"
      "  'no file has the name of a kernel')"
      " FROM temp.unreadable u JOIN temp.people p ON p.id = u.person ORDER BY p.name, u.lab" },
    { "Nearly right names of files, which were taken:",
      "SELECT st.name, r.entry, r.sentence" LATEST_SEEN " JOIN remarks r ON r.submission = s.id"
      " WHERE" OF_LATEST " AND r.kind = 'matched' GROUP BY r.id ORDER BY seen.place, r.id" },
    { "On the roster, but nothing submitted:",
      "SELECT name, section, 'all labs are missing' FROM temp.people WHERE state = 'absent'"
      " AND status <> 'withdrawn' ORDER BY section, name, number" },
    { "Submitted, but not on the roster (gradebook match tells who it is):",
      "SELECT name, number, 'no id, e-mail address, alias or name on the roster matches'"
      " FROM temp.people WHERE state = 'unknown' ORDER BY name, number" },
    { "Not clear who this is, so kept apart (gradebook match lists candidates):",
      "SELECT name, number, CASE WHEN id > 0 THEN 'submitted; somebody else has the same name'"
      "  ELSE 'on the roster; may be one of the students above' END"
      " FROM temp.people WHERE state = 'unclear' ORDER BY id < 0, name, number" },
    { "Files without an owner:", "SELECT r.entry, '', r.sentence FROM remarks r"
                                 " WHERE r.import IN (SELECT import FROM counting) ORDER BY r.id" },
    { "Submitted again (for each lab the latest counts):",
      "SELECT st.name, s.source, 'an earlier submission'" LATEST_SEEN " WHERE" OF_LATEST
      " AND s.refused = 0 AND EXISTS (SELECT 1 FROM parts p WHERE p.submission = s.id)"
      " AND NOT EXISTS (SELECT 1 FROM temp.handed_in c WHERE c.submission = s.id) ORDER BY "
      "seen.place" },
    { "Changed or added files other than kernels (the workbook's were used):",
      "SELECT st.name, r.entry, r.sentence" LATEST_SEEN " JOIN remarks r ON r.submission = s.id"
      " WHERE" OF_LATEST
      " AND r.kind IN ('changed', 'extra', 'note') GROUP BY r.id ORDER BY seen.place, r.id" },
};

/* True if the filter takes an entry about this student and lab. */
static bool is_wanted(const Filter *filter, const ResultsTable *results, const char *who,
                      const char *what)
{
    if (is_everything(filter))
        return true;
    if (lab_index(what) >= 0 && !filter_takes_lab(filter, what))
        return false;
    for (int i = 0; i < results->count; i++)
        if (!strcmp(results->students[i].name, who))
            return true;
    return false;
}

void overview_each(Store *store, const Filter *filter, const ResultsTable *results,
                   const Listener *listener)
{
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        sqlite3_stmt *rows = store_ask(store, lists[i].sql, "");
        bool begun = false;
        while (store_row(store, rows)) {
            if (!is_wanted(filter, results, store_text(rows, 0), store_text(rows, 1)))
                continue;
            if (!begun)
                listener->head(listener->context, lists[i].head);
            begun = true;
            listener->entry(listener->context, store_text(rows, 0), store_text(rows, 1),
                            store_text(rows, 2));
        }
    }
}

/* ---- The lists on a terminal ---- */

enum { LIST_ENTRIES = 20 }; /* of a list, unless all are wanted */

typedef struct Printing {
    bool all;
    const char *head; /* not printed yet; else NULL */
    int printed;      /* entries of the list */
} Printing;

static void end_printed(Printing *printing)
{
    if (!printing->all && printing->printed > LIST_ENTRIES)
        printf("  and %d more (--verbose lists all)\n", printing->printed - LIST_ENTRIES);
    printing->printed = 0;
}

static void print_head(void *context, const char *head)
{
    Printing *printing = context;

    end_printed(printing);
    printing->head = head;
}

static void print_entry(void *context, const char *who, const char *what, const char *sentence)
{
    Printing *printing = context;

    if (printing->head)
        printf("\n%s\n", printing->head);
    printing->head = NULL;
    if (printing->all || printing->printed < LIST_ENTRIES)
        printf("  %s%s%s: %.*s\n", who, *what ? ", " : "", what, (int) strcspn(sentence, "\n"),
               sentence);
    printing->printed++;
}

static void print_published(Store *store, const ResultsTable *results)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *to = text_open(&text, &bytes);
    int lines = publish_print_changes(store, results, true, to);

    text_close(to);
    if (lines)
        printf("\nNot as published (gradebook publish publishes it):\n%s", text);
    free(text);
}

/* Lateness needs a time, which Moodle's and Canvas's exports lack. */
static void print_untimed(const Store *store, const ResultsTable *results)
{
    int count = 0;

    for (int i = 0; i < results->row_count; i++) {
        const Row *row = &results->rows[i];
        int lab = lab_index(row->lab);
        count += row->kernel && !row->first_sent && lab >= 0 && lab < COURSE_LABS &&
                 store->course.lab[lab].policy.has_deadline;
    }
    if (count)
        printf(
            "\n%d result%s no time of submission, so no marks are deducted for lateness. To take "
            "the\nfiles' times: times = files in the course file.\n",
            count, count == 1 ? " has" : "s have");
}

static void print_waiting(const ResultsTable *results)
{
    int count = 0;

    for (int i = 0; i < results->row_count; i++)
        count += waiting_reason(&results->rows[i]) != NULL;
    if (count)
        printf("\n%d result%s for a decision: gradebook waiting shows the evidence.\n", count,
               count == 1 ? " waits" : "s wait");
}

bool overview_report(Store *store, const Filter *filter, bool verbose)
{
    ResultsTable results;
    Printing printing = { verbose || filter->person, NULL, 0 };
    const Listener listener = { &printing, print_head, print_entry };
    bool any;

    results_read(store, filter, &results);
    any = results.count > 0;
    if (printing.all)
        print_details(&results, store->course.late_days);
    else if (any)
        summary_print(&results);
    if (any)
        print_published(store, &results);
    if (any || is_everything(filter))
        overview_each(store, filter, &results, &listener);
    end_printed(&printing);
    print_untimed(store, &results);
    print_waiting(&results);
    results_free(&results);
    return any || is_everything(filter);
}
