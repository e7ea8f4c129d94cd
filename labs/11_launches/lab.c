/* Launches: many small arrays, one operation.
 *
 * The flaw is a launch per tensor, or several. A launch costs the same for 500 floats as for a
 * million, so time grows with the number of tensors instead of the number of bytes. */
#include "kernel.h"

#include <math.h>

enum { MOST_TENSORS = 2048, UNIT = 8 /* floats: 32 bytes */ };

/* How the floats are divided. MODEL: as in a neural network, most tensors are small, and one holds
 * a third of all floats. HOLES: a third of the tensors is empty. */
enum { MODEL, HOLES };

/* Weights, gradients and results together are three times as large as the L2. The number of tensors
 * stays, as in a model that gets wider but not deeper. */
static void wide_model(long dim[LAB_DIMS], const Gpu *gpu, double scale)
{
    double floats = (double) gpu->l2_bytes / sizeof(float) * scale, most = 1 << 28;

    dim[0] = (long) (floats < most ? floats : most);
}

static const Case cases[] = {
    { "1 tensor of 1 float", { 1, 1, STEP, MODEL } },
    { "1 tensor of 1023 floats", { 1023, 1, STEP, MODEL } },
    { "2 tensors", { 3001, 2, STEP, MODEL } },
    { "33 tensors, some empty", { 5000, 33, STEP, HOLES } },
    { "113 tensors", { 60000, 113, STEP, MODEL } },
    { "128 tensors: 4096 bytes of table", { 30011, 128, STEP, MODEL } },
    { "300 tensors, some empty", { 50021, 300, STEP, HOLES } },
    { "1100 tensors: 35,200 bytes of table", { 70001, 1100, STEP, MODEL } },
    { "1 tensor of 3,000,001 floats", { 3000001, 1, STEP, MODEL } },
    { "clipped: 1 tensor of 1 float", { 1, 1, CLIPPED_STEP, MODEL } },
    { "clipped: 40 tensors, some empty", { 40013, 40, CLIPPED_STEP, HOLES } },
    { "clipped: 130 tensors", { 30000, 130, CLIPPED_STEP, MODEL } },
    { "clipped: 1024 tensors: 32,768 bytes of table", { 70003, 1024, CLIPPED_STEP, MODEL } },
    { "clipped: 1500 tensors, some empty", { 90001, 1500, CLIPPED_STEP, HOLES } },
    { "400 tensors", { 1 << 20, 400, STEP, MODEL }, TIMED, 0.70, wide_model },
    { "clipped: 400 tensors", { 1 << 20, 400, CLIPPED_STEP, MODEL }, TIMED, 0.70, wide_model },
    { "1 large tensor", { 1 << 20, 1, STEP, MODEL }, CONTROL, 0, wide_model },
    { 0 },
};

/* ---- Where the tensors are ---- */

/* Weights and results begin at the same places. A backward pass computes gradients from the last
 * tensor to the first, and they are stored in that order. So the floats after a tensor's end
 * belong to different tensors, and an update past the end is wrong. */
typedef struct Layout {
    int count;
    size_t size[MOST_TENSORS], at[MOST_TENSORS], gradient_at[MOST_TENSORS];
    size_t gradient_end; /* of the last gradient */
} Layout;

static uint32_t bits_of(const Case *c, int tensor)
{
    return fill_bits(fill_key((uint64_t) c->dim[1], (int) c->dim[3]), (size_t) tensor);
}

static uint64_t share_of(const Case *c, int tensor)
{
    uint32_t bits = bits_of(c, tensor);

    if (c->dim[3] == HOLES)
        return bits % 3 ? 1 + bits / 3 % 100 : 0;
    return (16 + bits % 16) << bits / 16 % 12; /* sizes of similar logarithm are equally frequent */
}

/* All sizes but the last one are multiples of 8 floats, so that nothing lies between two results:
 * the grader compares every float. One tensor gets what the others leave. */
static void divide(const Case *c, Layout *l)
{
    const int large = l->count / 3;
    const uint64_t floats = (uint64_t) c->dim[0], units = floats / UNIT;
    uint64_t all = 0, left = units;

    for (int i = 0; i < l->count; i++)
        all += i == large ? 0 : share_of(c, i);
    for (int i = 0; i < l->count; i++) {
        uint64_t some = i == large ? 0 : units * 2 / 3 * share_of(c, i) / all;
        l->size[i] = UNIT * (size_t) some;
        left -= some;
    }
    l->size[large] = UNIT * (size_t) left;
    l->size[l->count - 1] += (size_t) (floats % UNIT);
}

static void lay_out(const Case *c, Layout *l)
{
    size_t at = 0, gradient_at = 0;

    l->count = (int) c->dim[1];
    divide(c, l);
    for (int i = 0; i < l->count; i++) {
        l->at[i] = at;
        at += l->size[i];
    }
    for (int i = l->count - 1; i >= 0; i--) {
        l->gradient_at[i] = gradient_at;
        l->gradient_end = gradient_at + l->size[i];
        gradient_at = (l->gradient_end + UNIT - 1) / UNIT * UNIT;
    }
}

/* The rates of neighbours differ. */
static float rate_of(int tensor)
{
    return 0.01f * (float) (1 + tensor % 7);
}

static void shape(const Case *c, Arrays *arrays)
{
    const size_t floats = (size_t) c->dim[0];
    Layout l;

    lay_out(c, &l);
    arrays->in[0] = (Array){ F32, 1, floats, { FILL_UNIT, 0, 0 }, NULL, .name = "weights" };
    arrays->in[1] =
        (Array){ F32, 1, l.gradient_end, { FILL_UNIFORM, 0, 0 }, NULL, .name = "gradient" };
    arrays->out[0] = (Array){ F32, 1, floats, { FILL_UNIT, 0, 0 }, NULL, .name = "updated" };
}

/* ---- The correct answer ---- */

/* Some floats of one tensor. */
typedef struct Piece {
    int tensor;
    size_t first, count; /* within the tensor */
} Piece;

enum { FLOATS = 256 };

/* A product and a difference, each rounded, or both at once: an error of one unit in the last place
 * of either is allowed. */
static void step(const Case *c, const Inputs *inputs, const Layout *l, Piece p, float *want,
                 double *error)
{
    const FillKey weights_key = fill_key(inputs->seed, 0), gradient_key = fill_key(inputs->seed, 1);
    const Array *in = inputs->arrays->in;
    const double rate = rate_of(p.tensor);
    float weights[FLOATS], gradient[FLOATS];

    fill_f32s(in[0].fill, weights_key, l->at[p.tensor] + p.first, 1, p.count, weights);
    fill_f32s(in[1].fill, gradient_key, l->gradient_at[p.tensor] + p.first, 1, p.count, gradient);
    for (size_t i = 0; i < p.count; i++) {
        double g = gradient[i];
        if (c->dim[2] == CLIPPED_STEP)
            g = fmin(fmax(UNSCALE * g, -LIMIT), LIMIT);
        want[i] = (float) (weights[i] - rate * g);
        error[i] = (fabs(rate * g) + fabs((double) want[i])) * 0x1p-23;
    }
}

/* The last tensor that begins at `at` or before: those before it are empty, or end there. */
static int tensor_at(const Layout *l, size_t at)
{
    int from = 0, to = l->count;

    while (to - from > 1) {
        int middle = (from + to) / 2;
        *(l->at[middle] <= at ? &from : &to) = middle;
    }
    return from;
}

static void truth(const Case *c, const Inputs *inputs, int out, size_t first, size_t count,
                  void *want, double *error)
{
    float *to = want;
    Layout l;

    (void) out; /* there is only one */
    lay_out(c, &l);
    for (size_t i = 0, now; i < count; i += now) {
        const int tensor = tensor_at(&l, first + i);
        const size_t from = first + i - l.at[tensor], left = l.size[tensor] - from;
        now = count - i < left ? count - i : left;
        now = now < FLOATS ? now : FLOATS;
        step(c, inputs, &l, (Piece){ tensor, from, now }, to + i, error + i);
    }
}

static void call(void (*kernel)(void), const Case *c, const Arrays *arrays)
{
    static Layout l;
    static Tensor tensors[MOST_TENSORS];

    lay_out(c, &l);
    for (int i = 0; i < l.count; i++)
        tensors[i] = (Tensor){ .updated = (float *) arrays->out[0].data + l.at[i],
                               .weights = (const float *) arrays->in[0].data + l.at[i],
                               .gradient = (const float *) arrays->in[1].data + l.gradient_at[i],
                               .size = (int) l.size[i],
                               .rate = rate_of(i) };
    AS(update, kernel)(tensors, l.count, (int) c->dim[2]);
}

/* Two floats are read and one is written, however many operations are in between. */
static Work work(const Case *c)
{
    double floats = (double) c->dim[0];

    return (Work){ .bytes = 3 * sizeof(float) * floats,
                   .flops = (c->dim[2] == STEP ? 2 : 5) * floats };
}

static bool set_tensors(long dim[LAB_DIMS], const Gpu *gpu, long value)
{
    (void) gpu;
    dim[1] = value;
    return true;
}

const Lab lab_launches = {
    .title = "many small arrays",
    .further = true,
    .function = "update",
    .cases = cases,
    .shape = shape,
    .truth = truth,
    .call = call,
    .work = work,
    /* The starter's chain writes `updated` three times; a fused one writes it once. */
    .mechanism = { { SECTORS_READ, 0, 1.15 }, { SECTORS_READ, 1, 1.15 }, { SECTORS_WRITTEN, 0, 1.15 } },
    .hints = {
        "How many launches does one call of the starter make for 400 tensors: for a step, and for a "
        "clipped step? A launch takes at least 2 microseconds, even if it has nothing to do. How "
        "long does the whole call take, and how long would its bytes alone take?",
        "Two things fuse. A chain: what the next operation needs is in a register already. And the "
        "tensors: if a launch knows where all of them are, its blocks can share them out. A struct "
        "that you pass as an argument is copied with the launch, so it can hold a table of tensors. "
        "Then ask how many blocks the largest tensor gets.",
        "struct Table { int count; int first_block[N]; Tensor tensor[N]; }: the host fills it and "
        "passes it by value. Cut each tensor into chunks of a few thousand floats; first_block is "
        "the running sum of their numbers, and a block finds its tensor by binary search. Arguments "
        "may have 4096 bytes, with CUDA 12.1 and later 32,764. When the table is full, launch and "
        "start a new one. In a chunk, load four float4 of each array before you use the first.",
    },
    .remedies = {
        { "slow idle_gpu",
          "Nothing ran on the GPU. The tensors' floats are in device memory; only the list of "
          "tensors is in host memory." },
        { "slow sectors_written",
          "`updated` is written more than once per call. What does the next operation of the chain "
          "read, and where could that value have stayed?" },
        { "slow sectors_read",
          "An input is read more than once, or in scattered sectors. Do neighbouring lanes read "
          "neighbouring floats of the same tensor? Does each float belong to exactly one thread?" },
        { "slow", .in = "clipped", .below = 0.20,
          .text = "Count the launches: tensors times operations. Divide the time of the call by that "
                  "number: if a few microseconds are left, you time launches, and no faster kernel "
                  "changes that. Begin with the chain: one launch for all three operations of a "
                  "tensor." },
        { "slow", .below = 0.50,
          .text = "Divide the time of the call by the number of launches. If that is a few "
                  "microseconds, you time launches: put many tensors into one. If there are few "
                  "launches: how many blocks work on the largest tensor, which has a third of all "
                  "floats, and how many blocks have nothing to do?" },
        { "slow",
          "There are few launches now. Two things may be left. Does each launch wait for the "
          "last block of the launch before it? How many loads does a thread have in flight before "
          "it needs the first value? In make explain LAB=launches, compare the rows for the tail and "
          "for latency." },
        { "correct",
          "Speed was not judged here. Count the launches of a call with 400 tensors on paper, and "
          "the blocks that the largest tensor gets." },
        { "wrong first_call",
          "This case is right if it is the first one. What does your code keep from one call to the "
          "next? Each call has other tensors at other places, so a kept table is an old table." },
        { "wrong tail unwritten",
          "The ends are missing. A tensor's size is a multiple of nothing: what handles its last "
          "floats, if a thread takes four at a time or a block a whole chunk? If whole chunks or "
          "tensors are missing: does the search compare with < or with <=?" },
        { "wrong unwritten", .in = "empty",
          .text = "An empty tensor has no chunk and no block. What does your search find if two "
                  "tensors begin at the same block?" },
        { "wrong unwritten",
          "Some floats were never written. Do whole tensors lack them, for instance all after the "
          "table was full? Or the end of each tensor?" },
        { "wrong", .in = "clipped",
          .text = "Compute one float by hand: unscale, then clip on both sides, then step. Are the "
                  "operations in this order, and is the rate that of the float's own tensor?" },
        { "wrong", .in = "empty",
          .text = "An empty tensor has no chunk and no block. Which tensor does your search find "
                  "if two begin at the same block?" },
        { "wrong", .in = "bytes of table",
          .text = "The table is full, and tensors are left. Is a second launch made for them, and "
                  "does it begin counting its blocks at 0 again?" },
        { "wrong",
          "Take the first wrong float: which tensor is it in, and where in it? If a tensor's end is "
          "wrong, its neighbour wrote there. If whole tensors are: do they have the rate, the "
          "weights and the gradient of the same table entry?" },
        { "unsafe race",
          "Two threads write the same float. Do the chunks of a tensor overlap, or do all its "
          "blocks write its end?" },
        { "unsafe uninitialised",
          "Your kernel reads `updated` before it was written. It holds garbage at first; the old "
          "values are in `weights`." },
        { "unsafe",
          "A thread reads past the end of an array. Tensors lie next to each other, so only the end "
          "of the last one is noticed here, but each end needs the check. If only cases with many "
          "tensors fail: does the next table count its blocks from 0 again?" },
        { "stray input",
          "Inputs must not change: the new weights go to `updated`, also those in between." },
        { "stray",
          "A store past the end of `updated`. Which thread handles the last floats of the last "
          "tensor, and does it check each of its floats?" },
        { "crash launch",
          "How many blocks does your launch have for an empty tensor, and for a table without "
          "chunks? It must be at least one. And are the launch's arguments larger than the GPU "
          "accepts?" },
        { "crash host_pointer",
          "`tensors` is in host memory; a kernel cannot follow that pointer. Copy the entries into "
          "a struct and pass the struct by value." },
        { "crash illegal",
          "An address is wrong. Is `tensors` itself passed to a kernel? It is in host memory. Or is "
          "an entry used that the table does not have?" },
        { "crash misaligned",
          "A float4 needs an index that is a multiple of four. Where does each chunk begin?" },
        { "crash",
          "Does the host write past its table? It has a fixed number of entries; a model may have "
          "more tensors." },
        { "timeout",
          "Which loop does not end? With an empty tensor or a full table, does each step still get "
          "nearer to the end?" },
    },
    .predictions = {
        { "launches_step",
          "A model has 400 tensors. How many launches does the starter make for a step?",
          400, 0, "One per tensor." },
        { "launches_clipped",
          "How many for a clipped step?",
          1200, 0, "One per tensor and operation: 3 x 400." },
        { "floor_us",
          "A launch takes 2 microseconds, even if it has nothing to do. How many microseconds does a "
          "call with 400 launches take at least?",
          800, 0, "400 x 2. The tensors' sizes do not matter as long as each takes less." },
        { "floats_hidden",
          "A GPU moves 4000 bytes per nanosecond at most, a step 12 bytes per float. How many floats "
          "does a launch of 2 microseconds leave time for? In thousands.",
          667, 7, "2000 ns x 4000 / 12 = 667,000. A launch for a tensor of 1000 floats wastes nearly "
                  "all of its time." },
        { "bytes_chain",
          "The chain in three launches: 50 million floats. How many megabytes does it move?",
          1400, 0, "8 bytes per float to unscale (read, write), 8 to clip, 12 for the step: 28." },
        { "bytes_fused",
          "And in one launch, with a and b in registers?",
          600, 0, "12 bytes per float: weights and gradient read, result written." },
        { "entries",
          "A table entry has 32 bytes. How many entries fit into launch arguments of 4096 bytes, next "
          "to a count of 4 bytes?",
          127, 0, "4092 / 32 = 127.9. A model with 400 tensors needs four such launches." },
    },
    .question = "You train with Adam: each tensor also has two arrays that are read and written in "
                "place. How many bytes per float does one fused step move, how many entries fit into "
                "4096 bytes, and which of your numbers change if the arrays are half precision?",
    .questions = {
        { "small_model",
          "A model has 150 tensors and 3 million floats in all. A launch takes 2 microseconds, and "
          "memory moves 3000 bytes per nanosecond. How many times as long as the bytes of one fused "
          "step (12 per float) do 150 launches take?",
          25, 0.5,
          "The bytes take 36,000,000 / 3000 = 12,000 ns, the launches 300,000 ns: 25 times as long." },
        { "adam_bytes",
          "An Adam step reads weights, gradient and two moments, and writes weights and both "
          "moments: floats. How many bytes per float does it move if it is fused?",
          28, 0, "7 x 4. Its chain of about ten operations would move several times as many." },
        { "graph",
          "A CUDA graph replays 400 recorded launches, each with one small tensor. What does it "
          "save?",
          1, 0,
          "A graph makes each launch cheaper for the host. The GPU still starts 400 kernels, one "
          "after the other, each with few blocks.",
          { "host time per launch", "the start of each kernel on the GPU", "bytes" } },
        { 0 },
    },
    .profile = "loads stores waits",
    .sweep = {
        .what = "number of tensors, the same number of floats",
        .label = "400 tensors",
        .set = set_tensors,
        .values = { 1, 4, 16, 50, 100, 200, 400, 800, 1600 },
    },
};
