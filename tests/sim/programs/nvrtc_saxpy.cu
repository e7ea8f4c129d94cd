/* nvrtc_saxpy.cu - kernels compiled while the program runs: saxpy and a template of NVRTC, texts
 * that are linked, and the log of a text that is not PTX.
 *
 * libraries: cuda nvrtc
 * expect: ok
 * stderr: PTX line
 */
#include "check_driver.h"

#include <cstring>
#include <nvrtc.h>
#include <string>
#include <vector>

#define COMPILER(call)                                                                             \
    do {                                                                                           \
        nvrtcResult got_ = (call);                                                                 \
        if (got_ != NVRTC_SUCCESS) {                                                               \
            printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #call, nvrtcGetErrorString(got_));       \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static const char source[] = R"(
extern "C" __global__ void saxpy(float a, const float *x, const float *y, float *out, size_t n)
{
    const size_t i = (size_t) blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = a * x[i] + y[i];
}

template <typename T> __global__ void fill(T *out, T value)
{
    out[threadIdx.x] = value + (T) threadIdx.x;
}
)";

static std::string compile(std::string *fill_of_double)
{
    const char *options[] = { "--gpu-architecture=compute_75", "-lineinfo" }, *name;
    nvrtcProgram program;
    size_t bytes;

    COMPILER(nvrtcCreateProgram(&program, source, "saxpy.cu", 0, NULL, NULL));
    COMPILER(nvrtcAddNameExpression(program, "fill<double>"));
    COMPILER(nvrtcCompileProgram(program, 2, options));
    COMPILER(nvrtcGetLoweredName(program, "fill<double>", &name));
    *fill_of_double = name;
    COMPILER(nvrtcGetPTXSize(program, &bytes));
    std::string ptx(bytes, 0);
    COMPILER(nvrtcGetPTX(program, &ptx[0]));
    COMPILER(nvrtcDestroyProgram(&program));
    return ptx;
}

static void check_saxpy(CUmodule module)
{
    enum { N = 10000 };
    std::vector<float> x(N), y(N), out(N);
    CUdeviceptr dx, dy, dout;
    CUfunction saxpy;
    float a = 2.5f;
    size_t n = N;
    int grid, block;

    for (int i = 0; i < N; i++) {
        x[i] = (float) i;
        y[i] = (float) (i % 17);
    }
    DRIVER(cuModuleGetFunction(&saxpy, module, "saxpy"));
    DRIVER(cuOccupancyMaxPotentialBlockSize(&grid, &block, saxpy, NULL, 0, 0));
    CHECK(block > 0 && block % 32 == 0 && grid > 0);
    DRIVER(cuMemAlloc(&dx, N * sizeof(float)));
    DRIVER(cuMemAlloc(&dy, N * sizeof(float)));
    DRIVER(cuMemAlloc(&dout, N * sizeof(float)));
    DRIVER(cuMemcpyHtoD(dx, x.data(), N * sizeof(float)));
    DRIVER(cuMemcpyHtoD(dy, y.data(), N * sizeof(float)));
    void *arguments[] = { &a, &dx, &dy, &dout, &n };
    DRIVER(cuLaunchKernel(saxpy, (N + block - 1) / block, 1, 1, block, 1, 1, 0, NULL, arguments,
                          NULL));
    DRIVER(cuMemcpyDtoH(out.data(), dout, N * sizeof(float)));
    for (int i = 0; i < N; i++)
        CHECK(out[i] == a * x[i] + y[i]);
    DRIVER(cuMemFree(dx));
    DRIVER(cuMemFree(dy));
    DRIVER(cuMemFree(dout));
}

static void check_fill(CUmodule module, const std::string &name)
{
    enum { N = 64 };
    double out[N], value = 0.25;
    CUdeviceptr at;
    CUfunction fill;

    DRIVER(cuModuleGetFunction(&fill, module, name.c_str()));
    DRIVER(cuMemAlloc(&at, sizeof out));
    void *arguments[] = { &at, &value };
    DRIVER(cuLaunchKernel(fill, 1, 1, 1, N, 1, 1, 0, NULL, arguments, NULL));
    DRIVER(cuMemcpyDtoH(out, at, sizeof out));
    for (int i = 0; i < N; i++)
        CHECK(out[i] == 0.25 + i);
    DRIVER(cuMemFree(at));
}

/* A kernel that calls a function of another text. */
static void check_link()
{
    static const char caller[] = ".version 7.0\n.target sm_75\n.address_size 64\n"
                                 ".extern .func (.param .b32 r) answer();\n"
                                 ".visible .entry ask(.param .u64 to)\n{\n.reg .b64 %rd<3>;\n"
                                 ".reg .b32 %r<2>;\nld.param.u64 %rd1, [to];\n{\n.param .b32 r;\n"
                                 "call.uni (r), answer, ();\nld.param.b32 %r1, [r];\n}\n"
                                 "st.global.u32 [%rd1], %r1;\nret;\n}\n";
    static const char callee[] = ".version 7.0\n.target sm_75\n.address_size 64\n"
                                 ".visible .func (.param .b32 r) answer()\n{\n"
                                 "st.param.b32 [r], 42;\nret;\n}\n";
    CUlinkState link;
    CUmodule module;
    CUfunction ask;
    CUdeviceptr at;
    void *image;
    size_t bytes;
    int answer = 0;

    DRIVER(cuLinkCreate(0, NULL, NULL, &link));
    DRIVER(cuLinkAddData(link, CU_JIT_INPUT_PTX, (void *) caller, sizeof caller, "caller", 0, NULL,
                         NULL));
    DRIVER(cuLinkAddData(link, CU_JIT_INPUT_PTX, (void *) callee, sizeof callee, "callee", 0, NULL,
                         NULL));
    DRIVER(cuLinkComplete(link, &image, &bytes));
    DRIVER(cuModuleLoadData(&module, image));
    DRIVER(cuLinkDestroy(link));
    DRIVER(cuModuleGetFunction(&ask, module, "ask"));
    DRIVER(cuMemAlloc(&at, sizeof answer));
    void *arguments[] = { &at };
    DRIVER(cuLaunchKernel(ask, 1, 1, 1, 1, 1, 1, 0, NULL, arguments, NULL));
    DRIVER(cuMemcpyDtoH(&answer, at, sizeof answer));
    CHECK(answer == 42);
    DRIVER(cuMemFree(at));
    DRIVER(cuModuleUnload(module));
}

static void check_log()
{
    char log[200] = "unchanged";
    CUjit_option options[] = { CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES };
    void *values[] = { log, (void *) sizeof log };
    CUmodule module;

    DRIVER_SAYS(CUDA_ERROR_INVALID_PTX,
                cuModuleLoadDataEx(&module, ".version 7.0\n.target sm_75\n.entry k( {\n", 2,
                                   options, values));
    CHECK(strstr(log, "PTX line 3") && (size_t) values[1] == strlen(log) + 1);
}

int main()
{
    std::string name;
    CUdevice device;
    CUcontext context;
    CUmodule module;

    const std::string ptx = compile(&name);
    DRIVER(cuInit(0));
    DRIVER(cuDeviceGet(&device, 0));
    DRIVER(cuDevicePrimaryCtxRetain(&context, device));
    DRIVER(cuCtxSetCurrent(context));
    DRIVER(cuModuleLoadDataEx(&module, ptx.c_str(), 0, NULL, NULL));
    check_saxpy(module);
    check_fill(module, name);
    check_link();
    check_log();
    DRIVER(cuModuleUnload(module));
    DRIVER(cuDevicePrimaryCtxRelease(device));
    puts("ok");
}
