/* device_cuda.h - the few parts of the runner that differ between a real and a simulated GPU.
 * runner/device_cuda.cu implements them with kernels. runner/device_sim.c implements them on the
 * host, which is faster than simulating kernels, and asks the simulated GPU what it saw of the
 * student's kernels. All arrays are on the current device and all work goes to stream 0; functions
 * that return a result wait for it. */
#ifndef RUNNER_DEVICE_CUDA_H
#define RUNNER_DEVICE_CUDA_H

#include <cuda_runtime_api.h>
#include "runner/contents.h"

#ifdef __cplusplus
extern "C" {
#endif

/* No element differs, or no stray byte was found. */
#define DEVICE_NOTHING (~0ull)

/* Allocates what the other functions need, and runs a kernel with a known answer. *right: whether
 * the answer was correct. */
cudaError_t device_begin(int *right);

/* Fills an array (aligned to 16 bytes) as fast as memory can be written. */
cudaError_t device_fill(Element type, Fill fill, FillKey key, void *data, size_t bytes);

/* Finds the first element that differs from what device_fill wrote. *index: its index, or
 * DEVICE_NOTHING. */
cudaError_t device_find_change(Element type, Fill fill, FillKey key, const void *data, size_t bytes,
                               unsigned long long *index);

/* Looks for bytes other than `whole` in the guards around an array. *distance: how far the nearest
 * one is from the array's end (0: the next byte) or, if *before, from its start (1: the byte before
 * it). DEVICE_NOTHING: there is no such byte. */
cudaError_t device_find_stray(const void *data, size_t bytes, size_t guard_bytes,
                              unsigned char whole, unsigned long long *distance, int *before);

/* True if the GPU is a simulated one. */
extern const int device_simulated;

/* Fills an output or scratch with a byte, and marks it as uninitialised. */
cudaError_t device_poison(void *data, size_t bytes, unsigned char byte);

/* Sets the name of an array for messages, and the bytes of a matrix's rows (0: no matrix); i is its
 * number in the order of runner/handlers.c. */
void device_name(void *data, const char *name, int i, size_t row_bytes);

/* These surround calls of the student's function. device_watch() forgets earlier findings.
 * device_found() writes "KIND TEXT" of a finding since then to `fault` and returns 1, or returns 0
 * without one. */
void device_watch(void);
int device_found(char *fault, size_t size);

/* Sets whether races and uninitialised reads are checked for, the order of warps and blocks (0:
 * forward, odd: backward, else random with this seed), and how many warp instructions each launch
 * may execute. With checks the order of unordered streams is random, with the same seed. Returns 0
 * if this device cannot check. */
int device_checks(int on, unsigned long long order, unsigned long long budget);

/* Models time from now on: each device_watch() then begins with cold caches, and events give
 * modelled milliseconds, which leave out these causes of slowness (a CauseSet of sim/base/cause.h).
 * Returns 0 if this device has a clock of its own. */
int device_model_time(unsigned without);

/* How the calls since device_watch() were timed: launches, and those that could not be timed;
 * blocks, and those whose time was simulated; warp instructions; the time of all kernels one after
 * the other. Returns 0 if this device has a clock of its own. */
typedef struct DeviceTimed {
    unsigned long long launches, untimed, blocks, timed_blocks, instructions;
    double kernels_ms;
} DeviceTimed;
int device_timed(DeviceTimed *timed);

/* What limited those calls, and what the i-th costliest line of a .cu file did, as the fields of
 * runner/protocol.h's answers. Both return 0 if this device has a clock of its own; device_cost()
 * also if there is no such line. */
int device_limits(char *answer, size_t size);
int device_cost(int i, char *answer, size_t size);

/* From the next call on, keeps samples for pictures (-1: any block or warp); copies them to `to`, a
 * Records of sim/base/records.h, and returns its size. Both return 0 if this device does not
 * record, and device_records() also if there is no room. */
int device_record(long long block, int warp);
size_t device_records(void *to, size_t room);

/* The same for a trace of when work ran, as text (sim/report/trace.h). */
int device_trace(void);
size_t device_traced(void *to, size_t room);

/* For student code in a guest. On a simulated GPU device_serve() starts to answer the guest's CUDA
 * calls. The guest may launch only between device_go() and device_gone(), and only the given launch
 * if the lab gives one; in a lab about streams it may also copy. device_gone() waits for all
 * streams and sets *ms to the modelled time since device_go(). On a real GPU all three do nothing:
 * the guest uses the GPU itself, and its events give the time. */
void device_serve(void);
struct Lab;
cudaError_t device_go(const struct Lab *lab);
cudaError_t device_gone(double *ms);

/* The clock of one SM without other load, in MHz; takes about 0.1 ms. */
cudaError_t device_clock(double *mhz);

/* Counts one kind of work of the calls since device_watch(): passes through memory (or
 * instructions), the minimum number of them (0: not known here), requests, and the source line that
 * contributes most. `data` is the array, for counters that belong to one; then the line's own
 * passes and requests are known, too. Returns 0 if this device does not count. */
typedef struct DeviceCount {
    unsigned long long done, least, requests;
    unsigned long long line_done, line_requests;
    int line;
} DeviceCount;
int device_count(int counter, const void *data, DeviceCount *count);

#ifdef __cplusplus
}
#endif
#endif
