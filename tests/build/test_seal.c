/* test_seal.c - stubs of solutions: no source text, but the same hash. */
#include "build/stub.h"
#include "base/util.h"

#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char source[] = "// the fastest way\n__global__ void secret_idea(void) {}\n";
static char folder[64], original[100], object[100];

static int begin(void)
{
    PUT(folder, "/tmp/warpbook-seal-XXXXXX");
    return !mkdtemp(folder) ||
           !write_file(PUT(original, "%s/original.cu", folder), source, strlen(source)) ||
           !write_file(PUT(object, "%s/kernel.so", folder), "machine\0code", 12);
}

static int end(void)
{
    remove_tree(folder);
    return 0;
}

static void a_stand_in(void)
{
    char path[100], so[200];
    size_t size = 0;
    char *text, *bytes;

    CU_ASSERT_TRUE_FATAL(seal(original, object, ".so", folder, "5_padded.cu"));
    PUT(path, "%s/5_padded.cu", folder);
    CU_ASSERT_TRUE(is_sealed(path, so, sizeof so));
    CU_ASSERT_EQUAL(solution_hash(path), solution_hash(original));
    CU_ASSERT_EQUAL(solution_hash(path), hash_bytes(HASH_START, source, strlen(source)));
    text = read_file(path, 4096, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    CU_ASSERT_EQUAL(strlen(text), strlen("// sealed 0123456789abcdef\n"));
    CU_ASSERT_PTR_NULL(strstr(text, "secret"));
    bytes = read_file(so, 4096, &size);
    CU_ASSERT_PTR_NOT_NULL_FATAL(bytes);
    CU_ASSERT_EQUAL(size, 12);
    CU_ASSERT_EQUAL(memcmp(bytes, "machine\0code", 12), 0);
    free(text);
    free(bytes);

    /* A stub of a stub is identical. */
    CU_ASSERT_TRUE(seal(path, NULL, ".so", folder, "again.cu"));
    PUT(path, "%s/again.cu", folder);
    CU_ASSERT_EQUAL(solution_hash(path), solution_hash(original));
    CU_ASSERT_TRUE(is_sealed(path, so, sizeof so));
    CU_ASSERT_FALSE(file_exists(so)); /* without an object */
}

static void other_files(void)
{
    char path[100], so[200];

    CU_ASSERT_FALSE(is_sealed(original, so, sizeof so));
    PUT(path, "%s/nothing.cu", folder);
    CU_ASSERT_FALSE(is_sealed(path, so, sizeof so));
    CU_ASSERT_EQUAL(solution_hash(path), 0);
    write_file(path, "// sealed by hand\n", 18); /* no hash, so it is an ordinary text */
    CU_ASSERT_FALSE(is_sealed(path, so, sizeof so));
    CU_ASSERT_EQUAL(solution_hash(path), hash_bytes(HASH_START, "// sealed by hand\n", 18));
    CU_ASSERT_FALSE(seal(original, "/nonexistent.so", ".so", folder, "x.cu"));
    CU_ASSERT_FALSE(seal(original, NULL, ".so", "/nonexistent", "x.cu"));
}

CU_SuiteInfo test_seal = {
    "seal",
    .pInitFunc = begin,
    .pCleanupFunc = end,
    .pTests =
        (CU_TestInfo[]){
            { "a stand-in", a_stand_in },
            { "other files", other_files },
            CU_TEST_INFO_NULL,
        },
};
