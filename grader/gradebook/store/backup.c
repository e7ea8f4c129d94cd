/* backup.c - copies of the database.
 *
 * SQLite copies all pages in one step, that is, from one moment: in its write-ahead log, writers do
 * not wait for a reader. The copy gets its final name only when it has been checked.
 */
#include "gradebook/store/backup.h"
#include "base/util.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool copy_pages(sqlite3 *from, sqlite3 *to)
{
    sqlite3_backup *backup = sqlite3_backup_init(to, "main", from, "main");
    int code = backup ? sqlite3_backup_step(backup, -1) : sqlite3_errcode(to);

    if (backup)
        sqlite3_backup_finish(backup);
    return code == SQLITE_DONE;
}

/* True if the answer of a query is this text. */
static bool answers(sqlite3 *db, const char *sql, const char *expected)
{
    sqlite3_stmt *statement;
    bool ok = sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK &&
              sqlite3_step(statement) == SQLITE_ROW && !strcmp(store_text(statement, 0), expected);

    sqlite3_finalize(statement);
    return ok;
}

/* The copy is one file: without a write-ahead log next to it. */
static bool fill(Store *store, const char *path, char *problem, size_t size)
{
    sqlite3 *to = NULL;
    bool ok = sqlite3_open_v2(path, &to, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK &&
              sqlite3_exec(to, "PRAGMA synchronous = FULL", NULL, NULL, NULL) == SQLITE_OK &&
              copy_pages(store->db, to) && answers(to, "PRAGMA journal_mode = DELETE", "delete");

    if (!ok)
        put(problem, size, "cannot write %s: %s. %s", path, sqlite3_errmsg(to),
            store_advice(store_cause(sqlite3_errcode(to), sqlite3_system_errno(to)),
                         store->folder));
    else if (!(ok = answers(to, "PRAGMA integrity_check(1)", "ok")))
        put(problem, size,
            "the copy is damaged; the gradebook in %s may be, too: gradebook status "
            "--out %s checks it",
            store->folder, store->folder);
    sqlite3_close(to);
    return ok;
}

static bool refuse(char *problem, size_t size, const char *path)
{
    int error = errno;

    put(problem, size,
        error == EEXIST ? "%s exists; choose another name: a backup is never "
                          "overwritten"
                        : "cannot write %s: %s",
        path, strerror(error));
    return false;
}

/* Renames without overwriting. Not all file systems have hard links. */
static bool move_to(const char *from, const char *to)
{
    if (!link(from, to))
        return !unlink(from);
    if (errno == EEXIST)
        return false;
    if (file_exists(to)) {
        errno = EEXIST;
        return false;
    }
    return !rename(from, to);
}

bool backup_write(Store *store, const char *file, char *problem, size_t size)
{
    char partial[1000];
    bool ok;
    int fd;

    if (file_exists(file)) {
        errno = EEXIST;
        return refuse(problem, size, file);
    }
    unlink(PUT(partial, "%s.partial", file)); /* left by a backup that was killed */
    if ((fd = open(partial, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600)) < 0)
        return refuse(problem, size, partial);
    close(fd);
    ok = fill(store, partial, problem, size) &&
         (move_to(partial, file) || refuse(problem, size, file));
    if (!ok)
        unlink(partial);
    return ok;
}

void backup_open(Store *from, Store *copy)
{
    *copy = *from;
    copy->db = NULL;
    copy->lock_fd = -1;
    copy->course_text = NULL;
    copy->made[0] = 0;
    copy->temporary = true;
    /* "": a file that SQLite removes */
    if (sqlite3_open("", &copy->db) != SQLITE_OK || !copy_pages(from->db, copy->db))
        die("cannot copy the gradebook to a temporary file: %s", sqlite3_errmsg(copy->db));
}
