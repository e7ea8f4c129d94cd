/* test_sim_sharing.c - places and speeds of kernels that run at the same time. */
#include "rows.h"
#include "sim/time/sharing.h"

#include <CUnit/CUnit.h>

enum { SMS = 8, MOST = 4 };

/* A kernel: its blocks, in eighths of an SM's warps (`size`) and of its shared memory; whether it
 * has waves; how busy it keeps the FP32 units and the memory; the share of its work that is done.
 * Its tail begins at 0.5, with half of its places in use. */
typedef struct Kernel {
    int blocks, size, shared;
    bool in_waves;
    double fp32, dram, done;
} Kernel;

static KernelUse use_of(const Kernel *kernel)
{
    KernelUse use = {
        .blocks = kernel->blocks,
        .waves = kernel->in_waves ? 12 : 1,
        .part = { [PART_WARPS] = kernel->size / 8.0, [PART_SHARED] = kernel->shared / 8.0 },
        .busy = { [UNIT_FP32] = kernel->fp32, [UNIT_DRAM] = kernel->dram },
        .tail = { .begins = 0.5 }
    };

    for (int i = 0; i < TAIL_PARTS; i++)
        use.tail.places[i] = 0.5;
    return use;
}

/* The kernels, in the order in which they began, and their speeds. */
typedef struct Case {
    const char *name;
    Kernel kernels[MOST];
    double speeds[MOST];
} Case;

static const Case cases[] = {
    { "alone", { { 8, 8, 0, false, 1, 1 } }, { 1 } },
    { "half of the SMs each", { { 4, 8 }, { 4, 8 } }, { 1, 1 } },
    { "a third one has no place", { { 4, 8 }, { 4, 8 }, { 4, 8 } }, { 1, 1, 0 } },
    { "small blocks share SMs", { { 8, 1 }, { 8, 1 }, { 8, 1 } }, { 1, 1, 1 } },
    { "part of the blocks has places", { { 4, 8 }, { 8, 8 } }, { 1, 0.5 } },
    { "later ones do not overtake", { { 4, 8 }, { 8, 8 }, { 1, 1 } }, { 1, 0.5, 0 } },
    { "shared memory is full, warps are not", { { 8, 1, 8 }, { 8, 1, 1 } }, { 1, 0 } },
    { "no shared memory needed", { { 8, 1, 8 }, { 8, 1, 0 } }, { 1, 1 } },
    { "in the tail half of the places", { { 8, 8, 0, true, 0, 0, 0.6 }, { 8, 8 } }, { 1, 0.5 } },
    { "both keep the units busy", { { 8, 2, 0, false, 1 }, { 8, 2, 0, false, 1 } }, { 0.5, 0.5 } },
    { "the units suffice", { { 8, 2, 0, false, 0.5 }, { 8, 2, 0, false, 0.5 } }, { 1, 1 } },
    { "different units", { { 8, 2, 0, false, 1 }, { 8, 2, 0, false, 0, 1 } }, { 1, 1 } },
    { "the memory is shared by all SMs",
      { { 4, 8, 0, false, 0, 1 }, { 4, 8, 0, false, 0, 0.5 } },
      { 1 / 1.5, 1 / 1.5 } },
    /* Six blocks each: they share four SMs. Each of the 12 waves' blocks of the fourth case has the
     * average speed. */
    { "the slowest SM decides",
      { { 6, 2, 0, false, 0.75 }, { 6, 2, 0, false, 0.75 } },
      { 0.5, 0.5 } },
    { "waves balance SMs",
      { { 6, 2, 0, true, 0.75 }, { 6, 2, 0, true, 0.75 } },
      { 6 / (2 + 2 * 4.0), 6 / (2 + 2 * 4.0) } },
};

static void kernels_have_the_speeds_of_the_table(void)
{
    Sharing *sharing = sharing_open(SMS);

    CU_ASSERT_PTR_NOT_NULL_FATAL(sharing);
    for (size_t i = 0; i < COUNT(cases); i++) {
        KernelUse uses[MOST];
        Sharer kernels[MOST];
        int count = 0;
        for (; count < MOST && cases[i].kernels[count].blocks; count++) {
            uses[count] = use_of(&cases[i].kernels[count]);
            kernels[count] = (Sharer){ .use = &uses[count], .done = cases[i].kernels[count].done };
        }
        sharing_set_speeds(sharing, kernels, count, false);
        for (int k = 0; k < count; k++)
            if (kernels[k].speed < cases[i].speeds[k] - 1e-9 ||
                kernels[k].speed > cases[i].speeds[k] + 1e-9) {
                printf("%s: kernel %d: %g\n", cases[i].name, k, kernels[k].speed);
                CU_FAIL("another speed");
            }
    }
    sharing_close(sharing);
}

/* Kernels that need the link for shares of their time; the share of its work that each has done;
 * whether copies use it, too; speeds of all kernels, and of copies. The tail of each kernel begins
 * at 0.5: the few blocks left still need as much of the link. */
static void the_link_is_shared(void)
{
    static const struct {
        double link[2], done[2];
        bool copies;
        double speed, copy;
    } rows[] = {
        { { 0.8 }, { 0 }, false, 1, 1 },
        { { 1 }, { 0 }, true, 0.5, 0.5 },
        { { 0.6 }, { 0 }, true, 1 / 1.6, 1 / 1.6 },
        { { 0 }, { 0 }, true, 1, 1 },
        { { 1, 1 }, { 0 }, false, 0.5, 0.5 },
        { { 1, 1 }, { 0.7, 0.6 }, false, 0.5, 0.5 },
        { { 0.3, 0.5 }, { 0 }, false, 1, 1 },
        { { 0.5, 1 }, { 0 }, true, 0.4, 0.4 },
    };
    Sharing *sharing = sharing_open(SMS);

    CU_ASSERT_PTR_NOT_NULL_FATAL(sharing);
    for (size_t i = 0; i < COUNT(rows); i++) {
        const Kernel kernel = { .blocks = 8, .size = 1 };
        KernelUse uses[2] = { use_of(&kernel), use_of(&kernel) };
        Sharer kernels[2] = { { &uses[0], rows[i].done[0], 0 }, { &uses[1], rows[i].done[1], 0 } };
        const int count = rows[i].link[1] > 0 ? 2 : 1;
        double copy;
        for (int k = 0; k < count; k++)
            uses[k].busy[UNIT_LINK] = rows[i].link[k];
        copy = sharing_set_speeds(sharing, kernels, count, rows[i].copies);
        CU_ASSERT_DOUBLE_EQUAL(copy, rows[i].copy, 1e-9);
        for (int k = 0; k < count; k++)
            CU_ASSERT_DOUBLE_EQUAL(kernels[k].speed, rows[i].speed, 1e-9);
    }
    CU_ASSERT_EQUAL(sharing_set_speeds(sharing, NULL, 0, true), 1);
    sharing_close(sharing);
}

static void without_memory_the_first_one_runs(void)
{
    const KernelUse use = { .blocks = 1, .tail = { .begins = 1 } };
    Sharer kernels[] = { { .use = &use }, { .use = &use } };

    sharing_set_speeds(NULL, kernels, 2, false);
    CU_ASSERT_EQUAL(kernels[0].speed, 1);
    CU_ASSERT_EQUAL(kernels[1].speed, 0);
}

/* The tail from 0.5 on has eight parts. A kernel without a tail releases its places at the end. */
static void places_are_released_at_the_ends_of_parts(void)
{
    static const double rows[][2] = { { 0, 0.5 },      { 0.49, 0.5 },
                                      { 0.5, 0.5625 }, { 0.5624999, 0.5625 },
                                      { 0.9, 0.9375 }, { 0.95, 1 } };
    const Kernel ragged = { .blocks = 8 };
    const KernelUse use = use_of(&ragged), even = { .blocks = 8, .tail = { .begins = 1 } };

    for (size_t i = 0; i < COUNT(rows); i++)
        CU_ASSERT_DOUBLE_EQUAL(sharing_next_release(&use, rows[i][0]), rows[i][1], 1e-9);
    CU_ASSERT_EQUAL(sharing_next_release(&even, 0.3), 1);
}

static CU_TestInfo tests[] = {
    { "kernels have the speeds of the table", kernels_have_the_speeds_of_the_table },
    { "the link is shared", the_link_is_shared },
    { "without memory the first one runs", without_memory_the_first_one_runs },
    { "places are released at the ends of parts", places_are_released_at_the_ends_of_parts },
    CU_TEST_INFO_NULL,
};

CU_SuiteInfo test_sim_sharing = { "test_sim_sharing", NULL, NULL, NULL, NULL, tests };
