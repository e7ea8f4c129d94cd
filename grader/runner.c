/* runner.c - the child that loads a kernel and calls it: the only user of CUDA.
 *
 * main() lets go of what it inherited and answers commands (serve.c) by what is below: a Device on
 * the CUDA runtime. `hello` brings CUDA up completely (context, events, memory, a kernel), since
 * afterwards, before student code is loaded, the sandbox closes and CUDA could not do all of it any
 * more. It also finds out whether there is a usable GPU at all, and says what to do if not.
 *
 * From `load` on, student code lives in this process. Nothing that we say is believed without a
 * look from outside: the grader keeps a clock of its own and checks contents that it alone can
 * foretell.
 */
#include "runner_device.h"
#include "runner_reason.h"
#include "sandbox.h"
#include "serve.h"
#include "util.h"

#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

_Static_assert((int) AS_F32 == (int) F32 && (int) AS_F64 == (int) F64 &&
                   (int) AS_I32 == (int) I32 && (int) AS_U32 == (int) U32 &&
                   (int) AS_U8 == (int) U8,
               "contents.h and lab.h number the types alike");

enum { COMMANDS = 3, ANSWERS = 4, SHARED = 5, OLDEST_CC = 75 };

static int device_number;
static bool loaded; /* student code is in here */
static cudaEvent_t begin, end;

/* ---- What went wrong ---- */

/* The errors of a kernel that died while it ran; no call of this process will succeed after. */
static bool is_fatal(cudaError_t error)
{
    static const cudaError_t fatal[] = {
        cudaErrorIllegalAddress,      cudaErrorLaunchTimeout,      cudaErrorAssert,
        cudaErrorHardwareStackError,  cudaErrorIllegalInstruction, cudaErrorMisalignedAddress,
        cudaErrorInvalidAddressSpace, cudaErrorInvalidPc,          cudaErrorLaunchFailure,
        cudaErrorContextIsDestroyed,
    };

    for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++)
        if (error == fatal[i])
            return true;
    return false;
}

static bool say(char *fault, const char *kind, cudaError_t error)
{
    put(fault, SERVE_ANSWER, "%s %s %s", kind, cudaGetErrorName(error), cudaGetErrorString(error));
    return false;
}

/* True if there was no error; else says it, whose fault it is being told by its nature. */
static bool fine(cudaError_t error, char *fault)
{
    if (error == cudaSuccess)
        return true;
    if (error == cudaErrorMemoryAllocation)
        return say(fault, "memory", error);
    return say(fault, loaded && is_fatal(error) ? "kernel" : "gpu", error);
}

/* ---- hello: is there a usable GPU? ---- */

/* 0 where the device can't tell. */
static int attribute(enum cudaDeviceAttr which)
{
    int value = 0;

    if (cudaDeviceGetAttribute(&value, which, device_number) == cudaSuccess)
        return value;
    cudaGetLastError();
    return 0;
}

static int compute_capability(void)
{
    return 10 * attribute(cudaDevAttrComputeCapabilityMajor) +
           attribute(cudaDevAttrComputeCapabilityMinor);
}

static bool may_be_used(char *fault)
{
    int count = 0;
    cudaError_t error = cudaGetDeviceCount(&count);

    if (!error && !count)
        error = cudaErrorNoDevice;
    if (!error && device_number >= count)
        error = cudaErrorInvalidDevice;
    if (error)
        return reason_of_error(error, fault);
    if (compute_capability() < OLDEST_CC)
        return reason_say(fault, "old-gpu",
                          "the GPU is older than Turing (compute capability 7.5)");
    if (attribute(cudaDevAttrComputeMode) != cudaComputeModeDefault)
        return reason_say(
            fault, "busy",
            "the GPU is in exclusive or prohibited mode, and two processes must use it "
            "side by side; nvidia-smi -c DEFAULT allows that");
    return true;
}

/* Context, events, memory, a kernel with a known answer: whatever CUDA makes only when it is needed
 * must exist before the sandbox closes. The flag is set before a device is chosen, so that it holds
 * for its context: waiting without sleeping costs less of what is timed. */
static cudaError_t bring_up(int *right)
{
    void *memory = NULL;
    cudaError_t error;

    if ((error = cudaSetDeviceFlags(cudaDeviceScheduleSpin)) ||
        (error = cudaSetDevice(device_number)) || (error = device_begin(right)) ||
        (error = cudaEventCreate(&begin)) || (error = cudaEventCreate(&end)) ||
        (error = cudaMalloc(&memory, 1 << 20)) || (error = cudaEventRecord(begin, 0)) ||
        (error = cudaMemset(memory, 0, 1 << 20)) || (error = cudaEventRecord(end, 0)) ||
        (error = cudaFree(memory)))
        return error;
    return cudaDeviceSynchronize();
}

/* The driver's own number if it can be found, else the CUDA version that it is for. */
static void driver_version(char *text, size_t size)
{
    char line[256] = "";
    int version = 0;
    FILE *file = device_simulated ? NULL : fopen("/proc/driver/nvidia/version", "r");

    if (file && fgets(line, sizeof line, file))
        for (char *rest, *word = strtok_r(line, " \n", &rest); word;
             word = strtok_r(NULL, " \n", &rest))
            if (strchr(word, '.') && !word[strspn(word, "0123456789.")]) {
                put(text, size, "%s", word);
                fclose(file);
                return;
            }
    if (file)
        fclose(file);
    cudaDriverGetVersion(&version);
    put(text, size, "CUDA-%d.%d", version / 1000, version % 1000 / 10);
}

static void uuid_text(const cudaUUID_t *uuid, char *text, size_t size)
{
    put(text, size, "GPU-");
    for (int i = 0; i < 16; i++)
        append(text, size, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
               (unsigned char) uuid->bytes[i]);
}

static bool describe(char *answer, char *fault)
{
    struct cudaDeviceProp properties;
    size_t free_bytes, total_bytes;
    char driver[32], uuid[48];
    int runtime = 0;
    cudaError_t error;

    if ((error = cudaGetDeviceProperties(&properties, device_number)) ||
        (error = cudaMemGetInfo(&free_bytes, &total_bytes)) ||
        (error = cudaRuntimeGetVersion(&runtime)))
        return reason_of_error(error, fault);
    driver_version(driver, sizeof driver);
    uuid_text(&properties.uuid, uuid, sizeof uuid);
    /* Two transfers a clock; kHz times bits. */
    double peak_gbps = 2.0 * attribute(cudaDevAttrMemoryClockRate) * 1e3 *
                       attribute(cudaDevAttrGlobalMemoryBusWidth) / 8 / 1e9;
    put(answer, SERVE_ANSWER,
        "cc:%d sms:%d l2_bytes:%d free_bytes:%zu total_bytes:%zu peak_gbps:%.6g driver:%s "
        "runtime:%d.%d simulated:%d uuid:%s name:%s",
        compute_capability(), attribute(cudaDevAttrMultiProcessorCount),
        attribute(cudaDevAttrL2CacheSize), free_bytes, total_bytes, peak_gbps, driver,
        runtime / 1000, runtime % 1000 / 10, device_simulated, uuid, properties.name);
    return true;
}

static bool cuda_hello(char *answer, char *fault)
{
    static bool is_up;
    int right = 1;
    cudaError_t error;

    if (!is_up && !may_be_used(fault))
        return false;
    if (!is_up && (error = bring_up(&right)))
        return reason_of_error(error, fault);
    if (!right)
        return reason_say(fault, "other", "a trial kernel gave a wrong answer on this GPU");
    is_up = true;
    return describe(answer, fault);
}

/* ---- load ---- */

/* The object registers its code as it is loaded; what is wrong with that shows at the next call. */
static bool cuda_load(const char *path, const char *function, Kernel **kernel, char *fault)
{
    void *object;
    cudaError_t error, later;

    if (!begin) {
        put(fault, SERVE_ANSWER, "usage hello comes first");
        return false;
    }
    sandbox_close();
    loaded = true;
    object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!object) {
        put(fault, SERVE_ANSWER, "load %s", dlerror());
        return false;
    }
    error = cudaGetLastError();
    later = cudaDeviceSynchronize();
    if (error || later)
        return say(fault, "load", error ? error : later);
    *(void **) kernel = dlsym(object, function);
    if (!*kernel)
        put(fault, SERVE_ANSWER, "load kernel.cu defines no function %s", function);
    return *kernel != NULL;
}

/* ---- Arrays: guard, data, guard ---- */

_Static_assert(GUARD_BYTES % 256 == 0, "data is aligned as cudaMalloc aligns");

static size_t bytes_of(const Array *array)
{
    return array->rows * array->cols * element_bytes((Element) array->type);
}

/* A simulated GPU itself tells who touches what is not his. */
static size_t guard_bytes(void)
{
    return device_simulated ? 0 : GUARD_BYTES;
}

static bool cuda_allocate(Array *array, unsigned char guard, char *fault)
{
    size_t bytes = bytes_of(array);
    char *block = NULL;

    if (!fine(cudaMalloc((void **) &block, guard_bytes() + bytes + guard_bytes()), fault)) {
        cudaGetLastError(); /* too little memory is no reason to fail later on */
        return false;
    }
    array->data = block + guard_bytes();
    device_name(array->data, guard - GUARD_BYTE);
    return fine(cudaMemset(block, guard, guard_bytes()), fault) &&
           fine(cudaMemset(block + guard_bytes() + bytes, guard, guard_bytes()), fault);
}

static void cuda_release(Array *array)
{
    cudaFree((char *) array->data - guard_bytes());
}

static bool cuda_fill(const Array *array, const Source *source, char *fault)
{
    FillKey key = fill_key(source->seed, source->input);

    return fine(device_fill((Element) array->type, array->fill, key, array->data, bytes_of(array)),
                fault);
}

static bool cuda_poison(const Array *array, unsigned char byte, char *fault)
{
    return fine(device_poison(array->data, bytes_of(array), byte), fault);
}

static bool cuda_fetch(const Array *array, size_t first, size_t count, void *to, char *fault)
{
    size_t width = element_bytes((Element) array->type);

    return fine(
        cudaMemcpy(to, (char *) array->data + first * width, count * width, cudaMemcpyDeviceToHost),
        fault);
}

static bool cuda_guards_whole(const Array *array, unsigned char guard, size_t *offset, bool *before,
                              char *fault)
{
    unsigned long long distance = DEVICE_NOTHING;
    int is_before = 0;

    if (!fine(device_find_stray(array->data, bytes_of(array), guard_bytes(), guard, &distance,
                                &is_before),
              fault))
        return false;
    *offset = distance == DEVICE_NOTHING ? SIZE_MAX : (size_t) distance;
    *before = is_before;
    return true;
}

static bool cuda_holds(const Array *array, const Source *source, size_t *differs_at, bool *same,
                       char *fault)
{
    FillKey key = fill_key(source->seed, source->input);
    unsigned long long index = DEVICE_NOTHING;

    if (!fine(device_find_change((Element) array->type, array->fill, key, array->data,
                                 bytes_of(array), &index),
              fault))
        return false;
    *same = index == DEVICE_NOTHING;
    *differs_at = (size_t) index;
    return true;
}

/* ---- Time ---- */

/* No call finds L2 set aside by an earlier one; not every device can set it aside at all. */
static bool cuda_settle(char *fault)
{
    if (cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 0) || cudaCtxResetPersistingL2Cache())
        cudaGetLastError();
    return fine(cudaDeviceSynchronize(), fault);
}

/* The first launch that fails ends it; so does a kernel that died before the last was launched. */
static bool call_all(const Lab *lab, const Case *lab_case, Kernel *kernel, Arrays *sets, int calls,
                     char *fault)
{
    for (int k = 0; k < calls; k++) {
        cudaError_t error;
        lab->call(kernel, lab_case, &sets[k]);
        if ((error = cudaGetLastError()))
            return say(fault, is_fatal(error) ? "kernel" : "launch", error);
    }
    return true;
}

static bool time_calls(const Lab *lab, const Case *lab_case, Kernel *kernel, Arrays *sets,
                       int calls, double *ms, char *fault)
{
    float elapsed_ms = 0;
    cudaError_t error;

    if (!fine(cudaEventRecord(begin, 0), fault))
        return false;
    if (!call_all(lab, lab_case, kernel, sets, calls, fault)) {
        cudaDeviceSynchronize();
        return false;
    }
    if ((error = cudaEventRecord(end, 0)) || (error = cudaDeviceSynchronize()) ||
        (error = cudaEventElapsedTime(&elapsed_ms, begin, end)))
        return say(fault, "kernel", error);
    *ms = elapsed_ms;
    return true;
}

/* What a simulated GPU saw says more than the error that came of it. */
static bool cuda_time_calls(const Lab *lab, const Case *lab_case, Kernel *kernel, Arrays *sets,
                            int calls, double *ms, char *fault)
{
    bool done;

    device_watch();
    done = time_calls(lab, lab_case, kernel, sets, calls, ms, fault);
    return !device_found(fault, SERVE_ANSWER) && done;
}

/* ---- A simulated GPU ---- */

static bool not_simulated(char *fault)
{
    put(fault, SERVE_ANSWER, "usage only a simulated GPU can do that");
    return false;
}

static bool cuda_checks(bool on, uint64_t budget, char *fault)
{
    return device_checks(on, budget) || not_simulated(fault);
}

static bool cuda_count(Counter counter, const Array *array, char *answer, char *fault)
{
    DeviceCount count;

    if (!device_count(counter, array ? array->data : NULL, &count))
        return not_simulated(fault);
    put(answer, SERVE_ANSWER, "done:%llu least:%llu requests:%llu line:%d", count.done, count.least,
        count.requests, count.line);
    return true;
}

static bool cuda_clock_mhz(double *mhz, char *fault)
{
    return fine(device_clock(mhz), fault);
}

static const Device cuda_device = {
    .hello = cuda_hello,
    .load = cuda_load,
    .allocate = cuda_allocate,
    .release = cuda_release,
    .fill = cuda_fill,
    .poison = cuda_poison,
    .settle = cuda_settle,
    .time_calls = cuda_time_calls,
    .fetch = cuda_fetch,
    .guards_whole = cuda_guards_whole,
    .holds = cuda_holds,
    .clock_mhz = cuda_clock_mhz,
    .checks = cuda_checks,
    .count = cuda_count,
};

/* ---- main ---- */

static const char help[] =
    "runner --device N    answers the grader on descriptors 3 to 5; started by warpbook, not by "
    "hand\n"
    "runner-sim --device NAME    the same on a simulated GPU\n"
    "runner --version\n";

static int complain(const char *what)
{
    fprintf(stderr, "runner: %s\n%s", what, help);
    return 2;
}

/* True if the program is to go on; else *status is its end. */
static bool read_arguments(int count, char **words, int *status)
{
    *status = 0;
    for (int i = 1; i < count; i++) {
        char *rest = NULL;
        if (!strcmp(words[i], "--help"))
            fputs(help, stdout);
        else if (!strcmp(words[i], "--version"))
            printf("runner %s, CUDA %d.%d\n", WARPBOOK_VERSION, CUDART_VERSION / 1000,
                   CUDART_VERSION % 1000 / 10);
        else if (!strcmp(words[i], "--device") && i + 1 < count && device_simulated) {
            setenv("SIM_DEVICE", words[++i], 1);
            continue;
        } else if (!strcmp(words[i], "--device") && i + 1 < count) {
            long number = strtol(words[++i], &rest, 10);
            if (*rest || rest == words[i] || number < 0 || number > 1023)
                *status = complain("--device wants a number");
            device_number = (int) number;
            if (!*status)
                continue;
        } else
            *status = complain("unknown argument");
        return false;
    }
    return true;
}

/* Only what the grader wants: no files, and findings to us alone. */
static void set_up_simulation(void)
{
    static const char *const unwanted[] = { "SIM_REPORT", "SIM_TABLE",  "SIM_PTX", "SIM_SCHED",
                                            "SIM_CHECKS", "SIM_BUDGET", "SIM_TIME" };

    for (size_t i = 0; i < sizeof unwanted / sizeof *unwanted; i++)
        unsetenv(unwanted[i]);
    setenv("SIM_QUIET", "1", 1);
}

/* Code is loaded whole, not at the first call, which is timed; no cache on disk of compiled PTX
 * that student code of an earlier run may have touched. What is printed is seen even if we are
 * killed. */
static void set_up(void)
{
    setenv("CUDA_MODULE_LOADING", "EAGER", 1);
    setenv("CUDA_CACHE_DISABLE", "1", 1);
    if (device_simulated)
        set_up_simulation();
    setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
    sandbox_begin();
}

int main(int count, char **words)
{
    int status;

    if (!read_arguments(count, words, &status))
        return status;
    if (fcntl(COMMANDS, F_GETFD) < 0 || fcntl(ANSWERS, F_GETFD) < 0 || fcntl(SHARED, F_GETFD) < 0)
        return complain("descriptors 3 to 5 are not open");
    set_up();
    status = serve(&cuda_device, COMMANDS, ANSWERS, SHARED);
    fflush(stdout);
    _exit(status); /* no destructors: those of student code, and CUDA's, which may wait for ever */
}
