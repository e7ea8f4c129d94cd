/* main.c - the runner: a child process that owns a case's arrays and answers the grader. It is the
 * trusted user of CUDA.
 *
 * main() drops what it inherited and answers commands (runner/server.c) with the Device below,
 * which uses the CUDA runtime. `hello` (runner/hello.c) brings CUDA up completely (context, memory,
 * a kernel), here and in the guest (guest.c), the process into which student code is loaded. Arrays
 * are shared with the guest. Their contents, guards, comparisons and the answers to the grader stay
 * here.
 *
 * Where memory cannot be shared between processes (WSL, some containers), student code is loaded
 * into the runner, and `load` reports `isolation:shared`. In both cases nothing that student code
 * reports is trusted without an outside check: the grader keeps its own clock and checks contents
 * that only it can predict.
 */
#include "runner/caller.h"
#include "base/number.h"
#include "base/options.h"
#include "base/child.h"
#include "runner/guest_link.h"
#include "runner/one_gpu.h"
#include "runner/device_cuda.h"
#include "runner/hello.h"
#include "runner/reason.h"
#include "base/lockdown.h"
#include "runner/server.h"
#include "base/util.h"

#include <cuda_runtime_api.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

_Static_assert((int) AS_F32 == (int) F32 && (int) AS_F64 == (int) F64 &&
                   (int) AS_I32 == (int) I32 && (int) AS_U32 == (int) U32 &&
                   (int) AS_U8 == (int) U8,
               "contents.h and lab.h number the types identically");

static int device_number;
static bool many_streams;   /* --streams */
static bool split;          /* student code is in the guest, not here */
static bool runs_its_calls; /* CUDA calls come from the guest; their errors are the student's */

/* True if there was no error; else writes the fault, whose kind follows from the error. */
static bool fine(cudaError_t error, char *fault)
{
    if (error == cudaSuccess)
        return true;
    if (error == cudaErrorMemoryAllocation)
        return caller_say(fault, "memory", error);
    return caller_say(
        fault, (caller_has_loaded() || runs_its_calls) && caller_is_fatal(error) ? "kernel" : "gpu",
        error);
}

/* ---- hello, load ---- */

/* The guest brings CUDA up at the same time. Whether student code gets a process of its own is
 * decided here, before any is loaded. */
static bool cuda_hello(char *answer, char *fault)
{
    static bool is_up;
    static int device;
    bool has_guest = split;
    char why_not[SERVE_ANSWER];

    if (!is_up) {
        device = device_simulated ? device_number : see_one_gpu(device_number);
        has_guest = guest_start(device_simulated ? "guest-sim" : "guest");
    }
    if (!runner_hello(device, device_number == 0, answer, fault))
        return false;
    if (!is_up && has_guest)
        device_serve();
    if (!is_up)
        split = has_guest && guest_ready(why_not) && share_possible();
    if (!split)
        guest_end();
    is_up = true;
    if (device_simulated && !split)
        return reason_say(fault, "other",
                          "the program for student code, guest-sim, does not start");
    return true;
}

/* From now on the simulated GPU reads hostile code and arguments. The runner enters the sandbox
 * first, so that a bug in that reading gives an attacker nothing. */
static void let_calls_in(const char *path)
{
    lockdown_spare(guest_pid());
    lockdown_close(path);
    runs_its_calls = true;
}

static void in_the_guest(void)
{
}

static bool cuda_load(const char *folder, const Lab *lab, const char *path, Kernel **kernel,
                      char *answer, char *fault)
{
    char sandbox[24];

    if (split) {
        *kernel = in_the_guest;
        if (device_simulated)
            let_calls_in(path);
        if (!guest_load(folder, path, sandbox, fault))
            return false;
    } else if (!caller_load(path, lab->function, kernel, fault)) {
        return false;
    } else {
        PUT(sandbox, "%s", lockdown_state());
    }
    put(answer, SERVE_ANSWER, "sandbox:%s isolation:%s guest:%d", sandbox,
        split ? "split" : "shared", (int) guest_pid());
    return true;
}

/* ---- Arrays: guard, data, guard ---- */

_Static_assert(GUARD_BYTES % 256 == 0, "data is aligned as cudaMalloc aligns");

static size_t bytes_of(const Array *array)
{
    return array->rows * array->cols * element_bytes((Element) array->type);
}

/* A simulated GPU itself reports accesses outside arrays, except in host memory. */
static size_t guard_bytes(const Array *array)
{
    return device_simulated && !array->host ? 0 : GUARD_BYTES;
}

/* Pinned host memory has the same address on both sides, because the runner's kernels use it too.
 */
static bool allocate(const Array *array, size_t bytes, char **block, char *fault)
{
    if (split)
        return guest_share(bytes, array->host, (void **) block, fault);
    return fine(array->host ? cudaMallocHost((void **) block, bytes)
                            : cudaMalloc((void **) block, bytes),
                fault);
}

static bool cuda_allocate(Array *array, unsigned char guard, char *fault)
{
    size_t bytes = bytes_of(array), guards = guard_bytes(array);
    char *block = NULL;

    if (!allocate(array, guards + bytes + guards, &block, fault)) {
        cudaGetLastError(); /* too little memory must not fail a later call */
        return false;
    }
    array->data = block + guards;
    device_name(array->data, array->name, guard - GUARD_BYTE,
                array->rows > 1 && array->cols > 1 ? bytes / array->rows : 0);
    if (array->host) {
        memset(block, guard, guards);
        memset(block + guards + bytes, guard, guards);
        return true;
    }
    return fine(cudaMemset(block, guard, guards), fault) &&
           fine(cudaMemset(block + guards + bytes, guard, guards), fault);
}

static void cuda_release(Array *array)
{
    char *block = (char *) array->data - guard_bytes(array);

    if (split)
        guest_unshare(block);
    else if (array->host)
        cudaFreeHost(block);
    else
        cudaFree(block);
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
    const char *from = (char *) array->data + first * width;

    if (array->host) { /* all work is done, and nothing else writes */
        memcpy(to, from, count * width);
        return true;
    }
    return fine(cudaMemcpy(to, from, count * width, cudaMemcpyDeviceToHost), fault);
}

static bool cuda_guards_whole(const Array *array, unsigned char guard, size_t *offset, bool *before,
                              char *fault)
{
    unsigned long long distance = DEVICE_NOTHING;
    int is_before = 0;

    if (!fine(device_find_stray(array->data, bytes_of(array), guard_bytes(array), guard, &distance,
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

/* Runs in the context that will be timed. */
static bool cuda_settle(char *fault)
{
    return split ? guest_settle(fault) : caller_settle(fault);
}

static bool cuda_filled(char *fault)
{
    return fine(cudaDeviceSynchronize(), fault);
}

/* Outputs in host memory must be complete when the last call returns. At that moment, both ends of
 * each output, which an unfinished copy would write last, are copied; they are compared when all
 * work is done. */
enum { END_BYTES = 32 << 10 };

static struct {
    const char *at[2 * LAB_OUT];
    size_t bytes[2 * LAB_OUT];
    char kept[2 * LAB_OUT][END_BYTES];
} ends;

static void keep_ends(const Arrays *set)
{
    for (int i = 0; i < 2 * LAB_OUT; i++) {
        const Array *out = &set->out[i / 2];
        size_t all = out->data && out->host ? bytes_of(out) : 0;
        ends.bytes[i] = all < END_BYTES ? all : END_BYTES;
        ends.at[i] = (char *) out->data + (i % 2 ? all - ends.bytes[i] : 0);
        if (ends.bytes[i])
            memcpy(ends.kept[i], ends.at[i], ends.bytes[i]);
    }
}

static bool ends_kept(const char *function, char *fault)
{
    for (int i = 0; i < 2 * LAB_OUT; i++)
        if (ends.bytes[i] && memcmp(ends.kept[i], ends.at[i], ends.bytes[i])) {
            put(fault, SERVE_ANSWER,
                "unsafe.returned %s() returned before its output was complete: work that it had "
                "started wrote to `out` later",
                function);
            return false;
        }
    return true;
}

static bool keep_ends_here(void *last)
{
    keep_ends(last);
    return true;
}

/* On a simulated GPU, device_gone() replaces the guest's time with the runner's. */
static bool call_guest(const Lab *lab, const Case *lab_case, Arrays *sets, int calls, double *ms,
                       char *fault)
{
    cudaError_t error = device_go(lab);
    bool done;

    if (error)
        return fine(error, fault);
    done = guest_call(lab, lab_case, sets, calls, keep_ends, ms, fault);
    error = guest_pid() ? device_gone(ms) : cudaSuccess;
    return done && fine(error, fault);
}

static bool time_calls(const Lab *lab, const Case *lab_case, Kernel *kernel, Arrays *sets,
                       int calls, double *ms, char *fault)
{
    Arrays *last = &sets[calls - 1];
    bool done = split ? call_guest(lab, lab_case, sets, calls, ms, fault)
                      : caller_call(lab, lab_case, kernel, sets, calls,
                                    last->out[0].host ? keep_ends_here : NULL, last, ms, fault);

    return done && (!last->out[0].host || ends_kept(lab->function, fault));
}

/* A finding of the simulated GPU is more precise than the error that followed from it. */
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

static bool cuda_checks(bool on, uint64_t order, uint64_t budget, char *fault)
{
    return device_checks(on, order, budget) || not_simulated(fault);
}

static bool cuda_count(Counter counter, const Array *array, char *answer, char *fault)
{
    DeviceCount count;

    if (!device_count(counter, array ? array->data : NULL, &count))
        return not_simulated(fault);
    put(answer, SERVE_ANSWER,
        "done:%llu least:%llu requests:%llu line:%d line_done:%llu line_requests:%llu", count.done,
        count.least, count.requests, count.line, count.line_done, count.line_requests);
    return true;
}

static bool cuda_model_time(unsigned without, char *fault)
{
    return device_model_time(without) || not_simulated(fault);
}

static bool cuda_timed(char *answer, char *fault)
{
    DeviceTimed timed;

    if (!device_timed(&timed))
        return not_simulated(fault);
    put(answer, SERVE_ANSWER,
        "launches:%llu untimed:%llu blocks:%llu timed_blocks:%llu instructions:%llu "
        "kernels_ms:%.9g",
        timed.launches, timed.untimed, timed.blocks, timed.timed_blocks, timed.instructions,
        timed.kernels_ms);
    return true;
}

static bool cuda_limits(char *answer, char *fault)
{
    return device_limits(answer, SERVE_ANSWER) || not_simulated(fault);
}

static bool cuda_cost(int i, char *answer, char *fault)
{
    (void) fault;
    if (!device_cost(i, answer, SERVE_ANSWER))
        put(answer, SERVE_ANSWER, "line:0");
    return true;
}

static bool cuda_record(int64_t block, int warp, char *fault)
{
    return device_record(block, warp) || not_simulated(fault);
}

static bool cuda_records(void *to, size_t room, size_t *bytes, char *fault)
{
    *bytes = device_records(to, room);
    return *bytes || not_simulated(fault);
}

static bool cuda_trace(char *fault)
{
    return device_trace() || not_simulated(fault);
}

static bool cuda_traced(void *to, size_t room, size_t *bytes, char *fault)
{
    *bytes = device_traced(to, room);
    return *bytes || not_simulated(fault);
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
    .filled = cuda_filled,
    .time_calls = cuda_time_calls,
    .fetch = cuda_fetch,
    .guards_whole = cuda_guards_whole,
    .holds = cuda_holds,
    .clock_mhz = cuda_clock_mhz,
    .limits = cuda_limits,
    .cost = cuda_cost,
    .record = cuda_record,
    .records = cuda_records,
    .trace = cuda_trace,
    .traced = cuda_traced,
    .checks = cuda_checks,
    .count = cuda_count,
    .model_time = cuda_model_time,
    .timed = cuda_timed,
};

/* ---- main ---- */

static const char help[] =
    "runner --device N [--streams]    answers the grader on descriptors 3 to 5; started by\n"
    "    warpbook, not directly. --streams: kernels will run in several streams at once\n"
    "runner-sim --device NAME    the same on a simulated GPU\n"
    "runner --version\n";

static int complain(const char *what)
{
    fprintf(stderr, "runner: %s\n%s", what, help);
    return 2;
}

static bool set_device(void *self, const char *value)
{
    uint64_t number = 0;

    (void) self;
    if (device_simulated)
        return !setenv("SIM_DEVICE", value, 1);
    if (!parse_whole(value, 10, 1023, &number))
        return false;
    device_number = (int) number;
    return true;
}

static bool set_streams(void *self, const char *value)
{
    (void) self, (void) value;
    return many_streams = true;
}

static bool print_help(void *self, const char *value)
{
    (void) value;
    fputs(help, stdout);
    return *(bool *) self = true;
}

static bool print_version(void *self, const char *value)
{
    (void) value;
    printf("runner %s, CUDA %d.%d\n", WARPBOOK_VERSION, CUDART_VERSION / 1000,
           CUDART_VERSION % 1000 / 10);
    return *(bool *) self = true;
}

/* True if the program should continue; otherwise *status is its exit status. */
static bool read_arguments(int count, char **words, int *status)
{
    static const OptionRow rows[] = { { "device", true, set_device },
                                      { "streams", false, set_streams },
                                      { "help", false, print_help },
                                      { "version", false, print_version },
                                      { 0 } };
    bool printed = false;
    OptionReader reader = { rows, &printed, NULL };
    int read = options_read(&reader, count, words);

    *status = 0;
    if (read < 0)
        *status = complain(reader.why);
    else if (read < count && !printed)
        *status = complain("unknown argument");
    return !printed && !*status;
}

/* Keeps only what the grader uses: no report files, and nothing printed. */
static void set_up_simulation(void)
{
    static const char *const unwanted[] = { "SIM_REPORT", "SIM_TABLE",  "SIM_PTX",  "SIM_SCHED",
                                            "SIM_CHECKS", "SIM_BUDGET", "SIM_TIME", "SIM_PTXAS" };

    for (size_t i = 0; i < sizeof unwanted / sizeof *unwanted; i++)
        unsetenv(unwanted[i]);
    setenv("SIM_QUIET", "1", 1);
}

/* CUDA fixes the number of streams that can work at once when it starts. Each one costs 9 ms at the
 * start, and 4 ms at the end, during which no other process can start (H200, driver 580.159,
 * 2026-11-22; docs/measurements.md). Eight is CUDA's default. */
static void set_queues(void)
{
    setenv("CUDA_DEVICE_MAX_CONNECTIONS", many_streams ? "8" : "2", 1);
}

/* EAGER loads code whole, not at the first call, which is timed. The disk cache of compiled PTX is
 * off, because student code of an earlier run may have changed it. Line buffering keeps the output
 * even if this process is killed. */
static void set_up(void)
{
    setenv("CUDA_MODULE_LOADING", "EAGER", 1);
    setenv("CUDA_CACHE_DISABLE", "1", 1);
    set_queues();
    if (device_simulated)
        set_up_simulation();
    setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); /* the guest cannot read this process */
    lockdown_begin();
}

int main(int count, char **words)
{
    int status;

    if (!read_arguments(count, words, &status))
        return status;
    if (fcntl(CHILD_IN, F_GETFD) < 0 || fcntl(CHILD_OUT, F_GETFD) < 0 ||
        fcntl(CHILD_SHARED, F_GETFD) < 0)
        return complain("descriptors 3 to 5 are not open");
    set_up();
    status = serve(&cuda_device, CHILD_IN, CHILD_OUT, CHILD_SHARED);
    fflush(stdout);
    _exit(status); /* no destructors of student code or of CUDA: they may wait forever */
}
