/* Scan: how often each element travels between the GPU and its memory. Compaction is the commonest
 * use of a scan: it says where each kept element goes. */
#include "kernel.h"

#include <float.h>

/* What a case's input holds. SUMS: small integers, whose sums are known without adding all of them;
 * LARGE: integers whose sums exceed 2^24, which a float cannot count. BELOW_0: their sums are
 * negative. The others are for COMPACT, and say which elements are above 0. */
enum { SUMS, LARGE, HALF, NONE, EVERY, FEW, BELOW_0 };

static const Fill fills[] = {
    [SUMS] = { FILL_SUMMED, 0, 0 },       [LARGE] = { FILL_RANGE, 0, 1 << 15 },
    [HALF] = { FILL_SIGNED, 0, 1 << 20 }, [NONE] = { FILL_RANGE, -1000, 1 },
    [EVERY] = { FILL_RANGE, 1, 1 << 20 }, [FEW] = { FILL_RANGE, -100000, 1000 },
    [BELOW_0] = { FILL_RANGE, -1000, 0 },
};

/* The input is twice as large as L2, so that a second pass reads it from DRAM again. */
static void long_array(long dim[LAB_DIMS], const Gpu *gpu, double scale)
{
    double n = (double) gpu->l2_bytes / 2 * scale, most = 1 << 29;

    dim[0] = (long) (n < most ? n : most);
}

static const Case cases[] = {
    { "1 element", { 1, SCAN, SUMS } },
    { "2 elements", { 2, SCAN, SUMS } },
    { "31, one less than a warp", { 31, SCAN, SUMS } },
    { "33, one more than a warp", { 33, SCAN, SUMS } },
    { "256", { 256, SCAN, SUMS } },
    { "257, two blocks of 256", { 257, SCAN, SUMS } },
    { "1023", { 1023, SCAN, SUMS } },
    { "1025", { 1025, SCAN, SUMS } },
    { "4099, a prime", { 4099, SCAN, SUMS } },
    { "30,011 elements below 0", { 30011, SCAN, BELOW_0 } },
    { "65,537 large elements: 257 blocks of 256", { 65537, SCAN, LARGE } },
    { "100,003, a prime", { 100003, SCAN, SUMS } },
    { "16,777,217, one more than a float can count", { 16777217, SCAN, SUMS } },
    { "compact: 1 element, not kept", { 1, COMPACT, NONE } },
    { "compact: 1 element, kept", { 1, COMPACT, EVERY } },
    { "compact: 33, half kept", { 33, COMPACT, HALF } },
    { "compact: 1000, half kept", { 1000, COMPACT, HALF } },
    { "compact: 4099, 1 % kept", { 4099, COMPACT, FEW } },
    { "compact: 30,011, none kept", { 30011, COMPACT, NONE } },
    { "compact: 65,536, all kept", { 65536, COMPACT, EVERY } },
    { "compact: 100,003, half kept", { 100003, COMPACT, HALF } },
    { "long", { 1 << 20, SCAN, SUMS }, TIMED, 0.80, long_array },
    { "compact: long", { 1 << 20, COMPACT, HALF }, TIMED, 0.80, long_array },
    { "a single block: 256", { 256, SCAN, SUMS }, CONTROL, .stays_short = true },
    { 0 },
};

static bool compacts(const Case *c)
{
    return c->dim[1] == COMPACT;
}

static void shape(const Case *c, Arrays *arrays)
{
    size_t n = (size_t) c->dim[0];
    Fill any = { FILL_RANGE, INT32_MIN, INT32_MAX };

    arrays->in[0] = (Array){ I32, 1, n, fills[c->dim[2]], NULL };
    arrays->out[0] = (Array){ I32, 1, n, any, NULL };
    if (compacts(c))
        arrays->out[1] = (Array){ I32, 1, 1, any, NULL, .name = "kept" };
    arrays->scratch = (Array){ I32, 1, n + n / 128 + 1024, any, NULL };
}

/* ---- The correct answer: a walk through the input, chunk by chunk ---- */

typedef struct Walk {
    size_t n, at;   /* elements of the input; those passed */
    size_t written; /* elements of the output up to there */
    int32_t sum;
    bool compacts, summed;
    Fill fill;
    FillKey key;
    int32_t chunk[FILL_CHUNK]; /* the elements of the chunk that contains `at` */
} Walk;

static Walk begin(const Case *c, const Inputs *inputs)
{
    return (Walk){ .n = (size_t) c->dim[0],
                   .compacts = compacts(c),
                   .summed = c->dim[2] == SUMS,
                   .fill = inputs->arrays->in[0].fill,
                   .key = fill_key(inputs->seed, 0) };
}

static size_t chunk_size(const Walk *w)
{
    return w->n - w->at < FILL_CHUNK ? w->n - w->at : FILL_CHUNK;
}

/* Puts the signs of the chunk at `at` into the words of its elements. */
static void sign_chunk(const Walk *w, uint32_t bits[FILL_CHUNK])
{
    const uint32_t chunk_bits = fill_chunk_bits(w->key, w->at / FILL_CHUNK);

    for (size_t i = 0; i < chunk_size(w); i++)
        bits[i] = fill_sign(bits[i], chunk_bits, i);
}

/* `at` is the first element of a chunk. */
static void load_chunk(Walk *w)
{
    size_t count = chunk_size(w);
    uint32_t bits[FILL_CHUNK];
    int32_t sum = 0;

    fill_bits_of(w->key, w->at, 1, count, bits);
    if (w->fill.kind == FILL_SIGNED)
        sign_chunk(w, bits);
    for (size_t i = 0; i < count; i++)
        w->chunk[i] = w->summed ? fill_small_of(bits[i]) : fill_i32_of(w->fill, bits[i]);
    if (!w->summed || count < FILL_CHUNK)
        return;
    for (size_t i = 0; i < FILL_CHUNK - 1; i++)
        sum += w->chunk[i];
    w->chunk[FILL_CHUNK - 1] = fill_chunk_sum(w->key, w->at / FILL_CHUNK) - sum;
}

/* The number of elements above 0 in the chunk at `at`. In long arrays its hash says so. */
static size_t count_kept(const Walk *w)
{
    Walk here;
    size_t kept = 0;

    if (w->fill.kind == FILL_SIGNED && chunk_size(w) == FILL_CHUNK)
        return fill_chunk_positive(fill_chunk_bits(w->key, w->at / FILL_CHUNK));
    here = *w;
    load_chunk(&here);
    for (size_t i = 0; i < chunk_size(w); i++)
        kept += here.chunk[i] > 0;
    return kept;
}

/* Passes all whole chunks that end before element `first` of the output. */
static void skip_chunks(Walk *w, size_t first)
{
    while (w->at < w->n) {
        size_t count = chunk_size(w), written = w->compacts ? count_kept(w) : count;
        if (w->written + written > first)
            return;
        if (w->summed && count == FILL_CHUNK) {
            w->sum += fill_chunk_sum(w->key, w->at / FILL_CHUNK);
        } else if (!w->compacts) {
            load_chunk(w);
            for (size_t i = 0; i < count; i++)
                w->sum += w->chunk[i];
        }
        w->at += count;
        w->written += written;
    }
}

/* The next element of the output; false after the last one. */
static bool next_output(Walk *w, int32_t *value)
{
    while (w->at < w->n) {
        if (w->at % FILL_CHUNK == 0)
            load_chunk(w);
        int32_t element = w->chunk[w->at++ % FILL_CHUNK];
        if (w->compacts && element <= 0)
            continue;
        *value = w->compacts ? element : (w->sum += element);
        w->written++;
        return true;
    }
    return false;
}

/* Elements of `out` after the kept ones may hold anything: any distance is allowed. */
static void truth(const Case *c, const Inputs *inputs, int out, size_t first, size_t count,
                  void *want, double *error)
{
    Walk w = begin(c, inputs);
    int32_t *to = want, value = 0;
    bool more = true;

    skip_chunks(&w, out == 1 ? w.n : first);
    if (out == 1) { /* the number of kept elements */
        *to = (int32_t) w.written;
        return;
    }
    while (more && w.written < first)
        more = next_output(&w, &value);
    for (size_t i = 0; i < count; i++) {
        more = more && next_output(&w, &value);
        to[i] = more ? value : 0;
        error[i] = more ? 0 : DBL_MAX;
    }
}

/* As truth, in one walk. */
static bool check(const Case *c, const Inputs *inputs, int out, const void *got, size_t *first,
                  size_t *count)
{
    Walk w = begin(c, inputs);
    const int32_t *is = got;
    int32_t value;

    (void) out; /* only out[0] is large */
    while (next_output(&w, &value))
        if (is[w.written - 1] != value) {
            *first = w.written - 1;
            *count = w.n - *first < FILL_CHUNK ? w.n - *first : FILL_CHUNK;
            return false;
        }
    return true;
}

static void call(void (*kernel)(void), const Case *c, const Arrays *arrays)
{
    AS(scan, kernel)
    (arrays->out[0].data, compacts(c) ? arrays->out[1].data : NULL, arrays->in[0].data, c->dim[0],
     (int) c->dim[1], arrays->scratch.data, (long) arrays->scratch.cols);
}

/* Every element is read once. A scan writes as many; COMPACT is timed with half of them kept. */
static Work work(const Case *c)
{
    double n = (double) c->dim[0];

    return (Work){ .bytes = sizeof(int) * n * (compacts(c) ? 1.5 : 2), .flops = n - 1 };
}

static bool set_elements(long dim[LAB_DIMS], const Gpu *gpu, long value)
{
    const long timed = dim[0];

    (void) gpu;
    dim[0] = value;
    return value <= 2 * timed;
}

const Lab lab_scan = {
    .title = "scan and compaction",
    .further = true,
    .function = "scan",
    .cases = cases,
    .shape = shape,
    .truth = truth,
    .check = check,
    .call = call,
    .work = work,
    /* A single pass reads and writes once; rungs 1 to 4 write twice, rung 5 reads twice. Rungs 1
     * and 2 take 9 barriers or more per 32 elements; rung 3, with one element per thread, takes 1. */
    .mechanism = { { SECTORS_READ, 0, 1.15 }, { SECTORS_WRITTEN, 0, 1.15 }, { WARP_BARRIERS, 0, 2 } },
    .hints = {
        "Follow one element through all launches of the starter. How often is it read from memory, "
        "how often is it written? How many bytes is that per element, and how many must it be? Then "
        "count the barriers per 256 elements.",
        "Make a block's scan cheap first: 16 elements per thread in registers, shuffles within a "
        "warp, one value per warp in shared memory. Neighbouring lanes must still load and store "
        "neighbours: let the tile change its order in shared memory, or let a warp take it in runs "
        "of 128 elements, one int4 per lane, and add the sum of earlier runs to each. Then save trips to memory. If a block only knew "
        "the sum of everything before its tile, it could write its results at once. It must learn "
        "that sum from the blocks before it, in the same launch.",
        "Give each tile a 64-bit word in scratch: a kind and a sum. As soon as a block knows its "
        "own sum, it publishes (OWN, sum). Then it walks back over the words of the tiles before "
        "it, waits for each that still says NOTHING, and adds the sums up until it meets one of "
        "kind ALL. It then publishes (ALL, sum of everything up to its end) and writes. Draw the "
        "tile's number from a counter, use `volatile` words, clear words and counter in a small "
        "launch before, and let 32 lanes look back at 32 words at a time.",
    },
    .remedies = {
        { "slow sectors_written",
          "At the line that was named: how many places apart do neighbouring lanes store? If they "
          "are far apart, a store touches up to 32 sectors: in which memory could a block put its "
          "results, or what it keeps, in order first? If they are neighbours, elements are written "
          "more often than necessary: what would the first launch have to know to write the final "
          "results?" },
        { "slow sectors_read",
          "At the line that was named: how many elements apart do neighbouring lanes read? If they "
          "are far apart, the lesson says how a block gets 16 elements per thread in contiguous "
          "pieces. If they are neighbours, an array is read more than once: if one launch reads "
          "it for the sums and another for the scan, could the block that has the tile in its "
          "registers wait for the sum of the tiles before it?" },
        { "slow warp_barriers",
          "That is a lot of waiting for so few elements. How many values does a warp need to "
          "exchange through shared memory if its lanes scan among themselves by shuffles? How many "
          "elements has each thread when the block reaches its first barrier?" },
        { "slow", .in = "compact", .below = 0.50,
          .text = "The compaction is the slower case. Which arrays does it write and read that no "
                  "student would need on paper: flags, positions? A block that has a tile in its "
                  "registers can count what it keeps, learn where its part begins, and store it." },
        { "slow", .below = 0.30,
          .text = "Most of the time goes into the scan of a block. How many rounds and barriers "
                  "does it take for 1 KB, and how many elements could a thread add up by itself "
                  "before it talks to others?" },
        { "slow", .below = 0.75,
          .text = "The blocks' scans are cheap now, and memory is busy. But with how many bytes per "
                  "element? 16 is half the speed, 12 is two thirds. Only a single pass has 8." },
        { "slow",
          "Does make explain say that instructions take the time? Then load and store four "
          "elements at once (int4), and compute and check an index once per piece. Else, on a GPU, "
          "blocks of a single pass wait for each other: does a block publish its own sum before "
          "it begins to wait? How many tiles does it look at per trip to memory: one, or one per "
          "lane? How many bytes does a tile have?" },
        { "correct",
          "Speed was not judged here. Count on paper how often each element is read and written in "
          "all launches together; a single pass has one of each." },
        { "wrong first_call",
          "This case is right if it is the first one. What does your code keep from one call to the "
          "next: tile states, a ticket counter, a static variable? Each call must find them ready." },
        { "wrong unwritten",
          "Some elements of the output were never written. Which tile do they belong to, and which "
          "threads store the last, incomplete tile? In a compaction: is *kept written if nothing is "
          "kept?" },
        { "wrong", .in = "compact",
          .text = "Draw eight elements, mark those above 0, and write the inclusive scan of the "
                  "marks below them. Element i goes to which place: scan[i], or one less? If only "
                  "the order is wrong: does an atomic hand out the places?" },
        { "wrong", .in = "below 0",
          .text = "Every sum is negative here. Where an int becomes part of a wider word, its sign "
                  "fills all higher bits: what does that do to a kind in the high half? If no word "
                  "holds two things: does a sum pass through an unsigned number?" },
        { "wrong", .in = "large elements",
          .text = "The sums exceed 2^24 or 2^16 here. Does a sum pass through a float or a short? "
                  "And 257 blocks of 256 have more sums than one block can scan: what scans those?" },
        { "wrong", .in = "16,777,217",
          .text = "A count or an index is a float or has 16 bits somewhere; or a level of sums is "
                  "missing: 65,537 blocks of 256 have 257 sums of 256 sums." },
        { "wrong offset",
          "All wrong elements are off by the same number. Which sum is it: that of the block before, "
          "or the element itself? An exclusive scan lacks the element; a block that starts a tile "
          "must add the sum of all tiles before it, once." },
        { "wrong",
          "Take the first wrong element. Is it the first of a thread, a warp, a block or a tile? "
          "Then the sum of the part before is missing or was added twice there. If it is inside a "
          "warp: which lanes add, and from which value of their neighbour?" },
        { "unsafe race",
          "Inside a block: a round reads values that another thread of the same round overwrites. "
          "Use two arrays in turn, or a barrier between reading and writing. Between blocks: a "
          "block reads a sum while another writes it. Put kind and sum into one 64-bit word that is "
          "read and written as a whole; a sum in a word of its own needs a fence." },
        { "unsafe barrier",
          "Only some of the block's threads reach the barrier. All of them must, also those without "
          "an element and those that do not look back." },
        { "unsafe shuffle",
          "A lane reads from a lane that does not take part. Let all 32 lanes call the shuffle, and "
          "decide afterwards which of them use the result." },
        { "unsafe uninitialised",
          "Your kernel reads a location that was never written in this call. Scratch and shared "
          "memory start with garbage: who clears the states and the counter, and in which launch?" },
        { "unsafe",
          "A thread reads past the end of an array. The last tile is incomplete: does each load "
          "check its own index, also the second to fourth element of an int4?" },
        { "stray input", "`in` is an input and must not change. Positions and sums go to scratch." },
        { "stray",
          "A store outside its array. In a compaction: is a place counted from 0? Otherwise: how "
          "many sums, states or positions does scratch have room for when n is small?" },
        { "crash launch",
          "How many blocks and threads does your launch have for 1 element, and for 16,777,217? "
          "Both must be at least 1, and a block has at most 1024 threads." },
        { "crash misaligned",
          "An int4 needs an index that is a multiple of 4, and a 64-bit word an even one. Where in "
          "scratch does each of your arrays begin?" },
        { "crash", "Take the largest index that the failing size gives. Does its type hold it?" },
        { "timeout",
          "A block waits for a block that never runs: nothing guarantees that block 0 starts before "
          "block 1. If the number of the tile is drawn from a counter, every earlier tile has a "
          "block already. Otherwise: does every path publish a state, also for tile 0 and for the "
          "last one?" },
    },
    .predictions = {
        { "additions_rounds",
          "How many additions does Hillis and Steele's scan of 8 elements take, all rounds together?",
          17, 0, "7 + 6 + 4: in the round with distance s, the 8 - s elements from s on add one. A "
                 "sequential scan takes 7." },
        { "additions_sweeps",
          "How many does Blelloch's scan of 8 elements take, up and down together?",
          14, 0, "4 + 2 + 1 up, 1 + 2 + 4 down: 2 (n - 1) for any n, but twice as many rounds." },
        { "barriers",
          "How often does a block of the starter wait at a barrier, for its 256 elements?",
          9, 0, "Once after filling and once in each of log2(256) = 8 rounds." },
        { "bytes_starter",
          "How many bytes per element does the starter move in all launches of a scan? Ignore the "
          "sums of blocks.",
          16, 0, "It reads and writes 4 bytes in scan_blocks and again in add_before. A scan has to "
                 "read 4 and write 4." },
        { "bytes_sums_first",
          "A first launch only computes each tile's sum, a last one scans again and writes the final "
          "results. How many bytes per element are that?",
          12, 0, "4 read for the sums, 4 read and 4 written in the end. At most 8 / 12 = 0.67 of the "
                 "speed of a single pass." },
        { "chain_ms",
          "2^28 elements in tiles of 4096; each tile waits until the one before it is finished, and "
          "each such step takes 1 microsecond. How many milliseconds is that?",
          65.5, 1, "65,536 steps, one after the other. An H200 reads and writes the 2 GiB in less "
                   "than a millisecond. So a tile must not wait for a finished neighbour." },
        { "bytes_compact",
          "Half of the elements are kept. How many bytes per element does a compaction in a single "
          "pass move?",
          6, 0, "4 read, and 4 written for every second element." },
    },
    .question = "A radix sort by 4 bits per pass needs, for each of 16 digits, the place where its "
                "keys begin, and the rank of each key among those with the same digit. Which of the "
                "two is a scan, and of what? What would a single pass publish per tile?",
    .questions = {
        { "operator",
          "Which operation can replace the addition in your kernel, with another starting value?",
          2, 0,
          "A scan needs an associative operation, because tiles are combined in groups. The maximum "
          "is associative; (a - b) - c differs from a - (b - c), and a mean of means is not the mean.",
          { "subtraction", "maximum", "the mean of two values" } },
        { "sort_passes",
          "A radix sort of 32-bit keys takes 4 bits per pass, and each pass reads and writes all "
          "keys. How many passes are that?",
          8, 0, "32 / 4 = 8. With 8 bits per pass it would be 4, but each tile publishes 256 counts." },
        { "rare_bytes",
          "A filter keeps one element in 100. How many bytes per element must a compaction move?",
          4.04, 0.005,
          "4 read and 0.04 written. Rare elements make the scan nearly free to write: reading is all." },
        { 0 },
    },
    .not_modelled = "Not modelled here: how long one block waits for another. A chain of "
                    "tiles would pass, too, and be far slower on a GPU.",
    .profile = "loads stores barriers waits",
    .sweep = {
        .what = "elements",
        .set = set_elements,
        .values = { 1 << 10, 1 << 13, 1 << 16, 1 << 18, 1 << 20, 1 << 22, 1 << 24, 1 << 26,
                    1 << 28 },
    },
};
