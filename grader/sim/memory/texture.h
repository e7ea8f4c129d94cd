/* texture.h - CUDA arrays, textures and surfaces: how texels lie in memory, and the objects that
 * kernels know by a number.
 *
 * An array of two or three dimensions is stored in tiles of 64 bytes by 8 rows, as on NVIDIA's
 * GPUs, so that a 32-byte sector holds 16 bytes of two rows. (The order within a tile is that of
 * the Tegra X1's manual; that a newer GPU uses it is assumed.) Its kernels have no address of it.
 */
#ifndef SIM_MEMORY_TEXTURE_H
#define SIM_MEMORY_TEXTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum TexelKind { TEXEL_SIGNED, TEXEL_UNSIGNED, TEXEL_FLOAT } TexelKind;

/* Texels in memory, of 1, 2 or 4 channels with 1, 2 or 4 bytes each. */
typedef struct Texels {
    uint64_t base;
    size_t width, height, depth; /* in texels; depth: slices or layers. All at least 1 */
    size_t pitch;                /* bytes from row to row, unless tiled */
    int dimensions;              /* 1 to 3, without the layers */
    bool layered, tiled;
    uint8_t channels, channel_bytes;
    TexelKind kind;
} Texels;

static inline size_t texel_bytes(const Texels *texels)
{
    return (size_t) texels->channels * texels->channel_bytes;
}

/* The memory that the texels need; 0: more than can be addressed. */
size_t texels_bytes(const Texels *texels);

/* The address of byte `x` of a row, which must be inside. */
uint64_t texels_address(const Texels *texels, size_t x, size_t row, size_t slice);

/* How many bytes of the row follow each other in memory from byte `x` on, at most `bytes`. */
size_t texels_run(const Texels *texels, size_t x, size_t bytes);

typedef enum AddressMode { MODE_WRAP, MODE_CLAMP, MODE_MIRROR, MODE_BORDER } AddressMode;

enum { MOST_LEVELS = 16 }; /* of a mipmapped array: from 32768 texels to 1 */

typedef struct Texture {
    Texels texels; /* of a mipmapped array: of its largest level */
    bool is_surface;
    bool linear;            /* filtered linearly; otherwise the nearest texel */
    bool normalised;        /* coordinates from 0 to 1 */
    bool reads_as_floats;   /* integers are read as 0 to 1 or -1 to 1 */
    AddressMode address[3]; /* by dimension */
    float border[4];
    int level_count;   /* 0: it is no mipmapped array */
    bool level_linear; /* filtered linearly between levels; otherwise the nearest level */
    float level_bias, least_level, most_level;
    Texels levels[MOST_LEVELS];
} Texture;

/* Returns the object's number; 0: out of memory. */
uint64_t texture_add(const Texture *texture);
/* NULL: there is no such object. `*destroyed`: there was one; may be NULL. */
const Texture *texture_find(uint64_t object, bool *destroyed);
bool texture_remove(uint64_t object); /* false: there is no such object */
void textures_drop(void);             /* removes all */

#endif
