/* Transpose: which access is strided, and where rows become columns. */
#include "kernel.h"

/* rows * cols stays below 2^31, so that kernels may use int for indices. */
enum { FLAT_ROWS = 32, FLAT_COLS_MOST = (1 << 26) - 64, SIDE_UNIT = 128, SIDE_UNITS_MOST = 362 };

/* 32 channels, so long that both arrays together are 8 times as large as L2. */
static void flat(long dim[LAB_DIMS], const Gpu *gpu, double scale)
{
    double cols = (double) gpu->l2_bytes / 16 * scale;

    dim[0] = FLAT_ROWS;
    dim[1] = cols < FLAT_COLS_MOST ? ((long) cols + 63) / 64 * 64 : FLAT_COLS_MOST;
}

static int power_of_two(long n)
{
    return (n & (n - 1)) == 0;
}

/* Nearly square; each array is 8 times as large as L2. The sides are whole tiles, unequal and not
 * powers of two, so that no special case affects the result. */
static void square(long dim[LAB_DIMS], const Gpu *gpu, double scale)
{
    double elements = 8.0 * (double) gpu->l2_bytes / sizeof(float) * scale;
    long units = 2;

    while (units < SIDE_UNITS_MOST &&
           (units + 0.5) * (units + 0.5) * SIDE_UNIT * SIDE_UNIT < elements)
        units++;
    while (power_of_two(units) || power_of_two(units - 1))
        units++;
    dim[0] = units * SIDE_UNIT;
    dim[1] = (units - 1) * SIDE_UNIT;
}

/* As many elements as flat, in one row: both accesses are contiguous for any kernel. */
static void one_row(long dim[LAB_DIMS], const Gpu *gpu, double scale)
{
    flat(dim, gpu, scale);
    dim[1] *= dim[0];
    dim[0] = 1;
}

static const Case cases[] = {
    { "1 x 1", { 1, 1 } },
    { "33 x 31, one more and one less than a tile", { 33, 31 } },
    { "31 x 33", { 31, 33 } },
    { "64 x 64, square", { 64, 64 } },
    { "68 x 60, multiples of 4 only", { 68, 60 } },
    { "3 x 5", { 3, 5 } },
    { "one row of 100,003", { 1, 100003 } },
    { "one column of 100,003", { 100003, 1 } },
    { "2 x 70,001", { 2, 70001 } },
    { "251 x 509, primes", { 251, 509 } },
    { "1031 x 769, primes", { 1031, 769 } },
    { "8193 x 4099, large and ragged", { 8193, 4099 } },
    { "2,200,000 x 3, more tiles down than a grid's y may have", { 2200000, 3 } },
    { "flat", { 32, 65536 }, TIMED, 0.75, flat },
    { "square", { 1408, 1280 }, TIMED, 0.75, square },
    { "one row", { 1, 32 * 65536 }, CONTROL, 0, one_row },
    { 0 },
};

static void shape(const Case *c, Arrays *arrays)
{
    size_t rows = (size_t) c->dim[0], cols = (size_t) c->dim[1];

    arrays->in[0] = (Array){ F32, rows, cols, { FILL_UNIFORM, 0, 0 }, NULL };
    arrays->out[0] = (Array){ F32, cols, rows, { FILL_UNIFORM, 0, 0 }, NULL };
}

/* Element i of out is in[i % rows][i / rows]. The loop avoids a division per element, since
 * arrays have up to 10^8 elements. */
static void truth(const Case *c, const Inputs *inputs, int out, size_t first, size_t count,
                  void *want, double *error)
{
    size_t rows = (size_t) c->dim[0], cols = (size_t) c->dim[1];
    size_t row = first % rows, col = first / rows;
    Fill fill = inputs->arrays->in[0].fill;
    FillKey key = fill_key(inputs->seed, 0);
    float *to = want;

    (void) out;   /* there is only one */
    (void) error; /* a copy is exact */
    for (size_t done = 0, part; done < count; done += part, row = 0, col++) {
        part = count - done < rows - row ? count - done : rows - row;
        fill_f32s(fill, key, row * cols + col, cols, part, to + done);
    }
}

static void call(void (*kernel)(void), const Case *c, const Arrays *arrays)
{
    AS(transpose, kernel)
    (arrays->out[0].data, arrays->in[0].data, (int) c->dim[0], (int) c->dim[1]);
}

/* Every element is read once and written once. */
static Work work(const Case *c)
{
    return (Work){ .bytes = 2.0 * sizeof(float) * (double) c->dim[0] * (double) c->dim[1] };
}

/* The number of elements stays. */
static bool set_rows(long dim[LAB_DIMS], const Gpu *gpu, long value)
{
    (void) gpu;
    dim[1] = dim[0] * dim[1] / value;
    dim[0] = value;
    return dim[1] > 0;
}

const Lab lab_transpose = {
    .title = "matrix transpose",
    .function = "transpose",
    .cases = cases,
    .shape = shape,
    .truth = truth,
    .call = call,
    .work = work,
    /* Without padding a tile takes 16.5 wavefronts per access. Up to 4.5 are hidden behind DRAM:
     * honest kernels (tests/honest) with that many reach the bar. */
    .mechanism = { { SECTORS_READ, 0, 1.15 },
                   { SECTORS_WRITTEN, 0, 1.15 },
                   { SHARED_WAVEFRONTS, 0, 6 } },
    .hints = {
        "Look at one warp: which of its two accesses, the read or the write, is strided? Exchange "
        "rows and columns, so that the other one is strided. Is it faster? Why?",
        "Neither side need be strided. Let a block read a tile of 32 x 32 along rows of the input "
        "into shared memory, wait at a barrier, and write it along rows of the result: in the "
        "second half, the lane number is the tile's row. The transposition happens in shared "
        "memory. Check both edges in both halves.",
        "tile[threadIdx.x][j] walks down a column of the tile: with 32 floats per row, which bank "
        "is each lane's word in? Give each row of the tile one more column, which stays unused.",
    },
    .remedies = {
        { "slow sectors_written",
          "Go to the store in the line that make grade named. From lane 0 to lane 1 of a warp, by "
          "how many floats does the index of `out` change, and what must you exchange so that it "
          "changes by one? What happens to the load then?" },
        { "slow sectors_read",
          "Now the load is strided: on a real GPU that is faster, but not good. Can both accesses "
          "be contiguous if each thread writes the element that it read? And if it writes one that "
          "another thread read?" },
        { "slow shared_wavefronts",
          "Both global accesses are contiguous now. What is left is the access to shared memory. In "
          "the line that make grade named: which word of the tile does each lane access, and which "
          "of the 32 banks holds it? Work it out for lanes 0, 1 and 2." },
        { "slow", .in = "square",
          .text = "Your kernel passes `flat` but not `square`. Which memory do blocks that run at "
                  "the same time access? Look at the order in which your blocks cover the matrix, "
                  "and at what a whole row of blocks reads and writes." },
        { "slow", .below = 0.30,
          .text = "Each lane's store still touches its own sector, whether blocks are lines or "
                  "squares: a cache may help with neighbouring rows, but not with that. Apply rule "
                  "1 to the load and the store of your kernel. Which one is strided, and what if it "
                  "were the other one?" },
        { "slow", .below = 0.65,
          .text = "Two very different kernels run at about this speed. Without a tile: one access "
                  "is still strided. With a tile: bank conflicts have replaced the wasted sectors, "
                  "so apply rule 3 to both accesses to the tile. make grade LAB=transpose "
                  "DEVICE=sim reports which of the two it is." },
        { "slow",
          "Sectors and wavefronts may be right by now. How many threads wait at each of your "
          "barriers, and how many tiles does an SM have in flight meanwhile? How full are your "
          "tiles with 32 rows?" },
        { "wrong first_call",
          "This case is right if it is the first one. What does your code keep from one call to the "
          "next: a static variable, a __device__ variable? Each call must begin from scratch." },
        { "wrong by_tiles",
          "Halfway there. A transposition has two parts: each tile moves to its mirrored place, "
          "and rows become columns inside the tile. Which of them does your kernel do?" },
        { "wrong copied",
          "The result equals the input. Follow element (0, 1): where is it in `in`, where should it "
          "be in `out`, and where do you write it?" },
        { "wrong transposed",
          "One index uses rows where it needs cols. A row of `in` has cols elements. How many does "
          "a row of `out` have?" },
        { "wrong tail unwritten",
          "Incomplete blocks or tiles are missing. How many tiles do 33 rows need, which way do you "
          "round, and does each count use the right one of rows and cols?" },
        { "wrong right_edge unwritten",
          "The columns at the edge are missing. `out` has as many columns as `in` has rows: is "
          "the number of tiles rounded up in both directions?" },
        { "wrong outside_corner unwritten",
          "Only a corner is written. How many tiles are there across and down, and does each of the "
          "two numbers use the right one of rows and cols?" },
        { "wrong unwritten",
          "No thread has written there. Take the first element that make grade names: which tile "
          "is it in, which thread should write it, and what does the bounds check of the second "
          "half compare for that thread?" },
        { "wrong",
          "Is it right for square shapes and wrong for others? Then one index uses rows instead of "
          "cols, or you divide the block's number by the wrong one. Is it wrong in different "
          "places each time? What makes a warp wait until the others have filled their part of the "
          "tile?" },
        { "unsafe race",
          "A lane reads from the tile what a lane of another warp has written. What makes all warps "
          "of the block wait for each other? __syncwarp() synchronises only one warp." },
        { "unsafe barrier",
          "Not all threads reach the barrier: it is inside an if, or after a return. Check bounds "
          "around the load and around the store, not around the barrier." },
        { "unsafe uninitialised",
          "The second half reads an element of the tile that has not been written yet, or that is "
          "never written. Another warp should write it: what makes the reader wait? If something "
          "does: lane and row have changed roles. Does the check of the second half test the "
          "element that the thread writes, or the one that it read before?" },
        { "unsafe",
          "Your kernel accesses an element that does not exist. Both halves need their own check: "
          "lane and row change roles in between, so the row and column to compare change, too." },
        { "stray input",
          "Your kernel wrote to `in`. Which of the two pointers is on the left of the =?" },
        { "stray",
          "Your kernel wrote past the end. The check of the load does not cover the store: lane and "
          "row change roles in between. What are this thread's row and column in `out`, and what "
          "are their limits?" },
        { "crash launch",
          "Work out your launch for the case that failed. A block may have 1024 threads and 48 KiB "
          "of shared memory, a grid 65,535 blocks in y and in z. How many tiles does 2,200,000 x 3 "
          "have, in the direction that you put into y?" },
        { "crash misaligned",
          "An access of 16 bytes needs an address that is a multiple of 16. Where do the rows of a "
          "matrix with 31 columns begin?" },
        { "crash",
          "Take the last block of the failing shape: what is the largest index that it computes, "
          "into `in` and into `out`?" },
        { "timeout",
          "Which loop never ends, or which threads wait at a barrier that others never reach?" },
    },
    .predictions = {
        { "load_sectors",
          "One warp of the starter reads from `in`, once, in a row that begins at a sector "
          "boundary. How many sectors of 32 bytes does it touch?",
          4, 0, "32 contiguous floats are 128 bytes: 4 sectors, all of them used." },
        { "store_sectors",
          "The same warp writes to `out`, once, if the matrix has 8 rows or more. How many "
          "sectors?",
          32, 0, "Neighbouring lanes write rows * 4 bytes apart: each touches its own sector and "
                 "writes 4 of its 32 bytes." },
        { "degree_32",
          "A warp reads a column of a tile with 32 floats per row: how many words does it read from "
          "one bank?",
          32, 0, "The step is 32 words, so all 32 words are in one bank: 32 wavefronts instead of "
                 "1." },
        { "degree_34",
          "The same with 34 floats per row?",
          2, 0, "gcd(34, 32) = 2: every second bank is used, each by two lanes. 33 shares no factor "
                "with 32, so there is no conflict." },
        { "tile_bytes",
          "How many bytes of shared memory does a tile of 32 rows of 33 floats take?",
          4224, 0, "32 * 33 * 4. The padding is 128 of these bytes, 1/32 of the tile without it." },
        { "slower_34",
          "Is the whole kernel measurably slower with 34 floats per row than with 33? 1: yes, 0: no",
          0, 0, "The second wavefront hides behind DRAM: 0.999 of the speed with 33, on an H200 "
                "(2026-11-21). A cost counts only where it is not hidden behind a larger one." },
    },
    .question = "An image arrives as rows of pixels r, g, b, r, g, b, ... (rows x 3 floats) and you "
                "need three planes. That is a transpose with cols = 3. How much of a 32 x 32 tile "
                "would be empty? Which tile shape and which mapping from lanes to elements would "
                "you use instead?",
    .questions = {
        { "empty_tile",
          "An image of rows x 3 floats (r, g, b, r, g, b, ...) is split into three planes: a "
          "transpose with cols = 3. What share of a 32 x 32 tile would be empty, in %?",
          90.6, 1,
          "29 of 32 columns: 90.6 %. A tile of 768 consecutive floats (256 pixels) would be "
          "full." },
        { "planes_degree",
          "768 consecutive floats are in shared memory, and lane l reads word 3 l + p, its "
          "pixel's value for plane p. How many wavefronts does that take?",
          1, 0,
          "gcd(3, 32) = 1: the lanes use 32 different banks, without padding." },
        { 0 },
    },
    .profile = "loads stores shared_loads shared_stores barriers",
    .sweep = {
        .what = "rows, for the same number of elements",
        .set = set_rows,
        .values = { 1, 2, 4, 8, 16, 32, 64, 128, 256, 1024 },
    },
};
