// expect: slow - correct, but the host encrypts and the GPU is idle
#include "cudalab.cuh"
#include "kernel.h"

LAB_API void encrypt(uint32_t *out, const uint32_t *in, long n, uint32_t *device, long capacity,
                     uint32_t key, int rounds)
{
    for (long i = 0; i < n; i++)
        out[i] = encrypt_word(in[i], key, rounds);
}
