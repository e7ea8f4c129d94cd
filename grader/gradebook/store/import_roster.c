/* import_roster.c - stores the course's roster. */
#include "gradebook/store/import_roster.h"
#include "gradebook/import/roster.h"
#include "base/util.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void keep(Store *store, const Roster *roster, const char *source)
{
    int64_t id;

    store_do(store, "BEGIN IMMEDIATE", "");
    store_do(store, "INSERT INTO rosters (at, source) VALUES (datetime('now'), ?)", "t", source);
    id = store_last(store);
    for (int i = 0; i < roster->count; i++)
        store_do(store,
                 "INSERT INTO members (roster, number, name, email, section, aliases, status)"
                 " VALUES (?, ?, ?, ?, ?, ?, ?)",
                 "itttttt", id, roster->list[i].number, roster->list[i].name, roster->list[i].email,
                 roster->list[i].section, roster->list[i].aliases, roster->list[i].status);
    store_do(store, "COMMIT", "");
}

bool import_roster(Store *store, const char *path, int *count, char **mistakes)
{
    Roster roster;
    char why[600];
    size_t size;
    char *text = read_file(path, ROSTER_BYTES, &size);
    bool ok;

    if (!text) {
        PUT(why, "%s: %s\n", path,
            errno == EFBIG ? "larger than 4 MiB: not a roster" : strerror(errno));
        *mistakes = xstrdup(why);
        return false;
    }
    ok = roster_read(text, size, path, &roster, mistakes);
    free(text);
    if (!ok)
        return false;
    *count = roster.count;
    keep(store, &roster, path);
    roster_free(&roster);
    return true;
}
