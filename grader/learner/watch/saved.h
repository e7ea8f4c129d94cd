/* saved.h - notices that a file was saved, whatever the editor does: writes in place, renames,
 * removes and creates. */
#ifndef LEARNER_WATCH_SAVED_H
#define LEARNER_WATCH_SAVED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What tells one state of a file from another. All zero: the file does not exist. */
typedef struct FileState {
    uint64_t device, inode, size;
    int64_t seconds, nanoseconds;
} FileState;

FileState file_state(const char *path);
bool same_state(const FileState *a, const FileState *b);
bool state_exists(const FileState *state);

typedef struct Saved {
    int fd; /* poll it for input, then call saved_take(); -1: there is no inotify here */
    int watched;
    char folder[512];
} Saved;

/* Watches the folder for changes. Where inotify fails, the caller's regular calls of file_state()
 * must suffice; they are also needed for network file systems. $WARPBOOK_NO_INOTIFY makes it fail,
 * for tests. */
void saved_open(Saved *saved, const char *folder);
void saved_close(Saved *saved);

/* Takes what inotify has reported, and watches the folder again if it was replaced. */
void saved_take(Saved *saved);

#endif
