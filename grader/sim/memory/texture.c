/* texture.c - the layout of CUDA arrays, and the table of texture and surface objects. */
#include "sim/memory/texture.h"

#include <stdlib.h>

/* ---- Layout ---- */

enum { TILE_WIDTH = 64, TILE_ROWS = 8, TILE_BYTES = TILE_WIDTH * TILE_ROWS, RUN_BYTES = 16 };

static size_t tiles_across(const Texels *texels)
{
    return (texels->width * texel_bytes(texels) + TILE_WIDTH - 1) / TILE_WIDTH;
}

static size_t tiles_down(const Texels *texels)
{
    return (texels->height + TILE_ROWS - 1) / TILE_ROWS;
}

size_t texels_bytes(const Texels *texels)
{
    size_t slice, all;

    if (texels->width > SIZE_MAX / 1024)
        return 0;
    const size_t row = texels->tiled ? tiles_across(texels) * TILE_BYTES : texels->pitch;
    const size_t rows = texels->tiled ? tiles_down(texels) : texels->height;
    return __builtin_mul_overflow(row, rows, &slice) ||
                   __builtin_mul_overflow(slice, texels->depth, &all)
               ? 0
               : all;
}

/* 16 bytes of two rows are a sector; four sectors down, then to the right, are half a tile. */
static size_t in_tile(size_t x, size_t row)
{
    return x % TILE_WIDTH / 32 * 256 + row % TILE_ROWS / 2 * 64 + x % 32 / 16 * 32 + row % 2 * 16 +
           x % 16;
}

uint64_t texels_address(const Texels *texels, size_t x, size_t row, size_t slice)
{
    if (!texels->tiled)
        return texels->base + (slice * texels->height + row) * texels->pitch + x;
    const size_t line = slice * tiles_down(texels) + row / TILE_ROWS;
    const size_t tile = line * tiles_across(texels) + x / TILE_WIDTH;
    return texels->base + tile * TILE_BYTES + in_tile(x, row);
}

size_t texels_run(const Texels *texels, size_t x, size_t bytes)
{
    const size_t left = texels->tiled ? RUN_BYTES - x % RUN_BYTES : bytes;

    return left < bytes ? left : bytes;
}

/* ---- Objects ----
 *
 * The number of an object is its place plus 1, and in the upper half how often the place was used
 * before, so that a kernel with the number of a destroyed object is recognised. */

typedef struct Slot {
    Texture texture;
    uint32_t uses; /* objects that were destroyed here */
    bool live;
    size_t next_free; /* + 1; 0: none */
} Slot;

static struct {
    Slot *all;
    size_t count, room, first_free; /* first_free: + 1; 0: none */
} objects;

static bool grow(void)
{
    const size_t room = objects.room ? 2 * objects.room : 64;
    Slot *all = room < UINT32_MAX ? realloc(objects.all, room * sizeof *all) : NULL;

    if (!all)
        return false;
    objects.all = all;
    objects.room = room;
    return true;
}

uint64_t texture_add(const Texture *texture)
{
    size_t at = objects.count;

    if (objects.first_free) {
        at = objects.first_free - 1;
        objects.first_free = objects.all[at].next_free;
    } else {
        if (at == objects.room && !grow())
            return 0;
        objects.all[objects.count++] = (Slot){ .uses = 0 };
    }
    Slot *slot = &objects.all[at];
    slot->texture = *texture;
    slot->live = true;
    return (uint64_t) slot->uses << 32 | (at + 1);
}

static Slot *slot_of(uint64_t object)
{
    const uint64_t at = (object & UINT32_MAX) - 1;

    return object && at < objects.count ? &objects.all[at] : NULL;
}

const Texture *texture_find(uint64_t object, bool *destroyed)
{
    const Slot *slot = slot_of(object);

    if (destroyed)
        *destroyed = slot && object >> 32 < slot->uses;
    return slot && slot->live && slot->uses == object >> 32 ? &slot->texture : NULL;
}

bool texture_remove(uint64_t object)
{
    Slot *slot = slot_of(object);

    if (!slot || !slot->live || slot->uses != object >> 32)
        return false;
    slot->live = false;
    slot->uses++;
    slot->next_free = objects.first_free;
    objects.first_free = (size_t) (slot - objects.all) + 1;
    return true;
}

void textures_drop(void)
{
    for (size_t i = 0; i < objects.count; i++)
        texture_remove((uint64_t) objects.all[i].uses << 32 | (i + 1));
}
