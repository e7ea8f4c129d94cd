/* imports.c - the command that lists the imports, and takes one back. */
#include "gradebook/commands/command.h"
#include "gradebook/store/import_undo.h"
#include "gradebook/store/queue.h"
#include "base/number.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- Listing ---- */

static const char listing[] =
    "SELECT i.id, substr(replace(i.at, 'T', ' '), 1, 16) || 'Z',"
    "  coalesce((SELECT group_concat(substr(k.lab, 1, 2), ',') FROM asked k WHERE k.import = i.id),"
    "   '-'),"
    "  (SELECT count(DISTINCT s.student) FROM seen n JOIN submissions s ON s.id = n.submission"
    "   WHERE n.import = i.id),"
    "  CASE WHEN i.id IN (SELECT import FROM undone) THEN 'taken back'"
    "   WHEN i.id IN (SELECT import FROM counting) THEN 'counts' ELSE 'replaced' END,"
    "  i.source || CASE i.assignment WHEN '' THEN '' ELSE ' (' || i.assignment || ')' END,"
    "  coalesce((SELECT 'by ' || u.author || ': ' || u.note FROM import_undos u"
    "   WHERE u.import = i.id AND u.undone AND i.id IN (SELECT import FROM undone)"
    "   ORDER BY u.id DESC LIMIT 1), '')"
    " FROM imports i ORDER BY i.id";

static void list(Store *store)
{
    sqlite3_stmt *rows = store_ask(store, listing, "");

    printf("%6s  %-17s  %-8s  %8s  %-10s  %s\n", "import", "at (UTC)", "labs", "students", "state",
           "source (assignment)");
    while (store_row(store, rows))
        printf("%6lld  %-17s  %-8s  %8d  %-10s  %s%s%s\n",
               (long long) sqlite3_column_int64(rows, 0), store_text(rows, 1), store_text(rows, 2),
               sqlite3_column_int(rows, 3), store_text(rows, 4), store_text(rows, 5),
               *store_text(rows, 6) ? "; taken back " : "", store_text(rows, 6));
}

/* ---- Taking back ---- */

static int print_refusal(const char *losses)
{
    say(0, "nothing was changed, because students would lose a submission:");
    fprintf(stderr, "%sIf these students shall become missing: --replace.\n", losses);
    return COULD_NOT;
}

static void print_done(Store *store, const ImportUndo *request, const char *losses, int changed)
{
    QueueCounts counts;

    printf("Import %lld %s.\n", (long long) request->import,
           request->undone ? "was taken back" : "counts again");
    if (losses)
        printf("Became missing, as requested by --replace:\n%s", losses);
    printf("%d result%s now of another submission.\n", changed, changed == 1 ? " is" : "s are");
    queue_count(store, &counts);
    if (counts.open)
        printf("%d kernel%s not graded yet: the next gradebook grade does it.\n", counts.open,
               counts.open == 1 ? " is" : "s are");
}

static int undo(Store *store, const ImportUndo *request)
{
    ImportState state = import_state(store, request->import);
    char *losses = NULL;
    int changed, status = DONE;

    if (state == IMPORT_UNKNOWN)
        return say(USAGE, "there is no import %lld (gradebook imports lists them)",
                   (long long) request->import);
    if ((state == IMPORT_UNDONE) == request->undone)
        return say(USAGE, "import %lld %s", (long long) request->import,
                   request->undone ? "was taken back before" : "was not taken back");
    if (import_undo(store, request, &losses, &changed))
        print_done(store, request, losses, changed);
    else
        status = print_refusal(losses);
    free(losses);
    return status;
}

/* Sets *request from the options. Returns false after printing what is missing. */
static bool take_request(const Options *options, ImportUndo *request)
{
    uint64_t import;

    if (options->undo == options->redo)
        return say(0, "usage: gradebook imports IMPORT --undo|--redo --note \"...\" --out DIR");
    if (!parse_whole(options->words[0], 10, INT64_MAX, &import))
        return say(0, "'%s' is not the number of an import (gradebook imports lists them)",
                   options->words[0]);
    if (!options->note)
        return say(0, "missing --note: the reason is kept");
    *request = (ImportUndo){ .import = (int64_t) import,
                             .undone = options->undo,
                             .note = options->note,
                             .author = author_of(options),
                             .replace = options->replace };
    return true;
}

int command_imports(Options *options)
{
    const bool listing_only = !options->words[0];
    ImportUndo request;
    Store store;
    int status = DONE;

    if (listing_only && (options->undo || options->redo))
        return say(USAGE, "missing IMPORT, a number of the list: gradebook imports --out DIR");
    if (!listing_only && !take_request(options, &request))
        return USAGE;
    if (!store_open(&store, options->out, false)) /* it must already exist */
        status = say(COULD_NOT, "%s", store.problem);
    else if (listing_only)
        list(&store);
    else if (store_close(&store), !store_open(&store, options->out, true))
        status = say(COULD_NOT, "%s", store.problem);
    else
        status = undo(&store, &request);
    store_close(&store);
    return status;
}
