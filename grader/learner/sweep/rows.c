/* rows.c - what each lab's lesson sweeps. Values grow with the device where sizes do. */
#include "learner/sweep/sweep.h"

#include <string.h>

/* ---- How a value becomes dims ---- */

static bool set_elements(long dim[LAB_DIMS], const Gpu *gpu, long value)
{
    const long timed = dim[0];

    (void) gpu;
    dim[0] = value;
    return value <= 2 * timed;
}

/* The number of elements of the table stays. */
static bool set_columns(long dim[LAB_DIMS], const Gpu *gpu, long value)
{
    (void) gpu;
    dim[0] = dim[0] * dim[1] / value;
    dim[1] = value;
    return dim[0] > 0;
}

static bool set_rows(long dim[LAB_DIMS], const Gpu *gpu, long value)
{
    (void) gpu;
    dim[1] = dim[0] * dim[1] / value;
    dim[0] = value;
    return dim[1] > 0;
}

static bool set_distance(long dim[LAB_DIMS], const Gpu *gpu, long value)
{
    (void) gpu;
    dim[1] = value;
    return true;
}

/* The case's third dim is the order of the kinds, from 0. */
static bool set_order(long dim[LAB_DIMS], const Gpu *gpu, long value)
{
    (void) gpu;
    dim[2] = value - 1;
    return true;
}

/* The case has one item per thread. */
static bool set_items(long dim[LAB_DIMS], const Gpu *gpu, long value)
{
    (void) gpu;
    dim[0] *= value;
    return true;
}

static bool set_share(long dim[LAB_DIMS], const Gpu *gpu, long value)
{
    (void) gpu;
    dim[1] = dim[0] / value;
    return dim[1] > 0;
}

/* A value is 10 times a number of half waves, plus 5, plus the rows more than that. */
static bool set_waves(long dim[LAB_DIMS], const Gpu *gpu, long value)
{
    dim[0] = value / 10 * gpu->sms / 2 + value % 10 - 5;
    return dim[0] > 0;
}

static bool set_square(long dim[LAB_DIMS], const Gpu *gpu, long value)
{
    const long timed = dim[0];

    (void) gpu;
    dim[0] = dim[1] = dim[2] = value;
    return value <= timed;
}

static const char *const orders[] = { "mixed", "nine in ten alike", "runs of 32", "all alike" };

const SweepRow sweep_rows[] = {
    { "00_first",
      "large",
      "elements",
      0,
      NULL,
      set_elements,
      { 1 << 10, 1 << 13, 1 << 16, 1 << 18, 1 << 20, 1 << 22, 1 << 24, 1 << 26 } },
    { "01_coalescing",
      NULL,
      "columns, for the same number of elements",
      1,
      NULL,
      set_columns,
      { 1, 2, 4, 8, 16, 32, 64, 128, 256 } },
    { "02_bank_conflicts",
      NULL,
      "d, floats per row",
      1,
      NULL,
      set_distance,
      { 16, 17, 24, 31, 32, 33, 48, 63, 64, 65 } },
    { "03_divergence", NULL, "order of the kinds", -1, orders, set_order, { 1, 2, 3, 4 } },
    { "04_ilp_tlp",
      "one each",
      "oscillators per thread",
      -1,
      NULL,
      set_items,
      { 1, 2, 3, 4, 6, 8, 16 } },
    { "05_streams",
      NULL,
      "array size / device buffer size",
      -1,
      NULL,
      set_share,
      { 1, 2, 4, 8, 16, 32 } },
    { "06_transpose",
      NULL,
      "rows, for the same number of elements",
      0,
      NULL,
      set_rows,
      { 1, 2, 4, 8, 16, 32, 64, 128, 256, 1024 } },
    { "07_reduction",
      NULL,
      "elements",
      0,
      NULL,
      set_elements,
      { 1 << 10, 1 << 13, 1 << 16, 1 << 18, 1 << 20, 1 << 22, 1 << 24, 1 << 26, 1 << 28 } },
    { "08_tail_effect",
      NULL,
      "rows, of which the starter gives one to each block",
      0,
      NULL,
      set_waves,
      { 15, 24, 25, 26, 35, 44, 45, 46, 65, 66 } },
    { "09_sgemm",
      NULL,
      "n of n x n matrices",
      0,
      NULL,
      set_square,
      { 64, 128, 129, 192, 256, 384, 512, 1024, 2048, 4096 } },
    { 0 },
};

const SweepRow *sweep_row(const LabEntry *entry)
{
    static const SweepRow otherwise = { "",
                                        NULL,
                                        "the first size",
                                        0,
                                        NULL,
                                        set_elements,
                                        { 1 << 10, 1 << 13, 1 << 16, 1 << 18, 1 << 20, 1 << 22 } };

    for (const SweepRow *row = sweep_rows; row->folder; row++)
        if (!strcmp(row->folder, entry->folder))
            return row;
    return &otherwise;
}
