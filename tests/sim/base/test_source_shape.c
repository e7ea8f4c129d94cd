/* test_source_shape.c - the dimensions of arrays, from the source that declares them. */
#include "sim/base/finding.h"
#include "sim/base/source_shape.h"

#include <CUnit/CUnit.h>
#include <stdio.h>
#include <string.h>

static const char source[] =
    "enum { TILE = 32, HALF = TILE / 2 };\n"
    "#define PITCH (TILE + 1)\n"
    "constexpr int DEPTH = 2;\n"
    "__global__ void k(float *out)\n{\n"
    "    __shared__ float tile[TILE][TILE + 1], flat[TILE * PITCH];\n"
    "    __shared__ __align__(16) float as[DEPTH][HALF][8];\n"
    "    __shared__ float macro[4][PITCH], templated[4][N];\n"
    "    float mine[2][3];\n"
    "    { __shared__ int same[2][4]; }\n    { __shared__ int same[2][4]; }\n"
    "    { __shared__ int differs[2][4]; }\n"
    "    { __shared__ int differs[4][2]; }\n"
    "    tile[threadIdx.y][threadIdx.x] = macro[0][0] / 0;\n}\n"
    "__shared__ int zero[4][1 / 0], loop[2][LOOP], open[2][3;\n"
    "enum { LOOP = LOOP };\n";

static void shapes(void)
{
    static const struct {
        const char *name;
        int count;
        long dims[SHAPE_DIMS];
    } rows[] = {
        { "tile", 2, { 32, 33 } }, { "flat", 1, { 1056 } },   { "as", 3, { 2, 16, 8 } },
        { "macro", 2, { 4, 33 } }, { "templated", 0, { 0 } }, { "mine", 0, { 0 } },
        { "same", 2, { 2, 4 } },   { "differs", 0, { 0 } },   { "zero", 0, { 0 } },
        { "loop", 0, { 0 } },      { "open", 0, { 0 } },      { "absent", 0, { 0 } },
        { "threadIdx", 0, { 0 } },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        long dims[SHAPE_DIMS];
        const int count = source_shape(source, rows[i].name, dims);
        CU_ASSERT_EQUAL(count, rows[i].count);
        for (int d = 0; d < count && count == rows[i].count; d++)
            CU_ASSERT_EQUAL(dims[d], rows[i].dims[d]);
        if (count != rows[i].count)
            printf("%s: %d dimensions\n", rows[i].name, count);
    }
}

static void sentences(void)
{
    static const char *const rows[][2] = {
        { "reads `tile[33]`, which", "reads `tile[1][0]`, which" },
        { "reads `as[0]` and `as[255]`", "reads `as[0][0][0]` and `as[1][15][7]`" },
        { "reads `tile[32..35]`", "reads `tile[0][32..35]`" },
        { "reads `tile[1056]`, but", "reads `tile[32][0]`, but" },
        { "reads `tile[-1]`", "reads `tile[-1]`" },
        { "reads `flat[33]`", "reads `flat[33]`" },
        { "reads `differs[3]`", "reads `differs[3]`" },
        { "`tile`, `tile[", "`tile`, `tile[" },
        { "no array", "no array" },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[100];
        snprintf(text, sizeof text, "%s", rows[i][0]);
        source_shape_sentence(source, text, sizeof text);
        CU_ASSERT_STRING_EQUAL(text, rows[i][1]);
        if (strcmp(text, rows[i][1]))
            printf("%s\n", text);
    }
}

/* A sentence that would not fit stays as it is. */
static void no_room(void)
{
    char text[] = "reads `tile[33]`";

    source_shape_sentence(source, text, sizeof text);
    CU_ASSERT_STRING_EQUAL(text, "reads `tile[33]`");
    source_shape_file("/nonexistent", text, sizeof text);
    CU_ASSERT_STRING_EQUAL(text, "reads `tile[33]`");
}

/* A source that was written to overflow the stack, to divide by zero, or to take for ever. */
static void hostile_sources(void)
{
    enum { BYTES = 256 << 10 };
    static char text[BYTES + 1], sentence[100];
    char *at = text;
    long dims[SHAPE_DIMS];

    memset(text, '(', BYTES);
    memcpy(text, "__shared__ x tile[", 18);
    CU_ASSERT_EQUAL(source_shape(text, "tile", dims), 0);
    for (char c = 'A'; c < 'H'; c++) {
        at += sprintf(at, "#define %c %c", c, c + 1);
        for (int i = 0; i < 1000; i++)
            at += sprintf(at, "-%c", c + 1);
        at += sprintf(at, "\n");
    }
    sprintf(at, "#define H 1\n__shared__ float tile[A];");
    CU_ASSERT_EQUAL(source_shape(text, "tile", dims), 0);
    sprintf(text, "__shared__ float tile[2][16777216*16777216][16777216*16777216];");
    CU_ASSERT_EQUAL(source_shape(text, "tile", dims), 0);
    sprintf(text, "__shared__ float tile[2][16777216][16777216][16777216];");
    sprintf(sentence, "reads `tile[33]`, which");
    source_shape_sentence(text, sentence, sizeof sentence);
    CU_ASSERT_STRING_EQUAL(sentence, "reads `tile[33]`, which");
}

/* A race within a warp gives way to a race between warps at the same line, not the other way. */
static void provisional(void)
{
    const Place one_warp = { .kernel = "k", .line = 7, .thread = { 1 }, .provisional = true };
    const Place two_warps = { .kernel = "k", .line = 7, .thread = { 40 }, .other_line = 5 };

    finding_reset();
    finding_quiet(true);
    finding(FINDING_RACE, false, &one_warp, "in a warp");
    CU_ASSERT_STRING_EQUAL(finding_at(0)->text, "in a warp");
    finding(FINDING_RACE, false, &two_warps, "between warps");
    finding(FINDING_RACE, false, &one_warp, "in a warp");
    CU_ASSERT_EQUAL(finding_count(), 1);
    CU_ASSERT_EQUAL(finding_at(0)->count, 3);
    CU_ASSERT_STRING_EQUAL(finding_at(0)->text, "between warps");
    CU_ASSERT_EQUAL(finding_at(0)->place.thread[0], 40);
    CU_ASSERT_EQUAL(finding_at(0)->place.other_line, 5);
    finding_reset();
}

CU_SuiteInfo test_source_shape = {
    "source shape",
    .pTests =
        (CU_TestInfo[]){
            { "dimensions of arrays", shapes },
            { "in sentences", sentences },
            { "hostile sources", hostile_sources },
            { "no room, no file", no_room },
            { "findings that are replaced", provisional },
            CU_TEST_INFO_NULL,
        },
};
