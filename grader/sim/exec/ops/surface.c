/* surface.c - suld and sust: loads and stores of bytes through surface objects.
 *
 * The first coordinate counts bytes. What happens outside the array is part of the opcode: .trap
 * ends the kernel, .clamp accesses the nearest place inside, .zero reads 0 and writes nothing.
 */
#include "sim/exec/ops/texture.h"
#include "sim/exec/ops/handlers.h"

enum { WIDEST = 16 };

/* Where a lane accesses the array: byte of the row, row, slice. */
typedef struct SurfacePlace {
    int64_t at[3];
    bool inside;
} SurfacePlace;

static int64_t coordinate(Warp *warp, const Step *step, int i, uint32_t lane)
{
    const int which = step->in->op == OP_suld ? 1 : 0;

    return (int32_t) ((const Lane32 *) texture_registers(warp, step, which, i))[lane];
}

static SurfacePlace place_of(Warp *warp, const Step *step, uint32_t lane)
{
    const Geometry *geometry = texture_geometry(step->tensor.m);
    SurfacePlace place = { .inside = true };

    for (int d = 0; d < geometry->dimensions; d++)
        place.at[d] = coordinate(warp, step, d + geometry->layered, lane);
    if (geometry->layered)
        place.at[2] = coordinate(warp, step, 0, lane);
    return place;
}

/* The greatest valid coordinates of an access of this many bytes. */
static void find_last(const Texels *texels, int bytes, int64_t last[3])
{
    last[0] = (int64_t) (texels->width * texel_bytes(texels)) - bytes;
    last[1] = (int64_t) texels->height - 1;
    last[2] = (int64_t) texels->depth - 1;
}

static bool report_outside(Warp *warp, const Step *step, int lane, const Texels *texels,
                           const SurfacePlace *place, int bytes)
{
    fail(warp, step, lane, FINDING_OUT_OF_BOUNDS,
         "%s %d byte%s at (%lld, %lld, %lld) of a surface of %zu x %zu x %zu texels. The first "
         "coordinate counts bytes, and a row has %zu",
         step->in->op == OP_suld ? "reads" : "writes", bytes, bytes == 1 ? "" : "s",
         (long long) place->at[0], (long long) place->at[1], (long long) place->at[2],
         texels->width, texels->height, texels->depth, texels->width * texel_bytes(texels));
    return false;
}

/* Applies what the opcode says about places outside. Returns false if a finding was reported. */
static bool stay_inside(Warp *warp, const Step *step, int lane, const Texels *texels,
                        SurfacePlace *place, int bytes)
{
    const SurfacePlace asked = *place;
    int64_t last[3];

    find_last(texels, bytes, last);
    for (int d = 0; d < 3; d++) {
        if (place->at[d] >= 0 && place->at[d] <= last[d])
            continue;
        if (step->tensor.n == END_TRAP || last[d] < 0)
            return report_outside(warp, step, lane, texels, &asked, bytes);
        place->inside = step->tensor.n == END_CLAMP;
        place->at[d] = place->at[d] < 0 ? 0 : last[d];
    }
    if (!(place->at[0] & (bytes - 1)))
        return true;
    fail(warp, step, lane, FINDING_MISALIGNED,
         "%s %d bytes at byte %lld of a surface's row, which is not a multiple of %d",
         step->in->op == OP_suld ? "reads" : "writes", bytes, (long long) place->at[0], bytes);
    return false;
}

/* ---- Data ---- */

static void move_element(const Access *x, int which, int e, uint32_t lane, bool inside)
{
    const Step *step = x->step;
    void *data = texture_registers(x->warp, step, which, e);
    char *at = inside ? x->host + (ptrdiff_t) x->delta[lane] + e * step->size : NULL;
    uint64_t bits = 0;

    if (x->kind == ACCESS_STORE) {
        bits = step->size == 8 ? ((const Lane64 *) data)[lane] : ((const Lane32 *) data)[lane];
        if (at)
            memcpy(at, &bits, step->size);
        return;
    }
    if (at)
        memcpy(&bits, at, step->size);
    if (step->size == 8)
        ((Lane64 *) data)[lane] = bits;
    else
        ((Lane32 *) data)[lane] = (uint32_t) bits;
}

static void move(const Access *x, uint32_t lanes)
{
    const int which = x->kind == ACCESS_STORE ? 1 : 0;

    FOR_LANES (lane, lanes)
        for (int e = 0; e < x->step->vector; e++)
            move_element(x, which, e, lane, x->mask >> lane & 1);
}

/* Lanes that name one surface. Returns false if a finding was reported. */
static bool access_surface(Warp *warp, const Step *step, uint32_t mask)
{
    const Texture *surface = texture_of(warp, step, first_lane(mask), true);
    SectorSet sectors = { .count = 0 };
    Access x = { .warp = warp,
                 .step = step,
                 .space = SPACE_GLOBAL,
                 .kind = step->in->op == OP_suld ? ACCESS_LOAD : ACCESS_STORE,
                 .bytes = step->size * step->vector };

    if (!surface)
        return false;
    FOR_LANES (lane, mask) {
        SurfacePlace place = place_of(warp, step, lane);
        if (!stay_inside(warp, step, (int) lane, &surface->texels, &place, x.bytes))
            return false;
        x.address[lane] = texels_address(&surface->texels, (size_t) place.at[0],
                                         (size_t) place.at[1], (size_t) place.at[2]);
        x.mask |= (uint32_t) place.inside << lane;
    }
    if (x.mask && !texture_open(&x))
        return false;
    move(&x, mask);
    texture_touch(&sectors, &x);
    if (x.mask)
        texture_count(&x, &sectors);
    return true;
}

static void run_surface(Warp *warp, const Step *step, uint32_t mask)
{
    while (mask) {
        const uint32_t lanes = texture_lanes(warp, step, mask);
        if (!access_surface(warp, step, lanes))
            return;
        mask &= ~lanes;
    }
}

/* ---- Binding ---- */

bool bind_surface(Step *step, const Instruction *in, const TextureWords *words)
{
    const int data = in->op == OP_suld ? 0 : 1;

    if (words->geometry < 0 || words->end < 0 || words->has_level || words->has_gradient ||
        !has_mod(in, MOD_b) || in->type_count != 1 || !type_is_whole(in->types[0]) || !step->size ||
        step->size > 8)
        return false;
    step->tensor.m = (uint8_t) words->geometry;
    step->tensor.n = (uint8_t) words->end;
    step->vector = step->tensor.count[data];
    step->run = run_surface;
    return step->size * step->vector <= WIDEST && step->vector == in->vector &&
           step->tensor.bytes[data] == (step->size == 8 ? 8 : 4) &&
           texture_fits(step, texture_geometry(words->geometry), 1 - data);
}
