/* texture_level.c - which levels of a mipmapped texture a fetch reads.
 *
 * A level is given by the instruction, or is 0. The texture's bias is added to a given level; its
 * clamps and the number of levels limit either. A linear filter between levels has weights with 8
 * bits of fraction, as one between texels has; without it, the nearest level is read.
 */
#include "sim/exec/ops/texture.h"
#include "sim/exec/ops/handlers.h"

#include <math.h>

enum { FRACTION = 256 };

static bool refuse_gradient(Warp *warp, const Step *step, uint32_t mask)
{
    fail(warp, step, first_lane(mask), FINDING_UNKNOWN_INSTRUCTION,
         "chooses the level of a mipmapped texture by a gradient, which is not simulated: give the "
         "level, as tex2DLod does");
    return false;
}

static float limited(const Texture *texture, float level)
{
    const float last = (float) (texture->level_count - 1);

    level = level > texture->most_level ? texture->most_level : level;
    level = level < texture->least_level ? texture->least_level : level;
    return level > last ? last : level > 0 ? level : 0; /* also if it is no number */
}

bool texture_choose_levels(Warp *warp, const Step *step, const Texture *texture, uint32_t mask,
                           Levels *levels)
{
    const bool is_given = step->tensor.k == LEVEL_GIVEN;
    const bool is_linear = texture->level_linear && step->in->op == OP_tex;
    const Lane32 *given = is_given ? plane(warp, step->c) : NULL;

    if (step->tensor.k == GRADIENT_GIVEN)
        return refuse_gradient(warp, step, mask);
    FOR_LANES (lane, mask) {
        const float level =
            limited(texture, is_given ? f32_bits(given[lane]) + texture->level_bias : 0);
        const int steps = (int) rintf(level * FRACTION);
        levels->near[lane] = is_linear ? steps / FRACTION : (int) (level + 0.5f);
        levels->share[lane] = is_linear ? steps % FRACTION : 0;
    }
    return true;
}
