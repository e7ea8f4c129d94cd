/* picture.c - the table of kinds, and the parts that all pictures share: place, head, caption,
 * sample. */
#include "draw/picture.h"
#include "base/util.h"

#include <math.h>
#include <string.h>

const PictureKind picture_kinds[] = {
    { "sectors", "which 32-byte sectors the lanes of a warp touch", FROM_RECORDS, draw_sectors,
      print_sectors },
    { "banks", "which banks of shared memory the lanes of a warp touch", FROM_RECORDS, draw_banks,
      print_banks },
    { "lanes", "which lanes are active, instruction by instruction", FROM_RECORDS, draw_lanes,
      print_lanes },
    { "blocks", "which SM runs which block, and when", FROM_RECORDS, draw_blocks, print_blocks },
    { "streams", "copies and kernels on streams and engines", FROM_RECORDS, draw_streams,
      print_streams },
    { "tiles", "which thread writes which element of the output", FROM_RECORDS, draw_tiles,
      print_tiles },
    { "roofline", "kernels below the roofs of memory and arithmetic", FROM_ROOFLINE, draw_roofline,
      print_roofline },
    { "ladder", "the speed of each rung, with the bar and the device's limit", FROM_LADDER,
      draw_ladder, print_ladder },
    { 0 },
};

const PictureKind *picture_kind(const char *name)
{
    for (const PictureKind *kind = picture_kinds; kind->name; kind++)
        if (!strcmp(kind->name, name))
            return kind;
    return NULL;
}

int picture_rows(const Picture *picture, int most)
{
    return picture->most_rows && picture->most_rows < most ? picture->most_rows : most;
}

void picture_rest(FILE *to, int rows, int shown)
{
    if (rows > shown)
        fprintf(to, "... %d more row%s\n", rows - shown, rows - shown == 1 ? "" : "s");
}

/* ---- Words ---- */

void picture_place(const Picture *picture, int line, char *text, size_t size)
{
    char sizes[120];

    put(text, size, "%02d %s, case %s, %s", lab_number(picture->entry), lab_name(picture->entry),
        picture->lab_case.label,
        case_size(picture->entry->lab, &picture->lab_case, sizes, sizeof sizes));
    if (line)
        append(text, size, ", %s:%d", picture->file, line);
}

void picture_source(const Picture *picture, int line, char *text, size_t size)
{
    const char *at = picture->source;

    *text = 0;
    for (; at && line > 1; line--) {
        at = strchr(at, '\n');
        at += at != NULL;
    }
    if (!at || line < 1)
        return;
    at += strspn(at, " \t");
    put(text, size, "%.*s", (int) strcspn(at, "\r\n"), at);
    for (char *c = text; *c; c++)
        if (*c < ' ' || *c > '~')
            *c = *c == '\t' ? ' ' : '?';
}

double picture_head(const Picture *picture, Svg *svg, const char *title, const char *below)
{
    const double room = PICTURE_WIDTH - 2 * PICTURE_MARGIN;
    double y = svg_paragraph(svg, PICTURE_MARGIN, 34, room, "head", title);

    (void) picture;
    if (*below)
        y = svg_paragraph(svg, PICTURE_MARGIN, y, room, "dim", below);
    return y + 4;
}

void picture_caption(const Picture *picture, Svg *svg, double y, const char *text)
{
    const double room = PICTURE_WIDTH - 2 * PICTURE_MARGIN;
    char failed[600];

    y = svg_paragraph(svg, PICTURE_MARGIN, y, room, "dim", text);
    if (picture->failed && *picture->failed)
        y = svg_paragraph(svg, PICTURE_MARGIN, y, room, "text",
                          PUT(failed, "The simulated GPU reports: %s", picture->failed));
    svg->height = (int) y + 4;
}

double picture_key(Svg *svg, double x, double y, const char *classes, const char *text)
{
    char framed[60];

    svg_rect(svg, x, y - 11, 14, 14, classes);
    svg_rect(svg, x, y - 11, 14, 14, PUT(framed, "frame"));
    svg_text(svg, x + 20, y, "dim", "%s", text);
    return x + 20 + svg_text_width("dim", text) + 22;
}

/* A round number that divides the whole into four to ten steps. */
static double step_of(double whole)
{
    double step = pow(10, floor(log10(whole / 4)));

    while (whole / step > 10)
        step *= whole / step > 25 ? 5 : 2;
    return step;
}

double picture_time_axis(Svg *svg, double left, double right, double y, double whole_us)
{
    const double step = step_of(whole_us);

    svg_line(svg, left, y, right, y, "frame");
    for (int i = 0; i * step <= whole_us * 1.0001; i++) {
        const double x = left + (right - left) * i * step / whole_us;
        svg_line(svg, x, y, x, y + 4, "frame");
        svg_text(svg, x, y + 17, "dim small middle", "%.4g", i * step);
    }
    svg_text(svg, left - 10, y + 17, "dim small end", "us");
    return y + 22;
}

/* ---- Choosing the access and the launch ---- */

void picture_access_place(const Picture *picture, const WarpAccess *a, char *text, size_t size)
{
    char source[200];

    picture_place(picture, a->line, text, size);
    picture_source(picture, a->line, source, sizeof source);
    if (a->line && *source)
        append(text, size, ": %s", source);
}

static void say_no_access(const Picture *picture, RecordSpace space, Words *words)
{
    const RecordFilter *f = &picture->records->filter;
    char where[60] = "the kernel";

    if (picture->line)
        PUT(where, "%s:%d", picture->file, picture->line);
    PUT(words->why, "%s accesses no %s memory%s", where,
        space == RECORD_GLOBAL ? "global" : "shared",
        f->block >= 0 || f->warp >= 0 ? " in that block or warp" : "");
}

/* Passes beyond the minimum, over all warps. */
static double waste_of(const WarpAccess *a)
{
    const double least = a->space == RECORD_GLOBAL ? (double) a->all_least / RECORD_SECTOR_BYTES
                                                   : (double) a->all_least;

    return (double) a->all_passes - least;
}

/* The distance from the lowest to the highest address: of two accesses that cost the same, the more
 * scattered one shows more. */
static uint64_t reach_of(const WarpAccess *a)
{
    uint64_t low = UINT64_MAX, high = 0;

    for (int lane = 0; lane < RECORD_LANES; lane++) {
        if (!(a->mask >> lane & 1))
            continue;
        low = a->address[lane] < low ? a->address[lane] : low;
        high = a->address[lane] > high ? a->address[lane] : high;
    }
    return high - low;
}

static bool is_worse(const WarpAccess *a, const WarpAccess *than)
{
    if (waste_of(a) != waste_of(than))
        return waste_of(a) > waste_of(than);
    if (a->all_passes != than->all_passes)
        return a->all_passes > than->all_passes;
    return reach_of(a) > reach_of(than);
}

const WarpAccess *picture_access(const Picture *picture, RecordSpace space, Words *words)
{
    const Records *r = picture->records;
    const WarpAccess *worst = NULL;

    for (int i = 0; i < r->access_count; i++) {
        const WarpAccess *a = &r->accesses[i];
        if (a->space != (int) space || (picture->line && a->line != picture->line))
            continue;
        if (!worst || is_worse(a, worst))
            worst = a;
    }
    if (!worst)
        say_no_access(picture, space, words);
    return worst;
}

void picture_access_title(const Picture *picture, const WarpAccess *a, char *text, size_t size)
{
    if (a->space == RECORD_GLOBAL)
        sectors_title(picture, a, text, size);
    else
        banks_title(picture, a, text, size);
}

void picture_access_grid(const Picture *picture, const WarpAccess *a, FILE *to)
{
    if (a->space == RECORD_GLOBAL)
        sectors_grid(picture, a, to);
    else
        banks_grid(picture, a, to);
}

/* An unrolled loop, or a template with several instances, has several instructions per line. If
 * they differ, the average of one is not what the quiz and the report count for the line. */
static void say_line(const Records *r, const WarpAccess *a, char *text, size_t size)
{
    static const char *const kinds[] = { "loads", "stores", "atomics" };
    double requests = 0, passes = 0;
    char mine[32], all[32];
    int count = 0;

    for (int i = 0; i < r->access_count; i++) {
        const WarpAccess *b = &r->accesses[i];
        if (b->line != a->line || b->space != a->space || b->kind != a->kind)
            continue;
        requests += (double) b->requests;
        passes += (double) b->all_passes;
        count++;
    }
    if (!a->line || !a->requests)
        return;
    PUT(mine, "%.1f", (double) a->all_passes / (double) a->requests);
    PUT(all, "%.1f", passes / requests);
    if (strcmp(mine, all) != 0)
        append(text, size, "; all %d %s of the line: %s per request", count, kinds[a->kind], all);
}

void picture_sample(const Picture *picture, const WarpAccess *a, char *text, size_t size)
{
    const Records *r = picture->records;
    const bool is_any = r->filter.block < 0 && r->filter.warp < 0;
    const char *unit = a->space == RECORD_GLOBAL ? "sectors" : "wavefronts";

    put(text, size, "This is warp %d of block %lld of %s", a->warp, (long long) a->block,
        r->launches[a->launch].kernel);
    if (is_any)
        append(text, size, ", the first with the most %s at this instruction", unit);
    if (a->requests)
        append(text, size,
               ". Over all warps, this instruction made %llu request%s and %llu %s: "
               "%.1f per request",
               (unsigned long long) a->requests, a->requests == 1 ? "" : "s",
               (unsigned long long) a->all_passes, unit,
               (double) a->all_passes / (double) a->requests);
    say_line(r, a, text, size);
    append(text, size, ". Simulated on the %s.", r->device.name);
    if (r->lost_accesses)
        append(text, size, " Some instructions of this kernel were not recorded.");
}

int picture_launch(const Picture *picture)
{
    const Records *r = picture->records;
    int longest = r->launch_count ? 0 : -1;

    for (int i = 1; i < r->launch_count; i++)
        if (r->launches[i].cycles > r->launches[longest].cycles)
            longest = i;
    return longest;
}
