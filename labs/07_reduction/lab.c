/* Reduction: many elements per thread before threads exchange sums. */
#include "kernel.h"

#include <math.h>

/* A case consists of n elements, either of all magnitudes (WIDE) or small integers (EXACT). */
enum { EXACT, WIDE };

/* As many floats as L2 has bytes: four times its size, so that the case measures DRAM. */
static void long_array(long dim[LAB_DIMS], const Gpu *gpu, double scale)
{
    double n = (double) gpu->l2_bytes * scale, most = 1 << 30;

    dim[0] = (long) (n < most ? n : most);
}

/* So few elements that launches take longer than reading: a power of two of blocks of 256, one or
 * two per SM, which is 65,536 elements on the 132 SMs of an H200. With more, the trees' time would
 * be visible on a GPU with a slow clock. */
static void few_elements(long dim[LAB_DIMS], const Gpu *gpu, double scale)
{
    long blocks = 1;

    (void) scale;
    while (blocks < gpu->sms)
        blocks *= 2;
    dim[0] = 256 * blocks;
}

static const Case cases[] = {
    { "1 element", { 1, EXACT } },
    { "2 elements", { 2, EXACT } },
    { "31, one less than a warp", { 31, EXACT } },
    { "32, a warp", { 32, EXACT } },
    { "33, one more than a warp", { 33, EXACT } },
    { "255, one less than a block of 256", { 255, EXACT } },
    { "256", { 256, EXACT } },
    { "257, two partial sums of 256", { 257, EXACT } },
    { "1023", { 1023, EXACT } },
    { "1024, the largest block", { 1024, EXACT } },
    { "1025", { 1025, EXACT } },
    { "4099, a prime", { 4099, EXACT } },
    { "65,537, 257 partial sums of 256: a third pass", { 65537, EXACT } },
    { "100,003, a prime", { 100003, EXACT } },
    { "1,000,003, a prime", { 1000003, EXACT } },
    { "16,777,217, one more than a float can count", { 16777217, EXACT } },
    { "1 real number", { 1, WIDE } },
    { "2 real numbers of any magnitude", { 2, WIDE } },
    { "3 real numbers of any magnitude", { 3, WIDE } },
    { "33 real numbers of all magnitudes", { 33, WIDE } },
    { "1021 real numbers of all magnitudes", { 1021, WIDE } },
    { "65,537 real numbers of all magnitudes", { 65537, WIDE } },
    { "1,000,003 real numbers of all magnitudes", { 1000003, WIDE } },
    { "long", { 1 << 20, EXACT }, TIMED, 0.75, long_array },
    { "few elements", { 65536, EXACT }, CONTROL, 0, few_elements, .stays_short = true },
    { 0 },
};

/* Most cases hold integers (FILL_SUMMED). Their sum is exact in any order as long as every partial
 * sum stays below 2^24. No honest order comes near that. If a kernel chooses the elements of a
 * partial sum without reading them, a chunk of 1024 adds a mean of at most 1/2 and a standard
 * deviation of at most sqrt(1023 * 25.5 + 512^2 / 3) = 337. The largest array, 2^30 elements, has
 * 2^20 chunks, which give a mean of 0.5 M and a deviation of 0.35 M: 2^24 = 16.8 M is over 46
 * standard deviations away. So a result that differs by one bit is wrong.
 *
 * The others (FILL_WIDE) reveal sums that are exact on small integers only: sums in integers, in
 * half precision or of rounded inputs. */
static void shape(const Case *c, Arrays *arrays)
{
    size_t n = (size_t) c->dim[0];
    FillKind kind = c->dim[1] == WIDE ? FILL_WIDE : FILL_SUMMED;

    arrays->in[0] = (Array){ F32, 1, n, { kind, 0, 0 }, NULL };
    arrays->out[0] = (Array){ F32, 1, 1, { FILL_UNIFORM, 0, 0 }, NULL };
    arrays->scratch = (Array){ F32, 1, n / 128 + 1024, { FILL_UNIFORM, 0, 0 }, NULL };
}

/* How far a float sum may lie from the exact one, for any order of additions. Each addition rounds
 * a partial sum s by at most u|s|, u = 2^-24, and to first order these errors add up. They are
 * nearly independent and of mean zero, so that with probability 1 - d they come to at most u sqrt(2
 * ln(2 / d)) sqrt(sum s^2) (Higham and Mary, 2019; Hallman and Ipsen, 2022). Sequential addition
 * has the largest s: with random signs, s after k elements is about sqrt(k / n) ||x||, and sqrt(sum
 * s^2) about sqrt(n / 2) ||x||. For d = 10^-10 that gives 4.9 u sqrt(n) ||x||. The factor 8 leaves
 * a margin, and is a strict bound for trees of up to 8 levels. The last term is the rounding of the
 * sum itself.
 *
 * We tried 81,100 arrays of 3 to 1,000,003 elements on a CPU. In units of u sqrt(n) ||x||,
 * sequential sums had errors of at most 2.1, and 64 or more sums with a tree over them at most 0.8.
 * For 1021 elements the root mean square error is 195 with inputs rounded to 11 bits, and 520,000
 * if every second element is taken twice; sums in half precision overflow. */
static double rounding(double n, double squares, double sum)
{
    const double u = 0x1p-24, c = 8;

    return u * (c * sqrt(n * squares) + fabs(sum));
}

/* A double's rounding errors are 2^-29 of a float's, so the order does not matter here. */
static double wide_sum(const Inputs *inputs, size_t n, double *error)
{
    double sum = 0, squares = 0;

    for (size_t i = 0; i < n; i++) {
        double x = input_f32(inputs, 0, i);
        sum += x;
        squares += x * x;
    }
    *error = rounding((double) n, squares, sum);
    return sum;
}

/* The only element of the only output. The sum of integers is known without adding all of them. */
static void truth(const Case *c, const Inputs *inputs, int out, size_t first, size_t count,
                  void *want, double *error)
{
    size_t n = (size_t) c->dim[0];
    float *sum = want;

    (void) out;
    (void) first;
    (void) count;
    if (c->dim[1] == WIDE)
        *sum = (float) wide_sum(inputs, n, error);
    else
        *sum = (float) fill_sum(fill_key(inputs->seed, 0), n);
}

static void call(void (*kernel)(void), const Case *c, const Arrays *arrays)
{
    AS(sum, kernel)
    (arrays->out[0].data, arrays->in[0].data, c->dim[0], arrays->scratch.data,
     (long) arrays->scratch.cols);
}

/* Every element is read once, and each but the first is added once. */
static Work work(const Case *c)
{
    double n = (double) c->dim[0];

    return (Work){ .bytes = sizeof(float) * n, .flops = n - 1 };
}

static bool set_elements(long dim[LAB_DIMS], const Gpu *gpu, long value)
{
    const long timed = dim[0];

    (void) gpu;
    dim[0] = value;
    return value <= 2 * timed;
}

const Lab lab_reduction = {
    .title = "sum of an array",
    .function = "sum",
    .cases = cases,
    .shape = shape,
    .truth = truth,
    .call = call,
    .work = work,
    /* Rungs 1 to 3 take 9 barriers per 32 elements. Honest kernels with large blocks take up to
     * 5 at the simulated size, where a thread has few elements. A limit on instructions would
     * not separate them: honest kernels that reach the bar take up to 86, and rung 3 takes 82. */
    .mechanism = { { SECTORS_READ, 0, 1.15 }, { WARP_BARRIERS, 0, 6 }, { WARP_ATOMICS, 0, 0.05 } },
    .hints = {
        "How many of a block's 256 threads add anything in the last five rounds of the tree, and "
        "how often do all of them wait? How many bytes did the block read for all that?",
        "Use fewer threads with more elements each: launch only as many blocks as the SMs can hold "
        "at once, and let each thread step through the array by the size of the whole grid, adding "
        "into a register. Threads then exchange values only once, after all that adding.",
        "In that loop, load four elements into four registers before the first addition, and add "
        "them to four sums: four loads are in flight instead of one. Then combine a warp with "
        "__shfl_down_sync, distances 16, 8, 4, 2, 1; a block through shared memory, one value per "
        "warp; the grid through scratch, one value per block; and add those in one more launch.",
    },
    .remedies = {
        { "slow sectors_read",
          "`in` is read more than once, or in scattered sectors. In the line that make grade named: "
          "how many floats apart do lanes 0 and 1 read? Does each thread have its own run of "
          "elements?" },
        { "slow warp_barriers",
          "That is a lot of waiting for so few elements. How many elements has each thread added "
          "when your block reaches its first barrier? What if it were more?" },
        { "slow warp_atomics",
          "All these updates of one address run one after the other. How many are there for n "
          "elements? What could a thread, a warp or a block add up first?" },
        { "slow", .below = 0.30,
          .text = "Nearly all the time goes into the tree: for each KB it takes several rounds, "
                  "each with a barrier and most lanes idle. Bank conflicts and idle warps are only "
                  "a small part of it. How many bytes does a block read between two barriers? (Or "
                  "do a million blocks update one address?)" },
        { "slow", .below = 0.57,
          .text = "The more elements a thread adds first, the more bytes one tree covers. How far "
                  "can you take that? How many blocks can your GPU hold at once, and how many do "
                  "you launch?" },
        { "slow",
          "The tree hardly matters any more, but memory is not busy. What does a thread do between "
          "loading an element and adding it? How many of its loads are in flight meanwhile? Apply "
          "rule 4 with your GPU's numbers." },
        { "correct",
          "Speed was not judged, and the limits on counts are easy to meet. Work it out on paper: "
          "how many loads does a thread have in flight when it first waits, and how many bytes is "
          "that per SM? warpbook calc little computes how many are needed." },
        { "wrong first_call",
          "This case is right if it is the first one. What does your code keep from one call to the "
          "next: a static variable, a __device__ variable, a counter of finished blocks that is not reset? Each call must begin from scratch." },
        { "wrong not_finite",
          "Your kernel added a value that was never written: `out` and `scratch` start full of NaN "
          "or huge numbers. Which of the two do you read before you write it? A thread past the end "
          "of `in` needs a value, too." },
        { "wrong unwritten",
          "The sum never reached `out`. Follow the last pass: how many values are left, and where "
          "does it write them?" },
        { "wrong", .in = "real number",
          .text = "This case holds real numbers. If the cases with integers are all right (grade "
                  "again: the order of cases changes), where does a value pass through a narrower "
                  "type: an int, a half, a constant without a decimal point? If they are not, the "
                  "types are fine; look at the number of elements." },
        { "wrong", .in = "16,777,217",
          .text = "The sum has one element too few or too many. Is a count or an index a float "
                  "somewhere? A float cannot represent every integer of this size. Or does a count "
                  "or an index have only 16 bits?" },
        { "wrong", .in = "third pass",
          .text = "More than 256 partial sums of 256 elements: what is left after the second pass, "
                  "and which code adds that? A loop can run as many passes as needed." },
        { "wrong", .in = "33, one more than a warp",
          .text = "The number of values is not a power of two: halving 33 loses one. Which thread "
                  "has no partner? Threads past the end can take part if they contribute a value "
                  "that does not change the sum." },
        { "wrong",
          "Which cases are right, and from which size on are they wrong? If with two blocks or "
          "more: does every block write its sum to its own place, and are these sums added up? If "
          "only the first call is right: what must be cleared in each call? If the tail is counted "
          "twice or not at all: which threads take the elements after the last whole piece?" },
        { "unsafe race",
          "If make grade asks for an atomic, many threads add to one word: what happens to a sum "
          "that another thread stores meanwhile? Otherwise two rounds, or two passes, access the "
          "same location. Inside a block: what separates one "
          "warp's store from another's load? If both are in one warp: nothing guarantees that its "
          "lanes run in lockstep. Between blocks: does a pass write where other blocks of the same "
          "pass still read?" },
        { "unsafe barrier",
          "Only some of the block's threads reach the barrier. All of them must reach it, even "
          "those that have nothing to add in this round." },
        { "unsafe shuffle",
          "A lane reads from a lane that does not take part in this shuffle. Which lanes are in "
          "that branch: at the end of the array, or where fewer than 32 sums are left? A smaller "
          "mask does not help if a lane still reads from outside it. Let all 32 lanes take part, "
          "some of them with 0." },
        { "unsafe uninitialised",
          "Your kernel adds to, or reads, a location that has not been written: `out`, `scratch` "
          "and shared memory start with garbage values. Which thread should write the first value "
          "there, in every call, and what makes the reader wait for that?" },
        { "unsafe",
          "A thread reads past the end. If it takes two elements, or four: do you check each of "
          "them, or only the first?" },
        { "stray input",
          "`in` is an input and must not change. Which array is meant for partial sums?" },
        { "stray",
          "If make grade names an array in shared memory: how many elements does it have, and if "
          "it is extern, how many bytes does the launch give it? Otherwise there are more partial "
          "sums than scratch can hold: what is scratch_count for the smallest array, and how many "
          "sums does your first pass write?" },
        { "crash launch",
          "How many blocks and threads does your launch have for 1 element, and for 16,777,217? "
          "Both must be at least 1, and a block has at most 1024 threads." },
        { "crash misaligned",
          "A float4 needs an index that is a multiple of 4. Does each pass begin at such an index, "
          "also where it reads from scratch?" },
        { "crash",
          "Take the largest index that the failing size gives. Is it computed in a type that "
          "can hold it?" },
        { "timeout",
          "Does your loop over passes ever reach one value? Work it out for 257. If blocks wait for "
          "each other: are all of them resident on the GPU at that time?" },
    },
    .predictions = {
        { "additions",
          "How many additions does the sum of 1,000,000 elements take, regardless of the order?",
          999999, 0, "Each addition turns two numbers into one, so n - 1 of them leave one. A "
                     "parallel sum needs just as many additions, but fewer of them depend on each "
                     "other." },
        { "barriers",
          "How often does a block of the starter wait at a barrier, for its 256 elements?",
          9, 0, "Once after filling and once in each of log2(256) = 8 rounds: nine times per KB." },
        { "shuffle_steps",
          "How many shuffles, one after the other, add up a warp's 32 values?",
          5, 0, "Each halves the number of values: distances 16, 8, 4, 2, 1. No barrier, no shared "
                "memory." },
        { "degree_s1",
          "Let neighbouring threads work: thread t adds part[2*s*t + s] to part[2*s*t]. How many "
          "words does a warp access in one bank at s = 1?",
          2, 0, "Steps of 2 words use every second bank, each by two lanes. At s = 2 it is 4, at s "
                "= 4 it is 8." },
        { "degree_s16",
          "The same at s = 16, in a block of 256 threads?",
          8, 0, "Steps of 32 words are all in one bank, but only 8 threads are left. With s = 1, 2, "
                "4, 8, 16, 32 the degrees are 2, 4, 8, 8, 8, 4." },
        { "counted",
          "float f = 0; then 20,000,000 times f += 1.0f. What is f?",
          16777216, 0, "2^24. From there on neighbouring floats are 2 apart, and f + 1 rounds back "
                       "to f. Sums of many small parts are not only faster, they are also more "
                       "accurate." },
        { "elements_a_thread",
          "2^28 elements, 132 SMs with 8 blocks of 256 threads each: how many elements per thread?",
          993, 1, "2^28 / (132 * 2048) = 993. After so many additions in registers it hardly "
                  "matters how the threads of a block combine their sums." },
    },
    .question = "A matrix has 1,000,000 rows of 48 floats, and you want the sum of each row. What "
                "would your kernel waste with one block per row? How many rows would you give to a "
                "warp, and which of your three levels (registers, shuffles, shared memory) are "
                "left?",
    .questions = {
        { "idle_threads",
          "A matrix has rows of 48 floats, and each row is summed by a block of 256 threads, "
          "one element per thread. How many threads of a block have no element?",
          208, 0,
          "256 - 48 = 208. The other 48 wait at the same barriers for 192 bytes." },
        { "half_warp_steps",
          "Half a warp (16 lanes) sums one row: three elements per lane, then shuffles. How "
          "many shuffle steps are needed?",
          4, 0,
          "log2(16) = 4: distances 8, 4, 2, 1. A warp sums two rows at the same time." },
        { "levels_left",
          "Which levels does that kernel still need?",
          1, 0,
          "No lane needs a value from another warp, so there is nothing to put into shared "
          "memory and no barrier.",
          { "registers and shuffles", "registers, shuffles and shared memory", "shared memory and barriers" } },
        { 0 },
    },
    .profile = "loads lanes waits barriers",
    .sweep = {
        .what = "elements",
        .set = set_elements,
        .values = { 1 << 10, 1 << 13, 1 << 16, 1 << 18, 1 << 20, 1 << 22, 1 << 24, 1 << 26,
                    1 << 28 },
    },
};
