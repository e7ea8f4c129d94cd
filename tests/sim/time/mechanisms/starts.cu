// starts.cu - how soon short pieces of work follow each other: in a stream, in several streams, in
// a graph.
//
// All work is issued while a kernel runs, or is a graph. Rows, in microseconds per kernel (of one
// block) or other piece, for kernels of LOOPS:
// chain.LOOPS: one stream; full.LOOPS: the same with as many blocks as there are SMs, times 8
// round.STREAMS.LOOPS, turn.STREAMS.LOOPS: several streams, of which each gets a kernel in turn,
//     or all its kernels at once
// hand.LOOPS: two streams in turn, each kernel after an event of the other stream
// fill.LOOPS, copy.LOOPS: a small fill or copy behind each kernel
// graph.LOOPS: a chain in a graph; wide.BRANCHES.LOOPS: several chains; again.LOOPS: launches of a
//     graph of one kernel; solver.LOOPS: of a graph of two
// host.LOOPS: one stream, issued while nothing runs
#include "queued.cuh"

enum { CHAIN = 32, EACH = 16 };

static float *data;
static cudaEvent_t start, hands[2];

// ---- Streams ----

static void chain_rows(int loops)
{
    char name[64];

    snprintf(name, sizeof name, "chain.%d", loops);
    report(name, 1, CHAIN, [=] {
        for (int i = 0; i < CHAIN; i++)
            kernel(loops, streams[0]);
    });
    snprintf(name, sizeof name, "full.%d", loops);
    report(name, 1, CHAIN, [=] {
        for (int i = 0; i < CHAIN; i++)
            kernel(loops, streams[0], 8 * sms);
    });
    snprintf(name, sizeof name, "host.%d", loops);
    report(
        name, 1, CHAIN,
        [=] {
            for (int i = 0; i < CHAIN; i++)
                kernel(loops, streams[0]);
        },
        false);
}

static void stream_rows(int count, int loops)
{
    char name[64];

    snprintf(name, sizeof name, "round.%d.%d", count, loops);
    report(name, count, count * EACH, [=] {
        for (int i = 0; i < EACH; i++)
            for (int s = 0; s < count; s++)
                kernel(loops, streams[s]);
    });
    snprintf(name, sizeof name, "turn.%d.%d", count, loops);
    report(name, count, count * EACH, [=] {
        for (int s = 0; s < count; s++)
            for (int i = 0; i < EACH; i++)
                kernel(loops, streams[s]);
    });
}

static void between_rows(int loops)
{
    char name[64];

    snprintf(name, sizeof name, "hand.%d", loops);
    report(name, 2, CHAIN, [=] {
        for (int i = 0; i < CHAIN; i++) {
            kernel(loops, streams[i % 2]);
            check(cudaEventRecord(hands[i % 2], streams[i % 2]));
            check(cudaStreamWaitEvent(streams[1 - i % 2], hands[i % 2], 0));
        }
    });
    snprintf(name, sizeof name, "fill.%d", loops);
    report(name, 1, 2 * CHAIN, [=] {
        for (int i = 0; i < CHAIN; i++) {
            kernel(loops, streams[0]);
            check(cudaMemsetAsync(data, 0, 4096, streams[0]));
        }
    });
    snprintf(name, sizeof name, "copy.%d", loops);
    report(name, 1, 2 * CHAIN, [=] {
        for (int i = 0; i < CHAIN; i++) {
            kernel(loops, streams[0]);
            check(cudaMemcpyAsync(data, data + 4096, 4096, cudaMemcpyDeviceToDevice, streams[0]));
        }
    });
}

// ---- Graphs ----

// Captures what `work` issues in the first `count` streams.
template <class Work> static cudaGraphExec_t graph_of(int count, Work work)
{
    cudaGraph_t graph;
    cudaGraphExec_t executable;

    check(cudaStreamBeginCapture(streams[0], cudaStreamCaptureModeGlobal));
    check(cudaEventRecord(start, streams[0]));
    for (int i = 1; i < count; i++)
        check(cudaStreamWaitEvent(streams[i], start, 0));
    work();
    for (int i = 1; i < count; i++) {
        check(cudaEventRecord(joins[i], streams[i]));
        check(cudaStreamWaitEvent(streams[0], joins[i], 0));
    }
    check(cudaStreamEndCapture(streams[0], &graph));
    check(cudaGraphInstantiate(&executable, graph, 0));
    check(cudaGraphDestroy(graph));
    return executable;
}

static void graph_row(const char *name, cudaGraphExec_t graph, int launches, int pieces)
{
    report(name, 1, pieces, [=] {
        for (int i = 0; i < launches; i++)
            check(cudaGraphLaunch(graph, streams[0]));
    });
    check(cudaGraphExecDestroy(graph));
}

static void graph_rows(int loops)
{
    char name[64];

    for (int kernels = 1; kernels <= 2; kernels++) {
        snprintf(name, sizeof name, "%s.%d", kernels == 1 ? "again" : "solver", loops);
        graph_row(name,
                  graph_of(1,
                           [=] {
                               for (int i = 0; i < kernels; i++)
                                   kernel(loops, streams[0]);
                           }),
                  CHAIN, kernels * CHAIN);
    }
    for (int count = 1; count <= MOST_STREAMS; count *= 2) {
        if (count == 1)
            snprintf(name, sizeof name, "graph.%d", loops);
        else
            snprintf(name, sizeof name, "wide.%d.%d", count, loops);
        graph_row(name,
                  graph_of(count,
                           [=] {
                               for (int i = 0; i < EACH; i++)
                                   for (int s = 0; s < count; s++)
                                       kernel(loops, streams[s]);
                           }),
                  1, count * EACH);
    }
}

int main(int argc, char **argv)
{
    const int lengths[] = { 0, 50, 200, 800 };

    open(argc, argv);
    open_streams();
    data = array<float>(1 << 20);
    check(cudaEventCreate(&start));
    for (cudaEvent_t &event : hands)
        check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    for (int loops : lengths) {
        if (is_wanted("chains"))
            chain_rows(loops);
        for (int count = 2; count <= MOST_STREAMS && is_wanted("streams"); count *= 2)
            stream_rows(count, loops);
        if (is_wanted("between"))
            between_rows(loops);
        if (is_wanted("graphs"))
            graph_rows(loops);
    }
    return 0;
}
