/* text.c - the two pictures that show a kernel's limit best, as text of 80 columns. */
#include "learner/see/text.h"
#include "base/text.h"
#include "base/util.h"

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

/* The lanes of a launch's typical warp; by default records have its first one, which may be an
 * exception. False: the records that there are show it. */
static bool collect_typical(const Picture *picture, const CollectJob *job, Records *typical)
{
    const int at = picture_launch(picture);
    const RecordedLaunch *launch = &picture->records->launches[at < 0 ? 0 : at];
    const RecordFilter filter = { launch->typical_block, launch->typical_warp };
    char failed[COLLECT_WHY];

    return at >= 0 && (filter.block || filter.warp) &&
           collect_records(job, &filter, typical, failed) && typical->lane_step_count;
}

static void print_picture(const char *name, Picture picture, const CollectJob *job, FILE *to)
{
    Records *typical = strcmp(name, "lanes") ? NULL : xcalloc(1, sizeof *typical);

    if (typical && collect_typical(&picture, job, typical))
        picture.records = typical;
    print_kind(picture_kind(name), &picture, to);
    free(typical);
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

    if (collect_records(job, &(RecordFilter){ .block = -1, .warp = -1 }, records, failed))
        for (int i = 0; i < KINDS; i++)
            print_picture(see_text_kinds(limits)[i], picture, job, to);
    free(source);
    free(records);
}
