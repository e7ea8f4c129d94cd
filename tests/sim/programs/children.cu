/* children.cu - kernels that launch kernels: the order of children and tail launches, streams,
 * copies and fills in kernels, memory, and parameters of all sizes.
 *
 * expect: ok
 * libraries: cudadevrt
 * schedules: forward reverse random:3
 */
#include "check.h"

__device__ int order[64], noted;

__global__ void note(int number)
{
    order[noted++] = number;
}

__global__ void note_and_launch(int number, int child)
{
    order[noted++] = number;
    note<<<1, 1>>>(child);
}

/* A child is complete when its children are, so 2 comes before 3. */
__global__ void family()
{
    note_and_launch<<<1, 1, 0, cudaStreamTailLaunch>>>(4, 5);
    note_and_launch<<<1, 1>>>(1, 2);
    note<<<1, 1, 0, cudaStreamTailLaunch>>>(6);
    note<<<1, 1>>>(3);
}

/* Tail launches do not nest, so their number has no limit. */
__global__ void count_down(int left)
{
    if (left)
        count_down<<<1, 1, 0, cudaStreamTailLaunch>>>(left - 1);
    else
        order[noted++] = 7;
}

__global__ void add(int *to, int value, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        to[i] += value;
}

/* A stream that one thread creates and all use: fill, add, copy. */
__global__ void in_stream(int *out, int *scratch, int n)
{
    __shared__ cudaStream_t stream;

    if (threadIdx.x == 0)
        cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    __syncthreads();
    if (threadIdx.x == blockDim.x - 1) {
        cudaMemsetAsync(scratch, 0, n * sizeof(int), stream);
        add<<<(n + 63) / 64, 64, 0, stream>>>(scratch, 5, n);
        cudaMemcpyAsync(out, scratch, n * sizeof(int), cudaMemcpyDeviceToDevice, stream);
        add<<<(n + 63) / 64, 64, 0, stream>>>(out, 2, n);
        cudaStreamDestroy(stream);
    }
}

struct Large {
    int values[300];
};

__global__ void sum_of(Large large, int *out)
{
    int sum = 0;

    for (int i = 0; i < 300; i++)
        sum += large.values[i];
    atomicAdd(out, sum);
}

/* Each thread has its own buffer for the parameters. */
__global__ void large_parameters(int *out)
{
    Large large;

    for (int i = 0; i < 300; i++)
        large.values[i] = threadIdx.x;
    sum_of<<<1, 1, 0, cudaStreamFireAndForget>>>(large, out);
}

template <typename T> __global__ void fill(T *to, T value)
{
    extern __shared__ char buffer[];
    T *shared = (T *) buffer;

    shared[threadIdx.x] = value;
    __syncthreads();
    to[threadIdx.x] = shared[blockDim.x - 1 - threadIdx.x];
}

__global__ void free_it(double *memory, int *out)
{
    *out = memory[31] == 2.5;
    free(memory);
}

/* Memory of the heap, which a child fills and another one frees; templates that only kernels use.
 */
__global__ void heap(int *out)
{
    double *memory = NULL;

    if (cudaMalloc(&memory, 32 * sizeof(double)) != cudaSuccess)
        return;
    fill<double><<<1, 32, 32 * sizeof(double)>>>(memory, 2.5);
    free_it<<<1, 1>>>(memory, out);
}

static void check_order()
{
    int seen[64], count;

    family<<<1, 1>>>();
    count_down<<<1, 1>>>(100);
    note<<<1, 1>>>(8);
    OK(cudaMemcpyFromSymbol(seen, order, sizeof seen));
    OK(cudaMemcpyFromSymbol(&count, noted, sizeof count));
    CHECK(count == 8);
    for (int i = 0; i < count; i++)
        CHECK(seen[i] == i + 1);
}

static void check_values()
{
    enum { N = 1000 };
    int *out, *scratch, values[N];

    OK(cudaMalloc(&out, sizeof values));
    OK(cudaMalloc(&scratch, sizeof values));
    in_stream<<<1, 32>>>(out, scratch, N);
    OK(cudaMemcpy(values, out, sizeof values, cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; i++)
        CHECK(values[i] == 7);
    OK(cudaMemset(out, 0, sizeof values));
    large_parameters<<<1, 40>>>(out);
    OK(cudaMemcpy(values, out, sizeof values, cudaMemcpyDeviceToHost));
    CHECK(values[0] == 300 * 40 * 39 / 2);
    heap<<<1, 1>>>(out);
    OK(cudaMemcpy(values, out, sizeof values, cudaMemcpyDeviceToHost));
    CHECK(values[0] == 1);
    OK(cudaFree(out));
    OK(cudaFree(scratch));
}

int main()
{
    check_order();
    check_values();
    printf("ok\n");
}
