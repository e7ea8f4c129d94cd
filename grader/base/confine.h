/* confine.h - restricts which files a process may open to a list of folders, using Landlock
 * (Linux 5.13).
 *
 * The restriction covers the calling thread and everything that it starts from then on, and
 * cannot be lifted. Landlock identifies files themselves, not their names: no link, no `..` and
 * no /proc/self/cwd leads out of the list.
 */
#ifndef BASE_CONFINE_H
#define BASE_CONFINE_H

#include <stdbool.h>

/* Folders or files; each list ends with NULL and may itself be NULL. Those that do not exist are
 * skipped. Files below `readable` may be read and run. Files below `writable` may also be written,
 * created and removed. Files below `scratch` (devices) may be written, but not created. */
typedef struct Confinement {
    const char *const *readable, *const *writable, *const *scratch;
    bool reads_all; /* reading is not restricted */
} Confinement;

/* Returns false, changing nothing, if this kernel has no Landlock. */
bool confine(const Confinement *confinement);

#endif
