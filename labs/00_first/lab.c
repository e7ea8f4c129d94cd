/* First: a copy. Which thread does what, what if there is no such element, what if it fails. */
#include "kernel.h"

/* Both arrays together 8 L2: what is written comes from DRAM and goes to DRAM. */
static void large(long dim[LAB_DIMS], const Gpu *gpu, double scale)
{
    dim[0] = (long) ((double) gpu->l2_bytes * scale);
}

static const Case cases[] = {
    { "1", { 1 } },
    { "2", { 2 } },
    { "3, less than a float4", { 3 } },
    { "31, one less than a warp", { 31 } },
    { "255, one less than a block", { 255 } },
    { "256, one block", { 256 } },
    { "257, one more than a block", { 257 } },
    { "1000", { 1000 } },
    { "1023", { 1023 } },
    { "1025", { 1025 } },
    { "4093, a prime", { 4093 } },
    { "65,537", { 65537 } },
    { "1,000,003, more than 1024 blocks", { 1000003 } },
    { "16,777,219, more than all threads at once", { 16777219 } },
    { "large", { 1 << 24 }, CONTROL, 0, large },
    { "small", { 1 << 16 }, CONTROL },
    { 0 },
};

static void shape(const Case *c, Arrays *arrays)
{
    size_t n = (size_t) c->dim[0];

    arrays->in[0] = (Array){ F32, 1, n, { FILL_UNIFORM, 0, 0 }, NULL };
    arrays->out[0] = (Array){ F32, 1, n, { FILL_UNIFORM, 0, 0 }, NULL };
}

static void truth(const Case *c, const Inputs *inputs, int out, size_t first, size_t count,
                  void *want, double *error)
{
    Fill fill = inputs->arrays->in[0].fill;
    FillKey key = fill_key(inputs->seed, 0);
    float *to = want;

    (void) c;
    (void) out;   /* there is only one */
    (void) error; /* a copy is exact */
    fill_f32s(fill, key, first, 1, count, to);
}

static void call(void (*kernel)(void), const Case *c, const Arrays *arrays)
{
    AS(copy, kernel)(arrays->out[0].data, arrays->in[0].data, c->dim[0]);
}

/* Every element is read once and written once. */
static Work work(const Case *c)
{
    return (Work){ .bytes = 2.0 * sizeof(float) * (double) c->dim[0] };
}

const Lab lab_first = {
    .title = "a first kernel: copy",
    .unmarked = true,
    .function = "copy",
    .cases = cases,
    .shape = shape,
    .truth = truth,
    .call = call,
    .work = work,
    .hints = {
        "Say it for one thread: which block is it in, how many threads have the blocks before that "
        "one, and which of its own block's threads is it? Then: what must a thread do whose number "
        "is n or more?",
        "The number is blockIdx.x * blockDim.x + threadIdx.x, and a thread with a number below n "
        "copies that one element; the others do nothing. n / BLOCK blocks are one too few whenever "
        "n is no multiple of BLOCK. The three words are 32 bits wide, n is not.",
        "long i = (long) blockIdx.x * blockDim.x + threadIdx.x; if (i < n) out[i] = in[i]; launched "
        "with (n + BLOCK - 1) / BLOCK blocks; then CUDA_CHECK(cudaGetLastError()). If all of this "
        "stands and it is still wrong, read the case that make grade names.",
    },
    .remedies = {
        { "wrong tail unwritten",
          "From which element on is it missing? If that is a multiple of your block's size: how "
          "many blocks are launched, and what tells one block's threads from another's? If it "
          "is the last few only: which way does n / BLOCK round?" },
        { "wrong shifted",
          "Every element holds its neighbour's value. Write down, for thread 0 of block 0, "
          "which element it reads and which it writes." },
        { "wrong unwritten",
          "Nobody has written there. Did the launch succeed? A launch that fails says nothing "
          "unless it is asked: TODO 4. If it did succeed, which thread should have done the "
          "element that make grade names?" },
        { "wrong",
          "Take the element that make grade names. Which block's, and which thread's of it, "
          "should it be? What does your code compute for that thread? If the first case is "
          "right and all others are wrong: what is kept from one call to the next?" },
        { "stray input",
          "`in` was written to. Read the copy aloud: what is on the left of the =, and in which "
          "order does the launch hand over out and in?" },
        { "stray",
          "A thread worked on an element that is not there. With n = 1000 and blocks of 256, "
          "which threads have a number of 1000 or more, and what keeps them from writing? Is "
          "there an element 1000?" },
        { "unsafe out_of_bounds",
          "A thread touched an element that is not there. With n = 1000 and blocks of 256, "
          "which threads have a number of 1000 or more, and what do they do?" },
        { "crash launch",
          "The GPU refused the launch: it has run nothing. Between <<< and >>> stand the "
          "blocks, then the threads of a block. What is the most that the second may be, and "
          "how large can each become with your formula? Can one be 0?" },
        { "crash misaligned",
          "An access of 16 bytes wants an address that is a multiple of 16. Of which elements "
          "of an array of floats is that true?" },
        { "crash illegal",
          "A thread followed a wild address. Does it happen with a single element, too? Then it "
          "is the pointer. If only with many: is the product of block number and block size "
          "computed in a type that is wide enough?" },
        { "crash",
          "Which of your lines run on the host, and which on the GPU? `out` and `in` mean "
          "something only on one of the two." },
        { "timeout",
          "Which loop does not end? Look at what its variable is compared with, and whether its "
          "type can ever get there." },
        { "build",
          "The line that is named above all is yours, the rest follows from it. If it is a call "
          "that a lab may not use: the copying is what you are asked to write." },
    },
    .predictions = {
        { "blocks",
          "How many blocks of 256 threads does a copy of 1000 floats need, at one thread an element?",
          4, 0, "Three blocks are 768 threads: too few. In C (1000 + 255) / 256 is 4: 1000 / 256, "
                "rounded up." },
        { "idle",
          "How many of their threads have nothing to do?",
          24, 0, "4 * 256 - 1000. These 24 are why every kernel checks its bounds." },
        { "bytes",
          "How many bytes must cross the memory's pins for a copy of 1,000,000 floats?",
          8e6, 0, "4,000,000 are read and 4,000,000 are written: both count." },
        { "gbps",
          "A copy of 100,000,000 floats takes 0.4 ms. How many GB/s is that?",
          2000, 1, "8e8 bytes in 4e-4 s are 2e12 bytes a second. GB are 10^9 bytes here, as in data "
                   "sheets." },
    },
    .question = "y[i] = a * x[i] + y[i], for n floats: how many bytes must move for one i, and how long "
                "does n = 100,000,000 take at the rate that you have just measured? What would a "
                "second addition an element cost?",
};
