/* lz4_block.h - unpacks one LZ4 block, as nvcc --compress-mode=speed writes it. */
#ifndef SIM_BINARY_LZ4_BLOCK_H
#define SIM_BINARY_LZ4_BLOCK_H

#include <stddef.h>

/* How many bytes of `out` were filled; -1: the block is malformed or wants more than `room`. */
long lz4_unpack(const unsigned char *in, size_t size, unsigned char *out, size_t room);

#endif
