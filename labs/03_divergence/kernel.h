#include "lab.h"

#include "kinds.h"

/* out[i] = kind_advance(kind[i], state[i], rounds) for n elements; each kind is 0 .. KINDS - 1.
 * Device pointers to distinct arrays, each aligned to 256 bytes; n is at least 1 and below 2^31,
 * rounds at least 0. Launch only: do not allocate, copy, wait or time. */
LAB_API void advance(uint32_t *out, const uint32_t *state, const uint8_t *kind, int n, int rounds);
