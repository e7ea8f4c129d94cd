/* special.c - special registers: planes filled when a frame begins, and clocks. */
#include "sim/exec/code.h"
#include "sim/exec/ops/handlers.h"
#include "sim/exec/trace.h"

#include <string.h>

enum { COMPONENTS = 3 };

int special_bytes(Special special)
{
    switch (special) {
    case SPECIAL_GRIDID:
    case SPECIAL_CLOCK64:
    case SPECIAL_GLOBALTIMER:
        return 8;
    case SPECIAL_UNKNOWN:
        return 0;
    default:
        return 4;
    }
}

bool special_is_clock(Special special)
{
    return special == SPECIAL_CLOCK || special == SPECIAL_CLOCK_HI || special == SPECIAL_CLOCK64 ||
           special == SPECIAL_GLOBALTIMER || special == SPECIAL_GLOBALTIMER_LO ||
           special == SPECIAL_GLOBALTIMER_HI;
}

/* ---- Values ---- */

static uint32_t thread_component(const Warp *warp, int lane, int component)
{
    const int *size = warp->block->launch->block;
    int thread = warp->number * LANES + lane;

    if (component == 0)
        return (uint32_t) (thread % size[0]);
    return (uint32_t) (component == 1 ? thread / size[0] % size[1] : thread / size[0] / size[1]);
}

static uint32_t lanemask(Special special, int lane)
{
    uint32_t eq = 1u << lane, lt = eq - 1;

    switch (special) {
    case SPECIAL_LANEMASK_EQ:
        return eq;
    case SPECIAL_LANEMASK_LE:
        return lt | eq;
    case SPECIAL_LANEMASK_LT:
        return lt;
    case SPECIAL_LANEMASK_GE:
        return ~lt;
    default:
        return ~(lt | eq);
    }
}

/* Without modelled time a warp instruction counts as one cycle and as one nanosecond. */
static uint64_t clock_value(const Warp *warp, Special special)
{
    const bool high = special == SPECIAL_CLOCK_HI || special == SPECIAL_GLOBALTIMER_HI;
    const bool timer = special == SPECIAL_GLOBALTIMER || special == SPECIAL_GLOBALTIMER_LO ||
                       special == SPECIAL_GLOBALTIMER_HI;
    const uint64_t value = timer ? warp->read_ns : warp->read_cycles;

    return high ? value >> 32 : value;
}

/* Blocks of the launch without clusters are clusters of one block. */
static uint64_t cluster_value(const Block *block, Special special, int component)
{
    const Launch *launch = block->launch;
    const int size = launch->cluster[component] ? launch->cluster[component] : 1;

    switch (special) {
    case SPECIAL_CLUSTERID:
        return (uint64_t) (block->id[component] / size);
    case SPECIAL_NCLUSTERID:
        return (uint64_t) (launch->grid[component] / size);
    case SPECIAL_CLUSTER_CTAID:
        return (uint64_t) (block->id[component] % size);
    case SPECIAL_CLUSTER_NCTAID:
        return (uint64_t) size;
    case SPECIAL_CLUSTER_CTARANK:
        return (uint64_t) block->rank;
    default:
        return block->cluster ? (uint64_t) block->cluster->count : 1;
    }
}

static uint64_t value_in_block(const Warp *warp, Special special, int component)
{
    const Block *block = warp->block;
    const Launch *launch = block->launch;

    switch (special) {
    case SPECIAL_NTID:
        return (uint64_t) launch->block[component];
    case SPECIAL_CTAID:
        return (uint64_t) block->id[component];
    case SPECIAL_NCTAID:
        return (uint64_t) launch->grid[component];
    case SPECIAL_WARPID:
        return (uint64_t) warp->number;
    case SPECIAL_NWARPID:
        return WARPS_A_BLOCK * 2;
    case SPECIAL_SMID:
        return launch->sms > 0 ? (uint64_t) (block->number % launch->sms) : 0;
    case SPECIAL_NSMID:
        return launch->sms > 0 ? (uint64_t) launch->sms : 1;
    case SPECIAL_CLUSTERID:
    case SPECIAL_NCLUSTERID:
    case SPECIAL_CLUSTER_CTAID:
    case SPECIAL_CLUSTER_NCTAID:
    case SPECIAL_CLUSTER_CTARANK:
    case SPECIAL_CLUSTER_NCTARANK:
        return cluster_value(block, special, component);
    case SPECIAL_ENVREG:
        return launch->envreg[component];
    case SPECIAL_DYNAMIC_SMEM_SIZE:
        return launch->dynamic_shared_bytes;
    case SPECIAL_TOTAL_SMEM_SIZE:
        return launch->shared_bytes - (launch->kernel->uses_reserved ? RESERVED_SHARED : 0);
    case SPECIAL_RESERVED_SMEM:
        return launch->shared_bytes - RESERVED_SHARED;
    default:
        return special_is_clock(special) ? clock_value(warp, special) : 0;
    }
}

static bool is_lanemask(Special special)
{
    return special == SPECIAL_LANEMASK_EQ || special == SPECIAL_LANEMASK_LE ||
           special == SPECIAL_LANEMASK_LT || special == SPECIAL_LANEMASK_GE ||
           special == SPECIAL_LANEMASK_GT;
}

static bool differs_by_lane(Special special)
{
    return special == SPECIAL_TID || special == SPECIAL_LANEID || is_lanemask(special);
}

static uint32_t value_of_lane(const Warp *warp, Special special, int component, int lane)
{
    if (special == SPECIAL_TID)
        return thread_component(warp, lane, component);
    return special == SPECIAL_LANEID ? (uint32_t) lane : lanemask(special, lane);
}

/* ---- Planes ---- */

static void fill_alike(uint8_t *at, int bytes, uint64_t value)
{
    Lane64 *wide = (Lane64 *) at;
    Lane32 *narrow = (Lane32 *) at;

    for (int i = 0; i < LANES; i++)
        if (bytes == 8)
            wide[i] = value;
        else
            narrow[i] = (uint32_t) value;
}

static void fill_plane(const Warp *warp, uint8_t *at, Special special, int component)
{
    Lane32 *lanes = (Lane32 *) at;

    if (!differs_by_lane(special)) {
        fill_alike(at, special_bytes(special), value_in_block(warp, special, component));
        return;
    }
    for (int i = 0; i < LANES; i++)
        lanes[i] = value_of_lane(warp, special, component, i);
}

/* The addresses of local variables begin at the frame's base. */
static void fill_local(const Warp *warp, const Code *code, uint8_t *registers)
{
    for (int i = 0; i < code->module->variable_count; i++) {
        if (code->local_plane[i] < 0)
            continue;
        uint8_t *at = registers + (size_t) code->local_plane[i] * PLANE;
        uint64_t address = (uint64_t) (warp->local_base + code->variable_offset[i]);
        for (int lane = 0; lane < LANES; lane++)
            memcpy(at + lane * 8, &address, 8);
    }
}

static void fill_special(const Warp *warp, const Code *code, uint8_t *registers, int i)
{
    if (code->special_plane[i] >= 0)
        fill_plane(warp, registers + (size_t) code->special_plane[i] * PLANE,
                   (Special) (i / COMPONENTS), i % COMPONENTS);
}

void special_fill(Warp *warp, const Code *code, uint8_t *registers)
{
    for (int i = 0; i < SPECIAL_UNKNOWN * COMPONENTS; i++)
        fill_special(warp, code, registers, i);
    if (code->local_plane)
        fill_local(warp, code, registers);
}

static void list_special(Code *code, int i)
{
    if (code->special_plane[i] >= 0)
        code->block_specials[code->block_special_count++] = i;
}

void special_list(Code *code)
{
    for (int i = 0; i < COMPONENTS; i++)
        list_special(code, SPECIAL_CTAID * COMPONENTS + i);
    list_special(code, SPECIAL_SMID * COMPONENTS);
    for (int i = SPECIAL_CLUSTERID * COMPONENTS; i < (SPECIAL_CLUSTER_NCTARANK + 1) * COMPONENTS;
         i++)
        list_special(code, i);
}
_Static_assert((SPECIAL_CLUSTER_NCTARANK + 1 - SPECIAL_CLUSTERID + 1) * COMPONENTS + 1 <=
                   MOST_BLOCK_SPECIALS,
               "block_specials has room for all");

void special_of_block(Block *block)
{
    const Code *code = block->launch->kernel;

    for (int i = 0; i < code->block_special_count; i++)
        block->specials[i] =
            value_in_block(block->warps, (Special) (code->block_specials[i] / COMPONENTS),
                           code->block_specials[i] % COMPONENTS);
}

/* All of them have 4 bytes per lane. */
void special_fill_block(Warp *warp)
{
    const Code *code = warp->code;

    for (int i = 0; i < code->block_special_count; i++)
        fill_alike(warp->registers + (size_t) code->special_plane[code->block_specials[i]] * PLANE,
                   4, warp->block->specials[i]);
}

void run_clock(Warp *warp, const Step *step, uint32_t mask)
{
    Launch *launch = warp->block->launch;

    warp->read_cycles = warp->read_ns = launch->clock;
    if (warp->trace)
        trace_settle(warp);
    if (launch->read_clock)
        launch->read_clock(warp, &warp->read_cycles, &warp->read_ns);
    for (int i = 0; i < SPECIAL_UNKNOWN; i++)
        if (special_is_clock((Special) i))
            fill_special(warp, warp->code, warp->registers, i * COMPONENTS);
    warp->sleeps++;
    step->inner(warp, step, mask);
}
