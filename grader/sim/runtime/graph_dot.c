/* graph_dot.c - cudaGraphDebugDotPrint: a graph as text for Graphviz (dot -Tsvg).
 *
 * Each graph is a cluster, with its nodes by number; a child graph is a cluster of its own, to
 * which its node has a dashed edge. Kernels always have their launch shape. Flags add what else is
 * known.
 */
#include "sim/runtime/graph.h"

#include <stdio.h>

enum { NAME_LENGTH = 200 };

typedef struct Dot {
    FILE *file;
    unsigned flags;
} Dot;

static bool wants(const Dot *dot, unsigned flag)
{
    return dot->flags & (flag | cudaGraphDebugDotFlagsVerbose);
}

/* ---- Labels ---- */

static const char *word_of(enum cudaGraphNodeType type)
{
    switch (type) {
    case cudaGraphNodeTypeKernel:
        return "KERNEL";
    case cudaGraphNodeTypeMemcpy:
        return "MEMCPY";
    case cudaGraphNodeTypeMemset:
        return "MEMSET";
    case cudaGraphNodeTypeHost:
        return "HOST";
    case cudaGraphNodeTypeGraph:
        return "CHILD_GRAPH";
    case cudaGraphNodeTypeWaitEvent:
        return "EVENT_WAIT";
    case cudaGraphNodeTypeEventRecord:
        return "EVENT_RECORD";
    case cudaGraphNodeTypeMemAlloc:
        return "MEM_ALLOC";
    case cudaGraphNodeTypeMemFree:
        return "MEM_FREE";
    default:
        return "EMPTY";
    }
}

/* A name could hold characters that end a label. */
static void print_name(FILE *file, const char *name)
{
    for (int i = 0; name[i] && i < NAME_LENGTH; i++) {
        if (name[i] == '"' || name[i] == '\\')
            fputc('\\', file);
        fputc(name[i], file);
    }
}

static void print_kernel(const Dot *dot, const KernelWork *kernel)
{
    fputs("\\n", dot->file);
    print_name(dot->file, kernel->function->plain);
    fprintf(dot->file, "\\n<<<(%d,%d,%d),(%d,%d,%d),%zu>>>", kernel->grid[0], kernel->grid[1],
            kernel->grid[2], kernel->block[0], kernel->block[1], kernel->block[2],
            kernel->dynamic_shared_bytes);
    if (wants(dot, cudaGraphDebugDotFlagsKernelNodeParams))
        fprintf(dot->file, "\\n%zu bytes of parameters", kernel->param_bytes);
    if (wants(dot, cudaGraphDebugDotFlagsKernelNodeAttributes))
        fprintf(dot->file, "\\ncooperative %d, priority %d, cluster (%d,%d,%d)",
                kernel->cooperative, kernel->hints.priority, kernel->cluster[0], kernel->cluster[1],
                kernel->cluster[2]);
    if (wants(dot, cudaGraphDebugDotFlagsHandles))
        fprintf(dot->file, "\\nfunction %p", (const void *) kernel->function->host);
}

static void print_copy(const Dot *dot, const CopyWork *copy)
{
    static const char *const sides[] = { "host", "device" };

    fprintf(dot->file, "\\n%s to %s", sides[copy->from_device], sides[copy->to_device]);
    if (wants(dot, cudaGraphDebugDotFlagsMemcpyNodeParams))
        fprintf(dot->file, "\\n0x%llx to 0x%llx, %zu x %zu x %zu (bytes, rows, slices)",
                (unsigned long long) copy->from, (unsigned long long) copy->to, copy->width,
                copy->height, copy->depth);
}

static void print_fill(const Dot *dot, const FillWork *fill)
{
    if (wants(dot, cudaGraphDebugDotFlagsMemsetNodeParams))
        fprintf(dot->file, "\\n0x%llx, %zu x %zu (bytes, rows) of 0x%02x",
                (unsigned long long) fill->to, fill->width, fill->height, fill->value[0]);
}

static void print_details(const Dot *dot, const Node *node)
{
    const Work *work = node->work;

    if (work->kind == WORK_KERNEL)
        print_kernel(dot, &work->kernel);
    else if (work->kind == WORK_COPY)
        print_copy(dot, &work->copy);
    else if (work->kind == WORK_FILL)
        print_fill(dot, &work->fill);
    else if (work->kind == WORK_HOST && wants(dot, cudaGraphDebugDotFlagsHostNodeParams))
        fprintf(dot->file, "\\nfunction %p, data %p", (void *) (uintptr_t) work->host.function,
                work->host.data);
    else if (node->event && wants(dot, cudaGraphDebugDotFlagsEventNodeParams))
        fprintf(dot->file, "\\nevent %p", (void *) node->event);
    if (wants(dot, cudaGraphDebugDotFlagsHandles))
        fprintf(dot->file, "\\nnode %p", (const void *) node);
}

/* ---- Graphs ---- */

static unsigned long long id_of(const Graph *graph)
{
    return (unsigned long long) graph->id;
}

/* Numbers the nodes by their marks, so that edges need no search. */
static void print_nodes(const Dot *dot, const Graph *graph)
{
    int number = 0;

    for (Node *node = graph->first; node; node = node->next) {
        node->mark = number++;
        fprintf(dot->file, "\"graph_%llu_node_%d\"[style=\"%s\" shape=\"%s\" label=\"%d\\n%s",
                id_of(graph), node->mark, node->work->kind == WORK_KERNEL ? "bold" : "solid",
                node->work->kind == WORK_KERNEL ? "octagon" : "rectangle", node->mark,
                word_of(node->type));
        print_details(dot, node);
        fputs("\"];\n", dot->file);
    }
}

static void print_edges(const Dot *dot, const Graph *graph)
{
    const unsigned long long id = id_of(graph);

    for (const Node *node = graph->first; node; node = node->next) {
        for (int i = 0; i < node->before_count; i++)
            fprintf(dot->file, "\"graph_%llu_node_%d\" -> \"graph_%llu_node_%d\";\n", id,
                    node->before[i]->mark, id, node->mark);
        if (node->child && node->child->first)
            fprintf(dot->file,
                    "\"graph_%llu_node_%d\" -> \"graph_%llu_node_0\"[style=\"dashed\"];\n", id,
                    node->mark, id_of(node->child));
    }
}

static void print_graph(const Dot *dot, const Graph *graph)
{
    fprintf(dot->file, "subgraph cluster_%llu {\nlabel=\"graph_%llu\" graph[style=\"dashed\"];\n",
            id_of(graph), id_of(graph));
    print_nodes(dot, graph);
    print_edges(dot, graph);
    fputs("}\n", dot->file);
    for (const Node *node = graph->first; node; node = node->next)
        if (node->child)
            print_graph(dot, node->child);
}

static cudaError_t print_file(const Graph *graph, const char *path, unsigned flags)
{
    Dot dot = { .flags = flags };
    bool well;

    if (!graph || !path)
        return cudaErrorInvalidValue;
    dot.file = fopen(path, "we");
    if (!dot.file)
        return cudaErrorOperatingSystem;
    fputs("digraph dot {\n", dot.file);
    print_graph(&dot, graph);
    fputs("}\n", dot.file);
    well = !ferror(dot.file);
    return fclose(dot.file) || !well ? cudaErrorOperatingSystem : cudaSuccess;
}

API cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph, const char *path, unsigned flags)
{
    return CALL(print_file(graph_of(graph), path, flags));
}
