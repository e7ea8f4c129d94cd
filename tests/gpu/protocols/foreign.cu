// foreign.cu - the verdicts of three other measuring protocols on the same two kernels, and noise.
//
//   protocols_foreign measure FOLDER TARGET BAR TIMES WORD
//   protocols_foreign noise SECONDS
//
// `measure` races FOLDER/TARGET.so with FOLDER/reference.so by each protocol, TIMES times, each
// time in a fresh process, as a grader would start one. CUDA takes a while to start, so CROWD
// processes start together, and then measure one after the other while the rest sleep. Each prints
// a row: protocol, WORD, TARGET, verdict, ratio, seconds of measuring.
//
// `noise` is another process that uses the GPU in bursts: copies for 0.1 to 3 ms, then a pause of 1
// to 20 ms, both random.
#include "cudalab.cuh"
#include "fill.h"

#include <csignal>
#include <cstring>
#include <ctime>
#include <dlfcn.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 256, CROWD = 9 };

typedef void Transpose(float *out, const float *in, int rows, int cols);

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double) t.tv_sec + 1e-9 * (double) t.tv_nsec;
}

// ---- One process: two kernels, their arrays ----

typedef struct Bench {
    Transpose *kernel[2]; // the reference, the slowed kernel
    float *out[2], *in;
    int rows, cols;
    void *flush;
    size_t flush_bytes;
    cudaEvent_t start, stop;
} Bench;

static __global__ void fill_kernel(float *data, Fill fill, FillKey key, size_t count)
{
    size_t i = (size_t) blockIdx.x * THREADS + threadIdx.x;

    if (i < count)
        data[i] = fill_f32(fill, key, i);
}

static Transpose *load(const char *folder, const char *name)
{
    char path[600];
    void *object, *function;

    snprintf(path, sizeof path, "%s/%s.so", folder, name);
    object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    function = object ? dlsym(object, "transpose") : NULL;
    if (!function) {
        fprintf(stderr, "%s\n", dlerror());
        exit(3);
    }
    return (Transpose *) function;
}

static void set_up(Bench *bench, const char *folder, const char *target)
{
    char path[600];
    int l2_bytes;
    Fill fill = { FILL_UNIFORM, 0, 0 };
    FILE *size;

    snprintf(path, sizeof path, "%s/size", folder);
    size = fopen(path, "r");
    if (!size || fscanf(size, "%d %d", &bench->rows, &bench->cols) != 2) {
        fprintf(stderr, "%s does not hold two numbers\n", path);
        exit(3);
    }
    fclose(size);
    size_t count = (size_t) bench->rows * bench->cols;
    CUDA_CHECK(cudaDeviceGetAttribute(&l2_bytes, cudaDevAttrL2CacheSize, 0));
    bench->flush_bytes = 2 * (size_t) l2_bytes;
    CUDA_CHECK(cudaMalloc(&bench->flush, bench->flush_bytes));
    CUDA_CHECK(cudaMalloc(&bench->in, count * sizeof(float)));
    for (int k = 0; k < 2; k++)
        CUDA_CHECK(cudaMalloc(&bench->out[k], count * sizeof(float)));
    CUDA_CHECK(cudaEventCreate(&bench->start));
    CUDA_CHECK(cudaEventCreate(&bench->stop));
    fill_kernel<<<(unsigned) ((count + THREADS - 1) / THREADS), THREADS>>>(
        bench->in, fill, fill_key((uint64_t) getpid(), 0), count);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaDeviceSynchronize());
    bench->kernel[0] = load(folder, "reference");
    bench->kernel[1] = load(folder, target);
}

static double run_ms(const Bench *bench, int k)
{
    float ms;

    CUDA_CHECK(cudaEventRecord(bench->start));
    bench->kernel[k](bench->out[k], bench->in, bench->rows, bench->cols);
    CUDA_CHECK(cudaEventRecord(bench->stop));
    CUDA_CHECK(cudaEventSynchronize(bench->stop));
    CUDA_CHECK(cudaEventElapsedTime(&ms, bench->start, bench->stop));
    return ms;
}

// ---- The protocols: one time for one kernel ----

static double least_of_3(const Bench *bench, int k)
{
    double least = 1e9;

    for (int i = 0; i < 3; i++)
        least = fmin(least, run_ms(bench, k));
    return least;
}

static double mean_of_100(const Bench *bench, int k)
{
    double sum = 0;

    for (int i = 0; i < 5; i++)
        run_ms(bench, k);
    for (int i = 0; i < 100; i++)
        sum += run_ms(bench, k);
    return sum / 100;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *) a, y = *(const double *) b;

    return (x > y) - (x < y);
}

// Before each run L2 holds the data of the flush, not the kernel's.
static double median_of_50_cold(const Bench *bench, int k)
{
    double ms[50];

    for (int i = 0; i < 50; i++) {
        CUDA_CHECK(cudaMemsetAsync(bench->flush, i, bench->flush_bytes));
        ms[i] = run_ms(bench, k);
    }
    qsort(ms, 50, sizeof *ms, ascending);
    return (ms[24] + ms[25]) / 2;
}

static const struct Protocol {
    const char *name;
    double (*time_ms)(const Bench *, int k);
} protocols[] = {
    { "min-of-3", least_of_3 },
    { "mean-of-100", mean_of_100 },
    { "median-of-50-cold", median_of_50_cold },
};

enum { PROTOCOLS = sizeof protocols / sizeof *protocols };

// ---- Processes ----

typedef struct Job {
    const char *folder, *target, *word;
    double bar;
} Job;

// Starts CUDA, reports to the parent, waits for its answer, and measures one kernel after the
// other.
static void measure(const Job *job, const struct Protocol *protocol, int parent)
{
    Bench bench;
    double begin, reference_ms, student_ms;
    char byte = 0;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    set_up(&bench, job->folder, job->target);
    if (write(parent, &byte, 1) != 1 || read(parent, &byte, 1) != 1)
        exit(3);
    begin = now_s();
    reference_ms = protocol->time_ms(&bench, 0);
    student_ms = protocol->time_ms(&bench, 1);
    printf("%s %s %s %s %.5f %.2f\n", protocol->name, job->word, job->target,
           reference_ms / student_ms >= job->bar ? "pass" : "slow", reference_ms / student_ms,
           now_s() - begin);
    exit(0);
}

static void fail(const char *what)
{
    perror(what);
    exit(3);
}

// Runs `count` processes, numbered from `first` on, which use the protocols in turn.
static void measure_crowd(const Job *job, int first, int count)
{
    int line[CROWD][2], status;
    pid_t child[CROWD];
    char byte = 0;

    fflush(stdout);
    for (int i = 0; i < count; i++) {
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, line[i]) || (child[i] = fork()) < 0)
            fail("a measuring process");
        if (!child[i])
            measure(job, &protocols[(first + i) % PROTOCOLS], line[i][1]);
        close(line[i][1]); // later processes must not inherit it: its end of file reports that this
                           // one has exited
    }
    for (int i = 0; i < count; i++)
        if (read(line[i][0], &byte, 1) != 1)
            fail("a measuring process did not start");
    for (int i = 0; i < count; i++) {
        if (write(line[i][0], &byte, 1) != 1 || waitpid(child[i], &status, 0) < 0 || status)
            fail("a measuring process");
        close(line[i][0]);
    }
}

// ---- Noise ----

static __device__ __forceinline__ unsigned long long global_ns(void)
{
    unsigned long long ns;

    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
    return ns;
}

// Copies the array to itself, shifted by half, until the time is over; count is a power of two.
static __global__ void busy_kernel(float4 *data, size_t count, unsigned long long duration_ns)
{
    unsigned long long start = global_ns();
    size_t i = (size_t) blockIdx.x * THREADS + threadIdx.x, step = (size_t) gridDim.x * THREADS;

    for (; global_ns() - start < duration_ns; i += step)
        data[i & (count - 1)] = data[(i + count / 2) & (count - 1)];
}

static double between(double least, double most)
{
    return least + (most - least) * drand48();
}

static void make_noise(double seconds)
{
    const size_t count = (size_t) 16 << 20; // elements of 16 bytes: 256 MB
    double end = now_s() + seconds;
    float4 *data;
    int sms;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    srand48((long) getpid());
    CUDA_CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    CUDA_CHECK(cudaMalloc(&data, count * sizeof *data));
    CUDA_CHECK(cudaMemset(data, 0, count * sizeof *data));
    while (now_s() < end) {
        double pause_s = between(1e-3, 20e-3);
        struct timespec pause = { 0, (long) (pause_s * 1e9) };
        busy_kernel<<<4 * sms, THREADS>>>(data, count, (unsigned long long) between(0.1e6, 3e6));
        CUDA_CHECK(cudaGetLastError());
        CUDA_CHECK(cudaDeviceSynchronize());
        nanosleep(&pause, NULL);
    }
}

int main(int count, char **words)
{
    if (count == 3 && !strcmp(words[1], "noise")) {
        make_noise(atof(words[2]));
        return 0;
    }
    if (count != 7 || strcmp(words[1], "measure")) {
        fprintf(stderr, "usage: measure FOLDER TARGET BAR TIMES WORD | noise SECONDS\n");
        return 2;
    }
    Job job = { words[2], words[3], words[6], atof(words[4]) };
    int left = atoi(words[5]) * PROTOCOLS;
    for (int first = 0; left > 0; first += CROWD, left -= CROWD)
        measure_crowd(&job, first, left < CROWD ? left : CROWD);
    return 0;
}
