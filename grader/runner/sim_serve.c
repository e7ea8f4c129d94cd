/* sim_serve.c - makes CUDA calls for a guest on a simulated GPU (listed in sim_calls.h).
 *
 * Every call is treated as hostile until it has been checked: a number must be the index of a row
 * in a table here, an address must be in an array that the guest was given, and lengths must
 * match the frame. A call that the guest's libcudart never sends returns `false`, which ends the
 * guest. A call that can be a student's mistake returns CUDA's error.
 */
#include "runner/sim_serve.h"
#include "runner/guest_link.h"
#include "runner/guest_wire.h"
#include "runner/sim_calls.h"
#include "base/util.h"

#include "sim/runtime/query.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The functions that nvcc's generated code calls. */
void **__cudaRegisterFatBinary(void *wrapper);
void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name,
                            int threads, uint3 *tid, uint3 *bid, dim3 *block, dim3 *grid,
                            int *warp);

enum {
    MOST_MODULES = 16,
    MOST_KERNELS = 1024,
    MOST_HANDLES = 4096,
    MOST_NAME = 4096,
    FATBIN_LEAST = 16, /* size of its header */
};

/* What a program registers, in nvcc's format. */
typedef struct Wrapper {
    uint32_t magic, version;
    const void *data;
    const char *file;
} Wrapper;

typedef struct KernelRow {
    char host; /* the library identifies the kernel by the address of this byte */
    int arguments;
    uint32_t sizes[SIM_MOST_ARGUMENTS];
} KernelRow;

static struct {
    void **modules[MOST_MODULES];
    KernelRow *kernels[MOST_KERNELS];
    cudaStream_t streams[MOST_HANDLES];
    cudaEvent_t events[MOST_HANDLES];
    int module_count, kernel_count;
    Serves work;
    unsigned given_blocks, given_threads; /* 0: any */
    bool has_worked;
} server;

/* A call being answered. */
typedef struct Job {
    const uint64_t *word;
    const char *bytes; /* the data after the words */
    size_t count;
    SimReply reply;
    const void *answer; /* the data after the reply's words */
    size_t answer_bytes;
    void *owned; /* freed once the reply is sent */
    int fd;
} Job;

void sim_serve_work(Serves allowed)
{
    server.work = allowed;
    server.has_worked |= allowed != SERVES_NO_WORK;
}

void sim_serve_launch(unsigned blocks, unsigned threads)
{
    server.given_blocks = blocks;
    server.given_threads = threads;
}

/* ---- Code ---- */

/* The library reads as many bytes as the header says, so exactly that many must have arrived. */
static bool is_whole(const char *bytes, size_t count)
{
    uint16_t header_bytes;
    uint64_t size;

    if (count < FATBIN_LEAST)
        return false;
    memcpy(&header_bytes, bytes + 6, sizeof header_bytes);
    memcpy(&size, bytes + 8, sizeof size);
    return header_bytes <= count && size == count - header_bytes;
}

/* The library keeps pointers to both permanently. */
static bool add_module(Job *job)
{
    const uint32_t magic = 0x466243b1;
    Wrapper *wrapper;
    char *copy;

    if (server.has_worked || server.module_count == MOST_MODULES ||
        !is_whole(job->bytes, job->count) || job->word[0] > UINT32_MAX)
        return false;
    copy = xmalloc(job->count);
    memcpy(copy, job->bytes, job->count);
    wrapper = xmalloc(sizeof *wrapper);
    *wrapper = (Wrapper){ magic, (uint32_t) job->word[0], copy, NULL };
    server.modules[server.module_count] = __cudaRegisterFatBinary(wrapper);
    job->reply.word[0] = (uint64_t) server.module_count++;
    return true;
}

static bool add_function(Job *job)
{
    char name[MOST_NAME + 1];
    KernelRow *row;

    if (job->word[0] >= (uint64_t) server.module_count || server.kernel_count == MOST_KERNELS ||
        !job->count || job->count > MOST_NAME || memchr(job->bytes, 0, job->count))
        return false;
    memcpy(name, job->bytes, job->count);
    name[job->count] = 0;
    row = xmalloc(sizeof *row);
    *row = (KernelRow){ .arguments = -1 };
    __cudaRegisterFunction(server.modules[job->word[0]], &row->host, NULL, name, -1, NULL, NULL,
                           NULL, NULL, NULL);
    server.kernels[server.kernel_count] = row;
    job->reply.word[0] = (uint64_t) server.kernel_count++;
    return true;
}

/* A launch of something other than a kernel has a number that no kernel has; it gets CUDA's
 * error. */
static const void *kernel_at(uint64_t number)
{
    static const char nothing;

    return number < (uint64_t) server.kernel_count ? &server.kernels[number]->host : &nothing;
}

/* The sizes of the kernel's arguments, from its PTX; queried once. NULL on failure, with the error
 * set. */
static const KernelRow *layout_of(uint64_t number, int64_t *error)
{
    KernelRow *row = number < (uint64_t) server.kernel_count ? server.kernels[number] : NULL;
    size_t offset, size;
    int count = 0;

    *error = row ? cudaSuccess : cudaErrorInvalidDeviceFunction;
    if (!row || row->arguments >= 0)
        return row;
    struct cudaFuncAttributes attributes;
    *error = cudaFuncGetAttributes(&attributes, &row->host); /* fails if there is no such kernel */
    if (*error)
        return NULL;
    while (count < SIM_MOST_ARGUMENTS &&
           !cudaFuncGetParamInfo(&row->host, (size_t) count, &offset, &size))
        row->sizes[count++] = (uint32_t) size;
    cudaGetLastError(); /* clears the error of the last query, past the last argument */
    row->arguments = count;
    return row;
}

static bool tell_layout(Job *job)
{
    const KernelRow *row = layout_of(job->word[0], &job->reply.error);

    if (!row)
        return true;
    job->reply.word[0] = (uint64_t) row->arguments;
    job->answer = row->sizes;
    job->answer_bytes = (size_t) row->arguments * sizeof *row->sizes;
    return true;
}

/* ---- Handles ---- */

/* A stream of the guest. 0 to 2 are CUDA's own streams; a number without a row is not a stream. */
static cudaStream_t stream_at(uint64_t number)
{
    static char nothing; /* a pointer that the library does not know */

    if (number <= 2)
        return (cudaStream_t) (uintptr_t) number;
    number -= SIM_FIRST_HANDLE;
    return number < MOST_HANDLES && server.streams[number] ? server.streams[number]
                                                           : (cudaStream_t) &nothing;
}

static cudaEvent_t event_at(uint64_t number)
{
    number -= SIM_FIRST_HANDLE;
    return number < MOST_HANDLES ? server.events[number] : NULL;
}

static bool make_stream(Job *job)
{
    int i = 0;

    if (server.work != SERVES_STREAMS)
        return false;
    while (i < MOST_HANDLES && server.streams[i])
        i++;
    job->reply.error = i == MOST_HANDLES
                           ? cudaErrorMemoryAllocation
                           : cudaStreamCreateWithFlags(&server.streams[i], (unsigned) job->word[0]);
    job->reply.word[0] = (uint64_t) i + SIM_FIRST_HANDLE;
    return true;
}

static bool end_stream(Job *job)
{
    cudaStream_t stream = stream_at(job->word[0]);

    job->reply.error = cudaStreamDestroy(stream);
    if (!job->reply.error)
        server.streams[job->word[0] - SIM_FIRST_HANDLE] = NULL;
    return true;
}

static bool make_event(Job *job)
{
    int i = 0;

    while (i < MOST_HANDLES && server.events[i])
        i++;
    job->reply.error = i == MOST_HANDLES
                           ? cudaErrorMemoryAllocation
                           : cudaEventCreateWithFlags(&server.events[i], (unsigned) job->word[0]);
    job->reply.word[0] = (uint64_t) i + SIM_FIRST_HANDLE;
    return true;
}

static bool end_event(Job *job)
{
    job->reply.error = cudaEventDestroy(event_at(job->word[0]));
    if (!job->reply.error)
        server.events[job->word[0] - SIM_FIRST_HANDLE] = NULL;
    return true;
}

static bool stream_sync(Job *job)
{
    job->reply.error = cudaStreamSynchronize(stream_at(job->word[0]));
    return true;
}

static bool stream_ask(Job *job)
{
    job->reply.error = cudaStreamQuery(stream_at(job->word[0]));
    return true;
}

static bool stream_wait(Job *job)
{
    job->reply.error = cudaStreamWaitEvent(stream_at(job->word[0]), event_at(job->word[1]),
                                           (unsigned) job->word[2]);
    return true;
}

static bool event_mark(Job *job)
{
    job->reply.error = cudaEventRecord(event_at(job->word[0]), stream_at(job->word[1]));
    return true;
}

static bool event_sync(Job *job)
{
    job->reply.error = cudaEventSynchronize(event_at(job->word[0]));
    return true;
}

static bool event_ask(Job *job)
{
    job->reply.error = cudaEventQuery(event_at(job->word[0]));
    return true;
}

static bool elapsed(Job *job)
{
    float ms = 0;

    job->reply.error = cudaEventElapsedTime(&ms, event_at(job->word[0]), event_at(job->word[1]));
    memcpy(&job->reply.word[0], &ms, sizeof ms);
    return true;
}

static bool sync_device(Job *job)
{
    job->reply.error = cudaDeviceSynchronize();
    return true;
}

/* ---- Launches ---- */

static bool arguments_of(const KernelRow *row, const Job *job, void **arguments)
{
    size_t at = 0;

    for (int i = 0; i < row->arguments; i++) {
        arguments[i] = (void *) (job->bytes + at);
        at += row->sizes[i];
    }
    return at == job->count;
}

static dim3 three(uint64_t two, uint64_t one)
{
    return (dim3){ (unsigned) two, (unsigned) (two >> 32), (unsigned) one };
}

static cudaError_t launch_clustered(const void *kernel, dim3 grid, dim3 block, void **arguments,
                                    size_t shared, cudaStream_t stream)
{
    cudaLaunchAttribute cluster = { .id = cudaLaunchAttributeClusterDimension };
    cudaLaunchConfig_t config = { grid, block, shared, stream, &cluster, 1 };

    cluster.val.clusterDim.x = 2;
    cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
    return cudaLaunchKernelExC(&config, kernel, arguments);
}

static bool is_given(dim3 grid, dim3 block)
{
    return !server.given_blocks ||
           (grid.x == server.given_blocks && grid.y == 1 && grid.z == 1 &&
            block.x == server.given_threads && block.y == 1 && block.z == 1);
}

/* If there is no layout, the library itself reports what is wrong. */
static bool launch(Job *job)
{
    void *arguments[SIM_MOST_ARGUMENTS];
    const uint64_t *word = job->word, flags = word[2] >> 32;
    const KernelRow *row = layout_of(word[0], &job->reply.error);
    const dim3 grid = three(word[1], word[2]), block = three(word[3], word[4]);
    cudaStream_t stream = stream_at(word[6]);

    if (server.work == SERVES_NO_WORK || !is_given(grid, block) ||
        (row && !arguments_of(row, job, arguments)))
        return false;
    if (flags & LAUNCH_CLUSTERS)
        job->reply.error = launch_clustered(kernel_at(word[0]), grid, block, row ? arguments : NULL,
                                            word[5], stream);
    else
        job->reply.error =
            (flags & LAUNCH_TOGETHER ? cudaLaunchCooperativeKernel : cudaLaunchKernel)(
                kernel_at(word[0]), grid, block, row ? arguments : NULL, word[5], stream);
    return true;
}

/* ---- Attributes of kernels and of the device ---- */

static bool attributes(Job *job)
{
    static struct cudaFuncAttributes found;

    job->reply.error = cudaFuncGetAttributes(&found, kernel_at(job->word[0]));
    job->answer = &found;
    job->answer_bytes = sizeof found;
    return true;
}

static bool set_attribute(Job *job)
{
    job->reply.error = cudaFuncSetAttribute(
        kernel_at(job->word[0]), (enum cudaFuncAttribute) job->word[1], (int) job->word[2]);
    return true;
}

static bool prefer(Job *job)
{
    job->reply.error =
        cudaFuncSetCacheConfig(kernel_at(job->word[0]), (enum cudaFuncCache) job->word[1]);
    return true;
}

static bool occupancy(Job *job)
{
    int blocks = 0;

    job->reply.error = cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        &blocks, kernel_at(job->word[0]), (int) job->word[1], job->word[2],
        (unsigned) job->word[3]);
    job->reply.word[0] = (uint64_t) blocks;
    return true;
}

static bool device(Job *job)
{
    int value = 0;

    job->reply.error = cudaDeviceGetAttribute(&value, (enum cudaDeviceAttr) job->word[0], 0);
    job->reply.word[0] = (uint64_t) (int64_t) value;
    return true;
}

/* ---- Copies ---- */

/* True if the guest may use these bytes. The library checks device memory; of host memory, only the
 * guest's arrays are allowed. */
static bool may_name(uint64_t address, size_t bytes)
{
    struct cudaPointerAttributes about;

    if (share_holds(address, bytes))
        return true;
    return !share_holds(address, 1) &&
           !cudaPointerGetAttributes(&about, (void *) (uintptr_t) address) && !about.hostPointer;
}

/* A copy between a host array and the guest's own memory counts as a touch by host code. */
static void note_touch(bool is_guests, uint64_t other)
{
    uint64_t first, bytes;

    if (is_guests)
        share_touch(other, false, &first, &bytes);
}

/* NULL stays NULL if the bytes are the guest's own: the library has a message for that. */
static bool copy(Job *job)
{
    const uint64_t *word = job->word, bytes = word[2], flags = word[5];
    const bool to_guest = flags & COPY_TO_GUEST, from_guest = flags & COPY_FROM_GUEST;
    void *to = (void *) (uintptr_t) word[0];
    const void *from = (void *) (uintptr_t) word[1];
    const enum cudaMemcpyKind kind = (enum cudaMemcpyKind) word[3];

    if (server.work != SERVES_STREAMS || ((to_guest || from_guest) && bytes > SIM_MOST_BYTES) ||
        job->count != (from_guest && from ? bytes : 0))
        return false;
    if ((!to_guest && !may_name(word[0], bytes)) || (!from_guest && !may_name(word[1], bytes))) {
        job->reply.error = cudaErrorInvalidValue;
        return true;
    }
    note_touch(to_guest, word[1]);
    note_touch(from_guest, word[0]);
    if (to_guest && to)
        to = job->owned = calloc(1, bytes + 1);
    if (from_guest && from)
        from = job->bytes;
    job->reply.error = flags & COPY_BLOCKS
                           ? cudaMemcpy(to, from, bytes, kind)
                           : cudaMemcpyAsync(to, from, bytes, kind, stream_at(word[4]));
    if (job->owned && !job->reply.error) {
        job->answer = job->owned;
        job->answer_bytes = bytes;
    }
    return true;
}

/* ---- The host's arrays ---- */

static bool touch(Job *job)
{
    if (server.work != SERVES_STREAMS)
        return false;
    job->fd =
        share_touch(job->word[0], job->word[1] != 0, &job->reply.word[0], &job->reply.word[1]);
    if (job->fd < 0)
        job->reply.error = cudaErrorInvalidValue;
    return true;
}

/* ---- Table of calls ---- */

static bool (*const calls[SIM_CALLS])(Job *job) = {
    [CALL_MODULE] = add_module,
    [CALL_FUNCTION] = add_function,
    [CALL_LAYOUT] = tell_layout,
    [CALL_LAUNCH] = launch,
    [CALL_ATTRIBUTES] = attributes,
    [CALL_SET] = set_attribute,
    [CALL_PREFER] = prefer,
    [CALL_OCCUPANCY] = occupancy,
    [CALL_DEVICE] = device,
    [CALL_COPY] = copy,
    [CALL_STREAM] = make_stream,
    [CALL_STREAM_END] = end_stream,
    [CALL_STREAM_SYNC] = stream_sync,
    [CALL_STREAM_ASK] = stream_ask,
    [CALL_STREAM_WAIT] = stream_wait,
    [CALL_EVENT] = make_event,
    [CALL_EVENT_END] = end_event,
    [CALL_EVENT_MARK] = event_mark,
    [CALL_EVENT_SYNC] = event_sync,
    [CALL_EVENT_ASK] = event_ask,
    [CALL_ELAPSED] = elapsed,
    [CALL_SYNC] = sync_device,
    [CALL_TOUCH] = touch,
};

static bool reply(int socket, const Job *job)
{
    const size_t bytes = sizeof job->reply + job->answer_bytes;
    char *frame = xmalloc(bytes);
    bool sent;

    memcpy(frame, &job->reply, sizeof job->reply);
    if (job->answer_bytes)
        memcpy(frame + sizeof job->reply, job->answer, job->answer_bytes);
    sent = wire_send(socket, GUEST_REPLY, frame, bytes, job->fd);
    free(frame);
    return sent;
}

/* An error of the guest is not reported by later calls of the runner. A guest that is gone is
 * noticed at the next wait for it. */
bool sim_serve(int socket, const char *payload, size_t bytes)
{
    SimCall call;
    Job job = { .fd = -1 };
    bool fine;

    if (bytes < sizeof call)
        return false;
    memcpy(&call, payload, sizeof call);
    if (call.kind >= SIM_CALLS || !calls[call.kind])
        return false;
    job.word = call.word;
    job.bytes = payload + sizeof call;
    job.count = bytes - sizeof call;
    fine = calls[call.kind](&job);
    cudaGetLastError();
    if (fine)
        reply(socket, &job);
    free(job.owned);
    return fine;
}

void sim_serve_begin(void)
{
    guest_request = sim_serve;
}
