/* First: a copy. Which thread does what, the bounds check, the error check. */
#include "kernel.h"

/* Both arrays together are 8 times as large as L2, so every access goes to DRAM. */
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

static bool set_elements(long dim[LAB_DIMS], const Gpu *gpu, long value)
{
    const long large = dim[0];

    (void) gpu;
    dim[0] = value;
    return value <= 2 * large;
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
        "Take one thread: which block is it in, how many threads are in the blocks before that one, "
        "and which thread of its own block is it? Then: what must a thread do if its number is n or "
        "more?",
        "The number is blockIdx.x * blockDim.x + threadIdx.x, and a thread with a number below n "
        "copies that one element; the others do nothing. n / BLOCK blocks are one too few whenever "
        "n is not a multiple of BLOCK. These three variables are 32 bits wide; n has 64 bits.",
        "long i = (long) blockIdx.x * blockDim.x + threadIdx.x; if (i < n) out[i] = in[i]; launched "
        "with (n + BLOCK - 1) / BLOCK blocks; then CUDA_CHECK(cudaGetLastError()). If your kernel "
        "has all of this and is still wrong, look at the case that make grade names.",
    },
    .remedies = {
        { "wrong first_call",
          "This case is right if it is the first one. What does your code keep from one call to the "
          "next: a static variable, a __device__ variable? Each call must begin from scratch." },
        { "wrong tail unwritten",
          "From which element on is the output missing? If that is a multiple of your block's "
          "size: how many blocks are launched, and what distinguishes the threads of one block "
          "from those of another? If only the last few are missing: which way does n / BLOCK "
          "round?" },
        { "wrong shifted",
          "Every element holds its neighbour's value. Write down, for thread 0 of block 0, "
          "which element it reads and which it writes." },
        { "wrong unwritten",
          "No thread has written there. Did the launch succeed? A failed launch reports nothing "
          "unless you check for errors: TODO 4. If the launch succeeded, which thread should have "
          "written the element that make grade names?" },
        { "wrong",
          "Take the element that make grade names. Which thread of which block should write it? "
          "What does your code compute for that thread? If the first case is right and all others "
          "are wrong: what does your code keep from one call to the next?" },
        { "stray input",
          "Your kernel wrote to `in`. Look at the copy: what is on the left of the =, and in which "
          "order does the launch pass out and in?" },
        { "stray",
          "A thread wrote an element that does not exist. With n = 1000 and blocks of 256, which "
          "threads have a number of 1000 or more, and what keeps them from writing? Is there an "
          "element 1000?" },
        { "unsafe out_of_bounds",
          "A thread read or wrote an element that does not exist. With n = 1000 and blocks of 256, "
          "which threads have a number of 1000 or more, and what do they do? If make grade names "
          "a null pointer: which argument of your launch is it?" },
        { "crash signal",
          "Does your host code read or write `out` or `in`? They are addresses on the GPU, so only a "
          "kernel may use them. Which of your lines run once, on the host, and which run once per "
          "thread?" },
        { "crash host_pointer",
          "A kernel got the address of a variable on the host. A value is passed to a kernel by "
          "itself, without &. Which argument of your launch is such an address?" },
        { "crash launch",
          "The GPU refused the launch, so your kernel never ran. Between <<< and >>> come the "
          "number of blocks and the number of threads per block. What is the largest value allowed "
          "for the second, and how large can each become with your formula? Can either be 0?" },
        { "crash misaligned",
          "An access of 16 bytes needs an address that is a multiple of 16. For which elements of "
          "an array of floats is that true?" },
        { "crash illegal",
          "A thread used an invalid address. Does it also happen with a single element? Then the "
          "pointer is wrong. If it happens only with many elements: is the product of block number "
          "and block size computed in a type that is wide enough?" },
        { "crash",
          "Which of your lines run on the host, and which on the GPU? `out` and `in` are valid "
          "addresses on only one of the two." },
        { "timeout",
          "Which loop never ends? Check the value that its variable is compared with. Can the "
          "variable's type hold that value?" },
        { "build compiler",
          "Start with the first line that the compiler names: the other errors often follow from "
          "it. Look at the end of the line before it, too: is a semicolon or a bracket missing?" },
        { "build forbidden",
          "The lab does without this call, or it misses its own function. Your task is to write "
          "the copy yourself, with the name and the arguments of kernel.h." },
        { "build", "Fix what make grade names, then grade again." },
    },
    .predictions = {
        { "blocks",
          "How many blocks of 256 threads does a copy of 1000 floats need, with one thread per "
          "element?",
          4, 0, "Three blocks are 768 threads: too few. In C (1000 + 255) / 256 is 4: 1000 / 256, "
                "rounded up." },
        { "idle",
          "How many of their threads have nothing to do?",
          24, 0, "4 * 256 - 1000. These 24 are why every kernel checks its bounds." },
        { "bytes",
          "How many bytes must move between the GPU and its memory for a copy of 1,000,000 floats?",
          8e6, 0, "4,000,000 are read and 4,000,000 are written: both count." },
        { "gbps",
          "A copy of 100,000,000 floats takes 0.4 ms. How many GB/s is that?",
          2000, 1, "8e8 bytes in 4e-4 s are 2e12 bytes per second. GB are 10^9 bytes here, as in "
                   "data sheets." },
    },
    .question = "y[i] = a * x[i] + y[i], for n floats: how many bytes must move for one i, and how "
                "long does n = 100,000,000 take at the rate that your kernel has just reached? What would "
                "a second addition per element cost?",
    .questions = {
        { "axpy_bytes",
          "y[i] = a * x[i] + y[i] for floats: how many bytes must move between the GPU and its "
          "memory for one i?",
          12, 0,
          "x[i] and y[i] are read, y[i] is written: 3 * 4 bytes." },
        { "write_only_ms",
          "A kernel only writes: out[i] = 0 for 500,000,000 floats. How many milliseconds does "
          "it take at 2000 GB/s?",
          1, 0.01,
          "Only bytes that move count: 4 * 500,000,000 = 2 * 10^9 bytes, in one direction. At "
          "2 * 10^12 bytes per second they take 1 ms." },
        { "second_addition",
          "y[i] = a * x[i] + y[i] takes 1 ms for a large n. You add a second addition per "
          "element, of numbers that are in registers. How long does it take now?",
          1, 0,
          "Three operations per 12 bytes are far below the ridge of any current GPU: memory is "
          "the limit, and no byte was added.",
          { "about 1 ms", "about 1.5 ms", "about 2 ms" } },
        { 0 },
    },
    .profile = "loads stores",
    .sweep = {
        .what = "elements",
        .label = "large",
        .set = set_elements,
        .values = { 1 << 10, 1 << 13, 1 << 16, 1 << 18, 1 << 20, 1 << 22, 1 << 24, 1 << 26 },
    },
};
