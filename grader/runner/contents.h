/* contents.h - what an array of each type contains, computed from fill.h's values; the same on host
 * and device. */
#ifndef RUNNER_CONTENTS_H
#define RUNNER_CONTENTS_H

#include "fill.h"

/* lab.h's Type under other names, because lab.h does not define Type for C++.
 * runner/main.c checks that the two agree. */
typedef enum Element { AS_F32, AS_F64, AS_I32, AS_U32, AS_U8 } Element;

FILL_FN size_t element_bytes(Element type)
{
    return type == AS_F64 ? 8 : type == AS_U8 ? 1 : 4;
}

/* The bits of a real number as an element of that type. */
FILL_FN uint64_t real_bits(Element type, float value)
{
    double wide = (double) value;
    uint32_t bits;
    uint64_t wide_bits;

    memcpy(&bits, &value, sizeof bits);
    memcpy(&wide_bits, &wide, sizeof wide_bits);
    return type == AS_F64 ? wide_bits : bits;
}

/* An input's element as bits, from its word of fill.h's stream; the lowest element_bytes(type)
 * bytes contain it. Not for FILL_SUMMED. */
FILL_FN uint64_t element_of(Element type, Fill fill, uint32_t bits)
{
    if (type == AS_F32 || type == AS_F64)
        return real_bits(type, fill_f32_of(fill, bits));
    if (type == AS_U32 && fill.kind == FILL_UNIFORM)
        return bits;
    return type == AS_U8 ? (uint8_t) fill_i32_of(fill, bits) : (uint32_t) fill_i32_of(fill, bits);
}

/* Element `index` of an input. */
FILL_FN uint64_t element_bits(Element type, Fill fill, FillKey key, size_t index)
{
    int32_t summed;

    if (fill.kind != FILL_SUMMED)
        return element_of(type, fill, fill_element(fill, key, index));
    summed = fill_summed(key, index);
    if (type == AS_F32 || type == AS_F64)
        return real_bits(type, (float) summed);
    return type == AS_U8 ? (uint8_t) summed : (uint32_t) summed;
}

#endif
