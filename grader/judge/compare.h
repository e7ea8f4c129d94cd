/* compare.h - does what a kernel wrote agree with what is right, and if not, how does it differ? */
#ifndef JUDGE_COMPARE_H
#define JUDGE_COMPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "lab.h"

size_t type_bytes(Type type);

/* Two bytes that mark memory nobody wrote. Floats of 0xFF are NaN, which spoils every sum but which
 * fmaxf() ignores; floats of 0x7F are a huge number (3.4e38), which it keeps. */
enum { POISON_EVEN = 0xFF, POISON_ODD = 0x7F };

/* What a comparison found; carried from window to window of one array. Zero to begin. */
typedef struct Difference {
    size_t compared, wrong;
    size_t unwritten;     /* of the wrong ones: still poison */
    size_t zeros;         /* of the wrong ones: 0 */
    size_t first;         /* index of the first wrong element, if any */
    double got, want;     /* its values */
    size_t last;          /* index of the last wrong element */
    unsigned char poison; /* as given to compare() */
} Difference;

/* True if `got` may stand for `want`: |got - want| <= error. NaN and Inf never pass, unless the
 * right value is the same Inf. */
bool close_enough(double got, double want, double error);

/* Element i of an array of some type; `data` is aligned for it. */
double element(Type type, const void *data, size_t i);

/* Compares `count` elements whose indices start at `first`, each within its error; outputs were set
 * to the byte `poison`. */
void compare(Difference *difference, Type type, const void *got, const void *want,
             const double *error, size_t first, size_t count, unsigned char poison);

/* Says in one clause how the whole array `out` is wrong, if there is a pattern: never written, all
 * zero, only the tail, shifted, transposed, a copy of the input; *saw gets its codes (diagnosis.h).
 * "" and 0 if none is seen. `got`, `want` and `error` are the whole array; `difference` its
 * comparison. The text stands until the next call. */
const char *pattern(const Difference *difference, const Inputs *inputs, int out, const void *got,
                    const void *want, const double *error, uint64_t *saw);

#endif
