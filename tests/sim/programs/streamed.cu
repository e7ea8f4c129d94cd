/* streamed.cu - work in pieces over streams and events, and a grid that reduces together.
 *
 * expect: ok
 */
#include "digest.h"

#include <cooperative_groups.h>

/* ---- Pieces: copied in, computed and copied out in three streams, in turns ---- */

enum { PIECE = 1000, PIECES = 7, N = PIECE * PIECES, STREAMS = 3 };

static __global__ void polynomial(const int *x, int *y, int n, int a)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        y[i] = (x[i] * x[i] + a) * x[i] - a;
}

/* Needs the results of two streams. */
static __global__ void joined(const int *y, int *sums)
{
    int piece = threadIdx.x;

    for (int i = 0; i < PIECE; i++)
        sums[piece] += y[piece * PIECE + i];
}

static void pieces()
{
    Array<int> x(N), y(N), sums(PIECES);
    cudaStream_t streams[STREAMS];
    cudaEvent_t begun, done[STREAMS];
    int *pinned_x, *pinned_y;
    float ms = -1;

    OK(cudaMallocHost(&pinned_x, N * sizeof(int)));
    OK(cudaMallocHost(&pinned_y, N * sizeof(int)));
    for (int i = 0; i < N; i++)
        pinned_x[i] = i * 7919 % 10007;
    OK(cudaEventCreate(&begun));
    for (int s = 0; s < STREAMS; s++) {
        OK(cudaStreamCreateWithFlags(&streams[s], cudaStreamNonBlocking));
        OK(cudaEventCreate(&done[s]));
    }
    sums.clear();
    OK(cudaDeviceSynchronize());
    OK(cudaEventRecord(begun, streams[0]));
    for (int p = 0; p < PIECES; p++) {
        int at = p * PIECE;
        cudaStream_t stream = streams[p % STREAMS];
        OK(cudaMemcpyAsync(x.device + at, pinned_x + at, PIECE * sizeof(int),
                           cudaMemcpyHostToDevice, stream));
        polynomial<<<4, 128, 0, stream>>>(x.device + at, y.device + at, PIECE, p);
        OK(cudaMemcpyAsync(pinned_y + at, y.device + at, PIECE * sizeof(int),
                           cudaMemcpyDeviceToHost, stream));
    }
    for (int s = 1; s < STREAMS; s++) {
        OK(cudaEventRecord(done[s], streams[s]));
        OK(cudaStreamWaitEvent(streams[0], done[s], 0));
    }
    joined<<<1, PIECES, 0, streams[0]>>>(y.device, sums.device);
    OK(cudaEventRecord(done[0], streams[0]));
    OK(cudaEventSynchronize(done[0]));
    OK(cudaEventElapsedTime(&ms, begun, done[0]));
    CHECK(ms > 0);
    sums.down();
    for (int p = 0; p < PIECES; p++) {
        unsigned sum = 0;
        for (int i = p * PIECE; i < (p + 1) * PIECE; i++) {
            unsigned v = pinned_x[i], want = (v * v + p) * v - p;
            CHECK((unsigned) pinned_y[i] == want);
            sum += want;
        }
        CHECK((unsigned) sums[p] == sum);
    }
    digest("pieces", sums);
    for (int s = 0; s < STREAMS; s++) {
        OK(cudaStreamDestroy(streams[s]));
        OK(cudaEventDestroy(done[s]));
    }
    OK(cudaEventDestroy(begun));
    OK(cudaFreeHost(pinned_x));
    OK(cudaFreeHost(pinned_y));
}

/* ---- Grid synchronisation: halves of the array are added until one element is left ---- */

static __global__ void reduce_together(long long *x, int n)
{
    cooperative_groups::grid_group grid = cooperative_groups::this_grid();

    for (int half = (n + 1) / 2; n > 1; n = half, half = (n + 1) / 2) {
        for (int i = (int) grid.thread_rank(); i + half < n; i += (int) grid.num_threads())
            x[i] += x[i + half];
        grid.sync();
    }
}

static void together()
{
    int n = 5001;
    Array<long long> x(n);
    Random random(50);
    long long want = 0;
    void *arguments[] = { &x.device, &n };

    for (int i = 0; i < n; i++)
        want += x[i] = (long long) random.next64() >> 16;
    x.up();
    OK(cudaLaunchCooperativeKernel((void *) reduce_together, dim3(6), dim3(128), arguments, 0, 0));
    x.down();
    CHECK(x[0] == want);
    digest("together", x);
}

/* ---- One thread of each block waits for a lock that the blocks share ---- */

static __global__ void locked(int *lock, long long *total)
{
    if (threadIdx.x == 0) {
        while (atomicCAS(lock, 0, 1))
            ;
        __threadfence();
        *(volatile long long *) total = *(volatile long long *) total * 1 + blockIdx.x + 1;
        __threadfence();
        atomicExch(lock, 0);
    }
}

static void locks()
{
    Array<int> lock(1);
    Array<long long> total(1);

    lock.clear();
    total.clear();
    locked<<<50, 64>>>(lock.device, total.device);
    total.down();
    CHECK(total[0] == 50 * 51 / 2);
    digest("locked", total);
}

int main()
{
    pieces();
    together();
    locks();
    puts("ok");
}
