// copies.cu - copies and kernels that follow each other, and work that shares the link to the host.
//
// All work is issued while a kernel runs. Kernels of LOOPS have one block.
// Rows in microseconds per round, of a stream:
// up.KBYTES, down.KBYTES: copies
// up_kernel.KBYTES.LOOPS, kernel_down.KBYTES.LOOPS: a copy and a kernel
// three.KBYTES.LOOPS: a copy up, a kernel, a copy down
// hand.KBYTES.LOOPS: a copy up in a stream, a kernel in another one after it, and so on in turn
// buffers.STREAMS.KBYTES.LOOPS: as `three`, in several streams in turn
// ways.KBYTES: a copy up in a stream, one down in another
// Rows in microseconds for MBYTES of each kind of work at the same time, in a stream each:
// link.KIND.MBYTES, link.KIND.KIND.MBYTES: up, down (copies), read, write, both (a kernel that uses
//     memory of cudaMallocHost, with two blocks per SM)
#include "queued.cuh"

enum { ROUNDS = 32, MOST_BUFFERS = 8 };

static const size_t MBYTE = 1 << 20, MOST_BYTES = 32 * MBYTE;
static char *host[2], *device[2];

static void up(size_t bytes, int stream, int buffer = 0)
{
    const size_t at = buffer * bytes;

    check(cudaMemcpyAsync(device[0] + at, host[0] + at, bytes, cudaMemcpyHostToDevice,
                          streams[stream]));
}

static void down(size_t bytes, int stream, int buffer = 0)
{
    const size_t at = buffer * bytes;

    check(cudaMemcpyAsync(host[1] + at, device[1] + at, bytes, cudaMemcpyDeviceToHost,
                          streams[stream]));
}

// ---- One piece after another ----

static void copy_rows(size_t kbytes)
{
    const size_t bytes = kbytes << 10;
    char name[64];

    snprintf(name, sizeof name, "up.%zu", kbytes);
    report(name, 1, ROUNDS, [=] {
        for (int i = 0; i < ROUNDS; i++)
            up(bytes, 0);
    });
    snprintf(name, sizeof name, "down.%zu", kbytes);
    report(name, 1, ROUNDS, [=] {
        for (int i = 0; i < ROUNDS; i++)
            down(bytes, 0);
    });
    snprintf(name, sizeof name, "ways.%zu", kbytes);
    report(name, 2, ROUNDS, [=] {
        for (int i = 0; i < ROUNDS; i++) {
            up(bytes, 0);
            down(bytes, 1);
        }
    });
}

static void relay_rows(size_t kbytes, int loops)
{
    const size_t bytes = kbytes << 10;
    char name[64];

    for (int kind = 1; kind <= 3; kind++) {
        static const char *const names[] = { "", "up_kernel", "kernel_down", "three" };
        snprintf(name, sizeof name, "%s.%zu.%d", names[kind], kbytes, loops);
        report(name, 1, ROUNDS, [=] {
            for (int i = 0; i < ROUNDS; i++) {
                if (kind != 2)
                    up(bytes, 0);
                kernel(loops, streams[0]);
                if (kind != 1)
                    down(bytes, 0);
            }
        });
    }
}

static void hand_row(size_t kbytes, int loops)
{
    char name[64];

    snprintf(name, sizeof name, "hand.%zu.%d", kbytes, loops);
    report(name, 2, ROUNDS, [=] {
        for (int i = 0; i < ROUNDS; i++) {
            up(kbytes << 10, 0);
            check(cudaEventRecord(joins[2], streams[0]));
            check(cudaStreamWaitEvent(streams[1], joins[2], 0));
            kernel(loops, streams[1]);
            check(cudaEventRecord(joins[3], streams[1]));
            check(cudaStreamWaitEvent(streams[0], joins[3], 0));
        }
    });
}

static void buffer_row(int buffers, size_t kbytes, int loops)
{
    char name[64];

    snprintf(name, sizeof name, "buffers.%d.%zu.%d", buffers, kbytes, loops);
    report(name, buffers, ROUNDS, [=] {
        for (int i = 0; i < ROUNDS; i++) {
            const int b = i % buffers;
            up(kbytes << 10, b, b);
            kernel(loops, streams[b]);
            down(kbytes << 10, b, b);
        }
    });
}

// ---- The link ----

enum Kind { UP, DOWN, READ, WRITE, BOTH, KINDS };

__global__ void use_host(const int4 *in, int4 *out, size_t count, int *total)
{
    int sum = 0;

    for (size_t i = (size_t) blockIdx.x * blockDim.x + threadIdx.x; i < count;
         i += (size_t) gridDim.x * blockDim.x) {
        const int4 v = in ? in[i] : make_int4(1, 2, 3, 4);
        if (out)
            out[i] = v;
        else
            sum += v.x + v.w;
    }
    if (sum == 123456)
        *total = sum;
}

static void use(Kind kind, size_t bytes, int stream)
{
    char *in = host[0] + stream * MOST_BYTES, *to = host[1] + stream * MOST_BYTES;

    if (kind == UP || kind == DOWN) {
        const bool is_up = kind == UP;
        check(cudaMemcpyAsync(is_up ? device[0] : to, is_up ? in : device[1], bytes,
                              is_up ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost,
                              streams[stream]));
        return;
    }
    use_host<<<2 * sms, 256, 0, streams[stream]>>>(kind == WRITE ? NULL : (const int4 *) in,
                                                   kind == READ ? NULL : (int4 *) to,
                                                   bytes / sizeof(int4), (int *) out);
}

static void link_rows(size_t mbytes)
{
    static const char *const names[] = { "up", "down", "read", "write", "both" };
    char name[64];

    for (int a = 0; a < KINDS; a++) {
        snprintf(name, sizeof name, "link.%s.%zu", names[a], mbytes);
        report(name, 1, 1, [=] { use((Kind) a, mbytes * MBYTE, 0); });
        for (int b = a; b < KINDS; b++) {
            snprintf(name, sizeof name, "link.%s.%s.%zu", names[a], names[b], mbytes);
            report(name, 2, 1, [=] {
                use((Kind) a, mbytes * MBYTE, 0);
                use((Kind) b, mbytes * MBYTE, 1);
            });
        }
    }
}

int main(int argc, char **argv)
{
    static const struct {
        size_t kbytes;
        int loops;
    } stages[] = { { 4, 0 }, { 64, 30 }, { 256, 130 }, { 512, 260 }, { 2048, 1040 } };

    open(argc, argv);
    open_streams();
    for (int i = 0; i < 2; i++) {
        check(cudaMallocHost(&host[i], 2 * MOST_BYTES));
        memset(host[i], 0, 2 * MOST_BYTES);
        device[i] = array<char>(MOST_BYTES);
    }
    for (auto stage : stages) {
        if (is_wanted("relay")) {
            copy_rows(stage.kbytes);
            relay_rows(stage.kbytes, stage.loops);
            hand_row(stage.kbytes, stage.loops);
        }
        for (int buffers = 2; buffers <= MOST_BUFFERS && is_wanted("buffers"); buffers++)
            if (buffers <= 4 || buffers == MOST_BUFFERS)
                buffer_row(buffers, stage.kbytes, stage.loops);
    }
    for (size_t mbytes = 2; mbytes <= 32 && is_wanted("link"); mbytes *= 4)
        link_rows(mbytes);
    return 0;
}
