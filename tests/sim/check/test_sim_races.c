/* test_sim_races.c - which accesses are reported as races: scripts of a few accesses. */
#include "sim/sim_world.h"

/* ---- Scripts ---- */

typedef struct Act {
    /* 'r' read, 'w' write, 'a' atomic, 'v' volatile write, 'V' volatile read, 'b' barrier of all
     * warps, 's' warp sync, 'p' barrier of warps 0 and 1 only, 'f' fence, 'c' fence of the block,
     * 'B' next block */
    char what;
    int thread;     /* or block */
    int at;         /* byte */
    uint32_t value; /* written */
    int size;       /* 0: 4 */
} Act;

typedef struct Script {
    const char *name;
    Act acts[12];
    const char *text; /* NULL: no race */
} Script;

static Step *step_for(Space space, const Act *act)
{
    PtxType type = act->size == 1 ? TYPE_U8 : TYPE_U32;
    Step *step;

    if (act->what == 'a')
        return atomic(space, TYPE_U32, MOD_add);
    step = new_step(strchr("rV", act->what) ? OP_ld : OP_st, space, type, 1);
    if (strchr("vV", act->what))
        add_mod(step, MOD_volatile);
    return bound(step);
}

static void act_once(Space space, const Act *act)
{
    int warp = act->thread / LANES, lane = act->thread % LANES;

    switch (act->what) {
    case 'b':
        w.block.epoch++;
        return;
    case 's':
        race_warp_sync(&w.warps[warp], ALL);
        return;
    case 'p':
        race_barrier(&w.block, 3);
        return;
    case 'f':
        race_fence(&w.warps[warp], false);
        return;
    case 'c':
        race_fence(&w.warps[warp], true);
        return;
    case 'B':
        go_to_block(act->thread);
        return;
    default:
        wide(warp, ADDRESS)[lane] =
            (space == SPACE_GLOBAL ? w.array->base : 0) + (uint64_t) act->at;
        narrow(warp, VALUE)[lane] = act->value;
        run(warp, step_for(space, act), 1u << lane);
    }
}

static void play(Space space, const Script *script)
{
    new_world(true, false);
    w.step_count = 0;
    for (const Act *act = script->acts; act->what; act++)
        act_once(space, act);
    if (script->text) {
        CU_ASSERT_EQUAL(finding_count(), 1);
        CU_ASSERT_STRING_EQUAL(told(0), script->text);
    } else {
        CU_ASSERT_EQUAL(finding_count(), 0);
    }
    if (script->text ? strcmp(told(0), script->text) : finding_count())
        printf("%s: %s\n", script->name, told(0));
    end_world();
}

static void races_in_shared_memory(void)
{
    static const Script scripts[] = {
        { "own", { { 'w', 3, 8, 1, 0 }, { 'r', 3, 8, 0, 0 }, { 'w', 3, 8, 2, 0 } }, NULL },
        { "read after write",
          { { 'w', 3, 8, 1, 0 }, { 'r', 40, 8, 0, 0 } },
          "reads 4 bytes of shared memory at 8, which thread (3,0,0) wrote at line 1, with no "
          "__syncthreads() in between" },
        { "with barrier",
          { { 'w', 3, 8, 1, 0 }, { 'b', 0, 0, 0, 0 }, { 'r', 40, 8, 0, 0 } },
          NULL },
        { "a warp sync orders no other warps",
          { { 'w', 3, 8, 1, 0 }, { 's', 3, 0, 0, 0 }, { 's', 40, 0, 0, 0 }, { 'r', 40, 8, 0, 0 } },
          "reads 4 bytes of shared memory at 8, which thread (3,0,0) wrote at line 1, with no "
          "__syncthreads() in between" },
        { "same warp",
          { { 'w', 3, 8, 1, 0 }, { 'r', 4, 8, 0, 0 } },
          "reads 4 bytes of shared memory at 8, which thread (3,0,0) wrote at line 1, with no "
          "__syncthreads() in between (between threads of one warp, as here, __syncwarp() is "
          "enough)" },
        { "same warp, synchronised",
          { { 'w', 3, 8, 1, 0 }, { 's', 3, 0, 0, 0 }, { 'r', 4, 8, 0, 0 } },
          NULL },
        { "write after read",
          { { 'r', 3, 8, 0, 0 }, { 'w', 40, 8, 1, 0 } },
          "writes 4 bytes of shared memory at 8, which thread (3,0,0) read at line 1, with no "
          "__syncthreads() in between" },
        { "two values",
          { { 'w', 3, 8, 1, 0 }, { 'w', 40, 8, 2, 0 } },
          "writes 4 bytes of shared memory at 8, where thread (3,0,0) wrote another value at line "
          "1, "
          "with no __syncthreads() in between" },
        { "one value", { { 'w', 3, 8, 1, 0 }, { 'w', 40, 8, 1, 0 } }, NULL },
        { "one value, then another",
          { { 'w', 3, 8, 1, 0 }, { 'w', 40, 8, 1, 0 }, { 'w', 40, 8, 2, 0 } },
          "writes 4 bytes of shared memory at 8, where other threads wrote another value at line "
          "2, with no __syncthreads() in between" },
        { "one value, read by a third",
          { { 'w', 3, 8, 1, 0 }, { 'w', 40, 8, 1, 0 }, { 'r', 41, 8, 0, 0 } },
          "reads 4 bytes of shared memory at 8, which thread (40,0,0) wrote at line 2, with no "
          "__syncthreads() in between (between threads of one warp, as here, __syncwarp() is "
          "enough)" },
        { "one value, read in between",
          { { 'w', 3, 8, 1, 0 }, { 'r', 3, 8, 0, 0 }, { 'w', 40, 8, 1, 0 }, { 'r', 40, 8, 0, 0 } },
          "writes 4 bytes of shared memory at 8, which thread (3,0,0) read at line 2, with no "
          "__syncthreads() in between" },
        { "one value, read back by its writer",
          { { 'w', 3, 8, 1, 0 }, { 'w', 40, 8, 1, 0 }, { 'r', 40, 8, 0, 0 } },
          NULL },
        { "readers", { { 'r', 3, 8, 0, 0 }, { 'r', 4, 8, 0, 0 }, { 'r', 40, 8, 0, 0 } }, NULL },
        { "many readers, the first writes",
          { { 'r', 3, 8, 0, 0 }, { 'r', 40, 8, 0, 0 }, { 'w', 3, 8, 1, 0 } },
          "writes 4 bytes of shared memory at 8, which other threads read at line 1, with no "
          "__syncthreads() in between" },
        { "many readers of one warp, the first writes",
          { { 'r', 3, 8, 0, 0 }, { 'r', 4, 8, 0, 0 }, { 'w', 3, 8, 1, 0 } },
          "writes 4 bytes of shared memory at 8, which other threads read at line 1, with no "
          "__syncthreads() in between (between threads of one warp, as here, __syncwarp() is "
          "enough)" },
        { "many readers of one warp, synchronised",
          { { 'r', 3, 8, 0, 0 }, { 'r', 4, 8, 0, 0 }, { 's', 3, 0, 0, 0 }, { 'w', 3, 8, 1, 0 } },
          NULL },
        { "atomics", { { 'a', 3, 8, 1, 0 }, { 'a', 40, 8, 1, 0 }, { 'a', 4, 8, 1, 0 } }, NULL },
        { "atomic, then read",
          { { 'a', 3, 8, 1, 0 }, { 'r', 40, 8, 0, 0 } },
          "reads 4 bytes of shared memory at 8, which thread (3,0,0) updated at line 1, with no "
          "__syncthreads() in between" },
        { "atomics, then the first reads",
          { { 'a', 3, 8, 1, 0 }, { 'a', 40, 8, 1, 0 }, { 'r', 3, 8, 0, 0 } },
          "reads 4 bytes of shared memory at 8, which other threads updated at line 1, with no "
          "__syncthreads() in between" },
        { "write, then atomic",
          { { 'w', 3, 8, 0, 0 }, { 'a', 40, 8, 1, 0 } },
          "updates 4 bytes of shared memory at 8, which thread (3,0,0) wrote at line 1, with no "
          "__syncthreads() in between" },
        { "neighbouring bytes",
          { { 'w', 3, 8, 1, 1 }, { 'w', 40, 9, 1, 1 }, { 'r', 41, 10, 0, 1 } },
          NULL },
        { "a byte of a word",
          { { 'w', 3, 8, 1, 0 }, { 'r', 40, 10, 0, 1 } },
          "reads 1 byte of shared memory at 10, which thread (3,0,0) wrote at line 1, with no "
          "__syncthreads() in between" },
        { "barrier of two warps",
          { { 'w', 3, 8, 1, 0 },
            { 'p', 0, 0, 0, 0 },
            { 'r', 40, 8, 0, 0 },
            { 'p', 0, 0, 0, 0 },
            { 'w', 4, 8, 1, 0 } },
          NULL },
        { "next block", { { 'w', 3, 8, 1, 0 }, { 'B', 1, 0, 0, 0 }, { 'r', 40, 8, 0, 0 } }, NULL },
        { "late barrier",
          { { 'w', 3, 8, 1, 0 }, { 'b', 0, 0, 0, 0 }, { 'r', 40, 8, 0, 0 }, { 'w', 3, 8, 1, 0 } },
          "writes 4 bytes of shared memory at 8, which thread (40,0,0) read at line 2, with no "
          "__syncthreads() in between" },
        { "volatile is no barrier",
          { { 'v', 3, 8, 1, 0 }, { 'V', 40, 8, 0, 0 } },
          "reads 4 bytes of shared memory at 8, which thread (3,0,0) wrote at line 1, with no "
          "__syncthreads() in between" },
        { "volatile in a warp, as before Volta",
          { { 'c', 3, 0, 0, 0 }, { 'v', 3, 8, 1, 0 }, { 'V', 4, 8, 0, 0 } },
          "reads 4 bytes of shared memory at 8, which thread (3,0,0) wrote at line 1, with no "
          "__syncthreads() in between (between threads of one warp, as here, __syncwarp() is "
          "enough)" },
        { "a flag",
          { { 'V', 40, 64, 0, 0 },
            { 'w', 3, 8, 1, 0 },
            { 'c', 3, 0, 0, 0 },
            { 'v', 3, 64, 1, 0 },
            { 'V', 40, 64, 0, 0 },
            { 'r', 40, 8, 0, 0 } },
          NULL },
        { "a flag, written after it",
          { { 'c', 3, 0, 0, 0 },
            { 'v', 3, 64, 1, 0 },
            { 'w', 3, 8, 1, 0 },
            { 'V', 40, 64, 0, 0 },
            { 'r', 40, 8, 0, 0 } },
          "reads 4 bytes of shared memory at 8, which thread (3,0,0) wrote at line 2, with no "
          "__syncthreads() in between" },
        { "a flag, but no fence",
          { { 'w', 3, 8, 1, 0 },
            { 'a', 3, 64, 1, 0 },
            { 'a', 40, 64, 0, 0 },
            { 'r', 40, 8, 0, 0 } },
          "reads 4 bytes of shared memory at 8, which thread (3,0,0) wrote at line 1, with no "
          "__syncthreads() in between" },
    };

    for (size_t i = 0; i < COUNT(scripts); i++)
        play(SPACE_SHARED, &scripts[i]);
}

#define ARRAY_AT_8 "at 0x700000000008, byte 8 of allocation 1 (4000 bytes, cudaMalloc)"
#define ANY_ORDER                                                                                  \
    ": blocks of one launch run in any order, so the two need separate launches. A word that "     \
    "blocks exchange within a launch is volatile or atomic, and __threadfence() orders it with "   \
    "other data"

static void races_between_blocks(void)
{
    static const Script scripts[] = {
        { "one block", { { 'w', 3, 8, 1, 0 }, { 'b', 0, 0, 0, 0 }, { 'r', 40, 8, 0, 0 } }, NULL },
        { "read after write",
          { { 'w', 3, 8, 1, 0 }, { 'B', 1, 0, 0, 0 }, { 'r', 40, 8, 0, 0 } },
          "reads 4 bytes " ARRAY_AT_8
          ", which block (0,0,0), thread (3,0,0) wrote at line 1" ANY_ORDER },
        { "write after read",
          { { 'r', 3, 8, 0, 0 }, { 'B', 2, 0, 0, 0 }, { 'w', 40, 8, 1, 0 } },
          "writes 4 bytes " ARRAY_AT_8
          ", which block (0,0,0), thread (3,0,0) read at line 1" ANY_ORDER },
        { "one value", { { 'w', 3, 8, 1, 0 }, { 'B', 1, 0, 0, 0 }, { 'w', 3, 8, 1, 0 } }, NULL },
        { "two values",
          { { 'w', 3, 8, 1, 0 }, { 'B', 1, 0, 0, 0 }, { 'w', 3, 8, 2, 0 } },
          "writes 4 bytes " ARRAY_AT_8
          ", where block (0,0,0), thread (3,0,0) wrote another value at line 1" ANY_ORDER },
        { "one value, then another",
          { { 'w', 3, 8, 1, 0 }, { 'B', 1, 0, 0, 0 }, { 'w', 3, 8, 1, 0 }, { 'w', 3, 8, 2, 0 } },
          "writes 4 bytes " ARRAY_AT_8
          ", where other blocks wrote another value at line 2" ANY_ORDER },
        { "in one block, no barrier",
          { { 'w', 3, 8, 1, 0 }, { 'r', 40, 8, 0, 0 } },
          "reads 4 bytes " ARRAY_AT_8
          ", which thread (3,0,0) wrote at line 1, with no __syncthreads() in between" },
        { "in one warp",
          { { 'w', 3, 8, 1, 0 }, { 'r', 4, 8, 0, 0 } },
          "reads 4 bytes " ARRAY_AT_8
          ", which thread (3,0,0) wrote at line 1, with no __syncthreads() in between "
          "(between threads of one warp, as here, __syncwarp() is enough)" },
        { "in one warp, synchronised",
          { { 'w', 3, 8, 1, 0 }, { 's', 3, 0, 0, 0 }, { 'r', 4, 8, 0, 0 } },
          NULL },
        { "in one block, handed over by a flag",
          { { 'w', 3, 8, 1, 0 },
            { 'c', 3, 0, 0, 0 },
            { 'v', 3, 64, 1, 0 },
            { 'V', 40, 64, 0, 0 },
            { 'r', 40, 8, 0, 0 } },
          NULL },
        { "a fence of the block does not release to other blocks",
          { { 'w', 3, 8, 1, 0 },
            { 'c', 3, 0, 0, 0 },
            { 'v', 3, 64, 1, 0 },
            { 'B', 1, 0, 0, 0 },
            { 'V', 3, 64, 0, 0 },
            { 'r', 3, 8, 0, 0 } },
          "reads 4 bytes " ARRAY_AT_8
          ", which block (0,0,0), thread (3,0,0) wrote at line 1" ANY_ORDER },
        { "readers, then the first writes",
          { { 'r', 3, 8, 0, 0 },
            { 'B', 1, 0, 0, 0 },
            { 'r', 3, 8, 0, 0 },
            { 'B', 0, 0, 0, 0 },
            { 'w', 3, 8, 1, 0 } },
          "writes 4 bytes " ARRAY_AT_8 ", which other blocks read at line 1" ANY_ORDER },
        { "atomics", { { 'a', 3, 8, 1, 0 }, { 'B', 1, 0, 0, 0 }, { 'a', 3, 8, 1, 0 } }, NULL },
        { "atomic, then read",
          { { 'a', 3, 8, 1, 0 }, { 'B', 1, 0, 0, 0 }, { 'r', 3, 8, 0, 0 } },
          "reads 4 bytes " ARRAY_AT_8
          ", which block (0,0,0), thread (3,0,0) updated at line 1" ANY_ORDER },
        { "the last block adds up",
          { { 'w', 3, 8, 1, 0 },
            { 'f', 3, 0, 0, 0 },
            { 'a', 3, 64, 1, 0 },
            { 'B', 1, 0, 0, 0 },
            { 'w', 3, 12, 1, 0 },
            { 'f', 3, 0, 0, 0 },
            { 'a', 3, 64, 1, 0 },
            { 'r', 40, 8, 0, 0 } },
          NULL },
        { "the last block adds up, but without a fence",
          { { 'w', 3, 8, 1, 0 },
            { 'a', 3, 64, 1, 0 },
            { 'B', 1, 0, 0, 0 },
            { 'a', 3, 64, 1, 0 },
            { 'r', 40, 8, 0, 0 } },
          "reads 4 bytes " ARRAY_AT_8
          ", which block (0,0,0), thread (3,0,0) wrote at line 1" ANY_ORDER },
        { "a flag",
          { { 'w', 3, 8, 1, 0 },
            { 'f', 3, 0, 0, 0 },
            { 'v', 3, 64, 1, 0 },
            { 'B', 1, 0, 0, 0 },
            { 'V', 3, 64, 0, 0 },
            { 'r', 3, 8, 0, 0 } },
          NULL },
        { "written after the flag",
          { { 'f', 3, 0, 0, 0 },
            { 'v', 3, 64, 1, 0 },
            { 'w', 3, 8, 1, 0 },
            { 'B', 1, 0, 0, 0 },
            { 'V', 3, 64, 0, 0 },
            { 'r', 3, 8, 0, 0 } },
          "reads 4 bytes " ARRAY_AT_8
          ", which block (0,0,0), thread (3,0,0) wrote at line 2" ANY_ORDER },
        { "read, then written by the reader of the flag",
          { { 'r', 3, 8, 0, 0 },
            { 'b', 0, 0, 0, 0 },
            { 'v', 40, 64, 1, 0 },
            { 'B', 1, 0, 0, 0 },
            { 'V', 3, 64, 0, 0 },
            { 'w', 40, 8, 1, 0 } },
          NULL },
        { "the same by an atomic",
          { { 'r', 3, 8, 0, 0 },
            { 'b', 0, 0, 0, 0 },
            { 'a', 40, 64, 1, 0 },
            { 'B', 1, 0, 0, 0 },
            { 'a', 3, 64, 1, 0 },
            { 'w', 40, 8, 1, 0 } },
          NULL },
        { "read by two blocks, and written by a third",
          { { 'r', 3, 8, 0, 0 },
            { 'b', 0, 0, 0, 0 },
            { 'v', 3, 64, 1, 0 },
            { 'B', 1, 0, 0, 0 },
            { 'r', 3, 8, 0, 0 },
            { 'b', 0, 0, 0, 0 },
            { 'v', 3, 68, 1, 0 },
            { 'B', 2, 0, 0, 0 },
            { 'V', 3, 64, 0, 0 },
            { 'w', 3, 8, 1, 0 } },
          NULL },
        { "read after the first flag, before the second",
          { { 'b', 0, 0, 0, 0 },
            { 'v', 40, 64, 1, 0 },
            { 'r', 3, 8, 0, 0 },
            { 'b', 0, 0, 0, 0 },
            { 'v', 40, 68, 1, 0 },
            { 'B', 1, 0, 0, 0 },
            { 'V', 3, 68, 0, 0 },
            { 'w', 40, 8, 1, 0 } },
          NULL },
        { "read, then the flag, with no barrier in between",
          { { 'r', 3, 8, 0, 0 },
            { 'v', 40, 64, 1, 0 },
            { 'B', 1, 0, 0, 0 },
            { 'V', 3, 64, 0, 0 },
            { 'w', 40, 8, 1, 0 } },
          "writes 4 bytes " ARRAY_AT_8
          ", which block (0,0,0), thread (3,0,0) read at line 1" ANY_ORDER },
        { "read after the flag",
          { { 'b', 0, 0, 0, 0 },
            { 'v', 40, 64, 1, 0 },
            { 'b', 0, 0, 0, 0 },
            { 'r', 3, 8, 0, 0 },
            { 'B', 1, 0, 0, 0 },
            { 'V', 3, 64, 0, 0 },
            { 'w', 40, 8, 1, 0 } },
          "writes 4 bytes " ARRAY_AT_8
          ", which block (0,0,0), thread (3,0,0) read at line 2" ANY_ORDER },
        { "read before a flag that no thread reads",
          { { 'r', 3, 8, 0, 0 },
            { 'b', 0, 0, 0, 0 },
            { 'v', 40, 64, 1, 0 },
            { 'B', 1, 0, 0, 0 },
            { 'w', 40, 8, 1, 0 } },
          "writes 4 bytes " ARRAY_AT_8
          ", which block (0,0,0), thread (3,0,0) read at line 1" ANY_ORDER },
        { "a barrier is not a fence for writes",
          { { 'w', 3, 8, 1, 0 },
            { 'b', 0, 0, 0, 0 },
            { 'v', 40, 64, 1, 0 },
            { 'B', 1, 0, 0, 0 },
            { 'V', 3, 64, 0, 0 },
            { 'r', 40, 8, 0, 0 } },
          "reads 4 bytes " ARRAY_AT_8
          ", which block (0,0,0), thread (3,0,0) wrote at line 1" ANY_ORDER },
        { "neighbouring bytes",
          { { 'w', 3, 8, 1, 1 }, { 'B', 1, 0, 0, 0 }, { 'w', 3, 9, 1, 1 } },
          NULL },
    };

    for (size_t i = 0; i < COUNT(scripts); i++)
        play(SPACE_GLOBAL, &scripts[i]);
}

/* Launches run one after the other, so a later one may read the arrays. */
static void launches_are_ordered(void)
{
    new_world(true, false);
    Act write = { 'w', 3, 8, 1, 0 }, read = { 'r', 4, 8, 0, 0 };
    act_once(SPACE_GLOBAL, &write);
    race_block_end(&w.block);
    race_launch_end(&w.launch);
    race_launch_begin(&w.launch);
    go_to_block(1);
    act_once(SPACE_GLOBAL, &read);
    CU_ASSERT_EQUAL(finding_count(), 0);
    end_world();
}

static CU_TestInfo tests[] = {
    { "races in shared memory", races_in_shared_memory },
    { "races between blocks", races_between_blocks },
    { "launches are ordered", launches_are_ordered },
    CU_TEST_INFO_NULL,
};

CU_SuiteInfo test_sim_races = { "test_sim_races", NULL, NULL, NULL, NULL, tests };
