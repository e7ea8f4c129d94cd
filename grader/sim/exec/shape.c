/* shape.c - the address pattern of one access, and its cost on hardware.
 *
 * A step usually repeats one pattern at other addresses. The last pattern of each step is cached,
 * so that only 32 subtractions and comparisons remain. Sectors depend on the pattern and on its
 * offset within a 32-byte sector; bank conflicts depend on the pattern alone.
 */
#include "sim/exec/repeats.h"
#include "sim/exec/shape_vectors.h"
#include "sim/base/common.h"

#include <string.h>

enum { BANKS = 32, BANK_BYTES = 4, ROWS = 63 /* that passes_in_rows() takes, in any position */ };

static Shapes of_launches;
_Thread_local Shapes *thread_shapes = &of_launches;

/* ---- Distinct values ---- */

static bool is_aligned(const Shape *s)
{
    return !((s->low_bits | s->start) & (s->bytes - 1u));
}

static uint32_t first_by_hash(const int64_t value[LANES], uint32_t mask, uint32_t *followed)
{
    uint8_t slot[2 * LANES] = { 0 }; /* by hash: 1 + lane */
    uint32_t first = 0;

    *followed = 0;
    for (uint32_t left = mask; left; left &= left - 1) {
        int lane = first_lane(left);
        unsigned at = (unsigned) ((uint64_t) value[lane] * 0x9e3779b97f4a7c15ull >> 58);
        while (slot[at] && value[slot[at] - 1] != value[lane])
            at = (at + 1) % (2 * LANES);
        if (slot[at]) {
            *followed |= 1u << (slot[at] - 1);
        } else {
            slot[at] = (uint8_t) (lane + 1);
            first |= 1u << lane;
        }
    }
    return first;
}

/* The lanes whose value differs from the preceding lane's; 0: a value is less than that. */
WITH_VECTORS static uint32_t rises_at(const int64_t value[LANES])
{
    uint64_t rises = 1, falls = 0;

    for (int i = 1; i < LANES; i++) {
        rises |= (uint64_t) (value[i] != value[i - 1]) << i;
        falls |= (uint64_t) (value[i] < value[i - 1]);
    }
    return falls ? 0 : (uint32_t) rises;
}

/* The first lane with each value. `followed`: those whose value other lanes share. */
static uint32_t first_of_each(const int64_t value[LANES], uint32_t mask, uint32_t *followed)
{
    const uint32_t rises = mask == UINT32_MAX ? rises_at(value) : 0;

    if (rises) {
        *followed = rises & ~(rises >> 1) & UINT32_MAX >> 1;
        return rises;
    }
    return first_by_hash(value, mask, followed);
}

static bool is_row(const Shape *s)
{
    const int first = first_lane(s->leaders);
    uint32_t left = s->leaders >> first;

    for (int k = 0; left & 1; left >>= 1, k++)
        if (s->delta[first + k] != s->delta[first] + (uint64_t) (k * s->bytes))
            return false;
    return !left;
}

/* Whether `narrow` holds the differences between all lanes. */
static bool is_close(const Shape *s)
{
    return s->mask == UINT32_MAX && s->high - s->low <= INT32_MAX;
}

static void find_leaders(Shape *s)
{
    s->leaders = is_close(s) && has_shape_vectors()
                     ? first_of_narrow(s->narrow, &s->followed)
                     : first_of_each((const int64_t *) s->delta, s->mask, &s->followed);
    s->in_row = is_row(s);
    s->has_leaders = true;
}

void shape_find_leaders(const Shape *shape)
{
    find_leaders((Shape *) shape); /* shapes are constant except for what is found later */
}

/* ---- Global memory ---- */

/* The sector of a lane, relative to the first lane's. A lane's bytes are aligned, so they are in
 * one sector. */
static int64_t sector_of(const Shape *s, int lane)
{
    return ((int64_t) s->delta[lane] + s->start) >> 5;
}

/* Measured on an H200 (204 patterns, no exception): a request costs the distinct 32-byte sectors
 * that the whole warp touches, for any width of the lanes. Atomics run in passes, each with one
 * lane per address: pass p costs the sectors with an address that at least p lanes share. */
static int count_sectors(const Shape *s, uint32_t lanes)
{
    int64_t sector[LANES];
    uint32_t followed;

    if (s->uniform)
        return 1;
    if (s->line && lanes == s->mask && s->bytes <= SECTOR_BYTES)
        return (s->start + ((int) lanes_in(lanes) - 1) * s->bytes) / SECTOR_BYTES + 1;
    for (int i = 0; i < LANES; i++)
        sector[i] = sector_of(s, i);
    return (int) lanes_in(first_of_each(sector, lanes, &followed));
}

static int count_sharing(const Shape *s, int lane)
{
    int sharing = 0;

    if (!(s->followed >> lane & 1))
        return 1;

    for (uint32_t left = s->mask; left; left &= left - 1)
        sharing += s->delta[first_lane(left)] == s->delta[lane];
    return sharing;
}

static int count_atomic_sectors(const Shape *s)
{
    int sharing[LANES], most = 0, sectors = 0;

    for (uint32_t left = shape_leaders(s); left; left &= left - 1) {
        int lane = first_lane(left);
        sharing[lane] = count_sharing(s, lane);
        most = sharing[lane] > most ? sharing[lane] : most;
    }
    for (int pass = 1; pass <= most; pass++) {
        uint32_t lanes = 0;
        for (uint32_t left = s->leaders; left; left &= left - 1)
            lanes |= (uint32_t) (sharing[first_lane(left)] >= pass) << first_lane(left);
        sectors += count_sectors(s, lanes);
    }
    return sectors;
}

/* ---- Shared memory ---- */

/* True if each active lane's partner is inactive or has the same address. */
static bool partners_agree(const Shape *s, int distance)
{
    for (uint32_t left = s->mask; left; left &= left - 1) {
        int lane = first_lane(left), partner = lane ^ distance;
        if (s->mask >> partner & 1 && s->delta[partner] != s->delta[lane])
            return false;
    }
    return true;
}

/* The maximum number of distinct words in one bank, or with `each_lane` of lanes with a word in one
 * bank. Lanes of 4 or more bytes either use the same set of banks or disjoint sets; so units of a
 * lane's size are used instead of words, and `columns` of them instead of the 32 banks. */
static int passes_of(const Shape *s, uint32_t phase, int unit_bytes, bool each_lane)
{
    int columns = BANKS * BANK_BYTES / unit_bytes, most = 0;
    int64_t unit[LANES];
    int8_t last[BANKS], before[LANES]; /* lists of the lanes per column; -1: end */
    int in_column[BANKS] = { 0 };
    const int shift = __builtin_ctz((unsigned) unit_bytes);

    memset(last, -1, sizeof last);
    for (uint32_t left = phase; left; left &= left - 1) {
        int lane = first_lane(left);
        unit[lane] = ((int64_t) s->delta[lane] + s->start) >> shift;
        int column = (int) (unit[lane] & (columns - 1)), same = each_lane ? -1 : last[column];
        while (same >= 0 && unit[same] != unit[lane])
            same = before[same];
        if (same >= 0)
            continue;
        before[lane] = last[column];
        last[column] = (int8_t) lane;
        most = ++in_column[column] > most ? in_column[column] : most;
    }
    return most;
}

/* The maximum number of bits in one of the words. */
WITH_VECTORS static int most_bits(const uint64_t words[BANKS])
{
    uint64_t most = 0;

    for (int i = 0; i < BANKS; i++) {
        uint64_t x = words[i] - (words[i] >> 1 & 0x5555555555555555);
        x = (x & 0x3333333333333333) + (x >> 2 & 0x3333333333333333);
        x = (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0f;
        x = (x * 0x0101010101010101) >> 56;
        most = x > most ? x : most;
    }
    return (int) most;
}

/* Lanes per column, at most. */
static int most_lanes(const Shape *s, uint32_t phase, int unit_bytes)
{
    const int shift = __builtin_ctz((unsigned) unit_bytes);
    const unsigned columns = BANKS * BANK_BYTES / (unsigned) unit_bytes;
    uint8_t in_column[BANKS] = { 0 };
    int most = 0;

    for (uint32_t left = phase; left; left &= left - 1) {
        const int64_t at = (int64_t) s->delta[first_lane(left)] + s->start;
        const unsigned column = (unsigned) (at >> shift) & (columns - 1);
        const int count = ++in_column[column];
        most = count > most ? count : most;
    }
    return most;
}

/* Distinct words per column, at most: a bit for each row of the banks. */
static int most_words(const Shape *s, uint32_t phase, int unit_bytes)
{
    const int shift = __builtin_ctz((unsigned) unit_bytes);
    const unsigned columns = BANKS * BANK_BYTES / (unsigned) unit_bytes;
    const int to_row = __builtin_ctz(columns) + shift;
    const int64_t first_row = (s->low + s->start) >> to_row;
    uint64_t rows[BANKS] = { 0 };

    for (uint32_t left = phase; left; left &= left - 1) {
        const int64_t at = (int64_t) s->delta[first_lane(left)] + s->start;
        rows[(unsigned) (at >> shift) & (columns - 1)] |= 1ull << ((at >> to_row) - first_row);
    }
    return most_bits(rows);
}

/* Whether each lane of a full warp accesses a whole word, and vector code can tell which are the
 * same. */
static bool are_words(const Shape *s, int unit_bytes)
{
    return unit_bytes == BANK_BYTES && s->bytes == BANK_BYTES && is_aligned(s) && is_close(s) &&
           has_shape_vectors();
}

/* The same as passes_of(), for lanes within 64 rows of the banks. */
static int passes_in_rows(const Shape *s, uint32_t phase, int unit_bytes, bool each_lane)
{
    if (each_lane)
        return most_lanes(s, phase, unit_bytes);
    return are_words(s, unit_bytes) ? most_in_bank(s->narrow, shape_leaders(s))
                                    : most_words(s, phase, unit_bytes);
}

static int passes(const Shape *s, uint32_t phase, int unit_bytes, bool each_lane)
{
    if (s->high - s->low < ROWS * BANKS * BANK_BYTES)
        return passes_in_rows(s, phase, unit_bytes, each_lane);
    /* Lanes with whole words have the same word or none in common. */
    if (!each_lane && s->bytes == BANK_BYTES && is_aligned(s))
        return most_lanes(s, phase & shape_leaders(s), unit_bytes);
    return passes_of(s, phase, unit_bytes, each_lane);
}

/* Measured on an H200 (390 patterns: 4, 8 and 16 bytes per lane, loads and stores; no exception):
 *
 * The warp is cut into phases of 32 lanes (up to 4 bytes per lane), 16 (8 bytes) or 8 (16 bytes).
 * For loads only, pairs of neighbouring phases merge if each active lane n of the warp has the same
 * address as lane n^1, or each has the same as lane n^2; inactive lanes match every address. A
 * phase with an active lane then takes as many wavefronts as the maximum number of distinct 4-byte
 * words in one bank. Without conflicts each phase takes one.
 *
 * Atomics on integers take as many wavefronts as the maximum number of lanes in one bank, since
 * equal addresses are not merged (`each_lane`). A compare-and-swap takes twice that, and the
 * profiler counts half of the excess as conflicts. */
static void count_wavefronts(Shape *s, bool each_lane)
{
    int unit = s->bytes < BANK_BYTES ? BANK_BYTES : s->bytes;
    int phase_lanes = BANKS * BANK_BYTES / unit;

    if (s->kind == ACCESS_LOAD && unit > BANK_BYTES &&
        (partners_agree(s, 1) || partners_agree(s, 2)))
        phase_lanes *= 2;
    s->wavefronts = s->ideal = s->loop_loads = s->loop_ideal = 0;
    for (int first = 0; first < LANES; first += phase_lanes) {
        uint32_t lanes = phase_lanes == LANES ? UINT32_MAX : (1u << phase_lanes) - 1;
        uint32_t phase = s->mask & lanes << first;
        if (!phase)
            continue;
        s->wavefronts += passes(s, phase, unit, each_lane);
        s->ideal++;
    }
}

/* True if two lanes conflict in one round of the loop below: they have the same address, or use the
 * same bank in the same phase. */
static bool in_the_way(const Shape *s, int one, int other)
{
    int unit = s->bytes < BANK_BYTES ? BANK_BYTES : s->bytes, columns = BANKS * BANK_BYTES / unit;
    int shift = __builtin_ctz((unsigned) unit);
    uint64_t a = (s->delta[one] + s->start) >> shift, b = (s->delta[other] + s->start) >> shift;

    return a == b ||
           (one / columns == other / columns && (a & (columns - 1u)) == (b & (columns - 1u)));
}

static uint32_t winners_of(const Shape *s, uint32_t waiting)
{
    uint32_t winners = 0;

    for (uint32_t left = waiting; left; left &= left - 1) {
        int lane = first_lane(left);
        bool lost = false;
        for (uint32_t before = winners; before && !lost; before &= before - 1)
            lost = in_the_way(s, first_lane(before), lane);
        winners |= (uint32_t) !lost << lane;
    }
    return winners;
}

/* Some atomics on shared memory are loops of load, compute, compare-and-swap. Measured on an H200
 * (28 patterns of 4 and 8 bytes): in each round all waiting lanes load, one lane per bank
 * completes, and the swap takes 2 wavefronts per phase with a waiting lane, none of which counts as
 * a conflict. */
static void count_loop_wavefronts(Shape *s)
{
    Shape round = *s;

    s->wavefronts = s->loop_loads = s->loop_ideal = 0;
    while (round.mask) {
        s->rounds += round.mask != s->mask;
        s->round_lanes += round.mask != s->mask ? __builtin_popcount(round.mask) : 0;
        round.kind = ACCESS_ATOMIC; /* phases do not merge */
        count_wavefronts(&round, false);
        s->wavefronts += 2 * round.ideal;
        round.kind = ACCESS_LOAD;
        count_wavefronts(&round, false);
        s->loop_loads += round.wavefronts;
        s->loop_ideal += round.ideal;
        round.mask &= ~winners_of(s, round.mask);
    }
    s->ideal = s->wavefronts;
}

/* ---- The pattern ---- */

WITH_VECTORS static void find_extent(Shape *s)
{
    int64_t low = 0, high = 0;
    uint64_t any = 0, bent = 0; /* bent: not in a line */

    for (int i = 0; i < LANES; i++) {
        const int64_t delta = (int64_t) s->delta[i];
        low = delta < low ? delta : low;
        high = delta > high ? delta : high;
        bent |= (uint64_t) (delta ^ (int64_t) i * s->bytes);
        any |= s->delta[i];
        s->narrow[i] = (uint32_t) delta;
    }
    s->low = low;
    s->high = high;
    s->linear = s->mask == UINT32_MAX && !bent;
    s->low_bits = (uint8_t) any;
    s->uniform = !low && !high;
}

static bool is_line(const Shape *s)
{
    const int first = first_lane(s->mask);
    const uint32_t follow = s->mask >> first;
    bool line = !(follow & (follow + 1));

    for (int i = first; line && i < LANES && s->mask >> i & 1; i++)
        line = s->delta[i] == (uint64_t) (i - first) * s->bytes;
    return line;
}

void shape_find_eights(Shape *s)
{
    s->has_eights = true;
    s->in_eights = s->mask == UINT32_MAX && s->bytes == BANK_BYTES;
    s->eights_linear = 0;
    for (int i = 0; i < LANES && s->in_eights; i += EIGHT) {
        const uint64_t step = s->delta[i + 1] - s->delta[i];
        for (int k = 1; k < EIGHT; k++)
            s->in_eights &= s->delta[i + k] == s->delta[i] + (uint64_t) k * step;
        s->in_eights &= !step || step == s->bytes;
        s->eights_linear |= (uint8_t) ((step == s->bytes) << i / EIGHT);
    }
}

int shape_sectors(const Shape *shape, uint32_t lanes)
{
    Shape part = *shape;

    part.mask = lanes;
    part.has_leaders = part.linear = part.line = false;
    return part.kind == ACCESS_ATOMIC ? count_atomic_sectors(&part) : count_sectors(&part, lanes);
}

/* The start in a sector is enough: other sectors only rotate the banks. */
int shape_wavefronts(const Shape *shape)
{
    Shape as_shared;

    if (!shape->l1_wavefronts) {
        as_shared = *shape;
        count_wavefronts(&as_shared, false);
        ((Shape *) shape)->l1_wavefronts = as_shared.wavefronts; /* as in shape_find_leaders() */
    }
    return shape->l1_wavefronts;
}

/* ptxas emits a loop for atomics on shared memory that the hardware lacks: on floating-point
 * numbers, on halves of words, and on 64 bits except exchanges (observed for sm_80 and sm_90). */
static bool is_loop(const Step *step, int bytes)
{
    return type_is_float((PtxType) step->type) || bytes < BANK_BYTES ||
           (bytes == 8 && step->mod != MOD_exch && step->mod != MOD_cas);
}

static void work_out(Shape *s, const Step *step)
{
    s->deltas = ++thread_shapes->numbers;
    s->rounds = s->round_lanes = 0;
    s->l1_wavefronts = 0;
    s->has_leaders = false;
    s->room = 0;
    s->has_eights = false;
    find_extent(s);
    s->line = s->mask == UINT32_MAX ? s->linear : is_line(s);
    s->aligned = is_aligned(s);
    s->asked = (int) lanes_in(s->mask) * s->bytes;
    if (s->kind == ACCESS_ATOMIC && is_warp_reduced_for((Treatment) step->treatment, s->mask)) {
        s->sectors = s->wavefronts = s->ideal = 1;
        s->loop_loads = s->loop_ideal = 0;
    } else if (s->space == SPACE_SHARED) {
        if (s->kind == ACCESS_ATOMIC && is_loop(step, s->bytes))
            count_loop_wavefronts(s);
        else
            count_wavefronts(s, s->kind == ACCESS_ATOMIC && step->treatment != ADDRESS_REDUCED);
        if (s->kind == ACCESS_ATOMIC && step->mod == MOD_cas && !s->loop_loads) {
            s->ideal += s->wavefronts; /* the doubling does not count as conflicts */
            s->wavefronts *= 2;
        }
    } else {
        s->sectors = s->kind == ACCESS_ATOMIC ? count_atomic_sectors(s) : count_sectors(s, s->mask);
    }
}

void shape_move(Shape *s, uint8_t start)
{
    s->start = start;
    s->room = 0;
    s->l1_wavefronts = 0;
    s->aligned = is_aligned(s);
    s->sectors = count_sectors(s, s->mask);
}

/* Whether the addresses have the pattern `delta`; `mask`: all lanes. */
WITH_VECTORS static bool has_deltas(const uint64_t delta[LANES], uint64_t first,
                                    const uint64_t address[LANES])
{
    uint64_t differ = 0;

    for (int i = 0; i < LANES; i++)
        differ |= (address[i] - first) ^ delta[i];
    return !differ;
}

/* Fills in `delta`; false if it has not changed. */
WITH_VECTORS static bool take_deltas(Shape *s, uint32_t mask, uint64_t first,
                                     const uint64_t address[LANES])
{
    uint64_t differ = 0;

    for (int i = 0; i < LANES; i++) {
        uint64_t delta = (address[i] - first) & -(uint64_t) (mask >> i & 1);
        differ |= delta ^ s->delta[i];
        s->delta[i] = delta;
    }
    return differ;
}

const Shape *shape_of(const Step *step, Space space, AccessKind kind, uint32_t mask, int bytes,
                      const uint64_t address[LANES])
{
    Shape *s = shape_last_of(step, space, mask);
    uint64_t first = address[first_lane(mask)];
    unsigned unit = space != SPACE_SHARED ? SECTOR_BYTES : bytes < BANK_BYTES ? BANK_BYTES : bytes;
    uint8_t start = (uint8_t) (first % unit);

    const bool alike = s->step == step->number && s->mask == mask && s->bytes == bytes &&
                       s->kind == kind && s->space == space;
    const bool differ = mask != UINT32_MAX || !alike || !has_deltas(s->delta, first, address)
                            ? take_deltas(s, mask, first, address)
                            : false;
    if (alike && !differ && s->start == start)
        return s;
    repeats_end(s);
    if (alike && !differ && space != SPACE_SHARED && kind != ACCESS_ATOMIC) {
        shape_move(s, start);
        return s;
    }
    s->memory_changes = 0;
    s->step = step->number;
    s->mask = mask;
    s->start = start;
    s->bytes = (uint8_t) bytes;
    s->kind = (uint8_t) kind;
    s->space = (uint8_t) space;
    work_out(s, step);
    return s;
}
