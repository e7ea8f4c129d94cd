/* sim_world.h - for tests: a block of two warps and its kernel, as the executor would make them,
 * with handmade steps. */
#ifndef SIM_SIM_WORLD_H
#define SIM_SIM_WORLD_H

#include "sim/check/check.h"
#include "sim/check/race.h"
#include "sim/base/bits.h"
#include "rows.h"

#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ALL 0xffffffffu

enum { WARPS = 2, STEPS = 64, PLANES = 40, CONSTANTS = 64, SHARED_BYTES = 20480, LOCAL_BYTES = 64 };

static struct World {
    Module module;
    char *files[2];
    Function function;
    Code code;
    Launch launch;
    Block block;
    Warp warps[WARPS];
    Instruction in[STEPS];
    Step steps[STEPS];
    Count counts[STEPS];
    int step_count;
    uint64_t planes[WARPS][PLANES * LANES / 2];
    uint64_t constants[CONSTANTS * LANES / 2];
    uint8_t shared[SHARED_BYTES], shared_written[SHARED_BYTES / 8 + 8];
    uint8_t local[WARPS][LANES * LOCAL_BYTES];
    uint8_t call_params[WARPS][LANES * 32];
    uint8_t params[32];
    Entry entries[WARPS][4];
    Allocation *array, *other;
} w;

/* Planes used by the tests; a 64-bit value takes two. */
enum { ADDRESS = 0, VALUE = 2, RESULT = 12, OPERAND = 24, OPERAND2 = 26, SOURCE = 28, SIZE = 30 };

static inline void set_warp(int i)
{
    w.warps[i] = (Warp){ .code = &w.code,
                         .registers = (uint8_t *) w.planes[i],
                         .params = w.call_params[i],
                         .active = ALL,
                         .alive = ALL,
                         .block = &w.block,
                         .number = i,
                         .counts = w.counts,
                         .observed = true,
                         .stack = w.entries[i],
                         .depth = 1,
                         .stack_room = 4,
                         .local = w.local[i] };
    w.entries[i][0] = (Entry){ .rpc = STEPS, .mask = ALL };
}

/* A launch of one kernel; memory with two arrays of 4000 and 400 bytes. */
static inline void new_world(bool races, bool uninitialised)
{
    char why[200];

    memset(&w, 0, sizeof w);
    finding_reset();
    finding_quiet(true);
    CU_ASSERT_FATAL(memory_open(1 << 26, uninitialised, why, sizeof why));
    w.array = memory_allocate(4000, ALLOCATED, NULL);
    w.other = memory_allocate(400, ALLOCATED, NULL);
    w.files[1] = "kernel.cu";
    w.module = (Module){ .files = w.files, .file_count = 2 };
    w.function = (Function){ .is_entry = true, .instructions = w.in, .instruction_count = STEPS };
    w.code = (Code){ .module = &w.module,
                     .function = &w.function,
                     .steps = w.steps,
                     .step_count = STEPS,
                     .planes = PLANES,
                     .constants = (uint8_t *) w.constants,
                     .constant_count = CONSTANTS,
                     .param_bytes = 32,
                     .local_bytes = LOCAL_BYTES };
    w.launch = (Launch){ .observers = { &check_observer },
                         .watched = true,
                         .module = &w.module,
                         .kernel = &w.code,
                         .name = "kernel",
                         .grid = { 4, 1, 1 },
                         .block = { WARPS * LANES, 1, 1 },
                         .shared_bytes = SHARED_BYTES,
                         .params = w.params,
                         .param_bytes = sizeof w.params,
                         .local_bytes = LOCAL_BYTES,
                         .check_races = races,
                         .check_uninitialised = uninitialised,
                         .counts = w.counts,
                         .sms = 1 };
    w.block = (Block){ .launch = &w.launch,
                       .warps = w.warps,
                       .warp_count = WARPS,
                       .thread_count = WARPS * LANES,
                       .check_races = races,
                       .shared = w.shared,
                       .shared_bytes = SHARED_BYTES,
                       .shared_written = uninitialised ? w.shared_written : NULL };
    for (int i = 0; i < WARPS; i++)
        set_warp(i);
    race_launch_begin(&w.launch);
}

static inline void end_world(void)
{
    for (int i = 0; i < WARPS; i++)
        async_end(&w.warps[i]);
    race_block_end(&w.block);
    race_launch_end(&w.launch);
    free(w.launch.arrays);
    memory_close();
    finding_reset();
}

/* Another block of the same launch, or the same block after its barriers. */
static inline void go_to_block(int number)
{
    race_block_end(&w.block);
    w.block.id[0] = number;
    w.block.number = number;
    w.block.epoch = 0;
}

/* An instruction of line 1, 2, ... with the address in ADDRESS, its data in VALUE or RESULT. */
static inline Step *new_step(Op op, Space space, PtxType type, int vector)
{
    Instruction *in = &w.in[w.step_count];
    Step *step = &w.steps[w.step_count++];

    *in = (Instruction){ .op = op,
                         .space = space,
                         .types = { type },
                         .type_count = 1,
                         .vector = vector,
                         .guard = -1,
                         .count = 2,
                         .file = 1,
                         .charged_file = 1,
                         .line = w.step_count,
                         .charged_line = w.step_count,
                         .text = { "op", 2 } };
    static uint32_t numbers = 1u << 31; /* no code has these */
    *step = (Step){ .in = in,
                    .number = ++numbers,
                    .space = (uint8_t) space,
                    .type = (uint8_t) type,
                    .guard = -1,
                    .a = ADDRESS,
                    .b = VALUE,
                    .c = OPERAND,
                    .e = SIZE,
                    .d = RESULT,
                    .address_size = 8 };
    for (int e = 0; e < vector && vector > 1; e++)
        step->vector_at[e] = (op == OP_st ? VALUE : RESULT) + 2 * e;
    return step;
}

static inline void add_mod(Step *step, Mod mod)
{
    Instruction *in = (Instruction *) step->in;

    in->mods[in->mod_count++] = (uint8_t) mod;
}

static inline Step *bound(Step *step)
{
    CU_ASSERT_FATAL(bind_memory(step, step->in));
    return step;
}

static inline Step *load(Space space, PtxType type, int vector)
{
    return bound(new_step(OP_ld, space, type, vector));
}

static inline Step *store(Space space, PtxType type, int vector)
{
    return bound(new_step(OP_st, space, type, vector));
}

static inline Step *atomic(Space space, PtxType type, Mod mod)
{
    Step *step = new_step(OP_atom, space, type, 1);

    add_mod(step, mod);
    return bound(step);
}

static inline uint64_t *wide(int warp, int slot)
{
    return plane(&w.warps[warp], slot);
}

static inline uint32_t *narrow(int warp, int slot)
{
    return plane(&w.warps[warp], slot);
}

static inline void set_linear(int warp, int slot, uint64_t first, uint64_t stride)
{
    for (int i = 0; i < LANES; i++)
        wide(warp, slot)[i] = first + (uint64_t) i * stride;
}

static inline void run(int warp, const Step *step, uint32_t mask)
{
    step->run(&w.warps[warp], step, mask);
}

static inline const char *told(int i)
{
    return finding_at(i) ? finding_at(i)->text : "nothing";
}

#endif
