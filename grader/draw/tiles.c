/* tiles.c - which thread writes which element of the output: a block's tile of the matrix, the
 * tiles of its warps, and the elements of their threads. */
#include "base/util.h"
#include "draw/picture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_CELLS = 1 << 18, /* elements in a block's tile, including holes */
    TILES_ACROSS = 8,     /* the most tiles of the matrix shown in each direction */
    PANEL = 240,          /* width, and height unless rows need more */
    PANEL_HEIGHT = 384,
    GAP = 30,
    ROW = 12, /* height of a row of elements with its number */
    LEAST_WIDTH = 24,
    HEAD = 34, /* height of a panel's head, two lines */
    NO_ONE = -1,
};

/* A rectangle of elements. */
typedef struct Box {
    int64_t row, col, rows, cols;
} Box;

/* For each element of a box, the number of the block, warp or lane that writes it, or NO_ONE. */
typedef struct Owners {
    Box box;
    int *of; /* rows * cols */
} Owners;

/* The output to which the recorded block wrote most. */
typedef struct Output {
    int launch, array, element_bytes, start;
    int64_t rows, cols;
    const char *name;
} Output;

/* ---- The output ---- */

static const Array *lab_array(const Arrays *arrays, const char *name)
{
    static const char *const names[LAB_OUT] = { "out", "out[1]" };

    for (int i = 0; i < LAB_OUT; i++)
        if (arrays->out[i].rows &&
            !strcmp(name, arrays->out[i].name ? arrays->out[i].name : names[i]))
            return &arrays->out[i];
    return NULL;
}

static int bytes_of_type(Type type)
{
    return type == F64 ? 8 : type == U8 ? 1 : 4;
}

static int64_t writes_to(const Records *r, int launch, int array)
{
    int64_t count = 0;

    for (int i = 0; i < r->write_count; i++)
        count += r->writes[i].launch == launch && r->writes[i].array == array;
    return count;
}

static bool find_output(const Picture *picture, Output *out, Words *words)
{
    const Records *r = picture->records;
    Arrays arrays = { 0 };
    int64_t most = 0;

    picture->entry->lab->shape(&picture->lab_case, &arrays);
    for (int launch = 0; launch < r->launch_count; launch++)
        for (int i = 0; i < r->array_count; i++) {
            const Array *array = lab_array(&arrays, r->arrays[i].name);
            const int64_t count = array ? writes_to(r, launch, i) : 0;
            if (count <= most)
                continue;
            most = count;
            *out = (Output){ .launch = launch,
                             .array = i,
                             .element_bytes = bytes_of_type(array->type),
                             .start = r->arrays[i].start,
                             .rows = (int64_t) array->rows,
                             .cols = (int64_t) array->cols,
                             .name = r->arrays[i].name };
        }
    if (!most)
        PUT(words->why, "the recorded block wrote no element of an output");
    return most > 0;
}

static int64_t element_at(const Output *out, uint64_t offset)
{
    const int64_t element = ((int64_t) offset - out->start) / out->element_bytes;

    return element < 0 ? 0 : element >= out->rows * out->cols ? out->rows * out->cols - 1 : element;
}

/* ---- Who writes what ---- */

typedef struct Corners {
    int64_t low_row, low_col, high_row, high_col;
} Corners;

static void widen(Corners *c, int64_t row, int64_t col)
{
    c->low_row = row < c->low_row ? row : c->low_row;
    c->low_col = col < c->low_col ? col : c->low_col;
    c->high_row = row > c->high_row ? row : c->high_row;
    c->high_col = col > c->high_col ? col : c->high_col;
}

static Box box_of(const Corners *c)
{
    return (Box){ c->low_row, c->low_col, c->high_row - c->low_row + 1,
                  c->high_col - c->low_col + 1 };
}

/* Calls `visit` for each element that the recorded block stores; warp -1: by all warps. */
static void each_element(const Records *r, const Output *out, int warp, void *self,
                         void (*visit)(void *self, int64_t row, int64_t col, const ElementWrite *))
{
    for (int i = 0; i < r->write_count; i++) {
        const ElementWrite *w = &r->writes[i];
        if (w->launch != out->launch || w->array != out->array || (warp >= 0 && w->warp != warp))
            continue;
        for (int at = 0; at < w->bytes; at += out->element_bytes) {
            const int64_t element = element_at(out, w->offset + (uint64_t) at);
            visit(self, element / out->cols, element % out->cols, w);
        }
    }
}

static void visit_corners(void *self, int64_t row, int64_t col, const ElementWrite *w)
{
    (void) w;
    widen(self, row, col);
}

static Box find_box(const Records *r, const Output *out, int warp)
{
    Corners corners = { INT64_MAX, INT64_MAX, -1, -1 };

    each_element(r, out, warp, &corners, visit_corners);
    return box_of(&corners);
}

static int *cell_of(Owners *owners, int64_t row, int64_t col)
{
    return &owners->of[(row - owners->box.row) * owners->box.cols + col - owners->box.col];
}

static void visit_warp(void *self, int64_t row, int64_t col, const ElementWrite *w)
{
    *cell_of(self, row, col) = w->warp;
}

static void visit_lane(void *self, int64_t row, int64_t col, const ElementWrite *w)
{
    *cell_of(self, row, col) = w->lane;
}

static Owners find_owners(const Records *r, const Output *out, int warp)
{
    Owners owners = { .box = find_box(r, out, warp) };
    const size_t cells = (size_t) (owners.box.rows * owners.box.cols);

    owners.of = xcalloc(cells, sizeof *owners.of);
    for (size_t i = 0; i < cells; i++)
        owners.of[i] = NO_ONE;
    each_element(r, out, warp, &owners, warp < 0 ? visit_warp : visit_lane);
    return owners;
}

static int64_t elements_of(const Owners *owners, int owner)
{
    int64_t count = 0;

    for (int64_t i = 0; i < owners->box.rows * owners->box.cols; i++)
        count += owners->of[i] == owner;
    return count;
}

/* ---- Rectangles of one owner ---- */

static bool is_free_row(Owners *o, const bool *drawn, int64_t row, int64_t col, int64_t cols,
                        int owner)
{
    for (int64_t i = 0; i < cols; i++)
        if (o->of[row * o->box.cols + col + i] != owner || drawn[row * o->box.cols + col + i])
            return false;
    return true;
}

/* Finds the largest rectangle from this cell to the right and then down, and marks it as drawn. */
static Box take_box(Owners *o, bool *drawn, int64_t row, int64_t col)
{
    const int owner = o->of[row * o->box.cols + col];
    Box box = { row, col, 1, 1 };

    while (col + box.cols < o->box.cols && is_free_row(o, drawn, row, col + box.cols, 1, owner))
        box.cols++;
    while (row + box.rows < o->box.rows &&
           is_free_row(o, drawn, row + box.rows, col, box.cols, owner))
        box.rows++;
    for (int64_t i = 0; i < box.rows; i++)
        memset(&drawn[(row + i) * o->box.cols + col], true, (size_t) box.cols);
    return box;
}

/* ---- Panels ---- */

typedef struct Panel {
    double x, y, per_col, per_row;
} Panel;

/* Fits that many elements into the panel, to scale, but not too narrow. */
static Panel panel_of(double x, double y, const Box *box)
{
    const double scale =
        fmin((double) PANEL / (double) box->rows, (double) PANEL / (double) box->cols);
    const double col = LEAST_WIDTH / (double) box->cols;

    return (Panel){ x, y, fmax(scale, col), scale };
}

/* If there are few rows, makes them high enough for numbers, no longer to scale. */
static void stretch(Panel *panel, int64_t rows)
{
    if (rows * ROW <= PANEL_HEIGHT && panel->per_row < ROW)
        panel->per_row = ROW;
}

static void draw_box(Svg *svg, const Panel *p, const Box *box, const char *classes)
{
    svg_rect(svg, p->x + (double) box->col * p->per_col, p->y + (double) box->row * p->per_row,
             (double) box->cols * p->per_col, (double) box->rows * p->per_row, classes);
}

static void draw_number(Svg *svg, const Panel *p, const Box *box, int64_t number)
{
    const double width = (double) box->cols * p->per_col, height = (double) box->rows * p->per_row;

    if (height >= 11)
        svg_text_in(svg, p->x + (double) box->col * p->per_col + width / 2,
                    p->y + (double) box->row * p->per_row + height / 2 + 4, width,
                    "on small middle", "%lld", (long long) number);
}

static const char *fill_of(int owner, bool is_warp)
{
    static const char *const fills[] = { "c1", "c3", "c4", "c5" };

    return owner == 0 ? "c2" : is_warp ? fills[owner % 4] : "c1";
}

/* Finds rectangles with one owner each that cover the box. */
static Box *find_boxes(Owners *o, int *count)
{
    const int64_t cells = o->box.rows * o->box.cols;
    bool *drawn = xcalloc((size_t) cells, sizeof *drawn);
    Box *boxes = xcalloc((size_t) cells, sizeof *boxes);

    *count = 0;
    for (int64_t i = 0; i < cells; i++)
        if (!drawn[i])
            boxes[(*count)++] = take_box(o, drawn, i / o->box.cols, i % o->box.cols);
    free(drawn);
    return boxes;
}

static int owner_of(const Owners *o, const Box *box)
{
    return o->of[box->row * o->box.cols + box->col];
}

/* Some numbers without the others would mislead, so all must fit. */
static bool has_room(const Panel *p, const Owners *o, const Box *boxes, int count)
{
    char text[12];

    for (int i = 0; i < count; i++) {
        const double width = (double) boxes[i].cols * p->per_col;
        const int owner = owner_of(o, &boxes[i]);
        if (owner >= 0 && ((double) boxes[i].rows * p->per_row < 11 ||
                           svg_text_width("small", PUT(text, "%d", owner)) > width))
            return false;
    }
    return true;
}

static void draw_owners(Svg *svg, const Panel *p, const Owners *o, const Box *boxes, int count,
                        bool is_warp)
{
    const bool numbered = has_room(p, o, boxes, count);

    for (int i = 0; i < count; i++) {
        const int owner = owner_of(o, &boxes[i]);
        draw_box(svg, p, &boxes[i], owner < 0 ? "hatch" : fill_of(owner, is_warp));
        draw_box(svg, p, &boxes[i], "frame");
        if (owner >= 0 && numbered)
            draw_number(svg, p, &boxes[i], owner);
    }
    for (int i = 0; i < count; i++)
        if (owner_of(o, &boxes[i]) == 0)
            draw_box(svg, p, &boxes[i], "strong");
}

/* The upper left part of the matrix: some tiles in each direction. */
static Box shown_of(const Output *out, const Box *tile)
{
    const int64_t rows = tile->rows * TILES_ACROSS, cols = tile->cols * TILES_ACROSS;

    return (Box){ 0, 0, rows < out->rows ? rows : out->rows, cols < out->cols ? cols : out->cols };
}

static long long recorded_block(const Records *r)
{
    return r->filter.block < 0 ? 0 : (long long) r->filter.block;
}

static void draw_tile(Svg *svg, const Panel *panel, const Box *box, int64_t block, bool is_recorded)
{
    svg_group(svg, "block %lld", (long long) block);
    draw_box(svg, panel, box, is_recorded ? "c2" : "c1");
    draw_box(svg, panel, box, is_recorded ? "strong" : "frame");
    draw_number(svg, panel, box, block);
    svg_end_group(svg);
}

static void draw_matrix(const Picture *picture, Svg *svg, const Output *out, const Box *tile,
                        const Box *shown, const Panel *panel)
{
    const Records *r = picture->records;

    draw_box(svg, panel, shown, "hatch");
    for (int i = 0; i < r->block_tile_count; i++) {
        const BlockTile *t = &r->block_tiles[i];
        const int64_t first = element_at(out, t->first);
        Box box = { first / out->cols, first % out->cols, tile->rows, tile->cols };
        if (t->launch != out->launch || t->array != out->array || box.row >= shown->rows ||
            box.col >= shown->cols)
            continue;
        box.rows = box.row + box.rows > shown->rows ? shown->rows - box.row : box.rows;
        box.cols = box.col + box.cols > shown->cols ? shown->cols - box.col : box.cols;
        draw_tile(svg, panel, &box, t->block, t->block == recorded_block(r));
    }
    draw_box(svg, panel, shown, "frame");
}

/* ---- The picture ---- */

static double panel_x(int panel)
{
    return PICTURE_MARGIN + panel * (PANEL + GAP);
}

static void say(const Picture *picture, const Output *out, const Owners *block, const Owners *warp,
                Words *words)
{
    const long long of_warp = elements_of(block, 0), of_thread = elements_of(warp, 0);

    PUT(words->title,
        "%s: a block writes %lld x %lld elements of %s (warp 0: %lld, thread 0: %lld)",
        picture->records->launches[out->launch].kernel, (long long) block->box.rows,
        (long long) block->box.cols, out->name, of_warp, of_thread);
}

/* How many columns to draw: boxes that take turns along a long row would become one grey bar. */
static int64_t columns_shown(const Owners *owners, const Box *boxes, int count)
{
    static const double least_width = 6;
    int64_t narrowest = owners->box.cols, most;

    for (int i = 0; i < count; i++)
        if (boxes[i].cols < narrowest)
            narrowest = boxes[i].cols;
    most = (int64_t) (PANEL / least_width) * narrowest;
    return owners->box.cols > owners->box.rows && owners->box.cols > most ? most : owners->box.cols;
}

/* Leaves out what lies to the right of these columns; returns the number of boxes that stay. */
static int crop(Box *boxes, int count, int64_t cols)
{
    int left = 0;

    for (int i = 0; i < count; i++) {
        if (boxes[i].col >= cols)
            continue;
        boxes[left] = boxes[i];
        if (boxes[left].col + boxes[left].cols > cols)
            boxes[left].cols = cols - boxes[left].col;
        left++;
    }
    return left;
}

/* Draws the panel with the owners of one box; returns the y below it. */
static double draw_panel(Svg *svg, int number, double y, Owners *owners, bool is_warp,
                         const char *head)
{
    int count;
    Box *boxes = find_boxes(owners, &count), shown = owners->box;
    char text[160];

    shown.cols = columns_shown(owners, boxes, count);
    count = crop(boxes, count, shown.cols);
    if (shown.cols < owners->box.cols)
        head = PUT(text, "%s, the first %lld columns", head, (long long) shown.cols);
    Panel panel = panel_of(panel_x(number), y + HEAD, &shown);

    if (!has_room(&panel, owners, boxes, count))
        stretch(&panel, owners->box.rows);
    svg_paragraph(svg, panel_x(number), y, PANEL, "text", head);
    draw_owners(svg, &panel, owners, boxes, count, is_warp);
    free(boxes);
    return y + HEAD + (double) owners->box.rows * panel.per_row;
}

static double draw_first_panel(const Picture *picture, Svg *svg, const Output *out,
                               const Owners *block, double y)
{
    const Box shown = shown_of(out, &block->box);
    Panel panel = panel_of(panel_x(0), y + HEAD, &shown);
    const bool is_part = shown.rows < out->rows || shown.cols < out->cols;
    char text[200];

    svg_paragraph(svg, panel_x(0), y, PANEL, "text",
                  PUT(text, "%s of %s: %lld x %lld, tiles of blocks", is_part ? "Part" : "All",
                      out->name, (long long) shown.rows, (long long) shown.cols));
    if ((double) block->box.rows * panel.per_row < ROW)
        panel.per_row = ROW / (double) block->box.rows;
    draw_matrix(picture, svg, out, &block->box, &shown, &panel);
    return y + HEAD + (double) shown.rows * panel.per_row;
}

static void draw_all(const Picture *picture, Svg *svg, const Output *out, Owners *block,
                     Owners *warp, Words *words)
{
    const Records *r = picture->records;
    char place[300], text[400], head[100];
    double top, y;

    say(picture, out, block, warp, words);
    picture_place(picture, 0, place, sizeof place);
    top = picture_head(picture, svg, words->title, place) + 16;
    y = draw_first_panel(picture, svg, out, block, top);
    PUT(head, "Block %lld: %lld x %lld, by warp", recorded_block(r), (long long) block->box.rows,
        (long long) block->box.cols);
    y = fmax(y, draw_panel(svg, 1, top, block, true, head));
    PUT(head, "Warp 0: %lld x %lld, by lane", (long long) warp->box.rows,
        (long long) warp->box.cols);
    y = fmax(y, draw_panel(svg, 2, top, warp, false, head));
    PUT(text,
        "Numbers are those of blocks, warps and lanes; number 0 is orange with a strong frame. "
        "Each element belongs to the thread that stored it last; hatched ones are others'. "
        "Simulated on the %s.",
        r->device.name);
    PUT(words->description, "%s. Three panels: the matrix, one block's tile, one warp's part. %s",
        place, text);
    picture_caption(picture, svg, y + 26, text);
}

/* Finds the output and who writes the recorded block's elements of it: by warp, and by lane of warp
 * 0. The caller frees both. Returns false, with words->why, if there is nothing to show. */
static bool find_tiles(const Picture *picture, Output *out, Owners *block, Owners *warp,
                       Words *words)
{
    const Records *r = picture->records;
    Box box;

    *block = *warp = (Owners){ .of = NULL };
    if (!find_output(picture, out, words))
        return false;
    box = find_box(r, out, -1);
    if (box.rows > MOST_CELLS / box.cols) {
        PUT(words->why, "the block's elements of %s are scattered over %lld x %lld", out->name,
            (long long) box.rows, (long long) box.cols);
        return false;
    }
    *block = find_owners(r, out, -1);
    if (elements_of(block, 0))
        *warp = find_owners(r, out, 0);
    else
        PUT(words->why, "warp 0 of the recorded block writes no element of %s", out->name);
    return !*words->why;
}

bool draw_tiles(const Picture *picture, Svg *svg, Words *words)
{
    Owners block, warp;
    Output out;
    const bool found = find_tiles(picture, &out, &block, &warp, words);

    if (found)
        draw_all(picture, svg, &out, &block, &warp, words);
    free(warp.of);
    free(block.of);
    return found;
}

/* ---- Text: one character per element: its warp, in base 32 ---- */

enum { TEXT_ROWS = 32, TEXT_COLUMNS = 64 };

static void print_owners(FILE *to, const Owners *o, int most_rows)
{
    for (int64_t row = 0; row < o->box.rows && row < most_rows; row++) {
        for (int64_t col = 0; col < o->box.cols && col < TEXT_COLUMNS; col++) {
            const int owner = o->of[row * o->box.cols + col];
            fputc(owner < 0 ? '.' : "0123456789abcdefghijklmnopqrstuv"[owner % 32], to);
        }
        fputc('\n', to);
    }
}

bool print_tiles(const Picture *picture, FILE *to, Words *words)
{
    Owners block, warp;
    Output out;
    char place[300];
    const bool found = find_tiles(picture, &out, &block, &warp, words);

    if (found) {
        say(picture, &out, &block, &warp, words);
        picture_place(picture, 0, place, sizeof place);
        fprintf(to, "%s\n%s\n\n", words->title, place);
        print_owners(to, &block, picture_rows(picture, TEXT_ROWS));
        fprintf(
            to,
            "\nThe first rows and columns of the tile of block %lld: one character per element, "
            "the warp that stores it, in base 32.\nSimulated on the %s.\n",
            recorded_block(picture->records), picture->records->device.name);
    }
    free(warp.of);
    free(block.of);
    return found;
}
