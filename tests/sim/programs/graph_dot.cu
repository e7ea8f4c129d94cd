/* graph_dot.cu - a graph written as text for Graphviz: kinds of nodes, kernels with their shape,
 * edges, child graphs; and a file that cannot be written.
 *
 * expect: ok
 */
#include "check.h"

#include <stdlib.h>
#include <string.h>
#include <string>
#include <unistd.h>

__global__ void scale(float *x, float by)
{
    x[threadIdx.x] *= by;
}

static void CUDART_CB nothing(void *)
{
}

static cudaGraph_t build(float *x, float *host)
{
    cudaGraph_t graph, inner;
    cudaGraphNode_t first, second, third, inside;
    float by = 2;
    void *arguments[] = { &x, &by };
    cudaKernelNodeParams kernel = {};
    cudaHostNodeParams call = { nothing, NULL };
    cudaMemsetParams clear = {};

    kernel.func = (void *) scale;
    kernel.gridDim = dim3(2, 3);
    kernel.blockDim = dim3(64);
    kernel.kernelParams = arguments;
    clear.dst = x;
    clear.elementSize = 1;
    clear.width = 64;
    clear.height = 1;
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphCreate(&inner, 0));
    OK(cudaGraphAddMemsetNode(&first, graph, NULL, 0, &clear));
    OK(cudaGraphAddKernelNode(&second, graph, &first, 1, &kernel));
    OK(cudaGraphAddMemcpyNode1D(&third, graph, &second, 1, host, x, 64, cudaMemcpyDeviceToHost));
    OK(cudaGraphAddHostNode(&third, graph, &third, 1, &call));
    OK(cudaGraphAddKernelNode(&inside, inner, NULL, 0, &kernel));
    OK(cudaGraphAddChildGraphNode(&third, graph, &second, 1, inner));
    OK(cudaGraphDestroy(inner));
    return graph;
}

static std::string read(const char *path)
{
    std::string text;
    FILE *file = fopen(path, "r");

    CHECK(file);
    for (int c; (c = fgetc(file)) != EOF;)
        text += (char) c;
    fclose(file);
    return text;
}

static int times(const std::string &text, const char *part)
{
    int count = 0;

    for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
        count++;
    return count;
}

int main()
{
    char path[] = "/tmp/graph_dot_XXXXXX";
    float *x, *host;
    int file = mkstemp(path);

    CHECK(file >= 0);
    close(file);
    OK(cudaMalloc(&x, 1024));
    OK(cudaMallocHost(&host, 1024));
    cudaGraph_t graph = build(x, host);
    OK(cudaGraphDebugDotPrint(graph, path, 0));
    const std::string plain = read(path);
    CHECK(plain.rfind("digraph dot {\n", 0) == 0 && plain.substr(plain.size() - 2) == "}\n");
    CHECK(times(plain, "subgraph cluster_") == 2 && times(plain, "{") == times(plain, "}"));
    CHECK(times(plain, "KERNEL\\nscale\\n<<<(2,3,1),(64,1,1),0>>>") == 2);
    CHECK(times(plain, "MEMSET") == 1 && times(plain, "MEMCPY\\ndevice to host") == 1);
    CHECK(times(plain, "HOST") == 1 && times(plain, "CHILD_GRAPH") == 1);
    CHECK(times(plain, "\" -> \"") == 5 && times(plain, "dashed\"];\n\"graph") == 2);

    OK(cudaGraphDebugDotPrint(graph, path, cudaGraphDebugDotFlagsVerbose));
    const std::string all = read(path);
    CHECK(times(all, "bytes of parameters") == 2 && times(all, "priority 0") == 2);
    CHECK(times(all, "64 x 1 x 1 (bytes, rows, slices)") == 1 && times(all, "\\nnode 0x") == 6);
    unlink(path);

    EXPECT(cudaErrorOperatingSystem, cudaGraphDebugDotPrint(graph, "/no/such/folder/x.dot", 0));
    EXPECT(cudaErrorInvalidValue, cudaGraphDebugDotPrint(graph, NULL, 0));
    EXPECT(cudaErrorInvalidValue, cudaGraphDebugDotPrint(NULL, path, 0));
    (void) cudaGetLastError();
    OK(cudaGraphDestroy(graph));
    OK(cudaFree(x));
    OK(cudaFreeHost(host));
    puts("ok");
}
