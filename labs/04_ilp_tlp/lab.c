/* ILP and TLP: what a thread does while it waits.
 *
 * The flaw wastes latency: with four warps an SM, one oscillator at a time, a scheduler issues 5
 * instructions in 20 cycles, and an SM waits for 1 KB of memory at a time. Both are waits within a
 * thread; no cache shortens an addition, and the arrays of `short` are 8 L2 together. */
#include "kernel.h"

#include <math.h>

/* Short: as many oscillators as half of the bytes of L2 (four arrays of 2 L2), whole rounds of 16 a
 * thread: what is left over at the end is not the subject. Below 2^28, for memory's sake. */
enum { ROUND = 16, STEPS = 4096, FEW_STEPS = 12, MOST = 1 << 28 };

/* The step of time: a power of two, so that products with it are exact, and so large that no method
 * of a higher order does with fewer evaluations of the force. With 1/128 one did: twelve steps by
 * one of a Runge-Kutta-Nystroem method, corrected for the first method's own error. */
static const float dt = 1.0f / 4;

static long a_thread(const Gpu *gpu, long oscillators)
{
    return 128L * gpu->sms * oscillators;
}

static void many_steps(long dim[LAB_DIMS], const Gpu *gpu, double scale)
{
    dim[0] = a_thread(gpu, ROUND);
    dim[1] = (long) (STEPS * scale);
}

/* As many steps as memory hides, if others are on their way: alone, an oscillator waits for them
 * as well as for its loads, so that it is slow also where memory has little to bring to an SM. */
static void few_steps(long dim[LAB_DIMS], const Gpu *gpu, double scale)
{
    double n = (double) gpu->l2_bytes / 2 * scale;
    long round = a_thread(gpu, ROUND);

    dim[0] = ((long) (n < MOST ? n : MOST) + round - 1) / round * round;
    dim[1] = FEW_STEPS;
}

static void one_each(long dim[LAB_DIMS], const Gpu *gpu, double scale)
{
    dim[0] = a_thread(gpu, 1);
    dim[1] = (long) (STEPS * scale);
}

static const Case cases[] = {
    { "1 oscillator, 1 step", { 1, 1 } },
    { "5 oscillators, no step", { 5, 0 } },
    { "3 oscillators, 4099 steps", { 3, 4099 } },
    { "127, a block but one, 7 steps", { 127, 7 } },
    { "129, 33 steps", { 129, 33 } },
    { "4096, 16 steps", { 4096, 16 } },
    { "8191, a prime, 5 steps", { 8191, 5 } },
    { "40,961, a prime, 1 step", { 40961, 1 } },
    { "70,001, a prime, 37 steps", { 70001, 37 } },
    { "300,007, a prime, no step", { 300007, 0 } },
    { "1,000,003, a prime, 2 steps", { 1000003, 2 } },
    { "long", { 16384, 256 }, TIMED, 0.70, many_steps },
    { "short", { 1 << 19, FEW_STEPS }, TIMED, 0.50, few_steps },
    { "one each", { 1024, 256 }, CONTROL, 0, one_each },
    { 0 },
};

static void shape(const Case *c, Arrays *arrays)
{
    static const char *const names[2][2] = { { "x0", "v0" }, { "x1", "v1" } };
    size_t n = (size_t) c->dim[0];
    Fill unit = { FILL_UNIT, 0, 0 };

    for (int i = 0; i < 2; i++) {
        arrays->in[i] = (Array){ F32, 1, n, unit, NULL, .name = names[0][i] };
        arrays->out[i] = (Array){ F32, 1, n, unit, NULL, .name = names[1][i] };
    }
}

/* Many oscillators side by side, here too: a CPU has latencies of its own. */
enum { SIDE = 32 };

static void advance_some(double x[SIDE], double v[SIDE], long steps)
{
    for (long s = 0; s < steps; s++)
        for (int j = 0; j < SIDE; j++) {
            v[j] -= (double) dt * (x[j] + (double) 0.3f * x[j] * x[j] * x[j]);
            x[j] += (double) dt * v[j];
        }
}

/* How far rounding to float may lead astray. A step rounds x and v by at most a part in 2^24 each,
 * not far from 1 in size; what is rounded in the force counts only dt times. The system is not
 * chaotic: a small error in the state is one in the amplitude, which shifts the frequency, so that
 * it grows with the time that is left, by about a quarter for each unit. Errors of random sign add
 * up by their squares.
 *
 * Tried on a CPU, six ways to write the force and the step, with and without fused multiply-add, 1
 * to 32,768 steps, 4,096 oscillators: at most 1.7 of these units. Euler's explicit step, or one
 * without the cube, is off by hundreds of units after its first step.
 */
static double rounding(long steps)
{
    const double u = 0x1p-24, most = 8;

    return most * u * sqrt((double) steps + 1) * (1 + 0.25 * (double) steps * (double) dt);
}

static void truth(const Case *c, const Inputs *inputs, int out, size_t first, size_t count,
                  void *want, double *error)
{
    float *to = want;

    for (size_t at = 0; at < count; at += SIDE) {
        double x[SIDE], v[SIDE];
        float x0[SIDE], v0[SIDE];
        fill_f32s(inputs->arrays->in[0].fill, fill_key(inputs->seed, 0), first + at, 1, SIDE, x0);
        fill_f32s(inputs->arrays->in[1].fill, fill_key(inputs->seed, 1), first + at, 1, SIDE, v0);
        for (int j = 0; j < SIDE; j++) {
            x[j] = (double) x0[j];
            v[j] = (double) v0[j];
        }
        advance_some(x, v, c->dim[1]);
        for (size_t j = 0; j < SIDE && at + j < count; j++) {
            to[at + j] = (float) (out ? v[j] : x[j]);
            error[at + j] = c->dim[1] ? rounding(c->dim[1]) : 0;
        }
    }
}

static void call(void (*kernel)(void), const Case *c, const Arrays *arrays)
{
    AS(advance, kernel)
    (arrays->out[0].data, arrays->out[1].data, arrays->in[0].data, arrays->in[1].data, dt,
     (int) c->dim[0], (int) c->dim[1]);
}

/* Two arrays read, two written; a step is two multiplications and three multiply-adds. */
static Work work(const Case *c)
{
    double n = (double) c->dim[0];

    return (Work){ .bytes = 4 * sizeof(float) * n, .flops = 8 * n * (double) c->dim[1] };
}

const Lab lab_ilp_tlp = {
    .title = "instruction-level parallelism",
    .launches = BLOCK,
    .function = "advance",
    .cases = cases,
    .shape = shape,
    .truth = truth,
    .window = 32,
    .call = call,
    .work = work,
    .hints = {
        "A step's five operations: which of them can begin before the one ahead of it is finished? "
        "A result takes 4 cycles, and this scheduler has no second warp. What could the thread "
        "itself have to do in the other 3?",
        "Nothing says that a thread finishes one oscillator before it begins the next. Load "
        "several, advance all of them in the same loop over the steps, store all of them. How many "
        "fill the 4 cycles? And how many bytes are now on their way at once, when steps are few?",
        "float x[4], v[4]; items i, i + stride, i + 2 * stride, i + 3 * stride, each in a loop over "
        "j with #pragma unroll, inside the loop over s. What does not make four goes through the "
        "old loop. Then float4: neighbouring oscillators, 16 bytes a load, two of them at a time.",
    },
    .remedies = {
        /* The lowest ratio may be that of `short`: two at a time have 0.33 there and more, whoever
         * has the steps one after the other has less than 0.30 in `long`, if not in both. */
        { "slow", .in = "long", .below = 0.30,
          .text = "The arithmetic goes as before. Look at your loop over the steps: which of "
                  "the operations in its body need not wait for the one before them? Loads that "
                  "come together are not yet steps that go together, and sixteen steps of one "
                  "oscillator wait for each other however they are written. Which loop is "
                  "inside which?" },
        { "slow", .in = "long",
          .text = "What had the starter in this case? No more than that: the steps still go one "
                  "oscillator after the other, even if the loads come together; which loop is "
                  "inside which? More: some of the gaps are filled. A result takes 4 cycles and "
                  "a scheduler has one warp: how many operations that do not wait for each other "
                  "are in flight now, and how many could be? If you have enough of them: does an "
                  "array with an index that is no constant lie in memory (-Xptxas -v)?" },
        { "slow", .in = "short",
          .text = "If `long` is below its bar, too, begin there. If only `short` is: DRAM is "
                  "what is waited for. When a thread uses the first thing that it has loaded, "
                  "how many bytes has it on their way? Put that beside bytes_needed of "
                  "predictions.txt. The same number of loads can carry more." },
        { "correct",
          "Speed was not judged, so count: how many operations of a warp do not wait for each "
          "other, and how many bytes has a thread on their way? warpbook calc ilp and warpbook "
          "calc little say how many it takes." },
        { "wrong tail unwritten",
          "What does not make a whole round is undone. With 3 oscillators, or 70,001: what does "
          "your loop leave over, and who does that?" },
        { "wrong unwritten",
          "Nobody has done those. If there are more oscillators than threads, which loop comes "
          "back for the others? And what becomes of those that do not make a whole round?" },
        { "wrong not_finite",
          "A number grew beyond all bounds. Does each of your oscillators keep its own x and v, "
          "from load to store? An index that is one too far mixes two of them." },
        { "wrong",
          "Off by a little, and more with more steps? Then it is the step: which x does the new "
          "v see, and which v does the new x? Is 0.3 there, is dt as it was given? Wrong from "
          "some number of steps on: what becomes of steps that your loop takes several at a "
          "time?" },
        { "stray input",
          "An input has changed: the new state belongs into x1 and v1 only." },
        { "stray",
          "The last round reaches past the end. For a thread that takes several oscillators, is "
          "each of them asked for, or only the first?" },
        { "unsafe out_of_bounds",
          "The last round reaches past the end. For a thread that takes several oscillators, is "
          "each of them asked for, or only the first?" },
        { "unsafe race",
          "Threads exchange something through shared memory. What stands between one warp's "
          "store and the other's load?" },
        { "unsafe",
          "Who writes the place that is read here, and when? Nothing in this task makes a "
          "thread need another thread's values." },
        { "crash misaligned",
          "A float4 wants an index that is a multiple of 4. From which index does each thread, "
          "or each block, begin? The arrays themselves begin at multiples of 256 bytes." },
        { "crash",
          "Take the largest index that your last round can give, at n = 3 as well. Is it "
          "computed with whole groups in mind?" },
        { "build",
          "launch.cpp defines advance() with its launch: yours is advance_kernel alone, with the "
          "parameters that kernel.h declares. The threads are given; what a thread does is not." },
        { "timeout",
          "Which loop does not end? The step of the loop over oscillators must grow with how "
          "many are taken at a time." },
    },
    .predictions = {
        { "cycles_a_step",
          "A step is a product x * x, a product by 0.3, a multiply-add for the force, one for v and "
          "one for x. Each needs the result before it, and a result takes 4 cycles. Cycles a step?",
          20, 0, "Five operations after each other: 5 * 4. Nothing else can be done in that time, "
                 "for one oscillator." },
        { "slots_a_step",
          "In how many of these cycles does a scheduler with a single warp issue one of them, on a "
          "GPU with 32 FP32 lanes a scheduler (sm_86 and later)?",
          5, 0, "One a cycle: 5 of 20 cycles are used. One oscillator at a time can reach a quarter of "
                "the peak, no matter how it is written." },
        { "chains",
          "How many oscillators at a time fill that scheduler with its one warp?",
          4, 0, "Little's law: 1 instruction a cycle times 4 cycles of latency are 4 instructions "
                "in flight. (With 16 lanes a scheduler, on sm_70 to sm_80, a warp's instruction "
                "takes two cycles to issue, and 2 are enough.)" },
        { "bytes_in_flight",
          "Steps is 1, and each of an SM's 128 threads loads its x and its v and waits. How many "
          "bytes are on their way to that SM?",
          1024, 0, "128 * 2 * 4. With four oscillators at a time it is four times as much." },
        { "bytes_needed",
          "Memory delivers 2100 GB/s to 132 SMs (an H200 that reads and writes as much), and a load "
          "takes 600 ns. How many bytes must be on their way to each SM?",
          9545, 500, "2100 bytes a ns * 600 ns / 132 = 9545. One oscillator a thread is a ninth of "
                     "it, eight are 8192." },
    },
    .question = "Your kernel must run on a GPU that no one else uses, with 2048 threads an SM. Which "
                "of your changes would still gain something, which would not, and in which of the two "
                "cases? What would you measure to be sure?",
};
