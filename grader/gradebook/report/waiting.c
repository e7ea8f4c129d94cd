/* waiting.c - prints what waits for a person's decision, each with the evidence and the command to
 * type. */
#include "gradebook/report/waiting.h"
#include "gradebook/report/results_table.h"
#include "gradebook/report/similarity.h"
#include "base/util.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *waiting_reason(const Row *row)
{
    if (row->excused)
        return NULL;
    if (row->decided_before)
        return "decided before the latest hand-in: look again";
    if (*row->decided)
        return NULL;
    if (!strcmp(row->state, "suspect"))
        return "the result is not trusted: check the kernel";
    if (!strcmp(row->state, "close") && row->earned.open)
        return "too close to the bar to decide";
    if (!strcmp(row->state, "not graded"))
        return "not graded, because the machine failed";
    if (!strcmp(row->state, "unreadable"))
        return "nothing readable was handed in: ask the student";
    if (!strcmp(row->state, "unsupported"))
        return "the simulated GPU does not support it: grade it on a real one, or decide";
    return NULL;
}

/* ---- What to type ---- */

/* A word of a shell command, in single quotes if it needs them. */
static const char *quoted(const char *word, char *text, size_t size)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-./@%+=:,";

    if (*word && strspn(word, plain) == strlen(word) && *word != '-')
        return put(text, size, "%s", word);
    put(text, size, "'");
    for (; *word; word++)
        append(text, size, *word == '\'' ? "'\\''" : "%c", *word);
    append(text, size, "'");
    return text;
}

static void print_command(const Row *row, const char *out)
{
    char who[700], folder[900];
    const char *name = *row->roster_id ? row->roster_id
                       : *row->number  ? row->number
                       : *row->email   ? row->email
                                       : row->name;

    quoted(name, who, sizeof who);
    quoted(out, folder, sizeof folder);
    if (!strcmp(row->state, "not graded"))
        printf("  type: gradebook regrade --student %s --lab %s --out %s\n", who, row->lab, folder);
    printf("  type: gradebook decide %s %s pass|zero|MARKS --note \"...\" --out %s\n", who,
           row->lab, folder);
}

/* ---- The evidence ---- */

/* Writes the kernel to FOLDER/LAB.KERNEL.cu. */
static bool write_kernel(Store *store, const Row *row, const char *to, char *path, size_t size)
{
    sqlite3_stmt *source =
        store_ask(store, "SELECT source FROM kernels WHERE id = ?", "i", row->kernel);
    bool written = false;

    put(path, size, "%s/%s.%lld.cu", to, row->lab, (long long) row->kernel);
    while (store_row(store, source))
        written = make_folders(to) && write_file(path, sqlite3_column_blob(source, 0),
                                                 (size_t) sqlite3_column_bytes(source, 0));
    if (!written)
        fprintf(stderr, "gradebook: cannot write %s: %s\n", path, strerror(errno));
    return written;
}

static bool print_source(Store *store, const Row *row, const char *to)
{
    char path[1100];

    if (!row->kernel)
        return true;
    printf("  submitted: %s, %s\n", row->source, row->path);
    if (!to)
        return true;
    if (!write_kernel(store, row, to, path, sizeof path))
        return false;
    printf("  source: %s\n", path);
    return true;
}

/* Prints the figures that explain a verdict: counters and speeds. */
static void print_figures(Store *store, const Row *row)
{
    sqlite3_stmt *rows =
        store_ask(store,
                  "SELECT name, value FROM figures WHERE attempt = ?"
                  " AND (name = 'printed' OR name GLOB 'saw*' OR name GLOB 'case.*.label'"
                  "  OR name GLOB 'case.*.ratio*' OR name GLOB 'case.*.gbps') ORDER BY name",
                  "i", row->attempt);

    while (row->attempt && store_row(store, rows))
        printf("  %s: %.*s\n", store_text(rows, 0), (int) strcspn(store_text(rows, 1), "\n"),
               store_text(rows, 1));
    if (!row->attempt)
        sqlite3_finalize(rows);
}

static void print_pairs(const ResultsTable *results, const Row *row, const Similarity *s,
                        const Likenesses *found)
{
    char names[1000];

    for (int i = 0; i < found->count; i++) {
        const Likeness *pair = &found->list[i];
        bool first = s->kernels[pair->a].kernel == row->kernel;
        if (!first && s->kernels[pair->b].kernel != row->kernel)
            continue;
        printf("  similar: %d %% to %s\n", pair->percent,
               similarity_names(results, row->lab, &s->kernels[first ? pair->b : pair->a], names,
                                sizeof names));
    }
}

static bool print_row(Store *store, const ResultsTable *results, const Row *row,
                      const Similarity *similar, const char *out, const char *to)
{
    bool fine;

    printf("\n%s%s%s%s, %s: %s: %s\n", row->name, *row->number ? " (" : "", row->number,
           *row->number ? ")" : "", row->lab, row->state, waiting_reason(row));
    if (*row->decided)
        printf("  decided: %s, by %s: %s\n", row->decided, row->decided_by, row->decided_note);
    if (*row->why)
        printf("  why: %.*s\n", (int) strcspn(row->why, "\n"), row->why);
    if (*row->flag)
        printf("  flags: %.*s\n", (int) strcspn(row->flag, "\n"), row->flag);
    fine = print_source(store, row, to);
    print_figures(store, row);
    if (row->kernel) { /* 0 is also the number of the ladder's files */
        print_pairs(results, row, similar, &similar->found.pairs);
        print_pairs(results, row, similar, &similar->found.fixed);
    }
    print_command(row, out);
    return fine;
}

/* Prints the results of one lab that wait. Kernels are compared only if one of them waits. */
static int print_lab(Store *store, const ResultsTable *results, int lab, const char *out,
                     const char *to, bool *fine)
{
    Similarity similar = { 0 };
    int count = 0;

    for (int i = 0; i < results->count; i++) {
        const Row *row = &results->students[i].labs[lab];
        if (!waiting_reason(row))
            continue;
        count++;
        if (row->kernel && !similar.kernels)
            similarity_find(store, row->lab, &similar);
        *fine &= print_row(store, results, row, &similar, out, to);
    }
    similarity_free(&similar);
    return count;
}

/* People whose rows may belong together: gradebook match asks. */
static int print_unclear(const ResultsTable *results, const char *out)
{
    int count = 0;
    char folder[900];

    for (int i = 0; i < results->count; i++) {
        const Row *row = results->students[i].labs;
        if (strcmp(row->roster, "unclear"))
            continue;
        printf("\n%s%s%s%s: it is not clear who this is\n", row->name, *row->number ? " (" : "",
               row->number, *row->number ? ")" : "");
        count++;
    }
    if (count)
        printf("  type: gradebook match --out %s\n", quoted(out, folder, sizeof folder));
    return count;
}

bool waiting_print(Store *store, const Filter *filter, const char *out, const char *to)
{
    ResultsTable results;
    bool fine = true;
    int count = 0;

    results_read(store, filter, &results);
    for (int lab = 0; lab < results.lab_count; lab++)
        count += print_lab(store, &results, lab, out, to, &fine);
    count += print_unclear(&results, out);
    printf("%s%d wait%s for a decision.\n", count ? "\n" : "", count, count == 1 ? "s" : "");
    results_free(&results);
    return fine;
}
