/* driver_vector_add.cu - a vector sum by the driver API alone: PTX in a string, packed arguments,
 * variables of the module, and what is refused.
 *
 * libraries: cuda
 * expect: ok
 * stderr: which is not a kernel
 */
#include "check_driver.h"

#include <cstring>
#include <vector>

static const char ptx[] = R"(
.version 7.0
.target sm_52
.address_size 64

.visible .global .align 4 .f32 scale = 0f3F800000;
.visible .const .align 4 .b8 table[16];

.visible .entry vector_add(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n)
{
    .reg .pred %p<2>;
    .reg .b32 %r<8>;
    .reg .b64 %rd<12>;
    .reg .f32 %f<8>;

    ld.param.u64 %rd1, [a];
    ld.param.u64 %rd2, [b];
    ld.param.u64 %rd3, [c];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.s32 %r5, %r2, %r3, %r4;
    setp.ge.u32 %p1, %r5, %r1;
    @%p1 bra DONE;
    cvta.to.global.u64 %rd4, %rd1;
    cvta.to.global.u64 %rd5, %rd2;
    cvta.to.global.u64 %rd6, %rd3;
    mul.wide.u32 %rd7, %r5, 4;
    add.s64 %rd8, %rd4, %rd7;
    add.s64 %rd9, %rd5, %rd7;
    add.s64 %rd10, %rd6, %rd7;
    ld.global.f32 %f1, [%rd8];
    ld.global.f32 %f2, [%rd9];
    ld.global.f32 %f3, [scale];
    add.f32 %f4, %f1, %f2;
    mul.f32 %f5, %f4, %f3;
    st.global.f32 [%rd10], %f5;
DONE:
    ret;
}
)";

enum { N = 5000, THREADS = 256 };

static std::vector<float> a(N), b(N), c(N);

static void check_device(CUdevice device)
{
    char name[100];
    int count, major, minor, value;
    size_t bytes, left, total;

    DRIVER(cuDeviceGetCount(&count));
    DRIVER(cuDeviceGetName(name, sizeof name, device));
    DRIVER(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device));
    DRIVER(cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device));
    DRIVER(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, device));
    DRIVER(cuDeviceTotalMem(&bytes, device));
    DRIVER(cuMemGetInfo(&left, &total));
    CHECK(count == 1 && strlen(name) > 3 && major >= 7 && value == 32);
    CHECK(bytes == total && left <= total);
    DRIVER_SAYS(CUDA_ERROR_INVALID_DEVICE, cuDeviceGet(&device, 1));
}

static void check_sum(CUdeviceptr dc, float scale)
{
    DRIVER(cuMemcpyDtoH(c.data(), dc, N * sizeof(float)));
    for (int i = 0; i < N; i++)
        CHECK(c[i] == scale * (a[i] + b[i]));
}

static void launch_packed(CUfunction add, CUdeviceptr da, CUdeviceptr db, CUdeviceptr dc)
{
    struct {
        CUdeviceptr a, b, c;
        int n;
    } packed = { da, db, dc, N };
    size_t bytes = sizeof packed;
    void *extra[] = { CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                      CU_LAUNCH_PARAM_END };

    DRIVER(cuLaunchKernel(add, (N + THREADS - 1) / THREADS, 1, 1, THREADS, 1, 1, 0, NULL, NULL,
                          extra));
}

static void check_streams(CUfunction add, CUdeviceptr da, CUdeviceptr db, CUdeviceptr dc)
{
    CUstream stream;
    CUevent start, stop;
    float ms = -1;
    int n = N;
    void *arguments[] = { &da, &db, &dc, &n };

    DRIVER(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    DRIVER(cuEventCreate(&start, CU_EVENT_DEFAULT));
    DRIVER(cuEventCreate(&stop, CU_EVENT_DEFAULT));
    DRIVER(cuEventRecord(start, stream));
    DRIVER(cuMemcpyHtoDAsync(da, a.data(), N * sizeof(float), stream));
    DRIVER(cuMemsetD32Async(dc, 7, N, stream));
    DRIVER(cuLaunchKernel(add, (N + 63) / 64, 1, 1, 64, 1, 1, 0, stream, arguments, NULL));
    DRIVER(cuEventRecord(stop, stream));
    DRIVER(cuEventSynchronize(stop));
    DRIVER(cuEventElapsedTime(&ms, start, stop));
    CHECK(ms > 0);
    DRIVER(cuStreamSynchronize(stream));
    check_sum(dc, 3);
    DRIVER(cuEventDestroy(start));
    DRIVER(cuEventDestroy(stop));
    DRIVER(cuStreamDestroy(stream));
}

static void check_fills(CUdeviceptr at)
{
    unsigned words[4];

    DRIVER(cuMemsetD32(at, 0x12345678, 4));
    DRIVER(cuMemsetD16(at + 4, 0xabcd, 1));
    DRIVER(cuMemsetD8(at + 8, 0x55, 3));
    DRIVER(cuMemcpyDtoH(words, at, sizeof words));
    CHECK(words[0] == 0x12345678 && words[1] == 0x1234abcd && words[2] == 0x12555555 &&
          words[3] == 0x12345678);
}

static void check_errors(CUmodule module, CUdeviceptr at)
{
    CUmodule other;
    CUfunction function;
    CUdeviceptr base;
    size_t bytes;
    const char *text;

    DRIVER_SAYS(CUDA_ERROR_NOT_FOUND, cuModuleGetFunction(&function, module, "subtract"));
    DRIVER_SAYS(CUDA_ERROR_NOT_FOUND, cuModuleGetGlobal(&base, &bytes, module, "offset"));
    DRIVER_SAYS(CUDA_ERROR_FILE_NOT_FOUND, cuModuleLoad(&other, "/nowhere/kernel.ptx"));
    DRIVER_SAYS(CUDA_ERROR_INVALID_VALUE, cuMemAlloc(&base, 0));
    DRIVER_SAYS(CUDA_ERROR_INVALID_HANDLE,
                cuLaunchKernel((CUfunction) &bytes, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    DRIVER(cuMemGetAddressRange(&base, &bytes, at + 16));
    CHECK(base == at && bytes == N * sizeof(float));
    DRIVER(cuGetErrorName(CUDA_ERROR_OUT_OF_MEMORY, &text));
    CHECK(!strcmp(text, "CUDA_ERROR_OUT_OF_MEMORY"));
    DRIVER(cuGetErrorString(CUDA_ERROR_OUT_OF_MEMORY, &text));
    CHECK(!strcmp(text, "out of memory"));
    DRIVER_SAYS(CUDA_ERROR_INVALID_VALUE, cuGetErrorName((CUresult) 12345, &text));
}

int main()
{
    CUdevice device;
    CUcontext context, current;
    CUmodule module;
    CUfunction add;
    CUdeviceptr da, db, dc, scale;
    size_t bytes;
    int value, n = N;

    DRIVER_SAYS(CUDA_ERROR_NOT_INITIALIZED, cuDeviceGet(&device, 0));
    DRIVER(cuInit(0));
    DRIVER(cuDeviceGet(&device, 0));
    DRIVER_SAYS(CUDA_ERROR_INVALID_CONTEXT, cuMemAlloc(&da, 4));
    DRIVER(cuCtxCreate(&context, NULL, 0, device));
    DRIVER(cuCtxGetCurrent(&current));
    CHECK(current == context);
    check_device(device);
    DRIVER(cuModuleLoadData(&module, ptx));
    DRIVER(cuModuleGetFunction(&add, module, "vector_add"));
    DRIVER(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, add));
    CHECK(value == 1024);
    DRIVER(cuModuleGetGlobal(&scale, &bytes, module, "scale"));
    CHECK(bytes == sizeof(float));
    for (int i = 0; i < N; i++) {
        a[i] = (float) i;
        b[i] = (float) (i * 7 % 100);
    }
    DRIVER(cuMemAlloc(&da, N * sizeof(float)));
    DRIVER(cuMemAlloc(&db, N * sizeof(float)));
    DRIVER(cuMemAlloc(&dc, N * sizeof(float)));
    DRIVER(cuMemcpyHtoD(da, a.data(), N * sizeof(float)));
    DRIVER(cuMemcpyHtoD(db, b.data(), N * sizeof(float)));
    void *arguments[] = { &da, &db, &dc, &n };
    DRIVER(cuLaunchKernel(add, (N + THREADS - 1) / THREADS, 1, 1, THREADS, 1, 1, 0, NULL, arguments,
                          NULL));
    DRIVER(cuCtxSynchronize());
    check_sum(dc, 1);
    const float three = 3;
    DRIVER(cuMemcpyHtoD(scale, &three, sizeof three));
    launch_packed(add, da, db, dc);
    check_sum(dc, 3);
    check_streams(add, da, db, dc);
    check_fills(dc);
    check_errors(module, da);
    DRIVER(cuMemFree(da));
    DRIVER(cuMemFree(db));
    DRIVER(cuMemFree(dc));
    DRIVER(cuModuleUnload(module));
    DRIVER_SAYS(CUDA_ERROR_INVALID_HANDLE, cuModuleUnload(module));
    DRIVER(cuCtxDestroy(context));
    DRIVER_SAYS(CUDA_ERROR_INVALID_CONTEXT, cuCtxSynchronize());
    puts("ok");
}
