/* driver_mixed.cu - the driver and the runtime in one program: memory, streams and kernels of one
 * used by the other, and calls found by name.
 *
 * libraries: cuda
 * expect: ok
 */
#include "check_driver.h"

#include <cstring>
#include <dlfcn.h>
#include <vector>

enum { N = 1000 };

static __global__ void triple(int *x, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        x[i] *= 3;
}

static void fill(std::vector<int> &host)
{
    for (int i = 0; i < N; i++)
        host[i] = i;
}

static void check(const std::vector<int> &host, int factor)
{
    for (int i = 0; i < N; i++)
        CHECK(host[i] == factor * i);
}

/* A kernel of this file, launched by the driver on memory of the runtime. */
static void launch_by_driver(std::vector<int> &host)
{
    cudaFunction_t function;
    CUstream stream;
    int *x, n = N;

    fill(host);
    OK(cudaMalloc(&x, N * sizeof(int)));
    DRIVER(cuStreamCreate(&stream, CU_STREAM_DEFAULT));
    OK(cudaMemcpyAsync(x, host.data(), N * sizeof(int), cudaMemcpyHostToDevice, stream));
    OK(cudaGetFuncBySymbol(&function, (const void *) triple));
    void *arguments[] = { &x, &n };
    DRIVER(cuLaunchKernel((CUfunction) function, (N + 127) / 128, 1, 1, 128, 1, 1, 0, stream,
                          arguments, NULL));
    OK(cudaMemcpyAsync(host.data(), x, N * sizeof(int), cudaMemcpyDeviceToHost, stream));
    OK(cudaStreamSynchronize(stream));
    check(host, 3);
    DRIVER(cuMemFree((CUdeviceptr) x));
    OK(cudaStreamDestroy(stream));
}

/* The runtime's launch on memory of the driver. */
static void launch_by_runtime(std::vector<int> &host)
{
    CUdeviceptr x;

    fill(host);
    DRIVER(cuMemAlloc(&x, N * sizeof(int)));
    DRIVER(cuMemcpyHtoD(x, host.data(), N * sizeof(int)));
    triple<<<(N + 127) / 128, 128>>>((int *) x, N);
    triple<<<(N + 127) / 128, 128>>>((int *) x, N);
    OK(cudaMemcpy(host.data(), (void *) x, N * sizeof(int), cudaMemcpyDeviceToHost));
    check(host, 9);
    OK(cudaFree((void *) x));
}

/* An error of the driver is not the runtime's last error. */
static void check_last_error()
{
    CUdeviceptr x;

    DRIVER_SAYS(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc(&x, (size_t) 1 << 50));
    CHECK(cudaGetLastError() == cudaSuccess);
}

static void check_names()
{
    CUresult (*allocate)(CUdeviceptr *, size_t), (*release)(CUdeviceptr);
    CUresult (*find)(const char *, void **, int, cuuint64_t, CUdriverProcAddressQueryResult *);
    cudaDriverEntryPointQueryResult found;
    CUdriverProcAddressQueryResult status;
    CUdeviceptr x;
    void *library = dlopen("libcuda.so.1", RTLD_NOW), *nothing;

    OK(cudaGetDriverEntryPointByVersion("cuMemAlloc", (void **) &allocate, 12000, cudaEnableDefault,
                                        &found));
    CHECK(found == cudaDriverEntryPointSuccess);
    DRIVER(cuGetProcAddress("cuMemFree", (void **) &release, 12000, CU_GET_PROC_ADDRESS_DEFAULT,
                            &status));
    CHECK(status == CU_GET_PROC_ADDRESS_SUCCESS);
    DRIVER(allocate(&x, 100));
    DRIVER(release(x));
    DRIVER_SAYS(CUDA_ERROR_NOT_FOUND, cuGetProcAddress("cuMemSteal", &nothing, 12000,
                                                       CU_GET_PROC_ADDRESS_DEFAULT, &status));
    CHECK(library);
    *(void **) &find = dlsym(library, "cuGetProcAddress_v2");
    CHECK(find && find("cuMemAlloc", (void **) &allocate, 12000, 0, &status) == CUDA_SUCCESS);
    DRIVER(allocate(&x, 100));
    OK(cudaFree((void *) x)); /* the runtime knows what it allocated */
    dlclose(library);
}

/* Hints for managed memory, by a device (before CUDA 12.2) and by a location. */
static void check_hints()
{
    CUresult (*old_fetch)(CUdeviceptr, size_t, CUdevice, CUstream);
    CUresult (*fetch)(CUdeviceptr, size_t, CUmemLocation, unsigned, CUstream);
    CUresult (*advise)(CUdeviceptr, size_t, CUmem_advise, CUmemLocation);
    const CUmemLocation there = { CU_MEM_LOCATION_TYPE_DEVICE, 0 },
                        nowhere = { CU_MEM_LOCATION_TYPE_DEVICE, 7 };
    CUdeviceptr x;

    DRIVER(cuMemAllocManaged(&x, 100, CU_MEM_ATTACH_GLOBAL));
    DRIVER(cuGetProcAddress("cuMemPrefetchAsync", (void **) &old_fetch, 12000, 0, NULL));
    DRIVER(cuGetProcAddress("cuMemPrefetchAsync", (void **) &fetch, 12020, 0, NULL));
    DRIVER(cuGetProcAddress("cuMemAdvise", (void **) &advise, 12020, 0, NULL));
    DRIVER(old_fetch(x, 100, CU_DEVICE_CPU, 0));
    DRIVER(fetch(x, 100, there, 0, 0));
    DRIVER_SAYS(CUDA_ERROR_INVALID_DEVICE, fetch(x, 100, nowhere, 0, 0));
    DRIVER_SAYS(CUDA_ERROR_INVALID_VALUE, fetch(x, 101, there, 0, 0));
    DRIVER(advise(x, 100, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, there));
    DRIVER(cuMemFree(x));
}

/* Several attributes at once are 0, and no error, where they do not apply. */
static void check_pointers()
{
    CUpointer_attribute kinds[] = { CU_POINTER_ATTRIBUTE_CONTEXT, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                    CU_POINTER_ATTRIBUTE_HOST_POINTER,
                                    CU_POINTER_ATTRIBUTE_RANGE_SIZE };
    CUcontext context, current;
    unsigned type;
    size_t bytes;
    void *host, *values[] = { &context, &type, &host, &bytes };
    CUdeviceptr x;

    DRIVER(cuCtxGetCurrent(&current));
    DRIVER(cuMemAlloc(&x, 100));
    DRIVER(cuPointerGetAttribute(&context, CU_POINTER_ATTRIBUTE_CONTEXT, x));
    CHECK(context == current);
    context = NULL, host = &x;
    DRIVER(cuPointerGetAttributes(4, kinds, values, x + 8));
    CHECK(context == current && type == CU_MEMORYTYPE_DEVICE && !host && bytes == 100);
    DRIVER_SAYS(CUDA_ERROR_INVALID_VALUE, cuPointerGetAttribute(&host, kinds[2], x));
    DRIVER(cuPointerGetAttributes(4, kinds, values, (CUdeviceptr) &x));
    CHECK(!context && !type && !host && !bytes);
    DRIVER_SAYS(CUDA_ERROR_INVALID_VALUE, cuPointerGetAttribute(&type, kinds[1], (CUdeviceptr) &x));
    DRIVER_SAYS(CUDA_ERROR_INVALID_VALUE, cuPointerGetAttributes(0, kinds, values, x));
    DRIVER(cuMemFree(x));
}

static void check_resources()
{
    CUDA_RESOURCE_DESC given = {}, got;
    const CUDA_TEXTURE_DESC how = {};
    CUtexObject texture;
    CUdeviceptr x;

    DRIVER(cuMemAlloc(&x, 1024));
    given.resType = CU_RESOURCE_TYPE_LINEAR;
    given.res.linear.devPtr = x;
    given.res.linear.format = CU_AD_FORMAT_UNSIGNED_INT16;
    given.res.linear.numChannels = 2;
    given.res.linear.sizeInBytes = 1024;
    DRIVER(cuTexObjectCreate(&texture, &given, &how, NULL));
    DRIVER(cuTexObjectGetResourceDesc(&got, texture));
    CHECK(!memcmp(&got, &given, sizeof got));
    DRIVER_SAYS(CUDA_ERROR_INVALID_VALUE, cuSurfObjectGetResourceDesc(&got, texture));
    DRIVER(cuTexObjectDestroy(texture));
    DRIVER(cuMemFree(x));
}

static void check_contexts()
{
    CUcontext primary, current;
    unsigned flags;
    int active;

    DRIVER(cuCtxGetCurrent(&current));
    DRIVER(cuDevicePrimaryCtxRetain(&primary, 0));
    CHECK(current == primary); /* the runtime has made it current */
    DRIVER(cuDevicePrimaryCtxGetState(0, &flags, &active));
    CHECK(active);
    DRIVER(cuCtxPushCurrent(primary));
    DRIVER(cuCtxPopCurrent(&current));
    CHECK(current == primary);
    DRIVER(cuCtxSetCurrent(primary));
    DRIVER(cuDevicePrimaryCtxRelease(0));
}

int main()
{
    std::vector<int> host(N);

    DRIVER(cuInit(0));
    OK(cudaFree(0));
    launch_by_driver(host);
    launch_by_runtime(host);
    check_last_error();
    check_names();
    check_hints();
    check_pointers();
    check_resources();
    check_contexts();
    puts("ok");
}
