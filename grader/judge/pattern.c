/* pattern.c - describes a wrong array in a clause by which a student can recognise the mistake.
 *
 * The clause has two halves. Each is the first row of a table that applies. The first half says
 * where the wrong elements are ("all elements from row 32, column 0 to the end (the tail)") and
 * must be exact. The second says what they hold instead ("were never written") and must explain
 * nine tenths of them. It is tested on a sample, so that large arrays take no longer.
 */
#include "judge/compare.h"
#include "judge/message.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST = 4, SAMPLE = 2048, SHIFT_MOST = 32, CLAUSE = 160 };
static const double most_of_them = 0.9, some_roundings = 1e-5;

/* A wrong array, and the findings of one pass over it. */
typedef struct View {
    const Inputs *inputs;
    const Array *array;
    const void *got, *want;
    const double *error;
    double slack; /* relative rounding error allowed for a value found at another place */
    unsigned char poison;
    size_t count, rows, cols;
    size_t wrong, first, last; /* of the wrong elements */
    size_t first_col;          /* leftmost column with a wrong element */
    size_t wrong_step;         /* greatest common divisor of the distances between them */
    size_t right, right_first, right_step;
    size_t rows_reached, cols_reached; /* the corner that contains all right elements */
    size_t sample[SAMPLE];             /* indices of some wrong elements, ascending */
    size_t samples;
} View;

static double got(const View *v, size_t i)
{
    return element(v->array->type, v->got, i);
}

static double want(const View *v, size_t i)
{
    return element(v->array->type, v->want, i);
}

/* True if `g` could be the value `w`, which belongs to another place or was scaled. */
static bool close_here(const View *v, double g, double w)
{
    return close_enough(g, w, v->slack * fabs(w));
}

/* ---- One pass over the array ---- */

static size_t common_divisor(size_t a, size_t b)
{
    while (b) {
        size_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static void note_right(View *v, size_t i)
{
    size_t row = i / v->cols, col = i % v->cols;

    if (!v->right++)
        v->right_first = i;
    v->right_step = common_divisor(i - v->right_first, v->right_step);
    if (row >= v->rows_reached)
        v->rows_reached = row + 1;
    if (col >= v->cols_reached)
        v->cols_reached = col + 1;
}

static void note_wrong(View *v, size_t i)
{
    size_t col = i % v->cols;

    if (!v->wrong++)
        v->first = i;
    v->last = i;
    v->wrong_step = common_divisor(i - v->first, v->wrong_step);
    if (col < v->first_col)
        v->first_col = col;
}

/* Samples one wrong element in `stride` on average. The distances are uneven, so that a period
 * in the array cannot coincide with the sampling. */
static void look(View *v, size_t wrong)
{
    size_t stride = wrong / SAMPLE + 1, next = 0;
    uint64_t random = 1;

    for (size_t i = 0; i < v->count; i++) {
        if (v->error[i] > 0)
            v->slack = some_roundings;
        if (is_right(got(v, i), want(v, i), v->error[i])) {
            note_right(v, i);
            continue;
        }
        if (v->wrong == next) {
            if (v->samples < SAMPLE)
                v->sample[v->samples++] = i;
            next += 1 + (stride > 1 ? next_random(&random) % (2 * stride - 1) : 0);
        }
        note_wrong(v, i);
    }
}

/* ---- What the wrong elements hold ---- */

static bool explains(const View *v, size_t explained)
{
    return v->wrong >= LEAST && v->samples &&
           (double) explained >= most_of_them * (double) v->samples;
}

static bool unwritten(const View *v, char *clause)
{
    size_t bytes = type_bytes(v->array->type), n = 0;
    unsigned char poison[8];

    memset(poison, v->poison, sizeof poison);
    for (size_t s = 0; s < v->samples; s++)
        n += !memcmp((const char *) v->got + v->sample[s] * bytes, poison, bytes);
    put(clause, CLAUSE, "were never written");
    return explains(v, n);
}

static bool zero(const View *v, char *clause)
{
    size_t n = 0;

    for (size_t s = 0; s < v->samples; s++)
        n += got(v, v->sample[s]) == 0;
    put(clause, CLAUSE, "are zero");
    return explains(v, n);
}

static bool not_finite(const View *v, char *clause)
{
    size_t n = 0;

    for (size_t s = 0; s < v->samples; s++)
        n += isfinite(got(v, v->sample[s])) ? 0 : 1;
    put(clause, CLAUSE, "are NaN or infinite");
    return explains(v, n);
}

static bool constant(const View *v, char *clause)
{
    double value = got(v, v->sample[v->samples / 2]);
    size_t n = 0;

    for (size_t s = 0; s < v->samples; s++)
        n += got(v, v->sample[s]) == value;
    put(clause, CLAUSE, "all have the same value, %.6g", value);
    return explains(v, n);
}

/* True if the sampled elements hold the values that `expect` gives, and not by coincidence: at
 * least LEAST different values must match. `expect` is a function of the index that returns NaN
 * where it expects nothing. */
typedef double Expect(const View *v, size_t i, long parameter);

static bool holds(const View *v, Expect *expect, long parameter)
{
    size_t n = 0, kinds = 0;
    double seen[LEAST];

    for (size_t s = 0; s < v->samples; s++) {
        double g = got(v, v->sample[s]);
        if (n + (v->samples - s) < most_of_them * (double) v->samples)
            return false; /* too few can still match */
        if (!close_here(v, g, expect(v, v->sample[s], parameter)))
            continue;
        n++;
        bool is_new = kinds < LEAST;
        for (size_t k = 0; k < kinds; k++)
            is_new &= seen[k] != g;
        if (is_new)
            seen[kinds++] = g;
    }
    return kinds == LEAST && explains(v, n);
}

/* The expected value at another index, or NaN if there is no such index. */
static double want_at(const View *v, size_t i)
{
    return i < v->count ? want(v, i) : NAN;
}

static double of_neighbour(const View *v, size_t i, long shift)
{
    return want_at(v, i + (size_t) shift); /* a negative index wraps to beyond the end */
}

static bool shifted(const View *v, char *clause)
{
    for (long distance = 1; distance <= SHIFT_MOST; distance++)
        for (int side = -1; side <= 1; side += 2) {
            const char *name = side < 0 ? "left" : "right";
            if (!holds(v, of_neighbour, side * distance))
                continue;
            if (distance == 1)
                put(clause, CLAUSE, "hold the values of their %s neighbours (shifted by 1)", name);
            else
                put(clause, CLAUSE,
                    "hold the values of elements %ld places to the %s (shifted by %ld)", distance,
                    name, distance);
            return true;
        }
    return false;
}

/* The values of the row above or below, in the same column. */
static bool row_shifted(const View *v, char *clause)
{
    for (int side = -1; side <= 1 && v->rows > 1 && v->cols > 1; side += 2)
        if (holds(v, of_neighbour, side * (long) v->cols)) {
            put(clause, CLAUSE, "hold the values of the row %s", side < 0 ? "above" : "below");
            return true;
        }
    return false;
}

static double of_input(const View *v, size_t i, long which)
{
    const Array *in = &v->inputs->arrays->in[which];
    FillKey key = fill_key(v->inputs->seed, (int) which);

    if (i >= in->rows * in->cols)
        return NAN;
    if (in->type == F32 || in->type == F64)
        return (double) fill_f32(in->fill, key, i);
    return fill_i32(in->fill, key, i);
}

static bool copied(const View *v, char *clause)
{
    for (int which = 0; which < LAB_IN; which++)
        if (holds(v, of_input, which)) {
            bool only = which == 0 && !v->inputs->arrays->in[1].rows;
            if (only)
                put(clause, CLAUSE, "are copied unchanged from the input");
            else
                put(clause, CLAUSE, "are copied unchanged from input %d", which + 1);
            return true;
        }
    return false;
}

/* Values as if the array were cols x rows, either when it was written or when it was computed. */
static double of_transposed_place(const View *v, size_t i, long other)
{
    size_t rows = other ? v->cols : v->rows, cols = other ? v->rows : v->cols;

    return want_at(v, i % rows * cols + i / rows);
}

static bool transposed(const View *v, char *clause)
{
    put(clause, CLAUSE, "hold the values of the transposed place (rows and columns swapped)");
    return v->rows > 1 && v->cols > 1 &&
           (holds(v, of_transposed_place, 0) || holds(v, of_transposed_place, 1));
}

static double in_grid(const View *v, size_t row, size_t col)
{
    return row < v->rows && col < v->cols ? want(v, row * v->cols + col) : NAN;
}

static double of_place_in_tile(const View *v, size_t i, long tile)
{
    size_t t = (size_t) tile, row = i / v->cols, col = i % v->cols;

    return in_grid(v, row / t * t + col % t, col / t * t + row % t);
}

static double of_tile_across(const View *v, size_t i, long tile)
{
    size_t t = (size_t) tile, row = i / v->cols, col = i % v->cols;

    return in_grid(v, col / t * t + row % t, row / t * t + col % t);
}

static bool by_tiles(const View *v, char *clause)
{
    for (long tile = 8; tile <= 64 && ((size_t) tile < v->rows || (size_t) tile < v->cols);
         tile *= 2) {
        if (holds(v, of_place_in_tile, tile)) {
            put(clause, CLAUSE, "have rows and columns swapped within their tiles of %ld x %ld",
                tile, tile);
            return true;
        }
        if (holds(v, of_tile_across, tile)) {
            put(clause, CLAUSE,
                "belong at the same place in the tile across the diagonal (%ld x %ld)", tile, tile);
            return true;
        }
    }
    return false;
}

static bool multiple(const View *v, char *clause)
{
    static const double factors[] = { -1, 2, 3, 4, 0.5, 0.25 };

    for (size_t f = 0; f < sizeof factors / sizeof *factors; f++) {
        size_t n = 0;
        for (size_t s = 0; s < v->samples; s++) {
            double w = want(v, v->sample[s]);
            n += w != 0 && close_here(v, got(v, v->sample[s]), factors[f] * w);
        }
        if (explains(v, n)) {
            if (factors[f] < 0)
                put(clause, CLAUSE, "have the wrong sign");
            else
                put(clause, CLAUSE, "are %g times the right value", factors[f]);
            return true;
        }
    }
    return false;
}

/* Integer differences only, such as counts that are one too high. */
static bool offset(const View *v, char *clause)
{
    size_t middle = v->sample[v->samples / 2], n = 0;
    double by = got(v, middle) - want(v, middle);

    if (!(fabs(by) < 1e9) || by != rint(by))
        return false;
    for (size_t s = 0; s < v->samples; s++)
        n += close_here(v, got(v, v->sample[s]), want(v, v->sample[s]) + by);
    put(clause, CLAUSE, "are %g %s", fabs(by), by > 0 ? "too large" : "too small");
    return explains(v, n);
}

/* ---- Where the wrong elements are ---- */

static bool tail(const View *v, char *clause)
{
    char place[64];

    message_place(v->array, v->first, place, sizeof place);
    put(clause, CLAUSE, "all elements from %s to the end (the tail)", place);
    return v->first && v->wrong == v->count - v->first;
}

static bool right_edge(const View *v, char *clause)
{
    put(clause, CLAUSE, "all columns from %zu on", v->first_col);
    return v->rows > 1 && v->first_col && v->wrong == v->rows * (v->cols - v->first_col);
}

/* The right elements form a rectangle in the first corner. */
static bool outside_corner(const View *v, char *clause)
{
    put(clause, CLAUSE, "all elements outside the first %zu rows and %zu columns", v->rows_reached,
        v->cols_reached);
    return v->right > 1 && v->rows > 1 && v->right == v->rows_reached * v->cols_reached;
}

static size_t steps(const View *v, size_t first, size_t step)
{
    return (v->count - 1 - first) / step + 1;
}

static bool one_column(const View *v, char *clause)
{
    put(clause, CLAUSE, "all elements of column %zu", v->first_col);
    return v->rows > 1 && v->cols > 1 && v->wrong_step == v->cols && v->wrong == v->rows;
}

static bool every_nth(const View *v, char *clause)
{
    put(clause, CLAUSE, "elements %zu, %zu, %zu, ...", v->first, v->first + v->wrong_step,
        v->first + 2 * v->wrong_step);
    return v->wrong_step > 1 && v->first < v->wrong_step &&
           v->wrong == steps(v, v->first, v->wrong_step);
}

static bool all_but_every_nth(const View *v, char *clause)
{
    put(clause, CLAUSE, "all elements but %zu, %zu, %zu, ...", v->right_first,
        v->right_first + v->right_step, v->right_first + 2 * v->right_step);
    return v->right >= LEAST && v->right_step > 1 && v->right_first < v->right_step &&
           v->right == steps(v, v->right_first, v->right_step);
}

/* ---- The whole clause ---- */

typedef struct Guess {
    bool (*holds)(const View *v, char *clause);
    DiagnosisCode code;
} Guess;

/* The first guess that holds is reported, so simpler and more specific ones come first. */
static const Guess what[] = {
    { unwritten, SAW_UNWRITTEN },   { zero, SAW_ZERO },
    { not_finite, SAW_NOT_FINITE }, { constant, SAW_CONSTANT },
    { copied, SAW_COPIED },         { row_shifted, SAW_ROW_SHIFTED },
    { shifted, SAW_SHIFTED },       { transposed, SAW_TRANSPOSED },
    { by_tiles, SAW_BY_TILES },     { multiple, SAW_MULTIPLE },
    { offset, SAW_OFFSET },
};

static const Guess where[] = {
    { tail, SAW_TAIL },
    { right_edge, SAW_RIGHT_EDGE },
    { outside_corner, SAW_OUTSIDE_CORNER },
    { one_column, SAW_ONE_COLUMN },
    { every_nth, SAW_EVERY_NTH },
    { all_but_every_nth, SAW_EVERY_NTH },
};

static bool first_of(const Guess *guesses, size_t count, const View *v, char *clause, uint64_t *saw)
{
    for (size_t i = 0; i < count; i++)
        if (guesses[i].holds(v, clause)) {
            *saw |= SAW(guesses[i].code);
            return true;
        }
    *clause = 0;
    return false;
}

/* A clause for an array whose elements are all equal, or "". */
static const char *uniform(const View *v, char *clause, uint64_t *saw)
{
    size_t bytes = type_bytes(v->array->type);
    unsigned char poison[8];

    memset(poison, v->poison, sizeof poison);
    if (v->count < LEAST || memcmp(v->got, (const char *) v->got + bytes, (v->count - 1) * bytes))
        return "";
    if (!memcmp(v->got, poison, bytes)) {
        *saw = SAW(SAW_UNWRITTEN);
        return "no element was ever written";
    }
    *saw = SAW(got(v, 0) == 0 ? SAW_ZERO : SAW_CONSTANT);
    if (got(v, 0) == 0)
        return "every element is zero";
    return put(clause, CLAUSE, "every element has the same value, %.6g", got(v, 0));
}

/* The last one to three elements, never written: what float4 or an unrolled loop leaves over. So
 * few elements can fit any other pattern at random. */
static const char *short_tail(View *v, size_t wrong, uint64_t *saw)
{
    static char text[CLAUSE];
    const size_t bytes = type_bytes(v->array->type), first = v->count - wrong;
    unsigned char poison[8];

    memset(poison, v->poison, sizeof poison);
    if (!wrong || wrong >= v->count)
        return "";
    look(v, wrong);
    if (v->first != first)
        return "";
    *saw = SAW(SAW_TAIL);
    for (size_t i = first; i < v->count; i++)
        if (memcmp((const char *) v->got + i * bytes, poison, bytes))
            return wrong == 1 ? "the last element"
                              : PUT(text, "the last %zu elements (the tail)", wrong);
    *saw |= SAW(SAW_UNWRITTEN);
    return wrong == 1 ? "the last element was never written"
                      : PUT(text, "the last %zu elements (the tail) were never written", wrong);
}

const char *pattern(const Difference *difference, const Inputs *inputs, int out,
                    const void *got_data, const void *want_data, const double *error, uint64_t *saw)
{
    static char text[2 * CLAUSE];
    char place[CLAUSE], content[CLAUSE];
    const Array *array = &inputs->arrays->out[out];
    const char *whole;
    View v = { .inputs = inputs,
               .array = array,
               .got = got_data,
               .want = want_data,
               .error = error,
               .poison = difference->poison,
               .rows = array->rows,
               .cols = array->cols,
               .count = array->rows * array->cols,
               .first_col = array->cols };
    bool located, explained;

    *saw = 0;
    if (difference->wrong < LEAST)
        return short_tail(&v, difference->wrong, saw);
    whole = uniform(&v, text, saw);
    if (*whole)
        return whole;
    look(&v, difference->wrong);
    located = first_of(where, sizeof where / sizeof *where, &v, place, saw);
    explained = first_of(what, sizeof what / sizeof *what, &v, content, saw);
    if (!located && !explained)
        return "";
    return PUT(text, "%s %s", located ? place : "the wrong elements",
               explained ? content : "are wrong");
}
