/* SGEMM: how often a thread uses each value that it has in registers. */
#include "kernel.h"

#include <math.h>
#include <stdlib.h>

/* A case consists of m, n, k and one of these: */
enum { PLAIN, SCALED, HALVED, REAL, REAL_SCALED, TIMED_REAL };
enum { A, B, C };

/* Powers of two and small integers, so that alpha and beta cause no rounding. */
static const struct {
    float alpha, beta;
    FillKind fill;
} variants[] = {
    [PLAIN] = { 1, 0, FILL_SMALL },
    [SCALED] = { 2, -3, FILL_SMALL },
    [HALVED] = { -0.5f, 1, FILL_SMALL },
    [REAL] = { 1, 0, FILL_UNIFORM },
    [REAL_SCALED] = { 0.75f, 2, FILL_UNIFORM },
    /* Timed cases hold reals, since integers of a few bits could be packed into bytes or
     * halves. */
    [TIMED_REAL] = { 2, -3, FILL_UNIT },
};

enum { TILE = 128, DEPTH_LEAST = 256, DEPTH_MOST = 1024, DEPTH_AN_SM = 32 };

/* Six waves of tiles of 128 x 128 if one fits on each SM. So it matters little how full the last
 * wave is (lab 08's subject), and with k in the hundreds, how D is written. */
static void square(long dim[LAB_DIMS], const Gpu *gpu, double scale)
{
    long tiles = (long) ceil(sqrt(6.0 * gpu->sms)), k = (long) gpu->sms * DEPTH_AN_SM;

    k = k < DEPTH_LEAST ? DEPTH_LEAST : k > DEPTH_MOST ? DEPTH_MOST : k;
    dim[0] = dim[1] = tiles * TILE;
    dim[2] = (long) ((double) k * scale);
}

/* The same D with almost no arithmetic: reading C and writing D takes all the time. */
static void shallow(long dim[LAB_DIMS], const Gpu *gpu, double scale)
{
    square(dim, gpu, scale);
    dim[2] = 4;
}

/* 4095 x 4097 x 4093 on 132 SMs. */
static void large(long dim[LAB_DIMS], const Gpu *gpu, double scale)
{
    (void) scale;
    dim[0] = 31L * gpu->sms + 3;
    dim[1] = 31L * gpu->sms + 5;
    dim[2] = 31L * gpu->sms + 1;
}

static const Case cases[] = {
    { "1 x 1, k = 1", { 1, 1, 1, SCALED } },
    { "2 x 3, k = 5", { 2, 3, 5, HALVED } },
    { "31 x 33, k = 32", { 31, 33, 32, SCALED } },
    { "64 x 64, k = 64", { 64, 64, 64, SCALED } },
    { "127 x 129, k = 15", { 127, 129, 15, SCALED } },
    { "128 x 128, k = 128, beta = 0: there is no c", { 128, 128, 128, PLAIN } },
    { "129 x 127, k = 33, beta = 0: there is no c", { 129, 127, 33, PLAIN } },
    { "130 x 260, k = 12, beta = 0: there is no c", { 130, 260, 12, PLAIN } },
    { "132 x 140, k = 36, multiples of 4 only", { 132, 140, 36, HALVED } },
    { "one row of 1000, k = 300", { 1, 1000, 300, SCALED } },
    { "one column of 1000, k = 300", { 1000, 1, 300, SCALED } },
    { "300 x 200, k = 1", { 300, 200, 1, HALVED } },
    { "3 x 5, k = 5003", { 3, 5, 5003, SCALED } },
    { "257 x 251, k = 263, primes", { 257, 251, 263, SCALED } },
    { "64 x 192, k = 320, wide", { 64, 192, 320, HALVED } },
    { "192 x 64, k = 96, tall", { 192, 64, 96, HALVED } },
    { "large and ragged", { 251, 253, 249, SCALED }, CORRECT, 0, large },
    { "tall and narrow", { 8001, 3, 2, SCALED } },
    { "2 million rows", { 65536L * 32 + 1, 3, 2, SCALED }, .only_begun = true },
    { "1 x 1, k = 7, real numbers", { 1, 1, 7, REAL } },
    { "65 x 97, k = 1021, real numbers", { 65, 97, 1021, REAL } },
    { "128 x 256, k = 512, real numbers", { 128, 256, 512, REAL_SCALED } },
    { "square", { 896, 896, 256, TIMED_REAL }, TIMED, 0.60, square },
    { "k = 4", { 896, 896, 4, TIMED_REAL }, CONTROL, 0, shallow },
    { 0 },
};

static void shape(const Case *c, Arrays *arrays)
{
    size_t m = (size_t) c->dim[0], n = (size_t) c->dim[1], k = (size_t) c->dim[2];
    Fill fill = { variants[c->dim[3]].fill, 0, 0 };

    arrays->in[A] = (Array){ F32, m, k, fill, NULL, .name = "a" };
    arrays->in[B] = (Array){ F32, k, n, fill, NULL, .name = "b" };
    if (variants[c->dim[3]].beta != 0)
        arrays->in[C] = (Array){ F32, m, n, fill, NULL, .name = "c" };
    arrays->out[0] = (Array){ F32, m, n, fill, NULL, .name = "d" };
}

/* ---- The right value of an element ---- */

enum { PANEL = 64 };

/* The sums of PANEL neighbouring results of a row, and those of their products' squares. */
typedef struct Sums {
    double sum[PANEL], squares[PANEL];
} Sums;

static void add_products(Sums *sums, double left, const double right[PANEL], bool exact)
{
    if (exact) {
        for (int j = 0; j < PANEL; j++)
            sums->sum[j] += left * right[j];
        return;
    }
    for (int j = 0; j < PANEL; j++) {
        double product = left * right[j];
        sums->sum[j] += product;
        sums->squares[j] += product * product;
    }
}

/* Sums of small integers are exact in any order as long as they stay below 2^24: with products
 * of at most 64, for k up to 10^5. For real numbers, with each addition and product rounded, the
 * bound is that of lab 07: u (8 sqrt(k) ||products|| + |sum|), u = 2^-24. With inputs of 11 bits
 * (TF32, half) each product is off by up to 2^-11 of itself. */
static double rounding(double k, double squares, double sum)
{
    return 0x1p-24 * (8 * sqrt(k * squares) + fabs(sum));
}

/* Finishes the requested elements of one row of a panel of columns. */
static void finish_row(const Case *c, const Inputs *inputs, const Sums *sums, size_t begin,
                       size_t end, size_t panel_begin, size_t first, float *want, double *error)
{
    double alpha = variants[c->dim[3]].alpha, beta = variants[c->dim[3]].beta;
    bool exact = variants[c->dim[3]].fill == FILL_SMALL;

    for (size_t at = begin; at < end; at++) {
        size_t j = at - panel_begin;
        double product = alpha * sums->sum[j], old = 0;
        if (beta != 0)
            old = beta * (double) input_f32(inputs, C, at);
        want[at - first] = (float) (product + old);
        if (!exact)
            error[at - first] =
                fabs(alpha) * rounding((double) c->dim[2], sums->squares[j], sums->sum[j]) +
                0x1p-22 * (fabs(product) + fabs(old));
    }
}

static void fill_panel(const Inputs *inputs, size_t k, size_t n, size_t col, double (*right)[PANEL])
{
    Fill fill = inputs->arrays->in[B].fill;
    FillKey key = fill_key(inputs->seed, B);
    size_t cols = n - col < PANEL ? n - col : PANEL;

    for (size_t i = 0; i < k; i++) {
        float values[PANEL] = { 0 };
        fill_f32s(fill, key, i * n + col, 1, cols, values);
        for (size_t j = 0; j < PANEL; j++)
            right[i][j] = (double) values[j];
    }
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Works on panels of 64 columns: each panel of B is computed once for all rows. */
static void truth(const Case *c, const Inputs *inputs, int out, size_t first, size_t count,
                  void *want, double *error)
{
    size_t n = (size_t) c->dim[1], k = (size_t) c->dim[2], end = first + count;
    bool exact = variants[c->dim[3]].fill == FILL_SMALL;
    double(*right)[PANEL] = malloc(k * sizeof *right);

    (void) out; /* there is only one */
    if (!right)
        abort();
    for (size_t col = 0; col < n; col += PANEL) {
        bool filled = false;
        for (size_t row = first / n; row * n < end; row++) {
            size_t panel_begin = row * n + col;
            size_t begin = larger(first, panel_begin);
            size_t stop = smaller(end, row * n + smaller(n, col + PANEL));
            Sums sums = { { 0 }, { 0 } };
            if (begin >= stop)
                continue;
            if (!filled)
                fill_panel(inputs, k, n, col, right);
            filled = true;
            for (size_t i = 0; i < k; i++)
                add_products(&sums, input_f32(inputs, A, row * k + i), right[i], exact);
            finish_row(c, inputs, &sums, begin, stop, panel_begin, first, want, error);
        }
    }
    free(right);
}

/* ---- The whole of a large product, by R. Freivalds's test (1977) ----
 *
 * For any vector x, D x = alpha A (B x) + beta C x, and the right side takes three products of a
 * matrix with a vector. The elements of x are drawn from 2^20 values, after the kernel has run:
 * a row of D with any wrong element passes with a probability of one in a million. Integers need
 * no tolerance: |D| < 2^24, so all sums stay below 2^63. With real numbers the test finds errors
 * larger than the roundings of a whole row. Smaller errors, of numbers cut to fewer bits, show
 * in the windows, which are compared element by element. */

enum { X_BITS = 20, ARRAY_OF_X = 100 };

static int64_t x_of(FillKey key, size_t index)
{
    return (int64_t) (fill_bits(key, index) >> (32 - X_BITS)) - (1 << (X_BITS - 1));
}

static float *new_row(size_t cols)
{
    float *row = malloc((cols + 1) * sizeof *row);

    if (!row)
        abort();
    return row;
}

/* matrix times x, row by row; x has `cols` elements. */
static void times_vector(const Inputs *inputs, int array, const int64_t *x, int64_t *result)
{
    const Array *matrix = &inputs->arrays->in[array];
    FillKey key = fill_key(inputs->seed, array);
    float *elements = new_row(matrix->cols);

    for (size_t row = 0; row < matrix->rows; row++) {
        int64_t sum = 0;
        fill_f32s(matrix->fill, key, row * matrix->cols, 1, matrix->cols, elements);
        for (size_t col = 0; col < matrix->cols; col++)
            sum += (int64_t) elements[col] * x[col];
        result[row] = sum;
    }
    free(elements);
}

/* Twice a row of D times x, because alpha may be -0.5; INT64_MAX if an element cannot be right. */
static int64_t twice_row_times(const float *row, size_t n, const int64_t *x)
{
    int64_t sum = 0;

    for (size_t col = 0; col < n; col++) {
        if (!(fabsf(row[col]) < 0x1p24f))
            return INT64_MAX;
        sum += (int64_t) (2 * row[col]) * x[col];
    }
    return sum;
}

/* Returns the first wrong row; m if all rows are right. */
static size_t check_integers(const Case *c, const Inputs *inputs, const float *got)
{
    size_t m = (size_t) c->dim[0], n = (size_t) c->dim[1], k = (size_t) c->dim[2], row = 0;
    int64_t alpha = (int64_t) (2 * variants[c->dim[3]].alpha);
    int64_t beta = (int64_t) (2 * variants[c->dim[3]].beta);
    FillKey key = fill_key(inputs->seed, ARRAY_OF_X);
    int64_t *x = calloc(n + k + 2 * m, sizeof *x), *bx = x + n, *abx = bx + k, *cx = abx + m;

    if (!x)
        abort();
    for (size_t j = 0; j < n; j++)
        x[j] = x_of(key, j);
    times_vector(inputs, B, x, bx);
    times_vector(inputs, A, bx, abx);
    if (beta)
        times_vector(inputs, C, x, cx);
    while (row < m && twice_row_times(got + row * n, n, x) == alpha * abx[row] + beta * cx[row])
        row++;
    free(x);
    return row;
}

/* An element of a vector, and the sum of squares that bounds its rounding error. */
typedef struct Measured {
    double value, square;
} Measured;

/* matrix times x, row by row, and the squares of its elements times the squares of x. */
static void times_measured(const Inputs *inputs, int array, const Measured *x, Measured *result)
{
    const Array *matrix = &inputs->arrays->in[array];
    FillKey key = fill_key(inputs->seed, array);
    float *elements = new_row(matrix->cols);

    for (size_t row = 0; row < matrix->rows; row++) {
        Measured sum = { 0, 0 };
        fill_f32s(matrix->fill, key, row * matrix->cols, 1, matrix->cols, elements);
        for (size_t col = 0; col < matrix->cols; col++) {
            double element = (double) elements[col];
            sum.value += element * x[col].value;
            sum.square += element * element * x[col].square;
        }
        result[row] = sum;
    }
    free(elements);
}

/* Real numbers: the rounding errors of a row's elements are independent of x, so they add in
 * quadrature: rounding() for the product, and one more for each last addition. */
static bool row_is_near(const Case *c, const float *row, const Measured *x, const Measured *abx,
                        const Measured *cx)
{
    double alpha = variants[c->dim[3]].alpha, beta = variants[c->dim[3]].beta;
    double want = alpha * abx->value + beta * cx->value, sum = 0, squares = 0;
    double old = fabs(beta) * sqrt(cx->square);

    for (size_t col = 0; col < (size_t) c->dim[1]; col++) {
        sum += row[col] * x[col].value;
        squares += (double) row[col] * row[col];
    }
    return isfinite(squares) &&
           fabs(sum - want) <= fabs(alpha) * rounding((double) c->dim[2], abx->square, 0) +
                                   0x1p-21 * (sqrt(squares) + old);
}

/* Of either sign, with magnitudes from 1/2 to 1, so that no small x can hide an error. */
static double real_x(FillKey key, size_t index)
{
    double x = (double) x_of(key, index) / (1 << X_BITS);

    return x < 0 ? x - 0.5 : x + 0.5;
}

static size_t check_reals(const Case *c, const Inputs *inputs, const float *got)
{
    size_t m = (size_t) c->dim[0], n = (size_t) c->dim[1], k = (size_t) c->dim[2], row = 0;
    FillKey key = fill_key(inputs->seed, ARRAY_OF_X);
    Measured *x = calloc(n + k + 2 * m, sizeof *x), *bx = x + n, *abx = bx + k, *cx = abx + m;

    if (!x)
        abort();
    for (size_t j = 0; j < n; j++)
        x[j] = (Measured){ real_x(key, j), 1 };
    times_measured(inputs, B, x, bx);
    times_measured(inputs, A, bx, abx);
    if (variants[c->dim[3]].beta != 0)
        times_measured(inputs, C, x, cx);
    while (row < m && row_is_near(c, got + row * n, x, &abx[row], &cx[row]))
        row++;
    free(x);
    return row;
}

static bool check(const Case *c, const Inputs *inputs, int out, const void *got, size_t *first,
                  size_t *count)
{
    bool exact = variants[c->dim[3]].fill == FILL_SMALL;
    size_t row = (exact ? check_integers : check_reals)(c, inputs, got);

    (void) out; /* there is only one */
    *first = row * (size_t) c->dim[1];
    *count = (size_t) c->dim[1];
    return row == (size_t) c->dim[0];
}

static void call(void (*kernel)(void), const Case *c, const Arrays *arrays)
{
    AS(sgemm, kernel)
    (arrays->out[0].data, arrays->in[A].data, arrays->in[B].data, arrays->in[C].data,
     (int) c->dim[0], (int) c->dim[1], (int) c->dim[2], variants[c->dim[3]].alpha,
     variants[c->dim[3]].beta);
}

/* Every element of the three inputs is read once, and D written once. */
static Work work(const Case *c)
{
    double m = (double) c->dim[0], n = (double) c->dim[1], k = (double) c->dim[2];
    double matrices = variants[c->dim[3]].beta != 0 ? 2 : 1;

    return (Work){ .bytes = sizeof(float) * (m * k + k * n + matrices * m * n),
                   .flops = 2 * m * n * k };
}

static bool set_square(long dim[LAB_DIMS], const Gpu *gpu, long value)
{
    const long timed = dim[0];

    (void) gpu;
    dim[0] = dim[1] = dim[2] = value;
    return value <= timed;
}

const Lab lab_sgemm = {
    .title = "matrix product",
    .function = "sgemm",
    .cases = cases,
    .shape = shape,
    .truth = truth,
    .window = 128,
    .check = check,
    .call = call,
    .work = work,
    /* 2 with one result per thread, 0.5 with 4 x 4 results, 0.2 with 8 x 8 (rungs 1, 4, 5). */
    .mechanism = { { LOADS_AN_FMA, 0, 0.3 } },
    .hints = {
        "Count the loads per FMA in your inner loop, in warp instructions. Per clock, an SM does "
        "four FMAs of a warp (A100: two) and one warp's load from shared memory. How busy can its "
        "FMA units be?",
        "A tile in shared memory replaces global loads by shared loads; it does not reduce their "
        "number. A block of results in the registers of one thread reduces it: r x s results need "
        "r + s floats for r s FMAs. Begin with 4 x 4, and give neighbouring threads neighbouring "
        "columns.",
        "8 x 8 results per thread, 256 threads, a tile of 128 x 128: for each k, load two float4 of "
        "A's tile and two of B's, and do 64 FMAs. For that, store A's tile transposed, as[k][row], "
        "so that a thread's four rows are adjacent; 132 floats per row avoid conflicts when you "
        "fill it. B's two float4 are 64 columns apart, so that neighbouring lanes read neighbouring "
        "float4. Unroll the loop.",
    },
    .remedies = {
        { "slow", .below = 0.05,
          .text = "At a hundredth of the reference's speed, the number of loads per FMA is not the "
                  "problem yet. Which index changes from lane to lane of a warp when it reads b and "
                  "writes d? See lab 01." },
        { "slow loads_an_fma",
          "Count for one thread and one step of k: how many floats does it load, from any memory, "
          "and how many FMAs does it do with them? Which of your loops could reuse a float that is "
          "already in a register?" },
        { "slow", .below = 0.30,
          .text = "With or without a tile in shared memory, a thread that computes one result does "
                  "two loads per FMA; without the tile, caches already served the repeated ones. By "
                  "rule 3, what share of its peak FMA rate can an SM reach then? How could one "
                  "loaded float serve several FMAs?" },
        { "slow",
          "Floats in registers now serve several FMAs. How many wavefronts does one FMA of a warp "
          "cost (rule 4), and how many may it cost (rule 3)? There are two ways to reduce that: "
          "more results from the same floats, and more floats per load. Watch the registers "
          "(-Xptxas -v): a spill is a load, too." },
        { "wrong", .in = "real numbers",
          .text = "This case holds real numbers. If the cases with integers are all right (grade "
                  "again: the order of cases changes), where do you use fewer bits than a float "
                  "has? Eleven bits are enough for the integers of the other cases. If they are not "
                  "all right, look at the shape." },
        { "wrong tail unwritten",
          "The edge is missing: how many tiles do 129 rows need, and which way do you round?" },
        { "wrong right_edge unwritten",
          "The edge is missing: how many tiles do 129 columns need, and which way do you round?" },
        { "wrong outside_corner unwritten",
          "Only whole tiles are written. How many tiles do 129 rows need, and how many do 127 "
          "columns need?" },
        { "wrong multiple",
          "All results are a multiple of the right ones, so look at alpha. Do you apply it once, "
          "and only to a * b?" },
        { "wrong not_finite",
          "Your kernel added a value that was never written. The part of a tile that lies outside a "
          "or b must be filled with 0; and with beta = 0 there is no c." },
        { "wrong",
          "Right for squares only? A row of a has k elements, a row of b and of d has n. Wrong "
          "where k is not a multiple of the tile? Elements outside must be filled with 0, and the "
          "last tile along k must not be left out. All wrong by the same factor? Check what alpha "
          "scales, and what beta scales." },
        { "unsafe race",
          "A block must wait at two points: when a tile has been filled, and when it has been used, "
          "before it is filled again. Which of the two is missing? With cp.async there is a third: "
          "each thread must wait for its copies before the barrier." },
        { "unsafe uninitialised",
          "Your kernel uses a part of a tile that has not been written yet, or never is. Away from "
          "the edges: what makes a warp wait until the others have filled their part? At an edge: "
          "which threads write the zeros, and have some of them already returned? With cp.async: "
          "which copies have you waited for?" },
        { "unsafe barrier",
          "Some threads of the block returned before the barrier. A thread without a result must "
          "still help to fill the tiles." },
        { "unsafe",
          "Your kernel accesses an address outside its arrays. In a case with beta = 0? Then there "
          "is no c, and you must not read it, not even to multiply it by 0. Otherwise: do you check "
          "row and column of every element of a, b and d that a tile touches?" },
        { "stray input",
          "Your kernel changed an input. Write the results to d only." },
        { "stray",
          "Your kernel wrote past the end: a thread that computes several results must check row "
          "and column of each of them." },
        { "crash", .in = "beta = 0",
          .text = "There is no c if beta is 0: you must not read it, not even to multiply it by 0. "
                  "What does your last line do?" },
        { "crash launch",
          "A grid may have 65,535 blocks in y and in z, and two million rows need more tiles than "
          "that if tiles are small. A block may have 1024 threads, and 48 KiB of shared memory "
          "unless the kernel raises its limit." },
        { "crash misaligned",
          "A float4 needs an address that is a multiple of 16 bytes. Rows of b and d begin at such "
          "an address only if 4 divides n, rows of a if 4 divides k. What do you do otherwise?" },
        { "crash",
          "Take the largest index of the failing case. Is each part of the product computed "
          "with the right leading dimension: k for a, n for b and d?" },
        { "build",
          "Libraries are not available here: write the product yourself. make bench compares your "
          "kernels with cuBLAS." },
        { "timeout",
          "Which loop over k never ends? Check its step for k = 1. Or do some threads wait at a "
          "barrier that others never reach?" },
    },
    .predictions = {
        { "gflop",
          "m = n = k = 4096: how many GFLOP (10^9; an FMA counts as two) is the product?",
          137.4, 1.4, "2 m n k = 137.4 * 10^9: a multiplication and an addition for each of m n "
                      "results and k steps." },
        { "least_mb",
          "With beta = 0, at least how many MB (10^6 bytes) must be moved?",
          201.3, 3, "A and B read once, D written once: 3 * 4096^2 * 4 bytes = 201.3 MB. At 683 "
                    "FLOP per byte, DRAM need not be the limit." },
        { "tile_32",
          "A block with tiles of 32 x 32: how many FLOP does it do per byte that it loads from "
          "global memory?",
          8, 0.1, "For each k it loads 32 + 32 floats, 256 bytes, and does 2 * 32 * 32 FLOP. With "
                  "128 x 128 it is 32." },
        { "words_tile",
          "The same block, and each thread computes one result: how many floats does a thread read "
          "from shared memory per FMA?",
          2, 0, "One of A, one of B. Shared memory saves accesses to DRAM; it does not reduce the "
                "number of loads." },
        { "peak_tile",
          "So what percentage of its FMA peak can an SM reach, if it can do 128 FMAs per clock (4 "
          "warps' worth) and its shared memory delivers 32 floats per clock (1 warp's)?",
          12.5, 0.5, "Two warp loads take 2 clocks for 32 FMAs: 16 of 128 per clock. You may "
                     "measure more: where four steps of k are contiguous, the compiler loads 16 "
                     "bytes per lane at once, and such a broadcast takes only 2 wavefronts: 6 "
                     "wavefronts for 4 FMAs instead of 8, 16.7 %." },
        { "words_8",
          "8 x 8 results per thread: how many floats from shared memory per FMA?",
          0.25, 0.001, "8 + 8 floats for 64 FMAs. With 16 bytes per load these are 4 loads instead "
                       "of 16." },
    },
    .question = "You need 10,000 products of 16 x 16 matrices, each of different matrices. Which "
                "parts of your kernel are useful? How many products would you give to a block, and "
                "what limits it now: FMAs, shared memory or DRAM? Count FLOP per byte before you "
                "answer.",
    .questions = {
        { "small_intensity",
          "D = A B for matrices of 16 x 16 floats, thousands of them, each different. How many "
          "FLOP does one product need per byte of A, B and D?",
          2.67, 0.05,
          "2 * 16^3 = 8192 FLOP for 3 * 16 * 16 * 4 = 3072 bytes: 2.67." },
        { "small_limit",
          "What limits a good kernel for these products on a GPU whose ridge is at 14 FLOP per "
          "byte?",
          3, 0,
          "2.67 is far below the ridge, so DRAM is the limit: coalesced loads and enough bytes "
          "in flight matter, 64 results per thread do not.",
          { "FP32 arithmetic", "shared memory", "DRAM" } },
        { 0 },
    },
    .profile = "shared_loads barriers occupancy registers fma_loads",
    .sweep = {
        .what = "n of n x n matrices",
        .set = set_square,
        .values = { 64, 128, 129, 192, 256, 384, 512, 1024, 2048, 4096 },
    },
};
