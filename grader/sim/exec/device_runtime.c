/* device_runtime.c - the calls of CUDA's device runtime (libcudadevrt) in a kernel: launches,
 * copies and fills that follow the kernel, streams, memory, errors.
 *
 * nvcc turns a launch in a kernel into two calls: the first returns a buffer in which the kernel
 * stores the parameters, or NULL; the second launches. Each thread keeps the error of its last
 * failed call for cudaGetLastError().
 */
#include "sim/exec/children.h"
#include "sim/exec/warp.h"

#include <string.h>

/* Numbers of cudaError_t. */
enum { SUCCESS = 0, INVALID_VALUE = 1, MEMORY_ALLOCATION = 2, INVALID_FUNCTION = 98 };

static const ChildCalls *calls_of(const Warp *warp)
{
    return warp->block->launch->children;
}

static uint64_t argument(Warp *warp, const Step *step, int n, int lane)
{
    return system_argument(warp, step, n, lane, 8);
}

static int int_argument(Warp *warp, const Step *step, int n, int lane)
{
    return (int) system_argument(warp, step, n, lane, 4);
}

static void give(Warp *warp, const Step *step, int lane, const void *value, size_t bytes)
{
    uint8_t *result = call_return(warp, step, lane, bytes);

    if (result)
        memcpy(result, value, bytes);
}

/* ---- Launches ---- */

/* Without the opcode, a call. */
static Place launch_place(const Warp *warp, const Step *step, int lane)
{
    Place place = lane_place(warp, step, lane);

    place.instruction = NULL;
    place.instruction_length = 0;
    return place;
}

static int make_child(Warp *warp, const Step *step, int lane, ChildGrid *child)
{
    const uint8_t *grid = call_argument(warp, step, 1, lane, sizeof child->grid);
    const uint8_t *block = call_argument(warp, step, 2, lane, sizeof child->block);
    const uint64_t function = (argument(warp, step, 0, lane) - FUNCTION_WINDOW) / 16;
    const Module *module = warp->block->launch->module;

    if (!grid || !block || function >= (uint64_t) module->function_count ||
        !module->functions[function].is_entry)
        return INVALID_FUNCTION;
    child->function = (int) function;
    child->shared_bytes = (uint32_t) system_argument(warp, step, 3, lane, 4);
    memcpy(child->grid, grid, sizeof child->grid);
    memcpy(child->block, block, sizeof child->block);
    return SUCCESS;
}

static int parameter_buffer(Warp *warp, const Step *step, int lane)
{
    const Place place = launch_place(warp, step, lane);
    ChildGrid child;
    uint64_t address = 0;
    int error = make_child(warp, step, lane, &child);

    if (!error)
        address = calls_of(warp)->buffer(&place, &child, &error);
    give(warp, step, lane, &address, sizeof address);
    return error;
}

/* Each block has a default stream of its own. */
static uint64_t stream_argument(Warp *warp, const Step *step, int n, int lane)
{
    const uint64_t stream = argument(warp, step, n, lane);

    return stream < STREAM_TAIL ? ~(uint64_t) warp->block->number : stream;
}

static int launch_child(Warp *warp, const Step *step, int lane)
{
    const Place place = launch_place(warp, step, lane);

    return calls_of(warp)->launch(&place, argument(warp, step, 0, lane),
                                  stream_argument(warp, step, 1, lane));
}

/* ---- Copies and fills ---- */

static int copy(Warp *warp, const Step *step, int lane)
{
    return calls_of(warp)->copy(argument(warp, step, 0, lane), argument(warp, step, 1, lane),
                                argument(warp, step, 2, lane),
                                stream_argument(warp, step, 4, lane));
}

static int fill(Warp *warp, const Step *step, int lane)
{
    return calls_of(warp)->fill(argument(warp, step, 0, lane), int_argument(warp, step, 1, lane),
                                argument(warp, step, 2, lane),
                                stream_argument(warp, step, 3, lane));
}

/* ---- Streams ---- */

static int create_stream(Warp *warp, const Step *step, int lane)
{
    static uint64_t streams = STREAM_CREATED;
    const uint64_t stream = streams++;
    const uint64_t to = argument(warp, step, 0, lane);
    const int non_blocking = 1;

    if (!to || int_argument(warp, step, 1, lane) != non_blocking)
        return INVALID_VALUE;
    system_store(warp, step, lane, to, &stream, sizeof stream);
    return SUCCESS;
}

/* What was launched into the stream still runs. */
static int destroy_stream(Warp *warp, const Step *step, int lane)
{
    return argument(warp, step, 0, lane) >= STREAM_CREATED ? SUCCESS : INVALID_VALUE;
}

/* ---- Memory: from the heap of malloc() ---- */

static int allocate(Warp *warp, const Step *step, int lane)
{
    const uint64_t to = argument(warp, step, 0, lane), bytes = argument(warp, step, 1, lane);
    const uint64_t address = bytes ? heap_allocate(warp->block->launch, bytes) : 0;

    if (!to || !bytes)
        return INVALID_VALUE;
    system_store(warp, step, lane, to, &address, sizeof address);
    return address ? SUCCESS : MEMORY_ALLOCATION;
}

static int release(Warp *warp, const Step *step, int lane)
{
    heap_release(warp, step, lane, argument(warp, step, 0, lane));
    return SUCCESS;
}

/* ---- Errors ---- */

static int peek_error(Warp *warp, const Step *step, int lane)
{
    give(warp, step, lane, &warp->errors[lane], sizeof warp->errors[lane]);
    return SUCCESS;
}

static int last_error(Warp *warp, const Step *step, int lane)
{
    peek_error(warp, step, lane);
    warp->errors[lane] = SUCCESS;
    return SUCCESS;
}

static int give_text(Warp *warp, const Step *step, int lane, bool is_name)
{
    const uint64_t text = calls_of(warp)->error_text(int_argument(warp, step, 0, lane), is_name);

    give(warp, step, lane, &text, sizeof text);
    return SUCCESS;
}

static int error_string(Warp *warp, const Step *step, int lane)
{
    return give_text(warp, step, lane, false);
}

static int error_name(Warp *warp, const Step *step, int lane)
{
    return give_text(warp, step, lane, true);
}

/* ---- The calls ---- */

static const struct DeviceCall {
    const char *name; /* after __cudaCDP2, and without _ptsz */
    int (*run)(Warp *warp, const Step *step,
               int lane); /* returns an error, which the thread keeps */
    bool has_result;      /* it has stored a result of its own; otherwise the result is the error */
} calls[] = {
    { "GetParameterBufferV2", parameter_buffer, true },
    { "LaunchDeviceV2", launch_child, false },
    { "MemcpyAsync", copy, false },
    { "MemsetAsync", fill, false },
    { "StreamCreateWithFlags", create_stream, false },
    { "StreamDestroy", destroy_stream, false },
    { "Malloc", allocate, false },
    { "Free", release, false },
    { "PeekAtLastError", peek_error, true },
    { "GetLastError", last_error, true },
    { "GetErrorString", error_string, true },
    { "GetErrorName", error_name, true },
};

static const struct DeviceCall *find(Name name)
{
    static const char begin[] = "__cudaCDP2", end[] = "_ptsz";
    const int before = sizeof begin - 1, after = sizeof end - 1;

    if (name.length < before || memcmp(name.at, begin, sizeof begin - 1) != 0)
        return NULL;
    name = (Name){ name.at + before, name.length - before };
    if (name.length > after && !memcmp(name.at + name.length - after, end, sizeof end - 1))
        name.length -= after;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (name_is(name, calls[i].name))
            return &calls[i];
    return NULL;
}

bool device_runtime_call(Warp *warp, const Step *step, uint32_t mask, Name name)
{
    const struct DeviceCall *call = calls_of(warp) ? find(name) : NULL;

    if (!call)
        return false;
    for (uint32_t left = mask; left && !warp->block->ended; left &= left - 1) {
        const int lane = __builtin_ctz(left), error = call->run(warp, step, lane);
        if (error)
            warp->has_errors = true, warp->errors[lane] = error;
        if (!call->has_result)
            give(warp, step, lane, &error, sizeof error);
    }
    return true;
}
