/* Bank conflicts: which word is in which bank of shared memory.
 *
 * The flaw wastes wavefronts of shared memory. Every GPU since Maxwell processes one per clock and
 * SM (Turing: half of one). No cache can reduce their number, and DRAM is nearly idle. */
#include "kernel.h"

#include <math.h>
#include <stdlib.h>

/* A case consists of n rows, d columns, and the kind of values. */
enum { SMALL, NEAR, REAL, UNIT };
enum { TILE = 32, N_MOST = 32768, D_MOST = 128, GROUP = 8 };

/* A square of 32 x 32 tiles: eight per SM, or more if a call would be too short. At d = 64 packed
 * rows are slow. At d = 63 they are not; that case catches kernels that always pad by one. */
static void tiles_for_all(long dim[LAB_DIMS], const Gpu *gpu, double scale)
{
    double side = floor(sqrt(8.0 * gpu->sms * scale)) * TILE;

    dim[0] = side < N_MOST ? (long) side : N_MOST;
}

static const Case cases[] = {
    { "1 x 1", { 1, 1, SMALL } },
    { "2 x 1", { 2, 1, SMALL } },
    { "31 x 3, one less than a tile", { 31, 3, SMALL } },
    { "32 x 32, a tile", { 32, 32, SMALL } },
    { "33 x 31, one more than a tile", { 33, 31, SMALL } },
    { "5 x 128, few and long", { 5, 128, SMALL } },
    { "67 x 64", { 67, 64, SMALL } },
    { "65 x 63", { 65, 63, SMALL } },
    { "100 x 48", { 100, 48, SMALL } },
    { "129 x 65", { 129, 65, SMALL } },
    { "97 x 127, primes", { 97, 127, SMALL } },
    { "1033 x 2, more rows than 32 tiles", { 1033, 2, SMALL } },
    { "2 x 64, near each other", { 2, 64, NEAR } },
    { "71 x 100, near each other", { 71, 100, NEAR } },
    { "3 x 5, real numbers", { 3, 5, REAL } },
    { "130 x 63, real numbers", { 130, 63, REAL } },
    { "131 x 128, real numbers", { 131, 128, REAL } },
    { "d = 64", { 256, 64, UNIT }, TIMED, 0.85, tiles_for_all },
    { "d = 63", { 256, 63, UNIT }, TIMED, 0.85, tiles_for_all, .spares_rung1 = true },
    { "d = 65", { 256, 65, UNIT }, CONTROL, 0, tiles_for_all },
    { 0 },
};

/* Small integers: all differences, squares and sums are integers below 2^15, and exact in any
 * order. Integers from 1,000,000 on are close to each other, like descriptors of similar objects:
 * their differences are small and also exact, but their squares exceed the integers that a float
 * represents exactly. Real numbers reveal kernels that compute with fewer bits than a float has.
 * Timed cases hold them as well, since integers of a few bits could be packed into bytes. */
static void shape(const Case *c, Arrays *arrays)
{
    static const Fill fills[] = {
        [SMALL] = { FILL_SMALL, 0, 0 },
        [NEAR] = { FILL_RANGE, 1000000, 1000016 },
        [REAL] = { FILL_UNIFORM, 0, 0 },
        [UNIT] = { FILL_UNIT, 0, 0 },
    };
    size_t n = (size_t) c->dim[0], d = (size_t) c->dim[1];

    arrays->in[0] = (Array){ F32, n, d, fills[c->dim[2]], NULL, .name = "x" };
    arrays->out[0] = (Array){ F32, n, n, { FILL_UNIFORM, 0, 0 }, NULL, .name = "dist" };
}

/* How far a float result may be off. A difference is rounded once and counts twice, since it is
 * squared; a square may be rounded once, and each of at most d additions rounds once more. No term
 * is negative, so in any order the error is at most (d + 3) u of the result, u = 2^-24. `want` is
 * itself rounded. */
static double rounding(size_t d)
{
    return ((double) d + 4) * 0x1p-24;
}

/* Rows first .. first + count - 1 of x in groups of GROUP rows, each stored column by column. So
 * the distances of one row from a whole group are computed together; arrays have up to 10^7
 * elements. */
static double *grouped(const Inputs *inputs, size_t first, size_t count, size_t d)
{
    FillKey key = fill_key(inputs->seed, 0);
    Fill fill = inputs->arrays->in[0].fill;
    double *rows = calloc((count + GROUP - 1) / GROUP * GROUP * d, sizeof *rows);

    if (!rows)
        abort();
    for (size_t j = 0; j < count; j++) {
        float row[D_MOST];
        fill_f32s(fill, key, (first + j) * d, 1, d, row);
        for (size_t k = 0; k < d; k++)
            rows[(j / GROUP * d + k) * GROUP + j % GROUP] = (double) row[k];
    }
    return rows;
}

static void distances_from(const double *x, const double *group, size_t d, double sum[GROUP])
{
    for (int j = 0; j < GROUP; j++)
        sum[j] = 0;
    for (size_t k = 0; k < d; k++, group += GROUP)
        for (int j = 0; j < GROUP; j++)
            sum[j] += (x[k] - group[j]) * (x[k] - group[j]);
}

/* `count` elements of row `i`, from column `col` on; `rows` begins with row `first` of x. */
static void row_of_truth(const Inputs *inputs, size_t i, size_t col, size_t count, size_t d,
                         const double *rows, size_t first, float *want)
{
    double x[D_MOST], sum[GROUP];
    size_t at = col - first, group = at / GROUP;

    for (size_t k = 0; k < d; k++)
        x[k] = input_f32(inputs, 0, i * d + k);
    distances_from(x, rows + group * GROUP * d, d, sum);
    for (size_t j = 0; j < count; j++, at++) {
        if (at / GROUP != group)
            distances_from(x, rows + ++group * GROUP * d, d, sum);
        want[j] = (float) sum[at % GROUP];
    }
}

/* Computes only the requested columns, since a window is usually part of one row. */
static void truth(const Case *c, const Inputs *inputs, int out, size_t first, size_t count,
                  void *want, double *error)
{
    size_t n = (size_t) c->dim[0], d = (size_t) c->dim[1], col = first % n;
    bool one_row = col + count <= n;
    size_t first_col = one_row ? col : 0, cols = one_row ? count : n;
    double *rows = grouped(inputs, first_col, cols, d);
    float *to = want;

    (void) out; /* there is only one */
    for (size_t i = first / n, done = 0; done < count; i++, col = 0) {
        size_t here = n - col < count - done ? n - col : count - done;
        row_of_truth(inputs, i, col, here, d, rows, first_col, to + done);
        done += here;
    }
    if (c->dim[2] == REAL || c->dim[2] == UNIT)
        for (size_t i = 0; i < count; i++)
            error[i] = rounding(d) * to[i];
    free(rows);
}

static void call(void (*kernel)(void), const Case *c, const Arrays *arrays)
{
    AS(distances, kernel)
    (arrays->out[0].data, arrays->in[0].data, (int) c->dim[0], (int) c->dim[1]);
}

/* Every row is read and every distance written once. The distance from i to j equals that from j
 * to i, so the minimum is half of them, with a subtraction, a multiplication and an addition per
 * column. */
static Work work(const Case *c)
{
    double n = (double) c->dim[0], d = (double) c->dim[1];

    return (Work){ .bytes = sizeof(float) * (n * n + n * d), .flops = 1.5 * n * n * d };
}

static bool set_floats(long dim[LAB_DIMS], const Gpu *gpu, long value)
{
    (void) gpu;
    dim[1] = value;
    return true;
}

const Lab lab_bank_conflicts = {
    .title = "bank conflicts",
    .function = "distances",
    .cases = cases,
    .shape = shape,
    .truth = truth,
    .window = 128,
    .call = call,
    .work = work,
    /* The limit is strict, because this is what the lesson teaches: two lanes per bank in only one
     * of the two loads already give 1.5. */
    .mechanism = { { SHARED_WAVEFRONTS, 0, 1.05 } },
    .hints = {
        "At step k, lane t of a warp reads word t * pitch + k of b. Which of the 32 banks holds "
        "that word? Write it down for pitch = 64, k = 0 and t = 0, 1, 2, 3. Then for pitch = 65. "
        "Which word does the warp read from a?",
        "Rows need not be packed: shared memory may contain unused words. For which distances "
        "between rows do 32 lanes use 32 different banks? And which distances are one word away "
        "from one that you know to be bad? d = 63 is one of the graded cases.",
        "Any odd pitch works, since it shares no factor with 32: pitch = d | 1. Why not d + 1? "
        "Another way needs no padding: round rows up to a multiple of 32 words and store word k of "
        "row r at position k ^ r.",
    },
    .remedies = {
        { "slow no_shared",
          "Your kernel has no shared memory, so it has no bank conflicts either: each lane reads "
          "its own row from global memory. In how many sectors do the words of 32 lanes lie at one "
          "step k (lab 01)? Which rows do all threads of a block need, and who could load them "
          "once for all of them?" },
        { "slow", .in = "d = 63",
          .text = "The starter is fast in this case, and your kernel is slow. Put d = 63 into your "
                  "formula: what is the pitch now, and how many of the 32 lanes share a bank? What "
                  "was it before?" },
        { "slow shared_wavefronts",
          "Which word does lane t read at step k, with your pitch? How many factors of 2 does that "
          "pitch have? Write down the banks of lanes 0, 1, 2 and 16." },
        { "slow", .below = 0.20,
          .text = "If your rows are in shared memory, nearly all lanes wait for the same bank. Of "
                  "the two loads in the loop, which one changes from lane to lane? By how many "
                  "words, and what is that modulo 32? Exchanging the roles of the lanes only moves "
                  "the problem to the other load. If nothing is in shared memory, each lane reads "
                  "its own row from global memory: see lab 01." },
        { "slow", .below = 0.80,
          .text = "Fewer lanes share a bank than before, but some still do. How many factors of 2 "
                  "does your pitch have? Each of them doubles the number of wavefronts." },
        { "slow",
          "Are any conflicts left? warpbook calc banks computes them for your pitch. If there are "
          "none: what else did you add to each step, an address computation or a second barrier? In "
          "the control case the starter's own loop has no conflicts: compare with it." },
        { "wrong outside_corner unwritten",
          "Results in incomplete tiles, or beyond your grid, are missing. How many tiles do n = 33 "
          "and n = 1033 need, and how many blocks do you launch?" },
        { "wrong tail unwritten",
          "The last rows are missing. How many tiles does n = 33 need, and which way do you "
          "round?" },
        { "wrong right_edge unwritten",
          "The last columns are missing. How many tiles does n = 33 need, and which way do you "
          "round?" },
        { "wrong", .in = "near each other",
          .text = "The values in this case are large and differ by little. Does your kernel "
                  "subtract two large numbers that are already squared? What if you subtract first?" },
        { "wrong", .in = "real numbers",
          .text = "This case holds real numbers. If the cases with integers are all right (grade "
                  "again: the order of cases changes), where do you use a type narrower than float? "
                  "If they are not, the types are not the problem." },
        { "wrong unwritten",
          "Every (i, j) must be written, even though (j, i) has the same value. Which ones were "
          "never written: those of the last tile, or one half of the square?" },
        { "wrong",
          "Right at 64 and wrong at 48 or 65? Then look at where you store word k of row r: does it "
          "stay inside its row if d is not a power of two, or not a multiple of 32? Does every lane "
          "read all d words?" },
        { "unsafe race",
          "32 warps fill the rows, and each lane then reads rows that other warps have filled. "
          "What is needed between the last store and the first load? And if the rows are filled "
          "again, what is needed before that?" },
        { "unsafe uninitialised",
          "A thread reads a word of shared memory that has not been written yet, or that is never "
          "written. Which warp should write it, and what makes the reader wait for that warp? If "
          "something does: take the row and the k of the thread that make grade names. Do the "
          "store and the load compute the position by the same formula?" },
        { "unsafe out_of_bounds",
          "An access goes past the end of an array. In x: which rows of the last tile do not "
          "exist, and do you check for them? In shared memory: what is the largest position that "
          "your formula gives, and how many words does the block have?" },
        { "unsafe",
          "All threads of the block must reach a barrier. Is one inside an if, or after a return?" },
        { "stray",
          "Your kernel wrote past the end. In dist: check both the row and the column. In shared "
          "memory: what is the largest position that your formula gives, say for d = 48, and how "
          "many words does the block have?" },
        { "crash launch",
          "How many bytes of shared memory does your block request at d = 128? A launch may use 48 "
          "KiB unless the kernel raises its limit (cudaFuncSetAttribute), and a refused launch does "
          "nothing. Do you need all of it?" },
        { "crash misaligned",
          "A load of 16 bytes needs an address that is a multiple of 16. With d = 63, which rows "
          "of x begin at such an address? And which of your rows in shared memory?" },
        { "crash",
          "Take the last tile of the failing case: what is its largest index into x, into dist and "
          "into shared memory?" },
        { "timeout",
          "Which loop never ends? Check its step. Or do some warps wait at a barrier that others "
          "never reach?" },
    },
    .predictions = {
        { "degree_66",
          "Lanes 0 to 31 read words 0, 66, 132, ...: how many of them access the busiest bank?",
          2, 0, "gcd(66, 32) = 2: every second bank is used, each by two lanes. A step of 65 would "
                "have no conflicts." },
        { "degree_72",
          "The same with a step of 72 words?",
          8, 0, "gcd(72, 32) = 8: only 32 / 8 = 4 banks are used, each by eight lanes." },
        { "degree_pad_63",
          "d = 63, and each row padded by one word, as the textbook says: how many lanes access "
          "the busiest bank?",
          32, 0, "63 + 1 = 64 is a multiple of 32: all lanes hit the same bank. Packed, with a "
                 "step of 63, there was no conflict at all." },
        { "wavefronts",
          "d = 64, the starter: how many wavefronts do a warp's two loads of one step k, one from "
          "a and one from b, take together?",
          33, 0, "The word of a is the same for all lanes: one wavefront serves them all. The 32 "
                 "words of b are in one bank: 32 wavefronts." },
        { "speedup_most",
          "d = 64: if only wavefronts counted, how many times faster than the starter is the kernel "
          "without conflicts?",
          16.5, 0, "33 wavefronts per step become 2. Filling the tile and waiting take time in "
                   "both, so you will see less than that: a draft kernel on an H200 (2026-11-21) "
                   "was 12.5 times faster at d = 64, and 14.2 times at d = 128, where each filled "
                   "tile serves twice as many steps." },
    },
    .question = "Particles are stored in shared memory as structs of six floats, and lane t reads "
                "the x of particle t. How many lanes wait for one bank? How many with eight "
                "floats, and with seven? Which change costs no memory at all, and what would it "
                "mean for a lane that needs all fields of its particle?",
    .questions = {
        { "six_floats",
          "Particles are in shared memory as structs of six floats, and lane t reads the first "
          "float of particle t. How many lanes access the busiest bank?",
          2, 0,
          "gcd(6, 32) = 2." },
        { "twenty_four_floats",
          "The same with structs of 24 floats?",
          8, 0,
          "gcd(24, 32) = 8: four banks are used, each by eight lanes." },
        { "free_change",
          "Back to structs of six floats: which change removes their conflicts and costs no memory?",
          2, 0,
          "With one array per field neighbouring lanes read neighbouring words. A seventh "
          "float works, too, since 7 is odd, but costs a sixth more memory; with eight floats "
          "there are 8-way conflicts.",
          { "a seventh, unused float in each struct", "one array per field", "two unused floats in each struct" } },
        { 0 },
    },
    .profile = "shared_loads shared_stores",
    .sweep = {
        .what = "d, floats per row",
        .set = set_floats,
        .values = { 16, 17, 24, 31, 32, 33, 48, 63, 64, 65 },
    },
};
