/* Softmax: how often a row is read, who reads it, and where it waits meanwhile. */
#include "kernel.h"

#include <float.h>
#include <math.h>

/* What a case's matrix holds. UNIT: reals in [-1, 1). LARGE: integers of up to 100, whose
 * exponentials overflow. SPIKES: as UNIT, but one in 1024 is up to 1024 times as large. EQUAL: the
 * same number everywhere.
 *
 * The others hold the bits of floats as integers. NEAR_MINUS_INF: from -inf to 255 floats above it,
 * all below -3.4e38. LOWEST: 32 times in a row the lowest float or -inf, so that one row of 256 in
 * 256 holds nothing but -inf. MASKED: nine in ten are -inf; of the others one in 132 is NaN, the
 * rest lie between 0 and 16. INFINITE: one in 4097 is +inf, the rest lie just below it. */
enum { UNIT, LARGE, SPIKES, EQUAL, NEAR_MINUS_INF, LOWEST, MASKED, INFINITE };

static const Array contents[] = {
    [UNIT] = { .type = F32, .fill = { FILL_UNIT, 0, 0 } },
    [LARGE] = { .type = F32, .fill = { FILL_RANGE, -100, 101 } },
    [SPIKES] = { .type = F32, .fill = { FILL_UNIFORM, 0, 0 } },
    [EQUAL] = { .type = F32, .fill = { FILL_RANGE, 7, 8 } },
    [NEAR_MINUS_INF] = { .type = I32, .fill = { FILL_RANGE, (int) 0xff7fff01, (int) 0xff800001 } },
    [LOWEST] = { .type = I32, .fill = { FILL_RUNS, (int) 0xff7fffff, (int) 0xff800001 } },
    [MASKED] = { .type = I32, .fill = { FILL_SKEWED, (int) 0xff800000, 0x41800000 } },
    [INFINITE] = { .type = I32, .fill = { FILL_RANGE, 0x7f7ff000, 0x7f800001 } },
};

/* About four times as many elements in each array as L2 holds, in a multiple of `unit` rows per SM:
 * the lab is not about the tail of the last wave. */
static void of_columns(long dim[LAB_DIMS], const Gpu *gpu, double scale, long unit)
{
    double rows = (double) gpu->l2_bytes / (double) dim[1] * scale, most = 0x1p29 / (double) dim[1];
    long step = unit * gpu->sms, steps = (long) (rows / (double) step + 0.5);

    while (steps > 1 && (double) (steps * step) > most)
        steps--;
    dim[0] = step * (steps ? steps : 1);
}

static void narrow(long dim[LAB_DIMS], const Gpu *gpu, double scale)
{
    of_columns(dim, gpu, scale, 256);
}

static void medium(long dim[LAB_DIMS], const Gpu *gpu, double scale)
{
    of_columns(dim, gpu, scale, 16);
}

static void wide(long dim[LAB_DIMS], const Gpu *gpu, double scale)
{
    of_columns(dim, gpu, scale, 4);
}

static const Case cases[] = {
    { "1 x 1", { 1, 1, UNIT } },
    { "3 x 5", { 3, 5, UNIT } },
    { "300 x 31, one less than a warp", { 300, 31, UNIT } },
    { "64 x 32", { 64, 32, UNIT } },
    { "101 x 33, one more than a warp", { 101, 33, UNIT } },
    { "70,001 x 3, more rows than a grid's y may have", { 70001, 3, UNIT } },
    { "300 x 128, the narrow timed width", { 300, 128, UNIT } },
    { "77 x 260, a multiple of 4", { 77, 260, UNIT } },
    { "33 x 1023", { 33, 1023, UNIT } },
    { "20 x 1025", { 20, 1025, UNIT } },
    { "11 x 4099, a prime", { 11, 4099, UNIT } },
    { "2 x 16,388, a multiple of 4", { 2, 16388, UNIT } },
    { "1 x 65,536, longer than shared memory", { 1, 65536, UNIT } },
    { "1 x 100,003, one long row", { 1, 100003, UNIT } },
    { "100 x 512, integers of up to 100", { 100, 512, LARGE } },
    { "31 x 2053, with spikes of up to 1024", { 31, 2053, SPIKES } },
    { "20 x 1000, all elements equal", { 20, 1000, EQUAL } },
    { "200 x 72, near the lowest float, some -inf", { 200, 72, NEAR_MINUS_INF } },
    { "1 x 66,001, near the lowest float, some -inf", { 1, 66001, NEAR_MINUS_INF } },
    { "4111 x 256, the lowest float and -inf", { 4111, 256, LOWEST } },
    { "1031 x 1024, nine in ten -inf, some NaN", { 1031, 1024, MASKED } },
    { "1031 x 1031, near the highest float, some +inf", { 1031, 1031, INFINITE } },
    { "narrow", { 4096, 128, UNIT }, TIMED, 0.75, narrow },
    { "medium", { 128, 4096, UNIT }, TIMED, 0.75, medium },
    { "wide", { 8, 65536, UNIT }, TIMED, 0.70, wide },
    { "a single block: 64 x 4", { 64, 4, UNIT }, CONTROL, .stays_short = true },
    { 0 },
};

/* The input's contents are integers in some cases: their bits are the floats. */
static void shape(const Case *c, Arrays *arrays)
{
    size_t rows = (size_t) c->dim[0], cols = (size_t) c->dim[1];

    arrays->in[0] = contents[c->dim[2]];
    arrays->in[0].rows = rows;
    arrays->in[0].cols = cols;
    arrays->out[0] = (Array){ F32, rows, cols, { FILL_UNIFORM, 0, 0 }, NULL };
    arrays->scratch =
        (Array){ F32, 1, 2 * rows * ((cols + 1023) / 1024), { FILL_UNIFORM, 0, 0 }, NULL };
}

/* ---- The right results ---- */

/* `count` elements of the input from `first`. */
static void read_input(const Inputs *inputs, size_t first, size_t count, float *to)
{
    const Array *in = &inputs->arrays->in[0];
    FillKey key = fill_key(inputs->seed, 0);

    if (in->type == F32)
        fill_f32s(in->fill, key, first, 1, count, to);
    else
        for (size_t i = 0; i < count; i++) {
            int32_t bits = fill_i32(in->fill, key, first + i);
            memcpy(&to[i], &bits, sizeof bits);
        }
}

enum { PIECE = 1024 };

/* What a row's results need. `weight` is the mean of |x| + |max| over the row, each element
 * weighted with its result. `least`: the smallest exponential above 0. `lost`: the part of the sum
 * that may be lost, term by term. */
typedef struct Row {
    FillKey key;
    size_t first, cols;
    bool undefined; /* all results are NaN */
    double max, sum, weight, least, lost;
} Row;

/* Passes each element of the row to `visit`. */
static void for_each(const Inputs *inputs, Row *row, void (*visit)(Row *row, double x))
{
    float x[PIECE];

    for (size_t at = 0, now; at < row->cols; at += now) {
        now = row->cols - at < PIECE ? row->cols - at : PIECE;
        read_input(inputs, row->first + at, now, x);
        for (size_t i = 0; i < now; i++)
            visit(row, (double) x[i]);
    }
}

static void add_to_max(Row *row, double x)
{
    row->undefined |= isnan(x);
    row->max = x > row->max ? x : row->max;
}

/* How large the numbers are of which an exponent is the difference. Near a maximum of 2^31 or more,
 * neighbouring floats are at least 128 apart: an exponent is 0 or its exponential vanishes, so
 * rounding does not matter. */
static double magnitude(const Row *row, double x)
{
    return fabs(row->max) < 0x1p31 ? fabs(x) + fabs(row->max) : 0;
}

static void add_to_sum(Row *row, double x)
{
    const double e = exp(x - row->max);

    row->sum += e;
    row->weight += e > 0 ? e * magnitude(row, x) : 0;
    row->least = e > 0 && e < row->least ? e : row->least;
}

/* A term of less than 4u, relative to the sum, is rounded to a few multiples of u or to 0, always
 * in the same direction: such errors do not cancel. u is the most that is lost each time. */
static double least_to_count(const Row *row)
{
    return 4 * 0x1p-24 * row->sum;
}

static void add_to_lost(Row *row, double x)
{
    const double e = exp(x - row->max), most = least_to_count(row);

    row->lost += e < most ? fmin(e, most / 4) : 0;
}

static Row row_of(const Inputs *inputs, size_t first, size_t cols)
{
    Row row = {
        .key = fill_key(inputs->seed, 0), .first = first, .cols = cols, .max = -INFINITY, .least = 1
    };

    for_each(inputs, &row, add_to_max);
    row.undefined |= isinf(row.max);
    if (row.undefined)
        return row;
    for_each(inputs, &row, add_to_sum);
    row.weight /= row.sum;
    if (row.least < least_to_count(&row))
        for_each(inputs, &row, add_to_lost);
    row.lost /= row.sum;
    return row;
}

/* The row that holds element `index`. The last one is kept: a long row is checked in several
 * pieces. A key determines the contents, and a row's place and length its elements. */
static const Row *row_at(const Inputs *inputs, size_t index, size_t cols)
{
    static _Thread_local Row row;
    static _Thread_local Array of;
    const Array *in = &inputs->arrays->in[0];
    FillKey key = fill_key(inputs->seed, 0);
    size_t first = index - index % cols;

    if (row.cols != cols || row.first != first || row.key.a != key.a || row.key.b != key.b ||
        of.type != in->type || of.fill.kind != in->fill.kind || of.fill.lo != in->fill.lo ||
        of.fill.hi != in->fill.hi) {
        row = row_of(inputs, first, cols);
        of = *in;
    }
    return &row;
}

/* How far a result may lie from the exact one, relative to it, for any honest kernel in floats.
 * With u = 2^-24:
 *
 * - An exponent x - m, or x log2(e) - m log2(e) in which each product is rounded, is off by at most
 *   2u (|x| + |m|), and so is the exponential, relatively. __expf adds 2 + 1.17 |x - m| units of 2u
 *   at most (CUDA C++ Programming Guide, intrinsic functions). Together that is below 4u (|x| +
 *   |m|) + 4u. A result has this error, and the sum has the mean of its terms' errors: `weight`.
 * - A sum of n positive terms in any order: at most about 4u sqrt(n), by the same argument as in
 *   labs/07_reduction/lab.c, where sequential addition of n equal terms has sqrt(sum of s^2) =
 *   sqrt(n / 3) times the sum. Terms too small for that argument add `lost`.
 * - The division, and the factors exp(old maximum - new maximum) that an online kernel multiplies
 *   into its sum, 5u each: 64u covers a dozen of them. A row of n numbers in random order has about
 *   ln(n) new maxima: 11 in 65,536.
 *
 * Results below the normal floats, 2^-126, may be flushed to zero. */
static double rounding(const Row *row, double x, double result)
{
    const double u = 0x1p-24;
    double relative = 64 + 4 * magnitude(row, x) + 4 * row->weight + 4 * sqrt((double) row->cols);

    return (u * relative + row->lost) * result + FLT_MIN;
}

/* From inputs to results, in place: `count` elements of one row. */
static void row_results(const Row *row, size_t count, float *to, double *error)
{
    for (size_t i = 0; i < count; i++) {
        double x = (double) to[i];
        double result = row->undefined ? (double) NAN : exp(x - row->max) / row->sum;
        to[i] = (float) result;
        error[i] = isinf(x) || row->undefined ? 0 : rounding(row, x, result);
    }
}

static void truth(const Case *c, const Inputs *inputs, int out, size_t first, size_t count,
                  void *want, double *error)
{
    size_t cols = (size_t) c->dim[1];
    float *to = want;

    (void) out; /* there is only one */
    read_input(inputs, first, count, to);
    for (size_t done = 0, part; done < count; done += part) {
        size_t left = cols - (first + done) % cols;
        part = count - done < left ? count - done : left;
        row_results(row_at(inputs, first + done, cols), part, to + done, error + done);
    }
}

static void call(void (*kernel)(void), const Case *c, const Arrays *arrays)
{
    AS(softmax, kernel)
    (arrays->out[0].data, arrays->in[0].data, (int) c->dim[0], (int) c->dim[1],
     arrays->scratch.data);
}

/* Every element is read once and written once. A subtraction, an exponential, an addition and a
 * multiplication. */
static Work work(const Case *c)
{
    double n = (double) c->dim[0] * (double) c->dim[1];

    return (Work){ .bytes = 2 * sizeof(float) * n, .flops = 4 * n };
}

/* The number of elements stays about the same. */
static bool set_columns(long dim[LAB_DIMS], const Gpu *gpu, long value)
{
    long sms = gpu->sms, rows = dim[0] * dim[1] / value;

    dim[0] = rows > sms ? rows / sms * sms : rows;
    dim[1] = value;
    return dim[0] > 0;
}
const Lab lab_softmax = {
    .title = "softmax of rows",
    .further = true,
    .function = "softmax",
    .cases = cases,
    .shape = shape,
    .truth = truth,
    .call = call,
    .work = work,
    /* Kernels that read long rows twice reach the bars where L2 holds the rows in flight. The
     * starter reads 24 times the sectors, a block per row of 128 columns takes 8 barriers or
     * more. */
    .mechanism = { { SECTORS_READ, 0, 2.3 }, { SECTORS_WRITTEN, 0, 1.15 }, { WARP_BARRIERS, 0, 6 } },
    .hints = {
        "Take one warp of the starter and one of its loads, with 128 columns. How many bytes apart "
        "do lanes 0 and 1 read, and how many bytes of each sector does the load use? And how often "
        "is each element read in all?",
        "Let all lanes of a warp work on one row, lane l on elements l, l + 32, l + 64 ...: a row of "
        "128 columns is 4 floats per lane. Load them once into registers, and combine maximum and "
        "sum of the lanes by __shfl_xor_sync. A row of 4096 columns takes a block: shuffles first, "
        "then one value per warp through shared memory.",
        "Give each thread 16 floats of a row, in four float4 loads, and choose the number of "
        "threads per row by its length: 8 lanes for 128 columns, 256 threads for 4096, 1024 for "
        "16,384. Longer rows: the block keeps the first 16,384 floats in registers, as many as fit "
        "in dynamic shared memory (cudaFuncSetAttribute allows more than 48 KB), and reads only "
        "the rest twice. For that part each thread keeps an online maximum and sum.",
    },
    .remedies = {
        { "slow sectors_written",
          "The stores are scattered: from lane 0 to lane 1, by how many floats does the index of "
          "`out` change? Each element should be written once, by a lane whose neighbours write its "
          "neighbours." },
        { "slow sectors_read",
          "Each element of `in` is fetched too often. In the line that make grade named: how many "
          "floats apart do lanes 0 and 1 read? If they are neighbours: how many loops of your "
          "kernel read the whole row?" },
        { "slow warp_barriers",
          "A row of 128 columns is 512 bytes, and a block waits for all its threads several times "
          "for it. How many threads does such a row need? If they all belong to one warp, what do "
          "they need barriers for?" },
        { "slow", .in = "narrow",
          .text = "How many threads work on a row of 128 columns, how many of them have an element, "
                  "and how many bytes does each have in flight? Let a warp, or a part of one, take "
                  "a row, and let a block take several." },
        { "slow", .in = "medium",
          .text = "A row of 4096 columns has 16 KB. How often does your kernel read it, and how many "
                  "floats could each thread of a block keep in registers instead? Are its loads all "
                  "in flight before the first is used?" },
        { "slow", .in = "wide",
          .text = "A row of 65,536 columns has 256 KB, and a row that is read twice comes from L2 "
                  "only if L2 still has it. How many blocks run at the same time, and how many "
                  "bytes are their rows together? Does L2 hold one row per SM? If so, let fewer rows "
                  "be in flight. Keep as much of each row on the SM as fits. For the rest: how "
                  "many loads does a thread have in flight, and does each online step wait for the "
                  "one before it?" },
        { "slow",
          "Count the bytes per element that your kernel moves. The least is 8: one read, one "
          "write." },
        { "correct",
          "Speed was not judged. Work it out on paper: how many bytes per element does your kernel "
          "move at 128, 4096 and 65,536 columns, and how many bytes has each thread in flight?" },
        { "wrong", .in = "nine in ten -inf",
          .text = "Here most elements are -inf: their results are exactly 0. What does your kernel "
                  "compute for exp(x - m) while all elements that it has seen so far are -inf, in "
                  "one thread, in one warp? And a row that holds NaN, or only -inf, must give NaN: "
                  "do fmaxf() or a comparison lose it?" },
        { "wrong", .in = "lowest float",
          .text = "All elements are below -3.4e38 here, and some are -inf. With which value does your "
                  "maximum begin? It must not be above any finite element, and -inf minus -inf is "
                  "NaN." },
        { "wrong", .in = "highest float",
          .text = "A row that holds +inf must give NaN everywhere: inf - inf. Rows without one are "
                  "just very large. Does your kernel add, multiply or compare before it subtracts "
                  "the maximum? Is there a special case that hides the NaN?" },
        { "wrong", .in = "up to 100",
          .text = "The exponential of 100 exceeds the largest float. Subtract the row's maximum first. If you do: "
                  "is it the maximum of the whole row, in all threads, and was each partial sum "
                  "rescaled from its own maximum to that one?" },
        { "wrong", .in = "spikes",
          .text = "The maxima of different threads differ greatly here. A sum relative to one maximum "
                  "cannot be added to a sum relative to another: by which factor must it be "
                  "multiplied first?" },
        { "wrong", .in = "equal",
          .text = "All elements are equal, so each result is 1 / cols. Is every element counted "
                  "exactly once? Do threads without an element contribute one?" },
        { "wrong first_call",
          "This case is right if it is the first one. What does your code keep from one call to the "
          "next? `scratch` and `out` hold garbage values at first, in each call." },
        { "wrong unwritten",
          "Some results were never written. Which rows or columns are they: those after the last "
          "whole vector, after the last whole block of rows, or past the part that fits into "
          "registers or shared memory?" },
        { "wrong not_finite",
          "NaN or infinity where the row has none. Which elements has a thread that lies past the "
          "end of the row, and what does it contribute to maximum and sum? Is a maximum or a sum "
          "read before it is written?" },
        { "wrong multiple",
          "All results are off by the same factor: the sum is not the row's. Was a part counted "
          "twice, left out, or not rescaled?" },
        { "wrong tail",
          "The end of the rows is wrong. Which thread takes the elements after the last whole "
          "vector, or after the last whole step of the block?" },
        { "wrong",
          "Which cases are right, and from which number of columns on are they wrong? Powers of two "
          "only, multiples of 4 only, one block's width? Small errors in all elements: is anything "
          "kept in half precision, or are partial sums added without rescaling?" },
        { "unsafe race",
          "Two threads access one location of shared memory without a barrier between. If your "
          "kernel uses the same array for the maximum and for the sum: what separates the last "
          "load of the one from the first store of the other?" },
        { "unsafe barrier",
          "Only some threads of the block reach the barrier: those with a row, or with an element. "
          "All must reach it; threads without an element contribute -inf and 0." },
        { "unsafe shuffle",
          "A lane reads from a lane that does not take part in this shuffle. Is it inside a branch "
          "or a loop that some lanes have left: at the end of the row, or after the last row? All "
          "32 lanes must call it." },
        { "unsafe uninitialised",
          "Your kernel reads a location that has not been written: shared memory, `scratch` and "
          "`out` start with garbage values. Are there fewer warps than slots for their values?" },
        { "unsafe",
          "A thread reads past the end of a row or of the matrix. If it takes four elements: are "
          "all of them in this row?" },
        { "stray input",
          "`in` is an input and must not change. The exponentials can wait in registers, in shared "
          "memory, or in `out`." },
        { "stray",
          "A write outside the arrays. Does the last block have fewer rows than it has warps? If the "
          "line accesses shared memory: how many floats does the launch request?" },
        { "crash launch",
          "How many blocks, threads and bytes of shared memory does your launch request? More than "
          "48 KB of dynamic shared memory must be allowed first, by cudaFuncSetAttribute, and no GPU "
          "has enough for every row. A grid's y and z are at most 65,535." },
        { "crash misaligned",
          "A float4 needs an address that is a multiple of 16 bytes. With 31 columns, at which "
          "address does row 1 begin?" },
        { "crash",
          "Take the largest index that the failing case gives: row * cols may need more than the "
          "type of its factors." },
        { "timeout",
          "Does a loop over the columns make progress for every number of columns? If blocks wait "
          "for each other: are all of them on the GPU at that time?" },
    },
    .predictions = {
        { "starter_bytes",
          "How many bytes per element does the starter move, if no cache keeps anything?",
          16, 0, "Three reads and one write, of 4 bytes each." },
        { "warp_sectors",
          "The lanes of a warp read 32 neighbouring floats, from a sector boundary on. How many "
          "sectors does the load touch?",
          4, 0, "128 bytes are four sectors of 32. If each lane is in another row, it is 32." },
        { "overflow",
          "Which is the smallest integer x for which exp(x) exceeds the largest float, 3.4e38?",
          89, 0, "The logarithm of 3.4e38 is 88.7. That is why the row's maximum is subtracted "
                 "first: no exponent is above 0." },
        { "running_sum",
          "A row begins 3, 2, 5. What is the sum of exp(x - m) after these three, with m their "
          "maximum?",
          1.185, 0.01, "After 3 and 2, with m = 3: 1 + exp(-1) = 1.368. The 5 raises m by 2, so that "
                       "sum is multiplied by exp(-2) = 0.135, and exp(0) = 1 is added: 1.185." },
        { "row_kib",
          "How many KiB does a row of 65,536 floats have?",
          256, 0, "More than any SM's shared memory: a block on an H200 may have 227 KiB." },
        { "registers",
          "A block of 1024 threads keeps such a row in registers. How many registers per thread does "
          "the row alone take?",
          64, 0, "64 x 1024 = 65,536: all registers of an SM. None is left for anything else." },
        { "in_flight",
          "132 SMs run 8 blocks of 256 threads each, a row of 65,536 floats per block. How many MiB "
          "are these rows together?",
          264, 1, "1056 rows of 256 KiB. An H200's L2 has 60 MiB, so a block's second pass over its "
                  "row reads DRAM again." },
    },
    .question = "Layer normalisation subtracts from each element its row's mean and divides by the "
                "row's standard deviation. Which of your levels (registers, shuffles, shared memory, "
                "reading twice) does it need at 128, 4096 and 65,536 columns? Can mean and variance "
                "be computed online and merged, as a maximum and a sum can?",
    .questions = {
        { "norm_bytes",
          "A layer normalisation computes the mean, then the variance, then the results. Its rows of "
          "4096 floats wait in registers. How many bytes per element does it move?",
          8, 0, "One read, one write. The number of passes over registers does not matter." },
        { "merged_sum",
          "One half of a row has maximum 4 and sum 3, the other maximum 6 and sum 2, each relative "
          "to its own maximum. What is the row's sum, relative to its maximum?",
          2.406, 0.01, "3 exp(4 - 6) + 2 = 0.406 + 2." },
        { "where_waits",
          "Rows of 20,000 floats, a block of 1024 threads per row, 64 registers per thread. Where "
          "can such a row wait?",
          3, 0, "78 KiB: 20 floats per thread fit into registers, and so would shared memory. With "
                "one block per SM either will do; what is left decides how many blocks fit.",
          { "only in L2", "only in shared memory", "in registers or in shared memory" } },
        { 0 },
    },
    .profile = "loads stores lanes barriers occupancy registers",
    .sweep = {
        .what = "columns",
        .label = "narrow",
        .set = set_columns,
        .values = { 16, 64, 128, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072 },
    },
};
