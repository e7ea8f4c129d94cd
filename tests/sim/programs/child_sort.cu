/* child_sort.cu - a recursive quicksort: a kernel partitions a range and launches itself for both
 * halves, each in a stream of its own. Short ranges, and ranges at the greatest depth, are sorted
 * by one thread.
 *
 * expect: ok
 * libraries: cudadevrt
 */
#include "check.h"

#include <algorithm>
#include <vector>

enum { SHORT = 24, DEPTH = 14 };

__device__ void insert_sort(unsigned *data, int left, int right)
{
    for (int i = left + 1; i <= right; i++) {
        const unsigned value = data[i];
        int at = i;
        for (; at > left && data[at - 1] > value; at--)
            data[at] = data[at - 1];
        data[at] = value;
    }
}

__device__ void launch_half(unsigned *data, int left, int right, int depth);

__global__ void quicksort(unsigned *data, int left, int right, int depth)
{
    int low = left, high = right;
    const unsigned pivot = data[(left + right) / 2];

    if (depth >= DEPTH || right - left < SHORT) {
        insert_sort(data, left, right);
        return;
    }
    while (low <= high) {
        while (data[low] < pivot)
            low++;
        while (data[high] > pivot)
            high--;
        if (low <= high) {
            const unsigned value = data[low];
            data[low++] = data[high];
            data[high--] = value;
        }
    }
    launch_half(data, left, high, depth + 1);
    launch_half(data, low, right, depth + 1);
}

__device__ void launch_half(unsigned *data, int left, int right, int depth)
{
    cudaStream_t stream;

    if (left >= right || cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) != cudaSuccess)
        return;
    quicksort<<<1, 1, 0, stream>>>(data, left, right, depth);
    cudaStreamDestroy(stream);
}

int main()
{
    enum { N = 5000 };
    std::vector<unsigned> values(N), sorted;
    unsigned *data, state = 12345;

    for (unsigned &value : values)
        value = (state = state * 1664525 + 1013904223) >> 12;
    sorted = values;
    std::sort(sorted.begin(), sorted.end());
    OK(cudaMalloc(&data, N * sizeof *data));
    OK(cudaMemcpy(data, values.data(), N * sizeof *data, cudaMemcpyHostToDevice));
    quicksort<<<1, 1>>>(data, 0, N - 1, 0);
    OK(cudaGetLastError());
    OK(cudaMemcpy(values.data(), data, N * sizeof *data, cudaMemcpyDeviceToHost));
    CHECK(values == sorted);
    OK(cudaFree(data));
    printf("ok\n");
}
