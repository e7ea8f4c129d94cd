/* schedules.cu - the order of blocks and warps: some orders show the effect of a missing barrier.
 * Only results are checked here, not races.
 *
 * case unsynchronised_forward SIM_CHECKS=none
 *   says: 11440 cudaSuccess
 * case unsynchronised_reverse SIM_CHECKS=none SIM_SCHED=reverse
 *   says: -528 cudaSuccess
 * case unsynchronised_random SIM_CHECKS=none SIM_SCHED=random:1
 *   says: -528 cudaSuccess
 * case blocks_forward SIM_CHECKS=none
 *   says: 240 cudaSuccess
 * case blocks_reverse SIM_CHECKS=none SIM_SCHED=reverse
 *   says: 44 cudaSuccess
 * case blocks_random SIM_CHECKS=none SIM_SCHED=random:3
 *   says: 52 cudaSuccess
 * case right_forward
 *   says: 23422080 3275520 cudaSuccess
 * case right_reverse SIM_SCHED=reverse
 *   says: 23422080 3275520 cudaSuccess
 * case right_random SIM_SCHED=random:1
 *   says: 23422080 3275520 cudaSuccess
 * case right_random_again SIM_SCHED=random:77
 *   says: 23422080 3275520 cudaSuccess
 * case told_forward
 *   reported: race @read
 *   says: 11440 cudaSuccess
 * case told_reverse SIM_SCHED=reverse
 *   reported: uninitialised @read
 *   reported: race @write
 *   says: -528 cudaSuccess
 * case told_random SIM_SCHED=random:5
 *   reported: uninitialised @read
 *   reported: race @write
 *   says: -528 cudaSuccess
 */
#include "faults.h"

/* Warp 1 reads what warp 0 writes: correct only if warp 0 runs first. */
__global__ void unsynchronised_kernel(int *out)
{
    __shared__ int s[32];

    if (threadIdx.x < 32)
        s[threadIdx.x] = threadIdx.x + 1; // @write
    if (threadIdx.x >= 32)
        out[threadIdx.x - 32] = s[threadIdx.x - 32]; // @read
}

/* Each block adds to the sum of the previous block. */
__global__ void blocks_kernel(int *sums)
{
    if (threadIdx.x == 0)
        sums[blockIdx.x + 1] = sums[blockIdx.x] + 1;
}

/* Blocks, warps and barriers; the same in any order. */
__global__ void right_kernel(int *out, int *total)
{
    __shared__ int s[256];
    int t = threadIdx.x;

    s[t] = blockIdx.x * 256 + t;
    __syncthreads();
    for (int d = 128; d; d /= 2) {
        if (t < d)
            s[t] += s[t + d];
        __syncthreads();
    }
    if (t == 0) {
        out[blockIdx.x] = s[0];
        atomicAdd(total, s[0]);
    }
}

static void print_sum(const int *a, int n)
{
    int host[64] = { 0 }, sum = 0;

    cudaMemcpy(host, a, n * sizeof *host, cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; i++)
        sum += host[i] * (i + 1);
    printf("%d ", sum);
}

static void unsynchronised()
{
    int *out = zeros<int>(32);

    unsynchronised_kernel<<<1, 64>>>(out);
    print_sum(out, 32);
}

static void blocks()
{
    int *sums = zeros<int>(9);

    blocks_kernel<<<8, 32>>>(sums);
    print_sum(sums, 9);
}

static void right()
{
    int *out = zeros<int>(10), *total = zeros<int>(1);

    right_kernel<<<10, 256>>>(out, total);
    print_sum(out, 10);
    print_sum(total, 1);
}

int main(int argc, char **argv)
{
    static const Case cases[] = {
        { "unsynchronised_forward", unsynchronised },
        { "unsynchronised_reverse", unsynchronised },
        { "unsynchronised_random", unsynchronised },
        { "blocks_forward", blocks },
        { "blocks_reverse", blocks },
        { "blocks_random", blocks },
        { "right_forward", right },
        { "right_reverse", right },
        { "right_random", right },
        { "right_random_again", right },
        { "told_forward", unsynchronised },
        { "told_reverse", unsynchronised },
        { "told_random", unsynchronised },
    };

    return run_case(cases, argc, argv);
}
