/* confine.h - which files a process may still open, by Landlock (Linux 5.13): a list of folders.
 *
 * For the calling thread and whatever it starts from then on, for ever. A file is known by what it
 * is, not by its name: no link, no `..` and no /proc/self/cwd leads out of the list.
 */
#ifndef BASE_CONFINE_H
#define BASE_CONFINE_H

#include <stdbool.h>

/* Folders or files, ended by NULL; those that are not there are passed over. What lies below
 * `readable` may be read and run, what lies below `writable` may also be written, made and removed;
 * `scratch`: written, but nothing made (devices). A list may be NULL. */
typedef struct Confinement {
    const char *const *readable, *const *writable, *const *scratch;
    bool reads_all; /* nothing is said about reading */
} Confinement;

/* False: this kernel has no Landlock, and nothing has changed. */
bool confine(const Confinement *confinement);

#endif
