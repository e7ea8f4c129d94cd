/* path.c - the automaton that follows lanes through the machine code. */
#include "sim/machine/path.h"
#include "sim/machine/flow_finder.h"

#include <stdlib.h>
#include <string.h>

/* Larger kernels are not followed. */
enum { MOST_PLACES = 700, MOST_CELLS = 400000 };

/* What a machine block has of a basic block of the PTX. */
typedef struct Share {
    int copies;      /* 0: lanes do not come here for it */
    int first, last; /* instructions; last 0: none */
} Share;

/* A state of the walk: a lane came to a machine block for the PTX block `entry`, and last began
 * `ptx` there. */
typedef struct Spot {
    int block, entry, ptx;
    int copy;     /* of the machine block's copies of that */
    bool wrapped; /* it has gone round a loop of the PTX, to blocks before the entry */
} Spot;

typedef struct Paths {
    Walk walk; /* first */
    const Lowering *lowering;
    int *ptx_of_line;          /* -1: none */
    const Step **step_of_line; /* NULL: none */
    int line_count;
    bool *ends;       /* by PTX block: it only ends the lane */
    bool *repeats;    /* by PTX block: a machine block has several copies of it */
    Share *shares;    /* [ptx * block_count + machine block] */
    bool *has_homes;  /* by machine block: lanes come here for some PTX block */
    bool *is_entered; /* by machine block: another leads to it */
    Spot places[MOST_WALK_STATES];
    int place_count;
    int *before, *queue; /* of a search: the block before each, -1: not reached */
    int avoided;         /* a block that is on no way; -1: none */
} Paths;

static Share *share_at(const Paths *paths, int ptx, int block)
{
    return &paths->shares[(size_t) ptx * (size_t) paths->lowering->block_count + (size_t) block];
}

/* ---- Which machine blocks are copies of a basic block of the PTX ---- */

static int number_blocks(Paths *paths, const Code *code, bool *starts)
{
    int block = -1;

    code_blocks(code, starts);
    for (int i = 0; i < code->step_count; i++) {
        const Instruction *in = code->steps[i].in;
        block += starts[i];
        paths->walk.begins[i] = (uint16_t) (starts[i] ? block + 1 : 0);
        if (!in || in->ptx_line < 1 || paths->step_of_line[in->ptx_line])
            continue;
        paths->ptx_of_line[in->ptx_line] = block;
        paths->step_of_line[in->ptx_line] = &code->steps[i];
    }
    return block + 1;
}

/* The step of the instruction's line; NULL: none. The copy of a branch may have the line of its
 * condition. */
static const Step *step_of(const Paths *paths, const MachineInstruction *in)
{
    const Step *step =
        in->line > 0 && in->line < paths->line_count ? paths->step_of_line[in->line] : NULL;

    if (!step || step->in->op != OP_setp || flow_operation(in) != MACHINE_BRA)
        return step;
    for (int hops = 0; step->in && hops < 4; hops++, step++)
        if (step->in->op == OP_bra)
            return step;
    return NULL;
}

/* How well a line of the PTX shows where its basic block is: ptxas moves what has no effect. */
typedef enum Mark { MARK_NONE, MARK_WEAK, MARK_COPIED, MARK_EFFECT } Mark;

static Mark mark_of(const Lowering *lowering, const MachineInstruction *in, const Step *step)
{
    const unsigned operation = flow_operation(in);

    if (step->in->op == OP_bra && step->guard >= 0 && !flow_is_guarded(in))
        return MARK_NONE; /* a jump that ptxas adds */
    if (step->in->op == OP_bra)
        return operation == MACHINE_BRA || operation == MACHINE_EXIT ? MARK_COPIED : MARK_NONE;
    if (flow_is_quotient(step) || flow_is_move(in))
        return MARK_NONE;
    if (flow_is_counterpart(step->in, operation))
        return flow_is_effect(step) ? MARK_EFFECT : MARK_COPIED;
    return flow_is_elsewhere(lowering->code.arch, operation) ? MARK_NONE : MARK_WEAK;
}

/* What is known about a line. */
typedef struct LineMark {
    Mark mark;
    int blocks, last; /* machine blocks that have it; the last of them, plus 1 */
    bool repeats;     /* one of them has it several times */
} LineMark;

static void mark_line(Paths *paths, LineMark *lines, int block, const MachineInstruction *in)
{
    const Step *step = step_of(paths, in);
    const Mark mark = step ? mark_of(paths->lowering, in, step) : MARK_NONE;
    LineMark *line = mark ? &lines[step->in->ptx_line] : NULL;

    if (!line || mark < line->mark)
        return;
    if (mark > line->mark)
        *line = (LineMark){ .mark = mark };
    line->repeats |= line->last == block + 1 && mark > MARK_WEAK && step->in->op != OP_bra;
    line->blocks += line->last != block + 1;
    line->last = block + 1;
}

static int branch_ends(const void *self, int line)
{
    const Paths *paths = self;
    const Step *step = line > 0 && line < paths->line_count ? paths->step_of_line[line] : NULL;

    return step && step->in->op == OP_bra ? paths->ptx_of_line[line] : -1;
}

/* Whether the line's only machine block is behind the branch at the end of its basic block. */
static bool is_sunk(const Paths *paths, const LineMark *line, int ptx)
{
    return line->blocks == 1 && line->mark != MARK_EFFECT &&
           lowering_is_behind(paths->lowering, line->last - 1, ptx, branch_ends, paths);
}

/* Calls divide a basic block of the PTX among several machine blocks. So the copies of one line
 * show its copies: preferably of one with an effect, then of the one with the most. */
static void choose_lines(const Paths *paths, const LineMark *lines, int *line_of_ptx)
{
    for (int i = 0; i < paths->line_count; i++) {
        const int ptx = paths->ptx_of_line[i];
        const LineMark *best = ptx < 0 ? NULL : &lines[line_of_ptx[ptx]];
        if (best && is_sunk(paths, &lines[i], ptx))
            continue;
        if (best)
            paths->repeats[ptx] |= lines[i].repeats;
        if (best && (lines[i].mark > best->mark ||
                     (lines[i].mark == best->mark && lines[i].blocks > best->blocks)))
            line_of_ptx[ptx] = i;
    }
}

static void add_instruction(Paths *paths, const int *line_of_ptx, const LineMark *lines, int block,
                            int i)
{
    const MachineInstruction *in = &paths->lowering->code.instructions[i];
    const Step *step = step_of(paths, in);
    const Mark mark = step ? mark_of(paths->lowering, in, step) : MARK_NONE;

    if (!mark)
        return;
    const int line = step->in->ptx_line, ptx = paths->ptx_of_line[line];
    Share *share = share_at(paths, ptx, block);
    share->first = share->last ? share->first : i;
    share->last = i;
    if (line_of_ptx[ptx] != line || mark != lines[line].mark)
        return;
    share->copies += mark > MARK_WEAK || !share->copies;
    paths->has_homes[block] = true;
}

static void find_homes(Paths *paths, LineMark *lines, int *line_of_ptx)
{
    const Lowering *lowering = paths->lowering;

    for (int pass = 0; pass < 2; pass++) {
        for (int b = 0; b < lowering->block_count; b++) {
            const MachineBlock *at = &lowering->blocks[b];
            for (int i = at->first; i < at->first + at->count; i++) {
                if (!at->is_reached || at->in_callee)
                    continue;
                if (pass)
                    add_instruction(paths, line_of_ptx, lines, b, i);
                else
                    mark_line(paths, lines, b, &lowering->code.instructions[i]);
            }
        }
        if (!pass)
            choose_lines(paths, lines, line_of_ptx);
    }
    for (int b = 0; b < lowering->block_count; b++) {
        const MachineBlock *at = &lowering->blocks[b];
        if (at->is_reached && !at->in_callee && at->next >= 0)
            paths->is_entered[at->next] = true;
        if (at->is_reached && !at->in_callee && at->taken >= 0)
            paths->is_entered[at->taken] = true;
    }
}

/* ---- Ways ---- */

/* The block before `to` on the way from a block: fills in paths->before. Blocks that are copies of
 * others are not on it, unless `any`. Returns the nearest block for `ptx`; -1: none. */
static int search(Paths *paths, int from, int ptx, bool any)
{
    const Lowering *lowering = paths->lowering;
    int head = 0, tail = 0;

    for (int b = 0; b < lowering->block_count; b++)
        paths->before[b] = -1;
    paths->queue[tail++] = from;
    while (head < tail) {
        const int b = paths->queue[head++];
        const MachineBlock *at = &lowering->blocks[b];
        for (int way = 0; way < (at->anywhere ? lowering->block_count : 2); way++) {
            const int to = at->anywhere ? way : way ? at->taken : at->next;
            if (to < 0 || to == paths->avoided || paths->before[to] >= 0 ||
                !lowering->blocks[to].is_reached ||
                (at->anywhere && (!to || paths->is_entered[to] || lowering->blocks[to].in_callee)))
                continue;
            paths->before[to] = b;
            if (paths->ends[ptx] ? lowering->blocks[to].leaves && lowering->blocks[to].next < 0
                                 : share_at(paths, ptx, to)->copies > 0)
                return to;
            if (to != from && (any || !paths->has_homes[to]))
                paths->queue[tail++] = to;
        }
    }
    return -1;
}

static int find_way(Paths *paths, int from, int ptx)
{
    const int to = search(paths, from, ptx, false);

    return to >= 0 ? to : search(paths, from, ptx, true);
}

/* Whether a lane begins `ptx` in the machine block where it is, without leaving it. Sets its spot.
 *
 * The machine block of a rotated loop has the end of one round and the beginning of the next: lanes
 * come to it for the end. If they come for the beginning, another beginning is another visit. */
static bool stays(const Paths *paths, const Spot *spot, int ptx, Spot *then)
{
    const Share *share = share_at(paths, ptx, spot->block);

    *then = *spot;
    then->ptx = ptx;
    if (paths->ends[ptx] && paths->lowering->blocks[spot->block].leaves)
        return true;
    if (!share->copies)
        return false;
    if (ptx > spot->ptx && (!spot->wrapped || ptx < spot->entry))
        return true;
    if (ptx < spot->entry && !spot->wrapped)
        return then->wrapped = true;
    *then = (Spot){ spot->block, ptx, ptx, spot->copy + 1, false };
    return then->copy < share->copies;
}

static bool is_same(const Spot *a, const Spot *b)
{
    return a->block == b->block && a->entry == b->entry && a->ptx == b->ptx && a->copy == b->copy &&
           a->wrapped == b->wrapped;
}

static int place_of(Paths *paths, Spot place)
{
    for (int i = 0; i < paths->place_count; i++)
        if (is_same(&paths->places[i], &place))
            return i;
    if (paths->place_count == MOST_WALK_STATES)
        return -1;
    paths->places[paths->place_count] = place;
    return paths->place_count++;
}

/* A PTX block without instructions of its own is where the lane is already. So is one to which no
 * way leads: ptxas removes what is not needed from the last copy of a loop. */
static bool has_home(const Paths *paths, int ptx)
{
    for (int b = 0; b < paths->lowering->block_count; b++)
        if (share_at(paths, ptx, b)->copies)
            return true;
    return paths->ends[ptx];
}

static int next(Walk *walk, int state, int ptx, WalkCell *cell)
{
    Paths *paths = (Paths *) walk;
    Spot place = paths->places[state];
    Spot then;

    cell->place = place.block;
    cell->stays = true;
    if (!has_home(paths, ptx))
        return state;
    if (stays(paths, &place, ptx, &then))
        return place_of(paths, then);
    const int to = find_way(paths, place.block, ptx);
    if (to < 0)
        return state;
    cell->place = to;
    cell->stays = false;
    return place_of(paths, (Spot){ to, ptx, ptx, 0, false });
}

/* ---- Making and counting ---- */

void path_free(Walk *walk)
{
    Paths *paths = (Paths *) walk;

    if (!paths)
        return;
    for (int i = 0; i < MOST_WALK_STATES; i++)
        free(walk->cells[i]);
    free(walk->begins);
    free(paths->ptx_of_line);
    free(paths->step_of_line);
    free(paths->ends);
    free(paths->repeats);
    free(paths->shares);
    free(paths->has_homes);
    free(paths->is_entered);
    free(paths->before);
    free(paths->queue);
    free(paths);
}

static int last_line(const Code *code)
{
    int last = 0;

    for (int i = 0; i < code->step_count; i++)
        if (code->steps[i].in && code->steps[i].in->ptx_line > last)
            last = code->steps[i].in->ptx_line;
    return last;
}

static void find_ends(Paths *paths, const Code *code)
{
    for (int i = 0; i < code->step_count; i++)
        if (paths->walk.begins[i] && code->steps[i].guard < 0 && code->steps[i].in &&
            (code->steps[i].in->op == OP_ret || code->steps[i].in->op == OP_exit))
            paths->ends[paths->walk.begins[i] - 1] = true;
}

static bool prepare(Paths *paths, const Code *code)
{
    const size_t lines = (size_t) paths->line_count + 1;
    bool *starts = calloc((size_t) code->step_count + 2, sizeof *starts);
    LineMark *marks = calloc(lines, sizeof *marks);
    int *line_of_ptx = NULL;
    size_t cells;

    for (int i = 0; i < paths->line_count; i++)
        paths->ptx_of_line[i] = -1;
    if (starts)
        paths->walk.block_count = number_blocks(paths, code, starts);
    cells = (size_t) paths->walk.block_count * (size_t) paths->lowering->block_count;
    if (cells && cells <= MOST_CELLS) {
        paths->shares = calloc(cells, sizeof *paths->shares);
        paths->ends = calloc((size_t) paths->walk.block_count, sizeof *paths->ends);
        paths->repeats = calloc((size_t) paths->walk.block_count, sizeof *paths->repeats);
        line_of_ptx = calloc((size_t) paths->walk.block_count, sizeof *line_of_ptx);
    }
    const bool fine =
        starts && marks && paths->shares && paths->ends && paths->repeats && line_of_ptx;
    if (fine) {
        find_ends(paths, code);
        find_homes(paths, marks, line_of_ptx);
    }
    free(starts);
    free(marks);
    free(line_of_ptx);
    return fine;
}

Walk *path_make(const Lowering *lowering, const Code *code)
{
    Paths *paths = NULL;

    if (!lowering || lowering->block_count < 1 || lowering->block_count > MOST_PLACES ||
        !(paths = calloc(1, sizeof *paths)))
        return NULL;
    const size_t blocks = (size_t) lowering->block_count + 1;
    paths->lowering = lowering;
    paths->avoided = -1;
    paths->line_count = last_line(code) + 1;
    paths->walk.next = next;
    paths->walk.begins = calloc((size_t) code->step_count + 2, sizeof *paths->walk.begins);
    paths->ptx_of_line = calloc((size_t) paths->line_count + 1, sizeof *paths->ptx_of_line);
    paths->step_of_line = calloc((size_t) paths->line_count + 1, sizeof *paths->step_of_line);
    paths->has_homes = calloc(blocks, sizeof *paths->has_homes);
    paths->is_entered = calloc(blocks, sizeof *paths->is_entered);
    paths->before = calloc(blocks, sizeof *paths->before);
    paths->queue = calloc(blocks + 1, sizeof *paths->queue);
    place_of(paths, (Spot){ 0, -1, -1, 0, false });
    if (paths->walk.begins && paths->ptx_of_line && paths->step_of_line && paths->has_homes &&
        paths->is_entered && paths->before && paths->queue && prepare(paths, code))
        return &paths->walk;
    path_free(&paths->walk);
    return NULL;
}

/* Whether there is a way that avoids a block. Then it is not clear that lanes come through it. */
static bool can_avoid(Paths *paths, int block, int from, int ptx)
{
    paths->avoided = block;
    const bool can = search(paths, from, ptx, false) >= 0;
    paths->avoided = -1;
    return can;
}

/* Fills in the blocks on the way to a PTX block, the last one first. Returns their number; 0: there
 * is no way. */
static int way_to(Paths *paths, int from, int ptx, int *way)
{
    int length = 0;

    for (int b = find_way(paths, from, ptx); b >= 0; b = paths->before[b]) {
        way[length++] = b;
        if (paths->before[b] == from)
            break;
    }
    return length;
}

/* Adds the lanes of a cell to the blocks through which they went. Parts that meet are one from a
 * BSYNC on. */
static void add_way(Paths *paths, int state, int ptx, const WalkCell *cell, PathCount *counts,
                    int *way)
{
    const int from = paths->places[state].block;
    bool met = false;
    Spot then;

    if (!has_home(paths, ptx) || stays(paths, &paths->places[state], ptx, &then))
        return;
    for (int i = way_to(paths, from, ptx, way) - 1; i >= 0; i--) {
        const int b = way[i];
        met |= !i || flow_begins_with_meeting(paths->lowering, b);
        counts[b].threads += (double) cell->lanes;
        counts[b].warps += (double) (cell->parts - (met ? cell->met : 0) - (i ? 0 : cell->joined));
        counts[b].is_doubtful |= !paths->has_homes[b] && can_avoid(paths, b, from, ptx);
    }
}

/* Copies of a PTX block for one round, and a block with copies for several: which of them a lane
 * takes depends on rounds to come. */
static bool is_clear(const Paths *paths, int block)
{
    for (int ptx = 0; ptx < paths->walk.block_count; ptx++) {
        int homes = 0;
        for (int b = 0; paths->repeats[ptx] && b < paths->lowering->block_count; b++)
            homes += share_at(paths, ptx, b)->copies > 0;
        if (homes > 1 && share_at(paths, ptx, block)->last)
            return false;
    }
    return true;
}

bool path_counts(const Launch *launch, PathCount *counts)
{
    Paths *paths = (Paths *) launch->walk;

    if (!paths || paths->walk.failed)
        return false;
    int *way = calloc((size_t) paths->lowering->block_count + 1, sizeof *way);
    if (!way)
        return false;
    for (int state = 0; state < paths->place_count; state++)
        for (int ptx = 0; paths->walk.cells[state] && ptx < paths->walk.block_count; ptx++)
            if (paths->walk.cells[state][ptx].lanes)
                add_way(paths, state, ptx, &paths->walk.cells[state][ptx], counts, way);
    const WalkCell *begin = paths->walk.cells[0];
    for (int ptx = 0; begin && ptx < paths->walk.block_count; ptx++) {
        counts[0].threads += ptx ? 0 : (double) begin[ptx].lanes;
        counts[0].warps += ptx ? 0 : (double) begin[ptx].parts;
    }
    for (int b = 0; b < paths->lowering->block_count; b++)
        counts[b].is_known =
            (paths->has_homes[b] || (counts[b].threads > 0 && !counts[b].is_doubtful)) &&
            is_clear(paths, b);
    free(way);
    return true;
}
