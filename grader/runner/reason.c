/* reason.c - explains why a GPU cannot be used: what CUDA's error code means, and what to do. */
#include "runner/reason.h"
#include "runner/device_cuda.h"
#include "runner/protocol.h"
#include "base/util.h"

#include <stdlib.h>

/* Reasons why a GPU cannot be used, as far as an error code reveals them. */
static const struct {
    cudaError_t error;
    const char *reason, *what_to_do;
} reasons[] = {
    { cudaErrorNoDevice, "no-device",
      "no NVIDIA GPU is visible here; see nvidia-smi and CUDA_VISIBLE_DEVICES" },
    { cudaErrorInvalidDevice, "no-device",
      "no GPU has this number; nvidia-smi lists the GPUs of this machine" },
    { cudaErrorDevicesUnavailable, "busy",
      "another program uses the GPU exclusively, or it is in exclusive mode; wait, or run "
      "nvidia-smi -c DEFAULT" },
    { cudaErrorMemoryAllocation, "memory",
      "too little free GPU memory to start; nvidia-smi shows which programs are using it" },
    { cudaErrorNoKernelImageForDevice, "old-gpu",
      "the runner was not built for this GPU; make clean, then build it here" },
    { cudaErrorUnsupportedPtxVersion, "old-driver",
      "the NVIDIA driver is older than the CUDA Toolkit that built the runner; update the driver" },
    { cudaErrorSystemNotReady, "other",
      "the GPUs' fabric is not ready; start nvidia-fabricmanager, or restart the machine" },
    { cudaErrorSystemDriverMismatch, "other",
      "the NVIDIA driver's parts do not match each other; restart the machine" },
    { cudaErrorInitializationError, "other",
      "the NVIDIA driver did not start; does nvidia-smi work?" },
    { cudaErrorCompatNotSupportedOnDevice, "old-driver",
      "CUDA's forward compatibility does not support this GPU; update the driver" },
};

bool reason_say(char *fault, const char *reason, const char *what_to_do)
{
    put(fault, SERVE_ANSWER, "gpu %s %s", reason, what_to_do);
    return false;
}

static bool kernel_driver_is_there(void)
{
    return file_exists("/proc/driver/nvidia/version");
}

/* CUDA reports cudaErrorInsufficientDriver both if there is no driver and if it is too old. */
static bool say_driver(char *fault)
{
    int version = 0;

    if (cudaDriverGetVersion(&version) == cudaSuccess && version)
        return reason_say(fault, "old-driver",
                          PUT((char[160]){ "" },
                              "the NVIDIA driver (for CUDA %d.%d) is older than this CUDA Toolkit "
                              "(%d.%d); update the driver",
                              version / 1000, version % 1000 / 10, CUDART_VERSION / 1000,
                              CUDART_VERSION % 1000 / 10));
    if (kernel_driver_is_there())
        return reason_say(fault, "no-driver",
                          "the NVIDIA driver runs, but its library libcuda.so.1 is missing; in a "
                          "container, start it with --gpus all");
    return reason_say(fault, "no-driver",
                      "no NVIDIA driver is installed here; with an NVIDIA GPU, install its driver");
}

bool reason_of_error(cudaError_t error, char *fault)
{
    if (device_simulated && error == cudaErrorNoDevice)
        return reason_say(fault, "no-device",
                          PUT((char[160]){ "" },
                              "there is no simulated GPU called %.80s; see grader/sim/devices/",
                              getenv("SIM_DEVICE")));
    if (error == cudaErrorInsufficientDriver)
        return say_driver(fault);
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (error == reasons[i].error)
            return reason_say(fault, reasons[i].reason, reasons[i].what_to_do);
    put(fault, SERVE_ANSWER, "gpu other the GPU did not start: %s (%s)", cudaGetErrorString(error),
        cudaGetErrorName(error));
    return false;
}
