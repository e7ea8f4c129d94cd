/* compare.h - compares a kernel's output with the expected values, and describes the
 * differences. */
#ifndef JUDGE_COMPARE_H
#define JUDGE_COMPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "lab.h"

size_t type_bytes(Type type);

/* Two bytes that mark unwritten memory. Floats of 0xFF are NaN, which spoils every sum, but
 * fmaxf() ignores it. Floats of 0x7F are a huge number (3.4e38), which fmaxf() keeps. */
enum { POISON_EVEN = 0xFF, POISON_ODD = 0x7F };

/* The findings of a comparison, accumulated over the windows of one array. Initialise with
 * zeros. */
typedef struct Difference {
    size_t compared, wrong;
    size_t unwritten;     /* of the wrong ones: still poison */
    size_t zeros;         /* of the wrong ones: 0 */
    size_t first;         /* index of the first wrong element, if any */
    double got, want;     /* values of the first wrong element */
    size_t last;          /* index of the last wrong element */
    unsigned char poison; /* as given to compare() */
} Difference;

/* True if |got - want| <= error. NaN and Inf never pass, unless the expected value is the same
 * Inf. */
bool close_enough(double got, double want, double error);

/* The same for a result: where NaN is right, any NaN is. */
bool is_right(double got, double want, double error);

/* Element i of an array of this type; `data` must be aligned for it. */
double element(Type type, const void *data, size_t i);

/* Compares `count` elements whose indices start at `first`, each within its own error. Unwritten
 * outputs contain the byte `poison`. */
void compare(Difference *difference, Type type, const void *got, const void *want,
             const double *error, size_t first, size_t count, unsigned char poison);

/* Describes in one clause how the whole array `out` is wrong, if there is a pattern: never
 * written, all zero, only the tail, shifted, transposed, a copy of the input. *saw gets the
 * codes of the pattern (diagnosis.h). Returns "" and sets *saw to 0 if it finds no pattern. `got`,
 * `want` and `error` are whole arrays; `difference` is the result of comparing them. The text is
 * valid until the next call. */
const char *pattern(const Difference *difference, const Inputs *inputs, int out, const void *got,
                    const void *want, const double *error, uint64_t *saw);

#endif
