/* test_sim_memory.c - the simulated GPU's memory, and the list of findings. */
#include "sim/base/bits.h"
#include "sim/base/finding.h"
#include "sim/memory/memory.h"
#include "rows.h"

#include <CUnit/CUnit.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define MIB ((size_t) 1 << 20)

static void open_memory(size_t bytes, bool track)
{
    char why[200] = "";

    CU_ASSERT_FATAL(memory_open(bytes, track, why, sizeof why));
}

/* ---- The range ---- */

static long resident_kib(void)
{
    long pages = 0, resident = 0;
    FILE *f = fopen("/proc/self/statm", "r");

    if (f && fscanf(f, "%ld %ld", &pages, &resident) != 2)
        resident = 0;
    if (f)
        fclose(f);
    return resident * 4;
}

static void opening_costs_nothing(void)
{
    long before = resident_kib();

    open_memory((size_t) 80 << 30, true);
    CU_ASSERT_EQUAL(memory_base(), GLOBAL_BASE);
    CU_ASSERT(memory_allocate((size_t) 8 << 30, ALLOCATED, NULL) != NULL);
    CU_ASSERT(resident_kib() - before < 4096);
    memory_close();
}

static void allocations_are_aligned_and_apart(void)
{
    static const size_t sizes[] = { 1, 4, 511, 512, 513, 4000, 1 << 20, 12345678 };
    uint64_t end = 0;

    open_memory(64 * MIB, false);
    for (size_t i = 0; i < COUNT(sizes); i++) {
        Allocation *a = memory_allocate(sizes[i], ALLOCATED, NULL);
        CU_ASSERT_FATAL(a != NULL);
        CU_ASSERT_EQUAL(a->base % ALLOCATION_ALIGN, 0);
        CU_ASSERT_EQUAL(a->number, (int) i + 1);
        CU_ASSERT(!end || a->base >= end + ALLOCATION_ALIGN);
        memset(a->host, 1, a->bytes);
        end = a->base + a->bytes;
        CU_ASSERT_PTR_EQUAL(memory_find(a->base), a);
        CU_ASSERT_PTR_EQUAL(memory_find(end - 1), a);
        CU_ASSERT_PTR_NULL(memory_find(end));
        CU_ASSERT_PTR_NULL(memory_find(a->base - 1));
    }
    memory_close();
}

/* A kernel of one lab accessed an address 20,468 bytes past the end of a small array. When gaps
 * were only as long as the arrays, this was inside the next array and was not reported. */
static void the_next_array_is_far(void)
{
    open_memory(64 * MIB, false);
    for (int i = 0; i < 3; i++)
        CU_ASSERT_FATAL(memory_allocate(12300, ALLOCATED, NULL) != NULL);
    CU_ASSERT_PTR_NULL(memory_find(GLOBAL_BASE + 12300 + 20468));
    memory_close();
}

static void no_more_than_there_is(void)
{
    open_memory(10 * MIB, false);
    CU_ASSERT_PTR_NULL(memory_allocate(10 * MIB + 1, ALLOCATED, NULL));
    CU_ASSERT_PTR_NULL(memory_allocate(SIZE_MAX, ALLOCATED, NULL));
    CU_ASSERT_PTR_NULL(memory_allocate(SIZE_MAX - 4096, ALLOCATED, NULL));
    Allocation *a = memory_allocate(6 * MIB, ALLOCATED, NULL);
    CU_ASSERT_PTR_NOT_NULL(a);
    CU_ASSERT_PTR_NULL(memory_allocate(6 * MIB, ALLOCATED, NULL));
    CU_ASSERT_EQUAL(memory_in_use(), 6 * MIB);
    CU_ASSERT(memory_free(a->base));
    CU_ASSERT_PTR_NOT_NULL(memory_allocate(6 * MIB, ALLOCATED, NULL));
    memory_close();
    CU_ASSERT_PTR_NULL(memory_allocate(1, ALLOCATED, NULL));
}

/* Allocates far more than the range holds in total; live allocations keep their bytes. */
static void freed_places_come_again(void)
{
    Allocation *live[8] = { 0 };
    unsigned seed = 1;

    open_memory(64 * MIB, true);
    for (int i = 0; i < 3000; i++) {
        int k = i % 8;
        if (live[k]) {
            CU_ASSERT_EQUAL(live[k]->host[0], k + 1);
            CU_ASSERT_EQUAL(live[k]->host[live[k]->bytes - 1], k + 1);
            CU_ASSERT(memory_free(live[k]->base));
        }
        seed = seed * 1664525 + 1013904223;
        live[k] = memory_allocate(1 + (seed >> 8) % (6 * MIB), ALLOCATED, NULL);
        CU_ASSERT_FATAL(live[k] != NULL);
        live[k]->host[0] = live[k]->host[live[k]->bytes - 1] = (char) (k + 1);
        for (int j = 0; j < 8; j++)
            CU_ASSERT(j == k || !live[j] || live[j]->base + live[j]->bytes <= live[k]->base ||
                      live[k]->base + live[k]->bytes <= live[j]->base);
    }
    memory_close();
}

static void many_small_ones(void)
{
    enum { N = 40000 };
    static uint64_t base[N];

    open_memory(64 * MIB, false);
    for (int i = 0; i < N; i++) {
        Allocation *a = memory_allocate(16, ALLOCATED, NULL);
        CU_ASSERT_FATAL(a != NULL);
        base[i] = a->base;
    }
    for (int i = 0; i < N; i++)
        CU_ASSERT(memory_find(base[i] + 15)->base == base[i]);
    for (int i = 0; i < N; i++)
        CU_ASSERT(memory_free(base[i]));
    CU_ASSERT_EQUAL(memory_in_use(), 0);
    CU_ASSERT_PTR_NOT_NULL(memory_allocate(16, ALLOCATED, NULL));
    memory_close();
}

static void free_only_what_begins_there(void)
{
    open_memory(MIB, false);
    Allocation *a = memory_allocate(100, ALLOCATED, NULL);
    CU_ASSERT_FALSE(memory_free(a->base + 4));
    CU_ASSERT_FALSE(memory_free(0));
    CU_ASSERT(memory_free(a->base));
    CU_ASSERT_FALSE(memory_free(a->base));
    memory_close();
}

/* ---- The host ---- */

static sigjmp_buf fault;

static void on_fault(int signal)
{
    siglongjmp(fault, signal);
}

static bool host_can_read(const volatile char *at)
{
    struct sigaction action = { .sa_handler = on_fault }, old;
    bool can = true;

    sigaction(SIGSEGV, &action, &old);
    if (sigsetjmp(fault, 1))
        can = false;
    else
        (void) *at;
    sigaction(SIGSEGV, &old, NULL);
    return can;
}

static void the_host_sees_managed_memory_only(void)
{
    open_memory(MIB, false);
    Allocation *a = memory_allocate(100, ALLOCATED, NULL);
    Allocation *m = memory_allocate(100, MANAGED, NULL);
    CU_ASSERT_FALSE(host_can_read((char *) (uintptr_t) a->base));
    CU_ASSERT_FATAL(host_can_read((char *) (uintptr_t) m->base));
    *(char *) (uintptr_t) m->base = 7;
    CU_ASSERT_EQUAL(m->host[0], 7);
    CU_ASSERT(memory_free(m->base));
    CU_ASSERT_FALSE(host_can_read((char *) (uintptr_t) m->base));
    memory_close();
}

static void pinned_memory_is_found_where_it_is(void)
{
    char *host = malloc(5000);
    uint64_t base = (uint64_t) (uintptr_t) host;

    open_memory(MIB, true);
    Allocation *a = memory_adopt(host, 1000, HOST_PINNED);
    CU_ASSERT_FATAL(a != NULL);
    CU_ASSERT_EQUAL(a->base, base);
    CU_ASSERT_PTR_EQUAL(memory_find(base + 999), a);
    CU_ASSERT_PTR_NULL(memory_find(base + 1000));
    CU_ASSERT_PTR_NULL(memory_adopt(host + 999, 10, HOST_PINNED));
    CU_ASSERT_PTR_NULL(memory_adopt(NULL, 10, HOST_PINNED));
    CU_ASSERT_PTR_NULL(memory_adopt((void *) -10l, 20, HOST_PINNED));
    CU_ASSERT(memory_free(base));
    CU_ASSERT_PTR_NULL(memory_find(base));
    CU_ASSERT_EQUAL(memory_address_kind(base), ADDRESS_FREED);
    CU_ASSERT_PTR_NOT_NULL(memory_adopt(host + 8, 4000, HOST_PINNED));
    memory_close();
    free(host);
}

static void ranges_and_marks(void)
{
    open_memory(MIB, true);
    Allocation *a = memory_allocate(1000, ALLOCATED, NULL);
    CU_ASSERT_PTR_EQUAL(memory_range(a->base + 10, 990, false), a->host + 10);
    CU_ASSERT_PTR_NULL(memory_range(a->base + 10, 991, false));
    CU_ASSERT_PTR_NULL(memory_range(a->base + 10, SIZE_MAX, false));
    CU_ASSERT_PTR_NULL(memory_range(a->base - 1, 2, false));
    CU_ASSERT(bits_all(a->written, 0, 1000, false));
    memory_range(a->base + 13, 500, true);
    CU_ASSERT(bits_all(a->written, 0, 13, false));
    CU_ASSERT(bits_all(a->written, 13, 500, true));
    CU_ASSERT(bits_all(a->written, 513, 487, false));
    CU_ASSERT(memory_mark(a->base + 100, 50, MARK_UNINIT));
    CU_ASSERT_EQUAL(bits_other(a->written, 13, 500, true), 100);
    CU_ASSERT(memory_mark(a->base, 16, MARK_NO_ACCESS));
    CU_ASSERT(bits_all(a->forbidden, 0, 16, true));
    CU_ASSERT(bits_all(a->forbidden, 16, 984, false));
    CU_ASSERT(memory_mark(a->base, 8, MARK_OK));
    CU_ASSERT_EQUAL(bits_other(a->forbidden, 0, 1000, false), 8);
    CU_ASSERT_FALSE(memory_mark(a->base + 999, 2, MARK_OK));
    memory_close();
}

/* A copy marks only those bytes as written that were written at its source. */
static void copies_of_what_is_not_written(void)
{
    open_memory(1 << 20, true);
    Allocation *from = memory_allocate(1000, ALLOCATED, NULL);
    Allocation *to = memory_allocate(1000, ALLOCATED, NULL);
    memory_range(from->base + 3, 100, true);
    memory_range(from->base + 500, 77, true);
    memory_range(to->base, 1000, true);
    memory_copy_written(to->base + 10, from->base, 900);
    for (int i = 0; i < 1000; i++) {
        int source = i - 10;
        bool copied = source >= 0 && source < 900;
        bool written = (source >= 3 && source < 103) || (source >= 500 && source < 577);
        CU_ASSERT_EQUAL(to->written[i / 8] >> (i & 7) & 1, !copied || written);
    }
    memory_copy_written(to->base + 200, from->base, 900); /* past the end: no effect */
    CU_ASSERT_EQUAL(to->written[950 / 8] >> (950 & 7) & 1, 1);
    memory_close();
}

static void bits_of_any_length(void)
{
    uint8_t bits[40], plain[300];

    for (size_t first = 0; first < 80; first += 3)
        for (size_t count = 1; count < 200; count += 7)
            for (int value = 0; value < 2; value++) {
                memset(bits, value ? 0 : 255, sizeof bits);
                memset(plain, !value, sizeof plain);
                bits_fill(bits, first, count, value);
                memset(plain + first, value, count);
                for (size_t i = 0; i < 300; i++)
                    CU_ASSERT_FATAL((bits[i / 8] >> (i & 7) & 1) == plain[i]);
                CU_ASSERT(bits_all(bits, first, count, value));
                CU_ASSERT_EQUAL(bits_other(bits, first, 300 - first, value), first + count);
            }
}

/* ---- In words ---- */

static void addresses_in_words(void)
{
    char text[300];
    char *pinned = malloc(64);
    int on_the_stack = 0;

    open_memory(MIB, false);
    uint64_t one = memory_allocate(4000, ALLOCATED, NULL)->base;
    uint64_t two = memory_allocate(100, ALLOCATED, NULL)->base;
    uint64_t freed = memory_allocate(64, ALLOCATED, NULL)->base;
    uint64_t table = memory_allocate(16, VARIABLE_CONST, "table")->base;
    memory_adopt(pinned, 64, HOST_PINNED);
    memory_free(freed);
    const struct {
        uint64_t address;
        size_t bytes;
        const char *text;
        AddressKind ground;
    } rows[] = {
        { one, 4, "byte 0 of allocation 1 (4000 bytes, cudaMalloc)", ADDRESS_LIVE },
        { one + 3996, 4, "byte 3996 of allocation 1 (4000 bytes, cudaMalloc)", ADDRESS_LIVE },
        { one + 3996, 8,
          "the last 4 of them after the end of allocation 1 (4000 bytes, cudaMalloc)",
          ADDRESS_LIVE },
        { one + 4000, 4, "the 4 bytes after allocation 1 (4000 bytes, cudaMalloc)", ADDRESS_GUARD },
        { one + 4000, 1, "the 1 byte after allocation 1 (4000 bytes, cudaMalloc)", ADDRESS_GUARD },
        { one + 4004, 4, "4 bytes after the end of allocation 1 (4000 bytes, cudaMalloc)",
          ADDRESS_GUARD },
        { two - 4, 4, "4 bytes before allocation 2 (100 bytes, cudaMalloc)", ADDRESS_GUARD },
        { two - 1, 4, "1 byte before allocation 2 (100 bytes, cudaMalloc)", ADDRESS_GUARD },
        { freed + 8, 4, "inside allocation 3 (64 bytes, cudaMalloc), which has been freed",
          ADDRESS_FREED },
        { freed + 64, 4,
          "the 4 bytes after allocation 3 (64 bytes, cudaMalloc), which has been freed",
          ADDRESS_GUARD },
        { table + 20, 4, "4 bytes after the end of `table` (16 bytes, __constant__)",
          ADDRESS_GUARD },
        { (uint64_t) (uintptr_t) pinned + 4, 4,
          "byte 4 of allocation 5 (64 bytes, pinned host memory)", ADDRESS_LIVE },
        { (uint64_t) (uintptr_t) &on_the_stack, 4, "a host pointer", ADDRESS_HOST },
        { 0, 4, "a null pointer", ADDRESS_NULL },
        { 400, 4, "a null pointer", ADDRESS_NULL },
        { 0x123456789000, 4, "nothing is allocated there", ADDRESS_NOTHING },
        { UINT64_MAX - 3, 4, "nothing is allocated there", ADDRESS_NOTHING },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        memory_describe(rows[i].address, rows[i].bytes, text, sizeof text);
        CU_ASSERT_STRING_EQUAL(text, rows[i].text);
        CU_ASSERT_EQUAL(memory_address_kind(rows[i].address), rows[i].ground);
    }
    memory_close();
    free(pinned);
}

static void count_live(const Allocation *a, void *self)
{
    *(size_t *) self += a->bytes;
}

static void leaks_are_those_not_freed(void)
{
    size_t bytes = 0;

    open_memory(MIB, false);
    memory_allocate(10, ALLOCATED, NULL);
    memory_free(memory_allocate(20, ALLOCATED, NULL)->base);
    memory_allocate(30, ALLOCATED, NULL);
    memory_each(count_live, &bytes);
    CU_ASSERT_EQUAL(bytes, 40);
    memory_close();
}

/* ---- Findings ---- */

static void told_once_counted_after(void)
{
    Place place = { .kernel = "told_once", .file = "/x/kernel.cu", .line = 5 };
    int before = 0;

    finding_reset();
    finding_quiet(true);
    for (int i = 0; i < 10; i++)
        finding(FINDING_MISALIGNED, i == 9, &place, "number %d", i);
    place.line = 6;
    finding(FINDING_MISALIGNED, false, &place, "another line");
    finding(FINDING_RACE, false, &place, "another kind");
    place.kernel = "other";
    finding(FINDING_RACE, false, &place, "another kernel");
    finding(FINDING_LEAK, false, NULL, "nowhere");
    CU_ASSERT_EQUAL_FATAL(finding_count() - before, 5);
    CU_ASSERT_EQUAL(finding_at(before)->count, 10);
    CU_ASSERT(finding_at(before)->fatal);
    CU_ASSERT_STRING_EQUAL(finding_at(before)->text, "number 0");
    CU_ASSERT_STRING_EQUAL(finding_at(before + 1)->text, "another line");
    CU_ASSERT_STRING_EQUAL(finding_word(FINDING_USE_AFTER_FREE), "use after free");
    CU_ASSERT_PTR_NULL(finding_at(finding_count()));
    CU_ASSERT_PTR_NULL(finding_at(-1));
    for (int kind = 0; kind < FINDINGS; kind++)
        CU_ASSERT_PTR_NOT_NULL(finding_word((FindingKind) kind));
}

/* Captures stderr while `tell` runs. */
static void capture(void (*tell)(void), char *text, size_t size)
{
    FILE *file = tmpfile(), *saved = stderr;

    stderr = file;
    finding_quiet(false);
    tell();
    finding_quiet(true);
    stderr = saved;
    rewind(file);
    text[fread(text, 1, size - 1, file)] = 0;
    fclose(file);
}

static void tell_one(void)
{
    static const char opcode[] = "st.global.f32 [%rd1], %f1";
    Place place = { .kernel = "transpose_kernel",
                    .file = "/tmp/kernel.cu",
                    .line = 17,
                    .block = { 3, 0, 0 },
                    .thread = { 31, 0, 0 },
                    .has_thread = true,
                    .instruction = opcode,
                    .instruction_length = 13 };

    finding(FINDING_OUT_OF_BOUNDS, true, &place,
            "writes 4 bytes at 0x7000000000fa0, the 4 bytes after allocation 2 (4000 bytes)");
}

static void how_it_looks(void)
{
    char text[1000];

    capture(tell_one, text, sizeof text);
    CU_ASSERT_STRING_EQUAL(text,
                           "sim: out of bounds: kernel.cu:17: st.global.f32 writes 4 bytes at\n"
                           "     0x7000000000fa0, the 4 bytes after allocation 2 (4000 bytes)\n"
                           "     in transpose_kernel, block (3,0,0), thread (31,0,0)\n");
}

static void tell_others(void)
{
    Place place = {
        .kernel = "k", .file = "k.cu", .line = 2, .instruction = "bar.sync", .instruction_length = 8
    };

    finding(FINDING_BARRIER, true, &place, "lanes 0-15 of warp 0 wait here");
    finding_note("not every block is checked");
}

/* A finding whose text does not begin with a verb, and a note. */
static void how_others_look(void)
{
    char text[1000];

    capture(tell_others, text, sizeof text);
    CU_ASSERT_STRING_EQUAL(text, "sim: barrier: k.cu:2: bar.sync: lanes 0-15 of warp 0 wait here\n"
                                 "     in k\n"
                                 "sim: note: not every block is checked\n");
}

static void the_table_ends(void)
{
    Place place = { .kernel = "many" };

    finding_quiet(true);
    for (place.line = 1; place.line < 6000; place.line++)
        finding(FINDING_LIMIT, false, &place, "line %d", place.line);
    CU_ASSERT_EQUAL(finding_count(), 4096);
    finding_reset();
    CU_ASSERT_EQUAL(finding_count(), 0);
}

static CU_TestInfo tests[] = {
    { "opening costs nothing", opening_costs_nothing },
    { "allocations are aligned and apart", allocations_are_aligned_and_apart },
    { "the next array is far", the_next_array_is_far },
    { "no more than the limit", no_more_than_there_is },
    { "freed addresses are reused", freed_places_come_again },
    { "many small allocations", many_small_ones },
    { "free needs an allocation's first address", free_only_what_begins_there },
    { "the host sees managed memory only", the_host_sees_managed_memory_only },
    { "pinned memory is found where it is", pinned_memory_is_found_where_it_is },
    { "ranges and marks", ranges_and_marks },
    { "copies of unwritten bytes", copies_of_what_is_not_written },
    { "bits of any length", bits_of_any_length },
    { "addresses in words", addresses_in_words },
    { "leaks are those not freed", leaks_are_those_not_freed },
    { "reported once, counted after", told_once_counted_after },
    { "the format of a finding", how_it_looks },
    { "the format of other findings", how_others_look },
    { "the table is full", the_table_ends },
    CU_TEST_INFO_NULL,
};

CU_SuiteInfo test_sim_memory = { "test_sim_memory", NULL, NULL, NULL, NULL, tests };
