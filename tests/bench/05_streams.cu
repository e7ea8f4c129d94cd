/* 05_streams - measures the stages alone, both copies at once, and the kernels of the lesson's
 * table. It compares the reference with the bound: the longer of the kernel and both copies at
 * once, plus the first chunk's upload and kernel and the last one's download. Then it tries
 * orders and numbers of chunks, for the lesson. `make bench`; REFERENCE is the file of the last
 * numbered rung, KERNEL that of the fastest. */
#include "bench.h"
#include "lab.h"

/* Files that define the same names: each is in its own namespace, and its function is renamed,
 * since an `extern "C"` function has one name in all namespaces. */
#include "kernel.h"
#define encrypt encrypt_fastest
namespace fastest
{
#include KERNEL
}
#undef encrypt
#define encrypt encrypt_reference
namespace reference
{
#include REFERENCE
}
#undef encrypt
#define encrypt encrypt_rung1
namespace rung1
{
#include "../../solutions/05_streams/1_one_stream.cu"
}
#undef encrypt
#define encrypt encrypt_rung2
namespace rung2
{
#include "../../solutions/05_streams/2_two_buffers.cu"
}
#undef encrypt
#define encrypt encrypt_rung3
namespace rung3
{
#include "../../solutions/05_streams/3_three_buffers.cu"
}
#undef encrypt
#define encrypt encrypt_sync
namespace sync_each
{
#include "../../solutions/05_streams/wrong/sync_each_chunk.cu"
}
#undef encrypt
#define encrypt encrypt_whole
namespace whole
{
#include "../../solutions/05_streams/wrong/whole_thing.cu"
}
#undef encrypt

typedef void Encrypt(uint32_t *out, const uint32_t *in, long n, uint32_t *device, long capacity,
                     uint32_t key, int rounds);

/* The rows of the lesson's table; chunks is set for rows with a bound. */
static const struct {
    const char *name;
    Encrypt *encrypt;
    int chunks;
} kernels[] = {
    { "1_one_stream", rung1::encrypt_rung1 },
    { "wrong/sync_each_chunk", sync_each::encrypt_sync },
    { "wrong/whole_thing", whole::encrypt_whole },
    { "2_two_buffers", rung2::encrypt_rung2 },
    { "3_three_buffers", rung3::encrypt_rung3 },
    { "4_eight_buffers", reference::encrypt_reference, reference::CHUNKS },
    { "beyond/5_engine_streams", fastest::encrypt_fastest, fastest::CHUNKS },
};

enum { WORDS = 1 << 24, SECRET = 0x5eed, MOST_STREAMS = 16 };

typedef struct Problem {
    uint32_t *in, *out, *device, *pageable;
    int rounds, streams, chunks, breadth_first;
    Encrypt *encrypt;
    cudaStream_t s[MOST_STREAMS];
} Problem;

static const size_t all_bytes = WORDS * sizeof(uint32_t);

static void up(void *self, int)
{
    Problem *p = (Problem *) self;

    CUDA_CHECK(cudaMemcpyAsync(p->device, p->in, all_bytes, cudaMemcpyHostToDevice, p->s[0]));
    CUDA_CHECK(cudaStreamSynchronize(p->s[0]));
}

static void down(void *self, int)
{
    Problem *p = (Problem *) self;

    CUDA_CHECK(cudaMemcpyAsync(p->out, p->device, all_bytes, cudaMemcpyDeviceToHost, p->s[0]));
    CUDA_CHECK(cudaStreamSynchronize(p->s[0]));
}

static void up_pageable(void *self, int)
{
    Problem *p = (Problem *) self;

    CUDA_CHECK(cudaMemcpy(p->device, p->pageable, all_bytes, cudaMemcpyHostToDevice));
}

static void both_ways(void *self, int)
{
    Problem *p = (Problem *) self;

    CUDA_CHECK(cudaMemcpyAsync(p->device, p->in, all_bytes, cudaMemcpyHostToDevice, p->s[0]));
    CUDA_CHECK(
        cudaMemcpyAsync(p->out, p->device + WORDS, all_bytes, cudaMemcpyDeviceToHost, p->s[1]));
    CUDA_CHECK(cudaStreamSynchronize(p->s[0]));
    CUDA_CHECK(cudaStreamSynchronize(p->s[1]));
}

static void kernel(void *self, int)
{
    Problem *p = (Problem *) self;

    encrypt_kernel<<<WORDS / BLOCK, BLOCK, 0, p->s[0]>>>(p->device, WORDS, SECRET, p->rounds);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaStreamSynchronize(p->s[0]));
}

static void by_encrypt(void *self, int)
{
    Problem *p = (Problem *) self;

    p->encrypt(p->out, p->in, WORDS, p->device, WORDS / 4, SECRET, p->rounds);
}

/* Chunks take turns in the streams, each with its own buffer; `device` holds all buffers. */
static void step_of(Problem *p, int step, int c)
{
    long words = WORDS / p->chunks, first = c * words;
    uint32_t *buffer = p->device + c % p->streams * words;
    cudaStream_t s = p->s[c % p->streams];
    size_t bytes = words * sizeof(uint32_t);

    if (step == 0)
        CUDA_CHECK(cudaMemcpyAsync(buffer, p->in + first, bytes, cudaMemcpyHostToDevice, s));
    else if (step == 1)
        encrypt_kernel<<<(unsigned) (words / BLOCK), BLOCK, 0, s>>>(buffer, (int) words, SECRET,
                                                                    p->rounds);
    else
        CUDA_CHECK(cudaMemcpyAsync(p->out + first, buffer, bytes, cudaMemcpyDeviceToHost, s));
    CUDA_CHECK(cudaGetLastError());
}

static void in_order(void *self, int)
{
    Problem *p = (Problem *) self;
    int together = p->breadth_first ? p->streams : 1;

    for (int c = 0; c < p->chunks; c += together)
        for (int step = 0; step < 3; step++)
            for (int k = c; k < c + together && k < p->chunks; k++)
                step_of(p, step, k);
    for (int i = 0; i < p->streams; i++)
        CUDA_CHECK(cudaStreamSynchronize(p->s[i]));
}

/* The median of a few samples, in milliseconds per call. */
static double quick_ms(Problem *p, BenchCall *call)
{
    Bench bench = { p };
    double ms[9];

    bench.sets = 1;
    CUDA_CHECK(cudaEventCreate(&bench.start));
    CUDA_CHECK(cudaEventCreate(&bench.stop));
    int calls = bench_calls(&bench, call);
    for (int i = 0; i < 9; i++)
        ms[i] = bench_sample(&bench, call, calls);
    CUDA_CHECK(cudaEventDestroy(bench.start));
    CUDA_CHECK(cudaEventDestroy(bench.stop));
    return median(ms, 9);
}

static void print_ms(const char *name, double ms)
{
    printf("  %-42s %8.4f ms %7.1f GB/s\n", name, ms, all_bytes / ms * 1e-6);
    bench_figure(ms, "%s/ms", name);
    bench_figure(all_bytes / ms * 1e-6, "%s/GB/s", name);
}

/* Checks the results first: one kernel against the CPU, then all others against that kernel. */
static void check(const Problem *p)
{
    static uint32_t *right;

    if (!right) {
        right = (uint32_t *) malloc(all_bytes);
        for (long i = 0; i < WORDS; i++)
            right[i] = encrypt_word(p->in[i], SECRET, p->rounds);
    }
    if (memcmp(p->out, right, all_bytes)) {
        fprintf(stderr, "a word is wrong\n");
        exit(1);
    }
    memset(p->out, 0xff, all_bytes);
}

static void sweep(Problem *p)
{
    static const int counts[] = { 4, 8, 16, 32, 64, 128 };

    printf("\n4 streams, ms: chunks, depth-first, breadth-first\n");
    p->streams = 4;
    for (int chunks : counts) {
        p->chunks = chunks;
        p->breadth_first = 0;
        double depth = quick_ms(p, in_order);
        p->breadth_first = 1;
        double breadth = quick_ms(p, in_order);
        printf("  %4d %8.4f %8.4f\n", chunks, depth, breadth);
        bench_figure(depth, "4 streams/%d chunks/depth-first ms", chunks);
        bench_figure(breadth, "4 streams/%d chunks/breadth-first ms", chunks);
    }
    printf("\n32 chunks, ms: streams\n");
    p->chunks = 32;
    p->breadth_first = 0;
    for (p->streams = 1; p->streams <= MOST_STREAMS; p->streams *= 2) {
        double ms = quick_ms(p, in_order);
        printf("  %4d %8.4f\n", p->streams, ms);
        bench_figure(ms, "32 chunks/%d streams/ms", p->streams);
    }
}

int main(void)
{
    Problem p = { 0 };
    int engines;

    bench_head(REFERENCE);
    CUDA_CHECK(cudaDeviceGetAttribute(&engines, cudaDevAttrAsyncEngineCount, 0));
    printf("copy engines: %d\n", engines);
    CUDA_CHECK(cudaMallocHost(&p.in, all_bytes));
    CUDA_CHECK(cudaMallocHost(&p.out, all_bytes));
    CUDA_CHECK(cudaMalloc(&p.device, 2 * all_bytes));
    p.pageable = (uint32_t *) malloc(all_bytes);
    for (long i = 0; i < WORDS; i++)
        p.pageable[i] = p.in[i] = encrypt_word((uint32_t) i, 1, 4);
    for (int i = 0; i < MOST_STREAMS; i++)
        CUDA_CHECK(cudaStreamCreateWithFlags(&p.s[i], cudaStreamNonBlocking));

    double up_ms = quick_ms(&p, up), down_ms = quick_ms(&p, down);
    double both_ms = quick_ms(&p, both_ways), longer = up_ms > down_ms ? up_ms : down_ms;
    p.rounds = 512;
    p.rounds = (int) (512 * longer / quick_ms(&p, kernel) + 0.5);
    double kernel_ms = quick_ms(&p, kernel), most = both_ms > kernel_ms ? both_ms : kernel_ms;
    print_ms("upload", up_ms);
    print_ms("download", down_ms);
    print_ms("both at once, each way", both_ms);
    print_ms("upload from ordinary memory", quick_ms(&p, up_pageable));
    printf("  rounds: %d\n", p.rounds);
    print_ms("kernel", kernel_ms);

    double sum = up_ms + kernel_ms + down_ms;
    double longest = longer > kernel_ms ? longer : kernel_ms;
    for (const auto &row : kernels) {
        p.encrypt = row.encrypt;
        by_encrypt(&p, 0);
        check(&p);
        double ms = quick_ms(&p, by_encrypt);
        print_ms(row.name, ms);
        printf("    overlap %.3f\n", (sum - ms) / (sum - longest));
        bench_figure((sum - ms) / (sum - longest), "%s/overlap", row.name);
        if (row.chunks) {
            double bound = most + (sum - longest) / row.chunks;
            printf("    bound %.4f ms, and %.4f of it\n", bound, bound / ms);
            bench_figure(bound, "%s/bound ms", row.name);
            bench_figure(bound / ms, "%s/of the bound", row.name);
        }
    }
    sweep(&p);
    return 0;
}
