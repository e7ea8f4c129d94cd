/* children.c - what a kernel launches: its children run in the order of exec/children.h after it,
 * and before the next work of its stream.
 *
 * A launch in a kernel first gets a buffer for the parameters. The kernel fills it and launches. No
 * other launch gets the buffer before the parent has ended: its stores would look like a race.
 */
#include "sim/exec/children.h"
#include "sim/runtime/child_clock.h"
#include "sim/runtime/launch.h"

#include <stdlib.h>
#include <string.h>

enum { USUAL_PENDING = 2048, MOST_DEPTH = 24, MOST_TEXTS = 64 };
enum { LAUNCH_COST = 10000 }; /* warp instructions of the budget */
enum { SLOT = 512 }; /* bytes of a usual buffer; larger ones are allocations of their own */

/* A launch that has its buffer but is not launched yet. */
typedef struct Request {
    struct Request *next;
    LaunchRequest launch;
    uint64_t buffer;
} Request;

static struct {
    const Child *child; /* the running child; NULL: the host launched the running kernel */
    Work *running;      /* a kernel */
    Family *family;     /* of the running kernel, once it has launched one */
    uint64_t executed;  /* warp instructions of the host's launch and its children so far */
    uint64_t launches;  /* the number of these children */
    ChildQueue queue;
    Request *requests;
    long requested;
    uint64_t slots; /* memory of the usual buffers; 0: none yet */
    long slot_count;
    long *free_slots, free_count;
} children;

/* ---- Buffers ---- */

static long pending_limit(void)
{
    const size_t set = rt.limits[cudaLimitDevRuntimePendingLaunchCount];

    if (set > INT32_MAX)
        return INT32_MAX;
    return set ? (long) set : USUAL_PENDING;
}

static bool open_slots(void)
{
    const long count = pending_limit();
    Allocation *memory = memory_allocate((size_t) count * SLOT, VARIABLE_GLOBAL, "parameters");

    children.free_slots = memory ? malloc((size_t) count * sizeof *children.free_slots) : NULL;
    if (!children.free_slots) {
        if (memory)
            memory_free(memory->base);
        return false;
    }
    children.slots = memory->base;
    children.slot_count = children.free_count = count;
    for (long i = 0; i < count; i++)
        children.free_slots[i] = count - 1 - i;
    return true;
}

static uint64_t take_slot(void)
{
    if ((!children.slots && !open_slots()) || !children.free_count)
        return 0;
    return children.slots + (uint64_t) children.free_slots[--children.free_count] * SLOT;
}

static uint64_t take_buffer(size_t bytes)
{
    const Allocation *own =
        bytes > SLOT ? memory_allocate(bytes, VARIABLE_GLOBAL, "parameters") : NULL;
    const uint64_t buffer = bytes <= SLOT ? take_slot() : own ? own->base : 0;

    if (buffer)
        memory_mark(buffer, bytes, MARK_OK); /* the runtime's, not to be checked */
    return buffer;
}

static void return_buffer(uint64_t buffer)
{
    const uint64_t slot = (buffer - children.slots) / SLOT;

    if (buffer >= children.slots && slot < (uint64_t) children.slot_count)
        children.free_slots[children.free_count++] = (long) slot;
    else
        memory_free(buffer);
}

static void close_slots(void)
{
    if (children.slots)
        memory_free(children.slots);
    free(children.free_slots);
    children.slots = 0;
    children.free_slots = NULL;
    children.free_count = children.slot_count = 0;
}

/* ---- Launches in a kernel ---- */

/* The kernel by its index in the module. One that only kernels launch may not be registered. */
static const RtFunction *kernel_of(int index)
{
    RtModule *module = children.running->kernel.function->owner;
    const Name name = module->module->functions[index].name;
    char *text;
    const RtFunction *added;

    for (const RtFunction *function = rt.functions; function; function = function->next)
        if (function->owner == module && name_is(name, function->name))
            return function;
    text = strndup(name.at, (size_t) name.length);
    added = text ? function_add(module, NULL, text) : NULL;
    free(text);
    return added;
}

static int refuse_too_many(const Place *place)
{
    const long limit = pending_limit();

    if (children.queue.count + children.requested < limit)
        return cudaSuccess;
    finding(FINDING_LAUNCH, true, place,
            "%ld launches by kernels wait to run, and no more are allowed. Here none starts before "
            "its parent ends; on a GPU some may. Allow more with "
            "cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, number)",
            limit);
    return cudaErrorLaunchPendingCountExceeded;
}

static int depth_of(const Child *child)
{
    return child ? child->depth : 0;
}

static int refuse_too_deep(const Place *place, uint64_t stream)
{
    if (depth_of(children.child) < MOST_DEPTH || stream == STREAM_TAIL)
        return cudaSuccess;
    finding(FINDING_LAUNCH, true, place,
            "a launch in a kernel that is itself launched by a kernel, and so on %d times: no "
            "deeper nesting is allowed. A launch into cudaStreamTailLaunch does not nest",
            MOST_DEPTH);
    return cudaErrorLaunchMaxDepthExceeded;
}

/* The device's runtime has one error for all invalid shapes. */
static int error_in_kernel(cudaError_t error)
{
    return error == cudaSuccess || error == cudaErrorLaunchOutOfResources ||
                   error == cudaErrorMemoryAllocation || error == cudaErrorInvalidPtx
               ? (int) error
               : cudaErrorInvalidConfiguration;
}

static LaunchRequest request_of(const ChildGrid *child)
{
    return (LaunchRequest){ .kernel = kernel_of(child->function),
                            .grid = { child->grid[0], child->grid[1], child->grid[2] },
                            .block = { child->block[0], child->block[1], child->block[2] },
                            .dynamic_bytes = child->shared_bytes };
}

static uint64_t new_buffer(const Place *place, const ChildGrid *child, int *error)
{
    Request *request = NULL;
    LaunchRequest launch = request_of(child);

    *error = refuse_too_many(place);
    if (!*error)
        *error = error_in_kernel(launch_check(place, &launch));
    if (*error || !(request = calloc(1, sizeof *request)))
        return 0;
    request->launch = launch;
    request->buffer = take_buffer(launch.packed_bytes + 1);
    if (!request->buffer) {
        *error = cudaErrorMemoryAllocation;
        free(request);
        return 0;
    }
    request->next = children.requests;
    children.requests = request;
    children.requested++;
    return request->buffer;
}

static Request **find_request(uint64_t buffer)
{
    Request **at = &children.requests;

    while (*at && (*at)->buffer != buffer)
        at = &(*at)->next;
    return at;
}

static void forget_request(Request **at)
{
    Request *request = *at;

    *at = request->next;
    children.requested--;
    free(request);
}

static int add_child(Work *work, uint64_t stream, uint64_t buffer)
{
    Child *child = work ? calloc(1, sizeof *child) : NULL;

    if (!child) {
        work_free(work);
        return cudaErrorMemoryAllocation;
    }
    if (!children.family)
        children.family = family_of(children.running, !children.child);
    work->number = ++rt.numbers;
    work->stream = children.running->stream;
    child->family = children.family;
    child->stream = stream;
    child->work = work;
    child->buffer = buffer;
    child->depth = depth_of(children.child) + (stream != STREAM_TAIL);
    children_add(&children.queue, child);
    return cudaSuccess;
}

static int launch_child(const Place *place, uint64_t buffer, uint64_t stream)
{
    Request **at = find_request(buffer), *request = *at;
    Work *work = NULL;
    cudaError_t error;

    if (!request)
        return cudaErrorInvalidValue;
    request->launch.packed = memory_range(buffer, request->launch.packed_bytes, false);
    error = refuse_too_deep(place, stream);
    if (!error)
        error = launch_work(&request->launch, &work);
    if (error)
        return error;
    forget_request(at);
    return add_child(work, stream, buffer);
}

/* ---- Copies and fills in a kernel ---- */

static int copy_after(uint64_t to, uint64_t from, uint64_t bytes, uint64_t stream)
{
    Work *work;

    if (!bytes)
        return cudaSuccess;
    if (!memory_range(to, bytes, false) || !memory_range(from, bytes, false))
        return cudaErrorInvalidValue;
    work = work_new(WORK_COPY);
    if (work)
        work->copy = (CopyWork){ .to = to,
                                 .from = from,
                                 .to_device = true,
                                 .from_device = true,
                                 .width = bytes,
                                 .height = 1,
                                 .depth = 1 };
    return add_child(work, stream, 0);
}

static int fill_after(uint64_t to, int value, uint64_t bytes, uint64_t stream)
{
    Work *work;

    if (!bytes)
        return cudaSuccess;
    if (!memory_range(to, bytes, false))
        return cudaErrorInvalidValue;
    work = work_new(WORK_FILL);
    if (work)
        work->fill = (FillWork){
            .to = to, .width = bytes, .height = 1, .value = { (uint8_t) value }, .value_bytes = 1
        };
    return add_child(work, stream, 0);
}

/* ---- Texts of errors, in the device's memory ---- */

static struct {
    const char *text;
    uint64_t address;
} texts[MOST_TEXTS];

static uint64_t text_address(int error, bool is_name)
{
    const char *text = is_name ? cudaGetErrorName(error) : cudaGetErrorString(error);
    const size_t bytes = strlen(text) + 1;
    Allocation *memory;
    int i = 0;

    while (i < MOST_TEXTS - 1 && texts[i].address && texts[i].text != text)
        i++;
    if (texts[i].text == text && texts[i].address)
        return texts[i].address;
    memory = memory_allocate(bytes, VARIABLE_GLOBAL, "error text");
    if (!memory)
        return 0;
    memcpy(memory->host, text, bytes);
    memory_mark(memory->base, bytes, MARK_OK);
    texts[i].text = text;
    texts[i].address = memory->base;
    return memory->base;
}

/* ---- Running them ---- */

static const ChildCalls calls = { new_buffer, launch_child, copy_after, fill_after, text_address };

const ChildCalls *children_begin(Work *kernel)
{
    if (!children.child && children.slot_count != pending_limit())
        close_slots(); /* the program has changed the limit */
    children.running = kernel;
    children.family = NULL;
    return &calls;
}

static void run_child(const Child *child)
{
    Work *work = child->work;

    children.child = child;
    family_begin(child->family, work, child->stream);
    if (work->kind == WORK_KERNEL)
        run_kernel(work);
    else if (work->kind == WORK_COPY)
        run_copy(&work->copy);
    else
        run_fill(&work->fill);
    children.executed += work->executed;
    children.launches++;
    family_done(child->family, work, child->stream);
    clock_done(work);
}

static void free_child(Child *child)
{
    if (child->buffer)
        return_buffer(child->buffer);
    work_free(child->work);
    free(child);
}

/* The running kernel has ended. Its launches that were requested but not made are dropped. */
static void settle(void)
{
    while (children.requests) {
        return_buffer(children.requests->buffer);
        forget_request(&children.requests);
    }
    children_settle(&children.queue);
}

/* Kernels that launch each other without end would run for days if only their instructions counted.
 */
static void stop_if_endless(const Work *parent)
{
    const uint64_t budget = rt.settings.budget;

    if (!budget || children.executed + children.launches * LAUNCH_COST < budget)
        return;
    rt_finding(FINDING_ENDLESS, true, parent->kernel.function->plain,
               "this kernel and the %llu that followed from it have run %llu warp instructions and "
               "were stopped: do kernels launch each other without end?",
               (unsigned long long) children.launches, (unsigned long long) children.executed);
    run_fail(error_of_finding(FINDING_ENDLESS));
}

/* After a failure the other children do not run. */
void children_run(const Work *parent)
{
    Child *child;

    children.executed = parent->executed;
    children.launches = 0;
    for (settle(); (child = children_take(&children.queue)); settle()) {
        if (!rt.sticky)
            stop_if_endless(parent);
        if (!rt.sticky)
            run_child(child);
        free_child(child);
    }
    families_end();
    children.child = NULL;
}

/* The device was reset: its memory is gone. */
void children_forget(void)
{
    children.slots = 0;
    close_slots();
    memset(texts, 0, sizeof texts);
}
