/* hello.c - brings CUDA up completely, and reports whether the GPU is usable and what it is. */
#include "runner/hello.h"
#include "runner/caller.h"
#include "runner/protocol.h"
#include "runner/device_cuda.h"
#include "runner/reason.h"
#include "base/util.h"

#include <stdio.h>
#include <string.h>

enum { OLDEST_CC = 75 };

/* Returns 0 if the device does not report the attribute. */
static int attribute(int device, enum cudaDeviceAttr which)
{
    int value = 0;

    if (cudaDeviceGetAttribute(&value, which, device) == cudaSuccess)
        return value;
    cudaGetLastError();
    return 0;
}

static int compute_capability(int device)
{
    return 10 * attribute(device, cudaDevAttrComputeCapabilityMajor) +
           attribute(device, cudaDevAttrComputeCapabilityMinor);
}

static bool may_be_used(int device, bool is_first, char *fault)
{
    int count = 0;
    cudaError_t error = cudaGetDeviceCount(&count);

    if (!error && !count)
        error = cudaErrorNoDevice;
    /* CUDA is allowed to see only one GPU; if that GPU does not exist, it sees none. */
    if ((!error && device >= count) || (error == cudaErrorNoDevice && !is_first))
        error = cudaErrorInvalidDevice;
    if (error)
        return reason_of_error(error, fault);
    if (compute_capability(device) < OLDEST_CC)
        return reason_say(fault, "old-gpu",
                          "the GPU is older than Turing (compute capability 7.5)");
    if (attribute(device, cudaDevAttrComputeMode) != cudaComputeModeDefault)
        return reason_say(
            fault, "busy",
            "the GPU is in exclusive or prohibited mode, but two processes must use it at the same "
            "time; nvidia-smi -c DEFAULT allows that");
    return true;
}

/* Creates the context, events and memory, and runs a kernel with a known answer: objects that CUDA
 * creates on first use must exist before the sandbox closes. The flag is set before a device is
 * chosen, so that it applies to its context: waiting without sleeping adds less to measured
 * times. */
static cudaError_t bring_up(int device, int *right)
{
    cudaError_t error;

    if ((error = cudaSetDeviceFlags(cudaDeviceScheduleSpin)) || (error = cudaSetDevice(device)) ||
        (error = device_begin(right)))
        return error;
    return caller_begin();
}

/* The driver's own version if it can be found, otherwise the CUDA version that it supports. */
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

static bool describe(int device, char *answer, char *fault)
{
    struct cudaDeviceProp properties;
    size_t free_bytes, total_bytes;
    char driver[32], uuid[48];
    int runtime = 0;
    cudaError_t error;

    if ((error = cudaGetDeviceProperties(&properties, device)) ||
        (error = cudaMemGetInfo(&free_bytes, &total_bytes)) ||
        (error = cudaRuntimeGetVersion(&runtime)))
        return reason_of_error(error, fault);
    driver_version(driver, sizeof driver);
    uuid_text(&properties.uuid, uuid, sizeof uuid);
    /* Two transfers per clock; kHz times bits. */
    double peak_gbps = 2.0 * attribute(device, cudaDevAttrMemoryClockRate) * 1e3 *
                       attribute(device, cudaDevAttrGlobalMemoryBusWidth) / 8 / 1e9;
    put(answer, SERVE_ANSWER,
        "cc:%d sms:%d l2_bytes:%d free_bytes:%zu total_bytes:%zu peak_gbps:%.6g driver:%s "
        "runtime:%d.%d simulated:%d uuid:%s name:%s",
        compute_capability(device), attribute(device, cudaDevAttrMultiProcessorCount),
        attribute(device, cudaDevAttrL2CacheSize), free_bytes, total_bytes, peak_gbps, driver,
        runtime / 1000, runtime % 1000 / 10, device_simulated, uuid, properties.name);
    return true;
}

bool runner_hello(int device, bool is_first, char *answer, char *fault)
{
    static bool is_up;
    int right = 1;
    cudaError_t error;

    if (!is_up && !may_be_used(device, is_first, fault))
        return false;
    if (!is_up && (error = bring_up(device, &right)))
        return reason_of_error(error, fault);
    if (!right)
        return reason_say(fault, "other", "a trial kernel gave a wrong answer on this GPU");
    is_up = true;
    return describe(device, answer, fault);
}
