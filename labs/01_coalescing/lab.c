/* Coalescing: which lane reads which address. */
#include "kernel.h"

#include <math.h>

/* rows * cols stays at most 2^30, so that kernels may use int for indices. */
enum { COLS = 16, COLS_MOST = 1024, ROWS_UNIT = 1024, ROWS_MOST = (1 << 30) / COLS };
enum { TABLE, MEAN, SCALE };

/* 16 features. Each array is 4 times as large as L2, so the data that one feature's pass fetched
 * has left L2 long before the next feature's pass. */
static void table(long dim[LAB_DIMS], const Gpu *gpu, double scale)
{
    double rows = (double) gpu->l2_bytes / COLS * scale;

    dim[0] = rows < ROWS_MOST ? ((long) rows + ROWS_UNIT - 1) / ROWS_UNIT * ROWS_UNIT : ROWS_MOST;
    dim[1] = COLS;
}

/* The same number of elements in one feature: neighbours in the column are neighbours in
 * memory. */
static void one_feature(long dim[LAB_DIMS], const Gpu *gpu, double scale)
{
    table(dim, gpu, scale);
    dim[0] *= dim[1];
    dim[1] = 1;
}

static const Case cases[] = {
    { "1 x 1", { 1, 1 } },
    { "5 x 3", { 5, 3 } },
    { "one row of 1024", { 1, 1024 } },
    { "1023 x 4, one row less than four blocks of 256", { 1023, 4 } },
    { "1025 x 3, one row more", { 1025, 3 } },
    { "3079 x 12", { 3079, 12 } },
    { "5003 x 24", { 5003, 24 } },
    { "4099 x 16, the timed width, a ragged height", { 4099, 16 } },
    { "4097 x 17", { 4097, 17 } },
    { "10007 x 31, primes", { 10007, 31 } },
    { "2999 x 127, primes", { 2999, 127 } },
    { "1027 x 256", { 1027, 256 } },
    { "1021 x 257, wider than a block of 256", { 1021, 257 } },
    { "773 x 1000", { 773, 1000 } },
    { "2053 x 1023", { 2053, 1023 } },
    { "1031 x 1024, the widest", { 1031, 1024 } },
    { "3,000,017 x 1, one feature", { 3000017, 1 } },
    { "4,500,007 x 2, more blocks of rows than a grid's y may have", { 4500007, 2 } },
    { "16 features", { 65536, COLS }, TIMED, 0.55, table },
    { "one feature", { 65536L * COLS, 1 }, CONTROL, 0, one_feature },
    { 0 },
};

static void shape(const Case *c, Arrays *arrays)
{
    size_t rows = (size_t) c->dim[0], cols = (size_t) c->dim[1];
    Fill uniform = { FILL_UNIFORM, 0, 0 };

    arrays->in[TABLE] = (Array){ F32, rows, cols, uniform, NULL };
    arrays->in[MEAN] = (Array){ F32, 1, cols, uniform, NULL, .name = "mean" };
    arrays->in[SCALE] = (Array){ F32, 1, cols, uniform, NULL, .name = "scale" };
    arrays->out[0] = (Array){ F32, rows, cols, uniform, NULL };
}

/* How far rounding may move a correct kernel's result. With u = 2^-24, x the element, m its mean
 * and s its scale, (x - m) * s in floats is off by at most 2u |x - m| |s|; x * s + b with b = -m *
 * s, rounded once or twice, by at most 2u (|x| + |m|) |s|; and `want` is itself rounded. So 4u (|x|
 * + |m|) |s| accepts every honest order; numbers with 11 bits are off by a thousand times that. */
static void truth(const Case *c, const Inputs *inputs, int out, size_t first, size_t count,
                  void *want, double *error)
{
    const double rounding = 4 / 16777216.0;
    size_t cols = (size_t) c->dim[1], col = first % cols;
    Fill fill = inputs->arrays->in[TABLE].fill;
    FillKey key = fill_key(inputs->seed, TABLE);
    double mean[COLS_MOST], scale[COLS_MOST];
    float *to = want;

    (void) out; /* there is only one */
    for (size_t i = 0, k = col; i < count && i < cols; i++, k = (k + 1) % cols) {
        mean[k] = input_f32(inputs, MEAN, k);
        scale[k] = input_f32(inputs, SCALE, k);
    }
    fill_f32s(fill, key, first, 1, count, to);
    for (size_t i = 0; i < count; i++) {
        double x = (double) to[i], m = mean[col], s = scale[col];
        to[i] = (float) ((x - m) * s);
        error[i] = rounding * (fabs(x) + fabs(m)) * fabs(s);
        col = col + 1 < cols ? col + 1 : 0;
    }
}

static void call(void (*kernel)(void), const Case *c, const Arrays *arrays)
{
    AS(standardise, kernel)
    (arrays->out[0].data, arrays->in[TABLE].data, arrays->in[MEAN].data, arrays->in[SCALE].data,
     (int) c->dim[0], (int) c->dim[1]);
}

/* Every element is read once and written once, and so are a mean and a scale per feature. */
static Work work(const Case *c)
{
    double cols = (double) c->dim[1], count = (double) c->dim[0] * cols;

    return (Work){ .bytes = sizeof(float) * (2 * count + 2 * cols), .flops = 2 * count };
}

/* The number of elements of the table stays. */
static bool set_columns(long dim[LAB_DIMS], const Gpu *gpu, long value)
{
    (void) gpu;
    dim[0] = dim[0] * dim[1] / value;
    dim[1] = value;
    return dim[0] > 0;
}

const Lab lab_coalescing = {
    .title = "coalesced access",
    .function = "standardise",
    .cases = cases,
    .shape = shape,
    .truth = truth,
    .call = call,
    .work = work,
    /* Rows that are not aligned to sectors sometimes touch one or two extra sectors. */
    .mechanism = { { SECTORS_READ, TABLE, 1.15 }, { SECTORS_WRITTEN, 0, 1.15 } },
    .hints = {
        "Take one warp of the starter and one of its loads from `in`. Write down the byte addresses "
        "of lanes 0, 1, 2 and 31 for cols = 16. How many different 32-byte sectors do the 32 lanes "
        "touch, and how many bytes of each sector do they use?",
        "In memory, neighbours lie along a row of the table: c, then c + 1. So neighbouring lanes "
        "must take neighbouring values of c. A thread's column comes from threadIdx.x; its rows "
        "come from threadIdx.y and blockIdx.x. The four rows per thread can stay.",
        "dim3 block(cols, 256 / cols) for cols up to 256, (cols, 1) above. A thread's column is "
        "threadIdx.x, its rows are first_row + threadIdx.y + j * blockDim.y for j = 0..3, where "
        "the block's first_row is blockIdx.x * blockDim.y * 4. Load all four, then store all four.",
    },
    .remedies = {
        { "slow sectors_read",
          "Go to the line that make grade named. From lane 0 to lane 1 of one warp, which part of "
          "the index changes, the row or the column? How many floats apart is that in memory?" },
        { "slow sectors_written",
          "The stores move too many sectors. From lane 0 to lane 1, by how many floats does the "
          "index of `out` change? And how often is each element of `out` written?" },
        { "slow", .below = 0.12,
          .text = "This is about the starter's speed. The block size makes little difference: as "
                  "long as neighbouring threads take neighbouring rows, or each takes a run of "
                  "elements, their addresses are far apart. Within a warp, threadIdx.x changes "
                  "fastest. Which index follows it in your kernel?" },
        { "slow", .below = 0.35,
          .text = "Faster than the starter, but are the accesses still scattered? One row per "
                  "thread is right on a CPU, where each core should have its own cache line. Here, "
                  "count the sectors of one instruction of a warp, not those of one thread over its "
                  "loop: the caches save some of them, but not all." },
        { "slow",
          "If your number of sectors is right, look at two other things. How often does each "
          "element travel between DRAM and the GPU during one call? And how many loads has a thread "
          "issued before it waits for the first one?" },
        { "wrong first_call",
          "This case is right if it is the first one. What does your code keep from one call to the "
          "next: a static variable, a __device__ variable, mean and scale of the last call? Each call must begin from scratch." },
        { "wrong right_edge unwritten",
          "All columns from some index on are missing: is that index the width of your block? "
          "Which thread should process the next column, after its first one?" },
        { "wrong tail unwritten",
          "The last rows are missing. Which way did you round the number of blocks? And what does a "
          "block do if only some of its rows exist?" },
        { "wrong outside_corner unwritten",
          "Only a corner is right. How many rows and columns does it have, and which two numbers "
          "in your launch match them?" },
        { "wrong transposed",
          "Rows and columns are exchanged in one index. The table is row-major: which of the two "
          "indices is multiplied, and by what?" },
        { "wrong unwritten",
          "No thread writes these elements. Take the first one that make grade names: which thread "
          "of which block should write it, for this number of columns?" },
        { "wrong",
          "Compare the shape that failed with one that is right. Does its number of columns divide "
          "your block size? Which column does thread 250 of a block take, with 12 columns? If the "
          "values are close, but not close enough: which type do you use, and do you apply mean and "
          "scale in the right order? If only the first call is right: what do you keep between "
          "calls?" },
        { "stray input",
          "Your kernel wrote to `in`, which is an input. Which value should stay in a register "
          "instead?" },
        { "stray",
          "The last block reaches past the table. Is each of a thread's rows checked against "
          "`rows`, or only its first? In a loop: is the index that you test the one that you use?" },
        { "unsafe out_of_bounds",
          "Which array does make grade name? Past the end of `mean` or `scale`: threads to the "
          "right of the last column read them, too. Past the end of the table: is each of a "
          "thread's rows checked against `rows`, or only its first? In a loop: is the index that "
          "you test the one that you use?" },
        { "unsafe race",
          "One thread writes to shared memory and another one reads the same location, but nothing "
          "makes the reader wait. Which warps are the two in? What makes a whole block wait?" },
        { "unsafe uninitialised",
          "Your kernel reads a location that has not been written yet, or that is never written. "
          "Which thread should write it, and what makes the reader wait? For which columns or rows "
          "does no thread write it?" },
        { "crash launch",
          "Work out your launch for the case that failed: how many threads does a block have at "
          "1024 columns, and how many blocks does the grid have in y at 4,500,007 rows? The limits "
          "are 1024 threads per block, and 65,535 blocks in y and in z." },
        { "crash misaligned",
          "A load of 16 bytes needs an address that is a multiple of 16. With 17 columns, which "
          "rows begin at such an address? What would you do with the others?" },
        { "crash signal",
          "Your host code failed. If it divided by 0: which of your divisions, or %, has "
          "a divisor that can become 0? 256 / cols is 0 as soon as a row is wider than a block." },
        { "crash",
          "Work out the largest index in the failing case, and compare it with the size of the "
          "array. Which shape does your index assume, rows x cols or cols x rows?" },
        { "timeout",
          "Which loop never ends? Check its step: can it be 0 for one column, or for 1024?" },
    },
    .predictions = {
        { "load_16",
          "cols = 16: one warp of the starter loads from `in`, once. How many sectors of 32 bytes?",
          32, 0, "Neighbouring lanes read 16 * 4 = 64 bytes apart: each lane touches a sector of "
                 "its own and uses 4 of its bytes." },
        { "load_4",
          "The same with cols = 4?",
          16, 0, "16 bytes apart, so two lanes share a sector: 32 / 2 = 16." },
        { "load_3",
          "The same with cols = 3?",
          12, 0, "12 bytes apart: the warp spans 32 * 12 = 384 bytes and touches every sector in "
                 "them: 384 / 32 = 12. With fewer columns, fewer sectors are wasted." },
        { "load_fixed",
          "cols = 16, but lanes run along the rows of the table: how many sectors per load?",
          4, 0, "A warp reads two whole rows, which are 128 contiguous bytes: 4 sectors, fully "
                "used." },
        { "bytes_factor",
          "cols = 16: if every sector is moved once for each load or store that touches it, how "
          "many times the minimum number of bytes does the starter move?",
          8, 0, "It moves 32 bytes for every 4 that it uses. On an H200 (2026-11-21) an early "
                "starter moved 16 times the minimum: 8 times in writes and 24 times in reads, "
                "since a sector that is only partly written must be read first." },
    },
    .question = "Particles are structs of eight floats, 32 bytes each; thread i takes particle i. "
                "One kernel reads and writes all eight fields, another adds up the first field "
                "only. For each: how many sectors does one load touch, and how many times the "
                "minimum number of bytes must come from DRAM? Which kernel would gain from another "
                "layout?",
    .questions = {
        { "one_field",
          "Particles are structs of eight floats, 32 bytes each. Thread i reads the first "
          "field of particle i. How many 32-byte sectors does one load of a warp touch?",
          32, 0,
          "Neighbouring lanes read 32 bytes apart, so each lane touches a sector of its own "
          "and uses 4 of its bytes." },
        { "one_array_per_field",
          "Now each field has an array of its own, and thread i reads element i of the first "
          "one (the array begins at a sector boundary). How many sectors?",
          4, 0,
          "32 consecutive floats are 128 bytes: 4 sectors." },
        { "all_fields",
          "Back to structs. Another kernel reads all eight fields of each particle, one load "
          "after the other, and L1 keeps what it has fetched in between. How many times the "
          "minimum number of bytes comes from DRAM?",
          1, 0.05,
          "The eight loads touch the same 32 sectors, and every byte of them is used in time: "
          "nothing is wasted, so another layout would gain little." },
        { 0 },
    },
    .profile = "loads stores",
    .sweep = {
        .what = "columns, for the same number of elements",
        .set = set_columns,
        .values = { 1, 2, 4, 8, 16, 32, 64, 128, 256 },
    },
};
