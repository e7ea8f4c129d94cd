/* command.c - `warpbook draw`: options, the kernel's run, and the picture's file. */
#include "draw/command.h"
#include "base/number.h"
#include "base/options.h"
#include "base/text.h"
#include "base/util.h"
#include "draw/collect.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    DONE = 0,
    NOTHING_TO_DRAW = 1,
    USAGE = 2,
    COULD_NOT = 3,
    MOST_SOURCE = 256 << 10,
    COLUMNS = 80
};

static const char usage_begin[] = "usage: warpbook draw KIND LAB [OPTION...]\n\n"
                                  "Draws what a kernel does when it runs on the simulated GPU.\n\n";
static const char usage_end[] =
    "\n"
    "  --submission FILE   use this kernel.cu instead of labs/LAB/kernel.cu\n"
    "  --svg FILE          write a picture to FILE; without it, print its text form\n"
    "  --theme T           theme of the picture: auto (the reader's choice), light or dark\n"
    "  --line N            sectors, banks: draw the access in line N\n"
    "  --block N, --warp N record this block or warp\n"
    "  --case TEXT         the case whose label begins with TEXT\n"
    "  --device sim:NAME   the simulated GPU; ladder: show modelled instead of measured speeds\n";

typedef struct Options {
    const PictureKind *kind;
    const LabEntry *entry;
    const char *submission, *svg, *device, *label;
    Theme theme;
    int line;
    RecordFilter filter;
    bool help;
} Options;

/* ---- Options ---- */

static bool set_submission(void *self, const char *value)
{
    ((Options *) self)->submission = value;
    return *value && strlen(value) < PATH - 64;
}

static bool set_svg(void *self, const char *value)
{
    ((Options *) self)->svg = value;
    return *value;
}

static bool set_device(void *self, const char *value)
{
    ((Options *) self)->device = value;
    return !strcmp(value, "sim") || (!strncmp(value, "sim:", 4) && value[4] && strlen(value) < 200);
}

static bool set_case(void *self, const char *value)
{
    ((Options *) self)->label = value;
    return *value;
}

static bool set_theme(void *self, const char *value)
{
    static const char *const words[] = { "auto", "light", "dark" };

    for (int i = 0; i < 3; i++)
        if (!strcmp(value, words[i])) {
            ((Options *) self)->theme = (Theme) i;
            return true;
        }
    return false;
}

static bool set_number(const char *value, uint64_t most, uint64_t *number)
{
    return parse_whole(value, 10, most, number);
}

static bool set_line(void *self, const char *value)
{
    uint64_t number = 0;
    const bool well = set_number(value, 1000000, &number) && number > 0;

    ((Options *) self)->line = (int) number;
    return well;
}

static bool set_block(void *self, const char *value)
{
    uint64_t number = 0;
    const bool well = set_number(value, INT32_MAX, &number);

    ((Options *) self)->filter.block = (int64_t) number;
    return well;
}

static bool set_warp(void *self, const char *value)
{
    uint64_t number = 0;
    const bool well = set_number(value, 31, &number);

    ((Options *) self)->filter.warp = (int) number;
    return well;
}

static bool set_help(void *self, const char *value)
{
    (void) value;
    return ((Options *) self)->help = true;
}

static const OptionRow rows[] = {
    { "submission", true, set_submission },
    { "svg", true, set_svg },
    { "device", true, set_device },
    { "case", true, set_case },
    { "theme", true, set_theme },
    { "line", true, set_line },
    { "block", true, set_block },
    { "warp", true, set_warp },
    { "help", false, set_help },
    { 0 },
};

/* Lists the kinds: "sectors, banks, ...". */
static const char *kind_names(char *text, size_t size)
{
    *text = 0;
    for (const PictureKind *kind = picture_kinds; kind->name; kind++)
        append(text, size, "%s%s", *text ? ", " : "", kind->name);
    return text;
}

/* The first word is the kind, the second the lab. */
static bool take_word(void *self, const char *word)
{
    Options *o = self;
    char names[200];

    if (!o->kind) {
        o->kind = picture_kind(word);
        if (!o->kind)
            fprintf(stderr, "warpbook: unknown kind of picture '%s'; kinds: %s\n", word,
                    kind_names(names, sizeof names));
        return o->kind;
    }
    if (o->entry || !(o->entry = lab_find(word))) {
        fprintf(stderr, "warpbook: draw needs one lab; '%s' is one word too many\n", word);
        return false;
    }
    return true;
}

static void print_usage(FILE *to)
{
    fputs(usage_begin, to);
    for (const PictureKind *kind = picture_kinds; kind->name; kind++)
        fprintf(to, "  %-10s %s\n", kind->name, kind->about);
    fputs(usage_end, to);
}

/* ---- Drawing ---- */

static int complain(const Words *words)
{
    fprintf(stderr, "warpbook: nothing to draw: %s\n", words->why);
    return NOTHING_TO_DRAW;
}

static bool save(const char *path, const char *text, size_t bytes)
{
    if (write_file(path, text, bytes)) {
        fprintf(stderr, "written: %s\n", path);
        return true;
    }
    fprintf(stderr, "warpbook: --svg %s: %s\n", path, strerror(errno));
    return false;
}

static int draw_svg(const Options *o, const Picture *picture)
{
    Words words = { .why = "" };
    Svg svg;
    FILE *to;
    char *text;
    size_t bytes;
    bool drawn, saved;

    svg_begin(&svg, PICTURE_WIDTH);
    drawn = o->kind->draw(picture, &svg, &words);
    to = text_open(&text, &bytes);
    svg_write(&svg, &(SvgHead){ words.title, words.description, o->theme }, to);
    text_close(to);
    saved = drawn && save(o->svg, text, bytes);
    free(text);
    return !drawn ? complain(&words) : saved ? DONE : COULD_NOT;
}

/* A text form is a title and a place, a grid, and a legend, with an empty line after each: the
 * grid must not be wrapped. */
static void print_form(char *text)
{
    char *grid = strstr(text, "\n\n"), *legend = grid ? strstr(grid + 2, "\n\n") : NULL;

    if (!legend) {
        fputs(text, stdout);
        return;
    }
    *grid = *legend = 0;
    print_lines_wrapped(text, 0, COLUMNS);
    printf("\n%s\n\n", grid + 2);
    print_lines_wrapped(legend + 2, 0, COLUMNS);
}

static int print_text(const Options *o, const Picture *picture)
{
    Words words = { .why = "" };
    char *text;
    size_t bytes;
    FILE *to = text_open(&text, &bytes);
    const bool printed = o->kind->print(picture, to, &words);

    text_close(to);
    if (printed)
        print_form(text);
    free(text);
    if (!printed)
        return complain(&words);
    if (*picture->failed)
        printf("The simulated GPU reports: %s\n", picture->failed);
    return DONE;
}

static int show(const Options *o, const Picture *picture)
{
    return o->svg ? draw_svg(o, picture) : print_text(o, picture);
}

/* ---- From the options to a picture ---- */

static int could_not(const char *why)
{
    fprintf(stderr, "warpbook: nothing to draw: %s\n", why);
    return COULD_NOT;
}

/* Collects the data that the kind needs, then draws. */
static int collect_and_show(const Options *o, const CollectJob *job, Picture *picture)
{
    static Records records;
    static RooflinePoints points;
    static Ladder ladder;
    static char why[COLLECT_WHY];

    picture->failed = "";
    if (o->kind->data == FROM_RECORDS) {
        if (!collect_records(job, &o->filter, &records, why))
            return could_not(why);
        picture->records = &records;
        picture->failed = why;
    } else if (o->kind->data == FROM_ROOFLINE) {
        if (!collect_roofline(job, &points, why))
            return could_not(why);
        picture->roofline = &points;
    } else {
        if (!collect_ladder(job, &ladder, why))
            return could_not(why);
        picture->ladder = &ladder;
    }
    session_clear_line();
    return show(o, picture);
}

static int run_and_show(const Options *o, const Case *lab_case)
{
    static Session session;
    char path[PATH];
    CollectJob job = { .session = &session, .entry = o->entry };
    Case sized;
    Picture picture = { .entry = o->entry, .file = "kernel.cu", .line = o->line };
    char *source;
    int status;

    session = (Session){ .quick = true, .live = isatty(2), .replayed = true, .seed = 1 };
    if (!session_open(&session, o->device ? o->device : "sim"))
        return could_not(session.problem);
    sized = collect_case(lab_case, &session.gpu);
    job.lab_case = &sized;
    job.source =
        o->submission ? o->submission : lab_file(&session.book, o->entry, "kernel.cu", path);
    job.shown = job.source;
    source = read_file(job.source, MOST_SOURCE, NULL);
    picture.lab_case = sized;
    picture.source = source;
    status = collect_and_show(o, &job, &picture);
    free(source);
    session_close(&session);
    return status;
}

/* True if the ladder was measured and has been shown. */
static bool show_measured(const Options *o, const Case *lab_case, int *status)
{
    static Workbook book;
    static Ladder ladder;
    char problem[700];
    const Picture picture = {
        .entry = o->entry, .lab_case = *lab_case, .failed = "", .ladder = &ladder
    };

    if (o->kind->data != FROM_LADDER || o->device || o->submission ||
        !workbook_find(&book, problem, sizeof problem) ||
        !measured_ladder(&book, o->entry, lab_case, &ladder))
        return false;
    *status = show(o, &picture);
    return true;
}

static int refuse(const char *what)
{
    fprintf(stderr, "warpbook: %s (see warpbook draw --help)\n", what);
    return USAGE;
}

int draw_run(int argc, char **argv)
{
    Options o = { .filter = { .block = -1, .warp = -1 } };
    OptionReader reader = { rows, &o, take_word };
    const Case *lab_case;
    int status;

    if (options_read(&reader, argc, argv) < 0)
        return *reader.why ? refuse(reader.why) : USAGE;
    if (o.help) {
        print_usage(stdout);
        return DONE;
    }
    if (!o.kind || !o.entry)
        return refuse("draw needs a kind of picture and a lab");
    if (!(lab_case = collect_choose_case(o.entry->lab, o.label)))
        return refuse("no case of this lab has a label that begins like that");
    return show_measured(&o, lab_case, &status) ? status : run_and_show(&o, lab_case);
}
