/* ILP and TLP: what a thread does while it waits.
 *
 * The flaw exposes latency. With four warps per SM and one oscillator at a time, a scheduler issues
 * 5 instructions in 20 cycles, and an SM has 1 KB of loads in flight. No cache shortens an
 * addition, and the four arrays of `short` together are 8 times as large as L2. */
#include "kernel.h"

#include <math.h>

/* The case `short` has one oscillator per 2 bytes of L2, so each of the four arrays is twice as
 * large as L2. The number is a multiple of 16 per thread, since remainders are not the subject of
 * this lab, and at most 2^28, to limit memory use. */
enum { ROUND = 16, STEPS = 4096, FEW_STEPS = 12, MOST = 1 << 28 };

/* The time step is a power of two, so that products with it are exact. It is so large that no
 * method of a higher order needs fewer evaluations of the force. With 1/128 such a method existed:
 * a single Runge-Kutta-Nystroem step, corrected for the first method's own error, replaced twelve
 * steps. */
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

/* As many steps as fit into the time of other oscillators' loads. With one oscillator at a time, a
 * thread waits for its steps and for its loads, so it is slow even on a GPU with little bandwidth
 * per SM. */
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
    { "127, one less than a block, 7 steps", { 127, 7 } },
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

/* Many oscillators at a time, here too: a CPU also has latencies to hide. */
enum { SIDE = 32 };

static void advance_some(double x[SIDE], double v[SIDE], long steps)
{
    for (long s = 0; s < steps; s++)
        for (int j = 0; j < SIDE; j++) {
            v[j] -= (double) dt * (x[j] + (double) 0.3f * x[j] * x[j] * x[j]);
            x[j] += (double) dt * v[j];
        }
}

/* How large the error of rounding to float may become. A step rounds x and v, which are about 1, by
 * at most one part in 2^24 each; rounding errors of the force are multiplied by dt. The system is
 * not chaotic. A small error in the state changes the amplitude, and thus the frequency, so it
 * grows with the remaining time, by about a quarter per unit. Errors of random sign add in
 * quadrature.
 *
 * On a CPU we tried six ways to write the force and the step, with and without fused multiply-add,
 * for 1 to 32,768 steps and 4,096 oscillators: the error was at most 1.7 of these units. Euler's
 * explicit step, or one without the cube, is off by hundreds of units after its first step. */
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

/* Two arrays are read and two written; a step is two multiplications and three multiply-adds. */
static Work work(const Case *c)
{
    double n = (double) c->dim[0];

    return (Work){ .bytes = 4 * sizeof(float) * n, .flops = 8 * n * (double) c->dim[1] };
}

/* The case has one oscillator per thread. */
static bool set_oscillators(long dim[LAB_DIMS], const Gpu *gpu, long value)
{
    (void) gpu;
    dim[0] *= value;
    return true;
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
        "Which of a step's five operations can start before the previous one has finished? A result "
        "takes 4 cycles, and this scheduler has no second warp. What else could the thread itself "
        "do in the other 3 cycles?",
        "A thread need not finish one oscillator before it starts the next. Load several, advance "
        "all of them in the same loop over the steps, store all of them. How many oscillators fill "
        "the 4 cycles? And how many bytes are now in flight at once, when steps are few?",
        "float x[4], v[4]; items i, i + stride, i + 2 * stride, i + 3 * stride, each in a loop over "
        "j with #pragma unroll, inside the loop over s. Oscillators that do not fill a group of "
        "four go through the old loop. Then use float4: four neighbouring oscillators, 16 bytes per "
        "load, and two such groups at a time.",
    },
    .remedies = {
        /* The lowest ratio may be that of `short`. Two oscillators at a time reach at least 0.33
         * there. A kernel whose steps depend on each other has a ratio under 0.30 in `long`. */
        { "slow", .in = "long", .below = 0.30,
          .text = "The arithmetic is as slow as before. Look at your loop over the steps: which "
                  "operations in its body need not wait for the previous one? Several loads at "
                  "once do not make the steps independent, and sixteen steps of one oscillator "
                  "depend on each other however you write them. Which loop is the inner one?" },
        { "slow", .in = "long",
          .text = "Compare with the starter's speed in this case. If yours is the same, the steps "
                  "still run one oscillator after the other, even if you load several at once: "
                  "which loop is the inner one? If yours is faster, some of the gaps are filled. A "
                  "result takes 4 cycles and a scheduler has one warp: how many independent "
                  "operations are in flight now, and how many could be? If you have enough of "
                  "them: does the compiler keep an array in local memory because an index is not a "
                  "constant (-Xptxas -v)?" },
        { "slow", .in = "short", .also = "long",
          .text = "Both `short` and `long` are below their bars: begin with `long`, where there is "
                  "hardly any memory to wait for. Look at your loop over the steps: which "
                  "operations in its body need not wait for the previous one? If oscillators are "
                  "independent, which loop should be the inner one?" },
        { "slow", .in = "short",
          .text = "In `short` the kernel waits for DRAM. When a thread uses its first loaded value, how many bytes does "
                  "it have in flight? Compare that with bytes_needed in predictions.txt. The same "
                  "number of loads can carry more bytes." },
        { "correct",
          "Speed was not judged, so count: how many operations of a warp are independent, and how "
          "many bytes does a thread have in flight? warpbook calc ilp and warpbook calc little "
          "compute how many are needed." },
        { "wrong tail unwritten",
          "The incomplete last round is missing. With 3 oscillators, or 70,001: which ones does "
          "your loop leave out, and what processes them?" },
        { "wrong unwritten",
          "No thread has processed these. If there are more oscillators than threads, which loop "
          "takes the others? And what happens to those that do not fill a whole round?" },
        { "wrong not_finite",
          "A value became infinite or NaN. Does each oscillator keep its own x and v, from load to "
          "store? An index that is off by one mixes two of them." },
        { "wrong",
          "Off by a little, and by more with more steps? Then check the step: which x does the new "
          "v use, and which v does the new x use? Is the factor 0.3 there, and is dt unchanged? "
          "Wrong only for some numbers of steps? If your loop takes several steps at a time, what "
          "happens to the remaining ones?" },
        { "stray input",
          "Your kernel changed an input: write the new state to x1 and v1 only." },
        { "stray",
          "The last round reaches past the end. If a thread takes several oscillators, do you check "
          "each of them, or only the first?" },
        { "unsafe out_of_bounds",
          "The last round reaches past the end. If a thread takes several oscillators, do you check "
          "each of them, or only the first?" },
        { "unsafe race",
          "Threads exchange values through shared memory. What makes one warp's load wait for the "
          "other's store?" },
        { "unsafe",
          "Which thread writes the location that is read here, and when? In this task no thread "
          "needs another thread's values." },
        { "crash misaligned",
          "A float4 needs an index that is a multiple of 4. At which index does each thread, or "
          "each block, begin? The arrays themselves begin at multiples of 256 bytes." },
        { "crash",
          "Work out the largest index of your last round, also for n = 3. Does it assume whole "
          "groups?" },
        { "build",
          "launch.cpp defines advance() and launches your kernel: write only advance_kernel, with "
          "the parameters that kernel.h declares. The number of threads is fixed; what each thread "
          "does is up to you." },
        { "timeout",
          "Which loop never ends? The step of the loop over oscillators must grow with the number "
          "of oscillators that a thread takes at a time." },
    },
    .predictions = {
        { "cycles_a_step",
          "A step is a product x * x, a product by 0.3, a multiply-add for the force, one for v and "
          "one for x. Each needs the previous result, and a result takes 4 cycles. How many cycles "
          "does a step take?",
          20, 0, "Five dependent operations: 5 * 4. With one oscillator there is nothing else to do "
                 "in that time." },
        { "slots_a_step",
          "In how many of these cycles does a scheduler with a single warp issue one of them, on a "
          "GPU with 32 FP32 lanes per scheduler (sm_86 and later)?",
          5, 0, "One per cycle: 5 of 20 cycles are used. One oscillator at a time can reach at most "
                "a quarter of the peak, however you write it." },
        { "chains",
          "How many oscillators at a time keep that scheduler busy with its one warp?",
          4, 0, "Little's law: 1 instruction per cycle times 4 cycles of latency is 4 instructions "
                "in flight. (With 16 lanes per scheduler, on sm_70 to sm_80, a warp's instruction "
                "takes two cycles to issue, and 2 are enough.)" },
        { "bytes_in_flight",
          "Steps is 1, and each of an SM's 128 threads loads its x and its v and waits. How many "
          "bytes are in flight to that SM?",
          1024, 0, "128 * 2 * 4. With four oscillators at a time it is four times as much." },
        { "bytes_needed",
          "Memory delivers 2100 GB/s to 132 SMs (an H200 that reads as much as it writes), and a "
          "load takes 600 ns. How many bytes must be in flight to each SM?",
          9545, 500, "2100 bytes per ns * 600 ns / 132 = 9545. One oscillator per thread gives a "
                     "ninth of it, eight give 8192." },
    },
    .question = "Now your kernel may use 2048 threads per SM. Which of your changes would still "
                "gain something, which would not, and in which of the two cases? What would you "
                "measure to be sure?",
    .questions = {
        { "two_warps",
          "A result takes 4 cycles, and a scheduler issues one instruction per cycle. It has 2 "
          "warps, each with chains of dependent operations. How many independent chains per "
          "thread keep it busy?",
          2, 0,
          "Four independent operations are needed at any time: two warps with two chains each." },
        { "many_warps",
          "Now the scheduler has 16 such warps. How many chains per thread are needed?",
          1, 0,
          "16 warps have 16 independent operations, more than the 4 that are needed. More "
          "chains gain nothing for arithmetic; they may still carry more bytes." },
        { "bytes_in_flight",
          "A GPU's memory delivers 2000 GB/s, and a load takes 500 ns. How many kB (1000 "
          "bytes) must be in flight on the whole GPU?",
          1000, 10,
          "2000 bytes per ns, for 500 ns: 1,000,000 bytes." },
        { 0 },
    },
    .profile = "issue waits occupancy registers",
    .sweep = {
        .what = "oscillators per thread",
        .label = "one each",
        .set = set_oscillators,
        .values = { 1, 2, 3, 4, 6, 8, 16 },
    },
};
