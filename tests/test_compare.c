/* test_compare.c - what may pass for right, and how a wrong array is described. */
#include "compare.h"
#include "util.h"

#include <CUnit/CUnit.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* A lab's truth sets the errors; these stand for two labs. */
typedef struct Tolerance {
    double rtol, atol;
} Tolerance;

static const Tolerance exact = { 0, 0 }, loose = { 1e-3, 1e-3 };

static double *errors_of(const Tolerance *tolerance, Type type, const void *want, size_t count)
{
    double *error = xcalloc(count, sizeof *error);

    for (size_t i = 0; i < count; i++)
        error[i] = tolerance->atol + tolerance->rtol * fabs(element(type, want, i));
    return error;
}

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
        { DBL_MAX / 2, DBL_MAX, 1, DBL_MAX, true }, /* a silly tolerance is one */
        { 1, 1, NAN, 0, false },                    /* a broken one is none */
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

/* ---- Arrays: one element is set; blocks are 1024 long, so places around their ends ---- */

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
        { NAN, NAN, false, false },
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
    static double got[N], want[N]; /* room for any */

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

static void large_integers_are_told_apart(void)
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
            float got[8], want[8] = { 0, 1, -1, 1e30f, -1e30f, FLT_MAX, -FLT_MAX, 1e-30f };
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
        say_place(text, sizeof text, &array, rows[i].index);
        CU_ASSERT_STRING_EQUAL(text, rows[i].text);
    }
}

/* ---- Patterns: a mistake is made on purpose, the clause must name it ---- */

typedef struct Sheet {
    Type type;
    Tolerance tolerance;
    size_t rows, cols, n;
    Arrays arrays;
    Inputs inputs;
    unsigned char poison;
    double *got, *want; /* by value; converted to the type at the end */
} Sheet;

typedef void Mistake(Sheet *sheet, long parameter);

static void set(const Sheet *s, void *data, size_t i, double value)
{
    switch (s->type) {
    case F32:
        ((float *) data)[i] = (float) value;
        return;
    case F64:
        ((double *) data)[i] = value;
        return;
    case I32:
        ((int32_t *) data)[i] = (int32_t) value;
        return;
    case U32:
        ((uint32_t *) data)[i] = (uint32_t) value;
        return;
    case U8:
        ((uint8_t *) data)[i] = (uint8_t) value;
        return;
    }
}

/* Marks what shall stay poison. */
static const double never = -77777.25;

static void tail_from(Sheet *s, long from)
{
    for (size_t i = (size_t) from; i < s->n; i++)
        s->got[i] = never;
}

static void tail_zero(Sheet *s, long from)
{
    for (size_t i = (size_t) from; i < s->n; i++)
        s->got[i] = 0;
}

static void tail_mixed(Sheet *s, long from)
{
    uint64_t state = 1;

    for (size_t i = (size_t) from; i < s->n; i++)
        s->got[i] = (double) (next_random(&state) % 1000) + 5000;
}

static void same_value(Sheet *s, long value)
{
    for (size_t i = 0; i < s->n; i++)
        s->got[i] = (double) value;
}

static void same_value_in_half(Sheet *s, long value)
{
    for (size_t i = 0; i < s->n; i++)
        if (i % 7 < 4 && i > 20)
            s->got[i] = (double) value;
}

static void shift(Sheet *s, long by)
{
    for (size_t i = 0; i < s->n; i++)
        s->got[i] = s->want[(i + s->n + (size_t) by) % s->n];
}

static void shift_nine_tenths(Sheet *s, long by)
{
    shift(s, by);
    for (size_t i = 0; i < s->n; i += 11)
        s->got[i] = 9999;
}

static void shift_eight_tenths(Sheet *s, long by)
{
    shift(s, by);
    for (size_t i = 0; i < s->n; i += 5)
        s->got[i] = 9999;
}

static void copy_input(Sheet *s, long which)
{
    FillKey key = fill_key(s->inputs.seed, (int) which);

    for (size_t i = 0; i < s->n; i++)
        s->got[i] = s->type == F32 || s->type == F64
                        ? (double) fill_f32(s->arrays.in[which].fill, key, i)
                        : fill_i32(s->arrays.in[which].fill, key, i);
}

static void swap_sides(Sheet *s, long other)
{
    for (size_t r = 0; r < s->rows; r++)
        for (size_t c = 0; c < s->cols; c++)
            if (other)
                s->got[c * s->rows + r] = s->want[r * s->cols + c];
            else
                s->got[r * s->cols + c] = s->want[c * s->rows + r];
}

static void swap_in_tiles(Sheet *s, long tile)
{
    size_t t = (size_t) tile;

    for (size_t r = 0; r < s->rows / t * t; r++)
        for (size_t c = 0; c < s->cols / t * t; c++)
            s->got[r * s->cols + c] = s->want[(r / t * t + c % t) * s->cols + c / t * t + r % t];
}

static void swap_tiles(Sheet *s, long tile)
{
    size_t t = (size_t) tile;

    for (size_t r = 0; r < s->rows; r++)
        for (size_t c = 0; c < s->cols; c++)
            s->got[r * s->cols + c] = s->want[(c / t * t + r % t) * s->cols + r / t * t + c % t];
}

static void columns_from(Sheet *s, long col)
{
    for (size_t i = 0; i < s->n; i++)
        if ((long) (i % s->cols) >= col)
            s->got[i] = never;
}

static void one_column(Sheet *s, long col)
{
    for (size_t i = 0; i < s->n; i++)
        if ((long) (i % s->cols) == col)
            s->got[i] = 0;
}

static void corner_only(Sheet *s, long side)
{
    for (size_t i = 0; i < s->n; i++)
        if ((long) (i % s->cols) >= side || (long) (i / s->cols) >= side)
            s->got[i] = never;
}

static void every(Sheet *s, long step)
{
    for (size_t i = 1; i < s->n; i += (size_t) step)
        s->got[i] = never;
}

static void all_but_every(Sheet *s, long step)
{
    for (size_t i = 0; i < s->n; i++)
        if (i % (size_t) step)
            s->got[i] = never;
}

static void times(Sheet *s, long factor)
{
    for (size_t i = 0; i < s->n; i++)
        s->got[i] = (double) factor * s->want[i];
}

static void plus(Sheet *s, long by)
{
    for (size_t i = 0; i < s->n; i++)
        s->got[i] = (double) by + s->want[i];
}

static void nans(Sheet *s, long from)
{
    for (size_t i = (size_t) from; i < s->n; i += 3)
        s->got[i] = NAN;
}

static void scattered_unwritten(Sheet *s, long chance)
{
    uint64_t state = 5;

    for (size_t i = 0; i < s->n; i++)
        if (next_random(&state) % (uint64_t) chance == 0)
            s->got[i] = never;
}

static void noise(Sheet *s, long chance)
{
    uint64_t state = 4;

    for (size_t i = 0; i < s->n; i++)
        if (next_random(&state) % (uint64_t) chance == 0)
            s->got[i] = s->want[i] + 1 + (double) (next_random(&state) % 50);
}

/* Values of 0 and 1 only, all flipped: no shift, no transposition may be read into that. */
static void flip_bits(Sheet *s, long chance)
{
    uint64_t state = 6;

    for (size_t i = 0; i < s->n; i++) {
        s->want[i] = (double) (next_random(&state) & 1);
        s->got[i] = s->want[i];
        if (next_random(&state) % (uint64_t) chance == 0)
            s->got[i] = 1 - s->want[i];
    }
}

/* As if shifted by one, but with two values only that is as likely a negation. */
static void alternating(Sheet *s, long parameter)
{
    (void) parameter;
    for (size_t i = 0; i < s->n; i++) {
        s->want[i] = (double) (i & 1);
        s->got[i] = 1 - s->want[i];
    }
}

static void nothing(Sheet *s, long parameter)
{
    (void) s, (void) parameter;
}

static void first_three(Sheet *s, long parameter)
{
    (void) parameter;
    for (int i = 0; i < 3; i++)
        s->got[i] = never;
}

static const char *run(Sheet *s, Mistake *mistake, long parameter)
{
    void *got, *want;
    double *error;
    uint64_t state = 3;
    Difference d = { 0 };
    size_t bytes = type_bytes(s->type);
    const char *clause;

    s->n = s->rows * s->cols;
    s->arrays.in[0] = (Array){ s->type, s->rows, s->cols, { FILL_RANGE, 0, 250 }, NULL };
    s->arrays.out[0] = (Array){ s->type, s->rows, s->cols, { 0 }, NULL };
    s->inputs = (Inputs){ &s->arrays, 77 };
    s->got = xmalloc(s->n * sizeof *s->got);
    s->want = xmalloc(s->n * sizeof *s->want);
    got = xmalloc(s->n * bytes);
    want = xmalloc(s->n * bytes);
    for (size_t i = 0; i < s->n; i++)
        s->got[i] = s->want[i] = (double) (1 + next_random(&state) % (s->type == U8 ? 50 : 1000));
    mistake(s, parameter);
    memset(got, s->poison, s->n * bytes);
    for (size_t i = 0; i < s->n; i++) {
        set(s, want, i, s->want[i]);
        if (s->got[i] != never)
            set(s, got, i, s->got[i]);
    }
    error = errors_of(&s->tolerance, s->type, want, s->n);
    compare(&d, s->type, got, want, error, 0, s->n, s->poison);
    clause = pattern(&d, &s->inputs, 0, got, want, error);
    free(error);
    free(got);
    free(want);
    free(s->got);
    free(s->want);
    return clause;
}

/* A vector of 1000, a matrix of 70 x 50 and a square of 96 x 96. */
static const struct {
    size_t rows, cols;
    Mistake *mistake;
    long parameter;
    const char *clause;
} patterns[] = {
    { 1, 1000, tail_from, 0, "no element was ever written" },
    { 1, 1000, same_value, 0, "every element is zero" },
    { 1, 1000, same_value, 3, "every element has the same value, 3" },
    { 1, 1000, tail_from, 992, "all elements from element 992 on (the tail) were never written" },
    { 70, 50, tail_from, 3232,
      "all elements from row 64, column 32 on (the tail) were never written" },
    { 1, 1000, tail_zero, 992, "all elements from element 992 on (the tail) are zero" },
    { 1, 1000, tail_mixed, 900, "all elements from element 900 on (the tail) are wrong" },
    { 1, 1000, same_value_in_half, 200, "the wrong elements all have the same value, 200" },
    { 1, 1000, shift, -1, "the wrong elements are those of their left neighbours (shifted by 1)" },
    { 1, 1000, shift, 1, "the wrong elements are those of their right neighbours (shifted by 1)" },
    { 1, 1000, shift, -32,
      "the wrong elements are those from 32 places further left (shifted by 32)" },
    { 1, 1000, shift, 5,
      "the wrong elements are those from 5 places further right (shifted by 5)" },
    { 1, 1000, shift, 33, "" },
    { 1, 1000, shift_nine_tenths, 1,
      "the wrong elements are those of their right neighbours (shifted by 1)" },
    { 1, 1000, shift_eight_tenths, 1, "" },
    { 70, 50, shift, 50, "the wrong elements are those of the row below" },
    { 70, 50, shift, -50, "the wrong elements are those of the row above" },
    { 1, 1000, copy_input, 0, "the wrong elements are the input's, copied without change" },
    { 70, 50, copy_input, 0, "the wrong elements are the input's, copied without change" },
    { 96, 96, swap_sides, 0,
      "the wrong elements are those of the transposed place (rows and columns swapped)" },
    { 70, 50, swap_sides, 0,
      "the wrong elements are those of the transposed place (rows and columns swapped)" },
    { 70, 50, swap_sides, 1,
      "the wrong elements are those of the transposed place (rows and columns swapped)" },
    { 96, 96, swap_in_tiles, 32,
      "the wrong elements have rows and columns swapped within their tiles of 32 x 32" },
    { 70, 50, swap_in_tiles, 16,
      "the wrong elements have rows and columns swapped within their tiles of 16 x 16" },
    { 96, 96, swap_tiles, 32,
      "the wrong elements belong into the tile across the diagonal (32 x 32), at the same place in "
      "it" },
    { 70, 50, columns_from, 48, "all columns from 48 on were never written" },
    { 70, 50, one_column, 17, "all elements of column 17 are zero" },
    { 70, 50, corner_only, 32,
      "all elements outside the first 32 rows and 32 columns were never written" },
    { 1, 1000, every, 4, "elements 1, 5, 9, ... were never written" },
    { 1, 1000, all_but_every, 4, "all elements but 0, 4, 8, ... were never written" },
    { 1, 1000, times, 2, "the wrong elements are 2 times what is right" },
    { 1, 1000, plus, 1, "the wrong elements are 1 too large" },
    { 70, 50, scattered_unwritten, 9, "the wrong elements were never written" },
    { 70, 50, noise, 9, "" },
    { 1, 1000, noise, 9, "" },
    { 1, 1000, noise, 1, "" },
    { 1, 1000, flip_bits, 3, "" },
    { 70, 50, flip_bits, 3, "" },
    { 1, 1000, alternating, 0, "" },
    { 1, 1000, nothing, 0, "" },
    { 1, 1000, first_three, 0, "" }, /* too few to speak of */
    { 1, 1000, tail_from, 997, "" },
    { 1, 3, same_value, 0, "" },
};

static void patterns_are_named(void)
{
    static const Type types[] = { F32, F64, I32, U32, U8 };

    for (size_t t = 0; t < COUNT(types); t++)
        for (size_t i = 0; i < COUNT(patterns); i++) {
            Sheet s = { .type = types[t],
                        .rows = patterns[i].rows,
                        .cols = patterns[i].cols,
                        .poison = i % 2 ? POISON_EVEN : POISON_ODD };
            bool too_wide = types[t] == U8 && (patterns[i].mistake == tail_mixed ||
                                               patterns[i].mistake == shift_eight_tenths ||
                                               patterns[i].mistake == shift_nine_tenths);
            const char *clause;
            if (too_wide) /* their values are no bytes */
                continue;
            clause = run(&s, patterns[i].mistake, patterns[i].parameter);
            if (strcmp(clause, patterns[i].clause))
                fprintf(stderr, "\npattern %zu, type %d:\n  got  %s\n  want %s\n", i,
                        (int) types[t], clause, patterns[i].clause);
            CU_ASSERT_STRING_EQUAL(clause, patterns[i].clause);
        }
}

static void patterns_of_reals(void)
{
    static const struct {
        Mistake *mistake;
        long parameter;
        const char *clause;
    } rows[] = {
        { nans, 1, "elements 1, 4, 7, ... are NaN or infinite" },
        { times, -1, "the wrong elements have the wrong sign" },
        { plus, -2, "the wrong elements are 2 too small" },
        { shift, 1, "the wrong elements are those of their right neighbours (shifted by 1)" },
        { noise, 3, "" },
    };

    for (size_t i = 0; i < COUNT(rows); i++)
        for (int how = 0; how < 2; how++) {
            Sheet s = { .type = how ? F64 : F32,
                        .tolerance = how ? loose : exact,
                        .rows = 1,
                        .cols = 3000,
                        .poison = POISON_ODD };
            CU_ASSERT_STRING_EQUAL(run(&s, rows[i].mistake, rows[i].parameter), rows[i].clause);
        }
}

/* More wrong elements than the sample has room for, and a sample that must not fall into step. */
static void large_arrays_are_sampled(void)
{
    static const struct {
        Mistake *mistake;
        long parameter;
        const char *clause;
    } rows[] = {
        { shift, -1, "the wrong elements are those of their left neighbours (shifted by 1)" },
        { swap_in_tiles, 32,
          "the wrong elements have rows and columns swapped within their tiles of 32 x 32" },
        { tail_from, 300000,
          "all elements from row 468, column 480 on (the tail) were never written" },
        { shift_eight_tenths, 1, "" },
        { noise, 2, "" },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        Sheet s = { .type = F32, .rows = 1024, .cols = 640, .poison = POISON_EVEN };
        CU_ASSERT_STRING_EQUAL(run(&s, rows[i].mistake, rows[i].parameter), rows[i].clause);
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
            { "large integers are told apart", large_integers_are_told_apart },
            { "windows add up", windows_add_up },
            { "poison is never right", poison_is_never_right },
            { "places", places },
            { "patterns are named", patterns_are_named },
            { "patterns of reals", patterns_of_reals },
            { "large arrays are sampled", large_arrays_are_sampled },
            CU_TEST_INFO_NULL,
        },
};
