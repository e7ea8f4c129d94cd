// paging.cu - managed memory that the host has written, used by kernels in different orders.
//
// Rows, in microseconds:
// touch.THREADS.KBYTES: each thread reads a word at a place in mixed order
// stroll.THREADS.KBYTES: and three more words, each at a place that depends on the last one
// near.CHUNKS.BLOCKS: threads of one kernel read a word of the first CHUNKS x 64 KB of each of
//     BLOCKS x 2 MB; apart.CHUNKS.BLOCKS: of CHUNKS that are as far from each other as possible
// turns.ARRAYS.KBYTES: each thread reads from ARRAYS arrays, one after the other; at.ARRAYS.KBYTES:
//     the same at mixed places
// swap.LAUNCHES.KBYTES: kernels copy between an array of the host and one never used, in turn
// kept.LAUNCHES.KBYTES: the same, but the second array is also written by the host
// changed.WORDS: a kernel reads 8 MB, of which the host has changed a word of each of WORDS blocks
#include "measure.cuh"

static int *out;

static void host_writes(int4 *p, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += 4096)
        ((volatile char *) p)[at] = (char) at;
}

// ---- Managed memory ----

__global__ void stroll(const int4 *p, size_t count, int steps, int *out)
{
    uint32_t at = mixed(blockIdx.x * blockDim.x + threadIdx.x);

    for (int step = 0; step < steps; step++)
        at = mixed(at + step + p[at % count].x);
    if (at == 123456)
        *out = 1;
}

// Thread i reads a word of chunk i % chunks of block i / chunks.
__global__ void read_few(const int4 *p, int chunks, int blocks, int apart, int *out)
{
    const size_t chunk = (64 << 10) / sizeof(int4);
    const int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < chunks * blocks &&
        p[((size_t) (i / chunks) * 32 + (size_t) (i % chunks) * apart) * chunk].x == 123456)
        *out = 1;
}

struct Arrays {
    int4 *at[4];
};

__global__ void read_in_turn(Arrays arrays, int count, size_t words, bool mix, int *out)
{
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    int sum = 0;

    for (int a = 0; a < count; a++)
        sum += arrays.at[a][((mix ? mixed(i + a) : i) + (sum & 0x40000000)) % words].x;
    if (sum == 123456)
        *out = sum;
}

__global__ void copy_all(int4 *to, const int4 *from, size_t count)
{
    for (size_t i = (size_t) blockIdx.x * blockDim.x + threadIdx.x; i < count;
         i += (size_t) gridDim.x * blockDim.x) {
        const int4 v = from[i];
        to[i] = make_int4(v.x + 1, v.y, v.z, v.w);
    }
}

// The median over new arrays. The host writes the first `written` of them.
template <class Work>
static void managed_row(const char *group, int first, int second, size_t bytes, int arrays,
                        int written, Work work)
{
    enum { MOST = 9 };
    const int samples = repeats < MOST ? repeats : MOST;
    float us[MOST];
    char name[64];

    if (!is_wanted(group))
        return;
    for (int i = 0; i < samples; i++) {
        Arrays a;
        for (int k = 0; k < arrays; k++) {
            check(cudaMallocManaged(&a.at[k], bytes));
            if (k < written)
                host_writes(a.at[k], bytes);
        }
        check(cudaDeviceSynchronize());
        us[i] = once([&] { work(a); }) * 1e3f;
        check(cudaDeviceSynchronize());
        for (int k = 0; k < arrays; k++)
            check(cudaFree(a.at[k]));
    }
    qsort(us, samples, sizeof *us, by_size);
    snprintf(name, sizeof name, "%s.%d.%d", group, first, second);
    row(name, us[samples / 2], "us");
}

static void stroll_rows(const char *group, int steps)
{
    for (int kbytes : { 2048, 8192, 16384, 32768, 65536 })
        for (int threads : { 32, 512, 4096, 131072 }) {
            const size_t bytes = (size_t) kbytes << 10;
            managed_row(group, threads, kbytes, bytes, 1, 1, [=](const Arrays &a) {
                const int block = threads < 128 ? threads : 128;
                stroll<<<threads / block, block>>>(a.at[0], bytes / sizeof(int4), steps, out);
            });
        }
}

static void few_rows(const char *group, bool far)
{
    for (int blocks : { 1, 4, 16 })
        for (int chunks : { 1, 2, 4, 8, 16, 32 })
            if (!far || (chunks > 1 && chunks < 32))
                managed_row(group, chunks, blocks, (size_t) blocks << 21, 1, 1,
                            [=](const Arrays &a) {
                                read_few<<<(chunks * blocks + 31) / 32, 32>>>(
                                    a.at[0], chunks, blocks, far ? 32 / chunks : 1, out);
                            });
}

static void turn_rows(const char *group, bool mix)
{
    for (int kbytes : { 1024, 2048, 8192 })
        for (int arrays = 1; arrays <= 4; arrays *= 2) {
            const size_t bytes = (size_t) kbytes << 10, words = bytes / sizeof(int4);
            managed_row(group, arrays, kbytes, bytes, arrays, arrays, [=](const Arrays &a) {
                read_in_turn<<<(int) (words / 256), 256>>>(a, arrays, words, mix, out);
            });
        }
}

static void swap_rows(const char *group, int written)
{
    for (int kbytes : { 2304, 8192 })
        for (int launches : { 1, 2, 5 }) {
            const size_t bytes = (size_t) kbytes << 10, words = bytes / sizeof(int4);
            managed_row(group, launches, kbytes, bytes, 2, written, [=](const Arrays &a) {
                for (int i = 0; i < launches; i++)
                    copy_all<<<(int) (words / 256), 256>>>(a.at[1 - i % 2], a.at[i % 2], words);
            });
        }
}

static void changed_rows()
{
    const size_t bytes = 8 << 20, words = bytes / sizeof(int4);
    int4 *p;

    if (!is_wanted("changed"))
        return;
    check(cudaMallocManaged(&p, bytes));
    host_writes(p, bytes);
    for (int changes = 0; changes <= 4; changes++) {
        char name[64];
        float ms = 0;
        for (int i = 0; i < 5; i++) { // the last one counts
            for (int k = 0; k < changes; k++)
                ((volatile int4 *) p)[(k << 17) + 4096].x = i;
            check(cudaDeviceSynchronize());
            ms = once([&] { stroll<<<(int) (words / 256), 256>>>(p, words, 1, out); });
        }
        snprintf(name, sizeof name, "changed.%d", changes);
        row(name, ms * 1e3, "us");
    }
    check(cudaFree(p));
}

int main(int argc, char **argv)
{
    open(argc, argv);
    out = array<int>(1);
    stroll<<<1, 32>>>((int4 *) out, 1, 0, out);
    stroll_rows("touch", 1);
    stroll_rows("stroll", 4);
    few_rows("near", false);
    few_rows("apart", true);
    turn_rows("turns", false);
    turn_rows("at", true);
    swap_rows("swap", 1);
    swap_rows("kept", 2);
    changed_rows();
    return 0;
}
