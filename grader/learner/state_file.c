/* state_file.c - changes a file of .warpbook/ while others may change it too. */
#include "learner/state_file.h"
#include "base/util.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

enum { LONGEST_PATH = 4096 };

static int take_lock(const char *file)
{
    char path[LONGEST_PATH];
    int fd;

    PUT(path, "%s.lock", file);
    fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    while (fd >= 0 && flock(fd, LOCK_EX))
        if (errno != EINTR) {
            close(fd);
            return -1;
        }
    return fd;
}

static bool edit_locked(const char *file, StateEdit *edit, const void *context)
{
    size_t size = 0, new_size = 0;
    char *text = read_file(file, STATE_MOST, &size), *new_text;
    bool saved;

    if (!text && errno != ENOENT)
        return false;
    new_text = edit(text ? text : "", size, context, &new_size);
    saved = write_file(file, new_text, new_size);
    free(new_text);
    free(text);
    return saved;
}

bool state_edit(const char *file, StateEdit *edit, const void *context)
{
    const char *slash = strrchr(file, '/');
    char folder[LONGEST_PATH];
    int lock, why;
    bool saved;

    if (slash && slash > file && !make_folders(PUT(folder, "%.*s", (int) (slash - file), file)))
        return false;
    lock = take_lock(file);
    if (lock < 0)
        return false;
    saved = edit_locked(file, edit, context);
    why = errno;
    close(lock); /* also unlocks the file */
    errno = why;
    return saved;
}

char *state_path(const char *progress, const char *name, char *path, size_t size)
{
    const char *slash = strrchr(progress, '/');

    return put(path, size, "%.*s%s", slash ? (int) (slash - progress) + 1 : 0, progress, name);
}
