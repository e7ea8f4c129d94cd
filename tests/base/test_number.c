/* test_number.c - the numbers that options, course files and the grader's own lines may hold, and
 * texts that only look like numbers. */
#include "base/number.h"

#include <CUnit/CUnit.h>
#include <float.h>

static void whole_numbers_are_digits_only(void)
{
    static const struct {
        const char *text;
        int base;
        uint64_t most, value;
        bool fine;
    } rows[] = {
        { "0", 10, 9, 0, true },
        { "18446744073709551615", 10, UINT64_MAX, UINT64_MAX, true },
        { "18446744073709551616", 10, UINT64_MAX, 0, false }, /* would saturate */
        { "10", 10, 9, 0, false },
        { "ffFF", 16, UINT64_MAX, 65535, true },
        { "0x10", 16, UINT64_MAX, 0, false },
        { "ff", 10, UINT64_MAX, 0, false },
        { "", 10, 9, 0, false },
        { " 1", 10, 9, 0, false },
        { "-1", 10, UINT64_MAX, 0, false }, /* strtoull would take it as 2^64 - 1 */
        { "+1", 10, 9, 0, false },
        { "1 ", 10, 9, 0, false },
        { "1.0", 10, 9, 0, false },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint64_t value = 77;
        CU_ASSERT_EQUAL(parse_whole(rows[i].text, rows[i].base, rows[i].most, &value),
                        rows[i].fine);
        CU_ASSERT_EQUAL(value, rows[i].value);
    }
}

static void numbers_are_decimal_and_finite(void)
{
    static const struct {
        const char *text;
        double value;
        const char *rest; /* NULL: no number */
    } rows[] = {
        { "0.75", 0.75, "" }, { "-2", -2, "" },     { "+.5", 0.5, "" },
        { "5.", 5, "" },      { "1e3", 1000, "" },  { "1.5 MiB", 1.5, " MiB" },
        { "90s", 90, "s" },   { "0x10", 0, "x10" }, { "1e999", 0, NULL },
        { "nan", 0, NULL },   { "inf", 0, NULL },   { "-inf", 0, NULL },
        { " 1", 0, NULL },    { "", 0, NULL },      { ".", 0, NULL },
        { "-", 0, NULL },     { "3e", 3, "e" },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double value = 77, all = 77;
        const char *rest = parse_prefix(rows[i].text, &value);
        bool fine = rows[i].rest && !*rows[i].rest;
        CU_ASSERT_EQUAL(value, rows[i].value);
        CU_ASSERT_EQUAL(rest != NULL, rows[i].rest != NULL);
        if (rest && rows[i].rest)
            CU_ASSERT_STRING_EQUAL(rest, rows[i].rest);
        CU_ASSERT_EQUAL(parse_number(rows[i].text, -DBL_MAX, DBL_MAX, &all), fine);
        CU_ASSERT_EQUAL(all, fine ? rows[i].value : 0);
        CU_ASSERT_EQUAL(number_or_zero(rows[i].text), fine ? rows[i].value : 0);
    }
}

static void numbers_outside_their_range_are_refused(void)
{
    double value = 77;

    CU_ASSERT(parse_number("1", 1, 2, &value) && value == 1);
    CU_ASSERT(parse_number("2", 1, 2, &value) && value == 2);
    CU_ASSERT(!parse_number("0.999", 1, 2, &value) && value == 0);
    CU_ASSERT(!parse_number("2.001", 1, 2, &value));
}

CU_SuiteInfo test_number = {
    "number",
    .pTests =
        (CU_TestInfo[]){
            { "whole numbers are digits only", whole_numbers_are_digits_only },
            { "numbers are decimal and finite", numbers_are_decimal_and_finite },
            { "numbers outside their range are refused", numbers_outside_their_range_are_refused },
            CU_TEST_INFO_NULL,
        },
};
