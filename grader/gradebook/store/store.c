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
#include <sys/stat.h>
#include <unistd.h>

enum { APPLICATION = 0x57704762 }; /* "WpGb" */

/* ---- Queries ---- */

static bool has_wal(const Store *store)
{
    char path[600];

    return file_exists(PUT(path, "%s/gradebook.sqlite-wal", store->folder));
}

/* The cause of the latest error. A database that was opened as unchanging (open_unchanging) seems
 * damaged if another process begins to write to it. */
static StoreCause latest_cause(Store *store, int code)
{
    return store->unchanging && has_wal(store) ? STORE_LOCKED
                                               : store_cause(code, sqlite3_system_errno(store->db));
}

static void __attribute__((noreturn)) fail(Store *store)
{
    die("the gradebook in %s: %s. %s", store->folder, sqlite3_errmsg(store->db),
        store_advice(latest_cause(store, sqlite3_errcode(store->db)), store->folder));
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

void store_scratch(Store *store)
{
    if (store->scratches++ == 0) {
        store->only_reads = store_number(store, 0, "PRAGMA query_only", "") != 0;
        if (store->only_reads) /* it forbids temporary tables, too */
            store_do(store, "PRAGMA query_only = OFF", "");
    }
    store_do(store, "SAVEPOINT scratch", "");
}

void store_scratch_end(Store *store)
{
    store_do(store, "RELEASE scratch", "");
    if (--store->scratches == 0 && store->only_reads)
        store_do(store, "PRAGMA query_only = ON", "");
}

const char *store_text(sqlite3_stmt *question, int column)
{
    const char *text = (const char *) sqlite3_column_text(question, column);

    return text ? text : "";
}

/* ---- Opening ---- */

/* Sets the cause, and the problem: the sentence, then what to do. Returns false. */
static bool refuse(Store *store, StoreCause cause, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static bool refuse(Store *store, StoreCause cause, const char *format, ...)
{
    va_list arguments;

    store->cause = cause;
    va_start(arguments, format);
    vsnprintf(store->problem, sizeof store->problem, format, arguments);
    va_end(arguments);
    APPEND(store->problem, ". %s", store_advice(cause, store->folder));
    return false;
}

static bool refuse_by_errno(Store *store, const char *path)
{
    int error = errno;

    return refuse(store, store_cause(SQLITE_CANTOPEN, error), "cannot write %s: %s", path,
                  strerror(error));
}

static bool lock(Store *store)
{
    char path[600];

    PUT(path, "%s/gradebook.lock", store->folder);
    store->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (store->lock_fd >= 0 && !flock(store->lock_fd, LOCK_EX | LOCK_NB))
        return true;
    if (store->lock_fd >= 0 && errno == EWOULDBLOCK)
        return refuse(store, STORE_LOCKED, "another gradebook is working in %s", store->folder);
    return refuse_by_errno(store, path);
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
    return refuse(store, latest_cause(store, sqlite3_errcode(store->db)),
                  "cannot create %s/gradebook.sqlite: %s", store->folder,
                  sqlite3_errmsg(store->db));
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
    if (!ok && store->cause == STORE_READ_ONLY)
        refuse(store, STORE_OLDER, "%s/gradebook.sqlite is from an older version of gradebook",
               store->folder);
    else if (!ok && store->cause == STORE_FINE)
        refuse(store, latest_cause(store, sqlite3_errcode(store->db)),
               "cannot upgrade %s/gradebook.sqlite: %s", store->folder, sqlite3_errmsg(store->db));
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

/* A query failed with `code`; or, if `code` is no error, its answer shows that the database is
 * damaged. */
static bool refuse_unreadable(Store *store, int code)
{
    StoreCause cause;

    if (code == SQLITE_OK || code == SQLITE_ROW || code == SQLITE_DONE)
        code = SQLITE_CORRUPT;
    cause = latest_cause(store, code);
    return refuse(store, cause, "%s/gradebook.sqlite cannot be read (%s)", store->folder,
                  sqlite3_errstr(code));
}

static bool meet(Store *store, bool to_write)
{
    int tables = pragma(store, "SELECT count(*) FROM sqlite_master");
    int code = sqlite3_errcode(store->db);
    int application = pragma(store, "PRAGMA application_id");
    int version = pragma(store, "PRAGMA user_version");

    if (tables == 0 && version == 0)
        return to_write ? make_tables(store)
                        : refuse(store, STORE_MISSING, "no gradebook in %s", store->folder);
    if (tables < 0)
        return refuse_unreadable(store, code);
    if (!is_whole(store))
        return refuse_unreadable(store, sqlite3_errcode(store->db));
    if (application != APPLICATION || version < 1)
        return refuse(store, STORE_NO_DATABASE, "%s/gradebook.sqlite is not a gradebook database",
                      store->folder);
    if (version > STORE_SCHEMA)
        return refuse(store, STORE_NEWER,
                      "%s/gradebook.sqlite was written by a newer version of gradebook (schema %d, "
                      "this version supports %d)",
                      store->folder, version, STORE_SCHEMA);
    return version == STORE_SCHEMA || bring_up_to_date(store, version, to_write);
}

/* Refuses to begin anew where results were: their logs would get the same names. */
static bool check_lost(Store *store, const char *path)
{
    struct stat file;
    bool there = !stat(path, &file);

    if ((there && file.st_size > 0) || !has_logs(store))
        return true;
    return refuse(store, STORE_LOST,
                  "%s/gradebook.sqlite is %s, but logs/ in the same folder has results",
                  store->folder, there ? "empty" : "missing");
}

static bool check_present(Store *store, const char *path, bool to_write)
{
    struct stat file;

    if (stat(path, &file)) {
        if (errno != ENOENT && errno != ENOTDIR)
            return refuse(store, STORE_UNREADABLE, "%s: %s", path, strerror(errno));
        return to_write || refuse(store, STORE_MISSING, "no gradebook in %s", store->folder);
    }
    if (!S_ISREG(file.st_mode))
        return refuse(store, STORE_UNREADABLE, "%s is not a file", path);
    return !access(path, R_OK) || refuse(store, STORE_UNREADABLE, "%s: %s", path, strerror(errno));
}

static bool is_absent(const char *path)
{
    struct stat file;

    return lstat(path, &file) && errno == ENOENT;
}

/* Creates the folder, and remembers the topmost one that did not exist. */
static bool make_home(Store *store)
{
    char path[sizeof store->folder], *slash;

    PUT(path, "%s", store->folder);
    while (*path && is_absent(path)) {
        PUT(store->made, "%s", path);
        slash = strrchr(path, '/');
        *(slash ? slash : path) = 0;
    }
    return make_folders(store->folder) || refuse_by_errno(store, store->folder);
}

/* Removes the folders that make_home created, unless they hold something else. */
static void remove_home(const Store *store)
{
    static const char *const own[] = { "gradebook.sqlite",
                                       "gradebook.sqlite-wal",
                                       "gradebook.sqlite-shm",
                                       "gradebook.lock",
                                       "cache",
                                       "floor",
                                       "sealed",
                                       "work" };
    char path[600];

    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        remove_tree(PUT(path, "%s/%s", store->folder, own[i]));
    PUT(path, "%s", store->folder);
    while (!rmdir(path) && strcmp(path, store->made))
        *strrchr(path, '/') = 0;
}

/* A reader that may not write cannot use SQLite's write-ahead log. Without a process that writes
 * there is no such log, and the database can be read as one that does not change. */
static bool open_unchanging(Store *store, const char *path)
{
    char uri[2000] = "file:";

    for (; *path; path++)
        APPEND(uri, strchr("%?#", *path) ? "%%%02x" : "%c", *path);
    APPEND(uri, "?immutable=1");
    sqlite3_close(store->db);
    store->db = NULL;
    store->unchanging = true;
    return sqlite3_open_v2(uri, &store->db, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL) ==
           SQLITE_OK;
}

static bool connect(Store *store, const char *path, bool to_write)
{
    int code = sqlite3_open_v2(path, &store->db,
                               SQLITE_OPEN_READWRITE | (to_write ? SQLITE_OPEN_CREATE : 0), NULL);
    StoreCause cause;

    sqlite3_busy_timeout(store->db, 10000);
    if (code == SQLITE_OK && pragma(store, "SELECT count(*) FROM sqlite_master") < 0)
        code = sqlite3_errcode(store->db);
    cause = store_cause(code, sqlite3_system_errno(store->db));
    if (cause == STORE_FINE)
        return true;
    if (!to_write && !has_wal(store) &&
        (cause == STORE_READ_ONLY || cause == STORE_UNREADABLE || cause == STORE_FULL) &&
        open_unchanging(store, path))
        return true;
    return refuse(store, cause, "%s cannot be %s (%s)", path, to_write ? "opened" : "read",
                  sqlite3_errstr(code));
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
    if ((to_write && !make_home(store)) || !check_lost(store, path) ||
        !check_present(store, path, to_write) || (to_write && !lock(store)) ||
        !connect(store, path, to_write) || !meet(store, to_write))
        return false;
    if (sqlite3_exec(store->db, store->unchanging ? "" : settings, NULL, NULL, NULL) != SQLITE_OK)
        return refuse(store, latest_cause(store, sqlite3_errcode(store->db)), "cannot write %s: %s",
                      path, sqlite3_errmsg(store->db));
    if (!to_write)
        sqlite3_exec(store->db, "PRAGMA query_only = ON", NULL, NULL, NULL);
    store->changes_before = sqlite3_total_changes(store->db);
    return true;
}

void store_close(Store *store)
{
    bool unused =
        store->made[0] && (!store->db || sqlite3_total_changes(store->db) == store->changes_before);

    if (store->db)
        sqlite3_close(store->db);
    if (unused)
        remove_home(store);
    store->made[0] = 0;
    if (store->lock_fd >= 0)
        close(store->lock_fd);
    free(store->course_text);
    store->course_text = NULL;
    store->db = NULL;
    store->lock_fd = -1;
}
