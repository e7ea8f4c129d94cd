/* sectors.c - which 32-byte sectors of global memory the lanes of one warp touch. */
#include "base/util.h"
#include "draw/picture.h"

#include <string.h>

enum {
    LINE_WORDS = RECORD_LINE_BYTES / RECORD_WORD_BYTES,
    SECTOR_WORDS = RECORD_SECTOR_BYTES / RECORD_WORD_BYTES,
    SECTORS = RECORD_LINE_BYTES / RECORD_SECTOR_BYTES,
    MOST_LINES = 2 * RECORD_LANES,
    CELL = 19,
    ROW = 20,
    LEFT = 120,
};

/* A 128-byte line that the warp touches: the first lane at each word, and the number of lanes. */
typedef struct TouchedLine {
    uint64_t number;
    int lane[LINE_WORDS], lanes[LINE_WORDS];
    bool fetched[SECTORS];
} TouchedLine;

typedef struct Touched {
    TouchedLine lines[MOST_LINES];
    int count, sectors;
} Touched;

static TouchedLine *line_at(Touched *touched, uint64_t number)
{
    int place = 0;

    while (place < touched->count && touched->lines[place].number < number)
        place++;
    if (place < touched->count && touched->lines[place].number == number)
        return &touched->lines[place];
    if (touched->count == MOST_LINES)
        return NULL;
    memmove(&touched->lines[place + 1], &touched->lines[place],
            (size_t) (touched->count - place) * sizeof *touched->lines);
    touched->lines[place] = (TouchedLine){ .number = number };
    touched->count++;
    return &touched->lines[place];
}

static void touch_word(Touched *touched, uint64_t word, int lane)
{
    TouchedLine *line = line_at(touched, word / LINE_WORDS);
    const int at = (int) (word % LINE_WORDS);

    if (!line)
        return;
    if (!line->lanes[at]++)
        line->lane[at] = lane;
    touched->sectors += !line->fetched[at / SECTOR_WORDS];
    line->fetched[at / SECTOR_WORDS] = true;
}

static void find_touched(const WarpAccess *a, Touched *touched)
{
    *touched = (Touched){ .count = 0 };
    for (int lane = 0; lane < RECORD_LANES; lane++) {
        const uint64_t first = a->address[lane] / RECORD_WORD_BYTES;
        const uint64_t last = (a->address[lane] + (uint64_t) a->bytes - 1) / RECORD_WORD_BYTES;
        for (uint64_t word = first; a->mask >> lane & 1 && word <= last; word++)
            touch_word(touched, word, lane);
    }
}

/* ---- Words ---- */

static const char *const kind_words[] = {
    [RECORD_LOAD] = "Load", [RECORD_STORE] = "Store", [RECORD_ATOMIC] = "Atomic"
};

void sectors_title(const Picture *picture, const WarpAccess *a, char *text, size_t size)
{
    const RecordedArray *array = &picture->records->arrays[a->array];
    const int lanes = __builtin_popcount(a->mask);

    put(text, size, "%s of %s: %d lane%s touch %d sector%s; %d would hold their %d bytes",
        kind_words[a->kind], *array->name ? array->name : "several arrays", lanes,
        lanes == 1 ? "" : "s", a->passes, a->passes == 1 ? "" : "s", a->least, lanes * a->bytes);
}

/* ---- Drawing ---- */

/* The bytes of a lane are one cell if they fill a word or more; smaller ones share a word. */
static void draw_word(Svg *svg, const TouchedLine *line, int at, double x, double y)
{
    const int lanes = line->lanes[at], lane = line->lane[at];

    if (!lanes) {
        svg_rect(svg, x, y, CELL, ROW - 4, "hatch");
        return;
    }
    svg_rect(svg, x, y, CELL, ROW - 4, lanes > 1 ? "c2" : "c1");
    if (lanes > 1)
        svg_text_in(svg, x + CELL / 2.0, y + 12, CELL, "on small middle", "x%d", lanes);
    else
        svg_text_in(svg, x + CELL / 2.0, y + 12, CELL, "on small middle", "%d", lane);
}

static void draw_sector(Svg *svg, const TouchedLine *line, int sector, double x, double y)
{
    if (line->fetched[sector])
        for (int i = 0; i < SECTOR_WORDS; i++)
            draw_word(svg, line, sector * SECTOR_WORDS + i, x + i * CELL, y);
    svg_rect(svg, x, y, SECTOR_WORDS * CELL, ROW - 4, line->fetched[sector] ? "frame" : "grid");
}

static double draw_lines(Svg *svg, const Touched *touched, double y)
{
    svg_text(svg, LEFT - 10, y + 12, "dim small end", "byte offset");
    for (int s = 0; s < SECTORS; s++)
        svg_text(svg, LEFT + (s + 0.5) * (SECTOR_WORDS * CELL + 4), y + 12, "dim small middle",
                 "sector %d", s);
    y += 20;
    for (int i = 0; i < touched->count; i++) {
        const TouchedLine *line = &touched->lines[i];
        if (i && line->number != line[-1].number + 1) {
            svg_text(svg, LEFT - 10, y + 3, "dim small end", "...");
            y += 8;
        }
        svg_group(svg, "128 bytes from offset %llu",
                  (unsigned long long) line->number * RECORD_LINE_BYTES);
        svg_text(svg, LEFT - 10, y + 12, "dim small end", "%llu",
                 (unsigned long long) line->number * RECORD_LINE_BYTES);
        for (int s = 0; s < SECTORS; s++)
            draw_sector(svg, line, s, LEFT + s * (SECTOR_WORDS * CELL + 4), y);
        svg_end_group(svg);
        y += ROW;
    }
    return y;
}

bool draw_sectors(const Picture *picture, Svg *svg, Words *words)
{
    const WarpAccess *a = picture_access(picture, RECORD_GLOBAL, words);
    char place[400], sample[600];
    Touched touched;
    double y, x = PICTURE_MARGIN;

    if (!a)
        return false;
    sectors_title(picture, a, words->title, sizeof words->title);
    picture_access_place(picture, a, place, sizeof place);
    find_touched(a, &touched);
    y = draw_lines(svg, &touched, picture_head(picture, svg, words->title, place)) + 22;
    x = picture_key(svg, x, y, "c1", "used, with the lane's number");
    if (a->bytes < RECORD_WORD_BYTES || touched.sectors < a->least)
        x = picture_key(svg, x, y, "c2", "used by several lanes");
    x = picture_key(svg, x, y, "hatch", "moved, not used");
    picture_key(svg, x, y, "empty", "not moved");
    picture_sample(picture, a, sample, sizeof sample);
    PUT(words->description,
        "%s. Each row is a line of 128 bytes of the array, four sectors of eight "
        "words. %s",
        place, sample);
    picture_caption(picture, svg, y + 26, sample);
    return true;
}

/* ---- Text: one character per word ---- */

static char digit_of(int lane)
{
    return "0123456789abcdefghijklmnopqrstuv"[lane];
}

static void print_line(FILE *to, const TouchedLine *line)
{
    fprintf(to, "%12llu  ", (unsigned long long) line->number * RECORD_LINE_BYTES);
    for (int i = 0; i < LINE_WORDS; i++) {
        const char c = line->lanes[i] > 1                ? '*'
                       : line->lanes[i]                  ? digit_of(line->lane[i])
                       : line->fetched[i / SECTOR_WORDS] ? '.'
                                                         : ' ';
        if (i % SECTOR_WORDS == 0)
            fputc('|', to);
        fputc(c, to);
    }
    fprintf(to, "|\n");
}

void sectors_grid(const Picture *picture, const WarpAccess *a, FILE *to)
{
    Touched touched;
    int shown;

    find_touched(a, &touched);
    shown = picture_rows(picture, touched.count);
    fprintf(to, "%12s  |sector 0|sector 1|sector 2|sector 3|\n", "byte offset");
    for (int i = 0; i < shown; i++)
        print_line(to, &touched.lines[i]);
    picture_rest(to, touched.count, shown);
}

bool print_sectors(const Picture *picture, FILE *to, Words *words)
{
    const WarpAccess *a = picture_access(picture, RECORD_GLOBAL, words);
    char place[400], sample[600];

    if (!a)
        return false;
    sectors_title(picture, a, words->title, sizeof words->title);
    picture_access_place(picture, a, place, sizeof place);
    picture_sample(picture, a, sample, sizeof sample);
    fprintf(to, "%s\n%s\n\n", words->title, place);
    sectors_grid(picture, a, to);
    fprintf(
        to,
        "\nOne character per 4 bytes: the lane in base 32 (0 to v), * several lanes; a dot: moved "
        "but not used.\n%s\n",
        sample);
    return true;
}
