/* test_compare.c - which results count as right, and how a wrong array is described. */
#include "build/errors_of.h"
#include "judge/message.h"
#include "rows.h"

#include <CUnit/CUnit.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void compare_by(Difference *d, const Tolerance *tolerance, Type type, const void *got,
                       const void *want, size_t first, size_t count, unsigned char poison)
{
    double *error = errors_of(tolerance, type, want, count);

    compare(d, type, got, want, error, first, count, poison);
    free(error);
}

/* ---- One element ---- */

static void close_or_not(void)
{
    static const struct {
        double got, want, rtol, atol;
        bool close;
    } rows[] = {
        { 1, 1, 0, 0, true },
        { 0.0, -0.0, 0, 0, true },
        { 1, 1.0000001, 0, 0, false },
        { 1.01, 1, 0.01, 0.001, true },
        { 1.02, 1, 0.01, 0.001, false },
        { -1.01, -1, 0.01, 0.001, true },
        { 1, -1, 0.5, 0.5, false },
        { 5, 4.5, 0, 0.5, true }, /* at the bound */
        { 0, 1e-9, 1e-6, 0, false },
        { 0, 1e-9, 0, 1e-6, true },
        { NAN, 1, 1, 1, false },
        { NAN, NAN, 1, 1, false },
        { 1, NAN, 1, 1, false },
        { NAN, INFINITY, 1, 1, false },
        { NAN, 0, INFINITY, INFINITY, false },
        { INFINITY, INFINITY, 0, 0, true },
        { INFINITY, INFINITY, 0.1, 0.1, true },
        { -INFINITY, INFINITY, 1, 1, false },
        { INFINITY, 1, 1, 1, false },
        { INFINITY, DBL_MAX, 1, 1, false },
        { DBL_MAX, INFINITY, 1, 1, false },
        { 1, INFINITY, 1, 1, false },
        { INFINITY, 1, 0, INFINITY, false },
        { INFINITY, DBL_MAX, 2, 0, false },         /* the bound overflows */
        { -DBL_MAX, DBL_MAX, 1, 0, false },         /* the error overflows */
        { -DBL_MAX, DBL_MAX, 2, DBL_MAX, false },   /* both */
        { DBL_MAX / 2, DBL_MAX, 1, DBL_MAX, true }, /* a huge tolerance is valid */
        { 1, 1, NAN, 0, false },                    /* an invalid tolerance is ignored */
    };

    for (size_t i = 0; i < COUNT(rows); i++)
        CU_ASSERT_EQUAL(close_enough(rows[i].got, rows[i].want,
                                     rows[i].atol + rows[i].rtol * fabs(rows[i].want)),
                        rows[i].close);
}

static void elements_of_every_type(void)
{
    static const float f32[] = { 0, -1.5f };
    static const double f64[] = { 0, 1e300 };
    static const int32_t i32[] = { 0, INT32_MIN };
    static const uint32_t u32[] = { 0, UINT32_MAX };
    static const uint8_t u8[] = { 0, 255 };
    static const struct {
        Type type;
        size_t bytes;
        const void *data;
        double value;
    } rows[] = {
        { F32, 4, f32, -1.5 },         { F64, 8, f64, 1e300 }, { I32, 4, i32, -2147483648.0 },
        { U32, 4, u32, 4294967295.0 }, { U8, 1, u8, 255 },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        CU_ASSERT_EQUAL(type_bytes(rows[i].type), rows[i].bytes);
        CU_ASSERT_EQUAL(element(rows[i].type, rows[i].data, 1), rows[i].value);
        CU_ASSERT_EQUAL(element(rows[i].type, rows[i].data, 0), 0);
    }
}

/* ---- Arrays: one element is set; blocks are 1024 long, so it is set near their ends ---- */

static void one_wrong_element_is_found(void)
{
    enum { N = 5000 };
    static const size_t places[] = { 0, 1, 1023, 1024, 1025, 2047, 4095, 4096, 4999 };
    static const struct {
        float got, want;
        bool right, right_loosely;
    } rows[] = {
        { 1, 1, true, true },
        { 1.0000001f, 1, false, true },
        { 1.01f, 1, false, false },
        { -0.0f, 0.0f, true, true },
        { 1e-30f, 0, false, true },
        { NAN, 1, false, false },
        { NAN, NAN, true, true }, /* softmax of a row with NaN: it may be the right result */
        { 1, NAN, false, false },
        { INFINITY, INFINITY, true, true },
        { -INFINITY, INFINITY, false, false },
        { INFINITY, FLT_MAX, false, false },
        { FLT_MAX, INFINITY, false, false },
        { -FLT_MAX, FLT_MAX, false, false },
    };
    static float got[N], want[N];

    for (size_t p = 0; p < COUNT(places); p++)
        for (size_t r = 0; r < COUNT(rows); r++)
            for (int how = 0; how < 2; how++) {
                Difference d = { 0 };
                bool right = how ? rows[r].right_loosely : rows[r].right;
                for (int i = 0; i < N; i++)
                    got[i] = want[i] = (float) i;
                got[places[p]] = rows[r].got;
                want[places[p]] = rows[r].want;
                compare_by(&d, how ? &loose : &exact, F32, got, want, 0, N, POISON_EVEN);
                CU_ASSERT_EQUAL(d.compared, N);
                CU_ASSERT_EQUAL(d.wrong, !right);
                CU_ASSERT(right || (d.first == places[p] && d.last == places[p]));
            }
}

static void every_type_is_compared(void)
{
    enum { N = 2100 };
    static const Type types[] = { F32, F64, I32, U32, U8 };
    static double got[N], want[N]; /* room for any type */

    for (size_t t = 0; t < COUNT(types); t++)
        for (int how = 0; how < 2; how++) {
            size_t bytes = type_bytes(types[t]);
            Difference d = { 0 };
            memset(got, 1, sizeof got);
            memset(want, 1, sizeof want);
            compare_by(&d, how ? &loose : &exact, types[t], got, want, 0, N, POISON_EVEN);
            CU_ASSERT_EQUAL(d.wrong, 0);
            memset((char *) got + 1500 * bytes, 0x41, 3 * bytes);
            memset((char *) got + 2099 * bytes, 0, bytes);
            compare_by(&d, how ? &loose : &exact, types[t], got, want, 0, N, POISON_EVEN);
            CU_ASSERT_EQUAL(d.wrong, how && types[t] == F64 ? 3 : how && types[t] == F32 ? 3 : 4);
            CU_ASSERT_EQUAL(d.first, 1500);
            CU_ASSERT_EQUAL(d.compared, 2 * N);
        }
}

static void large_integers_are_distinguished(void)
{
    static const uint32_t got_u[] = { 4294967295u, 16777217 }, want_u[] = { 4294967294u, 16777216 };
    static const int32_t got_i[] = { INT32_MIN, -16777217 }, want_i[] = { INT32_MAX, -16777216 };
    Difference d = { 0 };

    compare_by(&d, &exact, U32, got_u, want_u, 0, 2, POISON_ODD);
    compare_by(&d, &exact, I32, got_i, want_i, 0, 2, POISON_ODD);
    CU_ASSERT_EQUAL(d.wrong, 4);
}

static void windows_add_up(void)
{
    float want[3000], got[3000];
    Difference d = { 0 };

    for (int i = 0; i < 3000; i++)
        got[i] = want[i] = (float) i + 1;
    got[700] = 0;
    memset(&got[2500], POISON_ODD, 2 * sizeof *got);
    compare_by(&d, &exact, F32, got, want, 1000000, 500, POISON_ODD);
    CU_ASSERT_EQUAL(d.wrong, 0);
    compare_by(&d, &exact, F32, got + 500, want + 500, 1000500, 1500, POISON_ODD);
    compare_by(&d, &exact, F32, got + 2000, want + 2000, 1002000, 1000, POISON_ODD);
    CU_ASSERT_EQUAL(d.compared, 3000);
    CU_ASSERT_EQUAL(d.wrong, 3);
    CU_ASSERT_EQUAL(d.zeros, 1);
    CU_ASSERT_EQUAL(d.unwritten, 2);
    CU_ASSERT_EQUAL(d.first, 1000700);
    CU_ASSERT_EQUAL(d.last, 1002501);
    CU_ASSERT_EQUAL(d.got, 0);
    CU_ASSERT_EQUAL(d.want, 701);
}

static void poison_is_never_right(void)
{
    static const unsigned char poisons[] = { POISON_EVEN, POISON_ODD };

    for (size_t p = 0; p < COUNT(poisons); p++)
        for (int how = 0; how < 2; how++) {
            float got[8], want[8] = { 0, 1, -1, 1e30f, -1e30f, FLT_MAX, -FLT_MAX, NAN };
            Difference d = { 0 };
            memset(got, poisons[p], sizeof got);
            compare_by(&d, how ? &loose : &exact, F32, got, want, 0, 8, poisons[p]);
            CU_ASSERT_EQUAL(d.wrong, 8);
            CU_ASSERT_EQUAL(d.unwritten, 8);
        }
}

static void places(void)
{
    static const struct {
        size_t rows, cols, index;
        const char *text;
    } rows[] = {
        { 1, 100, 7, "element 7" },
        { 10, 10, 0, "row 0, column 0" },
        { 33, 31, 98, "row 3, column 5" },
        { 100, 1, 42, "row 42, column 0" },
        { 0, 0, 3, "element 3" },
        { 1, (size_t) 1 << 40, 5000000000, "element 5000000000" },
    };
    char text[64];

    for (size_t i = 0; i < COUNT(rows); i++) {
        Array array = { F32, rows[i].rows, rows[i].cols, { 0 }, NULL };
        message_place(&array, rows[i].index, text, sizeof text);
        CU_ASSERT_STRING_EQUAL(text, rows[i].text);
    }
}

CU_SuiteInfo test_compare = {
    "compare",
    .pTests =
        (CU_TestInfo[]){
            { "close or not", close_or_not },
            { "elements of every type", elements_of_every_type },
            { "one wrong element is found", one_wrong_element_is_found },
            { "every type is compared", every_type_is_compared },
            { "large integers are distinguished", large_integers_are_distinguished },
            { "windows add up", windows_add_up },
            { "poison is never right", poison_is_never_right },
            { "places", places },
            CU_TEST_INFO_NULL,
        },
};
