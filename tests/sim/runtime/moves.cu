/* moves.cu - managed and pinned memory that host and device use in turn: results, and modelled
 * times on a device with these figures:
 *
 * page_fault_us 1000, page_chunk_us 100, page_copy_us 150, fresh_fault_us 500, fresh_chunk_us 70,
 * prefetch_us 60, prefetch_block_us 4, prefetch_fresh_us 5, prefetch_back_us 300.
 *
 * `moves plain`: without modelled time, only the results are checked.
 */
#include "../programs/check.h"

#include <math.h>
#include <string.h>

enum { CHUNK = 65536 / sizeof(int), CHUNKS = 16, WORDS = CHUNKS * CHUNK };

static bool timed_runs;
static cudaEvent_t begin, end;
static int *result;

static __global__ void add(const int *x, int *sum)
{
    int mine = 0;

    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < WORDS; i += gridDim.x * blockDim.x)
        mine += x[i];
    atomicAdd(sum, mine);
}

static __global__ void write(int *x, int first, int count, int value)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < count)
        x[first + i] = value;
}

static int kernel_sum(const int *x)
{
    int sum;

    OK(cudaMemset(result, 0, sizeof *result));
    OK(cudaEventRecord(begin));
    add<<<16, 1024>>>(x, result);
    OK(cudaEventRecord(end));
    OK(cudaMemcpy(&sum, result, sizeof sum, cudaMemcpyDeviceToHost));
    return sum;
}

static int host_sum(const int *x)
{
    int sum = 0;

    for (int i = 0; i < WORDS; i++)
        sum += x[i];
    return sum;
}

static double us()
{
    float ms;

    OK(cudaEventSynchronize(end));
    OK(cudaEventElapsedTime(&ms, begin, end));
    return ms * 1e3;
}

/* How much longer than `than` the last kernel took. */
static void longer(double than, double by)
{
    const double more = us() - than;

    if (timed_runs && fabs(more - by) > 20) {
        printf("longer by %.2f us, not %.2f\n", more, by);
        exit(1);
    }
}

static int *managed(bool write_it)
{
    int *x;

    OK(cudaMallocManaged(&x, WORDS * sizeof *x));
    for (int i = 0; i < WORDS && write_it; i++)
        x[i] = i % 7;
    return x;
}

/* Returns the time of a kernel whose memory is on the device. */
static double moves()
{
    int *x = managed(true), *y;
    const int wanted = host_sum(x);
    double resident;

    CHECK(kernel_sum(x) == wanted);
    const double moved = us();
    CHECK(kernel_sum(x) == wanted);
    resident = us();
    if (timed_runs)
        CHECK(fabs(moved - resident - (1000 + CHUNKS * 100)) < 20);

    x[3 * CHUNK + 5] += 10;
    CHECK(kernel_sum(x) == wanted + 10);
    longer(resident, 1000 + 100);

    FILE *zeros = fopen("/dev/zero", "r");
    setvbuf(zeros, NULL, _IONBF, 0);
    memset(x + 5 * CHUNK, 1, 64);
    const int with_ones = host_sum(x);
    CHECK(kernel_sum(x) == with_ones);
    /* A system call writes to it. */
    CHECK(fread(x + 5 * CHUNK, 1, 64, zeros) == 64);
    fclose(zeros);
    const int with_zeros = kernel_sum(x);
    longer(resident, 1000 + 100);
    CHECK(with_zeros == host_sum(x));

    write<<<CHUNK / 256, 256>>>(x, 7 * CHUNK, CHUNK, 4); /* only this chunk moves */
    OK(cudaDeviceSynchronize());
    CHECK(kernel_sum(x) == host_sum(x) && x[7 * CHUNK] == 4 && x[8 * CHUNK] == 8 * CHUNK % 7);

    OK(cudaMemset(x, 0, WORDS * sizeof *x)); /* on the device */
    CHECK(kernel_sum(x) == 0);
    longer(resident, 0);
    OK(cudaFree(x));

    y = managed(false);
    CHECK(kernel_sum(y) == 0);
    longer(resident, 500 + CHUNKS * 70);
    OK(cudaFree(y));
    return resident;
}

static void prefetch(int *x, bool to_device)
{
#if CUDART_VERSION >= 13000
    const cudaMemLocation where = { to_device ? cudaMemLocationTypeDevice
                                              : cudaMemLocationTypeHost };
    OK(cudaMemPrefetchAsync(x, WORDS * sizeof *x, where, 0, 0));
#else
    OK(cudaMemPrefetchAsync(x, WORDS * sizeof *x, to_device ? 0 : cudaCpuDeviceId, 0));
#endif
}

static void advise(int *x, cudaMemoryAdvise advice, bool device)
{
#if CUDART_VERSION >= 13000
    const cudaMemLocation where = { device ? cudaMemLocationTypeDevice : cudaMemLocationTypeHost };
    OK(cudaMemAdvise(x, WORDS * sizeof *x, advice, where));
#else
    OK(cudaMemAdvise(x, WORDS * sizeof *x, advice, device ? 0 : cudaCpuDeviceId));
#endif
}

/* A prefetch runs in its stream, while a kernel runs in another. */
static void hints(double resident)
{
    int *x = managed(true);
    const int sum = host_sum(x);

    OK(cudaEventRecord(begin));
    prefetch(x, true);
    OK(cudaEventRecord(end));
    const double up = us();
    CHECK(kernel_sum(x) == sum);
    longer(resident, 0);
    if (timed_runs)
        CHECK(up > 60 + 4 + 1e6 / 7.3e3 && up < 60 + 4 + 1e6 / 5e3);
    prefetch(x, false);
    CHECK(kernel_sum(x) == sum);
    longer(resident, 1000 + CHUNKS * 100);

    advise(x, cudaMemAdviseSetReadMostly, true);
    CHECK(host_sum(x) == sum);
    CHECK(kernel_sum(x) == sum);
    longer(resident, 0);
    x[0]++;
    CHECK(kernel_sum(x) == sum + 1);
    longer(resident, 1000 + 150);
    advise(x, cudaMemAdviseUnsetReadMostly, true);
    OK(cudaFree(x));
}

/* Over the link, again and again. */
static void stays()
{
    int *x = managed(true), *pinned;
    const int sum = host_sum(x);
    const double least = WORDS * sizeof *x / 7.3e3;

    advise(x, cudaMemAdviseSetPreferredLocation, false);
    advise(x, cudaMemAdviseSetAccessedBy, true);
    CHECK(kernel_sum(x) == sum);
    const double over_link = us();
    CHECK(kernel_sum(x) == sum);
    longer(over_link, 0);
    OK(cudaMallocHost(&pinned, WORDS * sizeof *pinned));
    memcpy(pinned, x, WORDS * sizeof *x);
    CHECK(kernel_sum(pinned) == sum);
    longer(over_link, 0);
    if (timed_runs)
        CHECK(over_link > least && over_link < 1.5 * least);
    OK(cudaFreeHost(pinned));
    OK(cudaFree(x));
}

int main(int argc, char **)
{
    timed_runs = argc == 1;
    OK(cudaEventCreate(&begin));
    OK(cudaEventCreate(&end));
    OK(cudaMalloc(&result, sizeof *result));
    hints(moves());
    stays();
    OK(cudaFree(result));
    OK(cudaEventDestroy(begin));
    OK(cudaEventDestroy(end));
    puts("ok");
}
