/* issued.cu - modelled times of empty launches between two events, on a device whose host takes 4
 * us per launch (issue_us), whose launches take 2 us until they start (launch_us), 1.5 behind a
 * kernel (follow_us), 0.75 if both belong to a graph (graph_follow_us), and whose times between
 * events are 0.5 us longer (event_us).
 */
#include "../programs/check.h"

#include <math.h>

static cudaEvent_t begin, end;
static cudaStream_t stream;

static __global__ void empty()
{
}

static void launch(int launches)
{
    for (int i = 0; i < launches; i++)
        empty<<<1, 32, 0, stream>>>();
}

static cudaGraphExec_t graph_of(int launches)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;

    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    launch(launches);
    OK(cudaStreamEndCapture(stream, &graph));
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphDestroy(graph));
    return exec;
}

/* Microseconds of these launches, or of a graph of them. */
static float us_of(int launches, bool as_graph)
{
    cudaGraphExec_t exec = graph_of(launches ? launches : 1);
    float ms;

    OK(cudaDeviceSynchronize());
    OK(cudaEventRecord(begin, stream));
    if (as_graph)
        OK(cudaGraphLaunch(exec, stream));
    else
        launch(launches);
    OK(cudaEventRecord(end, stream));
    OK(cudaDeviceSynchronize());
    OK(cudaEventElapsedTime(&ms, begin, end));
    OK(cudaGraphExecDestroy(exec));
    return ms * 1000;
}

static bool is_near(float a, float b)
{
    return fabsf(a - b) < 0.01f;
}

int main()
{
    OK(cudaEventCreate(&begin));
    OK(cudaEventCreate(&end));
    OK(cudaStreamCreate(&stream));
    const float one = us_of(1, false), kernel = one - 4 - 2 - 0.5f;

    CHECK(kernel > 0 && kernel < 1); /* faster than the host */
    CHECK(us_of(0, false) == 0);
    CHECK(is_near(us_of(10, false), one + 9 * 4));
    CHECK(is_near(us_of(1, true), one));
    CHECK(is_near(us_of(10, true), one + 9 * (0.75f + kernel)));
    OK(cudaStreamDestroy(stream));
    OK(cudaEventDestroy(begin));
    OK(cudaEventDestroy(end));
    puts("ok");
    return 0;
}
