/* contents.h - what an array of each type holds, made of fill.h's values; the same on host and
 * device. */
#ifndef CONTENTS_H
#define CONTENTS_H

#include "../common/fill.h"

/* lab.h's Type by other names: what is compiled as C++ gets no Type from lab.h. runner.c proves
 * that the two agree. */
typedef enum Element { AS_F32, AS_F64, AS_I32, AS_U32, AS_U8 } Element;

FILL_FN size_t element_bytes(Element type)
{
    return type == AS_F64 ? 8 : type == AS_U8 ? 1 : 4;
}

/* Element `index` of an input, as bits: the lowest element_bytes(type) bytes hold it. */
FILL_FN uint64_t element_bits(Element type, Fill fill, FillKey key, size_t index)
{
    if (type == AS_F32) {
        float value = fill_f32(fill, key, index);
        uint32_t bits;
        memcpy(&bits, &value, sizeof bits);
        return bits;
    }
    if (type == AS_F64) {
        double value = (double) fill_f32(fill, key, index);
        uint64_t bits;
        memcpy(&bits, &value, sizeof bits);
        return bits;
    }
    if (type == AS_U32 && fill.kind == FILL_UNIFORM)
        return fill_bits(key, index);
    if (type == AS_U8)
        return (uint8_t) fill_i32(fill, key, index);
    return (uint32_t) fill_i32(fill, key, index);
}

#endif
