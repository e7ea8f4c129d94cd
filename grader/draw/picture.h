/* picture.h - the data of a picture, and the kinds of pictures, one row each. */
#ifndef DRAW_PICTURE_H
#define DRAW_PICTURE_H

#include "base/registry.h"
#include "draw/svg.h"
#include "sim/base/limiter.h"
#include "sim/base/records.h"

enum { PICTURE_WIDTH = 840, PICTURE_MARGIN = 24, MOST_RUNGS = 16 };

/* A kernel of a ladder: its speed, measured or modelled. */
typedef struct Rung {
    char name[48]; /* "4_tile", "yours" */
    double ratio;  /* as a share of the reference's speed */
    double rate;   /* GB/s or GFLOP/s; 0: unknown */
    bool is_yours, is_reference;
} Rung;

typedef struct Ladder {
    Rung rungs[MOST_RUNGS];
    int count;
    const char *unit; /* "GB/s" */
    double bar;       /* minimum ratio; 0: none */
    double limit;     /* limit of the device, in `unit`; 0: unknown */
    char where[200];  /* device, date and command; or the simulated GPU */
} Ladder;

/* A kernel on the roofline, from modelled figures. */
typedef struct RooflinePoint {
    char name[48];
    Roofline at;
    bool is_yours, is_reference;
} RooflinePoint;

typedef struct RooflinePoints {
    RooflinePoint points[MOST_RUNGS];
    int count;
    double fp32_tflops, memory_gbps;
    char device[96];
} RooflinePoints;

/* Everything that a picture can be drawn from; parts that its kind does not need are NULL. */
typedef struct Picture {
    const LabEntry *entry;
    Case lab_case;
    const char *file;   /* "kernel.cu" */
    const char *source; /* its text; NULL: unknown */
    const char *failed; /* why the kernel stopped early; "": it did not */
    const Records *records;
    const Ladder *ladder;
    const RooflinePoints *roofline;
    int line;      /* of the source; 0: the picture chooses */
    int most_rows; /* of a text form; 0: as many as there are */
    int most_bars; /* blocks: bars in the picture at most; 0: 2000 */
} Picture;

/* The texts of a picture: title and description for screen readers, or why nothing was drawn. */
typedef struct Words {
    char title[300], description[1200], why[300];
} Words;

typedef enum PictureData { FROM_RECORDS, FROM_LADDER, FROM_ROOFLINE } PictureData;

typedef struct PictureKind {
    const char *name, *about;
    PictureData data;
    /* Both return false, with words->why, if there is nothing to draw. */
    bool (*draw)(const Picture *picture, Svg *svg, Words *words);
    bool (*print)(const Picture *picture, FILE *to, Words *words);
} PictureKind;

extern const PictureKind picture_kinds[];          /* ends with no name */
const PictureKind *picture_kind(const char *name); /* NULL: no such kind */

/* ---- For the kinds (picture.c) ---- */

/* "06 transpose, square, kernel.cu:43" */
void picture_place(const Picture *picture, int line, char *text, size_t size);
/* A line of the source without its indentation; "" if unknown. */
void picture_source(const Picture *picture, int line, char *text, size_t size);
/* Draws the title and dim lines below it; returns the y where the picture begins. */
double picture_head(const Picture *picture, Svg *svg, const char *title, const char *below);
/* Draws dim lines at the end, including what went wrong; sets the picture's height. */
void picture_caption(const Picture *picture, Svg *svg, double y, const char *text);
/* Draws a small rectangle of that class and its meaning; returns the x of the next one. */
double picture_key(Svg *svg, double x, double y, const char *classes, const char *text);

/* Draws a time axis from 0 to `whole_us` with round numbers; returns the y below it. */
double picture_time_axis(Svg *svg, double left, double right, double y, double whole_us);

/* The access to draw: the one in the given line, or else the most wasteful one. NULL, with
 * words->why, if there is none. */
const WarpAccess *picture_access(const Picture *picture, RecordSpace space, Words *words);
/* The place of the access with its source line, a sentence without a full stop, and its text form.
 */
void picture_access_place(const Picture *picture, const WarpAccess *access, char *text,
                          size_t size);
void picture_access_title(const Picture *picture, const WarpAccess *access, char *text,
                          size_t size);
void picture_access_grid(const Picture *picture, const WarpAccess *access, FILE *to);
/* "kernel k, warp 0 of block 0" and the instruction's averages, as a sentence. */
void picture_sample(const Picture *picture, const WarpAccess *access, char *text, size_t size);
/* The index of the longest launch; -1: none. */
int picture_launch(const Picture *picture);

/* The rows of a text form: `most`, or picture->most_rows if that is less. */
int picture_rows(const Picture *picture, int most);
/* Says how many rows are left out, if any. */
void picture_rest(FILE *to, int rows, int shown);

/* ---- The kinds, one file each ---- */

bool draw_sectors(const Picture *picture, Svg *svg, Words *words);
bool print_sectors(const Picture *picture, FILE *to, Words *words);
void sectors_title(const Picture *picture, const WarpAccess *access, char *text, size_t size);
void sectors_grid(const Picture *picture, const WarpAccess *access, FILE *to);
bool draw_banks(const Picture *picture, Svg *svg, Words *words);
bool print_banks(const Picture *picture, FILE *to, Words *words);
void banks_title(const Picture *picture, const WarpAccess *access, char *text, size_t size);
void banks_grid(const Picture *picture, const WarpAccess *access, FILE *to);
bool draw_lanes(const Picture *picture, Svg *svg, Words *words);
bool print_lanes(const Picture *picture, FILE *to, Words *words);
bool draw_blocks(const Picture *picture, Svg *svg, Words *words);
bool print_blocks(const Picture *picture, FILE *to, Words *words);
bool draw_streams(const Picture *picture, Svg *svg, Words *words);
bool print_streams(const Picture *picture, FILE *to, Words *words);
bool draw_tiles(const Picture *picture, Svg *svg, Words *words);
bool print_tiles(const Picture *picture, FILE *to, Words *words);
bool draw_roofline(const Picture *picture, Svg *svg, Words *words);
bool print_roofline(const Picture *picture, FILE *to, Words *words);
/* False if no kernel has a place: copies have no operations, and small data no bytes of DRAM. */
bool roofline_any_drawable(const RooflinePoints *points);
bool draw_ladder(const Picture *picture, Svg *svg, Words *words);
bool print_ladder(const Picture *picture, FILE *to, Words *words);

#endif
