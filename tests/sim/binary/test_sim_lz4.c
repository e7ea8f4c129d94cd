/* test_sim_lz4.c - LZ4 blocks: valid ones are unpacked, damaged ones refused. */
#include "sim/binary/fatbin.h"
#include "rows.h"

#include <CUnit/CUnit.h>
#include <stdlib.h>
#include <string.h>

static void lz4_blocks(void)
{
    static const struct {
        const char *in;
        int size;
        const char *out; /* NULL: refused */
        int room;
    } rows[] = {
        { "\60abc", 4, "abc", 3 },
        { "\0", 1, "", 0 },
        { "\61abc\3\0\20d", 8, "abcabcabd", 99 },
        { "\20a", 2, "a", 99 },
        { "\37a\1\0\2\20b", 7, "aaaaaaaaaaaaaaaaaaaaaab", 99 }, /* 1 + 15 + 2 + 4 */
        { "", 0, NULL, 9 },
        { "\60ab", 3, NULL, 9 },  /* a literal is missing */
        { "\60abc", 4, NULL, 2 }, /* no room for a literal */
        { "\360", 1, NULL, 9 },   /* the length should continue, but the input ends */
        { "\360\377\377\377", 4, NULL, 9 },
        { "\61abc\0\0\20d", 8, NULL, 99 }, /* distance 0 */
        { "\61abc\4\0\20d", 8, NULL, 99 }, /* before the beginning */
        { "\61abc\3", 5, NULL, 99 },       /* half a distance */
        { "\61abc\3\0\20d", 8, NULL, 7 },  /* no room for the match */
        { "\61abc\3\0", 6, NULL, 99 },     /* no literals behind the last match */
        { "\37a\1\0", 4, NULL, 99 },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        unsigned char *in = malloc((size_t) rows[i].size + 1),
                      *out = malloc((size_t) rows[i].room + 1);
        long got;
        memcpy(in, rows[i].in, (size_t) rows[i].size);
        in = realloc(in, rows[i].size ? (size_t) rows[i].size : 1);
        got = lz4_unpack(in, (size_t) rows[i].size, out, (size_t) rows[i].room);
        CU_ASSERT_EQUAL(got, rows[i].out ? (long) strlen(rows[i].out) : -1);
        if (rows[i].out && got >= 0)
            CU_ASSERT_NSTRING_EQUAL(out, rows[i].out, (size_t) got);
        free(in);
        free(out);
    }
}

CU_SuiteInfo test_sim_lz4 = {
    "sim_lz4",
    .pTests =
        (CU_TestInfo[]){
            { "LZ4 blocks", lz4_blocks },
            CU_TEST_INFO_NULL,
        },
};
