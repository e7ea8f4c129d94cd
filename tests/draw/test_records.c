/* test_records.c - records of kernels whose accesses are known, and records that are refused. */
#include "rows.h"
#include "sim/base/records.h"
#include "sim/record/map.h"
#include "sim/record/record.h"
#include "sim/sim_launch.h"
#include "sim/sim_time.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- The recorder ---- */

/* Lane n loads word n * stride of the array, then stores to its own word of shared memory. */
#define STRIDED(stride)                                                                            \
    KERNEL("mul.lo.u32 %r10, %r2, " stride ";\nmul.wide.u32 %rd5, %r10, 4;\n"                      \
           "add.s64 %rd6, %rd1, %rd5;\nld.global.u32 %r0, [%rd6];\n")

#define SHARED(stride)                                                                             \
    HEAD ".visible .shared .align 4 .b8 tile[8192];\n" BEGIN "mul.lo.u32 %r10, %r2, " stride       \
         ";\nshl.b32 %r11, %r10, 2;\nmov.u32 %r12, tile;\n"                                        \
         "add.u32 %r13, %r12, %r11;\nst.shared.u32 [%r13], %r2;\n" END

static const struct {
    const char *name, *ptx;
    RecordSpace space;
    RecordKind kind;
    int passes, least;
    uint64_t second; /* offset of lane 1 */
} kernels[] = {
    { "unit stride", STRIDED("1"), RECORD_GLOBAL, RECORD_LOAD, 4, 4, 4 },
    { "stride 2", STRIDED("2"), RECORD_GLOBAL, RECORD_LOAD, 8, 4, 8 },
    { "stride 8", STRIDED("8"), RECORD_GLOBAL, RECORD_LOAD, 32, 4, 32 },
    { "one address", STRIDED("0"), RECORD_GLOBAL, RECORD_LOAD, 1, 1, 0 },
    { "shared, unit stride", SHARED("1"), RECORD_SHARED, RECORD_STORE, 1, 1, 4 },
    { "shared, stride 2", SHARED("2"), RECORD_SHARED, RECORD_STORE, 2, 1, 8 },
    { "shared, stride 32", SHARED("32"), RECORD_SHARED, RECORD_STORE, 32, 1, 128 },
    { "shared, stride 33", SHARED("33"), RECORD_SHARED, RECORD_STORE, 1, 1, 132 },
};

static const WarpAccess *first_of(const Records *r, RecordSpace space, RecordKind kind)
{
    for (int i = 0; i < r->access_count; i++)
        if (r->accesses[i].space == (int) space && r->accesses[i].kind == (int) kind)
            return &r->accesses[i];
    return NULL;
}

/* Sums the counters of the instructions of one kind in one space. */
static Count counted(const Trial *trial, RecordSpace space, OpClass class_)
{
    Count sum = { 0 };

    for (int i = 0; i < trial->code->step_count; i++) {
        const Count *count = &trial->launch.counts[i];
        if (trial->code->steps[i].class_ != (int) class_)
            continue;
        sum.requests += space == RECORD_GLOBAL ? count->requests
                        : count->wavefronts    ? count->executed
                                               : 0;
        sum.sectors += count->sectors;
        sum.wavefronts += count->wavefronts;
    }
    return sum;
}

static void an_access_is_recorded_with_its_counters(void)
{
    for (size_t i = 0; i < COUNT(kernels); i++) {
        const bool is_shared = kernels[i].space == RECORD_SHARED;
        Trial trial = { .ptx = kernels[i].ptx, .threads = 64, .blocks = 3 };
        const WarpAccess *a;
        Count sum;
        char why[200] = "";
        CU_ASSERT_FATAL(record_start(&(RecordFilter){ -1, -1 }));
        CU_ASSERT_FATAL(trial_run(&trial));
        a = first_of(record_so_far(), kernels[i].space, kernels[i].kind);
        sum = counted(&trial, kernels[i].space,
                      kernels[i].kind == RECORD_LOAD ? CLASS_LOAD : CLASS_STORE);
        record_so_far()->device = (RecordedDevice){ .name = "d", .sms = 4, .sm_mhz = 1000 };
        if (!a || a->passes != kernels[i].passes || a->least != kernels[i].least ||
            a->address[1] != kernels[i].second || a->mask != UINT32_MAX || a->bytes != 4 ||
            a->block != 0 || a->warp != 0 || a->requests != 6 || a->requests != sum.requests ||
            a->all_passes != (is_shared ? sum.wavefronts : sum.sectors) ||
            !records_check(record_so_far(), why, sizeof why))
            FAIL_SAYING("%s: %d passes, %d at least; %s", kernels[i].name, a ? a->passes : -1,
                        a ? a->least : -1, why);
        record_stop();
        trial_close(&trial);
    }
}

static void shared_words_that_no_warp_accesses_are_known(void)
{
    Trial trial = { .ptx = SHARED("33") };
    const RecordedLaunch *launch;

    CU_ASSERT_FATAL(record_start(&(RecordFilter){ -1, -1 }));
    CU_ASSERT_FATAL(trial_run(&trial));
    launch = &record_so_far()->launches[0];
    for (int word = 0; word < 33 * 31 + 1; word++)
        if ((launch->touched[word / 8] >> word % 8 & 1) != (word % 33 == 0))
            FAIL_SAYING("word %d", word);
    CU_ASSERT_EQUAL(record_so_far()->variable_count, 1);
    CU_ASSERT_STRING_EQUAL(record_so_far()->variables[0].name, "tile");
    CU_ASSERT_EQUAL(record_so_far()->variables[0].bytes, 8192);
    record_stop();
    trial_close(&trial);
}

/* Lane n of block b stores to word 32 b + n. */
static void each_store_is_recorded_with_its_thread(void)
{
    Trial trial = { .ptx = KERNEL(""), .threads = 64, .blocks = 5 };
    const Records *r;

    CU_ASSERT_FATAL(record_start(&(RecordFilter){ 2, -1 }));
    CU_ASSERT_FATAL(trial_run(&trial));
    r = record_so_far();
    CU_ASSERT_EQUAL_FATAL(r->write_count, 64);
    for (int i = 0; i < 64; i++) {
        const ElementWrite *w = &r->writes[i];
        const int thread = w->warp * 32 + w->lane;
        if (w->offset != (uint64_t) (4 * (2 * 64 + thread)) || w->bytes != 4)
            FAIL_SAYING("thread %d: offset %llu", thread, (unsigned long long) w->offset);
    }
    CU_ASSERT_EQUAL_FATAL(r->block_tile_count, 5);
    for (int i = 0; i < 5; i++)
        CU_ASSERT_EQUAL(r->block_tiles[i].first, (uint64_t) (4 * 64 * r->block_tiles[i].block));
    CU_ASSERT_EQUAL(r->accesses[0].block, 2);
    record_stop();
    trial_close(&trial);
}

/* Lanes below 5 execute two more instructions. */
static const char divergent[] = KERNEL("setp.lt.u32 %p1, %r2, 5;\n@!%p1 bra over;\n"
                                       "add.u32 %r0, %r2, 1;\nadd.u32 %r0, %r0, 1;\nover:\n");

static void lanes_and_blocks_are_recorded_where_time_is_modelled(void)
{
    Device device = plain;
    Trial trial = { .ptx = divergent, .threads = 96, .blocks = 9 };
    const Records *r;
    uint64_t last = 0;
    int fives = 0;

    device.sms = 4;
    trial.gpu = gpu_open(&device);
    CU_ASSERT_PTR_NOT_NULL_FATAL(trial.gpu);
    CU_ASSERT_FATAL(record_start(&(RecordFilter){ -1, -1 }));
    CU_ASSERT_FATAL(trial_run(&trial));
    r = record_so_far();
    CU_ASSERT_EQUAL(r->block_span_count, trial.blocks);
    CU_ASSERT_EQUAL(r->launches[0].played, trial.blocks);
    for (int i = 0; i < r->block_span_count; i++)
        last = r->block_spans[i].end > last ? r->block_spans[i].end : last;
    CU_ASSERT_EQUAL((double) last, trial.time.cycles);
    for (int i = 0; i < r->lane_step_count; i++)
        fives += r->lane_steps[i].executed == 0x1f;
    CU_ASSERT_EQUAL(fives, 2);
    CU_ASSERT(r->launches[0].executed == trial.launch.executed);
    record_stop();
    trial_close(&trial);
    gpu_close(trial.gpu);
}

#define LOOP "again:\nadd.u32 %r10, %r10, 1;\nsetp.lt.u32 %p2, %r10, 100;\n@%p2 bra again;\n"

/* Kernels of 4 warps, and the first warp whose active lanes are the median. */
static const struct {
    const char *name, *ptx;
    int warp;
} typical[] = {
    { "all are alike", KERNEL(""), 0 },
    { "warp 0 has one lane", KERNEL("setp.lt.u32 %p1, %r1, 31;\n@%p1 ret;\n" LOOP), 1 },
    { "warps 0, 1 and 2 end at once",
      KERNEL("setp.lt.u32 %p1, %r1, 96;\n@%p1 ret;\nsetp.ge.u32 %p1, %r2, 5;\n@%p1 ret;\n" LOOP),
      3 },
};

static void the_typical_warp_has_the_median_of_active_lanes(void)
{
    for (size_t i = 0; i < COUNT(typical); i++) {
        Trial trial = { .ptx = typical[i].ptx, .threads = 128, .blocks = 3 };
        const RecordedLaunch *launch;
        trial.gpu = gpu_open(&plain);
        CU_ASSERT_PTR_NOT_NULL_FATAL(trial.gpu);
        CU_ASSERT_FATAL(record_start(&(RecordFilter){ -1, -1 }));
        CU_ASSERT_FATAL(trial_run(&trial));
        launch = &record_so_far()->launches[0];
        if (launch->typical_block != 0 || launch->typical_warp != typical[i].warp)
            FAIL_SAYING("%s: warp %d of block %lld", typical[i].name, launch->typical_warp,
                        (long long) launch->typical_block);
        record_stop();
        trial_close(&trial);
        gpu_close(trial.gpu);
    }
}

/* Lane n loads its word four times in a loop, and lane 0 of block 1 another word. */
static const char loop[] =
    HEAD ".file 1 \"k.cu\"\n" BEGIN "mul.wide.u32 %rd5, %r2, 4;\nadd.s64 %rd6, %rd1, %rd5;\n"
         "mov.u32 %r10, 0;\nagain:\n.loc 1 7 0\n"
         "ld.global.u32 %r0, [%rd6];\nadd.s64 %rd6, %rd6, 256;\n"
         "add.u32 %r10, %r10, 1;\nsetp.lt.u32 %p1, %r10, 12;\n"
         "@%p1 bra again;\n" END;

static void the_first_accesses_of_a_line_are_kept(void)
{
    Trial trial = { .ptx = loop, .threads = 64, .blocks = 3 };
    const Records *r;
    int turns = 0;

    CU_ASSERT_FATAL(record_start(&(RecordFilter){ -1, -1 }));
    CU_ASSERT_FATAL(trial_run(&trial));
    r = record_so_far();
    for (int i = 0; i < r->turn_count; i++) {
        const WarpAccess *a = &r->turns[i];
        if (a->kind != RECORD_LOAD)
            continue;
        if (a->line != 7 || a->block || a->warp || a->passes != 4 || a->requests != 6 * 12 ||
            a->address[1] != (uint64_t) (256 * turns + 4))
            FAIL_SAYING("turn %d: line %d, offset %llu", turns, a->line,
                        (unsigned long long) a->address[1]);
        turns++;
    }
    CU_ASSERT_EQUAL(turns, TURNS_PER_LINE);
    record_stop();
    trial_close(&trial);
}

/* A matrix is mapped by tiles: every element falls into the tile of its row and column. */
static void a_matrix_has_tiles(void)
{
    static const struct {
        uint64_t rows, row_bytes, width, cell_rows;
        int start, across;
    } rows[] = {
        { 1024, 4096, 128, 64, 0, 32 },                                /* 16 x 32 tiles */
        { 1000, 4100, 128, 67, 32, 33 }, { 65536, 64, 8192, 0, 0, 0 }, /* too narrow */
        { 7, 4096, 64, 0, 0, 0 },                                      /* too few rows */
        { 9, 256, 32, 1, 96, 8 },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        static RecordedArray a;
        static Block block;
        Warp warp = { .block = &block };
        uint64_t used = 0;
        a = (RecordedArray){ .bytes = rows[i].rows * rows[i].row_bytes,
                             .row_bytes = rows[i].row_bytes,
                             .start = rows[i].start };
        map_begin(&a);
        if (a.cell_bytes[0] != rows[i].width || a.across != rows[i].across ||
            a.cell_rows != rows[i].cell_rows)
            FAIL_SAYING("row %zu: %d across, %llu bytes, %llu rows", i, a.across,
                        (unsigned long long) a.cell_bytes[0], (unsigned long long) a.cell_rows);
        for (uint64_t at = 0; at < a.bytes; at += 4) {
            Access x = { .warp = &warp, .mask = 1, .bytes = 4, .kind = ACCESS_LOAD };
            x.address[0] = at + (uint64_t) a.start;
            map_add(&a, &x, 0, 0);
        }
        for (int cell = 0; cell < MAP_CELLS; cell++)
            used += a.cells[0][cell].used;
        CU_ASSERT_EQUAL(used, a.bytes);
        if (rows[i].across)
            CU_ASSERT_EQUAL(a.cells[0][rows[i].across + 1].used, rows[i].cell_rows * rows[i].width);
    }
}

/* Lanes that access consecutive bytes, or the same ones, are added to a map together. Each cell
 * must have the bytes and the first lane that it gets from the lanes one by one. */
static void lanes_of_a_request_are_added_one_by_one(void)
{
    static const struct {
        uint32_t mask;
        int bytes, step;
    } rows[] = {
        { UINT32_MAX, 4, 4 }, { UINT32_MAX, 16, 16 },  { UINT32_MAX, 4, 0 },
        { UINT32_MAX, 8, 4 }, { UINT32_MAX, 4, 260 },  { 0xf0f00ff6, 4, 4 },
        { 0xf0f00ff6, 4, 0 }, { 0x80000001, 16, -16 },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        static RecordedArray together, single;
        static Block block;
        Warp warp = { .block = &block };
        Access x = { .warp = &warp, .bytes = rows[i].bytes, .kind = ACCESS_LOAD };
        together = (RecordedArray){ .bytes = 1 << 14, .row_bytes = 264, .start = 32 };
        map_begin(&together);
        single = together;
        for (int lane = 0; lane < 32; lane++)
            x.address[lane] = (uint64_t) (1000 + lane / 24 * 8 + lane * rows[i].step);
        x.mask = rows[i].mask;
        map_add(&together, &x, 0, 0);
        for (uint32_t left = rows[i].mask; left; left &= left - 1) {
            x.mask = left & -left;
            map_add(&single, &x, 0, 0);
        }
        for (int at = 0; at < MAP_LEVELS * MAP_CELLS; at++) {
            const MapCell *a = &together.cells[at / MAP_CELLS][at % MAP_CELLS];
            const MapCell *b = &single.cells[at / MAP_CELLS][at % MAP_CELLS];
            if (a->used != b->used || a->lane != b->lane || a->kinds != b->kinds)
                FAIL_SAYING("row %zu, cell %d: lane %d, %llu bytes; one by one lane %d, %llu bytes",
                            i, at, a->lane, (unsigned long long) a->used, b->lane,
                            (unsigned long long) b->used);
        }
    }
}

/* The sums of a map equal the counters of all requests that it covers. */
static void a_map_has_all_bytes_of_an_array(void)
{
    for (size_t i = 0; i < COUNT(kernels); i++) {
        Trial trial = { .ptx = kernels[i].ptx, .threads = 64, .blocks = 3 };
        uint64_t moved = 0, used = 0, passes = 0, asked = 0;
        const Records *r;
        CU_ASSERT_FATAL(record_start(&(RecordFilter){ -1, -1 }));
        CU_ASSERT_FATAL(trial_run(&trial));
        r = record_so_far();
        for (int a = 0; a < r->array_count; a++)
            for (int cell = 0; cell < MAP_CELLS; cell++) {
                moved += r->arrays[a].cells[0][cell].moved;
                used += r->arrays[a].cells[0][cell].used;
            }
        for (int a = 0; a < r->access_count; a++)
            if (r->accesses[a].space == RECORD_GLOBAL) {
                passes += r->accesses[a].all_passes;
                asked += r->accesses[a].all_least;
            }
        if (moved != RECORD_SECTOR_BYTES * passes || used < asked)
            FAIL_SAYING("%s: %llu bytes moved, %llu sectors", kernels[i].name,
                        (unsigned long long) moved, (unsigned long long) passes);
        record_stop();
        trial_close(&trial);
    }
}

static void nothing_is_recorded_while_it_is_off(void)
{
    Trial trial = { .ptx = STRIDED("1") };

    CU_ASSERT_FATAL(trial_run(&trial));
    CU_ASSERT_PTR_NULL(record_so_far());
    CU_ASSERT_PTR_NULL(trial.launch.step);
    trial_close(&trial);
}

/* ---- Untrusted records ---- */

static Records *some_records(void)
{
    Records *r = calloc(1, sizeof *r);

    CU_ASSERT_PTR_NOT_NULL_FATAL(r);
    r->device = (RecordedDevice){ .name = "d", .sms = 8, .sm_mhz = 1000 };
    r->turn_count = r->finding_count = 1;
    r->array_count = r->launch_count = r->variable_count = r->access_count = r->lane_step_count =
        r->block_span_count = r->block_tile_count = r->span_count = r->write_count = 1;
    r->arrays[0] = (RecordedArray){ .name = "in", .bytes = 4096 };
    r->launches[0] = (RecordedLaunch){ .kernel = "k", .grid = { 1, 1, 1 }, .block = { 32, 1, 1 } };
    r->accesses[0] = (WarpAccess){ .bytes = 4, .mask = 1 };
    r->lane_steps[0] = (LaneStep){ .active = 1, .executed = 1 };
    r->block_spans[0] = (BlockSpan){ .end = 5 };
    r->writes[0] = (ElementWrite){ .bytes = 4 };
    r->turns[0] = r->accesses[0];
    return r;
}

/* Each row makes one assignment that spoils the records. */
#define WRONGS                                                                                     \
    X(array_count, -1)                                                                             \
    X(array_count, MOST_ARRAYS + 1)                                                                \
    X(launch_count, 0)                                                                             \
    X(access_count, MOST_ACCESSES + 1)                                                             \
    X(lane_step_count, 1 << 30)                                                                    \
    X(write_count, -5)                                                                             \
    X(device.sms, 0)                                                                               \
    X(device.sm_mhz, NAN)                                                                          \
    X(device.sm_mhz, 0)                                                                            \
    X(arrays[0].start, 128)                                                                        \
    X(arrays[0].bytes, UINT64_MAX)                                                                 \
    X(launches[0].grid[1], 0)                                                                      \
    X(launches[0].block[0], 1025)                                                                  \
    X(launches[0].cycles, INFINITY)                                                                \
    X(launches[0].shared_bytes, 1 << 30)                                                           \
    X(variables[0].launch, 1)                                                                      \
    X(accesses[0].launch, 1)                                                                       \
    X(accesses[0].array, 1)                                                                        \
    X(accesses[0].array, -1)                                                                       \
    X(accesses[0].kind, 3)                                                                         \
    X(accesses[0].space, RECORD_SHARED) /* which has no array */                                   \
    X(accesses[0].bytes, 0)                                                                        \
    X(accesses[0].warp, 32)                                                                        \
    X(accesses[0].mask, 0)                                                                         \
    X(accesses[0].line, -1)                                                                        \
    X(accesses[0].address[31], UINT64_MAX)                                                         \
    X(lane_steps[0].active, 2)                                                                     \
    X(block_spans[0].sm, 8)                                                                        \
    X(block_spans[0].begin, 6)                                                                     \
    X(block_tiles[0].first, UINT64_MAX)                                                            \
    X(spans[0].engine, ENGINES)                                                                    \
    X(spans[0].begin_ns, -1)                                                                       \
    X(spans[0].end_ns, NAN)                                                                        \
    X(writes[0].warp, 32)                                                                          \
    X(writes[0].bytes, 65)                                                                         \
    X(turn_count, MOST_TURNS + 1)                                                                  \
    X(turns[0].array, 1)                                                                           \
    X(turns[0].passes, -1)                                                                         \
    X(finding_count, -1)                                                                           \
    X(findings[0].text[0], '\n')                                                                   \
    X(findings[0].access.line, -1)                                                                 \
    X(findings[0].other.thread[2], 1024)                                                           \
    X(findings[0].count, UINT64_MAX)                                                               \
    X(launches[0].typical_block, -1)                                                               \
    X(launches[0].typical_warp, 32)                                                                \
    X(arrays[0].cell_rows, 1)                                                                      \
    X(arrays[0].across, MAP_CELLS + 1)                                                             \
    X(arrays[0].cells[0][1].lane, 32)                                                              \
    X(arrays[0].cells[1][2].kinds, 8)                                                              \
    X(arrays[0].cells[1][2].block, -1)                                                             \
    X(arrays[0].cells[1][MAP_CELLS - 1].moved, UINT64_MAX)                                         \
    X(arrays[0].cell_bytes[0], UINT64_MAX)

static void records_out_of_bounds_are_refused(void)
{
    Records *r = some_records();
    char why[200] = "";

    CU_ASSERT(records_check(r, why, sizeof why));
#define X(member, value)                                                                           \
    {                                                                                              \
        Records *wrong = some_records();                                                           \
        wrong->member = value;                                                                     \
        if (records_check(wrong, why, sizeof why))                                                 \
            FAIL_SAYING("%s = %s is accepted", #member, #value);                                   \
        free(wrong);                                                                               \
    }
    WRONGS
#undef X
    memset(r->arrays[0].name, 'a', sizeof r->arrays[0].name);
    CU_ASSERT_FALSE(records_check(r, why, sizeof why));
    free(r);
}

CU_SuiteInfo test_records = {
    "records",
    .pTests =
        (CU_TestInfo[]){
            { "an access is recorded with its counters", an_access_is_recorded_with_its_counters },
            { "shared words that no warp accesses are known",
              shared_words_that_no_warp_accesses_are_known },
            { "each store is recorded with its thread", each_store_is_recorded_with_its_thread },
            { "lanes and blocks are recorded where time is modelled",
              lanes_and_blocks_are_recorded_where_time_is_modelled },
            { "the typical warp has the median of active lanes",
              the_typical_warp_has_the_median_of_active_lanes },
            { "the first accesses of a line are kept", the_first_accesses_of_a_line_are_kept },
            { "a matrix has tiles", a_matrix_has_tiles },
            { "lanes of a request are added one by one", lanes_of_a_request_are_added_one_by_one },
            { "a map has all bytes of an array", a_map_has_all_bytes_of_an_array },
            { "nothing is recorded while it is off", nothing_is_recorded_while_it_is_off },
            { "records out of bounds are refused", records_out_of_bounds_are_refused },
            CU_TEST_INFO_NULL,
        },
};
