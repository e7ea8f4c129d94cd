/* text.c - the two pictures that show a kernel's limit best, as text of 80 columns. */
#include "learner/see/text.h"
#include "base/text.h"
#include "base/util.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { KINDS = 2, COLUMNS = 80, ROWS = 8, MOST_SOURCE = 256 << 10 };

static const char *const kinds[LIMITS][KINDS] = {
    [AT_ISSUE] = { "lanes", "blocks" },     [AT_FP32] = { "lanes", "tiles" },
    [AT_UNITS] = { "lanes", "blocks" },     [AT_SHARED] = { "banks", "lanes" },
    [AT_L1] = { "sectors", "banks" },       [AT_L2] = { "sectors", "blocks" },
    [AT_DRAM] = { "sectors", "blocks" },    [AT_ATOMICS] = { "sectors", "lanes" },
    [AT_LATENCY] = { "blocks", "sectors" }, [AT_TAIL] = { "blocks", "lanes" },
    [AT_LAUNCH] = { "streams", "blocks" },  [AT_TRANSFER] = { "streams", "blocks" },
};

const char *const *see_text_kinds(const Limits *limits)
{
    return kinds[limits_most(limits)];
}

/* The lines of a text form, cut at 80 columns. */
static void print_grid(const char *grid, size_t bytes, FILE *to)
{
    while (bytes) {
        const size_t length = strcspn(grid, "\n");
        fprintf(to, "%.*s\n", length > COLUMNS ? COLUMNS : (int) length, grid);
        grid += length + 1;
        bytes -= length + 1;
    }
}

/* A text form is a title and a place, a grid, and a legend, with an empty line after each. The
 * place is left out, since the reader knows it, and all but the first line of the legend. */
static void print_short(char *text, FILE *to)
{
    char *grid = strstr(text, "\n\n"), *legend = grid ? strstr(grid + 2, "\n\n") : NULL;

    if (!legend)
        return;
    text[strcspn(text, "\n")] = 0;
    legend[2 + strcspn(legend + 2, "\n")] = 0;
    print_wrapped_to(to, text, 0, COLUMNS);
    print_grid(grid + 2, (size_t) (legend + 1 - (grid + 2)), to);
    print_wrapped_to(to, legend + 2, 0, COLUMNS);
    fputc('\n', to);
}

static void print_kind(const PictureKind *kind, const Picture *picture, FILE *to)
{
    Words words = { .why = "" };
    char *text;
    size_t bytes;
    FILE *stream = text_open(&text, &bytes);
    const bool printed = kind->print(picture, stream, &words);

    text_close(stream);
    if (printed)
        print_short(text, to);
    free(text);
}

/* Active lanes per instruction of the warp that was recorded, and of all warps of its launch. */
static double lanes_of_warp(const Records *r)
{
    uint64_t lanes = 0, count = 0;

    for (int i = 0; i < r->lane_step_count; i++)
        if (r->lane_steps[i].executed) {
            lanes += (uint64_t) __builtin_popcount(r->lane_steps[i].executed);
            count++;
        }
    return count ? (double) lanes / (double) count : 0;
}

static double lanes_of_all(const Records *r)
{
    double lanes = 0, count = 0;

    for (int i = 0; i < r->launch_count; i++) {
        lanes += (double) r->launches[i].lanes;
        count += (double) r->launches[i].executed;
    }
    return count > 0 ? lanes / count : 0;
}

/* The first warp may be an exception: if its lanes are idle far less, or far more, than those of
 * all warps, takes a warp from the middle of the grid, if that one is nearer to them. */
static bool collect_typical(const CollectJob *job, Records *records, char *failed)
{
    static const double far_off = 4; /* lanes */
    const bool fine =
        collect_records(job, &(RecordFilter){ .block = -1, .warp = -1 }, records, failed);
    const double off = fine ? fabs(lanes_of_warp(records) - lanes_of_all(records)) : 0;
    const int *grid = records->launches[0].grid;
    Records *other;

    if (off < far_off)
        return fine;
    other = xcalloc(1, sizeof *other);
    if (collect_records(
            job, &(RecordFilter){ .block = (int64_t) grid[0] * grid[1] * grid[2] / 2, .warp = -1 },
            other, failed) &&
        other->lane_step_count && fabs(lanes_of_warp(other) - lanes_of_all(other)) < off)
        memcpy(records, other, sizeof *records);
    free(other);
    return true;
}

void see_text(const CollectJob *job, const Limits *limits, FILE *to)
{
    Records *records = xcalloc(1, sizeof *records);
    char *source = read_file(job->source, MOST_SOURCE, NULL), failed[COLLECT_WHY];
    const Picture picture = { .entry = job->entry,
                              .lab_case = *job->lab_case,
                              .file = "kernel.cu",
                              .source = source,
                              .failed = "",
                              .records = records,
                              .most_rows = ROWS };

    if (collect_typical(job, records, failed))
        for (int i = 0; i < KINDS; i++)
            print_kind(picture_kind(see_text_kinds(limits)[i]), &picture, to);
    free(source);
    free(records);
}
