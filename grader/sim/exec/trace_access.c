/* trace_access.c - records the lines, wavefronts and updates of a warp's accesses, for the time
 * model.
 */
#include "sim/base/common.h"
#include "sim/exec/trace.h"

enum { WORD_BYTES = 4 };

/* ---- Accesses ---- */

/* The lines that the lanes of an access touch, in lane order. */
typedef struct TouchedLines {
    int count;
    uint64_t line[2 * LANES];
    uint8_t sectors[2 * LANES];
    uint16_t bytes[2 * LANES];
    uint32_t words[2 * LANES]; /* of local memory */
} TouchedLines;

static int place_of(TouchedLines *lines, uint64_t line, bool may_be_there)
{
    for (int i = lines->count - 1; may_be_there && i >= 0; i--)
        if (lines->line[i] == line)
            return i;
    lines->line[lines->count] = line;
    lines->sectors[lines->count] = 0;
    lines->words[lines->count] = 0;
    lines->bytes[lines->count] = 0;
    return lines->count++;
}

/* Addresses are relative to the start of GPU memory. Host memory has a different address in each
 * run, so the allocation's number replaces it. */
static uint64_t origin_of(const Allocation *a)
{
    const uint64_t number = (uint64_t) (a->number & 0xfff) << 34;

    if (a->on_host)
        return a->base - (number | TRACE_HOST_LINES * LINE_BYTES);
    if (a->kind == MANAGED)
        return a->base - (number | TRACE_HOST_LINES / 2 * LINE_BYTES);
    return memory_base();
}

/* The frequent case: consecutive addresses in all lanes. */
static void find_linear_lines(const Access *x, TouchedLines *lines)
{
    const uint64_t begin = x->address[0] - origin_of(x->allocation);
    const uint64_t end = begin + (uint64_t) (LANES * x->bytes);

    lines->count = 0;
    for (uint64_t at = begin; at < end; at = (at / LINE_BYTES + 1) * LINE_BYTES) {
        const uint64_t line = at / LINE_BYTES, next = (line + 1) * LINE_BYTES;
        const uint64_t last = (next < end ? next : end) - 1;
        const unsigned first_sector = at % LINE_BYTES / SECTOR_BYTES;
        const unsigned last_sector = last % LINE_BYTES / SECTOR_BYTES;
        lines->line[lines->count] = line;
        lines->sectors[lines->count] = (uint8_t) ((2u << last_sector) - (1u << first_sector));
        lines->bytes[lines->count++] = (uint16_t) (last + 1 - at);
    }
}

/* All lanes have the same address. */
static void find_one_line(const Access *x, TouchedLines *lines)
{
    const uint64_t at = x->address[first_lane(x->mask)] - origin_of(x->allocation);
    const unsigned first = at % LINE_BYTES / SECTOR_BYTES;
    const unsigned end = (unsigned) (at % LINE_BYTES + (uint64_t) x->bytes - 1) / SECTOR_BYTES;

    lines->count = 1;
    lines->line[0] = at / LINE_BYTES;
    lines->sectors[0] = (uint8_t) ((2u << end) - (1u << first));
    lines->bytes[0] = (uint16_t) ((int) lanes_in(x->mask) * x->bytes);
}

static void find_lines(const Access *x, TouchedLines *lines)
{
    const uint64_t origin = x->allocation ? origin_of(x->allocation) : 0;
    const int bytes = x->bytes;
    uint64_t highest = 0;
    int last = -1;

    lines->count = 0;
    for (uint32_t left = x->mask; left; left &= left - 1) {
        const int lane = first_lane(left);
        const uint64_t at = x->address[lane] - (x->allocation ? origin : origin_of(x->of[lane]));
        const uint64_t line = at / LINE_BYTES;
        const unsigned first = at % LINE_BYTES / SECTOR_BYTES;
        const unsigned end = (unsigned) (at % LINE_BYTES + (uint64_t) bytes - 1) / SECTOR_BYTES;
        if (last < 0 || lines->line[last] != line)
            last = place_of(lines, line, last >= 0 && line <= highest);
        highest = line > highest ? line : highest;
        lines->sectors[last] |= (uint8_t) ((2u << end) - (1u << first));
        lines->bytes[last] = (uint16_t) (lines->bytes[last] + bytes);
    }
}

/* Local memory is interleaved: the same word of all 32 lanes forms a line, so lanes with the same
 * index share it. `word`: which word of the access. There are places for as many blocks as the GPU
 * holds at once, which later blocks reuse. */
static void find_local_lines(const Access *x, int word, TouchedLines *lines)
{
    const Block *block = x->warp->block;
    const Launch *launch = block->launch;
    const uint64_t resident = launch->resident > 0 ? (uint64_t) launch->resident : 1;
    const uint64_t warp = (uint64_t) block->number % resident * (uint64_t) block->warp_count +
                          (uint64_t) x->warp->number;
    const uint64_t first =
        TRACE_LOCAL_LINES | warp * ((uint64_t) launch->local_bytes / WORD_BYTES + 1);

    lines->count = 0;
    for (uint32_t left = x->mask; left; left &= left - 1) {
        const int lane = first_lane(left);
        const int at = place_of(lines, first + x->address[lane] / WORD_BYTES + (uint64_t) word,
                                lines->count > 0);
        lines->sectors[at] |= (uint8_t) (1u << lane * WORD_BYTES / SECTOR_BYTES);
        lines->words[at] |= 1u << lane;
        lines->bytes[at] = LINE_BYTES; /* merged in the L1, so no sector is read to fill the line */
    }
}

/* ---- Atomics ---- */

static unsigned lanes_at(const Access *x, uint64_t address)
{
    unsigned same = 0;

    for (uint32_t left = x->mask; left; left &= left - 1)
        same += x->address[first_lane(left)] == address;
    return same;
}

/* Passes over a line's sectors: `most` is the number of updates to the most frequent address of
 * each, `addresses` the number of addresses. If there are several, an H200 needs 1.2 ns for a pass
 * of compare-and-swap, and otherwise 0.73 as for any other update (tests/sim/time/mechanisms,
 * cas_u32.lanes). */
static int passes_of(const uint8_t most[SECTORS], const uint8_t addresses[SECTORS], bool swaps)
{
    int passes = 0, slow = 0;

    for (int k = 0; k < SECTORS; k++)
        *(swaps && addresses[k] > 1 ? &slow : &passes) += most[k];
    passes += (5 * slow + 1) / 3;
    return passes ? passes : 1;
}

/* For each line: the number of updates to its most frequent address, and the passes over its
 * sectors. Updates of one address that ptxas or the hardware combines are one.
 *
 * Returns the cycles that an SM takes to send them. A line is sent in rounds, each with at most one
 * update per address; a round takes a cycle per sector, and one more if it updates several
 * addresses (tests/sim/time/mechanisms, red_or.sweep and red_u32.sm). */
static int count_updates(const Access *x, const TouchedLines *lines, uint8_t *busiest,
                         uint8_t *passes)
{
    const Treatment treatment = (Treatment) x->step->treatment;
    const bool combined = is_warp_reduced_for(treatment, x->mask) || treatment == ADDRESS_REDUCED;
    uint8_t most[2 * LANES][SECTORS] = { { 0 } }, addresses[2 * LANES][SECTORS] = { { 0 } };
    int cycles = 0;

    for (uint32_t leaders = shape_leaders(x->shape) & x->mask; leaders; leaders &= leaders - 1) {
        const int lane = first_lane(leaders);
        const Allocation *a = x->allocation ? x->allocation : x->of[lane];
        const uint64_t at = x->address[lane] - origin_of(a);
        const bool followed = shape_followed(x->shape) >> lane & 1;
        const unsigned same = followed && !combined ? lanes_at(x, x->address[lane]) : 1;
        const int sector = (int) (at % LINE_BYTES / SECTOR_BYTES);
        int line = 0;
        for (int i = 0; i < lines->count; i++)
            line = lines->line[i] == at / LINE_BYTES ? i : line;
        addresses[line][sector]++;
        if (same > most[line][sector])
            most[line][sector] = (uint8_t) same;
    }
    for (int i = 0; i < lines->count; i++) {
        int all = 0;
        busiest[i] = 1;
        for (int k = 0; k < SECTORS; k++) {
            busiest[i] = busiest[i] > most[i][k] ? busiest[i] : most[i][k];
            all += addresses[i][k];
        }
        passes[i] = (uint8_t) passes_of(most[i], addresses[i], x->step->mod == MOD_cas);
        cycles += passes[i] + (all > 1 ? busiest[i] : 0);
    }
    return cycles;
}

/* ---- Lines ---- */

/* The bytes written to each of the line's sectors. */
static unsigned bytes_of(const TouchedLines *lines, int i)
{
    unsigned bytes = lines->bytes[i] / sectors_in(lines->sectors[i]);

    return bytes < SECTOR_BYTES ? bytes : SECTOR_BYTES;
}

/* The cycles in which the L1's banks deliver the words of a load. */
static int banks_of(const Access *x)
{
    if (x->linear)
        return x->bytes > WORD_BYTES ? x->bytes / WORD_BYTES : 1;
    return x->uniform ? 1 : shape_wavefronts(x->shape);
}

static bool has_room(const Warp *warp, int words)
{
    Trace *trace = warp->trace;

    trace_ask(trace->words + trace->word_count);
    if (trace->word_count + words <= trace->word_room ||
        trace_make_room(trace, 0, trace->word_count + words))
        return true;
    warp->block->trace->incomplete = true;
    return false;
}

static void put(Trace *trace, uint64_t word)
{
    trace->words[trace->word_count++] = word;
}

static TraceKind kind_of(const Access *x)
{
    if (x->space == SPACE_LOCAL)
        return x->kind == ACCESS_LOAD ? TRACE_LOAD : TRACE_LOCAL_STORE;
    if (x->kind != ACCESS_ATOMIC)
        return x->kind == ACCESS_LOAD ? TRACE_LOAD : TRACE_STORE;
    return type_is_float(x->step->in->types[0]) ? TRACE_ATOMIC : TRACE_INTEGER_ATOMIC;
}

/* The words of the line that the lanes request, one bit each. */
static uint32_t words_of(const Access *x, uint64_t line)
{
    uint32_t words = 0;

    for (uint32_t left = x->mask; left; left &= left - 1) {
        const int lane = first_lane(left);
        const Allocation *a = x->allocation ? x->allocation : x->of[lane];
        const uint64_t at = x->address[lane] - origin_of(a);
        const unsigned first = at % LINE_BYTES / WORD_BYTES;
        const unsigned end = (unsigned) (at % LINE_BYTES + (uint64_t) x->bytes - 1) / WORD_BYTES;
        if (at / LINE_BYTES == line)
            words |= (uint32_t) ((2ull << end) - (1ull << first));
    }
    return words;
}

/* The sectors of a line of local memory that its lanes do not write as a whole, one bit each. */
static unsigned parts_of(const Access *x, const TouchedLines *lines, int at)
{
    const uint32_t whole = (1u << SECTOR_BYTES / WORD_BYTES) - 1;
    unsigned parts = lines->sectors[at];

    for (int i = 0; i < SECTORS && x->bytes >= WORD_BYTES; i++)
        if ((lines->words[at] >> i * (SECTOR_BYTES / WORD_BYTES) & whole) == whole)
            parts &= ~(1u << i);
    return parts;
}

static uint64_t stored_line(const Access *x, const TouchedLines *lines, int at)
{
    return trace_line(lines->line[at], lines->sectors[at], bytes_of(lines, at),
                      x->space == SPACE_LOCAL ? parts_of(x, lines, at) : 0);
}

static bool put_lines(const Access *x, Trace *trace, const TouchedLines *lines)
{
    const bool by_words = x->warp->block->launch->trace_words;
    const bool reads = x->kind == ACCESS_LOAD && x->space != SPACE_LOCAL;
    const int following = by_words ? 2 * lines->count : lines->count;
    uint8_t busiest[2 * LANES], passes[2 * LANES];
    int wavefronts = 1;

    if (!has_room(x->warp, 1 + following))
        return false;
    if (x->kind == ACCESS_ATOMIC)
        wavefronts = count_updates(x, lines, busiest, passes);
    if (reads)
        wavefronts = banks_of(x);
    trace->words[trace->word_count++] = trace_head(kind_of(x), following, wavefronts, 0);
    for (int i = 0; i < lines->count; i++) {
        trace->words[trace->word_count++] =
            x->kind == ACCESS_ATOMIC
                ? trace_line(lines->line[i], lines->sectors[i], busiest[i], passes[i])
            : x->kind == ACCESS_STORE ? stored_line(x, lines, i)
                                      : trace_line(lines->line[i], lines->sectors[i], 0, 0);
        if (by_words)
            trace->words[trace->word_count++] =
                x->space == SPACE_LOCAL ? lines->words[i] : words_of(x, lines->line[i]);
    }
    trace->runs[trace->run_count - 1].accesses++;
    return true;
}

static bool keep_lines(const Access *x, Trace *trace)
{
    TouchedLines lines;

    if (x->linear && x->allocation)
        find_linear_lines(x, &lines);
    else if (x->uniform && x->allocation)
        find_one_line(x, &lines);
    else
        find_lines(x, &lines);
    return put_lines(x, trace, &lines);
}

static bool keep_local(const Access *x, Trace *trace)
{
    TouchedLines lines;

    for (int word = 0; word * WORD_BYTES < x->bytes; word++) {
        find_local_lines(x, word, &lines);
        if (!put_lines(x, trace, &lines))
            return false;
    }
    return true;
}

static bool keep_wavefronts(const Warp *warp, const Shape *shape)
{
    if (!has_room(warp, 1))
        return false;
    const int wavefronts = shape->wavefronts + shape->loop_loads;
    put(warp->trace, trace_head(TRACE_SHARED, 0, wavefronts, shape->ideal + shape->loop_ideal));
    warp->trace->wavefronts += (uint64_t) wavefronts;
    warp->trace->runs[warp->trace->run_count - 1].accesses++;
    return true;
}

/* Whether an earlier lane has the same address. */
static bool is_repeated(const Access *x, int lane)
{
    for (uint32_t before = x->mask & ((1u << lane) - 1); before; before &= before - 1)
        if (x->address[first_lane(before)] == x->address[lane])
            return true;
    return false;
}

/* Lanes that do not change the word succeed together: of those that look for a maximum, most. */
static unsigned updates_at(const Access *x, uint64_t address)
{
    const int mod = x->step->mod;
    const bool changes = mod != MOD_min && mod != MOD_max && mod != MOD_and && mod != MOD_or;

    return changes ? lanes_at(x, address) : 1;
}

/* An atomic that is a loop: a word for each address follows. */
static bool keep_updates(const Access *x, Trace *trace)
{
    const int head = trace->word_count;
    int count = 0;

    if (!has_room(x->warp, 1 + LANES) || !keep_wavefronts(x->warp, x->shape))
        return false;
    for (uint32_t left = x->mask; left; left &= left - 1) {
        const int lane = first_lane(left);
        if (is_repeated(x, lane))
            continue;
        put(trace,
            trace_line(x->address[lane] / WORD_BYTES, 0, updates_at(x, x->address[lane]), 0));
        count++;
    }
    trace->words[head] |= (uint64_t) count << 8;
    return true;
}

/* The number of different addresses. */
static int addresses_of(const Access *x)
{
    int count = 0;

    for (uint32_t left = x->mask; left; left &= left - 1)
        count += !is_repeated(x, first_lane(left));
    return count;
}

/* The pieces of constant memory that lanes read, without repetitions. */
static int find_pieces(const Access *x, uint64_t pieces[LANES])
{
    int count = 0;

    for (uint32_t left = x->mask; left; left &= left - 1) {
        const Allocation *a = x->allocation;
        const uint64_t at = x->address[first_lane(left)] - (a ? origin_of(a) : 0);
        int i = count - 1;
        while (i >= 0 && pieces[i] != at / CONSTANT_BYTES)
            i--;
        if (i < 0)
            pieces[count++] = at / CONSTANT_BYTES;
    }
    return count;
}

/* Whether the address is fixed in the code: ptxas makes such a constant an operand. */
static bool is_operand(const Access *x)
{
    const Operand *address = &x->warp->code->function->operands[x->step->in->first + 1];

    return address->kind == OPERAND_ADDRESS && !address->is_register;
}

static bool keep_constants(const Access *x, Trace *trace)
{
    const int addresses = x->uniform ? 1 : addresses_of(x);
    uint64_t pieces[LANES];

    if (is_operand(x))
        return false;
    const int count = find_pieces(x, pieces);
    if (!has_room(x->warp, 1 + count))
        return false;
    put(trace, trace_head(TRACE_SHARED, count, addresses, 1));
    for (int i = 0; i < count; i++)
        put(trace, pieces[i]);
    trace->runs[trace->run_count - 1].accesses++;
    return true;
}

static bool keep_access(const Access *x, Trace *trace)
{
    switch (x->space) {
    case SPACE_GLOBAL:
        return keep_lines(x, trace);
    case SPACE_SHARED:
        return x->kind == ACCESS_ATOMIC && x->shape->loop_loads
                   ? keep_updates(x, trace)
                   : keep_wavefronts(x->warp, x->shape);
    case SPACE_LOCAL:
        return keep_local(x, trace);
    case SPACE_CONST:
        return keep_constants(x, trace);
    default:
        return false;
    }
}

void trace_access(const Access *x)
{
    Trace *trace = x->warp->trace;

    trace_settle(x->warp);
    if (trace->run_count && keep_access(x, trace))
        trace->code = NULL; /* the next step begins a run */
}

void trace_long_way(Warp *warp)
{
    Trace *trace = warp->trace;

    trace_settle(warp);
    if (!trace->run_count || !has_room(warp, 1))
        return;
    put(trace, trace_head(TRACE_LONG_WAY, 0, 1, 1));
    trace->runs[trace->run_count - 1].accesses++;
    trace->code = NULL; /* the next step begins a run */
}

/* ---- Accesses that repeat ---- */

/* The part of a warp's consecutive words, or of its only word, that is in the line of `begin`. */
static uint64_t part_of_line(uint64_t begin, uint64_t end, bool is_store, bool is_one)
{
    const uint64_t line = begin / LINE_BYTES, next = (line + 1) * LINE_BYTES;
    const uint64_t last = (end < next ? end : next) - 1;
    const unsigned first_sector = begin % LINE_BYTES / SECTOR_BYTES;
    const unsigned last_sector = last % LINE_BYTES / SECTOR_BYTES;
    const unsigned bytes = (unsigned) (last + 1 - begin) / (last_sector - first_sector + 1);

    return trace_line(line, (2u << last_sector) - (1u << first_sector),
                      !is_store                        ? 0
                      : is_one || bytes > SECTOR_BYTES ? SECTOR_BYTES
                                                       : bytes,
                      0);
}

static bool keep_row(const Warp *warp, const Shape *s, uint64_t first)
{
    enum { MOST = 2 }; /* lines */
    const uint64_t begin = first - origin_of(s->allocation);
    const uint64_t end = begin + (uint64_t) (s->uniform ? s->bytes : LANES * s->bytes);
    const bool is_store = s->kind == ACCESS_STORE;
    const int lines = (int) ((end - 1) / LINE_BYTES - begin / LINE_BYTES) + 1;
    const int wavefronts =
        is_store || s->bytes <= WORD_BYTES || s->uniform ? 1 : s->bytes / WORD_BYTES;
    Trace *trace = warp->trace;

    if (lines > MOST || !has_room(warp, 1 + lines))
        return false;
    put(trace, trace_head(is_store ? TRACE_STORE : TRACE_LOAD, lines, wavefronts, 0));
    put(trace, part_of_line(begin, end, is_store, s->uniform));
    if (lines > 1)
        put(trace, part_of_line((end - 1) / LINE_BYTES * LINE_BYTES, end, is_store, s->uniform));
    trace->runs[trace->run_count - 1].accesses++;
    return true;
}

bool trace_again(Warp *warp, const Shape *shape, uint64_t first)
{
    Trace *trace = warp->trace;

    trace_settle(warp);
    if (!trace->run_count || warp->block->launch->trace_words)
        return false;
    if (shape->space == SPACE_SHARED
            ? !keep_wavefronts(warp, shape)
            : !(shape->linear || shape->uniform) || !keep_row(warp, shape, first))
        return false;
    trace->code = NULL; /* the next step begins a run */
    return true;
}
