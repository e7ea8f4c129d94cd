#ifndef KERNEL_H
#define KERNEL_H

#include "lab.h"

#include <stdint.h>

/* Encrypt n words: out[i] is in[i] after `rounds` rounds of a toy cipher with `key`
 * (encrypt_word below). `in` and `out` are distinct arrays in pinned host memory. The GPU does
 * the work, in `device`: `capacity` words of device memory, which hold garbage values at first.
 * n is at least 1, capacity at least 256 and often smaller than n; rounds is 0 or more. When the
 * function returns, `out` is complete. You may create streams and events; do not allocate
 * memory. */
LAB_API void encrypt(uint32_t *out, const uint32_t *in, long n, uint32_t *device, long capacity,
                     uint32_t key, int rounds);

#ifdef __CUDACC__
#define CIPHER_FN static __host__ __device__ __forceinline__
#else
#define CIPHER_FN static inline
#endif

/* Each line can be reversed with the key. Do not use it for secrets. */
CIPHER_FN uint32_t encrypt_round(uint32_t word, uint32_t round_key)
{
    word = (word << 7 | word >> 25) + round_key;
    return word ^ word >> 15;
}

CIPHER_FN uint32_t encrypt_word(uint32_t word, uint32_t key, int rounds)
{
    uint32_t sum = 0;

    for (int r = 0; r < rounds; r++) {
        sum += 0x9e3779b9u;
        word = encrypt_round(word, key ^ sum);
    }
    return word;
}

#ifdef __CUDACC__
#include "cudalab.cuh"

enum { BLOCK = 256 };

/* Encrypts `count` words in place: ceil_div(count, BLOCK) blocks of BLOCK threads. */
static __global__ void encrypt_kernel(uint32_t *data, int count, uint32_t key, int rounds)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;

    if (i < count)
        data[i] = encrypt_word(data[i], key, rounds);
}
#endif

#endif
