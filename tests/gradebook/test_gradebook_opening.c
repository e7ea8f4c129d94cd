/* test_gradebook_opening.c - gradebooks that cannot be opened: each has its cause, and the files
 * stay as they are. */
#include "gradebook/store/store.h"
#include "gradebook/store/schema.h"
#include "base/util.h"
#include "golden.h"
#include "rows.h"

#include <CUnit/CUnit.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NOBODY = 65534, PAGE = 4096 };

static char folder[64], gradebook[100], database[140];

static int begin(void)
{
    PUT(folder, "/tmp/warpbook-opening-XXXXXX");
    if (!mkdtemp(folder))
        return 1;
    PUT(gradebook, "%s/a/b", folder);
    PUT(database, "%s/gradebook.sqlite", gradebook);
    return chmod(folder, 0755);
}

static int end(void)
{
    remove_tree(folder);
    return 0;
}

/* A gradebook with some pages of rows, and the log of a result if `logs`. */
static void make(bool logs)
{
    Store store;
    char path[200];

    remove_tree(gradebook);
    CU_ASSERT_TRUE_FATAL(store_open(&store, gradebook, true));
    store_do(&store, "BEGIN", "");
    for (int i = 0; i < 200; i++)
        store_do(&store, "INSERT INTO courses (at, text) VALUES ('', printf('%1000d', ?))", "i",
                 (int64_t) i);
    store_do(&store, "COMMIT", "");
    store_close(&store);
    if (logs) {
        CU_ASSERT_TRUE_FATAL(make_folders(PUT(path, "%s/logs/06_transpose", gradebook)));
        CU_ASSERT_TRUE_FATAL(write_file(PUT(path, "%s/logs/06_transpose/1.1.txt", gradebook),
                                        "outcome: graded\n", 16));
    }
}

static void overwrite(long at, size_t size)
{
    char noise[3 * PAGE];
    int fd = open(database, O_WRONLY);

    memset(noise, 0xa5, sizeof noise);
    CU_ASSERT_EQUAL(pwrite(fd, noise, size, at), (ssize_t) size);
    close(fd);
}

static void run_sql(const char *sql)
{
    sqlite3 *db;

    CU_ASSERT_EQUAL(sqlite3_open(database, &db), SQLITE_OK);
    CU_ASSERT_EQUAL(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

static void nothing(void)
{
}
static void is_missing(void)
{
    unlink(database);
}
static void is_empty(void)
{
    CU_ASSERT_EQUAL(truncate(database, 0), 0);
}
static void is_text(void)
{
    CU_ASSERT_TRUE(write_file(database, "a few notes\n", 12));
}
static void is_folder(void)
{
    CU_ASSERT_EQUAL(unlink(database) + mkdir(database, 0700), 0);
}
static void is_newer(void)
{
    run_sql("PRAGMA user_version = 99");
}
static void is_unnumbered(void)
{
    run_sql("PRAGMA user_version = 0");
}
static void header(void)
{
    overwrite(16, 40);
}
static void page(void)
{
    overwrite(3L * PAGE, 3 * PAGE);
}
static void truncated(void)
{
    CU_ASSERT_EQUAL(truncate(database, 5 * PAGE), 0);
}

static void is_foreign(void)
{
    unlink(database);
    run_sql("CREATE TABLE t (x)");
}

static uint64_t content(void)
{
    size_t size = 0;
    char *text = read_file(database, 64 << 20, &size);
    uint64_t hash = text ? hash_bytes(HASH_START, text, size) : 0;

    free(text);
    return hash;
}

static void each_has_its_cause(void)
{
    static const struct {
        const char *name;
        void (*happens)(void);
        bool logs;
        StoreCause reading, writing;
    } rows[] = {
        { "nothing", nothing, true, STORE_FINE, STORE_FINE },
        { "missing", is_missing, false, STORE_MISSING, STORE_FINE },
        { "missing, with logs", is_missing, true, STORE_LOST, STORE_LOST },
        { "empty", is_empty, false, STORE_MISSING, STORE_FINE },
        { "empty, with logs", is_empty, true, STORE_LOST, STORE_LOST },
        { "a text", is_text, true, STORE_NO_DATABASE, STORE_NO_DATABASE },
        { "a folder", is_folder, true, STORE_UNREADABLE, STORE_UNREADABLE },
        { "another program's", is_foreign, false, STORE_NO_DATABASE, STORE_NO_DATABASE },
        { "newer", is_newer, true, STORE_NEWER, STORE_NEWER },
        { "without a version", is_unnumbered, true, STORE_NO_DATABASE, STORE_NO_DATABASE },
        { "the header", header, true, STORE_NO_DATABASE, STORE_NO_DATABASE },
        { "pages", page, true, STORE_DAMAGED, STORE_DAMAGED },
        { "truncated", truncated, true, STORE_DAMAGED, STORE_DAMAGED },
    };

    for (size_t i = 0; i < COUNT(rows); i++)
        for (int to_write = 0; to_write <= 1; to_write++) {
            StoreCause expected = to_write ? rows[i].writing : rows[i].reading;
            uint64_t before;
            Store store;
            make(rows[i].logs);
            rows[i].happens();
            before = content();
            if (store_open(&store, gradebook, to_write) != (expected == STORE_FINE) ||
                store.cause != expected)
                FAIL_SAYING("%s, %d: %d, %s", rows[i].name, to_write, store.cause, store.problem);
            store_close(&store);
            if (expected != STORE_FINE)
                CU_ASSERT_EQUAL(content(), before);
        }
}

/* Opens it as a user who owns nothing; returns the cause, or -1 if rows cannot be read. */
static int as_nobody(bool to_write)
{
    int status = 0;
    pid_t pid = fork();

    if (pid == 0) {
        Store store;
        if (setgid(NOBODY) || setuid(NOBODY))
            _exit(99);
        if (!store_open(&store, gradebook, to_write))
            _exit((int) store.cause);
        _exit(store_number(&store, 0, "SELECT count(*) FROM courses", "") == 200 ? 0 : 99);
    }
    waitpid(pid, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) != 99 ? WEXITSTATUS(status) : -1;
}

/* A colleague may read the gradebook without any right to write. */
static void another_user(void)
{
    char parent[100];

    if (geteuid() != 0)
        return;
    make(true);
    CU_ASSERT_EQUAL(chmod(PUT(parent, "%s/a", folder), 0755), 0);
    CU_ASSERT_EQUAL(chmod(gradebook, 0755), 0);
    CU_ASSERT_EQUAL(chmod(database, 0644), 0);
    CU_ASSERT_EQUAL(as_nobody(false), STORE_FINE);
    CU_ASSERT_EQUAL(as_nobody(true), STORE_READ_ONLY);
    run_sql("PRAGMA user_version = 5");
    CU_ASSERT_EQUAL(as_nobody(false), STORE_OLDER);
    CU_ASSERT_EQUAL(chmod(database, 0600), 0);
    CU_ASSERT_EQUAL(as_nobody(false), STORE_UNREADABLE);
    CU_ASSERT_EQUAL(chmod(gradebook, 0700), 0);
    CU_ASSERT_EQUAL(as_nobody(false), STORE_UNREADABLE);
    CU_ASSERT_EQUAL(as_nobody(true), STORE_UNREADABLE);
}

/* While a colleague who may not write reads, its owner begins to grade. */
static void read_while_written(void)
{
    Store reader, writer;
    int status = 0;
    pid_t pid;

    make(true);
    CU_ASSERT_EQUAL(chmod(gradebook, 0755), 0);
    CU_ASSERT_EQUAL(chmod(database, 0644), 0);
    CU_ASSERT_TRUE_FATAL(store_open(&writer, gradebook, true));
    if (geteuid() == 0)
        CU_ASSERT_EQUAL(as_nobody(false), STORE_FINE);
    if ((pid = fork()) == 0)
        _exit(store_open(&reader, gradebook, true) ? 99 : (int) reader.cause);
    waitpid(pid, &status, 0);
    CU_ASSERT_EQUAL(WEXITSTATUS(status), STORE_LOCKED);
    store_close(&writer);
}

/* SQLite's and the system's codes for what cannot be caused here. */
static void codes(void)
{
    static const struct {
        int code, system;
        StoreCause cause;
    } rows[] = {
        { SQLITE_FULL, 0, STORE_FULL },
        { SQLITE_IOERR_WRITE, ENOSPC, STORE_FULL },
        { SQLITE_IOERR_SHMSIZE, EDQUOT, STORE_FULL },
        { SQLITE_CANTOPEN, ENOSPC, STORE_FULL },
        { SQLITE_IOERR_READ, EIO, STORE_DISK },
        { SQLITE_READONLY_DBMOVED, 0, STORE_READ_ONLY },
        { SQLITE_CANTOPEN, EROFS, STORE_READ_ONLY },
        { SQLITE_BUSY_SNAPSHOT, 0, STORE_LOCKED },
        { SQLITE_NOMEM, 0, STORE_OTHER },
    };

    for (size_t i = 0; i < COUNT(rows); i++)
        CU_ASSERT_EQUAL(store_cause(rows[i].code, rows[i].system), rows[i].cause);
}

static void advices(void)
{
    char all[8000] = "";

    for (int cause = STORE_FULL; cause <= STORE_OTHER; cause++)
        APPEND(all, "%s\n", store_advice((StoreCause) cause, "results"));
    golden_gradebook("gradebooks that cannot be opened", all);
}

/* A command that stores nothing leaves no new folder, nor one above it. */
static void no_trace(void)
{
    char above[100], other[120];
    Store store;

    remove_tree(PUT(above, "%s/a", folder));
    CU_ASSERT_TRUE_FATAL(store_open(&store, gradebook, true));
    store_close(&store);
    CU_ASSERT_FALSE(file_exists(above));
    CU_ASSERT_TRUE_FATAL(store_open(&store, gradebook, true));
    CU_ASSERT_TRUE(write_file(PUT(other, "%s/a/other", folder), "", 0));
    store_close(&store);
    CU_ASSERT_FALSE(file_exists(gradebook));
    CU_ASSERT_TRUE(file_exists(other));
    CU_ASSERT_TRUE(file_exists(folder));
    make(false);
    CU_ASSERT_TRUE_FATAL(store_open(&store, gradebook, true));
    store_close(&store);
    CU_ASSERT_TRUE(file_exists(database));
}

CU_SuiteInfo test_gradebook_opening = {
    "gradebook opening",
    .pInitFunc = begin,
    .pCleanupFunc = end,
    .pTests =
        (CU_TestInfo[]){
            { "each fault has its cause", each_has_its_cause },
            { "another user", another_user },
            { "reading while another writes", read_while_written },
            { "codes", codes },
            { "advices", advices },
            { "nothing stored, no trace", no_trace },
            CU_TEST_INFO_NULL,
        },
};
