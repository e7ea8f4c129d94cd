/* map.c - which thread touches which part of an array first, and how many of its bytes move. */
#include "sim/record/map.h"

/* Each lane touches at most three sectors: 64 bytes that begin in the middle of one. */
enum { MOST_SECTORS = 3 * LANES };

enum { TILES_ACROSS = 32, LEAST_TILES = 8 };

/* A matrix is drawn by tiles, unless it has too few rows or columns for that. */
static void choose_tiles(RecordedArray *array)
{
    const uint64_t rows = array->row_bytes ? array->bytes / array->row_bytes : 0;
    const uint64_t row_sectors = array->row_bytes / SECTOR_BYTES;
    const uint64_t width = (row_sectors + TILES_ACROSS - 1) / TILES_ACROSS * SECTOR_BYTES;
    uint64_t down;

    array->across = 0;
    array->cell_rows = 0;
    if (rows < LEAST_TILES || row_sectors < LEAST_TILES)
        return;
    array->cell_bytes[0] = width;
    array->across = (int) ((array->row_bytes + width - 1) / width);
    down = MAP_CELLS / (uint64_t) array->across;
    array->cell_rows = (rows + down - 1) / down;
}

void map_begin(RecordedArray *array)
{
    const uint64_t whole = array->bytes + (uint64_t) array->start;
    const uint64_t sectors = (whole + MAP_CELLS * SECTOR_BYTES - 1) / (MAP_CELLS * SECTOR_BYTES);

    array->cell_bytes[0] = (sectors ? sectors : 1) * SECTOR_BYTES;
    array->cell_bytes[1] = RECORD_WORD_BYTES;
    choose_tiles(array);
}

/* A sector may begin before the first element. */
static uint64_t inside(const RecordedArray *array, uint64_t offset)
{
    const uint64_t start = (uint64_t) array->start;

    return offset > start ? offset - start : 0;
}

static uint64_t tile_of(const RecordedArray *array, uint64_t offset)
{
    const uint64_t at = inside(array, offset), column = at % array->row_bytes;

    return at / array->row_bytes / array->cell_rows * (uint64_t) array->across +
           column / array->cell_bytes[0];
}

/* The offset at which the next cell begins, or the next row of the same cell. */
static uint64_t cell_end(const RecordedArray *array, int level, uint64_t offset)
{
    const uint64_t size = array->cell_bytes[level];
    uint64_t column, next;

    if (level || !array->cell_rows)
        return (offset / size + 1) * size;
    column = inside(array, offset) % array->row_bytes;
    next = (column / size + 1) * size;
    return offset + (next < array->row_bytes ? next : array->row_bytes) - column;
}

/* The cell of an offset; NULL: beyond the map. */
static MapCell *cell_at(RecordedArray *array, int level, uint64_t offset)
{
    uint64_t at;

    if (level && offset >= MAP_CELLS * RECORD_WORD_BYTES)
        return NULL;
    at = !level && array->cell_rows ? tile_of(array, offset) : offset / array->cell_bytes[level];
    return at < MAP_CELLS ? &array->cells[level][at] : NULL;
}

static void touch(MapCell *cell, const Access *x, int lane, int launch)
{
    if (!cell->kinds) {
        cell->launch = launch;
        cell->block = x->warp->block->number;
        cell->warp = (uint8_t) x->warp->number;
        cell->lane = (uint8_t) lane;
    }
    cell->kinds |= (uint8_t) (1u << x->kind);
}

/* Neighbouring lanes that access consecutive bytes, or all of them the same bytes. To find a cell
 * takes divisions; most requests need them once or twice, not for each lane. */
typedef struct LaneRun {
    int lane, lanes;      /* the first lane, and their number */
    uint64_t offset, end; /* the bytes */
    bool is_shared;       /* every lane accesses all of them */
} LaneRun;

static bool has_lane(const Access *x, int lane)
{
    return lane < LANES && x->mask >> lane & 1;
}

static LaneRun run_from(const Access *x, int lane, uint64_t origin)
{
    const uint64_t first = x->address[lane], bytes = (uint64_t) x->bytes;
    const bool is_shared = has_lane(x, lane + 1) && x->address[lane + 1] == first;
    const uint64_t step = is_shared ? 0 : bytes;
    int lanes = 1;

    while (has_lane(x, lane + lanes) && x->address[lane + lanes] == first + step * (uint64_t) lanes)
        lanes++;
    return (LaneRun){ lane, lanes, first - origin,
                      first - origin + (is_shared ? bytes : bytes * (uint64_t) lanes), is_shared };
}

static void use_bytes(RecordedArray *array, const Access *x, const LaneRun *run, int launch)
{
    const uint64_t times = run->is_shared ? (uint64_t) run->lanes : 1;

    for (int level = 0; level < MAP_LEVELS; level++)
        for (uint64_t at = run->offset; at < run->end;) {
            const int before = run->is_shared ? 0 : (int) (at - run->offset) / x->bytes;
            MapCell *cell = cell_at(array, level, at);
            uint64_t next;
            if (!cell)
                break;
            next = cell_end(array, level, at);
            touch(cell, x, run->lane + before, launch);
            cell->used += times * ((next < run->end ? next : run->end) - at);
            at = next;
        }
}

static void move_sector(RecordedArray *array, uint64_t sector)
{
    const uint64_t begin = sector * SECTOR_BYTES;
    MapCell *cell = cell_at(array, 0, begin);

    if (cell)
        cell->moved += SECTOR_BYTES;
    for (uint64_t at = begin; at < begin + SECTOR_BYTES && (cell = cell_at(array, 1, at));
         at += RECORD_WORD_BYTES)
        cell->moved += RECORD_WORD_BYTES;
}

/* Adds a sector to those of the request. Searches from the newest, which neighbours share. */
static int add_sector(uint64_t *sectors, int count, uint64_t sector)
{
    for (int i = count - 1; i >= 0; i--)
        if (sectors[i] == sector)
            return count;
    if (count < MOST_SECTORS)
        sectors[count++] = sector;
    return count;
}

void map_add(RecordedArray *array, const Access *x, uint64_t origin, int launch)
{
    uint64_t sectors[MOST_SECTORS];
    int count = 0;

    for (int lane = 0; lane < LANES; lane++) {
        LaneRun run;
        if (!has_lane(x, lane))
            continue;
        run = run_from(x, lane, origin);
        use_bytes(array, x, &run, launch);
        for (uint64_t s = run.offset / SECTOR_BYTES; s <= (run.end - 1) / SECTOR_BYTES; s++)
            count = add_sector(sectors, count, s);
        lane += run.lanes - 1;
    }
    for (int i = 0; i < count; i++)
        move_sector(array, sectors[i]);
}
