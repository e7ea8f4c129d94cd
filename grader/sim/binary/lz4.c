/* lz4.c - a decoder of LZ4 blocks. A block is a series of sequences: a token (two lengths of 4
 * bits), further bytes of the first length, that many literal bytes, the 2-byte distance of a
 * match, and further bytes of the second length. The last sequence ends after its literals. */
#include "sim/binary/fatbin.h"

#include <stdbool.h>
#include <string.h>

enum { LONG = 15 /* in 4 bits: the length continues in the next bytes */, SHORTEST_MATCH = 4 };

/* Adds the part of a length that did not fit into its token. Returns false if the input ends before
 * the length does. */
static bool more_length(const unsigned char **at, const unsigned char *end, size_t *length)
{
    unsigned char byte;

    if (*length != LONG)
        return true;
    do {
        if (*at == end)
            return false;
        byte = *(*at)++;
        *length += byte; /* at most 255 times the input's size: no overflow */
    } while (byte == 255);
    return true;
}

long lz4_unpack(const unsigned char *in, size_t size, unsigned char *out, size_t room)
{
    const unsigned char *end = in + size;
    size_t used = 0;

    while (in < end) {
        size_t literals = *in >> 4, match = *in & 15, distance;
        in++;
        if (!more_length(&in, end, &literals) || literals > (size_t) (end - in) ||
            literals > room - used)
            return -1;
        memcpy(out + used, in, literals);
        used += literals;
        in += literals;
        if (in == end)
            return (long) used;
        if (end - in < 2)
            return -1;
        distance = in[0] | (size_t) in[1] << 8;
        in += 2;
        if (!more_length(&in, end, &match))
            return -1;
        match += SHORTEST_MATCH;
        if (!distance || distance > used || match > room - used)
            return -1;
        for (size_t i = 0; i < match; i++, used++) /* source and target may overlap */
            out[used] = out[used - distance];
    }
    return -1; /* a block never ends with a match */
}
