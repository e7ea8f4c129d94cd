/* test_patterns.c - how a wrong array is described. */
#include "base/diagnosis.h"
#include "build/errors_of.h"
#include "rows.h"

#include <CUnit/CUnit.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Patterns: each deliberate mistake must be named by the clause ---- */

typedef struct Sheet {
    Type type;
    Tolerance tolerance;
    size_t rows, cols, n;
    Arrays arrays;
    Inputs inputs;
    unsigned char poison;
    double *got, *want; /* stored as doubles; converted to the type at the end */
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

/* Marks elements that must stay poison. */
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

/* Values of 0 and 1 only, all flipped: must not be taken for a shift or a transposition. */
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

/* Looks shifted by one, but with only two values it could equally be a negation. */
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

static uint64_t saw; /* set by the last run() */

static const char *saw_words(void)
{
    static char words[300];

    diagnosis_words(saw, words, sizeof words);
    return words;
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
    clause = pattern(&d, &s->inputs, 0, got, want, error, &saw);
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
    const char *clause, *saw;
} patterns[] = {
    { 1, 1000, tail_from, 0, "no element was ever written", "unwritten" },
    { 1, 1000, same_value, 0, "every element is zero", "zero" },
    { 1, 1000, same_value, 3, "every element has the same value, 3", "constant" },
    { 1, 1000, tail_from, 992,
      "all elements from element 992 to the end (the tail) were never written", "tail,unwritten" },
    { 70, 50, tail_from, 3232,
      "all elements from row 64, column 32 to the end (the tail) were never written",
      "tail,unwritten" },
    { 1, 1000, tail_zero, 992, "all elements from element 992 to the end (the tail) are zero",
      "tail,zero" },
    { 1, 1000, tail_mixed, 900, "all elements from element 900 to the end (the tail) are wrong",
      "tail" },
    { 1, 1000, same_value_in_half, 200, "the wrong elements all have the same value, 200",
      "constant" },
    { 1, 1000, shift, -1,
      "the wrong elements hold the values of their left neighbours (shifted by 1)", "shifted" },
    { 1, 1000, shift, 1,
      "the wrong elements hold the values of their right neighbours (shifted by 1)", "shifted" },
    { 1, 1000, shift, -32,
      "the wrong elements hold the values of elements 32 places to the left (shifted by 32)",
      "shifted" },
    { 1, 1000, shift, 5,
      "the wrong elements hold the values of elements 5 places to the right (shifted by 5)",
      "shifted" },
    { 1, 1000, shift, 33, "", "" },
    { 1, 1000, shift_nine_tenths, 1,
      "the wrong elements hold the values of their right neighbours (shifted by 1)", "shifted" },
    { 1, 1000, shift_eight_tenths, 1, "", "" },
    { 70, 50, shift, 50, "the wrong elements hold the values of the row below", "row_shifted" },
    { 70, 50, shift, -50, "the wrong elements hold the values of the row above", "row_shifted" },
    { 1, 1000, copy_input, 0, "the wrong elements are copied unchanged from the input", "copied" },
    { 70, 50, copy_input, 0, "the wrong elements are copied unchanged from the input", "copied" },
    { 96, 96, swap_sides, 0,
      "the wrong elements hold the values of the transposed place (rows and columns swapped)",
      "transposed" },
    { 70, 50, swap_sides, 0,
      "the wrong elements hold the values of the transposed place (rows and columns swapped)",
      "transposed" },
    { 70, 50, swap_sides, 1,
      "the wrong elements hold the values of the transposed place (rows and columns swapped)",
      "transposed" },
    { 96, 96, swap_in_tiles, 32,
      "the wrong elements have rows and columns swapped within their tiles of 32 x 32",
      "by_tiles" },
    { 70, 50, swap_in_tiles, 16,
      "the wrong elements have rows and columns swapped within their tiles of 16 x 16",
      "by_tiles" },
    { 96, 96, swap_tiles, 32,
      "the wrong elements belong at the same place in the tile across the diagonal (32 x 32)",
      "by_tiles" },
    { 70, 50, columns_from, 48, "all columns from 48 on were never written",
      "right_edge,unwritten" },
    { 70, 50, one_column, 17, "all elements of column 17 are zero", "one_column,zero" },
    { 70, 50, corner_only, 32,
      "all elements outside the first 32 rows and 32 columns were never written",
      "outside_corner,unwritten" },
    { 1, 1000, every, 4, "elements 1, 5, 9, ... were never written", "every_nth,unwritten" },
    { 1, 1000, all_but_every, 4, "all elements but 0, 4, 8, ... were never written",
      "every_nth,unwritten" },
    { 1, 1000, times, 2, "the wrong elements are 2 times the right value", "multiple" },
    { 1, 1000, plus, 1, "the wrong elements are 1 too large", "offset" },
    { 70, 50, scattered_unwritten, 9, "the wrong elements were never written", "unwritten" },
    { 70, 50, noise, 9, "", "" },
    { 1, 1000, noise, 9, "", "" },
    { 1, 1000, noise, 1, "", "" },
    { 1, 1000, flip_bits, 3, "", "" },
    { 70, 50, flip_bits, 3, "", "" },
    { 1, 1000, alternating, 0, "", "" },
    { 1, 1000, nothing, 0, "", "" },
    { 1, 1000, first_three, 0, "", "" }, /* too few for a pattern */
    { 1, 1000, tail_from, 997, "the last 3 elements (the tail) were never written",
      "tail,unwritten" },
    { 70, 50, tail_from, 3499, "the last element was never written", "tail,unwritten" },
    { 1, 1000, tail_zero, 998, "the last 2 elements (the tail)", "tail" },
    { 1, 3, tail_from, 0, "", "" },
    { 1, 3, same_value, 0, "", "" },
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
            if (too_wide) /* the type cannot hold their values */
                continue;
            clause = run(&s, patterns[i].mistake, patterns[i].parameter);
            if (strcmp(clause, patterns[i].clause))
                fprintf(stderr, "\npattern %zu, type %d:\n  got  %s\n  want %s\n", i,
                        (int) types[t], clause, patterns[i].clause);
            CU_ASSERT_STRING_EQUAL(clause, patterns[i].clause);
            CU_ASSERT_STRING_EQUAL(saw_words(), patterns[i].saw);
        }
}

static void patterns_of_reals(void)
{
    static const struct {
        Mistake *mistake;
        long parameter;
        const char *clause, *saw;
    } rows[] = {
        { nans, 1, "elements 1, 4, 7, ... are NaN or infinite", "every_nth,not_finite" },
        { times, -1, "the wrong elements have the wrong sign", "multiple" },
        { plus, -2, "the wrong elements are 2 too small", "offset" },
        { shift, 1, "the wrong elements hold the values of their right neighbours (shifted by 1)",
          "shifted" },
        { noise, 3, "", "" },
    };

    for (size_t i = 0; i < COUNT(rows); i++)
        for (int how = 0; how < 2; how++) {
            Sheet s = { .type = how ? F64 : F32,
                        .tolerance = how ? loose : exact,
                        .rows = 1,
                        .cols = 3000,
                        .poison = POISON_ODD };
            CU_ASSERT_STRING_EQUAL(run(&s, rows[i].mistake, rows[i].parameter), rows[i].clause);
            CU_ASSERT_STRING_EQUAL(saw_words(), rows[i].saw);
        }
}

/* More wrong elements than the sample has room for; the sample must not fall into step with the
 * pattern. */
static void large_arrays_are_sampled(void)
{
    static const struct {
        Mistake *mistake;
        long parameter;
        const char *clause, *saw;
    } rows[] = {
        { shift, -1, "the wrong elements hold the values of their left neighbours (shifted by 1)",
          "shifted" },
        { swap_in_tiles, 32,
          "the wrong elements have rows and columns swapped within their tiles of 32 x 32",
          "by_tiles" },
        { tail_from, 300000,
          "all elements from row 468, column 480 to the end (the tail) were never written",
          "tail,unwritten" },
        { shift_eight_tenths, 1, "", "" },
        { noise, 2, "", "" },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        Sheet s = { .type = F32, .rows = 1024, .cols = 640, .poison = POISON_EVEN };
        CU_ASSERT_STRING_EQUAL(run(&s, rows[i].mistake, rows[i].parameter), rows[i].clause);
        CU_ASSERT_STRING_EQUAL(saw_words(), rows[i].saw);
    }
}

CU_SuiteInfo test_patterns = {
    "patterns",
    .pTests =
        (CU_TestInfo[]){
            { "patterns are named", patterns_are_named },
            { "patterns of reals", patterns_of_reals },
            { "large arrays are sampled", large_arrays_are_sampled },
            CU_TEST_INFO_NULL,
        },
};
