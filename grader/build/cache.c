/* cache.c - finished builds, each in a folder named after a hash of its inputs.
 *
 * An entry contains kernel.cu and key, which are compared byte for byte with the recipe, because
 * an equal hash is not enough; kernel.so, the result; and sum, the length and hash of kernel.so,
 * so that a file left half written by a crash or a full disk is not used. Entries are created and
 * removed by renaming whole folders. The modification time is the time of the last use.
 */
#include "build/cache.h"
#include "base/util.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    OBJECT_BYTES = 64 << 20,
    STALE_S = 3600, /* no build takes that long, so the folder was left by a killed one */
};

void cache_name(const char *cache, const Recipe *recipe, char *entry, size_t size)
{
    uint64_t hash = hash_bytes(HASH_START, recipe->source, recipe->source_bytes);

    hash = hash_bytes(hash, recipe->key, recipe->key_bytes);
    put(entry, size, "%s/%016llx", cache, (unsigned long long) hash);
}

static char *inside(const char *folder, const char *name, char *path)
{
    return put(path, PATH_MAX + 64, "%s/%s", folder, name);
}

/* No fsync: a file that a crash leaves half written does not match its sum. */
static bool write_inside(const char *folder, const char *name, const void *bytes, size_t size)
{
    char path[PATH_MAX + 64];
    FILE *file = fopen(inside(folder, name, path), "we");
    bool written = file && fwrite(bytes, 1, size, file) == size;

    return file && !fclose(file) && written;
}

static bool file_holds(const char *folder, const char *name, const char *bytes, size_t size)
{
    char path[PATH_MAX + 64];
    size_t length = 0;
    char *text = read_file(inside(folder, name, path), size, &length);
    bool same = text && length == size && !memcmp(text, bytes, size);

    free(text);
    return same;
}

/* The length and hash of kernel.so, in the format of the file `sum`. Returns false if it cannot be
 * read. */
static bool sum_object(const char *folder, char *sum, size_t size)
{
    char path[PATH_MAX + 64];
    size_t length = 0;
    char *object = read_file(inside(folder, "kernel.so", path), OBJECT_BYTES, &length);

    if (object)
        put(sum, size, "%zu %016llx\n", length,
            (unsigned long long) hash_bytes(HASH_START, object, length));
    free(object);
    return object && length;
}

bool cache_find(const char *entry, const Recipe *recipe)
{
    char sum[64];

    if (!file_holds(entry, "kernel.cu", recipe->source, recipe->source_bytes) ||
        !file_holds(entry, "key", recipe->key, recipe->key_bytes) ||
        !sum_object(entry, sum, sizeof sum) || !file_holds(entry, "sum", sum, strlen(sum)))
        return false;
    utimensat(AT_FDCWD, entry, NULL, 0); /* recently used, so build_trim keeps it */
    return true;
}

/* Moves an entry out of the way under a name that build_trim knows, then removes it. */
static void remove_entry(const char *cache, const char *entry)
{
    char aside[PATH_MAX + 64];

    PUT(aside, "%s/tmp-old-%016llx", cache, (unsigned long long) secret());
    if (rename(entry, aside) == 0)
        remove_tree(aside);
}

/* If the name exists, another process has made the same build, or the entry is damaged or (once in
 * 2^64) belongs to a different build, and is removed. */
static bool give_name(const char *cache, const char *folder, const char *entry,
                      const Recipe *recipe)
{
    for (int tries = 0; tries < 5; tries++) {
        if (rename(folder, entry) == 0)
            return true;
        if (errno != ENOTEMPTY && errno != EEXIST)
            return false;
        if (cache_find(entry, recipe))
            return true;
        remove_entry(cache, entry);
    }
    errno = EEXIST;
    return false;
}

bool cache_keep(const char *cache, const char *folder, const char *entry, const Recipe *recipe)
{
    char sum[64];

    return sum_object(folder, sum, sizeof sum) &&
           write_inside(folder, "key", recipe->key, recipe->key_bytes) &&
           write_inside(folder, "sum", sum, strlen(sum)) && give_name(cache, folder, entry, recipe);
}

/* ---- Removing old entries ---- */

typedef struct Entry {
    char name[17];
    time_t used;
} Entry;

static int oldest_first(const void *a, const void *b)
{
    const Entry *x = a, *y = b;

    return (x->used > y->used) - (x->used < y->used);
}

void build_trim(const char *cache, size_t entries)
{
    DIR *folder = opendir(cache);
    Entry *list = NULL;
    struct dirent *item;
    size_t count = 0;

    while (folder && (item = readdir(folder))) {
        char path[PATH_MAX + 300];
        const char *name = item->d_name;
        struct stat about;
        PUT(path, "%s/%s", cache, name);
        if (lstat(path, &about) || !S_ISDIR(about.st_mode))
            continue;
        if (!strncmp(name, "tmp-", 4) && about.st_mtime < time(NULL) - STALE_S)
            remove_tree(path);
        if (strlen(name) != 16 || strspn(name, "0123456789abcdef") != 16)
            continue;
        if (!(count & (count - 1))) { /* room for the next power of 2 */
            list = xrealloc(list, (count ? 2 * count : 1), sizeof *list);
        }
        PUT(list[count].name, "%s", name);
        list[count++].used = about.st_mtime;
    }
    if (folder)
        closedir(folder);
    if (count)
        qsort(list, count, sizeof *list, oldest_first);
    for (size_t i = 0; i + entries < count; i++) {
        char path[PATH_MAX + 300];
        remove_entry(cache, PUT(path, "%s/%s", cache, list[i].name));
    }
    free(list);
}
