/* Streams: three engines, and who waits for whom.
 *
 * The flaw leaves two of three engines idle: upload, kernel and download take turns. No cache can
 * recover that time. */
#include "kernel.h"

/* 64 MB each way: 1.2 ms over a link of 55 GB/s. */
enum { WORDS = 1 << 24, KEY = 0x5eed };

/* The number of rounds follows from `balance` (lab.h). */
static void far_too_much(long dim[LAB_DIMS], const Gpu *gpu, double scale)
{
    (void) gpu;
    dim[0] = (long) (WORDS * scale);
    dim[1] = dim[0] / 4;
    dim[2] = 0;
}

/* Without rounds the reference's call takes as long as copies in both directions at once, plus its
 * first and last chunk: 1.15 times one direction alone (draft kernels, H200, 2026-11-21). So
 * kernels that take 0.87 of that make three equal stages. The control's kernels take twelve times
 * as long, and overlap can save at most an eighth. With fewer words it would save more (with a
 * quarter of them, one stream reaches 0.79), since then a chunk's kernel does not fill the GPU.
 *
 * Unless n is small, there are more chunks than buffers, so that each buffer is used twice;
 * otherwise no race could show. */
static const Case cases[] = {
    { "1 word", { 1, 256, 3 } },
    { "255 words, all fit", { 255, 256, 5 } },
    { "257 words, one more than fits", { 257, 256, 5 } },
    { "1000 words, no rounds", { 1000, 256, 0 } },
    { "4096 words, a quarter fits", { 4096, 1024, 7 } },
    { "10,007 words, a prime, 300 fit", { 10007, 300, 2 } },
    { "33,333 words, 8333 fit", { 33333, 8333, 11 } },
    { "40,961 words, a prime, all fit", { 40961, 50000, 4 } },
    { "100,003 words, a prime, 25,000 fit", { 100003, 25000, 3 } },
    { "300,007 words, a prime, 65,537 fit", { 300007, 65537, 2 } },
    /* clang-format off */
    { "equal stages", { 1 << 18, 1 << 16, 8 }, TIMED, 0.80, far_too_much,
      .balance = 0.87, .balanced = 2 },
    { "kernels 12 times as long", { 1 << 18, 1 << 16, 64 }, CONTROL, 0, far_too_much,
      .balance = 12, .balanced = 2 },
    /* clang-format on */
    { 0 },
};

static void shape(const Case *c, Arrays *arrays)
{
    size_t n = (size_t) c->dim[0];
    Fill any = { FILL_UNIFORM, 0, 0 };

    arrays->in[0] = (Array){ U32, 1, n, any, NULL, .host = true };
    arrays->out[0] = (Array){ U32, 1, n, any, NULL, .host = true };
    arrays->scratch = (Array){ U32, 1, (size_t) c->dim[1], any, NULL, .name = "device" };
}

/* Rounds of one word depend on each other, so a CPU is faster with many words at a time. */
enum { SIDE = 64 };

static void encrypt_some(uint32_t words[SIDE], long rounds)
{
    uint32_t sum = 0;

    for (long r = 0; r < rounds; r++) {
        sum += 0x9e3779b9u;
        for (int j = 0; j < SIDE; j++)
            words[j] = encrypt_round(words[j], KEY ^ sum);
    }
}

static void truth(const Case *c, const Inputs *inputs, int out, size_t first, size_t count,
                  void *want, double *error)
{
    FillKey key = fill_key(inputs->seed, 0);
    uint32_t *to = want;

    (void) out;   /* there is only one */
    (void) error; /* integers are exact */
    for (size_t at = 0; at < count; at += SIDE) {
        uint32_t words[SIDE];
        fill_bits_of(key, first + at, 1, SIDE, words);
        encrypt_some(words, c->dim[2]);
        for (size_t j = 0; j < SIDE && at + j < count; j++)
            to[at + j] = words[j];
    }
}

static void call(void (*kernel)(void), const Case *c, const Arrays *arrays)
{
    AS(encrypt, kernel)
    (arrays->out[0].data, arrays->in[0].data, c->dim[0], arrays->scratch.data, c->dim[1], KEY,
     (int) c->dim[2]);
}

/* Every word goes up and comes down once. A round is six integer operations, counted as other
 * labs count additions and multiplications. */
static Work work(const Case *c)
{
    double n = (double) c->dim[0];

    return (Work){ .bytes = 2 * sizeof(uint32_t) * n, .flops = 6 * n * (double) c->dim[2] };
}

static bool set_buffer(long dim[LAB_DIMS], const Gpu *gpu, long value)
{
    (void) gpu;
    dim[1] = dim[0] / value;
    return dim[1] > 0;
}

const Lab lab_streams = {
    .title = "streams",
    .streams = true,
    .function = "encrypt",
    .cases = cases,
    .shape = shape,
    .truth = truth,
    .window = 128,
    .call = call,
    .work = work,
    .symbols = { "cudaMemcpyAsync", "cudaMemcpy", "cudaStreamCreate", "cudaStreamCreateWithFlags",
                 "cudaStreamDestroy", "cudaStreamSynchronize", "cudaStreamWaitEvent",
                 "cudaStreamQuery", "cudaEventCreate", "cudaEventCreateWithFlags",
                 "cudaEventRecord", "cudaEventDestroy", "cudaEventSynchronize", "cudaEventQuery",
                 "cudaDeviceSynchronize" },
    .hints = {
        "Draw three rows, upload, kernel and download, with time to the right. Draw what the "
        "starter does with its first four chunks. How much of the picture is empty, and what does "
        "each box wait for?",
        "Operations in one stream run in order; operations in different streams may overlap. So a "
        "chunk in flight needs its own stream and its own buffer on the device. How many chunks "
        "must be in flight for all three rows to be busy? And what protects a buffer when the next "
        "chunk uses it?",
        "B buffers of equal size in `device`; B streams, created once and kept. Chunk c: copy up, "
        "kernel, copy down, all three in stream[c % B], on buffer c % B. The stream's own order "
        "protects the buffer. Wait for all B streams once, at the end. Three buffers are enough to "
        "fill the rows; a few more absorb variation.",
    },
    .remedies = {
        { "slow idle_gpu",
          "The result is correct, but the host computed it: the GPU was idle. Begin with one "
          "chunk: copy it to `device`, let a kernel encrypt it there, copy it back." },
        { "slow", .below = 0.45,
          .text = "Everything still runs one after the other. What does your loop wait for before "
                  "it starts the next chunk's upload? Look for a synchronisation, for a copy "
                  "without Async, or for an operation in the default stream." },
        { "slow", .below = 0.75,
          .text = "About two of the three engines are busy at a time. How many chunks can be in "
                  "flight at once, and for how many stages does each hold its buffer? Or does "
                  "something make you wait once per chunk, although there are many streams?" },
        { "slow",
          "Nearly there. How long do the first upload and the last download take, while nothing "
          "else runs? How many chunks do you have, and what does each operation cost regardless of "
          "its size? warpbook calc overlap adds it up." },
        { "correct",
          "Speed was not judged, so draw it: three rows, your first six chunks. In which columns "
          "are all three rows busy? warpbook calc overlap computes what is possible with your "
          "chunks and buffers." },
        { "wrong tail unwritten",
          "The last words are missing. What happens to the words that do not fill a chunk? And are "
          "chunks beyond the number of buffers processed?" },
        { "wrong unwritten",
          "How much of each chunk has come back? All of it, or just a quarter? cudaMemcpyAsync "
          "counts in bytes. If whole chunks are missing: which ones, and where should your loop "
          "have copied them?" },
        { "wrong",
          "Perhaps two chunks in flight share a buffer, or the steps of one chunk are in different "
          "streams. Follow one buffer: what makes the next chunk's upload wait until the previous "
          "chunk's download has finished? A stream orders only its own operations." },
        { "unsafe returned",
          "Your function returned before all work was done. Which streams still have work at the "
          "end, and for which of them do you wait?" },
        { "unsafe uninitialised",
          "The kernel read words whose upload had not finished. In which streams are the upload and "
          "the kernel? The stream is the fourth argument of a launch, after blocks, threads and "
          "shared memory. And does the upload copy as many bytes as the kernel reads?" },
        { "unsafe race",
          "Two operations use one buffer, and nothing orders them. Which streams are they in? Two "
          "operations are ordered if they are in the same stream, or if one of them waits for an "
          "event after the other." },
        { "unsafe",
          "Look at the last chunk: how many words does it have, and how many does the kernel "
          "process?" },
        { "stray",
          "Your code wrote past the end of an array. The last chunk is shorter than the others; and "
          "B buffers of one chunk each, rounded up, must not exceed `capacity`." },
        { "crash launch",
          "How many blocks does the launch have for the shortest possible chunk? It must be at "
          "least one." },
        { "crash",
          "An invalid argument? Then check the limits: B chunks against `capacity`, the length of "
          "the last copy, and the direction of each copy (its last argument but the stream)." },
        { "build",
          "The refused call is named above. Use the device memory that you are given, `device`; "
          "you may create streams and events." },
        { "timeout",
          "Your code waits for something that never happens: an event that was never recorded, or a "
          "loop over chunks whose step can be 0 when capacity is small." },
    },
    .predictions = {
        { "serial",
          "Upload, kernel and download of all data take 1 each. How long do they take one after the "
          "other, chunk by chunk, in one stream?",
          3, 0, "The sum: 3. Cutting into chunks gains nothing as long as nothing overlaps." },
        { "chunks_4",
          "With 4 chunks, one buffer each, and all three engines overlapping: how long?",
          1.5, 0.01, "(4 + 2) / 4: the first chunk takes two stages before the last engine starts; "
                     "then one chunk finishes every 1/4." },
        { "chunks_16",
          "With 16 chunks?",
          1.125, 0.01, "(16 + 2) / 16. In general max + (sum - max) / chunks." },
        { "two_buffers",
          "Many chunks, but only two buffers, each reused when its download has finished: how long?",
          1.5, 0.05, "Two chunks in flight share three engines: each needs 3 stages, two at a time: "
                     "3 / 2. Double buffering is not enough for three stages." },
        { "pageable",
          "If `in` and `out` were ordinary memory, not pinned: how many of the three stages would "
          "run at a time, 3 or about 1?",
          1, 0, "The driver copies such memory through a pinned buffer of its own, and the call "
                "waits for that: almost nothing overlaps. In our draft kernels (H200, 2026-11-21) "
                "this took 2.6 times as long as the three stages one after the other with pinned "
                "memory." },
    },
    .question = "Your results are not words but one sum per chunk, 4 bytes, and the upload takes "
                "as long as before. Which of the three rows are left, how many buffers do you "
                "need, and how long does it take with 16 chunks if upload and kernel take 1 each?",
    .questions = {
        { "two_stages",
          "Your results are one sum per chunk, so the download takes no time. Upload and "
          "kernel take 1 each for all data. How long does it take with 16 chunks if both "
          "overlap?",
          1.0625, 0.006,
          "(16 + 1) / 16: the first chunk's upload, then 16 kernels of 1/16 each, each during "
          "the next upload." },
        { "two_buffers",
          "How many buffers does that pipeline need, so that neither engine waits for a free "
          "buffer?",
          2, 0,
          "While the kernel works on one chunk, the next one is uploaded: two chunks are in "
          "flight." },
        { 0 },
    },
    .sweep = {
        .what = "array size / device buffer size",
        .set = set_buffer,
        .values = { 1, 2, 4, 8, 16, 32 },
    },
};
