/* texture.h - shared by tex, tld4, txq (texture.c) and suld, sust, suq (surface.c). */
#ifndef SIM_EXEC_OPS_TEXTURE_H
#define SIM_EXEC_OPS_TEXTURE_H

#include "sim/exec/access.h"
#include "sim/memory/texture.h"

/* The shape in the opcode: 1d, a2d ... */
typedef struct Geometry {
    const char *word;
    uint8_t dimensions;
    bool layered; /* the first coordinate is the layer */
} Geometry;

/* What is at the end of a surface's rows and columns. */
typedef enum SurfaceEnd { END_TRAP, END_CLAMP, END_ZERO } SurfaceEnd;

/* The words of an opcode that ptx's tables do not know. */
typedef struct TextureWords {
    int geometry;  /* index for texture_geometry(), or -1 */
    int component; /* of tld4: 0 to 3, or -1 */
    int end;       /* a SurfaceEnd, or -1 */
    int query;     /* of txq, suq: a TextureQuery, or -1 */
    bool has_level, has_gradient;
} TextureWords;

typedef enum TextureQuery {
    QUERY_WIDTH,
    QUERY_HEIGHT,
    QUERY_DEPTH,
    QUERY_LAYERS,
    QUERY_NORMALISED
} TextureQuery;

/* How a fetch names the level of a mipmapped texture: Step.tensor.k. */
enum { LEVEL_GIVEN = 1, GRADIENT_GIVEN = 2 };

/* The level that each lane reads, and the share in 256ths of the next one. */
typedef struct Levels {
    int near[LANES], share[LANES];
} Levels;

/* texture_level.c. Returns false if a finding was reported. */
bool texture_choose_levels(Warp *warp, const Step *step, const Texture *texture, uint32_t mask,
                           Levels *levels);

/* texture_words.c. Returns false if the opcode has a word that is not known here. */
bool texture_words(const Instruction *in, TextureWords *words);
const Geometry *texture_geometry(int index);

/* The object that a lane names, with this geometry. On failure reports a finding and returns NULL.
 */
const Texture *texture_of(Warp *warp, const Step *step, int lane, bool is_surface);
/* The lanes of `mask` that name the same object as its first lane. */
uint32_t texture_lanes(Warp *warp, const Step *step, uint32_t mask);
uint64_t texture_number(Warp *warp, const Step *step, int lane);

/* The registers of fragment `which` (0 is the first operand with registers in braces). */
void *texture_registers(Warp *warp, const Step *step, int which, int i);
/* Whether coordinates of this number fit the step's geometry. */
bool texture_fits(const Step *step, const Geometry *geometry, int which);

/* Accesses the texels at x->address in the lanes x->mask: checks, traces, and passes them to the
 * observers. Returns false if a finding was reported. */
bool texture_open(Access *x);

/* The distinct 32-byte sectors of one instruction, over all its texels. */
typedef struct SectorSet {
    int count, bytes; /* bytes: that the lanes request */
    uint64_t at[8 * LANES];
} SectorSet;
void texture_touch(SectorSet *set, const Access *x);
/* Counts the instruction as one request to the array of the access. */
void texture_count(Access *x, const SectorSet *set);

bool bind_surface(Step *step, const Instruction *in, const TextureWords *words); /* surface.c */

#endif
