/* map.c - which thread touches which part of an array first, and how many of its bytes move. */
#include "sim/record/map.h"

/* Each lane touches at most three sectors: 64 bytes that begin in the middle of one. */
enum { MOST_SECTORS = 3 * LANES };

void map_begin(RecordedArray *array)
{
    const uint64_t whole = array->bytes + (uint64_t) array->start;
    const uint64_t sectors = (whole + MAP_CELLS * SECTOR_BYTES - 1) / (MAP_CELLS * SECTOR_BYTES);

    array->cell_bytes[0] = (sectors ? sectors : 1) * SECTOR_BYTES;
    array->cell_bytes[1] = RECORD_WORD_BYTES;
}

/* The cell of an offset; NULL: beyond the map. */
static MapCell *cell_at(RecordedArray *array, int level, uint64_t offset)
{
    const uint64_t at = offset / array->cell_bytes[level];

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

static void use_bytes(RecordedArray *array, const Access *x, int lane, uint64_t offset, int launch)
{
    const uint64_t end = offset + (uint64_t) x->bytes;

    for (int level = 0; level < MAP_LEVELS; level++)
        for (uint64_t at = offset; at < end;) {
            const uint64_t size = array->cell_bytes[level], next = (at / size + 1) * size;
            MapCell *cell = cell_at(array, level, at);
            if (!cell)
                break;
            touch(cell, x, lane, launch);
            cell->used += (next < end ? next : end) - at;
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

    for (uint32_t left = x->mask; left; left &= left - 1) {
        const int lane = first_lane(left);
        const uint64_t offset = x->address[lane] - origin;
        use_bytes(array, x, lane, offset, launch);
        for (uint64_t s = offset / SECTOR_BYTES;
             s <= (offset + (uint64_t) x->bytes - 1) / SECTOR_BYTES; s++)
            count = add_sector(sectors, count, s);
    }
    for (int i = 0; i < count; i++)
        move_sector(array, sectors[i]);
}
