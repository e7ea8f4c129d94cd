// traffic.cu - how long a load waits while the memory is busy, and what is left in the L2 after an
// array was read, written or copied.
//
// Rows: flight.HOW.W   W warps per SM, one iteration of the loop in flight each, on 256 MiB: read
//                      (a load), copy (a load and a store), add (two loads and a store). In ns per
//                      iteration.
//       left.HOW.N     reads N MiB right after they were: read by a kernel, written by one, copied
//                      to (cudaMemcpyAsync), set (cudaMemsetAsync), or displaced by reading 256 MiB
//                      of other data (flushed). In GB/s.
#include "measure.cuh"

enum { BLOCK = 256, LARGE = 1 << 26 };

static float *x, *y, *out;

// ---- Loads in flight ----

__global__ void read(float *out, const float *x, const float *, int n)
{
    float sum = 0;

#pragma unroll 1
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        sum += x[i];
    if (sum == 1)
        *out = sum;
}

__global__ void copy(float *y, const float *x, const float *, int n)
{
#pragma unroll 1
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        y[i] = x[i];
}

__global__ void add(float *y, const float *x, const float *z, int n)
{
#pragma unroll 1
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        y[i] = 2 * x[i] + z[i];
}

typedef void Loop(float *to, const float *x, const float *z, int n);

static void flight(const char *how, Loop *loop, float *to)
{
    const int n = LARGE / share;

    for (int warps = 1; warps <= 64; warps *= 2) {
        const int threads = warps * 32 < BLOCK ? warps * 32 : BLOCK;
        const int blocks = sms * (warps * 32 / threads);
        char name[40];
        const double ns = timed([=] { loop<<<blocks, threads>>>(to, x, y, n); });

        snprintf(name, sizeof name, "flight.%s.%d", how, warps);
        row(name, ns / ((double) n / ((double) blocks * threads)), "ns/iteration");
    }
}

// ---- What is left in the L2 ----

static void sweep(const float *from, size_t bytes)
{
    read<<<sms * 8, BLOCK>>>(out, from, NULL, (int) (bytes / sizeof(float)));
}

static void leave(const char *how, size_t bytes)
{
    const int n = (int) (bytes / sizeof(float));

    sweep(y + LARGE / 2, (size_t) LARGE * 2);
    if (!strcmp(how, "read"))
        sweep(x, bytes);
    else if (!strcmp(how, "written"))
        copy<<<sms * 8, BLOCK>>>(x, y, NULL, n);
    else if (!strcmp(how, "copied"))
        check(cudaMemcpyAsync(x, y, bytes, cudaMemcpyDeviceToDevice));
    else if (!strcmp(how, "set"))
        check(cudaMemsetAsync(x, 0, bytes));
}

static void left(const char *how)
{
    static const int mib[] = { 8, 16, 24, 32, 40, 48 };

    for (size_t i = 0; i < sizeof mib / sizeof *mib; i++) {
        const size_t bytes = (size_t) mib[i] << 20;
        double ns[9];
        char name[40];
        const int samples = repeats < 9 ? repeats : 9;

        for (int k = 0; k < samples; k++) {
            leave(how, bytes);
            ns[k] = once([=] { sweep(x, bytes); }) * 1e6;
        }
        for (int k = 1; k < samples; k++) // the fastest: the others were disturbed
            ns[0] = ns[k] < ns[0] ? ns[k] : ns[0];
        snprintf(name, sizeof name, "left.%s.%d", how, mib[i]);
        row(name, (double) bytes / ns[0], "GB/s");
    }
}

int main(int argc, char **argv)
{
    static const char *const ways[] = { "read", "written", "copied", "set", "flushed" };

    open(argc, argv);
    x = array<float>(LARGE);
    y = array<float>(LARGE);
    out = array<float>(1);
    if (is_wanted("flight")) {
        flight("read", read, out);
        flight("copy", copy, y);
        flight("add", add, y);
    }
    for (const char *how : ways)
        if (is_wanted("left"))
            left(how);
    return 0;
}
