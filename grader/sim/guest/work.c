/* work.c - streams, events, copies, the device, and host arrays, which are not mapped into this
 * process until host code touches them. */
#include "sim/guest/link.h"
#include "sim/memory/memory.h"

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#define NUMBER(handle) ((uint64_t) (uintptr_t) (handle))

static bool is_host_array(uint64_t address)
{
    return address >= HOST_ARRAYS_BEGIN && address < HOST_ARRAYS_END;
}

static bool is_device(uint64_t address)
{
    return address >= GLOBAL_BASE && address < GLOBAL_END;
}

/* ---- The device ---- */

API cudaError_t cudaGetDevice(int *device)
{
    if (!device)
        return keep_error(cudaErrorInvalidValue);
    *device = 0;
    return cudaSuccess;
}

API cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr id, int device)
{
    uint64_t answer[2];
    cudaError_t error;

    if (!value || device)
        return keep_error(value ? cudaErrorInvalidDevice : cudaErrorInvalidValue);
    error = ask_words(CALL_DEVICE, WORDS((uint64_t) id), answer);
    if (!error)
        *value = (int) answer[0];
    return error;
}

API cudaError_t cudaDeviceSynchronize(void)
{
    return ask_words(CALL_SYNC, WORDS(0), NULL);
}

/* On a real GPU this call creates the context (caller.c, guest.c). The runner already has one. */
API cudaError_t cudaSetDevice(int device)
{
    return keep_error(device ? cudaErrorInvalidDevice : cudaSuccess);
}

API cudaError_t cudaSetDeviceFlags(unsigned flags)
{
    (void) flags;
    return cudaSuccess;
}

API cudaError_t cudaDeviceSetLimit(enum cudaLimit limit, size_t value)
{
    (void) limit, (void) value;
    return cudaSuccess;
}

API cudaError_t cudaCtxResetPersistingL2Cache(void)
{
    return cudaSuccess;
}

API cudaError_t cudaMalloc(void **pointer, size_t bytes)
{
    (void) bytes;
    *pointer = NULL;
    return cudaSuccess;
}

API cudaError_t cudaFree(void *pointer)
{
    (void) pointer;
    return cudaSuccess;
}

API cudaError_t cudaMemset(void *to, int value, size_t bytes)
{
    (void) to, (void) value, (void) bytes;
    return cudaSuccess;
}

API cudaError_t cudaHostRegister(void *pointer, size_t bytes, unsigned flags)
{
    (void) pointer, (void) bytes, (void) flags;
    return cudaSuccess;
}

API cudaError_t cudaHostUnregister(void *pointer)
{
    (void) pointer;
    return cudaSuccess;
}

/* ---- Streams ---- */

static cudaError_t make(SimCallKind kind, uint64_t flags, void **handle)
{
    uint64_t answer[2];
    cudaError_t error;

    if (!handle)
        return keep_error(cudaErrorInvalidValue);
    error = ask_words(kind, WORDS(flags), answer);
    if (!error)
        *handle = (void *) (uintptr_t) answer[0];
    return error;
}

API cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
    return make(CALL_STREAM, 0, (void **) stream);
}

API cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
    return make(CALL_STREAM, flags, (void **) stream);
}

API cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    return ask_words(CALL_STREAM_END, WORDS(NUMBER(stream)), NULL);
}

API cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    return ask_words(CALL_STREAM_SYNC, WORDS(NUMBER(stream)), NULL);
}

API cudaError_t cudaStreamQuery(cudaStream_t stream)
{
    return ask_words(CALL_STREAM_ASK, WORDS(NUMBER(stream)), NULL);
}

API cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags)
{
    return ask_words(CALL_STREAM_WAIT, WORDS(NUMBER(stream), NUMBER(event), flags), NULL);
}

/* ---- Events ---- */

API cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    return make(CALL_EVENT, 0, (void **) event);
}

API cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags)
{
    return make(CALL_EVENT, flags, (void **) event);
}

API cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    return ask_words(CALL_EVENT_END, WORDS(NUMBER(event)), NULL);
}

API cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    return ask_words(CALL_EVENT_MARK, WORDS(NUMBER(event), NUMBER(stream)), NULL);
}

API cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    return ask_words(CALL_EVENT_SYNC, WORDS(NUMBER(event)), NULL);
}

API cudaError_t cudaEventQuery(cudaEvent_t event)
{
    return ask_words(CALL_EVENT_ASK, WORDS(NUMBER(event)), NULL);
}

/* For caller.c. Its result is not used: the runner measures time itself. */
#undef cudaEventElapsedTime
API cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t begin, cudaEvent_t end);
API cudaError_t cudaEventElapsedTime_v2(float *ms, cudaEvent_t begin, cudaEvent_t end);

API cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t begin, cudaEvent_t end)
{
    uint64_t answer[2];
    cudaError_t error = ask_words(CALL_ELAPSED, WORDS(NUMBER(begin), NUMBER(end)), answer);

    if (!error && ms)
        memcpy(ms, answer, sizeof *ms);
    return error;
}

API cudaError_t cudaEventElapsedTime_v2(float *ms, cudaEvent_t begin, cudaEvent_t end)
{
    return cudaEventElapsedTime(ms, begin, end);
}

/* ---- Copies ---- */

/* Memory that belongs neither to the device nor to a host array is private to the guest, so its
 * bytes are sent. */
static cudaError_t copy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                        cudaStream_t stream, uint64_t flags)
{
    const bool to_own = !is_device(NUMBER(to)) && !is_host_array(NUMBER(to));
    const bool from_own = !is_device(NUMBER(from)) && !is_host_array(NUMBER(from));

    flags |= (to_own ? COPY_TO_GUEST : 0) | (from_own ? COPY_FROM_GUEST : 0);
    return ask(CALL_COPY,
               WORDS(NUMBER(to), NUMBER(from), bytes, (uint64_t) kind, NUMBER(stream), flags), from,
               from_own && from ? bytes : 0, NULL, to, to_own && to ? bytes : 0, NULL);
}

API cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    return copy(to, from, bytes, kind, NULL, COPY_BLOCKS);
}

API cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                                cudaStream_t stream)
{
    return copy(to, from, bytes, kind, stream, 0);
}

/* ---- Signals ---- */

static bool say(const char *text, size_t bytes)
{
    return write(STDERR_FILENO, text, bytes) == (ssize_t) bytes;
}

static bool is_write(const void *context)
{
#ifdef __x86_64__
    return ((const ucontext_t *) context)->uc_mcontext.gregs[REG_ERR] & 2;
#else
    (void) context;
    return true;
#endif
}

/* Maps a host array. The runner provides the memory, and thus learns that host code accessed it. */
static bool map_array(uint64_t address, bool writes)
{
    uint64_t range[2];
    int fd = ask_touch(address, writes, range);
    void *at;

    if (fd < 0)
        return false;
    at = mmap((void *) (uintptr_t) range[0], range[1], PROT_READ | (writes ? PROT_WRITE : 0),
              MAP_SHARED | MAP_FIXED, fd, 0);
    close(fd);
    return at != MAP_FAILED;
}

static void on_fault(int number, siginfo_t *info, void *context)
{
    static const char words[] = "host code accessed an address in GPU memory: only kernels can do "
                                "that\n";
    const uint64_t at = NUMBER(info->si_addr);

    if (is_host_array(at) && map_array(at, is_write(context)))
        return;
    if (is_device(at))
        say(words, sizeof words - 1);
    signal(number, SIG_DFL); /* the fault is raised again and kills the process */
}

__attribute__((constructor)) static void prepare(void)
{
    struct sigaction action = { .sa_sigaction = on_fault,
                                .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER };

    sigaction(SIGSEGV, &action, NULL);
}
