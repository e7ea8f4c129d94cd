/* overlap.c - the calculator of a pipeline of overlapping copies and kernels. */
#include "calc/calc.h"
#include "calc/text.h"
#include "calc/calculators.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const Input overlap_inputs[] = {
    { "up", "time to copy all of it to the device, ms", REAL, 0, 1e9, true, 0 },
    { "kernel", "time of the kernel for all of it, ms", REAL, 0, 1e9, false, 0 },
    { "down", "time to copy all results back, ms", REAL, 0, 1e9, true, 0 },
    { "chunks", "number of chunks, of equal size", WHOLE, 1, CALC_CHUNKS, false, 0 },
    { "buffers", "buffers on the device, so chunks in flight; 0: one per chunk", WHOLE, 0,
      CALC_CHUNKS, true, 0 },
    { "each", "extra time of each copy and launch, ms", REAL, 0, 1e6, true, 0 },
    { "measured", "the total time that you measured, ms; prints how much overlaps", REAL, 1e-9, 1e9,
      true, 0 },
    { 0 },
};

/* Draws the timeline in 60 columns: chunk 0 as 0, chunk 10 as a. */
static void draw_pipeline(const Pipeline *p, const Overlap *o)
{
    enum { COLUMNS = 60 };
    static const char *const names[CALC_STAGES] = { "up", "kernel", "down" };
    static const char signs[] = "0123456789abcdefghijklmnopqrstuvwxyz";

    if (p->chunks > 20)
        return;
    for (int s = 0; s < CALC_STAGES; s++) {
        char row[COLUMNS + 1];
        memset(row, ' ', COLUMNS);
        row[COLUMNS] = 0;
        for (int column = 0; column < COLUMNS; column++)
            for (int chunk = 0; chunk < p->chunks; chunk++) {
                double at = (column + 0.5) / COLUMNS * o->finish;
                if (at >= o->begin[s][chunk] && at < o->end[s][chunk])
                    row[column] = signs[chunk];
            }
        printf("  %-8s|%s|\n", names[s], row);
    }
    printf("\n");
}

/* The closed form holds only if no chunk waits for a buffer. */
static void print_finish(const Pipeline *p, const Overlap *o)
{
    double closed = o->longest + (o->sum - o->longest) / p->chunks;

    if (p->each == 0 && fabs(closed - o->finish) <= 1e-9 * closed)
        printf("finish      = longest + (sum - longest) / chunks\n"
               "            = %s + (%s - %s) / %d = %s ms\n",
               text_of(o->longest), text_of(o->sum), text_of(o->longest), p->chunks,
               text_of(o->finish));
    else
        printf("finish      = %s ms, as drawn; %s ms if no chunk had to\n"
               "              wait for a buffer and nothing cost extra\n",
               text_of(o->finish), text_of(closed));
}

static bool show_overlap(const Asked *asked)
{
    static Overlap o;
    double measured = asked_value(asked, "measured");
    int chunks = (int) asked_value(asked, "chunks"), buffers = (int) asked_value(asked, "buffers");
    Pipeline p = { .stage = { asked_value(asked, "up"), asked_value(asked, "kernel"),
                              asked_value(asked, "down") },
                   .chunks = chunks,
                   .buffers = buffers ? buffers : chunks,
                   .each = asked_value(asked, "each") };

    if (!calc_overlap(&p, &o))
        return calc_refuse(asked->calculator, "all times are 0: give --up, --kernel or --down");
    printf("%d chunk%s in %d buffer%s; copies up, kernels, copies down each go in order\n\n",
           p.chunks, plural(p.chunks), p.buffers, plural(p.buffers));
    draw_pipeline(&p, &o);
    printf("sum         = up + kernel + down = %s + %s + %s = %s\n", text_of(p.stage[0]),
           text_of(p.stage[1]), text_of(p.stage[2]), text_of(o.sum));
    printf("longest     = %s ms: the bound\n", text_of(o.longest));
    print_finish(&p, &o);
    printf("speed-up    = %s / %s = %s\n", text_of(o.sum), text_of(o.finish), text_of(o.speedup));
    if (isfinite(o.share))
        printf("overlap     = (sum - finish) / (sum - longest) = %s\n", percent_of(o.share));
    if (measured && isfinite(o.share))
        printf("measured    = (%s - %s) / (%s - %s) = %s\n", text_of(o.sum), text_of(measured),
               text_of(o.sum), text_of(o.longest),
               percent_of(calc_overlap_share(o.sum, o.longest, measured)));
    return true;
}

const Calculator overlap_calculator = {
    .name = "overlap",
    .what = "a pipeline of copies and a kernel over chunks",
    .about = "Needs pinned memory, a stream for each chunk in flight, and two copy engines\n"
             "(asyncEngineCount); with one engine, give the sum of both copies as --up.\n",
    .example = "--up 3 --kernel 3 --down 3 --chunks 4 --buffers 2",
    .inputs = overlap_inputs,
    .show = show_overlap,
};
