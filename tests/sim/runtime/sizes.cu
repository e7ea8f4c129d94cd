/* sizes.cu - allocations and copies of absurd sizes on a GPU with 4 GiB; `sizes touch MiB` writes
 * that much device memory. */
#include "../programs/check.h"

#include <climits>
#include <cstdint>
#include <cstring>

static __global__ void touch(int4 *x, size_t count)
{
    for (size_t i = blockIdx.x * (size_t) blockDim.x + threadIdx.x; i < count;
         i += (size_t) gridDim.x * blockDim.x)
        x[i] = make_int4(1, 2, 3, 4);
}

/* Allocates memory, fills it with a kernel, and prints the peak memory of the process in KiB. */
static void allocate_and_touch(size_t bytes)
{
    int4 *x;
    char line[200];
    FILE *status = fopen("/proc/self/status", "r");

    OK(cudaMalloc(&x, bytes));
    touch<<<64, 128>>>(x, bytes / sizeof *x);
    OK(cudaDeviceSynchronize());
    while (status && fgets(line, sizeof line, status))
        if (!strncmp(line, "VmHWM:", 6))
            printf("%ld\n", atol(line + 6));
    OK(cudaFree(x));
    exit(0);
}

int main(int argc, char **argv)
{
    static const size_t absurd[] = { SIZE_MAX,     SIZE_MAX - 511,   (size_t) 1 << 63,
                                     SIZE_MAX / 2, (size_t) 1 << 47, ((size_t) 4 << 30) + 1 };
    size_t pitch, free_bytes, total, more;
    cudaPitchedPtr box;
    char *x, *y, host[16];

    if (argc > 2)
        allocate_and_touch(strtoull(argv[2], NULL, 10) << 20);
    for (size_t bytes : absurd) {
        EXPECT(cudaErrorMemoryAllocation, cudaMalloc(&x, bytes));
        EXPECT(cudaErrorMemoryAllocation, cudaMallocManaged(&x, bytes));
        EXPECT(cudaErrorMemoryAllocation, cudaMallocAsync(&x, bytes, 0));
        EXPECT(cudaErrorMemoryAllocation, cudaMallocPitch(&x, &pitch, bytes / 2, 3));
        if (bytes >= (size_t) 1 << 47)
            EXPECT(cudaErrorMemoryAllocation, cudaMallocHost(&x, bytes));
    }
    EXPECT(cudaErrorMemoryAllocation,
           cudaMalloc3D(&box, make_cudaExtent(1 << 20, 1 << 20, 1 << 20)));
    cudaGetLastError();

    /* all free memory can be allocated, but not more, and it can be freed again */
    OK(cudaMemGetInfo(&free_bytes, &total));
    CHECK(total == (size_t) 4 << 30);
    OK(cudaMalloc(&x, free_bytes));
    EXPECT(cudaErrorMemoryAllocation, cudaMalloc(&y, (size_t) 1 << 20));
    OK(cudaFree(x));
    OK(cudaMemGetInfo(&more, &total));
    CHECK(more == free_bytes);

    /* copies beyond the end of either side */
    OK(cudaMalloc(&x, 1000));
    EXPECT(cudaErrorInvalidValue, cudaMemcpy(x, host, SIZE_MAX, cudaMemcpyHostToDevice));
    EXPECT(cudaErrorInvalidValue, cudaMemcpy(x, host, 1001, cudaMemcpyHostToDevice));
    EXPECT(cudaErrorInvalidValue, cudaMemset(x, 0, SIZE_MAX));
    EXPECT(cudaErrorInvalidValue, cudaMemset(x + 999, 0, 2));
    EXPECT(cudaErrorInvalidValue,
           cudaMemcpy2D(x, SIZE_MAX, host, 16, 16, 2, cudaMemcpyHostToDevice));
    cudaGetLastError();
    OK(cudaFree(x));
    puts("ok");
}
