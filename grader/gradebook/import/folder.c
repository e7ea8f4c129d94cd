/* folder.c - visits the files of a folder on disk. Follows no links and skips junk. */
#include "gradebook/import/source.h"
#include "base/util.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_FILES = 2000000, HASHED_BYTES = 1 << 20 };

typedef struct Walk {
    const Visitor *sink;
    int files;
} Walk;

static char *read_open(int fd, size_t size)
{
    char *bytes = xmalloc(size + 1);
    size_t used = 0;

    while (used < size) {
        ssize_t got = read(fd, bytes + used, size - used);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        used += (size_t) got;
    }
    if (used == size)
        return bytes;
    free(bytes);
    return NULL;
}

static void take_file(Walk *walk, int folder, const char *name, const char *path)
{
    const Visitor *sink = walk->sink;
    size_t wanted = sink->wants(sink->context, path);
    int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    struct stat about;
    SunkFile file = { 0 };
    char *bytes = NULL;

    if (fd < 0 || fstat(fd, &about) || !S_ISREG(about.st_mode)) {
        sink->refuse(sink->context, path, "it cannot be read");
    } else {
        file.changed = about.st_mtime;
        file.size = (size_t) about.st_size;
        if (file.size <= wanted || file.size <= HASHED_BYTES)
            bytes = read_open(fd, file.size);
        if (bytes)
            file.hash = hash_bytes(HASH_START, bytes, file.size);
        file.bytes = wanted && file.size <= wanted ? bytes : NULL;
        sink->file(sink->context, path, &file);
        free(bytes);
    }
    if (fd >= 0)
        close(fd);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *) a, *(char *const *) b);
}

/* The names in an open folder, sorted, so that every run sees the same order. */
static char **list_names(int fd, int *count, int most)
{
    DIR *folder = fdopendir(fd);
    char **names = NULL;
    int room = 0;
    struct dirent *item;

    *count = 0;
    while (folder && *count < most && (item = readdir(folder))) {
        if (!strcmp(item->d_name, ".") || !strcmp(item->d_name, ".."))
            continue;
        if (*count == room) {
            room = room ? 2 * room : 32;
            names = xrealloc(names, (size_t) room, sizeof *names);
        }
        names[(*count)++] = xstrdup(item->d_name);
    }
    if (folder)
        closedir(folder);
    else
        close(fd);
    if (*count)
        qsort(names, (size_t) *count, sizeof *names, by_name);
    return names;
}

static void folder_walk(Walk *walk, int fd, const char *above)
{
    int count, again = dup(fd);
    char **names = again < 0 ? NULL : list_names(again, &count, MOST_FILES);

    for (int i = 0; names && i < count; i++) {
        char path[2 * HANDIN_PATH], clean[HANDIN_PATH];
        const char *fault;
        struct stat about;
        PUT(path, "%s%s%s", above, *above ? "/" : "", names[i]);
        fault = path_clean(path, clean);
        if (!fault && path_is_junk(clean))
            ;
        else if (fault || ++walk->files > MOST_FILES)
            walk->sink->refuse(walk->sink->context, show(path),
                               fault ? fault : "there are too many files");
        else if (fstatat(fd, names[i], &about, AT_SYMLINK_NOFOLLOW))
            walk->sink->refuse(walk->sink->context, clean, "it cannot be read");
        else if (S_ISDIR(about.st_mode)) {
            int inside = openat(fd, names[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
            if (inside < 0)
                walk->sink->refuse(walk->sink->context, clean, "it cannot be read");
            else
                folder_walk(walk, inside, clean);
        } else if (S_ISREG(about.st_mode))
            take_file(walk, fd, names[i], clean);
        else
            walk->sink->refuse(walk->sink->context, clean,
                               S_ISLNK(about.st_mode) ? "it is a symbolic link"
                                                      : "it is neither a file nor a folder");
        free(names[i]);
    }
    free(names);
    close(fd);
}

bool walk(const char *folder, const Visitor *sink, char *why, size_t size)
{
    Walk walk = { sink, 0 };
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd < 0) {
        put(why, size, "%s: %s", folder, strerror(errno));
        return false;
    }
    folder_walk(&walk, fd, "");
    return true;
}
