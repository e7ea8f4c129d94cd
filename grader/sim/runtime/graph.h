/* graph.h - task graphs: nodes of work, and the order between them.
 *
 * A graph is a list of nodes in the order of their creation; each has the nodes that must run
 * before it. A launch issues the work of all nodes to one stream, in an order that satisfies the
 * dependencies; branches do not run concurrently. An executable graph is a copy in that order.
 */
#ifndef SIM_RUNTIME_GRAPH_H
#define SIM_RUNTIME_GRAPH_H

#include "sim/runtime/runtime.h"

/* The parameters as the program gave them, so that it can read them back. */
typedef struct NodeParams {
    struct cudaMemcpy3DParms copy;
    struct cudaMemsetParams fill;
} NodeParams;

struct Node {
    Node *next;
    Graph *graph;
    Work *work;              /* owned; kind EMPTY for a node without work of its own */
    Node **before;           /* the nodes that must run first */
    cudaGraphEdgeData *data; /* of the edge from each: only kept, since no node runs early */
    int before_count, before_room;
    Graph *child;      /* owned; launched in this place; NULL: none */
    cudaEvent_t event; /* of a node that records an event or waits for one */
    enum cudaGraphNodeType type;
    NodeParams params;
    void **arguments;          /* of a kernel, made on request; owned */
    const Node *original;      /* the node of which this one is a copy */
    bool disabled;             /* cudaGraphNodeSetEnabled */
    bool loose;                /* the capture need not join it */
    struct TimelineItem *item; /* when its work of the latest launch ends; NULL: it has none */
    int mark;                  /* for searches */
};

/* graph.c */
Graph *graph_of(cudaGraph_t handle); /* NULL: no such graph */
Graph *graph_exec(cudaGraphExec_t handle);
Node *node_of(cudaGraphNode_t handle);
Node *node_in(const Graph *graph, const Node *original); /* the copy of a node; NULL: none */
Graph *graph_copy(const Graph *graph);                   /* NULL: out of memory, or a cycle */
void graph_free(Graph *graph);
/* Adds a node that runs after `before`. Takes ownership of the work, and frees it on failure. */
Node *node_new(Graph *graph, enum cudaGraphNodeType type, Work *work, Node *const *before,
               int count);
void node_free(Node *node); /* and takes it out of its graph */
/* `data`: NULL: an ordinary edge. An edge that exists stays as it is. False: out of memory. */
bool node_after(Node *node, Node *before, const cudaGraphEdgeData *data);
/* The index of `before` in the list of nodes before `node`; -1: it is not among them. */
int node_edge(const Node *node, const Node *before);
void node_drop_edge(Node *node, int index);
/* Marks with `mark` all nodes that run before these, and these. */
void nodes_mark_before(Graph *graph, Node *const *last, int count);
int node_index(const Graph *graph, const Node *node);

bool is_plain_edge(const cudaGraphEdgeData *data);
/* Whether an edge between these nodes may have the data (NULL: an ordinary edge). */
bool edge_allows(const Node *from, const Node *to, const cudaGraphEdgeData *data);

/* capture.c: adds nodes that the program names to a set. */
cudaError_t last_add_named(LastNodes *last, const Graph *graph, const cudaGraphNode_t *nodes,
                           const cudaGraphEdgeData *data, size_t count);

/* graph_node.c: the copy of a node in an executable graph or its children; NULL: none. */
Node *node_in_exec(cudaGraphExec_t exec, cudaGraphNode_t node);

/* pool.c: memory of a graph, which only exists while a launch uses it. */
cudaError_t pool_reserve(void **pointer, size_t bytes);
bool pool_may_free(const void *pointer);

/* event.c */
cudaError_t event_record(cudaEvent_t event, Stream *stream);
cudaError_t event_wait(cudaEvent_t event, Stream *stream);

/* copy.c, launch.c: work that is not yet issued, after all checks. */
cudaError_t work_of_copy(const struct cudaMemcpy3DParms *params, const char *call, Work **work);
cudaError_t work_of_fill(const struct cudaMemsetParams *params, Work **work);
cudaError_t work_of_kernel(const struct cudaKernelNodeParams *params, Work **work);
/* Fills rows with a value of 1, 2 or 4 bytes. */
cudaError_t fill_with(Stream *stream, const char *call, const struct cudaMemsetParams *fill,
                      bool blocking);
void **kernel_arguments(const KernelWork *kernel); /* pointers to copies; NULL: out of memory */
/* Whether the range of a side is valid; otherwise a finding says why not. */
cudaError_t check_side(const char *call, const char *which, const void *at, size_t bytes,
                       bool on_device);
/* The bytes from the first to the last one of some rows; false: too many. */
bool range_bytes(size_t *sum, size_t height, size_t pitch, size_t width);
cudaError_t symbol_at(const void *symbol, size_t bytes, size_t offset, void **pointer);

#endif
