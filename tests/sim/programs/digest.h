/* digest.h - arrays on host and device, and one line per result for comparison with a real GPU.
 *
 *     digest NAME HASH          a 64-bit hash of results that PTX defines exactly
 *     digest~ NAME VALUE...     results that PTX only bounds (sinf, ex2.approx), compared roughly
 *
 * tests/sim/outputs.sh keeps the lines that a GPU prints; run_programs.sh compares the simulated
 * ones with them.
 */
#ifndef DIGEST_H
#define DIGEST_H

#include "check.h"

#include <cstdint>
#include <cstring>

/* n elements on the host, filled with zeros, and n elements on the device. */
template <typename T> struct Array {
    size_t n;
    T *host, *device;

    explicit Array(size_t count) : n(count)
    {
        host = (T *) calloc(n, sizeof(T));
        OK(cudaMalloc(&device, n * sizeof(T)));
    }
    Array(const Array &) = delete;
    ~Array()
    {
        OK(cudaFree(device));
        free(host);
    }
    T &operator[](size_t i)
    {
        return host[i];
    }
    void up()
    {
        OK(cudaMemcpy(device, host, n * sizeof(T), cudaMemcpyHostToDevice));
    }
    void down()
    {
        OK(cudaGetLastError());
        OK(cudaMemcpy(host, device, n * sizeof(T), cudaMemcpyDeviceToHost));
    }
    void clear()
    {
        OK(cudaMemset(device, 0, n * sizeof(T)));
    }
};

/* FNV-1a. */
static inline void digest_bytes(const char *name, const void *data, size_t bytes)
{
    uint64_t hash = 0xcbf29ce484222325ull;

    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ ((const unsigned char *) data)[i]) * 0x100000001b3ull;
    printf("digest %s %016llx\n", name, (unsigned long long) hash);
}

template <typename T> void digest(const char *name, Array<T> &array)
{
    digest_bytes(name, array.host, array.n * sizeof(T));
}

/* Prints at most 48 of the values, evenly spread but not all from one column. */
template <typename T> void digest_close(const char *name, Array<T> &array)
{
    size_t step = (array.n + 47) / 48 | 1;

    printf("digest~ %s", name);
    for (size_t i = 0; i < array.n; i += step)
        printf(" %.9g", (double) array.host[i]);
    printf("\n");
}

/* The same random numbers on every machine. */
struct Random {
    uint64_t state;

    explicit Random(uint64_t seed) : state(seed)
    {
    }
    uint32_t next()
    {
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        return (uint32_t) (state >> 33) ^ (uint32_t) (state >> 45);
    }
    uint32_t below(uint32_t n)
    {
        return next() % n;
    }
    /* A multiple of 2^-16 from -1 to 1: sums of some of them are exact. */
    float real()
    {
        return (float) ((int) below(131073) - 65536) / 65536;
    }
    uint64_t next64()
    {
        uint64_t high = next();
        return high << 32 | next();
    }
};

#endif
