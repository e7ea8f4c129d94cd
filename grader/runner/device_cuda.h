/* device_cuda.h - the few things of the runner that a real and a simulated GPU do differently.
 * runner/device_cuda.cu does them by kernels of its own; runner/device_sim.c on the host, which is
 * faster than simulating kernels, and asks the simulated GPU what it saw of the student's. All
 * arrays are on the current device, all work goes to stream 0; what is found is waited for. */
#ifndef RUNNER_DEVICE_CUDA_H
#define RUNNER_DEVICE_CUDA_H

#include <cuda_runtime_api.h>
#include "runner/contents.h"

#ifdef __cplusplus
extern "C" {
#endif

/* "Nothing differs." */
#define DEVICE_NOTHING (~0ull)

/* Allocates what the others need, and runs a kernel whose answer is known: is it right? */
cudaError_t device_begin(int *right);

/* Fills an array (aligned to 16 bytes) as fast as memory can be written. */
cudaError_t device_fill(Element type, Fill fill, FillKey key, void *data, size_t bytes);

/* The index of the first element that is not what device_fill wrote, or DEVICE_NOTHING. */
cudaError_t device_find_change(Element type, Fill fill, FillKey key, const void *data, size_t bytes,
                               unsigned long long *index);

/* Looks for bytes other than `whole` in the guards around an array. *distance: of the nearest one
 * from the array's end (0: the very next) or, *before, from its start (1: the one before it); or
 * DEVICE_NOTHING. */
cudaError_t device_find_stray(const void *data, size_t bytes, size_t guard_bytes,
                              unsigned char whole, unsigned long long *distance, int *before);

/* True if the GPU is a simulated one. */
extern const int device_simulated;

/* Fills an output or scratch with a byte: nobody has written it yet. */
cudaError_t device_poison(void *data, size_t bytes, unsigned char byte);

/* What messages are to call an array: the i-th of runner/handlers.c's order. */
void device_name(void *data, const char *name, int i);

/* Around calls of the student's function: forgets what was found before; writes "KIND TEXT" of what
 * was found since to `fault`, 1 if there is any. */
void device_watch(void);
int device_found(char *fault, size_t size);

/* Whether races and uninitialised reads are looked for, and how many warp instructions a launch may
 * execute. 0: this device cannot tell. */
int device_checks(int on, unsigned long long budget);

/* From here on time is modelled: each device_watch() then begins with cold caches, and events tell
 * modelled milliseconds. 0: this device has a clock of its own. */
int device_model_time(void);

/* How the calls since device_watch() were timed: launches, those of them that could not be; blocks,
 * those of them that were played; warp instructions; all kernels one after the other. 0: this
 * device has a clock of its own. */
typedef struct DeviceTimed {
    unsigned long long launches, untimed, blocks, timed_blocks, instructions;
    double kernels_ms;
} DeviceTimed;
int device_timed(DeviceTimed *timed);

/* What limited those calls, and what the i-th costliest line of a .cu file did, as the fields of
 * runner/protocol.h's answers. 0: this device has a clock of its own, or there is no such line. */
int device_limits(char *answer, size_t size);
int device_cost(int i, char *answer, size_t size);

/* With the kernel in a guest. On a simulated GPU device_serve() starts to answer the guest's CUDA
 * calls; only between device_go() and device_gone() may it launch and, in a lab about
 * streams, copy; and where the launch is given, no other is done. device_gone() waits for
 * all streams, and sets *ms to the modelled time since device_go(). On a real GPU all three do
 * nothing: the guest uses the GPU itself, and its events give the time. */
void device_serve(void);
struct Lab;
cudaError_t device_go(const struct Lab *lab);
cudaError_t device_gone(double *ms);

/* Clock of one SM under no load but its own, in MHz; takes about 0.1 ms. */
cudaError_t device_clock(double *mhz);

/* What the calls since device_watch() did, of one kind: passes through memory (or instructions),
 * how many there would be at best (0: that is not known here), requests, and the source line that
 * is most to blame. `data`: of the array, for kinds that are of one. 0: this device does not count.
 */
typedef struct DeviceCount {
    unsigned long long done, least, requests;
    int line;
} DeviceCount;
int device_count(int counter, const void *data, DeviceCount *count);

#ifdef __cplusplus
}
#endif
#endif
