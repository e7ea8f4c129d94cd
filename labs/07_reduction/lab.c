/* Reduction: few threads talking, or many elements a thread. */
#include "kernel.h"

#include <math.h>

/* A case is n elements, and whether they are of all magnitudes (WIDE) or small integers (EXACT). */
enum { EXACT, WIDE };

/* As many floats as L2 has bytes: four times its size, so that DRAM is what is measured. */
static void long_array(long dim[LAB_DIMS], const Gpu *gpu, double scale)
{
    double n = (double) gpu->l2_bytes * scale, most = 1 << 30;

    dim[0] = (long) (n < most ? n : most);
}

/* Launches take longer than reading so few: a power of two of blocks of 256, one or two an SM, so
 * 65,536 elements on the 132 SMs of an H200. With more, trees show where an SM's clock is slow. */
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
    { "31, a warp but one", { 31, EXACT } },
    { "32, a warp", { 32, EXACT } },
    { "33, a warp and one", { 33, EXACT } },
    { "255, a block of 256 but one", { 255, EXACT } },
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

/* Most cases hold integers (FILL_SUMMED), of which the sum is exact in any order as long as every
 * partial sum stays below 2^24. That no honest order comes near it: whatever elements a partial sum
 * has, chosen without looking at them, a chunk of 1024 adds to it a mean of at most 1/2 and a
 * standard deviation of at most sqrt(1023 * 25.5 + 512^2 / 3) = 337. The 2^20 chunks of 2^30
 * elements, the most that is asked for, make that 0.5 M and 0.35 M: 2^24 = 16.8 M is over 46
 * standard deviations away. So what is off by one element, by one bit, is wrong.
 *
 * The others (FILL_WIDE) show who is exact on small integers only: sums in integers, in half
 * precision or of rounded inputs. */
static void shape(const Case *c, Arrays *arrays)
{
    size_t n = (size_t) c->dim[0];
    FillKind kind = c->dim[1] == WIDE ? FILL_WIDE : FILL_SUMMED;

    arrays->in[0] = (Array){ F32, 1, n, { kind, 0, 0 }, NULL };
    arrays->out[0] = (Array){ F32, 1, 1, { FILL_UNIFORM, 0, 0 }, NULL };
    arrays->scratch = (Array){ F32, 1, n / 128 + 1024, { FILL_UNIFORM, 0, 0 }, NULL };
}

/* How far a float sum may lie from the right one, in whatever order it was added. Each addition
 * rounds a partial sum s by at most u|s|, u = 2^-24, and to first order these errors add up. They
 * are as good as independent and of mean zero, so that with probability 1 - d they come to at most
 * u sqrt(2 ln(2 / d)) sqrt(sum s^2) (Higham and Mary, 2019; Hallman and Ipsen, 2022). One after the
 * other is the order with the largest s: elements of random sign walk at random, s after k of them
 * is about sqrt(k / n) ||x||, and sqrt(sum s^2) about sqrt(n / 2) ||x||. For d = 10^-10 that makes
 * 4.9 u sqrt(n) ||x||; 8 leaves room for walks that stray further, and holds for certain, whatever
 * the roundings, for trees of up to 8 levels. Then one rounding more, of the sum itself.
 *
 * Tried on a CPU on 81,100 arrays of 3 to 1,000,003 elements, in units of u sqrt(n) ||x||: adding
 * one after the other came to 2.1 at the most, 64 sums or more and a tree over them to 0.8. With
 * inputs rounded to 11 bits the error of 1021 elements has a root mean square of 195, with every
 * second element taken twice one of 520,000; sums in half precision overflow. */
static double rounding(double n, double squares, double sum)
{
    const double u = 0x1p-24, c = 8;

    return u * (c * sqrt(n * squares) + fabs(sum));
}

/* A double's own roundings are 2^29 times as small as a float's: it may add in any order. */
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

/* The only element of the only output; the sum of integers is at hand. */
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

/* Every element is read once and takes part in one addition, but for the first. */
static Work work(const Case *c)
{
    double n = (double) c->dim[0];

    return (Work){ .bytes = sizeof(float) * n, .flops = n - 1 };
}

const Lab lab_reduction = {
    .title = "sum of an array",
    .function = "sum",
    .cases = cases,
    .shape = shape,
    .truth = truth,
    .call = call,
    .work = work,
    /* Rungs 1 to 3 come to 9 barriers for 32 elements; honest kernels of large blocks to 5, at the
     * simulated size, where a thread has few elements. Instructions would say less: honest kernels
     * that reach the bar take up to 86, rung 3 takes 82. */
    .mechanism = { { SECTORS_READ, 0, 1.15 }, { WARP_BARRIERS, 0, 6 }, { WARP_ATOMICS, 0, 0.05 } },
    .hints = {
        "How many of a block's 256 threads add anything in the last five rounds of the tree, and "
        "how often do all of them wait? How many bytes did the block fetch for all that?",
        "Fewer threads, more elements each: start only as many blocks as the SMs can hold at once, "
        "and let each thread walk through the array in steps of the whole grid, adding into a "
        "register. Threads then talk to each other once, after all that adding.",
        "In that loop, load four elements into four registers before the first addition, and add "
        "them to four sums: four requests are on their way instead of one. Then a warp by "
        "__shfl_down_sync with distances 16, 8, 4, 2, 1; one value a warp through shared memory; "
        "one value a block through scratch; one more launch.",
    },
    .remedies = {
        { "slow sectors_read",
          "`in` is fetched more than once, or in pieces. In the line that make grade named: by "
          "how many floats do lanes 0 and 1 differ? Does a thread have a run of its own?" },
        { "slow warp_barriers",
          "For so few elements that is a lot of waiting. How many elements has a thread added "
          "up, alone, when your block comes to its first barrier? What if it were more?" },
        { "slow warp_atomics",
          "All those updates wait in line at one address, one after the other. How many are "
          "there for n elements? What could a thread, a warp, a block do before it gets in line?" },
        { "slow", .below = 0.30,
          .text = "The tree is all the time there is: for each KB, some rounds, a barrier each, "
                  "and most lanes without work. Bank conflicts and idle warps are part of it, "
                  "not the largest. How many bytes does a block fetch between two barriers? (Or "
                  "do a million blocks wait at one address?)" },
        { "slow", .below = 0.57,
          .text = "Each time a thread begins with more elements, the same tree serves more "
                  "bytes. How far can that be taken? How many blocks can your GPU hold at once, "
                  "and how many have you launched?" },
        { "slow",
          "There is hardly a tree left to make faster, and memory is not busy. What does a "
          "thread do between asking for an element and adding it? How many of its requests are "
          "on their way meanwhile? Rule 4, with your GPU's numbers." },
        { "correct",
          "Speed was not judged, and the counts that were are easy to meet. Go on with a "
          "pencil: how many requests has a thread on their way when it first waits, and how "
          "many bytes is that for an SM? warpbook calc little says how many it takes." },
        { "wrong not_finite",
          "Something was added that nobody has written: `out` and `scratch` arrive full of NaN "
          "or huge numbers. Which of the two do you read before you have put anything there? A "
          "thread past the end of `in` needs a value, too." },
        { "wrong unwritten",
          "The sum never reached `out`. Follow the last pass: how many values are left, and "
          "where does it put them?" },
        { "wrong", .in = "real number",
          .text = "This case holds real numbers. If those of integers are all right (grade "
                  "again: the order of cases changes), where is a float narrower for a moment: "
                  "an int, a half, a constant without a point? If not, leave types alone and "
                  "look at the number of elements." },
        { "wrong", .in = "16,777,217",
          .text = "One element too few or too many. Is a count or an index a float somewhere? "
                  "It cannot hold every integer of this size. Or 16 bits?" },
        { "wrong", .in = "third pass",
          .text = "More than 256 partial sums of 256 elements: what is left over after the "
                  "second pass, and who adds that? A loop does not mind how many passes there "
                  "are." },
        { "wrong", .in = "33, a warp and one",
          .text = "A block that is no power of two: halving 33 loses one. Whose partner is "
                  "missing? The threads past the end need not be missing, if they bring "
                  "something that changes no sum." },
        { "wrong",
          "Which cases are right, and from which on is it wrong? Beyond one block: does every "
          "block's sum go to a place of its own, and does somebody add those? If only the first "
          "call is right: what was to be cleared, and is not? If the tail counts twice or not "
          "at all: who does the elements behind the last whole piece?" },
        { "unsafe race",
          "Two rounds, or two passes, touch the same place. Inside a block: what stands between "
          "one warp's store and the other's load? If both are of one warp: who says that its "
          "lanes run in step? Between blocks: does a pass write where others of the same pass "
          "still read?" },
        { "unsafe barrier",
          "Only some of the block's threads come to the barrier. All of them must, also those "
          "that have nothing to add in this round." },
        { "unsafe shuffle",
          "A lane reads from one that has not come to this shuffle. Which lanes are in that "
          "branch: at the end of the array, or where fewer than 32 sums are left? A smaller mask "
          "does not help, if a lane still reads beyond it. Let all 32 come, and some bring 0." },
        { "unsafe uninitialised",
          "It adds to, or reads, what nobody has written, or not yet: `out`, `scratch` and "
          "shared memory arrive full of rubbish. Who should have put the first value there, in "
          "each call anew, and what makes the reader wait for that?" },
        { "unsafe",
          "A thread reads past the end. If it takes two elements, or four: is each of them "
          "asked for, or only the first?" },
        { "stray input",
          "`in` is only to read. Which place have you been given for partial sums?" },
        { "stray",
          "More partial sums than scratch has room for. What is scratch_count for the smallest "
          "array, and how many does your first pass write?" },
        { "crash launch",
          "How many blocks and threads does your launch have for 1 element, and for 16,777,217? "
          "None is not allowed, nor more than 1024 threads." },
        { "crash misaligned",
          "A float4 wants an index that is a multiple of 4. Does each pass begin at one, also "
          "where it reads from scratch?" },
        { "crash",
          "Take the largest index that the failing size gives. Is it computed in a type that "
          "can hold it?" },
        { "timeout",
          "Does your loop over passes ever come to one value? Work it out for 257. If blocks "
          "wait for each other: are all of them on the GPU at that time?" },
    },
    .predictions = {
        { "additions",
          "How many additions does the sum of 1,000,000 elements take, in whatever order?",
          999999, 0, "Each addition makes one number out of two: n - 1 of them leave one. A "
                     "parallel sum needs no fewer, only fewer after each other." },
        { "barriers",
          "How often does a block of the starter wait at a barrier, for its 256 elements?",
          9, 0, "Once after filling and once in each of log2(256) = 8 rounds: nine times a KB." },
        { "shuffle_steps",
          "How many shuffles after each other make one sum of a warp's 32 values?",
          5, 0, "Each halves the number of values: distances 16, 8, 4, 2, 1. No barrier, no shared "
                "memory." },
        { "degree_s1",
          "Let neighbouring threads work: thread t adds part[2*s*t + s] to part[2*s*t]. How many "
          "words does a warp want from one bank at s = 1?",
          2, 0, "Steps of 2 words use every second bank, each for two lanes. At s = 2 it is 4, at "
                "s = 4 it is 8." },
        { "degree_s16",
          "The same at s = 16, in a block of 256 threads?",
          8, 0, "Steps of 32 words fall into one bank, but only 8 threads are left to do so. With "
                "s = 1, 2, 4, 8, 16, 32 the degrees are 2, 4, 8, 8, 8, 4." },
        { "counted",
          "float f = 0; then 20,000,000 times f += 1.0f. What is f?",
          16777216, 0, "2^24. There the next float is 2 away, and f + 1 rounds back to f. Sums of "
                       "many small parts are not only faster, they are also more accurate." },
        { "elements_a_thread",
          "2^28 elements, 132 SMs with 8 blocks of 256 threads each: how many elements a thread?",
          993, 1, "2^28 / (132 * 2048) = 993. After so many additions in registers it hardly "
                  "matters how the threads of a block put their sums together." },
    },
    .question = "A matrix has 1,000,000 rows of 48 floats, and you want the sum of each row. What "
                "would your kernel waste with a block a row? How many rows would you give to a "
                "warp, and which of your three levels (registers, shuffles, shared memory) are "
                "left?",
};
