/* order.c - interleaves independent chains of a stretch, as ptxas does.
 *
 * A warp issues in order. If the next step would wait for a result, ptxas first issues later steps
 * that need not wait: it interleaves the operations of eight sums that PTX computes one after the
 * other. This is list scheduling: each time, take the first step in PTX order whose operands are
 * ready, or else the step whose operands are ready first. ptxas does not know how long a load
 * takes; we assume that it uses the latency of the L1.
 *
 * Loads and stores stay after all steps that precede them in PTX: how far ptxas moves them up
 * depends on the number of free registers. (plan.c has already moved up loads from global memory.)
 */
#include "sim/time/model.h"

#include <stdlib.h>
#include <string.h>

enum { NONE = -1 };

/* A step that must wait for another: for its result, or only until it is issued. */
typedef struct OrderEdge {
    int to, next; /* next: the next edge of the same step, or NONE */
    int latency;
} OrderEdge;

typedef struct OrderReader {
    int step, next;
} OrderReader;

typedef struct Node {
    int edges;      /* the first one, or NONE */
    int unmet;      /* steps that must precede it and have not been placed */
    uint64_t ready; /* when its operands are ready */
    bool done;
} Node;

/* The state for one stretch. By register: the last step that writes it, and its readers since. */
typedef struct Orderer {
    const Planned *steps;
    int count;
    Node *nodes;
    OrderEdge *edges;
    OrderReader *readers;
    int edge_count, reader_count;
    int *writer, *reader;
} Orderer;

static const uint32_t *written(const Planned *step)
{
    return step->registers + step->operation->reads;
}

static void add_edge(Orderer *o, int from, int to, int latency)
{
    if (from == to)
        return;
    o->edges[o->edge_count] =
        (OrderEdge){ .to = to, .next = o->nodes[from].edges, .latency = latency };
    o->nodes[from].edges = o->edge_count++;
    o->nodes[to].unmet++;
}

static int latency_of(const Operation *o)
{
    return o->action == NO_INSTRUCTION ? 0 : o->busy - o->cycles + o->latency;
}

static void add_reads(Orderer *o, int i)
{
    const Operation *operation = o->steps[i].operation;

    for (int k = 0; k < operation->reads; k++) {
        const uint32_t r = o->steps[i].registers[k];
        const int writer = o->writer[r];
        if (writer != NONE)
            add_edge(o, writer, i, latency_of(o->steps[writer].operation));
        o->readers[o->reader_count] = (OrderReader){ .step = i, .next = o->reader[r] };
        o->reader[r] = o->reader_count++;
    }
}

static void add_writes(Orderer *o, int i)
{
    for (int k = 0; k < o->steps[i].operation->writes; k++) {
        const uint32_t r = written(&o->steps[i])[k];
        if (o->writer[r] != NONE)
            add_edge(o, o->writer[r], i, latency_of(o->steps[o->writer[r]].operation));
        for (int reader = o->reader[r]; reader != NONE; reader = o->readers[reader].next)
            add_edge(o, o->readers[reader].step, i, 0);
        o->writer[r] = i;
        o->reader[r] = NONE;
    }
}

/* Clears only the registers of this stretch; the table has all registers of the kernel. */
static void forget_registers(Orderer *o)
{
    for (int i = 0; i < o->count; i++)
        for (int k = 0; k < o->steps[i].operation->reads + o->steps[i].operation->writes; k++)
            o->writer[o->steps[i].registers[k]] = o->reader[o->steps[i].registers[k]] = NONE;
}

static void find_edges(Orderer *o)
{
    forget_registers(o);
    for (int i = 0; i < o->count; i++)
        o->nodes[i] = (Node){ .edges = NONE };
    for (int i = 0; i < o->count; i++) {
        add_reads(o, i);
        add_writes(o, i);
    }
}

static void go(Orderer *o, int i, uint64_t now)
{
    o->nodes[i].done = true;
    for (int e = o->nodes[i].edges; e != NONE; e = o->edges[e].next) {
        Node *node = &o->nodes[o->edges[e].to];
        node->unmet--;
        node->ready = later(node->ready, now + (uint64_t) o->edges[e].latency);
    }
}

static bool has_instruction(const Planned *step)
{
    return step->operation->action != NO_INSTRUCTION && step->issue != NOT_ISSUED;
}

/* A step without an instruction comes as soon as possible, any other in order of its place. */
static int place_of(const Planned *step)
{
    return has_instruction(step) ? step->place : -1;
}

static void put_by_place(Orderer *o, Planned *to)
{
    for (int put = 0; put < o->count; put++) {
        int best = NONE;
        for (int i = 0; i < o->count; i++)
            if (!o->nodes[i].done && !o->nodes[i].unmet &&
                (best == NONE || place_of(&o->steps[i]) < place_of(&o->steps[best])))
                best = i;
        go(o, best, 0);
        to[put] = o->steps[best];
    }
}

/* All steps before `first` have been placed. */
static int choose(const Orderer *o, int first, uint64_t now)
{
    int best = first;

    for (int i = first; i < o->count && o->nodes[best].ready > now; i++) {
        const Node *node = &o->nodes[i];
        if (!node->done && !node->unmet && node->ready < o->nodes[best].ready &&
            o->steps[i].operation->memory == MEMORY_NONE)
            best = i;
    }
    return best;
}

static void put_in_order(Orderer *o, Planned *to)
{
    uint64_t now = 0;

    for (int first = 0, put = 0; put < o->count; put++) {
        while (o->nodes[first].done)
            first++;
        const int i = choose(o, first, now);
        now = later(now, o->nodes[i].ready);
        go(o, i, now);
        now += o->steps[i].operation->action == NO_INSTRUCTION ? 0 : o->steps[i].operation->issues;
        to[put] = o->steps[i];
    }
}

/* Steps that no other step may cross. */
static bool is_fixed(const Planned *step)
{
    const Operation *o = step->operation;

    return has_instruction(step) &&
           (o->action == DO_BRANCH || o->action == DO_SEQUENCE || o->memory == MEMORY_ORDERED);
}

/* Counts the register operands of all steps, and finds the highest register + 1. */
static void count_registers(const Planned *steps, int count, size_t *named, size_t *registers)
{
    *named = *registers = 1;
    for (int i = 0; i < count; i++)
        for (int k = 0; k < steps[i].operation->reads + steps[i].operation->writes; k++, ++*named)
            if (steps[i].registers[k] >= *registers)
                *registers = steps[i].registers[k] + 1;
}

/* A step depends on the writers of the registers that it reads, and on the writers and readers of
 * the registers that it writes. So each use of a register adds at most two edges. */
static bool orderer_open(Orderer *o, const Planned *steps, int count)
{
    size_t named, registers;

    count_registers(steps, count, &named, &registers);
    *o = (Orderer){ .nodes = malloc(((size_t) count + 1) * sizeof *o->nodes),
                    .edges = malloc(2 * named * sizeof *o->edges),
                    .readers = malloc(named * sizeof *o->readers),
                    .writer = malloc(registers * sizeof *o->writer),
                    .reader = malloc(registers * sizeof *o->reader) };
    return o->nodes && o->edges && o->readers && o->writer && o->reader;
}

static void orderer_close(Orderer *o)
{
    free(o->nodes);
    free(o->edges);
    free(o->readers);
    free(o->writer);
    free(o->reader);
}

/* Orders the steps between those that no other may cross. */
static bool order_parts(Planned *steps, int count, void (*put)(Orderer *o, Planned *to))
{
    Orderer o;
    Planned *copy = malloc(((size_t) count + 1) * sizeof *copy);
    const bool well = orderer_open(&o, steps, count) && copy;

    for (int from = 0, to = 0; well && from < count; from = to + 1) {
        for (to = from; to < count && !is_fixed(&steps[to]); to++)
            ;
        memcpy(copy, steps + from, (size_t) (to - from) * sizeof *copy);
        o.steps = copy;
        o.count = to - from;
        o.edge_count = o.reader_count = 0;
        find_edges(&o);
        put(&o, steps + from);
    }
    orderer_close(&o);
    free(copy);
    return well;
}

bool order_chains(Planned *steps, int count)
{
    return order_parts(steps, count, put_in_order);
}

/* Whether the machine code has most of the steps in one basic block. ptxas may have moved single
 * ones elsewhere; they come as soon as possible. */
static bool are_placed(const Planned *steps, int count)
{
    int block = NONE, placed = 0, others = 0;

    for (int i = 0; i < count; i++) {
        const Operation *o = steps[i].operation;
        if (!has_instruction(&steps[i]) || is_fixed(&steps[i]) || o->hoisted)
            continue;
        block = block == NONE && steps[i].place >= 0 ? o->block : block;
        const bool here = steps[i].place >= 0 && o->block == block;
        placed += here;
        others += !here;
    }
    return placed > 3 * others;
}

bool order_as_machine(Planned *steps, int count, bool *known)
{
    *known = are_placed(steps, count);
    return !*known || order_parts(steps, count, put_by_place);
}
