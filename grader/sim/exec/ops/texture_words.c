/* texture_words.c - the words in the opcodes of tex and its family: shapes, channels, queries. */
#include "sim/exec/ops/texture.h"

#include <string.h>

static const Geometry geometries[] = { { "1d", 1, false },
                                       { "2d", 2, false },
                                       { "3d", 3, false },
                                       { "a1d", 1, true },
                                       { "a2d", 2, true } };

static const char *const components[] = { "r", "g", "b", "a" };
static const char *const ends[] = {
    [END_TRAP] = "trap", [END_CLAMP] = "clamp", [END_ZERO] = "zero"
};
static const char *const queries[] = { [QUERY_WIDTH] = "width",
                                       [QUERY_HEIGHT] = "height",
                                       [QUERY_DEPTH] = "depth",
                                       [QUERY_LAYERS] = "array_size",
                                       [QUERY_NORMALISED] = "normalized_coords" };
static const char *const types[] = { "v2", "v4", "f32", "s32", "u32", "b32", "b8", "b16", "b64" };

const Geometry *texture_geometry(int index)
{
    return &geometries[index];
}

static int index_of(Name word, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (name_is(word, words[i]))
            return (int) i;
    return -1;
}

#define INDEX(word, words) index_of(word, words, sizeof(words) / sizeof *(words))

static int geometry_of(Name word)
{
    for (size_t i = 0; i < sizeof geometries / sizeof *geometries; i++)
        if (name_is(word, geometries[i].word))
            return (int) i;
    return -1;
}

static bool read_word(const Instruction *in, Name word, TextureWords *words)
{
    const bool queries_object = in->op == OP_txq || in->op == OP_suq;
    const bool is_surface = in->op == OP_suld || in->op == OP_sust;

    if (name_is(word, "level") || name_is(word, "grad"))
        return *(name_is(word, "level") ? &words->has_level : &words->has_gradient) = true;
    if (is_surface && name_is(word, "b"))
        return true;
    if (in->op == OP_tld4 && words->component < 0)
        return (words->component = INDEX(word, components)) >= 0;
    if (queries_object && words->query < 0)
        return (words->query = INDEX(word, queries)) >= 0;
    if (words->geometry < 0 && (words->geometry = geometry_of(word)) >= 0)
        return true;
    if (is_surface && words->end < 0 && (words->end = INDEX(word, ends)) >= 0)
        return true;
    return INDEX(word, types) >= 0;
}

bool texture_words(const Instruction *in, TextureWords *words)
{
    const char *at = memchr(in->text.at, '.', (size_t) in->text.length);
    const char *const end = in->text.at + in->text.length;

    *words = (TextureWords){ .geometry = -1, .component = -1, .end = -1, .query = -1 };
    while (at) {
        const char *next = memchr(at + 1, '.', (size_t) (end - at - 1));
        if (!read_word(in, (Name){ at + 1, (int) ((next ? next : end) - at - 1) }, words))
            return false;
        at = next;
    }
    return true;
}
