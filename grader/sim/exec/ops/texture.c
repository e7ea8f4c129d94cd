/* texture.c - tex, tld4 and txq: fetches through texture objects.
 *
 * Filtering follows the appendix "Texture Fetching" of the CUDA guide: a linear filter reads the 2,
 * 4 or 8 texels around the coordinate, and their weights have 8 bits of fraction. A coordinate is
 * rounded to such a fraction. A texel of weight 0 is not read. Cubemaps are not supported. An
 * explicit level or gradient has no effect on a texture without levels (texture_level.c has those
 * of the others).
 *
 * The hardware has counters of its own for textures. Here an instruction counts as one request with
 * the distinct sectors of its texels, which is an estimate.
 */
#include "sim/exec/ops/texture.h"
#include "sim/exec/ops/handlers.h"
#include "sim/exec/trace.h"

#include <math.h>

enum { CHANNELS = 4, CORNERS = 8, FRACTION = 256 };

/* ---- Objects ---- */

uint64_t texture_number(Warp *warp, const Step *step, int lane)
{
    return ((const Lane64 *) plane(warp, step->a))[lane] + (uint64_t) step->offset;
}

uint32_t texture_lanes(Warp *warp, const Step *step, uint32_t mask)
{
    const uint64_t number = texture_number(warp, step, first_lane(mask));
    uint32_t same = 0;

    FOR_LANES (lane, mask)
        same |= (uint32_t) (texture_number(warp, step, (int) lane) == number) << lane;
    return same;
}

static bool has_geometry(const Texels *texels, const Step *step)
{
    const Geometry *geometry = texture_geometry(step->tensor.m);

    return step->in->op == OP_txq || step->in->op == OP_suq ||
           (texels->dimensions == geometry->dimensions && texels->layered == geometry->layered);
}

const Texture *texture_of(Warp *warp, const Step *step, int lane, bool is_surface)
{
    const char *what = is_surface ? "surface" : "texture";
    const uint64_t number = texture_number(warp, step, lane);
    bool destroyed;
    const Texture *texture = texture_find(number, &destroyed);

    if (destroyed)
        fail(warp, step, lane, FINDING_USE_AFTER_FREE, "uses a %s object that has been destroyed",
             what);
    else if (!texture || texture->is_surface != is_surface)
        fail(warp, step, lane, FINDING_FORBIDDEN,
             "uses 0x%llx, which is not a %s object. Did the call that creates it succeed?",
             (unsigned long long) number, what);
    else if (!has_geometry(&texture->texels, step))
        fail(warp, step, lane, FINDING_FORBIDDEN,
             "uses a %s of %d dimension%s%s: call the function for this kind of %s", what,
             texture->texels.dimensions, texture->texels.dimensions == 1 ? "" : "s",
             texture->texels.layered ? " with layers" : "", what);
    else
        return texture;
    return NULL;
}

void *texture_registers(Warp *warp, const Step *step, int which, int i)
{
    return plane(warp, warp->code->fragments[step->tensor.first[which] + i]);
}

bool texture_fits(const Step *step, const Geometry *geometry, int which)
{
    const int needed = geometry->dimensions + geometry->layered;

    return step->tensor.count[which] >= needed && step->tensor.count[which] <= 4 &&
           step->tensor.bytes[which] == 4;
}

/* ---- Accesses ---- */

bool texture_open(Access *x)
{
    if (!access_find(x))
        return false;
    if (x->warp->trace)
        trace_access(x);
    access_observe(x);
    return true;
}

void texture_touch(SectorSet *set, const Access *x)
{
    FOR_LANES (lane, x->mask) {
        const uint64_t sector = x->address[lane] / SECTOR_BYTES;
        int i = set->count;
        while (i > 0 && set->at[i - 1] != sector)
            i--;
        if (!i && set->count < 8 * LANES)
            set->at[set->count++] = sector;
        set->bytes += x->bytes;
    }
}

void texture_count(Access *x, const SectorSet *set)
{
    access_count_request(x, set->count, set->bytes);
}

/* ---- Coordinates ---- */

/* The two texels along one dimension, and the share of the second one in 256ths. -1: outside, where
 * the border's colour is read. */
typedef struct Axis {
    int64_t at[2];
    int share;
} Axis;

static int64_t remainder_of(int64_t at, int64_t size)
{
    return (at % size + size) % size;
}

/* The texel that is read for index `at`. */
static int64_t addressed(int64_t at, int64_t size, AddressMode mode)
{
    const int64_t twice = remainder_of(at, 2 * size);

    if (at >= 0 && at < size)
        return at;
    switch (mode) {
    case MODE_WRAP:
        return remainder_of(at, size);
    case MODE_MIRROR:
        return twice < size ? twice : 2 * size - 1 - twice;
    case MODE_BORDER:
        return -1;
    default:
        return at < 0 ? 0 : size - 1;
    }
}

/* A coordinate in texels. A coordinate between 0 and 1 is first reduced to its period. */
static double in_texels(const Texture *texture, float x, size_t size, AddressMode mode)
{
    const float far = 1 << 30;

    if (texture->normalised) {
        if (mode == MODE_WRAP && isfinite(x))
            x -= floorf(x);
        if (mode == MODE_MIRROR && isfinite(x))
            x -= 2 * floorf(x / 2);
        x *= (float) size;
    }
    return x != x ? 0 : x < -far ? -far : x > far ? far : x;
}

/* Wrapping and mirroring need coordinates from 0 to 1. */
static AddressMode mode_of(const Texture *texture, int dimension)
{
    const AddressMode mode = texture->address[dimension];

    return texture->normalised || mode == MODE_BORDER ? mode : MODE_CLAMP;
}

static Axis axis_of(const Texture *texture, int dimension, double x, size_t size, bool two)
{
    const AddressMode mode = mode_of(texture, dimension);
    const int64_t steps = two ? (int64_t) rint((x - 0.5) * FRACTION) : 0;
    const int64_t at = two ? steps >> 8 : (int64_t) floor(x);
    const bool last = two && steps & (FRACTION - 1);

    return (Axis){ .at = { addressed(at, (int64_t) size, mode),
                           two ? addressed(at + 1, (int64_t) size, mode) : -1 },
                   .share = last ? (int) (steps & (FRACTION - 1)) : 0 };
}

/* ---- One fetch of up to 32 lanes of one texture ---- */

typedef struct Fetch {
    Warp *warp;
    const Step *step;
    const Texture *texture;
    uint32_t mask;
    bool two;                       /* reads the texels on both sides of a coordinate */
    Axis axis[3][LANES];            /* by dimension */
    size_t slice[LANES];            /* the layer of a layered texture */
    uint32_t bits[CHANNELS][LANES]; /* the result */
    float sum[CHANNELS][LANES];     /* the same for a linear filter */
    Access last;                    /* to texels; its mask is 0 if none was read */
    SectorSet sectors;
} Fetch;

static size_t size_of(const Texels *texels, int dimension)
{
    return dimension == 0 ? texels->width : dimension == 1 ? texels->height : texels->depth;
}

static size_t layer_of(const Texels *texels, int32_t layer)
{
    return layer < 0 ? 0 : (size_t) layer < texels->depth ? (size_t) layer : texels->depth - 1;
}

static void find_axes(Fetch *f)
{
    const Geometry *geometry = texture_geometry(f->step->tensor.m);
    const Texels *texels = &f->texture->texels;
    const bool whole = type_is_whole((PtxType) f->step->type2);

    if (geometry->layered) {
        const Lane32 *layers = texture_registers(f->warp, f->step, 1, 0);
        FOR_LANES (lane, f->mask)
            f->slice[lane] = layer_of(texels, (int32_t) layers[lane]);
    }
    for (int d = 0; d < geometry->dimensions; d++) {
        const Lane32 *x = texture_registers(f->warp, f->step, 1, d + geometry->layered);
        const size_t size = size_of(texels, d);
        FOR_LANES (lane, f->mask) {
            const double at =
                whole ? (double) (int32_t) x[lane]
                      : in_texels(f->texture, f32_bits(x[lane]), size, f->texture->address[d]);
            f->axis[d][lane] = axis_of(f->texture, d, at, size, f->two && !whole);
        }
    }
}

/* The weight of a corner, as a product of 256ths. */
static float weight_of(const Fetch *f, int corner, uint32_t lane)
{
    float weight = 1;

    for (int d = 0; d < f->texture->texels.dimensions; d++) {
        const int share = f->axis[d][lane].share;
        weight *= (float) (corner >> d & 1 ? share : FRACTION - share) / FRACTION;
    }
    return weight;
}

/* Returns false if the corner lies outside, where the border is read. */
static bool corner_at(const Fetch *f, int corner, uint32_t lane, uint64_t *address)
{
    const Texels *texels = &f->texture->texels;
    int64_t at[3] = { 0, 0, (int64_t) f->slice[lane] };

    for (int d = 0; d < texels->dimensions; d++) {
        at[d] = f->axis[d][lane].at[corner >> d & 1];
        if (at[d] < 0)
            return false;
    }
    *address = texels_address(texels, (size_t) at[0] * texel_bytes(texels), (size_t) at[1],
                              (size_t) at[2]);
    return true;
}

/* ---- Values ---- */

static float half_value(uint16_t half)
{
    const int exponent = half >> 10 & 0x1f, fraction = half & 0x3ff;
    const float sign = half & 0x8000 ? -1 : 1;

    if (exponent == 0x1f)
        return fraction ? NAN : sign * INFINITY;
    return sign * (exponent ? ldexpf((float) (fraction | 0x400), exponent - 25)
                            : ldexpf((float) fraction, -24));
}

static uint32_t as_float(const Texels *texels, int32_t value)
{
    const int bits = 8 * texels->channel_bytes;
    const float most = (float) ((1 << (texels->kind == TEXEL_SIGNED ? bits - 1 : bits)) - 1);
    const float result = (float) value / most;

    return bits_f32(result < -1 ? -1 : result);
}

/* The 32 bits that a channel is read as. */
static uint32_t channel_bits(const Texture *texture, const char *at)
{
    const Texels *texels = &texture->texels;
    uint32_t raw = 0;

    memcpy(&raw, at, texels->channel_bytes);
    if (texels->kind == TEXEL_FLOAT)
        return texels->channel_bytes == 2 ? bits_f32(half_value((uint16_t) raw)) : raw;
    if (texels->kind == TEXEL_SIGNED && texels->channel_bytes < 4)
        raw = texels->channel_bytes == 1 ? (uint32_t) (int8_t) raw : (uint32_t) (int16_t) raw;
    return texture->reads_as_floats && texels->channel_bytes < 4 ? as_float(texels, (int32_t) raw)
                                                                 : raw;
}

static bool reads_floats(const Texture *texture)
{
    return texture->texels.kind == TEXEL_FLOAT || texture->reads_as_floats;
}

/* A channel that the texels lack is 0, and the fourth is 1. */
static uint32_t missing(const Texture *texture, int channel)
{
    return channel < 3 ? 0 : reads_floats(texture) ? bits_f32(1) : 1;
}

/* A channel of a texel; `at` NULL: of the border. */
static uint32_t texel_channel(const Texture *texture, const char *at, int channel)
{
    const Texels *texels = &texture->texels;

    if (!at)
        return reads_floats(texture) ? bits_f32(texture->border[channel])
                                     : (uint32_t) (int32_t) texture->border[channel];
    return channel < texels->channels ? channel_bits(texture, at + channel * texels->channel_bytes)
                                      : missing(texture, channel);
}

static void take(Fetch *f, uint32_t lane, const char *at, float weight)
{
    for (int c = 0; c < CHANNELS; c++) {
        f->bits[c][lane] = texel_channel(f->texture, at, c);
        f->sum[c][lane] += weight * f32_bits(f->bits[c][lane]);
    }
}

/* ---- Corners ---- */

static Access access_of(const Fetch *f)
{
    return (Access){ .warp = f->warp,
                     .step = f->step,
                     .space = SPACE_GLOBAL,
                     .kind = ACCESS_LOAD,
                     .bytes = (int) texel_bytes(&f->texture->texels) };
}

static bool open_texels(Fetch *f, Access *x)
{
    if (!texture_open(x))
        return false;
    f->last = *x;
    texture_touch(&f->sectors, x);
    return true;
}

/* Reads one corner in all lanes in which it counts. Returns false if a finding was reported. */
static bool read_corner(Fetch *f, int corner)
{
    Access x = access_of(f);
    uint32_t outside = 0;

    FOR_LANES (lane, f->mask) {
        if (weight_of(f, corner, lane) == 0)
            continue;
        if (corner_at(f, corner, lane, &x.address[lane]))
            x.mask |= 1u << lane;
        else
            outside |= 1u << lane;
    }
    if (x.mask && !open_texels(f, &x))
        return false;
    FOR_LANES (lane, x.mask | outside)
        take(f, lane, outside >> lane & 1 ? NULL : x.host + (ptrdiff_t) x.delta[lane],
             weight_of(f, corner, lane));
    return true;
}

/* tld4: one channel of each of the four texels, whatever its weight is. The order is
 * counter-clockwise from the lower left. */
static bool gather_corner(Fetch *f, int to)
{
    static const int corners[] = { 2, 3, 1, 0 };
    Access x = access_of(f);

    FOR_LANES (lane, f->mask)
        if (corner_at(f, corners[to], lane, &x.address[lane]))
            x.mask |= 1u << lane;
    if (x.mask && !open_texels(f, &x))
        return false;
    FOR_LANES (lane, f->mask)
        f->bits[to][lane] = texel_channel(
            f->texture, x.mask >> lane & 1 ? x.host + (ptrdiff_t) x.delta[lane] : NULL,
            f->step->tensor.n);
    return true;
}

static bool read_corners(Fetch *f)
{
    const bool gathers = f->step->in->op == OP_tld4;
    const int corners = f->two ? 1 << f->texture->texels.dimensions : 1;

    for (int i = 0; i < corners; i++)
        if (gathers ? !gather_corner(f, i) : !read_corner(f, i))
            return false;
    return true;
}

static bool read_texels(Fetch *f)
{
    find_axes(f);
    return read_corners(f);
}

/* Reads a part of the lanes from one of the levels, as a texture of its own. */
static bool read_level(Fetch *f, int level, uint32_t lanes)
{
    const Texture *whole = f->texture;
    const uint32_t mask = f->mask;
    Texture view = *whole;

    view.texels = whole->levels[level];
    f->texture = &view;
    f->mask = lanes;
    const bool well = read_texels(f);
    f->texture = whole;
    f->mask = mask;
    return well;
}

/* The lanes that read the level, as their nearer (0) or their farther one. */
static uint32_t lanes_at(const Fetch *f, const Levels *levels, int which, int level)
{
    uint32_t lanes = 0;

    FOR_LANES (lane, f->mask)
        lanes |= (uint32_t) (levels->near[lane] + which == level && (!which || levels->share[lane]))
                 << lane;
    return lanes;
}

/* Adds the share of one level to the sum over both, and clears the sum over its texels. */
static void add_share(Fetch *f, const Levels *levels, int which, uint32_t lanes,
                      float (*sums)[LANES])
{
    for (int c = 0; c < CHANNELS; c++)
        FOR_LANES (lane, lanes) {
            const int share = levels->share[lane];
            sums[c][lane] +=
                (float) (which ? share : FRACTION - share) / FRACTION * f->sum[c][lane];
            f->sum[c][lane] = 0;
        }
}

static bool read_levels(Fetch *f)
{
    float sums[CHANNELS][LANES] = { { 0 } };
    Levels levels;

    if (!texture_choose_levels(f->warp, f->step, f->texture, f->mask, &levels))
        return false;
    for (int which = 0; which < 2; which++)
        for (int level = 0; level < f->texture->level_count; level++) {
            const uint32_t lanes = lanes_at(f, &levels, which, level);
            if (lanes && !read_level(f, level, lanes))
                return false;
            add_share(f, &levels, which, lanes, sums);
        }
    memcpy(f->sum, sums, sizeof sums);
    return true;
}

static void write_result(const Fetch *f, bool sums)
{
    for (int c = 0; c < CHANNELS && c < f->step->tensor.count[0]; c++) {
        Lane32 *d = texture_registers(f->warp, f->step, 0, c);
        FOR_LANES (lane, f->mask)
            d[lane] = sums ? bits_f32(f->sum[c][lane]) : f->bits[c][lane];
    }
}

/* Lanes that name one texture. */
static bool fetch(Warp *warp, const Step *step, uint32_t mask)
{
    const bool gathers = step->in->op == OP_tld4;
    Fetch f = { .warp = warp,
                .step = step,
                .mask = mask,
                .texture = texture_of(warp, step, first_lane(mask), false) };

    if (!f.texture)
        return false;
    f.two = gathers || (f.texture->linear && !type_is_whole((PtxType) step->type2));
    if (f.texture->level_count ? !read_levels(&f) : !read_texels(&f))
        return false;
    write_result(&f, (f.two || f.texture->level_linear) && !gathers && reads_floats(f.texture));
    if (f.last.mask)
        texture_count(&f.last, &f.sectors);
    return true;
}

static void run_fetch(Warp *warp, const Step *step, uint32_t mask)
{
    while (mask) {
        const uint32_t lanes = texture_lanes(warp, step, mask);
        if (!fetch(warp, step, lanes))
            return;
        mask &= ~lanes;
    }
}

/* ---- Queries ---- */

static uint32_t answer(const Texture *texture, int query)
{
    const Texels *texels = &texture->texels;

    switch (query) {
    case QUERY_WIDTH:
        return (uint32_t) texels->width;
    case QUERY_HEIGHT:
        return texels->dimensions > 1 ? (uint32_t) texels->height : 0;
    case QUERY_DEPTH:
        return texels->dimensions > 2 ? (uint32_t) texels->depth : 0;
    case QUERY_LAYERS:
        return texels->layered ? (uint32_t) texels->depth : 0;
    default:
        return texture->normalised;
    }
}

static void run_query(Warp *warp, const Step *step, uint32_t mask)
{
    Lane32 *d = plane(warp, step->d);

    FOR_LANES (lane, mask) {
        const Texture *texture = texture_of(warp, step, (int) lane, step->in->op == OP_suq);
        if (!texture)
            return;
        d[lane] = answer(texture, step->mod);
    }
}

/* ---- Binding ---- */

static bool bind_query(Step *step, const TextureWords *words)
{
    if (words->query < 0 || words->has_level)
        return false;
    step->mod = (uint8_t) words->query;
    step->run = run_query;
    return true;
}

static bool is_coordinate(PtxType type)
{
    return type == TYPE_F32 || type == TYPE_S32;
}

static bool bind_fetch(Step *step, const Instruction *in, const TextureWords *words)
{
    const PtxType type = in->types[0];
    const int beyond = in->count - 3; /* operands after the coordinates */

    if (words->geometry < 0 || in->type_count != 2 || in->vector != 4 ||
        step->tensor.count[0] != 4 || step->tensor.bytes[0] != 4 ||
        (type != TYPE_F32 && type != TYPE_S32 && type != TYPE_U32) || !is_coordinate(in->types[1]))
        return false;
    if (beyond != (words->has_level ? 1 : words->has_gradient ? 2 : 0))
        return false;
    step->tensor.m = (uint8_t) words->geometry;
    step->tensor.k = words->has_level ? LEVEL_GIVEN : words->has_gradient ? GRADIENT_GIVEN : 0;
    if (in->op == OP_tld4) {
        if (words->component < 0 || texture_geometry(words->geometry)->dimensions != 2 ||
            in->types[1] != TYPE_F32)
            return false;
        step->tensor.n = (uint8_t) words->component;
    }
    step->run = run_fetch;
    return texture_fits(step, texture_geometry(words->geometry), 1);
}

bool bind_texture(Step *step, const Instruction *in)
{
    TextureWords words;

    if (in->op != OP_tex && in->op != OP_tld4 && in->op != OP_txq && in->op != OP_suq &&
        in->op != OP_suld && in->op != OP_sust)
        return false;
    if (!texture_words(in, &words) || step->address_size != 8)
        return false;
    if (in->op == OP_txq || in->op == OP_suq)
        return bind_query(step, &words);
    return in->op == OP_suld || in->op == OP_sust ? bind_surface(step, in, &words)
                                                  : bind_fetch(step, in, &words);
}
