// together.cu - kernels, copies and fills that run at the same time.
//
// Each case starts work in streams of its own at the same moment, in the given order. Rows:
// CASE.alone.N: microseconds of piece N alone; CASE.end.N: until piece N ends, from the common
// start; of many equal pieces only the first and the last.
#include "measure.cuh"

enum { MOST_PIECES = 32, COPY_BYTES = 48 << 20, READ_BYTES = 1 << 29 };

static float *out, *big;
static char *pinned, *copied;

// ---- Kernels ----

__device__ static void keep(float x)
{
    if (x == 12345.f)
        asm volatile("trap;");
}

// CHAINS independent chains of multiply-adds in each thread.
template <int CHAINS> __global__ void arithmetic(float *out, int loops)
{
    float x[CHAINS], sum = 0;

    for (int c = 0; c < CHAINS; c++)
        x[c] = threadIdx.x + c;
#pragma unroll 1
    for (int i = 0; i < loops; i++)
#pragma unroll
        for (int k = 0; k < 16 / CHAINS; k++)
#pragma unroll
            for (int c = 0; c < CHAINS; c++)
                x[c] = x[c] * 0.5f + 1.25f;
    for (int c = 0; c < CHAINS; c++)
        sum += x[c];
    keep(sum);
}

__global__ void shared_loads(float *out, int loops)
{
    __shared__ float words[1024];
    float sum = 0;

    for (int i = threadIdx.x; i < 1024; i += blockDim.x)
        words[i] = i;
    __syncthreads();
#pragma unroll 1
    for (int i = 0; i < loops; i++)
#pragma unroll
        for (int k = 0; k < 8; k++)
            sum += words[(threadIdx.x + i + 32 * k) & 1023];
    keep(sum);
}

// All threads of the grid read neighbouring words, from `from` on, and start again after `span`
// words.
__global__ void reads(const float4 *from, size_t span, int loops)
{
    const size_t stride = (size_t) gridDim.x * blockDim.x;
    size_t at = (size_t) blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;

#pragma unroll 4
    for (int i = 0; i < loops; i++) {
        const float4 v = __ldcg(&from[at]);
        sum += v.x + v.y + v.z + v.w;
        at += stride;
        at = at >= span ? at - span : at;
    }
    keep(sum);
}

__global__ void chase(const int *next, int loops)
{
    int at = 0;

#pragma unroll 1
    for (int i = 0; i < loops; i++)
        at = __ldcg(&next[at + (blockIdx.x & 1023) * 32]);
    keep(at);
}

// ---- Pieces ----

enum Kind { CHAIN, BUSY, SHARED, L2, DRAM, CHASE, UP, DOWN, ACROSS, FILL };

// blocks: in eighths of the number of SMs, at least one block. kbytes: of dynamic shared memory.
struct Piece {
    Kind kind;
    int eighths, threads, kbytes, loops;
    bool urgent;
};

static int fewer(int loops)
{
    return loops / share > 1 ? loops / share : 1;
}

static void issue(const Piece *p, cudaStream_t stream, int number)
{
    const int blocks = p->eighths * sms / 8 > 1 ? p->eighths * sms / 8 : 1;
    const size_t bytes = (size_t) p->kbytes << 10, words = READ_BYTES / 2 / sizeof(float4);
    const float4 *const from = (const float4 *) big + number % 2 * words;
    const size_t copy = (size_t) COPY_BYTES / share;

    switch (p->kind) {
    case CHAIN:
        arithmetic<1><<<blocks, p->threads, bytes, stream>>>(out, fewer(p->loops));
        break;
    case BUSY:
        arithmetic<4><<<blocks, p->threads, bytes, stream>>>(out, fewer(p->loops));
        break;
    case SHARED:
        shared_loads<<<blocks, p->threads, bytes, stream>>>(out, fewer(p->loops));
        break;
    case L2:
        reads<<<blocks, p->threads, bytes, stream>>>(from, (4 << 20) / sizeof(float4),
                                                     fewer(p->loops));
        break;
    case DRAM:
        reads<<<blocks, p->threads, bytes, stream>>>(from, words, fewer(p->loops));
        break;
    case CHASE:
        chase<<<blocks, p->threads, bytes, stream>>>((const int *) big, fewer(p->loops));
        break;
    case UP:
        check(cudaMemcpyAsync(copied, pinned, copy, cudaMemcpyHostToDevice, stream));
        break;
    case DOWN:
        check(cudaMemcpyAsync(pinned + COPY_BYTES, copied + COPY_BYTES, copy,
                              cudaMemcpyDeviceToHost, stream));
        break;
    case ACROSS:
        check(cudaMemcpyAsync(big, big + READ_BYTES / 8, READ_BYTES / 4, cudaMemcpyDeviceToDevice,
                              stream));
        break;
    case FILL:
        check(cudaMemsetAsync(big, 0, READ_BYTES / 2, stream));
        break;
    }
    check(cudaGetLastError());
}

// ---- Timing ----

static cudaStream_t calm[MOST_PIECES], urgent[MOST_PIECES], first;
static cudaEvent_t start_event, ends[MOST_PIECES];

static void make_streams()
{
    int least, greatest;

    check(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    check(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
    check(cudaEventCreate(&start_event));
    for (int i = 0; i < MOST_PIECES; i++) {
        check(cudaStreamCreateWithPriority(&calm[i], cudaStreamNonBlocking, least));
        check(cudaStreamCreateWithPriority(&urgent[i], cudaStreamNonBlocking, greatest));
        check(cudaEventCreate(&ends[i]));
    }
}

static void run(const Piece *pieces, int count, float *us)
{
    arithmetic<1><<<1, 32, 0, first>>>(out, fewer(40000)); // meanwhile all is issued
    check(cudaEventRecord(start_event, first));
    for (int i = 0; i < count; i++) {
        cudaStream_t stream = pieces[i].urgent ? urgent[i] : calm[i];
        check(cudaStreamWaitEvent(stream, start_event, 0));
        issue(&pieces[i], stream, i);
        check(cudaEventRecord(ends[i], stream));
    }
    check(cudaDeviceSynchronize());
    for (int i = 0; i < count; i++) {
        check(cudaEventElapsedTime(&us[i], start_event, ends[i]));
        us[i] *= 1e3f;
    }
}

static void median_of(const Piece *pieces, int count, float *us)
{
    enum { MOST = 99 };
    static float samples[MOST_PIECES][MOST];
    float one[MOST_PIECES];
    const int runs = repeats < MOST ? repeats : MOST;

    run(pieces, count, one);
    for (int r = 0; r < runs; r++) {
        run(pieces, count, one);
        for (int i = 0; i < count; i++)
            samples[i][r] = one[i];
    }
    for (int i = 0; i < count; i++) {
        qsort(samples[i], runs, sizeof(float), by_size);
        us[i] = samples[i][runs / 2];
    }
}

static void pieces_row(const char *name, const char *what, int number, float us)
{
    char text[64];

    snprintf(text, sizeof text, "%s.%s.%d", name, what, number + 1);
    row(text, us, "us");
}

static void rows(const char *name, const Piece *pieces, int count)
{
    const int step = count > 4 ? count - 1 : 1;
    float us[MOST_PIECES];

    if (!is_wanted(name))
        return;
    for (int i = 0; i < count; i += step) {
        median_of(&pieces[i], 1, us);
        pieces_row(name, "alone", i, us[0]);
    }
    median_of(pieces, count, us);
    for (int i = 0; i < count; i += step)
        pieces_row(name, "end", i, us[i]);
}

static void same(const char *name, Piece piece, int count)
{
    Piece pieces[MOST_PIECES];

    for (int i = 0; i < count; i++)
        pieces[i] = piece;
    rows(name, pieces, count);
}

static void pair(const char *name, Piece a, Piece b)
{
    const Piece pieces[] = { a, b };

    rows(name, pieces, 2);
}

static void arithmetic_cases()
{
    same("halves", { CHAIN, 4, 128, 0, 3000 }, 2);
    same("light", { CHAIN, 8, 128, 0, 3000 }, 2);
    same("half_busy", { CHAIN, 8, 256, 0, 3000 }, 2);
    same("busy", { BUSY, 8, 512, 0, 1500 }, 2);
    same("busy_three", { BUSY, 8, 512, 0, 1500 }, 3);
    pair("long_short", { BUSY, 8, 512, 0, 2400 }, { BUSY, 8, 512, 0, 600 });
    pair("short_long", { BUSY, 8, 512, 0, 600 }, { BUSY, 8, 512, 0, 2400 });
    pair("light_busy", { CHAIN, 8, 128, 0, 3000 }, { BUSY, 8, 512, 0, 1500 });
    same("three_quarters", { BUSY, 6, 512, 0, 1500 }, 2);
    same("waves", { BUSY, 8 * 8 * 4, 256, 0, 100 }, 2);
    pair("waves_few", { BUSY, 8 * 8 * 4, 256, 0, 100 }, { CHAIN, 1, 128, 0, 400 });
    pair("few_waves", { CHAIN, 1, 128, 0, 400 }, { BUSY, 8 * 8 * 4, 256, 0, 100 });
    same("tail", { BUSY, 72, 256, 0, 400 }, 2);
    pair("tail_few", { BUSY, 72, 256, 0, 400 }, { CHAIN, 4, 128, 0, 400 });
    same("one_per_sm", { CHAIN, 8, 128, 140, 3000 }, 2);
    pair("gaps", { CHAIN, 32, 128, 140, 800 }, { CHAIN, 8, 128, 0, 800 });
    pair("gaps_waves", { CHAIN, 32, 128, 140, 800 }, { CHAIN, 128, 1024, 0, 100 });
    same("eight", { CHAIN, 1, 128, 0, 3000 }, 8);
    same("single_blocks", { CHAIN, 0, 256, 0, 3000 }, 32);
    same("eight_full", { CHAIN, 8, 128, 0, 3000 }, 8);
}

static void memory_cases()
{
    same("dram", { DRAM, 16, 512, 0, 100 }, 2);
    same("dram_quarter", { DRAM, 8, 256, 0, 100 }, 2);
    pair("dram_busy", { DRAM, 16, 512, 0, 100 }, { BUSY, 8, 512, 0, 1500 });
    same("l2", { L2, 16, 512, 0, 200 }, 2);
    pair("l2_dram", { L2, 16, 512, 0, 200 }, { DRAM, 16, 512, 0, 100 });
    same("shared", { SHARED, 8, 512, 0, 1000 }, 2);
    pair("shared_busy", { SHARED, 8, 512, 0, 1000 }, { BUSY, 8, 512, 0, 1500 });
    pair("chase_dram", { CHASE, 8, 32, 0, 400 }, { DRAM, 16, 512, 0, 100 });
    pair("chase_busy", { CHASE, 8, 32, 0, 400 }, { BUSY, 8, 512, 0, 1500 });
}

static void other_cases()
{
    const Piece waves = { BUSY, 8 * 8 * 4, 256, 0, 100 };

    pair("urgent_second", waves, { BUSY, 64, 256, 0, 100, true });
    pair("urgent_first", { BUSY, 64, 256, 0, 100, true }, waves);
    pair("urgent_few", waves, { CHAIN, 4, 128, 0, 400, true });
    pair("up_dram", { UP }, { DRAM, 16, 512, 0, 1200 });
    pair("down_dram", { DOWN }, { DRAM, 16, 512, 0, 1200 });
    pair("up_busy", { UP }, { BUSY, 8, 512, 0, 12000 });
    pair("across_busy", { ACROSS }, { BUSY, 8, 512, 0, 1500 });
    pair("busy_across", { BUSY, 8, 512, 0, 1500 }, { ACROSS });
    pair("fill_busy", { FILL }, { BUSY, 8, 512, 0, 1500 });
    pair("busy_fill", { BUSY, 8, 512, 0, 1500 }, { FILL });
    pair("waves_fill", waves, { FILL });
}

int main(int argc, char **argv)
{
    open(argc, argv);
    out = array<float>(1 << 20);
    big = array<float>(READ_BYTES / sizeof(float));
    check(cudaMallocHost(&pinned, 2 * COPY_BYTES));
    copied = array<char>(2 * COPY_BYTES);
    check(cudaFuncSetAttribute(arithmetic<1>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               140 << 10));
    make_streams();
    arithmetic_cases();
    memory_cases();
    other_cases();
    return 0;
}
