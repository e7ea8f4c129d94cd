/* check.h - for the small test programs, each of which checks its own results and prints ok. */
#ifndef CHECK_H
#define CHECK_H

#include <cstdio>
#include <cstdlib>

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            printf("%s:%d: %s\n", __FILE__, __LINE__, #condition);                                 \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

/* The call must return this error; otherwise the message names the returned one. */
#define EXPECT(error, call)                                                                        \
    do {                                                                                           \
        cudaError_t got = (call), want = (error);                                                  \
        if (got != want) {                                                                         \
            printf("%s:%d: %s: %s, not %s\n", __FILE__, __LINE__, #call, cudaGetErrorName(got),    \
                   cudaGetErrorName(want));                                                        \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

#define OK(call) EXPECT(cudaSuccess, call)

#endif
