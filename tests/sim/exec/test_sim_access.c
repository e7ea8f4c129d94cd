/* test_sim_access.c - ld and st on hand-built steps and warps: the bytes that they move, and their
 * findings. */
#include "sim/sim_world.h"

/* ---- Moved bytes ---- */

static void widening_loads(void)
{
    static const struct {
        PtxType type;
        int data_size;
        uint64_t want; /* from bytes 81 82 83 84 85 86 87 88 */
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

/* One generic load whose lanes are in four spaces. */
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
    uint64_t address; /* of lane 5; the other lanes read the start of the array */
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
    snprintf(text, sizeof text,
             "writes 4 bytes at 0x%llx, inside allocation 2 (400 bytes, cudaMalloc), which has "
             "been freed",
             (unsigned long long) f.address);
    check_fault(&f);

    new_world(false, false);
    f.address = (uint64_t) (uintptr_t) &on_the_host;
    f.kind = FINDING_HOST_POINTER;
    snprintf(
        text, sizeof text,
        "writes 4 bytes at 0x%llx, an address in the host's memory: kernels may only use the GPU's",
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

/* Guard zones around an array, as the grader's runner places them: 400 | 3200 | 400 bytes. */
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

/* Shared memory and an array of 0 bytes. */
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
                           "bytes, cudaMalloc), which nothing has written yet");
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
    CU_ASSERT_STRING_EQUAL(
        told(0), "reads 16 bytes of shared memory at 128, which no thread has written yet");
    end_world();
}

/* Checks that are off report nothing. */
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

static CU_TestInfo tests[] = {
    { "widening loads", widening_loads },
    { "vectors and holes", vectors_and_holes },
    { "generic lanes apart", generic_lanes_apart },
    { "call parameters are each lane's own", call_parameters_are_each_lanes_own },
    { "faults in global memory", faults_in_global_memory },
    { "faults that need preparation", faults_that_need_a_scene },
    { "faults inside marked guards", faults_inside_marked_guards },
    { "faults elsewhere", faults_elsewhere },
    { "empty memory", nothing_there_at_all },
    { "unwritten global memory", unwritten_global_memory },
    { "unwritten shared memory", unwritten_shared_memory },
    { "checks off", checks_off },
    CU_TEST_INFO_NULL,
};

CU_SuiteInfo test_sim_access = { "test_sim_access", NULL, NULL, NULL, NULL, tests };
