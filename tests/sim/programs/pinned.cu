/* pinned.cu - asynchronous copies from and to pinned and pageable memory: without a wait, the host
 * always reads the old bytes; pageable memory is read immediately.
 *
 * expect: ok
 */
#include "check.h"

enum { COUNT = 1000, LOOPS = 300000 };

static __global__ void slowly_double(int *x, int loops)
{
    int i = threadIdx.x + blockIdx.x * blockDim.x, lost = 0;

    for (int k = 0; k < loops; k++)
        lost += clock() == 12345 + k;
    if (i < COUNT)
        x[i] = x[i] * 2 + (lost == 999999999);
}

/* Pinned memory is always mapped and portable; further flags are those of the call. */
static unsigned flags_of(void *host)
{
    unsigned flags = 0;

    OK(cudaHostGetFlags(&flags, host));
    return flags;
}

static void check_flags()
{
    static char page[4096];
    void *plain, *combined;

    OK(cudaMallocHost(&plain, 64));
    CHECK(flags_of(plain) == (cudaHostAllocPortable | cudaHostAllocMapped));
    OK(cudaHostAlloc(&combined, 64, cudaHostAllocWriteCombined));
    CHECK(flags_of(combined) ==
          (cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined));
    OK(cudaHostRegister(page, sizeof page, cudaHostRegisterReadOnly));
    CHECK(flags_of(page) ==
          (cudaHostAllocPortable | cudaHostAllocMapped | cudaHostRegisterReadOnly));
    OK(cudaHostUnregister(page));
    OK(cudaFreeHost(plain));
    OK(cudaFreeHost(combined));
}

int main()
{
    const size_t bytes = COUNT * sizeof(int);
    int *in, *out, *device, *mapped;
    int *pageable = (int *) malloc(bytes);

    OK(cudaMallocHost(&in, bytes));
    OK(cudaHostAlloc(&out, bytes, cudaHostAllocMapped));
    OK(cudaMalloc(&device, bytes));
    for (int i = 0; i < COUNT; i++)
        in[i] = i, out[i] = -1;

    /* a missing cudaStreamSynchronize */
    OK(cudaMemcpyAsync(device, in, bytes, cudaMemcpyHostToDevice));
    slowly_double<<<4, 256>>>(device, LOOPS);
    OK(cudaMemcpyAsync(out, device, bytes, cudaMemcpyDeviceToHost));
    CHECK(out[COUNT - 1] == -1);
    OK(cudaDeviceSynchronize());
    for (int i = 0; i < COUNT; i++)
        CHECK(out[i] == 2 * i);

    /* pinned memory that is changed too early */
    slowly_double<<<4, 256>>>(device, LOOPS);
    OK(cudaMemcpyAsync(device, in, bytes, cudaMemcpyHostToDevice));
    in[3] = 33;
    OK(cudaMemcpy(out, device, bytes, cudaMemcpyDeviceToHost));
    CHECK(out[3] == 33 && out[4] == 4);

    /* pageable memory is read during the call */
    for (int i = 0; i < COUNT; i++)
        pageable[i] = 5 * i;
    slowly_double<<<4, 256>>>(device, 1);
    OK(cudaMemcpyAsync(device, pageable, bytes, cudaMemcpyHostToDevice));
    pageable[7] = -7;
    OK(cudaMemcpyAsync(pageable, device, bytes, cudaMemcpyDeviceToHost)); /* waits */
    CHECK(pageable[7] == 35);

    /* the kernel writes to the host's memory itself */
    OK(cudaHostGetDevicePointer(&mapped, out, 0));
    OK(cudaMemset(device, 0, bytes));
    slowly_double<<<4, 256>>>(mapped, 1);
    OK(cudaStreamSynchronize(0));
    CHECK(out[4] == 8);

    /* registered memory */
    OK(cudaHostRegister(pageable, bytes, cudaHostRegisterDefault));
    EXPECT(cudaErrorHostMemoryAlreadyRegistered, cudaHostRegister(pageable, bytes, 0));
    slowly_double<<<4, 256>>>(pageable, 1);
    OK(cudaDeviceSynchronize());
    CHECK(pageable[7] == 70);
    OK(cudaHostUnregister(pageable));
    free(pageable);
    check_flags();
    OK(cudaFree(device));
    OK(cudaFreeHost(in));
    OK(cudaFreeHost(out));
    puts("ok");
}
