/* Divergence: which items share a warp. */
#include "kernel.h"

#include <stddef.h>

/* A case is n, rounds, and how the kinds lie: */
enum { MIXED, SKEWED, RUNS, ALIKE };
enum { STATE, KIND };

static const Fill kinds[] = {
    [MIXED] = { FILL_RANGE, 0, KINDS },
    [SKEWED] = { FILL_SKEWED, 0, KINDS },
    [RUNS] = { FILL_RUNS, 0, KINDS },
    [ALIKE] = { FILL_RANGE, 5, 6 },
};

enum { ITEMS_AN_SM = 16384, ROUNDS_AN_SM = 4, ROUNDS_LEAST = 32, ROUNDS_MOST = 512 };

/* Eight items for each of 2048 threads an SM. Each takes hundreds of operations that wait for each
 * other, on 9 bytes: memory is idle, and no cache has anything to give back. */
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

/* A state and a kind are read, a state is written. */
static Work work(const Case *c)
{
    return (Work){ .bytes = 9.0 * (double) c->dim[0] };
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
    /* 20 lanes of 32: 4.1 are at work where kinds are mixed, 9 where they are skewed; queues of 256
     * items leave 22 and 16, and of 512 items 26 and 22. */
    .mechanism = { { IDLE_LANES, 0, 1.6 } },
    .hints = {
        "A warp starts one instruction at a time, for all of its lanes: where they want different cases of "
        "the switch, it walks through each of those with the other lanes switched off. How many of the "
        "eight does a warp need if 32 kinds are drawn at random?",
        "Nobody says that thread i must do item i. Let a block first find out which of its items are of "
        "which kind (shared memory, a counter a kind, one atomicAdd an item), and then give each warp "
        "items of one kind only. Results go to out[item], wherever the item was worked on.",
        "Shared count[KINDS] set to 0; barrier; slot = atomicAdd(&count[k], 1), queue[k][slot] = i; "
        "barrier; warp w serves queue w, 32 items at a time: enough for mixed kinds. For skewed ones make "
        "the batch larger than the block, 2048 items, round each kind up to whole runs of 32, and let any "
        "warp take any run.",
    },
    .remedies = {
        { "slow", .in = "skewed",
          .text = "Skewed kinds are what you are slowest at: nine of ten items are of one kind. "
                  "How many passes do the other seven take in a batch of your size, and how many "
                  "of the lanes work in those? And which of your warps has the frequent kind, "
                  "while the others do what? Must a kind belong to one warp?" },
        { "slow idle_lanes",
          "Take the items that lanes 0 to 31 of one warp work on at the same time, in your "
          "order. Write down their kinds. How many different ones are there, and how many would "
          "you like?" },
        { "slow", .below = 0.20,
          .text = "As slow as the starter. For each warp, how many of the eight kinds' loops "
                  "are still executed, whether by a branch or by computing all and choosing? "
                  "How many of the operations that a lane does count for its own item?" },
        { "slow",
          "Items are sorted, and many lanes still have nothing to do. How many lanes does the "
          "last pass of each queue use, and how many passes has a queue of your length? Are the "
          "queues' ends shared by two kinds?" },
        { "wrong", .in = "all of a kind",
          .text = "All items are of one kind here. How long is the longest queue that can come, "
                  "and how long is yours? Is it served until it is empty?" },
        { "wrong", .in = "nine in ten",
          .text = "Most items are of one kind here. How long is the longest queue that can "
                  "come, and how long is yours? Is it served until it is empty?" },
        { "wrong tail unwritten",
          "The last items are missing. Which way did you round the number of blocks, and what "
          "becomes of a batch that is not full?" },
        { "wrong unwritten",
          "Somebody's items were never done. Take the one that make grade names: which queue is "
          "it in, which warp serves that, and until when?" },
        { "wrong",
          "Are all the right numbers there, at other places? An item that is moved must take "
          "along where its result goes. If only the first case is right: what is counted on "
          "from the last call? If rounds are no multiple of something: what becomes of the rest?" },
        { "unsafe race",
          "Three things happen one after the other: counters are cleared, items are counted "
          "into queues, queues are served. Different warps do them. What stands between each "
          "two?" },
        { "unsafe uninitialised",
          "Shared memory begins with whatever lies there. Which of your counters or slots is "
          "read before anyone has written it? Who should have, and what makes the reader wait "
          "for that?" },
        { "unsafe barrier",
          "Not all threads of the block come to a barrier. Is it inside `if (i < n)`, or behind "
          "a return, or in a loop that some warps leave earlier? Put the question round the "
          "work, not round the barrier." },
        { "unsafe shuffle",
          "The mask names lanes that never come. Which lanes are in that branch, in the last "
          "block?" },
        { "unsafe",
          "The last block has threads without an item. What do they read, and into which queue "
          "do they put it?" },
        { "stray",
          "The last block has threads without an item, or a queue more slots than it has room "
          "for. Take the index that is written: what is the most that it can be?" },
        { "crash",
          "Look at what the kind or the slot is used for as an index, and what a thread without "
          "an item uses there." },
        { "timeout",
          "Somebody waits for ever: a barrier that some threads never come to, or a loop that "
          "takes runs until none is left, and never learns that." },
    },
    .predictions = {
        { "passes_striped",
          "kind[i] = i % 8: through how many cases of the switch does a warp of the starter walk?",
          8, 0, "Each kind has four lanes of every warp: eight passes, each with 4 lanes at work." },
        { "passes_runs",
          "kind[i] = i / 32 % 8: how many now? There are as many items of each kind as before.",
          1, 0, "All 32 lanes want the same case. Divergence happens within a warp; what the next warp "
                "does is of no importance." },
        { "passes_random",
          "Kinds drawn at random: how many on average?",
          7.89, 0.4, "A kind is missing from a warp with a chance of (7/8)^32 = 1.4 %: "
                     "8 (1 - (7/8)^32) = 7.89. The flaw is nearly as bad as can be." },
        { "lanes_busy",
          "So how many of the 32 lanes work in an instruction, on average?",
          4.06, 0.5, "32 items in 7.89 passes: 4.06 lanes. A profiler calls it active threads for each "
                     "warp instruction." },
        { "share_256",
          "A block sorts its 256 items by kind, and warps of one kind each serve them. What share of the "
          "lanes works then, from 0 to 1?",
          0.69, 0.08, "32 items of each kind on average, but seldom just 32: 33 take two passes. "
                      "256 / (32 * sum of ceil(count / 32)) is 0.69; with 1024 items it is 0.89, with "
                      "2048 0.94. A queue's last pass is half empty, however long the queue is." },
        { "parity_one_operation",
          "Two branches of one operation each, `if (i % 2) x += 3; else x ^= 5;`. By what factor is it "
          "slower than with (i / 32) % 2, in a kernel that reads and writes x?",
          1, 0.1, "No branch is left: the compiler computes both and selects. And memory is waited for "
                  "anyway. Divergence costs what the branches hold." },
    },
    .question = "A ray tracer's rays hit glass, metal or nothing; after each bounce a third of them end. "
                "Which of your queues would you keep between bounces, and what would you do about "
                "the lanes whose ray has ended? When is it not worth sorting at all?",
};
