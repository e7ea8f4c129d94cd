/* Tuning: which of nine compiled tiles a matrix product should use, by its shape and the device. */
#include "kernel.h"

#include <math.h>
#include <stdlib.h>

/* A case consists of m, n, k and what a and b hold: SMALL integers, whose sums are exact, or REAL
 * numbers. Timed cases hold reals, since integers of a few bits could be packed. */
enum { A, B };
enum { SMALL, REAL };

/* Longer calls have a larger k: so the tiles, and the best choice, stay the same. */
static long deeper(long k, double scale)
{
    return (long) ((double) k * scale);
}

/* Six tiles of 128 x 128 per SM, in nearly a square. The edges are ragged, as everywhere here, so
 * that smaller tiles cover d with less waste, and are slower nevertheless. */
static void square(long dim[LAB_DIMS], const Gpu *gpu, double scale)
{
    long down = (long) sqrt(6.0 * gpu->sms), across = 6L * gpu->sms / down;

    dim[0] = 128 * down - 40;
    dim[1] = 128 * across - 40;
    dim[2] = deeper(256, scale);
}

/* Eight tiles of 128 x 32 per SM, one below the other. */
static void tall(long dim[LAB_DIMS], const Gpu *gpu, double scale)
{
    dim[0] = 128L * 8 * gpu->sms - 100;
    dim[1] = 32;
    dim[2] = deeper(256, scale);
}

/* Eight tiles of 32 x 128 per SM, side by side. */
static void wide(long dim[LAB_DIMS], const Gpu *gpu, double scale)
{
    dim[0] = 32;
    dim[1] = 128L * 8 * gpu->sms - 60;
    dim[2] = deeper(256, scale);
}

/* Nearly two tiles of 64 x 64 per SM; of 128 x 128 there is one for every second SM. The numbers of
 * tiles are odd, so that no other tile fits as well. */
static void few(long dim[LAB_DIMS], const Gpu *gpu, double scale)
{
    long down = ((long) sqrt(2.0 * gpu->sms) - 1) | 1, across = (2L * gpu->sms / down - 1) | 1;

    dim[0] = 64 * down - 20;
    dim[1] = 64 * across - 12;
    dim[2] = deeper(1024, scale);
}

static const Case cases[] = {
    { "1 x 1, k = 1", { 1, 1, 1, SMALL } },
    { "2 x 3, k = 5", { 2, 3, 5, SMALL } },
    { "32 x 32, k = 16", { 32, 32, 16, SMALL } },
    { "127 x 129, k = 15", { 127, 129, 15, SMALL } },
    { "one row of 1000, k = 300", { 1, 1000, 300, SMALL } },
    { "one column of 1000, k = 300", { 1000, 1, 300, SMALL } },
    { "257 x 65, k = 33, tall", { 257, 65, 33, SMALL } },
    { "33 x 260, k = 40, wide", { 33, 260, 40, SMALL } },
    { "3 x 5, k = 5003", { 3, 5, 5003, SMALL } },
    { "300 x 200, k = 1", { 300, 200, 1, SMALL } },
    { "257 x 251, k = 63, real numbers", { 257, 251, 63, REAL } },
    { "2 million rows", { 65536L * 32 + 1, 3, 2, SMALL }, .only_begun = true },
    /* Where memory is slow compared with arithmetic (RTX 4090), it limits the tall and the wide
     * shape with all tiles. */
    { "large square", { 728, 984, 256, REAL }, TIMED, 0.82, square, .spares_rung1 = true },
    { "tall", { 8092, 32, 256, REAL }, TIMED, 0.88, tall, .spares_rung1 = true },
    { "wide", { 32, 8132, 256, REAL }, TIMED, 0.88, wide, .spares_rung1 = true },
    { "few tiles", { 172, 308, 1024, REAL }, TIMED, 0.88, few },
    { 0 },
};

static void shape(const Case *c, Arrays *arrays)
{
    size_t m = (size_t) c->dim[0], n = (size_t) c->dim[1], k = (size_t) c->dim[2];
    Fill fill = { c->dim[3] == SMALL ? FILL_SMALL : FILL_UNIT, 0, 0 };

    arrays->in[A] = (Array){ F32, m, k, fill, NULL, .name = "a" };
    arrays->in[B] = (Array){ F32, k, n, fill, NULL, .name = "b" };
    arrays->out[0] = (Array){ F32, m, n, fill, NULL, .name = "d" };
}

/* ---- The right value of an element ---- */

enum { PANEL = 64 };

/* The sums of PANEL neighbouring results of a row, and those of their products' squares. */
typedef struct Sums {
    double sum[PANEL], squares[PANEL];
} Sums;

static void add_products(Sums *sums, double left, const double right[PANEL])
{
    for (int j = 0; j < PANEL; j++) {
        double product = left * right[j];
        sums->sum[j] += product;
        sums->squares[j] += product * product;
    }
}

/* Sums of small integers are exact in any order. For real numbers the bound is that of lab 07: u (8
 * sqrt(k) ||products|| + |sum|), u = 2^-24. Inputs of 11 bits exceed it. */
static void finish_row(const Case *c, const Sums *sums, size_t col, size_t count, float *want,
                       double *error)
{
    for (size_t i = 0; i < count; i++) {
        double sum = sums->sum[col + i];
        want[i] = (float) sum;
        if (c->dim[3] == REAL)
            error[i] =
                0x1p-24 * (8 * sqrt((double) c->dim[2] * sums->squares[col + i]) + fabs(sum)) +
                0x1p-22 * fabs(sum);
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

/* Columns col .. of the panel that begins there, of one row; only elements from `first` on. */
static void panel_of_row(const Case *c, const Inputs *inputs, size_t row, size_t col, size_t first,
                         size_t end, const double (*right)[PANEL], float *want, double *error)
{
    size_t n = (size_t) c->dim[1], k = (size_t) c->dim[2], at = row * n + col;
    size_t stop = row * n + (n - col < PANEL ? n : col + PANEL), begin = at < first ? first : at;
    Sums sums = { { 0 }, { 0 } };

    stop = stop < end ? stop : end;
    if (begin >= stop)
        return;
    for (size_t i = 0; i < k; i++)
        add_products(&sums, (double) input_f32(inputs, A, row * k + i), right[i]);
    finish_row(c, &sums, begin - at, stop - begin, want + (begin - first), error + (begin - first));
}

/* True if the elements first .. end - 1 include some of the columns col .. col + PANEL - 1. */
static bool touches(size_t n, size_t col, size_t first, size_t end)
{
    size_t begin = first / n * n + col;

    return end - first >= n || (begin < end && begin + PANEL > first) || begin + n < end;
}

/* Works on panels of 64 columns: each panel of b is computed once for all rows. */
static void truth(const Case *c, const Inputs *inputs, int out, size_t first, size_t count,
                  void *want, double *error)
{
    size_t n = (size_t) c->dim[1], k = (size_t) c->dim[2], end = first + count;
    double(*right)[PANEL] = malloc(k * sizeof *right);

    (void) out; /* there is only one */
    if (!right)
        abort();
    for (size_t col = 0; col < n; col += PANEL) {
        if (!touches(n, col, first, end))
            continue;
        fill_panel(inputs, k, n, col, right);
        for (size_t row = first / n; row * n < end; row++)
            panel_of_row(c, inputs, row, col, first, end, right, want, error);
    }
    free(right);
}

static void call(void (*kernel)(void), const Case *c, const Arrays *arrays)
{
    AS(tuning, kernel)
    (arrays->out[0].data, arrays->in[A].data, arrays->in[B].data, (int) c->dim[0], (int) c->dim[1],
     (int) c->dim[2]);
}

/* Every element of the inputs is read once, and d written once. */
static Work work(const Case *c)
{
    double m = (double) c->dim[0], n = (double) c->dim[1], k = (double) c->dim[2];

    return (Work){ .bytes = sizeof(float) * (m * k + k * n + m * n), .flops = 2 * m * n * k };
}

static bool set_columns(long dim[LAB_DIMS], const Gpu *gpu, long value)
{
    (void) gpu;
    dim[1] = value;
    return value <= 1024;
}

const Lab lab_tuning = {
    .title = "choosing a tile",
    .further = true,
    .function = "tuning",
    .cases = cases,
    .shape = shape,
    .truth = truth,
    .window = 128,
    .call = call,
    .work = work,
    .hints = {
        "Take the case `tall`: d has 32 columns. How many of the 128 x 128 results of a tile does d "
        "have? All of them are computed. Now take `few tiles`: how many tiles of 128 x 128 cover d, "
        "and how many SMs does the device have? What do the other SMs do?",
        "Give each of the nine tiles a cost, and take the cheapest. Three things make it: the "
        "results that the tiles cover, also those that d does not have; what one result costs "
        "with 8 x 8, 4 x 4 and 2 x 2 results per thread; and how evenly the tiles share the SMs. "
        "With any one of the three alone, another shape is slow.",
        "The time is that of the busiest SM: it gets ceil(tiles / SMs) of them. Every tile has 256 "
        "threads, so one tile costs what a thread costs: per step of k, side * side / 4 clocks of "
        "FMAs and about side clocks of loads from shared memory. Multiply tiles by clocks. "
        "cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device) returns the SMs.",
    },
    .remedies = {
        { "slow", .in = "few tiles", .also = "large square",
          .text = "A large square and a few tiles are both slow. Is your tile chosen for the waste "
                  "at the edges alone? Compare what one result costs with 8 x 8, 4 x 4 and 2 x 2 "
                  "results per thread: how many floats does a thread load per FMA?" },
        { "slow", .in = "few tiles", .also = "tall",
          .text = "Start with `tall`. Which part of a tile of 128 x 128 lies inside a matrix of 32 "
                  "columns? Which of the nine tiles lie inside completely?" },
        { "slow", .in = "few tiles",
          .text = "Count the tiles that the busiest SM gets, as a whole number, rounded up. An "
                  "average of half a tile per SM means that half of the SMs have one tile and the "
                  "others have none." },
        { "slow", .in = "large square", .below = 0.70,
          .text = "The large square has enough tiles of every size for all SMs. So what one result "
                  "costs decides: how many floats from shared memory does a thread load per FMA, "
                  "with 8 x 8, 4 x 4 and 2 x 2 results? If your cost has that: do not divide by the "
                  "blocks that fit on an SM at once, since they share its clocks." },
        { "slow", .in = "tall",
          .text = "d has 32 columns here. Count the results that the tiles cover, also those that d "
                  "does not have: ceil(n / columns of the tile) * columns. Is the choice kept from "
                  "an earlier call with another shape? Are rows and columns exchanged?" },
        { "slow", .in = "wide",
          .text = "d has 32 rows here. Count the results that the tiles cover, also those that d "
                  "does not have: ceil(m / rows of the tile) * rows. Is the choice kept from an "
                  "earlier call with another shape? Are rows and columns exchanged?" },
        { "slow",
          "Print the cost of all nine tiles for the case named above, and the tile you chose. Which "
          "tile should win? Which factor of the cost makes it lose?" },
        { "correct",
          "Speed was not judged here. Write down the tile that you choose for each of the four "
          "timed shapes, and check it with `The model in numbers` of the lesson." },
        { "wrong unwritten",
          "Some results were never written. Did you launch a tile at all, for every shape? If the "
          "launch is your own: how many tiles cover 129 rows?" },
        { "wrong",
          "The given launch_tile() is right with every tile and every shape. What did you pass to "
          "it? m is the number of rows of d, n its columns." },
        { "unsafe",
          "The given kernels are free of races and check every index. What did you pass: are m, n "
          "and k in this order?" },
        { "stray",
          "A store outside d. The given kernels check every index, so m and n are larger than d: "
          "in which order do you pass them?" },
        { "crash",
          "Is the number of your tile from 0 to TILES - 1 for every shape, also for 1 x 1? If no "
          "tile fits a shape completely, one must be chosen nevertheless. A division by 0 stops "
          "the process, too." },
        { "timeout", "Which loop over the tiles never ends?" },
        { "build",
          "The function must not measure: events, clocks and waiting are refused, since its first "
          "call is timed like all others. Compute a cost from the shape and the device instead. "
          "The lesson says why." },
    },
    .predictions = {
        { "covered",
          "d has 100,000 rows and 64 columns. Tiles of 128 x 128: what percentage of the results "
          "that the blocks compute does d have?",
          50, 0.5, "64 of 128 columns are inside. The rows do not matter: 782 tiles cover 100,000 "
                   "rows with 96 to spare." },
        { "rounds",
          "A device has 132 SMs, and a matrix takes 144 tiles of equal cost. How many tiles does "
          "the busiest SM get?",
          2, 0, "144 / 132 = 1.09, rounded up. Most SMs are idle in the second half of the time." },
        { "idle",
          "d has 1024 x 1024 results. Tiles of 128 x 128 on 132 SMs: how many SMs have no tile?",
          68, 0, "8 x 8 = 64 tiles, one per SM; 132 - 64 = 68 SMs have none." },
        { "loads_8",
          "A thread with 8 x 8 results: how many floats from shared memory does it need per FMA?",
          0.25, 0.005, "8 + 8 floats for 64 FMAs." },
        { "loads_2",
          "And with 2 x 2 results?",
          1, 0.01, "2 + 2 floats for 4 FMAs: four times as many." },
        { "right_by_luck",
          "Two tiles are equally fast. Each is measured once, with noise. In what percentage of the "
          "tries does the second one win?",
          50, 1, "Pure chance. The time of the winner is then too short, on average: the smaller of "
                 "two noisy numbers. This is the winner's curse." },
    },
    .question = "Your matrices now hold 16-bit floats, and tensor cores multiply them sixteen times as "
                "fast. Loads from shared memory and from DRAM stay as they are. Which parts of your "
                "cost change, which tiles get more attractive, and which new term do you need?",
    .questions = {
        { "deep",
          "A product has m = n = 64 and k = 1,000,000. How many of 132 SMs work with tiles of 32 x "
          "32?",
          4, 0, "2 x 2 tiles, one per SM. No tile of the table helps: blocks would have to share k, "
                "and add their sums." },
        { "search_pays",
          "A search runs nine variants ten times each, and each run takes as long as a call with "
          "the default variant. Its winner saves 20 % of a call. After how many calls has the "
          "search paid?",
          450, 5, "90 runs / 0.2 = 450 calls of that shape. A shape that is called once should not "
                  "be searched." },
        { "smaller_gpu",
          "A table of best tiles was measured on 132 SMs. For d of 512 x 512 it says 32 x 32: 256 "
          "tiles. On a GPU with 16 SMs, how many tiles of 64 x 64 does the busiest SM get?",
          4, 0, "64 tiles on 16 SMs: 4 each, and none is idle, at 4 * 8 = 32 clocks per step of k; "
                "32 x 32 takes 16 * 3 = 48, and 128 x 128 only 24. The table is wrong on this "
                "GPU." },
        { 0 },
    },
    .profile = "shared_loads occupancy fma_loads",
    .sweep = {
        .what = "n, columns of d",
        .label = "tall",
        .set = set_columns,
        .values = { 1, 8, 16, 17, 32, 33, 48, 64, 65, 96, 128, 256 },
    },
};
