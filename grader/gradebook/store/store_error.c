/* store_error.c - why a gradebook cannot be opened, read or written, and what to do about it. */
#include "gradebook/store/store_error.h"
#include "base/util.h"

#include <errno.h>
#include <sqlite3.h>
#include <string.h>

#define RECOVER                                                                                    \
    "Change nothing in the folder. Restore gradebook.sqlite from a backup, or make a new "         \
    "gradebook from the logs: gradebook rebuild --from %1$s --out NEW_FOLDER"

static const char *const advices[] = {
    [STORE_FULL] = "The disk is full. Free some space, then run the same command again; results so "
                   "far are kept",
    [STORE_READ_ONLY] = "You may not write there: run the command as the owner of the folder, or "
                        "on a writable disk",
    [STORE_LOCKED] = "Another program is using it: run the command again when that program has "
                     "finished",
    [STORE_DAMAGED] = "The database is damaged. " RECOVER,
    [STORE_NO_DATABASE] =
        "Another program wrote this file, or its first bytes are damaged. " RECOVER,
    [STORE_UNREADABLE] = "It cannot be opened: check that you may read the folder and its files",
    [STORE_DISK] = "The disk failed or is missing; earlier results are kept. Check the disk, then "
                   "run the same command again",
    [STORE_MISSING] = "To create one: gradebook grade SUBMISSIONS --out %1$s",
    [STORE_LOST] = RECOVER,
    [STORE_OLDER] = "It must be upgraded once, and you may not write there: run gradebook status "
                    "as the owner of the folder, or copy the folder",
    [STORE_NEWER] = "Use that version",
    [STORE_OTHER] = "No result is lost: run the same command to continue",
};

static StoreCause cause_of_system(int error, StoreCause otherwise)
{
    switch (error) {
    case ENOSPC:
    case EDQUOT:
        return STORE_FULL;
    case EROFS:
    case EACCES:
    case EPERM:
        return STORE_READ_ONLY;
    default:
        return otherwise;
    }
}

StoreCause store_cause(int code, int system_error)
{
    switch (code & 0xff) {
    case SQLITE_OK:
        return STORE_FINE;
    case SQLITE_CORRUPT:
        return STORE_DAMAGED;
    case SQLITE_NOTADB:
        return STORE_NO_DATABASE;
    case SQLITE_FULL:
        return STORE_FULL;
    case SQLITE_READONLY:
    case SQLITE_PERM:
        return STORE_READ_ONLY;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return STORE_LOCKED;
    case SQLITE_CANTOPEN:
        return cause_of_system(system_error, STORE_UNREADABLE);
    case SQLITE_IOERR:
        return cause_of_system(system_error, STORE_DISK);
    default:
        return STORE_OTHER;
    }
}

const char *store_advice(StoreCause cause, const char *folder)
{
    static char text[1400];

    return PUT(text, advices[cause] ? advices[cause] : "", folder);
}

void cannot_write(const char *path)
{
    int error = errno;

    die("cannot write %s: %s. %s", path, strerror(error),
        store_advice(cause_of_system(error, STORE_DISK), ""));
}
