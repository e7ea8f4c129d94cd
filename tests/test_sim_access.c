/* test_sim_access.c - ld, st, atom, cp.async on steps and warps made by hand: what they move, what
 * they cost, what is told of them. */
#include "access.h"
#include "bits.h"

#include <CUnit/CUnit.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define ALL          0xffffffffu

/* ---- A block of two warps and its kernel, as the executor would have made them ---- */

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

/* Planes of the tests; those of 64 bits take two. */
enum { ADDRESS = 0, VALUE = 2, RESULT = 12, OPERAND = 24, OPERAND2 = 26, SOURCE = 28, SIZE = 30 };

/* The executor's own, where it is linked in, do the same. */
__attribute__((weak)) const int32_t *lanes_of(Warp *warp, uint32_t mask)
{
    for (int i = 0; i < LANES; i++)
        warp->lane_mask[i] = -(int32_t) (mask >> i & 1);
    return warp->lane_mask;
}

__attribute__((weak)) Count *count_of(Warp *warp, const Step *step)
{
    return &warp->counts[step - warp->code->steps];
}

static void tell(Warp *warp, const Step *step, int lane, FindingKind kind, bool fatal,
                 const char *format, va_list args)
{
    char text[500];
    Place place = { .kernel = warp->block->launch->name,
                    .file = "kernel.cu",
                    .line = step->in->line,
                    .thread = { warp->number * LANES + lane, 0, 0 },
                    .has_thread = true };

    vsnprintf(text, sizeof text, format, args);
    memcpy(place.block, warp->block->id, sizeof place.block);
    finding(kind, fatal, &place, "%s", text);
}

__attribute__((weak)) void fail(Warp *warp, const Step *step, int lane, FindingKind kind,
                                const char *format, ...)
{
    va_list args;

    va_start(args, format);
    tell(warp, step, lane, kind, true, format, args);
    va_end(args);
    warp->block->launch->failed = true;
    warp->block->launch->failure = kind;
}

__attribute__((weak)) void warn(Warp *warp, const Step *step, int lane, FindingKind kind,
                                const char *format, ...)
{
    va_list args;

    va_start(args, format);
    tell(warp, step, lane, kind, false, format, args);
    va_end(args);
}

static void set_warp(int i)
{
    w.warps[i] = (Warp){ .code = &w.code,
                         .registers = (uint8_t *) w.planes[i],
                         .params = w.call_params[i],
                         .active = ALL,
                         .alive = ALL,
                         .block = &w.block,
                         .number = i,
                         .counts = w.counts,
                         .stack = w.entries[i],
                         .depth = 1,
                         .stack_room = 4,
                         .local = w.local[i] };
    w.entries[i][0] = (Entry){ .rpc = STEPS, .mask = ALL };
}

/* A launch of one kernel; memory with two arrays of 4000 and 400 bytes. */
static void new_world(bool races, bool uninitialised)
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
    w.launch = (Launch){ .module = &w.module,
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
                       .shared = w.shared,
                       .shared_bytes = SHARED_BYTES,
                       .shared_written = uninitialised ? w.shared_written : NULL };
    for (int i = 0; i < WARPS; i++)
        set_warp(i);
    races_launch_begin(&w.launch);
}

static void end_world(void)
{
    for (int i = 0; i < WARPS; i++)
        async_end(&w.warps[i]);
    races_block_end(&w.block);
    races_launch_end(&w.launch);
    free(w.launch.arrays);
    memory_close();
    finding_reset();
}

/* Another block of the same launch, or the same block after its barriers. */
static void go_to_block(int number)
{
    races_block_end(&w.block);
    w.block.id[0] = number;
    w.block.number = number;
    w.block.epoch = 0;
}

/* An instruction of line 1, 2, ... with the address in ADDRESS, its data in VALUE or RESULT. */
static Step *new_step(Op op, Space space, PtxType type, int vector)
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
                         .line = w.step_count,
                         .text = { "op", 2 } };
    *step = (Step){ .in = in,
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

static void add_mod(Step *step, Mod mod)
{
    Instruction *in = (Instruction *) step->in;

    in->mods[in->mod_count++] = (uint8_t) mod;
}

static Step *bound(Step *step)
{
    CU_ASSERT_FATAL(bind_memory(step, step->in));
    return step;
}

static Step *load(Space space, PtxType type, int vector)
{
    return bound(new_step(OP_ld, space, type, vector));
}

static Step *store(Space space, PtxType type, int vector)
{
    return bound(new_step(OP_st, space, type, vector));
}

static Step *atomic(Space space, PtxType type, Mod mod)
{
    Step *step = new_step(OP_atom, space, type, 1);

    add_mod(step, mod);
    return bound(step);
}

static uint64_t *wide(int warp, int slot)
{
    return plane(&w.warps[warp], slot);
}

static uint32_t *narrow(int warp, int slot)
{
    return plane(&w.warps[warp], slot);
}

static void set_linear(int warp, int slot, uint64_t first, uint64_t stride)
{
    for (int i = 0; i < LANES; i++)
        wide(warp, slot)[i] = first + (uint64_t) i * stride;
}

static void run(int warp, const Step *step, uint32_t mask)
{
    step->run(&w.warps[warp], step, mask);
}

static const char *told(int i)
{
    return finding_at(i) ? finding_at(i)->text : "nothing";
}

/* ---- What global accesses cost ---- */

typedef struct Pattern {
    const char *name;
    int first, step, mod, div; /* lane i: first + (i / div % mod) * step elements */
    uint32_t mask;
    int sectors[3];   /* for 4, 8, 16 bytes a lane */
    int reversed_xor; /* the lane is first changed by this */
} Pattern;

static const Pattern patterns[] = {
    { "linear", 0, 1, 32, 1, ALL, { 4, 8, 16 }, 0 },
    { "reversed", 0, 1, 32, 1, ALL, { 4, 8, 16 }, 31 },
    { "permuted", 0, 1, 32, 1, ALL, { 4, 8, 16 }, 21 },
    { "shifted by one", 1, 1, 32, 1, ALL, { 5, 9, 17 }, 0 },
    { "shifted by two", 2, 1, 32, 1, ALL, { 5, 9, 16 }, 0 },
    { "shifted by 4", 4, 1, 32, 1, ALL, { 5, 8, 16 }, 0 },
    { "shifted by 8", 8, 1, 32, 1, ALL, { 4, 8, 16 }, 0 },
    { "stride 2", 0, 2, 32, 1, ALL, { 8, 16, 32 }, 0 },
    { "stride 3", 0, 3, 32, 1, ALL, { 12, 24, 32 }, 0 },
    { "stride 4", 0, 4, 32, 1, ALL, { 16, 32, 32 }, 0 },
    { "stride 5", 0, 5, 32, 1, ALL, { 20, 32, 32 }, 0 },
    { "stride 6", 0, 6, 32, 1, ALL, { 24, 32, 32 }, 0 },
    { "stride 7", 0, 7, 32, 1, ALL, { 28, 32, 32 }, 0 },
    { "stride 8", 0, 8, 32, 1, ALL, { 32, 32, 32 }, 0 },
    { "stride 17", 0, 17, 32, 1, ALL, { 32, 32, 32 }, 0 },
    { "stride 32", 0, 32, 32, 1, ALL, { 32, 32, 32 }, 0 },
    { "stride 33 reversed", 0, 33, 32, 1, ALL, { 32, 32, 32 }, 31 },
    { "all equal", 0, 1, 1, 1, ALL, { 1, 1, 1 }, 0 },
    { "n^1 equal", 0, 1, 32, 2, ALL, { 2, 4, 8 }, 0 },
    { "n^2 equal", 0, 1, 2, 1, ALL, { 1, 1, 1 }, 0 },
    { "rows of 16", 0, 100, 2, 16, ALL, { 2, 2, 2 }, 0 },
    { "four addresses", 0, 8, 4, 1, ALL, { 4, 4, 4 }, 0 },
    { "lane 0", 0, 1, 32, 1, 1, { 1, 1, 1 }, 0 },
    { "lane 31", 0, 1, 32, 1, 1u << 31, { 1, 1, 1 }, 0 },
    { "lower half", 0, 1, 32, 1, 0xffff, { 2, 4, 8 }, 0 },
    { "upper half", 0, 1, 32, 1, 0xffff0000, { 2, 4, 8 }, 0 },
    { "odd lanes", 0, 1, 32, 1, 0xaaaaaaaa, { 4, 8, 16 }, 0 },
    { "odd lanes reversed", 0, 1, 32, 1, 0xaaaaaaaa, { 4, 8, 16 }, 31 },
    { "every eighth lane", 0, 1, 32, 1, 0x01010101, { 4, 4, 4 }, 0 },
};

static void set_pattern(const Pattern *p, uint64_t base, int bytes)
{
    for (int i = 0; i < LANES; i++)
        wide(0, ADDRESS)[i] =
            base + (uint64_t) bytes *
                       (uint64_t) (p->first + (i ^ p->reversed_xor) / p->div % p->mod * p->step);
}

/* Each pattern twice, the second time from what is remembered, at another place. */
static void sectors_of_patterns(void)
{
    new_world(false, false);
    Allocation *big = memory_allocate(1 << 20, ALLOCATED, NULL);
    for (int size = 0; size < 3; size++)
        for (int how = 0; how < 4; how++) {
            w.step_count = 0;
            Step *step = how & 1 ? store(SPACE_GLOBAL, TYPE_F32, 1 << size)
                                 : load(SPACE_GLOBAL, TYPE_F32, 1 << size);
            for (size_t i = 0; i < COUNT(patterns); i++) {
                const Pattern *p = &patterns[i];
                int lanes = __builtin_popcount(p->mask);
                memset(w.counts, 0, sizeof w.counts);
                for (int again = 0; again < 2; again++) {
                    set_pattern(p, big->base + (uint64_t) again * 4096, 4 << size);
                    run(0, step, p->mask);
                }
                CU_ASSERT_EQUAL(w.counts[0].requests, 2);
                CU_ASSERT_EQUAL(w.counts[0].bytes, 2u * (unsigned) (lanes * (4 << size)));
                CU_ASSERT_EQUAL(w.counts[0].sectors, 2u * (unsigned) p->sectors[size]);
                if (w.counts[0].sectors != 2u * (unsigned) p->sectors[size])
                    printf("%s, %d bytes: %g\n", p->name, 4 << size,
                           (double) w.counts[0].sectors / 2);
            }
        }
    CU_ASSERT_EQUAL(w.launch.array_count, 1);
    CU_ASSERT_EQUAL(w.launch.arrays[0].load_requests, COUNT(patterns) * 12);
    CU_ASSERT_EQUAL(w.launch.arrays[0].store_requests, COUNT(patterns) * 12);
    CU_ASSERT_EQUAL(finding_count(), 0);
    end_world();
}

/* 1, 2 and 8 bytes by types, strides 1 to 32: against counting by sets. */
static void sectors_of_strides(void)
{
    static const PtxType types[] = { TYPE_U8, TYPE_U16, TYPE_F32, TYPE_F64 };

    new_world(false, false);
    Allocation *big = memory_allocate(1 << 20, ALLOCATED, NULL);
    for (size_t t = 0; t < COUNT(types); t++)
        for (int stride = 1; stride <= 32; stride++)
            for (int offset = 0; offset < 8; offset++) {
                bool touched[1024] = { 0 };
                unsigned want = 0;
                w.step_count = 0;
                memset(w.counts, 0, sizeof w.counts);
                Step *step = load(SPACE_GLOBAL, types[t], 1);
                for (int i = 0; i < LANES; i++) {
                    int at = (offset + i * stride) * type_size(types[t]);
                    wide(0, ADDRESS)[i] = big->base + (uint64_t) at;
                    want += !touched[at / 32];
                    touched[at / 32] = true;
                }
                run(0, step, ALL);
                CU_ASSERT_EQUAL(w.counts[0].sectors, want);
            }
    end_world();
}

static void sectors_of_atomics(void)
{
    static const struct {
        int step, mod, div;
        unsigned sectors;
    } rows[] = {
        { 1, 1, 1, 32 },  /* one address */
        { 1, 32, 1, 4 },  /* linear */
        { 1, 32, 2, 4 },  /* n^1 equal */
        { 8, 4, 1, 32 },  /* 4 addresses, each in a sector: 8 passes of 4 */
        { 1, 4, 1, 8 },   /* 4 addresses in one sector */
        { 8, 32, 1, 32 }, /* stride 8 */
    };

    for (size_t r = 0; r < COUNT(rows); r++) {
        new_world(false, false);
        Step *step = atomic(SPACE_GLOBAL, r & 1 ? TYPE_F32 : TYPE_U32, MOD_add);
        for (int i = 0; i < LANES; i++)
            wide(0, ADDRESS)[i] =
                w.array->base + 4u * (unsigned) (i / rows[r].div % rows[r].mod * rows[r].step);
        run(0, step, ALL);
        CU_ASSERT_EQUAL(w.counts[0].requests, 1);
        CU_ASSERT_EQUAL(w.counts[0].sectors, rows[r].sectors);
        CU_ASSERT_EQUAL(w.launch.arrays[0].atomic_sectors, rows[r].sectors);
        end_world();
    }
}

static void one_request_to_several_arrays(void)
{
    new_world(false, false);
    Step *step = load(SPACE_GENERIC, TYPE_U32, 1);
    for (int i = 0; i < LANES; i++) {
        ((uint32_t *) w.array->host)[i] = 100u + (unsigned) i;
        ((uint32_t *) w.other->host)[i] = 200u + (unsigned) i;
        wide(0, ADDRESS)[i] = (i % 2 ? w.array : w.other)->base + 4u * (unsigned) i;
    }
    run(0, step, ALL);
    for (int i = 0; i < LANES; i++)
        CU_ASSERT_EQUAL(narrow(0, RESULT)[i], (i % 2 ? 100u : 200u) + (unsigned) i);
    CU_ASSERT_EQUAL(w.counts[0].requests, 1);
    CU_ASSERT_EQUAL(w.counts[0].sectors, 8);
    CU_ASSERT_EQUAL_FATAL(w.launch.array_count, 2);
    for (int i = 0; i < 2; i++) {
        CU_ASSERT_EQUAL(w.launch.arrays[i].load_sectors, 4);
        CU_ASSERT_EQUAL(w.launch.arrays[i].load_bytes, 64);
    }
    end_world();
}

/* ---- What shared accesses cost: the table of patterns measured on an H200 ---- */

typedef struct SharedPattern {
    const char *name;
    int step, mod, div, xor_with; /* lane i: ((i ^ xor_with) / div % mod) * step units */
    uint32_t mask;
    int load[3][2], store[3][2]; /* wavefronts, conflicts for 4, 8, 16 bytes a lane */
} SharedPattern;

static const SharedPattern shared_patterns[] = {
    { "linear",
      1,
      32,
      1,
      0,
      ALL,
      { { 1, 0 }, { 2, 0 }, { 4, 0 } },
      { { 1, 0 }, { 2, 0 }, { 4, 0 } } },
    { "reversed",
      1,
      32,
      1,
      31,
      ALL,
      { { 1, 0 }, { 2, 0 }, { 4, 0 } },
      { { 1, 0 }, { 2, 0 }, { 4, 0 } } },
    { "stride 3",
      3,
      32,
      1,
      0,
      ALL,
      { { 1, 0 }, { 2, 0 }, { 4, 0 } },
      { { 1, 0 }, { 2, 0 }, { 4, 0 } } },
    { "stride 5",
      5,
      32,
      1,
      0,
      ALL,
      { { 1, 0 }, { 2, 0 }, { 4, 0 } },
      { { 1, 0 }, { 2, 0 }, { 4, 0 } } },
    { "stride 33",
      33,
      32,
      1,
      0,
      ALL,
      { { 1, 0 }, { 2, 0 }, { 4, 0 } },
      { { 1, 0 }, { 2, 0 }, { 4, 0 } } },
    { "stride 2",
      2,
      32,
      1,
      0,
      ALL,
      { { 2, 1 }, { 4, 2 }, { 8, 4 } },
      { { 2, 1 }, { 4, 2 }, { 8, 4 } } },
    { "stride 4",
      4,
      32,
      1,
      0,
      ALL,
      { { 4, 3 }, { 8, 6 }, { 16, 12 } },
      { { 4, 3 }, { 8, 6 }, { 16, 12 } } },
    { "stride 8",
      8,
      32,
      1,
      0,
      ALL,
      { { 8, 7 }, { 16, 14 }, { 32, 28 } },
      { { 8, 7 }, { 16, 14 }, { 32, 28 } } },
    { "stride 32",
      32,
      32,
      1,
      0,
      ALL,
      { { 32, 31 }, { 32, 30 }, { 32, 28 } },
      { { 32, 31 }, { 32, 30 }, { 32, 28 } } },
    { "n^1 equal",
      1,
      32,
      2,
      0,
      ALL,
      { { 1, 0 }, { 1, 0 }, { 2, 0 } },
      { { 1, 0 }, { 2, 0 }, { 4, 0 } } },
    { "i>>2",
      1,
      32,
      4,
      0,
      ALL,
      { { 1, 0 }, { 1, 0 }, { 2, 0 } },
      { { 1, 0 }, { 2, 0 }, { 4, 0 } } },
    { "i>>4",
      1,
      32,
      16,
      0,
      ALL,
      { { 1, 0 }, { 1, 0 }, { 2, 0 } },
      { { 1, 0 }, { 2, 0 }, { 4, 0 } } },
    { "i&1", 1, 2, 1, 0, ALL, { { 1, 0 }, { 1, 0 }, { 2, 0 } }, { { 1, 0 }, { 2, 0 }, { 4, 0 } } },
    { "all equal",
      1,
      1,
      1,
      0,
      ALL,
      { { 1, 0 }, { 1, 0 }, { 2, 0 } },
      { { 1, 0 }, { 2, 0 }, { 4, 0 } } },
    { "i&3", 1, 4, 1, 0, ALL, { { 1, 0 }, { 2, 0 }, { 4, 0 } }, { { 1, 0 }, { 2, 0 }, { 4, 0 } } },
    { "i&7", 1, 8, 1, 0, ALL, { { 1, 0 }, { 2, 0 }, { 4, 0 } }, { { 1, 0 }, { 2, 0 }, { 4, 0 } } },
    { "n^1, stride 2",
      2,
      32,
      2,
      0,
      ALL,
      { { 1, 0 }, { 2, 1 }, { 4, 2 } },
      { { 1, 0 }, { 2, 0 }, { 4, 0 } } },
    { "n^1, stride 4",
      4,
      32,
      2,
      0,
      ALL,
      { { 2, 1 }, { 4, 3 }, { 8, 6 } },
      { { 2, 1 }, { 4, 2 }, { 8, 4 } } },
    { "n^1, stride 8",
      8,
      32,
      2,
      0,
      ALL,
      { { 4, 3 }, { 8, 7 }, { 16, 14 } },
      { { 4, 3 }, { 8, 6 }, { 16, 12 } } },
    { "lanes 0-15",
      1,
      32,
      1,
      0,
      0xffff,
      { { 1, 0 }, { 1, 0 }, { 2, 0 } },
      { { 1, 0 }, { 1, 0 }, { 2, 0 } } },
    { "lanes 0-7",
      1,
      32,
      1,
      0,
      0xff,
      { { 1, 0 }, { 1, 0 }, { 1, 0 } },
      { { 1, 0 }, { 1, 0 }, { 1, 0 } } },
    { "lane 0",
      1,
      32,
      1,
      0,
      1,
      { { 1, 0 }, { 1, 0 }, { 1, 0 } },
      { { 1, 0 }, { 1, 0 }, { 1, 0 } } },
    { "even lanes",
      1,
      32,
      1,
      0,
      0x55555555,
      { { 1, 0 }, { 2, 1 }, { 4, 2 } },
      { { 1, 0 }, { 2, 0 }, { 4, 0 } } },
};

static void check_wavefronts(const char *name, int bytes, const Count *count, const int want[2])
{
    int wavefronts = (int) count->wavefronts, conflicts = (int) (count->wavefronts - count->ideal);

    CU_ASSERT_EQUAL(wavefronts, want[0]);
    CU_ASSERT_EQUAL(conflicts, want[1]);
    if (wavefronts != want[0] || conflicts != want[1])
        printf("%s, %d bytes: %d/%d, not %d/%d\n", name, bytes, wavefronts, conflicts, want[0],
               want[1]);
}

static void wavefronts_of_patterns(void)
{
    new_world(false, false);
    for (int size = 0; size < 3; size++)
        for (int how = 0; how < 2; how++) {
            w.step_count = 0;
            Step *step = how ? store(SPACE_SHARED, TYPE_B32, 1 << size)
                             : load(SPACE_SHARED, TYPE_B32, 1 << size);
            for (size_t r = 0; r < COUNT(shared_patterns); r++) {
                const SharedPattern *p = &shared_patterns[r];
                for (int i = 0; i < LANES; i++)
                    wide(0, ADDRESS)[i] =
                        (uint64_t) ((i ^ p->xor_with) / p->div % p->mod * p->step * (4 << size));
                memset(w.counts, 0, sizeof w.counts);
                run(0, step, p->mask);
                check_wavefronts(p->name, 4 << size, w.counts,
                                 how ? p->store[size] : p->load[size]);
            }
        }
    CU_ASSERT_EQUAL(finding_count(), 0);
    end_world();
}

static void odd_ones_out(void)
{
    static const int want_one_off[3][2] = { { 2, 1 }, { 3, 1 }, { 5, 1 } };
    static const int want_halves[3][2] = { { 1, 0 }, { 2, 0 }, { 4, 0 } };

    new_world(false, false);
    for (int size = 0; size < 3; size++) {
        w.step_count = 0;
        Step *step = load(SPACE_SHARED, TYPE_B32, 1 << size);
        /* All equal but lane 31, in the same bank. */
        for (int i = 0; i < LANES; i++)
            wide(0, ADDRESS)[i] = i == 31 ? 256 : 0;
        memset(w.counts, 0, sizeof w.counts);
        run(0, step, ALL);
        check_wavefronts("one off", 4 << size, w.counts, want_one_off[size]);
        /* Half n^1, half n^2. */
        for (int i = 0; i < LANES; i++)
            wide(0, ADDRESS)[i] = (uint64_t) ((i < 16 ? i / 2 : 8 + i % 2) * (4 << size));
        memset(w.counts, 0, sizeof w.counts);
        run(0, step, ALL);
        check_wavefronts("halves", 4 << size, w.counts, want_halves[size]);
    }
    end_world();
}

/* A tile's column: 32 x 32, and padded. */
static void columns_of_a_tile(void)
{
    static const int want[2][2] = { { 32, 31 }, { 1, 0 } };

    new_world(false, false);
    Step *step = store(SPACE_SHARED, TYPE_F32, 1);
    step->address_size = 4;
    for (int padding = 0; padding < 2; padding++)
        for (int column = 0; column < 32; column++) {
            for (int i = 0; i < LANES; i++)
                narrow(0, ADDRESS)[i] = (uint32_t) (4 * (i * (32 + padding) + column));
            memset(w.counts, 0, sizeof w.counts);
            run(0, step, ALL);
            check_wavefronts("column", 4, w.counts, want[padding]);
        }
    end_world();
}

/* As an H200 counted them. `want`: wavefronts and conflicts; loads: those of the loops that some
 * are.
 */
static void wavefronts_of_atomics(void)
{
    static const struct {
        PtxType type;
        Mod mod;
        int size, step, of, div;
        int want[2], loop_loads;
    } rows[] = {
        { TYPE_U32, MOD_add, 4, 1, 1, 1, { 32, 31 }, 0 },
        { TYPE_U32, MOD_add, 4, 1, 32, 1, { 1, 0 }, 0 },
        { TYPE_U32, MOD_add, 4, 1, 32, 2, { 2, 1 }, 0 },
        { TYPE_U32, MOD_add, 4, 8, 32, 1, { 8, 7 }, 0 },
        { TYPE_B32, MOD_cas, 4, 1, 1, 1, { 64, 31 }, 0 },
        { TYPE_B32, MOD_cas, 4, 1, 32, 1, { 2, 0 }, 0 },
        { TYPE_B32, MOD_cas, 4, 8, 32, 1, { 16, 7 }, 0 },
        { TYPE_F32, MOD_add, 4, 1, 32, 1, { 2, 0 }, 1 },
        { TYPE_F32, MOD_add, 4, 1, 1, 1, { 64, 0 }, 32 },
        { TYPE_F32, MOD_add, 4, 1, 4, 1, { 16, 0 }, 8 },
        { TYPE_F32, MOD_add, 4, 2, 32, 1, { 4, 0 }, 3 },
        { TYPE_F32, MOD_add, 4, 8, 32, 1, { 16, 0 }, 36 },
        { TYPE_F32, MOD_add, 4, 32, 32, 1, { 64, 0 }, 528 },
        { TYPE_F64, MOD_add, 8, 1, 32, 1, { 4, 0 }, 2 },
        { TYPE_U64, MOD_add, 8, 1, 32, 1, { 4, 0 }, 2 },
        { TYPE_U64, MOD_add, 8, 2, 32, 1, { 8, 0 }, 6 },
        { TYPE_U64, MOD_add, 8, 4, 32, 1, { 16, 0 }, 20 },
        { TYPE_U64, MOD_add, 8, 1, 1, 1, { 96, 0 }, 32 },
        { TYPE_U64, MOD_add, 8, 1, 4, 1, { 24, 0 }, 12 },
    };

    for (size_t r = 0; r < COUNT(rows); r++) {
        new_world(false, false);
        Step *step = atomic(SPACE_SHARED, rows[r].type, rows[r].mod);
        for (int i = 0; i < LANES; i++)
            wide(0, ADDRESS)[i] =
                (uint64_t) (rows[r].size * (i / rows[r].div % rows[r].of * rows[r].step));
        run(0, step, ALL);
        check_wavefronts("atomic", rows[r].size, w.counts, rows[r].want);
        CU_ASSERT_EQUAL(w.counts[0].loop_loads, (unsigned) rows[r].loop_loads);
        end_world();
    }
}

/* ---- What is moved ---- */

static void widening_loads(void)
{
    static const struct {
        PtxType type;
        int data_size;
        uint64_t want; /* of bytes 81 82 83 84 85 86 87 88 */
    } rows[] = {
        { TYPE_U8, 4, 0x81 },
        { TYPE_S8, 4, 0xffffff81 },
        { TYPE_B8, 8, 0x81 },
        { TYPE_S8, 8, 0xffffffffffffff81 },
        { TYPE_U16, 4, 0x8281 },
        { TYPE_S16, 4, 0xffff8281 },
        { TYPE_S16, 8, 0xffffffffffff8281 },
        { TYPE_U32, 4, 0x84838281 },
        { TYPE_S32, 4, 0x84838281 },
        { TYPE_U32, 8, 0x84838281 },
        { TYPE_S32, 8, 0xffffffff84838281 },
        { TYPE_F16, 4, 0x8281 },
        { TYPE_F32, 4, 0x84838281 },
        { TYPE_B64, 8, 0x8887868584838281 },
        { TYPE_F64, 8, 0x8887868584838281 },
    };
    static const uint8_t bytes[8] = { 0x81, 0x82, 0x83, 0x84, 0x85, 0x86, 0x87, 0x88 };
    static const uint32_t masks[] = { ALL, 0x0000fff0, 1 };

    for (size_t r = 0; r < COUNT(rows); r++)
        for (size_t m = 0; m < COUNT(masks); m++)
            for (int how = 0; how < 3; how++) { /* uniform, linear, from parameters */
                new_world(false, false);
                Step *step =
                    new_step(OP_ld, how == 2 ? SPACE_PARAM : SPACE_GLOBAL, rows[r].type, 1);
                step->data_size = (uint8_t) rows[r].data_size;
                step->kernel_param = how == 2;
                step->a = how == 2 ? -1 : ADDRESS;
                step->offset = 8;
                bound(step);
                memcpy(w.params + 8, bytes, 8);
                for (int i = 0; i < LANES; i++) {
                    memcpy(w.array->host + 8 + i * 8, bytes, 8);
                    wide(0, ADDRESS)[i] = w.array->base + (uint64_t) (how ? i * 8 : 0);
                    wide(0, RESULT)[i] = 0x5555555555555555;
                }
                run(0, step, masks[m]);
                for (int i = 0; i < LANES; i++) {
                    bool on = masks[m] >> i & 1;
                    uint64_t got =
                        rows[r].data_size == 8 ? wide(0, RESULT)[i] : narrow(0, RESULT)[i];
                    uint64_t off = rows[r].data_size == 8 ? 0x5555555555555555 : 0x55555555;
                    CU_ASSERT_EQUAL(got, on ? rows[r].want : off);
                }
                end_world();
            }
}

static void vectors_and_holes(void)
{
    static const struct {
        PtxType type;
        int vector;
    } rows[] = { { TYPE_U8, 2 },  { TYPE_U8, 4 },  { TYPE_U16, 4 }, { TYPE_F32, 2 },
                 { TYPE_F32, 4 }, { TYPE_F64, 2 }, { TYPE_B64, 4 } };
    static const Space spaces[] = { SPACE_GLOBAL, SPACE_SHARED, SPACE_LOCAL, SPACE_GENERIC };
    static const uint32_t masks[] = { ALL, 0x80ff00f1 };

    for (size_t r = 0; r < COUNT(rows); r++)
        for (size_t s = 0; s < COUNT(spaces); s++)
            for (size_t m = 0; m < COUNT(masks); m++) {
                new_world(false, false);
                int size = type_size(rows[r].type), all = size * rows[r].vector;
                Step *write = store(spaces[s], rows[r].type, rows[r].vector);
                Step *read = load(spaces[s], rows[r].type, rows[r].vector);
                uint64_t base = spaces[s] == SPACE_GLOBAL    ? w.array->base
                                : spaces[s] == SPACE_GENERIC ? SHARED_WINDOW
                                                             : 0;
                for (int i = 0; i < LANES; i++) {
                    int place = spaces[s] == SPACE_LOCAL ? 0 : i * 3 % 32;
                    wide(0, ADDRESS)[i] = base + (uint64_t) (place * all);
                    for (int e = 0; e < rows[r].vector; e++) {
                        uint64_t value = (uint64_t) (i * 8 + e + 1);
                        if (size == 8)
                            wide(0, VALUE + 2 * e)[i] = value;
                        else
                            narrow(0, VALUE + 2 * e)[i] = (uint32_t) value;
                    }
                }
                run(0, write, masks[m]);
                run(0, read, masks[m]);
                for (int i = 0; i < LANES; i++)
                    for (int e = 0; e < rows[r].vector; e++) {
                        uint64_t got =
                            size == 8 ? wide(0, RESULT + 2 * e)[i] : narrow(0, RESULT + 2 * e)[i];
                        uint64_t want =
                            size == 1 ? (uint8_t) (i * 8 + e + 1) : (uint64_t) (i * 8 + e + 1);
                        CU_ASSERT_EQUAL(got, masks[m] >> i & 1 ? want : 0);
                    }
                CU_ASSERT_EQUAL(finding_count(), 0);
                end_world();
            }
}

/* Lanes of one generic load in four spaces. */
static void generic_lanes_apart(void)
{
    new_world(false, false);
    Step *step = load(SPACE_GENERIC, TYPE_U32, 1);
    for (int i = 0; i < LANES; i++) {
        uint32_t value = 1000u + (unsigned) i;
        uint8_t *to[] = { (uint8_t *) w.array->host + 4 * i, w.shared + 4 * i,
                          w.local[0] + i * LOCAL_BYTES + 4, w.params + 4 };
        uint64_t from[] = { w.array->base + 4u * (unsigned) i, SHARED_WINDOW + 4u * (unsigned) i,
                            LOCAL_WINDOW + 4, PARAM_WINDOW + 4 };
        value = i % 4 == 3 ? 77 : value;
        memcpy(to[i % 4], &value, 4);
        wide(0, ADDRESS)[i] = from[i % 4];
    }
    run(0, step, ALL);
    for (int i = 0; i < LANES; i++)
        CU_ASSERT_EQUAL(narrow(0, RESULT)[i], i % 4 == 3 ? 77 : 1000u + (unsigned) i);
    CU_ASSERT_EQUAL(w.counts[0].requests, 1);
    CU_ASSERT_EQUAL(w.counts[0].wavefronts, 1);
    CU_ASSERT_EQUAL(finding_count(), 0);
    end_world();
}

static void call_parameters_are_each_lanes_own(void)
{
    new_world(false, false);
    Step *write = new_step(OP_st, SPACE_PARAM, TYPE_U32, 1);
    Step *read = new_step(OP_ld, SPACE_PARAM, TYPE_U32, 1);
    write->a = read->a = -1;
    write->offset = read->offset = 12;
    bound(write);
    bound(read);
    for (int i = 0; i < LANES; i++)
        narrow(0, VALUE)[i] = 7u * (unsigned) i;
    run(0, write, ALL);
    run(0, read, ALL);
    for (int i = 0; i < LANES; i++)
        CU_ASSERT_EQUAL(narrow(0, RESULT)[i], 7u * (unsigned) i);
    end_world();
}

/* ---- Faults ---- */

typedef struct Fault {
    int store;
    Space space;
    PtxType type;
    int vector;
    uint64_t address; /* of lane 5; the others read the array's begin */
    FindingKind kind;
    const char *text;
} Fault;

static void check_fault(const Fault *f)
{
    uint64_t good = f->space == SPACE_GLOBAL || f->space == SPACE_GENERIC ? w.array->base : 0;
    Step *step =
        f->store ? store(f->space, f->type, f->vector) : load(f->space, f->type, f->vector);

    for (int i = 0; i < LANES; i++)
        wide(0, ADDRESS)[i] = i < 5 ? good : f->address;
    run(0, step, ALL);
    CU_ASSERT(w.launch.failed);
    CU_ASSERT_EQUAL(finding_count(), 1);
    CU_ASSERT_STRING_EQUAL(told(0), f->text);
    if (strcmp(told(0), f->text))
        printf("got:  %s\nwant: %s\n", told(0), f->text);
    if (finding_at(0)) {
        CU_ASSERT_EQUAL(finding_at(0)->kind, f->kind);
        CU_ASSERT_EQUAL(finding_at(0)->place.thread[0], 5);
    }
    end_world();
}

static void faults_in_global_memory(void)
{
    static const uint64_t a = GLOBAL_BASE;
    const Fault rows[] = {
        { 1, SPACE_GLOBAL, TYPE_F32, 1, a + 4000, FINDING_OUT_OF_BOUNDS,
          "writes 4 bytes at 0x700000000fa0, the 4 bytes after allocation 1 (4000 bytes, "
          "cudaMalloc)" },
        { 0, SPACE_GENERIC, TYPE_F32, 1, a + 4016, FINDING_OUT_OF_BOUNDS,
          "reads 4 bytes at 0x700000000fb0, 16 bytes after the end of allocation 1 (4000 bytes, "
          "cudaMalloc)" },
        { 0, SPACE_GLOBAL, TYPE_F32, 4, a + 4000, FINDING_OUT_OF_BOUNDS,
          "reads 16 bytes at 0x700000000fa0, the 16 bytes after allocation 1 (4000 bytes, "
          "cudaMalloc)" },
        { 0, SPACE_GLOBAL, TYPE_U8, 1, a - 1, FINDING_OUT_OF_BOUNDS,
          "reads 1 byte at 0x6fffffffffff, 1 byte before allocation 1 (4000 bytes, cudaMalloc)" },
        { 0, SPACE_GLOBAL, TYPE_F32, 1, a + 2, FINDING_MISALIGNED,
          "reads 4 bytes at 0x700000000002, which is not a multiple of 4" },
        { 0, SPACE_GLOBAL, TYPE_F32, 4, a + 8, FINDING_MISALIGNED,
          "reads 16 bytes at 0x700000000008, which is not a multiple of 16" },
        { 1, SPACE_GLOBAL, TYPE_F32, 1, 0, FINDING_OUT_OF_BOUNDS,
          "writes 4 bytes at 0x0, a null pointer" },
        { 0, SPACE_GLOBAL, TYPE_F32, 1, UINT64_MAX - 3, FINDING_OUT_OF_BOUNDS,
          "reads 4 bytes at 0xfffffffffffffffc, nothing is allocated there" },
        { 0, SPACE_GLOBAL, TYPE_F32, 1, a ^ 1ull << 63, FINDING_OUT_OF_BOUNDS,
          "reads 4 bytes at 0x8000700000000000, nothing is allocated there" },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        new_world(false, false);
        CU_ASSERT_EQUAL_FATAL(w.array->base, a);
        check_fault(&rows[i]);
    }
}

static void faults_that_need_a_scene(void)
{
    static int on_the_host;
    char text[300];
    Fault f = { 1, SPACE_GLOBAL, TYPE_U32, 1, 0, FINDING_USE_AFTER_FREE, text };

    new_world(false, false);
    memory_free(w.other->base);
    f.address = w.other->base + 8;
    snprintf(
        text, sizeof text,
        "writes 4 bytes at 0x%llx, inside allocation 2 (400 bytes, cudaMalloc), which is freed",
        (unsigned long long) f.address);
    check_fault(&f);

    new_world(false, false);
    f.address = (uint64_t) (uintptr_t) &on_the_host;
    f.kind = FINDING_HOST_POINTER;
    snprintf(text, sizeof text, "writes 4 bytes at 0x%llx, a host pointer",
             (unsigned long long) f.address);
    check_fault(&f);

    new_world(false, false);
    f.address = memory_allocate(16, VARIABLE_CONST, "table")->base + 4;
    f.kind = FINDING_FORBIDDEN;
    snprintf(
        text, sizeof text,
        "writes 4 bytes at 0x%llx, byte 4 of `table` (16 bytes, __constant__): constant memory, "
        "which kernels may only read",
        (unsigned long long) f.address);
    check_fault(&f);
}

/* Guards around an array, as the grader's runner lays them: 400 | 3200 | 400 bytes. */
static void faults_inside_marked_guards(void)
{
    static const struct {
        int at;
        const char *text;
    } rows[] = {
        { 3600, "right after the 3200 bytes of the array" },
        { 3616, "16 bytes after the end of the 3200 bytes of the array" },
        { 392, "8 bytes before the 3200 bytes of the array" },
        { 400, NULL },
        { 3596, NULL },
    };
    char text[200];

    for (size_t i = 0; i < COUNT(rows); i++) {
        new_world(false, false);
        uint64_t guarded = memory_allocate(4000, ALLOCATED, NULL)->base;
        memory_mark(guarded, 400, MARK_NO_ACCESS);
        memory_mark(guarded + 3600, 400, MARK_NO_ACCESS);
        Fault f = {
            0,   SPACE_GLOBAL, TYPE_U32, 1, guarded + (unsigned) rows[i].at, FINDING_OUT_OF_BOUNDS,
            text
        };
        snprintf(text, sizeof text, "reads 4 bytes at 0x%llx, %s", (unsigned long long) f.address,
                 rows[i].text ? rows[i].text : "");
        if (rows[i].text) {
            check_fault(&f);
            continue;
        }
        Step *step = load(SPACE_GLOBAL, TYPE_U32, 1);
        set_linear(0, ADDRESS, f.address, 0);
        run(0, step, ALL);
        CU_ASSERT_EQUAL(finding_count(), 0);
        end_world();
    }
}

static void faults_elsewhere(void)
{
    const Fault rows[] = {
        { 1, SPACE_SHARED, TYPE_F32, 1, SHARED_BYTES, FINDING_OUT_OF_BOUNDS,
          "writes 4 bytes of shared memory at 20480: the block has 20480 bytes" },
        { 0, SPACE_SHARED, TYPE_F32, 1, (uint64_t) -4, FINDING_OUT_OF_BOUNDS,
          "reads 4 bytes of shared memory at -4: the block has 20480 bytes" },
        { 0, SPACE_SHARED, TYPE_F32, 2, SHARED_BYTES - 4, FINDING_MISALIGNED,
          "reads 8 bytes of shared memory at 20476, which is not a multiple of 8" },
        { 0, SPACE_SHARED, TYPE_F32, 1, SHARED_WINDOW, FINDING_OUT_OF_BOUNDS,
          "reads 4 bytes of shared memory at 105553116266496: the block has 20480 bytes" },
        { 0, SPACE_GENERIC, TYPE_F32, 1, SHARED_WINDOW + SHARED_BYTES, FINDING_OUT_OF_BOUNDS,
          "reads 4 bytes of shared memory at 20480: the block has 20480 bytes" },
        { 1, SPACE_LOCAL, TYPE_F32, 1, LOCAL_BYTES, FINDING_OUT_OF_BOUNDS,
          "writes 4 bytes of local memory at 64: the thread has 64 bytes" },
        { 0, SPACE_LOCAL, TYPE_F64, 1, LOCAL_BYTES - 4, FINDING_MISALIGNED,
          "reads 8 bytes of local memory at 60, which is not a multiple of 8" },
        { 0, SPACE_PARAM, TYPE_F64, 1, 32, FINDING_OUT_OF_BOUNDS,
          "reads 8 bytes of parameter memory at 32: the call has 32 bytes" },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        new_world(false, false);
        check_fault(&rows[i]);
    }
}

/* A shared memory of no bytes, an array of none. */
static void nothing_there_at_all(void)
{
    new_world(false, false);
    w.block.shared_bytes = 0;
    run(0, load(SPACE_SHARED, TYPE_U8, 1), ALL);
    CU_ASSERT_EQUAL(finding_count(), 1);
    end_world();
    new_world(false, false);
    set_linear(0, ADDRESS, memory_allocate(0, ALLOCATED, NULL)->base, 0);
    run(0, load(SPACE_GLOBAL, TYPE_U8, 1), ALL);
    CU_ASSERT_STRING_EQUAL(told(0) + strlen("reads 1 byte at 0x"
                                            "700000001a00"),
                           ", the 1 byte after allocation 3 (0 bytes, cudaMalloc)");
    end_world();
}

/* ---- Uninitialised reads ---- */

static void unwritten_global_memory(void)
{
    new_world(false, true);
    Step *write = store(SPACE_GLOBAL, TYPE_F32, 1), *read = load(SPACE_GLOBAL, TYPE_F32, 1);
    Step *add = atomic(SPACE_GLOBAL, TYPE_U32, MOD_add);
    set_linear(0, ADDRESS, w.array->base, 4);
    run(0, write, 0x7fffffff);
    run(0, read, 0x7fffffff);
    CU_ASSERT_EQUAL(finding_count(), 0);
    run(0, read, ALL);
    run(0, read, ALL);
    CU_ASSERT_EQUAL_FATAL(finding_count(), 1);
    CU_ASSERT_STRING_EQUAL(told(0),
                           "reads 4 bytes at 0x70000000007c, byte 124 of allocation 1 (4000 "
                           "bytes, cudaMalloc), which nothing has written");
    CU_ASSERT_EQUAL(finding_at(0)->place.thread[0], 31);
    CU_ASSERT_EQUAL(finding_at(0)->count, 2);
    CU_ASSERT_FALSE(finding_at(0)->fatal);
    CU_ASSERT_FALSE(w.launch.failed);
    memory_range(w.array->base, 128, true);
    set_linear(0, ADDRESS, w.array->base + 124, 0);
    run(0, add, 1);
    CU_ASSERT_EQUAL(finding_count(), 1);
    set_linear(0, ADDRESS, w.array->base + 128, 4);
    run(0, add, ALL);
    CU_ASSERT_EQUAL(finding_count(), 2);
    end_world();
}

static void unwritten_shared_memory(void)
{
    new_world(false, true);
    Step *write = store(SPACE_SHARED, TYPE_F32, 1), *read = load(SPACE_SHARED, TYPE_F32, 4);
    set_linear(0, ADDRESS, 0, 4);
    run(0, write, ALL);
    set_linear(0, ADDRESS, 0, 16);
    run(0, read, 0xff);
    CU_ASSERT_EQUAL(finding_count(), 0);
    run(0, read, 0x1ff);
    CU_ASSERT_EQUAL(finding_count(), 1);
    CU_ASSERT_STRING_EQUAL(told(0),
                           "reads 16 bytes of shared memory at 128, which no thread has written");
    end_world();
}

/* Switched off, nothing is told. */
static void checks_off(void)
{
    new_world(false, false);
    Step *read = load(SPACE_SHARED, TYPE_F32, 1), *write = store(SPACE_SHARED, TYPE_F32, 1);
    run(0, read, ALL);
    run(0, write, ALL);
    run(1, write, ALL);
    CU_ASSERT_EQUAL(finding_count(), 0);
    CU_ASSERT_PTR_NULL(w.block.shared_races);
    end_world();
}

/* ---- Races: scripts of a few words. Each: who does what where; | is a barrier ---- */

typedef struct Act {
    char what; /* 'r' 'w' 'a' (atomic) 'v' (volatile write) 'V' (volatile read); 'b' barrier of all,
                * 's' warp sync, 'p' a barrier of warps 0 and 1 only, 'f' fence, 'c' fence of the
                * block, 'B' block */
    int thread;     /* or block */
    int at;         /* byte */
    uint32_t value; /* that is written */
    int size;       /* 0: 4 */
} Act;

typedef struct Script {
    const char *name;
    Act acts[9];
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
        races_warp_sync(&w.warps[warp], ALL);
        return;
    case 'p':
        races_barrier(&w.block, 3);
        return;
    case 'f':
        races_fence(&w.warps[warp], false);
        return;
    case 'c':
        races_fence(&w.warps[warp], true);
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
          "__syncthreads() between" },
        { "with barrier",
          { { 'w', 3, 8, 1, 0 }, { 'b', 0, 0, 0, 0 }, { 'r', 40, 8, 0, 0 } },
          NULL },
        { "warp sync is none for others",
          { { 'w', 3, 8, 1, 0 }, { 's', 3, 0, 0, 0 }, { 's', 40, 0, 0, 0 }, { 'r', 40, 8, 0, 0 } },
          "reads 4 bytes of shared memory at 8, which thread (3,0,0) wrote at line 1, with no "
          "__syncthreads() between" },
        { "same warp",
          { { 'w', 3, 8, 1, 0 }, { 'r', 4, 8, 0, 0 } },
          "reads 4 bytes of shared memory at 8, which thread (3,0,0) wrote at line 1, with no "
          "__syncthreads() between (at least __syncwarp(): both are of one warp)" },
        { "same warp, synchronised",
          { { 'w', 3, 8, 1, 0 }, { 's', 3, 0, 0, 0 }, { 'r', 4, 8, 0, 0 } },
          NULL },
        { "write after read",
          { { 'r', 3, 8, 0, 0 }, { 'w', 40, 8, 1, 0 } },
          "writes 4 bytes of shared memory at 8, which thread (3,0,0) read at line 1, with no "
          "__syncthreads() between" },
        { "two values",
          { { 'w', 3, 8, 1, 0 }, { 'w', 40, 8, 2, 0 } },
          "writes 4 bytes of shared memory at 8, where thread (3,0,0) wrote another value at line "
          "1, "
          "with no __syncthreads() between" },
        { "one value", { { 'w', 3, 8, 1, 0 }, { 'w', 40, 8, 1, 0 } }, NULL },
        { "one value, then another",
          { { 'w', 3, 8, 1, 0 }, { 'w', 40, 8, 1, 0 }, { 'w', 40, 8, 2, 0 } },
          "writes 4 bytes of shared memory at 8, where other threads wrote another value at line "
          "2, with no __syncthreads() between" },
        { "one value, read by a third",
          { { 'w', 3, 8, 1, 0 }, { 'w', 40, 8, 1, 0 }, { 'r', 41, 8, 0, 0 } },
          "reads 4 bytes of shared memory at 8, which thread (40,0,0) wrote at line 2, with no "
          "__syncthreads() between (at least __syncwarp(): both are of one warp)" },
        { "one value, read between",
          { { 'w', 3, 8, 1, 0 }, { 'r', 3, 8, 0, 0 }, { 'w', 40, 8, 1, 0 }, { 'r', 40, 8, 0, 0 } },
          "writes 4 bytes of shared memory at 8, which thread (3,0,0) read at line 2, with no "
          "__syncthreads() between" },
        { "one value, read back by who wrote it",
          { { 'w', 3, 8, 1, 0 }, { 'w', 40, 8, 1, 0 }, { 'r', 40, 8, 0, 0 } },
          NULL },
        { "readers", { { 'r', 3, 8, 0, 0 }, { 'r', 4, 8, 0, 0 }, { 'r', 40, 8, 0, 0 } }, NULL },
        { "many readers, the first writes",
          { { 'r', 3, 8, 0, 0 }, { 'r', 40, 8, 0, 0 }, { 'w', 3, 8, 1, 0 } },
          "writes 4 bytes of shared memory at 8, which other threads read at line 1, with no "
          "__syncthreads() between" },
        { "many readers of one warp, the first writes",
          { { 'r', 3, 8, 0, 0 }, { 'r', 4, 8, 0, 0 }, { 'w', 3, 8, 1, 0 } },
          "writes 4 bytes of shared memory at 8, which other threads read at line 1, with no "
          "__syncthreads() between (at least __syncwarp(): both are of one warp)" },
        { "many readers of one warp, synchronised",
          { { 'r', 3, 8, 0, 0 }, { 'r', 4, 8, 0, 0 }, { 's', 3, 0, 0, 0 }, { 'w', 3, 8, 1, 0 } },
          NULL },
        { "atomics", { { 'a', 3, 8, 1, 0 }, { 'a', 40, 8, 1, 0 }, { 'a', 4, 8, 1, 0 } }, NULL },
        { "atomic, then read",
          { { 'a', 3, 8, 1, 0 }, { 'r', 40, 8, 0, 0 } },
          "reads 4 bytes of shared memory at 8, which thread (3,0,0) updated at line 1, with no "
          "__syncthreads() between" },
        { "atomics, then the first reads",
          { { 'a', 3, 8, 1, 0 }, { 'a', 40, 8, 1, 0 }, { 'r', 3, 8, 0, 0 } },
          "reads 4 bytes of shared memory at 8, which other threads updated at line 1, with no "
          "__syncthreads() between" },
        { "write, then atomic",
          { { 'w', 3, 8, 0, 0 }, { 'a', 40, 8, 1, 0 } },
          "updates 4 bytes of shared memory at 8, which thread (3,0,0) wrote at line 1, with no "
          "__syncthreads() between" },
        { "neighbouring bytes",
          { { 'w', 3, 8, 1, 1 }, { 'w', 40, 9, 1, 1 }, { 'r', 41, 10, 0, 1 } },
          NULL },
        { "a byte of a word",
          { { 'w', 3, 8, 1, 0 }, { 'r', 40, 10, 0, 1 } },
          "reads 1 byte of shared memory at 10, which thread (3,0,0) wrote at line 1, with no "
          "__syncthreads() between" },
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
          "__syncthreads() between" },
        { "volatile is no barrier",
          { { 'v', 3, 8, 1, 0 }, { 'V', 40, 8, 0, 0 } },
          "reads 4 bytes of shared memory at 8, which thread (3,0,0) wrote at line 1, with no "
          "__syncthreads() between" },
        { "volatile in a warp, as before Volta",
          { { 'c', 3, 0, 0, 0 }, { 'v', 3, 8, 1, 0 }, { 'V', 4, 8, 0, 0 } },
          "reads 4 bytes of shared memory at 8, which thread (3,0,0) wrote at line 1, with no "
          "__syncthreads() between (at least __syncwarp(): both are of one warp)" },
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
          "__syncthreads() between" },
        { "a flag, but no fence",
          { { 'w', 3, 8, 1, 0 },
            { 'a', 3, 64, 1, 0 },
            { 'a', 40, 64, 0, 0 },
            { 'r', 40, 8, 0, 0 } },
          "reads 4 bytes of shared memory at 8, which thread (3,0,0) wrote at line 1, with no "
          "__syncthreads() between" },
    };

    for (size_t i = 0; i < COUNT(scripts); i++)
        play(SPACE_SHARED, &scripts[i]);
}

#define ARRAY_AT_8 "at 0x700000000008 (byte 8 of allocation 1 (4000 bytes, cudaMalloc))"
#define ANY_ORDER  ": blocks of one launch run in any order"

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
          ", which thread (3,0,0) wrote at line 1, with no __syncthreads() between" },
        { "in one warp",
          { { 'w', 3, 8, 1, 0 }, { 'r', 4, 8, 0, 0 } },
          "reads 4 bytes " ARRAY_AT_8
          ", which thread (3,0,0) wrote at line 1, with no __syncthreads() between (at least "
          "__syncwarp(): both are of one warp)" },
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
        { "a fence of the block hands nothing over to others",
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
        { "the last block adds up, but nobody fences",
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
        { "neighbouring bytes",
          { { 'w', 3, 8, 1, 1 }, { 'B', 1, 0, 0, 0 }, { 'w', 3, 9, 1, 1 } },
          NULL },
    };

    for (size_t i = 0; i < COUNT(scripts); i++)
        play(SPACE_GLOBAL, &scripts[i]);
}

/* ---- Races against an oracle that keeps every access, and compares all pairs ----
 *
 * Two warps, of blocks that follow each other, use 160 words in patterns that take each of the
 * quick ways: whole lines, runs that are not aligned, 4, 8 and 16 bytes a lane, parts of a warp,
 * reversed and broadcast lanes. Each write writes another value. */

enum { RACE_WORDS = 160, MOST_USES = 1 << 13 };

typedef struct Use {
    int word, thread, block, epoch, syncs; /* epoch, syncs: barriers, and warp barriers, before */
    bool writes, is_atomic;
} Use;

static struct {
    Use uses[MOST_USES];
    int count, block, epoch, syncs[WARPS];
} o;

static const struct RacePattern {
    int first, stride, words, div; /* lane i: first + i / div * stride words, `words` of them */
    uint32_t mask;
} race_patterns[] = {
    { 0, 1, 1, 1, ALL },      { 32, 1, 1, 1, ALL },       { 64, 1, 1, 1, ALL },
    { 5, 1, 1, 1, ALL },      { 0, 2, 2, 1, ALL },        { 64, 2, 2, 1, ALL },
    { 0, 4, 4, 1, ALL },      { 4, 4, 4, 1, ALL },        { 0, 1, 1, 1, 0xffff },
    { 16, 1, 1, 1, 0xf0f0 },  { 127, -1, 1, 1, ALL },     { 3, 0, 1, 1, 1 },
    { 40, 0, 1, 1, 1u << 7 }, { 0, 4, 1, 1, ALL },        { 3, 5, 1, 1, ALL },
    { 96, 2, 2, 1, 0xff },    { 127, 0, 1, 1, 1u << 31 },
};
static const struct RacePattern read_patterns[] = { { 3, 0, 1, 1, ALL }, { 0, 4, 4, 16, ALL } };

static uint64_t random_number(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    return *state ^= *state << 17;
}

static bool is_ordered(const Use *a, const Use *b)
{
    if (a->block != b->block)
        return false;
    if (a->epoch != b->epoch || a->thread == b->thread)
        return true;
    return a->thread / LANES == b->thread / LANES && a->syncs != b->syncs;
}

/* Adds it; true if it races with one before. */
static bool oracle_use(Use use)
{
    bool races = false;

    for (int i = 0; i < o.count; i++) {
        const Use *other = &o.uses[i];
        races |= other->word == use.word && (other->writes || use.writes) &&
                 !(other->is_atomic && use.is_atomic) && !is_ordered(other, &use);
    }
    if (o.count < MOST_USES)
        o.uses[o.count++] = use;
    return races;
}

static Step *race_step_for(Space space, char what, int words)
{
    if (what == 'a')
        return atomic(space, TYPE_U32, MOD_add);
    return what == 'w' ? store(space, TYPE_U32, words) : load(space, TYPE_U32, words);
}

/* The oracle's answer. Lanes of one instruction do not meet in these patterns. */
static bool act_as(Space space, int warp, char what, const struct RacePattern *p)
{
    static uint32_t value;
    Step *step = race_step_for(space, what, p->words);
    bool races = false;

    for (int i = 0; i < LANES; i++) {
        int word = p->first + i / p->div * p->stride;
        wide(warp, ADDRESS)[i] =
            (space == SPACE_GLOBAL ? w.array->base : 0) + (uint64_t) (int64_t) word * 4;
        for (int e = 0; e < p->words; e++)
            narrow(warp, VALUE + 2 * e)[i] = ++value;
        for (int e = 0; p->mask >> i & 1 && e < p->words; e++)
            races |= oracle_use((Use){ word + e, warp * LANES + i, o.block, o.epoch, o.syncs[warp],
                                       what != 'r', what == 'a' });
    }
    run(warp, step, p->mask);
    return races;
}

static bool act_at_random(Space space, uint64_t *seed)
{
    int warp = (int) (random_number(seed) % WARPS);
    unsigned which = (unsigned) (random_number(seed) % 100);

    w.step_count = w.step_count > STEPS - 4 ? 0 : w.step_count;
    if (which < 22) {
        w.block.epoch++;
        o.epoch++;
    } else if (which < 30) {
        races_warp_sync(&w.warps[warp], ALL);
        o.syncs[warp]++;
    } else if (which < 33) {
        go_to_block(++o.block);
        o.count = space == SPACE_SHARED ? 0 : o.count;
        o.epoch = 0;
    } else if (which < 40) {
        return act_as(space, warp, 'r', &read_patterns[random_number(seed) % COUNT(read_patterns)]);
    } else {
        const struct RacePattern *p = &race_patterns[random_number(seed) % COUNT(race_patterns)];
        char what = p->words == 1 && which < 44 ? 'a' : which < 72 ? 'w' : 'r';
        return act_as(space, warp, what, p);
    }
    return false;
}

/* Up to the first race, which must be told there and no sooner. */
static bool races_as_the_oracle_says(Space space, uint64_t seed)
{
    bool races = false;

    new_world(true, false);
    memset(&o, 0, sizeof o);
    for (int i = 0; i < 24 && !races; i++) {
        races = act_at_random(space, &seed);
        CU_ASSERT_EQUAL(finding_count() > 0, races);
        if ((finding_count() > 0) != races) {
            printf("act %d: %s, oracle: %d\n", i, told(0), races);
            races = true;
        }
    }
    end_world();
    return races;
}

static void races_like_the_oracle(void)
{
    uint64_t seed = 88172645463325252ull;
    int races = 0;
    enum { SCRIPTS = 4000 };

    for (int i = 0; i < SCRIPTS; i++)
        races +=
            races_as_the_oracle_says(i % 2 ? SPACE_GLOBAL : SPACE_SHARED, random_number(&seed));
    CU_ASSERT(races > SCRIPTS / 4 && races < SCRIPTS); /* the scripts are a test of both answers */
}

/* Lanes of one instruction, one address. */
static void several_lanes_at_once(void)
{
    static const struct {
        bool differ;
        const char *text;
    } rows[] = {
        { true,
          "writes 4 bytes of shared memory at 0 in the same instruction as thread (1,0,0), which "
          "writes another value" },
        { false, NULL },
    };

    for (size_t r = 0; r < COUNT(rows); r++) {
        new_world(true, false);
        Step *step = store(SPACE_SHARED, TYPE_U32, 1);
        set_linear(0, ADDRESS, 0, 0);
        for (int i = 0; i < LANES; i++)
            narrow(0, VALUE)[i] = rows[r].differ ? (unsigned) i : 1;
        run(0, step, ALL);
        CU_ASSERT_EQUAL(finding_count(), rows[r].differ);
        if (rows[r].differ)
            CU_ASSERT_STRING_EQUAL(told(0), rows[r].text);
        CU_ASSERT_EQUAL(*(uint32_t *) w.shared, rows[r].differ ? 31 : 1);
        end_world();
    }
}

/* A kernel's launches follow each other; arrays are reread. */
static void launches_are_ordered(void)
{
    new_world(true, false);
    Act write = { 'w', 3, 8, 1, 0 }, read = { 'r', 4, 8, 0, 0 };
    act_once(SPACE_GLOBAL, &write);
    races_block_end(&w.block);
    races_launch_end(&w.launch);
    races_launch_begin(&w.launch);
    go_to_block(1);
    act_once(SPACE_GLOBAL, &read);
    CU_ASSERT_EQUAL(finding_count(), 0);
    end_world();
}

/* ---- Atomics against a serial oracle ---- */

static uint64_t oracle(Mod mod, PtxType type, uint64_t old, uint64_t b, uint64_t c)
{
    bool is_wide = type_size(type) == 8;
    uint64_t all = is_wide ? UINT64_MAX : UINT32_MAX;
    int64_t so = is_wide ? (int64_t) old : (int32_t) old, sb = is_wide ? (int64_t) b : (int32_t) b;

    switch (mod) {
    case MOD_add:
        return (old + b) & all;
    case MOD_min:
        return type_is_signed(type) ? (so < sb ? old : b) : old < b ? old : b;
    case MOD_max:
        return type_is_signed(type) ? (so > sb ? old : b) : old > b ? old : b;
    case MOD_and:
        return old & b;
    case MOD_or:
        return old | b;
    case MOD_xor:
        return old ^ b;
    case MOD_exch:
        return b;
    case MOD_cas:
        return old == b ? c : old;
    case MOD_inc:
        return old >= b ? 0 : old + 1;
    case MOD_dec:
        return !old || old > b ? b : old - 1;
    default:
        return 0;
    }
}

static void atomics_like_the_oracle(void)
{
    static const struct {
        Mod mod;
        PtxType type;
    } rows[] = {
        { MOD_add, TYPE_U32 },  { MOD_add, TYPE_S32 }, { MOD_add, TYPE_U64 },
        { MOD_min, TYPE_U32 },  { MOD_min, TYPE_S32 }, { MOD_min, TYPE_U64 },
        { MOD_min, TYPE_S64 },  { MOD_max, TYPE_U32 }, { MOD_max, TYPE_S32 },
        { MOD_max, TYPE_U64 },  { MOD_max, TYPE_S64 }, { MOD_and, TYPE_B32 },
        { MOD_and, TYPE_B64 },  { MOD_or, TYPE_B32 },  { MOD_or, TYPE_B64 },
        { MOD_xor, TYPE_B32 },  { MOD_xor, TYPE_B64 }, { MOD_exch, TYPE_B32 },
        { MOD_exch, TYPE_B64 }, { MOD_cas, TYPE_B32 }, { MOD_cas, TYPE_B64 },
        { MOD_inc, TYPE_U32 },  { MOD_dec, TYPE_U32 },
    };
    static const Space spaces[] = { SPACE_GLOBAL, SPACE_SHARED, SPACE_GENERIC };
    unsigned seed = 7;

    for (size_t r = 0; r < COUNT(rows); r++)
        for (size_t s = 0; s < COUNT(spaces); s++) {
            new_world(false, false);
            int size = type_size(rows[r].type);
            uint64_t base = spaces[s] == SPACE_SHARED ? 0 : w.array->base, want[8] = { 0 };
            Step *step = atomic(spaces[s], rows[r].type, rows[r].mod);
            for (int round = 0; round < 20; round++) {
                uint64_t before[LANES], mask = round % 3 ? ALL : 0xff00ff;
                for (int i = 0; i < LANES; i++) {
                    seed = seed * 1664525 + 1013904223;
                    uint64_t b = round & 1 ? (seed >> 12) % 5 : (uint64_t) seed << 24 | seed;
                    uint64_t c = seed >> 20;
                    b = size == 4 ? (uint32_t) b : b;
                    int at = (int) (seed >> 9) % 8;
                    if (rows[r].mod == MOD_cas && round & 1)
                        b = want[at];
                    wide(0, ADDRESS)[i] = base + (uint64_t) (at * size);
                    if (size == 8) {
                        wide(0, VALUE)[i] = b;
                        wide(0, OPERAND)[i] = c;
                    } else {
                        narrow(0, VALUE)[i] = (uint32_t) b;
                        narrow(0, OPERAND)[i] = (uint32_t) c;
                    }
                    before[i] = want[at];
                    if (mask >> i & 1)
                        want[at] = oracle(rows[r].mod, rows[r].type, want[at], b, c);
                }
                run(0, step, (uint32_t) mask);
                for (int i = 0; i < LANES; i++)
                    if (mask >> i & 1)
                        CU_ASSERT_EQUAL(size == 8 ? wide(0, RESULT)[i] : narrow(0, RESULT)[i],
                                        before[i]);
            }
            const char *memory = spaces[s] == SPACE_SHARED ? (char *) w.shared : w.array->host;
            for (int i = 0; i < 8; i++) {
                uint64_t got = 0;
                memcpy(&got, memory + i * size, (size_t) size);
                CU_ASSERT_EQUAL(got, want[i]);
            }
            end_world();
        }
}

static void floating_atomics(void)
{
    static const float addends[3] = { 1.5f, -0.25f, 1e-40f };

    new_world(false, false);
    Step *global = atomic(SPACE_GLOBAL, TYPE_F32, MOD_add),
         *shared = atomic(SPACE_SHARED, TYPE_F32, MOD_add);
    Step *wide_one = atomic(SPACE_GLOBAL, TYPE_F64, MOD_add);
    for (int i = 0; i < 3; i++) {
        memcpy(&narrow(0, VALUE)[0], &addends[i], 4);
        wide(0, ADDRESS)[0] = w.array->base + 4u * (unsigned) i;
        run(0, global, 1);
        wide(0, ADDRESS)[0] = 4u * (unsigned) i;
        run(0, shared, 1);
    }
    CU_ASSERT_EQUAL(((float *) w.array->host)[0], 1.5f);
    CU_ASSERT_EQUAL(((float *) w.array->host)[1], -0.25f);
    CU_ASSERT_EQUAL(((float *) w.array->host)[2], 0); /* global memory flushes subnormals */
    CU_ASSERT_EQUAL(((float *) w.shared)[2], 1e-40f);
    set_linear(0, ADDRESS, w.array->base + 64, 0);
    for (int i = 0; i < LANES; i++) {
        double one = 0.5;
        memcpy(&wide(0, VALUE)[i], &one, 8);
    }
    run(0, wide_one, ALL);
    CU_ASSERT_EQUAL(*(double *) (w.array->host + 64), 16);
    end_world();
}

static void what_is_not_an_atomic(void)
{
    static const struct {
        Mod mod;
        PtxType type;
        Space space;
    } rows[] = { { MOD_add, TYPE_U8, SPACE_GLOBAL },
                 { MOD_inc, TYPE_U64, SPACE_GLOBAL },
                 { MOD_min, TYPE_F32, SPACE_GLOBAL },
                 { MOD_add, TYPE_U32, SPACE_CONST },
                 { MOD_add, TYPE_U32, SPACE_LOCAL } };

    for (size_t r = 0; r < COUNT(rows); r++) {
        new_world(false, false);
        Step *step = new_step(OP_red, rows[r].space, rows[r].type, 1);
        add_mod(step, rows[r].mod);
        CU_ASSERT_FALSE(bind_memory(step, step->in));
        end_world();
    }
}

/* ---- cp.async ---- */

static Step *async_step(Mod mod, int operands)
{
    Step *step = new_step(OP_cp_async, SPACE_GLOBAL, TYPE_NONE, 0);
    Instruction *in = (Instruction *) step->in;

    in->type_count = 0;
    in->count = operands;
    add_mod(step, MOD_async);
    add_mod(step, mod);
    step->b = SOURCE;
    step->address_size2 = 8;
    if (mod == MOD_wait_group)
        step->a = OPERAND2;
    return bound(step);
}

static void copy_begins(void)
{
    for (int i = 0; i < 1000; i++)
        ((uint32_t *) w.array->host)[i] = 5u * (unsigned) i;
    set_linear(0, ADDRESS, 0, 16);
    set_linear(0, SOURCE, w.array->base, 16);
    for (int i = 0; i < LANES; i++) {
        narrow(0, OPERAND)[i] = 16;
        narrow(0, SIZE)[i] = i % 4 == 3 ? 0 : i % 4 == 2 ? 6 : 16;
    }
}

static void copies_arrive_when_waited_for(void)
{
    new_world(false, true);
    copy_begins();
    memory_range(w.array->base, 4000, true);
    Step *copy = async_step(MOD_cg, 3), *commit = async_step(MOD_commit_group, 0);
    Step *wait = async_step(MOD_wait_group, 1), *read = load(SPACE_SHARED, TYPE_U32, 1);
    run(0, copy, ALL);
    run(0, commit, ALL);
    set_linear(0, ADDRESS, 512, 16);
    run(0, copy, ALL);
    run(0, commit, ALL);
    CU_ASSERT_EQUAL(w.counts[0].requests, 2);
    CU_ASSERT_EQUAL(w.counts[0].sectors, 32);
    CU_ASSERT_EQUAL(w.counts[0].wavefronts, 8);
    narrow(0, OPERAND2)[0] = 1;
    run(0, wait, ALL);
    CU_ASSERT_EQUAL(((uint32_t *) w.shared)[1], 5);
    CU_ASSERT_EQUAL(((uint32_t *) w.shared)[129], 0);
    set_linear(0, ADDRESS, 0, 4);
    run(0, read, ALL);
    CU_ASSERT_EQUAL(finding_count(), 0);
    set_linear(0, ADDRESS, 512, 4);
    run(0, read, ALL);
    CU_ASSERT_EQUAL(finding_count(), 1);
    CU_ASSERT_STRING_EQUAL(told(0),
                           "reads 4 bytes of shared memory at 512, where the cp.async of line 1 "
                           "is still under way: wait for it first");
    narrow(0, OPERAND2)[0] = 0;
    run(0, wait, ALL);
    CU_ASSERT_EQUAL(((uint32_t *) w.shared)[129], 5);
    end_world();
}

static void copies_fill_with_zeros(void)
{
    static const uint32_t want[4][4] = {
        { 0, 5, 10, 15 }, { 20, 25, 30, 35 }, { 40, 45, 0, 0 }, { 0 }
    };

    new_world(false, false);
    copy_begins();
    memset(w.shared, 0xee, sizeof w.shared);
    wide(0, SOURCE)[3] = 0; /* nothing is read there */
    Step *copy = async_step(MOD_ca, 4), *wait = async_step(MOD_wait_all, 0);
    run(0, copy, 0xf);
    CU_ASSERT_EQUAL(w.shared[0], 0xee);
    run(0, wait, 0xf);
    CU_ASSERT_EQUAL(memcmp(w.shared, want, sizeof want), 0);
    CU_ASSERT_EQUAL(w.shared[64], 0xee);
    CU_ASSERT_EQUAL(finding_count(), 0);
    wide(0, SOURCE)[2] = w.array->base + 3996;
    run(0, copy, 0xf);
    CU_ASSERT_EQUAL(finding_count(), 1);
    end_world();
}

static void copies_race(void)
{
    new_world(true, false);
    copy_begins();
    Step *copy = async_step(MOD_cg, 3), *wait = async_step(MOD_wait_all, 0);
    Step *read = load(SPACE_SHARED, TYPE_U32, 1);
    run(0, copy, ALL);
    run(0, wait, ALL);
    set_linear(1, ADDRESS, 0, 4);
    run(1, read, ALL);
    CU_ASSERT_EQUAL(finding_count(), 1);
    CU_ASSERT_STRING_EQUAL(told(0),
                           "reads 4 bytes of shared memory at 0, which thread (0,0,0) wrote at "
                           "line 1, with no __syncthreads() between");
    w.block.epoch++;
    run(1, read, ALL);
    CU_ASSERT_EQUAL(finding_at(0)->count, 1);
    end_world();
}

static void copies_fault_where_they_are_issued(void)
{
    new_world(false, false);
    copy_begins();
    Step *copy = async_step(MOD_cg, 3);
    wide(0, SOURCE)[7] = w.array->base + 4000;
    run(0, copy, ALL);
    CU_ASSERT_STRING_EQUAL(told(0),
                           "reads 16 bytes at 0x700000000fa0, the 16 bytes after allocation 1 "
                           "(4000 bytes, cudaMalloc)");
    end_world();
    new_world(false, false);
    copy_begins();
    copy = async_step(MOD_cg, 3);
    wide(0, ADDRESS)[7] = 12;
    run(0, copy, ALL);
    CU_ASSERT_STRING_EQUAL(told(0),
                           "writes 16 bytes of shared memory at 12, which is not a multiple of 16");
    end_world();
}

static CU_TestInfo tests[] = {
    { "sectors of patterns", sectors_of_patterns },
    { "sectors of strides", sectors_of_strides },
    { "sectors of atomics", sectors_of_atomics },
    { "one request to several arrays", one_request_to_several_arrays },
    { "wavefronts of patterns", wavefronts_of_patterns },
    { "odd ones out", odd_ones_out },
    { "columns of a tile", columns_of_a_tile },
    { "wavefronts of atomics", wavefronts_of_atomics },
    { "widening loads", widening_loads },
    { "vectors and holes", vectors_and_holes },
    { "generic lanes apart", generic_lanes_apart },
    { "call parameters are each lane's own", call_parameters_are_each_lanes_own },
    { "faults in global memory", faults_in_global_memory },
    { "faults that need a scene", faults_that_need_a_scene },
    { "faults inside marked guards", faults_inside_marked_guards },
    { "faults elsewhere", faults_elsewhere },
    { "nothing there at all", nothing_there_at_all },
    { "unwritten global memory", unwritten_global_memory },
    { "unwritten shared memory", unwritten_shared_memory },
    { "checks off", checks_off },
    { "races in shared memory", races_in_shared_memory },
    { "races between blocks", races_between_blocks },
    { "races like the oracle", races_like_the_oracle },
    { "several lanes at once", several_lanes_at_once },
    { "launches are ordered", launches_are_ordered },
    { "atomics like the oracle", atomics_like_the_oracle },
    { "floating atomics", floating_atomics },
    { "what is not an atomic", what_is_not_an_atomic },
    { "copies arrive when waited for", copies_arrive_when_waited_for },
    { "copies fill with zeros", copies_fill_with_zeros },
    { "copies race", copies_race },
    { "copies fault where they are issued", copies_fault_where_they_are_issued },
    CU_TEST_INFO_NULL,
};

CU_SuiteInfo test_sim_access = { "test_sim_access", NULL, NULL, NULL, NULL, tests };
