/* Convolution with a separable filter: how often a pixel is loaded, and from where. */
#include "kernel.h"

#include <math.h>
#include <stdlib.h>

/* A case consists of rows, columns, radius and one of these. Sums of INTEGERS are exact in any
 * order: at most 33 * 33 * 8^3 < 2^24. SPIKES: one pixel in 1024 is up to 1024 times as large as
 * others. */
enum { ROWS, COLS, RADIUS, CONTENTS };
enum { INTEGERS, REALS, SPIKES };

static const FillKind pixels[] = { FILL_SMALL, FILL_UNIT, FILL_UNIFORM };
static const FillKind weights[] = { FILL_SMALL, FILL_UNIT, FILL_UNIT };

/* A multiple of four floats, of the 128 that a warp loads by float4, and of strips of 96. */
enum { TIMED_COLS = 3840 };

/* `count` pixels, rounded to multiples of 64 rows. */
static void of_pixels(long dim[LAB_DIMS], double count)
{
    dim[COLS] = TIMED_COLS;
    dim[ROWS] = (long) (fmin(count, 0x1p29) / TIMED_COLS / 64 + 0.5) * 64;
    if (dim[ROWS] < 64)
        dim[ROWS] = 64;
}

/* About four times as many bytes in each array as L2 holds. */
static void large(long dim[LAB_DIMS], const Gpu *gpu, double scale)
{
    of_pixels(dim, (double) gpu->l2_bytes * scale);
}

/* At a large radius arithmetic takes most of the time, so the SMs count. The starter's 1089 taps
 * are slow to simulate: the image is small unless the GPU is fast. */
static void medium(long dim[LAB_DIMS], const Gpu *gpu, double scale)
{
    of_pixels(dim, 84000.0 * gpu->sms * scale);
}

static const Case cases[] = {
    { "1 x 1, radius 2", { 1, 1, 2, INTEGERS } },
    { "1 x 1, radius 16", { 1, 1, 16, INTEGERS } },
    { "3 x 5, radius 4: all windows exceed the image", { 3, 5, 4, INTEGERS } },
    { "17 x 33, radius 0", { 17, 33, 0, INTEGERS } },
    { "64 x 64, radius 1", { 64, 64, 1, INTEGERS } },
    { "33 x 31, radius 2", { 33, 31, 2, INTEGERS } },
    { "128 x 128, radius 2", { 128, 128, 2, INTEGERS } },
    { "1031 x 260, radius 2, tall", { 1031, 260, 2, INTEGERS } },
    { "65 x 130, radius 3", { 65, 130, 3, INTEGERS } },
    { "one row of 1000, radius 7", { 1, 1000, 7, INTEGERS } },
    { "one column of 1000, radius 7", { 1000, 1, 7, INTEGERS } },
    { "129 x 513, radius 8", { 129, 513, 8, INTEGERS } },
    { "37 x 259, radius 16", { 37, 259, 16, INTEGERS } },
    { "96 x 256, radius 16", { 96, 256, 16, INTEGERS } },
    { "301 x 100, radius 15", { 301, 100, 15, INTEGERS } },
    { "70,001 x 3, radius 1, more rows than a grid's y may have", { 70001, 3, 1, INTEGERS } },
    { "2 x 40,000, radius 2, wide", { 2, 40000, 2, INTEGERS } },
    { "61 x 84, radius 2, real numbers", { 61, 84, 2, REALS } },
    { "90 x 201, radius 9, real numbers", { 90, 201, 9, REALS } },
    { "150 x 140, radius 16, with spikes", { 150, 140, 16, SPIKES } },
    { "radius 16", { 384, 384, 16, REALS }, TIMED, 0.50, medium },
    { "radius 2", { 768, 768, 2, REALS }, TIMED, 0.75, large },
    { "radius 0, a copy", { 768, 768, 0, REALS }, CONTROL, 0, large },
    { 0 },
};

static void shape(const Case *c, Arrays *arrays)
{
    size_t rows = (size_t) c->dim[ROWS], cols = (size_t) c->dim[COLS];
    Fill any = { FILL_UNIFORM, 0, 0 };

    arrays->in[0] = (Array){ F32, rows, cols, { pixels[c->dim[CONTENTS]], 0, 0 }, NULL };
    arrays->out[0] = (Array){ F32, rows, cols, any, NULL };
    arrays->scratch = (Array){ F32, 1, rows * cols + 33 * 33, any, NULL };
}

/* The weights depend on the case alone, since the host needs them for every call. Both directions
 * differ, and neither is symmetric. */
static Filter filter_of(const Case *c)
{
    const int radius = (int) c->dim[RADIUS], taps = 2 * radius + 1;
    const FillKey key = fill_key((uint64_t) c->dim[RADIUS], 100 + (int) c->dim[CONTENTS]);
    const Fill fill = { weights[c->dim[CONTENTS]], 0, 0 };
    Filter filter = { .radius = radius };

    for (int i = 0; i < taps; i++) {
        filter.across[REACH - radius + i] = fill_f32(fill, key, (size_t) i);
        filter.down[REACH - radius + i] = fill_f32(fill, key, (size_t) (taps + i));
    }
    return filter;
}

/* ---- The right results ---- */

/* The sum of weighted pixels, and that of their squares, which bounds the rounding error. */
typedef struct Sum {
    double value, squares;
} Sum;

/* Some columns of the output: `count` of them, from column `from` on. */
typedef struct Window {
    const Inputs *inputs;
    Filter filter;
    long rows, cols, from, count;
} Window;

static long nearest(long i, long count)
{
    return i < 0 ? 0 : i < count ? i : count - 1;
}

static void *some(size_t count, size_t size)
{
    void *memory = calloc(count ? count : 1, size);

    if (!memory)
        abort();
    return memory;
}

/* The pixels of a row that the window needs: from `radius` columns before it to `radius` after. */
static void read_row(const Window *w, long row, float *pixel)
{
    const Array *in = &w->inputs->arrays->in[0];
    const long radius = w->filter.radius, left = w->from - radius,
               right = w->from + w->count + radius;
    const long first = nearest(left, w->cols), last = nearest(right - 1, w->cols);

    fill_f32s(in->fill, fill_key(w->inputs->seed, 0), (size_t) (row * w->cols + first), 1,
              (size_t) (last - first + 1), pixel + (first - left));
    for (long x = left; x < first; x++)
        pixel[x - left] = pixel[first - left];
    for (long x = last + 1; x < right; x++)
        pixel[x - left] = pixel[last - left];
}

static void sum_across(const Window *w, long row, float *pixel, Sum *sums)
{
    const int radius = w->filter.radius;

    read_row(w, row, pixel);
    for (int j = 0; j <= 2 * radius; j++) {
        const double weight = (double) w->filter.across[REACH - radius + j];
        for (long x = 0; x < w->count; x++) {
            double product = weight * (double) pixel[x + j];
            sums[x].value += product;
            sums[x].squares += product * product;
        }
    }
}

/* Rows top .. bottom of the window: the sums across all rows that they need, then those down. */
static void sum_rows(const Window *w, long top, long bottom, Sum *results)
{
    const int radius = w->filter.radius;
    const long first = nearest(top - radius, w->rows), last = nearest(bottom + radius, w->rows);
    Sum *across = some((size_t) ((last - first + 1) * w->count), sizeof *across);
    float *pixel = some((size_t) (w->count + 2 * radius), sizeof *pixel);

    for (long row = first; row <= last; row++)
        sum_across(w, row, pixel, across + (row - first) * w->count);
    for (long y = top; y <= bottom; y++)
        for (int i = -radius; i <= radius; i++) {
            const double weight = (double) w->filter.down[REACH + i];
            const Sum *from = across + (nearest(y + i, w->rows) - first) * w->count;
            Sum *to = results + (y - top) * w->count;
            for (long x = 0; x < w->count; x++) {
                to[x].value += weight * from[x].value;
                to[x].squares += weight * weight * from[x].squares;
            }
        }
    free(pixel);
    free(across);
}

/* How far floats may be off: as for the sums of labs/07_reduction and labs/09_sgemm, 8 u sqrt(k)
 * times the root of the sum of squares of the k products, u = 2^-24, plus the rounding of the
 * result. k = (2r + 1)^2 covers any order: sums of rows first, which take 2 (2r + 1) additions, or
 * all taps in turn. A table of weights rounds each product once more, which is far less. With
 * inputs or sums across of 11 bits (TF32, half) each product is off by up to 2^-12 of itself. */
static double rounding(const Case *c, const Sum *sum)
{
    const double taps = 2 * (double) c->dim[RADIUS] + 1;

    return 0x1p-24 * (8 * taps * sqrt(sum->squares) + fabs(sum->value));
}

static void truth_of_rows(const Case *c, Window *w, size_t first, size_t count, float *want,
                          double *error)
{
    const long cols = w->cols, top = (long) first / cols,
               bottom = (long) (first + count - 1) / cols;
    const bool one_row = top == bottom;
    Sum *results;
    size_t skipped;

    w->from = one_row ? (long) first % cols : 0;
    w->count = one_row ? (long) count : cols;
    skipped = first - (size_t) (top * cols + w->from);
    results = some((size_t) ((bottom - top + 1) * w->count), sizeof *results);
    sum_rows(w, top, bottom, results);
    for (size_t i = 0; i < count; i++) {
        const Sum *sum = &results[skipped + i];
        want[i] = (float) sum->value;
        error[i] = c->dim[CONTENTS] == INTEGERS ? 0 : rounding(c, sum);
    }
    free(results);
}

/* A window of less than a row that continues in the next one is cut in two, since whole rows may be
 * long. */
static void truth(const Case *c, const Inputs *inputs, int out, size_t first, size_t count,
                  void *want, double *error)
{
    Window w = {
        .inputs = inputs, .filter = filter_of(c), .rows = c->dim[ROWS], .cols = c->dim[COLS]
    };
    const size_t cols = (size_t) w.cols, left = cols - first % cols;
    const size_t head = count < cols && left < count ? left : count;

    (void) out; /* there is only one */
    truth_of_rows(c, &w, first, head, want, error);
    if (head < count)
        truth_of_rows(c, &w, first + head, count - head, (float *) want + head, error + head);
}

static void call(void (*kernel)(void), const Case *c, const Arrays *arrays)
{
    AS(convolve, kernel)
    (arrays->out[0].data, arrays->in[0].data, (int) c->dim[ROWS], (int) c->dim[COLS], filter_of(c),
     arrays->scratch.data);
}

/* Every pixel is read once and written once. Two passes of 2r + 1 multiply-adds. */
static Work work(const Case *c)
{
    double n = (double) c->dim[ROWS] * (double) c->dim[COLS], radius = (double) c->dim[RADIUS];

    return (Work){ .bytes = 2 * sizeof(float) * n, .flops = 4 * (2 * radius + 1) * n };
}

static bool set_radius(long dim[LAB_DIMS], const Gpu *gpu, long value)
{
    (void) gpu;
    dim[RADIUS] = value;
    return true;
}

const Lab lab_convolution = {
    .title = "separable convolution",
    .further = true,
    .function = "convolve",
    .cases = cases,
    .shape = shape,
    .truth = truth,
    .window = 256,
    .call = call,
    .work = work,
    /* A pixel and a weight from memory for each multiply-add are 2 loads. One from L1 or shared
     * memory for each, as in a simple kernel with both passes, is 1, and a little for the apron. */
    .mechanism = { { LOADS_AN_FMA, 0, 1.6 }, { SECTORS_WRITTEN, 0, 1.15 } },
    .hints = {
        "Count for one result, at radius 16: how many pixels does the starter load, how many weights, "
        "and how many multiply-adds does it do? Then look at the weight of tap (i, j): it is a "
        "product. Which part of the sum over j is the same for all i?",
        "Sum the rows first: sums[y, x] = sum over j of across[j] * in[y, x + j]. A result is a sum "
        "over 2r + 1 of these, down a column. Pass the filter to the kernel by value: its weights "
        "are then in constant memory. With the radius as a template parameter the loops "
        "disappear. Two kernels with the sums in `scratch` move 16 bytes per pixel; the least is 8, "
        "so at radius 2 both passes belong into one kernel.",
        "Radius 2: each thread takes four neighbouring columns and 16 rows. It loads the 8 pixels that "
        "it needs of each of 20 rows (as float2, float4, float2), all 160 before the first sum, and "
        "stores float4. The results of a column that are not complete yet wait in registers: each new row adds to all of "
        "them. Radius 16: a block slides down a strip. In each step it loads 32 rows with their "
        "apron into shared memory; threads sum 16 neighbouring results across from registers, "
        "store these sums in shared memory, and then sum 16 results down a column. Lanes that take "
        "different rows need rows of an odd length.",
    },
    .remedies = {
        { "slow loads_an_fma",
          "Each multiply-add waits for two loads: a pixel and a weight. All threads need the same "
          "weights, and neighbouring results need nearly the same pixels. Which of the two can come "
          "with the kernel's parameters?" },
        { "slow sectors_written",
          "The stores are scattered: from lane 0 to lane 1, by how many floats does the index of "
          "`out` change?" },
        { "slow", .in = "radius 16", .below = 0.20,
          .text = "At radius 16 a window has 1089 taps, and two passes have 66. Does your kernel "
                  "sum each row across only once?" },
        { "slow", .in = "radius 2", .also = "radius 16",
          .text = "Radius 2 first: count the bytes per pixel that your kernels move. The least is "
                  "8, one read and one write. Where do the sums of rows wait until they are summed "
                  "down? If you move no more, count loads: a thread that computes four neighbours "
                  "and slides down a column needs the fewest." },
        { "slow", .in = "radius 16",
          .text = "Radius 16 takes 66 multiply-adds per result at least. How many loads does your "
                  "kernel need for them? A thread that computes 4 neighbouring results needs 36 "
                  "pixels for 132 taps. And does the compiler know the number of taps?" },
        { "slow", .in = "radius 2",
          .text = "At radius 2 bytes decide. How many bytes per pixel do your kernels move, and how "
                  "many bytes has each thread in flight before it needs the first? Two passes "
                  "through `scratch` move 16." },
        { "slow",
          "Count loads, multiply-adds and bytes per pixel. Which of the three takes longest on this "
          "GPU?" },
        { "correct",
          "Speed was not judged. Work it out on paper: multiply-adds, loads and bytes per pixel, at "
          "radius 2 and at radius 16." },
        { "wrong", .in = "all windows exceed",
          .text = "Each window here exceeds the image on all sides. A pixel outside is the nearest "
                  "one inside: row and column are limited separately. Is an index unsigned, so that "
                  "it is never below 0? Can it be too large by more than the image's size?" },
        { "wrong", .in = "real numbers",
          .text = "Integers are right and real numbers are not: is anything kept in fewer than 24 "
                  "bits, or converted to an integer?" },
        { "wrong", .in = "with spikes",
          .text = "Integers are right and real numbers are not: is anything kept in fewer than 24 "
                  "bits, or converted to an integer?" },
        { "wrong first_call",
          "This case is right if it is the first one. The filter may differ in every call. What does "
          "your code keep from one call to the next? `scratch` and `out` hold garbage values at "
          "first." },
        { "wrong transposed",
          "Rows and columns are exchanged. Which weights belong to the direction across, and which "
          "to the direction down? If a pass stores its results transposed: does the next one "
          "transpose them back, with the right pitch?" },
        { "wrong unwritten",
          "Some results were never written. Which are they: those after the last whole tile, after "
          "the last whole float4, or the last rows of a band?" },
        { "wrong right_edge",
          "The right edge is wrong. Which thread loads the apron right of the last tile, and what "
          "does it load where the image has ended?" },
        { "wrong tail",
          "The end is wrong. Which thread takes the rows after the last whole tile or step? How many "
          "more rows must it load than it writes?" },
        { "wrong not_finite",
          "NaN or infinity: a value was used that was never stored. Are the sums of the rows above "
          "and below a tile computed, too?" },
        { "wrong shifted",
          "The results are shifted. filter.across[REACH] is the weight of the pixel itself, "
          "whatever the radius." },
        { "wrong row_shifted",
          "The results are those of a neighbouring row. filter.down[REACH] is the weight of the "
          "pixel itself. If a thread slides down: which result is complete when row y is added?" },
        { "wrong",
          "Which radii and sizes are right? Only those up to your apron, only whole tiles, only "
          "symmetric filters? Are across and down the right way round, and is REACH the index of "
          "the pixel itself?" },
        { "unsafe race",
          "One thread stores to shared memory what another loads, without a barrier between. "
          "Three uses must be separated: storing pixels, the sums across, the sums down. If you "
          "step down a strip, the next step's stores must wait, too." },
        { "unsafe barrier",
          "Only some threads reach the barrier. Threads right of the image or below it must help "
          "to load, and reach all barriers; only their stores to `out` are left out." },
        { "unsafe uninitialised",
          "Your kernel reads shared memory or `scratch` that was never written. Which part of the "
          "apron does no thread load: a corner, or what lies further than one block's width? Did threads "
          "outside the image return before they loaded their part?" },
        { "unsafe",
          "A thread accesses memory outside an array. Is each index limited to 0 .. rows - 1 and 0 "
          ".. cols - 1 before the load? An unsigned index is never below 0." },
        { "stray input", "`in` is an input and must not change. Sums can wait in `scratch`." },
        { "stray",
          "A write outside the arrays. Does the image end within the last tile, and does a float4 "
          "end with the row? In shared memory: is there room for the apron at radius 16?" },
        { "crash launch",
          "How many blocks, threads and bytes of shared memory does your launch request? A grid's y "
          "and z are at most 65,535, a block has at most 1024 threads." },
        { "crash misaligned",
          "A float4 needs an address that is a multiple of 16 bytes. With 31 columns, at which "
          "address does row 1 begin?" },
        { "crash",
          "Take the largest index of the failing case: row * cols may need more than an int." },
        { "timeout", "Does each loop over rows make progress, whatever the radius?" },
    },
    .predictions = {
        { "all_taps", "Radius 16: how many pixels does the starter load per result?", 1089, 0,
          "A window of 33 x 33 pixels. It also loads 1089 weights." },
        { "two_passes",
          "Radius 16: how many multiply-adds per result do two passes take, rows and then columns?",
          66, 0, "33 across and 33 down, a factor of 16.5 less." },
        { "pass_bytes",
          "Two kernels, with the sums of rows stored in memory between them: how many bytes per "
          "pixel do they move at least?",
          16, 0, "Each kernel reads 4 and writes 4. One kernel for both passes moves 8." },
        { "apron_16",
          "A tile has 32 x 32 results, and its block also loads the apron. How many pixels per result "
          "does it load at radius 16?",
          4, 0, "64 x 64 / (32 x 32)." },
        { "apron_2", "And at radius 2?", 1.27, 0.01, "36 x 36 / (32 x 32) = 1.266." },
        { "four_neighbours",
          "A thread computes four neighbouring sums across, at radius 16, and loads each pixel that "
          "it needs once. How many pixels does it load per sum?",
          9, 0, "4 + 2 x 16 = 36 pixels for four sums. One sum per thread would need 33." },
        { "balance",
          "A GPU does 33 * 10^12 multiply-adds and moves 4.2 * 10^12 bytes per second. Up to which "
          "radius do the bytes of one kernel for both passes take longer than its multiply-adds?",
          15, 0, "8 bytes take 1.90 ps, in which it does 62.9 multiply-adds: 2 (2r + 1) is 62 at "
                 "radius 15, and 66 at radius 16." },
    },
    .question = "An image is blurred three times with radius 2. How many bytes per pixel do three "
                "calls of your kernel move, and how many would one kernel move that does all three? "
                "Which apron does its tile need, and what does it compute twice? Would one filter "
                "of radius 6 do the same, near the border, too?",
    .questions = {
        { "volume",
          "A separable filter of radius 3 in three dimensions, in three passes: how many "
          "multiply-adds per result?",
          21, 0, "Three passes of 7. All taps would be 343." },
        { "two_filters",
          "The weights of a filter of radius 8 are not products of two factors, but sums of two such "
          "products. How many multiply-adds per result does it take with passes across and down?",
          68, 0, "17 across and 17 down for each of the two: 68 and not 289." },
        { "box",
          "All weights of a box filter are equal. A thread slides down a column, and adds and "
          "subtracts pixels to keep the window's sum. On what does its work per result depend?",
          2, 0, "One pixel enters and one leaves, so it takes two additions at any radius. In "
                "floats the roundings of a long column add up.",
          { "on the radius", "on nothing: it is the same at any radius", "on the image's height" } },
        { 0 },
    },
    .profile = "loads stores shared_loads barriers occupancy registers fma_loads",
    .sweep = {
        .what = "radius",
        .label = "radius 2",
        .set = set_radius,
        .values = { 1, 2, 3, 4, 5, 6, 8, 10, 12, 14, 16 },
    },
};
