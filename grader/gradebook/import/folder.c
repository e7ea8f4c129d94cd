/* folder.c - visits the files of a folder on disk. Does not follow links; skips junk. */
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
    const Visitor *visitor;
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
    const Visitor *visitor = walk->visitor;
    size_t wanted = visitor->wants(visitor->context, path);
    int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    struct stat about;
    VisitedFile file = { 0 };
    char *bytes = NULL;

    if (fd < 0 || fstat(fd, &about) || !S_ISREG(about.st_mode)) {
        visitor->refuse(visitor->context, path, "it cannot be read");
    } else {
        file.changed = about.st_mtime;
        file.size = (size_t) about.st_size;
        if (file.size <= wanted || file.size <= HASHED_BYTES)
            bytes = read_open(fd, file.size);
        if (bytes)
            file.hash = hash_bytes(HASH_START, bytes, file.size);
        file.bytes = wanted && file.size <= wanted ? bytes : NULL;
        visitor->file(visitor->context, path, &file);
        free(bytes);
    }
    if (fd >= 0)
        close(fd);
}

static int is_entry(const struct dirent *item)
{
    return strcmp(item->d_name, ".") && strcmp(item->d_name, "..");
}

/* Sorted, so that every run sees the same order. */
static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static void folder_walk(Walk *walk, int fd, const char *above)
{
    struct dirent **items = NULL;
    int count = scandirat(fd, ".", &items, is_entry, by_name);

    for (int i = 0; i < count; i++) {
        const char *name = items[i]->d_name;
        char path[2 * SUBMISSION_PATH], clean[SUBMISSION_PATH];
        const char *error;
        struct stat about;
        PUT(path, "%s%s%s", above, *above ? "/" : "", name);
        error = path_clean(path, clean);
        if (!error && path_is_junk(clean))
            ;
        else if (error || ++walk->files > MOST_FILES)
            walk->visitor->refuse(walk->visitor->context, show(path),
                                  error ? error : "there are too many files");
        else if (fstatat(fd, name, &about, AT_SYMLINK_NOFOLLOW))
            walk->visitor->refuse(walk->visitor->context, clean, "it cannot be read");
        else if (S_ISDIR(about.st_mode)) {
            int inside = openat(fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
            if (inside < 0)
                walk->visitor->refuse(walk->visitor->context, clean, "it cannot be read");
            else
                folder_walk(walk, inside, clean);
        } else if (S_ISREG(about.st_mode))
            take_file(walk, fd, name, clean);
        else
            walk->visitor->refuse(walk->visitor->context, clean,
                                  S_ISLNK(about.st_mode) ? "it is a symbolic link"
                                                         : "it is neither a file nor a folder");
        free(items[i]);
    }
    free(items);
    close(fd);
}

bool walk(const char *folder, const Visitor *visitor, char *why, size_t size)
{
    Walk walk = { visitor, 0 };
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd < 0) {
        put(why, size, "%s: %s", folder, strerror(errno));
        return false;
    }
    folder_walk(&walk, fd, "");
    return true;
}
