/* test_gradebook_archive.c - honest archives are read, and damaged archives do no harm. The test
 * creates them. */
#include "gradebook/import/source.h"
#include "base/util.h"
#include "golden.h"

#include <CUnit/CUnit.h>
#include <archive.h>
#include <archive_entry.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROOM = 1 << 20 };

typedef struct Seen {
    int files, refused;
    size_t bytes;
    char last[SUBMISSION_PATH], text[64];
} Seen;

static size_t wants(void *context, const char *path)
{
    (void) context, (void) path;
    return 32;
}

static void file(void *context, const char *path, const VisitedFile *sunk)
{
    Seen *seen = context;

    seen->files++;
    seen->bytes += sunk->size;
    PUT(seen->last, "%s", path);
    PUT(seen->text, "%.*s", sunk->bytes ? (int) sunk->size : 1, sunk->bytes ? sunk->bytes : "-");
}

static void refuse(void *context, const char *path, const char *sentence)
{
    Seen *seen = context;

    (void) sentence;
    seen->refused++;
    PUT(seen->last, "%s", path);
}

static bool take(const char *bytes, size_t size, const UnpackLimits *limits, Seen *seen, char *why)
{
    const Visitor visitor = { seen, wants, file, refuse };
    char entry[SUBMISSION_PATH];

    *seen = (Seen){ 0 };
    return archive_memory(bytes, size, limits, &visitor, entry, why, 300);
}

/* Creates an archive with these files. The size of each file is the length of its name times
 * `each`. */
static size_t make(char *to, bool zip, const char *const names[], size_t each)
{
    struct archive *archive = archive_write_new();
    size_t used = 0;

    if (zip)
        archive_write_set_format_zip(archive);
    else
        archive_write_set_format_ustar(archive);
    if (!zip)
        archive_write_add_filter_gzip(archive);
    archive_write_set_bytes_in_last_block(archive, 1);
    CU_ASSERT_EQUAL_FATAL(archive_write_open_memory(archive, to, ROOM, &used), ARCHIVE_OK);
    for (; *names; names++) {
        struct archive_entry *entry = archive_entry_new();
        archive_entry_set_pathname(entry, *names);
        archive_entry_set_filetype(entry, AE_IFREG);
        archive_entry_set_perm(entry, 0644);
        archive_entry_set_size(entry, (la_int64_t) (strlen(*names) * each));
        CU_ASSERT_EQUAL_FATAL(archive_write_header(archive, entry), ARCHIVE_OK);
        for (size_t i = 0; i < each; i++)
            archive_write_data(archive, *names, strlen(*names));
        archive_entry_free(entry);
    }
    CU_ASSERT_EQUAL_FATAL(archive_write_close(archive), ARCHIVE_OK);
    archive_write_free(archive);
    return used;
}

static void honest(void)
{
    static const char *const names[] = { "a/b.cu", "c.cu", NULL };
    char *bytes = xmalloc(ROOM), why[300];
    Seen seen;

    for (int zip = 0; zip < 2; zip++) {
        size_t size = make(bytes, zip, names, 1);
        CU_ASSERT_TRUE(take(bytes, size, &archive_student, &seen, why));
        CU_ASSERT_EQUAL(seen.files, 2);
        CU_ASSERT_EQUAL(seen.bytes, 10);
        CU_ASSERT_STRING_EQUAL(seen.last, "c.cu");
        CU_ASSERT_STRING_EQUAL(seen.text, "c.cu");
        size = make(bytes, zip, names, 9); /* 36 bytes exceed the limit */
        CU_ASSERT_TRUE(take(bytes, size, &archive_student, &seen, why));
        CU_ASSERT_STRING_EQUAL(seen.text, "-");
    }
    free(bytes);
}

/* Tests each limit alone: reached exactly, and exceeded by one. */
static void limits(void)
{
    static const char *const names[] = { "aaaaaaaaaa", "bbbbbbbbbb", "cccccccccc", NULL };
    const UnpackLimits wide = { 100, 1 << 20, 1 << 20, 1000000, 1 };
    static const UnpackLimits rows[] = {
        { 2, 1 << 20, 1 << 20, 1000000, 1 },
        { 100, 1 << 20, 299999, 1000000, 1 },
        { 100, 1 << 20, 1 << 20, 5, 1 },
    };
    char *bytes = xmalloc(ROOM), why[300], all[2000] = "";
    Seen seen;

    for (int zip = 0; zip < 2; zip++) {
        size_t size = make(bytes, zip, names, 10000);
        CU_ASSERT_TRUE(take(bytes, size, &wide, &seen, why));
        CU_ASSERT_EQUAL(seen.bytes, 300000);
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            CU_ASSERT_FALSE(take(bytes, size, &rows[i], &seen, why));
            APPEND(all, "%s\n", why);
        }
    }
    golden_gradebook("archives beyond a limit", all);
    free(bytes);
}

/* Earlier, a file of 257 MiB made gradebook refuse a whole class without naming the student. */
static void large_files_are_refused_alone(void)
{
    static const char *const names[] = { "small", "large as nothing else", "small too", NULL };
    const UnpackLimits limits = { 100, 50000, 1 << 20, 1000000, 1 };
    char *bytes = xmalloc(ROOM), why[300];
    Seen seen;

    for (int zip = 0; zip < 2; zip++) {
        size_t size = make(bytes, zip, names, 5000);
        CU_ASSERT_TRUE(take(bytes, size, &limits, &seen, why));
        CU_ASSERT_EQUAL(seen.files, 2);
        CU_ASSERT_EQUAL(seen.refused, 1);
        CU_ASSERT_STRING_EQUAL(seen.last, "small too");
    }
    free(bytes);
}

/* Reading an archive with random changes and cuts ends within the limits. */
static void damaged(void)
{
    static const char *const names[] = { "labs/06_transpose/kernel.cu", "x/predictions.txt",
                                         "../../evil", NULL };
    char *whole = xmalloc(ROOM), *bytes = xmalloc(ROOM), why[300];
    uint64_t random = 20261121;
    int unread = 0;
    Seen seen;

    for (int zip = 0; zip < 2; zip++) {
        size_t size = make(whole, zip, names, 40);
        for (int round = 0; round < 3000; round++) {
            size_t cut = size;
            memcpy(bytes, whole, size);
            for (int i = 0; i <= round % 8; i++)
                bytes[next_random(&random) % size] = (char) next_random(&random);
            if (round % 3 == 0)
                cut = next_random(&random) % size;
            unread += !take(bytes, cut, &archive_student, &seen, why);
            CU_ASSERT_TRUE(seen.bytes <= SUBMISSION_BYTES);
            CU_ASSERT_TRUE(seen.files <= SUBMISSION_FILES);
        }
    }
    CU_ASSERT_TRUE(unread > 1000);
    free(whole);
    free(bytes);
}

static bool name_seen(void *context, const char *path, bool is_folder)
{
    int *seen = context;

    (void) path, (void) is_folder;
    return ++*seen < 2;
}

static void names_alone(void)
{
    static const char *const names[] = { "a/b", "c", "d", NULL };
    char *bytes = xmalloc(ROOM), path[] = "/tmp/warpbook-names-XXXXXX", why[300];
    int seen = 0, fd = mkstemp(path);
    size_t size = make(bytes, true, names, 1);

    CU_ASSERT_TRUE_FATAL(fd >= 0);
    close(fd);
    CU_ASSERT_TRUE(write_file(path, bytes, size));
    CU_ASSERT_TRUE(archive_names(path, name_seen, &seen, why, sizeof why));
    CU_ASSERT_EQUAL(seen, 2);
    CU_ASSERT_TRUE(write_file(path, bytes, size / 2));
    CU_ASSERT_FALSE(archive_names("/nonexistent.zip", name_seen, &seen, why, sizeof why));
    CU_ASSERT_TRUE(write_file(path, "no archive", 10));
    CU_ASSERT_FALSE(archive_names(path, name_seen, &seen, why, sizeof why));
    unlink(path);
    free(bytes);
}

static int begin(void)
{
    return setlocale(LC_CTYPE, "C.UTF-8") == NULL;
}

static int end(void)
{
    return setlocale(LC_CTYPE, "C") == NULL;
}

CU_SuiteInfo test_gradebook_archive = {
    "gradebook archive",
    .pInitFunc = begin,
    .pCleanupFunc = end,
    .pTests =
        (CU_TestInfo[]){
            { "honest archives", honest },
            { "limits", limits },
            { "only the large file is refused", large_files_are_refused_alone },
            { "damaged archives", damaged },
            { "reading only names", names_alone },
            CU_TEST_INFO_NULL,
        },
};
