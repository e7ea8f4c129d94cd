// rung.cu - times a lab's kernel on the lab's timed cases; prints `NAME.CASE RATE` per case.
// Compiled with -DKERNEL='"solutions/.../5_padded.cu"' -DLAB=6 -DNAME='"..."'.
//
//     NAME [PARTS [REPEATS]]
//
// PARTS divides the size of a case that is as large as on the measured H200 (docs/measurements.md).
// Other cases grow with the number of SMs of the device. REPEATS: the calls per sample, and the
// samples of which the median is taken; 1 is enough on a simulated GPU. Rates are GB/s, or the
// lab's own unit per nanosecond, which does not change ratios to the lab's reference.
#include KERNEL

#include <math.h>
#include <stdlib.h>

enum { ARRAYS = 4 };

static char *array[ARRAYS];
static double parts = 1;
static int repeats = 1;

static void allocate(int which, size_t bytes)
{
    CUDA_CHECK(cudaMalloc(&array[which], bytes));
    CUDA_CHECK(cudaMemset(array[which], 0, bytes));
}

// The size on the H200, divided by the number of parts, as a multiple of `unit`.
[[maybe_unused]] static long share(double whole, int unit)
{
    return (long) (whole / parts / unit) * unit;
}

[[maybe_unused]] static int sms()
{
    int device, count;

    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device));
    return count;
}

static int by_size(const void *a, const void *b)
{
    const float x = *(const float *) a, y = *(const float *) b;

    return (x > y) - (x < y);
}

template <class Call> static float sample(cudaEvent_t begin, cudaEvent_t end, Call call)
{
    float ms;

    CUDA_CHECK(cudaEventRecord(begin));
    for (int i = 0; i < repeats; i++)
        call();
    CUDA_CHECK(cudaEventRecord(end));
    CUDA_CHECK(cudaEventSynchronize(end));
    CUDA_CHECK(cudaEventElapsedTime(&ms, begin, end));
    return ms / repeats;
}

// Calls before the samples bring the L2 into the same state as between samples.
template <class Call> static void row(const char *what, double work, Call call)
{
    cudaEvent_t begin, end;
    float ms[99];
    const int samples = repeats < 99 ? repeats : 99;

    CUDA_CHECK(cudaEventCreate(&begin));
    CUDA_CHECK(cudaEventCreate(&end));
    for (int i = 0; i < repeats; i++)
        call();
    for (int i = 0; i < samples; i++)
        ms[i] = sample(begin, end, call);
    qsort(ms, samples, sizeof *ms, by_size);
    printf("%s.%s %.5g\n", NAME, what, work / ms[samples / 2] / 1e6);
    fflush(stdout);
    for (int i = 0; i < ARRAYS; i++) {
        CUDA_CHECK(cudaFree(array[i]));
        array[i] = NULL;
    }
}

#if LAB == 0
static void run(const char *what, long n)
{
    allocate(0, n * 4);
    allocate(1, n * 4);
    row(what, 8.0 * n, [=] { copy((float *) array[1], (float *) array[0], n); });
}

static void cases()
{
    run("large", share(125829120, 1024));
    run("small", share(65536, 32));
}
#elif LAB == 1
static void run(const char *what, int rows, int cols)
{
    const size_t bytes = (size_t) rows * cols * 4;

    allocate(0, bytes);
    allocate(1, bytes);
    allocate(2, (size_t) cols * 8);
    row(what, 2.0 * bytes, [=] {
        float *mean = (float *) array[2];
        standardise((float *) array[1], (float *) array[0], mean, mean + cols, rows, cols);
    });
}

static void cases()
{
    run("16", share(7864320, 256), 16);
    run("1", share(125829120, 1024), 1);
}
#elif LAB == 2
static void run(const char *what, int d)
{
    const int n = (int) sqrt(16.0 * sms()) * 32;

    allocate(0, (size_t) n * d * 4);
    allocate(1, (size_t) n * n * 4);
    row(what, 3.0 * n * n * d, [=] { distances((float *) array[1], (float *) array[0], n, d); });
}

static void cases()
{
    run("64", 64);
    run("63", 63);
}
#elif LAB == 3
// Kinds as in the lab: all random, or nine in ten equal.
static void run(const char *what, bool skewed)
{
    enum { ITEMS_AN_SM = 16384, ROUNDS = 4 };
    const int n = sms() * ITEMS_AN_SM;
    uint8_t *kinds = (uint8_t *) malloc(n);
    uint32_t random = 1;

    for (int i = 0; i < n; i++) {
        random = random * 1664525u + 1013904223u;
        kinds[i] = skewed && (random >> 8) % 10 ? 0 : random >> 24 & 7;
    }
    allocate(0, (size_t) n * 4);
    allocate(1, (size_t) n * 4);
    allocate(2, n);
    CUDA_CHECK(cudaMemcpy(array[2], kinds, n, cudaMemcpyHostToDevice));
    free(kinds);
    row(what, (double) n * ROUNDS, [=] {
        advance((uint32_t *) array[1], (uint32_t *) array[0], (uint8_t *) array[2], n, ROUNDS);
    });
}

static void cases()
{
    run("mixed", false);
    run("skewed", true);
}
#elif LAB == 4
static void run(const char *what, int n, int steps)
{
    for (int i = 0; i < 4; i++)
        allocate(i, (size_t) n * 4);
    row(what, (double) n * steps, [=] {
        advance((float *) array[0], (float *) array[1], (float *) array[2], (float *) array[3],
                1.0f / 128, n, steps);
    });
}

static void cases()
{
    const int a_round = sms() * BLOCK * 16;

    run("long", a_round, 256);
    run("short", (int) (share(31457280, 32) / a_round) * a_round, 12);
}
#elif LAB == 6
static void run(const char *what, int rows, int cols)
{
    const size_t bytes = (size_t) rows * cols * 4;

    allocate(0, bytes);
    allocate(1, bytes);
    row(what, 2.0 * bytes, [=] { transpose((float *) array[1], (float *) array[0], rows, cols); });
}

// A side of 11264 x 11136, with rows and columns reduced by the same factor.
static int side(int whole)
{
    return (int) (whole / sqrt(parts) / 32 + 0.5) * 32;
}

static void cases()
{
    run("flat", 32, share(3932160, 32));
    run("square", side(11264), side(11136));
    run("row", 1, share(125829120, 1024));
}
#elif LAB == 7
static void run(const char *what, long n)
{
    const long room = n / 128 + 4096;

    allocate(0, n * 4);
    allocate(1, 4);
    allocate(2, room * 4);
    row(what, 4.0 * n,
        [=] { sum((float *) array[1], (float *) array[0], n, (float *) array[2], room); });
}

static void cases()
{
    run("long", share(251658240, 1024));
    run("short", share(65536, 32));
}
#elif LAB == 8
// An eleventh of the SMs, or a single SM, has one row more than the other SMs.
static void run(const char *what, int waves)
{
    enum { COLS = 8192, ROUNDS = 32 };
    const int more = sms() / 12, rows = sms() * waves + (more ? more : 1);
    const size_t bytes = (size_t) rows * COLS * 4;

    allocate(0, bytes);
    allocate(1, bytes);
    row(what, (double) rows * COLS * ROUNDS,
        [=] { advance((unsigned *) array[1], (unsigned *) array[0], rows, COLS, ROUNDS); });
}

static void cases()
{
    run("1", 1);
    run("2", 2);
}
#elif LAB == 9
// Two tiles of 128 x 128 per SM.
static void cases()
{
    enum { TILE_SIDE = 128, DEPTH = 256 };
    const int tiles = 2 * sms();
    int down = (int) sqrt((double) tiles);

    while (tiles % down)
        down--;
    const int m = down * TILE_SIDE, n = tiles / down * TILE_SIDE;
    allocate(0, (size_t) m * n * 4);
    allocate(1, (size_t) m * DEPTH * 4);
    allocate(2, (size_t) DEPTH * n * 4);
    allocate(3, (size_t) m * n * 4);
    row("square", 2.0 * m * n * DEPTH, [=] {
        sgemm((float *) array[0], (float *) array[1], (float *) array[2], (float *) array[3], m, n,
              DEPTH, 1.5f, 0.5f);
    });
}
#endif

int main(int argc, char **argv)
{
    parts = argc > 1 && atof(argv[1]) >= 1 ? atof(argv[1]) : 1;
    repeats = argc > 2 && atoi(argv[2]) >= 1 ? atoi(argv[2]) : 1;
    cases();
    return 0;
}
