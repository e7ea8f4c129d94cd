/* saved.c - notices that a file was saved.
 *
 * The decision is one comparison: is the file's state (inode, size, time) another than before?
 * inotify only wakes the caller up, so the names of an editor's temporary files do not matter.
 */
#include "learner/watch/saved.h"
#include "base/util.h"

#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

FileState file_state(const char *path)
{
    struct stat about;

    if (stat(path, &about))
        return (FileState){ 0 };
    return (FileState){ about.st_dev, about.st_ino, (uint64_t) about.st_size, about.st_mtim.tv_sec,
                        about.st_mtim.tv_nsec };
}

bool same_state(const FileState *a, const FileState *b)
{
    return a->device == b->device && a->inode == b->inode && a->size == b->size &&
           a->seconds == b->seconds && a->nanoseconds == b->nanoseconds;
}

bool state_exists(const FileState *state)
{
    return state->inode != 0;
}

static void watch_folder(Saved *saved)
{
    saved->watched =
        inotify_add_watch(saved->fd, saved->folder,
                          IN_CLOSE_WRITE | IN_MODIFY | IN_MOVED_TO | IN_MOVED_FROM | IN_CREATE |
                              IN_DELETE | IN_DELETE_SELF | IN_MOVE_SELF | IN_ATTRIB | IN_ONLYDIR);
}

void saved_open(Saved *saved, const char *folder)
{
    PUT(saved->folder, "%s", folder);
    saved->watched = -1;
    saved->fd = getenv("WARPBOOK_NO_INOTIFY") ? -1 : inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (saved->fd < 0)
        return;
    watch_folder(saved);
    if (saved->watched < 0)
        saved_close(saved);
}

void saved_close(Saved *saved)
{
    if (saved->fd >= 0)
        close(saved->fd);
    saved->fd = -1;
}

void saved_take(Saved *saved)
{
    _Alignas(struct inotify_event) char events[4096];
    bool lost = saved->watched < 0;
    ssize_t got;

    if (saved->fd < 0)
        return;
    while ((got = read(saved->fd, events, sizeof events)) > 0)
        for (char *at = events; at < events + got;) {
            const struct inotify_event *event = (const struct inotify_event *) at;
            lost |= event->mask & (IN_IGNORED | IN_MOVE_SELF | IN_DELETE_SELF | IN_UNMOUNT);
            at += sizeof *event + event->len;
        }
    if (lost)
        watch_folder(saved); /* fails while the folder is missing; the next call tries again */
}
