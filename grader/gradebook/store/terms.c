/* terms.c - the current course file, and the terms of gradings that follow from it.
 *
 * The gradebook stores course files verbatim; marks are computed from the latest on demand. The
 * settings that change measurements are stored separately per lab, as a text (course.h). An attempt
 * records the text under which it was graded, and counts as long as its lab has the same text. Bars
 * are stored in a text of their own, since stored speeds can be judged again (judged.h).
 */
#include "gradebook/store/terms.h"
#include "base/util.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char *now(char text[32])
{
    time_t when = time(NULL);

    strftime(text, 32, "%Y-%m-%dT%H:%M:%SZ", gmtime(&when));
    return text;
}

/* The caller frees the text; NULL if there is none. */
static char *kept_course(Store *store)
{
    sqlite3_stmt *row = store_ask(store, "SELECT text FROM courses ORDER BY id DESC LIMIT 1", "");
    char *text = NULL;

    while (store_row(store, row))
        text = xstrdup(store_text(row, 0));
    return text;
}

bool terms_load(Store *store, const char *path, char **mistakes)
{
    char *kept;
    bool ok = true;

    *mistakes = NULL;
    free(store->course_text);
    store->course_text = NULL;
    if (path)
        return course_load(path, &store->course, &store->course_text, mistakes);
    if ((kept = kept_course(store)))
        ok = course_read(kept, "the stored course file", &store->course, mistakes);
    free(kept);
    return ok;
}

char *terms_text(Store *store)
{
    char *text = kept_course(store);

    return text ? text : xcalloc(1, 1);
}

static void keep_terms(Store *store, const LabEntry *entry)
{
    char *text = course_measured(&store->course, entry), *bars = course_bars(&store->course, entry);
    char at[32];

    if (!store_number(store, !*text && !*bars,
                      "SELECT text = ?2 AND bars = ?3 FROM current_terms WHERE lab = ?1", "ttt",
                      entry->folder, text, bars))
        store_do(store, "INSERT INTO terms (lab, text, at, bars) VALUES (?, ?, ?, ?)", "tttt",
                 entry->folder, text, now(at), bars);
    free(text);
    free(bars);
}

/* Writes the current course file next to the database, for rebuild.c. A Slurm task has its own. */
static void write_course(Store *store)
{
    char path[600], *text = kept_course(store), *there;
    size_t size = 0;

    PUT(path, "%s/" COURSE_COPY, store->folder);
    there = read_file(path, COURSE_BYTES, &size);
    if (text && !store->logs && !store->temporary && (!there || strcmp(text, there)) &&
        !write_file(path, text, strlen(text)))
        cannot_write(path);
    free(text);
    free(there);
}

void terms_keep(Store *store)
{
    char *kept = kept_course(store), at[32];

    store_do(store, "BEGIN IMMEDIATE", "");
    if (store->course_text && (!kept || strcmp(kept, store->course_text)))
        store_do(store, "INSERT INTO courses (at, text) VALUES (?, ?)", "tt", now(at),
                 store->course_text);
    for (int i = 0; i < COURSE_LABS && all_labs[i].folder; i++)
        keep_terms(store, &all_labs[i]);
    store_do(store, "COMMIT", "");
    write_course(store);
    free(kept);
}

char *terms_of(Store *store, const char *lab)
{
    sqlite3_stmt *rows = store_ask(store, "SELECT text FROM current_terms WHERE lab = ?", "t", lab);
    char *text = NULL;

    while (store_row(store, rows)) {
        free(text);
        text = xstrdup(store_text(rows, 0));
    }
    return text ? text : xcalloc(1, 1);
}
