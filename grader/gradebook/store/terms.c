/* terms.c - the current course file, and the terms of gradings that follow from it.
 *
 * The gradebook stores course files verbatim; marks are computed from the latest on demand. The
 * settings that change measurements are stored separately per lab, as a text (course.h). An attempt
 * records the text under which it was graded, and counts as long as its lab has the same text.
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
static char *text_of(Store *store, const char *sql, const char *lab)
{
    sqlite3_stmt *row = store_ask(store, sql, lab ? "t" : "", lab);
    char *text = NULL;

    while (store_row(store, row))
        if (!text)
            text = xstrdup(store_text(row, 0));
    return text;
}

static char *kept_course(Store *store)
{
    return text_of(store, "SELECT text FROM courses ORDER BY id DESC LIMIT 1", NULL);
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

char *terms_of(Store *store, const char *lab)
{
    char *text = text_of(store, "SELECT text FROM current_terms WHERE lab = ?", lab);

    return text ? text : xcalloc(1, 1);
}

static void keep_terms(Store *store, const LabEntry *entry)
{
    char *wanted = course_terms(&store->course, entry), *held = terms_of(store, entry->folder);
    char at[32];

    if (strcmp(wanted, held))
        store_do(store, "INSERT INTO terms (lab, text, at) VALUES (?, ?, ?)", "ttt", entry->folder,
                 wanted, now(at));
    free(wanted);
    free(held);
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
    free(kept);
}
