/* Divergence: which items share a warp. */
#include "kernel.h"

#include <stddef.h>

/* A case consists of n, rounds, and the order of the kinds: */
enum { MIXED, SKEWED, RUNS, ALIKE };
enum { STATE, KIND };

static const Fill kinds[] = {
    [MIXED] = { FILL_RANGE, 0, KINDS },
    [SKEWED] = { FILL_SKEWED, 0, KINDS },
    [RUNS] = { FILL_RUNS, 0, KINDS },
    [ALIKE] = { FILL_RANGE, 5, 6 },
};

enum { ITEMS_AN_SM = 16384, ROUNDS_AN_SM = 4, ROUNDS_LEAST = 32, ROUNDS_MOST = 512 };

/* Eight items for each of the 2048 threads of an SM. Each takes hundreds of dependent operations
 * on 9 bytes, so memory is idle and no cache can help. */
static void many(long dim[LAB_DIMS], const Gpu *gpu, double scale)
{
    long rounds = (long) gpu->sms * ROUNDS_AN_SM;

    rounds = rounds < ROUNDS_LEAST ? ROUNDS_LEAST : rounds > ROUNDS_MOST ? ROUNDS_MOST : rounds;
    dim[0] = (long) gpu->sms * ITEMS_AN_SM;
    dim[1] = (long) ((double) rounds * scale);
}

static const Case cases[] = {
    { "1 item, 5 rounds", { 1, 5, MIXED } },
    { "31 items, 1 round", { 31, 1, MIXED } },
    { "33 items, 3 rounds", { 33, 3, MIXED } },
    { "100 items, no round", { 100, 0, MIXED } },
    { "255 items, 8 rounds", { 255, 8, MIXED } },
    { "256 items, 7 rounds", { 256, 7, MIXED } },
    { "257 items, 9 rounds", { 257, 9, MIXED } },
    { "1000 items, 33 rounds, all of a kind", { 1000, 33, ALIKE } },
    { "2047 items, 10 rounds, in runs of 32", { 2047, 10, RUNS } },
    { "2048 items, 10 rounds", { 2048, 10, MIXED } },
    { "2049 items, 10 rounds, nine in ten of a kind", { 2049, 10, SKEWED } },
    { "4099 items, 100 rounds", { 4099, 100, MIXED } },
    { "8192 items, 11 rounds, all of a kind", { 8192, 11, ALIKE } },
    { "20,011 items, 5 rounds, nine in ten of a kind", { 20011, 5, SKEWED } },
    { "100,003 items, 4 rounds", { 100003, 4, MIXED } },
    { "300,007 items, 2 rounds, in runs of 32", { 300007, 2, RUNS } },
    { "mixed", { 131072, 32, MIXED }, TIMED, 0.60, many },
    { "skewed", { 131072, 32, SKEWED }, TIMED, 0.70, many },
    { "in runs of 32", { 131072, 32, RUNS }, CONTROL, 0, many },
    { 0 },
};

static void shape(const Case *c, Arrays *arrays)
{
    size_t n = (size_t) c->dim[0];

    arrays->in[STATE] = (Array){ U32, 1, n, { FILL_UNIFORM, 0, 0 }, NULL, .name = "state" };
    arrays->in[KIND] = (Array){ U8, 1, n, kinds[c->dim[2]], NULL, .name = "kind" };
    arrays->out[0] = (Array){ U32, 1, n, { FILL_UNIFORM, 0, 0 }, NULL };
}

static void truth(const Case *c, const Inputs *inputs, int out, size_t first, size_t count,
                  void *want, double *error)
{
    FillKey state = fill_key(inputs->seed, STATE), kind = fill_key(inputs->seed, KIND);
    uint32_t *to = want;

    (void) out;   /* there is only one */
    (void) error; /* integers are exact */
    fill_bits_of(state, first, 1, count, to);
    for (size_t i = 0; i < count; i++)
        to[i] = kind_advance(fill_i32(inputs->arrays->in[KIND].fill, kind, first + i), to[i],
                             (int) c->dim[1]);
}

static void call(void (*kernel)(void), const Case *c, const Arrays *arrays)
{
    AS(advance, kernel)
    (arrays->out[0].data, arrays->in[STATE].data, arrays->in[KIND].data, (int) c->dim[0],
     (int) c->dim[1]);
}

/* A state and a kind are read, a state is written. A step is one round of one item. */
static Work work(const Case *c)
{
    return (Work){ .bytes = 9.0 * (double) c->dim[0],
                   .steps = (double) c->dim[0] * (double) c->dim[1] };
}

/* Values count from 1, the orders above from 0. */
static bool set_order(long dim[LAB_DIMS], const Gpu *gpu, long value)
{
    (void) gpu;
    dim[2] = value - 1;
    return true;
}

const Lab lab_divergence = {
    .title = "warp divergence",
    .function = "advance",
    .cases = cases,
    .shape = shape,
    .truth = truth,
    .window = 128,
    .call = call,
    .work = work,
    /* The limit requires 20 active lanes of 32. Unsorted, 4.1 are active with mixed kinds and 9
     * with skewed ones; with queues of 256 items it is 22 and 16, with queues of 512 items 26 and
     * 22. */
    .mechanism = { { IDLE_LANES, 0, 1.6 } },
    .hints = {
        "A warp issues one instruction at a time, for all its lanes. Where lanes need different "
        "cases of the switch, it executes these cases one after the other, with the other lanes "
        "inactive. How many of the eight cases does a warp execute if the kinds of its 32 items are "
        "random?",
        "Thread i need not process item i. Let a block first sort its items by kind (shared memory, "
        "one counter per kind, one atomicAdd per item), and then give each warp items of one kind "
        "only. The result goes to out[item], whichever thread computed it.",
        "Shared count[KINDS] set to 0; barrier; slot = atomicAdd(&count[k], 1), queue[k][slot] = i; "
        "barrier; warp w serves queue w, 32 items at a time: this is enough for mixed kinds. For "
        "skewed kinds make the batch larger than the block (2048 items), round each kind up to "
        "whole runs of 32, and let any warp take any run.",
    },
    .remedies = {
        { "slow", .in = "skewed",
          .text = "Your kernel is slowest with skewed kinds: nine of ten items are of one kind. How "
                  "many passes do the other seven kinds take in a batch of your size, and how many "
                  "lanes are active in these? Which warp processes the frequent kind, and what do "
                  "the others do meanwhile? Must a kind belong to one warp?" },
        { "slow idle_lanes",
          "Take the items that lanes 0 to 31 of one warp work on at the same time, in your order. "
          "Write down their kinds. How many different kinds are there, and how many should there "
          "be?" },
        { "slow", .below = 0.20,
          .text = "As slow as the starter. How many of the eight loops does each warp still "
                  "execute, whether by branching or by computing all results and selecting one? How "
                  "many of a lane's operations belong to its own item?" },
        { "slow",
          "Items are sorted, but many lanes are still idle. How many lanes are active in the last "
          "pass of each queue, and how many passes does a queue of your length have? Does one run "
          "hold the ends of two queues?" },
        { "wrong first_call",
          "This case is right if it is the first one. What does your code keep from one call to the "
          "next: a static variable, a __device__ variable, a counter that is not cleared? Each call must begin from scratch." },
        { "wrong", .in = "all of a kind",
          .text = "All items are of one kind here. How long can a queue become, and how many items "
                  "does yours hold? Is it processed until it is empty?" },
        { "wrong", .in = "nine in ten",
          .text = "Most items are of one kind here. How long can a queue become, and how many "
                  "items does yours hold? Is it processed until it is empty?" },
        { "wrong tail unwritten",
          "The last items are missing. Which way did you round the number of blocks, and what "
          "happens to a batch that is not full?" },
        { "wrong unwritten",
          "Some items were never processed. Take the one that make grade names: which queue is it "
          "in, which warp processes that queue, and when does it stop?" },
        { "wrong",
          "Are the right numbers there, but in the wrong places? An item that is moved must "
          "remember where its result goes. If only the first case is right: which counter still "
          "holds values of the previous call? If the number of rounds is not a multiple of your "
          "step: what happens to the rest?" },
        { "unsafe race",
          "There are three phases: counters are cleared, items enter queues, queues are processed. "
          "Different warps take part in each. What separates one phase from the next?" },
        { "unsafe uninitialised",
          "Shared memory is not initialised. Which of your counters or slots is read before a "
          "thread has written it? Which thread should write it, and what makes the reader wait?" },
        { "unsafe barrier",
          "Not all threads of the block reach a barrier. Is it inside `if (i < n)`, after a return, "
          "or in a loop that some warps leave earlier? Put the condition around the work, not "
          "around the barrier." },
        { "unsafe shuffle",
          "The mask names lanes that never reach this operation. Which lanes are in that branch, in "
          "the last block?" },
        { "unsafe",
          "The last block has threads without an item. What do they read, and into which queue "
          "do they put it?" },
        { "stray",
          "Either the last block has threads without an item, or a queue gets more items than it "
          "has slots. What is the largest value of the index that you write to?" },
        { "crash",
          "Where do you use the kind or the slot as an index, and which value does a thread without "
          "an item use there?" },
        { "timeout",
          "Some threads wait forever: at a barrier that others never reach, or in a loop that does "
          "not notice when no run is left." },
    },
    .predictions = {
        { "passes_striped",
          "kind[i] = i % 8: how many cases of the switch does a warp of the starter execute?",
          8, 0, "Each kind has four lanes of every warp: eight passes, each with 4 active lanes." },
        { "passes_runs",
          "kind[i] = i / 32 % 8: how many now? There are as many items of each kind as before.",
          1, 0, "All 32 lanes need the same case. Divergence happens within a warp; what other "
                "warps do does not matter." },
        { "passes_random",
          "Kinds drawn at random: how many on average?",
          7.89, 0.4, "A kind is missing from a warp with probability (7/8)^32 = 1.4 %: 8 (1 - "
                     "(7/8)^32) = 7.89. That is close to the worst case." },
        { "lanes_busy",
          "So how many of the 32 lanes are active per instruction, on average?",
          4.06, 0.5, "32 items in 7.89 passes: 4.06 lanes. Profilers call this the active threads "
                     "per warp instruction." },
        { "share_256",
          "A block sorts its 256 items by kind, and each warp processes items of one kind. What "
          "share of the lanes is active then, from 0 to 1?",
          0.69, 0.08, "32 items of each kind on average, but rarely exactly 32: 33 take two "
                      "passes. 256 / (32 * sum of ceil(count / 32)) is 0.69; with 1024 items it is "
                      "0.89, with 2048 0.94. A queue's last pass is half empty on average, however "
                      "long the queue is." },
        { "parity_one_operation",
          "Two branches of one operation each, `if (i % 2) x += 3; else x ^= 5;`. By what factor is it "
          "slower than with (i / 32) % 2, in a kernel that reads and writes x?",
          1, 0.1, "No branch is left: the compiler computes both results and selects one. And the "
                  "kernel waits for memory anyway. Divergence costs as much as the work inside the "
                  "branches." },
    },
    .question = "A ray tracer's rays hit glass, metal or nothing; after each bounce a third of them end. "
                "Which of your queues would you keep between bounces, and what would you do about "
                "the lanes whose ray has ended? When is it not worth sorting at all?",
    .questions = {
        { "whole_warps",
          "if (threadIdx.x < 64) ... else ..., in one-dimensional blocks of 256 threads: how "
          "many of a block's 8 warps execute both branches?",
          0, 0,
          "Warps 0 and 1 take the first branch, the others the second. Divergence happens "
          "within a warp only." },
        { "unequal_loops",
          "In every warp half of the lanes run a loop 10 times and the others 40 times. How "
          "many of the 32 lanes are active in the loop, on average?",
          20, 0.2,
          "The warp makes 40 rounds: 10 with 32 lanes and 30 with 16. (10 * 32 + 30 * 16) / 40 "
          "= 20." },
        { "rays",
          "A third of all rays end after each bounce, at random. Without regrouping, how many "
          "of a warp's 32 rays are left after two bounces, on average?",
          14.2, 0.4,
          "32 * 2/3 * 2/3 = 14.2. The warp takes as long as with 32 rays, so regrouping pays "
          "if a bounce is long." },
        { 0 },
    },
    .profile = "lanes issue",
    .sweep = {
        .what = "order of the kinds",
        .set = set_order,
        .values = { 1 + MIXED, 1 + SKEWED, 1 + RUNS, 1 + ALIKE },
        .names = { "mixed", "nine in ten alike", "runs of 32", "all alike" },
    },
};
