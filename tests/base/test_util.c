/* test_util.c - buffers, files, fields and numbers. */
#include "base/util.h"
#include "capture.h"
#include "rows.h"

#include <CUnit/CUnit.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <dirent.h>

static char folder[64], path[160];

static int make_folder(void)
{
    PUT(folder, "/tmp/warpbook-util-XXXXXX");
    return !mkdtemp(folder);
}

static int remove_folder(void)
{
    remove_tree(folder);
    return file_exists(folder);
}

static const char *in_folder(const char *name)
{
    return PUT(path, "%s/%s", folder, name);
}

/* ---- Text ---- */

static void text_is_cut_at_the_end(void)
{
    static const struct {
        const char *first, *second, *result; /* in 8 bytes */
    } rows[] = {
        { "", "", "" },
        { "abc", "def", "abcdef" },
        { "abc", "defg", "abcdefg" },
        { "abc", "defgh", "abcdefg" },
        { "abcdefg", "h", "abcdefg" },
        { "abcdefghi", "j", "abcdefg" },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[16];
        memset(text, 'z', sizeof text);
        CU_ASSERT_PTR_EQUAL(put(text, 8, "%s", rows[i].first), text);
        CU_ASSERT_PTR_EQUAL(append(text, 8, "%s", rows[i].second), text);
        CU_ASSERT_STRING_EQUAL(text, rows[i].result);
        CU_ASSERT_EQUAL(text[8], 'z');
    }
}

static void fields(void)
{
    static const struct {
        const char *line, *key, *value; /* NULL: none */
    } rows[] = {
        { "cc:90 sms:132", "cc", "90" },
        { "cc:90 sms:132", "sms", "132" },
        { "cc:90 sms:132", "ms", NULL }, /* the end of another key does not count */
        { "sms:132 ms:1.5", "ms", "1.5" },
        { "cc:90", "c", NULL },
        { "cc:", "cc", "" },
        { "cc: 90", "cc", "" },
        { "cc :90", "cc", NULL },
        { "cc", "cc", NULL },
        { "", "cc", NULL },
        { "ok cc:90\n", "cc", "90" },
        { "note:cc:1 cc:90", "cc", "90" },
        { "cc:1 cc:2", "cc", "1" },
        { "cc:9 name:NVIDIA H200, 1/12 x:y", "name", "NVIDIA H200, 1/12 x:y" },
        { "name:NVIDIA H200\n", "name", "NVIDIA H200" },
        { "k:0123456789abcdefghijklm", "k", "0123456789abcdefghijklm" }, /* 23 and a 0: fits */
        { "k:0123456789abcdefghijklmn", "k", NULL },                     /* too long */
    };
    char value[24];

    for (size_t i = 0; i < COUNT(rows); i++) {
        bool there = field(rows[i].line, rows[i].key, value, sizeof value);
        CU_ASSERT_EQUAL(there, rows[i].value != NULL);
        if (there && rows[i].value)
            CU_ASSERT_STRING_EQUAL(value, rows[i].value);
    }
}

static void number_fields(void)
{
    static const struct {
        const char *line;
        bool there;
        double value;
    } rows[] = {
        { "ms:0.0812", true, 0.0812 }, { "ms:-3", true, -3 }, { "ms:1e3 x:2", true, 1000 },
        { "ms:", false, 0 },           { "ms:x", false, 0 },  { "ms:1.5ms", false, 0 },
        { "ms:nan", false, 0 },        { "xms:1", false, 0 }, { "ms:1,5", false, 0 },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        double value = 0;
        CU_ASSERT_EQUAL(field_double(rows[i].line, "ms", &value), rows[i].there);
        if (rows[i].there)
            CU_ASSERT_EQUAL(value, rows[i].value);
    }
}

/* ---- Numbers ---- */

/* The results of Vigna's splitmix64.c for the seed 1234567, as published by Rosetta Code. */
static void random_numbers_are_splitmix64(void)
{
    static const uint64_t want[] = { 6457827717110365317u, 3203168211198807973u,
                                     9817491932198370423u, 4593380528125082431u,
                                     16408922859458223821u };
    uint64_t state = 1234567;

    for (size_t i = 0; i < COUNT(want); i++)
        CU_ASSERT_EQUAL(next_random(&state), want[i]);
}

/* Test vectors of Fowler, Noll and Vo (draft-eastlake-fnv). */
static void hashes_are_fnv_1a(void)
{
    CU_ASSERT_EQUAL(hash_bytes(HASH_START, "", 0), 0xcbf29ce484222325u);
    CU_ASSERT_EQUAL(hash_bytes(HASH_START, "a", 1), 0xaf63dc4c8601ec8cu);
    CU_ASSERT_EQUAL(hash_bytes(HASH_START, "foobar", 6), 0x85944171f73967e8u);
    CU_ASSERT_EQUAL(hash_bytes(hash_bytes(HASH_START, "foo", 3), "bar", 3), 0x85944171f73967e8u);
}

static void secrets_differ(void)
{
    uint64_t a = secret(), b = secret(), c = secret();

    CU_ASSERT(a != b && b != c && c != a);
}

static void time_moves_on(void)
{
    double before = now_s();

    sleep_s(0.002);
    CU_ASSERT(now_s() - before >= 0.002);
}

/* ---- Files ---- */

static void files_are_written_and_read(void)
{
    static char large[300000];
    static const struct {
        const char *bytes;
        size_t size;
    } rows[] = { { "", 0 }, { "x", 1 }, { "a\0b\n", 4 }, { large, sizeof large }, { "short", 5 } };

    memset(large, 'l', sizeof large);
    for (size_t i = 0; i < COUNT(rows); i++) {
        size_t size = 77;
        char *text;
        CU_ASSERT_TRUE(write_file(in_folder("file"), rows[i].bytes, rows[i].size));
        text = read_file(in_folder("file"), sizeof large, &size);
        CU_ASSERT_PTR_NOT_NULL_FATAL(text);
        CU_ASSERT_EQUAL(size, rows[i].size);
        CU_ASSERT_EQUAL(memcmp(text, rows[i].bytes, size), 0);
        CU_ASSERT_EQUAL(text[size], 0);
        free(text);
    }
}

static void only_regular_files_up_to_the_limit(void)
{
    static const struct {
        const char *name;
        size_t limit;
        int why; /* 0: read */
    } rows[] = {
        { "five", 5, 0 },        { "five", 4, EFBIG },  { "missing", 5, ENOENT },
        { "folder", 5, EINVAL }, { "pipe", 5, EINVAL }, { "five/inside", 5, ENOTDIR },
    };

    CU_ASSERT_TRUE(write_file(in_folder("five"), "12345", 5));
    CU_ASSERT_EQUAL(mkdir(in_folder("folder"), 0755), 0);
    CU_ASSERT_EQUAL(mkfifo(in_folder("pipe"), 0644), 0);
    for (size_t i = 0; i < COUNT(rows); i++) {
        errno = 0;
        char *text = read_file(in_folder(rows[i].name), rows[i].limit, NULL);
        CU_ASSERT_EQUAL(text != NULL, rows[i].why == 0);
        CU_ASSERT(text || errno == rows[i].why);
        free(text);
    }
}

static int files_in(const char *name)
{
    DIR *open_folder = opendir(name);
    int count = 0;

    while (open_folder && readdir(open_folder))
        count++;
    if (open_folder)
        closedir(open_folder);
    return count - 2; /* . and .. */
}

static void a_failed_write_leaves_all_as_it_was(void)
{
    CU_ASSERT_TRUE(make_folders(in_folder("w/target")));
    errno = 0;
    CU_ASSERT_FALSE(write_file(in_folder("w/target"), "x", 1)); /* a folder cannot be replaced */
    CU_ASSERT_NOT_EQUAL(errno, 0);
    CU_ASSERT_EQUAL(files_in(in_folder("w")), 1); /* no temporary file is left */
    CU_ASSERT_FALSE(write_file(in_folder("nowhere/file"), "x", 1));
    CU_ASSERT_EQUAL(errno, ENOENT);
}

static void folders_are_made(void)
{
    static const struct {
        const char *name;
        bool made;
    } rows[] = {
        { "a", true },      { "a", true },    { "b/c/d", true },
        { "b/c/e/", true }, { "b//f", true }, { "file/inside", false },
    };

    CU_ASSERT_TRUE(write_file(in_folder("file"), "x", 1));
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct stat about;
        CU_ASSERT_EQUAL(make_folders(in_folder(rows[i].name)), rows[i].made);
        CU_ASSERT_EQUAL(!stat(path, &about) && S_ISDIR(about.st_mode), rows[i].made);
    }
}

static void trees_go_but_not_what_links_point_to(void)
{
    char target[160], link[160];

    CU_ASSERT_TRUE(make_folders(in_folder("kept")));
    CU_ASSERT_TRUE(write_file(in_folder("kept/file"), "x", 1));
    CU_ASSERT_TRUE(make_folders(in_folder("gone/deep/deeper")));
    CU_ASSERT_TRUE(write_file(in_folder("gone/deep/file"), "x", 1));
    PUT(target, "%s", in_folder("kept"));
    PUT(link, "%s", in_folder("gone/link"));
    CU_ASSERT_EQUAL(symlink(target, link), 0);
    CU_ASSERT_EQUAL(symlink("nowhere", in_folder("gone/deep/dangling")), 0);
    remove_tree(in_folder("gone"));
    CU_ASSERT_FALSE(file_exists(in_folder("gone")));
    CU_ASSERT_TRUE(file_exists(in_folder("kept/file")));
    remove_tree(in_folder("kept/file")); /* removes a single file, too */
    CU_ASSERT_FALSE(file_exists(in_folder("kept/file")));
    remove_tree(in_folder("never was"));
}

static void death_has_status_three(void)
{
    static Capture capture;
    int status = 0;
    pid_t child;

    capture_begin(&capture, stderr);
    child = fork();
    if (child == 0)
        die("no %s here", "luck");
    CU_ASSERT(child > 0 && waitpid(child, &status, 0) == child);
    CU_ASSERT_STRING_EQUAL(capture_end(&capture), "warpbook: no luck here\n");
    CU_ASSERT(WIFEXITED(status) && WEXITSTATUS(status) == 3);
}

CU_SuiteInfo test_util = {
    "util",
    .pInitFunc = make_folder,
    .pCleanupFunc = remove_folder,
    .pTests =
        (CU_TestInfo[]){
            { "text is cut at the end", text_is_cut_at_the_end },
            { "fields", fields },
            { "number fields", number_fields },
            { "random numbers are splitmix64", random_numbers_are_splitmix64 },
            { "hashes are FNV-1a", hashes_are_fnv_1a },
            { "secrets differ", secrets_differ },
            { "time moves on", time_moves_on },
            { "files are written and read", files_are_written_and_read },
            { "only regular files up to the limit", only_regular_files_up_to_the_limit },
            { "a failed write leaves all as it was", a_failed_write_leaves_all_as_it_was },
            { "folders are made", folders_are_made },
            { "trees go, but not what links point to", trees_go_but_not_what_links_point_to },
            { "death has status three", death_has_status_three },
            CU_TEST_INFO_NULL,
        },
};
