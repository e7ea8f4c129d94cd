/* runtime.h - shared by the parts of the runtime library, which implements the calls that a CUDA
 * program makes.
 *
 * A program registers its fat binaries from constructors, which does not read them. The first call
 * that needs the GPU reads the environment and the device's description and opens the memory. A
 * module is parsed when one of its kernels or variables is first used.
 *
 * Launches and asynchronous copies become Work in the queue of a stream. Work is executed only when
 * something must wait for it (finish()), in the calling thread. So a host that reads without
 * waiting always sees old values, as on a slow GPU.
 *
 * One lock is held during each call (CALL below), and released only while a host function of the
 * program runs. Errors of calls are kept for cudaGetLastError.
 */
#ifndef SIM_RUNTIME_RUNTIME_H
#define SIM_RUNTIME_RUNTIME_H

#include "sim/base/cause.h"
#include "sim/device/device.h"
#include "sim/exec/exec.h"
#include "sim/binary/fatbin.h"
#include "sim/memory/texture.h"
#include "sim/runtime/attribute.h"
#include "sim/runtime/object.h"
#include "sim/time/sharing.h"

#include <cuda_runtime_api.h>
#include <pthread.h>

#define API __attribute__((visibility("default")))

/* ---- Calls ---- */

/* Enters the library, evaluates `expression` (a cudaError_t) unless the GPU is unusable, leaves. */
#define CALL(expression) rt_leave(rt_enter(true) ? rt.refused : (expression))

/* The same for a call that may wait, and so is refused during a capture. */
#define MAY_WAIT(expression)                                                                       \
    CALL(any_capture_refuses(__func__) ? cudaErrorStreamCaptureUnsupported : (expression))

/* The same as CALL for calls that also work after a kernel has failed. */
#define CALL_ALWAYS(expression) rt_leave(rt_enter(false) ? rt.refused : (expression))

/* A call that takes a stream, and its twin for programs with per-thread default streams.
 * `per_thread` is the name of a bool for `expression`, which is true in the twin. */
#define STREAM_CALL(name, per_thread, parameters, expression)                                      \
    TWIN_CALLS(name, name##_ptsz, per_thread, parameters, expression)

/* A blocking call: it uses stream 0, or the thread's default stream. */
#define BLOCKING_CALL(name, per_thread, parameters, expression)                                    \
    TWIN_CALLS(name, name##_ptds, per_thread, parameters, expression)

#define TWIN_CALLS(name, twin, per_thread, parameters, expression)                                 \
    API cudaError_t name parameters                                                                \
    {                                                                                              \
        const bool per_thread = false;                                                             \
        return CALL(expression);                                                                   \
    }                                                                                              \
    API cudaError_t twin parameters;                                                               \
    API cudaError_t twin parameters                                                                \
    {                                                                                              \
        const bool per_thread = true;                                                              \
        return CALL(expression);                                                                   \
    }

/* ---- The program's code ---- */

typedef struct RtModule {
    struct RtModule *next;
    const void *wrapper; /* as registered */
    char *ptx;           /* instead of a wrapper; owned; NULL: none */
    bool loaded, unregistered;
    bool launches;     /* its kernels may launch kernels */
    bool assembled;    /* ptxas was run for its machine code, once */
    cudaError_t error; /* why it could not be loaded; already reported */
    Fatbin fatbin;
    Module *module;
    uint64_t *addresses; /* of its variables, by index; 0: none */
} RtModule;

/* A __global__ function, by the address of its stub on the host; what cudaKernel_t points to. */
typedef struct RtFunction {
    struct RtFunction *next;
    const void *host;
    char *name, *plain; /* mangled, and as in the source code */
    RtModule *owner;
    int index;                 /* in the module, once it is loaded; -1: not found */
    Code *code;                /* NULL until used */
    Code **codes;              /* code of the functions that it calls */
    struct Lowering *lowering; /* its machine code; NULL: none for this device */
    KernelResources resources;
    bool has_resources;
    int dynamic_shared_bytes; /* cudaFuncAttributeMaxDynamicSharedMemorySize; -1: not set */
    int carveout;
    bool large_clusters; /* cudaFuncAttributeNonPortableClusterSizeAllowed */
} RtFunction;

typedef struct RtVariable {
    struct RtVariable *next;
    const void *host;
    void **managed; /* where the program stores the pointer to a __managed__ variable */
    char *name;
    RtModule *owner;
    size_t bytes;
} RtVariable;

/* ---- Work ---- */

typedef struct Stream Stream;
typedef struct Graph Graph;
typedef struct Node Node;
struct TimelineItem;

/* While capturing: the nodes after which the next one runs. */
typedef struct LastNodes {
    Node **all;
    cudaGraphEdgeData *data; /* of the edge from each */
    int count;
} LastNodes;

/* A recording of an event. Events may be recorded repeatedly; a wait refers to the latest
 * recording.
 */
typedef struct Record {
    Stream *stream;
    uint64_t number; /* of its work */
    bool done;
    double ms; /* the simulated clock when it was done, if time is not modelled */
    struct TimelineItem *item;
    int users;
} Record;

typedef enum WorkKind {
    WORK_KERNEL,
    WORK_COPY,
    WORK_FILL,
    WORK_PREFETCH, /* only while time is modelled */
    WORK_HOST,
    WORK_RECORD,
    WORK_WAIT,
    WORK_ALLOCATE, /* only in graphs */
    WORK_FREE,
    WORK_EMPTY /* only in graphs */
} WorkKind;

typedef struct KernelWork {
    RtFunction *function;
    int grid[3], block[3], cluster[3]; /* cluster: 0: no clusters */
    size_t dynamic_shared_bytes;
    uint8_t *params;
    size_t param_bytes;
    bool cooperative;
    LaunchHints hints;
    KernelUse use; /* of the SMs; known after it was run */
} KernelWork;

/* Where a copy begins in a CUDA array; `x` counts bytes. */
typedef struct ArrayPlace {
    Texels texels; /* a base of 0: there is no array */
    size_t x, row, slice;
} ArrayPlace;

static inline bool is_array(const ArrayPlace *place)
{
    return place->texels.base;
}

/* Slices of rows of bytes; a plain copy is one row. */
typedef struct CopyWork {
    uint64_t to, from; /* of an array: where its memory begins */
    ArrayPlace to_array, from_array;
    bool to_device, from_device;
    size_t to_pitch, from_pitch, to_slice, from_slice, width, height, depth;
    bool pinned;  /* the host side is pinned memory */
    void *staged; /* bytes that were copied from the host during the call; owned */
} CopyWork;

typedef struct FillWork {
    uint64_t to;
    size_t pitch, width, height;
    uint8_t value[4];
    int value_bytes;
} FillWork;

/* Of managed memory. */
typedef struct PrefetchWork {
    uint64_t at;
    size_t bytes;
    bool to_device;
    double us, moved; /* when it is done: how long it takes, and the bytes that moved */
} PrefetchWork;

typedef struct HostWork {
    cudaHostFn_t function;
    cudaStreamCallback_t callback; /* only one of the two is set */
    void *data;
    cudaStream_t handle; /* for the callback */
} HostWork;

typedef struct Work {
    WorkKind kind;
    struct Work *next;
    Stream *stream;
    uint64_t number;               /* 1, 2, ... in the order of issue, over all streams */
    uint64_t executed;             /* warp instructions */
    double ms;                     /* modelled time of a kernel */
    bool of_graph;                 /* the host has issued it with its graph */
    bool after_node;               /* and it is behind another node */
    struct TimelineItem *item;     /* kept until the work is done; NULL: time is not modelled */
    struct TimelineItem *complete; /* the end of a kernel's children; NULL: it has none */
    Held *held;                    /* of the graph whose last work this is */
    union {
        KernelWork kernel;
        CopyWork copy;
        FillWork fill;
        PrefetchWork prefetch;
        HostWork host;
        Record *record; /* RECORD, WAIT */
        uint64_t base;  /* ALLOCATE, FREE */
    };
} Work;

struct Stream {
    Stream *next;
    Work *first, *last;
    bool blocking; /* it and the default stream wait for each other */
    bool is_default, of_thread, destroyed,
        busy; /* busy: one of its host functions runs, without the lock */
    int id, priority;
    int queue;            /* of the device, that takes its work; -1: one of its own */
    bool on_link;         /* its last work, and so its next events, are in a queue of copies */
    int users;            /* threads that are executing its queue */
    Graph *capture;       /* issued work goes into this graph instead */
    LastNodes last_nodes; /* of the capture */
    bool is_origin;       /* the capture began in this stream */
    LaunchHints hints;
    struct TimelineItem *item; /* its last item */
};

struct Graph {
    Graph *next;
    Node *first, *last;       /* in the order of creation */
    int count;                /* of nodes */
    uint64_t id;              /* 1, 2, ... */
    unsigned long long flags; /* of an executable graph */
    bool of_node;             /* it belongs to a node of another graph */
    bool is_programs;         /* a capture adds to a graph that the program had made */
    bool capturing;
    enum cudaStreamCaptureMode mode; /* of the capture */
    pthread_t capturer;              /* the thread that began it */
    bool invalidated;                /* the program made a call that cannot be captured */
    Held *held;                      /* user objects */
};

typedef struct Event {
    Record *record;       /* the latest; NULL: never recorded */
    uint64_t capture;     /* the id of the graph, if recorded in a capturing stream; else 0 */
    LastNodes last_nodes; /* valid while that graph is capturing */
    bool timed;
} Event;

/* ---- State ---- */

typedef enum HandleKind {
    HANDLE_NONE,
    HANDLE_FUNCTION,
    HANDLE_VARIABLE,
    HANDLE_STREAM,
    HANDLE_EVENT,
    HANDLE_GRAPH,
    HANDLE_EXEC,
    HANDLE_NODE,
    HANDLE_PINNED,
    HANDLE_POOL,
    HANDLE_ARRAY,
    HANDLE_MIPMAP,
    HANDLE_TEXTURE,
    HANDLE_MODULE,
    HANDLE_LINK,
    HANDLE_USER_OBJECT
} HandleKind;

enum { RT_PATH = 4096 };

typedef struct Settings {
    char device[256], devices[RT_PATH], report[RT_PATH], trace[RT_PATH], ptx[RT_PATH],
        found[RT_PATH], sarif[RT_PATH], ptxas[RT_PATH], ptxas_cache[RT_PATH];
    void (*write)(FILE *out, const Annotation *annotation); /* findings; NULL: as text */
    Schedule schedule;
    uint64_t schedule_seed, budget;
    uint64_t sample; /* simSample() */
    bool races, uninitialised, leaks, quiet, table, progress, whole;
    bool time, time_all; /* time is modelled; time_all: of all blocks even of large launches */
    CauseSet without;    /* left out of the modelled time */
    int threads;         /* that may model the time of a launch */
    int queues;          /* of the device, that streams share */
} Settings;

typedef struct Runtime {
    Settings settings;
    Device device;
    bool open;   /* device and memory are open */
    bool forked; /* this process was forked from one that had opened them */
    bool ended;  /* the report is written */
    int process; /* the process that opened them */
    uint64_t
        machine_bytes;   /* that this machine could hold when first checked; 0: not yet checked */
    const char *running; /* the running kernel; NULL: none */
    cudaError_t refusal; /* why all calls fail; already reported */
    cudaError_t sticky;  /* a kernel failed: calls return this until cudaDeviceReset */
    cudaError_t refused; /* the error that the current call must return */
    RtModule *modules;
    RtVariable *variables;
    RtFunction *functions;
    Stream *streams; /* the default stream first */
    Graph *graphs;
    uint64_t calls;      /* number of calls made by the program */
    uint64_t user_calls; /* those that no call of the driver API made */
    uint64_t numbers;    /* the number of the newest piece of work */
    double clock_ms;     /* the time of all work so far, if time is not modelled */
    uint64_t chance;     /* random state: which stream runs next, if races are checked */
    uint64_t workspace;  /* of cooperative launches; 0: none yet */
    size_t limits[16];   /* cudaDeviceSetLimit */
    unsigned device_flags;
    int stream_ids; /* number of ids assigned */
    uint64_t graph_ids;
} Runtime;

extern Runtime rt;

/* sim/runtime/state.c. Returns true if the call must fail and return rt.refused. */
bool rt_enter(bool refuse_if_failed);
cudaError_t rt_leave(cudaError_t error);
void rt_unlock(void); /* around host functions */
void rt_lock(void);
bool rt_lock_at_end(void); /* false: another thread still held it after a second */
extern _Thread_local bool rt_in_host_function;
extern _Thread_local bool rt_inside;    /* this thread holds the lock */
extern _Thread_local bool rt_in_driver; /* in a call of the driver API */
void rt_wait(void);                     /* until another thread's host function has ended */
void rt_wake(void);
void rt_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Adds a finding about a call or a launch, without a place in a kernel. `name` may be NULL. */
#define rt_finding(kind, fatal, name, ...)                                                         \
    finding(kind, fatal, &(Place){ .kernel = (name) }, __VA_ARGS__)

/* sim/runtime/settings.c. Reads the environment and reports invalid values. */
void settings_read(Settings *settings);
/* Finds the folder of the descriptions: as set, else next to the library, else where it was built.
 */
void settings_devices(const Settings *settings, char *folder, size_t size);

/* sim/runtime/idle.c. From now on host functions also run while the program makes no call. */
void idle_watch(void);
/* From now on there is memory that the host and kernels use: all work is also executed while the
 * program makes no call for long. */
void idle_watch_memory(void);
bool idle_watches_memory(void);

/* sim/runtime/progress.c */
void progress_begin(Launch *launch);
void progress_end(void);

/* sim/runtime/end.c, sim/runtime/signal.c */
bool end_report(void);  /* false: it cannot be written; already reported */
void watch_death(void); /* from now on the report is also written if a signal kills the program */

/* sim/runtime/handle.c: the object to which a pointer of the program refers. */
bool handle_set(HandleKind kind, const void *key,
                void *value); /* NULL removes it; false if out of memory */
void *handle_get(HandleKind kind, const void *key);

/* sim/runtime/module.c */
cudaError_t module_load(RtModule *module);
void modules_unload(void);
cudaError_t function_find(const void *host, RtFunction **function); /* loads its module */
cudaError_t function_prepare(RtFunction *function);                 /* makes its code */
cudaError_t variable_find(const void *host, RtVariable **variable, uint64_t *address);
Occupancy function_occupancy(const RtFunction *function, int threads, size_t dynamic_bytes);
/* The occupancy used to model time, with the registers that the kernel would need without spills.
 */
Occupancy function_unspilled(const RtFunction *function, int threads, size_t dynamic_bytes);
int function_most_threads(const RtFunction *function);
int function_registers(const RtFunction *function);
int function_most_dynamic(const RtFunction *function);
unsigned function_most_in_cluster(const RtFunction *function); /* blocks */
void plain_kernel_name(const char *mangled, char *text, size_t size);
char *read_whole(const char *path, size_t *bytes); /* with a 0 at the end; NULL: it cannot be */
/* The index of a variable of the module; -1: there is none. */
int module_variable(const Module *module, const char *name);

/* sim/runtime/register.c: adds a kernel, registered by its own address; NULL: out of memory. The
 * runtime also registers it by its stub on the host. */
RtFunction *function_add(RtModule *module, const char *host, const char *name);
void module_forget(RtModule *module); /* its kernels and variables can no longer be found */

/* sim/runtime/work.c: queues of work and their execution. */
Work *work_new(WorkKind kind);
Work *work_copy(const Work *work);
void work_free(Work *work);
cudaError_t issue(Stream *stream, Work *work);   /* takes ownership; NULL: out of memory */
void stream_do(Stream *stream, uint64_t number); /* up to this number; the host does not wait */
cudaError_t finish(Stream *stream, uint64_t number);
cudaError_t finish_stream(Stream *stream); /* all its work, and all work it waits for */
cudaError_t finish_record(const Record *record);
cudaError_t finish_all(void);
void finish_one(Stream *stream);

/* For a query: executes one piece of work, so that repeated queries make progress. */
void finish_asked(Stream *stream);
Record *record_new(void);
void record_drop(Record *record);

/* sim/runtime/time.c: how long work takes. The first two are called before and after a launch runs;
 * `result` is the one to which launch->timed points. */
struct TimingResult;
struct TimelineJob;
void time_begin(Launch *launch, const Occupancy *occupancy);
void time_end(Launch *launch, struct TimingResult *result);
/* The places and units of the SMs that a launch with this result uses. */
KernelUse time_use(const KernelWork *kernel, const Occupancy *occupancy,
                   const struct TimingResult *result);
void time_cold(void); /* empties the caches */
/* Puts bytes of a copy or fill into the L2. `from`: 0 if they are no device memory. */
void time_written(uint64_t to, uint64_t from, size_t bytes);
struct TimelineJob time_job(const Work *work); /* the work must be done */

/* sim/runtime/managed.c: before a kernel runs, and after it; before and after a copy or fill of
 * managed memory. They do nothing without managed memory or without modelled time.
 * managed_after_kernel returns how long the kernel waits for memory that moves. */
struct Migration;
bool managed_is_at(uint64_t address); /* managed memory that is followed */
void managed_before_device(void);
void managed_after_copy(void);
struct Migration managed_after_kernel(void);
void managed_prefetch(PrefetchWork *prefetch); /* does it */
void managed_advise(uint64_t address, size_t bytes, enum cudaMemoryAdvise advice, bool for_host);

/* sim/runtime/clock.c: when work runs, and which work the host waits for. */
void clock_issue(Work *work); /* must have its stream and number */
void clock_issue_graph(void); /* before the works of its nodes */
void clock_done(Work *work);
void clock_complete(Work *work); /* the children of a kernel that the host launched have run */
struct TimelineItem *clock_add(const Stream *stream); /* in no order yet; NULL: not modelled */
void clock_drop(Work *work);                          /* the work will never be done */
void clock_waited(const Stream *stream); /* and for work it waits for; NULL: for all streams */
void clock_waited_record(const Record *record);
void clock_waited_piece(struct TimelineItem **piece);  /* releases it */
void clock_wait(Stream *stream, const Record *record); /* for a record that is already done */
void clock_forget(struct TimelineItem **item);
/* The place in modelled time that the stream has reached: keeps it; continues at another one, or,
 * besides, only after it. */
void clock_keep(struct TimelineItem **keep, const Stream *stream);
void clock_continue(Stream *stream, struct TimelineItem *item);
void clock_join(Stream *stream, struct TimelineItem *other);
double clock_between(const Record *start, const Record *end); /* ms */
void clock_report(void); /* adds all finished work to the report */

/* sim/runtime/run.c: one piece of work. */
void run_kernel(Work *work);
void run_copy(const CopyWork *copy);
void run_fill(const FillWork *fill);
void run_fail(cudaError_t error);
cudaError_t error_of_finding(FindingKind kind);

/* sim/runtime/children.c: what kernels launch. */
struct ChildCalls;
const struct ChildCalls *children_begin(Work *kernel); /* it will run */
void children_run(const Work *parent); /* the kernel that the host launched has ended */
void children_forget(void);            /* the device was reset */

/* sim/runtime/advice.c: notes about likely mistakes. After a launch or a copy; before a free; after
 * a launch by <<< >>> was refused, and when the program queried its error. */
void advice_launch(const char *kernel, const int grid[3], const int block[3]);
void advice_copy(const CopyWork *copy);
void advice_free(const Allocation *allocation);
void advice_free_all(void);
void advice_refused(const char *kernel, cudaError_t error);
void advice_asked(void);
void advice_end(void);

/* sim/runtime/configuration.c: whether this thread has popped one since the last call, that is,
 * whether a launch is one by <<< >>>. */
bool configuration_was_popped(void);

/* sim/runtime/stream.c */
Stream *stream_of(cudaStream_t handle, bool per_thread); /* NULL: no such stream */

enum { GREATEST_PRIORITY = -5 }; /* the least one is 0; others count as the nearest of the range */

static inline int clamp_priority(int priority)
{
    return priority > 0 ? 0 : priority < GREATEST_PRIORITY ? GREATEST_PRIORITY : priority;
}

void streams_drop(void);    /* and all their work */
Stream *stream_first(void); /* the default stream */

/* sim/runtime/room.c */
bool room_for(size_t bytes); /* whether this machine could hold this much more device memory */

/* sim/runtime/memory.c */
bool is_device_side(uint64_t address); /* device or managed memory */
bool is_host_again(uint64_t address);
bool is_pinned(uint64_t address);
void memory_drop_all(void);
/* Sets *pointer to new memory, which is not yet in a pool. */
cudaError_t allocate(void **pointer, size_t bytes, AllocationKind kind);
/* Whether the call may free the pointer; otherwise a finding says why not. */
cudaError_t check_free(const void *pointer, const char *call, bool pinned);

/* sim/runtime/pool.c */
bool pool_free(uint64_t base);   /* memory_free(), which its pool notices */
void pool_run(const Work *work); /* WORK_ALLOCATE, WORK_FREE */
void pools_trim(void);           /* a stream or the device was synchronised */
void pools_drop(void);

/* sim/runtime/graph.c, sim/runtime/capture.c; graph.h has what only graphs use */
Graph *graph_new(void);
Node *graph_capture_node(Stream *stream, enum cudaGraphNodeType type, Work *work);
void last_clear(LastNodes *last);
bool last_join(LastNodes *to, const LastNodes *from);  /* false: out of memory */
cudaError_t graph_capture(Stream *stream, Work *work); /* takes ownership of the work */
Graph *graph_capturing(uint64_t id);                   /* NULL: that capture has ended */
/* During a capture fail: calls that wait for its stream; for the device, or for the default stream,
 * if that would wait for the captured one; and `call`, which may wait, unless the modes of the
 * capture and the thread allow it. */
cudaError_t capture_refuses(const Stream *stream);
cudaError_t device_refuses(void);
cudaError_t legacy_refuses(const Stream *stream);
cudaError_t any_capture_refuses(const char *call);
void graphs_drop(void);

/* sim/runtime/state.c */
void last_error_set(cudaError_t error);

#endif
