/* timed.cu - modelled times of work in several streams on the teaching GPU. Its description: copies
 * at 6.424 and 1.0293 GB/s from pinned and pageable memory, at 0.806 / 0.88 of that speed while
 * both directions are in use; fills at 120.596 GB/s; 2 us from ready to start, 0.75 if behind a
 * kernel of the same graph; 0.2 us from one start to the next; 4 us per copy. So a
 * copy of 1000 us takes 1006 us, and two concurrent ones in opposite directions take
 * 1098.2 us, which is 2 + 1004 * 0.88 / 0.806.
 *
 * expect: ok
 */
#include "check.h"

#include <math.h>
#include <stdlib.h>

enum { PINNED = 6424000, PAGEABLE = 1029300, FILL = 120596000 };

static char *pinned, *pageable, *device;
static cudaStream_t s, t, u, v; /* s, t: cudaStreamNonBlocking */
static cudaEvent_t begin, between, end;
static int wrong;

static void begin_in(cudaStream_t stream)
{
    OK(cudaDeviceSynchronize());
    OK(cudaEventRecord(begin, stream));
}

/* Microseconds from begin_in() until all present work of the stream is done. */
static float until(cudaStream_t stream)
{
    float ms;

    OK(cudaEventRecord(end, stream));
    OK(cudaDeviceSynchronize());
    OK(cudaEventElapsedTime(&ms, begin, end));
    return ms * 1000;
}

static void expect(const char *what, float us, float wanted)
{
    if (fabsf(us - wanted) < 0.2f)
        return;
    printf("%s: %.2f us, not %.2f\n", what, us, wanted);
    wrong++;
}

static void up(cudaStream_t stream)
{
    OK(cudaMemcpyAsync(device, pinned, PINNED, cudaMemcpyHostToDevice, stream));
}

static void down(cudaStream_t stream)
{
    OK(cudaMemcpyAsync(pinned + PINNED, device + PINNED, PINNED, cudaMemcpyDeviceToHost, stream));
}

/* A copy to the device in one stream, a copy from the device in another. */
static void two_streams()
{
    static const float serial = 2 * 1006, beside = 1098.18f;
    const struct {
        const char *what;
        cudaStream_t up, down;
        bool event;
        float us;
    } rows[] = {
        { "two streams", s, t, false, beside },
        { "an event between", s, t, true, serial },
        { "blocking streams", u, v, false, beside },
        { "a stream, then the default stream", u, 0, false, serial },
        { "the default stream, then a stream", 0, u, false, serial },
        { "the default stream, then a non-blocking stream", 0, s, false, beside },
        { "a non-blocking stream, then the default stream", s, 0, false, beside },
        { "the per-thread stream, then the default stream", cudaStreamPerThread, 0, false, serial },
        { "the per-thread stream, then another stream", cudaStreamPerThread, u, false, beside },
    };

    for (const auto &row : rows) {
        begin_in(row.up);
        up(row.up);
        if (row.event) {
            OK(cudaEventRecord(between, row.up));
            OK(cudaStreamWaitEvent(row.down, between, 0));
        }
        down(row.down);
        expect(row.what, until(row.down), row.us);
    }
}

/* Work in u, in the default stream, in v: the default stream orders v after u. */
static void the_default_stream_is_a_barrier()
{
    begin_in(u);
    up(u);
    OK(cudaMemsetAsync(device, 0, FILL, 0));
    down(v);
    expect("a barrier", until(v), 1006 + 1002 + 1006);
}

/* The host makes its next call only after the copy has ended, whatever stream that call uses. */
static void the_host_waits()
{
    begin_in(s);
    OK(cudaMemcpyAsync(device, pageable, PAGEABLE, cudaMemcpyHostToDevice, s));
    down(t);
    expect("up from pageable memory", until(t), 1004 + 1006);

    begin_in(s);
    OK(cudaMemcpyAsync(pageable, device, PAGEABLE, cudaMemcpyDeviceToHost, s));
    up(t);
    expect("down to pageable memory", until(t), 1006 + 1006);

    begin_in(s);
    OK(cudaMemcpy(device, pinned, PINNED, cudaMemcpyHostToDevice));
    down(t);
    expect("a blocking copy", until(t), 1006 + 1006);

    begin_in(s);
    up(s);
    while (cudaStreamQuery(s) == cudaErrorNotReady)
        ;
    down(t);
    expect("querying a stream", until(t), 1006 + 1006);

    begin_in(s);
    up(s);
    OK(cudaEventRecord(between, s));
    while (cudaEventQuery(between) == cudaErrorNotReady)
        ;
    down(t);
    expect("querying an event", until(t), 1006 + 1006);

    /* A program once queried only until a piece of work had been executed, not until the query
     * succeeded, and used its result: both ran concurrently in modelled time. */
    begin_in(s); /* this is a piece of work, too */
    up(s);
    if (cudaStreamQuery(s) == cudaErrorNotReady && cudaStreamQuery(s) == cudaErrorNotReady)
        down(t);
    expect("querying a stream once", until(t), 1006 + 1006);
}

/* A wait for an event does not include later work in its stream, even if the event has completed.
 */
static void an_event_is_a_place()
{
    begin_in(s);
    up(s);
    OK(cudaEventRecord(between, s));
    OK(cudaMemsetAsync(device, 0, FILL, s));
    OK(cudaEventSynchronize(between));
    OK(cudaStreamWaitEvent(t, between, 0));
    down(t);
    expect("after an event", until(t), 1006 + 1006);
}

static void one_direction_has_one_engine()
{
    begin_in(s);
    up(s);
    up(t);
    expect("two copies up", until(t), 2 + 2 * 1004);
}

static __global__ void steps(float *out, int count)
{
    float x = threadIdx.x;

    for (int i = 0; i < count; i++)
        x = x * 0.5f + 1;
    if (x < 0)
        *out = x;
}

/* A kernel in one stream, an event behind it, a kernel in another stream. */
static float two_kernels(cudaStream_t first, bool marked, cudaStream_t second)
{
    begin_in(first);
    steps<<<1, 32, 0, first>>>((float *) device, 2000);
    if (marked)
        OK(cudaEventRecord(between, first));
    steps<<<1, 32, 0, second>>>((float *) device, 2000);
    return until(second);
}

/* Streams share 8 queues in turn. An event that waits for a kernel holds up the kernel of another
 * stream behind it in the same queue. */
static void streams_share_queues()
{
    enum { STREAMS = 9 };
    cudaStream_t more[STREAMS];

    for (cudaStream_t &stream : more)
        OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    const float alone = two_kernels(more[0], true, more[7]);
    const float same = two_kernels(more[0], false, more[8]);
    const float held = two_kernels(more[0], true, more[8]);
    if (fabsf(same / alone - 1) > 0.15f || held < 1.5f * alone || held > 2.2f * alone) {
        printf("alone %.2f us, no event %.2f, an event %.2f\n", alone, same, held);
        wrong++;
    }
    for (cudaStream_t stream : more)
        OK(cudaStreamDestroy(stream));
}

/* Two kernels of a graph, one after the other or in branches that fork and join. */
static float graph_of_two(bool branches)
{
    const cudaStream_t second = branches ? t : s;
    cudaGraph_t graph;
    cudaGraphExec_t exec;

    OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    OK(cudaEventRecord(between, s));
    OK(cudaStreamWaitEvent(t, between, 0));
    steps<<<1, 32, 0, s>>>((float *) device, 2000);
    steps<<<1, 32, 0, second>>>((float *) device, 2000);
    OK(cudaEventRecord(between, t));
    OK(cudaStreamWaitEvent(s, between, 0));
    OK(cudaStreamEndCapture(s, &graph));
    OK(cudaGraphInstantiate(&exec, graph, 0));
    begin_in(s);
    OK(cudaGraphLaunch(exec, s));
    const float us = until(s);
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
    return us;
}

/* The branches of a graph overlap; its end waits for both. */
static void branches_overlap()
{
    const float two = two_kernels(s, false, s), kernel = (two - 2 * 2) / 2;

    expect("a graph", graph_of_two(false), 2 + kernel + 0.75f + kernel);
    expect("a graph of branches", graph_of_two(true), 2 + 0.2f + kernel);
}

int main()
{
    setenv("SIM_TIME", "1", 1); /* before the first call */
    setenv("SIM_DEVICE", "teaching", 1);
    pageable = (char *) malloc(PAGEABLE);
    OK(cudaMallocHost(&pinned, 2 * PINNED));
    OK(cudaMalloc(&device, FILL));
    OK(cudaMemset(device, 0, FILL));
    OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    OK(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
    OK(cudaStreamCreate(&u));
    OK(cudaStreamCreate(&v));
    OK(cudaEventCreate(&begin));
    OK(cudaEventCreate(&between));
    OK(cudaEventCreate(&end));
    two_streams();
    the_default_stream_is_a_barrier();
    the_host_waits();
    an_event_is_a_place();
    one_direction_has_one_engine();
    streams_share_queues();
    branches_overlap();
    for (cudaStream_t stream : { s, t, u, v })
        OK(cudaStreamDestroy(stream));
    for (cudaEvent_t event : { begin, between, end })
        OK(cudaEventDestroy(event));
    OK(cudaFree(device));
    OK(cudaFreeHost(pinned));
    free(pageable);
    if (!wrong)
        puts("ok");
    return wrong > 0;
}
