/* fuzz.h - declares libFuzzer's functions, and random numbers for the fuzzers. */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most); /* from libFuzzer */

#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition))                                                                          \
            abort();                                                                               \
    } while (0)

extern uint64_t fuzz_state;

/* splitmix64 */
static inline uint64_t fuzz_next(void)
{
    uint64_t x = fuzz_state += 0x9e3779b97f4a7c15ull;

    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ x >> 27) * 0x94d049bb133111ebull;
    return x ^ x >> 31;
}

static inline size_t fuzz_below(size_t n)
{
    return n ? (size_t) (fuzz_next() % n) : 0;
}

#endif
