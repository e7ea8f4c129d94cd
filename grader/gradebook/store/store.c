/* store.c - the gradebook's database: one SQLite file, written by one process.
 *
 * It uses SQLite's write-ahead log with full syncs: a commit is on disk when it returns, and a
 * killed program's last transaction is atomic. While it runs, the writer locks a separate file in
 * the folder; readers need no lock.
 */
#include "gradebook/store/store.h"
#include "gradebook/store/schema.h"
#include "base/util.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

enum { APPLICATION = 0x57704762 }; /* "WpGb" */

/* ---- Queries ---- */

/* The cause and the remedy for SQLite's and the system's error codes. No remedy deletes files,
 * since results cannot be recreated. */
static const char *advice(int code, int system_error)
{
    switch (code & 0xff) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return "Its database is damaged. Keep a copy of the whole folder, then restore "
               "gradebook.sqlite from a backup; logs/ still holds each result";
    case SQLITE_FULL:
        return "The disk is full. Free some space, then run the same command again; results so far "
               "are kept";
    case SQLITE_READONLY:
    case SQLITE_PERM:
        return "It is read-only: run the command as a user who may write there, or on a writable "
               "disk";
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return "Another program has locked it: wait until that program has finished";
    case SQLITE_CANTOPEN:
        return "It cannot be opened: check that you may read and write the folder and its files";
    case SQLITE_IOERR:
        if (system_error == ENOSPC || system_error == EDQUOT)
            return advice(SQLITE_FULL, 0);
        return "The disk failed or is missing; earlier results are kept. Check the disk, then run "
               "the same command again";
    default:
        return "No result is lost: run the same command to continue";
    }
}

static void __attribute__((noreturn)) fail(Store *store)
{
    die("the gradebook in %s: %s. %s", store->folder, sqlite3_errmsg(store->db),
        advice(sqlite3_errcode(store->db), sqlite3_system_errno(store->db)));
}

static void bind(Store *store, sqlite3_stmt *statement, const char *types, va_list values)
{
    int at = 1, status = SQLITE_OK;

    for (; *types && status == SQLITE_OK; types++, at++) {
        if (*types == 'i') {
            status = sqlite3_bind_int64(statement, at, va_arg(values, int64_t));
        } else if (*types == 'd') {
            status = sqlite3_bind_double(statement, at, va_arg(values, double));
        } else if (*types == 't') {
            status = sqlite3_bind_text(statement, at, va_arg(values, const char *), -1,
                                       SQLITE_TRANSIENT);
        } else if (*types == 'b') {
            const void *bytes = va_arg(values, const void *);
            size_t size = va_arg(values, size_t);
            status = bytes ? sqlite3_bind_blob64(statement, at, bytes, size, SQLITE_TRANSIENT)
                           : sqlite3_bind_null(statement, at);
        } else {
            die("store: unknown argument type: %c", *types);
        }
    }
    if (status != SQLITE_OK)
        fail(store);
}

static sqlite3_stmt *prepare(Store *store, const char *sql, const char *types, va_list values)
{
    sqlite3_stmt *statement;

    if (sqlite3_prepare_v2(store->db, sql, -1, &statement, NULL) != SQLITE_OK)
        fail(store);
    bind(store, statement, types, values);
    return statement;
}

bool store_row(Store *store, sqlite3_stmt *question)
{
    int status = sqlite3_step(question);

    if (status == SQLITE_ROW)
        return true;
    if (status != SQLITE_DONE)
        fail(store);
    sqlite3_finalize(question);
    return false;
}

void store_do(Store *store, const char *sql, const char *types, ...)
{
    sqlite3_stmt *statement;
    va_list values;

    va_start(values, types);
    statement = prepare(store, sql, types, values);
    va_end(values);
    while (store_row(store, statement))
        ;
}

sqlite3_stmt *store_ask(Store *store, const char *sql, const char *types, ...)
{
    sqlite3_stmt *statement;
    va_list values;

    va_start(values, types);
    statement = prepare(store, sql, types, values);
    va_end(values);
    return statement;
}

int64_t store_number(Store *store, int64_t otherwise, const char *sql, const char *types, ...)
{
    sqlite3_stmt *statement;
    va_list values;
    int64_t number = otherwise;

    va_start(values, types);
    statement = prepare(store, sql, types, values);
    va_end(values);
    while (store_row(store, statement))
        if (sqlite3_column_type(statement, 0) != SQLITE_NULL)
            number = sqlite3_column_int64(statement, 0);
    return number;
}

int64_t store_last(Store *store)
{
    return sqlite3_last_insert_rowid(store->db);
}

void cannot_write(const char *path)
{
    die("cannot write %s: %s. Free some disk space, then run the same command again; results so "
        "far are kept",
        path, strerror(errno));
}

const char *store_text(sqlite3_stmt *question, int column)
{
    const char *text = (const char *) sqlite3_column_text(question, column);

    return text ? text : "";
}

/* ---- Opening ---- */

static bool lock(Store *store)
{
    char path[600];

    PUT(path, "%s/gradebook.lock", store->folder);
    store->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (store->lock_fd >= 0 && !flock(store->lock_fd, LOCK_EX | LOCK_NB))
        return true;
    if (store->lock_fd >= 0 && errno == EWOULDBLOCK)
        PUT(store->problem, "another gradebook is working in %s: wait until it is done, or stop it",
            store->folder);
    else
        PUT(store->problem, "cannot write %s: %s", path, strerror(errno));
    return false;
}

static int pragma(Store *store, const char *sql)
{
    sqlite3_stmt *statement;
    int value = -1;

    if (sqlite3_prepare_v2(store->db, sql, -1, &statement, NULL) != SQLITE_OK)
        return -1;
    if (sqlite3_step(statement) == SQLITE_ROW)
        value = sqlite3_column_int(statement, 0);
    sqlite3_finalize(statement);
    return value;
}

static bool is_whole(Store *store)
{
    sqlite3_stmt *statement;
    bool whole =
        sqlite3_prepare_v2(store->db, "PRAGMA quick_check(1)", -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW && !strcmp(store_text(statement, 0), "ok");

    sqlite3_finalize(statement);
    return whole;
}

/* Creates the tables of a new database atomically. */
static bool make_tables(Store *store)
{
    char sql[200];

    PUT(sql, "PRAGMA application_id = %d; PRAGMA user_version = %d; COMMIT", APPLICATION,
        STORE_SCHEMA);
    if (sqlite3_exec(store->db, "BEGIN IMMEDIATE", NULL, NULL, NULL) == SQLITE_OK &&
        sqlite3_exec(store->db, schema, NULL, NULL, NULL) == SQLITE_OK &&
        sqlite3_exec(store->db, sql, NULL, NULL, NULL) == SQLITE_OK)
        return true;
    PUT(store->problem, "cannot create %s/gradebook.sqlite: %s", store->folder,
        sqlite3_errmsg(store->db));
    return false;
}

/* Upgrades one version at a time, atomically. For an upgrade, a reader needs the lock, too. */
static bool bring_up_to_date(Store *store, int version, bool to_write)
{
    char sql[100];
    bool ok = to_write || lock(store);

    for (; ok && version < STORE_SCHEMA; version++)
        ok = sqlite3_exec(store->db, "BEGIN IMMEDIATE", NULL, NULL, NULL) == SQLITE_OK &&
             sqlite3_exec(store->db, upgrades[version], NULL, NULL, NULL) == SQLITE_OK &&
             sqlite3_exec(store->db, PUT(sql, "PRAGMA user_version = %d; COMMIT", version + 1),
                          NULL, NULL, NULL) == SQLITE_OK;
    if (!ok && !store->problem[0])
        PUT(store->problem, "cannot upgrade %s/gradebook.sqlite: %s", store->folder,
            sqlite3_errmsg(store->db));
    if (!to_write && store->lock_fd >= 0) {
        close(store->lock_fd);
        store->lock_fd = -1;
    }
    return ok;
}

/* True if the gradebook's logs/ is not empty. */
static bool has_logs(const Store *store)
{
    char path[600];
    DIR *logs = opendir(PUT(path, "%s/logs", store->folder));
    struct dirent *item;
    bool any = false;

    while (logs && !any && (item = readdir(logs)))
        any = item->d_name[0] != '.';
    if (logs)
        closedir(logs);
    return any;
}

/* Reports that a query failed with `code`, or, if `code` is no error, that the database is
 * damaged. */
static void say_unreadable(Store *store, int code)
{
    if (code == SQLITE_OK || code == SQLITE_ROW || code == SQLITE_DONE)
        code = SQLITE_CORRUPT;
    PUT(store->problem, "%s/gradebook.sqlite cannot be read (%s). %s", store->folder,
        sqlite3_errstr(code), advice(code, sqlite3_system_errno(store->db)));
}

static bool meet(Store *store, bool to_write)
{
    int tables = pragma(store, "SELECT count(*) FROM sqlite_master");
    int code = sqlite3_errcode(store->db);
    int application = pragma(store, "PRAGMA application_id");
    int version = pragma(store, "PRAGMA user_version");

    if (tables == 0 && version == 0 && has_logs(store))
        PUT(store->problem,
            "%s/gradebook.sqlite is empty, but logs/ in the same folder has results. Restore the "
            "database from a backup, or use another --out: a new gradebook here would overwrite "
            "those logs",
            store->folder);
    else if (tables == 0 && version == 0 && to_write)
        return make_tables(store);
    else if (tables < 0)
        say_unreadable(store, code);
    else if (!is_whole(store))
        say_unreadable(store, sqlite3_errcode(store->db));
    else if (application != APPLICATION)
        PUT(store->problem, "%s/gradebook.sqlite is not a gradebook database", store->folder);
    else if (version < 1 || version > STORE_SCHEMA)
        PUT(store->problem,
            "%s/gradebook.sqlite was written by a newer version of gradebook (schema %d, this "
            "version supports %d): use that version",
            store->folder, version, STORE_SCHEMA);
    else if (version < STORE_SCHEMA)
        return bring_up_to_date(store, version, to_write);
    return !store->problem[0];
}

bool store_open(Store *store, const char *folder, bool to_write)
{
    static const char settings[] = "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
                                   "PRAGMA foreign_keys = ON; PRAGMA trusted_schema = OFF;";
    char path[600];

    *store = (Store){ .lock_fd = -1 };
    course_default(&store->course);
    PUT(store->folder, "%s", folder);
    PUT(path, "%s/gradebook.sqlite", folder);
    if (to_write && !make_folders(folder)) {
        PUT(store->problem, "cannot write %s: %s", folder, strerror(errno));
        return false;
    }
    if (!to_write && !file_exists(path)) {
        PUT(store->problem,
            "no gradebook in %s. To create one: gradebook grade SUBMISSIONS --out %s", folder,
            folder);
        return false;
    }
    if (to_write && !lock(store))
        return false;
    if (sqlite3_open_v2(path, &store->db,
                        SQLITE_OPEN_READWRITE | (to_write ? SQLITE_OPEN_CREATE : 0),
                        NULL) != SQLITE_OK) {
        PUT(store->problem, "cannot open %s: %s", path, sqlite3_errmsg(store->db));
        return false;
    }
    sqlite3_busy_timeout(store->db, 10000);
    if (!meet(store, to_write))
        return false;
    if (sqlite3_exec(store->db, settings, NULL, NULL, NULL) != SQLITE_OK) {
        PUT(store->problem, "cannot write %s: %s", path, sqlite3_errmsg(store->db));
        return false;
    }
    if (!to_write)
        sqlite3_exec(store->db, "PRAGMA query_only = ON", NULL, NULL, NULL);
    return true;
}

void store_close(Store *store)
{
    if (store->db)
        sqlite3_close(store->db);
    if (store->lock_fd >= 0)
        close(store->lock_fd);
    free(store->course_text);
    store->course_text = NULL;
    store->db = NULL;
    store->lock_fd = -1;
}
