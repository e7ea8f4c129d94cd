/* cfg.c - where the lanes of a warp reconverge after a divergent branch.
 *
 * A branch's lanes reconverge at its immediate post-dominator: the nearest block that all of them
 * must pass. Basic blocks are nodes, plus one node for the end, to which all returning paths lead.
 * Immediate post-dominators are the immediate dominators of the graph with its edges reversed; they
 * are found by iterating over the nodes in reverse postorder (Cooper, Harvey and Kennedy).
 *
 * Other lanes do not wait for lanes that return early: on hardware a lane that exits leaves the
 * convergence barriers, so if (a) { if (b) return; x(); } y(); reconverges before y() although not
 * all paths pass through it. Therefore only the last return is an edge to the end; a jump to a
 * block that consists of only that return counts as an early return, too. If no other path remains
 * (for example in the presence of an endless loop), all returns count.
 *
 * Nor do they wait for lanes that leave a loop (cfg_loops.c) or jump to the branch's post-dominator
 * early (cfg_regions.c).
 */
#include "sim/ptx/cfg.h"
#include "sim/ptx/flow_graph.h"

#include <stdlib.h>
#include <string.h>

/* ---- Edges ---- */

static bool is_exit(const Instruction *in)
{
    return in->op == OP_ret || in->op == OP_exit || in->op == OP_trap;
}

static bool ends_block(const Instruction *in)
{
    return is_exit(in) || in->op == OP_bra || in->op == OP_brx;
}

static const Operand *last_operand(const Function *f, const Instruction *in)
{
    return in->count ? &f->operands[in->first + in->count - 1] : NULL;
}

/* The target instructions of a branch. */
static int targets_of(const Function *f, const Instruction *in, const int **targets)
{
    const Operand *operand = last_operand(f, in);

    *targets = NULL;
    if (in->op == OP_bra && operand && operand->kind == OPERAND_LABEL) {
        *targets = &operand->index;
        return 1;
    }
    if (in->op == OP_brx && operand && operand->kind == OPERAND_TABLE && operand->index >= 0) {
        *targets = f->tables[operand->index].entries;
        return f->tables[operand->index].count;
    }
    return 0;
}

static bool goes_on(const Instruction *in)
{
    return in->guard >= 0 || !ends_block(in);
}

/* True if the block is a single return. */
static bool is_bare_exit(const FlowGraph *g, int block)
{
    const Instruction *in = &g->f->instructions[g->first[block]];

    return is_exit(in) && in->guard < 0;
}

typedef void Visit(FlowGraph *g, int from, int to);

/* Of a loop's edges, those back to its header lead to the end. */
static void visit_edge(FlowGraph *g, int from, int to, Visit *visit)
{
    if (!g->loop)
        visit(g, from, to);
    else if (g->loop[from] && to == g->header)
        visit(g, from, g->blocks);
    else if (g->loop[from] && to < g->blocks && g->loop[to])
        visit(g, from, to);
}

static void visit_jump(FlowGraph *g, int from, int to, Visit *visit)
{
    bool early = to == g->last_exit && to != g->blocks && is_bare_exit(g, to);

    if (!early)
        visit_edge(g, from, to, visit);
}

/* Visits all edges of a block. If `last_exit` is -1, all returns count. */
static void each_edge(FlowGraph *g, int block, Visit *visit)
{
    const Function *f = g->f;
    const Instruction *in = &f->instructions[g->first[block + 1] - 1];
    const int *targets;
    int count = targets_of(f, in, &targets);

    for (int i = 0; i < count; i++)
        visit_jump(g, block, g->block_of[targets[i]], visit);
    if (is_exit(in) && (g->last_exit < 0 || g->last_exit == block))
        visit_edge(g, block, g->blocks, visit);
    if (goes_on(in))
        visit_edge(g, block, g->block_of[g->first[block + 1]], visit);
    if (g->endless[block])
        visit_edge(g, block, g->blocks, visit);
}

static void count_edge(FlowGraph *g, int from, int to)
{
    g->after_at[from + 1]++;
    g->before_at[to + 1]++;
}

/* Advances the ends of the lists; make_edges() resets them. */
static void add_edge(FlowGraph *g, int from, int to)
{
    g->after[g->after_at[from]++] = to;
    g->before[g->before_at[to]++] = from;
}

static void add_up(int *at, int nodes)
{
    for (int i = 0; i < nodes; i++)
        at[i + 1] += at[i];
}

static void shift_back(int *at, int nodes)
{
    memmove(at + 1, at, (size_t) nodes * sizeof *at);
    at[0] = 0;
}

static bool make_edges(FlowGraph *g)
{
    int nodes = g->blocks + 1;
    size_t bytes = (size_t) (nodes + 1) * sizeof(int);

    memset(g->after_at, 0, bytes);
    memset(g->before_at, 0, bytes);
    for (int b = 0; b < g->blocks; b++)
        each_edge(g, b, count_edge);
    add_up(g->after_at, nodes);
    add_up(g->before_at, nodes);
    free(g->after);
    free(g->before);
    g->after = malloc(((size_t) g->after_at[nodes] + 1) * sizeof(int));
    g->before = malloc(((size_t) g->before_at[nodes] + 1) * sizeof(int));
    if (!g->after || !g->before)
        return false;
    for (int b = 0; b < g->blocks; b++)
        each_edge(g, b, add_edge);
    shift_back(g->after_at, nodes);
    shift_back(g->before_at, nodes);
    return true;
}

/* ---- Blocks ---- */

/* Sets block_of to 1 for the first instruction of each block, and to 0 elsewhere. */
static void mark_leaders(FlowGraph *g)
{
    const Function *f = g->f;
    const int *targets;

    g->block_of[0] = 1;
    for (int i = 0; i < f->instruction_count; i++) {
        const Instruction *in = &f->instructions[i];
        int count = targets_of(f, in, &targets);
        for (int t = 0; t < count; t++)
            g->block_of[targets[t]] = 1;
        if (ends_block(in))
            g->block_of[i + 1] = 1;
    }
}

static bool make_blocks(FlowGraph *g)
{
    int instructions = g->f->instruction_count, block = -1;

    g->block_of = calloc((size_t) instructions + 1, sizeof(int));
    if (!g->block_of)
        return false;
    mark_leaders(g);
    for (int i = 0; i < instructions; i++)
        g->blocks += g->block_of[i];
    g->first = malloc(((size_t) g->blocks + 1) * sizeof(int));
    if (!g->first)
        return false;
    for (int i = 0; i < instructions; i++) {
        if (g->block_of[i])
            g->first[++block] = i;
        g->block_of[i] = block;
    }
    g->first[g->blocks] = instructions;
    g->block_of[instructions] = g->blocks;
    return true;
}

/* The block of the last unconditional return, or of the end of the function if control falls
 * through. */
static int find_last_exit(const FlowGraph *g)
{
    for (int b = g->blocks - 1; b >= 0; b--) {
        const Instruction *in = &g->f->instructions[g->first[b + 1] - 1];
        if (b == g->blocks - 1 && goes_on(in))
            return g->blocks;
        if (is_exit(in) && in->op != OP_trap && in->guard < 0)
            return b;
    }
    return -1;
}

/* ---- Post-dominators ---- */

/* Computes the postorder of the reversed graph from the end, without recursion: postdominator[]
 * holds the path back, rank[] the number n of edges already followed from a node, as -2 - n. */
static void make_order(FlowGraph *g)
{
    int node = g->blocks;

    for (int i = 0; i <= g->blocks; i++)
        g->rank[i] = -1;
    g->live = 0;
    g->postdominator[node] = -1;
    g->rank[node] = -2;
    while (node >= 0) {
        int at = g->before_at[node] - 2 - g->rank[node];
        if (at == g->before_at[node + 1]) {
            int back = g->postdominator[node];
            g->rank[node] = g->live;
            g->order[g->live++] = node;
            node = back;
            continue;
        }
        g->rank[node]--;
        int next = g->before[at];
        if (g->rank[next] == -1) {
            g->postdominator[next] = node;
            g->rank[next] = -2;
            node = next;
        }
    }
}

/* Sets rank 0 for all blocks from which this block can be reached. `order` serves as the stack. */
static void flood(FlowGraph *g, int block)
{
    int depth = 0;

    g->rank[block] = 0;
    g->order[depth++] = block;
    while (depth) {
        int node = g->order[--depth];
        for (int at = g->before_at[node]; at < g->before_at[node + 1]; at++)
            if (g->rank[g->before[at]] < 0) {
                g->rank[g->before[at]] = 0;
                g->order[depth++] = g->before[at];
            }
    }
}

/* The last block of a loop without an exit gets an edge to the end. */
static void find_endless(FlowGraph *g)
{
    for (int b = g->blocks - 1; b >= 0; b--)
        if (g->rank[b] < 0) {
            g->endless[b] = true;
            flood(g, b);
        }
}

static int meet(FlowGraph *g, int a, int b)
{
    for (; a != b; g->work++)
        if (g->rank[a] < g->rank[b])
            a = g->postdominator[a];
        else
            b = g->postdominator[b];
    return a;
}

static int meet_of_successors(FlowGraph *g, int node)
{
    int found = -1;

    for (int at = g->after_at[node]; at < g->after_at[node + 1]; at++) {
        int next = g->after[at];
        if (g->postdominator[next] >= 0)
            found = found < 0 ? next : meet(g, found, next);
    }
    return found;
}

bool flow_postdominators(FlowGraph *g)
{
    bool changed = true;

    if (!make_edges(g))
        return false;
    make_order(g);
    for (int i = 0; i <= g->blocks; i++)
        g->postdominator[i] = -1;
    g->postdominator[g->blocks] = g->blocks;
    while (changed && g->work < FLOW_MOST_WORK) {
        changed = false;
        g->work += g->live;
        for (int i = g->live - 2; i >= 0 && g->work < FLOW_MOST_WORK; i--) {
            int node = g->order[i], found = meet_of_successors(g, node);
            changed |= g->postdominator[node] != found;
            g->postdominator[node] = found;
        }
    }
    return g->work < FLOW_MOST_WORK;
}

/* ---- Branches ---- */

bool flow_may_split(const Instruction *in)
{
    return (in->op == OP_bra && in->guard >= 0) || in->op == OP_brx;
}

/* Sets the reconvergence point of each branch that has none yet and whose block reaches the end.
 * Returns the number of branches that remain. */
static int set_places(const FlowGraph *g, int *rpc)
{
    int open = 0;

    for (int b = 0; b < g->blocks; b++) {
        int last = g->first[b + 1] - 1;
        if (!flow_may_split(&g->f->instructions[last]) || rpc[last] >= 0)
            continue;
        if (g->postdominator[b] >= 0)
            rpc[last] = g->first[g->postdominator[b]];
        else
            open++;
    }
    return open;
}

static bool make_graph(FlowGraph *g)
{
    if (!make_blocks(g))
        return false;
    size_t bytes = ((size_t) g->blocks + 2) * sizeof(int);
    g->endless = calloc((size_t) g->blocks + 1, sizeof(bool));
    g->after_at = malloc(bytes);
    g->before_at = malloc(bytes);
    g->postdominator = malloc(bytes);
    g->rank = malloc(bytes);
    g->order = malloc(bytes);
    return g->endless && g->after_at && g->before_at && g->postdominator && g->rank && g->order;
}

static void free_graph(FlowGraph *g)
{
    free(g->block_of);
    free(g->first);
    free(g->endless);
    free(g->before);
    free(g->before_at);
    free(g->after);
    free(g->after_at);
    free(g->postdominator);
    free(g->rank);
    free(g->order);
}

static void find_places(FlowGraph *g, Reconvergence *found)
{
    g->last_exit = -1;
    if (!make_edges(g))
        return;
    make_order(g);
    find_endless(g);
    g->last_exit = find_last_exit(g);
    if (!flow_postdominators(g))
        return;
    const int open = set_places(g, found->rpc);
    if (found->after)
        flow_refine(g, found);
    g->last_exit = -1;
    if (open && flow_postdominators(g))
        set_places(g, found->rpc);
}

static void find_all(const Function *function, Reconvergence *found)
{
    FlowGraph g = { .f = function };
    int count = function->instruction_count;

    for (int i = 0; i < count; i++)
        found->rpc[i] = -1;
    if (count && make_graph(&g))
        find_places(&g, found);
    for (int i = 0; i < count; i++)
        if (flow_may_split(&function->instructions[i]) && found->rpc[i] < 0)
            found->rpc[i] = count;
    free_graph(&g);
}

void find_reconvergence(const Function *function, int *rpc)
{
    find_all(function, &(Reconvergence){ .rpc = rpc });
}

bool reconvergence_make(const Function *function, Reconvergence *found)
{
    const size_t count = (size_t) function->instruction_count + 1;

    *found = (Reconvergence){ .rpc = malloc(count * sizeof *found->rpc),
                              .after = malloc(count * sizeof *found->after),
                              .inner = calloc(count, 1),
                              .round = malloc(count * sizeof *found->round) };
    if (!found->rpc || !found->after || !found->inner || !found->round) {
        reconvergence_free(found);
        return false;
    }
    for (size_t i = 0; i < count; i++)
        found->after[i] = found->round[i].begin = found->round[i].end = -1;
    find_all(function, found);
    return true;
}

void reconvergence_free(Reconvergence *found)
{
    free(found->rpc);
    free(found->after);
    free(found->inner);
    free(found->round);
}

bool always_passes(const Function *f, int from, int first, int then)
{
    const int count = f->instruction_count;
    uint8_t *seen = calloc((size_t) count + 1, 1);
    int *open = malloc(((size_t) count + 1) * sizeof *open), opened = 0;

    if (seen && open && from < count && first != from)
        seen[open[opened++] = from] = 1;
    for (const int *targets; opened && !seen[then];) {
        const Instruction *in = &f->instructions[open[--opened]];
        const int next = (int) (in - f->instructions) + 1, jumps = targets_of(f, in, &targets);
        for (int i = goes_on(in) ? -1 : 0; i < jumps; i++) {
            const int to = i < 0 ? next : targets[i];
            if (to < 0 || to >= count || to == first || seen[to])
                continue;
            seen[to] = 1;
            open[opened++] = to;
        }
    }
    bool passes = seen && open && !seen[then];
    free(seen);
    free(open);
    return passes;
}
