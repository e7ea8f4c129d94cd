/* Tail effect: into what pieces work is cut.
 *
 * The flaw leaves SMs idle: all but one of them wait while one does its second row. No cache gives
 * time back, and a GPU with more SMs only has more of them waiting. */
#include "kernel.h"

enum { COLS = 8192, ROUNDS = 128, PIXELS = 64 };

/* A row is as much as an SM is to have; rounds make a call long enough. */
static void rows_of(long dim[LAB_DIMS], long rows, double scale)
{
    dim[0] = rows;
    dim[1] = COLS;
    dim[2] = (long) (ROUNDS * scale);
}

static void one_too_many(long dim[LAB_DIMS], const Gpu *gpu, double scale)
{
    rows_of(dim, gpu->sms + 1, scale);
}

static void two_and_one(long dim[LAB_DIMS], const Gpu *gpu, double scale)
{
    rows_of(dim, 2 * gpu->sms + 1, scale);
}

static void just_enough(long dim[LAB_DIMS], const Gpu *gpu, double scale)
{
    rows_of(dim, gpu->sms, scale);
}

static const Case cases[] = {
    { "1 x 1", { 1, 1, 1 } },
    { "1 x 1, no rounds", { 1, 1, 0 } },
    { "3 x 5, no rounds", { 3, 5, 0 } },
    { "1 x 1023", { 1, 1023, 3 } },
    { "3 x 1024, the largest block", { 3, 1024, 5 } },
    { "5 x 1025", { 5, 1025, 7 } },
    { "2 x 8192", { 2, 8192, 4 } },
    { "9 x 4099, a prime", { 9, 4099, 18 } },
    { "133 x 257", { 133, 257, 6 } },
    { "7 x 31, 1009 rounds", { 7, 31, 1009 } },
    { "31 x 7, 5003 rounds", { 31, 7, 5003 } },
    { "1 x 300,007, a single row", { 1, 300007, 2 } },
    { "66,001 x 4, more rows than a grid's y may have", { 66001, 4, 3 } },
    { "SMs + 1 rows", { 9, COLS, ROUNDS }, TIMED, 0.80, one_too_many },
    { "2 SMs + 1 rows", { 17, COLS, ROUNDS }, TIMED, 0.75, two_and_one, .spares_rung1 = true },
    { "SMs rows", { 8, COLS, ROUNDS }, CONTROL, 0, just_enough },
    { 0 },
};

static void shape(const Case *c, Arrays *arrays)
{
    size_t rows = (size_t) c->dim[0], cols = (size_t) c->dim[1];
    Fill any = { FILL_RANGE, INT32_MIN, INT32_MAX };

    arrays->in[0] = (Array){ U32, rows, cols, any, NULL };
    arrays->out[0] = (Array){ U32, rows, cols, any, NULL };
}

/* A step is a shift, an exclusive or, a multiplication (the first half of a hash function, C.
 * Wellons, 2018) and the addition of the seed: three instructions on a GPU, each waiting for the
 * one before, and the same for every pixel and any number.
 *
 * None of them can be left out. All bits depend on all: the product carries low bits up, the shift
 * brings high ones down, and after four steps each bit of the seed turns each bit of x as often as
 * not. No formula for many steps is known, since product and sum are linear in integers, the
 * exclusive or in single bits, and neither in the other. (In a generator of shifts and exclusive
 * ors alone many steps are one product with a matrix of 32 x 32 bits, and 32 pixels can share each
 * operation.) A table does not help either, since the seed is added in each step: every pixel has a
 * sequence of its own. And for any one seed a step is one to one, the factor being odd: a sequence
 * never settles, so nobody may stop early. Eight that we followed came back to their beginning
 * after 3 * 10^8 steps or more. */
static uint32_t next_number(uint32_t x, uint32_t seed)
{
    return (x ^ (x >> 15)) * 0x2c1b3c6du + seed;
}

/* Timed calls have thousands of rounds, and one output is compared whole: as a loop of vectors that
 * is 16 times as fast. (Clang makes one of it by itself.) */
#ifdef __clang__
#define AS_VECTORS
#else
#define AS_VECTORS __attribute__((optimize("O3"), target_clones("avx2", "default")))
#endif

/* Pixels side by side, so that a CPU need not wait for each result either. */
AS_VECTORS
static void take_steps(uint32_t x[PIXELS], const uint32_t seed[PIXELS], long rounds)
{
    for (long round = 0; round < rounds; round++)
        for (int i = 0; i < PIXELS; i++)
            x[i] = next_number(x[i], seed[i]);
}

static void truth(const Case *c, const Inputs *inputs, int out, size_t first, size_t count,
                  void *want, double *error)
{
    Fill fill = inputs->arrays->in[0].fill;
    FillKey key = fill_key(inputs->seed, 0);
    uint32_t *to = want;

    (void) out;   /* there is only one */
    (void) error; /* integers are exact */
    for (size_t done = 0; done < count; done += PIXELS) {
        uint32_t x[PIXELS], seed[PIXELS];
        fill_bits_of(key, first + done, 1, PIXELS, x);
        for (int i = 0; i < PIXELS; i++)
            x[i] = seed[i] = (uint32_t) fill_i32_of(fill, x[i]);
        take_steps(x, seed, c->dim[2]);
        for (size_t i = 0; i < PIXELS && done + i < count; i++)
            to[done + i] = x[i];
    }
}

static void call(void (*kernel)(void), const Case *c, const Arrays *arrays)
{
    AS(advance, kernel)
    (arrays->out[0].data, arrays->in[0].data, (int) c->dim[0], (int) c->dim[1], (int) c->dim[2]);
}

/* Every pixel is read and written once. Of operations there are four a round, of integers: counted
 * where other labs count additions and multiplications. */
static Work work(const Case *c)
{
    double count = (double) c->dim[0] * (double) c->dim[1];

    return (Work){ .bytes = 2 * sizeof(uint32_t) * count, .flops = 4 * count * (double) c->dim[2] };
}

const Lab lab_tail_effect = {
    .title = "tail effect",
    .function = "advance",
    .cases = cases,
    .shape = shape,
    .truth = truth,
    .window = 256, /* timed calls have thousands of rounds */
    .single_calls = true,
    .call = call,
    .work = work,
    .hints = {
        "Sketch the SMs as columns, and drop the rows into them like bricks, each as high as a row "
        "takes: SMs + 1 bricks. When does the last column end? How much of the rectangle round "
        "all columns is filled?",
        "Smaller bricks, a shorter last column. Nothing ties a block to a row: cut each row into "
        "pieces and give every block one. How high is the last column with halves, how high with "
        "eighths? From which size on has a block too little to do?",
        "Forget the rows. A pixel's number is blockIdx.x * blockDim.x + threadIdx.x, there are "
        "rows * cols of them, and a block of 256 threads does 256. Or: as many blocks as the GPU "
        "holds at a time (cudaOccupancyMaxActiveBlocksPerMultiprocessor, times its SMs), and each "
        "thread goes on in steps of the whole grid.",
    },
    .remedies = {
        { "slow", .in = "2 SMs + 1 rows",
          .text = "Your slowest case has two rows per SM and one more. Do you have shares that are "
                  "fixed by the number of SMs? How much has the busiest SM to do, in rows?" },
        { "slow", .below = 0.60,
          .text = "One SM still has two whole rows. How many threads a block has does not "
                  "matter for that, nor whether a loop hands out the rows. What is the smallest "
                  "piece that your kernel gives to a block? How many blocks are there?" },
        { "slow",
          "The last column has become lower, not low. In parts of a row: how high is it with "
          "your pieces, how high would it be if nothing were lost? Is a number of SMs in your "
          "source, that is another on this GPU?" },
        { "correct",
          "Speed was not judged, so work it out: how many blocks have you for SMs + 1 rows, how "
          "many of them does the busiest SM get, and what share of the SMs' time is work? "
          "warpbook calc waves does the sum." },
        { "wrong right_edge unwritten",
          "The last columns of each row are missing. How wide is a piece, which way did you "
          "round that, and who does what is left of the row?" },
        { "wrong row_shifted",
          "Pixels hold those of a neighbouring row. How do you get row and column from a "
          "number, if cols is no power of two?" },
        { "wrong tail unwritten",
          "The last pixels are missing. How many blocks cover rows * cols pixels, and which way "
          "did you round? If there is a loop: does it come back for those behind the first grid?" },
        { "wrong unwritten",
          "Nobody has done those. Which thread should have the first of them, and in which "
          "round of its loop? If all is right in the first call only: what was counted, and is "
          "still counted?" },
        { "wrong", .in = "no rounds",
          .text = "No rounds: then the number is the seed itself. When does your loop ask for "
                  "the first time whether it is to go on?" },
        { "wrong", .in = "rounds",
          .text = "Many rounds, and wrong only here: is there a limit in your loop, or are "
                  "several taken at a time and the rest left out?" },
        { "wrong",
          "Take the pixel that make grade names: which thread has it, with which seed, for how "
          "many rounds? Right at 3 x 1024 and wrong at 5 x 1025: how do you get a row and a "
          "column from a number? Right in the first call only: what is kept?" },
        { "unsafe race",
          "One thread draws a ticket for its block, the others read it through shared memory, "
          "and then it draws the next. At which two moments must the others have come along?" },
        { "unsafe barrier",
          "Some threads have left the loop, others wait for them at a barrier. Who decides that "
          "the work is over, and do all of a block learn it at the same moment?" },
        { "unsafe",
          "A thread touches a pixel that is not there. Is it asked for before it reads, and "
          "before it writes?" },
        { "stray input",
          "The seeds have changed: they are only to read. A pixel's number can stay in a "
          "register until the end." },
        { "stray",
          "A pixel was written that is not there. Is it asked for before the store, with the "
          "same number that the store uses?" },
        { "crash launch",
          "Work out your launch for 66,001 x 4. A grid's y and z end at 65,535, a block at 1024 "
          "threads; and a grid of no blocks is refused." },
        { "crash",
          "Take the largest pixel number of the failing image. In which type is it computed, "
          "and on which way does it become an index?" },
        { "timeout",
          "A loop that takes work until none is left: does it learn that none is left? And is "
          "its step ever 0?" },
    },
    .predictions = {
        { "efficiency_rows",
          "132 SMs, 133 rows, and a block that does one row fills an SM: what share of the SMs' time, "
          "in per cent, is work?",
          50.4, 0.2, "One SM does two rows after each other, or both at half the speed: it all takes "
                     "2 rows' time. 133 / (132 * 2) = 50.4 %." },
        { "efficiency_eighths",
          "The same with each row cut into eighths?",
          89.6, 0.5, "1064 pieces, at most 9 an SM: 1064 / (132 * 9) = 89.6 %. A draft on an H200 "
                     "(2026-11-21) had 91.2." },
        { "efficiency_363",
          "16 SMs with room for 12 blocks each, and 363 blocks. If blocks came in waves of 16 * 12, "
          "what share of the time, in per cent, would be work?",
          94.5, 0.2, "363 / 192 = 1.89 waves take as long as 2: 363 / 384 = 94.5 %." },
        { "gain_363",
          "A profiler says of those 363 blocks: tail effect, estimated speedup 50 %. By how many per "
          "cent would the time shrink if work were shared out without any loss?",
          5.5, 0.2, "From 2 waves to 1.89: 5.5 %. The 50 % are 1 / 2, one wave of two: what would be "
                    "gained if the second wave took no time at all, though it is nearly full." },
        { "rows_for_95",
          "132 SMs, a row a block as in the starter, and 132 k + 1 rows, the worst case: from which k "
          "on is the share of work 95 % or more?",
          19, 0, "(132 k + 1) / (132 (k + 1)) reaches 0.95 when k is 19 (0.9504; k = 18: 0.9478). A "
                 "tail is short if what comes before it is long." },
    },
    .question = "A library multiplies matrices of 4352 x 4352 in tiles of the result, one tile an SM at a "
                "time, on 132 SMs. What share of the SMs' time is work with tiles of 128 x 128? And "
                "with 256 x 256, which need fewer loads for each result? What would you do about "
                "the tail without making all tiles smaller?",
};
