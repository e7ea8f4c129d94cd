/* banks.c - which banks and rows of shared memory the lanes of one warp touch. */
#include "base/util.h"
#include "draw/picture.h"

#include <string.h>

enum {
    BANKS = RECORD_BANKS,
    MOST_ROWS = 34, /* rows in a picture */
    CELL = 21,
    ROW = 18,
    SKIP = 5, /* gap for rows that are left out */
    LEFT = 90,
};

typedef struct Cell {
    int lane, lanes; /* the first lane that accesses the word, and the number of lanes that do */
} Cell;

/* The rows of 32 words that the access touches, in order; only the first ones if there are very
 * many. */
typedef struct Grid {
    uint64_t rows[MOST_ROWS]; /* row numbers */
    Cell cells[MOST_ROWS][BANKS];
    int count;
    bool is_cut;
    int words[BANKS]; /* number of different words in each bank, over all rows */
} Grid;

static uint64_t last_word(const WarpAccess *a, int lane)
{
    return (a->address[lane] + (uint64_t) a->bytes - 1) / RECORD_WORD_BYTES;
}

/* The position of a row among those shown; adds the row if necessary. Returns -1 if there is no
 * room. */
static int row_of(Grid *grid, uint64_t row)
{
    int place = 0;

    while (place < grid->count && grid->rows[place] < row)
        place++;
    if (place < grid->count && grid->rows[place] == row)
        return place;
    if (grid->count == MOST_ROWS) {
        grid->is_cut = true;
        return -1;
    }
    for (int i = grid->count++; i > place; i--) {
        grid->rows[i] = grid->rows[i - 1];
        memcpy(grid->cells[i], grid->cells[i - 1], sizeof grid->cells[i]);
    }
    grid->rows[place] = row;
    memset(grid->cells[place], 0, sizeof grid->cells[place]);
    return place;
}

/* True if a lower lane touches the word, or this lane does so with an earlier word. */
static bool is_known(const WarpAccess *a, int lane, uint64_t word)
{
    for (int i = 0; i < lane; i++)
        if (a->mask >> i & 1 && word >= a->address[i] / RECORD_WORD_BYTES &&
            word <= last_word(a, i))
            return true;
    return false;
}

static void find_grid(const WarpAccess *a, Grid *grid)
{
    *grid = (Grid){ .count = 0 };
    for (int lane = 0; lane < RECORD_LANES; lane++)
        for (uint64_t word = a->address[lane] / RECORD_WORD_BYTES;
             a->mask >> lane & 1 && word <= last_word(a, lane); word++) {
            const int row = row_of(grid, word / BANKS);
            grid->words[word % BANKS] += !is_known(a, lane, word);
            if (row >= 0 && !grid->cells[row][word % BANKS].lanes++)
                grid->cells[row][word % BANKS].lane = lane;
        }
}

static int busiest_bank(const Grid *grid)
{
    int bank = 0;

    for (int i = 1; i < BANKS; i++)
        if (grid->words[i] > grid->words[bank])
            bank = i;
    return bank;
}

/* A word between touched ones that no warp of the launch ever accessed: padding, or unused. */
static bool is_padding(const Picture *picture, const WarpAccess *a, uint64_t word)
{
    const RecordedLaunch *launch = &picture->records->launches[a->launch];

    return word < (uint64_t) launch->shared_bytes / RECORD_WORD_BYTES && word < MOST_SHARED_WORDS &&
           !(launch->touched[word / 8] >> word % 8 & 1);
}

/* ---- Words ---- */

/* "tile", or "shared memory" */
static const char *variable_at(const Picture *picture, const WarpAccess *a)
{
    const Records *r = picture->records;
    const uint64_t at = a->address[__builtin_ctz(a->mask)];

    for (int i = 0; i < r->variable_count; i++) {
        const SharedVariable *v = &r->variables[i];
        if (v->launch == a->launch && at >= (uint64_t) v->offset &&
            at < (uint64_t) v->offset + (uint64_t) v->bytes)
            return v->name;
    }
    return "shared memory";
}

void banks_title(const Picture *picture, const WarpAccess *a, char *text, size_t size)
{
    static const char *const kinds[] = { "Load from", "Store to", "Atomic on" };
    const int lanes = __builtin_popcount(a->mask);

    put(text, size, "%s %s: %d lane%s need%s %d wavefront%s; ", kinds[a->kind],
        variable_at(picture, a), lanes, lanes == 1 ? "" : "s", lanes == 1 ? "s" : "", a->passes,
        a->passes == 1 ? "" : "s");
    if (a->passes > a->least)
        append(text, size, "%d without bank conflicts", a->least);
    else
        append(text, size, "no bank conflicts");
}

static void say_sample(const Picture *picture, const WarpAccess *a, const Grid *grid, char *text,
                       size_t size)
{
    const int bank = busiest_bank(grid);

    if (a->passes > a->least)
        put(text, size, "Bank %d must serve %d different words. ", bank, grid->words[bank]);
    else
        put(text, size, "No bank must serve more than %d word%s. ", grid->words[bank],
            grid->words[bank] == 1 ? "" : "s");
    if (grid->is_cut)
        append(text, size, "Only %d of the rows are shown. ", grid->count);
    picture_sample(picture, a, text + strlen(text), size - strlen(text));
}

/* ---- Drawing ---- */

static void draw_cell(const Picture *picture, Svg *svg, const WarpAccess *a, const Grid *grid,
                      int row, int bank, double x, double y)
{
    const Cell *cell = &grid->cells[row][bank];
    const uint64_t word = grid->rows[row] * BANKS + (uint64_t) bank;
    const bool is_busiest = bank == busiest_bank(grid) && a->passes > a->least;

    if (cell->lanes) {
        svg_rect(svg, x, y, CELL, ROW, is_busiest ? "c2" : "c1");
        if (cell->lanes > 1)
            svg_text_in(svg, x + CELL / 2.0, y + 13, CELL, "on small middle", "x%d", cell->lanes);
        else
            svg_text_in(svg, x + CELL / 2.0, y + 13, CELL, "on small middle", "%d", cell->lane);
    } else if (is_padding(picture, a, word)) {
        svg_rect(svg, x, y, CELL, ROW, "hatch");
    }
    svg_rect(svg, x, y, CELL, ROW, "grid");
}

static void draw_bank_heads(Svg *svg, double y)
{
    svg_text(svg, LEFT - 10, y, "dim small end", "bank");
    for (int bank = 0; bank < BANKS; bank++)
        svg_text_in(svg, LEFT + (bank + 0.5) * CELL, y, CELL, "dim small middle", "%d", bank);
}

/* Writes the number of different words below each bank. */
static void draw_bank_sums(Svg *svg, const Grid *grid, double y)
{
    svg_text(svg, LEFT - 10, y, "text small end", "words");
    for (int bank = 0; bank < BANKS; bank++)
        svg_text_in(svg, LEFT + (bank + 0.5) * CELL, y, CELL, "text small middle", "%d",
                    grid->words[bank]);
}

static double draw_grid(const Picture *picture, Svg *svg, const WarpAccess *a, const Grid *grid,
                        double y)
{
    draw_bank_heads(svg, y + 12);
    y += 18;
    for (int row = 0; row < grid->count; row++, y += ROW) {
        if (row && grid->rows[row] != grid->rows[row - 1] + 1)
            y += SKIP; /* rows that the access does not touch */
        svg_text(svg, LEFT - 10, y + 13, "dim small end", "row %llu",
                 (unsigned long long) grid->rows[row]);
        for (int bank = 0; bank < BANKS; bank++)
            draw_cell(picture, svg, a, grid, row, bank, LEFT + bank * CELL, y);
    }
    draw_bank_sums(svg, grid, y + 14);
    return y + 18;
}

bool draw_banks(const Picture *picture, Svg *svg, Words *words)
{
    const WarpAccess *a = picture_access(picture, RECORD_SHARED, words);
    char place[400], sample[800];
    Grid grid;
    double y, x = PICTURE_MARGIN;

    if (!a)
        return false;
    banks_title(picture, a, words->title, sizeof words->title);
    picture_access_place(picture, a, place, sizeof place);
    find_grid(a, &grid);
    y = draw_grid(picture, svg, a, &grid, picture_head(picture, svg, words->title, place)) + 22;
    x = picture_key(svg, x, y, "c1", "accessed, with the lane's number");
    if (a->passes > a->least)
        x = picture_key(svg, x, y, "c2", "in the busiest bank");
    picture_key(svg, x, y, "hatch", "never accessed by any warp (padding)");
    say_sample(picture, a, &grid, sample, sizeof sample);
    PUT(words->description,
        "%s. Columns are the 32 banks, rows are those 128-byte rows of shared memory that the "
        "access touches. %s",
        place, sample);
    picture_caption(picture, svg, y + 26, sample);
    return true;
}

/* ---- Text: one character per word ---- */

static char char_of(const Picture *picture, const WarpAccess *a, const Grid *grid, int row,
                    int bank)
{
    const Cell *cell = &grid->cells[row][bank];
    const uint64_t word = grid->rows[row] * BANKS + (uint64_t) bank;

    if (cell->lanes > 1)
        return '*';
    if (cell->lanes)
        return "0123456789abcdefghijklmnopqrstuv"[cell->lane];
    return is_padding(picture, a, word) ? '#' : '.';
}

void banks_grid(const Picture *picture, const WarpAccess *a, FILE *to)
{
    Grid grid;
    int shown;

    find_grid(a, &grid);
    shown = picture_rows(picture, grid.count);
    fprintf(to, "%8s  bank 0  bank 8  bank 16 bank 24\n", "");
    for (int row = 0; row < shown; row++) {
        fprintf(to, "row %4llu  ", (unsigned long long) grid.rows[row]);
        for (int bank = 0; bank < BANKS; bank++)
            fputc(char_of(picture, a, &grid, row, bank), to);
        fputc('\n', to);
    }
    picture_rest(to, grid.count, shown);
}

bool print_banks(const Picture *picture, FILE *to, Words *words)
{
    const WarpAccess *a = picture_access(picture, RECORD_SHARED, words);
    char place[400], sample[800];
    Grid grid;

    if (!a)
        return false;
    banks_title(picture, a, words->title, sizeof words->title);
    picture_access_place(picture, a, place, sizeof place);
    find_grid(a, &grid);
    say_sample(picture, a, &grid, sample, sizeof sample);
    fprintf(to, "%s\n%s\n\n", words->title, place);
    banks_grid(picture, a, to);
    fprintf(to,
            "\nOne character per 4-byte word: the lane in base 32 (0 to v), * several lanes, "
            ". not in this access, # never accessed.\n%s\n",
            sample);
    return true;
}
