/* Tail effect: the size of the pieces that work is cut into.
 *
 * The flaw leaves SMs idle: one SM processes another row while all others wait. No cache helps,
 * and on a GPU with more SMs more of them wait. */
#include "kernel.h"

enum { COLS = 8192, ROUNDS = 128, PIXELS = 64 };

/* One row is one SM's share; the rounds make a call long enough. */
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
 * previous one. The cost is the same for every pixel and every value.
 *
 * No kernel can leave any of them out. Every bit depends on all bits: the product carries low bits
 * up, the shift brings high ones down, and after four steps each bit of the seed changes each bit
 * of x with probability 1/2. No formula for many steps is known, since product and sum are linear
 * over the integers, the exclusive or is linear over single bits, and neither is linear over the
 * other. (In a generator of shifts and exclusive ors alone, many steps are one product with a
 * matrix of 32 x 32 bits, and 32 pixels can share each operation.) A table does not help either:
 * the seed is added in each step, so every pixel has its own sequence. For any seed a step is one
 * to one, since the factor is odd. So a sequence never settles, and no kernel may stop early. Eight
 * sequences that we followed returned to their beginning after 3 * 10^8 steps or more. */
static uint32_t next_number(uint32_t x, uint32_t seed)
{
    return (x ^ (x >> 15)) * 0x2c1b3c6du + seed;
}

/* Timed calls have thousands of rounds, and one whole output is compared. Vector instructions make
 * the computation 16 times as fast. (Clang uses them by default.) */
#ifdef __clang__
#define AS_VECTORS
#else
#define AS_VECTORS __attribute__((optimize("O3"), target_clones("avx2", "default")))
#endif

/* Many pixels at a time, so that a CPU need not wait for each result either. */
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

/* Every pixel is read and written once. A round is four integer operations, counted as other
 * labs count additions and multiplications. */
static Work work(const Case *c)
{
    double count = (double) c->dim[0] * (double) c->dim[1];

    return (Work){ .bytes = 2 * sizeof(uint32_t) * count, .flops = 4 * count * (double) c->dim[2] };
}

/* A value is 10 times the number of half waves, plus 5, plus the rows beyond those: 24 is one row
 * less than a wave. */
static bool set_waves(long dim[LAB_DIMS], const Gpu *gpu, long value)
{
    dim[0] = value / 10 * gpu->sms / 2 + value % 10 - 5;
    return dim[0] > 0;
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
        "Draw the SMs as columns, and stack the rows in them like bricks, each as high as a row's "
        "time: SMs + 1 bricks. How high is the highest column? How much of the rectangle around all "
        "columns is filled?",
        "Smaller bricks make the highest column lower. A block need not take a whole row: cut each "
        "row into pieces and give one to every block. How high is the highest column with halves, "
        "and with eighths? At which size does a block have too little work?",
        "Ignore the rows. A pixel's number is blockIdx.x * blockDim.x + threadIdx.x, there are "
        "rows * cols of them, and a block of 256 threads takes 256. Or launch as many blocks as "
        "the GPU holds at a time (cudaOccupancyMaxActiveBlocksPerMultiprocessor times the number "
        "of SMs), and let each thread advance by the size of the whole grid.",
    },
    .remedies = {
        { "slow", .in = "2 SMs + 1 rows",
          .text = "Your slowest case has two rows per SM and one more. Is each SM's share fixed in "
                  "advance? How many rows does the busiest SM get?" },
        { "slow", .below = 0.60,
          .text = "One SM still gets two whole rows. The number of threads per block does not "
                  "change that, nor does a loop that hands out rows. What is the smallest piece of "
                  "work that your kernel gives to a block? How many blocks are there?" },
        { "slow",
          "The highest column is lower than before, but still too high. In fractions of a row: how "
          "high is it with your pieces, and how high would it be without any loss? Does your source "
          "contain a number of SMs that is wrong for this GPU?" },
        { "correct",
          "Speed was not judged, so work it out: how many blocks do you launch for SMs + 1 rows, "
          "how many of them does the busiest SM get, and what share of the SMs' time is used? "
          "warpbook calc waves computes it." },
        { "wrong first_call",
          "This case is right if it is the first one. What does your code keep from one call to the "
          "next: a static variable, a __device__ variable, a ticket counter that is not reset? Each call must begin from scratch." },
        { "wrong right_edge unwritten",
          "The last columns of each row are missing. How wide is a piece, which way did you round "
          "it, and which block takes the rest of the row?" },
        { "wrong row_shifted",
          "Pixels hold values of a neighbouring row. How do you compute row and column from a "
          "number, if cols is not a power of two?" },
        { "wrong tail unwritten",
          "The last pixels are missing. How many blocks cover rows * cols pixels, and which way did "
          "you round? If there is a loop: does it reach the pixels after the first grid?" },
        { "wrong unwritten",
          "No thread wrote these. Which thread should write the first of them, and in which "
          "iteration of its loop? If only the first call is right: which counter still holds its "
          "last value?" },
        { "wrong", .in = "no rounds",
          .text = "With no rounds the result is the seed itself. When does your loop test its "
                  "condition for the first time?" },
        { "wrong", .in = "rounds",
          .text = "Wrong only with many rounds: does your loop have a limit, or does it take "
                  "several rounds at a time and leave out the rest?" },
        { "wrong",
          "Take the pixel that make grade names: which thread takes it, with which seed, for how "
          "many rounds? Right at 3 x 1024 and wrong at 5 x 1025: how do you compute a row and a "
          "column from a number? Right in the first call only: what do you keep between calls?" },
        { "unsafe race",
          "One thread takes a ticket for its block, the others read it from shared memory, and then "
          "it takes the next one. At which two points must all threads of the block wait for each "
          "other?" },
        { "unsafe barrier",
          "Some threads have left the loop, and others wait for them at a barrier. How does a "
          "thread learn that there is no more work, and do all threads of a block learn it in the "
          "same iteration?" },
        { "unsafe",
          "A thread accesses a pixel that does not exist. Do you check before it reads, and before "
          "it writes?" },
        { "stray input",
          "Your kernel changed the seeds, which are inputs. A pixel's value can stay in a register "
          "until the end." },
        { "stray",
          "Your kernel wrote a pixel that does not exist. Do you check before the store, with the "
          "same number that the store uses?" },
        { "crash launch",
          "Work out your launch for 66,001 x 4. A grid may have 65,535 blocks in y and in z, and a "
          "block 1024 threads. A grid of 0 blocks is refused." },
        { "crash",
          "Take the largest pixel number of the failing image. In which type is it computed, and "
          "how does it become an index?" },
        { "timeout",
          "If a loop takes work until none is left: does it notice when none is left? Can its step "
          "be 0?" },
    },
    .predictions = {
        { "efficiency_rows",
          "132 SMs, 133 rows, and a block that does one row fills an SM: what share of the SMs' "
          "time, in per cent, is spent on work?",
          50.4, 0.2, "One SM does two rows one after the other, or both at half the speed: the call "
                     "takes the time of 2 rows. 133 / (132 * 2) = 50.4 %." },
        { "efficiency_eighths",
          "The same with each row cut into eighths?",
          89.6, 0.5, "1064 pieces, at most 9 per SM: 1064 / (132 * 9) = 89.6 %. A draft kernel on an "
                     "H200 (2026-11-21) reached 91.2 %." },
        { "efficiency_363",
          "16 SMs with room for 12 blocks each, and 363 blocks. If blocks came in waves of 16 * "
          "12, what share of the time, in per cent, would be spent on work?",
          94.5, 0.2, "363 / 192 = 1.89 waves take as long as 2: 363 / 384 = 94.5 %." },
        { "gain_363",
          "For those 363 blocks a profiler reports: tail effect, estimated speedup 50 %. By what "
          "percentage would the time shrink if the work were distributed without any loss?",
          5.5, 0.2, "From 2 waves to 1.89: 5.5 %. The 50 % is one wave of two: the gain if the "
                    "second wave, which is nearly full, took no time at all." },
        { "rows_for_95",
          "132 SMs, one row per block as in the starter, and 132 k + 1 rows, the worst case: from "
          "which k on is the share of work 95 % or more?",
          19, 0, "(132 k + 1) / (132 (k + 1)) reaches 0.95 when k is 19 (0.9504; k = 18: 0.9478). "
                 "The tail matters less the more work comes before it." },
    },
    .question = "A library multiplies matrices of 4352 x 4352 in tiles of the result, one tile per "
                "SM at a time, on 132 SMs. What share of the SMs' time is spent on work with tiles "
                "of 128 x 128? And with 256 x 256, which need fewer loads per result? How would "
                "you shorten the tail without making all tiles smaller?",
    .questions = {
        { "tiles_128",
          "A product of 4352 x 4352 elements is cut into tiles of 128 x 128, one per SM at a "
          "time, on 132 SMs. What share of the SMs' time is work, in %?",
          97.3, 0.3,
          "34 * 34 = 1156 tiles, at most 9 per SM: 1156 / (132 * 9) = 97.3 %." },
        { "tiles_256",
          "And with tiles of 256 x 256?",
          73, 0.3,
          "17 * 17 = 289 tiles, at most 3 per SM: 289 / (132 * 3) = 73.0 %. Fewer loads per "
          "result, but a longer tail." },
        { 0 },
    },
    .profile = "occupancy waves",
    .sweep = {
        .what = "rows, of which the starter gives one to each block",
        .set = set_waves,
        .values = { 15, 24, 25, 26, 35, 44, 45, 46, 65, 66 },
        .shows_dim = true,
    },
};
