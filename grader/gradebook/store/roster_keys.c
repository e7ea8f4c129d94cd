/* roster_keys.c - finds members of a roster by id, e-mail address or alias. */
#include "gradebook/store/roster_keys.h"
#include "base/util.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static int by_text(const void *a, const void *b)
{
    return strcasecmp(((const Key *) a)->text, ((const Key *) b)->text);
}

static void add_key(Keys *keys, const char *text, KeyKind kind, int member)
{
    if (!*text)
        return;
    if (keys->count == keys->capacity) {
        keys->capacity = keys->capacity ? 2 * keys->capacity : 256;
        keys->list = xrealloc(keys->list, (size_t) keys->capacity, sizeof *keys->list);
    }
    keys->list[keys->count++] = (Key){ text, kind, member };
}

/* Cuts the aliases of all members in one buffer. */
static void add_aliases(Keys *keys, const Roster *roster)
{
    const size_t width = sizeof roster->list->aliases;

    keys->aliases = xcalloc((size_t) roster->count + 1, width);
    for (int m = 0; m < roster->count; m++) {
        char *copy = keys->aliases + (size_t) m * width, *rest = NULL;
        put(copy, width, "%s", roster->list[m].aliases);
        for (char *at = strtok_r(copy, "|", &rest); at; at = strtok_r(NULL, "|", &rest))
            add_key(keys, at, IS_ALIAS, m);
    }
}

void keys_open(Keys *keys, const Roster *roster)
{
    *keys = (Keys){ 0 };
    for (int m = 0; m < roster->count; m++) {
        add_key(keys, roster->list[m].number, IS_NUMBER, m);
        add_key(keys, roster->list[m].email, IS_EMAIL, m);
    }
    add_aliases(keys, roster);
    if (keys->count)
        qsort(keys->list, (size_t) keys->count, sizeof *keys->list, by_text);
}

void keys_close(Keys *keys)
{
    free(keys->list);
    free(keys->aliases);
}

int keys_find(const Keys *keys, int kinds, const char *text, int found)
{
    const Key wanted = { .text = text };
    int low = 0, high = keys->count;

    while (*text && low < high) {
        int middle = (low + high) / 2;
        if (by_text(&keys->list[middle], &wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (; *text && low < keys->count && !by_text(&keys->list[low], &wanted); low++)
        if (keys->list[low].kind & kinds)
            found = found == NO_MEMBER || found == keys->list[low].member ? keys->list[low].member
                                                                          : SEVERAL_MEMBERS;
    return found;
}
