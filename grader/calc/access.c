/* access.c - the calculators of one access: sectors, banks. */
#include "calc/calc.h"
#include "calc/text.h"
#include "calc/calculators.h"

#include <stdio.h>
#include <stdlib.h>

#define ELEMENTS (double) CALC_ELEMENTS

static const Input access_inputs[] = {
    { "stride", "elements from one lane to the next", WHOLE, -ELEMENTS, ELEMENTS, true, 1 },
    { "offset", "element of lane 0", WHOLE, 0, ELEMENTS, true, 0 },
    { "bytes", "bytes per element: 1, 2, 4, 8 or 16", WHOLE, 1, 16, true, 4 },
    { "lanes", "number of active lanes", WHOLE, 1, CALC_LANES, true, CALC_LANES },
    { "width", "lanes per row, if a warp spans several rows of a block", WHOLE, 1, CALC_LANES, true,
      CALC_LANES },
    { "pitch", "elements from one of these rows to the next", WHOLE, -ELEMENTS, ELEMENTS, true, 0 },
    { "store", "a store instead of a load; differs for 8 and 16 bytes", FLAG, 0, 0, true, 0 },
    { 0 },
};

static bool get_access(const Asked *asked, WarpAccess *access)
{
    int bytes = (int) asked_value(asked, "bytes");

    if (bytes & (bytes - 1))
        return calc_refuse(asked->calculator, "--bytes must be 1, 2, 4, 8 or 16, not %d", bytes);
    if (asked_value(asked, "width") < CALC_LANES && !asked_given(asked, "pitch"))
        return calc_refuse(asked->calculator,
                           "--pitch is missing: with --width, give the number of elements "
                           "from one row to the next");
    if (asked_value(asked, "width") == CALC_LANES && asked_given(asked, "pitch"))
        return calc_refuse(asked->calculator,
                           "--width is missing: with --pitch, give the number of lanes per row");
    *access = (WarpAccess){ .bytes = bytes,
                            .lanes = (int) asked_value(asked, "lanes"),
                            .offset = asked_whole(asked, "offset"),
                            .stride = asked_whole(asked, "stride"),
                            .width = (int) asked_value(asked, "width"),
                            .pitch = asked_whole(asked, "pitch"),
                            .store = asked_given(asked, "store") };
    return true;
}

static void print_access(const WarpAccess *a)
{
    printf("Each of %d lane%s %s %d byte%s; lane i: element", a->lanes, plural(a->lanes),
           a->store ? "writes" : "reads", a->bytes, plural(a->bytes));
    if (a->offset)
        printf(" %ld +", a->offset);
    if (a->width == CALC_LANES)
        printf(" %ld i\n\n", a->stride);
    else
        printf("\n  %ld (i mod %d) + %ld floor(i / %d)\n\n", a->stride, a->width, a->pitch,
               a->width);
}

/* The bank or the sector that a lane accesses. */
static long bank_of(const WarpAccess *a, int lane)
{
    long byte = calc_element(a, lane) * a->bytes, word = byte >> 2; /* may be negative: >> */

    return word & (CALC_BANKS - 1);
}

static long sector_of(const WarpAccess *a, int lane)
{
    return calc_element(a, lane) * a->bytes >> 5;
}

/* Prints the first lanes and the last one. */
static void print_lanes(const WarpAccess *a, const char *what,
                        long (*what_of)(const WarpAccess *, int))
{
    enum { FIRST = 5, FIELD = 10, SHORT = 10000000 };
    int shown = a->lanes <= FIRST ? a->lanes : FIRST + 1;

    for (int row = 0; row < 3; row++) {
        printf("  %-8s", row == 0 ? "lane" : row == 1 ? "element" : what);
        for (int i = 0; i < shown; i++) {
            int lane = i < FIRST ? i : a->lanes - 1;
            long n = row == 0 ? lane : row == 1 ? calc_element(a, lane) : what_of(a, lane);
            printf("%s", i == FIRST && a->lanes > FIRST + 1 ? " ..." : "");
            printf(labs(n) < SHORT ? "%*.0f" : "%*.3g", FIELD, (double) n);
        }
        printf("\n");
    }
    printf("\n");
}

static bool show_sectors(const Asked *asked)
{
    WarpAccess access;
    SectorCount count;

    if (!get_access(asked, &access))
        return false;
    count = calc_sectors(&access);
    print_access(&access);
    print_lanes(&access, "sector", sector_of);
    printf("sector      = byte address / 32, rounded down: each sector is moved once\n");
    printf("sectors     = %d; minimum for %d different bytes: %d / 32, rounded up = %d\n",
           count.sectors, count.wanted_bytes, count.wanted_bytes, count.least);
    printf("moved       = %d x 32 = %d bytes\n", count.sectors, count.moved_bytes);
    printf("efficiency  = wanted / moved = %d / %d = %s\n", count.wanted_bytes, count.moved_bytes,
           percent_of(count.efficiency));
    printf("by lines    = %d / (%d x 128) = %s, for old GPUs with 128-byte lines\n",
           count.wanted_bytes, count.lines, percent_of(count.lines_efficiency));
    return true;
}

static bool show_banks(const Asked *asked)
{
    WarpAccess access;
    BankCount count;

    if (!get_access(asked, &access))
        return false;
    count = calc_banks(&access);
    print_access(&access);
    print_lanes(&access, "bank", bank_of);
    printf("bank        = (byte address / 4) mod 32; different words in one bank take turns,\n"
           "              lanes that read the same word share it\n");
    if (access.bytes > 4)
        printf("              %d bytes per lane: the first bank is shown, and the warp is split\n"
               "              into parts of %d lanes (loads: twice that, if neighbours agree)\n",
               access.bytes, 128 / access.bytes);
    printf("wavefronts  = %d; without conflicts %d\n", count.wavefronts, count.least);
    printf("degree      = %d / %d = %s: %s\n", count.wavefronts, count.least, text_of(count.degree),
           count.wavefronts > count.least ? "a conflict" : "no conflict");
    return true;
}

const Calculator sectors_calculator = {
    .name = "sectors",
    .what = "which sectors a global memory access moves",
    .about = "The 32-byte sectors that one load or store of a warp touches: lane i takes\n"
             "element offset + stride x i of an array from cudaMalloc. A count, not a time.\n",
    .example = "--stride 2",
    .inputs = access_inputs,
    .show = show_sectors,
};

const Calculator banks_calculator = {
    .name = "banks",
    .what = "what an access to shared memory costs: bank conflicts",
    .about = "The wavefronts of one load or store of a warp: lane i takes element\n"
             "offset + stride x i of a shared array. Along a column, the stride is the length\n"
             "of a row, including padding. If the compiler merges loads into wider ones, give\n"
             "their --bytes.\n",
    .example = "--stride 34",
    .inputs = access_inputs,
    .show = show_banks,
};
